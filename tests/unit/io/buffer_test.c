/* SPDX-License-Identifier: MIT
 *
 * unit/io/buffer_test.c - memory of readers and writers: when they have some, and when there is none.
 */
#include "os/fault.h"
#include "os/memory.h"
#include "support/io.h"
#include "weft/buffer.h"

static void refuse_memory(void) {
    wf_fault_order(WF_CALL_ALLOC, 1, ENOMEM, 0);
}

static weft_fd ends[2];

TEST(a_reader_that_waits_or_rests_has_no_buffer) {
    weft_reader *reader;
    char byte, *line;
    io_open(IO_PAIR, ends);
    long before = wf_os_live_blocks();
    CHECK_EQ(weft_reader_new(&reader, ends[0], 0), 0);
    CHECK_EQ(weft_reader_line(reader, &line, NULL, 0, weft_after(WEFT_MICROSECOND)), -ETIMEDOUT);
    CHECK_EQ(wf_os_live_blocks(), before + 1);
    io_put(ends[1], "x");
    CHECK_EQ(weft_reader_read(reader, &byte, 1, WEFT_NEVER), 1);
    CHECK_EQ(wf_os_live_blocks(), before + 2);
    CHECK_EQ(weft_reader_rest(reader), 0);
    CHECK_EQ(wf_os_live_blocks(), before + 1);
    weft_reader_free(reader);
    CHECK_EQ(wf_os_live_blocks(), before);
    io_close(ends);
}

TEST(a_reader_without_memory_says_so_and_loses_nothing) {
    weft_reader *reader = NULL;
    char *line;
    io_open(IO_PAIR, ends);
    refuse_memory();
    CHECK_EQ(weft_reader_new(&reader, ends[0], 0), -ENOMEM);
    CHECK(!reader);
    CHECK_EQ(weft_reader_new(&reader, ends[0], 0), 0);
    io_put(ends[1], "line\n");
    refuse_memory();
    CHECK_EQ(weft_reader_line(reader, &line, NULL, 0, WEFT_NEVER), -ENOMEM);
    CHECK_EQ(weft_reader_line(reader, &line, NULL, 0, WEFT_NEVER), 1);
    CHECK_TEXT(line, "line");
    wf_fault_order(WF_CALL_ALLOC, 0, 0, 0);
    weft_reader_free(reader);
    io_close(ends);
}

TEST(a_writer_without_memory_says_so_and_takes_nothing) {
    weft_writer *writer = NULL;
    io_open(IO_PAIR, ends);
    refuse_memory();
    CHECK_EQ(weft_writer_new(&writer, ends[1], 0), -ENOMEM);
    CHECK(!writer);
    CHECK_EQ(weft_writer_new(&writer, ends[1], 0), 0);
    refuse_memory();
    CHECK_EQ(weft_writer_printf(writer, WEFT_NEVER, "x"), -ENOMEM);
    CHECK_EQ(weft_writer_error(writer), 0);
    CHECK_EQ(weft_writer_printf(writer, WEFT_NEVER, "y"), 0);
    refuse_memory();
    CHECK_EQ(weft_writer_printf(writer, WEFT_NEVER, "%1000s", "z"), -ENOMEM);
    CHECK_EQ(weft_writer_buffered(writer), 1);
    wf_fault_order(WF_CALL_ALLOC, 0, 0, 0);
    CHECK_EQ(weft_writer_printf(writer, WEFT_NEVER, "%1000s", "z"), 0);
    CHECK_EQ(weft_writer_flush(writer, WEFT_NEVER), 0);
    CHECK_EQ(io_drain(ends[0]), 1001);
    weft_writer_free(writer);
    io_close(ends);
}

/* A fiber that is dropped in the middle of a long text leaves no memory behind. */
static weft_writer *kept;
static void *print_much(void *arg) {
    weft_writer_printf(kept, WEFT_NEVER, "%1000000s", "z");
    return arg;
}
static void leave_it_printing(void) {
    spawn_parked(print_much, NULL);
}
TEST(a_text_goes_with_the_fiber_that_is_dropped_while_it_is_written) {
    weft_options options = {.abandon = true};
    io_open(IO_PAIR, ends);
    CHECK_EQ(weft_writer_new(&kept, ends[1], 64), 0);
    run_fibers_with(&options, leave_it_printing);
    CHECK_EQ(wf_os_live_blocks(), 1);
    weft_writer_free(kept);
    io_close(ends);
}
