/* SPDX-License-Identifier: MIT
 *
 * wait/wait.c - the one way to wait. Model, states and rules: wait/wait.h.
 *
 * The pairs: claim and deliver (A, release) hand status and value to whoever finds DELIVERED or is made ready (B, acquire).
 * begin (C) and the cancellation's flag (D, wait/cancel.c) are a store and a load on each side, all sequentially consistent:
 * either the cancellation finds the word open or the fiber finds the flag.
 *
 * Rejected: a claim word for every wait, which costs three read-modify-writes where the lock has decided already;
 * a timer that takes the object's lock, which turns the order of locks round for everybody who arms one; linking a wait for
 * many objects one by one without holding all their locks, where two such waits that find each other each have to claim
 * themselves and the other at once.
 */
#include "wait/wait.h"

#include <errno.h>

#include "base/assert.h"
#include "base/point.h"
#include "os/clock.h"
#include "wait/cancel.h"

/* Mutants: one wrong order or step each; tests/model/model_wait.c has to find them all. */
#ifdef WF_MUTANT_WAIT_RELAXED_CLAIM
#define WAIT_CAS_CLAIM wf_cas_relaxed
#else
#define WAIT_CAS_CLAIM wf_cas_acq_rel
#endif
#ifdef WF_MUTANT_WAIT_RELAXED_DELIVER
#define WAIT_OR_DELIVERED wf_fetch_or_relaxed
#else
#define WAIT_OR_DELIVERED wf_fetch_or_acq_rel
#endif
#ifdef WF_MUTANT_WAIT_RELAXED_COMMIT
#define WAIT_OR_PARKED wf_fetch_or_relaxed
#else
#define WAIT_OR_PARKED wf_fetch_or_acq_rel
#endif
#ifdef WF_MUTANT_WAIT_RELAXED_BEGIN
#define WAIT_EXCHANGE_OPEN wf_exchange_relaxed
#else
#define WAIT_EXCHANGE_OPEN wf_exchange_seq_cst
#endif

struct locks {
    struct wf_lock **list;
    uint32_t count;
    _Atomic uint32_t *word;
};

static int wait_plainly_locked(struct wf_fiber_worker *worker, struct wf_wait *wait, struct wf_waiter *waiter);
static int wait_thread(struct wf_wait *wait, int64_t deadline_ns, struct wf_lock **locks, uint32_t lock_count);
static int wait_fiber(struct wf_wait *wait, int64_t deadline_ns, struct wf_lock **locks, uint32_t lock_count,
                      bool can_cancel);
static int begin_word(struct wf_stack *stack, struct wf_wait *wait, bool can_cancel);
static int arm_deadline(struct wf_wait *wait, int64_t deadline_ns);
static struct wf_task *deadline_fire(struct wf_timer *timer);
static bool claim(_Atomic uint32_t *word, uint32_t with, uint32_t *was);
static int outcome_of(const struct wf_wait *wait, uint32_t word);
static void unlink_all(struct wf_wait *wait);
static void drop_locks(struct wf_lock **locks, uint32_t count);
static bool commit_drop(struct wf_fiber *fiber, void *arg);
static void wake_from_outside(struct wf_fibers *fibers, struct wf_fiber *fiber, _Atomic uint32_t *word);
static bool commit_word(struct wf_fiber *fiber, void *arg);
static void queue_append(struct wf_waiter *waiter);
static void queue_remove(struct wf_waiter *waiter);

WF_NOINLINE int wf_wait_enter_slow(struct wf_stack *stack, int64_t deadline_ns) {
    if (stack->checks & WF_CHECK_PERTURB)
        wf_fiber_perturb();
    if ((stack->checks & WF_CHECK_LENT) && deadline_ns != WEFT_NOW)
        wf_alone_before_wait(stack);
    if (deadline_ns == WEFT_NOW || !(stack->checks & WF_CHECK_CANCEL))
        return 0;
    return wf_load_relaxed(&stack->cancel->is_cancelled) ? -ECANCELED : 0;
}

