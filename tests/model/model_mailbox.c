/* SPDX-License-Identifier: MIT
 *
 * tests/model/model_mailbox.c - queue/mailbox.c: every task exactly once, in order for each pusher, and exactly one push
 * that says "was empty" for each take that finds something.
 *
 * Cases
 *   many    two pushers (two tasks and one), an owner that takes twice
 *   three   three pushers with one task each
 */
#include "items.h"
#include "queue/mailbox.h"

#include <string.h>

static struct wf_mailbox mailbox;
static struct items_log logs[2];
static int64_t was_empty[3], takes[2];

static void pusher_of_two(void *count) {
    int64_t *n = count;
    *n += wf_mailbox_push_any(&mailbox, items_make(0));
    *n += wf_mailbox_push_any(&mailbox, items_make(1));
}

static void pusher_of_2(void *count) {
    *(int64_t *)count += wf_mailbox_push_any(&mailbox, items_make(2));
}

static void pusher_of_0(void *count) {
    *(int64_t *)count += wf_mailbox_push_any(&mailbox, items_make(0));
}

static void pusher_of_1(void *count) {
    *(int64_t *)count += wf_mailbox_push_any(&mailbox, items_make(1));
}

static void take(int by) {
    struct wf_chain chain = {0};
    size_t count = wf_mailbox_take_owner(&mailbox, &chain);
    CHECK(count == chain.count);
    takes[by] += count > 0;
    items_take_chain(&logs[by], &chain);
}

static void owner(void *unused) {
    (void)unused;
    take(0);
    take(0);
}

void model_main(void) {
    bool is_many = strcmp(model_case(), "many") == 0;
    if (is_many) {
        model_start(pusher_of_two, &was_empty[0]);
    } else {
        model_start(pusher_of_0, &was_empty[0]);
        model_start(pusher_of_1, &was_empty[1]);
    }
    model_start(pusher_of_2, &was_empty[2]);
    model_start(owner, NULL);
    model_join_all();
    take(1);
    CHECK(wf_mailbox_is_empty_any(&mailbox));
    items_check_all(logs, 2, 3);
    CHECK(was_empty[0] + was_empty[1] + was_empty[2] == takes[0] + takes[1]);
    if (is_many) {
        items_check_order(&logs[0], 0, 1);
        items_check_order(&logs[1], 0, 1);
    }
}
