/* SPDX-License-Identifier: MIT
 *
 * ffi/invoke.c - calling a function by its signature.
 *
 * libffi wants a pointer to each argument and a place for the result. Arguments are read where the caller has them:
 * every member of a weft_ffi_value begins at its first byte, and a struct is a pointer to its bytes anyway. An integer
 * result that is shorter than a register comes back as a whole one (ffi_arg) and is cut to its type; so it goes into a
 * place of our own first, and so does a small struct, of which some machines write a whole register as well.
 *
 * Most functions take no more than registers hold, and are called without libffi: ffi/direct.c.
 *
 * The whole is one foreign call, or with weft_ffi_invoke_plain just a call. Nothing is allocated, so a panic that
 * leaves the function leaves nothing behind.
 */
#ifdef WF_LIBFFI

#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "ffi/direct.h"
#include "ffi/dynamic.h"
#include "ffi/signature.h"

/* Room for what comes back in registers: at most four of them, for four doubles in a struct. */
union place {
    ffi_arg word;
    ffi_sarg signed_word;
    uint64_t u64;
    float f32;
    double f64;
    unsigned char bytes[64];
};

struct invocation {
    const weft_ffi_symbol *symbol;
    const weft_ffi_value *args;
    void **arguments; /* for libffi */
    void *result;     /* the same: the place, or for a large struct the caller's */
    union place place;
};

static int invoke_by(int (*by)(void (*fn)(void *arg), void *arg), const weft_ffi_symbol *symbol,
                     const weft_ffi_value *args, unsigned count, weft_ffi_value *result);
static int just_call(void (*fn)(void *arg), void *arg);
static int check_invocation(const weft_ffi_symbol *symbol, const weft_ffi_value *args, unsigned count,
                            const weft_ffi_value *result);
static void invoke_here(void *opaque);
static void invoke_hand_over(const struct wf_signature *signature, const union place *place, weft_ffi_value *result);

int weft_ffi_invoke(const weft_ffi_symbol *symbol, const weft_ffi_value *args, unsigned count, weft_ffi_value *result) {
    return invoke_by(wf_ffi_foreign, symbol, args, count, result);
}

int weft_ffi_invoke_plain(const weft_ffi_symbol *symbol, const weft_ffi_value *args, unsigned count,
                          weft_ffi_value *result) {
    return invoke_by(just_call, symbol, args, count, result);
}

static int just_call(void (*fn)(void *arg), void *arg) {
    fn(arg);
    return 0;
}

static inline __attribute__((always_inline)) int invoke_by(int (*by)(void (*fn)(void *arg), void *arg),
                                                           const weft_ffi_symbol *symbol, const weft_ffi_value *args,
                                                           unsigned count, weft_ffi_value *result) {
    void *arguments[WF_FFI_ARGUMENTS_MAX];
    struct invocation call;
    int error = check_invocation(symbol, args, count, result);
    if (WF_UNLIKELY(error))
        return error;
    const struct wf_signature *signature = symbol->signature;
    for (unsigned i = 0; i < count && !signature->is_direct; i++)
        arguments[i] = signature->letters[i] == '{' ? args[i].pointer : (void *)(uintptr_t)&args[i];
    call.symbol = symbol;
    call.args = args;
    call.arguments = arguments;
    call.result = &call.place;
    call.place.u64 = 0;
    if (signature->result == '{' && signature->cif.rtype->size > sizeof call.place)
        call.result = result ? result->pointer : NULL; /* libffi has a place of its own for what nobody wants */
    error = by(invoke_here, &call);
    if (!error && result && call.result == &call.place)
        invoke_hand_over(signature, &call.place, result);
    return error;
}

static int check_invocation(const weft_ffi_symbol *symbol, const weft_ffi_value *args, unsigned count,
                            const weft_ffi_value *result) {
    if (!symbol)
        return wf_ffi_fail_null("the symbol");
    const struct wf_signature *signature = symbol->signature;
    if (count != signature->count)
        return wf_ffi_fail(-EINVAL, "%u arguments where the signature has %u", count, signature->count);
    if (count && !args)
        return wf_ffi_fail_null("the list of arguments");
    for (unsigned i = 0; i < count && !signature->is_direct; i++)
        if (signature->letters[i] == '{' && !args[i].pointer)
            return wf_ffi_fail(-EINVAL, "argument %u is a struct, and its pointer is null", i + 1);
    if (signature->result == '{' && result && !result->pointer)
        return wf_ffi_fail(-EINVAL, "the result is a struct, and the pointer to where it goes is null");
    return 0;
}

int wf_ffi_foreign(void (*fn)(void *arg), void *arg) {
    int error = weft_ffi_call(fn, arg);
    if (WF_LIKELY(!error))
        return 0;
    if (error == -EAGAIN)
        return wf_ffi_fail(error, "no more fibers can be bound to a thread, and the option bound_fallback forbids "
                                  "to call without");
    if (error == -ECANCELED)
        return wf_ffi_fail(error, "the fiber was cancelled while it waited to be bound to a thread");
    return wf_ffi_fail(error, "the foreign call was refused (error %d)", -error);
}

static void invoke_here(void *opaque) {
    struct invocation *call = opaque;
    struct wf_signature *signature = call->symbol->signature;
    if (signature->is_direct)
        call->place.u64 = wf_direct_call(signature, call->symbol->address, call->args);
    else
        ffi_call(&signature->cif, FFI_FN(call->symbol->address), call->result, call->arguments);
}

static void invoke_hand_over(const struct wf_signature *signature, const union place *place, weft_ffi_value *result) {
    switch (signature->result) {
    case 'v':
        break;
    case '{':
        memcpy(result->pointer, place->bytes, signature->cif.rtype->size);
        break;
    case 'B':
        result->b = (uint8_t)place->word != 0;
        break;
    case 'c':
        result->i8 = (int8_t)place->signed_word;
        break;
    case 'C':
        result->u8 = (uint8_t)place->word;
        break;
    case 's':
        result->i16 = (int16_t)place->signed_word;
        break;
    case 'S':
        result->u16 = (uint16_t)place->word;
        break;
    case 'i':
        result->i = (int)place->signed_word;
        break;
    case 'I':
        result->u = (unsigned)place->word;
        break;
    case 'f':
        result->f32 = place->f32;
        break;
    case 'd':
        result->f64 = place->f64;
        break;
    default: /* longs, 64 bits and pointers: whole registers */
        memcpy(result, place->bytes, signature->cif.rtype->size);
    }
}

#endif

typedef int wf_invoke_unit_is_not_empty;
