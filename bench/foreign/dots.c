/* SPDX-License-Identifier: MIT
 *
 * bench/foreign/dots.c - slices of dot products: how they are made, computed and checked.
 *
 * The plain threads meet at a barrier before they compute, as the fibers do that they are compared with. x is 1
 * everywhere and y the slice's number plus one, so the sum of a slice is known, and exact in a double.
 */
#include "dots.h"

#include <cblas.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

typedef struct plain {
    pthread_t thread;
    pthread_barrier_t *begin;
    dots *slice;
} plain;

static void *run_plain(void *arg);

dots *dots_new(void) {
    dots *slices = aligned_alloc(64, DOTS_SLICES * sizeof *slices);
    openblas_set_num_threads(1);
    for (int n = 0; slices && n < DOTS_SLICES; n++) {
        slices[n].sum = 0;
        slices[n].cpu_ns = 0;
        for (int i = 0; i < DOTS_LENGTH; i++) {
            slices[n].x[i] = 1;
            slices[n].y[i] = n + 1;
        }
    }
    return slices;
}

void dots_run(void *slice) {
    dots *self = slice;
    double sum = 0;
    int64_t begun = dots_thread_cpu_ns();
    for (int i = 0; i < DOTS_CALLS; i++)
        sum += cblas_ddot(DOTS_LENGTH, self->x, 1, self->y, 1);
    self->cpu_ns = dots_thread_cpu_ns() - begun;
    self->sum = sum;
}

int dots_run_plain(dots *slices) {
    static plain all[DOTS_SLICES];
    pthread_barrier_t begin;
    pthread_barrier_init(&begin, NULL, DOTS_SLICES);
    for (int n = 0; n < DOTS_SLICES; n++) {
        all[n].begin = &begin;
        all[n].slice = &slices[n];
        int error = pthread_create(&all[n].thread, NULL, run_plain, &all[n]);
        if (error)
            return error;
    }
    for (int n = 0; n < DOTS_SLICES; n++)
        pthread_join(all[n].thread, NULL);
    pthread_barrier_destroy(&begin);
    return 0;
}

static void *run_plain(void *arg) {
    plain *self = arg;
    pthread_barrier_wait(self->begin);
    dots_run(self->slice);
    return NULL;
}

int64_t dots_thread_cpu_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

int64_t dots_collect(dots *slices) {
    int64_t cpu_ns = 0;
    int wrong = 0;
    for (int n = 0; n < DOTS_SLICES; n++) {
        wrong += slices[n].sum != (double)DOTS_LENGTH * DOTS_CALLS * (n + 1);
        cpu_ns += slices[n].cpu_ns;
        slices[n].sum = 0;
        slices[n].cpu_ns = 0;
    }
    return wrong ? -1 : cpu_ns;
}
