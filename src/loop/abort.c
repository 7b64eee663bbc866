/* SPDX-License-Identifier: MIT
 *
 * loop/abort.c - abort signals: references, firing, handlers, timeouts, waiting. Model: loop/abort.h.
 *
 * The pair: the state is stored with release after the reason (A) and read with acquire before it (B). What has a reason keeps
 * it, so it is read without the lock from then on.
 *
 * A timer holds a reference on its signal. It gives that back when it has fired and when its loop ends; whoever clears it
 * gets the reference. Its loop stays as long as loop is set, because letting go takes the signal's lock.
 */
#include "loop/abort.h"

#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "base/point.h"
#include "os/memory.h"
#include "os/report.h"
#include "wait/select.h"
#include "weft/panic.h"

enum { ABORT_FIRST_ROOM = 4 };

/* Handlers that panicked: the first one's words. */
struct abort_panic {
    bool has_panicked;
    char message[WF_LOOP_MESSAGE];
};

static void abort_free(weft_abort_signal *signal);
static uint32_t abort_forgo_timer(weft_abort_signal *signal);
static int abort_check_reason(const weft_abort_reason *reason);
static int abort_carry_out(weft_abort_signal *signal, const weft_abort_reason *reason, int error, const char *text,
                           struct abort_panic *panic);
static void abort_fill_reason(weft_abort_reason *out, const weft_abort_reason *reason, int error, const char *text);
static weft_abort_signal *abort_followers(weft_abort_signal *signal);
static void abort_stop_timer(weft_abort_signal *signal);
static void abort_deliver(weft_abort_signal *signal, struct abort_panic *panic);
static int abort_make_room_locked(weft_abort_signal *signal);
static void abort_expire(void *opaque);
static void abort_let_go(void *opaque);

int weft_abort_new(weft_abort_signal **out) {
    if (!out)
        return -EINVAL;
    weft_abort_signal *signal = wf_abort_make(false);
    if (!signal)
        return -ENOMEM;
    *out = signal;
    return 0;
}

weft_abort_signal *wf_abort_make(bool is_derived) {
    weft_abort_signal *signal = wf_os_alloc(sizeof *signal);
    if (!signal)
        return NULL;
    wf_store_relaxed(&signal->references, 1);
    wf_list_init(&signal->followers);
    signal->is_derived = is_derived;
    return signal;
}

weft_abort_signal *weft_abort_ref(weft_abort_signal *signal) {
    if (signal)
        wf_fetch_add_relaxed(&signal->references, 1);
    return signal;
}

void weft_abort_unref(weft_abort_signal *signal) {
    if (!signal)
        return;
    uint32_t given = 1 + abort_forgo_timer(signal);
    /* Release: what was done under this reference; acquire, by the last one: what was done under the others. */
    if (wf_fetch_sub_acq_rel(&signal->references, given) == given)
        abort_free(signal);
}

/* A timer that would abort what nobody knows any more is taken back: 1, and the caller has its reference. Two references, ours
 * and that of the timer: nobody can come in between. */
static uint32_t abort_forgo_timer(weft_abort_signal *signal) {
    uint32_t taken = 0;
    if (!signal->is_timeout || wf_load_relaxed(&signal->references) != 2)
        return 0;
    wf_lock_take(&signal->lock);
    if (signal->loop && signal->live == 0 && weft_clear_timer(signal->loop, signal->timer) == 0) {
        signal->loop = NULL;
        taken = 1;
    }
    wf_lock_drop(&signal->lock);
    return taken;
}

static void abort_free(weft_abort_signal *signal) {
    wf_lock_take(&signal->lock); /* somebody without a reference, whom we are looking for, may be coming or going */
    if (signal->waiters)
        wf_fatal("the last reference to an abort signal was given back while somebody waits for it");
    wf_lock_drop(&signal->lock);
    wf_abort_detach(signal);
    weft_abort_unref(signal->origin);
    if (signal->reason.drop)
        signal->reason.drop(signal->reason.value);
    wf_os_free(signal->entries);
    wf_os_free(signal);
}

