/* SPDX-License-Identifier: MIT
 *
 * bench/foreign/add.h - the smallest functions worth calling in a shared library that knows nothing of any runtime.
 *
 * bench/run builds add.c into one shared library; every system links, or loads, that same file.
 */
#ifndef BENCH_ADD_H
#define BENCH_ADD_H

double weft_bench_add(double a, double b);
/* Takes that long, and returns how long it has taken. */
double weft_bench_spin(double nanoseconds);
/* Calls fn with 0, 1, 2 and so on; the sum of what it returns. */
int weft_bench_repeat(int (*fn)(int value), int times);

#endif
