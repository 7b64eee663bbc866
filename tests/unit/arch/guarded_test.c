/* SPDX-License-Identifier: MIT
 *
 * unit/arch/guarded_test.c - calls that can be left from any depth.
 *
 * Values that live across the call show that leaving it restores the registers of its caller.
 */
#include "arch/guarded.h"

#include "support/run.h"

static struct wf_guarded guarded;
static int reached;

static void just_return(void *arg) {
    reached = (int)(intptr_t)arg;
}

TEST(a_guarded_call_that_returns_says_so) {
    CHECK_EQ(wf_arch_guarded_call(&guarded, just_return, (void *)5), WF_GUARDED_RETURNED);
    CHECK_EQ(reached, 5);
}

static void (*volatile deeper)(void *arg);

static void leave_at_depth(void *arg) {
    int depth = (int)(intptr_t)arg;
    reached++;
    if (depth == 0)
        wf_guarded_leave(&guarded);
    deeper((void *)(intptr_t)(depth - 1));
    reached = -1000000; /* never */
}

TEST(a_guarded_call_is_left_from_any_depth) {
    const int depths[] = {0, 1, 10, 1000, 5000};
    deeper = leave_at_depth;
    for (size_t i = 0; i < sizeof depths / sizeof depths[0]; i++) {
        uint64_t a = 1 + i, b = 2 + i, c = 3 + i, d = 4 + i, e = 5 + i;
        __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e));
        reached = 0;
        CHECK_EQ(wf_arch_guarded_call(&guarded, leave_at_depth, (void *)(intptr_t)depths[i]), WF_GUARDED_LEFT);
        CHECK_EQ(reached, depths[i] + 1);
        CHECK_EQ(a + b + c + d + e, 15 + 5 * i);
    }
}

static struct wf_guarded inner_guarded;

static void leave_inner(void *arg) {
    (void)arg;
    wf_guarded_leave(&inner_guarded);
}

static void leave_both(void *arg) {
    CHECK_EQ(wf_arch_guarded_call(&inner_guarded, leave_inner, arg), WF_GUARDED_LEFT);
    reached = 3;
    wf_guarded_leave(&guarded);
}

static void leave_outer_from_inner(void *arg) {
    (void)arg;
    wf_guarded_leave(&guarded);
}

static void enter_inner(void *arg) {
    wf_arch_guarded_call(&inner_guarded, leave_outer_from_inner, arg);
    reached = -1;
}

TEST(guarded_calls_nest_and_the_outer_can_be_left_through_the_inner) {
    CHECK_EQ(wf_arch_guarded_call(&guarded, leave_both, NULL), WF_GUARDED_LEFT);
    CHECK_EQ(reached, 3);
    CHECK_EQ(wf_arch_guarded_call(&guarded, enter_inner, NULL), WF_GUARDED_LEFT);
    CHECK_EQ(reached, 3);
}
