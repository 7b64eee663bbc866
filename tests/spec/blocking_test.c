/* SPDX-License-Identifier: MIT
 *
 * spec/blocking_test.c - blocking regions, computations that do not end, and the threads that stand in for both.
 *
 * A call that blocks is a read from an empty pipe, which goes on when the test closes the other end. Whether a processor was
 * taken away is read from weft_get_thread_stats; how soon that happens is not asserted.
 */
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/child.h"
#include "support/door.h"

static void *give_back(void *arg) {
    return arg;
}

static bool is_inside(void) {
    int status = weft_pin();
    if (status == 0)
        weft_unpin();
    CHECK(status == 0 || status == -EBUSY);
    return status == -EBUSY;
}

TEST(on_a_plain_thread_a_region_is_nothing) {
    weft_blocking_end();
    weft_blocking_begin();
    weft_blocking_end();
    weft_blocking_end();
    weft_maybe_yield();
    int value;
    CHECK(weft_blocking(give_back, &value) == &value);
    weft_thread_stats stats;
    weft_hog hog;
    CHECK_EQ(weft_get_thread_stats(NULL, &stats), -ESTALE);
    CHECK_EQ(weft_get_thread_stats(NULL, NULL), -EINVAL);
    CHECK_EQ(weft_get_hogs(NULL, &hog, 1), -ESTALE);
    CHECK_EQ(weft_get_hogs(NULL, NULL, 1), -EINVAL);
}

static void *end_three(void *arg) {
    CHECK(is_inside());
    weft_blocking_begin();
    weft_blocking_end();
    CHECK(is_inside());
    return arg;
}

static void nest_regions(void) {
    uint64_t before = thread_stats().blocking;
    CHECK(!is_inside());
    weft_blocking_begin();
    weft_blocking_begin();
    CHECK(weft_blocking(end_three, &before) == &before);
    weft_blocking_end();
    CHECK(is_inside());
    weft_blocking_end();
    CHECK(!is_inside());
    CHECK_EQ(thread_stats().blocking, before + 1);
    weft_yield();
    CHECK_EQ(weft_sleep(weft_after(10)), 0);
}

TEST(regions_nest_and_the_outermost_counts) {
    run_fibers(nest_regions);
}

static int run_in_replay(void *arg) {
    (void)arg;
    weft_blocking_begin();
    CHECK_EQ(weft_sleep(weft_after(WEFT_SECOND)), 0);
    weft_blocking_end();
    CHECK(weft_blocking(give_back, arg) == arg);
    CHECK_EQ(thread_stats().threads, 1);
    return 0;
}

TEST(in_replay_a_region_changes_nothing) {
    CHECK_EQ(weft_run(&(weft_options){.replay_seed = 7}, run_in_replay, NULL), 0);
}

static int end_without_begin(void *arg) {
    weft_blocking_begin();
    weft_blocking_end();
    weft_blocking_end();
    return (int)(intptr_t)arg;
}

static int return_inside(void *arg) {
    weft_blocking_begin();
    return (int)(intptr_t)arg;
}

static int exit_inside(void *arg) {
    weft_blocking_begin();
    wait_until_taken(0);
    weft_exit(arg);
}

static int begin_in_a_stopped_world(void *arg) {
    CHECK_EQ(weft_world_stop(), 0);
    weft_blocking_begin();
    return (int)(intptr_t)arg;
}

static int block_without_a_function(void *arg) {
    weft_blocking(NULL, arg);
    return 0;
}

struct fatal {
    int (*first)(void *arg);
    const char *message;
};

static void run_fatal(void *arg) {
    const struct fatal *fatal = arg;
    weft_run(NULL, fatal->first, NULL);
}

TEST(rules_of_regions_are_enforced) {
    static const struct fatal fatals[] = {
        {end_without_begin, "weft_blocking_end without a weft_blocking_begin"},
        {return_inside, "a fiber ended inside a blocking region"},
        {exit_inside, "a fiber ended inside a blocking region"},
        {begin_in_a_stopped_world, "began a blocking region while it had the world stopped"},
        {block_without_a_function, "weft_blocking was given no function"},
    };
    for (size_t i = 0; i < sizeof fatals / sizeof fatals[0]; i++) {
        struct child_end end = child_run(run_fatal, (void *)(uintptr_t)&fatals[i]);
        CHECK_CHILD_FATAL(&end, fatals[i].message);
    }
}

