/* SPDX-License-Identifier: MIT
 *
 * fault/io_test.c - system calls on descriptors fail, at every place.
 *
 * A workload that uses all of weft/io.h is run again and again; in run n the n-th call of one kind fails, until a run passes
 * in which none did; then once more with all calls failing from the n-th on. Each run is a forked child with a time limit.
 * A call may return what the failed one says, and whoever gets an error closes its ends, so that the other side learns of it;
 * but what arrives is right and in order, and nothing is left open.
 */
#define IO_WITHOUT_KEEPER
#include <sys/mman.h>
#include <sys/syscall.h>

#include "io/fd.h"
#include "os/fault.h"
#include "os/memory.h"
#include "support/child.h"
#include "support/descriptors.h"
#include "support/io.h"

enum { CHUNK = 3000, ROUNDS = 3, NTH_MAX = 100 };

static weft_fd pipes[2], sockets[2]; /* out of pipes[0] comes what went into sockets[1] */
static int injected;                 /* the error that calls are made to meet */

static bool is_failure(long status) {
    return status == -injected || status == -ENOMEM || status == -ENFILE || status == -EMFILE || status == -EAGAIN;
}
static bool is_gone(long status) {
    return status == -EPIPE || status == -ECONNRESET || status == -EBADF;
}

/* True when it went well. */
static bool went(long status) {
    bool is_known = status >= 0 || is_failure(status) || is_gone(status);
    if (!is_known)
        fprintf(stderr, "unexpected status %ld\n", status);
    CHECK(is_known);
    return status >= 0;
}

static void shut(weft_fd fd) {
    int status = weft_close(fd);
    CHECK(status == 0 || status == -injected);
    CHECK_EQ(weft_close(fd), -EBADF); /* closed whatever it said */
}

static bool open_all(void) {
    int numbers[2];
    if (!went(weft_pipe(pipes)))
        return false;
    io_numbers(IO_TCP, numbers);
    for (int i = 0; i < 2; i++) {
        if (went(weft_adopt(&sockets[i], numbers[i], 0)))
            continue;
        CHECK(!(fcntl(numbers[i], F_GETFL) & O_NONBLOCK)); /* as it was */
        close(numbers[i]);
        if (i)
            shut(sockets[0]);
        else
            close(numbers[1]);
        shut(pipes[0]);
        shut(pipes[1]);
        return false;
    }
    return true;
}

/* The other side: from the socket to the pipe, by turns through here and inside the kernel. */
static void *pass_on(void *arg) {
    char bytes[CHUNK];
    ssize_t got = 1;
    for (int i = 0; got > 0; i++) {
        got = i % 3 == 2 ? weft_splice(pipes[1], sockets[0], CHUNK, WEFT_NEVER)
                         : weft_read(sockets[0], bytes, sizeof bytes, WEFT_NEVER);
        if (went(got) && got > 0 && i % 3 != 2 && !went(weft_write_all(pipes[1], bytes, (size_t)got, WEFT_NEVER)))
            break;
    }
    shut(pipes[1]);
    shut(sockets[0]);
    return arg;
}

static bool expect_chunk(const char *bytes) {
    char got[CHUNK];
    weft_case cases[] = {weft_on_readable(pipes[0]), weft_on_time(weft_after(PATIENCE_NS))};
    int chosen = weft_select(cases, 2, WEFT_NEVER);
    if (!went(chosen) || !went(cases[0].status))
        return false;
    CHECK_EQ(chosen, 0);
    size_t done = 0;
    ssize_t result = weft_read_full(pipes[0], got, CHUNK, &done, weft_after(PATIENCE_NS));
    CHECK(memcmp(got, bytes, done) == 0);
    return went(result) && done == CHUNK;
}

static bool send_chunk(int round, const char *bytes) {
    struct iovec parts[] = {{(char *)bytes, 10}, {(char *)bytes + 10, CHUNK - 10}};
    if (round == 1)
        return went(weft_writev_all(sockets[1], parts, 2, NULL, WEFT_NEVER));
    if (round == 0)
        return went(weft_wait_writable(sockets[1], WEFT_NEVER)) &&
               went(weft_write_all(sockets[1], bytes, CHUNK, weft_after(PATIENCE_NS)));
    weft_fd file;
    off_t offset = 0;
    int number = memfd_create("file", MFD_CLOEXEC);
    CHECK_EQ(pwrite(number, bytes, CHUNK, 0), CHUNK);
    if (!went(weft_adopt(&file, number, 0))) {
        close(number);
        return false;
    }
    ssize_t sent = 1;
    while (offset < CHUNK && sent > 0)
        sent = weft_send_file(sockets[1], file, &offset, CHUNK, WEFT_NEVER);
    shut(file);
    return went(sent);
}

static void use_descriptors(void) {
    char bytes[CHUNK];
    if (!open_all())
        return;
    struct on_thread_call other;
    on_thread_start(&other, pass_on, NULL);
    bool goes_on = true;
    for (int round = 0; round < ROUNDS && goes_on; round++) {
        for (int i = 0; i < CHUNK; i++)
            bytes[i] = (char)(i * 7 + round);
        goes_on = send_chunk(round, bytes) && expect_chunk(bytes);
    }
    shut(sockets[1]);
    shut(pipes[0]);
    on_thread_finish(&other);
}

