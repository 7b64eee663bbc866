/* SPDX-License-Identifier: MIT
 *
 * unit/sync/rwlock_test.c - readers together, writers alone, in the order of arrival.
 *
 * The queue is read from the lock itself, so every scene is set before it is played.
 */
#include "support/child.h"
#include "unit/sync/waiters.h"

static weft_rwlock rwlock = WEFT_RWLOCK_INIT;
static atomic_int inside, most_inside, gate, served;

static void check_as_new(void) {
    CHECK(is_all_zero(&rwlock, sizeof rwlock));
}

struct visitor {
    bool writes;
    int turn;
    weft_fiber fiber;
};

static void *visit(void *opaque) {
    struct visitor *visitor = opaque;
    weft_time deadline = visitor->turn % 2 ? WEFT_NEVER : weft_after(PATIENCE_NS);
    CHECK_EQ(visitor->writes ? weft_rwlock_write(&rwlock, deadline) : weft_rwlock_read(&rwlock, deadline), 0);
    visitor->turn = atomic_fetch_add(&served, 1);
    int now = atomic_fetch_add(&inside, 1) + 1;
    CHECK(!visitor->writes || now == 1);
    if (now > atomic_load(&most_inside))
        atomic_store(&most_inside, now);
    WAIT_UNTIL(visitor->writes || atomic_load(&gate));
    atomic_fetch_sub(&inside, 1);
    weft_rwlock_unlock(&rwlock);
    return NULL;
}

static void enqueue(struct visitor *visitor, bool writes, int place) {
    visitor->writes = writes;
    visitor->turn = place;
    SPAWN(&visitor->fiber, visit, visitor);
    WAIT_WAITERS(rwlock, &rwlock, place);
}

/* The holder is a writer; behind it readers, a writer, readers: R R W R R. */
static void batches_body(void) {
    struct visitor visitors[5];
    atomic_store(&served, 0);
    atomic_store(&inside, 0);
    atomic_store(&gate, 0);
    CHECK_EQ(weft_rwlock_write(&rwlock, WEFT_NEVER), 0);
    for (int i = 0; i < 5; i++)
        enqueue(&visitors[i], i == 2, i + 1);
    weft_rwlock_unlock(&rwlock);
    WAIT_UNTIL(atomic_load(&inside) == 2); /* the first two together, and nobody else */
    CHECK_EQ(COUNT_WAITERS(rwlock, &rwlock), 3);
    CHECK_EQ(weft_rwlock_read(&rwlock, WEFT_NOW), -ETIMEDOUT); /* a writer waits: no reader gets past it */
    atomic_store(&gate, 1);
    for (int i = 0; i < 5; i++)
        JOIN(visitors[i].fiber, NULL);
    CHECK(visitors[0].turn < 2 && visitors[1].turn < 2);
    CHECK_EQ(visitors[2].turn, 2);
    CHECK(visitors[3].turn > 2 && visitors[4].turn > 2);
    check_as_new();
}

TEST(rwlock_lets_readers_in_together_and_a_writer_in_its_turn) {
    run_fibers(batches_body);
}

static atomic_int stop_reading;

static void *read_again_and_again(void *arg) {
    while (!atomic_load(&stop_reading)) {
        CHECK_EQ(weft_rwlock_read(&rwlock, WEFT_NEVER), 0);
        weft_yield();
        weft_rwlock_unlock(&rwlock);
    }
    return arg;
}

static void starvation_body(void) {
    weft_fiber readers[6];
    atomic_store(&stop_reading, 0);
    for (int i = 0; i < 6; i++)
        SPAWN(&readers[i], read_again_and_again, NULL);
    for (int i = 0; i < 20; i++) {
        CHECK_EQ(weft_rwlock_write(&rwlock, WEFT_NEVER), 0); /* comes although some reader holds it nearly always */
        weft_rwlock_unlock(&rwlock);
    }
    atomic_store(&stop_reading, 1);
    for (int i = 0; i < 6; i++)
        JOIN(readers[i], NULL);
    check_as_new();
}

TEST(rwlock_writer_is_not_starved_by_readers) {
    run_fibers(starvation_body);
}

static int write_for_ever(void) {
    return weft_rwlock_write(&rwlock, WEFT_NEVER);
}

/* Held for reading, a writer waits, a reader waits behind it; when the writer gives up the reader has no reason to wait. */
static void give_up_body(void) {
    struct visitor reader;
    struct quitter writer;
    atomic_store(&gate, 1);
    CHECK_EQ(weft_rwlock_read(&rwlock, WEFT_NEVER), 0);
    quitter_start(&writer, write_for_ever);
    WAIT_WAITERS(rwlock, &rwlock, 1);
    enqueue(&reader, false, 2);
    quitter_give_up(&writer);
    JOIN(reader.fiber, NULL);
    weft_rwlock_unlock(&rwlock);
    check_as_new();
}

