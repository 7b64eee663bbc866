/* SPDX-License-Identifier: MIT
 *
 * spec/http_file_test.c - files and folders as responses.
 */
#include "support/http.h"
#include "support/scratch.h"

static weft_http_folder folder;

static void one_file(weft_http *http, void *arg) {
    (void)arg;
    CHECK_EQ(weft_http_file(http, AT("file.txt"), NULL), 0);
}
static void missing(weft_http *http, void *arg) {
    (void)arg;
    CHECK_EQ(weft_http_file(http, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_http_file(http, AT("missing"), NULL), 0);
    CHECK_EQ(weft_http_file(http, AT("file.txt"), NULL), -EALREADY);
}
static void typed(weft_http *http, void *arg) {
    (void)arg;
    CHECK_EQ(weft_http_file(http, AT("file.txt"), "x/y"), 0);
}

static void open_files(void) {
    char *bytes = big_bytes();
    put_file("file.txt", "0123456789");
    put_file("empty", "");
    put_file(".hidden", "hidden");
    CHECK_EQ(mkdir(AT("dir"), 0700), 0);
    CHECK_EQ(mkdir(AT("bare"), 0700), 0);
    put_file("dir/index.html", "<index>");
    put_file("bare/a<b>&\"c.txt", "odd");
    CHECK_EQ(symlink("/etc", AT("out")), 0);
    CHECK_EQ(symlink("/etc/passwd", AT("bare/passwd")), 0);
    CHECK_EQ(symlink("../file.txt", AT("bare/inside")), 0);
    CHECK_EQ(symlink("loop", AT("loop")), 0);
    CHECK_EQ(mkfifo(AT("fifo"), 0600), 0);
    FILE *file = fopen(AT("big.bin"), "w");
    CHECK(file != NULL);
    CHECK_EQ(fwrite(bytes, 1, BIG_FILE, file), BIG_FILE);
    fclose(file);
    free(bytes);
    folder = (weft_http_folder){.path = scratch, .max_age = 60};
    site_open(NULL);
    site_route("GET /one", one_file);
    site_route("GET /missing", missing);
    site_route("GET /typed", typed);
    CHECK_EQ(weft_http_route(site.server, "GET /files/+", weft_http_folder_handler, &folder), 0);
    site_serve();
}

static struct answer *ask_with(struct client *client, const char *method, const char *target, const char *header,
                               int status) {
    char text[512];
    snprintf(text, sizeof text, "%s %s HTTP/1.1\r\nHost: a\r\n%s\r\n\r\n", method, target, header);
    client_send(client, text);
    struct answer *answer = client_receive(client, method);
    if (answer->status != status)
        fprintf(stderr, "%s %s, %s\n", method, target, header);
    CHECK_EQ(answer->status, status);
    return answer;
}

static void run_files(void) {
    open_files();
    struct client *client = client_open();
    struct answer *answer = client_ask(client, "GET", "/one", 200);
    CHECK_TEXT(answer->body, "0123456789");
    CHECK_EQ(answer->length, 10);
    CHECK_TEXT(answer_header(answer, "Content-Type"), "text/plain; charset=utf-8");
    CHECK_TEXT(answer_header(answer, "Accept-Ranges"), "bytes");
    CHECK_EQ(strlen(answer_header(answer, "Last-Modified")), 29);
    CHECK(answer_header(answer, "ETag")[0] == '"');
    CHECK(answer_header(answer, "Cache-Control") == NULL);
    answer = client_ask(client, "HEAD", "/one", 200);
    CHECK_EQ(answer->length, 10);
    client_ask(client, "GET", "/missing", 404);
    CHECK_TEXT(answer_header(client_ask(client, "GET", "/typed", 200), "Content-Type"), "x/y");
    answer = client_ask(client, "GET", "/files/file.txt", 200);
    CHECK_TEXT(answer_header(answer, "Cache-Control"), "max-age=60");
    CHECK_EQ(client_ask(client, "GET", "/files/empty", 200)->length, 0);
    client_close(client);
    site_close();
}
TEST(a_file_is_a_response) {
    run_in_scratch(run_files);
}

static void run_big(void) {
    open_files();
    char *bytes = big_bytes();
    uint64_t sum = 0;
    for (int i = 0; i < BIG_FILE; i++)
        sum += (unsigned char)bytes[i];
    struct client *client = client_open();
    struct answer *answer = client_ask(client, "GET", "/files/big.bin", 200);
    CHECK_EQ(answer->size, BIG_FILE);
    CHECK_EQ(answer->sum, sum);
    CHECK(memcmp(answer->body, bytes, ANSWER_BODY - 1) == 0);
    answer = ask_with(client, "GET", "/files/big.bin", "Range: bytes=100000-299999", 206);
    CHECK_EQ(answer->size, 200000);
    CHECK(memcmp(answer->body, bytes + 100000, ANSWER_BODY - 1) == 0);
    client_send(client, "GET /files/big.bin HTTP/1.1\r\nHost: a\r\n\r\nGET /one HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK_EQ(client_receive(client, "GET")->sum, sum);
    CHECK_BODY(client_receive(client, "GET"), "0123456789");
    free(bytes);
    client_close(client);
    site_close();
}
TEST(a_large_file_is_one_too) {
    run_in_scratch(run_big);
}

static void run_ranges(void) {
    static const struct {
        const char *range;
        int status;
        const char *body;
        const char *content_range;
    } ranges[] = {
        {"bytes=0-3", 206, "0123", "bytes 0-3/10"},
        {"bytes=3-", 206, "3456789", "bytes 3-9/10"},
        {"bytes=-3", 206, "789", "bytes 7-9/10"},
        {"bytes=-30", 206, "0123456789", "bytes 0-9/10"},
        {"bytes=9-9", 206, "9", "bytes 9-9/10"},
        {"bytes=5-500", 206, "56789", "bytes 5-9/10"},
        {"BYTES=0-0", 206, "0", "bytes 0-0/10"},
        {"bytes=10-", 416, NULL, "bytes */10"},
        {"bytes=10-20", 416, NULL, "bytes */10"},
        {"bytes=-0", 416, NULL, "bytes */10"},
        {"bytes=3-2", 200, "0123456789", NULL},
        {"bytes=", 200, "0123456789", NULL},
        {"bytes=-", 200, "0123456789", NULL},
        {"bytes=a-b", 200, "0123456789", NULL},
        {"bytes=1-2,4-5", 200, "0123456789", NULL},
        {"lines=0-1", 200, "0123456789", NULL},
        {"bytes=1--2", 200, "0123456789", NULL},
        {"bytes=+1-2", 200, "0123456789", NULL},
        {"bytes=18446744073709551616-", 416, NULL, "bytes */10"},
        {"bytes=0-18446744073709551616", 206, "0123456789", "bytes 0-9/10"},
    };
    open_files();
    struct client *client = client_open();
    char header[100];
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        snprintf(header, sizeof header, "Range: %s", ranges[i].range);
        struct answer *answer = ask_with(client, "GET", "/one", header, ranges[i].status);
        if (ranges[i].body)
            CHECK_TEXT(answer->body, ranges[i].body);
        const char *range = answer_header(answer, "Content-Range");
        CHECK_EQ(range != NULL, ranges[i].content_range != NULL);
        if (range)
            CHECK_TEXT(range, ranges[i].content_range);
    }
    CHECK_EQ(ask_with(client, "HEAD", "/one", "Range: bytes=0-3", 200)->length, 10);
    ask_with(client, "GET", "/files/empty", "Range: bytes=0-", 416);
    client_close(client);
    site_close();
}
TEST(a_range_of_it_is_sent) {
    run_in_scratch(run_ranges);
}

static void run_conditions(void) {
    char etag[100], modified[100], header[300];
    open_files();
    struct client *client = client_open();
    struct answer *answer = client_ask(client, "GET", "/one", 200);
    snprintf(etag, sizeof etag, "%.90s", answer_header(answer, "ETag"));
    snprintf(modified, sizeof modified, "%.90s", answer_header(answer, "Last-Modified"));
    struct {
        const char *form;
        const char *value;
        int status;
    } const conditions[] = {
        {"If-None-Match: %s", etag, 304},
        {"If-None-Match: W/%s", etag, 304},
        {"If-None-Match: \"x\", %s", etag, 304},
        {"If-None-Match: *", "", 304},
        {"If-None-Match: \"x\"", "", 200},
        {"If-None-Match: \"x\"\r\nIf-Modified-Since: %s", modified, 200},
        {"If-Modified-Since: %s", modified, 304},
        {"If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT", "", 200},
        {"If-Modified-Since: yesterday", "", 200},
        {"If-Match: %s", etag, 200},
        {"If-Match: *", "", 200},
        {"If-Match: \"x\"", "", 412},
        {"If-Match: W/%s", etag, 412},
        {"If-Unmodified-Since: %s", modified, 200},
        {"If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT", "", 412},
        {"If-Range: %s\r\nRange: bytes=0-1", etag, 206},
        {"If-Range: \"x\"\r\nRange: bytes=0-1", "", 200},
        {"If-Range: %s\r\nRange: bytes=0-1", modified, 206},
        {"If-None-Match: %s\r\nRange: bytes=0-1", etag, 304},
    };
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
        const char *hole = strstr(conditions[i].form, "%s");
        int before = hole ? (int)(hole - conditions[i].form) : (int)strlen(conditions[i].form);
        snprintf(header, sizeof header, "%.*s%s%s", before, conditions[i].form, conditions[i].value,
                 hole ? hole + 2 : "");
        answer = ask_with(client, "GET", "/one", header, conditions[i].status);
        if (answer->status == 304) {
            CHECK_TEXT(answer_header(answer, "ETag"), etag);
            CHECK(answer->length == -1 || answer->length == 10);
        }
    }
    client_close(client);
    site_close();
}
TEST(conditions_are_answered_as_they_ask) {
    run_in_scratch(run_conditions);
}

