/* SPDX-License-Identifier: MIT
 *
 * pool/submit.c - submitting works.
 *
 * The short way, for a work about which nothing special was asked, is one visit to the shared queue: a record, the pool's word
 * and the place in the queue, all under the queue's lock. The long way adds terms: id, dependencies, groups, alarms.
 *
 * A work that goes the long way is HELD while it is made, and has a token (terms->pending) that its submit drops at the end.
 * What it comes after holds the other tokens; whoever drops the last one releases it to the queue.
 *
 * The gate: a suspended pool takes works, and so does one that is being stopped, but holds them back. Their token stays with the
 * gate, they are not counted among the outstanding (UNCOUNTED), and are in pool->gated until it opens. A stop that ends and a
 * submit that finds it going on cannot miss each other: the submit looks at the pool's word again under pool->lock, and the end
 * opens the gate under that lock after it has changed the word.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/assert.h"
#include "base/point.h"
#include "os/clock.h"
#include "os/memory.h"
#include "pool/pool.h"
#include "wait/select.h"

enum { BATCH_STEP = 256, RETRIES_DEFAULT = 3, NOT_THIS_WAY = 1 };

struct order {
    weft_pool *pool;
    const weft_work_options *options; /* never NULL */
    weft_work_fn fn;
    void *arg;
};

static const weft_work_options no_options;

static bool is_plain(const weft_pool *pool, const weft_work_options *options);
static bool asks_for_nothing(const weft_work_options *options);
static int check_work_options(const weft_pool *pool, const weft_work_options *options);
static int submit_plain(weft_pool *pool, weft_work *out, weft_work_fn fn, void *const *args, size_t count,
                        size_t *done);
static int submit_local(weft_pool *pool, weft_work *out, weft_work_fn fn, void *const *args, size_t count,
                        size_t *done);
static struct wf_work *take_record_owner(weft_pool *pool, struct wf_shard *shard);
static uint64_t fill_plain(weft_pool *pool, struct wf_work *work, weft_work_fn fn, void *arg);
static void note_generation(weft_pool *pool, struct wf_work *work);
static int add_plain_locked(weft_pool *pool, weft_work *out, weft_work_fn fn, void *arg);
static int submit_specially(const struct order *order, weft_work *out);
static int submit_terms(const struct order *order, struct wf_terms *terms, enum wf_room room, weft_work *out);
static void send_off_work(weft_pool *pool, struct wf_work *work, weft_work handle, enum wf_room room);
static void run_by_caller(weft_pool *pool, struct wf_work *work);
static bool move_to_queued(struct wf_work *work);
static bool may_submit_locked(weft_pool *pool);
static int make_terms(const struct order *order, struct wf_terms **out);
static struct wf_work *make_work_locked(const struct order *order, struct wf_terms *terms, int *error);
static int enter_locked(const struct order *order, struct wf_terms *terms);
static void drop_token(weft_pool *pool, struct wf_work *work);
static bool is_still_held(struct wf_work *work);

int weft_pool_submit(weft_pool *pool, weft_work *out, weft_work_fn fn, void *arg) {
    return weft_pool_submit_with(pool, out, NULL, fn, arg);
}

int weft_pool_submit_with(weft_pool *pool, weft_work *out, const weft_work_options *options, weft_work_fn fn,
                          void *arg) {
    if (WF_UNLIKELY(!pool || !fn))
        return -EINVAL;
    weft_work unused;
    if (!out)
        out = &unused;
    if (WF_LIKELY(is_plain(pool, options))) {
        int error = submit_plain(pool, out, fn, &arg, 1, NULL);
        if (WF_LIKELY(error != NOT_THIS_WAY))
            return error;
    }
    struct order order = {pool, options ? options : &no_options, fn, arg};
    int error = check_work_options(pool, order.options);
    return error ? error : submit_specially(&order, out);
}

