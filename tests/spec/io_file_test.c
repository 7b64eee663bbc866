/* SPDX-License-Identifier: MIT
 *
 * spec/io_file_test.c - descriptors from elsewhere: adopting, releasing, files, and moving bytes inside the kernel.
 */
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/timerfd.h>

#include "support/io.h"

static bool is_blocking(int number) {
    return !(fcntl(number, F_GETFL) & O_NONBLOCK);
}

static bool is_open(int number) {
    return fcntl(number, F_GETFD) >= 0;
}

/* A file with that text, its offset at the beginning. */
static weft_fd file_of(const char *text, size_t length) {
    weft_fd fd;
    int number = memfd_create("file", MFD_CLOEXEC);
    CHECK_EQ(pwrite(number, text, length, 0), length);
    CHECK_EQ(weft_adopt(&fd, number, 0), 0);
    return fd;
}

/* ---- Adopting ---- */

TEST_BOTH(an_adopted_descriptor_does_not_block_and_is_closed) {
    int numbers[2];
    weft_fd ends[2];
    io_numbers(IO_PAIR, numbers);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(weft_adopt(&ends[i], numbers[i], 0), 0);
        CHECK_EQ(weft_fd_number(ends[i]), numbers[i]);
        CHECK(!is_blocking(numbers[i]));
    }
    io_close(ends);
    CHECK(!is_open(numbers[0]));
    CHECK(!is_open(numbers[1]));
}

TEST_BOTH(what_is_kept_outlives_its_handle_and_blocks_again) {
    for (int i = 0; i < 4; i++) {
        int numbers[2], how = i & 1 ? O_NONBLOCK : 0;
        bool is_released = i & 2;
        weft_fd fd;
        CHECK_EQ(pipe2(numbers, O_CLOEXEC | how), 0);
        CHECK_EQ(weft_adopt(&fd, numbers[0], is_released ? 0 : WEFT_ADOPT_KEEP), 0);
        CHECK_EQ(weft_wait_readable(fd, weft_after(WEFT_MICROSECOND)), -ETIMEDOUT); /* it is watched from now on */
        CHECK_EQ(is_released ? weft_release(fd) : weft_close(fd), is_released ? numbers[0] : 0);
        CHECK(is_open(numbers[0]));
        CHECK_EQ(is_blocking(numbers[0]), !how);
        CHECK_EQ(weft_read(fd, &how, 1, WEFT_NOW), -EBADF);
        CHECK_EQ(weft_adopt(&fd, numbers[0], 0), 0); /* and may come in again */
        CHECK_EQ(write(numbers[1], "x", 1), 1);
        CHECK_EQ(weft_wait_readable(fd, WEFT_NEVER), 0);
        CHECK_EQ(weft_close(fd), 0);
        close(numbers[1]);
    }
}

static void *read_for_ever(void *opaque) {
    char byte;
    return (void *)(intptr_t)weft_read(*(weft_fd *)opaque, &byte, 1, WEFT_NEVER);
}

static void release_under_a_reader(void) {
    weft_fd ends[2];
    void *result;
    io_open(IO_TCP, ends);
    int number = weft_fd_number(ends[0]);
    weft_fiber fiber = spawn_parked(read_for_ever, &ends[0]);
    CHECK_EQ(weft_release(ends[0]), number);
    JOIN(fiber, &result);
    CHECK_EQ((intptr_t)result, -EBADF);
    CHECK(is_blocking(number));
    close(number);
    CHECK_EQ(weft_close(ends[1]), 0);
}
TEST(releasing_ends_who_waits_as_closing_does) {
    run_fibers(release_under_a_reader);
}

TEST(what_is_not_open_is_not_adopted) {
    weft_fd fd = {42};
    int number = eventfd(0, EFD_CLOEXEC);
    CHECK_EQ(weft_adopt(&fd, -1, 0), -EBADF);
    CHECK_EQ(weft_adopt(&fd, 1 << 20, 0), -EBADF);
    CHECK_EQ(weft_adopt(NULL, number, 0), -EINVAL);
    CHECK_EQ(weft_adopt(&fd, number, 2), -EINVAL);
    CHECK_EQ(weft_adopt(&fd, number, ~0u), -EINVAL);
    CHECK_EQ(fd.bits, 42);
    CHECK(is_blocking(number));
    close(number);
}

