/* SPDX-License-Identifier: MIT
 *
 * unit/io/engine_test.c - descriptors that outlive the engine that watches them, that several engines share, and that a fork
 * takes along.
 */
#include <sys/mman.h>
#include <sys/syscall.h>

#include "support/child.h"
#include "unit/io/staged.h"
#include "wait/select.h"

static bool is_watched(weft_fd fd) {
    struct wf_fd *record = record_of(fd);
    wf_lock_take(&record->lock);
    bool is = record->is_watched;
    wf_lock_drop(&record->lock);
    return is;
}

static void write_one(void) {
    CHECK_EQ(write(weft_fd_number(ends[1]), "x", 1), 1);
}

/* ---- The engine ends ---- */

static atomic_int results;
static void *read_one(void *arg) {
    char byte;
    CHECK_EQ(weft_read(ends[0], &byte, 1, WEFT_NEVER), 1);
    atomic_fetch_add(&results, 1);
    return arg;
}
static void *wait_one(void *arg) {
    CHECK_EQ(weft_wait_readable(ends[0], WEFT_NEVER), 0);
    return read_one(arg);
}
static void *select_one(void *arg) {
    weft_case entry = weft_on_readable(ends[0]);
    CHECK_EQ(weft_select(&entry, 1, WEFT_NEVER), 0);
    CHECK_EQ(entry.status, 0);
    return read_one(arg);
}

static pthread_t outside;
static void *(*outside_fn)(void *arg);

static void leave_one_waiting_outside(void) {
    CHECK_EQ(weft_wait_readable(ends[0], weft_after(WEFT_MICROSECOND)), -ETIMEDOUT);
    CHECK(record_of(ends[0])->sentry.sentries == &wf_worker_self()->fibers->engine.sentries);
    outside = thread_start(outside_fn, NULL);
    WAIT_UNTIL(has_waiter(ends[0], WF_IO_READ));
}

TEST(a_thread_that_waits_goes_on_with_the_keeper_when_the_engine_ends) {
    void *(*const ways[])(void *) = {read_one, wait_one};
    for (int i = 0; i < 2; i++) {
        io_open(i ? IO_PAIR : IO_TCP, ends);
        outside_fn = ways[i];
        run_fibers(leave_one_waiting_outside);
        COMPUTE_UNTIL(is_watched(ends[0]));
        COMPUTE_UNTIL(has_waiter(ends[0], WF_IO_READ));
        write_one();
        thread_join(outside);
        io_close(ends);
    }
}

/* A select is told when the engine ends, as if it were ready: whoever selects has to look. */
TEST(a_thread_that_selects_is_not_forgotten_when_the_engine_ends) {
    io_open(IO_TCP, ends);
    outside_fn = select_one;
    run_fibers(leave_one_waiting_outside);
    write_one();
    thread_join(outside);
    io_close(ends);
}

/* Between the look at the descriptor and the park of a select, the engine that watches it ends. The second case does that when
 * its turn comes. */
static atomic_int has_watched, may_end, has_ended;
static void watch_until_told(void) {
    CHECK_EQ(weft_wait_readable(ends[0], weft_after(WEFT_MICROSECOND)), -ETIMEDOUT);
    atomic_store(&has_watched, 1);
    WAIT_UNTIL(atomic_load(&may_end));
}
static void *run_other(void *arg) {
    run_fibers(watch_until_told);
    atomic_store(&has_ended, 1);
    return arg;
}
static bool end_other(weft_case *entry, struct wf_lock **lock, struct wf_waiter ***queue) {
    (void)lock;
    (void)queue;
    entry->status = 0; /* never comes */
    atomic_store(&may_end, 1);
    WAIT_UNTIL(atomic_load(&has_ended));
    return false;
}
static const struct wf_case_kind end_kind = {.name = "end", .begin = end_other};

static void *write_when_waited_for(void *arg) {
    WAIT_UNTIL(has_waiter(ends[0], WF_IO_READ));
    write_one();
    return arg;
}
TEST_BOTH(a_select_that_lies_down_as_the_other_engine_ends_is_watched) {
    struct on_thread_call writer;
    io_open(IO_TCP, ends);
    atomic_store(&has_watched, 0);
    atomic_store(&may_end, 0);
    atomic_store(&has_ended, 0);
    pthread_t other = thread_start(run_other, NULL);
    WAIT_UNTIL(atomic_load(&has_watched)); /* and does not wait itself any more */
    CHECK(is_watched(ends[0]));
    weft_case cases[] = {weft_on_readable(ends[0]), wf_case_make(&end_kind, NULL, 0, NULL)};
    on_thread_start(&writer, write_when_waited_for, NULL);
    CHECK_EQ(weft_select_ordered(cases, 2, WEFT_NEVER), 0);
    CHECK_EQ(cases[0].status, 0);
    on_thread_finish(&writer);
    thread_join(other);
    io_close(ends);
}

