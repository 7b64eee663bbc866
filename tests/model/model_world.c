/* SPDX-License-Identifier: MIT
 *
 * tests/model/model_world.c - sched/world.c with sched/lend.c: while the world is stopped nobody uses a processor, and all
 * go on afterwards.
 *
 * Processors, workers and the stand-in for the crew: lending.h. Whoever has stopped the world reads what the others write to
 * their processors, so one that still runs is a data race.
 *
 * Cases
 *   sleep   a worker that sleeps and wakes up again
 *   region  a worker inside a region, twice
 *   long    a region that ends only after the world was stopped and let go, twice
 *   taken   a region whose processor may be taken meanwhile; the heir sees that it is wanted, and waits
 *   heir    the same, and the heir is who stops the world
 *
 * Mutant of the driver: UNASKED has a sleeper that goes on without a look whether the world is stopped.
 */
#include "lending.h"

static struct wf_worker *const stopping = &worker[3];

static void stopper(void *unused) {
    (void)unused;
    stop_world(stopping);
    if (is_case("long")) {
        stop_world(stopping);
        wf_parker_unpark(&call_end);
    }
    rest(stopping);
}

static void sleeper(void *unused) {
    (void)unused;
    struct wf_worker *self = &worker[0];
    use(self);
    note_free(self, self->processor);
    wf_world_rest(self);
#ifdef MODEL_MUTANT_UNASKED
    wf_fetch_add_seq_cst(&engine.world_active, 1);
#else
    wf_world_resume(self);
#endif
    hold(self);
    rest(self);
}

static void lender(void *unused) {
    (void)unused;
    struct wf_worker *self = &worker[0];
    bool has_it = block(self);
    if (has_it && is_case("region"))
        has_it = block(self);
    if (has_it)
        rest(self);
}

/* What the loop does with a set attention flag. */
static void attend(struct wf_worker *self) {
    if (!wf_load_relaxed(&self->processor->attention))
        return;
    wf_store_seq_cst(&self->processor->attention, 0);
    if (wf_load_seq_cst(&engine.world_requested)) {
        note_free(self, self->processor);
        wf_world_rest(self);
        wf_world_resume(self);
        hold(self);
    }
}

static void taker(void *unused) {
    (void)unused;
    struct wf_worker *heir = &worker[1];
    if (!take(&worker[0], heir))
        return;
    serve(heir);
    if (is_case("heir"))
        stop_world(heir);
    attend(heir);
    use(heir);
    rest(heir);
}

void model_main(void) {
    init_engine();
    is_long = is_case("long");
    seat(&worker[0], &processor[0]);
    workers = is_case("taken") || is_case("heir") ? 2 : 1; /* the stopper's is never asleep */
    if (is_case("heir"))
        wf_store_relaxed(&engine.world_active, 1);
    else
        seat(stopping, &processor[1]);
    model_start(is_case("sleep") ? sleeper : lender, NULL);
    if (!is_case("heir"))
        model_start(stopper, NULL);
    if (is_case("taken") || is_case("heir"))
        model_start(taker, NULL);
    model_join_all();
    CHECK(wf_load_relaxed(&engine.world_active) == 0);
}
