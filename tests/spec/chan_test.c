/* SPDX-License-Identifier: MIT
 *
 * spec/chan_test.c - the laws of channels, by the public interface alone.
 *
 * The matrix: what is done (send, receive, close) by the state of the channel (null, closed, empty, full) by capacity (0, 1, n)
 * by size of the elements (0, 1, 4, 8, 1024) by deadline (now, past, future, never) by who asks (fiber, thread).
 */
#include "support/child.h"
#include "support/parked.h"

enum { SIZE_MAX_TESTED = 1024, WAITERS = 8 };

static const size_t sizes[] = {0, 1, 4, 8, SIZE_MAX_TESTED};
static const int64_t capacities[] = {0, 1, 3};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* A value of that size that tells its number. */
static void value_make(unsigned char *value, size_t size, int number) {
    for (size_t i = 0; i < size; i++)
        value[i] = (unsigned char)(number * 31 + (int)i);
}

static void value_check(const unsigned char *value, size_t size, int number) {
    for (size_t i = 0; i < size; i++)
        CHECK_EQ(value[i], (unsigned char)(number * 31 + (int)i));
}

static int send_number(weft_chan *chan, size_t size, int number, weft_time deadline) {
    unsigned char value[SIZE_MAX_TESTED];
    value_make(value, size, number);
    return weft_chan_send(chan, size ? value : NULL, deadline);
}

static void receive_number(weft_chan *chan, size_t size, int number, weft_time deadline) {
    unsigned char value[SIZE_MAX_TESTED];
    CHECK_EQ(weft_chan_recv(chan, value, deadline), 0);
    value_check(value, size, number);
}

/* Deadlines that a call which has to wait cannot meet. */
static weft_time vain_deadline(int kind) {
    const weft_time deadlines[] = {WEFT_NOW, 1, -1, INT64_MIN, weft_after(200 * WEFT_MICROSECOND)};
    return deadlines[kind];
}
enum { VAIN = 5 };

static void check_empty(weft_chan *chan, size_t size) {
    CHECK_EQ(weft_chan_len(chan), 0);
    for (int i = 0; i < VAIN; i++) {
        unsigned char value[SIZE_MAX_TESTED];
        weft_time deadline = vain_deadline(i);
        value_make(value, sizeof value, 77);
        CHECK_EQ(weft_chan_recv(chan, value, deadline), -ETIMEDOUT);
        CHECK_GE(weft_now(), deadline);
        value_check(value, sizeof value, 77);
    }
    (void)size;
}

static void check_full(weft_chan *chan, size_t size) {
    CHECK_EQ(weft_chan_len(chan), weft_chan_cap(chan));
    for (int i = 0; i < VAIN; i++) {
        weft_time deadline = vain_deadline(i);
        CHECK_EQ(send_number(chan, size, 99, deadline), -ETIMEDOUT);
        CHECK_GE(weft_now(), deadline);
    }
    CHECK_EQ(weft_chan_len(chan), weft_chan_cap(chan));
}

static void check_closed(weft_chan *chan, size_t size, int first, int count) {
    const weft_time deadlines[] = {WEFT_NOW, 1, -1, INT64_MIN, weft_after(WEFT_SECOND), WEFT_NEVER};
    CHECK_EQ(weft_chan_close(chan), 0);
    CHECK(weft_chan_is_closed(chan));
    for (size_t i = 0; i < COUNT(deadlines); i++)
        CHECK_EQ(send_number(chan, size, 99, deadlines[i]), -EPIPE);
    CHECK_EQ(weft_chan_close(chan), -EPIPE);
    CHECK_EQ(weft_chan_len(chan), count);
    for (int i = 0; i < count; i++)
        receive_number(chan, size, first + i, deadlines[(size_t)i % COUNT(deadlines)]);
    for (size_t i = 0; i < COUNT(deadlines); i++) {
        unsigned char value[SIZE_MAX_TESTED];
        value_make(value, sizeof value, 55);
        CHECK_EQ(weft_chan_recv(chan, value, deadlines[i]), -EPIPE);
        value_check(value, sizeof value, 55);
    }
    CHECK_EQ(weft_chan_close(chan), -EPIPE);
}

