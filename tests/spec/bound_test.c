/* SPDX-License-Identifier: MIT
 *
 * spec/bound_test.c - bound fibers as the rest of the runtime sees them: in pictures, in deadlocks, at the end.
 *
 * A bound fiber may run, sleep on its own stack, or sleep inside a callback on the stack of its thread, where objects may lie
 * that others wait for. Each of these is listed, dumped, found to be in a deadlock, dropped with its runtime, replayed, forked
 * from, and woken from another runtime; on a thread of weft's and on the one that called weft_run.
 */
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/child.h"
#include "support/parked.h"

static const weft_spawn_options bound = {.bound = true, .name = "bound one"};

static long thread_id(void) {
    return syscall(SYS_gettid);
}

static weft_fiber spawn_bound(weft_fn fn, void *arg) {
    weft_fiber fiber;
    CHECK_EQ(weft_spawn_with(&fiber, &bound, fn, arg), 0);
    return fiber;
}

enum manner { ON_ITS_STACK, IN_A_CALLBACK, INSIDE_A_CALL, COMPUTING, MANNERS };

static weft_semaphore never;
static weft_semaphore let_go;
static atomic_int spins;
static atomic_int is_over;

static __attribute__((noinline)) void wait_where_it_is_seen(void *arg) {
    CHECK_EQ(weft_semaphore_acquire(arg, 1, WEFT_NEVER), 0);
    __asm__ volatile("" ::: "memory"); /* no tail call: the frame stays */
}

static void compute_until_over(void *arg) {
    (void)arg;
    atomic_fetch_add(&spins, 1);
    while (!atomic_load(&is_over))
        sched_yield();
}

static void *be_there(void *arg) {
    switch ((enum manner)(intptr_t)arg) {
    case ON_ITS_STACK:
        wait_where_it_is_seen(&let_go);
        break;
    case IN_A_CALLBACK:
        CHECK_EQ(weft_ffi_call(wait_where_it_is_seen, &let_go), 0);
        break;
    case INSIDE_A_CALL:
        CHECK_EQ(weft_ffi_call(compute_until_over, NULL), 0);
        break;
    default:
        compute_until_over(NULL);
    }
    return arg;
}

struct census {
    int seen[5];
    int ranges;
};

static int take_census(const weft_fiber_info *info, void *opaque) {
    struct census *census = opaque;
    if (info->entry != be_there)
        return 0;
    census->seen[info->state]++;
    if (info->state == WEFT_FIBER_PARKED)
        census->ranges += info->stack_low != NULL;
    CHECK(info->stack_low <= info->stack_high);
    CHECK_TEXT(info->name, "bound one");
    volatile uintptr_t last = 0; /* a scanner reads it all */
    if (info->state == WEFT_FIBER_PARKED && !IS_SANITIZED)
        for (const uintptr_t *at = info->stack_low; (const void *)(at + 1) <= info->stack_high; at++)
            last = *at;
    (void)last;
    return 0;
}

static char text[1 << 16];

static void dump_to_text(void) {
    int file = memfd_create("dump", MFD_CLOEXEC);
    CHECK_GE(file, 0);
    CHECK_EQ(weft_dump(NULL, file), 0);
    ssize_t length = pread(file, text, sizeof text - 1, 0);
    CHECK_GE(length, 1);
    text[length] = 0;
    close(file);
}

static void check_dump(void) {
    int sleepers = 0;
    dump_to_text();
    for (const char *at = text; (at = strstr(at, " in semaphore on ")); at++)
        sleepers++;
    if (sleepers != 2 || !strstr(text, "\"bound one\" (be_there)"))
        fprintf(stderr, "%s", text);
    CHECK(strstr(text, "\"bound one\" (be_there)"));
    CHECK_EQ(sleepers, 2); /* whichever stack they are on; it cannot be walked from another thread */
    CHECK(strstr(text, ": alone, parked for "));
}

static void *dump_from_elsewhere(void *arg) {
    check_dump();
    return arg;
}

