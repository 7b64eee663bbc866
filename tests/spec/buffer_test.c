/* SPDX-License-Identifier: MIT
 *
 * spec/buffer_test.c - readers and writers with a buffer: what they hand out, what they keep when something fails.
 *
 * A scripted source gives its bytes in pieces and its errors in between; a scripted sink takes as much as it is told to.
 */
#include "support/io.h"
#include "weft/buffer.h"

/* ---- A source that follows a script ---- */

struct source {
    const char **pieces; /* "!" and a number: an error; NULL: the end, for ever */
    size_t at;           /* in the first of them */
    size_t calls;
};

static ssize_t read_script(void *opaque, void *buffer, size_t size, weft_time deadline) {
    struct source *source = opaque;
    const char *piece = source->pieces[0];
    (void)deadline;
    source->calls++;
    if (!piece)
        return 0;
    if (piece[0] == '!') {
        source->pieces++;
        return -atoi(piece + 1);
    }
    size_t left = strlen(piece) - source->at, count = size < left ? size : left;
    memcpy(buffer, piece + source->at, count);
    source->at += count;
    if (count == left) {
        source->pieces++;
        source->at = 0;
    }
    return (ssize_t)count;
}

static struct source source;

static weft_reader *reader_of(const char **pieces, size_t size) {
    weft_reader *reader;
    source = (struct source){.pieces = pieces};
    CHECK_EQ(weft_reader_new_from(&reader, read_script, &source, size), 0);
    return reader;
}
#define READER(size, ...) reader_of((const char *[]){__VA_ARGS__, NULL}, size)

static void expect_line(weft_reader *reader, const char *wanted) {
    char *line;
    size_t length;
    CHECK_EQ(weft_reader_line(reader, &line, &length, 0, WEFT_NEVER), 1);
    CHECK_TEXT(line, wanted);
    CHECK_EQ(length, strlen(wanted));
}

/* ---- Lines ---- */

TEST(lines_end_with_lf_or_crlf_wherever_the_pieces_end) {
    weft_reader *reader = READER(64, "one\ntw", "o\r", "\nthr\ree\n\n\r\n", "fo", "u", "r\n", "rest");
    const char *wanted[] = {"one", "two", "thr\ree", "", "", "four", "rest"};
    char *line;
    for (int i = 0; i < 7; i++)
        expect_line(reader, wanted[i]);
    CHECK_EQ(weft_reader_line(reader, &line, NULL, 0, WEFT_NEVER), 0);
    CHECK_EQ(weft_reader_line(reader, &line, NULL, 0, WEFT_NEVER), 0);
    weft_reader_free(reader);
}

TEST(a_line_may_contain_zeros_and_end_with_a_lone_cr) {
    int numbers[2];
    weft_fd fd;
    weft_reader *reader;
    char *line;
    size_t length;
    io_numbers(IO_PIPE, numbers);
    CHECK_EQ(write(numbers[1], "a\0b\nx\r", 6), 6);
    close(numbers[1]);
    CHECK_EQ(weft_adopt(&fd, numbers[0], 0), 0);
    CHECK_EQ(weft_reader_new(&reader, fd, 0), 0);
    CHECK_EQ(weft_reader_line(reader, &line, &length, 0, WEFT_NEVER), 1);
    CHECK_EQ(length, 3);
    CHECK(memcmp(line, "a\0b", 4) == 0);
    expect_line(reader, "x\r");
    weft_reader_free(reader);
    CHECK_EQ(weft_close(fd), 0);
}

/* With its end it is as long as the buffer. */
#define SIXTEEN "0123456789abcdef"
#define LONG_LINE SIXTEEN SIXTEEN SIXTEEN "0123456789abcde"
TEST(lines_may_fill_the_buffer) {
    weft_reader *reader = READER(64, LONG_LINE "\n" LONG_LINE, "\nx\n" LONG_LINE);
    expect_line(reader, LONG_LINE);
    expect_line(reader, LONG_LINE);
    expect_line(reader, "x");
    expect_line(reader, LONG_LINE);
    weft_reader_free(reader);
}

