/* SPDX-License-Identifier: MIT
 *
 * ffi/callback.c - function pointers for foreign code.
 *
 * A callback is a closure of libffi: a piece of code that ends up in callback_enter with the callback and pointers to
 * its arguments. Where the handler runs depends on who calls:
 *
 *     the thread of a foreign call       there, as part of the fiber that made the call
 *     another thread                     there, as on any plain thread
 *     another thread, ON_FIBER           on a new fiber of the oldest runtime, which the thread joins; there, when no
 *                                        runtime runs or it has no room: the caller wants its answer anyway
 *
 * A panic passes callback_enter only in the first case. Foreign frames and those of libffi have unwind tables on the
 * machines that weft knows, so cleanups in between run. Everywhere else it would meet the end of a stack that is not
 * ours; there it is caught here, to end the process with words that say what happened.
 */
#ifdef WF_LIBFFI

#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "base/atomic.h"
#include "ffi/dynamic.h"
#include "ffi/signature.h"
#include "os/fault.h"
#include "os/memory.h"
#include "os/report.h"
#include "weft/panic.h"

struct weft_ffi_callback {
    ffi_closure *closure; /* where it can be written */
    void *code;           /* where it can be called */
    struct wf_signature *signature;
    weft_ffi_handler handler;
    void *arg;
    unsigned flags;
};

/* One call of it. */
struct arrival {
    const weft_ffi_callback *callback;
    const weft_ffi_value *args;
    weft_ffi_value *result;
    _Atomic bool has_begun; /* its fiber has run: one writer, read when it is gone */
};

static int closure_new(weft_ffi_callback *callback);
static void callback_enter(ffi_cif *cif, void *result, void **arguments, void *opaque);
static void callback_run_elsewhere(struct arrival *arrival);
static void *callback_run_on_fiber(void *opaque);
static void callback_run_guarded(struct arrival *arrival);
static void callback_run(void *opaque);
static void callback_hand_back(const struct wf_signature *signature, const weft_ffi_value *value, void *result);

int weft_ffi_callback_new(weft_ffi_callback **out, const char *signature, weft_ffi_handler handler, void *arg,
                          unsigned flags) {
    if (!out || !signature || !handler)
        return wf_ffi_fail_null(!out ? "the place for the callback" : !signature ? "the signature" : "the handler");
    if (flags & ~(unsigned)WEFT_CALLBACK_ON_FIBER)
        return wf_ffi_fail(-EINVAL, "unknown flags %#x", flags & ~(unsigned)WEFT_CALLBACK_ON_FIBER);
    weft_ffi_callback *callback = wf_os_alloc(sizeof *callback);
    if (!callback)
        return wf_ffi_fail_memory();
    callback->handler = handler;
    callback->arg = arg;
    callback->flags = flags;
    int error = wf_signature_new(&callback->signature, signature, WF_SIGNATURE_CALLBACK);
    if (error)
        goto free_callback;
    error = closure_new(callback);
    if (error)
        goto free_signature;
    *out = callback;
    return 0;

free_signature:
    wf_os_free(callback->signature);
free_callback:
    wf_os_free(callback);
    return error;
}

static int closure_new(weft_ffi_callback *callback) {
    callback->closure = wf_fault(WF_CALL_CLOSURE) ? NULL : ffi_closure_alloc(sizeof(ffi_closure), &callback->code);
    if (!callback->closure)
        return wf_ffi_fail(-ENOMEM, "the system gives no memory that can be executed");
    ffi_status status =
        ffi_prep_closure_loc(callback->closure, &callback->signature->cif, callback_enter, callback, callback->code);
    if (status == FFI_OK)
        return 0;
    ffi_closure_free(callback->closure);
    return wf_ffi_fail(-EINVAL, "libffi refuses the callback (status %d)", (int)status);
}

void *weft_ffi_callback_address(const weft_ffi_callback *callback) {
    return callback ? callback->code : NULL;
}

void weft_ffi_callback_free(weft_ffi_callback *callback) {
    if (!callback)
        return;
    ffi_closure_free(callback->closure);
    wf_os_free(callback->signature);
    wf_os_free(callback);
}

static void callback_enter(ffi_cif *cif, void *result, void **arguments, void *opaque) {
    const weft_ffi_callback *callback = opaque;
    const struct wf_signature *signature = callback->signature;
    weft_ffi_value args[WF_FFI_ARGUMENTS_MAX];
    weft_ffi_value value = {0};
    for (uint32_t i = 0; i < signature->count; i++) {
        args[i] = (weft_ffi_value){.u64 = 0};
        if (signature->letters[i] == '{')
            args[i].pointer = arguments[i];
        else
            memcpy(&args[i], arguments[i], cif->arg_types[i]->size);
    }
    if (signature->result == '{') {
        memset(result, 0, cif->rtype->size);
        value.pointer = result;
    }
    struct arrival arrival = {.callback = callback, .args = args, .result = &value};
    if (weft_self().bits)
        callback_run(&arrival);
    else
        callback_run_elsewhere(&arrival);
    callback_hand_back(signature, &value, result);
}

static void callback_run_elsewhere(struct arrival *arrival) {
    weft_fiber fiber;
    if ((arrival->callback->flags & WEFT_CALLBACK_ON_FIBER) &&
        weft_spawn(&fiber, callback_run_on_fiber, arrival) == 0) {
        (void)weft_join(fiber, NULL, WEFT_NEVER); /* fails for a fiber without a stack, and one that was abandoned */
        if (wf_load_relaxed(&arrival->has_begun))
            return;
    }
    callback_run_guarded(arrival);
}

static void *callback_run_on_fiber(void *opaque) {
    struct arrival *arrival = opaque;
    wf_store_relaxed(&arrival->has_begun, true);
    callback_run_guarded(arrival);
    return NULL;
}

static void callback_run_guarded(struct arrival *arrival) {
    char why[160];
    if (weft_try(callback_run, arrival, why, sizeof why) != 0)
        wf_fatal("a callback was left by a panic on a thread that makes no foreign call of a fiber, where nobody can "
                 "catch it: %s",
                 why);
}

static void callback_run(void *opaque) {
    struct arrival *arrival = opaque;
    const weft_ffi_callback *callback = arrival->callback;
    callback->handler(arrival->args, arrival->result, callback->arg);
}

/* The caller looks at whole registers, so short integers are extended by their sign or by zeros. */
static void callback_hand_back(const struct wf_signature *signature, const weft_ffi_value *value, void *result) {
    switch (signature->result) {
    case 'v':
    case '{': /* written in place */
        break;
    case 'B':
        *(ffi_arg *)result = value->b;
        break;
    case 'c':
        *(ffi_sarg *)result = (ffi_sarg)value->i8;
        break;
    case 'C':
        *(ffi_arg *)result = value->u8;
        break;
    case 's':
        *(ffi_sarg *)result = value->i16;
        break;
    case 'S':
        *(ffi_arg *)result = value->u16;
        break;
    case 'i':
        *(ffi_sarg *)result = value->i;
        break;
    case 'I':
        *(ffi_arg *)result = value->u;
        break;
    default:
        memcpy(result, value, signature->cif.rtype->size);
    }
}

#endif

typedef int wf_callback_unit_is_not_empty;
