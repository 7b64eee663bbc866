/* SPDX-License-Identifier: MIT
 *
 * http/client.h - the client's parts: client, origins, connections (peers), exchanges.
 *
 *     client --- limits, fields that go with every request
 *       |-- origin: scheme, host and port; while somebody uses it or a connection to it is kept
 *             |-- peer: a connection; idle, or in the hands of one exchange
 *
 *     peer_take --> in use --the answer was read to its end--> idle --peer_take--> in use
 *                     `--anything else--> closed     `--too old, or something came--> closed
 *
 * An exchange (weft_http_response) is a request and its answer. Redirects and repetitions happen inside it: each try takes a peer,
 * sends the head and the body, and reads the head of the answer.
 *
 *     OPEN --the body is to be written--> WRITING --end--> ANSWERED        peer: given back or closed when the body has ended
 *       `--the head of the answer has come--------------->'
 *
 * A *link* is what a peer speaks through: a socket, or something above one.
 */
#ifndef WF_HTTP_CLIENT_H
#define WF_HTTP_CLIENT_H

#include "base/atomic.h"
#include "base/list.h"
#include "http/parse.h"
#include "http/url.h"
#include "os/clock.h"
#include "queue/lock.h"
#include "weft/http_client.h"
#include "weft/sync.h"

enum {
    WF_CLIENT_PIECE = 16384, /* what a buffer has room for behind the longest head */
    WF_CLIENT_METHOD = 24,   /* with its zero */
    WF_CLIENT_SKIP = 65536,  /* what is read past of a body that nobody wants, so that the connection can be kept */
    WF_CLIENT_BUCKETS = 64,  /* of origins */
};

/* ---- Links ---- */

struct wf_http_link;

/* The seam under which something other than a plain socket can stand. Deadlines and errors as in weft/io.h. */
struct wf_http_link_ops {
    ssize_t (*read)(struct wf_http_link *link, void *buffer, size_t size, int64_t deadline_ns);
    ssize_t (*write)(struct wf_http_link *link, const struct iovec *parts, int count, int64_t deadline_ns);
    /* Waits until something can be written, 0; or (or_comes) has come, 1. */
    int (*wait)(struct wf_http_link *link, bool or_comes, int64_t deadline_ns);
    /* Of one that nobody uses: neither bytes nor the end have come. */
    bool (*is_quiet)(struct wf_http_link *link);
    void (*close)(struct wf_http_link *link);
};

struct wf_http_link {
    const struct wf_http_link_ops *ops;
    weft_fd fd;
    void *session; /* of what stands above the socket */
};

/* ---- Connections ---- */

struct wf_http_origin {
    struct wf_list node; /* in its bucket; under the client's lock, as all but the constants */
    struct wf_list idle; /* of peers, the one used last at the end */
    uint32_t users;      /* exchanges and peers that point here */
    weft_semaphore room; /* for exchanges that have a peer */
    uint16_t port;       /* constant, with the next two */
    bool is_secure;
    char host[];
};

struct wf_http_peer {
    struct wf_list node; /* in origin->idle; under the client's lock */
    struct wf_list age;  /* in client->idle, oldest first; under the same */
    struct wf_http_origin *origin;
    struct wf_http_link link;
    int64_t idle_since;
    bool was_used; /* for an exchange before this one */
};

enum wf_client_stat {
    WF_CLIENT_REQUESTS,
    WF_CLIENT_OPENED,
    WF_CLIENT_REUSED,
    WF_CLIENT_REPEATED,
    WF_CLIENT_REDIRECTS,
    WF_CLIENT_STATS
};

struct weft_http_client {
    weft_http_client_options options; /* constant */
    weft_address local;               /* where options.socket.local points, if it does */
    char *fields;                     /* "Name: value\r\n" each, or NULL; constant */
    weft_semaphore room;              /* for exchanges that have a peer */
    struct wf_lock lock;
    struct wf_list origins[WF_CLIENT_BUCKETS]; /* under lock, with the next four */
    struct wf_list idle;                       /* of peers, by age */
    uint32_t idle_count;
    uint32_t open_count; /* idle, in use, on their way */
    uint32_t responses;  /* that were not closed */
    _Atomic uint64_t stats[WF_CLIENT_STATS];
};

/* http/client_pool.c */
/* A connection to that origin, kept or (is_fresh) new, with room for it taken. */
int wf_http_peer_take(weft_http_client *client, const struct wf_url *url, bool is_fresh, struct wf_http_peer **out,
                      int64_t deadline_ns);
/* Keeps it for the next one, or closes it. */
void wf_http_peer_give(weft_http_client *client, struct wf_http_peer *peer);
void wf_http_peer_drop(weft_http_client *client, struct wf_http_peer *peer);
/* As drop, but its descriptor stays open and is the caller's. */
weft_fd wf_http_peer_release(weft_http_client *client, struct wf_http_peer *peer);
static inline void wf_client_stat(weft_http_client *client, enum wf_client_stat which) {
    wf_fetch_add_relaxed(&client->stats[which], 1);
}

