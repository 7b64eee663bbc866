/* SPDX-License-Identifier: MIT
 *
 * spec/pool_threads_test.c - the threads of a pool: how many, when they come and go, and what runs on them.
 *
 * How many there are is read from weft_pool_get_stats. Threads come and go in their own time, so numbers are waited for; that
 * nothing more happens is only said where something that comes later shows it.
 */
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "spec/pool.h"

enum { WAITING_WORKS = 10000, LONGS = 5 };

static atomic_int runs;
static const weft_work_options stores = {.store_result = true};

static void wait_for_threads(weft_pool *pool, unsigned count) {
    WAIT_UNTIL(pool_stats(pool).threads == count);
}

/* ---- A number that is given ---- */

TEST(as_many_works_run_at_once_as_there_are_threads) {
    const unsigned counts[] = {1, wf_test_workers(), 33};
    for (int i = 0; i < 3; i++) {
        weft_pool *pool = make_pool_of(counts[i]);
        atomic_store(&runs, 0);
        occupy(pool, counts[i]);
        submit(pool, count_up, &runs);
        weft_pool_stats stats = pool_stats(pool);
        CHECK_EQ(stats.threads, counts[i]);
        CHECK_EQ(stats.running, counts[i]);
        CHECK_EQ(stats.queued, 1);
        CHECK_EQ(atomic_load(&runs), 0);
        let_go();
        end_pool(pool);
    }
}

/* Scenario 33. */
TEST(more_threads_take_over_what_is_queued) {
    weft_pool *pool = make_pool_of(1);
    atomic_store(&runs, 0);
    occupy(pool, 1);
    for (int i = 0; i < 8; i++)
        submit(pool, keep_busy, NULL);
    CHECK_EQ(pool_stats(pool).queued, 8);
    CHECK_EQ(weft_pool_set_threads(pool, 0, 4), 0);
    WAIT_UNTIL(atomic_load(&busy.begun) == 4);
    wait_for_threads(pool, 4);
    CHECK_EQ(pool_stats(pool).queued, 5);
    CHECK_EQ(weft_pool_set_threads(pool, 0, 10), 0);
    WAIT_UNTIL(atomic_load(&busy.begun) == 9);
    wait_for_threads(pool, 10);
    WAIT_UNTIL(pool_stats(pool).threads_idle == 1);
    let_go();
    end_pool(pool);
}

TEST(threads_that_are_too_many_go_when_their_works_end) {
    weft_pool *pool = make_pool_of(4);
    atomic_store(&runs, 0);
    occupy(pool, 4);
    CHECK_EQ(weft_pool_set_threads(pool, 0, 1), 0);
    for (int i = 0; i < 100; i++)
        submit(pool, count_up, &runs);
    CHECK_EQ(pool_stats(pool).running, 4);
    let_go();
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    CHECK_EQ(atomic_load(&runs), 100);
    wait_for_threads(pool, 1);
    occupy(pool, 1);
    submit(pool, count_up, &runs);
    CHECK_EQ(pool_stats(pool).queued, 1);
    let_go();
    end_pool(pool);
}

TEST(wrong_numbers_of_threads_are_refused) {
    weft_pool *pool = make_pool(NULL);
    CHECK_EQ(weft_pool_set_threads(NULL, 0, 1), -EINVAL);
    CHECK_EQ(weft_pool_set_threads(pool, 0, 0), -EINVAL);
    CHECK_EQ(weft_pool_set_threads(pool, 0, WEFT_POOL_THREADS_MAX + 1), -EINVAL);
    CHECK_EQ(weft_pool_set_threads(pool, 5, 1), 0); /* the first counts in an elastic pool only */
    end_pool(pool);
    pool = make_pool(&(weft_pool_options){.threads = 2, .elastic = true});
    CHECK_EQ(weft_pool_set_threads(pool, 3, 2), -EINVAL);
    end_pool(pool);
}

static atomic_bool is_shrunk;

static void *submit_until_shrunk(void *arg) {
    long submitted = 0;
    while (!atomic_load(&is_shrunk) || submitted < 1000) {
        submit(arg, count_up, &runs);
        submitted++;
        if (submitted % 64 == 0)
            sched_yield();
    }
    return (void *)submitted;
}

