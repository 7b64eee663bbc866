/* SPDX-License-Identifier: MIT
 *
 * spec/replay_test.c - a seed is a run: the same one each time, and another one for another seed.
 *
 * Planted mistakes that need an unlucky order are found by trying seeds, and the seed that found one finds it again every
 * time. Where other threads share the process from the start (emulators have some), time passes as it does, and the tests
 * of virtual time are left out.
 */
#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/child.h"
#include "support/run.h"

enum { SEEDS = 1000, REPEATS = 100 };

static int run_seed(uint64_t seed, int (*first)(void *arg), void *arg) {
    weft_options options = {.replay_seed = seed, .quiet = true};
    return weft_run(&options, first, arg);
}

static bool has_company(void) {
    DIR *folder = opendir("/proc/self/task");
    int count = 0;
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        count += entry->d_name[0] != '.';
    if (folder)
        closedir(folder);
    return count > 1 + IS_THREAD_SANITIZED;
}

/* A program that writes down what it does and when. */
struct diary {
    char text[8192];
    size_t used;
};

static struct diary diary;

static void write_down(char letter) {
    int room = (int)(sizeof diary.text - diary.used);
    int length = snprintf(diary.text + diary.used, (size_t)room, "%c%lld ", letter, (long long)weft_now());
    CHECK(length < room);
    diary.used += (size_t)length;
}

static void *live(void *arg) {
    char letter = *(const char *)arg;
    for (int i = 0; i < 5; i++) {
        write_down(letter);
        if (i % 2)
            weft_yield();
        else
            CHECK_EQ(weft_sleep(weft_after((letter % 5) * WEFT_MILLISECOND)), 0);
    }
    return NULL;
}

static int live_all(void *arg) {
    static const char letters[] = "abcdefghijklmnopqrst";
    weft_fiber fibers[sizeof letters - 1];
    (void)arg;
    diary.used = 0;
    for (size_t i = 0; i < sizeof letters - 1; i++)
        SPAWN(&fibers[i], live, (void *)&letters[i]);
    for (size_t i = 0; i < sizeof letters - 1; i++)
        JOIN(fibers[i], NULL);
    return 0;
}

TEST(the_same_seed_gives_the_same_run_to_the_nanosecond) {
    static struct diary first;
    if (has_company())
        return;
    CHECK_EQ(run_seed(7, live_all, NULL), 0);
    first = diary;
    for (int i = 0; i < REPEATS; i++) {
        CHECK_EQ(run_seed(7, live_all, NULL), 0);
        CHECK_TEXT(diary.text, first.text);
    }
}

TEST(another_seed_gives_another_run) {
    static struct diary first;
    CHECK_EQ(run_seed(1, live_all, NULL), 0);
    first = diary;
    for (uint64_t seed = 2; seed < 10; seed++) {
        CHECK_EQ(run_seed(seed, live_all, NULL), 0);
        CHECK(strcmp(diary.text, first.text) != 0);
    }
}

/* Each planted mistake returns 1 when it was made. */
static long balance;

static void *add_one(void *arg) {
    long before = balance;
    weft_yield(); /* the mistake: somebody else may have written meanwhile */
    balance = before + 1;
    return arg;
}

static int lose_an_update(void *arg) {
    weft_fiber fibers[2];
    (void)arg;
    balance = 0;
    SPAWN(&fibers[0], add_one, NULL);
    JOIN(fibers[0], NULL); /* the first one is safe: only the order of the others can go wrong */
    for (int i = 0; i < 2; i++)
        SPAWN(&fibers[i], add_one, NULL);
    JOIN(fibers[0], NULL);
    JOIN(fibers[1], NULL);
    return balance == 3 ? 0 : 1;
}

/* Looks, makes a call that may block, and acts on what it saw: only a fiber that was made to yield inside of the call lets
 * the other one in between. */
static int owners;

static void *take_ownership(void *arg) {
    if (owners == 0) {
        weft_join(*(weft_fiber *)arg, NULL, WEFT_NOW);
        owners++;
    }
    return NULL;
}

