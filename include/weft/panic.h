/* SPDX-License-Identifier: MIT
 *
 * weft/panic.h - deferred calls, panics and their recovery.
 *
 *     static void parse(void *arg) {
 *         FILE *file = fopen(arg, "r");
 *         if (!file)
 *             weft_panic("cannot open %s", (char *)arg);
 *         weft_defer(close_file, file);                // runs when the fiber ends or the panic passes here
 *         ...
 *     }
 *     char why[128];
 *     if (weft_try(parse, path, why, sizeof why) != 0)
 *         printf("recovered: %s\n", why);
 *
 * A panic leaves every function of the fiber down to the nearest weft_try, or ends the fiber when there is none: its
 * joiner then gets -EOWNERDEAD, the report goes to standard error, and the rest of the program goes on. On the way,
 * deferred calls run newest first, and so do C++ destructors and cleanup handlers of the frames that are left.
 *
 * A C++ exception that nobody catches ends its fiber in the same way. On a plain thread there is no fiber to end: a
 * panic outside weft_try is fatal there, and weft_defer answers -EPERM.
 */
#ifndef WEFT_PANIC_H
#define WEFT_PANIC_H

#include "weft/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Calls fn(arg) when the innermost weft_try around this call is left or, without one, when the fiber ends; in a callback of
 * a loop that a fiber runs (weft/loop.h), when the callback ends; newest first. The frame that defers is gone by then, so
 * arg must not point into it. Returns 0, -ENOMEM, -EINVAL for a null function, -EPERM on a plain thread. */
WEFT_API int weft_defer(void (*fn)(void *arg), void *arg);

/* Takes back the newest deferred call of the present weft_try and runs it now if run is set. Returns 0, or -ENOENT when
 * there is none. */
WEFT_API int weft_undefer(bool run);

/* Gives up what is being done. The message is cut at 159 bytes. */
WEFT_API WEFT_NORETURN void weft_panic(const char *format, ...) WEFT_PRINTF(1, 2);

/* Calls fn(arg), then what it deferred. Returns -EINVAL for a null function, 0 when fn returned, or -EOWNERDEAD when it panicked: then the message is
 * copied to the buffer (cut to size with its zero; message may be null with size 0). Nests. Works on plain threads as
 * well, without deferred calls. */
WEFT_API int weft_try(void (*fn)(void *arg), void *arg, char *message, size_t size);

#ifdef __cplusplus
}
#endif

#endif
