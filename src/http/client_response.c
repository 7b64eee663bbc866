/* SPDX-License-Identifier: MIT
 *
 * http/client_response.c - the answer: its head, its body in pieces or whole, and what becomes of the connection.
 *
 * As in the server, head and texts stay at the front of the buffer, and the body passes behind them. The peer goes back to the
 * client, or is closed, at the moment when the body has been parsed to its end; what the caller has not read by then is in the
 * buffer.
 *
 * A call that was interrupted (deadline, cancellation, no memory for a timer) has lost nothing and can be made again. Every
 * other error is final.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

#include "base/assert.h"
#include "http/client.h"
#include "os/memory.h"

/* Heads with 1xx before the answer, and what a read counts for, whatever it brings, when bodies are read past. */
enum { PASSED_BY_MOST = 32, SKIP_STEP = 1024 };

static int parse_answer(weft_http_response *response);
static int fill_answer(weft_http_response *response, int64_t deadline_ns);
static bool connection_is_kept(const struct wf_http_parser *parser);
static void peer_settle(weft_http_response *response);
static int answer_piece(weft_http_response *response, int64_t deadline_ns);
static int final_error(weft_http_response *response, int error);
static ssize_t read_plain(weft_http_response *response, char *buffer, size_t size, int64_t deadline_ns);
static ssize_t read_unpacked(weft_http_response *response, char *buffer, size_t size, int64_t deadline_ns);
static int body_grow(weft_http_response *response);

/* ---- The head ---- */

int wf_http_answer_read(weft_http_response *response, bool for_continue, int64_t deadline_ns) {
    const weft_http_client_options *options = &response->client->options;
    int64_t limit = wf_http_sooner(deadline_ns, for_continue ? options->continue_timeout : options->head_timeout);
    for (;;) {
        int error = parse_answer(response);
        if (error || response->has_answer)
            return error;
        if (for_continue && response->was_continued)
            return 1;
        int count = fill_answer(response, limit);
        if (count <= 0)
            return count == 0 ? -ECONNRESET : count;
    }
}

int wf_http_answer_poll(weft_http_response *response) {
    while (!response->has_answer) {
        int count = fill_answer(response, WEFT_NOW);
        if (count <= 0)
            return count == 0 ? -ECONNRESET : count == -ETIMEDOUT ? 0 : count;
        int error = parse_answer(response);
        if (error)
            return error;
    }
    return response->parser.status >= 300;
}

/* Takes what is in the buffer. Heads with 1xx are only passed by, but for 101 when it was asked for. */
static int parse_answer(weft_http_response *response) {
    struct wf_http_parser *parser = &response->parser;
    size_t max_head = response->client->options.max_head;
    while (!response->has_answer && parser->end > parser->start) {
        int verdict = wf_http_parse_head(parser);
        if (verdict < 0)
            return verdict == -E2BIG ? -EMSGSIZE : -EBADMSG;
        if ((verdict == 0 ? parser->end : parser->head_size) > max_head)
            return -EMSGSIZE;
        if (verdict == 0)
            return 0;
        if (parser->status == 101 && !response->request.upgrade)
            return -EBADMSG;
        if (parser->status >= 200 || parser->status == 101) {
            response->has_answer = true;
            return 0;
        }
        if (++response->passed_by > PASSED_BY_MOST)
            return -EBADMSG;
        response->was_continued |= parser->status == 100;
        bool has_no_body = parser->has_no_body;
        wf_http_parser_next(parser);
        parser->has_no_body = has_no_body;
    }
    return 0;
}

/* How many bytes more; 0 at the end. */
static int fill_answer(weft_http_response *response, int64_t deadline_ns) {
    struct wf_http_parser *parser = &response->parser;
    struct wf_http_link *link = &response->peer->link;
    WF_ASSERT(parser->room > parser->end);
    ssize_t count = link->ops->read(link, parser->buffer + parser->end, parser->room - parser->end, deadline_ns);
    if (count > 0) {
        parser->end += (uint32_t)count;
        response->has_heard = true;
    }
    return (int)count;
}

int wf_http_answer_begin(weft_http_response *response) {
    const struct wf_http_parser *parser = &response->parser;
    response->stage = WF_HTTP_ANSWERED;
    const char *packing = response->unpacks ? wf_http_find(parser, "Content-Encoding") : NULL;
    bool is_gzip = packing && (strcasecmp(packing, "gzip") == 0 || strcasecmp(packing, "x-gzip") == 0);
    if (parser->step == WF_HTTP_BODY && packing && (is_gzip || strcasecmp(packing, "deflate") == 0)) {
        int error = wf_unpack_new(&response->unpack, is_gzip);
        if (error)
            return error;
    }
    if (parser->step == WF_HTTP_DONE && parser->status != 101)
        peer_settle(response);
    return 0;
}

/* ---- The connection ---- */

