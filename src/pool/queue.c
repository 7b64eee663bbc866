/* SPDX-License-Identifier: MIT
 *
 * pool/queue.c - where works wait: the shared queue, and the shards of the processors.
 *
 * Whatever comes from outside goes into the shared queue, under its lock; nothing is ever pushed into somebody else's shard.
 * The owner of a shard takes from it, in this order: jobs (newest first), works of its deque (newest first) and of its ring
 * (oldest first), then a batch from the shared queue, then from others' shards. Every TURN-th time, unless there is still a
 * batch, the shared queue comes first, so that a work which keeps making others does not keep those waiting that came from
 * outside.
 *
 * Batches are for long queues of works of one priority in pools without a limit: one lock for many works. They go into the
 * ring, where others find them, so that no work is stuck behind one that computes or waits.
 *
 * Who is told: whoever puts something into a shard, or into the shared queue when that was empty, calls wf_pool_notify afterwards;
 * and so does whoever takes something out of the shared queue and leaves something behind, there or in its ring. So while there
 * is something in the shared queue, somebody has been told of it who has not come for it yet: by induction over its entries,
 * dead ones included, since the one that came first was announced and only a taker removes it. (A pool without threads may have dead
 * ones that nobody will come for: there everything is news.) The rest is the engine's
 * parking protocol (queue/idle.h), with wf_pool_has_any as the re-check of whoever is about to sleep. A steal that failed because another thief
 * was faster says nothing about emptiness; has_any looks at the queues themselves.
 *
 * A pool with max_running has as many slots, and all its works are in the shared queue: what cannot begin is not there, for those who
 * look, and whoever gives a slot back while something is in the queue calls wf_pool_notify, as if it had just been put in.
 */
#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "base/point.h"
#include "os/memory.h"
#include "os/report.h"
#include "pool/pool.h"

enum { TURN = 61, BATCH_MAX = 32, FREE_KEPT = 64, FIRST_LEVELS = 8, SHALLOW_RELAX = 20 };

static void note_in_queue_locked(weft_pool *pool, struct wf_work *work);
static struct wf_level *level_of_locked(struct wf_pool_queue *queue, int priority);
static struct wf_task *take_first(struct wf_level *level);
static struct wf_task *take_oldest_locked(const weft_pool *pool, struct wf_level *level);
static struct wf_work *pop_custom_locked(weft_pool *pool, bool (*pop)(void *queue, weft_work *work));
static bool push_local_owner(weft_pool *pool, struct wf_work *work);
static bool wants_local(weft_pool *pool, const struct wf_work *work);
static bool engine_ends(const weft_pool *pool);
static bool may_begin(const weft_pool *pool);
static struct wf_work *begin_next_locked(weft_pool *pool);
static struct wf_task *take_shared_owner(weft_pool *pool, struct wf_shard *shard, struct wf_processor *processor);
static void fill_ring_locked(weft_pool *pool, struct wf_shard *shard, uint32_t threads);
static void give_back_free_locked(struct wf_pool_queue *queue, struct wf_shard *shard);
static struct wf_task *pop_deque_owner(struct wf_deque *deque);
static struct wf_task *pop_ring_owner(struct wf_shard *shard);
static struct wf_task *steal_items(weft_pool *pool, struct wf_shard *own, struct wf_processor *processor);
static struct wf_task *steal_from(weft_pool *pool, struct wf_shard *own, struct wf_shard *victim);
static void grow(weft_pool *pool, struct wf_engine *engine);

bool wf_queue_is_full_locked(const weft_pool *pool) {
    const struct wf_pool_queue *queue = &pool->queue;
    return wf_load_relaxed(&queue->length) - queue->dead + queue->promised >= pool->options.max_queued;
}

/* The work was ended while it was queued. In a pool with a limit all works are in the shared queue, or out of it already. */
void wf_queue_note_dead(weft_pool *pool, struct wf_work *work) {
    struct wf_waiter *told = NULL;
    wf_lock_take(&pool->queue.lock);
    if (work->is_in_queue && !work->is_dead) {
        work->is_dead = true;
        pool->queue.dead++;
        told = wf_wait_take_first_locked(&pool->queue.room_waiters);
    }
    wf_lock_drop(&pool->queue.lock);
    wf_pool_wake_one(told);
}

