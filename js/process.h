/* SPDX-License-Identifier: MIT
 *
 * js/process.h - what js/process.c and js/process_run.c share: programs to start, as scripts describe them.
 */
#ifndef WF_JS_PROCESS_H
#define WF_JS_PROCESS_H

#include "stream.h"

/* Copies of what JavaScript has said, so that nobody needs the turn to start it. */
struct wf_js_program {
    char *file, *folder;
    char **argv, **environment; /* up to a null; environment: null for that of this process */
    weft_process_options options;
    weft_fd lent[3];    /* descriptors that were given by number: ours, to be closed */
    JSValue streams[3]; /* those that were given as streams, or undefined */
};

/* [file, argv, environment or undefined, folder or undefined, group, [kind, number or stream] * 3]. False: an exception, and there
 * is nothing to drop. */
bool wf_js_program_take(JSContext *context, struct wf_js_program *program, JSValueConst list);
void wf_js_program_drop(JSContext *context, struct wf_js_program *program);
int wf_js_program_start(struct wf_js_program *program, weft_process *out, weft_fd pipes[3]);

#endif
