/* SPDX-License-Identifier: MIT
 *
 * unit/pool/depend_test.c - what comes after what, from the inside: circles, long chains, works at the gate, memory that is refused.
 *
 * On a pool without threads, where the test ends the works; see unit/pool/bare.h. Random graphs: unit/pool/graph_test.c. With
 * threads: spec/pool_depend_test.c.
 */
#include "os/fault.h"
#include "unit/pool/bare.h"

#define AFTER(...) \
    .after = (weft_work[]){__VA_ARGS__}, .after_count = sizeof((weft_work[]){__VA_ARGS__}) / sizeof(weft_work)
#define AFTER_IDS(...) \
    .after_ids = (weft_work_id[]){__VA_ARGS__}, \
    .after_id_count = sizeof((weft_work_id[]){__VA_ARGS__}) / sizeof(weft_work_id)

/* ---- What the last ends were ---- */

static weft_result ends[8];
static int end_count;

static void note_end(weft_work work, weft_work_status status, weft_work cause) {
    ends[end_count % 8] = (weft_result){.work = work, .status = status, .cause = cause};
    end_count++;
}

static weft_pool *noting_pool(void) {
    weft_pool *pool = bare_new();
    CHECK(bare_end(pool, BARE(pool, .id = text_id("first")), WEFT_WORK_SUCCEEDED)); /* the tables are there */
    bare_next_generation(pool);
    CHECK_EQ(pool->name_count, 0);
    end_count = 0;
    bare_on_end = note_end;
    return pool;
}

static void check_failed_by(int index, weft_work work, weft_work cause) {
    CHECK_EQ(ends[index].work.bits, work.bits);
    CHECK_EQ(ends[index].status, WEFT_WORK_FAILED);
    CHECK_EQ(ends[index].cause.bits, cause.bits);
}

static int submit_error(weft_pool *pool, weft_work_options options) {
    weft_work work;
    int64_t blocks = wf_os_live_blocks();
    size_t names = pool->name_count;
    int error = bare_submit(pool, &options, &work);
    CHECK(error != 0);
    CHECK_EQ(pool->name_count, names);
    CHECK_EQ(wf_os_live_blocks(), blocks);
    return error;
}

/* ---- By handle, by id ---- */

TEST(a_work_waits_for_all_that_it_comes_after) {
    weft_pool *pool = noting_pool();
    weft_work a = BARE(pool, .priority = 0), b = BARE(pool, .id = text_id("b"));
    weft_work c = BARE(pool, AFTER(a), AFTER_IDS(text_id("b"), text_id("to come")));
    CHECK_EQ(bare_phase(pool, c), WF_WORK_HELD);
    CHECK_EQ(wf_load_relaxed(&pool->held), 1);
    CHECK(bare_end(pool, b, WEFT_WORK_SUCCEEDED));
    CHECK(bare_end(pool, a, WEFT_WORK_SUCCEEDED));
    CHECK_EQ(bare_phase(pool, c), WF_WORK_HELD);
    weft_work d = BARE(pool, .id = text_id("to come"));
    CHECK_EQ(bare_phase(pool, c), WF_WORK_HELD);
    CHECK(bare_end(pool, d, WEFT_WORK_SUCCEEDED));
    CHECK_EQ(bare_phase(pool, c), WF_WORK_QUEUED);
    CHECK_EQ(wf_load_relaxed(&pool->held), 0);
    CHECK(bare_end(pool, c, WEFT_WORK_SUCCEEDED));
    CHECK_EQ(end_count, 4);
    bare_free(pool);
}

