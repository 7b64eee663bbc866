/* SPDX-License-Identifier: MIT
 *
 * event/word.h - the completion word of a slot: what became of its generations, in one load.
 *
 *     bits 0-31   d, the last completed generation
 *     bits 32-62  window: bit 32+k is set when generation d-k was poisoned, k = 0..30
 *     bit 63      sticky: some poisoned generation has left the window
 *
 * "How far" and "how it ended" are one word because two would have to be written one after the other, and whoever reads in
 * between takes a poisoned generation for a ready one. Completion shifts the window by one and raises d by one; nothing
 * else ever changes a word, so d only grows and a verdict once given stays, until it is forgotten and says so.
 *
 * Pure arithmetic: no atomics, no locks. The models and the unit tests use these functions as they are.
 */
#ifndef WF_EVENT_WORD_H
#define WF_EVENT_WORD_H

#include <stdbool.h>
#include <stdint.h>

enum { WF_EVENT_WINDOW = 31 };

#define WF_EVENT_STICKY (UINT64_C(1) << 63)
#define WF_EVENT_OLDEST (UINT64_C(1) << (32 + WF_EVENT_WINDOW - 1)) /* the next completion pushes this one out */

/* EXPIRED: it has completed, but which way is no longer kept here. */
enum wf_event_verdict { WF_EVENT_INCOMPLETE, WF_EVENT_READY, WF_EVENT_POISONED, WF_EVENT_EXPIRED };

/* A slot whose next generation is first. */
static inline uint64_t wf_event_word_first(uint32_t first) {
    return first - 1;
}

static inline uint32_t wf_event_word_last(uint64_t word) {
    return (uint32_t)word;
}

/* Completes generation d+1, which the caller knows to exist. */
static inline uint64_t wf_event_word_complete(uint64_t word, bool poisoned) {
    uint64_t window = (word & ~WF_EVENT_STICKY) >> 32;
    uint64_t sticky = word & (WF_EVENT_STICKY | WF_EVENT_OLDEST) ? WF_EVENT_STICKY : 0;
    window = (window << 1 | poisoned) & ((UINT64_C(1) << WF_EVENT_WINDOW) - 1);
    return sticky | window << 32 | (uint32_t)(wf_event_word_last(word) + 1);
}

static inline enum wf_event_verdict wf_event_word_verdict(uint64_t word, uint32_t generation) {
    uint32_t last = wf_event_word_last(word);
    if (generation > last)
        return WF_EVENT_INCOMPLETE;
    uint32_t age = last - generation;
    if (age < WF_EVENT_WINDOW)
        return word >> (32 + age) & 1 ? WF_EVENT_POISONED : WF_EVENT_READY;
    return word & WF_EVENT_STICKY ? WF_EVENT_EXPIRED : WF_EVENT_READY;
}

/* Whether one more completion would make it forget a poisoned generation. */
static inline bool wf_event_word_forgets_next(uint64_t word) {
    return word & WF_EVENT_OLDEST;
}

#endif
