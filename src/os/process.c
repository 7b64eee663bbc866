/* SPDX-License-Identifier: MIT
 *
 * os/process.c - child processes. Contracts: os/process.h.
 *
 * The child shares our memory until it runs its program, and this thread stands still meanwhile (CLONE_VM, CLONE_VFORK): no
 * page tables are copied, however large we are, and it can tell us what went wrong by writing it down. In return it must not
 * disturb anything. It has a stack of its own; it makes bare system calls, so that neither the C library nor a sanitizer
 * keeps books about them in our memory; and no handler of ours may run in it: all signals are blocked before it begins, and
 * handlers are set to default before they are let through.
 *
 * Rejected: posix_spawn, which can do all of this but the signal at the end of its parent; fork, which copies page tables
 * and runs handlers of others in a process that has only one of its threads.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os/process.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/atomic.h"
#include "os/call.h"
#include "os/epoll.h"
#include "os/fault.h"
#include "os/memory.h"

#ifndef P_PIDFD
#define P_PIDFD 3
#endif
#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x1000
#endif

/* CHILD_STACK: of a handful of calls. KERNEL_SET: bytes of a set of signals as the kernel has it. */
enum { CHILD_STACK = 16 * 1024, KERNEL_SIGNALS = 64, KERNEL_SET = 8, NO_PROGRAM = 127 };

/* What the child reads, and where it writes down its error. */
struct child_start {
    const struct wf_os_child *what;
    const char *const *environment;
    long parent;
    volatile int error;
};

/* clone of the C library, by the name that ThreadSanitizer does not put its own in the place of: that one takes the child for
 * one with memory of its own, and from then on overlooks what this thread does. */
int __clone(int (*fn)(void *arg), void *stack, int flags, void *arg, ...); // NOLINT(bugprone-reserved-identifier)

#define CHILD_CODE __attribute__((no_sanitize("address", "thread", "undefined"), noinline))

static int child_enter(void *opaque);
static int child_prepare(const struct child_start *start);
static int child_place_descriptors(const int *numbers);
static void child_reset_signals(bool all);
static int child_exec(const struct child_start *start);
static long child_wait(int pidfd, siginfo_t *info, int options, struct rusage *usage);

const char **wf_os_child_paths(const char *name) {
    const char *list = getenv("PATH");
    if (!list)
        list = "/usr/local/bin:/bin:/usr/bin";
    if (!*name || strchr(name, '/'))
        list = "";
    size_t count = 1;
    for (const char *at = list; *at; at++)
        count += *at == ':';
    size_t name_size = strlen(name) + 1;
    const char **paths = wf_os_alloc((count + 1) * sizeof *paths + strlen(list) + count * (name_size + 1));
    if (!paths)
        return NULL;
    char *text = (char *)(paths + count + 1);
    for (size_t i = 0; i < count; i++) {
        size_t length = strcspn(list, ":");
        paths[i] = text;
        memcpy(text, list, length);
        text += length;
        if (length > 0)
            *text++ = '/';
        memcpy(text, name, name_size);
        text += name_size;
        list += length + 1;
    }
    return paths;
}

/* Whether a pidfd of a process that is no child, our own, is refused for that reason. */
int wf_os_children_check(void) {
    static _Atomic int verdict; /* 1: they work */
    int fault = wf_fault(WF_CALL_CHILD);
    if (fault)
        return fault;
    if (wf_load_relaxed(&verdict))
        return 0;
    siginfo_t info;
    int pidfd = (int)syscall(SYS_pidfd_open, (long)getpid(), 0);
    if (pidfd < 0)
        return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -errno : -ENOSYS;
    bool works = child_wait(pidfd, &info, WEXITED | WNOHANG, NULL) < 0 && errno == ECHILD;
    wf_os_close(pidfd);
    if (works)
        wf_store_relaxed(&verdict, 1);
    return works ? 0 : -ENOSYS;
}

int wf_os_child_start(const struct wf_os_child *what, int *id) {
    int fault = wf_fault(WF_CALL_CHILD);
    if (fault)
        return fault;
    char *stack = wf_os_alloc_aligned(64, CHILD_STACK);
    if (!stack)
        return -ENOMEM;
    struct child_start start = {
        .what = what,
        .environment = what->environment ? what->environment : (const char *const *)environ,
        .parent = syscall(SYS_getpid),
    };
    uint64_t all = ~(uint64_t)0, before = 0;
    int pidfd = -1;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, KERNEL_SET);
    int pid = __clone(child_enter, stack + CHILD_STACK, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &start, &pidfd);
    int error = pid < 0 ? -errno : start.error;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, KERNEL_SET);
    wf_os_free(stack);
    if (error) {
        if (pid >= 0)
            wf_os_child_destroy(pidfd);
        return error;
    }
    *id = pid;
    return pidfd;
}

/* ---- In the child ---- */

CHILD_CODE static int child_enter(void *opaque) {
    struct child_start *start = opaque;
    int error = child_prepare(start);
    start->error = error ? error : child_exec(start);
    syscall(SYS_exit_group, NO_PROGRAM);
    return 0;
}

