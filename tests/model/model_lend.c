/* SPDX-License-Identifier: MIT
 *
 * tests/model/model_lend.c - sched/lend.c: a processor has one holder, and each holder sees what the one before it did.
 *
 * Processors, workers and the stand-in for the crew: lending.h.
 *
 * Cases
 *   twice   a worker with two regions, one after the other; somebody tries to take its processor, twice
 *   change  between its two regions the worker gives its processor away and gets another one
 *   stop    one region, while another worker stops the world
 *   long    the same, with a call that ends only after the world was stopped
 *
 * Mutant of the driver: USE_INSIDE uses the processor after it was lent.
 */
#include "lending.h"

static bool has_stopper(void) {
    return is_case("stop") || is_case("long");
}

/* The one that the worker of the case change gives its first processor to. */
static void heir(void *unused) {
    (void)unused;
    serve(&worker[1]);
}

static void lender(void *unused) {
    (void)unused;
    struct wf_worker *self = &worker[0];
    bool has_it = block(self);
    if (has_it && is_case("change")) {
        model_start(heir, NULL);
        note_free(self, self->processor);
        wf_worker_give(self, &worker[1]);
        wf_worker_move(self, WF_WORKER_SPARE);
        seat(self, &processor[1]);
    }
    if (has_it && !has_stopper())
        has_it = block(self);
    if (has_it)
        rest(self);
#ifdef MODEL_MUTANT_USE_INSIDE
    else
        wf_load_relaxed(&self->lent)->countdown++;
#endif
}

static void taker(void *unused) {
    (void)unused;
    struct wf_worker *heir = &worker[2];
    if (take(&worker[0], heir) || (is_case("twice") && take(&worker[0], heir)))
        serve(heir);
}

static void stopper(void *unused) {
    (void)unused;
    stop_world(&worker[3]);
    if (is_long)
        wf_parker_unpark(&call_end);
    rest(&worker[3]);
}

void model_main(void) {
    init_engine();
    seat(&worker[0], &processor[0]);
    is_long = is_case("long");
    workers = 1; /* the others are never asleep without a processor while the world is stopped */
    if (has_stopper())
        seat(&worker[3], &processor[1]);
    model_start(lender, NULL);
    model_start(has_stopper() ? stopper : taker, NULL);
    model_join_all();
}
