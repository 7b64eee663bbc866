/* SPDX-License-Identifier: MIT
 *
 * cli/cgroup.c - from /proc/self/cgroup and /proc/self/mountinfo to directories, and from there to numbers.
 *
 * /proc/self/cgroup names the process's group in each hierarchy, as a path from the hierarchy's top:
 *
 *     4:memory:/system.slice/app        v1: number, controllers, path
 *     0::/system.slice/app              v2: 0, nothing, path
 *
 * mountinfo tells where the hierarchy is mounted, and from which of its groups on (the mount's root): in a container
 * the root is often the container's own group, and the path then has to lose that prefix. From the group's directory
 * the walk goes up to the mount point and takes the tightest limit on the way.
 */
#include "cgroup.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

struct mount {
    char root[512];  /* the group that is visible at point */
    char point[512]; /* where it is mounted */
};

/* How the limits of one resource are read from one directory: returns INFINITY where there is none. */
typedef double limit_reader(const struct cli_patient *patient, const char *directory, bool is_unified);

static double cgroup_tightest(const struct cli_patient *patient, const char *controller, limit_reader *read_limit);
static double cgroup_walk(const struct cli_patient *patient, const struct mount *mount, const char *group,
                          bool is_unified, limit_reader *read_limit);
static bool cgroup_find_mount(const struct cli_patient *patient, const char *controller, struct mount *out);
static double tighter(double a, double b);
static bool list_has(const char *list, const char *word);
static double read_processors(const struct cli_patient *patient, const char *directory, bool is_unified);
static double read_memory(const struct cli_patient *patient, const char *directory, bool is_unified);
static double read_tasks(const struct cli_patient *patient, const char *directory, bool is_unified);
static double read_number(const struct cli_patient *patient, const char *directory, const char *file);

bool cli_cgroup_processors(const struct cli_patient *patient, double *out) {
    double limit = cgroup_tightest(patient, "cpu", read_processors);
    if (isinf(limit))
        return false;
    *out = limit;
    return true;
}

bool cli_cgroup_memory(const struct cli_patient *patient, unsigned long long *out) {
    const double unlimited = 0x1p62; /* v1 writes the largest multiple of a page for "none" */
    double limit = cgroup_tightest(patient, "memory", read_memory);
    if (limit >= unlimited)
        return false;
    *out = (unsigned long long)limit;
    return true;
}

bool cli_cgroup_tasks(const struct cli_patient *patient, unsigned long long *out) {
    double limit = cgroup_tightest(patient, "pids", read_tasks);
    if (isinf(limit))
        return false;
    *out = (unsigned long long)limit;
    return true;
}

static double cgroup_tightest(const struct cli_patient *patient, const char *controller, limit_reader *read_limit) {
    double tightest = INFINITY;
    char *path = cli_format("%s/proc/self/cgroup", patient->sysroot);
    struct cli_text groups = {0};
    if (cli_file_read(path, &groups) == 0) {
        char *rest = groups.bytes;
        for (char *line; (line = strsep(&rest, "\n"));) {
            const char *number = strsep(&line, ":"), *controllers = strsep(&line, ":"), *group = line;
            if (!number || !controllers || !group)
                continue;
            bool is_unified = !*controllers;
            struct mount mount;
            if ((!is_unified && !list_has(controllers, controller)) ||
                !cgroup_find_mount(patient, is_unified ? NULL : controller, &mount))
                continue;
            tightest = tighter(tightest, cgroup_walk(patient, &mount, group, is_unified, read_limit));
        }
    }
    cli_text_term(&groups);
    free(path);
    return tightest;
}

static double cgroup_walk(const struct cli_patient *patient, const struct mount *mount, const char *group,
                          bool is_unified, limit_reader *read_limit) {
    size_t root = strcmp(mount->root, "/") == 0 ? 0 : strlen(mount->root);
    const char *below = strncmp(group, mount->root, root) == 0 ? group + root : "";
    char *directory = cli_format("%s%s", mount->point, strcmp(below, "/") == 0 ? "" : below);
    double tightest = INFINITY;
    for (;;) {
        tightest = tighter(tightest, read_limit(patient, directory, is_unified));
        if (strlen(directory) <= strlen(mount->point))
            break;
        *strrchr(directory, '/') = '\0';
    }
    free(directory);
    return tightest;
}

static double tighter(double a, double b) {
    return a < b ? a : b;
}

/* "31 23 0:28 ROOT POINT options - TYPE source SUPEROPTIONS", with any number of optional fields before the dash. A
 * controller of null asks for the unified hierarchy. */
static bool cgroup_find_mount(const struct cli_patient *patient, const char *controller, struct mount *out) {
    char *path = cli_format("%s/proc/self/mountinfo", patient->sysroot);
    struct cli_text mounts = {0};
    bool is_found = false;
    if (cli_file_read(path, &mounts) == 0) {
        char *rest = mounts.bytes;
        for (char *line; !is_found && (line = strsep(&rest, "\n"));) {
            char type[32], options[512];
            const char *dash = strstr(line, " - ");
            if (!dash || sscanf(line, "%*s %*s %*s %511s %511s", out->root, out->point) != 2 ||
                sscanf(dash, " - %31s %*s %511s", type, options) != 2)
                continue;
            is_found = controller ? strcmp(type, "cgroup") == 0 && list_has(options, controller)
                                  : strcmp(type, "cgroup2") == 0;
        }
    }
    cli_text_term(&mounts);
    free(path);
    return is_found;
}

static bool list_has(const char *list, const char *word) {
    size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += length) {
        bool begins = at == list || at[-1] == ',', ends = at[length] == ',' || at[length] == '\0';
        if (begins && ends)
            return true;
    }
    return false;
}

static double read_processors(const struct cli_patient *patient, const char *directory, bool is_unified) {
    double quota, period;
    if (is_unified) {
        char line[64];
        char *path = cli_format("%s/cpu.max", directory);
        bool is_read = cli_patient_line(patient, path, line, sizeof line);
        free(path);
        if (!is_read || sscanf(line, "%lf %lf", &quota, &period) != 2) /* "max 100000" is none */
            return INFINITY;
    } else {
        quota = read_number(patient, directory, "cpu.cfs_quota_us"); /* -1 is none */
        period = read_number(patient, directory, "cpu.cfs_period_us");
    }
    return quota > 0 && period > 0 && !isinf(quota) ? quota / period : INFINITY;
}

static double read_memory(const struct cli_patient *patient, const char *directory, bool is_unified) {
    return read_number(patient, directory, is_unified ? "memory.max" : "memory.limit_in_bytes");
}

static double read_tasks(const struct cli_patient *patient, const char *directory, bool is_unified) {
    (void)is_unified;
    return read_number(patient, directory, "pids.max");
}

/* "max" and files that are not there are no limit. */
static double read_number(const struct cli_patient *patient, const char *directory, const char *file) {
    char *path = cli_format("%s/%s", directory, file);
    long long number;
    bool is_read = cli_patient_number(patient, path, &number);
    free(path);
    return is_read ? (double)number : INFINITY;
}
