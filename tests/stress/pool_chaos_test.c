/* SPDX-License-Identifier: MIT
 *
 * stress/pool_chaos_test.c - a work runs once or is ended once without running, and never both, whatever is done to its pool.
 *
 * Works are submitted by threads, by fibers and by works, while others cancel, stop, pause and resize at random. Every work draws a
 * number; the oracle is the account of every number at the end, and a pool with nothing left in it.
 */
#include "stress/pool.h"

/* ---- Everything at once ---- */

/* What a work is, drawn from its number before it is submitted. */
enum conduct {
    RETURNS,
    YIELDS,
    SLEEPS,
    COMPUTES,
    HEEDS_STOPS,
    FAILS,
    PANICS,
    MAKES_MORE,
    WAITS_FOR_OTHER,
    CANCELS,
    CONDUCTS
};

struct account {
    _Atomic uint64_t handle;    /* 0 until its submit has returned */
    _Atomic uint32_t begun;     /* times its function was entered */
    _Atomic uint32_t told;      /* times its callback was called */
    _Atomic uint32_t cancelled; /* times somebody was told to have cancelled it */
    _Atomic int status;
};

enum { ACCOUNTS = 1000000, PANICS_MAX = 5, STEPS = 20 };

static struct account accounts[ACCOUNTS];
static atomic_long next_account;
static long account_limit;
static atomic_long refused, panics;
static weft_pool *chaos;
static bool with_callback; /* every work has one: no work ends quietly */
static bool with_retries;
static weft_group *chaos_group;
static atomic_bool is_quiet; /* nothing new is submitted */
static uint64_t chaos_seed;

static int conduct(void *arg);
static void submit_one(uint64_t *random);

static uint64_t random_of(long number) {
    uint64_t random = chaos_seed ^ ((uint64_t)(number + 1) * 0x9E3779B97F4A7C15u);
    return random ? random : 1;
}

static weft_work any_work(uint64_t *random) {
    long most = atomic_load(&next_account);
    most = most < account_limit ? most : account_limit;
    if (most == 0)
        return WEFT_NO_WORK;
    long back = (long)random_below(random, 300);
    return (weft_work){atomic_load(&accounts[back < most ? most - 1 - back : 0].handle)};
}

static void cancel_one(uint64_t *random) {
    long most = atomic_load(&next_account);
    most = most < account_limit ? most : account_limit;
    long number = most - 1 - (long)random_below(random, 200);
    if (number < 0)
        return;
    weft_work work = {atomic_load(&accounts[number].handle)};
    int status = weft_pool_control(chaos, WEFT_CANCEL, work);
    CHECK(status == 0 || status == -EBUSY || status == -ESTALE);
    if (status == 0)
        atomic_fetch_add(&accounts[number].cancelled, 1);
}

static int heed_stops(uint64_t *random) {
    for (int i = 0; i < STEPS; i++) {
        if (weft_work_stop_point(NULL, NULL))
            return -ECANCELED;
        int status = weft_work_pause_point();
        if (status)
            return status;
        if (random_below(random, 2))
            weft_yield();
    }
    return 0;
}

static int wait_for_other(uint64_t *random) {
    weft_result result;
    int status = weft_pool_wait_work(chaos, any_work(random), &result,
                                     weft_after((int64_t)random_below(random, 300) * WEFT_MICROSECOND));
    CHECK(status == 0 || status == -ESTALE || status == -ETIMEDOUT || status == -EDEADLK || status == -ECANCELED);
    return status == -ECANCELED ? status : 0;
}

