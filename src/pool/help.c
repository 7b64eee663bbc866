/* SPDX-License-Identifier: MIT
 *
 * pool/help.c - waiting threads that run works meanwhile.
 *
 * A helper waits for whichever comes first: the end that it waits for, or something to run. The second is a queue of helpers with a
 * lock of its own, and a count that tells whoever adds a work whether to look there:
 *
 *     helper     count + 1, fence, look at the queues, then wait         submit    queue the work, fence, look at the count
 *
 * One of the two sees the other. Who is woken for a work that somebody else has taken waits again. Only works are for helpers: a
 * job belongs to a fiber. A fiber that wants to help just waits, since its thread then does.
 */
#include <errno.h>

#include "pool/pool.h"
#include "wait/select.h"

static int help_until(weft_pool *pool, weft_case end, int64_t deadline);
static weft_case on_idle(weft_pool *pool);
static weft_case on_help(weft_pool *pool);

int weft_pool_help(weft_pool *pool, weft_time deadline) {
    if (!pool)
        return -EINVAL;
    const struct wf_runner *runner = wf_runner_self();
    if (wf_fiber_self() || (runner && runner->pool == pool))
        return weft_pool_wait(pool, deadline);
    return help_until(pool, on_idle(pool), deadline);
}

int weft_pool_help_work(weft_pool *pool, weft_work work, weft_result *out, weft_time deadline) {
    if (!pool)
        return -EINVAL;
    struct wf_work *record = wf_work_find(pool, work);
    if (wf_fiber_self() || (record && wf_work_is_own(record, work)))
        return weft_pool_wait_work(pool, work, out, deadline);
    return help_until(pool, weft_on_work(pool, work, out), deadline);
}

/* On a plain thread. No lock is held. */
static int help_until(weft_pool *pool, weft_case end, int64_t deadline) {
    for (;;) {
        weft_case cases[] = {end, on_help(pool)};
        wf_fetch_add_seq_cst(&pool->helper_count, 1);
        wf_fence_seq_cst(); /* pairs with that of wf_pool_notify */
        int index = weft_select_ordered(cases, 2, deadline);
        wf_fetch_sub_seq_cst(&pool->helper_count, 1);
        if (index <= 0)
            return index < 0 ? index : cases[0].status;
        struct wf_task *task = wf_pool_next_any(pool);
        if (task && wf_work_claim(pool, wf_work_of(task), NULL))
            wf_work_run_here(pool, wf_work_of(task));
        if (task && pool->options.max_running)
            wf_pool_give_slot_back(pool);
    }
}

WF_NOINLINE void wf_pool_call_helper(weft_pool *pool) {
    wf_lock_take(&pool->helpers_lock);
    struct wf_waiter *waiter = wf_wait_take_first_locked(&pool->helpers);
    wf_lock_drop(&pool->helpers_lock);
    wf_pool_wake_one(waiter);
}

static bool help_case_begin(weft_case *entry, struct wf_lock **lock, struct wf_waiter ***queue) {
    weft_pool *pool = entry->object;
    *lock = &pool->helpers_lock;
    *queue = &pool->helpers;
    return true;
}

static bool help_case_attempt(weft_case *entry, struct wf_waiter **wakes) {
    (void)wakes;
    entry->status = 0;
    return wf_pool_has_work_any(entry->object);
}

static void help_case_finish(weft_case *entry, struct wf_waiter *node) {
    entry->status = node->status;
}

static const struct wf_case_kind help_kind = {
    .name = "work to help with",
    .begin = help_case_begin,
    .attempt = help_case_attempt,
    .finish = help_case_finish,
};

static weft_case on_help(weft_pool *pool) {
    return wf_case_make(&help_kind, pool, 0, NULL);
}

static bool idle_case_begin(weft_case *entry, struct wf_lock **lock, struct wf_waiter ***queue) {
    weft_pool *pool = entry->object;
    *lock = &pool->lock;
    *queue = &pool->idlers;
    return true;
}

static bool idle_case_attempt(weft_case *entry, struct wf_waiter **wakes) {
    (void)wakes;
    weft_pool *pool = entry->object;
    bool is_idle = !wf_pool_awaited_locked(pool, &entry->id);
    bool is_lost = !is_idle && wf_pool_is_at_a_loss_locked(pool);
    entry->status = is_lost ? -EDEADLK : 0;
    return is_idle || is_lost;
}

static void idle_case_prepare(weft_case *entry, struct wf_waiter *node) {
    node->amount = entry->id;
}

static const struct wf_case_kind idle_kind = {
    .name = "idle pool",
    .begin = idle_case_begin,
    .attempt = idle_case_attempt,
    .prepare = idle_case_prepare,
    .finish = help_case_finish,
};

static weft_case on_idle(weft_pool *pool) {
    return wf_case_make(&idle_kind, pool, 0, NULL);
}
