/* SPDX-License-Identifier: MIT
 *
 * spec/io_test.c - the contract of weft/io.h: reading, writing and waiting, deadlines, cancellation, sizes.
 *
 * Closing and the end of the other side are in io_close_test.c, files and adoption in io_file_test.c.
 */
#include "spec/io.h"

/* ---- Something comes ---- */

TEST_BOTH(what_is_written_is_read) {
    for (enum io_kind kind = 0; kind < IO_KINDS; kind++) {
        weft_fd ends[2];
        io_open(kind, ends);
        CHECK_EQ(weft_write(ends[1], "weft", 4, WEFT_NEVER), 4);
        char got[8];
        CHECK_EQ(weft_read(ends[0], got, sizeof got, WEFT_NEVER), 4);
        CHECK(memcmp(got, "weft", 4) == 0);
        io_close(ends);
    }
}

static void everybody_is_woken(void) {
    for (int i = 0; i < IO_KINDS * CALLS; i++) {
        weft_fd ends[2];
        struct attempt attempt = {.call = &calls[i / IO_KINDS]};
        attempt.fd = open_stuck((enum io_kind)(i % IO_KINDS), attempt.call, ends);
        weft_fiber fiber = spawn_parked(make_attempt, &attempt);
        unstick(attempt.call, ends);
        JOIN(fiber, NULL);
        CHECK_GE(attempt.result, 0);
        io_close(ends);
    }
}
TEST(whoever_waits_goes_on_when_what_it_waits_for_comes) {
    run_fibers(everybody_is_woken);
}

static void threads_are_woken(void) {
    for (int i = 0; i < IO_KINDS * CALLS; i++) {
        weft_fd ends[2];
        struct attempt attempt = {.call = &calls[i / IO_KINDS]};
        attempt.fd = open_stuck((enum io_kind)(i % IO_KINDS), attempt.call, ends);
        struct on_thread_call thread;
        on_thread_start(&thread, make_attempt, &attempt);
        unstick(attempt.call, ends);
        on_thread_finish(&thread);
        CHECK_GE(attempt.result, 0);
        io_close(ends);
    }
}
TEST(a_plain_thread_waits_as_well) {
    run_fibers(threads_are_woken);
    threads_are_woken();
}

/* One after another: the first message ends the wait of the first one only if that has taken it. */
static void two_bytes_for_two_readers(void) {
    static const struct call reader = {call_read, false};
    for (enum io_kind kind = 0; kind < IO_KINDS; kind++) {
        weft_fd ends[2];
        io_open(kind, ends);
        struct attempt attempts[2] = {{.call = &reader, .fd = ends[0]}, {.call = &reader, .fd = ends[0]}};
        weft_fiber first = spawn_parked(make_attempt, &attempts[0]);
        weft_fiber second = spawn_parked(make_attempt, &attempts[1]);
        CHECK_EQ(weft_write(ends[1], "ab", 2, WEFT_NEVER), 2);
        JOIN(first, NULL);
        JOIN(second, NULL);
        CHECK_EQ(attempts[0].result, 1);
        CHECK_EQ(attempts[1].result, 1);
        io_close(ends);
    }
}
TEST(one_write_serves_two_readers) {
    run_fibers(two_bytes_for_two_readers);
}

/* ---- Nothing comes ---- */

TEST_BOTH(with_now_a_call_that_would_wait_says_so_at_once) {
    for (int i = 0; i < IO_KINDS * CALLS; i++) {
        const struct call *call = &calls[i / IO_KINDS];
        weft_fd ends[2];
        weft_fd fd = open_stuck((enum io_kind)(i % IO_KINDS), call, ends);
        CHECK_EQ(call->fn(fd, WEFT_NOW), -ETIMEDOUT);
        CHECK_EQ(call->fn(fd, WEFT_NOW), -ETIMEDOUT);
        unstick(call, ends);
        CHECK_EQ(weft_wait_readable(ends[0], call->is_write ? WEFT_NOW : WEFT_NEVER), call->is_write ? -ETIMEDOUT : 0);
        CHECK_EQ(weft_wait_writable(ends[1], WEFT_NEVER), 0);
        CHECK_GE(call->fn(fd, WEFT_NOW), 0);
        io_close(ends);
    }
}