int weft_pool_submit_batch(weft_pool *pool, weft_work *out, const weft_work_options *options, weft_work_fn fn,
                           void *const *args, size_t count, size_t *done) {
    size_t unused;
    if (!done)
        done = &unused;
    *done = 0;
    if (!pool || !fn || (!args && count))
        return -EINVAL;
    if (options && (options->promise || wf_id_check(&options->id) != 0))
        return -EINVAL;
    int error = 0;
    while (*done < count && !error) {
        size_t part = 0;
        weft_work *names = out ? out + *done : NULL;
        error = NOT_THIS_WAY;
        if (is_plain(pool, options)) {
            size_t step = count - *done < BATCH_STEP ? count - *done : BATCH_STEP;
            error = submit_plain(pool, names, fn, args + *done, step, &part);
            *done += part;
        }
        if (error == NOT_THIS_WAY) {
            error = weft_pool_submit_with(pool, out ? out + *done : NULL, options, fn, args[*done]);
            *done += error == 0;
        }
    }
    return error;
}

static inline bool is_plain(const weft_pool *pool, const weft_work_options *options) {
    if (WF_UNLIKELY(pool->options.store_results | (pool->options.work_timeout != 0)))
        return false; /* these need terms */
    return !options || asks_for_nothing(options);
}

static bool asks_for_nothing(const weft_work_options *options) {
    bool has_traits = options->priority || options->placement || options->on_thread_stack || options->long_running ||
                      options->store_result || options->retry || options->timeout || options->deadline;
    bool has_ties = options->id.text || options->id.number || options->group || options->after_count ||
                    options->after_id_count || options->callback || options->promise;
    /* What is wrong in the rest is found on the long way. */
    return !has_traits && !has_ties && !options->max_retries && !options->timeout_action && !options->submit_deadline;
}

/* NOT_THIS_WAY: the gate is shut, the pool is being stopped, or there is a limit. Errors are the submit's. */
static int submit_plain(weft_pool *pool, weft_work *out, weft_work_fn fn, void *const *args, size_t count,
                        size_t *done) {
    if (WF_UNLIKELY(pool->options.placement != WEFT_PLACE_SHARED)) {
        bool is_local = !pool->options.max_queued && !pool->options.max_running;
        if (is_local && wf_shard_self(pool) && pool->options.discipline != WEFT_POOL_CUSTOM)
            return submit_local(pool, out, fn, args, count, done);
    }
    size_t added = 0;
    bool is_first = false;
    int error = 0;
    wf_lock_take(&pool->queue.lock);
    if (WF_UNLIKELY(wf_load_relaxed(&pool->gate) || pool->options.max_queued) ||
        !wf_pool_count_in(pool, (uint32_t)count, &is_first)) {
        wf_lock_drop(&pool->queue.lock);
        return NOT_THIS_WAY;
    }
    if (WF_UNLIKELY(
            is_first)) { /* functions of the program may be told of it, before the work is announced and without locks */
        wf_lock_drop(&pool->queue.lock);
        wf_pool_begin(pool);
        wf_lock_take(&pool->queue.lock);
        if (wf_load_relaxed(&pool->gate) || (wf_load_relaxed(&pool->word) & WF_POOL_STOPPING)) {
            wf_lock_drop(&pool->queue.lock);
            wf_pool_count_out(pool, (uint32_t)count);
            return NOT_THIS_WAY;
        }
    }
    bool is_news = wf_queue_is_news_locked(pool);
    for (; added < count && !error; added += !error)
        error = add_plain_locked(pool, out ? out + added : NULL, fn, args[added]);
    wf_count_owner(&pool->queue.submitted, added);
    wf_lock_drop(&pool->queue.lock);
    if (WF_UNLIKELY(added < count))
        wf_pool_count_out(pool, (uint32_t)(count - added));
    if (added > 0 && is_news)
        wf_pool_notify(pool);
    if (done)
        *done = added;
    return error;
}

/* By a work of the pool, which is outstanding itself: there is no generation to begin. Without the lock of the queue, under
 * which a pool is disposed of: so the gate is looked at again when the work can be found, and one of the two sees the other. */
