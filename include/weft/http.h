/* SPDX-License-Identifier: MIT
 *
 * weft/http.h - an HTTP/1.1 server: one fiber a connection, and handlers that look as if they blocked.
 *
 *     static void hello(weft_http *http, void *arg) {
 *         const char *name = weft_http_parameter(http, "name");
 *         weft_http_print(http, "Hello, %s!\n", name);
 *     }
 *
 *     weft_http_server *server;
 *     weft_http_server_new(&server, NULL);
 *     weft_http_route(server, "GET /hello/:name", hello, NULL);
 *     weft_http_serve(server, listener);              // until weft_http_server_stop
 *     weft_http_server_free(server);
 *
 * A weft_http is one exchange, a request and its response; it belongs to the handler until that returns. What a handler has not
 * read of the body is read past; one that has sent nothing is taken to have sent an empty body, and 204 if it has set nothing.
 * A handler that panics costs its connection and nobody else's; if nothing was sent yet the client gets 500.
 *
 * Texts that these functions return belong to the exchange, end with a zero byte, and are good until the handler returns.
 *
 * Requests that are malformed, ambiguous (two lengths, a length and an encoding, an unknown encoding, a lone CR or LF where CR LF
 * belongs, no Host, two of them), too large or too slow are answered with 4xx and the connection ends.
 */
#ifndef WEFT_HTTP_H
#define WEFT_HTTP_H

#include "weft/net.h"
#include "weft/select.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_http_server weft_http_server;
typedef struct weft_http weft_http;
typedef void (*weft_http_handler)(weft_http *http, void *arg);

/* What the access log is told of each exchange. Texts are good during the call. */
typedef struct weft_http_entry {
    const char *peer;
    const char *method;
    const char *target;
    int status;          /* 0: the connection ended before there was one */
    uint64_t body_bytes; /* of the response, as sent */
    int64_t took_ns;     /* from the first byte of the request */
} weft_http_entry;

/* Zero is the default everywhere. */
typedef struct weft_http_options {
    size_t max_head;   /* bytes of request line and header together; 16 KiB. More is 431, a longer target 414 */
    uint64_t max_body; /* bytes of a request's body; 16 MiB. More is 413; a handler may change it for its request */
    uint32_t max_connections; /* at once; 100,000. Further ones wait to be accepted */
    uint32_t max_requests;    /* on one connection; 0: as many as come */
    int64_t idle_timeout;     /* between requests, and up to a second more; 75 s */
    int64_t head_timeout;     /* from the first byte of a request to the end of its header; 10 s */
    int64_t body_timeout;     /* for each piece of the body to come, and for each piece of the response to go; 30 s */
    uint32_t min_rate;        /* bytes a second of a body, either way, once body_timeout has passed; 256 */
    const char *server_name;  /* the Server header; null: none. Not copied */
    void (*on_entry)(const weft_http_entry *entry, void *arg); /* the access log; on the connection's fiber */
    void *arg;
} weft_http_options;

/* Returns 0; -ENOMEM; -EINVAL for null or negative times; -ENOSYS in a library that was built without its parser. */
WEFT_API int weft_http_server_new(weft_http_server **out, const weft_http_options *options);
/* Nobody serves with it any more, else it is fatal. Null is allowed. */
WEFT_API void weft_http_server_free(weft_http_server *server);

/* What to do for which requests, by their path of at most 4 KiB. "GET /users/:id" takes one segment as a parameter, "/files/+" one or more segments as "+",
 * without a method any. Exact segments come before parameters, those before "+". HEAD goes to the handler of GET, without one of
 * its own. Before the server serves. Returns 0; -EEXIST for the same pattern twice; -ENOMEM; -EINVAL; -EBUSY while it serves. */
WEFT_API int weft_http_route(weft_http_server *server, const char *pattern, weft_http_handler handler, void *arg);

/* Bodies of text (text/..., JSON, XML, JavaScript, SVG) of 256 bytes and more go packed, at that level of 1 to 9, to clients that
 * take gzip; not those of a range, nor those whose handler has set a Content-Encoding or "no-transform". They go in chunks, each
 * weft_http_flush ends what a client can unpack so far, and an ETag is marked as weak. A packer takes a quarter of a megabyte
 * while a body is on its way; without memory for it the body goes as it is. Before the server serves. Returns 0; -EINVAL; -EBUSY
 * while it serves; -ENOSYS in a library that was built without zlib. */
