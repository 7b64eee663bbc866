/* SPDX-License-Identifier: MIT
 *
 * stress/http_load_test.c - a server at full size: very many connections, of peers that do what they should not; and very many at
 * once, most of which are idle.
 *
 * WEFT_HTTP_FULL=1 runs the long versions: 100,000 connections one after another, and 9,000 idle ones beside 1,000 that ask. They
 * print figures. Times are only printed; that nothing is lost, and that nothing is left or grows, is checked. Of the second kind
 * clients and server are two processes, since one may not have descriptors for both.
 */
#define IO_WITHOUT_KEEPER
#include <limits.h>
#include <malloc.h>
#include <sys/wait.h>

#include "http/http.h"
#include "os/memory.h"
#include "support/child.h"
#include "support/descriptors.h"
#include "support/http.h"

enum { SETTLED = 15 }; /* looks, ten a second, that found no less */

static bool is_full(void) {
    const char *value = getenv("WEFT_HTTP_FULL");
    return value && value[0] == '1';
}

static long amount(long usual, long least, long full) {
    return is_full() ? full : scaled(usual, least);
}

/* In KiB, of this process. */
static long resident(void *arg) {
    (void)arg;
    char line[256];
    long size = -1;
    FILE *file = fopen("/proc/self/status", "r");
    CHECK(file != NULL);
    while (size < 0 && fgets(line, sizeof line, file))
        (void)sscanf(line, "VmRSS: %ld", &size);
    fclose(file);
    CHECK_GE(size, 0);
    return size;
}

/* When it has stopped getting less: memory goes back step by step, some time after it was used. */
static long settle(long (*look)(void *arg), void *arg) {
    long least = LONG_MAX;
    for (int same = 0; same < SETTLED; same++) {
        long now = look(arg);
        if (now < least)
            same = 0;
        least = now < least ? now : least;
        CHECK_EQ(weft_sleep(weft_after(100 * WEFT_MILLISECOND)), 0);
    }
    return least;
}

/* As many descriptors as it may have. */
static long raise_descriptors(void) {
    struct rlimit limit;
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    return limit.rlim_cur < 1000000 ? (long)limit.rlim_cur : 1000000;
}

static void hello(weft_http *http, void *arg) {
    (void)arg;
    char text[64];
    int size = snprintf(text, sizeof text, "hello %s", weft_http_parameter(http, "name"));
    (void)weft_http_reply(http, 200, NULL, text, (size_t)size);
}

/* ---- Many connections, one after another ---- */

/* ADDRESSES: of the server, so that ports which wait after a close do not run out. NAMES: of requests that are sent together. A
 * body is so long that nobody is too slow with it, however long the machine leaves us waiting. SOCKET_ROOM: a flood stops soon.
 * GROWTH_KIB: of the resident memory. */
enum {
    PEERS_MOST = 256,
    ADDRESSES = 8,
    NAMES = 4,
    BODY_LEAST = 4096,
    BODY_MOST = 8192,
    SOCKET_ROOM = 32768,
    GROWTH_KIB = 2048
};

struct peer {
    int slot;
    uint64_t random;
    struct client *client;
};

/* What there is when nobody is connected. */
struct level {
    int descriptors;
    int64_t blocks;
    long resident;
    long
        with_free; /* and with what the C library has free, of which each of its arenas may keep as much as ever was in use */
};

static struct peer peers[PEERS_MOST];
static int peer_count;
static weft_semaphore over[PEERS_MOST]; /* a permit: the flood for that peer has ended */
static atomic_long left, opened, asked, answered;

/* How many bytes they were, and their sum. */
static void add_up(weft_http *http, void *arg) {
    (void)arg;
    unsigned char piece[1000];
    unsigned long size = 0, sum = 0;
    ssize_t count;
    while ((count = weft_http_read(http, piece, sizeof piece)) > 0) {
        size += (unsigned long)count;
        for (ssize_t i = 0; i < count; i++)
            sum += piece[i];
    }
    if (count == 0)
        (void)weft_http_print(http, "%lu %lu", size, sum);
}

