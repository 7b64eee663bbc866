/* SPDX-License-Identifier: MIT
 *
 * js/line.c - what instances share of a channel: weft's channel, with parcels in it, and who may still use it.
 *
 * An instance *holds* a line while it has handles of it; a parcel *carries* one that is part of its value. When neither is left, the
 * line goes, and the parcels that are still inside.
 *
 * Broken lines. An instance that ends by an error, an exit or by force will not send what others wait for. When it has held a line,
 * or a parcel for it has carried one, and only one instance is left that knows the line, the line breaks: it is closed, and whoever
 * waits, or tries to, is told. What the dead have sent can still be received. What the survivor has sent itself cannot, by anybody,
 * and is dropped, so that a channel for the answer, which is often part of a question, breaks too. As long as there are two instances
 * nothing happens: the other one may do what the dead has left undone.
 *
 * Locks: only one line is locked at a time. Parcels are dropped without any lock, for they may carry other lines.
 */
#include <errno.h>
#include <stdlib.h>

#include "channel.h"
#include "parcel.h"

struct holder {
    uint64_t number; /* of the instance */
    uint32_t handles;
};

struct wf_js_line {
    weft_chan *chan;
    weft_mutex lock;
    struct holder *holders; /* this and the rest under lock */
    uint32_t holder_count, holder_room;
    uint32_t carriers; /* parcels */
    bool has_lost;     /* somebody who knew it has died */
    atomic_bool is_broken;
};

static void release(struct wf_js_line *line);
static void break_locked(struct wf_js_line *line, struct wf_js_parcel **dropped);
static void drop_chain(struct wf_js_parcel *parcel);

struct wf_js_line *wf_js_line_new(uint32_t capacity, int *error) {
    struct wf_js_line *line = calloc(1, sizeof *line);
    *error = line ? weft_chan_new(&line->chan, sizeof(union wf_js_item), capacity) : -ENOMEM;
    if (*error) {
        free(line);
        return NULL;
    }
    return line;
}

weft_chan *wf_js_line_chan(struct wf_js_line *line) {
    return line->chan;
}

bool wf_js_line_is_broken(struct wf_js_line *line) {
    return atomic_load(&line->is_broken);
}

static struct holder *find_holder(struct wf_js_line *line, const weft_js *js) {
    for (uint32_t i = 0; i < line->holder_count; i++)
        if (line->holders[i].number == js->number)
            return &line->holders[i];
    return NULL;
}

int wf_js_line_hold(struct wf_js_line *line, const weft_js *js) {
    int error = 0;
    wf_js_lock(&line->lock);
    struct holder *holder = find_holder(line, js);
    if (!holder && line->holder_count == line->holder_room) {
        uint32_t room = line->holder_room ? 2 * line->holder_room : 2;
        struct holder *longer = realloc(line->holders, room * sizeof *longer);
        error = longer ? 0 : -ENOMEM;
        if (longer) {
            line->holders = longer;
            line->holder_room = room;
        }
    }
    if (!holder && !error) {
        holder = &line->holders[line->holder_count++];
        *holder = (struct holder){.number = js->number};
    }
    if (holder)
        holder->handles++;
    wf_js_unlock(&line->lock);
    return error;
}

void wf_js_line_leave(struct wf_js_line *line, const weft_js *js) {
    wf_js_lock(&line->lock);
    struct holder *holder = find_holder(line, js);
    line->has_lost |= js->is_lost;
    if (--holder->handles == 0)
        *holder = line->holders[--line->holder_count];
    release(line);
}

struct wf_js_line *wf_js_line_carry(struct wf_js_line *line) {
    wf_js_lock(&line->lock);
    line->carriers++;
    wf_js_unlock(&line->lock);
    return line;
}

void wf_js_line_uncarry(struct wf_js_line *line, bool is_lost) {
    wf_js_lock(&line->lock);
    line->has_lost |= is_lost;
    line->carriers--;
    release(line);
}

/* Unlocks; somebody has let go of it. */
static void release(struct wf_js_line *line) {
    struct wf_js_parcel *dropped = NULL;
    bool is_last = line->holder_count == 0 && line->carriers == 0;
    if (line->has_lost && line->holder_count == 1 && line->carriers == 0 && !atomic_load(&line->is_broken))
        break_locked(line, &dropped);
    wf_js_unlock(&line->lock);
    drop_chain(dropped);
    if (!is_last)
        return;
    union wf_js_item item;
    while (weft_chan_recv(line->chan, &item, WEFT_NOW) == 0)
        wf_js_parcel_drop(item.parcel, true);
    weft_chan_free(line->chan);
    free(line->holders);
    free(line);
}

/* What the survivor has sent goes into the list; the rest is put back, in its order. Without a buffer there is nothing inside, and
 * senders that wait are told by the closing. */
static void break_locked(struct wf_js_line *line, struct wf_js_parcel **dropped) {
    union wf_js_item item;
    struct wf_js_parcel *kept = NULL, **last = &kept;
    while (weft_chan_cap(line->chan) > 0 && weft_chan_recv(line->chan, &item, WEFT_NOW) == 0) {
        struct wf_js_parcel *parcel = item.parcel;
        if (parcel->from == line->holders[0].number) {
            parcel->next = *dropped;
            *dropped = parcel;
        } else {
            parcel->next = NULL;
            *last = parcel;
            last = &parcel->next;
        }
    }
    while (kept) {
        item.parcel = kept;
        kept = kept->next;
        (void)weft_chan_send(line->chan, &item, WEFT_NOW); /* there was room for all of them */
    }
    atomic_store(&line->is_broken, true);
    (void)weft_chan_close(line->chan);
}

static void drop_chain(struct wf_js_parcel *parcel) {
    while (parcel) {
        struct wf_js_parcel *next = parcel->next;
        wf_js_parcel_drop(parcel, true);
        parcel = next;
    }
}
