/* SPDX-License-Identifier: MIT
 *
 * Pipelines, by their contract in weft/parallel.h: every item through every stage once, order where it is asked for, never more
 * on their way than allowed, dropping, ending, errors, panics, cancellation.
 */
#include "support/run.h"
#include "weft/parallel.h"

enum { ITEMS = 3000, STAGES = 6 };

struct item {
    int64_t number;
    int stage; /* that it has been through last */
};

/* What the stages of a test do, and what they have seen. One test at a time. */
static struct {
    weft_pool *pool;
    int64_t count;     /* items to be made */
    int64_t drop;      /* those whose number is divisible by it are dropped in stage 2; 0: none */
    int64_t end_at;    /* stage 2 ends the stream at this one; 0: no */
    int64_t fail_at;   /* stage 2 fails at this one; 0: no */
    bool panics;       /* instead of failing */
    weft_scope *scope; /* cancelled there instead, if it is set */
    size_t max_items;
    _Atomic int64_t made;
    _Atomic int64_t alive;
    _Atomic int64_t most;
    _Atomic int64_t seen[STAGES];
    _Atomic int inside[STAGES];
    int64_t last[STAGES]; /* number that a stage in order has seen last */
    const weft_stage *stages;
    size_t stage_count;
} test;

static void item_free(void *item, void *arg) {
    CHECK(arg == &test);
    atomic_fetch_sub(&test.alive, 1);
    free(item);
}

static int make(void **item, void *arg) {
    (void)arg;
    CHECK(*item == NULL);
    int64_t number = atomic_fetch_add(&test.made, 1) + 1;
    if (number > test.count)
        return WEFT_STAGE_END;
    struct item *made = malloc(sizeof *made);
    CHECK(made != NULL);
    *made = (struct item){.number = number};
    int64_t alive = atomic_fetch_add(&test.alive, 1) + 1;
    if (alive > atomic_load(&test.most))
        atomic_store(&test.most, alive);
    *item = made;
    return WEFT_STAGE_NEXT;
}

static int pass(void **item, void *arg) {
    struct item *one = *item;
    int stage = (int)(intptr_t)arg;
    CHECK_EQ(one->stage, stage - 1);
    one->stage = stage;
    int inside = atomic_fetch_add(&test.inside[stage], 1) + 1;
    CHECK(inside == 1 || test.stages[stage].kind == WEFT_STAGE_PARALLEL);
    if (test.stages[stage].kind == WEFT_STAGE_IN_ORDER) {
        CHECK(one->number > test.last[stage]);
        test.last[stage] = one->number;
    }
    if (one->number % 7 == 0)
        weft_yield();
    atomic_fetch_sub(&test.inside[stage], 1);
    atomic_fetch_add(&test.seen[stage], 1);
    return WEFT_STAGE_NEXT;
}

/* Stage 2: what may go wrong. */
static int decide(void **item, void *arg) {
    struct item *one = *item;
    int64_t number = one->number;
    int status = pass(item, arg);
    if (number == test.fail_at && test.scope)
        CHECK_EQ(weft_scope_cancel(test.scope, -ECANCELED, NULL), 0);
    else if (number == test.fail_at && test.panics)
        weft_panic("item %d", (int)number);
    else if (number == test.fail_at)
        return -EDOM;
    if (number == test.end_at || (test.drop && number % test.drop == 0)) {
        item_free(one, &test);
        return number == test.end_at ? WEFT_STAGE_END : WEFT_STAGE_DROP;
    }
    return status;
}

static int finish(void **item, void *arg) {
    int status = pass(item, arg);
    item_free(*item, &test);
    return status;
}

/* One of each kind, and two in a row. */
static const weft_stage mixed[STAGES] = {
    {WEFT_STAGE_IN_ORDER, make, NULL},        {WEFT_STAGE_PARALLEL, pass, (void *)1},
    {WEFT_STAGE_PARALLEL, decide, (void *)2}, {WEFT_STAGE_SERIAL, pass, (void *)3},
    {WEFT_STAGE_IN_ORDER, pass, (void *)4},   {WEFT_STAGE_IN_ORDER, finish, (void *)5},
};

