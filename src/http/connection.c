/* SPDX-License-Identifier: MIT
 *
 * http/connection.c - a connection from its first byte to its last, on a fiber of its own.
 *
 * Between requests it waits without a work. If that takes long, it gives back what its stack has touched besides the top page,
 * and goes on waiting.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/assert.h"
#include "base/point.h"
#include "http/http.h"
#include "io/fd.h"
#include "io/socket.h"
#include "os/clock.h"
#include "os/memory.h"
#include "weft/panic.h"

/* A stack is cut back after a second: a client that is about to ask again does so earlier. 64 spare works are kept. */
#ifdef WF_TESTING
enum { TRIM_NS = 20 * 1000 * 1000 };
#else
enum { TRIM_NS = 1000 * 1000 * 1000 };
#endif
enum { SPARE_WORKS = 64, LINGER_PIECE = 2048 };
/* Of a server that stops: a quarter of a second, in which whoever is answered has its answer. */
#define LINGER_NS (2 * WEFT_SECOND)
#define LINGER_STOP_NS (WEFT_SECOND / 4)
#define LINGER_BYTES ((size_t)1 << 20)

static void connection_left(struct wf_leaver *leaver);
static void linger(struct wf_http_conn *conn);
static bool await_request(struct wf_http_conn *conn);
static int rest(struct wf_http_conn *conn);
static bool serve_one(struct wf_http_conn *conn);
static bool may_send_more(const weft_http *http);
static int read_head(weft_http *http);
static void answer(weft_http *http);
static void call_answerer(void *opaque);
static void tell_entry(void *opaque);
static int status_of(int error);

int wf_http_connection(void *opaque) {
    struct wf_http_conn *conn = opaque;
    struct wf_stack *stack = wf_fiber_stack(wf_fiber_self());
    conn->has_begun = true;
    conn->leaver = (struct wf_leaver){.leave = connection_left, .drop = connection_left};
    wf_leaver_push(stack, &conn->leaver);
    while (await_request(conn) && serve_one(conn))
        continue;
    bool has_gone = !conn->work || wf_http_out_flush(conn) == 0;
    if (has_gone && conn->lingers && !wf_load_relaxed(&conn->is_short))
        linger(conn);
    wf_leaver_remove(stack, &conn->leaver);
    wf_http_connection_end(conn);
    return 0;
}

/* What the client still sends is thrown away for a moment: closing with something unread would take the answer from it. For a
 * stop that begins meanwhile it is idle, and is not waited for. */
static void linger(struct wf_http_conn *conn) {
    char piece[LINGER_PIECE];
    weft_http_server *server = conn->server;
    bool stops = wf_load_relaxed(&server->is_stopping);
    size_t left = LINGER_BYTES;
    WF_POINT("http.linger");
    if (conn->work)
        wf_http_work_give(server, conn->work);
    conn->work = NULL;
    ssize_t count = weft_shutdown(conn->fd, WEFT_SHUT_WRITE) == 0;
    if (!stops) {
        wf_store_seq_cst(&conn->state, WF_HTTP_IDLE); /* pairs with the stop, as below */
        stops = wf_load_seq_cst(&server->is_stopping);
    }
    int64_t deadline = weft_after(stops ? LINGER_STOP_NS : LINGER_NS);
    while (count > 0 && left > 0) {
        count = weft_read(conn->fd, piece, sizeof piece, deadline);
        left -= count > 0 && (size_t)count < left ? (size_t)count : left;
    }
}

/* The fiber has ended in the middle of it, or was dropped with its runtime. */
static void connection_left(struct wf_leaver *leaver) {
    wf_http_connection_end(WF_CONTAINER(leaver, struct wf_http_conn, leaver));
}

int wf_http_connection_cut(struct wf_http_conn *conn) {
    return wf_load_relaxed(&conn->is_short) ? wf_socket_abort(conn->fd) : weft_shutdown(conn->fd, WEFT_SHUT_BOTH);
}

void wf_http_connection_end(struct wf_http_conn *conn) {
    weft_http_server *server = conn->server;
    if (conn->pack)
        server->pack_ops->end(conn);
    if (conn->work)
        wf_http_work_give(server, conn->work);
    wf_lock_take(&server->lock);
    wf_list_remove(&conn->node);
    wf_lock_drop(&server->lock);
    if (WF_UNLIKELY(wf_load_relaxed(&conn->is_short)))
        (void)wf_socket_reset_at_close(conn->fd);
    (void)weft_close(conn->fd);
    wf_http_stat(server, WF_STAT_IN, conn->bytes_in);
    wf_http_stat(server, WF_STAT_OUT, conn->bytes_out);
    wf_http_stat(server, WF_STAT_CONNECTIONS, (uint64_t)-1);
    wf_os_free(conn);
    weft_semaphore_release(&server->room, 1);
}

