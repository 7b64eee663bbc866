/* SPDX-License-Identifier: MIT
 *
 * support/loop.h - a loop under test, played by a script of words, and a trace of what it ran.
 *
 *     when("T1", "tick:n micro:p");          // T1, when it runs, asks for these
 *     play("timer:T1 timer:T2");
 *     finish("T1 n p T2");                   // runs the loop to its end and compares the trace
 *
 * An order is kind:name, or kind<milliseconds>:name. Every named part that runs is written to the trace, checks that it runs
 * where the loop runs, calls its function, if it has one, and plays its own orders. The kinds are in orders[] below.
 *
 * One loop at a time, in *loop*. Public headers only, so that tests/spec may use it as well. Bodies take no argument and run
 * on a plain thread and on a fiber alike: both_ways.
 */
#ifndef WF_SUPPORT_LOOP_H
#define WF_SUPPORT_LOOP_H

#include "support/run.h"

enum { LOOP_PARTS = 96, LOOP_NAME = 16, LOOP_TRACE = 8192 };

struct part {
    char name[LOOP_NAME];
    const char *orders;
    void (*fn)(void);
    weft_loop_timer timer;
    weft_immediate immediate;
    _Atomic int status; /* of the last order of this part */
};

static weft_loop *loop;
static struct part parts[LOOP_PARTS];
static int part_count;
static char trace[LOOP_TRACE];
static size_t trace_length;

static inline void play(const char *orders);

static inline struct part *part_of(const char *name, size_t length) {
    CHECK(length > 0 && length < LOOP_NAME);
    for (int i = 0; i < part_count; i++)
        if (strlen(parts[i].name) == length && memcmp(parts[i].name, name, length) == 0)
            return &parts[i];
    CHECK(part_count < LOOP_PARTS);
    struct part *part = &parts[part_count++];
    memset(part, 0, sizeof *part);
    memcpy(part->name, name, length);
    return part;
}

static inline struct part *named(const char *name) {
    return part_of(name, strlen(name));
}

static inline void say(const char *word) {
    size_t length = strlen(word);
    CHECK(trace_length + length + 2 < sizeof trace);
    if (trace_length)
        trace[trace_length++] = ' ';
    memcpy(trace + trace_length, word, length + 1);
    trace_length += length;
}

static inline void run_part(void *arg) {
    struct part *part = arg;
    CHECK(weft_loop_current() == loop);
    say(part->name);
    if (part->fn)
        part->fn();
    if (part->orders)
        play(part->orders);
}

/* ---- What an order does ---- */

static inline int order_tick(struct part *part, int64_t ns) {
    (void)ns;
    return weft_loop_next_tick(loop, run_part, part);
}

static inline int order_micro(struct part *part, int64_t ns) {
    (void)ns;
    return weft_loop_microtask(loop, run_part, part);
}

static inline int order_end(struct part *part, int64_t ns) {
    (void)ns;
    return weft_loop_checkpoint_end(loop, run_part, part);
}

static inline int order_poll(struct part *part, int64_t ns) {
    (void)ns;
    return weft_loop_submit_poll(loop, run_part, part);
}

static inline int order_immediate(struct part *part, int64_t ns) {
    (void)ns;
    return weft_set_immediate(loop, &part->immediate, run_part, part);
}

static inline int order_close(struct part *part, int64_t ns) {
    (void)ns;
    return weft_loop_close_callback(loop, run_part, part);
}

static inline int order_internal(struct part *part, int64_t ns) {
    (void)ns;
    return weft_loop_submit_internal(loop, run_part, part);
}

static inline int order_submit(struct part *part, int64_t ns) {
    (void)ns;
    return weft_loop_submit(loop, run_part, part);
}

static inline int order_timer(struct part *part, int64_t ns) {
    return weft_set_timeout(loop, &part->timer, ns, run_part, part);
}

static inline int order_interval(struct part *part, int64_t ns) {
    return weft_set_interval(loop, &part->timer, ns, run_part, part);
}

static inline int order_clear(struct part *part, int64_t ns) {
    (void)ns;
    return part->immediate.bits ? weft_clear_immediate(loop, part->immediate) : weft_clear_timer(loop, part->timer);
}

static inline int order_unkeep(struct part *part, int64_t ns) {
    (void)ns;
    return part->immediate.bits ? weft_immediate_keep(loop, part->immediate, false)
                                : weft_loop_timer_keep(loop, part->timer, false);
}

static inline int order_keep(struct part *part, int64_t ns) {
    (void)ns;
    return part->immediate.bits ? weft_immediate_keep(loop, part->immediate, true)
                                : weft_loop_timer_keep(loop, part->timer, true);
}

static inline int order_refresh(struct part *part, int64_t ns) {
    (void)ns;
    return weft_loop_timer_refresh(loop, part->timer);
}

static inline int order_call(struct part *part, int64_t ns) {
    (void)ns;
    return weft_loop_call(loop, run_part, part);
}

static inline int order_checkpoint(struct part *part, int64_t ns) {
    (void)ns;
    int status = weft_loop_run_checkpoint(loop);
    say(part->name);
    return status;
}

static inline int order_yield(struct part *part, int64_t ns) {
    (void)ns;
    say(part->name);
    return weft_loop_yield_checkpoint(loop);
}

static inline int order_say(struct part *part, int64_t ns) {
    (void)ns;
    say(part->name);
    return 0;
}

