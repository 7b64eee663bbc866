/* SPDX-License-Identifier: MIT
 *
 * io/signal.h - sets of signals: what the rest of the library has to tell them.
 *
 * The interface is weft/signal.h, the model is told in io/signal.c: handlers count, the keeper tells the sets, and those wake
 * whoever waits.
 */
#ifndef WF_IO_SIGNAL_H
#define WF_IO_SIGNAL_H

#include "weft/signal.h"

/* Any thread: whether somebody waits for a signal. */
bool wf_signals_are_awaited(void);
/* In the child of a fork: all sets are closed, and signals do what they did before. */
void wf_signals_after_fork(void);

#endif
