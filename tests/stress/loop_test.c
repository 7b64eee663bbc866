/* SPDX-License-Identifier: MIT
 *
 * stress/loop_test.c - what a loop accepts it runs, once, whoever sleeps, wakes or ends it at whatever moment.
 *
 * Everything is done in all four ways of stress/loop.h. The product has no limit for its waits here: a wake-up that is lost
 * is a suite that hangs.
 */
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/point.h"
#include "os/memory.h"
#include "stress/loop.h"

#include "support/descriptors.h"
#include "weft/loop_promise.h"

/* ---- Many submit to a loop that sleeps whenever it is empty ---- */

enum { PRODUCERS = 100, PAUSE = 64 };

struct producer {
    weft_loop *loop;
    long number;
    long submits;
    long next; /* the owner's: which of its submits comes next */
    uint64_t random;
    pthread_t thread;
};

static struct producer producers[PRODUCERS];
static long run_count; /* the owner's */
static atomic_long sleeps;
static atomic_int may_begin;

static void count_sleeps(const char *name) {
    if (strcmp(name, "loop.before_sleeping") == 0)
        atomic_fetch_add_explicit(&sleeps, 1, memory_order_relaxed);
}

static void run_in_order(void *arg) {
    uintptr_t ticket = (uintptr_t)arg;
    struct producer *producer = &producers[ticket % PRODUCERS];
    CHECK_EQ(ticket / PRODUCERS, producer->next);
    producer->next++;
    run_count++;
}

/* A pause now and then, of whatever length: so the owner comes to its end, and is found asleep or about to be. */
static void *produce(void *opaque) {
    struct producer *producer = opaque;
    while (!atomic_load(&may_begin))
        sched_yield();
    for (long i = 0; i < producer->submits; i++) {
        void *ticket = (void *)(uintptr_t)(i * PRODUCERS + producer->number);
        CHECK_EQ(weft_loop_submit(producer->loop, run_in_order, ticket), 0);
        if (random_below(&producer->random, PAUSE) == 0)
            sched_yield();
    }
    return NULL;
}

static void storm(int way, long submits, uint64_t seed) {
    struct owner owner;
    weft_loop *loop = loop_of(way, (weft_loop_options){.name = "storm"});
    run_count = 0;
    atomic_store(&may_begin, 0);
    CHECK_EQ(weft_loop_keep(loop), 0);
    owner_start(&owner, loop, way);
    WAIT_UNTIL(weft_loop_get_state(loop) == WEFT_LOOP_SLEEPING);
    for (long i = 0; i < PRODUCERS; i++) {
        producers[i] =
            (struct producer){.loop = loop, .number = i, .submits = submits, .random = (seed + (uint64_t)i * 7919) | 1};
        producers[i].thread = thread_start(produce, &producers[i]);
    }
    atomic_store(&may_begin, 1);
    for (int i = 0; i < PRODUCERS; i++)
        thread_join(producers[i].thread);
    weft_loop_unkeep(loop);
    owner_join(&owner);
    CHECK_EQ(owner.status, 0);
    CHECK_EQ(run_count, submits * PRODUCERS);
}

TEST(a_hundred_threads_submit_to_a_loop_that_sleeps_and_each_submit_runs_once) {
    long rounds = amount(1, 1, 20), submits = amount(300, 30, 10000);
    uint64_t seed = wf_test_seed();
    wf_point_hook = count_sleeps;
    for (int way = 0; way < WAYS; way++) {
        atomic_store(&sleeps, 0);
        for (long round = 0; round < rounds; round++)
            storm(way, submits, seed + (uint64_t)round);
        printf("    %s, %s: %ld x %ld submits, asleep %ld times\n", way & 2 ? "fiber" : "thread",
               way & 1 ? "epoll" : "futex", rounds, submits * PRODUCERS, atomic_load(&sleeps));
        CHECK_GE(atomic_load(&sleeps), rounds);
    }
    wf_point_hook = NULL;
}

/* One at a time, each to a loop that was seen asleep: every one of them needs a wake. */
static void run_echo(void *arg) {
    atomic_fetch_add((atomic_long *)arg, 1);
}

