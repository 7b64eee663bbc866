/* SPDX-License-Identifier: MIT
 *
 * unit/http/parse_test.c - messages give the same whatever pieces they come in.
 *
 * What a parser finds in a stream of messages is written down as one text: lines, fields, bodies, trailers, and how it ended. The
 * text of the stream in one piece is what each other way of cutting it has to give as well. The buffer is one of the size that is
 * asked for, so that a sanitizer sees every byte beyond it.
 */
#include <time.h>

#include "http/http.h"
#include "spec/http_corpus.h"
#include "support/run.h"

enum { ROOM = 8192, NOTES = 32768 };

struct stream {
    struct wf_http_parser parser;
    char *buffer;
    char trailers[WF_HTTP_TRAILERS];
    int error;
    size_t noted;
    size_t body_from; /* where in notes the last body begins: what came of one that ends badly does not count */
    char notes[NOTES];
};

static void note_bytes(struct stream *stream, const char *bytes, size_t size) {
    CHECK(stream->noted + size + 1 < NOTES);
    memcpy(stream->notes + stream->noted, bytes, size);
    stream->noted += size;
    stream->notes[stream->noted] = 0;
}

static void note(struct stream *stream, const char *text) {
    note_bytes(stream, text, strlen(text));
}

static void stream_open(struct stream *stream, bool is_response) {
    memset(stream, 0, sizeof *stream);
    stream->buffer = malloc(ROOM);
    CHECK(stream->buffer != NULL);
    wf_http_parser_init(&stream->parser, is_response, stream->buffer, ROOM);
    stream->parser.trailers = stream->trailers;
}

static void note_head(struct stream *stream) {
    const struct wf_http_parser *parser = &stream->parser;
    char line[128];
    snprintf(line, sizeof line, "[%s 1.%d %d%s%s%s %d]", parser->method ? parser->method : "-", parser->minor,
             parser->status, parser->keeps_alive ? " keeps" : "", parser->is_chunked ? " chunked" : "",
             parser->wants_upgrade ? " upgrade" : "", parser->has_length ? (int)parser->length : -1);
    note(stream, line);
    if (!parser->is_response)
        note(stream, wf_http_text(parser, parser->target));
    for (uint32_t i = 0; i < parser->field_count; i++) {
        const struct wf_http_field *field = &parser->fields[i];
        CHECK_EQ(strlen(wf_http_text(parser, field->name)), field->name_size);
        CHECK_EQ(strlen(wf_http_text(parser, field->value)), field->value_size);
        note(stream, "\n");
        note(stream, wf_http_text(parser, field->name));
        note(stream, "=");
        note(stream, wf_http_text(parser, field->value));
    }
    note(stream, "\n<");
    stream->body_from = stream->noted;
}

static void note_trailers(struct stream *stream) {
    static const char *const names[] = {"A", "B", "D", "C"};
    note(stream, ">");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = wf_http_find_trailer(&stream->parser, names[i]);
        note(stream, value ? "{" : "");
        note(stream, value ? value : "");
        note(stream, value ? "}" : "");
    }
}

/* As far as it goes with what has come. */
static void stream_run(struct stream *stream, bool is_end) {
    struct wf_http_parser *parser = &stream->parser;
    while (!stream->error) {
        if (parser->step == WF_HTTP_HEAD) {
            int verdict = parser->end > parser->start ? wf_http_parse_head(parser) : 0;
            if (verdict == 0)
                return;
            stream->error = verdict < 0 ? verdict : 0;
            if (verdict > 0)
                note_head(stream);
        } else if (parser->step == WF_HTTP_BODY) {
            char *bytes = NULL;
            size_t size = 0;
            if (parser->start == parser->end && !is_end)
                return;
            stream->error = wf_http_parse_body(parser, is_end, &bytes, &size);
            note_bytes(stream, bytes, stream->error ? 0 : size);
            if (stream->error)
                stream->noted = stream->body_from;
            if (parser->step == WF_HTTP_BODY && is_end && parser->start == parser->end)
                return;
        } else {
            note_trailers(stream);
            wf_http_parser_next(parser);
        }
    }
}

static void stream_feed(struct stream *stream, const char *bytes, size_t size) {
    struct wf_http_parser *parser = &stream->parser;
    if (parser->step == WF_HTTP_BODY && parser->start == parser->end)
        parser->start = parser->end = parser->head_size;
    CHECK_LE(parser->end + size, ROOM);
    memcpy(stream->buffer + parser->end, bytes, size);
    parser->end += (uint32_t)size;
    stream_run(stream, false);
}

static void stream_end(struct stream *stream) {
    char text[64];
    if (stream->parser.step == WF_HTTP_BODY && stream->parser.is_response)
        stream_run(stream, true);
    snprintf(text, sizeof text, " %d %d", stream->error, stream->error ? 0 : (int)stream->parser.step);
    note(stream, text);
    free(stream->buffer);
}

