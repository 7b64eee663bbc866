/* SPDX-License-Identifier: MIT
 *
 * unit/queue/crew.h - real threads for the stress tests, and the oracle "each id exactly once".
 *
 * crew_run starts count threads, lets them loose together and joins them. A ledger counts for each id how often it was
 * taken: at the end every count is one, which tells a lost task from a double one. All waiting is by wf_relax and a
 * yield, never by time: a hang is a bug and shows as a timeout of the test.
 */
#ifndef WF_TESTS_UNIT_QUEUE_CREW_H
#define WF_TESTS_UNIT_QUEUE_CREW_H

#include "base/atomic.h"
#include "base/task.h"
#include "support/check.h"

#include <pthread.h>
#include <sched.h>

enum { CREW_MAX = 16 };

struct crew_member {
    void (*work)(int index, void *shared);
    void *shared;
    int index;
    pthread_barrier_t *start;
};

static inline void *crew_enter(void *argument) {
    struct crew_member *member = argument;
    pthread_barrier_wait(member->start);
    member->work(member->index, member->shared);
    return NULL;
}

static inline void crew_run(int count, void (*work)(int index, void *shared), void *shared) {
    pthread_t thread[CREW_MAX];
    struct crew_member member[CREW_MAX];
    pthread_barrier_t start;
    CHECK_LE(count, CREW_MAX);
    CHECK_EQ(pthread_barrier_init(&start, NULL, (unsigned)count), 0);
    for (int i = 0; i < count; i++) {
        member[i] = (struct crew_member){work, shared, i, &start};
        CHECK_EQ(pthread_create(&thread[i], NULL, crew_enter, &member[i]), 0);
    }
    for (int i = 0; i < count; i++)
        CHECK_EQ(pthread_join(thread[i], NULL), 0);
    pthread_barrier_destroy(&start);
}

/* One step of a wait for another thread that may not have a core of its own. */
static inline void crew_wait(void) {
    wf_relax();
    sched_yield();
}

struct ledger_task {
    struct wf_task task;
    uint32_t id;
};

struct ledger {
    struct ledger_task *tasks;
    _Atomic uint8_t *taken;
    uint32_t count;
    _Atomic uint32_t total;
};

static inline void ledger_init(struct ledger *ledger, uint32_t count) {
    ledger->tasks = calloc(count, sizeof *ledger->tasks);
    ledger->taken = calloc(count, sizeof *ledger->taken);
    CHECK(ledger->tasks);
    CHECK(ledger->taken);
    ledger->count = count;
    wf_store_relaxed(&ledger->total, 0);
    for (uint32_t i = 0; i < count; i++)
        ledger->tasks[i].id = i;
}

static inline struct wf_task *ledger_task(struct ledger *ledger, uint32_t id) {
    return &ledger->tasks[id].task;
}

/* Notes that a task was taken, and returns its id. */
static inline uint32_t ledger_take(struct ledger *ledger, struct wf_task *task) {
    uint32_t id = ((struct ledger_task *)(void *)task)->id;
    CHECK_EQ(wf_fetch_add_relaxed(&ledger->taken[id], 1), 0);
    wf_fetch_add_release(&ledger->total, 1);
    return id;
}

static inline void ledger_take_chain(struct ledger *ledger, struct wf_chain *chain) {
    struct wf_task *task;
    while ((task = wf_chain_take_first(chain)))
        ledger_take(ledger, task);
}

static inline bool ledger_is_complete(struct ledger *ledger) {
    return wf_load_acquire(&ledger->total) == ledger->count;
}

static inline void ledger_term(struct ledger *ledger) {
    CHECK_EQ(wf_load_relaxed(&ledger->total), ledger->count);
    for (uint32_t i = 0; i < ledger->count; i++)
        CHECK_EQ(wf_load_relaxed(&ledger->taken[i]), 1);
    free(ledger->tasks);
    free((void *)ledger->taken);
}

#endif
