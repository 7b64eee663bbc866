/* SPDX-License-Identifier: MIT
 *
 * spec/net_wait_test.c - every call on sockets that may wait, and every way in which a wait can end.
 *
 * The calls are in a table; each is made where what it waits for never comes: on a listener that nobody connects to, on one that
 * has as many connections as it takes, on datagrams that nobody sends or receives. Then: the deadline, a cancellation before
 * and meanwhile, closing by a fiber and by a thread, a runtime that drops its fibers. support/balance.c sees whether
 * something is left open.
 */
#include "spec/net.h"

static struct stage {
    weft_fd listener; /* nobody connects */
    struct full ip;
    struct full path;
    weft_fd deaf; /* a path for datagrams, and nobody takes them away */
    weft_address deaf_at;
    weft_fd sender;   /* has sent it all that it takes */
    weft_fd datagram; /* nobody sends */
} stage;

static void stage_open(void) {
    char text[WEFT_ADDRESS_TEXT];
    weft_address where = at("127.0.0.1:0"), name;
    stage.listener = listen_with(&where, NULL);
    full_open(&stage.ip, "127.0.0.1:0");
    snprintf(text, sizeof text, "unix:@weft-full-%d", (int)getpid());
    full_open(&stage.path, text);
    snprintf(text, sizeof text, "unix:@weft-deaf-%d", (int)getpid());
    stage.deaf_at = at(text);
    CHECK_EQ(weft_datagram_open(&stage.deaf, &stage.deaf_at, NULL), 0);
    snprintf(text, sizeof text, "unix:@weft-sender-%d", (int)getpid());
    name = at(text);
    CHECK_EQ(weft_datagram_open(&stage.sender, &name, NULL), 0);
    ssize_t sent;
    while ((sent = weft_send_to(stage.sender, "x", 1, &stage.deaf_at, WEFT_NOW)) == 1) {
    }
    CHECK_EQ(sent, -ETIMEDOUT);
    CHECK_EQ(weft_datagram_open(&stage.datagram, NULL, NULL), 0);
}

static void stage_close(void) {
    weft_close(stage.listener); /* a test may have done it */
    full_close(&stage.ip);
    full_close(&stage.path);
    close_fd(stage.deaf);
    weft_close(stage.sender);
    weft_close(stage.datagram);
}

/* ---- All the calls ---- */

static long call_accept(weft_time deadline) {
    weft_fd fd;
    weft_address from;
    return weft_accept(stage.listener, &fd, &from, deadline);
}
static long call_connect(weft_time deadline) {
    weft_fd fd;
    return weft_connect(&fd, &stage.ip.where, NULL, deadline);
}
static long call_connect_path(weft_time deadline) {
    weft_fd fd;
    return weft_connect(&fd, &stage.path.where, NULL, deadline);
}
static long call_receive(weft_time deadline) {
    char byte;
    return weft_receive_from(stage.datagram, &byte, 1, NULL, NULL, deadline);
}
static long call_send(weft_time deadline) {
    return weft_send_to(stage.sender, "x", 1, &stage.deaf_at, deadline);
}

static const struct call {
    const char *name;
    long (*call)(weft_time deadline);
    weft_fd *on; /* what can be closed meanwhile */
} calls[] = {
    {"accept", call_accept, &stage.listener},  {"connect", call_connect, NULL},
    {"connect path", call_connect_path, NULL}, {"receive", call_receive, &stage.datagram},
    {"send", call_send, &stage.sender},
};
enum { CALLS = sizeof calls / sizeof *calls };

/* ---- Deadlines ---- */

static void deadlines(void) {
    stage_open();
    for (int i = 0; i < CALLS; i++) {
        CHECK_EQ(calls[i].call(WEFT_NOW), -ETIMEDOUT);
        CHECK_EQ(calls[i].call(1), -ETIMEDOUT); /* long past */
        weft_time deadline = weft_after(2 * WEFT_MILLISECOND);
        CHECK_EQ(calls[i].call(deadline), -ETIMEDOUT);
        CHECK_LE(deadline, weft_now());
    }
    stage_close();
}

TEST(calls_end_at_their_deadlines) {
    on_both(deadlines);
}

/* ---- Cancellation ---- */

static weft_fiber waiter;
static atomic_bool has_waiter;

static int call_in_scope(void *opaque) {
    const struct call *call = opaque;
    waiter = weft_self();
    atomic_store(&has_waiter, true);
    CHECK_EQ(call->call(WEFT_NEVER), -ECANCELED);
    CHECK_EQ(call->call(WEFT_NEVER), -ECANCELED); /* and from the start */
    CHECK_EQ(call->call(WEFT_NOW), -ETIMEDOUT);   /* which never waits, and works as always */
    return 0;
}

