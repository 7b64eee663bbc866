/* SPDX-License-Identifier: MIT
 *
 * weft/signal.h - signals as something that a fiber waits for.
 *
 *     weft_signals stop;
 *     weft_signal_info info;
 *     weft_signals_open(&stop, (int[]){SIGINT, SIGTERM}, 2);
 *     weft_case cases[] = {weft_on_signal(stop, &info), weft_on_receive(jobs, &job)};
 *     while (weft_select(cases, 2, WEFT_NEVER) == 1)
 *         work(job);
 *     printf("ended by signal %d\n", info.number);
 *     weft_signals_close(stop);
 *
 * While a signal is in some open set it does nothing else: its default action, or the handler that the program had, comes
 * back when the last set with it is closed. Every open set gets every signal that is in it; of one set, one waiter gets it.
 * Signals are counted and not queued: what comes again before somebody has waited for it is the same one with a higher count.
 * (The kernel itself merges a signal that comes again before it was delivered.) What came before the set was opened is not
 * told.
 *
 * A signal has to reach us: some thread of the process must not block it. Threads of weft block all of them, the one that
 * calls weft_run and others that the program has made do as the program says. Where all threads block a signal it stays
 * pending in the kernel, and nobody here is told.
 *
 * A set is named by a value that goes stale when it is closed. In the child of a fork, all of them are stale and signals do
 * what they did before. From fibers and from plain threads, with or without a runtime; not from signal handlers.
 */
#ifndef WEFT_SIGNAL_H
#define WEFT_SIGNAL_H

#include "weft/select.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_signals {
    uint64_t bits;
} weft_signals;

#define WEFT_NO_SIGNALS ((weft_signals){0})

typedef struct weft_signal_info {
    int number;
    int sender;     /* process id of whoever sent it last; 0: the kernel, or not known */
    unsigned user;  /* and whose process that is */
    uint64_t count; /* how often it came since it was last told; at least 1 */
} weft_signal_info;

/* Catches these signals from now on. Returns 0; -EINVAL for null, a count below 1, and a number that is no signal, that
 * cannot be caught (SIGKILL, SIGSTOP), that an instruction causes (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS) or that
 * weft needs for itself (SIGURG); -EAGAIN when 65536 sets are open; -ENOMEM, -EMFILE, -ENFILE. The first call in a process
 * opens descriptors and starts a thread, which stay. */
WEFT_API int weft_signals_open(weft_signals *out, const int *numbers, int count);

/* Waits for the next signal of that set. *info may be null. Returns 0; -ETIMEDOUT, at once for WEFT_NOW; -ECANCELED; -ESTALE,
 * also when it is closed meanwhile; -ENOMEM when the deadline cannot be armed. When several have come, they take turns. */
WEFT_API int weft_signal_wait(weft_signals signals, weft_signal_info *info, weft_time deadline);
/* The same as a case of weft_select. */
WEFT_API weft_case weft_on_signal(weft_signals signals, weft_signal_info *info);

/* Forgets the set and what it has not told. Whoever waits gets -ESTALE. A handler that the program has installed meanwhile
 * stays. Returns 0 or -ESTALE. */
WEFT_API int weft_signals_close(weft_signals signals);

#ifdef __cplusplus
}
#endif

#endif
