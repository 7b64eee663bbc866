/* SPDX-License-Identifier: MIT
 *
 * loop/reaction.c - how one promise follows from another: then, catch, finally, adoption, thenables.
 *
 * A reaction is the part of a promise that settles it. It is told of its source under the source's lock, notes the outcome and
 * goes into the microtasks of its loop; what it does there is the function of its job. One line is one microtask:
 *
 *     then        react_run: the handler, its reply settles
 *     reply is a promise, resolve_with
 *                 adopt_run: registers with the other; once that is settled
 *                 adopted_run: settles, after relay_run on the other's loop if it is another one
 *     thenable    thenable_run: calls it with a resolver
 *     finally     react_run: the handler; hop_run twice, as JavaScript takes two more to get the value through, the second of
 *                 which settles. If the reply is a promise: finally_run once that is settled, then hop_run, which settles
 *
 * A job that finds no loop (null), or that no loop takes any more, rejects with -EPIPE. The reaction's reference to its own
 * promise goes last.
 */
#include <errno.h>
#include <stdio.h>

#include "base/assert.h"
#include "base/point.h"
#include "fiber/fiber.h"
#include "loop/promise.h"

static int reaction_register(weft_loop *loop, weft_promise *promise, weft_promise **out, struct wf_loop_promise *new);
static void note_outcome(struct wf_loop_promise *promise, weft_promise *source);
static void forget_outcome(struct wf_loop_promise *promise);
static void react_settled(struct wf_follower *follower, weft_promise *source, struct wf_settlement *settlement);
static void reaction_refused(struct wf_follower *follower, struct wf_settlement *settlement);
static void react_run(weft_loop *loop, struct wf_loop_job *job);
static void handler_replied(struct wf_loop_promise *promise, const weft_reply *reply);
static void pass_through(struct wf_loop_promise *promise, struct wf_settlement *settlement);
static void reply_to_finally(struct wf_loop_promise *promise, const weft_reply *reply,
                             struct wf_settlement *settlement);
static void finally_settled(struct wf_follower *follower, weft_promise *source, struct wf_settlement *settlement);
static void finally_run(weft_loop *loop, struct wf_loop_job *job);
static void hop_run(weft_loop *loop, struct wf_loop_job *job);
static void hop(struct wf_loop_promise *promise, uint8_t hops, struct wf_settlement *settlement);
static void adopt(struct wf_loop_promise *promise, weft_promise *other, struct wf_settlement *settlement);
static void adopt_run(weft_loop *loop, struct wf_loop_job *job);
static void adopt_settled(struct wf_follower *follower, weft_promise *source, struct wf_settlement *settlement);
static void relay_run(weft_loop *loop, struct wf_loop_job *job);
static void adopted_run(weft_loop *loop, struct wf_loop_job *job);
static void take_thenable(struct wf_loop_promise *promise, weft_thenable then, void *arg,
                          struct wf_settlement *settlement);
static void thenable_run(weft_loop *loop, struct wf_loop_job *job);
static bool resolver_take(weft_resolver resolver);

int weft_loop_promise(weft_loop *loop, weft_promise **out) {
    if (!loop || !out)
        return -EINVAL;
    struct wf_loop_home *home = wf_loop_home(loop);
    struct wf_loop_promise *promise = home ? wf_loop_promise_make(home, false, 1) : NULL;
    if (!promise)
        return -ENOMEM;
    if (!wf_loop_promise_register(promise)) {
        struct wf_settled how = wf_settled_by_end();
        struct wf_settlement settlement = {0};
        wf_loop_promise_finish(promise, &how, &settlement);
        return -EPIPE;
    }
    *out = &promise->cell;
    return 0;
}

