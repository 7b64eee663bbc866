/* SPDX-License-Identifier: MIT
 *
 * promise/then.c - what follows from a promise: handlers, adoption, and fibers whose result is a promise.
 *
 * A continuation is a reaction that starts a fiber for its handler and then waits in that fiber's queue of joiners, again as
 * a callback. So every way in which a fiber can end (return, exit, panic, no stack, dropped with its runtime) comes back as
 * one status, and settles the derived promise.
 *
 *     linked to the source --settled--> in a settlement --handler--> linked to the fiber --ended--> target is settled
 *                                              `--no handler, or no fiber to be had--> target is settled
 *
 * The handler's fiber reads the continuation while it runs; what starts it writes the parts of it that wait, and no others.
 *
 * A runtime is remembered by its number and the first generation of its records, which no two runtimes of one process have
 * in common; its address may be used again.
 */
#include <errno.h>

#include "base/assert.h"
#include "os/memory.h"
#include "promise/promise.h"

enum continuation_kind { KIND_THEN, KIND_CHAIN, KIND_FINALLY };

struct continuation {
    struct wf_reaction base; /* first: freed by wf_reaction_finish */
    enum continuation_kind kind;
    bool has_runtime;
    uint32_t runtime;
    uint32_t first_generation;
    union {
        void *(*plain)(void *value, void *arg);
        weft_promise *(*chained)(void *value, void *arg);
    } on_value;
    union {
        void *(*plain)(const weft_outcome *outcome, void *arg);
        weft_promise *(*chained)(const weft_outcome *outcome, void *arg);
    } on_error;
    void (*on_either)(void *arg);
    void *arg;
};

static struct continuation *continuation_make(enum continuation_kind kind, void *arg);
static int continuation_register(weft_promise *promise, weft_promise **out, struct continuation *continuation);
static void continuation_react(struct wf_reaction *reaction, struct wf_settlement *settlement);
static bool continuation_has_handler(const struct continuation *continuation);
static int continuation_start(struct continuation *continuation, struct wf_settlement *settlement);
static struct wf_fibers *continuation_enter(const struct continuation *continuation);
static void *promise_handler(void *opaque);
static void continuation_ended(struct wf_reaction *reaction, int status, void *result,
                               struct wf_settlement *settlement);
static void continuation_follow(struct wf_reaction *reaction, weft_promise *inner, struct wf_settlement *settlement);
static void follow_react(struct wf_reaction *reaction, struct wf_settlement *settlement);
static void async_ended(struct wf_reaction *reaction, int status, void *result, struct wf_settlement *settlement);
static struct wf_settled settled_by_fiber(int status, void *result);
static void watch_fire(struct wf_wait *wait);

int weft_promise_then(weft_promise *promise, weft_promise **out, void *(*on_value)(void *value, void *arg),
                      void *(*on_error)(const weft_outcome *outcome, void *arg), void *arg) {
    if (!promise)
        return -EINVAL;
    struct continuation *continuation = continuation_make(KIND_THEN, arg);
    if (!continuation)
        return -ENOMEM;
    continuation->on_value.plain = on_value;
    continuation->on_error.plain = on_error;
    return continuation_register(promise, out, continuation);
}

int weft_promise_chain(weft_promise *promise, weft_promise **out, weft_promise *(*on_value)(void *value, void *arg),
                       weft_promise *(*on_error)(const weft_outcome *outcome, void *arg), void *arg) {
    if (!promise)
        return -EINVAL;
    struct continuation *continuation = continuation_make(KIND_CHAIN, arg);
    if (!continuation)
        return -ENOMEM;
    continuation->on_value.chained = on_value;
    continuation->on_error.chained = on_error;
    return continuation_register(promise, out, continuation);
}

int weft_promise_finally(weft_promise *promise, weft_promise **out, void (*fn)(void *arg), void *arg) {
    if (!promise || !fn)
        return -EINVAL;
    struct continuation *continuation = continuation_make(KIND_FINALLY, arg);
    if (!continuation)
        return -ENOMEM;
    continuation->on_either = fn;
    return continuation_register(promise, out, continuation);
}

static struct continuation *continuation_make(enum continuation_kind kind, void *arg) {
    struct continuation *continuation = wf_os_alloc(sizeof *continuation);
    if (!continuation)
        return NULL;
    struct wf_fiber_worker *worker = wf_worker_self();
    continuation->kind = kind;
    continuation->arg = arg;
    continuation->has_runtime = worker != NULL;
    if (worker) {
        continuation->runtime = worker->fibers->runtime;
        continuation->first_generation = worker->fibers->first_generation;
    }
    continuation->base.react = continuation_react;
    continuation->base.ended = continuation_ended;
    return continuation;
}

