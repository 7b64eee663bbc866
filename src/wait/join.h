/* SPDX-License-Identifier: MIT
 *
 * wait/join.h - the end of a fiber as something to wait for.
 *
 * weft_join is public (weft/fiber.h). What is here is the other side: fiber/ knows that somebody may wait for an end, but
 * not how, because waiting is a layer above it; so the runtime puts wf_join_take and wf_join_tell into wf_fibers.
 */
#ifndef WF_WAIT_JOIN_H
#define WF_WAIT_JOIN_H

#include "fiber/fiber.h"

/* Under the record's lock: takes everybody who waits, with the result in hand; NULL for nobody. */
struct wf_waiter *wf_join_take(struct wf_fiber *fiber, void *result, int error);
/* Without it: wakes them. */
void wf_join_tell(struct wf_waiter *taken);

/* The runtime ends and drops its fibers: plain threads and fibers of other runtimes that wait
 * for one of them get -ECANCELED. */
void wf_join_abandon(struct wf_fibers *fibers);

#endif
