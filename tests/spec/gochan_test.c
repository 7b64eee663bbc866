/* SPDX-License-Identifier: MIT
 *
 * spec/gochan_test.c - what programs in the Go tradition expect of channels, each a small program with a known result.
 *
 * The ideas are those of Go's test/chan: double select, first in first out, forms that do not block, selects whose other cases
 * leave no trace, every way to send against every way to receive, a sieve, a long chain, elements of no size, misuse.
 */
#include "support/parked.h"

static weft_chan *chan_make(size_t size, int64_t capacity) {
    weft_chan *chan;
    CHECK_EQ(weft_chan_new(&chan, size, capacity), 0);
    return chan;
}

static weft_chan *chan_of_ints(int64_t capacity) {
    return chan_make(sizeof(int), capacity);
}

static int receive_int(weft_chan *chan) {
    int value = -1;
    CHECK_EQ(weft_chan_recv(chan, &value, WEFT_NEVER), 0);
    return value;
}

static void send_int(weft_chan *chan, int value) {
    CHECK_EQ(weft_chan_send(chan, &value, WEFT_NEVER), 0);
}

/* Double select: a number is offered on four channels at once, and four others collect them. Each comes once. */
enum { LANES = 4 };

struct lanes {
    weft_chan *lanes[LANES];
    weft_chan *collected;
    int count;
};

static void *lanes_offer(void *opaque) {
    struct lanes *lanes = opaque;
    for (int i = 0; i < lanes->count; i++) {
        weft_case cases[LANES];
        for (int lane = 0; lane < LANES; lane++)
            cases[lane] = weft_on_send(lanes->lanes[lane], &i);
        CHECK_GE(weft_select(cases, LANES, WEFT_NEVER), 0);
    }
    for (int lane = 0; lane < LANES; lane++)
        CHECK_EQ(weft_chan_close(lanes->lanes[lane]), 0);
    return NULL;
}

struct lane {
    weft_chan *from, *to;
};

static void *lane_collect(void *opaque) {
    struct lane *lane = opaque;
    int value;
    while (weft_chan_recv(lane->from, &value, WEFT_NEVER) == 0)
        send_int(lane->to, value);
    value = -1; /* the end of this one */
    send_int(lane->to, value);
    return NULL;
}

static void double_select_body(void) {
    struct lanes lanes = {.collected = chan_of_ints(0), .count = (int)scaled(20000, 500)};
    struct lane each[LANES];
    weft_fiber fibers[LANES + 1];
    bool *was_seen = calloc((size_t)lanes.count, sizeof *was_seen);
    for (int i = 0; i < LANES; i++)
        each[i] = (struct lane){.from = lanes.lanes[i] = chan_of_ints(0), .to = lanes.collected};
    SPAWN(&fibers[LANES], lanes_offer, &lanes);
    for (int i = 0; i < LANES; i++)
        SPAWN(&fibers[i], lane_collect, &each[i]);
    for (int ended = 0; ended < LANES;) {
        int value = receive_int(lanes.collected);
        if (value < 0) {
            ended++;
            continue;
        }
        CHECK(!was_seen[value]);
        was_seen[value] = true;
    }
    for (int i = 0; i < lanes.count; i++)
        CHECK(was_seen[i]);
    for (int i = 0; i <= LANES; i++)
        JOIN(fibers[i], NULL);
    for (int i = 0; i < LANES; i++)
        weft_chan_free(lanes.lanes[i]);
    weft_chan_free(lanes.collected);
    free(was_seen);
}

TEST(double_select_passes_each_number_once) {
    run_fibers(double_select_body);
}

/* First in, first out, with a buffer and without; without one each receiver waits for its turn. */
struct turn {
    weft_chan *values, *before, *after;
    int expected;
};

static void *receive_in_turn(void *opaque) {
    struct turn *turn = opaque;
    receive_int(turn->before);
    CHECK_EQ(receive_int(turn->values), turn->expected);
    send_int(turn->after, 1);
    return NULL;
}

static void fifo_body(void) {
    enum { COUNT = 10 };
    weft_chan *values = chan_of_ints(COUNT), *turns[COUNT + 1];
    struct turn each[COUNT];
    weft_fiber fibers[COUNT];
    for (int i = 0; i < COUNT; i++)
        send_int(values, i);
    for (int i = 0; i < COUNT; i++)
        CHECK_EQ(receive_int(values), i);
    weft_chan_free(values);
    values = chan_of_ints(0);
    for (int i = 0; i <= COUNT; i++)
        turns[i] = chan_of_ints(1);
    for (int i = 0; i < COUNT; i++) {
        each[i] = (struct turn){values, turns[i], turns[i + 1], i};
        SPAWN(&fibers[i], receive_in_turn, &each[i]);
    }
    send_int(turns[0], 0);
    for (int i = 0; i < COUNT; i++)
        send_int(values, i);
    receive_int(turns[COUNT]);
    for (int i = 0; i < COUNT; i++)
        JOIN(fibers[i], NULL);
    for (int i = 0; i <= COUNT; i++)
        weft_chan_free(turns[i]);
    weft_chan_free(values);
}

