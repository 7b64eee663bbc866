/* SPDX-License-Identifier: MIT
 *
 * pool/wait.c - waiting for works and for the pool, and results that are kept.
 *
 * The object is the record of the work: its lock, its queue of waiters. Whoever waits sets WAITED first, under the lock, by a
 * compare and swap that needs the handle's generation: either that comes before the end of the work, which then has to take the
 * lock and finds the waiter, or the work is known to be over. The result is copied to every waiter under the lock, since the
 * record may go right after.
 */
#include <errno.h>

#include "base/assert.h"
#include "os/memory.h"
#include "pool/pool.h"
#include "wait/select.h"

static bool look_locked(struct wf_work *work, weft_work handle, weft_result *out, int *status);
static void forget_locked(weft_pool *pool, struct wf_terms *terms);

int weft_pool_wait(weft_pool *pool, weft_time deadline) {
    if (!pool)
        return -EINVAL;
    const struct wf_runner *runner = wf_runner_self();
    return runner && runner->pool == pool ? -EPERM : wf_pool_wait_idle(pool, deadline);
}

int weft_pool_wait_work(weft_pool *pool, weft_work handle, weft_result *out, weft_time deadline) {
    if (!pool)
        return -EINVAL;
    int status = wf_wait_enter(deadline);
    struct wf_work *work = wf_work_find(pool, handle);
    if (status || !work)
        return status ? status : -ESTALE;
    if (wf_work_is_own(work, handle))
        return -EDEADLK;
    wf_lock_take(&work->lock);
    if (look_locked(work, handle, out, &status)) {
        wf_lock_drop(&work->lock);
        wf_context_acquire(pool);
        return status;
    }
    struct wf_waiter waiter;
    waiter.value = out;
    status = wf_wait_locked(&waiter, &work->lock, &work->waiters, deadline, "work");
    if (!status)
        wf_context_acquire(pool);
    return status;
}

/* Whether the caller runs it, perhaps below others on its stack, and would wait for itself. */
bool wf_work_is_own(const struct wf_work *work, weft_work handle) {
    for (const struct wf_runner *runner = wf_runner_self(); runner; runner = runner->outer)
        if (runner->work == work)
            return wf_work_is(wf_load_acquire(&work->word), handle);
    return false;
}

/* True when there is nothing to wait for. */
static bool look_locked(struct wf_work *work, weft_work handle, weft_result *out, int *status) {
    const uint32_t known =
        WF_BIT(WF_WORK_HELD) | WF_BIT(WF_WORK_QUEUED) | WF_BIT(WF_WORK_CLAIMED) | WF_BIT(WF_WORK_DONE);
    uint64_t word = wf_work_flag(work, handle, known, WF_WORK_WAITED);
    *status = -ESTALE;
    if (word == 0)
        return true;
    if (!(word & WF_WORK_OVER))
        return false;
    if (!(word & WF_WORK_STORED)) /* only a queue still knows it */
        return true;
    *status = 0;
    if (out)
        *out = wf_work_terms(work)->result; /* STORED is taken off under the lock */
    return true;
}

int weft_pool_poll_work(weft_pool *pool, weft_work handle, weft_result *out) {
    struct wf_work *work = pool ? wf_work_find(pool, handle) : NULL;
    int status = -ESTALE;
    if (!pool)
        return -EINVAL;
    if (!work)
        return -ESTALE;
    wf_lock_take(&work->lock);
    if (!look_locked(work, handle, out, &status))
        status = -EAGAIN;
    wf_lock_drop(&work->lock);
    wf_context_acquire(pool);
    return status;
}

int weft_pool_wait_works(weft_pool *pool, const weft_work *works, size_t count, weft_result *out, weft_time deadline) {
    if (!pool || (!works && count))
        return -EINVAL;
    int unknown = 0;
    for (size_t i = 0; i < count; i++) {
        if (out)
            out[i] = (weft_result){.work = works[i]};
        int status = weft_pool_wait_work(pool, works[i], out ? &out[i] : NULL, deadline);
        if (status < 0 && status != -ESTALE)
            return status;
        unknown += status == -ESTALE;
    }
    return unknown;
}

