/* SPDX-License-Identifier: MIT
 *
 * pool/count.c - the pool's word: when it has something to do, and when it has not.
 *
 *     {generation, stopping, outstanding}
 *       submit   outstanding + n; it was 0: this thread owns the beginning of the generation. Refused while stopping
 *       end      outstanding - n; it becomes 0: generation + 1, stopping cleared, in the same step, and this thread owns
 *                the end of that generation
 *       stop     stopping is set, unless outstanding is 0
 *
 * Beginning and end alternate, since each needs the other in the word before it. What is to be told about them takes a while,
 * and the next may come about on another thread meanwhile: turns are told one after another, by whoever comes first, and those
 * that come while somebody is telling are left to that one. Who waits for the end of a generation waits until it has been told.
 *
 * A pool that is held (weft_pool_hold) has one more outstanding.
 */
#include <errno.h>

#include "base/point.h"
#include "os/clock.h"
#include "pool/pool.h"

static void pool_turn(weft_pool *pool);
static void tell_begin(weft_pool *pool);
static void tell_end(weft_pool *pool, uint64_t generation);
static struct wf_waiter *take_idlers_locked(weft_pool *pool, uint64_t generation, int status);
static bool gate_opens_locked(const weft_pool *pool);
static bool count_waiting(weft_pool *pool, struct wf_work *work, uint64_t word, void *opaque);
static void put_idlers_off_locked(weft_pool *pool, uint64_t generation);

bool wf_pool_count_in(weft_pool *pool, uint32_t count, bool *is_first) {
    uint64_t word = wf_load_relaxed(&pool->word);
    do {
        if (WF_UNLIKELY(word & WF_POOL_STOPPING))
            return false;
    } while (!wf_cas_seq_cst(&pool->word, &word, word + count)); /* pairs with the end of a mortal pool: life.c */
    *is_first = wf_pool_outstanding(word) == 0;
    return true;
}

/* Between this submit and now the generation may have ended, and others begun: only what is older than it is forgotten, and the
 * beginnings are seen in some order, so the oldest that has not been seen will do. */
void wf_pool_begin(weft_pool *pool) {
    wf_lock_take(&pool->lock);
    uint32_t generation = pool->begun++;
    if (!pool->options.keep_results) {
        wf_results_clear_locked(pool, false, generation);
        wf_names_clear_locked(pool, generation);
    }
    wf_lock_drop(&pool->lock);
    pool_turn(pool);
}

void wf_pool_count_out(weft_pool *pool, uint32_t count) {
    uint64_t word = wf_load_relaxed(&pool->word), next;
    do {
        WF_ASSERT(wf_pool_outstanding(word) >= count);
        next = word - count;
        if (wf_pool_outstanding(next) == 0)
            next = (uint64_t)(wf_pool_generation(word) + 1) << 32;
    } while (!wf_cas_seq_cst(&pool->word, &word, next));
    WF_POINT("pool.counted_out");
    if (wf_pool_outstanding(next) == 0)
        pool_turn(pool);
    else if (WF_UNLIKELY(wf_pool_outstanding(next) <= wf_load_seq_cst(&pool->held)))
        wf_pool_tell_loss(pool);
}

bool wf_pool_is_at_a_loss_locked(weft_pool *pool) {
    uint32_t waiting = 0, outstanding = wf_pool_outstanding(wf_load_seq_cst(&pool->word));
    if (outstanding == 0 || outstanding != wf_load_relaxed(&pool->held) || gate_opens_locked(pool))
        return false;
    wf_work_each(pool, count_waiting, &waiting); /* one that is being ended still counts as held; its end looks again */
    return waiting == outstanding;
}

static bool count_waiting(weft_pool *pool, struct wf_work *work, uint64_t word, void *opaque) {
    (void)pool;
    (void)work;
    *(uint32_t *)opaque += wf_work_phase(word) == WF_WORK_HELD && (word & WF_WORK_WAITING) != 0;
    return true;
}

/* What was finished and not yet counted out makes the pool look busier than it is; whoever counts it out looks again. */
void wf_pool_tell_loss(weft_pool *pool) {
    struct wf_waiter *told = NULL;
    wf_lock_take(&pool->lock);
    if (wf_pool_is_at_a_loss_locked(pool))
        told = take_idlers_locked(pool, UINT64_MAX, -EDEADLK);
    wf_lock_drop(&pool->lock);
    wf_wait_wake_chain(told);
}

