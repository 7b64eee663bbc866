/* SPDX-License-Identifier: MIT
 *
 * wmx/plain.c - plain accesses, checked for data races by vector clocks, and the heap of the code under test.
 *
 * Two plain accesses race when one is a write and neither happens before the other. Each group of four bytes remembers
 * its last write and the last read of each thread, as the clock of the thread at that time. Each visible operation
 * moves its thread's clock on afterwards, so a view that a release hands out covers exactly what came before it.
 *
 * The heap never gives memory out twice in one execution, and keeps a gap between blocks: every use of a freed block
 * and every access beyond one is seen, atomic ones too.
 */
#include "wmx/wmx.h"

#include <string.h>

enum { HEAP_GAP = 16 };

static struct wmx_cell *cell_of(uintptr_t address);
static bool races(const struct wmx_cell *cell, const struct wmx_thread *thread, bool is_write);

void wmx_plain(const void *address, size_t size, bool is_write, const void *code) {
    if (!wmx || !wmx->root_pointer)
        return;
    struct wmx_thread *thread = &wmx->thread[wmx->current];
    uintptr_t begin = (uintptr_t)address;
    wmx_check_heap(begin, size, code);
    uint16_t clock = thread->view.clock[wmx->current];
    for (uintptr_t at = begin & ~(uintptr_t)3; at < begin + size; at += 4) {
        struct wmx_cell *cell = cell_of(at);
        if (races(cell, thread, is_write)) {
            wmx_log(is_write ? 'w' : 'r', 0, -1, 0, begin, code);
            wmx_fail("data race on a plain %s of %zu bytes", is_write ? "write" : "read", size);
        }
        if (!is_write) {
            cell->read_clock[wmx->current] = clock;
            continue;
        }
        if (wmx_find_location(at) >= 0)
            wmx_fail("plain write over an atomic in use");
        cell->writer = wmx->current;
        cell->write_clock = clock;
        memset(cell->read_clock, 0, sizeof cell->read_clock);
    }
}

static bool races(const struct wmx_cell *cell, const struct wmx_thread *thread, bool is_write) {
    int self = wmx->current;
    if (cell->writer >= 0 && cell->writer != self && thread->view.clock[cell->writer] < cell->write_clock)
        return true;
    if (!is_write)
        return false;
    for (int i = 0; i < wmx->thread_count; i++)
        if (i != self && thread->view.clock[i] < cell->read_clock[i])
            return true;
    return false;
}

void wmx_check_initial(uintptr_t address, int size, const void *code) {
    const struct wmx_thread *thread = &wmx->thread[wmx->current];
    if (races(cell_of(address & ~(uintptr_t)3), thread, false)) {
        wmx_log('r', 0, -1, 0, address, code);
        wmx_fail("an atomic of %d bytes is read without having seen its initialisation", size);
    }
}

static struct wmx_cell *cell_of(uintptr_t address) {
    unsigned at = ((unsigned)(address >> 2) * 2654435761u >> 16) & (WMX_CELLS - 1);
    for (int i = 0; i < WMX_CELLS; i++) {
        struct wmx_cell *cell = &wmx->cell[at];
        if (cell->generation != wmx->generation) {
            memset(cell, 0, sizeof *cell);
            cell->generation = wmx->generation;
            cell->address = address;
            cell->writer = -1;
            return cell;
        }
        if (cell->address == address)
            return cell;
        at = (at + 1) & (WMX_CELLS - 1);
    }
    wmx_fail("more than %d groups of plain bytes", WMX_CELLS);
}

void wmx_check_heap(uintptr_t address, size_t size, const void *code) {
    uintptr_t heap = (uintptr_t)wmx->heap;
    if (address < heap || address >= heap + WMX_HEAP_BYTES)
        return;
    for (int i = 0; i < wmx->block_count; i++) {
        const struct wmx_block *block = &wmx->block[i];
        uintptr_t base = (uintptr_t)block->base;
        if (address >= base && address + size <= base + block->bytes && !block->is_freed)
            return;
    }
    wmx_log('H', 0, -1, 0, address, code);
    wmx_fail("use of freed memory, or beyond a block");
}

void *wmx_alloc(size_t alignment, size_t bytes, const void *code) {
    size_t base = (wmx->heap_used + HEAP_GAP + alignment - 1) / alignment * alignment;
    if (wmx->block_count == WMX_BLOCKS || base + bytes > WMX_HEAP_BYTES)
        wmx_fail("more than %d blocks or %d bytes of heap", WMX_BLOCKS, WMX_HEAP_BYTES);
    wmx->heap_used = base + bytes;
    char *block = wmx->heap + base;
    memset(block, 0, bytes);
    wmx->block[wmx->block_count++] = (struct wmx_block){block, bytes, false};
    wmx_plain(block, bytes, true, code);
    return block;
}

void wmx_free(void *base, const void *code) {
    if (!base)
        return;
    for (int i = 0; i < wmx->block_count; i++) {
        struct wmx_block *block = &wmx->block[i];
        if (block->base != base)
            continue;
        wmx_check_heap((uintptr_t)base, block->bytes, code);
        block->is_freed = true;
        return;
    }
    wmx_fail("free of what was not allocated");
}

const char *wmx_find_leak(void) {
    for (int i = 0; i < wmx->block_count; i++)
        if (!wmx->block[i].is_freed)
            return "a block is left over";
    return NULL;
}
