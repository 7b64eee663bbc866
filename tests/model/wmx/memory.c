/* SPDX-License-Identifier: MIT
 *
 * wmx/memory.c - what an atomic operation or a fence may read, and what it makes visible. The model: wmx/wmx.h.
 *
 * Rules, in terms of views
 *   - A load may read any store whose stamp is not below its thread's view (coherence), and, if it is seq_cst, not below
 *     the view of S. Reading raises the thread's view of that location.
 *   - An acquire load also joins the store's view; a relaxed one keeps it for the next acquire fence.
 *   - A release store hands out its thread's view; a relaxed one what the last release fence published.
 *   - A read-modify-write reads the latest store, and what it stores hands on the view of what it read (the release
 *     sequence). A compare and swap that fails is a load of a value that differs.
 *   - A seq_cst fence joins the view of S and becomes it.
 *   - After each operation the thread's own clock goes up: later plain accesses are not covered by an earlier release.
 */
#include "wmx/wmx.h"

#include <string.h>

static bool is_acquire(int order) {
    return order == WMX_CONSUME || order == WMX_ACQUIRE || order == WMX_ACQ_REL || order == WMX_SEQ_CST;
}

static bool is_release(int order) {
    return order == WMX_RELEASE || order == WMX_ACQ_REL || order == WMX_SEQ_CST;
}

static bool may_read_old(void) {
    return wmx->options.random_runs || wmx->old_reads < wmx->options.old_reads;
}

static int location_of(uintptr_t address, int size, const void *code);
static int oldest_visible(const struct wmx_thread *thread, int location, int order);
static void see(struct wmx_thread *thread, int location, int stamp, int order);
static void remember_read(struct wmx_thread *thread, int location, int stamp);
static void append(struct wmx_thread *thread, int location, uint64_t value, int order,
                   const struct wmx_view *inherited);

void wmx_join_view(struct wmx_view *into, const struct wmx_view *from) {
    for (int i = 0; i < WMX_LOCATIONS; i++)
        into->stamp[i] = into->stamp[i] > from->stamp[i] ? into->stamp[i] : from->stamp[i];
    for (int i = 0; i < WMX_THREADS; i++)
        into->clock[i] = into->clock[i] > from->clock[i] ? into->clock[i] : from->clock[i];
}

uint64_t wmx_load(uintptr_t address, int size, int order, const void *code) {
    wmx_step();
    struct wmx_thread *thread = &wmx->thread[wmx->current];
    int location = location_of(address, size, code);
    int latest = wmx->location[location].count - 1;
    int stamp = latest;
    if (may_read_old())
        stamp -= wmx_choose(latest - oldest_visible(thread, location, order) + 1);
    wmx->old_reads += stamp < latest;
    if (stamp == 0)
        wmx_check_initial(address, size, code);
    see(thread, location, stamp, order);
    uint64_t value = wmx->location[location].store[stamp].value;
    wmx_log('L', order, location, stamp, value, code);
    wmx_tick(thread);
    return value;
}

void wmx_store(uintptr_t address, int size, uint64_t value, int order, const void *code) {
    wmx_step();
    struct wmx_thread *thread = &wmx->thread[wmx->current];
    int location = location_of(address, size, code);
    append(thread, location, value, order, NULL);
    wmx_log('S', order, location, wmx->location[location].count - 1, value, code);
    wmx_tick(thread);
}

uint64_t wmx_update(uintptr_t address, int size, enum wmx_update kind, uint64_t operand, int order, const void *code) {
    wmx_step();
    struct wmx_thread *thread = &wmx->thread[wmx->current];
    int location = location_of(address, size, code);
    int latest = wmx->location[location].count - 1;
    struct wmx_view inherited = wmx->location[location].store[latest].view;
    uint64_t old = wmx->location[location].store[latest].value;
    uint64_t value = operand;
    switch (kind) {
    case WMX_EXCHANGE:
        break;
    case WMX_ADD:
        value = old + operand;
        break;
    case WMX_SUB:
        value = old - operand;
        break;
    case WMX_AND:
        value = old & operand;
        break;
    case WMX_OR:
        value = old | operand;
        break;
    case WMX_XOR:
        value = old ^ operand;
        break;
    }
    if (size < 8)
        value &= ((uint64_t)1 << (8 * size)) - 1;
    see(thread, location, latest, order);
    append(thread, location, value, order, &inherited);
    wmx_log('U', order, location, latest + 1, value, code);
    wmx_tick(thread);
    return old;
}

/* order[0] holds for success, order[1] for failure. */
bool wmx_cas(uintptr_t address, int size, uint64_t *expected, uint64_t desired, const int order[2], const void *code) {
    wmx_step();
    struct wmx_thread *thread = &wmx->thread[wmx->current];
    int location = location_of(address, size, code);
    const struct wmx_store *store = wmx->location[location].store;
    int latest = wmx->location[location].count - 1;
    int candidate[WMX_STORES];
    int count = 0;
    candidate[count++] = latest;
    if (may_read_old())
        for (int i = latest - 1; i >= oldest_visible(thread, location, order[1]); i--)
            if (store[i].value != *expected)
                candidate[count++] = i;
    int stamp = candidate[wmx_choose(count)];
    wmx->old_reads += stamp < latest;
    uint64_t found = store[stamp].value;
    bool is_success = stamp == latest && found == *expected;
    if (is_success) {
        struct wmx_view inherited = store[stamp].view;
        see(thread, location, stamp, order[0]);
        append(thread, location, desired, order[0], &inherited);
        wmx_log('C', order[0], location, stamp + 1, desired, code);
    } else {
        see(thread, location, stamp, order[1]);
        wmx_log('F', order[1], location, stamp, found, code);
        *expected = found;
    }
    wmx_tick(thread);
    return is_success;
}

