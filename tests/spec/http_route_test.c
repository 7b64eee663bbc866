/* SPDX-License-Identifier: MIT
 *
 * spec/http_route_test.c - which handler a request goes to, and what that sees of it.
 */
#include "support/http.h"

/* Says who it is, and what it was given. */
static void tell(weft_http *http, void *arg) {
    static const char *const names[] = {"id", "name", "+"};
    CHECK_EQ(weft_http_print(http, "%s", (const char *)arg), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = weft_http_parameter(http, names[i]);
        if (value)
            CHECK_EQ(weft_http_print(http, " %s=%s", names[i], value), 0);
    }
    CHECK(weft_http_parameter(http, "none") == NULL);
    CHECK(weft_http_parameter(http, "") == NULL);
    CHECK(weft_http_parameter(http, NULL) == NULL);
}

static void add(const char *pattern) {
    CHECK_EQ(weft_http_route(site.server, pattern, tell, (void *)pattern), 0);
}

struct example {
    const char *method;
    const char *target;
    int status;
    const char *body;
};

static void check_examples(const struct example *examples, size_t count) {
    struct client *client = client_open();
    for (size_t i = 0; i < count; i++) {
        struct answer *answer = client_ask(client, examples[i].method, examples[i].target, examples[i].status);
        if (answer->status == 200 && strcmp(examples[i].method, "HEAD") != 0)
            CHECK_TEXT(answer->body, examples[i].body);
    }
    client_close(client);
}

static const struct example routes[] = {
    {"GET", "/", 200, "GET /"},
    {"GET", "/users/me", 200, "GET /users/me"},
    {"GET", "/users/7", 200, "GET /users/:id id=7"},
    {"GET", "/users/men", 200, "GET /users/:id id=men"},
    {"GET", "/users/a%20b%C3%A4", 200, "GET /users/:id id=a b\xc3\xa4"},
    {"GET", "/users/7?x=/y", 200, "GET /users/:id id=7"},
    {"POST", "/users/7", 200, "POST /users/:id id=7"},
    {"POST", "/users/me", 200, "POST /users/:id id=me"}, /* the exact one is not for it */
    {"DELETE", "/users/7", 405, ""},
    {"GET", "/users/7/posts/9", 200, "GET /users/:id/posts/:name id=7 name=9"},
    {"GET", "/users/me/posts/9", 200, "GET /users/:id/posts/:name id=me name=9"}, /* back from the exact one */
    {"GET", "/users/7/none", 404, ""},
    {"GET", "/users/", 404, ""},
    {"GET", "/users", 404, ""},
    {"GET", "/users/7/", 404, ""},
    {"GET", "/files/a", 200, "GET /files/+ +=a"},
    {"GET", "/files/a/b/c", 200, "GET /files/+ +=a/b/c"},
    {"GET", "/files/a/", 200, "GET /files/+ +=a/"},
    {"GET", "/files/", 404, ""},
    {"GET", "/files", 404, ""},
    {"GET", "/files/x/../y", 200, "GET /files/+ +=y"},
    {"GET", "/files/exact", 200, "GET /files/exact"},
    {"GET", "/files/exact/more", 200, "GET /files/+ +=exact/more"},
    {"HEAD", "/users/me", 200, ""},
    {"HEAD", "/own", 200, ""},
    {"PATCH", "/any", 200, "/any"},
    {"GET", "/any", 200, "GET /any"},
    {"GET", "/users/%2E%2E/any", 200, "GET /any"},
    {"GET", "/%61ny", 200, "GET /any"},
    {"GET", "/ANY", 404, ""},
    {"GET", "//", 404, ""},
    {"GET", "/slash/", 200, "GET /slash/"},
    {"GET", "/slash", 404, ""},
    {"GET", "http://other/users/me", 200, "GET /users/me"},
    {"GET", "http://other", 200, "GET /"},
    {"GET", "http://other?q", 200, "GET /"},
    {"OPTIONS", "*", 204, ""},
    {"OPTIONS", "/any", 200, "/any"},
    {"OPTIONS", "/own", 405, ""},
};

static void run_routes(void) {
    site_open(NULL);
    add("GET /users/:id");
    add("GET /");
    add("GET /users/me");
    add("POST /users/:id");
    add("GET /users/:id/posts/:name");
    add("GET /files/+");
    add("GET /files/exact");
    add("/any");
    add("GET /any");
    add("HEAD /own");
    add("GET /slash/");
    site_serve();
    check_examples(routes, sizeof routes / sizeof *routes);
    site_close();
}
TEST(exact_segments_come_before_parameters_and_those_before_the_rest) {
    run_fibers(run_routes);
}

static void run_allow(void) {
    site_open(NULL);
    add("GET /both");
    add("POST /both");
    add("PUT /one");
    site_serve();
    struct client *client = client_open();
    struct answer *answer = client_ask(client, "DELETE", "/both", 405);
    const char *allow = answer_header(answer, "Allow");
    CHECK(allow != NULL);
    CHECK(strstr(allow, "GET") && strstr(allow, "POST") && strstr(allow, "HEAD"));
    CHECK_TEXT(answer_header(client_ask(client, "GET", "/one", 405), "Allow"), "PUT");
    client_close(client);
    site_close();
}
TEST(who_asks_with_another_method_learns_which_there_are) {
    run_fibers(run_allow);
}

