/* SPDX-License-Identifier: MIT
 *
 * pool/over.c - the end of a work: exactly one for each, whoever brings it about.
 *
 *     held, queued --seize (cancel, discard, deadline, a failed dependency)--> DONE | BUSY
 *     claimed      --its function has come back---------------------------->  DONE | BUSY, or run again, or FREE
 *     claimed      --given up--------------------------------------------->   DONE | BUSY | INSIDE
 *
 * One compare and swap decides which of them it is, and the winner tells everybody, in this order: event and callback; under
 * pool->lock its id, its edges, its groups and the store; its alarms, its promise; its own waiters,
 * from which moment it is OVER; whoever waits for the groups, works that came after it; the pool's word. BUSY keeps the record meanwhile.
 *
 * A work about which nobody has asked anything (no SPECIAL, no WAITED, no flag at all) that succeeds skips all of it: its word
 * goes from CLAIMED to FREE in the same compare and swap, which fails if somebody has asked in the last moment.
 *
 * Works that fail because of this one are ended here too, in a loop, not by recursion: chains may be long.
 */
#include <errno.h>

#include "base/assert.h"
#include "base/point.h"
#include "os/clock.h"
#include "pool/pool.h"

static weft_work_status status_of_run(uint64_t word, int code, bool by_panic);
static bool wants_retry(weft_pool *pool, struct wf_work *work, int code);
static void came_back(weft_pool *pool, struct wf_work *work);
static bool end_run(weft_pool *pool, struct wf_work *work, weft_work_status status, int code);
static bool seize_claimed(struct wf_work *work, weft_work_status status, uint64_t flags);
static void tell_all(weft_pool *pool, struct wf_work *work);
static void tell_one(weft_pool *pool, struct wf_work *work, struct wf_chain *failed);
static void tell_program(weft_pool *pool, const struct wf_terms *terms, const weft_result *result);
static void tell_promise(struct wf_terms *terms, const weft_result *result);
static void tell_work_waiters(struct wf_work *work, const weft_result *result);
static void count_out_one(weft_pool *pool, uint64_t word);

bool wf_work_over_run(weft_pool *pool, struct wf_shard *shard, struct wf_work *work, int code, bool by_panic) {
    if (code >= 0 && !by_panic && wf_work_over_quietly(pool, shard, work))
        return false;
    if (by_panic)
        code = -EOWNERDEAD;
    uint64_t word = wf_load_acquire(&work->word); /* pairs with whoever asked it to stop, or gave it up */
    if (wf_work_phase(word) == WF_WORK_DONE) {
        came_back(pool, work);
        return false;
    }
    weft_work_status status = status_of_run(word, code, by_panic);
    weft_work handle = wf_work_handle(work, word);
    if (by_panic)
        wf_pool_tell_error(pool, WEFT_SOURCE_WORK, handle, NULL, -EOWNERDEAD);
    if (status == WEFT_WORK_FAILED && wants_retry(pool, work, code)) {
        wf_pool_tell_running(pool, -1);
        if (wf_work_terms(work)->retry == WEFT_RETRY_IMMEDIATE)
            return true;
        wf_work_requeue(pool, work);
        return false;
    }
    if (end_run(pool, work, status, code))
        wf_pool_tell_running(pool, -1);
    return false;
}

/* The work has been given up before: it is over, and only the record is left. */
static void came_back(weft_pool *pool, struct wf_work *work) {
    wf_lock_take(&work->lock); /* whoever gave it up is through with the runner */
    wf_lock_drop(&work->lock);
    wf_work_let_go(pool, work, WF_WORK_INSIDE);
    bool is_last = wf_fetch_sub_acq_rel(&pool->inside, 1) == 1;
    if (is_last && pool->is_mortal && wf_pool_outstanding(wf_load_acquire(&pool->word)) == 0)
        wf_pool_rest(pool);
}

/* It ends, unless it was given up meanwhile, as late as that: then false. */
static bool end_run(weft_pool *pool, struct wf_work *work, weft_work_status status, int code) {
    wf_lock_take(&work->lock); /* whoever stops it by force, or gives it up, is through with the runner */
    bool is_ours = seize_claimed(work, status, 0);
    wf_lock_drop(&work->lock);
    if (!is_ours) {
        came_back(pool, work);
        return false;
    }
    work->code = code;
    work->error = status == WEFT_WORK_SUCCEEDED ? 0 : status == WEFT_WORK_FAILED ? code : -ECANCELED;
    tell_all(pool, work);
    return true;
}