static int conduct(void *arg) {
    long number = (long)(uintptr_t)arg;
    struct account *account = &accounts[number];
    uint64_t random = random_of(number);
    uint32_t before = atomic_fetch_add(&account->begun, 1);
    CHECK_EQ(weft_work_attempt(), before + 1);
    switch ((enum conduct)random_below(&random, CONDUCTS)) {
    case YIELDS:
        for (uint64_t i = random_below(&random, 4); i > 0; i--)
            weft_yield();
        return 0;
    case SLEEPS:
        return weft_sleep(weft_after((int64_t)random_below(&random, 100) * WEFT_MICROSECOND)) == -ECANCELED ? -ECANCELED
                                                                                                            : 0;
    case COMPUTES:
        spin_for((int64_t)random_below(&random, 20) * WEFT_MICROSECOND);
        return 0;
    case HEEDS_STOPS:
        return heed_stops(&random);
    case FAILS:
        return -EIO;
    case PANICS:
        if (atomic_fetch_add(&panics, 1) < PANICS_MAX)
            weft_panic("work %ld, on purpose", number);
        return 0;
    case MAKES_MORE:
        for (uint64_t i = random_below(&random, 4); i > 0; i--)
            submit_one(&random);
        return 0;
    case WAITS_FOR_OTHER:
        return wait_for_other(&random);
    case CANCELS:
        cancel_one(&random);
        return 0;
    case RETURNS:
    case CONDUCTS:
        break;
    }
    return 0;
}

static int account_end(const weft_result *result, void *arg) {
    struct account *account = &accounts[(uintptr_t)arg];
    CHECK_EQ(result->attempts, atomic_load(&account->begun));
    atomic_store(&account->status, (int)result->status);
    atomic_fetch_add(&account->told, 1);
    return 0;
}

static void fill_options(weft_work_options *options, long number, uint64_t *random) {
    *options = (weft_work_options){0};
    if (with_callback) {
        options->callback = account_end;
        options->callback_arg = (void *)(uintptr_t)number;
    } else if (random_below(random, 2)) {
        return; /* nothing asked */
    }
    options->priority = random_below(random, 4) ? 0 : (int)random_below(random, 7) - 3;
    options->placement = (weft_placement)random_below(random, 4);
    options->on_thread_stack = random_below(random, 30) == 0;
    options->long_running = !options->on_thread_stack && random_below(random, 200) == 0;
    options->store_result = random_below(random, 10) == 0;
    options->group = random_below(random, 10) == 0 ? chaos_group : NULL;
    if (with_retries) {
        options->retry = (weft_retry)random_below(random, 3);
        options->max_retries = (unsigned)random_below(random, 4);
    }
}

static void submit_one(uint64_t *random) {
    if (atomic_load(&next_account) >= account_limit)
        return;
    long number = atomic_fetch_add(&next_account, 1);
    if (number >= account_limit)
        return;
    weft_work_options options;
    weft_work work;
    fill_options(&options, number, random);
    int status = weft_pool_submit_with(chaos, &work, &options, conduct, (void *)(uintptr_t)number);
    CHECK(status == 0 || status == -ESHUTDOWN);
    if (status == 0)
        atomic_store(&accounts[number].handle, work.bits);
    else
        atomic_fetch_add(&refused, 1);
}

static void *submit_until_enough(void *arg) {
    uint64_t random = random_of(-2 - (long)(intptr_t)arg);
    while (atomic_load(&next_account) < account_limit) {
        submit_one(&random);
        if (random_below(&random, 50) == 0)
            cancel_one(&random);
        if (random_below(&random, 200) == 0)
            wait_for_other(&random);
    }
    return NULL;
}

static int submit_from_fibers(void *arg) {
    weft_fiber fibers[4];
    for (intptr_t i = 0; i < 4; i++)
        SPAWN(&fibers[i], submit_until_enough, (void *)(20 + i));
    for (int i = 0; i < 4; i++)
        JOIN(fibers[i], NULL);
    (void)arg;
    return 0;
}

static void *submit_from_runtime(void *arg) {
    CHECK_EQ(weft_run(NULL, submit_from_fibers, NULL), 0);
    return arg;
}

