/* SPDX-License-Identifier: MIT
 *
 * spec/foreign_test.c - foreign calls: weft_ffi_call and what it promises.
 *
 * The first call of a fiber binds it; from then on every call has the thread's own stack, which is seen by using two
 * megabytes of it. When no more fibers can be bound, each fallback does what it says. A panic may leave a call, a
 * cancellation waits for its end, and what the foreign code calls back may do everything that the fiber may.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "support/child.h"
#include "support/parked.h"
#include "weft/local.h"

enum { MUCH = 2 << 20, PAGE = 4096 };

static const weft_options one_worker = {.workers = 1};
static const weft_spawn_options bound = {.bound = true};

static long thread_id(void) {
    return syscall(SYS_gettid);
}

static weft_thread_stats stats_now(void) {
    weft_thread_stats stats;
    CHECK_EQ(weft_get_thread_stats(NULL, &stats), 0);
    return stats;
}

/* More than a fiber's stack has. arg counts the calls, or is null. */
static __attribute__((noinline)) void use_much_stack(void *arg) {
    volatile char much[MUCH];
    for (int i = 0; i < MUCH; i += PAGE)
        much[i] = (char)(i / PAGE);
    for (int i = 0; i < MUCH; i += PAGE)
        CHECK_EQ(much[i], (char)(i / PAGE));
    if (arg)
        ++*(int *)arg;
}

static void note_thread(void *arg) {
    *(long *)arg = thread_id();
}

static void do_nothing(void *arg) {
    (void)arg;
}

static void call_and_park_often(void) {
    CHECK(!weft_is_bound());
    long thread = 0;
    CHECK_EQ(weft_ffi_call(note_thread, &thread), 0);
    CHECK(weft_is_bound());
    CHECK_EQ(thread_id(), thread);
    for (long i = scaled(100000, 1000); i > 0; i--) {
        long now = 0;
        CHECK_EQ(weft_ffi_call(note_thread, &now), 0);
        CHECK_EQ(now, thread);
        if (i % 16 == 0)
            CHECK_EQ(weft_sleep(weft_after(WEFT_MICROSECOND)), 0);
        else
            weft_yield();
        CHECK_EQ(thread_id(), thread);
    }
    CHECK_EQ(stats_now().bindings, 1);
    CHECK_EQ(weft_unbind(), 0);
    CHECK(!weft_is_bound());
    CHECK_EQ(stats_now().bound, 0);
}

TEST(the_first_call_binds_and_the_thread_stays_the_same) {
    run_fibers(call_and_park_often);
    run_fibers_with(&one_worker, call_and_park_often);
}

static void *use_much_on_a_fiber(void *arg) {
    int calls = 0;
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(weft_ffi_call(use_much_stack, &calls), 0);
        CHECK_EQ(weft_unbind(), 0);
        CHECK_EQ(weft_ffi_call(use_much_stack, &calls), 0);
        weft_yield();
    }
    CHECK_EQ(calls, 6);
    return arg;
}

static void use_much_everywhere(void) {
    weft_fiber fibers[6];
    use_much_on_a_fiber(NULL);
    for (int i = 0; i < 6; i++)
        CHECK_EQ(weft_spawn_with(&fibers[i], i % 2 ? &bound : &(weft_spawn_options){0}, use_much_on_a_fiber, NULL), 0);
    for (int i = 0; i < 6; i++)
        JOIN(fibers[i], NULL);
}

TEST(a_foreign_call_has_the_stack_of_a_thread) {
    run_fibers(use_much_everywhere);
    run_fibers_with(&one_worker, use_much_everywhere);
}

/* Somebody else is bound and keeps it so until let_go. */
static weft_semaphore let_go;

static void *stay_bound(void *arg) {
    CHECK_EQ(weft_semaphore_acquire(&let_go, 1, WEFT_NEVER), 0);
    return arg;
}

static weft_fiber occupy(void) {
    weft_fiber fiber;
    let_go = (weft_semaphore)WEFT_SEMAPHORE_INIT(0);
    CHECK_EQ(weft_spawn_with(&fiber, &bound, stay_bound, NULL), 0);
    wait_parked(fiber);
    return fiber;
}

