/* SPDX-License-Identifier: MIT
 *
 * src/wait/waiting.c - whether a fiber waits, for whoever looks from outside.
 *
 * It stands beside src/wait/wait.c because that needs records of fibers, and wait.c is what models take as it is. The answer is one
 * load of the word of the wait: it was true then, and may be wrong by now.
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