/* It may have been ended on its way here, by somebody who did not find it. */
static void note_in_queue_locked(weft_pool *pool, struct wf_work *work) {
    work->is_in_queue = true;
    if (wf_work_phase(wf_load_acquire(&work->word)) == WF_WORK_DONE) {
        work->is_dead = true;
        pool->queue.dead++;
    }
}

/* The work is out of the shared queue. */
static inline struct wf_work *take_out_locked(weft_pool *pool, struct wf_work *work) {
    wf_store_relaxed(&pool->queue.length, wf_load_relaxed(&pool->queue.length) - 1);
    if (WF_UNLIKELY(pool->options.max_queued)) {
        pool->queue.dead -= work->is_dead;
        work->is_in_queue = false;
        work->is_dead = false;
    }
    return work;
}

bool wf_queue_is_news_locked(const weft_pool *pool) {
    return wf_load_relaxed(&pool->queue.length) == 0 ||
           (WF_UNLIKELY(pool->is_mortal) && wf_load_relaxed(&pool->state) == WF_POOL_OFF);
}

int wf_queue_push_locked(weft_pool *pool, struct wf_work *work) {
    struct wf_pool_queue *queue = &pool->queue;
    if (pool->options.discipline == WEFT_POOL_CUSTOM) {
        weft_work handle = wf_work_handle(work, wf_load_relaxed(&work->word));
        int error = pool->options.custom->push(pool->options.custom_queue, handle, work->priority);
        if (error < 0)
            return error;
    } else {
        struct wf_level *level = level_of_locked(queue, work->priority);
        if (WF_UNLIKELY(!level))
            return -ENOMEM;
        if (pool->options.discipline == WEFT_POOL_LIFO) {
            work->task.next = level->first;
            level->first = &work->task;
            level->last = level->last ? level->last : &work->task;
        } else {
            work->task.next = NULL;
            if (level->last)
                level->last->next = &work->task;
            else
                level->first = &work->task;
            level->last = &work->task;
        }
        level->count++;
    }
    if (WF_UNLIKELY(pool->options.max_queued))
        note_in_queue_locked(pool, work);
    wf_store_release(&queue->length, wf_load_relaxed(&queue->length) + 1); /* not by itself an announcement */
    return 0;
}

/* Levels are few and stay once they are there. NULL: no memory for a new one. */
static struct wf_level *level_of_locked(struct wf_pool_queue *queue, int priority) {
    if (WF_LIKELY(priority == 0))
        return &queue->plain;
    size_t low = 0, high = queue->other_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (queue->others[middle].priority > priority)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < queue->other_count && queue->others[low].priority == priority)
        return &queue->others[low];
    if (queue->other_count == queue->other_room) {
        size_t room = queue->other_room ? 2 * queue->other_room : FIRST_LEVELS;
        struct wf_level *more = wf_os_alloc(room * sizeof *more);
        if (!more)
            return NULL;
        if (queue->other_count)
            memcpy(more, queue->others, queue->other_count * sizeof *more);
        wf_os_free(queue->others);
        queue->others = more;
        queue->other_room = room;
    }
    memmove(&queue->others[low + 1], &queue->others[low], (queue->other_count - low) * sizeof *queue->others);
    queue->other_count++;
    queue->others[low] = (struct wf_level){.priority = priority};
    return &queue->others[low];
}

bool wf_queue_prepare_locked(weft_pool *pool, int priority) {
    return level_of_locked(&pool->queue, priority) != NULL;
}

struct wf_work *wf_queue_pop_locked(weft_pool *pool) {
    struct wf_pool_queue *queue = &pool->queue;
    if (WF_UNLIKELY(pool->options.discipline == WEFT_POOL_CUSTOM))
        return pop_custom_locked(pool, pool->options.custom->pop);
    struct wf_task *task = NULL;
    size_t i = 0;
    for (; i < queue->other_count && queue->others[i].priority > 0 && !task; i++)
        task = take_first(&queue->others[i]);
    if (!task)
        task = take_first(&queue->plain);
    for (; i < queue->other_count && !task; i++)
        task = take_first(&queue->others[i]);
    return task ? take_out_locked(pool, wf_work_of(task)) : NULL;
}

static struct wf_task *take_first(struct wf_level *level) {
    struct wf_task *task = level->first;
    if (!task)
        return NULL;
    level->first = task->next;
    if (!level->first)
        level->last = NULL;
    level->count--;
    return task;
}

