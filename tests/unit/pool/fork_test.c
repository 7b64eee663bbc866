/* SPDX-License-Identifier: MIT
 *
 * Fork and join: every job exactly once and before its join returns, whichever fiber and thread it runs on; and the
 * interleavings of a join with the end of a stolen job, forced. What goes wrong is in job_test.c.
 */
#include "base/point.h"
#include "pool/pool.h"
#include "support/run.h"
#include "unit/pool/jobs.h"

/* ---- The word ---- */

TEST(job_machine_allows_what_the_table_says) {
    CHECK(wf_machine_allows(&wf_job_machine, WF_JOB_NONE, WF_JOB_OPEN));
    CHECK(wf_machine_allows(&wf_job_machine, WF_JOB_OPEN, WF_JOB_NONE));
    CHECK(!wf_machine_allows(&wf_job_machine, WF_JOB_NONE, WF_JOB_WAITED));
    CHECK(!wf_machine_allows(&wf_job_machine, WF_JOB_NONE, WF_JOB_DONE));
    CHECK(!wf_machine_allows(&wf_job_machine, WF_JOB_WAITED, WF_JOB_NONE)); /* the finisher is not through with it */
    CHECK(!wf_machine_allows(&wf_job_machine, WF_JOB_WAITED, WF_JOB_OPEN));
    CHECK(!wf_machine_allows(&wf_job_machine, WF_JOB_DONE, WF_JOB_WAITED));
    CHECK(!wf_machine_allows(&wf_job_machine, WF_JOB_DONE, WF_JOB_OPEN));
}

/* ---- Divide and conquer ---- */

struct fib {
    int n;
    int64_t value;
};

static void fib_forked(void *opaque) {
    struct fib *self = opaque;
    if (self->n < 2) {
        self->value = self->n;
        return;
    }
    struct fib left = {.n = self->n - 1}, right = {.n = self->n - 2};
    weft_job job;
    weft_fork(&job, fib_forked, &right);
    fib_forked(&left);
    weft_join_job(&job);
    self->value = left.value + right.value;
}

static void fib_paired(void *opaque) {
    struct fib *self = opaque;
    if (self->n < 2) {
        self->value = self->n;
        return;
    }
    struct fib left = {.n = self->n - 1}, right = {.n = self->n - 2};
    weft_fork_join(fib_forked, &left, fib_paired, &right);
    self->value = left.value + right.value;
}

static void fibs(void) {
    struct fib forked = {.n = (int)(IS_SANITIZED ? 15 : 22)}, paired = forked;
    int64_t a = 0, b = 1;
    for (int i = 0; i < forked.n; i++) {
        int64_t next = a + b;
        a = b;
        b = next;
    }
    fib_forked(&forked);
    CHECK_EQ(forked.value, a);
    fib_paired(&paired);
    CHECK_EQ(paired.value, a);
}

TEST(fork_and_join_compute_the_same_everywhere) {
    fibs(); /* a plain thread: every fork is a call */
    run_fibers(fibs);
    in_any_pool(fibs);
    in_pool(33, fibs);
}

TEST(jobs_may_be_joined_in_any_order) {
    many_at_once();
    in_any_pool(many_at_once);
    in_pool(33, many_at_once);
}

static _Atomic int64_t deepest;

static void go_deep(void *opaque) {
    intptr_t depth = (intptr_t)opaque;
    if (depth > 0)
        weft_fork_join(count_run, &runs[depth % JOBS], go_deep, (void *)(depth - 1));
    else
        atomic_fetch_add(&deepest, 1);
}

static void go_deep_first(void *opaque) {
    intptr_t depth = (intptr_t)opaque;
    if (depth > 0)
        weft_fork_join(go_deep_first, (void *)(depth - 1), count_run, &runs[depth % JOBS]);
    else
        atomic_fetch_add(&deepest, 1);
}

static void depths(void) {
    intptr_t depth = JOBS * (10000 / JOBS + 1);
    atomic_store(&deepest, 0);
    go_deep((void *)depth);
    check_runs((int)depth / JOBS);
    go_deep_first((void *)depth);
    check_runs((int)depth / JOBS);
    CHECK_EQ(atomic_load(&deepest), 2);
}

TEST(forks_nest_ten_thousand_deep) {
    stack_size = (size_t)(IS_SANITIZED ? 32 : 8) << 20;
    in_any_pool(depths);
    stack_size = 0;
}

/* ---- Fibers that are suspended between fork and join ---- */

static _Atomic uint64_t leaves;

struct grow {
    unsigned depth;
    uint64_t seed;
};

