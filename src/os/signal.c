/* SPDX-License-Identifier: MIT
 *
 * os/signal.c - fault handlers, counted, with the program's own ones behind them; and interrupts.
 *
 * A fault that is not ours goes to the handler that was installed before: called if it is a function, and for the
 * default action the disposition is put back and the handler returns, so that the instruction faults again (or the signal
 * that was sent is raised again) and the process ends as it would have without weft, core file and all.
 *
 * The mutable state here is the process's signal dispositions mirrored; guarded by a pthread mutex that only start and
 * stop take. The handler itself reads words that are written before it is installed.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os/signal.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/assert.h"
#include "os/fault.h"

struct handler {
    int signal;
    int users;
    struct sigaction before;
};

static pthread_mutex_t handlers_lock = PTHREAD_MUTEX_INITIALIZER;
static struct handler handlers[] = {{.signal = SIGSEGV}, {.signal = SIGBUS}, {.signal = SIGFPE}};
static wf_fault_handler *fault_handler;
static bool has_interrupt; /* under the lock: SIGURG was looked at */

static int handler_install(struct handler *handler);
static void handler_remove(struct handler *handler);
static void on_fault(int signal, siginfo_t *info, void *context);
static void on_interrupt(int signal);

int wf_os_faults_install(wf_fault_handler *handler, bool with_fpe) {
    int count = with_fpe ? 3 : 2;
    int error = 0;
    pthread_mutex_lock(&handlers_lock);
    WF_ASSERT(!fault_handler || fault_handler == handler);
    fault_handler = handler;
    for (int i = 0; i < count && !error; i++) {
        error = handler_install(&handlers[i]);
        for (int k = i - 1; error && k >= 0; k--)
            handler_remove(&handlers[k]);
    }
    pthread_mutex_unlock(&handlers_lock);
    return error;
}

void wf_os_faults_remove(bool with_fpe) {
    pthread_mutex_lock(&handlers_lock);
    for (int i = 0; i < (with_fpe ? 3 : 2); i++)
        handler_remove(&handlers[i]);
    pthread_mutex_unlock(&handlers_lock);
}

void wf_os_faults_after_fork(void) {
    pthread_mutex_init(&handlers_lock, NULL);
}

static int handler_install(struct handler *handler) {
    if (handler->users == 0) {
        int fault = wf_fault(WF_CALL_SIGACTION);
        if (fault)
            return fault;
        struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
        sigemptyset(&action.sa_mask);
        if (sigaction(handler->signal, &action, &handler->before) != 0)
            return -errno;
    }
    handler->users++;
    return 0;
}

static void handler_remove(struct handler *handler) {
    WF_ASSERT(handler->users > 0);
    if (--handler->users > 0)
        return;
    struct sigaction now;
    /* A program that put its own handler over ours keeps it. */
    if (sigaction(handler->signal, NULL, &now) == 0 && now.sa_sigaction == on_fault)
        sigaction(handler->signal, &handler->before, NULL);
}

static void on_fault(int signal, siginfo_t *info, void *context) {
    bool is_sent = info->si_code <= 0; /* by kill or raise: no instruction faulted */
    if (!is_sent && fault_handler(signal, info, context))
        return;
    struct handler *handler = handlers;
    while (handler->signal != signal)
        handler++;
    struct sigaction *before = &handler->before;
    if (before->sa_flags & SA_SIGINFO) {
        before->sa_sigaction(signal, info, context);
    } else if (before->sa_handler == SIG_DFL || (before->sa_handler == SIG_IGN && !is_sent)) {
        struct sigaction standard = {.sa_handler = SIG_DFL};
        sigaction(signal, &standard, NULL);
        if (is_sent)
            raise(signal); /* taken when this handler returns */
    } else if (before->sa_handler != SIG_IGN) {
        before->sa_handler(signal);
    }
}

/* A program's own handler is left alone, also one that it installs later: it is called for ours as well. */
int wf_os_interrupt_prepare(void) {
    struct sigaction now;
    int error = 0;
    pthread_mutex_lock(&handlers_lock);
    if (!has_interrupt) {
        error = wf_fault(WF_CALL_SIGACTION);
        if (!error && sigaction(SIGURG, NULL, &now) != 0)
            error = -errno;
        if (!error && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL) {
            struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_ONSTACK}; /* and not SA_RESTART */
            sigemptyset(&action.sa_mask);
            if (sigaction(SIGURG, &action, NULL) != 0)
                error = -errno;
        }
        has_interrupt = error == 0;
    }
    pthread_mutex_unlock(&handlers_lock);
    return error;
}

static void on_interrupt(int signal) {
    (void)signal;
}

WF_NOINLINE void wf_os_interrupt_allow(void) {
    static __thread bool is_allowed;
    if (is_allowed)
        return;
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGURG);
    is_allowed = pthread_sigmask(SIG_UNBLOCK, &signals, NULL) == 0;
}

int wf_os_interrupt(int64_t thread_id) {
    int fault = wf_fault(WF_CALL_INTERRUPT);
    if (fault)
        return fault;
    return syscall(SYS_tgkill, (long)getpid(), (long)thread_id, SIGURG) == 0 ? 0 : -errno;
}

int wf_os_altstack_install(void *memory, bool *installed) {
    stack_t present;
    *installed = false;
    int fault = wf_fault(WF_CALL_SIGALTSTACK);
    if (fault)
        return fault;
    if (sigaltstack(NULL, &present) != 0)
        return -errno;
    if (!(present.ss_flags & SS_DISABLE))
        return 0;
    stack_t wanted = {.ss_sp = memory, .ss_size = WF_ALTSTACK_SIZE};
    if (sigaltstack(&wanted, NULL) != 0)
        return -errno;
    *installed = true;
    return 0;
}

void wf_os_altstack_remove(void) {
    stack_t none = {.ss_flags = SS_DISABLE};
    sigaltstack(&none, NULL);
}

void wf_os_context_call(void *context, void (*fn)(void *arg), void *arg) {
    ucontext_t *user = context;
#if defined(__x86_64__)
    greg_t *registers = user->uc_mcontext.gregs;
    /* Below the red zone, aligned as after a call, with the place of the fault as return address for backtraces. */
    uintptr_t stack = ((uintptr_t)registers[REG_RSP] - 128 - 64) & ~(uintptr_t)15;
    stack -= sizeof(uintptr_t);
    *(uintptr_t *)stack = (uintptr_t)registers[REG_RIP];
    registers[REG_RSP] = (greg_t)stack;
    registers[REG_RDI] = (greg_t)(uintptr_t)arg;
    registers[REG_RIP] = (greg_t)(uintptr_t)fn;
#else
    user->uc_mcontext.sp = (user->uc_mcontext.sp - 128) & ~(unsigned long long)15;
    user->uc_mcontext.regs[30] = user->uc_mcontext.pc;
    user->uc_mcontext.regs[0] = (unsigned long long)(uintptr_t)arg;
    user->uc_mcontext.pc = (unsigned long long)(uintptr_t)fn;
#endif
}
