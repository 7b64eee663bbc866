/* SPDX-License-Identifier: MIT
 *
 * tests/interop/client.c - weft's client talks to a server of others.
 *
 *     client BASE FOLDER     prints "ok CASE" or "FAILED CASE: WHY" for each case; BASE is "http://127.0.0.1:PORT"
 *
 * FOLDER holds the files "big" and "text", as the server has them. Each case has a client of its own, so that what this one has
 * counted is about the case. A case returns null, or what was wrong. See peers/server.go for what the paths mean.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft.h>
#include <weft/http_client.h>

enum { ROUNDS = 5, RANGE_AT = 1000, RANGE_SIZE = 500 };

/* For one request. Nobody waits that long unless something is wrong. */
#define DEADLINE weft_after(60 * WEFT_SECOND)

struct file {
    char *bytes;
    size_t size;
};

struct talk {
    const char *base;
    struct file big, text;
    weft_http_client *client;
    weft_http_client *watcher; /* asks what becomes of the connections of the other */
    char why[256];
};

/* A body that comes by a callback. */
struct source {
    const struct file *file;
    size_t at;
    int reads;
};

static const char *wrong(struct talk *talk, const char *format, ...) WEFT_PRINTF(2, 3);

static const char *wrong(struct talk *talk, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(talk->why, sizeof talk->why, format, arguments);
    va_end(arguments);
    return talk->why;
}

static int open_path(struct talk *talk, const char *method, const char *path, const weft_http_request *request,
                     weft_http_response **out) {
    char url[256];
    snprintf(url, sizeof url, "%s%s", talk->base, path);
    return weft_http_request_open(talk->client, method, url, request, out, DEADLINE);
}

/* Makes a request, and wants this status and this body; a null body may be anything. */
static const char *expect(struct talk *talk, const char *method, const char *path, const weft_http_request *request,
                          int status, const struct file *body) {
    weft_http_response *response;
    const void *bytes;
    size_t size;
    int error = open_path(talk, method, path, request, &response);
    if (error)
        return wrong(talk, "%s %s: error %d", method, path, -error);
    const char *why = NULL;
    int got = weft_http_response_status(response);
    error = weft_http_response_body(response, &bytes, &size, DEADLINE);
    if (error)
        why = wrong(talk, "%s %s: error %d in the body", method, path, -error);
    else if (status ? got != status : got < 200 || got > 299)
        why = wrong(talk, "%s %s: status %d", method, path, got);
    else if (body && (size != body->size || memcmp(bytes, body->bytes, size) != 0))
        why = wrong(talk, "%s %s: %zu bytes, not the %zu expected: %.40s", method, path, size, body->size,
                    (const char *)bytes);
    weft_http_response_close(response);
    return why;
}

static const char *expect_text(struct talk *talk, const char *method, const char *path,
                               const weft_http_request *request, const char *text) {
    struct file body = {(char *)text, strlen(text)};
    return expect(talk, method, path, request, 200, &body);
}

static const char *expect_opened(struct talk *talk, uint64_t count) {
    weft_http_client_stats stats;
    weft_http_client_get_stats(talk->client, &stats);
    if (stats.opened != count)
        return wrong(talk, "%d connections, not %d", (int)stats.opened, (int)count);
    return NULL;
}

static ssize_t read_source(void *buffer, size_t size, void *opaque) {
    struct source *source = opaque;
    size_t left = source->file->size - source->at;
    size_t count = left < size ? left : size;
    memcpy(buffer, source->file->bytes + source->at, count);
    source->at += count;
    source->reads++;
    return (ssize_t)count;
}

/* ---- The cases ---- */

/* The server numbers its connections: it has seen one, and so has the client. */
static const char *keep_alive(struct talk *talk) {
    char first[32] = "";
    for (int i = 0; i < ROUNDS; i++) {
        weft_http_response *response;
        const void *bytes;
        size_t size;
        int error = open_path(talk, "GET", "/connection", NULL, &response);
        if (error || weft_http_response_body(response, &bytes, &size, DEADLINE) != 0)
            return wrong(talk, "request %d: error %d", i, -error);
        if (i == 0)
            snprintf(first, sizeof first, "%s", (const char *)bytes);
        bool is_same = size > 0 && strcmp(first, bytes) == 0;
        weft_http_response_close(response);
        if (!is_same)
            return wrong(talk, "request %d came by another connection", i);
    }
    return expect_opened(talk, 1);
}

static const char *closed_when_asked(struct talk *talk) {
    weft_http_request request = {.closes = true};
    for (int i = 0; i < 2; i++) {
        const char *why = expect(talk, "GET", "/text", &request, 200, &talk->text);
        if (why)
            return why;
    }
    return expect_opened(talk, 2);
}