TEST_BOTH(the_deadline_ends_every_wait) {
    for (int i = 0; i < IO_KINDS * CALLS; i++) {
        const struct call *call = &calls[i / IO_KINDS];
        weft_fd ends[2];
        weft_fd fd = open_stuck((enum io_kind)(i % IO_KINDS), call, ends);
        weft_time deadline = weft_after(100 * WEFT_MICROSECOND);
        CHECK_EQ(call->fn(fd, deadline), -ETIMEDOUT);
        CHECK_GE(weft_now(), deadline);
        CHECK_EQ(call->fn(fd, deadline), -ETIMEDOUT);
        unstick(call, ends);
        CHECK_GE(call->fn(fd, WEFT_NEVER), 0);
        io_close(ends);
    }
}

/* Nobody has ever waited, so nobody watches it: it has to be looked at. */
TEST_BOTH(with_now_what_came_after_a_short_read_is_read) {
    for (enum io_kind kind = 0; kind < IO_KINDS; kind++) {
        weft_fd ends[2];
        io_open(kind, ends);
        for (int i = 0; i < 3; i++) {
            io_put(ends[1], "one");
            CHECK_EQ(weft_wait_readable(ends[0], WEFT_NEVER), 0);
            CHECK_EQ(weft_read(ends[0], room, 100, WEFT_NOW), 3);
            CHECK_EQ(weft_read(ends[0], room, 100, WEFT_NOW), -ETIMEDOUT);
        }
        CHECK_EQ(weft_close(ends[1]), 0);
        CHECK_EQ(weft_wait_readable(ends[0], WEFT_NEVER), 0);
        CHECK_EQ(weft_read(ends[0], room, 100, WEFT_NOW), 0);
        CHECK_EQ(weft_close(ends[0]), 0);
    }
}

/* ---- Cancellation ---- */

static weft_scope *scope_of_attempt;

static int attempt_in_scope(void *opaque) {
    make_attempt(opaque);
    return 0;
}

static int cancel_an_attempt(weft_scope *scope, void *opaque) {
    (void)opaque;
    scope_of_attempt = scope;
    CHECK_EQ(weft_scope_go(scope, attempt_in_scope, opaque), 0);
    return 0;
}

static void *cancel_when_parked(void *arg) {
    weft_scope_cancel(scope_of_attempt, 0, NULL);
    return arg;
}

static void *run_the_scope(void *opaque) {
    CHECK_EQ(weft_scope_run(NULL, cancel_an_attempt, opaque), -ECANCELED);
    return NULL;
}

struct child_search {
    weft_fiber parent;
    bool is_parked;
};

static int child_visit(const weft_fiber_info *info, void *opaque) {
    struct child_search *search = opaque;
    if (info->parent.bits != search->parent.bits || info->state != WEFT_FIBER_PARKED)
        return 0;
    search->is_parked = true;
    return 1;
}

static bool is_child_parked(weft_fiber parent) {
    struct child_search search = {.parent = parent};
    weft_each_fiber(NULL, child_visit, &search);
    return search.is_parked;
}

static void cancel_everything(void) {
    for (int i = 0; i < IO_KINDS * CALLS; i++) {
        weft_fd ends[2];
        struct attempt attempt = {.call = &calls[i / IO_KINDS]};
        attempt.fd = open_stuck((enum io_kind)(i % IO_KINDS), attempt.call, ends);
        weft_fiber fiber;
        SPAWN(&fiber, run_the_scope, &attempt);
        WAIT_UNTIL(is_child_parked(fiber));
        cancel_when_parked(NULL);
        JOIN(fiber, NULL);
        CHECK_EQ(attempt.result, -ECANCELED);
        unstick(attempt.call, ends);
        CHECK_GE(attempt.call->fn(attempt.fd, WEFT_NEVER), 0);
        io_close(ends);
    }
}
TEST(cancellation_ends_every_wait) {
    run_fibers(cancel_everything);
}

