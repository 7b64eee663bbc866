/* SPDX-License-Identifier: MIT
 *
 * unit/loop/timer_test.c - timers of a loop from inside: slots and numbers that run out, clearing at the worst moment, what is
 * counted, and until when a loop sleeps.
 */
#include "os/fault.h"
#include "os/memory.h"
#include "unit/loop/staged.h"

#define MS WEFT_MILLISECOND

static void nothing(void *arg) {
    (void)arg;
}

/* ---- Ids ---- */

TEST(when_all_ids_are_used_no_timer_is_left_behind) {
    loop_open();
    struct wf_slab *slab = &loop->timers.slab;
    uint32_t chunks = slab->chunk_count;
    weft_loop_timer timer = {7};
    weft_immediate immediate = {7};
    slab->chunk_count = (1u << WF_SLAB_INDEX_BITS) / WF_SLAB_CHUNK; /* nothing is free, and no chunk can be added */
    CHECK_EQ(weft_set_timeout(loop, &timer, 0, nothing, NULL), -ENOSPC);
    CHECK_EQ(weft_set_interval(loop, &timer, 0, nothing, NULL), -ENOSPC);
    CHECK_EQ(weft_set_immediate(loop, &immediate, nothing, NULL), -ENOSPC);
    slab->chunk_count = chunks;
    CHECK_EQ(timer.bits, 7);
    CHECK_EQ(immediate.bits, 7);
    CHECK_EQ(loop->timers.count, 0);
    CHECK_EQ(loop->timers.kept, 0);
    CHECK(!weft_loop_is_alive(loop));
    finish("");
}

TEST(a_slot_whose_generations_are_used_up_is_never_used_again) {
    weft_loop_timer first, second;
    loop_open();
    CHECK_EQ(weft_set_timeout(loop, &first, 0, nothing, NULL), 0);
    struct wf_slot *slot = wf_slab_find(&loop->timers.slab, first.bits);
    CHECK(slot != NULL);
    slot->generation = WF_SLAB_GENERATION_MAX;
    first.bits = wf_slab_id(slot);
    CHECK(first.bits < UINT64_C(1) << 53);
    CHECK_EQ(weft_clear_timer(loop, first), 0);
    CHECK_EQ(weft_clear_timer(loop, first), -ESTALE);
    for (int i = 0; i < 3 * WF_SLAB_CHUNK; i++) {
        CHECK_EQ(weft_set_timeout(loop, &second, 0, nothing, NULL), 0);
        CHECK(wf_slab_find(&loop->timers.slab, second.bits) != slot);
    }
    CHECK_EQ(weft_clear_timer(loop, first), -ESTALE);
    finish("");
}

TEST(an_old_id_does_not_touch_the_timer_that_has_its_slot_now) {
    weft_loop_timer old, young;
    loop_open();
    CHECK_EQ(weft_set_interval(loop, &old, 5 * MS, nothing, NULL), 0);
    CHECK_EQ(weft_loop_timer_keep(loop, old, false), 0);
    CHECK_EQ(weft_clear_timer(loop, old), 0);
    CHECK_EQ(weft_set_timeout(loop, &young, 0, run_part, named("young")), 0);
    CHECK_EQ(young.bits & 0xffffff, old.bits & 0xffffff);
    struct wf_loop_timer *timer = wf_slab_find(&loop->timers.slab, young.bits);
    CHECK(!timer->repeats && !timer->is_cleared && !timer->is_immediate && timer->keeps);
    CHECK_EQ(weft_clear_timer(loop, old), -ESTALE);
    CHECK_EQ(weft_loop_timer_refresh(loop, old), -ESTALE);
    CHECK_EQ(weft_loop_timer_keep(loop, old, false), -ESTALE);
    CHECK_EQ(weft_loop_timer_keeps(loop, old), -ESTALE);
    CHECK_EQ(weft_loop_timer_keeps(loop, young), 1);
    finish("young");
}

TEST(the_order_of_equal_timers_survives_the_end_of_32_bits_and_turns_that_wrap) {
    weft_loop_options options = {.virtual_time = true};
    loop_open_with(&options);
    loop->timers.sequence = UINT32_MAX - 1;
    loop->turn = UINT64_MAX - 1;
    when("b", "timer:e immediate:i");
    play("timer1:a timer1:b timer1:c timer1:d");
    finish("a b c d i e");
}

