/* SPDX-License-Identifier: MIT
 *
 * pool/observe.c - what the program is told, and what it can ask: events, counts, levels, lists.
 *
 * Functions of the program (handlers, callbacks, vetoes) are called here, each inside a guarded region: what it returns or how it
 * ends is told as WEFT_POOL_ERROR, and changes nothing. If the handler fails at that too, that is the end of it. Nothing is held
 * meanwhile but what the caller says.
 *
 * Counts grow: what ends quietly is counted by its shard, without a lock, and everything else in pool->counts. Levels are looked
 * up in the table of works when somebody asks, so that nobody has to keep them; while works move, each is seen as it was at some
 * moment of the call.
 *
 * The pool's runtime may end at any time in a pool that may be without threads, and with the pool: whoever looks at the engine
 * enters it for that long (fiber/runtimes.c).
 */
#include <errno.h>

#include "base/assert.h"
#include "os/clock.h"
#include "pool/pool.h"
#include "weft/panic.h"

/* STUCK: a submitter may lose its processor between the queue and the notification, but hardly for as long as that. */
#define STUCK_NS (INT64_C(1000) * 1000 * 1000)

/* A call of a function of the program, whatever its type. */
struct guarded_call {
    int (*fn)(void *a, void *b);
    void *a;
    void *b;
    int outcome;
};

struct callback_call {
    weft_work_callback callback;
    const weft_result *result;
    void *arg;
};

struct pool_levels {
    uint64_t by_phase[WF_WORK_DONE + 1];
    uint64_t ending; /* DONE, and not everybody has been told */
};

struct pool_listing {
    weft_work *works;
    size_t size;
    size_t count;
};

static void run_guarded(void *opaque);
static void call_program(void *opaque);
static int call_callback(void *opaque, void *unused);
static int call_handler(void *opaque, void *event);
static void count_time(_Atomic int64_t *sum, _Atomic uint64_t *histogram, int64_t ns);
static struct wf_fibers *engine_enter(weft_pool *pool);
static void stats_of_engine(weft_pool *pool, weft_pool_stats *out);
static void stats_of_works(weft_pool *pool, weft_pool_stats *out);
static void stats_of_counts(weft_pool *pool, weft_pool_stats *out);
static bool count_level(weft_pool *pool, struct wf_work *work, uint64_t word, void *opaque);
static bool list_pending(weft_pool *pool, struct wf_work *work, uint64_t word, void *opaque);
static void listing_add(struct pool_listing *listing, weft_work work);
static bool engine_is_asleep(struct wf_engine *engine);
static uint64_t engine_moves(struct wf_engine *engine);

/* ---- Calling the program ---- */

int wf_pool_call(int (*fn)(void *a, void *b), void *a, void *b) {
    struct guarded_call call = {.fn = fn, .a = a, .b = b};
    int panicked = weft_try(run_guarded, &call, NULL, 0);
    return panicked ? panicked : call.outcome;
}

/* On a fiber weft_exit would end the fiber, in the middle of what the pool does there: it counts as a panic of the function. The
 * region outside then closes what that has left open. */
static void run_guarded(void *opaque) {
    struct wf_fiber *fiber = wf_fiber_self();
    if (!fiber) {
        call_program(opaque);
        return;
    }
    struct wf_try attempt;
    int panicked = wf_try_call(&attempt, &wf_fiber_stack(fiber)->trying, call_program, opaque);
    if (panicked || attempt.is_exit)
        weft_panic("a function that a pool has called did not return");
}

static void call_program(void *opaque) {
    struct guarded_call *call = opaque;
    call->outcome = call->fn(call->a, call->b);
}

int wf_pool_call_back(weft_work_callback callback, const weft_result *result, void *arg) {
    struct callback_call call = {.callback = callback, .result = result, .arg = arg};
    return wf_pool_call(call_callback, &call, NULL);
}

static int call_callback(void *opaque, void *unused) {
    struct callback_call *call = opaque;
    (void)unused;
    return call->callback(call->result, call->arg);
}

/* ---- Events ---- */

void wf_pool_tell(weft_pool *pool, weft_pool_event *event) {
    if (!wf_pool_wants(pool, event->kind))
        return;
    event->pool = pool;
    int error = wf_pool_call(call_handler, pool, event);
    if (error >= 0 || event->kind == WEFT_POOL_ERROR || !wf_pool_wants(pool, WEFT_POOL_ERROR))
        return;
    weft_pool_event failure = {
        .kind = WEFT_POOL_ERROR,
        .pool = pool,
        .work = event->work,
        .result = event->result,
        .source = WEFT_SOURCE_HANDLER,
        .failed_kind = event->kind,
        .error = error,
    };
    wf_pool_call(call_handler, pool, &failure);
}

