/* SPDX-License-Identifier: MIT
 *
 * support/check.c - runs the tests of one suite.
 *
 * Tests register themselves before main; main runs them one by one and prints a line for each, so that a hang names
 * the test that hangs.
 *
 * In replay (WEFT_SEED) that one number decides everything, the tests' own random numbers included, and a failure ends
 * with the command that repeats it.
 */
#include "support/check.h"

#include <time.h>
#include <unistd.h>

static struct wf_test *first_test;
static struct wf_test **last_test = &first_test;
static const char *running_test = "(none)";
static uint64_t seed;

void (*wf_test_after_each)(void);

static void print_replay(void);
static bool is_excepted(const char *name);

void wf_test_register(struct wf_test *test) {
    *last_test = test;
    last_test = &test->next;
}

void wf_test_fail(const char *file, int line, const char *text, long long left, long long right, bool has_values) {
    fprintf(stderr, "%s:%d: %s: check failed: %s", file, line, running_test, text);
    if (has_values)
        fprintf(stderr, " (%lld and %lld)", left, right);
    if (seed)
        fprintf(stderr, " [WEFT_TEST_SEED=%llu]", (unsigned long long)seed);
    fprintf(stderr, "\n");
    print_replay();
    _exit(1);
}

static void print_replay(void) {
    const char *replay_seed = getenv("WEFT_SEED");
    const char *scale = getenv("WEFT_TEST_SCALE");
    if (!replay_seed)
        return;
    fprintf(stderr, "replay: WEFT_SEED=%s ", replay_seed);
    if (scale)
        fprintf(stderr, "WEFT_TEST_SCALE=%s ", scale);
    fprintf(stderr, "%s %s\n", program_invocation_name, running_test);
}

uint64_t wf_test_seed(void) {
    if (!seed) {
        const char *given = getenv("WEFT_TEST_SEED");
        if (!given)
            given = getenv("WEFT_SEED");
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        seed = given ? strtoull(given, NULL, 10) : (uint64_t)now.tv_nsec * 2654435761u + (uint64_t)getpid();
        seed |= 1;
        printf("WEFT_TEST_SEED=%llu\n", (unsigned long long)seed);
    }
    return seed;
}

unsigned wf_test_workers(void) {
    const char *given = getenv("WEFT_WORKERS");
    if (getenv("WEFT_SEED"))
        return 1;
    return given ? (unsigned)strtoul(given, NULL, 10) : 2;
}

long wf_test_scale(void) {
    const char *given = getenv("WEFT_TEST_SCALE");
    return given ? strtol(given, NULL, 10) : WEFT_TEST_SCALE;
}

int wf_test_main(int argc, char **argv) {
    const char *filter = argc > 1 ? argv[1] : "";
    int count = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (struct wf_test *test = first_test; test; test = test->next) {
        if (!strstr(test->name, filter) || is_excepted(test->name))
            continue;
        running_test = test->name;
        printf("  %s ...\n", test->name);
        test->run();
        if (wf_test_after_each)
            wf_test_after_each();
        count++;
    }
    printf("%d passed, 0 failed\n", count);
    return count ? 0 : 1;
}

/* WEFT_TEST_EXCEPT: names with commas between them. */
static bool is_excepted(const char *name) {
    const char *list = getenv("WEFT_TEST_EXCEPT");
    size_t length = strlen(name);
    for (const char *at = list; at && (at = strstr(at, name)); at += length)
        if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == 0))
            return true;
    return false;
}

__attribute__((weak)) int main(int argc, char **argv) {
    return wf_test_main(argc, argv);
}
