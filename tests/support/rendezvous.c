/* SPDX-License-Identifier: MIT
 *
 * support/rendezvous.c - a channel without a buffer for tests.
 *
 * Whoever comes second takes the first one out of its queue under the lock, hands over or fetches the value, and wakes
 * it. A sender carries its value beside its node.
 */
#ifdef WF_TESTING
#include "support/rendezvous.h"

#include "base/assert.h"

struct sender {
    struct wf_waiter waiter; /* first */
    void *value;
};

static int sleep_in_queue(struct wf_waiter *waiter, int64_t deadline_ns);

int rendezvous_send(struct rendezvous *channel, void *value, int64_t deadline_ns) {
    struct sender sender = {.value = value};
    wf_wait_begin(&sender.waiter, &channel->lock, &channel->senders);
    if (deadline_ns != WEFT_NEVER) {
        int error = wf_wait_arm(&sender.waiter, deadline_ns);
        if (error)
            return error;
    }
    wf_lock_take(&channel->lock);
    if (!channel->receivers)
        return sleep_in_queue(&sender.waiter, deadline_ns);
    wf_wait_wake_first_locked(&channel->receivers, 0, value);
    wf_lock_drop(&channel->lock);
    wf_wait_finish(&sender.waiter);
    return 0;
}

int rendezvous_receive(struct rendezvous *channel, void **value, int64_t deadline_ns) {
    struct wf_waiter waiter;
    wf_wait_begin(&waiter, &channel->lock, &channel->receivers);
    if (deadline_ns != WEFT_NEVER) {
        int error = wf_wait_arm(&waiter, deadline_ns);
        if (error)
            return error;
    }
    wf_lock_take(&channel->lock);
    if (!channel->senders) {
        int status = sleep_in_queue(&waiter, deadline_ns);
        if (status == 0)
            *value = waiter.value;
        return status;
    }
    *value = ((struct sender *)channel->senders)->value;
    wf_wait_wake_first_locked(&channel->senders, 0, NULL);
    wf_lock_drop(&channel->lock);
    wf_wait_finish(&waiter);
    return 0;
}

/* With the lock held, which is dropped. */
static int sleep_in_queue(struct wf_waiter *waiter, int64_t deadline_ns) {
    int status = wf_wait_sleep_locked(waiter, deadline_ns);
    wf_wait_finish(waiter);
    return status;
}
#else
typedef int rendezvous_unit_is_not_empty;
#endif
