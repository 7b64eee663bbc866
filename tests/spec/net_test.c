/* SPDX-License-Identifier: MIT
 *
 * spec/net_test.c - streams over IP and on paths: weft/net.h without what takes for ever, which is in net_wait_test.c,
 * without datagrams, and without addresses as text.
 *
 * What can be called from a fiber and from a plain thread is called from both.
 */
#include "spec/net.h"

/* ---- Streams ---- */

static void check_stream(const char *text) {
    weft_address where, near, far, from;
    weft_fd listener = listen_on(text, &where), other;
    weft_fd one = connect_to(&where);
    CHECK_EQ(weft_accept(listener, &other, &from, weft_after(PATIENCE_NS)), 0);
    check_talk(one, other);
    check_talk(other, one);
    CHECK_EQ(weft_peer_address(one, &far), 0);
    CHECK(weft_address_equal(&far, &where));
    CHECK_EQ(weft_local_address(other, &near), 0);
    CHECK(weft_address_equal(&near, &where));
    if (where.storage.ss_family != AF_UNIX) {
        CHECK_NE(weft_address_port(&where), 0);
        CHECK_EQ(weft_local_address(one, &near), 0);
        CHECK(weft_address_equal(&near, &from));
        CHECK_EQ(weft_peer_address(other, &far), 0);
        CHECK(weft_address_equal(&far, &from));
    } else { /* who connects has no name */
        char empty[WEFT_ADDRESS_TEXT];
        CHECK_EQ(weft_address_format(&from, empty, sizeof empty), 5);
        CHECK_TEXT(empty, "unix:");
    }
    close_fd(one);
    char letter;
    CHECK_EQ(weft_read(other, &letter, 1, weft_after(PATIENCE_NS)), 0);
    close_fd(other);
    close_fd(listener);
}

static void streams(void) {
    char text[WEFT_ADDRESS_TEXT];
    check_stream("127.0.0.1:0");
    if (has_v6())
        check_stream("[::1]:0");
    snprintf(text, sizeof text, "unix:@weft-%d", (int)getpid());
    check_stream(text);
    snprintf(text, sizeof text, "unix:%s", scratch_path());
    check_stream(text);
    CHECK_EQ(unlink(scratch_path()), -1); /* nothing is left: scratch_path has removed it */
}

TEST(two_sides_talk_over_ip_and_paths) {
    on_both(streams);
}

