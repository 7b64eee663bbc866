/* SPDX-License-Identifier: MIT
 *
 * spec/http_slow_test.c - clients that take their time: the server gives up on them, and on nobody else.
 *
 * Limits are a few milliseconds, and nothing here looks at a clock: what is too slow never goes on at all, or goes on for ever.
 * A second client, who asks quickly, is answered all the while.
 */
#include "support/http.h"

static atomic_int told; /* what the last handler was told */

static void hello(weft_http *http, void *arg) {
    (void)arg;
    CHECK_EQ(weft_http_reply(http, 200, NULL, "hello", 5), 0);
}

static void read_all(weft_http *http, void *arg) {
    (void)arg;
    char piece[100];
    ssize_t count;
    while ((count = weft_http_read(http, piece, sizeof piece)) > 0)
        continue;
    atomic_store(&told, (int)count);
    if (count == 0)
        CHECK_EQ(weft_http_reply(http, 200, NULL, "read", 4), 0);
}

/* More than any buffers on the way have room for. */
static void pour(weft_http *http, void *arg) {
    static const char bytes[65536];
    (void)arg;
    int error = 0;
    for (int i = 0; i < 4096 && !error; i++)
        error = weft_http_write(http, bytes, sizeof bytes);
    atomic_store(&told, error);
    CHECK(error != 0);
    CHECK_EQ(weft_http_write(http, bytes, 1), error); /* and it stays so */
    CHECK_EQ(weft_http_flush(http), error);
}

static void open_slow(const weft_http_options *options) {
    atomic_store(&told, 0);
    site_open(options);
    site_route("GET /", hello);
    site_route("POST /read", read_all);
    site_route("GET /pour", pour);
    site_serve();
}

