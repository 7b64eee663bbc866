/* SPDX-License-Identifier: MIT
 *
 * http/url.c - takes URLs apart and puts them together. Model: http/url.h.
 *
 * A text is first cut into spans, without looking at what is in them:
 *
 *     scheme : // authority path ? query # fragment
 *
 * A reference is joined with its base on that level, and the spans of a whole URL are then checked and copied one by one into
 * one block, which has room for the worst case: each byte of the path escaped, and path and host twice.
 */
#include "http/url.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "os/memory.h"
#include "weft/net.h"

enum { HOST_MOST = 253, URL_PORT_HTTP = 80, URL_PORT_HTTPS = 443 };

struct span {
    const char *at; /* NULL: it is not there, which is not the same as empty */
    size_t size;
};

struct spans {
    struct span scheme;
    struct span authority;
    struct span path;
    struct span query;
};

/* Where the next byte of the block goes. */
struct url_writer {
    char *at;
};

static int split(const char *text, struct spans *out);
static int url_build(const struct spans *spans, struct wf_url **out);
static int build_scheme(struct wf_url *url, struct span scheme);
static int build_user(struct wf_url *url, struct url_writer *to, struct span *authority);
static int build_host(struct wf_url *url, struct url_writer *to, struct span authority);
static int read_port(struct span digits, uint16_t *port);
static int check_literal(struct span host);
static int check_name(struct span host);
static int build_target(struct wf_url *url, struct url_writer *to, const struct spans *spans);
static int put_escaped(struct url_writer *to, struct span text, bool is_query);
static void remove_dots(char *path);
static void merge(const struct wf_url *base, const struct spans *reference, char *path, struct spans *out);

static void write_bytes(struct url_writer *to, const char *bytes, size_t size) {
    memcpy(to->at, bytes, size);
    to->at += size;
}

static void write_text(struct url_writer *to, const char *text) {
    write_bytes(to, text, strlen(text));
}

static bool is_letter(char byte) {
    return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
}

static bool is_digit(char byte) {
    return byte >= '0' && byte <= '9';
}

static int hex_value(char byte) {
    if (is_digit(byte))
        return byte - '0';
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

int wf_url_parse(const char *text, struct wf_url **out) {
    struct spans spans;
    int error = split(text, &spans);
    if (error)
        return error;
    return spans.scheme.at ? url_build(&spans, out) : -EINVAL;
}

/* Control characters and spaces are wrong wherever they stand, in the fragment too. */
static int split(const char *text, struct spans *out) {
    *out = (struct spans){.scheme = {NULL, 0}};
    size_t size = strnlen(text, WF_URL_MOST + 1);
    if (size > WF_URL_MOST)
        return -EINVAL;
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)text[i] <= ' ' || text[i] == 0x7f)
            return -EINVAL;
    size_t scheme = is_letter(*text) ? 1 : 0;
    while (scheme > 0 &&
           (is_letter(text[scheme]) || is_digit(text[scheme]) || (text[scheme] && strchr("+-.", text[scheme]))))
        scheme++;
    if (scheme > 0 && text[scheme] == ':') {
        out->scheme = (struct span){text, scheme};
        text += scheme + 1;
    }
    if (text[0] == '/' && text[1] == '/') {
        text += 2;
        out->authority = (struct span){text, strcspn(text, "/?#")};
        text += out->authority.size;
    }
    out->path = (struct span){text, strcspn(text, "?#")};
    text += out->path.size;
    if (*text == '?')
        out->query = (struct span){text + 1, strcspn(text + 1, "#")};
    return 0;
}

static int url_build(const struct spans *spans, struct wf_url **out) {
    size_t path = 3 * (spans->path.size + spans->query.size) + 2;
    struct wf_url *url = wf_os_alloc(sizeof *url + 4 * spans->authority.size + 2 * path + 64);
    if (!url)
        return -ENOMEM;
    struct url_writer to = {url->bytes};
    struct span authority = spans->authority;
    int error = build_scheme(url, spans->scheme);
    if (!error)
        error = authority.at ? build_user(url, &to, &authority) : -EINVAL;
    if (!error)
        error = build_host(url, &to, authority);
    if (!error)
        error = build_target(url, &to, spans);
    if (error) {
        wf_os_free(url);
        return error;
    }
    url->text = to.at;
    write_text(&to, url->is_secure ? "https://" : "http://");
    write_text(&to, url->authority);
    write_text(&to, url->target);
    *to.at = 0; /* dots that were taken out have left bytes behind */
    *out = url;
    return 0;
}

