/* SPDX-License-Identifier: MIT
 *
 * The parallel forms, by their contract in weft/parallel.h: every number exactly once, order where it is promised, first error,
 * panic, cancellation, and the same from a work, a plain thread, a fiber of a runtime and a work of another pool.
 *
 * Fork and join have a suite of their own: tests/unit/pool/fork_test.c.
 */
#include "support/run.h"
#include "weft/parallel.h"

static weft_pool *pool;

static void pool_open(unsigned threads) {
    weft_pool_options options = {.threads = threads, .grace = PATIENCE_NS}; /* nobody is given up for being slow */
    CHECK_EQ(weft_pool_new(&pool, &options), 0);
}

static void pool_close(void) {
    weft_pool_free(pool);
    pool = NULL;
}

static int call_body(void *opaque) {
    void (**body)(void) = opaque;
    (*body)();
    return 0;
}

/* Runs body as a work of a pool with so many threads. */
static void in_pool(unsigned threads, void (*body)(void)) {
    pool_open(threads);
    weft_work_options options = {.store_result = true};
    weft_work work;
    weft_result result;
    CHECK_EQ(weft_pool_submit_with(pool, &work, &options, call_body, &body), 0);
    CHECK_EQ(weft_pool_wait_work(pool, work, &result, WEFT_NEVER), 0);
    CHECK_EQ(result.status, WEFT_WORK_SUCCEEDED);
    pool_close();
}

static void in_any_pool(void (*body)(void)) {
    in_pool(wf_test_workers(), body);
}

/* From a work; a work of another pool; a plain thread; a fiber. */
static void from_everywhere(void (*body)(void)) {
    in_any_pool(body);
    weft_pool *other;
    weft_pool_options one = {.threads = 1};
    CHECK_EQ(weft_pool_new(&other, &one), 0);
    pool_open(wf_test_workers());
    CHECK_EQ(weft_pool_submit(other, NULL, call_body, &body), 0);
    CHECK_EQ(weft_pool_wait(other, WEFT_NEVER), 0);
    weft_pool_free(other);
    body();
    run_fibers(body);
    pool_close();
}

/* ---- for ---- */

enum { MARKS = 5000 };
static _Atomic unsigned char marks[MARKS];

static struct {
    int64_t base; /* number of the first mark */
    int64_t step;
    int64_t grain;
} marking;

static void marks_clear(void) {
    for (int i = 0; i < MARKS; i++)
        atomic_store_explicit(&marks[i], 0, memory_order_relaxed);
}

static void marks_check(int64_t count) {
    for (int64_t i = 0; i < MARKS; i++)
        CHECK_EQ(atomic_load_explicit(&marks[i], memory_order_relaxed), i < count);
}

static int mark_range(int64_t begin, int64_t end, void *arg) {
    int64_t done = 0;
    (void)arg;
    CHECK(marking.step > 0 ? begin < end : begin > end);
    for (int64_t i = begin; marking.step > 0 ? i < end : i > end; done++) {
        bool is_up = marking.step > 0;
        uint64_t distance = is_up ? (uint64_t)i - (uint64_t)marking.base : (uint64_t)marking.base - (uint64_t)i;
        uint64_t index = distance / (is_up ? (uint64_t)marking.step : 0 - (uint64_t)marking.step);
        CHECK(index < MARKS);
        atomic_fetch_add_explicit(&marks[index], 1, memory_order_relaxed);
        if (__builtin_add_overflow(i, marking.step, &i))
            break;
    }
    CHECK(marking.grain == 0 || done <= marking.grain);
    return 0;
}

static void check_range(int64_t begin, int64_t end, int64_t step, int64_t grain, int64_t count) {
    marks_clear();
    marking.base = begin;
    marking.step = step;
    marking.grain = grain;
    CHECK_EQ(weft_parallel_for_step(pool, begin, end, step, grain, mark_range, NULL), 0);
    marks_check(count);
    if (step != 1)
        return;
    marks_clear();
    CHECK_EQ(weft_parallel_for(pool, begin, end, grain, mark_range, NULL), 0);
    marks_check(count);
}

