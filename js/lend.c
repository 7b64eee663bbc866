/* SPDX-License-Identifier: MIT
 *
 * js/lend.c - the turn while a fiber is in foreign code.
 *
 * A fiber that is bound gives the turn back and gets it again by waking threads, which takes longer than most foreign
 * calls. So a call that is thought to be short only *lends* the turn: it says so in js->lent and goes on. The loop,
 * which waits for its turn, looks there from time to time:
 *
 *     NULL --fiber lends--> fiber --it is back, and nobody has taken it--> NULL
 *                           fiber --the loop takes it--------------------> NULL, and the fiber asks for it later
 *
 * Both ends are one exchange each, so one of them has it. Only who has the turn lends it, and only the loop takes it.
 *
 * A fiber that makes one short call after another would keep the turn for ever. When the loop has waited for a while
 * it says that it wants it (js->is_wanted), and the next call gives it back at once.
 *
 * Fibers that are back from foreign code stand in line for the turn, and the loop lets so many of them have it in one
 * of its turns as there is time for: a thousand calls that end at once must not keep timers waiting.
 *
 * Rejected: to have the loop woken when a call begins; that is what is to be saved. A thread that watches; the loop
 * has nothing else to do.
 */
#include <errno.h>

#include "host.h"

/* LOOK: how long the loop waits before it looks, since each look costs as much as some hundred short calls. Twice as
 * long each time, up to WANT: then it wants its turn. */
enum { LOOK = 200 * WEFT_MICROSECOND, WANT = 1 * WEFT_MILLISECOND };

/* How long fibers that are back have the turn, one after another, before the loop looks at its timers. */
enum { SLICE = 1 * WEFT_MILLISECOND };

static int get_in_line(struct wf_js_fiber *fiber);
static void resume_some(void *opaque);

bool wf_js_turn_drop(struct wf_js_fiber *fiber, bool lazily) {
    weft_js *js = fiber->js;
    bool lends = lazily && fiber->lends && !atomic_load_explicit(&js->is_wanted, memory_order_relaxed);
    fiber->frame = wf_engine_frame(js->runtime);
    if (!lends)
        fiber->surroundings = wf_engine_surround(js->context, JS_UNDEFINED);
    atomic_store(&js->inside, 0);
    if (lends) {
        /* What was done with the engine is seen by the loop if it takes the turn: pairs with wf_js_turn_await. */
        atomic_store_explicit(&js->lent, fiber, memory_order_release);
        return true;
    }
    fiber->lends = true; /* the loop looks when it has next given it the turn */
    weft_semaphore_release(&js->back, 1);
    return false;
}

bool wf_js_turn_regain(struct wf_js_fiber *fiber, bool *was_kept) {
    weft_js *js = fiber->js;
    struct wf_js_fiber *expected = fiber;
    *was_kept =
        atomic_compare_exchange_strong_explicit(&js->lent, &expected, NULL, memory_order_relaxed, memory_order_relaxed);
    if (*was_kept) {
        wf_js_be_inside(js, fiber->id.bits);
        return true;
    }
    if (get_in_line(fiber) != 0)
        return false;
    wf_js_take_turn(fiber);
    return true;
}

static void lock_returned(weft_js *js) {
    weft_shield();
    weft_mutex_lock(&js->returned_lock, WEFT_NEVER);
}

static void unlock_returned(weft_js *js) {
    weft_mutex_unlock(&js->returned_lock);
    weft_unshield();
}

static int get_in_line(struct wf_js_fiber *fiber) {
    weft_js *js = fiber->js;
    fiber->after = NULL;
    lock_returned(js);
    bool is_first = !js->returned_end;
    *(is_first ? &js->returned : js->returned_end) = fiber;
    js->returned_end = &fiber->after;
    unlock_returned(js);
    return is_first ? wf_js_submit(js->loop, resume_some, js) : 0;
}

/* Null: nobody is there, and the next one who comes tells the loop. So it is asked until it says so, or tells the
 * loop itself. */
static struct wf_js_fiber *first_in_line(weft_js *js, bool takes_it) {
    lock_returned(js);
    struct wf_js_fiber *fiber = js->returned;
    if (fiber && takes_it) {
        js->returned = fiber->after;
        if (!js->returned)
            js->returned_end = &js->returned;
    } else if (!fiber) {
        js->returned_end = NULL;
    }
    unlock_returned(js);
    return fiber;
}

/* Each has a checkpoint behind it. */
static void resume_some(void *opaque) {
    weft_js *js = opaque;
    weft_time until = weft_after(SLICE);
    struct wf_js_fiber *fiber;
    bool has_time = true;
    for (; (fiber = first_in_line(js, has_time)) && has_time; has_time = weft_now() < until)
        if (weft_loop_call(js->loop, wf_js_resume, fiber) != 0)
            wf_js_resume(fiber);
    if (fiber)
        (void)wf_js_submit(js->loop, resume_some, js); /* else the loop is over, and so are they */
}

struct wf_js_fiber *wf_js_turn_await(weft_js *js, bool may_be_lent) {
    struct wf_js_fiber *lender = NULL;
    int64_t look = LOOK;
    atomic_store_explicit(&js->is_wanted, false, memory_order_relaxed);
    weft_shield();
    for (;;) {
        int status = weft_semaphore_acquire(&js->back, 1, may_be_lent ? weft_after(look) : WEFT_NEVER);
        if (status == 0)
            break;
        if (may_be_lent)
            lender = atomic_exchange_explicit(&js->lent, NULL, memory_order_acquire); /* pairs with wf_js_turn_drop */
        if (lender)
            break;
        may_be_lent = status != -ENOMEM; /* no time can be told: it is back when it is back */
        if (look < WANT)
            look *= 2;
        if (look >= WANT)
            atomic_store_explicit(&js->is_wanted, true, memory_order_relaxed);
    }
    weft_unshield();
    return lender;
}
