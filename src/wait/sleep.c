/* SPDX-License-Identifier: MIT
 *
 * wait/sleep.c - waiting for a moment: a wait with a deadline and no object.
 *
 * A plain thread sleeps in the system instead; nobody can end that. Reading the clock is here too, because this is the lowest
 * layer that has a public face for time.
 */
#include <errno.h>

#include "base/assert.h"
#include "os/clock.h"
#include "wait/wait.h"
#include "weft/time.h"

weft_time weft_now(void) {
    return wf_os_now();
}

weft_time weft_after(int64_t nanoseconds) {
    return wf_time_add(wf_os_now(), nanoseconds);
}

int weft_sleep(weft_time until) {
    struct wf_fiber_worker *worker = wf_worker_self();
    if (!worker) {
        wf_os_sleep_until(until < 0 ? 0 : until);
        return 0;
    }
    int error = wf_wait_enter(until);
    if (error)
        return error;
    if (until <= wf_os_now()) {
        wf_fiber_yield();
        return 0;
    }
    struct wf_wait wait;
    error = wf_wait_many_locked(&wait, NULL, 0, NULL, 0, until, "sleep");
    return error == -ETIMEDOUT ? 0 : error;
}
