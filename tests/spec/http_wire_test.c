/* SPDX-License-Identifier: MIT
 *
 * spec/http_wire_test.c - answers that an HTTP client gets: whole, cut, malformed, slow, packed.
 */
#include "spec/http_wire.h"

/* ---- Answers ---- */

static const struct {
    const char *text;
    const char *body;
    bool ends; /* the body ends with the connection */
    bool is_kept;
} good[] = {
    {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello", false, true},
    {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "", false, true},
    {"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", "ok", false, true},
    {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok", "ok", true, false},
    {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: x, Close\r\n\r\nok", "ok", true, false},
    {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", "ok", true, false},
    {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok", "ok", false, true},
    {"HTTP/1.1 200 OK\r\n\r\nto the end", "to the end", true, false},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", "hello world",
     false, true},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 2\r\nX-More: 3\r\n\r\n", "ok", false,
     true},
    {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: "
     "2\r\n\r\nok",
     "ok", false, true},
    {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", "ok", false,
     false},
};

static void good_body(void) {
    char body[64];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        for (int is_dribbled = 0; is_dribbled < 2; is_dribbled++) {
            bool is_last = i + 1 == sizeof good / sizeof *good; /* out of turn: whether both come at once is chance */
            if (is_last && is_dribbled)
                continue;
            script_text(good[i].text);
            script.ends = good[i].ends;
            script.is_dribbled = is_dribbled;
            begin(play, NULL);
            for (int j = 0; j < 2; j++) {
                CHECK_EQ(fetch(body, sizeof body), 200);
                CHECK_TEXT(body, good[i].body);
            }
            CHECK_EQ(stats_now().opened, good[i].is_kept ? 1 : 2);
            finish();
        }
}
TEST(whole_answers_are_understood) {
    run_fibers(good_body);
}

static void bad_body(void) {
    static const struct {
        const char *text;
        int error;
    } bad[] = {
        {"hello\r\n\r\n", -EBADMSG},
        {"HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n", -EBADMSG},
        {"HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n", -EBADMSG},
        {"HTTP/1.1 abc\r\n\r\n", -EBADMSG},
        {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok", -EBADMSG},
        {"HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok", -EBADMSG},
        {"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\nok", -EBADMSG},
        {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", -EBADMSG},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nok", -EBADMSG},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", -EBADMSG},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok0\r\n\r\n", -EBADMSG},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nok", -EBADMSG},
        {"HTTP/1.1 200 OK\r\nA b: c\r\nContent-Length: 0\r\n\r\n", -EBADMSG},
        {"HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n", -EBADMSG},
        {"HTTP/1.1 200 OK\nContent-Length: 0\n\n", -EBADMSG},
        {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", -EBADMSG},
        {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok", -ECONNRESET},
        {"", -ECONNRESET},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        script_text(bad[i].text);
        script.ends = true;
        begin(play, NULL);
        int error = fetch(NULL, 0);
        if (error != bad[i].error)
            fprintf(stderr, "answer %zu\n", i);
        CHECK_EQ(error, bad[i].error);
        CHECK_EQ(stats_now().open, 0);
        finish();
    }
}
TEST(malformed_answers_are_refused) {
    run_fibers(bad_body);
}

/* At every byte: an error, unless what was cut off does not count. */
static void cut_body(void) {
    static const size_t which[] = {0, 8, 9};
    for (size_t i = 0; i < sizeof which / sizeof *which; i++) {
        script_text(good[which[i]].text);
        size_t whole = script.size;
        begin(play, NULL);
        long step = scaled(100, 10) >= 100 ? 1 : 7;
        for (script.size = 0; script.size < whole; script.size += (size_t)step)
            for (int resets = 0; resets < 2; resets++) {
                script.ends = !resets;
                script.resets = resets;
                CHECK_EQ(fetch(NULL, 0), -ECONNRESET);
            }
        CHECK_EQ(stats_now().open, 0);
        finish();
    }
    script_text(good[7].text); /* a reset is not the end that this body waits for */
    script.resets = true;
    begin(play, NULL);
    weft_http_response *response;
    if (open_with("GET", NULL, &response) == 0) { /* it may even swallow the head */
        char bytes[64];
        ssize_t count;
        while ((count = weft_http_response_read(response, bytes, sizeof bytes, WEFT_NEVER)) > 0)
            continue;
        CHECK_EQ(count, -ECONNRESET);
        CHECK_EQ(weft_http_response_read(response, bytes, sizeof bytes, WEFT_NEVER), -ECONNRESET);
        weft_http_response_close(response);
    }
    finish();
}
TEST(answers_that_are_cut_are_errors) {
    run_fibers(cut_body);
}

static void large_head(struct raw_server *self, int fd, int number) {
    char head[RAW_HEAD];
    (void)number;
    bool goes_on = raw_read_head(self, fd, head) && raw_send(fd, "HTTP/1.1 200 OK\r\n");
    for (int i = 0; i < 100000 && goes_on; i++)
        goes_on = raw_send(fd, self->arg);
}

static void large_head_body(void) {
    static const char *const lines[] = {"X: y\r\n", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"};
    for (int i = 0; i < 2; i++) {
        weft_http_client_options options = {.max_head = i ? 0 : 4096};
        server.arg = (void *)lines[i];
        begin(large_head, &options);
        CHECK_EQ(fetch(NULL, 0), -EMSGSIZE);
        finish();
    }
}
TEST(heads_that_are_too_long_are_refused) {
    run_fibers(large_head_body);
}

static void trailer_body(void) {
    weft_http_response *response;
    char byte;
    script_text(good[9].text);
    begin(play, NULL);
    CHECK_EQ(open_with("GET", NULL, &response), 0);
    CHECK_EQ(weft_http_response_size(response), -1);
    while (weft_http_response_read(response, &byte, 1, WEFT_NEVER) == 1)
        continue;
    CHECK_TEXT(weft_http_response_trailer(response, "x-sum"), "2");
    CHECK_TEXT(weft_http_response_trailer(response, "X-More"), "3");
    CHECK(weft_http_response_trailer(response, "X-None") == NULL);
    weft_http_response_close(response);
    finish();
}
TEST(trailers_come_after_the_body) {
    run_fibers(trailer_body);
}

/* ---- Packed bodies ---- */

static const unsigned char packed_gzip[] = {
    31, 139, 8,   0,   0,   0,  0,  0,  2,  3,  43,  201, 72, 85,  40, 78, 204, 77,  85,  40,  73, 173, 40, 209,
    81, 40,  193, 203, 205, 47, 75, 45, 82, 72, 204, 75,  65, 101, 0,  0,  55,  141, 141, 250, 67, 0,   0,  0,
};
static const unsigned char packed_zlib[] = {
    120, 156, 43,  201, 72, 85, 40, 78, 204, 77, 85, 40,  73, 173, 40, 209, 81, 40,
    193, 203, 205, 47,  75, 45, 82, 72, 204, 75, 65, 101, 0,  0,   37, 55,  23, 195,
};
static const unsigned char packed_bare[] = {
    43, 201, 72,  85,  40, 78, 204, 77, 85, 40,  73, 173, 40,  209, 81,
    40, 193, 203, 205, 47, 75, 45,  82, 72, 204, 75, 65,  101, 0,   0,
};
/* A quarter of a megabyte of zeros. */
static const unsigned char packed_bomb[289] = {
    31,  139, 8,  0,   0,   0, 0,   0,           2, 3,  237, 193, 49,  1, 0, 0, 0, 194,
    160, 245, 79, 237, 109, 7, 160, [279] = 222, 0, 34, 234, 14,  226, 0, 0, 4, 0,
};
static const char unpacked[] = "the same text, the same text, the same text, over and over and over";

static char packed_answer[2048];

/* size bytes of what, twice if need be. */
static void script_packed(const char *coding, const unsigned char *what, size_t size, int times, const char *behind) {
    int at = snprintf(packed_answer, sizeof packed_answer,
                      "HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nContent-Length: %zu\r\n\r\n", coding,
                      size * (size_t)times + strlen(behind));
    for (int i = 0; i < times; i++, at += (int)size)
        memcpy(packed_answer + at, what, size);
    memcpy(packed_answer + at, behind, strlen(behind));
    script = (struct script){.bytes = packed_answer, .size = (size_t)at + strlen(behind)};
}

/* A library without zlib does not ask for it. */
static bool asks_for_packed(void) {
    script_text("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    begin(play, NULL);
    CHECK_EQ(fetch(NULL, 0), 200);
    finish();
    return head_had("Accept-Encoding: gzip, deflate\r\n");
}

static void packed_body(void) {
    char body[256];
    if (!asks_for_packed())
        return;
    for (int is_dribbled = 0; is_dribbled < 2; is_dribbled++)
        for (int kind = 0; kind < 5; kind++) {
            if (kind < 2)
                script_packed(kind ? "x-gzip" : "gzip", packed_gzip, sizeof packed_gzip, 1, "");
            else if (kind == 2)
                script_packed("deflate", packed_zlib, sizeof packed_zlib, 1, "");
            else if (kind == 3)
                script_packed("Deflate", packed_bare, sizeof packed_bare, 1, "");
            else
                script_packed("gzip", packed_gzip, sizeof packed_gzip, 2, "");
            script.is_dribbled = is_dribbled;
            begin(play, NULL);
            CHECK_EQ(fetch(body, sizeof body), 200);
            CHECK(strncmp(body, unpacked, strlen(unpacked)) == 0);
            CHECK_EQ(strlen(body), (kind == 4 ? 2 : 1) * strlen(unpacked));
            CHECK_EQ(stats_now().idle, 1);
            finish();
        }
}
TEST(packed_bodies_are_unpacked) {
    run_fibers(packed_body);
}

static void broken_pack_body(void) {
    if (!asks_for_packed())
        return;
    for (size_t size = 0; size < sizeof packed_gzip; size++) { /* whole as an answer, but not as a stream */
        script_packed("gzip", packed_gzip, size, 1, "");
        begin(play, NULL);
        CHECK_EQ(fetch(NULL, 0), size ? -EBADMSG : 200);
        finish();
    }
    for (int kind = 0; kind < 3; kind++) {
        if (kind == 0)
            script_packed("gzip", packed_gzip, sizeof packed_gzip, 1, "rubbish");
        else if (kind == 1)
            script_packed("deflate", packed_zlib, sizeof packed_zlib, 1, "x");
        else
            script_packed("gzip", packed_zlib, sizeof packed_zlib, 1, "");
        begin(play, NULL);
        CHECK_EQ(fetch(NULL, 0), -EBADMSG);
        finish();
    }
    weft_http_client_options small = {.max_body = 100000};
    script_packed("gzip", packed_bomb, sizeof packed_bomb, 1, "");
    begin(play, &small);
    CHECK_EQ(fetch(NULL, 0), -EMSGSIZE);
    finish();
}
TEST(packed_bodies_that_are_broken_or_too_large_are_refused) {
    run_fibers(broken_pack_body);
}

static void bomb_body(void) {
    weft_http_response *response;
    char bytes[1000];
    size_t sum = 0;
    ssize_t count;
    if (!asks_for_packed())
        return;
    script_packed("gzip", packed_bomb, sizeof packed_bomb, 1, "");
    begin(play, NULL);
    CHECK_EQ(open_with("GET", NULL, &response), 0);
    CHECK_EQ(weft_http_response_size(response), -1);
    while ((count = weft_http_response_read(response, bytes, sizeof bytes, WEFT_NEVER)) > 0)
        sum += (size_t)count;
    CHECK_EQ(count, 0);
    CHECK_EQ(sum, 256 << 10);
    weft_http_response_close(response);
    weft_http_field own = {"Accept-Encoding", "gzip"}; /* who asks for it gets it as it is */
    weft_http_request request = {.headers = &own, .header_count = 1};
    CHECK_EQ(open_with("GET", &request, &response), 0);
    CHECK_EQ(weft_http_response_size(response), sizeof packed_bomb);
    weft_http_response_close(response);
    finish();
    weft_http_client_options keeps = {.keeps_packed = true};
    begin(play, &keeps);
    CHECK_EQ(open_with("GET", NULL, &response), 0);
    CHECK(!head_had("Accept-Encoding"));
    CHECK_EQ(weft_http_response_size(response), sizeof packed_bomb);
    weft_http_response_close(response);
    finish();
}
TEST(packed_bodies_are_read_in_pieces_or_left_alone) {
    run_fibers(bomb_body);
}
