/* SPDX-License-Identifier: MIT
 *
 * spec/http_response_test.c - what handlers may say, and how it arrives.
 */
#include "support/http.h"

static atomic_int said; /* by the last handler: that its checks held */

static void run_with(weft_http_handler handler, void (*body)(struct client *client)) {
    atomic_store(&said, 0);
    site_open(NULL);
    CHECK_EQ(weft_http_route(site.server, "/+", handler, NULL), 0);
    site_serve();
    struct client *client = client_open();
    body(client);
    client_close(client);
    site_close();
}

#define TEST_HANDLER(name) \
    static void handler_##name(weft_http *http); \
    static void call_##name(weft_http *http, void *arg) { \
        (void)arg; \
        handler_##name(http); \
        atomic_fetch_add(&said, 1); \
    } \
    static void client_##name(struct client *client); \
    static void body_##name(void) { \
        run_with(call_##name, client_##name); \
    } \
    TEST(name) { \
        run_fibers(body_##name); \
        CHECK_GE(atomic_load(&said), 1); \
    } \
    static void handler_##name(weft_http *http)

#define CLIENT(name) static void client_##name(struct client *client)

/* ---- Heads ---- */

TEST_HANDLER(headers_are_sent_as_they_were_set) {
    CHECK_EQ(weft_http_set(http, "X-One", "1"), 0);
    CHECK_EQ(weft_http_set(http, "Set-Cookie", "a=b"), 0);
    CHECK_EQ(weft_http_set(http, "Set-Cookie", "c=d"), 0);
    CHECK_EQ(weft_http_set(http, "X-Empty", ""), 0);
    CHECK_EQ(weft_http_set(http, "X-Text", "\xc3\xa4\t b"), 0);
    CHECK_EQ(weft_http_status(http, 201), 0);
    CHECK_EQ(weft_http_status(http, 202), 0); /* the last one */
    CHECK_EQ(weft_http_write(http, "x", 1), 0);
    CHECK_EQ(weft_http_status(http, 200), -EALREADY);
    CHECK_EQ(weft_http_set(http, "X-Late", "1"), -EALREADY);
    CHECK_EQ(weft_http_reply(http, 200, NULL, "y", 1), -EALREADY);
    CHECK_EQ(weft_http_fail(http, 500), -EALREADY);
}
CLIENT(headers_are_sent_as_they_were_set) {
    struct answer *answer = client_ask(client, "GET", "/x", 202);
    CHECK_TEXT(answer_header(answer, "x-one"), "1");
    CHECK_TEXT(answer_header(answer, "X-Empty"), "");
    CHECK_TEXT(answer_header(answer, "X-Text"), "\xc3\xa4\t b");
    CHECK_EQ(answer_count(answer, "Set-Cookie"), 2);
    CHECK_EQ(answer_count(answer, "X-Late"), 0);
    CHECK_TEXT(answer->body, "x");
}

TEST_HANDLER(headers_that_cannot_be_sent_are_refused) {
    static const char *const names[] = {"",         " ",     "a b", "a:",  "a\r\n", "a\n",
                                        "\xc3\xa4", "a\x7f", "a(",  "a,b", "a\"",   "a=b"};
    static const char *const values[] = {"\r\n", "a\r\nb: c", "a\nb", "\r", "\x01", "a\x1b", "\x7f"};
    static const char *const ours[] = {"Connection", "transfer-encoding", "DATE"};
    static const char *const lengths[] = {
        "", "-1", "+1", "1x", "0x1", " 1", "1 ", "1,1", "99999999999999999999", "18446744073709551616"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CHECK_EQ(weft_http_set(http, names[i], "x"), -EINVAL);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        CHECK_EQ(weft_http_set(http, "X", values[i]), -EINVAL);
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        CHECK_EQ(weft_http_set(http, ours[i], "x"), -EINVAL);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        CHECK_EQ(weft_http_set(http, "Content-Length", lengths[i]), -EINVAL);
    CHECK_EQ(weft_http_set(http, NULL, "x"), -EINVAL);
    CHECK_EQ(weft_http_set(http, "X", NULL), -EINVAL);
    CHECK_EQ(weft_http_status(http, 100), -EINVAL);
    CHECK_EQ(weft_http_status(http, 199), -EINVAL);
    CHECK_EQ(weft_http_status(http, 1000), -EINVAL);
    CHECK_EQ(weft_http_status(http, 0), -EINVAL);
    CHECK_EQ(weft_http_write(http, NULL, 1), -EINVAL);
    CHECK_EQ(weft_http_reply(http, 200, NULL, NULL, 1), -EINVAL);
    CHECK_EQ(weft_http_reply(http, 200, "a\r\nb", "x", 1), -EINVAL);
    CHECK_EQ(weft_http_read(http, NULL, 1), -EINVAL);
    CHECK_EQ(weft_http_fail(http, 418), 0);
}
CLIENT(headers_that_cannot_be_sent_are_refused) {
    struct answer *answer = client_ask(client, "GET", "/x", 418);
    CHECK(strstr(answer->head, "\r\nX:") == NULL);
    CHECK(!answer->says_close);
    client_ask(client, "GET", "/x", 418);
}

TEST_HANDLER(a_header_has_so_much_room) {
    char value[500];
    int count = 0, error;
    memset(value, 'v', sizeof value - 1);
    value[sizeof value - 1] = 0;
    while ((error = weft_http_set(http, "X-Long", value)) == 0)
        count++;
    CHECK_EQ(error, -EMSGSIZE);
    CHECK_GE(count, 7);
    CHECK_EQ(weft_http_print(http, "%d", count), 0);
}
CLIENT(a_header_has_so_much_room) {
    for (int i = 0; i < 3; i++) {
        struct answer *answer = client_ask(client, "GET", "/x", 200);
        CHECK_EQ(answer_count(answer, "X-Long"), atoi(answer->body));
    }
}

/* ---- Bodies ---- */

TEST_HANDLER(a_length_is_kept_to) {
    CHECK_EQ(weft_http_set(http, "Content-Length", "10"), 0);
    CHECK_EQ(weft_http_write(http, "01234", 5), 0);
    CHECK_EQ(weft_http_write(http, "567890", 6), -EMSGSIZE); /* none of it */
    CHECK_EQ(weft_http_write(http, "56789", 5), 0);
    CHECK_EQ(weft_http_write(http, "", 0), 0);
    CHECK_EQ(weft_http_write(http, "x", 1), -EMSGSIZE);
}
CLIENT(a_length_is_kept_to) {
    for (int i = 0; i < 2; i++) {
        struct answer *answer = client_ask(client, "GET", "/x", 200);
        CHECK_EQ(answer->length, 10);
        CHECK_TEXT(answer->body, "0123456789");
    }
}

TEST_HANDLER(pieces_of_any_size_arrive) {
    static char bytes[100000];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)('a' + i % 26);
    for (size_t size = 0, sum = 0; size < 9000 && sum < 60000; size = size * 2 + 1, sum += size) {
        CHECK_EQ(weft_http_write(http, bytes, size), 0);
        if (size % 5 == 0)
            CHECK_EQ(weft_http_flush(http), strcmp(weft_http_method(http), "HEAD") == 0 ? -EPIPE : 0);
    }
    CHECK_EQ(weft_http_write(http, bytes, sizeof bytes), 0);
    CHECK_EQ(weft_http_write(http, bytes, 8192), 0);
    for (int i = 0; i < 3000; i++)
        CHECK_EQ(weft_http_write(http, "z", 1), 0);
}
CLIENT(pieces_of_any_size_arrive) {
    size_t size = client_ask(client, "GET", "/x", 200)->size;
    uint64_t sum = client->answer.sum;
    CHECK(client->answer.is_chunked);
    CHECK_GE(size, 100000 + 8192 + 3000);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(client_ask(client, "GET", "/x", 200)->size, size);
        CHECK_EQ(client->answer.sum, sum);
    }
    CHECK_EQ(client_ask(client, "HEAD", "/x", 200)->size, 0);
    client_send(client, "GET /x HTTP/1.0\r\n\r\n");
    CHECK_EQ(client_receive(client, "GET")->size, size);
    CHECK_EQ(client->answer.sum, sum);
}