static void picture_them(void) {
    weft_fiber fibers[MANNERS];
    let_go = (weft_semaphore)WEFT_SEMAPHORE_INIT(0);
    atomic_store(&spins, 0);
    atomic_store(&is_over, 0);
    for (intptr_t i = 0; i < MANNERS; i++)
        fibers[i] = spawn_bound(be_there, (void *)i);
    wait_parked(fibers[ON_ITS_STACK]);
    wait_parked(fibers[IN_A_CALLBACK]);
    WAIT_UNTIL(atomic_load(&spins) == 2);
    for (int i = 0; i < 20; i++) {
        struct census census = {{0}, 0};
        CHECK_EQ(weft_world_stop(), 0);
        CHECK_EQ(weft_each_fiber(NULL, take_census, &census), 0);
        weft_world_start();
        CHECK_EQ(census.seen[WEFT_FIBER_PARKED], 2);
        CHECK_EQ(census.seen[WEFT_FIBER_RUNNING], 2);
        CHECK_EQ(census.ranges, 2);
    }
    check_dump();
    on_thread(dump_from_elsewhere, NULL);
    JOIN(spawn_bound(dump_from_elsewhere, NULL), NULL);
    atomic_store(&is_over, 1);
    weft_semaphore_release(&let_go, 2);
    for (int i = 0; i < MANNERS; i++)
        JOIN(fibers[i], NULL);
}

TEST(bound_fibers_are_listed_and_dumped_wherever_they_are) {
    run_fibers(picture_them);
    run_fibers_with(&(weft_options){.workers = 1}, picture_them);
}

enum { SLEEPERS = 3 };
static atomic_long rounds[SLEEPERS];

static void *wake_many_times(void *arg) {
    while (!atomic_load(&is_over)) {
        weft_semaphore_release(&let_go, 1);
        sched_yield();
    }
    return arg;
}

static void *sleep_many_times(void *arg) {
    while (!atomic_load(&is_over)) {
        int error = weft_semaphore_acquire(&let_go, 1, weft_after(WEFT_MILLISECOND));
        CHECK(error == 0 || error == -ETIMEDOUT);
        atomic_fetch_add((atomic_long *)arg, 1);
    }
    return arg;
}

/* While the world stands still a fiber that is seen asleep does not go on, whoever wakes it. */
static void stop_the_world_meanwhile(void) {
    weft_fiber fibers[SLEEPERS];
    struct on_thread_call waker;
    let_go = (weft_semaphore)WEFT_SEMAPHORE_INIT(0);
    atomic_store(&is_over, 0);
    for (int i = 0; i < SLEEPERS; i++)
        fibers[i] = spawn_bound(sleep_many_times, &rounds[i]);
    on_thread_start(&waker, wake_many_times, NULL);
    for (long i = scaled(2000, 100); i > 0; i--) {
        CHECK_EQ(weft_world_stop(), 0);
        for (int k = 0; k < SLEEPERS; k++) {
            bool is_asleep = is_parked(fibers[k]);
            long before = atomic_load(&rounds[k]);
            for (int n = 0; n < 5; n++)
                sched_yield();
            if (is_asleep)
                CHECK_EQ(atomic_load(&rounds[k]), before);
        }
        weft_world_start();
        if (i % 4 == 0)
            weft_yield();
    }
    atomic_store(&is_over, 1);
    on_thread_finish(&waker);
    for (int i = 0; i < SLEEPERS; i++)
        JOIN(fibers[i], NULL);
}

TEST(the_world_stops_and_goes_on_while_bound_fibers_sleep_and_wake) {
    run_fibers(stop_the_world_meanwhile);
}

/* Objects that live in the frame of a callback, and those who wait for them. */
struct frame {
    weft_semaphore semaphore;
    weft_mutex mutex;
    weft_cond cond;
    atomic_int waiting;
};

static void *wait_in_the_frame(void *opaque) {
    struct frame *frame = opaque;
    atomic_fetch_add(&frame->waiting, 1);
    weft_semaphore_acquire(&frame->semaphore, 1, WEFT_NEVER);
    return NULL;
}

