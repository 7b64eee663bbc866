/* SPDX-License-Identifier: MIT
 *
 * spec/loop_poll_test.c - a loop that sleeps in epoll: registering, waking and ending it meanwhile, and its hosts.
 *
 * The loop is run by a thread of its own, and the test acts when it is asleep.
 */
#include <signal.h>

#include "spec/loop_fd.h"

/* ---- While the loop sleeps ---- */

/* The first descriptor comes while the loop sleeps on a word in memory: it has to change its bed. */
TEST(a_descriptor_that_is_registered_while_the_loop_sleeps_wakes_it) {
    int ends[2];
    struct told told = {.removes = true};
    struct running running;
    pipe_open(ends);
    loop_open();
    CHECK_EQ(weft_loop_keep(loop), 0);
    running_start(&running, WEFT_LOOP_UNTIL_QUIET);
    wait_asleep();
    add(ends[0], WEFT_FD_READ, &told);
    wait_asleep();
    put_byte(ends[1]);
    WAIT_UNTIL(weft_loop_fd_modify(loop, ends[0], WEFT_FD_READ) == -ENOENT);
    weft_loop_unkeep(loop);
    CHECK_EQ(running_join(&running), 0);
    CHECK_EQ(told.calls, 1);
    loop_drop();
    pair_close(ends);
}

TEST(registering_does_not_wait_for_a_loop_that_sleeps_in_epoll) {
    int ends[2][2];
    struct told told[2] = {{.removes = true}, {.removes = true}};
    struct running running;
    loop_open();
    pipe_open(ends[0]);
    pipe_open(ends[1]);
    add(ends[0][0], WEFT_FD_READ, &told[0]);
    running_start(&running, WEFT_LOOP_UNTIL_QUIET);
    wait_asleep();
    add(ends[1][0], WEFT_FD_READ, &told[1]);
    CHECK_EQ(weft_loop_fd_modify(loop, ends[0][0], 0), 0);
    put_byte(ends[1][1]);
    WAIT_UNTIL(weft_loop_fd_modify(loop, ends[1][0], WEFT_FD_READ) == -ENOENT);
    wait_asleep();
    put_byte(ends[0][1]);
    CHECK_EQ(weft_loop_fd_modify(loop, ends[0][0], WEFT_FD_READ), 0);
    CHECK_EQ(running_join(&running), 0);
    CHECK_EQ(told[0].calls, 1);
    CHECK_EQ(told[1].calls, 1);
    loop_drop();
    pair_close(ends[0]);
    pair_close(ends[1]);
}

/* A loop that sleeps because of the read end of a pipe. */
static void asleep_on_pipe(int ends[2], struct told *told, struct running *running) {
    pipe_open(ends);
    loop_open();
    add(ends[0], WEFT_FD_READ, told);
    running_start(running, WEFT_LOOP_UNTIL_QUIET);
    wait_asleep();
}

TEST(a_sleeping_loop_ends_when_its_last_descriptor_is_removed) {
    int ends[2];
    struct told told = {0};
    struct running running;
    asleep_on_pipe(ends, &told, &running);
    close(ends[0]);
    CHECK_EQ(weft_loop_fd_remove(loop, ends[0]), 0);
    CHECK_EQ(running_join(&running), 0);
    CHECK_EQ(told.calls, 0);
    loop_drop();
    close(ends[1]);
}

