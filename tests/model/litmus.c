/* SPDX-License-Identifier: MIT
 *
 * tests/model/litmus.c - the explorer explored: small programs whose verdict is known from the C11 standard.
 *
 * Each case ends in a CHECK that the weak outcome did not happen. tests/model/run expects "found" where the language
 * allows that outcome and "clean" where it forbids it; the list with the expectations is there. Two shapes that C11
 * allows and the explorer is known not to show (load buffering, and stores reordered in modification order) are run as
 * well and expected clean, so that the limits named in wmx.h are pinned down too.
 *
 * Observed values go through r[], which is written by one thread each and read after the join.
 */
#include "base/atomic.h"
#include "model.h"
#include "os/barrier.h"
#include "os/futex.h"
#include "os/memory.h"

#include <string.h>

typedef void body(void *);

static _Atomic uint32_t x, y;
static _Atomic uint8_t narrow;
static _Atomic(int *) pointer;
static int data;
static uint32_t r[4];

#define RELAXED memory_order_relaxed
#define ACQUIRE memory_order_acquire
#define RELEASE memory_order_release
#define SEQ_CST memory_order_seq_cst
#define THREAD(name) static void name(void *unused __attribute__((unused)))
#define LOAD(p, order) atomic_load_explicit(p, order)
#define STORE(p, v, order) atomic_store_explicit(p, v, order)
#define FENCE(order) atomic_thread_fence(order)

static void run(body *a, body *b, body *c, body *d) {
    body *all[] = {a, b, c, d};
    for (int i = 0; i < 4; i++)
        if (all[i])
            model_start(all[i], NULL);
    model_join_all();
}