static void *wait_in_the_frame_for_the_mutex(void *opaque) {
    struct frame *frame = opaque;
    atomic_fetch_add(&frame->waiting, 1);
    weft_mutex_lock(&frame->mutex, weft_after(1000 * PATIENCE_NS));
    return NULL;
}

static atomic_int frames_ready;

static void wait_in_a_callback_with_objects(void *arg) {
    struct frame frame = {WEFT_SEMAPHORE_INIT(0), WEFT_MUTEX_INIT, WEFT_COND_INIT, 0};
    CHECK_EQ(weft_mutex_lock(&frame.mutex, WEFT_NEVER), 0);
    CHECK_EQ(weft_go(wait_in_the_frame, &frame), 0);
    CHECK_EQ(weft_go(wait_in_the_frame_for_the_mutex, &frame), 0);
    CHECK_EQ(weft_spawn_with(NULL, &(weft_spawn_options){.bound = true, .detached = true}, wait_in_the_frame, &frame),
             0);
    WAIT_UNTIL(atomic_load(&frame.waiting) == 3);
    atomic_fetch_add(&frames_ready, 1);
    weft_semaphore_acquire(&never, 1, WEFT_NEVER);
    (void)arg;
}

static void *hold_objects(void *arg) {
    CHECK_EQ(weft_ffi_call(wait_in_a_callback_with_objects, NULL), 0);
    return arg;
}

static void *hold_objects_on_its_stack(void *arg) {
    CHECK_EQ(weft_bind(NULL), 0);
    wait_in_a_callback_with_objects(NULL);
    return arg;
}

/* Goes on for a while after the first fiber has returned, and then waits. */
static void *run_to_the_end(void *arg) {
    atomic_fetch_add(&frames_ready, 1);
    for (int i = 0; i < 100; i++)
        sched_yield();
    weft_semaphore_acquire(&never, 1, arg ? WEFT_NEVER : weft_after(1000 * PATIENCE_NS));
    CHECK(!"woken");
    return arg;
}

static int leave_them_all(void *arg) {
    never = (weft_semaphore)WEFT_SEMAPHORE_INIT(0);
    atomic_store(&frames_ready, 0);
    CHECK_EQ(weft_go(hold_objects, NULL), 0);
    CHECK_EQ(weft_go(hold_objects_on_its_stack, NULL), 0);
    weft_detach(spawn_bound(hold_objects, NULL));
    weft_detach(spawn_bound(run_to_the_end, NULL));
    weft_detach(spawn_bound(run_to_the_end, arg));
    if (arg) { /* and the first worker's thread is bound as well: by the first fiber or by one of them */
        CHECK_EQ(weft_bind(NULL), 0);
        CHECK_EQ(thread_id() == getpid() || wf_test_workers() > 1, true);
    }
    WAIT_UNTIL(atomic_load(&frames_ready) == 5);
    return 9;
}

TEST(bound_fibers_are_dropped_with_their_runtime) {
    weft_options options = {.abandon = true};
    for (long i = scaled(50, 5); i > 0; i--) {
        CHECK_EQ(weft_run(&options, leave_them_all, NULL), 9);
        CHECK_EQ(weft_run(&options, leave_them_all, &options), 9);
        options.workers = i % 2;
        CHECK_EQ(weft_run(&options, leave_them_all, NULL), 9);
    }
}

static weft_fiber left, right;

static void *join_left(void *arg) {
    return weft_join(left, NULL, WEFT_NEVER) == 0 ? arg : NULL;
}

static void join_right_natively(void *arg) {
    (void)arg;
    weft_join(right, NULL, WEFT_NEVER);
}

static void *join_right(void *arg) {
    if (arg)
        join_right_natively(NULL);
    else
        CHECK_EQ(weft_ffi_call(join_right_natively, NULL), 0);
    return arg;
}