TEST(a_pool_that_shrinks_one_by_one_under_load_loses_nothing) {
    unsigned most = IS_SANITIZED ? 12 : 100;
    weft_pool *pool = make_pool_of(most);
    void *submitted;
    atomic_store(&runs, 0);
    atomic_store(&is_shrunk, false);
    pthread_t thread = thread_start(submit_until_shrunk, pool);
    for (unsigned count = most - 1; count > 0; count--)
        CHECK_EQ(weft_pool_set_threads(pool, 0, count), 0);
    atomic_store(&is_shrunk, true);
    CHECK_EQ(pthread_join(thread, &submitted), 0);
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    CHECK_EQ(atomic_load(&runs), (intptr_t)submitted);
    wait_for_threads(pool, 1);
    end_pool(pool);
}

TEST(a_pool_whose_size_changes_at_random_loses_nothing) {
    uint64_t random = wf_test_seed();
    weft_pool *pool = make_pool(NULL);
    long count = scaled(300, 20);
    atomic_store(&runs, 0);
    for (long i = 0; i < count; i++) {
        CHECK_EQ(weft_pool_set_threads(pool, 0, 1 + (unsigned)random_below(&random, 12)), 0);
        for (int j = 0; j < 20; j++)
            submit(pool, count_up, &runs);
    }
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    CHECK_EQ(atomic_load(&runs), count * 20);
    end_pool(pool);
}

/* ---- Elastic pools ---- */

static int count_tasks(void) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/stat");
    FILE *file = fopen(path, "re");
    char text[1024];
    CHECK(file != NULL);
    CHECK(fgets(text, sizeof text, file) != NULL);
    fclose(file);
    int threads = 0;
    CHECK_EQ(sscanf(strrchr(text, ')'), ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d",
                    &threads),
             1);
    return threads;
}

/* Scenario 35. */
static void live_without_threads(void) {
    int before = count_tasks();
    weft_pool *pool = make_pool(&(weft_pool_options){.elastic = true, .keep_alive = -1});
    CHECK_EQ(pool_stats(pool).threads, 0);
    CHECK_LE(count_tasks(), before + 1); /* its clock, which runs no works */
    atomic_store(&runs, 0);
    for (int round = 1; round <= 20; round++) {
        for (int i = 0; i < 10; i++)
            submit(pool, count_up, &runs);
        CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
        CHECK_EQ(atomic_load(&runs), 10 * round);
        wait_for_threads(pool, 0);
    }
    WAIT_UNTIL(count_tasks() <= before + 1);
    end_pool(pool);
}

TEST(an_elastic_pool_with_no_least_number_lives_without_threads) {
    int before = count_tasks();
    live_without_threads();
    WAIT_UNTIL(count_tasks() <= before);
}

TEST(an_elastic_pool_grows_as_needed_and_shrinks_to_its_least_number) {
    weft_pool *pool = make_pool(
        &(weft_pool_options){.threads = 6, .elastic = true, .min_threads = 2, .keep_alive = WEFT_MILLISECOND});
    for (int round = 0; round < 3; round++) {
        occupy(pool, 6);
        CHECK_EQ(pool_stats(pool).threads, 6);
        submit(pool, count_up, &runs);
        CHECK_EQ(pool_stats(pool).queued, 1);
        let_go();
        CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
        wait_for_threads(pool, 2);
    }
    end_pool(pool);
}

TEST(an_elastic_pool_keeps_its_threads_for_as_long_as_it_is_told) {
    weft_pool *pool = make_pool(&(weft_pool_options){.threads = 3, .elastic = true, .keep_alive = 1000 * PATIENCE_NS});
    occupy(pool, 3);
    let_go();
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    CHECK_EQ(pool_stats(pool).threads, 3);
    occupy(pool, 3);
    let_go();
    end_pool(pool);
}

TEST(an_elastic_pool_takes_new_bounds) {
    weft_pool *pool = make_pool(
        &(weft_pool_options){.threads = 2, .elastic = true, .min_threads = 1, .keep_alive = WEFT_MILLISECOND});
    occupy(pool, 2);
    CHECK_EQ(weft_pool_set_threads(pool, 3, 5), 0);
    for (int i = 0; i < 3; i++)
        submit(pool, keep_busy, NULL);
    WAIT_UNTIL(atomic_load(&busy.begun) == 5);
    let_go();
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    wait_for_threads(pool, 3);
    CHECK_EQ(weft_pool_set_threads(pool, 0, 1), 0);
    wait_for_threads(pool, 0);
    submit(pool, count_up, &runs);
    end_pool(pool);
}