/* What the program's queue gives is believed only as far as it is a work that is in there. */
static struct wf_work *pop_custom_locked(weft_pool *pool, bool (*pop)(void *queue, weft_work *work)) {
    weft_work handle;
    while (wf_load_relaxed(&pool->queue.length) > 0) {
        if (!pop(pool->options.custom_queue, &handle))
            return NULL;
        struct wf_work *work = wf_work_find(pool, handle);
        uint64_t word = work ? wf_load_acquire(&work->word) : 0; /* pairs with the moves of the work */
        if (!work || !wf_work_is(word, handle) || !(word & WF_WORK_LISTED))
            wf_fatal("a custom queue gave out a work that is not in it");
        return take_out_locked(pool, work);
    }
    return NULL;
}

struct wf_work *wf_queue_discard_locked(weft_pool *pool) {
    struct wf_pool_queue *queue = &pool->queue;
    if (pool->options.discipline == WEFT_POOL_CUSTOM) {
        const weft_work_queue *custom = pool->options.custom;
        return pop_custom_locked(pool, custom->discard ? custom->discard : custom->pop);
    }
    struct wf_task *task = NULL;
    size_t i = queue->other_count;
    for (; i > 0 && queue->others[i - 1].priority < 0 && !task; i--)
        task = take_oldest_locked(pool, &queue->others[i - 1]);
    if (!task)
        task = take_oldest_locked(pool, &queue->plain);
    for (; i > 0 && !task; i--)
        task = take_oldest_locked(pool, &queue->others[i - 1]);
    return task ? take_out_locked(pool, wf_work_of(task)) : NULL;
}

static struct wf_task *take_oldest_locked(const weft_pool *pool, struct wf_level *level) {
    if (pool->options.discipline != WEFT_POOL_LIFO || level->first == level->last)
        return take_first(level);
    struct wf_task *before = level->first;
    while (before->next != level->last)
        before = before->next;
    struct wf_task *task = level->last;
    before->next = NULL;
    level->last = before;
    level->count--;
    return task;
}

int wf_pool_enqueue(weft_pool *pool, struct wf_work *work) {
    if (wants_local(pool, work) && push_local_owner(pool, work)) {
        wf_pool_notify(pool);
        return 0;
    }
    struct wf_terms *terms = wf_work_terms(work);
    wf_lock_take(&pool->queue.lock);
    bool is_news = wf_queue_is_news_locked(pool);
    int error = wf_queue_push_locked(pool, work);
    if (!error && terms && terms->has_place) {
        terms->has_place = false;
        pool->queue.promised--;
    }
    wf_lock_drop(&pool->queue.lock);
    if (!error && is_news)
        wf_pool_notify(pool);
    return error;
}

static bool wants_local(weft_pool *pool, const struct wf_work *work) {
    if (work->priority != 0 || pool->options.max_queued || pool->options.max_running ||
        pool->options.discipline == WEFT_POOL_CUSTOM)
        return false;
    const struct wf_terms *terms = wf_work_terms(work);
    weft_placement placement = terms && terms->placement ? terms->placement : pool->options.placement;
    if (placement == WEFT_PLACE_SHARED || !wf_shard_self(pool))
        return false;
    struct wf_fibers *fibers = wf_load_relaxed(&pool->fibers);
    return placement == WEFT_PLACE_LOCAL || wf_idle_parked_any(&fibers->engine.idle) == 0;
}

static bool push_local_owner(weft_pool *pool, struct wf_work *work) {
    struct wf_shard *shard = wf_shard_self(pool);
    if (pool->options.discipline == WEFT_POOL_FIFO)
        return wf_ring_push_owner(&shard->ring, &work->task);
    return wf_deque_push_owner(&shard->works, &work->task) == 0;
}

void wf_pool_notify(weft_pool *pool) {
    if (WF_UNLIKELY(pool->is_mortal) && !wf_shard_self(pool)) {
        wf_pool_wake_up(pool);
        wf_fence_seq_cst();
    } else {
        wf_pool_notify_engine(pool, &wf_load_relaxed(&pool->fibers)->engine);
    }
    /* After a fence, ours or that of the notification; pairs with help_until. */
    if (WF_UNLIKELY(wf_load_seq_cst(&pool->helper_count)))
        wf_pool_call_helper(pool);
}

void wf_pool_notify_engine(weft_pool *pool, struct wf_engine *engine) {
    wf_engine_notify_any(engine);
    if (WF_UNLIKELY(pool->options.elastic))
        grow(pool, engine);
}

