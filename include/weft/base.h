/* SPDX-License-Identifier: MIT
 *
 * weft/base.h - what every other header needs: visibility, the shape of errors, fatal misuse.
 *
 * Functions return an int: 0 or a count on success, a negative errno value on failure (-ETIMEDOUT, -ESTALE, -ENOMEM,
 * ...). weft never reports through errno and never asks a caller to read it, because a fiber may move to another thread between
 * the call and the read. Outputs go through pointers and are written on success only.
 *
 * Breaking a rule that a contract states is not an error to handle but a bug to find: weft_fatal prints which rule was
 * broken and ends the process.
 */
#ifndef WEFT_BASE_H
#define WEFT_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weft/version.h"

#if defined(__GNUC__)
#define WEFT_API __attribute__((visibility("default")))
#define WEFT_NORETURN __attribute__((noreturn))
#define WEFT_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define WEFT_API
#define WEFT_NORETURN
#define WEFT_PRINTF(text, first)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that is running, "major.minor.patch". */
WEFT_API const char *weft_version(void);

/* Prints "weft: fatal: " and the message to standard error and aborts the process. weft calls it when a documented
 * rule is broken; programs may call it for the same purpose. Safe from any thread and any fiber. */
WEFT_API WEFT_NORETURN void weft_fatal(const char *format, ...) WEFT_PRINTF(1, 2);

#ifdef __cplusplus
}
#endif

#endif
