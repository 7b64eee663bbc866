/* SPDX-License-Identifier: MIT
 *
 * cli/doctor_debug.c - what is there for finding out why a program misbehaves: debugger, core files, counters.
 *
 * None of it bears on how a program runs, so what is missing is never more than a drawback.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "doctor.h"

static int count_instructions(unsigned long long *out);

static void check_ptrace(const struct cli_patient *patient, struct cli_finding *out) {
    long long scope = 0;
    cli_patient_number(patient, "/proc/sys/kernel/yama/ptrace_scope", &scope);
    switch (scope) {
    case 0:
        cli_found(out, CLI_OK, "a debugger may attach to running programs");
        break;
    case 1:
        cli_found(out, CLI_OK, "a debugger may start programs, but not attach to running ones");
        cli_advise(out, "to attach: sysctl kernel.yama.ptrace_scope=0, or run the debugger as root");
        break;
    case 2:
        cli_found(out, CLI_WARN, "only root may attach a debugger (ptrace_scope 2)");
        break;
    default:
        cli_found(out, CLI_WARN, "no debugger may attach until the next boot (ptrace_scope %lld)", scope);
        break;
    }
}

static void check_core_files(const struct cli_patient *patient, struct cli_finding *out) {
    char pattern[128];
    struct rlimit limit;
    getrlimit(RLIMIT_CORE, &limit);
    if (!cli_patient_line(patient, "/proc/sys/kernel/core_pattern", pattern, sizeof pattern)) {
        cli_found(out, CLI_WARN, "unknown: kernel.core_pattern cannot be read");
        return;
    }
    if (pattern[0] == '|') { /* the limit does not apply to a program that is fed the core */
        cli_found(out, CLI_OK, "handed to '%.*s'", (int)strcspn(pattern + 1, " "), pattern + 1);
        return;
    }
    cli_found(out, limit.rlim_cur ? CLI_OK : CLI_WARN, "%s '%s'", limit.rlim_cur ? "written to" : "off; would be",
              pattern);
    if (!limit.rlim_cur)
        cli_advise(out, "to keep one of a crash: ulimit -c unlimited");
}

static void check_counters(const struct cli_patient *patient, struct cli_finding *out) {
    unsigned long long instructions = 0;
    long long paranoid = 0;
    int error = count_instructions(&instructions);
    cli_patient_number(patient, "/proc/sys/kernel/perf_event_paranoid", &paranoid);
    if (!error) {
        cli_found(out, CLI_OK, "instructions can be counted");
        return;
    }
    if (error == EACCES || error == EPERM) {
        cli_found(out, CLI_MISSING, "not permitted (kernel.perf_event_paranoid is %lld)", paranoid);
        cli_advise(out, "sysctl kernel.perf_event_paranoid=2 is enough; containers may refuse the call altogether");
    } else if (error == ENOENT || error == ENODEV || error == EOPNOTSUPP) {
        cli_found(out, CLI_MISSING, "the processor shows none, as in most virtual machines");
        cli_advise(out, "measure by time instead of by instructions");
    } else {
        cli_found(out, CLI_MISSING, "perf_event_open: %s", strerror(error));
    }
}

/* Counts a short loop of our own, to see that the counter moves. Returns 0 or an errno value. */
static int count_instructions(unsigned long long *out) {
    struct perf_event_attr wish = {.type = PERF_TYPE_HARDWARE,
                                   .size = sizeof wish,
                                   .config = PERF_COUNT_HW_INSTRUCTIONS,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};
    int fd = (int)syscall(SYS_perf_event_open, &wish, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return errno;
    for (volatile int i = 0; i < 1000; i++)
        continue;
    int error = read(fd, out, sizeof *out) == sizeof *out ? 0 : errno;
    close(fd);
    return error ? error : *out ? 0 : ENODEV;
}

const struct cli_check cli_debug_checks[] = {
    {"debugging", "debugger", check_ptrace, false},
    {"debugging", "core files", check_core_files, false},
    {"debugging", "perf counters", check_counters, false},
    {NULL, NULL, NULL, false},
};