static void fall_back_to_blocking(void) {
    int calls = 0;
    weft_fiber other = occupy();
    for (int i = 1; i <= 3; i++) {
        CHECK_EQ(weft_ffi_call(use_much_stack, &calls), 0);
        CHECK_EQ(calls, i);
        CHECK(!weft_is_bound());
        CHECK_EQ(stats_now().fallbacks, i);
    }
    weft_blocking_begin();
    CHECK_EQ(weft_ffi_call(use_much_stack, &calls), 0); /* it has a thread already */
    weft_blocking_end();
    CHECK_EQ(stats_now().fallbacks, 3);
    weft_semaphore_release(&let_go, 1);
    JOIN(other, NULL);
    CHECK_EQ(weft_ffi_call(do_nothing, NULL), 0);
    CHECK(weft_is_bound());
}

TEST(without_room_a_call_blocks_on_whatever_thread) {
    run_fibers_with(&(weft_options){.max_bound = 1}, fall_back_to_blocking);
}

static void fall_back_to_an_error(void) {
    int calls = 0;
    weft_fiber other = occupy();
    CHECK_EQ(weft_ffi_call(use_much_stack, &calls), -EAGAIN);
    CHECK_EQ(calls, 0);
    CHECK(!weft_is_bound());
    weft_semaphore_release(&let_go, 1);
    JOIN(other, NULL);
    CHECK_EQ(weft_ffi_call(use_much_stack, &calls), 0);
    CHECK_EQ(calls, 1);
}

TEST(without_room_a_call_fails_if_that_was_asked_for) {
    run_fibers_with(&(weft_options){.max_bound = 1, .bound_fallback = WEFT_FALLBACK_ERROR}, fall_back_to_an_error);
}

enum { LINE = 8 };
static int order[LINE];
static atomic_int order_count;

static void sign_up(void *arg) {
    order[atomic_fetch_add(&order_count, 1)] = (int)(intptr_t)arg;
}

static void *call_when_there_is_room(void *arg) {
    CHECK_EQ(weft_ffi_call(sign_up, arg), 0);
    CHECK(weft_is_bound());
    return arg;
}

static int call_until_cancelled(void *arg) {
    CHECK_EQ(weft_ffi_call(sign_up, arg), -ECANCELED);
    CHECK(!weft_is_bound());
    return 0;
}

static int cancel_a_line(weft_scope *scope, void *arg) {
    (void)arg;
    for (intptr_t i = 0; i < 3; i++)
        CHECK_EQ(weft_scope_go(scope, call_until_cancelled, (void *)(100 + i)), 0);
    CHECK_EQ(weft_sleep(weft_after(WEFT_MILLISECOND)), 0); /* whether they wait already makes no difference */
    CHECK_EQ(weft_scope_cancel(scope, -EINTR, "enough"), 0);
    return 0;
}

static void wait_in_line(void) {
    weft_fiber fibers[LINE];
    weft_fiber other = occupy();
    atomic_store(&order_count, 0);
    for (intptr_t i = 0; i < LINE; i++) {
        fibers[i] = spawn_parked(call_when_there_is_room, (void *)i);
        if (i == LINE / 2)
            CHECK_EQ(weft_scope_run(NULL, cancel_a_line, NULL), -EINTR);
    }
    CHECK_EQ(atomic_load(&order_count), 0);
    weft_semaphore_release(&let_go, 1);
    JOIN(other, NULL);
    for (int i = 0; i < LINE; i++)
        JOIN(fibers[i], NULL);
    CHECK_EQ(atomic_load(&order_count), LINE);
    for (int i = 0; i < LINE; i++)
        CHECK_EQ(order[i], i);
    CHECK_EQ(stats_now().bound_peak, 1);
    CHECK_EQ(stats_now().fallbacks, 0);
}

TEST(without_room_calls_wait_in_line_and_can_be_cancelled) {
    run_fibers_with(&(weft_options){.max_bound = 1, .bound_fallback = WEFT_FALLBACK_WAIT}, wait_in_line);
}

static atomic_int shared_calls;

static void count_call(void *arg) {
    (void)arg;
    atomic_fetch_add(&shared_calls, 1);
}

static void *come_and_go(void *arg) {
    for (long i = scaled(2000, 100); i > 0; i--) {
        CHECK_EQ(weft_ffi_call(count_call, NULL), 0);
        if (i % 3 == 0)
            weft_yield();
        CHECK_EQ(weft_unbind(), 0);
    }
    return arg;
}

static void wait_in_line_again_and_again(void) {
    weft_fiber fibers[LINE];
    atomic_store(&shared_calls, 0);
    for (int i = 0; i < LINE; i++)
        SPAWN(&fibers[i], come_and_go, NULL);
    for (int i = 0; i < LINE; i++)
        JOIN(fibers[i], NULL);
    CHECK_EQ(atomic_load(&shared_calls), LINE * scaled(2000, 100));
    CHECK_LE(stats_now().bound_peak, 2);
}

