/* SPDX-License-Identifier: MIT
 *
 * os/barrier.c - the expedited private form of membarrier (Linux 4.14).
 *
 * Preparing registers the process; doing so again is allowed and cheap. After a successful registration the barrier itself
 * cannot fail.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os/barrier.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assert.h"
#include "os/fault.h"

int wf_os_barrier_prepare(void) {
    int fault = wf_fault(WF_CALL_BARRIER);
    if (fault)
        return fault;
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0 ? 0 : -errno;
}

void wf_os_barrier(void) {
    long result = syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    WF_CHECK(result == 0);
}
