/* SPDX-License-Identifier: MIT
 *
 * gdb/many.c - a thousand fibers for a debugger to list: parked in joins and in sleeps, a few calls deep.
 *
 * tests/script/gdb_fibers.sh stops in all_are_parked and lists them, and again in the core file of the abort that follows. Half of them join a fiber that
 * sleeps, the other half sleep themselves; the names say which.
 */
#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

enum { FIBERS = 1000 };

static weft_fiber sleeper;

void all_are_parked(void);

__attribute__((noinline)) void all_are_parked(void) {
    __asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) int join_deep(int depth) {
    int status = depth == 0 ? weft_join(sleeper, NULL, WEFT_NEVER) : join_deep(depth - 1);
    __asm__ volatile("" : "+r"(status)); /* no tail call: every frame stays */
    return status;
}

static __attribute__((noinline)) int sleep_deep(int depth) {
    int status = depth == 0 ? weft_sleep(weft_after(3600 * WEFT_SECOND)) : sleep_deep(depth - 1);
    __asm__ volatile("" : "+r"(status));
    return status;
}

static void *entry_of_joiner(void *arg) {
    int status = join_deep(3);
    __asm__ volatile("" : "+r"(status));
    return arg;
}

static void *entry_of_sleeper(void *arg) {
    int status = sleep_deep(2);
    __asm__ volatile("" : "+r"(status));
    return arg;
}

/* A park is counted before the fiber's stack is left; that every worker but ours is idle says that all have been. */
static int first(void *arg) {
    weft_stats stats;
    (void)arg;
    if (weft_spawn(&sleeper, entry_of_sleeper, NULL) != 0)
        return 1;
    for (int i = 1; i < FIBERS; i++) {
        char name[16];
        weft_fiber fiber;
        snprintf(name, sizeof name, "%s%03d", i % 2 ? "join" : "sleep", i % 1000);
        const weft_spawn_options options = {.name = name};
        if (weft_spawn_with(&fiber, &options, i % 2 ? entry_of_joiner : entry_of_sleeper, NULL) != 0)
            return 1;
    }
    do {
        weft_yield();
        if (weft_get_stats(NULL, &stats) != 0)
            return 1;
    } while (stats.parks < FIBERS || stats.workers_idle + 1 < stats.workers);
    all_are_parked();
    abort();
}

int main(void) {
    const weft_options options = {.abandon = true};
    return weft_run(&options, first, NULL);
}
