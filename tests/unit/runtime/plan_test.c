/* SPDX-License-Identifier: MIT
 *
 * unit/runtime/plan_test.c - a runtime by a plan: what its threads are like, who it is for others, what is refused.
 */
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "os/fault.h"
#include "support/quiet.h"
#include "support/supplied.h"

static int never_called(void *arg) {
    CHECK(!"reached");
    (void)arg;
    return 0;
}

static void never_ready(void *arg, struct wf_fibers *fibers) {
    (void)arg;
    (void)fibers;
    CHECK(!"reached");
}

static int run_plan(struct wf_runtime_plan plan) {
    plan.supply = &supplied_supply;
    plan.ready = never_ready;
    return wf_runtime_run(&(weft_options){.workers = 2}, &plan, never_called, NULL);
}

TEST(a_plan_that_makes_no_sense_is_refused) {
    CHECK_EQ(run_plan((struct wf_runtime_plan){.wanted = 1}), -EINVAL);
    CHECK_EQ(run_plan((struct wf_runtime_plan){.wanted = WF_EXTRA_MAX + 3}), -EINVAL);
    CHECK_EQ(run_plan((struct wf_runtime_plan){.nice = 20}), -EINVAL);
    CHECK_EQ(run_plan((struct wf_runtime_plan){.nice = -21}), -EINVAL);
    CHECK_EQ(run_plan((struct wf_runtime_plan){.cpus = "nought"}), -EINVAL);
    CHECK_EQ(run_plan((struct wf_runtime_plan){.extra_keep_alive_ns = -1}), -EINVAL);
    struct wf_runtime_plan plan = {.wanted = 2};
    CHECK_EQ(wf_runtime_run(&(weft_options){.workers = 1}, &plan, NULL, NULL), -EINVAL);
    CHECK_EQ(wf_runtime_run(&(weft_options){.replay_seed = 1}, &plan, never_called, NULL), -EINVAL);
}

/* As what the kernel says to a list of processors that it does not have. */
TEST(a_first_thread_that_cannot_be_as_planned_is_an_error_of_the_start) {
    CHECK_EQ(run_plan((struct wf_runtime_plan){.cpus = "1000"}), -EINVAL);
    wf_fault_order(WF_CALL_POLICY, 1, EPERM, 0);
    CHECK_EQ(run_plan((struct wf_runtime_plan){.nice = 3}), -EPERM);
    CHECK_EQ(wf_fault_hits(), 1);
    wf_fault_order(WF_CALL_POLICY, 0, 0, 0);
}

/* Each step of the start in turn: nothing has run, nobody was told, and the thread is what it was. */
TEST(a_start_that_fails_gives_the_thread_back_as_it_was) {
    cpu_set_t before, after;
    CHECK_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    char first[16];
    int cpu = 0;
    while (!CPU_ISSET(cpu, &before))
        cpu++;
    snprintf(first, sizeof first, "%d", cpu);
    static const enum wf_system_call kinds[] = {WF_CALL_ALLOC, WF_CALL_EPOLL_CREATE, WF_CALL_THREAD};
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        wf_fault_order(kinds[kind], 1, kinds[kind] == WF_CALL_ALLOC ? ENOMEM : EAGAIN, 0);
        CHECK_LE(run_plan((struct wf_runtime_plan){.cpus = first}), -1);
        CHECK_EQ(wf_fault_hits(), 1);
        wf_fault_order(kinds[kind], 0, 0, 0);
        CHECK_EQ(sched_getaffinity(0, sizeof after, &after), 0);
        CHECK(CPU_EQUAL(&before, &after));
    }
}

static int answer(void *arg) {
    return (int)(intptr_t)arg;
}

static atomic_int readies;

static void count_ready(void *arg, struct wf_fibers *fibers) {
    CHECK(arg == &readies);
    CHECK_EQ(fibers->engine.count, 1);
    CHECK(!fibers->is_pool);
    atomic_fetch_add(&readies, 1);
}

TEST(a_plan_without_a_supply_is_an_ordinary_runtime) {
    struct wf_runtime_plan plan = {.ready = count_ready, .arg = &readies, .has_stand_ins = true};
    atomic_store(&readies, 0);
    CHECK_EQ(wf_runtime_run(&(weft_options){.workers = 1}, &plan, answer, (void *)5), 5);
    CHECK_EQ(atomic_load(&readies), 1);
}

