/* SPDX-License-Identifier: MIT
 *
 * loop/gather.c - one promise out of many on a loop, and out of a timer.
 *
 * As promise/combine.c: one block has an entry for every input and the array of results. Here each entry is noted by a
 * microtask of the loop, so the array and the count of what is missing are the owner's. Only an entry that no loop takes any
 * more comes from elsewhere, and rejects:
 *
 *   target      whoever exchanges it for NULL settles it, with the reference that comes with it
 *   references  one for each entry, one for each promise whose value is the array, one for the call that registers
 *
 * Each entry also holds the home, which may outlive the target.
 */
#include <errno.h>
#include <stdio.h>

#include "base/assert.h"
#include "loop/promise.h"
#include "os/memory.h"

enum gather_kind { GATHER_ALL, GATHER_ALL_SETTLED, GATHER_ANY, GATHER_RACE };

struct gather;

struct gather_entry {
    struct wf_follower follower;
    struct wf_loop_job job;
    struct gather *gather;
    weft_promise *source; /* when it is rejected, with a reference */
    void *value;          /* when it is resolved */
    struct wf_owned *owned;
};

struct gather {
    struct wf_owned owned; /* first */
    enum gather_kind kind;
    struct wf_loop_home *home;
    _Atomic(weft_promise *) target;
    size_t count;
    size_t missing;         /* the owner's */
    void **values;          /* of all; in this block, as the next one */
    weft_outcome *outcomes; /* of all_settled and any */
    struct gather_entry entries[];
};

static int gather_promises(enum gather_kind kind, weft_loop *loop, weft_promise **out, weft_promise *const *inputs,
                           size_t count);
static struct gather *gather_make(enum gather_kind kind, struct wf_loop_home *home, size_t count);
static void gather_settled(struct wf_follower *follower, weft_promise *source, struct wf_settlement *settlement);
static void gather_refused(struct wf_follower *follower, struct wf_settlement *settlement);
static void gather_run(weft_loop *loop, struct wf_loop_job *job);
static void gather_note(struct gather *gather, struct gather_entry *entry, struct wf_settlement *settlement);
static struct wf_settled gather_one(struct gather_entry *entry);
static struct wf_settled gather_result(struct gather *gather);
static void gather_finish(struct gather *gather, const struct wf_settled *how, struct wf_settlement *settlement);
static void entry_leave(struct gather_entry *entry);
static int timed_promise(weft_loop *loop, weft_promise **out, int64_t nanoseconds, weft_loop_fn fired,
                         weft_loop_fn dropped);
static void slept(void *opaque);
static void timed_out(void *opaque);
static void timed_out_by_end(void *opaque);
static void timed_settle(struct wf_loop_promise *promise, const struct wf_settled *how);

int weft_loop_all(weft_loop *loop, weft_promise **out, weft_promise *const *inputs, size_t count) {
    return gather_promises(GATHER_ALL, loop, out, inputs, count);
}

int weft_loop_all_settled(weft_loop *loop, weft_promise **out, weft_promise *const *inputs, size_t count) {
    return gather_promises(GATHER_ALL_SETTLED, loop, out, inputs, count);
}

int weft_loop_any(weft_loop *loop, weft_promise **out, weft_promise *const *inputs, size_t count) {
    return gather_promises(GATHER_ANY, loop, out, inputs, count);
}

int weft_loop_race(weft_loop *loop, weft_promise **out, weft_promise *const *inputs, size_t count) {
    return gather_promises(GATHER_RACE, loop, out, inputs, count);
}

