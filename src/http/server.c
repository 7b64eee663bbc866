/* SPDX-License-Identifier: MIT
 *
 * http/server.c - servers: listening, stopping.
 *
 * Each listener has a fiber that accepts. It has two scopes, one inside the other: the outer one has the connections as its
 * children, the inner one is only for accepting, so that one who stops the server can end the waiting for connections without
 * touching those that are there. When the outer scope is closed, all of them have ended.
 */
#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "http/http.h"
#include "os/memory.h"
#include "os/report.h"
#include "wait/wait.h"

/* 64 KiB of head are room for every cookie there is. */
enum { HEAD_LEAST = 256, HEAD_MOST = 1 << 20 };
#define MEMORY_PAUSE (10 * WEFT_MILLISECOND)

struct serving {
    struct wf_leaver leaver;
    struct wf_list node; /* under the server's lock; so are the scopes */
    weft_http_server *server;
    weft_fd listener;
    weft_scope *connections;
    weft_scope *accepting;
    bool has_begun; /* then how accepting went is the outcome, whatever connections leave behind */
    int outcome;
};

static int options_check(weft_http_options *options);
static void default_time(int64_t *time, int64_t seconds);
static void serving_left(struct wf_leaver *leaver);
static struct wf_http_conn *find_unbegun(struct serving *serving);
static int serve_body(weft_scope *scope, void *opaque);
static int accept_body(weft_scope *scope, void *opaque);
static int accept_one(struct serving *serving);
static bool serving_begin(struct serving *serving, weft_scope **place, weft_scope *scope);
static void serving_end(struct serving *serving, weft_scope **place);

int weft_http_server_new(weft_http_server **out, const weft_http_options *given) {
    weft_http_options options = {0};
    if (given)
        options = *given;
    if (!out || options_check(&options) != 0)
        return -EINVAL;
    if (!wf_http_is_there())
        return -ENOSYS;
    weft_http_server *server = wf_os_alloc(sizeof *server);
    if (!server)
        return -ENOMEM;
    server->options = options;
    server->work_size = sizeof(struct wf_http_work) + options.max_head + WF_HTTP_PIECE;
    int error = wf_http_routes_new(&server->routes);
    if (error) {
        wf_os_free(server);
        return error;
    }
    wf_list_init(&server->servings);
    wf_list_init(&server->connections);
    server->room.permits = options.max_connections;
    *out = server;
    return 0;
}

static int options_check(weft_http_options *options) {
    if (options->idle_timeout < 0 || options->head_timeout < 0 || options->body_timeout < 0)
        return -EINVAL;
    if (options->max_head && (options->max_head < HEAD_LEAST || options->max_head > HEAD_MOST))
        return -EINVAL;
    if (options->server_name &&
        (strlen(options->server_name) > 64 || !wf_http_is_all(options->server_name, WF_HTTP_VALUE)))
        return -EINVAL;
    if (!options->max_head)
        options->max_head = 16 * 1024;
    if (!options->max_body)
        options->max_body = 16 * 1024 * 1024;
    if (!options->max_connections)
        options->max_connections = 100000;
    if (!options->min_rate)
        options->min_rate = 256;
    default_time(&options->idle_timeout, 75);
    default_time(&options->head_timeout, 10);
    default_time(&options->body_timeout, 30);
    return 0;
}

static void default_time(int64_t *time, int64_t seconds) {
    if (*time == 0)
        *time = seconds * WEFT_SECOND;
}

void weft_http_server_free(weft_http_server *server) {
    if (!server)
        return;
    if (!wf_list_is_empty(&server->servings) || !wf_list_is_empty(&server->connections))
        wf_fatal("an HTTP server was freed while it serves");
    while (server->spare) {
        struct wf_http_work *work = server->spare;
        server->spare = work->next;
        wf_os_free(work);
    }
    if (server->pack_ops)
        server->pack_ops->free(server);
    wf_http_routes_free(server->routes);
    wf_os_free(server);
}

int weft_http_route(weft_http_server *server, const char *pattern, weft_http_handler handler, void *arg) {
    if (!server || !pattern || !handler)
        return -EINVAL;
    wf_lock_take(&server->lock);
    int error =
        wf_list_is_empty(&server->servings) ? wf_http_routes_add(server->routes, pattern, handler, arg) : -EBUSY;
    wf_lock_drop(&server->lock);
    return error;
}

