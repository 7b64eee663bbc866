/* SPDX-License-Identifier: MIT
 *
 * sync/timer.c - timers that have a name.
 *
 *     id    generation 32 | runtime 6 | index 26, as that of a fiber     (all zero: no timer; generations begin at 1)
 *
 * A record holds an alarm (sched/timer.h), the object's lock and queue, and what to do. Records lie in chunks that stay as
 * long as the runtime, each chunk twice as large as the one before, so an outdated id can be checked by locking what it
 * points to.
 *
 * Locks: a record's own, then those of timers, of the table, of the scheduler. Whoever waits arms its deadline with the
 * record's lock held, and starting or moving a timer arms the alarm under it; so what happens at the expiration must not
 * take that lock inside the lock of timers. It does not: the expiration is counted, that lock is dropped, and then comes
 * timer_ring, which begins from the outside like everybody else. What it finds then is decided by the record: stopped or
 * reset meanwhile, or something to run or to tell.
 *
 * A record that is stopped goes back to the free list once nobody will come for it any more. Two may: the ring of an alarm
 * that has expired, and the fiber that was spawned and has not begun; holds counts them. A fiber that found no stack never
 * comes: such a record is not used again.
 *
 * The fiber begins in timer_main, not in the function: a stop between spawn and beginning must still be in time, or a
 * function could not stop a timer that expired together with its own. Whether an earlier fiber still runs is seen by its id.
 *
 * The end: a runtime ends when its workers find nothing alive, and they look when they park. Tickers whose functions take
 * longer than their periods would never let them. So once the first fiber has ended, and unless there are more fibers than
 * timers could have made, a worker that has spawned for a timer does not do so for a periodic one until it has parked.
 *
 * Rejected: the lock of timers as the object's lock, which a waiter would take twice for its deadline; waking waiters by
 * their claim words without a lock, which loses the count when the claim is lost; a service fiber that rings, which needs
 * memory when there may be none.
 */
#include "sync/timer.h"

#include <errno.h>

#include "base/assert.h"
#include "base/point.h"
#include "os/clock.h"
#include "os/memory.h"
#include "os/report.h"
#include "wait/select.h"
#include "wait/wait.h"
#include "weft/runtime.h"
#include "weft/timer.h"

/* 20 chunks, from 64 records on, doubling: all that 26 bits can name, but for the last 64. */
enum { TIMER_FIRST_CHUNK = 64, TIMER_CHUNKS = 20 };
#define TIMER_INDEX_LIMIT (TIMER_FIRST_CHUNK * ((1u << TIMER_CHUNKS) - 1))

struct timer_record {
    struct wf_alarm alarm; /* first; see sched/timer.h for its own fields */
    /* constant */
    struct wf_fibers *fibers;
    uint32_t index;
    /* under lock */
    struct wf_lock lock;
    uint32_t generation;
    uint32_t holds; /* of a stopped one: who will still come */
    bool is_used;   /* the generation names it */
    bool is_periodic;
    bool is_single;   /* nobody has its name: it frees itself */
    bool is_pending;  /* fiber was spawned and has not begun */
    bool is_wanted;   /* and is to call the function when it begins */
    weft_fiber fiber; /* the last one that was spawned */
    weft_fn fn;       /* NULL: it counts */
    void *arg;
    uint64_t count;  /* expirations that nobody has waited for */
    uint64_t missed; /* expirations that did not run fn */
    struct wf_waiter *waiters;
    /* under the table's lock */
    struct timer_record *next_free;
};

struct timer_table {
    struct wf_lock lock;
    _Atomic(struct timer_record *) chunks[TIMER_CHUNKS]; /* written once, under lock */
    uint32_t next_index;                                 /* under lock: first that was never used */
    struct timer_record *free;                           /* under lock, last in first out */
    _Atomic uint32_t functions;                          /* how many timers have one */
    uint64_t parks[]; /* by processor, its owner only: how often it had parked when it last spawned for a timer */
};

/* First generation that was not given out, by number of runtime. Outlives the runtimes, so that ids of one are stale in the
 * next of its number. Under the lock of the table, and that of the runtimes from one table to the next. */
static uint32_t timer_generations[WEFT_RUNTIMES_MAX];

static int timer_start_in(struct wf_fibers *fibers, weft_timer *out, int64_t first, int64_t period, weft_fn fn,
                          void *arg);