/* Store buffering: both threads store, then look at the other's store. May both miss it? */
#define STORE_BUFFERING(name, store, fence, load) \
    THREAD(name##_0) { \
        STORE(&x, 1, store); \
        fence; \
        r[0] = LOAD(&y, load); \
    } \
    THREAD(name##_1) { \
        STORE(&y, 1, store); \
        fence; \
        r[1] = LOAD(&x, load); \
    } \
    static void name(void) { \
        run(name##_0, name##_1, NULL, NULL); \
        CHECK(r[0] || r[1]); \
    }
STORE_BUFFERING(sb_relaxed, RELAXED, , RELAXED)
STORE_BUFFERING(sb_acq_rel, RELEASE, , ACQUIRE)
STORE_BUFFERING(sb_acq_rel_fence, RELAXED, FENCE(memory_order_acq_rel), RELAXED)
STORE_BUFFERING(sb_seq_cst, SEQ_CST, , SEQ_CST)
STORE_BUFFERING(sb_fence, RELAXED, FENCE(SEQ_CST), RELAXED)

/* One side orders for the compiler only, the other makes all threads pass a barrier, or only itself. */
THREAD(sb_cheap) {
    STORE(&x, 1, RELAXED);
    wf_fence_compiler();
    r[0] = LOAD(&y, RELAXED);
}
THREAD(sb_everywhere) {
    STORE(&y, 1, RELAXED);
    wf_os_barrier();
    r[1] = LOAD(&x, RELAXED);
}
THREAD(sb_one) {
    STORE(&y, 1, RELAXED);
    FENCE(SEQ_CST);
    r[1] = LOAD(&x, RELAXED);
}
static void sb_barrier(void) {
    run(sb_cheap, sb_everywhere, NULL, NULL);
    CHECK(r[0] || r[1]);
}
static void sb_one_fence(void) {
    run(sb_cheap, sb_one, NULL, NULL);
    CHECK(r[0] || r[1]);
}

/* A read-modify-write is no fence for other locations. */
THREAD(sb_rmw_0) {
    atomic_exchange_explicit(&x, 1, memory_order_acq_rel);
    r[0] = LOAD(&y, RELAXED);
}
THREAD(sb_rmw_1) {
    atomic_exchange_explicit(&y, 1, memory_order_acq_rel);
    r[1] = LOAD(&x, RELAXED);
}
static void sb_rmw(void) {
    run(sb_rmw_0, sb_rmw_1, NULL, NULL);
    CHECK(r[0] || r[1]);
}

/* Message passing: data first, then the flag. May the reader see the flag and miss the data? */
#define MESSAGE_PASSING(name, before, store, load, after) \
    THREAD(name##_0) { \
        STORE(&x, 1, RELAXED); \
        before; \
        STORE(&y, 1, store); \
    } \
    THREAD(name##_1) { \
        r[0] = LOAD(&y, load); \
        after; \
        r[1] = LOAD(&x, RELAXED); \
    } \
    static void name(void) { \
        run(name##_0, name##_1, NULL, NULL); \
        CHECK(!(r[0] == 1 && r[1] == 0)); \
    }
MESSAGE_PASSING(mp_relaxed, , RELAXED, RELAXED, )
MESSAGE_PASSING(mp_release_only, , RELEASE, RELAXED, )
MESSAGE_PASSING(mp_acquire_only, , RELAXED, ACQUIRE, )
MESSAGE_PASSING(mp_rel_acq, , RELEASE, ACQUIRE, )
MESSAGE_PASSING(mp_fences, FENCE(RELEASE), RELAXED, RELAXED, FENCE(ACQUIRE))
MESSAGE_PASSING(mp_release_acquire_fence, , RELEASE, RELAXED, FENCE(ACQUIRE))

/* The same with plain data: a data race, or none. */
#define PLAIN_MESSAGE(name, store, load) \
    THREAD(name##_0) { \
        data = 7; \
        STORE(&y, 1, store); \
    } \
    THREAD(name##_1) { \
        if (LOAD(&y, load)) \
            CHECK(data == 7); \
    } \
    static void name(void) { \
        run(name##_0, name##_1, NULL, NULL); \
    }
PLAIN_MESSAGE(plain_relaxed, RELAXED, RELAXED)
PLAIN_MESSAGE(plain_rel_acq, RELEASE, ACQUIRE)

/* Independent reads of independent writes: may two readers disagree on the order of two writers? */
#define IRIW(name, store, load) \
    THREAD(name##_0) { \
        STORE(&x, 1, store); \
    } \
    THREAD(name##_1) { \
        STORE(&y, 1, store); \
    } \
    THREAD(name##_2) { \
        r[0] = LOAD(&x, load); \
        r[1] = LOAD(&y, load); \
    } \
    THREAD(name##_3) { \
        r[2] = LOAD(&y, load); \
        r[3] = LOAD(&x, load); \
    } \
    static void name(void) { \
        run(name##_0, name##_1, name##_2, name##_3); \
        CHECK(!(r[0] == 1 && r[1] == 0 && r[2] == 1 && r[3] == 0)); \
    }
IRIW(iriw_acq_rel, RELEASE, ACQUIRE)
IRIW(iriw_seq_cst, SEQ_CST, SEQ_CST)

/* Write-read causality: a third thread that hears of it second hand. */
#define CAUSALITY(name, store, load) \
    THREAD(name##_0) { \
        STORE(&x, 1, store); \
    } \
    THREAD(name##_1) { \
        if (LOAD(&x, load)) \
            STORE(&y, 1, store); \
    } \
    THREAD(name##_2) { \
        r[0] = LOAD(&y, load); \
        r[1] = LOAD(&x, RELAXED); \
    } \
    static void name(void) { \
        run(name##_0, name##_1, name##_2, NULL); \
        CHECK(!(r[0] == 1 && r[1] == 0)); \
    }
CAUSALITY(wrc_relaxed, RELAXED, RELAXED)
CAUSALITY(wrc_acq_rel, RELEASE, ACQUIRE)

/* Coherence: one location never goes backwards. */
THREAD(corr_0) {
    STORE(&x, 1, RELAXED);
    STORE(&x, 2, RELAXED);
}
THREAD(corr_1) {
    r[0] = LOAD(&x, RELAXED);
    r[1] = LOAD(&x, RELAXED);
}
static void corr(void) {
    run(corr_0, corr_1, NULL, NULL);
    CHECK(r[1] >= r[0]);
}

/* A release sequence goes on through another thread's relaxed read-modify-write: whoever reads 2 by acquire has seen the
 * publication of 1. (An increment that comes first makes 1, which the publication then overwrites.) */
THREAD(sequence_publish) {
    data = 7;
    STORE(&y, 1, RELEASE);
}
THREAD(sequence_update) {
    atomic_fetch_add_explicit(&y, 1, RELAXED);
}
THREAD(sequence_read) {
    if (LOAD(&y, ACQUIRE) == 2)
        CHECK(data == 7);
}
static void sequence_by_rmw(void) {
    STORE(&y, 0, RELAXED);
    model_start(sequence_publish, NULL);
    model_start(sequence_update, NULL);
    model_start(sequence_read, NULL);
    model_join_all();
}

/* But a relaxed store ends it, even one of the same thread. */
THREAD(sequence_publish_twice) {
    data = 7;
    STORE(&y, 1, RELEASE);
    STORE(&y, 2, RELAXED);
}
static void sequence_by_store(void) {
    run(sequence_publish_twice, sequence_read, NULL, NULL);
}

/* Increments: two halves can interleave, a read-modify-write cannot. */
THREAD(increment_in_halves) {
    STORE(&x, LOAD(&x, SEQ_CST) + 1, SEQ_CST);
}
static void halves(void) {
    run(increment_in_halves, increment_in_halves, NULL, NULL);
    CHECK(LOAD(&x, RELAXED) == 2);
}
THREAD(increment_whole) {
    atomic_fetch_add_explicit(&narrow, 200, RELAXED);
    uint32_t old = LOAD(&x, RELAXED);
    while (!atomic_compare_exchange_strong_explicit(&x, &old, old + 1, RELAXED, RELAXED))
        ;
}
static void whole(void) {
    run(increment_whole, increment_whole, increment_whole, NULL);
    CHECK(LOAD(&x, RELAXED) == 3);
    CHECK(LOAD(&narrow, RELAXED) == (uint8_t)600);
}

/* Load buffering and write reordering: allowed by C11, not shown (see wmx.h). */
THREAD(lb_0) {
    r[0] = LOAD(&x, RELAXED);
    STORE(&y, 1, RELAXED);
}
THREAD(lb_1) {
    r[1] = LOAD(&y, RELAXED);
    STORE(&x, 1, RELAXED);
}
static void limit_load_buffering(void) {
    run(lb_0, lb_1, NULL, NULL);
    CHECK(!(r[0] && r[1]));
}
THREAD(writes_0) {
    STORE(&x, 1, RELAXED);
    STORE(&y, 2, RELAXED);
}
THREAD(writes_1) {
    STORE(&y, 1, RELAXED);
    STORE(&x, 2, RELAXED);
}
static void limit_write_reordering(void) {
    run(writes_0, writes_1, NULL, NULL);
    CHECK(!(LOAD(&x, RELAXED) == 1 && LOAD(&y, RELAXED) == 1));
}

/* Futex: the compare and the sleep are one step; but a wake that comes before both is gone. */
THREAD(futex_sleeper) {
    wf_os_futex_wait(&x, 0, INT64_MAX);
}
THREAD(futex_waker) {
    STORE(&x, 1, RELAXED);
    wf_os_futex_wake(&x, 1);
}
THREAD(futex_waker_without_word) {
    wf_os_futex_wake(&x, 1);
}
THREAD(futex_sleeper_with_deadline) {
    wf_os_futex_wait(&x, 0, 1);
}
static void futex_store_and_wake(void) {
    run(futex_sleeper, futex_waker, NULL, NULL);
}
static void futex_lost_wake(void) {
    run(futex_sleeper, futex_waker_without_word, NULL, NULL);
}
static void futex_one_wake_for_two(void) {
    run(futex_sleeper, futex_sleeper, futex_waker, NULL);
}
static void futex_spurious(void) {
    model_allow_spurious_wakes(1);
    run(futex_sleeper, futex_waker, NULL, NULL);
    CHECK(true);
}
/* Alone with a deadline it may sleep for ever in an execution where the clock never gets there: that is found. */
static void futex_deadline(void) {
    run(futex_sleeper_with_deadline, NULL, NULL, NULL);
}

/* Spins. */
THREAD(spin_for_flag) {
    while (!LOAD(&y, ACQUIRE))
        wf_relax();
    CHECK(data == 7);
}
THREAD(spin_relaxed) {
    while (!LOAD(&y, RELAXED))
        wf_relax();
    CHECK(LOAD(&x, RELAXED) == 1);
}
THREAD(set_both) {
    STORE(&x, 1, RELAXED);
    STORE(&y, 1, RELEASE);
}
THREAD(spin_briefly) {
    for (int i = 0; i < 100 && !LOAD(&y, RELAXED); i++)
        wf_relax();
}
static void spin_ends(void) {
    run(spin_for_flag, sequence_publish, NULL, NULL);
}
static void spin_does_not_acquire(void) {
    run(spin_relaxed, set_both, NULL, NULL);
}
static void spin_without_end(void) {
    run(spin_for_flag, NULL, NULL, NULL);
}
static void spin_bounded(void) {
    run(spin_briefly, NULL, NULL, NULL);
}

/* Memory. */
THREAD(heap_use) {
    int *seen = LOAD(&pointer, ACQUIRE);
    if (seen)
        r[0] = (uint32_t)*seen;
}
THREAD(heap_free) {
    int *block = wf_os_alloc(sizeof *block);
    *block = 1;
    STORE(&pointer, block, RELEASE);
    STORE(&pointer, NULL, RELEASE);
    wf_os_free(block);
}
static void heap_use_after_free(void) {
    run(heap_use, heap_free, NULL, NULL);
}
static void heap_alone(void) {
    run(heap_free, NULL, NULL, NULL);
}
static void heap_leak(void) {
    STORE(&pointer, wf_os_alloc(4), RELAXED);
}

#define CASE(name) \
    { #name, name }
static const struct {
    const char *name;
    void (*function)(void);
} cases[] = {
    CASE(sb_relaxed),
    CASE(sb_acq_rel),
    CASE(sb_acq_rel_fence),
    CASE(sb_seq_cst),
    CASE(sb_fence),
    CASE(sb_barrier),
    CASE(sb_one_fence),
    CASE(sb_rmw),
    CASE(mp_relaxed),
    CASE(mp_release_only),
    CASE(mp_acquire_only),
    CASE(mp_rel_acq),
    CASE(mp_fences),
    CASE(mp_release_acquire_fence),
    CASE(plain_relaxed),
    CASE(plain_rel_acq),
    CASE(iriw_acq_rel),
    CASE(iriw_seq_cst),
    CASE(wrc_relaxed),
    CASE(wrc_acq_rel),
    CASE(corr),
    CASE(sequence_by_rmw),
    CASE(sequence_by_store),
    CASE(halves),
    CASE(whole),
    CASE(limit_load_buffering),
    CASE(limit_write_reordering),
    CASE(futex_store_and_wake),
    CASE(futex_lost_wake),
    CASE(futex_one_wake_for_two),
    CASE(futex_spurious),
    CASE(futex_deadline),
    CASE(spin_ends),
    CASE(spin_does_not_acquire),
    CASE(spin_without_end),
    CASE(spin_bounded),
    CASE(heap_use_after_free),
    CASE(heap_alone),
    CASE(heap_leak),
};

void model_main(void) {
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (strcmp(cases[i].name, model_case()) == 0) {
            cases[i].function();
            return;
        }
    }
    model_fail("no such case", __FILE__, __LINE__);
}