int weft_loop_then(weft_loop *loop, weft_promise *promise, weft_promise **out, weft_on_value on_value,
                   weft_on_error on_error, void *arg) {
    if (WF_UNLIKELY(!loop || !promise))
        return -EINVAL;
    struct wf_loop_home *home = wf_loop_home(loop);
    struct wf_loop_promise *derived = home ? wf_loop_promise_make(home, true, out ? 2 : 1) : NULL;
    if (!derived)
        return -ENOMEM;
    derived->call.on_value = on_value;
    derived->on_error = on_error;
    derived->arg = arg;
    return reaction_register(loop, promise, out, derived);
}

int weft_loop_catch(weft_loop *loop, weft_promise *promise, weft_promise **out, weft_on_error on_error, void *arg) {
    return weft_loop_then(loop, promise, out, NULL, on_error, arg);
}

int weft_loop_finally(weft_loop *loop, weft_promise *promise, weft_promise **out, weft_loop_work fn, void *arg) {
    if (!loop || !promise || !fn)
        return -EINVAL;
    struct wf_loop_home *home = wf_loop_home(loop);
    struct wf_loop_promise *derived = home ? wf_loop_promise_make(home, true, out ? 2 : 1) : NULL;
    if (!derived)
        return -ENOMEM;
    derived->is_finally = true;
    derived->call.fn = fn;
    derived->arg = arg;
    return reaction_register(loop, promise, out, derived);
}

static int reaction_register(weft_loop *loop, weft_promise *promise, weft_promise **out, struct wf_loop_promise *new) {
    struct wf_settlement settlement = {0};
    const struct wf_loop_promise *source = wf_loop_promise_of(promise);
    (void)loop;
    if (out)
        *out = &new->cell;
    new->follower.settled = react_settled;
    new->follower.late = reaction_refused;
    bool is_refused = (!source || source->home != new->home) && !wf_loop_promise_register(new);
    if (is_refused) {
        wf_promise_see(promise); /* it has a handler, though none that can run */
        reaction_refused(&new->follower, &settlement);
        return 0;
    }
    wf_promise_follow(promise, &new->follower, &settlement);
    wf_settlement_run(&settlement);
    return 0;
}

/* With the source's lock. */
static void react_settled(struct wf_follower *follower, weft_promise *source, struct wf_settlement *settlement) {
    struct wf_loop_promise *promise = WF_CONTAINER(follower, struct wf_loop_promise, follower);
    note_outcome(promise, source);
    promise->job.run = react_run;
    if (wf_loop_home_post(promise->home, &promise->job) != 0)
        wf_settlement_put_off(settlement, follower);
}

static void note_outcome(struct wf_loop_promise *promise, weft_promise *source) {
    if (source->outcome.state == WEFT_PROMISE_REJECTED) {
        promise->source = weft_promise_ref(source);
        return;
    }
    promise->value = source->outcome.value;
    promise->owned = source->owned;
    if (source->owned)
        wf_fetch_add_relaxed(&source->owned->references, 1);
}

static void forget_outcome(struct wf_loop_promise *promise) {
    weft_promise_unref(promise->source);
    weft_promise_unref(promise->replaced);
    wf_owned_unref(promise->owned);
    promise->source = promise->replaced = NULL;
    promise->owned = NULL;
}

static void reaction_refused(struct wf_follower *follower, struct wf_settlement *settlement) {
    struct wf_settled how = wf_settled_by_end();
    struct wf_loop_promise *promise = WF_CONTAINER(follower, struct wf_loop_promise, follower);
    forget_outcome(promise);
    wf_loop_promise_finish(promise, &how, settlement);
}

void wf_loop_promise_finish(struct wf_loop_promise *promise, const struct wf_settled *how,
                            struct wf_settlement *settlement) {
    wf_promise_settle(&promise->cell, how, settlement);
    weft_promise_unref(&promise->cell);
}

/* The end of every job that was dropped, or that no loop took. */
static void reaction_dropped(struct wf_loop_promise *promise) {
    struct wf_settlement settlement = {0};
    reaction_refused(&promise->follower, &settlement);
    wf_settlement_run(&settlement);
}