TEST(a_line_that_is_too_long_is_refused_and_nothing_is_lost) {
    char *line, got[80];
    const void *bytes;
    weft_reader *reader = READER(64, "0123456789\nab\n" LONG_LINE "f\n");
    for (int i = 0; i < 2; i++)
        CHECK_EQ(weft_reader_line(reader, &line, NULL, 10, WEFT_NEVER), -EMSGSIZE);
    CHECK_GE(weft_reader_peek(reader, &bytes, 1, WEFT_NEVER), 11);
    CHECK(memcmp(bytes, "0123456789\n", 11) == 0);
    CHECK_EQ(weft_reader_line(reader, &line, NULL, 11, WEFT_NEVER), 1);
    CHECK_TEXT(line, "0123456789");
    CHECK_EQ(weft_reader_line(reader, &line, NULL, 3, WEFT_NEVER), 1);
    for (int i = 0; i < 2; i++) /* more than the buffer, whatever the limit */
        CHECK_EQ(weft_reader_line(reader, &line, NULL, 1000 * (size_t)i, WEFT_NEVER), -EMSGSIZE);
    CHECK_EQ(weft_reader_buffered(reader), 64);
    CHECK_EQ(weft_reader_read_full(reader, got, 65, NULL, WEFT_NEVER), 65);
    CHECK(memcmp(got, LONG_LINE "f\n", 65) == 0);
    weft_reader_free(reader);
}

TEST(an_error_in_the_middle_of_a_line_loses_nothing) {
    char *line;
    weft_reader *reader = READER(64, "on", "!110", "e\ntw", "!5", "!5", "o", "!125", "!110");
    CHECK_EQ(weft_reader_line(reader, &line, NULL, 0, WEFT_NEVER), -ETIMEDOUT);
    expect_line(reader, "one");
    CHECK_EQ(weft_reader_line(reader, &line, NULL, 0, WEFT_NEVER), -EIO);
    CHECK_EQ(weft_reader_line(reader, &line, NULL, 0, WEFT_NEVER), -EIO);
    CHECK_EQ(weft_reader_line(reader, &line, NULL, 0, WEFT_NEVER), -ECANCELED);
    CHECK_EQ(weft_reader_line(reader, &line, NULL, 0, WEFT_NEVER), -ETIMEDOUT);
    expect_line(reader, "two");
    weft_reader_free(reader);
}

TEST(everything_up_to_a_byte_is_handed_out_with_it) {
    const char *bytes;
    weft_reader *reader = READER(64, "a;b", "c;;d");
    CHECK_EQ(weft_reader_until(reader, ';', &bytes, 0, WEFT_NEVER), 2);
    CHECK(memcmp(bytes, "a;", 2) == 0);
    CHECK_EQ(weft_reader_until(reader, ';', &bytes, 2, WEFT_NEVER), -EMSGSIZE);
    CHECK_EQ(weft_reader_until(reader, ';', &bytes, 3, WEFT_NEVER), 3);
    CHECK(memcmp(bytes, "bc;", 3) == 0);
    CHECK_EQ(weft_reader_until(reader, ';', &bytes, 0, WEFT_NEVER), 1);
    CHECK_EQ(weft_reader_until(reader, ';', &bytes, 0, WEFT_NEVER), 1);
    CHECK(bytes[0] == 'd');
    CHECK_EQ(weft_reader_until(reader, ';', &bytes, 0, WEFT_NEVER), 0);
    weft_reader_free(reader);
}

/* ---- Bytes ---- */