static struct timer_table *timer_table_of(struct wf_fibers *fibers);
static struct timer_record *timer_take(struct wf_fibers *fibers, struct timer_table *table, int *error);
static struct timer_record *timer_make_locked(struct wf_fibers *fibers, struct timer_table *table, int *error);
static struct timer_record *timer_at(struct timer_table *table, uint32_t index);
static int timer_arm_locked(struct timer_record *record, int64_t first, int64_t period);
static struct timer_record *timer_find(struct wf_fibers *fibers, weft_timer timer);
static struct timer_record *timer_lock(struct wf_fibers *fibers, weft_timer timer);
static bool timer_is_locked(const struct timer_record *record, weft_timer timer);
static void timer_retire_locked(struct timer_record *record);
static void timer_free_locked(struct timer_record *record);
static bool timer_has_fiber_locked(const struct timer_record *record);
static void timer_ring(struct wf_alarm *alarm);
static void timer_run_locked(struct timer_record *record, uint64_t expired);
static bool timer_gives_way(const struct timer_record *record);
static void *timer_main(void *opaque);
static int timer_refusal_locked(const struct timer_record *record);

int weft_timer_start(weft_timer *out, weft_time first, int64_t period, weft_fn fn, void *arg) {
    if (period < 0 || (!out && (!fn || period)))
        return -EINVAL;
    struct wf_fibers *fibers = wf_runtimes_enter_this(NULL);
    if (!fibers)
        return -ESRCH;
    int error = -ECANCELED;
    if (!wf_load_acquire(&fibers->engine.is_stopping)) /* pairs with wf_engine_stop */
        error = timer_start_in(fibers, out, first, period, fn, arg);
    wf_runtimes_leave(fibers);
    return error;
}

static int timer_start_in(struct wf_fibers *fibers, weft_timer *out, int64_t first, int64_t period, weft_fn fn,
                          void *arg) {
    int error = -ENOMEM;
    struct timer_table *table = timer_table_of(fibers);
    struct timer_record *record = table ? timer_take(fibers, table, &error) : NULL;
    if (!record)
        return error;
    wf_lock_take(&record->lock);
    record->is_used = true;
    record->is_single = !out;
    record->fn = fn;
    record->arg = arg;
    record->count = 0;
    record->missed = 0;
    record->fiber = WEFT_NO_FIBER;
    if (fn)
        wf_fetch_add_relaxed(&table->functions, 1);
    error = timer_arm_locked(record, first, period);
    if (error)
        timer_retire_locked(record);
    else if (out) /* before anybody can get at the record: its function finds the name in place */
        out->bits = (uint64_t)record->generation << 32 | (uint64_t)fibers->runtime << WF_INDEX_BITS | record->index;
    wf_lock_drop(&record->lock);
    return error;
}

static struct timer_table *timer_table_of(struct wf_fibers *fibers) {
    void *table = wf_load_acquire(&fibers->timer_table); /* pairs with the compare and swap below */
    if (table)
        return table;
    struct timer_table *made =
        wf_os_alloc(sizeof *made + (fibers->engine.count + WF_EXTRA_MAX) * sizeof made->parks[0]);
    if (!made || wf_cas_acq_rel(&fibers->timer_table, &table, made))
        return made;
    wf_os_free(made); /* somebody else was faster */
    return table;
}

static struct timer_record *timer_take(struct wf_fibers *fibers, struct timer_table *table, int *error) {
    wf_lock_take(&table->lock);
    struct timer_record *record = table->free;
    if (record)
        table->free = record->next_free;
    else
        record = timer_make_locked(fibers, table, error);
    if (record && record->generation >= timer_generations[fibers->runtime])
        timer_generations[fibers->runtime] = record->generation == UINT32_MAX ? 1 : record->generation + 1;
    wf_lock_drop(&table->lock);
    return record;
}

static struct timer_record *timer_make_locked(struct wf_fibers *fibers, struct timer_table *table, int *error) {
    uint32_t index = table->next_index;
    if (index == TIMER_INDEX_LIMIT) {
        *error = -EAGAIN;
        return NULL;
    }
    uint32_t chunk = 31 - (uint32_t)__builtin_clz(index / TIMER_FIRST_CHUNK + 1);
    if (!wf_load_relaxed(&table->chunks[chunk])) {
        struct timer_record *records = wf_os_alloc(((size_t)TIMER_FIRST_CHUNK << chunk) * sizeof *records);
        if (!records) {
            *error = -ENOMEM;
            return NULL;
        }
        wf_store_release(&table->chunks[chunk], records); /* pairs with timer_at */
    }
    table->next_index++;
    struct timer_record *record = timer_at(table, index);
    record->fibers = fibers;
    record->index = index;
    record->generation = timer_generations[fibers->runtime] ? timer_generations[fibers->runtime] : 1;
    record->alarm.ring = timer_ring;
    record->alarm.timer.home = &fibers->engine.processors[0]->timers;
    record->alarm.timer.node.index = WF_HEAP_OUTSIDE;
    return record;
}

