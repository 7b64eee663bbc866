/* SPDX-License-Identifier: MIT
 *
 * unit/http/gzip_test.c - packed responses: which, what their heads say, what is in them.
 *
 * Heads are seen by the client of support/http.h, which unpacks nothing; bodies by weft's own, which does.
 */
#include "http/http.h"
#include "os/fault.h"
#include "support/http.h"
#include "support/scratch.h"
#include "weft/http_client.h"
#include "weft/panic.h"

enum { LONG = 300000, PIECES = 20 };

static char *long_text;

static void make_text(void) {
    long_text = malloc(LONG);
    CHECK(long_text != NULL);
    for (int i = 0; i < LONG; i++)
        long_text[i] = (char)('a' + ((unsigned)i * (unsigned)i / 7) % 23);
}

static void whole(weft_http *http, void *arg) {
    (void)arg;
    CHECK_EQ(weft_http_reply(http, 200, "text/plain; charset=utf-8", long_text, LONG), 0);
}
static void little(weft_http *http, void *arg) {
    (void)arg;
    CHECK_EQ(weft_http_reply(http, 200, "text/plain", long_text, 255), 0);
}
static void pieces(weft_http *http, void *arg) {
    (void)arg;
    weft_http_set(http, "Content-Type", "application/ld+json");
    weft_http_set(http, "ETag", "\"one\"");
    for (int i = 0; i < PIECES; i++)
        CHECK_EQ(weft_http_write(http, long_text + i * (LONG / PIECES), LONG / PIECES), 0);
}
static void picture(weft_http *http, void *arg) {
    (void)arg;
    weft_http_reply(http, 200, "image/png", long_text, LONG);
}
static void untyped(weft_http *http, void *arg) {
    (void)arg;
    weft_http_write(http, long_text, LONG);
}
static void packed_already(weft_http *http, void *arg) {
    (void)arg;
    weft_http_set(http, "Content-Encoding", "br");
    weft_http_reply(http, 200, "text/plain", long_text, LONG);
}
static void as_it_is(weft_http *http, void *arg) {
    (void)arg;
    weft_http_set(http, "Cache-Control", "public, no-transform");
    weft_http_reply(http, 200, "text/plain", long_text, LONG);
}
static void too_short(weft_http *http, void *arg) {
    (void)arg;
    weft_http_set(http, "Content-Type", "text/plain");
    weft_http_set(http, "Content-Length", "1000");
    CHECK_EQ(weft_http_write(http, long_text, 900), 0);
    CHECK_EQ(weft_http_write(http, long_text, 101), -EMSGSIZE);
}
static void full_head(weft_http *http, void *arg) {
    char value[WF_HTTP_SET];
    (void)arg;
    weft_http_set(http, "Content-Type", "text/plain");
    weft_http_set(http, "ETag", "\"one\"");
    memset(value, 'x', sizeof value);
    value[WF_HTTP_SET - 26 - 13 - 8 - 23 - 24 - 1] = 0; /* room for Vary and the encoding, and a byte */
    CHECK_EQ(weft_http_set(http, "Full", value), 0);
    weft_http_reply(http, 200, NULL, long_text, LONG);
}
static int nth_refused;
static void starved(weft_http *http, void *arg) {
    (void)arg;
    weft_http_set(http, "Content-Type", "text/plain");
    wf_fault_order_here(WF_CALL_ALLOC, nth_refused, ENOMEM, false);
    int error = weft_http_write(http, long_text, 1); /* with the head, and kept: nothing waits */
    wf_fault_order_here(WF_CALL_ALLOC, 0, 0, false);
    CHECK_EQ(error, 0);
    CHECK_EQ(weft_http_write(http, long_text + 1, LONG - 1), 0);
}
static atomic_int may_end;
static void events(weft_http *http, void *arg) {
    (void)arg;
    CHECK_EQ(weft_http_event(http, NULL, "one", NULL), 0);
    WAIT_UNTIL(atomic_load(&may_end));
    CHECK_EQ(weft_http_event(http, NULL, "two", NULL), 0);
}
static void panics(weft_http *http, void *arg) {
    (void)arg;
    weft_http_set(http, "Content-Type", "text/plain");
    weft_http_write(http, long_text, LONG);
    weft_panic("enough");
}
static void file(weft_http *http, void *arg) {
    (void)arg;
    CHECK_EQ(weft_http_file(http, AT("long.txt"), NULL), 0);
}