/* ---- Fibers that are dropped ---- */

static void *close_with_user(void *arg) {
    weft_close(ends[1]);
    return arg;
}
static struct wf_fd *held;

static void leave_everybody_waiting(void) {
    weft_fiber fiber;
    spawn_parked(read_one, NULL);
    spawn_parked(select_one, NULL);
    SPAWN(&fiber, wait_one, NULL);
    wait_parked(fiber);
    held = wf_fd_get(ends[1]);
    spawn_parked(close_with_user, NULL);
}

TEST(fibers_that_are_dropped_while_they_wait_leave_the_descriptor_alone) {
    weft_options options = {.abandon = true};
    for (enum io_kind kind = IO_PAIR; kind < IO_KINDS; kind++) {
        io_open(kind, ends);
        int number = weft_fd_number(ends[1]);
        run_fibers_with(&options, leave_everybody_waiting);
        CHECK(!has_waiter(ends[0], WF_IO_READ));
        CHECK(!is_watched(ends[0]));
        CHECK_EQ(write(number, "x", 1), 1);
        CHECK_EQ(weft_read(ends[0], room, 1, WEFT_NEVER), 1);
        wf_fd_put(held); /* its closer has gone; it is closed all the same */
        CHECK_EQ(fcntl(number, F_GETFD), -1);
        CHECK_EQ(weft_read(ends[0], room, 1, WEFT_NEVER), 0);
        CHECK_EQ(weft_close(ends[0]), 0);
    }
}

/* A read of a file that takes as long as the test wants: the library's calls of read come here. */
static atomic_int slow_number = -1, is_reading, may_read;
ssize_t read(int fd, void *buffer, size_t size) {
    if (fd == atomic_load(&slow_number)) {
        atomic_store(&is_reading, 1);
        while (!atomic_load(&may_read))
            sched_yield();
    }
    return syscall(SYS_read, fd, buffer, size);
}

static struct wf_engine *engine;
static weft_fd file;
static void *read_file(void *arg) {
    CHECK_EQ(weft_read(file, room, 1, WEFT_NEVER), 0);
    return arg;
}
static void *let_it_read(void *arg) {
    COMPUTE_UNTIL(atomic_load(&is_reading));
    COMPUTE_UNTIL(wf_load_relaxed(&engine->is_stopping));
    atomic_store(&may_read, 1);
    return arg;
}
static void leave_in_a_blocking_read(void) {
    weft_fiber fiber;
    engine = &wf_worker_self()->fibers->engine;
    outside = thread_start(let_it_read, NULL);
    SPAWN(&fiber, read_file, NULL);
    WAIT_UNTIL(atomic_load(&is_reading));
}
TEST(a_fiber_that_is_dropped_behind_a_blocking_read_does_not_keep_the_file) {
    weft_options options = {.abandon = true};
    int number = memfd_create("slow", MFD_CLOEXEC);
    CHECK_EQ(weft_adopt(&file, number, 0), 0);
    atomic_store(&is_reading, 0);
    atomic_store(&may_read, 0);
    atomic_store(&slow_number, number);
    run_fibers_with(&options, leave_in_a_blocking_read);
    atomic_store(&slow_number, -1);
    thread_join(outside);
    CHECK_EQ(weft_close(file), 0);
}

static void close_under_a_blocking_read(void) {
    struct on_thread_call closer;
    weft_fiber fiber;
    SPAWN(&fiber, read_file, NULL);
    WAIT_UNTIL(atomic_load(&is_reading));
    on_thread_start(&closer, close_with_user, NULL);
    WAIT_UNTIL(has_closer(ends[1]));
    atomic_store(&may_read, 1);
    JOIN(fiber, NULL);
    on_thread_finish(&closer);
}
TEST(a_close_waits_for_a_blocking_read) {
    int number = memfd_create("slow", MFD_CLOEXEC);
    CHECK_EQ(weft_adopt(&file, number, 0), 0);
    ends[1] = file;
    atomic_store(&is_reading, 0);
    atomic_store(&may_read, 0);
    atomic_store(&slow_number, number);
    run_fibers(close_under_a_blocking_read);
    atomic_store(&slow_number, -1);
    CHECK_EQ(weft_close(file), -EBADF);
}

