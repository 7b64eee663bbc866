/* SPDX-License-Identifier: MIT
 *
 * unit/queue/parker_test.c - the parker: every transition of its table, deadlines, a wake in the last moment, ping-pong.
 *
 * A lost token shows as a hang.
 */
#include "base/point.h"
#include "os/clock.h"
#include "os/fault.h"
#include "queue/parker.h"
#include "unit/queue/crew.h"

enum { ROUNDS = 300 * WEFT_TEST_SCALE, MILLISECOND = 1000000 };

static struct wf_parker hooked;

TEST(token_before_park_makes_it_return_at_once_and_only_once) {
    struct wf_parker parker = {0};
    CHECK(!wf_parker_unpark(&parker));
    CHECK(!wf_parker_unpark(&parker));
    CHECK(wf_parker_park(&parker, INT64_MAX));
    CHECK_EQ(wf_load_relaxed(&parker.word), WF_PARKER_EMPTY);
    CHECK(!wf_parker_park(&parker, wf_os_now()));
}

TEST(deadline_ends_a_sleep_not_before_its_time) {
    struct wf_parker parker;
    wf_parker_init(&parker);
    int64_t deadline = wf_os_now() + MILLISECOND;
    CHECK(!wf_parker_park(&parker, deadline));
    CHECK_GE(wf_os_now(), deadline);
    CHECK_EQ(wf_load_relaxed(&parker.word), WF_PARKER_EMPTY);
}

static void unpark_at_the_last_moment(const char *name) {
    if (strcmp(name, "parker.before_wait") == 0)
        wf_parker_unpark(&hooked);
}

TEST(token_between_lying_down_and_sleeping_is_not_lost) {
    wf_parker_init(&hooked);
    wf_point_hook = unpark_at_the_last_moment;
    CHECK(wf_parker_park(&hooked, INT64_MAX));
    CHECK(wf_parker_park(&hooked, 0)); /* the deadline has passed, but the token counts */
    wf_point_hook = NULL;
    CHECK_EQ(wf_load_relaxed(&hooked.word), WF_PARKER_EMPTY);
}

TEST(interrupted_sleep_goes_on) {
    struct wf_parker parker = {0};
    wf_fault_order(WF_CALL_FUTEX_WAIT, 1, EINTR, 0);
    int64_t deadline = wf_os_now() + MILLISECOND;
    CHECK(!wf_parker_park(&parker, deadline));
    CHECK_GE(wf_os_now(), deadline);
    CHECK_EQ(wf_fault_hits(), 1);
    wf_fault_order(WF_CALL_FUTEX_WAIT, 0, 0, 0);
}

TEST(unpark_of_a_poller_asks_for_the_eventfd) {
    struct wf_parker parker = {0};
    CHECK(wf_parker_poll_begin(&parker));
    CHECK(wf_parker_unpark(&parker));
    CHECK(!wf_parker_unpark(&parker));
    CHECK(wf_parker_poll_end(&parker));
    CHECK(wf_parker_poll_begin(&parker));
    CHECK(!wf_parker_poll_end(&parker));
    CHECK(!wf_parker_unpark(&parker));
    CHECK(!wf_parker_poll_begin(&parker));
    CHECK_EQ(wf_load_relaxed(&parker.word), WF_PARKER_EMPTY);
}

/* Two threads hand a plain number to and fro: each token has to carry it. */
struct pair {
    struct wf_parker parker[2];
    long number;
};

static void play(int index, void *argument) {
    struct pair *pair = argument;
    for (int i = 0; i < ROUNDS; i++) {
        if (index == 1)
            CHECK(wf_parker_park(&pair->parker[1], INT64_MAX));
        CHECK_EQ(pair->number, 2L * i + index);
        pair->number++;
        wf_parker_unpark(&pair->parker[1 - index]);
        if (index == 0)
            CHECK(wf_parker_park(&pair->parker[0], INT64_MAX));
    }
}

TEST(tokens_go_to_and_fro_and_carry_what_was_written) {
    struct pair pair = {0};
    crew_run(2, play, &pair);
    CHECK_EQ(pair.number, 2L * ROUNDS);
}

/* Many unparkers, one sleeper that sleeps until it has seen what all of them did, in all three ways of sleeping. */
struct crowd {
    struct wf_parker parker;
    _Atomic uint32_t done;
};

static void be_woken_by_all(struct crowd *crowd, uint32_t wanted) {
    for (uint32_t round = 0; wf_load_relaxed(&crowd->done) < wanted; round++) {
        if (round % 3 == 0)
            CHECK(wf_parker_park(&crowd->parker, INT64_MAX));
        else if (round % 3 == 1)
            wf_parker_park(&crowd->parker, wf_os_now() + MILLISECOND / 50);
        else if (wf_parker_poll_begin(&crowd->parker))
            wf_parker_poll_end(&crowd->parker);
    }
}

static void crowd_member(int index, void *argument) {
    struct crowd *crowd = argument;
    if (index == 0) {
        be_woken_by_all(crowd, 3 * ROUNDS);
        return;
    }
    for (int i = 0; i < ROUNDS; i++) {
        wf_fetch_add_relaxed(&crowd->done, 1);
        wf_parker_unpark(&crowd->parker);
    }
}

TEST(no_token_of_many_unparkers_is_lost) {
    struct crowd crowd = {0};
    crew_run(4, crowd_member, &crowd);
    CHECK_EQ(wf_load_relaxed(&crowd.done), 3 * ROUNDS);
}
