/* SPDX-License-Identifier: MIT
 *
 * weft/event.h - generational events: something that happens once, and whether it went well.
 *
 *     weft_event loaded;
 *     weft_event_new(events, &loaded, WEFT_NOW);
 *     weft_go(load_config, &loaded);            // weft_event_trigger(events, loaded), or weft_event_poison on failure
 *     weft_event_reason why;
 *     if (weft_event_wait(events, loaded, &why, WEFT_NEVER) == -ENOTRECOVERABLE)
 *         printf("no config: %s\n", why.text);
 *
 * An event completes once: *triggered*, it is ready; *poisoned*, it failed, with a code and a text. Any number of fibers,
 * plain threads, selects, descriptors and queues may wait for it, before and after. A weft_event is a plain value: copy it,
 * keep it, send it anywhere. Its slot serves other events once it has completed, and the old value still answers with the
 * old verdict. The verdicts of the newest 31 events of each slot are exact, and so are the newest poisons of the whole
 * system (4096, see weft_events_options); beyond both an event that may have been poisoned is *expired*: it completed, how
 * is no longer kept. A poisoned event never reads as ready. Memory goes with the most events that were pending at one time.
 *
 * What was written before the call that completed an event is visible to whoever has seen it complete.
 *
 * Events live in systems, and a system knows the events of others as foreign. Every call on an event first checks it:
 *     -EINVAL  no such event was ever made (or a null argument)         -EXDEV  it belongs to another system
 * WEFT_NO_EVENT is complete, and ready, in every system.
 *
 * From fibers and from plain threads, not from signal handlers. The child of a fork must not use systems of its parent.
 */
#ifndef WEFT_EVENT_H
#define WEFT_EVENT_H

#include "weft/select.h"