static void open_site(void) {
    make_text();
    FILE *out = fopen(AT("long.txt"), "w");
    CHECK(out != NULL);
    CHECK_EQ(fwrite(long_text, 1, LONG, out), LONG);
    fclose(out);
    site_open(NULL);
    CHECK_EQ(weft_http_gzip(NULL, 1), -EINVAL);
    CHECK_EQ(weft_http_gzip(site.server, 0), -EINVAL);
    CHECK_EQ(weft_http_gzip(site.server, 10), -EINVAL);
    CHECK_EQ(weft_http_gzip(site.server, 6), 0);
    site_route("GET /whole", whole);
    site_route("GET /little", little);
    site_route("GET /pieces", pieces);
    site_route("GET /picture", picture);
    site_route("GET /untyped", untyped);
    site_route("GET /already", packed_already);
    site_route("GET /as-it-is", as_it_is);
    site_route("GET /short", too_short);
    site_route("GET /full", full_head);
    site_route("GET /events", events);
    site_route("GET /panic", panics);
    site_route("GET /file", file);
    site_route("GET /starved", starved);
    site_serve();
}

static void close_site(void) {
    site_close();
    free(long_text);
}

static struct answer *ask_taking(struct client *client, const char *method, const char *target, const char *taken) {
    char text[512];
    snprintf(text, sizeof text, "%s %s HTTP/1.1\r\nHost: a\r\n%s%s%s\r\n", method, target,
             taken ? "Accept-Encoding: " : "", taken ? taken : "", taken ? "\r\n" : "");
    client_send(client, text);
    return client_receive(client, method);
}

static bool has_header(struct answer *answer, const char *name, const char *wanted) {
    const char *value = answer_header(answer, name);
    return value && strcmp(value, wanted) == 0;
}

static bool is_packed(struct answer *answer) {
    CHECK_EQ(answer->status, 200);
    bool is = has_header(answer, "Content-Encoding", "gzip");
    CHECK_EQ(is, (unsigned char)answer->body[0] == 0x1f && (unsigned char)answer->body[1] == 0x8b);
    CHECK(!is || (answer->is_chunked && answer->length < 0 && answer->size < LONG));
    CHECK(!is || has_header(answer, "Vary", "Accept-Encoding"));
    return is;
}

/* ---- Which ---- */

static void ask_for_kinds(void) {
    static const struct {
        const char *target;
        bool is_packed, varies;
    } kinds[] = {
        {"/whole", true, true},     {"/pieces", true, true},     {"/file", true, true},
        {"/little", false, false},  {"/picture", false, false},  {"/untyped", false, false},
        {"/already", false, false}, {"/as-it-is", false, false}, {"/full", false, true},
    };
    open_site();
    struct client *client = client_open();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct answer *answer = ask_taking(client, "GET", kinds[i].target, "gzip");
        CHECK_EQ(is_packed(answer), kinds[i].is_packed);
        CHECK_EQ(answer_count(answer, "Vary"), kinds[i].varies);
        answer = ask_taking(client, "GET", kinds[i].target, NULL);
        CHECK(!is_packed(answer));
        CHECK_EQ(answer_count(answer, "Vary"), kinds[i].varies);
    }
    CHECK_EQ(weft_http_gzip(site.server, 6), -EBUSY); /* it serves */
    CHECK(has_header(ask_taking(client, "GET", "/pieces", "gzip"), "ETag", "W/\"one\""));
    CHECK(has_header(ask_taking(client, "GET", "/pieces", NULL), "ETag", "\"one\""));
    CHECK(has_header(ask_taking(client, "GET", "/full", "gzip"), "ETag", "\"one\""));
    client_close(client);
    close_site();
}
TEST(text_is_packed_and_nothing_else) {
    run_in_scratch(ask_for_kinds);
}

static void ask_in_all_ways(void) {
    static const char *const yes[] = {"gzip", "GZip",         "x-gzip",          "deflate, gzip;q=0.1",
                                      "*",    "br , , gzip ", "gzip;q=1, *;q=0", "identity;q=0.5, *;q=0.001"};
    static const char *const no[] = {"", "gzip;q=0", "gzip; q=0.000", "*, gzip;q=0", "*;q=0", "gzipped", "br", ",,;"};
    open_site();
    struct client *client = client_open();
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        CHECK(is_packed(ask_taking(client, "GET", "/whole", yes[i])));
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        CHECK(!is_packed(ask_taking(client, "GET", "/whole", no[i])));
    client_close(client);
    close_site();
}
TEST(a_client_gets_gzip_only_when_it_takes_it) {
    run_in_scratch(ask_in_all_ways);
}

