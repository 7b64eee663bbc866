/* SPDX-License-Identifier: MIT
 *
 * http/parse.h - messages of HTTP/1.x in one buffer: the head, and the body in pieces.
 *
 * The grammar is llhttp's; what is here is where things are. Bytes come into the buffer at end; the head lies at its front, as
 * offsets, and stays there until the message is over; the body passes through the room behind it.
 *
 *     | head of the message | body, decoded in place | next message, or nothing yet |      room |
 *     0                 head_size                  start                          end
 *
 *     WF_HTTP_HEAD --whole head--> WF_HTTP_BODY --its end--> WF_HTTP_DONE --next--> WF_HTTP_HEAD
 */
#ifndef WF_HTTP_PARSE_H
#define WF_HTTP_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { WF_HTTP_FIELDS = 100, WF_HTTP_TRAILERS = 4096 };

/* Offsets into the buffer; both texts end with a zero once the head is whole. */
struct wf_http_field {
    uint32_t name;
    uint32_t name_size;
    uint32_t value;
    uint32_t value_size;
};

/* What a byte may be part of: a name, a host, a value. */
enum { WF_HTTP_TOKEN = 1, WF_HTTP_HOST = 2, WF_HTTP_VALUE = 4 };
extern const uint8_t wf_http_bytes[256];
/* Whether all of the text is of that kind; true for none. */
bool wf_http_is_all(const char *text, uint8_t kind);

enum wf_http_step { WF_HTTP_HEAD, WF_HTTP_BODY, WF_HTTP_DONE };

struct wf_http_parser {
    _Alignas(8) char machine[128]; /* llhttp's */
    enum wf_http_step step;
    bool is_response;
    bool keeps_alive;
    bool is_chunked;
    bool has_length;
    bool wants_upgrade;
    bool ends_with_stream; /* of a response: its body ends with the connection */
    bool has_no_body;      /* of a response: to HEAD; set by the caller before the head is parsed */
    uint8_t minor;
    uint16_t status;
    const char *method;
    uint64_t length; /* has_length */

    char *buffer;
    uint32_t room;
    uint32_t start; /* first byte that was not parsed */
    uint32_t end;
    uint32_t head_size;
    uint32_t target; /* of a response: its reason */
    uint32_t target_size;
    uint32_t field_count;
    struct wf_http_field fields[WF_HTTP_FIELDS];
    /* while the body is parsed */
    uint32_t decoded;
    char *trailers; /* room for WF_HTTP_TRAILERS, "name\0value\0" each; or NULL: they are skipped */
    uint32_t trailers_size;
    bool is_trailer_value;
    int error; /* what a callback has found */
};

/* For a connection's first message. The buffer is the caller's. */
void wf_http_parser_init(struct wf_http_parser *parser, bool is_response, char *buffer, uint32_t room);
/* The message is over: what follows it moves to the front. */
void wf_http_parser_next(struct wf_http_parser *parser);

/* 1: the head is whole, 0: more is needed. -EBADMSG: malformed; -EPROTONOSUPPORT: another version of HTTP; -E2BIG: too many
 * fields. */
int wf_http_parse_head(struct wf_http_parser *parser);
/* Decodes what has come of the body: *bytes and *size say where it is now, until the buffer is filled again. Returns 0;
 * -EBADMSG. At the end the step is DONE. is_end: the connection has ended, and nothing more will come. */
int wf_http_parse_body(struct wf_http_parser *parser, bool is_end, char **bytes, size_t *size);

/* The value of the first field of that name, or NULL; how many there are. */
const char *wf_http_find(const struct wf_http_parser *parser, const char *name);
uint32_t wf_http_count(const struct wf_http_parser *parser, const char *name);
/* Whether a list of words separated by commas has that one, whatever its case. */
bool wf_http_has_word(const char *list, const char *word);
const char *wf_http_find_trailer(const struct wf_http_parser *parser, const char *name);
bool wf_http_trailer_at(const struct wf_http_parser *parser, size_t index, const char **name, const char **value);
static inline const char *wf_http_text(const struct wf_http_parser *parser, uint32_t offset) {
    return parser->buffer + offset;
}

/* The first byte tells most of them apart. */
static inline bool wf_http_is_method(const struct wf_http_parser *parser, const char *name) {
    return *parser->method == *name && strcmp(parser->method, name) == 0;
}
/* Whether there is a parser in this library. */
bool wf_http_is_there(void);

#endif
