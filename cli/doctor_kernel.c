/* SPDX-License-Identifier: MIT
 *
 * cli/doctor_kernel.c - what the kernel offers: guards, memory policy, waiting, polling, clock.
 *
 * A facility counts only after it has been used once: a kernel may know a call and yet refuse it, by a build option, a
 * sysctl or the seccomp filter of a container. ENOSYS and EPERM are told apart, since the remedy differs.
 *
 * What weft itself does in each case is written down in src/os/; the advice here follows it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "doctor.h"

/* Known since these kernels, but not to every C library: the numbers are the same on both machines. */
#ifndef SYS_io_uring_setup
#define SYS_io_uring_setup 425
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

enum {
    STACK_BYTES = 192 * 1024, /* of a fiber, unless asked otherwise: see weft/runtime.h */
    MAPS_PER_GUARD = 2,       /* an mprotect splits a mapping: the guard and what lies behind it */
    CLOCK_SLOW_NS = 200       /* the vDSO takes 20 to 60; a system call in its place 200 and more */
};

static int probe_guard_marker(void);
static int probe_read_faults(int fd, const void *page);
static int measure_clock_ns(void);
static const char *call_state(int error);

static void check_release(const struct cli_patient *patient, struct cli_finding *out) {
    struct utsname name;
    int major = 0, minor = 0;
    (void)patient;
    uname(&name);
    sscanf(name.release, "%d.%d", &major, &minor);
    bool has_all = major > 6 || (major == 6 && minor >= 13);
    bool has_most = major > 5 || (major == 5 && minor >= 11);
    cli_found(out, has_most ? CLI_OK : CLI_WARN, "Linux %s, %s", name.release, name.machine);
    if (!has_most)
        cli_advise(out, "5.11 and later wait for times below a millisecond, 6.13 and later guard any number of stacks");
    else if (!has_all)
        cli_advise(out, "6.13 and later guard any number of stacks");
}

static void check_page_size(const struct cli_patient *patient, struct cli_finding *out) {
    (void)patient;
    long size = sysconf(_SC_PAGESIZE);
    cli_found(out, CLI_OK, "%ld bytes: the least that a started fiber takes", size);
}

static void check_guards(const struct cli_patient *patient, struct cli_finding *out) {
    int error = probe_guard_marker();
    if (!error) {
        cli_found(out, CLI_OK, "MADV_GUARD_INSTALL works: every stack is guarded and none costs a mapping");
        return;
    }
    long long maps = 0;
    cli_patient_number(patient, "/proc/sys/vm/max_map_count", &maps);
    cli_found(out, CLI_WARN, "MADV_GUARD_INSTALL %s: weft guards by mprotect, up to about %lld stacks at once",
              call_state(error), maps / MAPS_PER_GUARD);
    cli_advise(out, "beyond that overflow is only noticed late; raise vm.max_map_count, or use Linux 6.13 or later");
}

/* Guards the middle one of three pages and lets the kernel read all three on our behalf. */
static int probe_guard_marker(void) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int ends[2], error = 0;
    char *base = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return errno;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
        error = errno;
        goto unmap;
    }
    base[page] = 1;
    if (madvise(base + page, page, MADV_GUARD_INSTALL) != 0)
        error = errno;
    else if (probe_read_faults(ends[1], base + page) != 1 || probe_read_faults(ends[1], base) != 0 ||
             probe_read_faults(ends[1], base + 2 * page) != 0)
        error = ENOTSUP; /* accepted without effect */
    close(ends[0]);
    close(ends[1]);
unmap:
    munmap(base, 3 * page);
    return error;
}

static int probe_read_faults(int fd, const void *page) {
    return write(fd, page, 1) == 1 ? 0 : errno == EFAULT ? 1 : -1;
}

static void check_overcommit(const struct cli_patient *patient, struct cli_finding *out) {
    long long mode = -1;
    if (!cli_patient_number(patient, "/proc/sys/vm/overcommit_memory", &mode))
        cli_found(out, CLI_WARN, "unknown: vm.overcommit_memory cannot be read");
    else if (mode == 2) {
        char text[CLI_BYTES_TEXT];
        cli_found(out, CLI_WARN, "mode 2, strict: every stack counts in full, %s each by default",
                  cli_bytes_text(STACK_BYTES, text));
        cli_advise(out, "set vm.overcommit_memory=0, or make stacks smaller with WEFT_STACK_SIZE");
    } else
        cli_found(out, CLI_OK, "mode %lld: stacks take memory as they are touched", mode);
}

