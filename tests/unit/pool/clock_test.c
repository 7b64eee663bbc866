/* SPDX-License-Identifier: MIT
 *
 * unit/pool/clock_test.c - alarms: they ring once, in order, never early, and not after they were taken back.
 *
 * The clock needs nothing of a pool but its own part, so most tests have a pool that is only memory. Nothing is said about how
 * late an alarm may be.
 */
#include "base/point.h"
#include "os/clock.h"
#include "os/fault.h"
#include "os/memory.h"
#include "os/thread.h"
#include "pool/pool.h"
#include "support/child.h"
#include "support/run.h"

struct bell {
    struct wf_pool_alarm alarm; /* first */
    atomic_int rings;
    _Atomic int64_t rung_at;
    atomic_int order;
    void (*then)(weft_pool *pool, struct bell *bell);
};

static weft_pool *bare;
static atomic_int rings_so_far;

static void bare_begin(void) {
    bare = wf_os_alloc_aligned(64, sizeof *bare);
    CHECK(bare != NULL);
    atomic_store(&rings_so_far, 0);
}

static void bare_end(void) {
    wf_clock_stop(bare);
    wf_os_free(bare);
}

static void bell_ring(weft_pool *pool, struct wf_pool_alarm *alarm) {
    struct bell *bell = (struct bell *)alarm;
    CHECK(pool == bare);
    atomic_store(&bell->rung_at, wf_os_now());
    atomic_store(&bell->order, atomic_fetch_add(&rings_so_far, 1));
    if (bell->then)
        bell->then(pool, bell);
    atomic_fetch_add(&bell->rings, 1);
}

static void bell_init(struct bell *bell, void (*then)(weft_pool *pool, struct bell *bell)) {
    memset(bell, 0, sizeof *bell);
    wf_pool_alarm_init(&bell->alarm, bell_ring);
    bell->then = then;
}

static bool is_awaited(void) {
    wf_lock_take(&bare->clock.lock);
    bool is = bare->clock.ringing_waiters != NULL;
    wf_lock_drop(&bare->clock.lock);
    return is;
}

TEST(a_clock_without_alarms_has_no_thread) {
    int before = wf_os_thread_count();
    struct bell bell;
    bare_begin();
    bell_init(&bell, NULL);
    CHECK(!wf_pool_alarm_clear(bare, &bell.alarm));
    CHECK_EQ(wf_pool_alarm_set(bare, &bell.alarm, WF_NEVER), 0);
    CHECK_EQ(wf_os_thread_count(), before);
    CHECK(!wf_clock_is_inside(bare));
    bare_end();
}

TEST(an_alarm_that_was_taken_back_does_not_ring) {
    struct bell back, stays;
    bare_begin();
    bell_init(&back, NULL);
    bell_init(&stays, NULL);
    int64_t when = wf_os_now() + 5 * WEFT_MILLISECOND;
    CHECK_EQ(wf_pool_alarm_set(bare, &back.alarm, when + WEFT_SECOND), 0);
    CHECK_EQ(wf_pool_alarm_set(bare, &stays.alarm, when + WEFT_SECOND), 0);
    CHECK(wf_pool_alarm_clear(bare, &back.alarm));
    CHECK(!wf_pool_alarm_clear(bare, &back.alarm));
    CHECK_EQ(wf_pool_alarm_set(bare, &stays.alarm, when), 0); /* anew, and earlier */
    WAIT_UNTIL(atomic_load(&stays.rings) == 1);
    CHECK_GE(atomic_load(&stays.rung_at), when);
    CHECK(!wf_pool_alarm_clear(bare, &stays.alarm)); /* it has rung */
    CHECK_EQ(wf_pool_alarm_set(bare, &stays.alarm, wf_os_now() + WEFT_SECOND), 0);
    CHECK_EQ(wf_pool_alarm_set(bare, &stays.alarm, WF_NEVER), 0);
    CHECK(!wf_pool_alarm_clear(bare, &stays.alarm));
    bare_end();
    CHECK_EQ(atomic_load(&back.rings), 0);
    CHECK_EQ(atomic_load(&stays.rings), 1);
}

static atomic_int gate_is_open;
static atomic_int has_returned;

static void wait_at_gate(weft_pool *pool, struct bell *bell) {
    (void)pool;
    (void)bell;
    WAIT_UNTIL(atomic_load(&gate_is_open));
}

static void *clear_bell(void *opaque) {
    struct bell *bell = opaque;
    CHECK(!wf_pool_alarm_clear(bare, &bell->alarm));
    CHECK_EQ(atomic_load(&bell->rings), 1);
    atomic_store(&has_returned, 1);
    return NULL;
}

