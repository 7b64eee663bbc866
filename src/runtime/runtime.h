/* SPDX-License-Identifier: MIT
 *
 * runtime/runtime.h - the composition root: one struct that holds a whole runtime, and its order of start and stop.
 *
 *     starting --> running --> draining --> stopped
 *         `-----------------------------------^        (a start that failed)
 *
 * Everything below is a member of something that is a member of this; nothing is reached through globals but the table
 * that leads from ids to runtimes.
 */
#ifndef WF_RUNTIME_RUNTIME_H
#define WF_RUNTIME_RUNTIME_H

#include "fiber/fiber.h"
#include "weft/runtime.h"

struct weft_runtime {
    struct wf_fibers fibers; /* first: a weft_runtime pointer is a wf_fibers pointer */
    int (*first)(void *arg);
    void *first_arg;
    int outcome; /* of the first fiber */
    bool handles_faults;
};

/* Options after defaults and environment. Says on standard error what is wrong, and returns -EINVAL. */
int wf_options_resolve(const weft_options *given, weft_options *out);

/* Registers the fork handler, once for the process. Returns 0 or -ENOMEM. */
int wf_fork_prepare(void);

#endif
