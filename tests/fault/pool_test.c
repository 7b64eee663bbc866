/* SPDX-License-Identifier: MIT
 *
 * fault/pool_test.c - memory, threads and descriptors are refused to a pool, at every place.
 *
 * A workload that submits in every way is run again and again; in run n the n-th call of one kind fails, until a run passes in which
 * none did; then once more with all calls failing from the n-th on. Each run is a forked child with a time limit. A submit that
 * returns an error has changed nothing; one that returns 0 ends once: its function has run, or its end says that it could
 * not. The pool works on when there is enough of everything again, and nothing is left when it is freed.
 */
#include "os/fault.h"
#include "os/memory.h"
#include "support/child.h"
#include "support/run.h"
#include "weft/pool.h"

enum { THREADS = 2, PLAIN = 1100, SPECIAL = 24, WORKS = PLAIN + SPECIAL + 8, NTH_MAX = 200 };
#define RELIEF_NS (60 * WEFT_MILLISECOND)

struct account {
    bool was_accepted;
    bool has_callback;
    atomic_int begun;
    atomic_int told;
    _Atomic int status;
    _Atomic int error;
};

static struct account accounts[WORKS];
static int next_account;
static weft_pool *pool;
static atomic_int may_go;

static bool is_shortage(int error) {
    return error == -ENOMEM || error == -EAGAIN;
}

static int run_account(void *opaque) {
    struct account *account = opaque;
    atomic_fetch_add(&account->begun, 1);
    return 0;
}

static int run_blocker(void *opaque) {
    while (!atomic_load(&may_go))
        sched_yield();
    return run_account(opaque);
}

/* Without memory for a fiber it is run on a plain thread, whose waits are not cut short: so it looks as well. */
static int run_sleeper(void *opaque) {
    run_account(opaque);
    while (!weft_work_is_stopping())
        if (weft_sleep(weft_after(WEFT_MILLISECOND)) == -ECANCELED)
            break;
    return -ECANCELED;
}

static int run_once_in_vain(void *opaque) {
    return weft_work_attempt() == 1 ? -EIO : run_account(opaque);
}

static int run_parent(void *opaque) {
    struct account *child = &accounts[WORKS - 1];
    if (weft_pool_submit(weft_work_pool(), NULL, run_account, child) == 0)
        child->was_accepted = true;
    return run_account(opaque);
}

static int account_end(const weft_result *result, void *arg) {
    struct account *account = arg;
    atomic_store(&account->status, (int)result->status);
    atomic_store(&account->error, result->error);
    atomic_fetch_add(&account->told, 1);
    return 0;
}

static struct account *account_new(void) {
    CHECK(next_account < WORKS - 2);
    return &accounts[next_account++];
}

/* Whether it was accepted. */
static bool submit(weft_work *out, const weft_work_options *given, weft_work_fn fn) {
    weft_work_options options = given ? *given : (weft_work_options){0};
    struct account *account = account_new();
    account->has_callback = given;
    options.callback = given ? account_end : NULL;
    options.callback_arg = given ? account : NULL;
    int status = weft_pool_submit_with(pool, out, &options, fn, account);
    CHECK(status == 0 || is_shortage(status));
    account->was_accepted = status == 0;
    return status == 0;
}

/* Enough for a second chunk of records: the threads are busy meanwhile. */
static void submit_plainly(void) {
    void *args[PLAIN];
    size_t done = 0;
    for (int i = 0; i < PLAIN; i++)
        args[i] = account_new();
    int status = weft_pool_submit_batch(pool, NULL, NULL, run_account, args, PLAIN, &done);
    CHECK(status == 0 ? done == PLAIN : done < PLAIN && is_shortage(status));
    for (size_t i = 0; i < done; i++)
        ((struct account *)args[i])->was_accepted = true;
}

static void submit_in_groups(void) {
    weft_group *group = NULL, *inner = NULL;
    weft_work work;
    int status = weft_group_new(&group, pool, "outer");
    CHECK(status == 0 || status == -ENOMEM);
    if (status)
        return;
    if (submit(&work, NULL, run_account)) {
        status = weft_group_add(group, work);
        CHECK(status == 0 || status == -ENOMEM || status == -ESTALE);
    }
    submit(NULL, &(weft_work_options){.group = group}, run_account);
    if (weft_group_new(&inner, pool, NULL) == 0) {
        status = weft_group_join(group, inner);
        CHECK(status == 0 || status == -ENOMEM);
        submit(NULL, &(weft_work_options){.group = inner}, run_account);
    }
    atomic_store(&may_go, 1);
    CHECK_EQ(weft_group_wait(group, WEFT_NEVER), 0);
    if (inner)
        CHECK_EQ(weft_group_wait(inner, WEFT_NEVER), 0);
    weft_group_free(inner);
    weft_group_free(group);
}

