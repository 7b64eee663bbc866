/* SPDX-License-Identifier: MIT
 *
 * unit/loop/watch_test.c - descriptors of a loop: interleavings that are forced, and system calls that fail.
 *
 * A hook steps in at one named place, once or as often as it comes by there, and does what another thread might do at that
 * moment.
 */
#include <sys/eventfd.h>

#include "base/point.h"
#include "os/fault.h"
#include "os/memory.h"
#include "spec/loop_fd.h"

static _Atomic(const char *) hook_point; /* NULL: nothing is to happen anywhere */
static void (*hook_step)(void);
static atomic_int hook_left;

static void hook(const char *name) {
    const char *point = atomic_load(&hook_point);
    if (!point || strcmp(name, point) != 0 || atomic_fetch_sub(&hook_left, 1) <= 0)
        return;
    hook_step();
}

__attribute__((constructor)) static void hook_install(void) {
    wf_point_hook = hook;
}

/* The first times that somebody comes to that point. */
static void at(const char *point, int times, void (*step)(void)) {
    hook_step = step;
    atomic_store(&hook_left, times);
    atomic_store(&hook_point, point);
}

static void hook_off(void) {
    atomic_store(&hook_point, NULL);
}

static int ends[2];
static int more[2];
static struct told told;
static struct told second;

static void open_with_pipe(void) {
    weft_loop_options options = {.on_failure = note_failure};
    told = (struct told){0};
    second = (struct told){0};
    pipe_open(ends);
    loop_open_with(&options);
}

static void close_with_pipe(void) {
    hook_off();
    loop_drop();
    pair_close(ends);
}

/* ---- Between what was found and the callback ---- */

static void remove_it(void) {
    CHECK_EQ(weft_loop_fd_remove(loop, ends[0]), 0);
}

TEST_BOTH(what_goes_between_the_wait_and_its_callback_is_not_called) {
    open_with_pipe();
    add(ends[0], WEFT_FD_READ, &told);
    put_byte(ends[1]);
    at("watch.before_claim", 1, remove_it);
    CHECK_EQ(loop_run(WEFT_LOOP_UNTIL_QUIET), 0);
    CHECK_EQ(told.calls, 0);
    close_with_pipe();
}

static void replace_it(void) {
    remove_it();
    add(ends[0], WEFT_FD_READ, &second);
}

TEST_BOTH(an_event_that_was_found_for_one_registration_does_not_reach_the_next) {
    open_with_pipe();
    add(ends[0], WEFT_FD_READ, &told);
    put_byte(ends[1]);
    at("watch.before_claim", 1, replace_it);
    CHECK_EQ(loop_run(WEFT_LOOP_ONCE), 1);
    CHECK_EQ(told.calls, 0);
    CHECK_EQ(second.calls, 0);
    CHECK_EQ(loop_run(WEFT_LOOP_ONCE), 1);
    CHECK_EQ(told.calls, 0);
    CHECK_EQ(second.calls, 1);
    close_with_pipe();
}

static void silence_it(void) {
    CHECK_EQ(weft_loop_fd_modify(loop, ends[0], 0), 0);
}

TEST_BOTH(what_was_found_is_told_by_the_present_wishes) {
    open_with_pipe();
    add(ends[0], WEFT_FD_READ, &told);
    put_byte(ends[1]);
    at("watch.before_claim", 1, silence_it);
    CHECK_EQ(loop_run(WEFT_LOOP_ONCE), 1);
    CHECK_EQ(told.calls, 0);
    close_with_pipe();
}

/* The number of the duplicate is somebody else's when the event is looked at. */
static void remove_and_reuse(void) {
    remove_it();
    pipe_open(more);
}

TEST_BOTH(the_number_of_a_duplicate_that_was_given_back_is_not_touched) {
    open_with_pipe();
    add(ends[0], WEFT_FD_READ, &told);
    put_byte(ends[1]);
    at("watch.before_claim", 1, remove_and_reuse);
    CHECK_EQ(loop_run(WEFT_LOOP_UNTIL_QUIET), 0);
    put_byte(more[1]);
    pair_close(more);
    close_with_pipe();
}