/* More than anybody reads. */
static void flood(weft_http *http, void *arg) {
    static const char bytes[65536];
    (void)arg;
    while (weft_http_write(http, bytes, sizeof bytes) == 0)
        continue;
    weft_semaphore_release(&over[atoi(weft_http_parameter(http, "slot"))], 1);
}

static void peer_open(struct peer *peer) {
    char ip[32];
    weft_address where;
    weft_socket_options small = {.receive_buffer = SOCKET_ROOM};
    snprintf(ip, sizeof ip, "127.0.0.%ld", 1 + atomic_fetch_add(&opened, 1) % ADDRESSES);
    CHECK_EQ(weft_address_of(&where, ip, weft_address_port(&site.where)), 0);
    peer->client->at = peer->client->end = 0;
    CHECK_EQ(weft_connect(&peer->client->fd, &where, &small, weft_after(PATIENCE_NS)), 0);
}

static void reset_at_close(struct peer *peer) {
    struct linger at_once = {.l_onoff = 1};
    CHECK_EQ(setsockopt(weft_fd_number(peer->client->fd), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
}

/* Whatever the limits are, one who sends its request at once is not too slow. */
static void ask_names(struct peer *peer) {
    char text[NAMES * 80] = "", reply[32];
    unsigned names[NAMES];
    uint64_t count = 1 + random_below(&peer->random, NAMES);
    for (uint64_t i = 0; i < count; i++) {
        names[i] = (unsigned)random_below(&peer->random, 1000000);
        sprintf(text + strlen(text), "GET /hello/%u HTTP/1.1\r\nHost: a\r\n\r\n", names[i]);
    }
    client_send(peer->client, text);
    atomic_fetch_add(&asked, (long)count);
    for (uint64_t i = 0; i < count; i++) {
        struct answer *answer = client_receive(peer->client, "GET");
        snprintf(reply, sizeof reply, "hello %u", names[i]);
        CHECK_EQ(answer->status, 200);
        CHECK_TEXT(answer->body, reply);
        atomic_fetch_add(&answered, 1);
    }
}

static void ask_sum(struct peer *peer, bool says_end) {
    char text[200 + BODY_MOST], reply[64];
    unsigned long size = BODY_LEAST + random_below(&peer->random, BODY_MOST - BODY_LEAST), sum = 0;
    int head = sprintf(text, "POST /sum HTTP/1.1\r\nHost: a\r\nContent-Length: %lu\r\n\r\n", size);
    for (unsigned long i = 0; i < size; i++)
        sum += (unsigned char)(text[head + (int)i] = (char)random_next(&peer->random));
    client_send_bytes(peer->client, text, (size_t)head + size);
    if (says_end)
        client_say_end(peer->client);
    atomic_fetch_add(&asked, 1);
    struct answer *answer = client_receive(peer->client, "POST");
    snprintf(reply, sizeof reply, "%lu %lu", size, sum);
    CHECK_EQ(answer->status, 200);
    CHECK_TEXT(answer->body, reply);
    atomic_fetch_add(&answered, 1);
}

static void is_good(struct peer *peer) {
    for (uint64_t count = 1 + random_below(&peer->random, 3); count > 0; count--) {
        if (random_below(&peer->random, 2))
            ask_names(peer);
        else
            ask_sum(peer, false);
    }
}

static const char *const half_heads[] = {"G", "GET /hello/1 HTTP/1.1\r\n", "GET /hello/1 HTTP/1.1\r\nHost: a\r\nX: "};
static const char *const half_bodies[] = {"POST /sum HTTP/1.1\r\nHost: a\r\nContent-Length: 90\r\n\r\nabc",
                                          "POST /sum HTTP/1.1\r\nHost: a\r\nContent-Length: 90\r\n\r\n",
                                          "POST /sum HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"};

static void send_half(struct peer *peer, bool is_head) {
    client_send(peer->client, (is_head ? half_heads : half_bodies)[random_below(&peer->random, 3)]);
}

static void resets(struct peer *peer) {
    uint64_t choice = random_below(&peer->random, 4);
    if (choice == 1)
        client_send(peer->client, "GET /hello/1 HTTP/1.1\r\nHost: a\r\n\r\n");
    else if (choice > 1)
        send_half(peer, choice == 2);
    reset_at_close(peer);
}

static void half_closes(struct peer *peer) {
    if (random_below(&peer->random, 2)) {
        ask_sum(peer, true); /* it can still hear the answer */
    } else {
        send_half(peer, random_below(&peer->random, 2));
        client_say_end(peer->client);
        int status = client_receive(peer->client, "POST")->status;
        CHECK(status == 400 || status == 408); /* when it took long between the two */
    }
    client_expect_end(peer->client);
}

static void stalls_in_head(struct peer *peer) {
    send_half(peer, true);
    CHECK_EQ(client_receive(peer->client, "GET")->status, 408);
    client_expect_end(peer->client);
}

static void stalls_in_body(struct peer *peer) {
    send_half(peer, false);
    CHECK_EQ(client_receive(peer->client, "POST")->status, 408);
    client_expect_end(peer->client);
}

/* Byte by byte, and as quickly as that goes: it may be quick enough or not. */
static void dribbles(struct peer *peer) {
    static const char text[] = "POST /sum HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n\1\2\3\4";
    for (size_t i = 0; i < sizeof text - 1 && client_try_bytes(peer->client, text + i, 1); i++)
        weft_yield();
    struct answer *answer = client_receive(peer->client, "POST");
    CHECK(answer->status == 200 || answer->status == 408 || answer->status == 0);
    if (answer->status == 200)
        CHECK_TEXT(answer->body, "4 10");
}

/* Always something, and never the end: in a field, or in a body that has a length. */
static void dribbles_on(struct peer *peer) {
    bool is_head = random_below(&peer->random, 2);
    client_send(peer->client, is_head ? half_heads[2] : half_bodies[1]);
    while (client_try_bytes(peer->client, "x", 1) &&
           weft_wait_readable(peer->client->fd, weft_after(10 * WEFT_MILLISECOND)) == -ETIMEDOUT)
        continue;
    int status = client_receive(peer->client, "POST")->status;
    CHECK(status == 408 || status == 0 || (status == 200 && !is_head)); /* 90 bytes have gone after all */
}

static void read_some(struct peer *peer) {
    char text[80];
    sprintf(text, "GET /flood/%d HTTP/1.1\r\nHost: a\r\n\r\n", peer->slot);
    client_send(peer->client, text);
    CHECK_EQ(client_byte(peer->client), 'H');
}

static void stops_reading(struct peer *peer) {
    read_some(peer);
    CHECK_EQ(weft_semaphore_acquire(&over[peer->slot], 1, weft_after(PATIENCE_NS)), 0);
}

static void leaves_midway(struct peer *peer) {
    read_some(peer);
    if (random_below(&peer->random, 2))
        reset_at_close(peer);
    CHECK_EQ(weft_close(peer->client->fd), 0);
    CHECK_EQ(weft_semaphore_acquire(&over[peer->slot], 1, weft_after(PATIENCE_NS)), 0);
    peer->client->fd = WEFT_NO_FD;
}

static void (*const manners[])(struct peer *peer) = {
    is_good,        is_good,        is_good,  is_good,     resets,        half_closes,
    stalls_in_head, stalls_in_body, dribbles, dribbles_on, stops_reading, leaves_midway,
};

static void *peer_main(void *opaque) {
    struct peer *peer = opaque;
    while (atomic_fetch_sub(&left, 1) > 0) {
        peer_open(peer);
        manners[random_below(&peer->random, sizeof manners / sizeof *manners)](peer);
        if (peer->client->fd.bits)
            CHECK_EQ(weft_close(peer->client->fd), 0);
    }
    return NULL;
}

static uint64_t count_fibers(void) {
    weft_stats stats;
    CHECK_EQ(weft_get_stats(NULL, &stats), 0);
    return stats.records_held;
}

/* Once nothing is left of them but the server and whoever calls. Spare works do not count: they are as many as were ever needed
 * at once. */
static struct level level_now(void) {
    WAIT_UNTIL(site_stats().accepted == (uint64_t)atomic_load(&opened));
    WAIT_UNTIL(count_fibers() == 2);
    CHECK_EQ(site_stats().connections, 0);
    wf_lock_take(&site.server->lock);
    int64_t spare = site.server->spare_count;
    wf_lock_drop(&site.server->lock);
    struct level level = {.descriptors = count_descriptors(), .blocks = wf_os_live_blocks() - spare};
    level.with_free = is_full() ? settle(resident, NULL) : resident(NULL);
    malloc_trim(0);
    level.resident = resident(NULL);
    printf(
        "    %ld connections, %ld requests of the good, %llu refused: %d descriptors, %lld blocks, %ld KiB (%ld with "
        "what malloc keeps)\n",
        atomic_load(&opened), atomic_load(&answered), (unsigned long long)site_stats().refused, level.descriptors,
        (long long)level.blocks, level.resident, level.with_free);
    return level;
}

static void run_peers(long count) {
    weft_fiber fibers[PEERS_MOST];
    atomic_store(&left, count);
    for (int i = 0; i < peer_count; i++)
        SPAWN(&fibers[i], peer_main, &peers[i]);
    for (int i = 0; i < peer_count; i++)
        JOIN(fibers[i], NULL);
    CHECK_EQ(atomic_load(&asked), atomic_load(&answered));
}

/* More connections at once than there are peers, since some stay for a moment when their peers have gone: there is a stack for
 * every one from then on. */
static void crowd(void) {
    static weft_fd fds[4 * PEERS_MOST];
    for (int i = 0; i < 4 * peer_count; i++) {
        peer_open(&peers[0]);
        fds[i] = peers[0].client->fd;
    }
    WAIT_UNTIL(site_stats().connections == 4 * (uint64_t)peer_count);
    for (int i = 0; i < 4 * peer_count; i++)
        CHECK_EQ(weft_close(fds[i]), 0);
}

/* On all addresses of the machine. */
static void wild_site_open(void) {
    weft_http_options options = {.head_timeout = 50 * WEFT_MILLISECOND, .body_timeout = 50 * WEFT_MILLISECOND};
    weft_socket_options many = {.backlog = 4096, .send_buffer = SOCKET_ROOM};
    CHECK_EQ(weft_http_server_new(&site.server, &options), 0);
    CHECK_EQ(weft_address_parse(&site.where, "0.0.0.0:0"), 0);
    CHECK_EQ(weft_listen(&site.listener, &site.where, &many), 0);
    CHECK_EQ(weft_local_address(site.listener, &site.where), 0);
    site_route("GET /hello/:name", hello);
    site_route("POST /sum", add_up);
    site_route("GET /flood/:slot", flood);
    site_serve();
}

/* All of its memory is touched before anything is measured. */
static void peers_init(void) {
    uint64_t seed = wf_test_seed();
    peer_count = (int)amount(64, 16, PEERS_MOST);
    for (int i = 0; i < peer_count; i++) {
        struct client *client = malloc(sizeof *client);
        CHECK(client != NULL);
        memset(client, 1, sizeof *client);
        peers[i] = (struct peer){.slot = i, .random = random_next(&seed) | 1, .client = client};
        over[i] = (weft_semaphore)WEFT_SEMAPHORE_INIT(0);
    }
}

static void wild_peers(void) {
    wild_site_open();
    peers_init();
    crowd();
    run_peers(amount(200, 40, 10000));
    struct level first = level_now();
    run_peers(amount(200, 40, 90000));
    struct level last = level_now();
    CHECK_EQ(last.descriptors, first.descriptors);
    if (is_full()) { /* else some worker may not have had a timer yet, or the like */
        CHECK_EQ(last.blocks, first.blocks);
        if (!IS_SANITIZED)
            CHECK_LE(last.resident - first.resident, GROWTH_KIB);
    }
    site_close();
    for (int i = 0; i < peer_count; i++)
        free(peers[i].client);
}

TEST(peers_who_misbehave_leave_nothing_behind) {
    raise_descriptors();
    run_fibers_strictly(wild_peers);
}

/* ---- Many connections at once, most of them idle ---- */

/* IDLE_KIB: what one may cost. RATE: requests a second on each busy connection, which leaves half of a machine with two processors
 * idle. */
enum { IDLE_MOST = 9000, BUSY_MOST = 1000, IDLE_KIB = 8, RATE = 10, ROUNDS_MOST = 80, SPARE_DESCRIPTORS = 200 };

struct busy {
    int index;
    weft_fd fd;
};

static struct {
    int clients; /* a pipe to them, which ends with them */
    int idle, busy;
    long rounds;
    weft_time start;
    weft_fd idles[IDLE_MOST];
    struct busy busies[BUSY_MOST];
    int64_t took[BUSY_MOST * ROUNDS_MOST]; /* from when each was due */
} load;

static void tell_memory(weft_http *http, void *arg) {
    (void)arg;
    char text[32];
    int size = snprintf(text, sizeof text, "%ld", resident(NULL));
    (void)weft_http_reply(http, 200, NULL, text, (size_t)size);
}

/* In the parent: serves until the clients have gone. */
static void load_serve(void) {
    weft_fd clients;
    char nothing, port[32];
    site_open(NULL);
    site_route("GET /hello/:name", hello);
    site_route("GET /memory", tell_memory);
    site_serve();
    snprintf(port, sizeof port, "%u", weft_address_port(&site.where));
    CHECK_EQ(weft_adopt(&clients, load.clients, 0), 0);
    CHECK_EQ(weft_write_all(clients, port, sizeof port, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(weft_read(clients, &nothing, 1, WEFT_NEVER), 0);
    WAIT_UNTIL(site_stats().connections == 0);
    CHECK_EQ(site_stats().accepted, load.idle + load.busy + 1);
    CHECK_EQ(site_stats().refused, 0);
    CHECK_EQ(weft_close(clients), 0);
    site_close();
}

static weft_fd load_open(void) {
    weft_fd fd;
    CHECK_EQ(weft_connect(&fd, &site.where, NULL, weft_after(PATIENCE_NS)), 0);
    return fd;
}

/* One request and its answer, which fits into one piece. Returns its body. */
static const char *load_ask(weft_fd fd, const char *target, char answer[512]) {
    char text[100];
    int size = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", target);
    CHECK_EQ(weft_write_all(fd, text, (size_t)size, weft_after(PATIENCE_NS)), 0);
    ssize_t count = weft_read(fd, answer, 511, weft_after(PATIENCE_NS));
    CHECK_GE(count, 1);
    answer[count] = 0;
    CHECK(strncmp(answer, "HTTP/1.1 200 OK\r\n", 17) == 0);
    const char *body = strstr(answer, "\r\n\r\n");
    CHECK(body != NULL);
    return body + 4;
}

static void load_ask_hello(weft_fd fd, long name) {
    char target[32], answer[512];
    snprintf(target, sizeof target, "/hello/%ld", name);
    const char *body = load_ask(fd, target, answer);
    CHECK(strncmp(body, "hello ", 6) == 0);
    CHECK_EQ(atol(body + 6), name);
}

static long load_memory(void *control) {
    char answer[512];
    return atol(load_ask(*(weft_fd *)control, "/memory", answer));
}

static void load_open_idles(weft_fd control) {
    bool is_measured = is_full() && load.idle > 0;
    long before = is_measured ? settle(load_memory, &control) : 0;
    for (int i = 0; i < load.idle; i++) {
        load.idles[i] = load_open();
        load_ask_hello(load.idles[i], i);
    }
    if (!is_measured)
        return;
    long bytes = (settle(load_memory, &control) - before) * 1024 / load.idle;
    printf("    %d idle connections: %ld bytes each\n", load.idle, bytes);
    if (!IS_SANITIZED)
        CHECK_LE(bytes, IDLE_KIB * 1024);
}

/* At an even pace, and out of step with the others. */
static void *load_busy_main(void *opaque) {
    struct busy *busy = opaque;
    const int64_t pause = WEFT_SECOND / RATE;
    for (long i = 0; i < load.rounds; i++) {
        weft_time due = load.start + i * pause + pause * busy->index / load.busy;
        CHECK_EQ(weft_sleep(due), 0);
        load_ask_hello(busy->fd, i * load.busy + busy->index);
        load.took[i * load.busy + busy->index] = weft_now() - due;
    }
    return NULL;
}

static int compare_times(const void *left_time, const void *right_time) {
    int64_t a = *(const int64_t *)left_time, b = *(const int64_t *)right_time;
    return (a > b) - (a < b);
}

static void load_be_busy(void) {
    static weft_fiber fibers[BUSY_MOST];
    for (int i = 0; i < load.busy; i++) {
        load.busies[i] = (struct busy){.index = i, .fd = load_open()};
        load_ask_hello(load.busies[i].fd, i);
    }
    load.start = weft_now();
    for (int i = 0; i < load.busy; i++)
        SPAWN(&fibers[i], load_busy_main, &load.busies[i]);
    for (int i = 0; i < load.busy; i++) {
        JOIN(fibers[i], NULL);
        CHECK_EQ(weft_close(load.busies[i].fd), 0);
    }
    size_t count = (size_t)load.busy * (size_t)load.rounds;
    qsort(load.took, count, sizeof *load.took, compare_times);
    printf("    %d idle, %d busy connections, %zu requests: p50 %lld, p99 %lld, p99.9 %lld, max %lld us\n", load.idle,
           load.busy, count, (long long)load.took[count / 2] / 1000, (long long)load.took[count * 99 / 100] / 1000,
           (long long)load.took[count * 999 / 1000] / 1000, (long long)load.took[count - 1] / 1000);
}

/* In the child. */
static void load_clients(void) {
    weft_fd control = load_open();
    load_open_idles(control);
    load_be_busy();
    for (int i = 0; i < load.idle; i++) {
        load_ask_hello(load.idles[i], i); /* it is still there */
        CHECK_EQ(weft_close(load.idles[i]), 0);
    }
    CHECK_EQ(weft_close(control), 0);
}

static void load_child(int server) {
    char port[32];
    CHECK_EQ(read(server, port, sizeof port), sizeof port);
    CHECK_EQ(weft_address_of(&site.where, "127.0.0.1", (unsigned)atoi(port)), 0);
    run_fibers(load_clients);
    fflush(NULL);
    _exit(0);
}

static void load_run(int idle) {
    int ends[2], status;
    load.idle = idle;
    fflush(NULL);
    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    pid_t pid = fork();
    CHECK_GE(pid, 0);
    if (pid == 0) {
        close(ends[0]);
        load_child(ends[1]);
    }
    close(ends[1]);
    load.clients = ends[0];
    run_fibers(load_serve);
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
}

TEST(idle_connections_cost_little_and_nobody_any_time) {
    long room = raise_descriptors() - BUSY_MOST - SPARE_DESCRIPTORS;
    long idle = amount(200, 20, room < IDLE_MOST ? room : IDLE_MOST);
    load.busy = (int)amount(20, 5, BUSY_MOST);
    load.rounds = amount(2, 2, ROUNDS_MOST);
    load_run(0);
    load_run((int)idle);
    if (is_full())
        load_run(0); /* how much of a difference is noise */
}
