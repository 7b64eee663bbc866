/* SPDX-License-Identifier: MIT
 *
 * unit/event/event_test.c - the invariants of slots, and the interleavings that would break them.
 *
 * What is forced by a hook in base/point.h here: a completion between the look at the word and the registration, a reader
 * between the parts of a completion, a waiter that leaves, a descriptor that is closed and a queue that is freed while a
 * completion is about to reach them. Then races by chance, memory that must not grow, and failing allocations.
 */
#include "base/point.h"
#include "event/event.h"
#include "os/fault.h"
#include "support/run.h"
#include "wait/cancel.h"

static weft_events *events;
static weft_event subject; /* what a hook works on */
static atomic_int seen;

static void begin_with(const weft_events_options *options) {
    CHECK_EQ(weft_events_new(&events, options), 0);
    atomic_store(&seen, 0);
}
static void begin(void) {
    begin_with(NULL);
}
static void finish(void) {
    weft_events_free(events);
    events = NULL;
}
static weft_event make(void) {
    weft_event event;
    CHECK_EQ(weft_event_new(events, &event, WEFT_NOW), 0);
    return event;
}
static weft_events_stats stats(void) {
    weft_events_stats out;
    CHECK_EQ(weft_events_get_stats(events, &out), 0);
    return out;
}
static struct wf_event_slot *slot_of(weft_event event) {
    return wf_event_slot_at(events, wf_event_index(event));
}
static int count_waiters(weft_event event) {
    struct wf_event_slot *slot = slot_of(event);
    int count = 0;
    wf_lock_take(&slot->lock);
    for (struct wf_waiter *waiter = slot->waiters; waiter; count++)
        waiter = waiter->next == slot->waiters ? NULL : waiter->next;
    wf_lock_drop(&slot->lock);
    return count;
}

/* The window between looking and lying down. */
static void complete_before_register(const char *name) {
    if (strcmp(name, "event.before_register") == 0 && atomic_exchange(&seen, 1) == 0)
        CHECK_EQ(weft_event_poison(events, subject, 3, "between"), 0);
}
static void register_late(void) {
    weft_event_reason reason = {0};
    begin();
    subject = make();
    CHECK_EQ(weft_event_wait(events, subject, &reason, weft_after(WEFT_SECOND)), -ENOTRECOVERABLE);
    CHECK_TEXT(reason.text, "between");
    finish();
}
TEST(a_completion_between_look_and_registration_is_not_missed) {
    wf_point_hook = complete_before_register;
    register_late();
    run_fibers(register_late);
    wf_point_hook = NULL;
}

/* I3: whoever reads while an event is being poisoned sees pending or poisoned. */
static void *read_one(void *arg) {
    *(int *)arg = weft_event_poll(events, subject);
    return NULL;
}
static int verdict_before, verdict_between, verdict_after;
static void read_between(const char *name) {
    int *into = NULL;
    if (strcmp(name, "event.before_publish") == 0)
        into = &verdict_before;
    else if (strcmp(name, "event.mutant_between") == 0)
        into = &verdict_between;
    else if (strcmp(name, "event.after_publish") == 0)
        into = &verdict_after;
    if (into)
        thread_join(thread_start(read_one, into));
}
TEST(no_reader_ever_sees_a_poisoned_event_as_ready) {
    begin();
    subject = make();
    verdict_between = WEFT_EVENT_POISONED;
    wf_point_hook = read_between;
    CHECK_EQ(weft_event_poison(events, subject, 1, NULL), 0);
    CHECK_EQ(verdict_before, WEFT_EVENT_PENDING);
    CHECK_EQ(verdict_between, WEFT_EVENT_POISONED);
    CHECK_EQ(verdict_after, WEFT_EVENT_POISONED);
    wf_point_hook = NULL;
    finish();
}

