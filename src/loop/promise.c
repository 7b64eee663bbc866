/* SPDX-License-Identifier: MIT
 *
 * loop/promise.c - the home: who is pending, who is rejected and unhandled, and what the end means for them.
 * Model: loop/promise.h, promise/promise.h.
 *
 * A rejection without a handler goes to the owner's list, with a reference, and is told when the checkpoint has nothing else
 * to do. Whether it is told is decided under the promise's lock, and so is whether a handler comes before or after that: each
 * of them happens once. One that the loop cannot tell any more is left to the report of promise/promise.c.
 *
 * The owner keeps free promises for the next ones; others take and give theirs to the system.
 */
#include "loop/promise.h"

#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "base/point.h"
#include "base/sanitizer.h"
#include "os/memory.h"
#include "os/report.h"

/* STOCK: how many references are taken at once. While it runs, the loop keeps as many free promises as KEPT_MOST, since
 * memory that comes and goes with each burst costs more than the promises; when it sleeps, what is over KEPT_ASLEEP goes back
 * bit by bit, TRIM at a time. */
enum { STOCK = 4096, KEPT_ASLEEP = 4096, TRIM = 4096 };
#ifdef WF_ASAN
enum { KEPT_MOST = 0 }; /* what is freed is to be known as free */
#else
enum { KEPT_MOST = 128 * 1024 };
#endif

static void promise_init(struct wf_loop_promise *promise);
static struct wf_promise_trace *trace_take(void);
static void home_settled(weft_promise *cell, bool is_unhandled);
static void home_handled_late_locked(weft_promise *cell);
static void home_release(weft_promise *cell);
static bool list_rejection(struct wf_loop_promise *promise);
static void telling_run(weft_loop *loop, struct wf_loop_job *job);
static void give_up_telling(struct wf_loop_promise *promise);
static void give_up_all(struct wf_list *list);
static void tell_unhandled(weft_loop *loop, struct wf_loop_promise *promise);
static void tell_late(weft_loop *loop, struct wf_loop_promise *promise);
static void end_one(struct wf_loop_promise *promise);

const struct wf_home wf_loop_home_calls = {
    .settled = home_settled, .handled_late_locked = home_handled_late_locked, .release = home_release};

struct wf_loop_home *wf_loop_home(weft_loop *loop) {
    struct wf_loop_home *home = wf_load_acquire(&loop->home); /* pairs with the release below */
    if (WF_LIKELY(home))
        return home;
    struct wf_loop_home *fresh = wf_os_alloc(sizeof *fresh);
    if (!fresh)
        return NULL;
    wf_store_relaxed(&fresh->references, 1);
    wf_store_relaxed(&fresh->loop, loop);
    fresh->traces = loop->options.traces;
    wf_list_init(&fresh->pending);
    wf_list_init(&fresh->late);
    wf_lock_take(&loop->lock);
    home = wf_load_relaxed(&loop->home);
    fresh->is_over = wf_loop_is_ending(loop); /* perhaps nobody will come any more to end them */
    if (!home)
        wf_store_release(&loop->home, fresh);
    wf_lock_drop(&loop->lock);
    if (home)
        wf_os_free(fresh);
    return home ? home : fresh;
}

void wf_loop_home_unref(struct wf_loop_home *home) {
    if (wf_fetch_sub_acq_rel(&home->references, 1) == 1) /* with itself: what others did is done */
        wf_os_free(home);
}

struct wf_loop_promise *wf_loop_promise_make(struct wf_loop_home *home, bool is_derived, uint32_t references) {
    struct wf_loop_promise *promise;
    if (wf_loop_home_is_mine(home)) {
        promise = home->free;
        if (promise) {
            home->free = (struct wf_loop_promise *)promise->source;
            home->free_count--;
        } else {
            promise = wf_os_alloc(sizeof *promise);
        }
        if (!promise)
            return NULL;
        if (WF_UNLIKELY(home->stock == 0)) {
            wf_fetch_add_relaxed(&home->references, STOCK);
            home->stock = STOCK;
        }
        home->stock--;
    } else {
        promise = wf_os_alloc(sizeof *promise);
        if (!promise)
            return NULL;
        wf_fetch_add_relaxed(&home->references, 1);
    }
    promise_init(promise);
    wf_store_relaxed(&promise->cell.references, references);
    promise->cell.is_committed = is_derived;
    promise->home = home;
    promise->trace = WF_UNLIKELY(home->traces) ? trace_take() : NULL;
    return promise;
}

