/* SPDX-License-Identifier: MIT
 *
 * fiber/local.c - fiber-local variables.
 *
 * A key is a place in a table of the process and a generation, so that a key that was freed and made again does not find
 * the values of its former life. A fiber's values are one block, made by its first set.
 *
 *     key      generation 16 | place 16
 *
 * The table is the process's, under its own lock; the block belongs to the fiber alone.
 */
#include "weft/local.h"

#include <errno.h>

#include "base/assert.h"
#include "fiber/fiber.h"
#include "os/memory.h"

enum { DESTRUCTOR_ROUNDS = 4 };

struct key_entry {
    void (*destructor)(void *value);
    _Atomic uint32_t generation; /* odd: alive */
};

struct wf_locals {
    struct {
        void *value;
        uint32_t generation;
    } slots[WEFT_KEYS_MAX];
};

static struct wf_lock keys_lock;
static struct key_entry keys[WEFT_KEYS_MAX];

static bool key_is_alive(weft_key key, uint32_t *place);
static bool has_values(const struct wf_locals *locals);
static void run_destructors(void *opaque);

int weft_key_new(weft_key *out, void (*destructor)(void *value)) {
    if (!out)
        return -EINVAL;
    wf_lock_take(&keys_lock);
    for (uint32_t i = 0; i < WEFT_KEYS_MAX; i++) {
        uint32_t generation = wf_load_relaxed(&keys[i].generation);
        if (generation & 1)
            continue;
        keys[i].destructor = destructor;
        wf_store_release(&keys[i].generation, generation + 1); /* pairs with key_is_alive */
        wf_lock_drop(&keys_lock);
        *out = (weft_key){(generation + 1) << 16 | i};
        return 0;
    }
    wf_lock_drop(&keys_lock);
    return -EAGAIN;
}

int weft_key_free(weft_key key) {
    uint32_t place;
    int error = -ESTALE;
    wf_lock_take(&keys_lock);
    if (key_is_alive(key, &place)) {
        wf_store_relaxed(&keys[place].generation, (wf_load_relaxed(&keys[place].generation) + 1) & 0xffff);
        error = 0;
    }
    wf_lock_drop(&keys_lock);
    return error;
}

void wf_locals_after_fork(void) {
    wf_lock_init(&keys_lock);
}

static bool key_is_alive(weft_key key, uint32_t *place) {
    uint32_t generation = key.bits >> 16;
    *place = key.bits & 0xffff;
    return *place < WEFT_KEYS_MAX && (generation & 1) && wf_load_acquire(&keys[*place].generation) == generation;
}

void *weft_local_get(weft_key key) {
    uint32_t place;
    struct wf_fiber *fiber = wf_fiber_self();
    if (!fiber || !wf_fiber_stack(fiber)->locals || !key_is_alive(key, &place))
        return NULL;
    struct wf_locals *locals = wf_fiber_stack(fiber)->locals;
    return locals->slots[place].generation == key.bits >> 16 ? locals->slots[place].value : NULL;
}

int weft_local_set(weft_key key, void *value) {
    uint32_t place;
    struct wf_fiber *fiber = wf_fiber_self();
    if (!fiber)
        return -EPERM;
    if (!key_is_alive(key, &place))
        return -ESTALE;
    struct wf_locals *locals = wf_fiber_stack(fiber)->locals;
    if (!locals) {
        if (!value)
            return 0;
        locals = wf_os_alloc(sizeof *locals);
        if (!locals)
            return -ENOMEM;
        wf_fiber_stack(fiber)->locals = locals;
    }
    locals->slots[place].value = value;
    locals->slots[place].generation = key.bits >> 16;
    return 0;
}

void wf_locals_end(struct wf_stack *stack) {
    struct wf_try attempt; /* a destructor may panic: the others still run, each attempt counts as a round */
    for (int round = 0; round < DESTRUCTOR_ROUNDS + WEFT_KEYS_MAX; round++) {
        bool has_panicked = wf_try_call(&attempt, &stack->trying, run_destructors, stack->locals) != 0;
        if (!has_panicked && (round >= DESTRUCTOR_ROUNDS - 1 || !has_values(stack->locals)))
            break;
    }
    wf_os_free(stack->locals);
    stack->locals = NULL;
}

static bool has_values(const struct wf_locals *locals) {
    for (uint32_t i = 0; i < WEFT_KEYS_MAX; i++)
        if (locals->slots[i].value)
            return true;
    return false;
}

/* Takes each value out before its destructor runs, so a panic cannot meet the same one again. */
static void run_destructors(void *opaque) {
    struct wf_locals *locals = opaque;
    for (uint32_t i = 0; i < WEFT_KEYS_MAX; i++) {
        void *value = locals->slots[i].value;
        locals->slots[i].value = NULL;
        if (!value)
            continue;
        wf_lock_take(&keys_lock); /* the destructor of this generation, or none */
        bool is_same = wf_load_relaxed(&keys[i].generation) == locals->slots[i].generation;
        void (*destructor)(void *) = is_same ? keys[i].destructor : NULL;
        wf_lock_drop(&keys_lock);
        if (destructor)
            destructor(value);
    }
}
