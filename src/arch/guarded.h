/* SPDX-License-Identifier: MIT
 *
 * arch/guarded.h - calls that can be left from far above, and that no exception passes.
 *
 * wf_arch_guarded_call calls fn(arg) and returns how it ended: by returning, by wf_guarded_leave from any depth, or by
 * an exception (of C++ or any other language that uses the system's unwinder) that nobody caught on the way; then
 * guarded->exception is the unwinder's object.
 *
 * wf_guarded_leave runs the cleanups of the frames it leaves (C++ destructors, cleanup attributes of code built with
 * -fexceptions) by a forced unwind, as pthread_exit does; beyond a frame without unwind tables nothing is cleaned up.
 */
#ifndef WF_ARCH_GUARDED_H
#define WF_ARCH_GUARDED_H

enum wf_guarded_end { WF_GUARDED_RETURNED = 0, WF_GUARDED_LEFT = 1, WF_GUARDED_EXCEPTION = 2 };

struct wf_guarded {
    void *mark;      /* first: the assembly writes it */
    void *exception; /* second: the assembly writes it */
    /* The unwinder's object for wf_guarded_leave. Here, because it has to outlive every frame that is left: cleanups run
     * on the stack that those frames had. */
    _Alignas(16) unsigned char unwinding[32];
};

int wf_arch_guarded_call(struct wf_guarded *guarded, void (*fn)(void *arg), void *arg);

/* Only inside the call: on its own stack, or on one that was called onto from there (arch/call.h). */
_Noreturn void wf_guarded_leave(struct wf_guarded *guarded);

/* The same without cleanups, for a frame that was entered in no regular way. */
_Noreturn void wf_guarded_drop(struct wf_guarded *guarded);

/* Describes an exception that a guarded call met, for reports, and frees it. */
void wf_guarded_describe(void *exception, char *buffer, unsigned long size);

/* What the C++ run-time library keeps for each thread: exceptions being handled, and how many are in flight. It belongs
 * to the fiber: one that is suspended inside a catch block must find its own back. NULL in a program without C++. */
struct wf_cxx_state {
    void *caught;
    unsigned int uncaught;
};

struct wf_cxx_state *wf_cxx_state_location(void);

#endif