static inline void wait_init(struct wf_wait *wait, struct wf_waiter *nodes, uint32_t count,
                             struct wf_fiber_worker *worker, const char *reason) {
    wait->reason = reason;
    wait->object = count ? nodes[0].lock : NULL;
    wait->nodes = nodes;
    wait->count = count;
    wait->has_timer = false;
    wait->winner = NULL;
    wait->word = NULL;
    wait->fire = NULL;
    wait->fiber = worker ? wf_worker_fiber(worker) : NULL;
    wait->fibers = worker ? worker->fibers : NULL;
    wait->since = worker ? wf_worker_clock(worker) : 0;
}

/* The node is in the queue first in any case: from then on it is the same for all. */
static inline int wait_one_locked(struct wf_waiter *waiter, struct wf_lock *lock, struct wf_waiter **queue,
                                  int64_t deadline_ns, const char *reason, bool at_front, bool can_cancel) {
    struct wf_fiber_worker *worker = wf_worker_self();
    struct wf_wait wait;
    waiter->lock = lock;
    waiter->queue = queue;
    waiter->wait = &wait; // cppcheck-suppress autoVariables ; it is out of every queue when this returns
    wait_init(&wait, waiter, 1, worker, reason);
    if (WF_UNLIKELY(deadline_ns == WEFT_NOW)) {
        wf_lock_drop(lock);
        return -ETIMEDOUT;
    }
    queue_append(waiter);
    if (at_front)
        *queue = waiter; /* the last of a ring is the one before the first */
    if (WF_LIKELY(worker && deadline_ns == WF_NEVER && !wf_fiber_stack(wf_worker_fiber(worker))->checks))
        return wait_plainly_locked(worker, &wait, waiter);
    int outcome =
        worker ? wait_fiber(&wait, deadline_ns, &lock, 1, can_cancel) : wait_thread(&wait, deadline_ns, &lock, 1);
    return outcome < 0 ? outcome : waiter->status;
}

int wf_wait_locked(struct wf_waiter *waiter, struct wf_lock *lock, struct wf_waiter **queue, int64_t deadline_ns,
                   const char *reason) {
    return wait_one_locked(waiter, lock, queue, deadline_ns, reason, false, true);
}

int wf_wait_first_locked(struct wf_waiter *waiter, struct wf_lock *lock, struct wf_waiter **queue, int64_t deadline_ns,
                         const char *reason) {
    return wait_one_locked(waiter, lock, queue, deadline_ns, reason, true, true);
}

int wf_wait_surely_locked(struct wf_waiter *waiter, struct wf_lock *lock, struct wf_waiter **queue, const char *reason,
                          bool at_front) {
    return wait_one_locked(waiter, lock, queue, WF_NEVER, reason, at_front, false);
}

/* Only the object can end it: the lock decides. */
static inline int wait_plainly_locked(struct wf_fiber_worker *worker, struct wf_wait *wait, struct wf_waiter *waiter) {
    struct wf_stack *stack = wf_fiber_stack(wf_worker_fiber(worker));
    wf_store_relaxed(&stack->waiting, wait);
    wf_fiber_park(commit_drop, waiter->lock);
    wf_store_relaxed(&stack->waiting, NULL);
    return waiter->status;
}

static bool commit_drop(struct wf_fiber *fiber, void *arg) {
    (void)fiber;
    wf_lock_drop(arg);
    return true;
}

int wf_wait_many_locked(struct wf_wait *wait, struct wf_waiter *nodes, uint32_t count, struct wf_lock **locks,
                        uint32_t lock_count, int64_t deadline_ns, const char *reason) {
    struct wf_fiber_worker *worker = wf_worker_self();
    wait_init(wait, nodes, count, worker, reason);
    if (deadline_ns == WEFT_NOW) {
        drop_locks(locks, lock_count);
        return -ETIMEDOUT;
    }
    for (uint32_t i = 0; i < count; i++)
        if (nodes[i].queue) /* else: something that never comes */
            queue_append(&nodes[i]);
    return worker ? wait_fiber(wait, deadline_ns, locks, lock_count, true)
                  : wait_thread(wait, deadline_ns, locks, lock_count);
}

