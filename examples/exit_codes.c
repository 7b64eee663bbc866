/* SPDX-License-Identifier: MIT
 *
 * examples/exit_codes.c - what weft_run returns, and when.
 *
 * It returns what the first fiber returned, once all fibers have ended; or, with abandon, as soon as the first one has.
 * A runtime that could not start, and a first fiber that panicked, give a negative error. It may be called any number
 * of times.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include <weft.h>

static atomic_int ended;

static void *nap(void *arg) {
    weft_sleep(weft_after((intptr_t)arg * WEFT_MILLISECOND));
    atomic_fetch_add(&ended, 1);
    return NULL;
}

static int give_three(void *arg) {
    (void)arg;
    return 3;
}

static int panicking(void *arg) {
    weft_panic("%s", (const char *)arg);
}

/* Nobody joins the fiber, but weft_run waits for it. */
static int leave_one_behind(void *arg) {
    return weft_go(nap, arg);
}

/* A handle that nobody will join is given up. */
static int detach_one(void *arg) {
    weft_fiber fiber;
    int error = weft_spawn(&fiber, nap, arg);
    return error ? error : weft_detach(fiber);
}

static int run_inside(void *arg) {
    return weft_run(NULL, give_three, arg); /* a runtime cannot be started from a fiber */
}

static bool expect(const char *what, int got, int expected) {
    printf("%-44s %4d\n", what, got);
    return got == expected;
}

int main(void) {
    weft_options abandon = {.abandon = true};
    weft_options quiet = {.quiet = true};
    weft_options wrong = {.workers = WEFT_WORKERS_MAX + 1};
    bool is_well = expect("the first fiber returned 3", weft_run(NULL, give_three, NULL), 3);
    is_well &= expect("a fiber that nobody joins is waited for", weft_run(NULL, leave_one_behind, (void *)20), 0);
    is_well &= expect("so is a detached one", weft_run(NULL, detach_one, (void *)20), 0);
    is_well &= expect("so both have ended", atomic_load(&ended), 2);
    is_well &= expect("unless they are to be dropped", weft_run(&abandon, leave_one_behind, (void *)3600000), 0);
    is_well &= expect("the first fiber panicked: -EOWNERDEAD", weft_run(&quiet, panicking, "on purpose"), -EOWNERDEAD);
    is_well &= expect("a wrong option: -EINVAL, and a word about it", weft_run(&wrong, give_three, NULL), -EINVAL);
    is_well &= expect("inside a fiber: -EDEADLK", weft_run(NULL, run_inside, NULL), -EDEADLK);
    return is_well ? 0 : 1;
}