static weft_reply reply_of_handler(const struct wf_loop_promise *promise) {
    if (promise->is_finally)
        return promise->call.fn(promise->arg);
    if (promise->source)
        return promise->on_error(&promise->source->outcome, promise->arg);
    return promise->call.on_value(promise->value, promise->arg);
}

/* Every job is inside a guarded call already: if the handler panics, that is left, and wf_loop_promise_panicked does the rest. */
static void react_run(weft_loop *loop, struct wf_loop_job *job) {
    struct wf_loop_promise *promise = WF_CONTAINER(job, struct wf_loop_promise, job);
    if (WF_UNLIKELY(!loop)) {
        reaction_dropped(promise);
        return;
    }
    bool has_handler =
        promise->is_finally || (promise->source ? promise->on_error != NULL : promise->call.on_value != NULL);
    if (!has_handler) {
        struct wf_settlement settlement = {0};
        pass_through(promise, &settlement);
        wf_settlement_run(&settlement);
        return;
    }
    struct wf_loop_promise *outer = loop->reacting;
    loop->reacting = promise;
    weft_reply reply = reply_of_handler(promise);
    loop->reacting = outer;
    handler_replied(promise, &reply);
}

static void handler_replied(struct wf_loop_promise *promise, const weft_reply *reply) {
    struct wf_settlement settlement = {0};
    if (promise->is_finally) {
        reply_to_finally(promise, reply, &settlement);
    } else {
        if (promise->source || promise->owned)
            forget_outcome(promise);
        wf_loop_promise_reply(promise, reply, &settlement);
    }
    wf_settlement_run(&settlement);
}

void wf_loop_promise_dropped(struct wf_loop_promise *promise) {
    reaction_dropped(promise);
}

void wf_loop_promise_panicked(struct wf_loop_promise *promise, const char *message) {
    weft_reply reply = weft_reply_error(-EOWNERDEAD, message);
    handler_replied(promise, &reply);
}

/* The outcome of the source, or of what a handler of finally returned in its place. */
static void pass_through(struct wf_loop_promise *promise, struct wf_settlement *settlement) {
    if (!promise->source) {
        struct wf_owned *owned = promise->owned;
        promise->owned = NULL; /* with its reference */
        wf_promise_fulfil(&promise->cell, promise->value, owned, settlement);
        weft_promise_unref(&promise->cell);
        return;
    }
    weft_promise *source = promise->source;
    struct wf_settled how = {.outcome = source->outcome, .is_quiet = source->is_quiet, .owned = source->owned};
    if (how.owned)
        wf_fetch_add_relaxed(&how.owned->references, 1);
    forget_outcome(promise);
    wf_loop_promise_finish(promise, &how, settlement);
}

void wf_loop_promise_reply(struct wf_loop_promise *promise, const weft_reply *reply, struct wf_settlement *settlement) {
    struct wf_settled how;
    switch (reply->kind) {
    case WEFT_REPLY_VALUE:
        wf_promise_fulfil(&promise->cell, reply->value, NULL, settlement);
        weft_promise_unref(&promise->cell);
        return;
    case WEFT_REPLY_FOLLOW:
        adopt(promise, reply->value, settlement);
        return;
    case WEFT_REPLY_THENABLE:
        take_thenable(promise, reply->how.then, reply->value, settlement);
        return;
    default:
        how = wf_settled_error(reply->error < 0 ? reply->error : -EINVAL, reply->how.text);
    }
    wf_loop_promise_finish(promise, &how, settlement);
}

struct reply_call {
    weft_loop_work fn;
    void *arg;
    weft_reply reply;
};

static void call_for_reply(void *opaque) {
    struct reply_call *call = opaque;
    call->reply = call->fn(call->arg);
}

