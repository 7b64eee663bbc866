/* SPDX-License-Identifier: MIT
 *
 * http/request.c - what a handler sees of the request.
 *
 * The texts are in the work's buffer, where the parser has ended them with zeros. The path is a decoded copy: no segment of it
 * is "." or "..", and no byte of it is zero; what would climb above the root is refused.
 *
 * The body is read in pieces as large as the buffer has room for, decoded in place, and copied out from there. A client that is
 * slow has body_timeout for each piece, and for all of it that much and a second for each min_rate bytes.
 */
#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "http/http.h"
#include "os/clock.h"

/* What may be around the bytes of chunks: 64 KiB and seven times as much as they are. One byte a chunk is five times. */
enum { RAW_FREE = 64 * 1024, RAW_RATIO = 8 };

/* The fields that every request is asked for. */
struct noted {
    const char *host; /* the first */
    uint32_t host_count;
    const char *expect; /* the first, or NULL */
};

static void note_fields(const struct wf_http_parser *parser, struct noted *noted);
static int check_host(const struct wf_http_parser *parser, const struct noted *noted);
static int check_path(weft_http *http, const char *target, size_t size);
static int decode(char *out, const char *text, size_t size, bool *has_dots);
static int hex_digit(char digit);
static int normalise(char *path);
static int next_piece(weft_http *http);
static int await_piece(weft_http *http);
static int await_input(weft_http *http, weft_case *other, int64_t deadline_ns);

int wf_http_request_check(weft_http *http) {
    const struct wf_http_parser *parser = &http->work->parser;
    const char *target = wf_http_text(parser, parser->target);
    struct noted noted = {0};
    note_fields(parser, &noted);
    http->closes = !parser->keeps_alive || (http->server->options.max_requests &&
                                            http->conn->requests + 1 >= http->server->options.max_requests);
    int status = check_host(parser, &noted);
    if (status)
        return status;
    if (wf_http_is_method(parser, "CONNECT"))
        return 501;
    if (noted.expect) {
        if (strcasecmp(noted.expect, "100-continue") != 0)
            return 417;
        http->expects = parser->minor > 0 && parser->step == WF_HTTP_BODY;
    }
    if (target[0] == '*' && target[1] == 0) {
        http->path = "*";
        http->query = "";
        return wf_http_is_method(parser, "OPTIONS") ? 0 : 400;
    }
    return check_path(http, target, parser->target_size);
}

/* Whatever its case; name is in small letters. No other byte becomes one by that bit. */
static bool is_named(const char *text, const char *name, size_t size) {
    for (size_t i = 0; i < size; i++)
        if ((text[i] | 0x20) != name[i])
            return false;
    return true;
}

static void note_fields(const struct wf_http_parser *parser, struct noted *noted) {
    for (uint32_t i = 0; i < parser->field_count; i++) {
        const struct wf_http_field *field = &parser->fields[i];
        const char *name = wf_http_text(parser, field->name), *value = wf_http_text(parser, field->value);
        if (field->name_size == 4 && is_named(name, "host", 4)) {
            if (noted->host_count++ == 0)
                noted->host = value;
        } else if (field->name_size == 6 && !noted->expect && is_named(name, "expect", 6)) {
            noted->expect = value;
        }
    }
}

static int check_host(const struct wf_http_parser *parser, const struct noted *noted) {
    if (noted->host_count != 1)
        return noted->host_count > 1 || parser->minor > 0 ? 400 : 0;
    return wf_http_is_all(noted->host, WF_HTTP_HOST) ? 0 : 400;
}

/* "/path?query", or the absolute form that proxies are sent, whose host is not looked at. */
static int check_path(weft_http *http, const char *target, size_t size) {
    const char *end = target + size;
    if (*target != '/' && size > 7 && strncasecmp(target, "http://", 7) == 0) {
        target += 7;
        size_t host_size = strcspn(target, "/?");
        if (host_size == 0)
            return 400;
        target += host_size;
    }
    const char *query = target;
    while (query < end && *query != '?' && *query != '#')
        query++;
    if (query < end && memchr(query, '#', (size_t)(end - query)))
        return 400;
    size_t path_size = (size_t)(query - target);
    http->query = query < end ? query + 1 : "";
    char *path = wf_http_text_take(http, path_size + 2);
    if (!path)
        return 414;
    http->path = path;
    if (path_size == 0) {
        memcpy(path, "/", 2);
        return *target == 0 || *target == '?' ? 0 : 400;
    }
    bool has_dots = false;
    if (*target != '/' || decode(path, target, path_size, &has_dots) != 0 || (has_dots && normalise(path) != 0))
        return 400;
    return 0;
}

