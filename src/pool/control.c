/* SPDX-License-Identifier: MIT
 *
 * pool/control.c - cancel, stop, pause: of one work, of many, of the whole pool; and a work's own side of it.
 *
 * Cancelling and the claim of a runner are compare and swaps of one word: one of them wins. Everything else about a running work
 * is a flag in the same word, which the work looks at when it wants to, and which makes its end look twice.
 *
 * A stop of the pool marks its word under both locks under which works are made: what was submitted before is in the table when
 * we walk it, what comes later is held back by the gate.
 */
#include <errno.h>

#include "base/assert.h"
#include "base/point.h"
#include "os/clock.h"
#include "pool/pool.h"

struct sweep {
    weft_control what;
    int count;           /* that it was done to */
    bool is_of_one;      /* only works of one generation, and none that wait for the gate */
    uint32_t generation; /* that one */
};

static const uint32_t alive_phases = WF_BIT(WF_WORK_HELD) | WF_BIT(WF_WORK_QUEUED) | WF_BIT(WF_WORK_CLAIMED);

static int cancel_work(weft_pool *pool, struct wf_work *work, weft_work handle);
static int stop_work(weft_pool *pool, struct wf_work *work, weft_work handle);
static int force_work(weft_pool *pool, struct wf_work *work, weft_work handle);
static uint64_t force_locked(struct wf_work *work, weft_work handle);
static int pause_work(weft_pool *pool, struct wf_work *work, weft_work handle);
static int resume_work(weft_pool *pool, struct wf_work *work, weft_work handle);
static bool sweep_one(weft_pool *pool, struct wf_work *work, uint64_t word, void *opaque);
static int sweep_all(weft_pool *pool, weft_control what);
static int stop_all(weft_pool *pool, weft_control what);
static int pause_all(weft_pool *pool);
static int resume_all(weft_pool *pool);
static void clear_flags(struct wf_work *work, uint64_t flags);
static bool must_pause_locked(weft_pool *pool, struct wf_work *work);
static int run_hook(void *opaque, void *arg);

int weft_pool_control(weft_pool *pool, weft_control what, weft_work handle) {
    if (!pool || (unsigned)what > WEFT_RESUME)
        return -EINVAL;
    return wf_work_control(pool, what, handle);
}

int wf_work_control(weft_pool *pool, weft_control what, weft_work handle) {
    struct wf_work *work = wf_work_find(pool, handle);
    if (!work)
        return -ESTALE;
    switch (what) {
    case WEFT_CANCEL:
        return cancel_work(pool, work, handle);
    case WEFT_STOP:
        return stop_work(pool, work, handle);
    case WEFT_FORCE_STOP:
        return force_work(pool, work, handle);
    case WEFT_PAUSE:
        return pause_work(pool, work, handle);
    case WEFT_RESUME:
        return resume_work(pool, work, handle);
    }
    return -EINVAL;
}

int weft_pool_control_works(weft_pool *pool, weft_control what, const weft_work *works, size_t count,
                            weft_work *failed) {
    if (!pool || (!works && count) || (unsigned)what > WEFT_RESUME)
        return -EINVAL;
    int failures = 0;
    for (size_t i = 0; i < count; i++) {
        if (wf_work_control(pool, what, works[i]) == 0)
            continue;
        if (failed)
            failed[failures] = works[i];
        failures++;
    }
    return failures;
}

static int cancel_work(weft_pool *pool, struct wf_work *work, weft_work handle) {
    if (wf_work_seize(work, handle, WEFT_WORK_CANCELLED)) {
        wf_work_over_unrun(pool, work, -ECANCELED);
        return 0;
    }
    uint64_t word = wf_load_acquire(&work->word); /* pairs with its moves */
    return wf_work_is(word, handle) && wf_work_phase(word) == WF_WORK_CLAIMED ? -EBUSY : -ESTALE;
}

/* A retry may put it back into the queue between two looks. */
static int stop_work(weft_pool *pool, struct wf_work *work, weft_work handle) {
    for (;;) {
        int error = cancel_work(pool, work, handle);
        if (error != -EBUSY)
            return error;
        uint64_t before = wf_work_flag(work, handle, WF_BIT(WF_WORK_CLAIMED), WF_WORK_STOP | WF_WORK_SPECIAL);
        if (before) {
            wf_pool_wake_pausers(pool);
            return before & WF_WORK_STOP ? -EALREADY : 0;
        }
    }
}

static int force_work(weft_pool *pool, struct wf_work *work, weft_work handle) {
    for (;;) {
        int error = cancel_work(pool, work, handle);
        if (error != -EBUSY)
            return error;
        wf_lock_take(&pool->lock); /* keeps the terms, and with them the alarm */
        struct wf_terms *terms = wf_work_terms_locked(pool, work, handle, &error);
        uint64_t before = terms ? force_locked(work, handle) : 0;
        WF_POINT("pool.before_grace");
        /* Once it is forced, and not before: an alarm that rings for a work that is not means nothing, and rings no more. */
        if (before && !(before & WF_WORK_FORCE))
            error = wf_clock_grace(pool, terms); /* without it the work is cut short, but not given up */
        wf_lock_drop(&pool->lock);
        if (terms && before) {
            wf_pool_wake_pausers(pool);
            return before & WF_WORK_FORCE ? -EALREADY : error;
        }
        if (!terms && error != -ESTALE)
            return error;
    }
}

