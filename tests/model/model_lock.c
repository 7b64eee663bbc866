/* SPDX-License-Identifier: MIT
 *
 * tests/model/model_lock.c - queue/lock.c: one at a time, everybody gets in, and what was written inside is visible to
 * the next one. The counter under the lock is plain: the race detector is the oracle.
 *
 * Cases
 *   three     three threads, one of which takes the lock twice
 *   spurious  the same with two, where sleeps may end for no reason
 *   handover  one thread takes, another drops, a third waits for it
 *   try       a thread that does not wait
 */
#include "model.h"
#include "queue/lock.h"

#include <string.h>

static struct wf_lock lock;
static int64_t counter;
static _Atomic uint32_t is_taken;

static void enter(void *times) {
    for (intptr_t i = 0; i < (intptr_t)times; i++) {
        wf_lock_take(&lock);
        counter++;
        wf_lock_drop(&lock);
    }
}

static void taker(void *unused) {
    (void)unused;
    wf_lock_take(&lock);
    counter++;
    wf_store_release(&is_taken, 1);
}

static void dropper(void *unused) {
    (void)unused;
    while (!wf_load_acquire(&is_taken))
        wf_relax();
    wf_lock_drop(&lock);
}

static void try_once(void *unused) {
    (void)unused;
    if (!wf_lock_try(&lock))
        return;
    counter++;
    counter--;
    wf_lock_drop(&lock);
}

static int64_t start_case(const char *name) {
    if (strcmp(name, "three") == 0) {
        model_start(enter, (void *)2);
        model_start(enter, (void *)1);
        model_start(enter, (void *)1);
        return 4;
    }
    if (strcmp(name, "spurious") == 0) {
        model_allow_spurious_wakes(2);
        model_start(enter, (void *)2);
        model_start(enter, (void *)2);
        return 4;
    }
    if (strcmp(name, "handover") == 0) {
        model_start(taker, NULL);
        model_start(dropper, NULL);
        model_start(enter, (void *)1);
        return 2;
    }
    model_start(enter, (void *)2);
    model_start(enter, (void *)1);
    model_start(try_once, NULL);
    return 3;
}

void model_main(void) {
    wf_lock_init(&lock);
    int64_t expected = start_case(model_case());
    model_join_all();
    CHECK(counter == expected);
    CHECK(wf_lock_try(&lock));
}