/* A random tree; suspends itself before, between and after. Counts its leaves. */
static void grow_tree(void *opaque) {
    struct grow *self = opaque;
    uint64_t state = self->seed;
    if (self->depth == 0) {
        atomic_fetch_add(&leaves, 1);
        return;
    }
    struct grow below[3];
    weft_job forked[3];
    for (int i = 0; i < 3; i++) {
        below[i] = (struct grow){self->depth - 1, random_next(&state) | 1};
        weft_fork(&forked[i], grow_tree, &below[i]);
        if (random_below(&state, 4) == 0)
            weft_yield();
    }
    bool is_forwards = random_below(&state, 2);
    for (int i = 0; i < 3; i++) {
        weft_join_job(&forked[is_forwards ? i : 2 - i]);
        if (random_below(&state, 8) == 0)
            weft_sleep(weft_after(1000));
    }
}

static int grow_work(void *opaque) {
    grow_tree(opaque);
    return 0;
}

static void grow_many(unsigned threads) {
    enum { TREES = 12, DEPTH = 5, LEAVES = 243 };
    weft_pool_options options = {.threads = threads};
    struct grow trees[TREES];
    uint64_t state = wf_test_seed() | 1;
    CHECK_EQ(weft_pool_new(&pool, &options), 0);
    for (long round = 0; round < scaled(50, 3); round++) {
        atomic_store(&leaves, 0);
        for (int i = 0; i < TREES; i++) {
            trees[i] = (struct grow){DEPTH, random_next(&state) | 1};
            CHECK_EQ(weft_pool_submit(pool, NULL, grow_work, &trees[i]), 0);
        }
        CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
        CHECK_EQ(atomic_load(&leaves), TREES * LEAVES);
    }
    weft_pool_free(pool);
}

TEST(jobs_of_fibers_that_interleave_and_move_run_exactly_once) {
    grow_many(wf_test_workers());
    grow_many(33);
}

/* Two works on one thread, each with an open job, woken in the order in which the other's job is on top. */
static weft_semaphore turns[2] = {WEFT_SEMAPHORE_INIT(0), WEFT_SEMAPHORE_INIT(0)};
static _Atomic int at;
static weft_mutex held = WEFT_MUTEX_INIT;

static void take_held(void *opaque) {
    CHECK_EQ(weft_mutex_lock(&held, WEFT_NEVER), 0);
    atomic_fetch_add((_Atomic int *)opaque, 1);
    weft_mutex_unlock(&held);
}

static int fork_and_wait(void *opaque) {
    int index = (int)(intptr_t)opaque;
    weft_job job;
    weft_fork(&job, index == 0 ? count_run : take_held, &runs[index]);
    atomic_fetch_add(&at, 1);
    CHECK_EQ(weft_semaphore_acquire(&turns[index], 1, WEFT_NEVER), 0);
    if (index == 0)
        CHECK_EQ(weft_mutex_lock(&held, WEFT_NEVER), 0); /* which the other's job wants */
    weft_join_job(&job);
    if (index == 0)
        weft_mutex_unlock(&held);
    CHECK_EQ(atomic_load(&runs[index]), 1);
    return 0;
}

TEST(join_does_not_run_jobs_of_other_fibers_under_the_locks_of_its_own) {
    weft_pool_options options = {.threads = 1};
    CHECK_EQ(weft_pool_new(&pool, &options), 0);
    for (int round = 0; round < 100; round++) {
        atomic_store(&at, 0);
        for (intptr_t i = 0; i < 2; i++)
            CHECK_EQ(weft_pool_submit(pool, NULL, fork_and_wait, (void *)i), 0);
        WAIT_UNTIL(atomic_load(&at) == 2);
        weft_semaphore_release(&turns[0], 1);
        weft_semaphore_release(&turns[1], 1);
        CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
        for (int i = 0; i < 2; i++)
            CHECK_EQ(atomic_exchange(&runs[i], 0), 1);
    }
    weft_pool_free(pool);
}

/* The processor on which the job waits goes to another thread; the fiber has none. */
static void bound_between(void) {
    weft_job job;
    weft_fork(&job, count_run, &runs[0]);
    CHECK_EQ(weft_bind(NULL), 0);
    weft_join_job(&job);
    CHECK_EQ(atomic_exchange(&runs[0], 0), 1);
    weft_fork(&job, count_run, &runs[0]);
    CHECK_EQ(atomic_exchange(&runs[0], 0), 1); /* at once */
    weft_join_job(&job);
    weft_unbind();
}

TEST(job_is_joined_by_a_fiber_that_has_left_its_processor) {
    in_any_pool(bound_between);
}

/* ---- Jobs that others run ---- */

static _Atomic int started;
static weft_semaphore may_end = WEFT_SEMAPHORE_INIT(0);

