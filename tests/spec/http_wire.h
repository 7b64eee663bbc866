/* SPDX-License-Identifier: MIT
 *
 * spec/http_wire.h - an HTTP client, and a server that says exactly what a test tells it to.
 *
 *     script_text("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
 *     begin(play, NULL);
 *     CHECK_EQ(fetch(NULL, 0), 200);
 *     finish();
 */
#ifndef WF_SPEC_HTTP_WIRE_H
#define WF_SPEC_HTTP_WIRE_H

#include "support/raw_server.h"
#include "weft/http_client.h"

static struct raw_server server;
static weft_http_client *client;

/* ---- Short forms ---- */

/* What is answered to each request on a connection, which ends when there is an end. */
struct script {
    const char *bytes;
    size_t size;
    bool is_dribbled;
    bool resets; /* afterwards */
    bool ends;   /* afterwards */
};
static struct script script; /* set before the request that is answered by it */
static pthread_mutex_t script_lock = PTHREAD_MUTEX_INITIALIZER;
static struct script played;       /* under the lock, with the next one */
static char played_head[RAW_HEAD]; /* of the last request */

static inline void play(struct raw_server *self, int fd, int number) {
    char head[RAW_HEAD];
    (void)number;
    while (raw_read_head(self, fd, head)) {
        pthread_mutex_lock(&script_lock);
        memcpy(played_head, head, sizeof head);
        struct script now = played;
        pthread_mutex_unlock(&script_lock);
        if (now.is_dribbled)
            raw_dribble(fd, now.bytes, now.size);
        else
            raw_send_bytes(fd, now.bytes, now.size);
        if (now.resets)
            raw_will_reset(fd);
        if (now.resets || now.ends)
            return;
    }
}

static inline void script_set(void) {
    pthread_mutex_lock(&script_lock);
    played = script;
    pthread_mutex_unlock(&script_lock);
}

/* Whether the last request had that text in its head. */
static inline bool head_had(const char *text) {
    pthread_mutex_lock(&script_lock);
    bool had = strstr(played_head, text) != NULL;
    pthread_mutex_unlock(&script_lock);
    return had;
}

static inline void script_text(const char *text) {
    script = (struct script){.bytes = text, .size = strlen(text)};
}

static inline void begin(raw_serve serve, const weft_http_client_options *options) {
    raw_server_start(&server, serve);
    CHECK_EQ(weft_http_client_new(&client, options), 0);
}

static inline weft_http_client_stats stats_now(void) {
    weft_http_client_stats stats;
    CHECK_EQ(weft_http_client_get_stats(client, &stats), 0);
    return stats;
}

static inline void finish(void) {
    CHECK_EQ(stats_now().open, stats_now().idle);
    weft_http_client_free(client);
    raw_server_stop(&server);
}

static inline int open_with(const char *method, const weft_http_request *request, weft_http_response **out) {
    script_set();
    return weft_http_request_open(client, method, server.url, request, out, weft_after(PATIENCE_NS));
}

/* The status, or an error; the body if it is there. */
static inline int fetch(char *body, size_t room) {
    weft_http_response *response;
    script_set();
    int error = weft_http_fetch(client, "GET", server.url, NULL, 0, &response, weft_after(PATIENCE_NS));
    if (error)
        return error;
    const void *bytes;
    size_t size;
    CHECK_EQ(weft_http_response_body(response, &bytes, &size, WEFT_NOW), 0);
    if (body)
        snprintf(body, room, "%s", (const char *)bytes);
    int status = weft_http_response_status(response);
    weft_http_response_close(response);
    return status;
}

#endif