TEST(what_is_in_the_buffer_is_read_first_and_large_reads_go_past_it) {
    char got[200];
    const void *bytes;
    weft_reader *reader = READER(64, "abcdef", LONG_LINE LONG_LINE, "xyz");
    CHECK_EQ(weft_reader_read(reader, got, 2, WEFT_NEVER), 2);
    CHECK_EQ(weft_reader_buffered(reader), 4);
    CHECK_EQ(weft_reader_read(reader, got, 200, WEFT_NEVER), 4);
    CHECK_EQ(weft_reader_read(reader, got, 200, WEFT_NEVER), 126);
    CHECK_EQ(source.calls, 2);
    CHECK_EQ(weft_reader_buffered(reader), 0);
    CHECK_EQ(weft_reader_peek(reader, &bytes, 0, WEFT_NEVER), 0);
    CHECK_EQ(weft_reader_peek(reader, &bytes, 2, WEFT_NEVER), 3);
    CHECK(memcmp(bytes, "xyz", 3) == 0);
    CHECK_EQ(weft_reader_discard(reader, 4), -EINVAL);
    CHECK_EQ(weft_reader_discard(reader, 1), 0);
    CHECK_EQ(weft_reader_peek(reader, &bytes, 64, WEFT_NEVER), 2); /* the end */
    CHECK_EQ(weft_reader_peek(reader, &bytes, 65, WEFT_NEVER), -EMSGSIZE);
    CHECK_EQ(weft_reader_read_full(reader, got, 5, NULL, WEFT_NEVER), 2);
    CHECK(memcmp(got, "yz", 2) == 0);
    CHECK_EQ(weft_reader_read(reader, got, 5, WEFT_NEVER), 0);
    weft_reader_free(reader);
}

TEST(a_peek_gathers_what_comes_in_pieces) {
    const void *bytes;
    weft_reader *reader = READER(64, LONG_LINE, "ab", "!110", "cd", "ef");
    CHECK_EQ(weft_reader_skip(reader, 60, NULL, WEFT_NEVER), 60);
    CHECK_EQ(weft_reader_peek(reader, &bytes, 6, WEFT_NEVER), -ETIMEDOUT);
    CHECK_EQ(weft_reader_peek(reader, &bytes, 6, WEFT_NEVER), 7);
    CHECK(memcmp(bytes, "cdeabcd", 7) == 0);
    weft_reader_free(reader);
}

TEST(a_read_of_everything_and_a_skip_say_how_far_they_came) {
    char got[16];
    size_t done = 7;
    weft_reader *reader = READER(64, "abc", "!5", "defgh", "!110", "ij");
    CHECK_EQ(weft_reader_read_full(reader, got, 5, &done, WEFT_NEVER), -EIO);
    CHECK_EQ(done, 3);
    CHECK_EQ(weft_reader_skip(reader, 10, &done, WEFT_NEVER), -ETIMEDOUT);
    CHECK_EQ(done, 5);
    CHECK_EQ(weft_reader_skip(reader, 1, &done, WEFT_NEVER), 1);
    CHECK_EQ(weft_reader_skip(reader, 10, &done, WEFT_NEVER), 1);
    CHECK_EQ(done, 1);
    CHECK_EQ(weft_reader_skip(reader, 10, NULL, WEFT_NEVER), 0);
    CHECK_EQ(weft_reader_skip(reader, 0, NULL, WEFT_NEVER), 0);
    weft_reader_free(reader);
}

TEST(a_reader_rests_only_when_it_is_empty) {
    char byte;
    weft_reader *reader = READER(64, "ab", "cd");
    CHECK_EQ(weft_reader_rest(reader), 0);
    CHECK_EQ(weft_reader_read(reader, &byte, 1, WEFT_NEVER), 1);
    CHECK_EQ(weft_reader_rest(reader), -EBUSY);
    CHECK_EQ(weft_reader_read(reader, &byte, 1, WEFT_NEVER), 1);
    CHECK_EQ(weft_reader_rest(reader), 0);
    CHECK_EQ(weft_reader_rest(reader), 0);
    expect_line(reader, "cd");
    weft_reader_free(reader);
}

