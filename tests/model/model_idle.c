/* SPDX-License-Identifier: MIT
 *
 * tests/model/model_idle.c - queue/idle.c with queue/parker.c and queue/lock.c: no task is left while everybody sleeps.
 *
 * The workers follow the protocol of queue/idle.h line by line: search, park, look again, sleep. The source of work is
 * an atomic count, so that the orders come from the idle set alone. Whoever finishes the last task wakes everybody; that
 * also leaves stray tokens in the parkers, which the protocol has to bear.
 *
 * Cases
 *   one      one worker, two producers
 *   two      two workers, a producer of two tasks
 *   pair     the same, with tasks that wait for each other: the second worker has to be woken by the chain
 *   mailbox  one worker's mailbox against its sleep, while a task for anybody comes too
 *   inject   one worker, one producer, with queue/inject.c as the source
 *
 * Mutants of the driver: NO_RECHECK sleeps without looking again; SEARCHERS_RECHECK leaves out those who were turned away
 * by the cap; NOTIFY_FIRST notifies before it publishes; TAKE_UNSEEN pushes into the mailbox after asking whether the
 * worker sleeps.
 */
#include "model.h"
#include "queue/idle.h"
#include "queue/inject.h"
#include "queue/mailbox.h"
#include "queue/parker.h"

#include <string.h>

enum { WORKERS = 2 };

static struct wf_idle idle;
static struct wf_parker parker[WORKERS];
static _Atomic uint32_t queued, arrived;
static uint32_t workers, done, total;
static bool is_pair, is_injected;
static struct wf_mailbox mailbox; /* of worker 0 */
static struct wf_inject inject;
static struct wf_task mail, injected[2];

/* Belongs to the test: how many tasks are done. A worker that looks at it sees the truth, whatever it may see else. */
MODEL_UNSEEN static bool is_over(void) {
    return done == total;
}

MODEL_UNSEEN static bool is_last_task(void) {
    return ++done == total;
}

MODEL_UNSEEN static uint32_t searchers(void) {
    return *(const volatile uint32_t *)&idle.word & 0xffff;
}

static void wake(int worker) {
    if (worker >= 0)
        wf_parker_unpark(&parker[worker]);
}

static bool take_task(void) {
    if (is_injected) {
        struct wf_chain chain = {0};
        return wf_inject_pop_any(&inject, 1, &chain) == 1;
    }
    uint32_t count = wf_load_relaxed(&queued);
    while (count > 0)
        if (wf_cas_acquire(&queued, &count, count - 1))
            return true;
    return false;
}

static bool has_shared_work(void) {
    return is_injected ? !wf_inject_is_empty_any(&inject) : wf_load_relaxed(&queued) > 0;
}

static bool has_work(uint32_t self) {
    if (is_over())
        return true;
    if (self == 0 && !wf_mailbox_is_empty_any(&mailbox))
        return true;
    return has_shared_work();
}

static void run_task(void) {
    if (is_pair) {
        wf_fetch_add_relaxed(&arrived, 1);
        while (wf_load_relaxed(&arrived) < 2)
            wf_relax();
    }
    if (is_last_task())
        for (uint32_t i = 0; i < workers; i++)
            wake((int)i);
}

static bool take_mail(uint32_t self) {
    struct wf_chain chain = {0};
    return self == 0 && wf_mailbox_take_owner(&mailbox, &chain) > 0;
}

/* Parks, looks again, and sleeps unless there is something. Returns true when it may search from here on. */
static bool park_and_look_again(uint32_t self, bool *is_searching) {
    wf_idle_park(&idle, self, *is_searching);
#if defined(MODEL_MUTANT_NO_RECHECK)
    bool found = is_over();
#elif defined(MODEL_MUTANT_SEARCHERS_RECHECK)
    bool found = *is_searching ? has_work(self) : is_over();
#else
    bool found = has_work(self);
#endif
    if (!found)
        wf_parker_park(&parker[self], INT64_MAX);
    *is_searching = !wf_idle_unpark_self(&idle, self) && wf_idle_woken_to_search(&idle, self);
    return found;
}

static void worker(void *index) {
    uint32_t self = (uint32_t)(uintptr_t)index;
    bool is_searching = false;
    bool has_seen_work = false;
    while (!is_over()) {
        if (take_mail(self))
            run_task(); /* a searcher may keep its place for it: the tasks here are short */
        if (!is_searching)
            is_searching = wf_idle_search_begin(&idle);
        CHECK(searchers() <= 1);
        bool has_task = (is_searching || has_seen_work) && take_task();
        has_seen_work = false;
        if (!has_task) {
            has_seen_work = park_and_look_again(self, &is_searching);
            continue;
        }
        if (is_searching && wf_idle_search_end(&idle) && has_shared_work())
            wake(wf_idle_notify_any(&idle));
        is_searching = false;
        run_task();
    }
    if (is_searching)
        wf_idle_search_end(&idle);
}

static void producer(void *count) {
    for (uintptr_t i = 0; i < (uintptr_t)count; i++) {
#ifdef MODEL_MUTANT_NOTIFY_FIRST
        int woken = wf_idle_notify_any(&idle);
#endif
        if (is_injected)
            wf_inject_push_any(&inject, &injected[i]);
        else
            wf_fetch_add_release(&queued, 1);
#ifdef MODEL_MUTANT_NOTIFY_FIRST
        wake(woken);
#else
        wake(wf_idle_notify_any(&idle));
#endif
    }
}

static void sender(void *unused) {
    (void)unused;
#ifdef MODEL_MUTANT_TAKE_UNSEEN
    bool is_taken = wf_idle_take(&idle, 0);
    wf_mailbox_push_any(&mailbox, &mail);
    if (is_taken)
        wake(0);
#else
    if (wf_mailbox_push_any(&mailbox, &mail) && wf_idle_take(&idle, 0))
        wake(0);
#endif
}

static void start(uint32_t worker_count, uint32_t task_count) {
    workers = worker_count;
    total = task_count;
    CHECK(wf_idle_init(&idle, WORKERS, 1) == 0);
    for (uintptr_t i = 0; i < workers; i++)
        model_start(worker, (void *)i);
}

static void start_case(const char *name) {
    if (strcmp(name, "one") == 0) {
        start(1, 2);
        model_start(producer, (void *)1);
        model_start(producer, (void *)1);
    } else if (strcmp(name, "two") == 0 || strcmp(name, "pair") == 0) {
        is_pair = *name == 'p';
        start(2, 2);
        model_start(producer, (void *)2);
    } else if (strcmp(name, "mailbox") == 0) {
        start(1, 2);
        model_start(producer, (void *)1);
        model_start(sender, NULL);
    } else {
        is_injected = true;
        start(1, 2);
        model_start(producer, (void *)2);
    }
}

void model_main(void) {
    start_case(model_case());
    model_join_all();
    CHECK(is_over());
    CHECK(wf_load_relaxed(&queued) == 0);
    CHECK(wf_idle_parked_any(&idle) == 0);
    CHECK(wf_idle_searching_any(&idle) == 0);
    wf_idle_term(&idle);
}
