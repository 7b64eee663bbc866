/* SPDX-License-Identifier: MIT
 *
 * unit/sched/resize_test.c - more processors and fewer of them while everything runs, and those that give themselves up.
 *
 * The races of sched/extra.c are forced at its points: what was asked for changes while one goes into service, or out of it.
 */

#include "os/fault.h"
#include "support/quiet.h"
#include "support/supplied.h"

static struct wf_engine *engine_now(void) {
    return atomic_load(&supplied.engine);
}

static void resize(uint32_t wanted) {
    CHECK_EQ(wf_engine_resize_any(engine_now(), wanted), 0);
}

static void wait_in_service(uint32_t wanted) {
    COMPUTE_UNTIL(wf_engine_in_service_any(engine_now()) == wanted);
    COMPUTE_UNTIL(wf_load_seq_cst(&engine_now()->monitor.extras) == wanted - engine_now()->count);
}

/* Those who have nothing to do are gone. */
static void wait_given_up(uint32_t left) {
    COMPUTE_UNTIL(wf_engine_wanted_any(engine_now()) == left);
    wait_in_service(left);
}

static void add_nothing(void) {
    struct item item = {0};
    int before = atomic_load(&supplied.ended);
    supplied_add(&item);
    supplied_wait(before + 1);
}

static void go_up_and_down(void) {
    static const uint32_t sizes[] = {1, 2, 5, 3, 17, 1, 40, 2, 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        resize(sizes[i]);
        CHECK_EQ(wf_engine_wanted_any(engine_now()), sizes[i]);
        wait_in_service(sizes[i]);
        add_nothing();
    }
    CHECK_LE(wf_engine_limit(engine_now()), 41);
}

TEST(there_are_as_many_processors_as_were_asked_for) {
    run_supplied((struct wf_runtime_plan){.wanted = (uint32_t)wf_test_workers()}, go_up_and_down);
    run_supplied((struct wf_runtime_plan){0}, go_up_and_down);
}

static void ask_for_nonsense(void) {
    CHECK_EQ(wf_engine_resize_any(engine_now(), 0), -EINVAL);
    CHECK_EQ(wf_engine_resize_any(engine_now(), WF_EXTRA_MAX + 2), -EINVAL);
    CHECK_EQ(wf_engine_resize_any(engine_now(), UINT32_MAX), -EINVAL);
    CHECK_EQ(wf_engine_wanted_any(engine_now()), 1);
    add_nothing();
}

TEST(a_number_of_processors_that_cannot_be_is_refused) {
    run_supplied((struct wf_runtime_plan){0}, ask_for_nonsense);
}

static atomic_int inside;
static atomic_int inside_wanted;

static void compute_until_all_are_inside(struct item *item) {
    (void)item;
    atomic_fetch_add(&inside, 1);
    COMPUTE_UNTIL(atomic_load(&inside) >= atomic_load(&inside_wanted));
}

static void compute_at_once(void) {
    enum { MOST = 24 };
    static const int sizes[] = {2, MOST, 8};
    struct item items[MOST];
    for (size_t round = 0; round < sizeof sizes / sizeof *sizes; round++) {
        int before = atomic_load(&supplied.ended);
        atomic_store(&inside, 0);
        atomic_store(&inside_wanted, sizes[round]);
        for (int i = 0; i < sizes[round]; i++) {
            items[i] = (struct item){.fn = compute_until_all_are_inside};
            supplied_add(&items[i]);
        }
        resize((uint32_t)sizes[round]); /* while they wait, or run */
        supplied_wait(before + sizes[round]);
    }
}

TEST(so_many_computations_run_at_once) {
    run_supplied((struct wf_runtime_plan){.wanted = (uint32_t)wf_test_workers()}, compute_at_once);
}

static atomic_int may_end;
static atomic_int is_computing;
static atomic_int spawned_ran;
static atomic_int has_shrunk;

static void compute_until_told(struct item *item) {
    (void)item;
    atomic_fetch_add(&is_computing, 1);
    COMPUTE_UNTIL(atomic_load(&may_end));
}

static void *count_run(void *arg) {
    CHECK_EQ(wf_worker_self()->base.processor->index, 0); /* the other one is gone, or about to go */
    atomic_fetch_add(&spawned_ran, 1);
    return arg;
}

enum { LEFT = 5 };

/* Of two that get here, whichever has the extra processor leaves fibers behind there. */
static void spawn_and_shrink(struct item *item) {
    (void)item;
    atomic_fetch_add(&inside, 1);
    COMPUTE_UNTIL(atomic_load(&inside) == 2);
    if (wf_worker_self()->base.processor->index == 0) {
        compute_until_told(NULL);
        return;
    }
    for (int i = 0; i < LEFT; i++)
        CHECK_EQ(weft_go(count_run, NULL), 0);
    COMPUTE_UNTIL(atomic_load(&is_computing) && atomic_load(&has_shrunk));
}