/* Whoever was woken finds the event complete. */
static int polled_when_woken;
static void *wait_and_poll(void *arg) {
    CHECK_EQ(weft_event_wait(events, subject, NULL, WEFT_NEVER), 0);
    polled_when_woken = weft_event_poll(events, subject);
    atomic_store(&seen, 1);
    return arg;
}
static void wait_for_the_woken(const char *name) {
    if (strcmp(name, "event.mutant_woken") == 0)
        WAIT_UNTIL(atomic_load(&seen));
}
TEST(who_is_woken_finds_the_event_complete) {
    begin();
    subject = make();
    wf_point_hook = wait_for_the_woken;
    pthread_t thread = thread_start(wait_and_poll, NULL);
    WAIT_UNTIL(count_waiters(subject) == 1);
    CHECK_EQ(weft_event_trigger(events, subject), 0);
    thread_join(thread);
    CHECK_EQ(polled_when_woken, WEFT_EVENT_READY);
    wf_point_hook = NULL;
    finish();
}

/* Brings the one slot that rests after a poison back, to be used next. */
static void end_rest(void) {
    if (events->rest_first == WF_EVENT_NO_SLOT)
        return;
    struct wf_event_slot *slot = wf_event_slot_at(events, events->rest_first);
    events->rest_first = events->rest_last = WF_EVENT_NO_SLOT;
    events->rest_count = 0;
    slot->next_free = events->free_first;
    events->free_first = slot->index;
}

/* I4, I6: the waiter is taken out but not yet woken while its slot goes through more generations than the window has. */
static void reuse_before_wake(const char *name) {
    if (strcmp(name, "event.before_wake") != 0 || atomic_exchange(&seen, 1) != 0)
        return;
    end_rest();
    for (int i = 0; i < 100; i++) {
        weft_event next = make();
        CHECK_EQ(wf_event_index(next), wf_event_index(subject));
        CHECK_EQ(weft_event_wait(events, next, NULL, WEFT_NOW), -ETIMEDOUT);
        CHECK_EQ(weft_event_trigger(events, next), 0);
    }
}
static void *wait_for_seven(void *arg) {
    weft_event_reason reason = {0};
    CHECK_EQ(weft_event_wait(events, subject, &reason, WEFT_NEVER), -ENOTRECOVERABLE);
    CHECK_TEXT(reason.text, "seven");
    return arg;
}
TEST(a_waiter_held_back_gets_its_own_verdict_after_a_hundred_generations_more) {
    begin();
    subject = make();
    wf_point_hook = reuse_before_wake;
    pthread_t thread = thread_start(wait_for_seven, NULL);
    WAIT_UNTIL(count_waiters(subject) == 1);
    CHECK_EQ(weft_event_poison(events, subject, 7, "seven"), 0);
    thread_join(thread);
    wf_point_hook = NULL;
    CHECK_EQ(atomic_load(&seen), 1);
    finish();
}

/* A forged look at a slot between word and active. */
static void complete_before_active(const char *name) {
    if (strcmp(name, "event.before_active") == 0 && atomic_exchange(&seen, 1) == 0)
        CHECK_EQ(weft_event_trigger(events, subject), 0);
}
TEST(an_event_that_completes_during_a_poll_is_not_taken_for_a_forged_one) {
    begin();
    subject = make();
    wf_point_hook = complete_before_active;
    CHECK_EQ(weft_event_poll(events, subject), WEFT_EVENT_READY);
    wf_point_hook = NULL;
    finish();
}

/* The last waiter may free everything: the completion has let go of the system. */
static void *wait_and_free(void *arg) {
    CHECK_EQ(weft_event_wait(events, subject, NULL, WEFT_NEVER), 0);
    weft_events_free(events);
    return arg;
}
TEST(who_is_woken_may_free_the_system) {
    begin();
    subject = make();
    pthread_t thread = thread_start(wait_and_free, NULL);
    WAIT_UNTIL(count_waiters(subject) == 1);
    CHECK_EQ(weft_event_trigger(events, subject), 0);
    thread_join(thread);
}

