/* SPDX-License-Identifier: MIT
 *
 * js/line.c - what instances share of a channel: weft's channel, with parcels in it, and who may still use it.
 *
 * An instance *holds* a line while it has handles of it; a parcel *carries* one that is part of its value. When neither is left, the
 * line goes, and the parcels that are still inside. A line knows which of the parcels inside of it carry others.
 *
 * Broken lines. An instance that ends by an error, an exit or by force will not send what others wait for. When it has held a line,
 * or a parcel for it has carried one, and only one instance is left that knows the line, the line breaks: it is closed, and whoever
 * waits, or tries to, is told. What the dead have sent can still be received. What the survivor has sent will not be received by
 * anybody else; so a line for the answer, which is often part of a question, is taken out of it and breaks, too. As long as there are
 * two instances nothing happens: the other one may do what the dead has left undone. Nor does a line break that was closed before: who
 * closes it has sent all there is.
 *
 * Orphans. Nobody holds them, but they are carried; somebody may get them by a parcel. If all those parcels are inside of other
 * orphans nobody ever will: then they go together, whatever rings they form. That is looked for when there are twice as many as were
 * left the last time, and when an instance ends.
 *
 * One lock guards who knows whom, of all lines: it is taken when a handle or a parcel that carries lines comes or goes, not for other
 * messages. Parcels are dropped without it.
 */
#include <errno.h>
#include <stdlib.h>

#include "channel.h"
#include "parcel.h"

enum { ORPHANS_LEAST = 16 };

struct holder {
    uint64_t number; /* of the instance */
    uint32_t handles;
};

struct wf_js_line {
    weft_chan *chan;
    atomic_bool is_broken;
    /* Under the lock of all. */
    struct holder *holders;
    uint32_t holder_count, holder_room;
    uint32_t carriers;                  /* parcels, those inside of itself too */
    struct wf_js_parcel *inside;        /* those that carry lines, and were sent through this one */
    bool has_lost;                      /* somebody who knew it has died */
    bool has_ended;                     /* or ended, in whatever way */
    bool is_orphan, is_reachable;       /* is_reachable: while they are looked at */
    uint32_t from_outside;              /* the same */
    struct wf_js_line *reached;         /* the same: the next to look at */
    struct wf_js_line *next, *previous; /* of the orphans */
};

/* Who knows whom is the process's: lines do not belong to instances. */
static struct {
    weft_mutex lock;
    struct wf_js_line *orphans;
    uint32_t count, looked_at; /* orphans now, and after the last look */
} all;

static void release(struct wf_js_line *line, struct wf_js_parcel **rest);
static void break_locked(struct wf_js_line *line, struct wf_js_parcel **rest);
static void set_orphan_locked(struct wf_js_line *line, bool is_orphan);
static void collect_locked(struct wf_js_parcel **rest);

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

/* ---- Who knows it ---- */

static struct holder *find_holder(struct wf_js_line *line, const weft_js *js) {
    for (uint32_t i = 0; i < line->holder_count; i++)
        if (line->holders[i].number == js->number)
            return &line->holders[i];
    return NULL;
}

static struct holder *add_holder(struct wf_js_line *line, const weft_js *js) {
    if (line->holder_count == line->holder_room) {
        uint32_t room = line->holder_room ? 2 * line->holder_room : 2;
        struct holder *longer = realloc(line->holders, room * sizeof *longer);
        if (!longer)
            return NULL;
        line->holders = longer;
        line->holder_room = room;
    }
    line->holders[line->holder_count] = (struct holder){.number = js->number};
    return &line->holders[line->holder_count++];
}

int wf_js_line_hold(struct wf_js_line *line, const weft_js *js) {
    wf_js_lock(&all.lock);
    struct holder *holder = find_holder(line, js);
    if (!holder)
        holder = add_holder(line, js);
    if (holder)
        holder->handles++;
    set_orphan_locked(line, line->holder_count == 0);
    wf_js_unlock(&all.lock);
    return holder ? 0 : -ENOMEM;
}

void wf_js_line_leave(struct wf_js_line *line, const weft_js *js) {
    wf_js_lock(&all.lock);
    struct holder *holder = find_holder(line, js);
    line->has_lost |= js->is_lost;
    line->has_ended |= js->has_ended;
    if (--holder->handles == 0)
        *holder = line->holders[--line->holder_count];
    struct wf_js_parcel *rest = NULL;
    release(line, &rest);
    wf_js_parcels_free(rest);
}

struct wf_js_line *wf_js_line_carry(struct wf_js_line *line) {
    wf_js_lock(&all.lock);
    line->carriers++;
    wf_js_unlock(&all.lock);
    return line;
}

void wf_js_line_uncarry(struct wf_js_line *line, bool is_lost, struct wf_js_parcel **rest) {
    wf_js_lock(&all.lock);
    line->has_lost |= is_lost;
    line->has_ended |= is_lost;
    line->carriers--;
    release(line, rest);
}

void wf_js_line_enter(struct wf_js_line *line, struct wf_js_parcel *parcel) {
    if (!wf_js_parcel_carries(parcel))
        return;
    wf_js_lock(&all.lock);
    parcel->is_inside = true;
    parcel->previous = NULL;
    parcel->next = line->inside;
    if (line->inside)
        line->inside->previous = parcel;
    line->inside = parcel;
    wf_js_unlock(&all.lock);
}

