/* SPDX-License-Identifier: MIT
 *
 * support/http.h - a server under test on a free port, and a client that believes nothing.
 *
 *     site_open(NULL);                                  // or options
 *     site_route("GET /", hello);
 *     site_serve();                                     // on a fiber
 *     struct client *client = client_open();
 *     client_send(client, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
 *     struct answer *answer = client_receive(client, "GET");
 *     CHECK_EQ(answer->status, 200);
 *     client_close(client);
 *     site_close();
 *
 * One site at a time. The client is written for itself, against the standard, and shares nothing with the library but
 * descriptors; it works on fibers and on plain threads. Public headers only.
 */
#ifndef WF_SUPPORT_HTTP_H
#define WF_SUPPORT_HTTP_H

#include <strings.h>

#include "support/io.h"
#include "weft/http.h"

static struct {
    weft_http_server *server;
    weft_fd listener;
    weft_address where;
    weft_fiber fiber;
    int outcome; /* of serving, once it has ended */
} site;

static inline void site_open(const weft_http_options *options) {
    CHECK_EQ(weft_http_server_new(&site.server, options), 0);
    CHECK_EQ(weft_address_parse(&site.where, "127.0.0.1:0"), 0);
    CHECK_EQ(weft_listen(&site.listener, &site.where, NULL), 0);
    CHECK_EQ(weft_local_address(site.listener, &site.where), 0);
}

static inline void site_route(const char *pattern, weft_http_handler handler) {
    CHECK_EQ(weft_http_route(site.server, pattern, handler, NULL), 0);
}

static inline void *site_fiber(void *arg) {
    site.outcome = weft_http_serve(site.server, site.listener);
    return arg;
}

static inline void site_serve(void) {
    site.outcome = 1;
    SPAWN(&site.fiber, site_fiber, NULL);
}

/* After it was stopped. */
static inline void site_free(void) {
    weft_http_server_free(site.server);
    CHECK_EQ(weft_close(site.listener), 0);
}

/* With whoever is left, who is told to go. */
static inline void site_close(void) {
    CHECK_EQ(weft_http_server_stop(site.server, weft_after(PATIENCE_NS)), 0);
    JOIN(site.fiber, NULL);
    CHECK_EQ(site.outcome, 0);
    site_free();
}

static inline weft_http_stats site_stats(void) {
    weft_http_stats stats;
    CHECK_EQ(weft_http_get_stats(site.server, &stats), 0);
    return stats;
}

/* ---- The client ---- */

enum { CLIENT_ROOM = 1 << 16, ANSWER_HEAD = 1 << 14, ANSWER_BODY = 1 << 16 };

struct answer {
    int status; /* 0: the connection ended before there was one */
    bool says_close;
    bool is_chunked;
    bool is_cut;  /* the connection ended in the middle of it */
    long length;  /* as told, or -1 */
    size_t size;  /* of the body, of which the beginning is kept */
    uint64_t sum; /* of all bytes of the body */
    char head[ANSWER_HEAD];
    char body[ANSWER_BODY];
};

struct client {
    weft_fd fd;
    size_t at, end; /* in room: what has come and was not taken */
    int error;      /* with which it ended, 0: the end */
    char room[CLIENT_ROOM];
    struct answer answer;
};

static inline struct client *client_open(void) {
    struct client *client = calloc(1, sizeof *client);
    CHECK(client != NULL);
    CHECK_EQ(weft_connect(&client->fd, &site.where, NULL, weft_after(PATIENCE_NS)), 0);
    return client;
}

static inline void client_close(struct client *client) {
    CHECK_EQ(weft_close(client->fd), 0);
    free(client);
}

/* False: the other side has gone. */
static inline bool client_try_bytes(struct client *client, const void *bytes, size_t size) {
    int error = weft_write_all(client->fd, bytes, size, weft_after(PATIENCE_NS));
    CHECK(error == 0 || error == -EPIPE || error == -ECONNRESET);
    return error == 0;
}

static inline void client_send_bytes(struct client *client, const void *bytes, size_t size) {
    CHECK(client_try_bytes(client, bytes, size));
}

static inline void client_send(struct client *client, const char *text) {
    client_send_bytes(client, text, strlen(text));
}

static inline void client_say_end(struct client *client) {
    int error = weft_shutdown(client->fd, WEFT_SHUT_WRITE);
    CHECK(error == 0 || error == -ENOTCONN);
}

/* The next byte, or -1 at the end. */
static inline int client_byte(struct client *client) {
    if (client->at == client->end) {
        ssize_t count = weft_read(client->fd, client->room, sizeof client->room, weft_after(PATIENCE_NS));
        CHECK(count >= 0 || count == -ECONNRESET);
        client->error = count < 0 ? (int)count : 0;
        if (count <= 0)
            return -1;
        client->at = 0;
        client->end = (size_t)count;
    }
    return (unsigned char)client->room[client->at++];
}

/* True: the line, without CR LF, ended by a zero. */
static inline bool client_line(struct client *client, char *line, size_t room) {
    size_t size = 0;
    for (int byte, last = 0;; last = byte) {
        byte = client_byte(client);
        if (byte < 0) {
            line[size] = 0;
            return false;
        }
        CHECK(size + 1 < room);
        line[size++] = (char)byte;
        CHECK(byte != 0);
        CHECK_EQ(last == '\r', byte == '\n'); /* both or none: servers have to be exact as well */
        if (byte == '\n') {
            line[size - 2] = 0;
            return true;
        }
    }
}

