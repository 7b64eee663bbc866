/* SPDX-License-Identifier: MIT
 *
 * http/client.c - clients, and what happens between weft_http_request_open and the answer: tries and redirects.
 *
 *     exchange_run:   attempt --> answer --is it a redirect?--no--> done
 *                        ^                      | yes: another URL, perhaps another method
 *                        `----------------------'
 *
 * An attempt is one try, or two: the second one on a new connection, if the first was on a kept one that turned out to be dead.
 */
#include <errno.h>
#include <string.h>

#include "http/client.h"
#include "os/memory.h"
#include "os/report.h"

/* 1 MiB of head is room for every cookie there is. */
enum { CLIENT_HEAD_LEAST = 256, CLIENT_HEAD_MOST = 1 << 20 };

static int client_options_check(weft_http_client_options *options);
static void default_span(int64_t *span, int64_t seconds);
static int request_check(const char *method, const weft_http_request *request);
static int exchange_new(weft_http_client *client, const char *method, const char *url, const weft_http_request *request,
                        weft_http_response **out);
static int exchange_texts(weft_http_response *response, const char *url, const weft_http_request *request);
static int exchange_run(weft_http_response *response, int64_t deadline_ns);
static int exchange_answered(weft_http_response *response, int64_t deadline_ns);
static int exchange_attempt(weft_http_response *response, int64_t deadline_ns);
static bool can_try_again(const weft_http_response *response, int error);
static int redirect(weft_http_response *response);
static int redirect_to(weft_http_response *response, const char *location);

/* ---- Clients ---- */

int weft_http_client_new(weft_http_client **out, const weft_http_client_options *given) {
    weft_http_client_options options = {0};
    if (given)
        options = *given;
    if (!out || client_options_check(&options) != 0)
        return -EINVAL;
    if (!wf_http_is_there())
        return -ENOSYS;
    weft_http_client *client = wf_os_alloc(sizeof *client);
    if (!client)
        return -ENOMEM;
    int error = wf_http_fields_new(&client->fields, options.headers, options.header_count, "", NULL);
    if (error) {
        wf_os_free(client);
        return error;
    }
    options.headers = NULL;
    client->options = options;
    if (options.socket.local) {
        client->local = *options.socket.local;
        client->options.socket.local = &client->local;
    }
    client->room.permits = options.max_connections;
    wf_list_init(&client->idle);
    for (int i = 0; i < WF_CLIENT_BUCKETS; i++)
        wf_list_init(&client->origins[i]);
    *out = client;
    return 0;
}

static int client_options_check(weft_http_client_options *options) {
    if (options->idle_timeout < 0 || options->connect_timeout < 0 || options->head_timeout < 0 ||
        options->body_timeout < 0 || options->continue_timeout < 0)
        return -EINVAL;
    if (options->max_head && (options->max_head < CLIENT_HEAD_LEAST || options->max_head > CLIENT_HEAD_MOST))
        return -EINVAL;
    if (options->max_body > SIZE_MAX / 4 || wf_http_fields_check(options->headers, options->header_count) != 0)
        return -EINVAL;
    if (!options->max_per_host)
        options->max_per_host = 64;
    if (!options->max_connections)
        options->max_connections = 1024;
    if (!options->max_head)
        options->max_head = 32 * 1024;
    if (!options->max_body)
        options->max_body = 64 * 1024 * 1024;
    if (!options->max_redirects)
        options->max_redirects = 10;
    default_span(&options->idle_timeout, 60);
    default_span(&options->connect_timeout, 10);
    default_span(&options->head_timeout, 30);
    default_span(&options->body_timeout, 30);
    default_span(&options->continue_timeout, 1);
    return 0;
}

static void default_span(int64_t *span, int64_t seconds) {
    if (*span == 0)
        *span = seconds * WEFT_SECOND;
}

void weft_http_client_free(weft_http_client *client) {
    if (!client)
        return;
    wf_lock_take(&client->lock);
    bool is_used = client->responses > 0;
    wf_lock_drop(&client->lock);
    if (is_used)
        wf_fatal("an HTTP client was freed while responses of it are open");
    (void)weft_http_client_close_idle(client);
    wf_os_free(client->fields);
    wf_os_free(client);
}