TEST(fifo_with_and_without_a_buffer) {
    run_fibers(fifo_body);
}

/* The forms that do not block, for elements of several kinds. */
static void *send_bytes(void *opaque) {
    weft_chan *chan = opaque;
    unsigned char value[64];
    memset(value, 0x5a, sizeof value);
    CHECK_EQ(weft_chan_send(chan, value, WEFT_NEVER), 0);
    return NULL;
}

static void *receive_bytes(void *opaque) {
    unsigned char value[64];
    CHECK_EQ(weft_chan_recv(opaque, value, WEFT_NEVER), 0);
    return NULL;
}

static void nonblock_of_size(size_t size) {
    unsigned char value[64] = {0}, got[64];
    weft_chan *chan = chan_make(size, 0);
    CHECK_EQ(weft_chan_recv(chan, got, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_chan_send(chan, value, WEFT_NOW), -ETIMEDOUT);
    weft_fiber fiber = spawn_parked(send_bytes, chan);
    CHECK_EQ(weft_chan_recv(chan, got, WEFT_NOW), 0);
    CHECK(size == 0 || got[size - 1] == 0x5a);
    JOIN(fiber, NULL);
    fiber = spawn_parked(receive_bytes, chan);
    CHECK_EQ(weft_chan_send(chan, value, WEFT_NOW), 0);
    JOIN(fiber, NULL);
    weft_chan_free(chan);
    chan = chan_make(size, 1);
    CHECK_EQ(weft_chan_recv(chan, got, WEFT_NOW), -ETIMEDOUT);
    memset(value, 0x77, sizeof value);
    CHECK_EQ(weft_chan_send(chan, value, WEFT_NOW), 0);
    CHECK_EQ(weft_chan_send(chan, value, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_chan_recv(chan, got, WEFT_NOW), 0);
    CHECK(size == 0 || got[size - 1] == 0x77);
    weft_chan_free(chan);
}

static void nonblock_body(void) {
    const size_t sizes[] = {0, 1, 2, 4, 8, 12, 64};
    for (int i = 0; i < 7; i++)
        nonblock_of_size(sizes[i]);
}

TEST(nonblocking_forms) {
    run_fibers(nonblock_body);
}

/* A select whose second case never comes, again and again: it leaves nothing in the channel that nobody uses. */
static weft_chan *busy, *idle;

static void *select_sender(void *opaque) {
    for (long i = 0; i < (intptr_t)opaque; i++) {
        int value = (int)i;
        weft_case cases[] = {weft_on_send(busy, &value), weft_on_send(idle, &value)};
        CHECK_EQ(weft_select(cases, 2, WEFT_NEVER), 0);
    }
    return NULL;
}

static void *select_receiver(void *opaque) {
    weft_chan *nobody = chan_of_ints(0);
    for (long i = 0; i < (intptr_t)opaque; i++) {
        int value = -1;
        weft_case cases[] = {weft_on_receive(nobody, &value), weft_on_receive(busy, &value)};
        CHECK_EQ(weft_select(cases, 2, WEFT_NEVER), 1);
        CHECK_EQ(value, i);
    }
    weft_chan_free(nobody);
    return NULL;
}

static void no_trace_body(void) {
    void *rounds = (void *)(intptr_t)scaled(100000, 2000);
    weft_fiber fibers[2];
    busy = chan_of_ints(0);
    idle = chan_of_ints(0);
    SPAWN(&fibers[0], select_sender, rounds);
    SPAWN(&fibers[1], select_receiver, rounds);
    JOIN(fibers[0], NULL);
    JOIN(fibers[1], NULL);
    weft_chan_free(busy);
    weft_chan_free(idle);
}

TEST(select_again_and_again_leaves_nothing_behind) {
    run_fibers(no_trace_body);
}

/* What blocks and what does not. */
static void blocks_body(void) {
    int value = 1;
    weft_chan *closed = chan_of_ints(0), *open = chan_of_ints(0), *roomy = chan_of_ints(10);
    CHECK_EQ(weft_chan_close(closed), 0);
    weft_case never[] = {weft_on_send(NULL, &value), weft_on_receive(NULL, &value), weft_on_send(open, &value),
                         weft_on_receive(open, &value), weft_on_receive(roomy, &value)};
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(weft_select(&never[i], 1, WEFT_NOW), -ETIMEDOUT);
        CHECK_EQ(weft_select(&never[i], 1, weft_after(50 * WEFT_MICROSECOND)), -ETIMEDOUT);
    }
    CHECK_EQ(weft_select(never, 5, weft_after(50 * WEFT_MICROSECOND)), -ETIMEDOUT);
    CHECK_EQ(weft_select(NULL, 0, weft_after(50 * WEFT_MICROSECOND)), -ETIMEDOUT);
    weft_case at_once[] = {weft_on_receive(closed, &value), weft_on_send(closed, &value), weft_on_send(roomy, &value)};
    const int statuses[] = {-EPIPE, -EPIPE, 0};
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(weft_select(&at_once[i], 1, WEFT_NEVER), 0);
        CHECK_EQ(at_once[i].status, statuses[i]);
    }
    weft_chan_free(closed);
    weft_chan_free(open);
    weft_chan_free(roomy);
}

