/* SPDX-License-Identifier: MIT
 *
 * spec/pool_test.c - the work pool: submitting, names, waiting for the whole pool, and when works are held back.
 *
 * Results are in spec/pool_result_test.c, what is done to works in spec/pool_control_test.c, order and threads in
 * spec/pool_queue_test.c and spec/pool_threads_test.c.
 */
#include <limits.h>

#include "spec/pool.h"

enum { MANY = 1000, SUBMITTERS = 8, POOLS_MAX = WEFT_RUNTIMES_MAX };

static atomic_int runs;
static weft_pool *the_pool;

/* ---- Submitting ---- */

static void submit_many(void) {
    weft_pool *pool = make_pool(NULL);
    atomic_store(&runs, 0);
    for (int i = 0; i < MANY; i++)
        CHECK_EQ(weft_pool_submit(pool, NULL, count_up, &runs), 0);
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    CHECK_EQ(atomic_load(&runs), MANY);
    weft_pool_stats stats = pool_stats(pool);
    CHECK_EQ(stats.submitted, MANY);
    CHECK_EQ(stats.succeeded, MANY);
    CHECK_EQ(stats.generation >= 1, true);
    end_pool(pool);
}

TEST(every_submitted_work_runs_once) {
    everywhere(submit_many);
}

TEST(a_pool_is_made_and_freed_without_any_work) {
    weft_pool *pool;
    CHECK_EQ(weft_pool_new(&pool, NULL), 0);
    check_nothing_left(pool);
    CHECK_EQ(pool_stats(pool).runtime_ns, 0);
    weft_pool_free(pool);
    weft_pool_free(NULL);
    CHECK_EQ(weft_pool_new(NULL, NULL), -EINVAL);
}

TEST(submit_needs_a_pool_and_a_function) {
    weft_pool *pool = make_pool(NULL);
    weft_work work = WEFT_NO_WORK;
    void *args[1] = {NULL};
    size_t done = 9;
    CHECK_EQ(weft_pool_submit(NULL, &work, count_up, &runs), -EINVAL);
    CHECK_EQ(weft_pool_submit(pool, &work, NULL, &runs), -EINVAL);
    CHECK_EQ(weft_pool_submit_with(pool, &work, NULL, NULL, &runs), -EINVAL);
    CHECK_EQ(weft_pool_submit_batch(NULL, NULL, NULL, count_up, args, 1, &done), -EINVAL);
    CHECK_EQ(done, 0);
    CHECK_EQ(weft_pool_submit_batch(pool, NULL, NULL, NULL, args, 1, &done), -EINVAL);
    CHECK_EQ(weft_pool_submit_batch(pool, NULL, NULL, count_up, NULL, 1, &done), -EINVAL);
    CHECK_EQ(work.bits, 0);
    CHECK_EQ(pool_stats(pool).submitted, 0);
    end_pool(pool);
}

