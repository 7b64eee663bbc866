/* SPDX-License-Identifier: MIT
 *
 * spec/pool_limit_test.c - pools in which only so many works run at one time, those that wait among them.
 */
#include "spec/pool.h"
#include "weft/panic.h"

enum { MANY = 300, MOST = 3 };

static atomic_int inside, most, runs;
static weft_semaphore gate;

static void begin(void) {
    atomic_store(&inside, 0);
    atomic_store(&most, 0);
    atomic_store(&runs, 0);
    gate = (weft_semaphore)WEFT_SEMAPHORE_INIT(0);
}

static void come_in(void) {
    int now = atomic_fetch_add(&inside, 1) + 1;
    int before = atomic_load(&most);
    while (now > before && !atomic_compare_exchange_weak(&most, &before, now))
        continue;
    atomic_fetch_add(&runs, 1);
}

static void go_out(void) {
    atomic_fetch_sub(&inside, 1);
}

static int stay_a_while(void *arg) {
    come_in();
    for (int i = 0; i < 5; i++)
        weft_yield();
    weft_sleep(weft_after((int64_t)(intptr_t)arg % 3 * 10 * WEFT_MICROSECOND));
    go_out();
    return 0;
}

static void check_pool(weft_pool_options options) {
    begin();
    options.max_running = MOST;
    weft_pool *pool = make_pool(&options);
    long count = scaled(MANY, 30);
    for (intptr_t i = 0; i < count; i++)
        submit_with(pool, &(weft_work_options){.priority = (int)(i % 4) - 1}, stay_a_while, (void *)i);
    for (intptr_t i = 0; i < count; i++)
        submit(pool, stay_a_while, (void *)i);
    end_pool(pool);
    CHECK_EQ(atomic_load(&runs), 2 * count);
    CHECK_LE(atomic_load(&most), MOST);
    CHECK_EQ(atomic_load(&inside), 0);
}

TEST(works_that_wait_count_as_running) {
    check_pool((weft_pool_options){0});
    check_pool((weft_pool_options){.threads = 1});
    check_pool((weft_pool_options){.discipline = WEFT_POOL_LIFO});
    check_pool((weft_pool_options){.discipline = WEFT_POOL_DEQUE});
    check_pool((weft_pool_options){.elastic = true, .keep_alive = -1});
    check_pool((weft_pool_options){.max_queued = 20, .rejection = WEFT_REJECT_BLOCK});
    check_pool((weft_pool_options){.work_timeout = WEFT_SECOND * 1000, .store_results = true});
}

static int wait_at_gate(void *arg) {
    come_in();
    int error = weft_semaphore_acquire(&gate, 1, WEFT_NEVER);
    go_out();
    return error ? error : (int)(intptr_t)arg;
}

static int numbers[4];
static atomic_int next_number;

static int note(void *arg) {
    numbers[atomic_fetch_add(&next_number, 1)] = (int)(intptr_t)arg;
    return 0;
}

/* One waits, with a thread to spare: the others are queued, and come in order. */
TEST(what_is_queued_behind_a_work_that_waits_keeps_its_order) {
    begin();
    atomic_store(&next_number, 0);
    weft_pool *pool = make_pool(&(weft_pool_options){.threads = 2, .max_running = 1});
    submit(pool, wait_at_gate, NULL);
    WAIT_UNTIL(atomic_load(&inside) == 1);
    for (intptr_t i = 0; i < 4; i++)
        submit_with(pool, &(weft_work_options){.priority = (int)i}, note, (void *)i);
    CHECK_EQ(pool_stats(pool).queued, 4);
    CHECK_EQ(pool_stats(pool).running, 1);
    weft_semaphore_release(&gate, 1);
    end_pool(pool);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(numbers[i], 3 - i);
}

static int leave_by_panic(void *arg) {
    (void)arg;
    weft_yield();
    weft_panic("on purpose");
}

static int leave_by_exit(void *arg) {
    (void)arg;
    weft_yield();
    weft_exit(NULL);
}

static int leave_a_name(void *arg) {
    (void)arg;
    return weft_set_name("somebody");
}