static int by_bits(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

TEST(after_a_burst_memory_is_given_back_and_no_id_comes_again) {
    enum { BURST = 3000, BURSTS = 3 };
    static uint64_t ids[BURSTS * BURST];
    loop_open();
    size_t used = 0;
    long before = (long)wf_os_live_blocks();
    for (int burst = 0; burst < BURSTS; burst++) {
        for (int i = 0; i < BURST; i++) {
            weft_loop_timer timer;
            CHECK_EQ(weft_set_timeout(loop, &timer, 0, nothing, NULL), 0);
            ids[used++] = timer.bits;
            if (i % 2)
                CHECK_EQ(weft_clear_timer(loop, timer), 0);
        }
        CHECK_GE((long)wf_os_live_blocks(), before + BURST / 2 / WF_SLAB_CHUNK);
        CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT), 0);
        CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT), 0); /* what has fired is free when the next turn begins */
        CHECK_LE((long)wf_os_live_blocks(), before + 20);
    }
    qsort(ids, used, sizeof *ids, by_bits);
    for (size_t i = 1; i < used; i++)
        CHECK(ids[i - 1] != ids[i]);
    for (size_t i = 0; i < used; i++)
        CHECK_EQ(weft_clear_timer(loop, (weft_loop_timer){ids[i]}), -ESTALE);
    finish("");
}

/* ---- No memory ---- */

TEST(without_memory_a_timer_is_refused_and_nothing_has_changed) {
    weft_loop_timer timer = {7};
    weft_immediate immediate = {7};
    loop_open();
    for (int nth = 1; nth < 20; nth++) { /* heap, table of chunks, chunk: one after another */
        wf_fault_order_here(WF_CALL_ALLOC, nth, ENOMEM, 0);
        int status = weft_set_timeout(loop, &timer, 0, run_part, named("T"));
        long hits = wf_fault_hits();
        wf_fault_order_here(WF_CALL_ALLOC, 0, 0, 0);
        if (!hits) {
            CHECK_EQ(status, 0);
            CHECK(nth > 1);
            break;
        }
        CHECK_EQ(status, -ENOMEM);
        CHECK_EQ(timer.bits, 7);
        CHECK_EQ(loop->timers.count, 0);
        CHECK_EQ(loop->timers.kept, 0);
    }
    CHECK(timer.bits != 7);
    finish("T");
    loop_open();
    wf_fault_order_here(WF_CALL_ALLOC, 1, ENOMEM, 1);
    CHECK_EQ(weft_set_immediate(loop, &immediate, nothing, NULL), -ENOMEM);
    CHECK_EQ(weft_loop_submit(loop, nothing, NULL), -ENOMEM);
    CHECK_EQ(weft_loop_microtask(loop, nothing, NULL), -ENOMEM);
    weft_loop *none = NULL;
    CHECK_EQ(weft_loop_new(&none, NULL), -ENOMEM);
    wf_fault_order_here(WF_CALL_ALLOC, 0, 0, 0);
    CHECK(none == NULL);
    CHECK_EQ(immediate.bits, 7);
    CHECK(!weft_loop_is_alive(loop));
    finish("");
}

static void submit_without_memory(void) {
    wf_fault_order_here(WF_CALL_ALLOC, 1, ENOMEM, 1);
    while (answer_to("micro:m") == 0) /* until the jobs that are kept are used up */
        continue;
    CHECK_EQ(named("m")->status, -ENOMEM);
    CHECK_EQ(answer_to("timer:T"), -ENOMEM);
    wf_fault_order_here(WF_CALL_ALLOC, 0, 0, 0);
}

TEST(without_memory_a_callback_is_refused_as_well) {
    loop_open();
    when_do("c", submit_without_memory);
    play("submit:c submit:d");
    CHECK_EQ(loop_run(WEFT_LOOP_UNTIL_QUIET), 0);
    CHECK(strstr(trace, "d") != NULL);
    loop_drop();
}

/* ---- Clearing at the worst moment ---- */

static int clear_status;

static void clear_timer_now(void) {
    clear_status = weft_clear_timer(loop, named("T")->timer);
}

static void clear_timer_elsewhere(void) {
    elsewhere(clear_timer_now);
}

TEST_STAGED(a_timer_cleared_just_before_its_callback_says_whether_it_runs) {
    loop_open();
    play("timer:T timer:U");
    at("loop.before_timer", clear_timer_elsewhere);
    finish("T U");
    CHECK_EQ(clear_status, -ESTALE); /* it was too late, and that is what it says */
}

