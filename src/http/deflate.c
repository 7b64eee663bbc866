/* SPDX-License-Identifier: MIT
 *
 * http/deflate.c - packing of what a server sends: gzip, by zlib.
 *
 * Whether a response is packed is decided with its head, by what the handler has set and what the client takes. A packed body has
 * no length that could be told before: it goes in chunks. Its entity tag becomes a weak one, since the bytes are others.
 *
 * A packer is a quarter of a megabyte, so there is one only while a body is on its way, and a server keeps a few. Without memory
 * for one the body goes as it is. Nothing else of the server knows this file: it is linked by who calls weft_http_gzip.
 */
#include <errno.h>
#include <string.h>

#include "http/http.h"
#include "os/memory.h"

#if defined(WF_ZLIB) && WF_ZLIB
#include <zlib.h>

/* Bits of the window, and what zlib takes to mean gzip; how much memory it uses, as everybody does. Shorter bodies than LEAST
 * would hardly be shorter afterwards. */
enum { WINDOW_OF_GZIP = 15 + 16, MEMORY_LEVEL = 8, LEAST = 256, PACKED_PIECE = 4096, SPARE_PACKS = 8 };

struct wf_http_pack {
    struct wf_http_pack *next; /* among spare ones */
    z_stream stream;
    uint64_t taken; /* bytes, before they were packed */
    char piece[PACKED_PIECE];
};

static bool pack_begin(weft_http *http);
static int pack_write(weft_http *http, const char *bytes, size_t size, enum wf_http_packing how);
static void pack_end(struct wf_http_conn *conn);
static void packs_free(weft_http_server *server);
static struct wf_http_pack *pack_take(weft_http_server *server);
static bool is_packable(const weft_http *http);
static bool is_text(const char *type, size_t size);
static bool takes_gzip(const char *list);
static bool weaken_etag(struct wf_http_work *work);

static const struct wf_http_pack_ops zlib_ops = {
    .begin = pack_begin,
    .write = pack_write,
    .end = pack_end,
    .free = packs_free,
};

int weft_http_gzip(weft_http_server *server, int level) {
    if (!server || level < 1 || level > 9)
        return -EINVAL;
    wf_lock_take(&server->lock);
    bool is_busy = !wf_list_is_empty(&server->servings);
    if (!is_busy) {
        server->pack_ops = &zlib_ops;
        server->pack_level = level;
    }
    wf_lock_drop(&server->lock);
    return is_busy ? -EBUSY : 0;
}

static bool pack_begin(weft_http *http) {
    struct wf_http_work *work = http->work;
    struct wf_http_conn *conn = http->conn;
    const char *accepted = wf_http_find(&work->parser, "Accept-Encoding");
    if (!is_packable(http) || weft_http_set(http, "Vary", "Accept-Encoding") != 0)
        return false;
    if (!accepted || !takes_gzip(accepted))
        return false;
    bool has_body = strcmp(work->parser.method, "HEAD") != 0;
    if (has_body && !(conn->pack = pack_take(conn->server)))
        return false;
    uint32_t set_before = work->set_size;
    if (weft_http_set(http, "Content-Encoding", "gzip") == 0 && weaken_etag(work))
        return true;
    work->set_size = set_before;
    if (conn->pack)
        pack_end(conn);
    return false;
}

/* Of what the handler has set: the value, and its size; NULL. */
static const char *find_set(const struct wf_http_work *work, const char *name, size_t *size) {
    size_t name_size = strlen(name);
    const char *end = work->set + work->set_size;
    for (const char *line = work->set, *next; line < end; line = next) {
        next = (const char *)memchr(line, '\n', (size_t)(end - line)) + 1;
        if ((size_t)(next - line) >= name_size + 4 && line[name_size] == ':' &&
            strncasecmp(line, name, name_size) == 0) {
            *size = (size_t)(next - line) - name_size - 4; /* ": ", CR and LF */
            return line + name_size + 2;
        }
    }
    return NULL;
}

/* Whatever the client takes. */
static bool is_packable(const weft_http *http) {
    const struct wf_http_work *work = http->work;
    size_t size;
    if (http->status == 204 || http->status == 206 || http->status == 304 || (http->has_length && http->length < LEAST))
        return false;
    if (find_set(work, "Content-Encoding", &size) || find_set(work, "Content-Range", &size))
        return false;
    const char *control = find_set(work, "Cache-Control", &size);
    if (control && memmem(control, size, "no-transform", 12))
        return false;
    const char *type = find_set(work, "Content-Type", &size);
    return type && is_text(type, size);
}

static bool is_text(const char *type, size_t size) {
    static const char *const kinds[] = {"application/json", "application/javascript", "application/xml",
                                        "application/wasm", "application/manifest"};
    const char *end = memchr(type, ';', size);
    if (end)
        size = (size_t)(end - type);
    while (size > 0 && type[size - 1] == ' ')
        size--;
    if (size > 5 && strncasecmp(type, "text/", 5) == 0)
        return true;
    if (size > 5 && (strncasecmp(type + size - 5, "+json", 5) == 0 || strncasecmp(type + size - 4, "+xml", 4) == 0))
        return true;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (size == strlen(kinds[i]) && strncasecmp(type, kinds[i], size) == 0)
            return true;
    return false;
}

