/* SPDX-License-Identifier: MIT
 *
 * support/rendezvous.h - a channel without a buffer for tests, on the runtime's own way of waiting.
 *
 * A value passes from one sender to one receiver when both are there; each may be a fiber or a plain thread. Built on
 * wait/wait.h exactly as a real object would be, so that tests of parking need nothing above it. Only for suites that
 * are linked with the library's test build.
 */
#ifndef WF_SUPPORT_RENDEZVOUS_H
#define WF_SUPPORT_RENDEZVOUS_H

#include "queue/lock.h"
#include "wait/wait.h"

struct rendezvous {
    struct wf_lock lock;
    struct wf_waiter *senders; /* under lock; at most one of the two queues has somebody */
    struct wf_waiter *receivers;
};

/* Both return 0, or -ETIMEDOUT at the deadline: then nothing was passed. */
int rendezvous_send(struct rendezvous *channel, void *value, int64_t deadline_ns);
int rendezvous_receive(struct rendezvous *channel, void **value, int64_t deadline_ns);

#endif