int weft_http_client_get_stats(weft_http_client *client, weft_http_client_stats *out) {
    if (!client || !out)
        return -EINVAL;
    *out = (weft_http_client_stats){
        .requests = wf_load_relaxed(&client->stats[WF_CLIENT_REQUESTS]),
        .opened = wf_load_relaxed(&client->stats[WF_CLIENT_OPENED]),
        .reused = wf_load_relaxed(&client->stats[WF_CLIENT_REUSED]),
        .repeated = wf_load_relaxed(&client->stats[WF_CLIENT_REPEATED]),
        .redirects = wf_load_relaxed(&client->stats[WF_CLIENT_REDIRECTS]),
    };
    wf_lock_take(&client->lock);
    out->open = client->open_count;
    out->idle = client->idle_count;
    wf_lock_drop(&client->lock);
    return 0;
}

/* ---- Requests ---- */

int weft_http_request_open(weft_http_client *client, const char *method, const char *url,
                           const weft_http_request *request, weft_http_response **out, weft_time deadline) {
    static const weft_http_request nothing;
    weft_http_response *response = NULL;
    if (!request)
        request = &nothing;
    if (!client || !method || !url || !out || request_check(method, request) != 0)
        return -EINVAL;
    int error = exchange_new(client, method, url, request, &response);
    if (error)
        return error;
    error = exchange_run(response, deadline);
    if (error) {
        weft_http_response_close(response);
        return error;
    }
    *out = response;
    return 0;
}

int weft_http_request_end(weft_http_response *response, weft_time deadline) {
    if (!response)
        return -EINVAL;
    if (response->stage != WF_HTTP_WRITING)
        return -EALREADY;
    int error = wf_http_try_end(response, deadline);
    if (!error)
        error = exchange_answered(response, deadline);
    if (error) {
        response->has_answer = false;
        response->body_error = error;
        response->stage = WF_HTTP_ANSWERED;
        if (response->peer)
            wf_http_peer_drop(response->client, response->peer);
        response->peer = NULL;
    }
    return error;
}

int weft_http_fetch(weft_http_client *client, const char *method, const char *url, const void *body, size_t size,
                    weft_http_response **out, weft_time deadline) {
    weft_http_request request = {.body = body, .body_size = size};
    weft_http_response *response = NULL;
    const void *bytes;
    if (!out)
        return -EINVAL;
    int error = weft_http_request_open(client, method, url, &request, &response, deadline);
    if (error)
        return error;
    error = weft_http_response_body(response, &bytes, &size, deadline);
    if (error) {
        weft_http_response_close(response);
        return error;
    }
    *out = response;
    return 0;
}

static int request_check(const char *method, const weft_http_request *request) {
    int sources = (request->body_size > 0) + (request->read != NULL) + request->is_written;
    bool has_stream = request->read || request->is_written;
    if (strlen(method) >= WF_CLIENT_METHOD || !wf_http_is_token(method) || strcmp(method, "CONNECT") == 0)
        return -EINVAL;
    if (sources > 1 || (request->body_size > 0 && !request->body) || (request->length > 0 && !has_stream))
        return -EINVAL;
    if (request->upgrade && (!wf_http_is_token(request->upgrade) || request->closes))
        return -EINVAL;
    return wf_http_fields_check(request->headers, request->header_count);
}

static int exchange_new(weft_http_client *client, const char *method, const char *url, const weft_http_request *request,
                        weft_http_response **out) {
    weft_http_response *response = wf_os_alloc(sizeof *response + client->options.max_head + WF_CLIENT_PIECE);
    if (!response)
        return -ENOMEM;
    response->client = client;
    response->request = *request;
    response->request.headers = NULL;
    response->request.upgrade = NULL;
    memcpy(response->method, method, strlen(method) + 1);
    wf_lock_take(&client->lock);
    client->responses++;
    wf_lock_drop(&client->lock);
    int error = exchange_texts(response, url, request);
    if (error) {
        wf_http_response_free(response);
        return error;
    }
    response->takes_packed = !client->options.keeps_packed && wf_unpack_is_there() &&
                             !wf_http_fields_have(response->fields, "Accept-Encoding") &&
                             !wf_http_fields_have(response->fields, "Range");
    response->unpacks = response->takes_packed || (response->request.unpacks && wf_unpack_is_there());
    *out = response;
    return 0;
}

static int exchange_texts(weft_http_response *response, const char *url, const weft_http_request *request) {
    int error = wf_url_parse(url, &response->url);
    if (!error && response->url->is_secure)
        error = -EPROTONOSUPPORT;
    if (!error)
        error = wf_http_fields_new(&response->fields, request->headers, request->header_count, response->client->fields,
                                   response->url->user);
    if (error || !request->upgrade)
        return error;
    size_t size = strlen(request->upgrade) + 1;
    char *upgrade = wf_os_alloc(size);
    if (!upgrade)
        return -ENOMEM;
    memcpy(upgrade, request->upgrade, size);
    response->request.upgrade = upgrade;
    return 0;
}

