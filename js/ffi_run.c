/* SPDX-License-Identifier: MIT
 *
 * js/ffi_run.c - where a foreign call runs, and who has the turn meanwhile.
 *
 *     on the loop     in a blocking region, on the stack of its thread. The script waits; callbacks of other threads
 *                     may come in (js/ffi_guest.c), so that a function can wait for threads that call back.
 *     on a go fiber   bound to a thread of its own, without the turn: the loop and other fibers go on. A function that
 *                     was seen to be short lends the turn only (js/lend.c).
 *     as a promise    on a fiber that is started for it, bound as well.
 *     as a guest      on the thread of the guest, which gives the turn back meanwhile.
 *     fast            as it is, on the stack of the caller and with the turn. Nothing may call back.
 *
 * Each has a thread for as long as it lasts, which keeps a list of its calls, so that a callback knows which one it
 * comes from. When no more fibers can be bound the call is made in a blocking region; such calls, and promises, have
 * permits, so that they cannot take all the threads there are.
 */
#include <errno.h>

#include "foreign.h"
#include "stack.h"

/* NATIVE_STACK: as weft/ffi.h has it. STACK_SPARE: what C may need of it below JavaScript. NEAR: between a caller and
 * what it calls on the same stack. */
enum { NATIVE_STACK = 8 << 20, STACK_SPARE = 256 * 1024, NEAR = 64 * 1024 };

/* A call below SHORT is short. After one that was taken for short and lasted, it takes as many as PATIENCE until the
 * next is. */
enum { SHORT = 20 * WEFT_MICROSECOND, PATIENCE = 16 };

static void run_on_loop(struct wf_ffi_call *call);
static void run_as_guest(struct wf_ffi_call *call, struct wf_ffi_guest *guest);
static void run_on_fiber(struct wf_ffi_call *call, struct wf_js_fiber *fiber);
static int run_bound(struct wf_ffi_call *call);
static int run_by_permit(struct wf_ffi_call *call);
static void *run_in_region(void *opaque);
static void run_here(void *opaque);

static __thread struct wf_ffi_call *innermost;

__attribute__((noinline)) struct wf_ffi_call *wf_ffi_innermost(void) {
    return innermost;
}

void wf_ffi_run(struct wf_ffi_call *call) {
    weft_js *js = call->js;
    call->caller = __builtin_frame_address(0);
    if (call->function->is_fast) {
        call->mode = WF_FFI_KEEPS;
        run_here(call);
    } else if (js->holder) {
        run_on_fiber(call, js->holder);
    } else if (js->ffi->guest) {
        run_as_guest(call, js->ffi->guest);
    } else {
        run_on_loop(call);
    }
}

static void run_on_loop(struct wf_ffi_call *call) {
    weft_js *js = call->js;
    call->mode = WF_FFI_LOOP;
    call->frame = wf_engine_frame(js->runtime);
    wf_ffi_guest_admit(js);
    weft_blocking_begin(); /* so that the loop's fiber is not bound by it */
    int status = weft_ffi_call(run_here, call);
    weft_blocking_end();
    wf_ffi_guest_dismiss(js, call->frame);
    wf_js_set_stack(js, js->stack_end);
    if (status)
        call->status = status;
}

static void run_as_guest(struct wf_ffi_call *call, struct wf_ffi_guest *guest) {
    call->mode = WF_FFI_GUEST;
    call->guest = guest;
    wf_ffi_guest_give(call->js, guest);
    int status = weft_ffi_call(run_here, call);
    wf_ffi_guest_take(call->js, guest);
    if (status)
        call->status = status;
}

static void run_on_fiber(struct wf_ffi_call *call, struct wf_js_fiber *fiber) {
    struct wf_ffi_function *function = call->function;
    bool is_bound = weft_is_bound(), was_kept;
    bool lazily = is_bound && function->patience == 0;
    call->mode = WF_FFI_FIBER;
    call->fiber = fiber;
    weft_time begun = lazily ? 0 : (fiber->since = weft_now());
    call->is_lent = wf_ffi_drop_turn(fiber, lazily);
    int status = run_bound(call);
    bool is_short = !lazily && is_bound && weft_now() - begun < SHORT;
    if (!wf_ffi_regain_turn(fiber, &was_kept)) {
        wf_js_stack_hide();
        weft_exit(NULL); /* the loop is over: nobody will ever lend the turn again */
    }
    wf_js_set_stack(call->js, fiber->stack_end);
    if (call->is_lent && !was_kept)
        function->patience = PATIENCE;
    else if (is_short && function->patience > 0)
        function->patience--;
    if (status)
        call->status = status;
}

/* What the fiber waits for, as a report has it; nobody can cancel it. */
static struct wf_js_wait foreign = {.what = "a foreign function"};

bool wf_ffi_drop_turn(struct wf_js_fiber *fiber, bool lazily) {
    fiber->waiting = &foreign;
    return wf_js_turn_drop(fiber, lazily);
}

bool wf_ffi_regain_turn(struct wf_js_fiber *fiber, bool *was_kept) {
    if (!wf_js_turn_regain(fiber, was_kept))
        return false;
    fiber->waiting = NULL;
    return true;
}

static int run_bound(struct wf_ffi_call *call) {
    if (innermost || weft_is_bound() || weft_bind(NULL) == 0) /* inside of another one it has its thread already */
        return weft_ffi_call(run_here, call);
    return run_by_permit(call);
}

int wf_ffi_run_apart(struct wf_ffi_call *call) {
    call->mode = WF_FFI_APART;
    call->caller = __builtin_frame_address(0);
    return run_by_permit(call);
}

static int run_by_permit(struct wf_ffi_call *call) {
    weft_semaphore *permits = &call->js->ffi->apart;
    int status = weft_semaphore_acquire(permits, 1, WEFT_NEVER);
    if (status)
        return status;
    if (weft_bind(NULL) == 0)
        status = weft_ffi_call(run_here, call);
    else if (weft_blocking(run_in_region, call))
        status = call->status;
    weft_semaphore_release(permits, 1);
    return status;
}

/* Whether it was not called. */
static void *run_in_region(void *opaque) {
    struct wf_ffi_call *call = opaque;
    int status = weft_ffi_call(run_here, call);
    if (status)
        call->status = status;
    return status ? call : NULL;
}

static void run_here(void *opaque) {
    struct wf_ffi_call *call = opaque;
    const struct wf_ffi_function *function = call->function;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0), caller = (uintptr_t)call->caller;
    bool is_same = here <= caller && caller - here < NEAR;
    call->stack_end = is_same ? NULL : (const char *)(here - NATIVE_STACK + STACK_SPARE);
    call->outer = innermost;
    innermost = call;
    errno = 0;
    call->status = weft_ffi_invoke_plain(function->symbol, call->values, function->signature->count, &call->result);
    call->number = errno;
    innermost = call->outer;
}

/* ---- What is no function of a script ---- */

struct quiet {
    struct wf_ffi_call call;
    void (*fn)(void *arg);
    void *arg;
};

static void run_quiet_here(void *opaque) {
    struct quiet *quiet = opaque;
    quiet->call.outer = innermost;
    innermost = &quiet->call;
    quiet->fn(quiet->arg);
    innermost = quiet->call.outer;
}

void wf_ffi_run_quiet(weft_js *js, void (*fn)(void *arg), void *arg) {
    struct quiet quiet = {.call = {.js = js, .mode = WF_FFI_KEEPS}, .fn = fn, .arg = arg};
    weft_blocking_begin();
    if (weft_ffi_call(run_quiet_here, &quiet) != 0)
        run_quiet_here(&quiet);
    weft_blocking_end();
}
