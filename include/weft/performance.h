/* SPDX-License-Identifier: MIT
 *
 * weft/performance.h - a clock that begins at zero, and named moments and stretches on it: User Timing.
 *
 *     weft_performance *timing;
 *     weft_performance_new(&timing, NULL);
 *     weft_performance_mark(timing, "begin", NULL, NULL);
 *     ...
 *     weft_performance_span since = {.start_mark = "begin"};
 *     weft_performance_measure(timing, "work", &since, NULL);
 *     weft_performance_entry *list;
 *     int count = weft_performance_get_entries(timing, WEFT_PERFORMANCE_MEASURE, NULL, &list);
 *     for (int i = 0; i < count; i++)
 *         printf("%s took %lld ns\n", list[i].name, (long long)list[i].duration);
 *     weft_performance_free_entries(list);
 *
 * All times are nanoseconds since the *time origin*, the moment at which the object was made; a binding divides by a million to
 * get the milliseconds of JavaScript. The clock is monotonic. From any thread or fiber.
 */
#ifndef WEFT_PERFORMANCE_H
#define WEFT_PERFORMANCE_H

#include "weft/loop.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_performance weft_performance;

typedef enum weft_performance_kind {
    WEFT_PERFORMANCE_ALL = 0, /* in questions only */
    WEFT_PERFORMANCE_MARK,
    WEFT_PERFORMANCE_MEASURE
} weft_performance_kind;

enum { WEFT_PERFORMANCE_ENTRIES = 1000000 };

/* Zero in a field means the default. */
typedef struct weft_performance_options {
    weft_loop *loop; /* whose clock is taken, so that its time may be virtual; a reference is kept. NULL: weft_now */
    uint32_t max_entries; /* that are kept at one time; default WEFT_PERFORMANCE_ENTRIES */
    /* NULL, or called once for each detail that is not NULL, when its entry is cleared or the object goes. */
    void (*drop)(void *detail, void *arg);
    void *arg;
} weft_performance_options;

typedef struct weft_performance_entry {
    const char *name;
    weft_performance_kind kind;
    int64_t start;
    int64_t duration; /* 0 for a mark; below 0 for a measure that ends before it begins */
    void *detail;
} weft_performance_entry;

/* Returns 0, -ENOMEM, -EINVAL for a null out and more than INT32_MAX entries. options may be null. */
WEFT_API int weft_performance_new(weft_performance **out, const weft_performance_options *options);
/* No other call may be under way. Null is allowed. */
WEFT_API void weft_performance_free(weft_performance *performance);

/* Since the time origin. Never goes back. 0 for null. */
WEFT_API int64_t weft_performance_now(const weft_performance *performance);
/* The time origin, in nanoseconds since 1970 by the clock on the wall as it was then. 0 for null. */
WEFT_API int64_t weft_performance_time_origin(const weft_performance *performance);

typedef struct weft_performance_mark_options {
    bool has_start; /* else it is now */
    int64_t start;
    void *detail;
} weft_performance_mark_options;

/* Names a moment; names may be used again. The name is copied. options may be null, and out, which gets the start. Returns 0;
 * -EINVAL for a null object or name and a negative start; -ENOSPC when max_entries are there; -ENOMEM. After an error
 * the detail is still the caller's. */
WEFT_API int weft_performance_mark(weft_performance *performance, const char *name,
                                   const weft_performance_mark_options *options, int64_t *out);

/* From where to where. At most one of start_mark and START, one of end_mark and END, and two of start, end and duration.
 * Without a start it begins at 0, without an end it ends now; duration needs one of both, and so does detail. */
enum { WEFT_PERFORMANCE_START = 1, WEFT_PERFORMANCE_END = 2, WEFT_PERFORMANCE_DURATION = 4 };
typedef struct weft_performance_span {
    const char *start_mark; /* the newest mark of that name */
    const char *end_mark;
    unsigned given; /* which of the following count */
    int64_t start;
    int64_t end;
    int64_t duration;
    void *detail;
} weft_performance_span;

/* Names a stretch of time. A null span is from 0 until now. *out, which may be null, gets the entry, without its name. Returns
 * 0; -EINVAL for a null object or name, a negative time, or a span that says too much or too little; -ENOENT when there is no
 * mark of that name; -ERANGE when a time does not fit; -ENOSPC; -ENOMEM. */
WEFT_API int weft_performance_measure(weft_performance *performance, const char *name,
                                      const weft_performance_span *span, weft_performance_entry *out);

/* A copy of all entries, or of those of one kind, or of one name (null: any), by their start, equal ones in the order in which
 * they were made. Returns how many; -ENOMEM; -EINVAL for a null pointer or an unknown kind. The copy belongs to the caller,
 * but for the details; it is null when there are none. */
WEFT_API int weft_performance_get_entries(weft_performance *performance, weft_performance_kind kind, const char *name,
                                          weft_performance_entry **out);
WEFT_API void weft_performance_free_entries(weft_performance_entry *entries);

/* Forgets the entries of that kind, ALL included, and name (null: any). Returns how many; -EINVAL. */
WEFT_API int weft_performance_clear(weft_performance *performance, weft_performance_kind kind, const char *name);

#ifdef __cplusplus
}
#endif

#endif