static int submit_local(weft_pool *pool, weft_work *out, weft_work_fn fn, void *const *args, size_t count,
                        size_t *done) {
    size_t added = 0;
    bool is_first = false;
    if (wf_load_relaxed(&pool->gate) || !wf_pool_count_in(pool, (uint32_t)count, &is_first))
        return NOT_THIS_WAY;
    for (; added < count; added++) {
        struct wf_work *work = take_record_owner(pool, wf_shard_self(pool));
        if (!work)
            break;
        uint64_t word = fill_plain(pool, work, fn, args[added]);
        weft_work handle = wf_work_handle(work, word);
        wf_store_release(&work->word, word); /* pairs with the claim */
        if (out)
            out[added] = handle;
        wf_work_put_in_queue(pool, work);
        bool is_stopped = wf_load_seq_cst(&pool->word) & WF_POOL_STOPPING;
        if (WF_UNLIKELY(is_stopped || (wf_load_seq_cst(&pool->gate) & WF_GATE_DISPOSED)))
            wf_work_control(pool, WEFT_CANCEL, handle);
    }
    wf_fetch_add_relaxed(&pool->counts.submitted, added);
    if (is_first) /* a fiber of the pool that is no work */
        wf_pool_begin(pool);
    if (added < count)
        wf_pool_count_out(pool, (uint32_t)(count - added));
    if (done)
        *done = added;
    return added < count ? -ENOMEM : 0;
}

static struct wf_work *take_record_owner(weft_pool *pool, struct wf_shard *shard) {
    struct wf_task *task = shard ? shard->free_records : NULL;
    if (task) {
        shard->free_records = task->next;
        shard->free_count--;
        return wf_work_of(task);
    }
    wf_lock_take(&pool->queue.lock);
    struct wf_work *work = wf_work_take_locked(pool);
    wf_lock_drop(&pool->queue.lock);
    return work;
}

/* After it was counted in: the generation cannot end before it does. */
static inline void note_generation(weft_pool *pool, struct wf_work *work) {
    wf_store_relaxed(&work->task.version, wf_pool_generation(wf_load_relaxed(&pool->word)));
}

/* It can be seen when it is in: a queue of the program may refuse it. Whoever takes it out needs the lock that we have. */
static inline int add_plain_locked(weft_pool *pool, weft_work *out, weft_work_fn fn, void *arg) {
    struct wf_work *work = wf_work_take_locked(pool);
    if (WF_UNLIKELY(!work))
        return -ENOMEM;
    uint64_t word = fill_plain(pool, work, fn, arg);
    int error = wf_queue_push_locked(pool, work);
    if (WF_UNLIKELY(error)) {
        work->submitted_at = 0;
        work->task.next = pool->queue.free_records;
        pool->queue.free_records = &work->task;
        return error;
    }
    wf_store_release(&work->word, word); /* pairs with the claim */
    if (out)
        *out = wf_work_handle(work, word);
    return 0;
}

/* A FREE record becomes a QUEUED work, LISTED, when the caller stores the word that this returns. */
static inline uint64_t fill_plain(weft_pool *pool, struct wf_work *work, weft_work_fn fn, void *arg) {
    uint64_t word = wf_load_relaxed(&work->word);
    work->fn = fn;
    work->arg = arg;
    work->runner = NULL;
    wf_store_relaxed(&work->attempts, 0);
    note_generation(pool, work);
    if (WF_UNLIKELY(pool->options.measure))
        work->submitted_at = wf_os_now();
    wf_context_release(work);
    return wf_work_with_phase(word, WF_WORK_QUEUED) | WF_WORK_LISTED | pool->special;
}

static int check_work_options(const weft_pool *pool, const weft_work_options *options) {
    bool is_bad = (unsigned)options->placement > WEFT_PLACE_IDLE_THEN_LOCAL ||
                  (unsigned)options->retry > WEFT_RETRY_REQUEUE ||
                  (unsigned)options->timeout_action > WEFT_TIMEOUT_TELL || options->timeout < 0 ||
                  (options->on_thread_stack && options->long_running) || (!options->after && options->after_count) ||
                  (!options->after_ids && options->after_id_count);
    (void)pool;
    return is_bad || wf_id_check(&options->id) < 0 ? -EINVAL : 0;
}