int weft_abort_fire(weft_abort_signal *signal, const weft_abort_reason *reason) {
    if (!signal || abort_check_reason(reason) != 0)
        return -EINVAL;
    if (signal->is_derived)
        return -EPERM;
    struct abort_panic panic = {.has_panicked = false};
    int error = abort_carry_out(signal, reason, -ECANCELED, "aborted", &panic);
    if (panic.has_panicked)
        weft_panic("%s", panic.message);
    return error;
}

static int abort_check_reason(const weft_abort_reason *reason) {
    return reason && (reason->error > 0 || (reason->drop && !reason->value)) ? -EINVAL : 0;
}

/* error and text are those of a reason that has none. */
static int abort_carry_out(weft_abort_signal *signal, const weft_abort_reason *reason, int error, const char *text,
                           struct abort_panic *panic) {
    wf_context_release(signal);
    wf_lock_take(&signal->relations);
    wf_lock_take(&signal->lock);
    if (wf_load_relaxed(&signal->state) != WF_ABORT_PENDING) {
        wf_lock_drop(&signal->lock);
        wf_lock_drop(&signal->relations);
        return -EALREADY;
    }
    weft_abort_ref(signal); /* a handler may give back the caller's */
    abort_fill_reason(&signal->reason, reason, error, text);
    wf_store_release(&signal->state, WF_ABORT_ABORTED); /* A: pairs with B */
    signal->told = wf_wait_take_all_locked(&signal->waiters, 0, NULL);
    wf_lock_drop(&signal->lock);
    WF_POINT("abort.before_followers");
    weft_abort_signal *derived = abort_followers(signal);
    wf_lock_drop(&signal->relations);

    wf_wait_wake_chain(signal->told);
    for (weft_abort_signal *each = derived; each; each = each->next) {
        wf_wait_wake_chain(each->told);
        wf_abort_detach(each);
    }
    abort_stop_timer(signal);
    abort_deliver(signal, panic);
    while (derived) {
        weft_abort_signal *each = derived;
        derived = each->next;
        abort_deliver(each, panic);
        weft_abort_unref(each);
    }
    weft_abort_unref(signal);
    return 0;
}

static void abort_fill_reason(weft_abort_reason *out, const weft_abort_reason *reason, int error, const char *text) {
    if (reason)
        *out = *reason;
    if (!out->error)
        out->error = error;
    if (!out->text[0])
        strncpy(out->text, text, sizeof out->text - 1);
    out->text[sizeof out->text - 1] = 0;
}

/* With the relations: gives its reason to those that follow it, and returns them, each with a reference. */
static weft_abort_signal *abort_followers(weft_abort_signal *signal) {
    weft_abort_signal *first = NULL;
    weft_abort_signal **end = &first;
    for (struct wf_list *node = signal->followers.next; node != &signal->followers; node = node->next) {
        weft_abort_signal *derived = WF_CONTAINER(node, struct wf_abort_link, node)->derived;
        if (!wf_abort_follow(derived, signal))
            continue;
        *end = derived;
        end = &derived->next;
    }
    return first;
}

bool wf_abort_follow(weft_abort_signal *derived, weft_abort_signal *root) {
    wf_lock_take(&derived->lock);
    bool is_ours = wf_load_relaxed(&derived->state) == WF_ABORT_PENDING && wf_count_if_any(&derived->references);
    if (is_ours) {
        wf_context_release(derived);
        derived->next = NULL;
        derived->origin = weft_abort_ref(root);
        wf_store_release(&derived->state, WF_ABORT_ABORTED); /* A: pairs with B */
        derived->told = wf_wait_take_all_locked(&derived->waiters, 0, NULL);
    }
    wf_lock_drop(&derived->lock);
    return is_ours;
}

void wf_abort_detach(weft_abort_signal *derived) {
    wf_lock_take(&derived->lock);
    struct wf_abort_link *links = derived->links;
    uint32_t count = derived->link_count;
    derived->links = NULL;
    derived->link_count = 0;
    wf_lock_drop(&derived->lock);
    for (uint32_t i = 0; i < count; i++) {
        weft_abort_signal *root = links[i].root;
        wf_lock_take(&root->relations);
        wf_list_remove(&links[i].node);
        wf_lock_drop(&root->relations);
        weft_abort_unref(root);
    }
    wf_os_free(links);
}

