/* SPDX-License-Identifier: MIT
 *
 * pool/depend.h - ids of works, what became of works that are over, and what comes after what.
 *
 * A part of pool/pool.h, which includes it: the entries and edges that hang on pool and terms, and the calls of whoever submits
 * and ends works. How it works is told in pool/ident.c and pool/depend.c. All of it is under pool->lock, but for wf_id_check.
 */
#ifndef WF_POOL_DEPEND_H
#define WF_POOL_DEPEND_H

#include "base/list.h"
#include "base/task.h"
#include "weft/pool.h"

struct wf_terms;

/* What a work comes after: pool/depend.c. */
struct wf_edge {
    struct wf_list node;     /* in the dependents of what it waits for; in no list: that is over */
    struct wf_terms *waiter; /* whose edge this is; constant */
    struct wf_name *name;    /* what it waits for, by id */
    struct wf_terms *before; /* or by handle */
};

/* An id that somebody has, had or waits for: pool/ident.c.
 *   alive      terms is there: of the work that has the id
 *   expected   not alive, last_status is WEFT_WORK_PENDING: works wait for one that is to have it
 *   over       not alive, last_status is what became of the last one that had it */
struct wf_name {
    struct wf_name *next; /* in its bucket */
    struct wf_terms *terms;
    struct wf_list dependents; /* edges of works that come after whoever has it; none when it is over */
    struct wf_list over;       /* in pool->over_names, oldest first, while it is over */
    weft_work last;            /* the last one that had it and is over */
    weft_work last_cause;      /* the work whose failure made that one fail, itself if nobody's did */
    weft_work_status last_status;
    uint32_t last_generation; /* of the pool, when that one ended */
    uint64_t hash;            /* constant, as all that follows */
    uint64_t number;          /* when length is 0 */
    uint32_t length;
    char text[]; /* with an end */
};

/* A work that has not succeeded: pool/ident.c. Also a bucket of the hash by handle. */
struct wf_failure {
    weft_work work;
    weft_work cause; /* the work whose failure made it fail, itself if nobody's did */
    weft_work_status status;
    uint32_t generation; /* of the pool, when it ended */
    uint32_t next;       /* in the same bucket, plus 1 */
    uint32_t first;      /* in the bucket of this number, plus 1 */
};
enum { WF_FAILURES_FEW = 16, WF_FAILURES_MAX = 65536 };

/* Who calls what:
 *   submit   wf_name_give_locked, then wf_depend_begin_locked, under one hold of the lock; when it fails later on,
 *            wf_depend_leave_locked and wf_name_over_locked with WEFT_WORK_PENDING
 *   end      wf_failure_note_locked unless it succeeded, wf_name_over_locked, wf_depend_over_locked, wf_depend_leave_locked,
 *            under one hold of the lock, and before the record is let go */
int wf_id_check(const weft_work_id *id); /* 0 none, 1 good, -EINVAL */
/* Gives the work that id. -EEXIST, -ENOMEM. */
int wf_name_give_locked(weft_pool *pool, struct wf_terms *terms, const weft_work_id *id);
/* The work is over, or was never submitted (status WEFT_WORK_PENDING): its id is free, what became of it is remembered. */
void wf_name_over_locked(weft_pool *pool, struct wf_terms *terms, weft_work handle, weft_work_status status);
/* The entry of an id, for an edge that is to wait for it; expected if there was none. NULL: no memory. */
struct wf_name *wf_name_expect_locked(weft_pool *pool, const weft_work_id *id);
/* An edge has left it: it goes when nobody needs it any more. */
void wf_name_left_locked(weft_pool *pool, struct wf_name *name);
/* A work has not succeeded: remembered, so that works which come after it fail. Also for works without terms. Before its handle
 * goes stale: one that is stale and not remembered counts as succeeded. Twice is once. */
void wf_failure_note_locked(weft_pool *pool, weft_work handle, weft_work_status status);
/* NULL: not remembered. */
const struct wf_failure *wf_failure_find_locked(weft_pool *pool, weft_work handle);
/* Those of this generation, or of the last one while the pool is idle; of all with keep_results. As weft_pool_list. */
size_t wf_failures_list_locked(weft_pool *pool, weft_work_status status, weft_work *works, size_t size);
/* Notes what it comes after. 0; -ELOOP, -EINVAL, -ENOMEM: it waits for nothing then. terms->pending is set, counting one for the
 * submit itself; has_failed_before and cause if one of them has not succeeded already. */
int wf_depend_begin_locked(weft_pool *pool, struct wf_terms *terms, const weft_work_options *options);
/* Takes its edges out of everything: it is over, or was never submitted. */
void wf_depend_leave_locked(weft_pool *pool, struct wf_terms *terms);
/* It is over: works that come after it and now wait for nothing go to ready, still HELD, and LISTED so that the record stays
 * whatever happens to it; those that cannot come to run any more, seized, to failed. Linked by task.next, and so without those
 * whose submit, or the gate, still has their token: these have has_failed_before, and are ended by whoever drops it. */
void wf_depend_over_locked(weft_pool *pool, struct wf_terms *terms, weft_work handle, weft_work_status status,
                           struct wf_chain *ready, struct wf_chain *failed);
/* That generation begins, or has begun: forgets ids that were over before it, unless keep_results. */
void wf_names_clear_locked(weft_pool *pool, uint32_t generation);
void wf_names_term(weft_pool *pool);

#endif