TEST(works_that_are_over_count_by_what_became_of_them) {
    static const weft_work_status bad[] = {WEFT_WORK_FAILED, WEFT_WORK_CANCELLED, WEFT_WORK_STOPPED,
                                           WEFT_WORK_FORCE_STOPPED, WEFT_WORK_TIMED_OUT};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        weft_pool *pool = noting_pool();
        weft_work good = BARE(pool, .id = text_id("good")), other = BARE(pool, .id = text_id("bad"));
        CHECK(bare_end(pool, good, WEFT_WORK_SUCCEEDED));
        CHECK(bare_end(pool, other, bad[i]));
        weft_work after_good = BARE(pool, AFTER(good, good), AFTER_IDS(text_id("good")));
        CHECK_EQ(bare_phase(pool, after_good), WF_WORK_QUEUED);
        weft_work by_handle = BARE(pool, AFTER(good, other));
        check_failed_by(2, by_handle, other);
        weft_work by_id = BARE(pool, AFTER_IDS(text_id("never"), text_id("bad")));
        check_failed_by(3, by_id, other);
        weft_work second = BARE(pool, AFTER(by_id)); /* the root, not the one between */
        check_failed_by(4, second, other);
        CHECK_EQ(pool->name_count, 2); /* "never" is not expected any more */
        CHECK(bare_end(pool, after_good, WEFT_WORK_SUCCEEDED));
        bare_free(pool);
    }
}

TEST(only_success_releases) {
    static const weft_work_status bad[] = {WEFT_WORK_FAILED, WEFT_WORK_CANCELLED, WEFT_WORK_STOPPED,
                                           WEFT_WORK_FORCE_STOPPED, WEFT_WORK_TIMED_OUT};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        weft_pool *pool = noting_pool();
        weft_work a = BARE(pool, .id = text_id("a"));
        weft_work b = BARE(pool, AFTER(a), AFTER_IDS(text_id("never")));
        weft_work c = BARE(pool, AFTER_IDS(text_id("a")));
        weft_work d = BARE(pool, AFTER(b, c, a));
        CHECK_EQ(wf_load_relaxed(&pool->held), 3);
        CHECK(bare_end(pool, a, bad[i]));
        CHECK_EQ(end_count, 4);
        CHECK_EQ(ends[0].status, bad[i]);
        CHECK_EQ(ends[0].cause.bits, 0);
        for (int k = 1; k < 4; k++)
            check_failed_by(k, ends[k].work, a);
        CHECK_EQ(ends[1].work.bits ^ ends[2].work.bits ^ ends[3].work.bits, b.bits ^ c.bits ^ d.bits);
        CHECK_EQ(wf_load_relaxed(&pool->held), 0);
        bare_free(pool);
    }
}

TEST(the_same_name_many_times_counts_once) {
    weft_pool *pool = noting_pool();
    weft_work a = BARE(pool, .id = text_id("a"));
    weft_work b = BARE(pool, AFTER(a, a, a), AFTER_IDS(text_id("a"), text_id("a")));
    CHECK_EQ(wf_load_relaxed(&pool->held), 1);
    CHECK(bare_end(pool, a, WEFT_WORK_SUCCEEDED));
    CHECK_EQ(bare_phase(pool, b), WF_WORK_QUEUED);
    weft_work c = BARE(pool, AFTER(b, b), .id = text_id("c"));
    weft_work d = BARE(pool, AFTER(c, c), AFTER_IDS(text_id("c"), text_id("c")));
    CHECK(bare_end(pool, b, WEFT_WORK_FAILED));
    CHECK_EQ(end_count, 4);
    check_failed_by(2, c, b);
    check_failed_by(3, d, b);
    bare_free(pool);
}

TEST(a_cancelled_work_leaves_what_it_waited_for) {
    weft_pool *pool = noting_pool();
    weft_work a = BARE(pool, .id = text_id("a"));
    weft_work b = BARE(pool, AFTER(a), AFTER_IDS(text_id("a"), text_id("never")));
    CHECK(bare_end(pool, b, WEFT_WORK_CANCELLED));
    CHECK_EQ(wf_load_relaxed(&pool->held), 0);
    CHECK_EQ(pool->name_count, 1);
    CHECK(bare_end(pool, a, WEFT_WORK_SUCCEEDED));
    CHECK_EQ(end_count, 2);
    bare_free(pool);
}