/* I7, I8: a waiter that was cancelled or timed out is gone from the slot. */
static struct wf_cancel region;
static void *wait_in_region(void *arg) {
    struct wf_member member;
    wf_cancel_enter(&region, &member);
    *(int *)arg = weft_event_wait(events, subject, NULL, WEFT_NEVER);
    wf_cancel_leave(&member);
    return NULL;
}
static void cancelled_waiter(void) {
    int status = 0;
    weft_fiber fiber;
    begin();
    subject = make();
    wf_cancel_init(&region, NULL);
    SPAWN(&fiber, wait_in_region, &status);
    WAIT_UNTIL(count_waiters(subject) == 1);
    wf_cancel_fire(&region, -ECANCELED, NULL);
    JOIN(fiber, NULL);
    CHECK_EQ(status, -ECANCELED);
    CHECK_EQ(weft_event_wait(events, subject, NULL, weft_after(1000)), -ETIMEDOUT);
    CHECK_EQ(count_waiters(subject), 0);
    CHECK_EQ(weft_event_trigger(events, subject), 0);
    CHECK_EQ(stats().wakes, 0);
    wf_cancel_term(&region);
    finish();
}
TEST(a_waiter_that_left_is_not_woken) {
    run_fibers(cancelled_waiter);
}

/* Closing and freeing against a completion that is on its way. */
static atomic_int gate;
static void *trigger_subject(void *arg) {
    CHECK_EQ(weft_event_trigger(events, subject), 0);
    return arg;
}
static void hold_at_fd(const char *name) {
    if (strcmp(name, "event_fd.before_set") == 0 || strcmp(name, "event_queue.before_arrive") == 0) {
        atomic_store(&seen, 1);
        WAIT_UNTIL(atomic_load(&gate));
    }
}
static void *close_arg(void *arg) {
    CHECK_EQ(weft_event_close_fd(events, *(int *)arg), 0);
    atomic_store(&seen, 2);
    return NULL;
}
static void *free_queue_arg(void *arg) {
    weft_event_queue_free(arg);
    atomic_store(&seen, 2);
    return NULL;
}
static void check_leaving_waits(void *(*leave)(void *arg), void *arg) {
    atomic_store(&gate, 0);
    wf_point_hook = hold_at_fd;
    pthread_t completer = thread_start(trigger_subject, NULL);
    WAIT_UNTIL(atomic_load(&seen) == 1);
    pthread_t leaver = thread_start(leave, arg);
    for (int i = 0; i < 100; i++)
        weft_yield();
    CHECK_EQ(atomic_load(&seen), 1);
    atomic_store(&gate, 1);
    thread_join(completer);
    thread_join(leaver);
    wf_point_hook = NULL;
    CHECK_EQ(atomic_load(&seen), 2);
}
TEST(closing_a_descriptor_waits_for_a_completion_on_its_way) {
    begin();
    subject = make();
    int fd = weft_event_open_fd(events, subject);
    check_leaving_waits(close_arg, &fd);
    finish();
}
TEST(freeing_a_queue_waits_for_a_completion_on_its_way) {
    weft_event_queue *queue;
    begin();
    subject = make();
    CHECK_EQ(weft_event_queue_new(events, &queue), 0);
    CHECK_EQ(weft_event_queue_add(queue, subject, NULL), 0);
    check_leaving_waits(free_queue_arg, queue);
    finish();
}

/* A shutdown between the beginning of an event and the creator's second look. */
static void *create_until_shut(void *arg) {
    weft_event event;
    int error;
    for (long made = 0; (error = weft_event_new(events, &event, WEFT_NOW)) == 0; made++) {
        if (made % 2)
            weft_event_trigger(events, event);
        atomic_fetch_add(&seen, 1);
        weft_yield();
    }
    CHECK_EQ(error, -ESHUTDOWN);
    return arg;
}
static void creators_against_shutdown(void) {
    for (long round = 0; round < scaled(200, 10); round++) {
        weft_fiber fibers[4];
        begin();
        for (int i = 0; i < 4; i++)
            SPAWN(&fibers[i], create_until_shut, NULL);
        WAIT_UNTIL(atomic_load(&seen) > 100);
        CHECK_EQ(weft_events_shutdown(events, 1, "shut"), 0);
        for (int i = 0; i < 4; i++)
            JOIN(fibers[i], NULL);
        CHECK_EQ(stats().pending, 0);
        for (uint32_t i = 0; i < stats().slots; i++)
            CHECK_EQ(wf_load_relaxed(&wf_event_slot_at(events, i)->active), 0);
        finish();
    }
}
TEST(after_a_shutdown_nothing_is_pending_whoever_was_creating) {
    run_fibers(creators_against_shutdown);
}