static void end_asleep(int (*end)(weft_loop *loop, weft_time deadline)) {
    int ends[2];
    struct told told = {0};
    struct running running;
    asleep_on_pipe(ends, &told, &running);
    CHECK_EQ(end(loop, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(running_join(&running), 0);
    loop_drop();
    pair_close(ends);
}

TEST(a_loop_that_sleeps_in_epoll_can_be_ended) {
    end_asleep(weft_loop_shutdown);
    end_asleep(weft_loop_close);
}

static atomic_long submitted_ran;

static void count_submitted(void *arg) {
    (void)arg;
    atomic_fetch_add(&submitted_ran, 1);
}

TEST(what_is_submitted_to_a_loop_that_sleeps_in_epoll_runs) {
    int ends[2];
    struct told told = {0};
    struct running running;
    pipe_open(ends);
    loop_open();
    add(ends[0], WEFT_FD_READ, &told);
    running_start(&running, WEFT_LOOP_UNTIL_QUIET);
    atomic_store(&submitted_ran, 0);
    long rounds = scaled(2000, 200);
    for (long i = 0; i < rounds; i++) {
        wait_asleep();
        CHECK_EQ(weft_loop_submit(loop, count_submitted, NULL), 0);
        WAIT_UNTIL(atomic_load(&submitted_ran) == i + 1);
    }
    CHECK_EQ(weft_loop_fd_remove(loop, ends[0]), 0);
    CHECK_EQ(running_join(&running), 0);
    loop_drop();
    pair_close(ends);
}

static void ignore_signal(int number) {
    (void)number;
}

static atomic_int storm_is_over;
static pthread_t storm_target;

static void *storm_main(void *arg) {
    while (!atomic_load(&storm_is_over)) {
        pthread_kill(storm_target, SIGUSR1);
        sched_yield();
    }
    return arg;
}

/* The wait goes on after a signal with what is left of its time, and no longer. */
TEST(a_storm_of_signals_does_not_move_a_deadline) {
    int ends[2];
    struct told told = {0};
    struct sigaction before;
    struct sigaction ignore = {.sa_handler = ignore_signal};
    CHECK_EQ(sigaction(SIGUSR1, &ignore, &before), 0);
    pipe_open(ends);
    loop_open();
    add(ends[0], WEFT_FD_READ, &told);
    atomic_store(&storm_is_over, 0);
    storm_target = pthread_self();
    pthread_t storm = thread_start(storm_main, NULL);
    weft_time start = weft_now();
    CHECK_EQ(weft_loop_run(loop, WEFT_LOOP_UNTIL_QUIET, start + 100 * WEFT_MILLISECOND), -ETIMEDOUT);
    int64_t took = weft_now() - start;
    atomic_store(&storm_is_over, 1);
    thread_join(storm);
    CHECK_GE(took, 100 * WEFT_MILLISECOND);
    CHECK_LE(took, 5 * WEFT_SECOND);
    CHECK_EQ(sigaction(SIGUSR1, &before, NULL), 0);
    loop_drop();
    pair_close(ends);
}

static void check_not_early(void *arg) {
    CHECK_GE(weft_now(), *(weft_time *)arg);
}

TEST_BOTH(beside_descriptors_no_timer_is_early) {
    int ends[2];
    struct told told = {0};
    weft_time due[20];
    pipe_open(ends);
    loop_open();
    add(ends[0], WEFT_FD_READ, &told);
    for (int i = 0; i < 20; i++) {
        int64_t delay = i * 173 * WEFT_MICROSECOND + i;
        due[i] = weft_now() + delay;
        CHECK_EQ(weft_set_timeout(loop, NULL, delay, check_not_early, &due[i]), 0);
    }
    CHECK_EQ(weft_loop_run(loop, WEFT_LOOP_UNTIL_QUIET, weft_after(5 * WEFT_MILLISECOND)), -ETIMEDOUT);
    loop_drop();
    pair_close(ends);
}

/* ---- Ways to sleep ---- */

TEST_BOTH(forced_and_descriptors_exclude_each_other) {
    int ends[2];
    struct told told = {0};
    pipe_open(ends);
    weft_loop_options options = {.fast = WEFT_LOOP_FAST_FORCED};
    loop_open_with(&options);
    CHECK_EQ(weft_loop_fd_add(loop, ends[0], WEFT_FD_READ, note, &told), -ENOTSUP);
    CHECK_EQ(weft_loop_backend_fd(loop), -ENOTSUP);
    CHECK_EQ(weft_loop_set_fast(loop, WEFT_LOOP_FAST_AUTO), 0);
    add(ends[0], WEFT_FD_READ, &told);
    CHECK_EQ(weft_loop_set_fast(loop, WEFT_LOOP_FAST_FORCED), -ENOTSUP);
    CHECK_EQ(weft_loop_set_fast(loop, WEFT_LOOP_FAST_DISABLED), 0);
    CHECK_EQ(weft_loop_set_fast(loop, WEFT_LOOP_FAST_FORCED), -ENOTSUP);
    CHECK_EQ(weft_loop_fd_remove(loop, ends[0]), 0);
    CHECK_EQ(weft_loop_set_fast(loop, WEFT_LOOP_FAST_FORCED), 0);
    finish_quietly();
    pair_close(ends);
}

static weft_loop *raced;
static _Atomic long race_round;
static _Atomic long race_answered;
static _Atomic int race_forced;

static void *race_forcing(void *arg) {
    long rounds = (long)(intptr_t)arg;
    for (long i = 1; i <= rounds; i++) {
        while (atomic_load(&race_round) < i)
            sched_yield();
        atomic_store(&race_forced, weft_loop_set_fast(raced, WEFT_LOOP_FAST_FORCED));
        atomic_store(&race_answered, i);
    }
    return NULL;
}

TEST(of_forced_and_a_registration_that_race_exactly_one_fails) {
    int ends[2];
    struct told told = {0};
    long rounds = scaled(20000, 500);
    pipe_open(ends);
    loop_open();
    raced = loop;
    atomic_store(&race_round, 0);
    atomic_store(&race_answered, 0);
    pthread_t thread = thread_start(race_forcing, (void *)(intptr_t)rounds);
    for (long i = 1; i <= rounds; i++) {
        atomic_store(&race_round, i);
        int added = weft_loop_fd_add(loop, ends[0], WEFT_FD_READ, note, &told);
        while (atomic_load(&race_answered) < i)
            sched_yield();
        int forced = atomic_load(&race_forced);
        CHECK((added == 0 && forced == -ENOTSUP) || (added == -ENOTSUP && forced == 0));
        CHECK_EQ(weft_loop_fd_remove(loop, ends[0]), added ? -ENOENT : 0);
        CHECK(!weft_loop_is_alive(loop));
        CHECK_EQ(weft_loop_set_fast(loop, WEFT_LOOP_FAST_AUTO), 0);
    }
    thread_join(thread);
    finish_quietly();
    pair_close(ends);
}

/* Without any descriptor it sleeps in epoll: everything else is the same. */
TEST_BOTH(a_loop_that_always_sleeps_in_epoll_does_what_others_do) {
    weft_loop_options options = {.fast = WEFT_LOOP_FAST_DISABLED};
    loop_open_with(&options);
    when("T", "submit:s micro:m");
    play("timer1:T");
    finish("T m s");
}

TEST(a_loop_that_sleeps_changes_its_way_to_sleep) {
    struct running running;
    loop_open();
    CHECK_EQ(weft_loop_keep(loop), 0);
    running_start(&running, WEFT_LOOP_UNTIL_QUIET);
    atomic_store(&submitted_ran, 0);
    static const weft_loop_fast ways[] = {WEFT_LOOP_FAST_DISABLED, WEFT_LOOP_FAST_FORCED, WEFT_LOOP_FAST_AUTO};
    for (int i = 0; i < 30; i++) {
        wait_asleep();
        CHECK_EQ(weft_loop_set_fast(loop, ways[i % 3]), 0);
        if (i % 2)
            wait_asleep();
        CHECK_EQ(weft_loop_submit(loop, count_submitted, NULL), 0);
        WAIT_UNTIL(atomic_load(&submitted_ran) == i + 1);
    }
    weft_loop_unkeep(loop);
    CHECK_EQ(running_join(&running), 0);
    loop_drop();
}

/* ---- Inside another loop ---- */

static bool is_readable(int fd) {
    struct pollfd wish = {.fd = fd, .events = POLLIN};
    int count = poll(&wish, 1, 0);
    CHECK_GE(count, 0);
    return count == 1;
}

TEST_BOTH(a_host_sees_when_an_embedded_loop_has_something_to_do) {
    int ends[2];
    struct told told = {.drains = true};
    weft_loop_options options = {.stays = true};
    pipe_open(ends);
    loop_open_with(&options);
    play("submit:early");
    int backend = weft_loop_backend_fd(loop);
    CHECK_GE(backend, 0);
    CHECK_EQ(weft_loop_backend_fd(loop), backend);
    CHECK_EQ(weft_loop_set_fast(loop, WEFT_LOOP_FAST_FORCED), -ENOTSUP);
    CHECK(is_readable(backend)); /* it was there before */
    CHECK_EQ(weft_loop_backend_deadline(loop), WEFT_NOW);
    CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT), 0);
    CHECK(!is_readable(backend));
    CHECK_EQ(weft_loop_backend_deadline(loop), WEFT_NEVER);
    for (int i = 0; i < 3; i++) {
        play_elsewhere("submit:s");
        CHECK(is_readable(backend));
        CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT), 0);
        CHECK(!is_readable(backend));
    }
    add(ends[0], WEFT_FD_READ, &told);
    CHECK(!is_readable(backend));
    put_byte(ends[1]);
    CHECK(is_readable(backend));
    CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT), 1);
    CHECK_EQ(told.calls, 1);
    CHECK(!is_readable(backend));
    CHECK_TEXT(trace, "early s s s");
    loop_drop();
    pair_close(ends);
}

