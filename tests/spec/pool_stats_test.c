/* SPDX-License-Identifier: MIT
 *
 * spec/pool_stats_test.c - what can be asked of a pool: levels and counts, lists of works, names.
 */
#include "spec/pool_told.h"

static uint64_t sum_of(const uint64_t *histogram) {
    uint64_t sum = 0;
    for (int i = 0; i < 64; i++)
        sum += histogram[i];
    return sum;
}

TEST(before_the_first_start_everything_is_0) {
    told_begin((weft_pool_options){.measure = true, .suspended = true});
    weft_pool_stats stats = pool_stats();
    CHECK(stats.is_idle);
    CHECK(stats.is_suspended);
    CHECK(!stats.is_stopping && !stats.is_paused && !stats.is_disposed);
    CHECK_GE(stats.threads, 1);
    CHECK_LE(stats.threads, wf_test_workers());
    CHECK_LE(stats.threads_idle, stats.threads);
    CHECK_EQ(stats.generation, 0);
    CHECK_EQ(stats.runtime_ns, 0);
    CHECK_EQ(stats.outstanding + stats.queued + stats.held + stats.running + stats.stored + stats.submitted, 0);
    CHECK_EQ(stats.succeeded + stats.failed + stats.cancelled + stats.stopped + stats.force_stopped + stats.timed_out,
             0);
    CHECK_EQ(stats.rejected + stats.discarded + stats.retried + stats.abandoned + stats.stolen, 0);
    CHECK_EQ(stats.queue_ns + stats.run_ns, 0);
    CHECK_EQ(sum_of(stats.queue_histogram) + sum_of(stats.run_histogram), 0);
    CHECK_EQ(weft_pool_submit(pool, NULL, end_at_once, NULL), 0);
    stats = pool_stats();
    CHECK_EQ(stats.held, 1);
    CHECK_EQ(stats.outstanding, 1);
    CHECK_EQ(stats.runtime_ns, 0);
    told_end();
}

TEST(levels_follow_the_works_and_come_back_to_0) {
    told_begin((weft_pool_options){0});
    occupy_threads();
    weft_work_id never = {.number = 1};
    weft_work held = submit_stored((weft_work_options){.after_ids = &never, .after_id_count = 1}, end_at_once, NULL);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(weft_pool_submit(pool, NULL, end_at_once, NULL), 0);
    weft_pool_stats stats = pool_stats();
    CHECK(!stats.is_idle);
    CHECK_EQ(stats.threads, wf_test_workers());
    CHECK_EQ(stats.threads_idle, 0);
    CHECK_EQ(stats.running, wf_test_workers());
    CHECK_EQ(stats.queued, 3);
    CHECK_EQ(stats.held, 1);
    CHECK_EQ(stats.outstanding, wf_test_workers() + 4);
    CHECK_EQ(stats.submitted, wf_test_workers() + 4);
    CHECK_EQ(weft_pool_list(pool, WEFT_WORK_PENDING, NULL, 0), wf_test_workers() + 4);
    CHECK_EQ(weft_pool_control_all(pool, WEFT_PAUSE), 0);
    CHECK_EQ(weft_pool_control(pool, WEFT_CANCEL, held), 0);
    stats = pool_stats();
    CHECK(stats.is_paused);
    CHECK_EQ(stats.held, 0);
    CHECK_EQ(stats.stored, 1);
    CHECK_EQ(weft_pool_control_all(pool, WEFT_RESUME), 0);
    atomic_store(&may_end, 1);
    wait_idle();
    stats = pool_stats();
    CHECK(stats.is_idle && !stats.is_paused);
    CHECK_EQ(stats.outstanding + stats.queued + stats.held + stats.running, 0);
    CHECK_EQ(stats.succeeded, wf_test_workers() + 3);
    CHECK_EQ(stats.cancelled, 1);
    CHECK_GE(stats.runtime_ns, 0);
    int64_t runtime = stats.runtime_ns;
    stats = pool_stats();
    CHECK_EQ(stats.runtime_ns, runtime); /* it stands still */
    CHECK_EQ(weft_pool_clear(pool), 1);
    CHECK_EQ(weft_pool_dispose(pool), 0);
    stats = pool_stats();
    CHECK(stats.is_disposed);
    CHECK_EQ(stats.stored, 0);
    told_end();
}

TEST(counts_of_a_pool_without_a_handler_are_exact_when_it_is_idle) {
    const long count = scaled(20000, 500);
    int bad = -EDOM;
    weft_pool_options options = {.threads = wf_test_workers()};
    CHECK_EQ(weft_pool_new(&pool, &options), 0);
    for (long i = 0; i < count; i++)
        CHECK_EQ(weft_pool_submit(pool, NULL, end_at_once, i % 10 ? NULL : &bad), 0);
    wait_idle();
    weft_pool_stats stats = pool_stats();
    CHECK_EQ(stats.submitted, count);
    CHECK_EQ(stats.succeeded, count - (count + 9) / 10);
    CHECK_EQ(stats.failed, (count + 9) / 10);
    CHECK_EQ(stats.outstanding, 0);
    CHECK_EQ(sum_of(stats.run_histogram), 0);
    told_end();
}

static int take_a_while(void *arg) {
    (void)arg;
    weft_sleep(weft_after(WEFT_MILLISECOND));
    return 0;
}

