/* SPDX-License-Identifier: MIT
 *
 * cli/doctor_machine.c - processors and memory, and how much of them this process may use.
 *
 * weft starts one worker for each processor that the affinity mask allows. A quota is a different thing: it lets all
 * workers run and then stops all of them for the rest of the period, which shows as pauses of many milliseconds, so
 * fewer workers do better.
 */
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "doctor.h"
#include "file.h"

enum {
    FIBER_BYTES = 16 * 1024
}; /* a parked fiber with a shallow stack: two touched pages and its share of the tables */

static bool memory_fact(const struct cli_patient *patient, const char *name, unsigned long long *bytes);

static void check_processors(const struct cli_patient *patient, struct cli_finding *out) {
    (void)patient;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    int allowed = cli_processors_allowed();
    if (allowed < online)
        cli_found(out, CLI_OK, "%ld online, %d allowed by affinity: that many workers", online, allowed);
    else
        cli_found(out, CLI_OK, "%ld online, all allowed: that many workers", online);
}

int cli_processors_allowed(void) {
    for (int size = 1024; size <= 1 << 16; size *= 4) { /* machines with more processors than a cpu_set_t names */
        cpu_set_t *set = CPU_ALLOC(size);
        if (!set)
            break;
        int failed = sched_getaffinity(0, CPU_ALLOC_SIZE(size), set);
        int count = failed ? 0 : CPU_COUNT_S(CPU_ALLOC_SIZE(size), set);
        CPU_FREE(set);
        if (count > 0)
            return count;
    }
    return 1;
}

static void check_quota(const struct cli_patient *patient, struct cli_finding *out) {
    double quota;
    if (!cli_cgroup_processors(patient, &quota)) {
        cli_found(out, CLI_OK, "none");
        return;
    }
    int allowed = cli_processors_allowed();
    bool is_tight = quota < allowed;
    cli_found(out, is_tight ? CLI_WARN : CLI_OK, "%.2f processors of time, by control group", quota);
    if (is_tight)
        cli_advise(out, "%d workers use it up early and then all stand still: set WEFT_WORKERS=%d", allowed,
                   quota < 1 ? 1 : (int)quota);
}

static void check_memory(const struct cli_patient *patient, struct cli_finding *out) {
    unsigned long long total, available;
    char total_text[CLI_BYTES_TEXT], available_text[CLI_BYTES_TEXT];
    if (!memory_fact(patient, "MemTotal:", &total) || !memory_fact(patient, "MemAvailable:", &available)) {
        cli_found(out, CLI_WARN, "unknown: /proc/meminfo cannot be read");
        return;
    }
    cli_found(out, CLI_OK, "%s, %s available: room for about %.1f million parked fibers",
              cli_bytes_text(total, total_text), cli_bytes_text(available, available_text),
              (double)available / FIBER_BYTES / 1e6);
}

static bool memory_fact(const struct cli_patient *patient, const char *name, unsigned long long *bytes) {
    char *path = cli_format("%s/proc/meminfo", patient->sysroot);
    struct cli_text text = {0};
    unsigned long long kibibytes;
    const char *found = cli_file_read(path, &text) == 0 ? strstr(text.bytes, name) : NULL;
    bool is_known = found && sscanf(found + strlen(name), "%llu kB", &kibibytes) == 1;
    if (is_known)
        *bytes = kibibytes * 1024;
    cli_text_term(&text);
    free(path);
    return is_known;
}

static void check_memory_limit(const struct cli_patient *patient, struct cli_finding *out) {
    unsigned long long limit, total;
    char text[CLI_BYTES_TEXT];
    if (!cli_cgroup_memory(patient, &limit) || (memory_fact(patient, "MemTotal:", &total) && limit >= total)) {
        cli_found(out, CLI_OK, "none");
        return;
    }
    cli_found(out, CLI_OK, "%s, by control group: room for about %.2f million parked fibers",
              cli_bytes_text(limit, text), (double)limit / FIBER_BYTES / 1e6);
}

const struct cli_check cli_machine_checks[] = {
    {"machine", "processors", check_processors, false},
    {"machine", "processor quota", check_quota, false},
    {"machine", "memory", check_memory, false},
    {"machine", "memory limit", check_memory_limit, false},
    {NULL, NULL, NULL, false},
};