/* NULL for a number whose chunk is not there. */
static struct timer_record *timer_at(struct timer_table *table, uint32_t index) {
    uint32_t chunk = 31 - (uint32_t)__builtin_clz(index / TIMER_FIRST_CHUNK + 1);
    if (chunk >= TIMER_CHUNKS)
        return NULL;
    struct timer_record *records = wf_load_acquire(&table->chunks[chunk]); /* pairs with timer_make_locked */
    return records ? &records[index - TIMER_FIRST_CHUNK * ((1u << chunk) - 1)] : NULL;
}

/* Where it is, if it is armed: that needs no memory. Otherwise with the caller, or with the first processor. */
static int timer_arm_locked(struct timer_record *record, int64_t first, int64_t period) {
    struct wf_engine *engine = &record->fibers->engine;
    struct wf_fiber_worker *worker = wf_worker_self();
    struct wf_processor *own = worker && worker->fibers == record->fibers ? worker->base.processor : NULL;
    struct wf_processor *processor = own ? own : engine->processors[0];
    int64_t now = wf_os_now();
    if (first < now)
        first = now;
    wf_context_release(record);
    record->is_periodic = period > 0;
    if (wf_alarm_move(&record->alarm, first, period)) {
        processor = WF_CONTAINER(record->alarm.timer.home, struct wf_processor, timers);
    } else {
        int error = wf_alarm_arm(&processor->timers, &record->alarm, first, period);
        if (error)
            return error;
    }
    if (own && processor == own)
        wf_processor_timers_changed_owner(own);
    else
        wf_processor_timers_changed_any(processor);
    return 0;
}

int weft_timer_reset(weft_timer timer, weft_time first, int64_t period) {
    if (period < 0)
        return -EINVAL;
    struct wf_fibers *fibers = wf_runtimes_enter((weft_fiber){timer.bits});
    if (!fibers)
        return -ESTALE;
    int error = -ESTALE;
    struct timer_record *record = timer_lock(fibers, timer);
    if (record) {
        error = timer_arm_locked(record, first, period);
        if (!error) {
            record->count = 0;
            record->is_wanted = false;
        }
        wf_lock_drop(&record->lock);
    }
    wf_runtimes_leave(fibers);
    return error;
}

static struct timer_record *timer_lock(struct wf_fibers *fibers, weft_timer timer) {
    struct timer_record *record = timer_find(fibers, timer);
    if (!record)
        return NULL;
    wf_lock_take(&record->lock);
    if (timer_is_locked(record, timer))
        return record;
    wf_lock_drop(&record->lock);
    return NULL;
}

/* What the id points to, whatever it is by now. */
static struct timer_record *timer_find(struct wf_fibers *fibers, weft_timer timer) {
    struct timer_table *table = wf_load_acquire(&fibers->timer_table); /* pairs with timer_table_of */
    return table ? timer_at(table, (uint32_t)timer.bits & ((1u << WF_INDEX_BITS) - 1)) : NULL;
}

static bool timer_is_locked(const struct timer_record *record, weft_timer timer) {
    return record->is_used && record->generation == (uint32_t)(timer.bits >> 32) && !record->is_single;
}

int weft_timer_stop(weft_timer timer) {
    struct wf_fibers *fibers = wf_runtimes_enter((weft_fiber){timer.bits});
    if (!fibers)
        return -ESTALE;
    struct timer_record *record = timer_lock(fibers, timer);
    int was_armed = -ESTALE;
    if (record) {
        bool is_due;
        was_armed = wf_alarm_disarm(&record->alarm, &is_due);
        record->holds = is_due;
        if (timer_has_fiber_locked(record) && record->is_pending) {
            was_armed |= record->is_wanted;
            record->holds++;
        }
        record->is_wanted = false;
        struct wf_waiter *first = wf_wait_take_all_locked(&record->waiters, -ESTALE, NULL);
        timer_retire_locked(record);
        wf_lock_drop(&record->lock);
        wf_wait_wake_chain(first);
    }
    wf_runtimes_leave(fibers);
    return was_armed;
}

/* Whether the last fiber that it spawned is still there. Without that fiber's lock: an end that is just coming counts as
 * there, and it cannot come back. */
