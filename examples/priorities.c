/* SPDX-License-Identifier: MIT
 *
 * examples/priorities.c - three lanes.
 *
 * One worker, so that the order can be seen. Fibers of the high lane are picked first at every scheduling point, those
 * of the low lane when nothing else is ready, and now and then even so: the low lane is slow, not starved.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>

#include <weft.h>

enum { EACH = 5, FIBERS = 3 * EACH, HOG_TURNS = 100000 };

static int finished[3]; /* by priority: place of its last fiber in the order of running. One worker: no races */
static int place;
static bool low_has_run;

static void *note(void *arg) {
    finished[(intptr_t)arg] = ++place;
    return NULL;
}

static void *low(void *arg) {
    low_has_run = true;
    return arg;
}

/* Keeps the normal lane busy until the low lane had its turn. */
static void *hog(void *arg) {
    int turns = 0;
    while (!low_has_run && turns < HOG_TURNS) {
        weft_yield();
        turns++;
    }
    return (void *)(intptr_t)(arg ? turns : 0);
}

static bool show_order(void) {
    static const weft_priority lanes[] = {WEFT_PRIORITY_LOW, WEFT_PRIORITY_NORMAL, WEFT_PRIORITY_HIGH};
    weft_fiber fibers[FIBERS];
    for (int i = 0; i < FIBERS; i++) { /* low first: the lane decides, not the order of spawning */
        weft_priority priority = lanes[i / EACH];
        weft_spawn_options options = {.priority = priority};
        if (weft_spawn_with(&fibers[i], &options, note, (void *)(intptr_t)priority) != 0)
            return false;
    }
    for (int i = 0; i < FIBERS; i++)
        if (weft_join(fibers[i], NULL, WEFT_NEVER) != 0)
            return false;
    printf("last of the high lane: place %d, normal: %d, low: %d\n", finished[WEFT_PRIORITY_HIGH],
           finished[WEFT_PRIORITY_NORMAL], finished[WEFT_PRIORITY_LOW]);
    return finished[WEFT_PRIORITY_HIGH] < finished[WEFT_PRIORITY_LOW];
}

static bool show_floor(void) {
    weft_fiber hogs[2];
    weft_fiber slow;
    weft_spawn_options options = {.priority = WEFT_PRIORITY_LOW, .name = "slow"};
    void *turns;
    if (weft_spawn_with(&slow, &options, low, NULL) != 0 || weft_spawn(&hogs[0], hog, hogs) != 0 ||
        weft_spawn(&hogs[1], hog, NULL) != 0)
        return false;
    if (weft_join(hogs[0], &turns, WEFT_NEVER) != 0 || weft_join(hogs[1], NULL, WEFT_NEVER) != 0 ||
        weft_join(slow, NULL, WEFT_NEVER) != 0)
        return false;
    printf("the low lane ran after %d turns of a busy normal lane\n", (int)(intptr_t)turns);
    return (intptr_t)turns < HOG_TURNS;
}

static int app(void *arg) {
    (void)arg;
    /* A fiber may also change its own lane, from its next scheduling on. */
    if (weft_set_priority(WEFT_PRIORITY_HIGH) != 0 || weft_set_priority((weft_priority)99) != -EINVAL)
        return 1;
    weft_yield();
    if (weft_set_priority(WEFT_PRIORITY_NORMAL) != 0)
        return 1;
    return show_order() && show_floor() ? 0 : 1;
}

int main(void) {
    weft_options options = {.workers = 1};
    return weft_run(&options, app, NULL);
}
