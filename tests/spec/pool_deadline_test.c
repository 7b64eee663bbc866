/* SPDX-License-Identifier: MIT
 *
 * spec/pool_deadline_test.c - works that have to be over by a moment, and works that do not come back.
 *
 * Moments are checked for being early, never for being late.
 */
#include "spec/pool_told.h"
#include "support/door.h"

/* ---- Deadlines ---- */

TEST(a_work_that_is_queued_at_its_deadline_never_begins) {
    told_begin((weft_pool_options){0});
    occupy_threads();
    int before = atomic_load(&runs);
    weft_time deadline = weft_after(5 * WEFT_MILLISECOND);
    weft_work late = submit_stored((weft_work_options){.deadline = deadline}, end_at_once, NULL);
    weft_work past = submit_stored((weft_work_options){.deadline = weft_now() - 1}, end_at_once, NULL);
    weft_result result = result_of(late);
    CHECK_EQ(result.status, WEFT_WORK_TIMED_OUT);
    CHECK_EQ(result.error, -ETIMEDOUT);
    CHECK_EQ(result.attempts, 0);
    CHECK_GE(weft_now(), deadline);
    CHECK_EQ(result_of(past).status, WEFT_WORK_TIMED_OUT);
    CHECK_EQ(atomic_load(&runs), before);
    atomic_store(&may_end, 1);
    wait_idle();
    CHECK_EQ(atomic_load(&runs), before);
    CHECK_EQ(count_told(WEFT_POOL_WORK_TIMED_OUT), 2);
    CHECK_EQ(count_told(WEFT_POOL_WORK_CANCELLED), 2);
    told_end();
}

TEST(a_work_that_is_held_at_its_deadline_never_begins_and_those_after_it_fail) {
    told_begin((weft_pool_options){0});
    CHECK_EQ(weft_pool_hold(pool), 0); /* one generation, however slow we are */
    weft_work_id never = {.text = "never submitted"};
    weft_work_options held = {.deadline = weft_after(2 * WEFT_MILLISECOND), .after_ids = &never, .after_id_count = 1};
    weft_work late = submit_stored(held, end_at_once, NULL);
    weft_work after = submit_stored((weft_work_options){.after = &late, .after_count = 1}, end_at_once, NULL);
    CHECK_EQ(result_of(late).status, WEFT_WORK_TIMED_OUT);
    weft_result result = result_of(after);
    CHECK_EQ(result.status, WEFT_WORK_FAILED);
    CHECK_EQ(result.cause.bits, late.bits);
    CHECK_EQ(weft_pool_release(pool), 0);
    wait_idle();
    CHECK_EQ(atomic_load(&runs), 0);
    told_end();
}

TEST(a_work_that_runs_at_its_deadline_is_stopped) {
    const weft_timeout_action actions[] = {WEFT_TIMEOUT_STOP, WEFT_TIMEOUT_TELL, WEFT_TIMEOUT_FORCE};
    for (int i = 0; i < 3; i++) { /* telling only is for timeouts */
        told_begin((weft_pool_options){0});
        weft_time deadline = weft_after(5 * WEFT_MILLISECOND);
        weft_work_options options = {.deadline = deadline, .timeout = 1000 * WEFT_SECOND, .timeout_action = actions[i]};
        bool by_force = actions[i] == WEFT_TIMEOUT_FORCE;
        weft_work work = submit_stored(options, by_force ? wait_for_ever : until_stopped, NULL);
        weft_result result = result_of(work);
        CHECK_EQ(result.status, WEFT_WORK_TIMED_OUT);
        CHECK_EQ(result.error, -ETIMEDOUT);
        CHECK_GE(weft_now(), deadline);
        wait_idle();
        CHECK_EQ(count_told(WEFT_POOL_WORK_TIMED_OUT), 1);
        told_end();
    }
}

