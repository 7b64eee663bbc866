/* SPDX-License-Identifier: MIT
 *
 * fiber/stack_trim.c - giving stack memory back after a burst, and measuring how deep stacks go.
 *
 * The shared lists keep as many warm stacks as were lately in use at once: peak, a high-water mark that loses an eighth
 * at each tick, ten times a second, while there is something to trim. What is above it is made cold, and a warm or hot
 * stack that went deep is cut back to its top page.
 *
 * All of it is done by workers that have nothing else to do, in slices of a few dozen microseconds, so that a timer or a
 * new task never waits long for it. When the lists are down to KEEP, nothing is dirty and no further call is asked for:
 * an idle process has no wake-ups.
 */
#include "fiber/stack.h"

#include "base/assert.h"

/* SLICE: a discard costs 1 to 2 us. CALL_ROOM: more than it takes to ask for one, with a sanitizer too. */
enum { KEEP = 64, SLICE = 32, SHALLOW_LOOK = 256, CALL_ROOM = 1024, TICK_NS = 100000000 };

static int shallow_slice(struct wf_stacks *stacks, struct wf_stack *first);
static bool trim_class(struct wf_stacks *stacks, struct wf_stack_class *class, bool is_tick, bool *has_surplus);
static struct wf_stack *take_surplus(struct wf_stack_class *class);
static bool make_cold(struct wf_stacks *stacks, struct wf_stack_class *class, struct wf_stack *stack);
static char *top_page(struct wf_stacks *stacks, struct wf_stack *stack);

int64_t wf_stacks_trim(struct wf_stacks *stacks, struct wf_stack_cache *cache, int64_t now) {
    if (now >= cache->shallow_at) {
        cache->shallow_at = now + TICK_NS;
        shallow_slice(stacks, cache->hot);
    }
    if (!wf_load_relaxed(&stacks->is_dirty))
        return INT64_MAX;
    int64_t at = wf_load_relaxed(&stacks->trim_at);
    bool is_tick = now >= at && wf_cas_relaxed(&stacks->trim_at, &at, now + TICK_NS);
    if (is_tick)
        wf_store_relaxed(&stacks->is_dirty, false);
    bool has_surplus = false;
    bool has_more = false;
    for (int i = 0; i < WF_STACK_CLASSES; i++)
        has_more |= trim_class(stacks, &stacks->classes[i], is_tick, &has_surplus);
    if (has_more)
        wf_store_relaxed(&stacks->is_dirty, true);
    bool is_dirty = wf_load_relaxed(&stacks->is_dirty);
    return has_surplus ? now : is_dirty ? wf_load_relaxed(&stacks->trim_at) : INT64_MAX;
}

/* The newest stacks come first, and only those that were used lately can be deep. Returns how many were cut back. */
static int shallow_slice(struct wf_stacks *stacks, struct wf_stack *first) {
    int count = 0;
    int seen = 0;
    for (struct wf_stack *stack = first; stack && seen < SHALLOW_LOOK && count < SLICE; stack = stack->next, seen++) {
        if (stack->is_shallow)
            continue;
        wf_stack_make_shallow(stacks, stack);
        if (stack->is_shallow) /* one that cannot be cut back must not ask for another round */
            count++;
    }
    return count;
}

/* True when a later tick will find something to do; has_surplus when there is something to do now. */
static bool trim_class(struct wf_stacks *stacks, struct wf_stack_class *class, bool is_tick, bool *has_surplus) {
    bool has_more = false;
    wf_lock_take(&class->lock);
    if (is_tick) {
        uint32_t out = class->slots - class->warm_count - class->cold_count;
        class->peak -= (class->peak + 7) / 8;
        if (class->peak < out)
            class->peak = out;
        has_more = shallow_slice(stacks, class->warm) > 0;
    }
    wf_lock_drop(&class->lock);
    int count = 0;
    struct wf_stack *stack;
    while (count < SLICE && (stack = take_surplus(class))) {
        if (!make_cold(stacks, class, stack))
            return false; /* not to be had now: the next burst will ask again */
        count++;
    }
    *has_surplus |= count == SLICE;
    wf_lock_take(&class->lock);
    has_more |= class->warm_count > KEEP;
    wf_lock_drop(&class->lock);
    return has_more;
}

static struct wf_stack *take_surplus(struct wf_stack_class *class) {
    wf_lock_take(&class->lock);
    uint32_t out = class->slots - class->warm_count - class->cold_count;
    uint32_t target = class->peak > out ? class->peak - out : 0;
    struct wf_stack *stack = NULL;
    if (class->warm_count > (target > KEEP ? target : KEEP)) {
        stack = class->warm;
        class->warm = stack->next;
        class->warm_count--;
    }
    wf_lock_drop(&class->lock);
    return stack;
}

static bool make_cold(struct wf_stacks *stacks, struct wf_stack_class *class, struct wf_stack *stack) {
    char *slot = stack->slot;
    char *low = stack->low;
    bool has_canary = stack->has_canary;
    bool is_cold = wf_os_discard(low, (size_t)(slot + stack->slot_size - low)) == 0;
    wf_lock_take(&class->lock);
    if (is_cold) {
        class->cold[class->cold_count++] = (uintptr_t)slot | (has_canary ? WF_COLD_CANARY : 0);
    } else {
        stack->next = class->warm;
        class->warm = stack;
        class->warm_count++;
    }
    wf_lock_drop(&class->lock);
    if (is_cold)
        wf_fetch_add_relaxed(&stacks->trimmed, 1);
    return is_cold;
}

static char *top_page(struct wf_stacks *stacks, struct wf_stack *stack) {
    return stack->slot + stack->slot_size - stacks->page;
}

void wf_stack_make_shallow(struct wf_stacks *stacks, struct wf_stack *stack) {
    if (stack->is_shallow || stack->has_canary)
        return;
    stack->is_shallow = wf_os_discard(stack->low, (size_t)(top_page(stacks, stack) - stack->low)) == 0;
}

/* The page where it is stays, and the one below it only if the call that discards may reach into that. What is used again is
 * a page fault and nothing else. */
WF_NOINLINE void wf_stack_trim_self(struct wf_stack *stack) {
    size_t page = wf_os_page_size();
    char *here = (char *)(((uintptr_t)__builtin_frame_address(0) - CALL_ROOM) & ~(uintptr_t)(page - 1));
    if (here > (char *)stack->low && !stack->has_canary)
        (void)wf_os_discard(stack->low, (size_t)(here - (char *)stack->low));
}

size_t wf_stack_depth(struct wf_stack *stack) {
    size_t bytes = (size_t)(stack->slot + stack->slot_size - stack->low);
    return bytes - wf_os_first_resident(stack->low, bytes);
}