static int build_scheme(struct wf_url *url, struct span scheme) {
    url->is_secure = scheme.size == 5;
    bool is_known = (scheme.size == 4 || scheme.size == 5) && strncasecmp(scheme.at, "https", scheme.size) == 0;
    return is_known ? 0 : -EPROTONOSUPPORT;
}

/* The last "@" ends it: a name of a host has none. The authority is what is left. */
static int build_user(struct wf_url *url, struct url_writer *to, struct span *authority) {
    size_t size = authority->size;
    while (size > 0 && authority->at[size - 1] != '@')
        size--;
    if (size == 0)
        return 0;
    url->user = to->at;
    for (size_t i = 0; i + 1 < size; i++) {
        char byte = authority->at[i];
        if (byte == '@' || byte == '\\' || byte == '[' || byte == ']')
            return -EINVAL;
        if (byte == '%') {
            int high = i + 3 < size ? hex_value(authority->at[i + 1]) : -1;
            int low = high >= 0 ? hex_value(authority->at[i + 2]) : -1;
            if (low < 0)
                return -EINVAL;
            byte = (char)(high << 4 | low);
            if ((unsigned char)byte < ' ' || byte == 0x7f)
                return -EINVAL;
            i += 2;
        }
        *to->at++ = byte;
    }
    *to->at++ = 0;
    *authority = (struct span){authority->at + size, authority->size - size};
    return 0;
}

static int build_host(struct wf_url *url, struct url_writer *to, struct span authority) {
    uint16_t scheme_port = url->is_secure ? URL_PORT_HTTPS : URL_PORT_HTTP;
    bool is_literal = authority.size > 0 && *authority.at == '[';
    const char *end = memchr(authority.at, is_literal ? ']' : ':', authority.size);
    if (is_literal && !end)
        return -EINVAL;
    struct span host = {authority.at + is_literal, end ? (size_t)(end - authority.at) - is_literal : authority.size};
    const char *port = host.at + host.size + is_literal;
    struct span rest = {port, authority.size - (size_t)(port - authority.at)};
    url->port = scheme_port;
    int error = is_literal ? check_literal(host) : check_name(host);
    if (!error && rest.size > 0)
        error = *rest.at == ':' ? read_port((struct span){rest.at + 1, rest.size - 1}, &url->port) : -EINVAL;
    if (error)
        return error;
    url->host = to->at;
    for (size_t i = 0; i < host.size; i++)
        *to->at++ = is_letter(host.at[i]) ? (char)(host.at[i] | 0x20) : host.at[i];
    *to->at++ = 0;
    url->authority = to->at;
    write_text(to, is_literal ? "[" : "");
    write_text(to, url->host);
    write_text(to, is_literal ? "]" : "");
    if (url->port != scheme_port) {
        char digits[8];
        size_t at = sizeof digits;
        for (unsigned number = url->port; number; number /= 10)
            digits[--at] = (char)('0' + number % 10);
        *to->at++ = ':';
        write_bytes(to, digits + at, sizeof digits - at);
    }
    *to->at++ = 0;
    return 0;
}

/* Empty is the scheme's own. */
static int read_port(struct span digits, uint16_t *port) {
    uint32_t number = 0;
    if (digits.size == 0)
        return 0;
    for (size_t i = 0; i < digits.size; i++) {
        if (!is_digit(digits.at[i]) || number > UINT16_MAX)
            return -EINVAL;
        number = number * 10 + (uint32_t)(digits.at[i] - '0');
    }
    if (number == 0 || number > UINT16_MAX)
        return -EINVAL;
    *port = (uint16_t)number;
    return 0;
}

static int check_literal(struct span host) {
    char ip[64];
    weft_address address;
    if (host.size == 0 || host.size >= sizeof ip || !memchr(host.at, ':', host.size) || memchr(host.at, '%', host.size))
        return -EINVAL;
    memcpy(ip, host.at, host.size);
    ip[host.size] = 0;
    return weft_address_of(&address, ip, 0);
}

