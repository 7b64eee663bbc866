/* SPDX-License-Identifier: MIT
 *
 * loop/performance.c - marks and measures: a list in the order in which they were made, sorted when somebody asks.
 *
 * Entries are made far more often than they are asked for, so making one appends a pointer to an array, and asking copies what
 * fits the question and sorts the copy. A copy is one block, entries first and their names behind them: nobody who holds
 * one minds what is cleared meanwhile.
 *
 * All under one lock. Details are handed back without it.
 */
#include "weft/performance.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "loop/loop.h"
#include "os/clock.h"
#include "os/memory.h"

enum { PERFORMANCE_FIRST_ROOM = 16 };

struct timing {
    int64_t start;
    int64_t duration;
    void *detail;
    weft_performance_kind kind;
    uint32_t length;     /* of the name, with its zero */
    struct timing *next; /* of those that were cleared */
    char name[];
};

struct weft_performance {
    struct wf_lock lock;
    weft_performance_options options; /* constant, as the origins */
    int64_t origin;                   /* by the clock that is used */
    int64_t wall_origin;
    struct timing **timings; /* under lock, in the order in which they were made */
    uint32_t count;
    uint32_t room;
};

static int64_t performance_clock(const weft_performance *performance);
static int timing_make(struct timing **out, const char *name, weft_performance_kind kind, void *detail);
static int timing_add_locked(weft_performance *performance, struct timing *timing);
static int span_check(const weft_performance_span *span);
static int span_resolve_locked(const weft_performance *performance, const weft_performance_span *span, int64_t now,
                               struct timing *timing);
static int point_resolve_locked(const weft_performance *performance, const char *mark, bool is_given, int64_t moment,
                                int64_t *out);
static bool timing_fits(const struct timing *timing, weft_performance_kind kind, const char *name);
static size_t entries_size_locked(const weft_performance *performance, weft_performance_kind kind, const char *name,
                                  size_t *count);
static int entries_compare(const void *left, const void *right);

int weft_performance_new(weft_performance **out, const weft_performance_options *options) {
    if (!out || (options && options->max_entries > INT32_MAX))
        return -EINVAL;
    weft_performance *performance = wf_os_alloc(sizeof *performance);
    if (!performance)
        return -ENOMEM;
    if (options)
        performance->options = *options;
    if (!performance->options.max_entries)
        performance->options.max_entries = WEFT_PERFORMANCE_ENTRIES;
    weft_loop_ref(performance->options.loop);
    performance->wall_origin = wf_os_wall_now();
    performance->origin = performance_clock(performance);
    *out = performance;
    return 0;
}

static int64_t performance_clock(const weft_performance *performance) {
    return performance->options.loop ? wf_loop_clock(performance->options.loop) : wf_os_now();
}

void weft_performance_free(weft_performance *performance) {
    if (!performance)
        return;
    (void)weft_performance_clear(performance, WEFT_PERFORMANCE_ALL, NULL);
    weft_loop_unref(performance->options.loop);
    wf_os_free(performance->timings);
    wf_os_free(performance);
}

int64_t weft_performance_now(const weft_performance *performance) {
    return performance ? performance_clock(performance) - performance->origin : 0;
}

int64_t weft_performance_time_origin(const weft_performance *performance) {
    return performance ? performance->wall_origin : 0;
}

int weft_performance_mark(weft_performance *performance, const char *name, const weft_performance_mark_options *options,
                          int64_t *out) {
    bool has_start = options && options->has_start;
    if (!performance || !name || (has_start && options->start < 0))
        return -EINVAL;
    int64_t start = has_start ? options->start : weft_performance_now(performance);
    struct timing *timing;
    int error = timing_make(&timing, name, WEFT_PERFORMANCE_MARK, options ? options->detail : NULL);
    if (error)
        return error;
    timing->start = start;
    wf_lock_take(&performance->lock);
    error = timing_add_locked(performance, timing);
    wf_lock_drop(&performance->lock);
    if (error)
        wf_os_free(timing);
    else if (out)
        *out = start;
    return error;
}