/* Each size around those at which what was collected is sent. */
TEST_HANDLER(no_size_is_one_too_many) {
    static char bytes[9000];
    size_t size = (size_t)atoi(weft_http_query(http)), first = size > 8000 ? size - 8000 : 0;
    memset(bytes, 'x', sizeof bytes);
    CHECK_EQ(weft_http_write(http, bytes, first), 0);
    CHECK_EQ(weft_http_write(http, bytes, size - first), 0);
}
CLIENT(no_size_is_one_too_many) {
    char target[32];
    int step = (int)(100 / scaled(100, 10));
    for (int size = 7900; size < 8300; size += step) {
        snprintf(target, sizeof target, "/x?%d", size);
        CHECK_EQ(client_ask(client, "GET", target, 200)->size, size);
    }
}

TEST_HANDLER(what_is_flushed_arrives_before_the_rest) {
    CHECK_EQ(weft_http_write(http, "early", 5), 0);
    CHECK_EQ(weft_http_flush(http), 0);
    WAIT_UNTIL(atomic_load(&said) == 1); /* the client has it */
    CHECK_EQ(weft_http_flush(http), 0);  /* nothing */
    CHECK_EQ(weft_http_write(http, "late", 4), 0);
}
CLIENT(what_is_flushed_arrives_before_the_rest) {
    client_send(client, "GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
    char line[256];
    while (client_line(client, line, sizeof line) && *line)
        continue;
    CHECK(client_line(client, line, sizeof line));
    CHECK_EQ(strtol(line, NULL, 16), 5);
    for (const char *at = "early"; *at; at++)
        CHECK_EQ(client_byte(client), *at);
    atomic_store(&said, 1);
    CHECK(client_line(client, line, sizeof line));
    CHECK(client_line(client, line, sizeof line));
    CHECK_EQ(strtol(line, NULL, 16), 4);
}

TEST_HANDLER(what_is_printed_may_be_long) {
    CHECK_EQ(weft_http_print(http, "%0*d|", 1022, 0), 0);
    CHECK_EQ(weft_http_print(http, "%0*d|", 1023, 0), 0);
    CHECK_EQ(weft_http_print(http, "%0*d|", 1024, 0), 0);
    CHECK_EQ(weft_http_print(http, "%0*d|", 30000, 0), 0);
    CHECK_EQ(weft_http_print(http, "%s", ""), 0);
}
CLIENT(what_is_printed_may_be_long) {
    CHECK_EQ(client_ask(client, "GET", "/x", 200)->size, 1023 + 1024 + 1025 + 30001);
}

TEST_HANDLER(a_reply_is_whole) {
    char status[4];
    snprintf(status, sizeof status, "%.3s", weft_http_query(http));
    CHECK_EQ(weft_http_fail(http, atoi(status)), 0);
}
CLIENT(a_reply_is_whole) {
    static const int statuses[] = {200, 204, 304, 400, 404, 418, 500, 503, 999};
    char target[32], start[32];
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        snprintf(target, sizeof target, "/x?%d", statuses[i]);
        struct answer *answer = client_ask(client, "GET", target, statuses[i]);
        snprintf(start, sizeof start, "%d ", statuses[i]);
        if (statuses[i] != 204 && statuses[i] != 304)
            CHECK(strncmp(answer->body, start, 4) == 0);
    }
}

