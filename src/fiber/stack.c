/* SPDX-License-Identifier: MIT
 *
 * fiber/stack.c - taking and giving stacks. Layout and life of a slot: fiber/stack.h.
 *
 * Hot lists are the owner's alone. Everything shared is under the lock of its class, and moves in batches, so a burst of
 * a million stacks takes the lock thousands of times and not millions.
 *
 * Rejected: copying stacks to grow them (C code keeps pointers into its stack); growing in the fault handler (it would
 * have to run on the very stack that is full); one mapping for each stack (65,530 of them end the process).
 */
#include "fiber/stack.h"

#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "os/report.h"

/* 192 KiB and not 256 for the usual class: page tables cost 4 KiB for each 2 MiB of address space that is touched, 385
 * bytes a stack here against 513, and with them a parked fiber stays under 4,600 bytes. 1,152 KiB is what a stack of 1 MiB
 * needs with its guard: a common wish, for which 2 MiB would cost a whole page of page tables each. */
static const size_t class_slot[WF_STACK_CLASSES] = {64 << 10, 192 << 10, 512 << 10, 1152 << 10, 2 << 20, 8 << 20};
static const uint32_t class_slab_slots[WF_STACK_CLASSES] = {256, 256, 64, 32, 16, 4};

/* STACK_BATCH: what moves at once between a processor and the shared lists. */
enum { STACK_BATCH = 64, GUARD_BATCH = 64, COLOURS = 16, COLOUR_STEP = 64 };
/* Protection guards cost two mappings each; a quarter of the usual limit of 65,530 leaves room for the program. */
enum { PROTECT_BUDGET = 16000 };
#define CANARY UINT64_C(0x7765667463616e61)

/* What is known of a slot that is about to be used. */
struct slot_state {
    bool is_new;
    bool needs_guard;
    bool has_canary; /* instead of a guard */
};

static size_t guard_size(size_t slot_size);
static uint8_t class_for(struct wf_stacks *stacks, size_t size);
static struct wf_stack *take_shared(struct wf_stacks *stacks, struct wf_stack_cache *cache, uint8_t index);
static char *take_slot(struct wf_stacks *stacks, uint8_t index, struct slot_state *state);
static void guard_ahead(struct wf_stacks *stacks, uint8_t index);
static int grow_class(struct wf_stacks *stacks, uint8_t index);
static int add_slab(struct wf_stacks *stacks, size_t bytes, size_t slot_size, char **out);
static struct wf_stack *dress_slot(struct wf_stacks *stacks, char *slot, size_t slot_size, uint8_t index,
                                   uint32_t number, struct slot_state state);
static bool guard_slot(struct wf_stacks *stacks, char *slot, size_t slot_size, struct slot_state *state);
static struct wf_stack *take_single(struct wf_stacks *stacks, size_t size);
static void give_single(struct wf_stacks *stacks, struct wf_stack *stack);
static void flush_hot(struct wf_stacks *stacks, struct wf_stack_cache *cache);

int wf_stacks_init(struct wf_stacks *stacks, size_t default_size) {
    memset(stacks, 0, sizeof *stacks);
    stacks->page = wf_os_page_size();
    stacks->guard = wf_os_guard_probe();
    stacks->default_size = default_size ? default_size : WF_STACK_DEFAULT;
    stacks->default_class = class_for(stacks, stacks->default_size);
    if (stacks->default_class == WF_STACK_CLASSES) /* stacks of their own differ in size and are never kept hot */
        stacks->default_class = WF_STACK_NO_CLASS;
    wf_store_relaxed(&stacks->guard_budget, PROTECT_BUDGET);
    return 0;
}

void wf_stacks_term(struct wf_stacks *stacks) {
    struct wf_stack_slab *slab = wf_load_relaxed(&stacks->slabs);
    while (slab) {
        struct wf_stack_slab *next = slab->next;
        char *base = wf_load_relaxed(&slab->base);
        if (base)
            wf_os_unmap(base, slab->bytes);
        wf_os_free(slab);
        slab = next;
    }
    for (int i = 0; i < WF_STACK_CLASSES; i++)
        wf_os_free(stacks->classes[i].cold);
}

static size_t guard_size(size_t slot_size) {
#if defined(__aarch64__)
    return slot_size <= (64u << 10) ? 16u << 10 : 64u << 10; /* compilers probe every 64 KiB there */
#else
    return slot_size <= (192u << 10) ? 16u << 10 : 64u << 10;
#endif
}

