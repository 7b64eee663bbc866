/* SPDX-License-Identifier: MIT
 *
 * cli/build.h - how this command, and the library of the same build, was compiled.
 *
 * A static library that was built with a sanitizer or with coverage counters can only be linked with the same option,
 * so "weft run" has to know. All answers are constants of the compilation, except coverage, which leaves no macro
 * behind and is recognised by the function that it links in.
 */
#ifndef CLI_BUILD_H
#define CLI_BUILD_H

#include "weft/base.h"

/* "release" (optimised) or "debug"; with ", coverage" when executed lines are counted. */
const char *cli_build_kind(void);
/* The value for -fsanitize=, or an empty string. */
const char *cli_build_sanitizers(void);
/* Whether it was built with --coverage. */
bool cli_build_has_coverage(void);
/* "gcc 12.2.0", "clang 14.0.6". */
const char *cli_build_compiler(void);
/* "x86_64" or "aarch64", as uname says it. */
const char *cli_build_machine(void);
/* The directory below lib/ that Debian uses for this machine: "x86_64-linux-gnu". */
const char *cli_build_multiarch(void);

#endif
