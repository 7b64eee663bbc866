/* SPDX-License-Identifier: MIT
 *
 * spec/http_end_test.c - how serving ends: stops, cancellation, listeners that go, and how many are served at once.
 */
#include "spec/cancelled.h"
#include "spec/http_gate.h"

/* ---- Stops ---- */

static void stop_idle(void) {
    open_ends(NULL);
    site_serve();
    struct client *fresh = client_open(), *used = client_open();
    client_ask(used, "GET", "/", 200);
    WAIT_UNTIL(site_stats().accepted == 2);
    CHECK_EQ(weft_http_server_stop(site.server, WEFT_NEVER), 0);
    client_expect_end(fresh);
    client_expect_end(used);
    CHECK_EQ(site_stats().connections, 0);
    CHECK_EQ(weft_http_server_stop(site.server, WEFT_NEVER), 0); /* again */
    close_ends();
    CHECK_EQ(site.outcome, 0);
    client_close(fresh);
    client_close(used);
}
TEST(a_stop_closes_who_is_idle) {
    run_fibers(stop_idle);
}

static void check_finished(const char *target, const char *body) {
    int status = 1;
    open_ends(NULL);
    site_serve();
    struct client *client = client_at(target);
    weft_fiber fiber = spawn_parked(stopper, &status);
    gate_open();
    struct answer *answer = client_receive(client, "GET");
    CHECK_TEXT(answer->body, body);
    CHECK(!answer->is_cut);
    client_expect_end(client);
    JOIN(fiber, NULL);
    CHECK_EQ(status, 0);
    CHECK_EQ(atomic_load(&finished), 1);
    client_close(client);
    close_ends();
    CHECK_EQ(site.outcome, 0);
}
static void stop_busy(void) {
    check_finished("/wait", "waited");
    check_finished("/between", "onetwo");
}
TEST(a_stop_lets_those_finish_that_run) {
    run_fibers(stop_busy);
}

static void stop_says_so(void) {
    int status = 1;
    open_ends(NULL);
    site_serve();
    struct client *client = client_at("/wait");
    client_send(client, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); /* too late */
    weft_fiber fiber = spawn_parked(stopper, &status);
    gate_open();
    CHECK(client_receive(client, "GET")->says_close);
    client_expect_end(client);
    JOIN(fiber, NULL);
    CHECK_EQ(status, 0);
    client_close(client);
    close_ends();
}
TEST(who_is_answered_after_a_stop_learns_that_the_connection_closes) {
    run_fibers(stop_says_so);
}

static void stop_in_a_body(void) {
    int status = 1;
    open_ends(NULL);
    site_serve();
    struct client *client = client_open();
    client_send(client, "POST /read HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n01234");
    WAIT_UNTIL(atomic_load(&at_gate) == 1);
    weft_fiber fiber = spawn_parked(stopper, &status);
    client_send(client, "56789");
    struct answer *answer = client_receive(client, "POST");
    CHECK_TEXT(answer->body, "read");
    CHECK(answer->says_close);
    JOIN(fiber, NULL);
    CHECK_EQ(status, 0);
    client_close(client);
    close_ends();
}
TEST(a_stop_in_the_middle_of_a_body_waits_for_the_rest) {
    run_fibers(stop_in_a_body);
}

static void stop_too_late(void) {
    open_ends(NULL);
    site_serve();
    struct client *parked = client_at("/wait"), *begun = client_at("/between"), *reading = client_open();
    client_send(reading, "POST /read HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n01234");
    WAIT_UNTIL(atomic_load(&at_gate) == 3);
    CHECK_EQ(weft_http_server_stop(site.server, weft_after(1000000)), -ETIMEDOUT);
    CHECK_EQ(atomic_load(&told), -ECANCELED);
    CHECK_EQ(atomic_load(&finished), 2);
    CHECK(client_receive(begun, "GET")->is_cut);
    CHECK_EQ(site_stats().connections, 0);
    CHECK_EQ(weft_http_server_stop(site.server, WEFT_NOW), 0); /* nobody is left */
    client_close(parked);
    client_close(begun);
    client_close(reading);
    close_ends();
    CHECK_EQ(site.outcome, 0);
}
TEST(at_the_deadline_of_a_stop_the_rest_is_closed) {
    run_fibers(stop_too_late);
}

static void stop_elsewhere(void) {
    int statuses[2] = {1, 1};
    struct on_thread_call threads[2];
    open_ends(NULL);
    site_serve();
    struct client *client = client_at("/wait");
    for (int i = 0; i < 2; i++)
        on_thread_start(&threads[i], stopper, &statuses[i]);
    WAIT_UNTIL(site.outcome == 1);
    gate_open();
    CHECK_EQ(client_receive(client, "GET")->status, 200);
    for (int i = 0; i < 2; i++) {
        on_thread_finish(&threads[i]);
        CHECK_EQ(statuses[i], 0);
    }
    client_close(client);
    close_ends();
    CHECK_EQ(site.outcome, 0);
}
TEST(plain_threads_may_stop_and_several_at_once) {
    run_fibers(stop_elsewhere);
}

TEST(a_server_that_does_not_serve_can_be_stopped) {
    weft_http_server *server;
    CHECK_EQ(weft_http_server_new(&server, NULL), 0);
    CHECK_EQ(weft_http_server_stop(server, WEFT_NEVER), 0);
    CHECK_EQ(weft_http_server_stop(server, WEFT_NOW), 0);
    weft_http_server_free(server);
}

