/* SPDX-License-Identifier: MIT
 *
 * gdb/parked.c - something for a debugger to look at: a fiber that is a few calls deep.
 *
 * tests/script/gdb.sh stops in look_here and asks for the way back to entry_of_fiber.
 */
#include <weft.h>

int look_here(int depth);

__attribute__((noinline)) int look_here(int depth) {
    __asm__ volatile("" ::: "memory");
    return depth;
}

static __attribute__((noinline)) int go_down(int depth) {
    int found = depth == 0 ? look_here(depth) : go_down(depth - 1);
    __asm__ volatile("" : "+r"(found)); /* no tail call: every frame stays */
    return found;
}

static __attribute__((noinline)) void *entry_of_fiber(void *arg) {
    int found = go_down(3);
    weft_yield();
    found += go_down(1); /* and once more after a suspension */
    __asm__ volatile("" : "+r"(found));
    return arg;
}

static int first(void *arg) {
    weft_fiber fiber;
    (void)arg;
    if (weft_spawn(&fiber, entry_of_fiber, NULL) != 0)
        return 1;
    return weft_join(fiber, NULL, WEFT_NEVER);
}

int main(void) {
    return weft_run(NULL, first, NULL);
}
