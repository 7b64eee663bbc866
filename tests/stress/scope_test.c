/* SPDX-License-Identifier: MIT
 *
 * stress/scope_test.c - random trees of scopes, with cancellations, deadlines, failures and panics everywhere.
 *
 * Goal: whatever happens inside, a tree ends, nothing that was started outlives it, and what passes between its fibers is
 * conserved: every value that was sent has been received or is still in the channel, every lock and permit is free.
 * Method: each node draws from the seed of its tree what it does, so a tree is the same again for the same seed as far as
 * the scheduler allows.
 */
#include "support/run.h"

enum { DEPTH = 4, PERMITS = 3, CAPACITY = 2 };

struct world {
    weft_chan *chan;
    weft_mutex mutex;
    weft_semaphore permits;
    atomic_long sent;
    atomic_long received;
    atomic_long began;
    atomic_long ended;
    long shared; /* under mutex */
    atomic_long added;
};

struct node {
    struct world *world;
    struct node *parent;
    weft_scope *scope; /* of this node; open while anything below it lives */
    uint64_t seed;
    int depth;
};

static int node_main(void *opaque);

static bool is_expected(int status) {
    return status >= 0 || status == -ECANCELED || status == -ETIMEDOUT || status == -EDOM || status == -EOWNERDEAD ||
           status == -EINTR || status == -ENOMEM;
}

static weft_time soon(uint64_t *seed) {
    switch (random_below(seed, 4)) {
    case 0:
        return WEFT_NOW;
    case 1:
        return weft_after((int64_t)random_below(seed, 300) * WEFT_MICROSECOND);
    default:
        return weft_after((int64_t)random_below(seed, 3000) * WEFT_MICROSECOND);
    }
}

static void send_one(struct world *world, uint64_t *seed) {
    long value = 1;
    if (weft_chan_send(world->chan, &value, soon(seed)) == 0)
        atomic_fetch_add(&world->sent, 1);
}

static void receive_one(struct world *world, uint64_t *seed) {
    long value = 0;
    if (weft_chan_recv(world->chan, &value, soon(seed)) == 0)
        atomic_fetch_add(&world->received, value);
}

static void select_one(struct world *world, uint64_t *seed) {
    long in = 0, out = 1;
    weft_case cases[] = {weft_on_receive(world->chan, &in), weft_on_send(world->chan, &out),
                         weft_on_semaphore(&world->permits), weft_on_time(soon(seed))};
    int chosen = weft_select(cases, 4, soon(seed));
    if (chosen == 0)
        atomic_fetch_add(&world->received, in);
    else if (chosen == 1)
        atomic_fetch_add(&world->sent, 1);
    else if (chosen == 2)
        weft_semaphore_release(&world->permits, 1);
    CHECK(is_expected(chosen));
}

static void lock_one(struct world *world, uint64_t *seed) {
    if (weft_mutex_lock(&world->mutex, soon(seed)) != 0)
        return;
    long before = world->shared;
    weft_yield();
    world->shared = before + 1;
    atomic_fetch_add(&world->added, 1);
    weft_mutex_unlock(&world->mutex);
}

static void acquire_some(struct world *world, uint64_t *seed) {
    int64_t count = 1 + (int64_t)random_below(seed, PERMITS);
    if (weft_semaphore_acquire(&world->permits, count, soon(seed)) != 0)
        return;
    weft_shield();
    weft_sleep(weft_after(10 * WEFT_MICROSECOND));
    weft_unshield();
    weft_semaphore_release(&world->permits, count);
}

static void cancel_somebody(struct node *node) {
    struct node *target = node;
    for (uint64_t up = random_below(&node->seed, 3); up > 0 && target->parent->parent; up--)
        target = target->parent;
    int status = weft_scope_cancel(target->parent->scope, -EINTR, "at random");
    CHECK(status == 0 || status == -EALREADY);
}

static int do_something(struct node *node) {
    struct world *world = node->world;
    switch (random_below(&node->seed, 24)) {
    case 0:
        return -EDOM;
    case 1:
        weft_panic("at random");
    case 2:
        cancel_somebody(node);
        return 0;
    case 3:
        weft_exit((void *)(intptr_t)(random_below(&node->seed, 2) ? -EDOM : 0));
    case 4:
        weft_sleep(soon(&node->seed));
        return 0;
    case 5:
    case 6:
        lock_one(world, &node->seed);
        return 0;
    case 7:
    case 8:
        acquire_some(world, &node->seed);
        return 0;
    case 9:
    case 10:
    case 11:
        select_one(world, &node->seed);
        return 0;
    case 12:
    case 13:
    case 14:
    case 15:
        send_one(world, &node->seed);
        return 0;
    default:
        receive_one(world, &node->seed);
        return 0;
    }
}

static int node_body(weft_scope *scope, void *opaque) {
    struct node *node = opaque;
    node->scope = scope;
    int children = (int)random_below(&node->seed, 5);
    for (int i = 0; i < children; i++) {
        struct node *child = malloc(sizeof *child);
        CHECK(child != NULL);
        *child = (struct node){node->world, node, NULL, random_next(&node->seed) | 1, node->depth + 1};
        int status = weft_scope_go(scope, node_main, child);
        CHECK(status == 0 || status == -ECANCELED);
        if (status) {
            free(child);
            break;
        }
    }
    if (random_below(&node->seed, 3) == 0)
        weft_scope_wait(scope, soon(&node->seed));
    if (random_below(&node->seed, 20) == 0)
        weft_panic("in a body");
    return random_below(&node->seed, 20) == 0 ? -EDOM : 0;
}