TEST(a_deadline_in_a_suspended_pool_passes_too) {
    told_begin((weft_pool_options){.suspended = true});
    weft_time deadline = weft_after(2 * WEFT_MILLISECOND);
    weft_work work = submit_stored((weft_work_options){.deadline = deadline}, end_at_once, NULL);
    weft_sleep(deadline);
    CHECK_EQ(weft_pool_start(pool), 0);
    weft_result result = result_of(work);
    CHECK(result.status == WEFT_WORK_TIMED_OUT || result.status == WEFT_WORK_SUCCEEDED);
    wait_idle();
    told_end();
}

/* ---- Force and grace ---- */

static atomic_int interrupted;

static int block_in_the_system(void *arg) {
    char byte;
    (void)arg;
    atomic_fetch_add(&runs, 1);
    ssize_t got = read(door[0], &byte, 1);
    int error = errno;
    CHECK_EQ(got, -1);
    CHECK_EQ(error, EINTR);
    atomic_fetch_add(&interrupted, 1);
    return -ECANCELED;
}

TEST(a_blocking_system_call_is_cut_by_force) {
    const weft_work_options kinds[] = {{.priority = 0}, {.on_thread_stack = true}, {.long_running = true}};
    for (int i = 0; i < 3; i++) {
        atomic_store(&interrupted, 0);
        door_shut();
        told_begin((weft_pool_options){.grace = PATIENCE_NS});
        weft_work work = submit_stored(kinds[i], block_in_the_system, NULL);
        WAIT_UNTIL(atomic_load(&runs) == 1);
        CHECK_EQ(weft_pool_control(pool, WEFT_FORCE_STOP, work), 0);
        weft_result result = result_of(work);
        CHECK_EQ(result.status, WEFT_WORK_FORCE_STOPPED);
        CHECK_EQ(atomic_load(&interrupted), 1);
        told_end();
        door_lift();
        door_drop();
    }
}

static int block_and_pay_no_heed(void *arg) {
    (void)arg;
    atomic_fetch_add(&runs, 1);
    door_wait();
    atomic_fetch_add(&interrupted, 1);
    return 0;
}

TEST(a_work_that_does_not_come_back_in_the_grace_period_is_given_up) {
    const int64_t grace = 5 * WEFT_MILLISECOND;
    for (int by_timeout = 0; by_timeout < 2; by_timeout++) {
        atomic_store(&interrupted, 0);
        door_shut();
        told_begin((weft_pool_options){.grace = grace});
        weft_work_options options = {.timeout = by_timeout, .timeout_action = WEFT_TIMEOUT_FORCE};
        weft_work work = submit_stored(options, block_and_pay_no_heed, NULL);
        WAIT_UNTIL(atomic_load(&runs) == 1);
        weft_time stopped = weft_now();
        if (!by_timeout)
            CHECK_EQ(weft_pool_control(pool, WEFT_FORCE_STOP, work), 0);
        weft_result result = result_of(work);
        CHECK_EQ(result.status, by_timeout ? WEFT_WORK_TIMED_OUT : WEFT_WORK_FORCE_STOPPED);
        if (!by_timeout)
            CHECK_GE(weft_now(), stopped + grace);
        CHECK_EQ(atomic_load(&interrupted), 0);
        wait_idle();                                     /* over, as far as the pool is concerned */
        for (unsigned i = 0; i < wf_test_workers(); i++) /* and its thread was replaced */
            CHECK_EQ(weft_pool_submit(pool, NULL, end_at_once, NULL), 0);
        wait_idle();
        CHECK_EQ(atomic_load(&runs), 1 + (int)wf_test_workers());
        weft_pool_stats stats;
        stats = pool_stats();
        CHECK_EQ(stats.abandoned, 1);
        CHECK_EQ(stats.running, 0);
        CHECK_EQ(weft_pool_dispose(pool), -EBUSY);
        door_lift();
        told_end(); /* waits for it */
        CHECK_EQ(atomic_load(&interrupted), 1);
        door_drop();
    }
}
