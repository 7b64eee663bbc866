/* SPDX-License-Identifier: MIT
 *
 * examples/loop_fiber.c - a loop inside a fiber, with a pool behind it.
 *
 * The loop's callbacks share what they know without locks, because one fiber runs them all; what takes long it hands out, and
 * goes on when the answers come. Here it counts primes: each range is a work of the pool (weft_loop_promisify), and its answer
 * is added up on the loop. Besides, one function that blocks gets a thread of its own, and one that would never end is
 * cancelled by a timer. Everybody else is on the same single worker: while the loop has nothing to do its fiber is
 * parked, and other fibers run. One of them awaits a promise of the loop as any other.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <weft.h>

enum { LIMIT = 100000, RANGES = 10, PRIMES = 9592 };

struct count {
    weft_loop *loop;
    long primes; /* the loop's callbacks' */
    int answers;
    bool has_blocked;
    bool has_cancelled;
    atomic_int on_wrong_side; /* callbacks that ran elsewhere */
    atomic_bool is_over;      /* the loop is */
    long rounds;              /* of the neighbour, meanwhile */
    weft_promise *endless;
};

struct range {
    long begin, end;
};

static void must(int error, const char *what) {
    if (error)
        weft_fatal("%s: error %d", what, -error);
}

static bool is_prime(long number) {
    for (long i = 2; i * i <= number; i++)
        if (number % i == 0)
            return false;
    return number > 1;
}

/* On a thread of the pool. */
static weft_reply count_range(void *arg) {
    const struct range *range = arg;
    long primes = 0;
    for (long number = range->begin; number < range->end; number++)
        primes += is_prime(number);
    return weft_reply_value((void *)(intptr_t)primes);
}

/* On a thread that is this function's alone. */
static weft_reply call_old_library(void *arg) {
    struct timespec while_the_disk_turns = {.tv_nsec = 2 * WEFT_MILLISECOND};
    nanosleep(&while_the_disk_turns, NULL);
    return weft_reply_value(arg);
}

/* On a fiber, until it is cancelled. */
static weft_reply wait_for_ever(void *arg) {
    (void)arg;
    int error = weft_sleep(WEFT_NEVER);
    return weft_reply_error(error, "woken");
}

static void check_side(struct count *count) {
    if (weft_loop_current() != count->loop)
        atomic_fetch_add(&count->on_wrong_side, 1);
}

static weft_reply add_up(void *primes, void *arg) {
    struct count *count = arg;
    check_side(count);
    count->primes += (intptr_t)primes;
    count->answers++;
    return weft_reply_value(NULL);
}

static weft_reply note_blocked(void *value, void *arg) {
    struct count *count = arg;
    check_side(count);
    count->has_blocked = value == arg;
    return weft_reply_value(NULL);
}

static weft_reply note_cancelled(const weft_outcome *outcome, void *arg) {
    struct count *count = arg;
    check_side(count);
    count->has_cancelled = outcome->error == -ECANCELED;
    return weft_reply_value(NULL);
}

static void lose_patience(void *arg) {
    struct count *count = arg;
    must(weft_loop_cancel(count->endless, 0, NULL), "cannot cancel");
}

/* Hands everything out before the loop is run; *all is settled when all ranges are counted. */
static void hand_out(struct count *count, weft_pool *pool, struct range *ranges, weft_promise **all) {
    weft_promise *parts[RANGES], *blocked;
    weft_promisify_options in_pool = {.where = WEFT_ON_POOL, .pool = pool};
    weft_promisify_options on_thread = {.where = WEFT_ON_THREAD};
    for (int i = 0; i < RANGES; i++) {
        weft_promise *counted;
        ranges[i] = (struct range){(long)i * LIMIT / RANGES, (long)(i + 1) * LIMIT / RANGES};
        must(weft_loop_promisify(count->loop, &counted, &in_pool, count_range, &ranges[i]), "cannot hand out");
        must(weft_loop_then(count->loop, counted, &parts[i], add_up, NULL, count), "cannot go on");
        weft_promise_unref(counted);
    }
    must(weft_loop_all(count->loop, all, parts, RANGES), "cannot combine");
    for (int i = 0; i < RANGES; i++)
        weft_promise_unref(parts[i]);
    must(weft_loop_promisify(count->loop, &blocked, &on_thread, call_old_library, count), "cannot hand out");
    must(weft_loop_then(count->loop, blocked, NULL, note_blocked, NULL, count), "cannot go on");
    weft_promise_unref(blocked);
    must(weft_loop_promisify(count->loop, &count->endless, NULL, wait_for_ever, NULL), "cannot hand out");
    must(weft_loop_catch(count->loop, count->endless, NULL, note_cancelled, count), "cannot go on");
    must(weft_set_timeout(count->loop, NULL, WEFT_MILLISECOND, lose_patience, count), "cannot set a timer");
}

static void *run_loop(void *arg) {
    struct count *count = arg;
    must(weft_loop_run(count->loop, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER), "cannot run");
    atomic_store(&count->is_over, true);
    return NULL;
}

/* Shares its worker with the loop, and is not held up by it. */
static void *be_neighbour(void *arg) {
    struct count *count = arg;
    for (; !atomic_load(&count->is_over); count->rounds++)
        weft_sleep(weft_after(100 * WEFT_MICROSECOND));
    return NULL;
}

static int app(void *arg) {
    struct count count = {0};
    struct range ranges[RANGES];
    weft_promise *all;
    weft_outcome outcome;
    weft_fiber runner, neighbour;
    weft_loop_options options = {.name = "primes"};
    must(weft_loop_new(&count.loop, &options), "cannot make a loop");
    hand_out(&count, arg, ranges, &all);
    must(weft_spawn(&runner, run_loop, &count), "cannot spawn");
    must(weft_spawn(&neighbour, be_neighbour, &count), "cannot spawn");

    must(weft_promise_await(all, &outcome, WEFT_NEVER), "cannot wait"); /* a promise of the loop, in a fiber */
    weft_promise_unref(all);
    must(weft_join(runner, NULL, WEFT_NEVER), "cannot join"); /* nothing is left to do: the loop ends */
    must(weft_join(neighbour, NULL, WEFT_NEVER), "cannot join");
    weft_promise_unref(count.endless);
    weft_loop_unref(count.loop);
    printf("%ld primes below %d, counted in %d parts\n", count.primes, LIMIT, count.answers);
    bool is_good = outcome.state == WEFT_PROMISE_RESOLVED && count.primes == PRIMES && count.answers == RANGES &&
                   count.has_blocked && count.has_cancelled && count.rounds > 0 && count.on_wrong_side == 0;
    return is_good ? 0 : 1;
}

int main(void) {
    weft_pool *pool;
    weft_pool_options pool_options = {.name = "primes", .threads = 2};
    weft_options options = {.workers = 1};
    must(weft_pool_new(&pool, &pool_options), "cannot make a pool");
    int status = weft_run(&options, app, pool);
    weft_pool_free(pool);
    return status;
}
