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
    const struct wf_runtime_plan *plan; /* or NULL */
    struct wf_deadlock deadlock;
};

/* Wishes that nobody came back for. Nothing runs any more. */
void wf_dump_term(weft_runtime *runtime);

/* Options after defaults and environment. Says on standard error what is wrong, and returns -EINVAL. is_planned: the number of
 * workers and replay are not the environment's affair. */
int wf_options_resolve(const weft_options *given, bool is_planned, weft_options *out);

/* A runtime that is part of something else: a pool. What it points to stays until wf_runtime_run has returned. With a supply, the
 * calling thread is taken for one that was started for this and is not the program's own. */
struct wf_runtime_plan {
    const struct wf_supply *supply; /* or NULL */
    void *supply_owner;
    const char *name;   /* of its threads; NULL: as usual */
    const char *cpus;   /* where its threads run, as in "0-3,8"; NULL: anywhere */
    int nice;           /* of its threads, if not 0 */
    bool has_stand_ins; /* for fibers that compute for too long */
    uint32_t wanted;    /* processors, from options->workers on; 0: as many as these. Those above come by and by */
    uint32_t resident;  /* of those above, how many stay however long they have nothing to do */
    int64_t extra_keep_alive_ns; /* how long the others do; 0 or WF_NEVER: as long as the runtime */
    /* Everything has started, nothing has run: on the calling thread. Not called when wf_runtime_run fails to start. */
    void (*ready)(void *arg, struct wf_fibers *fibers);
    void *arg; /* of ready */
};

/* weft_run, by a plan if that is not NULL. Besides the errors of weft_run those of cpus and nice, for the calling thread:
 * -EINVAL, -EPERM. A runtime with a supply never reports a deadlock, and counts as something outside for the others. */
int wf_runtime_run(const weft_options *given, const struct wf_runtime_plan *plan, int (*first)(void *arg), void *arg);

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
