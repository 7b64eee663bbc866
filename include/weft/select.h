/* SPDX-License-Identifier: MIT
 *
 * weft/select.h - waiting for whichever of several things comes first.
 *
 *     int number;
 *     weft_case cases[] = {
 *         weft_on_receive(numbers, &number),
 *         weft_on_send(answers, &answer),
 *         weft_on_time(weft_after(WEFT_SECOND)),
 *     };
 *     switch (weft_select(cases, 3, WEFT_NEVER)) {
 *     case 0: if (cases[0].status == 0) use(number); break;    // -EPIPE: closed and drained
 *     ...
 *
 * Exactly one case is carried out, the others leave no trace: nothing is sent, received or taken for them. Each kind of
 * thing has a function that makes a case of it, in its own header: weft_on_receive, weft_on_send (weft/chan.h),
 * weft_on_semaphore (weft/sync.h), weft_on_event (weft/event.h), weft_on_promise (weft/promise.h), weft_on_timer
 * (weft/timer.h); here are time and the end of a fiber.
 *
 * When several are ready the choice among them is random, each as likely as the other; weft_select_ordered takes the first
 * in the order given. From fibers and from plain threads. One thing may stand in several cases.
 */
#ifndef WEFT_SELECT_H
#define WEFT_SELECT_H

#include "weft/fiber.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { WEFT_SELECT_MAX = 65536 };

/* Made by the functions weft_on_...; only status is for reading, and value may be changed between two uses. */
typedef struct weft_case {
    const void *kind;
    void *object;
    uint64_t id;
    void *value;
    int status; /* of the case that was carried out: what the call of the same name would have returned */
} weft_case;

/* Waits until one of the cases can be carried out, does it, and returns its index. With the deadline WEFT_NOW only what is
 * ready is looked at. -ETIMEDOUT at the deadline; -ECANCELED when the fiber is cancelled; -ENOMEM (more than 16 cases, or a
 * deadline, need memory); -EINVAL for a null or unmade case, a count below 0 or above WEFT_SELECT_MAX, and for no case at all
 * without a deadline, which would wait for ever. A case of a null channel never comes. */
WEFT_API int weft_select(weft_case *cases, int count, weft_time deadline);
WEFT_API int weft_select_ordered(weft_case *cases, int count, weft_time deadline);

/* The moment has come. */
WEFT_API weft_case weft_on_time(weft_time moment);

/* The fiber has ended: as weft_join, its result into *result, which may be null. */
WEFT_API weft_case weft_on_end(weft_fiber fiber, void **result);

#ifdef __cplusplus
}
#endif

#endif