static int cancelled_before(weft_scope *scope, void *arg) {
    CHECK_EQ(weft_scope_cancel(scope, 0, NULL), 0);
    for (int i = 0; i < CALLS; i++) {
        weft_fd ends[2];
        io_open(IO_PAIR, ends);
        CHECK_EQ(weft_write(ends[1], "xy", 2, WEFT_NOW), 2);
        weft_fd fd = ends[calls[i].is_write];
        CHECK_EQ(calls[i].fn(fd, WEFT_NEVER), -ECANCELED);
        CHECK_EQ(calls[i].fn(fd, weft_after(WEFT_SECOND)), -ECANCELED);
        CHECK_GE(calls[i].fn(fd, WEFT_NOW), 0);
        io_close(ends); /* cannot be cancelled */
    }
    return arg ? 1 : 0;
}
static void call_when_cancelled(void) {
    CHECK_EQ(weft_scope_run(NULL, cancelled_before, NULL), -ECANCELED);
}
TEST(who_is_cancelled_already_neither_reads_nor_writes_but_with_now) {
    run_fibers(call_when_cancelled);
}

/* ---- Sizes ---- */

TEST_BOTH(nothing_is_read_or_written_at_once_whatever_the_descriptor_is_at) {
    for (int i = 0; i < 3 * IO_KINDS; i++) {
        weft_fd ends[2];
        io_open((enum io_kind)(i / 3), ends);
        if (i % 3 == 1) { /* has been read empty */
            io_put(ends[1], "abc");
            CHECK_EQ(weft_read(ends[0], room, 100, WEFT_NEVER), 3);
        }
        if (i % 3 == 2)
            io_fill(ends[1]);
        struct iovec parts[] = {{NULL, 0}, {room, 0}};
        CHECK_EQ(weft_read(ends[0], NULL, 0, WEFT_NEVER), 0);
        CHECK_EQ(weft_read(ends[0], room, 0, WEFT_NOW), 0);
        CHECK_EQ(weft_readv(ends[0], parts, 2, WEFT_NEVER), 0);
        CHECK_EQ(weft_readv(ends[0], NULL, 0, WEFT_NEVER), 0);
        CHECK_EQ(weft_read_full(ends[0], NULL, 0, NULL, WEFT_NEVER), 0);
        CHECK_EQ(weft_write(ends[1], NULL, 0, WEFT_NEVER), 0);
        CHECK_EQ(weft_writev(ends[1], parts, 2, WEFT_NEVER), 0);
        CHECK_EQ(weft_writev(ends[1], NULL, 0, WEFT_NEVER), 0);
        CHECK_EQ(weft_write_all(ends[1], NULL, 0, WEFT_NEVER), 0);
        CHECK_EQ(weft_writev_all(ends[1], parts, 2, NULL, WEFT_NEVER), 0);
        CHECK_EQ(weft_writev_all(ends[1], NULL, 0, NULL, WEFT_NEVER), 0);
        io_close(ends);
    }
}

