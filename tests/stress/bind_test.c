/* SPDX-License-Identifier: MIT
 *
 * stress/bind_test.c - light and bound fibers on a few channels, with bindings, foreign calls, pins and cancellations at random.
 *
 * Every party binds and unbinds itself, makes foreign calls that wait inside, pins itself, blocks, and sends and receives with
 * short deadlines, inside scopes that are cancelled at random. Few may be bound at once and threads do not live long, so
 * every fallback and every hand-over is met. In the end all values that were sent were received or are still inside, a fiber
 * that was bound was on one thread meanwhile, and nobody is bound any more.
 */
#include "os/thread.h"
#include "support/parked.h"

enum { CHANNELS = 5, PARTIES = 16, STEPS = 12 };

struct party {
    uint64_t seed;
    weft_scope *scope; /* the innermost, or null */
    uint32_t binds;
    uint32_t pins;
    int64_t thread; /* while bound */
};

static weft_chan *channels[CHANNELS];
static atomic_long sent, received, sent_sum, received_sum;
static atomic_long foreign_calls;

static bool may_go_on(int status) {
    CHECK(status == 0 || status == -ETIMEDOUT || status == -ECANCELED);
    return status == 0;
}

static weft_time shortly(struct party *party) {
    return random_below(&party->seed, 4) ? weft_after((int64_t)random_below(&party->seed, 40000)) : WEFT_NOW;
}

static void send_one(struct party *party) {
    long value = (long)random_below(&party->seed, 1000000);
    weft_chan *chan = channels[random_below(&party->seed, CHANNELS)];
    int status = weft_chan_send(chan, &value, shortly(party));
    if (status != -EAGAIN && may_go_on(status)) {
        atomic_fetch_add(&sent, 1);
        atomic_fetch_add(&sent_sum, value);
    }
}

static void count_received(long value) {
    atomic_fetch_add(&received, 1);
    atomic_fetch_add(&received_sum, value);
}

static void receive_one(struct party *party) {
    long value = 0;
    weft_chan *chan = channels[random_below(&party->seed, CHANNELS)];
    int status = weft_chan_recv(chan, &value, shortly(party));
    if (status != -EAGAIN && may_go_on(status))
        count_received(value);
}

static void select_one(struct party *party) {
    long in = 0, out = (long)random_below(&party->seed, 1000000);
    weft_case cases[] = {weft_on_receive(channels[random_below(&party->seed, CHANNELS)], &in),
                         weft_on_send(channels[random_below(&party->seed, CHANNELS)], &out)};
    int chosen = weft_select(cases, 2, shortly(party));
    if (chosen == 0 && cases[0].status == 0) {
        count_received(in);
    } else if (chosen == 1 && cases[1].status == 0) {
        atomic_fetch_add(&sent, 1);
        atomic_fetch_add(&sent_sum, out);
    } else {
        CHECK(chosen == -EAGAIN || chosen == -ETIMEDOUT || chosen == -ECANCELED);
    }
}

static void exchange_one(struct party *party) {
    switch (random_below(&party->seed, 3)) {
    case 0:
        send_one(party);
        break;
    case 1:
        receive_one(party);
        break;
    default:
        select_one(party);
    }
}

/* Foreign code that calls back. */
static void exchange_inside(void *opaque) {
    struct party *party = opaque;
    int64_t thread = wf_os_thread_id();
    atomic_fetch_add(&foreign_calls, 1);
    exchange_one(party);
    if (random_below(&party->seed, 4) == 0)
        CHECK_EQ(weft_ffi_call(exchange_inside, opaque), 0);
    if (random_below(&party->seed, 16) == 0)
        weft_panic("out of it");
    CHECK_EQ(wf_os_thread_id(), thread);
}

static void call_foreign(void *opaque) {
    int status = weft_ffi_call(exchange_inside, opaque);
    CHECK(status == 0 || status == -EAGAIN || status == -ECANCELED);
}

static void bind_more(struct party *party) {
    int status = weft_bind(random_below(&party->seed, 8) ? NULL : &(weft_bind_options){0});
    CHECK(status == 0 || status == -EAGAIN || status == -EBUSY);
    if (status == 0)
        party->binds++;
}

static void unbind_once(struct party *party) {
    bool was_bound = weft_is_bound();
    int status = weft_unbind();
    CHECK_EQ(status == -EPERM, !was_bound);
    CHECK(status == 0 || status == -EPERM || (status == -EBUSY && party->pins > 0));
    if (status == 0 && party->binds > 0)
        party->binds--;
}

static void pin_or_unpin(struct party *party) {
    if (party->pins > 0) {
        weft_unpin();
        party->pins--;
    } else if (weft_pin() == 0) {
        party->pins++;
    }
}

