/* SPDX-License-Identifier: MIT
 *
 * spec/lawful_test.c - histories of random operations, held against what a channel is: a bounded queue.
 *
 * Fibers and threads send and receive with random deadlines, plainly or by select over two channels. Every operation notes
 * when it began and ended by one common counter. Afterwards the history is judged by laws that every order of the operations
 * which a sequential queue could have had obeys:
 *
 *   - what was received was sent, once; what was sent and not received is still inside;
 *   - a receive ends after its send began, and without a buffer before and after overlap;
 *   - first in, first out: if one send ended before another began, their receives are not the other way round;
 *   - never more inside than fits: sends that have ended less receives that have begun.
 */
#include "support/parked.h"

enum { PARTIES = 8, THREADS = 2, OPERATIONS_MAX = 400, VALUES_MAX = PARTIES * OPERATIONS_MAX };

struct operation {
    int channel; /* 0 or 1; -1: nothing happened */
    int value;
    long begin, end;
};

struct party {
    uint64_t seed;
    int number;
    int count;
    struct operation done[OPERATIONS_MAX];
};

static weft_chan *channels[2];
static int64_t capacity;
static atomic_long counter;
static atomic_int senders_left;
static struct party parties[PARTIES];

static weft_time random_deadline(uint64_t *seed) {
    switch (random_below(seed, 4)) {
    case 0:
        return WEFT_NOW;
    case 1:
        return WEFT_NEVER;
    default:
        return weft_after((int64_t)random_below(seed, 5000));
    }
}

static int send_somehow(struct party *party, struct operation *operation) {
    weft_time deadline = random_deadline(&party->seed);
    int channel = (int)random_below(&party->seed, 2);
    operation->channel = channel;
    if (random_below(&party->seed, 2))
        return weft_chan_send(channels[channel], &operation->value, deadline);
    weft_case cases[] = {weft_on_send(channels[0], &operation->value), weft_on_send(channels[1], &operation->value)};
    int chosen = weft_select(cases, 2, deadline);
    if (chosen < 0)
        return chosen;
    operation->channel = chosen;
    return cases[chosen & 1].status;
}

static int receive_somehow(struct party *party, struct operation *operation) {
    weft_time deadline = random_deadline(&party->seed);
    int channel = (int)random_below(&party->seed, 2);
    operation->channel = channel;
    if (random_below(&party->seed, 2))
        return weft_chan_recv(channels[channel], &operation->value, deadline);
    weft_case cases[] = {weft_on_receive(channels[0], &operation->value),
                         weft_on_receive(channels[1], &operation->value)};
    int chosen = weft_select(cases, 2, deadline);
    if (chosen < 0)
        return chosen;
    operation->channel = chosen;
    return cases[chosen & 1].status;
}

static bool is_sender(const struct party *party) {
    return party->number % 2 == 0;
}

static void party_send(struct party *party) {
    for (int i = 0; i < party->count; i++) {
        struct operation *operation = &party->done[i];
        operation->value = party->number * OPERATIONS_MAX + i;
        operation->begin = atomic_fetch_add(&counter, 1);
        int status = send_somehow(party, operation);
        operation->end = atomic_fetch_add(&counter, 1);
        CHECK(status == 0 || status == -ETIMEDOUT);
        if (status)
            operation->channel = -1;
    }
    if (atomic_fetch_sub(&senders_left, 1) == 1)
        for (int i = 0; i < 2; i++)
            CHECK_EQ(weft_chan_close(channels[i]), 0);
}

/* Until its history is full or the channels are closed; then it only leaves them to the drain at the end. */
static void party_receive(struct party *party) {
    for (int i = 0; i < party->count; i++) {
        struct operation *operation = &party->done[i];
        operation->value = -1;
        operation->begin = atomic_fetch_add(&counter, 1);
        int status = receive_somehow(party, operation);
        operation->end = atomic_fetch_add(&counter, 1);
        CHECK(status == 0 || status == -ETIMEDOUT || status == -EPIPE);
        if (status)
            operation->channel = -1;
    }
}

static void *party_main(void *opaque) {
    struct party *party = opaque;
    if (is_sender(party))
        party_send(party);
    else
        party_receive(party);
    return NULL;
}

/* Receives what nobody else will, so that no sender waits for ever. */
static struct party drain;
static struct operation drained[VALUES_MAX];
static int drained_count;

