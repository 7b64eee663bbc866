/* SPDX-License-Identifier: MIT
 *
 * spec/loop_source.h - a loop, a source and what it was told, for the suites about sources.
 *
 * Public headers only. One loop at a time; bodies run on a plain thread and on a fiber alike: both_ways.
 */
#ifndef WF_SPEC_LOOP_SOURCE_H
#define WF_SPEC_LOOP_SOURCE_H

#include "support/parked.h"

static weft_loop *loop;

static inline void both_ways(void (*body)(void)) {
    body();
    run_fibers(body);
}

static inline void begin(void) {
    CHECK_EQ(weft_loop_new(&loop, NULL), 0);
}
static inline void run_to_end(void) {
    CHECK_EQ(weft_loop_run(loop, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER), 0);
    CHECK_EQ(weft_loop_get_state(loop), WEFT_LOOP_TERMINATED);
    weft_loop_unref(loop);
}
static inline weft_chan *make_chan(int capacity) {
    weft_chan *chan;
    CHECK_EQ(weft_chan_new(&chan, sizeof(int), capacity), 0);
    return chan;
}

/* A source under test: what it was told, and what it does then. */
struct tale {
    int value; /* where the case puts it */
    int calls;
    int last_status;
    int statuses[8];
    int values[8];
    weft_source source;
    weft_chan *chan; /* for those who need it */
    void (*then)(struct tale *tale);
};
static inline void told(int status, void *arg) {
    struct tale *tale = arg;
    CHECK(weft_loop_current() == loop);
    if (tale->calls < 8) {
        tale->statuses[tale->calls] = status;
        tale->values[tale->calls] = tale->value;
    }
    tale->calls++;
    tale->last_status = status;
    if (tale->then)
        tale->then(tale);
}
static inline void off_in_callback(struct tale *tale) {
    CHECK_EQ(weft_loop_off(loop, tale->source), 0);
    CHECK_EQ(weft_loop_off(loop, tale->source), -ESTALE);
}

#endif
