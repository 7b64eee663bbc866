/* SPDX-License-Identifier: MIT
 *
 * unit/sched/sentry_test.c - descriptors that the engine's poller watches: told once each time, and never after removal.
 *
 * The engine is that of a runtime; a sentry counts how often it was told, and a fiber or a plain thread waits for that.
 */
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/list.h"
#include "base/point.h"
#include "os/fault.h"
#include "sched/engine.h"
#include "support/door.h"
#include "support/rendezvous.h"
#include "wait/wait.h"

struct post {
    struct wf_sentry sentry;
    int fd;
    atomic_int told;
};

static atomic_int blocks_now; /* ready is to stay where it is */
static atomic_int is_inside;

static struct wf_engine *engine_here(void) {
    return &wf_worker_self()->fibers->engine;
}

static void count_told(struct wf_sentry *sentry, uint32_t events) {
    (void)events;
    struct post *post = WF_CONTAINER(sentry, struct post, sentry);
    atomic_store(&is_inside, 1);
    while (atomic_load(&blocks_now))
        sched_yield();
    atomic_fetch_add(&post->told, 1);
}

static void post_open(struct post *post) {
    *post = (struct post){.sentry.ready = count_told};
    post->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    CHECK_GE(post->fd, 0);
    CHECK_EQ(wf_sentry_add(&engine_here()->sentries, &post->sentry, post->fd), 0);
}

static void post_close(struct post *post) {
    wf_sentry_remove(&post->sentry);
    CHECK(!post->sentry.sentries);
    close(post->fd);
}

static void set_readable(const struct post *post) {
    uint64_t one = 1;
    CHECK_EQ(write(post->fd, &one, sizeof one), sizeof one);
}

static void set_quiet(const struct post *post) {
    uint64_t count;
    CHECK_EQ(read(post->fd, &count, sizeof count), sizeof count);
}

static uint32_t armed_now(void) {
    return wf_load_relaxed(&engine_here()->sentries.armed);
}

static void once_each_time(void) {
    struct post post;
    post_open(&post);
    CHECK_EQ(armed_now(), 1);
    CHECK_EQ(wf_sentry_arm(&post.sentry), 0); /* again: nothing changes */
    CHECK_EQ(armed_now(), 1);
    for (int i = 1; i <= 50; i++) {
        set_readable(&post);
        WAIT_UNTIL(atomic_load(&post.told) == i);
        CHECK_EQ(armed_now(), 0);
        if (i % 2)
            set_quiet(&post);
        CHECK_EQ(weft_sleep(weft_after(WEFT_MICROSECOND)), 0);
        CHECK_EQ(atomic_load(&post.told), i); /* as long as it is not armed, though it may be readable */
        if (i % 2 == 0)
            set_quiet(&post);
        CHECK_EQ(wf_sentry_arm(&post.sentry), 0);
    }
    post_close(&post);
    CHECK_EQ(armed_now(), 0);
}

TEST(a_sentry_is_told_once_each_time_it_is_armed) {
    run_fibers(once_each_time);
}

static void readable_before(void) {
    struct post post = {.sentry.ready = count_told};
    post.fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
    CHECK_EQ(wf_sentry_add(&engine_here()->sentries, &post.sentry, post.fd), 0);
    WAIT_UNTIL(atomic_load(&post.told) == 1);
    CHECK_EQ(wf_sentry_arm(&post.sentry), 0);
    WAIT_UNTIL(atomic_load(&post.told) == 2);
    post_close(&post);
}

TEST(what_is_readable_when_it_is_armed_is_told) {
    run_fibers(readable_before);
}

enum { POSTS = 100 };

/* More than one wait tells, and more than there is room for at first. Every other one goes in between. */
static void many(void) {
    static struct post posts[POSTS];
    for (int i = 0; i < POSTS; i++)
        post_open(&posts[i]);
    CHECK_EQ(armed_now(), POSTS);
    for (int round = 1; round <= 3; round++) {
        for (int i = 0; i < POSTS; i += 2) {
            post_close(&posts[i]);
            post_open(&posts[i]);
        }
        for (int i = 0; i < POSTS; i++)
            set_readable(&posts[i]);
        for (int i = 0; i < POSTS; i++) {
            WAIT_UNTIL(atomic_load(&posts[i].told) == (i % 2 ? round : 1));
            set_quiet(&posts[i]);
            CHECK_EQ(wf_sentry_arm(&posts[i].sentry), 0);
        }
    }
    for (int i = 0; i < POSTS; i++)
        post_close(&posts[i]);
}

TEST(many_sentries_come_and_go) {
    run_fibers(many);
}

/* ---- Removal ---- */

