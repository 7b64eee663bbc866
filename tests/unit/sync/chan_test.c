/* SPDX-License-Identifier: MIT
 *
 * unit/sync/chan_test.c - channels from within: who is in the queues, and what happens when memory is short.
 *
 * The head of a channel is read through a structure of the same shape, so that threads that wait can be counted as well.
 */
#include "os/fault.h"
#include "support/timers.h"
#include "unit/sync/waiters.h"

struct chan_head {
    struct wf_waiter *senders;
    struct wf_waiter *receivers;
    _Atomic uint32_t mark;
    struct wf_lock lock;
};

static weft_chan *chan;

static int count_senders(void) {
    struct chan_head *head = (struct chan_head *)(void *)chan;
    return count_queue(&head->lock, &head->senders);
}

static int count_receivers(void) {
    struct chan_head *head = (struct chan_head *)(void *)chan;
    return count_queue(&head->lock, &head->receivers);
}

struct party {
    int value;
    int status;
    int number;
};

static void *party_send(void *opaque) {
    struct party *party = opaque;
    party->status = weft_chan_send(chan, &party->value, party->number % 2 ? WEFT_NEVER : weft_after(PATIENCE_NS));
    return NULL;
}

static void *party_receive(void *opaque) {
    struct party *party = opaque;
    party->status = weft_chan_recv(chan, &party->value, party->number % 2 ? WEFT_NEVER : weft_after(PATIENCE_NS));
    return NULL;
}

enum { CROWD = 6 };

struct crowd {
    struct party parties[CROWD];
    weft_fiber fibers[CROWD];
    struct on_thread_call calls[CROWD];
};

/* Every third one is a thread; they stand in the queue in this order. */
static void crowd_start(struct crowd *crowd, weft_fn fn) {
    for (int i = 0; i < CROWD; i++) {
        crowd->parties[i] = (struct party){.value = i, .status = 1, .number = i};
        if (i % 3 == 2)
            on_thread_start(&crowd->calls[i], fn, &crowd->parties[i]);
        else
            SPAWN(&crowd->fibers[i], fn, &crowd->parties[i]);
        WAIT_UNTIL((fn == party_send ? count_senders() : count_receivers()) == i + 1);
    }
}

static void crowd_finish(struct crowd *crowd, int status) {
    for (int i = 0; i < CROWD; i++) {
        if (i % 3 == 2)
            on_thread_finish(&crowd->calls[i]);
        else
            JOIN(crowd->fibers[i], NULL);
        CHECK_EQ(crowd->parties[i].status, status);
    }
    CHECK_EQ(count_senders(), 0);
    CHECK_EQ(count_receivers(), 0);
}

static void order_body(void) {
    struct crowd crowd;
    CHECK_EQ(weft_chan_new(&chan, sizeof(int), 0), 0);
    crowd_start(&crowd, party_send);
    for (int i = 0; i < CROWD; i++) {
        int value = -1;
        CHECK_EQ(weft_chan_recv(chan, &value, WEFT_NOW), 0);
        CHECK_EQ(value, i);
    }
    crowd_finish(&crowd, 0);
    crowd_start(&crowd, party_receive);
    for (int i = 0; i < CROWD; i++) {
        int value = 50 + i;
        CHECK_EQ(weft_chan_send(chan, &value, WEFT_NOW), 0);
    }
    crowd_finish(&crowd, 0);
    for (int i = 0; i < CROWD; i++)
        CHECK_EQ(crowd.parties[i].value, 50 + i);
    weft_chan_free(chan);
}

TEST(chan_serves_fibers_and_threads_in_the_order_of_arrival) {
    run_fibers(order_body);
}

static void close_body(void) {
    struct crowd crowd;
    for (int kind = 0; kind < 2; kind++) {
        CHECK_EQ(weft_chan_new(&chan, sizeof(int), 0), 0);
        crowd_start(&crowd, kind ? party_send : party_receive);
        CHECK_EQ(weft_chan_close(chan), 0);
        crowd_finish(&crowd, -EPIPE);
        weft_chan_free(chan);
    }
}