static int fail(void *arg) {
    (void)arg;
    weft_yield();
    return -EIO;
}

/* In whatever way a work ends, or does not begin, the next one comes. */
TEST(every_end_of_a_work_lets_the_next_one_begin) {
    static const weft_work_fn ways[] = {leave_by_panic, leave_by_exit, leave_a_name, fail, stay_a_while};
    begin();
    weft_pool *pool = make_pool(&(weft_pool_options){.max_running = 1});
    weft_work_options requeue = {.retry = WEFT_RETRY_REQUEUE}, at_once = {.retry = WEFT_RETRY_IMMEDIATE};
    for (long i = 0; i < scaled(200, 20); i++) {
        weft_work_fn way = ways[i % 5];
        weft_work work = submit_with(pool, i % 3 == 0 ? &requeue : i % 3 == 1 ? &at_once : NULL, way, NULL);
        if (i % 7 == 0)
            (void)weft_pool_control(pool, WEFT_CANCEL, work);
    }
    end_pool(pool);
}

static int never_heed(void *arg) {
    come_in();
    COMPUTE_UNTIL(atomic_load((atomic_bool *)arg));
    go_out();
    return 0;
}

/* A work that is given up is over, though its function is not. */
TEST(a_work_that_is_given_up_does_not_count) {
    atomic_bool is_over = false;
    begin();
    weft_pool *pool = make_pool(&(weft_pool_options){.threads = 1, .max_running = 1, .grace = WEFT_MILLISECOND});
    weft_work work = submit(pool, never_heed, &is_over);
    WAIT_UNTIL(atomic_load(&inside) == 1);
    CHECK_EQ(weft_pool_control(pool, WEFT_FORCE_STOP, work), 0);
    submit(pool, stay_a_while, NULL);
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    CHECK_EQ(atomic_load(&runs), 2);
    atomic_store(&is_over, true);
    weft_pool_free(pool);
}

static int submit_more(void *arg) {
    intptr_t depth = (intptr_t)arg;
    come_in();
    for (int i = 0; i < 2 && depth > 0; i++)
        CHECK_EQ(weft_pool_submit(weft_work_pool(), NULL, submit_more, (void *)(depth - 1)), 0);
    weft_yield();
    go_out();
    return 0;
}

static void *help(void *pool) {
    CHECK_EQ(weft_pool_help(pool, WEFT_NEVER), 0);
    return NULL;
}

/* Plain threads that help are among those who run. */
TEST(helpers_and_submitting_works_keep_to_the_limit) {
    for (int discipline = WEFT_POOL_FIFO; discipline <= WEFT_POOL_DEQUE; discipline++) {
        pthread_t threads[4];
        begin();
        weft_pool *pool =
            make_pool(&(weft_pool_options){.max_running = MOST, .discipline = (weft_discipline)discipline});
        CHECK_EQ(weft_pool_hold(pool), 0);
        for (int i = 0; i < 4; i++)
            CHECK_EQ(pthread_create(&threads[i], NULL, help, pool), 0);
        submit(pool, submit_more, (void *)7);
        CHECK_EQ(weft_pool_release(pool), 0);
        for (int i = 0; i < 4; i++)
            CHECK_EQ(pthread_join(threads[i], NULL), 0);
        end_pool(pool);
        CHECK_EQ(atomic_load(&runs), 255);
        CHECK_LE(atomic_load(&most), MOST);
    }
}

/* Two works that need each other are too many for one place: the pool waits, and says so when asked. */
TEST(a_work_that_waits_for_one_that_cannot_begin_can_be_stopped) {
    begin();
    weft_pool *pool = make_pool(&(weft_pool_options){.threads = 2, .max_running = 1});
    weft_work first = submit(pool, wait_at_gate, NULL);
    WAIT_UNTIL(atomic_load(&inside) == 1);
    weft_work second = submit(pool, stay_a_while, NULL);
    CHECK_EQ(weft_pool_wait_work(pool, second, NULL, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    CHECK_EQ(weft_pool_control(pool, WEFT_FORCE_STOP, first), 0);
    end_pool(pool);
    CHECK_EQ(atomic_load(&runs), 2);
}
