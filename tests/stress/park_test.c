/* SPDX-License-Identifier: MIT
 *
 * stress/park_test.c - no wake-up is lost and none comes twice.
 *
 * Pairs of senders and receivers meet again and again, fibers and plain threads mixed, with random delays between; most
 * wait without limit, so a lost wake-up hangs the test and names it. The oracle is the sequence of values: each pair of
 * a park and a wake hands over the next number, exactly once. WEFT_STRESS=full runs ten million pairs.
 */
#include "support/rendezvous.h"
#include "support/run.h"

enum { LINES = 8, THREAD_LINES = 3 };

struct line {
    struct rendezvous there;
    struct rendezvous back;
    long count;
    bool has_deadlines;
    uint64_t seed;
    atomic_long received;
    atomic_long timeouts;
};

static struct line lines[LINES];
static atomic_int threads_left;

static bool is_full(void) {
    const char *stress = getenv("WEFT_STRESS");
    return stress && strcmp(stress, "full") == 0;
}

static void delay(uint64_t *random) {
    uint64_t choice = random_below(random, 64);
    if (choice < 8)
        for (uint64_t i = random_below(random, 200); i > 0; i--)
            atomic_signal_fence(memory_order_seq_cst);
    else if (choice < 12)
        weft_yield();
    else if (choice == 12 && random_below(random, 64) == 0)
        weft_sleep(weft_after((int64_t)random_below(random, 50) * WEFT_MICROSECOND));
}

static int64_t random_deadline(struct line *line, uint64_t *random) {
    if (!line->has_deadlines || random_below(random, 2))
        return WEFT_NEVER;
    return weft_after((int64_t)random_below(random, 40) * WEFT_MICROSECOND);
}

static void send_all(struct line *line) {
    uint64_t random = line->seed;
    for (long i = 1; i <= line->count; i++) {
        delay(&random);
        while (rendezvous_send(&line->there, (void *)i, random_deadline(line, &random)) == -ETIMEDOUT)
            atomic_fetch_add(&line->timeouts, 1);
    }
}

static void receive_all(struct line *line) {
    uint64_t random = line->seed + 2;
    for (long i = 1; i <= line->count; i++) {
        void *value = NULL;
        delay(&random);
        while (rendezvous_receive(&line->there, &value, random_deadline(line, &random)) == -ETIMEDOUT)
            atomic_fetch_add(&line->timeouts, 1);
        CHECK_EQ((long)(intptr_t)value, i);
        atomic_fetch_add(&line->received, 1);
    }
}

static void *sender_fiber(void *arg) {
    send_all(arg);
    return NULL;
}

static void *receiver_fiber(void *arg) {
    receive_all(arg);
    return NULL;
}

static void *sender_thread(void *arg) {
    send_all(arg);
    atomic_fetch_sub(&threads_left, 1);
    return NULL;
}

static void *receiver_thread(void *arg) {
    receive_all(arg);
    atomic_fetch_sub(&threads_left, 1);
    return NULL;
}

/* Line 0: thread to fiber; 1: fiber to thread; 2: thread to thread; the others: fiber to fiber. */
static void run_lines(void) {
    weft_fiber fibers[2 * LINES];
    pthread_t threads[2 * THREAD_LINES];
    int fiber_count = 0, thread_count = 0;
    atomic_store(&threads_left, 4);
    for (int i = 0; i < LINES; i++) {
        if (i == 0 || i == 2)
            threads[thread_count++] = thread_start(sender_thread, &lines[i]);
        else
            SPAWN(&fibers[fiber_count++], sender_fiber, &lines[i]);
        if (i == 1 || i == 2)
            threads[thread_count++] = thread_start(receiver_thread, &lines[i]);
        else
            SPAWN(&fibers[fiber_count++], receiver_fiber, &lines[i]);
    }
    for (int i = 0; i < fiber_count; i++)
        JOIN(fibers[i], NULL);
    while (atomic_load(&threads_left) > 0)
        weft_sleep(weft_after(WEFT_MILLISECOND));
    for (int i = 0; i < thread_count; i++)
        thread_join(threads[i]);
}