/* The message is over. What comes behind it, nobody has asked for. */
static void peer_settle(weft_http_response *response) {
    const struct wf_http_parser *parser = &response->parser;
    struct wf_http_peer *peer = response->peer;
    bool is_kept = connection_is_kept(parser) && !response->is_unsent && !response->request.closes &&
                   !response->request.upgrade && parser->start == parser->end;
    response->peer = NULL;
    if (is_kept)
        wf_http_peer_give(response->client, peer);
    else
        wf_http_peer_drop(response->client, peer);
}

/* llhttp's own answer is wrong for HEAD: it waits for a body. */
static bool connection_is_kept(const struct wf_http_parser *parser) {
    bool says_close = false, says_keep = false;
    for (uint32_t i = 0; i < parser->field_count; i++)
        if (strcasecmp(wf_http_text(parser, parser->fields[i].name), "Connection") == 0) {
            const char *value = wf_http_text(parser, parser->fields[i].value);
            says_close |= wf_http_has_word(value, "close");
            says_keep |= wf_http_has_word(value, "keep-alive");
        }
    return !says_close && !parser->ends_with_stream && (parser->minor > 0 || says_keep);
}

void wf_http_answer_skip(weft_http_response *response) {
    const struct wf_http_parser *parser = &response->parser;
    size_t skipped = 0;
    while (response->peer && parser->step == WF_HTTP_BODY && !parser->ends_with_stream && skipped < WF_CLIENT_SKIP) {
        skipped += response->piece_size + SKIP_STEP;
        response->piece_size = 0;
        if (answer_piece(response, WEFT_NOW) != 0)
            break;
    }
    response->piece_size = 0;
    if (response->peer && response->has_answer && parser->step == WF_HTTP_DONE && parser->status != 101)
        peer_settle(response);
    if (response->peer)
        wf_http_peer_drop(response->client, response->peer);
    response->peer = NULL;
}

int weft_http_response_take(weft_http_response *response, weft_fd *out, const void **extra, size_t *size) {
    if (!response || !out || !extra || !size)
        return -EINVAL;
    const struct wf_http_parser *parser = &response->parser;
    if (!response->peer || !response->has_answer || parser->status != 101)
        return -EINVAL;
    *out = wf_http_peer_release(response->client, response->peer);
    *extra = parser->buffer + parser->start;
    *size = parser->end - parser->start;
    response->peer = NULL;
    return 0;
}

void weft_http_response_close(weft_http_response *response) {
    if (!response)
        return;
    if (response->stage == WF_HTTP_WRITING)
        response->is_unsent = true;
    if (response->peer)
        wf_http_answer_skip(response);
    wf_http_response_free(response);
}

/* ---- Reading it ---- */

int weft_http_response_status(const weft_http_response *response) {
    return response->has_answer ? response->parser.status : 0;
}

const char *weft_http_response_url(const weft_http_response *response) {
    return response->url->text;
}

const char *weft_http_response_reason(const weft_http_response *response) {
    const struct wf_http_parser *parser = &response->parser;
    return response->has_answer && parser->target_size > 0 ? wf_http_text(parser, parser->target) : "";
}

const char *weft_http_response_header(const weft_http_response *response, const char *name) {
    return response->has_answer && name ? wf_http_find(&response->parser, name) : NULL;
}

bool weft_http_response_header_at(const weft_http_response *response, size_t index, const char **name,
                                  const char **value) {
    const struct wf_http_parser *parser = &response->parser;
    if (!response->has_answer || index >= parser->field_count)
        return false;
    if (name)
        *name = wf_http_text(parser, parser->fields[index].name);
    if (value)
        *value = wf_http_text(parser, parser->fields[index].value);
    return true;
}

const char *weft_http_response_trailer(const weft_http_response *response, const char *name) {
    bool is_over = response->has_answer && response->parser.step == WF_HTTP_DONE;
    return is_over && name ? wf_http_find_trailer(&response->parser, name) : NULL;
}

bool weft_http_response_trailer_at(const weft_http_response *response, size_t index, const char **name,
                                   const char **value) {
    const char *ignored;
    bool is_over = response->has_answer && response->parser.step == WF_HTTP_DONE;
    return is_over && wf_http_trailer_at(&response->parser, index, name ? name : &ignored, value ? value : &ignored);
}

int64_t weft_http_response_size(const weft_http_response *response) {
    const struct wf_http_parser *parser = &response->parser;
    if (!response->has_answer || response->unpack || parser->is_chunked || parser->ends_with_stream)
        return -1;
    bool has_body = !parser->has_no_body && parser->has_length && parser->status != 204 && parser->status != 304;
    return !has_body ? 0 : parser->length > INT64_MAX ? INT64_MAX : (int64_t)parser->length;
}

/* ---- The body ---- */

ssize_t weft_http_response_read(weft_http_response *response, void *buffer, size_t size, weft_time deadline) {
    if (!response || (!buffer && size > 0) || response->stage != WF_HTTP_ANSWERED)
        return -EINVAL;
    if (response->body_error)
        return response->body_error;
    if (size == 0)
        return 0;
    if (size > SSIZE_MAX)
        size = SSIZE_MAX;
    return response->unpack ? read_unpacked(response, buffer, size, deadline)
                            : read_plain(response, buffer, size, deadline);
}