static void submit_with_dependencies(void) {
    weft_work first, second;
    weft_work_id id = {.text = "an id"};
    if (!submit(&first, &(weft_work_options){.id = id, .store_result = true}, run_account))
        return;
    submit(&second, &(weft_work_options){.after = &first, .after_count = 1, .store_result = true}, run_account);
    submit(&second, &(weft_work_options){.after_ids = &id, .after_id_count = 1, .id = {.number = 7}}, run_account);
}

static void submit_with_time(void) {
    weft_promise *promise = NULL;
    weft_work work;
    submit(NULL, &(weft_work_options){.timeout = PATIENCE_NS}, run_account);
    submit(NULL, &(weft_work_options){.deadline = weft_after(PATIENCE_NS)}, run_account);
    if (submit(NULL, &(weft_work_options){.promise = &promise}, run_account)) {
        atomic_store(&may_go, 1);
        int status = weft_promise_await(promise, NULL, WEFT_NEVER);
        CHECK(status == 0 || is_shortage(status));
        weft_promise_unref(promise);
    }
    if (submit(&work, &(weft_work_options){.priority = 2}, run_sleeper)) {
        int status = weft_pool_control(pool, WEFT_PAUSE, work);
        CHECK(status == 0 || status == -ENOMEM || status == -ESTALE);
        do
            status = weft_pool_control(pool, WEFT_FORCE_STOP, work);
        while (status == -ENOMEM && wf_fault_hits() < NTH_MAX);
        if (is_shortage(status)) { /* there is never enough for that: without */
            wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
            weft_pool_control(pool, WEFT_FORCE_STOP, work);
        }
    }
}

static void submit_in_every_way(void) {
    for (int i = 0; i < THREADS; i++)
        submit(NULL, NULL, run_blocker);
    submit_plainly();
    submit(NULL, &(weft_work_options){.priority = 5}, run_account);
    submit(NULL, &(weft_work_options){.priority = -5}, run_account);
    submit(NULL, &(weft_work_options){.on_thread_stack = true}, run_account);
    submit(NULL, &(weft_work_options){.long_running = true}, run_account);
    submit(NULL, &(weft_work_options){.retry = WEFT_RETRY_REQUEUE}, run_once_in_vain);
    submit(NULL, &(weft_work_options){.placement = WEFT_PLACE_LOCAL}, run_parent);
    submit_with_dependencies();
    atomic_store(&may_go, 1);
    submit_in_groups();
    submit_with_time();
    int status = weft_pool_set_threads(pool, 0, THREADS + 2);
    CHECK(status == 0 || is_shortage(status));
}

static void check_accounts(void) {
    for (int i = 0; i < WORKS; i++) {
        struct account *account = &accounts[i];
        int begun = atomic_load(&account->begun), told = atomic_load(&account->told);
        int status = atomic_load(&account->status), error = atomic_load(&account->error);
        bool could_not = told && status == WEFT_WORK_FAILED && (is_shortage(error) || error == -ENOENT);
        bool was_stopped = told && (status == WEFT_WORK_FORCE_STOPPED || status == WEFT_WORK_CANCELLED);
        bool is_right = account->was_accepted ? (begun == 1 || (begun == 0 && (could_not || was_stopped))) : begun == 0;
        is_right = is_right && told == (account->was_accepted && account->has_callback);
        if (!is_right)
            fprintf(stderr, "work %d: accepted %d, begun %d, told %d, status %d, error %d\n", i, account->was_accepted,
                    begun, told, status, error);
        CHECK(is_right);
    }
}

static void check_pool_is_empty(void) {
    weft_pool_stats stats;
    CHECK_EQ(weft_pool_get_stats(pool, &stats), 0);
    CHECK_EQ(stats.outstanding, 0);
    CHECK_EQ(stats.queued + stats.held + stats.running, 0);
    CHECK_EQ(stats.submitted,
             stats.succeeded + stats.failed + stats.cancelled + stats.stopped + stats.force_stopped + stats.timed_out);
}

static atomic_int is_through;
static atomic_long hits_before; /* the order was taken back */

/* What never gets a thread, or memory for its first thread, waits until there is some: after a while there is. */
static void *relieve(void *arg) {
    weft_time limit = weft_after(RELIEF_NS);
    while (!atomic_load(&is_through) && weft_now() < limit)
        weft_sleep(weft_after(WEFT_MILLISECOND / 5));
    if (!atomic_load(&is_through)) {
        atomic_store(&hits_before, wf_fault_hits());
        wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
        CHECK_EQ(weft_pool_submit(pool, NULL, run_account, &accounts[WORKS - 2]), 0); /* asks for threads again */
        accounts[WORKS - 2].was_accepted = true;
    }
    return arg;
}