/* One more at a time; whoever takes a work and leaves others behind asks again. */
static void grow(weft_pool *pool, struct wf_engine *engine) {
    uint32_t wanted = wf_engine_wanted_any(engine);
    bool is_settled = wf_engine_in_service_any(engine) >= wanted;
    if (wanted < wf_load_relaxed(&pool->max_threads) && is_settled && wf_idle_parked_any(&engine->idle) == 0 &&
        wf_pool_has_any(pool))
        wf_engine_resize_any(engine, wanted + 1);
}

struct wf_task *wf_shard_next_owner(weft_pool *pool, struct wf_shard *shard, struct wf_processor *processor) {
    struct wf_task *task = NULL;
    /* A batch is older than what is in the shared queue. */
    if (++shard->turn % TURN == 0 && shard->batched == 0 && (task = take_shared_owner(pool, shard, processor)))
        return task;
    if ((task = pop_deque_owner(&shard->jobs)) || (task = pop_deque_owner(&shard->works)) ||
        (task = pop_ring_owner(shard)) || (task = take_shared_owner(pool, shard, processor)))
        return task;
    return steal_items(pool, shard, processor);
}

static inline struct wf_task *pop_ring_owner(struct wf_shard *shard) {
    struct wf_task *task = wf_ring_pop_owner(&shard->ring);
    shard->batched = task && shard->batched ? shard->batched - 1 : 0;
    return task;
}

/* Nobody but the owner adds anything: what looks empty to it is, and the fence of a pop can be saved. */
static inline struct wf_task *pop_deque_owner(struct wf_deque *deque) {
    return wf_deque_is_empty_any(deque) ? NULL : wf_deque_pop_owner(deque);
}

/* An engine that ends takes nothing more: what comes now is for the next one. ENDING is set under the lock of the queue, so what
 * was taken before is outstanding, and whoever ends it sees that. */
static inline bool engine_ends(const weft_pool *pool) {
    return WF_UNLIKELY(pool->is_mortal) && wf_load_relaxed(&pool->state) == WF_POOL_ENDING;
}

/* A relaxed look is a hint; with the lock, or after the fences of queue/idle.h, it is an answer. */
static inline bool may_begin(const weft_pool *pool) {
    return WF_LIKELY(!pool->options.max_running) ||
           wf_load_relaxed(&pool->queue.slots_taken) < pool->options.max_running;
}

/* The next work, with a slot if they are counted. */
static struct wf_work *begin_next_locked(weft_pool *pool) {
    struct wf_work *work = may_begin(pool) ? wf_queue_pop_locked(pool) : NULL;
    if (work && pool->options.max_running)
        wf_store_relaxed(&pool->queue.slots_taken, wf_load_relaxed(&pool->queue.slots_taken) + 1);
    return work;
}

void wf_pool_give_slot_back(weft_pool *pool) {
    wf_lock_take(&pool->queue.lock);
    WF_ASSERT(wf_load_relaxed(&pool->queue.slots_taken) > 0);
    wf_store_relaxed(&pool->queue.slots_taken, wf_load_relaxed(&pool->queue.slots_taken) - 1);
    bool is_news = wf_load_relaxed(&pool->queue.length) > 0;
    wf_lock_drop(&pool->queue.lock);
    if (is_news)
        wf_pool_notify(pool);
}

static struct wf_task *take_shared_owner(weft_pool *pool, struct wf_shard *shard, struct wf_processor *processor) {
    struct wf_pool_queue *queue = &pool->queue;
    if (wf_load_relaxed(&queue->length) == 0 && shard->free_count < FREE_KEPT)
        return NULL;
    uint32_t threads = wf_load_relaxed(&processor->engine->active);
    struct wf_waiter *told = NULL;
    /* Little in it: whoever fills it is probably at it, and taking every work by itself would be in its way. Some 0.3 us. */
    bool is_shallow = wf_load_relaxed(&queue->length) < BATCH_MAX;
    for (int i = 0; is_shallow && i < SHALLOW_RELAX; i++)
        wf_relax();
    wf_lock_take(&queue->lock);
    if (shard->free_count >= FREE_KEPT)
        give_back_free_locked(queue, shard);
    struct wf_work *work = engine_ends(pool) ? NULL : begin_next_locked(pool);
    if (work && queue->plain.count > threads)
        fill_ring_locked(pool, shard, threads);
    if (work && WF_UNLIKELY(queue->room_waiters))
        told = wf_wait_take_first_locked(&queue->room_waiters);
    bool is_more = (wf_load_relaxed(&queue->length) > 0 && may_begin(pool)) || shard->batched > 0;
    wf_lock_drop(&queue->lock);
    wf_pool_wake_one(told);
    if (!work)
        return NULL;
    if (is_more)
        wf_pool_notify(pool);
    if (pool->options.elastic)
        grow(pool, processor->engine);
    return &work->task;
}