/* ---- A sink that follows a script ---- */

struct sink {
    const int *script; /* how many bytes it takes, or an error; 0: everything, for ever */
    char text[1024];
    size_t length;
    size_t calls;
};

static struct sink sink;

static ssize_t write_script(void *opaque, const struct iovec *parts, int count, weft_time deadline) {
    struct sink *into = opaque;
    int wanted = *into->script;
    size_t taken = 0;
    (void)deadline;
    into->calls++;
    if (wanted)
        into->script++;
    if (wanted < 0)
        return wanted;
    for (int i = 0; i < count; i++) {
        CHECK(parts[i].iov_len > 0);
        size_t size = parts[i].iov_len;
        if (wanted && taken + size > (size_t)wanted)
            size = (size_t)wanted - taken;
        CHECK(into->length + size < sizeof into->text);
        memcpy(into->text + into->length, parts[i].iov_base, size);
        into->length += size;
        taken += size;
    }
    into->text[into->length] = 0;
    return (ssize_t)taken;
}

static weft_writer *writer_of(const int *script, size_t size) {
    weft_writer *writer;
    sink = (struct sink){.script = script};
    CHECK_EQ(weft_writer_new_to(&writer, write_script, &sink, size), 0);
    return writer;
}
#define WRITER(size, ...) writer_of((const int[]){__VA_ARGS__}, size)

static int put(weft_writer *writer, const char *text) {
    return weft_writer_write(writer, text, strlen(text), WEFT_NEVER);
}

TEST(small_writes_are_gathered_and_flushed) {
    weft_writer *writer = WRITER(64, 0);
    CHECK_EQ(put(writer, "one "), 0);
    CHECK_EQ(put(writer, ""), 0);
    CHECK_EQ(weft_writer_write(writer, NULL, 0, WEFT_NEVER), 0);
    CHECK_EQ(weft_writer_printf(writer, WEFT_NEVER, "%d %s", 2, "three"), 0);
    CHECK_EQ(weft_writer_buffered(writer), 11);
    CHECK_EQ(sink.calls, 0);
    CHECK_EQ(weft_writer_flush(writer, WEFT_NEVER), 0);
    CHECK_EQ(weft_writer_flush(writer, WEFT_NEVER), 0);
    CHECK_EQ(sink.calls, 1);
    CHECK_TEXT(sink.text, "one 2 three");
    CHECK_EQ(weft_writer_buffered(writer), 0);
    weft_writer_free(writer);
}

TEST(what_does_not_fit_goes_out_together_with_what_waits) {
    weft_writer *writer = WRITER(64, 3, 10, 0);
    CHECK_EQ(put(writer, "ab"), 0);
    CHECK_EQ(put(writer, LONG_LINE LONG_LINE), 0);
    CHECK_EQ(sink.calls, 3);
    CHECK_TEXT(sink.text, "ab" LONG_LINE LONG_LINE);
    CHECK_EQ(put(writer, LONG_LINE), 0);
    CHECK_EQ(weft_writer_buffered(writer), 63);
    CHECK_EQ(put(writer, "c"), 0);
    CHECK_EQ(weft_writer_buffered(writer), 0);
    CHECK_TEXT(sink.text, "ab" LONG_LINE LONG_LINE LONG_LINE "c");
    weft_writer_free(writer);
}