/* I2: one winner. */
enum { RIVALS = 6 };
static atomic_int triggers_won, poisons_won, poisons_fine;
static void *rival(void *arg) {
    WAIT_UNTIL(atomic_load(&gate));
    if ((intptr_t)arg % 2) {
        atomic_fetch_add(&triggers_won, weft_event_trigger(events, subject) == 0);
    } else {
        struct wf_event_ending ending = {.reason = &(weft_event_reason){.code = 1}};
        atomic_fetch_add(&poisons_won, wf_event_end(events, subject, &ending) == 0);
        atomic_fetch_add(&poisons_fine, weft_event_poison(events, subject, 2, NULL) == 0);
    }
    return NULL;
}
static void rivals(void) {
    begin();
    for (long round = 0; round < scaled(2000, 50); round++) {
        weft_fiber fibers[RIVALS];
        atomic_store(&gate, 0);
        atomic_store(&triggers_won, 0);
        atomic_store(&poisons_won, 0);
        atomic_store(&poisons_fine, 0);
        subject = make();
        for (intptr_t i = 0; i < RIVALS; i++)
            SPAWN(&fibers[i], rival, (void *)i);
        atomic_store(&gate, 1);
        int status = weft_event_wait(events, subject, NULL, WEFT_NEVER);
        for (int i = 0; i < RIVALS; i++)
            JOIN(fibers[i], NULL);
        CHECK_EQ(atomic_load(&triggers_won) + atomic_load(&poisons_won), 1);
        CHECK_EQ(atomic_load(&poisons_fine), atomic_load(&poisons_won) ? RIVALS / 2 : 0);
        CHECK_EQ(status, atomic_load(&triggers_won) ? 0 : -ENOTRECOVERABLE);
        CHECK_EQ(weft_event_poll(events, subject), status ? WEFT_EVENT_POISONED : WEFT_EVENT_READY);
    }
    finish();
}
TEST(of_any_number_of_racing_completions_exactly_one_wins) {
    run_fibers(rivals);
}

/* I1, I4, I5: readers and waiters follow one slot through its generations. */
static _Atomic uint64_t current;
static atomic_bool is_over;
static void *follow(void *arg) {
    uint32_t last = 0, index = 0;
    while (!atomic_load(&is_over)) {
        weft_event event = {atomic_load(&current)};
        uint32_t now = wf_event_word_last(wf_load_acquire(&slot_of(event)->word));
        if (wf_event_index(event) != index) /* the other one rests after a poison */
            last = 0;
        index = wf_event_index(event);
        CHECK(now >= last);
        last = now;
        int status = weft_event_wait(events, event, NULL, WEFT_NEVER);
        CHECK_EQ(status, wf_event_generation(event) % 3 ? 0 : -ENOTRECOVERABLE);
        CHECK(wf_event_word_last(wf_load_acquire(&slot_of(event)->word)) >= wf_event_generation(event));
    }
    return arg;
}
static void one_slot_many_lives(void) {
    weft_fiber fibers[4];
    weft_events_options options = {.max_pending = 1};
    begin_with(&options);
    atomic_store(&is_over, false);
    atomic_store(&current, make().bits);
    for (int i = 0; i < 4; i++)
        SPAWN(&fibers[i], follow, NULL);
    for (long i = 0; i < scaled(20000, 500); i++) {
        weft_event event = {atomic_load(&current)};
        if (i % 7 == 0)
            weft_yield();
        CHECK_EQ(wf_event_generation(event) % 3 ? weft_event_trigger(events, event)
                                                : weft_event_poison(events, event, 1, NULL),
                 0);
        atomic_store(&current, make().bits);
    }
    atomic_store(&is_over, true);
    weft_event event = {atomic_load(&current)};
    CHECK_EQ(wf_event_generation(event) % 3 ? weft_event_trigger(events, event)
                                            : weft_event_poison(events, event, 1, NULL),
             0);
    for (int i = 0; i < 4; i++)
        JOIN(fibers[i], NULL);
    finish();
}
TEST(waiters_follow_a_slot_through_its_generations) {
    run_fibers(one_slot_many_lives);
}