/* "gzip, deflate;q=0.5, *;q=0": what is named counts, and not the star; a weight of zero means no. */
static bool takes_gzip(const char *list) {
    bool takes_all = false;
    for (const char *at = list + strspn(list, " ,\t"); *at; at += strspn(at, " ,\t")) {
        size_t size = strcspn(at, " ,;\t");
        const char *end = at + strcspn(at, ",");
        const char *weight = memmem(at, (size_t)(end - at), "q=", 2);
        bool is_wanted = !weight || weight[2 + strspn(weight + 2, "0.")] >= '1';
        if ((size == 4 && strncasecmp(at, "gzip", 4) == 0) || (size == 6 && strncasecmp(at, "x-gzip", 6) == 0))
            return is_wanted;
        takes_all |= size == 1 && *at == '*' && is_wanted;
        at = end;
    }
    return takes_all;
}

/* False: there is no room for the mark. */
static bool weaken_etag(struct wf_http_work *work) {
    size_t size;
    char *etag = (char *)find_set(work, "ETag", &size);
    if (!etag || *etag != '"')
        return true;
    if (work->set_size + 2 > WF_HTTP_SET)
        return false;
    memmove(etag + 2, etag, (size_t)(work->set + work->set_size - etag));
    memcpy(etag, "W/", 2);
    work->set_size += 2;
    return true;
}

/* ---- The body ---- */

static int pack_write(weft_http *http, const char *bytes, size_t size, enum wf_http_packing how) {
    static const int flushes[] = {
        [WF_HTTP_PACK_MORE] = Z_NO_FLUSH, [WF_HTTP_PACK_FLUSH] = Z_SYNC_FLUSH, [WF_HTTP_PACK_LAST] = Z_FINISH};
    struct wf_http_pack *pack = http->conn->pack;
    z_stream *stream = &pack->stream;
    if (http->has_length && size > http->length - pack->taken)
        return -EMSGSIZE;
    if (how == WF_HTTP_PACK_LAST && http->has_length && pack->taken < http->length) {
        http->is_broken = http->closes = true;
        return 0;
    }
    pack->taken += size;
    stream->next_in = (unsigned char *)bytes;
    do {
        uInt step = size > UINT32_MAX ? UINT32_MAX : (uInt)size;
        stream->avail_in = step;
        size -= step;
        do {
            stream->next_out = (unsigned char *)pack->piece;
            stream->avail_out = PACKED_PIECE;
            (void)deflate(stream, size > 0 ? Z_NO_FLUSH : flushes[how]); /* cannot fail: there is room */
            int error = wf_http_write_packed(http, pack->piece, PACKED_PIECE - stream->avail_out);
            if (error)
                return error;
        } while (stream->avail_out == 0);
    } while (size > 0);
    return 0;
}

static voidpf pack_alloc(voidpf arg, uInt count, uInt size) {
    (void)arg;
    return wf_os_alloc((size_t)count * size);
}

static void pack_free(voidpf arg, voidpf block) {
    (void)arg;
    wf_os_free(block);
}

static struct wf_http_pack *pack_take(weft_http_server *server) {
    wf_lock_take(&server->lock);
    struct wf_http_pack *pack = server->spare_packs;
    if (pack) {
        server->spare_packs = pack->next;
        server->spare_pack_count--;
    }
    wf_lock_drop(&server->lock);
    if (pack)
        return pack;
    pack = wf_os_alloc(sizeof *pack);
    if (!pack)
        return NULL;
    pack->stream.zalloc = pack_alloc;
    pack->stream.zfree = pack_free;
    if (deflateInit2(&pack->stream, server->pack_level, Z_DEFLATED, WINDOW_OF_GZIP, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
        wf_os_free(pack);
        return NULL;
    }
    return pack;
}

static void pack_drop(struct wf_http_pack *pack) {
    (void)deflateEnd(&pack->stream); /* says whether something was thrown away */
    wf_os_free(pack);
}

static void pack_end(struct wf_http_conn *conn) {
    weft_http_server *server = conn->server;
    struct wf_http_pack *pack = conn->pack;
    conn->pack = NULL;
    (void)deflateReset(&pack->stream);
    pack->taken = 0;
    wf_lock_take(&server->lock);
    bool is_kept = server->spare_pack_count < SPARE_PACKS;
    if (is_kept) {
        pack->next = server->spare_packs;
        server->spare_packs = pack;
        server->spare_pack_count++;
    }
    wf_lock_drop(&server->lock);
    if (!is_kept)
        pack_drop(pack);
}

static void packs_free(weft_http_server *server) {
    while (server->spare_packs) {
        struct wf_http_pack *pack = server->spare_packs;
        server->spare_packs = pack->next;
        pack_drop(pack);
    }
}

#else

int weft_http_gzip(weft_http_server *server, int level) {
    return !server || level < 1 || level > 9 ? -EINVAL : -ENOSYS;
}
#endif
