/* SPDX-License-Identifier: MIT
 *
 * spec/buffer_fd_test.c - readers and writers over descriptors: waiting, deadlines, cancellation, closing.
 */
#include "support/io.h"
#include "weft/buffer.h"

static weft_fd ends[2];
static weft_reader *reader;
static weft_writer *writer;

static void open_both(enum io_kind kind, size_t size) {
    io_open(kind, ends);
    CHECK_EQ(weft_reader_new(&reader, ends[0], size), 0);
    CHECK_EQ(weft_writer_new(&writer, ends[1], size), 0);
}
static void close_both(void) {
    weft_reader_free(reader);
    weft_writer_free(writer);
    weft_close(ends[0]);
    weft_close(ends[1]);
}

/* ---- Lines from one fiber to another ---- */

static void *write_lines(void *arg) {
    long count = (intptr_t)arg;
    for (long i = 0; i < count; i++) {
        CHECK_EQ(weft_writer_printf(writer, WEFT_NEVER, "line %ld %*s\r\n", i, (int)(i % 100), ""), 0);
        if (i % 17 == 0)
            CHECK_EQ(weft_writer_flush(writer, WEFT_NEVER), 0);
    }
    CHECK_EQ(weft_writer_flush(writer, WEFT_NEVER), 0);
    CHECK_EQ(weft_close(ends[1]), 0);
    return NULL;
}

static void read_lines(void) {
    long count = scaled(20000, 500);
    for (enum io_kind kind = 0; kind < IO_KINDS; kind++) {
        weft_fiber fiber;
        char *line, wanted[32];
        size_t length;
        open_both(kind, kind == IO_PAIR ? 256 : 0);
        SPAWN(&fiber, write_lines, (void *)count);
        for (long i = 0; i < count; i++) {
            CHECK_EQ(weft_reader_line(reader, &line, &length, 0, WEFT_NEVER), 1);
            int head = snprintf(wanted, sizeof wanted, "line %ld ", i);
            CHECK_EQ(length, head + i % 100);
            CHECK(strncmp(line, wanted, (size_t)head) == 0);
            if (i % 50 == 0 && weft_reader_buffered(reader) == 0)
                CHECK_EQ(weft_reader_rest(reader), 0);
        }
        CHECK_EQ(weft_reader_line(reader, &line, &length, 0, WEFT_NEVER), 0);
        JOIN(fiber, NULL);
        close_both();
    }
}
TEST(lines_come_as_they_were_written) {
    run_fibers(read_lines);
}

/* ---- Waits that end otherwise ---- */

