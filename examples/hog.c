/* SPDX-License-Identifier: MIT
 *
 * examples/hog.c - fibers that compute, politely and not.
 *
 * As many fibers as there are workers compute until the first fiber tells them to stop, and that one wants a processor to do
 * so. The polite ones offer theirs in each round with weft_maybe_yield. The rude ones never call weft: after a while the
 * monitor leaves them alone with their threads and gives what waits behind them to others, so the first fiber comes to run
 * all the same, and finds the culprits by name.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft.h>

static atomic_bool is_enough;
static weft_waitgroup starting = WEFT_WAITGROUP_INIT;

static void must(int error, const char *what) {
    if (error)
        weft_fatal("%s: error %d", what, -error);
}

/* How many steps it takes from n to 1 by the rule of Collatz. */
static uint64_t count_steps(uint64_t n) {
    uint64_t steps = 0;
    for (; n > 1; steps++)
        n = n % 2 ? 3 * n + 1 : n / 2;
    return steps;
}

static void *compute_politely(void *arg) {
    uint64_t longest = 0;
    weft_waitgroup_done(&starting);
    for (uint64_t n = 1; !is_enough; n++) {
        uint64_t steps = count_steps(n);
        longest = steps > longest ? steps : longest;
        weft_maybe_yield();
    }
    *(uint64_t *)arg = longest;
    return NULL;
}

static void *compute_rudely(void *arg) {
    uint64_t longest = 0;
    weft_waitgroup_done(&starting);
    for (uint64_t n = 1; !is_enough; n++) {
        uint64_t steps = count_steps(n);
        longest = steps > longest ? steps : longest;
    }
    *(uint64_t *)arg = longest;
    return NULL;
}

/* The entry of that function in the list of hogs, or false. */
static bool find_hog(weft_fn entry, weft_hog *out) {
    weft_hog hogs[64];
    int count = weft_get_hogs(NULL, hogs, 64);
    for (int i = 0; i < count && i < 64; i++)
        if (hogs[i].entry == entry) {
            *out = hogs[i];
            return true;
        }
    return false;
}

struct crowd {
    unsigned size;
    weft_fiber *fibers;
    uint64_t *longest;
};

static void start(struct crowd *crowd, weft_fn fn, const char *name) {
    weft_spawn_options options = {.name = name};
    is_enough = false;
    weft_waitgroup_add(&starting, crowd->size);
    for (unsigned i = 0; i < crowd->size; i++)
        must(weft_spawn_with(&crowd->fibers[i], &options, fn, &crowd->longest[i]), "cannot spawn");
    must(weft_waitgroup_wait(&starting, WEFT_NEVER), "cannot wait"); /* needs a processor to come back */
}

static void stop(struct crowd *crowd) {
    is_enough = true;
    for (unsigned i = 0; i < crowd->size; i++)
        must(weft_join(crowd->fibers[i], NULL, WEFT_NEVER), "cannot join");
}

static int app(void *arg) {
    weft_stats stats;
    weft_thread_stats threads;
    weft_hog hog;
    (void)arg;
    must(weft_get_stats(NULL, &stats), "no statistics");
    struct crowd crowd = {.size = stats.workers,
                          .fibers = calloc(stats.workers, sizeof(weft_fiber)),
                          .longest = calloc(stats.workers, sizeof(uint64_t))};
    if (!crowd.fibers || !crowd.longest)
        weft_fatal("no memory");

    start(&crowd, compute_politely, "polite");
    stop(&crowd);
    printf("%u polite fibers computed and stopped\n", crowd.size);

    start(&crowd, compute_rudely, "rude");
    while (!find_hog(compute_rudely, &hog))
        weft_yield();
    stop(&crowd);
    printf("%u rude fibers computed; one of those named \"%s\" was noticed\n", crowd.size, hog.name);
    must(weft_get_thread_stats(NULL, &threads), "no statistics");
    printf("%" PRIu64 " times a computation was left alone\n", threads.hogs);
    bool is_well = hog.count > 0 && strcmp(hog.name, "rude") == 0 && threads.hogs > 0;
    free(crowd.fibers);
    free(crowd.longest);
    return is_well ? 0 : 1;
}

int main(void) {
    return weft_run(NULL, app, NULL);
}