/* Those who wait for an id wait for the one that takes it next, and for no later one. */
TEST(an_edge_is_met_by_the_first_that_has_the_id) {
    weft_pool *pool = noting_pool();
    weft_work b = BARE(pool, AFTER_IDS(text_id("a")));
    weft_work first = BARE(pool, .id = text_id("a"));
    CHECK(bare_end(pool, first, WEFT_WORK_SUCCEEDED));
    CHECK_EQ(bare_phase(pool, b), WF_WORK_QUEUED);
    weft_work second = BARE(pool, .id = text_id("a"));
    weft_work c = BARE(pool, AFTER_IDS(text_id("a")));
    CHECK_EQ(bare_phase(pool, c), WF_WORK_HELD); /* the present one counts, not the one before */
    CHECK(bare_end(pool, second, WEFT_WORK_FAILED));
    check_failed_by(2, c, second);
    CHECK(bare_end(pool, b, WEFT_WORK_SUCCEEDED));
    bare_free(pool);
}

TEST(wrong_names_are_refused) {
    weft_pool *pool = noting_pool();
    weft_work a = BARE(pool, .priority = 0), unused;
    static const weft_work_id none = {0};
    CHECK_EQ(submit_error(pool, (weft_work_options){.after_count = 1}), -EINVAL);
    CHECK_EQ(submit_error(pool, (weft_work_options){.after_id_count = 1}), -EINVAL);
    CHECK_EQ(submit_error(pool, (weft_work_options){AFTER(a), AFTER_IDS(none)}), -EINVAL);
    CHECK_EQ(submit_error(pool, (weft_work_options){AFTER(a), AFTER_IDS(text_id("x"), text_id(""))}), -EINVAL);
    CHECK_EQ(submit_error(pool, (weft_work_options){AFTER(a, WEFT_NO_WORK)}), -EINVAL);
    CHECK_EQ(submit_error(pool, (weft_work_options){AFTER(((weft_work){UINT64_MAX}))}), -EINVAL);
    CHECK_EQ(submit_error(pool, (weft_work_options){AFTER(((weft_work){a.bits + ((uint64_t)1 << 32)}))}), -EINVAL);
    CHECK_EQ(submit_error(pool, (weft_work_options){AFTER(((weft_work){(uint64_t)1 << 32 | 500}))}),
             -EINVAL); /* never used */
    weft_work_options huge = {.after = &a, .after_count = SIZE_MAX / 2};
    CHECK_EQ(bare_submit(pool, &huge, &unused), -ENOMEM);
    huge = (weft_work_options){.after = &a, .after_count = SIZE_MAX, .after_ids = &none, .after_id_count = 2};
    CHECK_EQ(bare_submit(pool, &huge, &unused), -EINVAL);
    CHECK_EQ(wf_load_relaxed(&pool->held), 0);
    CHECK(bare_end(pool, a, WEFT_WORK_SUCCEEDED));
    bare_free(pool);
}

/* ---- Circles ---- */

TEST(circles_are_refused_whatever_their_length) {
    for (uint64_t length = 1; length <= 40; length++) {
        weft_pool *pool = noting_pool();
        weft_work works[40];
        for (uint64_t i = 2; i <= length; i++) /* each after the one with the next lower number; 1 does not exist yet */
            works[i - 1] = BARE(pool, .id = {.number = i}, AFTER_IDS(number_id(i - 1)));
        CHECK_EQ(submit_error(pool, (weft_work_options){.id = {.number = 1}, AFTER_IDS(number_id(length))}), -ELOOP);
        if (length > 1) /* by handle it is the same circle */
            CHECK_EQ(submit_error(pool, (weft_work_options){.id = {.number = 1}, AFTER(works[length - 1])}), -ELOOP);
        weft_work first = BARE(pool, .id = {.number = 1}); /* without the closing edge all of them come to run */
        CHECK(bare_end(pool, first, WEFT_WORK_SUCCEEDED));
        for (uint64_t i = 2; i <= length; i++)
            CHECK(bare_end(pool, works[i - 1], WEFT_WORK_SUCCEEDED));
        CHECK_EQ(end_count, (int)length);
        bare_free(pool);
    }
}