TEST(what_cannot_be_is_refused_and_nothing_is_touched) {
    weft_fd ends[2];
    size_t done = 7;
    struct iovec parts[] = {{room, 1}, {NULL, 1}}, huge[] = {{room, SIZE_MAX / 2}, {room, SIZE_MAX / 2}};
    io_open(IO_PAIR, ends);
    io_put(ends[1], "x");
    CHECK_EQ(weft_read(ends[0], NULL, 1, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_write(ends[1], NULL, 1, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_read_full(ends[0], NULL, 1, &done, WEFT_NEVER), -EINVAL);
    CHECK_EQ(done, 0);
    CHECK_EQ(weft_write_all_done(ends[1], NULL, 1, &done, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_readv(ends[0], parts, 2, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_writev(ends[1], parts, 2, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_readv(ends[0], parts, -1, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_readv(ends[0], NULL, 1, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_writev(ends[1], huge, 2, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_writev_all(ends[1], parts, 2, &done, WEFT_NEVER), -EINVAL);
    CHECK_EQ(done, 0);
    CHECK_EQ(weft_pipe(NULL), -EINVAL);
    io_expect(ends[0], "x");
    CHECK_EQ(weft_read(ends[0], room, 1, WEFT_NOW), -ETIMEDOUT);
    io_close(ends);
}

TEST_BOTH(parts_are_filled_and_sent_in_order) {
    for (enum io_kind kind = 0; kind < IO_KINDS; kind++) {
        weft_fd ends[2];
        char left[4] = "", right[8] = "";
        struct iovec out[] = {{"we", 2}, {NULL, 0}, {"ft", 2}, {"!", 1}}, in[] = {{left, 3}, {right, sizeof right}};
        io_open(kind, ends);
        CHECK_EQ(weft_writev(ends[1], out, 4, WEFT_NEVER), 5);
        CHECK_EQ(weft_readv(ends[0], in, 2, WEFT_NEVER), 5);
        CHECK_TEXT(left, "wef");
        CHECK_TEXT(right, "t!");
        io_close(ends);
    }
}

/* ---- All of it ---- */

TEST_BOTH(read_full_ends_early_at_the_end_only) {
    weft_fd ends[2];
    size_t done = 0;
    io_open(IO_PAIR, ends);
    io_put(ends[1], "abc");
    CHECK_EQ(weft_read_full(ends[0], room, 5, &done, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    CHECK_EQ(done, 3);
    io_put(ends[1], "defgh");
    CHECK_EQ(weft_close(ends[1]), 0);
    CHECK_EQ(weft_read_full(ends[0], room, 4, &done, WEFT_NEVER), 4);
    CHECK_EQ(weft_read_full(ends[0], room, 4, &done, WEFT_NEVER), 1);
    CHECK_EQ(done, 1);
    CHECK_EQ(weft_read_full(ends[0], room, 4, &done, WEFT_NEVER), 0);
    CHECK_EQ(weft_close(ends[0]), 0);
}

TEST_BOTH(a_write_that_cannot_go_on_says_how_far_it_came) {
    enum { MUCH = 8 << 20 };
    char *much = calloc(1, MUCH);
    for (int i = 0; i < 2 * IO_TCP; i++) { /* TCP may have room for all of it */
        weft_fd ends[2];
        size_t done = 0;
        io_open((enum io_kind)(i / 2), ends);
        struct iovec parts[] = {{much, 1000}, {NULL, 0}, {much, MUCH - 1000}};
        weft_time soon = weft_after(WEFT_MILLISECOND);
        CHECK_EQ(i % 2 ? weft_writev_all(ends[1], parts, 3, &done, soon)
                       : weft_write_all_done(ends[1], much, MUCH, &done, soon),
                 -ETIMEDOUT);
        CHECK(done > 0 && done < MUCH);
        CHECK_EQ(weft_close(ends[1]), 0);
        char *got = malloc(MUCH);
        CHECK_EQ(weft_read_full(ends[0], got, MUCH, NULL, WEFT_NEVER), done);
        free(got);
        CHECK_EQ(weft_close(ends[0]), 0);
    }
    free(much);
}

struct load {
    weft_fd fd;
    unsigned char *bytes;
    size_t size;
    bool in_parts;
};

static void *send_load(void *opaque) {
    struct load *load = opaque;
    size_t done;
    if (load->in_parts) {
        struct iovec parts[] = {{load->bytes, 1},
                                {load->bytes + 1, load->size / 2},
                                {NULL, 0},
                                {load->bytes + 1 + load->size / 2, load->size - 1 - load->size / 2}};
        CHECK_EQ(weft_writev_all(load->fd, parts, 4, &done, WEFT_NEVER), 0);
    } else {
        CHECK_EQ(weft_write_all_done(load->fd, load->bytes, load->size, &done, WEFT_NEVER), 0);
    }
    CHECK_EQ(done, load->size);
    return NULL;
}

static void pass_loads(void) {
    for (int i = 0; i < 4 * IO_KINDS; i++) {
        weft_fd ends[2];
        io_open((enum io_kind)(i / 4), ends);
        struct load load = {.fd = ends[1], .size = 700001, .in_parts = i & 1};
        load.bytes = malloc(load.size);
        unsigned char *got = malloc(load.size);
        for (size_t at = 0; at < load.size; at++)
            load.bytes[at] = (unsigned char)(at * 7 + at / 251);
        weft_fiber fiber;
        struct on_thread_call thread;
        if (i & 2)
            on_thread_start(&thread, send_load, &load);
        else
            SPAWN(&fiber, send_load, &load);
        CHECK_EQ(weft_read_full(ends[0], got, load.size, NULL, WEFT_NEVER), load.size);
        if (i & 2)
            on_thread_finish(&thread);
        else
            JOIN(fiber, NULL);
        CHECK(memcmp(got, load.bytes, load.size) == 0);
        free(got);
        free(load.bytes);
        io_close(ends);
    }
}
TEST(more_than_there_is_room_for_arrives_whole_and_in_order) {
    run_fibers(pass_loads);
}