TEST(a_writer_flushes_at_the_size_that_was_set) {
    weft_writer *writer = WRITER(64, 0);
    CHECK_EQ(weft_writer_set_flush_at(writer, 65), -EINVAL);
    CHECK_EQ(put(writer, "abcdef"), 0);
    CHECK_EQ(weft_writer_set_flush_at(writer, 4), 0);
    CHECK_EQ(put(writer, "g"), 0);
    CHECK_TEXT(sink.text, "abcdefg");
    CHECK_EQ(put(writer, "hij"), 0);
    CHECK_EQ(sink.calls, 1);
    CHECK_EQ(put(writer, "k"), 0);
    CHECK_EQ(sink.calls, 2);
    CHECK_EQ(weft_writer_set_flush_at(writer, 1), 0);
    CHECK_EQ(put(writer, "l"), 0);
    CHECK_EQ(sink.calls, 3);
    CHECK_EQ(weft_writer_set_flush_at(writer, 0), 0);
    CHECK_EQ(put(writer, "mnopqr"), 0);
    CHECK_EQ(sink.calls, 3);
    CHECK_TEXT(sink.text, "abcdefghijkl");
    weft_writer_free(writer); /* the rest is dropped */
}

TEST(after_a_deadline_the_rest_is_still_there) {
    weft_writer *writer = WRITER(64, 4, -ETIMEDOUT, 3, -ECANCELED, 2, -ENOMEM, 0);
    CHECK_EQ(put(writer, "abcdefghij"), 0);
    CHECK_EQ(weft_writer_flush(writer, WEFT_NEVER), -ETIMEDOUT);
    CHECK_EQ(weft_writer_buffered(writer), 6);
    CHECK_EQ(weft_writer_error(writer), 0);
    CHECK_EQ(put(writer, LONG_LINE LONG_LINE), -ECANCELED); /* nothing of it was taken */
    CHECK_EQ(weft_writer_buffered(writer), 3);
    CHECK_EQ(put(writer, LONG_LINE), -ENOMEM);
    CHECK_EQ(weft_writer_buffered(writer), 1);
    CHECK_EQ(put(writer, "k"), 0);
    CHECK_EQ(weft_writer_flush(writer, WEFT_NEVER), 0);
    CHECK_TEXT(sink.text, "abcdefghijk");
    weft_writer_free(writer);
}

TEST(what_has_begun_to_go_is_taken_when_the_rest_fits) {
    weft_writer *writer = WRITER(64, 5, -ETIMEDOUT, 0);
    CHECK_EQ(put(writer, "ab"), 0);
    CHECK_EQ(put(writer, LONG_LINE), 0);
    CHECK_EQ(weft_writer_buffered(writer), 60);
    CHECK_EQ(weft_writer_flush(writer, WEFT_NEVER), 0);
    CHECK_TEXT(sink.text, "ab" LONG_LINE);
    weft_writer_free(writer);
}

TEST(a_write_that_was_torn_and_a_sink_that_has_failed_stay_so) {
    const int torn[] = {5, -ETIMEDOUT, 0}, failed[] = {1, -EPIPE, 0}, stuck[] = {-EIO, 0};
    const int *scripts[] = {torn, failed, stuck}, errors[] = {-ETIMEDOUT, -EPIPE, -EIO};
    for (int i = 0; i < 3; i++) {
        weft_writer *writer = writer_of(scripts[i], 64);
        CHECK_EQ(put(writer, "ab"), 0);
        CHECK_EQ(put(writer, LONG_LINE LONG_LINE), errors[i]);
        size_t calls = sink.calls;
        CHECK_EQ(weft_writer_error(writer), errors[i]);
        CHECK_EQ(put(writer, "x"), errors[i]);
        CHECK_EQ(weft_writer_printf(writer, WEFT_NEVER, "x"), errors[i]);
        CHECK_EQ(weft_writer_flush(writer, WEFT_NEVER), errors[i]);
        CHECK_EQ(sink.calls, calls);
        weft_writer_free(writer);
    }
}

static ssize_t write_nothing(void *opaque, const struct iovec *parts, int count, weft_time deadline) {
    (void)opaque;
    (void)parts;
    (void)count;
    (void)deadline;
    return 0;
}
TEST(a_sink_that_takes_nothing_has_failed) {
    weft_writer *writer;
    CHECK_EQ(weft_writer_new_to(&writer, write_nothing, NULL, 0), 0);
    CHECK_EQ(put(writer, "x"), 0);
    CHECK_EQ(weft_writer_flush(writer, WEFT_NEVER), -EIO);
    weft_writer_free(writer);
}

