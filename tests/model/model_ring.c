/* SPDX-License-Identifier: MIT
 *
 * tests/model/model_ring.c - queue/ring.c with four slots: every task exactly once, and in order for each consumer.
 *
 * Cases
 *   steal    three tasks, a popping owner, two thieves
 *   export   five pushes, one of them into a full ring, against a thief that comes twice
 *   relay    a thief steals two of four into its own ring, from which a second thief steals
 *   reuse    slots are filled again while a thief still looks at the old tasks
 *   crowd    two thieves at once, and an owner that fills the slots again as soon as it may
 */
#include "items.h"
#include "queue/ring.h"

#include <string.h>

static struct wf_ring ring, ring_of_thief[2];
static struct wf_chain exported;
static struct items_log logs[4];

static void push(int id) {
    struct wf_task *task = items_make(id);
    if (wf_ring_push_owner(&ring, task))
        return;
    if (wf_ring_export_owner(&ring, &exported))
        CHECK(wf_ring_push_owner(&ring, task));
    else if (!wf_ring_push_owner(&ring, task))
        wf_chain_append(&exported, task);
}

static void pop_all(struct wf_ring *from, struct items_log *log) {
    struct wf_task *task;
    while ((task = wf_ring_pop_owner(from)))
        items_take(log, task);
}

static void steal(struct wf_ring *victim, struct wf_ring *own, struct items_log *log) {
    struct wf_task *first = NULL;
    int count = wf_ring_steal_thief(victim, own, &first);
    CHECK(count >= -1);
    CHECK(count <= WF_RING_CAPACITY / 2);
    CHECK((count > 0) == (first != NULL));
    items_take(log, first);
}

static void owner_steal(void *log) {
    push(0);
    push(1);
    push(2);
    pop_all(&ring, log);
}

static void owner_export(void *log) {
    for (int i = 0; i < 5; i++)
        push(i);
    items_take(log, wf_ring_pop_owner(&ring));
}

static void owner_relay(void *unused) {
    (void)unused;
    for (int i = 0; i < 4; i++)
        push(i);
}

static void owner_reuse(void *log) {
    push(0);
    for (int i = 1; i < 6; i++) {
        push(i);
        items_take(log, wf_ring_pop_owner(&ring));
    }
}

static void owner_crowd(void *unused) {
    (void)unused;
    for (int i = 0; i < 6; i++)
        push(i);
}

static void thief_0(void *log) {
    steal(&ring, &ring_of_thief[0], log);
    pop_all(&ring_of_thief[0], log);
}

static void thief_0_twice(void *log) {
    steal(&ring, &ring_of_thief[0], log);
    steal(&ring, &ring_of_thief[0], log);
}

static void thief_1(void *log) {
    steal(&ring, &ring_of_thief[1], log);
    pop_all(&ring_of_thief[1], log);
}

static void thief_of_thief(void *log) {
    steal(&ring_of_thief[0], &ring_of_thief[1], log);
    pop_all(&ring_of_thief[1], log);
}

static int start_case(const char *name) {
    if (strcmp(name, "steal") == 0) {
        model_start(owner_steal, &logs[0]);
        model_start(thief_0, &logs[1]);
        model_start(thief_1, &logs[2]);
        return 3;
    }
    if (strcmp(name, "export") == 0) {
        model_start(owner_export, &logs[0]);
        model_start(thief_0_twice, &logs[1]);
        return 5;
    }
    if (strcmp(name, "relay") == 0) {
        model_start(owner_relay, &logs[0]);
        model_start(thief_0, &logs[1]);
        model_start(thief_of_thief, &logs[2]);
        return 4;
    }
    if (strcmp(name, "crowd") == 0) {
        model_start(owner_crowd, NULL);
        model_start(thief_0, &logs[1]);
        model_start(thief_1, &logs[2]);
        return 6;
    }
    model_start(owner_reuse, &logs[0]);
    model_start(thief_0, &logs[1]);
    return 6;
}

void model_main(void) {
    int made = start_case(model_case());
    model_join_all();
    pop_all(&ring, &logs[3]);
    items_take_chain(&logs[3], &exported);
    pop_all(&ring_of_thief[0], &logs[3]);
    pop_all(&ring_of_thief[1], &logs[3]);
    CHECK(wf_ring_is_empty_any(&ring));
    items_check_all(logs, 4, made);
    for (int i = 0; i < 3; i++)
        items_check_order(&logs[i], 0, made - 1);
}
