/* SPDX-License-Identifier: MIT
 *
 * spec/loop_fd_test.c - descriptors of a loop: what is told, to whom, and what is not told any more.
 *
 * Every test that can runs on a plain thread, whose loop sleeps in epoll, and on a fiber, whose loop is watched over by the
 * engine's poller.
 */
#include <sys/eventfd.h>
#include <sys/resource.h>

#include "spec/loop_fd.h"

/* ---- What may be registered ---- */

TEST_BOTH(a_registration_that_makes_no_sense_is_refused) {
    int ends[2];
    struct told told = {0};
    pipe_open(ends);
    loop_open();
    CHECK_EQ(weft_loop_fd_add(NULL, ends[0], WEFT_FD_READ, note, &told), -EINVAL);
    CHECK_EQ(weft_loop_fd_add(loop, ends[0], WEFT_FD_READ, NULL, &told), -EINVAL);
    CHECK_EQ(weft_loop_fd_add(loop, ends[0], 0, note, &told), -EINVAL);
    CHECK_EQ(weft_loop_fd_add(loop, ends[0], WEFT_FD_HANGUP | WEFT_FD_ERROR, note, &told), -EINVAL);
    CHECK_EQ(weft_loop_fd_add(loop, ends[0], WEFT_FD_READ | 16, note, &told), -EINVAL);
    CHECK_EQ(weft_loop_fd_add(loop, -1, WEFT_FD_READ, note, &told), -EBADF);
    CHECK_EQ(weft_loop_fd_add(loop, 1 << 30, WEFT_FD_READ, note, &told), -EBADF);
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    CHECK_EQ(weft_loop_fd_add(loop, file, WEFT_FD_READ, note, &told), -EPERM);
    close(file);
    CHECK_EQ(weft_loop_fd_modify(NULL, 0, 0), -EINVAL);
    CHECK_EQ(weft_loop_fd_modify(loop, ends[0], 16), -EINVAL);
    CHECK_EQ(weft_loop_fd_modify(loop, ends[0], WEFT_FD_READ), -ENOENT);
    CHECK_EQ(weft_loop_fd_modify(loop, -1, WEFT_FD_READ), -ENOENT);
    CHECK_EQ(weft_loop_fd_remove(NULL, 0), -EINVAL);
    CHECK_EQ(weft_loop_fd_remove(loop, ends[0]), -ENOENT);
    CHECK_EQ(weft_loop_fd_remove(loop, -1), -ENOENT);
    CHECK_EQ(weft_loop_set_fast(NULL, WEFT_LOOP_FAST_AUTO), -EINVAL);
    CHECK_EQ(weft_loop_set_fast(loop, (weft_loop_fast)3), -EINVAL);
    CHECK_EQ(weft_loop_backend_fd(NULL), -EINVAL);
    CHECK(!weft_loop_is_alive(loop));
    finish_quietly();
    CHECK_EQ(told.calls, 0);
    pair_close(ends);
}

TEST_BOTH(a_descriptor_is_registered_once_at_a_time) {
    int ends[2];
    struct told told = {0};
    pipe_open(ends);
    loop_open();
    add(ends[0], WEFT_FD_READ, &told);
    CHECK_EQ(weft_loop_fd_add(loop, ends[0], WEFT_FD_READ, note, &told), -EEXIST);
    CHECK(weft_loop_is_alive(loop));
    CHECK_EQ(weft_loop_fd_remove(loop, ends[0]), 0);
    CHECK(!weft_loop_is_alive(loop));
    add(ends[0], WEFT_FD_READ, &told);
    CHECK_EQ(weft_loop_fd_remove(loop, ends[0]), 0);
    finish_quietly();
    pair_close(ends);
}

TEST_BOTH(after_the_end_everything_is_refused) {
    int ends[2];
    struct told told = {0};
    pipe_open(ends);
    loop_open();
    add(ends[0], WEFT_FD_READ, &told);
    CHECK_EQ(weft_loop_close(loop, WEFT_NEVER), 0);
    CHECK_EQ(weft_loop_fd_add(loop, ends[1], WEFT_FD_WRITE, note, &told), -EPIPE);
    CHECK_EQ(weft_loop_fd_modify(loop, ends[0], WEFT_FD_READ), -EPIPE);
    CHECK_EQ(weft_loop_fd_remove(loop, ends[0]), -EPIPE);
    CHECK_EQ(weft_loop_set_fast(loop, WEFT_LOOP_FAST_DISABLED), -EPIPE);
    CHECK_EQ(weft_loop_backend_fd(loop), -EPIPE);
    loop_drop();
    pair_close(ends);
}