static int timing_make(struct timing **out, const char *name, weft_performance_kind kind, void *detail) {
    size_t length = strlen(name) + 1;
    struct timing *timing = length <= UINT32_MAX ? wf_os_alloc(sizeof *timing + length) : NULL;
    if (!timing)
        return -ENOMEM;
    memcpy(timing->name, name, length);
    timing->length = (uint32_t)length;
    timing->kind = kind;
    timing->detail = detail;
    *out = timing;
    return 0;
}

static int timing_add_locked(weft_performance *performance, struct timing *timing) {
    if (performance->count >= performance->options.max_entries)
        return -ENOSPC;
    if (performance->count == performance->room) {
        size_t room = performance->room ? 2 * (size_t)performance->room : PERFORMANCE_FIRST_ROOM;
        struct timing **timings = room <= UINT32_MAX ? wf_os_alloc(room * sizeof(struct timing *)) : NULL;
        if (!timings)
            return -ENOMEM;
        if (performance->count)
            memcpy(timings, performance->timings, performance->count * sizeof(struct timing *));
        wf_os_free(performance->timings);
        performance->timings = timings;
        performance->room = (uint32_t)room;
    }
    performance->timings[performance->count++] = timing;
    return 0;
}

int weft_performance_measure(weft_performance *performance, const char *name, const weft_performance_span *span,
                             weft_performance_entry *out) {
    static const weft_performance_span whole = {0};
    span = span ? span : &whole;
    if (!performance || !name || span_check(span) != 0)
        return -EINVAL;
    int64_t now = weft_performance_now(performance);
    struct timing *timing;
    int error = timing_make(&timing, name, WEFT_PERFORMANCE_MEASURE, span->detail);
    if (error)
        return error;
    wf_lock_take(&performance->lock);
    error = span_resolve_locked(performance, span, now, timing);
    if (!error)
        error = timing_add_locked(performance, timing);
    if (!error && out)
        *out = (weft_performance_entry){NULL, timing->kind, timing->start, timing->duration, timing->detail};
    wf_lock_drop(&performance->lock);
    if (error)
        wf_os_free(timing);
    return error;
}

static int span_check(const weft_performance_span *span) {
    unsigned given = span->given;
    bool has_start = span->start_mark || (given & WEFT_PERFORMANCE_START);
    bool has_end = span->end_mark || (given & WEFT_PERFORMANCE_END);
    bool has_duration = given & WEFT_PERFORMANCE_DURATION;
    if (given & ~(unsigned)(WEFT_PERFORMANCE_START | WEFT_PERFORMANCE_END | WEFT_PERFORMANCE_DURATION))
        return -EINVAL;
    if ((span->start_mark && (given & WEFT_PERFORMANCE_START)) || (span->end_mark && (given & WEFT_PERFORMANCE_END)))
        return -EINVAL;
    if (has_start && has_end && has_duration)
        return -EINVAL;
    if ((has_duration || span->detail) && !has_start && !has_end)
        return -EINVAL;
    return has_duration && span->duration < 0 ? -EINVAL : 0;
}

/* The end first, as User Timing has it. Every moment is at least 0, so a difference of two always fits. */
static int span_resolve_locked(const weft_performance *performance, const weft_performance_span *span, int64_t now,
                               struct timing *timing) {
    bool has_duration = span->given & WEFT_PERFORMANCE_DURATION;
    bool has_end = span->end_mark || (span->given & WEFT_PERFORMANCE_END);
    int64_t start = 0;
    int64_t end = now;
    int error = point_resolve_locked(performance, span->end_mark, span->given & WEFT_PERFORMANCE_END, span->end, &end);
    if (!error)
        error = point_resolve_locked(performance, span->start_mark, span->given & WEFT_PERFORMANCE_START, span->start,
                                     &start);
    if (error)
        return error;
    if (has_duration && has_end)
        start = end - span->duration;
    else if (has_duration && __builtin_add_overflow(start, span->duration, &end))
        return -ERANGE;
    timing->start = start;
    return __builtin_sub_overflow(end, start, &timing->duration) ? -ERANGE : 0;
}

