/* SPDX-License-Identifier: MIT
 *
 * examples/hello.c - start a fiber, wait for it, take its answer.
 *
 * weft_run makes a runtime and runs app as its first fiber. app spawns a second one, which runs on whichever worker is
 * free, and joins it.
 */
#include <stdint.h>
#include <stdio.h>

#include <weft.h>

static void *square(void *arg) {
    intptr_t n = (intptr_t)arg;
    return (void *)(n * n);
}

static int app(void *arg) {
    (void)arg;
    weft_fiber child;
    void *result;
    int error = weft_spawn(&child, square, (void *)7);
    if (!error)
        error = weft_join(child, &result, WEFT_NEVER);
    if (error)
        return 1;
    printf("hello from weft %s: 7 squared is %d\n", weft_version(), (int)(intptr_t)result);
    return (intptr_t)result == 49 ? 0 : 1;
}

int main(void) {
    return weft_run(NULL, app, NULL);
}