/* Returns the word before; 0: it is not running any more, or not that work. */
static uint64_t force_locked(struct wf_work *work, weft_work handle) {
    wf_lock_take(&work->lock);
    uint64_t flags = WF_WORK_FORCE | WF_WORK_STOP | WF_WORK_SPECIAL;
    uint64_t before = wf_work_flag(work, handle, WF_BIT(WF_WORK_CLAIMED), flags);
    if (before && !(before & WF_WORK_FORCE) && work->runner) {
        wf_cancel_fire(&work->runner->cancel, -ECANCELED, "the work was stopped by force");
        wf_runner_interrupt(work->runner);
    }
    wf_lock_drop(&work->lock);
    return before;
}

static int pause_work(weft_pool *pool, struct wf_work *work, weft_work handle) {
    int error;
    wf_lock_take(&pool->lock);
    struct wf_terms *terms = wf_work_terms_locked(pool, work, handle, &error);
    uint64_t before = terms ? wf_work_flag(work, handle, alive_phases, WF_WORK_PAUSE) : 0;
    if (before && !(before & WF_WORK_PAUSE))
        wf_group_pause_changed_locked(pool, terms);
    wf_lock_drop(&pool->lock);
    return terms ? (before ? 0 : -ESTALE) : error;
}

static int resume_work(weft_pool *pool, struct wf_work *work, weft_work handle) {
    wf_lock_take(&pool->lock); /* the end of a work that was ever paused needs it */
    uint64_t word = wf_work_flag(work, handle, alive_phases, 0);
    int error = !word ? -ESTALE : !(word & WF_WORK_PAUSE) ? -EALREADY : 0;
    if (!error) {
        clear_flags(work, WF_WORK_PAUSE);
        wf_group_pause_changed_locked(pool, wf_work_terms(work));
    }
    wf_lock_drop(&pool->lock);
    if (!error)
        wf_pool_wake_pausers(pool);
    return error;
}

static void clear_flags(struct wf_work *work, uint64_t flags) {
    wf_fetch_and_acq_rel(&work->word, ~flags);
}

void wf_pool_wake_pausers(weft_pool *pool) {
    wf_lock_take(&pool->lock);
    struct wf_waiter *told = wf_wait_take_all_locked(&pool->pausers, 0, NULL);
    wf_lock_drop(&pool->lock);
    wf_wait_wake_chain(told);
}

int weft_pool_control_all(weft_pool *pool, weft_control what) {
    if (!pool || (unsigned)what > WEFT_RESUME)
        return -EINVAL;
    switch (what) {
    case WEFT_CANCEL:
        return sweep_all(pool, WEFT_CANCEL);
    case WEFT_STOP:
    case WEFT_FORCE_STOP:
        return stop_all(pool, what);
    case WEFT_PAUSE:
        return pause_all(pool);
    case WEFT_RESUME:
        return resume_all(pool);
    }
    return -EINVAL;
}

static int sweep_all(weft_pool *pool, weft_control what) {
    struct sweep sweep = {.what = what};
    wf_work_each(pool, sweep_one, &sweep);
    return sweep.count;
}

static bool sweep_one(weft_pool *pool, struct wf_work *work, uint64_t word, void *opaque) {
    struct sweep *sweep = opaque;
    /* Read after the word: if the record is another's by now, so is the handle, and nothing happens to it. */
    uint32_t generation = wf_load_relaxed(&work->task.version);
    if (!sweep->is_of_one || (!(word & WF_WORK_UNCOUNTED) && generation == sweep->generation))
        sweep->count += wf_work_control(pool, sweep->what, wf_work_handle(work, word)) == 0;
    return true;
}

static int stop_all(weft_pool *pool, weft_control what) {
    wf_lock_take(&pool->lock);
    wf_lock_take(&pool->queue.lock);
    uint64_t word = wf_load_relaxed(&pool->word);
    int error;
    do {
        error = wf_pool_outstanding(word) == 0 ? -EAGAIN : word & WF_POOL_STOPPING ? -EALREADY : 0;
    } while (!error && !wf_cas_seq_cst(&pool->word, &word, word | WF_POOL_STOPPING));
    wf_lock_drop(&pool->queue.lock);
    wf_lock_drop(&pool->lock);
    if (error && !(error == -EALREADY && what == WEFT_FORCE_STOP))
        return error;
    wf_fence_seq_cst(); /* pairs with that of a local submit, which looks at the word after it has queued its work */
    /* While we walk, that generation may end, and the works of the next are none of our business. */
    struct sweep sweep = {.what = WEFT_CANCEL, .is_of_one = true, .generation = wf_pool_generation(word)};
    wf_work_each(pool, sweep_one, &sweep); /* first: a thread whose work stops takes the next one */
    sweep.what = what;
    wf_work_each(pool, sweep_one, &sweep);
    return error;
}

