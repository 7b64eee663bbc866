/* SPDX-License-Identifier: MIT
 *
 * spec/http_peer_test.c - an HTTP client and servers that close, answer too early, or lead elsewhere.
 */
#include "spec/http_wire.h"

/* ---- Connections that die ---- */

/* Answers one request on each connection; what happens then is told by arg: 'e' the end, 'r' a reset once the next request comes,
 * 'd' the end once it comes. */
static void one_each(struct raw_server *self, int fd, int number) {
    char head[RAW_HEAD];
    char kind = *(const char *)self->arg;
    if (!raw_read_head(self, fd, head))
        return;
    raw_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    if (number > 0)
        kind = 'k';
    if (kind == 'e')
        return;
    if (kind == 'k') {
        while (raw_read_head(self, fd, head))
            raw_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        return;
    }
    (void)raw_read_head(self, fd, head);
    if (kind == 'r')
        raw_will_reset(fd);
}

struct letters {
    int left;
    int total;
};

static ssize_t read_letters(void *buffer, size_t size, void *opaque) {
    struct letters *letters = opaque;
    size_t count = letters->left < (int)size ? (size_t)letters->left : size;
    memset(buffer, 'a', count);
    letters->left -= (int)count;
    return (ssize_t)count;
}

static int rewind_letters(void *opaque) {
    struct letters *letters = opaque;
    letters->left = letters->total;
    return 0;
}

static void repeat_body(void) {
    struct letters letters = {.left = 10, .total = 10};
    const struct {
        const char *method;
        weft_http_request request;
        bool is_repeated;
    } cases[] = {
        {"GET", {.closes = false}, true},
        {"DELETE", {.closes = false}, true},
        {"PUT", {.body = "x", .body_size = 1}, true},
        {"POST", {.body = "x", .body_size = 1}, false},
        {"POST", {.closes = false}, false},
        {"POST", {.body = "x", .body_size = 1, .can_repeat = true}, true},
        {"POST", {.body = "x", .body_size = 1, .expects = true}, true}, /* it was never sent */
        {"PUT", {.read = read_letters, .rewind = rewind_letters, .arg = &letters}, true},
    };
    static char kinds[] = "rd";
    for (char *kind = kinds; *kind; kind++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            weft_http_response *response;
            server.arg = kind;
            rewind_letters(&letters);
            begin(one_each, NULL);
            CHECK_EQ(fetch(NULL, 0), 200);
            int error = open_with(cases[i].method, &cases[i].request, &response);
            CHECK_EQ(error, cases[i].is_repeated ? 0 : -ECONNRESET);
            if (!error)
                weft_http_response_close(response);
            CHECK_EQ(stats_now().repeated, cases[i].is_repeated);
            CHECK_EQ(stats_now().reused, 1);
            finish();
        }
}
TEST(a_request_on_a_connection_that_died_is_repeated_if_it_can_be) {
    run_fibers(repeat_body);
}

static bool peer_is_closed(int number) {
    pthread_mutex_lock(&server.lock);
    bool is_closed = server.peers[number].fd < 0;
    pthread_mutex_unlock(&server.lock);
    return is_closed;
}

static void dead_idle_body(void) {
    static char end[] = "e";
    weft_http_response *response;
    server.arg = end;
    begin(one_each, NULL);
    CHECK_EQ(fetch(NULL, 0), 200);
    WAIT_UNTIL(peer_is_closed(0));
    weft_http_request request = {.body = "x", .body_size = 1};
    CHECK_EQ(open_with("POST", &request, &response), 0); /* not tried on the dead one */
    weft_http_response_close(response);
    CHECK_EQ(stats_now().reused, 0);
    CHECK_EQ(stats_now().repeated, 0);
    CHECK_EQ(stats_now().opened, 2);
    finish();
}
TEST(a_connection_that_the_server_has_closed_is_noticed) {
    run_fibers(dead_idle_body);
}

/* ---- Uploads ---- */

enum { LARGE = 64 << 20 };  /* more than the kernel keeps between two sockets */
static atomic_bool is_read; /* the test has its answer */