TEST(who_waits_for_room_gets_in_and_never_an_error) {
    run_fibers_with(&(weft_options){.max_bound = 2, .bound_fallback = WEFT_FALLBACK_WAIT},
                    wait_in_line_again_and_again);
}

static void *make_a_call(void *arg) {
    bool was_bound = weft_is_bound();
    CHECK_EQ(weft_ffi_call(do_nothing, NULL), 0);
    return (void *)(intptr_t)(was_bound ? 1 : arg ? 2 : 0);
}

static atomic_int wants_call;

static void *make_a_call_perhaps(void *arg) {
    bool was_bound = weft_is_bound();
    if (atomic_load(&wants_call))
        CHECK_EQ(weft_ffi_call(do_nothing, NULL), 0);
    (void)arg;
    return (void *)(intptr_t)was_bound;
}

static bool begins_bound(weft_fn fn, const weft_spawn_options *options) {
    weft_fiber fiber;
    void *result;
    CHECK_EQ(weft_spawn_with(&fiber, options, fn, NULL), 0);
    JOIN(fiber, &result);
    return result == (void *)1;
}

static void learn_and_forget(void) {
    const weft_spawn_options plain = {0}, named = {.name = "named"}, pinned = {.home = 1, .pinned = true};
    CHECK(!begins_bound(make_a_call, &plain));
    CHECK(begins_bound(make_a_call, &plain));
    CHECK(begins_bound(make_a_call, &named));
    CHECK_EQ(stats_now().predicted, 2);
    CHECK(!begins_bound(make_a_call, &pinned)); /* it was told where to begin */
    atomic_store(&wants_call, 1);
    CHECK(!begins_bound(make_a_call_perhaps, &plain));
    CHECK(begins_bound(make_a_call_perhaps, &plain));
    atomic_store(&wants_call, 0);
    CHECK(begins_bound(make_a_call_perhaps, &plain)); /* this one makes none */
    CHECK(!begins_bound(make_a_call_perhaps, &plain));
    CHECK_EQ(stats_now().predicted, 4);
    CHECK_EQ(stats_now().bound, 0);
    CHECK(begins_bound(make_a_call, &plain));
}

TEST(a_function_that_makes_foreign_calls_is_started_bound) {
    run_fibers(learn_and_forget);
}

static void panic_inside(void *arg) {
    CHECK(weft_is_bound());
    weft_panic("foreign %d", *(int *)arg);
}

static void call_and_panic(void *arg) {
    weft_ffi_call(panic_inside, arg);
}

/* On the native stack already. */
static void try_inside(void *arg) {
    char text[32];
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(weft_try(panic_inside, arg, text, sizeof text), -EOWNERDEAD);
        CHECK_TEXT(text, "foreign 5");
        CHECK_EQ(weft_unbind(), -EBUSY); /* it is inside still */
        CHECK_EQ(weft_try(call_and_panic, arg, text, sizeof text), -EOWNERDEAD);
        CHECK_EQ(weft_unbind(), -EBUSY);
        use_much_stack(NULL);
    }
}

static void panic_and_go_on(void) {
    char text[32];
    int number = 5, calls = 0;
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(weft_try(call_and_panic, &number, text, sizeof text), -EOWNERDEAD);
        CHECK_TEXT(text, "foreign 5");
        CHECK(weft_is_bound());
        CHECK_EQ(weft_ffi_call(use_much_stack, &calls), 0);
        CHECK_EQ(weft_ffi_call(try_inside, &number), 0);
        CHECK_EQ(weft_ffi_call(use_much_stack, &calls), 0);
        CHECK_EQ(stats_now().bound, 1);
        if (i % 2) {
            CHECK_EQ(weft_unbind(), 0);
            CHECK(!weft_is_bound());
        }
    }
    CHECK_EQ(calls, 8);
}

TEST(a_panic_leaves_a_foreign_call_and_the_next_one_is_as_before) {
    weft_options options = {.workers = 1, .quiet = true};
    run_fibers(panic_and_go_on);
    run_fibers_with(&options, panic_and_go_on);
}

static void bind_and_panic(void *arg) {
    CHECK_EQ(weft_bind(NULL), 0);
    weft_panic("bound %d", *(int *)arg);
}

