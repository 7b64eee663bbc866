/* SPDX-License-Identifier: MIT
 *
 * spec/http_wait_test.c - every place where an HTTP client waits: deadline, timeout, cancellation, the server gone.
 *
 * The server stalls at one stage, until it is released or the client has gone.
 */
#include "spec/http_wire.h"
#include "support/io.h" /* plain threads wait too */
#include "support/parked.h"

/* What the client waits for. */
enum stage { AT_ROOM, AT_CONNECT, AT_HEAD, AT_BODY, AT_CONTINUE, AT_UPLOAD, AT_WRITE, STAGES };

enum { LARGE = 64 << 20, WAITING = 8 }; /* LARGE: more than the kernel keeps between two sockets */

static atomic_int stage;
static atomic_bool is_released;
static char *large;

static void stall(struct raw_server *self, int fd, int number) {
    char head[RAW_HEAD];
    (void)number;
    while (raw_read_head(self, fd, head)) {
        if (atomic_load(&stage) == AT_BODY)
            raw_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello");
        WAIT_UNTIL(atomic_load(&is_released));
        if (atomic_load(&stage) == AT_BODY)
            raw_send(fd, "world");
        else
            raw_await_end(fd);
    }
}

/* A port on which nobody accepts, with as many connections as it takes. */
struct full {
    int listener;
    int waiting[WAITING];
    char url[64];
};

static void full_open(struct full *full) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    full->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_EQ(bind(full->listener, (struct sockaddr *)&address, sizeof address), 0);
    CHECK_EQ(listen(full->listener, 0), 0);
    CHECK_EQ(getsockname(full->listener, (struct sockaddr *)&address, &size), 0);
    for (int i = 0; i < WAITING; i++) {
        full->waiting[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        (void)connect(full->waiting[i], (struct sockaddr *)&address, sizeof address);
    }
    snprintf(full->url, sizeof full->url, "http://127.0.0.1:%u/", ntohs(address.sin_port));
}

static void full_close(const struct full *full) {
    for (int i = 0; i < WAITING; i++)
        close(full->waiting[i]);
    close(full->listener);
}

/* One exchange that waits at the stage. The error that ended the waiting. */
static int wait_at(const char *url, weft_time deadline) {
    weft_http_response *response;
    int now = atomic_load(&stage);
    weft_http_request request = {.is_written = now == AT_WRITE, .expects = now == AT_CONTINUE};
    if (now == AT_UPLOAD || now == AT_CONTINUE) {
        request.body = large;
        request.body_size = now == AT_UPLOAD ? LARGE : 5;
    }
    int error = weft_http_request_open(client, request.body_size || request.is_written ? "POST" : "GET", url, &request,
                                       &response, deadline);
    if (error)
        return error;
    const void *bytes;
    size_t size;
    if (now == AT_WRITE) {
        while (!error)
            error = weft_http_request_write(response, large, 100000, deadline);
        CHECK_EQ(weft_http_request_end(response, deadline), error);
    } else {
        CHECK_EQ(now, AT_BODY);
        error = weft_http_response_body(response, &bytes, &size, deadline);
    }
    weft_http_response_close(response);
    return error;
}

/* Somebody who has all the room there is. */
static weft_http_response *holder;
static struct full full;

static const char *stage_begin(int now, const weft_http_client_options *options) {
    atomic_store(&is_released, false);
    atomic_store(&stage, now == AT_ROOM ? AT_BODY : now);
    holder = NULL;
    begin(stall, options);
    if (now == AT_ROOM)
        CHECK_EQ(open_with("GET", NULL, &holder), 0);
    if (now == AT_CONNECT)
        full_open(&full);
    return now == AT_CONNECT ? full.url : server.url;
}

static void stage_end(int now) {
    if (holder)
        weft_http_response_close(holder);
    CHECK_EQ(stats_now().open, 0);
    atomic_store(&is_released, true);
    finish();
    if (now == AT_CONNECT)
        full_close(&full);
}

static const weft_http_client_options patient = {
    .max_per_host = 1,
    .connect_timeout = PATIENCE_NS,
    .head_timeout = PATIENCE_NS,
    .body_timeout = PATIENCE_NS,
    .continue_timeout = PATIENCE_NS,
};

static void deadline_body(void) {
    large = calloc(1, LARGE);
    for (int now = 0; now < STAGES; now++) {
        const char *url = stage_begin(now, &patient);
        CHECK_EQ(wait_at(url, weft_after(5 * WEFT_MILLISECOND)), -ETIMEDOUT);
        CHECK_EQ(wait_at(url, WEFT_NOW), -ETIMEDOUT);
        stage_end(now);
    }
    free(large);
}
TEST(every_wait_ends_at_the_deadline) {
    run_fibers(deadline_body);
}

