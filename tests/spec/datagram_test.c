/* SPDX-License-Identifier: MIT
 *
 * spec/datagram_test.c - datagrams: one goes in, one comes out, whole or cut.
 *
 * What takes for ever is in net_wait_test.c.
 */
#include "spec/net.h"

static weft_fd open_at(const char *text, weft_address *where) {
    weft_fd fd;
    *where = at(text);
    CHECK_EQ(weft_datagram_open(&fd, where, NULL), 0);
    CHECK_EQ(weft_local_address(fd, where), 0);
    return fd;
}

static ssize_t send_to(weft_fd fd, const char *text, const weft_address *to) {
    return weft_send_to(fd, text, strlen(text), to, weft_after(PATIENCE_NS));
}

static char received[64];

static ssize_t receive(weft_fd fd, size_t size, weft_address *from, bool *was_cut) {
    memset(received, 0, sizeof received);
    return weft_receive_from(fd, received, size, from, was_cut, weft_after(PATIENCE_NS));
}

static void check_exchange(const char *one_text, const char *other_text) {
    weft_address here, there, from;
    bool was_cut = true;
    weft_fd one = open_at(one_text, &here), other = open_at(other_text, &there);
    CHECK_EQ(send_to(one, "hello", &there), 5);
    CHECK_EQ(send_to(one, "", &there), 0);
    CHECK_EQ(send_to(one, "again", &there), 5);
    CHECK_EQ(receive(other, sizeof received, &from, &was_cut), 5);
    CHECK_TEXT(received, "hello");
    CHECK(!was_cut);
    CHECK(weft_address_equal(&from, &here));
    CHECK_EQ(receive(other, sizeof received, NULL, NULL), 0); /* an empty one is one */
    CHECK_EQ(receive(other, 2, NULL, &was_cut), 2);
    CHECK_TEXT(received, "ag");
    CHECK(was_cut);
    CHECK_EQ(send_to(other, "back", &from), 4); /* to where it came from */
    CHECK_EQ(receive(one, sizeof received, NULL, NULL), 4);
    close_fd(one);
    close_fd(other);
}

static void exchanges(void) {
    char one[WEFT_ADDRESS_TEXT], other[WEFT_ADDRESS_TEXT];
    check_exchange("127.0.0.1:0", "127.0.0.1:0");
    if (has_v6())
        check_exchange("[::1]:0", "[::1]:0");
    snprintf(one, sizeof one, "unix:@weft-one-%d", (int)getpid());
    snprintf(other, sizeof other, "unix:%s", scratch_path());
    check_exchange(one, other);
    scratch_path();
}

TEST(datagrams_arrive_as_they_were_sent) {
    on_both(exchanges);
}

static void anywhere(void) {
    weft_address there, here, from;
    weft_fd one, other = open_at("127.0.0.1:0", &there);
    CHECK_EQ(weft_datagram_open(&one, NULL, NULL), 0);
    CHECK_EQ(weft_local_address(one, &here), 0);
    CHECK_NE(weft_address_port(&here), 0);
    CHECK_EQ(send_to(one, "hello", &there), 5);
    CHECK_EQ(receive(other, sizeof received, &from, NULL), 5);
    CHECK_EQ(weft_address_port(&from), weft_address_port(&here));
    CHECK_EQ(send_to(other, "back", &from), 4);
    CHECK_EQ(receive(one, sizeof received, &from, NULL), 4);
    CHECK(weft_address_equal(&from, &there)); /* IPv4, as it was */
    close_fd(other);
    if (has_v6()) {
        other = open_at("[::1]:0", &there);
        CHECK_EQ(send_to(one, "hello", &there), 5);
        CHECK_EQ(receive(other, sizeof received, &from, NULL), 5);
        close_fd(other);
    }
    close_fd(one);
}

TEST(one_socket_speaks_ipv4_and_ipv6) {
    on_both(anywhere);
}