static void read_echo(int fd, unsigned events, void *arg) {
    uint64_t value;
    CHECK_EQ(events, WEFT_FD_READ);
    CHECK_EQ(read(fd, &value, sizeof value), sizeof value);
    run_echo(arg);
}

static void wake_one_by_one(int way, bool by_descriptor, long wakes) {
    struct owner owner;
    atomic_long echoes = 0;
    uint64_t one = 1;
    weft_loop *loop = loop_of(way, (weft_loop_options){.name = "echo"});
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    CHECK_GE(fd, 0);
    CHECK_EQ(weft_loop_keep(loop), 0);
    owner_start(&owner, loop, way);
    WAIT_UNTIL(weft_loop_get_state(loop) == WEFT_LOOP_SLEEPING);
    if (by_descriptor) /* it sleeps already, perhaps without epoll */
        CHECK_EQ(weft_loop_fd_add(loop, fd, WEFT_FD_READ, read_echo, &echoes), 0);
    for (long i = 0; i < wakes; i++) {
        WAIT_UNTIL(weft_loop_get_state(loop) == WEFT_LOOP_SLEEPING);
        if (by_descriptor)
            CHECK_EQ(write(fd, &one, sizeof one), sizeof one);
        else
            CHECK_EQ(weft_loop_submit(loop, run_echo, &echoes), 0);
        WAIT_UNTIL(atomic_load(&echoes) == i + 1);
    }
    WAIT_UNTIL(weft_loop_get_state(loop) == WEFT_LOOP_SLEEPING);
    if (by_descriptor)
        CHECK_EQ(weft_loop_fd_remove(loop, fd), 0);
    weft_loop_unkeep(loop);
    owner_join(&owner);
    close(fd);
}

TEST(every_submit_to_a_loop_that_was_seen_asleep_wakes_it) {
    for (int way = 0; way < WAYS; way++)
        wake_one_by_one(way, false, amount(800, 50, 100000));
}

TEST(every_readiness_of_a_descriptor_wakes_a_loop_that_was_seen_asleep) {
    for (int way = 0; way < WAYS; way++)
        wake_one_by_one(way, true, amount(400, 50, 100000));
}

/* ---- Ends: what was accepted and what was run ---- */

enum { PUSHERS = 4, BACKLOG = 1000 };

enum end_way { END_SHUTDOWN, END_SHUTDOWN_TWICE, END_FROM_CALLBACK, END_BEFORE_RUN, END_CLOSE, END_BOTH, END_WAYS };

struct push_round {
    weft_loop *loop;
    atomic_long accepted;
    atomic_long executed;
    atomic_int is_over; /* the end has been reported to somebody */
    uint64_t seed;
    atomic_int next;
};

static struct push_round push_round;

static void run_pushed(void *arg) {
    CHECK(!atomic_load(&push_round.is_over));
    atomic_fetch_add_explicit(&push_round.executed, 1, memory_order_relaxed);
    if (arg &&
        random_below(&(uint64_t){(uintptr_t)arg}, 3) == 0) { /* what it adds is accepted or refused like all else */
        int status = weft_loop_microtask(push_round.loop, run_pushed, NULL);
        CHECK_EQ(status, 0);
        atomic_fetch_add(&push_round.accepted, 1);
        if (weft_loop_submit(push_round.loop, run_pushed, NULL) == 0)
            atomic_fetch_add(&push_round.accepted, 1);
    }
}

static int push_one(weft_loop *loop, uint64_t *random) {
    void *arg = (void *)(uintptr_t)(random_next(random) | 1);
    switch (random_below(random, 7)) {
    case 0:
        return weft_loop_submit_internal(loop, run_pushed, arg);
    case 1:
        return weft_loop_microtask(loop, run_pushed, arg);
    case 2:
        return weft_loop_next_tick(loop, run_pushed, arg);
    case 3:
        return weft_loop_checkpoint_end(loop, run_pushed, arg);
    case 4:
        return weft_loop_close_callback(loop, run_pushed, arg);
    case 5:
        return weft_set_immediate(loop, NULL, run_pushed, arg);
    default:
        return weft_loop_submit(loop, run_pushed, arg);
    }
}

