/* SPDX-License-Identifier: MIT
 *
 * stress/http_test.c - many clients with requests of all kinds, some of whom leave in the middle.
 *
 * What a client sends in a request that it finishes comes back, and in order. Who is not polite, by a reset, by half a close, by
 * half a request or by nonsense, costs nobody else anything. In the end the sums of both sides agree, and nobody is left.
 */
#include "support/http.h"

enum { CLIENTS = 12, THREADS_OF_TEN = 3, BODY = 30000, PIPELINE = 5 };

static atomic_long asked, answered;   /* whole requests, whole answers */
static _Atomic uint64_t sent, echoed; /* bytes of bodies that were answered, as clients and as handlers see them */
static atomic_long opened;
static uint64_t seed;

static void echo(weft_http *http, void *arg) {
    (void)arg;
    char piece[3000];
    ssize_t count;
    uint64_t size = 0;
    while ((count = weft_http_read(http, piece, sizeof piece)) > 0) {
        if (weft_http_write(http, piece, (size_t)count) != 0)
            return;
        size += (uint64_t)count;
    }
    if (count == 0 && weft_http_header(http, "X-Counts"))
        atomic_fetch_add(&echoed, size);
}

static void hello(weft_http *http, void *arg) {
    (void)arg;
    weft_yield();
    (void)weft_http_print(http, "hello %s", weft_http_parameter(http, "name"));
}

/* ---- What clients do ---- */

