/* SPDX-License-Identifier: MIT
 *
 * examples/http_server.c - a small web server, and a client that asks it.
 *
 * Each connection is a fiber, so a handler may sleep, wait for others or read a file as if it had a thread of its own. The
 * program asks itself two things over a plain socket, stops the server gently and ends.
 *
 *     http_server          ask, and end
 *     http_server 8080     serve on that port until it is killed
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>

static void hello(weft_http *http, void *arg) {
    (void)arg;
    weft_http_print(http, "Hello, %s!\n", weft_http_parameter(http, "name"));
}

static void slow(weft_http *http, void *arg) {
    (void)arg;
    weft_sleep(weft_after(20 * WEFT_MILLISECOND)); /* this fiber only */
    weft_http_reply(http, 200, "application/json", "{\"done\":true}\n", 14);
}

static int ask(const weft_address *address, const char *path) {
    char request[256], answer[2048];
    weft_fd fd;
    if (weft_connect(&fd, address, NULL, weft_after(WEFT_SECOND)) != 0)
        return -1;
    int size = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n", path);
    weft_write_all(fd, request, (size_t)size, WEFT_NEVER);
    ssize_t count = weft_read_full(fd, answer, sizeof answer - 1, NULL, weft_after(5 * WEFT_SECOND));
    weft_close(fd);
    answer[count > 0 ? count : 0] = 0;
    const char *body = strstr(answer, "\r\n\r\n");
    printf("%s -> %.15s | %s\n", path, answer, body ? body + 4 : "");
    return body ? 0 : -1;
}

static weft_http_server *server;
static weft_fd listener;

static void *serve(void *arg) {
    (void)arg;
    return (void *)(intptr_t)weft_http_serve(server, listener);
}

static int app(void *port) {
    char where[32];
    weft_address address;
    weft_fiber fiber;
    snprintf(where, sizeof where, "127.0.0.1:%s", port ? (char *)port : "0");
    if (weft_http_server_new(&server, NULL) != 0 || weft_http_route(server, "GET /hello/:name", hello, NULL) != 0 ||
        weft_http_route(server, "GET /slow", slow, NULL) != 0 || weft_address_parse(&address, where) != 0 ||
        weft_listen(&listener, &address, NULL) != 0)
        return 1;
    (void)weft_http_gzip(server, 6); /* long texts go packed, where zlib is there */
    weft_local_address(listener, &address);
    weft_spawn(&fiber, serve, NULL);
    int failed = 0;
    if (port)
        weft_join(fiber, NULL, WEFT_NEVER);
    else
        failed = ask(&address, "/hello/world") || ask(&address, "/slow") || ask(&address, "/nothing");
    weft_http_server_stop(server, weft_after(WEFT_SECOND));
    weft_join(fiber, NULL, WEFT_NEVER);
    weft_close(listener);
    weft_http_server_free(server);
    return failed != 0;
}

int main(int argc, char **argv) {
    return weft_run(NULL, app, argc > 1 ? argv[1] : NULL);
}
