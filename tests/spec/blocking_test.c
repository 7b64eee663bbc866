/* SPDX-License-Identifier: MIT
 *
 * spec/blocking_test.c - blocking regions, computations that do not end, and the threads that stand in for both.
 *
 * A call that blocks is a read from an empty pipe, which goes on when the test closes the other end. Whether a processor was
 * taken away is read from weft_get_thread_stats; how soon that happens is not asserted.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/child.h"
#include "support/run.h"

/* A door that is shut until it is lifted; the wait is a system call that weft knows nothing about. */
static int door[2];

static void door_shut(void) {
    CHECK_EQ(pipe2(door, O_CLOEXEC), 0);
}

static void door_wait(void) {
    char byte;
    ssize_t got;
    while ((got = read(door[0], &byte, 1)) < 0)
        CHECK_EQ(errno, EINTR);
    CHECK_EQ(got, 0);
}

static void door_lift(void) {
    close(door[1]);
}

/* When nobody waits any more. */
static void door_drop(void) {
    close(door[0]);
}

static weft_thread_stats thread_stats(void) {
    weft_thread_stats stats;
    CHECK_EQ(weft_get_thread_stats(NULL, &stats), 0);
    return stats;
}

/* Inside a region, by the only fiber that is in one: its processor is somebody else's from here on. */
static void wait_until_taken(uint64_t before) {
    WAIT_UNTIL(thread_stats().takeovers > before);
}

#define COMPUTE_UNTIL(condition) \
    do { \
        weft_time compute_limit = weft_after(PATIENCE_NS); \
        while (!(condition)) { \
            CHECK_LE(weft_now(), compute_limit); \
            sched_yield(); \
        } \
    } while (0)

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

static void *go_on_after_a_takeover(void *arg) {
    char name[32] = "";
    uint64_t before = thread_stats().takeovers;
    CHECK_EQ(weft_set_name("taken"), 0);
    weft_blocking_begin();
    wait_until_taken(before);
    errno = ENOTTY;
    weft_blocking_end();
    CHECK_EQ(errno, ENOTTY); /* the thread is another one now, errno of the call is not */
    CHECK_EQ(weft_get_name(weft_self(), name, sizeof name), 0);
    CHECK_TEXT(name, "taken");
    CHECK_EQ(weft_pin(), 0);
    weft_yield();
    weft_unpin();
    CHECK_EQ(weft_sleep(weft_after(10)), 0);
    errno = EDOM;
    weft_blocking_begin();
    CHECK_EQ(errno, EDOM);
    weft_blocking_end();
    CHECK_EQ(errno, EDOM);
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
    talk_inside(&(struct talk){talk.in, talk.out, talk.ready, WEFT_MUTEX_INIT, WEFT_SEMAPHORE_INIT(0), talk.events,
                               talk.event, false} +
                0);
    weft_chan_free(talk.in);
    weft_chan_free(talk.out);
    weft_chan_free(talk.ready);
    weft_events_free(talk.events);
    return opaque;
}