/* The smallest class that leaves so many bytes beside guard, header and colour; WF_STACK_CLASSES when none does. */
static uint8_t class_for(struct wf_stacks *stacks, size_t size) {
    uint8_t index = 0;
    while (index < WF_STACK_CLASSES && class_slot[index] < guard_size(class_slot[index]) + stacks->page + size)
        index++;
    return index;
}

WF_NOINLINE struct wf_stack *wf_stack_take_slow(struct wf_stacks *stacks, struct wf_stack_cache *cache, size_t size) {
    uint8_t index = size == 0 || size == stacks->default_size ? stacks->default_class : class_for(stacks, size);
    if (index == stacks->default_class && cache && cache->hot && !wf_wants_fresh(stacks->classes[index].slots)) {
        struct wf_stack *stack = cache->hot;
        cache->hot = stack->next;
        cache->count--;
        return stack;
    }
    if (index < WF_STACK_CLASSES)
        return take_shared(stacks, cache, index);
    return take_single(stacks, size ? size : stacks->default_size);
}

WF_NOINLINE void wf_stack_give_slow(struct wf_stacks *stacks, struct wf_stack_cache *cache, struct wf_stack *stack) {
    if (stack->class_index == WF_STACK_CLASSES) {
        give_single(stacks, stack);
        return;
    }
    stack->fiber = NULL;
    stack->is_shallow = false;
    if (cache && stack->class_index == stacks->default_class) {
        flush_hot(stacks, cache);
        wf_stack_give(stacks, cache, stack);
        return;
    }
    struct wf_stack_class *class = &stacks->classes[stack->class_index];
    wf_lock_take(&class->lock);
    stack->next = class->warm;
    class->warm = stack;
    class->warm_count++;
    wf_lock_drop(&class->lock);
    wf_store_relaxed(&stacks->is_dirty, true);
}

static void flush_hot(struct wf_stacks *stacks, struct wf_stack_cache *cache) {
    struct wf_stack_class *class = &stacks->classes[stacks->default_class];
    struct wf_stack *first = cache->hot;
    struct wf_stack *last = first;
    for (int i = 1; i < STACK_BATCH; i++)
        last = last->next;
    cache->hot = last->next;
    cache->count -= STACK_BATCH;
    wf_lock_take(&class->lock);
    last->next = class->warm;
    class->warm = first;
    class->warm_count += STACK_BATCH;
    wf_lock_drop(&class->lock);
    if (!wf_load_relaxed(&stacks->is_dirty))
        wf_store_relaxed(&stacks->is_dirty, true);
}

/* From the shared lists: warm ones in a batch, else one slot that is cold or new. */
static struct wf_stack *take_shared(struct wf_stacks *stacks, struct wf_stack_cache *cache, uint8_t index) {
    struct wf_stack_class *class = &stacks->classes[index];
    struct wf_stack *stack = NULL;
    wf_lock_take(&class->lock);
    int wanted = wf_wants_fresh(class->slots) ? 0 : cache && index == stacks->default_class ? STACK_BATCH : 1;
    for (int i = 0; i < wanted && class->warm; i++) {
        struct wf_stack *one = class->warm;
        class->warm = one->next;
        class->warm_count--;
        if (!stack) {
            stack = one;
        } else {
            one->next = cache->hot;
            cache->hot = one;
            cache->count++;
        }
    }
    struct slot_state state = {0};
    char *slot = stack ? NULL : take_slot(stacks, index, &state);
    uint32_t number = class->slots;
    uint32_t out = class->slots - class->warm_count - class->cold_count;
    if (out > class->peak)
        class->peak = out;
    wf_lock_drop(&class->lock);
    if (stack || !slot)
        return stack;

    stack = dress_slot(stacks, slot, class_slot[index], index, number, state);
    if (!stack) { /* no guard to be had: the slot stays where it can be tried again */
        wf_lock_take(&class->lock);
        class->cold[class->cold_count++] = (uintptr_t)slot | WF_COLD_UNGUARDED;
        wf_lock_drop(&class->lock);
    }
    return stack;
}

