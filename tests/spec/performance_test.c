/* SPDX-License-Identifier: MIT
 *
 * spec/performance_test.c - the clock, marks, measures, and questions about them.
 *
 * On the virtual clock of a loop where times have to be exact.
 */
#include "weft/performance.h"

#include <time.h>

#include "support/run.h"

struct bench {
    weft_loop *loop;
    weft_performance *timing;
};

static struct bench make(uint32_t max_entries) {
    struct bench bench;
    weft_loop_options virtual_time = {.virtual_time = true, .stays = true};
    CHECK_EQ(weft_loop_new(&bench.loop, &virtual_time), 0);
    weft_performance_options options = {.loop = bench.loop, .max_entries = max_entries};
    CHECK_EQ(weft_performance_new(&bench.timing, &options), 0);
    return bench;
}

static void finish(struct bench *bench) {
    weft_performance_free(bench->timing);
    weft_loop_unref(bench->loop);
}

static void advance(struct bench *bench, int64_t distance) {
    CHECK_EQ(weft_loop_advance(bench->loop, distance), 0);
}

static void mark_at(struct bench *bench, const char *name, int64_t start) {
    weft_performance_mark_options options = {.has_start = true, .start = start};
    CHECK_EQ(weft_performance_mark(bench->timing, name, &options, NULL), 0);
}

static int measure(struct bench *bench, weft_performance_span span, weft_performance_entry *out) {
    return weft_performance_measure(bench->timing, "measure", &span, out);
}

static void check_span(struct bench *bench, weft_performance_span span, int64_t start, int64_t duration) {
    weft_performance_entry entry;
    CHECK_EQ(measure(bench, span, &entry), 0);
    CHECK_EQ(entry.start, start);
    CHECK_EQ(entry.duration, duration);
    CHECK_EQ(entry.kind, WEFT_PERFORMANCE_MEASURE);
    CHECK(entry.name == NULL);
}

TEST(the_clock_begins_at_zero_and_never_goes_back) {
    weft_performance *timing;
    struct timespec wall;
    CHECK_EQ(weft_performance_new(&timing, NULL), 0);
    CHECK_EQ(timespec_get(&wall, TIME_UTC), TIME_UTC);
    int64_t origin = weft_performance_time_origin(timing);
    int64_t wall_ns = (int64_t)wall.tv_sec * WEFT_SECOND + wall.tv_nsec;
    CHECK_LE(origin, wall_ns + WEFT_SECOND);
    CHECK_GE(origin, wall_ns - PATIENCE_NS);
    int64_t last = weft_performance_now(timing);
    CHECK_GE(last, 0);
    int finer = 0;
    for (int i = 0; i < 10000; i++) {
        int64_t now = weft_performance_now(timing);
        CHECK_GE(now, last);
        finer += now > last && now - last < WEFT_MILLISECOND;
        last = now;
    }
    CHECK_GE(finer, 1); /* finer than a millisecond */
    CHECK_EQ(weft_performance_time_origin(timing), origin);
    weft_performance_free(timing);
}

TEST(a_mark_is_now_or_where_it_is_told) {
    struct bench bench = make(0);
    weft_performance_mark_options options = {.has_start = true, .start = 7, .detail = &bench};
    weft_performance_entry *list;
    int64_t start;
    advance(&bench, 100);
    CHECK_EQ(weft_performance_now(bench.timing), 100);
    CHECK_EQ(weft_performance_mark(bench.timing, "now", NULL, &start), 0);
    CHECK_EQ(start, 100);
    CHECK_EQ(weft_performance_mark(bench.timing, "then", &options, &start), 0);
    CHECK_EQ(start, 7);
    CHECK_EQ(weft_performance_get_entries(bench.timing, WEFT_PERFORMANCE_ALL, NULL, &list), 2);
    CHECK_TEXT(list[0].name, "then");
    CHECK_EQ(list[0].start, 7);
    CHECK_EQ(list[0].duration, 0);
    CHECK_EQ(list[0].kind, WEFT_PERFORMANCE_MARK);
    CHECK(list[0].detail == &bench);
    CHECK_TEXT(list[1].name, "now");
    CHECK(list[1].detail == NULL);
    weft_performance_free_entries(list);
    finish(&bench);
}

