/* SPDX-License-Identifier: MIT
 *
 * unit/io/fd_test.c - the table of descriptors and its bad interleavings, each forced at its point.
 *
 * Engines that end, forks and several runtimes are in engine_test.c.
 */
#include <sys/eventfd.h>
#include <sys/resource.h>

#include "os/fault.h"
#include "unit/io/staged.h"

static void *read_one(void *arg) {
    (void)arg;
    return (void *)(intptr_t)weft_read(ends[0], room, 1, WEFT_NEVER);
}
static void *close_first(void *arg) {
    (void)arg;
    return (void *)(intptr_t)weft_close(ends[0]);
}

/* A thread of the test that closes ends[0], and what it got. */
static _Atomic pthread_t closer;
static void start_closer(void) {
    atomic_store(&closer, thread_start(close_first, NULL));
}
static void finish_closer(intptr_t wanted) {
    void *status;
    COMPUTE_UNTIL(atomic_load(&closer));
    CHECK_EQ(pthread_join(atomic_exchange(&closer, 0), &status), 0);
    CHECK_EQ((intptr_t)status, wanted);
}

static bool is_closing(void) {
    return wf_load_acquire(&record_of(ends[0])->word) & WF_FD_CLOSED;
}

/* ---- A wait and what comes before it ---- */

static void write_and_be_told(void) {
    uint32_t before = news_of(ends[0]);
    CHECK_EQ(write(weft_fd_number(ends[1]), "x", 1), 1);
    COMPUTE_UNTIL(news_of(ends[0]) != before);
}

TEST_BOTH(news_between_the_failed_try_and_the_park_are_not_slept_over) {
    for (enum io_kind kind = IO_PAIR; kind < IO_KINDS; kind++) {
        open_watched(kind);
        at("fd.before_wait", write_and_be_told);
        CHECK_EQ(weft_read(ends[0], room, 10, WEFT_NEVER), 1);
        leave_stage();
        at("fd.before_wait", write_and_be_told);
        CHECK_EQ(weft_wait_readable(ends[0], WEFT_NEVER), 0);
        leave_stage();
        io_close(ends);
    }
}

static void *write_one(void *arg) {
    CHECK_EQ(write(weft_fd_number(ends[1]), "x", 1), 1);
    return arg;
}

/* The keeper holds the lock and has counted; whoever has tried before comes to the lock. */
static pthread_t late_reader;
static atomic_int may_go_on;
static void hold_the_reader(const char *name) {
    if (strcmp(name, "fd.before_wait") == 0 && atomic_exchange(&stage_passed, 1) == 0)
        COMPUTE_UNTIL(atomic_load(&may_go_on));
    if (strcmp(name, "fd.ready") == 0 && atomic_load(&stage_passed))
        atomic_store(&may_go_on, 1);
}
TEST(a_reader_that_comes_to_the_lock_while_news_are_told_tries_again) {
    open_watched(IO_TCP);
    atomic_store(&stage_passed, 0);
    atomic_store(&may_go_on, 0);
    atomic_store(&stage_script, hold_the_reader);
    late_reader = thread_start(read_one, NULL);
    COMPUTE_UNTIL(atomic_load(&stage_passed));
    write_one(NULL);
    void *result;
    CHECK_EQ(pthread_join(late_reader, &result), 0);
    CHECK_EQ((intptr_t)result, 1);
    atomic_store(&stage_script, NULL);
    io_close(ends);
}

static void be_closed(void) {
    start_closer();
    COMPUTE_UNTIL(is_closing());
}

TEST_BOTH(a_close_between_the_try_and_the_park_is_seen) {
    for (int i = 0; i < 3; i++) {
        io_open(IO_PAIR, ends);
        at("fd.before_wait", be_closed);
        ssize_t result = i == 0   ? weft_read(ends[0], room, 1, WEFT_NEVER)
                         : i == 1 ? weft_wait_readable(ends[0], WEFT_NEVER)
                                  : weft_read(ends[0], room, 1, weft_after(PATIENCE_NS));
        CHECK_EQ(result, -EBADF);
        leave_stage();
        finish_closer(0);
        CHECK_EQ(weft_close(ends[1]), 0);
    }
}

/* ---- Users and the end ---- */

TEST(the_last_user_closes_and_the_closer_waits_for_it) {
    io_open(IO_PAIR, ends);
    int number = weft_fd_number(ends[0]);
    struct wf_fd *record = wf_fd_get(ends[0]), *again = wf_fd_get(ends[0]);
    CHECK(record && record == again);
    start_closer();
    COMPUTE_UNTIL(has_closer(ends[0]));
    CHECK(!wf_fd_get(ends[0]));
    CHECK_EQ(weft_close(ends[0]), -EBADF);
    wf_fd_put(record);
    CHECK_EQ(fcntl(number, F_GETFD), FD_CLOEXEC);
    wf_fd_put(again);
    CHECK_EQ(fcntl(number, F_GETFD), -1);
    finish_closer(0);
    CHECK_EQ(weft_close(ends[1]), 0);
}

