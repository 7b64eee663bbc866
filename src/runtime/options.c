/* SPDX-License-Identifier: MIT
 *
 * runtime/options.c - what the program asked for, what the environment adds, what is refused.
 *
 * An option that is set wins over the environment, which wins over the default. A value that makes no sense is refused
 * with a message, wherever it came from: a typing error must not become a surprising default.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/assert.h"
#include "os/clock.h"
#include "os/report.h"
#include "os/thread.h"
#include "runtime/runtime.h"
#include "weft/time.h"

/* THREADS_MAX: what the kernel can number. THREADS_DEFAULT: beyond it a program that has none left to work with is more likely
 * mistaken than busy. */
enum { STACK_MIN = 16 * 1024, THREADS_MAX = 4 * 1024 * 1024, THREADS_DEFAULT = 10000, BOUND_DEFAULT = 1000 };
#define KEEP_ALIVE_DEFAULT (5 * WEFT_SECOND)

static int read_environment(const char *name, uint64_t low, uint64_t high, uint64_t *value);
static int check_range(const char *name, uint64_t value, uint64_t low, uint64_t high);

int wf_options_resolve(const weft_options *given, bool is_planned, weft_options *out) {
    weft_options options = given ? *given : (weft_options){0};
    uint64_t workers = options.workers;
    uint64_t stack_size = options.stack_size;
    uint64_t max_fibers = options.max_fibers;
    uint64_t replay_seed = options.replay_seed;
    uint64_t max_threads = options.max_threads;
    uint64_t max_bound = options.max_bound;
    const uint64_t most = UINT64_C(1) << WF_INDEX_BITS;
    if ((!is_planned && read_environment("WEFT_WORKERS", 1, WEFT_WORKERS_MAX, &workers) != 0) ||
        (!is_planned && read_environment("WEFT_SEED", 1, UINT64_MAX - 1, &replay_seed) != 0) ||
        read_environment("WEFT_STACK_SIZE", STACK_MIN, WF_STACK_MAX, &stack_size) != 0 ||
        read_environment("WEFT_MAX_FIBERS", 2, most, &max_fibers) != 0 ||
        read_environment("WEFT_MAX_THREADS", 2, THREADS_MAX, &max_threads) != 0 ||
        read_environment("WEFT_MAX_BOUND", 1, THREADS_MAX, &max_bound) != 0)
        return -EINVAL;
    if (workers == 0) {
        int processors = wf_os_processors();
        if (processors < 0)
            return processors;
        workers = (uint64_t)processors < WEFT_WORKERS_MAX ? (uint64_t)processors : WEFT_WORKERS_MAX;
    }
    if (stack_size == 0)
        stack_size = WF_STACK_DEFAULT;
    if (max_fibers == 0)
        max_fibers = most;
    if (max_threads == 0)
        max_threads = THREADS_DEFAULT;
    if (max_bound == 0)
        max_bound = BOUND_DEFAULT;
    if (options.keep_alive == 0)
        options.keep_alive = KEEP_ALIVE_DEFAULT;
    if (check_range("workers", workers, 1, WEFT_WORKERS_MAX) != 0 ||
        check_range("stack_size", stack_size, STACK_MIN, WF_STACK_MAX) != 0 ||
        check_range("max_fibers", max_fibers, 2, most) != 0 ||
        check_range("max_threads", max_threads, (replay_seed ? 1 : workers) + 1, THREADS_MAX) != 0 ||
        check_range("max_bound", max_bound, 1, THREADS_MAX) != 0 ||
        check_range("keep_alive", (uint64_t)options.keep_alive, 1, INT64_MAX) != 0 ||
        check_range("bound_fallback", options.bound_fallback, WEFT_FALLBACK_BLOCKING, WEFT_FALLBACK_ERROR) != 0)
        return -EINVAL;
    options.workers = replay_seed ? 1 : (unsigned)workers;
    options.stack_size = stack_size;
    options.max_fibers = (uint32_t)max_fibers;
    options.replay_seed = replay_seed;
    options.max_threads = (unsigned)max_threads;
    options.max_bound = (unsigned)max_bound;
    if (replay_seed)
        options.seed = replay_seed;
    else if (options.seed == 0)
        options.seed = (uint64_t)wf_os_now();
    *out = options;
    return 0;
}

/* Fills in a value that is 0. A number, with K, M or G behind it for powers of 1,024. */
static int read_environment(const char *name, uint64_t low, uint64_t high, uint64_t *value) {
    const char *text = getenv(name);
    if (*value != 0 || !text)
        return 0;
    char *end;
    uint64_t number = strtoull(text, &end, 10);
    bool is_number = *text >= '0' && *text <= '9';
    int shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (shift)
        end++;
    if (!is_number || *end != 0 || number > UINT64_MAX >> shift) {
        wf_report("%s=%s is not a number", name, text);
        return -EINVAL;
    }
    *value = number << shift;
    return check_range(name, *value, low, high);
}

static int check_range(const char *name, uint64_t value, uint64_t low, uint64_t high) {
    if (value >= low && value <= high)
        return 0;
    wf_report("%s is %llu, but has to be from %llu to %llu", name, (unsigned long long)value, (unsigned long long)low,
              (unsigned long long)high);
    return -EINVAL;
}
