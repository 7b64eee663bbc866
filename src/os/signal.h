/* SPDX-License-Identifier: MIT
 *
 * os/signal.h - the handler of faults, the alternate stacks that it runs on, and the signal that interrupts system calls.
 *
 * Signal dispositions belong to the process, not to a runtime: they are counted here, installed by the first runtime
 * that wants them and put back by the last.
 */
#ifndef WF_OS_SIGNAL_H
#define WF_OS_SIGNAL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WF_ALTSTACK_SIZE = 64 * 1024 };

/* Called on the alternate stack of the faulting thread. Returns true when it has dealt with the fault and the
 * interrupted code may go on with the context it left; false hands the fault to whoever was there before. */
typedef bool wf_fault_handler(int signal, siginfo_t *info, void *context);

/* Installs the handler for SIGSEGV and SIGBUS (and SIGFPE when with_fpe is set), or counts one more user of it. Every
 * user passes the same function. Returns 0 or a negative error. */
int wf_os_faults_install(wf_fault_handler *handler, bool with_fpe);
void wf_os_faults_remove(bool with_fpe);

/* In the child of a fork: whoever held the lock is gone. */
void wf_os_faults_after_fork(void);

/* Gives the calling thread an alternate stack, unless it has one already. memory is WF_ALTSTACK_SIZE bytes that stay
 * until wf_os_altstack_remove. installed tells which case it was. Returns 0 or a negative error. */
int wf_os_altstack_install(void *memory, bool *installed);
void wf_os_altstack_remove(void);

/* Interrupting a thread that is blocked in a system call, by SIGURG: a signal that programs ignore unless they ask for it.
 *
 * prepare: once in the process is enough. Sees to it that the signal does something, by a handler that does nothing, if the
 * program has none of its own and does not ignore it. Returns 0 or a negative error.
 * allow: the calling thread can be interrupted from now on; threads of ours have all signals blocked. Costs nothing when it was
 * allowed before.
 * interrupt: that thread of this process, by its kernel id. Whatever it is blocked in returns with EINTR; what it begins to block
 * in a moment later does not. Returns 0; -ESRCH when there is no such thread, or another negative error. */
int wf_os_interrupt_prepare(void);
void wf_os_interrupt_allow(void);
int wf_os_interrupt(int64_t thread_id);

/* Changes the interrupted code so that it goes on in fn(arg) on the same stack. */
void wf_os_context_call(void *context, void (*fn)(void *arg), void *arg);

#endif