/* Under the class's lock. */
static char *take_slot(struct wf_stacks *stacks, uint8_t index, struct slot_state *state) {
    struct wf_stack_class *class = &stacks->classes[index];
    if (class->cold_count > 0) {
        uintptr_t cold = class->cold[--class->cold_count];
        state->needs_guard = cold & WF_COLD_UNGUARDED;
        state->has_canary = cold & WF_COLD_CANARY;
        return (char *)(cold & ~(uintptr_t)(WF_COLD_UNGUARDED | WF_COLD_CANARY));
    }
    if (class->fresh_count == 0 && grow_class(stacks, index) != 0)
        return NULL;
    if (class->guarded == 0 && stacks->guard == WF_GUARD_MARKER)
        guard_ahead(stacks, index);
    char *slot = class->fresh;
    class->fresh += class_slot[index];
    class->fresh_count--;
    class->slots++;
    state->is_new = true;
    state->needs_guard = class->guarded == 0;
    if (class->guarded > 0)
        class->guarded--;
    wf_fetch_add_relaxed(&stacks->mapped, 1);
    return slot;
}

/* A burst takes new slots one after another: one system call for the guards of many, and more of them the more slots
 * there are already. Where that is not to be had, each slot gets its guard when it is taken. */
static void guard_ahead(struct wf_stacks *stacks, uint8_t index) {
    struct wf_stack_class *class = &stacks->classes[index];
    uint32_t count = class->slots < GUARD_BATCH ? class->slots : GUARD_BATCH;
    if (count > class->fresh_count)
        count = class->fresh_count;
    if (count > 1)
        class->guarded =
            wf_os_guard_install_many(class->fresh, class_slot[index], guard_size(class_slot[index]), count);
}

static int grow_class(struct wf_stacks *stacks, uint8_t index) {
    struct wf_stack_class *class = &stacks->classes[index];
    uint32_t more = class_slab_slots[index];
    uint32_t all = class->slots + more;
    if ((all & (all - 1)) == 0 || class->slots == 0) { /* the counts are multiples of a power of two: double there */
        uintptr_t *cold = wf_os_alloc((class->slots == 0 ? more : (size_t)all * 2) * sizeof *cold);
        if (!cold)
            return -ENOMEM;
        if (class->cold_count)
            memcpy(cold, class->cold, class->cold_count * sizeof *cold);
        wf_os_free(class->cold);
        class->cold = cold;
    }
    int error = add_slab(stacks, (size_t)more * class_slot[index], class_slot[index], &class->fresh);
    if (!error)
        class->fresh_count = more;
    return error;
}

static int add_slab(struct wf_stacks *stacks, size_t bytes, size_t slot_size, char **out) {
    void *base;
    int error = wf_os_map(bytes, &base);
    if (error)
        return error;
    wf_lock_take(&stacks->slabs_lock);
    struct wf_stack_slab *slab = wf_load_relaxed(&stacks->empty_slabs) ? wf_load_relaxed(&stacks->slabs) : NULL;
    while (slab && wf_load_acquire(&slab->base)) /* pairs with the release of give_single */
        slab = slab->next;
    bool is_added = !slab;
    if (slab)
        wf_fetch_sub_relaxed(&stacks->empty_slabs, 1);
    if (is_added && (slab = wf_os_alloc(sizeof *slab)))
        slab->next = wf_load_relaxed(&stacks->slabs);
    if (slab) {
        slab->bytes = bytes;
        slab->slot_size = slot_size;
        wf_store_release(&slab->base, (char *)base); /* both pair with wf_stacks_find */
        if (is_added)
            wf_store_release(&stacks->slabs, slab);
    }
    wf_lock_drop(&stacks->slabs_lock);
    if (!slab) {
        wf_os_unmap(base, bytes);
        return -ENOMEM;
    }
    *out = base;
    return 0;
}

static struct wf_stack *dress_slot(struct wf_stacks *stacks, char *slot, size_t slot_size, uint8_t index,
                                   uint32_t number, struct slot_state state) {
    if (state.needs_guard && !guard_slot(stacks, slot, slot_size, &state))
        return NULL;
    size_t colour = (size_t)(number % COLOURS) * COLOUR_STEP;
    char *high = slot + slot_size - colour;
    struct wf_stack *stack = (struct wf_stack *)(((uintptr_t)high - sizeof *stack) & ~(uintptr_t)63);
    wf_os_forget(slot, slot_size); /* it may have been cold, and had its header elsewhere */
    memset(stack, 0, sizeof *stack);
    stack->slot = slot;
    stack->slot_size = slot_size;
    stack->low = slot + guard_size(slot_size);
    stack->class_index = index;
    stack->is_shallow = true;
    if (state.is_new)
        wf_context_announce_stack(stack->low, slot + slot_size);
    if ((stack->has_canary = state.has_canary))
        *(uint64_t *)stack->low = CANARY;
    return stack;
}

