/* SPDX-License-Identifier: MIT
 *
 * fiber/runtimes.c - which runtimes run in this process.
 *
 * A weft_fiber is a number, and a plain thread has no runtime of its own; so there has to be one table for the process
 * that leads from a number to a runtime. A plain thread enters a runtime for the length of a call: it cannot end until
 * the last one has left. Fibers are inside theirs anyway and pass without touching the table.
 *
 * One lock for the table; only plain threads, start and stop take it.
 */
#include <errno.h>

#include "base/assert.h"
#include "fiber/fiber.h"
#include "os/thread.h"
#include "weft/runtime.h"

struct slot {
    struct wf_fibers *fibers; /* NULL: free, or about to be */
    uint64_t age;             /* lower is older */
    uint32_t users;
    struct wf_parker *remover;
    bool is_taken;
    uint32_t generation; /* first that was not used under this number; outlives the runtime */
    bool is_awaited;     /* it would end if it had no users: the last one to leave says so */
};

_Static_assert(WEFT_RUNTIMES_MAX == 1 << WF_RUNTIME_BITS, "ids have room for every runtime");

static struct wf_lock table_lock;
static struct slot runtimes_table[WEFT_RUNTIMES_MAX];
static uint64_t next_age;

static struct wf_fibers *enter_slot_locked(struct slot *slot);

/* Gives fibers->runtime its number. Nobody can enter it before wf_runtimes_open. */
int wf_runtimes_add(struct wf_fibers *fibers) {
    wf_lock_take(&table_lock);
    for (uint32_t i = 0; i < WEFT_RUNTIMES_MAX; i++) {
        if (runtimes_table[i].is_taken)
            continue;
        runtimes_table[i] =
            (struct slot){.is_taken = true, .age = next_age++, .generation = runtimes_table[i].generation};
        fibers->runtime = i;
        fibers->first_generation = runtimes_table[i].generation ? runtimes_table[i].generation : 1;
        wf_lock_drop(&table_lock);
        return 0;
    }
    wf_lock_drop(&table_lock);
    return -EBUSY;
}

void wf_runtimes_open(struct wf_fibers *fibers) {
    wf_lock_take(&table_lock);
    runtimes_table[fibers->runtime].fibers = fibers;
    wf_lock_drop(&table_lock);
}

/* Called when no worker runs and no fiber is alive: true when nobody is inside either, and then nobody enters any more.
 * A plain thread that is inside may be about to spawn; the runtime must not end under it. */
bool wf_runtimes_shut(struct wf_fibers *fibers) {
    struct slot *slot = &runtimes_table[fibers->runtime];
    wf_lock_take(&table_lock);
    slot->is_awaited = true;
    bool is_over = slot->users == 0 && wf_fibers_alive(fibers) == 0; /* again: one may have spawned and left */
    if (is_over)
        slot->fibers = NULL;
    wf_lock_drop(&table_lock);
    return is_over;
}

/* Nobody enters any more; waits for those who are inside. */
void wf_runtimes_close(struct wf_fibers *fibers) {
    struct wf_parker parker = {0};
    struct slot *slot = &runtimes_table[fibers->runtime];
    wf_lock_take(&table_lock);
    slot->fibers = NULL;
    bool must_wait = slot->users > 0;
    slot->remover = &parker;
    wf_lock_drop(&table_lock);
    if (must_wait)
        wf_parker_park(&parker, INT64_MAX);
    wf_lock_take(&table_lock); /* also waits for the one who has just unparked us */
    slot->remover = NULL;
    wf_lock_drop(&table_lock);
}

void wf_runtimes_remove(struct wf_fibers *fibers) {
    wf_lock_take(&table_lock);
    runtimes_table[fibers->runtime] = (struct slot){.generation = fibers->first_generation};
    wf_lock_drop(&table_lock);
}

static struct wf_fibers *enter_slot_locked(struct slot *slot) {
    if (slot->fibers)
        slot->users++;
    return slot->fibers;
}

struct wf_fibers *wf_runtimes_enter_slow(weft_fiber id) {
    uint32_t number = (uint32_t)(id.bits >> WF_INDEX_BITS) & (WEFT_RUNTIMES_MAX - 1);
    wf_lock_take(&table_lock);
    struct wf_fibers *fibers = enter_slot_locked(&runtimes_table[number]);
    wf_lock_drop(&table_lock);
    return fibers;
}

struct wf_fibers *wf_runtimes_enter_this(struct wf_fibers *wanted) {
    struct wf_fiber_worker *worker = wf_worker_self();
    if (worker && (!wanted || wanted == worker->fibers))
        return worker->fibers;
    struct slot *oldest = NULL;
    wf_lock_take(&table_lock);
    for (uint32_t i = 0; i < WEFT_RUNTIMES_MAX; i++) {
        struct slot *slot = &runtimes_table[i];
        if (!slot->fibers || (wanted ? slot->fibers != wanted : slot->fibers->is_pool))
            continue;
        if (!oldest || slot->age < oldest->age)
            oldest = slot;
    }
    struct wf_fibers *fibers = oldest ? enter_slot_locked(oldest) : NULL;
    wf_lock_drop(&table_lock);
    return fibers;
}

bool wf_runtimes_hold(struct wf_fibers *fibers) {
    wf_lock_take(&table_lock);
    bool is_held = enter_slot_locked(&runtimes_table[fibers->runtime]) != NULL;
    wf_lock_drop(&table_lock);
    return is_held;
}

bool wf_runtimes_is_alone(struct wf_fibers *fibers) {
    uint32_t taken = 0;
    wf_lock_take(&table_lock);
    for (uint32_t i = 0; i < WEFT_RUNTIMES_MAX; i++)
        taken += runtimes_table[i].is_taken;
    bool is_alone = taken == 1 && runtimes_table[fibers->runtime].users == 0;
    wf_lock_drop(&table_lock);
    return is_alone;
}

void wf_runtimes_leave_slow(struct wf_fibers *fibers) {
    struct slot *slot = &runtimes_table[fibers->runtime];
    wf_lock_take(&table_lock);
    if (--slot->users == 0) {
        if (slot->remover)
            wf_parker_unpark(slot->remover);
        else if (slot->is_awaited)
            wf_engine_notify_any(&fibers->engine); /* under the lock: the runtime cannot be removed meanwhile */
    }
    wf_lock_drop(&table_lock);
}

/* In the child of a fork: nothing of this runs there. */
void wf_runtimes_forget_all(void) {
    struct wf_fiber_worker *worker = wf_worker_self();
    if (worker && (worker->base.has_thread || worker->base.engine->is_guest))
        wf_os_thread_restore_signals();
    wf_current_set(NULL);
    wf_lock_init(&table_lock);
    for (uint32_t i = 0; i < WEFT_RUNTIMES_MAX; i++) {
        struct wf_fibers *fibers = runtimes_table[i].fibers;
        if (fibers)
            wf_os_poll_close(&fibers->engine.poll);
        runtimes_table[i] =
            (struct slot){.generation = fibers ? wf_records_next_generation(fibers) : runtimes_table[i].generation};
    }
}
