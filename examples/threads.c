/* SPDX-License-Identifier: MIT
 *
 * examples/threads.c - plain threads and fibers side by side.
 *
 * A pthread that knows nothing of weft spawns fibers and joins them; the join blocks that thread only. It names the
 * runtime that it means, since there may be several.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#include <weft.h>

enum { THREADS = 4, EACH = 100 };

static void *twice(void *arg) {
    weft_yield();
    return (void *)((intptr_t)arg * 2);
}

/* Here weft_self is no fiber, and what belongs to fibers only answers -EPERM. */
static bool knows_its_place(void) {
    weft_fiber self = weft_self();
    return self.bits == 0 && weft_pin() == -EPERM && weft_set_name("thread") == -EPERM;
}

static void *outside(void *arg) {
    weft_spawn_options options = {.runtime = arg, .name = "from outside"};
    if (!knows_its_place())
        return arg;
    for (intptr_t i = 0; i < EACH; i++) {
        weft_fiber fiber;
        void *result;
        if (weft_spawn_with(&fiber, &options, twice, (void *)i) != 0)
            return arg;
        if (weft_join(fiber, &result, weft_after(30 * WEFT_SECOND)) != 0 || (intptr_t)result != 2 * i)
            return arg;
        if (weft_join(fiber, &result, WEFT_NEVER) != -ESTALE) /* gone, and found to be gone */
            return arg;
    }
    return NULL;
}

/* Waits by looking: pthread_join would block the worker under the fiber. */
static bool wait_for(pthread_t thread) {
    void *failed;
    while (pthread_tryjoin_np(thread, &failed) == EBUSY)
        weft_sleep(weft_after(WEFT_MILLISECOND));
    return failed == NULL;
}

static int app(void *arg) {
    (void)arg;
    pthread_t threads[THREADS];
    bool is_well = true;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, outside, weft_runtime_self()) != 0)
            weft_fatal("cannot start a thread");
    for (int i = 0; i < THREADS; i++)
        is_well = wait_for(threads[i]) && is_well;
    printf("%d threads had %d answers each\n", THREADS, EACH);
    return is_well ? 0 : 1;
}

int main(void) {
    weft_fiber fiber;
    if (weft_spawn(&fiber, twice, NULL) != -ESRCH) /* no runtime runs yet */
        return 1;
    return weft_run(NULL, app, NULL);
}