/* True: a byte of the next request is there, and a work. */
static bool await_request(struct wf_http_conn *conn) {
    weft_http_server *server = conn->server;
    uint32_t idle = WF_HTTP_IDLE;
    if (conn->work && wf_load_relaxed(&server->is_stopping)) { /* what comes, or has come, is not answered any more */
        conn->lingers = true;
        return false;
    }
    if (conn->work && conn->work->parser.end > 0)
        return true;
    if (conn->work) {
        if (wf_http_out_flush(conn) != 0)
            return false;
        wf_http_work_give(server, conn->work);
        conn->work = NULL;
    }
    wf_store_seq_cst(&conn->state, WF_HTTP_IDLE); /* pairs with the stop: it finds us idle, or we find it */
    bool has_come = !wf_load_seq_cst(&server->is_stopping) && rest(conn) == 0;
    if (!wf_cas_relaxed(&conn->state, &idle, WF_HTTP_BUSY) || !has_come)
        return false;
    conn->work = wf_http_work_take(server);
    if (!conn->work)
        return false;
    wf_http_parser_init(&conn->work->parser, false, conn->work->in,
                        (uint32_t)(server->options.max_head + WF_HTTP_PIECE));
    conn->work->parser.trailers = conn->work->trailers;
    conn->work->out_size = 0;
    return true;
}

/* The worker's own clock costs nothing. When it is behind, the stack is cut back too early, which does no harm; so the limit of
 * idleness counts from then on, by the real one. */
static int rest(struct wf_http_conn *conn) {
    int64_t limit = conn->server->options.idle_timeout;
    if (limit > TRIM_NS) {
        int status = wf_fd_rest(conn->fd, wf_time_add(wf_worker_clock(wf_worker_self()), TRIM_NS));
        if (status != -ETIMEDOUT)
            return status;
        wf_stack_trim_self(wf_fiber_stack(wf_fiber_self()));
        WF_POINT("http.trimmed");
    }
    return wf_fd_rest(conn->fd, weft_after(limit));
}

/* False: the connection ends. */
static bool serve_one(struct wf_http_conn *conn) {
    weft_http http;
    memset(&http, 0, offsetof(weft_http, parameters)); /* which are last, and large */
    http.conn = conn;
    http.server = conn->server;
    http.work = conn->work;
    http.max_body = conn->server->options.max_body;
    http.status = 200;
    conn->work->set_size = conn->work->text_size = 0;
    if (conn->server->options.on_entry)
        http.begun_ns = wf_os_now();
    int error = read_head(&http);
    if (error == -ENODATA) /* the end, and no request had begun */
        return false;
    int status = error ? status_of(error) : wf_http_request_check(&http);
    wf_http_stat(conn->server, status ? WF_STAT_REFUSED : WF_STAT_REQUESTS, 1);
    if (status) {
        conn->lingers = true;
        wf_http_refuse(&http, status);
    } else {
        conn->requests++;
        answer(&http);
        if (wf_load_relaxed(&http.is_cut) && !conn->error)
            conn->error = -ECANCELED;
        wf_http_response_end(&http);
    }
    if (conn->server->options.on_entry)
        (void)weft_try(tell_entry, &http, NULL, 0);
    if (conn->error)
        return false;
    if (http.closes || !wf_http_body_skip(&http)) {
        conn->lingers |= may_send_more(&http);
        return false;
    }
    if (conn->work->parser.end > conn->work->parser.start)
        wf_http_parser_next(&conn->work->parser);
    else
        conn->work->parser.end = 0; /* the next one begins with another work */
    return true;
}

/* Unless the client has said that this is its last request. Even then a body that is over when the connection is has to end well,
 * whatever comes in. */
static bool may_send_more(const weft_http *http) {
    const struct wf_http_parser *parser = &http->work->parser;
    return parser->keeps_alive || http->mode == WF_HTTP_STREAM || parser->step == WF_HTTP_BODY ||
           parser->end > parser->start;
}

/* Empty lines before a request are none. */
static bool has_begun(const struct wf_http_parser *parser) {
    for (uint32_t i = 0; i < parser->end; i++)
        if (parser->buffer[i] != '\r' && parser->buffer[i] != '\n')
            return true;
    return false;
}

/* However it arrived: a target that goes beyond the limit, or everything together. */
static int too_long(const struct wf_http_parser *parser, size_t max_head) {
    return parser->target + parser->target_size >= max_head ? -ENAMETOOLONG : -EMSGSIZE;
}

/* By when the head has to be whole. The clock is read when that is first asked for. */
static int64_t head_deadline(weft_http *http) {
    if (http->begun_ns == 0)
        http->begun_ns = wf_os_now();
    return wf_time_add(http->begun_ns, http->server->options.head_timeout);
}