static void begin_and_wait(void *opaque) {
    int *value = opaque;
    atomic_fetch_add(&started, 1);
    CHECK_EQ(weft_semaphore_acquire(&may_end, 1, WEFT_NEVER), 0);
    *value = 42;
}

/* Another fiber, on this thread or another one, has begun the job when this returns. */
static void fork_elsewhere(weft_job *job, void (*fn)(void *arg), void *arg) {
    atomic_store(&started, 0);
    weft_fork(job, fn, arg);
    WAIT_UNTIL(atomic_load(&started) > 0);
}

static void join_waits(void) {
    int value = 0;
    weft_job job;
    fork_elsewhere(&job, begin_and_wait, &value);
    weft_semaphore_release(&may_end, 1);
    weft_join_job(&job);
    CHECK_EQ(value, 42);
}

TEST(join_waits_for_a_job_that_another_fiber_runs) {
    in_any_pool(join_waits);
}

static weft_work self_inside;

static void ask_self(void *opaque) {
    (void)opaque;
    self_inside = weft_work_self();
    CHECK(weft_work_pool() == pool);
    atomic_fetch_add(&started, 1);
}

static void identities(void) {
    weft_job job;
    fork_elsewhere(&job, ask_self, NULL);
    weft_join_job(&job);
    CHECK_EQ(self_inside.bits, weft_work_self().bits);
    CHECK(self_inside.bits != 0);
}

TEST(job_on_another_fiber_belongs_to_the_work_of_its_forker) {
    in_any_pool(identities);
}

static int wait_status;

static void wait_for_ever(void *opaque) {
    (void)opaque;
    atomic_fetch_add(&started, 1);
    wait_status = weft_semaphore_acquire(&may_end, 1, WEFT_NEVER);
}

static int join_for_ever(void *opaque) {
    weft_job job;
    (void)opaque;
    fork_elsewhere(&job, wait_for_ever, NULL);
    atomic_store(&at, 1);
    weft_join_job(&job);
    return wait_status;
}

TEST(job_on_another_fiber_is_stopped_by_force_with_its_work) {
    weft_pool_options options = {.threads = wf_test_workers(), .grace = 60 * WEFT_SECOND};
    weft_work_options stored = {.store_result = true};
    weft_work work;
    weft_result result;
    CHECK_EQ(weft_pool_new(&pool, &options), 0);
    atomic_store(&at, 0);
    CHECK_EQ(weft_pool_submit_with(pool, &work, &stored, join_for_ever, NULL), 0);
    WAIT_UNTIL(atomic_load(&at) == 1);
    CHECK_EQ(weft_pool_control(pool, WEFT_FORCE_STOP, work), 0);
    CHECK_EQ(weft_pool_wait_work(pool, work, &result, WEFT_NEVER), 0);
    CHECK_EQ(result.status, WEFT_WORK_FORCE_STOPPED);
    CHECK_EQ(wait_status, -ECANCELED);
    weft_pool_free(pool);
}

/* ---- The end of a job and its join, forced against each other ---- */

static _Atomic(struct wf_job *) raced;
static _Atomic bool waits_first; /* the joiner is to wait before the job ends; else to find its end on its way there */
static _Atomic bool joiner_is_there;

static void race_hook(const char *name) {
    struct wf_job *job = atomic_load(&raced);
    bool is_joiner = strcmp(name, "join.before_wait") == 0;
    if (!job || (!is_joiner && strcmp(name, "job.before_done") != 0))
        return;
    if (is_joiner)
        atomic_store(&joiner_is_there, true);
    if (!is_joiner)
        while (atomic_load(&waits_first) ? wf_load_relaxed(&job->word) != WF_JOB_WAITED
                                         : !atomic_load(&joiner_is_there))
            sched_yield();
    else if (!atomic_load(&waits_first))
        while (wf_load_relaxed(&job->word) != WF_JOB_DONE)
            sched_yield();
}

static void begin_only(void *opaque) {
    (void)opaque;
    atomic_fetch_add(&started, 1);
}

static void race_once(bool is_waited) {
    weft_job job;
    atomic_store(&waits_first, is_waited);
    atomic_store(&joiner_is_there, false);
    atomic_store(&started, 0);
    atomic_store(&raced, (struct wf_job *)(void *)&job);
    weft_fork(&job, begin_only, NULL);
    while (atomic_load(&started) == 0)
        sched_yield(); /* this thread is busy: another one has it */
    weft_join_job(&job);
    atomic_store(&raced, NULL);
}

static void races(void) {
    for (int i = 0; i < 50; i++)
        race_once(i % 2);
}

TEST(join_and_the_end_of_its_job_meet_in_either_order) {
    wf_point_hook = race_hook;
    in_pool(2, races);
    wf_point_hook = NULL;
}