static void ranges(void) {
    for (int64_t grain = 0; grain < 5; grain += 2) {
        check_range(0, 0, 1, grain, 0);
        check_range(5, 5, -1, grain, 0);
        check_range(3, 2, 1, grain, 0);
        check_range(2, 3, -1, grain, 0);
        check_range(0, 1, 1, grain, 1);
        check_range(-7, 13, 1, grain, 20);
        check_range(0, MARKS, 1, grain, MARKS);
        check_range(-100, 100, 3, grain, 67);
        check_range(0, 9, 3, grain, 3);
        check_range(0, 10, 3, grain, 4);
        check_range(100, -100, -1, grain, 200);
        check_range(10, 0, -3, grain, 4);
        check_range(9, 0, -3, grain, 3);
        check_range(INT64_MAX - 10, INT64_MAX, 1, grain, 10);
        check_range(INT64_MIN, INT64_MIN + 10, 1, grain, 10);
        check_range(INT64_MIN, INT64_MAX, INT64_MAX, grain, 3);
        check_range(INT64_MIN, INT64_MAX, (int64_t)1 << 54, grain, 1024);
        check_range(INT64_MAX, INT64_MIN, -((int64_t)1 << 54), grain, 1024);
    }
}

TEST(for_covers_every_number_once_from_everywhere) {
    from_everywhere(ranges);
}

TEST(for_covers_every_number_once_with_33_threads) {
    in_pool(33, ranges);
}

static _Atomic int64_t total;

static int add_range(int64_t begin, int64_t end, void *arg) {
    int64_t sum = 0;
    (void)arg;
    for (int64_t i = begin; i < end; i++)
        sum += i;
    atomic_fetch_add_explicit(&total, sum, memory_order_relaxed);
    return 0;
}

static void long_loop(void) {
    int64_t n = scaled(20000000, 100000);
    atomic_store(&total, 0);
    CHECK_EQ(weft_parallel_for(NULL, 0, n, 0, add_range, NULL), 0);
    CHECK_EQ(atomic_load(&total), n * (n - 1) / 2);
}

TEST(for_with_a_found_grain_covers_a_long_loop) {
    in_any_pool(long_loop);
}

static int inner_range(int64_t begin, int64_t end, void *arg) {
    (void)arg;
    for (int64_t i = begin; i < end; i++) {
        if (i % 3 == 0)
            weft_yield();
        CHECK_EQ(weft_parallel_for(NULL, i * 100, (i + 1) * 100, i % 4, add_range, NULL), 0);
    }
    return 0;
}

static void nested_loops(void) {
    int64_t n = scaled(2000, 50);
    atomic_store(&total, 0);
    CHECK_EQ(weft_parallel_for(pool, 0, n, 1, inner_range, NULL), 0);
    CHECK_EQ(atomic_load(&total), n * 100 * (n * 100 - 1) / 2);
}

TEST(for_nests_and_its_bodies_may_be_suspended) {
    in_any_pool(nested_loops);
    in_pool(33, nested_loops);
}

static int never_called(int64_t begin, int64_t end, void *arg) {
    (void)begin;
    (void)end;
    (void)arg;
    CHECK(false);
    return 0;
}

