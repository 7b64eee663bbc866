/* SPDX-License-Identifier: MIT
 *
 * unit/ffi/call_test.c - foreign calls from the inside: which stack they are on, who waits to be bound, what is learnt.
 *
 * The stack of a call is known by addresses: of the fiber's stack, of the thread's own, and of the one that the first worker
 * has for them. Unbinding and falling asleep in line are brought together by the hook of base/point.h.
 */
#include <stddef.h>

#include "base/point.h"
#include "fiber/fiber.h"
#include "runtime/runtime.h"
#include "support/parked.h"
#include "weft/ffi.h"

_Static_assert(offsetof(weft_ffi_site, is_bound) == 0, "part of the binary interface");
_Static_assert(offsetof(weft_ffi_site, native_sp) == 8, "part of the binary interface");
_Static_assert(sizeof(weft_ffi_site) == 16, "later versions only add");

static const weft_options one_worker = {.workers = 1};
static const weft_spawn_options bound = {.bound = true};

static bool is_on_own_stack(void) {
    struct wf_stack *stack = wf_fiber_stack(wf_fiber_self());
    const char *here = __builtin_frame_address(0);
    return here >= stack->low && here < (const char *)stack;
}

static bool is_on_native_stack(void) {
    struct wf_fiber_worker *worker = wf_worker_self();
    const char *here = __builtin_frame_address(0);
    const char *top = worker->native_sp;
    return here < top && here > top - ((size_t)8 << 20);
}

static void check_native(void *arg) {
    CHECK(is_on_native_stack());
    CHECK(!is_on_own_stack());
    CHECK_EQ((uintptr_t)wf_worker_self()->native_sp % 16, 0);
    if (arg) {
        CHECK(weft_ffi_here()->native_sp == NULL);
        ++*(int *)arg;
    }
}

static void call_and_look(void *arg) {
    check_native(arg);
    CHECK_EQ(weft_ffi_call(check_native, arg), 0);
    weft_ffi_call_bound(weft_ffi_here(), check_native, arg);
}

static void look_at_stacks(void) {
    int calls = 0;
    CHECK(is_on_own_stack());
    CHECK_EQ(weft_ffi_call(check_native, &calls), 0);
    CHECK(is_on_own_stack());
    CHECK_EQ(weft_ffi_call(call_and_look, &calls), 0);
    CHECK(weft_ffi_here()->native_sp == wf_worker_self()->native_sp);
    CHECK_EQ(calls, 4);
    bool is_first = !wf_worker_self()->base.has_thread;
    CHECK_EQ(wf_worker_self()->native_memory != NULL, is_first);
    CHECK_EQ(wf_worker_self()->native == &wf_worker_self()->scheduler, !is_first);
}

static void *look_at_stacks_bound(void *arg) {
    look_at_stacks();
    return arg;
}

static void look_everywhere(void) {
    weft_fiber fiber;
    CHECK_EQ(weft_spawn_with(&fiber, &bound, look_at_stacks_bound, NULL), 0);
    JOIN(fiber, NULL);
    look_at_stacks();
}

TEST(calls_are_made_on_the_stack_of_the_thread) {
    run_fibers(look_everywhere);
    run_fibers_with(&one_worker, look_everywhere);
}

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

static weft_chan *channel;

static void *send_some(void *arg) {
    for (int i = 0; i < 3; i++)
        CHECK_EQ(weft_chan_send(channel, &i, WEFT_NEVER), 0);
    return arg;
}

static void receive_natively(void *arg) {
    int value = -1;
    check_native(NULL);
    CHECK_EQ(weft_unbind(), -EPERM);
    CHECK_EQ(weft_bind(NULL), -EBUSY);
    CHECK_EQ(weft_chan_recv(channel, &value, WEFT_NEVER), 0);
    check_native(NULL);
    CHECK_EQ(weft_ffi_call(check_native, NULL), 0);
    if (arg)
        weft_panic("inside");
}