/* NULL: there is no memory, and so nothing is remembered. */
static struct wf_promise_trace *trace_take(void) {
    struct wf_promise_trace *trace = wf_os_alloc(sizeof *trace);
    if (trace)
        trace->count = wf_capture_frames(trace->frames, WEFT_TRACE_MOST);
    return trace;
}

int weft_loop_promise_trace(const weft_promise *promise, const void **frames, int limit) {
    if (!promise || promise->home != &wf_loop_home_calls || limit < 0 || (!frames && limit))
        return -EINVAL;
    const struct wf_promise_trace *trace = ((const struct wf_loop_promise *)promise)->trace;
    for (int i = 0; trace && i < trace->count && i < limit; i++)
        frames[i] = trace->frames[i];
    return trace ? trace->count : 0;
}

static void trace_report(const struct wf_promise_trace *trace) {
    for (int i = 0; trace && i < trace->count; i++) {
        char name[96];
        wf_symbol_name(trace->frames[i], name, sizeof name);
        wf_report("    made in %s", name);
    }
}

/* All but the text of the outcome, which is most of the cell. */
static void promise_init(struct wf_loop_promise *promise) {
    memset((void *)&promise->cell, 0, offsetof(weft_promise, outcome));
    promise->cell.home = &wf_loop_home_calls;
    promise->cell.outcome.state = WEFT_PROMISE_PENDING;
    promise->cell.outcome.error = 0;
    promise->cell.outcome.value = NULL;
    promise->cell.outcome.text[0] = 0;
    wf_list_init(&promise->node);
    promise->is_ticket_open = false;
    promise->work = NULL;
    promise->source = NULL;
    promise->owned = NULL;
    promise->replaced = NULL;
    promise->is_finally = false;
}

static void home_release(weft_promise *cell) {
    struct wf_loop_promise *promise = (struct wf_loop_promise *)cell;
    struct wf_loop_home *home = promise->home;
    if (WF_UNLIKELY(promise->work != NULL))
        wf_promisify_unref(promise->work);
    wf_os_free(promise->trace);
    if (!wf_loop_home_is_mine(home)) {
        wf_os_free(promise);
        wf_loop_home_unref(home);
        return;
    }
    home->stock++;
    if (home->free_count + 1 > KEPT_MOST) {
        wf_os_free(promise);
        return;
    }
    promise->source = (weft_promise *)home->free;
    home->free = promise;
    home->free_count++;
}

void wf_loop_promises_trim(weft_loop *loop) {
    struct wf_loop_home *home = wf_load_acquire(&loop->home); /* pairs with wf_loop_home */
    if (WF_LIKELY(!home || home->free_count <= KEPT_ASLEEP))
        return;
    for (int i = 0; i < TRIM && home->free_count > KEPT_ASLEEP; i++) {
        struct wf_loop_promise *promise = home->free;
        home->free = (struct wf_loop_promise *)promise->source;
        home->free_count--;
        wf_os_free(promise);
    }
}

bool wf_loop_promise_register(struct wf_loop_promise *promise) {
    struct wf_loop_home *home = promise->home;
    if (promise->cell.is_registered)
        return true;
    bool is_mine = wf_loop_home_is_mine(home);
    wf_lock_take(&home->lock);
    bool is_open = !home->is_over && (is_mine || !wf_loop_is_ending(wf_load_relaxed(&home->loop)));
    if (is_open) {
        promise->cell.is_registered = true;
        wf_list_append(&home->pending, &promise->node);
    }
    wf_lock_drop(&home->lock);
    return is_open;
}