/* Asks with this Accept-Encoding, null: the client's own, and wants the header that tells how the body comes. */
static const char *response_header(struct talk *talk, const char *path, const char *accepted, const char *name,
                                   const char *value, const struct file *body) {
    weft_http_field field = {"Accept-Encoding", accepted};
    weft_http_request request = {.headers = &field, .header_count = accepted ? 1 : 0};
    weft_http_response *response;
    const void *bytes;
    size_t size;
    int error = open_path(talk, "GET", path, &request, &response);
    if (error)
        return wrong(talk, "error %d", -error);
    const char *why = NULL, *got = weft_http_response_header(response, name);
    if (!got || strcmp(got, value) != 0)
        why = wrong(talk, "%s: %s", name, got ? got : "(none)");
    else if ((error = weft_http_response_body(response, &bytes, &size, DEADLINE)) != 0)
        why = wrong(talk, "error %d in the body", -error);
    else if (size != body->size || memcmp(bytes, body->bytes, size) != 0)
        why = wrong(talk, "another body, of %zu bytes", size);
    weft_http_response_close(response);
    return why;
}

static const char *chunked_response(struct talk *talk) {
    for (int i = 0; i < 2; i++) {
        const char *why = response_header(talk, "/chunked", "identity", "Transfer-Encoding", "chunked", &talk->text);
        if (why)
            return why;
    }
    return expect_opened(talk, 1);
}

static const char *gzip_response(struct talk *talk) {
    for (int i = 0; i < 2; i++) {
        const char *why = response_header(talk, "/text", NULL, "Content-Encoding", "gzip", &talk->text);
        if (why)
            return why;
    }
    return expect_opened(talk, 1);
}

/* What was put is what comes back; the server tells how it came. */
static const char *put_and_get(struct talk *talk, const weft_http_request *request, const struct file *file,
                               const char *encoding) {
    weft_http_response *response;
    const void *bytes;
    size_t size;
    int error = open_path(talk, "PUT", "/upload", request, &response);
    if (error)
        return wrong(talk, "PUT: error %d", -error);
    const char *got = weft_http_response_header(response, "X-Came-As");
    bool is_as_wanted = strcmp(got ? got : "", encoding) == 0;
    int status = weft_http_response_status(response);
    error = weft_http_response_body(response, &bytes, &size, DEADLINE);
    weft_http_response_close(response);
    if (error || status < 200 || status > 299)
        return wrong(talk, "PUT: status %d, error %d", status, -error);
    if (!is_as_wanted)
        return wrong(talk, "the body did not come as \"%s\"", encoding);
    const char *why = expect(talk, "GET", "/upload", NULL, 200, file);
    return why ? why : expect_opened(talk, 1);
}

static const char *chunked_request(struct talk *talk) {
    struct source source = {.file = &talk->text};
    weft_http_request request = {.read = read_source, .arg = &source};
    return put_and_get(talk, &request, &talk->text, "chunked");
}

static const char *chunked_request_written(struct talk *talk) {
    weft_http_request request = {.is_written = true};
    weft_http_response *response;
    size_t half = talk->text.size / 2;
    int error = open_path(talk, "PUT", "/upload", &request, &response);
    if (error)
        return wrong(talk, "error %d", -error);
    error = weft_http_request_write(response, talk->text.bytes, half, DEADLINE);
    if (!error)
        error = weft_http_request_write(response, talk->text.bytes + half, talk->text.size - half, DEADLINE);
    if (!error)
        error = weft_http_request_end(response, DEADLINE);
    weft_http_response_close(response);
    if (error)
        return wrong(talk, "PUT: error %d", -error);
    return expect(talk, "GET", "/upload", NULL, 200, &talk->text);
}

static const char *big_down(struct talk *talk) {
    const char *why = expect(talk, "GET", "/big", NULL, 200, &talk->big);
    return why ? why : expect_opened(talk, 1);
}

static const char *big_up(struct talk *talk) {
    weft_http_request request = {.body = talk->big.bytes, .body_size = talk->big.size};
    return put_and_get(talk, &request, &talk->big, "");
}

static const char *big_up_chunked(struct talk *talk) {
    struct source source = {.file = &talk->big};
    weft_http_request request = {.read = read_source, .arg = &source};
    return put_and_get(talk, &request, &talk->big, "chunked");
}

static const char *range_206(struct talk *talk) {
    char value[64];
    struct file part = {talk->big.bytes + RANGE_AT, RANGE_SIZE};
    weft_http_field field = {"Range", value};
    weft_http_request request = {.headers = &field, .header_count = 1};
    snprintf(value, sizeof value, "bytes=%d-%d", RANGE_AT, RANGE_AT + RANGE_SIZE - 1);
    const char *why = expect(talk, "GET", "/big", &request, 206, &part);
    if (why)
        return why;
    snprintf(value, sizeof value, "bytes=-%d", RANGE_SIZE);
    part.bytes = talk->big.bytes + talk->big.size - RANGE_SIZE;
    why = expect(talk, "GET", "/big", &request, 206, &part);
    return why ? why : expect_opened(talk, 1);
}