static int make_a_circle(void *arg) {
    weft_world_stop(); /* the light one does not run before both ids are known */
    SPAWN(&right, join_left, NULL);
    CHECK_EQ(weft_spawn_with(&left, arg ? &bound : &(weft_spawn_options){0}, join_right, arg), 0);
    weft_world_start();
    if (arg)
        CHECK_EQ(weft_bind(NULL), 0);
    return weft_join(left, NULL, WEFT_NEVER);
}

static void deadlock_in_a_child(void *arg) {
    int outcome = weft_run(&(weft_options){.workers = arg ? 0 : 1}, make_a_circle, arg);
    if (outcome != -EDEADLK)
        fprintf(stderr, "outcome %d\n", outcome);
    _exit(outcome == -EDEADLK ? 0 : 3);
}

TEST(a_deadlock_with_bound_fibers_is_reported) {
    static int yes;
    for (int i = 0; i < 2; i++) {
        struct child_end end = child_run(deadlock_in_a_child, i ? &yes : NULL);
        CHECK_CHILD_WELL(&end);
        CHECK(strstr(end.text, "deadlock: all 3 fibers wait and nothing can wake them"));
        CHECK(strstr(end.text, "(join_right)"));
    }
}

/* A thread of the program is there for longer than the runtime looks for a deadlock, wakes a bound fiber, and is gone. */
static weft_chan *letter_box;

static void *write_late(void *arg) {
    int value = 1;
    CHECK_EQ(weft_sleep(weft_after(2200 * WEFT_MILLISECOND)), 0);
    CHECK_EQ(weft_chan_send(letter_box, &value, WEFT_NEVER), 0);
    return arg;
}

static int wait_for_a_second_letter(void *arg) {
    int value;
    (void)arg;
    CHECK_EQ(weft_bind(NULL), 0);
    CHECK_EQ(weft_chan_recv(letter_box, &value, WEFT_NEVER), 0);
    return weft_chan_recv(letter_box, &value, WEFT_NEVER);
}

static void deadlock_after_a_thread(void *arg) {
    CHECK_EQ(weft_chan_new(&letter_box, sizeof(int), 1), 0);
    pthread_t thread = thread_start(write_late, NULL);
    CHECK_EQ(pthread_detach(thread), 0);
    int outcome = weft_run(arg, wait_for_a_second_letter, NULL);
    _exit(outcome == -EDEADLK ? 0 : 3);
}

TEST(a_deadlock_is_reported_after_a_thread_that_woke_a_bound_fiber_has_gone) {
    struct child_end end = child_run(deadlock_after_a_thread, NULL);
    CHECK_CHILD_WELL(&end);
}

static weft_chan *diary;

static void *note_in_turn(void *arg) {
    char letter = *(const char *)arg;
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(weft_chan_send(diary, &letter, WEFT_NEVER), 0);
        CHECK_EQ(weft_ffi_call(compute_until_over, NULL), 0);
        CHECK(weft_is_bound());
        if (i % 2)
            CHECK_EQ(weft_unbind(), 0);
        else
            CHECK_EQ(weft_sleep(weft_after((letter % 3 + 1) * WEFT_MILLISECOND)), 0);
    }
    return arg;
}

static int live_bound(void *arg) {
    static const char letters[] = "abcdef";
    char *out = arg;
    weft_fiber fibers[6];
    long thread = thread_id();
    atomic_store(&is_over, 1);
    CHECK_EQ(weft_chan_new(&diary, 1, 1000), 0);
    CHECK_EQ(weft_bind(NULL), 0);
    CHECK_EQ(thread_id(), thread);
    for (int i = 0; i < 6; i++)
        CHECK_EQ(
            weft_spawn_with(&fibers[i], i % 2 ? &bound : &(weft_spawn_options){0}, note_in_turn, (void *)&letters[i]),
            0);
    for (int i = 0; i < 6; i++)
        JOIN(fibers[i], NULL);
    CHECK_EQ(weft_unbind(), 0);
    CHECK_EQ(weft_unbind(), -EPERM);
    while (weft_chan_recv(diary, out, WEFT_NOW) == 0)
        out++;
    *out = 0;
    weft_chan_free(diary);
    return 0;
}

