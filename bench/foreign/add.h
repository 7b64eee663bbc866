/* SPDX-License-Identifier: MIT
 *
 * bench/foreign/add.h - the smallest function worth calling in a shared library that knows nothing of any runtime.
 *
 * bench/run builds add.c into one shared library; every system links that same file.
 */
#ifndef BENCH_ADD_H
#define BENCH_ADD_H

double weft_bench_add(double a, double b);

#endif
