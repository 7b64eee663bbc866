/* SPDX-License-Identifier: MIT
 *
 * unit/ffi/fixture.c - a shared library that knows nothing of weft, for the tests to load.
 *
 * Built with unwind tables and cleanups, as a C++ library would be.
 */
#include <pthread.h>
#include <stddef.h>

int fixture_add(int left, int right);
int fixture_call(int (*fn)(int), int value, int *cleanups);
int fixture_call_on_thread(int (*fn)(int), int value);

int fixture_data = 5;

int fixture_add(int left, int right) {
    return left + right;
}

static void count_cleanup(int **cleanups) {
    ++**cleanups;
}

/* Counts how often it is left, by a return or otherwise. */
int fixture_call(int (*fn)(int), int value, int *cleanups) {
    __attribute__((cleanup(count_cleanup))) int *counted = cleanups;
    return fn(value) + (counted != cleanups);
}

struct call {
    int (*fn)(int);
    int value;
};

static void *call_main(void *opaque) {
    struct call *call = opaque;
    call->value = call->fn(call->value);
    return NULL;
}

int fixture_call_on_thread(int (*fn)(int), int value) {
    struct call call = {fn, value};
    pthread_t thread;
    if (pthread_create(&thread, NULL, call_main, &call) != 0)
        return -1;
    pthread_join(thread, NULL);
    return call.value;
}