/* Many waiters on one event: all told, in order, each once. */
static int arrivals;
struct listener {
    struct wf_waiter waiter;
    struct wf_wait wait;
    int number;
};
static void listener_fire(struct wf_wait *wait) {
    CHECK_EQ(WF_CONTAINER(wait, struct listener, wait)->number, arrivals);
    arrivals++;
}
TEST(forty_thousand_waiters_are_told_in_the_order_in_which_they_came) {
    int many = 40000;
    struct listener *listeners = calloc((size_t)many, sizeof *listeners);
    begin();
    subject = make();
    struct wf_event_slot *slot = slot_of(subject);
    arrivals = 0;
    for (int i = 0; i < many; i++) {
        listeners[i].number = i;
        wf_wait_begin_callback(&listeners[i].wait, &listeners[i].waiter, listener_fire);
        wf_lock_take(&slot->lock);
        wf_wait_link_locked(&listeners[i].waiter, &slot->lock, &slot->waiters);
        wf_lock_drop(&slot->lock);
    }
    CHECK_EQ(weft_event_trigger(events, subject), 0);
    CHECK_EQ(arrivals, many);
    CHECK_EQ(stats().wakes, many);
    free(listeners);
    finish();
}

/* I9 and the histories. */
TEST(a_million_poisons_take_no_memory_and_old_ones_expire_but_never_read_ready) {
    long many = scaled(1000000, 20000);
    begin();
    weft_event first = make();
    CHECK_EQ(weft_event_poison(events, first, 1, "first"), 0);
    int64_t mapped = wf_os_mapped_bytes();
    weft_event last = WEFT_NO_EVENT;
    for (long i = 0; i < many; i++) {
        char text[32];
        snprintf(text, sizeof text, "number %ld", i);
        last = make();
        CHECK_EQ(weft_event_poison(events, last, (int)i, text), 0);
    }
    CHECK(wf_os_mapped_bytes() - mapped < 1 << 20);
    weft_event_reason reason;
    CHECK_EQ(weft_event_get_reason(events, last, &reason), 0);
    CHECK_EQ(reason.code, many - 1);
    int verdict = weft_event_poll(events, first);
    CHECK(verdict == WEFT_EVENT_EXPIRED || verdict == WEFT_EVENT_POISONED);
    CHECK_EQ(weft_event_get_reason(events, first, &reason), verdict == WEFT_EVENT_POISONED ? 0 : -ENODATA);
    if (verdict == WEFT_EVENT_POISONED)
        CHECK_TEXT(reason.text, "reason no longer kept");
    CHECK_LE(stats().slots, 2 * WF_EVENT_QUARANTINE);
    CHECK_EQ(stats().lost, (uint64_t)many + 1 - 4096);
    finish();
}
TEST(a_poison_out_of_the_window_is_found_in_the_ring_until_that_turns) {
    weft_events_options options = {.max_pending = 1, .reasons = 2};
    weft_event_reason reason;
    begin_with(&options);
    weft_event early = make();
    CHECK_EQ(weft_event_trigger(events, early), 0);
    weft_event bad = make();
    CHECK_EQ(wf_event_index(bad), wf_event_index(early));
    CHECK_EQ(weft_event_poison(events, bad, 1, "kept"), 0);
    struct wf_event_slot *slot = slot_of(bad);
    for (int i = 0; i < 40; i++) /* as if it had been used 40 times */
        wf_store_release(&slot->word, wf_event_word_complete(wf_load_relaxed(&slot->word), false));
    CHECK_EQ(weft_event_poll(events, bad), WEFT_EVENT_POISONED);
    CHECK_EQ(weft_event_poll(events, early), WEFT_EVENT_READY);
    CHECK_EQ(weft_event_get_reason(events, bad, &reason), 0);
    CHECK_TEXT(reason.text, "kept");
    for (int i = 0; i < 2; i++)
        CHECK_EQ(weft_event_poison(events, make(), 2, "newer"), 0);
    CHECK_EQ(weft_event_poll(events, bad), WEFT_EVENT_EXPIRED);
    CHECK_EQ(weft_event_poll(events, early), WEFT_EVENT_EXPIRED);
    CHECK_EQ(weft_event_wait(events, bad, &reason, WEFT_NEVER), -ENODATA);
    CHECK_EQ(weft_event_poison(events, bad, 3, "late"), -EALREADY);
    weft_event out;
    CHECK_EQ(weft_event_merge(events, &bad, 1, WEFT_MERGE_ALL, 0, &out), -ENODATA);
    CHECK_EQ(weft_event_merge(events, &bad, 1, WEFT_MERGE_ALL_SETTLED, 0, &out), 0);
    CHECK(stats().expired > 0);
    finish();
}
TEST(a_strict_system_retires_slots_and_forgets_no_verdict) {
    enum { MANY = 400 };
    weft_events_options options = {.strict = true, .reasons = 1};
    weft_event made[MANY];
    begin_with(&options);
    for (int i = 0; i < MANY; i++) {
        made[i] = make();
        CHECK_EQ(i % 10 ? weft_event_trigger(events, made[i]) : weft_event_poison(events, made[i], i, NULL), 0);
        end_rest();
    }
    for (int i = 0; i < MANY; i++)
        CHECK_EQ(weft_event_poll(events, made[i]), i % 10 ? WEFT_EVENT_READY : WEFT_EVENT_POISONED);
    CHECK_GE(stats().retired, 5);
    finish();
}
static void *complete_elsewhere(void *arg) {
    CHECK_EQ(weft_event_trigger(events, *(weft_event *)arg), 0);
    return NULL;
}
static void made_here_completed_there(void) {
    begin();
    for (long i = 0; i < scaled(20000, 500); i++) {
        weft_fiber fiber;
        weft_event event = make();
        SPAWN(&fiber, complete_elsewhere, &event);
        CHECK_EQ(weft_event_wait(events, event, NULL, WEFT_NEVER), 0);
        JOIN(fiber, NULL);
    }
    CHECK_LE(stats().slots, (wf_test_workers() + 2) * WF_EVENT_MAGAZINE);
    CHECK_EQ(stats().pending, 0);
    finish();
}
TEST(events_made_here_and_completed_there_use_few_slots) {
    run_fibers(made_here_completed_there);
}
/* Every allocation fails in turn. */
static int use_everything(void) {
    weft_events *system;
    weft_event_queue *queue = NULL;
    weft_event event, merged, inputs[2];
    weft_event_completion completion;
    int error = weft_events_new(&system, NULL);
    if (error)
        return error;
    int fd = -1;
    if (!(error = weft_event_new(system, &event, WEFT_NOW)) && !(error = weft_event_new(system, inputs, WEFT_NOW)) &&
        !(error = weft_event_queue_new(system, &queue)) && !(error = weft_event_queue_add(queue, event, NULL)) &&
        !(error = (fd = weft_event_open_fd(system, event)) < 0 ? fd : 0)) {
        inputs[1] = event;
        error = weft_event_merge(system, inputs, 2, WEFT_MERGE_ANY, 0, &merged);
        if (!error)
            error = weft_event_own(system, inputs[0]);
        CHECK_EQ(weft_event_trigger(system, event), 0);
        CHECK_EQ(weft_event_queue_pop(queue, &completion, 1, WEFT_NOW), 1);
        if (!error)
            CHECK_EQ(weft_event_poll(system, merged), WEFT_EVENT_READY);
    }
    if (fd >= 0)
        CHECK_EQ(weft_event_close_fd(system, fd), 0);
    weft_event_queue_free(queue);
    weft_events_free(system);
    return error;
}
static void *use_everything_once(void *arg) {
    *(int *)arg = use_everything();
    return NULL;
}
static void sweep(enum wf_system_call call, int with) {
    for (long nth = 1;; nth++) {
        int error = 1;
        weft_fiber fiber;
        SPAWN(&fiber, use_everything_once, &error);
        wf_fault_order(call, nth, with, 0);
        weft_join(fiber, NULL, WEFT_NEVER);
        bool was_hit = wf_fault_hits() > 0;
        wf_fault_order(call, 0, 0, 0);
        CHECK(error <= 0);
        if (!was_hit) {
            CHECK_EQ(error, 0);
            break;
        }
    }
}
static void sweeps(void) {
    sweep(WF_CALL_ALLOC, ENOMEM);
    sweep(WF_CALL_MMAP, ENOMEM);
    sweep(WF_CALL_EVENTFD, EMFILE);
}
TEST(every_failed_allocation_is_survived) {
    run_fibers(sweeps);
}
