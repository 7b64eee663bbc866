/* SPDX-License-Identifier: MIT
 *
 * stress/chan_test.c - many fibers and threads on few channels: everything sent arrives, once, in the order of its sender.
 *
 * Popular channel: all on one. Grid: rows of stages, each with a select over two ways in. Churn: channels that are made, used
 * by three and freed, again and again.
 */
#include "support/parked.h"

enum { SENDERS = 24, RECEIVERS = 8, THREADS = 2 };

struct message {
    int sender;
    long number;
};

static weft_chan *popular;
static atomic_int senders_left;

static void *send_many(void *opaque) {
    int sender = (int)(intptr_t)opaque;
    long count = scaled(5000, 100);
    for (long i = 0; i < count; i++) {
        struct message message = {sender, i};
        CHECK_EQ(weft_chan_send(popular, &message, i % 3 ? WEFT_NEVER : weft_after(PATIENCE_NS)), 0);
    }
    if (atomic_fetch_sub(&senders_left, 1) == 1)
        CHECK_EQ(weft_chan_close(popular), 0);
    return NULL;
}

static void *receive_many(void *arg) {
    long last[SENDERS], count = 0;
    struct message message;
    for (int i = 0; i < SENDERS; i++)
        last[i] = -1;
    while (weft_chan_recv(popular, &message, WEFT_NEVER) == 0) {
        CHECK(message.sender >= 0 && message.sender < SENDERS);
        CHECK(message.number > last[message.sender]); /* what one sent comes in order, with gaps: others receive too */
        last[message.sender] = message.number;
        count++;
    }
    (void)arg;
    return (void *)(intptr_t)count;
}

struct counting {
    long count;
};

static void *receive_on_thread(void *opaque) {
    ((struct counting *)opaque)->count = (long)(intptr_t)receive_many(NULL);
    return NULL;
}

static void run_popular(int64_t capacity) {
    weft_fiber senders[SENDERS], receivers[RECEIVERS];
    struct on_thread_call calls[THREADS];
    struct counting counts[THREADS];
    long total = 0;
    CHECK_EQ(weft_chan_new(&popular, sizeof(struct message), capacity), 0);
    atomic_store(&senders_left, SENDERS);
    for (int i = 0; i < RECEIVERS; i++)
        SPAWN(&receivers[i], receive_many, NULL);
    for (int i = 0; i < THREADS; i++)
        on_thread_start(&calls[i], receive_on_thread, &counts[i]);
    for (int i = 0; i < SENDERS; i++)
        SPAWN(&senders[i], send_many, (void *)(intptr_t)i);
    for (int i = 0; i < SENDERS; i++)
        JOIN(senders[i], NULL);
    for (int i = 0; i < RECEIVERS; i++) {
        void *count;
        JOIN(receivers[i], &count);
        total += (long)(intptr_t)count;
    }
    for (int i = 0; i < THREADS; i++) {
        on_thread_finish(&calls[i]);
        total += counts[i].count;
    }
    CHECK_EQ(total, SENDERS * scaled(5000, 100));
    weft_chan_free(popular);
}

static void popular_body(void) {
    run_popular(0);
    run_popular(1);
    run_popular(100);
}

TEST(popular_channel_passes_everything_once_and_in_order) {
    run_fibers(popular_body);
}

enum { WIDTH = 6, DEPTH = 8 };
static weft_chan *grid[DEPTH + 1][WIDTH];

struct cell {
    int row, column;
};

/* Takes from either of two channels above and puts below, until both are closed. */
static void *cell_main(void *opaque) {
    struct cell *cell = opaque;
    weft_chan *above[2] = {grid[cell->row][cell->column], grid[cell->row][(cell->column + 1) % WIDTH]};
    for (int open = 2; open > 0;) {
        long value;
        weft_case cases[] = {weft_on_receive(above[0], &value), weft_on_receive(above[1], &value)};
        int chosen = weft_select(cases, 2, WEFT_NEVER);
        CHECK(chosen == 0 || chosen == 1);
        if (cases[chosen & 1].status == -EPIPE) {
            above[chosen & 1] = NULL; /* never comes again */
            open--;
            continue;
        }
        CHECK_EQ(weft_chan_send(grid[cell->row + 1][cell->column], &value, WEFT_NEVER), 0);
    }
    CHECK_EQ(weft_chan_close(grid[cell->row + 1][cell->column]), 0);
    return NULL;
}