static void ask_specially(void) {
    open_site();
    struct client *client = client_open();
    struct answer *answer = ask_taking(client, "HEAD", "/whole", "gzip");
    CHECK(has_header(answer, "Content-Encoding", "gzip"));
    CHECK_EQ(answer->length, -1);
    answer = ask_taking(client, "GET", "/file", "gzip\r\nRange: bytes=0-999");
    CHECK_EQ(answer->status, 206);
    CHECK(answer_header(answer, "Content-Encoding") == NULL);
    CHECK_EQ(answer->length, 1000);
    answer = ask_taking(client, "GET", "/file", "gzip");
    char condition[ANSWER_HEAD + 64];
    CHECK(strncmp(answer_header(answer, "ETag"), "W/\"", 3) == 0);
    snprintf(condition, sizeof condition, "gzip\r\nIf-None-Match: %s", answer_header(answer, "ETag"));
    CHECK_EQ(ask_taking(client, "GET", "/file", condition)->status, 304);
    client_send(client, "GET /whole HTTP/1.0\r\nAccept-Encoding: gzip\r\n\r\n"); /* up to the end of the connection */
    answer = client_receive(client, "GET");
    CHECK(has_header(answer, "Content-Encoding", "gzip"));
    CHECK(!answer->is_chunked && answer->says_close);
    client_close(client);
    close_site();
}
TEST(heads_ranges_conditions_and_old_clients) {
    run_in_scratch(ask_specially);
}

/* ---- What is in it ---- */

static weft_http_client *agent;
static char url[256];

static const char *at_site(const char *path) {
    char where[WEFT_ADDRESS_TEXT];
    CHECK_GE(weft_address_format(&site.where, where, sizeof where), 0);
    snprintf(url, sizeof url, "http://%s%s", where, path);
    return url;
}

static void fetch_long(const char *path) {
    weft_http_response *response;
    const void *bytes;
    size_t size;
    CHECK_EQ(weft_http_fetch(agent, "GET", at_site(path), NULL, 0, &response, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(weft_http_response_body(response, &bytes, &size, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(size, LONG);
    CHECK(memcmp(bytes, long_text, LONG) == 0);
    weft_http_response_close(response);
}

static void fetch_all(void) {
    open_site();
    CHECK_EQ(weft_http_client_new(&agent, NULL), 0);
    for (int i = 0; i < 3; i++) { /* packers are used again */
        fetch_long("/whole");
        fetch_long("/pieces");
        fetch_long("/file");
    }
    weft_http_client_free(agent);
    close_site();
}
TEST(what_was_packed_is_what_was_sent) {
    run_in_scratch(fetch_all);
}

static void read_text(weft_http_response *response, const char *wanted) {
    char bytes[64];
    for (size_t done = 0; done < strlen(wanted);) {
        ssize_t count = weft_http_response_read(response, bytes + done, strlen(wanted) - done, weft_after(PATIENCE_NS));
        CHECK_GE(count, 1);
        done += (size_t)count;
    }
    CHECK(memcmp(bytes, wanted, strlen(wanted)) == 0);
}

static void read_events(void) {
    weft_http_response *response;
    open_site();
    atomic_store(&may_end, 0);
    CHECK_EQ(weft_http_client_new(&agent, NULL), 0);
    CHECK_EQ(weft_http_request_open(agent, "GET", at_site("/events"), NULL, &response, weft_after(PATIENCE_NS)), 0);
    CHECK_TEXT(weft_http_response_header(response, "Content-Encoding"), "gzip");
    read_text(response, "data: one\n\n");
    atomic_store(&may_end, 1);
    read_text(response, "data: two\n\n");
    weft_http_response_close(response);
    weft_http_client_free(agent);
    close_site();
}
TEST(what_was_flushed_can_be_unpacked) {
    run_in_scratch(read_events);
}

/* ---- What goes wrong ---- */

static void ask_for_broken(void) {
    open_site();
    struct client *client = client_open();
    bool has_packed = false;
    for (nth_refused = 1; !has_packed; nth_refused++) { /* each block that a packer needs */
        struct answer *answer = ask_taking(client, "GET", "/starved", "gzip");
        has_packed = is_packed(answer);
        CHECK(!answer->is_cut);
    }
    CHECK(nth_refused > 3 && nth_refused < 12);
    client_close(client);
    static const char *const targets[] = {"/short", "/panic"};
    for (int i = 0; i < 2; i++) {
        client = client_open();
        CHECK(ask_taking(client, "GET", targets[i], "gzip")->is_cut);
        client_close(client);
    }
    close_site();
}
TEST(without_memory_it_goes_as_it_is_and_a_broken_body_has_no_end) {
    run_in_scratch(ask_for_broken);
}

static int leave_in_the_middle(void *arg) {
    (void)arg;
    open_site();
    atomic_store(&may_end, 0);
    struct client *client = client_open();
    client_send(client, "GET /events HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n");
    CHECK(client_head(client));
    client_close(client);
    return 0;
}
TEST(a_body_that_is_dropped_with_its_runtime_leaves_nothing) {
    weft_options options = {.abandon = true};
    scratch_begin();
    CHECK_EQ(weft_run(&options, leave_in_the_middle, NULL), 0);
    CHECK_EQ(weft_http_server_stop(site.server, WEFT_NEVER), 0);
    site_free();
    free(long_text);
    scratch_end();
}
