/* SPDX-License-Identifier: MIT
 *
 * spec/http_corpus_test.c - every request of spec/http_corpus.h is answered as its row says, however its bytes arrive.
 *
 * Behind each comes another request, which is to be answered only where the row says that the connection stays. More rows are made
 * here: each of the 256 bytes in each place of a request.
 */
#include "spec/http_corpus.h"
#include "support/http.h"

static atomic_int behind; /* requests that were found behind a row */

/* Reads the body: what is wrong with it shows. */
static void take(weft_http *http, void *arg) {
    (void)arg;
    char piece[64];
    ssize_t count;
    while ((count = weft_http_read(http, piece, sizeof piece)) > 0)
        continue;
    if (count == 0)
        CHECK_EQ(weft_http_reply(http, 200, NULL, "taken", 5), 0);
}

static void note(weft_http *http, void *arg) {
    (void)arg;
    atomic_fetch_add(&behind, 1);
    CHECK_EQ(weft_http_reply(http, 200, NULL, "behind", 6), 0);
}

static const char next[] = "GET /behind HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

static void send_row(struct client *client, const struct row *row, bool is_slow) {
    char bytes[2048];
    size_t size = row->size;
    CHECK(size + sizeof next <= sizeof bytes);
    memcpy(bytes, row->bytes, size);
    if (row->end != CUT) {
        memcpy(bytes + size, next, sizeof next - 1);
        size += sizeof next - 1;
    }
    bool goes_on = true;
    for (size_t at = 0, piece = is_slow ? 1 : size; at < size && goes_on; at += piece) {
        goes_on = client_try_bytes(client, bytes + at, piece);
        if (is_slow)
            weft_yield();
    }
    if (row->end == CUT && goes_on)
        client_say_end(client);
}

static void print_row(const struct row *row, const char *what, int status) {
    fprintf(stderr, "%s (%d): \"", what, status);
    for (size_t i = 0; i < row->size; i++) {
        unsigned char byte = (unsigned char)row->bytes[i];
        if (byte >= ' ' && byte < 0x7f)
            fputc(byte, stderr);
        else
            fprintf(stderr, byte == '\r' ? "\\r" : byte == '\n' ? "\\n" : "\\x%02x", byte);
    }
    fprintf(stderr, "\"\n");
}

/* False: the row does not hold, and was printed. */
static bool try_row(const struct row *row, bool is_slow) {
    struct client *client = client_open();
    int before = atomic_load(&behind);
    send_row(client, row, is_slow);
    struct answer *answer = client_receive(client, "GET");
    int status = answer->status;
    const char *wrong = NULL;
    if (status != row->status)
        wrong = is_slow ? "another status, byte by byte" : "another status";
    else if (answer->is_cut)
        wrong = "the answer is cut";
    else if (row->end == ENDS && !answer->says_close)
        wrong = "does not say that the connection closes";
    if (!wrong && row->end == STAYS) {
        answer = client_receive(client, "GET");
        if (answer->status != 200 || strcmp(answer->body, "behind") != 0)
            wrong = "what is behind it was not answered";
    }
    if (!wrong && client_byte(client) >= 0)
        wrong = "more comes than an answer";
    if (!wrong && atomic_load(&behind) != before + (row->end == STAYS))
        wrong = "what is behind it was taken for a request";
    if (wrong)
        print_row(row, wrong, status);
    client_close(client);
    return !wrong;
}

static void open_corpus(void) {
    site_open(NULL);
    site_route("/x", take);
    site_route("/behind", note);
    site_serve();
}

static void run_rows(void) {
    int wrong = 0;
    open_corpus();
    for (int i = 0; i < ROWS; i++)
        wrong += !try_row(&corpus[i], false);
    CHECK_EQ(wrong, 0);
    site_close();
    printf("    %d rows\n", ROWS);
}
TEST(every_row_of_the_corpus_is_answered_as_it_says) {
    CHECK_GE(ROWS, 300);
    run_fibers(run_rows);
}

/* Those that this build has time for: all of them in a release build. */
static void run_rows_slowly(void) {
    int wrong = 0, step = (int)(100 / scaled(100, 12));
    open_corpus();
    for (int i = 0; i < ROWS; i += step)
        wrong += !try_row(&corpus[i], true);
    CHECK_EQ(wrong, 0);
    site_close();
}
TEST(so_is_every_row_that_comes_byte_by_byte) {
    run_fibers(run_rows_slowly);
}

/* ---- Each byte in each place ---- */

static bool is_token_byte(int byte) {
    return byte > ' ' && byte < 0x7f && !strchr("\"(),/:;<=>?@[\\]{}", byte);
}
static bool is_value_byte(int byte) {
    return byte == '\t' || (byte >= ' ' && byte != 0x7f);
}
static bool is_host_byte(int byte) {
    return byte > ' ' && byte < 0x7f && !strchr("\"#,/<>?@\\^`{|}", byte);
}
static bool is_never(int byte) {
    (void)byte;
    return false;
}
static bool is_hex_byte(int byte) {
    return byte < 0x80 && strchr("0123456789abcdefABCDEF", byte) && byte;
}
static bool is_extension_byte(int byte) {
    return is_token_byte(byte) || byte == ';';
}
/* Any byte that belongs into a URL; others may pass, but not the controls, the space and the delimiter of fragments. */
static bool is_query_byte(int byte) {
    return byte > ' ' && byte < 0x7f && !strchr("#\"<>\\^`{|}", byte);
}

/* A request with a hole in it: \x01 stands for the byte. What is not allowed there is refused; is_loose: what is beyond the
 * allowed bytes may pass, if it is no control. */
