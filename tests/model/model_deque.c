/* SPDX-License-Identifier: MIT
 *
 * tests/model/model_deque.c - queue/deque.c: every task is taken exactly once, and seen whole by its taker.
 *
 * Cases
 *   last   two tasks, two thieves: the fight for the last task from both ends
 *   turn   push, pop, push: a thief may read the bottom that the pop stored, and must still see the first push
 *   grow   three tasks in an array of two slots, while a thief reads the old array
 */
#include "items.h"
#include "queue/deque.h"

#include <string.h>

static struct wf_deque deque;
static struct items_log logs[4];

static void push(int id) {
    CHECK(wf_deque_push_owner(&deque, items_make(id)) == 0);
}

static void pop(struct items_log *log) {
    items_take(log, wf_deque_pop_owner(&deque));
}

static void owner_last(void *log) {
    push(0);
#ifndef MODEL_MUTANT_FOREIGN_PUSH
    push(1);
#endif
    pop(log);
    pop(log);
}

static void owner_turn(void *log) {
    push(0);
    push(1);
    pop(log);
    push(2);
    pop(log);
}

static void owner_grow(void *log) {
    push(0);
    push(1);
    push(2);
    pop(log);
}

static void thief(void *log) {
    struct wf_task *task;
    int result = wf_deque_steal_thief(&deque, &task);
    CHECK(result >= -1 && result <= 1);
    if (result == 1)
        items_take(log, task);
}

static void thief_twice(void *log) {
    thief(log);
    thief(log);
}

/* With the mutant one of the thieves pushes first, which only the owner may. */
static void other_thief(void *log) {
#ifdef MODEL_MUTANT_FOREIGN_PUSH
    push(1);
#endif
    thief(log);
}

void model_main(void) {
    CHECK(wf_deque_init(&deque) == 0);
    int made = 3;
    if (strcmp(model_case(), "last") == 0) {
        made = 2;
        model_start(owner_last, &logs[0]);
        model_start(thief, &logs[1]);
        model_start(other_thief, &logs[2]);
    } else if (strcmp(model_case(), "turn") == 0) {
        model_start(owner_turn, &logs[0]);
        model_start(thief_twice, &logs[1]);
    } else {
        model_start(owner_grow, &logs[0]);
        model_start(thief_twice, &logs[1]);
    }
    model_join_all();
    for (int i = 0; i < made; i++)
        pop(&logs[3]);
    CHECK(wf_deque_is_empty_any(&deque));
    items_check_all(logs, 4, made);
    wf_deque_term(&deque);
}
