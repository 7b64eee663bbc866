/* SPDX-License-Identifier: MIT
 *
 * os/call.h - how most system calls are made.
 *
 * A test may want the call to fail before it is made (os/fault.h); a signal may come first, and then it is made again; and what
 * the kernel has against it comes back as a negative number.
 */
#ifndef WF_OS_CALL_H
#define WF_OS_CALL_H

#include <errno.h>

#include "os/fault.h"

/* kind without its WF_CALL_. The result gets what the call returns, or the negative error, but never -EINTR. */
#define WF_OS_CALL(result, kind, call) \
    do { \
        int fault_ = wf_fault(WF_CALL_##kind); \
        (result) = fault_ ? fault_ : (__typeof__(result))(call); \
        if (!fault_ && (result) < 0) \
            (result) = -errno; \
    } while ((result) == -EINTR)

#endif
