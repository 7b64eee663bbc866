/* SPDX-License-Identifier: MIT
 *
 * http/inflate.c - unpacking of bodies: gzip and deflate, by zlib.
 *
 * What servers call deflate is a zlib stream, as it should be, or bare deflate. The first byte of a zlib stream says "method 8";
 * a bare stream could begin with the same bits only by a stored block with rubbish in its padding.
 *
 * A body of gzip may be several streams, one behind the other. Memory is the library's own, so that it is counted and can fail.
 */
#include <errno.h>

#include "http/client.h"
#include "os/memory.h"

#if defined(WF_ZLIB) && WF_ZLIB
#include <zlib.h>

/* Bits of the window, and what zlib takes to mean gzip. */
enum { WINDOW = 15, WINDOW_GZIP = 16, ZLIB_METHOD = 8 };

struct wf_unpack {
    z_stream stream;
    bool is_gzip;
    bool is_ready; /* the kind of stream is known */
    bool is_over;  /* a stream of gzip has ended, and another one may follow */
};

static voidpf unpack_alloc(voidpf arg, uInt count, uInt size) {
    (void)arg;
    return wf_os_alloc((size_t)count * size);
}

static void unpack_free(voidpf arg, voidpf block) {
    (void)arg;
    wf_os_free(block);
}

bool wf_unpack_is_there(void) {
    return true;
}

int wf_unpack_new(struct wf_unpack **out, bool is_gzip) {
    struct wf_unpack *unpack = wf_os_alloc(sizeof *unpack);
    if (!unpack)
        return -ENOMEM;
    unpack->is_gzip = is_gzip;
    unpack->stream.zalloc = unpack_alloc;
    unpack->stream.zfree = unpack_free;
    *out = unpack;
    return 0;
}

void wf_unpack_free(struct wf_unpack *unpack) {
    if (!unpack)
        return;
    if (unpack->is_ready)
        inflateEnd(&unpack->stream);
    wf_os_free(unpack);
}

/* With the first byte at hand. */
static int unpack_begin(struct wf_unpack *unpack, unsigned char first) {
    bool is_bare = !unpack->is_gzip && (first & 15) != ZLIB_METHOD;
    int bits = is_bare ? -WINDOW : unpack->is_gzip ? WINDOW + WINDOW_GZIP : WINDOW;
    int code = unpack->is_over ? inflateReset(&unpack->stream) : inflateInit2(&unpack->stream, bits);
    if (code != Z_OK)
        return code == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
    unpack->is_ready = true;
    unpack->is_over = false;
    return 0;
}

int wf_unpack_step(struct wf_unpack *unpack, char **in, size_t *in_size, char **out, size_t *out_size) {
    z_stream *stream = &unpack->stream;
    while (*in_size > 0 || (unpack->is_ready && !unpack->is_over)) {
        if (unpack->is_over && !unpack->is_gzip)
            return -EBADMSG; /* something behind the end */
        if (!unpack->is_ready || unpack->is_over) {
            int error = unpack_begin(unpack, (unsigned char)**in);
            if (error)
                return error;
        }
        stream->next_in = (unsigned char *)*in;
        stream->avail_in = *in_size > UINT32_MAX ? UINT32_MAX : (uInt)*in_size;
        stream->next_out = (unsigned char *)*out;
        stream->avail_out = *out_size > UINT32_MAX ? UINT32_MAX : (uInt)*out_size;
        int code = inflate(stream, Z_NO_FLUSH);
        *in_size -= (size_t)((char *)stream->next_in - *in);
        *in = (char *)stream->next_in;
        *out_size -= (size_t)((char *)stream->next_out - *out);
        *out = (char *)stream->next_out;
        if (code == Z_MEM_ERROR)
            return -ENOMEM;
        if (code != Z_OK && code != Z_BUF_ERROR && code != Z_STREAM_END)
            return -EBADMSG;
        if (code != Z_STREAM_END)
            return 0;
        unpack->is_over = true;
        if (*out_size == 0)
            return *in_size > 0 ? 0 : 1;
    }
    return unpack->is_over ? 1 : 0;
}

#else /* a library without zlib: only the first is reached */

bool wf_unpack_is_there(void) {
    return false;
}
int wf_unpack_new(struct wf_unpack **out, bool is_gzip) {
    (void)out, (void)is_gzip;
    return -ENOSYS;
}
void wf_unpack_free(struct wf_unpack *unpack) {
    (void)unpack;
}
int wf_unpack_step(struct wf_unpack *unpack, char **in, size_t *in_size, char **out, size_t *out_size) {
    (void)unpack, (void)in, (void)in_size, (void)out, (void)out_size;
    return -ENOSYS;
}
#endif
