/* SPDX-License-Identifier: MIT
 *
 * bench/foreign/dots.h - many short dot products by OpenBLAS, with the processor time they took.
 *
 * The work comes in slices. A slice has vectors of its own and is computed by one thread from beginning to end, so the
 * thread's processor time is the slice's. Plain threads, fibers and goroutines all run dots_run, the same instructions
 * in the same shared library; what differs between them is what runs around it.
 */
#ifndef BENCH_DOTS_H
#define BENCH_DOTS_H

#include <stdint.h>

enum { DOTS_LENGTH = 64, DOTS_CALLS = 10000, DOTS_SLICES = 1000 };

typedef struct dots {
    double x[DOTS_LENGTH];
    double y[DOTS_LENGTH];
    double sum;     /* of the products; whoever computes the slice writes it */
    int64_t cpu_ns; /* that it took; likewise */
} dots;

/* DOTS_SLICES of them, filled with numbers, or null. OpenBLAS is told to use no threads of its own. */
dots *dots_new(void);

/* Computes one slice: DOTS_CALLS calls of cblas_ddot. */
void dots_run(void *slice);

/* Computes all slices, each by a plain thread of its own. Returns 0; or an error number, and then the process has to end:
 * the threads that could be made wait for the others. */
int dots_run_plain(dots *slices);

/* Processor time of the calling thread. */
int64_t dots_thread_cpu_ns(void);

/* The processor time of all slices; -1 when a sum is wrong. Forgets both. */
int64_t dots_collect(dots *slices);

#endif
