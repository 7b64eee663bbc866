/* SPDX-License-Identifier: MIT
 *
 * support/quiet.h - a runtime whose standard error goes to a string.
 *
 * For suites that look at what weft says there. Public headers only; the program has one such string.
 */
#ifndef WF_SUPPORT_QUIET_H
#define WF_SUPPORT_QUIET_H

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/run.h"

static char text[16384]; /* what the last run said */

/* Standard error is a file meanwhile, and in text afterwards. */
static inline int run_quietly(const weft_options *options, int (*first)(void *arg), void *arg) {
    fflush(stderr);
    int file = memfd_create("stderr", MFD_CLOEXEC);
    int kept = dup(STDERR_FILENO);
    CHECK_GE(file, 0);
    CHECK_GE(kept, 0);
    dup2(file, STDERR_FILENO);
    int outcome = weft_run(options, first, arg);
    dup2(kept, STDERR_FILENO);
    close(kept);
    ssize_t length = pread(file, text, sizeof text - 1, 0);
    close(file);
    CHECK_GE(length, 0);
    text[length] = 0;
    return outcome;
}

#endif
