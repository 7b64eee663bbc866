/* SPDX-License-Identifier: MIT
 *
 * pool/record.c - the table of works.
 *
 * Records come in chunks that stay until the pool goes, so a handle that is out of date leads to a record whose generation is
 * another: nothing is ever read that is not there. A record is FREE, in one of the lists of free ones, or somebody's.
 *
 * The free lists: one under the lock of the shared queue, where a submit takes its record while it has that lock anyway, and
 * one for each shard, without a lock. A shard gives what it has too much of to the shared one when it comes for works.
 *
 * The end of a record that others may still know (a queue with a tombstone, a store, the function itself) is the business of
 * whoever lets go last: WF_WORK_KEEPS.
 */
#include <errno.h>

#include "os/clock.h"
#include "os/memory.h"
#include "pool/pool.h"

static struct wf_work *first_use_locked(weft_pool *pool);

struct wf_work *wf_work_take_locked(weft_pool *pool) {
    struct wf_task *task = pool->queue.free_records;
    if (WF_UNLIKELY(!task))
        return first_use_locked(pool);
    pool->queue.free_records = task->next;
    return wf_work_of(task);
}

static struct wf_work *first_use_locked(weft_pool *pool) {
    uint32_t index = pool->queue.next_index;
    if (index == 1u << WF_WORK_INDEX_BITS)
        return NULL;
    if (index % WF_WORK_CHUNK == 0) {
        struct wf_work *chunk = wf_os_alloc_aligned(64, WF_WORK_CHUNK * sizeof *chunk);
        if (!chunk)
            return NULL;
        for (uint32_t i = 0; i < WF_WORK_CHUNK; i++) {
            chunk[i].index = index + i;
            wf_store_relaxed(&chunk[i].task.state, WF_ITEM_WORK);
            wf_store_relaxed(&chunk[i].word, (uint64_t)1 << 32 | WF_WORK_FREE);
        }
        wf_store_release(&pool->chunks[index / WF_WORK_CHUNK], chunk); /* pairs with wf_work_at */
    }
    pool->queue.next_index = index + 1;
    return wf_work_at(pool, index);
}

void wf_work_recycle(weft_pool *pool, struct wf_shard *shard, struct wf_work *work) {
    uint64_t word = wf_load_relaxed(&work->word);
    struct wf_terms *terms = wf_work_terms(work);
    WF_MOVE_CHECK(&wf_work_machine, wf_work_phase(word), WF_WORK_FREE);
    WF_ASSERT(!work->waiters);
    if (terms) {
        wf_store_relaxed(&work->terms, NULL);
        wf_terms_free(terms);
    }
    work->value = NULL;
    work->priority = 0;
    work->code = 0;
    work->error = 0;
    work->submitted_at = 0;
    work->started_at = 0;
    wf_store_release(&work->word, wf_work_next_free(word));
    wf_work_put_free(pool, shard, work);
}

void wf_work_put_free(weft_pool *pool, struct wf_shard *shard, struct wf_work *work) {
    if (WF_LIKELY(shard)) {
        work->task.next = shard->free_records;
        shard->free_records = &work->task;
        shard->free_count++;
        return;
    }
    wf_lock_take(&pool->queue.lock);
    work->task.next = pool->queue.free_records;
    pool->queue.free_records = &work->task;
    wf_lock_drop(&pool->queue.lock);
}

void wf_work_let_go(weft_pool *pool, struct wf_work *work, uint64_t flags) {
    if (wf_work_let_go_is_last(work, flags))
        wf_work_recycle(pool, wf_shard_self(pool), work);
}

bool wf_work_let_go_is_last(struct wf_work *work, uint64_t flags) {
    uint64_t before = wf_fetch_and_acq_rel(&work->word, ~flags);
    WF_ASSERT(wf_work_phase(before) == WF_WORK_DONE);
    WF_ASSERT((before & flags) == flags);
    return (before & ~flags & WF_WORK_KEEPS) == 0;
}

struct wf_work *wf_work_find(weft_pool *pool, weft_work handle) {
    uint32_t index = (uint32_t)handle.bits;
    if (handle.bits >> 32 == 0 || index >= 1u << WF_WORK_INDEX_BITS)
        return NULL;
    struct wf_work *chunk = wf_load_acquire(&pool->chunks[index / WF_WORK_CHUNK]); /* pairs with its making */
    return chunk ? chunk + index % WF_WORK_CHUNK : NULL;
}

uint64_t wf_work_flag(struct wf_work *work, weft_work handle, uint32_t phases, uint64_t flags) {
    uint64_t word = wf_load_acquire(&work->word); /* pairs with the moves of the work */
    do {
        if (!wf_work_is(word, handle) || !(phases >> wf_work_phase(word) & 1))
            return 0;
    } while (!wf_cas_acq_rel(&work->word, &word, word | flags));
    return word;
}

struct wf_terms *wf_work_terms_locked(weft_pool *pool, struct wf_work *work, weft_work handle, int *error) {
    (void)pool;
    const uint32_t alive = WF_BIT(WF_WORK_HELD) | WF_BIT(WF_WORK_QUEUED) | WF_BIT(WF_WORK_CLAIMED);
    /* Once SPECIAL is set, the end of the work needs pool->lock, which we have: the record stays its own till we are through. */
    *error = -ESTALE;
    if (!wf_work_flag(work, handle, alive, WF_WORK_SPECIAL))
        return NULL;
    struct wf_terms *terms = wf_work_terms(work);
    *error = 0;
    if (terms)
        return terms;
    terms = wf_os_alloc(sizeof *terms);
    if (!terms) {
        *error = -ENOMEM;
        return NULL;
    }
    wf_terms_init(terms, work);
    wf_store_release(&work->terms, terms); /* pairs with wf_work_terms */
    return terms;
}

void wf_terms_init(struct wf_terms *terms, struct wf_work *work) {
    terms->work = work;
    terms->deadline = WF_NEVER;
    wf_list_init(&terms->dependents);
    wf_list_init(&terms->memberships);
    wf_list_init(&terms->stored);
    terms->timeout_alarm.node.index = WF_HEAP_OUTSIDE;
    terms->deadline_alarm.node.index = WF_HEAP_OUTSIDE;
    terms->grace_alarm.node.index = WF_HEAP_OUTSIDE;
}

void wf_work_each(weft_pool *pool, bool (*fn)(weft_pool *pool, struct wf_work *work, uint64_t word, void *arg),
                  void *arg) {
    wf_lock_take(&pool->queue.lock);
    uint32_t end = pool->queue.next_index;
    wf_lock_drop(&pool->queue.lock);
    for (uint32_t i = 0; i < end; i++) {
        struct wf_work *work = wf_work_at(pool, i);
        uint64_t word = wf_load_acquire(&work->word); /* pairs with the moves of the work */
        if (wf_work_phase(word) != WF_WORK_FREE && !fn(pool, work, word, arg))
            return;
    }
}

void wf_works_term(weft_pool *pool) {
    for (uint32_t i = 0; i < pool->queue.next_index; i++) {
        struct wf_terms *terms = wf_work_terms(wf_work_at(pool, i)); /* of a tombstone, or stored */
        if (terms)
            wf_terms_free(terms);
    }
    for (uint32_t i = 0; i < pool->queue.next_index; i += WF_WORK_CHUNK)
        wf_os_free(wf_load_relaxed(&pool->chunks[i / WF_WORK_CHUNK]));
}
