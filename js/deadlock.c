/* SPDX-License-Identifier: MIT
 *
 * js/deadlock.c - whether anything of an instance can still go on.
 *
 * A wait is *local* when only JavaScript of its own instance can end it: for a channel, an event or a lock of that instance,
 * without a limit of time. When every fiber and every wait of an instance is local, and its loop has nothing else, no timer, no
 * descriptor, nothing queued, then no JavaScript will ever run again: the instance is *stranded*. Its promises are left as they are,
 * as in Node; fibers that wait are a deadlock, which is told, unless they were started in the background.
 *
 * movers counts what is not in a local wait. It says when it is worth while to look. It cannot say that nobody goes on: a fiber
 * whose wait has been ended, by somebody who had the turn then, is counted again only when it gets round to it. So a look asks
 * each fiber (weft_is_waiting), and the answer is exact: whatever ends a local wait does it with the turn, or is one of the fibers
 * that are asked, which cannot be on its way and still seem to wait.
 *
 * weft_js_finish looks between two turns of the loop, as long as movers is 0: before the first sleep a moment later, since mostly
 * somebody is on its way, and then once for each turn.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "stack.h"

/* More are counted only. */
enum { TOLD_MAX = 100 };

/* As long as it takes for somebody who is on the way to have arrived, mostly. */
static const int64_t MOMENT = 20 * WEFT_MILLISECOND;

static void move(weft_js *js, int change);
static int step(weft_js *js);
static bool has_only_waits(weft_js *js);
static bool have_left(weft_js *js);
static bool is_waiting(const struct wf_js_wait *wait);
static void tell_fiber(const struct wf_js_fiber *fiber);

int wf_js_keep(weft_js *js) {
    int error = js->holds == 0 ? weft_loop_keep(js->loop) : 0;
    js->holds += !error;
    return error;
}

void wf_js_unkeep(weft_js *js) {
    if (--js->holds == 0)
        weft_loop_unkeep(js->loop);
}

int wf_js_begins(weft_js *js) {
    int error = wf_js_keep(js);
    if (!error)
        move(js, 1);
    return error;
}

void wf_js_arrives(weft_js *js) {
    move(js, 1);
}

void wf_js_ends(weft_js *js, bool is_kept) {
    if (is_kept)
        wf_js_unkeep(js);
    move(js, -1);
}

void wf_js_lies_down(struct wf_js_wait *wait) {
    atomic_store(&wait->is_up, false);
    if (wait->is_local)
        move(wait->js, -1);
}

void wf_js_gets_up(struct wf_js_wait *wait) {
    atomic_store(&wait->is_up, true);
    if (wait->is_local)
        move(wait->js, 1);
}

static void move(weft_js *js, int change) {
    bool was_last = atomic_fetch_add(&js->movers, change) + change == 0;
    if (was_last && js->is_finishing && !js->is_looking)
        (void)weft_loop_stop(js->loop); /* whoever runs it looks */
}

int wf_js_run_until_quiet(weft_js *js) {
    for (;;) {
        js->is_looking = js->holds > 0 && atomic_load(&js->movers) == 0;
        int status = js->is_looking ? step(js) : weft_loop_run(js->loop, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER);
        js->is_looking = false;
        if (status <= 0 || js->has_ended)
            return status;
    }
}

/* One turn, in which mostly somebody arrives who is on the way. */
static int step(weft_js *js) {
    weft_time until = weft_after(MOMENT);
    int status = weft_loop_run(js->loop, WEFT_LOOP_ONCE, until);
    bool is_late = status == -ETIMEDOUT || (status == 1 && weft_now() >= until); /* the first: before the turn began */
    if (!is_late)
        return status;
    if (js->has_ended)
        return 1;
    return wf_js_is_stranded(js) ? 0 : weft_loop_run(js->loop, WEFT_LOOP_ONCE, WEFT_NEVER);
}

