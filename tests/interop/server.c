/* SPDX-License-Identifier: MIT
 *
 * tests/interop/server.c - the server that clients of others talk to.
 *
 *     server FOLDER PAGES     prints "ready PORT RENEWED" and serves until SIGTERM
 *
 * FOLDER holds the files "big" and "text"; PAGES, what a browser is shown below "/pages". On port RENEWED there is a second
 * server, for clients that use a connection again which was closed meanwhile: "/renew" of the first stops it, which closes its
 * connections, and sets a new one to the same listener. "/held" answers after "/done" was asked for: it keeps a page from being
 * loaded until its script has come to an end.
 *
 * Uploads are answered by their length as announced (-1: in chunks), their length as it was, and their Adler-32 sum, which
 * every language of the clients has at hand, or has in five lines.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft.h>
#include <weft/http.h>

enum { PIECES = 16, ADLER_BASE = 65521, GZIP_LEVEL = 6 };

/* A server on a port, and the fiber that serves. */
struct serving {
    weft_http_server *server;
    weft_fd listener;
    weft_fiber fiber;
    uint64_t accepted_before; /* connections of those that it has replaced */
};

struct site {
    struct serving first, renewed;
    const char *folder;
    weft_http_folder pages;
    char *text;
    size_t text_size;
    weft_semaphore done;
};

static void must(int error, const char *what) {
    if (error < 0)
        weft_fatal("%s: error %d", what, -error);
}

static uint64_t accepted_by(struct serving *serving) {
    weft_http_stats stats;
    must(weft_http_get_stats(serving->server, &stats), "stats");
    return serving->accepted_before + stats.accepted;
}

/* How many connections there have been: a client that asks twice on one gets the same number. Pages of the first server may
 * ask the other one too. */
static void serve_accepted(weft_http *http, void *serving) {
    weft_http_set(http, "Access-Control-Allow-Origin", "*");
    weft_http_print(http, "%llu", (unsigned long long)accepted_by(serving));
}

static void serve_text(weft_http *http, void *opaque) {
    struct site *site = opaque;
    weft_http_reply(http, 200, "text/plain", site->text, site->text_size);
}

static void serve_chunked(weft_http *http, void *opaque) {
    struct site *site = opaque;
    size_t piece = site->text_size / PIECES;
    for (size_t i = 0; i < PIECES; i++) {
        size_t size = i == PIECES - 1 ? site->text_size - i * piece : piece;
        if (weft_http_write(http, site->text + i * piece, size) != 0 || weft_http_flush(http) != 0)
            return;
    }
}

/* The same as a text, which goes packed to whoever takes that. */
static void serve_stream(weft_http *http, void *opaque) {
    weft_http_set(http, "Content-Type", "text/plain");
    serve_chunked(http, opaque);
}

static void serve_big(weft_http *http, void *opaque) {
    struct site *site = opaque;
    char path[4096];
    snprintf(path, sizeof path, "%s/big", site->folder);
    weft_http_file(http, path, "application/octet-stream");
}

static void serve_sum(weft_http *http, void *arg) {
    unsigned char bytes[16384];
    uint64_t length = 0;
    uint32_t a = 1, b = 0;
    ssize_t count;
    (void)arg;
    while ((count = weft_http_read(http, bytes, sizeof bytes)) > 0) {
        for (ssize_t i = 0; i < count; i++) {
            a = (a + bytes[i]) % ADLER_BASE;
            b = (b + a) % ADLER_BASE;
        }
        length += (uint64_t)count;
    }
    if (count < 0)
        return;
    weft_http_print(http, "%lld %llu %u", (long long)weft_http_body_size(http), (unsigned long long)length,
                    b << 16 | a);
}

/* Says no before it has read the body. */
static void serve_refusal(weft_http *http, void *arg) {
    (void)arg;
    weft_http_fail(http, 403);
}

static void serve_redirect(weft_http *http, void *arg) {
    (void)arg;
    weft_http_status(http, atoi(weft_http_parameter(http, "status")));
    weft_http_set(http, "Location", "/method");
}

/* What became of a request that was redirected: its method, and how long its body is. */
static void serve_method(weft_http *http, void *arg) {
    (void)arg;
    weft_http_print(http, "%s %lld", weft_http_method(http), (long long)weft_http_body_size(http));
}

static void serve_nothing(weft_http *http, void *arg) {
    (void)arg;
    weft_http_status(http, 204);
}

