/* SPDX-License-Identifier: MIT
 *
 * queue/parker.c - one word, one token. States, invariants and the pair A, B: queue/parker.h.
 *
 * Lying down need not acquire anything: it either finds EMPTY, where there is nothing to see, or a token, which it then
 * consumes by the same acquire exchange as everybody else.
 */
#include "queue/parker.h"

#include "base/assert.h"
#include "base/point.h"
#include "os/futex.h"

#include <errno.h>

/* Mutants, found by tests/model/model_parker.c. */
#ifdef WF_MUTANT_PARKER_RELAXED_UNPARK
#define PARKER_EXCHANGE_TOKEN wf_exchange_relaxed
#else
#define PARKER_EXCHANGE_TOKEN wf_exchange_release
#endif
#ifdef WF_MUTANT_PARKER_RELAXED_CONSUME
#define PARKER_EXCHANGE_EMPTY wf_exchange_relaxed
#else
#define PARKER_EXCHANGE_EMPTY wf_exchange_acquire
#endif

static bool parker_lie_down(struct wf_parker *parker, uint32_t state);
static bool parker_consume(struct wf_parker *parker);

bool wf_parker_park(struct wf_parker *parker, int64_t deadline_ns) {
    if (!parker_lie_down(parker, WF_PARKER_PARKED))
        return true;
    WF_POINT("parker.before_wait");
    for (;;) {
        int error = wf_os_futex_wait(&parker->word, WF_PARKER_PARKED, deadline_ns);
        if (error == -ETIMEDOUT || wf_load_relaxed(&parker->word) == WF_PARKER_NOTIFIED)
            return parker_consume(parker);
    }
}

bool wf_parker_poll_begin(struct wf_parker *parker) {
    return parker_lie_down(parker, WF_PARKER_POLLING);
}

bool wf_parker_poll_end(struct wf_parker *parker) {
    return parker_consume(parker);
}

bool wf_parker_unpark(struct wf_parker *parker) {
#ifdef WF_MUTANT_PARKER_UNPARK_CHECKS_FIRST
    if (wf_load_relaxed(&parker->word) == WF_PARKER_NOTIFIED)
        return false;
#endif
    uint32_t was = PARKER_EXCHANGE_TOKEN(&parker->word, WF_PARKER_NOTIFIED); /* A */
#ifdef WF_MUTANT_PARKER_LOOK_BACK
    if (wf_load_relaxed(&parker->word) == WF_PARKER_EMPTY)
        return false;
#endif
#ifndef WF_MUTANT_PARKER_NO_WAKE
    if (was == WF_PARKER_PARKED)
        wf_os_futex_wake(&parker->word, 1);
#endif
    return was == WF_PARKER_POLLING;
}

/* EMPTY becomes state; false when there is a token instead, which is consumed. */
static bool parker_lie_down(struct wf_parker *parker, uint32_t state) {
#ifdef WF_MUTANT_PARKER_LIE_DOWN_BY_STORE
    if (wf_load_acquire(&parker->word) == WF_PARKER_EMPTY) {
        wf_store_relaxed(&parker->word, state);
        return true;
    }
#else
    uint32_t found = WF_PARKER_EMPTY;
    if (wf_cas_relaxed(&parker->word, &found, state))
        return true;
    WF_ASSERT(found == WF_PARKER_NOTIFIED);
#endif
    parker_consume(parker);
    return false;
}

/* Whatever the word says becomes EMPTY; true when it was a token. An exchange and not a store: an unpark may have come
 * since the word was last read, and what it published must be visible from here on. */
static bool parker_consume(struct wf_parker *parker) {
#ifdef WF_MUTANT_PARKER_CONSUME_BY_STORE
    bool had_token = wf_load_acquire(&parker->word) == WF_PARKER_NOTIFIED;
    wf_store_relaxed(&parker->word, WF_PARKER_EMPTY);
    return had_token;
#else
    return PARKER_EXCHANGE_EMPTY(&parker->word, WF_PARKER_EMPTY) == WF_PARKER_NOTIFIED; /* B */
#endif
}
