/* SPDX-License-Identifier: MIT
 *
 * os/thread.c - threads.
 *
 * Worker threads block asynchronous signals, so that those go to the program's own threads; the thread that called
 * weft_run keeps the mask that the program gave it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assert.h"
#include "os/fault.h"
#include "os/memory.h"

struct start {
    void (*fn)(void *arg);
    void *arg;
    char name[16];
};

/* What foreign code is used to find. */
#define THREAD_STACK ((size_t)8 << 20)

/* What the thread that last ran an engine had blocked. */
static pthread_mutex_t program_mask_lock = PTHREAD_MUTEX_INITIALIZER;
static sigset_t program_mask;
static cpu_set_t program_cpus;
static bool has_program_cpus;
static int program_nice;

static void set_plain_policy(pthread_attr_t *attributes);
static void *thread_main(void *opaque);

int wf_os_thread_start(struct wf_os_thread *thread, const char *name, void (*fn)(void *arg), void *arg) {
    int fault = wf_fault(WF_CALL_THREAD);
    if (fault)
        return fault;
    struct start *start = wf_os_alloc(sizeof *start);
    if (!start)
        return -ENOMEM;
    start->fn = fn;
    start->arg = arg;
    strncpy(start->name, name, sizeof start->name - 1);

    sigset_t blocked;
    sigset_t before;
    sigfillset(&blocked);
    sigdelset(&blocked, SIGSEGV);
    sigdelset(&blocked, SIGBUS);
    sigdelset(&blocked, SIGFPE);
    sigdelset(&blocked, SIGILL);
    sigdelset(&blocked, SIGTRAP);
    sigdelset(&blocked, SIGABRT);
    sigdelset(&blocked, SIGPROF);
    sigdelset(&blocked, SIGSYS);
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (!error) {
        pthread_attr_setstacksize(&attributes, THREAD_STACK);
        set_plain_policy(&attributes);
        pthread_sigmask(SIG_SETMASK, &blocked, &before);
        error = pthread_create(&thread->handle, &attributes, thread_main, start);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        pthread_attr_destroy(&attributes);
    }
    if (error)
        wf_os_free(start);
    return -error;
}

void wf_os_thread_note_program(void) {
    pthread_mutex_lock(&program_mask_lock);
    pthread_sigmask(SIG_SETMASK, NULL, &program_mask);
    has_program_cpus = sched_getaffinity(0, sizeof program_cpus, &program_cpus) == 0;
    program_nice = getpriority(PRIO_PROCESS, (id_t)wf_os_thread_id());
    pthread_mutex_unlock(&program_mask_lock);
}

/* Whoever starts it may be a thread with a policy of its own, which is not passed on. (Niceness is, where the system does
 * not let a thread have less of it.) */
static void set_plain_policy(pthread_attr_t *attributes) {
    struct sched_param plain = {0};
    pthread_attr_setinheritsched(attributes, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(attributes, SCHED_OTHER);
    pthread_attr_setschedparam(attributes, &plain);
    pthread_mutex_lock(&program_mask_lock);
    if (has_program_cpus)
        pthread_attr_setaffinity_np(attributes, sizeof program_cpus, &program_cpus);
    pthread_mutex_unlock(&program_mask_lock);
}

int wf_os_at_fork(void (*child)(void)) {
    int fault = wf_fault(WF_CALL_ATFORK);
    return fault ? fault : -pthread_atfork(NULL, NULL, child);
}

/* There is only one thread in the child, so nobody writes; the lock may be held by one that is gone. */
void wf_os_thread_after_fork(void) {
    pthread_mutex_init(&program_mask_lock, NULL);
}

void wf_os_thread_restore_signals(void) {
    pthread_sigmask(SIG_SETMASK, &program_mask, NULL);
}

static void *thread_main(void *opaque) {
    struct start start = *(struct start *)opaque;
    wf_os_free(opaque);
    pthread_setname_np(pthread_self(), start.name);
    pthread_mutex_lock(&program_mask_lock);
    int nice = program_nice;
    pthread_mutex_unlock(&program_mask_lock);
    (void)setpriority(PRIO_PROCESS, (id_t)wf_os_thread_id(), nice); /* that of its starter may be another */
    start.fn(start.arg);
    return NULL;
}

void wf_os_thread_join(struct wf_os_thread *thread) {
    int error = pthread_join(thread->handle, NULL);
    WF_CHECK(error == 0);
}

void wf_os_thread_detach(struct wf_os_thread *thread) {
    int error = pthread_detach(thread->handle);
    WF_CHECK(error == 0);
}

void wf_os_thread_exact_timers(void) {
    (void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}

int wf_os_thread_stack(void **low, size_t *size) {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return -ENOMEM;
    int error = pthread_attr_getstack(&attributes, low, size);
    pthread_attr_destroy(&attributes);
    return -error;
}

int64_t wf_os_thread_id(void) {
    return syscall(SYS_gettid);
}

/* One read of /proc/self/stat. The name of the program, in parentheses, may hold anything; the count is the 18th word after
 * it. */
int wf_os_thread_count(void) {
    char text[1024];
    int fault = wf_fault(WF_CALL_THREAD_COUNT);
    if (fault)
        return fault;
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    ssize_t got = read(fd, text, sizeof text - 1);
    int error = got < 0 ? -errno : -EIO;
    close(fd);
    if (got <= 0)
        return error;
    text[got] = 0;
    const char *at = strrchr(text, ')');
    for (int word = 0; at && word < 18; word++)
        at = strchr(at + 1, ' ');
    int count = at ? atoi(at) : 0;
    return count > 0 ? count : -EIO;
}

/* The second number of its schedstat: time run, time waited on a run queue, slices. */
/* The beginning of a file that the kernel keeps about a thread. */
static int read_about(int64_t thread_id, const char *file, char *text, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%lld/%s", (long long)thread_id, file);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    ssize_t got = read(fd, text, size - 1);
    close(fd);
    if (got <= 0)
        return -EIO;
    text[got] = 0;
    return 0;
}

int64_t wf_os_thread_ran(int64_t thread_id) {
    char text[96];
    int fault = wf_fault(WF_CALL_THREAD_RAN);
    int error = fault ? fault : read_about(thread_id, "schedstat", text, sizeof text);
    return error ? error : strtoll(text, NULL, 10);
}

bool wf_os_thread_waits(int64_t thread_id) {
    char text[96]; /* "id (name) state ...", and the name has at most 15 characters */
    if (read_about(thread_id, "stat", text, sizeof text) != 0)
        return false;
    const char *name_end = strrchr(text, ')');
    return name_end && name_end[1] == ' ' && (name_end[2] == 'S' || name_end[2] == 'D');
}

void wf_os_thread_yield(void) {
    sched_yield();
}

WF_NOINLINE int *wf_os_errno_location(void) {
    int *location = &errno;
    __asm__ volatile("" : "+r"(location));
    return location;
}

int wf_os_processors(void) {
    int fault = wf_fault(WF_CALL_AFFINITY);
    if (fault)
        return fault;
    for (int size = 1024; size <= 1 << 16; size *= 4) { /* machines with more processors than a cpu_set_t names */
        cpu_set_t *set = CPU_ALLOC(size);
        if (!set)
            return -ENOMEM;
        int failed = sched_getaffinity(0, CPU_ALLOC_SIZE(size), set);
        int count = failed ? 0 : CPU_COUNT_S(CPU_ALLOC_SIZE(size), set);
        CPU_FREE(set);
        if (count > 0)
            return count;
    }
    return -EINVAL;
}