static void cancellation(void) {
    stage_open();
    for (int i = 0; i < CALLS; i++) {
        weft_scope *scope;
        atomic_store(&has_waiter, false);
        CHECK_EQ(weft_scope_open(&scope, NULL), 0);
        CHECK_EQ(weft_scope_go(scope, call_in_scope, (void *)&calls[i]), 0);
        WAIT_UNTIL(atomic_load(&has_waiter));
        wait_parked(waiter);
        CHECK_EQ(weft_scope_cancel(scope, 0, NULL), 0);
        CHECK_EQ(weft_scope_close(scope), -ECANCELED);
    }
    stage_close();
}

TEST(calls_can_be_cancelled) {
    run_fibers(cancellation);
}

/* ---- Closing ---- */

static void *call_until_closed(void *opaque) {
    const struct call *call = opaque;
    return (void *)(intptr_t)call->call(WEFT_NEVER);
}

static void *close_it(void *opaque) {
    close_fd(*(weft_fd *)opaque);
    return NULL;
}

static void closing_with(bool by_thread) {
    stage_open();
    for (int i = 0; i < CALLS; i++) {
        void *result;
        if (!calls[i].on)
            continue;
        weft_fiber fibers[3];
        for (int j = 0; j < 3; j++)
            fibers[j] = spawn_parked(call_until_closed, (void *)&calls[i]);
        if (by_thread)
            on_thread(close_it, calls[i].on);
        else
            close_it(calls[i].on);
        for (int j = 0; j < 3; j++) {
            JOIN(fibers[j], &result);
            CHECK_EQ((intptr_t)result, -EBADF);
        }
        CHECK_EQ(calls[i].call(WEFT_NEVER), -EBADF);
        CHECK_EQ(calls[i].call(WEFT_NOW), -EBADF);
    }
    stage_close();
}

static void closing(void) {
    closing_with(false);
    closing_with(true);
}

TEST(closing_ends_the_calls_of_fibers) {
    run_fibers(closing);
}

static void *note_and_call(void *opaque) {
    struct on_thread_call *call = opaque;
    void *result = call_until_closed(call->arg);
    CHECK_EQ((intptr_t)result, -EBADF);
    return NULL;
}