static int run_line(void) {
    weft_pipeline_options options = {.max_items = test.max_items, .discard = item_free, .arg = &test};
    atomic_store(&test.made, 0);
    atomic_store(&test.most, 0);
    for (int i = 0; i < STAGES; i++) {
        atomic_store(&test.seen[i], 0);
        atomic_store(&test.inside[i], 0);
        test.last[i] = 0;
    }
    if (!test.stages) {
        test.stages = mixed;
        test.stage_count = STAGES;
    }
    return weft_pipeline(test.pool, test.stages, test.stage_count, &options);
}

static void check_all_through(void) {
    CHECK_EQ(run_line(), 0);
    CHECK_EQ(atomic_load(&test.alive), 0);
    for (size_t i = 1; i < test.stage_count; i++)
        CHECK_EQ(atomic_load(&test.seen[i]), test.count);
    if (test.max_items)
        CHECK_LE(atomic_load(&test.most), test.max_items);
}

static void plain_lines(void) {
    test.count = scaled(ITEMS, 200);
    for (test.max_items = 0; test.max_items < 40; test.max_items = test.max_items * 3 + 1)
        check_all_through();
}

static int call_body(void *opaque) {
    void (**body)(void) = opaque;
    (*body)();
    return 0;
}

static void pool_open(unsigned threads) {
    weft_pool_options options = {.threads = threads};
    memset(&test, 0, sizeof test);
    CHECK_EQ(weft_pool_new(&test.pool, &options), 0);
}

static void in_pool(unsigned threads, void (*body)(void)) {
    weft_work_options options = {.store_result = true};
    weft_work work;
    weft_result result;
    pool_open(threads);
    CHECK_EQ(weft_pool_submit_with(test.pool, &work, &options, call_body, &body), 0);
    CHECK_EQ(weft_pool_wait_work(test.pool, work, &result, WEFT_NEVER), 0);
    CHECK_EQ(result.status, WEFT_WORK_SUCCEEDED);
    weft_pool_free(test.pool);
}

TEST(pipeline_takes_every_item_through_every_stage_in_order) {
    in_pool(wf_test_workers(), plain_lines);
    in_pool(33, plain_lines);
}

TEST(pipeline_runs_from_a_plain_thread_and_from_a_fiber) {
    pool_open(wf_test_workers());
    plain_lines();
    run_fibers(plain_lines);
    weft_pool_free(test.pool);
}

static void dropped(void) {
    test.count = scaled(ITEMS, 200);
    test.drop = 3;
    CHECK_EQ(run_line(), 0);
    CHECK_EQ(atomic_load(&test.alive), 0);
    CHECK_EQ(atomic_load(&test.seen[2]), test.count);
    CHECK_EQ(atomic_load(&test.seen[5]), test.count - test.count / 3);
}

TEST(pipeline_drops_items_without_holding_up_those_behind) {
    in_pool(wf_test_workers(), dropped);
}

static void ended(void) {
    test.count = INT64_MAX;
    test.end_at = 150;
    test.max_items = 8;
    CHECK_EQ(run_line(), 0);
    CHECK_EQ(atomic_load(&test.alive), 0);
    CHECK_GE(atomic_load(&test.seen[5]), 149);
    CHECK_LE(atomic_load(&test.seen[5]), 149 + 8 + 8);
}

TEST(pipeline_is_ended_by_any_stage) {
    in_pool(1, ended);
}

static void failed(void) {
    test.count = INT64_MAX;
    test.fail_at = 150;
    CHECK_EQ(run_line(), -EDOM);
    CHECK_EQ(atomic_load(&test.alive), 0);
    CHECK_LE(atomic_load(&test.seen[5]), 149);
}

TEST(pipeline_stops_at_an_error_and_discards_what_is_on_its_way) {
    for (int i = 0; i < scaled(50, 5); i++)
        in_pool(wf_test_workers(), failed);
}

static void call_line(void *arg) {
    (void)arg;
    run_line();
    CHECK(false);
}

static void panicked(void) {
    char text[64];
    test.count = INT64_MAX;
    test.fail_at = 150;
    test.panics = true;
    CHECK_EQ(weft_try(call_line, NULL, text, sizeof text), -EOWNERDEAD);
    CHECK_TEXT(text, "item 150");
    CHECK_EQ(atomic_load(&test.alive), 0);
}

TEST(pipeline_passes_on_a_panic_when_all_have_stopped) {
    for (int i = 0; i < scaled(50, 5); i++)
        in_pool(wf_test_workers(), panicked);
}