static void check_huge_pages(const struct cli_patient *patient, struct cli_finding *out) {
    char line[128], *begin, *end;
    cli_patient_line(patient, "/sys/kernel/mm/transparent_hugepage/enabled", line, sizeof line);
    begin = strchr(line, '[');
    end = begin ? strchr(begin, ']') : NULL;
    if (!end) {
        cli_found(out, CLI_OK, "not in this kernel");
        return;
    }
    *end = '\0';
    cli_found(out, CLI_OK, "%s: weft keeps them off its stacks", begin + 1);
}

static void check_futex(const struct cli_patient *patient, struct cli_finding *out) {
    (void)patient;
    int word = 1;
    long woken = syscall(SYS_futex, &word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
    int error = woken < 0 ? errno : 0;
    /* The word is not 0, so the wait must be refused at once. */
    long waited = error ? 0 : syscall(SYS_futex, &word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 0, NULL, NULL, ~0u);
    if (!error && (waited != -1 || errno != EAGAIN))
        error = waited == -1 ? errno : ENOTSUP;
    cli_found(out, error ? CLI_MISSING : CLI_OK, "%s", call_state(error));
    if (error)
        cli_advise(out, "threads cannot sleep without it; a seccomp filter may be in the way");
}

static void check_epoll(const struct cli_patient *patient, struct cli_finding *out) {
    (void)patient;
    int epoll = epoll_create1(EPOLL_CLOEXEC), event = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event wish = {.events = EPOLLIN | EPOLLET}, seen;
    int error = 0;
    if (epoll < 0 || event < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, event, &wish) != 0)
        error = errno;
    else if (epoll_wait(epoll, &seen, 1, 0) != 1)
        error = ENOTSUP;
    cli_found(out, error ? CLI_MISSING : CLI_OK, "%s", call_state(error));
    if (error)
        cli_advise(out, "weft waits for descriptors and timers with it; look at ulimit -n and at seccomp filters");
    close(event);
    close(epoll);
}

static void check_exact_timeouts(const struct cli_patient *patient, struct cli_finding *out) {
    (void)patient;
    int epoll = epoll_create1(EPOLL_CLOEXEC), error = 0;
    struct epoll_event seen;
    struct timespec none = {0, 0};
    if (syscall(SYS_epoll_pwait2, epoll, &seen, 1, &none, NULL, 0) < 0)
        error = errno;
    close(epoll);
    if (error)
        cli_found(out, CLI_WARN, "epoll_pwait2 %s: timers are rounded up to a millisecond", call_state(error));
    else
        cli_found(out, CLI_OK, "epoll_pwait2 works: timers to the nanosecond");
    if (error == ENOSYS)
        cli_advise(out, "Linux 5.11 and later have it");
    else if (error)
        cli_advise(out, "a seccomp filter refuses it: use a newer container runtime");
}

static void check_io_uring(const struct cli_patient *patient, struct cli_finding *out) {
    struct io_uring_params parameters = {0};
    long long disabled = 0;
    cli_patient_number(patient, "/proc/sys/kernel/io_uring_disabled", &disabled);
    long fd = syscall(SYS_io_uring_setup, 1, &parameters);
    int error = fd < 0 ? errno : 0;
    if (fd >= 0)
        close((int)fd);
    if (!error) {
        cli_found(out, CLI_OK, "works (features 0x%x)", parameters.features);
        return;
    }
    cli_found(out, CLI_MISSING, "io_uring_setup %s", call_state(error));
    if (error == ENOSYS)
        cli_advise(out, "the kernel is older than 5.1 or was built without it; weft uses epoll");
    else if (disabled)
        cli_advise(out, "kernel.io_uring_disabled is %lld (0 allows it to everyone); weft uses epoll", disabled);
    else
        cli_advise(out, "a seccomp filter may refuse it, as in most containers; weft uses epoll");
}