/* In pieces of that size, after a first one; what was noted, to be freed. */
static char *notes_of(const char *bytes, size_t size, size_t first, size_t piece, bool is_response) {
    struct stream *stream = malloc(sizeof *stream);
    CHECK(stream != NULL);
    stream_open(stream, is_response);
    for (size_t at = 0, next = first; at < size && !stream->error; at += next, next = piece) {
        if (next > size - at)
            next = size - at;
        stream_feed(stream, bytes + at, next);
    }
    stream_end(stream);
    char *notes = strdup(stream->notes);
    CHECK(notes != NULL);
    free(stream);
    return notes;
}

static void check_cuts(const char *bytes, size_t size, bool is_response) {
    char *whole = notes_of(bytes, size, size, size, is_response);
    for (size_t cut = 1; cut <= size; cut++) {
        char *other = notes_of(bytes, size, cut, size, is_response);
        CHECK_TEXT(other, whole);
        free(other);
    }
    for (size_t piece = 1; piece < 4; piece++) {
        char *other = notes_of(bytes, size, piece, piece, is_response);
        CHECK_TEXT(other, whole);
        free(other);
    }
    free(whole);
}

/* ---- Requests ---- */

static const char requests[] =
    "\r\nGET /one?two HTTP/1.1\r\nHost: a\r\nEmpty:\r\nSpaces: \t x y \t\r\nx: \xff\r\n\r\n"
    "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\nGET / HTTP/\r\n"
    "POST http://b/q HTTP/1.1\r\nhost: b\r\nTransfer-Encoding: chunked\r\nConnection: Upgrade, close\r\nUpgrade: "
    "x\r\n\r\n"
    "3;a=\"b\"\r\nabc\r\n00a\r\n0123456789\r\n0\r\nA:\r\nB: \t trailer  \r\nD: 7\r\nC: last\r\n\r\n"
    "HEAD / HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n"
    "OPTIONS * HTTP/1.1\r\nHost: c\r\n\r\n";

TEST(requests_say_the_same_wherever_they_are_cut) {
    char *notes = notes_of(requests, sizeof requests - 1, SIZE_MAX, SIZE_MAX, false);
    CHECK_TEXT(
        notes,
        "[GET 1.1 0 keeps -1]/one?two\nHost=a\nEmpty=\nSpaces=x y\nx=\xff\n<>"
        "[POST 1.1 0 keeps 11]/p\nHost=a\nContent-Length=11\n<GET / HTTP/>"
        "[POST 1.1 0 chunked upgrade -1]http://b/q\nhost=b\nTransfer-Encoding=chunked\nConnection=Upgrade, close\n"
        "Upgrade=x\n<abc0123456789>{}{trailer}{7}{last}"
        "[HEAD 1.0 0 keeps 0]/\nConnection=keep-alive\nContent-Length=0\n<>"
        "[OPTIONS 1.1 0 keeps -1]*\nHost=c\n<> 0 0");
    free(notes);
    check_cuts(requests, sizeof requests - 1, false);
}

TEST(so_does_each_row_of_the_corpus) {
    for (int i = 0; i < ROWS; i++)
        check_cuts(corpus[i].bytes, corpus[i].size, false);
}

TEST(random_cuts_change_nothing) {
    uint64_t seed = wf_test_seed();
    char *whole = notes_of(requests, sizeof requests - 1, SIZE_MAX, SIZE_MAX, false);
    for (long round = scaled(2000, 100); round > 0; round--) {
        struct stream *stream = malloc(sizeof *stream);
        CHECK(stream != NULL);
        stream_open(stream, false);
        for (size_t at = 0, size; at < sizeof requests - 1; at += size) {
            size = 1 + random_below(&seed, 1 + random_below(&seed, 60));
            if (size > sizeof requests - 1 - at)
                size = sizeof requests - 1 - at;
            stream_feed(stream, requests + at, size);
        }
        stream_end(stream);
        CHECK_TEXT(stream->notes, whole);
        free(stream);
    }
    free(whole);
}

TEST(whatever_comes_the_parser_stays_in_its_buffer) {
    uint64_t seed = wf_test_seed();
    for (long round = scaled(20000, 500); round > 0; round--) {
        char bytes[512];
        const struct row *row = &corpus[random_below(&seed, ROWS)];
        memcpy(bytes, row->bytes, row->size);
        for (uint64_t i = random_below(&seed, 4); i > 0 && row->size > 0; i--)
            bytes[random_below(&seed, row->size)] = (char)random_next(&seed);
        char *one = notes_of(bytes, row->size, row->size, row->size, false);
        char *other =
            notes_of(bytes, row->size, 1 + random_below(&seed, row->size + 1), 1 + random_below(&seed, 9), false);
        if (strcmp(other, one) != 0)
            fprintf(stderr, "%.*s\n", (int)row->size, bytes);
        CHECK_TEXT(other, one);
        free(one);
        free(other);
    }
}