static void check_environment(void) {
    struct wf_engine *engine = atomic_load(&supplied.engine);
    struct item item = {0};
    CHECK(!engine->replay.is_on);
    CHECK_EQ(engine->count, 1);
    supplied_add(&item);
    supplied_wait(1);
}

TEST(the_environment_neither_replays_it_nor_sets_its_workers) {
    const char *given = getenv("WEFT_WORKERS");
    char kept[32];
    snprintf(kept, sizeof kept, "%s", given ? given : "");
    CHECK_EQ(setenv("WEFT_WORKERS", "7", 1), 0);
    CHECK_EQ(setenv("WEFT_SEED", "9", 1), 0);
    run_supplied((struct wf_runtime_plan){0}, check_environment);
    CHECK_EQ(unsetenv("WEFT_SEED"), 0);
    CHECK_EQ(given ? setenv("WEFT_WORKERS", kept, 1) : unsetenv("WEFT_WORKERS"), 0);
}

/* What threads are like. */
static atomic_int inside;
static int planned_cpu;
enum { THREADS = 3, NICE = 4 };

static void look_at_thread(struct item *item) {
    (void)item;
    char name[16] = "";
    cpu_set_t set;
    atomic_fetch_add(&inside, 1);
    COMPUTE_UNTIL(atomic_load(&inside) == THREADS);
    CHECK_EQ(pthread_getname_np(pthread_self(), name, sizeof name), 0);
    if (wf_worker_self()->base.has_thread) /* the caller's keeps its own */
        CHECK_TEXT(name, "planned");
    CHECK_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    CHECK_EQ(CPU_COUNT(&set), 1);
    CHECK(CPU_ISSET(planned_cpu, &set));
    CHECK_EQ(getpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid)), NICE);
}

static void look_at_threads(void) {
    struct item items[THREADS];
    for (int i = 0; i < THREADS; i++) {
        items[i] = (struct item){.fn = look_at_thread};
        supplied_add(&items[i]);
    }
    supplied_wait(THREADS);
    CHECK(!atomic_load(&supplied.engine)->can_spin); /* with one processor of the machine */
}

/* On a thread of its own: niceness may not be given back. */
static void *run_on_planned_threads(void *arg) {
    cpu_set_t before, after;
    char cpus[16];
    CHECK_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    planned_cpu = 0;
    while (!CPU_ISSET(planned_cpu, &before))
        planned_cpu++;
    snprintf(cpus, sizeof cpus, "%d", planned_cpu);
    atomic_store(&inside, 0);
    run_supplied((struct wf_runtime_plan){.name = "planned", .cpus = cpus, .nice = NICE, .wanted = THREADS},
                 look_at_threads);
    CHECK_EQ(sched_getaffinity(0, sizeof after, &after), 0);
    CHECK(CPU_EQUAL(&before, &after));
    return arg;
}

TEST(its_threads_have_the_name_the_processors_and_the_niceness_of_the_plan) {
    thread_join(thread_start(run_on_planned_threads, NULL));
}

static void start_threads_that_cannot(void) {
    struct wf_engine *engine = atomic_load(&supplied.engine);
    wf_fault_order(WF_CALL_POLICY, 1, EPERM, 1);
    CHECK_EQ(wf_engine_resize_any(engine, 3), 0);
    COMPUTE_UNTIL(wf_engine_in_service_any(engine) == 3 && wf_load_relaxed(&engine->crew.births) >= 2);
    wf_fault_order(WF_CALL_POLICY, 0, 0, 0);
    struct item item = {0};
    supplied_add(&item);
    supplied_wait(1);
}

static void *run_on_threads_that_cannot(void *arg) {
    run_supplied((struct wf_runtime_plan){.name = "planned", .nice = NICE}, start_threads_that_cannot);
    return arg;
}

TEST(a_later_thread_that_cannot_be_as_planned_is_reported_once_and_used) {
    struct quiet quiet = quiet_begin();
    thread_join(thread_start(run_on_threads_that_cannot, NULL));
    quiet_end(quiet);
    const char *said = strstr(text, "planned: a thread could not get");
    CHECK(said != NULL);
    CHECK(strstr(said + 1, "planned: a thread could not get") == NULL);
}

