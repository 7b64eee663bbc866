/* SPDX-License-Identifier: MIT
 *
 * loop/target.c - listeners in the order in which they were added, and the dispatch that walks along them.
 *
 * A target is one pointer to a *board*, made when the first listener comes, by whoever puts it there first. The board and the
 * listeners are counted, so that a signal which removes a listener, or a dispatch that is inside one, may come later than
 * the end of the target.
 *
 * A dispatch copies no list. Listeners have numbers that only grow; a pass ends where the numbers stood when it began, and
 * goes on behind the listener it called last, as long as that is on the list, or else behind the place where it was. A
 * listener is *claimed* for its call under the board's lock: until then a removal counts, and one that is to be called
 * once is taken off by its claim.
 *
 * References of a listener: the list's, the signal's handler's, and that of each dispatch that is at it. Locks: the board's, with
 * nothing inside; handlers of signals are registered and taken back without it.
 */
#include "weft/target.h"

#include <errno.h>
#include <string.h>

#include "base/list.h"
#include "base/point.h"
#include "loop/loop.h"
#include "os/clock.h"
#include "os/memory.h"
#include "os/report.h"

/* What an event has in its state. */
enum { TOLD_DISPATCH = 1, TOLD_CANCELED = 2, TOLD_STOP = 4, TOLD_STOP_NOW = 8, TOLD_PASSIVE = 16 };

struct board {
    struct wf_lock lock;
    _Atomic uint32_t references;
    struct wf_list listeners; /* under lock, in the order of their numbers */
    uint64_t next_number;     /* under lock */
};

struct listener {
    struct wf_list node; /* under the board's lock: in its listeners */
    struct board *board; /* with a reference */
    _Atomic uint32_t references;
    uint32_t hash;   /* of the type; constant, as what follows up to handler */
    uint64_t number; /* under lock until it is on the list */
    weft_target_fn fn;
    void *arg;
    bool is_capture;
    bool is_once;
    bool is_passive;
    bool is_removed; /* under lock */
    weft_abort_signal *signal;
    weft_abort_handler handler;
    char type[];
};

/* One pass of a dispatch. */
struct passage {
    struct board *board;
    weft_target_event *event;
    uint32_t hash;
    uint64_t last;       /* number of the last one that was called */
    uint64_t limit;      /* those from here on came too late */
    struct listener *at; /* that one, with a reference; or NULL */
    bool is_capture;
};

static struct board *board_of(weft_target *target, bool makes);
static void board_unref(struct board *board);
static int listener_make(struct listener **out, struct board *board, const char *type,
                         const weft_target_options *options);
static int listener_put(struct board *board, struct listener *listener);
static struct listener *listener_find_locked(struct board *board, const struct listener *like, const char *type);
static void listener_on_abort(weft_abort_signal *signal, void *opaque);
static void listener_take_off_locked(struct listener *listener);
static void listener_let_go(struct listener *listener);
static void listener_unref(struct listener *listener);
static void passage_run(struct passage *passage);
static struct listener *passage_next(struct passage *passage);
static bool passage_wants(const struct passage *passage, const struct listener *listener);
static void listener_call(struct listener *listener, weft_target_event *event);

static uint32_t type_hash(const char *type) {
    uint32_t hash = 2166136261u; /* FNV-1a: only to tell most types apart without comparing them */
    while (*type)
        hash = (hash ^ (unsigned char)*type++) * 16777619u;
    return hash;
}

static _Atomic uint32_t *event_state(const weft_target_event *event) {
    return (_Atomic uint32_t *)&((weft_target_event *)event)->state;
}

int weft_target_add(weft_target *target, const char *type, weft_target_fn fn, void *arg,
                    const weft_target_options *options) {
    if (!target || !type || !fn)
        return -EINVAL;
    if (options && weft_abort_is_aborted(options->signal))
        return -ECANCELED;
    struct board *board = board_of(target, true);
    struct listener *listener;
    int error = board ? listener_make(&listener, board, type, options) : -ENOMEM;
    if (error)
        return error;
    listener->fn = fn;
    listener->arg = arg;
    if (listener->signal) {
        wf_fetch_add_relaxed(&listener->references, 1);
        error = weft_abort_on(listener->signal, &listener->handler, listener_on_abort, listener);
        if (error)
            listener_unref(listener); /* the handler's */
    }
    if (!error)
        error = listener_put(board, listener);
    if (error) {
        listener_let_go(listener);
        listener_unref(listener);
    }
    return error;
}

/* The target's board, NULL: it has none, or no memory. */
static struct board *board_of(weft_target *target, bool makes) {
    _Atomic(struct board *) *place = (_Atomic(struct board *) *)(void *)&target->listeners;
    struct board *board = wf_load_acquire(place); /* pairs with the exchange below */
    if (board || !makes)
        return board;
    board = wf_os_alloc(sizeof *board);
    if (!board)
        return NULL;
    wf_store_relaxed(&board->references, 1);
    wf_list_init(&board->listeners);
    struct board *found = NULL;
    WF_POINT("target.before_board");
    if (wf_cas_acq_rel(place, &found, board)) /* release: the board; acquire: that of who was first */
        return board;
    wf_os_free(board);
    return found;
}