static void count_end(void *opaque) {
    struct node *node = opaque;
    atomic_fetch_add(&node->world->ended, 1);
    free(node);
}

/* The deferred call has the node, since the fiber may end anywhere. Those below have ended by then: they were inside. */
static int node_main(void *opaque) {
    struct node *node = opaque;
    atomic_fetch_add(&node->world->began, 1);
    CHECK_EQ(weft_defer(count_end, node), 0);
    int status = 0;
    if (node->depth < DEPTH) {
        weft_scope_options options = {
            .deadline = random_below(&node->seed, 3) ? 0 : weft_after((int64_t)random_below(&node->seed, 2000000)),
            .keep_going = random_below(&node->seed, 2),
            .keep_results = random_below(&node->seed, 2),
            .max_children = (unsigned)random_below(&node->seed, 4),
        };
        status = weft_scope_run(&options, node_body, node);
        CHECK(is_expected(status));
    }
    int own = do_something(node);
    return own ? own : status;
}

static int top_body(weft_scope *scope, void *opaque) {
    struct node *top = opaque;
    top->scope = scope;
    for (int i = 0; i < 4; i++) {
        struct node *child = malloc(sizeof *child);
        CHECK(child != NULL);
        *child = (struct node){top->world, top, NULL, random_next(&top->seed) | 1, 1};
        if (weft_scope_go(scope, node_main, child) != 0)
            free(child);
    }
    return 0;
}

static void check_world(struct world *world) {
    long value = 0;
    CHECK_EQ(atomic_load(&world->began), atomic_load(&world->ended));
    while (weft_chan_recv(world->chan, &value, WEFT_NOW) == 0)
        atomic_fetch_add(&world->received, value);
    CHECK_EQ(atomic_load(&world->sent), atomic_load(&world->received));
    CHECK_EQ(weft_semaphore_permits(&world->permits), PERMITS);
    CHECK_EQ(weft_mutex_lock(&world->mutex, WEFT_NOW), 0);
    CHECK_EQ(world->shared, atomic_load(&world->added));
    weft_mutex_unlock(&world->mutex);
    weft_chan_free(world->chan);
}

static void tree_body(void) {
    uint64_t seed = wf_test_seed();
    long fibers = 0;
    long values = 0;
    for (long round = 0; round < scaled(600, 15); round++) {
        struct world world = {.permits = WEFT_SEMAPHORE_INIT(PERMITS)};
        struct node top = {.world = &world, .seed = random_next(&seed) | 1};
        weft_scope_options options = {.keep_going = true, .deadline = weft_after(PATIENCE_NS)};
        weft_stats stats;
        CHECK_EQ(weft_chan_new(&world.chan, sizeof(long), (int64_t)random_below(&seed, CAPACITY + 1)), 0);
        int status = weft_scope_run(&options, top_body, &top);
        CHECK(is_expected(status));
        check_world(&world);
        CHECK_EQ(weft_get_stats(NULL, &stats), 0);
        CHECK_EQ(stats.fibers_alive, 1);
        CHECK_EQ(stats.timers_armed, stats.timers_fired + stats.timers_cancelled);
        fibers += atomic_load(&world.began);
        values += atomic_load(&world.sent);
    }
    printf("    %ld fibers, %ld values\n", fibers, values);
}

TEST(scope_trees_end_and_conserve_what_passes_inside_them) {
    run_fibers_with(&(weft_options){.quiet = true}, tree_body);
}

/* Many fibers that all wait, cancelled at one stroke. */
struct herd {
    weft_chan *chan;
    atomic_long waiting;
    atomic_long cancelled;
};

static int herd_child(void *opaque) {
    struct herd *herd = opaque;
    atomic_fetch_add(&herd->waiting, 1);
    int status = weft_chan_recv(herd->chan, NULL, WEFT_NEVER);
    atomic_fetch_add(&herd->cancelled, status == -ECANCELED);
    return 0;
}

static int start_herd(weft_scope *scope, void *opaque) {
    struct herd *herd = opaque;
    long count = scaled(20000, 200);
    for (long i = 0; i < count; i++)
        CHECK_EQ(weft_scope_go(scope, herd_child, herd), 0);
    WAIT_UNTIL(atomic_load(&herd->waiting) == count);
    CHECK_EQ(weft_scope_cancel(scope, -EINTR, NULL), 0);
    return 0;
}

static void herd_body(void) {
    struct herd herd = {0};
    CHECK_EQ(weft_chan_new(&herd.chan, 0, 0), 0);
    CHECK_EQ(weft_scope_run(NULL, start_herd, &herd), -EINTR);
    CHECK_EQ(atomic_load(&herd.cancelled), scaled(20000, 200));
    weft_chan_free(herd.chan);
}

TEST(scope_with_many_waiting_children_is_cancelled_at_one_stroke) {
    run_fibers(herd_body);
}