/* More than that need not lie there. */
static bool is_ahead(const weft_loop *loop) {
    long waiting = atomic_load(&push_round.accepted) - atomic_load(&push_round.executed);
    return waiting > BACKLOG && weft_loop_get_state(loop) < WEFT_LOOP_TERMINATING;
}

static void *push_until_refused(void *opaque) {
    weft_loop *loop = opaque;
    uint64_t random = (push_round.seed + (uint64_t)atomic_fetch_add(&push_round.next, 1) * 7919) | 1;
    int status;
    while ((status = push_one(loop, &random)) == 0) {
        atomic_fetch_add(&push_round.accepted, 1);
        if (random_below(&random, 8) == 0)
            sched_yield();
        while (is_ahead(loop))
            sched_yield();
    }
    CHECK_EQ(status, -EPIPE);
    CHECK_EQ(push_one(loop, &random), -EPIPE); /* and so it stays */
    return NULL;
}

static void *end_by_shutdown(void *opaque) {
    int status = weft_loop_shutdown(opaque, WEFT_NEVER);
    CHECK(status == 0 || status == -EPIPE);
    atomic_store(&push_round.is_over, 1);
    return NULL;
}

static void *end_by_close(void *opaque) {
    int status = weft_loop_close(opaque, WEFT_NEVER);
    CHECK(status == 0 || status == -EPIPE);
    atomic_store(&push_round.is_over, 1);
    return NULL;
}

static void end_from_callback(void *opaque) {
    CHECK_EQ(weft_loop_close(opaque, WEFT_NEVER), -EDEADLK);
    CHECK_EQ(weft_loop_shutdown(opaque, WEFT_NEVER), -EINPROGRESS);
}

static void end_it(weft_loop *loop, enum end_way end) {
    pthread_t other;
    switch (end) {
    case END_FROM_CALLBACK:
        CHECK_EQ(weft_loop_submit(loop, end_from_callback, loop), 0);
        CHECK_EQ(weft_loop_join(loop, WEFT_NEVER), 0);
        atomic_store(&push_round.is_over, 1);
        break;
    case END_SHUTDOWN_TWICE:
        other = thread_start(end_by_shutdown, loop);
        end_by_shutdown(loop);
        thread_join(other);
        break;
    case END_BOTH:
        other = thread_start(end_by_shutdown, loop);
        end_by_close(loop);
        thread_join(other);
        break;
    case END_CLOSE:
        end_by_close(loop);
        break;
    default:
        end_by_shutdown(loop);
    }
}

static void push_and_end(int way, enum end_way end, uint64_t seed) {
    struct owner owner;
    pthread_t threads[PUSHERS];
    weft_loop *loop = loop_of(way, (weft_loop_options){.name = "ends"});
    push_round = (struct push_round){.loop = loop, .seed = seed};
    CHECK_EQ(weft_loop_keep(loop), 0);
    if (end != END_BEFORE_RUN)
        owner_start(&owner, loop, way);
    for (int i = 0; i < PUSHERS; i++)
        threads[i] = thread_start(push_until_refused, loop);
    while (atomic_load(&push_round.accepted) < (long)(seed % 200))
        sched_yield();
    end_it(loop, end);
    long executed = atomic_load(&push_round.executed);
    for (int i = 0; i < PUSHERS; i++)
        thread_join(threads[i]);
    weft_loop_unkeep(loop);
    if (end != END_BEFORE_RUN)
        owner_join(&owner);
    else
        weft_loop_unref(loop);
    CHECK_EQ(atomic_load(&push_round.executed), executed);
    if (end == END_CLOSE || end == END_BOTH)
        CHECK_LE(executed, atomic_load(&push_round.accepted));
    else
        CHECK_EQ(executed, atomic_load(&push_round.accepted));
}

static void rounds_of_ends(enum end_way first, enum end_way last, long rounds) {
    uint64_t random = wf_test_seed() | 1;
    for (long round = 0; round < rounds; round++) {
        enum end_way end = first + (enum end_way)(round / WAYS % (long)(last - first + 1));
        push_and_end((int)(round % WAYS), end, random_next(&random) >> 11);
    }
}

