/* SPDX-License-Identifier: MIT
 *
 * unit/http/client_test.c - system calls under an HTTP client fail, at every place.
 *
 * A workload with all that a client does is run again and again on a plain thread; in run n the n-th call of one kind that
 * this thread makes fails, until a run passes in which none did. A call may return what the failed one says, or that the server
 * has gone; but what arrives is right, and nothing is left: no block, no descriptor, no room that is not given back.
 */
#include "http/client.h"
#include "os/fault.h"
#include "os/memory.h"
#include "support/descriptors.h"
#include "support/io.h" /* what serves plain threads is there before the first test */
#include "support/raw_server.h"

enum { NTH_MAX = 400 };

static struct raw_server server;
static weft_http_client *client;
static int injected;

/* ---- The server ---- */

static const unsigned char packed[] = {
    31, 139, 8,   0,   0,   0,  0,  0,  2,  3,  43,  201, 72, 85,  40, 78, 204, 77,  85,  40,  73, 173, 40, 209,
    81, 40,  193, 203, 205, 47, 75, 45, 82, 72, 204, 75,  65, 101, 0,  0,  55,  141, 141, 250, 67, 0,   0,  0,
};
static const char unpacked[] = "the same text, the same text, the same text, over and over and over";

/* Chunks, up to the last. */
static bool read_chunks(int fd) {
    char last[5] = "";
    while (memcmp(last, "0\r\n\r\n", 5) != 0) {
        memmove(last, last + 1, 4);
        if (!raw_read(fd, last + 4, 1))
            return false;
    }
    return true;
}

static void serve(struct raw_server *self, int fd, int number) {
    char head[RAW_HEAD], text[8], answer[256];
    (void)number;
    while (raw_read_head(self, fd, head)) {
        if (strstr(head, "chunked") && !read_chunks(fd))
            return;
        if (strstr(head, "Expect") && !raw_send(fd, "HTTP/1.1 100 Continue\r\n\r\n"))
            return;
        if (strstr(head, "Content-Length: 4") && !raw_read(fd, text, 4))
            return;
        if (strstr(head, "/moved")) {
            raw_send(fd, "HTTP/1.1 307 Moved\r\nLocation: /packed\r\nContent-Length: 5\r\n\r\nmoved");
        } else if (strstr(head, "/packed") && strstr(head, "gzip")) {
            snprintf(answer, sizeof answer, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %zu\r\n\r\n",
                     sizeof packed);
            raw_send(fd, answer);
            raw_send_bytes(fd, packed, sizeof packed);
        } else {
            raw_send(
                fd,
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nplain \r\n4\r\ntext\r\n0\r\nX: y\r\n\r\n");
        }
    }
}

/* ---- The workload ---- */

static bool went(long status) {
    bool is_known = status >= 0 || status == -injected || status == -ENOMEM || status == -ECONNRESET;
    if (!is_known)
        fprintf(stderr, "unexpected status %ld\n", status);
    CHECK(is_known);
    return status >= 0;
}

static const char *url_of(const char *path) {
    static char text[128];
    snprintf(text, sizeof text, "%s%s", server.url, path);
    return text;
}

static void expect_body(weft_http_response *response, const char *text) {
    const void *bytes;
    size_t size;
    if (went(weft_http_response_body(response, &bytes, &size, weft_after(PATIENCE_NS))))
        CHECK_TEXT((const char *)bytes, text);
    weft_http_response_close(response);
}

static int letters_left;

static ssize_t read_letters(void *buffer, size_t size, void *arg) {
    (void)size, (void)arg;
    memset(buffer, 'a', 10);
    return letters_left-- > 0 ? 10 : 0;
}

static int rewind_letters(void *arg) {
    (void)arg;
    letters_left = 3;
    return 0;
}

static int open_one(const char *method, const char *path, const weft_http_request *request, weft_http_response **out) {
    return weft_http_request_open(client, method, url_of(path), request, out, weft_after(PATIENCE_NS));
}

static void use_client(void) {
    weft_http_response *response;
    weft_http_field field = {"X-Own", "y"};
    weft_http_request streamed = {.read = read_letters, .rewind = rewind_letters, .headers = &field, .header_count = 1};
    rewind_letters(NULL);
    bool is_packed = wf_unpack_is_there();
    if (went(open_one("POST", "/moved", &streamed, &response)))
        expect_body(response, is_packed ? unpacked : "plain text");
    weft_http_request expecting = {.body = "text", .body_size = 4, .expects = true};
    if (went(open_one("POST", "/plain", &expecting, &response)))
        expect_body(response, "plain text");
    weft_http_request written = {.is_written = true};
    if (went(open_one("POST", "/plain", &written, &response))) {
        int status = weft_http_request_write(response, "some", 4, weft_after(PATIENCE_NS));
        bool is_over = status == -EPIPE || went(status);
        status = weft_http_request_end(response, weft_after(PATIENCE_NS));
        if (is_over && went(status))
            expect_body(response, "plain text");
        else
            weft_http_response_close(response);
    }
    if (went(weft_http_fetch(client, "GET", url_of("/plain"), NULL, 0, &response, weft_after(PATIENCE_NS)))) {
        CHECK_TEXT(weft_http_response_trailer(response, "X"), "y");
        expect_body(response, "plain text");
    }
}

static void run_all(void) {
    weft_http_field field = {"X-Default", "z"};
    weft_http_client_options options = {.headers = &field, .header_count = 1, .max_per_host = 1};
    if (!went(weft_http_client_new(&client, &options)))
        return;
    use_client();
    weft_http_client_stats stats;
    CHECK_EQ(weft_http_client_get_stats(client, &stats), 0);
    CHECK_EQ(stats.open, stats.idle);
    weft_http_client_free(client);
}

static void sweep(enum wf_system_call call, int error) {
    long points = 0;
    injected = error;
    raw_server_start(&server, serve);
    run_all(); /* what stays for good is there */
    int64_t blocks = wf_os_live_blocks();
    long step = scaled(100, 10) >= 100 ? 1 : 3;
    for (long nth = 1; nth < NTH_MAX; nth += step) {
        wf_fault_order_here(call, nth, error, 0);
        run_all();
        long hits = wf_fault_hits();
        wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
        CHECK_EQ(wf_os_live_blocks(), blocks);
        points++;
        if (hits == 0)
            break;
    }
    raw_server_stop(&server);
    printf("    %-14s errno %3d: %ld points\n", wf_fault_name(call), error, points);
    CHECK_LE(points, NTH_MAX - 2);
}

TEST(memory_may_be_refused) {
    sweep(WF_CALL_ALLOC, ENOMEM);
}

TEST(connections_may_be_refused) {
    sweep(WF_CALL_SOCKET, EMFILE);
    sweep(WF_CALL_CONNECT, ECONNREFUSED);
    sweep(WF_CALL_SOCKET_OPTION, ENOBUFS);
    sweep(WF_CALL_EPOLL_CTL, ENOMEM);
}

TEST(connections_may_fail) {
    sweep(WF_CALL_READ, ECONNRESET);
    sweep(WF_CALL_READ, EIO);
    sweep(WF_CALL_SEND, EPIPE);
    sweep(WF_CALL_SEND, ENOBUFS);
    sweep(WF_CALL_POLL, ENOMEM);
    sweep(WF_CALL_CLOSE, EIO);
}

TEST(calls_may_be_interrupted) {
    sweep(WF_CALL_READ, EINTR);
    sweep(WF_CALL_SEND, EINTR);
}
