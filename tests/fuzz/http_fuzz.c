/* SPDX-License-Identifier: MIT
 *
 * fuzz/http_fuzz.c - requests that nobody would think of, for as long as one likes.
 *
 *     fuzz_http [seconds [seed]]
 *
 * Rows of spec/http_corpus.h are put together, cut, repeated and spoilt by chance. What comes of it goes to a server in the same
 * process twice, in one piece and in pieces, over connections of their own: both have to be answered by the same, and by nothing
 * but well-formed responses. Prints its seed, which gives the same run again; under a sanitizer it says more.
 */
#include "spec/http_corpus.h"
#include "support/http.h"

enum { CASE_MOST = 3000, ANSWERS = 64, AT_ONCE = 4 };

struct example {
    char bytes[CASE_MOST];
    size_t size;
};

static uint64_t seed;
static weft_time limit;
static atomic_long cases, answers;

static void take(weft_http *http, void *arg) {
    (void)arg;
    char piece[97];
    ssize_t count;
    uint64_t sum = 0;
    while ((count = weft_http_read(http, piece, sizeof piece)) > 0)
        for (ssize_t i = 0; i < count; i++)
            sum = sum * 31 + (unsigned char)piece[i];
    if (count == 0)
        (void)weft_http_print(http, "%s %s %llu %s", weft_http_method(http), weft_http_target(http),
                              (unsigned long long)sum,
                              weft_http_trailer(http, "A") ? weft_http_trailer(http, "A") : "-");
}

/* ---- Making them ---- */

static void append(struct example *example, const char *bytes, size_t size) {
    if (size > CASE_MOST - example->size)
        size = CASE_MOST - example->size;
    memcpy(example->bytes + example->size, bytes, size);
    example->size += size;
}

static void spoil(struct example *example, uint64_t *random) {
    static const char *const words[] = {"\r\n",
                                        "\n",
                                        "\r",
                                        " ",
                                        "\t",
                                        ":",
                                        ",",
                                        ";",
                                        "0",
                                        "chunked",
                                        "Transfer-Encoding: chunked\r\n",
                                        "Content-Length: 5\r\n",
                                        "Content-Length: 0\r\n",
                                        "Host: b\r\n",
                                        "\r\n\r\n",
                                        "0\r\n\r\n",
                                        "GET /x HTTP/1.1\r\n",
                                        "Connection: close\r\n",
                                        "%",
                                        "..",
                                        "/",
                                        "ffffffffffffffff",
                                        "A:\r\n",
                                        "Expect: 100-continue\r\n",
                                        "Upgrade: x\r\nConnection: upgrade\r\n"};
    struct example old = *example;
    size_t at = random_below(random, old.size + 1), size = random_below(random, 20);
    const char *word = words[random_below(random, sizeof words / sizeof *words)];
    if (size > old.size - at)
        size = old.size - at;
    switch (random_below(random, 5)) {
    case 0: /* another byte */
        if (at < old.size)
            example->bytes[at] = (char)random_next(random);
        return;
    case 1: /* a bit */
        if (at < old.size)
            example->bytes[at] ^= (char)(1 << random_below(random, 8));
        return;
    case 2: /* a word in between */
        example->size = at;
        append(example, word, strlen(word));
        append(example, old.bytes + at, old.size - at);
        return;
    case 3: /* some bytes again */
        example->size = at + size;
        append(example, old.bytes + at, old.size - at);
        return;
    default: /* some bytes less */
        example->size = at;
        append(example, old.bytes + at + size, old.size - at - size);
    }
}

static void make(struct example *example, uint64_t *random) {
    example->size = 0;
    for (uint64_t i = random_below(random, 3) + 1; i > 0; i--) {
        const struct row *row = &corpus[random_below(random, ROWS)];
        append(example, row->bytes, row->size);
    }
    for (uint64_t i = random_below(random, 5); i > 0; i--)
        spoil(example, random);
}

