/* SPDX-License-Identifier: MIT
 *
 * js/stack.h - where a go fiber that waits stands in JavaScript.
 */
#ifndef WF_JS_STACK_H
#define WF_JS_STACK_H

#include "host.h"

/* On the fiber: what it tells in dumps from here on; and no more, before it is freed. */
void wf_js_stack_show(struct wf_js_fiber *fiber);
void wf_js_stack_hide(void);

/* With the turn, or while nobody has it: the frame of the library function in which it waits, or the innermost one; NULL: it
 * does not wait. The next ones are found by wf_engine_tell_frame. */
void *wf_js_stack_begin(const struct wf_js_fiber *fiber);
/* Each call on a line, "at name (file:line:column)", after that text, as many as fit; returns the length. */
size_t wf_js_stack_print(const struct wf_js_fiber *fiber, const char *before, char *buffer, size_t size);

#endif
