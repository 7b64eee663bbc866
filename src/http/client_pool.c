/* SPDX-License-Identifier: MIT
 *
 * http/client_pool.c - connections: how they are opened, kept and found again. Model: http/client.h.
 *
 * Who wants a connection first takes room, of the origin and then of the client, and waits for it if need be; so there are never
 * more exchanges with a connection than the limits allow. Since a new one is opened only when none to that origin is idle, the
 * idle ones of an origin fit into its limit as well; those of other origins make room for it, the oldest first.
 *
 * An idle connection is never read. If there is something to read, the server has closed it, or speaks out of turn; either
 * way it is of no use. That is looked at when somebody wants it, and so is its age; nothing runs in the background.
 *
 * Nothing is closed under the lock: that may take its time.
 */
#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "http/client.h"
#include "os/clock.h"
#include "os/memory.h"

static int origin_hold(weft_http_client *client, const struct wf_url *url, struct wf_http_origin **out);
static struct wf_list *bucket_of(weft_http_client *client, const struct wf_url *url);
static void origin_let_go(weft_http_client *client, struct wf_http_origin *origin);
static int room_take(weft_http_client *client, struct wf_http_origin *origin, int64_t deadline_ns);
static void room_give(weft_http_client *client, struct wf_http_origin *origin);
static struct wf_http_peer *idle_take(weft_http_client *client, struct wf_http_origin *origin);
static void idle_remove(weft_http_client *client, struct wf_http_peer *peer);
static void close_old(weft_http_client *client);
static bool close_one(weft_http_client *client, int64_t older_than, uint32_t most_open);
static int peer_open(weft_http_client *client, struct wf_http_origin *origin, struct wf_http_peer **out,
                     int64_t deadline_ns);
static void peer_end(weft_http_client *client, struct wf_http_peer *peer);
static int link_open(struct wf_http_link *link, const struct wf_http_origin *origin, const weft_socket_options *options,
                     int64_t deadline_ns);

int wf_http_peer_take(weft_http_client *client, const struct wf_url *url, bool is_fresh, struct wf_http_peer **out,
                      int64_t deadline_ns) {
    struct wf_http_origin *origin;
    struct wf_http_peer *peer = NULL;
    int error = origin_hold(client, url, &origin);
    if (error)
        return error;
    error = room_take(client, origin, deadline_ns);
    if (error)
        goto let_go;
    close_old(client);
    while (!is_fresh && (peer = idle_take(client, origin)) && !peer->link.ops->is_quiet(&peer->link))
        peer_end(client, peer);
    if (peer) {
        wf_client_stat(client, WF_CLIENT_REUSED);
        *out = peer;
        return 0;
    }
    error = peer_open(client, origin, &peer, deadline_ns);
    if (error)
        goto give_room;
    wf_client_stat(client, WF_CLIENT_OPENED);
    *out = peer;
    return 0;

give_room:
    room_give(client, origin);
let_go:
    origin_let_go(client, origin);
    return error;
}

void wf_http_peer_give(weft_http_client *client, struct wf_http_peer *peer) {
    struct wf_http_origin *origin = peer->origin;
    peer->was_used = true;
    peer->idle_since = wf_os_now();
    wf_lock_take(&client->lock);
    wf_list_append(&origin->idle, &peer->node);
    wf_list_append(&client->idle, &peer->age);
    client->idle_count++;
    wf_lock_drop(&client->lock);
    room_give(client, origin); /* the hold on the origin stays with the peer */
    close_old(client);
}

void wf_http_peer_drop(weft_http_client *client, struct wf_http_peer *peer) {
    struct wf_http_origin *origin = peer->origin;
    peer_end(client, peer);
    room_give(client, origin);
    origin_let_go(client, origin);
}

weft_fd wf_http_peer_release(weft_http_client *client, struct wf_http_peer *peer) {
    weft_fd fd = peer->link.fd;
    peer->link.ops = NULL;
    wf_http_peer_drop(client, peer);
    return fd;
}

int weft_http_client_close_idle(weft_http_client *client) {
    int count = 0;
    if (!client)
        return -EINVAL;
    while (close_one(client, WF_NEVER, 0))
        count++;
    return count;
}

/* ---- Origins ---- */

/* Found or made, with one more user. */
static int origin_hold(weft_http_client *client, const struct wf_url *url, struct wf_http_origin **out) {
    size_t size = strlen(url->host) + 1;
    struct wf_http_origin *made = wf_os_alloc(sizeof *made + size);
    struct wf_http_origin *origin = NULL;
    if (!made)
        return -ENOMEM;
    wf_list_init(&made->idle);
    made->room.permits = client->options.max_per_host;
    made->port = url->port;
    made->is_secure = url->is_secure;
    memcpy(made->host, url->host, size);
    wf_lock_take(&client->lock);
    struct wf_list *bucket = bucket_of(client, url);
    for (struct wf_list *node = bucket->next; node != bucket && !origin; node = node->next) {
        struct wf_http_origin *here = WF_CONTAINER(node, struct wf_http_origin, node);
        if (here->port == url->port && here->is_secure == url->is_secure && strcmp(here->host, url->host) == 0)
            origin = here;
    }
    if (!origin) {
        origin = made;
        made = NULL;
        wf_list_append(bucket, &origin->node);
    }
    origin->users++;
    wf_lock_drop(&client->lock);
    wf_os_free(made);
    *out = origin;
    return 0;
}