/* ---- Exchanges ---- */

enum wf_http_stage { WF_HTTP_OPEN, WF_HTTP_WRITING, WF_HTTP_ANSWERED };

struct wf_unpack;

struct weft_http_response {
    weft_http_client *client;
    struct wf_http_peer *peer; /* NULL: given back, closed, or not yet there */
    struct wf_url *url;
    enum wf_http_stage stage;
    /* the request */
    char method[WF_CLIENT_METHOD];
    weft_http_request request; /* its headers are in fields, and upgrade is a copy */
    char *fields;              /* "Name: value\r\n" each, those of the client too */
    int redirects;
    bool has_left;      /* its origin: no Authorization and the like any more */
    bool is_bodiless;   /* a redirect has made it a GET */
    bool takes_packed;  /* Accept-Encoding is ours, and so is unpacking */
    bool unpacks;       /* unpacking is, whoever has asked */
    bool body_is_begun; /* bytes of the body have been taken from the caller, in any try */
    int write_error;    /* of weft_http_request_write, which the end tells again */
    /* of the present try */
    char *head;
    size_t head_size;
    uint64_t sent;      /* bytes that have gone, of head and body */
    uint64_t body_sent; /* of the body, without what is between chunks */
    bool is_unsent;     /* the answer has come before all of the body had gone: the connection ends with it */
    bool has_heard;     /* anything at all */
    bool was_continued; /* "100 Continue" */
    uint32_t passed_by; /* heads with 1xx */
    bool has_answer;    /* its head is whole */
    /* the answer's body */
    int body_error; /* final */
    char *piece;    /* what has been parsed and not been read */
    size_t piece_size;
    struct wf_unpack *unpack; /* NULL: the body is handed out as it comes */
    bool has_packed;          /* a byte to unpack has come */
    bool is_unpacked;         /* to its end, if nothing follows */
    char *body;               /* read whole, with a zero behind it */
    size_t body_size;
    size_t body_room;
    bool is_whole;
    struct wf_http_parser parser;
    char trailers[WF_HTTP_TRAILERS];
    char in[]; /* max_head + WF_CLIENT_PIECE */
};

/* The earlier of the deadline and so much from now. */
static inline int64_t wf_http_sooner(int64_t deadline_ns, int64_t span_ns) {
    int64_t limit = wf_time_add(wf_os_now(), span_ns);
    return deadline_ns < limit ? deadline_ns : limit;
}

/* http/client_fields.c */
/* 0, or -EINVAL for one that cannot be sent or is the client's own. */
int wf_http_fields_check(const weft_http_field *fields, size_t count);
/* The fields as text, with those of more whose names are not among them, and Authorization for a user, which may be NULL. */
int wf_http_fields_new(char **out, const weft_http_field *fields, size_t count, const char *more, const char *user);
bool wf_http_fields_have(const char *text, const char *name);
bool wf_http_is_token(const char *text);
/* What goes before the body, as response->head. */
int wf_http_head_new(weft_http_response *response);

/* http/client_request.c: one try, with a peer that is there, up to the head of the answer, or to where the body is written. */
int wf_http_try(weft_http_response *response, int64_t deadline_ns);
/* The end of the body that was written, and the head of the answer. */
int wf_http_try_end(weft_http_response *response, int64_t deadline_ns);
bool wf_http_has_body(const weft_http_response *response);
/* Whether another try can have the same body; then it begins again. */
bool wf_http_body_can_rewind(const weft_http_response *response);
int wf_http_body_rewind(weft_http_response *response);

/* http/client_response.c */
/* Waits for the head of the answer; or (for_continue) for "100 Continue", which returns 1. */
int wf_http_answer_read(weft_http_response *response, bool for_continue, int64_t deadline_ns);
/* Without waiting: 1 when it is there and says that the server does not want the body, else 0. */
int wf_http_answer_poll(weft_http_response *response);
/* The body is to be handed out. */
int wf_http_answer_begin(weft_http_response *response);
/* Reads past what has come of the body, if that is little, and lets go of the peer. */
void wf_http_answer_skip(weft_http_response *response);
void wf_http_response_free(weft_http_response *response);

/* http/inflate.c */
bool wf_unpack_is_there(void);
int wf_unpack_new(struct wf_unpack **out, bool is_gzip);
void wf_unpack_free(struct wf_unpack *unpack);
/* Unpacks from *in to *out; both move on. 0: more of one of the two is needed; 1: the end; -EBADMSG, -ENOMEM. */
int wf_unpack_step(struct wf_unpack *unpack, char **in, size_t *in_size, char **out, size_t *out_size);

#endif