static struct wf_fd *held;
static void put_held(void) {
    wf_fd_put(held);
}
TEST(a_user_that_leaves_as_the_closer_begins_to_wait_leaves_the_end_to_it) {
    io_open(IO_PAIR, ends);
    held = wf_fd_get(ends[0]);
    at("fd.before_close_wait", put_held);
    CHECK_EQ(weft_close(ends[0]), 0);
    leave_stage();
    CHECK_EQ(weft_close(ends[1]), 0);
}

TEST(what_the_kernel_says_at_the_end_reaches_the_closer_that_waits) {
    io_open(IO_PAIR, ends);
    held = wf_fd_get(ends[0]);
    start_closer();
    COMPUTE_UNTIL(has_closer(ends[0]));
    wf_fault_order(WF_CALL_CLOSE, 1, EIO, 0);
    put_held();
    finish_closer(-EIO);
    wf_fault_order(WF_CALL_CLOSE, 0, 0, 0);
    CHECK_EQ(weft_close(ends[1]), 0);
}

TEST(a_release_waits_for_users_too) {
    io_open(IO_PAIR, ends);
    int number = weft_fd_number(ends[0]);
    held = wf_fd_get(ends[0]);
    at("fd.before_close_wait", put_held);
    CHECK_EQ(weft_release(ends[0]), number);
    leave_stage();
    CHECK(!(fcntl(number, F_GETFL) & O_NONBLOCK));
    close(number);
    CHECK_EQ(weft_close(ends[1]), 0);
}

/* ---- Tags in the hand of the poller ---- */

static void close_elsewhere(void) {
    start_closer();
    finish_closer(0);
}

/* The keeper has the tag, and not looked it up: it must find nobody. */
TEST(an_event_in_hand_of_a_descriptor_that_was_closed_is_dropped) {
    open_watched(IO_PAIR);
    weft_fd other = ends[1];
    at("sentry.before_call", close_elsewhere);
    CHECK_EQ(write(weft_fd_number(other), "x", 1), 1);
    leave_stage();
    weft_fd heirs[2]; /* in the same record, and the same slot */
    io_open(IO_PAIR, heirs);
    CHECK_EQ(weft_wait_readable(heirs[0], weft_after(WEFT_MICROSECOND)), -ETIMEDOUT);
    io_close(heirs);
    CHECK_EQ(weft_close(other), 0);
}

/* The keeper has counted itself in: the close waits until ready has returned. */
static atomic_int removal_waits;
static void close_during_the_call(const char *name) {
    if (strcmp(name, "sentry.calls") == 0 && atomic_exchange(&stage_passed, 1) == 0) {
        start_closer();
        COMPUTE_UNTIL(atomic_load(&removal_waits));
    }
    if (strcmp(name, "sentry.before_removal") == 0)
        atomic_store(&removal_waits, 1);
}
TEST(a_close_waits_for_an_event_that_is_being_told) {
    open_watched(IO_PAIR);
    atomic_store(&stage_passed, 0);
    atomic_store(&removal_waits, 0);
    atomic_store(&stage_script, close_during_the_call);
    CHECK_EQ(write(weft_fd_number(ends[1]), "x", 1), 1);
    COMPUTE_UNTIL(atomic_load(&removal_waits));
    finish_closer(0);
    atomic_store(&stage_script, NULL);
    CHECK_EQ(weft_close(ends[1]), 0);
}

/* ---- Drained ---- */

static void tell(weft_fd fd, uint32_t events) {
    struct wf_sentry *sentry = &record_of(fd)->sentry;
    sentry->ready(sentry, events);
}

TEST(drained_counts_until_news_come_and_not_when_they_came_before) {
    uint32_t before, news;
    open_watched(IO_TCP);
    struct wf_fd *record = wf_fd_get(ends[0]);
    CHECK(record->can_drain);
    CHECK(wf_fd_try_read(record, &before));
    wf_fd_drained(record, before);
    CHECK(!wf_fd_try_read(record, &news));
    tell(ends[0], WF_EPOLL_WRITE); /* which is not about reading */
    CHECK(!wf_fd_try_read(record, &news));
    tell(ends[0], WF_EPOLL_READ);
    CHECK(wf_fd_try_read(record, &before));

    tell(ends[0], WF_EPOLL_READ); /* between that read and what it has to say */
    wf_fd_drained(record, before);
    CHECK(wf_fd_try_read(record, &before));

    wf_fd_drained(record, before);
    tell(ends[0], WF_EPOLL_HANGUP);
    CHECK(wf_fd_try_read(record, &before));
    wf_fd_drained(record, before); /* and never again */
    CHECK(wf_fd_try_read(record, &before));
    wf_fd_put(record);
    io_close(ends);
}