/* ---- Folders ---- */

static void run_folder(void) {
    static const struct {
        const char *target;
        int status;
    } targets[] = {
        {"/files/dir/", 200},           {"/files/dir", 301},
        {"/files/dir/index.html", 200}, {"/files/bare/", 404},
        {"/files/none", 404},           {"/files/.hidden", 404},
        {"/files/dir/.x", 404},         {"/files/%2ehidden", 404},
        {"/files/fifo", 404},           {"/files/bare/inside", 200},
        {"/files/file.txt/", 404},      {"/files/dir/%2e%2e/.hidden", 404},
        {"/files/file.txt/x", 404},     {"/files/bare/a%3Cb%3E%26%22c.txt", 200},
    };
    static const char *const outside[] = {"/files/out/passwd",
                                          "/files/out",
                                          "/files/out/",
                                          "/files/bare/passwd",
                                          "/files/loop",
                                          "/files//etc/passwd",
                                          "/files/dir//etc/passwd",
                                          "/files/%2Fetc%2Fpasswd"};
    open_files();
    struct client *client = client_open();
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        ask_with(client, "GET", targets[i].target, "A: b", targets[i].status);
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        client_send(client, "GET ");
        client_send(client, outside[i]);
        client_send(client, " HTTP/1.1\r\nHost: a\r\n\r\n");
        int status = client_receive(client, "GET")->status;
        CHECK(status == 403 || status == 404);
    }
    CHECK_BODY(client_ask(client, "GET", "/files/dir/", 200), "<index>");
    CHECK(strncmp(answer_header(&client->answer, "Content-Type"), "text/html", 9) == 0);
    client_close(client);
    site_close();
}
TEST(nothing_outside_of_a_folder_is_served) {
    run_in_scratch(run_folder);
}

