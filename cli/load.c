/* SPDX-License-Identifier: MIT
 *
 * cli/load.c - "weft load": requests to an HTTP server, and how long it takes to answer them.
 *
 * One fiber a connection, all children of one scope, and one more that draws the progress and listens for an interrupt, which
 * cancels the scope: what was measured until then is reported all the same. Requests that are under way when the time is over
 * are finished and counted, since leaving them out would flatter the slowest.
 */
#include "load.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "command.h"
#include "file.h"
#include "quantity.h"
#include "say.h"

#define DRAW_NS (100 * WEFT_MILLISECOND)

enum { MOST_CONNECTIONS = 1000000 };

const char cli_load_usage[] =
    "usage: weft load [OPTION...] URL\n"
    "\n"
    "Sends requests to an HTTP server over connections that are kept, and says how many were answered, how, and how "
    "fast.\n"
    "Status 1 if one of them was not.\n"
    "\n"
    "  -c, --connections N     how many at once (64)\n"
    "  -d, --duration TIME     how long: 10s, 500ms, 2m (10s, or until -n are done)\n"
    "  -n, --requests N        how many in all\n"
    "  -r, --rate N            so many a second, whether answers come or not; latency then counts from when a request\n"
    "                          was due (without it each connection waits for its answer and asks again)\n"
    "  -t, --timeout TIME      for an answer (10s)\n"
    "  -X, --method METHOD     GET, or POST with a body\n"
    "  -H, --header 'NAME: VALUE'\n"
    "                          one more header; may be given again\n"
    "      --body FILE         what is sent with each request\n"
    "      --json              the figures as JSON\n"
    "  -h, --help              this text\n";

/* What the request is made of. */
struct parts {
    const char *method;
    struct cli_text headers; /* whole lines */
    bool has_host;
    struct cli_text body;
    bool has_body;
};

enum { OPTION_BODY = 256, OPTION_JSON };

static int load_options(struct load_plan *plan, struct parts *parts, int argc, char **argv);
static int load_option(struct load_plan *plan, struct parts *parts, int c);
static bool parse_rate(const char *text, double *out);
static bool is_token(const char *text, size_t size);
static int add_header(struct parts *parts, const char *line);
static bool parse_url(struct load_plan *plan, const char *url);
static void make_request(struct load_plan *plan, const struct parts *parts);
static int load_main(void *opaque);
static int load_all(weft_scope *scope, void *opaque);
static int load_watch(void *opaque);

int cli_load(int argc, char **argv) {
    struct load *load = calloc(1, sizeof *load);
    struct parts parts = {0};
    if (!load)
        cli_out_of_memory();
    load->plan = (struct load_plan){.connections = 64, .limit = UINT64_MAX, .timeout = 10 * WEFT_SECOND};
    int status = load_options(&load->plan, &parts, argc, argv);
    if (status < 0) {
        status = weft_run(NULL, load_main, load);
        if (status < 0)
            status = cli_fail("load: the runtime does not start: %s", strerror(-status));
    }
    cli_text_term(&parts.headers);
    cli_text_term(&parts.body);
    cli_text_term(&load->plan.request);
    free(load->plan.host);
    free(load->plan.target);
    free(load);
    return status;
}

