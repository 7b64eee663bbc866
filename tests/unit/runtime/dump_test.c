/* SPDX-License-Identifier: MIT
 *
 * unit/runtime/dump_test.c - the list of fibers: names, reasons, frames, and that looking at a fiber changes nothing.
 *
 * Fibers wait at a rendezvous, a few calls deep, in functions that the list has to name.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "os/fault.h"
#include "os/memory.h"
#include "os/report.h"
#include "runtime/runtime.h"
#include "support/rendezvous.h"
#include "support/run.h"

static struct rendezvous meeting;
static atomic_long arrived;
static atomic_int keeps_errno; /* what was put away for the fibers that wait is 77 */
static char *text;

static __attribute__((noinline)) void *receive_here(void) {
    void *value = NULL;
    atomic_fetch_add(&arrived, 1);
    CHECK_EQ(rendezvous_receive(&meeting, &value, WEFT_NEVER), 0);
    __asm__ volatile("" : "+r"(value)); /* no tail call: the frame stays */
    return value;
}

static __attribute__((noinline)) void *go_down(int depth) {
    void *value = depth == 0 ? receive_here() : go_down(depth - 1);
    __asm__ volatile("" : "+r"(value));
    return value;
}

static void *wait_three_deep(void *arg) {
    (void)arg;
    void *value = go_down(3);
    if (atomic_load(&keeps_errno))
        CHECK_EQ(errno, 77);
    return value;
}

static int dump_to(weft_runtime *runtime, int file) {
    int error = weft_dump(runtime, file);
    off_t length = lseek(file, 0, SEEK_END);
    free(text);
    text = calloc(1, (size_t)length + 1);
    CHECK_EQ(pread(file, text, (size_t)length, 0), length);
    return error;
}

/* Leaves the list in text. */
static int dump(weft_runtime *runtime) {
    int file = memfd_create("dump", MFD_CLOEXEC);
    CHECK_GE(file, 0);
    int error = dump_to(runtime, file);
    close(file);
    return error;
}

static void run_and_free(void (*body)(void)) {
    run_fibers(body);
    free(text);
    text = NULL;
}

static long count_of(const char *what) {
    long count = 0;
    for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
        count++;
    return count;
}

static void check_count(const char *what, long count) {
    if (count_of(what) != count)
        fprintf(stderr, "\"%s\" is not there %ld times:\n%.6000s", what, count, text);
    CHECK_EQ(count_of(what), count);
}

static void spawn_waiting(weft_fiber *fibers, long count) {
    atomic_store(&arrived, 0);
    for (long i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "waiter %ld", i);
        const weft_spawn_options options = {.name = name};
        CHECK_EQ(weft_spawn_with(&fibers[i], &options, wait_three_deep, NULL), 0);
    }
    WAIT_UNTIL(atomic_load(&arrived) == count);
    weft_runtime *runtime = weft_runtime_self();
    for (long i = 0; i < count; i++) { /* it counts before it parks */
        struct wf_fiber *fiber = wf_record_of(&runtime->fibers, fibers[i]);
        WAIT_UNTIL(wf_load_relaxed(&fiber->task.state) == WF_FIBER_PARKED);
    }
}

static void let_go(weft_fiber *fibers, long count) {
    for (long i = 0; i < count; i++)
        CHECK_EQ(rendezvous_send(&meeting, (void *)(i + 1), WEFT_NEVER), 0);
    for (long i = 0; i < count; i++) {
        void *value = NULL;
        JOIN(fibers[i], &value);
        CHECK(value != NULL);
    }
}

static void check_waiting(long count) {
    check_count(" (wait_three_deep), child of ", count);
    check_count(" in rendezvous on 0x", count);
    check_count("receive_here\n", count);
    check_count("go_down\n", 4 * count);
    check_count(" wait_three_deep\n", count);
    check_count("call_entry", 0); /* nothing of ours below the entry function */
}

