/* SPDX-License-Identifier: MIT
 *
 * weft/chan.h - channels: values handed from one fiber or thread to another.
 *
 *     weft_chan *numbers;
 *     weft_chan_new(&numbers, sizeof(int), 0);          // no buffer: a send waits for its receiver
 *     ...
 *     int n = 42;
 *     weft_chan_send(numbers, &n, WEFT_NEVER);          // in one fiber
 *     weft_chan_recv(numbers, &n, WEFT_NEVER);          // in another, or in a plain thread
 *
 * Values of one size, copied in and out, first in, first out. With a capacity of n up to n values wait inside without
 * anybody having to; with 0 sender and receiver meet. Those who wait are served in the order in which they came, and a value
 * goes straight to a receiver that waits. Elements of size 0 are allowed: then only the meeting counts.
 *
 * Closing says that no more values come: receivers get what is still inside and then -EPIPE, senders get -EPIPE at once.
 *
 * What was written before a send is visible after the receive that got its value, and what was written before the close
 * after a receive that got -EPIPE. The typed form checks at compile time that
 * pointers fit the channel:
 *
 *     WEFT_CHAN(int) numbers;
 *     WEFT_CHAN_NEW(&numbers, 16);
 *     WEFT_CHAN_SEND(&numbers, &n, WEFT_NEVER);
 */
#ifndef WEFT_CHAN_H
#define WEFT_CHAN_H

#include "weft/select.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_chan weft_chan;

/* Largest capacity times largest element: the buffer stays below 1 TiB and the capacity below 2^31. */
#define WEFT_CHAN_CAPACITY_MAX INT64_C(0x7fffffff)

/* A channel of elements of that size. Returns 0, -ENOMEM, or -EINVAL for a null out, a negative or too large capacity, or a
 * buffer of over 1 TiB. */
WEFT_API int weft_chan_new(weft_chan **out, size_t element_size, int64_t capacity);

/* Nobody uses the channel any more; values inside are dropped. Null is allowed. Freeing one in which somebody waits is fatal;
 * using one that was freed is fatal too, as far as it can be noticed. */
WEFT_API void weft_chan_free(weft_chan *chan);

/* Hands over a copy of *value, which may be null for size 0. Returns 0; -EPIPE when the channel is closed, or is closed while
 * the sender waits; -ETIMEDOUT at the deadline; -ECANCELED; -ENOMEM when the deadline cannot be armed; -EINVAL for a null
 * channel or a null value of a size above 0. On any error nothing was sent. */
WEFT_API int weft_chan_send(weft_chan *chan, const void *value, weft_time deadline);

/* Takes the next value into *value; null drops it. Returns 0; -EPIPE when the channel is closed and nothing is left in it;
 * -ETIMEDOUT; -ECANCELED; -ENOMEM; -EINVAL for a null channel. On any error *value is untouched. */
WEFT_API int weft_chan_recv(weft_chan *chan, void *value, weft_time deadline);

/* No more values. Everybody who waits to send or, with nothing inside, to receive gets -EPIPE. Returns 0; -EPIPE when it was
 * closed already; -EINVAL for a null channel. */
WEFT_API int weft_chan_close(weft_chan *chan);

/* How many values are inside, how many fit, whether it is closed: true a moment ago. A null channel has 0, 0 and true. */
WEFT_API size_t weft_chan_len(weft_chan *chan);
WEFT_API size_t weft_chan_cap(weft_chan *chan);
WEFT_API bool weft_chan_is_closed(weft_chan *chan);

/* As cases of weft_select. A null channel never comes. */
WEFT_API weft_case weft_on_send(weft_chan *chan, const void *value);
WEFT_API weft_case weft_on_receive(weft_chan *chan, void *value);

#ifdef __cplusplus
}
#endif

/* A channel that knows its element: a union of the channel and a pointer that is there for its type only. */
#define WEFT_CHAN(type) \
    union { \
        weft_chan *chan; \
        __typeof__(type) *element; \
    }

#ifdef __cplusplus
#define WEFT_CHAN_OUT(typed, pointer) (true ? (pointer) : (typed)->element)
#define WEFT_CHAN_IN(typed, pointer) (true ? (pointer) : (typed)->element)
#else
#define WEFT_CHAN_OUT(typed, pointer) _Generic((pointer), __typeof__((typed)->element) : (pointer))
#define WEFT_CHAN_IN(typed, pointer) \
    _Generic((pointer), __typeof__((typed)->element) : (pointer), const __typeof__(*(typed)->element) * : (pointer))
#endif

#define WEFT_CHAN_NEW(typed, capacity) weft_chan_new(&(typed)->chan, sizeof *(typed)->element, (capacity))
#define WEFT_CHAN_FREE(typed) weft_chan_free((typed)->chan)
#define WEFT_CHAN_SEND(typed, pointer, deadline) weft_chan_send((typed)->chan, WEFT_CHAN_IN(typed, pointer), (deadline))
#define WEFT_CHAN_RECV(typed, pointer, deadline) \
    weft_chan_recv((typed)->chan, WEFT_CHAN_OUT(typed, pointer), (deadline))
#define WEFT_CHAN_CLOSE(typed) weft_chan_close((typed)->chan)
#define WEFT_ON_SEND(typed, pointer) weft_on_send((typed)->chan, WEFT_CHAN_IN(typed, pointer))
#define WEFT_ON_RECEIVE(typed, pointer) weft_on_receive((typed)->chan, WEFT_CHAN_OUT(typed, pointer))

#endif