/* FNV-1a over host and port. */
static struct wf_list *bucket_of(weft_http_client *client, const struct wf_url *url) {
    uint32_t hash = 2166136261u ^ url->port;
    for (const char *at = url->host; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    return &client->origins[hash % WF_CLIENT_BUCKETS];
}

static void origin_let_go(weft_http_client *client, struct wf_http_origin *origin) {
    wf_lock_take(&client->lock);
    bool is_last = --origin->users == 0;
    if (is_last)
        wf_list_remove(&origin->node);
    wf_lock_drop(&client->lock);
    if (is_last)
        wf_os_free(origin);
}

/* ---- Room ---- */

static int room_take(weft_http_client *client, struct wf_http_origin *origin, int64_t deadline_ns) {
    int error = weft_semaphore_acquire(&origin->room, 1, deadline_ns);
    if (error)
        return error;
    error = weft_semaphore_acquire(&client->room, 1, deadline_ns);
    if (error)
        weft_semaphore_release(&origin->room, 1);
    return error;
}

static void room_give(weft_http_client *client, struct wf_http_origin *origin) {
    weft_semaphore_release(&client->room, 1);
    weft_semaphore_release(&origin->room, 1);
}

/* The one that was used last: it is the one most likely to live. */
static struct wf_http_peer *idle_take(weft_http_client *client, struct wf_http_origin *origin) {
    struct wf_http_peer *peer = NULL;
    wf_lock_take(&client->lock);
    if (!wf_list_is_empty(&origin->idle)) {
        peer = WF_CONTAINER(origin->idle.previous, struct wf_http_peer, node);
        idle_remove(client, peer);
        WF_ASSERT(origin->users > 1);
        origin->users--; /* that of the exchange is enough */
    }
    wf_lock_drop(&client->lock);
    return peer;
}

static void idle_remove(weft_http_client *client, struct wf_http_peer *peer) {
    wf_list_remove(&peer->node);
    wf_list_remove(&peer->age);
    client->idle_count--;
}

static void close_old(weft_http_client *client) {
    int64_t limit = wf_os_now() - client->options.idle_timeout;
    while (close_one(client, limit, UINT32_MAX))
        continue;
}

/* The oldest idle one, if it is older than that, or more than so many are open. */
static bool close_one(weft_http_client *client, int64_t older_than, uint32_t most_open) {
    struct wf_http_peer *peer = NULL;
    wf_lock_take(&client->lock);
    if (!wf_list_is_empty(&client->idle)) {
        peer = WF_CONTAINER(client->idle.next, struct wf_http_peer, age);
        if (peer->idle_since < older_than || client->open_count > most_open)
            idle_remove(client, peer);
        else
            peer = NULL;
    }
    wf_lock_drop(&client->lock);
    if (!peer)
        return false;
    struct wf_http_origin *origin = peer->origin;
    peer_end(client, peer);
    origin_let_go(client, origin);
    return true;
}

/* ---- Opening and closing ---- */

static int peer_open(weft_http_client *client, struct wf_http_origin *origin, struct wf_http_peer **out,
                     int64_t deadline_ns) {
    struct wf_http_peer *peer = wf_os_alloc(sizeof *peer);
    if (!peer)
        return -ENOMEM;
    peer->origin = origin;
    wf_list_init(&peer->node);
    wf_list_init(&peer->age);
    wf_lock_take(&client->lock);
    client->open_count++;
    wf_lock_drop(&client->lock);
    while (close_one(client, INT64_MIN, client->options.max_connections))
        continue;
    int error = link_open(&peer->link, origin, &client->options.socket,
                          wf_http_sooner(deadline_ns, client->options.connect_timeout));
    if (error) {
        peer_end(client, peer);
        return error;
    }
    *out = peer;
    return 0;
}

static void peer_end(weft_http_client *client, struct wf_http_peer *peer) {
    if (peer->link.ops)
        peer->link.ops->close(&peer->link);
    wf_os_free(peer);
    wf_lock_take(&client->lock);
    client->open_count--;
    wf_lock_drop(&client->lock);
}

/* ---- Plain sockets ---- */

static ssize_t plain_read(struct wf_http_link *link, void *buffer, size_t size, int64_t deadline_ns) {
    return weft_read(link->fd, buffer, size, deadline_ns);
}

static ssize_t plain_write(struct wf_http_link *link, const struct iovec *parts, int count, int64_t deadline_ns) {
    return weft_writev(link->fd, parts, count, deadline_ns);
}

static int plain_wait(struct wf_http_link *link, bool or_comes, int64_t deadline_ns) {
    if (!or_comes)
        return weft_wait_writable(link->fd, deadline_ns);
    weft_case cases[] = {weft_on_readable(link->fd), weft_on_writable(link->fd)};
    int chosen = weft_select(cases, 2, deadline_ns);
    if (chosen < 0)
        return chosen;
    return cases[chosen].status < 0 ? cases[chosen].status : chosen == 0;
}

static bool plain_is_quiet(struct wf_http_link *link) {
    int status = weft_wait_readable(link->fd, WEFT_NOW);
    return status == -ETIMEDOUT || status == -ECANCELED;
}

static void plain_close(struct wf_http_link *link) {
    (void)weft_close(link->fd);
}

static const struct wf_http_link_ops plain_ops = {plain_read, plain_write, plain_wait, plain_is_quiet, plain_close};

static int link_open(struct wf_http_link *link, const struct wf_http_origin *origin, const weft_socket_options *options,
                     int64_t deadline_ns) {
    if (origin->is_secure)
        return -EPROTONOSUPPORT;
    int error = weft_dial(&link->fd, origin->host, origin->port, options, deadline_ns);
    if (!error)
        link->ops = &plain_ops;
    return error;
}