static int pause_all(weft_pool *pool) {
    wf_lock_take(&pool->lock);
    bool is_new = !wf_load_relaxed(&pool->is_paused);
    wf_store_relaxed(&pool->is_paused, 1);
    if (is_new)
        wf_clock_pause_pool(pool, true);
    wf_lock_drop(&pool->lock);
    return 0;
}

static int resume_all(weft_pool *pool) {
    wf_lock_take(&pool->lock);
    bool was_paused = wf_load_relaxed(&pool->is_paused);
    wf_store_relaxed(&pool->is_paused, 0);
    if (was_paused)
        wf_clock_pause_pool(pool, false);
    wf_lock_drop(&pool->lock);
    int resumed = sweep_all(pool, WEFT_RESUME);
    wf_pool_wake_pausers(pool);
    return was_paused || resumed > 0 ? 0 : -EALREADY;
}

int weft_pool_stop_retry(weft_pool *pool, weft_work handle) {
    struct wf_work *work = pool ? wf_work_find(pool, handle) : NULL;
    if (!pool)
        return -EINVAL;
    return work && wf_work_flag(work, handle, alive_phases, WF_WORK_NO_RETRY | WF_WORK_SPECIAL) ? 0 : -ESTALE;
}

/* ---- The work's own side ---- */

weft_work weft_work_self(void) {
    const struct wf_runner *runner = wf_runner_self();
    return runner && runner->work ? wf_work_handle(runner->work, wf_load_relaxed(&runner->work->word)) : WEFT_NO_WORK;
}

weft_pool *weft_work_pool(void) {
    const struct wf_runner *runner = wf_runner_self();
    return runner && runner->work ? runner->pool : NULL;
}

unsigned weft_work_attempt(void) {
    const struct wf_runner *runner = wf_runner_self();
    return runner && runner->work ? wf_load_relaxed(&runner->work->attempts) : 0;
}

int weft_work_set_value(void *value) {
    const struct wf_runner *runner = wf_runner_self();
    if (!runner || !runner->work)
        return -EPERM;
    wf_fetch_or_acq_rel(&runner->work->word, WF_WORK_SPECIAL); /* the record has to be cleaned afterwards */
    runner->work->value = value;
    return 0;
}

bool weft_work_is_stopping(void) {
    const struct wf_runner *runner = wf_runner_self();
    return runner && runner->work && (wf_load_relaxed(&runner->work->word) & WF_WORK_STOP);
}

struct hook {
    int (*fn)(void *arg);
    void *arg;
};

bool weft_work_stop_point(int (*hook)(void *arg), void *arg) {
    if (!weft_work_is_stopping())
        return false;
    struct wf_runner *runner = wf_runner_self();
    struct wf_work *work = runner->work;
    struct hook call = {hook, arg};
    int answer = hook ? wf_pool_call(run_hook, &call, NULL) : 1;
    if (answer < 0)
        wf_pool_tell_error(runner->pool, WEFT_SOURCE_VETO, weft_work_self(), NULL, answer);
    uint64_t word = wf_load_acquire(&work->word); /* pairs with whoever stops it by force */
    do {
        if (answer != 0 || (word & WF_WORK_FORCE)) {
            wf_fetch_or_acq_rel(&work->word, WF_WORK_AGREES);
            return true;
        }
    } while (!wf_cas_acq_rel(&work->word, &word, word & ~(WF_WORK_STOP | WF_WORK_LATE)));
    return false;
}

static int run_hook(void *opaque, void *arg) {
    const struct hook *hook = opaque;
    (void)arg;
    return hook->fn(hook->arg);
}

int weft_work_pause_point(void) {
    struct wf_runner *runner = wf_runner_self();
    if (!runner || !runner->work)
        return -EPERM;
    weft_pool *pool = runner->pool;
    struct wf_work *work = runner->work;
    int status = 0;
    while (!status) {
        struct wf_waiter waiter;
        wf_lock_take(&pool->lock);
        if (!must_pause_locked(pool, work)) {
            bool is_cut =
                (wf_load_acquire(&work->word) & WF_WORK_FORCE) || (wf_load_relaxed(&pool->gate) & WF_GATE_DISPOSED);
            wf_lock_drop(&pool->lock);
            return is_cut ? -ECANCELED : 0;
        }
        status = wf_wait_locked(&waiter, &pool->lock, &pool->pausers, WEFT_NEVER, "pause");
    }
    return status;
}

/* A work that is to stop goes on to where it does. */
static bool must_pause_locked(weft_pool *pool, struct wf_work *work) {
    uint64_t word = wf_load_acquire(&work->word); /* pairs with whoever sets flags */
    const struct wf_terms *terms = wf_work_terms(work);
    if ((word & (WF_WORK_STOP | WF_WORK_FORCE)) || (wf_load_relaxed(&pool->gate) & WF_GATE_DISPOSED))
        return false;
    return wf_load_relaxed(&pool->is_paused) || (word & WF_WORK_PAUSE) || (terms && wf_group_is_paused_locked(terms));
}