void wf_http_response_free(weft_http_response *response) {
    weft_http_client *client = response->client;
    wf_unpack_free(response->unpack);
    wf_os_free(response->url);
    wf_os_free(response->fields);
    wf_os_free((void *)response->request.upgrade);
    wf_os_free(response->head);
    wf_os_free(response->body);
    wf_os_free(response);
    wf_lock_take(&client->lock);
    client->responses--;
    wf_lock_drop(&client->lock);
}

/* ---- Tries and redirects ---- */

static int exchange_run(weft_http_response *response, int64_t deadline_ns) {
    int error = exchange_attempt(response, deadline_ns);
    if (error || response->stage == WF_HTTP_WRITING)
        return error;
    return exchange_answered(response, deadline_ns);
}

/* The head of an answer is there; of the last one, when it returns. */
static int exchange_answered(weft_http_response *response, int64_t deadline_ns) {
    for (;;) {
        int status = redirect(response);
        if (status <= 0)
            return status ? status : wf_http_answer_begin(response);
        wf_client_stat(response->client, WF_CLIENT_REDIRECTS);
        int error = exchange_attempt(response, deadline_ns);
        if (error || response->stage == WF_HTTP_WRITING)
            return error;
    }
}

static int exchange_attempt(weft_http_response *response, int64_t deadline_ns) {
    bool is_fresh = false;
    for (;;) {
        int error = wf_http_peer_take(response->client, response->url, is_fresh, &response->peer, deadline_ns);
        if (error)
            return error;
        bool was_used = response->peer->was_used;
        error = wf_http_try(response, deadline_ns);
        bool is_unexpected = !error && response->has_answer && response->parser.status == 417 &&
                             response->request.expects && wf_http_body_can_rewind(response);
        if (!error && !is_unexpected)
            return 0;
        bool is_repeated = was_used && can_try_again(response, error);
        wf_http_peer_drop(response->client, response->peer);
        response->peer = NULL;
        if (!is_unexpected && !is_repeated)
            return error;
        if (is_unexpected) /* RFC 9110, 15.5.18: once more, and unasked */
            response->request.expects = false;
        else
            wf_client_stat(response->client, WF_CLIENT_REPEATED);
        is_fresh = true;
        error = wf_http_body_rewind(response);
        if (error)
            return error;
    }
}

/* The connection was dead before the request came, or might have been: doing it twice must do no harm then. */
static bool can_try_again(const weft_http_response *response, int error) {
    static const char *const idempotent[] = {"GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"};
    bool has_body = wf_http_has_body(response);
    bool is_harmless = response->request.can_repeat || response->sent < response->head_size + has_body;
    for (size_t i = 0; i < sizeof idempotent / sizeof *idempotent; i++)
        is_harmless |= strcmp(response->method, idempotent[i]) == 0;
    return error == -ECONNRESET && !response->has_heard && is_harmless && wf_http_body_can_rewind(response);
}

/* 1: on to another URL; 0: this is the answer; or an error. */
static int redirect(weft_http_response *response) {
    int status = response->parser.status;
    int most = response->client->options.max_redirects;
    bool becomes_get = status == 301 || status == 302 || status == 303;
    const char *location = wf_http_find(&response->parser, "Location");
    if ((!becomes_get && status != 307 && status != 308) || !location || most < 0 || response->request.keeps_redirect)
        return 0;
    if (!becomes_get && !wf_http_body_can_rewind(response))
        return 0;
    if (response->redirects >= most)
        return -ELOOP;
    response->redirects++;
    int error = redirect_to(response, location);
    if (error)
        return error;
    wf_http_answer_skip(response);
    if (becomes_get) {
        if (strcmp(response->method, "HEAD") != 0)
            memcpy(response->method, "GET", 4);
        response->is_bodiless = true;
    }
    error = wf_http_body_rewind(response);
    return error ? error : 1;
}

static int redirect_to(weft_http_response *response, const char *location) {
    struct wf_url *url;
    int error = wf_url_join(response->url, location, &url);
    if (error)
        return error == -EINVAL ? -EBADMSG : error;
    if (url->is_secure) {
        wf_os_free(url);
        return -EPROTONOSUPPORT;
    }
    response->has_left |= !wf_url_same_origin(response->url, url);
    wf_os_free(response->url);
    response->url = url;
    return 0;
}