/* ---- Between the decision to sleep and the wait ---- */

static void submit_it(void) {
    play_elsewhere("submit:s");
}

TEST(what_is_submitted_before_the_wait_begins_ends_it) {
    open_with_pipe();
    add(ends[0], WEFT_FD_READ, &told);
    at("watch.before_wait", 1, submit_it);
    CHECK_EQ(loop_run(WEFT_LOOP_ONCE), 1);
    CHECK_TEXT(trace, "s");
    close_with_pipe();
}

TEST(what_is_submitted_between_the_wait_and_the_reading_of_its_wake_runs) {
    open_with_pipe();
    add(ends[0], WEFT_FD_READ, &told);
    at("watch.collected", 1, submit_it);
    put_byte(ends[1]);
    CHECK_EQ(loop_run(WEFT_LOOP_ONCE), 1);
    CHECK_TEXT(trace, "s");
    CHECK_EQ(told.calls, 1);
    close_with_pipe();
}

static void *remove_main(void *arg) {
    remove_it();
    return arg;
}

static void remove_elsewhere(void) {
    thread_join(thread_start(remove_main, NULL));
}

TEST(a_removal_of_the_last_one_before_the_wait_begins_ends_it) {
    open_with_pipe();
    add(ends[0], WEFT_FD_READ, &told);
    at("watch.before_wait", 1, remove_elsewhere);
    CHECK_EQ(loop_run(WEFT_LOOP_UNTIL_QUIET), 0);
    close_with_pipe();
}

static void *shut_down_main(void *arg) {
    CHECK_EQ(weft_loop_shutdown(loop, WEFT_NOW), -EINPROGRESS);
    return arg;
}

static void shut_down_elsewhere(void) {
    thread_join(thread_start(shut_down_main, NULL));
}

TEST(an_end_at_the_last_moment_before_the_wait_ends_it) {
    open_with_pipe();
    add(ends[0], WEFT_FD_READ, &told);
    at("watch.before_wait", 1, shut_down_elsewhere);
    CHECK_EQ(loop_run(WEFT_LOOP_UNTIL_QUIET), 0);
    CHECK_EQ(weft_loop_get_state(loop), WEFT_LOOP_TERMINATED);
    close_with_pipe();
}

static void force_and_submit(void) {
    play_elsewhere("submit:s");
    CHECK_EQ(weft_loop_set_fast(loop, WEFT_LOOP_FAST_FORCED), 0);
}

/* The wake was written for epoll, and the next sleep is on a word in memory: it needs one of its own. */
TEST(a_wake_in_one_bed_is_not_taken_for_one_in_the_other) {
    weft_loop_options options = {.fast = WEFT_LOOP_FAST_DISABLED};
    loop_open_with(&options);
    CHECK_EQ(weft_loop_keep(loop), 0);
    at("watch.before_wait", 1, force_and_submit);
    struct running running;
    running_start(&running, WEFT_LOOP_UNTIL_QUIET);
    WAIT_UNTIL(atomic_load(&hook_left) <= 0);
    for (int i = 0; i < 3; i++) {
        wait_asleep();
        CHECK_EQ(weft_loop_wake(loop), 0);
    }
    wait_asleep();
    CHECK_EQ(weft_loop_set_fast(loop, WEFT_LOOP_FAST_DISABLED), 0);
    wait_asleep();
    weft_loop_unkeep(loop);
    CHECK_EQ(running_join(&running), 0);
    CHECK_TEXT(trace, "s");
    hook_off();
    loop_drop();
}

/* ---- Two who register ---- */

static void add_second(void) {
    pipe_open(more);
    add(more[0], WEFT_FD_READ, &second);
}

