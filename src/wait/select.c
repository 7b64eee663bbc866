/* SPDX-License-Identifier: MIT
 *
 * wait/select.c - waiting for one of many things, whatever they are.
 *
 * All objects are locked at once, in the order of their addresses, so looking at them and lying down in their queues is one
 * step: nobody can find one of our nodes before all of them are linked, and two selects that face each other cannot both be
 * half way. From then on the claim word of the wait decides which object wins (wait/wait.h).
 *
 * A moment in time is no object but a limit: the earliest of the moments and the deadline is what the wait is given.
 *
 * Known cost: n locks and n log n comparisons a call. Sixteen cases need no memory from elsewhere.
 */
#include "wait/select.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "os/clock.h"
#include "os/memory.h"

enum { FEW = 16 };

struct selection {
    weft_case *cases;
    uint32_t count;
    struct wf_waiter *nodes; /* by case */
    struct wf_lock **locks;  /* sorted, each once */
    uint32_t lock_count;
    uint16_t *order; /* of attempts: indices of cases */
    int64_t limit;
    int64_t limit_case; /* the case that the limit belongs to, or -1: the deadline */
};

static const struct wf_case_kind time_kind = {.name = "time"};

static int select_cases(weft_case *cases, int count, int64_t deadline_ns, bool is_ordered);
static int selection_check(const weft_case *cases, int count, int64_t deadline_ns);
static int selection_run(struct selection *selection, bool is_ordered);
static void selection_begin(struct selection *selection);
static void selection_end(struct selection *selection);
static void sort_locks(struct selection *selection);
static void make_order(struct selection *selection, bool is_ordered);
static int attempt_all(struct selection *selection, struct wf_waiter **wakes);
static int settle_limit(struct selection *selection);

int weft_select(weft_case *cases, int count, weft_time deadline) {
    return select_cases(cases, count, deadline, false);
}

int weft_select_ordered(weft_case *cases, int count, weft_time deadline) {
    return select_cases(cases, count, deadline, true);
}

weft_case weft_on_time(weft_time moment) {
    return wf_case_make(&time_kind, NULL, (uint64_t)moment, NULL);
}

static int select_cases(weft_case *cases, int count, int64_t deadline_ns, bool is_ordered) {
    int error = selection_check(cases, count, deadline_ns);
    if (!error)
        error = wf_wait_enter(deadline_ns);
    if (error)
        return error;
    struct selection selection = {.cases = cases, .count = (uint32_t)count, .limit = deadline_ns};
    if (count <= FEW) {
        struct wf_waiter nodes[FEW];
        struct wf_lock *locks[FEW];
        uint16_t order[FEW];
        selection.nodes = nodes;
        selection.locks = locks;
        selection.order = order;
        return selection_run(&selection, is_ordered);
    }
    size_t n = (size_t)count;
    char *block = wf_os_alloc(n * (sizeof *selection.nodes + sizeof *selection.locks + sizeof *selection.order));
    if (!block)
        return -ENOMEM;
    selection.nodes = (struct wf_waiter *)(void *)block;
    selection.locks = (struct wf_lock **)(void *)(selection.nodes + n);
    selection.order = (uint16_t *)(void *)(selection.locks + n);
    int chosen = selection_run(&selection, is_ordered);
    wf_os_free(block);
    return chosen;
}

static int selection_check(const weft_case *cases, int count, int64_t deadline_ns) {
    if (count < 0 || count > WEFT_SELECT_MAX || (!cases && count > 0))
        return -EINVAL;
    if (count == 0 && deadline_ns == WEFT_NEVER)
        return -EINVAL;
    for (int i = 0; i < count; i++)
        if (!cases[i].kind)
            return -EINVAL;
    return 0;
}

