/* SPDX-License-Identifier: MIT
 *
 * fiber/record.c - fiber records and the ids that name them.
 *
 *     id    generation 32 | runtime 6 | index 26        (all zero: no fiber; generations begin at 1)
 *
 * Records lie in chunks that are never moved or unmapped while the runtime lives, so an index is two loads away from its
 * record and an outdated id can be checked by locking whatever it points to. Freeing a record raises its generation
 * under its lock. A generation comes round again after 2^32 lives of one record, at the fastest some minutes of nothing
 * else; the generation 0 is left out.
 *
 * Free records are kept by each processor, last in first out, and move to and from the shared list in batches.
 */
#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "fiber/fiber.h"
#include "os/memory.h"

enum { CACHE_MAX = 256, BATCH = 128 };

static int chunk_add(struct wf_fibers *fibers);
static void cache_fill(struct wf_fibers *fibers, struct wf_fiber_processor *processor);
static void cache_flush(struct wf_fibers *fibers, struct wf_fiber_processor *processor);
static struct wf_fiber *take_shared_locked(struct wf_fibers *fibers, int *error);

int wf_records_init(struct wf_fibers *fibers) {
    size_t chunks = ((size_t)1 << WF_INDEX_BITS) / WF_CHUNK_RECORDS;
    void *table;
    int error = wf_os_map(chunks * sizeof *fibers->chunks, &table);
    if (!error)
        fibers->chunks = table;
    return error;
}

void wf_records_term(struct wf_fibers *fibers) {
    uint32_t used = (fibers->next_index + WF_CHUNK_RECORDS - 1) / WF_CHUNK_RECORDS;
    for (uint32_t i = 0; i < used; i++)
        wf_os_unmap(fibers->chunks[i], WF_CHUNK_RECORDS * sizeof(struct wf_fiber));
    wf_os_unmap(fibers->chunks, ((size_t)1 << WF_INDEX_BITS) / WF_CHUNK_RECORDS * sizeof *fibers->chunks);
}

/* processor is the calling worker's, or NULL on a plain thread. */
struct wf_fiber *wf_record_take(struct wf_fibers *fibers, struct wf_fiber_processor *processor, int *error) {
    struct wf_fiber *fiber;
    if (processor) {
        if (WF_UNLIKELY(!processor->free_records))
            cache_fill(fibers, processor);
        fiber = processor->free_records;
        if (WF_LIKELY(fiber)) {
            processor->free_records = fiber->task.next ? wf_fiber_of(fiber->task.next) : NULL;
            processor->free_count--;
            return fiber;
        }
    }
    wf_lock_take(&fibers->records_lock);
    fiber = take_shared_locked(fibers, error);
    wf_lock_drop(&fibers->records_lock);
    return fiber;
}

static void cache_fill(struct wf_fibers *fibers, struct wf_fiber_processor *processor) {
    wf_lock_take(&fibers->records_lock);
    for (int i = 0; i < BATCH; i++) {
        int error;
        struct wf_fiber *fiber = take_shared_locked(fibers, &error);
        if (!fiber)
            break;
        fiber->task.next = processor->free_records ? &processor->free_records->task : NULL;
        processor->free_records = fiber;
        processor->free_count++;
    }
    wf_lock_drop(&fibers->records_lock);
}

static struct wf_fiber *take_shared_locked(struct wf_fibers *fibers, int *error) {
    struct wf_fiber *fiber = fibers->shared_free;
    if (fiber) {
        fibers->shared_free = fiber->task.next ? wf_fiber_of(fiber->task.next) : NULL;
        fibers->shared_free_count--;
        return fiber;
    }
    if (fibers->next_index >= fibers->max) {
        *error = -EAGAIN;
        return NULL;
    }
    if (fibers->next_index % WF_CHUNK_RECORDS == 0 && (*error = chunk_add(fibers)) != 0)
        return NULL;
    uint32_t index = fibers->next_index++;
    fiber = &fibers->chunks[index / WF_CHUNK_RECORDS][index % WF_CHUNK_RECORDS];
    fiber->index = index;
    wf_store_relaxed(&fiber->generation, 1);
    return fiber;
}

static int chunk_add(struct wf_fibers *fibers) {
    void *memory;
    int error = wf_os_map(WF_CHUNK_RECORDS * sizeof(struct wf_fiber), &memory);
    if (!error) /* readers get the index of a record in it only after this thread has handed it out */
        fibers->chunks[fibers->next_index / WF_CHUNK_RECORDS] = memory;
    return error;
}

void wf_record_free_locked(struct wf_fibers *fibers, struct wf_fiber *fiber) {
    wf_fiber_set_state(fiber, WF_FIBER_FREE);
    uint32_t generation = wf_load_relaxed(&fiber->generation) + 1;
    wf_store_relaxed(&fiber->generation, generation ? generation : 1);
    wf_lock_drop(&fiber->lock);

    struct wf_fiber_worker *worker = wf_worker_self();
    if (worker && worker->base.engine == &fibers->engine) {
        struct wf_fiber_processor *processor = (struct wf_fiber_processor *)worker->base.processor;
        wf_count_owner(&processor->recycled, 1);
        fiber->task.next = processor->free_records ? &processor->free_records->task : NULL;
        processor->free_records = fiber;
        if (WF_UNLIKELY(++processor->free_count > CACHE_MAX))
            cache_flush(fibers, processor);
    } else {
        wf_fetch_add_relaxed(&fibers->recycled_outside, 1);
        wf_lock_take(&fibers->records_lock);
        fiber->task.next = fibers->shared_free ? &fibers->shared_free->task : NULL;
        fibers->shared_free = fiber;
        fibers->shared_free_count++;
        wf_lock_drop(&fibers->records_lock);
    }
}

static void cache_flush(struct wf_fibers *fibers, struct wf_fiber_processor *processor) {
    struct wf_fiber *first = processor->free_records;
    struct wf_fiber *last = first;
    for (int i = 1; i < BATCH; i++)
        last = wf_fiber_of(last->task.next);
    processor->free_records = wf_fiber_of(last->task.next);
    processor->free_count -= BATCH;
    wf_lock_take(&fibers->records_lock);
    last->task.next = fibers->shared_free ? &fibers->shared_free->task : NULL;
    fibers->shared_free = first;
    fibers->shared_free_count += BATCH;
    wf_lock_drop(&fibers->records_lock);
}

weft_fiber wf_fiber_id(struct wf_fibers *fibers, const struct wf_fiber *fiber) {
    uint64_t generation = wf_load_relaxed(&fiber->generation);
    return (weft_fiber){generation << 32 | (uint64_t)fibers->runtime << WF_INDEX_BITS | fiber->index};
}

struct wf_fiber *wf_record_lock(struct wf_fibers *fibers, weft_fiber id) {
    uint32_t index = (uint32_t)id.bits & ((1u << WF_INDEX_BITS) - 1);
    struct wf_fiber *chunk = index < fibers->max ? fibers->chunks[index / WF_CHUNK_RECORDS] : NULL;
    if (!chunk) /* a number that was never handed out */
        return NULL;
    struct wf_fiber *fiber = &chunk[index % WF_CHUNK_RECORDS];
    wf_lock_take(&fiber->lock);
    if (wf_load_relaxed(&fiber->generation) == (uint32_t)(id.bits >> 32))
        return fiber;
    wf_lock_drop(&fiber->lock);
    return NULL;
}