static void everything(void) {
    weft_address where, from, four, six;
    weft_fd listener = listen_on("*:0", &where), other;
    CHECK_EQ(weft_address_of(&four, "127.0.0.1", weft_address_port(&where)), 0);
    weft_fd one = connect_to(&four);
    CHECK_EQ(weft_accept(listener, &other, &from, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(from.storage.ss_family, AF_INET); /* not an IPv6 address with one of IPv4 in it */
    CHECK_EQ(weft_local_address(one, &four), 0);
    CHECK(weft_address_equal(&from, &four));
    close_fd(one);
    close_fd(other);
    if (has_v6()) {
        CHECK_EQ(weft_address_of(&six, "::1", weft_address_port(&where)), 0);
        one = connect_to(&six);
        other = accept_from(listener);
        check_talk(one, other);
        close_fd(one);
        close_fd(other);
    }
    close_fd(listener);
}

TEST(everything_takes_ipv4_and_ipv6) {
    on_both(everything);
}

TEST(an_ipv6_listener_can_leave_ipv4_alone) {
    weft_socket_options options = {.only_v6 = true};
    weft_address six = at("*:0"), four;
    int number = refusing(&four); /* its port is taken for IPv4, and is not for IPv6 */
    if (!has_v6()) {
        close(number);
        return;
    }
    weft_fd listener, second;
    ((struct sockaddr_in6 *)&six.storage)->sin6_port = htons((uint16_t)weft_address_port(&four));
    CHECK_EQ(weft_listen(&second, &six, NULL), -EADDRINUSE);
    CHECK_EQ(weft_listen(&listener, &six, &options), 0);
    CHECK_EQ(weft_connect(&second, &four, NULL, weft_after(PATIENCE_NS)), -ECONNREFUSED);
    close_fd(listener);
    close(number);
}

static void pair(void) {
    weft_fd ends[2];
    CHECK_EQ(weft_socket_pair(ends), 0);
    check_talk(ends[0], ends[1]);
    check_talk(ends[1], ends[0]);
    close_fd(ends[0]);
    close_fd(ends[1]);
    CHECK_EQ(weft_socket_pair(NULL), -EINVAL);
}

TEST(a_pair_is_connected) {
    on_both(pair);
}

/* ---- Options ---- */

static void check_made(weft_fd fd) {
    CHECK(fcntl(weft_fd_number(fd), F_GETFL) & O_NONBLOCK);
    CHECK(fcntl(weft_fd_number(fd), F_GETFD) & FD_CLOEXEC);
}

TEST(sockets_do_not_block_and_are_closed_on_exec) {
    weft_fd ends[2], listener;
    weft_address where;
    connected(ends);
    check_made(ends[0]);
    check_made(ends[1]);
    close_fd(ends[0]);
    close_fd(ends[1]);
    CHECK_EQ(weft_socket_pair(ends), 0);
    check_made(ends[0]);
    check_made(ends[1]);
    close_fd(ends[0]);
    close_fd(ends[1]);
    listener = listen_on("127.0.0.1:0", &where);
    check_made(listener);
    close_fd(listener);
}

TEST(nothing_is_held_back_unless_asked_for) {
    weft_socket_options delays = {.delays = true};
    weft_address where;
    weft_fd ends[2], listener;
    connected(ends);
    CHECK_EQ(option_of(ends[0], IPPROTO_TCP, TCP_NODELAY), 1);
    CHECK_EQ(option_of(ends[1], IPPROTO_TCP, TCP_NODELAY), 1); /* from the listener */
    close_fd(ends[0]);
    close_fd(ends[1]);
    where = at("127.0.0.1:0");
    listener = listen_with(&where, &delays);
    CHECK_EQ(weft_connect(&ends[0], &where, &delays, weft_after(PATIENCE_NS)), 0);
    ends[1] = accept_from(listener);
    CHECK_EQ(option_of(ends[0], IPPROTO_TCP, TCP_NODELAY), 0);
    CHECK_EQ(option_of(ends[1], IPPROTO_TCP, TCP_NODELAY), 0);
    close_fd(ends[0]);
    close_fd(ends[1]);
    close_fd(listener);
}

TEST(other_options_are_passed_on) {
    weft_socket_options options = {.keeps_alive = true, .send_buffer = 20000, .receive_buffer = 30000};
    weft_address where = at("127.0.0.1:0");
    weft_fd ends[2], listener = listen_with(&where, &options);
    CHECK_EQ(weft_connect(&ends[0], &where, &options, weft_after(PATIENCE_NS)), 0);
    ends[1] = accept_from(listener);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(option_of(ends[i], SOL_SOCKET, SO_KEEPALIVE), 1);
        CHECK_EQ(option_of(ends[i], SOL_SOCKET, SO_SNDBUF), 40000); /* the kernel takes twice as much */
        CHECK_EQ(option_of(ends[i], SOL_SOCKET, SO_RCVBUF), 60000);
        close_fd(ends[i]);
    }
    close_fd(listener);
}

TEST(a_connection_comes_from_where_it_is_told_to) {
    weft_address where, local = at("127.0.0.2:0"), from;
    weft_socket_options options = {.local = &local};
    weft_fd listener = listen_on("127.0.0.1:0", &where), one, other;
    CHECK_EQ(weft_connect(&one, &where, &options, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(weft_accept(listener, &other, &from, weft_after(PATIENCE_NS)), 0);
    ((struct sockaddr_in *)&from.storage)->sin_port = 0;
    CHECK(weft_address_equal(&from, &local));
    close_fd(one);
    close_fd(other);
    local = at("192.0.2.77:0"); /* an address of documents, nobody's */
    CHECK_EQ(weft_connect(&one, &where, &options, weft_after(PATIENCE_NS)), -EADDRNOTAVAIL);
    close_fd(listener);
}

TEST(listeners_share_a_port_when_both_want_to) {
    weft_socket_options shares = {.shares_port = true};
    weft_address where = at("127.0.0.1:0");
    weft_fd first = listen_with(&where, &shares), second, third;
    CHECK_EQ(weft_listen(&second, &where, &shares), 0);
    CHECK_EQ(weft_listen(&third, &where, NULL), -EADDRINUSE);
    /* The kernel spreads them by a hash of their addresses: with so many, both get some. */
    int heard[2] = {0, 0};
    for (int i = 0; i < 200 && !(heard[0] && heard[1]); i++) {
        weft_fd one = connect_to(&where);
        weft_case cases[] = {weft_on_readable(first), weft_on_readable(second)};
        int chosen = weft_select(cases, 2, weft_after(PATIENCE_NS));
        CHECK(chosen == 0 || chosen == 1);
        close_fd(accept_from(chosen ? second : first));
        heard[chosen]++;
        close_fd(one);
    }
    CHECK(heard[0] > 0);
    CHECK(heard[1] > 0);
    close_fd(first);
    close_fd(second);
}

TEST(a_port_that_was_just_used_can_be_listened_on) {
    weft_socket_options keeps = {.keeps_address = true};
    weft_address where;
    char letter;
    weft_fd listener = listen_on(own_address(), &where);
    weft_fd one = connect_to(&where), other = accept_from(listener);
    close_fd(other); /* it says goodbye first, and its side remembers: TIME_WAIT */
    CHECK_EQ(weft_read(one, &letter, 1, weft_after(PATIENCE_NS)), 0);
    close_fd(one);
    close_fd(listener);
    CHECK_EQ(weft_listen(&listener, &where, &keeps), -EADDRINUSE);
    CHECK_EQ(weft_listen(&listener, &where, NULL), 0);
    close_fd(listener);
}

/* ---- Paths ---- */

TEST(a_path_that_nobody_listens_on_is_taken_over) {
    const char *path = scratch_path();
    weft_address where = at_path(path);
    weft_fd first, second;
    CHECK_EQ(weft_listen(&first, &where, NULL), 0);
    CHECK_EQ(weft_listen(&second, &where, NULL), -EADDRINUSE);         /* somebody does */
    CHECK_EQ(weft_accept(first, &second, NULL, WEFT_NOW), -ETIMEDOUT); /* and is not disturbed */
    weft_fd one = connect_to(&where);
    close_fd(one);
    close_fd(first);
    CHECK_EQ(access(path, F_OK), 0); /* closing does not remove it */
    CHECK_EQ(weft_listen(&second, &where, NULL), 0);
    one = connect_to(&where);
    close_fd(one);
    close_fd(second);
    unlink(path);
}

TEST(what_is_not_a_socket_is_not_taken_over) {
    const char *path = scratch_path();
    weft_address where = at_path(path);
    weft_fd listener;
    int file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    CHECK_GE(file, 0);
    close(file);
    CHECK_EQ(weft_listen(&listener, &where, NULL), -EADDRINUSE);
    CHECK_EQ(access(path, F_OK), 0);
    unlink(path);
    where = at("unix:/none/such/folder");
    CHECK_EQ(weft_listen(&listener, &where, NULL), -ENOENT);
    CHECK_EQ(weft_connect(&listener, &where, NULL, WEFT_NEVER), -ENOENT);
}

TEST(the_path_of_a_socket_of_another_kind_is_not_taken_over) {
    const char *path = scratch_path();
    weft_address where = at_path(path);
    weft_fd datagrams, listener;
    CHECK_EQ(weft_datagram_open(&datagrams, &where, NULL), 0);
    CHECK_EQ(weft_listen(&listener, &where, NULL), -EADDRINUSE);
    close_fd(datagrams);
    unlink(path);
}

TEST(a_full_path_is_in_use) {
    struct full full;
    weft_fd listener;
    char text[WEFT_ADDRESS_TEXT];
    snprintf(text, sizeof text, "unix:%s", scratch_path());
    full_open(&full, text);
    CHECK_EQ(weft_listen(&listener, &full.where, NULL), -EADDRINUSE);
    full_close(&full);
    scratch_path();
}

TEST(a_path_has_the_permissions_it_was_given) {
    const char *path = scratch_path();
    weft_address where = at_path(path);
    weft_fd listener;
    struct stat about;
    mode_t mask = umask(022);
    weft_socket_options options = {.mode = 0666};
    CHECK_EQ(weft_listen(&listener, &where, &options), 0);
    CHECK_EQ(stat(path, &about), 0);
    CHECK_EQ(about.st_mode & 07777, 0666);
    close_fd(listener);
    CHECK_EQ(weft_listen(&listener, &where, NULL), 0);
    CHECK_EQ(stat(path, &about), 0);
    CHECK_EQ(about.st_mode & 07777, 0755);
    close_fd(listener);
    umask(mask);
    options.mode = 010000;
    CHECK_EQ(weft_listen(&listener, &where, &options), -EINVAL);
    unlink(path);
}

TEST(an_abstract_name_goes_with_its_socket) {
    char text[WEFT_ADDRESS_TEXT];
    weft_fd listener, second;
    snprintf(text, sizeof text, "unix:@weft-abstract-%d", (int)getpid());
    weft_address where = at(text);
    CHECK_EQ(weft_listen(&listener, &where, NULL), 0);
    CHECK_EQ(weft_listen(&second, &where, NULL), -EADDRINUSE);
    close_fd(listener);
    CHECK_EQ(weft_connect(&second, &where, NULL, WEFT_NEVER), -ECONNREFUSED);
    CHECK_EQ(weft_listen(&second, &where, NULL), 0);
    close_fd(second);
}

/* ---- The ends of a connection ---- */

static void refused(void) {
    weft_address where;
    weft_fd fd = WEFT_NO_FD, listener = listen_on("127.0.0.1:0", &where);
    CHECK_EQ(weft_listen(&fd, &where, NULL), -EADDRINUSE);
    close_fd(listener);
    int number = refusing(&where);
    CHECK_EQ(weft_connect(&fd, &where, NULL, weft_after(PATIENCE_NS)), -ECONNREFUSED);
    close(number);
    where = at("192.0.2.77:0");
    CHECK_EQ(weft_listen(&fd, &where, NULL), -EADDRNOTAVAIL);
    CHECK_EQ(fd.bits, 0);
}

TEST(a_port_that_nobody_listens_on_refuses) {
    on_both(refused);
}

static void half(void) {
    weft_fd ends[2];
    char letters[8];
    connected(ends);
    CHECK_EQ(weft_shutdown(ends[0], WEFT_SHUT_WRITE), 0);
    CHECK_EQ(weft_read(ends[1], letters, sizeof letters, weft_after(PATIENCE_NS)), 0);
    check_talk(ends[1], ends[0]); /* the other direction goes on */
    CHECK_EQ(weft_write(ends[0], "x", 1, weft_after(PATIENCE_NS)), -EPIPE);
    CHECK_EQ(weft_shutdown(ends[0], WEFT_SHUT_READ), 0);
    CHECK_EQ(weft_read(ends[0], letters, sizeof letters, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(weft_shutdown(ends[1], WEFT_SHUT_BOTH), 0);
    close_fd(ends[0]);
    close_fd(ends[1]);
}

TEST(one_direction_can_end_before_the_other) {
    on_both(half);
}

static void *read_one(void *opaque) {
    weft_fd *fd = opaque;
    char letter;
    return (void *)weft_read(*fd, &letter, 1, WEFT_NEVER);
}

static void shut_while_read(void) {
    weft_fd ends[2];
    void *result;
    connected(ends);
    weft_fiber reader = spawn_parked(read_one, &ends[0]);
    CHECK_EQ(weft_shutdown(ends[0], WEFT_SHUT_READ), 0);
    JOIN(reader, &result);
    CHECK_EQ((intptr_t)result, 0);
    close_fd(ends[0]);
    close_fd(ends[1]);
}

TEST(a_reader_learns_that_its_direction_has_ended) {
    run_fibers(shut_while_read);
}

static void reset(void) {
    weft_fd ends[2];
    void *result;
    connected(ends);
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    CHECK_EQ(setsockopt(weft_fd_number(ends[1]), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
    weft_fiber reader = spawn_parked(read_one, &ends[0]);
    close_fd(ends[1]);
    JOIN(reader, &result);
    CHECK_EQ((intptr_t)result, -ECONNRESET);
    CHECK_EQ(weft_write(ends[0], "x", 1, weft_after(PATIENCE_NS)), -EPIPE);
    CHECK_EQ(weft_shutdown(ends[0], WEFT_SHUT_BOTH), -ENOTCONN);
    weft_address peer;
    CHECK_EQ(weft_peer_address(ends[0], &peer), -ENOTCONN);
    close_fd(ends[0]);
}

TEST(a_reader_learns_that_the_other_side_has_thrown_it_out) {
    run_fibers(reset);
}

TEST(a_connection_that_was_reset_before_it_was_accepted_does_no_harm) {
    weft_address where;
    weft_fd listener = listen_on("127.0.0.1:0", &where), one = connect_to(&where);
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    CHECK_EQ(setsockopt(weft_fd_number(one), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
    close_fd(one);
    weft_fd other = accept_from(listener); /* Linux gives it all the same */
    char letter;
    CHECK_EQ(weft_read(other, &letter, 1, weft_after(PATIENCE_NS)), -ECONNRESET);
    close_fd(other);
    close_fd(listener);
}

/* ---- Wrong arguments ---- */

TEST(wrong_arguments_are_refused) {
    weft_address where = at("127.0.0.1:0"), bad = where, out;
    weft_fd fd = WEFT_NO_FD;
    weft_socket_options backlog = {.backlog = -1}, buffer = {.send_buffer = -1}, room = {.receive_buffer = -1};
    const weft_socket_options *const wrong[] = {&backlog, &buffer, &room};
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(weft_listen(&fd, &where, wrong[i]), -EINVAL);
        CHECK_EQ(weft_connect(&fd, &where, wrong[i], WEFT_NEVER), -EINVAL);
        CHECK_EQ(weft_datagram_open(&fd, &where, wrong[i]), -EINVAL);
    }
    const weft_address wrongs[] = {
        {.size = 0},
        {.storage = where.storage, .size = 4},
        {.storage = where.storage, .size = sizeof where.storage + 1},
        {.storage = {.ss_family = AF_APPLETALK}, .size = sizeof where.storage},
        {.storage = {.ss_family = AF_UNIX}, .size = sizeof(sa_family_t)},
    };
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        bad = wrongs[i];
        weft_socket_options local = {.local = &bad};
        CHECK_EQ(weft_listen(&fd, &bad, NULL), -EINVAL);
        CHECK_EQ(weft_connect(&fd, &bad, NULL, WEFT_NEVER), -EINVAL);
        CHECK_EQ(weft_connect(&fd, &where, &local, WEFT_NEVER), -EINVAL);
        CHECK_EQ(weft_datagram_open(&fd, &bad, NULL), -EINVAL);
    }
    bad = at("unix:/x");
    memset(((struct sockaddr_un *)&bad.storage)->sun_path, 'x', sizeof((struct sockaddr_un *)0)->sun_path);
    bad.size = sizeof(struct sockaddr_un);
    CHECK_EQ(weft_listen(&fd, &bad, NULL), -EINVAL); /* it does not end */
    CHECK_EQ(weft_listen(NULL, &where, NULL), -EINVAL);
    CHECK_EQ(weft_listen(&fd, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_connect(NULL, &where, NULL, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_connect(&fd, NULL, NULL, WEFT_NEVER), -EINVAL);
    CHECK_EQ(fd.bits, 0);
    CHECK_EQ(weft_local_address(fd, &out), -EBADF);
    CHECK_EQ(weft_peer_address(fd, &out), -EBADF);
    CHECK_EQ(weft_shutdown(fd, WEFT_SHUT_BOTH), -EBADF);
    CHECK_EQ(weft_accept(fd, &fd, NULL, WEFT_NEVER), -EBADF);
}

TEST(only_a_listener_accepts) {
    weft_fd ends[2], fd = WEFT_NO_FD, datagrams;
    weft_address out;
    connected(ends);
    CHECK_EQ(weft_accept(ends[0], &fd, NULL, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_accept(ends[0], NULL, NULL, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_shutdown(ends[0], 3), -EINVAL);
    CHECK_EQ(weft_shutdown(ends[0], -1), -EINVAL);
    CHECK_EQ(weft_local_address(ends[0], NULL), -EINVAL);
    CHECK_EQ(weft_peer_address(ends[0], NULL), -EINVAL);
    close_fd(ends[0]);
    close_fd(ends[1]);
    CHECK_EQ(weft_accept(ends[0], &fd, NULL, WEFT_NEVER), -EBADF);
    CHECK_EQ(weft_pipe(ends), 0);
    CHECK_EQ(weft_accept(ends[0], &fd, NULL, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_shutdown(ends[0], WEFT_SHUT_READ), -ENOTSOCK);
    CHECK_EQ(weft_local_address(ends[0], &out), -ENOTSOCK);
    close_fd(ends[0]);
    close_fd(ends[1]);
    CHECK_EQ(weft_datagram_open(&datagrams, NULL, NULL), 0);
    CHECK_EQ(weft_accept(datagrams, &fd, NULL, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_shutdown(datagrams, WEFT_SHUT_READ), -ENOTCONN);
    CHECK_EQ(weft_peer_address(datagrams, &out), -ENOTCONN);
    close_fd(datagrams);
    CHECK_EQ(fd.bits, 0);
}