/* ---- The sweep ---- */

struct point {
    enum wf_system_call call;
    int error;
    bool every;
    bool is_fiber;
    long nth;
};

enum { END_HIT = 40, END_CLEAN = 41 };

static int use_in_fiber(void *arg) {
    (void)arg;
    use_descriptors();
    return 0;
}

static void run_point(void *opaque) {
    const struct point *point = opaque;
    weft_options options = {.workers = 2, .quiet = true};
    unsetenv("WEFT_WORKERS");
    injected = point->error;
    int descriptors = count_descriptors();
    alarm(30);
    wf_fault_order(point->call, point->nth, point->error, point->every);
    if (point->is_fiber)
        went(weft_run(&options, use_in_fiber, NULL));
    else
        use_descriptors();
    long hits = wf_fault_hits();
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
    WAIT_UNTIL(wf_os_live_blocks() == 0); /* a thread that has just been started frees one */
    CHECK_EQ(wf_os_mapped_bytes(), 0);
    CHECK_EQ(count_descriptors(), descriptors + (wf_keeper_is_there() ? 2 : 0));
    injected = 0;
    if (point->nth % 4 == 1)
        use_descriptors();                               /* it works again */
    syscall(SYS_exit_group, hits ? END_HIT : END_CLEAN); /* ThreadSanitizer would sleep before an ordinary end */
}

static long total_points;

static void sweep_one(struct point point, long most) {
    for (point.nth = 1; point.nth <= most; point.nth++) {
        struct child_end end = child_run(run_point, &point);
        bool is_right =
            WIFEXITED(end.status) && (WEXITSTATUS(end.status) == END_HIT || WEXITSTATUS(end.status) == END_CLEAN);
        if (!is_right)
            fprintf(stderr, "%s call %ld%s, errno %d, %s: status %#x: %s\n", wf_fault_name(point.call), point.nth,
                    point.every ? " and all after it" : "", point.error, point.is_fiber ? "fiber" : "thread",
                    (unsigned)end.status, end.text);
        CHECK(is_right);
        total_points++;
        if (WEXITSTATUS(end.status) == END_CLEAN)
            return;
    }
}

static void sweep(enum wf_system_call call, int error, bool with_every) {
    long before = total_points;
    for (int i = IS_SANITIZED; i < 2; i++) { /* a child costs much there */
        sweep_one((struct point){.call = call, .error = error, .is_fiber = i}, scaled(NTH_MAX, 3));
        if (with_every)
            sweep_one((struct point){.call = call, .error = error, .is_fiber = i, .every = true}, scaled(5, 1));
    }
    printf("    %-14s errno %2d: %ld points\n", wf_fault_name(call), error, total_points - before);
}

TEST(memory_and_threads_may_be_refused) {
    sweep(WF_CALL_ALLOC, ENOMEM, true);
    sweep(WF_CALL_THREAD, EAGAIN, true);
}

TEST(descriptors_may_be_refused) {
    sweep(WF_CALL_PIPE, EMFILE, true);
    sweep(WF_CALL_EPOLL_CREATE, EMFILE, true);
    sweep(WF_CALL_EVENTFD, ENFILE, true);
    sweep(WF_CALL_EPOLL_CTL, ENOMEM, true);
}

TEST(what_a_descriptor_is_may_be_refused) {
    sweep(WF_CALL_FSTAT, EBADF, true);
    sweep(WF_CALL_FCNTL, EBADF, true);
}

TEST(calls_may_be_interrupted) {
    enum wf_system_call calls[] = {WF_CALL_READ, WF_CALL_SEND, WF_CALL_POLL, WF_CALL_FSTAT, WF_CALL_EPOLL_WAIT};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        sweep(calls[i], EINTR, false);
}

TEST(reads_writes_and_looks_may_fail) {
    sweep(WF_CALL_READ, EIO, true);
    sweep(WF_CALL_SEND, ENOBUFS, true);
    sweep(WF_CALL_POLL, ENOMEM, false);
    sweep(WF_CALL_CLOSE, EIO, true);
}

/* Nobody has watched it yet: the one who waits learns what is there from whoever watches. */
static void be_told_to_wait(void) {
    for (enum io_kind kind = 0; kind < IO_KINDS; kind++) {
        weft_fd ends[2];
        io_open(kind, ends);
        io_put(ends[1], "weft");
        wf_fault_order(WF_CALL_READ, 1, EAGAIN, 0);
        io_expect(ends[0], "weft");
        CHECK_EQ(wf_fault_hits(), 1);
        wf_fault_order(WF_CALL_SEND, 1, EAGAIN, 0);
        io_put(ends[1], "weft");
        CHECK_EQ(wf_fault_hits(), 1);
        wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
        io_expect(ends[0], "weft");
        io_close(ends);
    }
}
TEST(a_descriptor_that_says_without_need_that_it_would_block_is_asked_again) {
    run_fibers(be_told_to_wait);
}

TEST(the_sweep_of_descriptors_was_a_wide_one) {
    printf("    %ld points in all\n", total_points);
    CHECK_GE(total_points, scaled(100, 40));
}
