/* SPDX-License-Identifier: MIT
 *
 * spec/urgent_test.c - fibers that are due at a moment come before all others, the earliest first.
 *
 * Orders are looked at with one worker, where there is one; with several, only that nobody is lost or left behind.
 */
#include "support/run.h"

enum { EACH = 20, MANY = 3 * EACH, TURNS = 2000 };

static char order[MANY + 1];
static int dues[EACH];
static atomic_int place;
static atomic_int due_place;
static weft_chan *gate;

static void *note(void *arg) {
    order[atomic_fetch_add(&place, 1)] = *(const char *)arg;
    return NULL;
}

static void *note_due(void *arg) {
    dues[atomic_fetch_add(&due_place, 1)] = (int)(intptr_t)arg;
    return note("u");
}

/* Due moments in an order of their own, among others of both other kinds. */
static void spawn_mixed(weft_fiber *fibers) {
    for (int i = 0; i < EACH; i++) {
        weft_spawn_options high = {.priority = WEFT_PRIORITY_HIGH};
        weft_spawn_options urgent = {.due = weft_after((1 + (i * 7) % EACH) * WEFT_SECOND)};
        SPAWN(&fibers[3 * i], note, "n");
        CHECK_EQ(weft_spawn_with(&fibers[3 * i + 1], &high, note, "h"), 0);
        CHECK_EQ(weft_spawn_with(&fibers[3 * i + 2], &urgent, note_due, (void *)(intptr_t)((i * 7) % EACH)), 0);
    }
}

static void mixed(void) {
    weft_fiber fibers[MANY];
    atomic_store(&place, 0);
    atomic_store(&due_place, 0);
    spawn_mixed(fibers);
    for (int i = 0; i < MANY; i++)
        JOIN(fibers[i], NULL);
    CHECK_EQ(atomic_load(&place), MANY);
    CHECK_EQ(atomic_load(&due_place), EACH);
    if (wf_test_workers() > 1)
        return;
    int early = 0; /* a worker that had to wait for its core looks after the others when it is back */
    for (int i = 0; i < MANY; i++)
        early += order[i] != (i < EACH ? 'u' : i < 2 * EACH ? 'h' : 'n');
    CHECK_LE(early, EACH / 2);
    for (int i = 0; i < EACH; i++)
        CHECK_EQ(dues[i], i);
}

TEST(urgent_fibers_begin_first_and_by_their_moment) {
    run_fibers_strictly(mixed);
}

static void *wait_urgently(void *arg) {
    int value;
    CHECK_EQ(weft_set_due(weft_after((EACH - (intptr_t)arg) * WEFT_SECOND)), 0);
    CHECK_EQ(weft_chan_recv(gate, &value, WEFT_NEVER), -EPIPE);
    dues[atomic_fetch_add(&due_place, 1)] = (int)(intptr_t)arg;
    CHECK_EQ(weft_set_due(WEFT_NEVER), 0);
    return NULL;
}

static void woken(void) {
    weft_fiber fibers[EACH];
    weft_stats stats;
    atomic_store(&due_place, 0);
    CHECK_EQ(weft_chan_new(&gate, sizeof(int), 0), 0);
    for (int i = 0; i < EACH; i++)
        SPAWN(&fibers[i], wait_urgently, (void *)(intptr_t)i);
    do {
        weft_yield();
        CHECK_EQ(weft_get_stats(NULL, &stats), 0);
    } while (stats.parks < EACH);
    CHECK_EQ(weft_chan_close(gate), 0);
    for (int i = 0; i < EACH; i++)
        JOIN(fibers[i], NULL);
    for (int i = 0; i < EACH && wf_test_workers() == 1; i++)
        CHECK_EQ(dues[i], EACH - 1 - i);
    weft_chan_free(gate);
}

TEST(urgent_fibers_that_are_woken_together_go_on_by_their_moment) {
    run_fibers_strictly(woken);
}

static atomic_bool has_run;

static void *run_once(void *arg) {
    atomic_store(&has_run, true);
    return arg;
}

/* Never waits: one that does nothing but yield. */
static void *insist(void *arg) {
    CHECK_EQ(weft_set_due(WEFT_NOW), 0);
    while (!atomic_load(&has_run))
        weft_yield();
    return arg;
}

static void others(void) {
    weft_fiber fibers[2];
    atomic_store(&has_run, false);
    SPAWN(&fibers[0], insist, NULL);
    SPAWN(&fibers[1], run_once, NULL);
    JOIN(fibers[0], NULL);
    JOIN(fibers[1], NULL);
}

TEST(an_urgent_fiber_that_never_waits_leaves_something_to_the_others) {
    run_fibers(others);
}

static void *sender(void *arg) {
    weft_set_due(weft_after((intptr_t)arg));
    for (int i = 0; i < TURNS; i++)
        CHECK_EQ(weft_chan_send(gate, &i, WEFT_NEVER), 0);
    return NULL;
}

static void crowded(void) {
    weft_fiber fibers[EACH];
    long sum = 0;
    long rounds = scaled(TURNS, TURNS);
    CHECK_EQ(weft_chan_new(&gate, sizeof(int), 2), 0);
    for (int i = 0; i < EACH; i++)
        SPAWN(&fibers[i], sender, (void *)(intptr_t)(i % 3 * WEFT_MILLISECOND));
    for (long i = 0; i < rounds * EACH; i++) {
        int value;
        CHECK_EQ(weft_chan_recv(gate, &value, WEFT_NEVER), 0);
        sum += value;
    }
    CHECK_EQ(sum, rounds * (rounds - 1) / 2 * EACH);
    for (int i = 0; i < EACH; i++)
        JOIN(fibers[i], NULL);
    weft_chan_free(gate);
}

TEST(many_urgent_fibers_on_one_channel_lose_nothing) {
    run_fibers(crowded);
}

TEST(a_plain_thread_is_never_due) {
    CHECK_EQ(weft_set_due(WEFT_NOW), -EPERM);
}