static void panic_inside(void *arg) {
    const bool *is_taken = arg;
    uint64_t before = thread_stats().takeovers;
    weft_blocking_begin();
    weft_blocking_begin();
    if (*is_taken)
        wait_until_taken(before);
    weft_panic("inside");
}

static void *panic_and_end(void *arg) {
    panic_inside(arg);
    return arg;
}

static void panic_out_of_regions(void) {
    for (int i = 0; i < 2; i++) {
        bool is_taken = i;
        weft_fiber fiber;
        CHECK_EQ(weft_try(panic_inside, &is_taken, NULL, 0), -EOWNERDEAD);
        CHECK(!is_inside());
        weft_blocking_begin();
        CHECK_EQ(weft_try(panic_inside, &is_taken, NULL, 0), -EOWNERDEAD);
        CHECK(is_inside()); /* that one was begun outside */
        weft_blocking_end();
        CHECK(!is_inside());
        CHECK_EQ(weft_sleep(weft_after(10)), 0);
        SPAWN(&fiber, panic_and_end, &is_taken);
        CHECK_EQ(weft_join(fiber, NULL, WEFT_NEVER), -EOWNERDEAD);
    }
}

TEST(a_panic_closes_the_regions_that_it_leaves) {
    run_fibers_with(&(weft_options){.quiet = true}, panic_out_of_regions);
}

/* Compilers believe that errno stays where it is within a function. */
static __attribute__((noinline)) void put_errno(int value) {
    errno = value;
    __asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) int read_errno(void) {
    __asm__ volatile("" ::: "memory");
    return errno;
}

static void *go_on_after_a_takeover(void *arg) {
    char name[32] = "";
    uint64_t before = thread_stats().takeovers;
    CHECK_EQ(weft_set_name("taken"), 0);
    weft_blocking_begin();
    wait_until_taken(before);
    put_errno(ENOTTY);
    weft_blocking_end();
    CHECK_EQ(read_errno(), ENOTTY); /* the thread is another one now, errno of the call is not */
    CHECK_EQ(weft_get_name(weft_self(), name, sizeof name), 0);
    CHECK_TEXT(name, "taken");
    CHECK_EQ(weft_pin(), 0);
    weft_yield();
    weft_unpin();
    CHECK_EQ(weft_sleep(weft_after(10)), 0);
    put_errno(EDOM);
    weft_blocking_begin();
    CHECK_EQ(read_errno(), EDOM);
    weft_blocking_end();
    CHECK_EQ(read_errno(), EDOM);
    return arg;
}

static void take_and_join(void) {
    for (long i = scaled(20, 3); i > 0; i--) {
        weft_fiber fiber;
        void *result = NULL;
        SPAWN(&fiber, go_on_after_a_takeover, &fiber);
        JOIN(fiber, &result);
        CHECK(result == &fiber);
    }
    CHECK_GE(thread_stats().blocked_ns, 1);
}

TEST(a_fiber_whose_processor_was_taken_goes_on_with_another) {
    run_fibers(take_and_join);
}

static weft_priority seen_priority;

static int note_priority(const weft_fiber_info *info, void *arg) {
    (void)arg;
    if (info->fiber.bits == weft_self().bits)
        seen_priority = info->priority;
    return 0;
}

static void check_priority(weft_priority wanted) {
    CHECK_EQ(weft_each_fiber(NULL, note_priority, NULL), 0);
    CHECK_EQ(seen_priority, wanted);
}

static void change_priority_inside(void) {
    for (int is_taken = 0; is_taken < 2; is_taken++) {
        uint64_t before = thread_stats().takeovers;
        CHECK_EQ(weft_set_priority(WEFT_PRIORITY_LOW), 0);
        weft_blocking_begin();
        if (is_taken)
            wait_until_taken(before);
        check_priority(WEFT_PRIORITY_LOW);
        CHECK_EQ(weft_set_priority(WEFT_PRIORITY_HIGH), 0);
        weft_blocking_end();
        check_priority(WEFT_PRIORITY_HIGH);
    }
}

TEST(a_priority_that_is_set_inside_a_region_stays) {
    run_fibers(change_priority_inside);
}

/* Everything that can be done to another fiber from inside. */
struct talk {
    weft_chan *in, *out, *ready;
    weft_mutex mutex;
    weft_semaphore permits;
    weft_events *events;
    weft_event event;
    bool is_taken;
};