static int submit_specially(const struct order *order, weft_work *out) {
    weft_pool *pool = order->pool;
    enum wf_room room = WF_ROOM_ANY;
    struct wf_terms *terms = NULL;
    int error = wf_pool_find_room(pool, order->options, &room);
    if (!error)
        error = make_terms(order, &terms);
    if (!error) {
        terms->has_place = room == WF_ROOM_PROMISED;
        error = submit_terms(order, terms, room, out);
    } else if (room == WF_ROOM_PROMISED) {
        wf_pool_give_place_back(pool);
    }
    return error;
}

static int submit_terms(const struct order *order, struct wf_terms *terms, enum wf_room room, weft_work *out) {
    weft_pool *pool = order->pool;
    bool is_first = false, is_gated = false;
    wf_lock_take(&pool->lock);
    int error = may_submit_locked(pool) ? 0 : -ESHUTDOWN;
    struct wf_work *work = error ? NULL : make_work_locked(order, terms, &error);
    if (work && (error = enter_locked(order, terms)) != 0)
        wf_work_unmake_locked(pool, work);
    if (error) {
        wf_lock_drop(&pool->lock);
        wf_terms_give_place_back(pool, terms);
        wf_terms_free(terms);
        return error;
    }
    weft_work handle = wf_work_handle(work, wf_load_relaxed(&work->word));
    is_gated = wf_pool_is_suspended(pool) || !wf_pool_count_in(pool, 1, &is_first);
    if (!is_gated)
        note_generation(pool, work);
    uint64_t word = wf_work_with_phase(wf_load_relaxed(&work->word), WF_WORK_HELD) | WF_WORK_SPECIAL | WF_WORK_LISTED;
    word |= pool->special | (is_gated ? WF_WORK_UNCOUNTED : 0);
    wf_store_release(&work->word, word); /* from here on anybody may end it; LISTED is the token */
    if (is_gated)
        wf_chain_append(&pool->gated, &work->task);
    *out = handle;
    if (order->options->promise)
        *order->options->promise = weft_promise_ref(terms->promise);
    if (is_gated)
        wf_terms_give_place_back(pool, terms);
    wf_lock_drop(&pool->lock);
    /* The token is ours, or the gate's: from here on only the first may touch the work. */
    wf_fetch_add_relaxed(&pool->counts.submitted, 1);
    bool begins_late =
        room == WF_ROOM_PROMISED; /* functions of the program may want the place that is promised to us */
    if (is_first && !begins_late)
        wf_pool_begin(pool);
    if (!is_gated) {
        send_off_work(pool, work, handle, room);
        if (is_first && begins_late)
            wf_pool_begin(pool);
        return 0;
    }
    error = wf_clock_submitted(pool, work, handle); /* by its handle: the gate may have opened, and the work be over */
    if (error && wf_work_seize(work, handle, WEFT_WORK_FAILED))
        wf_work_over_unrun(pool, work, error);
    return 0;
}

/* Everything is arranged; the submitter has the token, which keeps the record. */
static void send_off_work(weft_pool *pool, struct wf_work *work, weft_work handle, enum wf_room room) {
    int error = 0;
    WF_POINT("pool.before_token");
    if (room == WF_ROOM_DISCARD) {
        if (wf_work_seize(work, handle, WEFT_WORK_CANCELLED)) {
            wf_pool_tell_discarded(pool, handle);
            wf_work_over_unrun(pool, work, -ECANCELED);
        }
    } else if ((error = wf_clock_submitted(pool, work, handle)) != 0) {
        if (wf_work_seize(work, handle, WEFT_WORK_FAILED)) /* it was accepted, and ends with the error */
            wf_work_over_unrun(pool, work, error);
    }
    if (room == WF_ROOM_CALLER_RUNS)
        run_by_caller(pool, work);
    else
        drop_token(pool, work);
}

/* There was no room in the queue: as if it had been queued and taken at once. */
static void run_by_caller(weft_pool *pool, struct wf_work *work) {
    if (!move_to_queued(work))
        wf_work_let_go(pool, work, WF_WORK_LISTED);
    else if (wf_work_claim(pool, work, NULL))
        wf_work_run_here(pool, work);
}