static inline int order_panic(struct part *part, int64_t ns) {
    (void)ns;
    weft_panic("panic %s", part->name);
}

static const struct {
    const char *kind;
    int (*fn)(struct part *part, int64_t ns);
} orders_known[] = {
    {"tick", order_tick},
    {"micro", order_micro},
    {"end", order_end},
    {"poll", order_poll},
    {"immediate", order_immediate},
    {"close", order_close},
    {"internal", order_internal},
    {"submit", order_submit},
    {"timer", order_timer},
    {"interval", order_interval},
    {"clear", order_clear},
    {"unkeep", order_unkeep},
    {"keep", order_keep},
    {"refresh", order_refresh},
    {"call", order_call},
    {"checkpoint", order_checkpoint},
    {"yield", order_yield},
    {"say", order_say},
    {"panic", order_panic},
};

/* One order: what it answered is also in the part. */
static inline int play_one(const char *order, size_t length) {
    size_t kind = strcspn(order, "0123456789:");
    char *after;
    int64_t ns = strtol(order + kind, &after, 10) * WEFT_MILLISECOND;
    CHECK_EQ(*after, ':');
    const char *name = after + 1;
    for (size_t i = 0; i < sizeof orders_known / sizeof *orders_known; i++) {
        if (strlen(orders_known[i].kind) != kind || strncmp(orders_known[i].kind, order, kind) != 0)
            continue;
        struct part *part = part_of(name, length - (size_t)(name - order));
        int status = orders_known[i].fn(part, ns);
        atomic_store(&part->status, status);
        return status;
    }
    fprintf(stderr, "no such order: %.*s\n", (int)length, order);
    CHECK(!"an order that is known");
    return -EINVAL;
}

/* All of them, and each is accepted. */
static inline void play(const char *orders) {
    while (*orders) {
        size_t length = strcspn(orders, " ");
        CHECK_EQ(play_one(orders, length), 0);
        orders += length;
        orders += strspn(orders, " ");
    }
}

/* One order and its answer. */
static inline int answer_to(const char *order) {
    return play_one(order, strlen(order));
}

static inline void when(const char *name, const char *orders) {
    named(name)->orders = orders;
}

static inline void when_do(const char *name, void (*fn)(void)) {
    named(name)->fn = fn;
}

static inline void *play_main(void *orders) {
    play(orders);
    return NULL;
}

/* By a plain thread; returns when it is done. */
static inline void play_elsewhere(const char *orders) {
    thread_join(thread_start(play_main, (void *)(uintptr_t)orders));
}

/* ---- A loop's life ---- */

static inline void forget_all(void) {
    part_count = 0;
    trace_length = 0;
    trace[0] = 0;
}

static inline void loop_open_with(const weft_loop_options *options) {
    forget_all();
    CHECK_EQ(weft_loop_new(&loop, options), 0);
}

static inline void loop_open(void) {
    loop_open_with(NULL);
}

/* With a clock that jumps: delays cost no time and are exact. */
static inline void loop_open_virtual(void) {
    weft_loop_options options = {.virtual_time = true};
    loop_open_with(&options);
}

static inline int loop_run(weft_loop_mode mode) {
    return weft_loop_run(loop, mode, weft_after(PATIENCE_NS));
}

static inline void loop_drop(void) {
    weft_loop_unref(loop);
    loop = NULL;
}

/* Runs it until nothing is alive. */
static inline void finish(const char *expected) {
    CHECK_EQ(loop_run(WEFT_LOOP_UNTIL_QUIET), 0);
    CHECK_EQ(weft_loop_get_state(loop), WEFT_LOOP_TERMINATED);
    CHECK_TEXT(trace, expected);
    loop_drop();
}

static inline void both_ways(void (*body)(void)) {
    body();
    run_fibers(body);
}

/* A test whose body runs on a plain thread, and again on a fiber. */
#define TEST_BOTH(name) \
    static void body_##name(void); \
    TEST(name) { \
        both_ways(body_##name); \
    } \
    static void body_##name(void)

/* The loop is run by somebody else, until it has ended or was stopped: by a fiber if the caller is one, else by a thread. */
struct running {
    pthread_t thread;
    weft_fiber fiber; /* all zero: a thread */
    weft_loop_mode mode;
    int status;
};

static inline void *running_main(void *opaque) {
    struct running *running = opaque;
    running->status = loop_run(running->mode);
    return NULL;
}

static inline void running_start(struct running *running, weft_loop_mode mode) {
    *running = (struct running){.mode = mode};
    if (weft_self().bits)
        SPAWN(&running->fiber, running_main, running);
    else
        running->thread = thread_start(running_main, running);
}

static inline int running_join(struct running *running) {
    if (running->fiber.bits)
        JOIN(running->fiber, NULL);
    else
        thread_join(running->thread);
    return running->status;
}

static inline void wait_asleep(void) {
    WAIT_UNTIL(weft_loop_get_state(loop) == WEFT_LOOP_SLEEPING);
}

/* Failures that were told to on_failure: their sources, in the trace as !source. */
static char last_message[256];
static weft_loop_fn last_failed;

static inline void note_failure(weft_loop *which, const weft_loop_failure *failure, void *arg) {
    (void)arg;
    char word[64];
    CHECK(which == loop);
    CHECK(weft_loop_current() == loop);
    snprintf(word, sizeof word, "!%s", failure->source);
    say(word);
    snprintf(last_message, sizeof last_message, "%s", failure->message);
    last_failed = failure->fn;
}

#endif