TEST(a_pool_that_measures_knows_how_long_works_waited_and_ran) {
    enum { COUNT = 20 };
    told_begin((weft_pool_options){.measure = true});
    weft_time before = weft_now();
    for (int i = 0; i < COUNT; i++)
        CHECK_EQ(weft_pool_submit(pool, NULL, take_a_while, NULL), 0);
    wait_idle();
    int64_t passed = weft_now() - before;
    weft_pool_stats stats = pool_stats();
    CHECK_EQ(sum_of(stats.queue_histogram), COUNT);
    CHECK_EQ(sum_of(stats.run_histogram), COUNT);
    CHECK_GE(stats.run_ns, COUNT * WEFT_MILLISECOND);
    CHECK_LE(stats.run_ns, COUNT * passed);
    CHECK_GE(stats.queue_ns, 0);
    CHECK_LE(stats.queue_ns, COUNT * passed);
    for (int i = 0; i < 19; i++) /* 2^19 is less than a millisecond */
        CHECK_EQ(stats.run_histogram[i], 0);
    CHECK_LE(stats.runtime_ns, passed);
    CHECK_GE(stats.runtime_ns, WEFT_MILLISECOND);
    told_end();
}

/* ---- Lists and names ---- */

static bool has_work(const weft_work *works, size_t count, weft_work work) {
    for (size_t i = 0; i < count; i++)
        if (works[i].bits == work.bits)
            return true;
    return false;
}

TEST(works_are_listed_by_what_became_of_them) {
    int bad = -EDOM;
    weft_work works[16];
    told_begin((weft_pool_options){0});
    CHECK_EQ(weft_pool_hold(pool), 0); /* one generation */
    weft_work good = submit_stored((weft_work_options){0}, end_at_once, NULL);
    weft_work failed_stored = submit_stored((weft_work_options){0}, end_at_once, &bad);
    weft_work failed;
    CHECK_EQ(weft_pool_submit(pool, &failed, end_at_once, &bad), 0);
    CHECK_EQ(weft_pool_submit(pool, NULL, end_at_once, NULL), 0); /* neither stored nor failed: forgotten */
    result_of(good);
    result_of(failed_stored);
    WAIT_UNTIL(weft_pool_list(pool, WEFT_WORK_PENDING, NULL, 0) == 0);
    WAIT_UNTIL(weft_pool_list(pool, WEFT_WORK_FAILED, NULL, 0) == 2);
    CHECK_EQ(weft_pool_list(pool, WEFT_WORK_SUCCEEDED, works, 16), 1);
    CHECK_EQ(works[0].bits, good.bits);
    CHECK_EQ(weft_pool_list(pool, WEFT_WORK_FAILED, works, 16), 2);
    CHECK(has_work(works, 2, failed));
    CHECK(has_work(works, 2, failed_stored));
    works[1] = WEFT_NO_WORK;
    CHECK_EQ(weft_pool_list(pool, WEFT_WORK_FAILED, works, 1), 2); /* how many there are, and one of them */
    CHECK_EQ(works[1].bits, 0);
    CHECK_EQ(weft_pool_list(pool, WEFT_WORK_CANCELLED, works, 16), 0);
    CHECK_EQ(weft_pool_release(pool), 0);
    wait_idle();
    told_end();
}

TEST(statuses_and_events_have_names) {
    for (int i = WEFT_WORK_PENDING; i <= WEFT_WORK_TIMED_OUT; i++)
        for (int k = WEFT_WORK_PENDING; k < i; k++)
            CHECK(strcmp(weft_work_status_name((weft_work_status)i), weft_work_status_name((weft_work_status)k)) != 0);
    for (int i = 0; i < WEFT_POOL_EVENT_KINDS; i++)
        for (int k = 0; k < i; k++)
            CHECK(strcmp(weft_pool_event_name((weft_pool_event_kind)i),
                         weft_pool_event_name((weft_pool_event_kind)k)) != 0);
    CHECK_TEXT(weft_work_status_name(WEFT_WORK_TIMED_OUT), "timed out");
    CHECK_TEXT(weft_work_status_name((weft_work_status)7), "unknown");
    CHECK_TEXT(weft_work_status_name((weft_work_status)-1), "unknown");
    CHECK_TEXT(weft_pool_event_name(WEFT_POOL_TICK), "tick");
    CHECK_TEXT(weft_pool_event_name(WEFT_POOL_EVENT_KINDS), "unknown");
    CHECK_TEXT(weft_pool_event_name((weft_pool_event_kind)-1), "unknown");
}

TEST(asking_for_nothing_is_an_error) {
    weft_pool_stats stats;
    told_begin((weft_pool_options){0});
    CHECK_EQ(weft_pool_get_stats(NULL, &stats), -EINVAL);
    CHECK_EQ(weft_pool_get_stats(pool, NULL), -EINVAL);
    CHECK_EQ(weft_pool_list(NULL, WEFT_WORK_PENDING, NULL, 0), 0);
    CHECK_EQ(weft_pool_list(pool, WEFT_WORK_PENDING, NULL, 10), 0);
    CHECK_EQ(weft_pool_list(pool, (weft_work_status)7, NULL, 10), 0);
    told_end();
}
