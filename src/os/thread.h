/* SPDX-License-Identifier: MIT
 *
 * os/thread.h - operating system threads and what belongs to one of them.
 *
 * Used by the engine for its workers. Nothing here knows fibers. Whatever is asked about "the calling thread" is only
 * true until the caller, if it is a fiber, is suspended: the answers must not be kept across that. Threads of the
 * program itself are not touched, except for the one that calls weft_run.
 */
#ifndef WF_OS_THREAD_H
#define WF_OS_THREAD_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wf_os_thread {
    pthread_t handle;
};

/* Starts a thread that runs fn(arg) on a stack of 8 MiB, with all signals blocked except the synchronous ones. The name is
 * cut at 15 bytes.
 * Returns 0, -EAGAIN or -ENOMEM. */
int wf_os_thread_start(struct wf_os_thread *thread, const char *name, void (*fn)(void *arg), void *arg);
/* On a thread of the program, before the first start: its signal mask is the program's own, and the processors of the machine
 * that it may use are what threads begin with. */
void wf_os_thread_note_program(void);
/* From now on child is called in the child of every fork. Returns 0 or -ENOMEM. */
int wf_os_at_fork(void (*child)(void));
/* In the child of a fork: whoever was starting a thread is gone. */
void wf_os_thread_after_fork(void);
/* In the child of a fork by such a thread: the program's own signal mask again. */
void wf_os_thread_restore_signals(void);
/* Waits for its end; or never will, and it ends by itself. */
void wf_os_thread_join(struct wf_os_thread *thread);
void wf_os_thread_detach(struct wf_os_thread *thread);

/* Asks for timers as exact as the system has them: the default slack of 50 us is longer than a hundred switches. */
void wf_os_thread_exact_timers(void);

/* Where and how the kernel runs a thread. */
struct wf_os_thread_policy {
    cpu_set_t cpus;
    int nice;
    int kind;
    int priority;
    bool has_cpus;
    bool has_nice;
    bool has_kind;
};

/* Whether the text is a list of processors of the machine, as in "0-3,8"; NULL is. Returns 0 or -EINVAL. */
int wf_os_cpus_check(const char *cpus);
/* Of the calling thread: what is NULL or 0 stays as it is. What was before goes to *before. Returns 0 or, with nothing
 * changed, a negative error. */
int wf_os_thread_policy_set(struct wf_os_thread_policy *before, const char *cpus, int nice, unsigned real_time);
/* Back to that. A negative error when the system does not let us. */
int wf_os_thread_policy_restore(const struct wf_os_thread_policy *before);

/* Lowest address and size of the calling thread's own stack. Returns 0 or -ENOMEM. */
int wf_os_thread_stack(void **low, size_t *size);

/* Kernel id of the calling thread. */
int64_t wf_os_thread_id(void);
void wf_os_thread_yield(void);
/* For how many nanoseconds a thread of this process has had a processor of the machine, to a tick of the kernel; -ENOENT and
 * other errors when that cannot be learnt. */
int64_t wf_os_thread_ran(int64_t thread_id);
/* Whether it waits inside the kernel: neither running, nor ready to run, nor stopped. */
bool wf_os_thread_waits(int64_t thread_id);

/* How many threads this process has, those of sanitizers included; a negative error when it cannot be learnt. */
int wf_os_thread_count(void);

/* Where errno of the calling thread lives. A real call each time: compilers believe that the address never changes
 * within a function, which is false for a fiber. */
int *wf_os_errno_location(void);

/* Processors that this process may use, by its affinity mask; at least 1. Returns a negative error when it cannot be
 * learnt. */
int wf_os_processors(void);

#endif