static int use_pool(const weft_pool_options *options, bool may_starve, long *hits) {
    pthread_t relief = 0;
    memset(accounts, 0, sizeof accounts);
    next_account = 0;
    atomic_store(&may_go, 0);
    atomic_store(&is_through, 0);
    atomic_store(&hits_before, 0);
    int status = weft_pool_new(&pool, options);
    if (status == 0 && may_starve)
        relief = thread_start(relieve, NULL);
    if (status == 0) {
        submit_in_every_way();
        CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    }
    *hits = wf_fault_hits();
    atomic_store(&is_through, 1);
    if (status == 0 && may_starve) {
        thread_join(relief);
        CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0); /* what it may have submitted */
    }
    *hits += atomic_load(&hits_before);
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
    if (status)
        return status;
    check_accounts();
    check_pool_is_empty();
    CHECK(submit(NULL, NULL, run_account)); /* and it works again */
    CHECK(submit(NULL, &(weft_work_options){.deadline = weft_after(PATIENCE_NS)}, run_account));
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    check_accounts();
    weft_pool_free(pool);
    return 0;
}

struct point {
    enum wf_system_call call;
    int error;
    bool every;
    bool is_elastic;
    long nth;
};

enum { END_HIT = 40, END_CLEAN = 41 };

static void run_point(void *opaque) {
    const struct point *point = opaque;
    weft_pool_options options = {.threads = THREADS, .elastic = point->is_elastic, .keep_alive = -1};
    long hits = 0, none;
    alarm(30);
    wf_fault_order(point->call, point->nth, point->error, point->every);
    int status = use_pool(&options, point->every, &hits);
    if (status != 0 && (!is_shortage(status) || hits == 0))
        fprintf(stderr, "weft_pool_new returned %d\n", status);
    CHECK(status == 0 || (hits > 0 && (is_shortage(status) || status == -EINVAL)));
    CHECK_EQ(wf_os_live_blocks(), 0);
    CHECK_EQ(wf_os_mapped_bytes(), 0);
    if (point->nth % 8 == 1)
        CHECK_EQ(use_pool(&options, false, &none), 0);
    _exit(hits ? END_HIT : END_CLEAN);
}

static long total_points;

static void sweep_one(enum wf_system_call call, int error, bool every, bool is_elastic, long most) {
    for (long nth = 1; nth <= most; nth++) {
        struct point point = {call, error, every, is_elastic, nth};
        struct child_end end = child_run(run_point, &point);
        bool is_right =
            WIFEXITED(end.status) && (WEXITSTATUS(end.status) == END_HIT || WEXITSTATUS(end.status) == END_CLEAN);
        if (!is_right)
            fprintf(stderr, "%s call %ld%s, errno %d, %s: status %#x: %s\n", wf_fault_name(call), nth,
                    every ? " and all after it" : "", error, is_elastic ? "elastic" : "fixed", (unsigned)end.status,
                    end.text);
        CHECK(is_right);
        total_points++;
        if (WEXITSTATUS(end.status) == END_CLEAN)
            return;
    }
}

static void sweep(enum wf_system_call call, int error) {
    for (int is_elastic = 0; is_elastic < 2; is_elastic++) {
        sweep_one(call, error, false, is_elastic, scaled(NTH_MAX, 10));
        sweep_one(call, error, true, is_elastic, scaled(40, 4));
    }
}

TEST(memory_may_be_refused_to_a_pool_anywhere) {
    sweep(WF_CALL_ALLOC, ENOMEM);
    sweep(WF_CALL_MMAP, ENOMEM);
    sweep(WF_CALL_GUARD, ENOMEM);
}

TEST(threads_may_be_refused_to_a_pool) {
    sweep(WF_CALL_THREAD, EAGAIN);
    sweep(WF_CALL_AFFINITY, EINVAL);
    sweep(WF_CALL_SIGALTSTACK, ENOMEM);
    sweep(WF_CALL_SIGACTION, EINVAL);
    sweep(WF_CALL_INTERRUPT, ESRCH);
}

TEST(descriptors_may_be_refused_to_a_pool) {
    sweep(WF_CALL_EPOLL_CREATE, EMFILE);
    sweep(WF_CALL_EVENTFD, EMFILE);
    sweep(WF_CALL_EPOLL_CTL, ENOMEM);
}

TEST(waits_of_a_pool_may_be_interrupted_anywhere) {
    sweep_one(WF_CALL_FUTEX_WAIT, EINTR, false, false, scaled(60, 5));
    sweep_one(WF_CALL_FUTEX_WAIT, EINTR, true, false, scaled(10, 2));
    sweep_one(WF_CALL_EPOLL_WAIT, EINTR, false, true, scaled(60, 5));
}

TEST(the_sweep_of_the_pool_was_a_wide_one) {
    printf("    %ld points in all\n", total_points);
    CHECK_GE(total_points, scaled(100, 30));
}
