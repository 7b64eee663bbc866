/* SPDX-License-Identifier: MIT
 *
 * tests/model/items.h - tasks with a body, and the oracle "each exactly once".
 *
 * The body is plain memory, written before the push and read by whoever takes the task: the race detector so checks
 * that the queue publishes what it carries. Each thread notes what it took in its own log; model_main compares the logs
 * after the join. The oracle adds no atomic operation, so it cannot hide a missing order.
 */
#ifndef WF_TESTS_MODEL_ITEMS_H
#define WF_TESTS_MODEL_ITEMS_H

#include "base/task.h"
#include "model.h"

enum { ITEMS = 8 };

struct item {
    struct wf_task task;
    int64_t body;
};

struct items_log {
    int64_t count;
    int64_t id[ITEMS];
};

static struct item items[ITEMS];

static inline struct wf_task *items_make(int id) {
    items[id].body = 100 + id;
    return &items[id].task;
}

static inline void items_take(struct items_log *log, struct wf_task *task) {
    if (!task)
        return;
    struct item *item = (struct item *)(void *)task;
    int64_t id = item - items;
    CHECK(item->body == 100 + id);
    item->body = 0; /* a second taker finds nothing, and races with the first */
    log->id[log->count++] = id;
}

static inline void items_take_chain(struct items_log *log, struct wf_chain *chain) {
    while (chain->count)
        items_take(log, wf_chain_take_first(chain));
}

/* A consumer of a FIFO sees the items of one producer (ids from first to last) in the order of the pushes. */
static inline void items_check_order(const struct items_log *log, int first, int last) {
    int64_t previous = -1;
    for (int i = 0; i < log->count; i++) {
        if (log->id[i] < first || log->id[i] > last)
            continue;
        CHECK(log->id[i] > previous);
        previous = log->id[i];
    }
}

static inline void items_check_all(const struct items_log *log, int logs, int made) {
    int taken[ITEMS] = {0};
    for (int i = 0; i < logs; i++)
        for (int j = 0; j < log[i].count; j++)
            taken[log[i].id[j]]++;
    for (int i = 0; i < made; i++)
        CHECK(taken[i] == 1);
}

#endif
