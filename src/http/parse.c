/* SPDX-License-Identifier: MIT
 *
 * http/parse.c - llhttp's callbacks, and what they leave in the buffer. Model: http/parse.h.
 *
 * llhttp is handed only what is new, and tells spans that may be cut where one handing over ended; since all of it is in one
 * buffer, pieces of a span lie next to each other and one grows by its size. It is paused when the head is whole and when the
 * message is, so that nobody parses what nobody has asked for.
 *
 * Parsing is strict: no leniency of llhttp is switched on. What it leaves open, or says only later, is checked here: an encoding
 * that is not just "chunked", and one in HTTP/1.0.
 */
#include "http/parse.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/assert.h"

#if defined(WF_LLHTTP) && WF_LLHTTP
#include <llhttp.h>

_Static_assert(sizeof(llhttp_t) <= sizeof(((struct wf_http_parser *)NULL)->machine), "the machine has room");

static int parse_url(llhttp_t *machine, const char *at, size_t size);
static int parse_field(llhttp_t *machine, const char *at, size_t size);
static int parse_value(llhttp_t *machine, const char *at, size_t size);
static int parse_value_end(llhttp_t *machine);
static int parse_pause_at_head(llhttp_t *machine);
static int parse_body_piece(llhttp_t *machine, const char *at, size_t size);
static int parse_pause_at_end(llhttp_t *machine);
static int trailer_add(struct wf_http_parser *parser, const char *at, size_t size);
static int trailer_value(struct wf_http_parser *parser, const char *at, size_t size);
static int trailer_end(struct wf_http_parser *parser);
static int head_end(struct wf_http_parser *parser, const llhttp_t *machine);
static void end_texts(struct wf_http_parser *parser);
static bool line_is_sound(const struct wf_http_parser *parser);
static bool has_version(const struct wf_http_parser *parser);
static int error_of(const struct wf_http_parser *parser, llhttp_errno_t code);

static const llhttp_settings_t parse_settings = {
    .on_url = parse_url,
    .on_status = parse_url,
    .on_header_field = parse_field,
    .on_header_value = parse_value,
    .on_header_value_complete = parse_value_end,
    .on_headers_complete = parse_pause_at_head,
    .on_body = parse_body_piece,
    .on_message_complete = parse_pause_at_end,
};

static bool is_blank(char byte) {
    return byte == ' ' || byte == '\t';
}

static llhttp_t *machine_of(const struct wf_http_parser *parser) {
    return (llhttp_t *)(void *)parser->machine;
}

static struct wf_http_parser *parser_of(llhttp_t *machine) {
    return machine->data;
}

bool wf_http_is_there(void) {
    return true;
}

static void message_init(struct wf_http_parser *parser) {
    llhttp_t *machine = machine_of(parser);
    llhttp_init(machine, parser->is_response ? HTTP_RESPONSE : HTTP_REQUEST, &parse_settings);
    machine->data = parser;
    parser->step = WF_HTTP_HEAD;
    parser->is_chunked = parser->has_length = parser->wants_upgrade = parser->has_no_body = false;
    parser->ends_with_stream = false;
    parser->start = parser->head_size = parser->target = parser->target_size = parser->field_count = 0;
    parser->method = NULL;
    parser->minor = 1; /* as far as an answer to nonsense goes */
    parser->status = 0;
    parser->trailers_size = 0;
    parser->is_trailer_value = false;
    parser->length = 0;
    parser->error = 0;
}

void wf_http_parser_init(struct wf_http_parser *parser, bool is_response, char *buffer, uint32_t room) {
    parser->is_response = is_response;
    parser->buffer = buffer;
    parser->room = room;
    parser->end = 0;
    parser->trailers = NULL;
    message_init(parser);
}

void wf_http_parser_next(struct wf_http_parser *parser) {
    uint32_t left = parser->end - parser->start;
    if (left > 0)
        memmove(parser->buffer, parser->buffer + parser->start, left);
    parser->end = left;
    message_init(parser);
}

