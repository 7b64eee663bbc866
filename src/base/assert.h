/* SPDX-License-Identifier: MIT
 *
 * base/assert.h - the third kind of failure: we are wrong.
 *
 * A returned error says that the world failed, weft_fatal says that the caller broke a documented rule, WF_ASSERT says
 * that weft itself is broken. Assertions are on in debug, sanitizer and test builds and cost nothing in release.
 * One condition per assertion, so that the message names what did not hold.
 *
 * WF_CHECK stays on in every build: for the few invariants whose loss would corrupt memory and whose test is free
 * beside what surrounds it.
 */
#ifndef WF_BASE_ASSERT_H
#define WF_BASE_ASSERT_H

#define WF_LIKELY(x) __builtin_expect(!!(x), 1)
#define WF_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define WF_NOINLINE __attribute__((noinline))

/* Prints "weft: file:line: broken invariant: text" and aborts. Defined by os/report.c. */
_Noreturn void wf_assert_fail(const char *text, const char *file, int line);

#define WF_CHECK(condition) \
    do { \
        if (WF_UNLIKELY(!(condition))) \
            wf_assert_fail(#condition, __FILE__, __LINE__); \
    } while (0)

#ifdef WF_DEBUG
#define WF_ASSERT(condition) WF_CHECK(condition)
#else
#define WF_ASSERT(condition) \
    do { \
        (void)sizeof(condition); \
    } while (0)
#endif

#endif
