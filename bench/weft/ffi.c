/* SPDX-License-Identifier: MIT
 *
 * bench/weft/ffi.c - what a foreign call costs a bound fiber, beside the same call made straight from C.
 *
 * All loops run in one bound fiber and take turns, so that whatever the machine does hits all of them. The arguments
 * change with every call and the results are added up: the calls do not wait for each other, but none can be left out.
 * The difference is taken between the best passes of both, in one process.
 */
#include "add.h"
#include "bench.h"

enum { CALLS = 2000000, PASSES = 12 };

typedef struct add_call {
    double a;
    double b;
    double result;
} add_call;

typedef double loop(void);

static void call_add(void *arg) {
    add_call *call = arg;
    call->result = weft_bench_add(call->a, call->b);
}

static double call_plain(void) {
    double sum = 0;
    for (int i = 0; i < CALLS; i++)
        sum += weft_bench_add(i, 1);
    return sum;
}

/* A foreign call's shape without a runtime: through a pointer, with the arguments in memory. */
static double call_pointer(void) {
    void (*volatile unknown)(void *arg) = call_add;
    void (*fn)(void *arg) = unknown;
    double sum = 0;
    for (int i = 0; i < CALLS; i++) {
        add_call call = {i, 1, 0};
        fn(&call);
        sum += call.result;
    }
    return sum;
}

static double call_bound(void) {
    weft_ffi_site *here = weft_ffi_here();
    double sum = 0;
    for (int i = 0; i < CALLS; i++) {
        add_call call = {i, 1, 0};
        if (weft_ffi_is_bound(here))
            weft_ffi_call_bound(here, call_add, &call);
        else
            bench_must(weft_ffi_call(call_add, &call));
        sum += call.result;
    }
    return sum;
}

static double call_any(void) {
    double sum = 0;
    for (int i = 0; i < CALLS; i++) {
        add_call call = {i, 1, 0};
        bench_must(weft_ffi_call(call_add, &call));
        sum += call.result;
    }
    return sum;
}

static void time_pass(loop *loop, double *best) {
    weft_time start = weft_now();
    double sum = loop();
    double each = (double)(weft_now() - start) / CALLS;
    if (sum != (double)CALLS * (CALLS + 1.0) / 2)
        weft_fatal("benchmark: the results added up to %.0f", sum);
    if (*best == 0 || each < *best)
        *best = each;
}

static void *time_loops(void *arg) {
    double plain = 0, pointer = 0, bound = 0, any = 0;
    if (!weft_is_bound())
        weft_fatal("benchmark: the fiber is not bound");
    for (int i = 0; i < PASSES; i++) {
        time_pass(call_plain, &plain);
        time_pass(call_pointer, &pointer);
        time_pass(call_bound, &bound);
        time_pass(call_any, &any);
    }
    bench_report("ffi.plain", NULL, plain, "ns");
    bench_report("ffi.pointer", NULL, pointer, "ns");
    bench_report("ffi.bound", NULL, bound, "ns");
    bench_report("ffi.bound_over_plain", NULL, bound - plain, "ns");
    bench_report("ffi.call", NULL, any, "ns");
    return arg;
}

static void ffi(const char *suffix) {
    weft_fiber fiber;
    (void)suffix;
    bench_must(weft_spawn_with(&fiber, &(weft_spawn_options){.bound = true}, time_loops, NULL));
    bench_must(weft_join(fiber, NULL, WEFT_NEVER));
}

static const bench all[] = {{"ffi", ffi}};

BENCH_MAIN(all)
