/* SPDX-License-Identifier: MIT
 *
 * pool/depend.c - what comes after what.
 *
 * A work has an *edge* for everything that it comes after. While that is not over the edge hangs in the list of what it waits
 * for: the entry of an id (pool/ident.c), which may have no work yet, or the terms of a work that was named by its handle.
 *
 *     begin    an edge for each; those that are over already count by what became of them
 *     over     the edges that hang there are taken off: their works are a step nearer, or cannot come to run any more
 *     leave    the edges that a work still has are taken off, because it ended without them: cancelled, timed out, failed
 *
 * Only success releases. A predecessor that failed, was cancelled or discarded, timed out, was stopped or stopped by force makes
 * those that come after it fail, and those after them: what it was to prepare is not there. The cause is the work at the root,
 * the one that did not succeed by itself. Each failed work is handed to the caller, who ends it and comes back with it, so that
 * chains of any length need neither stack nor a long hold of the lock.
 *
 * Circles. Every edge leads from a work to one that was submitted before it, or to an id that nobody had. So a circle can only
 * close when a work takes an id that others wait for: then what it comes after is searched, over all edges that are not over,
 * for the work itself. The search marks what it has seen, its list of what is left to see runs through the terms, and it needs
 * no memory: linear in the edges it finds. A path ends at ids that nobody has, for whoever takes one of them searches in turn.
 *
 * unmet counts edges, pending also the token of the submit or of the gate, so that a work cannot be ready before that is
 * through. Failing is at once, but for works whose token somebody still has (HELD and LISTED, which changes under the lock only):
 * that one ends them when it drops it.
 *
 * Everything under pool->lock. Until leave, the lock keeps the record of every work with edges its own.
 */
#include <errno.h>

#include "base/assert.h"
#include "os/memory.h"
#include "pool/pool.h"

static int begin_edges_locked(weft_pool *pool, struct wf_terms *terms, const weft_work_options *options);
static int edge_by_handle_locked(weft_pool *pool, struct wf_edge *edge, weft_work handle);
static int edge_by_id_locked(weft_pool *pool, struct wf_edge *edge, const weft_work_id *id);
static void edge_hang(struct wf_edge *edge, struct wf_list *dependents);
static void fails_by(struct wf_terms *terms, weft_work cause);
static int outcome_of_handle_locked(weft_pool *pool, weft_work handle, struct wf_terms **alive, weft_work *cause);
static bool closes_circle_locked(weft_pool *pool, struct wf_terms *terms);
static void drop_edges_locked(weft_pool *pool, struct wf_terms *terms);
static void step_nearer_locked(weft_pool *pool, struct wf_terms *terms, struct wf_chain *ready);
static void give_up_locked(weft_pool *pool, struct wf_terms *terms, weft_work cause, struct wf_chain *failed);

int wf_depend_begin_locked(weft_pool *pool, struct wf_terms *terms, const weft_work_options *options) {
    terms->pending = 1;
    size_t count = options->after_count + options->after_id_count;
    if (count == 0)
        return 0;
    if ((options->after_count > 0 && !options->after) || (options->after_id_count > 0 && !options->after_ids) ||
        count < options->after_count)
        return -EINVAL;
    terms->edges = count <= SIZE_MAX / sizeof *terms->edges ? wf_os_alloc(count * sizeof *terms->edges) : NULL;
    if (!terms->edges)
        return -ENOMEM;
    terms->edge_count = count;
    for (size_t i = 0; i < count; i++) {
        terms->edges[i].waiter = terms;
        wf_list_init(&terms->edges[i].node);
    }
    int error = begin_edges_locked(pool, terms, options);
    if (!error && closes_circle_locked(pool, terms))
        error = -ELOOP;
    if (error)
        wf_depend_leave_locked(pool, terms);
    else if (wf_load_relaxed(&terms->has_failed_before))
        drop_edges_locked(pool, terms); /* it waits for nothing any more */
    return error;
}