WEFT_API int weft_http_gzip(weft_http_server *server, int level);

/* Accepts connections and serves them, each on a fiber of its own, until weft_http_server_stop; several fibers may serve several
 * listeners by one server. The listener stays the caller's. Returns 0 when it was stopped and everybody has ended;
 * -ECANCELED, and what weft_accept returns; then connections have ended too. -EPERM on a plain thread. */
WEFT_API int weft_http_serve(weft_http_server *server, weft_fd listener);
/* No more connections and no more requests: those that run are finished, and told that the connection closes; idle ones are
 * closed. At the deadline the rest is closed as it is. Returns 0 when nobody is left; -ETIMEDOUT when somebody was closed so;
 * -ECANCELED; -EINVAL for null. Any thread but a handler's. */
WEFT_API int weft_http_server_stop(weft_http_server *server, weft_time deadline);
/* Closes connections and goes on serving: those between two requests, or all of them as they are. Returns how many; -EINVAL. */
WEFT_API int weft_http_server_drop(weft_http_server *server, bool idle_only);

typedef struct weft_http_stats {
    uint64_t connections; /* open now */
    uint64_t accepted;    /* ever */
    uint64_t requests;    /* that reached a handler, or were answered for one */
    uint64_t refused;     /* malformed, too large, too slow */
    uint64_t bytes_in;    /* of connections that have ended; so is the next */
    uint64_t bytes_out;
} weft_http_stats;
WEFT_API int weft_http_get_stats(weft_http_server *server, weft_http_stats *out);

/* ---- The request ---- */

WEFT_API const char *weft_http_method(const weft_http *http);
/* As it was sent; the path of it, decoded and without "." and ".."; what follows "?", or "". */
WEFT_API const char *weft_http_target(const weft_http *http);
WEFT_API const char *weft_http_path(const weft_http *http);
WEFT_API const char *weft_http_query(const weft_http *http);
/* Of the route's pattern, decoded; null when there is none of that name. */
WEFT_API const char *weft_http_parameter(const weft_http *http, const char *name);
/* The first header of that name, whatever its case; null when there is none. at: by number, from 0 on; false: no more. */
WEFT_API const char *weft_http_header(const weft_http *http, const char *name);
WEFT_API bool weft_http_header_at(const weft_http *http, size_t index, const char **name, const char **value);
WEFT_API int weft_http_peer(const weft_http *http, weft_address *out);
/* Whether it was HTTP/1.1, and not 1.0. */
WEFT_API bool weft_http_is_1_1(const weft_http *http);

/* The body's length; -1: not known before its end, 0: there is none. */
WEFT_API int64_t weft_http_body_size(const weft_http *http);
/* Changes what max_body is, for this request. */
WEFT_API void weft_http_limit_body(weft_http *http, uint64_t bytes);
/* The next piece of the body; a client that waits for "100 Continue" is told to go on. Returns how many bytes; 0 at the end;
 * -EMSGSIZE when it is more than allowed; -EBADMSG when it is malformed; -ECONNRESET when the client has gone; -ETIMEDOUT when it
 * is too slow; -ECANCELED; -EINVAL. After an error the connection closes with the response. */
WEFT_API ssize_t weft_http_read(weft_http *http, void *buffer, size_t size);
/* The same, unless another case comes first, which is carried out then: -EINTR. For a handler that is also told what to do by
 * somebody else. */
WEFT_API ssize_t weft_http_read_or(weft_http *http, void *buffer, size_t size, weft_case *other);
/* Waits until the client has gone: 0; or until the other case comes: -EINTR. That it has gone is seen when its body has been read
 * and no further request of it has come. -EINVAL for null; -ECANCELED; -ENOMEM. */
WEFT_API int weft_http_await_end(weft_http *http, weft_case *other);
/* A header that came after the body, once that has been read. at: by number, from 0 on; false: no more. */
WEFT_API const char *weft_http_trailer(const weft_http *http, const char *name);
WEFT_API bool weft_http_trailer_at(const weft_http *http, size_t index, const char **name, const char **value);

/* ---- The response ---- */