static bool timer_has_fiber_locked(const struct timer_record *record) {
    if (!record->fiber.bits)
        return false;
    const struct wf_fiber *fiber = wf_record_of(record->fibers, record->fiber);
    return wf_load_acquire(&fiber->task.version) == (uint32_t)(record->fiber.bits >> 32); /* pairs with its freeing */
}

/* The id is stale from now on. */
static void timer_retire_locked(struct timer_record *record) {
    struct timer_table *table = wf_load_relaxed(&record->fibers->timer_table);
    if (record->fn)
        wf_fetch_sub_relaxed(&table->functions, 1);
    record->is_used = false;
    record->generation = record->generation == UINT32_MAX ? 1 : record->generation + 1;
    if (record->holds == 0)
        timer_free_locked(record);
}

static void timer_free_locked(struct timer_record *record) {
    struct timer_table *table = wf_load_relaxed(&record->fibers->timer_table);
    record->is_pending = false;
    wf_lock_take(&table->lock);
    record->next_free = table->free;
    table->free = record;
    wf_lock_drop(&table->lock);
}

/* On the worker that found it expired, in its loop. */
static void timer_ring(struct wf_alarm *alarm) {
    struct timer_record *record = (struct timer_record *)alarm;
    struct wf_waiter *waiter = NULL;
    WF_POINT("timer.before_ring");
    wf_lock_take(&record->lock);
    uint64_t expired = wf_alarm_take(alarm);
    if (!record->is_used) {
        if (--record->holds == 0) /* it was stopped, and waited for us */
            timer_free_locked(record);
    } else if (record->fn) {
        if (expired)
            timer_run_locked(record, expired);
    } else if (expired) {
        record->count += expired;
        waiter = wf_wait_take_first_locked(&record->waiters);
        if (waiter) {
            waiter->status = 0;
            waiter->amount = record->count;
            record->count = 0;
        }
    }
    wf_lock_drop(&record->lock);
    if (waiter)
        wf_wait_wake(waiter);
}

static void timer_run_locked(struct timer_record *record, uint64_t expired) {
    int error = 0;
    wf_context_acquire(record);
    if (!timer_has_fiber_locked(record)) {
        if (timer_gives_way(record)) {
            record->missed += expired;
            return;
        }
        error = wf_fiber_spawn(record->fibers, NULL, timer_main, record, true, &record->fiber);
        record->is_pending = record->is_wanted = error == 0;
        expired -= error == 0;
    } else if (record->is_pending && !record->is_wanted) { /* of before a reset */
        record->is_wanted = true;
        expired--;
    }
    record->missed += expired;
    if (error && record->is_single) {
        wf_report("no fiber could be had for the function of a timer: error %d", error);
        timer_retire_locked(record);
    }
}

/* Whether a periodic timer has to let its worker park first: see the end, above. Otherwise notes that it does not. */
static bool timer_gives_way(const struct timer_record *record) {
    struct wf_fibers *fibers = record->fibers;
    struct timer_table *table = wf_load_relaxed(&fibers->timer_table);
    struct wf_processor *processor = wf_worker_self()->base.processor;
    uint64_t parks = wf_load_relaxed(&processor->counters.worker_parks) + 1; /* 0: it never has */
    if (record->is_periodic && table->parks[processor->index] == parks &&
        wf_load_relaxed(&fibers->engine.is_draining) && wf_fibers_alive(fibers) <= wf_load_relaxed(&table->functions))
        return true;
    table->parks[processor->index] = parks;
    return false;
}

static void *timer_main(void *opaque) {
    wf_fiber_set_indirect();
    struct timer_record *record = opaque;
    wf_lock_take(&record->lock);
    weft_fn fn = record->is_wanted ? record->fn : NULL;
    void *arg = record->arg;
    record->is_pending = false;
    record->is_wanted = false;
    if (!record->is_used) {
        if (--record->holds == 0) /* it was stopped, and waited for us */
            timer_free_locked(record);
    } else if (record->is_single) {
        timer_retire_locked(record);
    }
    wf_lock_drop(&record->lock);
    return fn ? fn(arg) : NULL;
}