TEST(for_refuses_bad_arguments) {
    pool_open(1);
    CHECK_EQ(weft_parallel_for(pool, 0, 10, 0, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_parallel_for(pool, 0, 10, -1, never_called, NULL), -EINVAL);
    CHECK_EQ(weft_parallel_for_step(pool, 0, 10, 0, 0, never_called, NULL), -EINVAL);
    CHECK_EQ(weft_parallel_for(NULL, 0, 10, 0, never_called, NULL), -EINVAL);
    CHECK_EQ(weft_parallel_for(pool, 10, 0, 0, never_called, NULL), 0);
    CHECK_EQ(weft_parallel_for(pool, 0, 0, 0, never_called, NULL), 0);
    CHECK_EQ(weft_pool_dispose(pool), 0);
    CHECK_EQ(weft_parallel_for(pool, 0, 0, 0, never_called, NULL), 0);
    CHECK_EQ(weft_parallel_for(pool, 0, 10, 0, never_called, NULL), -ESHUTDOWN);
    pool_close();
}

/* ---- errors, panics, cancellation ---- */

static _Atomic int64_t called;

static int fail_at_100(int64_t begin, int64_t end, void *arg) {
    (void)arg;
    atomic_fetch_add(&called, end - begin);
    return begin <= 100 && 100 < end ? -EDOM : 0;
}

static void first_error(void) {
    atomic_store(&called, 0);
    CHECK_EQ(weft_parallel_for(pool, 0, 1 << 30, 1, fail_at_100, NULL), -EDOM);
    CHECK_LE(atomic_load(&called), 1 << 29);
}

TEST(for_stops_at_the_first_error_and_returns_it) {
    from_everywhere(first_error);
}

static int panic_at_100(int64_t begin, int64_t end, void *arg) {
    (void)arg;
    atomic_fetch_add(&called, end - begin);
    if (begin <= 100 && 100 < end)
        weft_panic("number %d", 100);
    return 0;
}

static void loop_with_panic(void *arg) {
    (void)arg;
    weft_parallel_for(pool, 0, 1 << 30, 1, panic_at_100, NULL);
}

static void panic_inside(void) {
    char text[64];
    CHECK_EQ(weft_try(loop_with_panic, NULL, text, sizeof text), -EOWNERDEAD);
    CHECK_TEXT(text, "number 100");
    atomic_store(&total, 0);
    CHECK_EQ(weft_parallel_for(pool, 0, 100, 1, add_range, NULL), 0); /* and nothing was left behind */
    CHECK_EQ(atomic_load(&total), 4950);
}

TEST(panic_of_a_body_goes_on_in_the_caller_inside_the_pool) {
    for (int i = 0; i < scaled(100, 5); i++)
        in_any_pool(panic_inside);
}

TEST(panic_of_a_body_is_an_error_outside_the_pool) {
    pool_open(wf_test_workers());
    for (int i = 0; i < scaled(100, 5); i++)
        CHECK_EQ(weft_parallel_for(pool, 0, 1 << 30, 1, panic_at_100, NULL), -EOWNERDEAD);
    pool_close();
}

static int cancel_at_100(int64_t begin, int64_t end, void *scope) {
    if (begin <= 100 && 100 < end)
        weft_scope_cancel(scope, -ECANCELED, NULL);
    return 0;
}

static int loop_in_scope(weft_scope *scope, void *arg) {
    (void)arg;
    CHECK_EQ(weft_parallel_for(pool, 0, INT64_MAX, 1, cancel_at_100, scope), -ECANCELED);
    return 0;
}

static void cancelled_loop(void) {
    CHECK_EQ(weft_scope_run(NULL, loop_in_scope, NULL), -ECANCELED);
}

TEST(for_ends_when_its_caller_is_cancelled) {
    in_any_pool(cancelled_loop);
    pool_open(wf_test_workers());
    run_fibers(cancelled_loop); /* the caller waits for a work of the pool */
    pool_close();
}

/* Bodies that wait are cancelled too, whichever fiber they run on. */
static int wait_for_ever(int64_t begin, int64_t end, void *opaque) {
    weft_semaphore *never = opaque;
    (void)end;
    if (begin == 0)
        return 0;
    atomic_fetch_add(&called, 1);
    return weft_semaphore_acquire(never, 1, WEFT_NEVER);
}

static void *cancel_when_waiting(void *scope) {
    WAIT_UNTIL(atomic_load(&called) >= 1);
    CHECK_EQ(weft_scope_cancel(scope, -ECANCELED, NULL), 0);
    return NULL;
}

static int wait_in_scope(weft_scope *scope, void *arg) {
    weft_semaphore never = WEFT_SEMAPHORE_INIT(0);
    weft_fiber canceller;
    (void)arg;
    SPAWN(&canceller, cancel_when_waiting, scope);
    CHECK_EQ(weft_parallel_for(pool, 0, 16, 1, wait_for_ever, &never), -ECANCELED);
    weft_shield();
    JOIN(canceller, NULL);
    weft_unshield();
    return 0;
}

static void cancelled_bodies(void) {
    atomic_store(&called, 0);
    CHECK_EQ(weft_scope_run(NULL, wait_in_scope, NULL), -ECANCELED);
}

TEST(for_cuts_the_waits_of_its_bodies_short_when_its_caller_is_cancelled) {
    for (int i = 0; i < scaled(50, 5); i++)
        in_any_pool(cancelled_bodies);
}

enum { ENOUGH = 1000 };

static int count_up(int64_t begin, int64_t end, void *arg) {
    (void)arg;
    CHECK(weft_work_self().bits != 0);
    if (atomic_load(&called) <= ENOUGH) /* ThreadSanitizer lets whoever reads wait as long as somebody adds */
        atomic_fetch_add(&called, end - begin);
    return 0;
}

static int loop_for_ever(void *arg) {
    (void)arg;
    return weft_parallel_for(NULL, 0, INT64_MAX, 1, count_up, NULL);
}

static void stop_loop(weft_control how, weft_work_status status) {
    weft_work_options options = {.store_result = true};
    weft_work work;
    weft_result result;
    atomic_store(&called, 0);
    CHECK_EQ(weft_pool_submit_with(pool, &work, &options, loop_for_ever, NULL), 0);
    WAIT_UNTIL(atomic_load(&called) > ENOUGH);
    CHECK_EQ(weft_pool_control(pool, how, work), 0);
    CHECK_EQ(weft_pool_wait_work(pool, work, &result, WEFT_NEVER), 0);
    CHECK_EQ(result.status, status);
    CHECK_EQ(result.code, -ECANCELED);
}

TEST(for_ends_when_its_work_is_stopped) {
    pool_open(wf_test_workers());
    stop_loop(WEFT_STOP, WEFT_WORK_STOPPED);
    stop_loop(WEFT_FORCE_STOP, WEFT_WORK_FORCE_STOPPED);
    pool_close();
}

/* ---- for each, map, invoke ---- */

static int square_in_place(void *item, void *arg) {
    int64_t *number = item;
    (void)arg;
    if (*number < 0)
        return -ERANGE;
    *number *= *number;
    return 1; /* any value that is not negative */
}

static int square(const void *in, void *out, void *arg) {
    const int32_t *number = in;
    int64_t *result = out;
    *result = (int64_t)*number * *number + *(int *)arg;
    return 0;
}

static void arrays(void) {
    enum { COUNT = 3000 };
    static int64_t items[COUNT];
    static int32_t from[COUNT];
    int more = 3;
    for (int i = 0; i < COUNT; i++) {
        items[i] = i;
        from[i] = i;
    }
    CHECK_EQ(weft_parallel_for_each(pool, items, sizeof items[0], COUNT, square_in_place, NULL), 0);
    for (int64_t i = 0; i < COUNT; i++)
        CHECK_EQ(items[i], i * i);
    CHECK_EQ(weft_parallel_map(pool, from, sizeof from[0], items, sizeof items[0], COUNT, square, &more), 0);
    for (int64_t i = 0; i < COUNT; i++)
        CHECK_EQ(items[i], i * i + 3);
    items[COUNT / 2] = -1;
    CHECK_EQ(weft_parallel_for_each(pool, items, sizeof items[0], COUNT, square_in_place, NULL), -ERANGE);
    CHECK_EQ(weft_parallel_for_each(pool, NULL, 8, 0, square_in_place, NULL), 0);
    CHECK_EQ(weft_parallel_for_each(pool, NULL, 8, 1, square_in_place, NULL), -EINVAL);
    CHECK_EQ(weft_parallel_for_each(pool, items, 8, 1, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_parallel_map(pool, NULL, 4, items, 8, 1, square, &more), -EINVAL);
    CHECK_EQ(weft_parallel_map(pool, from, 4, NULL, 8, 1, square, &more), -EINVAL);
    CHECK_EQ(weft_parallel_map(pool, from, 4, items, 8, 1, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_parallel_map(pool, NULL, 4, NULL, 8, 0, square, &more), 0);
}

TEST(for_each_and_map_reach_every_item) {
    from_everywhere(arrays);
}

static int give(void *arg) {
    return *(int *)arg;
}

static void branches(void) {
    int values[] = {0, 5, 7, -EDOM, 1};
    weft_branch all[5];
    for (int i = 0; i < 5; i++)
        all[i] = (weft_branch){give, &values[i], 0};
    CHECK_EQ(weft_parallel_invoke(pool, all, 3), 0);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(all[i].status, values[i]);
    CHECK_EQ(weft_parallel_invoke(pool, all, 5), -EDOM);
    for (int i = 0; i < 5; i++)
        CHECK(all[i].status == values[i] || (i != 3 && all[i].status == -ECANCELED));
    all[1].fn = NULL;
    CHECK_EQ(weft_parallel_invoke(pool, all, 3), -EINVAL);
    CHECK_EQ(weft_parallel_invoke(pool, NULL, 3), -EINVAL);
    CHECK_EQ(weft_parallel_invoke(pool, NULL, 0), 0);
}

TEST(invoke_calls_all_and_keeps_what_each_returned) {
    from_everywhere(branches);
}

/* Two that wait for each other: they have to run at the same time, on one thread too. */
static int meet(void *barrier) {
    int error = weft_barrier_wait(barrier, WEFT_NEVER);
    return error < 0 ? error : 0;
}

static void meetings(void) {
    weft_barrier barrier = WEFT_BARRIER_INIT(6);
    weft_branch all[6];
    for (int i = 0; i < 6; i++)
        all[i] = (weft_branch){meet, &barrier, 0};
    for (int round = 0; round < 20; round++)
        CHECK_EQ(weft_parallel_invoke(pool, all, 6), 0);
}

TEST(invoke_runs_functions_that_wait_for_each_other) {
    in_any_pool(meetings);
}

/* ---- reduce ---- */

struct text {
    char *bytes;
    size_t length;
    int64_t rooms[16]; /* larger than what fits beside a part */
};

static _Atomic int64_t texts; /* alive */

static int text_add(struct text *text, const char *bytes, size_t length) {
    char *more = realloc(text->bytes, text->length + length + 1);
    CHECK(more != NULL);
    atomic_fetch_add(&texts, !text->bytes);
    memcpy(more + text->length, bytes, length + 1);
    text->bytes = more;
    text->length += length;
    return 0;
}

static int text_fold(int64_t begin, int64_t end, void *accumulator, void *arg) {
    (void)arg;
    for (int64_t i = begin; i < end; i++) {
        char word[32];
        if (i == marking.base)
            return -EILSEQ;
        int length = snprintf(word, sizeof word, "%lld,", (long long)i);
        text_add(accumulator, word, (size_t)length);
        if (i % 37 == 0)
            weft_yield();
    }
    return 0;
}

static int text_combine(void *left, void *right, void *arg) {
    struct text *from = right;
    (void)arg;
    if (from->bytes) {
        text_add(left, from->bytes, from->length);
        free(from->bytes);
        atomic_fetch_sub(&texts, 1);
    }
    return 0;
}

static const weft_reduction text_reduction = {.size = sizeof(struct text), .fold = text_fold, .combine = text_combine};

static void text_free(struct text *text) {
    atomic_fetch_sub(&texts, text->bytes != NULL);
    free(text->bytes);
}

static void concatenations(void) {
    struct text expected = {0}, result;
    marking.base = -1;
    text_fold(0, 1000, &expected, NULL);
    for (int64_t grain = 0; grain < 8; grain++) {
        CHECK_EQ(weft_parallel_reduce(pool, 0, 1000, grain, &text_reduction, &result), 0);
        CHECK_TEXT(result.bytes, expected.bytes);
        text_free(&result);
    }
    text_free(&expected);
    marking.base = 700; /* an error there; nothing is lost of what was made */
    for (int64_t grain = 1; grain < 8; grain++) {
        CHECK_EQ(weft_parallel_reduce(pool, 0, 1000, grain, &text_reduction, &result), -EILSEQ);
        text_free(&result);
    }
    CHECK_EQ(atomic_load(&texts), 0);
}

TEST(reduce_keeps_the_order_from_left_to_right) {
    from_everywhere(concatenations);
    in_pool(33, concatenations);
}

/* Affine maps x -> a x + b, composed in order: associative, not commutative. Small enough to stand beside a part. */
struct affine {
    uint64_t a, b;
};

static int affine_fold(int64_t begin, int64_t end, void *accumulator, void *arg) {
    struct affine *map = accumulator;
    (void)arg;
    for (int64_t i = begin; i < end; i++) {
        uint64_t a = (uint64_t)i * 2 + 1, b = (uint64_t)i ^ 0x55;
        map->b = map->b * a + b;
        map->a *= a;
    }
    return 0;
}

static int affine_combine(void *left, void *right, void *arg) {
    struct affine *first = left, *then = right;
    (void)arg;
    first->b = first->b * then->a + then->b;
    first->a *= then->a;
    return 0;
}

static void compositions(void) {
    const struct affine identity = {1, 0};
    const weft_reduction reduction = {sizeof identity, &identity, affine_fold, affine_combine, NULL};
    struct affine expected = identity, result = {7, 7};
    int64_t n = scaled(3000000, 30000);
    affine_fold(-n, n, &expected, NULL);
    CHECK_EQ(weft_parallel_reduce(pool, -n, n, 0, &reduction, &result), 0);
    CHECK(result.a == expected.a && result.b == expected.b);
    CHECK_EQ(weft_parallel_reduce(pool, 5, 5, 0, &reduction, &result), 0);
    CHECK(result.a == 1 && result.b == 0);
}

TEST(reduce_composes_what_does_not_commute) {
    from_everywhere(compositions);
}

TEST(reduce_refuses_bad_arguments) {
    const weft_reduction good = {8, NULL, affine_fold, affine_combine, NULL};
    weft_reduction bad = good;
    uint64_t result = 9;
    pool_open(1);
    CHECK_EQ(weft_parallel_reduce(pool, 0, 9, 0, NULL, &result), -EINVAL);
    CHECK_EQ(weft_parallel_reduce(pool, 0, 9, 0, &good, NULL), -EINVAL);
    CHECK_EQ(weft_parallel_reduce(pool, 0, 9, -1, &good, &result), -EINVAL);
    CHECK_EQ(weft_parallel_reduce(NULL, 0, 9, 0, &good, &result), -EINVAL);
    CHECK_EQ(weft_parallel_reduce(NULL, 9, 0, 0, &good, &result), -EINVAL);
    bad.size = 0;
    CHECK_EQ(weft_parallel_reduce(pool, 0, 9, 0, &bad, &result), -EINVAL);
    bad = good;
    bad.fold = NULL;
    CHECK_EQ(weft_parallel_reduce(pool, 0, 9, 0, &bad, &result), -EINVAL);
    bad = good;
    bad.combine = NULL;
    CHECK_EQ(weft_parallel_reduce(pool, 0, 9, 0, &bad, &result), -EINVAL);
    CHECK_EQ(result, 9);
    pool_close();
}