TEST(in_replay_binding_is_in_name_only_and_runs_repeat) {
    char first[64], again[64], other[64];
    int differ = 0;
    for (uint64_t seed = 1; seed < 20; seed++) {
        weft_options options = {.replay_seed = seed};
        CHECK_EQ(weft_run(&options, live_bound, first), 0);
        CHECK_EQ(weft_run(&options, live_bound, again), 0);
        CHECK_TEXT(first, again);
        CHECK_EQ(strlen(first), 24);
        differ += seed > 1 && strcmp(first, other) != 0;
        strcpy(other, first);
    }
    CHECK_GE(differ, 1);
}

static int second_life(void *arg) {
    int value = 0;
    CHECK_EQ(weft_bind(NULL), 0);
    CHECK_EQ(weft_ffi_call(compute_until_over, &value), 0);
    JOIN(spawn_bound(be_there, (void *)COMPUTING), NULL);
    return (int)(intptr_t)arg;
}

static void fork_and_run(void *arg) {
    (void)arg;
    pid_t pid = fork();
    CHECK_GE(pid, 0);
    if (pid == 0) {
        bool is_plain = weft_self().bits == 0 && !weft_is_bound() && weft_bind(NULL) == -EPERM;
        _exit(!is_plain ? 1 : IS_THREAD_SANITIZED ? 31 : weft_run(NULL, second_life, (void *)31));
    }
    int status = 0;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK(WIFEXITED(status));
    CHECK_EQ(WEXITSTATUS(status), 31);
}

static void fork_bound(void) {
    atomic_store(&is_over, 1);
    CHECK_EQ(weft_bind(NULL), 0);
    fork_and_run(NULL);
    CHECK_EQ(weft_sleep(weft_after(WEFT_MICROSECOND)), 0);
    CHECK_EQ(weft_ffi_call(fork_and_run, NULL), 0); /* and from the stack of the thread */
    CHECK_EQ(weft_sleep(weft_after(WEFT_MICROSECOND)), 0);
    CHECK_EQ(weft_unbind(), 0);
    weft_yield();
}

TEST(a_bound_fiber_can_fork) {
    run_fibers(fork_bound);
    run_fibers_with(&(weft_options){.workers = 1}, fork_bound);
}

static weft_chan *there;
static weft_chan *back;

static int answer_from_another_runtime(void *arg) {
    int value;
    if (arg)
        CHECK_EQ(weft_bind(NULL), 0);
    while (weft_chan_recv(there, &value, WEFT_NEVER) == 0)
        CHECK_EQ(weft_chan_send(back, &value, WEFT_NEVER), 0);
    return 3;
}

static void *run_the_other(void *arg) {
    CHECK_EQ(weft_run(&(weft_options){.workers = 1}, answer_from_another_runtime, arg), 3);
    return NULL;
}

static void ask_another_runtime(void) {
    CHECK_EQ(weft_bind(NULL), 0);
    for (int i = 0; i < (int)scaled(2000, 200); i++) {
        int value = -1;
        CHECK_EQ(weft_chan_send(there, &i, WEFT_NEVER), 0);
        CHECK_EQ(weft_chan_recv(back, &value, WEFT_NEVER), 0);
        CHECK_EQ(value, i);
    }
    CHECK_EQ(weft_chan_close(there), 0);
}

TEST(bound_fibers_of_two_runtimes_wake_each_other) {
    static int yes;
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(weft_chan_new(&there, sizeof(int), 0), 0);
        CHECK_EQ(weft_chan_new(&back, sizeof(int), 0), 0);
        pthread_t thread = thread_start(run_the_other, i ? &yes : NULL);
        run_fibers(ask_another_runtime);
        thread_join(thread);
        weft_chan_free(there);
        weft_chan_free(back);
    }
}