TEST(patterns_say_what_they_cannot_be) {
    static const char *const bad[] = {"",       "x",    "GET",          "GET ",        "GET x",
                                      "get /x", " /x",  "GET  /x",      "G(T /",       "/:",
                                      "/a/:/b", "/+/a", "GET /:id/+/x", "/users/:a/:", "ABCDEFGHIJKLMNOPQRSTUVWXYZ /"};
    CHECK_EQ(weft_http_server_new(&site.server, NULL), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *copy = strdup(bad[i]); /* of its own size, for a sanitizer */
        int error = weft_http_route(site.server, copy, tell, NULL);
        if (error != -EINVAL)
            fprintf(stderr, "\"%s\"\n", copy);
        CHECK_EQ(error, -EINVAL);
        free(copy);
    }
    CHECK_EQ(weft_http_route(NULL, "/", tell, NULL), -EINVAL);
    CHECK_EQ(weft_http_route(site.server, NULL, tell, NULL), -EINVAL);
    CHECK_EQ(weft_http_route(site.server, "/", NULL, NULL), -EINVAL);
    CHECK_EQ(weft_http_route(site.server, "/a/:b", tell, NULL), 0);
    CHECK_EQ(weft_http_route(site.server, "/a/:b", tell, NULL), -EEXIST);
    CHECK_EQ(weft_http_route(site.server, "GET /a/:b", tell, NULL), 0);
    CHECK_EQ(weft_http_route(site.server, "GET /a/:b", tell, NULL), -EEXIST);
    CHECK_EQ(weft_http_route(site.server, "GET /a/:c", tell, NULL), -EINVAL); /* one place, two names */
    char many[200] = "";
    for (int i = 0; i < 16; i++)
        sprintf(many + strlen(many), "/:p%d", i);
    CHECK_EQ(weft_http_route(site.server, many, tell, NULL), 0);
    strcat(many, "/:p16");
    CHECK_EQ(weft_http_route(site.server, many, tell, NULL), -EINVAL);
    weft_http_server_free(site.server);
}

/* ---- What a handler sees ---- */

static void show(weft_http *http, void *arg) {
    (void)arg;
    const char *name, *value;
    weft_address peer;
    char text[WEFT_ADDRESS_TEXT];
    CHECK_EQ(weft_http_peer(http, NULL), -EINVAL);
    CHECK_EQ(weft_http_peer(http, &peer), 0);
    CHECK(weft_address_format(&peer, text, sizeof text) > 0);
    CHECK(strncmp(text, "127.0.0.1:", 10) == 0);
    weft_http_print(http, "%s|%s|%s|%s|%d|%d", weft_http_method(http), weft_http_target(http), weft_http_path(http),
                    weft_http_query(http), weft_http_is_1_1(http), (int)weft_http_body_size(http));
    for (size_t i = 0; weft_http_header_at(http, i, &name, &value); i++)
        weft_http_print(http, "|%s=%s", name, value);
    CHECK(!weft_http_header_at(http, 100, NULL, NULL));
    CHECK(weft_http_header_at(http, 0, NULL, NULL));
    CHECK(weft_http_header(http, "none") == NULL);
    CHECK(weft_http_header(http, NULL) == NULL);
    CHECK(weft_http_trailer(http, "none") == NULL);
    const char *twice = weft_http_header(http, "TWICE");
    weft_http_print(http, "|%s", twice ? twice : "-");
}

static const char *seen(struct client *client, const char *request) {
    client_send(client, request);
    struct answer *answer = client_receive(client, "GET");
    CHECK_EQ(answer->status, 200);
    return answer->body;
}

static void run_view(void) {
    site_open(NULL);
    CHECK_EQ(weft_http_route(site.server, "/+", show, NULL), 0);
    site_serve();
    struct client *client = client_open();
    const char *text =
        seen(client, "GET /a%2Bb+c/./d?e=%20&f?/ HTTP/1.1\r\nHost: a\r\ntwice:  one \r\nEmpty:\r\nTwice: two\r\n\r\n");
    CHECK_TEXT(text, "GET|/a%2Bb+c/./d?e=%20&f?/|/a+b+c/d|e=%20&f?/|1|0|Host=a|twice=one|Empty=|Twice=two|one");
    text = seen(client, "POST http://b/x? HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc");
    CHECK_TEXT(text, "POST|http://b/x?|/x||1|3|Host=a|Content-Length=3|-");
    text = seen(client, "PUT /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
    CHECK_TEXT(text, "PUT|/x|/x||1|-1|Host=a|Transfer-Encoding=chunked|-");
    text = seen(client, "GET /x HTTP/1.0\r\nA: b\r\n\r\n");
    CHECK_TEXT(text, "GET|/x|/x||0|0|A=b|-");
    client_close(client);
    site_close();
}
TEST(a_handler_sees_the_request) {
    run_fibers(run_view);
}
