/* SPDX-License-Identifier: MIT
 *
 * os/signals.h - signals that are caught for somebody who waits: a handler that counts them and sets a descriptor.
 *
 * The handler runs on any thread at any moment. It knows one word a signal, and one descriptor of the process, which becomes
 * readable; who reads it looks at the words. Whoever catches and drops holds a lock of its own over all of this.
 */
#ifndef WF_OS_SIGNALS_H
#define WF_OS_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

enum { WF_SIGNALS_END = 65 }; /* one above the last number */

struct wf_os_signal_tally {
    uint64_t count; /* since the process began */
    int sender;
    unsigned user;
};

/* Whether it is a signal that can be waited for. */
bool wf_os_signal_can_be_caught(int number);
/* The descriptor that handlers set, an eventfd which stays open while anything is caught. */
void wf_os_signals_tell(int event_fd);
/* Installs the handler, keeping what was there; and puts that back, unless there is another handler by now. One catch for
 * each number at a time. catch: 0 or a negative error. */
int wf_os_signal_catch(int number);
void wf_os_signal_drop(int number);
/* Handlers that run after this set the descriptor again; those that ran before are in the tallies. */
void wf_os_signals_begin_look(void);
struct wf_os_signal_tally wf_os_signal_tally(int number);

#endif