static const struct place {
    const char *name;
    const char *text;
    bool (*allows)(int byte);
    bool is_loose;
} places[] = {
    {"first byte", "\x01GET /x HTTP/1.1\r\nHost: a\r\n\r\n", is_never, false},
    {"method", "G\x01T /x HTTP/1.1\r\nHost: a\r\n\r\n", is_never, false},
    {"behind the method", "GET\x01/x HTTP/1.1\r\nHost: a\r\n\r\n", is_never, false},
    {"query",
     "GET /x?a\x01"
     "b HTTP/1.1\r\nHost: a\r\n\r\n",
     is_query_byte, true},
    {"behind the target", "GET /x\x01HTTP/1.1\r\nHost: a\r\n\r\n", is_never, false},
    {"major", "GET /x HTTP/\x01.1\r\nHost: a\r\n\r\n", is_never, false},
    {"dot",
     "GET /x HTTP/1\x01"
     "1\r\nHost: a\r\n\r\n",
     is_never, false},
    {"behind the version", "GET /x HTTP/1.1\x01Host: a\r\n\r\n", is_never, false},
    {"name, first",
     "GET /x HTTP/1.1\r\nHost: a\r\n\x01"
     "b: c\r\n\r\n",
     is_token_byte, false},
    {"name, middle",
     "GET /x HTTP/1.1\r\nHost: a\r\na\x01"
     "b: c\r\n\r\n",
     is_token_byte, false},
    {"name, last", "GET /x HTTP/1.1\r\nHost: a\r\na\x01: c\r\n\r\n", is_token_byte, false},
    {"value, first",
     "GET /x HTTP/1.1\r\nHost: a\r\na:\x01"
     "b\r\n\r\n",
     is_value_byte, false},
    {"value, middle",
     "GET /x HTTP/1.1\r\nHost: a\r\na: b\x01"
     "c\r\n\r\n",
     is_value_byte, false},
    {"value, last", "GET /x HTTP/1.1\r\nHost: a\r\na: b\x01\r\n\r\n", is_value_byte, false},
    {"host",
     "GET /x HTTP/1.1\r\nHost: a\x01"
     "b\r\n\r\n",
     is_host_byte, false},
    {"length, first", "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length:\x01\r\n\r\n", is_never, false},
    {"encoding",
     "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chun\x01"
     "ed\r\n\r\n0\r\n\r\n",
     is_never, false},
    {"chunk size", "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\x01\r\n", is_never, false},
    {"behind a chunk's size", "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\x01\nx\r\n0\r\n\r\n",
     is_never, false},
    {"behind a chunk", "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\x01\n0\r\n\r\n",
     is_never, false},
    {"extension", "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;a\x01=c\r\nx\r\n0\r\n\r\n",
     is_extension_byte, false},
    {"trailer, name", "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\na\x01: c\r\n\r\n",
     is_token_byte, false},
    {"trailer, value", "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\na: b\x01\r\n\r\n",
     is_value_byte, false},
};

/* What the byte is in a text that is otherwise right, and so makes another right one: those are not looked at. */
static bool is_other(const struct place *place, int byte) {
    if (strcmp(place->name, "first byte") == 0)
        return byte == '\r' || byte == '\n'; /* half an empty line: see the corpus */
    if (strcmp(place->name, "method") == 0)
        return byte == 'E';
    if (strncmp(place->name, "behind the", 10) == 0)
        return byte == ' ' || byte == '?' || strchr("/", byte) || (byte > ' ' && place->text[0] == 'G' && byte != 0x7f);
    if (strcmp(place->name, "major") == 0 || strcmp(place->name, "dot") == 0)
        return byte == '1' || byte == '.' || (byte >= '0' && byte <= '9');
    if (strncmp(place->name, "name", 4) == 0 || strncmp(place->name, "trailer, n", 10) == 0)
        return byte == ':';
    if (strncmp(place->name, "length", 6) == 0)
        return byte >= '1' && byte <= '9'; /* a body that does not come */
    if (strcmp(place->name, "encoding") == 0)
        return byte == 'k' || byte == 'K';
    if (strcmp(place->name, "chunk size") == 0)
        return is_hex_byte(byte) || byte == ';' || byte == '\r';
    return strncmp(place->name, "behind a chunk", 14) == 0 && (byte == '\r' || is_hex_byte(byte));
}

static bool try_byte(const struct place *place, int byte) {
    char text[512];
    size_t size = strlen(place->text);
    const char *hole = strchr(place->text, '\x01');
    memcpy(text, place->text, size);
    text[hole - place->text] = (char)byte;
    bool is_allowed = place->allows(byte) || (strncmp(place->name, "length", 6) == 0 && byte == '0');
    if (is_other(place, byte) || (place->is_loose && !is_allowed && byte > ' ' && byte != 0x7f && byte != '#'))
        return true;
    struct row row = {text, size, is_allowed ? 200 : 400, is_allowed ? STAYS : ENDS};
    bool holds = try_row(&row, false);
    if (!holds)
        fprintf(stderr, "    ... %s, byte %#x\n", place->name, byte);
    return holds;
}

static void run_bytes(void) {
    enum { PLACES = sizeof places / sizeof *places };
    int wrong = 0, step = (int)(100 / scaled(100, 10));
    open_corpus();
    for (int place = 0; place < PLACES; place++)
        for (int byte = place % step; byte < 256; byte += step)
            wrong += !try_byte(&places[place], byte);
    CHECK_EQ(wrong, 0);
    site_close();
    printf("    %d places\n", PLACES);
}
TEST(each_byte_in_each_place_is_taken_or_refused) {
    run_fibers(run_bytes);
}