TEST(chan_close_wakes_fibers_and_threads) {
    run_fibers(close_body);
}

static int send_for_ever(void) {
    int value = 1000;
    return weft_chan_send(chan, &value, WEFT_NEVER);
}

static int receive_for_ever(void) {
    return weft_chan_recv(chan, NULL, WEFT_NEVER);
}

/* One in the middle gives up: those before and behind it do not notice. */
static void gap_body(void) {
    struct party before = {.value = 1, .number = 1}, behind = {.value = 2, .number = 1};
    struct quitter quitter;
    weft_fiber fibers[2];
    int value;
    CHECK_EQ(weft_chan_new(&chan, sizeof(int), 0), 0);
    SPAWN(&fibers[0], party_send, &before);
    WAIT_UNTIL(count_senders() == 1);
    quitter_start(&quitter, send_for_ever);
    WAIT_UNTIL(count_senders() == 2);
    SPAWN(&fibers[1], party_send, &behind);
    WAIT_UNTIL(count_senders() == 3);
    quitter_give_up(&quitter);
    for (int i = 1; i <= 2; i++) {
        CHECK_EQ(weft_chan_recv(chan, &value, WEFT_NOW), 0);
        CHECK_EQ(value, i);
        JOIN(fibers[i - 1], NULL);
    }
    quitter_start(&quitter, receive_for_ever);
    WAIT_UNTIL(count_receivers() == 1);
    quitter_give_up(&quitter);
    CHECK_EQ(weft_chan_send(chan, &value, WEFT_NOW), -ETIMEDOUT);
    weft_chan_free(chan);
}

TEST(chan_waiter_that_gives_up_takes_nothing_with_it) {
    run_fibers(gap_body);
}

static void no_memory_body(void) {
    weft_chan *none = NULL;
    int value = 1;
    CHECK_EQ(weft_chan_new(&chan, sizeof(int), 1), 0);
    timers_need_memory();
    wf_fault_order(WF_CALL_ALLOC, 1, ENOMEM, 1);
    int made = weft_chan_new(&none, sizeof(int), 1);
    int received = weft_chan_recv(chan, &value, weft_after(PATIENCE_NS));
    int first = weft_chan_send(chan, &value, weft_after(PATIENCE_NS)); /* need not wait: needs no memory */
    int second = weft_chan_send(chan, &value, weft_after(PATIENCE_NS));
    wf_fault_order(WF_CALL_ALLOC, 0, 0, 0);
    CHECK_EQ(made, -ENOMEM);
    CHECK(none == NULL);
    CHECK_EQ(received, -ENOMEM);
    CHECK_EQ(first, 0);
    CHECK_EQ(second, -ENOMEM);
    CHECK_EQ(weft_chan_len(chan), 1);
    CHECK_EQ(count_senders(), 0);
    CHECK_EQ(count_receivers(), 0);
    CHECK_EQ(weft_chan_recv(chan, &value, WEFT_NOW), 0);
    CHECK_EQ(weft_chan_recv(chan, &value, WEFT_NOW), -ETIMEDOUT);
    weft_chan_free(chan);
}

TEST(chan_deadline_without_memory_says_so_and_loses_nothing) {
    run_fibers(no_memory_body);
}

/* Whoever got the last value may free the channel, whoever sent it having left the call or not. */
static void *send_last(void *opaque) {
    int value = 1;
    CHECK_EQ(weft_chan_send(opaque, &value, WEFT_NEVER), 0);
    return NULL;
}

static void free_after_last_body(void) {
    long rounds = scaled(3000, 100);
    for (long i = 0; i < rounds; i++) {
        weft_chan *last;
        int value;
        CHECK_EQ(weft_chan_new(&last, sizeof(int), i % 3), 0);
        CHECK_EQ(weft_go(send_last, last), 0);
        CHECK_EQ(weft_chan_recv(last, &value, WEFT_NEVER), 0);
        weft_chan_free(last);
    }
}

TEST(chan_can_be_freed_by_the_receiver_of_the_last_value) {
    run_fibers(free_after_last_body);
}