void wf_js_line_exit(struct wf_js_line *line, struct wf_js_parcel *parcel) {
    if (!wf_js_parcel_carries(parcel))
        return;
    wf_js_lock(&all.lock);
    if (parcel->is_inside) {
        *(parcel->previous ? &parcel->previous->next : &line->inside) = parcel->next;
        if (parcel->next)
            parcel->next->previous = parcel->previous;
    }
    parcel->is_inside = false;
    wf_js_unlock(&all.lock);
}

/* Somebody has let go of the line. Unlocks. */
static void release(struct wf_js_line *line, struct wf_js_parcel **rest) {
    bool is_last = line->holder_count == 0 && line->carriers == 0;
    set_orphan_locked(line, line->holder_count == 0 && !is_last);
    if (line->has_lost && line->holder_count == 1 && line->carriers == 0 && !weft_chan_is_closed(line->chan))
        break_locked(line, rest);
    if (all.count >= 2 * all.looked_at + ORPHANS_LEAST)
        collect_locked(rest);
    wf_js_unlock(&all.lock);
    if (!is_last)
        return;
    union wf_js_item item;
    while (weft_chan_recv(line->chan, &item, WEFT_NOW) == 0) {
        wf_js_line_exit(line, item.parcel);
        wf_js_parcel_discard(item.parcel, line->has_ended, rest);
    }
    weft_chan_free(line->chan);
    free(line->holders);
    free(line);
}

/* ---- Broken lines ---- */

/* What the survivor has sent carries nothing any more: that is in parcels of their own, in the list. */
static void break_locked(struct wf_js_line *line, struct wf_js_parcel **rest) {
    for (struct wf_js_parcel *parcel = line->inside; parcel; parcel = parcel->next) {
        struct wf_js_parcel *lost = parcel->from == line->holders[0].number ? wf_js_parcel_split(parcel) : NULL;
        wf_js_parcel_discard(lost, true, rest);
    }
    atomic_store(&line->is_broken, true);
    (void)weft_chan_close(line->chan);
}

/* ---- Orphans ---- */

static void set_orphan_locked(struct wf_js_line *line, bool is_orphan) {
    if (line->is_orphan == is_orphan)
        return;
    line->is_orphan = is_orphan;
    if (is_orphan) {
        line->previous = NULL;
        line->next = all.orphans;
        if (all.orphans)
            all.orphans->previous = line;
        all.orphans = line;
        all.count++;
        return;
    }
    *(line->previous ? &line->previous->next : &all.orphans) = line->next;
    if (line->next)
        line->next->previous = line->previous;
    all.count--;
}

static struct wf_js_line *carried(const struct wf_js_parcel *parcel, uint32_t index) {
    const struct wf_js_cargo *cargo = &parcel->cargo[index];
    return cargo->kind == WF_JS_CARGO_CHANNEL && !cargo->is_gone ? cargo->what : NULL;
}

static void reach_locked(struct wf_js_line *line, struct wf_js_line **reached) {
    line->is_reachable = true;
    line->reached = *reached;
    *reached = line;
}

/* All orphans that are inside of this one. */
static void reach_inside_locked(struct wf_js_line *line, struct wf_js_line **reached) {
    for (struct wf_js_parcel *parcel = line->inside; parcel; parcel = parcel->next)
        for (uint32_t i = 0; i < parcel->cargo_count; i++) {
            struct wf_js_line *inner = carried(parcel, i);
            if (inner && inner->is_orphan && !inner->is_reachable)
                reach_locked(inner, reached);
        }
}

/* Puts the parcels inside of those that nobody can reach into the list; with them, they go. */
static void collect_locked(struct wf_js_parcel **rest) {
    for (struct wf_js_line *line = all.orphans; line; line = line->next)
        line->from_outside = line->carriers;
    for (struct wf_js_line *line = all.orphans; line; line = line->next)
        for (struct wf_js_parcel *parcel = line->inside; parcel; parcel = parcel->next)
            for (uint32_t i = 0; i < parcel->cargo_count; i++)
                if (carried(parcel, i))
                    carried(parcel, i)->from_outside--;
    struct wf_js_line *reached = NULL;
    for (struct wf_js_line *line = all.orphans; line; line = line->next)
        line->is_reachable = false;
    for (struct wf_js_line *line = all.orphans; line; line = line->next)
        if (line->from_outside > 0)
            reach_locked(line, &reached);
    while (reached) {
        struct wf_js_line *line = reached;
        reached = line->reached;
        reach_inside_locked(line, &reached);
    }
    for (struct wf_js_line *line = all.orphans; line; line = line->next) {
        union wf_js_item item;
        while (!line->is_reachable && weft_chan_recv(line->chan, &item, WEFT_NOW) == 0) {
            item.parcel->is_inside = false;
            wf_js_parcel_discard(item.parcel, line->has_ended, rest);
        }
        if (!line->is_reachable)
            line->inside = NULL;
    }
    all.looked_at = all.count;
}

void wf_js_lines_collect(void) {
    struct wf_js_parcel *rest = NULL;
    wf_js_lock(&all.lock);
    if (all.count > 0)
        collect_locked(&rest);
    wf_js_unlock(&all.lock);
    wf_js_parcels_free(rest);
}
