/* SPDX-License-Identifier: MIT
 *
 * bench/foreign/add.c - functions that do next to nothing, or nothing for so long, so that the time of a call is the call.
 *
 * They live in a shared library of their own: no compiler sees both the loop and the function, and nothing is inlined.
 */
#include "add.h"

#include <time.h>

double weft_bench_add(double a, double b) {
    return a + b;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

double weft_bench_spin(double nanoseconds) {
    double begun = now(), passed = 0;
    while (passed < nanoseconds)
        passed = now() - begun;
    return passed;
}

int weft_bench_repeat(int (*fn)(int value), int times) {
    int sum = 0;
    for (int i = 0; i < times; i++)
        sum += fn(i);
    return sum;
}