static int gather_promises(enum gather_kind kind, weft_loop *loop, weft_promise **out, weft_promise *const *inputs,
                           size_t count) {
    if (!loop || !out || (!inputs && count))
        return -EINVAL;
    for (size_t i = 0; i < count; i++)
        if (!inputs[i])
            return -EINVAL;
    struct wf_settlement settlement = {0};
    struct wf_loop_home *home = wf_loop_home(loop);
    struct gather *gather = home ? gather_make(kind, home, count) : NULL;
    struct wf_loop_promise *target = gather ? wf_loop_promise_make(home, true, 2) : NULL;
    if (!target) {
        wf_os_free(gather);
        return -ENOMEM;
    }
    wf_fetch_add_relaxed(&home->references, count);
    *out = &target->cell;
    wf_store_relaxed(&gather->target, &target->cell);
    if (!wf_loop_promise_register(target)) {
        struct wf_settled how = wf_settled_by_end();
        gather_finish(gather, &how, &settlement);
    } else if (count == 0 && kind != GATHER_RACE) {
        struct wf_settled how = gather_result(gather);
        gather_finish(gather, &how, &settlement);
    }
    for (size_t i = 0; i < count; i++)
        wf_promise_follow(inputs[i], &gather->entries[i].follower, &settlement);
    wf_settlement_run(&settlement);
    if (count == 0)
        weft_promise_unref(wf_exchange_acq_rel(&gather->target, NULL)); /* of a race between none */
    wf_owned_unref(&gather->owned);
    return 0;
}

static struct gather *gather_make(enum gather_kind kind, struct wf_loop_home *home, size_t count) {
    size_t result = kind == GATHER_ALL ? sizeof(void *) : kind == GATHER_RACE ? 0 : sizeof(weft_outcome);
    if (count > (SIZE_MAX - sizeof(struct gather)) / (sizeof(struct gather_entry) + result))
        return NULL;
    struct gather *gather = wf_os_alloc(sizeof *gather + count * (sizeof(struct gather_entry) + result));
    if (!gather)
        return NULL;
    gather->kind = kind;
    gather->home = home;
    gather->count = gather->missing = count;
    wf_store_relaxed(&gather->owned.references, count + 1);
    gather->values = (void **)(void *)(gather->entries + count);
    gather->outcomes = (weft_outcome *)(void *)(gather->entries + count);
    for (size_t i = 0; i < count; i++) {
        gather->entries[i].gather = gather;
        gather->entries[i].follower.settled = gather_settled;
        gather->entries[i].follower.late = gather_refused;
        gather->entries[i].job.run = gather_run;
    }
    return gather;
}

/* With the source's lock. */
static void gather_settled(struct wf_follower *follower, weft_promise *source, struct wf_settlement *settlement) {
    struct gather_entry *entry = WF_CONTAINER(follower, struct gather_entry, follower);
    if (source->outcome.state == WEFT_PROMISE_REJECTED) {
        entry->source = weft_promise_ref(source);
    } else {
        entry->value = source->outcome.value;
        entry->owned = source->owned;
        if (entry->owned)
            wf_fetch_add_relaxed(&entry->owned->references, 1);
    }
    if (wf_loop_home_post(entry->gather->home, &entry->job) != 0)
        wf_settlement_put_off(settlement, follower);
}

static void gather_refused(struct wf_follower *follower, struct wf_settlement *settlement) {
    struct gather_entry *entry = WF_CONTAINER(follower, struct gather_entry, follower);
    struct wf_settled how = wf_settled_by_end();
    gather_finish(entry->gather, &how, settlement);
    entry_leave(entry);
}

static void gather_run(weft_loop *loop, struct wf_loop_job *job) {
    struct gather_entry *entry = WF_CONTAINER(job, struct gather_entry, job);
    struct wf_settlement settlement = {0};
    if (!loop) {
        gather_refused(&entry->follower, &settlement);
    } else {
        gather_note(entry->gather, entry, &settlement);
        entry_leave(entry);
    }
    wf_settlement_run(&settlement);
}

static void gather_note(struct gather *gather, struct gather_entry *entry, struct wf_settlement *settlement) {
    struct wf_settled how = gather_one(entry);
    bool is_resolved = how.outcome.state == WEFT_PROMISE_RESOLVED;
    bool decides = gather->kind == GATHER_RACE || (gather->kind == GATHER_ALL && !is_resolved) ||
                   (gather->kind == GATHER_ANY && is_resolved);
    if (decides) {
        if (how.owned)
            wf_fetch_add_relaxed(&how.owned->references, 1);
        gather_finish(gather, &how, settlement);
        return;
    }
    size_t index = (size_t)(entry - gather->entries);
    if (gather->kind == GATHER_ALL)
        gather->values[index] = how.outcome.value;
    else
        gather->outcomes[index] = how.outcome;
    if (--gather->missing == 0) {
        how = gather_result(gather);
        gather_finish(gather, &how, settlement);
    }
}

