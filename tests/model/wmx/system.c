/* SPDX-License-Identifier: MIT
 *
 * wmx/system.c - the world around the code under test: futex, memory, assertions, and the functions of model.h.
 *
 * These take the place of src/os/. A futex wait compares with the latest store, as the kernel does under its own lock,
 * and sleeps until a wake on the same address; which of several sleepers a wake reaches is explored. A wait with a
 * deadline may also time out, at any moment; a wait may return for no reason as often as model_allow_spurious_wakes
 * says. wf_relax stands for the passing of time: see wmx.h, RELAXING.
 */
#include "base/assert.h"
#include "model.h"
#include "os/barrier.h"
#include "os/futex.h"
#include "os/memory.h"
#include "wmx/wmx.h"

#include <errno.h>

#define HERE __builtin_return_address(0)

static void advance_one_read(struct wmx_thread *thread);

int wf_os_futex_wait(_Atomic uint32_t *word, uint32_t expected, int64_t deadline_ns) {
    wmx_step();
    struct wmx_thread *thread = &wmx->thread[wmx->current];
    uint64_t found = wmx_kernel_read((uintptr_t)word, sizeof *word);
    wmx_log('W', 0, -1, 0, found, HERE);
    if (found != expected)
        return 0;
    if (wmx->spurious_left > 0 && wmx_choose(2)) {
        wmx->spurious_left--;
        wmx_yield();
        return -EINTR;
    }
    if (deadline_ns != INT64_MAX && wmx_choose(2)) {
        wmx_yield();
        return -ETIMEDOUT;
    }
    thread->status = WMX_SLEEPING;
    thread->futex = (uintptr_t)word;
    wmx_block();
    return 0;
}

void wf_os_futex_wake(_Atomic uint32_t *word, int count) {
    wmx_step();
    wmx_log('K', 0, -1, 0, (uint64_t)count, HERE);
    for (; count > 0; count--) {
        int sleeper[WMX_THREADS];
        int sleepers = 0;
        for (int i = 0; i < wmx->thread_count; i++)
            if (wmx->thread[i].status == WMX_SLEEPING && wmx->thread[i].futex == (uintptr_t)word)
                sleeper[sleepers++] = i;
        if (sleepers == 0)
            return;
        wmx->thread[sleeper[wmx_choose(sleepers)]].status = WMX_READY;
    }
}

/* If the thread has read something outdated, one of those reads has to move on, or it could spin for ever on old
 * values; if all it read is the latest there is, it waits until that changes. */
void wf_relax(void) {
    struct wmx_thread *thread = &wmx->thread[wmx->current];
    wmx_log('P', 0, -1, 0, 0, HERE);
    thread->status = WMX_RELAXING;
    wmx_block();
    advance_one_read(thread);
    thread->read_count = 0;
}

static void advance_one_read(struct wmx_thread *thread) {
    struct wmx_read *outdated[WMX_READS];
    int count = 0;
    for (int i = 0; i < thread->read_count; i++)
        if (wmx->location[thread->read[i].location].count - 1 > thread->read[i].stamp)
            outdated[count++] = &thread->read[i];
    if (count == 0)
        return;
    thread->relaxed_in_vain = 0;
    const struct wmx_read *read = outdated[wmx_choose(count)];
    if (thread->view.stamp[read->location] <= read->stamp)
        thread->view.stamp[read->location] = (uint8_t)(read->stamp + 1);
}

void wf_os_barrier(void) {
    wmx_fence_everywhere(HERE);
}

static int lock_of(void *address) {
    for (int i = 0; i < wmx->lock_count; i++)
        if (wmx->lock[i].address == (uintptr_t)address)
            return i;
    if (wmx->lock_count == WMX_LOCKS)
        wmx_fail("more than %d locks", WMX_LOCKS);
    wmx->lock[wmx->lock_count] = (struct wmx_lock){.address = (uintptr_t)address};
    return wmx->lock_count++;
}

void model_lock_take(void *address) {
    wmx_step();
    struct wmx_thread *thread = &wmx->thread[wmx->current];
    thread->lock = lock_of(address);
    struct wmx_lock *lock = &wmx->lock[thread->lock];
    if (lock->is_taken) {
        thread->status = WMX_LOCKING;
        wmx_block();
    }
    lock->is_taken = true;
    wmx_join_view(&thread->view, &lock->view);
    wmx_log('M', 0, -1, 0, 0, HERE);
    wmx_tick(thread);
}

void model_lock_drop(void *address) {
    wmx_step();
    struct wmx_thread *thread = &wmx->thread[wmx->current];
    struct wmx_lock *lock = &wmx->lock[lock_of(address)];
    lock->is_taken = false;
    lock->view = thread->view;
    wmx_log('N', 0, -1, 0, 0, HERE);
    wmx_tick(thread);
}

void *wf_os_alloc(size_t bytes) {
    return wmx_alloc(16, bytes, HERE);
}

void *wf_os_alloc_aligned(size_t alignment, size_t bytes) {
    return wmx_alloc(alignment, bytes, HERE);
}

void wf_os_free(void *block) {
    wmx_free(block, HERE);
}

_Noreturn void wf_assert_fail(const char *text, const char *file, int line) {
    wmx_fail("%s:%d: broken invariant: %s", file, line, text);
}

_Noreturn void model_fail(const char *text, const char *file, int line) {
    wmx_fail("%s:%d: %s", file, line, text);
}

_Noreturn void model_unused(void) {
    wmx_fail("a function was called that has no part in this model");
}

void model_start(void (*function)(void *), void *argument) {
    struct wmx_thread *self = &wmx->thread[wmx->current];
    wmx_tick(self);
    wmx_spawn(function, argument);
    wmx_tick(self);
}

int model_thread(void) {
    return wmx->current;
}

void model_join_all(void) {
    struct wmx_thread *self = &wmx->thread[wmx->current];
    self->status = WMX_JOINING;
    wmx_block();
    for (int i = 0; i < wmx->thread_count; i++)
        wmx_join_view(&self->view, &wmx->thread[i].view);
}

int model_choose(int width) {
    return wmx_choose(width);
}

void model_allow_spurious_wakes(int count) {
    wmx->spurious_left = count;
}

const char *model_case(void) {
    return wmx->options.test_case;
}
