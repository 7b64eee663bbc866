/* SPDX-License-Identifier: MIT
 *
 * bench/foreign/add.c - a function that does next to nothing, so that the time of a call is the call.
 *
 * It lives in a shared library of its own: no compiler sees both the loop and the function, and nothing is inlined.
 */
#include "add.h"

double weft_bench_add(double a, double b) {
    return a + b;
}