/* The nodes are linked and the locks held. Returns the index of the winning node or an error. */
static int wait_fiber(struct wf_wait *wait, int64_t deadline_ns, struct wf_lock **locks, uint32_t lock_count,
                      bool can_cancel) {
    struct wf_stack *stack = wf_fiber_stack(wait->fiber);
    int error = begin_word(stack, wait, can_cancel);
    if (!error && deadline_ns != WF_NEVER && (error = arm_deadline(wait, deadline_ns)) != 0) {
        uint32_t was;
        if (!claim(wait->word, WF_WAIT_CANCELLED, &was))
            error = 0; /* cancelled meanwhile: that is on its way, and comes first */
    }
    if (error) {
        for (uint32_t i = 0; i < wait->count; i++)
            if (wait->nodes[i].is_linked)
                queue_remove(&wait->nodes[i]);
        drop_locks(locks, lock_count);
        wf_store_relaxed(wait->word, 0);
        return error;
    }
    struct locks held = {.list = locks, .count = lock_count, .word = wait->word};
    wf_store_relaxed(&stack->waiting, wait);
    wf_fiber_park(commit_word, &held);
    wf_store_relaxed(&stack->waiting, NULL);
    uint32_t word = wf_load_acquire(wait->word); /* B: pairs with A of whoever delivered */
    WF_ASSERT(word & WF_WAIT_DELIVERED);
    int outcome = outcome_of(wait, word);
    if (wait->count > 1 || outcome < 0)
        unlink_all(wait);
    if (wait->has_timer && outcome != -ETIMEDOUT)
        wf_timers_cancel(&wait->timer);
    wf_store_relaxed(wait->word, 0);
    return outcome;
}

/* Opens the word. -ECANCELED when the fiber is cancelled already and nobody else is about to say so. */
static int begin_word(struct wf_stack *stack, struct wf_wait *wait, bool can_cancel) {
    if (!can_cancel || !(stack->checks & WF_CHECK_CANCEL)) {
        wait->word = &wait->own_word; /* where no cancellation looks */
        wf_store_relaxed(wait->word, WF_WAIT_OPEN);
        return 0;
    }
    wait->word = &stack->wait_word;
    WAIT_EXCHANGE_OPEN(wait->word, WF_WAIT_OPEN); /* C: pairs with D in wait/cancel.c */
    WF_POINT("wait.after_open");
#ifdef WF_MUTANT_WAIT_NO_CANCEL_RECHECK
    return 0;
#endif
    if (WF_LIKELY(!wf_load_seq_cst(&stack->cancel->is_cancelled)))
        return 0;
    uint32_t open = WF_WAIT_OPEN;
    return wf_cas_acq_rel(wait->word, &open, WF_WAIT_CLAIMED) ? -ECANCELED : 0;
}

static int arm_deadline(struct wf_wait *wait, int64_t deadline_ns) {
    struct wf_fiber_worker *worker = wf_worker_self();
    wait->timer.fire = deadline_fire;
    int error = wf_timers_arm(&wf_timer_home(worker)->timers, &wait->timer, deadline_ns);
    wait->has_timer = error == 0;
    if (!error)
        wf_timer_home_changed(worker);
    return error;
}

/* Under the lock of the timers. The owner takes the timer back before it leaves, so the wait is there. */
static struct wf_task *deadline_fire(struct wf_timer *timer) {
    struct wf_wait *wait = WF_CONTAINER(timer, struct wf_wait, timer);
    struct wf_fiber *fiber = wait->fiber;
    uint32_t was;
    WF_POINT("deadline.before_claim");
    if (!claim(wait->word, WF_WAIT_DELIVERED | WF_WAIT_TIMED_OUT, &was) || !(was & WF_WAIT_PARKED))
        return NULL;
    wf_fiber_set_state(fiber, WF_FIBER_READY);
    return &fiber->task;
}

static bool claim(_Atomic uint32_t *word, uint32_t with, uint32_t *was) {
    *was = wf_load_seq_cst(word); /* D, for a cancellation */
    do {
        if ((*was & (WF_WAIT_OPEN | WF_WAIT_CLAIMED)) != WF_WAIT_OPEN)
            return false;
#ifdef WF_MUTANT_WAIT_CLAIM_BY_STORE
        wf_store_release(word, *was | WF_WAIT_CLAIMED | with);
        return true;
#endif
    } while (!WAIT_CAS_CLAIM(word, was, *was | WF_WAIT_CLAIMED | with)); /* A */
    return true;
}

