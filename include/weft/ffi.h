/* SPDX-License-Identifier: MIT
 *
 * weft/ffi.h - foreign calls: into libraries that know nothing of fibers.
 *
 *     static void solve(void *arg) { struct system *s = arg; s->info = LAPACKE_dgesv(...); }
 *     ...
 *     weft_ffi_call(solve, &system);
 *
 * The first foreign call of a fiber binds it (weft/thread.h): from then on it has a thread of its own, so thread-locals of
 * the library stay with it and no call holds up other fibers. Every foreign call runs on that thread's own stack of 8 MiB,
 * and costs what a call through a pointer costs. The binding ends with the fiber, or by weft_unbind. A function whose fibers
 * were seen to make foreign calls is started bound.
 *
 * At most the option max_bound fibers are bound at once; what happens to the next one says the option bound_fallback:
 *   WEFT_FALLBACK_BLOCKING   the call is made unbound, inside a blocking region, on whatever thread the fiber is on (default)
 *   WEFT_FALLBACK_WAIT       the fiber waits until another one is unbound; it can be cancelled
 *   WEFT_FALLBACK_ERROR      -EAGAIN
 * A fiber that is pinned to a thread which it shares is not bound; its calls are made in a blocking region in any case.
 *
 * In replay (weft/runtime.h) foreign calls run on the fiber's own stack: one that needs more has to be spawned with it.
 *
 * A foreign call is not interrupted: a fiber that is cancelled meanwhile learns of it at its next wait. Inside of one all of
 * weft may be called; what waits then waits with the thread. A panic may leave a foreign call; the library's own frames are
 * unwound if they can be, and skipped if not.
 *
 * Dynamic calls name a function of a shared library and its signature at run time; they need libffi, and return -ENOSYS
 * in a build without it.
 *
 *     weft_ffi_library *m;
 *     weft_ffi_symbol *pow;
 *     weft_ffi_open(&m, "libm.so.6");
 *     weft_ffi_bind_symbol(&pow, m, "pow", "dd)d");
 *     weft_ffi_value args[] = {{.f64 = 2}, {.f64 = 10}}, result;
 *     weft_ffi_invoke(pow, args, 2, &result);                     // result.f64 is 1024
 *
 * Signatures: one letter for each argument, a closing parenthesis, one for the result.
 *   v nothing (result only)   B bool   c C int8, uint8   s S int16, uint16   i I int, unsigned   j J long, unsigned long
 *   l L int64, uint64   f float   d double   p pointer   Z string (a pointer to char, not copied)
 *   {...} a struct of these, by value: in a weft_ffi_value it is a pointer to its bytes, laid out as the compiler does
 *   . after the first arguments or later ones: those behind it are variable, as of printf; as C promotes them, they are
 *     never B, c, C, s, S or f
 * At most 64 arguments, and 1,024 members of structs in all, at most 16 structs one inside another.
 */
#ifndef WEFT_FFI_H
#define WEFT_FFI_H

#include "weft/thread.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Calls fn(arg) as a foreign call. On a plain thread it is just called. Returns 0 when fn has returned; -EAGAIN when the
 * fiber could not be bound and the fallback is WEFT_FALLBACK_ERROR; -EINVAL for a null fn; -ECANCELED when the fiber was cancelled while it waited
 * to be bound. fn was not called then. */
WEFT_API int weft_ffi_call(void (*fn)(void *arg), void *arg);

/* For code generators: a call site that costs one load when the fiber is bound.
 *
 *     if (weft_ffi_is_bound(here))   // one load and a branch
 *         weft_ffi_call_bound(here, fn, arg);
 *     else
 *         error = weft_ffi_call(fn, arg);
 *
 * The layout is part of the binary interface: fields keep their place, later versions only add. The pointer is good for the
 * calling fiber, for as long as it lives and on whatever thread; on a plain thread it is a site that says it is bound. */
typedef struct weft_ffi_site {
    uint32_t is_bound; /* not 0: bound. Written by the fiber itself only */
    uint32_t reserved;
    void *
        native_sp; /* where the next foreign call's stack begins, aligned to 16; null: it is called on the present one */
} weft_ffi_site;

WEFT_API weft_ffi_site *weft_ffi_here(void);
static inline bool weft_ffi_is_bound(const weft_ffi_site *here) {
    return here->is_bound != 0;
}
/* The call alone. Fatal when the fiber is not bound. */
WEFT_API void weft_ffi_call_bound(weft_ffi_site *here, void (*fn)(void *arg), void *arg);

typedef struct weft_ffi_library weft_ffi_library;
typedef struct weft_ffi_symbol weft_ffi_symbol;
typedef struct weft_ffi_callback weft_ffi_callback;

