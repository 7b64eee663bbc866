/* SPDX-License-Identifier: MIT
 *
 * pool/form.h - what the parallel forms share: where they run, and what ends them early.
 *
 * A form runs on the fiber of a work of its pool, and forks from there. Jobs of it on other fibers are tied to that caller: they
 * end early when it is cancelled or its work is stopped, and their waits are cut short with it. See pool/parallel.c.
 */
#ifndef WF_POOL_FORM_H
#define WF_POOL_FORM_H

#include "pool/pool.h"

/* The pool meant by a call: for NULL that of the calling work; NULL when there is none. */
weft_pool *wf_form_pool(weft_pool *pool);
/* Calls run(arg) and returns what it returns: right here in a work of the pool, else in one submitted for it. */
int wf_form_run(weft_pool *pool, int (*run)(void *arg), void *arg);

/* What makes a form end early, besides its own errors: taken from the caller when it begins. */
struct wf_form_ties {
    struct wf_work *work;     /* that it is a part of, or NULL */
    struct wf_cancel *cancel; /* what can cancel the caller, or NULL */
};
void wf_form_tie(struct wf_form_ties *ties);
bool wf_form_is_ended(const struct wf_form_ties *ties);

/* A job of the form that runs on another fiber is cancelled with the caller of the form: enter, and leave in any case. A visit
 * that is all zero was not entered. */
struct wf_form_visit {
    struct wf_member member;
    bool is_inside;
};
void wf_form_enter(const struct wf_form_ties *ties, struct wf_form_visit *visit);
void wf_form_leave(struct wf_form_visit *visit);

#endif
