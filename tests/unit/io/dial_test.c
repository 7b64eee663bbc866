/* SPDX-License-Identifier: MIT
 *
 * unit/io/dial_test.c - several addresses at once: which are tried, in which order, and that one is left.
 *
 * Addresses are of three kinds here: one that somebody listens on, one that refuses, and one that does not answer. All of this
 * machine, so that nothing depends on a network.
 */
#include "io/socket.h"
#include "os/fault.h"
#include "spec/net.h"

static struct {
    struct full silent;
    weft_address good, bad;
    weft_fd listener;
    int refuser;
} stage;

static void stage_open(void) {
    full_open(&stage.silent, "127.0.0.1:0");
    stage.listener = listen_on("127.0.0.1:0", &stage.good);
    stage.refuser = refusing(&stage.bad);
}

static void stage_close(void) {
    full_close(&stage.silent);
    close_fd(stage.listener);
    close(stage.refuser);
}

/* A letter for each: g, b, s. */
static int dial_letters(const char *letters, weft_fd *out, weft_time deadline) {
    weft_address addresses[64];
    int count = (int)strlen(letters);
    for (int i = 0; i < count; i++)
        addresses[i] = letters[i] == 'g' ? stage.good : letters[i] == 'b' ? stage.bad : stage.silent.where;
    return wf_dial_addresses(out, addresses, count, NULL, deadline);
}

