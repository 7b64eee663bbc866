/* SPDX-License-Identifier: MIT
 *
 * bench/weft/event.c - what an event costs: to make and trigger, to ask, to be told of, to have pending.
 *
 * The rows with a bar in nanoseconds are processor time, the best of five passes in one process. waiter_round goes
 * through a completion queue, which comes nearest to a node that is registered and fired: nobody switches. In
 * fiber_round a fiber waits, and that row has counterparts in bench/peers/go/event.go and bench/peers/fiber/event.cc.
 */
#include <stdatomic.h>

#include "bench.h"

enum { MADE = 2000000, POLLED = 20000000, TOLD = 2000000, ROUNDS = 1000000, WARM_UP = 100000, PENDING = 1000000 };

/* 256: their slots fill 16 KiB, half of a small first cache. A power of two. */
enum { COMPLETED = 256, PASSES = 5 };

static weft_events *events;
static weft_event completed[COMPLETED];
static weft_event_queue *queue;

/* Processor time of one operation in the best of the passes, of which the first is also the warm-up. */
static double best_cpu_ns(void (*pass)(long n), long n) {
    weft_time best = WEFT_NEVER;
    for (int i = 0; i < PASSES; i++) {
        weft_time start = bench_cpu_ns();
        pass(n);
        weft_time took = bench_cpu_ns() - start;
        if (took < best)
            best = took;
    }
    return (double)best / (double)n;
}

static void make_and_trigger(long n) {
    for (long i = 0; i < n; i++) {
        weft_event event;
        bench_must(weft_event_new(events, &event, WEFT_NOW));
        bench_must(weft_event_trigger(events, event));
    }
}

static void create_trigger(const char *suffix) {
    bench_must(weft_events_new(&events, NULL));
    bench_report("event.create_trigger", suffix, best_cpu_ns(make_and_trigger, MADE), "ns");
    weft_events_free(events);
}

static void poll_all(long n) {
    for (long i = 0; i < n; i++)
        if (weft_event_poll(events, completed[i % COMPLETED]) != WEFT_EVENT_READY)
            weft_fatal("benchmark: an event is not ready");
}

static void poll_completed(const char *suffix) {
    bench_must(weft_events_new(&events, NULL));
    for (int i = 0; i < COMPLETED; i++)
        bench_must(weft_event_new(events, &completed[i], WEFT_NOW));
    for (int i = 0; i < COMPLETED; i++)
        bench_must(weft_event_trigger(events, completed[i]));
    bench_report("event.poll_completed", suffix, best_cpu_ns(poll_all, POLLED), "ns");
    weft_events_free(events);
}

static void register_and_trigger(long n) {
    for (long i = 0; i < n; i++) {
        weft_event event;
        weft_event_completion completion;
        bench_must(weft_event_new(events, &event, WEFT_NOW));
        bench_must(weft_event_queue_add(queue, event, NULL));
        bench_must(weft_event_trigger(events, event));
        bench_must(weft_event_queue_pop(queue, &completion, 1, WEFT_NOW));
        bench_must(completion.status);
    }
}

static void waiter_round(const char *suffix) {
    bench_must(weft_events_new(&events, NULL));
    bench_must(weft_event_queue_new(events, &queue));
    bench_report("event.waiter_round", suffix, best_cpu_ns(register_and_trigger, TOLD), "ns");
    weft_event_queue_free(queue);
    weft_events_free(events);
}

/* The maker publishes an event and triggers it once the waiter has taken it; on one worker it waits by then. */
typedef struct meeting {
    weft_event event;
    atomic_long published;
    atomic_long taken;
    long count;
} meeting;

static void *wait_for_each(void *arg) {
    meeting *self = arg;
    for (long i = 1; i <= self->count; i++) {
        while (atomic_load_explicit(&self->published, memory_order_acquire) < i)
            weft_yield();
        weft_event event = self->event;
        atomic_store_explicit(&self->taken, i, memory_order_release);
        bench_must(weft_event_wait(events, event, NULL, WEFT_NEVER));
    }
    return NULL;
}

static weft_time meet(long n) {
    meeting shared = {.count = n};
    weft_fiber waiter;
    weft_time start = weft_now();
    bench_must(weft_spawn(&waiter, wait_for_each, &shared));
    for (long i = 1; i <= n; i++) {
        weft_event event;
        bench_must(weft_event_new(events, &event, WEFT_NOW));
        shared.event = event;
        atomic_store_explicit(&shared.published, i, memory_order_release);
        while (atomic_load_explicit(&shared.taken, memory_order_acquire) < i)
            weft_yield();
        bench_must(weft_event_trigger(events, event));
    }
    bench_must(weft_join(waiter, NULL, WEFT_NEVER));
    return weft_now() - start;
}

static void fiber_round(const char *suffix) {
    bench_must(weft_events_new(&events, NULL));
    meet(WARM_UP);
    bench_report("event.fiber_round", suffix, (double)meet(ROUNDS) / ROUNDS, "ns");
    weft_events_free(events);
}

/* The system, with its room for reasons, is there before; what the events take comes after. */
static void memory(const char *suffix) {
    bench_must(weft_events_new(&events, NULL));
    long long before = bench_memory_bytes();
    for (long i = 0; i < PENDING; i++) {
        weft_event event;
        bench_must(weft_event_new(events, &event, WEFT_NOW));
    }
    bench_report("event.memory", suffix, (double)(bench_memory_bytes() - before) / PENDING, "B");
    weft_events_free(events);
}

static const bench all[] = {
    {"create_trigger", create_trigger},
    {"poll_completed", poll_completed},
    {"waiter_round", waiter_round},
    {"fiber_round", fiber_round},
    {"memory", memory},
};

BENCH_MAIN(all)
