/* SPDX-License-Identifier: MIT
 *
 * unit/http/url_test.c - taking URLs apart, and references joined with their base (RFC 3986, 5.4).
 */
#include "http/url.h"
#include "os/fault.h"
#include "os/memory.h"
#include "support/run.h"

static struct wf_url *must_parse(const char *text) {
    struct wf_url *url = NULL;
    int error = wf_url_parse(text, &url);
    if (error)
        fprintf(stderr, "%s\n", text);
    CHECK_EQ(error, 0);
    return url;
}

TEST(urls_are_taken_apart) {
    static const struct {
        const char *text, *host, *authority, *target, *user, *whole;
        unsigned port;
        bool is_secure;
    } cases[] = {
        {"http://a", "a", "a", "/", NULL, "http://a/", 80, false},
        {"HTTP://Example.ORG/Path", "example.org", "example.org", "/Path", NULL, "http://example.org/Path", 80, false},
        {"https://a/", "a", "a", "/", NULL, "https://a/", 443, true},
        {"http://a:8080/b?c=d&e#f", "a", "a:8080", "/b?c=d&e", NULL, "http://a:8080/b?c=d&e", 8080, false},
        {"http://a:80/", "a", "a", "/", NULL, "http://a/", 80, false},
        {"https://a:80/", "a", "a:80", "/", NULL, "https://a:80/", 80, true},
        {"http://a:/", "a", "a", "/", NULL, "http://a/", 80, false},
        {"http://a:0080/", "a", "a", "/", NULL, "http://a/", 80, false},
        {"http://a:65535", "a", "a:65535", "/", NULL, "http://a:65535/", 65535, false},
        {"http://a?b", "a", "a", "/?b", NULL, "http://a/?b", 80, false},
        {"http://a?", "a", "a", "/?", NULL, "http://a/?", 80, false},
        {"http://a#b", "a", "a", "/", NULL, "http://a/", 80, false},
        {"http://user@a/", "a", "a", "/", "user", "http://a/", 80, false},
        {"http://u%20ser:p%40ss@a:1/", "a", "a:1", "/", "u ser:p@ss", "http://a:1/", 1, false},
        {"http://@a/", "a", "a", "/", "", "http://a/", 80, false},
        {"http://[::1]/", "::1", "[::1]", "/", NULL, "http://[::1]/", 80, false},
        {"http://[2001:DB8::1]:81/x", "2001:db8::1", "[2001:db8::1]:81", "/x", NULL, "http://[2001:db8::1]:81/x", 81,
         false},
        {"http://[::ffff:1.2.3.4]", "::ffff:1.2.3.4", "[::ffff:1.2.3.4]", "/", NULL, "http://[::ffff:1.2.3.4]/", 80,
         false},
        {"http://127.0.0.1:9/", "127.0.0.1", "127.0.0.1:9", "/", NULL, "http://127.0.0.1:9/", 9, false},
        {"http://a/./b/../c/.", "a", "a", "/c/", NULL, "http://a/c/", 80, false},
        {"http://a/../../b", "a", "a", "/b", NULL, "http://a/b", 80, false},
        {"http://a/b/..", "a", "a", "/", NULL, "http://a/", 80, false},
        {"http://a/..b/.c/d..", "a", "a", "/..b/.c/d..", NULL, "http://a/..b/.c/d..", 80, false},
        {"http://a//b///c", "a", "a", "//b///c", NULL, "http://a//b///c", 80, false},
        {"http://a/%41%2f", "a", "a", "/%41%2f", NULL, "http://a/%41%2f", 80, false},
        {"http://a/\xc3\xa4?\xc3\xa4", "a", "a", "/%C3%A4?%C3%A4", NULL, "http://a/%C3%A4?%C3%A4", 80, false},
        {"http://a/{b}|\\^`\"<>?{b}|\\\"<>", "a", "a", "/%7Bb%7D%7C%5C%5E%60%22%3C%3E?{b}|\\%22%3C%3E", NULL,
         "http://a/%7Bb%7D%7C%5C%5E%60%22%3C%3E?{b}|\\%22%3C%3E", 80, false},
        {"http://a/b?/../c?d", "a", "a", "/b?/../c?d", NULL, "http://a/b?/../c?d", 80, false},
        {"http://a/b@c:d", "a", "a", "/b@c:d", NULL, "http://a/b@c:d", 80, false},
        {"http://a_b-c.d~e/", "a_b-c.d~e", "a_b-c.d~e", "/", NULL, "http://a_b-c.d~e/", 80, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wf_url *url = must_parse(cases[i].text);
        CHECK_TEXT(url->host, cases[i].host);
        CHECK_TEXT(url->authority, cases[i].authority);
        CHECK_TEXT(url->target, cases[i].target);
        CHECK_TEXT(url->user ? url->user : "(none)", cases[i].user ? cases[i].user : "(none)");
        CHECK_TEXT(url->text, cases[i].whole);
        CHECK_EQ(url->port, cases[i].port);
        CHECK_EQ(url->is_secure, cases[i].is_secure);
        wf_os_free(url);
    }
}

static const struct {
    const char *text;
    int error;
} wrong_urls[] = {
    {"", -EINVAL},
    {"a", -EINVAL},
    {"//a/", -EINVAL},
    {"/a", -EINVAL},
    {"http:", -EINVAL},
    {"http:/a", -EINVAL},
    {"http:a", -EINVAL},
    {"http://", -EINVAL},
    {"http:///a", -EINVAL},
    {"http://?a", -EINVAL},
    {"http://:80/", -EINVAL},
    {"http://user@/", -EINVAL},
    {"http://user@:80/", -EINVAL},
    {"http://a:0/", -EINVAL},
    {"http://a:65536/", -EINVAL},
    {"http://a:4294967376/", -EINVAL},
    {"http://a:-1/", -EINVAL},
    {"http://a:+1/", -EINVAL},
    {"http://a:1x/", -EINVAL},
    {"http://a:b:c/", -EINVAL},
    {"http://a:80:80/", -EINVAL},
    {"http://a b/", -EINVAL},
    {"http://a/b c", -EINVAL},
    {" http://a/", -EINVAL},
    {"http://a/ ", -EINVAL},
    {"http://a/\t", -EINVAL},
    {"http://a/\r\nX: y", -EINVAL},
    {"http://a/\x01", -EINVAL},
    {"http://a/\x7f", -EINVAL},
    {"http://a/#\n", -EINVAL},
    {"http://a/%", -EINVAL},
    {"http://a/%1", -EINVAL},
    {"http://a/%1g", -EINVAL},
    {"http://a/?%", -EINVAL},
    {"http://%61/", -EINVAL},
    {"http://\xc3\xa4/", -EINVAL},
    {"http://a,b/", -EINVAL},
    {"http://a\\@b/", -EINVAL},
    {"http://a@b@c/", -EINVAL},
    {"http://a%00@b/", -EINVAL},
    {"http://a%0a@b/", -EINVAL},
    {"http://a%4@b/", -EINVAL},
    {"http://[a@b/", -EINVAL},
    {"http://[::1/", -EINVAL},
    {"http://[]/", -EINVAL},
    {"http://[::1]x/", -EINVAL},
    {"http://[::1]:x/", -EINVAL},
    {"http://[127.0.0.1]/", -EINVAL},
    {"http://[::g]/", -EINVAL},
    {"http://[fe80::1%25lo]/", -EINVAL},
    {"http://::1/", -EINVAL},
    {"ftp://a/", -EPROTONOSUPPORT},
    {"httpx://a/", -EPROTONOSUPPORT},
    {"htt://a/", -EPROTONOSUPPORT},
    {"javascript:alert(1)", -EPROTONOSUPPORT},
    {"a:80", -EPROTONOSUPPORT},
    {"1http://a/", -EINVAL},
};

TEST(what_is_no_url_is_refused) {
    for (size_t i = 0; i < sizeof wrong_urls / sizeof *wrong_urls; i++) {
        struct wf_url *url = NULL;
        int error = wf_url_parse(wrong_urls[i].text, &url);
        if (error != wrong_urls[i].error)
            fprintf(stderr, "%s\n", wrong_urls[i].text);
        CHECK_EQ(error, wrong_urls[i].error);
        CHECK(url == NULL);
    }
}

TEST(urls_have_a_longest_length) {
    struct wf_url *url = NULL;
    char *text = malloc(WF_URL_MOST + 2);
    memset(text, '|', WF_URL_MOST + 1); /* each becomes three bytes */
    memcpy(text, "http://a/", 9);
    text[WF_URL_MOST + 1] = 0;
    CHECK_EQ(wf_url_parse(text, &url), -EINVAL);
    text[WF_URL_MOST] = 0;
    url = must_parse(text);
    CHECK_EQ(strlen(url->target), 1 + 3 * (WF_URL_MOST - 9));
    wf_os_free(url);
    memset(text, 'a', WF_URL_MOST);
    memcpy(text, "http://", 7);
    CHECK_EQ(wf_url_parse(text, &url), -EINVAL); /* a host of 8 KiB */
    text[7 + 253] = 0;
    url = must_parse(text);
    wf_os_free(url);
    free(text);
}

TEST(references_are_joined_with_their_base) {
    static const struct {
        const char *reference, *whole;
    } cases[] = {
        {"http://x/y", "http://x/y"}, /* RFC 3986, 5.4.1 and 5.4.2, as far as they are of the web */
        {"g", "http://a/b/c/g"},
        {"./g", "http://a/b/c/g"},
        {"g/", "http://a/b/c/g/"},
        {"/g", "http://a/g"},
        {"//g", "http://g/"},
        {"?y", "http://a/b/c/d;p?y"},
        {"g?y", "http://a/b/c/g?y"},
        {"#s", "http://a/b/c/d;p?q"},
        {"g#s", "http://a/b/c/g"},
        {"g?y#s", "http://a/b/c/g?y"},
        {";x", "http://a/b/c/;x"},
        {"g;x", "http://a/b/c/g;x"},
        {"g;x?y#s", "http://a/b/c/g;x?y"},
        {"", "http://a/b/c/d;p?q"},
        {".", "http://a/b/c/"},
        {"./", "http://a/b/c/"},
        {"..", "http://a/b/"},
        {"../", "http://a/b/"},
        {"../g", "http://a/b/g"},
        {"../..", "http://a/"},
        {"../../", "http://a/"},
        {"../../g", "http://a/g"},
        {"../../../g", "http://a/g"},
        {"../../../../g", "http://a/g"},
        {"/./g", "http://a/g"},
        {"/../g", "http://a/g"},
        {"g.", "http://a/b/c/g."},
        {".g", "http://a/b/c/.g"},
        {"g..", "http://a/b/c/g.."},
        {"..g", "http://a/b/c/..g"},
        {"./../g", "http://a/b/g"},
        {"./g/.", "http://a/b/c/g/"},
        {"g/./h", "http://a/b/c/g/h"},
        {"g/../h", "http://a/b/c/h"},
        {"g;x=1/./y", "http://a/b/c/g;x=1/y"},
        {"g;x=1/../y", "http://a/b/c/y"},
        {"g?y/./x", "http://a/b/c/g?y/./x"},
        {"g?y/../x", "http://a/b/c/g?y/../x"},
        {"g#s/../x", "http://a/b/c/g"},
        {"?", "http://a/b/c/d;p?"},
        {"//user@g:81/h", "http://g:81/h"},
        {"https://a", "https://a/"},
    };
    struct wf_url *base = must_parse("http://user@a/b/c/d;p?q");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wf_url *url = NULL;
        CHECK_EQ(wf_url_join(base, cases[i].reference, &url), 0);
        CHECK_TEXT(url->text, cases[i].whole);
        wf_os_free(url);
    }
    static const char *const wrong[] = {"http:g", "http://", "//", "a b", "g\r\n", "%zz", "///x", "//a:b"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct wf_url *url = NULL;
        CHECK_EQ(wf_url_join(base, wrong[i], &url), -EINVAL);
        CHECK(url == NULL);
    }
    wf_os_free(base);
    base = must_parse("https://a:8443");
    struct wf_url *url;
    CHECK_EQ(wf_url_join(base, "b", &url), 0);
    CHECK_TEXT(url->text, "https://a:8443/b");
    CHECK(wf_url_same_origin(base, url));
    wf_os_free(url);
    wf_os_free(base);
}

