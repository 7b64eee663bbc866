/* SPDX-License-Identifier: MIT
 *
 * base/sanitizer.h - which sanitizer looks on, whatever the compiler calls it.
 *
 * WF_ASAN: the build has AddressSanitizer. WF_TSAN: it has ThreadSanitizer, or it is part of programs that have, as
 * WF_TSAN_ANNOTATE says. Compilers say so in two ways, and nobody else in here asks them.
 */
#ifndef WF_BASE_SANITIZER_H
#define WF_BASE_SANITIZER_H

#if defined(__SANITIZE_ADDRESS__)
#define WF_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WF_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__) || defined(WF_TSAN_ANNOTATE)
#define WF_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WF_TSAN 1
#endif
#endif

#endif