TEST(what_blocks_and_what_does_not) {
    run_fibers(blocks_body);
}

/* A select that is last in a queue and loses there must not take the queue's end with it. */
static weft_chan *first, *second, *third;

static void *wait_first(void *arg) {
    receive_int(first);
    return arg;
}

static void *wait_first_or_second(void *arg) {
    int value;
    weft_case cases[] = {weft_on_receive(first, &value), weft_on_receive(second, &value)};
    CHECK_EQ(weft_select(cases, 2, WEFT_NEVER), 1);
    send_int(third, 1);
    receive_int(first);
    return arg;
}

static void lost_place_body(void) {
    weft_fiber fibers[2];
    first = chan_of_ints(0);
    second = chan_of_ints(0);
    third = chan_of_ints(0);
    fibers[0] = spawn_parked(wait_first, NULL);
    fibers[1] = spawn_parked(wait_first_or_second, NULL);
    send_int(second, 1);
    receive_int(third);
    send_int(first, 1);
    send_int(first, 1);
    JOIN(fibers[0], NULL);
    JOIN(fibers[1], NULL);
    weft_chan_free(first);
    weft_chan_free(second);
    weft_chan_free(third);
}

TEST(select_that_loses_does_not_damage_the_queue) {
    run_fibers(lost_place_body);
}

/* Every way to send against every way to receive, whoever comes first. */
static void send_somehow(int way, weft_chan *chan, int value) {
    weft_chan *dummy = chan_of_ints(0);
    weft_case cases[] = {weft_on_send(chan, &value), weft_on_receive(dummy, &value), weft_on_send(NULL, &value)};
    if (way == 0)
        send_int(chan, value);
    else
        CHECK_EQ(weft_select(cases, way == 1 ? 1 : 3, way == 3 ? weft_after(PATIENCE_NS) : WEFT_NEVER), 0);
    weft_chan_free(dummy);
}

static int receive_somehow(int way, weft_chan *chan) {
    weft_chan *dummy = chan_of_ints(0);
    int value = -1;
    weft_case cases[] = {weft_on_receive(chan, &value), weft_on_receive(dummy, &value), weft_on_receive(NULL, &value)};
    if (way == 0)
        value = receive_int(chan);
    else
        CHECK_EQ(weft_select(cases, way == 1 ? 1 : 3, way == 3 ? weft_after(PATIENCE_NS) : WEFT_NEVER), 0);
    weft_chan_free(dummy);
    return value;
}

struct somehow {
    weft_chan *chan;
    int way;
};

static void *send_somehow_main(void *opaque) {
    struct somehow *somehow = opaque;
    send_somehow(somehow->way, somehow->chan, 33);
    return NULL;
}

static void *receive_somehow_main(void *opaque) {
    struct somehow *somehow = opaque;
    CHECK_EQ(receive_somehow(somehow->way, somehow->chan), 33);
    return NULL;
}

static void ways_body(void) {
    weft_chan *chan = chan_of_ints(0);
    for (int send = 0; send < 4; send++)
        for (int receive = 0; receive < 4; receive++) {
            struct somehow sender = {chan, send}, receiver = {chan, receive};
            weft_fiber fiber = spawn_parked(send_somehow_main, &sender);
            CHECK_EQ(receive_somehow(receive, chan), 33);
            JOIN(fiber, NULL);
            fiber = spawn_parked(receive_somehow_main, &receiver);
            send_somehow(send, chan, 33);
            JOIN(fiber, NULL);
        }
    weft_chan_free(chan);
}

TEST(every_way_to_send_meets_every_way_to_receive) {
    run_fibers(ways_body);
}

/* The sieve: a chain of filters, one a prime. */
struct filter {
    weft_chan *from, *to;
    int prime;
};