TEST(an_origin_is_scheme_host_and_port) {
    static const struct {
        const char *left, *right;
        bool is_same;
    } cases[] = {
        {"http://a/b", "http://A:80/c?d", true}, {"http://a", "https://a", false},
        {"http://a:443", "https://a", false},    {"http://a", "http://b", false},
        {"http://a", "http://a:81", false},      {"http://[::1]", "http://[::1]:80", true},
        {"http://u@a", "http://v@a", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wf_url *left = must_parse(cases[i].left), *right = must_parse(cases[i].right);
        CHECK_EQ(wf_url_same_origin(left, right), cases[i].is_same);
        wf_os_free(left);
        wf_os_free(right);
    }
}

TEST(urls_without_memory_are_told) {
    struct wf_url *base = must_parse("http://a/b/c"), *url = NULL;
    for (long nth = 1; nth <= 2; nth++) {
        wf_fault_order(WF_CALL_ALLOC, nth, ENOMEM, 0);
        CHECK_EQ(wf_url_join(base, "d", &url), -ENOMEM);
        CHECK(url == NULL);
    }
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
    wf_os_free(base);
}

/* Whatever comes out of random bytes can be taken apart again, and comes out as it is. */
TEST(what_was_parsed_parses_again) {
    static const char alphabet[] = "ahtp:/@?#[].%2f\\ {\x80-_~1";
    uint64_t seed = wf_test_seed();
    for (long i = 0; i < scaled(200000, 5000); i++) {
        char text[32] = "http://";
        size_t size = 7 + random_below(&seed, 20);
        for (size_t j = random_below(&seed, 4) ? 7 : 0; j < size; j++)
            text[j] = alphabet[random_below(&seed, sizeof alphabet - 1)];
        struct wf_url *first, *again;
        if (wf_url_parse(text, &first) != 0)
            continue;
        again = must_parse(first->text);
        CHECK_TEXT(again->text, first->text);
        CHECK_TEXT(again->host, first->host);
        CHECK_TEXT(again->target, first->target);
        CHECK_EQ(again->port, first->port);
        for (const char *at = first->text; *at; at++)
            CHECK(*at > ' ' && *at < 0x7f);
        wf_os_free(first);
        wf_os_free(again);
    }
}