static void board_unref(struct board *board) {
    if (wf_fetch_sub_acq_rel(&board->references, 1) == 1) /* with itself: what others did is done */
        wf_os_free(board);
}

static int listener_make(struct listener **out, struct board *board, const char *type,
                         const weft_target_options *options) {
    size_t length = strlen(type) + 1;
    struct listener *listener = wf_os_alloc(sizeof *listener + length);
    if (!listener)
        return -ENOMEM;
    memcpy(listener->type, type, length);
    wf_list_init(&listener->node);
    wf_store_relaxed(&listener->references, 1);
    wf_fetch_add_relaxed(&board->references, 1);
    listener->board = board;
    listener->hash = type_hash(type);
    if (options) {
        listener->is_capture = options->capture;
        listener->is_once = options->once;
        listener->is_passive = options->passive;
        listener->signal = weft_abort_ref(options->signal);
    }
    *out = listener;
    return 0;
}

/* On the list, unless there is one like it, or its signal was aborted meanwhile. */
static int listener_put(struct board *board, struct listener *listener) {
    WF_POINT("target.before_put");
    wf_lock_take(&board->lock);
    int error = listener->is_removed                                            ? -ECANCELED
                : listener_find_locked(board, listener, listener->type) != NULL ? -EEXIST
                                                                                : 0;
    if (!error) {
        listener->number = ++board->next_number;
        wf_list_append(&board->listeners, &listener->node);
    }
    wf_lock_drop(&board->lock);
    return error;
}

static struct listener *listener_find_locked(struct board *board, const struct listener *like, const char *type) {
    for (struct wf_list *node = board->listeners.next; node != &board->listeners; node = node->next) {
        struct listener *listener = WF_CONTAINER(node, struct listener, node);
        if (listener->hash == like->hash && listener->fn == like->fn && listener->arg == like->arg &&
            listener->is_capture == like->is_capture && strcmp(listener->type, type) == 0)
            return listener;
    }
    return NULL;
}

int weft_target_remove(weft_target *target, const char *type, weft_target_fn fn, void *arg, bool capture) {
    if (!target || !type || !fn)
        return -EINVAL;
    struct board *board = board_of(target, false);
    if (!board)
        return -ENOENT;
    const struct listener like = {.hash = type_hash(type), .fn = fn, .arg = arg, .is_capture = capture};
    wf_lock_take(&board->lock);
    struct listener *found = listener_find_locked(board, &like, type);
    if (found)
        listener_take_off_locked(found);
    wf_lock_drop(&board->lock);
    if (!found)
        return -ENOENT;
    listener_let_go(found);
    listener_unref(found);
    return 0;
}

/* The list's reference is the caller's from now on. */
static void listener_take_off_locked(struct listener *listener) {
    wf_list_remove(&listener->node);
    listener->is_removed = true;
}

/* Its signal need not remove it any more. */
static void listener_let_go(struct listener *listener) {
    if (listener->signal && weft_abort_off(listener->signal, listener->handler) == 0)
        listener_unref(listener); /* the handler's */
}

static void listener_on_abort(weft_abort_signal *signal, void *opaque) {
    struct listener *listener = opaque;
    (void)signal;
    wf_lock_take(&listener->board->lock);
    bool was_listed = wf_list_is_linked(&listener->node);
    if (was_listed)
        listener_take_off_locked(listener);
    listener->is_removed = true;
    wf_lock_drop(&listener->board->lock);
    if (was_listed)
        listener_unref(listener);
    listener_unref(listener);
}

static void listener_unref(struct listener *listener) {
    if (wf_fetch_sub_acq_rel(&listener->references, 1) > 1) /* with itself: what others did is done */
        return;
    weft_abort_unref(listener->signal);
    board_unref(listener->board);
    wf_os_free(listener);
}

size_t weft_target_count(const weft_target *target, const char *type) {
    struct board *board = target ? board_of((weft_target *)target, false) : NULL;
    uint32_t hash = type ? type_hash(type) : 0;
    size_t count = 0;
    if (!board)
        return 0;
    wf_lock_take(&board->lock);
    for (struct wf_list *node = board->listeners.next; node != &board->listeners; node = node->next) {
        const struct listener *listener = WF_CONTAINER(node, struct listener, node);
        if (!type || (listener->hash == hash && strcmp(listener->type, type) == 0))
            count++;
    }
    wf_lock_drop(&board->lock);
    return count;
}

void weft_target_term(weft_target *target) {
    struct board *board = target ? board_of(target, false) : NULL;
    if (!board)
        return;
    target->listeners = NULL;
    for (;;) {
        wf_lock_take(&board->lock);
        struct wf_list *node = board->listeners.next;
        struct listener *first = NULL;
        if (node != &board->listeners) {
            first = WF_CONTAINER(node, struct listener, node);
            listener_take_off_locked(first);
        }
        wf_lock_drop(&board->lock);
        if (!first)
            break;
        listener_let_go(first);
        listener_unref(first);
    }
    board_unref(board);
}