static int check_name(struct span host) {
    if (host.size == 0 || host.size > HOST_MOST)
        return -EINVAL;
    for (size_t i = 0; i < host.size; i++)
        if (!is_letter(host.at[i]) && !is_digit(host.at[i]) && !strchr("-._~", host.at[i]))
            return -EINVAL;
    return 0;
}

static int build_target(struct wf_url *url, struct url_writer *to, const struct spans *spans) {
    char *target = to->at;
    url->target = target;
    if (spans->path.size == 0)
        *to->at++ = '/';
    int error = put_escaped(to, spans->path, false);
    if (error)
        return error;
    *to->at = 0;
    remove_dots(target);
    to->at = target + strlen(target);
    if (spans->query.at) {
        *to->at++ = '?';
        error = put_escaped(to, spans->query, true);
    }
    *to->at++ = 0;
    return error;
}

static int put_escaped(struct url_writer *to, struct span text, bool is_query) {
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < text.size; i++) {
        unsigned char byte = (unsigned char)text.at[i];
        if (byte == '%' && (i + 2 >= text.size || hex_value(text.at[i + 1]) < 0 || hex_value(text.at[i + 2]) < 0))
            return -EINVAL;
        bool is_plain = byte < 0x7f && !strchr(is_query ? "\"<>" : "\"<>\\^`{|}", byte);
        if (is_plain) {
            *to->at++ = (char)byte;
        } else {
            char escape[] = {'%', digits[byte >> 4], digits[byte & 15]};
            write_bytes(to, escape, sizeof escape);
        }
    }
    return 0;
}

/* RFC 3986, 5.2.4, in place, for a path that begins with "/". What would climb above the root stays there. */
static void remove_dots(char *path) {
    char *out = path;
    for (const char *at = path; *at;) {
        size_t size = strcspn(at + 1, "/");
        bool is_last = at[1 + size] == 0;
        bool is_dot = size == 1 && at[1] == '.';
        bool is_up = size == 2 && at[1] == '.' && at[2] == '.';
        if (is_up)
            while (out > path && *--out != '/')
                continue;
        if (!is_dot && !is_up) {
            memmove(out, at, size + 1);
            out += size + 1;
        } else if (is_last) {
            *out++ = '/';
        }
        at += size + 1;
    }
    *out = 0;
}

/* ---- References ---- */

int wf_url_join(const struct wf_url *base, const char *reference, struct wf_url **out) {
    struct spans spans;
    int error = split(reference, &spans);
    if (error)
        return error;
    if (spans.scheme.at)
        return url_build(&spans, out);
    spans.scheme = base->is_secure ? (struct span){"https", 5} : (struct span){"http", 4};
    if (spans.authority.at)
        return url_build(&spans, out);
    spans.authority = (struct span){base->authority, strlen(base->authority)};
    char *path = wf_os_alloc(strlen(base->target) + spans.path.size + 1);
    if (!path)
        return -ENOMEM;
    struct spans whole = spans;
    merge(base, &spans, path, &whole);
    error = url_build(&whole, out);
    wf_os_free(path);
    return error;
}

/* A path that begins with "/" is whole; another one stands for the last segment of the base's. Without any path it is the base's
 * own, and without a query too its query. */
static void merge(const struct wf_url *base, const struct spans *reference, char *path, struct spans *out) {
    size_t base_path = strcspn(base->target, "?");
    const char *query = base->target + base_path;
    if (reference->path.size == 0) {
        out->path = (struct span){base->target, base_path};
        if (!reference->query.at && *query)
            out->query = (struct span){query + 1, strlen(query + 1)};
        return;
    }
    if (*reference->path.at == '/')
        return;
    size_t kept = base_path;
    while (kept > 0 && base->target[kept - 1] != '/')
        kept--;
    memcpy(path, base->target, kept);
    memcpy(path + kept, reference->path.at, reference->path.size);
    out->path = (struct span){path, kept + reference->path.size};
}

bool wf_url_same_origin(const struct wf_url *left, const struct wf_url *right) {
    return left->is_secure == right->is_secure && left->port == right->port && strcmp(left->host, right->host) == 0;
}