static void dump_from_a_fiber(void) {
    weft_fiber fibers[3];
    spawn_waiting(fibers, 3);
    CHECK_EQ(dump(NULL), 0);
    check_count("weft: 4 fibers in runtime ", 1);
    check_count("\"waiter 0\"", 1);
    check_count("\"waiter 2\"", 1);
    check_count(": running\n", 1);
    check_count("#0 weft_dump\n", 1); /* its own frames */
    check_waiting(3);
    let_go(fibers, 3);
}

TEST(a_list_names_fibers_reasons_and_frames) {
    run_and_free(dump_from_a_fiber);
}

static void dump_again_and_again(void) {
    weft_fiber fibers[5];
    spawn_waiting(fibers, 5);
    CHECK_EQ(weft_world_stop(), 0);
    for (int i = 0; i < 5; i++) /* set here: a lock that is contended may change a fiber's own before it parks */
        wf_fiber_stack(wf_record_of(&weft_runtime_self()->fibers, fibers[i]))->saved_errno = 77;
    weft_world_start();
    atomic_store(&keeps_errno, 1);
    for (int i = 0; i < 20; i++) {
        CHECK_EQ(dump(weft_runtime_self()), 0);
        check_waiting(5);
    }
    let_go(fibers, 5);
    atomic_store(&keeps_errno, 0);
}

TEST(a_fiber_that_was_looked_at_often_goes_on_as_if_nothing_had_happened) {
    run_and_free(dump_again_and_again);
}

static void *return_arg(void *arg) {
    return arg;
}

static void *yield_until_told(void *arg) {
    while (!atomic_load((atomic_int *)arg))
        weft_yield();
    return arg;
}

static void dump_other_states(void) {
    weft_fiber ended, fresh, ready;
    atomic_int is_over = 0;
    SPAWN(&ended, return_arg, NULL);
    struct wf_fiber *record = wf_record_of(&weft_runtime_self()->fibers, ended);
    WAIT_UNTIL(wf_load_relaxed(&record->task.state) == WF_FIBER_ENDED);
    SPAWN(&ready, yield_until_told, &is_over);
    CHECK_EQ(weft_world_stop(), 0);
    SPAWN(&fresh, return_arg, NULL);
    CHECK_EQ(dump(NULL), 0); /* the world stays stopped: the new one is still new afterwards */
    CHECK_EQ(wf_load_relaxed(&wf_record_of(&weft_runtime_self()->fibers, fresh)->task.state), WF_FIBER_NEW);
    weft_world_start();
    check_count("(return_arg), child of ", 2);
    check_count(": ended\n", 1);
    CHECK_GE(count_of(": new\n"), 1);
    atomic_store(&is_over, 1);
    JOIN(ended, NULL);
    JOIN(fresh, NULL);
    JOIN(ready, NULL);
}

TEST(fibers_that_are_new_ready_or_ended_are_listed_too) {
    run_and_free(dump_other_states);
}

static atomic_int is_dumped;

static void *dump_from_thread(void *arg) {
    WAIT_UNTIL(atomic_load(&arrived) == 2 && weft_runtime_self());
    weft_runtime *runtime = weft_runtime_self();
    CHECK_EQ(dump(runtime), 0);
    CHECK_EQ(dump(NULL), 0);
    atomic_store(&is_dumped, 1);
    return arg;
}

static void wait_for_the_thread(void) {
    weft_fiber fibers[2];
    spawn_waiting(fibers, 2);
    WAIT_UNTIL(atomic_load(&is_dumped));
    let_go(fibers, 2);
}

TEST(a_plain_thread_can_ask_for_the_list) {
    atomic_store(&is_dumped, 0);
    atomic_store(&arrived, 0);
    pthread_t thread = thread_start(dump_from_thread, NULL);
    run_fibers(wait_for_the_thread);
    thread_join(thread);
    check_count("weft: 3 fibers in runtime ", 1);
    check_count("take_for_thread", 0);
    CHECK_EQ(dump(NULL), -ESTALE); /* no runtime runs any more */
    free(text);
    text = NULL;
}