/* Turn 2g is the beginning of generation g, turn 2g + 1 its end. */
static void pool_turn(weft_pool *pool) {
    wf_lock_take(&pool->lock);
    pool->turns_due++;
    if (pool->is_telling) {
        wf_lock_drop(&pool->lock);
        return;
    }
    pool->is_telling = true;
    while (pool->turns_told < pool->turns_due) {
        uint64_t turn = pool->turns_told;
        wf_lock_drop(&pool->lock);
        if (turn % 2 == 0)
            tell_begin(pool);
        else
            tell_end(pool, turn / 2);
        wf_lock_take(&pool->lock);
    }
    pool->is_telling = false;
    wf_lock_drop(&pool->lock);
}

static void tell_begin(weft_pool *pool) {
    int64_t now = wf_os_now();
    wf_lock_take(&pool->lock);
    pool->started_at = now;
    pool->turns_told++;
    wf_lock_drop(&pool->lock);
    wf_clock_begin(pool);
    if (wf_pool_wants(pool, WEFT_POOL_STARTED))
        wf_pool_tell_kind(pool, WEFT_POOL_STARTED, WEFT_NO_WORK, NULL);
}

static void tell_end(weft_pool *pool, uint64_t generation) {
    int64_t now = wf_os_now();
    wf_lock_take(&pool->lock);
    int64_t duration = now - pool->started_at;
    pool->runtime_ns += duration;
    pool->started_at = 0;
    wf_lock_drop(&pool->lock);
    wf_clock_end(pool);
    if (wf_pool_wants(pool, WEFT_POOL_IDLED)) {
        weft_pool_event event = {.kind = WEFT_POOL_IDLED, .duration = duration};
        wf_pool_tell(pool, &event);
    }
    wf_lock_take(&pool->lock);
    pool->turns_told++;
    struct wf_waiter *told = NULL;
    if (gate_opens_locked(pool))
        put_idlers_off_locked(pool, generation + 1);
    else
        told = take_idlers_locked(pool, generation, 0);
    wf_lock_drop(&pool->lock);
    wf_wait_wake_chain(told);
    wf_pool_open_gate(pool); /* a stop is over: what was submitted meanwhile */
    if (pool->is_mortal)
        wf_pool_rest(pool);
}

/* Works wait for the end of a stop, which has come: the next generation is theirs, and who waits for the pool waits for them. */
static bool gate_opens_locked(const weft_pool *pool) {
    return pool->gated.count > 0 && !wf_pool_is_shut(pool);
}

static void put_idlers_off_locked(weft_pool *pool, uint64_t generation) {
    struct wf_waiter *waiter = pool->idlers;
    while (waiter && waiter->amount < generation) {
        waiter->amount = generation;
        waiter = waiter->next == pool->idlers ? NULL : waiter->next;
    }
}

/* Those who wait for that generation or one before it; they came in that order. */
static struct wf_waiter *take_idlers_locked(weft_pool *pool, uint64_t generation, int status) {
    struct wf_waiter *first = NULL;
    while (pool->idlers && pool->idlers->amount <= generation) {
        struct wf_waiter *waiter = pool->idlers;
        if (!wf_wait_take_locked(waiter))
            continue; /* its deadline or its cancellation was faster; it is out of the queue */
        waiter->status = status;
        waiter->next = first;
        first = waiter;
    }
    return first;
}

/* Which generation has to end, and be told of, before the pool counts as idle. False: it is. The generation in the word wraps,
 * the count of turns does not; they are never far apart. */
bool wf_pool_awaited_locked(weft_pool *pool, uint64_t *generation) {
    uint64_t word = wf_load_acquire(&pool->word); /* pairs with the steps of the word */
    uint64_t ends_told = pool->turns_told / 2;
    uint32_t ends_untold = wf_pool_generation(word) - (uint32_t)ends_told;
    bool is_idle = wf_pool_outstanding(word) == 0 && !gate_opens_locked(pool);
    if (is_idle && ends_untold == 0)
        return false;
    *generation = ends_told + ends_untold - is_idle;
    return true;
}

int wf_pool_wait_idle(weft_pool *pool, int64_t deadline) {
    int error = wf_wait_enter(deadline);
    if (error)
        return error;
    uint64_t generation;
    wf_lock_take(&pool->lock);
    if (!wf_pool_awaited_locked(pool, &generation)) {
        wf_lock_drop(&pool->lock);
        wf_context_acquire(pool);
        return 0;
    }
    if (wf_pool_is_at_a_loss_locked(pool)) {
        wf_lock_drop(&pool->lock);
        return -EDEADLK;
    }
    struct wf_waiter waiter;
    waiter.amount = generation;
    error = wf_wait_locked(&waiter, &pool->lock, &pool->idlers, deadline, "pool");
    if (!error)
        wf_context_acquire(pool);
    return error;
}
