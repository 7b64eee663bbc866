/* SPDX-License-Identifier: MIT
 *
 * stress/blocking_test.c - fibers that block, compute, pin themselves, stop the world, spawn and talk, all at once.
 *
 * Each fiber draws what it does next, for a second or so. Messages are numbers; the oracle is that those that were sent are
 * those that were received or are still in a channel when all have ended, and that afterwards no processor is detached, no
 * worker is alone and the threads have gone home.
 */
#include "fiber/fiber.h"
#include "support/door.h"

enum { CHANS = 4, ACTORS = 24, STEPS_MAX = 100000, DEPTH_MAX = 2 };

static weft_chan *chans[CHANS];
static atomic_llong sent_sum, received_sum;
static atomic_long sent_count, received_count, steps_done, children;
static weft_time end_at;
static weft_mutex mutex;
static long guarded; /* under mutex */
static atomic_long guarded_times;

/* Inside a region nobody waits without a limit: somebody who is pinned to the same thread could be what is waited for. */
struct actor {
    uint64_t random;
    int depth;
    bool is_inside;
};

static void *act(void *arg);

static void note_sent(int64_t value) {
    atomic_fetch_add(&sent_sum, value);
    atomic_fetch_add(&sent_count, 1);
}

static void note_received(int64_t value) {
    atomic_fetch_add(&received_sum, value);
    atomic_fetch_add(&received_count, 1);
}

static weft_time soon(struct actor *actor) {
    return random_below(&actor->random, 3) ? weft_after((int64_t)random_below(&actor->random, 300) * WEFT_MICROSECOND)
                                           : WEFT_NOW;
}

static void talk(struct actor *actor) {
    weft_chan *one = chans[random_below(&actor->random, CHANS)];
    weft_chan *other = chans[random_below(&actor->random, CHANS)];
    int64_t out = (int64_t)random_below(&actor->random, 1000000), in = 0;
    weft_case cases[] = {weft_on_send(one, &out), weft_on_receive(other, &in)};
    int status;
    switch (random_below(&actor->random, 4)) {
    case 0:
        status = weft_chan_send(one, &out, soon(actor));
        CHECK(status == 0 || status == -ETIMEDOUT);
        if (status == 0)
            note_sent(out);
        break;
    case 1:
        status = weft_chan_recv(one, &in, soon(actor));
        CHECK(status == 0 || status == -ETIMEDOUT);
        if (status == 0)
            note_received(in);
        break;
    case 2:
        status = weft_select(cases, 2, soon(actor));
        CHECK(status == 0 || status == 1 || status == -ETIMEDOUT);
        if (status == 0)
            note_sent(out);
        else if (status == 1)
            note_received(in);
        break;
    default:
        status = weft_mutex_lock(&mutex, actor->is_inside ? soon(actor) : WEFT_NEVER);
        CHECK(status == 0 || (actor->is_inside && status == -ETIMEDOUT));
        if (status)
            break;
        guarded++;
        atomic_fetch_add(&guarded_times, 1);
        if (random_below(&actor->random, 4) == 0)
            weft_yield();
        weft_mutex_unlock(&mutex);
    }
}

static void compute(struct actor *actor) {
    int64_t longest = random_below(&actor->random, 20) ? 50 * WEFT_MICROSECOND : 15 * WEFT_MILLISECOND;
    weft_time until = weft_after((int64_t)random_below(&actor->random, (uint64_t)longest));
    bool is_polite = random_below(&actor->random, 2);
    while (weft_now() < until) {
        if (is_polite)
            weft_maybe_yield();
    }
}

static void *spend_time(void *opaque) {
    struct actor *actor = opaque;
    weft_time until = weft_after((int64_t)random_below(
        &actor->random, (uint64_t)(random_below(&actor->random, 20) ? 20 * WEFT_MICROSECOND : 8 * WEFT_MILLISECOND)));
    while (weft_now() < until)
        sched_yield();
    actor->is_inside = true;
    for (uint64_t n = random_below(&actor->random, 3); n > 0; n--)
        talk(actor);
    actor->is_inside = false;
    return opaque;
}

static void panic_inside(void *opaque) {
    weft_blocking_begin();
    spend_time(opaque);
    weft_panic("a panic of the test");
}

static void block(struct actor *actor) {
    switch (random_below(&actor->random, 8)) {
    case 0:
        CHECK(weft_blocking(spend_time, actor) == actor);
        break;
    case 1:
        CHECK_EQ(weft_try(panic_inside, actor, NULL, 0), -EOWNERDEAD);
        break;
    default:
        weft_blocking_begin();
        spend_time(actor);
        weft_blocking_end();
    }
}

static int count_fiber(const weft_fiber_info *info, void *arg) {
    (void)info;
    ++*(long *)arg;
    return 0;
}