weft_reply wf_loop_reply_of(weft_loop_work fn, void *arg, char *buffer, size_t size) {
    struct reply_call call = {.fn = fn, .arg = arg};
    if (wf_try_contain(call_for_reply, &call, buffer, size, NULL))
        call.reply = weft_reply_error(-EOWNERDEAD, buffer);
    return call.reply;
}

int weft_loop_try(weft_loop *loop, weft_promise **out, weft_loop_work fn, void *arg) {
    if (!loop || !out || !fn)
        return -EINVAL;
    weft_promise *made;
    int error = weft_loop_promise(loop, &made);
    if (error)
        return error;
    char message[WF_LOOP_MESSAGE];
    struct wf_settlement settlement = {0};
    wf_promise_commit(made);
    weft_reply reply = wf_loop_reply_of(fn, arg, message, sizeof message);
    *out = weft_promise_ref(made);
    wf_loop_promise_reply((struct wf_loop_promise *)made, &reply, &settlement);
    wf_settlement_run(&settlement);
    return 0;
}

static void reply_to_finally(struct wf_loop_promise *promise, const weft_reply *reply,
                             struct wf_settlement *settlement) {
    weft_promise *inner = reply->value;
    struct wf_loop_promise *made;
    weft_reply failed = weft_reply_error(-EINVAL, "a handler returned no promise");
    switch (reply->kind) {
    case WEFT_REPLY_VALUE:
        hop(promise, 2, settlement);
        return;
    case WEFT_REPLY_THENABLE:
        made = wf_loop_promise_make(promise->home, true, 2);
        if (made)
            take_thenable(made, reply->how.then, reply->value, settlement);
        else
            failed = weft_reply_error(-ENOMEM, "no memory for the promise of a thenable");
        inner = made ? &made->cell : NULL;
        break;
    case WEFT_REPLY_FOLLOW:
        break;
    default:
        failed = *reply;
        inner = NULL;
    }
    if (!inner) {
        forget_outcome(promise);
        wf_loop_promise_reply(promise, &failed, settlement);
    } else if (!wf_loop_promise_register(promise)) {
        reaction_refused(&promise->follower, settlement);
    } else {
        promise->follower.settled = finally_settled;
        wf_promise_follow(inner, &promise->follower, settlement);
    }
    weft_promise_unref(inner);
}

/* With the inner promise's lock. */
static void finally_settled(struct wf_follower *follower, weft_promise *source, struct wf_settlement *settlement) {
    struct wf_loop_promise *promise = WF_CONTAINER(follower, struct wf_loop_promise, follower);
    if (source->outcome.state == WEFT_PROMISE_REJECTED)
        promise->replaced = weft_promise_ref(source);
    promise->job.run = finally_run;
    if (wf_loop_home_post(promise->home, &promise->job) != 0)
        wf_settlement_put_off(settlement, follower);
}

static void finally_run(weft_loop *loop, struct wf_loop_job *job) {
    struct wf_loop_promise *promise = WF_CONTAINER(job, struct wf_loop_promise, job);
    if (!loop) {
        reaction_dropped(promise);
        return;
    }
    struct wf_settlement settlement = {0};
    weft_promise *replaced = promise->replaced;
    if (replaced) {
        promise->replaced = NULL;
        forget_outcome(promise);
        promise->source = replaced;
    }
    hop(promise, 1, &settlement);
    wf_settlement_run(&settlement);
}

static void hop(struct wf_loop_promise *promise, uint8_t hops, struct wf_settlement *settlement) {
    promise->hops = hops;
    promise->job.run = hop_run;
    if (wf_loop_home_post(promise->home, &promise->job) != 0)
        reaction_refused(&promise->follower, settlement);
}

static void hop_run(weft_loop *loop, struct wf_loop_job *job) {
    struct wf_loop_promise *promise = WF_CONTAINER(job, struct wf_loop_promise, job);
    if (!loop) {
        reaction_dropped(promise);
        return;
    }
    struct wf_settlement settlement = {0};
    if (promise->hops > 1)
        hop(promise, promise->hops - 1, &settlement);
    else
        pass_through(promise, &settlement);
    wf_settlement_run(&settlement);
}