TEST_BOTH(two_first_registrations_share_one_set) {
    open_with_pipe();
    at("watch.before_add", 1, add_second);
    add(ends[0], WEFT_FD_READ, &told);
    put_byte(ends[1]);
    put_byte(more[1]);
    CHECK_EQ(loop_run(WEFT_LOOP_ONCE), 1);
    CHECK_EQ(told.calls, 1);
    CHECK_EQ(second.calls, 1);
    close_with_pipe();
    pair_close(more);
}

static int step_answer;

static void force_it(void) {
    step_answer = weft_loop_set_fast(loop, WEFT_LOOP_FAST_FORCED);
}

static void add_it(void) {
    step_answer = weft_loop_fd_add(loop, ends[0], WEFT_FD_READ, note, &told);
}

TEST_BOTH(forced_in_the_middle_of_a_registration_wins_and_the_other_way_round) {
    open_with_pipe();
    at("watch.before_add", 1, force_it);
    CHECK_EQ(weft_loop_fd_add(loop, ends[0], WEFT_FD_READ, note, &told), -ENOTSUP);
    CHECK_EQ(step_answer, 0);
    CHECK(!weft_loop_is_alive(loop));
    CHECK_EQ(weft_loop_set_fast(loop, WEFT_LOOP_FAST_AUTO), 0);
    at("watch.before_set_fast", 1, add_it);
    CHECK_EQ(weft_loop_set_fast(loop, WEFT_LOOP_FAST_FORCED), -ENOTSUP);
    CHECK_EQ(step_answer, 0);
    close_with_pipe();
}

/* ---- The end ---- */

static int late[8];

/* Whatever was closed, these have its numbers now. */
static void reuse_all_numbers(void) {
    for (int i = 0; i < 8; i++) {
        late[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        CHECK_GE(late[i], 0);
    }
    CHECK_EQ(weft_loop_wake(loop), -EPIPE);
}

static void check_late(void) {
    for (int i = 0; i < 8; i++) {
        uint64_t count;
        CHECK_EQ(read(late[i], &count, sizeof count), -1); /* nobody has written to it */
        CHECK_EQ(close(late[i]), 0);                       /* nor closed it */
    }
}

TEST_BOTH(descriptors_are_closed_once_and_not_written_to_afterwards) {
    open_with_pipe();
    add(ends[0], WEFT_FD_READ, &told);
    CHECK_GE(weft_loop_backend_fd(loop), 0);
    at("loop.before_terminated", 1, reuse_all_numbers);
    CHECK_EQ(weft_loop_close(loop, WEFT_NEVER), 0);
    CHECK_EQ(weft_loop_wake(loop), -EPIPE);
    CHECK_EQ(weft_loop_fd_remove(loop, ends[0]), -EPIPE);
    loop_drop();
    hook_off();
    check_late();
    pair_close(ends);
}

/* ---- System calls that fail ---- */

TEST(an_error_of_the_wait_ends_the_loop_and_is_what_run_returns) {
    open_with_pipe();
    add(ends[0], WEFT_FD_READ, &told);
    at("loop.before_terminated", 1, reuse_all_numbers);
    wf_fault_order_here(WF_CALL_EPOLL_WAIT, 1, EBADF, 1);
    CHECK_EQ(loop_run(WEFT_LOOP_UNTIL_QUIET), -EBADF);
    CHECK_EQ(wf_fault_hits(), 1);
    wf_fault_order(WF_CALL_EPOLL_WAIT, 0, 0, 0);
    CHECK_TEXT(trace, "!poll");
    CHECK_EQ(weft_loop_get_state(loop), WEFT_LOOP_TERMINATED);
    CHECK_EQ(loop_run(WEFT_LOOP_ONCE), -EPIPE);
    check_late();
    close_with_pipe();
}

TEST(a_look_that_fails_ends_the_loop_too) {
    open_with_pipe();
    add(ends[0], WEFT_FD_READ, &told);
    play("submit:never");
    wf_fault_order_here(WF_CALL_EPOLL_WAIT, 1, EINVAL, 1);
    CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT), -EINVAL);
    wf_fault_order(WF_CALL_EPOLL_WAIT, 0, 0, 0);
    CHECK_TEXT(trace, "!poll");
    CHECK_EQ(weft_loop_get_state(loop), WEFT_LOOP_TERMINATED);
    close_with_pipe();
}

