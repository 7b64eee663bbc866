/* SPDX-License-Identifier: MIT
 *
 * queue/deque.c - the Chase-Lev deque. Layout, invariants and pairs A to H: queue/deque.h.
 *
 * The orders are those of Le, Pop, Cohen and Zappa Nardelli (PPoPP 2013) but for one thing: where they put a release
 * fence before a relaxed store of bottom, every store of bottom here is a release store. A release store in push alone
 * would be wrong, because the relaxed store of a later pop would end the release sequence.
 *
 * Indices are 64 bits and do not wrap.
 *
 * Rejected: freeing old arrays early (needs hazard pointers or epochs on the steal path, to save less memory than the
 * array in force uses); shrinking (the next burst grows it again).
 */
#include "queue/deque.h"

#include "base/assert.h"
#include "os/memory.h"

#include <errno.h>

/* 64: one page with the header to spare; a balanced binary recursion needs one slot a level. Test builds set 2. */
#ifndef WF_DEQUE_CAPACITY
#define WF_DEQUE_CAPACITY 64
#endif
_Static_assert((WF_DEQUE_CAPACITY & (WF_DEQUE_CAPACITY - 1)) == 0, "indices wrap: the capacity is a power of two");

struct wf_deque_array {
    struct wf_deque_array *older; /* retired; owner only */
    int64_t capacity;             /* power of two; constant */
    _Atomic(struct wf_task *) slot[];
};

/* Mutants, found by tests/model/model_deque.c. */
#ifdef WF_MUTANT_DEQUE_RELAXED_PUSH
#define DEQUE_STORE_PUSH wf_store_relaxed
#else
#define DEQUE_STORE_PUSH wf_store_release
#endif
#ifdef WF_MUTANT_DEQUE_RELAXED_POP
#define DEQUE_STORE_POP wf_store_relaxed
#else
#define DEQUE_STORE_POP wf_store_release
#endif
#ifdef WF_MUTANT_DEQUE_NO_FENCE_POP
#define DEQUE_FENCE_POP() (void)0
#else
#define DEQUE_FENCE_POP() wf_fence_seq_cst()
#endif
#ifdef WF_MUTANT_DEQUE_NO_FENCE_STEAL
#define DEQUE_FENCE_STEAL() (void)0
#else
#define DEQUE_FENCE_STEAL() wf_fence_seq_cst()
#endif
#ifdef WF_MUTANT_DEQUE_NO_CAS_ON_LAST
#define DEQUE_CLAIM_LAST(deque, top) ((void)(top), true)
#else
#define DEQUE_CLAIM_LAST(deque, top) deque_claim((deque), (top))
#endif
#ifdef WF_MUTANT_DEQUE_RELAXED_GROW
#define DEQUE_STORE_ARRAY wf_store_relaxed
#else
#define DEQUE_STORE_ARRAY wf_store_release
#endif

static struct wf_deque_array *deque_array_new(int64_t capacity);
static struct wf_deque_array *deque_grow(struct wf_deque *deque, int64_t top, int64_t bottom);
static bool deque_claim(struct wf_deque *deque, int64_t top);
static _Atomic(struct wf_task *) *deque_slot(struct wf_deque_array *array, int64_t index);

int wf_deque_init(struct wf_deque *deque) {
    struct wf_deque_array *array = deque_array_new(WF_DEQUE_CAPACITY);
    if (!array)
        return -ENOMEM;
    wf_store_relaxed(&deque->top, 0);
    wf_store_relaxed(&deque->bottom, 0);
    wf_store_relaxed(&deque->array, array);
    return 0;
}

void wf_deque_term(struct wf_deque *deque) {
    struct wf_deque_array *array = wf_load_relaxed(&deque->array);
    while (array) {
        struct wf_deque_array *older = array->older;
        wf_os_free(array);
        array = older;
    }
    wf_store_relaxed(&deque->array, NULL);
}

int wf_deque_push_owner(struct wf_deque *deque, struct wf_task *task) {
    int64_t bottom = wf_load_relaxed(&deque->bottom);
    int64_t top = wf_load_acquire(&deque->top); /* H */
    struct wf_deque_array *array = wf_load_relaxed(&deque->array);
    if (WF_UNLIKELY(bottom - top >= array->capacity)) {
        array = deque_grow(deque, top, bottom);
        if (!array)
            return -ENOMEM;
    }
    wf_store_relaxed(deque_slot(array, bottom), task);
    DEQUE_STORE_PUSH(&deque->bottom, bottom + 1); /* A */
    return 0;
}

struct wf_task *wf_deque_pop_owner(struct wf_deque *deque) {
    int64_t bottom = wf_load_relaxed(&deque->bottom) - 1;
    struct wf_deque_array *array = wf_load_relaxed(&deque->array);
    DEQUE_STORE_POP(&deque->bottom, bottom); /* A and C */
    DEQUE_FENCE_POP();                       /* C: pairs with the fence of steal (D) */
    int64_t top = wf_load_relaxed(&deque->top);
    if (top < bottom)
        return wf_load_relaxed(deque_slot(array, bottom));

    struct wf_task *task = NULL;
    if (top == bottom && DEQUE_CLAIM_LAST(deque, top))
        task = wf_load_relaxed(deque_slot(array, bottom));
    DEQUE_STORE_POP(&deque->bottom, bottom + 1); /* A: the deque is empty; bottom equals top again */
    return task;
}

int wf_deque_steal_thief(struct wf_deque *deque, struct wf_task **out) {
    int64_t top = wf_load_acquire(&deque->top);       /* H */
    DEQUE_FENCE_STEAL();                              /* D: pairs with the fence of pop (C) */
    int64_t bottom = wf_load_acquire(&deque->bottom); /* B */
    if (top >= bottom)
        return 0;
    struct wf_deque_array *array = wf_load_acquire(&deque->array); /* F */
    struct wf_task *task = wf_load_relaxed(deque_slot(array, top));
    if (!deque_claim(deque, top))
        return -1;
    *out = task;
    return 1;
}

/* Takes the task at top for the caller, against everybody else who tries. */
static bool deque_claim(struct wf_deque *deque, int64_t top) {
    return wf_cas_seq_cst(&deque->top, &top, top + 1); /* G */
}

/* Doubles the array. The copy keeps every index, so a thief may read the old array or the new one. */
static struct wf_deque_array *deque_grow(struct wf_deque *deque, int64_t top, int64_t bottom) {
    struct wf_deque_array *old = wf_load_relaxed(&deque->array);
    struct wf_deque_array *array = deque_array_new(old->capacity * 2);
    if (!array)
        return NULL;
    for (int64_t i = top; i < bottom; i++)
        wf_store_relaxed(deque_slot(array, i), wf_load_relaxed(deque_slot(old, i)));
    array->older = old;
    DEQUE_STORE_ARRAY(&deque->array, array); /* E */
#ifdef WF_MUTANT_DEQUE_FREE_OLD_ARRAY
    array->older = NULL;
    wf_os_free(old);
#endif
    return array;
}

static struct wf_deque_array *deque_array_new(int64_t capacity) {
    struct wf_deque_array *array = wf_os_alloc(sizeof *array + (size_t)capacity * sizeof array->slot[0]);
    if (array)
        array->capacity = capacity;
    return array;
}

static _Atomic(struct wf_task *) *deque_slot(struct wf_deque_array *array, int64_t index) {
    return &array->slot[index & (array->capacity - 1)];
}
