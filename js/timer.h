/* SPDX-License-Identifier: MIT
 *
 * js/timer.h - timers of JavaScript by lists: see js/timer_list.c.
 */
#ifndef WF_JS_TIMER_H
#define WF_JS_TIMER_H

#include "host.h"

enum wf_js_timer_kind { WF_JS_TIMEOUT, WF_JS_INTERVAL, WF_JS_IMMEDIATE };

/* A timer or an immediate. The block is its handle's, and whoever has it armed holds on to its owner. */
struct wf_js_timer {
    weft_js *js;
    enum wf_js_timer_kind kind;
    bool is_armed;
    bool has_handle;
    bool keeps;                          /* the loop alive */
    struct wf_js_timer *next, *previous; /* of its list */
    struct wf_js_timer_list *list;       /* NULL: it is in none */
    int64_t duration, start;             /* whole milliseconds */
    JSValue owner, surroundings;
};

/* Those of one duration, in the order in which they are due. */
struct wf_js_timer_list {
    struct wf_js_timer *first, *last;
    struct wf_js_timer_list *same; /* among those with the same place in the table */
    int64_t duration, expiry;      /* of the first timer, when it was last looked at */
    uint64_t serial;
    size_t at; /* in the heap */
};

/* All of an instance. With the turn. */
struct wf_js_timers {
    weft_loop_timer alarm;                 /* 0: it is not set */
    int64_t alarm_at;                      /* when it fires, in milliseconds; INT64_MIN: it need not be set now */
    int kept;                              /* timers that the loop stays for */
    weft_immediate check;                  /* 0: it is not set */
    struct wf_js_timer_list immediates[2]; /* those of this round, and of the next */
    int round;                             /* which of them is this one's */
    int immediates_kept;
    struct wf_js_timer_list **table; /* by duration */
    size_t table_size;               /* a power of two */
    struct wf_js_timer_list **heap;  /* by expiry */
    size_t count, room;
    uint64_t serial;
    struct wf_js_timer_list *running; /* whose timers are being called */
};

/* At the end of a list, and out of it. */
void wf_js_timer_append(struct wf_js_timer_list *list, struct wf_js_timer *timer);
void wf_js_timer_remove(struct wf_js_timer *timer);
/* Puts a timer at the end of the list of its duration. Its expiry if that list has just been made, else INT64_MAX. -ENOMEM. */
int wf_js_timer_link(struct wf_js_timers *timers, struct wf_js_timer *timer, int64_t start, int64_t *expiry);
void wf_js_timer_unlink(struct wf_js_timers *timers, struct wf_js_timer *timer);
/* The timer that is due at *now, of the list that runs or of the first one; NULL: none is, and *expiry says when the next one will be
 * (INT64_MAX: there is none). What is not due at *now is looked at once more: *now is the clock's then. */
struct wf_js_timer *wf_js_timer_due(struct wf_js_timers *timers, int64_t *now, int64_t (*clock)(void *arg), void *arg,
                                    int64_t *expiry);
/* The next search begins with the first list. */
void wf_js_timers_rewind(struct wf_js_timers *timers);
void wf_js_timers_term(struct wf_js_timers *timers);

#endif
