/* SPDX-License-Identifier: MIT
 *
 * bench/weft/http.c - servers for bench/run to ask: "hello" over HTTP, "echo" without a protocol.
 *
 * Same work as http.* in bench/peers/{epoll,go,node}. Prints "ready PORT" and serves until it is killed: bench/run measures from
 * outside.
 */
#include "bench.h"

enum { PIECE = 16384 };

static weft_fd listener;

static void listen_anywhere(void) {
    weft_address address;
    bench_must(weft_address_parse(&address, "127.0.0.1:0"));
    bench_must(weft_listen(&listener, &address, NULL));
    bench_must(weft_local_address(listener, &address));
    printf("ready %u\n", weft_address_port(&address));
    fflush(stdout);
}

static void say_hello(weft_http *http, void *arg) {
    static const char text[] = "Hello, world!";
    (void)arg;
    weft_http_reply(http, 200, "text/plain", text, sizeof text - 1);
}

static void hello(const char *suffix) {
    weft_http_server *server;
    (void)suffix;
    bench_must(weft_http_server_new(&server, NULL));
    bench_must(weft_http_route(server, "GET /", say_hello, NULL));
    listen_anywhere();
    bench_must(weft_http_serve(server, listener));
}

static void *say_back(void *arg) {
    weft_fd peer = {(uintptr_t)arg};
    char piece[PIECE];
    ssize_t size;
    while ((size = weft_read(peer, piece, sizeof piece, WEFT_NEVER)) > 0)
        if (weft_write_all(peer, piece, (size_t)size, WEFT_NEVER) != 0)
            break;
    weft_close(peer);
    return NULL;
}

static void echo(const char *suffix) {
    weft_spawn_options options = {.name = "echo", .detached = true, .stack_size = 2 * PIECE};
    weft_fd peer;
    (void)suffix;
    listen_anywhere();
    for (;;) {
        bench_must(weft_accept(listener, &peer, NULL, WEFT_NEVER));
        bench_must(weft_spawn_with(NULL, &options, say_back, (void *)(uintptr_t)peer.bits));
    }
}

static const bench all[] = {{"hello", hello}, {"echo", echo}};
BENCH_MAIN(all)