static void *drain_main(void *arg) {
    for (int channel = 0; channel < 2;) {
        struct operation *operation = &drained[drained_count];
        weft_case cases[] = {weft_on_receive(channels[0], &operation->value),
                             weft_on_receive(channels[1], &operation->value)};
        operation->begin = atomic_fetch_add(&counter, 1);
        int chosen = weft_select(&cases[channel], 2 - channel, WEFT_NEVER);
        operation->end = atomic_fetch_add(&counter, 1);
        CHECK_GE(chosen, 0);
        operation->channel = (chosen + channel) & 1;
        if (cases[operation->channel].status == 0)
            drained_count++;
        else if (channel == 0 && operation->channel == 0)
            channel = 1;
        else if (operation->channel == 1) { /* the second is empty: the first may not be */
            while (weft_chan_recv(channels[0], &operation->value, WEFT_NOW) == 0) {
                operation->channel = 0;
                operation->end = atomic_fetch_add(&counter, 1);
                operation = &drained[++drained_count];
                operation->begin = atomic_fetch_add(&counter, 1);
            }
            channel = 2;
        }
    }
    return arg;
}

struct passage {
    const struct operation *send, *receive;
};

static struct passage passages[VALUES_MAX];
static int passage_count;

static void add_receive(const struct operation *operation) {
    if (operation->channel < 0)
        return;
    CHECK(operation->value >= 0 && operation->value < VALUES_MAX);
    const struct party *sender = &parties[operation->value / OPERATIONS_MAX];
    const struct operation *send = &sender->done[operation->value % OPERATIONS_MAX];
    CHECK(is_sender(sender));
    CHECK_EQ(send->value, operation->value);
    CHECK_EQ(send->channel, operation->channel); /* it was sent, and there */
    for (int i = 0; i < passage_count; i++)
        CHECK(passages[i].send != send); /* once */
    passages[passage_count++] = (struct passage){send, operation};
}

static void match_history(void) {
    int sent = 0;
    passage_count = 0;
    for (int i = 0; i < PARTIES; i++)
        for (int k = 0; k < parties[i].count; k++) {
            if (is_sender(&parties[i]))
                sent += parties[i].done[k].channel >= 0;
            else
                add_receive(&parties[i].done[k]);
        }
    for (int i = 0; i < drained_count; i++)
        add_receive(&drained[i]);
    CHECK_EQ(sent, passage_count); /* closed and drained: nothing is left inside */
}

static void judge_passages(void) {
    for (int i = 0; i < passage_count; i++) {
        const struct passage *one = &passages[i];
        long inside = 0; /* at the end of this send */
        CHECK(one->send->begin < one->receive->end);
        CHECK(capacity > 0 || one->receive->begin < one->send->end);
        for (int k = 0; k < passage_count; k++) {
            const struct passage *other = &passages[k];
            if (other->send->channel != one->send->channel)
                continue;
            CHECK(!(one->send->end < other->send->begin && other->receive->end < one->receive->begin));
            inside += other->send->end <= one->send->end;
            inside -= other->receive->begin <= one->send->end;
        }
        CHECK_LE(inside, capacity);
    }
}

static void history_body(void) {
    weft_fiber fibers[PARTIES], draining;
    struct on_thread_call calls[PARTIES];
    for (int i = 0; i < 2; i++)
        CHECK_EQ(weft_chan_new(&channels[i], sizeof(int), capacity), 0);
    for (int i = 0; i < PARTIES; i++) {
        if (i < THREADS)
            on_thread_start(&calls[i], party_main, &parties[i]);
        else
            SPAWN(&fibers[i], party_main, &parties[i]);
    }
    SPAWN(&draining, drain_main, &drain);
    for (int i = 0; i < PARTIES; i++) {
        if (i < THREADS)
            on_thread_finish(&calls[i]);
        else
            JOIN(fibers[i], NULL);
    }
    JOIN(draining, NULL);
    for (int i = 0; i < 2; i++)
        weft_chan_free(channels[i]);
}

static void run_history(uint64_t seed, int64_t with_capacity) {
    capacity = with_capacity;
    drained_count = 0;
    atomic_store(&senders_left, PARTIES / 2);
    for (int i = 0; i < PARTIES; i++) {
        parties[i].seed = seed + (uint64_t)i * 7919 + 1;
        parties[i].number = i;
        parties[i].count = (int)scaled(OPERATIONS_MAX, 40);
    }
    run_fibers(history_body);
    match_history();
    judge_passages();
}

TEST(histories_of_random_operations_are_those_of_a_bounded_queue) {
    uint64_t seed = wf_test_seed();
    const int64_t capacities[] = {0, 1, 2, 7};
    for (int i = 0; i < 8; i++)
        run_history(seed + (uint64_t)i * 104729, capacities[i % 4]);
}