TEST_STAGED(an_interval_cleared_just_before_its_callback_ticks_at_most_this_once) {
    loop_open();
    play("interval:T timer1:U");
    at("loop.before_timer", clear_timer_elsewhere);
    finish("T U");
    CHECK_EQ(clear_status, 0);
}

static void let_another_clear(void) {
    clear_timer_elsewhere();
    CHECK_EQ(clear_status, 0);
    CHECK_EQ(loop->timers.kept, 0);
}

TEST_STAGED(an_interval_whose_callback_waits_for_whoever_clears_it_is_not_waited_for) {
    loop_open();
    when_do("T", let_another_clear);
    play("interval:T");
    finish("T");
}

static pthread_t setter;
static atomic_int setter_stands;
static atomic_int setter_may_go;

static void stand_before_return(void) {
    atomic_store(&setter_stands, 1);
    while (!atomic_load(&setter_may_go))
        sched_yield();
}

static void *set_timer_main(void *arg) {
    play(arg);
    return NULL;
}

static void id_is_known(void) {
    CHECK(named("T")->timer.bits != 0);
    clear_timer_now();
    atomic_store(&setter_may_go, 1);
}

static void setter_is_late(const char *order, int cleared) {
    atomic_store(&setter_stands, 0);
    atomic_store(&setter_may_go, 0);
    loop_open();
    when_do("T", id_is_known);
    at("loop.before_wake", stand_before_return);
    setter = thread_start(set_timer_main, (void *)(uintptr_t)order);
    WAIT_UNTIL(atomic_load(&setter_stands)); /* in weft_set_timeout, the timer is set and due */
    CHECK_EQ(loop_run(WEFT_LOOP_UNTIL_QUIET), 0);
    CHECK_TEXT(trace, "T");
    CHECK_EQ(clear_status, cleared);
    thread_join(setter);
    loop_drop();
}

TEST_STAGED(the_callback_knows_the_id_though_whoever_set_the_timer_has_not_returned) {
    setter_is_late("timer:T", -ESTALE);
    setter_is_late("interval:T", 0);
}

static void clear_and_set_again(void) {
    CHECK_EQ(answer_to("clear:T"), 0);
    play("timer:T2");
}

static void clear_and_set_again_elsewhere(void) {
    elsewhere(clear_and_set_again);
}

TEST_STAGED(a_timer_cleared_and_another_set_before_the_sleep_are_both_seen) {
    loop_open();
    play("timer60000:T");
    at("loop.before_sleep", clear_and_set_again_elsewhere);
    finish("T2");
    CHECK(was_there());
}

/* ---- Until when it sleeps ---- */

static int64_t slept_until(void) {
    wf_lock_take(&loop->lock);
    int64_t until = loop->sleep_until;
    wf_lock_drop(&loop->lock);
    return until;
}

static void sleeps_until_first(weft_loop_fast fast) {
    struct running running;
    weft_loop_options options = {.fast = fast};
    loop_open_with(&options);
    play("timer9000:b timer5000:a timer7000:c");
    running_start(&running, WEFT_LOOP_UNTIL_QUIET);
    wait_asleep();
    CHECK_EQ(slept_until(), weft_loop_backend_deadline(loop));
    weft_time now = weft_now();
    CHECK_LE(slept_until(), now + 5000 * MS);
    play("clear:a");
    CHECK_LE(slept_until(), now + 7000 * MS); /* earlier than need be is no harm */
    CHECK_EQ(weft_loop_close(loop, WEFT_NEVER), 0);
    CHECK_EQ(running_join(&running), 0);
    loop_drop();
}

TEST(a_loop_that_sleeps_with_timers_sleeps_until_the_first_of_them) {
    sleeps_until_first(WEFT_LOOP_FAST_AUTO);
    sleeps_until_first(WEFT_LOOP_FAST_FORCED);
    sleeps_until_first(WEFT_LOOP_FAST_DISABLED);
}

static atomic_int sleeps;

static void count_sleeps(const char *name) {
    if (strcmp(name, "loop.before_sleeping") == 0)
        atomic_fetch_add(&sleeps, 1);
}

static void few_sleeps(weft_loop_fast fast, int64_t delay) {
    weft_loop_options options = {.fast = fast};
    loop_open_with(&options);
    atomic_store(&sleeps, 0);
    weft_time before = weft_now();
    CHECK_EQ(weft_set_timeout(loop, NULL, delay, run_part, named("T")), 0);
    finish("T");
    CHECK_GE(weft_now(), before + delay);
    CHECK_LE(atomic_load(&sleeps), 2); /* it does not spin through the rest of a millisecond */
}