TEST_HANDLER(the_answer_may_begin_before_the_request_has_ended) {
    char byte;
    ssize_t count;
    CHECK_EQ(weft_http_write(http, "<", 1), 0);
    while ((count = weft_http_read(http, &byte, 1)) > 0) {
        CHECK_EQ(weft_http_write(http, &byte, 1), 0);
        CHECK_EQ(weft_http_flush(http), 0);
    }
    CHECK_EQ(count, 0);
    CHECK_EQ(weft_http_write(http, ">", 1), 0);
}
CLIENT(the_answer_may_begin_before_the_request_has_ended) {
    client_send(client, "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n");
    client_send(client, "he");
    client_send(client, "llo");
    CHECK_BODY(client_receive(client, "POST"), "<hello>");
}

/* ---- Streams of events ---- */

TEST_HANDLER(events_are_lines) {
    CHECK_EQ(weft_http_event(http, NULL, "plain", NULL), 0);
    CHECK_EQ(weft_http_event(http, "name", "two\nlines", "7"), 0);
    CHECK_EQ(weft_http_event(http, "a\nb", "x", NULL), -EINVAL);
    CHECK_EQ(weft_http_event(http, NULL, "x", "a\rb"), -EINVAL);
}
CLIENT(events_are_lines) {
    struct answer *answer = client_ask(client, "GET", "/x", 200);
    CHECK(strncmp(answer_header(answer, "Content-Type"), "text/event-stream", 17) == 0);
    CHECK(strstr(answer->body, "data: plain\n\n") != NULL);
    CHECK(strstr(answer->body, "event: name\n") != NULL);
    CHECK(strstr(answer->body, "id: 7\n") != NULL);
    CHECK(strstr(answer->body, "data: two\ndata: lines\n") != NULL);
}