static void run_redirect(void) {
    open_files();
    struct client *client = client_open();
    struct answer *answer = client_ask(client, "GET", "/files/dir", 301);
    const char *where = answer_header(answer, "Location");
    CHECK(strcmp(where, "/files/dir/") == 0 || strcmp(where, "./dir/") == 0);
    client_send(client, "GET //evil.example/../../files/dir HTTP/1.1\r\nHost: a\r\n\r\n");
    answer = client_receive(client, "GET");
    where = answer_header(answer, "Location");
    CHECK(!where || (strncmp(where, "//", 2) != 0 && !strstr(where, "evil"))); /* not to another host */
    client_close(client);
    site_close();
}
TEST(a_folder_without_its_slash_is_redirected_and_only_within) {
    run_in_scratch(run_redirect);
}

static void run_listing(void) {
    open_files();
    folder.lists = true;
    struct client *client = client_open();
    struct answer *answer = client_ask(client, "GET", "/files/bare/", 200);
    CHECK(strstr(answer->body, "a&#60;b&#62;") || strstr(answer->body, "a&lt;b&gt;"));
    CHECK(strstr(answer->body, "a<b>") == NULL);
    CHECK(strstr(answer->body, "%3C") != NULL);
    CHECK(strstr(answer->body, "inside") != NULL);
    CHECK_BODY(client_ask(client, "GET", "/files/dir/", 200), "<index>");
    client_ask(client, "GET", "/files/out/", 403);
    client_close(client);
    site_close();
}
TEST(a_folder_is_listed_if_it_may_be) {
    run_in_scratch(run_listing);
}

static void run_hidden(void) {
    open_files();
    folder.shows_hidden = true;
    folder.index = "a<b>&\"c.txt";
    struct client *client = client_open();
    CHECK_BODY(client_ask(client, "GET", "/files/.hidden", 200), "hidden");
    CHECK_BODY(client_ask(client, "GET", "/files/bare/", 200), "odd");
    client_close(client);
    site_close();
}
TEST(hidden_names_are_served_if_they_may_be) {
    run_in_scratch(run_hidden);
}

static void run_old(void) {
    struct timespec times[2] = {{.tv_sec = -300000000}, {.tv_sec = -300000000}};
    open_files();
    CHECK_EQ(utimensat(AT_FDCWD, AT("file.txt"), times, 0), 0);
    struct client *client = client_open();
    struct answer *answer = client_ask(client, "GET", "/one", 200);
    CHECK_TEXT(answer->body, "0123456789");
    const char *modified = answer_header(answer, "Last-Modified");
    CHECK(!modified || strlen(modified) == 29);
    client_close(client);
    site_close();
}
TEST(a_file_may_be_older_than_time) {
    run_in_scratch(run_old);
}
