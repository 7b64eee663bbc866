/* SPDX-License-Identifier: MIT
 *
 * cli/serve.c - "weft serve": a folder over HTTP.
 *
 * Serves until it is interrupted, then finishes what it has begun. One line a request goes to standard error with --log.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "say.h"
#include "weft.h"

const char cli_serve_usage[] =
    "usage: weft serve [OPTION...] [DIR]\n"
    "\n"
    "Serves the files below DIR, or below the current directory, over HTTP/1.1 until it is interrupted.\n"
    "\n"
    "  -a, --address ADDRESS   where to listen: 127.0.0.1:8000, '*:80', '[::1]:8000', unix:/run/app.sock\n"
    "                          (127.0.0.1:8000 without it; a port of 0 takes a free one)\n"
    "  -l, --log               say every request on standard error\n"
    "      --list              list directories that have no index.html\n"
    "      --hidden            serve names that begin with a dot, too\n"
    "      --max-age SECONDS   how long browsers may keep what they got\n"
    "      --gzip              pack text for those who take it\n"
    "  -h, --help              this text\n";

struct serve {
    weft_http_folder folder;
    weft_address address;
    bool logs;
    bool packs;
    weft_http_server *server;
    weft_fd listener;
};

/* PACK_LEVEL: what gzip itself does without being told. */
enum { PACK_LEVEL = 6 };
enum { OPTION_LIST = 256, OPTION_HIDDEN, OPTION_MAX_AGE, OPTION_GZIP };

static int serve_options(struct serve *serve, int argc, char **argv);
static int serve_main(void *opaque);
static int serve_open(struct serve *serve);
static void serve_log(const weft_http_entry *entry, void *arg);
static void *serve_until_signal(void *opaque);

int cli_serve(int argc, char **argv) {
    struct serve serve = {.folder = {.path = "."}};
    (void)weft_address_parse(&serve.address, "127.0.0.1:8000");
    int status = serve_options(&serve, argc, argv);
    if (status >= 0)
        return status;
    weft_file_info info;
    int error = weft_file_stat(serve.folder.path, &info);
    if (!error && info.kind != WEFT_FILE_FOLDER)
        error = -ENOTDIR;
    if (error)
        return cli_fail("serve: cannot serve %s: %s", serve.folder.path, strerror(-error));
    return weft_run(NULL, serve_main, &serve);
}

/* Below 0: go on; else that is how it ends. */
static int serve_options(struct serve *serve, int argc, char **argv) {
    static const struct option options[] = {
        {"address", required_argument, NULL, 'a'},
        {"log", no_argument, NULL, 'l'},
        {"list", no_argument, NULL, OPTION_LIST},
        {"hidden", no_argument, NULL, OPTION_HIDDEN},
        {"max-age", required_argument, NULL, OPTION_MAX_AGE},
        {"gzip", no_argument, NULL, OPTION_GZIP},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    for (int c; (c = getopt_long(argc, argv, "+:a:lh", options, NULL)) != -1;) {
        char *end;
        switch (c) {
        case 'a':
            if (weft_address_parse(&serve->address, optarg) != 0)
                return cli_misuse("serve", "serve: %s is no address", optarg);
            break;
        case 'l':
            serve->logs = true;
            break;
        case OPTION_LIST:
            serve->folder.lists = true;
            break;
        case OPTION_HIDDEN:
            serve->folder.shows_hidden = true;
            break;
        case OPTION_GZIP:
            serve->packs = true;
            break;
        case OPTION_MAX_AGE:
            serve->folder.max_age = (uint32_t)strtoul(optarg, &end, 10);
            if (*optarg < '0' || *optarg > '9' || *end)
                return cli_misuse("serve", "serve: %s is no number of seconds", optarg);
            break;
        case 'h':
            printf("%s", cli_serve_usage);
            return CLI_DONE;
        default:
            return cli_bad_option("serve", c, argv);
        }
    }
    if (optind < argc)
        serve->folder.path = argv[optind++];
    return optind < argc ? cli_misuse("serve", "serve: one directory, but there is also '%s'", argv[optind]) : -1;
}

static int serve_main(void *opaque) {
    struct serve *serve = opaque;
    char text[WEFT_ADDRESS_TEXT];
    weft_fiber waiting;
    int error = serve_open(serve);
    if (error)
        return CLI_FAILED;
    if (weft_local_address(serve->listener, &serve->address) != 0 ||
        weft_address_format(&serve->address, text, sizeof text) < 0)
        snprintf(text, sizeof text, "?");
    printf("weft: serving %s at %s%s\n", serve->folder.path, strncmp(text, "unix:", 5) == 0 ? "" : "http://", text);
    fflush(stdout);
    error = weft_spawn(&waiting, serve_until_signal, serve);
    if (!error) {
        error = weft_http_serve(serve->server, serve->listener);
        weft_join(waiting, NULL, WEFT_NEVER);
    }
    weft_close(serve->listener);
    weft_http_server_free(serve->server);
    return error ? cli_fail("serve: %s", strerror(-error)) : CLI_DONE;
}

static int serve_open(struct serve *serve) {
    weft_http_options options = {.on_entry = serve->logs ? serve_log : NULL, .server_name = "weft"};
    int error = weft_http_server_new(&serve->server, &options);
    if (error == -ENOSYS) {
        cli_fail("serve: this weft was built without its HTTP parser");
        return error;
    }
    if (!error && serve->packs)
        error = weft_http_gzip(serve->server, PACK_LEVEL);
    if (!error)
        error = weft_http_route(serve->server, "GET /+", weft_http_folder_handler, &serve->folder);
    if (!error)
        error = weft_http_route(serve->server, "GET /", weft_http_folder_handler, &serve->folder);
    if (!error)
        error = weft_listen(&serve->listener, &serve->address, NULL);
    if (error)
        cli_fail("serve: cannot listen: %s", strerror(-error));
    return error;
}

static void serve_log(const weft_http_entry *entry, void *arg) {
    (void)arg;
    fprintf(stderr, "%s %s %s %d %llu %.3f ms\n", entry->peer, entry->method, entry->target, entry->status,
            (unsigned long long)entry->body_bytes, (double)entry->took_ns / 1e6);
}

/* The first signal ends it gently, within ten seconds; a second one ends the process. */
static void *serve_until_signal(void *opaque) {
    struct serve *serve = opaque;
    static const int numbers[] = {SIGINT, SIGTERM};
    weft_signals signals;
    if (weft_signals_open(&signals, numbers, 2) == 0) {
        (void)weft_signal_wait(signals, NULL, WEFT_NEVER);
        weft_signals_close(signals);
    }
    fprintf(stderr, "weft: finishing\n");
    (void)weft_http_server_stop(serve->server, weft_after(10 * WEFT_SECOND));
    return NULL;
}