static void stop_the_world(void) {
    long count = 0;
    CHECK_EQ(weft_world_stop(), 0);
    CHECK_EQ(weft_each_fiber(NULL, count_fiber, &count), 0);
    CHECK_GE(count, 1);
    weft_world_start();
}

static void have_a_child(struct actor *actor) {
    struct actor child = {.random = random_next(&actor->random) | 1, .depth = actor->depth + 1};
    weft_fiber fiber;
    void *result = NULL;
    if (child.depth > DEPTH_MAX)
        return;
    weft_spawn_options options = {.priority = (weft_priority)random_below(&actor->random, 3)};
    CHECK_EQ(weft_spawn_with(&fiber, &options, act, &child), 0);
    atomic_fetch_add(&children, 1);
    int status = -ETIMEDOUT;
    if (random_below(&actor->random, 2)) {
        weft_blocking_begin();
        status = weft_join(fiber, &result, soon(actor));
        weft_blocking_end();
    }
    if (status == -ETIMEDOUT)
        status = weft_join(fiber, &result, WEFT_NEVER);
    CHECK_EQ(status, 0);
    CHECK(result == &child);
}

static void step(struct actor *actor) {
    uint64_t choice = random_below(&actor->random, 100);
    if (choice < 40)
        talk(actor);
    else if (choice < 65)
        block(actor);
    else if (choice < 72)
        compute(actor);
    else if (choice < 80)
        weft_yield();
    else if (choice < 86)
        CHECK_EQ(weft_sleep(soon(actor)), 0);
    else if (choice < 94)
        have_a_child(actor);
    else if (choice < 96)
        stop_the_world();
    else
        CHECK_EQ(weft_set_priority((weft_priority)random_below(&actor->random, 3)), 0);
    atomic_fetch_add(&steps_done, 1);
}

static void *act(void *opaque) {
    struct actor *actor = opaque;
    uint64_t steps = actor->depth == 0 ? STEPS_MAX : random_below(&actor->random, 12);
    for (uint64_t i = 0; i < steps && weft_now() < end_at; i++) {
        bool is_pinned = random_below(&actor->random, 12) == 0;
        if (is_pinned)
            CHECK_EQ(weft_pin(), 0);
        step(actor);
        if (is_pinned)
            weft_unpin();
    }
    return opaque;
}

static void empty_channels(void) {
    for (int i = 0; i < CHANS; i++) {
        int64_t value;
        while (weft_chan_recv(chans[i], &value, WEFT_NOW) == 0)
            note_received(value);
    }
}

static void act_all(void) {
    static struct actor actors[ACTORS];
    weft_fiber fibers[ACTORS];
    end_at = weft_after(1200 * WEFT_MILLISECOND);
    for (int i = 0; i < ACTORS; i++) {
        actors[i] = (struct actor){.random = (wf_test_seed() + (uint64_t)i) * 0x9E3779B97F4A7C15u | 1};
        SPAWN(&fibers[i], act, &actors[i]);
    }
    for (int i = 0; i < ACTORS; i++)
        JOIN(fibers[i], NULL);
    empty_channels();
    CHECK_EQ(atomic_load(&sent_count), atomic_load(&received_count));
    CHECK_EQ(atomic_load(&sent_sum), atomic_load(&received_sum));
    CHECK_EQ(guarded, atomic_load(&guarded_times));
    wait_until_threads_are_gone();
    struct wf_engine *engine = &wf_worker_self()->fibers->engine;
    WAIT_UNTIL(wf_load_relaxed(&engine->alone) == 0);
    CHECK_EQ(wf_load_relaxed(&engine->monitor.extras), 0);
    CHECK_EQ(wf_load_relaxed(&engine->active), engine->count);
    weft_thread_stats stats = thread_stats();
    printf("    %ld steps, %ld messages, %ld children; %llu regions, %llu takeovers, %llu hogs, %llu threads\n",
           atomic_load(&steps_done), atomic_load(&sent_count), atomic_load(&children),
           (unsigned long long)stats.blocking, (unsigned long long)stats.takeovers, (unsigned long long)stats.hogs,
           (unsigned long long)stats.births);
}

static void run_all(unsigned workers, int64_t keep_alive) {
    for (int i = 0; i < CHANS; i++)
        CHECK_EQ(weft_chan_new(&chans[i], sizeof(int64_t), (size_t)(i * 2)), 0);
    mutex = (weft_mutex)WEFT_MUTEX_INIT;
    run_fibers_with(&(weft_options){.workers = workers, .keep_alive = keep_alive, .quiet = true}, act_all);
    for (int i = 0; i < CHANS; i++)
        weft_chan_free(chans[i]);
}

TEST(messages_are_conserved_while_fibers_block_compute_and_stop_the_world) {
    run_all(wf_test_workers(), 5 * WEFT_MILLISECOND);
    run_all(wf_test_workers(), WEFT_MICROSECOND);
}