TEST(edges_that_are_met_close_no_circle) {
    weft_pool *pool = noting_pool();
    weft_work a = BARE(pool, .id = text_id("a"));
    weft_work b = BARE(pool, .id = text_id("b"), AFTER_IDS(text_id("a")));
    CHECK(bare_end(pool, a, WEFT_WORK_SUCCEEDED));
    weft_work again = BARE(pool, .id = text_id("a"), AFTER_IDS(text_id("b"))); /* b does not wait any more */
    CHECK_EQ(bare_phase(pool, again), WF_WORK_HELD);
    CHECK(bare_end(pool, b, WEFT_WORK_SUCCEEDED));
    CHECK(bare_end(pool, again, WEFT_WORK_SUCCEEDED));
    bare_free(pool);
}

/* A circle is told even if one of the others has failed; nothing is left of the failure in the refused one. */
TEST(a_circle_comes_before_a_failure) {
    weft_pool *pool = noting_pool();
    weft_work bad = BARE(pool, .priority = 0);
    CHECK(bare_end(pool, bad, WEFT_WORK_FAILED));
    weft_work b = BARE(pool, .id = text_id("b"), AFTER_IDS(text_id("a")));
    CHECK_EQ(submit_error(pool, (weft_work_options){.id = text_id("a"), AFTER(bad), AFTER_IDS(text_id("b"))}), -ELOOP);
    CHECK(bare_end(pool, b, WEFT_WORK_CANCELLED));
    bare_free(pool);
}

/* ---- Long chains, wide fans ---- */

static uint64_t chain_length(void) {
    return (uint64_t)scaled(100000, 10000);
}

static void end_chain(bool is_backwards, weft_work_status status) {
    weft_pool *pool = noting_pool();
    const uint64_t length = chain_length();
    weft_work *works = calloc(length, sizeof *works);
    for (uint64_t k = 0; k < length; k++) { /* work i comes after work i - 1 */
        uint64_t i = is_backwards ? length - 1 - k : k;
        weft_work_id before = number_id(i);
        weft_work_options options = {.id = {.number = i + 1}, .after_ids = &before, .after_id_count = i > 0};
        CHECK_EQ(bare_submit(pool, &options, &works[i]), 0);
    }
    CHECK_EQ(wf_load_relaxed(&pool->held), length - 1);
    weft_work_id last = number_id(length), open = number_id(length + 1);
    weft_work tail = BARE(pool, .id = open, AFTER_IDS(last));
    CHECK(bare_end(pool, works[0], status));
    for (uint64_t i = 1; i < length && status == WEFT_WORK_SUCCEEDED; i++)
        CHECK(bare_end(pool, works[i], status));
    CHECK_EQ(end_count, status == WEFT_WORK_SUCCEEDED ? length : length + 1);
    if (status == WEFT_WORK_SUCCEEDED)
        CHECK(bare_end(pool, tail, WEFT_WORK_SUCCEEDED));
    else
        check_failed_by((end_count - 1) % 8, tail, works[0]);
    free(works);
    bare_free(pool);
}

TEST(a_chain_of_100000_runs_to_its_end) {
    end_chain(false, WEFT_WORK_SUCCEEDED);
    end_chain(true, WEFT_WORK_SUCCEEDED);
}

TEST(a_chain_of_100000_fails_to_its_end) {
    end_chain(false, WEFT_WORK_FAILED);
    end_chain(true, WEFT_WORK_CANCELLED);
}

