/* SPDX-License-Identifier: MIT
 *
 * examples/echo.c - a server that says everything back, and those who talk to it.
 *
 * Each connection has a fiber of its own, which reads and writes as if there were no other. When all clients have heard their own
 * words the listener is closed; that ends the accept that waits for the next one, and so the server.
 */
#include <stdio.h>
#include <string.h>

#include <weft.h>
#include <weft/net.h>

static weft_fd listener;
static weft_address where;

static void *serve(void *arg) {
    weft_fd peer = {(uintptr_t)arg};
    char text[256];
    ssize_t length;
    while ((length = weft_read(peer, text, sizeof text, weft_after(10 * WEFT_SECOND))) > 0)
        weft_write_all(peer, text, (size_t)length, weft_after(10 * WEFT_SECOND));
    weft_close(peer);
    return NULL;
}

static void *accept_all(void *arg) {
    weft_fd peer;
    while (weft_accept(listener, &peer, NULL, WEFT_NEVER) == 0)
        if (weft_go(serve, (void *)(uintptr_t)peer.bits) != 0)
            weft_close(peer);
    return arg;
}

static int talk(void *words, void *arg) {
    char answer[32] = "";
    weft_fd server;
    (void)arg;
    if (weft_connect(&server, &where, NULL, weft_after(10 * WEFT_SECOND)) != 0)
        return -1;
    weft_write_all(server, words, strlen(words), WEFT_NEVER);
    weft_read_full(server, answer, strlen(words), NULL, weft_after(10 * WEFT_SECOND));
    weft_close(server);
    return printf("%s\n", answer) > 0 && strcmp(answer, words) == 0 ? 0 : -1;
}

static int app(void *arg) {
    char words[3][32] = {"warp", "weft", "selvedge"};
    weft_address_parse(&where, "127.0.0.1:0"); /* the system chooses a port */
    if (weft_listen(&listener, &where, NULL) || weft_local_address(listener, &where) || weft_go(accept_all, arg))
        return 1;
    int error = weft_map(talk, words, sizeof *words, 3, NULL, 3, WEFT_NEVER);
    return weft_close(listener) || error ? 1 : 0;
}

int main(void) {
    return weft_run(NULL, app, NULL);
}
