/* SPDX-License-Identifier: MIT
 *
 * spec/io_select_test.c - descriptors as cases of weft_select, beside channels, time and each other.
 */
#include "support/child.h"
#include "support/io.h"

static weft_chan *channel;

static void open_channel(void) {
    CHECK_EQ(weft_chan_new(&channel, sizeof(int), 1), 0);
}

/* ---- What is ready at once ---- */

TEST_BOTH(a_descriptor_that_is_ready_is_chosen) {
    for (enum io_kind kind = 0; kind < IO_TCP; kind++) {
        weft_fd ends[2];
        io_open(kind, ends);
        weft_case cases[] = {weft_on_readable(ends[0]), weft_on_writable(ends[1])};
        CHECK_EQ(weft_select(cases, 2, WEFT_NEVER), 1);
        CHECK_EQ(cases[1].status, 0);
        io_put(ends[1], "x");
        CHECK_EQ(weft_select_ordered(cases, 2, WEFT_NEVER), 0);
        CHECK_EQ(cases[0].status, 0);
        io_fill(ends[1]);
        CHECK_EQ(weft_select(cases, 2, WEFT_NOW), 0); /* nothing is read by it */
        io_drain(ends[0]);
        io_close(ends);
    }
}

TEST_BOTH(the_choice_among_what_is_ready_is_open) {
    weft_fd ends[2];
    int chosen[3] = {0}, value;
    io_open(IO_PAIR, ends);
    open_channel();
    io_put(ends[1], "x");
    while (!chosen[0] || !chosen[1] || !chosen[2]) {
        weft_case cases[] = {weft_on_readable(ends[0]), weft_on_writable(ends[1]), weft_on_receive(channel, &value)};
        int status = weft_chan_send(channel, &chosen[0], WEFT_NOW);
        CHECK(status == 0 || status == -ETIMEDOUT);
        int index = weft_select(cases, 3, WEFT_NEVER);
        CHECK_GE(index, 0);
        CHECK_EQ(cases[index].status, 0);
        chosen[index]++;
    }
    weft_chan_free(channel);
    io_close(ends);
}

TEST_BOTH(what_is_not_open_is_ready_to_say_so) {
    weft_fd ends[2];
    io_open(IO_PAIR, ends);
    weft_case old = weft_on_readable(ends[0]);
    weft_fd handles[] = {WEFT_NO_FD, {UINT64_MAX}, ends[0]};
    CHECK_EQ(weft_close(ends[0]), 0);
    for (int i = 0; i < 3; i++) {
        weft_case cases[] = {weft_on_readable(handles[i]), weft_on_writable(handles[i])};
        for (int way = 0; way < 2; way++) {
            CHECK_EQ(weft_select(&cases[way], 1, WEFT_NEVER), 0);
            CHECK_EQ(cases[way].status, -EBADF);
            CHECK_EQ(weft_select(&cases[way], 1, WEFT_NOW), 0);
            CHECK_EQ(cases[way].status, -EBADF);
        }
    }
    weft_fd heirs[2]; /* in its place, and readable */
    io_open(IO_PAIR, heirs);
    io_put(heirs[0], "x");
    io_put(heirs[1], "x");
    CHECK_EQ(weft_select(&old, 1, WEFT_NEVER), 0);
    CHECK_EQ(old.status, -EBADF);
    io_close(heirs);
    CHECK_EQ(weft_close(ends[1]), 0);
}