static int call_handler(void *opaque, void *event) {
    weft_pool *pool = opaque;
    return pool->options.handler(event, pool->options.handler_arg);
}

void wf_pool_tell_kind(weft_pool *pool, weft_pool_event_kind kind, weft_work work, const weft_result *result) {
    weft_pool_event event = {.kind = kind, .work = work, .result = result};
    wf_pool_tell(pool, &event);
}

void wf_pool_tell_error(weft_pool *pool, weft_error_source source, weft_work work, const weft_result *result,
                        int error) {
    weft_pool_event event = {.kind = WEFT_POOL_ERROR, .work = work, .result = result, .source = source, .error = error};
    wf_pool_tell(pool, &event);
}

void wf_pool_tell_running(weft_pool *pool, int change) {
    if (!wf_pool_wants(pool, WEFT_POOL_RUNNING_CHANGED))
        return;
    uint32_t before = wf_fetch_add_relaxed(&pool->running, (uint32_t)change);
    weft_pool_event event = {
        .kind = WEFT_POOL_RUNNING_CHANGED,
        .before = before,
        .now = before + (uint32_t)change,
    };
    wf_pool_tell(pool, &event);
}

void wf_pool_tell_rejected(weft_pool *pool) {
    weft_pool_event event = {.kind = WEFT_POOL_WORK_REJECTED, .rejection = pool->options.rejection};
    wf_fetch_add_relaxed(&pool->counts.rejected, 1);
    wf_pool_tell(pool, &event);
}

/* The caller has it, DONE and BUSY, and is about to end it. */
void wf_pool_tell_discarded(weft_pool *pool, weft_work work) {
    wf_fetch_add_relaxed(&pool->counts.discarded, 1);
    if (!wf_pool_wants(pool, WEFT_POOL_WORK_DISCARDED))
        return;
    const struct wf_work *record = wf_work_find(pool, work);
    weft_result result;
    wf_work_result(record, wf_load_acquire(&record->word), &result); /* pairs with the moves of the work */
    result.error = -ECANCELED;
    weft_pool_event event = {
        .kind = WEFT_POOL_WORK_DISCARDED,
        .work = work,
        .result = &result,
        .rejection = pool->options.rejection,
    };
    wf_pool_tell(pool, &event);
}

/* ---- Counts ---- */

void wf_pool_count_result(weft_pool *pool, const weft_result *result) {
    struct wf_pool_counts *counts = &pool->counts;
    wf_fetch_add_relaxed(&counts->by_status[result->status], 1);
    if (!pool->options.measure || !result->started)
        return;
    count_time(&counts->queue_ns, counts->queue_histogram, result->started - result->submitted);
    count_time(&counts->run_ns, counts->run_histogram, result->run_ns);
}

static void count_time(_Atomic int64_t *sum, _Atomic uint64_t *histogram, int64_t ns) {
    int bucket = ns > 1 ? 63 - __builtin_clzll((unsigned long long)ns) : 0;
    wf_fetch_add_relaxed(sum, ns);
    wf_fetch_add_relaxed(&histogram[bucket], 1);
}

int weft_pool_get_stats(weft_pool *pool, weft_pool_stats *out) {
    if (!pool || !out)
        return -EINVAL;
    *out = (weft_pool_stats){0};
    stats_of_engine(pool, out);
    stats_of_works(pool, out);
    stats_of_counts(pool, out);
    uint64_t word = wf_load_acquire(&pool->word); /* pairs with the steps of the word */
    uint32_t gate = wf_load_relaxed(&pool->gate);
    out->is_idle = wf_pool_outstanding(word) == 0;
    out->is_stopping = word & WF_POOL_STOPPING;
    out->is_suspended = gate & WF_GATE_SUSPENDED;
    out->is_disposed = gate & WF_GATE_DISPOSED;
    out->is_paused = wf_load_relaxed(&pool->is_paused);
    out->generation = wf_pool_generation(word);
    wf_lock_take(&pool->lock);
    out->stored = pool->stored_count;
    out->runtime_ns = pool->runtime_ns;
    if (pool->started_at)
        out->runtime_ns += wf_os_now() - pool->started_at;
    wf_lock_drop(&pool->lock);
    return 0;
}