static int continuation_register(weft_promise *promise, weft_promise **out, struct continuation *continuation) {
    struct wf_settlement settlement = {0};
    weft_promise *target = wf_promise_make(true);
    if (!target) {
        wf_os_free(continuation);
        return -ENOMEM;
    }
    continuation->base.target = target;
    if (out)
        *out = weft_promise_ref(target);
    wf_promise_on(promise, &continuation->base, &settlement);
    wf_settlement_run(&settlement);
    return 0;
}

static void continuation_react(struct wf_reaction *reaction, struct wf_settlement *settlement) {
    struct continuation *continuation = (struct continuation *)reaction;
    if (!continuation_has_handler(continuation)) {
        follow_react(reaction, settlement);
        return;
    }
    int error = continuation_start(continuation, settlement);
    if (error) {
        struct wf_settled how = wf_settled_error(error, "no fiber could be had for a continuation");
        wf_reaction_finish(reaction, &how, settlement);
    }
}

static bool continuation_has_handler(const struct continuation *continuation) {
    bool is_resolved = continuation->base.source.outcome.state == WEFT_PROMISE_RESOLVED;
    switch (continuation->kind) {
    case KIND_THEN:
        return is_resolved ? continuation->on_value.plain != NULL : continuation->on_error.plain != NULL;
    case KIND_CHAIN:
        return is_resolved ? continuation->on_value.chained != NULL : continuation->on_error.chained != NULL;
    default:
        return true;
    }
}

/* Once the fiber is spawned the continuation belongs to its end, which may have come already. */
static int continuation_start(struct continuation *continuation, struct wf_settlement *settlement) {
    struct wf_fibers *fibers = continuation_enter(continuation);
    weft_fiber id;
    if (!fibers)
        return -ESRCH;
    int error = -ECANCELED;
    if (!wf_load_acquire(&fibers->engine.is_stopping)) /* pairs with wf_engine_stop */
        error = wf_fiber_spawn(fibers, NULL, promise_handler, continuation, false, &id);
    if (!error)
        wf_reaction_watch(&continuation->base, fibers, id, settlement);
    wf_runtimes_leave(fibers);
    return error;
}

static struct wf_fibers *continuation_enter(const struct continuation *continuation) {
    if (!continuation->has_runtime)
        return wf_runtimes_enter_this(NULL);
    struct wf_fibers *fibers = wf_runtimes_enter((weft_fiber){(uint64_t)continuation->runtime << WF_INDEX_BITS});
    if (!fibers || fibers->first_generation == continuation->first_generation)
        return fibers;
    wf_runtimes_leave(fibers); /* a later one of the same number */
    return NULL;
}

static void *promise_handler(void *opaque) {
    wf_fiber_set_indirect();
    struct continuation *continuation = opaque;
    const weft_outcome *outcome = &continuation->base.source.outcome;
    bool is_resolved = outcome->state == WEFT_PROMISE_RESOLVED;
    void *arg = continuation->arg;
    switch (continuation->kind) {
    case KIND_THEN:
        return is_resolved ? continuation->on_value.plain(outcome->value, arg)
                           : continuation->on_error.plain(outcome, arg);
    case KIND_CHAIN:
        return is_resolved ? continuation->on_value.chained(outcome->value, arg)
                           : continuation->on_error.chained(outcome, arg);
    default:
        continuation->on_either(arg);
        return NULL;
    }
}

static void continuation_ended(struct wf_reaction *reaction, int status, void *result,
                               struct wf_settlement *settlement) {
    struct continuation *continuation = (struct continuation *)reaction;
    if (status == 0 && continuation->kind == KIND_FINALLY) {
        follow_react(reaction, settlement);
    } else if (status == 0 && continuation->kind == KIND_CHAIN && result) {
        continuation_follow(reaction, result, settlement);
    } else {
        struct wf_settled how = settled_by_fiber(status, result);
        wf_reaction_finish(reaction, &how, settlement);
    }
}

/* The reaction serves once more, on the promise that the handler returned. */
static void continuation_follow(struct wf_reaction *reaction, weft_promise *inner, struct wf_settlement *settlement) {
    if (inner == reaction->target) {
        struct wf_settled how = wf_settled_error(-EDEADLK, "a continuation returned the promise that follows from it");
        wf_reaction_finish(reaction, &how, settlement);
    } else {
        wf_owned_unref(reaction->source.owned);
        reaction->react = follow_react;
        wf_promise_on(inner, reaction, settlement);
    }
    weft_promise_unref(inner);
}

