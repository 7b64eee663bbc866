/* SPDX-License-Identifier: MIT
 *
 * sync/timer.h - what the end of a runtime has to do about timer objects.
 *
 * The table of a runtime's timers hangs off struct wf_fibers and is made by the first start. Timers that are armed when the
 * runtime ends are dropped with it: nothing is called, and their ids are stale.
 */
#ifndef WF_SYNC_TIMER_H
#define WF_SYNC_TIMER_H

#include "fiber/fiber.h"

/* No worker runs any more: whoever waits for a timer from outside is told. */
void wf_timer_table_abandon(struct wf_fibers *fibers);
/* Nobody is inside any more either. Goes before the processors, whose heaps know the timers. */
void wf_timer_table_term(struct wf_fibers *fibers);

#endif
