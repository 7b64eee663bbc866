/* SPDX-License-Identifier: MIT
 *
 * http/http.h - the server's parts: server, connection, exchange, routes.
 *
 *     server --- routes, limits, spare works
 *       |-- serving: a listener, its fiber and the scope of its connections
 *             |-- connection: a fiber, a descriptor; a work while something is to do
 *                   |-- exchange (weft_http): a request and its response, on the fiber's stack
 *
 * A connection between two requests:
 *
 *     IDLE --a byte has come--> BUSY --the response has gone--> IDLE           BUSY ends when the server stops
 *       `--the server stops--> ENDING
 *
 * Whoever moves it from IDLE owns what comes next: the connection reads, or the one who stops makes it read the end.
 *
 * A *work* is all the memory that a request needs: buffers for both ways, the parser. An idle connection has none, and its
 * stack is cut back after a while; so it costs a page and some hundred bytes.
 *
 * What a response consists of is collected in out and goes to the socket when it is full, when somebody flushes, or before the
 * connection waits for more to read: so answers to requests that came together go together.
 */
#ifndef WF_HTTP_HTTP_H
#define WF_HTTP_HTTP_H

#include "base/atomic.h"
#include "base/list.h"
#include "fiber/fiber.h"
#include "http/parse.h"
#include "os/clock.h"
#include "queue/lock.h"
#include "weft/http.h"
#include "weft/scope.h"
#include "weft/sync.h"

enum {
    WF_HTTP_OUT = 16384,       /* bytes collected */
    WF_HTTP_SET = 12288,       /* of the header that handlers set */
    WF_HTTP_TEXT = 4096,       /* decoded path and parameters */
    WF_HTTP_PIECE = 4096,      /* what a buffer has room for behind the longest head */
    WF_HTTP_SKIP = 256 * 1024, /* of a body that nobody wants, before the connection is rather closed */
    WF_HTTP_PARAMETERS = 16,
    WF_HTTP_DATE = 29, /* "Sun, 06 Nov 1994 08:49:37 GMT" */
};

/* A moment that has passed: nothing is waited for, as with WEFT_NOW, but who is cancelled is told. */
#define WF_HTTP_AT_ONCE ((weft_time)1)

struct wf_http_work {
    struct wf_http_work *next; /* among spare ones */
    struct wf_http_parser parser;
    uint32_t out_size;
    uint32_t set_size;
    uint32_t text_size;
    int64_t date_second; /* that date says */
    char date[WF_HTTP_DATE + 1];
    char out[WF_HTTP_OUT];
    char set[WF_HTTP_SET];
    char text[WF_HTTP_TEXT];
    char trailers[WF_HTTP_TRAILERS];
    char in[]; /* max_head + WF_HTTP_PIECE */
};

struct wf_http_pack;

enum wf_http_conn_state { WF_HTTP_IDLE, WF_HTTP_BUSY, WF_HTTP_ENDING };

struct wf_http_conn {
    struct wf_leaver leaver; /* its fiber's */
    struct wf_list node;     /* under the server's lock */
    weft_http_server *server;
    weft_fd fd;
    weft_address peer;
    _Atomic uint32_t state;
    /* Written by its fiber: a body that ends with the connection lacks something, so that end must not look like one. */
    _Atomic uint32_t is_short;
    /* its fiber's own */
    struct wf_http_work *work;
    struct wf_http_pack *pack; /* while a body is packed */
    uint32_t requests;
    int error;      /* of the connection: nothing more can be read, or written */
    bool has_begun; /* its fiber runs, or has; a fiber for which there is no stack never does */
    void *serving;  /* constant: whose it is */
    bool lingers;   /* the client may still be sending what nobody will read */
    uint64_t bytes_in;
    uint64_t bytes_out;
};

enum wf_http_mode {
    WF_HTTP_UNSENT, /* the head has not gone into out */
    WF_HTTP_FIXED,  /* its length is known */
    WF_HTTP_CHUNKED,
    WF_HTTP_STREAM, /* up to the end of the connection */
    WF_HTTP_BARE,   /* nothing is sent: HEAD, 204, 304 */
};

struct wf_http_parameter {
    const char *name; /* of the route: not ended by a zero */
    uint32_t name_size;
    const char *value;
};

struct weft_http {
    struct wf_http_conn *conn;
    weft_http_server *server;
    struct wf_http_work *work;
    int64_t begun_ns;
    const char *path;
    const char *query;
    uint32_t parameter_count;
    /* the request's body */
    bool expects; /* the client waits for 100 Continue */
    uint64_t max_body;
    uint64_t body_read;
    uint64_t body_raw;   /* bytes as they came, with what is around chunks */
    int64_t body_waited; /* for how long it was waited for */
    weft_case *other;    /* what a read ends for, too; while it runs */
    char *piece;         /* what has been decoded and not been read */
    size_t piece_size;
    int body_error;
    /* the response */
    int status;
    const char *reason; /* NULL: the usual one */
    enum wf_http_mode mode;
    _Atomic uint32_t is_cut; /* by weft_http_cut, on any thread */
    bool is_finished;        /* nothing is missing of it */
    bool is_broken;          /* what was promised will not come: the end must not look like one */
    bool closes;             /* the connection ends with it */
    bool has_length;         /* set by the handler */
    bool is_packed;          /* so the length is not that of what is sent */
    uint64_t length;
    uint64_t sent;       /* bytes of the body */
    uint64_t gone;       /* of those, and of what is around them: to the socket, past the buffer */
    int64_t gone_waited; /* for how long that was waited for */
    uint32_t chunk; /* where in out the bytes of the open chunk begin, behind the room for its size; 0: none is open */
    struct wf_http_parameter parameters[WF_HTTP_PARAMETERS]; /* the first parameter_count; the rest is not cleared */
};