/* The rest of what a turn has added waits for the next one: the host has to come back for it. */
TEST_BOTH(a_host_is_told_of_what_a_turn_leaves_behind) {
    loop_open();
    when("s", "submit:t");
    when("t", "submit:u");
    int backend = weft_loop_backend_fd(loop);
    CHECK_GE(backend, 0);
    play("submit:s timer:T");
    int turns = 0;
    while (weft_loop_is_alive(loop)) {
        CHECK_LE(turns++, 20);
        weft_time deadline = weft_loop_backend_deadline(loop);
        CHECK_NE(deadline, WEFT_NEVER);
        struct pollfd wish = {.fd = backend, .events = POLLIN};
        if (deadline > weft_now())
            CHECK_GE(poll(&wish, 1, (int)((deadline - weft_now()) / WEFT_MILLISECOND) + 1), 0);
        CHECK_GE(loop_run(WEFT_LOOP_NO_WAIT), 0);
    }
    CHECK_TEXT(trace, "T s t u");
    loop_drop();
}

static weft_loop *guest;
static int guest_calls;

static void guest_has_something(int fd, unsigned events, void *arg) {
    (void)fd, (void)events, (void)arg;
    guest_calls++;
    CHECK_EQ(weft_loop_run(guest, WEFT_LOOP_NO_WAIT, WEFT_NEVER), 0);
    CHECK_EQ(weft_loop_fd_remove(loop, fd), 0);
}

static int guest_ran;

static void count_guest(void *arg) {
    (void)arg;
    guest_ran++;
    CHECK(weft_loop_current() == guest);
}

TEST_BOTH(a_loop_may_be_the_host_of_another) {
    weft_loop_options options = {.stays = true};
    guest_calls = guest_ran = 0;
    loop_open();
    CHECK_EQ(weft_loop_new(&guest, &options), 0);
    int backend = weft_loop_backend_fd(guest);
    CHECK_EQ(weft_loop_fd_add(loop, backend, WEFT_FD_READ, guest_has_something, NULL), 0);
    CHECK_EQ(weft_loop_submit(guest, count_guest, NULL), 0);
    finish_quietly();
    CHECK_EQ(guest_calls, 1);
    CHECK_EQ(guest_ran, 1);
    weft_loop_unref(guest);
}
