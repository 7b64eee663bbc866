/* SPDX-License-Identifier: MIT
 *
 * spec/http_leave_test.c - how answers end otherwise than meant: handlers that panic, leave, say too little or are cut off, clients
 * that go or ask for more; and who is waited for before a connection is closed.
 */
#include "spec/http_gate.h"

/* ---- Handlers that do not return ---- */

static void panic_first(weft_http *http, void *arg) {
    (void)arg;
    CHECK_EQ(weft_http_status(http, 201), 0);
    CHECK_EQ(weft_http_set(http, "X-Secret", "1"), 0);
    weft_panic("before");
}
static void panic_later(weft_http *http, void *arg) {
    (void)arg;
    CHECK_EQ(weft_http_write(http, "some", 4), 0);
    CHECK_EQ(weft_http_flush(http), 0);
    weft_panic("later");
}
static void panic_unsent(weft_http *http, void *arg) {
    (void)arg;
    CHECK_EQ(weft_http_write(http, "some", 4), 0); /* collected, as a chunk whose size is not known yet */
    weft_panic("unsent");
}
static void write_less(weft_http *http, void *arg) {
    (void)arg;
    CHECK_EQ(weft_http_set(http, "Content-Length", "10"), 0);
    CHECK_EQ(weft_http_write(http, "less", 4), 0);
}
static void leave_it(weft_http *http, void *arg) {
    (void)http, (void)arg;
    weft_exit((void *)-5);
}
static void leave_later(weft_http *http, void *arg) {
    (void)arg;
    CHECK_EQ(weft_http_write(http, "some", 4), 0);
    weft_exit(NULL);
}

static void leave_flushed(weft_http *http, void *arg) {
    (void)arg;
    CHECK_EQ(weft_http_write(http, "some", 4), 0);
    CHECK_EQ(weft_http_flush(http), 0);
    weft_exit(NULL);
}

/* What was answered before it is answered; another connection does not notice. Only who leaves by weft_exit takes with it what
 * was not sent. */