/* ---- Responses ---- */

TEST(responses_say_the_same_wherever_they_are_cut) {
    static const char *const responses[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 404 "
        "\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: "
        "b\r\n\r\n",
        "HTTP/1.0 200 OK\r\n\r\nup to the end",
        "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof responses / sizeof *responses; i++)
        check_cuts(responses[i], strlen(responses[i]), true);
    char *notes = notes_of(responses[2], strlen(responses[2]), SIZE_MAX, SIZE_MAX, true);
    CHECK_TEXT(notes, "[- 1.0 200 -1]\n<up to the end> 0 0");
    free(notes);
}

/* ---- Limits ---- */

TEST(there_are_so_many_fields_and_no_more) {
    for (int count = WF_HTTP_FIELDS; count <= WF_HTTP_FIELDS + 1; count++) {
        char text[2048] = "GET / HTTP/1.1\r\n";
        for (int i = 0; i < count; i++)
            strcat(text, "a: b\r\n");
        strcat(text, "\r\n");
        struct stream stream;
        stream_open(&stream, false);
        stream_feed(&stream, text, strlen(text));
        CHECK_EQ(stream.error, count > WF_HTTP_FIELDS ? -E2BIG : 0);
        stream_end(&stream);
    }
}

TEST(trailers_have_so_much_room_and_no_more) {
    for (int size = WF_HTTP_TRAILERS - 40; size < WF_HTTP_TRAILERS + 40; size++) {
        struct stream stream;
        stream_open(&stream, false);
        static const char head[] = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: ";
        stream_feed(&stream, head, sizeof head - 1);
        for (int i = 0; i < size && !stream.error; i += 20)
            stream_feed(&stream, "xxxxxxxxxxxxxxxxxxxx", (size_t)(size - i < 20 ? size - i : 20));
        if (!stream.error)
            stream_feed(&stream, "\r\n\r\n", 4);
        if (size < WF_HTTP_TRAILERS - 8)
            CHECK_EQ(stream.error, 0);
        if (size >= WF_HTTP_TRAILERS)
            CHECK(stream.error != 0);
        stream_end(&stream);
    }
}

/* ---- Words and dates ---- */

TEST(words_are_found_in_lists) {
    CHECK(wf_http_has_word("close", "close"));
    CHECK(wf_http_has_word(" a,\tCLOSE ;q=1, b", "close"));
    CHECK(wf_http_has_word(",,close", "close"));
    CHECK(!wf_http_has_word("closed", "close"));
    CHECK(!wf_http_has_word("a close", "close"));
    CHECK(!wf_http_has_word("", "close"));
    CHECK(!wf_http_has_word(NULL, "close"));
}

TEST(dates_are_written_and_read_as_the_library_of_c_does) {
    uint64_t seed = wf_test_seed();
    for (long round = scaled(20000, 500); round > 0; round--) {
        time_t second = (time_t)random_below(&seed, UINT64_C(253402300800)); /* up to the end of 9999 */
        struct tm parts;
        char expected[64], text[WF_HTTP_DATE + 1];
        CHECK(gmtime_r(&second, &parts) != NULL);
        strftime(expected, sizeof expected, "%a, %d %b %Y %H:%M:%S GMT", &parts);
        wf_http_date_format(second, text);
        CHECK_TEXT(text, expected);
        CHECK_EQ(wf_http_date_parse(text), second);
    }
}

TEST(what_is_no_date_is_not_read) {
    static const char *const bad[] = {
        "",
        "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, 06 Nov 1994 08:49:37 GMT ",
        "Sun, 06 Nov 1994 08:49:37 gmt",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
        "Sun, +6 Nov 1994 08:49:37 GMT",
        "Sun, -6 Nov 1994 08:49:37 GMT",
        "Sun,  6 Nov 1994 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT",
        "Wed, 31 Nov 1994 08:49:37 GMT",
        "Wed, 29 Feb 1995 08:49:37 GMT",
        "Sun, 06 Now 1994 08:49:37 GMT",
        "Xyz, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:49:37 GMT",
        "Sun, 06 Nov 1994 -1:49:37 GMT",
        "Sun, 06 Nov 1994 08:60:37 GMT",
        "Sun, 06 Nov 1994 08:-1:37 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 06 Nov 1994 08:49:+7 GMT",
        "Sun, 06 Nov 1969 08:49:37 GMT",
        "Sun, 06 Nov 19x4 08:49:37 GMT",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_EQ(wf_http_date_parse(bad[i]), -1);
    CHECK_EQ(wf_http_date_parse(NULL), -1);
    CHECK_EQ(wf_http_date_parse("Sun, 06 Nov 1994 08:49:37 GMT"), 784111777);
    CHECK_EQ(wf_http_date_parse("Thu, 29 Feb 1996 00:00:00 GMT"), 825552000);
}
