/* SPDX-License-Identifier: MIT
 *
 * promise/combine.c - all, all_settled, any, race: one promise out of many.
 *
 * One block holds a reaction for every input and the array of results, so that one allocation decides whether the call
 * succeeds. Inputs may be settled by several threads at once:
 *
 *   target      whoever exchanges it for NULL settles it, with the reference that comes with it; later results find NULL and
 *               are ignored
 *   remaining   counts down inputs that have put their result into the array; whoever brings it to 0 has all of them (A: one
 *               read-modify-write that releases its own result and acquires those of the others)
 *   references  one for each reaction, one for each promise whose value is the array, one for the call that registers
 *
 * Known limit: what an input's value points into, if that is the array of another combinator, is not held by ours.
 */
#include <errno.h>
#include <stdio.h>

#include "base/assert.h"
#include "os/memory.h"
#include "promise/promise.h"

enum combine_kind { COMBINE_ALL, COMBINE_ALL_SETTLED, COMBINE_ANY, COMBINE_RACE };

struct combine {
    struct wf_owned owned; /* first */
    enum combine_kind kind;
    _Atomic uint64_t remaining;
    _Atomic(weft_promise *) target;
    size_t count;
    void **values;          /* of all; in this block, as the next one */
    weft_outcome *outcomes; /* of all_settled and any */
    struct wf_reaction reactions[];
};

static int combine_promises(enum combine_kind kind, weft_promise **out, weft_promise *const *inputs, size_t count);
static struct combine *combine_make(enum combine_kind kind, size_t count);
static void combine_react(struct wf_reaction *reaction, struct wf_settlement *settlement);
static bool combine_note(struct combine *combine, const struct wf_reaction *reaction);
static void combine_finish(struct combine *combine, const struct wf_settled *how, struct wf_settlement *settlement);
static struct wf_settled combine_result(struct combine *combine);

int weft_promise_all(weft_promise **out, weft_promise *const *inputs, size_t count) {
    return combine_promises(COMBINE_ALL, out, inputs, count);
}

int weft_promise_all_settled(weft_promise **out, weft_promise *const *inputs, size_t count) {
    return combine_promises(COMBINE_ALL_SETTLED, out, inputs, count);
}

int weft_promise_any(weft_promise **out, weft_promise *const *inputs, size_t count) {
    return combine_promises(COMBINE_ANY, out, inputs, count);
}

int weft_promise_race(weft_promise **out, weft_promise *const *inputs, size_t count) {
    return combine_promises(COMBINE_RACE, out, inputs, count);
}

static int combine_promises(enum combine_kind kind, weft_promise **out, weft_promise *const *inputs, size_t count) {
    if (!out || (!inputs && count))
        return -EINVAL;
    for (size_t i = 0; i < count; i++)
        if (!inputs[i])
            return -EINVAL;
    struct wf_settlement settlement = {0};
    struct combine *combine = combine_make(kind, count);
    weft_promise *target = wf_promise_make(true);
    if (!combine || !target) {
        wf_os_free(combine);
        wf_os_free(target);
        return -ENOMEM;
    }
    *out = target;
    if (count || kind != COMBINE_RACE)
        wf_store_relaxed(&combine->target, weft_promise_ref(target));
    if (count == 0 && kind != COMBINE_RACE) {
        struct wf_settled how = combine_result(combine);
        combine_finish(combine, &how, &settlement);
    }
    for (size_t i = 0; i < count; i++)
        wf_promise_on(inputs[i], &combine->reactions[i], &settlement);
    wf_settlement_run(&settlement);
    wf_owned_unref(&combine->owned);
    return 0;
}

static struct combine *combine_make(enum combine_kind kind, size_t count) {
    size_t result = kind == COMBINE_ALL ? sizeof(void *) : kind == COMBINE_RACE ? 0 : sizeof(weft_outcome);
    if (count > (SIZE_MAX - sizeof(struct combine)) / (sizeof(struct wf_reaction) + result))
        return NULL;
    struct combine *combine = wf_os_alloc(sizeof *combine + count * (sizeof(struct wf_reaction) + result));
    if (!combine)
        return NULL;
    combine->kind = kind;
    combine->count = count;
    wf_store_relaxed(&combine->owned.references, count + 1);
    wf_store_relaxed(&combine->remaining, count);
    combine->values = (void **)(void *)(combine->reactions + count);
    combine->outcomes = (weft_outcome *)(void *)(combine->reactions + count);
    for (size_t i = 0; i < count; i++) {
        combine->reactions[i].react = combine_react;
        combine->reactions[i].owner = combine;
    }
    return combine;
}

static void combine_react(struct wf_reaction *reaction, struct wf_settlement *settlement) {
    struct combine *combine = reaction->owner;
    bool is_resolved = reaction->source.outcome.state == WEFT_PROMISE_RESOLVED;
    bool decides = combine->kind == COMBINE_RACE || (combine->kind == COMBINE_ALL && !is_resolved) ||
                   (combine->kind == COMBINE_ANY && is_resolved);
    if (decides) {
        combine_finish(combine, &reaction->source, settlement);
    } else {
        wf_owned_unref(reaction->source.owned);
        if (combine_note(combine, reaction)) {
            struct wf_settled how = combine_result(combine);
            combine_finish(combine, &how, settlement);
        }
    }
    wf_owned_unref(&combine->owned);
}

/* Puts the result of one input into its place. True: it was the last one that was missing. */
static bool combine_note(struct combine *combine, const struct wf_reaction *reaction) {
    size_t index = (size_t)(reaction - combine->reactions);
    if (combine->kind == COMBINE_ALL)
        combine->values[index] = reaction->source.outcome.value;
    else
        combine->outcomes[index] = reaction->source.outcome;
    wf_context_release(combine);
    if (wf_fetch_sub_acq_rel(&combine->remaining, 1) > 1) /* A */
        return false;
    wf_context_acquire(combine);
    return true;
}

/* Release and acquire: the array, or what the registering call wrote, goes with the right to settle. */
static void combine_finish(struct combine *combine, const struct wf_settled *how, struct wf_settlement *settlement) {
    weft_promise *target = wf_exchange_acq_rel(&combine->target, NULL);
    if (target) {
        wf_promise_settle(target, how, settlement);
        weft_promise_unref(target);
    } else {
        wf_owned_unref(how->owned);
    }
}

/* All results are there. The promise that gets them holds the block. */
static struct wf_settled combine_result(struct combine *combine) {
    struct wf_settled how =
        wf_settled_value(combine->kind == COMBINE_ALL ? (void *)combine->values : (void *)combine->outcomes);
    if (combine->kind == COMBINE_ANY) {
        how.outcome.state = WEFT_PROMISE_REJECTED;
        how.outcome.error = -ENOENT;
        snprintf(how.outcome.text, sizeof how.outcome.text, "none of %zu promises was resolved", combine->count);
    }
    wf_fetch_add_relaxed(&combine->owned.references, 1);
    how.owned = &combine->owned;
    return how;
}
