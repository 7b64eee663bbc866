/* SPDX-License-Identifier: MIT
 *
 * fault/bind_test.c - no thread, no memory, no permission at any point of binding and of foreign calls.
 *
 * Each way to be bound is tried in a runtime of its own again and again; in try n the n-th system call of one kind fails, until
 * a try passes in which none did; then once more with all calls failing from the n-th on. What is returned is what the
 * contract says, the fiber is bound or not accordingly, messages of others pass meanwhile, and afterwards, with nothing failing
 * any more, everything can be had.
 */
#include "os/fault.h"
#include "support/parked.h"

enum { NTH_MAX = 60, MESSAGES = 50 };

struct trial {
    void (*attempt)(void);
    enum wf_system_call call;
    int error;
    weft_fallback fallback;
    unsigned workers;
    bool every;
    long nth;
    long hits;
};

static struct trial trial;
static weft_chan *channel;
static atomic_int received;
static atomic_int calls;

static void *send_messages(void *arg) {
    for (int i = 0; i < MESSAGES; i++)
        CHECK_EQ(weft_chan_send(channel, &i, WEFT_NEVER), 0);
    return arg;
}

static void *receive_messages(void *arg) {
    int value;
    for (int i = 0; i < MESSAGES; i++) {
        CHECK_EQ(weft_chan_recv(channel, &value, WEFT_NEVER), 0);
        CHECK_EQ(value, i);
        atomic_fetch_add(&received, 1);
        weft_yield();
    }
    return arg;
}

static void count_call(void *arg) {
    (void)arg;
    atomic_fetch_add(&calls, 1);
}

static void *note_start(void *arg) {
    CHECK(weft_is_bound());
    atomic_fetch_add(&calls, 1);
    return arg;
}

static uint32_t bound_now(void) {
    weft_thread_stats stats;
    CHECK_EQ(weft_get_thread_stats(NULL, &stats), 0);
    return stats.bound;
}

/* Whether the fiber is bound as it was told, and not bound after that. */
static void check_outcome(int error) {
    CHECK_EQ(weft_is_bound(), error == 0);
    CHECK_EQ(bound_now(), error == 0);
    if (!error)
        CHECK_EQ(weft_unbind(), 0);
    CHECK(!weft_is_bound());
    CHECK_EQ(bound_now(), 0);
}

static void attempt_bind(void) {
    int error = weft_bind(NULL);
    CHECK(error == 0 || error == -EAGAIN);
    check_outcome(error);
}

static void attempt_bind_with_options(void) {
    int error = weft_bind(&(weft_bind_options){.nice = 1, .cpus = NULL});
    CHECK(error == 0 || error == -EAGAIN || error == -EPERM);
    check_outcome(error);
}

static void attempt_bind_pinned(void) {
    CHECK_EQ(weft_pin(), 0);
    int error = weft_bind(NULL);
    CHECK(error == 0 || error == -EAGAIN);
    CHECK_EQ(weft_is_bound(), error == 0);
    weft_unpin();
    check_outcome(error);
}

static void attempt_spawn(void) {
    weft_fiber fiber = WEFT_NO_FIBER;
    int before = atomic_load(&calls);
    int error = weft_spawn_with(&fiber, &(weft_spawn_options){.bound = true, .name = "bound"}, note_start, &fiber);
    CHECK(error == 0 || error == -EAGAIN || error == -ENOMEM);
    if (!error) {
        void *result = NULL;
        int end = weft_join(fiber, &result, WEFT_NEVER);
        CHECK(end == 0 || end == -ENOMEM);
        CHECK_EQ(result == &fiber, end == 0);
        CHECK_EQ(atomic_load(&calls), before + (end == 0));
    } else {
        CHECK_EQ(fiber.bits, 0);
        CHECK_EQ(atomic_load(&calls), before);
    }
    CHECK_EQ(bound_now(), 0);
}

static void attempt_call(void) {
    int before = atomic_load(&calls);
    int error = weft_ffi_call(count_call, NULL);
    CHECK(error == 0 || (error == -EAGAIN && trial.fallback != WEFT_FALLBACK_BLOCKING));
    CHECK_EQ(atomic_load(&calls), before + (error == 0));
    if (weft_is_bound())
        CHECK_EQ(weft_unbind(), 0);
    CHECK_EQ(bound_now(), 0);
}

static void *be_predicted(void *arg) {
    int error = weft_ffi_call(count_call, NULL);
    CHECK(error == 0 || (error == -EAGAIN && trial.fallback != WEFT_FALLBACK_BLOCKING));
    return arg;
}

