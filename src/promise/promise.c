/* SPDX-License-Identifier: MIT
 *
 * promise/promise.c - the cell: references, settling, waiting. Model: promise/promise.h.
 *
 * The pair: the state is stored with release after the outcome (A) and read with acquire before it (B). Those who were
 * woken read the outcome without the lock, which they may since it never changes again and they have a reference.
 *
 * The hook for unhandled rejections is one for the process, because a promise belongs to no runtime; it and its lock are the
 * only mutable globals here.
 */
#include "promise/promise.h"

#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "base/point.h"
#include "os/memory.h"
#include "os/report.h"
#include "wait/select.h"

static struct {
    struct wf_lock lock;
    void (*hook)(const weft_outcome *outcome, void *arg); /* under lock */
    void *arg;                                            /* under lock */
} promise_unhandled;

static int promise_settle_first(weft_promise *promise, const struct wf_settled *how);
static inline bool promise_settle_as(weft_promise *promise, const weft_outcome *outcome, void *value, bool is_quiet,
                                     struct wf_owned *owned, struct wf_settlement *settlement);
static void promise_abandon(weft_promise *promise);
static void promise_report(const weft_promise *promise);
static void promise_see(weft_promise *promise, weft_outcome *out);
static void promise_tell_outcome(weft_promise *promise, weft_outcome *out);
static void mark_handled_locked(weft_promise *promise);
static void outcome_copy(weft_outcome *to, const weft_outcome *from);
static void reaction_fire(struct wf_wait *wait);
static void settlement_append(struct wf_settlement *settlement, struct wf_reaction *reaction,
                              const weft_promise *source);

int weft_promise_new(weft_promise **out) {
    if (!out)
        return -EINVAL;
    weft_promise *promise = wf_promise_make(false);
    if (!promise)
        return -ENOMEM;
    *out = promise;
    return 0;
}

weft_promise *wf_promise_make(bool is_derived) {
    weft_promise *promise = wf_os_alloc(sizeof *promise);
    if (!promise)
        return NULL;
    wf_store_relaxed(&promise->references, 1);
    promise->is_committed = is_derived;
    return promise;
}

weft_promise *weft_promise_ref(weft_promise *promise) {
    if (promise)
        wf_fetch_add_relaxed(&promise->references, 1);
    return promise;
}

void weft_promise_unref(weft_promise *promise) {
    /* Release: what was done under this reference; acquire, by the last one: what was done under the others. */
    if (!promise || wf_fetch_sub_acq_rel(&promise->references, 1) > 1)
        return;
    if (wf_load_relaxed(&promise->state) == WEFT_PROMISE_PENDING) {
        promise_abandon(promise);
        if (wf_fetch_sub_acq_rel(&promise->references, 1) > 1)
            return; /* a follower looks at the outcome */
    }
    if (promise->outcome.state == WEFT_PROMISE_REJECTED && !promise->is_quiet &&
        !wf_load_relaxed(&promise->is_handled) && promise->rejection == WF_REJECTION_NONE)
        promise_report(promise);
    wf_owned_unref(promise->owned);
    if (promise->home)
        promise->home->release(promise);
    else
        wf_os_free(promise);
}

void wf_owned_unref(struct wf_owned *owned) {
    if (owned && wf_fetch_sub_acq_rel(&owned->references, 1) == 1) /* with itself: what others did is done */
        wf_os_free(owned);
}

/* Nobody can settle it any more, so those who depend on it are told, under one last reference. */
static void promise_abandon(weft_promise *promise) {
    struct wf_settlement settlement = {0};
    struct wf_settled how = wf_settled_error(-EPIPE, "nobody was left to settle the promise");
    how.is_quiet = true;
    wf_lock_take(&promise->lock); /* somebody without a reference, whom we are looking for, may be coming or going */
    for (struct wf_waiter *waiter = promise->waiters; waiter;
         waiter = waiter->next == promise->waiters ? NULL : waiter->next)
        if (!waiter->wait->fire)
            wf_fatal("the last reference to a promise was given back while somebody waits for it");
    wf_lock_drop(&promise->lock);
    wf_store_relaxed(&promise->references, 1);
    wf_promise_settle(promise, &how, &settlement);
    wf_settlement_run(&settlement);
}

