/* SPDX-License-Identifier: MIT
 *
 * js/ffi_guest.c - callbacks that come on threads which have not the turn: those of libraries, and of calls that are
 * promises.
 *
 * Such a thread is a *guest*: it asks for the turn, runs the callback where it is, on its own stack and with frames
 * of its own, and gives the turn back. It does so too when it makes a foreign call inside of the callback.
 *
 * The loop hands the turn to guests while it *opens* it. It does so in a callback of its own, one for each guest that
 * asks; and while it is in a foreign call itself, which may wait for that very thread:
 *
 *     HELD --the loop opens it--> OPEN --a guest gets it--> TAKEN --it gives it back--> OPEN, or the next guest's
 *          <--and closes it------                           TAKEN --the same, and the loop waits for it--> HELD
 *
 * OPEN changes by a compare and swap, TAKEN under guests_lock. A guest counts itself in before it looks at loop_turn,
 * and the loop opens it before it looks at the count, so one of them sees the other.
 */
#include <errno.h>

#include "foreign.h"

enum { HELD, OPEN, TAKEN };

static struct wf_ffi_guest *grant_locked(struct wf_ffi *ffi);
static struct wf_ffi_guest *take_first_locked(struct wf_ffi *ffi);
static bool withdraw(struct wf_ffi *ffi, struct wf_ffi_guest *guest);
static void serve(void *opaque);

static void lock_guests(struct wf_ffi *ffi) {
    weft_shield();
    weft_mutex_lock(&ffi->guests_lock, WEFT_NEVER);
}

static void unlock_guests(struct wf_ffi *ffi) {
    weft_mutex_unlock(&ffi->guests_lock);
    weft_unshield();
}

static void await(weft_semaphore *semaphore) {
    weft_shield();
    while (weft_semaphore_acquire(semaphore, 1, WEFT_NEVER) != 0)
        continue;
    weft_unshield();
}

/* ---- On any thread ---- */

void wf_ffi_guest_run(struct wf_ffi_callback *callback, weft_js *js, const weft_ffi_value *arguments,
                      weft_ffi_value *result, struct wf_ffi_call *call) {
    static __thread const char *thread_end;
    struct wf_ffi *ffi = js->ffi;
    struct wf_ffi_guest guest = {.stack_end = call ? call->stack_end : NULL};
    if (!guest.stack_end) {
        if (!thread_end)
            thread_end = wf_js_find_stack_end();
        guest.stack_end = thread_end;
    }
    atomic_fetch_add(&ffi->guests, 1);
    if (wf_ffi_guest_take(js, &guest)) {
        wf_ffi_callback_run(callback, arguments, result, call);
        wf_ffi_guest_give(js, &guest);
    }
    weft_loop *loop = weft_loop_ref(js->loop);
    (void)weft_js_ref(js);
    atomic_fetch_sub(&ffi->guests, 1); /* pairs with weft_js_free, which looks at it after has_ended */
    if (atomic_load(&js->has_ended))
        (void)weft_loop_wake(loop); /* it may wait for it there */
    weft_js_unref(js);
    weft_loop_unref(loop);
}

bool wf_ffi_guest_take(weft_js *js, struct wf_ffi_guest *guest) {
    struct wf_ffi *ffi = js->ffi;
    guest->next = NULL;
    lock_guests(ffi);
    if (ffi->is_stopped && !guest->is_inside) {
        unlock_guests(ffi);
        return false;
    }
    *(ffi->last ? &ffi->last->next : &ffi->first) = guest;
    ffi->last = guest;
    atomic_fetch_add(&ffi->waiting, 1); /* pairs with wf_ffi_guest_admit */
    struct wf_ffi_guest *granted = grant_locked(ffi);
    unlock_guests(ffi);
    if (granted)
        weft_semaphore_release(&granted->turn, 1);
    if (granted != guest) {
        atomic_fetch_add(&ffi->due, 1);
        if (wf_js_submit(js->loop, serve, js) != 0) {
            atomic_fetch_sub(&ffi->due, 1);
            if (withdraw(ffi, guest))
                return false; /* there is no loop any more */
        }
    }
    await(&guest->turn);
    if (!guest->has_turn)
        return false;
    guest->is_inside = true;
    ffi->guest = guest;
    wf_js_be_inside(js, wf_js_self());
    guest->loop_end = js->stack_end;
    js->stack_end = guest->stack_end;
    wf_engine_set_frame(js->runtime, guest->frame);
    wf_js_set_stack(js, js->stack_end);
    return true;
}

