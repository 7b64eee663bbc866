/* SPDX-License-Identifier: MIT
 *
 * fiber/visit.c - a look at a parked fiber from its own stack.
 *
 * A stack can be unwound by the machine's unwinder only from where it ends. So whoever wants the backtrace of a parked
 * fiber goes there: it switches to the fiber, which arrives (fiber/switch.c), finds a visit instead of a reason to go on,
 * calls the visitor and switches back. For the fiber nothing has happened: its state is still parked, its waiter still in
 * its queue, its errno still put away. It stands one call deeper than before until it really goes on.
 *
 *     visitor: visit = {look}, current = fiber, switch  --->  arrive: a visit: look(), switch back
 *              current = self, visit = NULL              <---
 *
 * The world is stopped, so nobody makes the fiber run meanwhile, and all of it happens on one thread.
 *
 * Rejected: unwinding from the saved registers by hand, which needs an unwinder of our own for every frame that the
 * compiler lays out without a frame pointer.
 */
#include "base/assert.h"
#include "fiber/fiber.h"

/* What the unwinder takes, twice over: about 6 KiB, and more where the sanitizers pad every frame. */
enum { VISIT_ROOM = 16 * 1024 };

bool wf_fiber_visit(struct wf_fiber *fiber, void (*look)(void *arg), void *arg) {
    struct wf_fiber_worker *worker = wf_worker_self(); /* the same after the switches: this thread makes both */
    struct wf_fiber *self = wf_worker_fiber(worker);
    struct wf_stack *stack = wf_fiber_stack(fiber);
    WF_ASSERT(fiber != self);
    WF_ASSERT(worker->leave == WF_LEAVE_NOTHING);
    if ((const char *)stack->context.sp - stack->low < VISIT_ROOM)
        return false;
    struct wf_visit visit = {
        .look = look, .arg = arg, .from = self ? &wf_fiber_stack(self)->context : &worker->scheduler};
    worker->visit = &visit;
    wf_store_release(&worker->current, fiber); /* pairs with the monitor */
    wf_context_switch(visit.from, &stack->context, false);
    wf_store_release(&worker->current, self); /* pairs with the monitor */
    worker->visit = NULL;
    return true;
}

WF_NOINLINE void wf_visit_answer(struct wf_fiber_worker *worker) {
    struct wf_visit *visit = worker->visit;
    struct wf_stack *stack = wf_fiber_stack(wf_worker_fiber(worker));
    visit->look(visit->arg);
    wf_context_switch(&stack->context, visit->from, false);
}
