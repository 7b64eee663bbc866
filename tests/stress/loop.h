/* SPDX-License-Identifier: MIT
 *
 * stress/loop.h - what the stress suites of loops share: how much to do, and who runs the loop.
 *
 * The owner is a plain thread or a fiber, and sleeps on a word or in epoll: four ways. WEFT_LOOP_FULL=1 runs the long
 * versions: twenty times a hundred threads with 10,000 submits each, 1,000 rounds of each end, 10,000 loops made and ended.
 */
#ifndef WF_STRESS_LOOP_H
#define WF_STRESS_LOOP_H

#include "support/run.h"

static inline long amount(long usual, long least, long full) {
    const char *value = getenv("WEFT_LOOP_FULL");
    return value && value[0] == '1' ? full : scaled(usual, least);
}

enum { WAYS = 4 };

struct owner {
    weft_loop *loop;
    bool is_fiber;
    int (*run)(void *owner);
    pthread_t thread;
    int status;
};

static inline int owner_run(void *opaque) {
    struct owner *owner = opaque;
    do
        owner->status = weft_loop_run(owner->loop, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER);
    while (owner->status == 1);
    return 0;
}

static inline void *owner_main(void *opaque) {
    struct owner *owner = opaque;
    if (owner->is_fiber)
        CHECK_EQ(weft_run(NULL, owner->run, owner), 0);
    else
        owner->run(owner);
    return NULL;
}

static inline weft_loop *loop_of(int way, weft_loop_options options) {
    weft_loop *loop = NULL;
    options.fast = way & 1 ? WEFT_LOOP_FAST_DISABLED : WEFT_LOOP_FAST_AUTO;
    CHECK_EQ(weft_loop_new(&loop, &options), 0);
    return loop;
}

static inline void owner_start_with(struct owner *owner, weft_loop *loop, int way, int (*run)(void *owner)) {
    *owner = (struct owner){.loop = loop, .is_fiber = way & 2, .run = run};
    owner->thread = thread_start(owner_main, owner);
}

static inline void owner_start(struct owner *owner, weft_loop *loop, int way) {
    owner_start_with(owner, loop, way, owner_run);
}

static inline void owner_join(struct owner *owner) {
    thread_join(owner->thread);
    CHECK_EQ(weft_loop_get_state(owner->loop), WEFT_LOOP_TERMINATED);
    weft_loop_unref(owner->loop);
}

#endif
