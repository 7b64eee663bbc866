/* SPDX-License-Identifier: MIT
 *
 * sched/crew.c - the threads: who runs, who waits for something to do, who goes home.
 *
 *     hired --given a processor--> serves it --processor gone--> spare --hired--> ...
 *       `-----given a task-------> runs it alone -----------------^  `--keep-alive is over--> retired --joined--> unused
 *
 * A spare thread sleeps on its own parker. Whoever takes it out of the list of spares, under the lock, owns what it does
 * next, writes that down and unparks it; a thread whose time is up takes itself out, under the same lock, and ends. The first
 * worker runs on the thread that called wf_engine_run and never retires.
 *
 * A thread that retires joins the one that retired before it, so there is at most one that has ended and was not joined.
 *
 * The end. busy counts the threads, without the caller's, that may still run a task. A thread goes out of the count when it
 * ends, or when it sleeps inside a task that it runs alone and finds that the engine is stopping: such a thread *rests*, and
 * keeps the memory on its stack until wf_crew_term lets it go. The caller waits for the count to reach 0.
 *
 * Lock: crew, a leaf. Whoever wakes the caller does so under it, and the caller takes it before it frees anything.
 */
#include <errno.h>

#include "arch/current.h"
#include "base/assert.h"
#include "base/point.h"
#include "os/clock.h"
#include "os/memory.h"
#include "os/report.h"
#include "sched/engine.h"

static int begin_first(struct wf_engine *engine, struct wf_worker *first);
static void end_first(struct wf_engine *engine);
static int dress_thread(struct wf_engine *engine, struct wf_os_thread_policy *before);
static struct wf_worker *worker_new(struct wf_engine *engine);
static struct wf_worker *take_spare(struct wf_crew *crew, bool for_task);
static void forget_spare(struct wf_crew *crew, struct wf_worker *worker);
static struct wf_worker *start_thread(struct wf_engine *engine, int *error);
static bool reserve_thread(struct wf_crew *crew);
static void worker_thread(void *opaque);
static bool wait_for_work(struct wf_worker *worker);
static bool is_listed_spare(struct wf_worker *worker);
static bool leave_spares(struct wf_worker *worker);
static void become_spare(struct wf_worker *worker);
static void lay_down(struct wf_worker *worker);
static void retire(struct wf_worker *worker);
static void count_out(struct wf_crew *crew, bool is_thread, bool is_busy);
static void put_unused(struct wf_crew *crew, struct wf_worker *worker);

/* The calling thread and one for each other processor. *out stays NULL when the calling thread could not begin. */
int wf_crew_start(struct wf_engine *engine, struct wf_worker **out) {
    struct wf_worker *first = worker_new(engine);
    if (!first)
        return -ENOMEM;
    wf_store_relaxed(&engine->crew.threads, 1);
    wf_store_relaxed(&engine->crew.peak, 1);
    int error = begin_first(engine, first);
    if (error)
        return error;
    *out = engine->crew.first = first;
    for (uint32_t i = 1; i < engine->count && !error; i++) {
        struct wf_worker *worker = start_thread(engine, &error);
        if (worker) {
            worker->next = first->next;
            first->next = worker;
        }
    }
    return error;
}

static int begin_first(struct wf_engine *engine, struct wf_worker *first) {
    int error = dress_thread(engine, &engine->crew.caller_policy);
    if (error)
        return error;
    error = engine->policy->worker_begin(first);
    if (error) {
        end_first(engine);
        return error;
    }
    engine->can_spin = engine->supply && wf_os_processors() > 1; /* that this thread may use */
    if (!engine->is_guest)
        wf_os_thread_note_program();
    wf_current_set(first);
    wf_store_relaxed(&first->thread_id, wf_os_thread_id());
    return 0;
}

/* The caller's thread is its own again. Niceness that cannot be taken back stays. */
static void end_first(struct wf_engine *engine) {
    if (engine->thread_cpus || engine->thread_nice)
        (void)wf_os_thread_policy_restore(&engine->crew.caller_policy);
}

/* The calling thread gets what the engine wants for its threads. */
static int dress_thread(struct wf_engine *engine, struct wf_os_thread_policy *before) {
    if (!engine->thread_cpus && !engine->thread_nice)
        return 0;
    return wf_os_thread_policy_set(before, engine->thread_cpus, engine->thread_nice, 0);
}

/* Everything has started: now they get their processors. None of them was spare meanwhile: a spare thread goes home when its
 * time is up, or when the first task stops the engine at once. */
void wf_crew_begin(struct wf_engine *engine, struct wf_worker *first) {
    struct wf_worker *hired = first->next;
    for (uint32_t i = engine->count; i-- > 1;) {
        struct wf_worker *worker = hired;
        WF_ASSERT(worker);
        hired = worker->next;
        wf_crew_give_processor(worker, engine->processors[i]);
    }
    wf_crew_give_processor(first, engine->processors[0]);
}