static void check_dial(const char *letters) {
    weft_fd fd;
    weft_address peer;
    CHECK_EQ(dial_letters(letters, &fd, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(weft_peer_address(fd, &peer), 0);
    CHECK(weft_address_equal(&peer, &stage.good));
    weft_fd other = accept_from(stage.listener);
    check_talk(fd, other);
    close_fd(fd);
    close_fd(other);
    CHECK_EQ(weft_accept(stage.listener, &fd, NULL, WEFT_NOW), -ETIMEDOUT); /* nobody else came */
}

static void any_good(void) {
    stage_open();
    check_dial("g");
    check_dial("bg");
    check_dial("bbbbbbbbbbbbbbbbbbbbg"); /* more than can be on their way at once */
    check_dial("sg");                    /* the next one is tried after a while */
    check_dial("bsbg");
    stage_close();
}

TEST(the_one_that_answers_is_it) {
    on_both(any_good);
}

static void none_good(void) {
    weft_fd fd = WEFT_NO_FD;
    stage_open();
    CHECK_EQ(dial_letters("b", &fd, WEFT_NEVER), -ECONNREFUSED);
    CHECK_EQ(dial_letters("bbb", &fd, WEFT_NEVER), -ECONNREFUSED);
    CHECK_EQ(dial_letters("s", &fd, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(dial_letters("sb", &fd, 1), -ETIMEDOUT);
    CHECK_EQ(dial_letters("bs", &fd, weft_after(2 * WEFT_MILLISECOND)), -ETIMEDOUT);
    CHECK_EQ(fd.bits, 0);
    stage_close();
}

TEST(without_an_answer_the_last_error_is_told) {
    on_both(none_good);
}

static weft_address address_of(char family, int port) {
    weft_address address;
    CHECK_EQ(weft_address_of(&address, family == '6' ? "::1" : "127.0.0.1", (unsigned)port), 0);
    return address;
}

/* The socket calls all fail, so that none is on its way and all are tried at once. */
static void check_order(const char *families, const char *wanted) {
    weft_address addresses[16];
    int count = (int)strlen(families);
    weft_fd fd;
    for (int i = 0; i < count; i++)
        addresses[i] = address_of(families[i], i + 1);
    wf_fault_order_here(WF_CALL_SOCKET, 1, EMFILE, 1);
    CHECK_EQ(wf_dial_addresses(&fd, addresses, count, NULL, WEFT_NEVER), -EMFILE);
    CHECK_EQ(wf_fault_calls(WF_CALL_SOCKET), count);
    wf_fault_order(WF_CALL_SOCKET, 0, 0, 0);
    char order[32] = "";
    for (int i = 0; i < count; i++)
        order[i] = (char)('0' + weft_address_port(&addresses[i]));
    CHECK_TEXT(order, wanted);
}

TEST(families_take_turns) {
    check_order("6", "1");
    check_order("64", "12");
    check_order("6644", "1324");
    check_order("4466", "1324");
    check_order("66644", "14253");
    check_order("64444", "12345");
    check_order("6666", "1234");
    check_order("4666464", "1253746");
}

/* ---- Faults ---- */

static void faults_of(enum wf_system_call call, int error) {
    for (long nth = 1, hits = 1; hits > 0; nth++) {
        weft_fd fd;
        CHECK_LE(nth, 100);
        wf_fault_order_here(call, nth, error, 0);
        int status = dial_letters("bg", &fd, weft_after(PATIENCE_NS));
        hits = wf_fault_hits();
        wf_fault_order(call, 0, 0, 0);
        CHECK(status == 0 || status == -error || status == -ECONNREFUSED);
        if (status == 0) {
            close_fd(fd);
            close_fd(accept_from(stage.listener));
        }
    }
}

TEST(every_call_can_fail) {
    stage_open();
    faults_of(WF_CALL_SOCKET, EMFILE);
    faults_of(WF_CALL_SOCKET_OPTION, ENOMEM);
    faults_of(WF_CALL_CONNECT, ENETUNREACH);
    faults_of(WF_CALL_CONNECT, EINTR);
    faults_of(WF_CALL_EPOLL_CTL, ENOMEM);
    faults_of(WF_CALL_ALLOC, ENOMEM);
    faults_of(WF_CALL_POLL, EINTR);
    weft_fd fd; /* what a fault has left in the queue of the listener */
    while (weft_accept(stage.listener, &fd, NULL, WEFT_NOW) == 0)
        close_fd(fd);
    stage_close();
}

/* ---- Ends ---- */

static int dial_for_ever(void *arg) {
    weft_fd fd;
    (void)arg;
    return dial_letters("ssss", &fd, WEFT_NEVER);
}

static void *dial_fiber(void *arg) {
    return (void *)(intptr_t)dial_for_ever(arg);
}

static atomic_long dialling; /* the bits of the fiber */

static int dial_in_scope(void *arg) {
    atomic_store(&dialling, (long)weft_self().bits);
    CHECK_EQ(dial_for_ever(arg), -ECANCELED);
    return 0;
}

static void cancelled(void) {
    weft_scope *scope;
    stage_open();
    atomic_store(&dialling, 0);
    CHECK_EQ(weft_scope_open(&scope, NULL), 0);
    CHECK_EQ(weft_scope_go(scope, dial_in_scope, NULL), 0);
    WAIT_UNTIL(atomic_load(&dialling));
    wait_parked((weft_fiber){(uint64_t)atomic_load(&dialling)});
    CHECK_EQ(weft_scope_cancel(scope, 0, NULL), 0);
    CHECK_EQ(weft_scope_close(scope), -ECANCELED);
    stage_close();
}

TEST(dialling_can_be_cancelled) {
    run_fibers(cancelled);
}

static void dropped(void) {
    spawn_parked(dial_fiber, NULL);
}

TEST(what_was_on_its_way_goes_with_a_dropped_fiber) {
    weft_options options = {.abandon = true};
    stage_open();
    int before = count_descriptors();
    run_fibers_with(&options, dropped);
    CHECK_EQ(count_descriptors(), before);
    stage_close();
}

static int dial_many(void *arg) {
    weft_fd fd;
    (void)arg;
    return dial_letters("ssssssssssssssssssss", &fd, WEFT_NEVER);
}

/* 20 addresses that do not answer: 16 of them are tried, and the moment of the next one does not come. */
static int many_body(weft_scope *scope, void *arg) {
    CHECK_EQ(weft_scope_go(scope, dial_many, arg), 0);
    WAIT_UNTIL(wf_fault_calls(WF_CALL_SOCKET) >= WF_ATTEMPTS);
    CHECK_EQ(weft_sleep(weft_after(10 * WEFT_MILLISECOND)),
             0); /* in which the next one could come, were it not for the limit */
    CHECK_EQ(weft_scope_cancel(scope, -EBUSY, NULL), 0);
    return 0;
}

static void many_silent(void) {
    stage_open();
    wf_fault_order(WF_CALL_SOCKET, 1000, EIO, 0);
    CHECK_EQ(weft_scope_run(NULL, many_body, NULL), -EBUSY);
    CHECK_EQ(wf_fault_calls(WF_CALL_SOCKET), WF_ATTEMPTS);
    wf_fault_order(WF_CALL_SOCKET, 0, 0, 0);
    stage_close();
}

TEST(sixteen_are_on_their_way_at_most) {
    run_fibers(many_silent);
}