static void pass_values(long pairs, bool has_deadlines) {
    long thread_pairs = pairs / 400;
    memset(lines, 0, sizeof lines);
    for (int i = 0; i < LINES; i++) {
        lines[i].count =
            i < THREAD_LINES ? thread_pairs : (pairs - THREAD_LINES * thread_pairs) / (LINES - THREAD_LINES);
        lines[i].has_deadlines = has_deadlines;
        lines[i].seed = wf_test_seed() + (uint64_t)i * 16;
    }
    run_fibers(run_lines);
    long received = 0, timeouts = 0;
    for (int i = 0; i < LINES; i++) {
        CHECK_EQ(atomic_load(&lines[i].received), lines[i].count);
        CHECK(!lines[i].there.senders && !lines[i].there.receivers);
        received += atomic_load(&lines[i].received);
        timeouts += atomic_load(&lines[i].timeouts);
    }
    printf("    %ld pairs, %ld deadlines passed\n", received, timeouts);
}

TEST(every_park_is_woken_exactly_once) {
    pass_values(is_full() ? 10000000 : scaled(1500000, 1000), false);
}

TEST(a_wake_and_a_deadline_at_the_same_time_make_one_wake) {
    pass_values(is_full() ? 1000000 : scaled(150000, 1000), true);
}

/* Many at one place: whoever sends, whoever receives, each value arrives once. */
enum { CROWD = 6, CROWD_VALUES_MAX = 600000 };
static struct rendezvous square;
static _Atomic uint8_t arrivals[CROWD_VALUES_MAX];
static atomic_long next_value;
static long crowd_values;

static void *crowd_send(void *arg) {
    (void)arg;
    long value;
    while ((value = atomic_fetch_add(&next_value, 1)) < crowd_values)
        CHECK_EQ(rendezvous_send(&square, (void *)(value + 1), WEFT_NEVER), 0);
    CHECK_EQ(rendezvous_send(&square, NULL, WEFT_NEVER), 0); /* one receiver may go home */
    atomic_fetch_sub(&threads_left, 1);
    return NULL;
}

static void *crowd_receive(void *arg) {
    (void)arg;
    void *value;
    while (rendezvous_receive(&square, &value, WEFT_NEVER) == 0 && value)
        atomic_fetch_add(&arrivals[(intptr_t)value - 1], 1);
    atomic_fetch_sub(&threads_left, 1);
    return NULL;
}

static void run_crowd(void) {
    pthread_t threads[2];
    atomic_store(&threads_left, 2 * CROWD + 2);
    threads[0] = thread_start(crowd_send, NULL);
    threads[1] = thread_start(crowd_receive, NULL);
    for (int i = 0; i < CROWD; i++) {
        CHECK_EQ(weft_go(crowd_send, NULL), 0);
        CHECK_EQ(weft_go(crowd_receive, NULL), 0);
    }
    while (atomic_load(&threads_left) > 0)
        weft_sleep(weft_after(WEFT_MILLISECOND));
    thread_join(threads[0]);
    thread_join(threads[1]);
}

TEST(values_of_a_crowd_arrive_exactly_once) {
    crowd_values = scaled(CROWD_VALUES_MAX, 1000);
    atomic_store(&next_value, 0);
    run_fibers(run_crowd);
    for (long i = 0; i < crowd_values; i++)
        CHECK_EQ(arrivals[i], 1);
    printf("    %ld pairs\n", crowd_values);
}

/* Plain threads start fibers in a runtime that keeps falling asleep, and wait for them. */
static void *answer(void *arg) {
    return arg;
}

static void *spawn_and_join(void *arg) {
    uint64_t random = wf_test_seed() + (uintptr_t)arg;
    WAIT_UNTIL(weft_runtime_self());
    for (long i = scaled(20000, 100); i > 0; i--) {
        weft_fiber fiber;
        void *result = NULL;
        SPAWN(&fiber, answer, (void *)i);
        delay(&random);
        JOIN(fiber, &result);
        CHECK_EQ((long)(intptr_t)result, i);
    }
    CHECK_EQ(rendezvous_send(&square, NULL, WEFT_NEVER), 0);
    return NULL;
}

static void wait_for_threads(void) {
    void *value;
    for (int i = 0; i < 3; i++)
        CHECK_EQ(rendezvous_receive(&square, &value, WEFT_NEVER), 0);
}

TEST(a_spawn_from_a_thread_wakes_a_sleeping_runtime_every_time) {
    pthread_t threads[3];
    for (uintptr_t i = 0; i < 3; i++)
        threads[i] = thread_start(spawn_and_join, (void *)(i * 8));
    run_fibers(wait_for_threads);
    for (int i = 0; i < 3; i++)
        thread_join(threads[i]);
    printf("    %ld pairs\n", 3 * scaled(20000, 100));
}
