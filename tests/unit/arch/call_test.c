/* SPDX-License-Identifier: MIT
 *
 * unit/arch/call_test.c - calls onto another stack: what survives them, what passes them, how they are left.
 *
 * Three stacks lie in one array, so which of them is the lower one is known, and the thread's own is a fourth. Every test
 * runs with the first stack beneath the second and above it.
 */
#include "arch/call.h"

#include <unwind.h>

#include "arch/guarded.h"
#include "support/run.h"

enum { STACK = 256 * 1024, STACKS = 3, OWN = -1, HERE = 0, THERE = 1, FARTHER = 2 };

static _Alignas(64) char memory[STACKS][STACK];
static struct wf_context contexts[STACKS];
static int place[STACKS]; /* HERE, THERE and FARTHER as indices into the two above */
static int calls;
static char trace[64];

static void say(const char *letters) {
    strncat(trace, letters, sizeof trace - strlen(trace) - 1);
}

static void call_on(int which, void (*fn)(void *arg), void *arg) {
    if (which == OWN) {
        fn(arg);
        return;
    }
    struct wf_context *context = &contexts[place[which]];
    wf_context_call_on(context->sp, context, fn, arg);
}

/* True for which if the caller runs on that stack. The frame's own address counts: locals may be elsewhere. */
static __attribute__((noinline)) bool runs_on(int which) {
    return (uintptr_t)__builtin_frame_address(0) - (uintptr_t)memory[place[which]] < STACK;
}

__attribute__((constructor)) static void announce_stacks(void) {
    for (int k = 0; k < STACKS; k++)
        wf_context_announce_stack(memory[k], memory[k] + STACK);
}

/* Runs body on the stack first, HERE or OWN, for every order of the stacks in memory. */
static void in_every_order(int first, void (*body)(void *arg)) {
    static const int orders[][STACKS] = {{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {1, 2, 0}};
    struct wf_context own;
    wf_context_adopt(&own, NULL, 0);
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        memcpy(place, orders[i], sizeof place);
        for (int k = 0; k < STACKS; k++) {
            wf_context_init(&contexts[k], memory[k], STACK, &own);
            contexts[k].sp = memory[k] + STACK;
        }
        calls = 0;
        trace[0] = 0;
        call_on(first, body, NULL);
        for (int k = 0; k < STACKS; k++)
            wf_context_term(&contexts[k]);
    }
}

static void count_there(void *arg) {
    CHECK(arg == trace);
    CHECK(runs_on(THERE));
    calls++;
}

static void call_there(void *arg) {
    (void)arg;
    CHECK(runs_on(HERE));
    for (int i = 0; i < 100; i++)
        call_on(THERE, count_there, trace);
    CHECK(runs_on(HERE));
    CHECK_EQ(calls, 100);
}

TEST(a_call_runs_on_the_other_stack_and_returns) {
    in_every_order(HERE, call_there);
}

static void nest_end(void *arg) {
    CHECK(runs_on(*(int *)arg));
    calls++;
}

static void nest_lower(void *arg) {
    int where = THERE;
    CHECK(runs_on(THERE));
    struct wf_context *there = &contexts[place[THERE]];
    char *lower = memory[place[THERE]] + STACK / 2;
    wf_context_call_on(lower, there, nest_end, &where);
    where = FARTHER;
    call_on(FARTHER, nest_end, &where);
    CHECK(runs_on(THERE));
    CHECK(arg == trace);
    calls++;
}

static void nest(void *arg) {
    (void)arg;
    call_on(THERE, nest_lower, trace);
    CHECK(runs_on(HERE));
    CHECK_EQ(calls, 3);
}

TEST(calls_nest_on_a_third_stack_and_lower_on_the_same) {
    in_every_order(HERE, nest);
}

typedef double four_doubles __attribute__((vector_size(32)));

static void store_aligned(void *arg) {
    _Alignas(16) volatile char sixteen[64];
    _Alignas(64) volatile char cache_line[64];
    volatile four_doubles vector = {1, 2, 3, 4};
    sixteen[0] = cache_line[0] = 1;
    CHECK_EQ((uintptr_t)sixteen % 16, 0);
    CHECK_EQ((uintptr_t)cache_line % 64, 0);
    CHECK(vector[3] == 4);
    char text[64];
    snprintf(text, sizeof text, "%f %s", 1.5, (const char *)arg); /* variadic code saves vector registers aligned */
    CHECK_TEXT(text, "1.500000 x");
#if defined(__x86_64__)
    CHECK_EQ((uintptr_t)__builtin_frame_address(0) % 16, 0); /* 8 for the return address, 8 for the frame pointer */
#endif
}

