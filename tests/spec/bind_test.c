/* SPDX-License-Identifier: MIT
 *
 * spec/bind_test.c - fibers with a thread of their own: weft_bind and the spawn options that concern threads.
 *
 * A bound fiber stays on one thread whatever it waits for, and waits for everything that others can wait for, with light
 * fibers, plain threads and other bound fibers on the other side. Whether the system allows a niceness or a priority depends
 * on who runs the suite: -EPERM is then the right answer, and nothing may have changed. What a bound fiber is to the rest of
 * the runtime (pictures, deadlocks, the end) is in unit/fiber/alone_test.c; foreign calls are in spec/foreign_test.c.
 */
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/parked.h"
#include "weft/local.h"
#include "weft/timer.h"

static const weft_spawn_options bound = {.bound = true};
static const weft_options one_worker = {.workers = 1};

static weft_semaphore go_on;

static long thread_id(void) {
    return syscall(SYS_gettid);
}

static weft_thread_stats stats_now(void) {
    weft_thread_stats stats;
    CHECK_EQ(weft_get_thread_stats(NULL, &stats), 0);
    return stats;
}

static weft_fiber spawn_bound(weft_fn fn, void *arg) {
    weft_fiber fiber;
    CHECK_EQ(weft_spawn_with(&fiber, &bound, fn, arg), 0);
    return fiber;
}

static void *give_back(void *arg) {
    return arg;
}

static weft_chan *questions;
static weft_chan *answers;

static void *answer_all(void *arg) {
    int value;
    while (weft_chan_recv(questions, &value, WEFT_NEVER) == 0)
        CHECK_EQ(weft_chan_send(answers, &value, WEFT_NEVER), 0);
    return arg;
}

static void ask_and_stay(void) {
    weft_fiber partner;
    CHECK_EQ(weft_chan_new(&questions, sizeof(int), 0), 0);
    CHECK_EQ(weft_chan_new(&answers, sizeof(int), 0), 0);
    SPAWN(&partner, answer_all, NULL);
    CHECK(!weft_is_bound());
    CHECK_EQ(weft_bind(NULL), 0);
    CHECK(weft_is_bound());
    long thread = thread_id();
    for (int i = 0; i < (int)scaled(100000, 1000); i++) {
        int value = -1;
        CHECK_EQ(weft_chan_send(questions, &i, WEFT_NEVER), 0);
        CHECK_EQ(weft_chan_recv(answers, &value, WEFT_NEVER), 0);
        CHECK_EQ(value, i);
        CHECK_EQ(thread_id(), thread);
    }
    weft_thread_stats stats = stats_now();
    CHECK_GE(stats.bound_parks + stats.bound_spins, 1);
    CHECK_EQ(weft_unbind(), 0);
    CHECK(!weft_is_bound());
    CHECK_EQ(weft_chan_close(questions), 0);
    JOIN(partner, NULL);
    weft_chan_free(questions);
    weft_chan_free(answers);
}

TEST(a_bound_fiber_stays_on_its_thread_over_many_waits) {
    run_fibers(ask_and_stay);
}

static atomic_int light_rounds;
static atomic_int is_over;

static void *count_rounds(void *arg) {
    while (!atomic_load(&is_over)) {
        atomic_fetch_add(&light_rounds, 1);
        weft_yield();
    }
    return arg;
}

static void compute_beside_others(void) {
    weft_fiber light;
    atomic_store(&light_rounds, 0);
    atomic_store(&is_over, 0);
    CHECK_EQ(weft_bind(NULL), 0);
    SPAWN(&light, count_rounds, NULL);
    while (atomic_load(&light_rounds) < 1000) /* without calling weft */
        sched_yield();
    atomic_store(&is_over, 1);
    JOIN(light, NULL);
    CHECK_EQ(stats_now().hogs, 0);
}

TEST(others_run_while_a_bound_fiber_computes) {
    run_fibers(compute_beside_others);
    run_fibers_with(&one_worker, compute_beside_others);
}