TEST(a_measure_is_between_marks_times_and_the_ends_of_time) {
    struct bench bench = make(0);
    advance(&bench, 1000);
    mark_at(&bench, "a", 10);
    mark_at(&bench, "b", 500);
    mark_at(&bench, "a", 30); /* the newest counts */
    weft_performance_entry entry;
    CHECK_EQ(weft_performance_measure(bench.timing, "whole", NULL, &entry), 0);
    CHECK_EQ(entry.start, 0);
    CHECK_EQ(entry.duration, 1000);
    check_span(&bench, (weft_performance_span){0}, 0, 1000);
    check_span(&bench, (weft_performance_span){.start_mark = "a"}, 30, 970);
    check_span(&bench, (weft_performance_span){.end_mark = "b"}, 0, 500);
    check_span(&bench, (weft_performance_span){.start_mark = "a", .end_mark = "b"}, 30, 470);
    check_span(&bench, (weft_performance_span){.start_mark = "b", .end_mark = "a"}, 500, -470);
    check_span(&bench, (weft_performance_span){.given = WEFT_PERFORMANCE_START, .start = 900}, 900, 100);
    check_span(&bench, (weft_performance_span){.given = WEFT_PERFORMANCE_END, .end = 5}, 0, 5);
    unsigned both = WEFT_PERFORMANCE_START | WEFT_PERFORMANCE_END;
    check_span(&bench, (weft_performance_span){.given = both, .start = 3, .end = 9}, 3, 6);
    unsigned from = WEFT_PERFORMANCE_START | WEFT_PERFORMANCE_DURATION;
    check_span(&bench, (weft_performance_span){.given = from, .start = 3, .duration = 4}, 3, 4);
    unsigned until = WEFT_PERFORMANCE_END | WEFT_PERFORMANCE_DURATION;
    check_span(&bench, (weft_performance_span){.given = until, .end = 9, .duration = 4}, 5, 4);
    check_span(&bench, (weft_performance_span){.given = until, .end = 9, .duration = 10}, -1, 10);
    unsigned duration = WEFT_PERFORMANCE_DURATION;
    check_span(&bench, (weft_performance_span){.start_mark = "a", .given = duration, .duration = 1}, 30, 1);
    check_span(&bench, (weft_performance_span){.end_mark = "a", .given = duration, .duration = 1}, 29, 1);
    finish(&bench);
}