TEST(a_circle_of_100000_is_refused) {
    weft_pool *pool = noting_pool();
    const uint64_t length = chain_length();
    weft_work *works = calloc(length, sizeof *works);
    for (uint64_t i = 1; i < length; i++) {
        weft_work_id before = number_id(i);
        weft_work_options options = {.id = {.number = i + 1}, .after_ids = &before, .after_id_count = 1};
        CHECK_EQ(bare_submit(pool, &options, &works[i]), 0);
    }
    CHECK_EQ(submit_error(pool, (weft_work_options){.id = {.number = 1}, AFTER_IDS(number_id(length))}), -ELOOP);
    CHECK(bare_end(pool, works[1], WEFT_WORK_CANCELLED));
    CHECK_EQ(end_count, length - 1);
    free(works);
    bare_free(pool);
}

TEST(many_come_after_one_and_one_after_many) {
    enum { WIDTH = 20000 };
    weft_pool *pool = noting_pool();
    weft_work *works = calloc(WIDTH, sizeof *works);
    weft_work root = BARE(pool, .id = text_id("root"));
    for (int i = 0; i < WIDTH; i++)
        works[i] = i % 2 ? BARE(pool, AFTER(root)) : BARE(pool, AFTER_IDS(text_id("root")));
    weft_work end = BARE(pool, .after = works, .after_count = WIDTH);
    CHECK(bare_end(pool, root, WEFT_WORK_SUCCEEDED));
    for (int i = 0; i < WIDTH; i++) {
        CHECK_EQ(bare_phase(pool, end), WF_WORK_HELD);
        CHECK(bare_end(pool, works[i], WEFT_WORK_SUCCEEDED));
    }
    CHECK_EQ(bare_phase(pool, end), WF_WORK_QUEUED);
    CHECK(bare_end(pool, end, WEFT_WORK_SUCCEEDED));
    free(works);
    bare_free(pool);
}

/* ---- The gate, and submits that are not through ---- */

/* A work that is held by the gate is in the gate's chain: it cannot be in another, and ends when it is let through. */
TEST(a_work_at_the_gate_fails_when_the_gate_opens) {
    weft_pool *pool = noting_pool();
    weft_work a = BARE(pool, .priority = 0), b = WEFT_NO_WORK;
    weft_work_options options = {.after = &a, .after_count = 1, AFTER_IDS(text_id("never"))};
    CHECK_EQ(bare_submit_flagged(pool, &options, &b, WF_WORK_UNCOUNTED), 0);
    struct wf_work *work = wf_work_find(pool, b);
    work->task.next = &work->task; /* as if it was in a chain */
    CHECK(bare_end(pool, a, WEFT_WORK_FAILED));
    CHECK_EQ(end_count, 1);
    CHECK_EQ(bare_phase(pool, b), WF_WORK_HELD);
    CHECK(work->task.next == &work->task);
    CHECK_EQ(pool->name_count, 0); /* it waits for nothing any more */
    CHECK(wf_work_terms(work)->has_failed_before);
    CHECK_EQ(wf_work_terms(work)->pending, 1);
    wf_fetch_and_acq_rel(&work->word, ~WF_WORK_UNCOUNTED);
    bare_drop_token(pool, work);
    check_failed_by(1, b, a);
    bare_free(pool);
}

TEST(a_work_at_the_gate_is_not_ready_before_the_gate_opens) {
    weft_pool *pool = noting_pool();
    weft_work a = BARE(pool, .priority = 0), b = WEFT_NO_WORK;
    weft_work_options options = {.after = &a, .after_count = 1};
    CHECK_EQ(bare_submit_flagged(pool, &options, &b, WF_WORK_UNCOUNTED), 0);
    CHECK(bare_end(pool, a, WEFT_WORK_SUCCEEDED));
    CHECK_EQ(bare_phase(pool, b), WF_WORK_HELD);
    struct wf_work *work = wf_work_find(pool, b);
    wf_fetch_and_acq_rel(&work->word, ~WF_WORK_UNCOUNTED);
    bare_drop_token(pool, work);
    CHECK_EQ(bare_phase(pool, b), WF_WORK_QUEUED);
    CHECK(bare_end(pool, b, WEFT_WORK_SUCCEEDED));
    bare_free(pool);
}