TEST(all_that_was_accepted_before_a_shutdown_is_run_and_nothing_after_it) {
    rounds_of_ends(END_SHUTDOWN, END_BEFORE_RUN, amount(64, 16, 1000));
}

TEST(after_a_close_nothing_runs_and_nothing_is_left) {
    rounds_of_ends(END_CLOSE, END_BOTH, amount(32, 8, 1000));
}

static void not_to_be_called(void *arg) {
    (void)arg;
    CHECK(!"a loop that nobody ran has called back");
}

static void not_ready(int fd, unsigned events, void *arg) {
    (void)fd, (void)events;
    not_to_be_called(arg);
}

/* A runtime that abandons the fiber which runs the loop closes it. */
static void *run_abandoned(void *opaque) {
    weft_loop_run(opaque, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER);
    return NULL;
}

static int leave_it(void *opaque) {
    CHECK_EQ(weft_go(run_abandoned, opaque), 0);
    WAIT_UNTIL(atomic_load(&push_round.executed) >= (long)(push_round.seed % 50));
    return 0;
}

TEST(a_loop_whose_fiber_is_abandoned_ends_for_everybody) {
    long rounds = amount(24, 8, 1000);
    uint64_t random = wf_test_seed() | 1;
    weft_options options = {.abandon = true};
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    CHECK_GE(fd, 0);
    for (long round = 0; round < rounds; round++) {
        pthread_t threads[PUSHERS];
        weft_loop *loop = loop_of((int)(round % WAYS), (weft_loop_options){.name = "abandoned"});
        push_round = (struct push_round){.loop = loop, .seed = random_next(&random) >> 11};
        CHECK_EQ(weft_loop_keep(loop), 0);
        if (round & 4)
            CHECK_EQ(weft_loop_fd_add(loop, fd, WEFT_FD_READ, not_ready, NULL), 0);
        for (int i = 0; i < PUSHERS; i++)
            threads[i] = thread_start(push_until_refused, loop);
        CHECK_EQ(weft_run(&options, leave_it, loop), 0);
        if (weft_loop_get_state(loop) == WEFT_LOOP_AWAKE) /* it was not even begun */
            CHECK_EQ(weft_loop_close(loop, WEFT_NEVER), 0);
        CHECK_EQ(weft_loop_join(loop, WEFT_NEVER), 0);
        atomic_store(&push_round.is_over, 1);
        for (int i = 0; i < PUSHERS; i++)
            thread_join(threads[i]);
        weft_loop_unkeep(loop);
        weft_loop_unref(loop);
        CHECK_LE(atomic_load(&push_round.executed), atomic_load(&push_round.accepted));
    }
    close(fd);
}

/* ---- The end of its own accord, against those who still come ---- */

static void *keep_and_submit(void *opaque) {
    weft_loop *loop = opaque;
    uint64_t random = (push_round.seed + (uint64_t)atomic_fetch_add(&push_round.next, 1) * 7919) | 1;
    for (;;) {
        if (random_below(&random, 2)) {
            int status = weft_loop_keep(loop);
            CHECK(status == 0 || status == -EPIPE);
            if (status)
                return NULL;
            CHECK_EQ(weft_loop_submit(loop, run_pushed, NULL), 0); /* it is alive: it cannot have ended */
            atomic_fetch_add(&push_round.accepted, 1);
            weft_loop_unkeep(loop);
        } else {
            int status = push_one(loop, &random);
            CHECK(status == 0 || status == -EPIPE);
            if (status)
                return NULL;
            atomic_fetch_add(&push_round.accepted, 1);
        }
        for (uint64_t i = random_below(&random, 6); i > 0; i--)
            sched_yield();
    }
}

TEST(a_loop_that_ends_by_itself_has_run_all_that_it_accepted) {
    long rounds = amount(48, 12, 1000);
    uint64_t random = wf_test_seed() | 1;
    for (long round = 0; round < rounds; round++) {
        struct owner owner;
        pthread_t threads[2];
        weft_loop *loop = loop_of((int)(round % WAYS), (weft_loop_options){.name = "quiet"});
        push_round = (struct push_round){.loop = loop, .seed = random_next(&random) >> 11};
        for (int i = 0; i < 2; i++)
            threads[i] = thread_start(keep_and_submit, loop);
        owner_start(&owner, loop, (int)(round % WAYS));
        for (int i = 0; i < 2; i++)
            thread_join(threads[i]);
        CHECK_EQ(weft_loop_join(loop, WEFT_NEVER), 0);
        owner_join(&owner);
        CHECK_EQ(owner.status, 0);
        CHECK_EQ(atomic_load(&push_round.executed), atomic_load(&push_round.accepted));
    }
}