/* ---- Trying them ---- */

static void print_example(const struct example *example) {
    for (size_t i = 0; i < example->size; i++) {
        unsigned char byte = (unsigned char)example->bytes[i];
        if (byte >= ' ' && byte < 0x7f && byte != '\\' && byte != '"')
            fputc(byte, stderr);
        else
            fprintf(stderr, "\\x%02x", byte);
    }
    fputc('\n', stderr);
}

/* All that is answered, as a text; 100 is not counted, since it depends on what has come by then. */
static void try_example(const struct example *example, uint64_t *random, bool is_cut, char *text, size_t room) {
    struct client *client = client_open();
    bool goes_on = true;
    for (size_t at = 0, size; at < example->size && goes_on; at += size) {
        size = is_cut ? 1 + random_below(random, 1 + random_below(random, 200)) : example->size;
        if (size > example->size - at)
            size = example->size - at;
        goes_on = client_try_bytes(client, example->bytes + at, size);
        if (is_cut && random_below(random, 3) == 0)
            weft_yield();
    }
    if (goes_on)
        client_say_end(client);
    *text = 0;
    for (int i = 0; i < ANSWERS; i++) {
        struct answer *answer = client_receive(client, "GET");
        if (answer->is_cut) {
            fprintf(stderr, "an answer is cut after %zu bytes of its body, error %d, sent %s: %s\n", answer->size,
                    client->error, is_cut ? "in pieces" : "at once", answer->head);
            print_example(example);
        }
        CHECK(!answer->is_cut);
        if (answer->status == 0)
            break;
        if (answer->status != 100)
            snprintf(text + strlen(text), room - strlen(text), "%d %s\n", answer->status, answer->body);
        atomic_fetch_add(&answers, 1);
    }
    client_close(client);
}

static void *fuzz(void *opaque) {
    uint64_t random = *(uint64_t *)opaque;
    struct example *example = malloc(sizeof *example);
    char *texts[2] = {malloc(8192), malloc(8192)};
    CHECK(example && texts[0] && texts[1]);
    while (weft_now() < limit) {
        make(example, &random);
        try_example(example, &random, false, texts[0], 8192);
        try_example(example, &random, true, texts[1], 8192);
        if (strcmp(texts[0], texts[1]) != 0) {
            fprintf(stderr, "seed %llu: in one piece\n%s---- and in pieces\n%s---- of\n", (unsigned long long)seed,
                    texts[0], texts[1]);
            print_example(example);
            abort();
        }
        atomic_fetch_add(&cases, 1);
    }
    free(example);
    free(texts[0]);
    free(texts[1]);
    return NULL;
}

static int fuzz_all(void *arg) {
    uint64_t seeds[AT_ONCE];
    weft_fiber fibers[AT_ONCE];
    weft_http_options options = {.head_timeout = 10 * WEFT_SECOND};
    site_open(&options);
    site_route("/x", take);
    site_route("/+", take);
    site_serve();
    for (int i = 0; i < AT_ONCE; i++) {
        seeds[i] = random_next((uint64_t *)arg) | 1;
        SPAWN(&fibers[i], fuzz, &seeds[i]);
    }
    for (int i = 0; i < AT_ONCE; i++)
        JOIN(fibers[i], NULL);
    site_close();
    return 0;
}

int main(int argc, char **argv) {
    long seconds = argc > 1 ? atol(argv[1]) : 10;
    seed = argc > 2 ? strtoull(argv[2], NULL, 0) : (uint64_t)weft_now();
    uint64_t random = seed | 1;
    printf("seed %llu\n", (unsigned long long)seed);
    fflush(stdout);
    limit = weft_after(seconds * WEFT_SECOND);
    if (weft_run(NULL, fuzz_all, &random) != 0)
        return 1;
    printf("%ld cases, %ld answers\n", atomic_load(&cases), atomic_load(&answers));
    return 0;
}
