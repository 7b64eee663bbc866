/* SPDX-License-Identifier: MIT
 *
 * support/run.h - short forms that suites with a runtime share.
 *
 * Public headers only, so that tests/spec may use them as well.
 *
 *     static void body(void) { ... }         // runs as the first fiber
 *     TEST(something_holds) { run_fibers(body); }
 */
#ifndef WF_SUPPORT_RUN_H
#define WF_SUPPORT_RUN_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "support/check.h"
#include "weft.h"

/* Longest wait for something that has to come; only ever reached by a test that fails. */
#define PATIENCE_NS (60 * WEFT_SECOND)

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { IS_SANITIZED = 1 };
#else
enum { IS_SANITIZED = 0 };
#endif

#ifdef __SANITIZE_THREAD__
enum { IS_THREAD_SANITIZED = 1 };
#else
enum { IS_THREAD_SANITIZED = 0 };
#endif

/* So much of n as this build has time for, at least least. */
static inline long scaled(long n, long least) {
    long size = n * wf_test_scale() / 100;
    return size > least ? size : least;
}

static inline int run_fibers_call(void *opaque) {
    void (**body)(void) = opaque;
    (*body)();
    return 0;
}

/* Runs body as the first fiber of a runtime with these options and WEFT_WORKERS workers. */
static inline void run_fibers_with(const weft_options *options, void (*body)(void)) {
    CHECK_EQ(weft_run(options, run_fibers_call, &body), 0);
}

static inline void run_fibers(void (*body)(void)) {
    run_fibers_with(NULL, body);
}

/* The same, and nobody stands in for a fiber that computes: with one worker the order of all things is strict, however long
 * the machine leaves our thread waiting. */
static inline void run_fibers_strictly(void (*body)(void)) {
    weft_options options = {.max_threads = (unsigned)wf_test_workers() + 1};
    run_fibers_with(&options, body);
}

/* Waits, on a fiber or a thread, until the condition holds; fails when it never does. */
#define WAIT_UNTIL(condition) \
    do { \
        weft_time wait_limit = weft_after(PATIENCE_NS); \
        while (!(condition)) { \
            CHECK_LE(weft_now(), wait_limit); \
            weft_yield(); \
        } \
    } while (0)

#define SPAWN(out, fn, arg) CHECK_EQ(weft_spawn((out), (fn), (arg)), 0)
#define JOIN(fiber, result) CHECK_EQ(weft_join((fiber), (result), WEFT_NEVER), 0)

static inline pthread_t thread_start(void *(*fn)(void *), void *arg) {
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, fn, arg), 0);
    return thread;
}

static inline void thread_join(pthread_t thread) {
    CHECK_EQ(pthread_join(thread, NULL), 0);
}

/* xorshift64*: state must not be 0. */
static inline uint64_t random_next(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

static inline uint64_t random_below(uint64_t *state, uint64_t bound) {
    return (random_next(state) >> 11) % bound;
}

#endif