/* Only works without priorities: the order among others is looked up one by one. */
static void fill_ring_locked(weft_pool *pool, struct wf_shard *shard, uint32_t threads) {
    struct wf_pool_queue *queue = &pool->queue;
    uint64_t length = wf_load_relaxed(&queue->length);
    if (pool->options.discipline == WEFT_POOL_LIFO || pool->options.max_queued || pool->options.max_running ||
        length != queue->plain.count)
        return;
    size_t share = queue->plain.count / (threads + 1);
    size_t taken = 0;
    for (; taken < (share < BATCH_MAX ? share : BATCH_MAX); taken++) {
        if (!wf_ring_push_owner(&shard->ring, queue->plain.first))
            break;
        take_first(&queue->plain);
    }
    shard->batched = (uint32_t)taken;
    wf_store_relaxed(&queue->length, length - taken);
}

static void give_back_free_locked(struct wf_pool_queue *queue, struct wf_shard *shard) {
    struct wf_task *last = shard->free_records;
    for (uint32_t i = 1; i < shard->free_count; i++)
        last = last->next;
    last->next = queue->free_records;
    queue->free_records = shard->free_records;
    shard->free_records = NULL;
    shard->free_count = 0;
}

static struct wf_task *steal_items(weft_pool *pool, struct wf_shard *own, struct wf_processor *processor) {
    uint32_t limit = wf_engine_limit(processor->engine);
    uint32_t start = wf_rng_below(&processor->rng, limit);
    for (uint32_t i = 0; i < limit; i++) {
        struct wf_shard *victim = wf_load_acquire(&pool->shards[(start + i) % limit]); /* pairs with its making */
        if (!victim || victim == own)
            continue;
        struct wf_task *task = steal_from(pool, own, victim);
        if (task) {
            wf_count_owner(&own->stolen, 1);
            if (pool->options.elastic)
                grow(pool, processor->engine);
            return task;
        }
    }
    return NULL;
}

static struct wf_task *steal_from(weft_pool *pool, struct wf_shard *own, struct wf_shard *victim) {
    struct wf_task *task = NULL;
    if (wf_deque_steal_thief(&victim->jobs, &task) > 0 || wf_deque_steal_thief(&victim->works, &task) > 0)
        return task;
    bool takes_one = pool->options.steal_one;
    int count = takes_one ? wf_ring_steal_one_thief(&victim->ring, &task)
                          : wf_ring_steal_thief(&victim->ring, &own->ring, &task);
    if (count > 1)
        wf_pool_notify(pool); /* the others were in nobody's ring for a moment */
    return count > 0 ? task : NULL;
}

/* Jobs are left alone: their joiners are fibers, and so is whoever runs them. */
struct wf_task *wf_pool_next_any(weft_pool *pool) {
    struct wf_task *task = NULL;
    struct wf_waiter *told = NULL;
    if (wf_load_relaxed(&pool->queue.length) > 0) {
        wf_lock_take(&pool->queue.lock);
        struct wf_work *work = begin_next_locked(pool);
        if (work)
            told = wf_wait_take_first_locked(&pool->queue.room_waiters);
        bool is_more = wf_load_relaxed(&pool->queue.length) > 0 && may_begin(pool);
        wf_lock_drop(&pool->queue.lock);
        task = work ? &work->task : NULL;
        if (task && is_more)
            wf_pool_notify(pool);
    }
    wf_pool_wake_one(told);
    for (uint32_t i = 0; i < WF_SHARDS_MAX && !task; i++) {
        struct wf_shard *victim = wf_load_acquire(&pool->shards[i]); /* pairs with its making */
        if (!victim)
            continue;
        if (wf_deque_steal_thief(&victim->works, &task) <= 0 && wf_ring_steal_one_thief(&victim->ring, &task) <= 0)
            task = NULL;
    }
    return task;
}

