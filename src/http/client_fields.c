/* SPDX-License-Identifier: MIT
 *
 * http/client_fields.c - the head of a request, as text.
 *
 * The fields of a request are kept as the lines that will be sent, since a redirect sends them again. Which of them go is
 * decided line by line each time: none that belongs to the first origin goes to another, and none about a body goes without one.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/assert.h"
#include "http/client.h"
#include "os/memory.h"

/* All that a head has besides its texts; of that, one line. */
enum { HEAD_REST = 256, LENGTH_LINE = 48 };

static void append_field(char **at, const char *name, size_t name_size, const char *value, size_t value_size);
static void append_user(char **at, const char *user);
static bool line_goes(const weft_http_response *response, const char *line);
static void append_lines(char **at, const weft_http_response *response);
static void append_body(char **at, const weft_http_response *response);

static void append_text(char **at, const char *text) {
    size_t size = strlen(text);
    memcpy(*at, text, size);
    *at += size;
}

static bool line_is_of(const char *line, const char *name) {
    size_t size = strcspn(line, ":");
    return size == strlen(name) && strncasecmp(line, name, size) == 0;
}

static const char *next_line(const char *line) {
    return strchr(line, '\n') + 1;
}

int wf_http_fields_check(const weft_http_field *fields, size_t count) {
    static const char *const ours[] = {"Connection", "Upgrade", "Content-Length", "Transfer-Encoding",
                                       "TE",         "Trailer", "Expect",         "Keep-Alive"};
    if (!fields && count > 0)
        return -EINVAL;
    for (size_t i = 0; i < count; i++) {
        if (!fields[i].name || !fields[i].value || !wf_http_is_token(fields[i].name) ||
            !wf_http_is_all(fields[i].value, WF_HTTP_VALUE))
            return -EINVAL;
        for (size_t j = 0; j < sizeof ours / sizeof *ours; j++)
            if (strcasecmp(fields[i].name, ours[j]) == 0)
                return -EINVAL;
    }
    return 0;
}

bool wf_http_is_token(const char *text) {
    return *text && wf_http_is_all(text, WF_HTTP_TOKEN);
}

bool wf_http_fields_have(const char *text, const char *name) {
    for (const char *line = text; *line; line = next_line(line))
        if (line_is_of(line, name))
            return true;
    return false;
}

int wf_http_fields_new(char **out, const weft_http_field *fields, size_t count, const char *more, const char *user) {
    size_t size = strlen(more) + (user ? 2 * strlen(user) : 0) + HEAD_REST;
    for (size_t i = 0; i < count; i++)
        size += strlen(fields[i].name) + strlen(fields[i].value) + 4;
    char *text = wf_os_alloc(size);
    if (!text)
        return -ENOMEM;
    char *at = text;
    for (size_t i = 0; i < count; i++)
        append_field(&at, fields[i].name, strlen(fields[i].name), fields[i].value, strlen(fields[i].value));
    const char *own_end = at;
    for (const char *line = more; *line; line = next_line(line)) {
        bool is_there = false;
        for (const char *own = text; own < own_end && !is_there; own = next_line(own))
            is_there = strcspn(own, ":") == strcspn(line, ":") && strncasecmp(own, line, strcspn(line, ":")) == 0;
        size_t length = (size_t)(next_line(line) - line);
        if (!is_there) {
            memcpy(at, line, length);
            at += length;
        }
    }
    *at = 0;
    if (user && !wf_http_fields_have(text, "Authorization"))
        append_user(&at, user);
    *at = 0;
    *out = text;
    return 0;
}

static void append_field(char **at, const char *name, size_t name_size, const char *value, size_t value_size) {
    memcpy(*at, name, name_size);
    *at += name_size;
    append_text(at, ": ");
    memcpy(*at, value, value_size);
    *at += value_size;
    append_text(at, "\r\n");
}

/* RFC 7617: "user:password" in base 64. */
static void append_user(char **at, const char *user) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *colon = strchr(user, ':') ? "" : ":";
    size_t user_size = strlen(user), size = user_size + strlen(colon);
    append_text(at, "Authorization: Basic ");
    for (size_t i = 0; i < size; i += 3) {
        uint32_t group = 0;
        for (size_t j = 0; j < 3; j++) {
            char byte = i + j < user_size ? user[i + j] : i + j < size ? ':' : 0;
            group = group << 8 | (unsigned char)byte;
        }
        for (size_t j = 0; j < 4; j++)
            *(*at)++ = i + j <= size ? digits[group >> (18 - 6 * j) & 63] : '=';
    }
    append_text(at, "\r\n");
}

int wf_http_head_new(weft_http_response *response) {
    const weft_http_request *request = &response->request;
    const struct wf_url *url = response->url;
    size_t upgrade_size = request->upgrade ? strlen(request->upgrade) : 0;
    size_t size = strlen(url->target) + strlen(url->authority) + strlen(response->fields) + upgrade_size + HEAD_REST;
    wf_os_free(response->head);
    response->head = wf_os_alloc(size);
    if (!response->head)
        return -ENOMEM;
    char *at = response->head;
    append_text(&at, response->method);
    append_text(&at, " ");
    append_text(&at, url->target);
    append_text(&at, " HTTP/1.1\r\n");
    if (response->has_left || !wf_http_fields_have(response->fields, "Host"))
        append_field(&at, "Host", 4, url->authority, strlen(url->authority));
    append_lines(&at, response);
    if (response->takes_packed)
        append_text(&at, "Accept-Encoding: gzip, deflate\r\n");
    append_body(&at, response);
    if (request->upgrade) {
        append_text(&at, "Connection: Upgrade\r\n");
        append_field(&at, "Upgrade", 7, request->upgrade, upgrade_size);
    } else if (request->closes) {
        append_text(&at, "Connection: close\r\n");
    }
    append_text(&at, "\r\n");
    response->head_size = (size_t)(at - response->head);
    WF_ASSERT(response->head_size < size);
    return 0;
}

static void append_lines(char **at, const weft_http_response *response) {
    for (const char *line = response->fields; *line; line = next_line(line)) {
        size_t length = (size_t)(next_line(line) - line);
        if (line_goes(response, line)) {
            memcpy(*at, line, length);
            *at += length;
        }
    }
}

static bool line_goes(const weft_http_response *response, const char *line) {
    static const char *const private_ones[] = {"Authorization", "Cookie", "Proxy-Authorization", "Host"};
    for (size_t i = 0; response->has_left && i < sizeof private_ones / sizeof *private_ones; i++)
        if (line_is_of(line, private_ones[i]))
            return false;
    return !response->is_bodiless || strncasecmp(line, "Content-", 8) != 0;
}

/* How the end of the body will be known. Methods that usually have a body say so when there is none. */
static void append_body(char **at, const weft_http_response *response) {
    const weft_http_request *request = &response->request;
    static const char *const with_body[] = {"POST", "PUT", "PATCH"};
    bool has_body = wf_http_has_body(response), says_none = false;
    bool is_streamed = has_body && !request->body;
    for (size_t i = 0; i < sizeof with_body / sizeof *with_body; i++)
        says_none |= strcmp(response->method, with_body[i]) == 0;
    if (is_streamed && request->length == 0) {
        append_text(at, "Transfer-Encoding: chunked\r\n");
    } else if (has_body || says_none) {
        uint64_t length = is_streamed ? request->length : has_body ? request->body_size : 0;
        *at += snprintf(*at, LENGTH_LINE, "Content-Length: %llu\r\n", (unsigned long long)length);
    }
    if (has_body && request->expects)
        append_text(at, "Expect: 100-continue\r\n");
}
