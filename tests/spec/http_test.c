/* SPDX-License-Identifier: MIT
 *
 * spec/http_test.c - requests and responses as weft/http.h promises them.
 *
 * Each test has a server on a port of its own and clients that speak to it byte by byte (support/http.h). Routes are in
 * spec/http_route_test.c, ends in spec/http_end_test.c, malformed requests in spec/http_corpus_test.c.
 */
#include "support/child.h"
#include "support/http.h"

/* ---- Handlers ---- */

static void hello(weft_http *http, void *arg) {
    (void)arg;
    CHECK_EQ(weft_http_reply(http, 200, "text/plain", "hello", 5), 0);
}

/* The body again, in chunks, and how many there were. */
static void echo(weft_http *http, void *arg) {
    (void)arg;
    char piece[1000];
    ssize_t count;
    while ((count = weft_http_read(http, piece, sizeof piece)) > 0)
        CHECK_EQ(weft_http_write(http, piece, (size_t)count), 0);
    CHECK_EQ(count, 0);
    CHECK_EQ(weft_http_read(http, piece, sizeof piece), 0);
    const char *trailer = weft_http_trailer(http, "x-sum");
    if (trailer)
        weft_http_print(http, "|%s", trailer);
}

static atomic_int last_read; /* what the last handler was told */

static void swallow(weft_http *http, void *arg) {
    (void)arg;
    char piece[4096];
    ssize_t count;
    size_t sum = 0;
    while ((count = weft_http_read(http, piece, sizeof piece)) > 0)
        sum += (size_t)count;
    atomic_store(&last_read, (int)count);
    if (count == 0)
        weft_http_print(http, "%zu", sum);
}

static void ignore(weft_http *http, void *arg) {
    (void)arg;
    CHECK_EQ(weft_http_reply(http, 200, NULL, "ignored", 7), 0);
}

static void nothing(weft_http *http, void *arg) {
    (void)http, (void)arg;
}

static void run_site(void (*body)(void)) {
    site_open(NULL);
    site_route("GET /", hello);
    site_route("POST /echo", echo);
    site_route("POST /swallow", swallow);
    site_route("POST /ignore", ignore);
    site_route("GET /nothing", nothing);
    site_serve();
    body();
    site_close();
}

