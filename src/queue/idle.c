/* SPDX-License-Identifier: MIT
 *
 * queue/idle.c - the idle set. Model, invariants 1 to 6 and the fences A and B: queue/idle.h.
 *
 * Why the accesses of the word are relaxed: between threads it carries no data, only counts. The stack and the seats are
 * ordered by the lock, a woken worker by its parker's token, and the sources by the two fences. C lets a worker that was
 * taken go on before its token comes: the searcher's place that it will give back is then counted already.
 *
 * Rejected
 *   - a flag for each worker, looked at by the notifier without a fence: loses wake-ups, on x86 too
 *   - reserving the searcher's place first and looking for a worker afterwards: needs the retry that invariant 6 avoids
 *   - only the last searcher looks again: stuck as soon as searchers are capped
 *   - a lock-free stack: the lock is taken only when somebody goes to sleep or is woken, which costs far more
 */
#include "queue/idle.h"

#include "base/assert.h"
#include "base/point.h"
#include "os/memory.h"

#include <errno.h>

#define SEARCHING_ONE 1u
#define PARKED_ONE 0x10000u

/* Where a worker is, as far as the idle set knows:
 *
 *     AWAKE --park--> SEATED --unpark_self--> AWAKE
 *                       |----take-----------> TAKEN -----------.
 *                       `----notify_any-----> TAKEN_TO_SEARCH --+--park--> SEATED
 */
enum { SEAT_AWAKE, SEAT_SEATED, SEAT_TAKEN, SEAT_TAKEN_TO_SEARCH };

/* Mutants, found by tests/model/model_idle.c. */
#ifdef WF_MUTANT_IDLE_NO_FENCE_NOTIFY
#define IDLE_FENCE_NOTIFY() (void)0
#else
#define IDLE_FENCE_NOTIFY() wf_fence_seq_cst()
#endif
#ifdef WF_MUTANT_IDLE_NO_FENCE_TAKE
#define IDLE_FENCE_TAKE() (void)0
#else
#define IDLE_FENCE_TAKE() wf_fence_seq_cst()
#endif
#ifdef WF_MUTANT_IDLE_NO_FENCE_SEARCH_END
#define IDLE_FENCE_SEARCH_END() (void)0
#else
#define IDLE_FENCE_SEARCH_END() wf_fence_seq_cst()
#endif
#ifdef WF_MUTANT_IDLE_NO_FENCE_PARK
#define IDLE_FENCE_PARK() (void)0
#else
#define IDLE_FENCE_PARK() wf_fence_seq_cst()
#endif
#ifdef WF_MUTANT_IDLE_CLAIM_WITHOUT_CAS
#define IDLE_CLAIM(p, found, value) ((void)wf_fetch_add_relaxed((p), (value) - *(found)), true)
#else
#define IDLE_CLAIM(p, found, value) wf_cas_relaxed((p), (found), (value))
#endif

static uint32_t idle_searching_of(uint32_t word);
static uint32_t idle_parked_of(uint32_t word);
static int idle_take_for_search(struct wf_idle *idle, uint32_t wish, uint32_t spared);
static bool idle_remove(struct wf_idle *idle, uint32_t worker, uint8_t seat);
static void idle_take_out(struct wf_idle *idle, uint32_t worker);
#ifdef WF_MUTANT_IDLE_RESERVE_FIRST
static int idle_reserve_then_take(struct wf_idle *idle);
#endif

int wf_idle_init(struct wf_idle *idle, uint32_t capacity, uint32_t searcher_cap) {
    WF_ASSERT(capacity > 0);
    WF_ASSERT(capacity < PARKED_ONE);
    uint32_t *stack = wf_os_alloc(capacity * sizeof *stack);
    if (!stack)
        return -ENOMEM;
    _Atomic uint8_t *seat = wf_os_alloc(capacity * sizeof *seat);
    if (!seat) {
        wf_os_free(stack);
        return -ENOMEM;
    }
    *idle = (struct wf_idle){
        .capacity = capacity,
        .searcher_cap = searcher_cap ? searcher_cap : 1,
        .stack = stack,
        .seat = seat,
    };
    return 0;
}

