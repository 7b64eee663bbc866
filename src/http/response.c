/* SPDX-License-Identifier: MIT
 *
 * http/response.c - what a handler sends.
 *
 * The head is written into out with the first byte of the body, or at the end when the whole body is known by then: then its
 * length is told even if the handler did not. Pieces that fit are collected in out; in chunks, the size of the open chunk is
 * filled in when it is closed, in as many digits as were left free for it. A piece that does not fit goes to the socket together
 * with what was collected, without being copied.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "http/http.h"
#include "io/fd.h"
#include "os/clock.h"
#include "wait/wait.h"

/* CHUNK_HEAD: "1fff\r\n", enough for what out has room for. HEAD_ROOM: status line, date, length and the like. */
enum { CHUNK_HEAD = 6, CHUNK_TAIL = 7, HEAD_ROOM = 512, REASON_MOST = 128 };

static bool is_ours(const char *name);
static int put_field(weft_http *http, const char *name, size_t name_size, const char *value);
static int set_length(weft_http *http, const char *value);
static int begin_body(weft_http *http, bool is_whole, uint64_t size);
static int put_head(weft_http *http);
static void chunk_open(weft_http *http);

static int write_body(weft_http *http, const char *bytes, size_t size);
static int pack_last(weft_http *http, enum wf_http_packing how);
static int write_through(weft_http *http, const char *bytes, size_t size);
static int send_with_patience(weft_http *http, struct iovec *parts, int count);
static int send_parts(struct wf_http_conn *conn, struct iovec *parts, int count, int64_t deadline_ns);