/* Below 0: go on; else that is how it ends. */
static int load_options(struct load_plan *plan, struct parts *parts, int argc, char **argv) {
    static const struct option options[] = {
        {"connections", required_argument, NULL, 'c'},
        {"duration", required_argument, NULL, 'd'},
        {"requests", required_argument, NULL, 'n'},
        {"rate", required_argument, NULL, 'r'},
        {"timeout", required_argument, NULL, 't'},
        {"method", required_argument, NULL, 'X'},
        {"header", required_argument, NULL, 'H'},
        {"body", required_argument, NULL, OPTION_BODY},
        {"json", no_argument, NULL, OPTION_JSON},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    for (int c; (c = getopt_long(argc, argv, "+:c:d:n:r:t:X:H:h", options, NULL)) != -1;) {
        int status = c == ':' || c == '?' ? cli_bad_option("load", c, argv) : load_option(plan, parts, c);
        if (status >= 0)
            return status;
    }
    if (optind >= argc)
        return cli_misuse("load", "load: which URL?");
    if (optind + 1 < argc)
        return cli_misuse("load", "load: one URL, but there is also '%s'", argv[optind + 1]);
    if (!parse_url(plan, argv[optind]))
        return cli_misuse("load", "load: %s is no URL as http://host:port/path", argv[optind]);
    if (plan->duration == 0)
        plan->duration = plan->limit < UINT64_MAX ? WEFT_NEVER : 10 * WEFT_SECOND;
    make_request(plan, parts);
    return -1;
}

static int load_option(struct load_plan *plan, struct parts *parts, int c) {
    uint64_t count;
    int error;
    switch (c) {
    case 'c':
        if (!cli_parse_count(optarg, MOST_CONNECTIONS, &count))
            return cli_misuse("load", "load: %s is no number of connections from 1 to %d", optarg, MOST_CONNECTIONS);
        plan->connections = (unsigned)count;
        return -1;
    case 'd':
        return cli_parse_time(optarg, &plan->duration) ? -1 : cli_misuse("load", "load: %s is no time", optarg);
    case 't':
        return cli_parse_time(optarg, &plan->timeout) ? -1 : cli_misuse("load", "load: %s is no time", optarg);
    case 'n':
        return cli_parse_count(optarg, UINT64_MAX - 1, &plan->limit)
                   ? -1
                   : cli_misuse("load", "load: %s is no number of requests", optarg);
    case 'r':
        return parse_rate(optarg, &plan->rate) ? -1 : cli_misuse("load", "load: %s is no rate", optarg);
    case 'X':
        parts->method = optarg;
        return is_token(optarg, strlen(optarg)) ? -1 : cli_misuse("load", "load: '%s' is no method", optarg);
    case 'H':
        return add_header(parts, optarg);
    case OPTION_BODY:
        parts->has_body = true;
        error = cli_file_read(optarg, &parts->body);
        return error ? cli_fail("load: cannot read %s: %s", optarg, strerror(-error)) : -1;
    case OPTION_JSON:
        plan->as_json = true;
        return -1;
    default:
        printf("%s", cli_load_usage);
        return CLI_DONE;
    }
}

static bool parse_rate(const char *text, double *out) {
    char *end;
    *out = strtod(text, &end);
    return *text >= '0' && *text <= '9' && !*end && *out >= 1e-6 && *out <= 1e9;
}

/* What names of methods and headers are made of. */
static bool is_token(const char *text, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (text[i] <= ' ' || text[i] >= 127 || strchr("\"(),/:;<=>?@[\\]{}", text[i]))
            return false;
    return size > 0;
}

static int add_header(struct parts *parts, const char *line) {
    static const char *const own[] = {"Content-Length", "Transfer-Encoding", "Upgrade"};
    const char *colon = strchr(line, ':');
    if (!colon || !is_token(line, (size_t)(colon - line)) || strpbrk(line, "\r\n"))
        return cli_misuse("load", "load: '%s' is no header as 'Name: value'", line);
    size_t size = (size_t)(colon - line);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (size == strlen(own[i]) && strncasecmp(line, own[i], size) == 0)
            return cli_misuse("load", "load: the header %s is not yours to set", own[i]);
    if (size == 4 && strncasecmp(line, "Host", 4) == 0)
        parts->has_host = true;
    cli_text_add(&parts->headers, "%s\r\n", line);
    return -1;
}

/* http://host, http://host:port/path?query, http://[::1]:port; what follows "#" is not sent. */
static bool parse_url(struct load_plan *plan, const char *url) {
    for (const char *c = url; *c; c++)
        if (*c <= ' ' || *c >= 127 || *c == '"' || *c == '\\')
            return false;
    if (strncasecmp(url, "http://", 7) != 0)
        return false;
    const char *host = url + 7, *end = host + strcspn(host, "/?#");
    const char *colon = *host == '[' ? strchr(host, ']') : host + strcspn(host, ":/?#");
    bool is_bracketed = *host == '[';
    if (!colon || colon > end || memchr(host, '@', (size_t)(end - host)))
        return false;
    host += is_bracketed;
    size_t size = (size_t)(colon - host);
    colon += is_bracketed;
    uint64_t port = 80;
    if (colon < end) {
        char digits[8] = "";
        size_t length = (size_t)(end - colon - 1);
        if (*colon != ':' || length >= sizeof digits)
            return false;
        memcpy(digits, colon + 1, length);
        if (!cli_parse_count(digits, 65535, &port))
            return false;
    }
    if (size == 0)
        return false;
    plan->url = url;
    plan->host = cli_format("%.*s", (int)size, host);
    plan->port = (unsigned)port;
    plan->target = cli_format("%s%.*s", *end == '/' ? "" : "/", (int)strcspn(end, "#"), end);
    return true;
}

static void make_request(struct load_plan *plan, const struct parts *parts) {
    const char *method = parts->method ? parts->method : parts->has_body ? "POST" : "GET";
    bool is_bracketed = strchr(plan->host, ':') != NULL;
    plan->has_no_body = strcmp(method, "HEAD") == 0;
    cli_text_add(&plan->request, "%s %s HTTP/1.1\r\n", method, plan->target);
    if (!parts->has_host)
        cli_text_add(&plan->request, "Host: %s%s%s", is_bracketed ? "[" : "", plan->host, is_bracketed ? "]" : "");
    if (!parts->has_host && plan->port != 80)
        cli_text_add(&plan->request, ":%u", plan->port);
    if (!parts->has_host)
        cli_text_add(&plan->request, "\r\n");
    if (parts->headers.size)
        cli_text_add_bytes(&plan->request, parts->headers.bytes, parts->headers.size);
    if (parts->has_body)
        cli_text_add(&plan->request, "Content-Length: %zu\r\n", parts->body.size);
    cli_text_add(&plan->request, "\r\n");
    if (parts->body.size)
        cli_text_add_bytes(&plan->request, parts->body.bytes, parts->body.size);
}

static int load_main(void *opaque) {
    struct load *load = opaque;
    static const int numbers[] = {SIGINT, SIGTERM};
    const weft_scope_options options = {.keep_going = true};
    int error = weft_dial(&load->first, load->plan.host, load->plan.port, NULL, weft_after(load->plan.timeout));
    if (error)
        return cli_fail("load: cannot connect to %s: %s", load->plan.url, strerror(-error));
    error = weft_signals_open(&load->signals, numbers, 2);
    if (error) {
        weft_close(load->first);
        return cli_fail("load: %s", strerror(-error));
    }
    load->left = load->plan.connections;
    load->start = weft_now();
    load->end = weft_after(load->plan.duration);
    error = weft_scope_run(&options, load_all, load);
    load->elapsed = weft_now() - load->start;
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
    if (error && error != -EINTR)
        return cli_fail("load: cannot start %u connections: %s", load->plan.connections, strerror(-error));
    load_report(load);
    return load_failed(load) || !load->answered ? CLI_FAILED : CLI_DONE;
}

static int load_all(weft_scope *scope, void *opaque) {
    struct load *load = opaque;
    load->scope = scope;
    int error = weft_scope_go(scope, load_watch, load);
    for (unsigned i = 0; !error && i < load->plan.connections; i++)
        error = weft_scope_go(scope, load_connection, load);
    if (error && error != -ECANCELED)
        weft_scope_cancel(scope, error, NULL);
    return 0;
}

/* Until the last connection has ended and closed the signals, or the scope is cancelled because not all could be started. */
static int load_watch(void *opaque) {
    struct load *load = opaque;
    bool draws = isatty(STDERR_FILENO);
    int status;
    while ((status = weft_signal_wait(load->signals, NULL, weft_after(DRAW_NS))) == -ETIMEDOUT)
        if (draws)
            load_report_progress(load);
    if (status == 0)
        (void)weft_scope_cancel(load->scope, -EINTR, "interrupted");
    return 0;
}
