/* SPDX-License-Identifier: MIT
 *
 * bench/weft/bench.h - what every benchmark of weft shares: the choice of the row, the report, percentiles,
 * processor time, memory.
 *
 * A program is called as "program NAME [SUFFIX]" and times one thing per process. It prints one line "row value unit"
 * per figure; bench/run reads them. The suffix (1w, 2w, 1000000) becomes the end of the row's name. Workers come from
 * WEFT_WORKERS.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "weft.h"

typedef struct bench {
    const char *name;
    void (*run)(const char *suffix);
} bench;

static const bench *bench_chosen;
static const char *bench_suffix;

static inline void bench_report(const char *name, const char *suffix, double value, const char *unit) {
    printf("%s%s%s %.3f %s\n", name, suffix ? "." : "", suffix ? suffix : "", value, unit);
    fflush(stdout);
}

/* For calls that only fail when the machine is at its end: a figure without them would be a lie. */
static inline void bench_must(int error) {
    if (error < 0)
        weft_fatal("benchmark: %s", strerror(-error));
}

static inline int bench_order(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* Sorts the values; share 0.5 gives the median. */
static inline int64_t bench_percentile(int64_t *values, size_t n, double share) {
    if (n == 0)
        weft_fatal("benchmark: no samples");
    qsort(values, n, sizeof *values, bench_order);
    return values[(size_t)((double)(n - 1) * share)];
}

/* Processor time of this process so far. */
static inline weft_time bench_cpu_ns(void) {
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * WEFT_SECOND +
           (use.ru_utime.tv_usec + use.ru_stime.tv_usec) * WEFT_MICROSECOND;
}

/* Resident memory and page tables of this process. */
static inline long long bench_memory_bytes(void) {
    char line[256];
    long long kib = 0, part;
    FILE *status = fopen("/proc/self/status", "r");
    if (!status)
        weft_fatal("benchmark: no /proc/self/status");
    while (fgets(line, sizeof line, status))
        if (sscanf(line, "VmRSS: %lld", &part) == 1 || sscanf(line, "VmPTE: %lld", &part) == 1)
            kib += part;
    fclose(status);
    return kib * 1024;
}

static inline int bench_first_fiber(void *arg) {
    (void)arg;
    bench_chosen->run(bench_suffix);
    return 0;
}

/* Finds the benchmark that argv names. Returns 0, or the exit status of a program that was called wrongly. */
static inline int bench_choose(int argc, char **argv, const bench *all, size_t n) {
    bench_suffix = argc > 2 ? argv[2] : NULL;
    for (size_t i = 0; argc > 1 && i < n; i++)
        if (strcmp(argv[1], all[i].name) == 0)
            bench_chosen = &all[i];
    if (bench_chosen)
        return 0;
    fprintf(stderr, "usage: %s NAME [SUFFIX], NAME one of:", argv[0]);
    for (size_t i = 0; i < n; i++)
        fprintf(stderr, " %s", all[i].name);
    fputc('\n', stderr);
    return 2;
}

/* Runs the benchmark that argv names as the first fiber. */
static inline int bench_main(int argc, char **argv, const bench *all, size_t n) {
    int status = bench_choose(argc, argv, all, n);
    if (status != 0)
        return status;
    return weft_run(NULL, bench_first_fiber, NULL) == 0 ? 0 : 1;
}

#define BENCH_MAIN(all) \
    int main(int argc, char **argv) { \
        return bench_main(argc, argv, all, sizeof all / sizeof *all); \
    }

#endif
