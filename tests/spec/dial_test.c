/* SPDX-License-Identifier: MIT
 *
 * spec/dial_test.c - connections to names and numbers.
 *
 * Several addresses of one name, and what takes for ever, are in unit/io/dial_test.c.
 */
#include "spec/net.h"

static void numbers(void) {
    weft_address where, peer;
    weft_fd listener = listen_on("127.0.0.1:0", &where), fd;
    CHECK_EQ(weft_dial(&fd, "127.0.0.1", weft_address_port(&where), NULL, weft_after(PATIENCE_NS)), 0);
    weft_fd other = accept_from(listener);
    check_talk(fd, other);
    CHECK_EQ(weft_peer_address(fd, &peer), 0);
    CHECK(weft_address_equal(&peer, &where));
    CHECK_EQ(option_of(fd, IPPROTO_TCP, TCP_NODELAY), 1);
    close_fd(fd);
    close_fd(other);
    close_fd(listener);
    if (has_v6()) {
        listener = listen_on("[::1]:0", &where);
        CHECK_EQ(weft_dial(&fd, "::1", weft_address_port(&where), NULL, weft_after(PATIENCE_NS)), 0);
        close_fd(fd);
        close_fd(listener);
    }
}

TEST(a_number_is_dialled_as_it_is) {
    on_both(numbers);
}

static void names(void) {
    weft_address where;
    weft_fd listener = listen_on("127.0.0.1:0", &where), fd;
    CHECK_EQ(weft_dial(&fd, "localhost", weft_address_port(&where), NULL, weft_after(PATIENCE_NS)), 0);
    close_fd(accept_from(listener));
    close_fd(fd);
    close_fd(listener);
}

/* The name may have an address of IPv6 as well, on which nobody listens. */
TEST(a_name_is_looked_up) {
    on_both(names);
}

static void paths(void) {
    char text[WEFT_ADDRESS_TEXT];
    weft_address where;
    snprintf(text, sizeof text, "unix:@weft-dial-%d", (int)getpid());
    weft_fd listener = listen_on(text, &where), fd;
    CHECK_EQ(weft_dial(&fd, text, 7, NULL, weft_after(PATIENCE_NS)), 0);
    weft_fd other = accept_from(listener);
    check_talk(fd, other);
    close_fd(fd);
    close_fd(other);
    close_fd(listener);
    CHECK_EQ(weft_dial(&fd, text, 0, NULL, WEFT_NEVER), -ECONNREFUSED);
    CHECK_EQ(weft_dial(&fd, "unix:", 0, NULL, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_dial(&fd, "unix:/none/such", 0, NULL, WEFT_NEVER), -ENOENT);
}

TEST(a_path_is_dialled_too) {
    on_both(paths);
}

static void failures(void) {
    weft_address where, local = at("127.0.0.2:0");
    weft_fd fd = WEFT_NO_FD;
    struct full full;
    int number = refusing(&where);
    unsigned port = weft_address_port(&where);
    CHECK_EQ(weft_dial(&fd, "127.0.0.1", port, NULL, weft_after(PATIENCE_NS)), -ECONNREFUSED);
    weft_socket_options options = {.local = &local}, wrong = {.backlog = -1};
    CHECK_EQ(weft_dial(&fd, "127.0.0.1", port, &options, weft_after(PATIENCE_NS)), -ECONNREFUSED);
    CHECK_EQ(weft_dial(&fd, "127.0.0.1", port, &wrong, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_dial(&fd, "127.0.0.1", 65536, NULL, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_dial(NULL, "127.0.0.1", port, NULL, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_dial(&fd, NULL, port, NULL, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_dial(&fd, "", port, NULL, WEFT_NEVER), -EINVAL);
    close(number);
    full_open(&full, "127.0.0.1:0");
    port = weft_address_port(&full.where);
    CHECK_EQ(weft_dial(&fd, "127.0.0.1", port, NULL, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_dial(&fd, "127.0.0.1", port, NULL, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    full_close(&full);
    CHECK_EQ(fd.bits, 0);
}

TEST(failures_are_those_of_connecting) {
    on_both(failures);
}

static int dial_silent(void *arg) {
    weft_fd fd;
    return weft_dial(&fd, "127.0.0.1", *(unsigned *)arg, NULL, WEFT_NEVER);
}

static void scope_deadline(void) {
    struct full full;
    full_open(&full, "127.0.0.1:0");
    unsigned port = weft_address_port(&full.where);
    weft_branch branch = {.fn = dial_silent, .arg = &port};
    CHECK_EQ(weft_all(&branch, 1, weft_after(2 * WEFT_MILLISECOND)), -ETIMEDOUT);
    CHECK_EQ(branch.status, -ECANCELED);
    full_close(&full);
}

TEST(a_scope_ends_what_is_dialled_inside) {
    run_fibers(scope_deadline);
}
