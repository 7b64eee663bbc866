/* SPDX-License-Identifier: MIT
 *
 * spec/select_test.c - waiting for one of many, by the public interface alone.
 *
 * Exactly one case is carried out and the others leave no trace. That is looked at with every kind of case, with many cases,
 * with one thing in several cases, with selects that face each other, and from fibers and plain threads.
 */
#include "support/parked.h"

enum { PICKS = 10000, MANY = 1000 };

static weft_chan *chan_of_ints(int64_t capacity) {
    weft_chan *chan;
    CHECK_EQ(weft_chan_new(&chan, sizeof(int), capacity), 0);
    return chan;
}

static int receive_int(weft_chan *chan) {
    int value = -1;
    CHECK_EQ(weft_chan_recv(chan, &value, WEFT_NEVER), 0);
    return value;
}

static void send_int(weft_chan *chan, int value) {
    CHECK_EQ(weft_chan_send(chan, &value, WEFT_NEVER), 0);
}

/* Waits as long as it takes and answers with the index of one of the cases. */
static int choose(weft_case *cases, int count) {
    int chosen = weft_select(cases, count, WEFT_NEVER);
    CHECK(chosen >= 0 && chosen < count);
    if (chosen < 0 || chosen >= count)
        abort(); /* the compiler does not know that a failed check does not return */
    return chosen;
}

