/* SPDX-License-Identifier: MIT
 *
 * spec/sync_test.c - locks and counters as a program uses them, by the public interface alone.
 *
 * The product's build: no checks but those that the header promises. Static objects, objects inside others, plain threads
 * beside fibers, and threads that outlive one runtime after the other.
 */
#include "support/child.h"
#include "support/parked.h"

enum { ACCOUNTS = 8, CLERKS = 6 };

struct account {
    weft_mutex lock;
    long balance;
};

static struct account accounts[ACCOUNTS];

struct clerk {
    uint64_t seed;
    long rounds;
};

/* Locks two accounts, the one with the lower address first. */
static void *transfer(void *opaque) {
    struct clerk *clerk = opaque;
    for (long i = 0; i < clerk->rounds; i++) {
        size_t from = random_below(&clerk->seed, ACCOUNTS), to = random_below(&clerk->seed, ACCOUNTS);
        long amount = (long)random_below(&clerk->seed, 100);
        if (from == to)
            continue;
        struct account *low = &accounts[from < to ? from : to], *high = &accounts[from < to ? to : from];
        CHECK_EQ(weft_mutex_lock(&low->lock, WEFT_NEVER), 0);
        if (weft_mutex_lock(&high->lock, i % 2 ? WEFT_NEVER : weft_after(2000)) == 0) {
            accounts[from].balance -= amount;
            if (i % 32 == 0)
                weft_yield();
            accounts[to].balance += amount;
            weft_mutex_unlock(&high->lock);
        }
        weft_mutex_unlock(&low->lock);
    }
    return NULL;
}

static void bank_body(void) {
    struct clerk clerks[CLERKS + 2];
    weft_fiber fibers[CLERKS];
    struct on_thread_call calls[2];
    uint64_t seed = wf_test_seed();
    long sum = 0;
    memset(accounts, 0, sizeof accounts); /* all zero is the start */
    for (int i = 0; i < CLERKS + 2; i++)
        clerks[i] = (struct clerk){.seed = seed + (uint64_t)i * 13, .rounds = scaled(4000, 100)};
    for (int i = 0; i < CLERKS; i++)
        SPAWN(&fibers[i], transfer, &clerks[i]);
    for (int i = 0; i < 2; i++)
        on_thread_start(&calls[i], transfer, &clerks[CLERKS + i]);
    for (int i = 0; i < CLERKS; i++)
        JOIN(fibers[i], NULL);
    for (int i = 0; i < 2; i++)
        on_thread_finish(&calls[i]);
    for (int i = 0; i < ACCOUNTS; i++)
        sum += accounts[i].balance;
    CHECK_EQ(sum, 0);
}

TEST(mutexes_inside_other_structures_keep_a_sum) {
    run_fibers(bank_body);
}

static void unlock_twice(void *arg) {
    weft_mutex mutex = WEFT_MUTEX_INIT;
    (void)arg;
    CHECK_EQ(weft_mutex_lock(&mutex, WEFT_NEVER), 0);
    weft_mutex_unlock(&mutex);
    weft_mutex_unlock(&mutex);
}

static void break_rank(void *arg) {
    static weft_mutex low = WEFT_MUTEX_RANKED(10), high = WEFT_MUTEX_RANKED(20);
    (void)arg;
    CHECK_EQ(weft_mutex_lock(&high, WEFT_NEVER), 0);
    weft_mutex_lock(&low, WEFT_NEVER);
}

static weft_mutex ranked = WEFT_MUTEX_RANKED(1);

static void *unlock_ranked(void *arg) {
    weft_mutex_unlock(&ranked);
    return arg;
}

static void unlock_for_another(void *arg) {
    (void)arg;
    CHECK_EQ(weft_mutex_lock(&ranked, WEFT_NEVER), 0);
    thread_join(thread_start(unlock_ranked, NULL));
}

static void count_below_zero(void *arg) {
    weft_waitgroup group = WEFT_WAITGROUP_INIT;
    (void)arg;
    weft_waitgroup_add(&group, 1);
    weft_waitgroup_add(&group, -2);
}

TEST(broken_rules_are_fatal_and_named) {
    struct child_end end = child_run(unlock_twice, NULL);
    CHECK_CHILD_FATAL(&end, "unlocked that is not locked");
    end = child_run(break_rank, NULL);
    CHECK_CHILD_FATAL(&end, "rank 10 was locked while one of rank 20 is held");
    end = child_run(unlock_for_another, NULL);
    CHECK_CHILD_FATAL(&end, "unlocked by another than the one that holds it");
    end = child_run(count_below_zero, NULL);
    CHECK_CHILD_FATAL(&end, "below zero");
}

/* Every call that can wait, on something that does not come: it ends at its deadline and never before. */
static weft_mutex held_mutex = WEFT_MUTEX_INIT;
static weft_rwlock held_rwlock = WEFT_RWLOCK_INIT;
static weft_semaphore no_permits = WEFT_SEMAPHORE_INIT(0);
static weft_waitgroup open_group = WEFT_WAITGROUP_INIT;
static weft_barrier lonely = WEFT_BARRIER_INIT(2);
static weft_cond silent = WEFT_COND_INIT;