TEST(a_measure_that_says_too_much_or_too_little_is_refused) {
    struct bench bench = make(0);
    unsigned all = WEFT_PERFORMANCE_START | WEFT_PERFORMANCE_END | WEFT_PERFORMANCE_DURATION;
    mark_at(&bench, "a", 1);
    const weft_performance_span bad[] = {
        {.given = all},
        {.given = 8},
        {.start_mark = "a", .given = WEFT_PERFORMANCE_START},
        {.end_mark = "a", .given = WEFT_PERFORMANCE_END},
        {.start_mark = "a", .end_mark = "a", .given = WEFT_PERFORMANCE_DURATION},
        {.given = WEFT_PERFORMANCE_DURATION, .duration = 1},
        {.detail = &bench},
        {.given = WEFT_PERFORMANCE_START, .start = -1},
        {.given = WEFT_PERFORMANCE_END, .end = -1},
        {.start_mark = "a", .given = WEFT_PERFORMANCE_DURATION, .duration = -1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_EQ(measure(&bench, bad[i], NULL), -EINVAL);
    CHECK_EQ(measure(&bench, (weft_performance_span){.start_mark = "b"}, NULL), -ENOENT);
    CHECK_EQ(measure(&bench, (weft_performance_span){.end_mark = "b"}, NULL), -ENOENT);
    CHECK_EQ(measure(&bench, (weft_performance_span){.end_mark = "measure"}, NULL), -ENOENT); /* marks only */
    unsigned from = WEFT_PERFORMANCE_START | WEFT_PERFORMANCE_DURATION;
    CHECK_EQ(measure(&bench, (weft_performance_span){.given = from, .start = 1, .duration = INT64_MAX}, NULL), -ERANGE);
    weft_performance_entry *list;
    CHECK_EQ(weft_performance_get_entries(bench.timing, WEFT_PERFORMANCE_MEASURE, NULL, &list), 0);
    CHECK(list == NULL);
    finish(&bench);
}

TEST(entries_come_by_their_start_equal_ones_as_they_were_made) {
    struct bench bench = make(0);
    weft_performance_entry *list;
    const char *names[] = {"c", "a", "b", "a", "d"};
    const int64_t starts[] = {5, 5, 1, 5, 0};
    for (int i = 0; i < 5; i++)
        mark_at(&bench, names[i], starts[i]);
    check_span(&bench, (weft_performance_span){.start_mark = "b"}, 1, -1);
    CHECK_EQ(weft_performance_get_entries(bench.timing, WEFT_PERFORMANCE_ALL, NULL, &list), 6);
    const char *expected[] = {"d", "b", "measure", "c", "a", "a"};
    for (int i = 0; i < 6; i++)
        CHECK_TEXT(list[i].name, expected[i]);
    weft_performance_free_entries(list);
    CHECK_EQ(weft_performance_get_entries(bench.timing, WEFT_PERFORMANCE_MARK, "a", &list), 2);
    weft_performance_free_entries(list);
    CHECK_EQ(weft_performance_get_entries(bench.timing, WEFT_PERFORMANCE_MEASURE, "a", &list), 0);
    CHECK_EQ(weft_performance_get_entries(bench.timing, WEFT_PERFORMANCE_ALL, "measure", &list), 1);
    CHECK_EQ(list[0].kind, WEFT_PERFORMANCE_MEASURE);
    weft_performance_free_entries(list);
    finish(&bench);
}

TEST(clearing_forgets_by_kind_and_name_and_a_copy_stays) {
    struct bench bench = make(0);
    weft_performance_entry *copy, *list;
    mark_at(&bench, "a", 1);
    mark_at(&bench, "b", 2);
    mark_at(&bench, "a", 3);
    check_span(&bench, (weft_performance_span){.start_mark = "a", .end_mark = "b"}, 3, -1);
    CHECK_EQ(weft_performance_get_entries(bench.timing, WEFT_PERFORMANCE_ALL, NULL, &copy), 4);
    CHECK_EQ(weft_performance_clear(bench.timing, WEFT_PERFORMANCE_MEASURE, "a"), 0);
    CHECK_EQ(weft_performance_clear(bench.timing, WEFT_PERFORMANCE_MARK, "a"), 2);
    CHECK_EQ(measure(&bench, (weft_performance_span){.start_mark = "a"}, NULL), -ENOENT);
    CHECK_EQ(weft_performance_clear(bench.timing, WEFT_PERFORMANCE_MEASURE, NULL), 1);
    CHECK_EQ(weft_performance_get_entries(bench.timing, WEFT_PERFORMANCE_ALL, NULL, &list), 1);
    CHECK_TEXT(list[0].name, "b");
    weft_performance_free_entries(list);
    CHECK_EQ(weft_performance_clear(bench.timing, WEFT_PERFORMANCE_ALL, NULL), 1);
    CHECK_EQ(weft_performance_clear(bench.timing, WEFT_PERFORMANCE_ALL, NULL), 0);
    CHECK_TEXT(copy[0].name, "a");
    CHECK_TEXT(copy[3].name, "measure");
    weft_performance_free_entries(copy);
    finish(&bench);
}

TEST(a_full_list_refuses_until_something_is_cleared) {
    struct bench bench = make(2);
    mark_at(&bench, "a", 1);
    check_span(&bench, (weft_performance_span){0}, 0, 0);
    CHECK_EQ(weft_performance_mark(bench.timing, "b", NULL, NULL), -ENOSPC);
    CHECK_EQ(weft_performance_measure(bench.timing, "b", NULL, NULL), -ENOSPC);
    CHECK_EQ(weft_performance_clear(bench.timing, WEFT_PERFORMANCE_MARK, NULL), 1);
    CHECK_EQ(weft_performance_mark(bench.timing, "b", NULL, NULL), 0);
    finish(&bench);
}

static void count_drop(void *detail, void *arg) {
    CHECK(detail == arg);
    ++*(int *)arg;
}

TEST(details_are_dropped_once_and_stay_with_the_caller_after_an_error) {
    int drops = 0;
    weft_performance *timing;
    weft_performance_options options = {.drop = count_drop, .arg = &drops, .max_entries = 3};
    weft_performance_mark_options with_detail = {.detail = &drops};
    weft_performance_span span = {.start_mark = "a", .detail = &drops};
    CHECK_EQ(weft_performance_new(&timing, &options), 0);
    CHECK_EQ(weft_performance_mark(timing, "a", &with_detail, NULL), 0);
    CHECK_EQ(weft_performance_mark(timing, "b", NULL, NULL), 0);
    CHECK_EQ(weft_performance_measure(timing, "m", &span, NULL), 0);
    CHECK_EQ(weft_performance_mark(timing, "c", &with_detail, NULL), -ENOSPC);
    CHECK_EQ(drops, 0);
    CHECK_EQ(weft_performance_clear(timing, WEFT_PERFORMANCE_MARK, NULL), 2);
    CHECK_EQ(drops, 1);
    weft_performance_free(timing);
    CHECK_EQ(drops, 2);
}

static void *mark_main(void *opaque) {
    weft_performance *timing = opaque;
    for (int i = 0; i < 300; i++) {
        weft_performance_entry *list;
        CHECK_EQ(weft_performance_mark(timing, "t", NULL, NULL), 0);
        weft_performance_span span = {.start_mark = "t"};
        CHECK_EQ(weft_performance_measure(timing, "m", &span, NULL), 0);
        if (i % 50 == 0) {
            int count = weft_performance_get_entries(timing, WEFT_PERFORMANCE_ALL, NULL, &list);
            CHECK_GE(count, 2);
            for (int k = 1; k < count; k++)
                CHECK_LE(list[k - 1].start, list[k].start);
            weft_performance_free_entries(list);
            CHECK_GE(weft_performance_clear(timing, WEFT_PERFORMANCE_MEASURE, "m"), 0);
        }
    }
    return NULL;
}

TEST(threads_mark_measure_and_ask_at_the_same_time) {
    weft_performance *timing;
    pthread_t threads[4];
    CHECK_EQ(weft_performance_new(&timing, NULL), 0);
    for (int i = 0; i < 4; i++)
        threads[i] = thread_start(mark_main, timing);
    for (int i = 0; i < 4; i++)
        thread_join(threads[i]);
    CHECK_EQ(weft_performance_clear(timing, WEFT_PERFORMANCE_MARK, NULL), 4 * 300);
    weft_performance_free(timing);
}

TEST(bad_input_is_refused) {
    struct bench bench = make(0);
    weft_performance_options too_many = {.max_entries = UINT32_MAX};
    weft_performance_mark_options negative = {.has_start = true, .start = -1};
    weft_performance *timing;
    weft_performance_entry *list;
    CHECK_EQ(weft_performance_new(NULL, NULL), -EINVAL);
    CHECK_EQ(weft_performance_new(&timing, &too_many), -EINVAL);
    CHECK_EQ(weft_performance_now(NULL), 0);
    CHECK_EQ(weft_performance_time_origin(NULL), 0);
    CHECK_EQ(weft_performance_mark(NULL, "a", NULL, NULL), -EINVAL);
    CHECK_EQ(weft_performance_mark(bench.timing, NULL, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_performance_mark(bench.timing, "a", &negative, NULL), -EINVAL);
    CHECK_EQ(weft_performance_measure(NULL, "a", NULL, NULL), -EINVAL);
    CHECK_EQ(weft_performance_measure(bench.timing, NULL, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_performance_get_entries(NULL, WEFT_PERFORMANCE_ALL, NULL, &list), -EINVAL);
    CHECK_EQ(weft_performance_get_entries(bench.timing, WEFT_PERFORMANCE_ALL, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_performance_get_entries(bench.timing, (weft_performance_kind)3, NULL, &list), -EINVAL);
    CHECK_EQ(weft_performance_clear(NULL, WEFT_PERFORMANCE_ALL, NULL), -EINVAL);
    CHECK_EQ(weft_performance_clear(bench.timing, (weft_performance_kind)3, NULL), -EINVAL);
    weft_performance_free(NULL);
    weft_performance_free_entries(NULL);
    finish(&bench);
}
