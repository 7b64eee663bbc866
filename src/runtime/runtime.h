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

/* What is known about a silence: runtime/deadlock.c. */
struct wf_deadlock {
    struct wf_lock lock;
    uint64_t switches; /* under lock: the sum when all workers were last found idle */
    int64_t check_at;  /* under lock: when that is looked into; WF_NEVER: it was */
    int checks_left;   /* under lock */
};

struct weft_runtime {
    struct wf_fibers fibers; /* first: a weft_runtime pointer is a wf_fibers pointer */
    int (*first)(void *arg);
    void *first_arg;
    int outcome; /* of the first fiber */
    struct wf_lock dumps_lock;
    struct wf_dump_request *dumps; /* under dumps_lock: wishes of plain threads */
    bool handles_faults;
    struct wf_deadlock deadlock;
};

/* Wishes that nobody came back for. Nothing runs any more. */
void wf_dump_term(weft_runtime *runtime);

/* Options after defaults and environment. Says on standard error what is wrong, and returns -EINVAL. */
int wf_options_resolve(const weft_options *given, weft_options *out);

/* As fibers->on_rest: reports a deadlock and ends the runtime. */
int64_t wf_deadlock_rest(struct wf_fiber_worker *worker, int64_t now);

/* A picture of every fiber of a runtime, taken while its world is stopped, by a fiber of it or on a worker's own stack.
 * except: left out; may be NULL. Returns NULL when there is no memory at all. */
struct wf_picture *wf_picture_take(struct wf_fibers *fibers, const struct wf_fiber *except);
/* Writes it as text. Returns 0, -ENOMEM when something had to be left out, or the error of write. */
int wf_picture_print(struct wf_picture *picture, int fd);
void wf_picture_free(struct wf_picture *picture);

/* Registers the fork handler, once for the process. Returns 0 or -ENOMEM. */
int wf_fork_prepare(void);

#endif