static void promise_report(const weft_promise *promise) {
    wf_lock_take(&promise_unhandled.lock);
    void (*hook)(const weft_outcome *, void *) = promise_unhandled.hook;
    void *arg = promise_unhandled.arg;
    wf_lock_drop(&promise_unhandled.lock);
    if (hook)
        hook(&promise->outcome, arg);
    else
        wf_report("a promise was rejected and nobody looked: error %d%s%s", promise->outcome.error,
                  promise->outcome.text[0] ? ": " : "", promise->outcome.text);
}

void weft_promise_on_unhandled(void (*hook)(const weft_outcome *outcome, void *arg), void *arg) {
    wf_lock_take(&promise_unhandled.lock);
    promise_unhandled.hook = hook;
    promise_unhandled.arg = arg;
    wf_lock_drop(&promise_unhandled.lock);
}

int weft_promise_resolve(weft_promise *promise, void *value) {
    if (!promise)
        return -EINVAL;
    if (!wf_promise_commit(promise))
        return -EALREADY;
    struct wf_settlement settlement = {0};
    bool is_ours = wf_promise_fulfil(promise, value, NULL, &settlement);
    wf_settlement_run(&settlement);
    return is_ours ? 0 : -EALREADY; /* the end of its loop came first */
}

int weft_promise_reject(weft_promise *promise, int error, const char *text) {
    if (!promise || error >= 0)
        return -EINVAL;
    struct wf_settled how = wf_settled_error(error, text);
    return promise_settle_first(promise, &how);
}

struct wf_settled wf_settled_value(void *value) {
    return (struct wf_settled){.outcome = {.state = WEFT_PROMISE_RESOLVED, .value = value}};
}

struct wf_settled wf_settled_error(int error, const char *text) {
    struct wf_settled how = {.outcome = {.state = WEFT_PROMISE_REJECTED, .error = error}};
    if (text)
        strncpy(how.outcome.text, text, sizeof how.outcome.text - 1);
    return how;
}

static int promise_settle_first(weft_promise *promise, const struct wf_settled *how) {
    if (!wf_promise_commit(promise))
        return -EALREADY;
    struct wf_settlement settlement = {0};
    bool is_ours = wf_promise_settle(promise, how, &settlement);
    wf_settlement_run(&settlement);
    return is_ours ? 0 : -EALREADY;
}

bool wf_promise_commit(weft_promise *promise) {
    wf_lock_take(&promise->lock);
    bool is_first = !promise->is_committed && wf_load_relaxed(&promise->state) == WEFT_PROMISE_PENDING;
    promise->is_committed = true;
    wf_lock_drop(&promise->lock);
    return is_first;
}

bool wf_promise_settle(weft_promise *promise, const struct wf_settled *how, struct wf_settlement *settlement) {
    return promise_settle_as(promise, &how->outcome, how->outcome.value, how->is_quiet, how->owned, settlement);
}

bool wf_promise_fulfil(weft_promise *promise, void *value, struct wf_owned *owned, struct wf_settlement *settlement) {
    return promise_settle_as(promise, NULL, value, false, owned, settlement);
}