static void *talk_back(void *opaque) {
    struct talk *talk = opaque;
    int value;
    CHECK_EQ(weft_mutex_lock(&talk->mutex, WEFT_NEVER), 0);
    value = 1;
    CHECK_EQ(weft_chan_send(talk->ready, &value, WEFT_NEVER), 0);
    CHECK_EQ(weft_chan_recv(talk->in, &value, WEFT_NEVER), 0);
    value++;
    weft_mutex_unlock(&talk->mutex);
    CHECK_EQ(weft_chan_send(talk->out, &value, WEFT_NEVER), 0);
    CHECK_EQ(weft_event_wait(talk->events, talk->event, NULL, WEFT_NEVER), 0);
    weft_semaphore_release(&talk->permits, 2);
    return opaque;
}

static void talk_inside(struct talk *talk) {
    weft_fiber fiber;
    int value = 0, other = 0;
    void *result = NULL;
    SPAWN(&fiber, talk_back, talk);
    CHECK_EQ(weft_chan_recv(talk->ready, &value, WEFT_NEVER), 0);
    value = 40;
    CHECK_EQ(weft_chan_send(talk->in, &value, WEFT_NEVER), 0);
    CHECK_EQ(weft_mutex_lock(&talk->mutex, WEFT_NEVER), 0);
    weft_mutex_unlock(&talk->mutex);
    weft_case cases[] = {weft_on_receive(talk->in, &other), weft_on_receive(talk->out, &value)};
    CHECK_EQ(weft_select(cases, 2, WEFT_NEVER), 1);
    CHECK_EQ(value, 41);
    CHECK_EQ(weft_event_trigger(talk->events, talk->event), 0);
    CHECK_EQ(weft_semaphore_acquire(&talk->permits, 2, WEFT_NEVER), 0);
    JOIN(fiber, &result);
    CHECK(result == talk);
    weft_time moment = weft_after(WEFT_MILLISECOND);
    CHECK_EQ(weft_sleep(moment), 0);
    CHECK_GE(weft_now(), moment);
    CHECK_EQ(weft_chan_recv(talk->in, &value, weft_after(10)), -ETIMEDOUT);
    CHECK_EQ(weft_world_stop(), -EPERM);
    CHECK_EQ(weft_bind(NULL), -EBUSY);
}

static void *talk_main(void *opaque) {
    struct talk talk = {.mutex = WEFT_MUTEX_INIT, .permits = WEFT_SEMAPHORE_INIT(0), .is_taken = *(bool *)opaque};
    uint64_t before = thread_stats().takeovers;
    CHECK_EQ(weft_events_new(&talk.events, NULL), 0);
    CHECK_EQ(weft_event_new(talk.events, &talk.event, WEFT_NEVER), 0);
    CHECK_EQ(weft_chan_new(&talk.in, sizeof(int), 0), 0);
    CHECK_EQ(weft_chan_new(&talk.out, sizeof(int), 0), 0);
    CHECK_EQ(weft_chan_new(&talk.ready, sizeof(int), 0), 0);
    weft_blocking_begin();
    if (talk.is_taken)
        wait_until_taken(before);
    talk_inside(&talk);
    weft_blocking_end();
    weft_chan_free(talk.in);
    weft_chan_free(talk.out);
    weft_chan_free(talk.ready);
    weft_events_free(talk.events);
    return opaque;
}

static void talk_in_every_way(void) {
    for (long i = scaled(20, 4); i > 0; i--) {
        bool is_taken = i % 2;
        weft_fiber fiber;
        SPAWN(&fiber, talk_main, &is_taken);
        JOIN(fiber, NULL);
    }
}

TEST(whatever_waits_inside_a_region_waits_with_its_thread) {
    run_fibers(talk_in_every_way);
}

static int wait_inside_for_ever(void *arg) {
    int value, is_taken = (int)(intptr_t)arg;
    weft_chan *chan;
    uint64_t before = thread_stats().takeovers;
    CHECK_EQ(weft_chan_new(&chan, sizeof value, 0), 0);
    weft_blocking_begin();
    if (is_taken)
        wait_until_taken(before);
    CHECK_EQ(weft_chan_recv(chan, &value, WEFT_NEVER), -ECANCELED);
    CHECK_EQ(weft_sleep(weft_after(1000 * PATIENCE_NS)), -ECANCELED);
    weft_blocking_end();
    CHECK_EQ(weft_sleep(weft_after(1000 * PATIENCE_NS)), -ECANCELED);
    weft_chan_free(chan);
    return 0;
}