/* With a zero. *has_dots: a segment begins with one. -EINVAL for what is no escape, and for a zero byte. */
static int decode(char *out, const char *text, size_t size, bool *has_dots) {
    char before = 0;
    for (size_t i = 0; i < size; i++) {
        char byte = text[i];
        if (byte == '%') {
            int high = i + 2 < size ? hex_digit(text[i + 1]) : -1;
            int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
            if (low < 0 || (high == 0 && low == 0))
                return -EINVAL;
            byte = (char)(high << 4 | low);
            i += 2;
        }
        *has_dots |= before == '/' && byte == '.';
        *out++ = before = byte;
    }
    *out = 0;
    return 0;
}

static int hex_digit(char digit) {
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    digit |= 0x20;
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Takes "." and ".." out, in place. -EINVAL when that leads above the root. */
static int normalise(char *path) {
    char *out = path;
    for (const char *at = path; *at;) {
        WF_ASSERT(*at == '/');
        size_t size = strcspn(at + 1, "/");
        bool is_last = at[1 + size] == 0;
        if (size == 1 && at[1] == '.') {
            if (is_last)
                *out++ = '/';
        } else if (size == 2 && at[1] == '.' && at[2] == '.') {
            if (out == path)
                return -EINVAL;
            do {
                out--;
            } while (*out != '/');
            if (is_last)
                *out++ = '/';
        } else {
            memmove(out, at, size + 1);
            out += size + 1;
        }
        at += size + 1;
    }
    if (out == path)
        *out++ = '/';
    *out = 0;
    return 0;
}

char *wf_http_text_take(weft_http *http, size_t size) {
    if (size > WF_HTTP_TEXT - http->work->text_size)
        return NULL;
    char *text = http->work->text + http->work->text_size;
    http->work->text_size += (uint32_t)size;
    return text;
}

/* ---- Reading it ---- */

const char *weft_http_method(const weft_http *http) {
    return http->work->parser.method;
}

const char *weft_http_target(const weft_http *http) {
    return wf_http_text(&http->work->parser, http->work->parser.target);
}

const char *weft_http_path(const weft_http *http) {
    return http->path;
}

const char *weft_http_query(const weft_http *http) {
    return http->query;
}

const char *weft_http_parameter(const weft_http *http, const char *name) {
    size_t size = name ? strlen(name) : 0;
    for (uint32_t i = 0; name && i < http->parameter_count; i++)
        if (http->parameters[i].name_size == size && memcmp(http->parameters[i].name, name, size) == 0)
            return http->parameters[i].value;
    return NULL;
}

const char *weft_http_header(const weft_http *http, const char *name) {
    return name ? wf_http_find(&http->work->parser, name) : NULL;
}

bool weft_http_header_at(const weft_http *http, size_t index, const char **name, const char **value) {
    const struct wf_http_parser *parser = &http->work->parser;
    if (index >= parser->field_count)
        return false;
    if (name)
        *name = wf_http_text(parser, parser->fields[index].name);
    if (value)
        *value = wf_http_text(parser, parser->fields[index].value);
    return true;
}

int weft_http_peer(const weft_http *http, weft_address *out) {
    if (!out)
        return -EINVAL;
    *out = http->conn->peer;
    return 0;
}

bool weft_http_is_1_1(const weft_http *http) {
    return http->work->parser.minor > 0;
}

/* ---- The body ---- */

int64_t weft_http_body_size(const weft_http *http) {
    const struct wf_http_parser *parser = &http->work->parser;
    return parser->is_chunked ? -1 : parser->length > INT64_MAX ? INT64_MAX : (int64_t)parser->length;
}

void weft_http_limit_body(weft_http *http, uint64_t bytes) {
    http->max_body = bytes;
}

const char *weft_http_trailer(const weft_http *http, const char *name) {
    return name && http->work->parser.step == WF_HTTP_DONE ? wf_http_find_trailer(&http->work->parser, name) : NULL;
}

bool weft_http_trailer_at(const weft_http *http, size_t index, const char **name, const char **value) {
    const struct wf_http_parser *parser = &http->work->parser;
    const char *ignored;
    return parser->step == WF_HTTP_DONE &&
           wf_http_trailer_at(parser, index, name ? name : &ignored, value ? value : &ignored);
}

ssize_t weft_http_read(weft_http *http, void *buffer, size_t size) {
    return weft_http_read_or(http, buffer, size, NULL);
}

ssize_t weft_http_read_or(weft_http *http, void *buffer, size_t size, weft_case *other) {
    if (!buffer && size > 0)
        return -EINVAL;
    if (http->piece_size == 0 && !http->body_error) {
        http->other = other;
        int error = next_piece(http);
        http->other = NULL;
        if (error == -EINTR)
            return error;
        http->body_error = error;
    }
    if (http->body_error && http->piece_size == 0) {
        http->closes = true;
        return http->body_error;
    }
    size_t count = size < http->piece_size ? size : http->piece_size;
    if (count > 0)
        memcpy(buffer, http->piece, count);
    http->piece += count;
    http->piece_size -= count;
    return (ssize_t)count;
}

/* Something to hand out, or the end: then piece_size stays 0. */
static int next_piece(weft_http *http) {
    struct wf_http_parser *parser = &http->work->parser;
    if (parser->step == WF_HTTP_BODY && parser->has_length && parser->length > http->max_body)
        return -EMSGSIZE;
    if (http->expects && parser->step == WF_HTTP_BODY) {
        http->expects = false;
        int error = parser->end > parser->start ? 0 : wf_http_continue(http);
        if (error)
            return error;
    }
    while (parser->step == WF_HTTP_BODY && http->piece_size == 0) {
        int error = parser->start == parser->end ? await_piece(http) : 0;
        if (error)
            return error;
        uint32_t from = parser->start;
        error = wf_http_parse_body(parser, false, &http->piece, &http->piece_size);
        http->body_raw += parser->start - from;
        http->body_read += http->piece_size;
        if (error || http->body_read > http->max_body) {
            http->piece_size = 0;
            return error && error != -E2BIG ? error : -EMSGSIZE;
        }
        if (http->body_raw > RAW_FREE && http->body_raw / RAW_RATIO > http->body_read)
            return -EBADMSG;
    }
    return 0;
}

/* Only the time that is spent here counts: a handler may take its own between two pieces. */
static int await_piece(weft_http *http) {
    struct wf_http_parser *parser = &http->work->parser;
    const weft_http_options *options = &http->server->options;
    int64_t begun = wf_os_now();
    int64_t patience = wf_http_patience(options, http->body_read, http->body_waited);
    int64_t deadline = wf_time_add(begun, patience < options->body_timeout ? patience : options->body_timeout);
    parser->start = parser->end = parser->head_size;
    wf_http_chunk_close(http);
    int count = wf_http_fill(http->conn, http->other ? WF_HTTP_AT_ONCE : deadline);
    while (http->other && count == -ETIMEDOUT) {
        int error = await_input(http, http->other, deadline);
        count = error ? error : wf_http_fill(http->conn, WF_HTTP_AT_ONCE);
        if (error)
            break;
    }
    http->body_waited += wf_os_now() - begun;
    return count > 0 ? 0 : count == 0 ? -ECONNRESET : count;
}

/* Until something has come: 0; or the other case: -EINTR. */
static int await_input(weft_http *http, weft_case *other, int64_t deadline_ns) {
    weft_case cases[] = {*other, weft_on_readable(http->conn->fd)};
    int chosen = weft_select_ordered(cases, 2, deadline_ns);
    if (chosen == 0)
        other->status = cases[0].status;
    if (chosen == -ECANCELED)
        http->conn->error = chosen;
    return chosen == 0 ? -EINTR : chosen < 0 ? chosen : 0;
}

int weft_http_await_end(weft_http *http, weft_case *other) {
    struct wf_http_parser *parser = &http->work->parser;
    if (!other)
        return -EINVAL;
    while (parser->step == WF_HTTP_DONE && parser->start == parser->end && !http->conn->error) {
        int error = await_input(http, other, WEFT_NEVER);
        if (error)
            return error;
        parser->start = parser->end = parser->head_size;
        if (wf_http_fill(http->conn, WF_HTTP_AT_ONCE) == 0) {
            http->closes = true;
            return 0;
        }
    }
    int chosen = http->conn->error ? 1 : weft_select(other, 1, WEFT_NEVER);
    return chosen == 0 ? -EINTR : chosen < 0 ? chosen : 0;
}

bool wf_http_body_skip(weft_http *http) {
    const struct wf_http_parser *parser = &http->work->parser;
    uint64_t limit = http->body_read + WF_HTTP_SKIP;
    if (http->expects) /* it was never told to send it, and may do so or not */
        return false;
    while (parser->step == WF_HTTP_BODY) {
        http->piece_size = 0;
        if (http->body_error || http->body_read > limit || (http->body_error = next_piece(http)) != 0)
            return false;
    }
    return true;
}