/* ---- Serving ---- */

int weft_http_serve(weft_http_server *server, weft_fd listener) {
    struct wf_fiber *fiber = wf_fiber_self();
    if (!server)
        return -EINVAL;
    if (!fiber)
        return -EPERM;
    struct serving serving = {.server = server, .listener = listener};
    weft_scope_options options = {.keep_going = true};
    serving.leaver = (struct wf_leaver){.leave = serving_left, .drop = serving_left};
    wf_leaver_push(wf_fiber_stack(fiber), &serving.leaver);
    weft_waitgroup_add(&server->serving, 1);
    wf_lock_take(&server->lock);
    wf_list_append(&server->servings, &serving.node);
    wf_lock_drop(&server->lock);
    int error = weft_scope_run(&options, serve_body, &serving);
    wf_leaver_remove(wf_fiber_stack(fiber), &serving.leaver);
    serving_left(&serving.leaver);
    return serving.has_begun ? serving.outcome : error;
}

/* Also when its fiber was dropped with its runtime. */
static void serving_left(struct wf_leaver *leaver) {
    struct serving *serving = WF_CONTAINER(leaver, struct serving, leaver);
    struct wf_http_conn *conn;
    while ((conn = find_unbegun(serving)))
        wf_http_connection_end(conn);
    wf_lock_take(&serving->server->lock);
    wf_list_remove(&serving->node);
    wf_lock_drop(&serving->server->lock);
    weft_waitgroup_done(&serving->server->serving);
}

/* All of its fibers have ended, or are dropped: one of those that there was no stack for. */
static struct wf_http_conn *find_unbegun(struct serving *serving) {
    struct wf_list *connections = &serving->server->connections;
    struct wf_http_conn *found = NULL;
    wf_lock_take(&serving->server->lock);
    for (struct wf_list *node = connections->next; node != connections && !found; node = node->next) {
        struct wf_http_conn *conn = WF_CONTAINER(node, struct wf_http_conn, node);
        if (conn->serving == serving && !conn->has_begun)
            found = conn;
    }
    wf_lock_drop(&serving->server->lock);
    return found;
}

static int serve_body(weft_scope *scope, void *opaque) {
    struct serving *serving = opaque;
    serving->has_begun = true;
    if (serving_begin(serving, &serving->connections, scope)) {
        int error = weft_scope_run(NULL, accept_body, serving);
        bool was_stopped = wf_load_relaxed(&serving->server->is_stopping);
        serving->outcome = was_stopped ? 0 : error;
        if (!was_stopped)
            weft_scope_cancel(scope, error, "the server has nothing to listen on any more");
    }
    (void)weft_scope_wait(scope, WEFT_NEVER); /* cancelled: closing it waits */
    serving_end(serving, &serving->connections);
    return 0;
}

static int accept_body(weft_scope *scope, void *opaque) {
    struct serving *serving = opaque;
    int error = 0;
    if (serving_begin(serving, &serving->accepting, scope))
        while (!error)
            error = accept_one(serving);
    serving_end(serving, &serving->accepting);
    return error;
}

/* From now on it is known to one who stops; false: that one has been here already. */
static bool serving_begin(struct serving *serving, weft_scope **place, weft_scope *scope) {
    wf_lock_take(&serving->server->lock);
    bool goes_on = !wf_load_relaxed(&serving->server->is_stopping);
    *place = scope;
    wf_lock_drop(&serving->server->lock);
    return goes_on;
}

static void serving_end(struct serving *serving, weft_scope **place) {
    wf_lock_take(&serving->server->lock);
    *place = NULL;
    wf_lock_drop(&serving->server->lock);
}