static void check_laws(size_t size, int64_t capacity) {
    weft_chan *chan = NULL;
    int sent = 0, received = 0;
    CHECK_EQ(weft_chan_new(&chan, size, capacity), 0);
    CHECK_EQ(weft_chan_cap(chan), capacity);
    CHECK(!weft_chan_is_closed(chan));
    for (int round = 0; round < 3; round++) {
        check_empty(chan, size);
        for (int i = 0; i < capacity; i++)
            CHECK_EQ(send_number(chan, size, sent++, i % 2 ? WEFT_NOW : WEFT_NEVER), 0);
        check_full(chan, size);
        if (capacity > 0) { /* one out, one in: the ring turns */
            receive_number(chan, size, received++, WEFT_NOW);
            CHECK_EQ(weft_chan_len(chan), capacity - 1);
            CHECK_EQ(send_number(chan, size, sent++, INT64_MIN), 0);
        }
        while (received < sent)
            receive_number(chan, size, received++, weft_after(PATIENCE_NS));
    }
    for (int i = 0; i < capacity; i++)
        CHECK_EQ(send_number(chan, size, sent++, WEFT_NEVER), 0);
    check_closed(chan, size, received, (int)capacity);
    weft_chan_free(chan);
}

static void *all_laws(void *arg) {
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (size_t c = 0; c < COUNT(capacities); c++)
            check_laws(sizes[s], capacities[c]);
    return arg;
}

static void laws_body(void) {
    all_laws(NULL);
    on_thread(all_laws, NULL);
}

TEST(channel_laws_hold_for_every_size_capacity_and_deadline_on_fibers_and_threads) {
    run_fibers(laws_body);
}

TEST(channel_laws_hold_without_a_runtime) {
    all_laws(NULL);
}