/* False: so little of the time was left that it did not wait a second time. */
static bool is_interrupted_twice(void) {
    weft_time until = weft_after(2 * WEFT_MILLISECOND);
    wf_fault_order_here(WF_CALL_EPOLL_WAIT, 1, EINTR, 1);
    CHECK_EQ(weft_loop_run(loop, WEFT_LOOP_UNTIL_QUIET, until), -ETIMEDOUT);
    CHECK_GE(weft_now(), until);
    return wf_fault_hits() >= 2;
}

/* However often it is interrupted, the moment stays the same. */
TEST(an_interrupted_wait_keeps_its_moment) {
    open_with_pipe();
    add(ends[0], WEFT_FD_READ, &told);
    WAIT_UNTIL(is_interrupted_twice());
    wf_fault_order_here(WF_CALL_EPOLL_WAIT, 1, EINTR, 0);
    put_byte(ends[1]);
    CHECK_EQ(loop_run(WEFT_LOOP_ONCE), 1);
    CHECK_EQ(told.calls, 1);
    wf_fault_order(WF_CALL_EPOLL_WAIT, 0, 0, 0);
    close_with_pipe();
}

TEST(interrupted_wakes_are_made_again) {
    open_with_pipe();
    add(ends[0], WEFT_FD_READ, &told);
    struct running running;
    running_start(&running, WEFT_LOOP_UNTIL_QUIET);
    wait_asleep();
    wf_fault_order(WF_CALL_EVENTFD_WRITE, 1, EINTR, 0);
    play("submit:a");
    WAIT_UNTIL(wf_fault_calls(WF_CALL_EVENTFD_READ) == 1);
    wait_asleep();
    wf_fault_order(WF_CALL_EVENTFD_READ, 1, EINTR, 0);
    play("submit:b");
    WAIT_UNTIL(wf_fault_calls(WF_CALL_EVENTFD_READ) == 2);
    wait_asleep();
    wf_fault_order(WF_CALL_EVENTFD_READ, 0, 0, 0);
    remove_it();
    CHECK_EQ(running_join(&running), 0);
    CHECK_TEXT(trace, "a b");
    close_with_pipe();
}

static void submit_many(void) {
    for (int i = 0; i < 10; i++)
        play_elsewhere("submit:s submit:s submit:s");
}

TEST(however_many_submit_one_of_them_writes) {
    open_with_pipe();
    add(ends[0], WEFT_FD_READ, &told);
    at("watch.before_wait", 1, submit_many);
    wf_fault_order(WF_CALL_EVENTFD_WRITE, 0, 0, 0);
    CHECK_EQ(loop_run(WEFT_LOOP_ONCE), 1);
    CHECK_EQ(wf_fault_calls(WF_CALL_EVENTFD_WRITE), 1);
    CHECK_EQ(wf_fault_calls(WF_CALL_EVENTFD_READ), 1);
    close_with_pipe();
}

/* One call after the other fails, until none does: each time the answer is its error, and the loop is as it was. */
static void fail_registration(enum wf_system_call call, int error) {
    for (long nth = 1;; nth++) {
        open_with_pipe();
        wf_fault_order_here(call, nth, error, 0);
        int status = weft_loop_fd_add(loop, ends[0], WEFT_FD_READ, note, &told);
        long hits = wf_fault_hits();
        wf_fault_order(call, 0, 0, 0);
        CHECK_EQ(status, hits ? -error : 0);
        CHECK_EQ(weft_loop_is_alive(loop), hits == 0);
        if (hits) {
            CHECK_EQ(weft_loop_fd_remove(loop, ends[0]), -ENOENT);
            add(ends[0], WEFT_FD_READ, &told);
        }
        put_byte(ends[1]);
        CHECK_EQ(loop_run(WEFT_LOOP_ONCE), 1);
        CHECK_EQ(told.calls, 1);
        close_with_pipe();
        if (hits == 0) {
            CHECK_GE(nth, 2);
            return;
        }
    }
}