static int wait_in_vain(int which, weft_time deadline) {
    weft_case entry = weft_on_semaphore(&no_permits);
    weft_mutex own = WEFT_MUTEX_INIT;
    switch (which) {
    case 0:
        return weft_mutex_lock(&held_mutex, deadline);
    case 1:
        return weft_rwlock_read(&held_rwlock, deadline);
    case 2:
        return weft_rwlock_write(&held_rwlock, deadline);
    case 3:
        return weft_semaphore_acquire(&no_permits, 1, deadline);
    case 4:
        return weft_waitgroup_wait(&open_group, deadline);
    case 5:
        return weft_barrier_wait(&lonely, deadline);
    case 6:
        return weft_select(&entry, 1, deadline);
    default:
        CHECK_EQ(weft_mutex_lock(&own, WEFT_NEVER), 0);
        int status = weft_cond_wait(&silent, &own, deadline);
        weft_mutex_unlock(&own);
        return status;
    }
}
enum { VAIN = 8 };

static void *all_in_vain(void *arg) {
    for (int which = 0; which < VAIN; which++)
        for (int kind = 0; kind < 5; kind++) {
            const weft_time deadlines[] = {WEFT_NOW, 1, INT64_MIN, weft_after(100), weft_after(300 * WEFT_MICROSECOND)};
            CHECK_EQ(wait_in_vain(which, deadlines[kind]), -ETIMEDOUT);
            CHECK_GE(weft_now(), deadlines[kind]);
        }
    return arg;
}

static void deadlines_body(void) {
    weft_fiber fiber;
    CHECK_EQ(weft_mutex_lock(&held_mutex, WEFT_NEVER), 0);
    CHECK_EQ(weft_rwlock_write(&held_rwlock, WEFT_NEVER), 0);
    weft_waitgroup_add(&open_group, 1);
    SPAWN(&fiber, all_in_vain, NULL);
    JOIN(fiber, NULL);
    on_thread(all_in_vain, NULL);
    weft_waitgroup_done(&open_group);
    weft_rwlock_unlock(&held_rwlock);
    weft_mutex_unlock(&held_mutex);
}

TEST(every_call_ends_at_its_deadline_and_never_before) {
    run_fibers(deadlines_body);
}

/* Threads use channels and locks all the while runtimes come and go. */
static weft_chan *requests, *answers;
static weft_mutex log_lock = WEFT_MUTEX_INIT;
static long log_lines;
static atomic_int is_over;

static void write_log(void) {
    CHECK_EQ(weft_mutex_lock(&log_lock, WEFT_NEVER), 0);
    log_lines++;
    weft_mutex_unlock(&log_lock);
}

static void *thread_serve(void *arg) {
    int number;
    while (weft_chan_recv(requests, &number, WEFT_NEVER) == 0) {
        write_log();
        number *= 2;
        CHECK_EQ(weft_chan_send(answers, &number, WEFT_NEVER), 0);
    }
    return arg;
}

static void *thread_log(void *arg) {
    long lines = 0;
    while (!atomic_load(&is_over)) {
        write_log();
        lines++;
        sched_yield();
    }
    return (void *)(intptr_t)(lines + (arg != NULL));
}

static void *ask(void *opaque) {
    int number = (int)(intptr_t)opaque;
    write_log();
    CHECK_EQ(weft_chan_send(requests, &number, WEFT_NEVER), 0);
    CHECK_EQ(weft_chan_recv(answers, &number, WEFT_NEVER), 0);
    return (void *)(intptr_t)number;
}

static void ask_body(void) {
    weft_fiber fibers[4];
    long sum = 0;
    for (int i = 0; i < 4; i++)
        SPAWN(&fibers[i], ask, (void *)(intptr_t)(i + 1));
    for (int i = 0; i < 4; i++) {
        void *answer;
        JOIN(fibers[i], &answer);
        sum += (long)(intptr_t)answer;
    }
    CHECK_EQ(sum, 20); /* whoever got which */
}

TEST(threads_outlive_a_hundred_runtimes) {
    long rounds = scaled(100, 10);
    pthread_t servers[2], logger;
    void *logged;
    log_lines = 0;
    atomic_store(&is_over, 0);
    CHECK_EQ(weft_chan_new(&requests, sizeof(int), 0), 0);
    CHECK_EQ(weft_chan_new(&answers, sizeof(int), 2), 0);
    for (int i = 0; i < 2; i++)
        servers[i] = thread_start(thread_serve, NULL);
    logger = thread_start(thread_log, NULL);
    for (long i = 0; i < rounds; i++)
        run_fibers(ask_body);
    CHECK_EQ(weft_chan_close(requests), 0);
    for (int i = 0; i < 2; i++)
        thread_join(servers[i]);
    atomic_store(&is_over, 1);
    CHECK_EQ(pthread_join(logger, &logged), 0);
    CHECK_EQ(log_lines, rounds * 8 + (long)(intptr_t)logged);
    weft_chan_free(requests);
    weft_chan_free(answers);
}

TEST(objects_work_without_any_runtime) {
    weft_rwlock rwlock = WEFT_RWLOCK_INIT;
    weft_semaphore semaphore = WEFT_SEMAPHORE_INIT(1);
    weft_barrier barrier = WEFT_BARRIER_INIT(1);
    weft_waitgroup group = WEFT_WAITGROUP_INIT;
    CHECK_EQ(weft_rwlock_read(&rwlock, WEFT_NEVER), 0);
    CHECK_EQ(weft_rwlock_write(&rwlock, weft_after(1000)), -ETIMEDOUT);
    weft_rwlock_unlock(&rwlock);
    CHECK_EQ(weft_semaphore_acquire(&semaphore, 1, WEFT_NEVER), 0);
    CHECK_EQ(weft_semaphore_acquire(&semaphore, 1, weft_after(1000)), -ETIMEDOUT);
    CHECK_EQ(weft_barrier_wait(&barrier, WEFT_NEVER), 1);
    CHECK_EQ(weft_waitgroup_wait(&group, WEFT_NEVER), 0);
}