static void check_membarrier(const struct cli_patient *patient, struct cli_finding *out) {
    (void)patient;
    long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    if (commands < 0)
        cli_found(out, CLI_MISSING, "%s: weft does without", call_state(errno));
    else if (!(commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED))
        cli_found(out, CLI_MISSING, "no private expedited form: weft does without");
    else
        cli_found(out, CLI_OK, "private expedited");
}

static void check_pidfd(const struct cli_patient *patient, struct cli_finding *out) {
    (void)patient;
    long fd = syscall(SYS_pidfd_open, getpid(), 0);
    cli_found(out, fd < 0 ? CLI_MISSING : CLI_OK, "%s", call_state(fd < 0 ? errno : 0));
    if (fd < 0)
        cli_advise(out, "child processes cannot be waited for like descriptors; Linux 5.3 and later have it");
    else
        close((int)fd);
}

static void check_shadow_stack(const struct cli_patient *patient, struct cli_finding *out) {
    (void)patient;
    unsigned long state = 0;
#if defined(__x86_64__)
    enum { SHSTK_STATUS = 0x5005 }; /* arch_prctl's ARCH_SHSTK_STATUS, Linux 6.6 */
    long failed = syscall(SYS_arch_prctl, SHSTK_STATUS, &state);
#else
    enum { SHADOW_STACK_STATUS = 74 }; /* PR_GET_SHADOW_STACK_STATUS, Linux 6.13 */
    long failed = prctl(SHADOW_STACK_STATUS, &state, 0, 0, 0);
#endif
    if (failed)
        cli_found(out, CLI_OK, "not in this kernel");
    else if (!(state & 1))
        cli_found(out, CLI_OK, "off for this process");
    else {
        cli_found(out, CLI_WARN, "on: it does not allow one thread to switch between stacks");
        cli_advise(out, "run programs with GLIBC_TUNABLES=glibc.cpu.x86_shstk=off");
    }
}

static void check_clock(const struct cli_patient *patient, struct cli_finding *out) {
    static const char *const slow[] = {"hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit", "xen"};
    char source[64];
    if (!cli_patient_line(patient, "/sys/devices/system/clocksource/clocksource0/current_clocksource", source,
                          sizeof source))
        snprintf(source, sizeof source, "unknown source");
    int cost = measure_clock_ns();
    bool is_slow = cost > CLOCK_SLOW_NS;
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++)
        is_slow |= strcmp(source, slow[i]) == 0;
    cli_found(out, is_slow ? CLI_WARN : CLI_OK, "%s, %d ns a read", source, cost);
    if (is_slow)
        cli_advise(out, "each deadline reads the clock; see .../clocksource0/available_clocksource for a faster one");
}

/* The best of many short rounds, as interruptions only ever make one longer. */
static int measure_clock_ns(void) {
    enum { ROUNDS = 20, READS = 500 };
    int best = 1000000;
    for (int round = 0; round < ROUNDS; round++) {
        struct timespec begin, end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        for (int i = 0; i < READS; i++)
            clock_gettime(CLOCK_MONOTONIC, &end);
        long long elapsed = (end.tv_sec - begin.tv_sec) * 1000000000LL + (end.tv_nsec - begin.tv_nsec);
        if (elapsed / READS < best)
            best = (int)(elapsed / READS);
    }
    return best;
}

static const char *call_state(int error) {
    switch (error) {
    case 0:
        return "works";
    case ENOSYS:
    case EINVAL:
        return "is unknown to this kernel";
    case EPERM:
    case EACCES:
        return "is not permitted";
    case ENOTSUP:
        return "does not do what it should";
    default:
        return strerror(error);
    }
}

const struct cli_check cli_kernel_checks[] = {
    {"kernel", "release", check_release, false},
    {"kernel", "page size", check_page_size, false},
    {"kernel", "stack guards", check_guards, false},
    {"kernel", "overcommit", check_overcommit, false},
    {"kernel", "huge pages", check_huge_pages, false},
    {"kernel", "futex", check_futex, true},
    {"kernel", "epoll", check_epoll, true},
    {"kernel", "exact timeouts", check_exact_timeouts, false},
    {"kernel", "io_uring", check_io_uring, false},
    {"kernel", "membarrier", check_membarrier, false},
    {"kernel", "pidfd", check_pidfd, false},
    {"kernel", "shadow stack", check_shadow_stack, false},
    {"kernel", "clock", check_clock, false},
    {NULL, NULL, NULL, false},
};