static void stop_before(void) {
    open_ends(NULL);
    CHECK_EQ(weft_http_server_stop(site.server, WEFT_NEVER), 0);
    CHECK_EQ(weft_http_serve(site.server, site.listener), 0); /* at once */
    site_free();
    weft_chan_free(gate);
}
TEST(a_stopped_server_does_not_serve) {
    run_fibers(stop_before);
}

static void *stop_never(void *opaque) {
    *(int *)opaque = weft_http_server_stop(site.server, WEFT_NEVER);
    return NULL;
}

static void stop_cancelled(void) {
    int status = 1;
    open_ends(NULL);
    site_serve();
    struct client *client = client_at("/wait");
    struct cancelled cancelled = {.fn = stop_never, .arg = &status};
    cancelled_run(&cancelled);
    CHECK_EQ(status, -ECANCELED);
    gate_open();
    CHECK_EQ(client_receive(client, "GET")->status, 200); /* it goes on stopping */
    client_expect_end(client);
    client_close(client);
    close_ends();
    CHECK_EQ(site.outcome, 0);
}
TEST(one_who_waits_for_a_stop_can_be_cancelled) {
    run_fibers(stop_cancelled);
}

/* ---- Serving ends otherwise ---- */

static void serve_cancelled(void) {
    struct cancelled cancelled = {.fn = site_fiber};
    open_ends(NULL);
    SPAWN(&site.fiber, cancelled_main, &cancelled);
    struct client *parked = client_at("/wait"), *idle = client_open();
    client_ask(idle, "GET", "/", 200);
    CHECK_EQ(weft_scope_cancel(atomic_load(&cancelled.scope), -ECANCELED, NULL), 0);
    client_expect_end(idle);
    close_ends();
    CHECK_EQ(site.outcome, -ECANCELED);
    CHECK_EQ(atomic_load(&told), -ECANCELED);
    client_close(parked);
    client_close(idle);
}
TEST(serving_ends_with_its_fiber_cancelled) {
    run_fibers(serve_cancelled);
}

static void listener_closed(void) {
    open_ends(NULL);
    site_serve();
    struct client *parked = client_at("/wait"), *idle = client_open();
    client_ask(idle, "GET", "/", 200);
    CHECK_EQ(weft_close(site.listener), 0);
    client_expect_end(idle);
    JOIN(site.fiber, NULL);
    CHECK_EQ(site.outcome, -EBADF);
    CHECK_EQ(atomic_load(&told), -ECANCELED);
    weft_http_server_free(site.server);
    weft_chan_free(gate);
    client_close(parked);
    client_close(idle);
}
TEST(serving_ends_with_its_listener_closed) {
    run_fibers(listener_closed);
}

static void *serve_other(void *opaque) {
    CHECK_EQ(weft_http_serve(site.server, *(weft_fd *)opaque), 0);
    return NULL;
}

static void two_listeners(void) {
    weft_fd other;
    weft_address first, second;
    weft_fiber fiber;
    open_ends(NULL);
    CHECK_EQ(weft_address_parse(&second, "127.0.0.1:0"), 0);
    CHECK_EQ(weft_listen(&other, &second, NULL), 0);
    CHECK_EQ(weft_local_address(other, &second), 0);
    site_serve();
    SPAWN(&fiber, serve_other, &other);
    struct client *one = client_open();
    first = site.where;
    site.where = second;
    struct client *two = client_open();
    site.where = first;
    client_ask(one, "GET", "/", 200);
    client_ask(two, "GET", "/", 200);
    CHECK_EQ(weft_http_server_stop(site.server, WEFT_NEVER), 0);
    client_expect_end(one);
    client_expect_end(two);
    JOIN(fiber, NULL);
    close_ends();
    CHECK_EQ(weft_close(other), 0);
    client_close(one);
    client_close(two);
}
TEST(one_server_serves_several_listeners) {
    run_fibers(two_listeners);
}

static int abandoned_first(void *arg) {
    (void)arg;
    open_ends(NULL);
    site_serve();
    struct client *parked = client_at("/wait"), *begun = client_at("/between"), *idle = client_open();
    client_ask(idle, "GET", "/", 200);
    client_close(parked);
    client_close(begun);
    client_close(idle);
    return 0;
}
TEST(a_runtime_that_abandons_its_fibers_leaves_no_connection) {
    weft_options options = {.abandon = true};
    CHECK_EQ(weft_run(&options, abandoned_first, NULL), 0);
    CHECK_EQ(site_stats().connections, 0);
    CHECK_EQ(weft_http_server_stop(site.server, WEFT_NEVER), 0); /* nobody serves any more */
    site_free();
    weft_chan_free(gate);
}

/* ---- How many ---- */

static void few_connections(void) {
    weft_http_options options = {.max_connections = 2};
    open_ends(&options);
    site_serve();
    struct client *first = client_at("/wait"), *second = client_at("/wait");
    struct client *third = client_open();
    client_send(third, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    for (int i = 0; i < 50; i++)
        weft_yield();
    CHECK_EQ(site_stats().connections, 2);
    CHECK_EQ(site_stats().accepted, 2);
    client_close(first);
    gate_open();
    CHECK_EQ(client_receive(third, "GET")->status, 200);
    CHECK_EQ(site_stats().accepted, 3);
    CHECK_EQ(client_receive(second, "GET")->status, 200);
    client_close(second);
    client_close(third);
    CHECK_EQ(weft_http_server_stop(site.server, WEFT_NEVER), 0);
    close_ends();
}
TEST(further_connections_wait_until_there_is_room) {
    run_fibers(few_connections);
}
