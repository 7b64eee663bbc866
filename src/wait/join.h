/* SPDX-License-Identifier: MIT
 *
 * wait/join.h - the end of a fiber as something to wait for.
 *
 * weft_join is public (weft/fiber.h). What is here is the other side: fiber/ knows that somebody may wait for an end, but
 * not how, because waiting is a layer above it; so the runtime puts wf_join_deliver into wf_fibers.on_end, and the end of
 * a fiber calls it under the record's lock.
 */
#ifndef WF_WAIT_JOIN_H
#define WF_WAIT_JOIN_H

#include "fiber/fiber.h"

/* Under the record's lock: everybody who waits gets the result. */
void wf_join_deliver(struct wf_fibers *fibers, struct wf_fiber *fiber, void *result, int error);

/* The runtime ends and drops its fibers: plain threads and fibers of other runtimes that wait
 * for one of them get -ECANCELED. */
void wf_join_abandon(struct wf_fibers *fibers);

#endif