/* Succeeded, and nobody asked. */
bool wf_work_over_quietly(weft_pool *pool, struct wf_shard *shard, struct wf_work *work) {
    uint64_t word = wf_load_relaxed(&work->word);
    if (WF_UNLIKELY((uint32_t)word != WF_WORK_CLAIMED))
        return false;
    WF_POINT("pool.before_free");
    WF_MOVE_CHECK(&wf_work_machine, WF_WORK_CLAIMED, WF_WORK_FREE);
    if (WF_UNLIKELY(!wf_cas_acq_rel(&work->word, &word, wf_work_next_free(word))))
        return false;
    wf_context_release(pool);
    wf_work_put_free(pool, shard, work);
    if (WF_LIKELY(shard)) {
        wf_count_owner(&shard->succeeded, 1);
        wf_store_release(&shard->finished, wf_load_relaxed(&shard->finished) + 1); /* pairs with wf_shard_flush_any */
    } else {
        wf_fetch_add_relaxed(&pool->counts.by_status[WEFT_WORK_SUCCEEDED], 1);
        wf_pool_count_out(pool, 1);
    }
    return true;
}

/* Only a work that has agreed to stop, or whose call was cut short, was stopped; another has just ended. */
static weft_work_status status_of_run(uint64_t word, int code, bool by_panic) {
    bool was_cut = code == -ECANCELED || (word & WF_WORK_AGREES);
    if ((word & WF_WORK_FORCE) && (code < 0 || was_cut))
        return word & WF_WORK_LATE ? WEFT_WORK_TIMED_OUT : WEFT_WORK_FORCE_STOPPED;
    if (!by_panic && (word & WF_WORK_STOP) && was_cut)
        return word & WF_WORK_LATE ? WEFT_WORK_TIMED_OUT : WEFT_WORK_STOPPED;
    return by_panic || code < 0 ? WEFT_WORK_FAILED : WEFT_WORK_SUCCEEDED;
}

/* An attempt has failed. */
static bool wants_retry(weft_pool *pool, struct wf_work *work, int code) {
    struct wf_terms *terms = wf_work_terms(work);
    if (!terms || terms->retry == WEFT_RETRY_NEVER || terms->retries_left == 0)
        return false;
    uint64_t word = wf_load_acquire(&work->word); /* pairs with whoever forbids it */
    if (wf_pool_wants(pool, WEFT_POOL_WORK_ENDED)) {
        weft_result result;
        wf_work_result(work, word, &result);
        result.status = WEFT_WORK_FAILED;
        result.error = result.code = code;
        wf_pool_tell_kind(pool, WEFT_POOL_WORK_ENDED, result.work, &result);
        word = wf_load_acquire(&work->word);
    }
    if (word & (WF_WORK_NO_RETRY | WF_WORK_STOP | WF_WORK_FORCE | WF_WORK_LATE)) {
        terms->is_told = true;
        return false;
    }
    if (terms->retries_left != WEFT_RETRY_FOREVER)
        terms->retries_left--;
    wf_fetch_add_relaxed(&pool->counts.retried, 1);
    return true;
}

/* From a run back to the queue, unless it is to stop. */
void wf_work_requeue(weft_pool *pool, struct wf_work *work) {
    uint64_t word = wf_load_acquire(&work->word); /* pairs with its moves */
    uint64_t next;
    do {
        WF_POINT("pool.before_requeue");
        if (wf_work_phase(word) == WF_WORK_DONE) {
            came_back(pool, work);
            return;
        }
        if (word & (WF_WORK_STOP | WF_WORK_FORCE)) {
            end_run(pool, work, status_of_run(word, -ECANCELED, false), -ECANCELED);
            return;
        }
        next = wf_work_with_phase(word | WF_WORK_LISTED, WF_WORK_QUEUED);
    } while (!wf_cas_acq_rel(&work->word, &word, next));
    wf_work_put_in_queue(pool, work);
}

void wf_work_put_in_queue(weft_pool *pool, struct wf_work *work) {
    weft_work handle = wf_work_handle(work, wf_load_acquire(&work->word)); /* LISTED: it stays the same work */
    struct wf_terms *terms = wf_work_terms(work);
    int error = wf_pool_enqueue(pool, work);
    if (!error)
        return;
    if (wf_work_seize(work, handle, WEFT_WORK_FAILED)) /* a custom queue does not take it */
        wf_work_over_unrun(pool, work, error);
    if (terms)
        wf_terms_give_place_back(pool, terms);
    wf_work_let_go(pool, work, WF_WORK_LISTED);
}

