/* SPDX-License-Identifier: MIT
 *
 * spec/http_meanwhile_test.c - handlers that wait for something else as well, and ends of exchanges that are not the usual one.
 */
#include "support/http.h"
#include "weft/http_client.h"

static weft_semaphore orders; /* what a handler waits for besides its client */
static atomic_int stage;      /* how far it has come */
static atomic_int outcome;

static void reset(void) {
    orders = (weft_semaphore){0};
    atomic_store(&stage, 0);
    atomic_store(&outcome, 1);
}

/* Reads, and answers each order by the number of bytes so far, between two pieces. */
static void interrupted(weft_http *http, void *arg) {
    char piece[16];
    ssize_t count;
    size_t total = 0;
    (void)arg;
    weft_case order = weft_on_semaphore(&orders);
    atomic_store(&stage, 1);
    while ((count = weft_http_read_or(http, piece, sizeof piece, &order)) != 0) {
        if (count > 0) {
            total += (size_t)count;
            atomic_store(&stage, 1 + (int)total);
            continue;
        }
        CHECK_EQ(count, -EINTR);
        CHECK_EQ(order.status, 0);
        CHECK_EQ(weft_http_print(http, "%zu;", total), 0);
        CHECK_EQ(weft_http_flush(http), 0);
    }
    CHECK_EQ(weft_http_print(http, "%zu.", total), 0);
}

static void expect_chunk(struct client *client, const char *text) {
    char line[64];
    CHECK(client_line(client, line, sizeof line));
    CHECK_EQ(strtoul(line, NULL, 16), strlen(text));
    CHECK(client_line(client, line, sizeof line));
    CHECK_TEXT(line, text);
}

