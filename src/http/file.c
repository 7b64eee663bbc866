/* SPDX-License-Identifier: MIT
 *
 * http/file.c - files as responses: conditions, a range, and the bytes by the kernel's own hand.
 *
 * Small files go through the buffer together with the head, in one system call; larger ones by sendfile behind it. A file that
 * gets shorter meanwhile cannot be what the head has promised: then the connection ends.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/http.h"
#include "io/fd.h"
#include "os/beneath.h"
#include "os/clock.h"
#include "wait/wait.h"
#include "weft/file.h"
#include "weft/thread.h"

enum { ETAG_SIZE = 48, PIECE_MOST = 1 << 20, PACKED_AT_ONCE = 32 * 1024 };
static const char link_bytes[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";

struct file_answer {
    struct wf_leaver leaver; /* closes it when the fiber is dropped with its runtime in the middle */
    weft_fd fd;
    weft_file_info info;
    const char *type;
    uint32_t max_age;
    char etag[ETAG_SIZE];
    char modified[WF_HTTP_DATE + 1];
    uint64_t from;
    uint64_t size;
};

static int answer_open(weft_http *http, struct file_answer *answer);
static int condition_of(const weft_http *http, const struct file_answer *answer);
static bool etag_matches(const char *list, const char *etag, bool is_strong);
static int range_of(const weft_http *http, struct file_answer *answer);
static int range_parse(const char *text, uint64_t whole, uint64_t *from, uint64_t *size);
static int set_headers(weft_http *http, const struct file_answer *answer, int status);
static int send_bytes(weft_http *http, const struct file_answer *answer);
static int answer_error(weft_http *http, int error);
static int list_folder(weft_http *http, weft_fd opened);

static struct {
    const char *ending;
    const char *type;
} const types[] = {
    {"html", "text/html; charset=utf-8"},
    {"htm", "text/html; charset=utf-8"},
    {"css", "text/css; charset=utf-8"},
    {"js", "text/javascript; charset=utf-8"},
    {"mjs", "text/javascript; charset=utf-8"},
    {"json", "application/json"},
    {"map", "application/json"},
    {"txt", "text/plain; charset=utf-8"},
    {"md", "text/markdown; charset=utf-8"},
    {"csv", "text/csv; charset=utf-8"},
    {"xml", "application/xml"},
    {"svg", "image/svg+xml"},
    {"png", "image/png"},
    {"jpg", "image/jpeg"},
    {"jpeg", "image/jpeg"},
    {"gif", "image/gif"},
    {"webp", "image/webp"},
    {"avif", "image/avif"},
    {"ico", "image/x-icon"},
    {"woff", "font/woff"},
    {"woff2", "font/woff2"},
    {"ttf", "font/ttf"},
    {"pdf", "application/pdf"},
    {"wasm", "application/wasm"},
    {"zip", "application/zip"},
    {"gz", "application/gzip"},
    {"mp3", "audio/mpeg"},
    {"ogg", "audio/ogg"},
    {"wav", "audio/wav"},
    {"mp4", "video/mp4"},
    {"webm", "video/webm"},
};

static const char *type_of(const char *path) {
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    for (size_t i = 0; dot && i < sizeof types / sizeof *types; i++)
        if (strcasecmp(dot + 1, types[i].ending) == 0)
            return types[i].type;
    return "application/octet-stream";
}

static void answer_dropped(struct wf_leaver *leaver) {
    (void)weft_close(WF_CONTAINER(leaver, struct file_answer, leaver)->fd);
}

static void answer_begin(struct file_answer *answer) {
    answer->leaver = (struct wf_leaver){.leave = answer_dropped, .drop = answer_dropped};
    wf_leaver_push(wf_fiber_stack(wf_fiber_self()), &answer->leaver);
}

static void answer_end(struct file_answer *answer) {
    wf_leaver_remove(wf_fiber_stack(wf_fiber_self()), &answer->leaver);
    (void)weft_close(answer->fd);
}

int weft_http_file(weft_http *http, const char *path, const char *type) {
    if (!path)
        return -EINVAL;
    if (http->mode != WF_HTTP_UNSENT)
        return -EALREADY;
    struct file_answer answer = {.type = type ? type : type_of(path)};
    answer_begin(&answer);
    int error = weft_file_open(&answer.fd, path, WEFT_OPEN_READ, 0);
    if (!error)
        error = weft_file_stat_fd(answer.fd, &answer.info);
    if (!error && answer.info.kind != WEFT_FILE_PLAIN)
        error = -ENOENT;
    error = error ? answer_error(http, error) : answer_open(http, &answer);
    answer_end(&answer);
    return error;
}