TEST_BOTH(whatever_the_kernel_can_wait_for_can_be_adopted) {
    weft_fd event, timer;
    uint64_t value = 0;
    struct itimerspec once = {.it_value.tv_nsec = 1000000};
    int number = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    CHECK_EQ(timerfd_settime(number, 0, &once, NULL), 0);
    CHECK_EQ(weft_adopt(&timer, number, 0), 0);
    CHECK_EQ(weft_read(timer, &value, sizeof value, WEFT_NEVER), sizeof value);
    CHECK_EQ(value, 1);
    CHECK_EQ(weft_adopt(&event, eventfd(0, EFD_CLOEXEC), 0), 0);
    CHECK_EQ(weft_read(event, &value, sizeof value, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_read(event, &value, 0, WEFT_NEVER), 0);
    CHECK_EQ(weft_read(event, &value, 1, WEFT_NEVER), -EINVAL); /* the kernel's */
    value = 5;
    CHECK_EQ(weft_write(event, &value, sizeof value, WEFT_NEVER), sizeof value);
    CHECK_EQ(weft_read(event, &value, sizeof value, WEFT_NEVER), sizeof value);
    CHECK_EQ(value, 5);
    CHECK_EQ(weft_close(event), 0);
    CHECK_EQ(weft_close(timer), 0);
}

/* ---- Files ---- */

TEST_BOTH(files_are_read_and_written_at_once) {
    char got[16];
    weft_fd fd = file_of("0123456789", 10);
    struct iovec parts[] = {{got, 2}, {got + 2, 3}};
    CHECK_EQ(weft_read(fd, got, 4, WEFT_NEVER), 4);
    CHECK_EQ(weft_readv(fd, parts, 2, WEFT_NOW), 5);
    CHECK(memcmp(got, "45678", 5) == 0);
    CHECK_EQ(weft_read_full(fd, got, 5, NULL, WEFT_NEVER), 1);
    CHECK_EQ(weft_read(fd, got, 5, WEFT_NEVER), 0);
    CHECK_EQ(weft_write_all(fd, "abc", 3, WEFT_NEVER), 0);
    CHECK_EQ(pread(weft_fd_number(fd), got, 16, 8), 5);
    CHECK(memcmp(got, "89abc", 5) == 0);
    CHECK_EQ(weft_wait_readable(fd, WEFT_NOW), 0);
    CHECK_EQ(weft_close(fd), 0);
}

TEST_BOTH(errors_of_the_kernel_come_through) {
    weft_fd folder, full, shut;
    char byte;
    CHECK_EQ(weft_adopt(&folder, open("/", O_RDONLY | O_CLOEXEC), 0), 0);
    CHECK_EQ(weft_read(folder, &byte, 1, WEFT_NEVER), -EISDIR);
    CHECK_EQ(weft_write(folder, &byte, 1, WEFT_NEVER), -EBADF); /* open, but not for that */
    CHECK_EQ(weft_adopt(&full, open("/dev/full", O_WRONLY | O_CLOEXEC), 0), 0);
    size_t done = 7;
    CHECK_EQ(weft_write_all_done(full, "x", 1, &done, WEFT_NEVER), -ENOSPC);
    CHECK_EQ(done, 0);
    CHECK_EQ(weft_adopt(&shut, socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), 0), 0);
    CHECK_EQ(weft_read(shut, &byte, 1, WEFT_NEVER), -ENOTCONN);
    CHECK_EQ(weft_write(shut, &byte, 1, WEFT_NEVER), -EPIPE);
    CHECK_EQ(weft_close(shut), 0);
    CHECK_EQ(weft_close(full), 0);
    CHECK_EQ(weft_close(folder), 0);
}

/* ---- Inside the kernel ---- */

