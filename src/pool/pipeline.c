/* SPDX-License-Identifier: MIT
 *
 * pool/pipeline.c - stages, and carriers that take items through them.
 *
 * A *carrier* makes an item in the first stage, takes it through all the others, and begins again. There are as many carriers
 * as items may be on their way, which is all there is to back-pressure. They are jobs of the caller, who is one as well: one
 * that no thread has had time for finds the stream at its end and does nothing. A carrier that has to wait parks its fiber, and
 * its thread takes the next carrier.
 *
 * A stage that is not parallel has a *gate*, which lets one carrier in at a time: the next one in the order of their numbers, or
 * whoever came first. Items get their numbers in the first stage. Every number goes through every ordered gate, or those behind
 * it would wait for ever: so an item that was dropped, or that an error or a panic stops, is taken on as a blank, for which no
 * function is called. That is also why nobody waits in vain: the lowest number on its way waits for nobody.
 *
 * The waits at gates cannot be cancelled; the functions inside are, and come back.
 */
#include <errno.h>

#include "base/assert.h"
#include "os/memory.h"
#include "pool/form.h"

/* A million items on their way are a mistake, and a quarter of a gigabyte. */
enum { ITEMS_FOR_A_THREAD = 4, ITEMS_MAX = 1 << 20 };

struct gate {
    struct wf_lock lock;
    bool is_ordered;           /* constant */
    bool is_busy;              /* under lock, as all that follows */
    uint64_t next;             /* number that is let in next, if it is ordered */
    struct wf_waiter *waiters; /* amount: their numbers */
};

struct pipeline {
    const weft_stage *stages;
    size_t count;
    const weft_pipeline_options *options;
    struct wf_form_ties ties;
    size_t job_count;
    weft_job *jobs;
    struct gate *gates;
    struct wf_fiber *caller;
    _Atomic uint64_t made;     /* numbers given to items; inside the first gate, if there is one */
    _Atomic uint32_t is_ended; /* no more items: any carrier */
    _Atomic int error;         /* any carrier: the first one stays */
};

/* What one carrier is at: its cleanup goes on from here after a panic. */
struct carrier {
    struct pipeline *line;
    uint64_t number;
    size_t stage;
    void *item;
    bool has_item;   /* it is no blank */
    bool has_number; /* it is to go through the ordered gates */
    bool is_inside;  /* the gate of its stage */
    struct wf_form_visit visit;
};

static int pipeline_run(void *opaque);
static void pipeline_left(struct pipeline **line);
static void pipeline_free(struct pipeline *line);
static void carrier_main(void *opaque);
static void carrier_left(struct carrier *carrier);
static bool carrier_begins(struct carrier *carrier);
static void carrier_goes_on(struct carrier *carrier);
static void carrier_enters(struct carrier *carrier);
static void carrier_exits(struct carrier *carrier);
static void carrier_calls(struct carrier *carrier);
static void carrier_discards(struct carrier *carrier);
static void pipeline_fail(struct pipeline *line, int error);
static bool pipeline_is_failed(struct pipeline *line);
static void gate_enter(struct gate *gate, uint64_t number);
static void gate_leave(struct gate *gate);
static struct wf_waiter *gate_next_locked(struct gate *gate);

int weft_pipeline(weft_pool *pool, const weft_stage *stages, size_t count, const weft_pipeline_options *options) {
    static const weft_pipeline_options usual = {0};
    struct pipeline line __attribute__((cleanup(pipeline_free))) = {
        .stages = stages, .count = count, .options = options ? options : &usual};
    if (!stages || count == 0 || line.options->max_items > ITEMS_MAX)
        return -EINVAL;
    for (size_t i = 0; i < count; i++)
        if (!stages[i].fn || (unsigned)stages[i].kind > WEFT_STAGE_IN_ORDER)
            return -EINVAL;
    pool = wf_form_pool(pool);
    if (!pool)
        return -EINVAL;
    size_t items = line.options->max_items;
    if (items == 0)
        items = (size_t)ITEMS_FOR_A_THREAD * wf_load_relaxed(&pool->max_threads);
    line.job_count = items - 1;
    line.gates = wf_os_alloc(count * sizeof *line.gates);
    line.jobs = wf_os_alloc(items * sizeof *line.jobs);
    if (!line.gates || !line.jobs)
        return -ENOMEM;
    for (size_t i = 1; i < count; i++)
        line.gates[i].is_ordered = stages[i].kind == WEFT_STAGE_IN_ORDER;
    return wf_form_run(pool, pipeline_run, &line);
}

/* Also when a panic passes. */
static void pipeline_free(struct pipeline *line) {
    wf_os_free(line->jobs);
    wf_os_free(line->gates);
}

static int pipeline_run(void *opaque) {
    struct pipeline *line __attribute__((cleanup(pipeline_left))) = opaque;
    line->caller = wf_fiber_self();
    wf_form_tie(&line->ties);
    for (size_t i = 0; i < line->job_count; i++)
        weft_fork(&line->jobs[i], carrier_main, line);
    carrier_main(line);
    for (size_t i = line->job_count; i > 0; i--)
        weft_join_job(&line->jobs[i - 1]);
    return wf_load_relaxed(&line->error);
}

/* After a panic there are carriers that were not joined. */
static void pipeline_left(struct pipeline **line) {
    for (size_t i = (*line)->job_count; i > 0; i--)
        weft_job_leave(&(*line)->jobs[i - 1]);
}