static int answer_error(weft_http *http, int error) {
    switch (error) {
    case -EACCES:
    case -EPERM:
    case -EXDEV: /* it leads out of the folder */
    case -ELOOP:
        return weft_http_fail(http, 403);
    case -ECANCELED:
        return error;
    case -EMFILE:
    case -ENFILE:
    case -ENOMEM:
        return weft_http_fail(http, 503);
    default:
        return weft_http_fail(http, 404);
    }
}

static int answer_open(weft_http *http, struct file_answer *answer) {
    snprintf(answer->etag, sizeof answer->etag, "\"%" PRIx64 "-%" PRIx64 "\"", (uint64_t)answer->info.modified_ns,
             answer->info.size);
    if (answer->info.modified_ns < 0)
        answer->info.modified_ns = 0; /* HTTP has no years before 1970 */
    wf_http_date_format(answer->info.modified_ns / WEFT_SECOND, answer->modified);
    http->has_length = false; /* the file's is the one */
    answer->from = 0;
    answer->size = answer->info.size;
    int status = condition_of(http, answer);
    if (status == 200)
        status = range_of(http, answer);
    uint32_t set_before = http->work->set_size;
    int error = set_headers(http, answer, status);
    if (error) { /* half of them would be lies */
        http->work->set_size = set_before;
        return error;
    }
    if (status != 200 && status != 206)
        return status == 304 ? weft_http_reply(http, 304, NULL, NULL, 0) : weft_http_fail(http, status);
    error = weft_http_status(http, status);
    return error ? error : send_bytes(http, answer);
}

/* 200: it is to be sent; 304, 412. In the order of RFC 9110 13.2.2. */
static int condition_of(const weft_http *http, const struct file_answer *answer) {
    int64_t modified = answer->info.modified_ns / WEFT_SECOND;
    const char *match = weft_http_header(http, "If-Match");
    const char *unmodified = weft_http_header(http, "If-Unmodified-Since");
    const char *none_match = weft_http_header(http, "If-None-Match");
    const char *since = weft_http_header(http, "If-Modified-Since");
    bool is_read = strcmp(weft_http_method(http), "GET") == 0 || strcmp(weft_http_method(http), "HEAD") == 0;
    if (match && !etag_matches(match, answer->etag, true))
        return 412;
    if (!match && unmodified && wf_http_date_parse(unmodified) >= 0 && modified > wf_http_date_parse(unmodified))
        return 412;
    if (none_match)
        return !etag_matches(none_match, answer->etag, false) ? 200 : is_read ? 304 : 412;
    if (is_read && since && wf_http_date_parse(since) >= 0 && modified <= wf_http_date_parse(since))
        return 304;
    return 200;
}

/* is_strong: one that is marked as weak does not do. */
static bool etag_matches(const char *list, const char *etag, bool is_strong) {
    if (strcmp(list, "*") == 0)
        return true;
    size_t size = strlen(etag);
    for (const char *at = list; (at = strstr(at, etag)); at += size)
        if ((at == list || strchr(is_strong ? " ," : " ,/", at[-1])) && (at[size] == 0 || strchr(" ,", at[size])))
            return true;
    return false;
}

/* 200: the whole; 206: from and size say which part; 416. */
static int range_of(const weft_http *http, struct file_answer *answer) {
    const char *range = weft_http_header(http, "Range");
    const char *if_range = weft_http_header(http, "If-Range");
    if (!range || strcmp(weft_http_method(http), "GET") != 0)
        return 200;
    if (if_range && strcmp(if_range, answer->etag) != 0 && strcmp(if_range, answer->modified) != 0)
        return 200;
    return range_parse(range, answer->info.size, &answer->from, &answer->size);
}

/* What is not understood, and more than one range, is as if it were not there. */
static int range_parse(const char *text, uint64_t whole, uint64_t *from, uint64_t *size) {
    if (strncasecmp(text, "bytes=", 6) != 0)
        return 200;
    text += 6;
    const char *dash = strchr(text, '-');
    if (!dash || text[strspn(text, "0123456789-")] || strlen(text) > 38 || strchr(dash + 1, '-'))
        return 200;
    bool has_first = dash > text, has_last = dash[1];
    uint64_t first = has_first ? strtoull(text, NULL, 10) : 0;
    uint64_t last = has_last ? strtoull(dash + 1, NULL, 10) : whole - 1;
    if (!has_first && !has_last)
        return 200;
    if (!has_first) { /* so many from the end */
        first = last < whole ? whole - last : 0;
        if (last == 0)
            return 416;
        last = whole - 1;
    }
    if (has_first && has_last && last < first)
        return 200;
    if (first >= whole)
        return 416;
    *from = first;
    *size = (last < whole ? last : whole - 1) - first + 1;
    return 206;
}