static void begin_ring(struct bell *bell) {
    bare_begin();
    atomic_store(&gate_is_open, 0);
    atomic_store(&has_returned, 0);
    bell_init(bell, wait_at_gate);
    CHECK_EQ(wf_pool_alarm_set(bare, &bell->alarm, wf_os_now()), 0);
    WAIT_UNTIL(atomic_load(&rings_so_far) == 1);
}

TEST(alarms_ring_once_in_order_and_never_early) {
    enum { COUNT = 40 };
    static struct bell bells[COUNT];
    int64_t when[COUNT];
    struct bell first;
    begin_ring(&first); /* the clock is busy until all are set */
    int64_t now = wf_os_now();
    for (int i = 0; i < COUNT; i++) {
        bell_init(&bells[i], NULL);
        when[i] = now + (i * 7 % COUNT - 3) * WEFT_MILLISECOND / 2; /* a few have passed */
        CHECK_EQ(wf_pool_alarm_set(bare, &bells[i].alarm, when[i]), 0);
    }
    atomic_store(&gate_is_open, 1);
    for (int i = 0; i < COUNT; i++)
        WAIT_UNTIL(atomic_load(&bells[i].rings) == 1);
    bare_end();
    for (int i = 0; i < COUNT; i++) {
        CHECK_EQ(atomic_load(&bells[i].rings), 1);
        CHECK_GE(atomic_load(&bells[i].rung_at), when[i]);
        CHECK_EQ(atomic_load(&bells[i].order), 1 + i * 7 % COUNT);
    }
}

TEST(alarms_of_the_same_moment_ring_in_the_order_of_their_setting) {
    enum { COUNT = 20 };
    static struct bell bells[COUNT];
    struct bell first;
    begin_ring(&first);
    int64_t when = wf_os_now() + WEFT_MILLISECOND;
    for (int i = 0; i < COUNT; i++) {
        bell_init(&bells[i], NULL);
        CHECK_EQ(wf_pool_alarm_set(bare, &bells[i].alarm, when), 0);
    }
    atomic_store(&gate_is_open, 1);
    WAIT_UNTIL(atomic_load(&bells[COUNT - 1].rings) == 1);
    bare_end();
    CHECK_GE(atomic_load(&bells[0].rung_at), when);
    for (int i = 0; i < COUNT; i++)
        CHECK_EQ(atomic_load(&bells[i].order), 1 + i);
}

TEST(taking_back_waits_for_the_end_of_a_ring) {
    struct bell bell, other;
    begin_ring(&bell);
    bell_init(&other, NULL);
    CHECK_EQ(wf_pool_alarm_set(bare, &other.alarm, wf_os_now()), 0);
    CHECK(wf_pool_alarm_clear(bare, &other.alarm)); /* another one: nothing to wait for */
    pthread_t thread = thread_start(clear_bell, &bell);
    WAIT_UNTIL(is_awaited());
    CHECK_EQ(atomic_load(&has_returned), 0);
    atomic_store(&gate_is_open, 1);
    thread_join(thread);
    bare_end();
}

static void *clear_bell_on_fiber(void *opaque) {
    return clear_bell(opaque);
}

static struct bell *fiber_bell;
static void fibers_clear(void) {
    weft_fiber fibers[3];
    for (int i = 0; i < 3; i++)
        SPAWN(&fibers[i], clear_bell_on_fiber, fiber_bell);
    WAIT_UNTIL(is_awaited());
    CHECK_EQ(atomic_load(&has_returned), 0);
    atomic_store(&gate_is_open, 1);
    for (int i = 0; i < 3; i++)
        JOIN(fibers[i], NULL);
}

TEST(fibers_wait_for_the_end_of_a_ring_without_their_threads) {
    struct bell bell;
    begin_ring(&bell);
    fiber_bell = &bell;
    run_fibers(fibers_clear);
    bare_end();
}

static void clear_inside(weft_pool *pool, struct bell *bell) {
    CHECK(wf_clock_is_inside(pool));
    CHECK(!wf_pool_alarm_clear(pool, &bell->alarm));
    CHECK_EQ(wf_pool_alarm_set(pool, &bell->alarm, wf_os_now() + WEFT_SECOND), 0);
    CHECK(wf_pool_alarm_clear(pool, &bell->alarm));
}

TEST(an_alarm_is_taken_back_from_inside_its_own_ring_at_once) {
    struct bell bell;
    bare_begin();
    bell_init(&bell, clear_inside);
    CHECK_EQ(wf_pool_alarm_set(bare, &bell.alarm, wf_os_now()), 0);
    WAIT_UNTIL(atomic_load(&bell.rings) == 1);
    bare_end();
    CHECK_EQ(atomic_load(&bell.rings), 1);
}

