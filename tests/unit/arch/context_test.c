/* SPDX-License-Identifier: MIT
 *
 * unit/arch/context_test.c - contexts: entering, leaving, what survives a switch, where unwinding ends.
 *
 * One thread, stacks from a static array, no scheduler.
 */
#include "arch/context.h"

#include <unwind.h>

#include "os/thread.h"
#include "support/run.h"

enum { STACK = 256 * 1024 };

struct coroutine {
    struct wf_context context;
    struct wf_context *back;
    void (*body)(struct coroutine *self);
    void *arg;
    int steps;
    bool is_over;
};

static _Alignas(64) char stacks[4][STACK];
static struct wf_context own;

static void come_back(struct coroutine *self) {
    wf_context_switch(&self->context, self->back, false);
}

static void coroutine_main(void *opaque) {
    struct coroutine *self = opaque;
    wf_context_entered();
    self->body(self);
    self->is_over = true;
    wf_context_switch(&self->context, self->back, true);
    abort();
}

static void coroutine_init(struct coroutine *coroutine, int stack, void (*body)(struct coroutine *self), void *arg) {
    *coroutine = (struct coroutine){.body = body, .arg = arg};
    wf_context_init(&coroutine->context, stacks[stack], STACK, &own);
    coroutine->context.sp = wf_arch_prepare(stacks[stack] + STACK, coroutine_main, coroutine);
}

static void own_init(void) {
    void *low;
    size_t size;
    CHECK_EQ(wf_os_thread_stack(&low, &size), 0);
    wf_context_adopt(&own, low, size);
}

static void resume(struct wf_context *from, struct coroutine *coroutine) {
    coroutine->back = from;
    wf_context_switch(from, &coroutine->context, false);
}

static void run_to_end(struct coroutine *coroutine) {
    while (!coroutine->is_over)
        resume(&own, coroutine);
    wf_context_term(&coroutine->context);
}

static void check_argument(struct coroutine *self) {
    CHECK(self->arg == &own);
    self->steps = 1;
}

TEST(a_new_context_gets_its_argument) {
    struct coroutine coroutine;
    own_init();
    coroutine_init(&coroutine, 0, check_argument, &own);
    run_to_end(&coroutine);
    CHECK_EQ(coroutine.steps, 1);
}

typedef double four_doubles __attribute__((vector_size(32)));

static __attribute__((noinline)) void store_aligned(struct coroutine *self) {
    _Alignas(16) volatile char sixteen[64];
    _Alignas(64) volatile char cache_line[64];
    volatile four_doubles vector = {1, 2, 3, 4};
    sixteen[0] = cache_line[0] = 1;
    CHECK_EQ((uintptr_t)sixteen % 16, 0);
    CHECK_EQ((uintptr_t)cache_line % 64, 0);
    CHECK(vector[3] == 4);
    char text[64];
    snprintf(text, sizeof text, "%f %d", 1.5, self->steps); /* variadic code saves vector registers aligned */
    CHECK_TEXT(text, "1.500000 0");
}

TEST(the_stack_is_aligned_at_entry) {
    struct coroutine coroutine;
    own_init();
    coroutine_init(&coroutine, 0, store_aligned, NULL);
    run_to_end(&coroutine);
}

/* More live values than there are registers, so that every callee-saved one holds some of them across the switch. */
static __attribute__((noinline)) uint64_t juggle(struct coroutine *coroutine, bool is_inside, uint64_t seed) {
    uint64_t a = seed + 1, b = seed * 3, c = seed ^ 5, d = seed + 7, e = seed * 11, f = seed ^ 13, g = seed + 17;
    double x = (double)seed + 0.5, y = (double)seed * 2;
    for (int i = 0; i < 100; i++) {
        if (is_inside)
            come_back(coroutine);
        else
            resume(&own, coroutine);
        a += b, b ^= c, c += d, d ^= e, e += f, f ^= g, g += a;
        x += y, y += 1;
    }
    return a ^ b ^ c ^ d ^ e ^ f ^ g ^ (uint64_t)x ^ (uint64_t)y;
}

static uint64_t juggle_alone(uint64_t seed) {
    uint64_t a = seed + 1, b = seed * 3, c = seed ^ 5, d = seed + 7, e = seed * 11, f = seed ^ 13, g = seed + 17;
    double x = (double)seed + 0.5, y = (double)seed * 2;
    for (int i = 0; i < 100; i++) {
        a += b, b ^= c, c += d, d ^= e, e += f, f ^= g, g += a;
        x += y, y += 1;
    }
    return a ^ b ^ c ^ d ^ e ^ f ^ g ^ (uint64_t)x ^ (uint64_t)y;
}

static uint64_t inner_sum;

static void juggle_inside(struct coroutine *self) {
    inner_sum = juggle(self, true, 1234567);
}

TEST(a_switch_keeps_every_value_on_both_sides) {
    struct coroutine coroutine;
    own_init();
    coroutine_init(&coroutine, 0, juggle_inside, NULL);
    uint64_t outer_sum = juggle(&coroutine, false, 7654321);
    run_to_end(&coroutine);
    CHECK(outer_sum == juggle_alone(7654321));
    CHECK(inner_sum == juggle_alone(1234567));
}

static struct coroutine nested[3];

static void nest(struct coroutine *self) {
    int depth = (int)(self - nested);
    for (int i = 0; i < 3; i++) {
        if (depth < 2) {
            nested[depth + 1].back = &self->context;
            wf_context_switch(&self->context, &nested[depth + 1].context, false);
        }
        self->steps++;
        come_back(self);
    }
}

TEST(contexts_enter_contexts) {
    own_init();
    for (int i = 0; i < 3; i++)
        coroutine_init(&nested[i], i, nest, NULL);
    for (int i = 0; i < 3; i++)
        resume(&own, &nested[0]);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(nested[i].steps, 3);
    for (int i = 2; i >= 0; i--)
        run_to_end(&nested[i]);
}

TEST(floating_point_control_is_read_and_set) {
    uint64_t standard = wf_arch_fp_control_get();
#if defined(__x86_64__)
    uint64_t changed = standard ^ 0x6000;
#else
    uint64_t changed = standard ^ 0xc00000;
#endif
    wf_arch_fp_control_set(changed);
    CHECK_EQ(wf_arch_fp_control_get(), changed);
    wf_arch_fp_control_set(standard);
    CHECK_EQ(wf_arch_fp_control_get(), standard);
}

static _Unwind_Reason_Code count_frame(struct _Unwind_Context *context, void *opaque) {
    int *frames = opaque;
    if (_Unwind_GetIP(context) == 0)
        return _URC_END_OF_STACK;
    return ++*frames > 100 ? _URC_NORMAL_STOP : _URC_NO_REASON;
}

static __attribute__((noinline)) int count_frames(int depth) {
    int frames = 0;
    if (depth > 0)
        frames = count_frames(depth - 1);
    else
        _Unwind_Backtrace(count_frame, &frames);
    __asm__ volatile("" : "+r"(frames));
    return frames;
}

static int shallow_frames, deep_frames;

static void walk(struct coroutine *self) {
    (void)self;
    shallow_frames = count_frames(0);
    deep_frames = count_frames(10);
}

TEST(unwinding_ends_at_the_first_frame_of_a_context) {
    struct coroutine coroutine;
    own_init();
    coroutine_init(&coroutine, 0, walk, NULL);
    run_to_end(&coroutine);
    CHECK_GE(shallow_frames, 3);
    CHECK_LE(shallow_frames, 8);
    CHECK_EQ(deep_frames, shallow_frames + 10);
}