static void check_leaves(const char *target, int status, bool exits) {
    struct client *client = client_open(), *other = client_open();
    char requests[256];
    client_ask(other, "GET", "/", 200);
    snprintf(requests, sizeof requests, "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET %s HTTP/1.1\r\nHost: a\r\n\r\n%s", target,
             "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    client_send(client, requests);
    struct answer *answer = client_receive(client, "GET");
    CHECK(exits || strcmp(answer->body, "hello") == 0);
    if (!exits) {
        answer = client_receive(client, "GET");
        CHECK(status == 0 || answer->status == status);
        CHECK_EQ(answer->is_cut, status != 500 && answer->status != 0);
    }
    CHECK(answer_header(answer, "X-Secret") == NULL);
    client_expect_end(client);
    client_close(client);
    client_ask(other, "GET", "/", 200);
    client_close(other);
}

/* A body without a length is over when the connection is, and a client must not take this for that. */
static void check_stream_cut(const char *target) {
    char request[100];
    struct client *client = client_open();
    snprintf(request, sizeof request, "GET %s HTTP/1.0\r\nHost: a\r\n\r\n", target);
    client_send(client, request);
    struct answer *answer = client_receive(client, "GET");
    CHECK_EQ(answer->status, 200);
    CHECK(answer->is_cut);
    CHECK_EQ(client->error, -ECONNRESET);
    client_close(client);
}

static weft_http *_Atomic under_way;

static void wait_to_be_cut(weft_http *http, void *arg) {
    atomic_store(&under_way, http);
    wait_between(http, arg);
}

/* However it is cut off in the middle: by one, or with all others. */
static void check_cut_off(bool with_others) {
    struct client *client = client_open();
    gate_shut();
    client_send(client, "GET /cut HTTP/1.0\r\nHost: a\r\n\r\n");
    WAIT_UNTIL(atomic_load(&at_gate) == 1);
    if (with_others)
        CHECK_EQ(weft_http_server_drop(site.server, false), 1);
    else
        weft_http_cut(atomic_load(&under_way));
    struct answer *answer = client_receive(client, "GET");
    CHECK_EQ(answer->status, 200);
    CHECK_TEXT(answer->body, "one");
    CHECK(answer->is_cut);
    CHECK_EQ(client->error, -ECONNRESET);
    gate_open();
    WAIT_UNTIL(site_stats().connections == 0);
    client_close(client);
    weft_chan_free(gate);
}

static void cut_streams(void) {
    open_ends(NULL);
    weft_chan_free(gate);
    site_route("GET /cut", wait_to_be_cut);
    site_serve();
    check_cut_off(false);
    check_cut_off(true);
    CHECK_EQ(weft_http_server_stop(site.server, WEFT_NEVER), 0);
    JOIN(site.fiber, NULL);
    site_free();
}
TEST(a_body_without_a_length_that_is_cut_off_does_not_look_whole) {
    run_fibers(cut_streams);
}

static void leaving_handlers(void) {
    open_ends(NULL);
    site_route("GET /panic", panic_first);
    site_route("GET /later", panic_later);
    site_route("GET /unsent", panic_unsent);
    site_route("GET /less", write_less);
    site_route("GET /exit", leave_it);
    site_route("GET /leave", leave_later);
    site_route("GET /flushed", leave_flushed);
    site_serve();
    for (int i = 0; i < 3; i++) {
        check_leaves("/panic", 500, false);
        check_leaves("/later", 200, false);
        check_leaves("/unsent", 200, false);
        check_leaves("/less", 0, false);
        check_leaves("/exit", 0, true);
        check_leaves("/leave", 0, true);
        check_stream_cut("/later");
        check_stream_cut("/flushed");
    }
    WAIT_UNTIL(site_stats().connections == 0);
    CHECK_EQ(weft_http_server_stop(site.server, WEFT_NEVER), 0);
    close_ends();
    CHECK_EQ(site.outcome, 0);
}
TEST(a_handler_that_panics_leaves_or_says_too_little_costs_its_connection) {
    run_fibers(leaving_handlers);
}

static void client_leaves(void) {
    open_ends(NULL);
    site_serve();
    struct client *client = client_open();
    client_send(client, "POST /read HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n01234");
    WAIT_UNTIL(atomic_load(&at_gate) == 1);
    client_close(client);
    WAIT_UNTIL(site_stats().connections == 0);
    CHECK_EQ(atomic_load(&told), -ECONNRESET);
    client = client_open();
    struct linger at_once = {.l_onoff = 1};
    client_send(client, "POST /read HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n012");
    WAIT_UNTIL(atomic_load(&at_gate) == 2);
    CHECK_EQ(setsockopt(weft_fd_number(client->fd), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
    client_close(client); /* by a reset */
    WAIT_UNTIL(site_stats().connections == 0);
    CHECK_EQ(atomic_load(&told), -ECONNRESET);
    client = client_at("/between");
    client_close(client);
    gate_open();
    WAIT_UNTIL(atomic_load(&finished) == 1);
    CHECK_EQ(weft_http_server_stop(site.server, WEFT_NEVER), 0);
    close_ends();
}
TEST(a_handler_learns_that_its_client_has_gone) {
    run_fibers(client_leaves);
}

static void wait_then_close(weft_http *http, void *arg) {
    CHECK_EQ(weft_http_close(http), 0);
    CHECK_EQ(weft_http_set(http, "Content-Length", "6"), 0);
    wait_between(http, arg);
}

/* The next request has come by the time that the server closes, and nobody reads it. */
static void check_ends_well(const char *target, int minor) {
    char text[100];
    struct client *client = client_open();
    gate_shut();
    snprintf(text, sizeof text, "GET %s HTTP/1.%d\r\nHost: a\r\n\r\n", target, minor);
    client_send(client, text);
    WAIT_UNTIL(atomic_load(&at_gate) == 1);
    client_send(client, text);
    gate_open();
    CHECK_BODY(client_receive(client, "GET"), "onetwo");
    CHECK(!client->answer.is_cut);
    client_expect_end(client);
    CHECK_EQ(client->error, 0);
    client_close(client);
    WAIT_UNTIL(site_stats().connections == 0);
    weft_chan_free(gate);
}

static void unread_requests(void) {
    open_ends(NULL);
    weft_chan_free(gate);
    site_route("GET /close", wait_then_close);
    site_serve();
    check_ends_well("/between", 0);
    check_ends_well("/close", 1);
    CHECK_EQ(weft_http_server_stop(site.server, WEFT_NEVER), 0);
    JOIN(site.fiber, NULL);
    site_free();
}
TEST(an_answer_that_ends_the_connection_ends_well_though_more_has_come) {
    run_fibers(unread_requests);
}

/* Its head has gone before the stop, so the client does not know, and asks again: what it has been answered has to reach it. */
static void asks_during_a_stop(void) {
    int status = 1;
    open_ends(NULL);
    site_serve();
    struct client *client = client_at("/between");
    weft_fiber fiber = spawn_parked(stopper, &status);
    client_send(client, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    gate_open();
    CHECK_BODY(client_receive(client, "GET"), "onetwo");
    CHECK(!client->answer.says_close);
    client_expect_end(client);
    CHECK_EQ(client->error, 0);
    JOIN(fiber, NULL); /* though the client stays */
    CHECK_EQ(status, 0);
    client_close(client);
    close_ends();
}
TEST(who_asks_again_during_a_stop_has_its_answer_and_an_end) {
    run_fibers(asks_during_a_stop);
}

/* It would wait for two seconds more; but it is idle. */
static void stop_meets_lingering(void) {
    open_ends(NULL);
    site_route("GET /close", wait_then_close);
    site_serve();
    struct client *client = client_at("/close");
    gate_open();
    CHECK_BODY(client_receive(client, "GET"), "onetwo");
    client_expect_end(client);
    WAIT_UNTIL(weft_http_server_drop(site.server, true) == 1);
    WAIT_UNTIL(site_stats().connections == 0);
    CHECK_EQ(weft_http_server_stop(site.server, WEFT_NEVER), 0);
    client_close(client);
    close_ends();
}
TEST(a_connection_that_lingers_is_idle) {
    run_fibers(stop_meets_lingering);
}