bool wf_work_seize(struct wf_work *work, weft_work handle, weft_work_status status) {
    uint64_t word = wf_load_acquire(&work->word), next; /* pairs with its moves */
    do {
        enum wf_work_phase phase = wf_work_phase(word);
        if (!wf_work_is(word, handle) || (phase != WF_WORK_HELD && phase != WF_WORK_QUEUED))
            return false;
        next = wf_work_with_phase(word | WF_WORK_BUSY, WF_WORK_DONE) | (uint64_t)status << WF_WORK_STATUS_SHIFT;
        WF_POINT("pool.before_seize");
    } while (!wf_cas_acq_rel(&work->word, &word, next));
    return true;
}

static bool seize_claimed(struct wf_work *work, weft_work_status status, uint64_t flags) {
    uint64_t word = wf_load_acquire(&work->word), next; /* pairs with its moves */
    do {
        if (wf_work_phase(word) != WF_WORK_CLAIMED)
            return false;
        next = wf_work_with_phase(word | WF_WORK_BUSY | flags, WF_WORK_DONE) | (uint64_t)status << WF_WORK_STATUS_SHIFT;
    } while (!wf_cas_acq_rel(&work->word, &word, next));
    return true;
}

void wf_work_over_unrun(weft_pool *pool, struct wf_work *work, int error) {
    work->error = error;
    tell_all(pool, work);
}

void wf_work_abandon(weft_pool *pool, struct wf_work *work, weft_work handle) {
    wf_lock_take(&work->lock); /* its runner is not going away while we look at it */
    uint64_t word = wf_load_acquire(&work->word);
    bool is_late = word & WF_WORK_LATE;
    wf_fetch_add_acq_rel(&pool->inside, 1); /* before its function can find out */
    bool is_ours = wf_work_is(word, handle) && (word & WF_WORK_FORCE) &&
                   seize_claimed(work, is_late ? WEFT_WORK_TIMED_OUT : WEFT_WORK_FORCE_STOPPED, WF_WORK_INSIDE);
    bool has_slot = is_ours && work->runner && wf_exchange_acq_rel(&work->runner->has_slot, 0);
    if (is_ours && work->runner)
        wf_runner_replace(work->runner);
    if (!is_ours)
        wf_fetch_sub_acq_rel(&pool->inside, 1);
    wf_lock_drop(&work->lock);
    if (!is_ours)
        return;
    if (has_slot)
        wf_pool_give_slot_back(pool);
    wf_fetch_add_relaxed(&pool->counts.abandoned, 1);
    wf_pool_tell_running(pool, -1);
    work->error = is_late ? -ETIMEDOUT : -ECANCELED;
    tell_all(pool, work);
    wf_shards_flush_any(pool); /* what its runner had finished before */
}

void wf_work_result(const struct wf_work *work, uint64_t word, weft_result *out) {
    const struct wf_terms *terms = wf_work_terms(work);
    unsigned attempts = wf_load_relaxed(&work->attempts);
    if (attempts == 0 && (word & WF_WORK_INSIDE))
        attempts = 1; /* given up in its first step */
    *out = (weft_result){
        .work = wf_work_handle(work, word),
        .status = wf_work_status(word),
        .error = work->error,
        .code = work->code,
        .value = word & WF_WORK_INSIDE ? NULL : work->value, /* else the function may still set it */
        .attempts = attempts,
        .submitted = work->submitted_at,
        .started = work->started_at,
    };
    if (terms && terms->has_failed_before)
        out->cause = terms->cause;
    if (work->submitted_at) /* the pool measures */
        out->ended = wf_os_now();
    if (work->started_at)
        out->run_ns = out->ended - out->started;
}

/* The work and all that fail with it. */
static void tell_all(weft_pool *pool, struct wf_work *work) {
    struct wf_chain failed = {0};
    tell_one(pool, work, &failed);
    struct wf_task *next;
    while ((next = wf_chain_take_first(&failed))) {
        wf_work_of(next)->error = -ENOENT;
        tell_one(pool, wf_work_of(next), &failed);
    }
}

