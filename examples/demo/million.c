/* SPDX-License-Identifier: MIT
 *
 * examples/demo/million.c - what `make demo` shows: one fiber, then a million.
 *
 *     million [--count N]
 *
 * First the program of the README: square seven numbers, each in a fiber. Then N fibers, a million by default, that all
 * sleep at the same time, wake at a moment of their own and answer; the answers are added up and checked. Resident memory
 * and page tables are read from /proc before and while everybody sleeps.
 *
 * When the machine has not enough memory for N, fewer are started, and the program says so. On a terminal there is a
 * progress bar; elsewhere there are plain lines.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft.h>

/* A parked fiber with page tables, record, timer and the handle kept here is about 4,700 bytes; a timer heap that doubles
 * needs more for a moment. */
enum { BYTES_EACH = 5200, RESERVE_MIB = 256, BAR = 40, SPREAD_MS = 2000, YIELD_EVERY = 256 };

static atomic_long started;
static atomic_long answered;
static _Atomic weft_time dawn; /* nobody answers before; moved on while fibers are still being started */

struct plan {
    long count;
    bool is_terminal;
};

struct memory {
    long long resident;
    long long page_tables;
};

static int app(void *arg);
static bool square_seven(void);
static bool run_sleepers(const struct plan *plan);
static void start_all(const struct plan *plan, weft_fiber *fibers, weft_time start);
static void *sleep_and_answer(void *arg);
static void *show_progress(void *arg);
static void draw(const struct plan *plan, const char *what, long done);
static struct memory memory_now(void);
static long long available_bytes(void);
static long long read_kib(const char *path, const char *field);
static void report(const struct plan *plan, double to_park, double to_answer, struct memory before,
                   struct memory parked);

int main(int argc, char **argv) {
    struct plan plan = {.count = 1000000, .is_terminal = isatty(STDOUT_FILENO)};
    bool is_right = argc == 1;
    if (argc == 3 && strcmp(argv[1], "--count") == 0) {
        char *end;
        plan.count = strtol(argv[2], &end, 10);
        is_right = *end == 0 && plan.count >= 1 && plan.count <= 50000000;
    }
    if (!is_right) {
        fprintf(stderr, "usage: %s [--count N]    (N from 1 to 50,000,000)\n", argv[0]);
        return 2;
    }
    int outcome = weft_run(NULL, app, &plan);
    if (outcome < 0)
        fprintf(stderr, "million: the runtime could not run: %s\n", strerror(-outcome));
    return outcome == 0 ? 0 : 1;
}

static int app(void *arg) {
    struct plan *plan = arg;
    printf("weft %s\n\n1. Seven fibers, seven squares\n", weft_version());
    if (!square_seven())
        return 1;

    long long room = available_bytes() - RESERVE_MIB * 1024LL * 1024;
    long most = room > 0 ? (long)(room / BYTES_EACH) : 0;
    if (most < plan->count) {
        printf("\nThere is memory for about %ld fibers, not for %ld: doing with that many.\n", most, plan->count);
        plan->count = most;
        if (most < 1)
            return 1;
    }
    printf("\n2. %ld fibers sleep at the same time, wake, and answer\n", plan->count);
    return run_sleepers(plan) ? 0 : 1;
}

static void *square(void *arg) {
    intptr_t n = (intptr_t)arg;
    weft_sleep(weft_after(10 * WEFT_MILLISECOND));
    return (void *)(n * n);
}

static bool square_seven(void) {
    weft_fiber fibers[7];
    void *result;
    for (intptr_t i = 0; i < 7; i++)
        if (weft_spawn(&fibers[i], square, (void *)(i + 1)) != 0)
            return false;
    for (intptr_t i = 0; i < 7; i++) {
        if (weft_join(fibers[i], &result, WEFT_NEVER) != 0 || (intptr_t)result != (i + 1) * (i + 1))
            return false;
        printf("%s%d", i ? " " : "   ", (int)(intptr_t)result);
    }
    printf("\n");
    return true;
}

static bool run_sleepers(const struct plan *plan) {
    weft_fiber *fibers = malloc((size_t)plan->count * sizeof *fibers);
    if (!fibers) {
        printf("   no memory for %ld handles\n", plan->count);
        return false;
    }
    memset(fibers, 0, (size_t)plan->count * sizeof *fibers); /* touched now, so as not to count as memory of fibers */
    weft_fiber progress;
    weft_spawn_options options = {.name = "progress", .priority = WEFT_PRIORITY_HIGH};
    struct memory before = memory_now();
    weft_time start = weft_now();
    atomic_store(&dawn, start + WEFT_SECOND);
    if (weft_spawn_with(&progress, &options, show_progress, (void *)plan) != 0)
        return false;
    start_all(plan, fibers, start);
    double to_park = (double)(weft_now() - start) / 1e9;
    weft_sleep(weft_after(50 * WEFT_MILLISECOND)); /* the last ones lie down */
    struct memory parked = memory_now();

    int64_t sum = 0;
    for (long i = 0; i < plan->count; i++) {
        void *answer;
        if (weft_join(fibers[i], &answer, WEFT_NEVER) != 0)
            return false;
        sum += (intptr_t)answer;
    }
    double to_answer = (double)(weft_now() - atomic_load(&dawn)) / 1e9;
    if (weft_join(progress, NULL, WEFT_NEVER) != 0)
        return false;
    report(plan, to_park, to_answer, before, parked);
    free(fibers);
    int64_t expected = (int64_t)plan->count * (plan->count - 1) / 2;
    printf("   the answers add up to %lld: %s\n", (long long)sum, sum == expected ? "right" : "WRONG");
    return sum == expected;
}