int wf_loop_home_post(struct wf_loop_home *home, struct wf_loop_job *job) {
    weft_loop *loop = wf_load_relaxed(&home->loop);
    if (WF_LIKELY(loop && wf_loop_is_mine(loop))) { /* to microtasks the owner may always add */
        wf_loop_look_for(loop, 1u << WF_TRACK_MICRO);
        wf_loop_jobs_append(&loop->tracks[WF_TRACK_MICRO], job);
        return 0;
    }
    wf_lock_take(&home->lock);
    loop = wf_load_relaxed(&home->loop);
    int status = loop ? wf_loop_post(loop, WF_TRACK_MICRO, job) : -EPIPE;
    wf_lock_drop(&home->lock);
    return status;
}

static void home_settled(weft_promise *cell, bool is_unhandled) {
    struct wf_loop_promise *promise = (struct wf_loop_promise *)cell;
    if (cell->is_registered) {
        wf_lock_take(&promise->home->lock);
        if (wf_list_is_linked(&promise->node))
            wf_list_remove(&promise->node);
        wf_lock_drop(&promise->home->lock);
    }
    if (is_unhandled && !list_rejection(promise))
        give_up_telling(promise);
}

/* The caller has a reference, so the one that is given back here is not the last. */
static void home_handled_late_locked(weft_promise *cell) {
    if (!list_rejection((struct wf_loop_promise *)cell))
        wf_fetch_sub_relaxed(&cell->references, 1);
}

/* To the owner's list, with a reference. False: there is none any more, but the reference. */
static bool list_rejection(struct wf_loop_promise *promise) {
    weft_promise_ref(&promise->cell);
    promise->telling.run = telling_run;
    if (!wf_loop_home_is_mine(promise->home))
        return wf_loop_home_post(promise->home, &promise->telling) == 0;
    telling_run(wf_load_relaxed(&promise->home->loop), &promise->telling);
    return true;
}

static void telling_run(weft_loop *loop, struct wf_loop_job *job) {
    struct wf_loop_promise *promise = WF_CONTAINER(job, struct wf_loop_promise, telling);
    if (loop)
        wf_list_append(&loop->unhandled, &promise->node);
    else
        give_up_telling(promise);
}

static void give_up_telling(struct wf_loop_promise *promise) {
    wf_lock_take(&promise->cell.lock);
    promise->cell.rejection = WF_REJECTION_NONE;
    wf_lock_drop(&promise->cell.lock);
    weft_promise_unref(&promise->cell);
}

void wf_loop_promises_tell(weft_loop *loop) {
    struct wf_loop_home *home = wf_load_acquire(&loop->home); /* pairs with wf_loop_home */
    struct wf_list *next;
    uint64_t count = 0;
    for (struct wf_list *node = loop->unhandled.next; node != &loop->unhandled; node = next) {
        next = node->next;
        struct wf_loop_promise *promise = WF_CONTAINER(node, struct wf_loop_promise, node);
        if (promise->cell.rejection != WF_REJECTION_LATE) { /* which does not change while it is in the list */
            count++;
            continue;
        }
        wf_list_remove(node);
        wf_list_append(&home->late, node);
    }
    while (!wf_load_relaxed(&loop->is_closing) && (next = wf_list_take_first(&home->late)))
        tell_late(loop, WF_CONTAINER(next, struct wf_loop_promise, node));
    /* What the hooks add meanwhile waits for the microtasks that they add. */
    for (; count > 0 && !wf_load_relaxed(&loop->is_closing); count--)
        tell_unhandled(loop, WF_CONTAINER(wf_list_take_first(&loop->unhandled), struct wf_loop_promise, node));
}

struct rejection_call {
    weft_loop *loop;
    weft_promise *promise;
};

static void call_on_unhandled(void *opaque) {
    struct rejection_call *call = opaque;
    const weft_loop_options *options = &call->loop->options;
    options->on_unhandled(call->loop, call->promise, &call->promise->outcome, options->arg);
}

static void call_on_handled_late(void *opaque) {
    struct rejection_call *call = opaque;
    const weft_loop_options *options = &call->loop->options;
    options->on_handled_late(call->loop, call->promise, options->arg);
}