/* ---- One owner after another ---- */

enum { OWNERS = 3, HEIRS_SUBMIT = 2 };

static int heir_fd;
static atomic_long busy; /* times somebody else had it */

/* Runs it now and then, in every mode, until it is over. What it counts is plain memory: it goes from owner to owner. */
static int run_now_and_then(void *opaque) {
    struct owner *owner = opaque;
    uint64_t random = (uint64_t)(uintptr_t)owner | 1;
    for (;;) {
        weft_loop_mode mode = (weft_loop_mode)random_below(&random, 3);
        weft_time deadline = weft_after((int64_t)random_below(&random, 200) * WEFT_MICROSECOND);
        int status = weft_loop_run(owner->loop, mode, deadline);
        if (status == -EPIPE)
            return 0;
        CHECK(status == 0 || status == 1 || status == -EBUSY || status == -ETIMEDOUT);
        atomic_fetch_add(&busy, status == -EBUSY);
        weft_yield();
    }
}

static void read_and_count(int fd, unsigned events, void *arg) {
    uint64_t value;
    CHECK_EQ(events, WEFT_FD_READ);
    CHECK_EQ(read(fd, &value, sizeof value), sizeof value);
    *(long *)arg += (long)value;
}

static void count_run(void *arg) {
    (void)arg;
    run_count++;
}

static void *submit_and_write(void *opaque) {
    long submits = amount(1000, 100, 100000);
    uint64_t one = 1;
    for (long i = 0; i < submits; i++) {
        CHECK_EQ(weft_loop_submit(opaque, count_run, NULL), 0);
        CHECK_EQ(write(heir_fd, &one, sizeof one), sizeof one);
        if (i % 16 == 0)
            sched_yield();
    }
    return NULL;
}

TEST(a_loop_goes_from_owner_to_owner_and_loses_nothing) {
    struct owner owners[OWNERS];
    pthread_t threads[HEIRS_SUBMIT];
    long read_count = 0, submits = amount(1000, 100, 100000);
    weft_loop *loop = loop_of(0, (weft_loop_options){.name = "heirs", .stays = true});
    heir_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    CHECK_GE(heir_fd, 0);
    run_count = 0;
    CHECK_EQ(weft_loop_fd_add(loop, heir_fd, WEFT_FD_READ, read_and_count, &read_count), 0);
    for (int i = 0; i < OWNERS; i++)
        owner_start_with(&owners[i], weft_loop_ref(loop), i == 0 ? 0 : 2,
                         run_now_and_then); /* a thread, two runtimes */
    for (int i = 0; i < HEIRS_SUBMIT; i++)
        threads[i] = thread_start(submit_and_write, loop);
    for (int i = 0; i < HEIRS_SUBMIT; i++)
        thread_join(threads[i]);
    CHECK_EQ(weft_loop_shutdown(loop, WEFT_NEVER), 0);
    for (int i = 0; i < OWNERS; i++)
        owner_join(&owners[i]);
    uint64_t rest = 0; /* what nobody has read; a read that fails leaves it so */
    CHECK(read(heir_fd, &rest, sizeof rest) == sizeof rest || errno == EAGAIN);
    CHECK_EQ(run_count, submits * HEIRS_SUBMIT);
    CHECK_EQ(read_count + (long)rest, submits * HEIRS_SUBMIT);
    printf("    %ld times somebody else had it\n", atomic_exchange(&busy, 0));
    weft_loop_unref(loop);
    close(heir_fd);
}

/* ---- Made and ended, with everything still pending ---- */

static weft_reply settled(void *value, void *arg) {
    (void)arg;
    return weft_reply_value(value);
}

