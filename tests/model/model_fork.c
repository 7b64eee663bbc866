/* SPDX-License-Identifier: MIT
 *
 * tests/model/model_fork.c - pool/fork.c with queue/deque.c and wait/wait.c: every job runs once, its join sees what it wrote,
 * and its memory may go as soon as the join has returned.
 *
 * The forker is a fiber (abstract/fiber/fiber.h) on the only processor; thieves are threads that steal and run. Jobs are
 * blocks that the forker scribbles over and frees after the join, so whoever touches one later is found. What a job writes is
 * plain memory, so a join that does not see it is a data race.
 *
 * Cases
 *   one     one job, one thief: who gets it, and the end of the job against the join
 *   two     two jobs, joined newest first, two thieves
 *   order   two jobs, joined oldest first: the join of the first may run the second
 *   leave   one job that is taken back: it has run to its end, or will never run
 *   await   no queue: a word that one thread waits for and another ends
 *
 * Mutants of the driver: RUN_TWICE runs a stolen job again; FREE_EARLY frees the job before the join.
 */
#include "model.h"
#include "os/futex.h"
#include "os/memory.h"
#include "os/report.h"
#include "pool/pool.h"

#include <string.h>

enum { JOBS = 2 };

static weft_pool pool;
static struct wf_shard shard;
static struct wf_processor processor;
static struct wf_stack stack;
static struct wf_fiber fiber = {.stack = &stack};
static struct wf_fibers fibers = {.next_index = 1, .fiber = &fiber};
static struct wf_fiber_worker worker = {.base = {&processor}, .fibers = &fibers, .current = &fiber};
static int fiber_thread;
static int ran[JOBS]; /* plain */

/* What stands in for other layers comes first, then the program. */

MODEL_UNSEEN struct wf_fiber_worker *wf_worker_self(void) {
    return model_thread() == fiber_thread ? &worker : NULL;
}

MODEL_UNSEEN weft_pool *wf_pool_of_worker(const struct wf_fiber_worker *of) {
    return of ? &pool : NULL;
}

void wf_pool_notify(weft_pool *of) {
    CHECK(of == &pool);
}

_Noreturn void wf_fatal(const char *format, ...) {
    model_fail(format, __FILE__, __LINE__);
}

void wf_machine_check(const struct wf_machine *machine, uint32_t from, uint32_t to) {
    CHECK(wf_machine_allows(machine, from, to));
}

char *wf_job_call(struct wf_job *job) {
    job->fn(job->arg);
#ifdef MODEL_MUTANT_RUN_TWICE
    job->fn(job->arg);
#endif
    return NULL;
}

void wf_job_forget(char *panic) {
    CHECK(panic == NULL);
}

#include "parking.h"

MODEL_UNUSED(wf_shard_of_owner)
MODEL_UNUSED(weft_panic)

/* The program. */

static void job_body(void *count) {
    ++*(int *)count;
}

static struct wf_job *job_new(void) {
    struct wf_job *job = wf_os_alloc(sizeof *job);
    CHECK(job != NULL);
    return job;
}

static void scribble_and_free(struct wf_job *job) {
    memset((void *)job, 0xee, sizeof *job);
    wf_os_free(job);
}

static void join(struct wf_job *job, int index) {
#ifdef MODEL_MUTANT_FREE_EARLY
    weft_job copy;
    memcpy(&copy, job, sizeof copy);
    scribble_and_free(job);
    weft_join_job(&copy);
    return;
#endif
    weft_join_job((weft_job *)(void *)job);
    CHECK(ran[index] == 1);
    scribble_and_free(job);
}

static void fork_one(void *unused) {
    struct wf_job *job = job_new();
    (void)unused;
    weft_fork((weft_job *)(void *)job, job_body, &ran[0]);
    join(job, 0);
}

static void fork_two(void *is_oldest_first) {
    struct wf_job *job[JOBS] = {job_new(), job_new()};
    for (int i = 0; i < JOBS; i++)
        weft_fork((weft_job *)(void *)job[i], job_body, &ran[i]);
    int first = is_oldest_first ? 0 : 1;
    join(job[first], first);
    join(job[!first], !first);
}

static void fork_and_leave(void *unused) {
    struct wf_job *job = job_new();
    (void)unused;
    weft_fork((weft_job *)(void *)job, job_body, &ran[0]);
    weft_job_leave((weft_job *)(void *)job);
    CHECK(ran[0] <= 1);
    scribble_and_free(job);
}

static void steal(void *unused) {
    struct wf_task *task;
    (void)unused;
    if (wf_deque_steal_thief(&shard.jobs, &task) > 0)
        wf_job_run(task);
}

static struct wf_job *awaited;

static void end_awaited(void *unused) {
    (void)unused;
    ran[0]++;
    wf_job_done(awaited);
}

static void wait_awaited(void *unused) {
    (void)unused;
    wf_job_await(awaited);
    CHECK(ran[0] == 1);
    scribble_and_free(awaited);
}

void model_main(void) {
    const char *name = model_case();
    CHECK(wf_deque_init(&shard.jobs) == 0);
    wf_store_relaxed(&pool.shards[0], &shard);
    fiber_thread = 1;
    if (strcmp(name, "await") == 0) {
        awaited = job_new();
        wf_job_open(awaited);
        model_start(wait_awaited, NULL);
        model_start(end_awaited, NULL);
    } else if (strcmp(name, "leave") == 0) {
        model_start(fork_and_leave, NULL);
        model_start(steal, NULL);
    } else if (strcmp(name, "one") == 0) {
        model_start(fork_one, NULL);
        model_start(steal, NULL);
    } else {
        bool is_oldest_first = strcmp(name, "order") == 0;
        model_start(fork_two, is_oldest_first ? &pool : NULL);
        model_start(steal, NULL);
        if (!is_oldest_first)
            model_start(steal, NULL);
    }
    model_join_all();
    CHECK(wf_deque_is_empty_any(&shard.jobs));
    wf_deque_term(&shard.jobs);
}
