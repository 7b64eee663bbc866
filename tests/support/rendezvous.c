/* SPDX-License-Identifier: MIT
 *
 * support/rendezvous.c - a channel without a buffer for tests.
 *
 * Whoever comes second takes the first one out of its queue under the lock, hands over or fetches the value, and wakes
 * it. A sender carries its value in its node.
 */
#ifdef WF_TESTING
#include "support/rendezvous.h"

#include "base/assert.h"

int rendezvous_send(struct rendezvous *channel, void *value, int64_t deadline_ns) {
    struct wf_waiter self = {.value = value};
    wf_lock_take(&channel->lock);
    struct wf_waiter *receiver = wf_wait_take_first_locked(&channel->receivers);
    if (!receiver)
        return wf_wait_locked(&self, &channel->lock, &channel->senders, deadline_ns, "rendezvous");
    receiver->status = 0;
    receiver->value = value;
    wf_lock_drop(&channel->lock);
    wf_wait_wake(receiver);
    return 0;
}

int rendezvous_receive(struct rendezvous *channel, void **value, int64_t deadline_ns) {
    struct wf_waiter self = {0};
    wf_lock_take(&channel->lock);
    struct wf_waiter *sender = wf_wait_take_first_locked(&channel->senders);
    if (!sender) {
        int status = wf_wait_locked(&self, &channel->lock, &channel->receivers, deadline_ns, "rendezvous");
        if (status == 0)
            *value = self.value;
        return status;
    }
    *value = sender->value;
    sender->status = 0;
    wf_lock_drop(&channel->lock);
    wf_wait_wake(sender);
    return 0;
}
#else
typedef int rendezvous_unit_is_not_empty;
#endif