static void block_for_a_while(struct party *party) {
    weft_blocking_begin();
    exchange_one(party);
    sched_yield();
    weft_blocking_end();
}

static void check_thread(struct party *party) {
    bool is_bound = weft_is_bound();
    if (is_bound && party->thread)
        CHECK_EQ(wf_os_thread_id(), party->thread);
    party->thread = is_bound ? wf_os_thread_id() : 0;
    if (party->binds > 0)
        CHECK(is_bound);
}

static void take_a_step(struct party *party) {
    check_thread(party);
    switch (random_below(&party->seed, 12)) {
    case 0:
        bind_more(party);
        break;
    case 1:
    case 2:
        unbind_once(party);
        party->thread = 0; /* it may have been bound anew by the next call */
        break;
    case 3:
    case 4:
        weft_try(call_foreign, party, NULL, 0);
        break;
    case 5:
        pin_or_unpin(party);
        break;
    case 6:
        block_for_a_while(party);
        break;
    case 7:
        weft_yield();
        break;
    case 8:
        if (party->scope && random_below(&party->seed, 4) == 0)
            weft_scope_cancel(party->scope, -EINTR, "at random");
        break;
    default:
        exchange_one(party);
    }
    check_thread(party);
}

static int take_steps(weft_scope *scope, void *opaque) {
    struct party *party = opaque;
    party->scope = scope;
    for (int i = 0; i < STEPS; i++)
        take_a_step(party);
    party->scope = NULL;
    return 0;
}

static void *take_part(void *opaque) {
    struct party *party = opaque;
    for (long round = scaled(300, 20); round > 0; round--) {
        weft_scope_options options = {0};
        if (random_below(&party->seed, 2))
            options.deadline = weft_after((int64_t)random_below(&party->seed, 300000));
        weft_scope_run(&options, take_steps, party);
        while (party->pins > 0)
            pin_or_unpin(party);
    }
    return random_below(&party->seed, 2) && weft_unbind() == 0 ? opaque : NULL; /* or its end unbinds it */
}

static uint64_t seed;

static void take_part_all(void) {
    static struct party parties[PARTIES];
    weft_fiber fibers[PARTIES];
    weft_thread_stats stats;
    for (int i = 0; i < PARTIES; i++) {
        parties[i] = (struct party){.seed = seed + (uint64_t)i * 977 + 1};
        weft_spawn_options options = {.bound = i % 4 == 0};
        int status = weft_spawn_with(&fibers[i], &options, take_part, &parties[i]);
        if (status == -EAGAIN && options.bound)
            status = weft_spawn(&fibers[i], take_part, &parties[i]);
        CHECK_EQ(status, 0);
    }
    for (int i = 0; i < PARTIES; i++)
        JOIN(fibers[i], NULL);
    CHECK_EQ(weft_get_thread_stats(NULL, &stats), 0);
    CHECK_EQ(stats.bound, 0);
    CHECK_LE(stats.bound_peak, 5);
    CHECK_GE(stats.bindings, 1);
}

static void conserve(weft_fallback fallback) {
    weft_options options = {
        .max_bound = 5, .keep_alive = 300 * WEFT_MICROSECOND, .bound_fallback = fallback, .quiet = true};
    long value, left = 0, left_sum = 0;
    atomic_store(&sent, 0);
    atomic_store(&received, 0);
    atomic_store(&sent_sum, 0);
    atomic_store(&received_sum, 0);
    seed = wf_test_seed();
    for (int i = 0; i < CHANNELS; i++)
        CHECK_EQ(weft_chan_new(&channels[i], sizeof(long), i), 0);
    run_fibers_with(&options, take_part_all);
    for (int i = 0; i < CHANNELS; i++) {
        while (weft_chan_recv(channels[i], &value, WEFT_NOW) == 0) {
            left++;
            left_sum += value;
        }
        weft_chan_free(channels[i]);
    }
    CHECK_EQ(atomic_load(&sent), atomic_load(&received) + left);
    CHECK_EQ(atomic_load(&sent_sum), atomic_load(&received_sum) + left_sum);
    CHECK_GE(atomic_load(&foreign_calls), 1);
}

TEST(nothing_is_lost_when_calls_without_room_block) {
    conserve(WEFT_FALLBACK_BLOCKING);
}

TEST(nothing_is_lost_when_calls_without_room_wait) {
    conserve(WEFT_FALLBACK_WAIT);
}

TEST(nothing_is_lost_when_calls_without_room_fail) {
    conserve(WEFT_FALLBACK_ERROR);
}