bool wf_pool_has_any(weft_pool *pool) {
    if (wf_load_relaxed(&pool->queue.length) > 0 && may_begin(pool) && !engine_ends(pool))
        return true;
    uint32_t limit = wf_engine_limit(&wf_load_relaxed(&pool->fibers)->engine);
    for (uint32_t i = 0; i < limit; i++) {
        struct wf_shard *shard = wf_load_acquire(&pool->shards[i]); /* pairs with its making */
        if (shard && (!wf_deque_is_empty_any(&shard->jobs) || !wf_deque_is_empty_any(&shard->works) ||
                      !wf_ring_is_empty_any(&shard->ring)))
            return true;
    }
    return false;
}

bool wf_pool_has_work_any(weft_pool *pool) {
    if (wf_load_relaxed(&pool->queue.length) > 0 && may_begin(pool))
        return true;
    for (uint32_t i = 0; i < WF_SHARDS_MAX; i++) {
        struct wf_shard *shard = wf_load_acquire(&pool->shards[i]); /* pairs with its making */
        if (shard && (!wf_deque_is_empty_any(&shard->works) || !wf_ring_is_empty_any(&shard->ring)))
            return true;
    }
    return false;
}

struct wf_shard *wf_shard_self(weft_pool *pool) {
    struct wf_fiber_processor *processor = wf_processor_self(wf_load_relaxed(&pool->fibers));
    return processor ? wf_shard_of_owner(pool, &processor->base) : NULL;
}

struct wf_shard *wf_shard_of_owner(weft_pool *pool, struct wf_processor *processor) {
    struct wf_shard *shard = wf_load_relaxed(&pool->shards[processor->index]);
    if (WF_LIKELY(shard))
        return shard;
    shard = wf_os_alloc_aligned(64, sizeof *shard);
    if (!shard)
        return NULL;
    if (wf_deque_init(&shard->jobs) != 0)
        goto free_shard;
    if (wf_deque_init(&shard->works) != 0)
        goto term_jobs;
    wf_store_release(&pool->shards[processor->index], shard); /* pairs with thieves, and with whoever looks */
    return shard;

term_jobs:
    wf_deque_term(&shard->jobs);
free_shard:
    wf_os_free(shard);
    return NULL;
}

void wf_shard_flush_any(weft_pool *pool, struct wf_shard *shard) {
    uint64_t finished = wf_load_acquire(&shard->finished); /* pairs with the ends of works: what they have written */
    uint64_t flushed = wf_load_acquire(&shard->flushed);
    while (finished > flushed)
        if (wf_cas_acq_rel(&shard->flushed, &flushed, finished)) {
            wf_pool_count_out(pool, (uint32_t)(finished - flushed));
            return;
        }
}

void wf_shards_flush_any(weft_pool *pool) {
    for (uint32_t i = 0; i < WF_SHARDS_MAX; i++) {
        struct wf_shard *shard = wf_load_acquire(&pool->shards[i]); /* pairs with its making */
        if (shard)
            wf_shard_flush_any(pool, shard);
    }
}

/* The processor goes out of service. Jobs stay: whoever joins them comes, or others steal them. The caller notifies. */
void wf_shard_hand_in_owner(weft_pool *pool, struct wf_shard *shard) {
    struct wf_task *task;
    wf_lock_take(&pool->queue.lock);
    if (shard->free_count > 0)
        give_back_free_locked(&pool->queue, shard);
    while ((task = wf_deque_pop_owner(&shard->works)) || (task = wf_ring_pop_owner(&shard->ring))) {
        if (wf_queue_push_locked(pool, wf_work_of(task)) != 0) /* priority 0: a place is there */
            wf_fatal("a work without a priority found no place in the queue");
    }
    shard->batched = 0;
    wf_lock_drop(&pool->queue.lock);
    wf_runner_flush(wf_worker_self(), shard);
}

void wf_shards_term(weft_pool *pool) {
    for (uint32_t i = 0; i < WF_SHARDS_MAX; i++) {
        struct wf_shard *shard = wf_load_relaxed(&pool->shards[i]);
        if (!shard)
            continue;
        while (shard->free_runners) {
            struct wf_runner *runner = shard->free_runners;
            shard->free_runners = runner->next;
            wf_os_free(runner);
        }
        wf_deque_term(&shard->jobs);
        wf_deque_term(&shard->works);
        wf_os_free(shard);
        wf_store_relaxed(&pool->shards[i], NULL);
    }
    wf_os_free(pool->queue.others);
}
