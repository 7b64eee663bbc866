/* SPDX-License-Identifier: MIT
 *
 * http/upgrade.c - connections that become something else: a stream of events, another protocol.
 *
 * Events go out one by one, in chunks like any other response. What is handed over for another protocol is the connection's
 * descriptor itself, and what was read too much; the connection forgets it, and ends when the handler returns.
 */
#include <errno.h>
#include <string.h>

#include "http/http.h"

static bool has_break(const char *text) {
    return text && strpbrk(text, "\r\n");
}

static int begin_events(weft_http *http) {
    if (http->mode != WF_HTTP_UNSENT)
        return 0;
    int error = weft_http_set(http, "Content-Type", "text/event-stream");
    return error ? error : weft_http_set(http, "Cache-Control", "no-cache");
}

int weft_http_event(weft_http *http, const char *event, const char *data, const char *id) {
    if (!data || has_break(event) || has_break(id))
        return -EINVAL;
    int error = begin_events(http);
    if (!error && event)
        error = weft_http_print(http, "event: %s\n", event);
    if (!error && id)
        error = weft_http_print(http, "id: %s\n", id);
    do { /* a line each */
        size_t size = strcspn(data, "\r\n");
        if (!error)
            error = weft_http_write(http, "data: ", 6);
        if (!error)
            error = weft_http_write(http, data, size);
        if (!error)
            error = weft_http_write(http, "\n", 1);
        data += size;
        data += data[0] == '\r' && data[1] == '\n' ? 2 : *data ? 1 : 0;
    } while (*data && !error);
    if (!error)
        error = weft_http_write(http, "\n", 1);
    return error ? error : weft_http_flush(http);
}

int weft_http_upgrade(weft_http *http, const char *protocol, weft_fd *fd, const void **early, size_t *early_size) {
    struct wf_http_work *work = http->work;
    struct wf_http_parser *parser = &work->parser;
    if (!fd || !early || !early_size)
        return -EINVAL;
    if (http->mode != WF_HTTP_UNSENT)
        return -EALREADY;
    if (parser->minor == 0 || parser->step != WF_HTTP_DONE ||
        !wf_http_has_word(wf_http_find(parser, "Connection"), "upgrade") ||
        (protocol && !wf_http_has_word(wf_http_find(parser, "Upgrade"), protocol)))
        return -EPROTO;
    int error = protocol ? wf_http_put_upgrade(http, protocol) : 0;
    if (!error)
        error = wf_http_out_flush(http->conn);
    if (error)
        return error;
    *fd = http->conn->fd;
    *early = parser->buffer + parser->start;
    *early_size = parser->end - parser->start;
    wf_lock_take(&http->server->lock); /* for one who drops connections */
    http->conn->fd = WEFT_NO_FD;
    wf_lock_drop(&http->server->lock);
    http->conn->error = -EALREADY; /* for whoever writes on */
    http->mode = WF_HTTP_BARE;
    http->closes = true;
    return 0;
}
