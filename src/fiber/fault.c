/* SPDX-License-Identifier: MIT
 *
 * fiber/fault.c - what a fault inside a fiber means.
 *
 * Runs in the signal handler, on the worker's alternate stack. An access to the guard of a stack is an overflow: the
 * fiber, its function, its stack's size and a backtrace are reported and the process is aborted. Any other fault is the
 * program's, unless it asked for faults to become panics: then the interrupted code is made to call weft_panic.
 */
#include <stdlib.h>

#include "base/assert.h"
#include "fiber/fiber.h"
#include "os/report.h"
#include "os/signal.h"

static _Noreturn void report_overflow(struct wf_fibers *fibers, struct wf_stack *stack, const void *address);
static void panic_in_place(void *arg);

bool wf_fiber_on_fault(int signal, siginfo_t *info, void *context) {
    struct wf_fiber_worker *worker = wf_worker_self();
    if (!worker)
        return false;
    struct wf_fibers *fibers = worker->fibers;
    bool is_guard = false;
    struct wf_stack *stack = NULL;
    if (signal != SIGFPE)
        stack = wf_stacks_find(&fibers->stacks, info->si_addr, &is_guard);
    if (stack && is_guard &&
        stack->fiber == wf_worker_fiber(worker)) /* else a wild pointer that happens to lead there */
        report_overflow(fibers, stack, info->si_addr);
    if (!fibers->fault_panics || !wf_worker_fiber(worker))
        return false;
    wf_os_context_call(context, panic_in_place, (void *)(uintptr_t)signal);
    return true;
}

static _Noreturn void report_overflow(struct wf_fibers *fibers, struct wf_stack *stack, const void *address) {
    char who[160] = "a fiber that has ended";
    if (stack->fiber)
        wf_fiber_describe(fibers, stack->fiber, who, sizeof who);
    wf_report("stack overflow in %s: its stack has %zu bytes, the fault is at %p", who, wf_stack_size(stack), address);
    wf_report("give it more with weft_spawn_options.stack_size, or WEFT_STACK_SIZE for all; called from:");
    wf_report_backtrace(24);
    abort();
}

static void panic_in_place(void *arg) {
    int signal = (int)(uintptr_t)arg;
    wf_panic_at_once(signal == SIGFPE   ? "arithmetic fault (SIGFPE)"
                     : signal == SIGBUS ? "bad memory access (SIGBUS)"
                                        : "bad memory access (SIGSEGV)");
}