static void run_reads(void) {
    reset();
    site_open(NULL);
    site_route("POST /", interrupted);
    site_serve();
    struct client *client = client_open();
    client_send(client, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    WAIT_UNTIL(atomic_load(&stage) == 1);
    weft_semaphore_release(&orders, 1); /* while nothing has come */
    CHECK(client_head(client));
    expect_chunk(client, "0;");
    client_send(client, "5\r\nhello\r\n6"); /* and half of the next one's size */
    WAIT_UNTIL(atomic_load(&stage) == 6);
    weft_semaphore_release(&orders, 1);
    expect_chunk(client, "5;");
    client_send(client, "\r\nworlds\r\n0\r\n\r\n");
    expect_chunk(client, "11.");
    client_close(client);
    site_close();
}

TEST(a_read_ends_for_another_case_and_goes_on_where_it_was) {
    run_fibers(run_reads);
}

/* Waits for the end of its client, or for somebody else. */
static void watchful(weft_http *http, void *arg) {
    (void)arg;
    weft_case order = weft_on_semaphore(&orders);
    CHECK_EQ(weft_http_await_end(http, NULL), -EINVAL);
    atomic_store(&stage, 1);
    int error = weft_http_await_end(http, &order);
    atomic_store(&outcome, error);
    weft_http_reply(http, 200, NULL, "seen", 4);
}

static void run_watch(void) {
    reset();
    site_open(NULL);
    site_route("GET /", watchful);
    site_serve();
    struct client *client = client_open();
    client_send(client, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    WAIT_UNTIL(atomic_load(&stage) == 1);
    weft_semaphore_release(&orders, 1);
    CHECK_BODY(client_receive(client, "GET"), "seen");
    CHECK_EQ(atomic_load(&outcome), -EINTR);
    atomic_store(&stage, 0);
    client_send(client, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    WAIT_UNTIL(atomic_load(&stage) == 1);
    client_say_end(client); /* half of it: the answer still comes */
    CHECK_BODY(client_receive(client, "GET"), "seen");
    CHECK_EQ(atomic_load(&outcome), 0);
    client_expect_end(client);
    client_close(client);
    client = client_open();
    atomic_store(&stage, 0);
    client_send(client, "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n");
    WAIT_UNTIL(atomic_load(&stage) == 1);
    client_say_end(client);             /* behind a further request: nobody sees it */
    weft_semaphore_release(&orders, 2); /* or the second one does */
    CHECK_BODY(client_receive(client, "GET"), "seen");
    CHECK_BODY(client_receive(client, "GET"), "seen");
    client_close(client);
    site_close();
}

TEST(a_handler_can_wait_for_the_end_of_its_client) {
    run_fibers(run_watch);
}

/* ---- Ends ---- */

static void finishes_first(weft_http *http, void *arg) {
    char piece[16];
    (void)arg;
    CHECK_EQ(weft_http_write(http, "early", 5), 0);
    CHECK_EQ(weft_http_finish(http), 0);
    CHECK_EQ(weft_http_write(http, "late", 4), -EALREADY);
    ssize_t count, total = 0;
    while ((count = weft_http_read(http, piece, sizeof piece)) > 0)
        total += count;
    atomic_store(&outcome, (int)total);
}

static void run_finish(void) {
    reset();
    site_open(NULL);
    site_route("POST /", finishes_first);
    site_serve();
    struct client *client = client_open();
    client_send(client, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n");
    CHECK_BODY(client_receive(client, "POST"), "early"); /* whole, before the body has been sent */
    client_send(client, "body");
    WAIT_UNTIL(atomic_load(&outcome) == 4);
    client_send(client, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nxy");
    CHECK_BODY(client_receive(client, "POST"), "early");
    client_close(client);
    site_close();
}

TEST(a_response_can_be_finished_before_the_body_is_read) {
    run_fibers(run_finish);
}

static void cuts(weft_http *http, void *arg) {
    (void)arg;
    if (weft_http_query(http)[0]) {
        CHECK_EQ(weft_http_write(http, "half", 4), 0);
        CHECK_EQ(weft_http_flush(http), 0);
    }
    weft_http_cut(http);
}

static void run_cut(void) {
    site_open(NULL);
    site_route("GET /", cuts);
    site_serve();
    struct client *client = client_open();
    client_send(client, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK_EQ(client_receive(client, "GET")->status, 0);
    client_close(client);
    client = client_open();
    client_send(client, "GET /?half HTTP/1.1\r\nHost: a\r\n\r\n");
    struct answer *answer = client_receive(client, "GET");
    CHECK_EQ(answer->status, 200);
    CHECK(answer->is_cut);
    client_close(client);
    site_close();
}

TEST(what_is_cut_off_does_not_look_like_an_end) {
    run_fibers(run_cut);
}

static void closes(weft_http *http, void *arg) {
    (void)arg;
    CHECK_EQ(weft_http_reason(http, NULL), -EINVAL);
    CHECK_EQ(weft_http_reason(http, "a\nb"), -EINVAL);
    CHECK_EQ(weft_http_reason(http, "Quite So"), 0);
    CHECK_EQ(weft_http_set_trailer(http, "X-Sum", "1"), -EPROTO); /* nobody knows yet how the body goes */
    CHECK_EQ(weft_http_close(http), 0);
    CHECK_EQ(weft_http_write(http, "x", 1), 0);
    CHECK_EQ(weft_http_close(http), -EALREADY);
    CHECK_EQ(weft_http_reason(http, "late"), -EALREADY);
    CHECK_EQ(weft_http_set_trailer(http, "X Sum", "1"), -EINVAL);
    CHECK_EQ(weft_http_set_trailer(http, "Content-Length", "1"), -EINVAL);
    CHECK_EQ(weft_http_set_trailer(http, "X-Sum", "1"), 0);
    CHECK_EQ(weft_http_set_trailer(http, "X-More", "2"), 0);
}

static void fixed(weft_http *http, void *arg) {
    (void)arg;
    CHECK_EQ(weft_http_set(http, "Content-Length", "1"), 0);
    CHECK_EQ(weft_http_write(http, "x", 1), 0);
    CHECK_EQ(weft_http_set_trailer(http, "X-Sum", "1"), -EPROTO);
}

static void run_close(void) {
    site_open(NULL);
    site_route("GET /", closes);
    site_route("GET /fixed", fixed);
    site_serve();
    char url[32 + WEFT_ADDRESS_TEXT], where[WEFT_ADDRESS_TEXT];
    CHECK_GE(weft_address_format(&site.where, where, sizeof where), 0);
    snprintf(url, sizeof url, "http://%s/", where);
    weft_http_client *client;
    weft_http_response *response;
    const char *name, *value;
    CHECK_EQ(weft_http_client_new(&client, NULL), 0);
    CHECK_EQ(weft_http_fetch(client, "GET", url, NULL, 0, &response, weft_after(PATIENCE_NS)), 0);
    CHECK_TEXT(weft_http_response_reason(response), "Quite So");
    CHECK_TEXT(weft_http_response_header(response, "Connection"), "close");
    CHECK(weft_http_response_trailer_at(response, 0, &name, &value));
    CHECK_TEXT(name, "X-Sum");
    CHECK_TEXT(value, "1");
    CHECK(weft_http_response_trailer_at(response, 1, NULL, &value));
    CHECK_TEXT(value, "2");
    CHECK(!weft_http_response_trailer_at(response, 2, &name, &value));
    weft_http_response_close(response);
    strcat(url, "fixed");
    CHECK_EQ(weft_http_fetch(client, "GET", url, NULL, 0, &response, weft_after(PATIENCE_NS)), 0);
    CHECK_TEXT(weft_http_response_reason(response), "OK");
    weft_http_response_close(response);
    weft_http_client_free(client);
    site_close();
}

TEST(reasons_trailers_and_a_connection_that_ends_with_its_response) {
    run_fibers(run_close);
}

static void reads_trailers(weft_http *http, void *arg) {
    char piece[16];
    const char *name, *value;
    (void)arg;
    CHECK(!weft_http_trailer_at(http, 0, &name, &value)); /* not before the body */
    while (weft_http_read(http, piece, sizeof piece) > 0)
        continue;
    CHECK(weft_http_trailer_at(http, 0, &name, &value));
    CHECK_EQ(weft_http_print(http, "%s=%s", name, value), 0);
    CHECK(!weft_http_trailer_at(http, 1, &name, &value));
}

static void run_trailers(void) {
    site_open(NULL);
    site_route("POST /", reads_trailers);
    site_serve();
    struct client *client = client_open();
    client_send(client,
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nSum: 7\r\n\r\n");
    CHECK_BODY(client_receive(client, "POST"), "Sum=7");
    client_close(client);
    site_close();
}

TEST(trailers_of_a_request_can_be_gone_through) {
    run_fibers(run_trailers);
}

static void hangs(weft_http *http, void *arg) {
    (void)arg;
    weft_case order = weft_on_semaphore(&orders);
    atomic_store(&stage, 1);
    atomic_store(&outcome, weft_http_await_end(http, &order));
}

static void quick(weft_http *http, void *arg) {
    (void)arg;
    weft_http_reply(http, 200, NULL, "q", 1);
}

static void run_drop(void) {
    reset();
    site_open(NULL);
    site_route("GET /", quick);
    site_route("GET /hangs", hangs);
    site_serve();
    CHECK_EQ(weft_http_server_drop(NULL, true), -EINVAL);
    struct client *idle = client_open(), *busy = client_open();
    CHECK_BODY(client_ask(idle, "GET", "/", 200), "q");
    client_send(busy, "GET /hangs HTTP/1.1\r\nHost: a\r\n\r\n");
    WAIT_UNTIL(atomic_load(&stage) == 1);
    int dropped = 0;
    WAIT_UNTIL((dropped += weft_http_server_drop(site.server, true)) == 1); /* it becomes idle a moment later */
    client_expect_end(idle);
    CHECK_EQ(atomic_load(&outcome), 1);
    CHECK_EQ(weft_http_server_drop(site.server, false), 1);
    client_expect_end(busy);
    WAIT_UNTIL(atomic_load(&outcome) == 0);
    client_close(idle);
    client_close(busy);
    idle = client_open(); /* it serves on */
    CHECK_BODY(client_ask(idle, "GET", "/", 200), "q");
    client_close(idle);
    site_close();
}

TEST(connections_can_be_dropped_while_the_server_goes_on) {
    run_fibers(run_drop);
}

/* ---- A connection that is taken over, unanswered ---- */

static void takes(weft_http *http, void *arg) {
    weft_fd fd;
    const void *early;
    size_t size;
    (void)arg;
    CHECK_EQ(weft_http_upgrade(http, NULL, &fd, &early, &size), 0);
    CHECK_EQ(size, 3);
    CHECK_EQ(weft_write_all(fd, "own words", 9, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(weft_close(fd), 0);
}

static void run_take(void) {
    site_open(NULL);
    site_route("GET /", takes);
    site_serve();
    struct client *client = client_open();
    client_send(client, "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: anything\r\n\r\nxyz");
    for (const char *at = "own words"; *at; at++)
        CHECK_EQ(client_byte(client), *at);
    client_expect_end(client);
    client_close(client);
    site_close();
}

TEST(a_connection_can_be_taken_over_without_an_answer) {
    run_fibers(run_take);
}