static void connected_datagrams(void) {
    weft_address here, there, elsewhere, peer;
    weft_fd one = open_at("127.0.0.1:0", &here), other = open_at(own_address(), &there);
    weft_fd stranger = open_at("127.0.0.1:0", &elsewhere);
    CHECK_EQ(send_to(one, "x", NULL), -EDESTADDRREQ);
    CHECK_EQ(weft_datagram_connect(one, &there), 0);
    CHECK_EQ(weft_peer_address(one, &peer), 0);
    CHECK(weft_address_equal(&peer, &there));
    CHECK_EQ(send_to(one, "hello", NULL), 5);
    CHECK_EQ(receive(other, sizeof received, NULL, NULL), 5);
    CHECK_EQ(send_to(stranger, "not heard", &here), 9);
    CHECK_EQ(send_to(other, "heard", &here), 5);
    CHECK_EQ(receive(one, sizeof received, NULL, NULL), 5);
    CHECK_TEXT(received, "heard");
    CHECK_EQ(weft_read(one, received, 1, WEFT_NOW), -ETIMEDOUT);
    close_fd(other);
    CHECK_EQ(send_to(one, "is anybody there", NULL), 16);
    CHECK_EQ(receive(one, sizeof received, NULL, NULL), -ECONNREFUSED);
    close_fd(one);
    close_fd(stranger);
}

TEST(a_connected_socket_hears_one_only) {
    on_both(connected_datagrams);
}

TEST(a_path_socket_without_a_peer_says_the_same) {
    weft_address where;
    char text[WEFT_ADDRESS_TEXT];
    snprintf(text, sizeof text, "unix:@weft-alone-%d", (int)getpid());
    weft_fd fd = open_at(text, &where);
    CHECK_EQ(send_to(fd, "x", NULL), -EDESTADDRREQ);
    weft_address nobody = at("unix:@weft-nobody");
    CHECK_EQ(send_to(fd, "x", &nobody), -ECONNREFUSED);
    close_fd(fd);
}

TEST(who_has_no_name_sends_without_one) {
    weft_address where, from;
    char text[WEFT_ADDRESS_TEXT];
    snprintf(text, sizeof text, "unix:@weft-named-%d", (int)getpid());
    weft_fd fd = open_at(text, &where);
    int plain = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    CHECK_EQ(sendto(plain, "hello", 5, 0, (struct sockaddr *)&where.storage, where.size), 5);
    CHECK_EQ(receive(fd, sizeof received, &from, NULL), 5);
    CHECK_EQ(weft_address_format(&from, text, sizeof text), 5);
    CHECK_TEXT(text, "unix:");
    CHECK_EQ(weft_send_to(fd, "x", 1, &from, WEFT_NEVER), -EINVAL);
    close(plain);
    close_fd(fd);
}

TEST(a_datagram_that_is_too_large_is_refused) {
    static char large[70000];
    weft_address where;
    weft_fd fd = open_at("127.0.0.1:0", &where);
    CHECK_EQ(weft_send_to(fd, large, sizeof large, &where, WEFT_NEVER), -EMSGSIZE);
    close_fd(fd);
}

TEST(a_datagram_path_is_taken_over_when_its_owner_has_gone) {
    const char *path = scratch_path();
    weft_address where = at_path(path);
    weft_fd first, second;
    struct stat about;
    weft_socket_options options = {.mode = 0600};
    CHECK_EQ(weft_datagram_open(&first, &where, &options), 0);
    CHECK_EQ(stat(path, &about), 0);
    CHECK_EQ(about.st_mode & 07777, 0600);
    CHECK_EQ(weft_datagram_open(&second, &where, NULL), -EADDRINUSE);
    close_fd(first);
    CHECK_EQ(weft_datagram_open(&second, &where, NULL), 0);
    close_fd(second);
    unlink(path);
}