static struct post hunted;
static struct post heir; /* gets the slot of the one that went */
static atomic_int is_caught;
static atomic_int is_gone;

static atomic_int is_hunting;
static atomic_int is_waiting;

/* A worker has a tag in hand; meanwhile its sentry goes, and another one takes its slot. And: a removal waits. */
static void sentry_hook(const char *name) {
    if (strcmp(name, "sentry.before_removal") == 0)
        atomic_store(&is_waiting, 1);
    if (strcmp(name, "sentry.before_call") != 0 || !atomic_exchange(&is_hunting, 0))
        return;
    atomic_store(&is_caught, 1);
    while (!atomic_load(&is_gone))
        sched_yield();
}

__attribute__((constructor)) static void sentry_hook_install(void) {
    wf_point_hook = sentry_hook;
}

static void *replace_from_outside(void *arg) {
    struct wf_engine *engine = arg;
    while (!atomic_load(&is_caught))
        sched_yield();
    wf_sentry_remove(&hunted.sentry);
    CHECK_EQ(wf_sentry_add(&engine->sentries, &heir.sentry, heir.fd), 0);
    CHECK_EQ(heir.sentry.index, 0);
    atomic_store(&is_gone, 1);
    return NULL;
}

static void stale_tag(void) {
    atomic_store(&is_caught, 0);
    atomic_store(&is_gone, 0);
    post_open(&hunted);
    heir = (struct post){.sentry.ready = count_told, .fd = eventfd(0, EFD_CLOEXEC)};
    atomic_store(&is_hunting, 1);
    pthread_t thread = thread_start(replace_from_outside, engine_here());
    set_readable(&hunted);
    WAIT_UNTIL(atomic_load(&is_gone));
    thread_join(thread);
    set_readable(&heir);
    WAIT_UNTIL(atomic_load(&heir.told) == 1);
    CHECK_EQ(atomic_load(&hunted.told), 0);
    close(hunted.fd);
    post_close(&heir);
}

TEST(a_tag_whose_sentry_has_gone_reaches_nobody) {
    run_fibers(stale_tag);
}

static void *remove_from_outside(void *arg) {
    wf_sentry_remove(&hunted.sentry);
    CHECK_EQ(atomic_load(&hunted.told), 1); /* it has returned */
    atomic_store(&is_gone, 1);
    return arg;
}

static void *release_when_waiting(void *arg) {
    while (!atomic_load(&is_inside))
        sched_yield();
    pthread_t thread = thread_start(remove_from_outside, NULL);
    while (!atomic_load(&is_waiting))
        sched_yield();
    CHECK(!atomic_load(&is_gone));
    atomic_store(&blocks_now, 0);
    thread_join(thread);
    return arg;
}

static void running_call(void) {
    atomic_store(&is_gone, 0);
    atomic_store(&is_waiting, 0);
    atomic_store(&is_inside, 0);
    atomic_store(&blocks_now, 1);
    post_open(&hunted);
    pthread_t thread = thread_start(release_when_waiting, NULL);
    set_readable(&hunted);
    WAIT_UNTIL(atomic_load(&is_gone));
    thread_join(thread);
    close(hunted.fd);
}

TEST(a_removal_waits_for_a_call_that_is_running) {
    run_fibers(running_call);
}

static void *arm_and_remove(void *arg) {
    struct wf_engine *engine = arg;
    struct post post = {.sentry.ready = count_told, .fd = eventfd(1, EFD_CLOEXEC)};
    long rounds = scaled(2000, 100);
    for (long i = 0; i < rounds; i++) {
        CHECK_EQ(wf_sentry_add(&engine->sentries, &post.sentry, post.fd), 0);
        if (i % 3 == 0)
            sched_yield();
        if (i % 5 == 0)
            CHECK_EQ(wf_sentry_arm(&post.sentry), 0);
        wf_sentry_remove(&post.sentry);
        int told = atomic_load(&post.told);
        atomic_store(&post.told, told + 1);
        sched_yield();
        CHECK_EQ(atomic_load(&post.told), told + 1); /* nobody calls any more */
    }
    close(post.fd);
    return NULL;
}

static void removal_storm(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        threads[i] = thread_start(arm_and_remove, engine_here());
    weft_blocking_begin();
    for (int i = 0; i < 3; i++)
        thread_join(threads[i]);
    weft_blocking_end();
    CHECK_EQ(armed_now(), 0);
}

TEST(adding_and_removing_race_with_the_poller) {
    run_fibers(removal_storm);
}

/* ---- Nobody polls ---- */

static atomic_int is_noticed;
static struct post busy_post;

static void *yield_on(void *arg) {
    while (!atomic_load(&is_noticed))
        weft_yield();
    return arg;
}

