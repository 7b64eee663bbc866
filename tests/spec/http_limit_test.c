/* SPDX-License-Identifier: MIT
 *
 * spec/http_limit_test.c - the same: redirects, limits of connections, and wrong use.
 */
#include "spec/http_client.h"
#include "support/child.h"

/* ---- Redirects ---- */

static void redirect_body(void) {
    static const struct {
        int status;
        const char *method, *becomes;
        bool with_body;
    } cases[] = {
        {301, "POST", "GET", false},  {302, "POST", "GET", false}, {303, "PUT", "GET", false},
        {307, "POST", "POST", true},  {308, "PUT", "PUT", true},   {303, "GET", "GET", false},
        {302, "HEAD", "HEAD", false},
    };
    open_server(NULL);
    weft_http_field type = {"Content-Type", "text/plain"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[64];
        bool sends = cases[i].method[0] == 'P';
        weft_http_request request = {.headers = &type, .header_count = 1, .body = "body", .body_size = sends ? 4 : 0};
        snprintf(path, sizeof path, "/status/%d?../echo", cases[i].status);
        weft_http_response *response = must_open(cases[i].method, at(path), &request);
        CHECK_EQ(weft_http_response_status(response), 200);
        CHECK_TEXT(header(response, "X-Method"), cases[i].becomes);
        CHECK_TEXT(body_of(response), cases[i].with_body ? "body" : "");
        CHECK_TEXT(header(response, "X-Saw-Content-Type"), cases[i].with_body ? "text/plain" : "(none)");
        CHECK_TEXT(weft_http_response_url(response), at("/echo"));
        weft_http_response_close(response);
    }
    CHECK_EQ(stats_now().opened, 1);
    CHECK_EQ(stats_now().redirects, sizeof cases / sizeof *cases);
    close_server();
}
TEST(redirects_are_followed) {
    run_fibers(redirect_body);
}

