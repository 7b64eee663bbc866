/* SPDX-License-Identifier: MIT
 *
 * spec/pool_group_test.c - groups of works, as programs see them.
 *
 * Numbers in names are those of the scenarios that the pool was specified by.
 */
#include "support/run.h"
#include "weft/pool.h"

static weft_pool *pool;
static atomic_int runs, stops, passes;

static void pool_begin(weft_pool_options options) {
    options.threads = options.threads ? options.threads : wf_test_workers();
    options.grace = PATIENCE_NS; /* nobody is given up for being slow */
    options.store_results = true;
    options.keep_results = true;
    atomic_store(&runs, 0);
    atomic_store(&stops, 0);
    atomic_store(&passes, 0);
    CHECK_EQ(weft_pool_new(&pool, &options), 0);
}

static void pool_end(void) {
    weft_pool_free(pool);
}

static void wait_idle(void) {
    CHECK_EQ(weft_pool_wait(pool, weft_after(PATIENCE_NS)), 0);
}

static weft_group *group_new(const char *name) {
    weft_group *group = NULL;
    CHECK_EQ(weft_group_new(&group, pool, name), 0);
    return group;
}

static weft_work submit_with(weft_work_options options, weft_work_fn fn, void *arg) {
    weft_work work = WEFT_NO_WORK;
    CHECK_EQ(weft_pool_submit_with(pool, &work, &options, fn, arg), 0);
    return work;
}

static weft_work submit(weft_group *group, weft_work_fn fn, void *arg) {
    return submit_with((weft_work_options){.group = group}, fn, arg);
}

static weft_work_status status_of(weft_work work) {
    weft_result result;
    CHECK_EQ(weft_pool_wait_work(pool, work, &result, weft_after(PATIENCE_NS)), 0);
    return result.status;
}

