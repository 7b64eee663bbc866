/* SPDX-License-Identifier: MIT
 *
 * bench/weft/switch.c - the bare context switch, without a scheduler around it.
 *
 * Two contexts pass control to each other by the library's own switch, inline as the library uses it; the figure is one
 * way. It is the only benchmark that looks inside the library.
 */
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/context.h"
#include "weft.h"

enum { ROUNDS = 50000000, STACK_BYTES = 64 * 1024 };

static void *outer, *inner;

static void bounce(void *arg) {
    (void)arg;
    for (;;)
        wf_arch_switch_here(&inner, outer);
}

int main(int argc, char **argv) {
    static alignas(64) char stack[STACK_BYTES];
    if (argc < 2 || strcmp(argv[1], "switch") != 0) {
        fprintf(stderr, "usage: %s switch\n", argv[0]);
        return 2;
    }
    inner = wf_arch_prepare(stack + STACK_BYTES, bounce, NULL);
    wf_arch_switch(&outer, inner);
    weft_time start = weft_now();
    for (long i = 0; i < ROUNDS; i++)
        wf_arch_switch_here(&outer, inner);
    weft_time took = weft_now() - start;
    printf("switch.raw %.3f ns\n", (double)took / (2.0 * ROUNDS));
    return 0;
}
