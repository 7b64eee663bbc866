/* SPDX-License-Identifier: MIT
 *
 * support/signals.h - abort signals under test, and a loop in virtual time for those that have one.
 *
 * What the suites about them share.
 */
#ifndef WF_SUPPORT_SIGNALS_H
#define WF_SUPPORT_SIGNALS_H

#include "support/check.h"
#include "weft/abort.h"

static inline weft_abort_signal *make(void) {
    weft_abort_signal *signal;
    CHECK_EQ(weft_abort_new(&signal), 0);
    return signal;
}

static inline weft_abort_signal *any_of(weft_abort_signal *first, weft_abort_signal *second) {
    weft_abort_signal *inputs[] = {first, second};
    weft_abort_signal *signal;
    CHECK_EQ(weft_abort_any(&signal, inputs, second ? 2 : 1), 0);
    return signal;
}

static inline weft_loop *make_loop(void) {
    weft_loop_options options = {.virtual_time = true, .stays = true};
    weft_loop *loop;
    CHECK_EQ(weft_loop_new(&loop, &options), 0);
    return loop;
}

#endif