static void dump_many(void) {
    long count = scaled(10000, 500);
    weft_fiber *fibers = calloc((size_t)count, sizeof *fibers);
    spawn_waiting(fibers, count);
    CHECK_EQ(dump(NULL), 0);
    check_waiting(count);
    let_go(fibers, count);
    free(fibers);
}

TEST(ten_thousand_fibers_can_be_listed) {
    run_and_free(dump_many);
}

static weft_fiber teller;

static size_t tell_two_lines(char *buffer, size_t size, bool (*stands_still)(weft_fiber), void *arg) {
    CHECK(stands_still(teller));
    CHECK(!stands_still(WEFT_NO_FIBER));
    CHECK(!stands_still((weft_fiber){UINT64_MAX}));
    return (size_t)snprintf(buffer, size, "%s one\n%s two\n", (const char *)arg, (const char *)arg);
}

/* As a careless snprintf: more than there is room for. */
static size_t tell_too_much(char *buffer, size_t size, bool (*stands_still)(weft_fiber), void *arg) {
    (void)stands_still;
    memset(buffer, 'x', size);
    return size + 1000 + (size_t)(arg != NULL);
}

static weft_describe_fn describer;

static void *wait_described(void *arg) {
    teller = weft_self();
    CHECK_EQ(weft_describe(describer, arg), 0);
    void *value = receive_here();
    CHECK_EQ(weft_describe(NULL, NULL), 0);
    return value;
}

static void dump_described(weft_describe_fn fn) {
    weft_fiber fiber;
    describer = fn;
    atomic_store(&arrived, 0);
    SPAWN(&fiber, wait_described, "line");
    WAIT_UNTIL(wf_load_relaxed(&wf_record_of(&weft_runtime_self()->fibers, fiber)->task.state) == WF_FIBER_PARKED);
    CHECK_EQ(dump(NULL), 0);
    let_go(&fiber, 1);
}

static void dump_descriptions(void) {
    dump_described(tell_two_lines);
    check_count("\n    line one\n    line two\n    #0 ", 1);
    dump_described(tell_too_much);
    check_count("\n    xxxx", 1);
    check_count("receive_here\n", 1);
    dump_described(NULL);
    check_count("line", 0);
    teller = weft_self();
    CHECK_EQ(weft_describe(tell_two_lines, "of its own"), 0);
    CHECK_EQ(dump(NULL), 0);
    check_count(": running\n    of its own one\n    of its own two\n    #0 weft_dump\n", 1);
}

TEST(a_fiber_can_add_lines_of_its_own) {
    CHECK_EQ(weft_describe(tell_two_lines, NULL), -EPERM);
    run_and_free(dump_descriptions);
}

/* Leaves so little of its stack that there is no room for a visitor, but enough to wait. */
static void *wait_on_a_full_stack(void *arg) {
    const char *low = wf_fiber_stack(wf_fiber_self())->low;
    size_t room = (size_t)((char *)__builtin_frame_address(0) - low);
    volatile char *eaten = __builtin_alloca(room - 12 * 1024);
    eaten[0] = 1;
    (void)arg;
    return receive_here();
}

static void dump_full_stack(void) {
    weft_fiber fiber;
    atomic_store(&arrived, 0);
    SPAWN(&fiber, wait_on_a_full_stack, NULL);
    WAIT_UNTIL(wf_load_relaxed(&wf_record_of(&weft_runtime_self()->fibers, fiber)->task.state) == WF_FIBER_PARKED);
    CHECK_EQ(dump(NULL), 0);
    check_count("(wait_on_a_full_stack), child of ", 1);
    check_count("    (no backtrace: its stack is almost full)\n", 1);
    check_count(" in rendezvous on 0x", 1);
    let_go(&fiber, 1);
}

TEST(a_fiber_without_room_for_a_visitor_is_listed_without_frames) {
    run_and_free(dump_full_stack);
}

