/* SPDX-License-Identifier: MIT
 *
 * unit/sync/memory_test.c - deadlines that cannot be armed: every blocking call says -ENOMEM and has got nothing.
 *
 * A worker whose timers fit into no run needs memory for the first of them; with every allocation failing, none of the calls
 * can begin to wait. Afterwards each object is as it was and works.
 */
#include "os/fault.h"
#include "support/timers.h"
#include "unit/sync/waiters.h"

static weft_mutex mutex = WEFT_MUTEX_INIT;
static weft_rwlock rwlock = WEFT_RWLOCK_INIT;
static weft_cond cond = WEFT_COND_INIT;
static weft_semaphore semaphore = WEFT_SEMAPHORE_INIT(2);
static weft_waitgroup group = WEFT_WAITGROUP_INIT;
static weft_once once = WEFT_ONCE_INIT;
static weft_barrier barrier = WEFT_BARRIER_INIT(2);
static atomic_int gate, is_held;

static void stay(void *arg) {
    (void)arg;
    atomic_store(&is_held, 1);
    WAIT_UNTIL(atomic_load(&gate));
}

/* Holds what the others are to wait for. */
static void *hold(void *arg) {
    CHECK_EQ(weft_mutex_lock(&mutex, WEFT_NEVER), 0);
    CHECK_EQ(weft_rwlock_write(&rwlock, WEFT_NEVER), 0);
    weft_waitgroup_add(&group, 1);
    CHECK_EQ(weft_once_call(&once, stay, NULL, WEFT_NEVER), 0);
    weft_waitgroup_done(&group);
    weft_rwlock_unlock(&rwlock);
    weft_mutex_unlock(&mutex);
    return arg;
}

static int wait_on_cond(weft_time deadline) {
    static weft_mutex own = WEFT_MUTEX_INIT;
    CHECK_EQ(weft_mutex_lock(&own, WEFT_NEVER), 0);
    int status = weft_cond_wait(&cond, &own, deadline);
    weft_mutex_unlock(&own); /* held whatever came */
    CHECK(is_all_zero(&own, sizeof own));
    return status;
}

static int call(int which, weft_time deadline) {
    switch (which) {
    case 0:
        return weft_mutex_lock(&mutex, deadline);
    case 1:
        return weft_rwlock_read(&rwlock, deadline);
    case 2:
        return weft_rwlock_write(&rwlock, deadline);
    case 3:
        return wait_on_cond(deadline);
    case 4:
        return weft_semaphore_acquire(&semaphore, 3, deadline);
    case 5:
        return weft_waitgroup_wait(&group, deadline);
    case 6:
        return weft_once_call(&once, stay, NULL, deadline);
    default:
        return weft_barrier_wait(&barrier, deadline);
    }
}
enum { CALLS = 8 };

static void no_memory_body(void) {
    weft_fiber fiber;
    int statuses[CALLS];
    atomic_store(&gate, 0);
    atomic_store(&is_held, 0);
    SPAWN(&fiber, hold, NULL);
    WAIT_UNTIL(atomic_load(&is_held));
    timers_need_memory();
    wf_fault_order(WF_CALL_ALLOC, 1, ENOMEM, 1);
    for (int i = 0; i < CALLS; i++)
        statuses[i] = call(i, weft_after(PATIENCE_NS));
    wf_fault_order(WF_CALL_ALLOC, 0, 0, 0);
    for (int i = 0; i < CALLS; i++)
        CHECK_EQ(statuses[i], -ENOMEM);
    for (int i = 0; i < CALLS; i++)
        CHECK_EQ(call(i, weft_after(100 * WEFT_MICROSECOND)), -ETIMEDOUT);
    CHECK_EQ(barrier.arrived, 0);
    atomic_store(&gate, 1);
    JOIN(fiber, NULL);
    CHECK(is_all_zero(&mutex, sizeof mutex));
    CHECK(is_all_zero(&rwlock, sizeof rwlock));
    CHECK(is_all_zero(&cond, sizeof cond));
    CHECK(is_all_zero(&group, sizeof group));
    CHECK_EQ(weft_semaphore_permits(&semaphore), 2);
    CHECK(semaphore.waiters == NULL && barrier.waiters == NULL && once.waiters == NULL);
}

TEST(deadline_that_cannot_be_armed_is_an_error_and_nothing_else) {
    run_fibers(no_memory_body);
}