static void attempt_predicted(void) {
    weft_fiber fibers[3];
    for (int i = 0; i < 3; i++) {
        int error = weft_spawn(&fibers[i], be_predicted, &fibers[i]);
        CHECK(error == 0 || error == -ENOMEM);
        if (!error) {
            void *result = NULL;
            error = weft_join(fibers[i], &result, WEFT_NEVER);
            CHECK(error == -ENOMEM || result == &fibers[i]);
        }
    }
    CHECK_EQ(bound_now(), 0);
}

static void try_once(void) {
    weft_fiber sender, receiver;
    atomic_store(&received, 0);
    CHECK_EQ(weft_chan_new(&channel, sizeof(int), 0), 0);
    SPAWN(&sender, send_messages, NULL);
    SPAWN(&receiver, receive_messages, NULL);
    WAIT_UNTIL(atomic_load(&received) > 0); /* they have what they need */
    wf_fault_order(trial.call, trial.nth, trial.error, trial.every);
    trial.attempt();
    trial.attempt();
    trial.hits = wf_fault_hits();
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
    CHECK_EQ(weft_bind(NULL), 0); /* all is well again */
    CHECK_EQ(weft_ffi_call(count_call, NULL), 0);
    JOIN(sender, NULL);
    JOIN(receiver, NULL);
    CHECK_EQ(weft_unbind(), 0);
    trial.attempt();
    CHECK_EQ(atomic_load(&received), MESSAGES);
    weft_chan_free(channel);
}

static void sweep(void (*attempt)(void), enum wf_system_call call, int error, weft_fallback fallback) {
    for (int mode = 0; mode < 4; mode++) {
        trial = (struct trial){attempt, call, error, fallback, mode / 2 ? 2 : 1, mode % 2, 0, 1};
        weft_options options = {.workers = trial.workers, .bound_fallback = fallback, .quiet = true};
        while (trial.hits > 0) {
            trial.nth++;
            CHECK_LE(trial.nth, NTH_MAX);
            run_fibers_with(&options, try_once);
        }
    }
}

static void (*const attempts[])(void) = {attempt_bind, attempt_bind_with_options, attempt_bind_pinned, attempt_spawn,
                                         attempt_call, attempt_predicted};

static void sweep_all(enum wf_system_call call, int error) {
    for (size_t i = 0; i < sizeof attempts / sizeof attempts[0]; i++) {
        sweep(attempts[i], call, error, WEFT_FALLBACK_BLOCKING);
        if (attempts[i] == attempt_call || attempts[i] == attempt_predicted) {
            sweep(attempts[i], call, error, WEFT_FALLBACK_WAIT);
            sweep(attempts[i], call, error, WEFT_FALLBACK_ERROR);
        }
    }
}

TEST(without_threads_binding_fails_as_documented) {
    sweep_all(WF_CALL_THREAD, EAGAIN);
}

TEST(without_memory_binding_fails_as_documented) {
    sweep_all(WF_CALL_ALLOC, ENOMEM);
    sweep_all(WF_CALL_MMAP, ENOMEM);
}

TEST(without_permission_binding_fails_as_documented) {
    sweep_all(WF_CALL_POLICY, EPERM);
}

TEST(without_an_alternate_stack_a_thread_is_not_to_be_had) {
    sweep_all(WF_CALL_SIGALTSTACK, ENOMEM);
}

/* At max_threads: as if the system had none. */
static void bind_without_a_thread(void) {
    CHECK_EQ(weft_bind(NULL), -EAGAIN);
    CHECK_EQ(weft_spawn_with(&(weft_fiber){0}, &(weft_spawn_options){.bound = true}, note_start, NULL), -EAGAIN);
    int before = atomic_load(&calls);
    int error = weft_ffi_call(count_call, NULL);
    CHECK_EQ(error, trial.fallback == WEFT_FALLBACK_BLOCKING ? 0 : -EAGAIN);
    CHECK_EQ(atomic_load(&calls), before + (error == 0));
    CHECK_EQ(bound_now(), 0);
    weft_thread_stats stats;
    CHECK_EQ(weft_get_thread_stats(NULL, &stats), 0);
    CHECK_GE(stats.denied, 2);
    CHECK_EQ(stats.fallbacks, error == 0);
}

TEST(at_max_threads_nothing_is_bound) {
    for (int fallback = WEFT_FALLBACK_BLOCKING; fallback <= WEFT_FALLBACK_ERROR; fallback++) {
        weft_options options = {.workers = 2, .max_threads = 3, .bound_fallback = (weft_fallback)fallback};
        trial.fallback = options.bound_fallback;
        run_fibers_with(&options, bind_without_a_thread);
    }
}