TEST(pipeline_that_panics_is_an_error_outside_the_pool) {
    pool_open(wf_test_workers());
    test.count = INT64_MAX;
    test.fail_at = 150;
    test.panics = true;
    CHECK_EQ(run_line(), -EOWNERDEAD);
    CHECK_EQ(atomic_load(&test.alive), 0);
    weft_pool_free(test.pool);
}

static int line_in_scope(weft_scope *scope, void *arg) {
    (void)arg;
    test.scope = scope;
    CHECK_EQ(run_line(), -ECANCELED);
    return 0;
}

static void cancelled(void) {
    test.count = INT64_MAX;
    test.fail_at = 150;
    CHECK_EQ(weft_scope_run(NULL, line_in_scope, NULL), -ECANCELED);
    CHECK_EQ(atomic_load(&test.alive), 0);
}

TEST(pipeline_ends_when_its_caller_is_cancelled) {
    in_pool(wf_test_workers(), cancelled);
}

/* A first stage that is parallel: items have the order in which their making began. */
static const weft_stage wide[] = {
    {WEFT_STAGE_PARALLEL, make, NULL},
    {WEFT_STAGE_SERIAL, pass, (void *)1},
    {WEFT_STAGE_PARALLEL, decide, (void *)2},
    {WEFT_STAGE_SERIAL, finish, (void *)3},
};

static void wide_lines(void) {
    test.stages = wide;
    test.stage_count = 4;
    plain_lines();
}

TEST(pipeline_may_begin_with_a_parallel_stage) {
    in_pool(wf_test_workers(), wide_lines);
}

static int make_and_free(void **item, void *arg) {
    int status = make(item, arg);
    if (status == WEFT_STAGE_NEXT)
        item_free(*item, &test);
    return status;
}

static const weft_stage alone[] = {{WEFT_STAGE_SERIAL, make_and_free, NULL}};

static void lines_of_one(void) {
    test.stages = alone;
    test.stage_count = 1;
    test.count = 100;
    check_all_through();
}

TEST(pipeline_of_one_stage_is_a_loop) {
    in_pool(wf_test_workers(), lines_of_one);
}

/* Every stage is occupied at the same time, on one thread too, because those that wait give it away. */
static weft_barrier all_here = WEFT_BARRIER_INIT(3);

static int meet(void **item, void *arg) {
    (void)arg;
    int error = weft_barrier_wait(&all_here, WEFT_NEVER);
    *item = &test;
    return error < 0 ? error : WEFT_STAGE_NEXT;
}

static int meet_three_times(void **item, void *arg) {
    (void)arg;
    *item = &test;
    return atomic_fetch_add(&test.made, 1) < 3 ? WEFT_STAGE_NEXT : WEFT_STAGE_END;
}

static void meetings(void) {
    const weft_stage stages[] = {{WEFT_STAGE_SERIAL, meet_three_times, NULL}, {WEFT_STAGE_PARALLEL, meet, NULL}};
    const weft_pipeline_options options = {.max_items = 3};
    CHECK_EQ(weft_pipeline(NULL, stages, 2, &options), 0);
}

TEST(pipeline_stages_may_wait_for_each_other_as_far_as_items_are_allowed) {
    in_pool(wf_test_workers(), meetings);
}

static int unknown_answer(void **item, void *arg) {
    (void)arg;
    *item = NULL;
    return 77;
}

TEST(pipeline_refuses_bad_arguments) {
    weft_stage stages[] = {{WEFT_STAGE_PARALLEL, make, NULL}, {WEFT_STAGE_PARALLEL, pass, NULL}};
    weft_pipeline_options options = {.max_items = SIZE_MAX};
    pool_open(1);
    CHECK_EQ(weft_pipeline(test.pool, NULL, 1, NULL), -EINVAL);
    CHECK_EQ(weft_pipeline(test.pool, stages, 0, NULL), -EINVAL);
    CHECK_EQ(weft_pipeline(NULL, stages, 2, NULL), -EINVAL);
    CHECK_EQ(weft_pipeline(test.pool, stages, 2, &options), -EINVAL);
    stages[1].fn = NULL;
    CHECK_EQ(weft_pipeline(test.pool, stages, 2, NULL), -EINVAL);
    stages[1].fn = pass;
    stages[1].kind = (weft_stage_kind)3;
    CHECK_EQ(weft_pipeline(test.pool, stages, 2, NULL), -EINVAL);
    stages[0].fn = unknown_answer;
    CHECK_EQ(weft_pipeline(test.pool, stages, 1, NULL), -EINVAL);
    weft_pool_free(test.pool);
}