/* The loop's own duplicate went with it: the pipe has nobody who reads any more. */
TEST_BOTH(a_loop_that_ends_closes_what_it_watched) {
    int ends[2];
    struct told told = {0};
    pipe_open(ends);
    loop_open();
    add(ends[0], WEFT_FD_READ, &told);
    close(ends[0]);
    put_byte(ends[1]);
    CHECK_EQ(weft_loop_close(loop, WEFT_NEVER), 0);
    struct pollfd writer = {.fd = ends[1], .events = POLLOUT};
    CHECK_EQ(poll(&writer, 1, 0), 1);
    CHECK(writer.revents & POLLERR);
    close(ends[1]);
    loop_drop();
}

/* ---- What is told ---- */

TEST_BOTH(a_readable_descriptor_is_told_until_it_is_not) {
    int ends[2];
    struct told told = {.drains = true};
    pipe_open(ends);
    loop_open();
    add(ends[0], WEFT_FD_READ, &told);
    for (int i = 0; i < 3; i++)
        put_byte(ends[1]);
    for (int i = 1; i <= 3; i++) {
        CHECK_EQ(loop_run(WEFT_LOOP_ONCE), 1);
        CHECK_EQ(told.calls, i);
        CHECK_EQ(told.fd, ends[0]);
        CHECK_EQ(told.events, WEFT_FD_READ);
    }
    CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT), 1);
    CHECK_EQ(told.calls, 3);
    loop_drop();
    pair_close(ends);
}

TEST_BOTH(both_directions_are_told_in_one_call_and_half_a_close_is_a_hangup) {
    int ends[2];
    struct told told = {0};
    pair_open(ends);
    loop_open();
    add(ends[0], WEFT_FD_READ | WEFT_FD_WRITE, &told);
    put_byte(ends[1]);
    CHECK_EQ(loop_run(WEFT_LOOP_ONCE), 1);
    CHECK_EQ(told.calls, 1);
    CHECK_EQ(told.events, WEFT_FD_READ | WEFT_FD_WRITE);
    CHECK_EQ(shutdown(ends[1], SHUT_WR), 0);
    CHECK_EQ(loop_run(WEFT_LOOP_ONCE), 1);
    CHECK_EQ(told.calls, 2);
    CHECK_EQ(told.events, WEFT_FD_READ | WEFT_FD_WRITE | WEFT_FD_HANGUP);
    CHECK_EQ(weft_loop_fd_modify(loop, ends[0], WEFT_FD_WRITE), 0);
    CHECK_EQ(loop_run(WEFT_LOOP_ONCE), 1);
    CHECK_EQ(told.events, WEFT_FD_WRITE | WEFT_FD_HANGUP);
    loop_drop();
    pair_close(ends);
}

TEST_BOTH(an_error_is_told_unasked) {
    int ends[2];
    struct told told = {0};
    pipe_open(ends);
    loop_open();
    add(ends[1], WEFT_FD_WRITE, &told);
    close(ends[0]);
    CHECK_EQ(loop_run(WEFT_LOOP_ONCE), 1);
    CHECK(told.events & WEFT_FD_ERROR);
    loop_drop();
    close(ends[1]);
}

TEST_BOTH(asked_for_nothing_only_hangups_come) {
    int ends[2];
    struct told told = {0};
    pair_open(ends);
    loop_open();
    add(ends[0], WEFT_FD_READ, &told);
    put_byte(ends[1]);
    CHECK_EQ(weft_loop_fd_modify(loop, ends[0], 0), 0);
    CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT), 1);
    CHECK_EQ(told.calls, 0);
    CHECK(weft_loop_is_alive(loop));
    CHECK_EQ(weft_loop_fd_modify(loop, ends[0], WEFT_FD_READ), 0);
    CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT), 1);
    CHECK_EQ(told.calls, 1);
    CHECK_EQ(weft_loop_fd_modify(loop, ends[0], 0), 0);
    close(ends[1]);
    CHECK_EQ(loop_run(WEFT_LOOP_ONCE), 1);
    CHECK_EQ(told.calls, 2);
    CHECK(told.events & WEFT_FD_HANGUP);
    CHECK(!(told.events & WEFT_FD_READ));
    loop_drop();
    close(ends[0]);
}

static void ask_for_both(struct told *told) {
    (void)told;
    play("timer:timeout immediate:immediate tick:tick");
}