static bool work_case_begin(weft_case *entry, struct wf_lock **lock, struct wf_waiter ***queue) {
    struct wf_work *work = entry->object ? wf_work_find(entry->object, (weft_work){entry->id}) : NULL;
    if (!work) {
        entry->status = -ESTALE;
        return false;
    }
    *lock = &work->lock;
    *queue = &work->waiters;
    return true;
}

static bool work_case_attempt(weft_case *entry, struct wf_waiter **wakes) {
    (void)wakes;
    weft_work handle = {entry->id};
    return look_locked(wf_work_find(entry->object, handle), handle, entry->value, &entry->status);
}

static void work_case_prepare(weft_case *entry, struct wf_waiter *node) {
    node->value = entry->value;
}

static void work_case_finish(weft_case *entry, struct wf_waiter *node) {
    wf_context_acquire(entry->object);
    entry->status = node->status;
}

static const struct wf_case_kind work_kind = {
    .name = "end of a work",
    .begin = work_case_begin,
    .attempt = work_case_attempt,
    .prepare = work_case_prepare,
    .finish = work_case_finish,
};

weft_case weft_on_work(weft_pool *pool, weft_work work, weft_result *out) {
    return wf_case_make(&work_kind, pool, work.bits, out);
}

int weft_pool_remove(weft_pool *pool, weft_work handle) {
    if (!pool)
        return -EINVAL;
    struct wf_work *work = wf_work_find(pool, handle);
    if (!work)
        return -ESTALE;
    wf_lock_take(&pool->lock);
    uint64_t word = wf_load_acquire(&work->word); /* pairs with its moves */
    int error = !wf_work_is(word, handle) ? -ESTALE
                : !(word & WF_WORK_OVER)  ? -EBUSY
                : word & WF_WORK_STORED   ? 0
                                          : -ESTALE;
    if (!error)
        forget_locked(pool, wf_work_terms(work));
    wf_lock_drop(&pool->lock);
    return error;
}

static void forget_locked(weft_pool *pool, struct wf_terms *terms) {
    struct wf_work *work = terms->work;
    wf_list_remove(&terms->stored);
    pool->stored_count--;
    wf_lock_take(&work->lock); /* nobody is copying it */
    bool is_last = wf_work_let_go_is_last(work, WF_WORK_STORED);
    wf_lock_drop(&work->lock);
    if (is_last)
        wf_work_recycle(pool, wf_shard_self(pool), work);
}

void wf_results_clear_locked(weft_pool *pool, bool even_new, uint32_t generation) {
    struct wf_list *node = pool->stored.next;
    while (node != &pool->stored) {
        struct wf_terms *terms = WF_CONTAINER(node, struct wf_terms, stored);
        node = node->next;
        bool is_old = (int32_t)(terms->generation - generation) < 0;
        if ((even_new || is_old) && (wf_load_acquire(&terms->work->word) & WF_WORK_OVER))
            forget_locked(pool, terms);
    }
}

int weft_pool_clear(weft_pool *pool) {
    if (!pool)
        return -EINVAL;
    wf_lock_take(&pool->lock);
    size_t before = pool->stored_count;
    wf_results_clear_locked(pool, true, 0);
    int count = (int)(before - pool->stored_count);
    wf_lock_drop(&pool->lock);
    return count;
}

int weft_pool_each_result(weft_pool *pool, int (*fn)(const weft_result *result, void *arg), void *arg) {
    if (!pool || !fn)
        return -EINVAL;
    wf_lock_take(&pool->lock);
    size_t room = pool->stored_count, count = 0;
    wf_lock_drop(&pool->lock);
    weft_result *results = wf_wait_alloc((room + 1) * sizeof *results);
    if (!results)
        return -ENOMEM;
    wf_lock_take(&pool->lock);
    for (struct wf_list *node = pool->stored.next; node != &pool->stored && count < room; node = node->next)
        results[count++] = WF_CONTAINER(node, struct wf_terms, stored)->result;
    wf_lock_drop(&pool->lock);
    int status = 0;
    for (size_t i = 0; i < count && status == 0; i++)
        status = wf_pool_call_back(fn, &results[i], arg);
    wf_wait_free(results);
    return status;
}
