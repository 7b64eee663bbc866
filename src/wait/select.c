/* SPDX-License-Identifier: MIT
 *
 * wait/select.c - waiting for one of many things, whatever they are.
 *
 * First the cases are tried one after another, each under the lock of its own object: if one can be carried out, the others
 * do not matter. If none can, all objects are locked at once, in the order of their addresses, so that looking at them again
 * and lying down in their queues is one step: nobody can find one of our nodes before all of them are linked, and two selects
 * that face each other cannot both be half way. From then on the claim word of the wait decides which object wins
 * (wait/wait.h).
 *
 * A moment in time is no object but a limit: the earliest of the moments and the deadline is what the wait is given.
 *
 * Known cost, when it has to wait: 2n locks and n log n comparisons. Sixteen cases need no memory from elsewhere.
 */
#include "wait/select.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "os/clock.h"

enum { FEW = 16, NONE_READY = -1000 };

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
static int try_each(struct selection *selection, bool is_ordered, uint32_t *begun);
static struct wf_rng *choose_rng(const struct selection *selection, struct wf_rng *outside);
static bool begin_case(struct selection *selection, uint32_t index);
static bool try_case(struct selection *selection, uint32_t index);
static int wait_for_all(struct selection *selection);
static void sort_locks(struct selection *selection);
static int attempt_all(struct selection *selection, struct wf_waiter **wakes);

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
    char *block = wf_wait_alloc(n * (sizeof *selection.nodes + sizeof *selection.locks + sizeof *selection.order));
    if (!block)
        return -ENOMEM;
    selection.nodes = (struct wf_waiter *)(void *)block;
    selection.locks = (struct wf_lock **)(void *)(selection.nodes + n);
    selection.order = (uint16_t *)(void *)(selection.locks + n);
    int chosen = selection_run(&selection, is_ordered);
    wf_wait_free(block);
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
    bool is_test = selection->limit == WEFT_NOW;
    uint32_t begun = 0;
    int chosen = try_each(selection, is_ordered, &begun);
    if (chosen == NONE_READY)
        chosen = is_test ? -ETIMEDOUT : wait_for_all(selection);
    for (uint32_t i = 0; i < begun; i++) {
        weft_case *entry = &selection->cases[selection->order[i]];
        const struct wf_case_kind *kind = entry->kind;
        if (kind->end)
            kind->end(entry);
    }
    return chosen;
}

/* One after another, each under its own lock only: the first that can be carried out is. The order is chosen on the way,
 * each as likely as any other. */
static int try_each(struct selection *selection, bool is_ordered, uint32_t *begun) {
    struct wf_rng outside;
    struct wf_rng *rng = NULL;
    if (!is_ordered)
        rng = choose_rng(selection, &outside);
    for (uint32_t i = 0; i < selection->count; i++)
        selection->order[i] = (uint16_t)i;
    selection->limit_case = -1;
    for (uint32_t i = 0; i < selection->count; i++) {
        uint32_t at = rng ? i + wf_rng_below(rng, selection->count - i) : i;
        uint16_t index = selection->order[at];
        selection->order[at] = selection->order[i];
        selection->order[i] = index;
        *begun = i + 1;
        if (begin_case(selection, index) || (selection->nodes[index].lock && try_case(selection, index)))
            return index;
    }
    return NONE_READY;
}

static struct wf_rng *choose_rng(const struct selection *selection, struct wf_rng *outside) {
    struct wf_fiber_worker *worker = wf_worker_self();
    if (worker && worker->base.processor)
        return &worker->base.processor->rng;
    wf_rng_init(outside, (uint64_t)wf_os_now() ^ (uintptr_t)selection);
    return outside;
}

/* True when it is ready without its object: a moment that has come, an error. */
static bool begin_case(struct selection *selection, uint32_t index) {
    weft_case *entry = &selection->cases[index];
    const struct wf_case_kind *kind = entry->kind;
    struct wf_waiter *node = &selection->nodes[index];
    node->lock = NULL;
    node->queue = NULL;
    node->is_linked = false;
    entry->status = 0;
    if (kind != &time_kind) {
        if (kind->begin(entry, &node->lock, &node->queue))
            return false;
        node->lock = NULL;
        node->queue = NULL;
        return entry->status != 0;
    }
    int64_t moment = (int64_t)entry->id;
    if (moment < selection->limit || (moment == selection->limit && selection->limit_case < 0)) {
        selection->limit = moment;
        selection->limit_case = index;
    }
    return moment != WEFT_NEVER && moment <= wf_os_now();
}

static bool try_case(struct selection *selection, uint32_t index) {
    weft_case *entry = &selection->cases[index];
    struct wf_lock *lock = selection->nodes[index].lock;
    struct wf_waiter *wakes = NULL;
    wf_lock_take(lock);
    bool is_done = ((const struct wf_case_kind *)entry->kind)->attempt(entry, &wakes);
    wf_lock_drop(lock);
    wf_wait_wake_chain(wakes);
    return is_done;
}

static int wait_for_all(struct selection *selection) {
    struct wf_waiter *wakes = NULL;
    struct wf_wait wait;
    sort_locks(selection);
    for (uint32_t i = 0; i < selection->lock_count; i++)
        wf_lock_take(selection->locks[i]);
    int chosen = attempt_all(selection, &wakes);
    if (chosen != NONE_READY) {
        for (uint32_t i = 0; i < selection->lock_count; i++)
            wf_lock_drop(selection->locks[i]);
        wf_wait_wake_chain(wakes);
        return chosen;
    }
    for (uint32_t i = 0; i < selection->count; i++) {
        struct wf_waiter *node = &selection->nodes[i];
        const struct wf_case_kind *kind = selection->cases[i].kind;
        node->wait = &wait;
        if (node->queue && kind->prepare)
            kind->prepare(&selection->cases[i], node);
    }
    chosen = wf_wait_many_locked(&wait, selection->nodes, selection->count, selection->locks, selection->lock_count,
                                 selection->limit, "select");
    if (chosen >= 0)
        ((const struct wf_case_kind *)selection->cases[chosen].kind)
            ->finish(&selection->cases[chosen], &selection->nodes[chosen]);
    else if (chosen == -ETIMEDOUT && selection->limit_case >= 0)
        chosen = (int)selection->limit_case; /* it was not the deadline */
    return chosen;
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

static int attempt_all(struct selection *selection, struct wf_waiter **wakes) {
    for (uint32_t i = 0; i < selection->count; i++) {
        uint32_t index = selection->order[i];
        weft_case *entry = &selection->cases[index];
        const struct wf_case_kind *kind = entry->kind;
        if (selection->nodes[index].queue && kind->attempt(entry, wakes))
            return (int)index;
    }
    return NONE_READY;
}