static void *feed_grid(void *opaque) {
    weft_chan *chan = opaque;
    long count = scaled(2000, 50);
    for (long i = 1; i <= count; i++)
        CHECK_EQ(weft_chan_send(chan, &i, WEFT_NEVER), 0);
    CHECK_EQ(weft_chan_close(chan), 0);
    return NULL;
}

static void grid_body(void) {
    struct cell cells[DEPTH][WIDTH];
    weft_fiber fibers[DEPTH][WIDTH], feeders[WIDTH];
    long count = scaled(2000, 50), sum = 0;
    for (int row = 0; row <= DEPTH; row++)
        for (int column = 0; column < WIDTH; column++)
            CHECK_EQ(weft_chan_new(&grid[row][column], sizeof(long), (row + column) % 3), 0);
    for (int column = 0; column < WIDTH; column++)
        SPAWN(&feeders[column], feed_grid, grid[0][column]);
    for (int row = 0; row < DEPTH; row++)
        for (int column = 0; column < WIDTH; column++) {
            cells[row][column] = (struct cell){row, column};
            SPAWN(&fibers[row][column], cell_main, &cells[row][column]);
        }
    for (int open = WIDTH; open > 0;) {
        long value = 0;
        weft_case cases[WIDTH];
        for (int column = 0; column < WIDTH; column++)
            cases[column] = weft_on_receive(grid[DEPTH][column], &value);
        int chosen = weft_select(cases, WIDTH, WEFT_NEVER);
        CHECK(chosen >= 0 && chosen < WIDTH);
        if (chosen < 0 || chosen >= WIDTH)
            abort();
        if (cases[chosen].status == -EPIPE) {
            weft_chan_free(grid[DEPTH][chosen]);
            grid[DEPTH][chosen] = NULL;
            open--;
        }
        sum += value;
    }
    CHECK_EQ(sum, WIDTH * (count * (count + 1) / 2));
    for (int column = 0; column < WIDTH; column++) {
        JOIN(feeders[column], NULL);
        for (int row = 0; row < DEPTH; row++)
            JOIN(fibers[row][column], NULL);
    }
    for (int row = 0; row < DEPTH; row++)
        for (int column = 0; column < WIDTH; column++)
            weft_chan_free(grid[row][column]);
}

TEST(grid_of_selects_passes_everything) {
    run_fibers(grid_body);
}

static void *churn_one(void *opaque) {
    weft_chan *chan = opaque;
    long value = 3;
    int status = weft_chan_send(chan, &value, WEFT_NEVER);
    CHECK(status == 0 || status == -EPIPE);
    return (void *)(intptr_t)(status == 0);
}

static void churn_body(void) {
    long rounds = scaled(3000, 100);
    for (long i = 0; i < rounds; i++) {
        weft_chan *chan;
        weft_fiber fibers[3];
        long received = 0;
        intptr_t sent = 0;
        CHECK_EQ(weft_chan_new(&chan, sizeof(long), i % 4), 0);
        for (int k = 0; k < 3; k++)
            SPAWN(&fibers[k], churn_one, chan);
        for (int k = 0; k < i % 3; k++)
            received += weft_chan_recv(chan, NULL, WEFT_NEVER) == 0;
        CHECK_EQ(weft_chan_close(chan), 0);
        for (int k = 0; k < 3; k++) {
            void *was_sent;
            JOIN(fibers[k], &was_sent);
            sent += (intptr_t)was_sent;
        }
        while (weft_chan_recv(chan, NULL, WEFT_NOW) == 0)
            received++;
        CHECK_EQ(received, sent);
        weft_chan_free(chan);
    }
}

TEST(channels_that_come_and_go_lose_nothing) {
    run_fibers(churn_body);
}