static void cancel_inside(void) {
    for (intptr_t is_taken = 0; is_taken < 2; is_taken++) {
        uint64_t before = thread_stats().blocking;
        weft_scope *scope;
        CHECK_EQ(weft_scope_open(&scope, NULL), 0);
        CHECK_EQ(weft_scope_go(scope, wait_inside_for_ever, (void *)is_taken), 0);
        WAIT_UNTIL(thread_stats().blocking > before);
        weft_scope_cancel(scope, -ECANCELED, NULL);
        weft_scope_close(scope);
    }
}

TEST(a_wait_inside_a_region_can_be_cancelled) {
    run_fibers(cancel_inside);
}

static atomic_int has_run;

static void *say_has_run(void *arg) {
    atomic_store(&has_run, 1);
    return arg;
}

static void *wait_for_the_other(void *arg) {
    CHECK_EQ(thread_stats().takeovers, *(uint64_t *)arg + 1); /* before anything else has happened */
    COMPUTE_UNTIL(atomic_load(&has_run));
    return NULL;
}

static void hand_over_at_once(void) {
    for (long i = scaled(50, 5); i > 0; i--) {
        weft_fiber fiber;
        uint64_t before = thread_stats().takeovers;
        atomic_store(&has_run, 0);
        SPAWN(&fiber, say_has_run, NULL);
        weft_blocking(wait_for_the_other, &before);
        JOIN(fiber, NULL);
    }
    uint64_t before = thread_stats().takeovers;
    int value;
    CHECK(weft_blocking(give_back, &value) == &value); /* nobody else is there */
    CHECK_EQ(thread_stats().takeovers, before);
}

TEST(a_call_known_to_be_long_gives_its_processor_away_at_once) {
    run_fibers_with(&(weft_options){.workers = 1}, hand_over_at_once);
}

static atomic_int began;
static atomic_int came_out;

static void *wait_at_the_door(void *arg) {
    weft_blocking_begin();
    atomic_fetch_add(&began, 1);
    door_wait();
    weft_blocking_end();
    atomic_fetch_add(&came_out, 1);
    return arg;
}

static void *wait_in_a_channel_bound(void *arg) {
    int value;
    CHECK_EQ(weft_bind(NULL), 0);
    atomic_fetch_add(&began, 1);
    CHECK_EQ(weft_chan_recv(arg, &value, WEFT_NEVER), 0);
    atomic_fetch_add(&came_out, 1);
    return arg;
}

struct census {
    int running;
    int parked;
    int with_stack;
};

static int count_fiber(const weft_fiber_info *info, void *arg) {
    struct census *census = arg;
    census->running += info->state == WEFT_FIBER_RUNNING;
    census->parked += info->state == WEFT_FIBER_PARKED;
    census->with_stack += info->stack_low != NULL;
    return 0;
}

/* Nobody comes out while the world is stopped, though the door is open and the message is there. */
static void stop_the_world_around(bool must_be_taken) {
    enum { INSIDE = 3 };
    struct census census = {0};
    weft_fiber fibers[INSIDE + 1];
    weft_chan *chan;
    uint64_t before = thread_stats().takeovers;
    atomic_store(&began, 0);
    atomic_store(&came_out, 0);
    door_shut();
    CHECK_EQ(weft_chan_new(&chan, sizeof(int), 1), 0);
    SPAWN(&fibers[INSIDE], wait_in_a_channel_bound, chan);
    for (int i = 0; i < INSIDE; i++)
        SPAWN(&fibers[i], wait_at_the_door, NULL);
    WAIT_UNTIL(atomic_load(&began) == INSIDE + 1);
    if (must_be_taken)
        WAIT_UNTIL(thread_stats().takeovers >= before + INSIDE);
    WAIT_UNTIL(thread_stats().bound_parks > 0);
    CHECK_EQ(weft_world_stop(), 0);
    CHECK_EQ(weft_each_fiber(NULL, count_fiber, &census), 0);
    CHECK_GE(census.running, 1 + INSIDE);
    CHECK_GE(census.with_stack, 2);
    int value = 3;
    CHECK_EQ(weft_chan_send(chan, &value, WEFT_NOW), 0);
    door_lift();
    for (int i = 0; i < 200; i++) {
        sched_yield();
        CHECK_EQ(atomic_load(&came_out), 0);
    }
    weft_world_start();
    for (int i = 0; i < INSIDE + 1; i++)
        JOIN(fibers[i], NULL);
    CHECK_EQ(atomic_load(&came_out), INSIDE + 1);
    weft_chan_free(chan);
    door_drop();
}

static void stop_the_world_with_regions(void) {
    for (long i = scaled(10, 2); i > 0; i--)
        stop_the_world_around(i % 2);
}

