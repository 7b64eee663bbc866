/* SPDX-License-Identifier: MIT
 *
 * os/policy.c - where and how the kernel runs a thread: processors of the machine, niceness, real-time priority.
 *
 * On Linux niceness belongs to the thread and not to the process. Giving niceness back, or a real-time priority, may need a
 * right that the process has not; then the thread is not what it was.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/fault.h"
#include "os/thread.h"

static int parse_cpus(const char *text, cpu_set_t *set);
static int set_cpus(struct wf_os_thread_policy *before, const char *cpus);
static int set_nice(struct wf_os_thread_policy *before, int nice);
static int set_real_time(struct wf_os_thread_policy *before, unsigned priority);

int wf_os_cpus_check(const char *cpus) {
    cpu_set_t set;
    return cpus ? parse_cpus(cpus, &set) : 0;
}

static int parse_cpus(const char *text, cpu_set_t *set) {
    CPU_ZERO(set);
    const char *at = text;
    for (;;) {
        char *end;
        if (*at < '0' || *at > '9')
            return -EINVAL;
        unsigned long first = strtoul(at, &end, 10);
        unsigned long last = first;
        if (*end == '-') {
            at = end + 1;
            if (*at < '0' || *at > '9')
                return -EINVAL;
            last = strtoul(at, &end, 10);
        }
        if (first > last || last >= CPU_SETSIZE)
            return -EINVAL;
        for (unsigned long i = first; i <= last; i++)
            CPU_SET(i, set);
        if (*end == 0)
            return 0;
        if (*end != ',')
            return -EINVAL;
        at = end + 1;
    }
}

int wf_os_thread_policy_set(struct wf_os_thread_policy *before, const char *cpus, int nice, unsigned real_time) {
    memset(before, 0, sizeof *before);
    int error = cpus ? set_cpus(before, cpus) : 0;
    if (!error && real_time)
        error = set_real_time(before, real_time);
    if (!error && nice) /* last, because it is what may not be given back */
        error = set_nice(before, nice);
    if (error)
        (void)wf_os_thread_policy_restore(before);
    return error;
}

static int set_cpus(struct wf_os_thread_policy *before, const char *cpus) {
    cpu_set_t set;
    int error = parse_cpus(cpus, &set);
    if (!error)
        error = wf_fault(WF_CALL_POLICY);
    if (error)
        return error;
    if (sched_getaffinity(0, sizeof before->cpus, &before->cpus) != 0 || sched_setaffinity(0, sizeof set, &set) != 0)
        return -errno;
    before->has_cpus = true;
    return 0;
}

static int set_nice(struct wf_os_thread_policy *before, int nice) {
    int error = wf_fault(WF_CALL_POLICY);
    if (error)
        return error;
    id_t thread = (id_t)syscall(SYS_gettid);
    errno = 0;
    before->nice = getpriority(PRIO_PROCESS, thread);
    if (errno != 0 || setpriority(PRIO_PROCESS, thread, nice) != 0)
        return errno == EACCES ? -EPERM : -errno;
    before->has_nice = true;
    return 0;
}

static int set_real_time(struct wf_os_thread_policy *before, unsigned priority) {
    int error = wf_fault(WF_CALL_POLICY);
    if (error)
        return error;
    struct sched_param was;
    error = pthread_getschedparam(pthread_self(), &before->kind, &was);
    if (error)
        return -error;
    before->priority = was.sched_priority;
    struct sched_param wanted = {.sched_priority = (int)priority};
    error = pthread_setschedparam(pthread_self(), SCHED_FIFO, &wanted);
    before->has_kind = error == 0;
    return -error;
}

int wf_os_thread_policy_restore(const struct wf_os_thread_policy *before) {
    int error = wf_fault(WF_CALL_POLICY);
    if (error)
        return error;
    struct sched_param was = {.sched_priority = before->priority};
    if (before->has_kind)
        error = -pthread_setschedparam(pthread_self(), before->kind, &was);
    if (before->has_nice && setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), before->nice) != 0)
        error = errno == EACCES ? -EPERM : -errno;
    if (before->has_cpus && sched_setaffinity(0, sizeof before->cpus, &before->cpus) != 0)
        error = -errno;
    return error;
}