static void *stay(void *arg) {
    return arg;
}

static int own_twice(void *arg) {
    weft_fiber stayer, fibers[2];
    (void)arg;
    owners = 0;
    SPAWN(&stayer, stay, NULL);
    for (int i = 0; i < 2; i++)
        SPAWN(&fibers[i], take_ownership, &stayer);
    JOIN(fibers[0], NULL);
    JOIN(fibers[1], NULL);
    weft_join(stayer, NULL, WEFT_NEVER);
    return owners == 1 ? 0 : 1;
}

/* Goes wrong only when the last three of seven fibers come first, backwards: one order of 210. */
static int places[7];
static int next_place;

static void *take_place(void *arg) {
    *(int *)arg = next_place++;
    return NULL;
}

static int come_backwards(void *arg) {
    weft_fiber fibers[7];
    (void)arg;
    next_place = 0;
    for (int i = 0; i < 7; i++)
        SPAWN(&fibers[i], take_place, &places[i]);
    for (int i = 0; i < 7; i++)
        JOIN(fibers[i], NULL);
    return places[6] == 0 && places[5] == 1 && places[4] == 2;
}

static void find_and_repeat(int (*program)(void *arg)) {
    uint64_t found = 0;
    for (uint64_t seed = 1; seed <= SEEDS && !found; seed++)
        if (run_seed(seed, program, NULL) != 0)
            found = seed;
    CHECK_GE(found, 1);
    printf("found with seed %llu\n", (unsigned long long)found);
    for (int i = 0; i < REPEATS; i++)
        CHECK_EQ(run_seed(found, program, NULL), 1);
}

TEST(a_lost_update_is_found_and_found_again) {
    find_and_repeat(lose_an_update);
}

TEST(a_look_before_a_call_that_may_block_is_found_and_found_again) {
    find_and_repeat(own_twice);
}

TEST(a_rare_order_is_found_and_found_again) {
    find_and_repeat(come_backwards);
}

#define YEAR (365 * 24 * 3600 * WEFT_SECOND)

static void *sleep_for_a_year(void *arg) {
    weft_time moment = weft_after(YEAR);
    CHECK_EQ(weft_sleep(moment), 0);
    CHECK_GE(weft_now(), moment);
    return arg;
}

static int sleep_for_years(void *arg) {
    weft_fiber fiber;
    (void)arg;
    weft_time start = weft_now();
    SPAWN(&fiber, sleep_for_a_year, NULL);
    CHECK_EQ(weft_join(fiber, NULL, weft_after(WEFT_SECOND)), -ETIMEDOUT);
    CHECK_LE(weft_now(), start + 2 * WEFT_SECOND);
    JOIN(fiber, NULL);
    for (int i = 0; i < 99; i++)
        sleep_for_a_year(NULL);
    CHECK_GE(weft_now(), start + 100 * YEAR);
    return 0;
}

TEST(a_century_of_sleep_is_over_at_once_and_leaves_the_clock_as_it_was) {
    if (has_company())
        return;
    weft_time before = weft_now();
    CHECK_EQ(run_seed(1, sleep_for_years, NULL), 0);
    CHECK_GE(weft_now(), before);
    CHECK_LE(weft_now(), before + YEAR);
}

static int yield_until_later(void *arg) {
    weft_fiber fiber;
    (void)arg;
    SPAWN(&fiber, stay, NULL);
    weft_time moment = weft_after(WEFT_MILLISECOND);
    while (weft_now() < moment)
        weft_yield();
    JOIN(fiber, NULL);
    return 0;
}

TEST(a_loop_that_looks_at_the_clock_ends) {
    CHECK_EQ(run_seed(1, yield_until_later, NULL), 0);
}

static int count_workers(void *arg) {
    weft_stats stats;
    (void)arg;
    CHECK_EQ(weft_get_stats(NULL, &stats), 0);
    return (int)stats.workers;
}

TEST(replay_has_one_worker_whatever_was_asked_for) {
    weft_options options = {.replay_seed = 1, .workers = 4};
    CHECK_EQ(weft_run(&options, count_workers, NULL), 1);
}