static void close_what_a_panic_left(void) {
    int number = 6;
    CHECK_EQ(weft_try(bind_and_panic, &number, NULL, 0), -EOWNERDEAD);
    CHECK(!weft_is_bound());
    CHECK_EQ(stats_now().bound, 0);
    CHECK_EQ(weft_bind(NULL), 0);
    CHECK_EQ(weft_try(bind_and_panic, &number, NULL, 0), -EOWNERDEAD);
    CHECK(weft_is_bound());
    CHECK_EQ(weft_unbind(), 0);
    CHECK_EQ(weft_unbind(), -EPERM);
}

TEST(a_panic_ends_the_bindings_that_it_passes) {
    run_fibers(close_what_a_panic_left);
}

static atomic_int late_calls;

static void call_late(void *arg) {
    int calls = 0;
    (void)arg;
    CHECK_EQ(weft_ffi_call(use_much_stack, &calls), 0);
    atomic_fetch_add(&late_calls, calls);
}

static weft_key key;

static void leave_a_call_for_good(void *arg) {
    if (arg)
        weft_exit(arg);
    weft_panic("for good");
}

static void *end_inside_a_call(void *arg) {
    CHECK_EQ(weft_defer(call_late, NULL), 0);
    CHECK_EQ(weft_local_set(key, &key), 0);
    weft_ffi_call(leave_a_call_for_good, arg);
    return NULL;
}

static void call_from_what_runs_at_the_end(void) {
    weft_fiber fiber;
    void *result;
    CHECK_EQ(weft_key_new(&key, call_late), 0);
    for (int i = 1; i <= 4; i++) {
        SPAWN(&fiber, end_inside_a_call, i % 2 ? &fiber : NULL);
        CHECK_EQ(weft_join(fiber, &result, WEFT_NEVER), i % 2 ? 0 : -EOWNERDEAD);
        CHECK(result == (i % 2 ? &fiber : NULL));
        CHECK_EQ(stats_now().bound, 0);
        CHECK_EQ(atomic_load(&late_calls), i * 2);
    }
    CHECK_EQ(weft_key_free(key), 0);
}

TEST(deferred_calls_and_destructors_make_foreign_calls_after_a_panic_left_one) {
    atomic_store(&late_calls, 0);
    run_fibers_with(&(weft_options){.quiet = true}, call_from_what_runs_at_the_end);
    atomic_store(&late_calls, 0);
    run_fibers_with(&(weft_options){.quiet = true, .workers = 1}, call_from_what_runs_at_the_end);
}

enum { DEPTH = 10 };
static weft_chan *channel;

static void *send_one_by_one(void *arg) {
    for (int i = 0; i < (int)(intptr_t)arg; i++)
        CHECK_EQ(weft_chan_send(channel, &i, WEFT_NEVER), 0);
    return arg;
}

/* Foreign code that calls back: the callback waits, and makes foreign calls itself. */
static void call_back_and_forth(void *arg) {
    long depth = (long)(intptr_t)arg, thread = thread_id(), inner = 0;
    int value = -1;
    CHECK_EQ(weft_chan_recv(channel, &value, WEFT_NEVER), 0);
    CHECK_EQ(thread_id(), thread);
    if (depth == DEPTH) /* those further in are inside pairs of those further out */
        CHECK_EQ(weft_unbind(), -EBUSY);
    CHECK_EQ(weft_bind(NULL), 0);
    CHECK_EQ(weft_ffi_call(note_thread, &inner), 0);
    CHECK_EQ(inner, thread);
    if (depth > 1)
        CHECK_EQ(weft_ffi_call(call_back_and_forth, (void *)(intptr_t)(depth - 1)), 0);
    CHECK_EQ(weft_unbind(), 0);
    CHECK(weft_is_bound());
}

static void call_in_callbacks(void) {
    weft_fiber sender;
    CHECK_EQ(weft_chan_new(&channel, sizeof(int), 0), 0);
    SPAWN(&sender, send_one_by_one, (void *)(2 * DEPTH));
    CHECK_EQ(weft_ffi_call(call_back_and_forth, (void *)DEPTH), 0);
    CHECK_EQ(weft_ffi_call(use_much_stack, NULL), 0);
    CHECK_EQ(weft_ffi_call(call_back_and_forth, (void *)DEPTH), 0);
    JOIN(sender, NULL);
    weft_chan_free(channel);
}

TEST(a_callback_may_wait_and_make_foreign_calls) {
    run_fibers(call_in_callbacks);
    run_fibers_with(&one_worker, call_in_callbacks);
}

static atomic_int phase; /* 1: inside the call, 2: cancelled, 3: it has returned */

static void stay_inside(void *arg) {
    (void)arg;
    atomic_store(&phase, 1);
    while (atomic_load(&phase) != 2)
        sched_yield();
    atomic_store(&phase, 3);
}