/* How its input was settled; owned is without a reference. */
static struct wf_settled gather_one(struct gather_entry *entry) {
    if (!entry->source) {
        struct wf_settled how = wf_settled_value(entry->value);
        how.owned = entry->owned;
        return how;
    }
    return (struct wf_settled){
        .outcome = entry->source->outcome, .is_quiet = entry->source->is_quiet, .owned = entry->source->owned};
}

/* All results are there. The promise that gets them holds the block. */
static struct wf_settled gather_result(struct gather *gather) {
    struct wf_settled how =
        wf_settled_value(gather->kind == GATHER_ALL ? (void *)gather->values : (void *)gather->outcomes);
    if (gather->kind == GATHER_ANY) {
        how.outcome.state = WEFT_PROMISE_REJECTED;
        how.outcome.error = -ENOENT;
        snprintf(how.outcome.text, sizeof how.outcome.text, "none of %zu promises was resolved", gather->count);
    }
    wf_fetch_add_relaxed(&gather->owned.references, 1);
    how.owned = &gather->owned;
    return how;
}

/* Release and acquire: what the registering call wrote goes with the right to settle. */
static void gather_finish(struct gather *gather, const struct wf_settled *how, struct wf_settlement *settlement) {
    weft_promise *target = wf_exchange_acq_rel(&gather->target, NULL);
    if (target) {
        wf_promise_settle(target, how, settlement);
        weft_promise_unref(target);
    } else {
        wf_owned_unref(how->owned);
    }
}

static void entry_leave(struct gather_entry *entry) {
    struct gather *gather = entry->gather;
    struct wf_loop_home *home = gather->home;
    weft_promise_unref(entry->source);
    wf_owned_unref(entry->owned);
    wf_owned_unref(&gather->owned);
    wf_loop_home_unref(home);
}

int weft_loop_sleep_promise(weft_loop *loop, weft_promise **out, int64_t nanoseconds) {
    return timed_promise(loop, out, nanoseconds, slept, slept);
}

int weft_loop_timeout_promise(weft_loop *loop, weft_promise **out, int64_t nanoseconds) {
    return timed_promise(loop, out, nanoseconds, timed_out, timed_out_by_end);
}

/* The timer has the other reference, and always comes: fired, or dropped by the loop's end. */
static int timed_promise(weft_loop *loop, weft_promise **out, int64_t nanoseconds, weft_loop_fn fired,
                         weft_loop_fn dropped) {
    if (!loop || !out)
        return -EINVAL;
    struct wf_loop_home *home = wf_loop_home(loop);
    struct wf_loop_promise *promise = home ? wf_loop_promise_make(home, true, 2) : NULL;
    if (!promise)
        return -ENOMEM;
    int error = wf_loop_set_timeout(loop, NULL, nanoseconds, true, fired, dropped, promise);
    if (error) {
        weft_promise_unref(&promise->cell);
        weft_promise_unref(&promise->cell);
        return error;
    }
    *out = &promise->cell;
    return 0;
}

static void slept(void *opaque) {
    struct wf_settled how = wf_settled_value(NULL);
    timed_settle(opaque, &how);
}

static void timed_out(void *opaque) {
    struct wf_settled how = wf_settled_error(-ETIMEDOUT, "the time is up");
    timed_settle(opaque, &how);
}

static void timed_out_by_end(void *opaque) {
    struct wf_settled how = wf_settled_error(-ETIMEDOUT, "the time is up");
    how.is_quiet = true;
    timed_settle(opaque, &how);
}

static void timed_settle(struct wf_loop_promise *promise, const struct wf_settled *how) {
    struct wf_settlement settlement = {0};
    wf_loop_promise_finish(promise, how, &settlement);
    wf_settlement_run(&settlement);
}
