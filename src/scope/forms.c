/* SPDX-License-Identifier: MIT
 *
 * scope/forms.c - usual shapes of structured concurrency: all, race, any, map; and a fiber's view of its cancellation.
 *
 * Each shape is a scope with children that run branches; what decides is one atomic word, the index of the branch that won
 * plus one. They are written against the public face of scopes only.
 */
#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "base/atomic.h"
#include "wait/cancel.h"
#include "weft/runtime.h"
#include "weft/scope.h"

enum shape { SHAPE_ALL, SHAPE_RACE, SHAPE_ANY };

struct contest {
    weft_scope *scope;
    weft_branch *branches;
    int count;
    enum shape shape;
    bool has_run;            /* every branch has come to its own end */
    _Atomic uint32_t winner; /* index plus one; 0: nobody yet */
    _Atomic uint32_t next;   /* branch that the next child takes */
};

static int hold_contest(weft_branch *branches, int count, int64_t deadline_ns, enum shape shape);
static int contest_body(weft_scope *scope, void *opaque);
static int run_branch(void *opaque);

/* In options 0 means none, and a moment in the past is one that has passed. */
static int64_t deadline_option(int64_t deadline_ns) {
    return deadline_ns == WEFT_NEVER ? 0 : deadline_ns > 0 ? deadline_ns : 1;
}

int weft_all(weft_branch *branches, int count, weft_time deadline) {
    return hold_contest(branches, count, deadline, SHAPE_ALL);
}

int weft_race(weft_branch *branches, int count, weft_time deadline) {
    return hold_contest(branches, count, deadline, SHAPE_RACE);
}

int weft_any(weft_branch *branches, int count, weft_time deadline) {
    return hold_contest(branches, count, deadline, SHAPE_ANY);
}

static int hold_contest(weft_branch *branches, int count, int64_t deadline_ns, enum shape shape) {
    struct contest contest = {.branches = branches, .count = count, .shape = shape};
    if (count < (shape == SHAPE_ALL ? 0 : 1) || (!branches && count > 0))
        return -EINVAL;
    for (int i = 0; i < count; i++)
        if (!branches[i].fn)
            return -EINVAL;
    for (int i = 0; i < count; i++)
        branches[i].status = -ECANCELED;
    if (count == 0)
        return 0;
    weft_scope_options options = {.deadline = deadline_option(deadline_ns), .keep_going = shape != SHAPE_ALL};
    int outcome = weft_scope_run(&options, contest_body, &contest);
    uint32_t winner = wf_load_relaxed(&contest.winner);
    if (winner)
        return (int)winner - 1;
    return shape == SHAPE_ANY && contest.has_run ? branches[0].status : outcome;
}

static int contest_body(weft_scope *scope, void *opaque) {
    struct contest *contest = opaque;
    contest->scope = scope;
    for (int i = 0; i < contest->count; i++) {
        int error = weft_scope_go(scope, run_branch, contest);
        if (error)
            return wf_load_relaxed(&contest->winner) ? 0 : error; /* it may be over before all have begun */
    }
    contest->has_run = weft_scope_wait(scope, WEFT_NEVER) == 0 && weft_cancel_reason(NULL, 0) == 0;
    return 0;
}

static int run_branch(void *opaque) {
    struct contest *contest = opaque;
    uint32_t index = wf_fetch_add_relaxed(&contest->next, 1);
    weft_branch *branch = &contest->branches[index];
    branch->status = -EOWNERDEAD; /* should it panic */
    branch->status = branch->fn(branch->arg);
    bool was_stopped = branch->status < 0 && weft_cancel_reason(NULL, 0) != 0; /* then it has not ended by itself */
    if ((contest->shape == SHAPE_RACE && !was_stopped) || (contest->shape == SHAPE_ANY && branch->status >= 0)) {
        uint32_t nobody = 0;
        if (wf_cas_acq_rel(&contest->winner, &nobody, index + 1)) /* pairs with itself in the others */
            weft_scope_cancel(contest->scope, -ECANCELED, "another branch has won");
    }
    return contest->shape == SHAPE_ALL && branch->status < 0 ? branch->status : 0;
}

struct map_run {
    int (*fn)(void *item, void *arg);
    char *items;
    size_t size;
    size_t count;
    void *arg;
    unsigned parallel;
    _Atomic uint64_t next;
};

static int map_body(weft_scope *scope, void *opaque);
static int map_some(void *opaque);

int weft_map(int (*fn)(void *item, void *arg), void *items, size_t size, size_t count, void *arg, unsigned parallel,
             weft_time deadline) {
    if (!fn || (!items && count > 0 && size > 0))
        return -EINVAL;
    struct map_run run = {.fn = fn, .items = items, .size = size, .count = count, .arg = arg};
    weft_stats stats;
    if (parallel == 0 && weft_get_stats(NULL, &stats) == 0)
        parallel = stats.workers;
    run.parallel = parallel ? parallel : 1;
    weft_scope_options options = {.deadline = deadline_option(deadline)};
    int outcome = weft_scope_run(&options, map_body, &run);
    return outcome < 0 ? outcome : 0;
}

static int map_body(weft_scope *scope, void *opaque) {
    struct map_run *run = opaque;
    for (unsigned i = 0; i < run->parallel && i < run->count; i++) {
        int error = weft_scope_go(scope, map_some, run);
        if (error == -ECANCELED)
            return 0; /* a child has failed already, and the scope knows why */
        if (error && i == 0)
            return error; /* one is enough to do it all */
    }
    return 0;
}

static int map_some(void *opaque) {
    struct map_run *run = opaque;
    for (;;) {
        uint64_t index = wf_fetch_add_relaxed(&run->next, 1);
        if (index >= run->count || weft_cancel_reason(NULL, 0) != 0)
            return 0;
        int status = run->fn(run->items + index * run->size, run->arg);
        if (status < 0)
            return status;
    }
}

int weft_cancel_reason(char *buffer, size_t size) {
    struct wf_fiber *fiber = wf_fiber_self();
    struct wf_cancel *cancel = fiber ? wf_fiber_stack(fiber)->cancel : NULL;
    if (!cancel || !wf_cancel_is_fired(cancel))
        return 0;
    wf_lock_take(&cancel->lock);
    int reason = cancel->reason;
    if (buffer && size) {
        strncpy(buffer, cancel->text, size - 1);
        buffer[size - 1] = 0;
    }
    wf_lock_drop(&cancel->lock);
    return reason;
}

weft_time weft_deadline(void) {
    struct wf_fiber *fiber = wf_fiber_self();
    struct wf_cancel *cancel = fiber ? wf_fiber_stack(fiber)->cancel : NULL;
    return cancel ? cancel->deadline : WEFT_NEVER;
}

void weft_shield(void) {
    wf_cancel_shield();
}

void weft_unshield(void) {
    wf_cancel_unshield();
}