/* ---- Several engines, one descriptor ---- */

enum { READERS = 3, BYTES = 300 };
static atomic_int readers_left;

static void *read_until_the_end(void *arg) {
    char byte;
    ssize_t got;
    while ((got = weft_read(ends[0], &byte, 1, WEFT_NEVER)) == 1)
        atomic_fetch_add(&results, 1);
    CHECK_EQ(got, 0);
    atomic_fetch_sub(&readers_left, 1);
    return arg;
}
static void spawn_readers(void) {
    for (int i = 0; i < READERS; i++)
        CHECK_EQ(weft_go(read_until_the_end, NULL), 0);
}
static void *run_readers(void *arg) {
    run_fibers(spawn_readers);
    return arg;
}
static int work_reader(void *arg) {
    read_until_the_end(arg);
    return 0;
}
TEST(two_runtimes_a_pool_and_threads_share_a_descriptor) {
    for (enum io_kind kind = 0; kind < IO_KINDS; kind++) {
        pthread_t runtimes[2], threads[2];
        weft_pool *pool;
        weft_pool_options options = {.threads = READERS};
        io_open(kind, ends);
        atomic_store(&results, 0);
        atomic_store(&readers_left, 3 * READERS + 2);
        CHECK_EQ(weft_pool_new(&pool, &options), 0);
        for (int i = 0; i < READERS; i++)
            CHECK_EQ(weft_pool_submit(pool, NULL, work_reader, NULL), 0);
        for (int i = 0; i < 2; i++) {
            runtimes[i] = thread_start(run_readers, NULL);
            threads[i] = thread_start(read_until_the_end, NULL);
        }
        for (int i = 0; i < BYTES; i++) {
            CHECK_EQ(weft_write(ends[1], "x", 1, WEFT_NEVER), 1);
            if (i % 16 == 0)
                WAIT_UNTIL(atomic_load(&results) == i + 1);
        }
        CHECK_EQ(weft_close(ends[1]), 0);
        WAIT_UNTIL(atomic_load(&readers_left) == 0);
        CHECK_EQ(atomic_load(&results), BYTES);
        for (int i = 0; i < 2; i++) {
            thread_join(runtimes[i]);
            thread_join(threads[i]);
        }
        CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
        weft_pool_free(pool);
        CHECK_EQ(weft_close(ends[0]), 0);
    }
}

/* ---- Forks ---- */

static void read_one_here(void) {
    read_one(NULL);
}

static void use_in_the_child(void *arg) {
    (void)arg;
    CHECK(!has_waiter(ends[0], WF_IO_READ));
    CHECK_EQ(weft_close(ends[1]), 0); /* in use by a thread that is not here */
    CHECK_EQ(weft_read(ends[0], room, 1, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    CHECK_EQ(weft_close(ends[0]), 0);
    io_open(IO_TCP, ends);
    outside = thread_start(write_when_waited_for, NULL);
    CHECK_EQ(weft_read(ends[0], room, 1, WEFT_NEVER), 1);
    thread_join(outside);
    outside = thread_start(write_when_waited_for, NULL);
    run_fibers(read_one_here);
    thread_join(outside);
    io_close(ends);
}

/* One thread waits, one is in the middle of a call. The child sees neither, and the parent sees nothing of the child.
 * ThreadSanitizer cannot follow a child that has threads when its parent had some. */
TEST(the_child_of_a_fork_goes_on_with_the_descriptors) {
    if (IS_THREAD_SANITIZED)
        return;
    for (int i = 0; i < 2; i++) {
        io_open(IO_TCP, ends);
        held = wf_fd_get(ends[1]);
        atomic_store(&results, 0);
        outside = thread_start(read_one, NULL);
        COMPUTE_UNTIL(has_waiter(ends[0], WF_IO_READ));
        struct child_end end = child_run(use_in_the_child, NULL);
        CHECK_CHILD_WELL(&end);
        wf_fd_put(held);
        CHECK(has_waiter(ends[0], WF_IO_READ));
        write_one();
        thread_join(outside);
        CHECK_EQ(atomic_load(&results), 1);
        io_close(ends);
    }
}