static void disturb(uint64_t *random) {
    weft_control what = (weft_control)random_below(random, 5);
    switch (random_below(random, 12)) {
    case 0:
        if (random_below(random, 8) == 0)
            CHECK(weft_pool_control_all(chaos, what) > -EDEADLK || what == WEFT_RESUME || what <= WEFT_FORCE_STOP);
        break;
    case 1:
        CHECK_EQ(weft_pool_set_threads(chaos, 0, 1 + (unsigned)random_below(random, 2 * pool_threads())), 0);
        break;
    case 2:
        if (random_below(random, 4) == 0)
            weft_group_control(chaos_group, what);
        break;
    case 3:
        CHECK_GE(weft_pool_clear(chaos), 0);
        break;
    case 4:
        wait_for_other(random);
        break;
    default:
        if (what != WEFT_CANCEL)
            weft_pool_control(chaos, what, any_work(random));
        else
            cancel_one(random);
    }
    if (random_below(random, 30) == 0) {
        weft_pool_control_all(chaos, WEFT_RESUME);
        weft_group_control(chaos_group, WEFT_RESUME);
    }
}

static void *disturb_all_the_time(void *arg) {
    uint64_t random = random_of(-1000 - (long)(intptr_t)arg);
    while (!atomic_load(&is_quiet)) {
        disturb(&random);
        for (uint64_t i = random_below(&random, 20); i > 0; i--)
            sched_yield();
    }
    return NULL;
}

/* Works that were submitted while the pool was being stopped begin when that is over. */
static void wait_until_empty(void) {
    weft_pool_stats stats;
    do {
        CHECK_EQ(weft_pool_wait(chaos, WEFT_NEVER), 0);
        stats = pool_stats(chaos);
    } while (stats.held > 0 || !stats.is_idle);
}

static void check_accounts(long count) {
    long ran = 0;
    for (long i = 0; i < count; i++) {
        struct account *account = &accounts[i];
        uint32_t begun = atomic_load(&account->begun), told = atomic_load(&account->told);
        int status = atomic_load(&account->status);
        uint32_t cancelled = atomic_load(&account->cancelled);
        bool was_submitted = atomic_load(&account->handle) != 0;
        bool is_right = cancelled <= 1 && begun <= (with_retries ? 4u : 1u) && (was_submitted || begun == 0) &&
                        !(cancelled && begun && !with_retries) &&
                        (!cancelled || !with_callback || status == WEFT_WORK_CANCELLED);
        if (with_callback)
            is_right = is_right && told == was_submitted && (status != WEFT_WORK_CANCELLED || !begun || with_retries) &&
                       (begun || status == WEFT_WORK_CANCELLED || !was_submitted);
        if (!is_right)
            fprintf(stderr, "work %ld: submitted %d, begun %u, told %u, cancelled %u, status %d\n", i, was_submitted,
                    begun, told, cancelled, status);
        CHECK(is_right);
        ran += begun > 0;
    }
    weft_pool_stats stats = pool_stats(chaos);
    CHECK_EQ(stats.submitted, count - atomic_load(&refused));
    if (!with_retries) /* else a work may be cancelled between two attempts */
        CHECK_EQ(ran, stats.submitted - stats.cancelled);
    if (with_retries)
        CHECK_GE(ran, stats.submitted - stats.cancelled);
}

static void chaos_begin(const weft_pool_options *options, long count) {
    chaos_seed = wf_test_seed();
    chaos = pool_with(options);
    account_limit = count;
    memset(accounts, 0, sizeof accounts[0] * (size_t)count);
    atomic_store(&next_account, 0);
    atomic_store(&refused, 0);
    atomic_store(&is_quiet, false);
    CHECK_EQ(weft_group_new(&chaos_group, chaos, NULL), 0);
}

static void chaos_run(const weft_pool_options *options, long count) {
    enum { THREADS = 3 };
    pthread_t submitters[THREADS], runtime, disturber;
    chaos_begin(options, count);
    for (intptr_t i = 0; i < THREADS; i++)
        submitters[i] = thread_start(submit_until_enough, (void *)i);
    runtime = thread_start(submit_from_runtime, NULL);
    disturber = thread_start(disturb_all_the_time, NULL);
    for (int i = 0; i < THREADS; i++)
        thread_join(submitters[i]);
    thread_join(runtime);
    atomic_store(&is_quiet, true);
    thread_join(disturber);
    weft_pool_control_all(chaos, WEFT_RESUME);
    weft_group_control(chaos_group, WEFT_RESUME);
    wait_until_empty();
    CHECK_EQ(weft_pool_set_threads(chaos, 0, pool_threads()), 0);
    check_empty(chaos);
    check_accounts(count);
    CHECK_GE(weft_pool_clear(chaos), 0);
    CHECK_EQ(pool_stats(chaos).stored, 0);
    weft_group_free(chaos_group);
    weft_pool_free(chaos);
}