static int set_headers(weft_http *http, const struct file_answer *answer, int status) {
    char text[96];
    int error = weft_http_set(http, "ETag", answer->etag);
    if (!error)
        error = weft_http_set(http, "Last-Modified", answer->modified);
    if (!error)
        error = weft_http_set(http, "Accept-Ranges", "bytes");
    if (!error && answer->max_age) {
        snprintf(text, sizeof text, "max-age=%" PRIu32, answer->max_age);
        error = weft_http_set(http, "Cache-Control", text);
    }
    if (!error && (status == 200 || status == 206))
        error = weft_http_set(http, "Content-Type", answer->type);
    if (!error && status == 206) {
        snprintf(text, sizeof text, "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, answer->from,
                 answer->from + answer->size - 1, answer->info.size);
        error = weft_http_set(http, "Content-Range", text);
    }
    if (!error && status == 416) {
        snprintf(text, sizeof text, "bytes */%" PRIu64, answer->info.size);
        error = weft_http_set(http, "Content-Range", text);
    }
    return error;
}

/* Piece by piece: the kernel cannot pack. A file that has become shorter is found out at the end. */
static int pack_bytes(weft_http *http, const struct file_answer *answer) {
    char *piece = wf_wait_alloc(PACKED_AT_ONCE);
    int error = piece ? 0 : -ENOMEM;
    for (uint64_t done = 0; !error && done < answer->size;) {
        size_t size = answer->size - done < PACKED_AT_ONCE ? answer->size - done : PACKED_AT_ONCE;
        ssize_t count = weft_pread_full(answer->fd, piece, size, (off_t)(answer->from + done), NULL);
        error = count < 0 ? (int)count : count == 0 ? -EPIPE : weft_http_write(http, piece, (size_t)count);
        done += count > 0 ? (uint64_t)count : 0;
    }
    if (piece)
        wf_wait_free(piece);
    if (error)
        http->conn->error = error;
    return error;
}

static int send_bytes(weft_http *http, const struct file_answer *answer) {
    int error = wf_http_begin_whole(http, answer->size);
    if (error || http->mode == WF_HTTP_BARE)
        return error;
    if (http->is_packed)
        return pack_bytes(http, answer);
    struct wf_http_work *work = http->work;
    struct wf_http_conn *conn = http->conn;
    http->sent += answer->size;
    if (answer->size <= WF_HTTP_OUT - work->out_size) {
        ssize_t count =
            weft_pread_full(answer->fd, work->out + work->out_size, answer->size, (off_t)answer->from, NULL);
        if (count == (ssize_t)answer->size)
            work->out_size += (uint32_t)answer->size;
        else
            conn->error = count < 0 ? (int)count : -EPIPE;
        return conn->error;
    }
    off_t offset = (off_t)answer->from;
    uint64_t left = answer->size;
    error = wf_http_out_flush(conn);
    while (!error && left > 0) {
        int64_t begun = wf_os_now();
        int64_t deadline = wf_time_add(begun, wf_http_patience(&http->server->options, http->gone, http->gone_waited));
        ssize_t count = weft_send_file(conn->fd, answer->fd, &offset, left < PIECE_MOST ? left : PIECE_MOST, deadline);
        http->gone_waited += wf_os_now() - begun;
        http->gone += count > 0 ? (uint64_t)count : 0;
        if (count <= 0)
            error = conn->error = count < 0 ? (int)count : -EPIPE;
        else
            left -= (uint64_t)count;
        conn->bytes_out += count > 0 ? (uint64_t)count : 0;
    }
    return error;
}

/* ---- Folders ---- */

static int open_beneath(const weft_http_folder *folder, const char *path, struct file_answer *answer) {
    weft_blocking_begin();
    int number = wf_os_open_beneath(folder->path, path);
    weft_blocking_end();
    if (number < 0)
        return number;
    int error = weft_adopt(&answer->fd, number, 0);
    if (error) {
        wf_os_close_checked(number);
        return error;
    }
    return weft_file_stat_fd(answer->fd, &answer->info);
}

/* "/a" is not "/a/": what is inside is relative to the latter. Said relative to the path itself, so that no target, whatever is
 * in it, leads to another host. */