static int accept_one(struct serving *serving) {
    weft_http_server *server = serving->server;
    int error = weft_semaphore_acquire(&server->room, 1, WEFT_NEVER);
    if (error)
        return error;
    weft_fd fd;
    weft_address peer;
    struct wf_http_conn *conn = NULL;
    error = weft_accept(serving->listener, &fd, &peer, WEFT_NEVER);
    if (!error && !(conn = wf_os_alloc(sizeof *conn))) { /* not before: the fiber may be dropped while it waits */
        weft_close(fd);
        error = -ENOMEM;
    }
    if (error) {
        weft_semaphore_release(&server->room, 1);
        return error == -ENOMEM ? weft_sleep(weft_after(MEMORY_PAUSE)) : error; /* others may give some back */
    }
    conn->fd = fd;
    conn->peer = peer;
    conn->server = server;
    conn->serving = serving;
    wf_store_relaxed(&conn->state, WF_HTTP_BUSY);
    wf_lock_take(&server->lock);
    wf_list_append(&server->connections, &conn->node);
    wf_lock_drop(&server->lock);
    wf_http_stat(server, WF_STAT_CONNECTIONS, 1);
    wf_http_stat(server, WF_STAT_ACCEPTED, 1);
    error = weft_scope_go(serving->connections, wf_http_connection, conn);
    if (error) /* no memory for a fiber: this client is turned away, and the next one may have better luck */
        wf_http_connection_end(conn);
    return error == -ECANCELED ? error : 0;
}

int weft_http_server_stop(weft_http_server *server, weft_time deadline) {
    if (!server)
        return -EINVAL;
    wf_lock_take(&server->lock);
    wf_store_seq_cst(&server->is_stopping, 1); /* pairs with a connection that becomes idle */
    for (struct wf_list *node = server->servings.next; node != &server->servings; node = node->next) {
        struct serving *serving = WF_CONTAINER(node, struct serving, node);
        if (serving->accepting)
            weft_scope_cancel(serving->accepting, -ESHUTDOWN, "the server stops");
    }
    for (struct wf_list *node = server->connections.next; node != &server->connections; node = node->next) {
        struct wf_http_conn *conn = WF_CONTAINER(node, struct wf_http_conn, node);
        uint32_t idle = WF_HTTP_IDLE;
        if (wf_cas_seq_cst(&conn->state, &idle, WF_HTTP_ENDING))
            (void)weft_shutdown(conn->fd, WEFT_SHUT_READ);
    }
    wf_lock_drop(&server->lock);
    int status = weft_waitgroup_wait(&server->serving, deadline);
    if (status != -ETIMEDOUT)
        return status;
    wf_lock_take(&server->lock);
    for (struct wf_list *node = server->servings.next; node != &server->servings; node = node->next) {
        struct serving *serving = WF_CONTAINER(node, struct serving, node);
        if (serving->connections)
            weft_scope_cancel(serving->connections, -ESHUTDOWN, "the server stops at once");
    }
    wf_lock_drop(&server->lock);
    int error = weft_waitgroup_wait(&server->serving, WEFT_NEVER);
    return error ? error : -ETIMEDOUT;
}

int weft_http_server_drop(weft_http_server *server, bool idle_only) {
    if (!server)
        return -EINVAL;
    int count = 0;
    wf_lock_take(&server->lock);
    for (struct wf_list *node = server->connections.next; node != &server->connections; node = node->next) {
        struct wf_http_conn *conn = WF_CONTAINER(node, struct wf_http_conn, node);
        uint32_t idle = WF_HTTP_IDLE;
        bool was_idle = wf_cas_seq_cst(&conn->state, &idle, WF_HTTP_ENDING);
        if (was_idle)
            count += weft_shutdown(conn->fd, WEFT_SHUT_READ) == 0;
        else if (!idle_only)
            count += wf_http_connection_cut(conn) == 0;
    }
    wf_lock_drop(&server->lock);
    return count;
}

int weft_http_get_stats(weft_http_server *server, weft_http_stats *out) {
    if (!server || !out)
        return -EINVAL;
    *out = (weft_http_stats){
        .connections = wf_load_relaxed(&server->stats[WF_STAT_CONNECTIONS]),
        .accepted = wf_load_relaxed(&server->stats[WF_STAT_ACCEPTED]),
        .requests = wf_load_relaxed(&server->stats[WF_STAT_REQUESTS]),
        .refused = wf_load_relaxed(&server->stats[WF_STAT_REFUSED]),
        .bytes_in = wf_load_relaxed(&server->stats[WF_STAT_IN]),
        .bytes_out = wf_load_relaxed(&server->stats[WF_STAT_OUT]),
    };
    return 0;
}