/* It was aborted by hand: its timer is not needed. */
static void abort_stop_timer(weft_abort_signal *signal) {
    bool is_stopped = false;
    wf_lock_take(&signal->lock); /* the loop cannot go before it has let go of us, and that takes the lock */
    if (signal->loop && weft_clear_timer(signal->loop, signal->timer) == 0) {
        signal->loop = NULL;
        is_stopped = true;
    }
    wf_lock_drop(&signal->lock);
    if (is_stopped)
        weft_abort_unref(signal);
}

struct abort_call {
    struct wf_abort_entry entry;
    weft_abort_signal *signal;
};

static void abort_call_handler(void *opaque) {
    struct abort_call *call = opaque;
    call->entry.fn(call->signal, call->entry.arg);
}

/* One handler after another, also those that come meanwhile. */
static void abort_deliver(weft_abort_signal *signal, struct abort_panic *panic) {
    for (;;) {
        struct abort_call call = {.signal = signal};
        WF_POINT("abort.before_handler");
        wf_lock_take(&signal->lock);
        while (signal->first < signal->count && !call.entry.fn)
            call.entry = signal->entries[signal->first++];
        if (!call.entry.fn) {
            wf_store_release(&signal->state, WF_ABORT_DELIVERED); /* A again, for who reads only this */
            wf_os_free(signal->entries);
            signal->entries = NULL;
            signal->first = signal->count = signal->room = 0;
            wf_lock_drop(&signal->lock);
            return;
        }
        signal->live--;
        wf_lock_drop(&signal->lock);
        char message[WF_LOOP_MESSAGE];
        if (wf_try_contain(abort_call_handler, &call, message, sizeof message, NULL) && !panic->has_panicked) {
            panic->has_panicked = true;
            memcpy(panic->message, message, sizeof message);
        }
    }
}

void wf_abort_close(weft_abort_signal *signal) {
    struct abort_panic none = {.has_panicked = false};
    abort_deliver(signal, &none);
}

bool weft_abort_is_aborted(const weft_abort_signal *signal) {
    return signal && wf_load_acquire(&((weft_abort_signal *)signal)->state) != WF_ABORT_PENDING; /* B */
}

/* Its reason, once it is aborted. */
static const weft_abort_reason *abort_reason_of(const weft_abort_signal *signal) {
    wf_context_acquire((weft_abort_signal *)signal);
    return signal->origin ? &signal->origin->reason : &signal->reason;
}

int weft_abort_check(const weft_abort_signal *signal) {
    return weft_abort_is_aborted(signal) ? abort_reason_of(signal)->error : 0;
}

int weft_abort_get_reason(const weft_abort_signal *signal, weft_abort_reason *out) {
    if (!signal || !out)
        return -EINVAL;
    if (!weft_abort_is_aborted(signal))
        return -EAGAIN;
    *out = *abort_reason_of(signal);
    return 0;
}

int weft_abort_on(weft_abort_signal *signal, weft_abort_handler *out, weft_abort_fn fn, void *arg) {
    if (!signal || !fn)
        return -EINVAL;
    wf_lock_take(&signal->lock);
    if (wf_load_relaxed(&signal->state) == WF_ABORT_DELIVERED) {
        wf_lock_drop(&signal->lock);
        wf_context_acquire(signal);
        if (out)
            out->bits = 0;
        fn(signal, arg);
        return 0;
    }
    int error = abort_make_room_locked(signal);
    if (!error) {
        signal->entries[signal->count++] = (struct wf_abort_entry){++signal->last_id, fn, arg};
        signal->live++;
        if (out)
            out->bits = signal->last_id;
    }
    wf_lock_drop(&signal->lock);
    return error;
}

/* Closes the holes when they are half of it, else doubles. */
static int abort_make_room_locked(weft_abort_signal *signal) {
    if (signal->count < signal->room)
        return 0;
    struct wf_abort_entry *entries = signal->entries;
    uint32_t room = signal->room;
    if (signal->live > room / 2 || room == 0) {
        if (room > UINT32_MAX / 2)
            return -ENOMEM;
        room = room ? 2 * room : ABORT_FIRST_ROOM;
        entries = wf_os_alloc(room * sizeof *entries);
        if (!entries)
            return -ENOMEM;
    }
    uint32_t count = 0;
    for (uint32_t i = signal->first; i < signal->count; i++)
        if (signal->entries[i].fn)
            entries[count++] = signal->entries[i];
    WF_ASSERT(count == signal->live);
    if (entries != signal->entries)
        wf_os_free(signal->entries);
    signal->entries = entries;
    signal->room = room;
    signal->first = 0;
    signal->count = count;
    return 0;
}