/* By the reaction, with its reference; the reference to the other is used up. */
static void adopt(struct wf_loop_promise *promise, weft_promise *other, struct wf_settlement *settlement) {
    struct wf_settled how;
    if (!other || other == &promise->cell) {
        how = other ? wf_settled_error(-EDEADLK, "a promise was to become what it becomes itself")
                    : wf_settled_error(-EINVAL, "a handler returned no promise");
        wf_loop_promise_finish(promise, &how, settlement);
        weft_promise_unref(other);
        return;
    }
    promise->follower.late = reaction_refused;
    promise->source = other;
    promise->job.run = adopt_run;
    if (!wf_loop_promise_register(promise) || wf_loop_home_post(promise->home, &promise->job) != 0)
        reaction_refused(&promise->follower, settlement);
}

static void adopt_run(weft_loop *loop, struct wf_loop_job *job) {
    struct wf_loop_promise *promise = WF_CONTAINER(job, struct wf_loop_promise, job);
    if (!loop) {
        reaction_dropped(promise);
        return;
    }
    struct wf_settlement settlement = {0};
    weft_promise *other = promise->source;
    promise->source = NULL;
    promise->follower.settled = adopt_settled;
    wf_promise_follow(other, &promise->follower, &settlement);
    weft_promise_unref(other);
    wf_settlement_run(&settlement);
}

/* With the other's lock. Through its owner too, if it has one: what that has to do before comes before. */
static void adopt_settled(struct wf_follower *follower, weft_promise *source, struct wf_settlement *settlement) {
    struct wf_loop_promise *promise = WF_CONTAINER(follower, struct wf_loop_promise, follower);
    const struct wf_loop_promise *other = wf_loop_promise_of(source);
    note_outcome(promise, source);
    promise->job.run = relay_run;
    if (other && other->home != promise->home && wf_loop_home_post(other->home, &promise->job) == 0)
        return;
    promise->job.run = adopted_run;
    if (wf_loop_home_post(promise->home, &promise->job) != 0)
        wf_settlement_put_off(settlement, follower);
}

/* On the other's loop, or dropped by it, which makes no difference. */
static void relay_run(weft_loop *loop, struct wf_loop_job *job) {
    struct wf_loop_promise *promise = WF_CONTAINER(job, struct wf_loop_promise, job);
    (void)loop;
    WF_POINT("loop.before_relay");
    promise->job.run = adopted_run;
    if (wf_loop_home_post(promise->home, &promise->job) != 0)
        reaction_dropped(promise);
}

static void adopted_run(weft_loop *loop, struct wf_loop_job *job) {
    struct wf_loop_promise *promise = WF_CONTAINER(job, struct wf_loop_promise, job);
    if (!loop) {
        reaction_dropped(promise);
        return;
    }
    struct wf_settlement settlement = {0};
    pass_through(promise, &settlement);
    wf_settlement_run(&settlement);
}

int weft_loop_resolve_with(weft_promise *promise, weft_promise *other) {
    struct wf_loop_promise *mine = promise ? wf_loop_promise_of(promise) : NULL;
    if (!mine || !other)
        return -EINVAL;
    if (!wf_promise_commit(promise))
        return -EALREADY;
    struct wf_settlement settlement = {0};
    weft_promise_ref(promise);
    adopt(mine, weft_promise_ref(other), &settlement);
    wf_settlement_run(&settlement);
    return promise == other ? -EDEADLK : 0;
}

int weft_loop_resolve_thenable(weft_promise *promise, weft_thenable then, void *arg) {
    struct wf_loop_promise *mine = promise ? wf_loop_promise_of(promise) : NULL;
    if (!mine || !then)
        return -EINVAL;
    if (!wf_promise_commit(promise))
        return -EALREADY;
    struct wf_settlement settlement = {0};
    weft_promise_ref(promise);
    take_thenable(mine, then, arg, &settlement);
    wf_settlement_run(&settlement);
    return 0;
}