static void linger_off(struct client *client) {
    struct linger at_once = {.l_onoff = 1};
    CHECK_EQ(setsockopt(weft_fd_number(client->fd), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
}

static void ask_hello(struct client *client, uint64_t *random) {
    char text[PIPELINE * 80] = "", name[32];
    uint64_t names[PIPELINE];
    uint64_t count = 1 + random_below(random, PIPELINE);
    for (uint64_t i = 0; i < count; i++) {
        names[i] = random_below(random, 1000000);
        sprintf(text + strlen(text), "GET /hello/%llu HTTP/1.1\r\nHost: a\r\n\r\n", (unsigned long long)names[i]);
    }
    client_send(client, text);
    atomic_fetch_add(&asked, (long)count);
    for (uint64_t i = 0; i < count; i++) {
        struct answer *answer = client_receive(client, "GET");
        snprintf(name, sizeof name, "hello %llu", (unsigned long long)names[i]);
        CHECK_EQ(answer->status, 200);
        CHECK_TEXT(answer->body, name);
        atomic_fetch_add(&answered, 1);
    }
}

static void send_body(struct client *client, const char *bytes, size_t size, uint64_t *random) {
    char line[160];
    bool is_chunked = random_below(random, 2);
    if (!is_chunked) {
        snprintf(line, sizeof line, "POST /echo HTTP/1.1\r\nHost: a\r\nX-Counts: 1\r\nContent-Length: %zu\r\n\r\n",
                 size);
        client_send(client, line);
        client_send_bytes(client, bytes, size);
        return;
    }
    client_send(client, "POST /echo HTTP/1.1\r\nHost: a\r\nX-Counts: 1\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (size_t at = 0, piece; at < size; at += piece) {
        piece = 1 + random_below(random, 9000);
        if (piece > size - at)
            piece = size - at;
        snprintf(line, sizeof line, "%zx\r\n", piece);
        client_send(client, line);
        client_send_bytes(client, bytes + at, piece);
        client_send(client, "\r\n");
    }
    client_send(client, "0\r\n\r\n");
}

static void ask_echo(struct client *client, uint64_t *random) {
    size_t size = random_below(random, BODY);
    char *bytes = malloc(size + 1);
    uint64_t sum = 0;
    CHECK(bytes != NULL);
    for (size_t i = 0; i < size; i++)
        sum += (unsigned char)(bytes[i] = (char)random_next(random));
    send_body(client, bytes, size, random);
    atomic_fetch_add(&asked, 1);
    struct answer *answer = client_receive(client, "POST");
    CHECK_EQ(answer->status, size > 0 ? 200 : 204); /* a handler that has said nothing */
    CHECK_EQ(answer->size, size);
    CHECK_EQ(answer->sum, sum);
    CHECK(!answer->is_cut);
    CHECK(memcmp(answer->body, bytes, size) == 0);
    atomic_fetch_add(&answered, 1);
    atomic_fetch_add(&sent, size);
    free(bytes);
}

/* True: the connection is over. */
static bool misbehave(struct client *client, uint64_t *random) {
    static const char *const halves[] = {"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 90\r\n\r\nabc", "GET /hel",
                                         "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"};
    switch (random_below(random, 5)) {
    case 0:
        client_send(client, halves[random_below(random, 3)]);
        linger_off(client);
        return true;
    case 1:
        client_send(client, halves[random_below(random, 3)]);
        return true;
    case 2:
        client_send(client, halves[random_below(random, 3)]);
        client_say_end(client);
        CHECK(client_receive(client, "POST")->status != 0); /* 400, or what the handler had begun to say */
        client_expect_end(client);
        return true;
    case 3:
        client_send(client, "nonsense\r\n\r\n");
        CHECK_EQ(client_receive(client, "GET")->status, 400);
        client_expect_end(client);
        return true;
    default:
        client_send(client, "GET /hello/a HTTP/1.1\r\nHost: a\r\n\r\n"); /* and does not wait for the answer */
        if (random_below(random, 2))
            linger_off(client);
        return true;
    }
}

static void *client_main(void *opaque) {
    uint64_t random = *(uint64_t *)opaque;
    for (long round = scaled(60, 4); round > 0; round--) {
        struct client *client = client_open();
        atomic_fetch_add(&opened, 1);
        bool is_over = false;
        while (!is_over) {
            uint64_t choice = random_below(&random, 8);
            if (choice < 3)
                ask_hello(client, &random);
            else if (choice < 6)
                ask_echo(client, &random);
            else
                is_over = choice == 6 || misbehave(client, &random);
        }
        client_close(client);
    }
    return NULL;
}

static void many_clients(void) {
    uint64_t seeds[CLIENTS];
    weft_fiber fibers[CLIENTS];
    struct on_thread_call threads[CLIENTS];
    bool is_thread[CLIENTS];
    site_open(NULL);
    site_route("GET /hello/:name", hello);
    site_route("POST /echo", echo);
    site_serve();
    for (int i = 0; i < CLIENTS; i++) {
        seeds[i] = random_next(&seed) | 1;
        is_thread[i] = random_below(&seed, 10) < THREADS_OF_TEN;
        if (is_thread[i])
            on_thread_start(&threads[i], client_main, &seeds[i]);
        else
            SPAWN(&fibers[i], client_main, &seeds[i]);
    }
    for (int i = 0; i < CLIENTS; i++) {
        if (is_thread[i])
            on_thread_finish(&threads[i]);
        else
            JOIN(fibers[i], NULL);
    }
    WAIT_UNTIL(site_stats().accepted == (uint64_t)atomic_load(&opened));
    WAIT_UNTIL(site_stats().connections == 0);
    CHECK_EQ(atomic_load(&asked), atomic_load(&answered));
    CHECK_EQ(atomic_load(&sent), atomic_load(&echoed));
    CHECK_GE(site_stats().requests, (uint64_t)atomic_load(&answered));
    site_close();
}

TEST(many_clients_are_served_and_none_for_another) {
    seed = wf_test_seed();
    run_fibers(many_clients);
    printf("    %ld connections, %ld requests\n", atomic_load(&opened), atomic_load(&answered));
}

/* ---- A stop in the middle of it ---- */

static void *hurried_main(void *opaque) {
    uint64_t random = *(uint64_t *)opaque;
    char text[] = "GET /hello/a HTTP/1.1\r\nHost: a\r\n\r\n";
    weft_fd fd;
    char bytes[4096];
    while (weft_connect(&fd, &site.where, NULL, weft_after(PATIENCE_NS)) == 0) {
        bool goes_on = true;
        for (uint64_t i = random_below(&random, 20); i > 0 && goes_on; i--)
            goes_on = weft_write_all(fd, text, sizeof text - 1, weft_after(PATIENCE_NS)) == 0 &&
                      weft_read(fd, bytes, sizeof bytes, weft_after(PATIENCE_NS)) > 0;
        weft_close(fd);
        if (!goes_on)
            return NULL; /* it stops */
    }
    return NULL;
}

static void stopped_midway(void) {
    uint64_t seeds[CLIENTS];
    weft_fiber fibers[CLIENTS];
    for (long round = scaled(20, 2); round > 0; round--) {
        site_open(NULL);
        site_route("GET /hello/:name", hello);
        site_serve();
        for (int i = 0; i < CLIENTS; i++) {
            seeds[i] = random_next(&seed) | 1;
            SPAWN(&fibers[i], hurried_main, &seeds[i]);
        }
        uint64_t enough = random_below(&seed, 200);
        WAIT_UNTIL(site_stats().requests >= enough);
        CHECK_EQ(weft_http_server_stop(site.server, weft_after(PATIENCE_NS)), 0);
        JOIN(site.fiber, NULL);
        CHECK_EQ(site.outcome, 0);
        CHECK_EQ(site_stats().connections, 0);
        CHECK_EQ(weft_close(site.listener), 0); /* those in its queue learn of it now */
        for (int i = 0; i < CLIENTS; i++)
            JOIN(fibers[i], NULL);
        weft_http_server_free(site.server);
    }
}

TEST(a_stop_among_many_clients_ends) {
    seed = wf_test_seed();
    run_fibers(stopped_midway);
}