int weft_abort_off(weft_abort_signal *signal, weft_abort_handler handler) {
    if (!signal)
        return -EINVAL;
    int status = -ESTALE;
    wf_lock_take(&signal->lock);
    uint32_t low = signal->first;
    uint32_t high = signal->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (signal->entries[middle].id < handler.bits)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < signal->count && signal->entries[low].id == handler.bits && signal->entries[low].fn) {
        signal->entries[low].fn = NULL;
        signal->live--;
        status = 0;
    }
    wf_lock_drop(&signal->lock);
    return status;
}

int weft_abort_timeout(weft_loop *loop, weft_abort_signal **out, int64_t delay) {
    if (!loop || !out)
        return -EINVAL;
    weft_abort_signal *signal = wf_abort_make(false);
    if (!signal)
        return -ENOMEM;
    signal->is_timeout = true;
    signal->loop = loop;
    wf_store_relaxed(&signal->references, 2); /* the caller's and the timer's */
    int error = wf_loop_set_timeout(loop, &signal->timer, delay, false, abort_expire, abort_let_go, signal);
    if (error) {
        wf_os_free(signal);
        return error;
    }
    *out = signal;
    return 0;
}

/* On the loop's owner. */
static void abort_expire(void *opaque) {
    weft_abort_signal *signal = opaque;
    wf_lock_take(&signal->lock);
    signal->loop = NULL;
    wf_lock_drop(&signal->lock);
    WF_POINT("abort.before_expire");
    struct abort_panic panic = {.has_panicked = false};
    (void)abort_carry_out(signal, NULL, -ETIMEDOUT, "timed out", &panic);
    weft_abort_unref(signal);
    if (panic.has_panicked)
        weft_panic("%s", panic.message);
}

/* The loop ends and the timer has not fired. */
static void abort_let_go(void *opaque) {
    weft_abort_signal *signal = opaque;
    wf_lock_take(&signal->lock);
    signal->loop = NULL;
    wf_lock_drop(&signal->lock);
    weft_abort_unref(signal);
}

/* For who has seen that it is aborted. */
static void abort_see(weft_abort_signal *signal, weft_abort_reason *out) {
    const weft_abort_reason *reason = abort_reason_of(signal);
    if (out)
        *out = *reason;
}

int weft_abort_wait(weft_abort_signal *signal, weft_abort_reason *out, weft_time deadline) {
    if (!signal)
        return -EINVAL;
    int status = wf_wait_enter(deadline);
    if (status)
        return status;
    wf_lock_take(&signal->lock);
    if (wf_load_relaxed(&signal->state) == WF_ABORT_PENDING) {
        struct wf_waiter waiter = {0};
        status = wf_wait_locked(&waiter, &signal->lock, &signal->waiters, deadline, "abort");
        if (status)
            return status;
    } else {
        wf_lock_drop(&signal->lock);
    }
    abort_see(signal, out);
    return 0;
}

/* As a case of select. */
static bool abort_case_begin(weft_case *entry, struct wf_lock **lock, struct wf_waiter ***queue) {
    weft_abort_signal *signal = entry->object;
    if (!signal)
        return false;
    *lock = &signal->lock;
    *queue = &signal->waiters;
    return true;
}

static bool abort_case_attempt(weft_case *entry, struct wf_waiter **wakes) {
    weft_abort_signal *signal = entry->object;
    (void)wakes;
    if (wf_load_relaxed(&signal->state) == WF_ABORT_PENDING) /* under the lock */
        return false;
    abort_see(signal, entry->value);
    entry->status = 0;
    return true;
}

static void abort_case_finish(weft_case *entry, struct wf_waiter *node) {
    (void)node;
    abort_see(entry->object, entry->value);
    entry->status = 0;
}

static const struct wf_case_kind abort_kind = {
    .name = "abort",
    .begin = abort_case_begin,
    .attempt = abort_case_attempt,
    .finish = abort_case_finish,
};

weft_case weft_on_abort(weft_abort_signal *signal, weft_abort_reason *out) {
    return wf_case_make(&abort_kind, signal, 0, out);
}
