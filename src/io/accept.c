/* SPDX-License-Identifier: MIT
 *
 * io/accept.c - waiting for connections.
 *
 * Everybody who waits on one listener is woken by news; whoever is first has the connection, the others lie down again.
 *
 * When a connection cannot be had because descriptors or memory are short, it stays in the listener's queue, and the listener
 * stays readable without anything new: waiting for news would be for ever, and trying again at once would keep a processor
 * busy. So there is a pause, in the queue of those who wait to write to the listener: nothing is ever told there but errors
 * and its closing.
 */
#include <errno.h>

#include "io/socket.h"

/* 1 ms: a descriptor that is given back soon is hardly missed. 1 s: a program that has run out of them for good costs nothing. */
enum { PAUSE_FIRST_NS = 1000 * 1000 };

static int pause_for_room(struct wf_fd *record, int shortage, int64_t *pause_ns, int64_t deadline_ns);

static bool is_shortage(int error) {
    return error == -EMFILE || error == -ENFILE || error == -ENOBUFS || error == -ENOMEM;
}

/* Linux passes on what has become of a connection before it was accepted: there may be another. */
static bool is_given_up(int error) {
    switch (error) {
    case -ECONNABORTED:
    case -ECONNRESET:
    case -EPROTO:
    case -ENETDOWN:
    case -ENOPROTOOPT:
    case -EHOSTDOWN:
    case -ENONET:
    case -EHOSTUNREACH:
    case -ENETUNREACH:
    case -ETIMEDOUT:
        return true;
    default:
        return false;
    }
}

int64_t wf_pause_until(int64_t *pause_ns, int64_t most_ns, int64_t deadline_ns) {
    *pause_ns = *pause_ns ? *pause_ns * 2 : PAUSE_FIRST_NS;
    if (*pause_ns > most_ns)
        *pause_ns = most_ns;
    int64_t until = weft_after(*pause_ns);
    return until < deadline_ns ? until : deadline_ns;
}

int weft_accept(weft_fd listener, weft_fd *out, weft_address *from, weft_time deadline) {
    weft_address peer;
    weft_fd fd;
    int64_t pause_ns = 0;
    if (!out)
        return -EINVAL;
    int error = wf_wait_enter(deadline);
    while (!error) {
        struct wf_fd *record = wf_fd_get(listener);
        if (!record)
            return -EBADF;
        uint32_t before = wf_load_acquire(&record->news); /* as in wf_fd_try_read */
        enum wf_os_kind kind = record->kind;
        int number = wf_os_accept(record->number, from ? &peer : NULL);
        if (number == -EAGAIN) {
            error = wf_fd_wait(record, WF_IO_READ, before, deadline, "accept");
        } else if (is_shortage(number)) {
            error = pause_for_room(record, number, &pause_ns, deadline);
        } else {
            wf_fd_put(record);
            if (number >= 0) {
                error = wf_socket_wrap(&fd, number, kind);
                break;
            }
            error = is_given_up(number) ? wf_wait_enter(deadline) : number;
        }
    }
    if (error)
        return error == -EOPNOTSUPP || error == -ENOTSOCK ? -EINVAL : error;
    *out = fd;
    if (from) {
        wf_address_from_kernel(&peer);
        *from = peer;
    }
    return 0;
}

/* The caller has got the listener; it is put here. 0: try again. */
static int pause_for_room(struct wf_fd *record, int shortage, int64_t *pause_ns, int64_t deadline_ns) {
    int64_t until = wf_pause_until(pause_ns, WF_PAUSE_MOST_NS, deadline_ns);
    if (deadline_ns == WEFT_NOW || (until == deadline_ns && deadline_ns <= weft_now())) {
        wf_fd_put(record);
        return shortage;
    }
    uint32_t before = wf_load_acquire(&record->news); /* as in wf_fd_try_read */
    int error = wf_fd_wait(record, WF_IO_WRITE, before, until, "accept");
    if (is_shortage(error)) /* of what it takes to wait there, or to have a deadline */
        error = weft_sleep(until);
    if (error != -ETIMEDOUT)
        return error;
    return until == deadline_ns ? shortage : 0;
}
