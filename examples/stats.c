/* SPDX-License-Identifier: MIT
 *
 * examples/stats.c - what the runtime counts, and how the work was spread over its workers.
 *
 * Counters are exact one by one and taken at slightly different moments. A plain thread may read them as well, by
 * naming the runtime.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

#include <weft.h>

enum { FIBERS = 200, TURNS = 20 };

static void *work(void *arg) {
    for (int i = 0; i < TURNS; i++)
        weft_yield();
    weft_sleep(weft_after(WEFT_MILLISECOND));
    return arg;
}

static void print(const char *name, uint64_t value) {
    printf("%-18s %8" PRIu64 "\n", name, value);
}

static void print_all(const weft_stats *stats) {
    print("fibers started", stats->fibers_started);
    print("fibers ended", stats->fibers_ended);
    print("fibers alive", stats->fibers_alive);
    print("records held", stats->records_held);
    print("switches", stats->switches);
    print("parks", stats->parks);
    print("wakes", stats->wakes);
    print("steals", stats->steals);
    print("stolen", stats->stolen);
    print("injected", stats->injected);
    print("worker parks", stats->worker_parks);
    print("worker wakes", stats->worker_wakes);
    print("polls", stats->polls);
    print("timers armed", stats->timers_armed);
    print("timers fired", stats->timers_fired);
    print("timers cancelled", stats->timers_cancelled);
    print("stacks mapped", stats->stacks_mapped);
    print("stacks in use", stats->stacks_in_use);
    print("stacks warm", stats->stacks_warm);
    print("stacks trimmed", stats->stacks_trimmed);
    print("panics", stats->panics);
    printf("%u workers, %u of them idle; guard: %s; poller: %s\n", stats->workers, stats->workers_idle, stats->guard,
           stats->poller);
}

static int app(void *arg) {
    (void)arg;
    weft_fiber fibers[FIBERS];
    for (int i = 0; i < FIBERS; i++)
        if (weft_spawn(&fibers[i], work, NULL) != 0)
            return 1;
    for (int i = 0; i < FIBERS; i++)
        if (weft_join(fibers[i], NULL, WEFT_NEVER) != 0)
            return 1;

    weft_stats stats;
    if (weft_get_stats(weft_runtime_self(), &stats) != 0)
        return 1;
    print_all(&stats);
    uint64_t switches[64];
    int workers = weft_get_spread(NULL, switches, 64);
    for (int i = 0; i < workers && i < 64; i++)
        printf("worker %d gave its thread to a fiber %" PRIu64 " times\n", i, switches[i]);

    /* A fiber that comes to its sleep too late needs no timer. */
    bool is_plausible =
        stats.fibers_ended >= FIBERS && stats.timers_fired == stats.timers_armed && stats.switches >= FIBERS;
    return is_plausible && workers == (int)stats.workers ? 0 : 1;
}

int main(void) {
    return weft_run(NULL, app, NULL);
}