TEST(a_stopped_world_holds_those_who_come_out_of_a_region) {
    run_fibers(stop_the_world_with_regions);
}

static void dump_with_regions(void) {
    weft_fiber fibers[6];
    int file = memfd_create("dump", MFD_CLOEXEC);
    char text[8192] = "";
    CHECK_GE(file, 0);
    atomic_store(&began, 0);
    door_shut();
    for (int i = 0; i < 6; i++)
        SPAWN(&fibers[i], wait_at_the_door, NULL);
    WAIT_UNTIL(atomic_load(&began) >= 1);
    for (int i = 0; i < 5; i++)
        CHECK_EQ(weft_dump(NULL, file), 0);
    weft_blocking_begin();
    int status = weft_dump(NULL, file);
    CHECK(status == 0 || status == -EPERM);
    weft_blocking_end();
    CHECK_GE(pread(file, text, sizeof text - 1, 0), 1);
    CHECK(strstr(text, "wait_at_the_door"));
    door_lift();
    for (int i = 0; i < 6; i++)
        JOIN(fibers[i], NULL);
    close(file);
    door_drop();
}

TEST(a_dump_is_taken_while_others_are_inside_regions) {
    run_fibers(dump_with_regions);
}

static atomic_long fired;

static void *sleep_shortly(void *arg) {
    CHECK_EQ(weft_sleep(weft_after(10 * WEFT_MILLISECOND)), 0);
    atomic_fetch_add(&fired, 1);
    return arg;
}

static void *block_without_a_word(void *arg) {
    atomic_fetch_add(&began, 1);
    door_wait();
    atomic_fetch_add(&came_out, 1);
    return arg;
}

/* Every worker is in a call; timers fire all the same, before any of the calls has returned. */
static void fire_timers_beside(weft_fn block, unsigned extra) {
    weft_stats stats;
    weft_fiber *fibers;
    long timers = scaled(1000, 100);
    CHECK_EQ(weft_get_stats(NULL, &stats), 0);
    unsigned count = stats.workers + extra;
    fibers = calloc(count, sizeof *fibers);
    atomic_store(&began, 0);
    atomic_store(&came_out, 0);
    atomic_store(&fired, 0);
    door_shut();
    for (unsigned i = 0; i < count; i++)
        SPAWN(&fibers[i], block, NULL);
    for (long i = 0; i < timers; i++)
        CHECK_EQ(weft_go(sleep_shortly, NULL), 0);
    while (atomic_load(&fired) < timers)
        CHECK_EQ(weft_sleep(weft_after(WEFT_MILLISECOND)), 0);
    WAIT_UNTIL(atomic_load(&began) == (int)count);
    CHECK_EQ(atomic_load(&came_out), 0);
    door_lift();
    for (unsigned i = 0; i < count; i++)
        JOIN(fibers[i], NULL);
    free(fibers);
    door_drop();
    wait_until_threads_are_gone();
}

static void fire_timers_beside_regions(void) {
    fire_timers_beside(wait_at_the_door, 0);
    fire_timers_beside(wait_at_the_door, 10);
}

static const weft_options impatient = {.keep_alive = WEFT_MILLISECOND};

TEST(timers_fire_while_every_worker_is_in_a_blocking_call) {
    run_fibers_with(&impatient, fire_timers_beside_regions);
}

static void fire_timers_beside_calls(void) {
    fire_timers_beside(block_without_a_word, 0);
    CHECK_GE(thread_stats().hogs, 1);
}

TEST(timers_fire_while_every_worker_is_in_a_call_that_nobody_announced) {
    run_fibers_with(&impatient, fire_timers_beside_calls);
}

static void fork_inside(void) {
    for (int is_taken = 0; is_taken < 2; is_taken++) {
        int status = 0;
        uint64_t before = thread_stats().takeovers;
        weft_blocking_begin();
        if (is_taken)
            wait_until_taken(before);
        pid_t pid = fork();
        CHECK_GE(pid, 0);
        if (pid == 0) { /* a plain thread now */
            weft_blocking_end();
            weft_blocking_end();
            _exit(weft_self().bits == 0 && weft_go(give_back, NULL) == -ESRCH ? 23 : 1);
        }
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        weft_blocking_end();
        CHECK(WIFEXITED(status));
        CHECK_EQ(WEXITSTATUS(status), 23);
        CHECK_EQ(weft_sleep(weft_after(WEFT_MILLISECOND)), 0);
    }
}

TEST(the_child_of_a_fork_inside_a_region_is_outside) {
    run_fibers(fork_inside);
}