/* outcome may be NULL: resolved with the value. */
static inline bool promise_settle_as(weft_promise *promise, const weft_outcome *outcome, void *value, bool is_quiet,
                                     struct wf_owned *owned, struct wf_settlement *settlement) {
    WF_POINT("promise.before_settle");
    wf_context_release(promise);
    wf_lock_take(&promise->lock);
    if (WF_UNLIKELY(wf_load_relaxed(&promise->state) != WEFT_PROMISE_PENDING)) {
        WF_ASSERT(promise->home);
        wf_lock_drop(&promise->lock);
        wf_owned_unref(owned);
        return false;
    }
    bool is_rejected = outcome && outcome->state == WEFT_PROMISE_REJECTED;
    if (is_rejected) {
        outcome_copy(&promise->outcome, outcome);
    } else {
        promise->outcome.state = WEFT_PROMISE_RESOLVED;
        promise->outcome.value = value; /* the rest is empty from the beginning */
    }
    promise->is_quiet = is_quiet;
    promise->owned = owned;
    wf_store_release(&promise->state, promise->outcome.state); /* A: pairs with B */
    struct wf_waiter *first = promise->waiters ? wf_wait_take_all_locked(&promise->waiters, 0, settlement) : NULL;
    struct wf_follower *follower = promise->followers;
    promise->followers = NULL;
    for (struct wf_follower *next; follower; follower = next) {
        next = follower->next;
        follower->settled(follower, promise, settlement);
    }
    if (first)
        wf_store_relaxed(&promise->is_handled, 1); /* they will see it */
    bool is_unhandled = is_rejected && promise->home && !is_quiet && !wf_load_relaxed(&promise->is_handled);
    if (is_unhandled)
        promise->rejection = WF_REJECTION_LISTED;
    wf_lock_drop(&promise->lock);
    if (first) {
        settlement->source = promise;
        wf_wait_wake_chain(first);
    }
    if (promise->is_registered || is_unhandled)
        promise->home->settled(promise, is_unhandled);
    return true;
}

/* The text is most of it, and usually empty. */
static void outcome_copy(weft_outcome *to, const weft_outcome *from) {
    to->state = from->state;
    to->error = from->error;
    to->value = from->value;
    if (from->text[0])
        memcpy(to->text, from->text, sizeof to->text);
    else
        to->text[0] = 0;
}

/* Called by the settler, through wf_wait_wake_chain above. */
static void reaction_fire(struct wf_wait *wait) {
    struct wf_reaction *reaction = WF_CONTAINER(wait, struct wf_reaction, wait);
    struct wf_settlement *settlement = reaction->node.value;
    settlement_append(settlement, reaction, settlement->source);
}

/* All is copied, since the source may be gone when the reaction's turn comes. */
static void settlement_append(struct wf_settlement *settlement, struct wf_reaction *reaction,
                              const weft_promise *source) {
    reaction->source =
        (struct wf_settled){.outcome = source->outcome, .is_quiet = source->is_quiet, .owned = source->owned};
    if (source->owned)
        wf_fetch_add_relaxed(&source->owned->references, 1);
    reaction->next = NULL;
    if (settlement->first)
        settlement->last->next = reaction;
    else
        settlement->first = reaction;
    settlement->last = reaction;
}

void wf_promise_on(weft_promise *promise, struct wf_reaction *reaction, struct wf_settlement *settlement) {
    wf_wait_begin_callback(&reaction->wait, &reaction->node, reaction_fire);
    wf_lock_take(&promise->lock);
    mark_handled_locked(promise);
    bool is_settled = wf_load_relaxed(&promise->state) != WEFT_PROMISE_PENDING;
    if (!is_settled)
        wf_wait_link_locked(&reaction->node, &promise->lock, &promise->waiters);
    wf_lock_drop(&promise->lock);
    if (is_settled) {
        wf_context_acquire(promise);
        settlement_append(settlement, reaction, promise);
    }
}

static void mark_handled_locked(weft_promise *promise) {
    if (wf_load_relaxed(&promise->is_handled))
        return;
    wf_store_relaxed(&promise->is_handled, 1);
    if (WF_UNLIKELY(promise->rejection == WF_REJECTION_TOLD)) {
        promise->rejection = WF_REJECTION_LATE;
        promise->home->handled_late_locked(promise);
    }
}

void wf_promise_follow(weft_promise *promise, struct wf_follower *follower, struct wf_settlement *settlement) {
    WF_POINT("promise.before_follow");
    wf_lock_take(&promise->lock);
    mark_handled_locked(promise);
    if (wf_load_relaxed(&promise->state) != WEFT_PROMISE_PENDING) {
        wf_context_acquire(promise);
        follower->settled(follower, promise, settlement);
    } else {
        follower->next = NULL;
        if (promise->followers)
            promise->last_follower->next = follower;
        else
            promise->followers = follower;
        promise->last_follower = follower;
    }
    wf_lock_drop(&promise->lock);
}

