/* SPDX-License-Identifier: MIT
 *
 * js/stack.c - stacks of fibers that wait, for reports.
 *
 * The frames of a fiber that waits lie on its own stack, and the engine's innermost one is known: fiber->frame. What they refer to,
 * functions, names, places in files, belongs to the engine, and may be looked at by whoever has the turn; or by anybody while
 * nobody has it, or whoever has it stands still. A dump stops the world, but not for those that have a thread to themselves, and
 * a plain thread may own the loop. So the word js->inside also says that somebody looks (WF_JS_LOOKED_AT): who wants to enter the
 * engine at that moment waits the microseconds that it takes.
 *
 * Rejected: copying what a stack shows whenever a fiber begins to wait. It is 250 ns for some frames, a tenth of a wait.
 */
#include "stack.h"

#include <stdio.h>
#include <string.h>

static const char library[] = "weft:internal/";
static const char busy[] = "(JavaScript is running)\n";

static size_t describe(char *buffer, size_t size, bool (*stands_still)(weft_fiber fiber), void *arg) {
    const struct wf_js_fiber *fiber = arg;
    uint64_t found = 0;
    bool is_ours = atomic_compare_exchange_strong(&fiber->js->inside, &found, WF_JS_LOOKED_AT);
    if (!is_ours && !stands_still((weft_fiber){found}))
        return (size_t)snprintf(buffer, size, "%s", busy);
    size_t length = wf_js_stack_print(fiber, "", buffer, size);
    if (is_ours)
        atomic_store(&fiber->js->inside, 0);
    return length;
}

void wf_js_stack_show(struct wf_js_fiber *fiber) {
    (void)weft_describe(describe, fiber);
}

void wf_js_stack_hide(void) {
    (void)weft_describe(NULL, NULL);
}

void *wf_js_stack_begin(const struct wf_js_fiber *fiber) {
    struct wf_engine_spot spot;
    void *begin = fiber->waiting && WF_ENGINE_TELLS_FRAMES ? fiber->frame : NULL;
    for (void *frame = begin, *next; frame; frame = next) {
        next = wf_engine_tell_frame(fiber->js->runtime, frame, &spot);
        if (spot.line != 0 && strncmp(spot.file, library, sizeof library - 1) != 0)
            break;
        begin = frame;
    }
    return begin;
}

/* Names are the script's: they shall not look like other lines. */
static void clean(char *text) {
    for (; *text; text++)
        if ((unsigned char)*text < ' ')
            *text = '?';
}

size_t wf_js_stack_print(const struct wf_js_fiber *fiber, const char *before, char *buffer, size_t size) {
    size_t used = 0;
    buffer[0] = 0;
    for (void *frame = wf_js_stack_begin(fiber); frame;) {
        struct wf_engine_spot spot;
        char line[352];
        frame = wf_engine_tell_frame(fiber->js->runtime, frame, &spot);
        clean(spot.function);
        clean(spot.file);
        const char *function = spot.function[0] ? spot.function : "<anonymous>";
        int length = spot.line ? snprintf(line, sizeof line, "%sat %s (%s:%d:%d)\n", before, function, spot.file,
                                          spot.line, spot.column)
                               : snprintf(line, sizeof line, "%sat %s (native)\n", before, function);
        if (length < 0 || used + (size_t)length >= size)
            break;
        memcpy(buffer + used, line, (size_t)length + 1);
        used += (size_t)length;
    }
    return used;
}
