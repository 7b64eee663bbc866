/* SPDX-License-Identifier: MIT
 *
 * os/text.h - small files of the system that are read whole, and whether they have changed since.
 *
 * These calls block, on the disk: fibers make them inside a blocking region. Each returns 0 or a negative error; -EINTR never.
 * What is larger than the caller expects is not read at all.
 */
#ifndef WF_OS_TEXT_H
#define WF_OS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which file it is, and as of when. */
struct wf_os_stamp {
    uint64_t device;
    uint64_t inode;
    int64_t size;
    int64_t changed_ns; /* of the wall clock */
};

int wf_os_text_stamp(const char *path, struct wf_os_stamp *out);
/* Its bytes with a zero behind them, as they were at that stamp; to be freed by wf_os_free. -EINVAL for what is not a regular
 * file, -EFBIG above limit. */
int wf_os_text_read(const char *path, size_t limit, char **out, size_t *size, struct wf_os_stamp *stamp);

static inline bool wf_os_stamp_equal(const struct wf_os_stamp *left, const struct wf_os_stamp *right) {
    return left->device == right->device && left->inode == right->inode && left->size == right->size &&
           left->changed_ns == right->changed_ns;
}

#endif
