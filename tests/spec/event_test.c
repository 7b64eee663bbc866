/* SPDX-License-Identifier: MIT
 *
 * spec/event_test.c - generational events as a user sees them.
 *
 * One test for each promise of weft/event.h: verdicts, waiting by every kind of waiter, reuse, handles that are foreign or
 * forged, owners, merges, shutdown, the cap, descriptors and queues.
 */
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

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
    events = NULL;
}

static weft_event make(void) {
    weft_event event;
    CHECK_EQ(weft_event_new(events, &event, WEFT_NOW), 0);
    return event;
}
static uint32_t index_of(weft_event event) {
    return (uint32_t)(event.bits >> 32) & 0xffffff;
}
static uint32_t generation_of(weft_event event) {
    return (uint32_t)event.bits;
}
static weft_events_stats stats(void) {
    weft_events_stats out;
    CHECK_EQ(weft_events_get_stats(events, &out), 0);
    return out;
}

static void check_poisoned(weft_event event, int code, const char *text) {
    weft_event_reason reason = {0};
    CHECK_EQ(weft_event_poll(events, event), WEFT_EVENT_POISONED);
    CHECK_EQ(weft_event_wait(events, event, &reason, WEFT_NOW), -ENOTRECOVERABLE);
    CHECK_EQ(reason.code, code);
    CHECK_TEXT(reason.text, text);
    memset(&reason, 0, sizeof reason);
    CHECK_EQ(weft_event_get_reason(events, event, &reason), 0);
    CHECK_EQ(reason.code, code);
    CHECK_TEXT(reason.text, text);
}

/* Somebody who waits for one event, and what they got. */
struct guest {
    weft_event event;
    int status;
    weft_event_reason reason;
    atomic_int *done;
};
static void *guest_wait(void *arg) {
    struct guest *guest = arg;
    guest->status = weft_event_wait(events, guest->event, &guest->reason, WEFT_NEVER);
    if (guest->done)
        atomic_fetch_add(guest->done, 1);
    return NULL;
}

static bool is_readable(int fd) {
    struct pollfd wish = {.fd = fd, .events = POLLIN};
    CHECK_GE(poll(&wish, 1, 0), 0);
    return wish.revents & POLLIN;
}