bool wf_js_is_stranded(weft_js *js) {
    if (js->holds == 0 || atomic_load(&js->movers) > 0 || !have_left(js) || !wf_js_pools_stand_still(js) ||
        !has_only_waits(js))
        return false;
    for (struct wf_js_fiber *fiber = js->fibers; fiber; fiber = fiber->next)
        if (!fiber->waiting || !is_waiting(fiber->waiting))
            return false;
    bool are_waiting = true;
    wf_js_lock_waits(js);
    for (struct wf_js_wait *wait = js->waits; wait && are_waiting; wait = wait->next)
        are_waiting = is_waiting(wait);
    wf_js_unlock_waits(js);
    return are_waiting;
}

/* Timers that do not keep the loop may still abort a signal. */
static bool has_only_waits(weft_js *js) {
    if (weft_loop_backend_deadline(js->loop) != WEFT_NEVER)
        return false;
    weft_loop_unkeep(js->loop);
    bool is_alive = weft_loop_is_alive(js->loop);
    if (weft_loop_keep(js->loop) != 0) /* it has ended */
        js->holds = 0;
    return !is_alive;
}

/* A fiber's end poisons the events that it owned: that is the last that it does, after it has ended for JavaScript. */
void wf_js_leaves_late(weft_js *js) {
    (void)have_left(js);
    if (js->leaving_count == js->leaving_room) {
        size_t room = js->leaving_room ? 2 * js->leaving_room : 4;
        weft_fiber *longer = realloc(js->leaving, room * sizeof *longer);
        if (!longer) { /* nobody will know when it has left, so nothing is told any more */
            move(js, 1);
            return;
        }
        js->leaving = longer;
        js->leaving_room = room;
    }
    js->leaving[js->leaving_count++] = weft_self();
}

static bool have_left(weft_js *js) {
    size_t left = 0;
    for (size_t i = 0; i < js->leaving_count; i++)
        if (weft_is_waiting(js->leaving[i]) != -ESTALE)
            js->leaving[left++] = js->leaving[i];
    js->leaving_count = left;
    return left == 0;
}

static bool is_waiting(const struct wf_js_wait *wait) {
    return wait->is_local && !atomic_load(&wait->is_up) && weft_is_waiting(wait->fiber) == 1;
}

bool wf_js_tell_deadlock(weft_js *js) {
    struct wf_js_fiber *oldest = js->fibers;
    int count = 0, left = TOLD_MAX, promises = 0;
    bool matters = false;
    if (!wf_js_is_stranded(js))
        return false;
    for (struct wf_js_fiber *fiber = js->fibers; fiber; fiber = fiber->next) {
        matters = matters || !fiber->is_background;
        oldest = fiber;
        count++;
    }
    if (!matters && wf_js_tell_works(js, NULL) == 0)
        return false;
    for (struct wf_js_wait *wait = js->waits; wait; wait = wait->next)
        promises++;
    if (count == 0)
        fprintf(stderr, "weft: deadlock: works wait to begin, and nothing will let them\n");
    else
        fprintf(stderr, "weft: deadlock: %d fiber%s and nothing can wake %s\n", count, count == 1 ? " waits" : "s wait",
                count == 1 ? "it" : "them");
    for (struct wf_js_fiber *fiber = oldest; fiber && left > 0; fiber = fiber->previous, left--)
        tell_fiber(fiber);
    if (left == 0 && count > TOLD_MAX)
        fprintf(stderr, "  and %d more\n", count - TOLD_MAX);
    (void)wf_js_tell_works(js, stderr);
    if (promises > 0)
        fprintf(stderr, "  %d promise%s for JavaScript, too\n", promises, promises == 1 ? " waits" : "s wait");
    return true;
}

static void tell_fiber(const struct wf_js_fiber *fiber) {
    char stack[2048];
    const char *name = fiber->name;
    wf_js_stack_print(fiber, "    ", stack, sizeof stack);
    fprintf(stderr, "  fiber %lld%s%s%s waits for %s\n%s", (long long)fiber->number, *name ? " \"" : "", name,
            *name ? "\"" : "", fiber->waiting->what, stack);
}