static void fractions(void) {
    static const int64_t delays[] = {100000, 999999, 1500000, 3000001};
    for (size_t i = 0; i < sizeof delays / sizeof *delays; i++)
        for (int fast = WEFT_LOOP_FAST_AUTO; fast <= WEFT_LOOP_FAST_DISABLED; fast++)
            few_sleeps((weft_loop_fast)fast, delays[i]);
}

TEST(fractions_of_a_millisecond_are_slept_neither_too_short_nor_in_a_spin) {
    wf_point_hook = count_sleeps;
    both_ways(fractions);
    wf_point_hook = NULL;
}

/* ---- What is left after panics ---- */

TEST_STAGED(after_panics_nothing_of_the_nesting_is_left) {
    weft_loop_options options = {.on_failure = note_failure};
    loop_open_with(&options);
    when("a", "call:b micro:m panic:oh");
    when("b", "micro:m panic:oh");
    when("m", "panic:oh");
    when("I", "panic:oh");
    when("T", "timer:U"); /* the interval ticks three times, once a turn, however fast the machine */
    when("U", "timer:V");
    when("V", "clear:I");
    play("interval:I timer:T submit:a immediate:a");
    CHECK_EQ(loop_run(WEFT_LOOP_UNTIL_QUIET), 0);
    CHECK(!loop->is_in_checkpoint);
    CHECK(loop->firing == NULL);
    CHECK(*wf_loop_frames() == NULL);
    CHECK(weft_loop_current() == NULL);
    CHECK_EQ(loop->timers.count, 0);
    CHECK_EQ(loop->timers.kept, 0);
    loop_drop();
}

/* ---- Counts against a model ---- */

enum { MODEL_TIMERS = 64 };

struct model_timer {
    weft_loop_timer id;
    bool is_there;
    bool keeps;
    bool repeats;
};

static struct model_timer model[MODEL_TIMERS];
static uint64_t model_seed;

static void model_fires(void *arg) {
    struct model_timer *timer = arg;
    CHECK(timer->is_there);
    if (!timer->repeats)
        timer->is_there = false;
}

static void model_check(void) {
    uint32_t count = 0, kept = 0;
    for (int i = 0; i < MODEL_TIMERS; i++) {
        count += model[i].is_there;
        kept += model[i].is_there && model[i].keeps;
        CHECK_EQ(weft_loop_timer_keeps(loop, model[i].id), model[i].is_there ? model[i].keeps : -ESTALE);
    }
    CHECK_EQ(loop->timers.count, count);
    CHECK_EQ(loop->timers.kept, kept);
    CHECK_EQ(weft_loop_is_alive(loop), kept > 0);
    CHECK(loop->timers.heap.count <= count);
}

static void model_step(struct model_timer *timer) {
    int64_t delay = (int64_t)random_below(&model_seed, 50);
    int expected = timer->is_there ? 0 : -ESTALE;
    switch (random_below(&model_seed, 6)) {
    case 0:
        CHECK_EQ(weft_clear_timer(loop, timer->id), expected);
        timer->is_there = false;
        break;
    case 1:
        timer->keeps = random_below(&model_seed, 2);
        CHECK_EQ(weft_loop_timer_keep(loop, timer->id, timer->keeps), expected);
        break;
    case 2:
        CHECK_EQ(weft_loop_timer_refresh(loop, timer->id), expected);
        break;
    case 3:
        CHECK_EQ(weft_loop_advance(loop, delay), 0);
        CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT) == 1, loop->timers.kept > 0);
        break;
    default:
        if (timer->is_there)
            break;
        timer->is_there = timer->keeps = true;
        timer->repeats = random_below(&model_seed, 4) == 0;
        CHECK_EQ(timer->repeats ? weft_set_interval(loop, &timer->id, delay, model_fires, timer)
                                : weft_set_timeout(loop, &timer->id, delay, model_fires, timer),
                 0);
    }
}

TEST(what_is_counted_agrees_with_a_model_under_random_calls) {
    model_seed = wf_test_seed() | 1;
    memset(model, 0, sizeof model);
    loop_open_virtual();
    for (long i = scaled(20000, 1000); i > 0; i--) {
        model_step(&model[random_below(&model_seed, MODEL_TIMERS)]);
        if (i % 8 == 0)
            model_check();
    }
    CHECK_EQ(weft_loop_close(loop, WEFT_NEVER), 0);
    CHECK_EQ(loop->timers.count, 0);
    CHECK_EQ(loop->timers.kept, 0);
    loop_drop();
}
