/* SPDX-License-Identifier: MIT
 *
 * os/barrier.h - a memory barrier on every thread of the process at once.
 *
 * For a pair of which one side is hot and the other rare: the hot side orders a store before a load for the compiler only
 * (wf_fence_compiler), and the rare side makes all threads pass a full barrier by a system call of some microseconds.
 */
#ifndef WF_OS_BARRIER_H
#define WF_OS_BARRIER_H

/* Whether the kernel has it; before the first barrier. Returns 0 or a negative error. */
int wf_os_barrier_prepare(void);
void wf_os_barrier(void);

#endif