/* ---- Works that end in between ---- */

/* DONE, and nobody has been told: it counts by its word. */
TEST(a_work_whose_end_is_not_told_yet_counts_by_what_it_is) {
    weft_pool *pool = noting_pool();
    weft_work works[] = {BARE(pool, .priority = 0), BARE(pool, .priority = 0)};
    CHECK(wf_work_seize(wf_work_find(pool, works[0]), works[0], WEFT_WORK_SUCCEEDED));
    CHECK(wf_work_seize(wf_work_find(pool, works[1]), works[1], WEFT_WORK_STOPPED));
    weft_work good = BARE(pool, .after = &works[0], .after_count = 1);
    CHECK_EQ(bare_phase(pool, good), WF_WORK_QUEUED);
    weft_work bad = BARE(pool, .after = works, .after_count = 2);
    check_failed_by(0, bad, works[1]);
    struct wf_chain failed = {0};
    bare_tell(pool, wf_work_find(pool, works[0]), &failed);
    bare_tell(pool, wf_work_find(pool, works[1]), &failed);
    CHECK_EQ(failed.count, 0);
    CHECK(bare_end(pool, good, WEFT_WORK_SUCCEEDED));
    bare_free(pool);
}

/* By its id the same work is alive until it has been told: the edge hangs, and is met by what follows. */
TEST(by_id_a_work_whose_end_is_not_told_yet_is_waited_for) {
    weft_pool *pool = noting_pool();
    weft_work a = BARE(pool, .id = text_id("a"));
    CHECK(wf_work_seize(wf_work_find(pool, a), a, WEFT_WORK_CANCELLED));
    weft_work b = BARE(pool, AFTER_IDS(text_id("a")));
    CHECK_EQ(bare_phase(pool, b), WF_WORK_HELD);
    struct wf_chain failed = {0};
    bare_tell(pool, wf_work_find(pool, a), &failed);
    CHECK_EQ(failed.count, 1);
    CHECK(wf_chain_take_first(&failed) == &wf_work_find(pool, b)->task);
    bare_tell(pool, wf_work_find(pool, b), &failed);
    check_failed_by(1, b, a);
    bare_free(pool);
}

/* Somebody cancels a work in the moment in which it would be ready, or would fail: that one has it, once. */
TEST(a_work_that_somebody_has_cancelled_is_handed_to_nobody) {
    for (int i = 0; i < 2; i++) {
        weft_pool *pool = noting_pool();
        weft_work a = BARE(pool, .priority = 0), b = BARE(pool, AFTER(a));
        struct wf_chain failed = {0};
        CHECK(wf_work_seize(wf_work_find(pool, b), b, WEFT_WORK_CANCELLED));
        CHECK(bare_end(pool, a, i ? WEFT_WORK_SUCCEEDED : WEFT_WORK_FAILED));
        CHECK_EQ(end_count, 1);
        bare_tell(pool, wf_work_find(pool, b), &failed);
        CHECK_EQ(end_count, 2);
        CHECK_EQ(ends[1].status, WEFT_WORK_CANCELLED);
        CHECK_EQ(ends[1].cause.bits, 0);
        bare_free(pool);
    }
}

/* The cause of one that is stored is known even when nobody remembers the failure. */
TEST(a_stored_failure_tells_its_cause) {
    weft_pool *pool = noting_pool();
    weft_work a = BARE(pool, .priority = 0);
    weft_work b = BARE(pool, AFTER(a), .store_result = true);
    CHECK(bare_end(pool, a, WEFT_WORK_FAILED));
    struct wf_work *work = wf_work_find(pool, b);
    wf_work_terms(work)->result = ends[1];
    pool->failures = NULL; /* all forgotten */
    pool->failure_count = pool->failure_room = 0;
    memset(pool->few_failures, 0, sizeof pool->few_failures);
    weft_work c = BARE(pool, AFTER(b));
    check_failed_by(2, c, a);
    wf_work_recycle(pool, NULL, work);
    bare_free(pool);
}

