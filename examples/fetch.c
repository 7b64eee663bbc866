/* SPDX-License-Identifier: MIT
 *
 * examples/fetch.c - fetches pages, many at once, over few connections; from a server that it runs itself.
 *
 * Each page is a fiber. They share a client, which has at most four connections to the server: whoever finds none free waits. One
 * page is at another address by now, and the client follows; one is sent in pieces and added up as they come; one is
 * written piece by piece, and read back.
 */
#include <stdio.h>
#include <string.h>

#include <weft.h>
#include <weft/http.h>
#include <weft/http_client.h>

enum { PAGES = 40, CONNECTIONS = 4, PIECES = 1000 };

struct site {
    weft_http_server *server;
    weft_http_client *client;
    weft_fd listener;
    char base[64];
};

struct page {
    struct site *site;
    int number;
    size_t size;
};

static void must(int error, const char *what) {
    if (error < 0)
        weft_fatal("%s: error %d", what, -error);
}

/* ---- The server ---- */

static void serve_page(weft_http *http, void *arg) {
    (void)arg;
    weft_http_print(http, "This is page %s.\n", weft_http_parameter(http, "number"));
}

static void serve_moved(weft_http *http, void *arg) {
    (void)arg;
    weft_http_status(http, 301);
    weft_http_set(http, "Location", "page/7");
}

static void serve_pieces(weft_http *http, void *arg) {
    (void)arg;
    for (int i = 0; i < PIECES; i++)
        weft_http_print(http, "piece %d\n", i);
}

static void serve_echo(weft_http *http, void *arg) {
    char bytes[4096];
    ssize_t count;
    (void)arg;
    while ((count = weft_http_read(http, bytes, sizeof bytes)) > 0)
        weft_http_write(http, bytes, (size_t)count);
}

static void *serve(void *opaque) {
    struct site *site = opaque;
    must(weft_http_serve(site->server, site->listener), "serve");
    return NULL;
}

/* ---- The client ---- */

static void *fetch_page(void *opaque) {
    struct page *page = opaque;
    weft_http_response *response;
    char url[128];
    const void *body;
    snprintf(url, sizeof url, "%s/page/%d", page->site->base, page->number);
    must(weft_http_fetch(page->site->client, "GET", url, NULL, 0, &response, weft_after(30 * WEFT_SECOND)), url);
    must(weft_http_response_body(response, &body, &page->size, WEFT_NOW), "body");
    weft_http_response_close(response);
    return NULL;
}

static void fetch_pages(struct site *site) {
    struct page pages[PAGES];
    weft_fiber fibers[PAGES];
    weft_http_client_stats stats;
    size_t sum = 0;
    for (int i = 0; i < PAGES; i++) {
        pages[i] = (struct page){.site = site, .number = i};
        must(weft_spawn(&fibers[i], fetch_page, &pages[i]), "spawn");
    }
    for (int i = 0; i < PAGES; i++) {
        must(weft_join(fibers[i], NULL, WEFT_NEVER), "join");
        sum += pages[i].size;
    }
    must(weft_http_client_get_stats(site->client, &stats), "stats");
    printf("%d pages, %zu bytes, at most %d connections: %s\n", PAGES, sum, CONNECTIONS,
           stats.opened <= PAGES && stats.open <= CONNECTIONS ? "yes" : "no");
}

static weft_http_response *open_page(struct site *site, const char *method, const char *path,
                                     const weft_http_request *request) {
    weft_http_response *response;
    char url[128];
    snprintf(url, sizeof url, "%s%s", site->base, path);
    must(weft_http_request_open(site->client, method, url, request, &response, weft_after(30 * WEFT_SECOND)), url);
    return response;
}

static void fetch_others(struct site *site) {
    char bytes[256];
    ssize_t count;
    size_t sum = 0;
    weft_http_response *response = open_page(site, "GET", "/moved", NULL);
    printf("moved to %s\n", strchr(weft_http_response_url(response) + 7, '/'));
    weft_http_response_close(response);

    response = open_page(site, "GET", "/pieces", NULL);
    while ((count = weft_http_response_read(response, bytes, sizeof bytes, WEFT_NEVER)) > 0)
        sum += (size_t)count;
    must((int)count, "read");
    printf("%zu bytes in pieces\n", sum);
    weft_http_response_close(response);

    weft_http_request written = {.is_written = true};
    response = open_page(site, "POST", "/echo", &written);
    must(weft_http_request_write(response, "one, ", 5, WEFT_NEVER), "write");
    must(weft_http_request_write(response, "two", 3, WEFT_NEVER), "write");
    must(weft_http_request_end(response, WEFT_NEVER), "end");
    const void *body;
    must(weft_http_response_body(response, &body, &sum, WEFT_NEVER), "body");
    printf("back came \"%s\"\n", (const char *)body);
    weft_http_response_close(response);
}

static int app(void *arg) {
    struct site site;
    weft_address address;
    weft_fiber serving;
    weft_http_client_options options = {.max_per_host = CONNECTIONS};
    (void)arg;
    must(weft_address_parse(&address, "127.0.0.1:0"), "address");
    must(weft_listen(&site.listener, &address, NULL), "listen");
    must(weft_local_address(site.listener, &address), "address");
    snprintf(site.base, sizeof site.base, "http://127.0.0.1:%u", weft_address_port(&address));
    must(weft_http_server_new(&site.server, NULL), "server");
    must(weft_http_route(site.server, "GET /page/:number", serve_page, NULL), "route");
    must(weft_http_route(site.server, "GET /moved", serve_moved, NULL), "route");
    must(weft_http_route(site.server, "GET /pieces", serve_pieces, NULL), "route");
    must(weft_http_route(site.server, "POST /echo", serve_echo, NULL), "route");
    must(weft_spawn(&serving, serve, &site), "spawn");

    must(weft_http_client_new(&site.client, &options), "client");
    fetch_pages(&site);
    fetch_others(&site);
    weft_http_client_free(site.client);

    must(weft_http_server_stop(site.server, weft_after(5 * WEFT_SECOND)), "stop");
    must(weft_join(serving, NULL, WEFT_NEVER), "join");
    weft_http_server_free(site.server);
    must(weft_close(site.listener), "close");
    return 0;
}

int main(void) {
    return weft_run(NULL, app, NULL);
}
