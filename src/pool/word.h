/* SPDX-License-Identifier: MIT
 *
 * pool/word.h - the word of a work: where it is in its life, what was asked of it, and whose handle it is.
 *
 *     63           32 31        8 7 6  5    3 2    0
 *     | generation   | flags     |    | status| phase |
 *
 * Everything that has to happen exactly once to a work, its claim, its cancellation, its end, is a compare and swap of this word,
 * and needs the generation of the handle to succeed.
 */
#ifndef WF_POOL_WORD_H
#define WF_POOL_WORD_H

#include "base/state.h"
#include "weft/pool.h"

#define WF_WORK_PHASES(X) \
    X(WF_WORK_FREE, "free", WF_BIT(WF_WORK_HELD) | WF_BIT(WF_WORK_QUEUED)) \
    X(WF_WORK_HELD, "held", WF_BIT(WF_WORK_QUEUED) | WF_BIT(WF_WORK_DONE)) \
    X(WF_WORK_QUEUED, "queued", WF_BIT(WF_WORK_CLAIMED) | WF_BIT(WF_WORK_DONE)) \
    X(WF_WORK_CLAIMED, "claimed", WF_BIT(WF_WORK_QUEUED) | WF_BIT(WF_WORK_DONE) | WF_BIT(WF_WORK_FREE)) \
    X(WF_WORK_DONE, "done", WF_BIT(WF_WORK_FREE))

/* CLAIMED -> QUEUED: a retry. CLAIMED -> FREE: nobody cares what became of it. */
enum wf_work_phase { WF_WORK_PHASES(WF_STATE_ENUM) };
extern const struct wf_machine wf_work_machine;

/* The word of a work: phase in bits 0 to 2, weft_work_status in 3 to 5, flags, and from bit 32 the generation of the handle.
 * LISTED, BUSY, STORED and INSIDE each keep the record; whoever takes the last of them off a DONE work frees it. */
#define WF_WORK_PHASE_MASK UINT64_C(7)
#define WF_WORK_STATUS_SHIFT 3
#define WF_WORK_STATUS_MASK (UINT64_C(7) << WF_WORK_STATUS_SHIFT)
#define WF_WORK_STOP (UINT64_C(1) << 8)     /* it is asked to stop */
#define WF_WORK_FORCE (UINT64_C(1) << 9)    /* by force: its runner's region is cancelled */
#define WF_WORK_PAUSE (UINT64_C(1) << 10)   /* it waits at its next pause point */
#define WF_WORK_SPECIAL (UINT64_C(1) << 11) /* there is more to its end than freeing it */
#define WF_WORK_WAITED (UINT64_C(1) << 12)  /* somebody is, or was, in waiters */
#define WF_WORK_LISTED (UINT64_C(1) << 13)  /* a queue has it; a DONE one is a tombstone there */
#define WF_WORK_BUSY (UINT64_C(1) << 14)    /* its end is being told */
#define WF_WORK_STORED (UINT64_C(1) << 15)  /* its result is kept */
#define WF_WORK_INSIDE (UINT64_C(1) << 16)  /* given up, and its function has not come back */
#define WF_WORK_LATE (UINT64_C(1) << 17)    /* a timeout that stops, or the deadline, has passed */
#define WF_WORK_NO_RETRY (UINT64_C(1) << 18)
#define WF_WORK_UNCOUNTED (UINT64_C(1) << 19) /* held by the gate: not among the outstanding */
#define WF_WORK_OVER (UINT64_C(1) << 20)      /* DONE, and everybody has been told */
#define WF_WORK_AGREES (UINT64_C(1) << 21)    /* it has learnt at a stop point that it is to stop */
#define WF_WORK_WAITING (UINT64_C(1) << 22)   /* HELD, outstanding, and among pool->held */
#define WF_WORK_KEEPS (WF_WORK_LISTED | WF_WORK_BUSY | WF_WORK_STORED | WF_WORK_INSIDE)
#define WF_WORK_FLAGS (UINT64_C(0xffffff) << 8)

static inline enum wf_work_phase wf_work_phase(uint64_t word) {
    return (enum wf_work_phase)(word & WF_WORK_PHASE_MASK);
}
static inline weft_work_status wf_work_status(uint64_t word) {
    return (weft_work_status)((word & WF_WORK_STATUS_MASK) >> WF_WORK_STATUS_SHIFT);
}
static inline uint32_t wf_work_generation(uint64_t word) {
    return (uint32_t)(word >> 32);
}
/* Of a record that nobody has, under the generation after that one. */
static inline uint64_t wf_work_next_free(uint64_t word) {
    uint64_t generation = (uint32_t)(wf_work_generation(word) + 1);
    return (generation ? generation : 1) << 32 | WF_WORK_FREE;
}
static inline uint64_t wf_work_with_phase(uint64_t word, enum wf_work_phase phase) {
    WF_MOVE_CHECK(&wf_work_machine, wf_work_phase(word), phase);
    return (word & ~WF_WORK_PHASE_MASK) | phase;
}

#endif