TEST_BOTH(a_deadline_ends_every_wait_and_nothing_is_lost) {
    char *line, got[8];
    const void *view;
    for (enum io_kind kind = 0; kind < IO_KINDS; kind++) {
        open_both(kind, 64);
        weft_time deadlines[] = {WEFT_NOW, weft_after(WEFT_MICROSECOND)};
        for (int i = 0; i < 2; i++) {
            CHECK_EQ(weft_reader_line(reader, &line, NULL, 0, deadlines[i]), -ETIMEDOUT);
            CHECK_EQ(weft_reader_read(reader, got, 1, deadlines[i]), -ETIMEDOUT);
            CHECK_EQ(weft_reader_peek(reader, &view, 1, deadlines[i]), -ETIMEDOUT);
            CHECK_EQ(weft_reader_skip(reader, 1, NULL, deadlines[i]), -ETIMEDOUT);
        }
        io_put(ends[1], "half");
        CHECK_EQ(weft_reader_line(reader, &line, NULL, 0, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
        io_put(ends[1], "way\n");
        CHECK_EQ(weft_reader_line(reader, &line, NULL, 0, WEFT_NEVER), 1);
        CHECK_TEXT(line, "halfway");
        close_both();
    }
}

TEST_BOTH(a_full_descriptor_keeps_what_was_not_written) {
    size_t filled;
    open_both(IO_PAIR, 64);
    filled = io_fill(ends[1]);
    CHECK_EQ(weft_writer_printf(writer, WEFT_NEVER, "later"), 0);
    CHECK_EQ(weft_writer_flush(writer, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_writer_flush(writer, weft_after(WEFT_MICROSECOND)), -ETIMEDOUT);
    CHECK_EQ(weft_writer_buffered(writer), 5);
    CHECK_EQ(weft_reader_skip(reader, filled, NULL, WEFT_NEVER), filled);
    CHECK_EQ(weft_writer_flush(writer, WEFT_NEVER), 0);
    char got[5];
    CHECK_EQ(weft_reader_read_full(reader, got, 5, NULL, WEFT_NEVER), 5);
    CHECK(memcmp(got, "later", 5) == 0);
    close_both();
}

static void *wait_for_a_line(void *arg) {
    char *line;
    (void)arg;
    return (void *)(intptr_t)weft_reader_line(reader, &line, NULL, 0, WEFT_NEVER);
}
static void *flush_it(void *arg) {
    (void)arg;
    return (void *)(intptr_t)weft_writer_flush(writer, WEFT_NEVER);
}

static void close_while_parked(void) {
    for (int i = 0; i < 4; i++) { /* with and without something in the buffer; a reader that rests, a writer */
        void *result;
        char byte;
        open_both(IO_PAIR, 64);
        if (i == 1 || i == 2)
            io_put(ends[1], "ab");
        if (i == 1)
            CHECK_EQ(weft_reader_read(reader, &byte, 1, WEFT_NEVER), 1);
        if (i == 3) {
            io_fill(ends[1]);
            CHECK_EQ(weft_writer_printf(writer, WEFT_NEVER, "x"), 0);
        }
        weft_fiber fiber = spawn_parked(i == 3 ? flush_it : wait_for_a_line, NULL);
        CHECK_EQ(weft_close(ends[i == 3]), 0);
        JOIN(fiber, &result);
        CHECK_EQ((intptr_t)result, -EBADF);
        if (i == 3)
            CHECK_EQ(weft_writer_error(writer), -EBADF);
        CHECK_EQ(weft_reader_buffered(reader), i == 1 ? 1 : i == 2 ? 2 : 0);
        close_both();
    }
}
TEST(closing_the_descriptor_ends_a_wait_and_keeps_what_was_read) {
    run_fibers(close_while_parked);
}

static int cancelled(weft_scope *scope, void *arg) {
    char *line;
    (void)arg;
    io_put(ends[1], "line\n");
    CHECK_EQ(weft_writer_printf(writer, WEFT_NEVER, "x"), 0);
    CHECK_EQ(weft_scope_cancel(scope, 0, NULL), 0);
    CHECK_EQ(weft_reader_line(reader, &line, NULL, 0, WEFT_NEVER), -ECANCELED);
    CHECK_EQ(weft_writer_flush(writer, WEFT_NEVER), -ECANCELED);
    CHECK_EQ(weft_writer_buffered(writer), 1);
    CHECK_EQ(weft_writer_error(writer), 0);
    CHECK_EQ(weft_reader_line(reader, &line, NULL, 0, WEFT_NOW), 1);
    CHECK_TEXT(line, "line");
    CHECK_EQ(weft_writer_flush(writer, WEFT_NOW), 0);
    return 0;
}
static void run_cancelled(void) {
    open_both(IO_PAIR, 0);
    CHECK_EQ(weft_scope_run(NULL, cancelled, NULL), -ECANCELED);
    close_both();
}
TEST(cancellation_is_an_error_that_does_not_stay) {
    run_fibers(run_cancelled);
}

TEST_BOTH(a_peer_that_has_gone_is_the_end_or_an_error_that_stays) {
    char *line;
    open_both(IO_PAIR, 0);
    io_put(ends[1], "last");
    CHECK_EQ(weft_close(ends[1]), 0);
    CHECK_EQ(weft_reader_line(reader, &line, NULL, 0, WEFT_NEVER), 1);
    CHECK_TEXT(line, "last");
    CHECK_EQ(weft_reader_line(reader, &line, NULL, 0, WEFT_NEVER), 0);
    close_both();
    open_both(IO_PAIR, 0);
    CHECK_EQ(weft_close(ends[0]), 0);
    CHECK_EQ(weft_writer_printf(writer, WEFT_NEVER, "x"), 0);
    CHECK_EQ(weft_writer_flush(writer, WEFT_NEVER), -EPIPE);
    CHECK_EQ(weft_writer_printf(writer, WEFT_NEVER, "x"), -EPIPE);
    close_both();
}

TEST_BOTH(over_a_file_they_read_and_write_as_well) {
    FILE *file = tmpfile();
    weft_fd fd;
    char *line;
    CHECK_EQ(weft_adopt(&fd, dup(fileno(file)), 0), 0);
    CHECK_EQ(weft_writer_new(&writer, fd, 0), 0);
    CHECK_EQ(weft_writer_printf(writer, WEFT_NEVER, "one\ntwo\n"), 0);
    CHECK_EQ(weft_writer_flush(writer, WEFT_NEVER), 0);
    rewind(file);
    CHECK_EQ(weft_reader_new(&reader, fd, 0), 0);
    CHECK_EQ(weft_reader_line(reader, &line, NULL, 0, WEFT_NOW), 1);
    CHECK_TEXT(line, "one");
    CHECK_EQ(weft_reader_line(reader, &line, NULL, 0, WEFT_NOW), 1);
    CHECK_EQ(weft_reader_line(reader, &line, NULL, 0, WEFT_NOW), 0);
    weft_reader_free(reader);
    weft_writer_free(writer);
    CHECK_EQ(weft_close(fd), 0);
    fclose(file);
}