static void redirect_end_body(void) {
    weft_http_client_options options = {.max_redirects = 3};
    weft_http_response *response;
    open_server(&options);
    CHECK_EQ(weft_http_fetch(client, "GET", at("/circle"), NULL, 0, &response, WEFT_NEVER), -ELOOP);
    CHECK_EQ(stats_now().requests, 4);
    CHECK_EQ(stats_now().opened, 1);
    close_server();
}
static void redirect_wrong_body(void) {
    static const struct {
        const char *path;
        int error;
    } cases[] = {
        {"/status/302?https://127.0.0.1/", -EPROTONOSUPPORT},
        {"/status/302?ftp://127.0.0.1/", -EPROTONOSUPPORT},
        {"/status/302?http://127.0.0.1:99999/", -EBADMSG},
        {"/status/302?http://", -EBADMSG},
    };
    weft_http_response *response;
    open_server(NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_EQ(weft_http_fetch(client, "GET", at(cases[i].path), NULL, 0, &response, WEFT_NEVER), cases[i].error);
    response = must_open("GET", at("/status/302"), NULL); /* to nowhere */
    CHECK_EQ(weft_http_response_status(response), 302);
    CHECK_TEXT(body_of(response), "moved");
    weft_http_response_close(response);
    weft_http_request keeps = {.keeps_redirect = true};
    response = must_open("GET", at("/status/302?/echo"), &keeps);
    CHECK_EQ(weft_http_response_status(response), 302);
    CHECK_TEXT(header(response, "Location"), "/echo");
    weft_http_response_close(response);
    struct source source = {.text = "once", .step = 3};
    weft_http_request once = {.read = source_read, .arg = &source};
    response = must_open("POST", at("/status/307?/echo"), &once); /* cannot be had again */
    CHECK_EQ(weft_http_response_status(response), 307);
    weft_http_response_close(response);
    source_rewind(&source);
    once.rewind = source_rewind;
    response = must_open("POST", at("/status/307?/echo"), &once);
    CHECK_TEXT(body_of(response), "once");
    CHECK_EQ(source.rewinds, 2);
    weft_http_response_close(response);
    weft_http_request written = {.is_written = true};
    response = must_open("POST", at("/status/303?/echo"), &written);
    (void)weft_http_request_write(response, "x", 1, WEFT_NEVER);
    CHECK_EQ(weft_http_request_end(response, WEFT_NEVER), 0);
    CHECK_TEXT(header(response, "X-Method"), "GET");
    weft_http_response_close(response);
    close_server();
}
TEST(redirects_in_a_circle_end) {
    run_fibers(redirect_end_body);
}
TEST(redirects_to_nowhere_are_errors_or_answers) {
    run_fibers(redirect_wrong_body);
}

/* ---- Limits ---- */

static atomic_int done_count;

static void *fetch_one(void *arg) {
    weft_http_response *response;
    CHECK_EQ(weft_http_fetch(client, "POST", at("/echo"), arg, strlen(arg), &response, weft_after(PATIENCE_NS)), 0);
    CHECK_TEXT(body_of(response), (const char *)arg);
    CHECK_LE(stats_now().open, 3);
    weft_http_response_close(response);
    atomic_fetch_add(&done_count, 1);
    return NULL;
}

static void limit_body(void) {
    enum { FIBERS = 40 };
    weft_http_client_options options = {.max_per_host = 3};
    weft_fiber fibers[FIBERS];
    char texts[FIBERS][32];
    open_server(&options);
    atomic_store(&done_count, 0);
    for (int i = 0; i < FIBERS; i++) {
        snprintf(texts[i], sizeof texts[i], "text %d", i);
        SPAWN(&fibers[i], fetch_one, texts[i]);
    }
    for (int i = 0; i < FIBERS; i++)
        JOIN(fibers[i], NULL);
    CHECK_EQ(atomic_load(&done_count), FIBERS);
    CHECK_LE(stats_now().opened, FIBERS);
    CHECK_EQ(stats_now().opened + stats_now().reused, FIBERS);
    CHECK_LE(stats_now().idle, 3);
    close_server();
}
TEST(more_requests_than_connections_wait_for_them) {
    run_fibers(limit_body);
}

static void full_body(void) {
    weft_http_client_options options = {.max_per_host = 1, .max_connections = 1};
    weft_http_response *other;
    open_server(&options);
    weft_http_response *response = must_open("GET", at("/bytes/8000000"), NULL);
    CHECK_EQ(weft_http_fetch(client, "GET", at("/hello/you"), NULL, 0, &other, weft_after(WEFT_MILLISECOND)),
             -ETIMEDOUT);
    CHECK_EQ(weft_http_fetch(client, "GET", at("/hello/you"), NULL, 0, &other, WEFT_NOW), -ETIMEDOUT);
    weft_http_response_close(response);
    CHECK_EQ(weft_http_fetch(client, "GET", at("/hello/you"), NULL, 0, &other, WEFT_NEVER), 0);
    weft_http_response_close(other);
    char name[2 * TEXT]; /* another origin: the idle connection makes room */
    snprintf(name, sizeof name, "http://localhost:%s/hello/you", strrchr(base, ':') + 1);
    CHECK_EQ(weft_http_fetch(client, "GET", name, NULL, 0, &other, WEFT_NEVER), 0);
    weft_http_response_close(other);
    CHECK_EQ(stats_now().open, 1);
    close_server();
}
TEST(a_client_that_is_full_waits_and_idle_ones_make_room) {
    run_fibers(full_body);
}

static void idle_body(void) {
    weft_http_client_options options = {.idle_timeout = 1};
    open_server(&options);
    for (int i = 0; i < 3; i++) {
        weft_http_response *response = must_open("GET", at("/hello/you"), NULL);
        CHECK_TEXT(body_of(response), "Hello, you!");
        weft_http_response_close(response);
        CHECK_EQ(weft_sleep(weft_after(WEFT_MILLISECOND)), 0);
    }
    CHECK_EQ(stats_now().opened, 3);
    CHECK_LE(stats_now().open, 1);
    close_server();
}
TEST(a_connection_that_was_idle_for_too_long_is_not_used) {
    run_fibers(idle_body);
}

static void stopped_body(void) {
    weft_http_response *response;
    open_server(NULL);
    CHECK_EQ(weft_http_fetch(client, "GET", at("/hello/you"), NULL, 0, &response, WEFT_NEVER), 0);
    weft_http_response_close(response);
    CHECK_EQ(weft_http_server_stop(server, WEFT_NEVER), 0);
    JOIN(serving, NULL);
    CHECK_EQ(weft_close(listener), 0);
    CHECK_EQ(weft_http_fetch(client, "GET", at("/hello/you"), NULL, 0, &response, WEFT_NEVER), -ECONNREFUSED);
    CHECK_EQ(stats_now().open, 0);
    weft_http_client_free(client);
    weft_http_server_free(server);
}
TEST(a_server_that_has_gone_is_told) {
    run_fibers(stopped_body);
}

/* ---- Wrong use ---- */

static void wrong_body(void) {
    static const char *const urls[] = {"",           "/path",        "http://",       "http:///path",   "http://a b/",
                                       "http://a:0", "http://a:b/",  "http://[::1/",  "http://a/\r\nb", "127.0.0.1/",
                                       "http://@/",  "http://a/%zz", "http://a\\@b/", "http://a/\x7f"};
    static const char *const names[] = {"", "A B", "A:", "Content-Length", "connection", "Upgrade", "X\r\n"};
    weft_http_response *response = NULL;
    open_server(NULL);
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++)
        CHECK_EQ(weft_http_fetch(client, "GET", urls[i], NULL, 0, &response, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_http_fetch(client, "GET", "https://127.0.0.1/", NULL, 0, &response, WEFT_NEVER), -EPROTONOSUPPORT);
    CHECK_EQ(weft_http_fetch(client, "GET", "file:///etc/passwd", NULL, 0, &response, WEFT_NEVER), -EPROTONOSUPPORT);
    CHECK_EQ(weft_http_fetch(client, "G T", base, NULL, 0, &response, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_http_fetch(client, "", base, NULL, 0, &response, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_http_fetch(client, "CONNECT", base, NULL, 0, &response, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_http_fetch(NULL, "GET", base, NULL, 0, &response, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_http_fetch(client, NULL, base, NULL, 0, &response, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_http_fetch(client, "GET", NULL, NULL, 0, &response, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_http_fetch(client, "GET", base, NULL, 0, NULL, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_http_fetch(client, "POST", base, NULL, 1, &response, WEFT_NEVER), -EINVAL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        weft_http_field field = {names[i], "1"};
        weft_http_request request = {.headers = &field, .header_count = 1};
        CHECK_EQ(weft_http_request_open(client, "GET", base, &request, &response, WEFT_NEVER), -EINVAL);
    }
    weft_http_field split = {"X", "a\r\nb: c"};
    weft_http_request requests[] = {
        {.headers = &split, .header_count = 1},
        {.headers = NULL, .header_count = 1},
        {.read = source_read, .is_written = true},
        {.body = "a", .body_size = 1, .is_written = true},
        {.length = 5},
        {.upgrade = "web socket"},
        {.upgrade = "websocket", .closes = true},
    };
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        CHECK_EQ(weft_http_request_open(client, "POST", base, &requests[i], &response, WEFT_NEVER), -EINVAL);
    CHECK(response == NULL);
    CHECK_EQ(stats_now().requests, 0);
    close_server();
}
TEST(what_cannot_be_sent_is_refused) {
    run_fibers(wrong_body);
}

TEST(options_are_checked) {
    weft_http_client *made = NULL;
    weft_http_client_options wrong[] = {
        {.idle_timeout = -1}, {.head_timeout = -1}, {.max_head = 10}, {.max_head = 1 << 30}, {.header_count = 1},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK_EQ(weft_http_client_new(&made, &wrong[i]), -EINVAL);
    CHECK_EQ(weft_http_client_new(NULL, NULL), -EINVAL);
    CHECK(made == NULL);
    CHECK_EQ(weft_http_client_close_idle(NULL), -EINVAL);
    CHECK_EQ(weft_http_client_get_stats(NULL, NULL), -EINVAL);
    CHECK_EQ(weft_http_request_write(NULL, "", 0, WEFT_NOW), -EINVAL);
    CHECK_EQ(weft_http_request_end(NULL, WEFT_NOW), -EINVAL);
    CHECK_EQ(weft_http_response_read(NULL, NULL, 0, WEFT_NOW), -EINVAL);
    weft_http_client_free(NULL);
}

static void free_too_early_body(void) {
    open_server(NULL);
    (void)must_open("GET", at("/hello/you"), NULL);
    weft_http_client_free(client);
}
static void free_too_early(void *arg) {
    (void)arg;
    run_fibers(free_too_early_body);
}
TEST(freeing_a_client_with_open_responses_is_fatal) {
    struct child_end end = child_run(free_too_early, NULL);
    CHECK_CHILD_FATAL(&end, "an HTTP client was freed while responses of it are open");
}