static int begin_edges_locked(weft_pool *pool, struct wf_terms *terms, const weft_work_options *options) {
    int error = 0;
    for (size_t i = 0; i < options->after_count && !error; i++)
        error = edge_by_handle_locked(pool, &terms->edges[i], options->after[i]);
    for (size_t i = 0; i < options->after_id_count && !error; i++)
        error = edge_by_id_locked(pool, &terms->edges[options->after_count + i], &options->after_ids[i]);
    return error;
}

static int edge_by_handle_locked(weft_pool *pool, struct wf_edge *edge, weft_work handle) {
    struct wf_terms *terms = edge->waiter;
    weft_work cause = handle;
    if (handle.bits == wf_work_handle(terms->work, wf_load_relaxed(&terms->work->word)).bits)
        return -ELOOP;
    int outcome = outcome_of_handle_locked(pool, handle, &edge->before, &cause);
    if (outcome < 0)
        return outcome;
    if (outcome == WEFT_WORK_PENDING)
        edge_hang(edge, &edge->before->dependents);
    else if (outcome != WEFT_WORK_SUCCEEDED)
        fails_by(terms, cause);
    return 0;
}

/* What became of it: a status; for WEFT_WORK_PENDING also its terms. -EINVAL for a handle that was never given out; -ENOMEM. */
static int outcome_of_handle_locked(weft_pool *pool, weft_work handle, struct wf_terms **alive, weft_work *cause) {
    struct wf_work *work = wf_work_find(pool, handle);
    const struct wf_failure *failure = wf_failure_find_locked(pool, handle);
    if (!work)
        return -EINVAL;
    if (failure) {
        *cause = failure->cause;
        return failure->status;
    }
    for (;;) {
        uint64_t word = wf_load_acquire(&work->word); /* pairs with the moves of the work */
        int32_t age = (int32_t)(wf_work_generation(word) - (uint32_t)(handle.bits >> 32));
        if (age > 0)
            return WEFT_WORK_SUCCEEDED; /* failures are noted before a handle goes stale, and under the lock that we have */
        if (age < 0 || wf_work_phase(word) == WF_WORK_FREE)
            return -EINVAL;
        if (wf_work_phase(word) == WF_WORK_DONE) {
            if ((word & WF_WORK_STORED) &&
                wf_work_terms(work)->result.cause.bits) /* STORED is taken off under our lock */
                *cause = wf_work_terms(work)->result.cause;
            return wf_work_status(word);
        }
        int error;
        *alive = wf_work_terms_locked(pool, work, handle, &error);
        if (*alive)
            return WEFT_WORK_PENDING;
        if (error != -ESTALE)
            return error; /* else it has ended meanwhile */
    }
}

static int edge_by_id_locked(weft_pool *pool, struct wf_edge *edge, const weft_work_id *id) {
    if (wf_id_check(id) != 1)
        return -EINVAL;
    struct wf_name *name = wf_name_expect_locked(pool, id);
    if (!name)
        return -ENOMEM;
    if (name->terms || name->last_status == WEFT_WORK_PENDING) {
        edge->name = name;
        edge_hang(edge, &name->dependents);
    } else if (name->last_status != WEFT_WORK_SUCCEEDED) {
        fails_by(edge->waiter, name->last_cause);
    }
    return 0;
}

static void edge_hang(struct wf_edge *edge, struct wf_list *dependents) {
    wf_list_append(dependents, &edge->node);
    edge->waiter->unmet++;
    edge->waiter->pending++;
}

/* The first cause stays. */
static void fails_by(struct wf_terms *terms, weft_work cause) {
    if (wf_load_relaxed(&terms->has_failed_before))
        return;
    terms->cause = cause;
    wf_store_release(&terms->has_failed_before, true); /* pairs with whoever reads the cause without the lock */
}