enum wf_http_packing { WF_HTTP_PACK_MORE, WF_HTTP_PACK_FLUSH, WF_HTTP_PACK_LAST };

/* http/deflate.c, for servers that pack. */
struct wf_http_pack_ops {
    /* Before the head: whether the body goes packed. Sets what the head has to say of it. */
    bool (*begin)(weft_http *http);
    int (*write)(weft_http *http, const char *bytes, size_t size, enum wf_http_packing how);
    void (*end)(struct wf_http_conn *conn);
    void (*free)(weft_http_server *server);
};

struct wf_http_route;

struct weft_http_server {
    weft_http_options options;
    struct wf_http_route *routes; /* constant while it serves */
    size_t work_size;             /* constant */
    struct wf_lock lock;
    struct wf_list servings; /* under lock; so are the next three */
    struct wf_list connections;
    struct wf_http_work *spare;
    uint32_t spare_count;
    const struct wf_http_pack_ops *pack_ops; /* constant while it serves; so is the level. NULL: nothing is packed */
    int pack_level;
    struct wf_http_pack *spare_packs; /* under lock */
    uint32_t spare_pack_count;
    _Atomic uint32_t is_stopping;
    weft_semaphore room; /* for connections */
    weft_waitgroup serving;
    _Atomic uint64_t stats[6]; /* in the order of weft_http_stats */
};

enum { WF_STAT_CONNECTIONS, WF_STAT_ACCEPTED, WF_STAT_REQUESTS, WF_STAT_REFUSED, WF_STAT_IN, WF_STAT_OUT };
static inline void wf_http_stat(weft_http_server *server, int which, uint64_t count) {
    wf_fetch_add_relaxed(&server->stats[which], count);
}

/* For how long the next piece of a body may be waited for: body_timeout, but for all of them together no more than that and what
 * the bytes so far have earned. */
static inline int64_t wf_http_patience(const weft_http_options *options, uint64_t bytes, int64_t waited) {
    int64_t earned = bytes / options->min_rate < INT64_MAX / WEFT_SECOND ? (int64_t)(bytes / options->min_rate) : 0;
    int64_t left = wf_time_add(options->body_timeout, earned * WEFT_SECOND) - waited;
    return left < 0 ? 0 : left < options->body_timeout ? left : options->body_timeout;
}

/* http/connection.c: the life of one, on its fiber. */
int wf_http_connection(void *opaque);
void wf_http_connection_end(struct wf_http_conn *conn);
/* Under the server's lock, by whoever: nothing more is read from it or written to it. */
int wf_http_connection_cut(struct wf_http_conn *conn);
/* Reads more behind what is in the buffer, after what is to be sent has gone. The count; 0 at the end; or the error, which is
 * the connection's then. */
int wf_http_fill(struct wf_http_conn *conn, int64_t deadline_ns);
struct wf_http_work *wf_http_work_take(weft_http_server *server);
void wf_http_work_give(weft_http_server *server, struct wf_http_work *work);

/* http/request.c: texts of the request line, checks that are ours; the status to refuse it with, or 0. The body: read past
 * what the handler has left; false: the connection has to end. */
int wf_http_request_check(weft_http *http);
bool wf_http_body_skip(weft_http *http);

/* http/response.c */
/* Sends what was collected. 0, or the connection's error. */
int wf_http_out_flush(struct wf_http_conn *conn);
/* Before that, in the middle of a response: what was collected of a chunk is one. */
void wf_http_chunk_close(weft_http *http);
/* A piece of the body as it is sent, after packing. */
int wf_http_write_packed(weft_http *http, const char *bytes, size_t size);
/* The head of a response with a body of that size, which the caller puts behind it. */
int wf_http_begin_whole(weft_http *http, uint64_t size);
/* The head of a response that ends HTTP on this connection. */
int wf_http_put_upgrade(weft_http *http, const char *protocol);
/* The handler has returned: what is missing. */
void wf_http_response_end(weft_http *http);
/* Instead of a handler, for requests that never reach one: closes the connection. */
void wf_http_refuse(weft_http *http, int status);
/* "HTTP/1.1 100 Continue". */
int wf_http_continue(weft_http *http);
const char *wf_http_reason(int status);

/* http/route.c: calls the handler, or answers for it. */
struct wf_http_found {
    weft_http_handler handler;
    void *arg;
};
int wf_http_routes_new(struct wf_http_route **out);
void wf_http_routes_free(struct wf_http_route *routes);
int wf_http_routes_add(struct wf_http_route *routes, const char *pattern, weft_http_handler handler, void *arg);
/* 0 with *found and the parameters; 404, or 405 with the methods there are, as a list, in allowed. */
int wf_http_routes_find(const struct wf_http_route *routes, weft_http *http, struct wf_http_found *found, char *allowed,
                        size_t size);
/* A piece of work->text; NULL: no room. */
char *wf_http_text_take(weft_http *http, size_t size);

/* http/date.c: the present second as the Date header has it. */
const char *wf_http_date(struct wf_http_work *work);
/* The same of any second since 1970, with a zero; and back: -1 when it is none. */
void wf_http_date_format(int64_t second, char out[WF_HTTP_DATE + 1]);
int64_t wf_http_date_parse(const char *text);

#endif