static void *write_in_vain(void *arg) {
    CHECK_EQ(weft_rwlock_write(&rwlock, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    return arg;
}

static void give_up_by_thread_body(void) {
    struct visitor reader = {.turn = 1};
    struct on_thread_call writer;
    atomic_store(&gate, 1);
    CHECK_EQ(weft_rwlock_read(&rwlock, WEFT_NEVER), 0);
    on_thread_start(&writer, write_in_vain, NULL);
    SPAWN(&reader.fiber, visit, &reader);
    on_thread_finish(&writer);
    JOIN(reader.fiber, NULL);
    weft_rwlock_unlock(&rwlock);
    check_as_new();
}

TEST(rwlock_waiter_that_gives_up_lets_those_behind_it_through) {
    for (int i = 0; i < 10; i++) {
        run_fibers(give_up_body);
        run_fibers(give_up_by_thread_body);
    }
}

static void *vain_tries(void *arg) {
    bool is_read_held = arg != NULL;
    const weft_time deadlines[] = {WEFT_NOW, 1, -1, INT64_MIN, weft_after(200 * WEFT_MICROSECOND)};
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(weft_rwlock_write(&rwlock, deadlines[i]), -ETIMEDOUT);
        CHECK_GE(weft_now(), deadlines[i]);
        CHECK_EQ(weft_rwlock_read(&rwlock, deadlines[i]), is_read_held ? 0 : -ETIMEDOUT);
        if (is_read_held)
            weft_rwlock_unlock(&rwlock);
    }
    return arg;
}

static void deadlines_body(void) {
    CHECK_EQ(weft_rwlock_read(&rwlock, WEFT_NOW), 0);
    vain_tries(&rwlock);
    on_thread(vain_tries, &rwlock);
    weft_rwlock_unlock(&rwlock);
    CHECK_EQ(weft_rwlock_write(&rwlock, WEFT_NOW), 0);
    vain_tries(NULL);
    on_thread(vain_tries, NULL);
    weft_rwlock_unlock(&rwlock);
    check_as_new();
    CHECK_EQ(weft_rwlock_read(NULL, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_rwlock_write(NULL, WEFT_NEVER), -EINVAL);
}

TEST(rwlock_deadlines) {
    run_fibers(deadlines_body);
}

struct hasty {
    uint64_t seed;
    long rounds;
    long *value; /* two that a writer keeps equal */
};

static void *hasty_visit(void *opaque) {
    struct hasty *hasty = opaque;
    for (long i = 0; i < hasty->rounds; i++) {
        bool writes = random_below(&hasty->seed, 4) == 0;
        weft_time deadline =
            random_below(&hasty->seed, 3) ? weft_after((int64_t)random_below(&hasty->seed, 3000)) : WEFT_NEVER;
        int status = writes ? weft_rwlock_write(&rwlock, deadline) : weft_rwlock_read(&rwlock, deadline);
        CHECK(status == 0 || status == -ETIMEDOUT);
        if (status)
            continue;
        CHECK_EQ(hasty->value[0], hasty->value[1]);
        if (writes) {
            hasty->value[0]++;
            weft_yield();
            hasty->value[1]++;
        }
        weft_rwlock_unlock(&rwlock);
    }
    return NULL;
}

static void hasty_body(void) {
    struct hasty all[8];
    weft_fiber fibers[6];
    struct on_thread_call calls[2];
    uint64_t seed = wf_test_seed();
    long value[2] = {0, 0};
    for (int i = 0; i < 8; i++)
        all[i] = (struct hasty){.seed = seed + (uint64_t)i * 99, .rounds = scaled(1000, 50), .value = value};
    for (int i = 0; i < 6; i++)
        SPAWN(&fibers[i], hasty_visit, &all[i]);
    for (int i = 0; i < 2; i++)
        on_thread_start(&calls[i], hasty_visit, &all[6 + i]);
    for (int i = 0; i < 6; i++)
        JOIN(fibers[i], NULL);
    for (int i = 0; i < 2; i++)
        on_thread_finish(&calls[i]);
    check_as_new();
}

TEST(rwlock_keeps_writers_alone_when_waiters_give_up_at_any_moment) {
    run_fibers(hasty_body);
}

static void unlock_free(void *arg) {
    (void)arg;
    weft_rwlock_unlock(&rwlock);
}

static void unlock_null(void *arg) {
    (void)arg;
    weft_rwlock_unlock(NULL);
}

TEST(rwlock_misuse_is_fatal) {
    struct child_end end = child_run(unlock_free, NULL);
    CHECK_CHILD_FATAL(&end, "a read-write lock was unlocked that nobody holds");
    end = child_run(unlock_null, NULL);
    CHECK_CHILD_FATAL(&end, "weft_rwlock_unlock of a null pointer");
}