/* Or something has not started: they go home, once the engine is stopping. */
void wf_crew_cancel(struct wf_worker *first) {
    for (struct wf_worker *worker = first, *next; worker; worker = next) {
        next = worker->next;
        wf_crew_let_go(worker);
    }
}

static struct wf_worker *worker_new(struct wf_engine *engine) {
    struct wf_crew *crew = &engine->crew;
    wf_lock_take(&crew->lock);
    struct wf_worker *worker = crew->unused;
    if (worker)
        crew->unused = worker->next;
    wf_lock_drop(&crew->lock);
    if (worker)
        return worker;
    worker = wf_os_alloc_aligned(64, engine->policy->worker_size);
    if (!worker)
        return NULL;
    worker->engine = engine;
    wf_lock_take(&crew->lock);
    worker->index = crew->made++;
    worker->next_all = crew->all;
    crew->all = worker;
    wf_lock_drop(&crew->lock);
    return worker;
}

struct wf_worker *wf_crew_hire(struct wf_engine *engine, bool for_task) {
    struct wf_worker *worker = take_spare(&engine->crew, for_task);
    int error = 0;
    if (!worker)
        worker = start_thread(engine, &error);
    if (!worker)
        wf_fetch_add_relaxed(&engine->crew.denied, 1);
    return worker;
}

static struct wf_worker *take_spare(struct wf_crew *crew, bool for_task) {
    wf_lock_take(&crew->lock);
    struct wf_worker **at = &crew->spare;
    if (for_task && *at && !(*at)->has_thread) /* the caller's, which has to be free when the engine stops */
        at = &(*at)->next;
    struct wf_worker *worker = *at;
    if (worker) {
        *at = worker->next;
        forget_spare(crew, worker);
    }
    wf_lock_drop(&crew->lock);
    return worker;
}

/* Under the lock: it is not in the list any more. */
static void forget_spare(struct wf_crew *crew, struct wf_worker *worker) {
    worker->is_spare = false;
    wf_count_owner(&crew->spares, -1);
    if (!worker->has_thread)
        wf_store_relaxed(&crew->is_caller_spare, 0);
}

/* A thread that has begun and waits to be given something. NULL, and an error, when there can be none. */
static struct wf_worker *start_thread(struct wf_engine *engine, int *error) {
    struct wf_crew *crew = &engine->crew;
    if (!reserve_thread(crew)) {
        *error = -EAGAIN;
        return NULL;
    }
    struct wf_worker *worker = worker_new(engine);
    if (!worker) {
        *error = -ENOMEM;
    } else {
        worker->has_thread = true;
        *error = wf_os_thread_start(&worker->thread, engine->name, worker_thread, worker);
        if (!*error) {
            wf_parker_park(&worker->begun, WF_NEVER);
            *error = worker->begin_error;
            if (!*error) {
                wf_fetch_add_relaxed(&crew->births, 1);
                return worker;
            }
            wf_os_thread_join(&worker->thread);
        }
        put_unused(crew, worker);
    }
    count_out(crew, true, true);
    return NULL;
}

/* A place among those that may exist. */
static bool reserve_thread(struct wf_crew *crew) {
    wf_lock_take(&crew->lock);
    uint32_t threads = wf_load_relaxed(&crew->threads);
    bool may_start = threads + 1 < crew->max; /* 1: the monitor's */
    if (may_start) {
        crew->busy++;
        wf_store_relaxed(&crew->threads, ++threads);
        if (threads > wf_load_relaxed(&crew->peak))
            wf_store_relaxed(&crew->peak, threads);
    }
    wf_lock_drop(&crew->lock);
    return may_start;
}

void wf_crew_give_processor(struct wf_worker *worker, struct wf_processor *processor) {
    wf_store_release(&processor->holder,
                     worker); /* pairs with the monitor and the stopper of the world, who look at it */
    wf_store_release(&worker->given, processor); /* pairs with wait_for_work: and what the processor holds */
    wf_parker_unpark(&worker->parker);
}

void wf_crew_give_task(struct wf_worker *worker, struct wf_task *task) {
    wf_fetch_add_relaxed(&worker->engine->alone, 1);
    wf_store_release(&worker->given_task, task); /* pairs with wait_for_work */
    wf_parker_unpark(&worker->parker);
}

void wf_crew_let_go(struct wf_worker *worker) {
    lay_down(worker);
    wf_parker_unpark(&worker->parker); /* it sleeps without limit; as a spare one it has one */
}

