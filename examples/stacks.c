/* SPDX-License-Identifier: MIT
 *
 * examples/stacks.c - how much stack a fiber has, how much it uses, and names.
 *
 * A stack costs memory only where it is touched, so a large one is cheap until it is used. The runtime samples how deep
 * each entry function goes and gives the next fiber of a deep one more.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <weft.h>

/* Uses a little over 1 KiB in each call. */
static int64_t dig(int64_t kilobytes) {
    volatile char filler[1024];
    memset((char *)filler, (int)kilobytes, sizeof filler);
    return kilobytes == 0 ? 0 : filler[512] + dig(kilobytes - 1) + 1 - filler[512];
}

static void *shallow(void *arg) {
    return arg;
}

static void *deep(void *arg) {
    return (void *)(intptr_t)dig((intptr_t)arg);
}

/* Names of this fiber and of the one that spawned it. */
static void *introduce(void *arg) {
    char own[32];
    char parents[32];
    weft_fiber parent;
    if (weft_get_name(weft_self(), own, sizeof own) != 0 || weft_parent(weft_self(), &parent) != 0 ||
        weft_get_name(parent, parents, sizeof parents) != 0)
        return NULL;
    printf("I am \"%s\", a child of \"%s\"\n", own, parents);
    return strcmp(own, "child") == 0 && strcmp(parents, "app") == 0 ? arg : NULL;
}

static bool run_with(const char *name, size_t stack_size, weft_fn fn, void *arg, void *expected) {
    weft_spawn_options options = {.name = name, .stack_size = stack_size};
    weft_fiber fiber;
    void *result;
    return weft_spawn_with(&fiber, &options, fn, arg) == 0 && weft_join(fiber, &result, WEFT_NEVER) == 0 &&
           result == expected;
}

static bool show_use(const char *name, weft_fn entry) {
    weft_stack_use use;
    if (weft_get_stack_use(NULL, entry, &use) != 0)
        return false;
    printf("%-8s samples %llu, deepest %zu KiB, the next one gets %zu KiB\n", name, (unsigned long long)use.samples,
           use.deepest / 1024, use.next_size / 1024);
    return use.samples > 0 && use.next_size >= use.deepest;
}

static int app(void *arg) {
    (void)arg;
    weft_stack_use use;
    if (weft_set_name("app") != 0 || weft_get_stack_use(NULL, deep, &use) != -ENOENT)
        return 1;
    /* A sample of the fibers is measured: the first ones on each worker, then ever fewer. */
    for (int i = 0; i < 20; i++)
        if (!run_with("deep", 1 << 20, deep, (void *)300, (void *)300))
            return 1;
    for (int i = 0; i < 200; i++)
        if (!run_with("shallow", 0, shallow, NULL, NULL))
            return 1;
    if (!run_with("huge", 64 << 20, deep, (void *)10000, (void *)10000))
        return 1;
    if (!run_with("child", 0, introduce, &use, &use))
        return 1;
    return show_use("shallow", shallow) && show_use("deep", deep) ? 0 : 1;
}

int main(void) {
    return weft_run(NULL, app, NULL);
}