/* Whether what it comes after comes after it. */
static bool closes_circle_locked(weft_pool *pool, struct wf_terms *terms) {
    if (!terms->name || wf_list_is_empty(&terms->name->dependents))
        return false;
    uint64_t mark = ++pool->marks;
    struct wf_terms *left = terms;
    terms->mark = mark;
    terms->search_next = NULL;
    while (left) {
        struct wf_terms *now = left;
        left = now->search_next;
        for (size_t i = 0; i < now->edge_count; i++) {
            const struct wf_edge *edge = &now->edges[i];
            if (!wf_list_is_linked(&edge->node))
                continue;
            struct wf_terms *before = edge->name ? edge->name->terms : edge->before;
            if (before == terms)
                return true;
            if (!before || before->mark == mark)
                continue;
            before->mark = mark;
            before->search_next = left;
            left = before;
        }
    }
    return false;
}

void wf_depend_leave_locked(weft_pool *pool, struct wf_terms *terms) {
    drop_edges_locked(pool, terms);
    wf_os_free(terms->edges);
    terms->edges = NULL;
    terms->edge_count = 0;
}

/* Those that still hang somewhere. */
static void drop_edges_locked(weft_pool *pool, struct wf_terms *terms) {
    if (terms->unmet == 0)
        return;
    for (size_t i = 0; i < terms->edge_count; i++) {
        struct wf_edge *edge = &terms->edges[i];
        if (!wf_list_is_linked(&edge->node))
            continue;
        wf_list_remove(&edge->node);
        if (edge->name)
            wf_name_left_locked(pool, edge->name);
        terms->unmet--;
        terms->pending--;
    }
    WF_ASSERT(terms->unmet == 0);
}

void wf_depend_over_locked(weft_pool *pool, struct wf_terms *terms, weft_work handle, weft_work_status status,
                           struct wf_chain *ready, struct wf_chain *failed) {
    weft_work cause = wf_load_relaxed(&terms->has_failed_before) ? terms->cause : handle;
    WF_ASSERT(!terms->name); /* those who waited for its id are among its own by now */
    for (struct wf_list *node; (node = wf_list_take_first(&terms->dependents));) {
        struct wf_terms *waiter = WF_CONTAINER(node, struct wf_edge, node)->waiter;
        if (status == WEFT_WORK_SUCCEEDED)
            step_nearer_locked(pool, waiter, ready);
        else
            give_up_locked(pool, waiter, cause, failed);
    }
}

/* One of its edges was met. If somebody has cancelled it, that one has it. */
static void step_nearer_locked(weft_pool *pool, struct wf_terms *terms, struct wf_chain *ready) {
    WF_ASSERT(terms->unmet > 0);
    terms->unmet--;
    if (--terms->pending == 0 && wf_work_list_held(pool, terms->work))
        wf_chain_append(ready, &terms->work->task);
}

/* One of its edges was met by a failure; the others are not waited for. If somebody has cancelled it, that one has it. */
static void give_up_locked(weft_pool *pool, struct wf_terms *terms, weft_work cause, struct wf_chain *failed) {
    struct wf_work *work = terms->work;
    WF_ASSERT(terms->unmet > 0);
    terms->unmet--;
    terms->pending--;
    drop_edges_locked(pool, terms);
    uint64_t word = wf_load_acquire(&work->word); /* pairs with its moves */
    if (wf_work_phase(word) == WF_WORK_HELD && (word & WF_WORK_LISTED)) {
        fails_by(terms, cause);
        return; /* its submit, or the gate, has its token, and perhaps has it in a chain: that one ends it */
    }
    weft_work handle = wf_work_handle(work, word);
    if (!wf_work_seize(work, handle, WEFT_WORK_FAILED))
        return;
    /* From here on it is not one that waits, though its end is told later: the pool is not at a loss. */
    if (wf_fetch_and_acq_rel(&work->word, ~WF_WORK_WAITING) & WF_WORK_WAITING)
        wf_store_seq_cst(&pool->held, wf_load_relaxed(&pool->held) - 1); /* pairs with wf_pool_count_out */
    fails_by(terms, cause);
    wf_failure_note_locked(pool, handle, WEFT_WORK_FAILED);
    wf_chain_append(failed, &work->task);
}