TEST(a_work_that_comes_when_the_threads_go_wins) {
    const int64_t keep_alives[] = {-1, 1, 20 * WEFT_MICROSECOND};
    uint64_t random = wf_test_seed();
    for (int i = 0; i < 3; i++) {
        weft_pool *pool = make_pool(&(weft_pool_options){.elastic = true, .keep_alive = keep_alives[i]});
        long rounds = scaled(300, 30);
        atomic_store(&runs, 0);
        for (long round = 1; round <= rounds; round++) {
            for (uint64_t j = random_below(&random, 200); j > 0; j--)
                sched_yield();
            submit(pool, count_up, &runs);
            CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
            CHECK_EQ(atomic_load(&runs), round);
        }
        end_pool(pool);
    }
}

static int look_around(void *arg) {
    CHECK(weft_work_pool() == arg);
    CHECK_EQ(weft_sleep(weft_after(1)), 0);
    atomic_fetch_add(&runs, 1);
    return 0;
}

TEST(an_elastic_pool_runs_every_kind_of_work) {
    const weft_work_options kinds[] = {{.store_result = true},
                                       {.store_result = true, .long_running = true},
                                       {.store_result = true, .on_thread_stack = true}};
    weft_pool *pool = make_pool(&(weft_pool_options){.elastic = true, .keep_alive = -1});
    atomic_store(&runs, 0);
    for (int i = 0; i < 9; i++) {
        CHECK_EQ(result_of(pool, submit_with(pool, &kinds[i % 3], look_around, pool)).status, WEFT_WORK_SUCCEEDED);
        if (i % 2)
            wait_for_threads(pool, 0);
    }
    CHECK_EQ(atomic_load(&runs), 9);
    submit(pool, look_around, pool);
    weft_pool_free(pool); /* whatever its threads do at the moment */
}

/* ---- Long-running works ---- */

static atomic_int longs;

static int run_long(void *arg) {
    CHECK(weft_is_bound());
    atomic_fetch_add(&longs, 1);
    COMPUTE_UNTIL(weft_work_stop_point(NULL, NULL));
    return (int)(intptr_t)arg;
}

/* Scenario 36. */
static void run_beside_long_works(void) {
    weft_pool *pool = make_pool_of(1);
    weft_work works[LONGS];
    atomic_store(&longs, 0);
    atomic_store(&runs, 0);
    for (int i = 0; i < LONGS; i++)
        works[i] = submit_with(pool, &(weft_work_options){.long_running = true, .store_result = true}, run_long, NULL);
    WAIT_UNTIL(atomic_load(&longs) == LONGS);
    CHECK_EQ(pool_stats(pool).threads_long, LONGS);
    CHECK_EQ(pool_stats(pool).threads, 1);
    for (int i = 0; i < 100; i++)
        submit(pool, count_up, &runs);
    WAIT_UNTIL(atomic_load(&runs) == 100);
    CHECK_EQ(weft_pool_control_works(pool, WEFT_STOP, works, LONGS, NULL), 0);
    for (int i = 0; i < LONGS; i++)
        CHECK_EQ(result_of(pool, works[i]).status, WEFT_WORK_STOPPED);
    WAIT_UNTIL(pool_stats(pool).threads_long == 0);
    end_pool(pool);
}

TEST(long_running_works_have_threads_of_their_own) {
    everywhere(run_beside_long_works);
}

TEST(a_long_running_work_is_cancelled_while_it_is_held) {
    weft_pool *pool = make_pool(&(weft_pool_options){.suspended = true});
    weft_work work = submit_with(pool, &(weft_work_options){.long_running = true}, run_long, NULL);
    CHECK_EQ(weft_pool_control(pool, WEFT_CANCEL, work), 0);
    CHECK_EQ(weft_pool_start(pool), 0);
    CHECK_EQ(pool_stats(pool).threads_long, 0);
    end_pool(pool);
}

/* ---- On the stack of the thread ---- */

static weft_chan *chan;

/* More than a fiber has by default. */
static int use_stack(void *arg) {
    volatile char room[600 * 1024];
    for (size_t i = 0; i < sizeof room; i += 512)
        room[i] = (char)i;
    CHECK_EQ(weft_self().bits, 0);
    return room[512] == 0 ? (int)(intptr_t)arg : -1;
}

static int receive_on_thread(void *arg) {
    char byte = 0;
    atomic_fetch_add(&busy.begun, 1);
    CHECK_EQ(weft_chan_recv(chan, &byte, WEFT_NEVER), 0);
    CHECK_EQ(weft_chan_recv(chan, &byte, weft_after(1)), -ETIMEDOUT);
    return byte + (int)(intptr_t)arg;
}