static void call_aligned(void *arg) {
    (void)arg;
    call_on(THERE, store_aligned, "x");
}

TEST(the_other_stack_is_aligned) {
    in_every_order(HERE, call_aligned);
}

struct sum {
    uint64_t seed, total;
    int depth;
};

/* More live values than there are registers, so that every callee-saved one holds some of them across the calls; and the
 * callee does the same. */
static void juggle(void *opaque) {
    struct sum *sum = opaque;
    uint64_t seed = sum->seed;
    uint64_t a = seed + 1, b = seed * 3, c = seed ^ 5, d = seed + 7, e = seed * 11, f = seed ^ 13, g = seed + 17;
    double x = (double)seed + 0.5, y = (double)seed * 2, z = (double)seed / 3;
    for (int i = 0; i < 20; i++) {
        struct sum inner = {.seed = seed + (uint64_t)i, .depth = sum->depth - 1};
        if (sum->depth > 0)
            call_on(sum->depth == 2 ? THERE : FARTHER, juggle, &inner);
        a += b, b ^= c, c += d, d ^= e, e += f, f ^= g, g += a;
        x += y, y += 1, z *= 1.25;
    }
    sum->total = a ^ b ^ c ^ d ^ e ^ f ^ g ^ (uint64_t)x ^ (uint64_t)y ^ (uint64_t)z;
}

static void keep_values(void *arg) {
    (void)arg;
    struct sum alone = {.seed = 1234567}, nested = {.seed = 1234567, .depth = 2};
    juggle(&alone);
    uint64_t control = wf_arch_fp_control_get(); /* after the first sums: it has flags of theirs */
    juggle(&nested);
    CHECK(alone.total == nested.total);
    CHECK_EQ(wf_arch_fp_control_get(), control);
}

TEST(registers_and_floating_point_survive) {
    in_every_order(HERE, keep_values);
}

struct walk {
    uintptr_t wanted[3];
    int found;
    int frames;
};

static _Unwind_Reason_Code note_frame(struct _Unwind_Context *context, void *opaque) {
    struct walk *walk = opaque;
    if (walk->found < 3 && _Unwind_GetRegionStart(context) == walk->wanted[walk->found])
        walk->found++;
    return ++walk->frames > 100 ? _URC_NORMAL_STOP : _URC_NO_REASON;
}

static __attribute__((noinline)) void walk_there(void *arg) {
    _Unwind_Backtrace(note_frame, arg);
    calls++;
}

static __attribute__((noinline)) void walk_here(void *arg) {
    (void)arg;
    struct walk walk = {.wanted = {(uintptr_t)walk_there, (uintptr_t)walk_here, (uintptr_t)in_every_order}};
    call_on(THERE, walk_there, &walk);
    CHECK_EQ(walk.found, 3);
    CHECK_LE(walk.frames, 100);
    calls++;
}

TEST(a_backtrace_crosses_the_stacks) {
    in_every_order(HERE, walk_here);
}

/* Cleanups of this file's frames are run only if it is compiled with -fexceptions. */
#if defined(__EXCEPTIONS)
#define CHECK_CLEANUPS(text) CHECK_TEXT(trace, text)
#else
#define CHECK_CLEANUPS(text) CHECK_TEXT(trace, "")
#endif

static struct wf_guarded outer, inner;

static void say_cleanup(const char **letters) {
    say(*letters);
}

/* What the sanitizer thinks of this stack shows when its memory is used by other frames. */
static __attribute__((noinline)) void use_stack(int depth) {
    char buffer[1024];
    memset(buffer, depth, sizeof buffer);
    __asm__ volatile("" : : "r"(buffer) : "memory");
    if (depth > 0)
        use_stack(depth - 1);
    CHECK_EQ(buffer[depth], depth);
}

static void use_stack_there(void *arg) {
    CHECK(runs_on(THERE));
    use_stack((int)(intptr_t)arg);
}

static void check_stacks(void) {
    CHECK(runs_on(HERE));
    use_stack(20);
    call_on(THERE, use_stack_there, (void *)20);
}

static void (*volatile leave)(struct wf_guarded *guarded);

static void leave_deep(void *arg) {
    const char *letter __attribute__((cleanup(say_cleanup))) = "a";
    char room[100];
    memset(room, 1, sizeof room);
    __asm__ volatile("" : : "r"(room) : "memory");
    leave(arg);
    say("never");
}

static void leave_from_there(void *arg) {
    const char *letter __attribute__((cleanup(say_cleanup))) = "b";
    leave_deep(arg);
    say("never");
}

static void leave_through_here(void *arg) {
    const char *letter __attribute__((cleanup(say_cleanup))) = "c";
    char room[100];
    memset(room, 1, sizeof room);
    __asm__ volatile("" : : "r"(room) : "memory");
    call_on(THERE, leave_from_there, arg);
    say("never");
}