TEST_BOTH(a_file_is_sent_from_its_offset) {
    for (enum io_kind kind = 0; kind < IO_KINDS; kind++) {
        weft_fd ends[2], fd = file_of("0123456789", 10);
        off_t offset = 3;
        io_open(kind, ends);
        CHECK_EQ(weft_send_file(ends[1], fd, &offset, 4, WEFT_NEVER), 4);
        CHECK_EQ(offset, 7);
        CHECK_EQ(weft_send_file(ends[1], fd, &offset, 100, WEFT_NEVER), 3);
        CHECK_EQ(weft_send_file(ends[1], fd, &offset, 100, WEFT_NEVER), 0);
        CHECK_EQ(weft_send_file(ends[1], fd, &offset, 0, WEFT_NEVER), 0);
        CHECK_EQ(offset, 10);
        io_expect(ends[0], "3456789");
        io_close(ends);
        CHECK_EQ(weft_close(fd), 0);
    }
}

struct transport {
    weft_fd to, from;
    size_t sum;
    long result;
};

static void *send_the_file(void *opaque) {
    struct transport *transport = opaque;
    off_t offset = 0;
    while ((transport->result = weft_send_file(transport->to, transport->from, &offset, 1 << 20, WEFT_NEVER)) > 0)
        transport->sum += (size_t)transport->result;
    return NULL;
}

static void *splice_all(void *opaque) {
    struct transport *transport = opaque;
    while ((transport->result = weft_splice(transport->to, transport->from, 1 << 16, WEFT_NEVER)) > 0)
        transport->sum += (size_t)transport->result;
    CHECK_EQ(weft_close(transport->to), 0);
    return NULL;
}

/* File, socket, pipe, socket, and we read what comes out. */
static void a_chain(void) {
    enum { SIZE = 1 << 20 };
    weft_fd sockets[2], ends[2], more[2];
    char *bytes = malloc(SIZE), *got = malloc(SIZE + 1);
    for (int i = 0; i < SIZE; i++)
        bytes[i] = (char)(i * 31 + i / 257);
    io_open(IO_TCP, sockets);
    CHECK_EQ(weft_pipe(ends), 0);
    io_open(IO_PAIR, more);
    weft_fd fd = file_of(bytes, SIZE);
    struct transport sender = {.to = sockets[1], .from = fd};
    struct transport first = {.to = ends[1], .from = sockets[0]}, second = {.to = more[1], .from = ends[0]};
    weft_fiber fibers[3];
    SPAWN(&fibers[0], send_the_file, &sender);
    SPAWN(&fibers[1], splice_all, &first);
    SPAWN(&fibers[2], splice_all, &second);
    CHECK_EQ(weft_read_full(more[0], got, SIZE, NULL, WEFT_NEVER), SIZE);
    CHECK(memcmp(got, bytes, SIZE) == 0);
    JOIN(fibers[0], NULL);
    CHECK_EQ(weft_close(sockets[1]), 0);
    for (int i = 1; i < 3; i++)
        JOIN(fibers[i], NULL);
    CHECK_EQ(weft_read(more[0], got, 1, WEFT_NEVER), 0);
    CHECK(sender.sum == SIZE && first.sum == SIZE && second.sum == SIZE);
    CHECK(sender.result == 0 && first.result == 0 && second.result == 0);
    CHECK_EQ(weft_close(more[0]), 0);
    CHECK_EQ(weft_close(ends[0]), 0);
    CHECK_EQ(weft_close(sockets[0]), 0);
    CHECK_EQ(weft_close(fd), 0);
    free(bytes);
    free(got);
}
TEST(bytes_move_inside_the_kernel_in_order) {
    run_fibers(a_chain);
}

