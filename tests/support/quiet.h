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

struct quiet {
    int file;
    int kept;
};

/* Standard error is a file from here on, and in text afterwards. */
static inline struct quiet quiet_begin(void) {
    fflush(stderr);
    struct quiet quiet = {.file = memfd_create("stderr", MFD_CLOEXEC), .kept = dup(STDERR_FILENO)};
    CHECK_GE(quiet.file, 0);
    CHECK_GE(quiet.kept, 0);
    dup2(quiet.file, STDERR_FILENO);
    return quiet;
}

static inline void quiet_end(struct quiet quiet) {
    dup2(quiet.kept, STDERR_FILENO);
    close(quiet.kept);
    ssize_t length = pread(quiet.file, text, sizeof text - 1, 0);
    close(quiet.file);
    CHECK_GE(length, 0);
    text[length] = 0;
}

static inline int run_quietly(const weft_options *options, int (*first)(void *arg), void *arg) {
    struct quiet quiet = quiet_begin();
    int outcome = weft_run(options, first, arg);
    quiet_end(quiet);
    return outcome;
}

#endif