static void carrier_main(void *opaque) {
    struct carrier carrier __attribute__((cleanup(carrier_left))) = {.line = opaque};
    if (carrier.line->caller != wf_fiber_self())
        wf_form_enter(&carrier.line->ties, &carrier.visit);
    while (carrier_begins(&carrier))
        carrier_goes_on(&carrier);
}

/* Makes an item, or a blank. False: there are no more. */
static bool carrier_begins(struct carrier *carrier) {
    struct pipeline *line = carrier->line;
    carrier->stage = 0;
    carrier->item = NULL;
    carrier->has_item = false;
    carrier_enters(carrier);
    bool is_over = wf_load_relaxed(&line->is_ended) || pipeline_is_failed(line);
    if (!is_over) {
        carrier->number = wf_fetch_add_relaxed(&line->made, 1);
        carrier->has_number = true;
        carrier_calls(carrier);
    }
    carrier_exits(carrier);
    return !is_over;
}

static void carrier_goes_on(struct carrier *carrier) {
    struct pipeline *line = carrier->line;
    while (++carrier->stage < line->count) {
        if (!carrier->has_item && !line->gates[carrier->stage].is_ordered)
            continue;
        carrier_enters(carrier);
        if (carrier->has_item && pipeline_is_failed(line))
            carrier_discards(carrier);
        else if (carrier->has_item)
            carrier_calls(carrier);
        carrier_exits(carrier);
    }
    carrier->has_number = false;
}

static void carrier_enters(struct carrier *carrier) {
    if (carrier->line->stages[carrier->stage].kind == WEFT_STAGE_PARALLEL)
        return;
    gate_enter(&carrier->line->gates[carrier->stage], carrier->number);
    carrier->is_inside = true;
}

static void carrier_exits(struct carrier *carrier) {
    if (!carrier->is_inside)
        return;
    carrier->is_inside = false;
    gate_leave(&carrier->line->gates[carrier->stage]);
}

static void carrier_calls(struct carrier *carrier) {
    const weft_stage *stage = &carrier->line->stages[carrier->stage];
    int status = stage->fn(&carrier->item, stage->arg);
    if (WF_LIKELY(status == WEFT_STAGE_NEXT)) {
        carrier->has_item = true;
        return;
    }
    if (status == WEFT_STAGE_END)
        wf_store_relaxed(&carrier->line->is_ended, 1);
    if (status == WEFT_STAGE_DROP || status == WEFT_STAGE_END) {
        carrier->has_item = false;
        return;
    }
    pipeline_fail(carrier->line, status < 0 ? status : -EINVAL);
    carrier_discards(carrier);
}

/* It becomes a blank. In the first stage it has never been anything else. */
static void carrier_discards(struct carrier *carrier) {
    const weft_pipeline_options *options = carrier->line->options;
    if (carrier->has_item && carrier->item && options->discard)
        options->discard(carrier->item, options->arg);
    carrier->has_item = false;
}

/* The end of the carrier, or a panic: then the item goes on as a blank. */
static void carrier_left(struct carrier *carrier) {
    if (carrier->has_number) {
        pipeline_fail(carrier->line, -EOWNERDEAD);
        carrier_discards(carrier);
        carrier_exits(carrier);
        carrier_goes_on(carrier);
    }
    wf_form_leave(&carrier->visit);
}

static void pipeline_fail(struct pipeline *line, int error) {
    int none = 0;
    wf_cas_relaxed(&line->error, &none, error); /* read by the caller after all joins */
}

static bool pipeline_is_failed(struct pipeline *line) {
    if (wf_load_relaxed(&line->error))
        return true;
    if (!wf_form_is_ended(&line->ties))
        return false;
    pipeline_fail(line, -ECANCELED);
    return true;
}

static void gate_enter(struct gate *gate, uint64_t number) {
    wf_wait_enter(WEFT_NEVER); /* gives up what a blocking region has lent; a cancellation does not count */
    wf_lock_take(&gate->lock);
    if (gate->is_busy || (gate->is_ordered && gate->next != number)) {
        struct wf_waiter self = {.amount = number};
        wf_wait_surely_locked(&self, &gate->lock, &gate->waiters, "stage of a pipeline", false);
    } else {
        gate->is_busy = true;
        wf_lock_drop(&gate->lock);
    }
    wf_context_acquire(gate);
}

/* Whoever is woken is inside already. */
static void gate_leave(struct gate *gate) {
    wf_context_release(gate);
    wf_lock_take(&gate->lock);
    gate->next++;
    struct wf_waiter *waiter = gate_next_locked(gate);
    gate->is_busy = waiter != NULL;
    wf_lock_drop(&gate->lock);
    if (waiter)
        wf_wait_wake(waiter);
}

static struct wf_waiter *gate_next_locked(struct gate *gate) {
    struct wf_waiter *waiter = gate->waiters;
    if (gate->is_ordered && waiter) {
        while (waiter->amount != gate->next && waiter->next != gate->waiters)
            waiter = waiter->next;
        if (waiter->amount != gate->next)
            return NULL;
    }
    if (!waiter)
        return NULL;
    bool is_taken = wf_wait_take_locked(waiter);
    WF_ASSERT(is_taken); /* nothing else ends such a wait */
    (void)is_taken;
    waiter->status = 0;
    return waiter;
}
