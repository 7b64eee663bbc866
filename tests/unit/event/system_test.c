/* SPDX-License-Identifier: MIT
 *
 * unit/event/system_test.c - systems of events: how many there can be, and when one may be freed.
 *
 * Freeing a system that somebody uses breaks a rule and ends the process with a message that names it.
 */
#include "event/event.h"
#include "support/child.h"
#include "support/run.h"

static weft_events *events;

static void begin_with(const weft_events_options *options) {
    CHECK_EQ(weft_events_new(&events, options), 0);
}
static void begin(void) {
    begin_with(NULL);
}
static void finish(void) {
    weft_events_free(events);
}
static weft_event make(void) {
    weft_event event;
    CHECK_EQ(weft_event_new(events, &event, WEFT_NOW), 0);
    return event;
}

static void free_while_waited_for(void *arg) {
    (void)arg;
    weft_event_queue *queue;
    begin_with(&(weft_events_options){.name = "orders"});
    CHECK_EQ(weft_event_queue_new(events, &queue), 0);
    finish();
}
static void free_with_open_fd(void *arg) {
    (void)arg;
    begin();
    CHECK_GE(weft_event_open_fd(events, make()), 0);
    finish();
}
static void *wait_for_ever(void *arg) {
    weft_event_wait(events, *(weft_event *)arg, NULL, WEFT_NEVER);
    return NULL;
}
static int is_parked(const weft_fiber_info *info, void *arg) {
    return info->fiber.bits == ((weft_fiber *)arg)->bits && info->state == WEFT_FIBER_PARKED;
}
static void free_under_a_waiter_body(void) {
    weft_fiber fiber;
    begin();
    weft_event event = make();
    SPAWN(&fiber, wait_for_ever, &event);
    WAIT_UNTIL(weft_each_fiber(NULL, is_parked, &fiber) == 1);
    finish();
}
static void free_under_a_waiter(void *arg) {
    (void)arg;
    run_fibers(free_under_a_waiter_body);
}
TEST(freeing_a_system_that_is_in_use_is_fatal) {
    struct child_end end = child_run(free_while_waited_for, NULL);
    CHECK(child_was_aborted(&end));
    CHECK(strstr(end.text, "\"orders\" before its queues") != NULL);
    end = child_run(free_with_open_fd, NULL);
    CHECK(child_was_aborted(&end));
    CHECK(strstr(end.text, "weft_event_close_fd first") != NULL);
    end = child_run(free_under_a_waiter, NULL);
    CHECK(child_was_aborted(&end));
    CHECK(strstr(end.text, "somebody waits for one of its events") != NULL);
}

TEST(at_most_255_systems_exist_at_one_time) {
    weft_events *all[256];
    for (int i = 0; i < 255; i++)
        CHECK_EQ(weft_events_new(&all[i], NULL), 0);
    CHECK_EQ(weft_events_new(&all[255], NULL), -EAGAIN);
    for (int i = 0; i < 255; i++)
        weft_events_free(all[i]);
}

static void large_cap(void) {
    weft_events_options options = {.max_pending = WF_EVENT_EXACT_CAP + 1};
    weft_event *made = calloc(WF_EVENT_EXACT_CAP + 1, sizeof *made), more;
    begin_with(&options);
    for (uint32_t i = 0; i <= WF_EVENT_EXACT_CAP; i++)
        made[i] = make();
    CHECK_EQ(weft_event_new(events, &more, WEFT_NOW), -ENOSPC);
    CHECK_EQ(weft_event_new(events, &more, weft_after(3 * WEFT_MILLISECOND)), -ETIMEDOUT);
    for (uint32_t i = 0; i < 100; i++)
        CHECK_EQ(weft_event_trigger(events, made[i]), 0);
    for (uint32_t i = 0; i < 100; i++)
        CHECK_EQ(weft_event_new(events, &more, WEFT_NEVER), 0);
    CHECK_EQ(weft_event_new(events, &more, WEFT_NOW), -ENOSPC);
    free(made);
    finish();
}
TEST(a_large_cap_holds_as_well) {
    run_fibers(large_cap);
}

/* A shutdown poisons everything that is pending, also what would become ready when its inputs complete. */
static void shut_merges(void) {
    weft_events *system;
    weft_event inputs[2], output;
    for (int order = 0; order < 2; order++) {
        CHECK_EQ(weft_events_new(&system, NULL), 0);
        weft_event early;
        CHECK_EQ(weft_event_new(system, &early, WEFT_NOW), 0);
        for (int i = 0; i < 2; i++)
            CHECK_EQ(weft_event_new(system, &inputs[i], WEFT_NOW), 0);
        if (order)
            CHECK_EQ(weft_event_trigger(system, early), 0); /* its slot, a lower one, is free for the output */
        CHECK_EQ(weft_event_merge(system, inputs, 2, WEFT_MERGE_ALL_SETTLED, 0, &output), 0);
        CHECK_EQ(weft_events_shutdown(system, -EIO, "closing"), 0);
        weft_event_reason reason;
        CHECK_EQ(weft_event_wait(system, output, &reason, WEFT_NOW), -ENOTRECOVERABLE);
        CHECK_TEXT(reason.text, "closing");
        weft_events_free(system);
    }
}

TEST(a_shutdown_poisons_merges_as_well_wherever_their_slots_are) {
    run_fibers(shut_merges);
}
