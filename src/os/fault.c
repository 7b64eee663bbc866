/* SPDX-License-Identifier: MIT
 *
 * os/fault.c - the order book behind wf_fault; empty in product builds.
 *
 * Counters are atomic, because every thread of the runtime passes here; the order itself is written while the runtime
 * stands still, so plain relaxed words are enough.
 */
#include "os/fault.h"

#ifdef WF_TESTING

#include "base/atomic.h"

#include <unistd.h>

static _Atomic long calls[WF_CALL_COUNT + 1]; /* the last one counts them all */
static _Atomic long hits;
static _Atomic int ordered_call = WF_CALL_COUNT;
static _Atomic long ordered_nth;
static _Atomic int ordered_error;
static _Atomic int ordered_every;
static _Atomic int ordered_thread; /* 0: any */

static void fault_order(enum wf_system_call call, long nth, int error, int every, int thread);

int wf_fault(enum wf_system_call call) {
    int thread = wf_load_relaxed(&ordered_thread);
    if (thread && thread != gettid())
        return 0;
    long own = wf_fetch_add_relaxed(&calls[call], 1) + 1;
    long all = wf_fetch_add_relaxed(&calls[WF_CALL_COUNT], 1) + 1;
    long nth = wf_load_relaxed(&ordered_nth);
    int which = wf_load_relaxed(&ordered_call);
    if (nth == 0 || (which != (int)call && which != WF_CALL_COUNT))
        return 0;
    long number = which == WF_CALL_COUNT ? all : own;
    if (number != nth && !(wf_load_relaxed(&ordered_every) && number > nth))
        return 0;
    wf_fetch_add_relaxed(&hits, 1);
    return -wf_load_relaxed(&ordered_error);
}

void wf_fault_order(enum wf_system_call call, long nth, int error, int every) {
    fault_order(call, nth, error, every, 0);
}

void wf_fault_order_here(enum wf_system_call call, long nth, int error, int every) {
    fault_order(call, nth, error, every, gettid());
}

static void fault_order(enum wf_system_call call, long nth, int error, int every, int thread) {
    wf_store_relaxed(&ordered_nth, 0L);
    for (int i = 0; i <= WF_CALL_COUNT; i++)
        wf_store_relaxed(&calls[i], 0L);
    wf_store_relaxed(&hits, 0L);
    wf_store_relaxed(&ordered_thread, nth ? thread : 0);
    wf_store_relaxed(&ordered_call, (int)call);
    wf_store_relaxed(&ordered_error, error);
    wf_store_relaxed(&ordered_every, every);
    wf_store_relaxed(&ordered_nth, nth);
}

long wf_fault_calls(enum wf_system_call call) {
    return wf_load_relaxed(&calls[call]);
}

long wf_fault_hits(void) {
    return wf_load_relaxed(&hits);
}

const char *wf_fault_name(enum wf_system_call call) {
    static const char *const names[] = {
#define WF_SYSTEM_CALL_NAME(name, text) text,
        WF_SYSTEM_CALLS(WF_SYSTEM_CALL_NAME)
#undef WF_SYSTEM_CALL_NAME
            "any"};
    return names[call];
}

#endif

typedef int wf_fault_unit_is_not_empty;