static void tell_unhandled(weft_loop *loop, struct wf_loop_promise *promise) {
    weft_promise *cell = &promise->cell;
    WF_POINT("loop.before_unhandled");
    wf_lock_take(&cell->lock);
    bool is_unhandled = !wf_load_relaxed(&cell->is_handled);
    cell->rejection = is_unhandled ? WF_REJECTION_TOLD : WF_REJECTION_NONE;
    wf_lock_drop(&cell->lock);
    if (is_unhandled && loop->options.on_unhandled) {
        char message[WF_LOOP_MESSAGE];
        struct rejection_call call = {loop, cell};
        if (wf_try_contain(call_on_unhandled, &call, message, sizeof message, NULL))
            wf_loop_tell(loop, "on_unhandled", NULL, message);
    } else if (is_unhandled) {
        wf_report("the loop %s: a promise was rejected and nobody handles it: error %d%s%s",
                  loop->name[0] ? loop->name : "(no name)", cell->outcome.error, cell->outcome.text[0] ? ": " : "",
                  cell->outcome.text);
        trace_report(promise->trace);
    }
    weft_promise_unref(cell);
}

static void tell_late(weft_loop *loop, struct wf_loop_promise *promise) {
    if (loop->options.on_handled_late) {
        char message[WF_LOOP_MESSAGE];
        struct rejection_call call = {loop, &promise->cell};
        if (wf_try_contain(call_on_handled_late, &call, message, sizeof message, NULL))
            wf_loop_tell(loop, "on_handled_late", NULL, message);
    }
    weft_promise_unref(&promise->cell);
}

void wf_loop_promises_reject(weft_loop *loop) {
    wf_lock_take(&loop->lock); /* a home that is made from now on is over */
    struct wf_loop_home *home = wf_load_relaxed(&loop->home);
    wf_lock_drop(&loop->lock);
    struct wf_list *node;
    if (!home)
        return;
    wf_lock_take(&home->lock);
    home->is_over = true;
    while ((node = wf_list_take_first(&home->pending))) {
        struct wf_loop_promise *promise = WF_CONTAINER(node, struct wf_loop_promise, node);
        if (!wf_count_if_any(&promise->cell.references))
            continue; /* its last reference is being given back */
        wf_lock_drop(&home->lock);
        end_one(promise);
        wf_lock_take(&home->lock);
    }
    wf_lock_drop(&home->lock);
    if (wf_load_relaxed(&loop->is_closing)) {
        give_up_all(&loop->unhandled);
        give_up_all(&home->late);
    }
}

struct wf_settled wf_settled_by_end(void) {
    struct wf_settled how = wf_settled_error(-EPIPE, "the loop has ended");
    how.is_quiet = true;
    return how;
}

static void end_one(struct wf_loop_promise *promise) {
    struct wf_settlement settlement = {0};
    struct wf_settled how = wf_settled_by_end();
    wf_promise_settle(&promise->cell, &how, &settlement);
    wf_settlement_run(&settlement);
    weft_promise_unref(&promise->cell);
}

static void give_up_all(struct wf_list *list) {
    struct wf_list *node;
    while ((node = wf_list_take_first(list)))
        give_up_telling(WF_CONTAINER(node, struct wf_loop_promise, node));
}

void wf_loop_promises_term(weft_loop *loop) {
    struct wf_loop_home *home = wf_load_acquire(&loop->home);
    if (!home)
        return;
    give_up_all(&loop->unhandled);
    give_up_all(&home->late);
    wf_lock_take(&home->lock); /* whoever is on the way to the loop has left it */
    wf_store_relaxed(&home->loop, NULL);
    wf_lock_drop(&home->lock);
    for (struct wf_loop_promise *promise = home->free, *next; promise; promise = next) {
        next = (struct wf_loop_promise *)promise->source;
        wf_os_free(promise);
    }
    uint64_t held = home->stock + 1;
    if (wf_fetch_sub_acq_rel(&home->references, held) == held)
        wf_os_free(home);
}