static void worker_thread(void *opaque) {
    struct wf_worker *worker = opaque;
    struct wf_engine *engine = worker->engine;
    struct wf_os_thread_policy before;
    int error = dress_thread(engine, &before);
    if (error && !wf_exchange_relaxed(&engine->crew.has_said_undressed, 1))
        wf_report("%s: a thread could not get the processors or the niceness that it is to have: error %d",
                  engine->name, -error);
    worker->begin_error = engine->policy->worker_begin(worker);
    bool has_failed = worker->begin_error != 0;
    if (!has_failed)
        wf_current_set(worker);
    wf_store_relaxed(&worker->thread_id, wf_os_thread_id());
    wf_parker_unpark(&worker->begun);
    if (has_failed)
        return;
    wf_crew_serve(worker);
    retire(worker);
}

void wf_crew_serve(struct wf_worker *worker) {
    struct wf_engine *engine = worker->engine;
    while (wait_for_work(worker)) {
        struct wf_processor *processor = wf_exchange_acquire(&worker->given, NULL);
        struct wf_task *task = wf_exchange_acquire(&worker->given_task, NULL);
        wf_worker_move(worker, processor ? WF_WORKER_HOLDS : WF_WORKER_ALONE);
        if (processor) {
            worker->processor = processor;
            if (processor->is_entering) { /* and not one that was lent or given away, which counts already */
                processor->is_entering = false;
                wf_world_resume(worker);
            }
            wf_worker_loop(worker);
        } else {
            engine->policy->run(worker, task);
        }
        WF_POINT("crew.before_spare");
        become_spare(worker);
        if (worker->is_spoilt && worker->has_thread) {
            worker->is_spoilt = false;
            wf_fetch_add_relaxed(&engine->crew.deaths, 1);
            break;
        }
    }
    wf_current_set(NULL);
    engine->policy->worker_end(worker);
    if (!worker->has_thread)
        end_first(engine);
}

/* Sleeps until it was given something. False: it is to end. */
static bool wait_for_work(struct wf_worker *worker) {
    struct wf_engine *engine = worker->engine;
    for (;;) {
        if (wf_load_acquire(&worker->given) || wf_load_acquire(&worker->given_task))
            return true;
        if (wf_load_acquire(&engine->is_stopping) && leave_spares(worker))
            return false; /* else somebody has hired it, and will give it something or let it go */
        int64_t deadline = WF_NEVER;
        if (worker->has_thread && is_listed_spare(worker))
            deadline = wf_time_add(wf_os_now(), engine->crew.keep_alive_ns);
        if (!wf_parker_park(&worker->parker, deadline) && leave_spares(worker)) {
            wf_fetch_add_relaxed(&engine->crew.deaths, 1);
            return false;
        }
    }
}

static bool is_listed_spare(struct wf_worker *worker) {
    wf_lock_take(&worker->engine->crew.lock);
    bool is_spare = worker->is_spare;
    wf_lock_drop(&worker->engine->crew.lock);
    return is_spare;
}

/* False: it is not among them, because somebody has hired it. */
static bool leave_spares(struct wf_worker *worker) {
    struct wf_crew *crew = &worker->engine->crew;
    wf_lock_take(&crew->lock);
    bool was_spare = worker->is_spare;
    if (was_spare) {
        struct wf_worker **at = &crew->spare;
        while (*at != worker)
            at = &(*at)->next;
        *at = worker->next;
        forget_spare(crew, worker);
    }
    wf_lock_drop(&crew->lock);
    return was_spare;
}

/* It has no processor any more, or the engine is stopping. */
static void become_spare(struct wf_worker *worker) {
    struct wf_engine *engine = worker->engine;
    bool was_alone = wf_worker_state(worker) == WF_WORKER_ALONE;
    if (was_alone) {
        wf_fetch_sub_relaxed(&engine->alone, 1);
        int64_t since = wf_load_relaxed(&worker->alone_since);
        if (since)
            wf_fetch_add_relaxed(&engine->crew.alone_ns, (uint64_t)(wf_os_now() - since));
        wf_store_relaxed(&worker->alone_since, 0);
    }
    worker->processor = NULL;
    wf_worker_move(worker, WF_WORKER_SPARE);
    if (!worker->is_spoilt || !worker->has_thread)
        lay_down(worker);
    /* The task that ran here may have been the last one that somebody waited for, or that could wake somebody. Its end was
     * counted before; the other side asks for the end, or enters the idle set, and then looks at the count. */
    wf_fence_seq_cst();
    if (was_alone && (wf_load_relaxed(&engine->is_draining) ||
                      wf_idle_parked_any(&engine->idle) >= wf_load_relaxed(&engine->active)))
        wf_engine_notify_any(engine);
}

