/* SPDX-License-Identifier: MIT
 *
 * js/incoming.c - callbacks that others bring to an instance, from whatever thread: messages, notifications, ends of instances.
 *
 * They come in the poll phase of its loop, as in Node. Each is counted until it has run, and an instance is not freed before: so
 * whoever brings one must know, for the moment of bringing it, that the instance is there, and the callback may rely on it.
 */
#include <errno.h>

#include "host.h"

int wf_js_bring(weft_js *js, weft_loop_fn fn, void *arg, bool keeps) {
    weft_immediate immediate;
    int error;
    atomic_fetch_add(&js->incoming, 1);
    weft_shield();
    do
        error = keeps ? weft_loop_submit_poll(js->loop, fn, arg) : weft_set_immediate(js->loop, &immediate, fn, arg);
    while (error == -ENOMEM && weft_sleep(weft_after(WEFT_MILLISECOND)) == 0);
    weft_unshield();
    if (error)
        atomic_fetch_sub(&js->incoming, 1);
    else if (!keeps)
        (void)weft_immediate_keep(js->loop, immediate, false);
    return error;
}

void wf_js_brought(weft_js *js) {
    atomic_fetch_sub(&js->incoming, 1);
}
