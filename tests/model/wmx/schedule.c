/* SPDX-License-Identifier: MIT
 *
 * wmx/schedule.c - threads as fibers, and the choices of an execution.
 *
 * The trail of choices is the whole search: an execution takes the recorded choices first and then always the first
 * alternative, appending it; the search then raises the last choice that can be raised and runs again (explore.c).
 * Alternative 0 of a scheduling choice is to go on with the current thread, so the first execution is the one without
 * preemptions.
 */
#include "wmx/wmx.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A spin that nobody can end is bounded in real code by a count or not at all; above this it is not. */
enum { RELAX_LIMIT = 500 };

void wmx_swap(void **save, void *load);
extern char wmx_trampoline[];
void wmx_entry(void);

__asm__(".text\n"
        ".globl wmx_swap\n"
        "wmx_swap:\n"
        "    push %rbp\n    push %rbx\n    push %r12\n    push %r13\n    push %r14\n    push %r15\n"
        "    mov %rsp, (%rdi)\n"
        "    mov %rsi, %rsp\n"
        "    pop %r15\n    pop %r14\n    pop %r13\n    pop %r12\n    pop %rbx\n    pop %rbp\n"
        "    ret\n"
        ".globl wmx_trampoline\n"
        "wmx_trampoline:\n"
        "    call wmx_entry\n"
        "    ud2\n");

static bool is_enabled(int thread);
static bool has_news(const struct wmx_thread *thread);
static void pick(bool is_preemption);
static int pick_stuck(int *candidate);
static void resume(int next);
static uint64_t random_below(uint64_t bound);

int wmx_choose(int width) {
    if (width <= 1)
        return 0;
    if (wmx->options.random_runs)
        return (int)random_below((uint64_t)width);
    if (wmx->choice_at == wmx->choice_count) {
        if (wmx->choice_count == WMX_CHOICES)
            wmx_fail("more than %d choices in one execution", WMX_CHOICES);
        wmx->choice[wmx->choice_count++] = (struct wmx_choice){0, (uint16_t)width};
    }
    return wmx->choice[wmx->choice_at++].taken;
}

static uint64_t random_below(uint64_t bound) {
    wmx->random ^= wmx->random << 13;
    wmx->random ^= wmx->random >> 7;
    wmx->random ^= wmx->random << 17;
    return (wmx->random >> 11) % bound;
}

void wmx_step(void) {
    bool can_preempt = wmx->options.random_runs || wmx->preempted < wmx->options.preemptions;
    if (can_preempt)
        pick(true);
}

void wmx_yield(void) {
    pick(false);
}

void wmx_block(void) {
    pick(false);
}

/* Chooses who goes on, and returns when that is the caller. */
static void pick(bool is_preemption) {
    int candidate[WMX_THREADS];
    int count = 0;
    int self = wmx->current;
    if (is_enabled(self))
        candidate[count++] = self;
    for (int i = 0; i < wmx->thread_count; i++)
        if (i != self && is_enabled(i))
            candidate[count++] = i;
    if (count == 0)
        count = pick_stuck(candidate);
    int next = candidate[wmx_choose(count)];
    if (next == self) {
        wmx->thread[self].status = WMX_READY;
        return;
    }
    if (is_preemption)
        wmx->preempted++;
    resume(next);
}

static bool is_enabled(int thread) {
    const struct wmx_thread *t = &wmx->thread[thread];
    switch (t->status) {
    case WMX_READY:
        return true;
    case WMX_JOINING:
        for (int i = 0; i < wmx->thread_count; i++)
            if (i != thread && wmx->thread[i].status != WMX_DONE)
                return false;
        return true;
    case WMX_LOCKING:
        return !wmx->lock[t->lock].is_taken;
    case WMX_RELAXING:
        return has_news(t);
    case WMX_SLEEPING:
    case WMX_DONE:
        break;
    }
    return false;
}

static bool has_news(const struct wmx_thread *thread) {
    for (int i = 0; i < thread->read_count; i++)
        if (wmx->location[thread->read[i].location].count - 1 > thread->read[i].stamp)
            return true;
    return false;
}

/* Nobody is enabled. A relaxing thread goes on all the same, because its spin may be a bounded one; else this is the
 * end, a good one if all are done. */
static int pick_stuck(int *candidate) {
    int count = 0;
    bool is_over = true;
    for (int i = 0; i < wmx->thread_count; i++) {
        struct wmx_thread *thread = &wmx->thread[i];
        if (thread->status != WMX_DONE)
            is_over = false;
        if (thread->status != WMX_RELAXING)
            continue;
        if (++thread->relaxed_in_vain > RELAX_LIMIT)
            wmx_fail("livelock: a spin that nobody can end");
        candidate[count++] = i;
    }
    if (count)
        return count;
    if (!is_over)
        wmx_fail("deadlock: everybody sleeps (a lost wake-up)");
    wmx_leave();
}

static void resume(int next) {
    int self = wmx->current;
    if (wmx->thread[next].status != WMX_DONE)
        wmx->thread[next].status = WMX_READY;
    wmx->current = next;
    wmx_swap(&wmx->thread[self].stack_pointer, wmx->thread[next].stack_pointer);
}

void wmx_spawn(void (*function)(void *), void *argument) {
    if (wmx->thread_count == WMX_THREADS)
        wmx_fail("more than %d threads", WMX_THREADS);
    int self = wmx->thread_count++;
    struct wmx_thread *thread = &wmx->thread[self];
    char *stack = thread->stack;
    memset(thread, 0, sizeof *thread);
    thread->stack = stack;
    thread->function = function;
    thread->argument = argument;
    if (self > 0)
        thread->view = wmx->thread[wmx->current].view;
    thread->view.clock[self] = 1;

    void **top = (void **)(void *)(stack + WMX_STACK_BYTES - 64);
    *--top = NULL;
    *--top = NULL;
    *--top = wmx_trampoline;
    top -= 6; /* callee-saved registers */
    memset(top, 0, 6 * sizeof *top);
    thread->stack_pointer = top;
}

__attribute__((used)) void wmx_entry(void) {
    struct wmx_thread *thread = &wmx->thread[wmx->current];
    thread->function(thread->argument);
    thread->status = WMX_DONE;
    wmx_block();
    __builtin_trap();
}

void wmx_run_from_root(void) {
    wmx_swap(&wmx->root_pointer, wmx->thread[0].stack_pointer);
}

/* Ends the execution: back to the search. The other fibers are simply forgotten. */
_Noreturn void wmx_leave(void) {
    void *unused;
    wmx_swap(&unused, wmx->root_pointer);
    __builtin_unreachable();
}

_Noreturn void wmx_fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(wmx->failure_text, sizeof wmx->failure_text, format, arguments);
    va_end(arguments);
    wmx->failure = wmx->failure_text;
    wmx_leave();
}

void wmx_log(char kind, int order, int location, int stamp, uint64_t value, const void *code) {
    if (wmx->event_count == WMX_EVENTS)
        wmx_fail("livelock: more than %d operations in one execution", WMX_EVENTS);
    wmx->event[wmx->event_count++] = (struct wmx_event){
        .thread = (uint8_t)wmx->current,
        .kind = kind,
        .order = (uint8_t)order,
        .location = (int8_t)location,
        .stamp = stamp,
        .value = value,
        .code = code,
    };
}