TEST(a_registration_that_fails_leaves_nothing) {
    fail_registration(WF_CALL_ALLOC, ENOMEM);
    fail_registration(WF_CALL_EPOLL_CREATE, EMFILE);
    fail_registration(WF_CALL_EPOLL_CTL, ENOSPC);
    fail_registration(WF_CALL_EVENTFD, ENFILE);
    fail_registration(WF_CALL_DUPLICATE, EMFILE);
}

TEST(a_wish_that_cannot_be_changed_stays) {
    open_with_pipe();
    add(ends[0], WEFT_FD_READ, &told);
    wf_fault_order_here(WF_CALL_EPOLL_CTL, 1, ENOMEM, 0);
    CHECK_EQ(weft_loop_fd_modify(loop, ends[0], 0), -ENOMEM);
    wf_fault_order(WF_CALL_EPOLL_CTL, 0, 0, 0);
    put_byte(ends[1]);
    CHECK_EQ(loop_run(WEFT_LOOP_ONCE), 1);
    CHECK_EQ(told.calls, 1);
    close_with_pipe();
}

TEST(a_backend_that_cannot_be_opened_says_why) {
    open_with_pipe();
    wf_fault_order_here(WF_CALL_EPOLL_CREATE, 1, EMFILE, 0);
    CHECK_EQ(weft_loop_backend_fd(loop), -EMFILE);
    wf_fault_order(WF_CALL_EPOLL_CREATE, 0, 0, 0);
    CHECK_EQ(weft_loop_set_fast(loop, WEFT_LOOP_FAST_FORCED), 0); /* so it is not embedded */
    close_with_pipe();
}

/* The set is made when the loop first sleeps; if it cannot be, run says so and may be tried again. */
TEST(a_loop_that_has_to_sleep_in_epoll_and_cannot_says_why) {
    weft_loop_options options = {.fast = WEFT_LOOP_FAST_DISABLED};
    loop_open_with(&options);
    play("timer60000:T");
    wf_fault_order_here(WF_CALL_EVENTFD, 1, EMFILE, 0);
    CHECK_EQ(loop_run(WEFT_LOOP_UNTIL_QUIET), -EMFILE);
    wf_fault_order(WF_CALL_EVENTFD, 0, 0, 0);
    CHECK_EQ(weft_loop_get_state(loop), WEFT_LOOP_AWAKE);
    play("clear:T timer1:U");
    finish("U");
}

static enum wf_system_call refused_call;
static int refused_error;

/* The engine cannot watch the loop: the fiber must not sleep in it. */
static void unwatched_fiber(void) {
    open_with_pipe();
    add(ends[0], WEFT_FD_READ, &told);
    wf_fault_order_here(refused_call, 1, refused_error, 0);
    CHECK_EQ(loop_run(WEFT_LOOP_UNTIL_QUIET), -refused_error);
    wf_fault_order(refused_call, 0, 0, 0);
    put_byte(ends[1]);
    CHECK_EQ(loop_run(WEFT_LOOP_ONCE), 1);
    CHECK_EQ(told.calls, 1);
    close_with_pipe();
}

TEST(a_fiber_does_not_sleep_in_a_loop_that_nobody_watches) {
    refused_call = WF_CALL_EPOLL_CTL;
    refused_error = ENOSPC;
    run_fibers(unwatched_fiber);
    refused_call = WF_CALL_ALLOC;
    refused_error = ENOMEM;
    run_fibers(unwatched_fiber);
}
