/* SPDX-License-Identifier: MIT
 *
 * fiber/record.c - fiber records and the ids that name them.
 *
 *     id    generation 32 | runtime 6 | index 26        (all zero: no fiber; generations begin at 1)
 *
 * Records lie in chunks that are never moved or unmapped while the runtime lives, so an index is two loads away from its
 * record and an outdated id can be checked by locking whatever it points to. Freeing a record raises its generation
 * under its lock. A generation comes round again after 2^32 lives of one record, at the fastest some minutes of nothing
 * else; the generation 0 is left out. A runtime begins above the generations of those that had its number before, so that
 * their ids are stale in it.
 *
 * Free records are kept by each processor, last in first out, and move to and from the shared list in batches.
 */
#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "fiber/fiber.h"
#include "os/memory.h"

enum { RECORD_CACHE_MAX = 256, RECORD_BATCH = 128 };

static uint32_t batch_of(const struct wf_fiber_processor *processor);
static int chunk_add(struct wf_fibers *fibers);
static void cache_fill(struct wf_fibers *fibers, struct wf_fiber_processor *processor);
static void cache_flush(struct wf_fibers *fibers, struct wf_fiber_processor *processor);
static struct wf_fiber *take_shared_locked(struct wf_fibers *fibers, int *error);
static void free_outside(struct wf_fibers *fibers, struct wf_fiber *fiber);

int wf_records_init(struct wf_fibers *fibers) {
    size_t chunks = ((size_t)1 << WF_INDEX_BITS) / WF_CHUNK_RECORDS;
    void *table;
    int error = wf_os_map(chunks * sizeof *fibers->chunks, &table);
    if (!error)
        fibers->chunks = table;
    return error;
}

void wf_records_term(struct wf_fibers *fibers) {
    fibers->first_generation = wf_records_next_generation(fibers); /* for the next runtime of this number */
    uint32_t used = (fibers->next_index + WF_CHUNK_RECORDS - 1) / WF_CHUNK_RECORDS;
    for (uint32_t i = 0; i < used; i++)
        wf_os_unmap(wf_load_relaxed(&fibers->chunks[i]), WF_CHUNK_RECORDS * sizeof(struct wf_fiber));
    wf_os_unmap((void *)fibers->chunks, ((size_t)1 << WF_INDEX_BITS) / WF_CHUNK_RECORDS * sizeof *fibers->chunks);
}

/* A record that one processor keeps is one that the others cannot have. So they keep some only where the limit is so high
 * that these do not count; under a low one every free record is shared, and the limit is exact. */
void wf_records_share(struct wf_fibers *fibers) {
    bool is_plenty = !wf_wants_fresh(0) && fibers->max / fibers->engine.count >= 64 * RECORD_CACHE_MAX;
    for (uint32_t i = 0; i < fibers->engine.count; i++)
        ((struct wf_fiber_processor *)fibers->engine.processors[i])->free_max = is_plenty ? RECORD_CACHE_MAX : 0;
}

static uint32_t batch_of(const struct wf_fiber_processor *processor) {
    return processor->free_max ? RECORD_BATCH : 1;
}

/* A record's generation was handed out if it is in use, and was not if it is free: one more is safe for both. */
uint32_t wf_records_next_generation(const struct wf_fibers *fibers) {
    uint32_t used = 0;
    for (uint32_t i = 0; i < fibers->next_index; i++) {
        struct wf_fiber *fiber = wf_record_at(fibers, i);
        uint32_t ahead = wf_load_relaxed(&fiber->task.version) - fibers->first_generation;
        used = ahead > used ? ahead : used;
    }
    uint32_t generation = fibers->first_generation + used + 1;
    return generation ? generation : 1;
}

/* processor is the calling worker's and has no free record, or NULL on a plain thread. */
WF_NOINLINE struct wf_fiber *wf_record_take_slow(struct wf_fibers *fibers, struct wf_fiber_processor *processor,
                                                 int *error) {
    if (processor) {
        cache_fill(fibers, processor);
        if (processor->free_records)
            return wf_record_take(fibers, processor, error);
    }
    wf_lock_take(&fibers->records_lock);
    struct wf_fiber *fiber = take_shared_locked(fibers, error);
    wf_lock_drop(&fibers->records_lock);
    return fiber;
}