void wf_idle_term(struct wf_idle *idle) {
    wf_os_free((void *)idle->seat);
    wf_os_free(idle->stack);
    idle->seat = NULL;
    idle->stack = NULL;
}

int wf_idle_notify_any(struct wf_idle *idle) {
    return wf_idle_notify_near(idle, UINT32_MAX, UINT32_MAX);
}

int wf_idle_notify_near(struct wf_idle *idle, uint32_t wish, uint32_t spared) {
    IDLE_FENCE_NOTIFY(); /* A: pairs with B in wf_idle_park */
#ifdef WF_MUTANT_IDLE_RESERVE_FIRST
    return idle_reserve_then_take(idle);
#endif
    uint32_t word = wf_load_relaxed(&idle->word);
    if (idle_searching_of(word) > 0 || idle_parked_of(word) == 0)
        return -1;
    wf_lock_take(&idle->lock);
    int worker = idle_take_for_search(idle, wish, spared);
    wf_lock_drop(&idle->lock);
    return worker;
}

#ifdef WF_MUTANT_IDLE_RESERVE_FIRST
/* Breaks invariant 6: holds a searcher's place before there is anybody for it, and gives it back without a second look
 * at the sources. */
static int idle_reserve_then_take(struct wf_idle *idle) {
    if (!wf_idle_search_begin(idle))
        return -1;
    int worker = -1;
    wf_lock_take(&idle->lock);
    if (idle->depth > 0) {
        worker = (int)idle->stack[idle->depth - 1];
        idle_remove(idle, (uint32_t)worker, SEAT_TAKEN_TO_SEARCH);
    }
    wf_lock_drop(&idle->lock);
    if (worker < 0)
        wf_fetch_sub_relaxed(&idle->word, SEARCHING_ONE);
    return worker;
}
#endif

/* Under lock. parked cannot change; searching can, and then there is a searcher and nobody needs to be woken. */
static int idle_take_for_search(struct wf_idle *idle, uint32_t wish, uint32_t spared) {
    uint32_t word = wf_load_relaxed(&idle->word);
    do {
        WF_ASSERT(idle_parked_of(word) == idle->depth);
        if (idle_searching_of(word) > 0 || idle_parked_of(word) == 0)
            return -1;
    } while (!IDLE_CLAIM(&idle->word, &word, word + SEARCHING_ONE - PARKED_ONE));
    uint32_t worker = idle->stack[idle->depth - 1];
    if (worker == spared && idle->depth > 1)
        worker = idle->stack[idle->depth - 2];
    if (wish < idle->capacity && wf_load_relaxed(&idle->seat[wish]) == SEAT_SEATED)
        worker = wish;
    idle_take_out(idle, worker);
    wf_store_release(&idle->seat[worker], SEAT_TAKEN_TO_SEARCH); /* C */
    return (int)worker;
}

bool wf_idle_search_begin(struct wf_idle *idle) {
    uint32_t word = wf_load_relaxed(&idle->word);
    do {
        if (idle_searching_of(word) >= idle->searcher_cap)
            return false;
    } while (!wf_cas_relaxed(&idle->word, &word, word + SEARCHING_ONE));
    return true;
}

bool wf_idle_search_end(struct wf_idle *idle) {
    uint32_t was = wf_fetch_sub_relaxed(&idle->word, SEARCHING_ONE);
    WF_ASSERT(idle_searching_of(was) > 0);
#ifdef WF_MUTANT_IDLE_NO_CHAIN_WAKE
    return false;
#else
    if (idle_searching_of(was) > 1)
        return false;
    IDLE_FENCE_SEARCH_END(); /* B: pairs with A, as in wf_idle_park */
    return true;
#endif
}

