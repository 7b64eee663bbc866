/* SPDX-License-Identifier: MIT
 *
 * base/atomic.h - C11 atomics with the memory order in the name of the operation.
 *
 * Every shared word of the runtime is an _Atomic field and is touched through these macros only, so that a reader sees
 * the order at the call and a tool can find every operation. Anything stronger than relaxed says at its call which
 * other operation it pairs with.
 *
 * This header is also the seam for the weak-memory explorer (tests/model): it runs the unchanged sources, and a thread
 * that waits for another one announces it by wf_relax(), never by a bare loop.
 *
 * Lock-free words only: the types used are at most 8 bytes wide.
 */
#ifndef WF_BASE_ATOMIC_H
#define WF_BASE_ATOMIC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define wf_load_relaxed(p) atomic_load_explicit((p), memory_order_relaxed)
#define wf_load_acquire(p) atomic_load_explicit((p), memory_order_acquire)
#define wf_load_seq_cst(p) atomic_load_explicit((p), memory_order_seq_cst)

#define wf_store_relaxed(p, v) atomic_store_explicit((p), (v), memory_order_relaxed)
#define wf_store_release(p, v) atomic_store_explicit((p), (v), memory_order_release)
#define wf_store_seq_cst(p, v) atomic_store_explicit((p), (v), memory_order_seq_cst)

#define wf_exchange_relaxed(p, v) atomic_exchange_explicit((p), (v), memory_order_relaxed)
#define wf_exchange_acquire(p, v) atomic_exchange_explicit((p), (v), memory_order_acquire)
#define wf_exchange_release(p, v) atomic_exchange_explicit((p), (v), memory_order_release)
#define wf_exchange_acq_rel(p, v) atomic_exchange_explicit((p), (v), memory_order_acq_rel)
#define wf_exchange_seq_cst(p, v) atomic_exchange_explicit((p), (v), memory_order_seq_cst)

#define wf_fetch_add_relaxed(p, v) atomic_fetch_add_explicit((p), (v), memory_order_relaxed)
#define wf_fetch_add_release(p, v) atomic_fetch_add_explicit((p), (v), memory_order_release)
#define wf_fetch_add_acq_rel(p, v) atomic_fetch_add_explicit((p), (v), memory_order_acq_rel)
#define wf_fetch_add_seq_cst(p, v) atomic_fetch_add_explicit((p), (v), memory_order_seq_cst)
#define wf_fetch_sub_relaxed(p, v) atomic_fetch_sub_explicit((p), (v), memory_order_relaxed)
#define wf_fetch_sub_release(p, v) atomic_fetch_sub_explicit((p), (v), memory_order_release)
#define wf_fetch_sub_acq_rel(p, v) atomic_fetch_sub_explicit((p), (v), memory_order_acq_rel)
#define wf_fetch_sub_seq_cst(p, v) atomic_fetch_sub_explicit((p), (v), memory_order_seq_cst)
#define wf_fetch_and_relaxed(p, v) atomic_fetch_and_explicit((p), (v), memory_order_relaxed)
#define wf_fetch_or_acq_rel(p, v) atomic_fetch_or_explicit((p), (v), memory_order_acq_rel)
#define wf_fetch_or_relaxed(p, v) atomic_fetch_or_explicit((p), (v), memory_order_relaxed)
#define wf_fetch_and_acq_rel(p, v) atomic_fetch_and_explicit((p), (v), memory_order_acq_rel)

/* Compare and swap, strong: true when *p was *e and is now d; else *e gets the value found. The order named holds for
 * success; a failure reads relaxed, except for the two acquire forms, which read acquire. */
#define wf_cas_relaxed(p, e, d) \
    atomic_compare_exchange_strong_explicit((p), (e), (d), memory_order_relaxed, memory_order_relaxed)
#define wf_cas_acquire(p, e, d) \
    atomic_compare_exchange_strong_explicit((p), (e), (d), memory_order_acquire, memory_order_acquire)
#define wf_cas_release(p, e, d) \
    atomic_compare_exchange_strong_explicit((p), (e), (d), memory_order_release, memory_order_relaxed)
#define wf_cas_acq_rel(p, e, d) \
    atomic_compare_exchange_strong_explicit((p), (e), (d), memory_order_acq_rel, memory_order_acquire)
#define wf_cas_seq_cst(p, e, d) \
    atomic_compare_exchange_strong_explicit((p), (e), (d), memory_order_seq_cst, memory_order_relaxed)

/* ThreadSanitizer does not know fences. There a read-modify-write of one common word does the same work: all of them are
 * in one order, and each sees what was done before the ones that went before it. */
#if defined(__SANITIZE_THREAD__) && !defined(WF_MODEL)
extern _Atomic uint32_t wf_fence_word;
#define wf_fence_seq_cst() ((void)wf_fetch_add_seq_cst(&wf_fence_word, 0))
#else
#define wf_fence_seq_cst() atomic_thread_fence(memory_order_seq_cst)
#endif

/* Keeps the compiler from moving memory operations across; the processor may. Only with os/barrier.h on the other side. */
#define wf_fence_compiler() atomic_signal_fence(memory_order_seq_cst)

/* A counter with one writer: an ordinary add that other threads may read at any time without a data race. */
#define wf_count_owner(p, n) wf_store_relaxed((p), wf_load_relaxed(p) + (n))

/* One more, unless the count has come down to zero: for who finds something without having a reference to it. */
static inline bool wf_count_if_any(_Atomic uint32_t *references) {
    uint32_t found = wf_load_relaxed(references);
    while (found > 0)
        if (wf_cas_relaxed(references, &found, found + 1))
            return true;
    return false;
}

/* One step of a wait for another thread. */
#ifdef WF_MODEL
void wf_relax(void);
#else
static inline void wf_relax(void) {
#if defined(__x86_64__)
    __asm__ volatile("pause" ::: "memory");
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#else
    atomic_signal_fence(memory_order_seq_cst);
#endif
}
#endif

#endif
