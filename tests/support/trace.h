/* SPDX-License-Identifier: MIT
 *
 * support/trace.h - what happens in which order, a letter for each event.
 *
 *     trace_add('a');
 *     CHECK_TEXT(trace, "ab");
 */
#ifndef WF_SUPPORT_TRACE_H
#define WF_SUPPORT_TRACE_H

#include <string.h>

#include "support/check.h"

static char trace[256];

static inline void trace_add(char letter) {
    size_t length = strlen(trace);
    CHECK(length + 1 < sizeof trace);
    trace[length] = letter;
    trace[length + 1] = 0;
}

/* A letter as the argument of a callback. */
#define LETTER(letter) ((void *)(intptr_t)(letter))

#endif