/* It has taken some of these from the supply too, when it comes back. */
static void shrink_under_load(void) {
    struct item pair[2] = {{.fn = spawn_and_shrink}, {.fn = spawn_and_shrink}};
    struct item more[SUPPLIED_BATCH * 2] = {0};
    wait_in_service(2);
    supplied_add(&pair[0]);
    supplied_add(&pair[1]);
    COMPUTE_UNTIL(atomic_load(&is_computing));
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        supplied_add(&more[i]);
    resize(1);
    atomic_store(&has_shrunk, 1);
    wait_in_service(1);
    CHECK_EQ(atomic_load(&spawned_ran), 0);
    atomic_store(&may_end, 1);
    supplied_wait(2 + (int)(sizeof more / sizeof *more));
    COMPUTE_UNTIL(atomic_load(&spawned_ran) == LEFT);
}

TEST(what_waits_at_a_processor_that_goes_is_handed_in) {
    for (int i = 0; i < 5; i++) {
        atomic_store(&inside, 0);
        atomic_store(&may_end, 0);
        atomic_store(&is_computing, 0);
        atomic_store(&spawned_ran, 0);
        atomic_store(&has_shrunk, 0);
        run_supplied((struct wf_runtime_plan){.wanted = 2}, shrink_under_load);
    }
}

/* An extra processor takes a batch; the supply hands back what it has not begun. */
static void hold_with_a_batch(struct item *item) {
    (void)item;
    if (wf_worker_self()->base.processor->index > 0 && atomic_exchange(&has_shrunk, 1) == 0) {
        CHECK_EQ(wf_engine_resize_any(engine_now(), 1), 0);
        return;
    }
    COMPUTE_UNTIL(atomic_load(&has_shrunk));
}

static void shrink_with_a_batch(void) {
    struct item items[64];
    wait_in_service(2);
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        items[i] = (struct item){.fn = hold_with_a_batch};
        supplied_add(&items[i]);
    }
    supplied_wait(sizeof items / sizeof *items);
    wait_in_service(1);
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        CHECK_EQ(atomic_load(&items[i].runs), 1);
}

TEST(what_a_processor_has_taken_from_the_supply_is_handed_back) {
    for (int i = 0; i < 20; i++) {
        atomic_store(&has_shrunk, 0);
        run_supplied((struct wf_runtime_plan){.wanted = 2}, shrink_with_a_batch);
    }
}

static void give_up_by_and_by(void) {
    wait_given_up(3); /* 1 and the residents */
    add_nothing();
    resize(8);
    for (int i = 0; i < 100; i++)
        add_nothing();
    wait_given_up(3);
    COMPUTE_UNTIL(wf_load_seq_cst(&engine_now()->monitor.is_asleep));
    resize(2); /* less than those who would stay */
    wait_in_service(2);
    resize(3);
    wait_in_service(3);
    add_nothing();
}

TEST(extra_processors_with_nothing_to_do_go_but_for_the_residents) {
    struct wf_runtime_plan plan = {.wanted = 6, .resident = 2, .extra_keep_alive_ns = 5 * WEFT_MILLISECOND};
    run_supplied(plan, give_up_by_and_by);
}

static uint64_t parks_now(void) {
    uint64_t sum = 0;
    for (uint32_t i = 0, limit = wf_engine_limit(engine_now()); i < limit; i++)
        sum += wf_load_relaxed(&engine_now()->processors[i]->counters.worker_parks);
    return sum;
}

static void be_idle_when_all_are_gone(void) {
    wait_given_up(2);
    COMPUTE_UNTIL(wf_load_relaxed(&engine_now()->poll_deadline) == INT64_MAX &&
                  wf_load_seq_cst(&engine_now()->monitor.is_asleep));
    uint64_t parks = parks_now();
    weft_time end = weft_after(200 * WEFT_MILLISECOND);
    while (weft_now() < end)
        sched_yield();
    CHECK_EQ(parks_now(), parks);
}

TEST(when_all_are_gone_nobody_wakes_up_any_more) {
    struct wf_runtime_plan plan = {.wanted = 6, .resident = 1, .extra_keep_alive_ns = WEFT_MILLISECOND};
    run_supplied(plan, be_idle_when_all_are_gone);
}

