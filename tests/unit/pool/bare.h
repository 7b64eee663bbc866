/* SPDX-License-Identifier: MIT
 *
 * unit/pool/bare.h - a pool without threads: works are made, and ended by the test, in whatever order it likes.
 *
 * A work is submitted as pool/submit.c does it, and told to be over as pool/over.c does it, as far as ids, dependencies and
 * groups are concerned. One that waits for nothing is QUEUED, and stays so until bare_end. The test hears of every end through
 * bare_on_end.
 */
#ifndef WF_UNIT_POOL_BARE_H
#define WF_UNIT_POOL_BARE_H

#include "os/memory.h"
#include "pool/pool.h"
#include "support/run.h"

static void (*bare_on_end)(weft_work work, weft_work_status status, weft_work cause);

static inline weft_pool *bare_new(void) {
    weft_pool *pool = wf_os_alloc_aligned(64, sizeof *pool);
    CHECK(pool != NULL);
    wf_list_init(&pool->stored);
    wf_list_init(&pool->groups);
    return pool;
}

static inline void bare_free(weft_pool *pool) {
    CHECK_EQ(wf_load_relaxed(&pool->held), 0);
    wf_groups_term(pool);
    wf_names_term(pool);
    wf_works_term(pool);
    wf_os_free(pool);
    bare_on_end = NULL;
}

/* The pool has been idle for a moment. */
static inline void bare_next_generation(weft_pool *pool) {
    wf_store_relaxed(&pool->word, wf_load_relaxed(&pool->word) + ((uint64_t)1 << 32));
    wf_lock_take(&pool->lock);
    wf_names_clear_locked(pool, wf_pool_generation(wf_load_relaxed(&pool->word)));
    wf_lock_drop(&pool->lock);
}

static inline enum wf_work_phase bare_phase(weft_pool *pool, weft_work handle) {
    struct wf_work *work = wf_work_find(pool, handle);
    CHECK(work != NULL);
    uint64_t word = wf_load_relaxed(&work->word);
    return wf_work_is(word, handle) ? wf_work_phase(word) : WF_WORK_FREE;
}

static inline void bare_tell(weft_pool *pool, struct wf_work *work, struct wf_chain *failed) {
    uint64_t word = wf_load_relaxed(&work->word);
    weft_work handle = wf_work_handle(work, word);
    struct wf_terms *terms = wf_work_terms(work);
    struct wf_chain ready = {0};
    struct wf_waiter *told = NULL;
    weft_work cause = terms->has_failed_before ? terms->cause : WEFT_NO_WORK;
    wf_lock_take(&pool->lock);
    if (wf_work_status(word) != WEFT_WORK_SUCCEEDED)
        wf_failure_note_locked(pool, handle, wf_work_status(word));
    if (word & WF_WORK_WAITING)
        wf_store_relaxed(&pool->held, wf_load_relaxed(&pool->held) - 1);
    wf_depend_leave_locked(pool, terms);
    wf_name_over_locked(pool, terms, handle, wf_work_status(word));
    wf_depend_over_locked(pool, terms, handle, wf_work_status(word), &ready, failed);
    wf_group_leave_locked(pool, terms, &told);
    wf_lock_drop(&pool->lock);
    wf_wait_wake_chain(told);
    struct wf_task *next;
    while ((next = wf_chain_take_first(&ready))) {
        struct wf_work *free = wf_work_of(next);
        CHECK(wf_load_relaxed(&free->word) & WF_WORK_LISTED);
        wf_store_relaxed(&free->word, wf_work_with_phase(wf_load_relaxed(&free->word), WF_WORK_QUEUED));
    }
    if (bare_on_end)
        bare_on_end(handle, wf_work_status(word), cause);
    if (terms->stores)
        wf_store_relaxed(&work->word, wf_load_relaxed(&work->word) | WF_WORK_STORED | WF_WORK_OVER);
    else
        wf_work_recycle(pool, NULL, work);
}