int weft_target_dispatch(weft_target *target, weft_target_event *event) {
    if (!target || !event || !event->type)
        return -EINVAL;
    if (wf_fetch_or_acq_rel(event_state(event), TOLD_DISPATCH) & TOLD_DISPATCH) /* pairs with the end of the last one */
        return -EBUSY;
    if (!event->time_stamp)
        event->time_stamp = wf_os_now();
    struct board *board = board_of(target, false);
    event->target = event->current_target = target;
    event->phase = WEFT_TARGET_AT_TARGET;
    if (board) {
        wf_fetch_add_relaxed(&board->references, 1); /* a listener may end the target */
        struct passage passage = {.board = board, .event = event, .hash = type_hash(event->type), .is_capture = true};
        passage_run(&passage);
        passage.is_capture = false;
        passage_run(&passage);
        board_unref(board);
    }
    event->phase = WEFT_TARGET_NONE;
    event->current_target = NULL;
    uint32_t state = wf_fetch_and_acq_rel(event_state(event), TOLD_CANCELED);
    return state & TOLD_CANCELED ? 0 : 1;
}

static void passage_run(struct passage *passage) {
    weft_target_event *event = passage->event;
    if (wf_load_relaxed(event_state(event)) & TOLD_STOP)
        return;
    wf_lock_take(&passage->board->lock);
    passage->limit = passage->board->next_number;
    wf_lock_drop(&passage->board->lock);
    passage->last = 0;
    while (!(wf_load_relaxed(event_state(event)) & TOLD_STOP_NOW)) {
        struct listener *listener = passage_next(passage);
        if (!listener)
            break;
        listener_call(listener, event);
    }
    if (passage->at)
        listener_unref(passage->at);
    passage->at = NULL;
}

/* Claims the next one. */
static struct listener *passage_next(struct passage *passage) {
    struct board *board = passage->board;
    struct listener *former = passage->at;
    struct listener *found = NULL;
    bool is_taken_off = false;
    WF_POINT("target.before_claim");
    wf_lock_take(&board->lock);
    struct wf_list *node = former && wf_list_is_linked(&former->node) ? former->node.next : board->listeners.next;
    for (; node != &board->listeners && !found; node = node->next) {
        struct listener *listener = WF_CONTAINER(node, struct listener, node);
        if (listener->number > passage->limit)
            break;
        if (passage_wants(passage, listener))
            found = listener;
    }
    if (found) {
        passage->last = found->number;
        is_taken_off = found->is_once;
        if (is_taken_off)
            listener_take_off_locked(found); /* its reference becomes ours */
        else
            wf_fetch_add_relaxed(&found->references, 1);
    }
    wf_lock_drop(&board->lock);
    if (former)
        listener_unref(former);
    if (is_taken_off)
        listener_let_go(found);
    passage->at = found;
    return found;
}

static bool passage_wants(const struct passage *passage, const struct listener *listener) {
    return listener->number > passage->last && listener->is_capture == passage->is_capture &&
           listener->hash == passage->hash && strcmp(listener->type, passage->event->type) == 0;
}

struct listener_calling {
    struct listener *listener;
    weft_target_event *event;
};

static void listener_guarded(void *opaque) {
    struct listener_calling *calling = opaque;
    calling->listener->fn(calling->event, calling->listener->arg);
}

static void listener_call(struct listener *listener, weft_target_event *event) {
    struct listener_calling calling = {listener, event};
    char message[WF_LOOP_MESSAGE];
    if (listener->is_passive)
        wf_fetch_or_relaxed(event_state(event), TOLD_PASSIVE);
    int error = wf_try_contain(listener_guarded, &calling, message, sizeof message, NULL);
    if (listener->is_passive)
        wf_fetch_and_acq_rel(event_state(event), ~(uint32_t)TOLD_PASSIVE);
    if (!error)
        return;
    weft_loop *loop = weft_loop_current();
    if (loop)
        wf_loop_tell(loop, "listener", NULL, message);
    else
        wf_report("a listener for \"%s\" panicked: %s", listener->type, message);
}

void weft_target_prevent_default(weft_target_event *event) {
    if (event && event->cancelable && !(wf_load_relaxed(event_state(event)) & TOLD_PASSIVE))
        wf_fetch_or_relaxed(event_state(event), TOLD_CANCELED);
}

void weft_target_stop_propagation(weft_target_event *event) {
    if (event)
        wf_fetch_or_relaxed(event_state(event), TOLD_STOP);
}

void weft_target_stop_immediate_propagation(weft_target_event *event) {
    if (event)
        wf_fetch_or_relaxed(event_state(event), TOLD_STOP | TOLD_STOP_NOW);
}

bool weft_target_is_canceled(const weft_target_event *event) {
    return event && (wf_load_relaxed(event_state(event)) & TOLD_CANCELED);
}
