/* SPDX-License-Identifier: MIT
 *
 * os/futex.c - sleeping on a word.
 *
 * Private futexes, absolute monotonic deadlines (FUTEX_WAIT_BITSET), so a wait that is interrupted and taken up again
 * does not drift.
 */
#include "os/futex.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/fault.h"

int wf_os_futex_wait(_Atomic uint32_t *word, uint32_t expected, int64_t deadline_ns) {
    int fault = wf_fault(WF_CALL_FUTEX_WAIT);
    if (fault)
        return fault;
    bool is_limited = deadline_ns != WF_NEVER;
    int64_t lag = is_limited ? wf_os_clock_lag() : WF_NO_LAG;
    int64_t real_ns = wf_os_clock_to_real(deadline_ns, lag);
    struct timespec deadline = {.tv_sec = real_ns / 1000000000, .tv_nsec = real_ns % 1000000000};
    struct timespec *limit = is_limited ? &deadline : NULL;
    int kept = errno; /* the caller's: a lock that was contended must not show in it */
    long result = syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, expected, limit, NULL, FUTEX_BITSET_MATCH_ANY);
    int error = errno;
    errno = kept;
    if (result == 0 || error == EAGAIN)
        return 0;
    if (error != ETIMEDOUT)
        return -EINTR;
    wf_os_clock_catch_up(lag);
    return -ETIMEDOUT;
}

void wf_os_futex_wake(_Atomic uint32_t *word, int count) {
    int kept = errno;
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
    errno = kept;
}