static void guard_here(void *arg) {
    const char *letter __attribute__((cleanup(say_cleanup))) = "outside";
    (void)arg;
    for (uint64_t i = 0; i < 3; i++) {
        uint64_t a = 1 + i, b = 2 + i, c = 3 + i, d = 4 + i, e = 5 + i;
        __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e));
        trace[0] = 0;
        CHECK_EQ(wf_arch_guarded_call(&outer, leave_through_here, &outer), WF_GUARDED_LEFT);
        CHECK_EQ(a + b + c + d + e, 15 + 5 * i);
        CHECK_CLEANUPS("abc");
        check_stacks();
    }
}

TEST(leaving_from_the_other_stack_runs_the_cleanups_of_both) {
    leave = wf_guarded_leave;
    in_every_order(HERE, guard_here);
}

static void enter_here(void *arg) {
    call_on(HERE, leave_through_here, arg);
    say("never");
}

static void guard_own(void *arg) {
    (void)arg;
    CHECK_EQ(wf_arch_guarded_call(&outer, enter_here, &outer), WF_GUARDED_LEFT);
    CHECK_CLEANUPS("abc");
    use_stack(20);
    call_on(HERE, guard_here, NULL);
}

TEST(leaving_passes_two_calls_onto_other_stacks) {
    leave = wf_guarded_leave;
    in_every_order(OWN, guard_own);
}

/* Without cleanups: what is left behind must not hurt. */
static void drop_here(void *arg) {
    (void)arg;
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(wf_arch_guarded_call(&outer, leave_through_here, &outer), WF_GUARDED_LEFT);
        CHECK_TEXT(trace, "");
        check_stacks();
    }
}

static void drop_own(void *arg) {
    (void)arg;
    CHECK_EQ(wf_arch_guarded_call(&outer, enter_here, &outer), WF_GUARDED_LEFT);
    CHECK_TEXT(trace, "");
    use_stack(20);
    call_on(HERE, drop_here, NULL);
}

TEST(dropping_the_frames_of_several_stacks) {
    leave = wf_guarded_drop;
    in_every_order(OWN, drop_own);
}

static void return_lower(void *arg) {
    struct wf_context *there = &contexts[place[THERE]];
    wf_context_call_on(memory[place[THERE]] + STACK / 2, there, leave_deep, arg);
    say("never");
}

/* The callback of a foreign call that guards itself: the call onto the stack is not left, the guarded one on it is. */
static void guard_there(void *arg) {
    CHECK(runs_on(THERE));
    CHECK_EQ(wf_arch_guarded_call(&inner, leave_from_there, &inner), WF_GUARDED_LEFT);
    CHECK_CLEANUPS("ab");
    CHECK_EQ(wf_arch_guarded_call(&inner, return_lower, &inner), WF_GUARDED_LEFT);
    CHECK_CLEANUPS("aba");
    CHECK(runs_on(THERE));
    use_stack(20);
    wf_arch_guarded_call(&inner, leave_from_there, arg); /* the outer one, through the inner one */
    say("never");
}

static void call_guard_there(void *arg) {
    const char *letter __attribute__((cleanup(say_cleanup))) = "d";
    call_on(THERE, guard_there, arg);
    say("never");
}

static void guard_both(void *arg) {
    (void)arg;
    CHECK_EQ(wf_arch_guarded_call(&outer, call_guard_there, &outer), WF_GUARDED_LEFT);
    CHECK_CLEANUPS("abaabd");
    trace[0] = 0;
    check_stacks();
}

TEST(a_guarded_call_on_the_other_stack_is_left_by_itself) {
    leave = wf_guarded_leave;
    in_every_order(HERE, guard_both);
}

static void raise_exception(struct wf_guarded *guarded) {
    struct _Unwind_Exception *exception = (struct _Unwind_Exception *)(void *)guarded->unwinding;
    memset(exception, 0, sizeof *exception);
    memcpy(&exception->exception_class, "TESTTEST", 8);
    _Unwind_RaiseException(exception);
    say("never"); /* nobody catches it */
}

static void catch_here(void *arg) {
    (void)arg;
    CHECK_EQ(wf_arch_guarded_call(&outer, leave_through_here, &outer), WF_GUARDED_EXCEPTION);
    CHECK(outer.exception == (void *)outer.unwinding);
    CHECK_CLEANUPS("abc");
    trace[0] = 0;
    check_stacks();
}

TEST(an_exception_passes_to_the_first_stack) {
    leave = raise_exception;
    in_every_order(HERE, catch_here);
}