TEST(text_of_any_length_is_formatted) {
    for (int length = 0; length < 900; length += 37) {
        weft_writer *writer = WRITER(64, 0);
        CHECK_EQ(weft_writer_printf(writer, WEFT_NEVER, "%*s%d", length, "", 7), 0);
        CHECK_EQ(weft_writer_flush(writer, WEFT_NEVER), 0);
        CHECK_EQ(sink.length, length + 1);
        CHECK_EQ(sink.text[length], '7');
        CHECK_EQ(strspn(sink.text, " "), length);
        weft_writer_free(writer);
    }
}

/* ---- Wrong arguments ---- */

TEST(what_cannot_be_is_refused) {
    weft_reader *reader = NULL;
    weft_writer *writer = NULL;
    char byte, *line;
    const char *bytes;
    const void *view;
    size_t sizes[] = {1, WEFT_BUFFER_LEAST - 1, (size_t)WEFT_BUFFER_MOST + 1, SIZE_MAX};
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(weft_reader_new(&reader, WEFT_NO_FD, sizes[i]), -EINVAL);
        CHECK_EQ(weft_writer_new(&writer, WEFT_NO_FD, sizes[i]), -EINVAL);
    }
    CHECK(!reader && !writer);
    CHECK_EQ(weft_reader_new(NULL, WEFT_NO_FD, 0), -EINVAL);
    CHECK_EQ(weft_writer_new(NULL, WEFT_NO_FD, 0), -EINVAL);
    CHECK_EQ(weft_reader_new_from(&reader, NULL, NULL, 0), -EINVAL);
    CHECK_EQ(weft_writer_new_to(&writer, NULL, NULL, 0), -EINVAL);
    CHECK_EQ(weft_reader_read(NULL, &byte, 1, WEFT_NOW), -EINVAL);
    CHECK_EQ(weft_reader_read_full(NULL, &byte, 1, NULL, WEFT_NOW), -EINVAL);
    CHECK_EQ(weft_reader_skip(NULL, 1, NULL, WEFT_NOW), -EINVAL);
    CHECK_EQ(weft_reader_peek(NULL, &view, 1, WEFT_NOW), -EINVAL);
    CHECK_EQ(weft_reader_until(NULL, 'x', &bytes, 0, WEFT_NOW), -EINVAL);
    CHECK_EQ(weft_reader_line(NULL, &line, NULL, 0, WEFT_NOW), -EINVAL);
    CHECK_EQ(weft_reader_discard(NULL, 0), -EINVAL);
    CHECK_EQ(weft_reader_rest(NULL), -EINVAL);
    CHECK_EQ(weft_reader_buffered(NULL), 0);
    CHECK_EQ(weft_writer_write(NULL, &byte, 1, WEFT_NOW), -EINVAL);
    CHECK_EQ(weft_writer_printf(NULL, WEFT_NOW, "x"), -EINVAL);
    CHECK_EQ(weft_writer_flush(NULL, WEFT_NOW), -EINVAL);
    CHECK_EQ(weft_writer_set_flush_at(NULL, 0), -EINVAL);
    CHECK_EQ(weft_writer_error(NULL), -EINVAL);
    CHECK_EQ(weft_writer_buffered(NULL), 0);
    weft_reader_free(NULL);
    weft_writer_free(NULL);
    reader = READER(64, "x");
    CHECK_EQ(weft_reader_read(reader, NULL, 1, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_reader_read(reader, NULL, 0, WEFT_NEVER), 0);
    CHECK_EQ(weft_reader_peek(reader, NULL, 1, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_reader_until(reader, 'x', NULL, 0, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_reader_line(reader, NULL, NULL, 0, WEFT_NEVER), -EINVAL);
    weft_reader_free(reader);
}