static void *sieve_generate(void *opaque) {
    int value = 2;
    while (weft_chan_send(opaque, &value, WEFT_NEVER) == 0)
        value++;
    return NULL;
}

static void *sieve_filter(void *opaque) {
    struct filter *filter = opaque;
    int value;
    while (weft_chan_recv(filter->from, &value, WEFT_NEVER) == 0)
        if (value % filter->prime && weft_chan_send(filter->to, &value, WEFT_NEVER))
            break;
    CHECK_EQ(weft_chan_close(filter->from), 0);
    return NULL;
}

static bool is_prime(int value) {
    for (int i = 2; i * i <= value; i++)
        if (value % i == 0)
            return false;
    return true;
}

static void sieve_body(void) {
    int count = (int)scaled(2000, 100);
    struct filter *filters = calloc((size_t)count, sizeof *filters);
    weft_fiber *fibers = calloc((size_t)count, sizeof *fibers), generator;
    weft_chan *chan = chan_of_ints(0);
    SPAWN(&generator, sieve_generate, chan);
    int expected = 2;
    for (int i = 0; i < count; i++, expected++) {
        while (!is_prime(expected))
            expected++;
        CHECK_EQ(receive_int(chan), expected);
        filters[i] = (struct filter){.from = chan, .to = chan_of_ints(0), .prime = expected};
        SPAWN(&fibers[i], sieve_filter, &filters[i]);
        chan = filters[i].to;
    }
    CHECK(count != 2000 || expected == 17389 + 1);
    CHECK_EQ(weft_chan_close(chan), 0); /* each filter finds its way out closed and closes its way in */
    for (int i = count - 1; i >= 0; i--)
        JOIN(fibers[i], NULL);
    JOIN(generator, NULL);
    for (int i = 0; i < count; i++)
        weft_chan_free(filters[i].from);
    weft_chan_free(chan);
    free(filters);
    free(fibers);
}

TEST(prime_sieve_finds_the_first_two_thousand) {
    run_fibers(sieve_body);
}

/* A chain of fibers, each of which hands on what it gets plus one. */
struct link {
    weft_chan *left, *right;
};

static void *link_pass(void *opaque) {
    struct link *link = opaque;
    send_int(link->left, receive_int(link->right) + 1);
    return NULL;
}

static void chain_body(void) {
    int count = (int)scaled(10000, 500);
    struct link *links = calloc((size_t)count, sizeof *links);
    weft_chan *leftmost = chan_of_ints(0), *left = leftmost;
    for (int i = 0; i < count; i++) {
        links[i] = (struct link){.left = left, .right = chan_of_ints(0)};
        left = links[i].right;
        CHECK_EQ(weft_go(link_pass, &links[i]), 0);
    }
    send_int(left, 0);
    CHECK_EQ(receive_int(leftmost), count);
    weft_chan_free(leftmost);
    for (int i = 0; i < count; i++)
        weft_chan_free(links[i].right);
    free(links);
}

TEST(chain_of_ten_thousand_fibers) {
    run_fibers(chain_body);
}

static void *send_nothings(void *opaque) {
    for (int i = 0; i < 100; i++)
        CHECK_EQ(weft_chan_send(opaque, NULL, WEFT_NEVER), 0);
    CHECK_EQ(weft_chan_close(opaque), 0);
    return NULL;
}

static void zero_size_body(void) {
    for (int64_t capacity = 0; capacity < 70; capacity += 23) {
        weft_chan *chan = chan_make(0, capacity);
        weft_fiber fiber;
        int count = 0, untouched = 5;
        SPAWN(&fiber, send_nothings, chan);
        while (weft_chan_recv(chan, &untouched, WEFT_NEVER) == 0)
            count++;
        CHECK_EQ(count, 100);
        CHECK_EQ(untouched, 5);
        JOIN(fiber, NULL);
        weft_chan_free(chan);
    }
}

TEST(elements_of_no_size_are_counted) {
    run_fibers(zero_size_body);
}

static void misuse_body(void) {
    int value = 0;
    weft_chan *chan = chan_of_ints(1);
    CHECK_EQ(weft_chan_close(chan), 0);
    CHECK_EQ(weft_chan_close(chan), -EPIPE);
    CHECK_EQ(weft_chan_send(chan, &value, WEFT_NEVER), -EPIPE);
    CHECK_EQ(weft_chan_recv(chan, &value, WEFT_NEVER), -EPIPE);
    CHECK_EQ(weft_chan_close(NULL), -EINVAL);
    weft_chan_free(chan);
}

TEST(closing_twice_and_closing_nothing_are_errors) {
    run_fibers(misuse_body);
}
