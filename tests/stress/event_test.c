/* SPDX-License-Identifier: MIT
 *
 * stress/event_test.c - everything that can be done with events, at once, by chance.
 *
 * A board of events that fibers and plain threads complete, wait for with short deadlines, select over, merge, own, watch by
 * descriptor and queue, while others replace them. Each event carries its verdict in its number: generation divisible by
 * three is poisoned, with the generation as code. So whoever learns a verdict can tell whether it is the right one (I3, I6),
 * and at the end nothing may be pending that was completed (I5).
 */
#include "event/event.h"
#include "support/run.h"

enum { PLACES = 8, ACTORS = 6, THREADS = 2 };

static weft_events *events;
static _Atomic uint64_t board[PLACES];
static atomic_long steps_left;
static atomic_int next_actor;
static uint64_t seed;

static bool is_bad(weft_event event) {
    return wf_event_generation(event) % 3 == 0;
}
static void complete(weft_event event) {
    int status = is_bad(event) ? weft_event_poison(events, event, (int)wf_event_generation(event), "third")
                               : weft_event_trigger(events, event);
    CHECK(status == 0 || status == -EALREADY);
}
static void check_status(weft_event event, int status, const weft_event_reason *reason) {
    if (status == -ETIMEDOUT || status == -ENODATA)
        return;
    CHECK_EQ(status, is_bad(event) ? -ENOTRECOVERABLE : 0);
    if (status && reason && reason->code != -ENODATA)
        CHECK_EQ(reason->code, wf_event_generation(event));
}
static void check_verdict(weft_event event) {
    int verdict = weft_event_poll(events, event);
    CHECK_GE(verdict, 0);
    if (verdict == WEFT_EVENT_READY || verdict == WEFT_EVENT_POISONED)
        CHECK_EQ(verdict, is_bad(event) ? WEFT_EVENT_POISONED : WEFT_EVENT_READY);
}

static void replace(uint64_t *random) {
    weft_event fresh;
    if (weft_event_new(events, &fresh, WEFT_NOW) != 0)
        return;
    weft_event old = {atomic_exchange(&board[random_below(random, PLACES)], fresh.bits)};
    check_verdict(old);
    complete(old);
    CHECK_NE(weft_event_poll(events, old), WEFT_EVENT_PENDING);
}
static void select_two(weft_event a, weft_event b, weft_time deadline) {
    weft_event_reason reasons[2] = {{0}, {0}};
    weft_case cases[] = {weft_on_event(events, a, &reasons[0]), weft_on_event(events, b, &reasons[1])};
    int chosen = weft_select(cases, 2, deadline);
    if (chosen >= 0)
        check_status(chosen ? b : a, cases[chosen].status, &reasons[chosen]);
}
static void merge_two(weft_event a, weft_event b, uint64_t *random, weft_time deadline) {
    weft_event inputs[] = {a, b}, out;
    weft_merge_policy policy = (weft_merge_policy)random_below(random, 3);
    int status = weft_event_merge(events, inputs, 2, policy, 0, &out);
    if (status)
        return;
    status = weft_event_wait(events, out, NULL, deadline);
    if (status == 0 && policy == WEFT_MERGE_ALL)
        CHECK(!is_bad(a) && !is_bad(b));
    if (status == 0 && policy == WEFT_MERGE_ANY)
        CHECK(!is_bad(a) || !is_bad(b));
}
static void watch(weft_event event, weft_event_queue *queue) {
    weft_event_completion out[4];
    int fd = weft_event_open_fd(events, event);
    CHECK_GE(fd, 0);
    CHECK_EQ(weft_event_queue_add(queue, event, NULL), 0);
    weft_yield();
    CHECK_EQ(weft_event_close_fd(events, fd), 0);
    int count = weft_event_queue_pop(queue, out, 4, WEFT_NOW);
    for (int i = 0; i < count; i++)
        check_status(out[i].event, out[i].status, &out[i].reason);
}

static void *act(void *arg) {
    uint64_t random = (seed + (uint64_t)atomic_fetch_add(&next_actor, 1) * 7919) | 1;
    weft_event_queue *queue;
    CHECK_EQ(weft_event_queue_new(events, &queue), 0);
    while (atomic_fetch_sub(&steps_left, 1) > 0) {
        weft_event a = {atomic_load(&board[random_below(&random, PLACES)])};
        weft_event b = {atomic_load(&board[random_below(&random, PLACES)])};
        weft_time soon = weft_after((int64_t)random_below(&random, 20) * WEFT_MICROSECOND);
        weft_event_reason reason = {0};
        switch (random_below(&random, 8)) {
        case 0:
        case 1:
        case 2:
            replace(&random);
            break;
        case 3:
            check_status(a, weft_event_wait(events, a, &reason, soon), &reason);
            break;
        case 4:
            select_two(a, b, soon);
            break;
        case 5:
            merge_two(a, b, &random, soon);
            break;
        case 6:
            watch(a, queue);
            break;
        default:
            complete(a);
        }
    }
    weft_event_queue_free(queue);
    return arg;
}

static void everything(void) {
    weft_fiber fibers[ACTORS];
    pthread_t threads[THREADS];
    weft_events_options options = {.max_pending = seed % 2 ? 1000 : 0, .reasons = 64};
    CHECK_EQ(weft_events_new(&events, &options), 0);
    atomic_store(&steps_left, scaled(200000, 3000));
    for (int i = 0; i < PLACES; i++) {
        weft_event event;
        CHECK_EQ(weft_event_new(events, &event, WEFT_NOW), 0);
        atomic_store(&board[i], event.bits);
    }
    for (int i = 0; i < ACTORS; i++)
        SPAWN(&fibers[i], act, NULL);
    for (int i = 0; i < THREADS; i++)
        threads[i] = thread_start(act, NULL);
    for (int i = 0; i < ACTORS; i++)
        JOIN(fibers[i], NULL);
    for (int i = 0; i < THREADS; i++)
        thread_join(threads[i]);
    for (int i = 0; i < PLACES; i++)
        complete((weft_event){atomic_load(&board[i])});
    weft_events_stats stats;
    WAIT_UNTIL(weft_events_get_stats(events, &stats) == 0 && stats.pending == 0);
    weft_events_free(events);
}

TEST(verdicts_stay_true_whatever_happens_at_once) {
    seed = wf_test_seed();
    for (int round = 0; round < 2; round++, seed++)
        run_fibers(everything);
}