/* The runtime of the pool, which stays until wf_runtimes_leave; NULL: it has none now. */
static struct wf_fibers *engine_enter(weft_pool *pool) {
    struct wf_fibers *fibers = wf_load_acquire(&pool->fibers); /* pairs with its start */
    if (!fibers || !wf_runtimes_enter_this(fibers))
        return NULL;
    if (fibers->engine.supply_owner == pool)
        return fibers;
    wf_runtimes_leave(fibers); /* it has ended, and another one is in its place */
    return NULL;
}

static void stats_of_engine(weft_pool *pool, weft_pool_stats *out) {
    struct wf_fibers *fibers = engine_enter(pool);
    if (!fibers)
        return;
    uint32_t idle = wf_idle_parked_any(&fibers->engine.idle);
    out->threads = wf_engine_in_service_any(&fibers->engine);
    out->threads_idle = idle < out->threads ? idle : out->threads;
    wf_runtimes_leave(fibers);
    out->threads_long = wf_load_relaxed(&pool->long_running);
}

static void stats_of_works(weft_pool *pool, weft_pool_stats *out) {
    struct pool_levels levels = {0};
    wf_work_each(pool, count_level, &levels);
    out->held = levels.by_phase[WF_WORK_HELD];
    out->queued = levels.by_phase[WF_WORK_QUEUED];
    out->running = levels.by_phase[WF_WORK_CLAIMED];
    out->outstanding = out->held + out->queued + out->running + levels.ending;
}

static bool count_level(weft_pool *pool, struct wf_work *work, uint64_t word, void *opaque) {
    struct pool_levels *levels = opaque;
    (void)pool;
    (void)work;
    enum wf_work_phase phase = wf_work_phase(word);
    levels->by_phase[phase]++;
    levels->ending += phase == WF_WORK_DONE && !(word & WF_WORK_OVER);
    return true;
}

static void stats_of_counts(weft_pool *pool, weft_pool_stats *out) {
    struct wf_pool_counts *counts = &pool->counts;
    out->submitted = wf_load_relaxed(&counts->submitted) + wf_load_relaxed(&pool->queue.submitted);
    out->succeeded = wf_load_relaxed(&counts->by_status[WEFT_WORK_SUCCEEDED]);
    out->failed = wf_load_relaxed(&counts->by_status[WEFT_WORK_FAILED]);
    out->cancelled = wf_load_relaxed(&counts->by_status[WEFT_WORK_CANCELLED]);
    out->stopped = wf_load_relaxed(&counts->by_status[WEFT_WORK_STOPPED]);
    out->force_stopped = wf_load_relaxed(&counts->by_status[WEFT_WORK_FORCE_STOPPED]);
    out->timed_out = wf_load_relaxed(&counts->by_status[WEFT_WORK_TIMED_OUT]);
    out->rejected = wf_load_relaxed(&counts->rejected);
    out->discarded = wf_load_relaxed(&counts->discarded);
    out->retried = wf_load_relaxed(&counts->retried);
    out->abandoned = wf_load_relaxed(&counts->abandoned);
    for (uint32_t i = 0; i < WF_SHARDS_MAX; i++) {
        struct wf_shard *shard = wf_load_acquire(&pool->shards[i]); /* pairs with its making */
        if (!shard)
            continue;
        out->succeeded += wf_load_relaxed(&shard->succeeded);
        out->stolen += wf_load_relaxed(&shard->stolen);
    }
    out->queue_ns = wf_load_relaxed(&counts->queue_ns);
    out->run_ns = wf_load_relaxed(&counts->run_ns);
    for (int i = 0; i < 64; i++) {
        out->queue_histogram[i] = wf_load_relaxed(&counts->queue_histogram[i]);
        out->run_histogram[i] = wf_load_relaxed(&counts->run_histogram[i]);
    }
}

/* ---- Lists and names ---- */

size_t weft_pool_list(weft_pool *pool, weft_work_status status, weft_work *works, size_t size) {
    if (!pool)
        return 0;
    struct pool_listing listing = {.works = works, .size = works ? size : 0};
    if (status == WEFT_WORK_PENDING) {
        wf_work_each(pool, list_pending, &listing);
        return listing.count;
    }
    wf_lock_take(&pool->lock);
    listing.count = wf_failures_list_locked(pool, status, works, listing.size);
    for (struct wf_list *node = pool->stored.next; node != &pool->stored; node = node->next) {
        const weft_result *result = &WF_CONTAINER(node, struct wf_terms, stored)->result;
        const struct wf_failure *failure = wf_failure_find_locked(pool, result->work);
        bool is_listed = failure && (int32_t)(failure->generation - pool->failures_from) >= 0;
        if (result->status == status && !is_listed)
            listing_add(&listing, result->work);
    }
    wf_lock_drop(&pool->lock);
    return listing.count;
}

