/* SPDX-License-Identifier: MIT
 *
 * sched/replay.c - every choice from a seed, and time that passes when nothing else can.
 *
 * One worker, so the only things that could differ between two runs are which ready task comes next and what the clock
 * says. The first is drawn here from the processor's generator, the second is the virtual clock of os/clock.h. Addresses,
 * the real clock and the number of processors decide nothing.
 *
 * Choosing
 *   - The lanes keep their order: high, normal, low. Of four visits of the loop one goes to the low lane first and one to
 *     the normal lane, so that neither starves; visits are counted, and the count is the same in each run.
 *   - Within a lane every task has the same chance, and so have the next slot and pinned tasks in the normal one. A choice
 *     sees as many tasks of a lane as its ring holds; what overflowed comes in behind, in order, as places become free.
 *   - Nobody else takes from the rings: there is no other worker. So two slots may be swapped with plain loads and stores.
 *   - Each choice reads the clock once, which moves it: fibers that wait for a moment by yielding get there.
 *
 * Time: where the worker would sleep in the poller and no other thread exists, nothing can happen before the next timer,
 * and the clock jumps there. With other threads about, or descriptors that are watched, a fiber may be woken at any moment of
 * real time: then the worker really sleeps, and what has passed is added to the clock. Such a run is not repeatable to the
 * last bit.
 *
 * The processor's has_extra stays set, so that the fast path needs no test for replay.
 */
#include "arch/context.h"
#include "base/assert.h"
#include "os/clock.h"
#include "os/thread.h"
#include "sched/engine.h"

/* 4: as in the normal loop. 10 ms: so often a worker that sleeps for real looks whether the other threads are gone. */
enum { REPLAY_TURNS = 4, COMPANY_NS = 10 * 1000 * 1000 };
#ifdef WF_TSAN
enum { REPLAY_THREADS = 2 }; /* the sanitizer has one of its own */
#else
enum { REPLAY_THREADS = 1 };
#endif

static void replay_refill(struct wf_processor *processor, enum wf_lane lane);
static struct wf_task *replay_pick(struct wf_processor *processor, enum wf_lane lane);
static struct wf_task *replay_pick_normal(struct wf_processor *processor);
static uint32_t replay_choose(struct wf_processor *processor, enum wf_lane lane, uint32_t count);
static struct wf_task *take_from_ring(struct wf_ring *ring, uint32_t place);
static struct wf_task *take_from_chain(struct wf_chain *chain, uint32_t place);

void wf_replay_start(struct wf_engine *engine) {
    WF_ASSERT(engine->count == 1);
    engine->replay.is_on = true;
    engine->processors[0]->has_extra = true;
}

struct wf_task *wf_replay_pick_owner(struct wf_processor *processor) {
    for (int lane = 0; lane < WF_LANES; lane++)
        replay_refill(processor, (enum wf_lane)lane);
    wf_mailbox_take_owner(&processor->mailbox, &processor->pinned);
    struct wf_task *task = replay_pick(processor, WF_LANE_HIGH);
    if (!task)
        task = replay_pick_normal(processor);
    return task ? task : replay_pick(processor, WF_LANE_LOW);
}

/* What the loop does before it picks: the turn of a lane that higher ones might never let through, or nothing. */
struct wf_task *wf_replay_serve_owner(struct wf_processor *processor) {
    switch (processor->rounds++ % REPLAY_TURNS) {
    case 0:
        replay_refill(processor, WF_LANE_LOW);
        return replay_pick(processor, WF_LANE_LOW);
    case 1:
        replay_refill(processor, WF_LANE_NORMAL);
        return replay_pick_normal(processor);
    default:
        return NULL;
    }
}

/* What came from outside or overflowed, as far as there is room. */
static void replay_refill(struct wf_processor *processor, enum wf_lane lane) {
    struct wf_inject *inject = &processor->engine->inject[lane];
    struct wf_ring *ring = &processor->lanes[lane];
    if (wf_inject_is_empty_any(inject))
        return;
    struct wf_chain batch = {0};
    wf_inject_pop_any(inject, WF_RING_CAPACITY - wf_ring_size_any(ring), &batch);
    struct wf_task *task;
    while ((task = wf_chain_take_first(&batch))) {
        bool has_room = wf_ring_push_owner(ring, task);
        WF_CHECK(has_room);
    }
}

static struct wf_task *replay_pick(struct wf_processor *processor, enum wf_lane lane) {
    struct wf_ring *ring = &processor->lanes[lane];
    uint32_t count = wf_ring_size_any(ring);
    return count ? take_from_ring(ring, replay_choose(processor, lane, count)) : NULL;
}

static struct wf_task *replay_pick_normal(struct wf_processor *processor) {
    struct wf_ring *ring = &processor->lanes[WF_LANE_NORMAL];
    uint32_t in_ring = wf_ring_size_any(ring);
    uint32_t pinned = (uint32_t)processor->pinned.count;
    uint32_t next = wf_load_relaxed(&processor->next) != NULL;
    if (in_ring + pinned + next == 0)
        return NULL;
    uint32_t place = replay_choose(processor, WF_LANE_NORMAL, in_ring + pinned + next);
    if (place < in_ring)
        return take_from_ring(ring, place);
    place -= in_ring;
    return place < pinned ? take_from_chain(&processor->pinned, place) : wf_processor_take_next_owner(processor);
}

static uint32_t replay_choose(struct wf_processor *processor, enum wf_lane lane, uint32_t count) {
    struct wf_replay *replay = &processor->engine->replay;
    uint32_t place = wf_rng_below(&processor->rng, count);
    uint64_t words[] = {lane, count, place, (uint64_t)wf_os_now()};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        replay->trace = ((replay->trace ^ words[i]) * 0x9e3779b97f4a7c15u) ^ (replay->trace >> 29);
    replay->picks++;
    return place;
}

static struct wf_task *take_from_ring(struct wf_ring *ring, uint32_t place) {
    uint32_t oldest = wf_ring_claimed(wf_load_relaxed(&ring->head));
    struct wf_task *task = wf_load_relaxed(wf_ring_slot(ring, oldest + place));
    wf_store_relaxed(wf_ring_slot(ring, oldest + place), wf_load_relaxed(wf_ring_slot(ring, oldest)));
    wf_store_relaxed(wf_ring_slot(ring, oldest), task);
    return wf_ring_pop_owner(ring);
}

static struct wf_task *take_from_chain(struct wf_chain *chain, uint32_t place) {
    while (place-- > 0)
        wf_chain_append(chain, wf_chain_take_first(chain));
    return wf_chain_take_first(chain);
}

void wf_replay_poll(struct wf_engine *engine, int64_t limit_ns) {
    if (limit_ns == WF_NEVER) {
        wf_os_poll_wait(&engine->poll, WF_NEVER);
        return;
    }
    int threads = wf_os_thread_count(); /* an error counts as company, and so does what is behind a descriptor */
    if (threads > 0 && threads <= REPLAY_THREADS && wf_load_relaxed(&engine->sentries.armed) == 0) {
        wf_os_poll_wait(&engine->poll, 0);
        /* A thread that has gone may have left something, and a token with it: then nothing is quiet yet. */
        if (wf_load_acquire(&engine->processors[0]->parker.word) == WF_PARKER_POLLING)
            wf_os_clock_jump(limit_ns);
        return;
    }
    int64_t look_again = wf_time_add(wf_os_now(), COMPANY_NS);
    wf_os_poll_wait(&engine->poll, limit_ns < look_again ? limit_ns : look_again);
}
