/* SPDX-License-Identifier: MIT
 *
 * weft/http_client.h - an HTTP/1.1 client: connections that are kept, redirects that are followed, bodies in pieces or whole.
 *
 *     weft_http_client *client;
 *     weft_http_response *response;
 *     weft_http_client_new(&client, NULL);
 *     if (weft_http_fetch(client, "GET", "http://example.org/", NULL, 0, &response, weft_after(10 * WEFT_SECOND)) == 0) {
 *         const void *body;
 *         size_t size;
 *         weft_http_response_body(response, &body, &size, WEFT_NOW);
 *         printf("%d: %zu bytes\n", weft_http_response_status(response), size);
 *         weft_http_response_close(response);
 *     }
 *     weft_http_client_free(client);
 *
 * Any number of fibers and threads may use one client; one response belongs to one of them at a time. A status of 400 and more
 * is an answer, not an error.
 *
 * A connection goes back to the client when the body has been read to its end, and serves the next request for the same origin
 * (scheme, host and port). The server may close it at that very moment: a request on a connection that was used before, of which
 * nothing has been answered, is made once more on a new one if it can be repeated: GET, HEAD, PUT, DELETE, OPTIONS and TRACE
 * can, others if nothing that matters of them was sent, or if the caller says so. A body that cannot be had again cannot.
 *
 * Redirects: 301, 302 and 303 go on as GET, or HEAD, without a body; 307 and 308 as they were, unless the body cannot be had
 * again: then they are the answer. Authorization, Cookie and Host do not go to another origin.
 *
 * The body of a request is sent before that of the answer is read. When an answer of 300 and more comes earlier, the rest of it
 * is not sent.
 *
 * Only http:// for now. No cookies are kept, nothing is cached, no proxy is asked. A client that a fiber was using when its
 * runtime abandoned it must not be used any more.
 */
#ifndef WEFT_HTTP_CLIENT_H
#define WEFT_HTTP_CLIENT_H

#include "weft/net.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_http_client weft_http_client;
typedef struct weft_http_response weft_http_response;

typedef struct weft_http_field {
    const char *name;
    const char *value;
} weft_http_field;

/* Zero is the default everywhere. */
typedef struct weft_http_client_options {
    uint32_t max_per_host;          /* connections to one origin at once; 64. Further requests wait */
    uint32_t max_connections;       /* in all; 1,024. Idle ones make room, then requests wait */
    int64_t idle_timeout;           /* how long one is kept that nobody uses; 60 s */
    int64_t connect_timeout;        /* for the name and the connection; 10 s */
    int64_t head_timeout;           /* from the end of the request to the end of the answer's header; 30 s */
    int64_t body_timeout;           /* for each piece of a body to go or to come; 30 s */
    int64_t continue_timeout;       /* for "100 Continue", before the body is sent without; 1 s */
    size_t max_head;                /* bytes of the answer's status line and header together; 32 KiB */
    uint64_t max_body;              /* bytes of a body that is read whole, unpacked; 64 MiB */
    int max_redirects;              /* 10; below 0: none is followed */
    bool keeps_packed;              /* does not ask for gzip and deflate, and unpacks nothing */
    const weft_http_field *headers; /* sent with every request that has none of that name; copied */
    size_t header_count;
    weft_socket_options socket; /* of its connections */
} weft_http_client_options;

/* Returns 0; -ENOMEM; -EINVAL for null, negative times, a max_head below 256 bytes or above 1 MiB, and headers that
 * weft_http_request_open would refuse; -ENOSYS in a library that was built without its parser. */
WEFT_API int weft_http_client_new(weft_http_client **out, const weft_http_client_options *options);
/* Closes idle connections. Every response has been closed, else it is fatal. Null is allowed. */
WEFT_API void weft_http_client_free(weft_http_client *client);
/* Closes connections that nobody uses. Those whose idle_timeout has passed are closed by any other call that opens or closes
 * something as well, but not without one. Returns how many there were; -EINVAL for null. */
WEFT_API int weft_http_client_close_idle(weft_http_client *client);

typedef struct weft_http_client_stats {
    uint64_t requests;  /* that were begun, redirects and repetitions included */
    uint64_t opened;    /* connections, ever */
    uint64_t reused;    /* times that one was used again */
    uint64_t repeated;  /* requests that were made once more on a new connection */
    uint64_t redirects; /* that were followed */
    uint64_t open;      /* connections now, or on their way */
    uint64_t idle;      /* of these */
} weft_http_client_stats;
WEFT_API int weft_http_client_get_stats(weft_http_client *client, weft_http_client_stats *out);

/* What is sent besides method and URL. At most one of body, read and is_written. */
typedef struct weft_http_request {
    const weft_http_field *headers; /* copied */
    size_t header_count;
    const void *body; /* from memory; good until weft_http_request_open returns */
    size_t body_size;
    /* The body from a callback, while weft_http_request_open runs: how many bytes it has put into the buffer; 0 at the end; a
     * negative error ends the request with it, a panic with -EOWNERDEAD. It must not end its fiber. */
    ssize_t (*read)(void *buffer, size_t size, void *arg);
    /* Begins the same body again, for a redirect or a repetition: 0, or an error. Null: it cannot be had again. */
    int (*rewind)(void *arg);
    void *arg;
    bool is_written; /* the body comes by weft_http_request_write */
    /* The body's length, when it is read or written: it is kept to. 0: not known, and it goes in chunks. */
    uint64_t length;
    bool expects;        /* sends the body when the server has said "100 Continue", or nothing at all */
    bool can_repeat;     /* twice does no harm, whatever the method */
    bool keeps_redirect; /* an answer 3xx is not followed */
    bool closes;         /* the connection is not kept */
    bool unpacks;        /* also what an Accept-Encoding of its own has asked for */
    const char *upgrade; /* the protocol to change to: see weft_http_response_take */
} weft_http_request;