static void cache_fill(struct wf_fibers *fibers, struct wf_fiber_processor *processor) {
    uint32_t batch = batch_of(processor);
    wf_lock_take(&fibers->records_lock);
    for (uint32_t i = 0; i < batch; i++) {
        int error;
        struct wf_fiber *fiber = take_shared_locked(fibers, &error);
        if (!fiber)
            break;
        fiber->task.next = (struct wf_task *)(void *)processor->free_records;
        processor->free_records = fiber;
        processor->free_count++;
    }
    wf_lock_drop(&fibers->records_lock);
}

static struct wf_fiber *take_shared_locked(struct wf_fibers *fibers, int *error) {
    struct wf_fiber *fiber = fibers->shared_free;
    if (fiber && !(wf_wants_fresh(fibers->next_index) && fibers->next_index < fibers->max)) {
        fibers->shared_free = (struct wf_fiber *)(void *)fiber->task.next;
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
    fiber = wf_record_at(fibers, index);
    fiber->index = index;
    wf_store_relaxed(&fiber->task.version, fibers->first_generation);
    return fiber;
}

static int chunk_add(struct wf_fibers *fibers) {
    void *memory;
    int error = wf_os_map(WF_CHUNK_RECORDS * sizeof(struct wf_fiber), &memory);
    if (!error) /* readers get the index of a record in it only after this thread has handed it out */
        wf_store_release(&fibers->chunks[fibers->next_index / WF_CHUNK_RECORDS], memory);
    return error;
}

void wf_record_count_freed(struct wf_fibers *fibers) {
    struct wf_fiber_processor *processor = wf_processor_self(fibers);
    if (processor)
        wf_count_owner(&processor->recycled, 1);
    else
        wf_fetch_add_relaxed(&fibers->recycled_outside, 1);
}

void wf_record_free_locked(struct wf_fibers *fibers, struct wf_fiber *fiber) {
    wf_fiber_set_state(fiber, WF_FIBER_FREE);
    uint32_t generation = wf_load_relaxed(&fiber->task.version) + 1;
    wf_store_release(&fiber->task.version, generation ? generation : 1); /* pairs with who looks without the lock */
    wf_lock_drop(&fiber->lock);
    struct wf_fiber_processor *processor = wf_processor_self(fibers);
    if (WF_UNLIKELY(!processor)) {
        free_outside(fibers, fiber);
        return;
    }
    fiber->task.next = (struct wf_task *)(void *)processor->free_records;
    processor->free_records = fiber;
    if (WF_UNLIKELY(++processor->free_count > processor->free_max))
        cache_flush(fibers, processor);
}

static void free_outside(struct wf_fibers *fibers, struct wf_fiber *fiber) {
    wf_lock_take(&fibers->records_lock);
    fiber->task.next = (struct wf_task *)(void *)fibers->shared_free;
    fibers->shared_free = fiber;
    fibers->shared_free_count++;
    wf_lock_drop(&fibers->records_lock);
}

static void cache_flush(struct wf_fibers *fibers, struct wf_fiber_processor *processor) {
    uint32_t batch = batch_of(processor);
    struct wf_fiber *first = processor->free_records;
    struct wf_fiber *last = first;
    for (uint32_t i = 1; i < batch; i++)
        last = wf_fiber_of(last->task.next);
    processor->free_records = wf_fiber_of(last->task.next);
    processor->free_count -= batch;
    wf_lock_take(&fibers->records_lock);
    last->task.next = (struct wf_task *)(void *)fibers->shared_free;
    fibers->shared_free = first;
    fibers->shared_free_count += batch;
    wf_lock_drop(&fibers->records_lock);
}

weft_fiber wf_parent_id(struct wf_fibers *fibers, const struct wf_fiber *fiber) {
    uint64_t parent = fiber->parent & WF_PARENT_MASK;
    if (parent == 0)
        return WEFT_NO_FIBER;
    uint64_t index = parent & ((UINT64_C(1) << WF_INDEX_BITS) - 1);
    return (weft_fiber){parent >> WF_INDEX_BITS << 32 | (uint64_t)fibers->runtime << WF_INDEX_BITS | index};
}
