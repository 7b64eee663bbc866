/* SPDX-License-Identifier: MIT
 *
 * cli/doctor_limits.c - the limits of the process and of the system that a program with many fibers runs into.
 *
 * Fibers themselves take no descriptor, no process number and, with guard markers, no mapping. What they open and the
 * threads under them do.
 */
#include <stdio.h>
#include <sys/resource.h>

#include "cgroup.h"
#include "doctor.h"

enum {
    FILES_FEW = 4096,   /* the usual 1,024 is soon used up by a server */
    THREADS_FEW = 4096, /* for the whole system */
    TASKS_SPARE = 64,   /* threads beside the workers: those of the program and of its libraries */
    MAPS_FEW = 65530    /* the kernel's default */
};

static void limit_text(rlim_t limit, char *text, size_t size);
static void report_bytes_limit(int resource, struct cli_finding *out, const char *meaning);

static void check_files(const struct cli_patient *patient, struct cli_finding *out) {
    (void)patient;
    struct rlimit limit;
    char soft[32], hard[32];
    getrlimit(RLIMIT_NOFILE, &limit);
    limit_text(limit.rlim_cur, soft, sizeof soft);
    limit_text(limit.rlim_max, hard, sizeof hard);
    bool is_low = limit.rlim_cur < FILES_FEW;
    cli_found(out, is_low ? CLI_WARN : CLI_OK, "%s descriptors, may be raised to %s", soft, hard);
    if (is_low)
        cli_advise(out, "each connection takes one: ulimit -n %s", hard);
}

static void check_processes(const struct cli_patient *patient, struct cli_finding *out) {
    (void)patient;
    struct rlimit limit;
    char soft[32];
    getrlimit(RLIMIT_NPROC, &limit);
    limit_text(limit.rlim_cur, soft, sizeof soft);
    int needed = cli_processors_allowed() + TASKS_SPARE;
    bool is_low = limit.rlim_cur < (rlim_t)needed;
    cli_found(out, is_low ? CLI_WARN : CLI_OK, "%s processes and threads of this user", soft);
    if (is_low)
        cli_advise(out, "weft may want %d threads: raise it with ulimit -u", needed);
}

static void check_group_tasks(const struct cli_patient *patient, struct cli_finding *out) {
    unsigned long long limit;
    if (!cli_cgroup_tasks(patient, &limit)) {
        cli_found(out, CLI_OK, "none");
        return;
    }
    unsigned long long needed = (unsigned long long)cli_processors_allowed() + TASKS_SPARE;
    cli_found(out, limit < needed ? CLI_WARN : CLI_OK, "%llu processes and threads, by control group", limit);
    if (limit < needed)
        cli_advise(out, "weft may want %llu threads: raise pids.max of the group", needed);
}

static void check_system_threads(const struct cli_patient *patient, struct cli_finding *out) {
    long long threads, numbers;
    if (!cli_patient_number(patient, "/proc/sys/kernel/threads-max", &threads) ||
        !cli_patient_number(patient, "/proc/sys/kernel/pid_max", &numbers)) {
        cli_found(out, CLI_WARN, "unknown: kernel.threads-max or kernel.pid_max cannot be read");
        return;
    }
    bool is_low = threads < THREADS_FEW || numbers < THREADS_FEW;
    cli_found(out, is_low ? CLI_WARN : CLI_OK, "threads-max %lld, pid_max %lld", threads, numbers);
    if (is_low)
        cli_advise(out, "fine for fibers, few for programs that block in many threads");
}

static void check_mappings(const struct cli_patient *patient, struct cli_finding *out) {
    long long maps;
    if (!cli_patient_number(patient, "/proc/sys/vm/max_map_count", &maps)) {
        cli_found(out, CLI_WARN, "unknown: vm.max_map_count cannot be read");
        return;
    }
    cli_found(out, maps < MAPS_FEW ? CLI_WARN : CLI_OK, "%lld mappings a process", maps);
    if (maps < MAPS_FEW)
        cli_advise(out, "sysctl vm.max_map_count=%d is the kernel's default", MAPS_FEW);
}

static void check_stack(const struct cli_patient *patient, struct cli_finding *out) {
    (void)patient;
    report_bytes_limit(RLIMIT_STACK, out, "for the threads under the fibers; fibers have their own size");
}

static void check_locked_memory(const struct cli_patient *patient, struct cli_finding *out) {
    (void)patient;
    report_bytes_limit(RLIMIT_MEMLOCK, out, "of locked memory");
}

static void check_address_space(const struct cli_patient *patient, struct cli_finding *out) {
    (void)patient;
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    if (limit.rlim_cur == RLIM_INFINITY) {
        cli_found(out, CLI_OK, "unlimited");
        return;
    }
    report_bytes_limit(RLIMIT_AS, out, "of address space");
    out->status = CLI_WARN;
    cli_advise(out, "stacks are reserved in large pieces of address space: ulimit -v unlimited");
}

static void report_bytes_limit(int resource, struct cli_finding *out, const char *meaning) {
    struct rlimit limit;
    char text[CLI_BYTES_TEXT];
    getrlimit((__rlimit_resource_t)resource, &limit);
    bool is_unlimited = limit.rlim_cur == RLIM_INFINITY;
    cli_found(out, CLI_OK, "%s %s", is_unlimited ? "unlimited" : cli_bytes_text(limit.rlim_cur, text), meaning);
}

static void limit_text(rlim_t limit, char *text, size_t size) {
    if (limit == RLIM_INFINITY)
        snprintf(text, size, "unlimited");
    else
        snprintf(text, size, "%llu", (unsigned long long)limit);
}

const struct cli_check cli_limit_checks[] = {
    {"limits", "open files", check_files, false},
    {"limits", "processes", check_processes, false},
    {"limits", "group tasks", check_group_tasks, false},
    {"limits", "system threads", check_system_threads, false},
    {"limits", "mappings", check_mappings, false},
    {"limits", "thread stack", check_stack, false},
    {"limits", "locked memory", check_locked_memory, false},
    {"limits", "address space", check_address_space, false},
    {NULL, NULL, NULL, false},
};
