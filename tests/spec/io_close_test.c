/* SPDX-License-Identifier: MIT
 *
 * spec/io_close_test.c - closing while others use it, handles that are none, and the end of the other side.
 */
#include "spec/io.h"
#include "support/child.h"

/* ---- Closing ---- */

enum { CROWD = 24 };

static void close_under_a_crowd(enum io_kind kind, bool is_write, bool is_parked) {
    weft_fd ends[2];
    struct attempt attempts[CROWD];
    weft_fiber fibers[CROWD];
    struct on_thread_call threads[CROWD / 6];
    io_open(is_write && kind == IO_TCP ? IO_PAIR : kind, ends); /* TCP does not stay full */
    if (is_write)
        io_fill(ends[1]);
    for (int i = 0, at = 0; i < CROWD; i++) {
        while (calls[at++ % CALLS].is_write != is_write)
            continue;
        attempts[i] = (struct attempt){.call = &calls[(at - 1) % CALLS], .fd = ends[is_write]};
    }
    for (int i = 0; i < CROWD; i++)
        if (i % 6 == 0)
            on_thread_start(&threads[i / 6], make_attempt, &attempts[i]);
        else
            SPAWN(&fibers[i], make_attempt, &attempts[i]);
    for (int i = 0; i < CROWD && is_parked; i++)
        if (i % 6)
            wait_parked(fibers[i]);
    CHECK_EQ(weft_close(ends[is_write]), 0);
    for (int i = 0; i < CROWD; i++) {
        if (i % 6 == 0)
            on_thread_finish(&threads[i / 6]);
        else
            JOIN(fibers[i], NULL);
        CHECK_EQ(attempts[i].result, -EBADF);
    }
    CHECK_EQ(weft_close(ends[!is_write]), 0);
}
static void close_under_crowds(void) {
    for (int i = 0; i < 4 * IO_KINDS; i++)
        close_under_a_crowd((enum io_kind)(i / 4), i & 1, i & 2);
}
TEST(closing_ends_everybody_who_waits) {
    run_fibers(close_under_crowds);
}

static _Atomic uint64_t fd_to_close;
static atomic_int closes, refusals;

static void *close_it(void *arg) {
    int status = weft_close((weft_fd){atomic_load(&fd_to_close)});
    if (status == -EBADF)
        atomic_fetch_add(&refusals, 1);
    else
        atomic_fetch_add(&closes, 1);
    return arg;
}
static void close_many_times(void) {
    for (long round = scaled(200, 10); round > 0; round--) {
        weft_fd ends[2];
        weft_fiber closers[3];
        struct on_thread_call thread;
        io_open(IO_PAIR, ends);
        atomic_store(&fd_to_close, ends[0].bits);
        atomic_store(&closes, 0);
        atomic_store(&refusals, 0);
        if (round % 8 == 0)
            on_thread_start(&thread, close_it, NULL);
        for (int i = 0; i < 3; i++)
            SPAWN(&closers[i], close_it, NULL);
        for (int i = 0; i < 3; i++)
            JOIN(closers[i], NULL);
        if (round % 8 == 0)
            on_thread_finish(&thread);
        CHECK_EQ(atomic_load(&closes), 1);
        CHECK_EQ(atomic_load(&refusals), round % 8 == 0 ? 3 : 2);
        CHECK_EQ(weft_close(ends[1]), 0);
    }
}
TEST(of_many_who_close_one_succeeds) {
    run_fibers(close_many_times);
}

/* ---- Handles that are none ---- */

static void check_bad(weft_fd fd) {
    weft_time deadlines[] = {WEFT_NOW, WEFT_NEVER};
    for (int i = 0; i < 2 * CALLS; i++)
        CHECK_EQ(calls[i / 2].fn(fd, deadlines[i % 2]), -EBADF);
    CHECK_EQ(weft_read(fd, NULL, 0, WEFT_NEVER), -EBADF);
    CHECK_EQ(weft_write(fd, NULL, 0, WEFT_NEVER), -EBADF);
    CHECK_EQ(weft_read_full(fd, NULL, 0, NULL, WEFT_NEVER), -EBADF);
    CHECK_EQ(weft_write_all(fd, NULL, 0, WEFT_NEVER), -EBADF);
    CHECK_EQ(weft_writev_all(fd, NULL, 0, NULL, WEFT_NEVER), -EBADF);
    CHECK_EQ(weft_fd_number(fd), -EBADF);
    CHECK_EQ(weft_release(fd), -EBADF);
    CHECK_EQ(weft_close(fd), -EBADF);
}

TEST_BOTH(no_call_takes_what_is_not_open) {
    weft_fd ends[2];
    io_open(IO_PAIR, ends);
    check_bad(WEFT_NO_FD);
    check_bad((weft_fd){UINT64_MAX});
    check_bad((weft_fd){UINT32_MAX});
    check_bad((weft_fd){1 << 24});
    check_bad((weft_fd){(1 << 24) + 1});
    check_bad((weft_fd){ends[0].bits + (UINT64_C(1) << 32)});
    check_bad((weft_fd){ends[0].bits & ~(uint64_t)UINT32_MAX});
    weft_fd old = ends[0];
    io_close(ends);
    check_bad(old);
}

/* The kernel gives the lowest number that is free, and the table the record that was free last. */
TEST_BOTH(an_old_handle_does_not_reach_who_has_the_number_now) {
    weft_fd old[2], new[2];
    io_open(IO_PAIR, old);
    int numbers[2] = {weft_fd_number(old[0]), weft_fd_number(old[1])};
    io_close(old);
    io_open(IO_PAIR, new);
    CHECK_EQ(weft_fd_number(new[0]) + weft_fd_number(new[1]), numbers[0] + numbers[1]);
    io_put(new[1], "new");
    check_bad(old[0]);
    check_bad(old[1]);
    io_expect(new[0], "new");
    io_close(new);
}

