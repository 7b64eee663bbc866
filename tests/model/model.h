/* SPDX-License-Identifier: MIT
 *
 * tests/model/model.h - what a model driver may use beside the sources it drives.
 *
 * A driver is a small program with a model_main: it builds the objects, starts a few threads, joins them and checks
 * what must hold. The explorer (wmx/wmx.h) runs it from the start as often as there are executions; globals begin with
 * their initial values each time. It must be deterministic but for model_choose.
 */
#ifndef WF_TESTS_MODEL_H
#define WF_TESTS_MODEL_H

void model_main(void);

#define CHECK(condition) \
    do { \
        if (!(condition)) \
            model_fail(#condition, __FILE__, __LINE__); \
    } while (0)

_Noreturn void model_fail(const char *text, const char *file, int line);

void model_start(void (*function)(void *), void *argument);
/* The number of the calling thread: 0 is model_main, the others count in the order in which they were started. */
int model_thread(void);
/* Waits for every thread; called by model_main. */
void model_join_all(void);

/* A lock in one step, known by its address; see abstract/queue/lock.h. */
void model_lock_take(void *lock);
void model_lock_drop(void *lock);

/* A function that the explorer does not look into: its accesses are no steps, see the latest stores and race with
 * nothing. For what belongs to the test and not to the program under test. */
#define MODEL_UNSEEN __attribute__((no_sanitize("thread"), noinline))

/* A function that is linked because a source names it, and that no case may call. Needs no prototype. */
_Noreturn void model_unused(void);
#define MODEL_UNUSED(name) __asm__(".pushsection .text\n.globl " #name "\n" #name ": call model_unused\n.popsection");

/* A number below width; all are explored. */
int model_choose(int width);
/* Up to count futex waits return for no reason, at any time. */
void model_allow_spurious_wakes(int count);
/* The argument of -c, for a driver with several cases; "" without. */
const char *model_case(void);

#endif