static const char *range_416(struct talk *talk) {
    char value[64];
    weft_http_field field = {"Range", value};
    weft_http_request request = {.headers = &field, .header_count = 1};
    snprintf(value, sizeof value, "bytes=%zu-", talk->big.size);
    const char *why = expect(talk, "GET", "/big", &request, 416, NULL);
    return why ? why : expect(talk, "GET", "/text", NULL, 200, &talk->text);
}

/* /method answers by the method and the length of the body that it was asked with. */
static const char *redirect(struct talk *talk, int status, bool is_kept) {
    char path[32];
    weft_http_client_stats stats;
    weft_http_request request = {.body = "hello", .body_size = 5};
    snprintf(path, sizeof path, "/redirect/%d", status);
    const char *why = expect_text(talk, "GET", path, NULL, "GET 0");
    if (!why)
        why = expect_text(talk, "POST", path, &request, is_kept ? "POST 5" : "GET 0");
    if (!why)
        why = expect_text(talk, "HEAD", path, NULL, "");
    weft_http_client_get_stats(talk->client, &stats);
    if (!why && stats.redirects != 3)
        why = wrong(talk, "%d redirects, not 3", (int)stats.redirects);
    return why;
}

static const char *redirect_301(struct talk *talk) {
    return redirect(talk, 301, false);
}

static const char *redirect_302(struct talk *talk) {
    return redirect(talk, 302, false);
}

static const char *redirect_303(struct talk *talk) {
    return redirect(talk, 303, false);
}

static const char *redirect_307(struct talk *talk) {
    return redirect(talk, 307, true);
}

static const char *redirect_308(struct talk *talk) {
    return redirect(talk, 308, true);
}

/* The client would wait for longer than the deadline if the server did not tell it to go on. */
static const char *expect_100(struct talk *talk) {
    struct source source = {.file = &talk->text};
    weft_http_request request = {.read = read_source, .arg = &source, .length = talk->text.size, .expects = true};
    return put_and_get(talk, &request, &talk->text, "");
}

/* The server has said no before the body was sent: it is not sent. */
static const char *expect_refused(struct talk *talk) {
    struct source source = {.file = &talk->text};
    weft_http_request request = {.read = read_source, .arg = &source, .length = talk->text.size, .expects = true};
    weft_http_response *response;
    int error = open_path(talk, "PUT", "/refused", &request, &response);
    if (error)
        return wrong(talk, "error %d", -error);
    const char *why = NULL;
    if (weft_http_response_status(response) != 403)
        why = wrong(talk, "status %d", weft_http_response_status(response));
    else if (source.reads > 0)
        why = "the body was sent";
    weft_http_response_close(response);
    return why ? why : expect(talk, "GET", "/text", NULL, 200, &talk->text);
}

static const char *head(struct talk *talk) {
    weft_http_response *response;
    int error = open_path(talk, "HEAD", "/big", NULL, &response);
    if (error)
        return wrong(talk, "error %d", -error);
    const char *length = weft_http_response_header(response, "Content-Length"), *why = NULL;
    char byte;
    if (!length || strtoull(length, NULL, 10) != talk->big.size)
        why = wrong(talk, "Content-Length: %s", length ? length : "(none)");
    else if (weft_http_response_read(response, &byte, 1, DEADLINE) != 0)
        why = "it has a body";
    weft_http_response_close(response);
    if (!why)
        why = expect(talk, "GET", "/text", NULL, 200, &talk->text);
    return why ? why : expect_opened(talk, 1);
}

static const char *status_204(struct talk *talk) {
    struct file none = {"", 0};
    const char *why = expect(talk, "GET", "/nothing", NULL, 204, &none);
    if (!why)
        why = expect(talk, "GET", "/text", NULL, 200, &talk->text);
    return why ? why : expect_opened(talk, 1);
}

static const char *status_304(struct talk *talk) {
    struct file none = {"", 0};
    weft_http_response *response;
    char tag[128] = "";
    weft_http_field field = {"If-None-Match", tag};
    weft_http_request request = {.headers = &field, .header_count = 1};
    int error = open_path(talk, "HEAD", "/big", NULL, &response);
    if (error)
        return wrong(talk, "error %d", -error);
    const char *got = weft_http_response_header(response, "ETag");
    snprintf(tag, sizeof tag, "%s", got ? got : "");
    weft_http_response_close(response);
    const char *why = *tag ? expect(talk, "GET", "/big", &request, 304, &none) : "there is no ETag";
    if (!why)
        why = expect(talk, "GET", "/text", NULL, 200, &talk->text);
    return why ? why : expect_opened(talk, 1);
}