static void free_inside(weft_pool *pool, struct bell *bell) {
    struct wf_terms *terms = (struct wf_terms *)(void *)((char *)bell - offsetof(struct wf_terms, timeout_alarm));
    wf_clock_over(pool, terms);
    CHECK_EQ(wf_pool_alarm_set(pool, &terms->deadline_alarm, wf_os_now()), 0); /* too late: it stays off */
    wf_os_free(terms);
}

static void ring_and_free(weft_pool *pool, struct wf_pool_alarm *alarm) {
    free_inside(pool, (struct bell *)alarm);
    atomic_fetch_add(&rings_so_far, 1);
}

TEST(a_ring_may_end_what_its_alarm_is_part_of) {
    bare_begin();
    for (int i = 0; i < 50; i++) {
        struct wf_terms *terms = wf_os_alloc(sizeof *terms);
        CHECK(terms != NULL);
        wf_pool_alarm_init(&terms->timeout_alarm, ring_and_free);
        wf_pool_alarm_init(&terms->deadline_alarm, ring_and_free);
        CHECK_EQ(wf_pool_alarm_set(bare, &terms->deadline_alarm, wf_os_now() + WEFT_SECOND), 0);
        CHECK_EQ(wf_pool_alarm_set(bare, &terms->timeout_alarm, wf_os_now()), 0);
    }
    WAIT_UNTIL(atomic_load(&rings_so_far) == 50);
    CHECK_EQ(bare->clock.reserved, 0);
    bare_end();
}

static void set_again(weft_pool *pool, struct bell *bell) {
    if (atomic_load(&bell->rings) < 4)
        CHECK_EQ(wf_pool_alarm_set(pool, &bell->alarm, atomic_load(&bell->rung_at) + WEFT_MILLISECOND), 0);
}

TEST(a_ring_may_set_its_alarm_again) {
    struct bell bell;
    bare_begin();
    bell_init(&bell, set_again);
    int64_t start = wf_os_now();
    CHECK_EQ(wf_pool_alarm_set(bare, &bell.alarm, start), 0);
    WAIT_UNTIL(atomic_load(&bell.rings) == 5);
    CHECK_GE(atomic_load(&bell.rung_at), start + 4 * WEFT_MILLISECOND);
    bare_end();
    CHECK_EQ(atomic_load(&bell.rings), 5);
}

static atomic_int sleeps;
static void count_sleeps(const char *name) {
    if (strcmp(name, "clock.before_park") == 0)
        atomic_fetch_add(&sleeps, 1);
}

TEST(the_clock_wakes_for_what_is_due_and_for_nothing_else) {
    struct bell bell, later;
    bare_begin();
    bell_init(&bell, NULL);
    bell_init(&later, NULL);
    atomic_store(&sleeps, 0);
    wf_point_hook = count_sleeps;
    int64_t late = wf_os_now() + 1000 * WEFT_SECOND;
    CHECK_EQ(wf_pool_alarm_set(bare, &bell.alarm, late), 0);
    WAIT_UNTIL(atomic_load(&sleeps) == 1);
    for (int i = 0; i < 100; i++) {
        CHECK_EQ(wf_pool_alarm_set(bare, &later.alarm, late + i), 0);
        CHECK_NE(wf_load_relaxed(&bare->clock.parker.word), WF_PARKER_NOTIFIED);
        CHECK(wf_pool_alarm_clear(bare, &later.alarm));
    }
    CHECK_EQ(atomic_load(&sleeps), 1);
    CHECK_EQ(wf_pool_alarm_set(bare, &bell.alarm, wf_os_now()), 0);
    WAIT_UNTIL(atomic_load(&bell.rings) == 1);
    WAIT_UNTIL(atomic_load(&sleeps) == 2);
    CHECK_EQ(wf_pool_alarm_set(bare, &later.alarm, late), 0); /* earlier than never */
    WAIT_UNTIL(atomic_load(&sleeps) == 3);
    bare_end();
    wf_point_hook = NULL;
    CHECK_EQ(atomic_load(&sleeps), 3);
    CHECK_EQ(atomic_load(&later.rings), 0);
}

TEST(a_clock_that_was_stopped_rings_nothing_and_takes_nothing) {
    struct bell set, fresh;
    bare_begin();
    bell_init(&set, NULL);
    bell_init(&fresh, NULL);
    CHECK_EQ(wf_pool_alarm_set(bare, &set.alarm, wf_os_now() + 50 * WEFT_MILLISECOND), 0);
    wf_clock_stop(bare);
    CHECK_EQ(wf_pool_alarm_set(bare, &fresh.alarm, wf_os_now()), -ESHUTDOWN);
    CHECK_EQ(wf_pool_alarm_set(bare, &set.alarm, wf_os_now()), 0);
    CHECK(!wf_pool_alarm_clear(bare, &set.alarm));
    bare_end(); /* a second stop */
    CHECK_EQ(atomic_load(&set.rings), 0);
}