/* The work and all that fail with it. False: it was not there to be ended. */
static inline bool bare_end(weft_pool *pool, weft_work handle, weft_work_status status) {
    struct wf_chain failed = {0};
    struct wf_work *work = wf_work_find(pool, handle);
    if (!wf_work_seize(work, handle, status))
        return false;
    bare_tell(pool, work, &failed);
    struct wf_task *next;
    while ((next = wf_chain_take_first(&failed)))
        bare_tell(pool, wf_work_of(next), &failed);
    return true;
}

static inline int bare_enter(weft_pool *pool, struct wf_terms *terms, const weft_work_options *options) {
    weft_work handle = wf_work_handle(terms->work, wf_load_relaxed(&terms->work->word));
    int error = wf_id_check(&options->id) == 1 ? wf_name_give_locked(pool, terms, &options->id) : 0;
    if (error)
        return error;
    error = wf_depend_begin_locked(pool, terms, options);
    if (!error) {
        error = options->group ? wf_group_enter_locked(pool, options->group, terms) : 0;
        if (error)
            wf_depend_leave_locked(pool, terms);
    }
    if (error)
        wf_name_over_locked(pool, terms, handle, WEFT_WORK_PENDING);
    return error;
}

/* The token is dropped: as pool/submit.c does it. */
static inline void bare_drop_token(weft_pool *pool, struct wf_work *work) {
    struct wf_terms *terms = wf_work_terms(work);
    weft_work handle = wf_work_handle(work, wf_load_relaxed(&work->word));
    if (terms->has_failed_before) {
        bare_end(pool, handle, WEFT_WORK_FAILED);
        return;
    }
    uint64_t word = wf_load_relaxed(&work->word) & ~WF_WORK_LISTED;
    if (--terms->pending > 0) {
        wf_store_relaxed(&work->word, word | WF_WORK_WAITING);
        wf_store_relaxed(&pool->held, wf_load_relaxed(&pool->held) + 1);
    } else {
        wf_store_relaxed(&work->word, wf_work_with_phase(word, WF_WORK_QUEUED));
    }
}

/* flags: WF_WORK_UNCOUNTED: it stays at the gate, with its token. */
static inline int bare_submit_flagged(weft_pool *pool, const weft_work_options *options, weft_work *out,
                                      uint64_t flags) {
    struct wf_terms *terms = wf_os_alloc(sizeof *terms);
    if (!terms)
        return -ENOMEM;
    wf_lock_take(&pool->lock);
    wf_lock_take(&pool->queue.lock);
    struct wf_work *work = wf_work_take_locked(pool);
    wf_lock_drop(&pool->queue.lock);
    if (!work) {
        wf_lock_drop(&pool->lock);
        wf_os_free(terms);
        return -ENOMEM;
    }
    wf_terms_init(terms, work);
    terms->stores = options->store_result;
    wf_store_relaxed(&work->terms, terms);
    uint64_t word = wf_load_relaxed(&work->word);
    int error = bare_enter(pool, terms, options);
    if (error) {
        wf_work_unmake_locked(pool, work);
        wf_lock_drop(&pool->lock);
        wf_terms_free(terms);
        return error;
    }
    wf_store_relaxed(&work->word, wf_work_with_phase(word, WF_WORK_HELD) | WF_WORK_SPECIAL | WF_WORK_LISTED | flags);
    wf_lock_drop(&pool->lock);
    *out = wf_work_handle(work, word);
    if (!(flags & WF_WORK_UNCOUNTED))
        bare_drop_token(pool, work);
    return 0;
}

static inline int bare_submit(weft_pool *pool, const weft_work_options *options, weft_work *out) {
    return bare_submit_flagged(pool, options, out, 0);
}

static inline weft_work bare_make(weft_pool *pool, const weft_work_options *options) {
    weft_work work = WEFT_NO_WORK;
    CHECK_EQ(bare_submit(pool, options, &work), 0);
    return work;
}

#define BARE(pool, ...) bare_make((pool), &(weft_work_options){__VA_ARGS__})

static inline weft_work_id text_id(const char *text) {
    return (weft_work_id){.text = text};
}

static inline weft_work_id number_id(uint64_t number) {
    return (weft_work_id){.number = number};
}

#endif