static int panic_on_thread(void *arg) {
    (void)arg;
    weft_panic("on the stack of the thread");
}

TEST(a_work_on_the_stack_of_its_thread_blocks_it_when_it_waits) {
    weft_pool *pool = make_pool_of(1);
    weft_work_options options = {.on_thread_stack = true, .store_result = true};
    char byte = 40;
    CHECK_EQ(weft_chan_new(&chan, 1, 0), 0);
    CHECK_EQ(result_of(pool, submit_with(pool, &options, use_stack, (void *)9)).code, 9);
    atomic_store(&runs, 0);
    atomic_store(&busy.begun, 0);
    weft_work work = submit_with(pool, &options, receive_on_thread, (void *)2);
    WAIT_UNTIL(atomic_load(&busy.begun) == 1);
    submit(pool, count_up, &runs);
    CHECK_EQ(weft_pool_wait_work(pool, work, NULL, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    CHECK_EQ(atomic_load(&runs), 0);
    CHECK_EQ(weft_chan_send(chan, &byte, WEFT_NEVER), 0);
    CHECK_EQ(result_of(pool, work).code, 42);
    weft_result result = result_of(pool, submit_with(pool, &options, panic_on_thread, NULL));
    CHECK_EQ(result.status, WEFT_WORK_FAILED);
    CHECK_EQ(result.error, -EOWNERDEAD);
    weft_chan_free(chan);
    end_pool(pool);
}

static int use_fiber_stack(void *arg) {
    volatile char room[600 * 1024];
    for (size_t i = 0; i < sizeof room; i += 512)
        room[i] = (char)i;
    CHECK(weft_self().bits != 0);
    return room[512] == 0 ? (int)(intptr_t)arg : -1;
}

TEST(works_have_the_stack_that_the_pool_gives_them) {
    weft_pool *pool = make_pool(&(weft_pool_options){.stack_size = 1 << 20});
    CHECK_EQ(result_of(pool, submit_with(pool, &stores, use_fiber_stack, (void *)3)).code, 3);
    end_pool(pool);
}

/* ---- What its threads are like ---- */

struct likeness {
    char name[16];
    int nice;
    int cpus;
    bool has_first;
};

static int look_at_thread(void *arg) {
    struct likeness *likeness = arg;
    cpu_set_t set;
    atomic_fetch_add(&busy.begun, 1);
    CHECK_EQ(prctl(PR_GET_NAME, likeness->name), 0);
    likeness->nice = getpriority(PRIO_PROCESS, 0);
    CHECK_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    likeness->cpus = CPU_COUNT(&set);
    likeness->has_first = CPU_ISSET(0, &set);
    COMPUTE_UNTIL(atomic_load(&busy.is_over)); /* so that each is on a thread of its own */
    return 0;
}

static void look_at_threads(const weft_pool_options *options, struct likeness *likenesses, unsigned count) {
    weft_pool *pool = make_pool(options);
    atomic_store(&busy.begun, 0);
    atomic_store(&busy.is_over, false);
    for (unsigned i = 0; i < count; i++)
        submit(pool, look_at_thread, &likenesses[i]);
    WAIT_UNTIL(atomic_load(&busy.begun) == count);
    let_go();
    end_pool(pool);
}

TEST(threads_have_the_name_nice_and_processors_of_the_pool) {
    struct likeness seen[3];
    look_at_threads(&(weft_pool_options){.threads = 3}, seen, 3);
    for (int i = 0; i < 3; i++)
        CHECK(strncmp(seen[i].name, "weft-pool", 9) == 0);
    char name[] = "elevenbytes", cpus[] = "0";
    weft_pool_options options = {.threads = 3, .name = name, .nice = getpriority(PRIO_PROCESS, 0) + 1, .cpus = cpus};
    look_at_threads(&options, seen, 3);
    for (int i = 0; i < 3; i++) {
        CHECK(strncmp(seen[i].name, "elevenbytes", 11) == 0);
        CHECK_EQ(seen[i].nice, options.nice);
        CHECK_EQ(seen[i].cpus, 1);
        CHECK(seen[i].has_first);
    }
    weft_pool *pool = NULL;
    CHECK_EQ(weft_pool_new(&pool, &(weft_pool_options){.cpus = "1023"}), -EINVAL);
    CHECK(pool == NULL);
}

TEST(names_are_copied) {
    char name[] = "mine", cpus[] = "0";
    weft_pool *pool = make_pool(&(weft_pool_options){.threads = 1, .elastic = true, .name = name, .cpus = cpus});
    memset(name, 'x', sizeof name - 1);
    memset(cpus, 'x', sizeof cpus - 1);
    struct likeness seen = {.nice = 0};
    atomic_store(&busy.is_over, true);
    submit(pool, look_at_thread, &seen); /* only now does it start */
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    CHECK(strncmp(seen.name, "mine", 4) == 0);
    end_pool(pool);
}

/* ---- Works that wait for works ---- */

static struct {
    weft_pool *pool;
    weft_work *works;
    long count;
    int step; /* which one each waits for: the next, or the one before */
} chain;

static int wait_for_neighbour(void *arg) {
    long other = (intptr_t)arg + chain.step;
    if (other >= 0 && other < chain.count) {
        int status = weft_pool_wait_work(chain.pool, chain.works[other], NULL, WEFT_NEVER);
        CHECK(status == 0 || status == -ESTALE); /* it was over already */
    }
    atomic_fetch_add(&runs, 1);
    return 0;
}

static void wait_in_a_chain(unsigned threads, int step) {
    chain.pool = make_pool(&(weft_pool_options){.threads = threads, .suspended = true});
    chain.count = scaled(WAITING_WORKS, 200);
    chain.step = step;
    chain.works = calloc((size_t)chain.count, sizeof *chain.works);
    CHECK(chain.works != NULL);
    atomic_store(&runs, 0);
    for (long i = 0; i < chain.count; i++)
        chain.works[i] = submit(chain.pool, wait_for_neighbour, (void *)(intptr_t)i);
    CHECK_EQ(weft_pool_start(chain.pool), 0);
    CHECK_EQ(weft_pool_wait(chain.pool, WEFT_NEVER), 0);
    CHECK_EQ(atomic_load(&runs), chain.count);
    end_pool(chain.pool);
    free(chain.works);
}

/* All but the last of them wait at the same time. */
TEST(two_threads_are_enough_for_ten_thousand_works_that_wait_for_each_other) {
    wait_in_a_chain(2, 1);
    wait_in_a_chain(2, -1);
    wait_in_a_chain(wf_test_workers(), 1);
    wait_in_a_chain(33, 1);
}

/* ---- Divide and conquer ---- */

enum { NUMBERS = 100000, LEAF = IS_SANITIZED ? 4000 : 1000 };

struct part {
    int64_t begin;
    int64_t end;
    int64_t sum;
    bool helps;
};

static int sum_up(void *opaque) {
    struct part *part = opaque;
    if (part->end - part->begin <= LEAF) {
        for (int64_t i = part->begin; i < part->end; i++)
            part->sum += i;
        return 0;
    }
    int64_t middle = part->begin + (part->end - part->begin) / 2;
    struct part halves[] = {{part->begin, middle, 0, part->helps}, {middle, part->end, 0, part->helps}};
    for (int i = 0; i < 2; i++) {
        weft_work work = submit(weft_work_pool(), sum_up, &halves[i]);
        int status = part->helps ? weft_pool_help_work(weft_work_pool(), work, NULL, WEFT_NEVER)
                                 : weft_pool_wait_work(weft_work_pool(), work, NULL, WEFT_NEVER);
        CHECK(status == 0 || status == -ESTALE); /* it was over already */
        part->sum += halves[i].sum;
    }
    return 0;
}

TEST(a_recursive_sum_is_right_with_every_discipline_placement_and_wait) {
    for (int discipline = WEFT_POOL_FIFO; discipline <= WEFT_POOL_DEQUE; discipline++)
        for (int placement = WEFT_PLACE_SHARED; placement <= WEFT_PLACE_IDLE_THEN_LOCAL; placement++)
            for (int i = 0; i < 4; i++) {
                weft_pool *pool = make_pool(&(weft_pool_options){.discipline = (weft_discipline)discipline,
                                                                 .placement = (weft_placement)placement,
                                                                 .steal_one = i / 2});
                struct part all = {0, NUMBERS, 0, i % 2};
                weft_work work = submit_with(pool, &stores, sum_up, &all);
                CHECK_EQ(weft_pool_help_work(pool, work, NULL, WEFT_NEVER), 0);
                CHECK_EQ(all.sum, INT64_C(4999950000));
                end_pool(pool);
            }
}