TEST_BOTH(files_and_devices_are_always_ready) {
    const char *paths[] = {"/dev/null", "/dev/zero", "/proc/self/stat", "/"};
    for (int i = 0; i < 4; i++) {
        weft_fd fd;
        CHECK_EQ(weft_adopt(&fd, open(paths[i], O_RDONLY | O_CLOEXEC), 0), 0);
        weft_case cases[] = {weft_on_readable(fd), weft_on_writable(fd)};
        for (int way = 0; way < 2; way++) {
            CHECK_EQ(weft_select(&cases[way], 1, WEFT_NEVER), 0);
            CHECK_EQ(cases[way].status, 0);
            CHECK_EQ(weft_select(&cases[way], 1, WEFT_NOW), 0);
        }
        CHECK_EQ(weft_wait_readable(fd, WEFT_NEVER), 0);
        CHECK_EQ(weft_wait_writable(fd, WEFT_NOW), 0);
        CHECK_EQ(weft_close(fd), 0);
    }
}

/* ---- What comes later ---- */

enum { DESCRIPTORS = 4 };

struct selection {
    weft_fd fds[DESCRIPTORS];
    weft_time deadline;
    int chosen, status, value;
};

/* Readable 0 to 3, room on 3, a channel, a moment that never comes. */
static void *select_among_all(void *opaque) {
    struct selection *selection = opaque;
    weft_case cases[] = {
        weft_on_readable(selection->fds[0]),
        weft_on_readable(selection->fds[1]),
        weft_on_readable(selection->fds[2]),
        weft_on_readable(selection->fds[3]),
        weft_on_writable(selection->fds[3]),
        weft_on_receive(channel, &selection->value),
        weft_on_time(WEFT_NEVER),
    };
    selection->chosen = weft_select(cases, 7, selection->deadline);
    selection->status = selection->chosen >= 0 ? cases[selection->chosen].status : 0;
    return NULL;
}

static void select_while_parked(int which, bool is_close, bool is_thread) {
    struct selection selection = {.deadline = WEFT_NEVER};
    weft_fd others[DESCRIPTORS];
    weft_fiber fiber = {0};
    struct on_thread_call thread;
    for (int i = 0; i < DESCRIPTORS; i++) {
        weft_fd ends[2];
        io_open(i == 3 || i == 0 ? IO_PAIR : i == 1 ? IO_PIPE : IO_TCP, ends);
        selection.fds[i] = ends[0];
        others[i] = ends[1];
    }
    io_fill(selection.fds[3]);
    open_channel();
    if (is_thread)
        on_thread_start(&thread, select_among_all, &selection);
    else
        fiber = spawn_parked(select_among_all, &selection);
    if (which == 5)
        CHECK_EQ(weft_chan_send(channel, &which, WEFT_NEVER), 0);
    else if (is_close)
        CHECK_EQ(weft_close(selection.fds[which < 4 ? which : 3]), 0);
    else if (which == 4)
        CHECK_NE(io_drain(others[3]), 0);
    else
        io_put(others[which], "x");
    if (is_thread)
        on_thread_finish(&thread);
    else
        JOIN(fiber, NULL);
    bool is_same = selection.chosen == which || (is_close && which >= 3 && selection.chosen >= 3);
    CHECK(is_same);
    CHECK_EQ(selection.status, is_close && which != 5 ? -EBADF : 0);
    for (int i = 0; i < DESCRIPTORS; i++) {
        int status = weft_close(selection.fds[i]);
        CHECK(status == 0 || (is_close && status == -EBADF));
        CHECK_EQ(weft_close(others[i]), 0);
    }
    weft_chan_free(channel);
}
static void select_every_way(void) {
    for (int i = 0; i < 24; i++)
        select_while_parked(i / 4, i & 1, i & 2);
}
TEST(whatever_comes_first_ends_a_select) {
    run_fibers(select_every_way);
}