/* ---- The other side goes ---- */

TEST_BOTH(the_end_is_read_after_everything_else) {
    for (enum io_kind kind = 0; kind < IO_KINDS; kind++) {
        weft_fd ends[2];
        io_open(kind, ends);
        io_put(ends[1], "last");
        CHECK_EQ(weft_close(ends[1]), 0);
        CHECK_EQ(weft_read(ends[0], room, 100, WEFT_NEVER), 4);
        for (int i = 0; i < 2; i++) {
            CHECK_EQ(weft_read(ends[0], room, 100, WEFT_NEVER), 0);
            CHECK_EQ(weft_wait_readable(ends[0], WEFT_NEVER), 0);
            CHECK_EQ(call_on_readable(ends[0], WEFT_NEVER), 0);
        }
        CHECK_EQ(weft_close(ends[0]), 0);
    }
}

static void *close_other_side(void *opaque) {
    CHECK_EQ(weft_close(*(weft_fd *)opaque), 0);
    return NULL;
}

static void go_while_parked(void) {
    for (int i = 0; i < IO_KINDS * CALLS; i++) {
        weft_fd ends[2];
        struct attempt attempt = {.call = &calls[i / IO_KINDS]};
        attempt.fd = open_stuck((enum io_kind)(i % IO_KINDS), attempt.call, ends);
        weft_fiber fiber = spawn_parked(make_attempt, &attempt);
        close_other_side(&ends[!attempt.call->is_write]);
        JOIN(fiber, NULL);
        bool only_looks = attempt.call->fn == call_wait_writable || attempt.call->fn == call_on_writable;
        if (attempt.call->is_write && !only_looks)
            CHECK(attempt.result == -EPIPE || attempt.result == -ECONNRESET);
        else
            CHECK_EQ(attempt.result, 0);
        CHECK_EQ(weft_close(attempt.fd), 0);
    }
}
TEST(whoever_waits_learns_that_the_other_side_has_gone) {
    run_fibers(go_while_parked);
}

static void write_to_nobody(enum io_kind kind) {
    weft_fd ends[2];
    io_open(kind, ends);
    CHECK_EQ(weft_close(ends[0]), 0);
    ssize_t result;
    while ((result = weft_write(ends[1], "x", 1, WEFT_NEVER)) == 1) /* TCP learns of it by the answer */
        continue;
    CHECK(result == -EPIPE || result == -ECONNRESET);
    CHECK_EQ(weft_write(ends[1], "x", 1, WEFT_NEVER), -EPIPE);
    CHECK_EQ(weft_close(ends[1]), 0);
}
TEST_BOTH(a_broken_pipe_is_an_error_and_no_signal) {
    for (enum io_kind kind = 0; kind < IO_KINDS; kind++)
        write_to_nobody(kind);
}

/* A handler that the program has set since is its own. */
static void write_sockets_with_a_handler(void *arg) {
    struct sigaction handler = {.sa_handler = _exit}, now;
    (void)arg;
    CHECK_EQ(sigaction(SIGPIPE, &handler, NULL), 0);
    write_to_nobody(IO_PAIR);
    write_to_nobody(IO_TCP);
    weft_fd ends[2];
    CHECK_EQ(weft_pipe(ends), 0);
    CHECK_EQ(sigaction(SIGPIPE, NULL, &now), 0);
    CHECK(now.sa_handler == handler.sa_handler);
    io_close(ends);
}
TEST(a_handler_for_broken_pipes_is_left_alone_and_sockets_do_not_call_it) {
    struct child_end end = child_run(write_sockets_with_a_handler, NULL);
    CHECK_CHILD_WELL(&end);
}

TEST_BOTH(half_of_a_connection_may_end) {
    for (enum io_kind kind = IO_PAIR; kind < IO_KINDS; kind++) {
        weft_fd ends[2];
        io_open(kind, ends);
        io_put(ends[1], "all");
        CHECK_EQ(shutdown(weft_fd_number(ends[1]), SHUT_WR), 0);
        io_expect(ends[0], "all");
        CHECK_EQ(weft_read(ends[0], room, 1, WEFT_NEVER), 0);
        for (int i = 0; i < 3; i++) {
            io_put(ends[0], "answer");
            io_expect(ends[1], "answer");
        }
        CHECK_EQ(weft_read(ends[0], room, 1, WEFT_NOW), 0);
        CHECK_EQ(weft_write(ends[1], "x", 1, WEFT_NEVER), -EPIPE);
        io_close(ends);
    }
}

TEST_BOTH(a_connection_that_is_reset_says_so) {
    weft_fd ends[2];
    io_open(IO_TCP, ends);
    struct linger at_once = {.l_onoff = 1};
    CHECK_EQ(setsockopt(weft_fd_number(ends[1]), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
    CHECK_EQ(weft_close(ends[1]), 0);
    CHECK_EQ(weft_read(ends[0], room, 1, WEFT_NEVER), -ECONNRESET);
    CHECK_EQ(weft_write(ends[0], "x", 1, WEFT_NEVER), -EPIPE);
    CHECK_EQ(weft_close(ends[0]), 0);
}

/* Data out of turn stops a read short at its mark; what is behind the mark is not forgotten. */
TEST_BOTH(urgent_data_does_not_hide_what_comes_after_it) {
    weft_fd ends[2];
    io_open(IO_TCP, ends);
    for (int i = 0; i < 2; i++) {
        io_put(ends[1], "ab");
        CHECK_EQ(send(weft_fd_number(ends[1]), "!", 1, MSG_OOB), 1);
        io_put(ends[1], "cd");
        io_expect(ends[0], "abcd");
    }
    io_close(ends);
}