static void stay_for_ever(void) {
    wait_in_service(4);
    for (int i = 0; i < 10; i++)
        add_nothing();
    COMPUTE_UNTIL(wf_load_seq_cst(&engine_now()->monitor.is_asleep));
    CHECK_EQ(wf_engine_in_service_any(engine_now()), 4);
}

TEST(without_a_limit_they_stay) {
    run_supplied((struct wf_runtime_plan){.wanted = 4}, stay_for_ever);
    run_supplied((struct wf_runtime_plan){.wanted = 4, .extra_keep_alive_ns = WEFT_NEVER}, stay_for_ever);
}

/* Forced races. The hook calls what was prepared, once, on whatever thread comes to the point. */
static const char *wanted_point;
static void (*at_point)(void);
static atomic_int is_armed;
static atomic_int was_there;
static struct item late;

static void call_at_point(const char *name) {
    if (strcmp(name, wanted_point) == 0 && atomic_exchange(&is_armed, 0)) {
        at_point();
        atomic_store(&was_there, 1);
    }
}

/* armed: from the start, since nobody can say when it gets there; else control arms it. */
static void run_hooked(const char *point, bool armed, void (*then)(void), struct wf_runtime_plan plan,
                       void (*control)(void)) {
    for (long i = scaled(20, 3); i > 0; i--) {
        wanted_point = point;
        at_point = then;
        atomic_store(&is_armed, armed);
        atomic_store(&was_there, 0);
        atomic_store(&late.runs, 0);
        wf_point_hook = call_at_point;
        run_supplied(plan, control);
        wf_point_hook = NULL;
    }
}

static void ask_for_1(void) {
    resize(1);
}

static void ask_for_3(void) {
    resize(3);
}

static void grow_while_told_not_to(void) {
    add_nothing();
    atomic_store(&is_armed, 1);
    resize(2);
    COMPUTE_UNTIL(atomic_load(&was_there));
    wait_in_service(1);
    CHECK_EQ(wf_engine_wanted_any(engine_now()), 1);
    add_nothing();
}

TEST(one_that_is_about_to_begin_when_it_is_not_wanted_any_more_goes_again) {
    run_hooked("extra.counted", false, ask_for_1, (struct wf_runtime_plan){0}, grow_while_told_not_to);
}

static void leave_while_told_not_to(void) {
    wait_in_service(3);
    atomic_store(&is_armed, 1);
    resize(2);
    COMPUTE_UNTIL(atomic_load(&was_there));
    wait_in_service(3);
    add_nothing();
}

TEST(one_that_leaves_when_it_is_wanted_again_is_replaced) {
    run_hooked("extra.before_leave", false, ask_for_3, (struct wf_runtime_plan){.wanted = 3}, leave_while_told_not_to);
}

static void add_late(void) {
    supplied_add(&late);
}

static void give_up_when_work_comes(void) {
    COMPUTE_UNTIL(atomic_load(&was_there));
    COMPUTE_UNTIL(atomic_load(&late.runs) == 1);
    wait_given_up(1);
}

TEST(work_that_comes_while_a_processor_gives_up_is_seen_by_somebody) {
    struct wf_runtime_plan plan = {.wanted = 2, .extra_keep_alive_ns = 2 * WEFT_MILLISECOND};
    run_hooked("extra.before_give_up", true, add_late, plan, give_up_when_work_comes);
    run_hooked("extra.before_leave", true, add_late, plan, give_up_when_work_comes);
}

static void give_up_when_more_are_wanted(void) {
    COMPUTE_UNTIL(atomic_load(&was_there));
    add_nothing();
    wait_given_up(1);
}

TEST(more_that_are_wanted_while_a_processor_gives_up_come) {
    struct wf_runtime_plan plan = {.wanted = 2, .extra_keep_alive_ns = 2 * WEFT_MILLISECOND};
    run_hooked("extra.before_give_up", true, ask_for_3, plan, give_up_when_more_are_wanted);
}

/* Whoever works keeps the monitor looking. */
#define WORK_UNTIL(condition) \
    do { \
        weft_time work_limit = weft_after(PATIENCE_NS); \
        while (!(condition)) { \
            CHECK_LE(weft_now(), work_limit); \
            add_nothing(); \
        } \
    } while (0)

/* Threads are refused, and then not. */
static void grow_when_denied(void) {
    add_nothing();
    wf_fault_order(WF_CALL_THREAD, 1, EAGAIN, 1);
    resize(4);
    WORK_UNTIL(wf_fault_hits() >= 2);
    CHECK_EQ(wf_engine_in_service_any(engine_now()), 1);
    wf_fault_order(WF_CALL_THREAD, 0, 0, 0);
    WORK_UNTIL(wf_engine_in_service_any(engine_now()) == 4);
}