static struct {
    int status;
    const char *reason;
} const reasons[] = {
    {100, "Continue"},
    {101, "Switching Protocols"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {422, "Unprocessable Content"},
    {426, "Upgrade Required"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
};

const char *wf_http_reason(int status) {
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "Status";
}

/* Without the zero; where the next one goes. */
static char *put(char *at, const char *text, size_t size) {
    memcpy(at, text, size);
    return at + size;
}

#define PUT(at, text) put((at), (text), sizeof(text) - 1)

/* ---- Before the first byte ---- */

int weft_http_status(weft_http *http, int status) {
    if (status < 200 || status > 999)
        return -EINVAL;
    if (http->mode != WF_HTTP_UNSENT)
        return -EALREADY;
    http->status = status;
    return 0;
}

static bool can_be_sent(const char *name, const char *value) {
    return name && value && *name && wf_http_is_all(name, WF_HTTP_TOKEN) && wf_http_is_all(value, WF_HTTP_VALUE) &&
           !is_ours(name);
}

int weft_http_set(weft_http *http, const char *name, const char *value) {
    if (!can_be_sent(name, value))
        return -EINVAL;
    if (http->mode != WF_HTTP_UNSENT)
        return -EALREADY;
    if (strcasecmp(name, "Content-Length") == 0)
        return set_length(http, value);
    return put_field(http, name, strlen(name), value);
}

int weft_http_reason(weft_http *http, const char *reason) {
    size_t size = reason ? strlen(reason) : 0;
    if (!reason || !wf_http_is_all(reason, WF_HTTP_VALUE))
        return -EINVAL;
    if (http->mode != WF_HTTP_UNSENT)
        return -EALREADY;
    char *text = size < REASON_MOST ? wf_http_text_take(http, size + 1) : NULL;
    if (!text)
        return -EMSGSIZE;
    http->reason = memcpy(text, reason, size + 1);
    return 0;
}

int weft_http_close(weft_http *http) {
    if (http->mode != WF_HTTP_UNSENT)
        return -EALREADY;
    http->closes = true;
    return 0;
}

/* What was set for the head has gone with it, and leaves its room to the trailers. */
int weft_http_set_trailer(weft_http *http, const char *name, const char *value) {
    if (!can_be_sent(name, value) || strcasecmp(name, "Content-Length") == 0)
        return -EINVAL;
    if (http->mode != WF_HTTP_CHUNKED)
        return -EPROTO;
    return put_field(http, name, strlen(name), value);
}

/* One that was checked. */
static int put_field(weft_http *http, const char *name, size_t name_size, const char *value) {
    struct wf_http_work *work = http->work;
    size_t value_size = strlen(value);
    if (name_size + value_size + 4 > WF_HTTP_SET - work->set_size)
        return -EMSGSIZE;
    char *at = work->set + work->set_size;
    at = put(at, name, name_size);
    at = PUT(at, ": ");
    at = put(at, value, value_size);
    at = PUT(at, "\r\n");
    work->set_size = (uint32_t)(at - work->set);
    return 0;
}

/* What the server says itself: a handler cannot. */
static bool is_ours(const char *name) {
    switch (*name | 0x20) {
    case 'c':
        return strcasecmp(name, "Connection") == 0;
    case 't':
        return strcasecmp(name, "Transfer-Encoding") == 0;
    case 'd':
        return strcasecmp(name, "Date") == 0;
    default:
        return false;
    }
}

static int set_length(weft_http *http, const char *value) {
    uint64_t length = 0;
    if (!*value || strlen(value) > 18)
        return -EINVAL;
    for (; *value; value++) {
        if (*value < '0' || *value > '9')
            return -EINVAL;
        length = length * 10 + (uint64_t)(*value - '0');
    }
    http->has_length = true;
    http->length = length;
    return 0;
}

/* ---- The body ---- */

int weft_http_write(weft_http *http, const void *bytes, size_t size) {
    if (!bytes && size > 0)
        return -EINVAL;
    int error = begin_body(http, false, size);
    return error ? error : write_body(http, bytes, size);
}

int weft_http_print(weft_http *http, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (size < 0)
        return -EINVAL;
    if ((size_t)size < sizeof text)
        return weft_http_write(http, text, (size_t)size);
    char *longer = wf_wait_alloc((size_t)size + 1);
    if (!longer)
        return -ENOMEM;
    va_start(arguments, format);
    vsnprintf(longer, (size_t)size + 1, format, arguments);
    va_end(arguments);
    int error = weft_http_write(http, longer, (size_t)size);
    wf_wait_free(longer);
    return error;
}

int weft_http_flush(weft_http *http) {
    int error = begin_body(http, false, 0);
    if (error)
        return error;
    error = pack_last(http, WF_HTTP_PACK_FLUSH);
    if (error)
        return error;
    wf_http_chunk_close(http);
    error = wf_http_out_flush(http->conn);
    return !error && http->mode == WF_HTTP_BARE ? -EPIPE : error;
}

int weft_http_reply(weft_http *http, int status, const char *type, const void *body, size_t size) {
    if (!body && size > 0)
        return -EINVAL;
    int error = weft_http_status(http, status);
    if (!error && type)
        error = wf_http_is_all(type, WF_HTTP_VALUE) ? put_field(http, "Content-Type", 12, type) : -EINVAL;
    if (!error)
        error = begin_body(http, true, size);
    return error ? error : write_body(http, body, size);
}

int weft_http_fail(weft_http *http, int status) {
    char text[80];
    int size = snprintf(text, sizeof text, "%d %s\n", status, wf_http_reason(status));
    return weft_http_reply(http, status, "text/plain; charset=utf-8", text, (size_t)size);
}

void weft_http_cut(weft_http *http) {
    wf_store_relaxed(&http->is_cut, 1); /* the handler returns later, on whatever thread */
    wf_lock_take(&http->server->lock);  /* for one who takes the descriptor over */
    (void)wf_http_connection_cut(http->conn);
    wf_lock_drop(&http->server->lock);
}

/* Decides how the end of the body will be known, and writes the head. is_whole: these are all the bytes. */
int wf_http_begin_whole(weft_http *http, uint64_t size) {
    return begin_body(http, true, size);
}

/* The client sends, or will send, more of a body than will be read past. */
static bool leaves_too_much(const weft_http *http) {
    const struct wf_http_parser *parser = &http->work->parser;
    if (parser->step != WF_HTTP_BODY)
        return false;
    return http->expects ||
           (parser->has_length && (parser->length > http->max_body || parser->length - http->body_read > WF_HTTP_SKIP));
}

static int begin_body(weft_http *http, bool is_whole, uint64_t size) {
    if (http->mode != WF_HTTP_UNSENT)
        return is_whole ? -EALREADY : 0;
    if (is_whole && !http->has_length && http->status != 304) { /* that of a 304 would be the file's */
        http->has_length = true;
        http->length = size;
    }
    if (WF_UNLIKELY(http->server->pack_ops))
        http->is_packed = http->server->pack_ops->begin(http);
    bool is_head = wf_http_is_method(&http->work->parser, "HEAD");
    if (is_head || http->status == 204 || http->status == 304)
        http->mode = WF_HTTP_BARE;
    else if (http->has_length && !http->is_packed)
        http->mode = WF_HTTP_FIXED;
    else
        http->mode = http->work->parser.minor > 0 ? WF_HTTP_CHUNKED : WF_HTTP_STREAM;
    wf_store_relaxed(&http->conn->is_short, http->mode == WF_HTTP_STREAM);
    if (http->mode == WF_HTTP_STREAM || wf_load_relaxed(&http->server->is_stopping) || leaves_too_much(http))
        http->closes = true;
    return put_head(http);
}

static char *put_number(char *at, uint64_t number) {
    char digits[20];
    int count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    while (count > 0)
        *at++ = digits[--count];
    return at;
}

static int put_head(weft_http *http) {
    struct wf_http_work *work = http->work;
    const char *name = http->server->options.server_name;
    if (work->out_size + HEAD_ROOM + work->set_size > WF_HTTP_OUT) {
        int error = wf_http_out_flush(http->conn);
        if (error)
            return error;
    }
    char *at = work->out + work->out_size;
    const char *reason = http->reason ? http->reason : wf_http_reason(http->status);
    at = PUT(at, "HTTP/1.1 ");
    at = put_number(at, (uint64_t)http->status);
    *at++ = ' ';
    at = put(at, reason, strlen(reason));
    at = PUT(at, "\r\nDate: ");
    at = put(at, wf_http_date(work), WF_HTTP_DATE);
    at = PUT(at, "\r\n");
    if (name) {
        at = PUT(at, "Server: ");
        at = put(at, name, strlen(name));
        at = PUT(at, "\r\n");
    }
    at = put(at, work->set, work->set_size);
    if (http->has_length && !http->is_packed && http->status != 204) {
        at = PUT(at, "Content-Length: ");
        at = put_number(at, http->length);
        at = PUT(at, "\r\n");
    } else if (http->mode == WF_HTTP_CHUNKED) {
        at = PUT(at, "Transfer-Encoding: chunked\r\n");
    }
    if (http->closes)
        at = PUT(at, "Connection: close\r\n");
    else if (work->parser.minor == 0)
        at = PUT(at, "Connection: keep-alive\r\n");
    at = PUT(at, "\r\n");
    work->out_size = (uint32_t)(at - work->out);
    work->set_size = 0;
    return 0;
}

int wf_http_put_upgrade(weft_http *http, const char *protocol) {
    struct wf_http_work *work = http->work;
    if (weft_http_set(http, "Upgrade", protocol) != 0)
        return -EINVAL;
    int error = work->out_size + HEAD_ROOM + work->set_size > WF_HTTP_OUT ? wf_http_out_flush(http->conn) : 0;
    if (error)
        return error;
    char *at = work->out + work->out_size;
    at = PUT(at, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n");
    at = put(at, work->set, work->set_size);
    at = PUT(at, "\r\n");
    work->out_size = (uint32_t)(at - work->out);
    http->status = 101;
    http->mode = WF_HTTP_BARE;
    return 0;
}

static int write_body(weft_http *http, const char *bytes, size_t size) {
    if (http->conn->error)
        return http->conn->error;
    if (http->is_finished && size > 0)
        return -EALREADY;
    if (http->mode == WF_HTTP_BARE || size == 0)
        return 0;
    if (WF_UNLIKELY(http->is_packed))
        return http->server->pack_ops->write(http, bytes, size, WF_HTTP_PACK_MORE);
    return wf_http_write_packed(http, bytes, size);
}

/* What the packer has kept. */
static int pack_last(weft_http *http, enum wf_http_packing how) {
    if (!http->conn->pack || http->conn->error)
        return http->conn->error;
    return http->server->pack_ops->write(http, NULL, 0, how);
}

int wf_http_write_packed(weft_http *http, const char *bytes, size_t size) {
    struct wf_http_work *work = http->work;
    if (size == 0)
        return 0;
    if (http->mode == WF_HTTP_FIXED && size > http->length - http->sent)
        return -EMSGSIZE;
    http->sent += size;
    bool is_chunked = http->mode == WF_HTTP_CHUNKED;
    size_t room = WF_HTTP_OUT - work->out_size;
    size_t overhead = !is_chunked ? 0 : CHUNK_TAIL + (http->chunk ? 0 : CHUNK_HEAD);
    if (room < overhead || size > room - overhead)
        return write_through(http, bytes, size);
    if (is_chunked && !http->chunk)
        chunk_open(http);
    memcpy(work->out + work->out_size, bytes, size);
    work->out_size += (uint32_t)size;
    return 0;
}

static void chunk_open(weft_http *http) {
    http->work->out_size += CHUNK_HEAD;
    http->chunk = http->work->out_size;
}

/* There is room for its tail, and for that of the whole body: whoever opened it has seen to that. */
void wf_http_chunk_close(weft_http *http) {
    static const char digits[] = "0123456789abcdef";
    struct wf_http_work *work = http->work;
    if (!http->chunk)
        return;
    uint32_t size = work->out_size - http->chunk;
    char *at = work->out + http->chunk - CHUNK_HEAD;
    for (int i = 3; i >= 0; i--, size >>= 4)
        at[i] = digits[size & 15];
    (void)PUT(at + 4, "\r\n");
    work->out_size = (uint32_t)(PUT(work->out + work->out_size, "\r\n") - work->out);
    http->chunk = 0;
}

/* Not copied: with what was collected before it. */
static int write_through(weft_http *http, const char *bytes, size_t size) {
    struct wf_http_work *work = http->work;
    char head[24];
    wf_http_chunk_close(http);
    bool is_chunked = http->mode == WF_HTTP_CHUNKED;
    int head_size = is_chunked ? snprintf(head, sizeof head, "%zx\r\n", size) : 0;
    struct iovec parts[] = {
        {.iov_base = work->out, .iov_len = work->out_size},
        {.iov_base = head, .iov_len = (size_t)head_size},
        {.iov_base = (void *)bytes, .iov_len = size},
        {.iov_base = (void *)"\r\n", .iov_len = is_chunked ? 2 : 0},
    };
    work->out_size = 0;
    return send_with_patience(http, parts, 4);
}

/* As for the body of a request: what goes has body_timeout for each step, and only what is waited for counts. */
static int send_with_patience(weft_http *http, struct iovec *parts, int count) {
    struct wf_http_conn *conn = http->conn;
    while (!conn->error && count > 0) {
        int64_t begun = wf_os_now();
        int64_t patience = wf_http_patience(&http->server->options, http->gone, http->gone_waited);
        ssize_t written = weft_writev(conn->fd, parts, count, wf_time_add(begun, patience));
        http->gone_waited += wf_os_now() - begun;
        if (written < 0) {
            conn->error = (int)written;
        } else {
            http->gone += (uint64_t)written;
            conn->bytes_out += (uint64_t)written;
            wf_parts_advance(&parts, &count, (size_t)written);
        }
    }
    return conn->error;
}

int wf_http_out_flush(struct wf_http_conn *conn) {
    struct wf_http_work *work = conn->work;
    if (conn->error || work->out_size == 0)
        return conn->error;
    uint32_t size = work->out_size;
    work->out_size = 0;
    ssize_t written = weft_write(conn->fd, work->out, size, WF_HTTP_AT_ONCE); /* mostly all: no deadline is needed */
    uint32_t done = written > 0 ? (uint32_t)written : 0;
    conn->bytes_out += done;
    if (done == size)
        return 0;
    if (written < 0 && written != -ETIMEDOUT)
        return conn->error = (int)written;
    struct iovec part = {.iov_base = work->out + done, .iov_len = size - done};
    return send_parts(conn, &part, 1, weft_after(conn->server->options.body_timeout));
}

static int send_parts(struct wf_http_conn *conn, struct iovec *parts, int count, int64_t deadline_ns) {
    size_t done = 0;
    if (!conn->error)
        conn->error = weft_writev_all(conn->fd, parts, count, &done, deadline_ns);
    conn->bytes_out += done;
    return conn->error;
}

/* ---- The end ---- */

int weft_http_finish(weft_http *http) {
    wf_http_response_end(http);
    return wf_http_out_flush(http->conn);
}

void wf_http_response_end(weft_http *http) {
    struct wf_http_work *work = http->work;
    if (http->conn->error || http->is_finished)
        return;
    if (http->body_error && http->mode == WF_HTTP_UNSENT && http->status == 200 && work->set_size == 0) {
        int status = http->body_error == -EMSGSIZE ? 413 : http->body_error == -ETIMEDOUT ? 408 : 400;
        (void)weft_http_fail(http, status); /* the handler has said nothing of it */
    }
    http->is_finished = true; /* and not before: that was a body, too */
    if (http->mode == WF_HTTP_UNSENT) {
        if (http->status == 200 && work->set_size == 0 && !http->has_length)
            http->status = 204;
        if (begin_body(http, true, 0) != 0)
            return;
    }
    if (!http->is_broken)
        (void)pack_last(http, WF_HTTP_PACK_LAST);
    if (http->conn->pack)
        http->server->pack_ops->end(http->conn);
    wf_http_chunk_close(http); /* also of what is broken: what was collected goes */
    if (http->is_broken || http->conn->error)
        return;
    if (http->mode == WF_HTTP_CHUNKED) {
        if (work->out_size + work->set_size + 5 > WF_HTTP_OUT && wf_http_out_flush(http->conn) != 0)
            return;
        char *at = PUT(work->out + work->out_size, "0\r\n");
        at = put(at, work->set, work->set_size); /* trailers */
        work->out_size = (uint32_t)(PUT(at, "\r\n") - work->out);
    } else if (http->mode == WF_HTTP_FIXED && http->sent < http->length) {
        http->is_broken = http->closes = true;
    } else if (http->mode == WF_HTTP_STREAM) {
        wf_store_relaxed(&http->conn->is_short, wf_http_out_flush(http->conn) != 0);
    }
}

void wf_http_refuse(weft_http *http, int status) {
    http->closes = true;
    if (!http->work->parser.method) /* there may be no head at all */
        http->work->parser.method = "";
    (void)weft_http_fail(http, status);
    (void)wf_http_out_flush(http->conn);
}

int wf_http_continue(weft_http *http) {
    static const char line[] = "HTTP/1.1 100 Continue\r\n\r\n";
    struct wf_http_work *work = http->work;
    if (http->mode != WF_HTTP_UNSENT) /* the answer has begun: the body may follow it, or not */
        return 0;
    if (work->out_size + sizeof line > WF_HTTP_OUT && wf_http_out_flush(http->conn) != 0)
        return http->conn->error;
    work->out_size = (uint32_t)(put(work->out + work->out_size, line, sizeof line - 1) - work->out);
    return wf_http_out_flush(http->conn);
}
