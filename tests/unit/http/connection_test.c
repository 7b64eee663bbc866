/* SPDX-License-Identifier: MIT
 *
 * unit/http/connection_test.c - what a connection does at its end and while it is idle, seen from inside: whether it lingers, and
 * that it is closed in time after its stack was cut back.
 */
#include "base/point.h"
#include "support/http.h"

static atomic_int lingers, trims;

static void count_points(const char *name) {
    if (strcmp(name, "http.linger") == 0)
        atomic_fetch_add(&lingers, 1);
    if (strcmp(name, "http.trimmed") == 0)
        atomic_fetch_add(&trims, 1);
}

static void hello(weft_http *http, void *arg) {
    (void)arg;
    CHECK_EQ(weft_http_reply(http, 200, NULL, "hello", 5), 0);
}

static void hello_and_close(weft_http *http, void *arg) {
    CHECK_EQ(weft_http_close(http), 0);
    hello(http, arg);
}

static void open_site(const weft_http_options *options) {
    atomic_store(&lingers, 0);
    atomic_store(&trims, 0);
    site_open(options);
    site_route("GET /", hello);
    site_route("GET /close", hello_and_close);
    site_serve();
}

/* The hook is set, and taken back, while there are no other threads. */
static void run_hooked(void (*body)(void)) {
    wf_point_hook = count_points;
    run_fibers(body);
    wf_point_hook = NULL;
}

/* How often the connection lingers after the answer to that. */
static void check_lingers(const char *request, int times) {
    struct client *client = client_open();
    int before = atomic_load(&lingers);
    client_send(client, request);
    CHECK_TEXT(client_receive(client, "GET")->body, "hello");
    client_expect_end(client);
    client_close(client);
    WAIT_UNTIL(site_stats().connections == 0);
    CHECK_EQ(atomic_load(&lingers) - before, times);
}

static void ends(void) {
    open_site(NULL);
    check_lingers("GET /close HTTP/1.1\r\nHost: a\r\n\r\n", 1);
    check_lingers("GET /close HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", 1);
    check_lingers("GET / HTTP/1.0\r\n\r\n", 0);
    check_lingers("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 0);
    check_lingers("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nGET", 1);
    site_close();
}
TEST(only_who_may_still_send_is_waited_for) {
    run_hooked(ends);
}

/* A test's stack is cut back after 20 ms; then the limit begins, so it is not early. */
static void idle(void) {
    weft_http_options options = {.idle_timeout = 40 * WEFT_MILLISECOND};
    open_site(&options);
    weft_time before = weft_now();
    struct client *client = client_open();
    client_expect_end(client);
    CHECK_GE(weft_now(), before + options.idle_timeout);
    CHECK_GE(atomic_load(&trims), 1);
    client_close(client);
    WAIT_UNTIL(site_stats().connections == 0);
    site_close();
}
TEST(an_idle_connection_is_cut_back_and_then_closed) {
    run_hooked(idle);
}
