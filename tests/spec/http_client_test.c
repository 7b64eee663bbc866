/* SPDX-License-Identifier: MIT
 *
 * spec/http_client_test.c - the contract of weft/http_client.h, against weft's own server: fetching, and bodies that are sent.
 */
#include "spec/http_client.h"

/* ---- Fetching ---- */

static void fetch_body(void) {
    weft_http_response *response;
    open_server(NULL);
    CHECK_EQ(weft_http_fetch(client, "GET", at("/hello/you"), NULL, 0, &response, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(weft_http_response_status(response), 200);
    CHECK_TEXT(header(response, "x-METHOD"), "GET");
    CHECK_TEXT(body_of(response), "Hello, you!");
    CHECK_TEXT(weft_http_response_url(response), at("/hello/you"));
    const char *name, *value;
    size_t count = 0;
    while (weft_http_response_header_at(response, count, &name, &value))
        count++;
    CHECK_GE(count, 2);
    CHECK(weft_http_response_header(response, "X-None") == NULL);
    CHECK(weft_http_response_trailer(response, "X-None") == NULL);
    char more[4];
    CHECK_EQ(weft_http_response_read(response, more, sizeof more, WEFT_NOW), 0);
    weft_http_response_close(response);
    CHECK_EQ(weft_http_fetch(client, "GET", at("/none"), NULL, 0, &response, WEFT_NEVER), 0);
    CHECK_EQ(weft_http_response_status(response), 404);
    weft_http_response_close(response);
    weft_http_response_close(NULL);
    close_server();
}
TEST(fetch_gives_status_headers_and_body) {
    run_fibers(fetch_body);
}

static void reuse_body(void) {
    open_server(NULL);
    for (int i = 0; i < 10; i++) {
        weft_http_response *response = must_open("GET", at("/hello/again"), NULL);
        CHECK_EQ(stats_now().idle, 0);
        CHECK_TEXT(body_of(response), "Hello, again!");
        CHECK_EQ(stats_now().idle, 1);
        weft_http_response_close(response);
    }
    CHECK_EQ(stats_now().opened, 1);
    CHECK_EQ(stats_now().reused, 9);
    CHECK_EQ(stats_now().requests, 10);
    CHECK_EQ(stats_now().repeated, 0);
    CHECK_EQ(weft_http_client_close_idle(client), 1);
    CHECK_EQ(weft_http_client_close_idle(client), 0);
    close_server();
}
TEST(a_connection_is_used_again) {
    run_fibers(reuse_body);
}

static void head_body(void) {
    open_server(NULL);
    weft_http_response *response = must_open("HEAD", at("/hello/you"), NULL);
    CHECK_EQ(weft_http_response_status(response), 200);
    CHECK_TEXT(body_of(response), "");
    weft_http_response_close(response);
    response = must_open("GET", at("/status/204"), NULL);
    CHECK_EQ(weft_http_response_size(response), 0);
    CHECK_EQ(stats_now().idle, 1); /* back before it is closed */
    weft_http_response_close(response);
    CHECK_EQ(stats_now().opened, 1);
    close_server();
}
TEST(answers_without_a_body_keep_the_connection) {
    run_fibers(head_body);
}

static void early_close_body(void) {
    char bytes[100];
    open_server(NULL);
    weft_http_response *response = must_open("GET", at("/bytes/8000000"), NULL);
    CHECK_EQ(weft_http_response_read(response, bytes, sizeof bytes, WEFT_NEVER), sizeof bytes);
    weft_http_response_close(response); /* too much is left */
    CHECK_EQ(stats_now().open, 0);
    response = must_open("GET", at("/bytes/20000"), NULL);
    size_t sum = 0;
    ssize_t count;
    while ((count = weft_http_response_read(response, bytes, 77, WEFT_NEVER)) > 0)
        sum += (size_t)count;
    CHECK_EQ(count, 0);
    CHECK_EQ(sum, 20000);
    CHECK_EQ(weft_http_response_read(response, bytes, 0, WEFT_NOW), 0);
    weft_http_response_close(response);
    CHECK_EQ(stats_now().idle, 1);
    close_server();
}
TEST(a_body_that_was_not_read_costs_the_connection) {
    run_fibers(early_close_body);
}

static void too_much_body(void) {
    weft_http_response *response;
    weft_http_client_options options = {.max_body = 10000};
    open_server(&options);
    CHECK_EQ(weft_http_fetch(client, "GET", at("/bytes/10000"), NULL, 0, &response, WEFT_NEVER), 0);
    weft_http_response_close(response);
    CHECK_EQ(weft_http_fetch(client, "GET", at("/bytes/10001"), NULL, 0, &response, WEFT_NEVER), -EMSGSIZE);
    CHECK_EQ(weft_http_fetch(client, "GET", at("/bytes/1000000"), NULL, 0, &response, WEFT_NEVER), -EMSGSIZE);
    close_server();
}
TEST(a_body_that_is_too_large_is_refused) {
    run_fibers(too_much_body);
}

/* ---- Bodies that are sent ---- */

static void send_body(void) {
    weft_http_response *response;
    weft_http_field default_field = {"X-Default", "d"};
    weft_http_client_options options = {.headers = &default_field, .header_count = 1};
    open_server(&options);
    weft_http_field fields[] = {{"X-Own", "mine"}, {"Content-Type", "text/plain"}, {"x-default", "other"}};
    weft_http_request request = {.headers = fields, .header_count = 2, .body = "some text", .body_size = 9};
    response = must_open("POST", at("/echo"), &request);
    CHECK_TEXT(body_of(response), "some text");
    CHECK_TEXT(header(response, "X-Saw-Content-Length"), "9");
    CHECK_TEXT(header(response, "X-Saw-X-Own"), "mine");
    CHECK_TEXT(header(response, "X-Saw-X-Default"), "d");
    weft_http_response_close(response);
    request.header_count = 3;
    response = must_open("PUT", at("/echo"), &request);
    CHECK_TEXT(header(response, "X-Saw-X-Default"), "other");
    weft_http_response_close(response);
    response = must_open("POST", at("/echo"), NULL);
    CHECK_TEXT(header(response, "X-Saw-Content-Length"), "0");
    weft_http_response_close(response);

    struct source source = {.text = "in several pieces", .step = 5};
    request = (weft_http_request){.read = source_read, .arg = &source};
    response = must_open("POST", at("/echo"), &request);
    CHECK_TEXT(body_of(response), "in several pieces");
    CHECK_TEXT(header(response, "X-Saw-Transfer-Encoding"), "chunked");
    weft_http_response_close(response);
    source_rewind(&source);
    request.length = strlen(source.text);
    response = must_open("POST", at("/echo"), &request);
    CHECK_TEXT(body_of(response), "in several pieces");
    CHECK_TEXT(header(response, "X-Saw-Content-Length"), "17");
    weft_http_response_close(response);
    CHECK_EQ(stats_now().opened, 1);
    close_server();
}
TEST(bodies_are_sent_from_memory_and_from_callbacks) {
    run_fibers(send_body);
}

static ssize_t panicking_read(void *buffer, size_t size, void *arg) {
    (void)buffer, (void)size, (void)arg;
    weft_panic("no body today");
}

static void send_wrong_body(void) {
    weft_http_response *response;
    open_server(NULL);
    struct source source = {.text = "0123456789", .step = 4};
    weft_http_request request = {.read = source_read, .arg = &source, .length = 9};
    CHECK_EQ(weft_http_request_open(client, "POST", at("/echo"), &request, &response, WEFT_NEVER), -EMSGSIZE);
    source_rewind(&source);
    request.length = 11;
    CHECK_EQ(weft_http_request_open(client, "POST", at("/echo"), &request, &response, WEFT_NEVER), -EMSGSIZE);
    source_rewind(&source);
    request.length = 0;
    source.error = -EILSEQ;
    CHECK_EQ(weft_http_request_open(client, "POST", at("/echo"), &request, &response, WEFT_NEVER), -EILSEQ);
    request.read = panicking_read;
    CHECK_EQ(weft_http_request_open(client, "POST", at("/echo"), &request, &response, WEFT_NEVER), -EOWNERDEAD);
    CHECK_EQ(stats_now().open, 0);
    close_server();
}
TEST(a_callback_that_fails_ends_the_request) {
    weft_options options = {.quiet = true};
    run_fibers_with(&options, send_wrong_body);
}

static void write_body(void) {
    open_server(NULL);
    for (int has_length = 0; has_length < 2; has_length++) {
        weft_http_request request = {.is_written = true, .length = has_length ? 10 : 0, .expects = has_length};
        weft_http_response *response = must_open("POST", at("/echo"), &request);
        CHECK_EQ(weft_http_response_status(response), 0);
        CHECK(weft_http_response_header(response, "Date") == NULL);
        CHECK_EQ(weft_http_request_write(response, "01234", 5, WEFT_NEVER), 0);
        CHECK_EQ(weft_http_request_write(response, NULL, 0, WEFT_NEVER), 0);
        CHECK_EQ(weft_http_request_write(response, NULL, 1, WEFT_NEVER), -EINVAL);
        CHECK_EQ(weft_http_request_write(response, "56789", 5, WEFT_NEVER), 0);
        if (has_length)
            CHECK_EQ(weft_http_request_write(response, "a", 1, WEFT_NEVER), -EMSGSIZE);
        CHECK_EQ(weft_http_request_end(response, WEFT_NEVER), 0);
        CHECK_EQ(weft_http_request_end(response, WEFT_NEVER), -EALREADY);
        CHECK_EQ(weft_http_request_write(response, "a", 1, WEFT_NEVER), -EALREADY);
        CHECK_TEXT(body_of(response), "0123456789");
        weft_http_response_close(response);
    }
    CHECK_EQ(stats_now().opened, 1);
    weft_http_request request = {.is_written = true, .length = 10};
    weft_http_response *response = must_open("POST", at("/echo"), &request);
    CHECK_EQ(weft_http_request_write(response, "01234", 5, WEFT_NEVER), 0);
    CHECK_EQ(weft_http_request_end(response, WEFT_NEVER), -EMSGSIZE);
    CHECK_EQ(weft_http_response_status(response), 0);
    char byte;
    CHECK_EQ(weft_http_response_read(response, &byte, 1, WEFT_NOW), -EMSGSIZE);
    weft_http_response_close(response);
    response = must_open("POST", at("/echo"), &request); /* never ended */
    weft_http_response_close(response);
    CHECK_EQ(stats_now().open, 0);
    close_server();
}
TEST(a_body_is_written_piece_by_piece) {
    run_fibers(write_body);
}

static void expect_body(void) {
    struct source source = {.text = "after being asked", .step = 100};
    open_server(NULL);
    weft_http_request request = {.body = "asked", .body_size = 5, .expects = true};
    weft_http_response *response = must_open("POST", at("/echo"), &request);
    CHECK_TEXT(body_of(response), "asked");
    weft_http_response_close(response);
    request = (weft_http_request){.read = source_read, .arg = &source, .expects = true};
    response = must_open("POST", at("/echo"), &request);
    CHECK_TEXT(body_of(response), "after being asked");
    weft_http_response_close(response);
    CHECK_EQ(stats_now().opened, 1);
    response = must_open("POST", at("/none"), &request); /* not asked for */
    CHECK_EQ(weft_http_response_status(response), 404);
    weft_http_response_close(response);
    close_server();
}
TEST(a_server_is_asked_before_the_body_is_sent) {
    run_fibers(expect_body);
}
