/* SPDX-License-Identifier: MIT
 *
 * support/io.h - descriptors under test: pipes, pairs of sockets, and TCP over the loopback.
 *
 *     weft_fd ends[2];
 *     io_open(IO_TCP, ends);       // what is written to ends[1] is read from ends[0]
 *     ...
 *     io_close(ends);
 *
 * The thread that waits for descriptors on behalf of plain threads stays once it was started: it is started before the
 * level is taken that every test has to come back to. Public headers only.
 */
#ifndef WF_SUPPORT_IO_H
#define WF_SUPPORT_IO_H

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/parked.h"
#include "weft/io.h"

enum io_kind { IO_PIPE, IO_PAIR, IO_TCP, IO_KINDS };

static inline void io_tcp_numbers(int numbers[2]) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_GE(listener, 0);
    CHECK_EQ(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    CHECK_EQ(listen(listener, 1), 0);
    CHECK_EQ(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    numbers[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_GE(numbers[1], 0);
    CHECK_EQ(connect(numbers[1], (struct sockaddr *)&address, size), 0);
    numbers[0] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    CHECK_GE(numbers[0], 0);
    close(listener);
}

static inline void io_numbers(enum io_kind kind, int numbers[2]) {
    if (kind == IO_PIPE)
        CHECK_EQ(pipe2(numbers, O_CLOEXEC), 0);
    else if (kind == IO_PAIR)
        CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, numbers), 0);
    else
        io_tcp_numbers(numbers);
}

static inline void io_open(enum io_kind kind, weft_fd ends[2]) {
    int numbers[2];
    io_numbers(kind, numbers);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(weft_adopt(&ends[i], numbers[i], 0), 0);
}

static inline void io_close(weft_fd ends[2]) {
    CHECK_EQ(weft_close(ends[0]), 0);
    CHECK_EQ(weft_close(ends[1]), 0);
}

/* Writes until there is no room for another byte. Returns how many bytes there was room for. (TCP may find some more room
 * afterwards, as what it has sent is confirmed.) */
static inline size_t io_fill(weft_fd end) {
    static const char nothing[65536];
    size_t sum = 0;
    for (size_t size = sizeof nothing; size > 0; size /= 2) {
        ssize_t written;
        while ((written = weft_write(end, nothing, size, WEFT_NOW)) > 0)
            sum += (size_t)written;
        CHECK_EQ(written, -ETIMEDOUT);
    }
    return sum;
}

/* Reads until there is nothing. */
static inline size_t io_drain(weft_fd end) {
    static _Thread_local char thrown_away[4096];
    size_t sum = 0;
    ssize_t got;
    while ((got = weft_read(end, thrown_away, sizeof thrown_away, WEFT_NOW)) > 0)
        sum += (size_t)got;
    return sum;
}

static inline void io_put(weft_fd end, const char *text) {
    CHECK_EQ(weft_write_all(end, text, strlen(text), WEFT_NEVER), 0);
}

static inline void io_expect(weft_fd end, const char *text) {
    char got[256];
    size_t length = strlen(text);
    CHECK_EQ(weft_read_full(end, got, length, NULL, WEFT_NEVER), length);
    CHECK(memcmp(got, text, length) == 0);
}

/* A body that runs on a fiber, and again on a plain thread without a runtime. */
#define TEST_BOTH(name) \
    static void body_##name(void); \
    TEST(name) { \
        run_fibers(body_##name); \
        body_##name(); \
    } \
    static void body_##name(void)

/* Before balance.c takes its level, which it does without a priority. A suite in which only children need that thread defines
 * IO_WITHOUT_KEEPER. */
#ifndef IO_WITHOUT_KEEPER
static inline bool io_has_thread(const char *name) {
    DIR *folder = opendir("/proc/self/task");
    bool has = false;
    struct dirent *entry;
    while (!has && (entry = readdir(folder))) {
        char path[300], text[32] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        int number = open(path, O_RDONLY | O_CLOEXEC);
        has = number >= 0 && read(number, text, sizeof text - 1) > 0 && strncmp(text, name, strlen(name)) == 0;
        if (number >= 0)
            close(number);
    }
    closedir(folder);
    return has;
}

__attribute__((constructor(200))) static void io_start_keeper(void) {
    weft_fd ends[2];
    CHECK_EQ(weft_pipe(ends), 0);
    CHECK_EQ(weft_wait_readable(ends[0], weft_after(1)), -ETIMEDOUT);
    io_close(ends);
    while (!io_has_thread("weft-keeper")) /* it has freed then what it was started with */
        sched_yield();
}
#endif

#endif
