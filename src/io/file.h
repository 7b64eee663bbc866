/* SPDX-License-Identifier: MIT
 *
 * io/file.h - what the calls on files have in common.
 *
 * Each of them is one blocking region, however many system calls it makes. Inside it nothing parks: what a call has opened or
 * allocated on its way it always comes back to.
 */
#ifndef WF_IO_FILE_H
#define WF_IO_FILE_H

#include <errno.h>

#include "base/point.h"
#include "io/fd.h"
#include "os/file.h"
#include "wait/cancel.h"
#include "weft/file.h"
#include "weft/thread.h"

/* How much is moved between two looks at the cancellation. */
enum { WF_FILE_PIECE = 1 << 20 };

static inline size_t wf_file_piece(size_t size) {
    return size < WF_FILE_PIECE ? size : WF_FILE_PIECE;
}

/* result = call, inside a blocking region, unless the fiber is cancelled. */
#define WF_FILE_CALL(result, call) \
    do { \
        (result) = wf_wait_enter(WEFT_NEVER); \
        if (!(result)) { \
            weft_blocking_begin(); \
            (result) = (call); \
            weft_blocking_end(); \
        } \
    } while (0)

/* The same with the descriptor in use; call has it as number. */
#define WF_FILE_FD_CALL(result, fd, call) \
    do { \
        (result) = wf_wait_enter(WEFT_NEVER); \
        struct wf_fd *record_ = (result) ? NULL : wf_fd_get(fd); \
        if (record_) { \
            int number = record_->number; \
            weft_blocking_begin(); \
            (result) = (call); \
            wf_fd_put(record_); \
            weft_blocking_end(); \
        } else if (!(result)) { \
            (result) = -EBADF; \
        } \
    } while (0)

/* Between two pieces: -ECANCELED, or 0. A look and nothing more, since it is made inside a blocking region. */
static inline int wf_file_look(void) {
    WF_POINT("file.piece");
    struct wf_fiber *fiber = wf_fiber_self();
    struct wf_stack *stack = fiber ? wf_fiber_stack(fiber) : NULL;
    return stack && (stack->checks & WF_CHECK_CANCEL) && wf_cancel_is_fired(stack->cancel) ? -ECANCELED : 0;
}

/* WEFT_FILE_... of a mode. */
int wf_file_kind(unsigned mode);

/* A file that nobody has, open for reading and writing, in that folder. Returns its number, and its name. */
enum { WF_FILE_RANDOM_NAME = 32 };
int wf_file_make_random(int folder, char name[WF_FILE_RANDOM_NAME], unsigned mode);
void wf_file_random_name(char name[WF_FILE_RANDOM_NAME]);

#endif