static int point_resolve_locked(const weft_performance *performance, const char *mark, bool is_given, int64_t moment,
                                int64_t *out) {
    if (is_given) {
        if (moment < 0)
            return -EINVAL;
        *out = moment;
        return 0;
    }
    if (!mark)
        return 0;
    for (uint32_t i = performance->count; i > 0; i--) {
        const struct timing *timing = performance->timings[i - 1];
        if (timing_fits(timing, WEFT_PERFORMANCE_MARK, mark)) {
            *out = timing->start;
            return 0;
        }
    }
    return -ENOENT;
}

static bool timing_fits(const struct timing *timing, weft_performance_kind kind, const char *name) {
    return (kind == WEFT_PERFORMANCE_ALL || kind == timing->kind) && (!name || strcmp(name, timing->name) == 0);
}

int weft_performance_get_entries(weft_performance *performance, weft_performance_kind kind, const char *name,
                                 weft_performance_entry **out) {
    if (!performance || !out || (unsigned)kind > WEFT_PERFORMANCE_MEASURE)
        return -EINVAL;
    size_t count;
    wf_lock_take(&performance->lock);
    size_t bytes = entries_size_locked(performance, kind, name, &count);
    weft_performance_entry *entries = count ? wf_os_alloc(bytes) : NULL;
    if (count && !entries) {
        wf_lock_drop(&performance->lock);
        return -ENOMEM;
    }
    char *names = (char *)(entries + count);
    weft_performance_entry *next = entries;
    for (uint32_t i = 0; count && i < performance->count; i++) {
        const struct timing *timing = performance->timings[i];
        if (!timing_fits(timing, kind, name))
            continue;
        memcpy(names, timing->name, timing->length);
        *next++ = (weft_performance_entry){names, timing->kind, timing->start, timing->duration, timing->detail};
        names += timing->length;
    }
    wf_lock_drop(&performance->lock);
    if (count)
        qsort(entries, count, sizeof *entries, entries_compare);
    *out = entries;
    return (int)count;
}

static size_t entries_size_locked(const weft_performance *performance, weft_performance_kind kind, const char *name,
                                  size_t *count) {
    size_t bytes = 0;
    *count = 0;
    for (uint32_t i = 0; i < performance->count; i++) {
        const struct timing *timing = performance->timings[i];
        if (!timing_fits(timing, kind, name))
            continue;
        bytes += sizeof(weft_performance_entry) + timing->length;
        ++*count;
    }
    return bytes;
}

/* By start; names lie in the order in which the entries were made. */
static int entries_compare(const void *left, const void *right) {
    const weft_performance_entry *a = left;
    const weft_performance_entry *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->name < b->name ? -1 : a->name > b->name;
}

void weft_performance_free_entries(weft_performance_entry *entries) {
    wf_os_free(entries);
}

int weft_performance_clear(weft_performance *performance, weft_performance_kind kind, const char *name) {
    if (!performance || (unsigned)kind > WEFT_PERFORMANCE_MEASURE)
        return -EINVAL;
    struct timing *cleared = NULL;
    struct timing **end = &cleared;
    uint32_t kept = 0;
    wf_lock_take(&performance->lock);
    uint32_t before = performance->count;
    for (uint32_t i = 0; i < before; i++) {
        struct timing *timing = performance->timings[i];
        if (timing_fits(timing, kind, name)) {
            *end = timing;
            end = &timing->next;
        } else {
            performance->timings[kept++] = timing;
        }
    }
    performance->count = kept;
    wf_lock_drop(&performance->lock);
    while (cleared) {
        struct timing *timing = cleared;
        cleared = timing->next;
        if (timing->detail && performance->options.drop)
            performance->options.drop(timing->detail, performance->options.arg);
        wf_os_free(timing);
    }
    return (int)(before - kept);
}