TEST_BOTH(moving_waits_for_the_side_that_is_not_ready) {
    weft_fd ends[2], sockets[2], fd = file_of("0123456789", 10);
    off_t offset = 0;
    CHECK_EQ(weft_pipe(ends), 0);
    io_open(IO_PAIR, sockets);
    CHECK_EQ(weft_splice(ends[1], sockets[0], 10, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_splice(ends[1], sockets[0], 10, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    io_fill(ends[1]);
    io_put(sockets[1], "x");
    CHECK_EQ(weft_splice(ends[1], sockets[0], 10, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_splice(ends[1], sockets[0], 10, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    CHECK_EQ(weft_send_file(ends[1], fd, &offset, 10, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_send_file(ends[1], fd, &offset, 10, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    CHECK_EQ(offset, 0);
    io_drain(ends[0]);
    CHECK_EQ(weft_splice(ends[1], sockets[0], 10, WEFT_NEVER), 1);
    CHECK_EQ(weft_close(sockets[1]), 0);
    CHECK_EQ(weft_splice(ends[1], sockets[0], 10, WEFT_NEVER), 0);
    CHECK_EQ(weft_close(sockets[0]), 0);
    CHECK_EQ(weft_close(fd), 0);
    io_close(ends);
}

TEST_BOTH(what_cannot_be_moved_is_refused) {
    weft_fd ends[2], pair[2], fd = file_of("0123456789", 10);
    off_t offset = -1;
    CHECK_EQ(weft_pipe(ends), 0);
    io_open(IO_PAIR, pair);
    CHECK_EQ(weft_send_file(pair[1], fd, &offset, 1, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_send_file(pair[1], fd, NULL, 1, WEFT_NEVER), -EINVAL);
    offset = 0;
    CHECK_LE(weft_send_file(pair[1], pair[0], &offset, 1, WEFT_NEVER), -1); /* not from a socket */
    CHECK_EQ(weft_splice(pair[1], fd, 1, WEFT_NEVER), -EINVAL);             /* no pipe */
    weft_fd old = ends[0];
    CHECK_EQ(weft_close(ends[0]), 0);
    CHECK_EQ(weft_splice(old, fd, 1, WEFT_NEVER), -EBADF);
    CHECK_EQ(weft_splice(pair[1], old, 1, WEFT_NEVER), -EBADF);
    CHECK_EQ(weft_send_file(old, fd, &offset, 1, WEFT_NEVER), -EBADF);
    CHECK_EQ(weft_send_file(pair[1], old, &offset, 1, WEFT_NEVER), -EBADF);
    CHECK_EQ(weft_splice(WEFT_NO_FD, WEFT_NO_FD, 1, WEFT_NOW), -EBADF);
    CHECK_EQ(weft_send_file(ends[1], fd, &offset, 1, WEFT_NEVER), -EPIPE);
    CHECK_EQ(weft_splice(ends[1], fd, 1, WEFT_NEVER), -EPIPE);
    CHECK_EQ(offset, 0);
    io_close(pair);
    CHECK_EQ(weft_close(ends[1]), 0);
    CHECK_EQ(weft_close(fd), 0);
}

/* ---- Parked while it moves ---- */

static void *send_once(void *opaque) {
    struct transport *transport = opaque;
    off_t offset = 0;
    transport->result = weft_send_file(transport->to, transport->from, &offset, 1, WEFT_NEVER);
    return NULL;
}

static void *splice_once(void *opaque) {
    struct transport *transport = opaque;
    transport->result = weft_splice(transport->to, transport->from, 1, WEFT_NEVER);
    return NULL;
}

static void close_a_side(void) {
    for (int i = 0; i < 3; i++) { /* the sink of a file, the sink of a splice, its source */
        weft_fd ends[2], pair[2], fd = file_of("0123456789", 10);
        CHECK_EQ(weft_pipe(ends), 0);
        io_open(IO_PAIR, pair);
        if (i < 2) {
            io_fill(ends[1]);
            io_put(pair[1], "x");
        }
        struct transport transport = {.to = ends[1], .from = i ? pair[0] : fd};
        weft_fiber fiber = spawn_parked(i ? splice_once : send_once, &transport);
        CHECK_EQ(weft_close(i == 2 ? pair[0] : ends[1]), 0);
        JOIN(fiber, NULL);
        CHECK_EQ(transport.result, -EBADF);
        CHECK_EQ(weft_close(i == 2 ? ends[1] : pair[0]), 0);
        CHECK_EQ(weft_close(pair[1]), 0);
        CHECK_EQ(weft_close(ends[0]), 0);
        CHECK_EQ(weft_close(fd), 0);
    }
}
TEST(closing_the_side_that_is_waited_for_ends_a_move) {
    run_fibers(close_a_side);
}