int wf_http_parse_head(struct wf_http_parser *parser) {
    llhttp_t *machine = machine_of(parser);
    WF_ASSERT(parser->step == WF_HTTP_HEAD);
    llhttp_errno_t code = llhttp_execute(machine, parser->buffer + parser->start, parser->end - parser->start);
    if (code == HPE_OK) {
        parser->start = parser->end;
        return 0;
    }
    if (code != HPE_PAUSED)
        return error_of(parser, code);
    parser->start = parser->head_size = (uint32_t)(llhttp_get_error_pos(machine) - parser->buffer);
    return head_end(parser, machine);
}

static int head_end(struct wf_http_parser *parser, const llhttp_t *machine) {
    parser->keeps_alive = llhttp_should_keep_alive(machine);
    parser->is_chunked = machine->flags & F_CHUNKED;
    parser->has_length = machine->flags & F_CONTENT_LENGTH;
    parser->length = parser->has_length ? machine->content_length : 0;
    parser->wants_upgrade = machine->upgrade;
    parser->minor = machine->http_minor;
    parser->status = machine->status_code;
    parser->method = parser->is_response ? NULL : llhttp_method_name(machine->method);
    bool is_sound = parser->is_response || line_is_sound(parser);
    end_texts(parser);
    if (!is_sound)
        return -EBADMSG;
    if (machine->http_major != 1)
        return -EPROTONOSUPPORT;
    if (machine->flags & F_TRANSFER_ENCODING) {
        const char *encoding = wf_http_find(parser, "Transfer-Encoding");
        if (!parser->is_chunked || parser->minor == 0 || parser->has_length ||
            wf_http_count(parser, "Transfer-Encoding") != 1 || strcasecmp(encoding, "chunked") != 0)
            return -EBADMSG;
    }
    bool is_bare = parser->is_response &&
                   (parser->has_no_body || parser->status / 100 == 1 || parser->status == 204 || parser->status == 304);
    parser->ends_with_stream = parser->is_response && !is_bare && !parser->is_chunked && !parser->has_length;
    bool has_body = !is_bare && (parser->is_chunked || parser->length > 0 || parser->ends_with_stream);
    parser->step = has_body ? WF_HTTP_BODY : WF_HTTP_DONE;
    if (has_body)
        llhttp_resume(machine_of(parser));
    return 1;
}

/* llhttp takes RTSP and ICE for what they are, and more than one space: this is not a server of those. */
static bool line_is_sound(const struct wf_http_parser *parser) {
    const char *target = parser->buffer + parser->target;
    uint32_t behind = parser->target + parser->target_size;
    return parser->head_size >= behind + 6 && memcmp(parser->buffer + behind, " HTTP/", 6) == 0 &&
           parser->target >= 2 && target[-2] != ' ';
}

/* The byte behind each text belongs to the grammar, which is through with it. */
static void end_texts(struct wf_http_parser *parser) {
    char *buffer = parser->buffer;
    if (!parser->is_response || parser->target_size > 0)
        buffer[parser->target + parser->target_size] = 0;
    for (uint32_t i = 0; i < parser->field_count; i++) {
        struct wf_http_field *field = &parser->fields[i];
        while (field->value_size > 0 && is_blank(buffer[field->value + field->value_size - 1]))
            field->value_size--;
        buffer[field->name + field->name_size] = 0;
        if (field->value == 0) /* empty, and never told */
            field->value = field->name + field->name_size;
        buffer[field->value + field->value_size] = 0;
    }
}

int wf_http_parse_body(struct wf_http_parser *parser, bool is_end, char **bytes, size_t *size) {
    llhttp_t *machine = machine_of(parser);
    WF_ASSERT(parser->step == WF_HTTP_BODY);
    uint32_t from = parser->start;
    parser->decoded = 0;
    llhttp_errno_t code = llhttp_execute(machine, parser->buffer + from, parser->end - from);
    *bytes = parser->buffer + from;
    *size = parser->decoded;
    if (code == HPE_PAUSED || code == HPE_PAUSED_UPGRADE) {
        parser->start = (uint32_t)(llhttp_get_error_pos(machine) - parser->buffer);
        parser->step = WF_HTTP_DONE;
        return 0;
    }
    if (code != HPE_OK)
        return error_of(parser, code);
    parser->start = parser->end;
    if (!is_end)
        return 0;
    if (!parser->ends_with_stream)
        return -EBADMSG;
    parser->step = WF_HTTP_DONE;
    return 0;
}

