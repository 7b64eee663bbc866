/* SPDX-License-Identifier: MIT
 *
 * spec/http_gate.h - a site whose handlers can be found in the middle of something.
 *
 * They wait at a gate until the test opens it. For tests of how serving, connections and answers end.
 */
#ifndef SPEC_HTTP_GATE_H
#define SPEC_HTTP_GATE_H

#include "support/http.h"

static weft_chan *gate;     /* handlers wait until it is closed */
static atomic_int at_gate;  /* how many do */
static atomic_int finished; /* handlers that came to their end */
static atomic_int told;     /* what a handler was told last */

static inline void gate_shut(void) {
    CHECK_EQ(weft_chan_new(&gate, 1, 0), 0);
    atomic_store(&at_gate, 0);
    atomic_store(&finished, 0);
    atomic_store(&told, 0);
}

static inline void gate_open(void) {
    CHECK_EQ(weft_chan_close(gate), 0);
}

static inline int gate_wait(void) {
    char letter;
    atomic_fetch_add(&at_gate, 1);
    return weft_chan_recv(gate, &letter, WEFT_NEVER);
}

static inline void hello(weft_http *http, void *arg) {
    (void)arg;
    CHECK_EQ(weft_http_reply(http, 200, NULL, "hello", 5), 0);
}

static inline void wait_first(weft_http *http, void *arg) {
    (void)arg;
    atomic_store(&told, gate_wait());
    atomic_fetch_add(&finished, 1);
    (void)weft_http_reply(http, 200, NULL, "waited", 6);
}

static inline void wait_between(weft_http *http, void *arg) {
    (void)arg;
    CHECK_EQ(weft_http_write(http, "one", 3), 0);
    CHECK_EQ(weft_http_flush(http), 0);
    atomic_store(&told, gate_wait());
    (void)weft_http_write(http, "two", 3);
    atomic_fetch_add(&finished, 1);
}

static inline void read_all(weft_http *http, void *arg) {
    (void)arg;
    char piece[100];
    ssize_t count;
    atomic_fetch_add(&at_gate, 1);
    while ((count = weft_http_read(http, piece, sizeof piece)) > 0)
        continue;
    atomic_store(&told, (int)count);
    (void)weft_http_reply(http, 200, NULL, "read", 4);
}

static inline void open_ends(const weft_http_options *options) {
    gate_shut();
    site_open(options);
    site_route("GET /", hello);
    site_route("GET /wait", wait_first);
    site_route("GET /between", wait_between);
    site_route("POST /read", read_all);
}

static inline void close_ends(void) {
    JOIN(site.fiber, NULL);
    site_free();
    weft_chan_free(gate);
}

static inline struct client *client_at(const char *target) {
    struct client *client = client_open();
    char request[256];
    int before = atomic_load(&at_gate);
    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", target);
    client_send(client, request);
    WAIT_UNTIL(atomic_load(&at_gate) > before);
    return client;
}

static inline void *stopper(void *opaque) {
    *(int *)opaque = weft_http_server_stop(site.server, weft_after(PATIENCE_NS));
    return NULL;
}

#endif