static int selection_run(struct selection *selection, bool is_ordered) {
    struct wf_waiter *wakes = NULL;
    struct wf_wait wait;
    selection_begin(selection);
    make_order(selection, is_ordered);
    sort_locks(selection);
    for (uint32_t i = 0; i < selection->lock_count; i++)
        wf_lock_take(selection->locks[i]);
    int chosen = attempt_all(selection, &wakes);
    if (chosen >= 0) {
        for (uint32_t i = 0; i < selection->lock_count; i++)
            wf_lock_drop(selection->locks[i]);
        wf_wait_wake_chain(wakes);
    } else {
        for (uint32_t i = 0; i < selection->count; i++) {
            struct wf_waiter *node = &selection->nodes[i];
            node->wait = &wait;
            if (node->queue)
                ((const struct wf_case_kind *)selection->cases[i].kind)->prepare(&selection->cases[i], node);
        }
        chosen = wf_wait_many_locked(&wait, selection->nodes, selection->count, selection->locks, selection->lock_count,
                                     selection->limit, "select");
        if (chosen >= 0)
            ((const struct wf_case_kind *)selection->cases[chosen].kind)
                ->finish(&selection->cases[chosen], &selection->nodes[chosen]);
        else if (chosen == -ETIMEDOUT)
            chosen = settle_limit(selection);
    }
    selection_end(selection);
    return chosen;
}

static void selection_begin(struct selection *selection) {
    selection->limit_case = -1;
    for (uint32_t i = 0; i < selection->count; i++) {
        weft_case *entry = &selection->cases[i];
        const struct wf_case_kind *kind = entry->kind;
        struct wf_waiter *node = &selection->nodes[i];
        node->lock = NULL;
        node->queue = NULL;
        node->is_linked = false;
        entry->status = 0;
        if (kind == &time_kind) {
            if ((int64_t)entry->id < selection->limit) {
                selection->limit = (int64_t)entry->id;
                selection->limit_case = i;
            }
        } else if (!kind->begin(entry, &node->lock, &node->queue)) {
            node->lock = NULL;
            node->queue = NULL;
        }
    }
}

static void selection_end(struct selection *selection) {
    for (uint32_t i = 0; i < selection->count; i++) {
        const struct wf_case_kind *kind = selection->cases[i].kind;
        if (kind->end)
            kind->end(&selection->cases[i]);
    }
}

/* By address, each once: two selects then never wait for each other. Insertion for a few, which are nearly all. */
static int compare_locks(const void *left, const void *right) {
    uintptr_t a = (uintptr_t) * (struct wf_lock *const *)left;
    uintptr_t b = (uintptr_t) * (struct wf_lock *const *)right;
    return (a > b) - (a < b);
}

static void sort_locks(struct selection *selection) {
    struct wf_lock **locks = selection->locks;
    uint32_t count = 0;
    for (uint32_t i = 0; i < selection->count; i++) {
        struct wf_lock *lock = selection->nodes[i].lock;
        if (!lock)
            continue;
        uint32_t at = count++;
        if (selection->count <= FEW)
            for (; at > 0 && (uintptr_t)locks[at - 1] > (uintptr_t)lock; at--)
                locks[at] = locks[at - 1];
        locks[at] = lock;
    }
    if (selection->count > FEW)
        qsort(locks, count, sizeof *locks, compare_locks);
    uint32_t unique = 0;
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || locks[i] != locks[i - 1])
            locks[unique++] = locks[i];
    selection->lock_count = unique;
}

/* Every order as likely as any other. */
static void make_order(struct selection *selection, bool is_ordered) {
    uint16_t *order = selection->order;
    struct wf_fiber_worker *worker = wf_worker_self();
    struct wf_rng outside;
    struct wf_rng *rng = &outside;
    if (worker)
        rng = &worker->base.processor->rng;
    else if (!is_ordered)
        wf_rng_init(&outside, (uint64_t)wf_os_now() ^ (uintptr_t)selection);
    for (uint32_t i = 0; i < selection->count; i++) {
        uint32_t at = is_ordered ? i : wf_rng_below(rng, i + 1);
        order[i] = order[at];
        order[at] = (uint16_t)i;
    }
}

static int attempt_all(struct selection *selection, struct wf_waiter **wakes) {
    for (uint32_t i = 0; i < selection->count; i++) {
        uint32_t index = selection->order[i];
        weft_case *entry = &selection->cases[index];
        const struct wf_case_kind *kind = entry->kind;
        if (kind == &time_kind) {
            if ((int64_t)entry->id != WEFT_NEVER && (int64_t)entry->id <= wf_os_now())
                return (int)index;
        } else if (selection->nodes[index].queue ? kind->attempt(entry, wakes) : entry->status != 0) {
            return (int)index;
        }
    }
    return -ETIMEDOUT;
}

/* The limit has come: that of a case, or the deadline. */
static int settle_limit(struct selection *selection) {
    return selection->limit_case >= 0 ? (int)selection->limit_case : -ETIMEDOUT;
}
