/* SPDX-License-Identifier: MIT
 *
 * unit/io/accept_test.c - sockets when the kernel says no: every system call fails in turn, with every error it has.
 *
 * Orders to fail are for the thread of the test alone. support/balance.c sees whether something is left.
 */
#include "os/fault.h"
#include "spec/net.h"

static weft_address where;
static weft_fd listener;

static void begin(void) {
    listener = listen_on("127.0.0.1:0", &where);
}

static void order_none(void) {
    wf_fault_order(WF_CALL_ACCEPT, 0, 0, 0);
}

TEST(accepting_costs_one_system_call) {
    begin();
    weft_fd one = connect_to(&where);
    wf_fault_order_here(WF_CALL_COUNT, 1000, EIO, 0);
    weft_fd other = accept_from(listener);
    long calls = 0;
    for (int i = 0; i < WF_CALL_COUNT; i++)
        calls += wf_fault_calls((enum wf_system_call)i);
    CHECK_EQ(wf_fault_calls(WF_CALL_ACCEPT), 1);
    CHECK_EQ(calls, 1);
    order_none();
    CHECK_EQ(option_of(other, IPPROTO_TCP, TCP_NODELAY), 1);
    close_fd(one);
    close_fd(other);
    close_fd(listener);
}

TEST(connections_that_were_given_up_are_skipped) {
    static const int errors[] = {ECONNABORTED, ECONNRESET,   EPROTO,      ENETDOWN,  ENOPROTOOPT,
                                 EHOSTDOWN,    EHOSTUNREACH, ENETUNREACH, ETIMEDOUT, EINTR};
    begin();
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        weft_fd one = connect_to(&where);
        wf_fault_order_here(WF_CALL_ACCEPT, 1, errors[i], 0);
        close_fd(accept_from(listener));
        CHECK_EQ(wf_fault_hits(), 1);
        CHECK_EQ(wf_fault_calls(WF_CALL_ACCEPT), 2);
        order_none();
        close_fd(one);
    }
    weft_fd fd;
    wf_fault_order_here(WF_CALL_ACCEPT, 1, ECONNABORTED, 0);
    CHECK_EQ(weft_accept(listener, &fd, NULL, WEFT_NOW), -ETIMEDOUT);
    wf_fault_order_here(WF_CALL_ACCEPT, 1, EPERM, 0);
    CHECK_EQ(weft_accept(listener, &fd, NULL, WEFT_NEVER), -EPERM);
    order_none();
    close_fd(listener);
}

static void shortage(void) {
    static const int errors[] = {EMFILE, ENFILE, ENOBUFS, ENOMEM};
    begin();
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        weft_fd fd = WEFT_NO_FD, one = connect_to(&where);
        wf_fault_order(WF_CALL_ACCEPT, 1, errors[i], 1);
        CHECK_EQ(weft_accept(listener, &fd, NULL, WEFT_NOW), -errors[i]);
        CHECK_EQ(weft_accept(listener, &fd, NULL, 1), -errors[i]);
        CHECK_EQ(wf_fault_calls(WF_CALL_ACCEPT), 2);
        weft_time deadline = weft_after(10 * WEFT_MILLISECOND);
        CHECK_EQ(weft_accept(listener, &fd, NULL, deadline), -errors[i]);
        CHECK_LE(deadline, weft_now());
        CHECK_LE(wf_fault_calls(WF_CALL_ACCEPT), 2 + 6); /* after 0, 1, 3, 7 ms and at the end: it does not spin */
        CHECK_EQ(fd.bits, 0);
        wf_fault_order(WF_CALL_ACCEPT, 1, errors[i], 0);
        close_fd(accept_from(listener)); /* the second try */
        CHECK_EQ(wf_fault_calls(WF_CALL_ACCEPT), 2);
        order_none();
        close_fd(one);
    }
    close_fd(listener);
}

TEST(a_shortage_is_waited_out_and_told_at_the_deadline) {
    on_both(shortage);
}

static int accept_for_ever(void *arg) {
    weft_fd fd;
    (void)arg;
    return weft_accept(listener, &fd, NULL, WEFT_NEVER);
}

static void *accept_fiber(void *arg) {
    return (void *)(intptr_t)accept_for_ever(arg);
}

static int cancel_body(weft_scope *scope, void *arg) {
    CHECK_EQ(weft_scope_go(scope, accept_for_ever, arg), 0);
    WAIT_UNTIL(wf_fault_calls(WF_CALL_ACCEPT) > 3);
    CHECK_EQ(weft_scope_cancel(scope, -EBUSY, NULL), 0);
    return 0;
}

static void shortage_ends(void) {
    void *result;
    begin();
    wf_fault_order(WF_CALL_ACCEPT, 1, EMFILE, 1);
    CHECK_EQ(weft_scope_run(NULL, cancel_body, NULL), -EBUSY);
    weft_fiber fiber = spawn_parked(accept_fiber, NULL);
    close_fd(listener);
    JOIN(fiber, &result);
    CHECK_EQ((intptr_t)result, -EBADF);
    order_none();
}