/* HELD to QUEUED. False: somebody has ended it. */
static bool move_to_queued(struct wf_work *work) {
    uint64_t word = wf_load_acquire(&work->word); /* pairs with its moves */
    do {
        if (wf_work_phase(word) != WF_WORK_HELD)
            return false;
    } while (!wf_cas_acq_rel(&work->word, &word, wf_work_with_phase(word, WF_WORK_QUEUED)));
    return true;
}

static bool may_submit_locked(weft_pool *pool) {
    uint32_t gate = wf_load_relaxed(&pool->gate);
    const struct wf_runner *runner = wf_runner_self();
    return !(gate & WF_GATE_DISPOSED) && (!(gate & WF_GATE_DRAINING) || (runner && runner->pool == pool));
}

static int make_terms(const struct order *order, struct wf_terms **out) {
    const weft_work_options *options = order->options;
    const weft_pool_options *pool = &order->pool->options;
    struct wf_terms *terms = wf_os_alloc(sizeof *terms);
    if (!terms)
        return -ENOMEM;
    if (options->promise && weft_promise_new(&terms->promise) != 0) {
        wf_os_free(terms);
        return -ENOMEM;
    }
    wf_terms_init(terms, NULL);
    terms->on_thread_stack = options->on_thread_stack;
    terms->is_long = options->long_running;
    terms->stores = options->store_result || pool->store_results;
    terms->placement = options->placement;
    terms->retry = options->retry;
    terms->retries_left = options->max_retries ? options->max_retries : RETRIES_DEFAULT;
    terms->callback = options->callback;
    terms->callback_arg = options->callback_arg;
    terms->timeout = options->timeout ? options->timeout : pool->work_timeout;
    bool has_own = options->timeout || options->deadline;
    terms->timeout_action = has_own ? options->timeout_action : pool->work_timeout_action;
    terms->deadline = options->deadline ? options->deadline : WF_NEVER;
    *out = terms;
    return 0;
}

void wf_terms_free(struct wf_terms *terms) {
    weft_promise_unref(terms->promise); /* pending: it was never given to anybody */
    wf_os_free(terms->edges);
    wf_os_free(terms);
}

/* Still FREE: nobody sees it before everything is arranged. */
static struct wf_work *make_work_locked(const struct order *order, struct wf_terms *terms, int *error) {
    weft_pool *pool = order->pool;
    wf_lock_take(&pool->queue.lock);
    struct wf_work *work = wf_queue_prepare_locked(pool, order->options->priority) ? wf_work_take_locked(pool) : NULL;
    wf_lock_drop(&pool->queue.lock);
    if (!work) {
        *error = -ENOMEM;
        return NULL;
    }
    work->fn = order->fn;
    work->arg = order->arg;
    work->runner = NULL;
    work->priority = order->options->priority;
    wf_store_relaxed(&work->attempts, 0);
    if (pool->options.measure)
        work->submitted_at = wf_os_now();
    terms->work = work;
    wf_context_release(work);
    wf_store_release(&work->terms, terms); /* pairs with wf_work_terms */
    return work;
}

/* Its submit is refused, and nobody has seen it. The terms are the caller's again. */
void wf_work_unmake_locked(weft_pool *pool, struct wf_work *work) {
    wf_store_release(&work->terms, NULL);
    work->priority = 0;
    work->submitted_at = 0;
    wf_work_put_free(pool, NULL, work);
}

static int enter_locked(const struct order *order, struct wf_terms *terms) {
    weft_pool *pool = order->pool;
    const weft_work_options *options = order->options;
    weft_work handle = wf_work_handle(terms->work, wf_load_relaxed(&terms->work->word));
    int error = wf_id_check(&options->id) ? wf_name_give_locked(pool, terms, &options->id) : 0;
    if (error)
        return error;
    error = wf_depend_begin_locked(pool, terms, options);
    if (error)
        goto give_name_back;
    error = options->group ? wf_group_enter_locked(pool, options->group, terms) : 0;
    if (!error)
        return 0;
    wf_depend_leave_locked(pool, terms);

give_name_back:
    if (terms->name)
        wf_name_over_locked(pool, terms, handle, WEFT_WORK_PENDING);
    return error;
}

