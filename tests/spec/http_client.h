/* SPDX-License-Identifier: MIT
 *
 * spec/http_client.h - a client, and weft's own server for it, on a fiber.
 *
 *     open_server(NULL);
 *     weft_http_response *response = must_open("GET", at("/hello/you"), NULL);
 *     ...
 *     close_server();
 *
 * What it serves is in open_server.
 */
#ifndef WF_SPEC_HTTP_CLIENT_H
#define WF_SPEC_HTTP_CLIENT_H

#include "support/run.h"
#include "weft/http.h"
#include "weft/http_client.h"

enum { TEXT = 256 };

static weft_http_server *server;
static weft_fd listener;
static char base[TEXT];
static weft_fiber serving;
static weft_http_client *client;

/* ---- The server ---- */

static inline void hello(weft_http *http, void *arg) {
    (void)arg;
    weft_http_set(http, "X-Method", weft_http_method(http));
    weft_http_print(http, "Hello, %s!", weft_http_parameter(http, "name"));
}

/* Says what has come: the method, and headers of interest; then the body. */
static inline void echo(weft_http *http, void *arg) {
    (void)arg;
    static const char *const names[] = {"Authorization",     "Content-Type",   "X-Own",          "X-Default",
                                        "Transfer-Encoding", "Content-Length", "Accept-Encoding"};
    char bytes[1000];
    ssize_t count;
    weft_http_set(http, "X-Method", weft_http_method(http));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[TEXT];
        const char *value = weft_http_header(http, names[i]);
        snprintf(name, sizeof name, "X-Saw-%s", names[i]);
        if (value)
            weft_http_set(http, name, value);
    }
    while ((count = weft_http_read(http, bytes, sizeof bytes)) > 0)
        weft_http_write(http, bytes, (size_t)count);
}

/* "/status/:code": that status, once the body has come, and where to, from the query. */
static inline void status(weft_http *http, void *arg) {
    char bytes[64];
    (void)arg;
    while (weft_http_read(http, bytes, sizeof bytes) > 0)
        continue;
    weft_http_status(http, atoi(weft_http_parameter(http, "code")));
    if (*weft_http_query(http))
        weft_http_set(http, "Location", weft_http_query(http));
    if (atoi(weft_http_parameter(http, "code")) != 204)
        weft_http_print(http, "moved");
}

static inline void circle(weft_http *http, void *arg) {
    (void)arg;
    weft_http_status(http, 302);
    weft_http_set(http, "Location", "./circle");
}

static inline void bytes_of(weft_http *http, void *arg) {
    (void)arg;
    long left = atol(weft_http_parameter(http, "count"));
    char bytes[4096];
    memset(bytes, 'x', sizeof bytes);
    for (; left > 0; left -= (long)sizeof bytes)
        weft_http_write(http, bytes, left > (long)sizeof bytes ? sizeof bytes : (size_t)left);
}

static inline void *serve(void *arg) {
    CHECK_EQ(weft_http_serve(server, listener), 0);
    return arg;
}

static inline void open_server(const weft_http_client_options *options) {
    weft_address address;
    weft_http_options server_options = {.max_body = 64 << 20};
    CHECK_EQ(weft_address_parse(&address, "127.0.0.1:0"), 0);
    CHECK_EQ(weft_listen(&listener, &address, NULL), 0);
    CHECK_EQ(weft_local_address(listener, &address), 0);
    snprintf(base, sizeof base, "http://127.0.0.1:%u", weft_address_port(&address));
    CHECK_EQ(weft_http_server_new(&server, &server_options), 0);
    CHECK_EQ(weft_http_route(server, "GET /hello/:name", hello, NULL), 0);
    CHECK_EQ(weft_http_route(server, "/echo", echo, NULL), 0);
    CHECK_EQ(weft_http_route(server, "/status/:code", status, NULL), 0);
    CHECK_EQ(weft_http_route(server, "/circle", circle, NULL), 0);
    CHECK_EQ(weft_http_route(server, "/bytes/:count", bytes_of, NULL), 0);
    SPAWN(&serving, serve, NULL);
    CHECK_EQ(weft_http_client_new(&client, options), 0);
}

static inline void close_server(void) {
    weft_http_client_stats stats;
    CHECK_EQ(weft_http_client_close_idle(client) >= 0, 1);
    CHECK_EQ(weft_http_client_get_stats(client, &stats), 0);
    CHECK_EQ(stats.open, 0);
    CHECK_EQ(stats.idle, 0);
    weft_http_client_free(client);
    CHECK_EQ(weft_http_server_stop(server, weft_after(PATIENCE_NS)), 0);
    JOIN(serving, NULL);
    weft_http_server_free(server);
    CHECK_EQ(weft_close(listener), 0);
}

/* ---- Short forms ---- */

/* Good for the next hundred calls. */
static inline const char *at(const char *path) {
    static char texts[128][2 * TEXT];
    static atomic_uint turn;
    char *text = texts[atomic_fetch_add(&turn, 1) % 128];
    snprintf(text, sizeof texts[0], "%s%s", base, path);
    return text;
}

static inline weft_http_response *must_open(const char *method, const char *url, const weft_http_request *request) {
    weft_http_response *response = NULL;
    CHECK_EQ(weft_http_request_open(client, method, url, request, &response, weft_after(PATIENCE_NS)), 0);
    return response;
}

static inline const char *body_of(weft_http_response *response) {
    const void *bytes;
    size_t size;
    CHECK_EQ(weft_http_response_body(response, &bytes, &size, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(strlen(bytes), size);
    return bytes;
}

static inline const char *header(const weft_http_response *response, const char *name) {
    const char *value = weft_http_response_header(response, name);
    return value ? value : "(none)";
}

static inline weft_http_client_stats stats_now(void) {
    weft_http_client_stats stats;
    CHECK_EQ(weft_http_client_get_stats(client, &stats), 0);
    return stats;
}

/* ---- A body from a callback ---- */

struct source {
    const char *text;
    size_t at;
    size_t step;
    int rewinds;
    int error; /* at the end */
};

static inline ssize_t source_read(void *buffer, size_t size, void *opaque) {
    struct source *source = opaque;
    size_t left = strlen(source->text) - source->at;
    size_t count = left < source->step ? left : source->step;
    CHECK_LE(count, size);
    memcpy(buffer, source->text + source->at, count);
    source->at += count;
    return count == 0 ? source->error : (ssize_t)count;
}

static inline int source_rewind(void *opaque) {
    struct source *source = opaque;
    source->at = 0;
    source->rewinds++;
    return 0;
}

#endif