static void timeout_body(void) {
    weft_http_client_options options = {
        .connect_timeout = PATIENCE_NS, .head_timeout = PATIENCE_NS, .body_timeout = PATIENCE_NS};
    large = calloc(1, LARGE);
    for (int now = AT_CONNECT; now < STAGES; now++) {
        weft_http_client_options hasty = options;
        if (now == AT_CONNECT)
            hasty.connect_timeout = WEFT_MILLISECOND;
        else if (now == AT_HEAD || now == AT_CONTINUE)
            hasty.head_timeout = hasty.continue_timeout = WEFT_MILLISECOND;
        else
            hasty.body_timeout = 10 * WEFT_MILLISECOND;
        const char *url = stage_begin(now, &hasty);
        CHECK_EQ(wait_at(url, WEFT_NEVER), -ETIMEDOUT);
        stage_end(now);
    }
    free(large);
}
TEST(every_wait_has_a_timeout) {
    run_fibers(timeout_body);
}

struct waiting {
    const char *url;
    _Atomic(weft_scope *) scope;
    int outcome;
};

static void *wait_in_scope(void *opaque) {
    struct waiting *waiting = opaque;
    weft_scope *scope;
    CHECK_EQ(weft_scope_open(&scope, NULL), 0);
    atomic_store(&waiting->scope, scope);
    waiting->outcome = wait_at(waiting->url, weft_after(PATIENCE_NS));
    weft_scope_close(scope);
    return NULL;
}

/* A fiber that waits at the stage, and not before it. */
static weft_fiber stage_wait(struct waiting *waiting, int now) {
    weft_fiber fiber;
    SPAWN(&fiber, wait_in_scope, waiting);
    if (now != AT_CONNECT && now != AT_ROOM)
        WAIT_UNTIL(atomic_load(&server.requests) == 1);
    wait_parked(fiber);
    return fiber;
}

static void cancel_body(void) {
    large = calloc(1, LARGE);
    for (int now = 0; now < STAGES; now++) {
        struct waiting waiting = {.url = stage_begin(now, &patient)};
        weft_fiber fiber = stage_wait(&waiting, now);
        CHECK_EQ(weft_scope_cancel(atomic_load(&waiting.scope), -ECANCELED, NULL), 0);
        JOIN(fiber, NULL);
        CHECK_EQ(waiting.outcome, -ECANCELED);
        stage_end(now);
    }
    free(large);
}
TEST(every_wait_can_be_cancelled) {
    run_fibers(cancel_body);
}

static void gone_body(void) {
    large = calloc(1, LARGE);
    for (int now = AT_HEAD; now < STAGES; now++) {
        struct waiting waiting = {.url = stage_begin(now, &patient)};
        weft_fiber fiber = stage_wait(&waiting, now);
        raw_server_hang_up(&server);
        JOIN(fiber, NULL);
        CHECK_EQ(waiting.outcome, -ECONNRESET);
        stage_end(now);
    }
    free(large);
}
TEST(every_wait_ends_when_the_server_has_gone) {
    run_fibers(gone_body);
}

static void resume_body(void) {
    weft_http_response *response;
    const void *bytes;
    size_t size;
    char first[2];
    (void)stage_begin(AT_BODY, &patient);
    CHECK_EQ(open_with("GET", NULL, &response), 0);
    CHECK_EQ(weft_http_response_read(response, first, sizeof first, weft_after(PATIENCE_NS)), sizeof first);
    CHECK_EQ(weft_http_response_body(response, &bytes, &size, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    CHECK_EQ(weft_http_response_read(response, first, sizeof first, WEFT_NOW), -ETIMEDOUT);
    atomic_store(&is_released, true);
    CHECK_EQ(weft_http_response_body(response, &bytes, &size, weft_after(PATIENCE_NS)), 0);
    CHECK_TEXT((const char *)bytes, "lloworld");
    weft_http_response_close(response);
    CHECK_EQ(stats_now().idle, 1);
    finish();
}
TEST(a_body_goes_on_after_a_deadline) {
    run_fibers(resume_body);
}

TEST(a_plain_thread_is_a_client_too) {
    char body[16];
    script_text("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    begin(play, NULL);
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(fetch(body, sizeof body), 200);
        CHECK_TEXT(body, "ok");
    }
    CHECK_EQ(stats_now().opened, 1);
    finish();
    const char *url = stage_begin(AT_HEAD, &patient);
    CHECK_EQ(wait_at(url, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    stage_end(AT_HEAD);
}
