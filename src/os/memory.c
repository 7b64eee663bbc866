/* SPDX-License-Identifier: MIT
 *
 * os/memory.c - blocks, mappings, guards.
 *
 * Guards: on Linux 6.13 and later MADV_GUARD_INSTALL marks pages in the page table and costs no mapping, so a million
 * guarded stacks live in a handful of mappings. Older kernels get mprotect, which splits the mapping: each guard then
 * costs two of the vm.max_map_count the process may have (65,530 by default).
 */
#include "os/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/atomic.h"
#include "base/sanitizer.h"
#include "os/fault.h"

#ifdef WF_ASAN
void __asan_unpoison_memory_region(void const volatile *address, size_t size);
#endif

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif
#ifndef SYS_process_madvise
#define SYS_process_madvise 440
#endif
#define PIDFD_OF_SELF (-10000) /* Linux 6.14; before that a bad descriptor, and the caller sets guards one by one */

static _Atomic int64_t live_blocks;
static _Atomic int64_t mapped_bytes;

/* In the build that looks for races of users ours cannot be seen, nor what orders them: who frees a block may be somebody else than
 * who has allocated it, and that is no race. */
#ifdef WF_TSAN_ANNOTATE
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
#endif

static void give_back(void *block) {
#ifdef WF_TSAN_ANNOTATE
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
#endif
    free(block);
#ifdef WF_TSAN_ANNOTATE
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
#endif
}

void *wf_os_alloc(size_t bytes) {
    if (wf_fault(WF_CALL_ALLOC))
        return NULL;
    void *block = calloc(1, bytes);
    if (block)
        wf_fetch_add_relaxed(&live_blocks, 1);
    return block;
}

void *wf_os_alloc_aligned(size_t alignment, size_t bytes) {
    WF_ASSERT(alignment >= sizeof(void *));
    if (wf_fault(WF_CALL_ALLOC))
        return NULL;
    size_t rounded = (bytes + alignment - 1) & ~(alignment - 1);
    void *block = aligned_alloc(alignment, rounded);
    if (!block)
        return NULL;
    memset(block, 0, rounded);
    wf_fetch_add_relaxed(&live_blocks, 1);
    return block;
}

void wf_os_free(void *block) {
    if (!block)
        return;
    wf_fetch_sub_relaxed(&live_blocks, 1);
    give_back(block);
}

void *wf_os_alloc_lasting(size_t bytes) {
    return wf_fault(WF_CALL_ALLOC) ? NULL : calloc(1, bytes);
}

void wf_os_free_lasting(void *block) {
    give_back(block);
}

int wf_os_map(size_t bytes, void **out) {
    if (wf_fault(WF_CALL_MMAP))
        return -ENOMEM;
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return -ENOMEM;
    /* A huge page under a stack would make one touched page cost two megabytes. Advice only: failure is harmless. */
    (void)madvise(base, bytes, MADV_NOHUGEPAGE);
    wf_fetch_add_relaxed(&mapped_bytes, (int64_t)bytes);
    wf_os_forget(base, bytes); /* there may have been a thread's stack here */
    *out = base;
    return 0;
}

void wf_os_unmap(void *base, size_t bytes) {
    wf_os_forget(base, bytes); /* what is mapped here next need not come from us */
    int failed = munmap(base, bytes);
    WF_CHECK(failed == 0);
    wf_fetch_sub_relaxed(&mapped_bytes, (int64_t)bytes);
}

enum wf_guard wf_os_guard_probe(void) {
    void *base;
    if (wf_os_map(wf_os_page_size(), &base) != 0)
        return WF_GUARD_PROTECT;
    int failed = wf_os_guard_install(base, wf_os_page_size(), WF_GUARD_MARKER);
    /* Emulators and sandboxes may nod at advice that they do not know: see whether the kernel can still read it. */
    if (!failed)
        failed = access(base, F_OK) == 0 || errno != EFAULT;
    wf_os_unmap(base, wf_os_page_size());
    return failed ? WF_GUARD_PROTECT : WF_GUARD_MARKER;
}

int wf_os_guard_install(void *base, size_t bytes, enum wf_guard kind) {
    int fault = wf_fault(WF_CALL_GUARD);
    if (fault)
        return fault;
    if (kind == WF_GUARD_NONE)
        return 0;
    int failed = kind == WF_GUARD_MARKER ? madvise(base, bytes, MADV_GUARD_INSTALL) : mprotect(base, bytes, PROT_NONE);
    return failed ? -errno : 0;
}

uint32_t wf_os_guard_install_many(void *base, size_t stride, size_t bytes, uint32_t count) {
    struct iovec ranges[64];
    if (wf_fault(WF_CALL_GUARD))
        return 0;
    if (count > sizeof ranges / sizeof ranges[0])
        count = sizeof ranges / sizeof ranges[0];
    for (uint32_t i = 0; i < count; i++)
        ranges[i] = (struct iovec){.iov_base = (char *)base + i * stride, .iov_len = bytes};
    long done = syscall(SYS_process_madvise, PIDFD_OF_SELF, ranges, (long)count, MADV_GUARD_INSTALL, 0);
    return done < 0 ? 0 : (uint32_t)((size_t)done / bytes);
}

void wf_os_forget(void *base, size_t bytes) {
#ifdef WF_ASAN
    __asan_unpoison_memory_region(base, bytes);
#else
    (void)base, (void)bytes;
#endif
}

int wf_os_discard(void *base, size_t bytes) {
    int fault = wf_fault(WF_CALL_DISCARD);
    if (fault)
        return fault;
    return madvise(base, bytes, MADV_DONTNEED) ? -errno : 0;
}

size_t wf_os_first_resident(void *base, size_t bytes) {
    unsigned char resident[256];
    size_t page = wf_os_page_size();
    for (size_t at = 0; at < bytes;) {
        size_t part = bytes - at < sizeof resident * page ? bytes - at : sizeof resident * page;
        if (syscall(SYS_mincore, (char *)base + at, part, resident) != 0)
            return bytes;
        for (size_t i = 0; i < part / page; i++)
            if (resident[i] & 1)
                return at + i * page;
        at += part;
    }
    return bytes;
}

size_t wf_os_page_size(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

int64_t wf_os_live_blocks(void) {
    return wf_load_relaxed(&live_blocks);
}

int64_t wf_os_mapped_bytes(void) {
    return wf_load_relaxed(&mapped_bytes);
}