static void run_with_variable(void *arg) {
    weft_options options = {.workers = 2};
    setenv("WEFT_SEED", arg, 1);
    int outcome = weft_run(&options, count_workers, NULL);
    _exit(outcome == 1 ? 0 : outcome == -EINVAL ? 1 : 2);
}

TEST(the_variable_takes_a_number_from_one_and_refuses_the_rest) {
    struct child_end end = child_run(run_with_variable, "18446744073709551614");
    CHECK_CHILD_WELL(&end);
    static const char *const wrong[] = {"0", "", "-1", "seven", "1x"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        end = child_run(run_with_variable, (void *)wrong[i]);
        CHECK(WIFEXITED(end.status));
        CHECK_EQ(WEXITSTATUS(end.status), 1);
        CHECK(strstr(end.text, "WEFT_SEED") != NULL);
    }
}

/* Plain threads next to a replay. */
static atomic_int second_outcome;
static atomic_int is_over;

static void *start_a_second_one(void *arg) {
    (void)arg;
    atomic_store(&second_outcome, run_seed(2, count_workers, NULL));
    atomic_store(&is_over, 1);
    return NULL;
}

static int start_thread_and_wait(void *arg) {
    void *(**fn)(void *) = arg;
    atomic_store(&is_over, 0);
    pthread_t thread = thread_start(*fn, NULL);
    WAIT_UNTIL(atomic_load(&is_over));
    thread_join(thread);
    return 0;
}

TEST(a_second_replay_at_the_same_time_is_busy) {
    void *(*fn)(void *) = start_a_second_one;
    CHECK_EQ(run_seed(1, start_thread_and_wait, &fn), 0);
    CHECK_EQ(atomic_load(&second_outcome), -EBUSY);
    CHECK_EQ(run_seed(2, count_workers, NULL), 1);
}

static void *answer(void *arg) {
    CHECK_EQ(weft_sleep(weft_after(3 * WEFT_MILLISECOND)), 0);
    return arg;
}

static void *use_time_outside(void *arg) {
    weft_fiber fiber;
    void *result = NULL;
    weft_time moment = weft_after(2 * WEFT_MILLISECOND);
    CHECK_EQ(weft_sleep(moment), 0);
    CHECK_GE(weft_now(), moment);
    SPAWN(&fiber, answer, &fiber);
    moment = weft_after(WEFT_MILLISECOND);
    int error = weft_join(fiber, &result, moment);
    if (error) {
        CHECK_EQ(error, -ETIMEDOUT);
        CHECK_GE(weft_now(), moment);
        JOIN(fiber, &result);
    }
    CHECK(result == &fiber);
    atomic_store(&is_over, 1);
    return arg;
}

static int sleep_while_a_thread_works(void *arg) {
    (void)arg;
    atomic_store(&is_over, 0);
    pthread_t thread = thread_start(use_time_outside, NULL);
    while (!atomic_load(&is_over))
        CHECK_EQ(weft_sleep(weft_after(WEFT_MILLISECOND)), 0);
    thread_join(thread);
    return 0;
}

TEST(threads_wait_for_moments_and_fibers_for_threads) {
    void *(*fn)(void *) = use_time_outside;
    CHECK_EQ(run_seed(1, start_thread_and_wait, &fn), 0);
    CHECK_EQ(run_seed(1, sleep_while_a_thread_works, NULL), 0);
}

static int fork_and_replay(void *arg) {
    (void)arg;
    int status = 0;
    pid_t pid = fork();
    CHECK_GE(pid, 0);
    if (pid == 0)
        _exit(run_seed(2, count_workers, NULL) == 1 ? 23 : 1);
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK(WIFEXITED(status));
    CHECK_EQ(WEXITSTATUS(status), 23);
    return 0;
}

TEST(the_child_of_a_fork_may_start_a_replay_of_its_own) {
    if (has_company())
        return;
    CHECK_EQ(run_seed(1, fork_and_replay, NULL), 0);
}