static void *compute_on(void *arg) {
    COMPUTE_UNTIL(atomic_load(&is_noticed));
    return arg;
}

static void *be_readable(void *arg) {
    set_readable(&busy_post);
    COMPUTE_UNTIL(atomic_load(&busy_post.told) == 1);
    atomic_store(&is_noticed, 1);
    return arg;
}

static void busy_with(weft_fn fn) {
    weft_fiber fibers[64];
    unsigned count = 2 * wf_test_workers();
    atomic_store(&is_noticed, 0);
    post_open(&busy_post);
    for (unsigned i = 0; i < count; i++)
        SPAWN(&fibers[i], fn, NULL);
    pthread_t thread = thread_start(be_readable, NULL);
    for (unsigned i = 0; i < count; i++)
        JOIN(fibers[i], NULL);
    thread_join(thread);
    post_close(&busy_post);
}

static void busy_yielding(void) {
    busy_with(yield_on);
}

static void busy_computing(void) {
    busy_with(compute_on);
}

TEST(a_sentry_is_told_while_no_worker_sleeps) {
    run_fibers(busy_yielding);
}

TEST(a_sentry_is_told_while_all_workers_compute) {
    run_fibers(busy_computing);
}

/* ---- Everybody sleeps ---- */

static struct rendezvous morning;

static uint64_t count_sleeps(struct wf_engine *engine) {
    uint64_t sum = 0;
    for (uint32_t i = 0, limit = wf_engine_limit(engine); i < limit; i++)
        sum += wf_load_relaxed(&engine->processors[i]->counters.polls) +
               wf_load_relaxed(&engine->processors[i]->counters.worker_parks);
    return sum;
}

static void *look_at_idleness(void *arg) {
    struct wf_engine *engine = arg;
    COMPUTE_UNTIL(wf_load_relaxed(&engine->poll_deadline) == INT64_MAX && wf_load_seq_cst(&engine->monitor.is_asleep));
    uint64_t before = count_sleeps(engine);
    poll(NULL, 0, 50); /* a while in which nothing is to happen */
    CHECK_EQ(count_sleeps(engine), before);
    CHECK(wf_load_seq_cst(&engine->monitor.is_asleep));
    CHECK_EQ(rendezvous_send(&morning, NULL, WEFT_NEVER), 0);
    return NULL;
}

static void idle_engine(void) {
    struct post post;
    void *value;
    post_open(&post);
    pthread_t thread = thread_start(look_at_idleness, engine_here());
    CHECK_EQ(rendezvous_receive(&morning, &value, WEFT_NEVER), 0);
    thread_join(thread);
    CHECK_EQ(atomic_load(&post.told), 0);
    post_close(&post);
}

TEST(an_engine_with_a_sentry_and_nothing_to_do_does_not_wake_up) {
    weft_options options = {.no_deadlock_report = true};
    run_fibers_with(&options, idle_engine);
}

/* ---- Errors ---- */

static void refused(void) {
    struct post post = {.sentry.ready = count_told, .fd = eventfd(0, EFD_CLOEXEC)};
    wf_fault_order_here(WF_CALL_ALLOC, 1, ENOMEM, 0);
    CHECK_EQ(wf_sentry_add(&engine_here()->sentries, &post.sentry, post.fd), -ENOMEM);
    wf_fault_order_here(WF_CALL_EPOLL_CTL, 1, ENOSPC, 0);
    CHECK_EQ(wf_sentry_add(&engine_here()->sentries, &post.sentry, post.fd), -ENOSPC);
    wf_fault_order(WF_CALL_EPOLL_CTL, 0, 0, 0);
    CHECK_EQ(wf_sentry_add(&engine_here()->sentries, &post.sentry, -1), -EBADF);
    CHECK(!post.sentry.sentries);
    CHECK_EQ(armed_now(), 0);
    CHECK_EQ(wf_sentry_add(&engine_here()->sentries, &post.sentry, post.fd), 0);
    set_readable(&post);
    WAIT_UNTIL(atomic_load(&post.told) == 1);
    wf_fault_order_here(WF_CALL_EPOLL_CTL, 1, ENOMEM, 0);
    CHECK_EQ(wf_sentry_arm(&post.sentry), -ENOMEM);
    wf_fault_order(WF_CALL_EPOLL_CTL, 0, 0, 0);
    CHECK_EQ(armed_now(), 0);
    CHECK_EQ(wf_sentry_arm(&post.sentry), 0);
    WAIT_UNTIL(atomic_load(&post.told) == 2);
    post_close(&post);
}

TEST(a_sentry_that_is_refused_is_as_before) {
    run_fibers(refused);
}
