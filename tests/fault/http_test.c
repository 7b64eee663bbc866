/* SPDX-License-Identifier: MIT
 *
 * fault/http_test.c - system calls fail under a server, at every place.
 *
 * A server in a forked child serves some connections of a plain thread, one after the other and one kept open all the while, with
 * blocking sockets that no order reaches; in run n the n-th call of one kind fails. One call that fails costs one connection
 * at most; with all of them failing nobody may hang; and when nothing fails any more, the next request is answered. At the end
 * nothing is left: no block, no descriptor.
 */
#include <arpa/inet.h>

#include "os/fault.h"
#include "os/memory.h"
#include "support/child.h"
#include "support/descriptors.h"
#include "support/http.h"

enum { CONNECTIONS = 3, NTH_MAX = 60, END_HIT = 40, END_CLEAN = 41 };

struct point {
    enum wf_system_call call;
    int error;
    bool every;
    long nth;
};

static int lost; /* connections on which something went wrong */

static void hello(weft_http *http, void *arg) {
    (void)arg;
    (void)weft_http_reply(http, 200, NULL, "hello", 5);
}

/* Much of it, so that writes have to wait. */
static void echo(weft_http *http, void *arg) {
    (void)arg;
    char piece[1000];
    ssize_t count;
    while ((count = weft_http_read(http, piece, sizeof piece)) > 0)
        if (weft_http_write(http, piece, (size_t)count) != 0)
            return;
    if (count == 0)
        (void)weft_http_print(http, "%0*d", 20000, 0);
}

/* ---- The plain client ---- */

static int plain_open(void) {
    int number = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_GE(number, 0);
    CHECK_EQ(connect(number, (struct sockaddr *)&site.where.storage, site.where.size), 0);
    return number;
}

/* Until that text has come. */
static bool plain_talk(int number, const char *request, const char *last) {
    char bytes[65536];
    size_t size = 0;
    if (send(number, request, strlen(request), MSG_NOSIGNAL) != (ssize_t)strlen(request))
        return false;
    while (size < sizeof bytes - 1) {
        ssize_t count = recv(number, bytes + size, sizeof bytes - 1 - size, 0);
        if (count <= 0)
            return false;
        size += (size_t)count;
        bytes[size] = 0;
        if (size >= strlen(last) && strcmp(bytes + size - strlen(last), last) == 0)
            return strncmp(bytes, "HTTP/1.1 200 OK\r\n", 17) == 0;
    }
    return false;
}

static const char get_request[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
static const char post_request[] =
    "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: b\r\n\r\n";

static void *use_server(void *arg) {
    int kept = plain_open();
    bool is_kept = plain_talk(kept, get_request, "hello");
    for (int i = 0; i < CONNECTIONS; i++) {
        int number = plain_open();
        lost += !(plain_talk(number, get_request, "hello") && plain_talk(number, post_request, "0\r\n\r\n"));
        close(number);
    }
    lost += !is_kept || !plain_talk(kept, get_request, "hello");
    close(kept);
    return arg;
}

/* ---- The server ---- */

static int serve_point(void *opaque) {
    const struct point *point = opaque;
    struct on_thread_call client;
    weft_http_options options = {.body_timeout = WEFT_SECOND, .head_timeout = WEFT_SECOND};
    site_open(&options);
    site_route("GET /", hello);
    site_route("POST /echo", echo);
    site_serve();
    int warm = plain_open(); /* it serves */
    CHECK(plain_talk(warm, get_request, "hello"));
    close(warm);
    wf_fault_order(point->call, point->nth, point->error, point->every);
    on_thread_start(&client, use_server, NULL);
    on_thread_finish(&client);
    long hits = wf_fault_hits();
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
    if (!point->every)
        CHECK_LE(lost, 1);
    int again = plain_open();
    CHECK(plain_talk(again, get_request, "hello"));
    close(again);
    CHECK_EQ(weft_http_server_stop(site.server, weft_after(PATIENCE_NS)), 0);
    JOIN(site.fiber, NULL);
    CHECK_EQ(site.outcome, 0);
    site_free();
    return hits ? END_HIT : END_CLEAN;
}

static void run_point(void *opaque) {
    weft_options options = {.workers = 2, .quiet = true};
    unsetenv("WEFT_WORKERS");
    int descriptors = count_descriptors();
    alarm(30);
    int outcome = weft_run(&options, serve_point, opaque);
    CHECK_EQ(wf_os_live_blocks(), 0);
    CHECK_EQ(wf_os_mapped_bytes(), 0);
    CHECK_EQ(count_descriptors(), descriptors);
    _exit(outcome);
}

static long total_points;

static void sweep_one(struct point point, long most) {
    for (point.nth = 1; point.nth <= most; point.nth++) {
        struct child_end end = child_run(run_point, &point);
        bool is_right =
            WIFEXITED(end.status) && (WEXITSTATUS(end.status) == END_HIT || WEXITSTATUS(end.status) == END_CLEAN);
        if (!is_right)
            fprintf(stderr, "%s call %ld%s, errno %d: status %#x: %s\n", wf_fault_name(point.call), point.nth,
                    point.every ? " and all after it" : "", point.error, (unsigned)end.status, end.text);
        CHECK(is_right);
        total_points++;
        if (WEXITSTATUS(end.status) == END_CLEAN)
            return;
    }
}

static void sweep(enum wf_system_call call, int error, bool with_every) {
    long before = total_points;
    sweep_one((struct point){.call = call, .error = error}, scaled(NTH_MAX, 3));
    if (with_every)
        sweep_one((struct point){.call = call, .error = error, .every = true}, scaled(4, 1));
    printf("    %-14s errno %3d: %ld points\n", wf_fault_name(call), error, total_points - before);
}

TEST(memory_may_be_refused) {
    sweep(WF_CALL_ALLOC, ENOMEM, false);
    sweep(WF_CALL_MMAP, ENOMEM, false);
}

TEST(descriptors_may_be_refused) {
    sweep(WF_CALL_ACCEPT, EMFILE, false);
    sweep(WF_CALL_ACCEPT, ECONNABORTED, false);
    sweep(WF_CALL_ACCEPT, EINTR, false);
    sweep(WF_CALL_EPOLL_CTL, ENOMEM, true);
}

TEST(clients_may_be_gone_at_every_call) {
    sweep(WF_CALL_READ, ECONNRESET, true);
    sweep(WF_CALL_READ, ETIMEDOUT, false);
    sweep(WF_CALL_READ, EINTR, false);
    sweep(WF_CALL_SEND, EPIPE, true);
    sweep(WF_CALL_SEND, ECONNRESET, false);
    sweep(WF_CALL_SEND, ENOBUFS, false);
    sweep(WF_CALL_SHUTDOWN, ENOTCONN, true);
    sweep(WF_CALL_CLOSE, EIO, true);
}

TEST(the_sweep_of_a_server_was_a_wide_one) {
    printf("    %ld points in all\n", total_points);
    CHECK_GE(total_points, scaled(60, 20));
}
