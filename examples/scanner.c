/* SPDX-License-Identifier: MIT
 *
 * examples/scanner.c - what a garbage collector does: stop the world, scan every stack, let it go on.
 *
 * Some fibers keep a block of memory alive by nothing but a pointer on their stack, and sleep. The scanner finds all
 * blocks by reading the live part of every stack, and finds none of those that were dropped.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <weft.h>

enum { HOLDERS = 30, BLOCK = 32 };

static char *heap; /* HOLDERS blocks; the even ones are held */
static atomic_int settled;
static atomic_int is_over;

struct scan {
    bool is_marked[HOLDERS];
    int fibers;
    int stacks;
    int waiting;
};

/* The pointer is computed from the argument, so only this frame knows it. AddressSanitizer would keep the variable on a
 * stack of its own, elsewhere. */
__attribute__((no_sanitize("address"))) static void *hold(void *arg) {
    char *volatile mine = (intptr_t)arg % 2 == 0 ? heap + (intptr_t)arg * BLOCK : NULL;
    atomic_fetch_add(&settled, 1);
    while (!atomic_load(&is_over))
        weft_sleep(weft_after(WEFT_MILLISECOND));
    return mine;
}

/* Reads whatever lies on the stack, so the sanitizer's marks between variables do not apply. */
__attribute__((no_sanitize("address", "thread"))) static int scan_stack(const weft_fiber_info *info, void *arg) {
    struct scan *scan = arg;
    scan->fibers++;
    scan->waiting += info->state == WEFT_FIBER_PARKED || info->state == WEFT_FIBER_READY;
    if (info->entry != hold || !info->stack_low)
        return 0;
    scan->stacks++;
    uintptr_t low = ((uintptr_t)info->stack_low + sizeof(void *) - 1) & ~(sizeof(void *) - 1);
    for (const uintptr_t *word = (const uintptr_t *)low; word < (const uintptr_t *)info->stack_high; word++)
        if (*word >= (uintptr_t)heap && *word < (uintptr_t)heap + HOLDERS * BLOCK)
            scan->is_marked[(*word - (uintptr_t)heap) / BLOCK] = true;
    return 0;
}

static int app(void *arg) {
    (void)arg;
    weft_fiber fibers[HOLDERS];
    for (intptr_t i = 0; i < HOLDERS; i++)
        if (weft_spawn(&fibers[i], hold, (void *)i) != 0)
            return 1;
    while (atomic_load(&settled) < HOLDERS)
        weft_sleep(weft_after(WEFT_MILLISECOND));

    static struct scan scan;
    if (weft_world_stop() != 0)
        return 1;
    int stopped_by = weft_each_fiber(NULL, scan_stack, &scan); /* no other fiber runs, so this is exact */
    weft_world_start();

    atomic_store(&is_over, 1);
    for (int i = 0; i < HOLDERS; i++)
        if (weft_join(fibers[i], NULL, WEFT_NEVER) != 0)
            return 1;
    int kept = 0;
    for (int i = 0; i < HOLDERS; i++)
        kept += scan.is_marked[i];
    printf("%d fibers, %d of them waiting; %d stacks scanned; %d of %d blocks alive\n", scan.fibers, scan.waiting,
           scan.stacks, kept, HOLDERS);
    return stopped_by == 0 && scan.stacks == HOLDERS && kept == HOLDERS / 2 ? 0 : 1;
}

int main(void) {
    heap = malloc(HOLDERS * BLOCK);
    if (!heap)
        return 1;
    int outcome = weft_run(NULL, app, NULL);
    free(heap);
    return outcome;
}