/* Who it is for others. */
static void look_from_outside(void) {
    CHECK(weft_runtime_self() == NULL);
    weft_stats stats;
    CHECK_EQ(weft_get_stats(NULL, &stats), -ESTALE);
    struct wf_fibers *fibers = wf_fibers_of(atomic_load(&supplied.engine));
    CHECK(fibers->is_pool);
    CHECK(fibers->on_rest == NULL);
    CHECK(wf_runtimes_enter_this(fibers) == fibers); /* by name it is found */
    wf_runtimes_leave(fibers);
}

TEST(a_plain_thread_that_names_no_runtime_does_not_mean_a_pool) {
    run_supplied((struct wf_runtime_plan){0}, look_from_outside);
}

static _Atomic(weft_runtime *) ordinary;
static weft_chan *ordinary_stop;

static int stay_until_told(void *arg) {
    char nothing;
    atomic_store(&ordinary, weft_runtime_self());
    /* The pool's runtime is something that could wake us. */
    CHECK(!wf_runtimes_is_alone(wf_worker_self()->fibers));
    CHECK_EQ(weft_chan_recv(ordinary_stop, &nothing, WEFT_NEVER), -EPIPE);
    return (int)(intptr_t)arg;
}

static void *run_ordinary(void *arg) {
    CHECK_EQ(weft_run(NULL, stay_until_told, NULL), 0);
    return arg;
}

static void look_beside_an_ordinary_one(void) {
    CHECK_EQ(weft_chan_new(&ordinary_stop, 1, 0), 0);
    atomic_store(&ordinary, NULL);
    pthread_t thread = thread_start(run_ordinary, NULL);
    COMPUTE_UNTIL(atomic_load(&ordinary));
    CHECK(weft_runtime_self() == atomic_load(&ordinary)); /* although the pool's is older */
    CHECK_EQ(weft_chan_close(ordinary_stop), 0);
    thread_join(thread);
    weft_chan_free(ordinary_stop);
}

TEST(a_plain_thread_means_the_oldest_ordinary_runtime) {
    run_supplied((struct wf_runtime_plan){0}, look_beside_an_ordinary_one);
}

/* A work whose fiber gets no stack never begins; whoever made it is told. */
static atomic_int stillborn;

static void note_stillborn(struct wf_fiber_worker *worker, weft_fn entry, void *arg) {
    CHECK(worker->base.processor != NULL);
    CHECK(entry == supplied_run_item);
    CHECK_EQ(atomic_load(&((struct item *)arg)->runs), 0);
    atomic_fetch_add(&stillborn, 1);
}

static weft_chan *gate;

static void wait_at_the_gate(struct item *item) {
    char nothing;
    (void)item;
    CHECK_EQ(weft_chan_recv(gate, &nothing, WEFT_NEVER), -EPIPE);
}

/* They wait, each on its stack, until there is none left. */
static void run_out_of_stacks(void) {
    enum { MOST = 100000 };
    struct item *items = calloc(MOST, sizeof *items);
    int count = 0;
    atomic_store(&stillborn, 0);
    wf_fibers_of(atomic_load(&supplied.engine))->on_stillborn = note_stillborn;
    CHECK_EQ(weft_chan_new(&gate, 1, 0), 0);
    wf_fault_order(WF_CALL_MMAP, 1, ENOMEM, 1);
    while (atomic_load(&stillborn) == 0) {
        CHECK_LE(count, MOST - 1);
        items[count].fn = wait_at_the_gate;
        supplied_add(&items[count]);
        COMPUTE_UNTIL(atomic_load(&items[count].runs) + atomic_load(&stillborn) == 1);
        count++;
    }
    wf_fault_order(WF_CALL_MMAP, 0, 0, 0);
    CHECK_EQ(weft_chan_close(gate), 0);
    supplied_wait(count - 1);
    weft_chan_free(gate);
    free(items);
}

TEST(a_work_without_a_stack_is_not_forgotten) {
    run_supplied((struct wf_runtime_plan){0}, run_out_of_stacks);
}
