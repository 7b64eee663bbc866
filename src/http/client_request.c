/* SPDX-License-Identifier: MIT
 *
 * http/client_request.c - sending: the head, and the body from memory, from a callback or as it is written.
 *
 * A server may answer before it has the whole body, and then stop reading it. So whoever has to wait before more can be sent
 * waits for the answer at the same time; when that is a refusal or a redirect, the rest of the body is not sent (RFC 9112, 9.5).
 * When the server has closed, it may have answered before that: what has come is read, and only if that is no answer the error
 * is told.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "http/client.h"
#include "os/memory.h"
#include "weft/panic.h"

/* What the functions that send return besides 0 and errors: there is an answer, and no more is to be sent. */
enum { SEND_NO_MORE = 1 };

static void try_init(weft_http_response *response);
static int send_first(weft_http_response *response, int64_t deadline_ns);
static int await_continue(weft_http_response *response, int64_t deadline_ns);
static int send_memory(weft_http_response *response, int64_t deadline_ns);
static int send_callback(weft_http_response *response, int64_t deadline_ns);
static ssize_t call_body(weft_http_response *response, void *buffer, size_t size);
static int send_piece(weft_http_response *response, const void *bytes, size_t size, int64_t deadline_ns);
static int send_end(weft_http_response *response, int64_t deadline_ns);
static int send_all(weft_http_response *response, struct iovec *parts, int count, int64_t deadline_ns);
static void parts_advance(struct iovec **parts, int *count, size_t done);
static int await_answer(weft_http_response *response, int sent, int64_t deadline_ns);

bool wf_http_has_body(const weft_http_response *response) {
    const weft_http_request *request = &response->request;
    return !response->is_bodiless && (request->body_size > 0 || request->read || request->is_written);
}

bool wf_http_body_can_rewind(const weft_http_response *response) {
    const weft_http_request *request = &response->request;
    bool is_kept = !request->read && !request->is_written;
    return !wf_http_has_body(response) || is_kept || !response->body_is_begun || (request->read && request->rewind);
}

int wf_http_body_rewind(weft_http_response *response) {
    if (!wf_http_has_body(response) || !response->request.read || !response->body_is_begun)
        return 0;
    ssize_t error = call_body(response, NULL, 0);
    response->body_is_begun = false;
    return (int)error;
}

/* ---- A try ---- */

int wf_http_try(weft_http_response *response, int64_t deadline_ns) {
    try_init(response);
    int status = wf_http_head_new(response);
    if (status)
        return status;
    wf_client_stat(response->client, WF_CLIENT_REQUESTS);
    status = send_first(response, deadline_ns);
    if (status == 0 && wf_http_has_body(response)) {
        if (response->request.expects)
            status = await_continue(response, deadline_ns);
        if (status == 0 && response->request.is_written) {
            response->stage = WF_HTTP_WRITING;
            return 0;
        }
        if (status == 0)
            status = response->request.read ? send_callback(response, deadline_ns) : send_memory(response, deadline_ns);
    }
    return await_answer(response, status, deadline_ns);
}

static void try_init(weft_http_response *response) {
    size_t room = response->client->options.max_head + WF_CLIENT_PIECE;
    wf_http_parser_init(&response->parser, true, response->in, (uint32_t)room);
    response->parser.trailers = response->trailers;
    response->parser.has_no_body = strcmp(response->method, "HEAD") == 0;
    response->sent = response->body_sent = 0;
    response->is_unsent = response->has_heard = response->was_continued = response->has_answer = false;
    response->passed_by = 0;
    response->body_error = 0;
    response->piece_size = 0;
}

/* The head, and a body from memory behind it unless the server is asked first. */
static int send_first(weft_http_response *response, int64_t deadline_ns) {
    const weft_http_request *request = &response->request;
    bool with_body = wf_http_has_body(response) && request->body && !request->expects;
    struct iovec parts[] = {
        {.iov_base = response->head, .iov_len = response->head_size},
        {.iov_base = (void *)request->body, .iov_len = with_body ? request->body_size : 0},
    };
    response->body_sent = parts[1].iov_len;
    return send_all(response, parts, 2, deadline_ns);
}

/* A server that says nothing may be one that does not know of it. */
static int await_continue(weft_http_response *response, int64_t deadline_ns) {
    int status = wf_http_answer_read(response, true, deadline_ns);
    if (status == -ETIMEDOUT && wf_os_now() < deadline_ns)
        return 0;
    return status == 1 ? 0 : status == 0 ? SEND_NO_MORE : status;
}

static int send_memory(weft_http_response *response, int64_t deadline_ns) {
    const weft_http_request *request = &response->request;
    struct iovec part = {.iov_base = (void *)request->body, .iov_len = request->body_size};
    if (response->body_sent == request->body_size)
        return 0;
    response->body_sent = request->body_size;
    return send_all(response, &part, 1, deadline_ns);
}

