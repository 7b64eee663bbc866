/* SPDX-License-Identifier: MIT
 *
 * bench/weft/fiber.c - the cost of fibers themselves: yield, spawn and join, a million at once, the skynet tree.
 *
 * Same work as bench/peers/go/fiber.go and bench/peers/fiber/fiber.cc; see bench/README.md for what each row means.
 */
#include "bench.h"

enum { YIELDS = 2000000, JOINS = 1000000, WARM_UP = 100000, BATCH = 1000000, LEAVES = 1000000, BRANCHES = 10 };

static const int64_t LEAVES_SUM = INT64_C(499999500000);

static void *yield_many(void *arg) {
    for (long i = 0, n = (long)(intptr_t)arg; i < n; i++)
        weft_yield();
    return NULL;
}

static weft_time yield_pair(long yields) {
    weft_fiber left, right;
    weft_time start = weft_now();
    bench_must(weft_spawn(&left, yield_many, (void *)(intptr_t)yields));
    bench_must(weft_spawn(&right, yield_many, (void *)(intptr_t)yields));
    bench_must(weft_join(left, NULL, WEFT_NEVER));
    bench_must(weft_join(right, NULL, WEFT_NEVER));
    return weft_now() - start;
}

static void yield(const char *suffix) {
    yield_pair(WARM_UP);
    bench_report("yield", suffix, (double)yield_pair(YIELDS) / (2.0 * YIELDS), "ns");
}

static void *empty(void *arg) {
    return arg;
}

static weft_time spawn_and_join(long n) {
    weft_time start = weft_now();
    for (long i = 0; i < n; i++) {
        weft_fiber fiber;
        bench_must(weft_spawn(&fiber, empty, NULL));
        bench_must(weft_join(fiber, NULL, WEFT_NEVER));
    }
    return weft_now() - start;
}

static void spawn_join(const char *suffix) {
    spawn_and_join(WARM_UP);
    bench_report("spawn_join", suffix, (double)spawn_and_join(JOINS) / JOINS, "ns");
}

static weft_time spawn_all_join_all(weft_fiber *fibers, long n) {
    weft_time start = weft_now();
    for (long i = 0; i < n; i++)
        bench_must(weft_spawn(&fibers[i], empty, NULL));
    for (long i = 0; i < n; i++)
        bench_must(weft_join(fibers[i], NULL, WEFT_NEVER));
    return weft_now() - start;
}

static void spawn_batch(const char *suffix) {
    weft_fiber *fibers = malloc(BATCH * sizeof *fibers);
    if (!fibers)
        weft_fatal("benchmark: no memory");
    bench_report("spawn_batch.cold", suffix, (double)spawn_all_join_all(fibers, BATCH) / BATCH, "ns");
    bench_report("spawn_batch.warm", suffix, (double)spawn_all_join_all(fibers, BATCH) / BATCH, "ns");
    free(fibers);
}

typedef struct node {
    int64_t first;
    int64_t leaves;
} node;

static void *skynet_node(void *arg) {
    const node *self = arg;
    if (self->leaves == 1)
        return (void *)(intptr_t)self->first;
    node children[BRANCHES];
    weft_fiber fibers[BRANCHES];
    int64_t share = self->leaves / BRANCHES, sum = 0;
    for (int i = 0; i < BRANCHES; i++) {
        children[i] = (node){self->first + i * share, share};
        bench_must(weft_spawn(&fibers[i], skynet_node, &children[i]));
    }
    for (int i = 0; i < BRANCHES; i++) {
        void *part;
        bench_must(weft_join(fibers[i], &part, WEFT_NEVER));
        sum += (int64_t)(intptr_t)part;
    }
    return (void *)(intptr_t)sum;
}

static void skynet_round(const char *name, const char *suffix) {
    node root = {0, LEAVES};
    weft_time start = weft_now();
    int64_t sum = (int64_t)(intptr_t)skynet_node(&root);
    weft_time took = weft_now() - start;
    if (sum != LEAVES_SUM)
        weft_fatal("benchmark: skynet added up to %lld", (long long)sum);
    bench_report(name, suffix, (double)took / WEFT_MILLISECOND, "ms");
}

static void skynet(const char *suffix) {
    skynet_round("skynet.cold", suffix);
    skynet_round("skynet.warm", suffix);
}

static const bench all[] = {
    {"yield", yield},
    {"spawn_join", spawn_join},
    {"spawn_batch", spawn_batch},
    {"skynet", skynet},
};

BENCH_MAIN(all)