/* One argument or result; which member counts says the signature. */
typedef union weft_ffi_value {
    bool b;
    int8_t i8;
    uint8_t u8;
    int16_t i16;
    uint16_t u16;
    int i;
    unsigned u;
    long j;
    unsigned long uj;
    int64_t i64;
    uint64_t u64;
    float f32;
    double f64;
    void *pointer; /* p, and the bytes of a struct */
    const char *string;
} weft_ffi_value;

/* Loads a shared library, and what it needs, by its name or path; null is the program itself. Runs as a foreign call:
 * constructors of the library may do anything but panic. Returns 0; -ENOENT when it, or one that it needs, is not
 * there; -EINVAL for a null out, an empty name, or a file that cannot be loaded; -ENOMEM; and what weft_ffi_call
 * returns. */
WEFT_API int weft_ffi_open(weft_ffi_library **out, const char *path);
/* The library stays loaded until its last symbol is freed; unloading it is a foreign call. Null is allowed, as in all
 * the functions below that end something. */
WEFT_API void weft_ffi_close(weft_ffi_library *library);

/* The address of a variable, or of a function, which is there as long as the library is. Returns 0; -ENOENT for a symbol that
 * the library has not; -EINVAL for a null pointer; and what weft_ffi_call returns. */
WEFT_API int weft_ffi_find(void **out, weft_ffi_library *library, const char *name);
/* A function with its signature, ready to be called from any fiber and thread, also at the same time. Returns 0;
 * -ENOENT for a symbol that the library has not; -EINVAL for a wrong signature or a null pointer; -E2BIG for one over
 * the limits; -ENOMEM; and what weft_ffi_call returns. Whether the signature is that of the function, nobody can check.
 * */
WEFT_API int weft_ffi_bind_symbol(weft_ffi_symbol **out, weft_ffi_library *library, const char *name,
                                  const char *signature);
/* The same for a function that the program has the address of, and that stays where it is. */
WEFT_API int weft_ffi_bind_address(weft_ffi_symbol **out, void *address, const char *signature);
WEFT_API void weft_ffi_symbol_free(weft_ffi_symbol *symbol);

/* Calls it, as a foreign call. result may be null if it is of no interest; for a struct, result->pointer says where its
 * bytes go. Returns 0; -EINVAL when count is not what the signature says, or for a null pointer that is needed; and
 * what weft_ffi_call returns. */
WEFT_API int weft_ffi_invoke(const weft_ffi_symbol *symbol, const weft_ffi_value *args, unsigned count,
                             weft_ffi_value *result);

/* The same as C would call it: on the stack and the thread that the caller is on, which is not bound by it. For functions that
 * are short, never wait and need little stack. */
WEFT_API int weft_ffi_invoke_plain(const weft_ffi_symbol *symbol, const weft_ffi_value *args, unsigned count,
                                   weft_ffi_value *result);

/* The bytes of the struct in braces, as in "{id}", or of one letter. Returns -EINVAL or -E2BIG when it is no type. */
WEFT_API int weft_ffi_size_of(const char *type);

/* A function pointer for foreign code that calls handler. It may be called on the thread of a foreign call, and the
 * handler is then part of the fiber that made it, which a panic may leave; or on any other thread, where the handler
 * runs as on any plain thread, or, with WEFT_CALLBACK_ON_FIBER, on a new fiber of the oldest runtime that the thread
 * waits for (in place when no runtime runs or it has no room for one more). There a panic is fatal, because nobody
 * could catch it. args and what they point to are good until the handler returns. A struct result is written to
 * result->pointer; a result that the handler does not write is zero. In replay no fiber runs while a
 * foreign call waits for such a thread. */
typedef void (*weft_ffi_handler)(const weft_ffi_value *args, weft_ffi_value *result, void *arg);
enum { WEFT_CALLBACK_ON_FIBER = 1 };
/* Makes one. Returns 0; -EINVAL for a wrong signature, one with variable arguments, a null pointer or unknown flags;
 * -E2BIG for a signature over the limits; -ENOMEM. */
WEFT_API int weft_ffi_callback_new(weft_ffi_callback **out, const char *signature, weft_ffi_handler handler, void *arg,
                                   unsigned flags);
/* What to hand to the library, as a pointer to a function. */
WEFT_API void *weft_ffi_callback_address(const weft_ffi_callback *callback);
/* Nobody calls it any more, nor is inside of it. */
WEFT_API void weft_ffi_callback_free(weft_ffi_callback *callback);

/* Why the last call of these that failed for the calling fiber, or plain thread, has failed: in words that name the
 * place in the signature or are the loader's. Never null. Good until the next failure, or the fiber's end. */
WEFT_API const char *weft_ffi_reason(void);

#ifdef __cplusplus
}
#endif

#endif