static void call_late(void *arg) {
    CHECK(is_on_own_stack());
    CHECK_EQ(weft_ffi_call(check_native, NULL), 0);
    CHECK_EQ(weft_unbind(), arg ? 0 : -EPERM);
}

static void defer_and_receive(void *arg) {
    CHECK_EQ(weft_defer(call_late, NULL), 0);
    weft_ffi_call(receive_natively, arg);
}

static void call_unbound(void) {
    weft_fiber other = occupy(), sender;
    CHECK_EQ(weft_chan_new(&channel, sizeof(int), 0), 0);
    SPAWN(&sender, send_some, NULL);
    CHECK_EQ(weft_ffi_call(receive_natively, NULL), 0);
    CHECK_EQ(weft_try(defer_and_receive, &sender, NULL, 0), -EOWNERDEAD);
    CHECK(is_on_own_stack());
    CHECK_EQ(weft_pin(), 0); /* no region is open */
    weft_unpin();
    CHECK_EQ(weft_ffi_call(receive_natively, NULL), 0);
    JOIN(sender, NULL);
    weft_chan_free(channel);
    weft_semaphore_release(&let_go, 1);
    JOIN(other, NULL);
}

TEST(a_call_without_a_binding_has_that_stack_too_and_may_wait_and_panic) {
    run_fibers_with(&(weft_options){.max_bound = 1, .quiet = true}, call_unbound);
    run_fibers_with(&(weft_options){.max_bound = 1, .workers = 1}, call_unbound);
}

static void panic_natively(void *arg) {
    check_native(NULL);
    weft_panic("%p", arg);
}

static void unbind_late(void *arg) {
    CHECK_EQ(weft_defer(call_late, arg), 0);
    weft_ffi_call(panic_natively, NULL);
}

static void unbind_while_a_panic_is_under_way(void) {
    CHECK_EQ(weft_try(unbind_late, &let_go, NULL, 0), -EOWNERDEAD);
    CHECK(!weft_is_bound());
    CHECK_EQ(weft_ffi_call(check_native, NULL), 0);
    CHECK(weft_is_bound());
}

TEST(a_deferred_call_may_unbind_after_a_panic_has_left_a_foreign_call) {
    run_fibers(unbind_while_a_panic_is_under_way);
    run_fibers_with(&one_worker, unbind_while_a_panic_is_under_way);
}

/* The binding ends exactly while another fiber gets in line for it. */
static atomic_int is_armed;
static atomic_int may_unbind;
static atomic_int is_holding;

static void unbind_in_between(const char *name) {
    if (strcmp(name, "park.before_commit") == 0 && atomic_load(&is_armed))
        atomic_store(&may_unbind, 1);
}

static void *hold_and_unbind(void *arg) {
    atomic_store(&is_holding, 1);
    while (!atomic_load(&may_unbind))
        sched_yield();
    CHECK_EQ(weft_unbind(), 0);
    return arg;
}

static void note_call(void *arg) {
    atomic_fetch_add((atomic_int *)arg, 1);
}

static void *call_in_line(void *arg) {
    CHECK_EQ(weft_ffi_call(note_call, arg), 0);
    return NULL;
}

static void unbind_beside_a_line(void) {
    atomic_int calls = 0;
    for (long i = scaled(200, 20); i > 0; i--) {
        weft_fiber holder, first, second;
        atomic_store(&may_unbind, 0);
        atomic_store(&is_holding, 0);
        CHECK_EQ(weft_spawn_with(&holder, &bound, hold_and_unbind, NULL), 0);
        WAIT_UNTIL(atomic_load(&is_holding));
        atomic_store(&is_armed, 1);
        weft_spawn_options at_home = {.home = 1}; /* not bound before it calls */
        CHECK_EQ(weft_spawn_with(&first, &at_home, call_in_line, &calls), 0);
        CHECK_EQ(weft_spawn_with(&second, &at_home, call_in_line, &calls), 0);
        JOIN(first, NULL);
        JOIN(second, NULL);
        JOIN(holder, NULL);
        atomic_store(&is_armed, 0);
    }
    CHECK_EQ(atomic_load(&calls), 2 * scaled(200, 20));
}

