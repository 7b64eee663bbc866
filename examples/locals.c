/* SPDX-License-Identifier: MIT
 *
 * examples/locals.c - variables that travel with a fiber.
 *
 * Each fiber sets its own request id and finds it again after it was suspended, on whichever thread it goes on. The
 * destructor runs when the fiber ends.
 *
 * errno travels too, but its address does not: the C library tells compilers that it never changes within a function, so
 * a function that suspends itself must read errno through another one that is not inlined.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft.h>

enum { REQUESTS = 50 };

static weft_key request_id;
static atomic_int freed;

static void free_id(void *value) {
    free(value);
    atomic_fetch_add(&freed, 1);
}

/* Some function far from the one that knew the id. */
static bool is_logged_as(int number) {
    char expected[16];
    snprintf(expected, sizeof expected, "r-%d", number);
    const char *id = weft_local_get(request_id);
    return id && strcmp(id, expected) == 0;
}

__attribute__((noinline)) static int errno_now(void) {
    return errno;
}

__attribute__((noinline)) static void set_errno(int value) {
    errno = value;
}

static void *serve(void *arg) {
    int number = (int)(intptr_t)arg;
    char *id = malloc(16);
    if (!id)
        weft_panic("no memory");
    snprintf(id, 16, "r-%d", number);
    if (weft_local_set(request_id, id) != 0)
        weft_panic("cannot set a local");
    set_errno(number);
    for (int i = 0; i < 10; i++) {
        weft_yield();
        if (!is_logged_as(number) || errno_now() != number)
            weft_panic("fiber %d met the variables of another", number);
    }
    return NULL;
}

static int app(void *arg) {
    (void)arg;
    weft_fiber fibers[REQUESTS];
    if (weft_key_new(&request_id, free_id) != 0)
        return 1;
    if (weft_local_get(request_id) != NULL) /* nobody has set it in this fiber */
        return 1;
    for (intptr_t i = 0; i < REQUESTS; i++)
        if (weft_spawn(&fibers[i], serve, (void *)i) != 0)
            return 1;
    for (int i = 0; i < REQUESTS; i++)
        if (weft_join(fibers[i], NULL, WEFT_NEVER) != 0)
            return 1;
    printf("%d fibers kept their own ids; %d ids were freed\n", REQUESTS, atomic_load(&freed));
    if (atomic_load(&freed) != REQUESTS || weft_key_free(request_id) != 0)
        return 1;
    return weft_key_free(request_id) == -ESTALE ? 0 : 1; /* a key dies once */
}

int main(void) {
    return weft_run(NULL, app, NULL);
}
