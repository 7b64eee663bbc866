/* SPDX-License-Identifier: MIT
 *
 * io/dial.c - a connection to a name: the addresses it has are tried until one answers (RFC 8305, "happy eyeballs").
 *
 * The addresses are put in an order in which the families take turns. One is begun; the next one when it has failed, or a quarter
 * of a second later, while those before it go on. The first that stands is it, and the others are closed. All of it is one
 * weft_select over what is on its way and the moment of the next: no fibers are needed, and a plain thread does the same.
 */
#include <errno.h>
#include <string.h>

#include "io/socket.h"
#include "weft/dns.h"

/* RFC 8305, section 8: 250 ms is the recommended delay between attempts. */
#ifdef WF_TESTING
enum { STAGGER_NS = 2 * 1000 * 1000 };
#else
enum { STAGGER_NS = 250 * 1000 * 1000 };
#endif
/* More addresses a name hardly has. */
enum { ADDRESSES = 32 };

struct dial {
    struct wf_attempts attempts;
    const weft_socket_options *options;
    const weft_address *addresses;
    int count; /* of addresses */
    int next;  /* the first one that was not tried */
    int error; /* of the last one that failed */
    bool is_due;
    int64_t due_at;
    weft_fd found;
};

static void take_turns(weft_address *addresses, int count);
static int dial_run(struct dial *dial, int64_t deadline_ns);
static int dial_next(struct dial *dial);
static int dial_wait(struct dial *dial, int64_t deadline_ns);
static int dial_look(struct dial *dial, uint32_t i);

int weft_dial(weft_fd *out, const char *host, unsigned port, const weft_socket_options *options, weft_time deadline) {
    weft_address path;
    if (!out || !host || port > UINT16_MAX || !wf_socket_options_are_good(options))
        return -EINVAL;
    if (strncmp(host, "unix:", 5) == 0) {
        int error = weft_address_parse(&path, host);
        return error ? error : weft_connect(out, &path, options, deadline);
    }
    weft_address *addresses = wf_wait_alloc(ADDRESSES * sizeof *addresses);
    if (!addresses)
        return -ENOMEM;
    int count = weft_resolve(host, port, addresses, ADDRESSES, NULL, deadline);
    int error = count < 0 ? count : wf_dial_addresses(out, addresses, count, options, deadline);
    wf_wait_free(addresses);
    return error;
}

int wf_dial_addresses(weft_fd *out, weft_address *addresses, int count, const weft_socket_options *options,
                      int64_t deadline_ns) {
    struct dial dial = {.options = options, .addresses = addresses, .count = count, .is_due = true};
    take_turns(addresses, count);
    wf_attempts_init(&dial.attempts);
    int error = dial_run(&dial, deadline_ns);
    wf_attempts_term(&dial.attempts);
    if (!error)
        *out = dial.found;
    return error;
}

/* The first stays first, and the order within a family stays. */
static void take_turns(weft_address *addresses, int count) {
    for (int i = 1; i < count; i++) {
        int j = i;
        while (j < count && addresses[j].storage.ss_family == addresses[i - 1].storage.ss_family)
            j++;
        if (j == count)
            return; /* all that are left are of one family */
        weft_address other = addresses[j];
        memmove(&addresses[i + 1], &addresses[i], (size_t)(j - i) * sizeof *addresses);
        addresses[i] = other;
    }
}

static int dial_run(struct dial *dial, int64_t deadline_ns) {
    int status = -EINPROGRESS;
    while (status == -EINPROGRESS) {
        bool has_more = dial->next < dial->count;
        if (has_more && dial->is_due && dial->attempts.count < WF_ATTEMPTS)
            status = dial_next(dial);
        else if (dial->attempts.count == 0)
            status = dial->error;
        else
            status = dial_wait(dial, deadline_ns);
    }
    return status;
}

/* 0: it stands. -EINPROGRESS: it is on its way, or has failed and its error is kept: the others are still to come. */
static int dial_next(struct dial *dial) {
    int error = wf_attempts_add(&dial->attempts, &dial->addresses[dial->next++], dial->options);
    if (error) {
        dial->error = error;
        return -EINPROGRESS;
    }
    dial->is_due = false;
    dial->due_at = weft_after(STAGGER_NS);
    return dial_look(dial, dial->attempts.count - 1);
}

static int dial_look(struct dial *dial, uint32_t i) {
    int error = wf_attempts_look(&dial->attempts, i, &dial->found);
    if (error == 0 || error == -EINPROGRESS)
        return error;
    dial->error = error;
    dial->is_due = true;
    return -EINPROGRESS;
}

/* Until one of those on their way is ready, or the next is due. Sixteen cases need no memory: the moment is left out when there is
 * no place for one more attempt. */
static int dial_wait(struct dial *dial, int64_t deadline_ns) {
    weft_case cases[WF_ATTEMPTS];
    uint32_t count = dial->attempts.count;
    for (uint32_t i = 0; i < count; i++)
        cases[i] = weft_on_writable(dial->attempts.fds[i]);
    bool has_moment = count < WF_ATTEMPTS && dial->next < dial->count;
    if (has_moment)
        cases[count] = weft_on_time(dial->due_at);
    int chosen = weft_select(cases, (int)count + has_moment, deadline_ns);
    if (chosen < 0)
        return chosen;
    if (cases[chosen].status < 0) /* it cannot be waited for */
        return cases[chosen].status;
    if ((uint32_t)chosen == count) {
        dial->is_due = true;
        return -EINPROGRESS;
    }
    return dial_look(dial, (uint32_t)chosen);
}