TEST(a_binding_that_ends_while_somebody_gets_in_line_is_not_missed) {
    wf_point_hook = unbind_in_between;
    run_fibers_with(&(weft_options){.max_bound = 1, .bound_fallback = WEFT_FALLBACK_WAIT}, unbind_beside_a_line);
    wf_point_hook = NULL;
}

static void *call_pinned_beside_another(void *arg) {
    CHECK_EQ(weft_ffi_call(note_call, arg), 0); /* in a blocking region, on the thread that it is pinned to */
    CHECK(!weft_is_bound());
    weft_unpin();
    return NULL;
}

static void *wait_pinned(void *arg) {
    CHECK_EQ(weft_semaphore_acquire(&let_go, 1, WEFT_NEVER), 0);
    weft_unpin();
    return arg;
}

static void call_beside_a_pinned_one(void) {
    const weft_spawn_options pinned = {.home = 1, .pinned = true};
    weft_fiber other, fiber;
    atomic_int calls = 0;
    let_go = (weft_semaphore)WEFT_SEMAPHORE_INIT(0);
    CHECK_EQ(weft_spawn_with(&other, &pinned, wait_pinned, NULL), 0);
    wait_parked(other);
    CHECK_EQ(weft_spawn_with(&fiber, &pinned, call_pinned_beside_another, &calls), 0);
    JOIN(fiber, NULL);
    CHECK_EQ(atomic_load(&calls), 1);
    weft_semaphore_release(&let_go, 1);
    JOIN(other, NULL);
    struct wf_fibers *fibers = wf_worker_self()->fibers;
    CHECK_EQ(wf_load_relaxed(&fibers->binding.fallbacks), 1);
    CHECK_EQ(wf_load_relaxed(&fibers->binding.bound), 0);
}

TEST(a_pinned_fiber_that_shares_its_thread_makes_its_call_unbound) {
    for (int i = WEFT_FALLBACK_BLOCKING; i <= WEFT_FALLBACK_ERROR; i++)
        run_fibers_with(&(weft_options){.bound_fallback = (weft_fallback)i}, call_beside_a_pinned_one);
}

static void *make_a_call(void *arg) {
    CHECK_EQ(weft_ffi_call(note_call, arg), 0);
    return NULL;
}

static void *make_two_calls(void *arg) {
    make_a_call(arg);
    return make_a_call(arg);
}

static void count_what_is_learnt(void) {
    struct wf_fibers *fibers = wf_worker_self()->fibers;
    atomic_int calls = 0;
    weft_fiber list[40];
    for (int i = 0; i < 40; i++)
        SPAWN(&list[i], i % 2 ? make_a_call : make_two_calls, &calls);
    for (int i = 0; i < 40; i++)
        JOIN(list[i], NULL);
    CHECK_EQ(atomic_load(&calls), 60);
    CHECK_EQ(wf_load_relaxed(&fibers->foreign_entries), 2);
    CHECK(wf_depth_is_foreign(fibers, make_a_call));
    CHECK(!wf_depth_is_foreign(fibers, wait_pinned));
    CHECK_EQ(wf_load_relaxed(&fibers->binding.bound), 0);
}

TEST(functions_are_learnt_once) {
    run_fibers(count_what_is_learnt);
}

static int call_in_replay(void *arg) {
    atomic_int calls = 0;
    (void)arg;
    CHECK_EQ(weft_ffi_call(note_call, &calls), 0);
    CHECK(weft_is_bound());
    CHECK(weft_ffi_here()->native_sp == NULL);
    weft_ffi_call_bound(weft_ffi_here(), note_call, &calls);
    CHECK_EQ(weft_unbind(), 0);
    CHECK_EQ(atomic_load(&calls), 2);
    return 0;
}

TEST(in_replay_a_call_is_made_in_place) {
    CHECK_EQ(weft_run(&(weft_options){.replay_seed = 5}, call_in_replay, NULL), 0);
}