/* /stale closes a connection that was used before, without an answer: the request is made once more. */
static const char *stale_repeated(struct talk *talk) {
    weft_http_client_stats stats;
    const char *why = expect(talk, "GET", "/text", NULL, 200, &talk->text);
    if (!why)
        why = expect_text(talk, "GET", "/stale", NULL, "fresh");
    weft_http_client_get_stats(talk->client, &stats);
    if (!why && stats.repeated != 1)
        why = wrong(talk, "repeated %d times", (int)stats.repeated);
    return why ? why : expect_opened(talk, 2);
}

static const char *stale_post_is_not(struct talk *talk) {
    weft_http_request request = {.body = "hello", .body_size = 5};
    weft_http_response *response;
    const char *why = expect(talk, "GET", "/text", NULL, 200, &talk->text);
    if (why)
        return why;
    int error = open_path(talk, "POST", "/stale", &request, &response);
    if (error == 0)
        weft_http_response_close(response);
    if (error != -ECONNRESET)
        return wrong(talk, "error %d", -error);
    return expect_opened(talk, 1);
}

/* Until the server has one connection only, which is the watcher's. */
static const char *wait_until_closed(struct talk *talk) {
    char url[256];
    weft_http_response *response;
    const void *bytes;
    size_t size;
    weft_time deadline = DEADLINE;
    snprintf(url, sizeof url, "%s/open", talk->base);
    for (bool is_alone = false; !is_alone;) {
        int error = weft_http_fetch(talk->watcher, "GET", url, NULL, 0, &response, deadline);
        if (error)
            return wrong(talk, "GET /open: error %d", -error);
        weft_http_response_body(response, &bytes, &size, WEFT_NOW);
        is_alone = strcmp(bytes, "1") == 0;
        weft_http_response_close(response);
    }
    return NULL;
}

/* /closing answers as if the connection stayed, and closes it. */
static const char *closed_between(struct talk *talk) {
    for (int i = 0; i < ROUNDS; i++) {
        const char *why = expect_text(talk, "GET", "/closing", NULL, "bye");
        if (!why)
            why = wait_until_closed(talk);
        if (why)
            return why;
    }
    return expect_opened(talk, ROUNDS);
}

/* ---- All of them ---- */

static const struct {
    const char *name;
    const char *(*run)(struct talk *talk);
} cases[] = {
    {"keep-alive", keep_alive},
    {"connection: close", closed_when_asked},
    {"chunked response", chunked_response},
    {"chunked request", chunked_request},
    {"chunked request, written", chunked_request_written},
    {"gzip", gzip_response},
    {"range 206", range_206},
    {"range 416", range_416},
    {"redirect 301", redirect_301},
    {"redirect 302", redirect_302},
    {"redirect 303", redirect_303},
    {"redirect 307", redirect_307},
    {"redirect 308", redirect_308},
    {"expect: 100-continue", expect_100},
    {"expect, refused", expect_refused},
    {"head", head},
    {"status 204", status_204},
    {"status 304", status_304},
    {"8 MB down", big_down},
    {"8 MB up", big_up},
    {"8 MB up, chunked", big_up_chunked},
    {"closed between requests", closed_between},
    {"stale: GET is repeated", stale_repeated},
    {"stale: POST is not", stale_post_is_not},
};

static struct file load(const char *folder, const char *name) {
    struct file file = {malloc(16 << 20), 0};
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *stream = fopen(path, "rb");
    if (!stream || !file.bytes)
        weft_fatal("%s cannot be read", path);
    file.size = fread(file.bytes, 1, 16 << 20, stream);
    fclose(stream);
    return file;
}

static int app(void *opaque) {
    char **argv = opaque;
    struct talk talk = {.base = argv[1], .big = load(argv[2], "big"), .text = load(argv[2], "text")};
    weft_http_client_options options = {.continue_timeout = 120 * WEFT_SECOND};
    int failures = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (weft_http_client_new(&talk.client, &options) != 0 || weft_http_client_new(&talk.watcher, NULL) != 0)
            return 2;
        const char *why = cases[i].run(&talk);
        weft_http_client_free(talk.client);
        weft_http_client_free(talk.watcher);
        failures += why != NULL;
        printf(why ? "FAILED %s: %s\n" : "ok %s\n", cases[i].name, why);
        fflush(stdout);
    }
    free(talk.big.bytes);
    free(talk.text.bytes);
    return failures > 0;
}

int main(int argc, char **argv) {
    return argc < 3 ? 2 : weft_run(NULL, app, argv);
}