/* The submit is through, or the gate has opened. The work is LISTED, by us. */
static void drop_token(weft_pool *pool, struct wf_work *work) {
    struct wf_terms *terms = wf_work_terms(work);
    wf_lock_take(&pool->lock);
    bool is_free = --terms->pending == 0;
    uint64_t word = wf_load_acquire(&work->word); /* pairs with its moves */
    if (terms->has_failed_before) {
        wf_lock_drop(&pool->lock);
        if (wf_work_seize(work, wf_work_handle(work, word), WEFT_WORK_FAILED))
            wf_work_over_unrun(pool, work, -ENOENT);
        wf_work_let_go(pool, work, WF_WORK_LISTED);
        return;
    }
    while (!is_free && wf_work_phase(word) == WF_WORK_HELD) {
        if (wf_cas_acq_rel(&work->word, &word, (word & ~WF_WORK_LISTED) | WF_WORK_WAITING)) {
            wf_store_seq_cst(&pool->held, wf_load_relaxed(&pool->held) + 1);
            wf_lock_drop(&pool->lock);
            wf_pool_tell_loss(pool);
            return;
        }
    }
    wf_lock_drop(&pool->lock);
    wf_work_release(pool, work);
}

void wf_work_release(weft_pool *pool, struct wf_work *work) {
    struct wf_terms *terms = wf_work_terms(work);
    if (!move_to_queued(work)) {
        if (terms)
            wf_terms_give_place_back(pool, terms);
        wf_work_let_go(pool, work, WF_WORK_LISTED);
    } else if (!terms || !terms->is_long || wf_pool_start_long(pool, work) != 0) {
        wf_work_put_in_queue(pool, work);
    }
}

bool wf_work_list_held(weft_pool *pool, struct wf_work *work) {
    uint64_t word = wf_load_acquire(&work->word); /* pairs with its moves */
    do {
        if (wf_work_phase(word) != WF_WORK_HELD)
            return false;
    } while (!wf_cas_acq_rel(&work->word, &word, (word & ~WF_WORK_WAITING) | WF_WORK_LISTED));
    if (word & WF_WORK_WAITING)
        wf_store_seq_cst(&pool->held, wf_load_relaxed(&pool->held) - 1);
    return true;
}

void wf_pool_open_gate(weft_pool *pool) {
    bool is_first = false;
    struct wf_chain open = {0};
    wf_lock_take(&pool->lock);
    uint32_t count = (uint32_t)pool->gated.count;
    if (count > 0 && !wf_pool_is_shut(pool) && wf_pool_count_in(pool, count, &is_first)) {
        open = pool->gated;
        pool->gated = (struct wf_chain){0};
    }
    /* Under the lock, so that a stop that comes now does not take them for others that are at the gate. */
    uint32_t gone = 0;
    for (struct wf_task *task = open.first; task; task = task->next) {
        note_generation(pool, wf_work_of(task));
        gone += !is_still_held(wf_work_of(task));
    }
    wf_lock_drop(&pool->lock);
    if (is_first)
        wf_pool_begin(pool);
    struct wf_task *task;
    while ((task = wf_chain_take_first(&open))) {
        struct wf_work *work = wf_work_of(task);
        uint64_t word = wf_load_acquire(&work->word); /* LISTED: it stays the same work */
        if (wf_work_phase(word) == WF_WORK_HELD)
            send_off_work(pool, work, wf_work_handle(work, word), WF_ROOM_ANY);
        else
            wf_work_let_go(pool, work, WF_WORK_LISTED);
    }
    if (gone)
        wf_pool_count_out(pool, gone);
}

/* It is counted from now on. False: it was ended while it was not, and stays so. */
static bool is_still_held(struct wf_work *work) {
    uint64_t word = wf_load_acquire(&work->word); /* pairs with its moves */
    do {
        if (wf_work_phase(word) != WF_WORK_HELD)
            return false;
    } while (!wf_cas_acq_rel(&work->word, &word, word & ~WF_WORK_UNCOUNTED));
    return true;
}