TEST(wrong_options_of_a_work_are_refused) {
    static char long_text[WEFT_WORK_ID_MAX + 2];
    memset(long_text, 'x', sizeof long_text - 1);
    const weft_work_options wrong[] = {
        {.placement = (weft_placement)99},
        {.placement = (weft_placement)-1},
        {.retry = (weft_retry)99},
        {.timeout_action = (weft_timeout_action)99},
        {.timeout = -1},
        {.on_thread_stack = true, .long_running = true},
        {.after_count = 1},
        {.after_id_count = 1},
        {.id = {.text = ""}},
        {.id = {.text = long_text}},
    };
    weft_pool *pool = make_pool(NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        CHECK_EQ(weft_pool_submit_with(pool, NULL, &wrong[i], count_up, &runs), -EINVAL);
    CHECK_EQ(pool_stats(pool).submitted, 0);
    end_pool(pool);
}

TEST(wrong_options_of_a_pool_are_refused) {
    static const weft_work_queue empty_queue;
    const weft_pool_options wrong[] = {
        {.threads = WEFT_POOL_THREADS_MAX + 1},
        {.threads = 2, .elastic = true, .min_threads = 3},
        {.discipline = (weft_discipline)99},
        {.discipline = WEFT_POOL_CUSTOM},
        {.discipline = WEFT_POOL_CUSTOM, .custom = &empty_queue},
        {.custom = &empty_queue},
        {.placement = (weft_placement)99},
        {.rejection = (weft_rejection)99},
        {.name = "twelve-bytes"},
        {.work_timeout = -1},
        {.timeout = -1},
        {.work_timeout_action = (weft_timeout_action)99},
        {.timeout_action = (weft_timeout_action)99},
        {.grace = -1},
        {.tick = -1},
        {.nice = 20},
        {.nice = -21},
        {.cpus = "no number"},
        {.cpus = ""},
        {.stack_size = (size_t)1 << 40},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        weft_pool *pool = NULL;
        CHECK_EQ(weft_pool_new(&pool, &wrong[i]), -EINVAL);
        CHECK(pool == NULL);
    }
}

TEST(as_many_pools_run_as_there_may_be_runtimes) {
    static weft_pool *pools[POOLS_MAX];
    weft_pool *one_more = NULL;
    int count = IS_SANITIZED ? 4 : POOLS_MAX;
    for (int i = 0; i < count; i++)
        pools[i] = make_pool_of(1);
    if (count == POOLS_MAX)
        CHECK_EQ(weft_pool_new(&one_more, NULL), -EBUSY);
    CHECK(one_more == NULL);
    atomic_store(&runs, 0);
    for (int i = 0; i < count; i++)
        submit(pools[i], count_up, &runs);
    for (int i = 0; i < count; i++)
        end_pool(pools[i]);
    CHECK_EQ(atomic_load(&runs), count);
}

static void submit_a_batch(void) {
    static weft_work works[MANY];
    static void *args[MANY];
    weft_pool *pool = make_pool(NULL);
    size_t done = 0;
    atomic_store(&runs, 0);
    for (int i = 0; i < MANY; i++)
        args[i] = &runs;
    CHECK_EQ(weft_pool_submit_batch(pool, works, NULL, count_up, args, MANY, &done), 0);
    CHECK_EQ(done, MANY);
    for (int i = 1; i < MANY; i++)
        CHECK(works[i].bits != 0 && works[i].bits != works[i - 1].bits);
    CHECK_EQ(weft_pool_hold(pool), 0); /* one generation: the results stay */
    weft_work_options options = {.priority = 3, .store_result = true};
    CHECK_EQ(weft_pool_submit_batch(pool, works, &options, count_up, args, 10, NULL), 0);
    CHECK_EQ(weft_pool_submit_batch(pool, NULL, NULL, count_up, args, 10, NULL), 0);
    CHECK_EQ(weft_pool_submit_batch(pool, NULL, NULL, count_up, NULL, 0, &done), 0);
    CHECK_EQ(done, 0);
    CHECK_EQ(weft_pool_wait_works(pool, works, 10, NULL, WEFT_NEVER), 0);
    CHECK_EQ(weft_pool_release(pool), 0);
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    CHECK_EQ(atomic_load(&runs), MANY + 20);
    end_pool(pool);
}

TEST(a_batch_runs_every_work_once) {
    everywhere(submit_a_batch);
}

TEST(a_batch_has_neither_id_nor_promise) {
    weft_pool *pool = make_pool(NULL);
    weft_promise *promise;
    void *args[2] = {&runs, &runs};
    size_t done = 5;
    weft_work_options with_id = {.id = {.number = 4}}, with_promise = {.promise = &promise};
    CHECK_EQ(weft_pool_submit_batch(pool, NULL, &with_id, count_up, args, 2, &done), -EINVAL);
    CHECK_EQ(weft_pool_submit_batch(pool, NULL, &with_promise, count_up, args, 2, &done), -EINVAL);
    CHECK_EQ(done, 0);
    end_pool(pool);
}

TEST(a_batch_that_finds_no_room_says_how_far_it_came) {
    weft_pool *pool = make_pool(&(weft_pool_options){.threads = 1, .max_queued = 3});
    weft_work works[5] = {{0}, {0}, {0}, {0}, {0}};
    void *args[5] = {&runs, &runs, &runs, &runs, &runs};
    size_t done = 0;
    atomic_store(&runs, 0);
    occupy(pool, 1);
    CHECK_EQ(weft_pool_submit_batch(pool, works, NULL, count_up, args, 5, &done), -EAGAIN);
    CHECK_EQ(done, 3);
    CHECK(works[2].bits != 0);
    CHECK_EQ(works[3].bits, 0);
    let_go();
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    CHECK_EQ(atomic_load(&runs), 3);
    end_pool(pool);
}

static int submit_two_below(void *arg) {
    intptr_t depth = (intptr_t)arg;
    atomic_fetch_add(&runs, 1);
    for (int i = 0; i < 2 && depth > 0; i++)
        CHECK_EQ(weft_pool_submit(weft_work_pool(), NULL, submit_two_below, (void *)(depth - 1)), 0);
    return 0;
}

TEST(works_submit_works) {
    weft_pool *pool = make_pool(NULL);
    atomic_store(&runs, 0);
    submit(pool, submit_two_below, (void *)10);
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    CHECK_EQ(atomic_load(&runs), 2047);
    end_pool(pool);
}

struct tiny {
    atomic_int runs;
};
static struct tiny *tiny_works;
static long tiny_each;

static int run_tiny(void *arg) {
    struct tiny *tiny = arg;
    atomic_fetch_add_explicit(&tiny->runs, 1, memory_order_relaxed);
    return 0;
}

static void *submit_tiny(void *arg) {
    struct tiny *first = tiny_works + (intptr_t)arg * tiny_each;
    for (long i = 0; i < tiny_each; i++)
        CHECK_EQ(weft_pool_submit(the_pool, NULL, run_tiny, first + i), 0);
    return NULL;
}

static void check_tiny(void) {
    CHECK_EQ(weft_pool_wait(the_pool, WEFT_NEVER), 0);
    check_nothing_left(the_pool);
    for (long i = 0; i < SUBMITTERS * tiny_each; i++)
        CHECK_EQ(atomic_load(&tiny_works[i].runs), 1);
    CHECK_EQ(pool_stats(the_pool).succeeded, SUBMITTERS * tiny_each);
    free(tiny_works);
    end_pool(the_pool);
}

static void make_tiny(unsigned threads) {
    tiny_each = scaled(12500, 200);
    tiny_works = calloc(SUBMITTERS * (size_t)tiny_each, sizeof *tiny_works);
    CHECK(tiny_works != NULL);
    the_pool = make_pool_of(threads);
}

/* Scenario 3. */
TEST(eight_threads_that_submit_tiny_works_lose_none) {
    pthread_t threads[SUBMITTERS];
    make_tiny(4);
    for (intptr_t i = 0; i < SUBMITTERS; i++)
        threads[i] = thread_start(submit_tiny, (void *)i);
    for (int i = 0; i < SUBMITTERS; i++)
        thread_join(threads[i]);
    check_tiny();
}

static void submit_from_fibers(void) {
    weft_fiber fibers[SUBMITTERS];
    for (intptr_t i = 0; i < SUBMITTERS; i++)
        SPAWN(&fibers[i], submit_tiny, (void *)i);
    for (int i = 0; i < SUBMITTERS; i++)
        JOIN(fibers[i], NULL);
    check_tiny();
}

TEST(eight_fibers_that_submit_tiny_works_to_33_threads_lose_none) {
    make_tiny(33);
    run_fibers(submit_from_fibers);
}

/* ---- Names ---- */

TEST(no_later_work_gets_the_name_of_an_earlier_one) {
    weft_pool *pool = make_pool(NULL);
    weft_work first = submit(pool, count_up, &runs);
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    for (int i = 0; i < MANY; i++) {
        weft_work work = submit(pool, count_up, &runs);
        CHECK(work.bits != first.bits);
        CHECK_EQ(weft_pool_poll_work(pool, first, NULL), -ESTALE);
        CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    }
    end_pool(pool);
}

static int look_at_self(void *arg) {
    weft_work *self = arg;
    *self = weft_work_self();
    CHECK(weft_work_pool() == the_pool);
    CHECK_EQ(weft_work_attempt(), 1);
    CHECK(!weft_work_is_stopping());
    CHECK(!weft_work_stop_point(NULL, NULL));
    CHECK_EQ(weft_work_pause_point(), 0);
    return 0;
}

static void look_outside(void) {
    CHECK_EQ(weft_work_self().bits, 0);
    CHECK(weft_work_pool() == NULL);
    CHECK_EQ(weft_work_attempt(), 0);
    CHECK(!weft_work_is_stopping());
    CHECK(!weft_work_stop_point(NULL, NULL));
    CHECK_EQ(weft_work_pause_point(), -EPERM);
    CHECK_EQ(weft_work_set_value(&runs), -EPERM);
}

TEST(a_work_knows_itself_and_nobody_else_is_one) {
    the_pool = make_pool(NULL);
    const weft_work_options kinds[] = {
        {.priority = 0}, {.on_thread_stack = true}, {.long_running = true}, {.priority = 2}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        weft_work self = WEFT_NO_WORK;
        weft_work work = submit_with(the_pool, &kinds[i], look_at_self, &self);
        CHECK_EQ(weft_pool_wait(the_pool, WEFT_NEVER), 0);
        CHECK_EQ(self.bits, work.bits);
    }
    look_outside();
    run_fibers(look_outside);
    end_pool(the_pool);
}

TEST(an_id_is_taken_until_its_work_is_over) {
    weft_pool *pool = make_pool_of(1);
    weft_work found = WEFT_NO_WORK;
    weft_work_options by_text = {.id = {.text = "1"}}, by_number = {.id = {.number = 1}};
    occupy(pool, 1);
    weft_work first = submit_with(pool, &by_text, count_up, &runs);
    weft_work second = submit_with(pool, &by_number, count_up, &runs); /* another id */
    CHECK_EQ(weft_pool_submit_with(pool, NULL, &by_text, count_up, &runs), -EEXIST);
    CHECK_EQ(weft_pool_submit_with(pool, NULL, &by_number, count_up, &runs), -EEXIST);
    CHECK_EQ(weft_pool_find(pool, by_text.id, &found), 0);
    CHECK_EQ(found.bits, first.bits);
    CHECK_EQ(weft_pool_find(pool, by_number.id, &found), 0);
    CHECK_EQ(found.bits, second.bits);
    CHECK_EQ(weft_pool_find(pool, (weft_work_id){.text = "2"}, &found), -ENOENT);
    CHECK_EQ(pool_stats(pool).submitted, 3);
    let_go();
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    CHECK_EQ(weft_pool_find(pool, by_text.id, &found), -ENOENT);
    submit_with(pool, &by_text, count_up, &runs);
    end_pool(pool);
}

TEST(the_id_of_a_cancelled_work_is_free_at_once) {
    weft_pool *pool = make_pool_of(1);
    weft_work_options options = {.id = {.text = "job"}};
    occupy(pool, 1);
    weft_work first = submit_with(pool, &options, count_up, &runs);
    CHECK_EQ(weft_pool_control(pool, WEFT_CANCEL, first), 0);
    weft_work second = submit_with(pool, &options, count_up, &runs);
    CHECK(second.bits != first.bits);
    let_go();
    end_pool(pool);
}

/* ---- Waiting for the pool ---- */

static void wait_for_nothing(void) {
    weft_pool *pool = make_pool(NULL);
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    CHECK_EQ(weft_pool_wait(pool, WEFT_NOW), 0);
    CHECK_EQ(weft_pool_wait(NULL, WEFT_NOW), -EINVAL);
    occupy(pool, 1);
    CHECK_EQ(weft_pool_wait(pool, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_pool_wait(pool, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    let_go();
    end_pool(pool);
}

TEST(waiting_for_an_idle_pool_returns_at_once_and_for_a_busy_one_until_the_deadline) {
    everywhere(wait_for_nothing);
}

static int wait_for_own_pool(void *arg) {
    (void)arg;
    CHECK_EQ(weft_pool_wait(weft_work_pool(), WEFT_NEVER), -EPERM);
    CHECK_EQ(weft_pool_help(weft_work_pool(), WEFT_NEVER), -EPERM);
    CHECK_EQ(weft_pool_wait_work(weft_work_pool(), weft_work_self(), NULL, WEFT_NEVER), -EDEADLK);
    CHECK_EQ(weft_pool_dispose(weft_work_pool()), -EDEADLK);
    return 0;
}

TEST(a_work_cannot_wait_for_itself_or_its_whole_pool) {
    weft_pool *pool = make_pool(NULL);
    weft_work_options stores = {.store_result = true};
    CHECK_EQ(result_of(pool, submit_with(pool, &stores, wait_for_own_pool, NULL)).status, WEFT_WORK_SUCCEEDED);
    stores.on_thread_stack = true;
    CHECK_EQ(result_of(pool, submit_with(pool, &stores, wait_for_own_pool, NULL)).status, WEFT_WORK_SUCCEEDED);
    end_pool(pool);
}

static int wait_for_pool(void *arg) {
    return weft_pool_wait(arg, WEFT_NEVER);
}

static void cancel_who_waits(void) {
    weft_pool *pool = make_pool_of(1);
    occupy(pool, 1);
    CHECK_EQ(status_when_cancelled(wait_for_pool, pool), -ECANCELED);
    let_go();
    end_pool(pool);
}

TEST(a_cancelled_fiber_does_not_wait_for_a_pool) {
    run_fibers(cancel_who_waits);
}

TEST(a_work_waits_for_another_pool) {
    weft_pool *first = make_pool_of(1), *second = make_pool_of(1);
    occupy(second, 1);
    weft_work work = submit_with(first, &(weft_work_options){.store_result = true}, wait_for_pool, second);
    submit(first, count_up, &runs); /* whose thread is not held by that */
    CHECK_EQ(weft_pool_poll_work(first, work, NULL), -EAGAIN);
    let_go();
    CHECK_EQ(result_of(first, work).status, WEFT_WORK_SUCCEEDED);
    end_pool(first);
    end_pool(second);
}

TEST(waiting_for_what_nobody_will_submit_is_a_deadlock) {
    weft_pool *pool = make_pool(NULL);
    weft_work_id never = {.text = "never"};
    weft_work_options options = {.after_ids = &never, .after_id_count = 1};
    weft_work work = submit_with(pool, &options, count_up, &runs);
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), -EDEADLK);
    CHECK_EQ(pool_stats(pool).held, 1);
    CHECK_EQ(weft_pool_control(pool, WEFT_CANCEL, work), 0);
    end_pool(pool);
}

static atomic_int idled;

static int submit_when_idle(const weft_pool_event *event, void *arg) {
    (void)arg;
    if (event->kind == WEFT_POOL_IDLED && atomic_fetch_add(&idled, 1) == 0)
        submit(event->pool, count_up, &runs);
    return 0;
}

TEST(what_is_submitted_when_the_pool_becomes_idle_belongs_to_the_next_generation) {
    weft_pool *pool = make_pool(&(weft_pool_options){.handler = submit_when_idle});
    atomic_store(&idled, 0);
    atomic_store(&runs, 0);
    submit(pool, count_up, &runs);
    WAIT_UNTIL(atomic_load(&idled) == 2);
    CHECK_EQ(atomic_load(&runs), 2);
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    CHECK_EQ(pool_stats(pool).generation, 2);
    end_pool(pool);
}

static int count_idle(const weft_pool_event *event, void *arg) {
    (void)arg;
    atomic_fetch_add(&idled, event->kind == WEFT_POOL_IDLED);
    return 0;
}

TEST(a_pool_that_is_held_becomes_idle_once_after_three_bursts) {
    weft_pool *pool = make_pool(&(weft_pool_options){.handler = count_idle, .events = 1u << WEFT_POOL_IDLED});
    atomic_store(&idled, 0);
    atomic_store(&runs, 0);
    CHECK_EQ(weft_pool_release(pool), -EINVAL);
    CHECK_EQ(weft_pool_hold(pool), 0);
    CHECK_EQ(weft_pool_hold(pool), 0);
    for (int burst = 1; burst <= 3; burst++) {
        for (int i = 0; i < 10; i++)
            submit(pool, count_up, &runs);
        WAIT_UNTIL(atomic_load(&runs) == 10 * burst);
        CHECK_EQ(weft_pool_wait(pool, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    }
    CHECK(!pool_stats(pool).is_idle);
    CHECK_EQ(weft_pool_release(pool), 0);
    CHECK_EQ(weft_pool_wait(pool, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_pool_release(pool), 0);
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    CHECK_EQ(atomic_load(&idled), 1);
    CHECK_EQ(weft_pool_release(pool), -EINVAL);
    CHECK_EQ(weft_pool_hold(NULL), -EINVAL);
    CHECK_EQ(weft_pool_release(NULL), -EINVAL);
    end_pool(pool);
}

/* ---- Held back ---- */

static void hold_back(void) {
    weft_pool *pool = make_pool(&(weft_pool_options){.suspended = true});
    weft_work works[4];
    atomic_store(&runs, 0);
    for (int i = 0; i < 4; i++)
        works[i] = submit_with(pool, &(weft_work_options){.store_result = true}, count_up, &runs);
    weft_pool_stats stats = pool_stats(pool);
    CHECK(stats.is_suspended);
    CHECK_EQ(stats.held, 4);
    CHECK_EQ(stats.running + stats.queued, 0);
    CHECK_EQ(weft_pool_poll_work(pool, works[0], NULL), -EAGAIN);
    CHECK_EQ(weft_pool_wait_work(pool, works[0], NULL, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_pool_control(pool, WEFT_CANCEL, works[1]), 0);
    CHECK_EQ(result_of(pool, works[1]).status, WEFT_WORK_CANCELLED);
    CHECK_EQ(atomic_load(&runs), 0);
    CHECK_EQ(weft_pool_start(pool), 0);
    CHECK_EQ(weft_pool_start(pool), -EALREADY);
    CHECK_EQ(weft_pool_wait_works(pool, works, 1, NULL, WEFT_NEVER), 0);
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    CHECK_EQ(atomic_load(&runs), 3);
    CHECK(!pool_stats(pool).is_suspended);
    submit(pool, count_up, &runs);
    end_pool(pool);
    CHECK_EQ(atomic_load(&runs), 4);
}

TEST(a_suspended_pool_holds_works_until_it_is_started) {
    everywhere(hold_back);
    weft_pool *pool = make_pool(NULL);
    CHECK_EQ(weft_pool_start(pool), -EALREADY);
    CHECK_EQ(weft_pool_start(NULL), -EINVAL);
    CHECK_EQ(weft_pool_dispose(pool), 0);
    CHECK_EQ(weft_pool_start(pool), -ESHUTDOWN);
    weft_pool_free(pool);
}

TEST(a_suspended_pool_holds_what_comes_after_others_too) {
    weft_pool *pool = make_pool(&(weft_pool_options){.suspended = true});
    atomic_store(&runs, 0);
    weft_work first = submit(pool, count_up, &runs);
    submit_with(pool, &(weft_work_options){.after = &first, .after_count = 1}, count_up, &runs);
    CHECK_EQ(pool_stats(pool).held, 2);
    CHECK_EQ(weft_pool_start(pool), 0);
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    CHECK_EQ(atomic_load(&runs), 2);
    end_pool(pool);
}

TEST(a_suspended_pool_that_is_freed_runs_nothing) {
    weft_pool *pool = make_pool(&(weft_pool_options){.suspended = true});
    atomic_store(&runs, 0);
    for (int i = 0; i < 10; i++)
        submit(pool, count_up, &runs);
    weft_pool_free(pool);
    CHECK_EQ(atomic_load(&runs), 0);
}

static int submit_while_draining(void *arg) {
    WAIT_UNTIL(atomic_load((atomic_int *)arg));
    return weft_pool_submit(weft_work_pool(), NULL, count_up, &runs);
}

static void *drain(void *arg) {
    return (void *)(intptr_t)weft_pool_drain(arg, WEFT_NEVER);
}

TEST(a_pool_that_is_drained_takes_works_from_its_own_works_only) {
    weft_pool *pool = make_pool(NULL);
    atomic_int is_draining = 0;
    void *drained;
    atomic_store(&runs, 0);
    submit(pool, submit_while_draining, &is_draining);
    CHECK_EQ(weft_pool_drain(pool, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_pool_submit(pool, NULL, count_up, &runs), -ESHUTDOWN);
    CHECK_EQ(weft_pool_submit_with(pool, NULL, &(weft_work_options){.priority = 1}, count_up, &runs), -ESHUTDOWN);
    pthread_t thread = thread_start(drain, pool);
    atomic_store(&is_draining, 1);
    CHECK_EQ(pthread_join(thread, &drained), 0);
    CHECK_EQ((intptr_t)drained, 0);
    CHECK_EQ(atomic_load(&runs), 1);
    CHECK_EQ(weft_pool_submit(pool, NULL, count_up, &runs), -ESHUTDOWN);
    CHECK_EQ(weft_pool_drain(NULL, WEFT_NOW), -EINVAL);
    end_pool(pool);
}