CHILD_CODE static int child_prepare(const struct child_start *start) {
    const struct wf_os_child *what = start->what;
    uint64_t none = 0;
    if (what->group == WEFT_PROCESS_OWN_SESSION && syscall(SYS_setsid) < 0)
        return -errno;
    if (what->group >= WEFT_PROCESS_OWN_GROUP && what->group != 0 &&
        syscall(SYS_setpgid, 0, what->group < 0 ? 0 : what->group) < 0)
        return -errno;
    if (what->dies_with) {
        if (syscall(SYS_prctl, PR_SET_PDEATHSIG, (long)what->dies_with, 0, 0, 0) < 0)
            return -errno;
        if (syscall(SYS_getppid) != start->parent) /* it has ended before that */
            return -ESRCH;
    }
    if (what->folder && syscall(SYS_chdir, what->folder) < 0)
        return -errno;
    int error = child_place_descriptors(what->numbers);
    if (error)
        return error;
    child_reset_signals(what->default_signals);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, KERNEL_SET);
    return 0;
}

/* Those that lie where others belong move out of the way first. The copies are closed when the program runs. */
CHILD_CODE static int child_place_descriptors(const int *numbers) {
    long from[3];
    for (int i = 0; i < 3; i++) {
        from[i] = numbers[i];
        if (from[i] >= 0 && from[i] < 3 && (from[i] = syscall(SYS_fcntl, from[i], F_DUPFD_CLOEXEC, 3)) < 0)
            return -errno;
    }
    for (int i = 0; i < 3; i++)
        if (from[i] >= 0 && syscall(SYS_dup3, from[i], (long)i, 0) < 0)
            return -errno;
    return 0;
}

/* What has a handler, and SIGPIPE, which we may have made ignored; or all. The handler is the first word of what the kernel
 * takes, and all zero is the default action. */
CHILD_CODE static void child_reset_signals(bool all) {
    for (long i = 1; i <= KERNEL_SIGNALS; i++) {
        volatile uintptr_t action[8] = {0};
        if (syscall(SYS_rt_sigaction, i, NULL, action, KERNEL_SET) < 0)
            continue;
        uintptr_t handler = action[0];
        if (handler == (uintptr_t)SIG_DFL || (handler == (uintptr_t)SIG_IGN && i != SIGPIPE && !all))
            continue;
        for (int k = 0; k < 8; k++)
            action[k] = 0;
        syscall(SYS_rt_sigaction, i, action, NULL, KERNEL_SET);
    }
}

/* As execvp looks: past places where it is not, or may not be run, the latter being remembered. */
CHILD_CODE static int child_exec(const struct child_start *start) {
    bool was_denied = false;
    for (const char *const *path = start->what->paths; *path; path++) {
        syscall(SYS_execve, *path, start->what->argv, start->environment);
        was_denied |= errno == EACCES;
        if (errno != EACCES && errno != ENOENT && errno != ENOTDIR)
            return -errno;
    }
    return was_denied ? -EACCES : -errno;
}

/* ---- Afterwards ---- */

/* The call of the kernel has room for usage, that of the C library has not. */
static long child_wait(int pidfd, siginfo_t *info, int options, struct rusage *usage) {
    info->si_pid = 0;
    return syscall(SYS_waitid, P_PIDFD, (long)pidfd, info, (long)options, usage);
}

static int64_t child_time(struct timeval time) {
    return time.tv_sec * WEFT_SECOND + time.tv_usec * WEFT_MICROSECOND;
}

int wf_os_child_reap(int pidfd, weft_process_end *end) {
    siginfo_t info;
    struct rusage usage;
    int fault = wf_fault(WF_CALL_CHILD_WAIT);
    if (fault)
        return fault;
    while (child_wait(pidfd, &info, WEXITED | WNOHANG, &usage) < 0)
        if (errno != EINTR)
            return -errno;
    if (info.si_pid == 0)
        return -EAGAIN;
    bool has_exited = info.si_code == CLD_EXITED;
    *end = (weft_process_end){
        .code = has_exited ? info.si_status : -1,
        .signal = has_exited ? 0 : info.si_status,
        .dumped_core = info.si_code == CLD_DUMPED,
        .user_ns = child_time(usage.ru_utime),
        .system_ns = child_time(usage.ru_stime),
        .peak_memory = (uint64_t)usage.ru_maxrss * 1024,
    };
    return 0;
}

int wf_os_child_signal(int pidfd, int signal) {
    int fault = wf_fault(WF_CALL_CHILD_SIGNAL);
    if (fault)
        return fault;
    return syscall(SYS_pidfd_send_signal, (long)pidfd, (long)signal, NULL, 0) == 0 ? 0 : -errno;
}

void wf_os_child_destroy(int pidfd) {
    siginfo_t info;
    syscall(SYS_pidfd_send_signal, (long)pidfd, (long)SIGKILL, NULL, 0);
    while (child_wait(pidfd, &info, WEXITED, NULL) < 0 && errno == EINTR)
        ;
    wf_os_close(pidfd);
}

int wf_os_open_null(void) {
    int fd;
    WF_OS_CALL(fd, DUPLICATE, open("/dev/null", O_RDWR | O_CLOEXEC));
    return fd;
}