/* A short read, and then more: nobody may wait for what is there already. */
TEST_BOTH(what_comes_after_a_short_read_is_read) {
    for (int i = 0; i < 4; i++) {
        io_open(IO_TCP, ends);
        if (i & 1)
            on_thread(wait_briefly, &ends[0]);
        for (int round = 0; round < 50; round++) {
            CHECK_EQ(weft_write(ends[1], "xy", 2, WEFT_NEVER), 2);
            CHECK_EQ(weft_read(ends[0], room, sizeof room, WEFT_NEVER), 2);
        }
        CHECK_EQ(weft_write(ends[1], "xy", 2, WEFT_NEVER), 2);
        if (i & 2)
            CHECK_EQ(weft_close(ends[1]), 0);
        CHECK_EQ(weft_read(ends[0], room, sizeof room, WEFT_NEVER), 2);
        if (i & 2)
            CHECK_EQ(weft_read(ends[0], room, sizeof room, WEFT_NEVER), 0);
        CHECK_EQ(weft_read(ends[0], room, sizeof room, weft_after(WEFT_MICROSECOND)), i & 2 ? 0 : -ETIMEDOUT);
        CHECK_EQ(weft_close(ends[0]), 0);
        if (!(i & 2))
            CHECK_EQ(weft_close(ends[1]), 0);
    }
}

/* ---- Many ---- */

enum { MANY = 2000 };

static void raise_limit(void) {
    struct rlimit limit;
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    CHECK(limit.rlim_cur > 2 * MANY + 100);
}

static void *read_event(void *opaque) {
    uint64_t value = 0;
    CHECK_EQ(weft_read(*(weft_fd *)opaque, &value, sizeof value, WEFT_NEVER), sizeof value);
    return (void *)(uintptr_t)value;
}

/* Some of them are read, in every block of the table. */
enum { STEP = IS_THREAD_SANITIZED ? 50 : 1 };

static void open_many(void) {
    static weft_fd fds[MANY];
    static weft_fiber fibers[MANY];
    raise_limit();
    for (int round = 0; round < 2; round++) {
        uint32_t count = wf_fds_count();
        for (int i = 0; i < MANY; i++)
            CHECK_EQ(weft_adopt(&fds[i], eventfd(0, EFD_CLOEXEC), 0), 0);
        CHECK_GE(wf_fds_count(), MANY);
        if (round)
            CHECK_EQ(wf_fds_count(), count); /* the same records again */
        for (int i = 0; i < MANY; i += STEP)
            SPAWN(&fibers[i], read_event, &fds[i]);
        for (int i = 0; i < MANY; i += STEP) {
            uint64_t value = (uint64_t)i + 1;
            CHECK_EQ(weft_write(fds[i], &value, sizeof value, WEFT_NEVER), sizeof value);
        }
        for (int i = 0; i < MANY; i += STEP) {
            void *value;
            JOIN(fibers[i], &value);
            CHECK_EQ((uintptr_t)value, i + 1);
        }
        for (int i = 0; i < MANY; i++)
            CHECK_EQ(weft_close(fds[i]), 0);
    }
}
TEST(the_table_grows_and_is_used_again) {
    run_fibers(open_many);
}

TEST(a_table_that_cannot_grow_leaves_the_number_to_the_caller) {
    enum { BLOCK = 512 };
    static weft_fd fds[8 * BLOCK];
    weft_fd fd = {7};
    int number = eventfd(0, EFD_CLOEXEC), opened = 0;
    raise_limit();
    for (bool has_grown = false; !has_grown || wf_fds_count() % BLOCK;) {
        uint32_t before = wf_fds_count();
        CHECK(opened < 8 * BLOCK);
        CHECK_EQ(weft_adopt(&fds[opened++], eventfd(0, EFD_CLOEXEC), 0), 0);
        has_grown = wf_fds_count() > before;
    }
    wf_fault_order(WF_CALL_ALLOC, 1, ENOMEM, 0);
    CHECK_EQ(weft_adopt(&fd, number, 0), -ENOMEM);
    CHECK_EQ(wf_fault_hits(), 1);
    wf_fault_order(WF_CALL_ALLOC, 0, 0, 0);
    CHECK_EQ(fd.bits, 7);
    while (opened > 0)
        CHECK_EQ(weft_close(fds[--opened]), 0);
    CHECK(!(fcntl(number, F_GETFL) & O_NONBLOCK));
    close(number);
}
