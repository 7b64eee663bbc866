/* SPDX-License-Identifier: MIT
 *
 * parking.h - a fiber of a model that parks: the other side of the switch is a thread of the explorer.
 *
 * Included after stack, fiber and fibers are there.
 */
#ifndef WF_MODEL_PARKING_H
#define WF_MODEL_PARKING_H

void wf_fiber_ready(struct wf_fibers *unused, struct wf_fiber *woken) {
    (void)unused;
    CHECK(wf_exchange_release(&woken->is_ready, 1) == 0);
    wf_os_futex_wake(&woken->is_ready, 1);
}

static void other_side(void *unused) {
    (void)unused;
    stack.context++;
    if (!fiber.commit(&fiber, fiber.commit_arg))
        wf_fiber_ready(&fibers, &fiber);
}

void wf_fiber_park(wf_commit *commit, void *arg) {
    uint32_t context = stack.context;
    fiber.commit = commit;
    fiber.commit_arg = arg;
    model_start(other_side, NULL);
    while (!wf_exchange_acquire(&fiber.is_ready, 0))
        wf_os_futex_wait(&fiber.is_ready, 0, INT64_MAX);
    CHECK(stack.context == context + 1);
}

#endif