static void check_other(void) {
    struct client *other = client_open();
    client_send(other, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    CHECK_EQ(client_receive(other, "GET")->status, 200);
    client_close(other);
}

/* ---- Heads ---- */

static const weft_http_options quick_head = {.head_timeout = 20 * WEFT_MILLISECOND};

static void slow_head(void) {
    static const char *const beginnings[] = {"G", "GET /", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX: "};
    open_slow(&quick_head);
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        struct client *client = client_open();
        client_send(client, beginnings[i]);
        struct answer *answer = client_receive(client, "GET");
        CHECK_EQ(answer->status, 408);
        CHECK(answer->says_close);
        client_expect_end(client);
        client_close(client);
        check_other();
    }
    CHECK_EQ(site_stats().refused, 4);
    site_close();
}
TEST(a_head_that_does_not_go_on_is_408) {
    run_fibers(slow_head);
}

static void dribble_head(void) {
    open_slow(&quick_head);
    struct client *client = client_open();
    client_send(client, "GET / HTTP/1.1\r\nHost: a\r\n");
    while (client_try_bytes(client, "X: y\r\n", 6) &&
           site_stats().refused == 0) /* always something, and never the end */
        CHECK_EQ(weft_sleep(weft_after(WEFT_MILLISECOND)), 0);
    int status = client_receive(client, "GET")->status;
    CHECK(status == 408 || status == 431); /* too slow, or too many: whichever is first */
    client_close(client);
    check_other();
    site_close();
}
TEST(a_head_that_goes_on_for_ever_is_refused) {
    run_fibers(dribble_head);
}

static void second_head(void) {
    open_slow(&quick_head);
    struct client *client = client_open();
    client_send(client, "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HT");
    CHECK_EQ(client_receive(client, "GET")->status, 200); /* it does not wait for the next one */
    CHECK_EQ(client_receive(client, "GET")->status, 408);
    client_expect_end(client);
    client_close(client);
    site_close();
}
TEST(a_second_head_that_does_not_go_on_is_408_too) {
    run_fibers(second_head);
}

static void idle_client(void) {
    weft_http_options options = {.idle_timeout = 20 * WEFT_MILLISECOND};
    open_slow(&options);
    struct client *fresh = client_open(), *used = client_open();
    client_send(used, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK_LE(client_receive(used, "GET")->status, 200); /* 0 when a slow machine has made it an idle one */
    client_expect_end(used);                            /* without a word: no request had begun */
    client_expect_end(fresh);
    CHECK_EQ(site_stats().refused, 0);
    client_close(fresh);
    client_close(used);
    site_close();
}
TEST(who_asks_for_nothing_is_closed) {
    run_fibers(idle_client);
}

/* ---- Bodies ---- */

static const weft_http_options quick_body = {.body_timeout = 20 * WEFT_MILLISECOND, .min_rate = 1 << 30};

static void slow_body(void) {
    static const char *const beginnings[] = {
        "POST /read HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n",
        "POST /read HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n012345678",
        "POST /read HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST /read HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n01",
        "POST /read HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n01234\r\n0\r\nA: b\r\n",
    };
    open_slow(&quick_body);
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        struct client *client = client_open();
        client_send(client, beginnings[i]);
        CHECK_EQ(client_receive(client, "POST")->status, 408);
        CHECK_EQ(atomic_load(&told), -ETIMEDOUT);
        client_expect_end(client);
        client_close(client);
        check_other();
    }
    site_close();
}
TEST(a_body_that_does_not_go_on_is_408) {
    run_fibers(slow_body);
}

static void waiting_body(void) {
    open_slow(&quick_body);
    struct client *client = client_open();
    client_send(client, "POST /read HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n");
    CHECK_EQ(client_receive(client, "POST")->status, 100);
    CHECK_EQ(client_receive(client, "POST")->status, 408);
    client_expect_end(client);
    client_close(client);
    site_close();
}
TEST(who_was_told_to_go_on_and_does_not_is_408) {
    run_fibers(waiting_body);
}

static void dribble_body(void) {
    open_slow(&quick_body);
    struct client *client = client_open();
    client_send(client, "POST /read HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    while (client_try_bytes(client, "1\r\nx\r\n", 6) && atomic_load(&told) == 0)
        CHECK_EQ(weft_sleep(weft_after(WEFT_MILLISECOND)), 0);
    CHECK_EQ(client_receive(client, "POST")->status, 408);
    client_close(client);
    check_other();
    site_close();
}
TEST(a_body_that_comes_drop_by_drop_is_408) {
    run_fibers(dribble_body);
}

/* Nobody reads it, and so it is read past: for so long. */
static void slow_ignored(void) {
    open_slow(&quick_body);
    struct client *client = client_open();
    client_send(client, "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n01");
    CHECK_EQ(client_receive(client, "GET")->status, 200);
    client_expect_end(client);
    client_close(client);
    site_close();
}
TEST(a_body_that_nobody_reads_has_its_time_as_well) {
    run_fibers(slow_ignored);
}

/* ---- Responses ---- */

static void slow_reader(void) {
    weft_http_options options = {.body_timeout = 20 * WEFT_MILLISECOND, .min_rate = 1 << 30};
    open_slow(&options);
    struct client *client = client_open();
    client_send(client, "GET /pour HTTP/1.1\r\nHost: a\r\n\r\n"); /* and does not read */
    WAIT_UNTIL(atomic_load(&told) != 0);
    CHECK_EQ(atomic_load(&told), -ETIMEDOUT);
    CHECK(client_receive(client, "GET")->is_cut); /* what has come is not all, and shows it */
    client_close(client);
    check_other();
    WAIT_UNTIL(site_stats().connections == 0);
    site_close();
}
TEST(who_does_not_read_the_response_loses_it) {
    run_fibers(slow_reader);
}

static void dribble_reader(void) {
    open_slow(&quick_body);
    struct client *client = client_open();
    char byte;
    client_send(client, "GET /pour HTTP/1.1\r\nHost: a\r\n\r\n");
    while (atomic_load(&told) == 0) {
        ssize_t count = weft_read(client->fd, &byte, 1, weft_after(PATIENCE_NS));
        CHECK(count == 1 || count == -ECONNRESET);
        CHECK_EQ(weft_sleep(weft_after(WEFT_MILLISECOND)), 0);
    }
    CHECK_EQ(atomic_load(&told), -ETIMEDOUT);
    client_close(client);
    check_other();
    site_close();
}
TEST(who_reads_drop_by_drop_loses_it_too) {
    run_fibers(dribble_reader);
}

/* Times that no addition may break. */
static void endless_times(void) {
    weft_http_options options = {.body_timeout = INT64_MAX, .head_timeout = INT64_MAX, .idle_timeout = INT64_MAX};
    open_slow(&options);
    struct client *client = client_open();
    client_send(client, "POST /read HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n");
    client_send(client, "body");
    CHECK_EQ(client_receive(client, "POST")->status, 200);
    client_send(client, "GET /pour HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK_EQ(client_byte(client), 'H');
    client_close(client);
    WAIT_UNTIL(atomic_load(&told) != 0);
    CHECK(atomic_load(&told) == -EPIPE || atomic_load(&told) == -ECONNRESET);
    site_close();
}
TEST(times_may_be_endless) {
    run_fibers(endless_times);
}