void wf_idle_park(struct wf_idle *idle, uint32_t worker, bool was_searching) {
    WF_ASSERT(worker < idle->capacity);
    wf_lock_take(&idle->lock);
    WF_ASSERT(wf_load_relaxed(&idle->seat[worker]) != SEAT_SEATED);
    wf_store_relaxed(&idle->seat[worker], SEAT_SEATED);
    idle->stack[idle->depth++] = worker;
#ifdef WF_MUTANT_IDLE_SEARCHING_DOWN_LATE
    wf_fetch_add_relaxed(&idle->word, PARKED_ONE);
#else
    wf_fetch_add_acq_rel(&idle->word, PARKED_ONE - (was_searching ? SEARCHING_ONE : 0)); /* the last parker sees all */
#endif
    wf_lock_drop(&idle->lock);
    WF_POINT("idle.before_fence");
    IDLE_FENCE_PARK(); /* B: pairs with A in wf_idle_notify_any and wf_idle_take */
#ifdef WF_MUTANT_IDLE_SEARCHING_DOWN_LATE
    wf_fetch_sub_relaxed(&idle->word, was_searching ? SEARCHING_ONE : 0);
#endif
}

bool wf_idle_unpark_self(struct wf_idle *idle, uint32_t worker) {
    if (wf_load_acquire(&idle->seat[worker]) != SEAT_SEATED) /* pairs with C */
        return false;
    wf_lock_take(&idle->lock);
    bool removed = idle_remove(idle, worker, SEAT_AWAKE);
    wf_lock_drop(&idle->lock);
    return removed;
}

bool wf_idle_woken_to_search(struct wf_idle *idle, uint32_t worker) {
    return wf_load_relaxed(&idle->seat[worker]) == SEAT_TAKEN_TO_SEARCH;
}

bool wf_idle_is_seated_any(struct wf_idle *idle, uint32_t worker) {
    return wf_load_relaxed(&idle->seat[worker]) == SEAT_SEATED;
}

bool wf_idle_take(struct wf_idle *idle, uint32_t worker) {
    WF_ASSERT(worker < idle->capacity);
    IDLE_FENCE_TAKE(); /* A: pairs with B in wf_idle_park */
    if (wf_load_relaxed(&idle->seat[worker]) != SEAT_SEATED)
        return false;
    wf_lock_take(&idle->lock);
    bool removed = idle_remove(idle, worker, SEAT_TAKEN);
    wf_lock_drop(&idle->lock);
    return removed;
}

/* Under lock. Takes a worker out of the idle set. */
static bool idle_remove(struct wf_idle *idle, uint32_t worker, uint8_t seat) {
    if (wf_load_relaxed(&idle->seat[worker]) != SEAT_SEATED)
        return false;
    idle_take_out(idle, worker);
    wf_fetch_sub_relaxed(&idle->word, PARKED_ONE);
    wf_store_release(&idle->seat[worker], seat); /* C */
    return true;
}

/* Under lock. Off the stack, from anywhere in it; the others keep their order. */
static void idle_take_out(struct wf_idle *idle, uint32_t worker) {
    uint32_t at = idle->depth - 1;
    while (idle->stack[at] != worker) {
        WF_ASSERT(at > 0);
        at--;
    }
    idle->depth--;
    for (; at < idle->depth; at++)
        idle->stack[at] = idle->stack[at + 1];
}

uint32_t wf_idle_searching_any(struct wf_idle *idle) {
    return idle_searching_of(wf_load_relaxed(&idle->word));
}

uint32_t wf_idle_parked_any(struct wf_idle *idle) {
    return idle_parked_of(wf_load_relaxed(&idle->word));
}

static uint32_t idle_searching_of(uint32_t word) {
    return word & (PARKED_ONE - 1);
}

static uint32_t idle_parked_of(uint32_t word) {
    return word >> 16;
}