/* The caller's thread is spare, and cannot go home: it takes the place of one that can, and has nothing to do. */
bool wf_crew_make_way(struct wf_worker *worker) {
    struct wf_engine *engine = worker->engine;
    struct wf_processor *processor = worker->processor;
    struct wf_worker *caller = engine->crew.first;
    if (!worker->has_thread || processor->pins > 0 || !leave_spares(caller))
        return false;
    if (worker->is_searching) {
        worker->is_searching = false;
        wf_idle_search_end(
            &engine->idle); /* whoever was turned away by us is seen by the caller, who looks everywhere */
    }
    worker->processor = NULL;
    wf_crew_give_processor(caller, processor);
    return true;
}

static void lay_down(struct wf_worker *worker) {
    struct wf_crew *crew = &worker->engine->crew;
    wf_lock_take(&crew->lock);
    if (!worker->has_thread)
        wf_store_relaxed(&crew->is_caller_spare, 1);
    worker->next = crew->spare;
    crew->spare = worker;
    worker->is_spare = true;
    wf_count_owner(&crew->spares, 1);
    wf_lock_drop(&crew->lock);
}

static void retire(struct wf_worker *worker) {
    struct wf_crew *crew = &worker->engine->crew;
    wf_lock_take(&crew->lock);
    struct wf_worker *previous = crew->retired;
    crew->retired = worker;
    bool was_busy = !worker->is_resting;
    wf_lock_drop(&crew->lock);
    if (previous) {
        wf_os_thread_join(&previous->thread);
        put_unused(crew, previous);
    }
    count_out(crew, true, was_busy);
}

/* The last touch of the crew by whoever goes out of the counts. */
static void count_out(struct wf_crew *crew, bool is_thread, bool is_busy) {
    wf_lock_take(&crew->lock);
    if (is_thread)
        wf_count_owner(&crew->threads, -1);
    if (is_busy)
        crew->busy--;
    if (crew->busy == 0)
        wf_parker_unpark(&crew->quiet);
    wf_lock_drop(&crew->lock);
}

static void put_unused(struct wf_crew *crew, struct wf_worker *worker) {
    wf_lock_take(&crew->lock);
    worker->next = crew->unused;
    crew->unused = worker;
    wf_lock_drop(&crew->lock);
}

void wf_crew_rest_alone(struct wf_worker *worker) {
    struct wf_crew *crew = &worker->engine->crew;
    if (!worker->has_thread)
        return;
    wf_lock_take(&crew->lock);
    worker->is_resting = true;
    wf_lock_drop(&crew->lock);
    count_out(crew, false, true);
    for (;;) {
        wf_lock_take(&crew->lock);
        bool is_over = crew->is_over;
        wf_lock_drop(&crew->lock);
        if (is_over)
            return;
        wf_parker_park(&worker->parker, WF_NEVER);
    }
}

void wf_crew_unpark_all(struct wf_engine *engine) {
    wf_lock_take(&engine->crew.lock);
    struct wf_worker *worker = engine->crew.all;
    wf_lock_drop(&engine->crew.lock);
    for (; worker; worker = worker->next_all) /* the list only grows at its head */
        wf_parker_unpark(&worker->parker);
}

void wf_crew_unpark_busy(struct wf_engine *engine) {
    wf_lock_take(&engine->crew.lock);
    for (struct wf_worker *worker = engine->crew.all; worker; worker = worker->next_all)
        if (!worker->is_spare)
            wf_parker_unpark(&worker->parker);
    wf_lock_drop(&engine->crew.lock);
}

void wf_crew_wait_quiet(struct wf_engine *engine) {
    struct wf_crew *crew = &engine->crew;
    for (;;) {
        wf_lock_take(&crew->lock);
        bool is_quiet = crew->busy == 0;
        wf_lock_drop(&crew->lock);
        if (is_quiet)
            return;
        wf_parker_park(&crew->quiet, WF_NEVER);
    }
}

/* Lets those go who rest, and frees everything. */
void wf_crew_term(struct wf_engine *engine) {
    struct wf_crew *crew = &engine->crew;
    wf_lock_take(&crew->lock);
    crew->is_over = true;
    wf_lock_drop(&crew->lock);
    wf_crew_unpark_all(engine);
    for (;;) {
        wf_lock_take(&crew->lock);
        bool is_last = wf_load_relaxed(&crew->threads) <= 1;
        struct wf_worker *last = crew->retired;
        wf_lock_drop(&crew->lock);
        if (is_last) {
            if (last)
                wf_os_thread_join(&last->thread);
            break;
        }
        wf_parker_park(&crew->quiet, WF_NEVER);
    }
    while (crew->all) {
        struct wf_worker *worker = crew->all;
        crew->all = worker->next_all;
        if (engine->policy->worker_term)
            engine->policy->worker_term(worker);
        wf_os_free(worker);
    }
}