/* Answers to the head and reads no body: 'w' until the test says so, 'c' never. */
static void refuse(struct raw_server *self, int fd, int number) {
    char head[RAW_HEAD];
    (void)number;
    if (!raw_read_head(self, fd, head))
        return;
    raw_send(fd, "HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nno\n");
    if (*(const char *)self->arg == 'w') {
        WAIT_UNTIL(atomic_load(&is_read));
        raw_await_end(fd);
    }
}

static void refuse_with(char *kind, const weft_http_request *request) {
    weft_http_response *response;
    server.arg = kind;
    atomic_store(&is_read, false);
    begin(refuse, NULL);
    int error = open_with("POST", request, &response);
    CHECK(error == 0 || (*kind == 'c' && error == -ECONNRESET)); /* where the server closes, its answer may be lost */
    if (!error) {
        CHECK_EQ(weft_http_response_status(response), 413);
        weft_http_response_close(response);
    }
    CHECK_EQ(stats_now().open, 0);
    atomic_store(&is_read, true);
    finish();
}

static void refuse_body(void) {
    static char kinds[] = "wc";
    struct letters letters = {.left = LARGE, .total = LARGE};
    char *large = calloc(1, LARGE);
    for (char *kind = kinds; *kind; kind++) {
        weft_http_request whole = {.body = large, .body_size = LARGE};
        weft_http_request streamed = {.read = read_letters, .arg = &letters};
        rewind_letters(&letters);
        refuse_with(kind, &whole);
        refuse_with(kind, &streamed);
    }
    free(large);
}
TEST(an_answer_that_comes_before_the_body_has_gone_ends_the_upload) {
    run_fibers(refuse_body);
}

