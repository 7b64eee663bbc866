/* SPDX-License-Identifier: MIT
 *
 * spec/depth_test.c - deep stacks are given back.
 *
 * A hundred fibers fill 200 KiB of stack each and check it; then come many shallow ones; when all is quiet, the memory
 * of the burst returns to the system by itself.
 */
#include <unistd.h>

#include "support/run.h"

enum { DEEP = 100, DEPTH = 200 * 1024, FRAME = 4096 };

static long resident_kb(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK_EQ(fscanf(file, "%*d %ld", &pages), 1);
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static __attribute__((noinline)) void fill(int left, uint8_t id) {
    volatile uint8_t frame[FRAME];
    for (int i = 0; i < FRAME; i++)
        frame[i] = (uint8_t)(id + i + left);
    if (left > 1)
        fill(left - 1, id);
    else
        weft_sleep(weft_after(WEFT_MILLISECOND));
    for (int i = 0; i < FRAME; i++)
        CHECK_EQ(frame[i], (uint8_t)(id + i + left));
}

static void *recurse(void *arg) {
    fill(DEPTH / FRAME, (uint8_t)(uintptr_t)arg);
    return arg;
}

static void *sleep_shallow(void *arg) {
    weft_sleep(weft_after(20 * WEFT_MILLISECOND));
    return arg;
}

static void go_deep_then_shallow(void) {
    weft_fiber fibers[DEEP];
    weft_spawn_options options = {.stack_size = 512 * 1024};
    long before = resident_kb();
    for (uintptr_t i = 0; i < DEEP; i++)
        CHECK_EQ(weft_spawn_with(&fibers[i], &options, recurse, (void *)i), 0);
    for (int i = 0; i < DEEP; i++)
        JOIN(fibers[i], NULL);
    long deep = resident_kb();
    long shallow = scaled(10000, 500);
    weft_fiber *many = malloc((size_t)shallow * sizeof *many);
    for (long i = 0; i < shallow; i++)
        SPAWN(&many[i], sleep_shallow, NULL);
    for (long i = 0; i < shallow; i++)
        JOIN(many[i], NULL);
    free(many);
    long top = resident_kb(), now = top;
    weft_time limit = weft_after(PATIENCE_NS);
    long allowed = before + DEEP * DEPTH / 1024 / 4 + 4 * 1024; /* a quarter of what the deep ones took, and change */
    while ((now = resident_kb()) > allowed && !IS_SANITIZED && weft_now() < limit)
        weft_sleep(weft_after(50 * WEFT_MILLISECOND));
    printf("    resident: %ld KiB before, %ld deep, %ld shallow, %ld after rest\n", before, deep, top, now);
    if (!IS_SANITIZED)
        CHECK_LE(now, allowed);
    weft_stats stats;
    CHECK_EQ(weft_get_stats(NULL, &stats), 0);
    CHECK_LE(stats.stacks_in_use, 2 + 128 * stats.workers + 64);
}

TEST(memory_of_deep_stacks_goes_back_when_all_is_quiet) {
    run_fibers(go_deep_then_shallow);
}