static bool list_pending(weft_pool *pool, struct wf_work *work, uint64_t word, void *opaque) {
    (void)pool;
    if (wf_work_phase(word) != WF_WORK_DONE)
        listing_add(opaque, wf_work_handle(work, word));
    return true;
}

static void listing_add(struct pool_listing *listing, weft_work work) {
    if (listing->count < listing->size)
        listing->works[listing->count] = work;
    listing->count++;
}

const char *weft_work_status_name(weft_work_status status) {
    static const char *const names[] = {
        [WEFT_WORK_PENDING] = "pending",     [WEFT_WORK_SUCCEEDED] = "succeeded",
        [WEFT_WORK_FAILED] = "failed",       [WEFT_WORK_CANCELLED] = "cancelled",
        [WEFT_WORK_STOPPED] = "stopped",     [WEFT_WORK_FORCE_STOPPED] = "stopped by force",
        [WEFT_WORK_TIMED_OUT] = "timed out",
    };
    return (size_t)status < sizeof names / sizeof names[0] ? names[status] : "unknown";
}

const char *weft_pool_event_name(weft_pool_event_kind kind) {
    static const char *const names[] = {
        [WEFT_POOL_STARTED] = "started",
        [WEFT_POOL_IDLED] = "idled",
        [WEFT_POOL_RUNNING_CHANGED] = "running changed",
        [WEFT_POOL_WORK_STARTED] = "work started",
        [WEFT_POOL_WORK_ENDED] = "work ended",
        [WEFT_POOL_WORK_STOPPED] = "work stopped",
        [WEFT_POOL_WORK_CANCELLED] = "work cancelled",
        [WEFT_POOL_WORK_TIMED_OUT] = "work timed out",
        [WEFT_POOL_TIMED_OUT] = "timed out",
        [WEFT_POOL_WORK_REJECTED] = "work rejected",
        [WEFT_POOL_WORK_DISCARDED] = "work discarded",
        [WEFT_POOL_ERROR] = "error",
        [WEFT_POOL_STUCK] = "stuck",
        [WEFT_POOL_TICK] = "tick",
    };
    _Static_assert(sizeof names / sizeof names[0] == WEFT_POOL_EVENT_KINDS, "every kind has a name");
    return (size_t)kind < WEFT_POOL_EVENT_KINDS ? names[kind] : "unknown";
}

/* ---- The detector ---- */

bool wf_pool_is_stuck(weft_pool *pool) {
    struct wf_pool_clock *clock = &pool->clock;
    struct wf_fibers *fibers = engine_enter(pool);
    if (!fibers)
        return false;
    bool is_asleep = engine_is_asleep(&fibers->engine) && wf_pool_has_any(pool);
    uint64_t moves = engine_moves(&fibers->engine);
    wf_runtimes_leave(fibers);
    int64_t now = wf_os_now();
    wf_lock_take(&clock->lock);
    bool is_same = is_asleep && clock->stuck_since && clock->stuck_moves == moves;
    bool is_stuck = is_same && now - clock->stuck_since >= STUCK_NS;
    if (!is_same) {
        clock->stuck_since = is_asleep ? now : 0;
        clock->stuck_moves = moves;
    }
    wf_lock_drop(&clock->lock);
    return is_stuck;
}

static bool engine_is_asleep(struct wf_engine *engine) {
    return wf_idle_searching_any(&engine->idle) == 0 &&
           wf_idle_parked_any(&engine->idle) >= wf_engine_in_service_any(engine);
}

/* Grows whenever a worker is woken, lies down or switches. */
static uint64_t engine_moves(struct wf_engine *engine) {
    uint64_t moves = wf_load_relaxed(&engine->worker_wakes);
    for (uint32_t i = 0, limit = wf_engine_limit(engine); i < limit; i++) {
        struct wf_counters *counters = &engine->processors[i]->counters;
        moves += wf_load_relaxed(&counters->worker_parks) + wf_load_relaxed(&counters->switches);
    }
    return moves;
}