static void triggered_before_anyone_waits(void) {
    weft_event_completion completion;
    weft_event_queue *queue;
    begin();
    weft_event event = make();
    CHECK_EQ(weft_event_poll(events, event), WEFT_EVENT_PENDING);
    CHECK_EQ(weft_event_wait(events, event, NULL, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_event_trigger(events, event), 0);
    CHECK_EQ(weft_event_poll(events, event), WEFT_EVENT_READY);
    CHECK_EQ(weft_event_wait(events, event, NULL, WEFT_NEVER), 0);
    struct guest guest = {.event = event, .status = 1};
    thread_join(thread_start(guest_wait, &guest));
    CHECK_EQ(guest.status, 0);
    int fd = weft_event_open_fd(events, event);
    CHECK_GE(fd, 0);
    CHECK(is_readable(fd));
    CHECK_EQ(weft_event_close_fd(events, fd), 0);
    CHECK_EQ(weft_event_queue_new(events, &queue), 0);
    CHECK_EQ(weft_event_queue_add(queue, event, &guest), 0);
    CHECK_EQ(weft_event_queue_pop(queue, &completion, 1, WEFT_NOW), 1);
    CHECK_EQ(completion.status, 0);
    CHECK(completion.tag == &guest);
    CHECK_EQ(weft_event_queue_pop(queue, &completion, 1, WEFT_NOW), -ETIMEDOUT);
    weft_event_queue_free(queue);
    finish();
}
TEST(an_event_triggered_before_anyone_waits_is_ready_for_every_kind_of_waiter) {
    run_fibers(triggered_before_anyone_waits);
}

/* poison: NULL for a trigger. */
static void everybody_waits(const char *poison) {
    enum { FIBERS = 8, THREADS = 2 };
    struct guest guests[FIBERS + THREADS];
    weft_fiber fibers[FIBERS];
    pthread_t threads[THREADS];
    atomic_int done = 0;
    weft_event_queue *queue;
    weft_event_completion completions[2];
    begin();
    weft_event event = make();
    for (int i = 0; i < FIBERS + THREADS; i++) {
        guests[i] = (struct guest){.event = event, .done = &done};
        if (i < FIBERS)
            SPAWN(&fibers[i], guest_wait, &guests[i]);
        else
            threads[i - FIBERS] = thread_start(guest_wait, &guests[i]);
    }
    int fd = weft_event_open_fd(events, event);
    CHECK_EQ(weft_event_queue_new(events, &queue), 0);
    CHECK_EQ(weft_event_queue_add(queue, event, NULL), 0);
    CHECK(!is_readable(fd));
    CHECK_EQ(weft_event_queue_pop(queue, completions, 2, WEFT_NOW), -ETIMEDOUT);
    if (poison)
        CHECK_EQ(weft_event_poison(events, event, 42, poison), 0);
    else
        CHECK_EQ(weft_event_trigger(events, event), 0);
    WAIT_UNTIL(atomic_load(&done) == FIBERS + THREADS);
    for (int i = 0; i < FIBERS; i++)
        JOIN(fibers[i], NULL);
    for (int i = 0; i < THREADS; i++)
        thread_join(threads[i]);
    for (int i = 0; i < FIBERS + THREADS; i++) {
        CHECK_EQ(guests[i].status, poison ? -ENOTRECOVERABLE : 0);
        CHECK_EQ(guests[i].reason.code, poison ? 42 : 0);
        CHECK_TEXT(guests[i].reason.text, poison ? poison : "");
    }
    CHECK(is_readable(fd));
    CHECK_EQ(weft_event_close_fd(events, fd), 0);
    CHECK_EQ(weft_event_queue_pop(queue, completions, 2, WEFT_NEVER), 1);
    CHECK_EQ(completions[0].status, poison ? -ENOTRECOVERABLE : 0);
    CHECK_TEXT(completions[0].reason.text, poison ? poison : "");
    weft_event_queue_free(queue);
    if (poison)
        check_poisoned(event, 42, poison);
    finish();
}
static void everybody_is_told(void) {
    everybody_waits(NULL);
}
TEST(one_trigger_wakes_fibers_threads_descriptors_and_queues_once_each) {
    run_fibers(everybody_is_told);
}
static void everybody_gets_the_reason(void) {
    everybody_waits("disk full");
}
TEST(a_poison_reaches_every_kind_of_waiter_with_its_reason) {
    run_fibers(everybody_gets_the_reason);
}

TEST(a_completed_event_cannot_be_completed_again) {
    begin();
    weft_event ready = make(), poisoned = make();
    CHECK_EQ(weft_event_trigger(events, ready), 0);
    CHECK_EQ(weft_event_trigger(events, ready), -EALREADY);
    CHECK_EQ(weft_event_poison(events, ready, 1, "late"), -EALREADY);
    CHECK_EQ(weft_event_poll(events, ready), WEFT_EVENT_READY);
    CHECK_EQ(weft_event_poison(events, poisoned, 1, "first"), 0);
    CHECK_EQ(weft_event_poison(events, poisoned, 2, "second"), 0);
    CHECK_EQ(weft_event_trigger(events, poisoned), -EALREADY);
    check_poisoned(poisoned, 1, "first");
    weft_event_reason reason;
    CHECK_EQ(weft_event_get_reason(events, ready, &reason), -ENOENT);
    finish();
}

TEST(a_slot_is_used_again_one_generation_higher_and_old_verdicts_stay) {
    begin();
    weft_event old = make();
    CHECK_EQ(weft_event_trigger(events, old), 0);
    weft_event young = make();
    CHECK_EQ(index_of(young), index_of(old));
    CHECK_EQ(generation_of(young), generation_of(old) + 1);
    CHECK_EQ(weft_event_poll(events, old), WEFT_EVENT_READY);
    CHECK_EQ(weft_event_poll(events, young), WEFT_EVENT_PENDING);
    CHECK_EQ(weft_event_trigger(events, old), -EALREADY);
    CHECK_EQ(weft_event_poll(events, young), WEFT_EVENT_PENDING);
    CHECK_EQ(weft_event_wait(events, young, NULL, WEFT_NOW), -ETIMEDOUT);
    finish();
}

static void late_waiters(void) {
    enum { REUSES = 100 };
    begin();
    weft_event first = make();
    struct guest guest = {.event = first};
    weft_fiber fiber;
    SPAWN(&fiber, guest_wait, &guest);
    weft_yield();
    CHECK_EQ(weft_event_poison(events, first, 7, "seven"), 0);
    for (int i = 0; i < REUSES; i++) {
        weft_event next = make();
        CHECK_EQ(weft_event_wait(events, next, NULL, WEFT_NOW), -ETIMEDOUT);
        CHECK_EQ(weft_event_trigger(events, next), 0);
    }
    JOIN(fiber, NULL);
    CHECK_EQ(guest.status, -ENOTRECOVERABLE);
    CHECK_TEXT(guest.reason.text, "seven");
    finish();
}
TEST(a_waiter_gets_its_verdict_and_reason_whatever_is_made_meanwhile) {
    run_fibers(late_waiters);
}

static void *own_and_return(void *arg) {
    CHECK_EQ(weft_event_own(events, *(weft_event *)arg), 0);
    CHECK_EQ(weft_event_own(events, *(weft_event *)arg), 0);
    return NULL;
}
static void *own_and_panic(void *arg) {
    CHECK_EQ(weft_event_own(events, *(weft_event *)arg), 0);
    weft_panic("on purpose");
}
static void *own_and_disown(void *arg) {
    weft_event *event = arg;
    CHECK_EQ(weft_event_own(events, event[0]), 0);
    CHECK_EQ(weft_event_own(events, event[1]), 0);
    CHECK_EQ(weft_event_own(events, event[2]), 0);
    CHECK_EQ(weft_event_disown(events, event[1]), 0);
    CHECK_EQ(weft_event_disown(events, event[1]), -ENOENT);
    CHECK_EQ(weft_event_trigger(events, event[2]), 0);
    CHECK_EQ(weft_event_disown(events, event[2]), -ENOENT);
    CHECK_EQ(weft_event_own(events, event[2]), -EALREADY);
    return NULL;
}
static void owners(void) {
    weft_fiber fiber;
    begin();
    weft_event event = make();
    SPAWN(&fiber, own_and_return, &event);
    weft_event_reason reason;
    CHECK_EQ(weft_event_wait(events, event, &reason, WEFT_NEVER), -ENOTRECOVERABLE);
    CHECK_EQ(reason.code, -EOWNERDEAD);
    CHECK_TEXT(reason.text, "owner exited");
    JOIN(fiber, NULL);
    event = make();
    SPAWN(&fiber, own_and_panic, &event);
    CHECK_EQ(weft_event_wait(events, event, &reason, WEFT_NEVER), -ENOTRECOVERABLE);
    CHECK_TEXT(reason.text, "owner exited");
    CHECK_EQ(weft_join(fiber, NULL, WEFT_NEVER), -EOWNERDEAD);
    weft_event three[3] = {make(), make(), make()};
    SPAWN(&fiber, own_and_disown, three);
    JOIN(fiber, NULL);
    CHECK_EQ(weft_event_poll(events, three[0]), WEFT_EVENT_POISONED);
    CHECK_EQ(weft_event_poll(events, three[1]), WEFT_EVENT_PENDING);
    CHECK_EQ(weft_event_poll(events, three[2]), WEFT_EVENT_READY);
    finish();
}
TEST(events_of_a_fiber_that_exits_or_panics_are_poisoned_unless_disowned) {
    weft_options quiet = {.quiet = true};
    run_fibers_with(&quiet, owners);
}
TEST(a_plain_thread_cannot_own) {
    begin();
    CHECK_EQ(weft_event_own(events, make()), -EPERM);
    finish();
}

static void check_refused(weft_events *system, weft_event event, int error) {
    weft_event other;
    weft_event_queue *queue;
    weft_case entry = weft_on_event(system, event, NULL);
    CHECK_EQ(weft_event_poll(system, event), error);
    CHECK_EQ(weft_event_wait(system, event, NULL, WEFT_NEVER), error);
    CHECK_EQ(weft_event_trigger(system, event), error);
    CHECK_EQ(weft_event_poison(system, event, 1, "no"), error);
    CHECK_EQ(weft_event_own(system, event), error);
    CHECK_EQ(weft_event_disown(system, event), error);
    CHECK_EQ(weft_event_merge(system, &event, 1, WEFT_MERGE_ALL, 0, &other), error);
    CHECK_EQ(weft_event_wait_any(system, &event, 1, WEFT_NEVER), error);
    CHECK_EQ(weft_event_open_fd(system, event), error);
    CHECK_EQ(weft_event_trigger_after(system, event, event), error);
    CHECK_EQ(weft_select(&entry, 1, WEFT_NEVER), 0);
    CHECK_EQ(entry.status, error);
    CHECK_EQ(weft_event_queue_new(system, &queue), 0);
    CHECK_EQ(weft_event_queue_add(queue, event, NULL), error);
    weft_event_queue_free(queue);
}
static void foreign_handles(void) {
    weft_events *other;
    begin();
    CHECK_EQ(weft_events_new(&other, NULL), 0);
    weft_event event = make();
    check_refused(other, event, -EXDEV);
    CHECK_EQ(weft_event_poll(events, event), WEFT_EVENT_PENDING);
    weft_events_free(other);
    finish();
}
TEST(a_handle_of_another_system_is_refused_everywhere_and_stays_untouched) {
    run_fibers(foreign_handles);
}
static void forged_handles(void) {
    begin();
    weft_event event = make();
    check_refused(events, (weft_event){event.bits | UINT64_C(0xffffff) << 32}, -EINVAL);
    check_refused(events, (weft_event){event.bits + (UINT64_C(9) << 32)}, -EINVAL);
    check_refused(events, (weft_event){event.bits & ~UINT64_C(0xffffffff)}, -EINVAL);
    check_refused(events, (weft_event){event.bits + 1}, -EINVAL);
    check_refused(events, (weft_event){event.bits + 1000}, -EINVAL);
    CHECK_EQ(weft_event_poll(events, event), WEFT_EVENT_PENDING);
    CHECK_EQ(weft_event_trigger(events, event), 0);
    check_refused(events, (weft_event){event.bits + 1}, -EINVAL);
    finish();
}
TEST(a_forged_handle_is_refused_everywhere_and_poll_and_wait_agree) {
    run_fibers(forged_handles);
}

static void no_event_is_complete(void) {
    begin();
    weft_case entry = weft_on_event(events, WEFT_NO_EVENT, NULL);
    CHECK_EQ(weft_event_poll(events, WEFT_NO_EVENT), WEFT_EVENT_READY);
    CHECK_EQ(weft_event_wait(events, WEFT_NO_EVENT, NULL, WEFT_NEVER), 0);
    CHECK_EQ(weft_event_trigger(events, WEFT_NO_EVENT), -EALREADY);
    CHECK_EQ(weft_event_poison(events, WEFT_NO_EVENT, 1, NULL), -EALREADY);
    CHECK_EQ(weft_event_own(events, WEFT_NO_EVENT), -EALREADY);
    CHECK_EQ(weft_select(&entry, 1, WEFT_NEVER), 0);
    CHECK_EQ(entry.status, 0);
    int fd = weft_event_open_fd(events, WEFT_NO_EVENT);
    CHECK(is_readable(fd));
    CHECK_EQ(weft_event_close_fd(events, fd), 0);
    CHECK_EQ(weft_event_close_fd(events, fd), -EBADF);
    finish();
}
TEST(no_event_is_complete_and_ready) {
    run_fibers(no_event_is_complete);
}

TEST(a_slot_out_of_generations_is_retired_and_still_answers) {
    weft_events_options options = {.first_generation = UINT32_MAX - 2};
    weft_event made[10];
    begin_with(&options);
    for (int i = 0; i < 10; i++) {
        made[i] = make();
        if (i % 3 == 1)
            CHECK_EQ(weft_event_poison(events, made[i], i, "odd"), 0);
        else
            CHECK_EQ(weft_event_trigger(events, made[i]), 0);
    }
    for (int i = 0; i < 10; i++)
        CHECK_EQ(weft_event_poll(events, made[i]), i % 3 == 1 ? WEFT_EVENT_POISONED : WEFT_EVENT_READY);
    CHECK_GE(stats().retired, 1);
    CHECK_EQ(weft_event_poll(events, (weft_event){made[0].bits - 1}), -EINVAL);
    finish();
}

static void select_over_events(void) {
    weft_event_reason reason;
    begin();
    weft_event first = make(), second = make();
    weft_case cases[] = {weft_on_event(events, first, NULL), weft_on_event(events, second, &reason)};
    CHECK_EQ(weft_select(cases, 2, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_event_poison(events, second, 5, "five"), 0);
    CHECK_EQ(weft_select(cases, 2, WEFT_NEVER), 1);
    CHECK_EQ(cases[1].status, -ENOTRECOVERABLE);
    CHECK_TEXT(reason.text, "five");
    CHECK_EQ(weft_event_wait_any(events, (weft_event[]){first, second}, 2, WEFT_NEVER), 1);
    CHECK_EQ(weft_event_wait_any(events, &first, 1, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_event_wait_any(events, &first, 1, weft_after(1)), -ETIMEDOUT);
    CHECK_EQ(weft_event_wait_any(events, &first, 0, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_event_wait(events, first, NULL, weft_after(1000)), -ETIMEDOUT);
    finish();
}
TEST(events_are_cases_of_select) {
    run_fibers(select_over_events);
    select_over_events();
}

static void *wait_any_of(void *arg) {
    return (void *)(intptr_t)weft_event_wait_any(events, arg, 20, WEFT_NEVER);
}
static void wait_any_parks(void) {
    weft_event list[20];
    weft_fiber fiber;
    void *index;
    begin();
    for (int i = 0; i < 20; i++)
        list[i] = make();
    list[3] = list[17];
    SPAWN(&fiber, wait_any_of, list);
    weft_yield();
    CHECK_EQ(weft_event_trigger(events, list[17]), 0);
    JOIN(fiber, &index);
    CHECK((intptr_t)index == 3 || (intptr_t)index == 17);
    finish();
}
TEST(wait_any_returns_the_one_that_completes) {
    run_fibers(wait_any_parks);
}

static void *poison_with_shutdown(void *arg) {
    CHECK_EQ(weft_events_shutdown(events, -EIO, arg), 0);
    return NULL;
}
static void shutdown_with_waiters(void) {
    enum { MANY = 1000 };
    static struct guest guests[MANY];
    static weft_fiber fibers[MANY];
    weft_event out;
    begin();
    weft_event ready = make(), poisoned = make();
    CHECK_EQ(weft_event_trigger(events, ready), 0);
    CHECK_EQ(weft_event_poison(events, poisoned, 3, "three"), 0);
    for (int i = 0; i < MANY; i++) {
        guests[i] = (struct guest){.event = make()};
        SPAWN(&fibers[i], guest_wait, &guests[i]);
    }
    thread_join(thread_start(poison_with_shutdown, "power cut"));
    CHECK_EQ(weft_events_shutdown(events, 1, "again"), -EALREADY);
    for (int i = 0; i < MANY; i++) {
        JOIN(fibers[i], NULL);
        CHECK_EQ(guests[i].status, -ENOTRECOVERABLE);
        CHECK_EQ(guests[i].reason.code, -EIO);
        CHECK_TEXT(guests[i].reason.text, "power cut");
        check_poisoned(guests[i].event, -EIO, "power cut");
    }
    CHECK_EQ(weft_event_new(events, &out, WEFT_NEVER), -ESHUTDOWN);
    CHECK_EQ(weft_event_poll(events, ready), WEFT_EVENT_READY);
    check_poisoned(poisoned, 3, "three");
    finish();
}
TEST(shutdown_poisons_all_that_is_pending_and_ends_creation) {
    run_fibers(shutdown_with_waiters);
}

static atomic_int has_room;
static void *make_with_patience(void *arg) {
    CHECK_EQ(weft_event_new(events, arg, WEFT_NEVER), 0);
    atomic_store(&has_room, 1);
    return NULL;
}
static void cap(void) {
    weft_events_options options = {.max_pending = 3};
    weft_event held[3], more;
    weft_fiber fiber;
    begin_with(&options);
    for (int i = 0; i < 3; i++)
        held[i] = make();
    CHECK_EQ(weft_event_new(events, &more, WEFT_NOW), -ENOSPC);
    CHECK_EQ(weft_event_new(events, &more, weft_after(1000)), -ETIMEDOUT);
    for (int round = 0; round < 4; round++) {
        atomic_store(&has_room, 0);
        SPAWN(&fiber, make_with_patience, &more);
        weft_yield();
        CHECK(!atomic_load(&has_room));
        CHECK_EQ(round % 2 ? weft_event_trigger(events, held[0]) : weft_event_poison(events, held[0], 1, NULL), 0);
        JOIN(fiber, NULL);
        held[0] = more;
        CHECK_EQ(stats().pending, 3);
        CHECK_EQ(weft_event_new(events, &more, WEFT_NOW), -ENOSPC);
    }
    finish();
}
TEST(at_the_cap_creation_fails_or_waits_for_a_completion) {
    run_fibers(cap);
}

static void *poison_from_thread(void *arg) {
    CHECK_EQ(weft_event_poison(events, *(weft_event *)arg, 9, "nine"), 0);
    return NULL;
}
TEST(a_descriptor_in_epoll_becomes_readable_and_stays_so) {
    struct epoll_event wish = {.events = EPOLLIN}, got;
    begin();
    weft_event event = make(), other = make();
    int fd = weft_event_open_fd(events, event), unused = weft_event_open_fd(events, other);
    int epoll = epoll_create1(0);
    CHECK_EQ(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &wish), 0);
    CHECK_EQ(epoll_wait(epoll, &got, 1, 0), 0);
    pthread_t thread = thread_start(poison_from_thread, &event);
    CHECK_EQ(epoll_wait(epoll, &got, 1, -1), 1);
    CHECK_EQ(epoll_wait(epoll, &got, 1, -1), 1);
    thread_join(thread);
    CHECK_EQ(weft_event_poll(events, event), WEFT_EVENT_POISONED);
    CHECK_EQ(weft_event_close_fd(events, unused), 0);
    CHECK_EQ(weft_event_trigger(events, other), 0);
    CHECK_EQ(stats().wakes, 1);
    CHECK_EQ(weft_event_close_fd(events, fd), 0);
    close(epoll);
    finish();
}

static void queue_in_batches(void) {
    enum { MANY = 10 };
    weft_event list[MANY];
    weft_event_completion out[MANY];
    weft_event_queue *queue;
    begin();
    CHECK_EQ(weft_event_queue_new(events, &queue), 0);
    int fd = weft_event_queue_get_fd(queue);
    CHECK_GE(fd, 0);
    CHECK_EQ(weft_event_queue_get_fd(queue), fd);
    for (intptr_t i = 0; i < MANY; i++) {
        list[i] = make();
        CHECK_EQ(weft_event_queue_add(queue, list[i], (void *)i), 0);
    }
    CHECK(!is_readable(fd));
    for (int i = MANY - 1; i >= 3; i--)
        CHECK_EQ(weft_event_trigger(events, list[i]), 0);
    CHECK(is_readable(fd));
    CHECK_EQ(weft_event_queue_pop(queue, out, 5, WEFT_NEVER), 5);
    for (int i = 0; i < 5; i++)
        CHECK_EQ((intptr_t)out[i].tag, MANY - 1 - i);
    CHECK(is_readable(fd));
    CHECK_EQ(weft_event_queue_pop(queue, out, MANY, WEFT_NEVER), 2);
    CHECK(!is_readable(fd));
    CHECK_EQ(weft_event_queue_pop(queue, out, MANY, weft_after(1000)), -ETIMEDOUT);
    pthread_t thread = thread_start(poison_from_thread, &list[0]);
    CHECK_EQ(weft_event_queue_pop(queue, out, MANY, WEFT_NEVER), 1);
    CHECK_EQ(out[0].status, -ENOTRECOVERABLE);
    CHECK_TEXT(out[0].reason.text, "nine");
    thread_join(thread);
    CHECK_EQ(weft_event_queue_add(queue, list[0], NULL), 0);
    weft_event_queue_free(queue);
    CHECK_EQ(weft_event_trigger(events, list[1]), 0);
    finish();
}
TEST(a_queue_collects_completions_in_the_order_in_which_they_come) {
    run_fibers(queue_in_batches);
    queue_in_batches();
}

TEST(nonsense_is_refused) {
    weft_event event;
    weft_event_queue *queue;
    weft_events_options many = {.reasons = UINT32_MAX}, large = {.max_pending = UINT32_MAX};
    CHECK_EQ(weft_events_new(NULL, NULL), -EINVAL);
    CHECK_EQ(weft_events_new(&events, &many), -EINVAL);
    CHECK_EQ(weft_events_new(&events, &large), -EINVAL);
    CHECK_EQ(weft_event_new(NULL, &event, WEFT_NOW), -EINVAL);
    CHECK_EQ(weft_event_poll(NULL, WEFT_NO_EVENT), -EINVAL);
    CHECK_EQ(weft_event_wait(NULL, (weft_event){1}, NULL, WEFT_NOW), -EINVAL);
    CHECK_EQ(weft_events_shutdown(NULL, 0, NULL), -EINVAL);
    CHECK_EQ(weft_event_queue_new(NULL, &queue), -EINVAL);
    weft_events_free(NULL);
    weft_event_queue_free(NULL);
    begin();
    CHECK_EQ(weft_event_new(events, NULL, WEFT_NOW), -EINVAL);
    CHECK_EQ(weft_event_merge(events, NULL, 1, WEFT_MERGE_ALL, 0, &event), -EINVAL);
    CHECK_EQ(weft_event_merge(events, NULL, 0, (weft_merge_policy)9, 0, &event), -EINVAL);
    CHECK_EQ(weft_event_close_fd(events, 5), -EBADF);
    finish();
}
