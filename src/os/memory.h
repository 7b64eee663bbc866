/* SPDX-License-Identifier: MIT
 *
 * os/memory.h - memory from the system: small blocks, mappings, guards.
 *
 * Every function can be made to fail by a test through os/fault.h. Blocks and mapped bytes are counted, so that a test
 * can show that none is left.
 */
#ifndef WF_OS_MEMORY_H
#define WF_OS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed block, or NULL. Freed by wf_os_free; NULL is allowed there. */
void *wf_os_alloc(size_t bytes);
/* Zeroed block aligned to a power of two of at least 8, for objects that own whole cache lines; or NULL. */
void *wf_os_alloc_aligned(size_t alignment, size_t bytes);
void wf_os_free(void *block);
/* Zeroed block for what stays as long as the process, which is not counted; or NULL. */
void *wf_os_alloc_lasting(size_t bytes);
void wf_os_free_lasting(void *block);

/* Reserves address space (multiple of the page size) that is readable, writable and zero, takes no memory until it is
 * touched, and is not counted against overcommit. Returns 0 or -ENOMEM. */
int wf_os_map(size_t bytes, void **out);
/* Gives a whole mapping back. */
void wf_os_unmap(void *base, size_t bytes);

/* How an overflow into a range is caught. */
enum wf_guard { WF_GUARD_MARKER, WF_GUARD_PROTECT, WF_GUARD_NONE };

/* What this kernel offers for guards: markers in the page table (Linux 6.13 and later) or, failing that, protection. */
enum wf_guard wf_os_guard_probe(void);
/* Makes the range fault on any access. Returns 0, -ENOMEM when the kernel's limit of mappings is reached, -EINVAL. */
int wf_os_guard_install(void *base, size_t bytes, enum wf_guard kind);
/* Markers of that many bytes at base, base + stride, ... in one system call. Returns how many were set, from the first
 * on; 0 where the kernel cannot do it. */
uint32_t wf_os_guard_install_many(void *base, size_t stride, size_t bytes, uint32_t count);

/* Somebody else uses the memory from now on: what AddressSanitizer believes of the frames that were there, some of which never
 * returned, is not true any more. */
void wf_os_forget(void *base, size_t bytes);

/* Drops the contents of whole pages at once; they read as zero afterwards. */
int wf_os_discard(void *base, size_t bytes);

/* Offset of the first page in the range that has memory, or bytes when none has. */
size_t wf_os_first_resident(void *base, size_t bytes);

size_t wf_os_page_size(void);

/* Live blocks of wf_os_alloc and live bytes of wf_os_map in this process. */
int64_t wf_os_live_blocks(void);
int64_t wf_os_mapped_bytes(void);

#endif