static void redirect(weft_http *http) {
    const char *slash = strrchr(http->path, '/');
    char *where = wf_http_text_take(http, 3 * strlen(slash) + 4);
    if (!where) {
        weft_http_fail(http, 404);
        return;
    }
    char *at = where;
    at += sprintf(at, "./");
    for (const char *byte = slash + 1; *byte; byte++)
        at += sprintf(at, strchr(link_bytes, *byte) ? "%c" : "%%%02X", (unsigned char)*byte);
    memcpy(at, "/", 2);
    if (weft_http_set(http, "Location", where) == 0)
        weft_http_fail(http, 301);
}

/* The index of a folder, or a list of what is in it. */
static void serve_folder(weft_http *http, const weft_http_folder *folder, const char *path,
                         const struct file_answer *opened) {
    struct file_answer answer = {.max_age = folder->max_age};
    const char *index = folder->index ? folder->index : "index.html";
    char inside[WF_HTTP_TEXT];
    if ((size_t)snprintf(inside, sizeof inside, "%s%s", path, index) >= sizeof inside) {
        weft_http_fail(http, 404);
        return;
    }
    answer.type = type_of(index);
    answer_begin(&answer);
    int error = open_beneath(folder, inside, &answer);
    if (!error && answer.info.kind != WEFT_FILE_PLAIN)
        error = -ENOENT;
    if (!error)
        (void)answer_open(http, &answer);
    else if (error == -ENOENT && folder->lists)
        (void)list_folder(http, opened->fd);
    else
        (void)answer_error(http, error);
    answer_end(&answer);
}

static void serve_beneath(weft_http *http, const weft_http_folder *folder, const char *path) {
    struct file_answer answer = {.type = type_of(path), .max_age = folder->max_age};
    answer_begin(&answer);
    int error = open_beneath(folder, path, &answer);
    if (error)
        (void)answer_error(http, error);
    else if (answer.info.kind == WEFT_FILE_PLAIN)
        (void)answer_open(http, &answer);
    else if (answer.info.kind != WEFT_FILE_FOLDER)
        (void)answer_error(http, -ENOENT);
    else if (*path && path[strlen(path) - 1] != '/')
        redirect(http);
    else
        serve_folder(http, folder, path, &answer);
    answer_end(&answer);
}

void weft_http_folder_handler(weft_http *http, void *opaque) {
    const weft_http_folder *folder = opaque;
    const char *path = weft_http_parameter(http, "+");
    path = path ? path : "";
    bool is_hidden = *path == '.' || strstr(path, "/.");
    if (!folder || !folder->path || (is_hidden && !folder->shows_hidden))
        weft_http_fail(http, 404);
    else
        serve_beneath(http, folder, path);
}

static void print_escaped(weft_http *http, const char *text, bool is_link) {
    for (; *text; text++) {
        if (strchr(link_bytes, *text) || (!is_link && !strchr("<>&\"'", *text)))
            (void)weft_http_write(http, text, 1);
        else
            (void)weft_http_print(http, is_link ? "%%%02X" : "&#%d;", (unsigned char)*text);
    }
}

struct listing {
    struct wf_leaver leaver; /* as above */
    weft_folder *folder;
};

static void listing_dropped(struct wf_leaver *leaver) {
    weft_folder_close(WF_CONTAINER(leaver, struct listing, leaver)->folder);
}

/* By the descriptor that was checked, and not by its name once more. */
static int list_folder(weft_http *http, weft_fd opened) {
    char path[48];
    weft_folder *folder;
    weft_folder_entry entry;
    snprintf(path, sizeof path, "/proc/self/fd/%d", weft_fd_number(opened));
    int error = weft_folder_open(&folder, path);
    if (error)
        return answer_error(http, error);
    struct listing listing = {.leaver = {.leave = listing_dropped, .drop = listing_dropped}, .folder = folder};
    wf_leaver_push(wf_fiber_stack(wf_fiber_self()), &listing.leaver);
    (void)weft_http_set(http, "Content-Type", "text/html; charset=utf-8");
    (void)weft_http_print(http, "<!doctype html><title>");
    print_escaped(http, weft_http_path(http), false);
    (void)weft_http_print(http, "</title><ul>\n");
    while (!http->conn->error && weft_folder_next(folder, &entry) == 1) {
        if (*entry.name == '.')
            continue;
        const char *slash = entry.kind == WEFT_FILE_FOLDER ? "/" : "";
        (void)weft_http_print(http, "<li><a href=\"./");
        print_escaped(http, entry.name, true);
        (void)weft_http_print(http, "%s\">", slash);
        print_escaped(http, entry.name, false);
        (void)weft_http_print(http, "%s</a>\n", slash);
    }
    wf_leaver_remove(wf_fiber_stack(wf_fiber_self()), &listing.leaver);
    weft_folder_close(folder);
    return weft_http_print(http, "</ul>\n");
}