static void dump_without_memory(void) {
    weft_fiber fibers[3];
    spawn_waiting(fibers, 3);
    for (long nth = 1; nth <= 2; nth++) {
        wf_fault_order(WF_CALL_ALLOC, nth, ENOMEM, true);
        int error = dump(NULL);
        wf_fault_order(WF_CALL_ALLOC, 0, 0, false);
        CHECK_EQ(error, -ENOMEM);
        check_count("... and 4 more: no memory", nth - 1);
    }
    let_go(fibers, 3);
}

TEST(without_memory_the_list_is_cut_and_nothing_is_lost) {
    run_and_free(dump_without_memory);
}

static void dump_to_a_bad_descriptor(void) {
    weft_fiber fiber;
    spawn_waiting(&fiber, 1);
    CHECK_EQ(weft_dump(NULL, -1), -EBADF);
    wf_fault_order(WF_CALL_WRITE, 1, EINTR, false);
    CHECK_EQ(dump(NULL), 0);
    wf_fault_order(WF_CALL_WRITE, 1, EIO, false);
    CHECK_EQ(dump(NULL), -EIO);
    wf_fault_order(WF_CALL_WRITE, 0, 0, false);
    let_go(&fiber, 1);
}

TEST(errors_of_write_are_returned) {
    run_and_free(dump_to_a_bad_descriptor);
}

static weft_runtime *other_runtime;
static atomic_int other_state; /* 1: it runs, 2: it was asked about */

static int be_asked_about(void *arg) {
    (void)arg;
    other_runtime = weft_runtime_self();
    atomic_store(&other_state, 1);
    WAIT_UNTIL(atomic_load(&other_state) == 2);
    return 0;
}

static void *run_the_other(void *arg) {
    CHECK_EQ(weft_run(NULL, be_asked_about, NULL), 0);
    return arg;
}

static void ask_about_the_other(void) {
    WAIT_UNTIL(atomic_load(&other_state) == 1);
    CHECK_EQ(weft_dump(other_runtime, -1), -EPERM);
    atomic_store(&other_state, 2);
}

TEST(a_fiber_cannot_ask_about_another_runtime) {
    atomic_store(&other_state, 0);
    pthread_t thread = thread_start(run_the_other, NULL);
    run_fibers(ask_about_the_other);
    thread_join(thread);
}

static atomic_int dumpers_left;
static int null_file;

static void *dump_to_nowhere(void *arg) {
    for (long i = scaled(50, 5); i > 0; i--)
        CHECK_EQ(weft_dump(arg, null_file), 0);
    atomic_fetch_sub(&dumpers_left, 1);
    return NULL;
}

static void *pass_on_while_dumped(void *arg) {
    bool is_sender = arg != NULL;
    void *value = arg;
    while (atomic_load(&dumpers_left) > 0) {
        int64_t deadline = weft_after(WEFT_MILLISECOND); /* the other side may have left */
        int status =
            is_sender ? rendezvous_send(&meeting, arg, deadline) : rendezvous_receive(&meeting, &value, deadline);
        CHECK(status == 0 || status == -ETIMEDOUT);
        weft_yield();
    }
    return arg;
}

static void dump_while_others_move(void) {
    enum { MOVERS = 8, DUMPERS = 2 };
    weft_fiber fibers[MOVERS + DUMPERS];
    atomic_store(&dumpers_left, DUMPERS + 1);
    pthread_t thread = thread_start(dump_to_nowhere, weft_runtime_self());
    for (intptr_t i = 0; i < MOVERS; i++)
        SPAWN(&fibers[i], pass_on_while_dumped, (void *)(i % 2));
    for (int i = 0; i < DUMPERS; i++)
        SPAWN(&fibers[MOVERS + i], dump_to_nowhere, NULL);
    for (int i = 0; i < MOVERS + DUMPERS; i++)
        JOIN(fibers[i], NULL);
    thread_join(thread);
}

TEST(fibers_that_move_can_be_listed_by_several_at_once) {
    null_file = open("/dev/null", O_WRONLY | O_CLOEXEC);
    CHECK_GE(null_file, 0);
    run_fibers(dump_while_others_move);
    close(null_file);
}