/* By the reaction, with its reference. */
static void take_thenable(struct wf_loop_promise *promise, weft_thenable then, void *arg,
                          struct wf_settlement *settlement) {
    if (!then) {
        struct wf_settled how = wf_settled_error(-EINVAL, "a thenable has no function");
        wf_loop_promise_finish(promise, &how, settlement);
        return;
    }
    promise->follower.late = reaction_refused;
    promise->call.then = then;
    promise->arg = arg;
    promise->job.run = thenable_run;
    if (!wf_loop_promise_register(promise) || wf_loop_home_post(promise->home, &promise->job) != 0)
        reaction_refused(&promise->follower, settlement);
}

struct thenable_call {
    weft_thenable then;
    weft_resolver resolver;
    void *arg;
};

static void call_thenable(void *opaque) {
    const struct thenable_call *call = opaque;
    call->then(call->resolver, call->arg);
}

/* From the call on, the reaction's place is that of whoever uses the resolver. */
static void thenable_run(weft_loop *loop, struct wf_loop_job *job) {
    struct wf_loop_promise *promise = WF_CONTAINER(job, struct wf_loop_promise, job);
    if (!loop) {
        reaction_dropped(promise);
        return;
    }
    char message[WF_LOOP_MESSAGE];
    struct thenable_call call = {promise->call.then, {.promise = &promise->cell}, promise->arg};
    wf_lock_take(&promise->cell.lock);
    call.resolver.ticket = ++promise->ticket;
    promise->is_ticket_open = true;
    wf_lock_drop(&promise->cell.lock);
    if (wf_try_contain(call_thenable, &call, message, sizeof message, NULL))
        weft_resolver_reject(call.resolver, -EOWNERDEAD, message);
    weft_promise_unref(&promise->cell);
}

static bool resolver_take(weft_resolver resolver) {
    struct wf_loop_promise *promise = (struct wf_loop_promise *)resolver.promise;
    wf_lock_take(&promise->cell.lock);
    bool is_first = promise->is_ticket_open && promise->ticket == resolver.ticket &&
                    wf_load_relaxed(&promise->cell.state) == WEFT_PROMISE_PENDING;
    if (is_first)
        promise->is_ticket_open = false;
    wf_lock_drop(&promise->cell.lock);
    return is_first;
}

static int resolver_settle(weft_resolver resolver, const struct wf_settled *how) {
    if (!resolver_take(resolver))
        return -EALREADY;
    struct wf_settlement settlement = {0};
    bool is_ours = wf_promise_settle(resolver.promise, how, &settlement);
    wf_settlement_run(&settlement);
    return is_ours ? 0 : -EALREADY;
}

int weft_resolver_resolve(weft_resolver resolver, void *value) {
    if (!resolver.promise || !wf_loop_promise_of(resolver.promise))
        return -EINVAL;
    struct wf_settled how = wf_settled_value(value);
    return resolver_settle(resolver, &how);
}

int weft_resolver_reject(weft_resolver resolver, int error, const char *text) {
    if (!resolver.promise || !wf_loop_promise_of(resolver.promise) || error >= 0)
        return -EINVAL;
    struct wf_settled how = wf_settled_error(error, text);
    return resolver_settle(resolver, &how);
}

int weft_resolver_resolve_with(weft_resolver resolver, weft_promise *other) {
    if (!resolver.promise || !other || !wf_loop_promise_of(resolver.promise))
        return -EINVAL;
    if (!resolver_take(resolver))
        return -EALREADY;
    struct wf_settlement settlement = {0};
    weft_promise_ref(resolver.promise);
    adopt((struct wf_loop_promise *)resolver.promise, weft_promise_ref(other), &settlement);
    wf_settlement_run(&settlement);
    return resolver.promise == other ? -EDEADLK : 0;
}