static inline bool client_take(struct client *client, uint64_t size) {
    struct answer *answer = &client->answer;
    for (; size > 0; size--) {
        int byte = client_byte(client);
        if (byte < 0) {
            answer->is_cut = true;
            return false;
        }
        if (answer->size + 1 < ANSWER_BODY)
            answer->body[answer->size] = (char)byte;
        answer->size++;
        answer->sum += (uint64_t)byte;
    }
    return true;
}

static inline void client_take_chunks(struct client *client) {
    char line[256];
    for (;;) {
        client->answer.is_cut = !client_line(client, line, sizeof line);
        if (client->answer.is_cut)
            return;
        CHECK(strspn(line, "0123456789abcdefABCDEF") == strlen(line));
        CHECK(*line != 0);
        uint64_t size = strtoull(line, NULL, 16);
        if (!client_take(client, size))
            return;
        client->answer.is_cut = !client_line(client, line, sizeof line);
        if (client->answer.is_cut)
            return;
        CHECK_TEXT(line, "");
        if (size == 0)
            return;
    }
}

/* The first header of that name, without the space before it; or NULL. Good until the next call. */
static inline const char *answer_header(const struct answer *answer, const char *name) {
    static _Thread_local char value[ANSWER_HEAD];
    size_t size = strlen(name);
    for (const char *line = strstr(answer->head, "\n"); line; line = strstr(line + 1, "\n"))
        if (strncasecmp(line + 1, name, size) == 0 && line[1 + size] == ':') {
            const char *from = line + 2 + size + strspn(line + 2 + size, " \t");
            snprintf(value, sizeof value, "%.*s", (int)strcspn(from, "\r\n"), from);
            return value;
        }
    return NULL;
}

static inline int answer_count(const struct answer *answer, const char *name) {
    size_t size = strlen(name);
    int count = 0;
    for (const char *line = strstr(answer->head, "\n"); line; line = strstr(line + 1, "\n"))
        count += strncasecmp(line + 1, name, size) == 0 && line[1 + size] == ':';
    return count;
}

static inline bool client_head(struct client *client) {
    struct answer *answer = &client->answer;
    size_t size = 0;
    char line[ANSWER_HEAD];
    do {
        if (!client_line(client, line, sizeof line)) {
            answer->is_cut = size > 0 || *line;
            return false;
        }
        size += (size_t)snprintf(answer->head + size, ANSWER_HEAD - size, "%s\r\n", line);
        CHECK(size < ANSWER_HEAD);
    } while (*line);
    CHECK(strncmp(answer->head, "HTTP/1.1 ", 9) == 0);
    answer->status = atoi(answer->head + 9);
    CHECK(answer->status >= 100 && answer->status <= 999);
    CHECK(answer->head[12] == ' ');
    return true;
}

/* What came as the answer to a request with that method; status 0: nothing but the end. Checks that it is well-formed. */
static inline struct answer *client_receive(struct client *client, const char *method) {
    struct answer *answer = &client->answer;
    memset(answer, 0, offsetof(struct answer, body));
    answer->length = -1;
    if (!client_head(client))
        return answer;
    const char *value = answer_header(answer, "Content-Length");
    if (value)
        answer->length = strtol(value, NULL, 10);
    value = answer_header(answer, "Transfer-Encoding");
    answer->is_chunked = value && strcmp(value, "chunked") == 0;
    CHECK(!value || answer->is_chunked);
    CHECK(answer->length < 0 || !answer->is_chunked);
    CHECK_LE(answer_count(answer, "Content-Length") + answer_count(answer, "Transfer-Encoding"), 1);
    value = answer_header(answer, "Connection");
    answer->says_close = value && strcmp(value, "close") == 0;
    CHECK_EQ(answer_count(answer, "Date"), answer->status >= 200);
    bool is_bare =
        strcmp(method, "HEAD") == 0 || answer->status < 200 || answer->status == 204 || answer->status == 304;
    if (is_bare)
        CHECK(!answer->is_chunked || strcmp(method, "HEAD") == 0);
    else if (answer->is_chunked)
        client_take_chunks(client);
    else if (answer->length >= 0)
        (void)client_take(client, (uint64_t)answer->length);
    else {
        CHECK(answer->says_close);
        (void)client_take(client, UINT64_MAX);
        answer->is_cut = client->error != 0;
    }
    answer->body[answer->size < ANSWER_BODY ? answer->size : ANSWER_BODY - 1] = 0;
    return answer;
}

/* The answer, which is asked for once, has that text as its body. */
#define CHECK_BODY(received, text) \
    do { \
        const struct answer *check_answer = (received); \
        CHECK_TEXT(check_answer->body, (text)); \
    } while (0)

/* Nothing more comes but the end, or a reset. */
static inline void client_expect_end(struct client *client) {
    CHECK_EQ(client_byte(client), -1);
}

/* One request, one answer, whose status is that. */
static inline struct answer *client_ask(struct client *client, const char *method, const char *target, int status) {
    char text[2048];
    snprintf(text, sizeof text, "%s %s HTTP/1.1\r\nHost: a\r\n\r\n", method, target);
    client_send(client, text);
    struct answer *answer = client_receive(client, method);
    CHECK_EQ(answer->status, status);
    return answer;
}

#endif