static int send_callback(weft_http_response *response, int64_t deadline_ns) {
    char *buffer = wf_os_alloc(WF_CLIENT_PIECE);
    int status = buffer ? 0 : -ENOMEM;
    while (status == 0) {
        status = wf_http_answer_poll(response);
        ssize_t count = status == 0 ? call_body(response, buffer, WF_CLIENT_PIECE) : status;
        if (status == 0)
            status = count > 0 ? send_piece(response, buffer, (size_t)count, deadline_ns) : (int)count;
        if (count == 0) {
            status = send_end(response, deadline_ns);
            break;
        }
    }
    wf_os_free(buffer);
    return status;
}

struct reading {
    weft_http_response *response;
    void *buffer;
    size_t size;
    ssize_t count;
};

static void call_body_try(void *opaque) {
    struct reading *reading = opaque;
    const weft_http_request *request = &reading->response->request;
    reading->count =
        reading->buffer ? request->read(reading->buffer, reading->size, request->arg) : request->rewind(request->arg);
}

/* Of the caller: reads, or (no buffer) begins again. */
static ssize_t call_body(weft_http_response *response, void *buffer, size_t size) {
    struct reading reading = {.response = response, .buffer = buffer, .size = size};
    response->body_is_begun = true;
    int error = weft_try(call_body_try, &reading, NULL, 0);
    if (error)
        return error;
    return reading.count > (ssize_t)size ? -EINVAL : reading.count;
}

/* ---- The body in pieces ---- */

int weft_http_request_write(weft_http_response *response, const void *bytes, size_t size, weft_time deadline) {
    if (!response || (!bytes && size > 0))
        return -EINVAL;
    if (response->stage != WF_HTTP_WRITING)
        return -EALREADY;
    if (response->write_error || size == 0)
        return response->write_error;
    if (response->request.length && size > response->request.length - response->body_sent)
        return -EMSGSIZE;
    int status = wf_http_answer_poll(response);
    response->body_is_begun = true;
    if (status == 0)
        status = send_piece(response, bytes, size, deadline);
    if (status == SEND_NO_MORE) {
        response->is_unsent = true;
        status = -EPIPE;
    }
    response->write_error = status;
    return status;
}

int wf_http_try_end(weft_http_response *response, int64_t deadline_ns) {
    int status = response->is_unsent ? SEND_NO_MORE : response->write_error;
    response->stage = WF_HTTP_ANSWERED;
    if (status == 0)
        status = send_end(response, deadline_ns);
    return await_answer(response, status, deadline_ns);
}

static int send_piece(weft_http_response *response, const void *bytes, size_t size, int64_t deadline_ns) {
    uint64_t length = response->request.length;
    char size_line[24];
    if (length && size > length - response->body_sent)
        return -EMSGSIZE;
    response->body_sent += size;
    int line_size = length ? 0 : snprintf(size_line, sizeof size_line, "%zx\r\n", size);
    struct iovec parts[] = {
        {.iov_base = size_line, .iov_len = (size_t)line_size},
        {.iov_base = (void *)bytes, .iov_len = size},
        {.iov_base = (void *)"\r\n", .iov_len = length ? 0 : 2},
    };
    return send_all(response, parts, 3, deadline_ns);
}

static int send_end(weft_http_response *response, int64_t deadline_ns) {
    struct iovec last = {.iov_base = (void *)"0\r\n\r\n", .iov_len = 5};
    if (response->request.length)
        return response->body_sent < response->request.length ? -EMSGSIZE : 0;
    return send_all(response, &last, 1, deadline_ns);
}

static int send_all(weft_http_response *response, struct iovec *parts, int count, int64_t deadline_ns) {
    struct wf_http_link *link = &response->peer->link;
    parts_advance(&parts, &count, 0);
    while (count > 0) {
        if (wf_os_now() >= deadline_ns) /* also where the server takes all at once */
            return -ETIMEDOUT;
        ssize_t done = link->ops->write(link, parts, count, WEFT_NOW);
        if (done > 0) {
            response->sent += (uint64_t)done;
            parts_advance(&parts, &count, (size_t)done);
            continue;
        }
        if (done == -EPIPE || done == -ECONNRESET) { /* then what it had to say has come */
            (void)wf_http_answer_poll(response);
            return response->has_answer ? SEND_NO_MORE : -ECONNRESET;
        }
        if (done != -ETIMEDOUT)
            return (int)done;
        int64_t limit = wf_http_sooner(deadline_ns, response->client->options.body_timeout);
        int status = link->ops->wait(link, !response->has_answer, limit);
        if (status == 1)
            status = wf_http_answer_poll(response);
        if (status)
            return status;
    }
    return 0;
}

static void parts_advance(struct iovec **parts, int *count, size_t done) {
    while (*count > 0 && done >= (*parts)->iov_len) {
        done -= (*parts)->iov_len;
        (*parts)++;
        (*count)--;
    }
    if (*count > 0) {
        (*parts)->iov_base = (char *)(*parts)->iov_base + done;
        (*parts)->iov_len -= done;
    }
}

static int await_answer(weft_http_response *response, int sent, int64_t deadline_ns) {
    if (sent < 0)
        return sent;
    response->is_unsent = sent == SEND_NO_MORE;
    return wf_http_answer_read(response, false, deadline_ns);
}
