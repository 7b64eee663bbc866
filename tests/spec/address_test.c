/* SPDX-License-Identifier: MIT
 *
 * spec/address_test.c - addresses as text and back: what is one, what is none, and which are the same.
 */
#include "spec/net.h"

TEST(an_address_is_the_same_after_text) {
    static const char *const texts[] = {
        "127.0.0.1:80",
        "0.0.0.0:0",
        "255.255.255.255:65535",
        "[::1]:80",
        "[::]:0",
        "[2001:db8::8:800:200c:417a]:443",
        "[fe80::1%lo]:7",
        "unix:/run/app.sock",
        "unix:@abstract",
        "unix:relative",
        "unix:/with:colon",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[WEFT_ADDRESS_TEXT];
        weft_address address = at(texts[i]), again;
        CHECK_EQ(weft_address_format(&address, text, sizeof text), strlen(texts[i]));
        CHECK_TEXT(text, texts[i]);
        again = at(text);
        CHECK(weft_address_equal(&address, &again));
    }
}

TEST(what_is_not_an_address_is_refused) {
    static const char *const texts[] = {
        "",
        "80",
        ":",
        "*",
        "*:",
        "127.0.0.1",
        "127.0.0.1:",
        "127.0.0.1:65536",
        "127.0.0.1:-1",
        "127.0.0.1:+1",
        "127.0.0.1: 80",
        "127.0.0.1:80 ",
        "127.0.0.1:8x",
        "127.0.0.1:99999999999999999999",
        "127.0.1:80",
        "127.0.0.256:80",
        "0x7f.0.0.1:80",
        "localhost:80",
        "::1:80",
        "[::1]",
        "[::1]80",
        "[::1:80",
        "::1]:80",
        "[]:80",
        "[127.0.0.1]:80",
        "[*]:80",
        "[::1%]:80",
        "[::1%none-such]:80",
        "[::1%4294967296]:80",
        "**:80",
        "unix:",
        "unix:@",
        "Unix:/x",
        "http://127.0.0.1:80",
        "[1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb:cccc:dddd]:80",
    };
    weft_address address = at("127.0.0.1:9"), before = address;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (weft_address_parse(&address, texts[i]) != -EINVAL)
            fprintf(stderr, "\"%s\"\n", texts[i]);
        CHECK_EQ(weft_address_parse(&address, texts[i]), -EINVAL);
    }
    CHECK_EQ(weft_address_parse(NULL, "127.0.0.1:80"), -EINVAL);
    CHECK_EQ(weft_address_parse(&address, NULL), -EINVAL);
    CHECK(weft_address_equal(&address, &before));
}

TEST(a_path_may_be_as_long_as_the_system_has_room) {
    char text[256] = "unix:/";
    weft_address address;
    size_t room = sizeof((struct sockaddr_un *)0)->sun_path;
    memset(text + 6, 'x', sizeof text - 7);
    text[5 + room] = 0;
    CHECK_EQ(weft_address_parse(&address, text), -EINVAL);
    text[5 + room - 1] = 0;
    CHECK_EQ(weft_address_parse(&address, text), 0);
    char again[WEFT_ADDRESS_TEXT];
    CHECK_EQ(weft_address_format(&address, again, sizeof again), 5 + room - 1);
    CHECK_TEXT(again, text);
    text[5] = '@';
    CHECK_EQ(weft_address_parse(&address, text), 0);
    CHECK_EQ(weft_address_format(&address, again, sizeof again), 5 + room - 1);
    CHECK_TEXT(again, text);
}

TEST(everything_is_every_address_of_both_families) {
    weft_address star = at("*:80"), nothing = at(":80"), six = at("[::]:80");
    CHECK(weft_address_equal(&star, &six));
    CHECK(weft_address_equal(&nothing, &six));
}

TEST(an_address_from_an_ip_and_a_port) {
    weft_address address, other;
    CHECK_EQ(weft_address_of(&address, "::1", 80), 0);
    other = at("[::1]:80");
    CHECK(weft_address_equal(&address, &other));
    CHECK_EQ(weft_address_port(&address), 80);
    CHECK_EQ(weft_address_of(&address, "10.1.2.3", 65535), 0);
    other = at("10.1.2.3:65535");
    CHECK(weft_address_equal(&address, &other));
    CHECK_EQ(weft_address_of(&address, "::1%lo", 1), 0);
    CHECK(((struct sockaddr_in6 *)&address.storage)->sin6_scope_id != 0);
    CHECK_EQ(weft_address_of(&address, "::1%77", 1), 0);
    CHECK_EQ(((struct sockaddr_in6 *)&address.storage)->sin6_scope_id, 77);
    char text[WEFT_ADDRESS_TEXT];
    CHECK_EQ(weft_address_format(&address, text, sizeof text), 10);
    CHECK_TEXT(text, "[::1%77]:1");
    CHECK_EQ(weft_address_of(&address, "10.1.2.3", 65536), -EINVAL);
    CHECK_EQ(weft_address_of(&address, "", 1), -EINVAL);
    CHECK_EQ(weft_address_of(&address, "example.org", 1), -EINVAL);
    CHECK_EQ(weft_address_of(&address, "[::1]", 1), -EINVAL);
    CHECK_EQ(weft_address_of(NULL, "::1", 1), -EINVAL);
    CHECK_EQ(weft_address_of(&address, NULL, 1), -EINVAL);
}

TEST(text_that_does_not_fit_is_not_written) {
    weft_address address = at("127.0.0.1:80");
    char text[16] = "before";
    CHECK_EQ(weft_address_format(&address, text, 12), -ENOSPC);
    CHECK_EQ(weft_address_format(&address, text, 0), -ENOSPC);
    CHECK_TEXT(text, "before");
    CHECK_EQ(weft_address_format(&address, text, 13), 12);
    CHECK_TEXT(text, "127.0.0.1:80");
    CHECK_EQ(weft_address_format(NULL, text, sizeof text), -EINVAL);
    CHECK_EQ(weft_address_format(&address, NULL, sizeof text), -EINVAL);
    address.storage.ss_family = AF_APPLETALK;
    CHECK_EQ(weft_address_format(&address, text, sizeof text), -EAFNOSUPPORT);
    CHECK_EQ(weft_address_port(&address), 0);
    address = (weft_address){.size = 0};
    CHECK_EQ(weft_address_format(&address, text, sizeof text), -EAFNOSUPPORT);
}

TEST(addresses_are_equal_by_what_they_mean) {
    weft_address one = at("127.0.0.1:80"), other = at("127.0.0.1:81"), path = at("unix:/a"), name = at("unix:@a");
    CHECK(!weft_address_equal(&one, &other));
    CHECK(!weft_address_equal(&one, &path));
    CHECK(!weft_address_equal(&name, &path));
    CHECK(!weft_address_equal(&one, NULL));
    CHECK(!weft_address_equal(NULL, NULL));
    other = at("[::ffff:127.0.0.1]:80");
    CHECK(weft_address_equal(&one, &other));
    other = one;
    ((struct sockaddr_in *)&other.storage)->sin_zero[0] = 1;
    CHECK(weft_address_equal(&one, &other));
    CHECK_EQ(weft_address_port(&path), 0);
    CHECK_EQ(weft_address_port(NULL), 0);
}