static ssize_t read_plain(weft_http_response *response, char *buffer, size_t size, int64_t deadline_ns) {
    int error = answer_piece(response, deadline_ns);
    if (error)
        return error;
    size_t count = size < response->piece_size ? size : response->piece_size;
    if (count > 0)
        memcpy(buffer, response->piece, count);
    response->piece += count;
    response->piece_size -= count;
    return (ssize_t)count;
}

/* What is left inside comes before more is read. */
static ssize_t read_unpacked(weft_http_response *response, char *buffer, size_t size, int64_t deadline_ns) {
    char *out = buffer;
    for (int tries = 0;;) {
        response->has_packed |= response->piece_size > 0;
        int status = wf_unpack_step(response->unpack, &response->piece, &response->piece_size, &out, &size);
        if (status < 0) {
            (void)final_error(response, -EBADMSG);
            return response->body_error = status; /* also -ENOMEM: it cannot go on where it was */
        }
        response->is_unpacked = status == 1;
        if (out != buffer)
            return out - buffer;
        if (response->piece_size > 0)
            continue;
        if (response->parser.step == WF_HTTP_DONE)
            return response->is_unpacked || !response->has_packed ? 0 : final_error(response, -EBADMSG);
        int error = answer_piece(response, deadline_ns);
        if (error)
            return error;
        if (tries++ > 0 && wf_os_now() >= deadline_ns)
            return -ETIMEDOUT; /* it comes, and unpacks to nothing */
    }
}

/* Something to hand out, or the end: then piece_size stays 0. What comes may be nothing for the body, for as long as the server
 * likes: the deadline counts then too. */
static int answer_piece(weft_http_response *response, int64_t deadline_ns) {
    struct wf_http_parser *parser = &response->parser;
    int64_t limit = WF_NEVER;
    bool is_first = true;
    while (parser->step == WF_HTTP_BODY && response->piece_size == 0) {
        bool is_end = false;
        if (parser->start == parser->end) {
            parser->start = parser->end = parser->head_size;
            if (is_first)
                limit = wf_http_sooner(deadline_ns, response->client->options.body_timeout);
            else if (wf_os_now() >= limit)
                return -ETIMEDOUT;
            is_first = false;
            int count = fill_answer(response, limit);
            is_end = count == 0;
            if (count < 0 || (is_end && !parser->ends_with_stream))
                return final_error(response, is_end ? -ECONNRESET : count);
        }
        int error = wf_http_parse_body(parser, is_end, &response->piece, &response->piece_size);
        if (error)
            return final_error(response, error == -E2BIG ? -EMSGSIZE : error);
    }
    if (parser->step == WF_HTTP_DONE && response->peer)
        peer_settle(response);
    return 0;
}

/* Interruptions are not. */
static int final_error(weft_http_response *response, int error) {
    if (error == -ETIMEDOUT || error == -ECANCELED || error == -ENOMEM)
        return error;
    if (response->peer)
        wf_http_peer_drop(response->client, response->peer);
    response->peer = NULL;
    return response->body_error = error;
}

int weft_http_response_body(weft_http_response *response, const void **bytes, size_t *size, weft_time deadline) {
    if (!response || !bytes || !size || response->stage != WF_HTTP_ANSWERED)
        return -EINVAL;
    while (!response->is_whole) {
        if (deadline != WEFT_NOW && wf_os_now() >= deadline)
            return -ETIMEDOUT; /* also where it comes all the time */
        int error = response->body_size + 1 >= response->body_room ? body_grow(response) : 0;
        if (error)
            return error;
        size_t room = response->body_room - response->body_size - 1;
        ssize_t count = weft_http_response_read(response, response->body + response->body_size, room, deadline);
        if (count < 0)
            return (int)count;
        response->body_size += (size_t)count;
        response->is_whole = count == 0;
        if (response->body_size > response->client->options.max_body)
            return final_error(response, -EMSGSIZE);
    }
    response->body[response->body_size] = 0;
    *bytes = response->body;
    *size = response->body_size;
    return 0;
}

/* To what is promised, if that is allowed, or twice as much; with one byte to see that it is too much, and one for a zero. */
static int body_grow(weft_http_response *response) {
    uint64_t most = response->client->options.max_body + 2;
    int64_t promised = weft_http_response_size(response);
    uint64_t room = response->body_room ? 2 * (uint64_t)response->body_room : WF_CLIENT_PIECE;
    if (promised >= 0 && (uint64_t)promised > response->client->options.max_body)
        return final_error(response, -EMSGSIZE);
    if (promised >= 0 && response->body_room == 0)
        room = (uint64_t)promised + 2;
    if (room > most)
        room = most;
    char *grown = wf_os_alloc(room);
    if (!grown)
        return -ENOMEM;
    if (response->body_size > 0)
        memcpy(grown, response->body, response->body_size);
    wf_os_free(response->body);
    response->body = grown;
    response->body_room = room;
    return 0;
}