static int error_of(const struct wf_http_parser *parser, llhttp_errno_t code) {
    if (parser->error)
        return parser->error;
    return code == HPE_INVALID_VERSION && !parser->is_response && has_version(parser) ? -EPROTONOSUPPORT : -EBADMSG;
}

/* " HTTP/d.d" behind the target, and not one of ours, whatever follows. */
static bool has_version(const struct wf_http_parser *parser) {
    const char *at = parser->buffer + parser->target + parser->target_size;
    if (parser->buffer + parser->end - at < 9 || memcmp(at, " HTTP/", 6) != 0 || at[7] != '.')
        return false;
    bool are_digits = at[6] >= '0' && at[6] <= '9' && at[8] >= '0' && at[8] <= '9';
    return are_digits && (at[6] != '1' || at[8] > '1');
}

/* ---- Callbacks ---- */

static uint32_t offset_of(const struct wf_http_parser *parser, const char *at) {
    return (uint32_t)(at - parser->buffer);
}

/* The target, or what a response has behind its status. */
static int parse_url(llhttp_t *machine, const char *at, size_t size) {
    struct wf_http_parser *parser = parser_of(machine);
    if (parser->target_size == 0)
        parser->target = offset_of(parser, at);
    parser->target_size += (uint32_t)size;
    return 0;
}

static int parse_field(llhttp_t *machine, const char *at, size_t size) {
    struct wf_http_parser *parser = parser_of(machine);
    if (parser->step != WF_HTTP_HEAD)
        return trailer_add(parser, at, size);
    struct wf_http_field *field = parser->field_count ? &parser->fields[parser->field_count - 1] : NULL;
    if (!field || field->value != 0 || field->name + field->name_size != offset_of(parser, at)) {
        if (parser->field_count == WF_HTTP_FIELDS) {
            parser->error = -E2BIG;
            return HPE_USER;
        }
        field = &parser->fields[parser->field_count++];
        *field = (struct wf_http_field){.name = offset_of(parser, at)};
    }
    field->name_size += (uint32_t)size;
    return 0;
}

static int parse_value(llhttp_t *machine, const char *at, size_t size) {
    struct wf_http_parser *parser = parser_of(machine);
    if (size == 0) /* an empty one is told as lying behind its line */
        return 0;
    if (parser->step != WF_HTTP_HEAD)
        return trailer_value(parser, at, size);
    struct wf_http_field *field = &parser->fields[parser->field_count - 1];
    if (field->value == 0)
        field->value = offset_of(parser, at);
    field->value_size += (uint32_t)size;
    return 0;
}

/* Also of one that is empty: the next name then begins a new field. */
static int parse_value_end(llhttp_t *machine) {
    struct wf_http_parser *parser = parser_of(machine);
    if (parser->step != WF_HTTP_HEAD)
        return trailer_end(parser);
    struct wf_http_field *field = &parser->fields[parser->field_count - 1];
    if (field->value == 0)
        field->value = field->name + field->name_size;
    return 0;
}

static int parse_pause_at_head(llhttp_t *machine) {
    (void)machine;
    return HPE_PAUSED;
}

/* Chunks lose what was between them: the next one moves up. */
static int parse_body_piece(llhttp_t *machine, const char *at, size_t size) {
    struct wf_http_parser *parser = parser_of(machine);
    char *to = parser->buffer + parser->start + parser->decoded;
    if (to != at)
        memmove(to, at, size);
    parser->decoded += (uint32_t)size;
    return 0;
}

static int parse_pause_at_end(llhttp_t *machine) {
    (void)machine;
    return HPE_PAUSED;
}

/* "name\0value\0" each. */
static int trailer_add(struct wf_http_parser *parser, const char *at, size_t size) {
    if (!parser->trailers)
        return 0;
    if (parser->trailers_size + size > WF_HTTP_TRAILERS) {
        parser->error = -E2BIG;
        return HPE_USER;
    }
    memcpy(parser->trailers + parser->trailers_size, at, size);
    parser->trailers_size += (uint32_t)size;
    return 0;
}