/* A full fence on every thread: twice, so that each has what all the others had. */
void wmx_fence_everywhere(const void *code) {
    wmx_step();
    for (int i = 0; i < 2 * wmx->thread_count; i++) {
        struct wmx_thread *thread = &wmx->thread[i % wmx->thread_count];
        wmx_join_view(&thread->view, &thread->acquired);
        wmx_join_view(&thread->view, &wmx->sc);
        wmx->sc = thread->view;
        thread->released = thread->view;
        thread->view.clock[i % wmx->thread_count]++;
    }
    wmx_log('B', WMX_SEQ_CST, -1, 0, 1, code);
}

void wmx_fence(int order, const void *code) {
    wmx_step();
    struct wmx_thread *thread = &wmx->thread[wmx->current];
    if (is_acquire(order))
        wmx_join_view(&thread->view, &thread->acquired);
    if (order == WMX_SEQ_CST) {
        wmx_join_view(&thread->view, &wmx->sc);
        wmx->sc = thread->view;
    }
    if (is_release(order))
        thread->released = thread->view;
    wmx_log('B', order, -1, 0, 0, code);
    wmx_tick(thread);
}

/* Coherence holds for the kernel's access on the thread's behalf too; but it orders nothing else. */
uint64_t wmx_kernel_read(uintptr_t address, int size) {
    struct wmx_thread *thread = &wmx->thread[wmx->current];
    int location = location_of(address, size, NULL);
    int latest = wmx->location[location].count - 1;
    see(thread, location, latest, WMX_RELAXED);
    return wmx->location[location].store[latest].value;
}

static int oldest_visible(const struct wmx_thread *thread, int location, int order) {
    int stamp = thread->view.stamp[location];
    if (order == WMX_SEQ_CST && wmx->sc.stamp[location] > stamp)
        stamp = wmx->sc.stamp[location];
    return stamp;
}

static void see(struct wmx_thread *thread, int location, int stamp, int order) {
    const struct wmx_view *view = &wmx->location[location].store[stamp].view;
    if (stamp > thread->view.stamp[location])
        thread->view.stamp[location] = (uint8_t)stamp;
    wmx_join_view(is_acquire(order) ? &thread->view : &thread->acquired, view);
    remember_read(thread, location, stamp);
}

static void remember_read(struct wmx_thread *thread, int location, int stamp) {
    for (int i = 0; i < thread->read_count; i++) {
        if (thread->read[i].location == location) {
            thread->read[i].stamp = stamp;
            return;
        }
    }
    if (thread->read_count < WMX_READS)
        thread->read[thread->read_count++] = (struct wmx_read){location, stamp};
}

static void append(struct wmx_thread *thread, int location, uint64_t value, int order,
                   const struct wmx_view *inherited) {
    struct wmx_location *l = &wmx->location[location];
    if (l->count == WMX_STORES)
        wmx_fail("more than %d stores to one location", WMX_STORES);
    uint8_t stamp = (uint8_t)l->count++;
    struct wmx_store *store = &l->store[stamp];
    thread->view.stamp[location] = stamp;
    store->value = value;
    store->view = is_release(order) ? thread->view : thread->released;
    store->view.stamp[location] = stamp;
    if (inherited)
        wmx_join_view(&store->view, inherited);
    if (order == WMX_SEQ_CST)
        wmx->sc.stamp[location] = stamp;
    memcpy((void *)l->address, &value, (size_t)l->size);
    for (int i = 0; i < thread->read_count; i++)
        if (thread->read[i].location == location)
            thread->read[i].stamp = stamp; /* its own store is no news to a spinning thread */
}

static unsigned slot_of(uintptr_t address) {
    return ((unsigned)(address >> 2) * 2654435761u >> 16) & (WMX_INDEX - 1);
}

int wmx_find_location(uintptr_t address) {
    for (unsigned i = slot_of(address); wmx->index_generation[i] == wmx->generation; i = (i + 1) & (WMX_INDEX - 1))
        if (wmx->location[wmx->index[i]].address == address)
            return wmx->index[i];
    return -1;
}

/* The first access makes the location, with what memory holds as its first store: visible to all, published by none. */
static int location_of(uintptr_t address, int size, const void *code) {
    wmx_check_heap(address, (size_t)size, code);
    int found = wmx_find_location(address);
    if (found >= 0) {
        if (wmx->location[found].size != size)
            wmx_fail("one atomic used with two sizes, %d and %d", wmx->location[found].size, size);
        return found;
    }
    if (wmx->location_count == WMX_LOCATIONS)
        wmx_fail("more than %d atomic locations", WMX_LOCATIONS);
    unsigned i = slot_of(address);
    while (wmx->index_generation[i] == wmx->generation)
        i = (i + 1) & (WMX_INDEX - 1);
    wmx->index_generation[i] = wmx->generation;
    wmx->index[i] = (int16_t)wmx->location_count;
    struct wmx_location *location = &wmx->location[wmx->location_count];
    location->address = address;
    location->size = size;
    location->count = 1;
    memset(&location->store[0], 0, sizeof location->store[0]);
    memcpy(&location->store[0].value, (const void *)address, (size_t)size);
    return wmx->location_count++;
}