TEST_BOTH(an_immediate_of_a_descriptors_callback_comes_before_its_timeout) {
    int ends[2];
    pipe_open(ends);
    put_byte(ends[1]);
    loop_open();
    struct told told = {.removes = true, .also = ask_for_both};
    add(ends[0], WEFT_FD_READ, &told);
    finish("tick immediate timeout");
    CHECK_EQ(told.calls, 1);
    pair_close(ends);
}

static void panic_once(struct told *told) {
    if (told->calls == 1)
        weft_panic("the first time");
}

TEST_BOTH(a_callback_that_panics_is_told_of_and_the_next_ones_run) {
    int ends[2][2];
    struct told told[2] = {{.also = panic_once}, {.also = panic_once}};
    weft_loop_options options = {.on_failure = note_failure};
    loop_open_with(&options);
    for (int i = 0; i < 2; i++) {
        pipe_open(ends[i]);
        put_byte(ends[i][1]);
        add(ends[i][0], WEFT_FD_READ, &told[i]);
    }
    CHECK_EQ(loop_run(WEFT_LOOP_ONCE), 1);
    CHECK_TEXT(trace, "!descriptor !descriptor");
    CHECK_EQ(loop_run(WEFT_LOOP_ONCE), 1);
    CHECK_EQ(told[0].calls, 2);
    CHECK_EQ(told[1].calls, 2);
    CHECK_TEXT(trace, "!descriptor !descriptor");
    loop_drop();
    pair_close(ends[0]);
    pair_close(ends[1]);
}

/* ---- Changes from callbacks ---- */

/* One that is ready, a callback, and nothing afterwards. */
static void tell_once(struct told *told) {
    int ends[2];
    pipe_open(ends);
    put_byte(ends[1]);
    loop_open();
    add(ends[0], WEFT_FD_READ, told);
    finish_quietly();
    CHECK_EQ(told->calls, 1);
    pair_close(ends);
}

TEST_BOTH(a_callback_may_remove_itself) {
    struct told told = {.removes = true};
    tell_once(&told);
}

/* Two that are found ready together; the first one to run does something to the other. */
static int rivals[2][2];
static struct told rival_told[2];
static struct told new_told;

static struct told *other_rival(const struct told *told) {
    return &rival_told[told == &rival_told[0]];
}

static int fd_of_rival(const struct told *told) {
    return rivals[told == &rival_told[1]][0];
}

static void rivals_meet(void (*also)(struct told *told)) {
    loop_open();
    new_told = (struct told){0};
    for (int i = 0; i < 2; i++) {
        rival_told[i] = (struct told){.also = also};
        pipe_open(rivals[i]);
        put_byte(rivals[i][1]);
        add(rivals[i][0], WEFT_FD_READ, &rival_told[i]);
    }
    CHECK_EQ(loop_run(WEFT_LOOP_ONCE), 1);
    CHECK_EQ(rival_told[0].calls + rival_told[1].calls, 1);
}

static void rivals_part(void) {
    loop_drop();
    pair_close(rivals[0]);
    pair_close(rivals[1]);
}

static void remove_other(struct told *told) {
    if (told->calls == 1)
        CHECK_EQ(weft_loop_fd_remove(loop, fd_of_rival(other_rival(told))), 0);
}

TEST_BOTH(what_was_removed_is_not_called_though_it_was_found_ready) {
    rivals_meet(remove_other);
    CHECK_EQ(loop_run(WEFT_LOOP_ONCE), 1);
    CHECK_EQ(rival_told[0].calls + rival_told[1].calls, 2);
    CHECK(rival_told[0].calls == 0 || rival_told[1].calls == 0);
    rivals_part();
}

static void silence_other(struct told *told) {
    if (told->calls == 1)
        CHECK_EQ(weft_loop_fd_modify(loop, fd_of_rival(other_rival(told)), WEFT_FD_WRITE), 0);
}

TEST_BOTH(what_is_not_asked_for_any_more_is_not_told_though_it_was_found) {
    rivals_meet(silence_other);
    rivals_part();
}

static void other(int fd, unsigned events, void *arg) {
    note(fd, events, arg);
}

/* New function, same number: what was found ready was found for the old one. */
static void replace_other(struct told *told) {
    int fd = fd_of_rival(other_rival(told));
    CHECK_EQ(weft_loop_fd_remove(loop, fd), 0);
    CHECK_EQ(weft_loop_fd_add(loop, fd, WEFT_FD_READ, other, &new_told), 0);
    told->also = NULL;
}

TEST_BOTH(an_old_event_does_not_reach_a_new_registration) {
    rivals_meet(replace_other);
    CHECK_EQ(new_told.calls, 0);
    CHECK_EQ(loop_run(WEFT_LOOP_ONCE), 1);
    CHECK_EQ(new_told.calls, 1);
    CHECK_EQ(rival_told[0].calls + rival_told[1].calls, 2);
    rivals_part();
}

