/* SPDX-License-Identifier: MIT
 *
 * spec/http_upgrade_test.c - connections that go on as something else.
 */
#include "support/http.h"

static atomic_int told;

/* Says what it was sent, in its own protocol: letters, until a full stop. */
static void talk(weft_http *http, void *arg) {
    (void)arg;
    weft_fd fd;
    const void *early;
    size_t size;
    char letters[100];
    CHECK_EQ(weft_http_set(http, "X-Extra", "1"), 0);
    int error = weft_http_upgrade(http, "letters", &fd, &early, &size);
    atomic_store(&told, error);
    if (error) {
        CHECK_EQ(weft_http_reply(http, 426, NULL, "no", 2), 0);
        return;
    }
    CHECK_EQ(weft_http_upgrade(http, "letters", &fd, &early, &size), -EALREADY);
    CHECK_EQ(weft_http_status(http, 200), -EALREADY);
    CHECK_LE(size, sizeof letters);
    memcpy(letters, early, size);
    while (size == 0 || !memchr(letters, '.', size)) {
        CHECK_EQ(weft_write_all(fd, letters, size, weft_after(PATIENCE_NS)), 0);
        ssize_t count = weft_read(fd, letters, sizeof letters, weft_after(PATIENCE_NS));
        if (count <= 0)
            break;
        size = (size_t)count;
    }
    CHECK_EQ(weft_write_all(fd, "!", 1, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(weft_close(fd), 0);
}

static void bad_calls(weft_http *http, void *arg) {
    (void)arg;
    weft_fd fd;
    const void *early;
    size_t size;
    CHECK_EQ(weft_http_upgrade(http, NULL, &fd, NULL, &size), -EINVAL);
    CHECK_EQ(weft_http_upgrade(http, "letters", NULL, &early, &size), -EINVAL);
    CHECK_EQ(weft_http_upgrade(http, "other", &fd, &early, &size), -EPROTO);
    CHECK_EQ(weft_http_reply(http, 200, NULL, "good", 4), 0);
    CHECK_EQ(weft_http_upgrade(http, "letters", &fd, &early, &size), -EALREADY);
}

static void open_talk(void) {
    atomic_store(&told, 1);
    site_open(NULL);
    site_route("/talk", talk);
    site_route("/bad", bad_calls);
    site_serve();
}

static void expect_letters(struct client *client, const char *letters) {
    for (; *letters; letters++)
        CHECK_EQ(client_byte(client), *letters);
}

static void run_whole_talk(void) {
    open_talk();
    struct client *client = client_open();
    client_send(client, "GET /talk HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: letters\r\n\r\nearly");
    CHECK_EQ(client_receive(client, "GET")->status, 101);
    expect_letters(client, "early");
    client_send(client, "late");
    expect_letters(client, "late");
    client_send(client, ".");
    expect_letters(client, "!");
    client_expect_end(client);
    client_close(client);
    WAIT_UNTIL(site_stats().connections == 0);
    site_close();
}
TEST(a_connection_is_handed_over_with_what_has_come) {
    run_fibers(run_whole_talk);
}

static void run_pipelined(void) {
    open_talk();
    struct client *client = client_open();
    client_send(client, "GET /none HTTP/1.1\r\nHost: a\r\n\r\n"
                        "GET /talk HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: letters\r\n\r\na.");
    CHECK_EQ(client_receive(client, "GET")->status, 404); /* before it */
    CHECK_EQ(client_receive(client, "GET")->status, 101);
    expect_letters(client, "!");
    client_expect_end(client);
    client_close(client);
    site_close();
}
TEST(what_was_answered_before_goes_first) {
    run_fibers(run_pipelined);
}

static void run_not_asked(void) {
    static const char *const requests[] = {
        "GET /talk HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /talk HTTP/1.1\r\nHost: a\r\nUpgrade: letters\r\n\r\n",
        "GET /talk HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\n\r\n",
        "GET /talk HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: letters2\r\n\r\n",
        "GET /talk HTTP/1.1\r\nHost: a\r\nConnection: upgraded\r\nUpgrade: letters\r\n\r\n",
        "POST /talk HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: letters\r\nContent-Length: 2\r\n\r\nab",
        "POST /talk HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: letters\r\nTransfer-Encoding: "
        "chunked\r\n\r\n0\r\n\r\n",
    };
    open_talk();
    struct client *client = client_open();
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        client_send(client, requests[i]);
        CHECK_EQ(client_receive(client, "GET")->status, 426);
        CHECK_EQ(atomic_load(&told), -EPROTO);
    }
    client_send(client, "GET /bad HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: letters\r\n\r\n");
    CHECK_BODY(client_receive(client, "GET"), "good");
    client_ask(client, "GET", "/none", 404); /* it stays what it was */
    client_send(client, "GET /talk HTTP/1.0\r\nConnection: upgrade\r\nUpgrade: letters\r\n\r\n");
    CHECK_EQ(client_receive(client, "GET")->status, 426);
    client_close(client);
    site_close();
}
TEST(who_does_not_ask_for_it_stays_with_http) {
    run_fibers(run_not_asked);
}

static void *stopper(void *opaque) {
    *(int *)opaque = weft_http_server_stop(site.server, weft_after(PATIENCE_NS));
    return NULL;
}

static void run_stopped(void) {
    int status = 1;
    open_talk();
    struct client *client = client_open();
    client_send(client, "GET /talk HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: letters\r\n\r\nearly");
    struct answer *answer = client_receive(client, "GET");
    CHECK_EQ(answer->status, 101);
    CHECK_TEXT(answer_header(answer, "X-Extra"), "1");
    CHECK(strcasecmp(answer_header(answer, "Upgrade"), "letters") == 0);
    CHECK(strcasecmp(answer_header(answer, "Connection"), "upgrade") == 0);
    expect_letters(client, "early");
    weft_fiber fiber = spawn_parked(stopper, &status);
    client_send(client, "late");
    expect_letters(client, "late");
    client_send(client, ".");
    JOIN(fiber, NULL);
    CHECK_EQ(status, 0);
    JOIN(site.fiber, NULL);
    CHECK_EQ(site.outcome, 0);
    client_close(client);
    site_free();
}
TEST(a_stop_waits_for_those_as_well) {
    run_fibers(run_stopped);
}