int weft_timer_wait(weft_timer timer, uint64_t *count, weft_time deadline) {
    int status = wf_wait_enter(deadline);
    if (status)
        return status;
    struct wf_fibers *fibers = wf_runtimes_enter((weft_fiber){timer.bits});
    if (!fibers)
        return -ESTALE;
    struct wf_waiter waiter = {0};
    struct timer_record *record = timer_lock(fibers, timer);
    if (!record) {
        status = -ESTALE;
    } else if (record->count > 0) {
        waiter.amount = record->count;
        record->count = 0;
        wf_lock_drop(&record->lock);
    } else if ((status = timer_refusal_locked(record)) != 0) {
        wf_lock_drop(&record->lock);
    } else {
        status = wf_wait_locked(&waiter, &record->lock, &record->waiters, deadline, "timer");
    }
    if (!status && count)
        *count = waiter.amount;
    wf_runtimes_leave(fibers);
    return status;
}

/* As join_refusal_locked in wait/join.c. */
static int timer_refusal_locked(const struct timer_record *record) {
    struct wf_fiber_worker *worker = wf_worker_self();
    bool is_inside = worker && worker->fibers == record->fibers;
    if (record->fn)
        return -EINVAL;
    if (!is_inside && wf_load_acquire(&record->fibers->engine.is_stopping)) /* pairs with wf_engine_stop */
        return -ECANCELED;
    return worker && !is_inside && worker->fibers->abandons ? -EPERM : 0;
}

int weft_timer_missed(weft_timer timer, uint64_t *count) {
    if (!count)
        return -EINVAL;
    struct wf_fibers *fibers = wf_runtimes_enter((weft_fiber){timer.bits});
    if (!fibers)
        return -ESTALE;
    struct timer_record *record = timer_lock(fibers, timer);
    if (record) {
        *count = record->missed;
        wf_lock_drop(&record->lock);
    }
    wf_runtimes_leave(fibers);
    return record ? 0 : -ESTALE;
}

/* As a case of select. */
static bool timer_case_begin(weft_case *entry, struct wf_lock **lock, struct wf_waiter ***queue) {
    weft_timer timer = {entry->id};
    struct wf_fibers *fibers = wf_runtimes_enter((weft_fiber){timer.bits});
    struct timer_record *record = fibers ? timer_find(fibers, timer) : NULL;
    entry->object = fibers;
    if (!record) {
        entry->status = -ESTALE;
        return false;
    }
    *lock = &record->lock;
    *queue = &record->waiters;
    return true;
}

static bool timer_case_attempt(weft_case *entry, struct wf_waiter **wakes) {
    weft_timer timer = {entry->id};
    struct timer_record *record = timer_find(entry->object, timer);
    (void)wakes;
    if (!timer_is_locked(record, timer)) {
        entry->status = -ESTALE;
    } else if (record->count > 0) {
        if (entry->value)
            *(uint64_t *)entry->value = record->count;
        record->count = 0;
    } else {
        entry->status = timer_refusal_locked(record);
        return entry->status != 0;
    }
    return true;
}

static void timer_case_finish(weft_case *entry, struct wf_waiter *node) {
    entry->status = node->status;
    if (entry->status == 0 && entry->value)
        *(uint64_t *)entry->value = node->amount;
}

static void timer_case_end(weft_case *entry) {
    struct wf_fibers *fibers = entry->object;
    entry->object = NULL;
    if (fibers)
        wf_runtimes_leave(fibers);
}

static const struct wf_case_kind timer_kind = {
    .name = "timer",
    .begin = timer_case_begin,
    .attempt = timer_case_attempt,
    .finish = timer_case_finish,
    .end = timer_case_end,
};

weft_case weft_on_timer(weft_timer timer, uint64_t *count) {
    return wf_case_make(&timer_kind, NULL, timer.bits, count);
}

void wf_timer_table_abandon(struct wf_fibers *fibers) {
    struct timer_table *table = wf_load_acquire(&fibers->timer_table); /* pairs with timer_table_of */
    if (!table)
        return;
    wf_lock_take(&table->lock); /* a thread may be inside; whoever waits from now on finds out by itself */
    uint32_t used = table->next_index;
    wf_lock_drop(&table->lock);
    for (uint32_t i = 0; i < used; i++) {
        struct timer_record *record = timer_at(table, i);
        wf_lock_take(&record->lock);
        struct wf_waiter *first = wf_wait_take_all_locked(&record->waiters, -ECANCELED, NULL);
        wf_lock_drop(&record->lock);
        wf_wait_wake_chain(first);
    }
}

void wf_timer_table_term(struct wf_fibers *fibers) {
    struct timer_table *table = wf_load_relaxed(&fibers->timer_table);
    if (!table)
        return;
    for (int i = 0; i < TIMER_CHUNKS; i++)
        wf_os_free(wf_load_relaxed(&table->chunks[i]));
    wf_os_free(table);
}