static int trailer_value(struct wf_http_parser *parser, const char *at, size_t size) {
    int error = parser->is_trailer_value ? 0 : trailer_add(parser, "", 1); /* the end of its name */
    parser->is_trailer_value = true;
    return error ? error : trailer_add(parser, at, size);
}

static int trailer_end(struct wf_http_parser *parser) {
    int error = trailer_value(parser, "", 0); /* it may be empty */
    while (!error && parser->trailers && is_blank(parser->trailers[parser->trailers_size - 1]))
        parser->trailers_size--; /* a value that is nothing else has the zero of its name before it */
    parser->is_trailer_value = false;
    return error ? error : trailer_add(parser, "", 1);
}

#else /* a library without a parser: nothing here is reached but the first */

bool wf_http_is_there(void) {
    return false;
}
void wf_http_parser_init(struct wf_http_parser *parser, bool is_response, char *buffer, uint32_t room) {
    parser->is_response = is_response;
    parser->buffer = buffer;
    parser->room = room;
}
void wf_http_parser_next(struct wf_http_parser *parser) {
    parser->step = WF_HTTP_HEAD;
}
int wf_http_parse_head(struct wf_http_parser *parser) {
    (void)parser;
    return -ENOSYS;
}
int wf_http_parse_body(struct wf_http_parser *parser, bool is_end, char **bytes, size_t *size) {
    (void)parser, (void)is_end, (void)bytes, (void)size;
    return -ENOSYS;
}
#endif

/* ---- Looking things up ---- */

/* RFC 9110 5.6.2 and 5.5, RFC 3986 3.2.2; in rows of 32. */
const uint8_t wf_http_bytes[256] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 7, 4, 5, 7,
    7, 7, 7, 6, 6, 7, 7, 4, 7, 7, 4, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 6, 6, 4, 6, 4, 4, 4, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 6, 4, 6, 5, 7, 5, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 4, 5, 4, 7, 0, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4,
    4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4,
    4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4,
    4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4,
};

bool wf_http_is_all(const char *text, uint8_t kind) {
    while (wf_http_bytes[(unsigned char)*text] & kind)
        text++;
    return *text == 0;
}

/* Whatever its case. The first letter tells most of them apart. */
static bool is_called(const struct wf_http_parser *parser, const struct wf_http_field *field, const char *name,
                      size_t size) {
    const char *text = parser->buffer + field->name;
    return field->name_size == size && ((*text ^ *name) & ~0x20) == 0 && strncasecmp(text, name, size) == 0;
}

const char *wf_http_find(const struct wf_http_parser *parser, const char *name) {
    size_t size = strlen(name);
    for (uint32_t i = 0; i < parser->field_count; i++) {
        const struct wf_http_field *field = &parser->fields[i];
        if (is_called(parser, field, name, size))
            return parser->buffer + field->value;
    }
    return NULL;
}

uint32_t wf_http_count(const struct wf_http_parser *parser, const char *name) {
    size_t size = strlen(name);
    uint32_t count = 0;
    for (uint32_t i = 0; i < parser->field_count; i++)
        count += is_called(parser, &parser->fields[i], name, size);
    return count;
}

bool wf_http_has_word(const char *list, const char *word) {
    size_t size = strlen(word);
    while (list && *list) {
        list += strspn(list, " \t,");
        size_t here = strcspn(list, " \t,;");
        if (here == size && strncasecmp(list, word, size) == 0)
            return true;
        list += strcspn(list, ",");
    }
    return false;
}

const char *wf_http_find_trailer(const struct wf_http_parser *parser, const char *name) {
    const char *at, *value;
    for (size_t i = 0; wf_http_trailer_at(parser, i, &at, &value); i++)
        if (strcasecmp(at, name) == 0)
            return value;
    return NULL;
}

bool wf_http_trailer_at(const struct wf_http_parser *parser, size_t index, const char **name, const char **value) {
    const char *at = parser->trailers, *end = at ? at + parser->trailers_size : NULL;
    for (; at && at < end; index--) {
        const char *behind = at + strlen(at) + 1;
        if (behind > end)
            return false;
        if (index == 0) {
            *name = at;
            *value = behind;
            return true;
        }
        at = behind + strlen(behind) + 1;
    }
    return false;
}