/* ---- Memory that is refused ---- */

TEST(edges_without_memory_leave_nothing_behind) {
    weft_pool *pool = noting_pool();
    weft_work a = BARE(pool, .id = text_id("a")), b = WEFT_NO_WORK;
    CHECK_EQ(pool->name_count, 1);
    weft_work_options options = {AFTER(a), AFTER_IDS(text_id("x"), text_id("a"), text_id("y"), text_id("z"))};
    long nth = 0;
    int error;
    do {
        wf_fault_order(WF_CALL_ALLOC, ++nth, ENOMEM, 0);
        error = bare_submit(pool, &options, &b);
        wf_fault_order(WF_CALL_ALLOC, 0, 0, 0);
        if (error) {
            CHECK_EQ(error, -ENOMEM);
            CHECK_EQ(pool->name_count, 1);
            CHECK(wf_list_is_empty(&wf_work_terms(wf_work_find(pool, a))->dependents));
        }
    } while (error);
    CHECK_GE(nth, 6); /* terms, edges, x, y, z, and of a the look for terms */
    CHECK_EQ(pool->name_count, 4);
    CHECK(bare_end(pool, b, WEFT_WORK_CANCELLED));
    CHECK(bare_end(pool, a, WEFT_WORK_SUCCEEDED));
    bare_free(pool);
}

static int return_zero(void *arg) {
    (void)arg;
    return 0;
}

/* The same through the whole of a submit, to a pool with threads. */
TEST(a_submit_without_memory_leaves_a_pool_as_it_was) {
    weft_pool *pool;
    weft_group *group;
    weft_work a, b = WEFT_NO_WORK, found;
    CHECK_EQ(weft_pool_new(&pool, &(weft_pool_options){.threads = wf_test_workers(), .suspended = true}), 0);
    CHECK_EQ(weft_group_new(&group, pool, NULL), 0);
    CHECK_EQ(weft_pool_submit(pool, &a, return_zero, NULL), 0);
    weft_work_options options = {
        .id = text_id("b"), .group = group, .priority = 3, AFTER(a), AFTER_IDS(text_id("x"), text_id("y"))};
    long nth = 0;
    int error;
    do {
        wf_fault_order_here(WF_CALL_ALLOC, ++nth, ENOMEM, 0);
        error = weft_pool_submit_with(pool, &b, &options, return_zero, NULL);
        bool was_refused = wf_fault_hits() > 0;
        wf_fault_order(WF_CALL_ALLOC, 0, 0, 0);
        CHECK_EQ(error, was_refused ? -ENOMEM : 0);
        CHECK_EQ(weft_pool_find(pool, text_id("b"), &found), error ? -ENOENT : 0);
        CHECK_EQ(weft_group_works(group, NULL, 0), error ? 0 : 1);
        CHECK_EQ(weft_pool_list(pool, WEFT_WORK_PENDING, NULL, 0), error ? 1 : 2);
    } while (error);
    CHECK_GE(nth, 7); /* terms, priority, names, b, edges, x, y, membership: those that are not there yet */
    CHECK_EQ(weft_pool_start(pool), 0);
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), -EDEADLK);
    for (int i = 0; i < 2; i++) {
        weft_work_options missing = {.id = text_id(i ? "x" : "y")};
        CHECK_EQ(weft_pool_submit_with(pool, NULL, &missing, return_zero, NULL), 0);
    }
    CHECK_EQ(weft_group_wait(group, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(weft_pool_wait(pool, weft_after(PATIENCE_NS)), 0);
    weft_group_free(group);
    weft_pool_free(pool);
}