/* A marker outlives the memory above it, but a slot may be cold because it could not be set: it is set again, which costs
 * little beside the pages that the slot will take. A protection is set once; a slot that has none has a canary. */
static bool guard_slot(struct wf_stacks *stacks, char *slot, size_t slot_size, struct slot_state *state) {
    if (stacks->guard == WF_GUARD_MARKER)
        return wf_os_guard_install(slot, guard_size(slot_size), WF_GUARD_MARKER) == 0;
    if (wf_fetch_sub_relaxed(&stacks->guard_budget, 1) > 0 &&
        wf_os_guard_install(slot, guard_size(slot_size), WF_GUARD_PROTECT) == 0)
        return true;
    wf_fetch_add_relaxed(&stacks->guard_budget, 1);
    state->has_canary = true;
    return true;
}

/* Larger than every class: a mapping of its own, unmapped when the fiber ends. */
static struct wf_stack *take_single(struct wf_stacks *stacks, size_t size) {
    size_t slot_size = (size + guard_size(SIZE_MAX) + 2 * stacks->page - 1) & ~(stacks->page - 1);
    char *slot;
    if (add_slab(stacks, slot_size, slot_size, &slot) != 0)
        return NULL;
    wf_fetch_add_relaxed(&stacks->mapped, 1);
    struct wf_stack *stack = dress_slot(stacks, slot, slot_size, WF_STACK_CLASSES, 0,
                                        (struct slot_state){.is_new = true, .needs_guard = true});
    if (!stack) {
        struct wf_stack fake = {.slot = slot};
        give_single(stacks, &fake);
    }
    return stack;
}

/* The slab's entry stays in the list, empty, for the next mapping: a fault handler may be reading it. */
static void give_single(struct wf_stacks *stacks, struct wf_stack *stack) {
    struct wf_stack_slab *slab = wf_load_acquire(&stacks->slabs); /* pairs with add_slab */
    char *slot = stack->slot;
    while (wf_load_relaxed(&slab->base) != slot)
        slab = slab->next;
    size_t bytes = slab->bytes;
    if (stacks->guard == WF_GUARD_PROTECT && !stack->has_canary)
        wf_fetch_add_relaxed(&stacks->guard_budget, 1);
    wf_store_release(&slab->base, NULL); /* pairs with the next user of the entry */
    wf_fetch_add_relaxed(&stacks->empty_slabs, 1);
    wf_fetch_sub_relaxed(&stacks->mapped, 1);
    wf_os_unmap(slot, bytes);
}

struct wf_stack *wf_stacks_find(struct wf_stacks *stacks, const void *address, bool *is_guard) {
    const char *at = address;
    for (struct wf_stack_slab *slab = wf_load_acquire(&stacks->slabs); slab; slab = slab->next) {
        char *base = wf_load_acquire(&slab->base);
        if (!base || at < base || at >= base + slab->bytes)
            continue;
        char *slot = base + (size_t)(at - base) / slab->slot_size * slab->slot_size;
        *is_guard = at < slot + guard_size(slab->slot_size);
        /* The header is the one place of the top page that says where the slot begins. */
        uintptr_t high = (uintptr_t)slot + slab->slot_size;
        for (size_t colour = 0; colour < COLOURS; colour++) {
            uintptr_t place = (high - colour * COLOUR_STEP - sizeof(struct wf_stack)) & ~(uintptr_t)63;
            struct wf_stack *stack = (struct wf_stack *)place;
            if (stack->slot == slot && stack->slot_size == slab->slot_size)
                return stack;
        }
    }
    return NULL;
}

void wf_stack_check_canary(struct wf_stack *stack) {
    if (*(uint64_t *)stack->low != CANARY)
        wf_fatal("stack overflow: the canary at %p is gone (stack of %zu bytes, no guard page)", (void *)stack->low,
                 wf_stack_size(stack));
}

const char *wf_stacks_guard_name(const struct wf_stacks *stacks) {
    if (stacks->guard == WF_GUARD_MARKER)
        return "marker";
    return wf_load_relaxed(&stacks->guard_budget) > 0 ? "mprotect" : "canary";
}
