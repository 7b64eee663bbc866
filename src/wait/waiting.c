/* SPDX-License-Identifier: MIT
 *
 * src/wait/waiting.c - whether a fiber waits. Beside src/wait/wait.c, which models take as it is, since this one needs records.
 */
#include <errno.h>

#include "wait/wait.h"
#include "weft/inspect.h"

int weft_is_waiting(weft_fiber id) {
    struct wf_fibers *fibers = wf_runtimes_enter(id);
    struct wf_fiber *fiber = fibers ? wf_record_lock(fibers, id) : NULL;
    int answer = fiber ? 0 : -ESTALE;
    if (fiber) {
        uintptr_t place = wf_load_acquire(&fiber->place); /* pairs with its start */
        if (!(place & WF_PLACE_NEW))
            answer = wf_load_acquire(&((struct wf_stack *)place)->wait_word) == (WF_WAIT_OPEN | WF_WAIT_PARKED);
        wf_lock_drop(&fiber->lock);
    }
    if (fibers)
        wf_runtimes_leave(fibers);
    return answer;
}