int weft_promise_adopt(weft_promise *promise, weft_promise *other) {
    if (!promise || !other)
        return -EINVAL;
    if (promise == other)
        return -EDEADLK;
    struct wf_reaction *reaction = wf_os_alloc(sizeof *reaction);
    if (!reaction)
        return -ENOMEM;
    if (!wf_promise_commit(promise)) {
        wf_os_free(reaction);
        return -EALREADY;
    }
    struct wf_settlement settlement = {0};
    reaction->target = weft_promise_ref(promise);
    reaction->react = follow_react;
    wf_promise_on(other, reaction, &settlement);
    wf_settlement_run(&settlement);
    return 0;
}

static void follow_react(struct wf_reaction *reaction, struct wf_settlement *settlement) {
    struct wf_settled how = reaction->source;
    wf_reaction_finish(reaction, &how, settlement);
}

void wf_reaction_finish(struct wf_reaction *reaction, const struct wf_settled *how, struct wf_settlement *settlement) {
    weft_promise *target = reaction->target;
    if (reaction->source.owned != how->owned)
        wf_owned_unref(reaction->source.owned);
    wf_os_free(reaction);
    wf_promise_settle(target, how, settlement);
    weft_promise_unref(target);
}

int weft_async(weft_promise **out, weft_fn fn, void *arg) {
    if (!out || !fn)
        return -EINVAL;
    struct wf_fibers *fibers = wf_runtimes_enter_this(NULL);
    struct wf_settlement settlement = {0};
    weft_fiber id;
    if (!fibers)
        return -ESRCH;
    int error = -ENOMEM;
    weft_promise *promise = wf_promise_make(true);
    struct wf_reaction *reaction = wf_os_alloc(sizeof *reaction);
    if (!promise || !reaction)
        goto free_both;
    error = wf_load_acquire(&fibers->engine.is_stopping) ? -ECANCELED /* pairs with wf_engine_stop */
                                                         : wf_fiber_spawn(fibers, NULL, fn, arg, false, &id);
    if (error)
        goto free_both;
    *out = promise;
    reaction->target = weft_promise_ref(promise);
    reaction->ended = async_ended;
    wf_reaction_watch(reaction, fibers, id, &settlement);
    wf_settlement_run(&settlement);
    wf_runtimes_leave(fibers);
    return 0;

free_both:
    wf_os_free(reaction);
    wf_os_free(promise);
    wf_runtimes_leave(fibers);
    return error;
}

static void async_ended(struct wf_reaction *reaction, int status, void *result, struct wf_settlement *settlement) {
    struct wf_settled how = settled_by_fiber(status, result);
    wf_reaction_finish(reaction, &how, settlement);
}

static struct wf_settled settled_by_fiber(int status, void *result) {
    switch (status) {
    case 0:
        return wf_settled_value(result);
    case -EOWNERDEAD:
        return wf_settled_error(status, "the fiber ended by a panic");
    case -ENOMEM:
        return wf_settled_error(status, "no memory for the stack of the fiber");
    case -ECANCELED:
        return wf_settled_error(status, "the runtime ended and abandoned the fiber");
    default:
        return wf_settled_error(status, "the fiber was detached");
    }
}

void wf_reaction_watch(struct wf_reaction *reaction, struct wf_fibers *fibers, weft_fiber id,
                       struct wf_settlement *settlement) {
    struct wf_fiber *fiber = wf_record_lock(fibers, id);
    int status = -ESTALE;
    void *result = NULL;
    if (fiber && wf_load_relaxed(&fiber->task.state) != WF_FIBER_ENDED) {
        wf_wait_begin_callback(&reaction->wait, &reaction->node, watch_fire);
        wf_wait_link_locked(&reaction->node, &fiber->lock, &fiber->waiters);
        wf_lock_drop(&fiber->lock);
        return;
    }
    if (fiber) {
        status = fiber->parent & WF_FLAG_PANICKED ? -EOWNERDEAD : fiber->parent & WF_FLAG_NO_STACK ? -ENOMEM : 0;
        result = fiber->value;
        wf_context_acquire(fiber);
        wf_record_count_freed(fibers);
        wf_record_free_locked(fibers, fiber);
    }
    reaction->ended(reaction, status, result, settlement);
}

/* Called at the end of the fiber, on its stack, or when its runtime drops it. */
static void watch_fire(struct wf_wait *wait) {
    struct wf_reaction *reaction = WF_CONTAINER(wait, struct wf_reaction, wait);
    struct wf_settlement settlement = {0};
    reaction->ended(reaction, reaction->node.status, reaction->node.value, &settlement);
    wf_settlement_run(&settlement);
}