static void *invalid_calls(void *arg) {
    weft_case unmade = {0};
    weft_case none = weft_on_time(WEFT_NOW);
    CHECK_EQ(weft_select(NULL, 0, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_select_ordered(NULL, 0, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_select(NULL, 1, WEFT_NOW), -EINVAL);
    CHECK_EQ(weft_select(&none, -1, WEFT_NOW), -EINVAL);
    CHECK_EQ(weft_select(&none, WEFT_SELECT_MAX + 1, WEFT_NOW), -EINVAL);
    CHECK_EQ(weft_select(&unmade, 1, WEFT_NOW), -EINVAL);
    CHECK_EQ(weft_select(NULL, 0, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_select(NULL, 0, -5), -ETIMEDOUT);
    weft_time deadline = weft_after(200 * WEFT_MICROSECOND);
    CHECK_EQ(weft_select(NULL, 0, deadline), -ETIMEDOUT);
    CHECK_GE(weft_now(), deadline);
    return arg;
}

static void invalid_body(void) {
    invalid_calls(NULL);
    on_thread(invalid_calls, NULL);
}

TEST(select_refuses_what_can_never_end_and_waits_for_a_deadline_alone) {
    run_fibers(invalid_body);
}

static void *fair_picks(void *arg) {
    weft_chan *left = chan_of_ints(1), *right = chan_of_ints(1);
    int picks[2] = {0, 0};
    send_int(left, 0);
    send_int(right, 0);
    for (int i = 0; i < PICKS; i++) {
        int value;
        weft_case cases[] = {weft_on_receive(left, &value), weft_on_receive(right, &value)};
        int chosen = choose(cases, 2);
        picks[chosen]++;
        send_int(chosen ? right : left, i);
    }
    CHECK_GE(picks[0], PICKS * 4 / 10);
    CHECK_GE(picks[1], PICKS * 4 / 10);
    weft_chan_free(left);
    weft_chan_free(right);
    return arg;
}

static void fair_body(void) {
    fair_picks(NULL);
    on_thread(fair_picks, NULL);
}

TEST(two_cases_that_are_always_ready_each_get_their_share) {
    run_fibers(fair_body);
}

static void *ordered_picks(void *arg) {
    weft_chan *chans[4];
    for (int i = 0; i < 4; i++)
        chans[i] = chan_of_ints(1);
    for (int first = 3; first >= 0; first--) {
        send_int(chans[first], first);
        for (int i = 0; i < 50; i++) {
            int value = -1;
            weft_case cases[4];
            for (int c = 0; c < 4; c++)
                cases[c] = weft_on_receive(chans[c], &value);
            CHECK_EQ(weft_select_ordered(cases, 4, WEFT_NOW), first);
            CHECK_EQ(value, first);
            send_int(chans[first], first);
        }
    }
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(weft_chan_len(chans[i]), 1);
        weft_chan_free(chans[i]);
    }
    return arg;
}

static void ordered_body(void) {
    ordered_picks(NULL);
    on_thread(ordered_picks, NULL);
}

TEST(an_ordered_select_takes_the_first_that_is_ready) {
    run_fibers(ordered_body);
}

/* Sends and receives on one channel in one select: with itself it never meets, with its twin always. */
static void *self_select(void *opaque) {
    weft_chan *chan = opaque;
    long sent = 0, rounds = scaled(2000, 100);
    for (long i = 0; i < rounds; i++) {
        int out = 1, in = 0;
        weft_case cases[] = {weft_on_send(chan, &out), weft_on_receive(chan, &in)};
        int chosen = choose(cases, 2);
        CHECK_EQ(cases[chosen].status, 0);
        CHECK_EQ(in, chosen);
        sent += chosen == 0 ? 1 : -1;
    }
    return (void *)(intptr_t)sent;
}

static void self_body(void) {
    weft_chan *chan = chan_of_ints(0);
    int out = 1, in = 0;
    weft_case cases[] = {weft_on_send(chan, &out), weft_on_receive(chan, &in)};
    CHECK_EQ(weft_select(cases, 2, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_select(cases, 2, weft_after(100 * WEFT_MICROSECOND)), -ETIMEDOUT);
    weft_fiber twins[2];
    void *sent[2];
    for (int i = 0; i < 2; i++)
        SPAWN(&twins[i], self_select, chan);
    for (int i = 0; i < 2; i++)
        JOIN(twins[i], &sent[i]);
    CHECK_EQ((intptr_t)sent[0] + (intptr_t)sent[1], 0);
    weft_chan_free(chan);
    chan = chan_of_ints(1); /* with room inside it first sends, then receives */
    cases[0] = weft_on_send(chan, &out);
    cases[1] = weft_on_receive(chan, &in);
    for (int i = 0; i < 10; i++)
        CHECK_EQ(weft_select(cases, 2, WEFT_NOW), i % 2);
    weft_chan_free(chan);
}

TEST(a_select_does_not_meet_itself) {
    run_fibers(self_body);
}

static void *receive_by_duplicates(void *opaque) {
    weft_chan *chan = opaque;
    int values[3] = {0, 0, 0};
    weft_case cases[3];
    for (int i = 0; i < 3; i++)
        cases[i] = weft_on_receive(chan, &values[i]);
    int chosen = choose(cases, 3);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(values[i], i == chosen ? 9 : 0);
    return NULL;
}

static void duplicates_body(void) {
    weft_chan *chan = chan_of_ints(0);
    weft_fiber fiber = spawn_parked(receive_by_duplicates, chan);
    send_int(chan, 9);
    JOIN(fiber, NULL);
    int value = 1;
    CHECK_EQ(weft_chan_send(chan, &value, WEFT_NOW), -ETIMEDOUT); /* the other two have left */
    weft_chan_free(chan);
    chan = chan_of_ints(1);
    send_int(chan, 9);
    receive_by_duplicates(chan);
    weft_chan_free(chan);
}

TEST(one_channel_in_several_cases_is_carried_out_once) {
    run_fibers(duplicates_body);
}

struct duel {
    weft_chan *one, *two;
    long rounds;
    long sums[2]; /* of what was sent and of what was received */
};

/* Each offers on one channel and wants from the other; the opponent does the reverse. */
static void *duel_side(void *opaque) {
    struct duel *duel = opaque;
    for (long i = 0; i < duel->rounds; i++) {
        int out = (int)i + 1, in = 0;
        weft_case cases[] = {weft_on_send(duel->one, &out), weft_on_receive(duel->two, &in)};
        int chosen = choose(cases, 2);
        CHECK_EQ(cases[chosen].status, 0);
        duel->sums[chosen] += chosen ? in : out;
    }
    return NULL;
}

static void run_duel(bool has_thread) {
    struct duel left = {.one = chan_of_ints(0), .two = chan_of_ints(0), .rounds = scaled(20000, 500)};
    struct duel right = {.one = left.two, .two = left.one, .rounds = left.rounds};
    weft_fiber fiber;
    SPAWN(&fiber, duel_side, &left);
    if (has_thread)
        on_thread(duel_side, &right);
    else
        duel_side(&right);
    JOIN(fiber, NULL);
    CHECK_EQ(left.sums[0], right.sums[1]);
    CHECK_EQ(left.sums[1], right.sums[0]);
    weft_chan_free(left.one);
    weft_chan_free(left.two);
}

static void duel_body(void) {
    run_duel(false);
    run_duel(true);
}

TEST(two_selects_that_face_each_other_pass_every_value_once) {
    run_fibers(duel_body);
}

static void *null_cases(void *arg) {
    int value = 3;
    weft_chan *chan = chan_of_ints(1);
    weft_case cases[] = {weft_on_send(NULL, &value), weft_on_receive(NULL, &value), weft_on_receive(chan, &value)};
    CHECK_EQ(weft_select(cases, 3, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_select(cases, 2, weft_after(100 * WEFT_MICROSECOND)), -ETIMEDOUT);
    for (int i = 0; i < 100; i++) {
        send_int(chan, i);
        CHECK_EQ(weft_select(cases, 3, WEFT_NEVER), 2);
        CHECK_EQ(value, i);
    }
    weft_chan_free(chan);
    return arg;
}

static void null_body(void) {
    null_cases(NULL);
    on_thread(null_cases, NULL);
}

TEST(a_null_channel_never_comes) {
    run_fibers(null_body);
}

static void *closed_cases(void *arg) {
    int value = 3;
    weft_chan *chan = chan_of_ints(1);
    weft_case receive = weft_on_receive(chan, &value), send = weft_on_send(chan, &value);
    send_int(chan, 8);
    CHECK_EQ(weft_chan_close(chan), 0);
    CHECK_EQ(weft_select(&send, 1, WEFT_NEVER), 0);
    CHECK_EQ(send.status, -EPIPE);
    CHECK_EQ(weft_select(&receive, 1, WEFT_NEVER), 0);
    CHECK_EQ(receive.status, 0);
    CHECK_EQ(value, 8);
    CHECK_EQ(weft_select(&receive, 1, WEFT_NEVER), 0);
    CHECK_EQ(receive.status, -EPIPE);
    CHECK_EQ(value, 8);
    weft_chan_free(chan);
    weft_case no_value = weft_on_send(chan = chan_of_ints(1), NULL);
    CHECK_EQ(weft_select(&no_value, 1, WEFT_NOW), 0);
    CHECK_EQ(no_value.status, -EINVAL);
    weft_chan_free(chan);
    return arg;
}

static void closed_body(void) {
    closed_cases(NULL);
    on_thread(closed_cases, NULL);
}

TEST(a_closed_channel_is_ready_with_its_error) {
    run_fibers(closed_body);
}

struct crowd {
    weft_chan **chans;
    int count;
    int expected;
};

static void *select_of_many(void *opaque) {
    struct crowd *crowd = opaque;
    weft_case *cases = calloc((size_t)crowd->count, sizeof *cases);
    int value = -1;
    for (int i = 0; i < crowd->count; i++)
        cases[i] = weft_on_receive(crowd->chans[i], &value);
    CHECK_EQ(weft_select(cases, crowd->count, WEFT_NEVER), crowd->expected);
    CHECK_EQ(cases[crowd->expected].status, 0);
    CHECK_EQ(value, crowd->expected);
    free(cases);
    return NULL;
}

static void check_many(int count) {
    weft_chan **chans = calloc((size_t)count, sizeof *chans);
    for (int i = 0; i < count; i++)
        chans[i] = chan_of_ints(0);
    for (int round = 0; round < 4; round++) {
        struct crowd crowd = {.chans = chans, .count = count, .expected = round * (count - 1) / 3};
        weft_fiber fiber = spawn_parked(select_of_many, &crowd);
        send_int(chans[crowd.expected], crowd.expected);
        JOIN(fiber, NULL);
        struct on_thread_call call;
        on_thread_start(&call, select_of_many, &crowd);
        send_int(chans[crowd.expected], crowd.expected);
        on_thread_finish(&call);
    }
    for (int i = 0; i < count; i++) {
        int value = 0;
        CHECK_EQ(weft_chan_send(chans[i], &value, WEFT_NOW), -ETIMEDOUT);
        weft_chan_free(chans[i]);
    }
    free(chans);
}

static void many_body(void) {
    check_many(16);
    check_many(17);
    check_many(MANY);
}

TEST(sixteen_seventeen_and_a_thousand_cases) {
    run_fibers(many_body);
}

static void *time_cases(void *arg) {
    int value = 0;
    weft_chan *chan = chan_of_ints(1);
    weft_case past = weft_on_time(1);
    CHECK_EQ(weft_select(&past, 1, WEFT_NOW), 0);
    weft_time soon = weft_after(300 * WEFT_MICROSECOND);
    weft_case cases[] = {weft_on_receive(chan, &value), weft_on_time(WEFT_NEVER), weft_on_time(soon + WEFT_SECOND * 90),
                         weft_on_time(soon)};
    CHECK_EQ(weft_select(cases, 3, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_select(cases, 4, WEFT_NEVER), 3);
    CHECK_GE(weft_now(), soon);
    CHECK_EQ(cases[3].status, 0);
    CHECK_EQ(weft_select(cases, 3, weft_after(200 * WEFT_MICROSECOND)), -ETIMEDOUT);
    send_int(chan, 1);
    CHECK_EQ(weft_select_ordered(cases, 4, WEFT_NOW), 0); /* both ready: the channel stands first */
    weft_case turned[] = {past, cases[0]};
    send_int(chan, 1);
    CHECK_EQ(weft_select_ordered(turned, 2, WEFT_NOW), 0);
    CHECK_EQ(weft_chan_len(chan), 1);
    weft_chan_free(chan);
    return arg;
}

static void time_body(void) {
    time_cases(NULL);
    on_thread(time_cases, NULL);
}

TEST(moments_come_when_they_have_come) {
    run_fibers(time_body);
}

static void *wait_at_chan(void *opaque) {
    receive_int(opaque);
    return opaque;
}

static void end_body(void) {
    weft_chan *gate = chan_of_ints(0), *other = chan_of_ints(1);
    void *result = NULL;
    int value;
    weft_fiber fiber = spawn_parked(wait_at_chan, gate);
    weft_case cases[] = {weft_on_end(fiber, &result), weft_on_receive(other, &value), weft_on_end(WEFT_NO_FIBER, NULL)};
    CHECK_EQ(weft_select(cases, 2, WEFT_NOW), -ETIMEDOUT);
    send_int(other, 1);
    CHECK_EQ(weft_select(cases, 2, WEFT_NEVER), 1); /* and the fiber can still be joined */
    CHECK_EQ(weft_select(cases, 3, WEFT_NEVER), 2);
    CHECK_EQ(cases[2].status, -ESTALE);
    send_int(gate, 0);
    CHECK_EQ(weft_select(cases, 2, WEFT_NEVER), 0);
    CHECK_EQ(cases[0].status, 0);
    CHECK(result == gate);
    CHECK_EQ(weft_join(fiber, NULL, WEFT_NOW), -ESTALE);
    weft_chan_free(gate);
    weft_chan_free(other);
}

TEST(the_end_of_a_fiber_as_a_case_joins_it) {
    run_fibers(end_body);
}

struct permit {
    weft_semaphore semaphore;
    weft_chan *chan;
    int chosen;
};

static void *select_permit(void *opaque) {
    struct permit *permit = opaque;
    weft_case cases[] = {weft_on_semaphore(&permit->semaphore), weft_on_receive(permit->chan, NULL)};
    permit->chosen = choose(cases, 2);
    CHECK_EQ(cases[permit->chosen].status, 0);
    return NULL;
}

static void *acquire_permit(void *opaque) {
    struct permit *permit = opaque;
    CHECK_EQ(weft_semaphore_acquire(&permit->semaphore, 1, WEFT_NEVER), 0);
    return NULL;
}

static void semaphore_body(void) {
    struct permit permit = {.semaphore = WEFT_SEMAPHORE_INIT(1), .chan = chan_of_ints(0)};
    select_permit(&permit);
    CHECK_EQ(permit.chosen, 0);
    CHECK_EQ(weft_semaphore_permits(&permit.semaphore), 0);
    weft_fiber fiber = spawn_parked(select_permit, &permit);
    weft_semaphore_release(&permit.semaphore, 1);
    JOIN(fiber, NULL);
    CHECK_EQ(permit.chosen, 0);
    CHECK_EQ(weft_semaphore_permits(&permit.semaphore), 0);
    fiber = spawn_parked(select_permit, &permit);
    weft_fiber behind = spawn_parked(acquire_permit, &permit);
    send_int(permit.chan, 1);
    weft_semaphore_release(&permit.semaphore, 1); /* for whoever stands behind a case that has not been chosen */
    JOIN(fiber, NULL);
    JOIN(behind, NULL);
    CHECK_EQ(permit.chosen, 1);
    CHECK_EQ(weft_semaphore_permits(&permit.semaphore), 0);
    weft_case null_case = weft_on_semaphore(NULL);
    CHECK_EQ(weft_select(&null_case, 1, WEFT_NOW), 0);
    CHECK_EQ(null_case.status, -EINVAL);
    weft_chan_free(permit.chan);
}

TEST(a_permit_as_a_case_is_taken_only_when_chosen) {
    run_fibers(semaphore_body);
}

static void reuse_body(void) {
    weft_chan *chan = chan_of_ints(3);
    int value = 0, got = 0;
    weft_case cases[] = {weft_on_send(chan, NULL), weft_on_receive(NULL, NULL)};
    cases[0].value = &value;
    for (value = 1; value <= 3; value++)
        CHECK_EQ(weft_select(cases, 2, WEFT_NOW), 0);
    CHECK_EQ(weft_select(cases, 2, WEFT_NOW), -ETIMEDOUT);
    for (int i = 1; i <= 3; i++) {
        CHECK_EQ(weft_chan_recv(chan, &got, WEFT_NOW), 0);
        CHECK_EQ(got, i);
    }
    weft_chan_free(chan);
}

TEST(cases_can_be_used_again_with_other_values) {
    run_fibers(reuse_body);
}