TEST(options_of_datagrams_are_set) {
    weft_address where = at("127.0.0.1:0"), same;
    weft_socket_options options = {.broadcasts = true, .shares_port = true, .receive_buffer = 30000};
    weft_fd one, other, third;
    CHECK_EQ(weft_datagram_open(&one, &where, &options), 0);
    CHECK_EQ(option_of(one, SOL_SOCKET, SO_BROADCAST), 1);
    CHECK_EQ(option_of(one, SOL_SOCKET, SO_RCVBUF), 60000);
    CHECK_EQ(weft_local_address(one, &same), 0);
    CHECK_EQ(weft_datagram_open(&other, &same, &options), 0);
    CHECK_EQ(weft_datagram_open(&third, &same, NULL), -EADDRINUSE);
    close_fd(one);
    close_fd(other);
    one = open_at("127.0.0.1:0", &where);
    CHECK_EQ(weft_datagram_open(&other, &where, NULL), -EADDRINUSE); /* nobody asked for sharing */
    where = at("255.255.255.255:9");
    CHECK_EQ(send_to(one, "x", &where), -EACCES);
    close_fd(one);
}

static void *receive_one(void *opaque) {
    weft_fd *fd = opaque;
    char byte;
    ssize_t length = weft_receive_from(*fd, &byte, 1, NULL, NULL, WEFT_NEVER);
    return (void *)(intptr_t)(length == 1 ? byte : length);
}

static void several(void) {
    weft_address where, here;
    weft_fd fd = open_at("127.0.0.1:0", &where), one = open_at("127.0.0.1:0", &here);
    weft_fiber fibers[8];
    int letters = 0;
    for (int i = 0; i < 8; i++)
        fibers[i] = spawn_parked(receive_one, &fd);
    for (int i = 0; i < 8; i++)
        CHECK_EQ(weft_send_to(one, &"abcdefgh"[i], 1, &where, WEFT_NEVER), 1);
    for (int i = 0; i < 8; i++) {
        void *result;
        JOIN(fibers[i], &result);
        letters |= 1 << ((intptr_t)result - 'a');
    }
    CHECK_EQ(letters, 255); /* each went to one of them */
    close_fd(fd);
    close_fd(one);
}

TEST(many_wait_and_each_datagram_is_received_once) {
    run_fibers(several);
}

TEST(wrong_arguments_of_datagrams_are_refused) {
    weft_address where, good = at("127.0.0.1:9"), bad = {.size = 0};
    weft_fd ends[2], fd = open_at("127.0.0.1:0", &where);
    char byte;
    CHECK_EQ(weft_datagram_open(NULL, &good, NULL), -EINVAL);
    CHECK_EQ(weft_datagram_connect(fd, NULL), -EINVAL);
    CHECK_EQ(weft_datagram_connect(fd, &bad), -EINVAL);
    CHECK_EQ(weft_send_to(fd, NULL, 1, &good, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_send_to(fd, "x", 1, &bad, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_receive_from(fd, NULL, 1, NULL, NULL, WEFT_NEVER), -EINVAL);
    connected(ends);
    CHECK_EQ(weft_datagram_connect(ends[0], &good), -EINVAL);
    close_fd(ends[0]);
    close_fd(ends[1]);
    close_fd(fd);
    CHECK_EQ(weft_datagram_connect(fd, &good), -EBADF);
    CHECK_EQ(weft_send_to(fd, "x", 1, &good, WEFT_NEVER), -EBADF);
    CHECK_EQ(weft_receive_from(fd, &byte, 1, NULL, NULL, WEFT_NEVER), -EBADF);
    CHECK_EQ(weft_pipe(ends), 0);
    CHECK_EQ(weft_send_to(ends[1], "x", 1, NULL, WEFT_NEVER), -ENOTSOCK);
    CHECK_EQ(weft_receive_from(ends[0], &byte, 1, NULL, NULL, WEFT_NEVER), -ENOTSOCK);
    close_fd(ends[0]);
    close_fd(ends[1]);
}