static void refuse_writer_body(void) {
    static char waits[] = "w", piece[1000];
    weft_http_response *response;
    weft_http_request request = {.is_written = true};
    server.arg = waits;
    atomic_store(&is_read, false);
    begin(refuse, NULL);
    CHECK_EQ(open_with("POST", &request, &response), 0);
    int error = 0;
    while (!error)
        error = weft_http_request_write(response, piece, sizeof piece, weft_after(PATIENCE_NS));
    CHECK_EQ(error, -EPIPE);
    CHECK_EQ(weft_http_request_write(response, piece, sizeof piece, weft_after(PATIENCE_NS)), -EPIPE);
    CHECK_EQ(weft_http_request_end(response, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(weft_http_response_status(response), 413);
    weft_http_response_close(response);
    atomic_store(&is_read, true);
    finish();
}
TEST(who_writes_is_told_that_the_server_has_answered) {
    run_fibers(refuse_writer_body);
}

/* Does not know of Expect: 'n' reads the body without a word, '4' answers 417 and then does what it should. */
static void without_continue(struct raw_server *self, int fd, int number) {
    char head[RAW_HEAD], body[5];
    (void)number;
    while (raw_read_head(self, fd, head)) {
        if (*(const char *)self->arg == '4' && strstr(head, "Expect: 100-continue")) {
            raw_send(fd, "HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n");
            continue;
        }
        CHECK(strstr(head, "Content-Length: 5\r\n") != NULL);
        if (raw_read(fd, body, sizeof body))
            raw_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    }
}

static void without_continue_body(void) {
    static char kinds[] = "n4";
    weft_http_response *response;
    weft_http_client_options options = {.continue_timeout = WEFT_MILLISECOND};
    for (char *kind = kinds; *kind; kind++) {
        if (*kind == '4')
            options.continue_timeout = PATIENCE_NS;
        server.arg = kind;
        begin(without_continue, &options);
        weft_http_request request = {.body = "hello", .body_size = 5, .expects = true};
        CHECK_EQ(open_with("POST", &request, &response), 0);
        CHECK_EQ(weft_http_response_status(response), 200);
        weft_http_response_close(response);
        CHECK_EQ(stats_now().opened, *kind == '4' ? 2 : 1);
        finish();
    }
}
TEST(servers_that_do_not_know_of_continue_get_the_body_too) {
    run_fibers(without_continue_body);
}

/* ---- Servers that never end ---- */

/* '1': heads that do not count. 'x': a chunk whose head is all extension. 'b': a body, in small chunks. */
static void endless(struct raw_server *self, int fd, int number) {
    char head[RAW_HEAD], rest[6 * 600];
    char kind = *(const char *)self->arg;
    (void)number;
    if (!raw_read_head(self, fd, head))
        return;
    for (size_t i = 0; i < sizeof rest; i += 6)
        memcpy(rest + i, kind == 'x' ? "xxxxxx" : "1\r\nx\r\n", 6);
    bool goes_on = true;
    if (kind != '1')
        goes_on = raw_send(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    if (kind == 'x')
        goes_on = goes_on && raw_send(fd, "5;");
    while (goes_on)
        goes_on = kind == '1' ? raw_send(fd, "HTTP/1.1 102 Processing\r\n\r\n") : raw_send_bytes(fd, rest, sizeof rest);
}

static void endless_body(void) {
    static char kinds[] = "1xb";
    weft_http_client_options options = {.max_body = UINT64_C(1) << 40};
    for (char *kind = kinds; *kind; kind++) {
        weft_http_response *response;
        server.arg = kind;
        begin(endless, &options);
        weft_time deadline = weft_after(*kind == '1' ? PATIENCE_NS : 5 * WEFT_MILLISECOND);
        CHECK_EQ(weft_http_fetch(client, "GET", server.url, NULL, 0, &response, deadline),
                 *kind == '1' ? -EBADMSG : -ETIMEDOUT);
        if (*kind != '1') { /* nor does closing read it to its end */
            CHECK_EQ(open_with("GET", NULL, &response), 0);
            weft_http_response_close(response);
        }
        CHECK_EQ(stats_now().open, 0);
        finish();
    }
}
TEST(a_server_that_never_ends_does_not_outlast_the_deadline) {
    run_fibers(endless_body);
}

/* The redirect is well, but not its body; what comes afterwards is. */
static void bad_redirect(struct raw_server *self, int fd, int number) {
    char head[RAW_HEAD];
    (void)number;
    while (raw_read_head(self, fd, head))
        raw_send(fd, strstr(head, "/next")
                         ? "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
                         : "HTTP/1.1 302 Found\r\nLocation: /next\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n");
}

static void bad_redirect_body(void) {
    char body[8];
    begin(bad_redirect, NULL);
    CHECK_EQ(fetch(body, sizeof body), 200);
    CHECK_TEXT(body, "ok");
    CHECK_EQ(stats_now().opened, 2);
    finish();
}
TEST(the_body_of_a_redirect_does_not_matter) {
    run_fibers(bad_redirect_body);
}

/* Says yes to the head, and wants the body all the same. */
static void eager(struct raw_server *self, int fd, int number) {
    char head[RAW_HEAD];
    (void)number;
    if (raw_read_head(self, fd, head)) {
        raw_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        raw_await_end(fd);
    }
}

static void eager_body(void) {
    weft_http_response *response;
    weft_http_request request = {.is_written = true};
    begin(eager, NULL);
    for (int is_ended = 0; is_ended < 2; is_ended++) {
        CHECK_EQ(open_with("POST", &request, &response), 0);
        for (int i = 0; i < 100; i++)
            CHECK_EQ(weft_http_request_write(response, "text", 4, weft_after(PATIENCE_NS)), 0);
        if (is_ended) {
            CHECK_EQ(weft_http_request_end(response, weft_after(PATIENCE_NS)), 0);
            CHECK_EQ(weft_http_response_status(response), 200);
        }
        weft_http_response_close(response);
        CHECK_EQ(stats_now().idle, is_ended); /* in the middle of a body it is of no use to anybody */
        CHECK_EQ(stats_now().open, is_ended);
    }
    finish();
}
TEST(a_body_that_was_not_ended_costs_the_connection) {
    run_fibers(eager_body);
}

/* ---- Other origins, other protocols ---- */

static void redirect_elsewhere(struct raw_server *self, int fd, int number) {
    char head[RAW_HEAD], answer[256];
    (void)number;
    while (raw_read_head(self, fd, head)) {
        CHECK(strstr(head, "Authorization: Basic dXNlcjpwYSBzcw==\r\n") != NULL);
        CHECK(strstr(head, "Cookie: a=b\r\n") != NULL);
        CHECK(strstr(head, "Host: other.test\r\n") != NULL);
        snprintf(answer, sizeof answer, "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: %s/there\r\n\r\n",
                 (const char *)self->arg);
        raw_send(fd, answer);
    }
}

static void elsewhere_body(void) {
    static struct raw_server first;
    char url[128];
    weft_http_response *response;
    weft_http_field fields[] = {{"Cookie", "a=b"}, {"X-Own", "c"}, {"Host", "other.test"}};
    weft_http_request request = {.headers = fields, .header_count = 3};
    script_text("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    begin(play, NULL);
    first.arg = server.url;
    raw_server_start(&first, redirect_elsewhere);
    snprintf(url, sizeof url, "http://user:pa%%20ss@127.0.0.1:%u/here", first.port);
    script_set();
    CHECK_EQ(weft_http_request_open(client, "GET", url, &request, &response, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(weft_http_response_status(response), 200);
    CHECK(head_had("GET /there HTTP/1.1\r\n"));
    CHECK(head_had("X-Own: c\r\n"));
    CHECK(!head_had("Cookie"));
    CHECK(!head_had("Authorization"));
    CHECK(!head_had("other.test"));
    snprintf(url, sizeof url, "%s/there", server.url);
    CHECK_TEXT(weft_http_response_url(response), url);
    weft_http_response_close(response);
    CHECK_EQ(stats_now().idle, 2);
    weft_http_client_close_idle(client);
    raw_server_stop(&first);
    finish();
}
TEST(what_belongs_to_an_origin_does_not_go_to_another) {
    run_fibers(elsewhere_body);
}

static void upgrade(struct raw_server *self, int fd, int number) {
    char head[RAW_HEAD], bytes[4];
    (void)number;
    if (!raw_read_head(self, fd, head))
        return;
    CHECK(strstr(head, "Connection: Upgrade\r\nUpgrade: tea\r\n") != NULL);
    raw_send(fd, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: tea\r\nConnection: Upgrade\r\n\r\nmilk");
    if (raw_read(fd, bytes, 4) && memcmp(bytes, "ping", 4) == 0)
        raw_send(fd, "pong");
}

static void upgrade_body(void) {
    weft_http_response *response;
    weft_fd fd;
    const void *extra;
    size_t size;
    char bytes[16], name[] = "tea";
    weft_http_request request = {.upgrade = name};
    begin(upgrade, NULL);
    CHECK_EQ(open_with("GET", &request, &response), 0);
    CHECK_EQ(weft_http_response_status(response), 101);
    CHECK_TEXT(weft_http_response_header(response, "Upgrade"), "tea");
    CHECK_EQ(weft_http_response_take(response, &fd, NULL, &size), -EINVAL);
    CHECK_EQ(weft_http_response_take(response, &fd, &extra, &size), 0);
    CHECK_EQ(weft_http_response_take(response, &fd, &extra, &size), -EINVAL);
    CHECK_LE(size, 4);
    memcpy(bytes, extra, size);
    CHECK_EQ(weft_read_full(fd, bytes + size, 4 - size, NULL, weft_after(PATIENCE_NS)), 4 - size);
    CHECK(memcmp(bytes, "milk", 4) == 0);
    CHECK_EQ(stats_now().open, 0);
    weft_http_response_close(response);
    CHECK_EQ(weft_write_all(fd, "ping", 4, WEFT_NEVER), 0);
    CHECK_EQ(weft_read_full(fd, bytes, 4, NULL, weft_after(PATIENCE_NS)), 4);
    CHECK(memcmp(bytes, "pong", 4) == 0);
    CHECK_EQ(weft_close(fd), 0);
    CHECK_EQ(open_with("GET", &request, &response), 0); /* not taken */
    weft_http_response_close(response);
    CHECK_EQ(stats_now().open, 0);
    finish();
    script_text("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    begin(play, NULL);
    CHECK_EQ(open_with("GET", &request, &response), 0); /* not granted */
    CHECK_EQ(weft_http_response_take(response, &fd, &extra, &size), -EINVAL);
    weft_http_response_close(response);
    finish();
}
TEST(an_upgrade_hands_over_the_connection) {
    run_fibers(upgrade_body);
}