static void close_the_loop(struct told *told) {
    (void)told;
    CHECK_EQ(weft_loop_close(loop, WEFT_NEVER), -EDEADLK);
    CHECK_EQ(weft_loop_shutdown(loop, WEFT_NEVER), -EINPROGRESS);
}

TEST_BOTH(a_callback_may_shut_its_loop_down) {
    struct told told = {.also = close_the_loop};
    tell_once(&told);
}

/* ---- Numbers ---- */

TEST_BOTH(the_caller_may_close_its_descriptor_and_use_the_number_again) {
    int ends[2];
    int fresh[2];
    struct told told = {0};
    pipe_open(ends);
    loop_open();
    add(ends[0], WEFT_FD_READ, &told);
    int number = ends[0];
    pair_open(fresh);
    CHECK_EQ(dup3(fresh[0], number, O_CLOEXEC), number); /* closes ours; this one is writable, with nothing to read */
    CHECK_EQ(weft_loop_fd_modify(loop, number, WEFT_FD_READ | WEFT_FD_WRITE), 0);
    CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT), 1);
    CHECK_EQ(told.calls, 0); /* the end of a pipe that is read from is never writable */
    put_byte(ends[1]);
    CHECK_EQ(loop_run(WEFT_LOOP_ONCE), 1);
    CHECK_EQ(told.calls, 1);
    CHECK_EQ(told.fd, number);
    CHECK_EQ(told.events, WEFT_FD_READ);
    CHECK_EQ(weft_loop_fd_remove(loop, number), 0);
    CHECK_EQ(fcntl(number, F_GETFD) >= 0, 1); /* the new owner of the number still has it */
    add(number, WEFT_FD_WRITE, &told);
    CHECK_EQ(loop_run(WEFT_LOOP_ONCE), 1);
    CHECK_EQ(told.events, WEFT_FD_WRITE);
    loop_drop();
    close(number);
    close(ends[1]);
    pair_close(fresh);
}

TEST(descriptor_0_is_one_like_the_others) {
    int ends[2];
    struct told told = {.removes = true};
    int kept = fcntl(0, F_DUPFD_CLOEXEC, 3);
    pipe_open(ends);
    CHECK_EQ(dup2(ends[0], 0), 0);
    put_byte(ends[1]);
    loop_open();
    add(0, WEFT_FD_READ, &told);
    finish_quietly();
    CHECK_EQ(told.calls, 1);
    CHECK_EQ(told.fd, 0);
    if (kept >= 0) {
        CHECK_EQ(dup2(kept, 0), 0);
        close(kept);
    } else {
        close(0);
    }
    pair_close(ends);
}

static long many_calls;

static void count_and_remove(int fd, unsigned events, void *arg) {
    CHECK_EQ(events, WEFT_FD_READ);
    CHECK_EQ((intptr_t)arg, fd);
    CHECK_EQ(weft_loop_fd_remove(loop, fd), 0);
    many_calls++;
}

/* Each is open twice: here and in the loop. All are ready at once, which takes many waits. */
TEST(very_many_descriptors) {
    struct rlimit before;
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    long count = scaled(70000, 2000);
    rlim_t needed = 2 * (rlim_t)count + 1000;
    struct rlimit raised = {.rlim_cur = needed, .rlim_max = needed > before.rlim_max ? needed : before.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) != 0) { /* not allowed here: as many as are */
        raised = (struct rlimit){.rlim_cur = before.rlim_max, .rlim_max = before.rlim_max};
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &raised), 0);
        count = (long)raised.rlim_cur / 2 - 500;
        fprintf(stderr, "  (%ld descriptors: the limit of this process allows no more)\n", count);
    }
    int *fds = malloc((size_t)count * sizeof *fds);
    loop_open();
    many_calls = 0;
    for (long i = 0; i < count; i++) {
        fds[i] = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
        CHECK_GE(fds[i], 0);
        CHECK_EQ(weft_loop_fd_add(loop, fds[i], WEFT_FD_READ, count_and_remove, (void *)(intptr_t)fds[i]), 0);
    }
    CHECK_EQ(weft_loop_fd_add(loop, fds[count / 2], WEFT_FD_READ, count_and_remove, NULL), -EEXIST);
    CHECK_EQ(weft_loop_fd_modify(loop, fds[count - 1], WEFT_FD_READ), 0);
    finish_quietly();
    CHECK_EQ(many_calls, count);
    for (long i = 0; i < count; i++)
        close(fds[i]);
    free(fds);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}