static void stop_inside(weft_pool *pool, struct bell *bell) {
    (void)bell;
    wf_clock_stop(pool);
}

static void stop_from_a_ring(void *unused) {
    (void)unused;
    static struct bell bell;
    bare_begin();
    bell_init(&bell, stop_inside);
    CHECK_EQ(wf_pool_alarm_set(bare, &bell.alarm, wf_os_now()), 0);
    WAIT_UNTIL(false);
}

TEST(stopping_the_clock_from_inside_a_ring_is_fatal) {
    struct child_end end = child_run(stop_from_a_ring, NULL);
    CHECK_CHILD_FATAL(&end, "a handler that the clock of a pool has called ends that pool");
}

TEST(an_alarm_needs_memory_and_a_thread_once) {
    enum { COUNT = 100 };
    static struct bell bells[COUNT];
    bare_begin();
    for (int i = 0; i < COUNT; i++)
        bell_init(&bells[i], NULL);
    int64_t late = wf_os_now() + 100 * WEFT_SECOND;
    wf_fault_order(WF_CALL_ALLOC, 1, ENOMEM, 0);
    CHECK_EQ(wf_pool_alarm_set(bare, &bells[0].alarm, late), -ENOMEM);
    wf_fault_order(WF_CALL_THREAD, 1, EAGAIN, 0);
    CHECK_EQ(wf_pool_alarm_set(bare, &bells[0].alarm, late), -EAGAIN);
    CHECK(!wf_pool_alarm_clear(bare, &bells[0].alarm));
    int refused = 0;
    for (int i = 0; i < COUNT; i++) {
        wf_fault_order(WF_CALL_ALLOC, 1, ENOMEM, 1);
        int error = i == 0 ? -ENOMEM : wf_pool_alarm_set(bare, &bells[i].alarm, late);
        wf_fault_order(WF_CALL_ALLOC, 0, 0, 0);
        if (error) {
            CHECK_EQ(error, -ENOMEM);
            refused++;
            CHECK_EQ(wf_pool_alarm_set(bare, &bells[i].alarm, late), 0);
        }
    }
    CHECK_GE(refused, 2); /* with every growth */
    CHECK_LE(refused, 8);
    wf_fault_order(WF_CALL_COUNT, 1, ENOMEM, 1); /* what was set before can be set again, whatever happens */
    for (int i = 0; i < COUNT; i++)
        CHECK_EQ(wf_pool_alarm_set(bare, &bells[i].alarm, late + i), 0);
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
    bare_end();
}

/* Setters and takers at random: each setting ends by exactly one of a ring, a clear that says so, and another setting. */
enum { STRESS_BELLS = 64 };
static struct bell stress[STRESS_BELLS];
static uint64_t stress_seed;

static void *stress_main(void *opaque) {
    uint64_t random = stress_seed + (uint64_t)(uintptr_t)opaque + 1;
    struct bell *own = &stress[(uintptr_t)opaque * (STRESS_BELLS / 4)];
    long settings[STRESS_BELLS / 4] = {0}, backs[STRESS_BELLS / 4] = {0};
    for (long i = 0; i < scaled(20000, 1000); i++) {
        unsigned which = (unsigned)random_below(&random, STRESS_BELLS / 4);
        if (random_below(&random, 2)) {
            backs[which] += wf_pool_alarm_clear(bare, &own[which].alarm);
            CHECK_EQ(settings[which] - backs[which], atomic_load(&own[which].rings));
        } else if (settings[which] - backs[which] == atomic_load(&own[which].rings)) { /* it is not set */
            int64_t distance = (int64_t)random_below(&random, 200 * WEFT_MICROSECOND);
            settings[which]++;
            CHECK_EQ(wf_pool_alarm_set(bare, &own[which].alarm, wf_os_now() + distance), 0);
        }
    }
    for (int i = 0; i < STRESS_BELLS / 4; i++) {
        backs[i] += wf_pool_alarm_clear(bare, &own[i].alarm);
        CHECK_EQ(settings[i] - backs[i], atomic_load(&own[i].rings));
    }
    return NULL;
}

TEST(every_setting_rings_once_or_is_taken_back_once) {
    pthread_t threads[4];
    stress_seed = wf_test_seed();
    bare_begin();
    for (int i = 0; i < STRESS_BELLS; i++)
        bell_init(&stress[i], NULL);
    for (uintptr_t i = 0; i < 4; i++)
        threads[i] = thread_start(stress_main, (void *)i);
    for (int i = 0; i < 4; i++)
        thread_join(threads[i]);
    bare_end();
}