static int outcome_of(const struct wf_wait *wait, uint32_t word) {
    if (word & WF_WAIT_TIMED_OUT)
        return -ETIMEDOUT;
    if (word & WF_WAIT_CANCELLED)
        return -ECANCELED;
    return (int)(wait->winner - wait->nodes);
}

static bool commit_word(struct wf_fiber *fiber, void *arg) {
    struct locks *held = arg;
    struct wf_lock **list = held->list; /* on the fiber's stack, which stays as long as one of the locks is held */
    uint32_t count = held->count;
    (void)fiber;
    WF_POINT("wait.before_parked");
#ifdef WF_MUTANT_WAIT_COMMIT_BY_STORE
    uint32_t was = wf_load_acquire(held->word);
    wf_store_release(held->word, was | WF_WAIT_PARKED);
#else
    uint32_t was = WAIT_OR_PARKED(held->word, WF_WAIT_PARKED); /* A and B: pairs with deliveries */
#endif
    bool is_delivered = was & WF_WAIT_DELIVERED;
    if (count)
        drop_locks(list, count);
    return !is_delivered;
}

/* The last one is the last touch of the list: see commit_word. */
static void drop_locks(struct wf_lock **locks, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        wf_lock_drop(locks[i]);
}

/* Those that objects have not taken out. Without locks. */
static void unlink_all(struct wf_wait *wait) {
#ifdef WF_MUTANT_WAIT_NO_UNLINK
    return;
#endif
    for (uint32_t i = 0; i < wait->count; i++) {
        struct wf_waiter *node = &wait->nodes[i];
        if (node == wait->winner || !node->queue)
            continue;
        wf_lock_take(node->lock);
        if (node->is_linked)
            queue_remove(node);
        wf_lock_drop(node->lock);
    }
}

static int wait_thread(struct wf_wait *wait, int64_t deadline_ns, struct wf_lock **locks, uint32_t lock_count) {
    wf_parker_init(&wait->parker);
    wf_store_relaxed(&wait->own_word, WF_WAIT_OPEN);
    wait->word = &wait->own_word;
    drop_locks(locks, lock_count);
    uint32_t was;
    if (!wf_parker_park(&wait->parker, deadline_ns) && !claim(wait->word, WF_WAIT_TIMED_OUT, &was))
        wf_parker_park(&wait->parker, WF_NEVER); /* an object was faster: its token is on its way */
    int outcome = outcome_of(wait, wf_load_acquire(wait->word));
    if (wait->count > 1 || outcome < 0)
        unlink_all(wait);
    return outcome;
}

void wf_wait_begin_callback(struct wf_wait *wait, struct wf_waiter *node, void (*fire)(struct wf_wait *wait)) {
    wait_init(wait, node, 1, NULL, "callback");
    wait->fire = fire;
    node->wait = wait;
    node->is_linked = false;
}

void wf_wait_link_locked(struct wf_waiter *waiter, struct wf_lock *lock, struct wf_waiter **queue) {
    waiter->lock = lock;
    waiter->queue = queue;
    queue_append(waiter);
}

bool wf_wait_unlink(struct wf_waiter *waiter) {
    wf_lock_take(waiter->lock);
    bool was_linked = waiter->is_linked;
    if (was_linked)
        queue_remove(waiter);
    wf_lock_drop(waiter->lock);
    return was_linked;
}

struct wf_waiter *wf_wait_take_first_locked(struct wf_waiter **queue) {
    struct wf_waiter *waiter;
    while ((waiter = *queue) && !wf_wait_take_locked(waiter))
        continue;
    return waiter;
}

bool wf_wait_take_locked(struct wf_waiter *waiter) {
    struct wf_wait *wait = waiter->wait;
    uint32_t was;
    queue_remove(waiter);
    if (wait->word && !claim(wait->word, 0, &was))
        return false;
    wait->winner = waiter;
    return true;
}