/* Whether the threads wait already is not known; either way they learn of it. */
TEST(closing_ends_the_calls_of_threads) {
    stage_open();
    for (int i = 0; i < CALLS; i++) {
        if (!calls[i].on)
            continue;
        struct on_thread_call about = {.arg = (void *)&calls[i]};
        pthread_t threads[2] = {thread_start(note_and_call, &about), thread_start(note_and_call, &about)};
        CHECK_EQ(calls[i].call(weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
        close_fd(*calls[i].on);
        thread_join(threads[0]);
        thread_join(threads[1]);
    }
    stage_close();
}

/* ---- A runtime that drops its fibers ---- */

static void dropped(void) {
    for (int i = 0; i < CALLS; i++)
        spawn_parked(call_until_closed, (void *)&calls[i]);
}

TEST(a_fiber_that_is_dropped_leaves_nothing_open) {
    weft_options options = {.abandon = true};
    stage_open();
    int before = count_descriptors();
    run_fibers_with(&options, dropped);
    CHECK_EQ(count_descriptors(), before);
    stage_close();
}

/* ---- What they wait for comes ---- */

static void *call_until_done(void *opaque) {
    weft_fd *out = opaque;
    return (void *)(intptr_t)weft_connect(out, &stage.path.where, NULL, WEFT_NEVER);
}

static void *send_until_done(void *opaque) {
    (void)opaque;
    return (void *)(intptr_t)weft_send_to(stage.sender, "y", 1, &stage.deaf_at, WEFT_NEVER);
}

/* The kernel tells neither of them. */
static void room_on_paths(void) {
    weft_fd fd;
    void *result;
    char byte = 0;
    stage_open();
    weft_fiber one = spawn_parked(call_until_done, &fd);
    close_fd(accept_from(stage.path.listener));
    JOIN(one, &result);
    CHECK_EQ((intptr_t)result, 0);
    close_fd(fd);
    one = spawn_parked(send_until_done, NULL);
    while (byte != 'y')
        CHECK_EQ(weft_receive_from(stage.deaf, &byte, 1, NULL, NULL, weft_after(PATIENCE_NS)), 1);
    JOIN(one, &result);
    CHECK_EQ((intptr_t)result, 1);
    stage_close();
}

TEST(a_full_path_is_tried_again) {
    run_fibers(room_on_paths);
}

/* ---- Many who accept ---- */

enum { ACCEPTORS = 6, ACCEPTING_THREADS = 2 };

static struct {
    weft_fd listener;
    atomic_int accepted;
    weft_address where;
} door_of_many;

static void *accept_all(void *arg) {
    weft_fd fd;
    int error;
    while ((error = weft_accept(door_of_many.listener, &fd, NULL, WEFT_NEVER)) == 0) {
        char letter = 'k';
        CHECK_EQ(weft_write(fd, &letter, 1, WEFT_NEVER), 1);
        atomic_fetch_add(&door_of_many.accepted, 1);
        close_fd(fd);
    }
    CHECK_EQ(error, -EBADF);
    return arg;
}

static void many(void) {
    struct on_thread_call threads[ACCEPTING_THREADS];
    weft_fiber fibers[ACCEPTORS];
    int connections = (int)scaled(400, 20);
    atomic_store(&door_of_many.accepted, 0);
    door_of_many.listener = listen_on("127.0.0.1:0", &door_of_many.where);
    for (int i = 0; i < ACCEPTORS; i++)
        SPAWN(&fibers[i], accept_all, NULL);
    for (int i = 0; i < ACCEPTING_THREADS; i++)
        on_thread_start(&threads[i], accept_all, NULL);
    for (int i = 0; i < connections; i++) {
        weft_fd fd = connect_to(&door_of_many.where);
        char letter;
        CHECK_EQ(weft_read(fd, &letter, 1, weft_after(PATIENCE_NS)), 1);
        CHECK_EQ(weft_read(fd, &letter, 1, weft_after(PATIENCE_NS)), 0);
        close_fd(fd);
    }
    close_fd(door_of_many.listener);
    for (int i = 0; i < ACCEPTORS; i++)
        JOIN(fibers[i], NULL);
    for (int i = 0; i < ACCEPTING_THREADS; i++)
        on_thread_finish(&threads[i]);
    CHECK_EQ(atomic_load(&door_of_many.accepted), connections);
}

TEST(many_accept_on_one_listener_and_each_connection_is_accepted_once) {
    run_fibers(many);
}

/* ---- No descriptors left ---- */

static void use_up_descriptors(void) {
    struct rlimit limit;
    int last = dup(STDERR_FILENO);
    CHECK_GE(last, 0);
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = (rlim_t)last; /* what is below it is in use */
    close(last);
    int spare;
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    while ((spare = dup(STDERR_FILENO)) >= 0) {
    }
}

static void *close_stage_listener(void *opaque) {
    close_fd(stage.listener);
    return opaque;
}

static void *free_one_descriptor(void *opaque) {
    close_fd(stage.datagram);
    return opaque;
}

static void scarce_fibers(void) {
    weft_address where;
    weft_fd fd, one;
    void *result;
    where = at("127.0.0.1:0");
    stage.listener = listen_with(&where, NULL);
    one = connect_to(&where);
    CHECK_EQ(weft_datagram_open(&stage.datagram, NULL, NULL), 0);
    use_up_descriptors();
    CHECK_EQ(weft_accept(stage.listener, &fd, NULL, WEFT_NOW), -EMFILE);
    CHECK_EQ(weft_accept(stage.listener, &fd, NULL, weft_after(3 * WEFT_MILLISECOND)), -EMFILE);
    CHECK_EQ(weft_connect(&fd, &where, NULL, WEFT_NEVER), -EMFILE);
    CHECK_EQ(weft_listen(&fd, &where, NULL), -EMFILE);
    /* One is given back while somebody waits. */
    weft_fiber helper;
    SPAWN(&helper, free_one_descriptor, NULL);
    CHECK_EQ(weft_accept(stage.listener, &fd, NULL, weft_after(PATIENCE_NS)), 0);
    JOIN(helper, NULL);
    check_talk(one, fd);
    /* Closing ends the pause. */
    close_fd(one);
    one = connect_to(&where);
    weft_fiber waits = spawn_parked(call_until_closed, (void *)&calls[0]);
    SPAWN(&helper, close_stage_listener, NULL);
    JOIN(waits, &result);
    CHECK_EQ((intptr_t)result, -EBADF);
    JOIN(helper, NULL);
    close_fd(one);
    close_fd(fd);
}

static void scarce_in_child(void *arg) {
    (void)arg;
    run_fibers(scarce_fibers);
}

TEST(accept_waits_for_descriptors) {
    struct child_end end = child_run(scarce_in_child, NULL);
    CHECK_CHILD_WELL(&end);
}
