/* SPDX-License-Identifier: MIT
 *
 * js/timer_list.c - the order of timers, which is Node's.
 *
 * Timers of one duration are a list, in the order in which they were set and are due; lists are in a heap by the time of their
 * first timer. Those of a list that are due run together, before the next list: so timers that are overdue do not run by their
 * due times, but list by list. A list that has nothing more to run goes back into the heap, behind others of the same time.
 *
 * Times are whole milliseconds, cut off: that is what makes timers equal.
 */
#include "timer.h"

#include <errno.h>
#include <stdlib.h>

enum { TABLE_LEAST = 64, HEAP_LEAST = 16 };

static size_t place_of(const struct wf_js_timers *timers, int64_t duration) {
    return ((uint64_t)duration * 0x9e3779b97f4a7c15u >> 32) & (timers->table_size - 1);
}

static bool is_before(const struct wf_js_timer_list *a, const struct wf_js_timer_list *b) {
    return a->expiry < b->expiry || (a->expiry == b->expiry && a->serial < b->serial);
}

static void put(struct wf_js_timers *timers, struct wf_js_timer_list *list, size_t at) {
    timers->heap[at] = list;
    list->at = at;
}

static void sink(struct wf_js_timers *timers, size_t at) {
    struct wf_js_timer_list *list = timers->heap[at];
    for (size_t child; (child = 2 * at + 1) < timers->count; at = child) {
        if (child + 1 < timers->count && is_before(timers->heap[child + 1], timers->heap[child]))
            child++;
        if (!is_before(timers->heap[child], list))
            break;
        put(timers, timers->heap[child], at);
    }
    put(timers, list, at);
}

static void rise(struct wf_js_timers *timers, size_t at) {
    struct wf_js_timer_list *list = timers->heap[at];
    for (size_t parent; at > 0 && is_before(list, timers->heap[parent = (at - 1) / 2]); at = parent)
        put(timers, timers->heap[parent], at);
    put(timers, list, at);
}

static struct wf_js_timer_list *find(const struct wf_js_timers *timers, int64_t duration) {
    struct wf_js_timer_list *list = timers->table_size ? timers->table[place_of(timers, duration)] : NULL;
    while (list && list->duration != duration)
        list = list->same;
    return list;
}

/* Room for one list more, in the table and in the heap. */
static int grow(struct wf_js_timers *timers) {
    if (timers->count == timers->room) {
        size_t room = timers->room ? 2 * timers->room : HEAP_LEAST;
        struct wf_js_timer_list **heap = realloc(timers->heap, room * sizeof(void *));
        if (!heap)
            return -ENOMEM;
        timers->heap = heap;
        timers->room = room;
    }
    if (timers->count < timers->table_size)
        return 0;
    size_t size = timers->table_size ? 2 * timers->table_size : TABLE_LEAST;
    struct wf_js_timer_list **table = calloc(size, sizeof(void *));
    if (!table)
        return timers->table_size ? 0 : -ENOMEM; /* a full one is only slower */
    free(timers->table);
    timers->table = table;
    timers->table_size = size;
    for (size_t i = 0; i < timers->count; i++) {
        struct wf_js_timer_list **place = &table[place_of(timers, timers->heap[i]->duration)];
        timers->heap[i]->same = *place;
        *place = timers->heap[i];
    }
    return 0;
}

static struct wf_js_timer_list *list_new(struct wf_js_timers *timers, int64_t duration, int64_t expiry) {
    struct wf_js_timer_list *list = grow(timers) == 0 ? calloc(1, sizeof *list) : NULL;
    if (!list)
        return NULL;
    struct wf_js_timer_list **place = &timers->table[place_of(timers, duration)];
    *list =
        (struct wf_js_timer_list){.same = *place, .duration = duration, .expiry = expiry, .serial = timers->serial++};
    *place = list;
    put(timers, list, timers->count++);
    rise(timers, list->at);
    return list;
}

static void list_free(struct wf_js_timers *timers, struct wf_js_timer_list *list) {
    struct wf_js_timer_list **place = &timers->table[place_of(timers, list->duration)];
    while (*place != list)
        place = &(*place)->same;
    *place = list->same;
    struct wf_js_timer_list *last = timers->heap[--timers->count];
    if (last != list) {
        put(timers, last, list->at);
        sink(timers, last->at);
        rise(timers, last->at);
    }
    free(list);
}

void wf_js_timer_append(struct wf_js_timer_list *list, struct wf_js_timer *timer) {
    timer->list = list;
    timer->next = NULL;
    timer->previous = list->last;
    *(list->last ? &list->last->next : &list->first) = timer;
    list->last = timer;
}

void wf_js_timer_remove(struct wf_js_timer *timer) {
    struct wf_js_timer_list *list = timer->list;
    *(timer->previous ? &timer->previous->next : &list->first) = timer->next;
    *(timer->next ? &timer->next->previous : &list->last) = timer->previous;
    timer->list = NULL;
}

int wf_js_timer_link(struct wf_js_timers *timers, struct wf_js_timer *timer, int64_t start, int64_t *expiry) {
    struct wf_js_timer_list *list = find(timers, timer->duration);
    *expiry = INT64_MAX;
    if (!list) {
        list = list_new(timers, timer->duration, start + timer->duration);
        if (!list)
            return -ENOMEM;
        *expiry = list->expiry;
    }
    timer->start = start;
    wf_js_timer_append(list, timer);
    return 0;
}

void wf_js_timer_unlink(struct wf_js_timers *timers, struct wf_js_timer *timer) {
    struct wf_js_timer_list *list = timer->list;
    if (!list)
        return;
    wf_js_timer_remove(timer);
    if (!list->first && list != timers->running)
        list_free(timers, list);
}

struct wf_js_timer *wf_js_timer_due(struct wf_js_timers *timers, int64_t *now, int64_t (*clock)(void *arg), void *arg,
                                    int64_t *expiry) {
    for (;;) {
        struct wf_js_timer_list *list = timers->running;
        if (!list) {
            list = timers->count ? timers->heap[0] : NULL;
            *expiry = list ? list->expiry : INT64_MAX;
            if (!list)
                return NULL;
            if (list->expiry > *now && list->expiry > (*now = clock(arg)))
                return NULL;
            timers->running = list;
        }
        struct wf_js_timer *first = list->first;
        if (first && *now - first->start >= list->duration)
            return first;
        timers->running = NULL;
        if (!first) {
            list_free(timers, list);
            continue;
        }
        int64_t due = first->start + list->duration; /* the rest is for later */
        list->expiry = due > *now ? due : *now + 1;
        list->serial = timers->serial++;
        sink(timers, list->at);
    }
}

void wf_js_timers_rewind(struct wf_js_timers *timers) {
    struct wf_js_timer_list *list = timers->running;
    timers->running = NULL;
    if (list && !list->first)
        list_free(timers, list);
}

void wf_js_timers_term(struct wf_js_timers *timers) {
    for (size_t i = 0; i < timers->count; i++)
        free(timers->heap[i]);
    free(timers->heap);
    free(timers->table);
}