#ifdef __cplusplus
extern "C" {
#endif

/* system 8 | index 24 | generation 32 */
typedef struct weft_event {
    uint64_t bits;
} weft_event;

#define WEFT_NO_EVENT ((weft_event){0})

/* A set of events that can be merged with each other. */
typedef struct weft_events weft_events;

enum { WEFT_EVENT_TEXT = 76 };

/* Why an event was poisoned. code is the caller's, or a negative error for what weft poisons: -EOWNERDEAD "owner exited".
 * After many more poisons only the fact remains: code -ENODATA, text "reason no longer kept". */
typedef struct weft_event_reason {
    int code;
    char text[WEFT_EVENT_TEXT];
} weft_event_reason;

enum weft_event_verdict {
    WEFT_EVENT_PENDING = 0,
    WEFT_EVENT_READY = 1,
    WEFT_EVENT_POISONED = 2,
    WEFT_EVENT_EXPIRED = 3 /* complete; how is no longer kept */
};

/* Zero in a field means the default. */
typedef struct weft_events_options {
    const char *name;          /* copied, at most 31 bytes are kept; for messages */
    uint32_t max_pending;      /* events that may be pending at one time; default and most: 16,777,215 */
    uint32_t first_generation; /* of every slot; for tests of what happens when the numbers run out. Default 1 */
    uint32_t reasons;          /* poisons that are kept with their reasons; default 4096, at most 1,048,576 */
    bool strict;               /* never forget a verdict: a slot that would have to is given up, 64 bytes each */
} weft_events_options;

typedef struct weft_events_stats {
    uint64_t created;
    uint64_t triggered;
    uint64_t poisoned;
    uint64_t pending;
    uint64_t wakes;       /* waiters that were told */
    uint64_t expired;     /* questions that were answered with WEFT_EVENT_EXPIRED */
    uint64_t lost;        /* reasons that made room for newer ones */
    uint32_t slots;       /* that exist, 64 bytes each */
    uint32_t quarantined; /* of these: free, but resting after a poison so that it stays answerable */
    uint32_t retired;     /* of these: out of generations, or given up by a strict system */
} weft_events_stats;

/* Makes a system; options may be null. Returns 0; -ENOMEM; -EAGAIN when 255 of them exist; -EINVAL for a null out or options
 * out of range. */
WEFT_API int weft_events_new(weft_events **out, const weft_events_options *options);

/* Frees a system and all its events. Fatal while somebody waits for one of them or for a slot, and while a descriptor is
 * open or a queue exists; merges that are still pending just go. No other call on the system may be under way: a
 * trigger or poison that somebody was told of may still be on its way out, so join the fiber or thread that made it first.
 * The poison that the end of an owner makes is waited for. Null is allowed. */
WEFT_API void weft_events_free(weft_events *events);

/* Poisons every pending event with that reason; from then on no event can be made. Complete ones still answer. The first
 * call decides, later ones change nothing. text may be null. Returns 0, or -EALREADY for a later call. */
WEFT_API int weft_events_shutdown(weft_events *events, int code, const char *text);

WEFT_API int weft_events_get_stats(weft_events *events, weft_events_stats *out);

/* Makes a pending event. At the cap of max_pending it waits until one completes: -ENOSPC for WEFT_NOW, else -ETIMEDOUT at
 * the deadline, -ECANCELED when the fiber is cancelled. -ESHUTDOWN after weft_events_shutdown; -ENOMEM; -EINVAL for null. */
WEFT_API int weft_event_new(weft_events *events, weft_event *out, weft_time deadline);

/* The calling fiber owns the event: if it ends, by return, exit or panic, while the event is pending, that is poisoned with
 * -EOWNERDEAD, "owner exited". weft_event_disown takes that back, from anywhere, so that the event can be handed on.
 * own: 0; -EBUSY when another fiber owns it; -EALREADY when it is complete; -EPERM on a plain thread; -ENOMEM.
 * disown: 0; -ENOENT when nobody owns it, also because it is complete. */
WEFT_API int weft_event_own(weft_events *events, weft_event event);
WEFT_API int weft_event_disown(weft_events *events, weft_event event);

/* Completes it as ready. Exactly one of any number of calls that race gets 0, the others -EALREADY. Never
 * waits; a fiber that completes a chain of merges by it yields after every 256 of them. */
WEFT_API int weft_event_trigger(weft_events *events, weft_event event);

/* Completes it as poisoned. text may be null and is cut at 75 bytes. 0 also when it was poisoned before, and then the first
 * reason stays; -EALREADY when it was triggered, or when it is expired. Never waits; yields as trigger does. */
WEFT_API int weft_event_poison(weft_events *events, weft_event event, int code, const char *text);

/* The verdict so far: one of enum weft_event_verdict, or -EINVAL, -EXDEV. */
WEFT_API int weft_event_poll(weft_events *events, weft_event event);

/* Waits until it is complete. 0: ready. -ENOTRECOVERABLE: poisoned, and why in *reason, which may be null. -ENODATA: expired.
 * -ETIMEDOUT at the deadline; -ECANCELED when the fiber is cancelled; -ENOMEM when there is no room for the deadline. Who
 * waited before it completed always gets verdict and reason, however long it takes to come round. */
WEFT_API int weft_event_wait(weft_events *events, weft_event event, weft_event_reason *reason, weft_time deadline);

/* Waits until one of them is complete, whichever way, and returns its index, the lowest if several are. Errors as
 * weft_event_wait but for verdicts; -EINVAL also for no events at all or over WEFT_SELECT_MAX. */
WEFT_API int weft_event_wait_any(weft_events *events, const weft_event *list, size_t count, weft_time deadline);

/* As a case of weft_select: comes when the event is complete, with the status that weft_event_wait would return. */
WEFT_API weft_case weft_on_event(weft_events *events, weft_event event, weft_event_reason *reason);

/* Why it was poisoned. -ENOENT: it is pending or ready. -ENODATA: it is expired. */
WEFT_API int weft_event_get_reason(weft_events *events, weft_event event, weft_event_reason *out);

/* When a merged event is ready; it is poisoned as soon as that cannot happen any more, with the reason of the input that
 * made it so. */
typedef enum weft_merge_policy {
    WEFT_MERGE_ALL,         /* all inputs are ready */
    WEFT_MERGE_ALL_SETTLED, /* all inputs are complete, however */
    WEFT_MERGE_ANY,         /* one input is ready */
    WEFT_MERGE_QUORUM       /* quorum inputs are ready */
} weft_merge_policy;

/* Makes an event of several. quorum counts for WEFT_MERGE_QUORUM only. An input that stands there twice counts twice. What
 * can be answered at once costs no event: *out is WEFT_NO_EVENT when it is ready already, and the one pending input itself
 * when all hangs on that. The result can be triggered and poisoned by hand like any other, and merged again, as deep as
 * memory reaches. Returns 0; -EINVAL for a bad policy, and for a quorum above count (so for ANY of nothing); -ENODATA for an
 * expired input unless ALL_SETTLED; -ENOSPC at the cap; -ESHUTDOWN; -ENOMEM. */
WEFT_API int weft_event_merge(weft_events *events, const weft_event *inputs, size_t count, weft_merge_policy policy,
                              size_t quorum, weft_event *out);

/* The event completes as after completes, with the same verdict and reason, unless it was completed by hand before. A ring
 * of such orders stays pending until one of its events is completed by hand or by shutdown; -EDEADLK for an event after
 * itself. 0; -EALREADY when the event is complete; -ENODATA when after is expired; -ENOMEM. Until the input
 * completes it keeps some memory for this, also when the event was completed by hand meanwhile. */
WEFT_API int weft_event_trigger_after(weft_events *events, weft_event event, weft_event after);

/* A descriptor for poll, select and epoll that becomes readable when the event is complete and stays so. Ask weft_event_poll
 * for the verdict; do not read or write it, and close it by weft_event_close_fd only, at any time, complete or not.
 * open: the descriptor (0 or above); -EMFILE, -ENFILE, -ENOMEM. close: 0, or -EBADF when it is none of this system. */
WEFT_API int weft_event_open_fd(weft_events *events, weft_event event);
WEFT_API int weft_event_close_fd(weft_events *events, int fd);

/* A completion queue: any number of events, one place to wait for all of them, one descriptor. */
typedef struct weft_event_queue weft_event_queue;

typedef struct weft_event_completion {
    weft_event event;
    void *tag;                /* as given to weft_event_queue_add */
    int status;               /* as weft_event_wait would return */
    weft_event_reason reason; /* for -ENOTRECOVERABLE */
} weft_event_completion;

/* new: 0, -ENOMEM, -EINVAL. free drops what was added or has arrived; fatal while somebody is in pop. */
WEFT_API int weft_event_queue_new(weft_events *events, weft_event_queue **out);
WEFT_API void weft_event_queue_free(weft_event_queue *queue);
/* The queue gets a completion when the event completes, at once if it is complete. Each add is answered once. 0, -ENOMEM. */
WEFT_API int weft_event_queue_add(weft_event_queue *queue, weft_event event, void *tag);
/* Takes up to count completions, in the order in which they came; waits for the first. Returns how many;
 * -ETIMEDOUT, -ECANCELED, -ENOMEM, -EINVAL. */
WEFT_API int weft_event_queue_pop(weft_event_queue *queue, weft_event_completion *out, size_t count,
                                  weft_time deadline);
/* A descriptor that is readable while there is something to pop. It belongs to the queue, made by the first call: do not
 * close, read or write it. Returns it, or -EMFILE, -ENFILE, -ENOMEM. */
WEFT_API int weft_event_queue_get_fd(weft_event_queue *queue);

#ifdef __cplusplus
}
#endif

#endif