void wf_settlement_put_off(struct wf_settlement *settlement, struct wf_follower *follower) {
    follower->next = NULL;
    if (settlement->late_first)
        settlement->late_last->next = follower;
    else
        settlement->late_first = follower;
    settlement->late_last = follower;
}

void wf_settlement_run(struct wf_settlement *settlement) {
    for (;;) {
        struct wf_reaction *reaction = settlement->first;
        struct wf_follower *follower = settlement->late_first;
        if (WF_UNLIKELY(reaction != NULL)) {
            settlement->first = reaction->next;
            reaction->react(reaction, settlement);
        } else if (WF_UNLIKELY(follower != NULL)) {
            settlement->late_first = follower->next;
            follower->late(follower, settlement);
        } else {
            return;
        }
    }
}

int weft_promise_await(weft_promise *promise, weft_outcome *out, weft_time deadline) {
    if (!promise)
        return -EINVAL;
    int status = wf_wait_enter(deadline);
    if (status)
        return status;
    if (wf_load_acquire(&promise->state) == WEFT_PROMISE_PENDING) { /* B */
        wf_lock_take(&promise->lock);
        if (wf_load_relaxed(&promise->state) == WEFT_PROMISE_PENDING) {
            struct wf_waiter waiter = {0};
            status = wf_wait_locked(&waiter, &promise->lock, &promise->waiters, deadline, "promise");
            if (status)
                return status;
        } else {
            wf_lock_drop(&promise->lock);
        }
    }
    promise_see(promise, out);
    return 0;
}

int weft_promise_poll(weft_promise *promise, weft_outcome *out) {
    if (!promise)
        return -EINVAL;
    if (wf_load_acquire(&promise->state) == WEFT_PROMISE_PENDING) /* B */
        return -EAGAIN;
    promise_see(promise, out);
    return 0;
}

void wf_promise_see(weft_promise *promise) {
    wf_lock_take(&promise->lock);
    mark_handled_locked(promise);
    wf_lock_drop(&promise->lock);
}

static void promise_see(weft_promise *promise, weft_outcome *out) {
    if (promise->home && !wf_load_relaxed(&promise->is_handled))
        wf_promise_see(promise);
    promise_tell_outcome(promise, out);
}

static void promise_tell_outcome(weft_promise *promise, weft_outcome *out) {
    wf_context_acquire(promise);
    if (!promise->home)
        wf_store_relaxed(&promise->is_handled, 1);
    if (out)
        outcome_copy(out, &promise->outcome);
}

/* As a case of select. */
static bool promise_case_begin(weft_case *entry, struct wf_lock **lock, struct wf_waiter ***queue) {
    weft_promise *promise = entry->object;
    if (!promise)
        return false;
    *lock = &promise->lock;
    *queue = &promise->waiters;
    return true;
}

static bool promise_case_attempt(weft_case *entry, struct wf_waiter **wakes) {
    weft_promise *promise = entry->object;
    (void)wakes;
    if (wf_load_relaxed(&promise->state) == WEFT_PROMISE_PENDING) /* under the lock */
        return false;
    mark_handled_locked(promise);
    promise_tell_outcome(promise, entry->value);
    return true;
}

static void promise_case_finish(weft_case *entry, struct wf_waiter *node) {
    (void)node;
    promise_see(entry->object, entry->value);
}

static const struct wf_case_kind promise_kind = {
    .name = "promise",
    .begin = promise_case_begin,
    .attempt = promise_case_attempt,
    .finish = promise_case_finish,
};

weft_case weft_on_promise(weft_promise *promise, weft_outcome *out) {
    return wf_case_make(&promise_kind, promise, 0, out);
}

void wf_promises_after_fork(void) {
    wf_lock_init(&promise_unhandled.lock);
}