static void wait_group(weft_group *group) {
    CHECK_EQ(weft_group_wait(group, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(weft_group_works(group, NULL, 0), 0);
}

static int count_run(void *arg) {
    (void)arg;
    atomic_fetch_add(&runs, 1);
    return 0;
}

/* A work that ends when the test says so. */
struct latch {
    weft_semaphore begun;
    weft_semaphore go;
};
#define LATCH \
    { WEFT_SEMAPHORE_INIT(0), WEFT_SEMAPHORE_INIT(0) }

static int wait_at_latch(void *opaque) {
    struct latch *latch = opaque;
    weft_semaphore_release(&latch->begun, 1);
    int error = weft_semaphore_acquire(&latch->go, 1, WEFT_NEVER);
    atomic_fetch_add(&runs, !error);
    return error;
}

static void latch_begun(struct latch *latch, int count) {
    CHECK_EQ(weft_semaphore_acquire(&latch->begun, count, weft_after(PATIENCE_NS)), 0);
}

static int run_until_stopped(void *opaque) {
    struct latch *latch = opaque;
    weft_semaphore_release(&latch->begun, 1);
    while (!weft_work_stop_point(NULL, NULL))
        weft_sleep(weft_after(100 * WEFT_MICROSECOND));
    atomic_fetch_add(&stops, 1);
    return 0;
}

/* ---- The scenarios ---- */

TEST(scenario_29_stopping_a_group_stops_what_is_below_it_and_nothing_above) {
    pool_begin((weft_pool_options){0});
    struct latch latch = LATCH;
    weft_group *parent = group_new("P"), *child = group_new("C");
    CHECK_EQ(weft_group_join(parent, child), 0);
    weft_work in_parent = submit(parent, run_until_stopped, &latch),
              in_child = submit(child, run_until_stopped, &latch);
    latch_begun(&latch, 2);
    CHECK_EQ(weft_group_control(child, WEFT_STOP), 0);
    wait_group(child);
    CHECK_EQ(status_of(in_child), WEFT_WORK_STOPPED);
    CHECK_EQ(weft_pool_poll_work(pool, in_parent, NULL), -EAGAIN);
    CHECK_EQ(weft_group_works(parent, NULL, 0), 1);

    in_child = submit(child, run_until_stopped, &latch); /* stopping was for those that were there */
    latch_begun(&latch, 1);
    CHECK_EQ(weft_group_control(parent, WEFT_STOP), 0);
    wait_group(parent);
    CHECK_EQ(status_of(in_parent), WEFT_WORK_STOPPED);
    CHECK_EQ(status_of(in_child), WEFT_WORK_STOPPED);
    CHECK_EQ(atomic_load(&stops), 3);
    wait_idle();
    weft_group_free(child);
    weft_group_free(parent);
    pool_end();
}

TEST(scenario_30_a_group_cannot_be_above_itself) {
    pool_begin((weft_pool_options){0});
    weft_group *a = group_new("A"), *b = group_new("B"), *c = group_new(NULL);
    CHECK_EQ(weft_group_join(a, b), 0);
    CHECK_EQ(weft_group_join(a, b), -EEXIST);
    CHECK_EQ(weft_group_join(b, a), -ELOOP);
    CHECK_EQ(weft_group_join(a, a), -ELOOP);
    CHECK_EQ(weft_group_join(b, c), 0);
    CHECK_EQ(weft_group_join(c, a), -ELOOP);
    CHECK_EQ(weft_group_part(b, c), 0);
    CHECK_EQ(weft_group_join(c, a), 0);
    submit(b, count_run, NULL);
    wait_group(c);
    CHECK_EQ(atomic_load(&runs), 1);
    wait_idle();
    weft_group_free(a);
    weft_group_free(b);
    weft_group_free(c);
    pool_end();
}

/* ---- Names and members ---- */

TEST(a_group_is_found_by_its_name) {
    pool_begin((weft_pool_options){0});
    weft_group *found = NULL, *group = group_new("render"), *unnamed = group_new(NULL);
    CHECK_EQ(weft_group_find(pool, "render", &found), 0);
    CHECK(found == group);
    CHECK_EQ(weft_group_new(&found, pool, "render"), -EEXIST);
    CHECK_EQ(weft_group_find(pool, "other", &found), -ENOENT);
    weft_group_free(group);
    CHECK_EQ(weft_group_find(pool, "render", &found), -ENOENT);
    weft_group_free(unnamed);
    weft_group_free(NULL);
    pool_end();
}

TEST(works_come_into_groups_and_leave_them) {
    pool_begin((weft_pool_options){0});
    struct latch latch = LATCH;
    weft_group *first = group_new(NULL), *second = group_new(NULL);
    weft_work a = submit(first, wait_at_latch, &latch), b = submit(NULL, wait_at_latch, &latch), listed[2];
    CHECK_EQ(weft_group_add(first, a), -EEXIST);
    CHECK_EQ(weft_group_add(second, a), 0); /* in both */
    CHECK_EQ(weft_group_add(second, b), 0);
    CHECK_EQ(weft_group_works(first, listed, 2), 1);
    CHECK_EQ(listed[0].bits, a.bits);
    CHECK_EQ(weft_group_works(second, listed, 2), 2);
    CHECK_EQ(weft_group_remove(first, b), -ENOENT);
    CHECK_EQ(weft_group_remove(first, a), 0);
    CHECK_EQ(weft_group_wait(first, WEFT_NOW), 0);
    CHECK_EQ(weft_group_wait(second, WEFT_NOW), -ETIMEDOUT);
    weft_semaphore_release(&latch.go, 2);
    wait_group(second);
    CHECK_EQ(atomic_load(&runs), 2);
    CHECK_EQ(weft_group_add(first, a), -ESTALE); /* over, though its result is stored */
    CHECK_EQ(weft_group_remove(second, a), -ESTALE);
    wait_idle();
    weft_group_free(first);
    weft_group_free(second);
    pool_end();
}

TEST(a_group_of_another_pool_is_refused) {
    weft_pool *other;
    weft_group *foreign;
    pool_begin((weft_pool_options){0});
    weft_group *group = group_new(NULL);
    CHECK_EQ(weft_pool_new(&other, &(weft_pool_options){.threads = 1}), 0);
    CHECK_EQ(weft_group_new(&foreign, other, "g"), 0);
    weft_work_options options = {.group = foreign};
    CHECK_EQ(weft_pool_submit_with(pool, NULL, &options, count_run, NULL), -ESTALE);
    CHECK_EQ(weft_group_join(group, foreign), -ESTALE);
    CHECK_EQ(weft_group_part(group, foreign), -ESTALE);
    CHECK_EQ(weft_group_find(pool, "g", &foreign), -ENOENT);
    CHECK_EQ(weft_group_find(other, "g", &foreign), 0);
    wait_idle();
    CHECK_EQ(atomic_load(&runs), 0);
    weft_group_free(foreign);
    weft_group_free(group);
    weft_pool_free(other);
    pool_end();
}

TEST(a_batch_goes_into_a_group) {
    enum { COUNT = 300 };
    pool_begin((weft_pool_options){0});
    weft_group *group = group_new(NULL);
    void *args[COUNT] = {NULL};
    weft_work_options options = {.group = group};
    size_t done = 0;
    CHECK_EQ(weft_pool_submit_batch(pool, NULL, &options, count_run, args, COUNT, &done), 0);
    CHECK_EQ(done, COUNT);
    wait_group(group);
    CHECK_EQ(atomic_load(&runs), COUNT);
    wait_idle();
    weft_group_free(group);
    pool_end();
}

TEST(works_go_on_when_their_group_is_freed) {
    pool_begin((weft_pool_options){0});
    struct latch latch = LATCH;
    weft_group *group = group_new("g"), *above = group_new(NULL);
    CHECK_EQ(weft_group_join(above, group), 0);
    weft_work work = submit(group, wait_at_latch, &latch);
    CHECK_EQ(weft_group_wait(above, WEFT_NOW), -ETIMEDOUT);
    weft_group_free(group);
    CHECK_EQ(weft_group_wait(above, WEFT_NOW), 0); /* nothing is below it any more */
    weft_semaphore_release(&latch.go, 1);
    CHECK_EQ(status_of(work), WEFT_WORK_SUCCEEDED);
    wait_idle();
    weft_group_free(above);
    pool_end();
}

/* ---- Waiting ---- */

struct group_waiter {
    weft_group *group;
    atomic_int status; /* 1: not yet */
};

static void *wait_on_thread(void *opaque) {
    struct group_waiter *waiter = opaque;
    atomic_store(&waiter->status, weft_group_wait(waiter->group, WEFT_NEVER));
    return NULL;
}

static int wait_in_work(void *opaque) {
    wait_on_thread(opaque);
    return 0;
}

static void wait_on_fiber_body(void) {
    struct latch latch = LATCH;
    struct group_waiter waiter = {.group = group_new(NULL), .status = 1};
    submit(waiter.group, wait_at_latch, &latch);
    weft_fiber fiber;
    SPAWN(&fiber, wait_on_thread, &waiter);
    CHECK_EQ(weft_group_wait(waiter.group, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    CHECK_EQ(atomic_load(&waiter.status), 1);
    weft_semaphore_release(&latch.go, 1);
    JOIN(fiber, NULL);
    CHECK_EQ(atomic_load(&waiter.status), 0);
    weft_group_free(waiter.group);
}

TEST(a_fiber_of_another_runtime_waits_for_a_group) {
    pool_begin((weft_pool_options){0});
    run_fibers(wait_on_fiber_body);
    wait_idle();
    pool_end();
}

static int wait_cancelled(weft_scope *scope, void *opaque) {
    struct group_waiter *waiter = opaque;
    CHECK_EQ(weft_scope_cancel(scope, 0, NULL), 0);
    CHECK_EQ(weft_group_wait(waiter->group, WEFT_NEVER), -ECANCELED);
    return 0;
}

static void cancelled_body(void) {
    struct latch latch = LATCH;
    struct group_waiter waiter = {.group = group_new(NULL)};
    submit(waiter.group, wait_at_latch, &latch);
    CHECK_EQ(weft_scope_run(NULL, wait_cancelled, &waiter), -ECANCELED);
    weft_semaphore_release(&latch.go, 1);
    wait_group(waiter.group);
    weft_group_free(waiter.group);
}

TEST(waiting_for_a_group_can_be_cancelled) {
    pool_begin((weft_pool_options){0});
    run_fibers(cancelled_body);
    wait_idle();
    pool_end();
}

/* One that is not in the group may wait: it parks, and its thread runs the others. */
TEST(a_work_waits_for_a_group_that_it_is_not_in) {
    pool_begin((weft_pool_options){.threads = 1});
    struct latch latch = LATCH;
    struct group_waiter waiter = {.group = group_new(NULL), .status = 1};
    submit(waiter.group, wait_at_latch, &latch);
    weft_work work = submit(NULL, wait_in_work, &waiter);
    latch_begun(&latch, 1);
    weft_semaphore_release(&latch.go, 1);
    CHECK_EQ(status_of(work), WEFT_WORK_SUCCEEDED);
    CHECK_EQ(atomic_load(&waiter.status), 0);
    wait_idle();
    weft_group_free(waiter.group);
    pool_end();
}

TEST(a_work_cannot_wait_for_a_group_that_it_is_in) {
    pool_begin((weft_pool_options){0});
    struct group_waiter waiter = {.group = group_new(NULL), .status = 1};
    weft_group *below = group_new(NULL);
    CHECK_EQ(weft_group_join(waiter.group, below), 0);
    CHECK_EQ(status_of(submit(waiter.group, wait_in_work, &waiter)), WEFT_WORK_SUCCEEDED);
    CHECK_EQ(atomic_load(&waiter.status), -EPERM);
    CHECK_EQ(status_of(submit(below, wait_in_work, &waiter)), WEFT_WORK_SUCCEEDED);
    CHECK_EQ(atomic_load(&waiter.status), -EPERM);
    wait_idle();
    weft_group_free(below);
    weft_group_free(waiter.group);
    pool_end();
}

TEST(a_group_that_waits_for_what_was_never_submitted_is_a_deadlock) {
    pool_begin((weft_pool_options){0});
    weft_group *group = group_new(NULL);
    weft_work_id never = {.text = "never"};
    weft_work held =
        submit_with((weft_work_options){.group = group, .after_ids = &never, .after_id_count = 1}, count_run, NULL);
    CHECK_EQ(weft_group_wait(group, WEFT_NEVER), -EDEADLK);
    struct latch latch = LATCH;
    struct group_waiter waiter = {.group = group, .status = 1};
    submit(NULL, wait_at_latch, &latch);
    pthread_t thread = thread_start(wait_on_thread, &waiter);
    latch_begun(&latch, 1);
    weft_semaphore_release(&latch.go, 1); /* when that one has ended nothing can go on */
    thread_join(thread);
    CHECK_EQ(atomic_load(&waiter.status), -EDEADLK);
    submit_with((weft_work_options){.id = never}, count_run, NULL);
    wait_group(group);
    CHECK_EQ(status_of(held), WEFT_WORK_SUCCEEDED);
    wait_idle();
    weft_group_free(group);
    pool_end();
}

/* A callback comes before anybody who waits is told, also for groups. */
static int call_before(const weft_result *result, void *arg) {
    (void)arg;
    atomic_fetch_add(&passes, result->status == WEFT_WORK_SUCCEEDED);
    return 0;
}

TEST(callbacks_come_before_the_end_of_the_group) {
    pool_begin((weft_pool_options){.callback = call_before});
    for (int round = 0; round < 200; round++) {
        weft_group *group = group_new(NULL);
        submit(group, count_run, NULL);
        wait_group(group);
        CHECK_EQ(atomic_load(&passes), round + 1);
        weft_group_free(group);
    }
    wait_idle();
    pool_end();
}

/* ---- Control ---- */

TEST(cancelling_a_group_leaves_what_runs) {
    pool_begin((weft_pool_options){0});
    struct latch latch = LATCH;
    weft_group *group = group_new(NULL);
    weft_work running = submit(group, wait_at_latch, &latch);
    latch_begun(&latch, 1);
    weft_work_options options = {.group = group, .after = &running, .after_count = 1};
    weft_work held = submit_with(options, count_run, NULL), outside = submit(NULL, count_run, NULL);
    CHECK_EQ(weft_group_control(group, WEFT_CANCEL), 1); /* one could not be */
    CHECK_EQ(status_of(held), WEFT_WORK_CANCELLED);
    CHECK_EQ(status_of(outside), WEFT_WORK_SUCCEEDED);
    weft_semaphore_release(&latch.go, 1);
    wait_group(group);
    CHECK_EQ(status_of(running), WEFT_WORK_SUCCEEDED);
    wait_idle();
    CHECK_EQ(weft_group_control(group, WEFT_CANCEL), 0); /* nobody is left */
    weft_group_free(group);
    pool_end();
}

TEST(a_second_stop_of_a_group_could_not_be) {
    pool_begin((weft_pool_options){0});
    struct latch latch = LATCH;
    weft_group *group = group_new(NULL);
    weft_work work = submit(group, wait_at_latch, &latch);
    latch_begun(&latch, 1);
    CHECK_EQ(weft_group_control(group, WEFT_STOP), 0);
    CHECK_EQ(weft_group_control(group, WEFT_STOP), 1);
    CHECK_EQ(weft_group_control(group, WEFT_FORCE_STOP), 0);
    wait_group(group);
    CHECK_EQ(status_of(work), WEFT_WORK_FORCE_STOPPED);
    wait_idle();
    weft_group_free(group);
    pool_end();
}

static int pass_pause_points(void *opaque) {
    struct latch *latch = opaque;
    weft_semaphore_release(&latch->begun, 1);
    int error = weft_semaphore_acquire(&latch->go, 1, WEFT_NEVER);
    if (!error)
        error = weft_work_pause_point();
    atomic_fetch_add(&passes, !error);
    return error;
}

static int pass_at_once(void *arg) {
    (void)arg;
    int error = weft_work_pause_point();
    atomic_fetch_add(&passes, !error);
    return error;
}

TEST(works_wait_while_a_group_above_them_is_paused) {
    pool_begin((weft_pool_options){0});
    struct latch latch = LATCH;
    weft_group *top = group_new(NULL), *below = group_new(NULL);
    CHECK_EQ(weft_group_join(top, below), 0);
    submit(below, pass_pause_points, &latch);
    latch_begun(&latch, 1);
    CHECK_EQ(weft_group_control(top, WEFT_PAUSE), 0);
    weft_semaphore_release(&latch.go, 1);
    submit(below, pass_at_once, NULL); /* comes later, and waits too */
    CHECK_EQ(status_of(submit(NULL, pass_at_once, NULL)), WEFT_WORK_SUCCEEDED);
    CHECK_EQ(weft_group_wait(top, weft_after(20 * WEFT_MILLISECOND)), -ETIMEDOUT);
    CHECK_EQ(atomic_load(&passes), 1);
    CHECK_EQ(weft_group_control(top, WEFT_RESUME), 0);
    wait_group(top);
    CHECK_EQ(atomic_load(&passes), 3);
    wait_idle();
    weft_group_free(below);
    weft_group_free(top);
    pool_end();
}

static void end_pause_by_part(weft_group *top, weft_group *below) {
    CHECK_EQ(weft_group_part(top, below), 0);
}

static void end_pause_by_free(weft_group *top, weft_group *below) {
    (void)below;
    weft_group_free(top);
}

static void end_pause_by_remove(weft_group *top, weft_group *below) {
    weft_work works[1];
    (void)top;
    CHECK_EQ(weft_group_works(below, works, 1), 1);
    CHECK_EQ(weft_group_remove(below, works[0]), 0);
}

static void end_pause_by_resume(weft_group *top, weft_group *below) {
    (void)below;
    CHECK_EQ(weft_group_control(top, WEFT_RESUME), 0);
}

/* The pause ends, or what ties the work to the group that is paused. The work came later: it was not paused itself. */
TEST(works_that_are_not_below_a_paused_group_any_more_go_on) {
    static void (*const ways[])(weft_group *, weft_group *) = {end_pause_by_resume, end_pause_by_part,
                                                               end_pause_by_free, end_pause_by_remove};
    for (int i = 0; i < 4; i++) {
        pool_begin((weft_pool_options){0});
        weft_group *top = group_new(NULL), *below = group_new(NULL);
        CHECK_EQ(weft_group_join(top, below), 0);
        CHECK_EQ(weft_group_control(top, WEFT_PAUSE), 0);
        weft_work work = submit(below, pass_at_once, NULL);
        CHECK_EQ(weft_pool_wait_work(pool, work, NULL, weft_after(5 * WEFT_MILLISECOND)), -ETIMEDOUT);
        ways[i](top, below);
        CHECK_EQ(status_of(work), WEFT_WORK_SUCCEEDED);
        wait_idle();
        weft_group_free(below);
        if (ways[i] != end_pause_by_free)
            weft_group_free(top);
        pool_end();
    }
}

TEST(a_paused_group_can_be_stopped) {
    static const weft_control ways[] = {WEFT_STOP, WEFT_FORCE_STOP};
    for (int i = 0; i < 2; i++) {
        pool_begin((weft_pool_options){0});
        struct latch latch = LATCH;
        weft_group *group = group_new(NULL);
        submit(group, pass_pause_points, &latch);
        latch_begun(&latch, 1);
        CHECK_EQ(weft_group_control(group, WEFT_PAUSE), 0);
        weft_semaphore_release(&latch.go, 1);
        CHECK_EQ(weft_group_wait(group, weft_after(5 * WEFT_MILLISECOND)), -ETIMEDOUT);
        CHECK_EQ(weft_group_control(group, ways[i]), 0);
        wait_group(group);
        wait_idle();
        weft_group_free(group);
        pool_end();
    }
}

/* ---- Many ---- */

/* Groups are made, filled, waited for and freed by many threads while works end: whoever returns from a wait finds all done. */
static void *use_groups(void *opaque) {
    uint64_t random = (uint64_t)(uintptr_t)opaque | 1;
    for (long round = scaled(100, 10); round > 0; round--) {
        weft_group *groups[3];
        for (int i = 0; i < 3; i++)
            groups[i] = group_new(NULL);
        CHECK_EQ(weft_group_join(groups[0], groups[1]), 0);
        if (random_below(&random, 2))
            CHECK_EQ(weft_group_join(groups[0], groups[2]), 0);
        CHECK_EQ(weft_group_join(groups[1], groups[2]), 0);
        int count = (int)random_below(&random, 20);
        for (int i = 0; i < count; i++) {
            weft_work work = submit(groups[random_below(&random, 3)], count_run, NULL);
            weft_group_add(groups[random_below(&random, 3)], work); /* 0, -EEXIST or, when it is over, -ESTALE */
        }
        if (random_below(&random, 4) == 0)
            CHECK_GE(weft_group_control(groups[1], WEFT_CANCEL), 0);
        wait_group(groups[random_below(&random, 2)]);
        wait_group(groups[0]);
        for (int i = 0; i < 3; i++)
            weft_group_free(groups[i]);
    }
    return NULL;
}

TEST(many_threads_use_groups) {
    enum { USERS = 4 };
    pthread_t threads[USERS];
    uint64_t random = wf_test_seed();
    pool_begin((weft_pool_options){0});
    for (int i = 0; i < USERS; i++)
        threads[i] = thread_start(use_groups, (void *)(uintptr_t)(random + (uint64_t)i * 2));
    for (int i = 0; i < USERS; i++)
        thread_join(threads[i]);
    wait_idle();
    pool_end();
}

/* A wait for a group ends when the last work of it does, never before. */
enum { FAMILY = 60 };

static int run_slowly(void *opaque) {
    atomic_int *left = opaque;
    weft_yield();
    atomic_fetch_sub(left, 1);
    return 0;
}

TEST(a_wait_ends_after_the_last_work) {
    uint64_t random = wf_test_seed() | 1;
    pool_begin((weft_pool_options){0});
    for (long round = scaled(300, 20); round > 0; round--) {
        weft_group *groups[8];
        atomic_int left = FAMILY;
        for (int i = 0; i < 8; i++) {
            groups[i] = group_new(NULL);
            if (i > 0)
                CHECK_EQ(weft_group_join(groups[random_below(&random, (uint64_t)i)], groups[i]), 0);
        }
        for (int i = 0; i < FAMILY; i++)
            submit(groups[random_below(&random, 8)], run_slowly, &left);
        wait_group(groups[0]); /* all of the others are below it */
        CHECK_EQ(atomic_load(&left), 0);
        for (int i = 0; i < 8; i++)
            weft_group_free(groups[i]);
    }
    wait_idle();
    pool_end();
}