/* Before the first byte of the body: the status, 200 without one; a header, one more for each call. Names and values are checked:
 * -EINVAL for what cannot be sent (control characters, an empty name), for Content-Length that is no number, for Connection,
 * Transfer-Encoding and Date, which are the server's; -EMSGSIZE when the header gets longer than 12 KiB; -EALREADY when it has
 * gone. A Content-Length is kept to: more is -EMSGSIZE, less closes the connection. */
WEFT_API int weft_http_status(weft_http *http, int status);
WEFT_API int weft_http_set(weft_http *http, const char *name, const char *value);
/* Also before the first byte: another text than the usual one behind the status; and that the connection ends with this response.
 * Return 0; -EINVAL; -EMSGSIZE; -EALREADY. */
WEFT_API int weft_http_reason(weft_http *http, const char *reason);
WEFT_API int weft_http_close(weft_http *http);
/* A header that goes behind the body, once the head has gone. Errors as weft_http_set; -EPROTO when the body does not go in
 * chunks, and then nobody would read it. */
WEFT_API int weft_http_set_trailer(weft_http *http, const char *name, const char *value);

/* A piece of the body. Without a Content-Length it is sent in chunks, or up to the end of the connection for HTTP/1.0. Small
 * pieces are kept until there is enough, weft_http_flush is called, or the handler returns. Nothing is sent for HEAD, 204 and
 * 304, and weft_http_flush says -EPIPE then, so that a handler which sends without end ends. Return 0; -EPIPE, -ECONNRESET when
 * the client has gone; -ETIMEDOUT when it does not read; -ECANCELED; -EMSGSIZE; -EINVAL. */
WEFT_API int weft_http_write(weft_http *http, const void *bytes, size_t size);
WEFT_API int weft_http_print(weft_http *http, const char *format, ...) WEFT_PRINTF(2, 3);
WEFT_API int weft_http_flush(weft_http *http);
/* The whole response at once: type may be null. */
WEFT_API int weft_http_reply(weft_http *http, int status, const char *type, const void *body, size_t size);
/* That status, with its name as the body. */
WEFT_API int weft_http_fail(weft_http *http, int status);
/* The response is complete: what is missing of it goes out now, while the handler reads on. Returns what weft_http_write does. */
WEFT_API int weft_http_finish(weft_http *http);
/* Closes the connection, in the middle of whatever it is at: the client gets nothing more, or less than it was told. The handler
 * still has to return. Any thread. */
WEFT_API void weft_http_cut(weft_http *http);

/* ---- Files ---- */

/* A file as the response, sent by the kernel: type null is guessed from its name. It has a Last-Modified and an ETag; conditions
 * (If-None-Match, If-Modified-Since, If-Match, If-Unmodified-Since) and one range (Range, If-Range) are answered as they ask.
 * What cannot be opened is answered by 404, or 403. Returns what weft_http_write does; -EALREADY. */
WEFT_API int weft_http_file(weft_http *http, const char *path, const char *type);

/* A folder and all below it, for a route that ends with "+": weft_http_route(server, "GET /files/+", weft_http_folder_handler,
 * &folder). Nothing outside of it is served, whatever the path says and whatever links lead out. */
typedef struct weft_http_folder {
    const char *path;
    const char *index; /* served for a folder; null: "index.html" */
    bool lists;        /* folders without it are listed; else they are 404 */
    bool shows_hidden; /* names that begin with a dot; else they are 404 */
    uint32_t max_age;  /* seconds, in Cache-Control; 0: none is sent */
} weft_http_folder;
WEFT_API void weft_http_folder_handler(weft_http *http, void *folder);

/* ---- More than an answer ---- */

/* One event of a stream of them (text/event-stream), sent at once: event and id may be null. The first one sends the head. Returns
 * what weft_http_write does; -EINVAL for line breaks in event or id. */
WEFT_API int weft_http_event(weft_http *http, const char *event, const char *data, const char *id);

/* The request asks for another protocol (its Upgrade header has that word): answers 101, with the headers that were set, and hands
 * the connection over; null: whatever it asks for, and the answer is the handler's to write. *early is what the client has sent already, good until the handler returns; *fd is the handler's, to close
 * too. Returns 0; -EPROTO when it was not asked for, or the request has a body; -EALREADY; and what weft_http_write does. */
WEFT_API int weft_http_upgrade(weft_http *http, const char *protocol, weft_fd *fd, const void **early,
                               size_t *early_size);

#ifdef __cplusplus
}
#endif

#endif