static void bind_and_unbind_in_every_wrong_way(void) {
    CHECK_EQ(weft_unbind(), -EPERM);
    CHECK_EQ(weft_bind(NULL), 0);
    long thread = thread_id();
    CHECK_EQ(weft_bind(NULL), 0);
    CHECK_EQ(weft_bind(&(weft_bind_options){.nice = 3}), 0); /* the outermost counts */
    CHECK_EQ(weft_unbind(), 0);
    CHECK_EQ(weft_unbind(), 0);
    CHECK(weft_is_bound());
    CHECK_EQ(thread_id(), thread);
    CHECK_EQ(stats_now().bound, 1);
    CHECK_EQ(weft_pin(), 0);
    CHECK_EQ(weft_unbind(), -EBUSY);
    weft_unpin();
    weft_blocking_begin();
    CHECK_EQ(weft_unbind(), -EBUSY);
    CHECK_EQ(weft_bind(NULL), -EBUSY);
    weft_blocking_end();
    CHECK_EQ(weft_unbind(), 0);
    CHECK_EQ(weft_unbind(), -EPERM);
    CHECK_EQ(stats_now().bound, 0);
    CHECK_EQ(stats_now().bindings, 1);
    weft_blocking_begin();
    CHECK_EQ(weft_bind(NULL), -EBUSY);
    weft_blocking_end();
    CHECK_EQ(weft_world_stop(), 0);
    CHECK_EQ(weft_bind(NULL), -EBUSY);
    weft_world_start();
    CHECK_EQ(weft_bind(NULL), 0);
    CHECK_EQ(weft_world_stop(), -EPERM);
} /* and the end unbinds */

TEST(binds_nest_and_misuse_is_refused) {
    run_fibers(bind_and_unbind_in_every_wrong_way);
    run_fibers_with(&one_worker, bind_and_unbind_in_every_wrong_way);
}

static void *nest_in_a_fiber_that_began_bound(void *arg) {
    CHECK(weft_is_bound());
    CHECK_EQ(weft_bind(NULL), 0);
    CHECK_EQ(weft_unbind(), 0);
    CHECK(weft_is_bound()); /* as it was before the pair */
    CHECK_EQ(weft_unbind(), 0);
    CHECK(!weft_is_bound());
    return arg;
}

static void nest_in_bound_child(void) {
    JOIN(spawn_bound(nest_in_a_fiber_that_began_bound, NULL), NULL);
}

TEST(a_pair_inside_a_fiber_that_began_bound_leaves_it_bound) {
    run_fibers(nest_in_bound_child);
}

TEST(a_plain_thread_is_not_bound_and_cannot_be) {
    CHECK_EQ(weft_bind(NULL), -EPERM);
    CHECK_EQ(weft_unbind(), -EPERM);
    CHECK(!weft_is_bound());
}