/* 0; -ENODATA; or why there is no whole head: -ETIMEDOUT, -EMSGSIZE and others. The first read finds what has woken the
 * connection, mostly a whole head: it needs no deadline. */
static int read_head(weft_http *http) {
    struct wf_http_conn *conn = http->conn;
    struct wf_http_parser *parser = &conn->work->parser;
    size_t max_head = http->server->options.max_head;
    bool is_first = parser->end == 0;
    for (;;) {
        int verdict = parser->end > parser->start ? wf_http_parse_head(parser) : 0;
        if (verdict != 0)
            return verdict < 0 ? verdict : parser->head_size > max_head ? too_long(parser, max_head) : 0;
        if (parser->end >= max_head)
            return too_long(parser, max_head);
        int status = wf_http_fill(conn, is_first ? WF_HTTP_AT_ONCE : head_deadline(http));
        bool was_hasty = is_first && status == -ETIMEDOUT;
        is_first = false;
        if (status > 0 || was_hasty)
            continue;
        if (!has_begun(parser) || (status < 0 && status != -ETIMEDOUT))
            return -ENODATA;
        return status == 0 ? -ECONNRESET : status;
    }
}

int wf_http_fill(struct wf_http_conn *conn, int64_t deadline_ns) {
    struct wf_http_parser *parser = &conn->work->parser;
    if (conn->work->out_size > 0 && wf_http_out_flush(conn) != 0)
        return conn->error;
    ssize_t count = weft_read(conn->fd, parser->buffer + parser->end, parser->room - parser->end, deadline_ns);
    if (count > 0) {
        parser->end += (uint32_t)count;
        conn->bytes_in += (uint64_t)count;
    } else if (count < 0 && count != -ETIMEDOUT) { /* one who is too slow is told so */
        conn->error = (int)count;
    }
    return (int)count;
}

struct calling {
    weft_http *http;
    struct wf_http_found found;
};

static void answer(weft_http *http) {
    struct calling calling = {.http = http};
    char allowed[256];
    if (*http->path == '*') { /* OPTIONS: whether anybody is here */
        weft_http_reply(http, 204, NULL, NULL, 0);
        return;
    }
    int status = wf_http_routes_find(http->server->routes, http, &calling.found, allowed, sizeof allowed);
    if (status) {
        if (status == 405)
            weft_http_set(http, "Allow", allowed);
        weft_http_fail(http, status);
        return;
    }
    if (weft_try(call_answerer, &calling, NULL, 0) != 0) {
        http->closes = true;
        http->is_broken = http->mode != WF_HTTP_UNSENT;
        if (!http->is_broken) {
            http->work->set_size = 0;
            http->has_length = false;
            weft_http_fail(http, 500);
        }
    }
}

static void call_answerer(void *opaque) {
    struct calling *calling = opaque;
    calling->found.handler(calling->http, calling->found.arg);
}

static void tell_entry(void *opaque) {
    weft_http *http = opaque;
    char peer[WEFT_ADDRESS_TEXT] = "";
    const struct wf_http_parser *parser = &http->work->parser;
    bool has_head = parser->head_size > 0;
    (void)weft_address_format(&http->conn->peer, peer, sizeof peer);
    weft_http_entry entry = {
        .peer = peer,
        .method = has_head ? parser->method : "-",
        .target = has_head ? wf_http_text(parser, parser->target) : "-",
        .status = http->mode == WF_HTTP_UNSENT ? 0 : http->status,
        .body_bytes = http->sent,
        .took_ns = wf_os_now() - http->begun_ns,
    };
    http->server->options.on_entry(&entry, http->server->options.arg);
}

static int status_of(int error) {
    switch (error) {
    case -ETIMEDOUT:
        return 408;
    case -EMSGSIZE:
    case -E2BIG:
        return 431;
    case -ENAMETOOLONG:
        return 414;
    case -EPROTONOSUPPORT:
        return 505;
    default:
        return 400;
    }
}

struct wf_http_work *wf_http_work_take(weft_http_server *server) {
    wf_lock_take(&server->lock);
    struct wf_http_work *work = server->spare;
    if (work) {
        server->spare = work->next;
        server->spare_count--;
    }
    wf_lock_drop(&server->lock);
    return work ? work : wf_os_alloc(server->work_size);
}

void wf_http_work_give(weft_http_server *server, struct wf_http_work *work) {
    wf_lock_take(&server->lock);
    bool is_kept = server->spare_count < SPARE_WORKS;
    if (is_kept) {
        work->next = server->spare;
        server->spare = work;
        server->spare_count++;
    }
    wf_lock_drop(&server->lock);
    if (!is_kept)
        wf_os_free(work);
}
