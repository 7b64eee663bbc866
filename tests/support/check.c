/* SPDX-License-Identifier: MIT
 *
 * support/check.c - runs the tests of one suite.
 *
 * Tests register themselves before main; main runs them one by one and prints a line for each, so that a hang names
 * the test that hangs.
 */
#include "support/check.h"

#include <time.h>
#include <unistd.h>

static struct wf_test *first_test;
static struct wf_test **last_test = &first_test;
static const char *running_test = "(none)";
static uint64_t seed;

void (*wf_test_after_each)(void);

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
    _exit(1);
}

uint64_t wf_test_seed(void) {
    if (!seed) {
        const char *given = getenv("WEFT_TEST_SEED");
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
    return given ? (unsigned)strtoul(given, NULL, 10) : 2;
}

int wf_test_main(int argc, char **argv) {
    const char *filter = argc > 1 ? argv[1] : "";
    int count = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (struct wf_test *test = first_test; test; test = test->next) {
        if (!strstr(test->name, filter))
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

__attribute__((weak)) int main(int argc, char **argv) {
    return wf_test_main(argc, argv);
}