/* No work is ever given up: all of them come back. */
static weft_pool_options chaos_options(void) {
    return (weft_pool_options){.threads = pool_threads(), .grace = PATIENCE_NS};
}

static void chaos_runs(const weft_pool_options *options) {
    atomic_store(&panics, 0);
    for (long run = is_full() ? 100 : 2; run > 0; run--)
        chaos_run(options, amount(25000, 500, ACCOUNTS));
}

TEST(each_work_runs_once_or_is_cancelled_once) {
    weft_pool_options options = chaos_options();
    with_callback = with_retries = false;
    chaos_runs(&options);
}

TEST(each_work_has_one_end_that_is_told_and_is_the_right_one) {
    weft_pool_options options = chaos_options();
    with_callback = true;
    with_retries = false;
    chaos_runs(&options);
}

TEST(each_work_that_is_retried_has_one_end) {
    weft_pool_options options = chaos_options();
    with_callback = with_retries = true;
    chaos_runs(&options);
}

TEST(works_of_deques_and_stacks_run_once_or_are_cancelled_once) {
    weft_pool_options options = chaos_options();
    with_callback = with_retries = false;
    options.discipline = WEFT_POOL_DEQUE;
    chaos_runs(&options);
    options.discipline = WEFT_POOL_LIFO;
    options.steal_one = true;
    chaos_runs(&options);
}

TEST(works_of_a_pool_whose_threads_come_and_go_run_once_or_are_cancelled_once) {
    weft_pool_options options = chaos_options();
    with_callback = true;
    with_retries = false;
    options.elastic = true;
    options.keep_alive = -1;
    chaos_runs(&options);
}

/* ---- Disposing of a pool in the middle of everything ---- */

static void *submit_until_shut(void *arg) {
    uint64_t random = random_of(-100 - (long)(intptr_t)arg);
    int status = 0;
    while (status == 0) {
        long number = atomic_fetch_add(&next_account, 1);
        if (number >= account_limit)
            break;
        weft_work_options options;
        weft_work work;
        fill_options(&options, number, &random);
        status = weft_pool_submit_with(chaos, &work, &options, conduct, (void *)(uintptr_t)number);
        CHECK(status == 0 || status == -ESHUTDOWN);
        if (status == 0)
            atomic_store(&accounts[number].handle, work.bits);
        else
            atomic_fetch_add(&refused, 1);
    }
    return NULL;
}

TEST(a_pool_that_is_disposed_of_while_it_is_used_ends_every_work) {
    with_callback = true;
    with_retries = false;
    for (long run = amount(30, 3, 1000); run > 0; run--) {
        enum { THREADS = 3 };
        pthread_t threads[THREADS];
        weft_pool_options options = chaos_options();
        options.elastic = run % 2;
        options.keep_alive = -1;
        chaos_begin(&options, 3000);
        for (intptr_t i = 0; i < THREADS; i++)
            threads[i] = thread_start(submit_until_shut, (void *)i);
        uint64_t random = random_of(run);
        spin_for((int64_t)random_below(&random, 500) * WEFT_MICROSECOND);
        CHECK_EQ(weft_pool_dispose(chaos), 0);
        for (int i = 0; i < THREADS; i++)
            thread_join(threads[i]);
        check_empty(chaos);
        for (long i = 0; i < account_limit; i++) {
            bool was_submitted = atomic_load(&accounts[i].handle) != 0;
            CHECK_EQ(atomic_load(&accounts[i].told), was_submitted || atomic_load(&accounts[i].told));
            CHECK(was_submitted || atomic_load(&accounts[i].begun) == 0 || atomic_load(&accounts[i].told) == 1);
            CHECK_LE(atomic_load(&accounts[i].told), 1);
        }
        weft_group_free(chaos_group);
        weft_pool_free(chaos);
    }
}