#define TEST_SITE(name) \
    static void client_##name(void); \
    static void body_##name(void) { \
        run_site(client_##name); \
    } \
    TEST(name) { \
        run_fibers(body_##name); \
    } \
    static void client_##name(void)

/* ---- Connections ---- */

TEST_SITE(a_connection_serves_one_request_after_the_other) {
    struct client *client = client_open();
    for (int i = 0; i < 10; i++) {
        struct answer *answer = client_ask(client, "GET", "/", 200);
        CHECK_TEXT(answer->body, "hello");
        CHECK_EQ(answer->length, 5);
        CHECK(!answer->says_close);
        CHECK_TEXT(answer_header(answer, "Content-Type"), "text/plain");
        CHECK_EQ(strlen(answer_header(answer, "Date")), 29);
        CHECK(answer_header(answer, "Server") == NULL);
    }
    client_close(client);
}

TEST_SITE(requests_that_come_together_are_answered_in_order) {
    static const char both[] =
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nonePOST /echo HTTP/1.1\r\nHost: a\r\n"
        "Transfer-Encoding: chunked\r\n\r\n3\r\ntwo\r\n0\r\n\r\nHEAD / HTTP/1.1\r\nHost: a\r\n\r\n"
        "POST /ignore HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nGET "
        "GET /none HTTP/1.1\r\nHost: a\r\n\r\n";
    struct client *client = client_open();
    for (int i = 0; i < 3; i++) {
        client_send(client, both);
        CHECK_BODY(client_receive(client, "GET"), "hello");
        CHECK_BODY(client_receive(client, "POST"), "one");
        CHECK_BODY(client_receive(client, "POST"), "two");
        CHECK_EQ(client_receive(client, "HEAD")->length, 5);
        CHECK_BODY(client_receive(client, "POST"), "ignored");
        CHECK_EQ(client_receive(client, "GET")->status, 404);
    }
    client_close(client);
}

TEST_SITE(hundreds_of_requests_in_one_go_are_answered) {
    struct client *client = client_open();
    char many[200 * 32] = "";
    for (int i = 0; i < 200; i++)
        strcat(many, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    client_send(client, many);
    for (int i = 0; i < 200; i++)
        CHECK_BODY(client_receive(client, "GET"), "hello");
    client_close(client);
}

TEST_SITE(who_asks_for_the_end_gets_it) {
    struct client *client = client_open();
    client_send(client, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(client_receive(client, "GET")->says_close);
    client_expect_end(client);
    client_close(client);
    client = client_open();
    client_send(client, "GET / HTTP/1.1\r\nHost: a\r\nConnection: foo, CLOSE ,bar\r\n\r\n");
    CHECK(client_receive(client, "GET")->says_close);
    client_expect_end(client);
    client_close(client);
}

TEST_SITE(half_a_connection_is_enough_to_be_answered) {
    struct client *client = client_open();
    client_send(client, "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n");
    client_say_end(client);
    CHECK_BODY(client_receive(client, "GET"), "hello");
    CHECK_BODY(client_receive(client, "GET"), "hello");
    client_expect_end(client);
    client_close(client);
}

TEST_SITE(http_1_0_ends_with_its_answer_unless_asked) {
    struct client *client = client_open();
    client_send(client, "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    struct answer *answer = client_receive(client, "GET");
    CHECK_EQ(answer->length, 5);
    CHECK_TEXT(answer_header(answer, "Connection"), "keep-alive");
    client_send(client, "GET / HTTP/1.0\r\n\r\nGET / HTTP/1.0\r\n\r\n");
    answer = client_receive(client, "GET");
    CHECK_TEXT(answer->body, "hello");
    CHECK(answer->says_close);
    client_expect_end(client);
    client_close(client);
}

TEST_SITE(http_1_0_gets_a_stream_up_to_the_end_of_the_connection) {
    struct client *client = client_open();
    client_send(client, "POST /echo HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nabcde");
    struct answer *answer = client_receive(client, "POST");
    CHECK(!answer->is_chunked);
    CHECK_EQ(answer->length, -1);
    CHECK(answer->says_close);
    CHECK_TEXT(answer->body, "abcde");
    client_expect_end(client);
    client_close(client);
}

TEST_SITE(empty_lines_before_a_request_are_passed_over) {
    struct client *client = client_open();
    client_send(client, "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK_EQ(client_receive(client, "GET")->status, 200);
    CHECK_EQ(client_receive(client, "GET")->status, 200);
    client_close(client);
}

/* ---- HEAD, and statuses without a body ---- */

static void bare_status(weft_http *http, void *arg) {
    (void)arg;
    CHECK_EQ(weft_http_status(http, atoi(weft_http_query(http))), 0);
    bool is_bare = strcmp(weft_http_method(http), "HEAD") == 0 || strcmp(weft_http_query(http), "200") != 0;
    CHECK_EQ(weft_http_write(http, "body", 4), 0);
    CHECK_EQ(weft_http_flush(http), is_bare ? -EPIPE : 0); /* who sends without end learns that it is for nobody */
    CHECK_EQ(weft_http_write(http, "more", 4), 0);
}

static void run_bare(void) {
    site_open(NULL);
    site_route("GET /bare", bare_status);
    site_route("GET /", hello);
    site_serve();
    struct client *client = client_open();
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(client_ask(client, "HEAD", "/", 200)->length, 5);
        CHECK_EQ(client_ask(client, "GET", "/bare?204", 204)->length, -1);
        client_ask(client, "GET", "/bare?304", 304);
        client_ask(client, "HEAD", "/bare?200", 200);
        CHECK_EQ(client_ask(client, "HEAD", "/none", 404)->size, 0);
        CHECK_BODY(client_ask(client, "GET", "/bare?200", 200), "bodymore");
        CHECK_BODY(client_ask(client, "GET", "/", 200), "hello");
    }
    client_close(client);
    site_close();
}
TEST(head_and_204_and_304_have_no_body) {
    run_fibers(run_bare);
}

TEST_SITE(a_handler_that_says_nothing_is_answered_for_by_204) {
    struct client *client = client_open();
    client_ask(client, "GET", "/nothing", 204);
    client_ask(client, "HEAD", "/nothing", 204);
    client_ask(client, "GET", "/", 200);
    client_close(client);
}

TEST_SITE(what_is_refused_after_a_head_has_its_body) {
    struct client *client = client_open();
    client_ask(client, "HEAD", "/", 200);
    client_send(client, "NONSENSE\r\n\r\n");
    struct answer *answer = client_receive(client, "GET");
    CHECK_EQ(answer->status, 400);
    CHECK(!answer->is_cut);
    CHECK_EQ(answer->size, answer->length);
    client_expect_end(client);
    client_close(client);
}

/* ---- Bodies that come ---- */

TEST_SITE(bodies_come_by_length_and_in_chunks) {
    struct client *client = client_open();
    char request[400];
    for (int size = 0; size < 40; size += 13) {
        snprintf(request, sizeof request, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%.*s", size,
                 size, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGH");
        client_send(client, request);
        CHECK_EQ(client_receive(client, "POST")->size, size);
    }
    client_send(client,
                "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n5;a=b;c=\"d;\\\"e\"\r\nfirst\r\n"
                "00B\r\n and second\r\n0\r\n\r\n");
    CHECK_BODY(client_receive(client, "POST"), "first and second");
    client_send(client, "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
    CHECK_BODY(client_receive(client, "POST"), "");
    client_close(client);
}

TEST_SITE(trailers_are_there_once_the_body_is_read) {
    struct client *client = client_open();
    client_send(client,
                "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nEmpty:\r\n"
                "X-Sum:\t42 \r\nOther: 1\r\n\r\n");
    CHECK_BODY(client_receive(client, "POST"), "abc|42");
    client_ask(client, "GET", "/", 200);
    client_close(client);
}

struct sending {
    struct client *client;
    const char *bytes;
    size_t size;
};

/* On a fiber of its own, since the answer comes meanwhile. */
static void *send_chunked(void *opaque) {
    struct sending *sending = opaque;
    char line[32];
    for (size_t at = 0, size; at < sending->size; at += size) {
        size = sending->size - at < 7001 ? sending->size - at : 7001;
        snprintf(line, sizeof line, "%zX\r\n", size);
        client_send(sending->client, line);
        client_send_bytes(sending->client, sending->bytes + at, size);
        client_send(sending->client, "\r\n");
    }
    client_send(sending->client, "0\r\n\r\n");
    return NULL;
}

TEST_SITE(large_bodies_pass_through) {
    enum { SIZE = 300000 };
    struct client *client = client_open();
    char *bytes = malloc(SIZE);
    uint64_t sum = 0;
    weft_fiber sender;
    CHECK(bytes != NULL);
    for (int i = 0; i < SIZE; i++)
        sum += (unsigned char)(bytes[i] = (char)(i * 31));
    client_send(client, "POST /swallow HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\n");
    client_send_bytes(client, bytes, SIZE);
    CHECK_BODY(client_receive(client, "POST"), "300000");
    client_send(client, "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    struct sending sending = {client, bytes, SIZE};
    SPAWN(&sender, send_chunked, &sending);
    struct answer *answer = client_receive(client, "POST");
    JOIN(sender, NULL);
    CHECK_EQ(answer->size, SIZE);
    CHECK_EQ(answer->sum, sum);
    free(bytes);
    client_close(client);
}

TEST_SITE(what_a_handler_does_not_read_is_read_past) {
    struct client *client = client_open();
    static char bytes[100000];
    for (int i = 0; i < 3; i++) {
        client_send(client, "POST /ignore HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n");
        client_send_bytes(client, bytes, sizeof bytes);
        CHECK_BODY(client_receive(client, "POST"), "ignored");
        client_send(
            client,
            "POST /none HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nGET \r\n0\r\nA: b\r\n\r\n");
        CHECK_EQ(client_receive(client, "POST")->status, 404);
    }
    client_close(client);
}

/* ---- Expect ---- */

TEST_SITE(a_client_that_waits_is_told_to_go_on) {
    struct client *client = client_open();
    for (int i = 0; i < 3; i++) {
        client_send(client, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-Continue\r\n\r\n");
        CHECK_EQ(client_receive(client, "POST")->status, 100);
        client_send(client, "body");
        CHECK_BODY(client_receive(client, "POST"), "body");
    }
    client_close(client);
}

TEST_SITE(a_client_that_does_not_wait_is_not_told) {
    struct client *client = client_open();
    client_send(client, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\nbody");
    CHECK_BODY(client_receive(client, "POST"), "body");
    client_send(client, "GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n"); /* nothing to wait for */
    CHECK_EQ(client_receive(client, "GET")->status, 200);
    client_close(client);
    client = client_open();
    client_send(client, "POST /echo HTTP/1.0\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
    client_send(client, "body");
    CHECK_BODY(client_receive(client, "POST"), "body");
    client_close(client);
}

TEST_SITE(a_body_that_nobody_asked_for_ends_the_connection) {
    struct client *client = client_open();
    client_send(client, "POST /ignore HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
    struct answer *answer = client_receive(client, "POST");
    CHECK_TEXT(answer->body, "ignored");
    CHECK(answer->says_close);
    client_expect_end(client);
    client_close(client);
}

TEST_SITE(other_expectations_fail) {
    struct client *client = client_open();
    client_send(client, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: miracles\r\n\r\nbody");
    CHECK_EQ(client_receive(client, "POST")->status, 417);
    client_expect_end(client);
    client_close(client);
}

/* ---- Limits ---- */

static void raise_limit(weft_http *http, void *arg) {
    weft_http_limit_body(http, 1000);
    swallow(http, arg);
}

static const char hundred[] =
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789";

static void run_limits(void) {
    weft_http_options options = {.max_body = 50, .max_head = 1000};
    site_open(&options);
    site_route("POST /swallow", swallow);
    site_route("POST /raise", raise_limit);
    site_route("GET /+", hello);
    site_serve();
    struct client *client = client_open();
    client_send(client, "POST /swallow HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n");
    (void)client_try_bytes(client, hundred, 100);
    CHECK_EQ(client_receive(client, "POST")->status, 413);
    CHECK_EQ(atomic_load(&last_read), -EMSGSIZE);
    client_expect_end(client);
    client_close(client);
    client = client_open();
    client_send(client, "POST /swallow HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n");
    CHECK_EQ(client_receive(client, "POST")->status, 413); /* and not 100 */
    client_expect_end(client);
    client_close(client);
    client = client_open();
    client_send(client, "POST /swallow HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1e\r\n");
    (void)client_try_bytes(client, hundred, 30);
    (void)client_try_bytes(client, "\r\n64\r\n", 6);
    (void)client_try_bytes(client, hundred, 100);
    CHECK_EQ(client_receive(client, "POST")->status, 413);
    client_expect_end(client);
    client_close(client);
    client = client_open();
    client_send(client, "POST /raise HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n");
    client_send_bytes(client, hundred, 100);
    CHECK_BODY(client_receive(client, "POST"), "100");
    client_close(client);
    site_close();
}
TEST(a_body_beyond_the_limit_is_413) {
    run_fibers(run_limits);
}

/* How the bytes arrive must not matter: in one piece, or in two. */
static int status_of_long(const char *before, char filler, int count, const char *after, bool is_cut) {
    struct client *client = client_open();
    char *text = malloc((size_t)count + 300);
    CHECK(text != NULL);
    size_t size = (size_t)sprintf(text, "%s", before);
    memset(text + size, filler, (size_t)count);
    size += (size_t)count;
    size += (size_t)sprintf(text + size, "%s", after);
    size_t first = is_cut ? (size_t)count / 2 : size;
    (void)client_try_bytes(client, text, first);
    if (is_cut) {
        WAIT_UNTIL(site_stats().accepted > 0);
        for (int i = 0; i < 20; i++)
            weft_yield();
        (void)client_try_bytes(client, text + first, size - first);
    }
    int status = client_receive(client, "GET")->status;
    if (status != 200)
        client_expect_end(client);
    client_close(client);
    free(text);
    return status;
}

static void run_long_heads(void) {
    weft_http_options options = {.max_head = 1000};
    site_open(&options);
    site_route("GET /+", hello);
    site_serve();
    for (int is_cut = 0; is_cut < 2; is_cut++) {
        static const int sizes[] = {990, 1000, 1100, 3000, 5000, 20000};
        CHECK_EQ(status_of_long("GET /", 'a', 900, " HTTP/1.1\r\nHost: a\r\n\r\n", is_cut), 200);
        CHECK_EQ(status_of_long("GET /a HTTP/1.1\r\nHost: a\r\nX: ", 'a', 900, "\r\n\r\n", is_cut), 200);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            if (sizes[i] > 990)
                CHECK_EQ(status_of_long("GET /", 'a', sizes[i], " HTTP/1.1\r\nHost: a\r\n\r\n", is_cut), 414);
            CHECK_EQ(status_of_long("GET /a HTTP/1.1\r\nHost: a\r\nX: ", 'a', sizes[i], "\r\n\r\n", is_cut), 431);
            CHECK_EQ(status_of_long("GET /a HTTP/1.1\r\nHost: a\r\n", 'a', sizes[i], ": b\r\n\r\n", is_cut), 431);
        }
    }
    CHECK_GE(site_stats().refused, 34);
    site_close();
}
TEST(long_targets_are_414_and_long_headers_431) {
    run_fibers(run_long_heads);
}

TEST_SITE(too_many_headers_are_431) {
    for (int count = 99; count <= 101; count++) {
        char text[4000] = "GET / HTTP/1.1\r\nHost: a\r\n";
        for (int i = 1; i < count; i++)
            strcat(text, "a: b\r\n");
        strcat(text, "\r\n");
        struct client *client = client_open();
        client_send(client, text);
        CHECK_EQ(client_receive(client, "GET")->status, count > 100 ? 431 : 200);
        client_close(client);
    }
}

static void run_max_requests(void) {
    weft_http_options options = {.max_requests = 3, .server_name = "weft/1"};
    site_open(&options);
    site_route("GET /", hello);
    site_serve();
    struct client *client = client_open();
    for (int i = 1; i <= 3; i++) {
        struct answer *answer = client_ask(client, "GET", "/", 200);
        CHECK_EQ(answer->says_close, i == 3);
        CHECK_TEXT(answer_header(answer, "Server"), "weft/1");
    }
    client_expect_end(client);
    client_close(client);
    site_close();
}
TEST(a_connection_has_as_many_requests_as_it_may) {
    run_fibers(run_max_requests);
}

/* ---- What is counted ---- */

static void run_stats(void) {
    site_open(NULL);
    site_route("GET /", hello);
    site_serve();
    CHECK_EQ(weft_http_get_stats(NULL, NULL), -EINVAL);
    CHECK_EQ(weft_http_get_stats(site.server, NULL), -EINVAL);
    struct client *one = client_open(), *two = client_open();
    client_ask(one, "GET", "/", 200);
    client_ask(one, "GET", "/none", 404);
    client_send(two, "nonsense\r\n\r\n");
    CHECK_EQ(client_receive(two, "GET")->status, 400);
    client_expect_end(two);
    client_close(two);
    WAIT_UNTIL(site_stats().connections == 1);
    weft_http_stats stats = site_stats();
    CHECK_EQ(stats.accepted, 2);
    CHECK_EQ(stats.requests, 2);
    CHECK_EQ(stats.refused, 1);
    client_close(one);
    WAIT_UNTIL(site_stats().connections == 0);
    stats = site_stats();
    CHECK_EQ(stats.bytes_in, 2 * strlen("GET / HTTP/1.1\r\nHost: a\r\n\r\n") + 4 + strlen("nonsense\r\n\r\n"));
    CHECK_GE(stats.bytes_out, 300);
    site_close();
}
TEST(the_stats_say_what_has_been) {
    run_fibers(run_stats);
}

static struct {
    char text[1024];
    int count;
} entries; /* written on the connection's fiber before it says goodbye */

static void on_entry(const weft_http_entry *entry, void *arg) {
    CHECK(arg == &entries);
    CHECK(strncmp(entry->peer, "127.0.0.1:", 10) == 0);
    CHECK_GE(entry->took_ns, 0);
    snprintf(entries.text + strlen(entries.text), sizeof entries.text - strlen(entries.text), "%s %s %d %d\n",
             entry->method, entry->target, entry->status, (int)entry->body_bytes);
    entries.count++;
}

static void run_entries(void) {
    weft_http_options options = {.on_entry = on_entry, .arg = &entries};
    entries.text[0] = 0;
    site_open(&options);
    site_route("GET /", hello);
    site_route("POST /echo", echo);
    site_serve();
    struct client *client = client_open();
    client_ask(client, "GET", "/?a=%20", 200);
    client_ask(client, "HEAD", "/", 200);
    client_ask(client, "POST", "/", 405);
    client_send(client, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody");
    CHECK_BODY(client_receive(client, "POST"), "body");
    client_send(client, "rubbish\r\n\r\n");
    CHECK_EQ(client_receive(client, "GET")->status, 400);
    client_expect_end(client);
    client_close(client);
    site_close();
    CHECK_TEXT(entries.text, "GET /?a=%20 200 5\nHEAD / 200 0\nPOST / 405 23\nPOST /echo 200 4\n- - 400 16\n");
}
TEST(the_access_log_is_told_of_each_exchange) {
    run_fibers(run_entries);
}

/* ---- Servers ---- */

TEST(servers_say_what_they_cannot_be) {
    weft_http_server *server = NULL;
    static const weft_http_options bad[] = {
        {.idle_timeout = -1}, {.head_timeout = -1}, {.body_timeout = -1}, {.max_head = 10}, {.server_name = "a\nb"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_EQ(weft_http_server_new(&server, &bad[i]), -EINVAL);
    CHECK_EQ(weft_http_server_new(NULL, NULL), -EINVAL);
    CHECK(server == NULL);
    weft_http_server_free(NULL);
    CHECK_EQ(weft_http_server_stop(NULL, WEFT_NOW), -EINVAL);
    CHECK_EQ(weft_http_server_new(&server, NULL), 0);
    CHECK_EQ(weft_http_serve(server, (weft_fd){0}), -EPERM); /* on a plain thread */
    CHECK_EQ(weft_http_serve(NULL, (weft_fd){0}), -EINVAL);
    weft_http_server_free(server);
}

static void run_freed(void) {
    site_open(NULL);
    site_serve();
    struct client *client = client_open();
    client_ask(client, "GET", "/", 404);
    CHECK_EQ(weft_http_route(site.server, "GET /late", hello, NULL), -EBUSY);
    weft_http_server_free(site.server);
}
static void freed_child(void *arg) {
    (void)arg;
    run_fibers(run_freed);
}
TEST(a_server_is_not_freed_while_it_serves) {
    struct child_end end = child_run(freed_child, NULL);
    CHECK_CHILD_FATAL(&end, "an HTTP server was freed while it serves");
}