static int count_of(const char *wanted) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, wanted)); at++)
        count++;
    return count;
}

TEST(without_threads_it_says_so_once_and_tries_again) {
    struct quiet quiet = quiet_begin();
    run_supplied((struct wf_runtime_plan){.name = "supplied"}, grow_when_denied);
    quiet_end(quiet);
    CHECK_EQ(count_of("supplied: 4 workers are wanted and 1 are there"), 1);
}

/* More than may have threads. */
static void grow_beyond_the_limit(void) {
    resize(20);
    COMPUTE_UNTIL(wf_load_relaxed(&engine_now()->crew.denied) > 0);
    CHECK_LE(wf_engine_in_service_any(engine_now()), 4);
    add_nothing();
    resize(2);
    wait_in_service(2);
    add_nothing();
}

TEST(the_limit_of_threads_is_kept) {
    weft_options options = {.workers = 1, .max_threads = 5};
    CHECK_EQ(run_supplied_with(&options, (struct wf_runtime_plan){0}, grow_beyond_the_limit), 7);
}

/* Stress: works from outside and from inside, which sleep, yield, spawn or do nothing, while the size changes. */
enum { STRESS_SUBMITTERS = 2 };
static struct item *stress_items;
static long stress_count;
static atomic_long stress_next;
static atomic_long children;

static void *be_a_child(void *arg) {
    weft_yield();
    atomic_fetch_add(&children, 1);
    return arg;
}

static void do_something(struct item *item) {
    long number = item - stress_items;
    if (number % 13 == 0) {
        CHECK_EQ(weft_go(be_a_child, NULL), 0);
        CHECK_EQ(weft_go(be_a_child, NULL), 0);
    }
    if (number % 7 == 0)
        weft_yield();
    if (number % 101 == 0)
        CHECK_EQ(weft_sleep(weft_after(100 * WEFT_MICROSECOND)), 0);
    if (number % 211 == 0) {
        weft_blocking_begin();
        sched_yield();
        weft_blocking_end();
    }
}

static void *stress_submit(void *arg) {
    long at;
    while ((at = atomic_fetch_add(&stress_next, 1)) < stress_count) {
        stress_items[at].fn = do_something;
        supplied_add(&stress_items[at]);
        if (at % 64 == 0)
            sched_yield();
    }
    return arg;
}

static void *stress_resize(void *arg) {
    uint64_t state = wf_test_seed() | 1;
    while (atomic_load(&supplied.ended) < stress_count) {
        resize(1 + (uint32_t)random_below(&state, 12));
        for (uint64_t i = random_below(&state, 20); i > 0; i--)
            sched_yield();
    }
    return arg;
}

static void stress(void) {
    pthread_t threads[STRESS_SUBMITTERS];
    atomic_store(&stress_next, 0);
    atomic_store(&children, 0);
    for (int i = 0; i < STRESS_SUBMITTERS; i++)
        threads[i] = thread_start(stress_submit, NULL);
    pthread_t resizer = thread_start(stress_resize, NULL);
    for (int i = 0; i < STRESS_SUBMITTERS; i++)
        thread_join(threads[i]);
    supplied_wait((int)stress_count);
    thread_join(resizer);
    for (long i = 0; i < stress_count; i++)
        CHECK_EQ(atomic_load(&stress_items[i].runs), 1);
    COMPUTE_UNTIL(atomic_load(&children) == 2 * ((stress_count + 12) / 13));
    uint32_t wanted = (uint32_t)wf_test_workers();
    resize(wanted);
    if (engine_now()->extra_keep_alive_ns == WEFT_NEVER)
        wait_in_service(wanted);
}

TEST(while_the_size_changes_everything_runs_once) {
    stress_count = scaled(60000, 2000);
    for (int i = 0; i < 2; i++) {
        stress_items = calloc((size_t)stress_count, sizeof *stress_items);
        struct wf_runtime_plan plan = {.wanted = 3};
        if (i)
            plan.extra_keep_alive_ns = 100 * WEFT_MICROSECOND;
        run_supplied(plan, stress);
        free(stress_items);
    }
}

static void be_many(void) {
    resize(WF_EXTRA_MAX + 1);
    wait_in_service(WF_EXTRA_MAX + 1);
    add_nothing();
    resize(1);
    wait_in_service(1);
    add_nothing();
}

TEST(a_thousand_processors_come_and_go) {
    if (IS_SANITIZED)
        return; /* threads cost too much there */
    weft_options options = {.workers = 1, .keep_alive = WEFT_MILLISECOND};
    CHECK_EQ(run_supplied_with(&options, (struct wf_runtime_plan){0}, be_many), 7);
}