/* Sends a request, which may be null, and waits for the header of the answer; with is_written it returns as soon as the body may
 * follow. *out is to be closed. A user in the URL becomes a basic Authorization. Returns 0; -EINVAL for null, a bad method, URL
 * or header (also Connection, Keep-Alive, Upgrade, Content-Length, Transfer-Encoding, TE, Trailer, Expect: the client's own) and
 * options that contradict each other; -EPROTONOSUPPORT for what is not http://, also as a redirect; -ELOOP for too many of them;
 * -EMSGSIZE for an answer's header that is too long, or a body other than its length; -EBADMSG for a malformed answer;
 * -ECONNRESET when the server has gone; what weft_dial returns; -ETIMEDOUT, -ECANCELED, -ENOMEM. */
WEFT_API int weft_http_request_open(weft_http_client *client, const char *method, const char *url,
                                    const weft_http_request *request, weft_http_response **out, weft_time deadline);
/* A piece of the body, with is_written; it goes at once. Returns 0; -EMSGSIZE for more than its length, and nothing is sent;
 * -EPIPE when the server has answered and wants no more: weft_http_request_end gets that; -ECONNRESET when it has gone, -EBADMSG,
 * -ETIMEDOUT, -ECANCELED, -ENOMEM: some of it may have been sent, and the request has failed; -EALREADY after the end; -EINVAL
 * for null. */
WEFT_API int weft_http_request_write(weft_http_response *response, const void *bytes, size_t size, weft_time deadline);
/* The end of that body: waits for the header of the answer, and goes on as weft_http_request_open does, with the same errors;
 * -EMSGSIZE when the body was shorter than its length; -EALREADY the second time. The response is to be closed in any case. */
WEFT_API int weft_http_request_end(weft_http_response *response, weft_time deadline);

/* All in one: sends what is in memory (body may be null with size 0), and reads the body of the answer whole. Returns what
 * weft_http_request_open and weft_http_response_body do; after an error there is no response to be closed. */
WEFT_API int weft_http_fetch(weft_http_client *client, const char *method, const char *url, const void *body,
                             size_t size, weft_http_response **out, weft_time deadline);

/* ---- The answer ---- */

/* 0 while there is none. */
WEFT_API int weft_http_response_status(const weft_http_response *response);
/* The text behind it, which says nothing that the status does not. */
WEFT_API const char *weft_http_response_reason(const weft_http_response *response);
/* Where it comes from: the last URL of the redirects, without user and fragment. Good until the response is closed, as all texts. */
WEFT_API const char *weft_http_response_url(const weft_http_response *response);
/* The first header of that name, whatever its case; null when there is none. at: by number, from 0 on; false: no more. */
WEFT_API const char *weft_http_response_header(const weft_http_response *response, const char *name);
WEFT_API bool weft_http_response_header_at(const weft_http_response *response, size_t index, const char **name,
                                           const char **value);
/* A header that came after the body, once that has been read. at: by number, from 0 on; false: no more. */
WEFT_API const char *weft_http_response_trailer(const weft_http_response *response, const char *name);
WEFT_API bool weft_http_response_trailer_at(const weft_http_response *response, size_t index, const char **name,
                                            const char **value);
/* The body's length; -1: not known before its end, 0: there is none. */
WEFT_API int64_t weft_http_response_size(const weft_http_response *response);

/* The next piece of the body, unpacked. Returns how many bytes; 0 at the end, or for a size of 0; -ECONNRESET when the server has
 * gone before it; -EBADMSG when it is malformed; -EMSGSIZE for trailers that are too long; -EINVAL for null, and before there
 * is an answer. After -ETIMEDOUT, -ECANCELED and -ENOMEM it can be called again, unless unpacking has run out of memory. */
WEFT_API ssize_t weft_http_response_read(weft_http_response *response, void *buffer, size_t size, weft_time deadline);
/* What is left of the body, whole, with a zero behind it. It belongs to the response. Returns 0; -EMSGSIZE when it is more than
 * max_body; else what weft_http_response_read does: after -ETIMEDOUT and the like it goes on where it was. */
WEFT_API int weft_http_response_body(weft_http_response *response, const void **bytes, size_t *size,
                                     weft_time deadline);

/* After a status of 101: the connection, which is the caller's from now on, and what was read of it behind the header, which is
 * good until the response is closed. Returns 0; -EINVAL for null, another status, and the second time. */
WEFT_API int weft_http_response_take(weft_http_response *response, weft_fd *out, const void **extra, size_t *size);

/* Frees it. The connection is kept if the body has been read to its end, or little of it is left and has come already; else it
 * is closed. Does not wait. Null is allowed. */
WEFT_API void weft_http_response_close(weft_http_response *response);

#ifdef __cplusplus
}
#endif

#endif
