/* SPDX-License-Identifier: MIT
 *
 * cli/build.c - the compiler's macros, as words.
 *
 * gcc says __SANITIZE_ADDRESS__, clang answers __has_feature. Neither has a macro for the undefined-behaviour checks;
 * the build turns them on together with the address sanitizer and never otherwise, so one stands for both.
 */
#include "build.h"

#if !defined(__has_feature)
#define __has_feature(feature) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define BUILD_SANITIZERS "address,undefined"
#elif defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define BUILD_SANITIZERS "thread"
#else
#define BUILD_SANITIZERS ""
#endif

#if defined(__x86_64__)
#define BUILD_MACHINE "x86_64"
#elif defined(__aarch64__)
#define BUILD_MACHINE "aarch64"
#else
#error "weft knows x86_64 and aarch64"
#endif

#define BUILD_TEXT_OF(x) #x
#define BUILD_TEXT(x) BUILD_TEXT_OF(x)

/* What gcc's and clang's counters register themselves with; null when nothing is counted. */
extern void __gcov_init(void *) __attribute__((weak));
extern void llvm_gcov_init(void) __attribute__((weak));

const char *cli_build_kind(void) {
#if defined(__OPTIMIZE__)
    return cli_build_has_coverage() ? "release, coverage" : "release";
#else
    return cli_build_has_coverage() ? "debug, coverage" : "debug";
#endif
}

const char *cli_build_sanitizers(void) {
    return BUILD_SANITIZERS;
}

bool cli_build_has_coverage(void) {
    return __gcov_init || llvm_gcov_init;
}

const char *cli_build_compiler(void) {
#if defined(__clang__)
    return "clang " BUILD_TEXT(__clang_major__) "." BUILD_TEXT(__clang_minor__) "." BUILD_TEXT(__clang_patchlevel__);
#else
    return "gcc " BUILD_TEXT(__GNUC__) "." BUILD_TEXT(__GNUC_MINOR__) "." BUILD_TEXT(__GNUC_PATCHLEVEL__);
#endif
}

const char *cli_build_machine(void) {
    return BUILD_MACHINE;
}

const char *cli_build_multiarch(void) {
    return BUILD_MACHINE "-linux-gnu";
}