void wf_ffi_guest_give(weft_js *js, struct wf_ffi_guest *guest) {
    struct wf_ffi *ffi = js->ffi;
    struct wf_ffi_guest *granted = NULL;
    guest->frame = wf_engine_frame(js->runtime);
    guest->has_turn = false;
    atomic_store(&js->inside, 0);
    js->stack_end = guest->loop_end;
    ffi->guest = NULL;
    lock_guests(ffi);
    bool is_awaited = ffi->is_awaited;
    ffi->is_awaited = false;
    atomic_store(&ffi->loop_turn, is_awaited ? HELD : OPEN);
    if (!is_awaited)
        granted = grant_locked(ffi);
    unlock_guests(ffi);
    if (granted)
        weft_semaphore_release(&granted->turn, 1);
    if (is_awaited)
        weft_semaphore_release(&ffi->returned, 1);
}

/* The first one has the turn, if it is open. */
static struct wf_ffi_guest *grant_locked(struct wf_ffi *ffi) {
    int expected = OPEN;
    if (!ffi->first || !atomic_compare_exchange_strong(&ffi->loop_turn, &expected, TAKEN))
        return NULL;
    struct wf_ffi_guest *guest = take_first_locked(ffi);
    guest->has_turn = true;
    return guest;
}

static struct wf_ffi_guest *take_first_locked(struct wf_ffi *ffi) {
    struct wf_ffi_guest *guest = ffi->first;
    ffi->first = guest->next;
    if (!ffi->first)
        ffi->last = NULL;
    atomic_fetch_sub(&ffi->waiting, 1);
    return guest;
}

/* False: it was served after all. */
static bool withdraw(struct wf_ffi *ffi, struct wf_ffi_guest *guest) {
    struct wf_ffi_guest *before = NULL;
    if (guest->is_inside)
        weft_fatal("the loop of a JavaScript instance has ended while a thread of a library was inside of a callback");
    lock_guests(ffi);
    struct wf_ffi_guest *found = ffi->first;
    for (; found && found != guest; found = found->next)
        before = found;
    if (found) {
        *(before ? &before->next : &ffi->first) = found->next;
        if (ffi->last == found)
            ffi->last = before;
        atomic_fetch_sub(&ffi->waiting, 1);
    }
    unlock_guests(ffi);
    return found;
}

/* ---- On the loop ---- */

void wf_ffi_guest_admit(weft_js *js) {
    struct wf_ffi *ffi = js->ffi;
    atomic_store(&js->inside, 0);
    atomic_store(&ffi->loop_turn, OPEN);
    if (atomic_load(&ffi->waiting) == 0) /* pairs with wf_ffi_guest_take */
        return;
    lock_guests(ffi);
    struct wf_ffi_guest *granted = grant_locked(ffi);
    unlock_guests(ffi);
    if (granted)
        weft_semaphore_release(&granted->turn, 1);
}

void wf_ffi_guest_dismiss(weft_js *js, void *frame) {
    struct wf_ffi *ffi = js->ffi;
    int expected = OPEN;
    if (!atomic_compare_exchange_strong(&ffi->loop_turn, &expected, HELD)) {
        lock_guests(ffi);
        expected = OPEN;
        bool is_back = atomic_compare_exchange_strong(&ffi->loop_turn, &expected, HELD);
        ffi->is_awaited = !is_back;
        unlock_guests(ffi);
        if (!is_back)
            await(&ffi->returned);
    }
    wf_js_be_inside(js, wf_js_self());
    wf_engine_set_frame(js->runtime, frame);
}

/* One of those that wait, if there is one left. */
static void serve(void *opaque) {
    weft_js *js = opaque;
    wf_js_enter_any(js);
    void *frame = wf_engine_frame(js->runtime);
    wf_ffi_guest_admit(js);
    wf_ffi_guest_dismiss(js, frame);
    wf_js_set_stack(js, js->stack_end);
    wf_js_leave(js);
    atomic_fetch_sub(&js->ffi->due, 1);
}

/* Those that are in the middle of something still come to its end. */
void wf_ffi_guest_stop(weft_js *js) {
    struct wf_ffi *ffi = js->ffi;
    lock_guests(ffi);
    ffi->is_stopped = true;
    for (unsigned count = atomic_load(&ffi->waiting); count > 0; count--) {
        struct wf_ffi_guest *guest = take_first_locked(ffi);
        if (!guest->is_inside) {
            weft_semaphore_release(&guest->turn, 1);
            continue;
        }
        guest->next = NULL;
        *(ffi->last ? &ffi->last->next : &ffi->first) = guest;
        ffi->last = guest;
        atomic_fetch_add(&ffi->waiting, 1);
    }
    unlock_guests(ffi);
}

bool wf_ffi_guest_is_due(const weft_js *js) {
    return atomic_load(&js->ffi->due) > 0 || atomic_load(&js->ffi->guests) > 0;
}