static void *serve(void *opaque) {
    struct serving *serving = opaque;
    must(weft_http_serve(serving->server, serving->listener), "serve");
    return NULL;
}

static void start_renewed(struct serving *serving) {
    must(weft_http_server_new(&serving->server, NULL), "server");
    must(weft_http_route(serving->server, "GET /accepted", serve_accepted, serving), "route");
    must(weft_spawn(&serving->fiber, serve, serving), "spawn");
}

static void stop(struct serving *serving) {
    must(weft_http_server_stop(serving->server, weft_after(60 * WEFT_SECOND)), "stop");
    must(weft_join(serving->fiber, NULL, WEFT_NEVER), "join");
    serving->accepted_before = accepted_by(serving);
    weft_http_server_free(serving->server);
}

static void serve_renew(weft_http *http, void *opaque) {
    struct site *site = opaque;
    stop(&site->renewed);
    start_renewed(&site->renewed);
    weft_http_print(http, "renewed");
}

static void serve_held(weft_http *http, void *opaque) {
    struct site *site = opaque;
    if (weft_semaphore_acquire(&site->done, 1, WEFT_NEVER) == 0)
        weft_http_reply(http, 200, "text/javascript", "", 0);
}

static void serve_done(weft_http *http, void *opaque) {
    struct site *site = opaque;
    weft_semaphore_release(&site->done, 1);
    weft_http_print(http, "done");
}

static void read_text(struct site *site) {
    char path[4096];
    snprintf(path, sizeof path, "%s/text", site->folder);
    FILE *file = fopen(path, "rb");
    if (!file)
        weft_fatal("%s cannot be read", path);
    size_t room = 1 << 20;
    site->text = malloc(room);
    site->text_size = site->text ? fread(site->text, 1, room, file) : 0;
    fclose(file);
}

static void add_routes(struct site *site) {
    const struct {
        const char *pattern;
        weft_http_handler handler;
        void *arg;
    } routes[] = {
        {"GET /pages/+", weft_http_folder_handler, &site->pages},
        {"GET /accepted", serve_accepted, &site->first},
        {"GET /text", serve_text, site},
        {"GET /chunked", serve_chunked, site},
        {"GET /stream", serve_stream, site},
        {"GET /big", serve_big, site},
        {"/sum", serve_sum, NULL},
        {"/refused", serve_refusal, NULL},
        {"/redirect/:status", serve_redirect, NULL},
        {"/method", serve_method, NULL},
        {"GET /nothing", serve_nothing, NULL},
        {"GET /renew", serve_renew, site},
        {"GET /held", serve_held, site},
        {"GET /done", serve_done, site},
    };
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++)
        must(weft_http_route(site->first.server, routes[i].pattern, routes[i].handler, routes[i].arg),
             routes[i].pattern);
}

static weft_fd listen_anywhere(unsigned *port) {
    weft_address address;
    weft_fd listener;
    must(weft_address_parse(&address, "127.0.0.1:0"), "address");
    must(weft_listen(&listener, &address, NULL), "listen");
    must(weft_local_address(listener, &address), "address");
    *port = weft_address_port(&address);
    return listener;
}

static void wait_for_end(void) {
    weft_signals end;
    must(weft_signals_open(&end, (int[]){SIGTERM}, 1), "signals");
    must(weft_signal_wait(end, NULL, WEFT_NEVER), "signal");
    weft_signals_close(end);
}

static int app(void *opaque) {
    struct site *site = opaque;
    unsigned port, renewed_port;
    weft_http_options options = {.server_name = "weft"};
    read_text(site);
    site->first.listener = listen_anywhere(&port);
    site->renewed.listener = listen_anywhere(&renewed_port);
    must(weft_http_server_new(&site->first.server, &options), "server");
    must(weft_http_gzip(site->first.server, GZIP_LEVEL), "gzip");
    add_routes(site);
    must(weft_spawn(&site->first.fiber, serve, &site->first), "spawn");
    start_renewed(&site->renewed);
    printf("ready %u %u\n", port, renewed_port);
    fflush(stdout);
    wait_for_end();
    stop(&site->first);
    stop(&site->renewed);
    must(weft_close(site->first.listener), "close");
    must(weft_close(site->renewed.listener), "close");
    free(site->text);
    return 0;
}

int main(int argc, char **argv) {
    static struct site site;
    if (argc < 3)
        return 2;
    site.folder = argv[1];
    site.pages.path = argv[2];
    return weft_run(NULL, app, &site);
}
