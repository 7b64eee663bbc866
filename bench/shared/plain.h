/* SPDX-License-Identifier: MIT
 *
 * bench/shared/plain.h - what benchmarks of peers without a runtime of their own share, in C and in C++: the choice of
 * the row, the report, percentiles.
 *
 * The counterpart of bench/weft/bench.h: called as "program NAME [SUFFIX]", prints lines "row value unit".
 */
#ifndef PLAIN_H
#define PLAIN_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct bench {
    const char *name;
    void (*run)(const char *suffix);
} bench;

static inline void bench_fail(const char *message) {
    fprintf(stderr, "benchmark: %s\n", message);
    exit(1);
}

static inline void bench_must(int is_right, const char *what) {
    if (!is_right)
        bench_fail(what);
}

/* Nanoseconds of the monotonic clock. */
static inline int64_t bench_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static inline void bench_pause(long ns) {
    struct timespec pause = {0, ns};
    nanosleep(&pause, NULL);
}

static inline void bench_report(const char *name, const char *suffix, double value, const char *unit) {
    printf("%s%s%s %.3f %s\n", name, suffix ? "." : "", suffix ? suffix : "", value, unit);
    fflush(stdout);
}

static inline int bench_order(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* Sorts the values; share 0.5 gives the median. */
static inline int64_t bench_percentile(int64_t *values, size_t n, double share) {
    bench_must(n > 0, "no samples");
    qsort(values, n, sizeof *values, bench_order);
    return values[(size_t)((double)(n - 1) * share)];
}

/* Runs the benchmark that argv names. */
static inline int bench_main(int argc, char **argv, const bench *all, size_t n) {
    for (size_t i = 0; argc > 1 && i < n; i++)
        if (strcmp(argv[1], all[i].name) == 0) {
            all[i].run(argc > 2 ? argv[2] : NULL);
            return 0;
        }
    fprintf(stderr, "usage: %s NAME [SUFFIX]\n", argv[0]);
    return 2;
}

#define BENCH_MAIN(all) \
    int main(int argc, char **argv) { \
        return bench_main(argc, argv, all, sizeof all / sizeof *all); \
    }

#endif