/* Returns when all of them have begun, and moves the dawn so that all of them are asleep before it. */
static void start_all(const struct plan *plan, weft_fiber *fibers, weft_time start) {
    for (long i = 0; i < plan->count; i++) {
        int error = weft_spawn(&fibers[i], sleep_and_answer, (void *)(intptr_t)i);
        if (error)
            weft_fatal("no more than %ld fibers could be started: %s", i, strerror(-error));
        if (i % YIELD_EVERY)
            continue;
        weft_yield(); /* what was spawned runs, and goes to sleep */
        weft_time now = weft_now();
        weft_time expected = start + (now - start) / (i + 1) * plan->count * 5 / 4 + WEFT_SECOND / 2;
        if (i > 0 && expected > atomic_load(&dawn))
            atomic_store(&dawn, expected);
    }
    while (atomic_load(&started) < plan->count)
        weft_sleep(weft_after(WEFT_MILLISECOND));
    weft_time soon = weft_after(WEFT_SECOND / 4);
    if (atomic_load(&dawn) < soon)
        atomic_store(&dawn, soon);
}

static void *sleep_and_answer(void *arg) {
    weft_time own = (intptr_t)arg % SPREAD_MS * WEFT_MILLISECOND;
    atomic_fetch_add(&started, 1);
    for (;;) {
        weft_time moment = atomic_load(&dawn) + own;
        if (weft_now() >= moment)
            break;
        if (weft_sleep(moment) != 0)
            weft_fatal("no memory for a timer");
    }
    atomic_fetch_add(&answered, 1);
    return arg;
}

/* Ends when everybody has answered. */
static void *show_progress(void *arg) {
    const struct plan *plan = arg;
    while (atomic_load(&started) < plan->count) {
        draw(plan, "asleep", atomic_load(&started));
        weft_sleep(weft_after(100 * WEFT_MILLISECOND));
    }
    draw(plan, "asleep", plan->count);
    while (atomic_load(&answered) < plan->count) {
        draw(plan, "answered", atomic_load(&answered));
        weft_sleep(weft_after(100 * WEFT_MILLISECOND));
    }
    draw(plan, "answered", plan->count);
    return NULL;
}

/* Without a terminal: a line at each quarter. */
static void draw(const struct plan *plan, const char *what, long done) {
    static const char *last_what = "";
    static long last_quarter;
    long quarter = done * 4 / plan->count;
    bool is_news = strcmp(what, last_what) != 0 || quarter > last_quarter;
    last_what = what;
    last_quarter = quarter;
    if (plan->is_terminal) {
        char bar[BAR + 1];
        int full = (int)(done * BAR / plan->count);
        memset(bar, '#', (size_t)full);
        memset(bar + full, '.', (size_t)(BAR - full));
        bar[BAR] = 0;
        printf("\r   [%s] %9ld %-8s%s", bar, done, what, done == plan->count && is_news ? "\n" : "");
    } else if (is_news && done > 0) {
        printf("   %ld %s\n", done, what);
    }
    fflush(stdout);
}

static void report(const struct plan *plan, double to_park, double to_answer, struct memory before,
                   struct memory parked) {
    weft_stats stats;
    if (weft_get_stats(NULL, &stats) != 0)
        return;
    long long resident = parked.resident - before.resident;
    long long page_tables = parked.page_tables - before.page_tables;
    double count = (double)plan->count;
    printf("\n   started and asleep   %.2f s, %.0f ns each\n", to_park, to_park * 1e9 / count);
    printf("   awake and joined     %.2f s after the first was due; their moments are spread over %.1f s\n", to_answer,
           SPREAD_MS / 1e3);
    printf("   memory               %.0f bytes a fiber (%.0f resident, %.0f page tables), %.2f GiB together\n",
           (double)(resident + page_tables) / count, (double)resident / count, (double)page_tables / count,
           (double)(resident + page_tables) / (1 << 30));
    printf("   workers              %u\n", stats.workers);
    printf("   switches             %llu\n", (unsigned long long)stats.switches);
    printf("   timers fired         %llu\n", (unsigned long long)stats.timers_fired);
    printf("   stack guards         %s\n", stats.guard);
}

static struct memory memory_now(void) {
    return (struct memory){
        .resident = read_kib("/proc/self/status", "VmRSS:") * 1024,
        .page_tables = read_kib("/proc/self/status", "VmPTE:") * 1024,
    };
}

static long long available_bytes(void) {
    return read_kib("/proc/meminfo", "MemAvailable:") * 1024;
}

/* The number behind the field; 0 when it is not there. */
static long long read_kib(const char *path, const char *field) {
    char line[256];
    long long value = 0;
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    while (fgets(line, sizeof line, file))
        if (strncmp(line, field, strlen(field)) == 0)
            value = atoll(line + strlen(field));
    fclose(file);
    return value;
}