static void bind_with_wrong_options(void) {
    static const char *const wrong[] = {"", "x", "1-", "-1", "3-1", "0,", ",0", "0 1", "0-1-2", "99999999", "+1"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        CHECK_EQ(weft_bind(&(weft_bind_options){.cpus = wrong[i]}), -EINVAL);
    CHECK_EQ(weft_bind(&(weft_bind_options){.nice = 20}), -EINVAL);
    CHECK_EQ(weft_bind(&(weft_bind_options){.nice = -21}), -EINVAL);
    CHECK_EQ(weft_bind(&(weft_bind_options){.real_time = 100}), -EINVAL);
    CHECK_EQ(weft_bind(&(weft_bind_options){.cpus = "1023"}), -EINVAL); /* which this machine has not */
    CHECK(!weft_is_bound());
    CHECK_EQ(stats_now().bound, 0);
}

TEST(wrong_options_are_refused_and_change_nothing) {
    cpu_set_t set;
    CHECK_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    if (!CPU_ISSET(1023, &set))
        run_fibers(bind_with_wrong_options);
}

/* What the kernel knows about a thread; is_there is false when it has ended. */
struct manner {
    bool is_there;
    int nice;
    int policy;
    cpu_set_t cpus;
};

static struct manner manner_of(long thread) {
    struct manner manner = {0};
    errno = 0;
    manner.nice = getpriority(PRIO_PROCESS, (id_t)thread);
    manner.is_there = errno == 0;
    manner.policy = sched_getscheduler((pid_t)thread);
    manner.is_there &= sched_getaffinity((pid_t)thread, sizeof manner.cpus, &manner.cpus) == 0;
    return manner;
}

static bool is_as_before(long thread, const struct manner *before) {
    struct manner now = manner_of(thread);
    return !now.is_there ||
           (now.nice == before->nice && now.policy == before->policy && CPU_EQUAL(&now.cpus, &before->cpus));
}

/* Whether the options could be had. What could be had is there, and gone when the binding is. */
static bool bind_with(const weft_bind_options *options, int cpu) {
    struct manner before = manner_of(thread_id());
    int error = weft_bind(options);
    if (error) {
        CHECK_EQ(error, -EPERM);
        CHECK(!weft_is_bound());
        return false;
    }
    long thread = thread_id();
    struct manner now = manner_of(thread);
    CHECK_EQ(now.nice, options->real_time ? now.nice : options->nice ? options->nice : before.nice);
    CHECK_EQ(now.policy & ~SCHED_RESET_ON_FORK, options->real_time ? SCHED_FIFO : before.policy);
    if (options->cpus) {
        CHECK_EQ(CPU_COUNT(&now.cpus), 1);
        CHECK(CPU_ISSET(cpu, &now.cpus));
    }
    CHECK_EQ(weft_sleep(weft_after(WEFT_MICROSECOND)), 0);
    CHECK_EQ(thread_id(), thread);
    CHECK_EQ(weft_unbind(), 0);
    WAIT_UNTIL(is_as_before(thread, &before));
    now = manner_of(thread_id()); /* nor has a thread that was made meanwhile inherited anything */
    CHECK_EQ(now.nice, before.nice);
    CHECK_EQ(now.policy, before.policy);
    CHECK(CPU_EQUAL(&now.cpus, &before.cpus));
    return true;
}

static void bind_with_each_option(void) {
    cpu_set_t set;
    char text[16];
    int cpu = 0;
    CHECK_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    while (!CPU_ISSET(cpu, &set))
        cpu++;
    snprintf(text, sizeof text, "%d", cpu);
    struct manner first = manner_of(getpid());
    CHECK(bind_with(&(weft_bind_options){0}, 0));
    CHECK(bind_with(&(weft_bind_options){.cpus = text}, cpu));
    CHECK(bind_with(&(weft_bind_options){.nice = 7}, 0));
    bind_with(&(weft_bind_options){.nice = -7}, 0);
    bind_with(&(weft_bind_options){.real_time = 3}, 0);
    bind_with(&(weft_bind_options){.cpus = text, .nice = 4, .real_time = 99}, cpu);
    CHECK(is_as_before(getpid(), &first)); /* the program's own thread was left alone */
    CHECK_EQ(stats_now().bound, 0);
}

TEST(options_are_those_of_the_thread_while_the_binding_lasts) {
    run_fibers(bind_with_each_option);
    run_fibers_with(&one_worker, bind_with_each_option);
}

static void *end_with_options(void *arg) {
    CHECK_EQ(weft_bind(&(weft_bind_options){.nice = 9}), 0);
    *(long *)arg = thread_id();
    return arg;
}

static void end_while_bound_with_options(void) {
    struct manner before = manner_of(thread_id());
    weft_fiber fiber;
    long thread = 0;
    SPAWN(&fiber, end_with_options, &thread);
    JOIN(fiber, NULL);
    WAIT_UNTIL(is_as_before(thread, &before));
    CHECK_EQ(stats_now().bound, 0);
}

TEST(the_end_of_the_fiber_undoes_the_options) {
    run_fibers(end_while_bound_with_options);
}

static void *note_manner(void *arg) {
    *(struct manner *)arg = manner_of(thread_id());
    CHECK_EQ(weft_semaphore_acquire(&go_on, 1, WEFT_NEVER), 0);
    return arg;
}

/* Threads that are made for others by a thread with options are plain ones. */
static void spawn_from_a_thread_with_options(void) {
    enum { CHILDREN = 5 };
    weft_fiber fibers[CHILDREN];
    struct manner manners[CHILDREN], before = manner_of(thread_id());
    const weft_bind_options options[] = {{.nice = 11}, {.real_time = 4}};
    for (int kind = 0; kind < 2; kind++) {
        int error = weft_bind(&options[kind]);
        CHECK(error == 0 || (error == -EPERM && options[kind].real_time));
        go_on = (weft_semaphore)WEFT_SEMAPHORE_INIT(0);
        for (int i = 0; i < CHILDREN; i++)
            fibers[i] = spawn_bound(note_manner, &manners[i]);
        weft_semaphore_release(&go_on, CHILDREN);
        for (int i = 0; i < CHILDREN; i++) {
            JOIN(fibers[i], NULL);
            CHECK(manners[i].nice == before.nice || (geteuid() != 0 && manners[i].nice == 11));
            CHECK_EQ(manners[i].policy, before.policy);
            CHECK(CPU_EQUAL(&manners[i].cpus, &before.cpus));
        }
        if (!error)
            CHECK_EQ(weft_unbind(), 0);
    }
}

TEST(threads_made_by_a_thread_with_options_do_not_inherit_them) {
    run_fibers(spawn_from_a_thread_with_options);
}

static void bind_the_thread_of_weft_run(void) {
    CHECK_EQ(thread_id(), getpid());
    CHECK_EQ(weft_bind(NULL), 0);
    CHECK_EQ(thread_id(), getpid()); /* it stays where it is */
    CHECK_EQ(weft_sleep(weft_after(WEFT_MICROSECOND)), 0);
    CHECK_EQ(thread_id(), getpid());
    CHECK_EQ(weft_unbind(), 0);
    CHECK_EQ(weft_pin(), 0);
    if (thread_id() == getpid())
        CHECK_EQ(weft_bind(&(weft_bind_options){.nice = 2}), -EBUSY); /* would have to move */
    weft_unpin();
    CHECK_EQ(weft_bind(&(weft_bind_options){.nice = 2}), 0);
    CHECK_NE(thread_id(), getpid());
    CHECK_EQ(weft_unbind(), 0);
    CHECK_EQ(weft_bind(NULL), 0);
}

TEST(the_thread_of_weft_run_can_be_bound_but_not_changed) {
    run_fibers_with(&one_worker, bind_the_thread_of_weft_run);
}

struct pinned_one {
    long before, after;
    weft_fiber fiber;
};

static void *wait_pinned(void *opaque) {
    struct pinned_one *one = opaque;
    one->before = thread_id();
    CHECK_EQ(weft_semaphore_acquire(&go_on, 1, WEFT_NEVER), 0);
    one->after = thread_id();
    return opaque;
}

static void *bind_pinned_beside_another(void *arg) {
    CHECK_EQ(weft_bind(NULL), -EBUSY);
    CHECK(!weft_is_bound());
    weft_unpin();
    return arg;
}

static void *bind_pinned_alone(void *arg) {
    CHECK_EQ(weft_bind(NULL), 0);
    long thread = thread_id();
    CHECK_EQ(weft_unbind(), -EBUSY);
    weft_yield();
    CHECK_EQ(thread_id(), thread);
    weft_unpin();
    CHECK_EQ(weft_unbind(), 0);
    return arg;
}

static void bind_beside_pinned_ones(void) {
    const weft_spawn_options pinned = {.home = 1, .pinned = true};
    struct pinned_one one;
    weft_fiber other;
    go_on = (weft_semaphore)WEFT_SEMAPHORE_INIT(0);
    CHECK_EQ(weft_spawn_with(&other, &pinned, bind_pinned_alone, NULL), 0);
    JOIN(other, NULL);
    CHECK_EQ(weft_spawn_with(&one.fiber, &pinned, wait_pinned, &one), 0);
    wait_parked(one.fiber);
    CHECK_EQ(weft_spawn_with(&other, &pinned, bind_pinned_beside_another, NULL), 0);
    JOIN(other, NULL);
    long thread = thread_id();
    CHECK_EQ(weft_bind(NULL), 0);
    if (thread == one.before)
        CHECK_NE(thread_id(), thread); /* the pinned one needs that thread */
    weft_semaphore_release(&go_on, 1);
    JOIN(one.fiber, NULL);
    CHECK_EQ(one.after, one.before);
}

TEST(a_thread_that_others_are_pinned_to_is_left_to_them) {
    run_fibers(bind_beside_pinned_ones);
    run_fibers_with(&one_worker, bind_beside_pinned_ones);
}

static void *check_bound_start(void *arg) {
    CHECK(weft_is_bound());
    long thread = thread_id();
    CHECK_EQ(weft_sleep(weft_after(WEFT_MICROSECOND)), 0);
    CHECK_EQ(thread_id(), thread);
    return arg;
}

static void *check_real_time_start(void *arg) {
    CHECK(weft_is_bound());
    int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
    CHECK(policy == SCHED_FIFO || policy == SCHED_OTHER);
    return arg;
}

static void *check_pinned_start(void *arg) {
    CHECK(!weft_is_bound());
    long thread = thread_id();
    for (int i = 0; i < 100; i++) {
        weft_yield();
        CHECK_EQ(thread_id(), thread);
    }
    weft_unpin();
    return arg;
}

static void spawn_every_way(void) {
    static const weft_spawn_options wrong[] = {
        {.pinned = true},
        {.bound = true, .home = 1},
        {.real_time = 100},
        {.home = UINT32_MAX},
        {.real_time = 5, .home = 1},
        {.bound = true, .pinned = true},
        {.bound = true, .home = 1, .pinned = true},
        {.home = 1025, .pinned = true},
    };
    weft_fiber fiber = WEFT_NO_FIBER;
    void *result = NULL;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        CHECK_EQ(weft_spawn_with(&fiber, &wrong[i], give_back, NULL), -EINVAL);
    CHECK_EQ(fiber.bits, 0);
    JOIN(spawn_bound(check_bound_start, NULL), NULL);
    CHECK_EQ(weft_spawn_with(&fiber, &(weft_spawn_options){.real_time = 2}, check_real_time_start, &fiber), 0);
    JOIN(fiber, &result);
    CHECK(result == &fiber);
    for (unsigned home = 1; home <= wf_test_workers(); home++) {
        const weft_spawn_options options = {.home = home};
        const weft_spawn_options pinned = {.home = home, .pinned = true, .name = "pinned"};
        CHECK_EQ(weft_spawn_with(&fiber, &options, give_back, NULL), 0);
        JOIN(fiber, NULL);
        CHECK_EQ(weft_spawn_with(&fiber, &pinned, check_pinned_start, NULL), 0);
        JOIN(fiber, NULL);
    }
    CHECK_EQ(weft_spawn_with(NULL, &(weft_spawn_options){.bound = true, .detached = true}, check_bound_start, NULL), 0);
}

static void *spawn_from_a_thread(void *arg) {
    JOIN(spawn_bound(check_bound_start, arg), NULL);
    return NULL;
}

static void spawn_bound_from_a_thread(void) {
    on_thread(spawn_from_a_thread, NULL);
    CHECK_EQ(weft_bind(NULL), 0);
    spawn_from_a_thread(NULL); /* and from a bound fiber */
}

TEST(spawn_options_say_where_a_fiber_begins) {
    run_fibers(spawn_every_way);
    run_fibers(spawn_bound_from_a_thread);
}

enum { MANY = IS_SANITIZED ? 300 : 1000 };
static atomic_int arrived;

static void *wait_for_the_end(void *arg) {
    long thread = thread_id();
    CHECK(weft_is_bound());
    atomic_fetch_add(&arrived, 1);
    CHECK_EQ(weft_semaphore_acquire(&go_on, 1, WEFT_NEVER), 0);
    CHECK_EQ(thread_id(), thread);
    return arg;
}

static void bind_as_many_as_there_may_be(void) {
    static weft_fiber fibers[MANY];
    weft_fiber one_more = WEFT_NO_FIBER;
    void *result;
    go_on = (weft_semaphore)WEFT_SEMAPHORE_INIT(0);
    atomic_store(&arrived, 0);
    for (int i = 0; i < MANY; i++)
        fibers[i] = spawn_bound(wait_for_the_end, &fibers[i]);
    WAIT_UNTIL(atomic_load(&arrived) == MANY);
    CHECK_EQ(stats_now().bound, MANY);
    CHECK_EQ(weft_spawn_with(&one_more, &bound, give_back, NULL), -EAGAIN);
    CHECK_EQ(weft_bind(NULL), -EAGAIN);
    CHECK_EQ(one_more.bits, 0);
    CHECK(!weft_is_bound());
    for (long i = scaled(100000, 1000); i > 0; i--)
        CHECK_EQ(weft_go(give_back, NULL), 0); /* the light ones go on */
    weft_semaphore_release(&go_on, MANY);
    for (int i = 0; i < MANY; i++) {
        JOIN(fibers[i], &result);
        CHECK(result == &fibers[i]);
    }
    CHECK_EQ(stats_now().bound, 0);
    CHECK_EQ(stats_now().bound_peak, MANY);
    CHECK_EQ(stats_now().bindings, MANY);
    CHECK_EQ(weft_bind(NULL), 0);
    CHECK_EQ(weft_unbind(), 0);
    WAIT_UNTIL(stats_now().threads <= wf_test_workers() + 2); /* 2: the monitor, and the thread of weft_run */
    CHECK_GE(stats_now().deaths, MANY / 2);
}

TEST(as_many_as_max_bound_are_bound_at_once_and_their_threads_go) {
    weft_options options = {.max_bound = MANY, .keep_alive = WEFT_MILLISECOND};
    run_fibers_with(&options, bind_as_many_as_there_may_be);
}

static weft_key key;
static atomic_int released;

static void release(void *value) {
    atomic_fetch_add(&released, (int)(intptr_t)value);
}

/* Calls of their own: compilers believe that errno stays where it is. */
static __attribute__((noinline)) int read_errno(void) {
    __asm__ volatile("");
    return errno;
}

static __attribute__((noinline)) void write_errno(int value) {
    __asm__ volatile("");
    errno = value;
}

static void *keep_what_is_its_own(void *arg) {
    CHECK_EQ(weft_local_set(key, (void *)10), 0);
    CHECK_EQ(weft_defer(release, (void *)1), 0);
    CHECK_EQ(weft_bind(NULL), 0);
    write_errno(77);
    CHECK_EQ(weft_sleep(weft_after(WEFT_MICROSECOND)), 0);
    CHECK_EQ(read_errno(), 77);
    CHECK((intptr_t)weft_local_get(key) == 10);
    CHECK_EQ(weft_defer(release, (void *)2), 0);
    if (arg)
        weft_exit(NULL);
    CHECK_EQ(weft_unbind(), 0);
    CHECK_EQ(read_errno(), 77);
    CHECK((intptr_t)weft_local_get(key) == 10);
    return NULL;
}

static void keep_locals_and_errno(void) {
    weft_fiber fiber;
    CHECK_EQ(weft_key_new(&key, release), 0);
    for (intptr_t i = 0; i < 2; i++) {
        atomic_store(&released, 0);
        SPAWN(&fiber, keep_what_is_its_own, (void *)i);
        JOIN(fiber, NULL);
        CHECK_EQ(atomic_load(&released), 13);
    }
    CHECK_EQ(weft_key_free(key), 0);
}

TEST(locals_errno_and_deferred_calls_are_kept_by_bound_fibers) {
    run_fibers(keep_locals_and_errno);
}
