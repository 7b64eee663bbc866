/* SPDX-License-Identifier: MIT
 *
 * cli/load.h - what the parts of "weft load" share: the plan, and what came of it.
 *
 * load.c reads the options and starts the connections, load_connection.c is one of them, load_report.c says how it went.
 */
#ifndef CLI_LOAD_H
#define CLI_LOAD_H

#include "histogram.h"
#include "text.h"
#include "weft.h"

/* Why a request has got no answer. */
enum load_error { LOAD_CONNECT, LOAD_TIMEOUT, LOAD_CLOSED, LOAD_MALFORMED, LOAD_OTHER, LOAD_ERRORS };

enum { LOAD_STATUSES = 1000 };

/* Does not change any more when the first connection starts. */
struct load_plan {
    const char *url;
    char *host; /* without the brackets of an IPv6 address */
    unsigned port;
    char *target;            /* path and query */
    struct cli_text request; /* the whole of it, as it is sent every time */
    bool has_no_body;        /* of the answers: the method is HEAD */
    unsigned connections;
    uint64_t limit;   /* requests in all */
    int64_t duration; /* nanoseconds; WEFT_NEVER: until the limit */
    int64_t timeout;
    double rate; /* requests a second; 0: as fast as answers come */
    bool as_json;
};

struct load {
    struct load_plan plan;
    weft_fd first;     /* a connection that has shown that there is a server; taken by number 0 */
    weft_time start;   /* when ticket 0 is due */
    weft_time end;     /* when the last one is begun at the latest */
    weft_time elapsed; /* known when all have ended */
    weft_scope *scope;
    weft_signals signals;
    _Atomic uint64_t next;     /* ticket: each request has one */
    _Atomic unsigned numbered; /* connections that have begun */
    _Atomic unsigned left;     /* of them */
    _Atomic uint64_t answered;
    _Atomic uint64_t received; /* bytes, headers included */
    _Atomic uint64_t connects;
    _Atomic uint64_t errors[LOAD_ERRORS];
    _Atomic uint64_t statuses[LOAD_STATUSES];
    struct cli_histogram latency; /* nanoseconds, of answered requests */
};

/* The life of one connection, as a child of a scope; returns 0. arg is the struct load. */
int load_connection(void *arg);

/* How far it is, on one line of a terminal. */
void load_report_progress(const struct load *load);
/* What came of it, on standard output. */
void load_report(const struct load *load);

/* Requests that have got no answer. */
uint64_t load_failed(const struct load *load);

#endif
