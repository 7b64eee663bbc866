/* SPDX-License-Identifier: MIT
 *
 * io/connect.c - connections on their way.
 *
 * A connection is begun, and when it is not there at once, it is waited for until it can be written to, which it can also when
 * it has failed; then the kernel is asked. Until it stands nobody but the one who waits knows its descriptor: so it is
 * his to close, and when he is dropped with his runtime it goes with him.
 *
 * A path whose listener has too many connections waiting is not told when that changes: it is tried again after a pause.
 */
#include <errno.h>

#include "base/assert.h"
#include "io/socket.h"

/* As long as somebody who accepts may take to come round; a tenth of a second is not noticed by who waits that long. */
enum { PAUSE_MOST_NS = 100 * 1000 * 1000 };

static void attempts_leave(struct wf_leaver *leaver);
static weft_fd attempts_remove(struct wf_attempts *attempts, uint32_t i);
static int attempt_wait(struct wf_attempts *attempts, int64_t deadline_ns);

void wf_attempts_init(struct wf_attempts *attempts) {
    attempts->leaver = (struct wf_leaver){.leave = attempts_leave, .drop = attempts_leave, .is_region = true};
    attempts->fiber = wf_fiber_self();
    attempts->count = 0;
    if (attempts->fiber)
        wf_leaver_push(wf_fiber_stack(attempts->fiber), &attempts->leaver);
}

void wf_attempts_term(struct wf_attempts *attempts) {
    if (attempts->fiber)
        wf_leaver_remove(wf_fiber_stack(attempts->fiber), &attempts->leaver);
    attempts_leave(&attempts->leaver);
}

static void attempts_leave(struct wf_leaver *leaver) {
    struct wf_attempts *attempts = WF_CONTAINER(leaver, struct wf_attempts, leaver);
    while (attempts->count > 0)
        weft_close(attempts_remove(attempts, 0));
}

static weft_fd attempts_remove(struct wf_attempts *attempts, uint32_t i) {
    weft_fd fd = attempts->fds[i];
    uint32_t last = --attempts->count;
    attempts->fds[i] = attempts->fds[last];
    attempts->addresses[i] = attempts->addresses[last];
    return fd;
}

int wf_attempts_add(struct wf_attempts *attempts, const weft_address *address, const weft_socket_options *options) {
    int family = address->storage.ss_family;
    weft_fd fd;
    WF_ASSERT(attempts->count < WF_ATTEMPTS);
    int number = wf_socket_from(family, options);
    if (number < 0)
        return number;
    int error = wf_socket_wrap(&fd, number, family == AF_UNIX ? WF_OS_SOCKET : WF_OS_TCP);
    if (error)
        return error;
    attempts->fds[attempts->count] = fd;
    attempts->addresses[attempts->count++] = address;
    return 0;
}

int wf_attempts_look(struct wf_attempts *attempts, uint32_t i, weft_fd *out) {
    struct wf_fd *record = wf_fd_get(attempts->fds[i]);
    int error = -EBADF;
    if (record) {
        error = wf_os_connect(record->number, attempts->addresses[i]);
        wf_fd_put(record);
    }
    if (error == -EINPROGRESS)
        return error;
    weft_fd fd = attempts_remove(attempts, i);
    if (error)
        weft_close(fd);
    else
        *out = fd;
    return error;
}

int weft_connect(weft_fd *out, const weft_address *address, const weft_socket_options *options, weft_time deadline) {
    struct wf_attempts attempts;
    weft_fd fd = WEFT_NO_FD;
    if (!out || !wf_address_is_good(address) || !wf_socket_options_are_good(options))
        return -EINVAL;
    int error = wf_wait_enter(deadline);
    if (error)
        return error;
    wf_attempts_init(&attempts);
    error = wf_attempts_add(&attempts, address, options);
    if (!error)
        error = attempt_wait(&attempts, deadline);
    if (!error)
        fd = attempts_remove(&attempts, 0);
    wf_attempts_term(&attempts);
    if (!error)
        *out = fd;
    return error;
}

/* For the only one there is. The first call of connect begins it, the others look. */
static int attempt_wait(struct wf_attempts *attempts, int64_t deadline_ns) {
    int64_t pause_ns = 0;
    int error;
    do {
        struct wf_fd *record = wf_fd_get(attempts->fds[0]);
        if (!record)
            return -EBADF;
        uint32_t before = wf_load_acquire(&record->news); /* as in wf_fd_try_read */
        bool is_ip = record->kind == WF_OS_TCP;
        error = wf_os_connect(record->number, attempts->addresses[0]);
        if (error == -EINPROGRESS) {
            error = wf_fd_wait(record, WF_IO_WRITE, before, deadline_ns, "connect");
            continue;
        }
        wf_fd_put(record);
        if (error != -EAGAIN || is_ip)
            return error;
        int64_t until = wf_pause_until(&pause_ns, PAUSE_MOST_NS, deadline_ns);
        error = until == deadline_ns && until <= weft_now() ? -ETIMEDOUT : weft_sleep(until);
    } while (!error);
    return error;
}