void wf_wait_wake(struct wf_waiter *waiter) {
    struct wf_wait *wait = waiter->wait;
    struct wf_fibers *fibers = wait->fibers;
    struct wf_fiber *fiber = wait->fiber;
    WF_POINT("wake.before_deliver");
    if (!fiber) {
        if (wait->fire)
            wait->fire(wait);
        else
            wf_parker_unpark(&wait->parker);
        return;
    }
    _Atomic uint32_t *word = wait->word;
    struct wf_fiber_worker *worker = wf_worker_self();
    if (WF_UNLIKELY(word && (!worker || worker->fibers != fibers))) {
        wake_from_outside(fibers, fiber, word);
        return;
    }
    if (!word || (WAIT_OR_DELIVERED(word, WF_WAIT_DELIVERED) & WF_WAIT_PARKED)) /* A */
        wf_fiber_ready(fibers, fiber);
}

/* A runtime that drops its fibers waits for the delivery (wf_wait_drop_all), and no longer: so it is held before that. When it
 * cannot be held any more, nobody runs its fibers, and the delivery is the last touch. */
static void wake_from_outside(struct wf_fibers *fibers, struct wf_fiber *fiber, _Atomic uint32_t *word) {
    bool is_held = wf_runtimes_hold(fibers);
    bool is_parked = WAIT_OR_DELIVERED(word, WF_WAIT_DELIVERED) & WF_WAIT_PARKED;
    if (!is_held)
        return;
    if (is_parked)
        wf_fiber_ready(fibers, fiber);
    wf_runtimes_leave(fibers);
}

struct wf_waiter *wf_wait_take_all_locked(struct wf_waiter **queue, int status, void *value) {
    struct wf_waiter *first = NULL;
    struct wf_waiter **end = &first;
    struct wf_waiter *waiter;
    while ((waiter = *queue)) {
        if (!wf_wait_take_locked(waiter))
            continue;
        waiter->status = status;
        waiter->value = value;
        *end = waiter;
        end = &waiter->next;
    }
    *end = NULL;
    return first;
}

uint32_t wf_wait_wake_chain(struct wf_waiter *first) {
    uint32_t count = 0;
    for (struct wf_waiter *next; first; first = next, count++) {
        next = first->next;
        wf_wait_wake(first);
    }
    return count;
}

/* Whoever cancels is inside the runtime, or keeps it from ending by the scope that it knows to be open. */
void wf_wait_cancel(struct wf_fibers *fibers, struct wf_fiber *fiber) {
    _Atomic uint32_t *word = &wf_fiber_stack(fiber)->wait_word;
    uint32_t was;
    if (claim(word, WF_WAIT_DELIVERED | WF_WAIT_CANCELLED, &was) && (was & WF_WAIT_PARKED))
        wf_fiber_ready(fibers, fiber);
}

/* The stacks are still there, but nothing runs on them. An outside thread that has claimed one of these waits may still be
 * about to deliver; it is waited for. */
void wf_wait_drop_all(struct wf_fibers *fibers) {
    for (uint32_t i = 0; i < fibers->next_index; i++) {
        struct wf_fiber *fiber = wf_record_at(fibers, i);
        enum wf_fiber_state state = wf_load_relaxed(&fiber->task.state);
        if (state != WF_FIBER_PARKED && state != WF_FIBER_READY)
            continue;
        struct wf_wait *wait = wf_load_relaxed(&wf_fiber_stack(fiber)->waiting);
        uint32_t was;
        if (!wait)
            continue;
        if (wait->word && !claim(wait->word, WF_WAIT_CANCELLED, &was))
            while (!(wf_load_acquire(wait->word) & WF_WAIT_DELIVERED)) /* B */
                wf_relax();
        unlink_all(wait);
    }
}

static void queue_append(struct wf_waiter *waiter) {
    struct wf_waiter *first = *waiter->queue;
    if (!first) {
        waiter->next = waiter->previous = waiter;
        *waiter->queue = waiter;
    } else {
        waiter->next = first;
        waiter->previous = first->previous;
        first->previous->next = waiter;
        first->previous = waiter;
    }
    waiter->is_linked = true;
}

static void queue_remove(struct wf_waiter *waiter) {
    WF_ASSERT(waiter->is_linked);
    WF_ASSERT(waiter->queue);
    if (waiter->next == waiter) {
        *waiter->queue = NULL;
    } else {
        waiter->previous->next = waiter->next;
        waiter->next->previous = waiter->previous;
        if (*waiter->queue == waiter)
            *waiter->queue = waiter->next;
    }
    waiter->is_linked = false;
}