static int call_and_wait(void *arg) {
    (void)arg;
    CHECK_EQ(weft_ffi_call(stay_inside, NULL), 0);
    CHECK_EQ(atomic_load(&phase), 3);
    CHECK_EQ(weft_ffi_call(do_nothing, NULL), 0); /* it is bound: there is nothing to wait for */
    CHECK_EQ(weft_sleep(weft_after(PATIENCE_NS)), -ECANCELED);
    CHECK(weft_is_bound());
    CHECK_EQ(weft_unbind(), 0);
    CHECK_EQ(weft_sleep(weft_after(PATIENCE_NS)), -ECANCELED);
    return 0;
}

static int cancel_a_call(weft_scope *scope, void *arg) {
    (void)arg;
    CHECK_EQ(weft_scope_go(scope, call_and_wait, NULL), 0);
    WAIT_UNTIL(atomic_load(&phase) == 1);
    CHECK_EQ(weft_scope_cancel(scope, -EINTR, NULL), 0);
    atomic_store(&phase, 2);
    return 0;
}

static void cancel_inside(void) {
    atomic_store(&phase, 0);
    CHECK_EQ(weft_scope_run(NULL, cancel_a_call, NULL), -EINTR);
}

TEST(a_cancelled_fiber_returns_from_its_call_first) {
    run_fibers(cancel_inside);
}

static void use_the_site(void) {
    int calls = 0;
    weft_ffi_site *here = weft_ffi_here();
    CHECK(!weft_ffi_is_bound(here));
    CHECK_EQ(weft_ffi_call(use_much_stack, &calls), 0);
    CHECK(weft_ffi_is_bound(here));
    CHECK(weft_ffi_here() == here);
    for (int i = 0; i < 5; i++) {
        CHECK(here->native_sp != NULL);
        CHECK_EQ((uintptr_t)here->native_sp % 16, 0);
        weft_ffi_call_bound(here, use_much_stack, &calls);
        CHECK_EQ(weft_sleep(weft_after(WEFT_MICROSECOND)), 0);
    }
    CHECK_EQ(calls, 6);
    CHECK_EQ(weft_unbind(), 0);
    CHECK(!weft_ffi_is_bound(here));
}

static void run_the_unbound_site(void *arg) {
    (void)arg;
    weft_ffi_call_bound(weft_ffi_here(), do_nothing, NULL);
}

static int call_unbound(void *arg) {
    run_the_unbound_site(arg);
    return 0;
}

static void run_call_unbound(void *arg) {
    weft_run(arg, call_unbound, NULL);
}

TEST(a_call_site_knows_whether_its_fiber_is_bound) {
    run_fibers(use_the_site);
    struct child_end end = child_run(run_call_unbound, NULL);
    CHECK_CHILD_FATAL(&end, "weft_ffi_call_bound was called by a fiber that is not bound");
}

static void *call_on_a_thread(void *arg) {
    int calls = 0;
    long thread = 0;
    weft_ffi_site *here = weft_ffi_here();
    CHECK(weft_ffi_is_bound(here));
    weft_ffi_call_bound(here, note_thread, &thread);
    CHECK_EQ(thread, thread_id());
    CHECK_EQ(weft_ffi_call(use_much_stack, &calls), 0);
    CHECK_EQ(weft_ffi_call(NULL, NULL), -EINVAL);
    CHECK(!weft_is_bound());
    return arg;
}

static void call_on_a_thread_meanwhile(void) {
    on_thread(call_on_a_thread, NULL);
    CHECK_EQ(weft_ffi_call(NULL, NULL), -EINVAL);
    CHECK(!weft_is_bound());
}

TEST(on_a_plain_thread_the_function_is_just_called) {
    call_on_a_thread(NULL);
    run_fibers(call_on_a_thread_meanwhile);
}

static void call_with_the_world_stopped(void) {
    int calls = 0;
    CHECK_EQ(weft_world_stop(), 0);
    CHECK_EQ(weft_ffi_call(count_call, &calls), 0);
    CHECK(!weft_is_bound());
    weft_world_start();
    CHECK_EQ(weft_ffi_call(use_much_stack, &calls), 0);
    CHECK(weft_is_bound());
    CHECK_EQ(calls, 1);
}

TEST(who_has_the_world_stopped_is_not_bound_by_a_call) {
    run_fibers(call_with_the_world_stopped);
    run_fibers_with(&one_worker, call_with_the_world_stopped);
}