static void *null_laws(void *arg) {
    weft_chan *chan = NULL;
    int value = 5;
    CHECK_EQ(weft_chan_send(NULL, &value, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_chan_send(NULL, &value, WEFT_NOW), -EINVAL);
    CHECK_EQ(weft_chan_recv(NULL, &value, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_chan_close(NULL), -EINVAL);
    CHECK_EQ(weft_chan_len(NULL), 0);
    CHECK_EQ(weft_chan_cap(NULL), 0);
    CHECK(weft_chan_is_closed(NULL));
    weft_chan_free(NULL);
    CHECK_EQ(weft_chan_new(NULL, 1, 1), -EINVAL);
    CHECK_EQ(weft_chan_new(&chan, 1, -1), -EINVAL);
    CHECK_EQ(weft_chan_new(&chan, 1, WEFT_CHAN_CAPACITY_MAX + 1), -EINVAL);
    CHECK_EQ(weft_chan_new(&chan, SIZE_MAX, 1), -EINVAL);
    CHECK_EQ(weft_chan_new(&chan, (size_t)1 << 30, (int64_t)1 << 20), -EINVAL);
    CHECK(chan == NULL);
    CHECK_EQ(weft_chan_new(&chan, sizeof value, 2), 0);
    CHECK_EQ(weft_chan_send(chan, NULL, WEFT_NOW), -EINVAL);
    CHECK_EQ(weft_chan_send(chan, &value, WEFT_NOW), 0);
    CHECK_EQ(weft_chan_recv(chan, NULL, WEFT_NOW), 0);
    CHECK_EQ(weft_chan_recv(chan, NULL, WEFT_NOW), -ETIMEDOUT);
    weft_chan_free(chan);
    return arg;
}

static void null_body(void) {
    null_laws(NULL);
    on_thread(null_laws, NULL);
}

TEST(null_pointers_and_bad_sizes_are_invalid_and_a_null_value_drops_what_comes) {
    run_fibers(null_body);
}

static void free_with_values_body(void) {
    weft_chan *chan;
    int value = 1;
    CHECK_EQ(weft_chan_new(&chan, sizeof value, 4), 0);
    CHECK_EQ(weft_chan_send(chan, &value, WEFT_NOW), 0);
    weft_chan_free(chan);
}

TEST(values_inside_a_freed_channel_are_dropped) {
    run_fibers(free_with_values_body);
}

struct stream {
    weft_chan *chan;
    size_t size;
    int count;
    bool has_deadlines;
};

static weft_time stream_deadline(const struct stream *stream, int i) {
    return stream->has_deadlines && i % 2 ? weft_after(PATIENCE_NS) : WEFT_NEVER;
}

static void *stream_send(void *opaque) {
    struct stream *stream = opaque;
    for (int i = 0; i < stream->count; i++)
        CHECK_EQ(send_number(stream->chan, stream->size, i, stream_deadline(stream, i)), 0);
    CHECK_EQ(weft_chan_close(stream->chan), 0);
    return NULL;
}

static void *stream_receive(void *opaque) {
    struct stream *stream = opaque;
    for (int i = 0; i < stream->count; i++)
        receive_number(stream->chan, stream->size, i, stream_deadline(stream, i + 1));
    CHECK_EQ(weft_chan_recv(stream->chan, NULL, WEFT_NEVER), -EPIPE);
    return NULL;
}

/* kind: bit 0, the sender is a thread; bit 1, the receiver is. */
static void run_stream(struct stream *stream, int kind) {
    struct on_thread_call sender, receiver;
    weft_fiber sending, receiving;
    if (kind & 1)
        on_thread_start(&sender, stream_send, stream);
    else
        SPAWN(&sending, stream_send, stream);
    if (kind & 2)
        on_thread_start(&receiver, stream_receive, stream);
    else
        SPAWN(&receiving, stream_receive, stream);
    if (kind & 1)
        on_thread_finish(&sender);
    else
        JOIN(sending, NULL);
    if (kind & 2)
        on_thread_finish(&receiver);
    else
        JOIN(receiving, NULL);
}

static void stream_body(void) {
    for (int kind = 0; kind < 4; kind++)
        for (size_t s = 0; s < COUNT(sizes); s++)
            for (size_t c = 0; c < COUNT(capacities); c++) {
                struct stream stream = {
                    .size = sizes[s], .count = (int)scaled(200, 20), .has_deadlines = (s + c) % 2 != 0};
                CHECK_EQ(weft_chan_new(&stream.chan, stream.size, capacities[c]), 0);
                run_stream(&stream, kind);
                weft_chan_free(stream.chan);
            }
}

TEST(values_come_in_order_between_fibers_and_threads) {
    run_fibers(stream_body);
}

struct party {
    weft_chan *chan;
    int number; /* what to send, or what was received */
    int status;
};

static void *party_receive(void *opaque) {
    struct party *party = opaque;
    party->status = weft_chan_recv(party->chan, &party->number, WEFT_NEVER);
    return NULL;
}

static void *party_send(void *opaque) {
    struct party *party = opaque;
    party->status = weft_chan_send(party->chan, &party->number, weft_after(PATIENCE_NS));
    return NULL;
}

static void parties_start(struct party *parties, weft_fiber *fibers, weft_chan *chan, weft_fn fn) {
    for (int i = 0; i < WAITERS; i++) {
        parties[i] = (struct party){.chan = chan, .number = i, .status = 1};
        fibers[i] = spawn_parked(fn, &parties[i]);
    }
}

static void parties_join(const weft_fiber *fibers) {
    for (int i = 0; i < WAITERS; i++)
        JOIN(fibers[i], NULL);
}

static void waiting_order_body(void) {
    struct party parties[WAITERS];
    weft_fiber fibers[WAITERS];
    weft_chan *chan;
    CHECK_EQ(weft_chan_new(&chan, sizeof(int), 2), 0);
    parties_start(parties, fibers, chan, party_receive);
    for (int i = 0; i < WAITERS; i++) {
        int value = 100 + i;
        CHECK_EQ(weft_chan_send(chan, &value, WEFT_NOW), 0);
        CHECK_EQ(weft_chan_len(chan), 0); /* straight to the receiver */
    }
    parties_join(fibers);
    for (int i = 0; i < WAITERS; i++) {
        CHECK_EQ(parties[i].status, 0);
        CHECK_EQ(parties[i].number, 100 + i);
    }
    for (int i = -2; i < 0; i++)
        CHECK_EQ(weft_chan_send(chan, &i, WEFT_NOW), 0);
    parties_start(parties, fibers, chan, party_send);
    for (int i = -2; i < WAITERS; i++) {
        int value;
        CHECK_EQ(weft_chan_recv(chan, &value, WEFT_NOW), 0);
        CHECK_EQ(value, i);
    }
    parties_join(fibers);
    for (int i = 0; i < WAITERS; i++)
        CHECK_EQ(parties[i].status, 0);
    weft_chan_free(chan);
}

TEST(those_who_wait_are_served_in_order_and_values_go_straight_to_them) {
    run_fibers(waiting_order_body);
}

static void meeting_body(void) {
    struct party party = {.number = 7};
    int value = 0;
    CHECK_EQ(weft_chan_new(&party.chan, sizeof(int), 0), 0);
    weft_fiber fiber = spawn_parked(party_send, &party);
    CHECK_EQ(weft_chan_recv(party.chan, &value, WEFT_NOW), 0);
    CHECK_EQ(value, 7);
    JOIN(fiber, NULL);
    fiber = spawn_parked(party_receive, &party);
    value = 8;
    CHECK_EQ(weft_chan_send(party.chan, &value, WEFT_NOW), 0);
    JOIN(fiber, NULL);
    CHECK_EQ(party.number, 8);
    weft_chan_free(party.chan);
}

TEST(without_a_buffer_sender_and_receiver_meet) {
    run_fibers(meeting_body);
}

static void close_wakes_body(void) {
    struct party parties[WAITERS];
    weft_fiber fibers[WAITERS];
    weft_chan *chan;
    int value = 42;
    CHECK_EQ(weft_chan_new(&chan, sizeof(int), 0), 0);
    parties_start(parties, fibers, chan, party_receive);
    CHECK_EQ(weft_chan_close(chan), 0);
    parties_join(fibers);
    for (int i = 0; i < WAITERS; i++) {
        CHECK_EQ(parties[i].status, -EPIPE);
        CHECK_EQ(parties[i].number, i);
    }
    weft_chan_free(chan);
    CHECK_EQ(weft_chan_new(&chan, sizeof(int), 1), 0);
    CHECK_EQ(weft_chan_send(chan, &value, WEFT_NOW), 0);
    parties_start(parties, fibers, chan, party_send);
    CHECK_EQ(weft_chan_close(chan), 0);
    parties_join(fibers);
    for (int i = 0; i < WAITERS; i++)
        CHECK_EQ(parties[i].status, -EPIPE);
    value = 0;
    CHECK_EQ(weft_chan_recv(chan, &value, WEFT_NOW), 0); /* what was inside stays; what waited was not sent */
    CHECK_EQ(value, 42);
    CHECK_EQ(weft_chan_recv(chan, &value, WEFT_NOW), -EPIPE);
    weft_chan_free(chan);
}

TEST(close_wakes_everybody_and_what_is_inside_can_still_be_received) {
    run_fibers(close_wakes_body);
}

static void typed_body(void) {
    struct point {
        double x, y;
    } point = {1, 2}, got = {0, 0};
    const struct point constant = {3, 4};
    WEFT_CHAN(struct point) points;
    CHECK_EQ(WEFT_CHAN_NEW(&points, 2), 0);
    CHECK_EQ(WEFT_CHAN_SEND(&points, &point, WEFT_NOW), 0);
    CHECK_EQ(WEFT_CHAN_SEND(&points, &constant, WEFT_NOW), 0);
    CHECK_EQ(WEFT_CHAN_RECV(&points, &got, WEFT_NOW), 0);
    CHECK(got.x == 1 && got.y == 2);
    weft_case entry = WEFT_ON_RECEIVE(&points, &got);
    CHECK_EQ(weft_select(&entry, 1, WEFT_NOW), 0);
    CHECK(got.x == 3 && got.y == 4);
    entry = WEFT_ON_SEND(&points, &constant);
    CHECK_EQ(weft_select(&entry, 1, WEFT_NOW), 0);
    CHECK_EQ(WEFT_CHAN_CLOSE(&points), 0);
    WEFT_CHAN_FREE(&points);
}

TEST(typed_channels_carry_structures) {
    run_fibers(typed_body);
}

struct hasty {
    weft_chan *chan;
    uint64_t seed;
    long rounds;
    int64_t sum;
    long count;
    atomic_int *senders;
};

static void *hasty_send(void *opaque) {
    struct hasty *hasty = opaque;
    for (long i = 0; i < hasty->rounds; i++) {
        int64_t value = (int64_t)random_below(&hasty->seed, 1000000);
        weft_time deadline = weft_after((int64_t)random_below(&hasty->seed, 4000));
        int status = weft_chan_send(hasty->chan, &value, deadline);
        CHECK(status == 0 || status == -ETIMEDOUT);
        hasty->sum += status == 0 ? value : 0;
        hasty->count += status == 0;
    }
    if (atomic_fetch_sub(hasty->senders, 1) == 1)
        CHECK_EQ(weft_chan_close(hasty->chan), 0);
    return NULL;
}

static void *hasty_receive(void *opaque) {
    struct hasty *hasty = opaque;
    for (int status = 0; status != -EPIPE;) {
        int64_t value = 0;
        status = weft_chan_recv(hasty->chan, &value, weft_after((int64_t)random_below(&hasty->seed, 4000)));
        CHECK(status == 0 || status == -ETIMEDOUT || status == -EPIPE);
        hasty->sum += value;
        hasty->count += status == 0;
    }
    return NULL;
}

static void hasty_body(void) {
    struct hasty all[8];
    weft_fiber fibers[6];
    struct on_thread_call calls[2];
    uint64_t seed = wf_test_seed();
    weft_chan *chan;
    atomic_int senders = 4;
    CHECK_EQ(weft_chan_new(&chan, sizeof(int64_t), 1), 0);
    for (int i = 0; i < 8; i++)
        all[i] =
            (struct hasty){.chan = chan, .seed = seed + (uint64_t)i, .rounds = scaled(3000, 100), .senders = &senders};
    for (int i = 0; i < 6; i++)
        SPAWN(&fibers[i], i % 2 ? hasty_receive : hasty_send, &all[i]);
    on_thread_start(&calls[0], hasty_send, &all[6]);
    on_thread_start(&calls[1], hasty_receive, &all[7]);
    for (int i = 0; i < 6; i++)
        JOIN(fibers[i], NULL);
    on_thread_finish(&calls[0]);
    on_thread_finish(&calls[1]);
    int64_t sum = 0;
    long count = 0;
    for (int i = 0; i < 8; i++) {
        sum += i % 2 ? -all[i].sum : all[i].sum;
        count += i % 2 ? -all[i].count : all[i].count;
    }
    CHECK_EQ(count, 0);
    CHECK_EQ(sum, 0);
    weft_chan_free(chan);
}

TEST(a_deadline_that_meets_a_partner_neither_loses_nor_doubles_a_value) {
    run_fibers(hasty_body);
}

static void free_while_waiting_body(void) {
    struct party party = {.number = 1};
    CHECK_EQ(weft_chan_new(&party.chan, sizeof(int), 0), 0);
    spawn_parked(party_send, &party);
    weft_chan_free(party.chan);
}

static void free_while_waiting(void *arg) {
    (void)arg;
    run_fibers(free_while_waiting_body);
}

TEST(freeing_a_channel_in_which_somebody_waits_is_fatal) {
    struct child_end end = child_run(free_while_waiting, NULL);
    CHECK_CHILD_FATAL(&end, "a channel was freed while somebody waits in it");
}

static void use_freed(void *arg) {
    weft_chan *chan;
    (void)arg;
    CHECK_EQ(weft_chan_new(&chan, sizeof(int), 0), 0);
    weft_chan *volatile freed = chan;
    weft_chan_free(chan);
    weft_chan_close(freed);
}

TEST(using_a_freed_channel_is_noticed) {
    if (IS_SANITIZED)
        return; /* the sanitizers notice it first, in their own words */
    struct child_end end = child_run(use_freed, NULL);
    CHECK_CHILD_FATAL(&end, "a channel was used that is not one, or was freed");
}
