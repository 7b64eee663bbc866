/* SPDX-License-Identifier: MIT
 *
 * fiber/stack_trim.c - giving stack memory back after a burst, and measuring how deep stacks go.
 *
 * The shared lists keep as many warm stacks as were lately in use at once: peak, a high-water mark that loses an eighth
 * at each trim, ten times a second, while there is something to trim. What is above it is made cold, in batches, by
 * workers that have nothing else to do; and a warm stack that went deep is cut back to its top page. When the lists are
 * down to KEEP, trimming asks for no further call: an idle process has no wake-ups.
 */
#include "base/assert.h"
#include "fiber/stack.h"

enum { KEEP = 64, TRIM_BATCH = 2048, TRIM_EVERY_NS = 100000000 };

static bool trim_class(struct wf_stacks *stacks, struct wf_stack_class *class);
static struct wf_stack *take_surplus(struct wf_stack_class *class);
static char *top_page(struct wf_stacks *stacks, struct wf_stack *stack);

int64_t wf_stacks_trim(struct wf_stacks *stacks, struct wf_stack_cache *cache, int64_t now) {
    for (struct wf_stack *stack = cache->hot; stack && !stack->is_shallow; stack = stack->next)
        wf_stack_make_shallow(stacks, stack);
    int64_t at = wf_load_relaxed(&stacks->trim_at);
    if (now < at)
        return at == INT64_MAX ? INT64_MAX : at;
    if (!wf_cas_relaxed(&stacks->trim_at, &at, now + TRIM_EVERY_NS))
        return at;
    bool has_more = false;
    for (int i = 0; i < WF_STACK_CLASSES; i++)
        has_more |= trim_class(stacks, &stacks->classes[i]);
    return has_more ? now + TRIM_EVERY_NS : INT64_MAX;
}

/* True when another round will find something to do. */
static bool trim_class(struct wf_stacks *stacks, struct wf_stack_class *class) {
    wf_lock_take(&class->lock);
    uint32_t out = class->slots - class->warm_count - class->cold_count;
    class->peak -= class->peak / 8;
    if (class->peak < out)
        class->peak = out;
    for (struct wf_stack *stack = class->warm; stack && !stack->is_shallow; stack = stack->next)
        wf_stack_make_shallow(stacks, stack);
    wf_lock_drop(&class->lock);

    for (int i = 0; i < TRIM_BATCH; i++) {
        struct wf_stack *stack = take_surplus(class);
        if (!stack)
            break;
        char *slot = stack->slot;
        char *low = stack->low;
        if (wf_os_discard(low, (size_t)(slot + stack->slot_size - low)) != 0) {
            wf_lock_take(&class->lock); /* it stays warm */
            stack->next = class->warm;
            class->warm = stack;
            class->warm_count++;
            wf_lock_drop(&class->lock);
            return true;
        }
        wf_fetch_add_relaxed(&stacks->trimmed, 1);
        wf_lock_take(&class->lock);
        class->cold[class->cold_count++] = slot;
        wf_lock_drop(&class->lock);
    }
    wf_lock_take(&class->lock);
    bool has_more = class->warm_count > KEEP;
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

static char *top_page(struct wf_stacks *stacks, struct wf_stack *stack) {
    return stack->slot + stack->slot_size - stacks->page;
}

void wf_stack_make_shallow(struct wf_stacks *stacks, struct wf_stack *stack) {
    if (stack->is_shallow || stack->has_canary)
        return;
    stack->is_shallow = wf_os_discard(stack->low, (size_t)(top_page(stacks, stack) - stack->low)) == 0;
}

size_t wf_stack_depth(struct wf_stack *stack) {
    size_t bytes = (size_t)(stack->slot + stack->slot_size - stack->low);
    return bytes - wf_os_first_resident(stack->low, bytes);
}