TEST_BOTH(time_ends_a_select_over_descriptors) {
    weft_fd ends[2];
    io_open(IO_TCP, ends);
    weft_case cases[] = {weft_on_readable(ends[0]), weft_on_time(weft_after(WEFT_MILLISECOND))};
    CHECK_EQ(weft_select(cases, 2, WEFT_NEVER), 1);
    CHECK_EQ(weft_select(cases, 1, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    CHECK_EQ(weft_select(cases, 1, WEFT_NOW), -ETIMEDOUT);
    io_put(ends[1], "x");
    CHECK_EQ(weft_select(cases, 1, WEFT_NEVER), 0);
    io_close(ends);
}

/* ---- Several at one descriptor ---- */

static void two_selects(void) {
    for (enum io_kind kind = 0; kind < IO_KINDS; kind++) {
        weft_fd ends[2], quiet[2];
        weft_fiber fibers[3];
        struct selection selections[3];
        io_open(kind, ends);
        io_open(IO_PAIR, quiet);
        io_fill(quiet[0]);
        open_channel();
        for (int i = 0; i < 3; i++) { /* one of them names it twice */
            selections[i] = (struct selection){.fds = {quiet[0], ends[0], i ? quiet[0] : ends[0], quiet[0]},
                                               .deadline = WEFT_NEVER};
            fibers[i] = spawn_parked(select_among_all, &selections[i]);
        }
        io_put(ends[1], "x");
        for (int i = 0; i < 3; i++) {
            JOIN(fibers[i], NULL);
            CHECK(selections[i].chosen == 1 || (i == 0 && selections[i].chosen == 2));
            CHECK_EQ(selections[i].status, 0);
        }
        weft_chan_free(channel);
        io_close(ends);
        io_close(quiet);
    }
}
TEST(everybody_who_selects_a_descriptor_learns_that_it_is_ready) {
    run_fibers(two_selects);
}

static void *read_one(void *opaque) {
    char byte;
    return (void *)(intptr_t)weft_read(*(weft_fd *)opaque, &byte, 1, WEFT_NEVER);
}

static void *read_by_select(void *opaque) {
    weft_fd fd = *(weft_fd *)opaque;
    char byte;
    for (;;) {
        weft_case entry = weft_on_readable(fd);
        CHECK_EQ(weft_select(&entry, 1, WEFT_NEVER), 0);
        if (entry.status)
            return (void *)(intptr_t)entry.status;
        ssize_t got = weft_read(fd, &byte, 1, WEFT_NOW); /* somebody else may have been faster */
        if (got != -ETIMEDOUT)
            return (void *)(intptr_t)got;
    }
}

static void readers_and_selects(void) {
    enum { READERS = 12 };
    for (enum io_kind kind = 0; kind < IO_KINDS; kind++) {
        weft_fd ends[2];
        weft_fiber fibers[READERS];
        intptr_t sum = 0;
        void *result;
        io_open(kind, ends);
        for (int i = 0; i < READERS; i++)
            fibers[i] = spawn_parked(i % 2 ? read_by_select : read_one, &ends[0]);
        for (int i = 0; i < READERS; i++)
            CHECK_EQ(weft_write(ends[1], "x", 1, WEFT_NEVER), 1);
        for (int i = 0; i < READERS; i++) {
            JOIN(fibers[i], &result);
            sum += (intptr_t)result;
        }
        CHECK_EQ(sum, READERS);
        io_close(ends);
    }
}
TEST(selects_and_reads_share_what_comes) {
    run_fibers(readers_and_selects);
}

static void *close_it(void *opaque) {
    CHECK_EQ(weft_close(*(weft_fd *)opaque), 0);
    return NULL;
}

static void close_as_it_lies_down(void) {
    for (long round = scaled(300, 20); round > 0; round--) {
        weft_fd ends[2];
        weft_fiber selecter, closer;
        void *result;
        io_open(IO_PAIR, ends);
        SPAWN(&selecter, read_by_select, &ends[0]);
        SPAWN(&closer, close_it, &ends[0]);
        JOIN(selecter, &result);
        CHECK_EQ((intptr_t)result, -EBADF);
        JOIN(closer, NULL);
        CHECK_EQ(weft_close(ends[1]), 0);
    }
}
TEST(a_close_at_any_moment_of_a_select_is_seen) {
    run_fibers(close_as_it_lies_down);
}