TEST(a_shortage_can_be_cancelled_and_closed) {
    run_fibers(shortage_ends);
}

/* The pause needs a place in the poller, which may be short of the same. */
TEST(a_shortage_in_the_poller_too_is_waited_out) {
    begin();
    weft_fd fd;
    wf_fault_order(WF_CALL_COUNT, 1, ENOMEM, 1);
    CHECK_EQ(weft_accept(listener, &fd, NULL, weft_after(3 * WEFT_MILLISECOND)), -ENOMEM);
    order_none();
    CHECK_EQ(weft_accept(listener, &fd, NULL, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    close_fd(listener);
}

/* ---- Everything else ---- */

static bool is_expected(int status, int error) {
    return status == 0 || status == -error;
}

/* One of everything; each call works, or gives the error that was ordered and leaves nothing. */
static void make_everything(int error) {
    weft_fd fd, ends[2];
    weft_address any = at("127.0.0.1:0"), path = at_path(scratch_path());
    weft_socket_options options = {.keeps_alive = true,
                                   .send_buffer = 9000,
                                   .receive_buffer = 9000,
                                   .mode = 0600,
                                   .shares_port = true,
                                   .broadcasts = true};
    int status = weft_listen(&fd, &any, &options);
    CHECK(is_expected(status, error));
    if (status == 0)
        close_fd(fd);
    status = weft_listen(&fd, &path, &options);
    CHECK(is_expected(status, error));
    CHECK_EQ(access(scratch_path(), F_OK), -1);
    if (status == 0)
        close_fd(fd);
    status = weft_datagram_open(&fd, NULL, &options);
    CHECK(is_expected(status, error));
    if (status == 0)
        close_fd(fd);
    status = weft_socket_pair(ends);
    CHECK(is_expected(status, error));
    if (status == 0) {
        close_fd(ends[0]);
        close_fd(ends[1]);
    }
    status = weft_connect(&fd, &where, &options, weft_after(PATIENCE_NS));
    CHECK(is_expected(status, error));
    if (status == 0) {
        weft_address local;
        CHECK(is_expected(weft_local_address(fd, &local), error));
        CHECK(is_expected(weft_peer_address(fd, &local), error));
        CHECK(is_expected(weft_shutdown(fd, WEFT_SHUT_BOTH), error));
        close_fd(fd);
    }
    status = weft_accept(listener, &fd, NULL, WEFT_NOW);
    CHECK(is_expected(status, error) || status == -ETIMEDOUT);
    if (status == 0)
        close_fd(fd);
}

TEST(every_call_can_fail_and_leaves_nothing) {
    static const enum wf_system_call kinds[] = {
        WF_CALL_ALLOC,  WF_CALL_SOCKET, WF_CALL_SOCKET_OPTION, WF_CALL_SOCKET_NAME, WF_CALL_BIND,
        WF_CALL_LISTEN, WF_CALL_ACCEPT, WF_CALL_CONNECT,       WF_CALL_SHUTDOWN,    WF_CALL_EPOLL_CTL};
    static const int errors[] = {ENOMEM, EMFILE, EINTR};
    begin();
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
            long hits = 1;
            for (long nth = 1; hits > 0; nth++) {
                CHECK_LE(nth, 100);
                wf_fault_order_here(kinds[kind], nth, errors[i], 0);
                make_everything(errors[i]);
                hits = wf_fault_hits();
                order_none();
            }
        }
    }
    close_fd(listener);
}

static void *serve_and_go(void *arg) {
    weft_fd fd;
    int error;
    do {
        error = weft_accept(listener, &fd, NULL, WEFT_NEVER);
        if (error == 0)
            close_fd(fd);
    } while (error == 0 || error == -ENOMEM); /* the order may meet this one */
    CHECK_EQ(error, -EBADF);
    return arg;
}

/* The wait for a connection cannot begin, or its deadline cannot be armed. */
static void refused_waits(void) {
    begin();
    weft_fiber server;
    SPAWN(&server, serve_and_go, NULL);
    for (long nth = 1, hits = 1; hits > 0; nth++) {
        weft_fd fd;
        CHECK_LE(nth, 100);
        wf_fault_order(WF_CALL_ALLOC, nth, ENOMEM, 0);
        int status = weft_connect(&fd, &where, NULL, weft_after(PATIENCE_NS));
        hits = wf_fault_hits();
        order_none();
        CHECK(is_expected(status, ENOMEM));
        if (status == 0)
            close_fd(fd);
    }
    close_fd(listener);
    JOIN(server, NULL);
}

TEST(a_connection_that_cannot_be_waited_for_is_closed) {
    run_fibers(refused_waits);
}
