/* SPDX-License-Identifier: MIT
 *
 * queue/mailbox.c - many to one. Model, invariants and the pair A, B: queue/mailbox.h.
 *
 * The stack has the newest on top; the owner turns it round once, on its own time, so that pushers stay at one compare
 * and swap and the owner runs tasks in the order of their arrival.
 */
#include "queue/mailbox.h"

/* Mutants, found by tests/model/model_mailbox.c. */
#ifdef WF_MUTANT_MAILBOX_RELAXED_PUSH
#define MAILBOX_CAS_PUSH wf_cas_relaxed
#else
#define MAILBOX_CAS_PUSH wf_cas_release
#endif
#ifdef WF_MUTANT_MAILBOX_RELAXED_TAKE
#define MAILBOX_EXCHANGE_TAKE wf_exchange_relaxed
#else
#define MAILBOX_EXCHANGE_TAKE wf_exchange_acquire
#endif

void wf_mailbox_init(struct wf_mailbox *mailbox) {
    wf_store_relaxed(&mailbox->top, NULL);
}

bool wf_mailbox_push_any(struct wf_mailbox *mailbox, struct wf_task *task) {
    struct wf_task *top = wf_load_relaxed(&mailbox->top);
#ifdef WF_MUTANT_MAILBOX_PUSH_WITHOUT_CAS
    task->next = top;
    wf_store_release(&mailbox->top, task);
#else
    do {
        task->next = top;
        /* A: publishes the task and its link */
    } while (!MAILBOX_CAS_PUSH(&mailbox->top, &top, task));
#endif
    return top == NULL;
}

size_t wf_mailbox_take_owner(struct wf_mailbox *mailbox, struct wf_chain *out) {
    if (wf_mailbox_is_empty_any(mailbox))
        return 0;
#ifdef WF_MUTANT_MAILBOX_TAKE_BY_STORE
    struct wf_task *newest = wf_load_acquire(&mailbox->top);
    wf_store_relaxed(&mailbox->top, NULL);
#else
    struct wf_task *newest = MAILBOX_EXCHANGE_TAKE(&mailbox->top, NULL); /* B */
#endif
    struct wf_task *oldest = NULL;
    while (newest) {
        struct wf_task *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    size_t count = 0;
    while (oldest) {
        struct wf_task *next = oldest->next;
        wf_chain_append(out, oldest);
        oldest = next;
        count++;
    }
    return count;
}