/* The work is DONE | BUSY, and ours. */
static void tell_one(weft_pool *pool, struct wf_work *work, struct wf_chain *failed) {
    uint64_t word = wf_load_acquire(&work->word); /* pairs with its moves */
    struct wf_terms *terms = wf_work_terms(work);
    struct wf_chain ready = {0};
    struct wf_waiter *told = NULL;
    weft_result result;
    wf_work_result(work, word, &result);
    if (result.status == WEFT_WORK_TIMED_OUT)
        result.error = work->error = -ETIMEDOUT;
    if (word &
        WF_WORK_WAITING) { /* it is not one that waits any more, though its end takes a while: the pool is not at a loss */
        wf_lock_take(&pool->lock);
        wf_store_seq_cst(&pool->held, wf_load_relaxed(&pool->held) - 1);
        wf_lock_drop(&pool->lock);
    }
    wf_context_release(pool);
    tell_program(pool, terms, &result);
    wf_pool_count_result(pool, &result);
    wf_lock_take(&pool->lock);
    terms = wf_work_terms(work); /* somebody may have wanted to come after it meanwhile */
    if (result.status != WEFT_WORK_SUCCEEDED)
        wf_failure_note_locked(pool, result.work, result.status);
    if (terms) {
        wf_depend_leave_locked(pool, terms);
        wf_name_over_locked(pool, terms, result.work, result.status);
        wf_depend_over_locked(pool, terms, result.work, result.status, &ready, failed);
        wf_group_leave_locked(pool, terms, &told);
        terms->result = result;
        if (terms->stores && !(wf_load_relaxed(&pool->gate) & WF_GATE_DISPOSED)) {
            terms->generation = wf_pool_generation(wf_load_relaxed(&pool->word));
            wf_list_append(&pool->stored, &terms->stored);
            pool->stored_count++;
            wf_fetch_or_acq_rel(&work->word, WF_WORK_STORED);
        }
    }
    wf_lock_drop(&pool->lock);
    if (terms) {
        wf_clock_over(pool, terms);
        tell_promise(terms, &result);
    }
    if (pool->options.max_queued && (word & WF_WORK_LISTED))
        wf_queue_note_dead(pool, work);
    tell_work_waiters(work, &result); /* before anybody else learns that it is over, and asks for it */
    wf_wait_wake_chain(told);
    struct wf_task *next;
    while ((next = wf_chain_take_first(&ready)))
        wf_work_release(pool, wf_work_of(next));
    wf_work_let_go(pool, work, WF_WORK_BUSY);
    count_out_one(pool, word);
}

static void count_out_one(weft_pool *pool, uint64_t word) {
    if (word & WF_WORK_UNCOUNTED)
        return;
    struct wf_shard *shard = wf_shard_self(pool);
    struct wf_runner *runner = wf_runner_self();
    if (shard && runner && runner->pool == pool)
        wf_store_release(&shard->finished, wf_load_relaxed(&shard->finished) + 1); /* its runner flushes */
    else
        wf_pool_count_out(pool, 1);
}

static void tell_program(weft_pool *pool, const struct wf_terms *terms, const weft_result *result) {
    static const weft_pool_event_kind kinds[] = {
        [WEFT_WORK_SUCCEEDED] = WEFT_POOL_WORK_ENDED,       [WEFT_WORK_FAILED] = WEFT_POOL_WORK_ENDED,
        [WEFT_WORK_CANCELLED] = WEFT_POOL_WORK_CANCELLED,   [WEFT_WORK_STOPPED] = WEFT_POOL_WORK_STOPPED,
        [WEFT_WORK_FORCE_STOPPED] = WEFT_POOL_WORK_STOPPED, [WEFT_WORK_TIMED_OUT] = WEFT_POOL_WORK_STOPPED,
    };
    weft_pool_event_kind kind = kinds[result->status];
    if (result->status == WEFT_WORK_TIMED_OUT && result->attempts == 0)
        kind = WEFT_POOL_WORK_CANCELLED;
    if (wf_pool_wants(pool, kind) && !(terms && terms->is_told))
        wf_pool_tell_kind(pool, kind, result->work, result);
    bool has_own = terms && terms->callback;
    weft_work_callback callback = has_own ? terms->callback : pool->options.callback;
    if (!callback)
        return;
    int error = wf_pool_call_back(callback, result, has_own ? terms->callback_arg : pool->options.callback_arg);
    if (error < 0)
        wf_pool_tell_error(pool, WEFT_SOURCE_CALLBACK, result->work, result, error);
}

static void tell_promise(struct wf_terms *terms, const weft_result *result) {
    weft_promise *promise = terms->promise;
    if (!promise)
        return;
    terms->promise = NULL;
    if (result->status == WEFT_WORK_SUCCEEDED)
        weft_promise_resolve(promise, result->value);
    else
        weft_promise_reject(promise, result->error, weft_work_status_name(result->status));
    weft_promise_unref(promise);
}

static void tell_work_waiters(struct wf_work *work, const weft_result *result) {
    struct wf_waiter *first = NULL, *waiter;
    wf_lock_take(&work->lock);
    wf_fetch_or_acq_rel(&work->word, WF_WORK_OVER);
    while ((waiter = wf_wait_take_first_locked(&work->waiters))) {
        if (waiter->value)
            *(weft_result *)waiter->value = *result;
        waiter->status = 0;
        waiter->next = first;
        first = waiter;
    }
    wf_lock_drop(&work->lock);
    wf_wait_wake_chain(first);
}
