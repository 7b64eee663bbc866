/* SPDX-License-Identifier: MIT
 *
 * support/check.h - the test harness: named tests, checks that say what they saw, a common main.
 *
 *     TEST(join_of_a_dead_fiber_is_stale) {
 *         CHECK_EQ(weft_join(fiber, NULL, WEFT_NEVER), -ESTALE);
 *     }
 *
 * A suite is one program: every TEST in it runs in order, or those whose name contains the first argument. A failed
 * check prints file, line and both values and ends the program with status 1. Random tests take wf_test_seed(), which
 * is printed and can be given back by WEFT_TEST_SEED. WEFT_TEST_SCALE overrides how much the suite does, and
 * WEFT_TEST_EXCEPT names tests to leave out.
 */
#ifndef WF_SUPPORT_CHECK_H
#define WF_SUPPORT_CHECK_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef WEFT_TEST_SCALE
#define WEFT_TEST_SCALE 10 /* 100 in release, less where every step costs more */
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct wf_test {
    const char *name;
    void (*run)(void);
    struct wf_test *next;
};

void wf_test_register(struct wf_test *test);
void wf_test_fail(const char *file, int line, const char *text, long long left, long long right, bool has_values);
int wf_test_main(int argc, char **argv);
uint64_t wf_test_seed(void);
/* WEFT_TEST_SCALE of the environment, or of the build. */
long wf_test_scale(void);
/* WEFT_WORKERS as a number, or 2; in replay 1. */
unsigned wf_test_workers(void);
/* Set by tests/support/balance.c where the runtime is linked in: called after every test, fails if something is left. */
extern void (*wf_test_after_each)(void);

#ifdef __cplusplus
}
#endif

#define TEST(name) \
    static void test_##name(void); \
    static struct wf_test test_record_##name = {#name, test_##name, NULL}; \
    __attribute__((constructor)) static void test_register_##name(void) { \
        wf_test_register(&test_record_##name); \
    } \
    static void test_##name(void)

#define CHECK(condition) \
    do { \
        if (!(condition)) \
            wf_test_fail(__FILE__, __LINE__, #condition, 0, 0, false); \
    } while (0)

#define CHECK_OP(left, op, right) \
    do { \
        long long check_left = (long long)(left), check_right = (long long)(right); \
        if (!(check_left op check_right)) \
            wf_test_fail(__FILE__, __LINE__, #left " " #op " " #right, check_left, check_right, true); \
    } while (0)

#define CHECK_EQ(left, right) CHECK_OP(left, ==, right)
#define CHECK_NE(left, right) CHECK_OP(left, !=, right)
#define CHECK_LE(left, right) CHECK_OP(left, <=, right)
#define CHECK_GE(left, right) CHECK_OP(left, >=, right)

#define CHECK_TEXT(left, right) \
    do { \
        const char *check_left = (left), *check_right = (right); \
        if (!check_left || strcmp(check_left, check_right) != 0) { \
            fprintf(stderr, "\"%s\" is not \"%s\"\n", check_left ? check_left : "NULL", check_right); \
            wf_test_fail(__FILE__, __LINE__, #left " reads " #right, 0, 0, false); \
        } \
    } while (0)

#endif