/* By chance, so much of everything. */
static void leave_pending(weft_loop *loop, const int *ends, uint64_t *random) {
    for (uint64_t i = random_below(random, 80); i > 0; i--) {
        CHECK_EQ(weft_set_timeout(loop, NULL, WEFT_SECOND, not_to_be_called, NULL), 0);
        CHECK_EQ(weft_set_interval(loop, NULL, WEFT_SECOND, not_to_be_called, NULL), 0);
    }
    if (random_below(random, 2))
        CHECK_EQ(weft_loop_fd_add(loop, ends[0], WEFT_FD_READ, not_ready, NULL), 0);
    if (random_below(random, 2))
        CHECK_EQ(weft_loop_fd_add(loop, ends[1], WEFT_FD_READ, not_ready, NULL), 0);
    if (random_below(random, 4) == 0)
        CHECK_GE(weft_loop_backend_fd(loop), 0);
    if (random_below(random, 2))
        CHECK_EQ(weft_loop_keep(loop), 0);
}

/* Each way of ending a loop runs what was submitted, or drops it. */
static void submit_some(weft_loop *loop, weft_loop_fn fn, uint64_t *random) {
    for (uint64_t i = random_below(random, 20); i > 0; i--) {
        CHECK_EQ(weft_loop_submit(loop, fn, NULL), 0);
        CHECK_EQ(weft_loop_microtask(loop, fn, NULL), 0);
        CHECK_EQ(weft_set_immediate(loop, NULL, fn, NULL), 0);
    }
}

static void do_nothing(void *arg) {
    (void)arg;
}

static void make_and_end(const int *ends, uint64_t *random) {
    weft_loop *loop = loop_of((int)random_below(random, WAYS), (weft_loop_options){.metrics = random_below(random, 2)});
    weft_promise *promise = NULL, *derived = NULL;
    weft_outcome outcome;
    leave_pending(loop, ends, random);
    CHECK_EQ(weft_loop_promise(loop, &promise), 0);
    if (random_below(random, 2))
        CHECK_EQ(weft_loop_then(loop, promise, &derived, settled, NULL, NULL), 0);
    bool is_resolved = random_below(random, 2);
    switch (random_below(random, 4)) {
    case 0: /* by the last reference */
        submit_some(loop, not_to_be_called, random);
        break;
    case 1:
        submit_some(loop, not_to_be_called, random);
        CHECK_EQ(weft_loop_close(loop, WEFT_NEVER), 0);
        break;
    case 2:
        submit_some(loop, do_nothing, random);
        CHECK_EQ(weft_loop_shutdown(loop, WEFT_NEVER), 0);
        break;
    default:
        submit_some(loop, do_nothing, random);
        CHECK_GE(weft_loop_run(loop, WEFT_LOOP_NO_WAIT, WEFT_NOW), 0);
        if (is_resolved)
            CHECK_EQ(weft_promise_resolve(promise, NULL), 0);
    }
    weft_loop_unref(loop);
    CHECK_EQ(weft_promise_await(promise, &outcome, WEFT_NOW), 0);
    CHECK(outcome.state == WEFT_PROMISE_RESOLVED || outcome.error == -EPIPE);
    if (derived)
        CHECK_EQ(weft_promise_await(derived, &outcome, WEFT_NOW), 0);
    weft_promise_unref(derived);
    weft_promise_unref(promise);
}

TEST(loops_made_and_ended_leave_no_descriptor_and_no_byte) {
    long cycles = amount(1000, 50, 10000);
    uint64_t random = wf_test_seed() | 1;
    int ends[2];
    CHECK_EQ(pipe(ends), 0);
    int descriptors = count_descriptors();
    int64_t blocks = wf_os_live_blocks(), mapped = wf_os_mapped_bytes();
    for (long i = 0; i < cycles; i++) {
        make_and_end(ends, &random);
        CHECK_EQ(wf_os_live_blocks(), blocks);
        CHECK_EQ(wf_os_mapped_bytes(), mapped);
        if (i % 100 == 0)
            CHECK_EQ(count_descriptors(), descriptors);
    }
    CHECK_EQ(count_descriptors(), descriptors);
    close(ends[0]);
    close(ends[1]);
}
