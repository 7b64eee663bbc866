/* SPDX-License-Identifier: MIT
 *
 * os/signals.c - the handler of signals that are waited for. Contracts: os/signals.h.
 *
 * The handler counts (A) and then marks that something is new (B). Who looks takes the mark away (C) and then reads the
 * counts (D). A handler that finds the mark there leaves the descriptor alone: C comes after its B, so D sees its A.
 *
 * The descriptor is watched for edges and never read. It is full after 2^64 signals.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os/signals.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomic.h"
#include "os/fault.h"

/* Written by handlers, on any thread. */
static struct {
    _Atomic uint64_t count;
    _Atomic uint64_t sender; /* user << 32 | process id */
} tallies[WF_SIGNALS_END];
static _Atomic uint32_t has_caught;
static _Atomic int told_fd = -1;

/* What was there before; the catcher's. */
static struct sigaction uncaught[WF_SIGNALS_END];

static void on_caught(int number, siginfo_t *info, void *context);

bool wf_os_signal_can_be_caught(int number) {
    switch (number) {
    case SIGKILL:
    case SIGSTOP:
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGTRAP:
    case SIGSYS:
    case SIGURG: /* os/signal.h */
        return false;
    default: /* between the two kinds are those of the C library */
        return (number > 0 && number < 32) || (number >= SIGRTMIN && number <= SIGRTMAX);
    }
}

void wf_os_signals_tell(int event_fd) {
    wf_store_relaxed(&told_fd, event_fd);
}

int wf_os_signal_catch(int number) {
    int fault = wf_fault(WF_CALL_SIGACTION);
    if (fault)
        return fault;
    struct sigaction action = {.sa_sigaction = on_caught, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    sigemptyset(&action.sa_mask);
    return sigaction(number, &action, &uncaught[number]) == 0 ? 0 : -errno;
}

void wf_os_signal_drop(int number) {
    struct sigaction now;
    if (sigaction(number, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_caught)
        sigaction(number, &uncaught[number], NULL);
}

/* The bare write, which cannot fail but for a full counter, and that is readable. */
static void on_caught(int number, siginfo_t *info, void *context) {
    uint64_t one = 1;
    int kept = errno;
    int code = info->si_code; /* others have something else in those fields */
    bool has_sender = code == SI_USER || code == SI_QUEUE || code == SI_TKILL || number == SIGCHLD;
    (void)context;
    wf_store_relaxed(&tallies[number].sender, has_sender ? (uint64_t)info->si_uid << 32 | (uint32_t)info->si_pid : 0);
    wf_fetch_add_relaxed(&tallies[number].count, 1); /* A */
    if (wf_exchange_acq_rel(&has_caught, 1) == 0) {  /* B: pairs with C */
        long ignored = syscall(SYS_write, (long)wf_load_relaxed(&told_fd), &one, sizeof one);
        (void)ignored;
    }
    errno = kept;
}

void wf_os_signals_begin_look(void) {
    wf_exchange_acq_rel(&has_caught, 0); /* C: pairs with B */
}

struct wf_os_signal_tally wf_os_signal_tally(int number) {
    uint64_t sender = wf_load_relaxed(&tallies[number].sender);
    return (struct wf_os_signal_tally){
        .count = wf_load_relaxed(&tallies[number].count), /* D */
        .sender = (int)(uint32_t)sender,
        .user = (unsigned)(sender >> 32),
    };
}
