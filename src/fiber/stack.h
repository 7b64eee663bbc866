/* SPDX-License-Identifier: MIT
 *
 * fiber/stack.h - stacks: slots of address space that take memory only where they are touched.
 *
 *     slot   low                                                                                  high
 *            | guard |  ...  grows down, page by page, in place  ...  <- sp | struct wf_stack | colour |
 *
 * Slots of one class are cut from slabs of NORESERVE memory and never move or shrink. The header sits in the top page,
 * together with the first frames, so that a parked shallow fiber costs that one page. Headers are shifted by a colour of
 * up to 960 bytes: stack tops lie a power of two apart and would all fall into the same cache sets.
 *
 * A free slot is *hot* (in a processor's own list, last in first out), *warm* (in the shared list, memory kept) or
 * *cold* (memory given back). A slot taken from hot costs no system call. Idle workers make warm ones cold, by a
 * watermark of recent use that decays: see wf_stacks_trim.
 *
 * Guards: markers in the page table, or protection up to a budget of mappings, or, beyond it, a canary at the low end
 * that is looked at whenever the fiber is suspended.
 */
#ifndef WF_FIBER_STACK_H
#define WF_FIBER_STACK_H

#include "arch/context.h"
#include "arch/guarded.h"
#include "base/assert.h"
#include "base/atomic.h"
#include "os/memory.h"
#include "queue/lock.h"
#include "weft/ffi.h"
#include "weft/inspect.h"

struct wf_fiber;
struct wf_attributes;
struct wf_deferred;
struct wf_locals;
struct wf_try;
struct wf_wait;
struct wf_cancel;
struct wf_fiber_worker;
struct wf_loop_frame;

/* Whoever wants to know of the end of a fiber. The memory is its own. */
struct wf_leaver {
    struct wf_leaver *next;
    /* On the fiber at its very end, when its deferred calls have run; after a return, an exit and a panic alike. */
    void (*leave)(struct wf_leaver *leaver);
    /* Instead of it, when the fiber is dropped with its runtime: on a plain thread, nothing runs any more. */
    void (*drop)(struct wf_leaver *leaver);
    bool is_region; /* a block of the program: a panic that is caught outside of it ends it too */
};

/* What the calls of a fiber that may block have to look at first. Usually nothing. */
enum {
    WF_CHECK_CANCEL = 1,  /* it is inside something that can be cancelled, and not shielded */
    WF_CHECK_DROP = 2,    /* its runtime may drop it while it waits */
    WF_CHECK_PERTURB = 4, /* it is to be made to yield now and then: replay */
    WF_CHECK_LENT = 8,    /* it is inside a blocking region */
};

/* WF_STACK_HOT_MAX: half a megabyte of memory that a processor keeps for itself. */
enum { WF_NAME_SIZE = 32, WF_STACK_CLASSES = 6, WF_STACK_HOT_MAX = 128, WF_STACK_NO_CLASS = UINT8_MAX };

/* Bytes that a fiber can count on unless it asks for another number. */
#define WF_STACK_DEFAULT ((size_t)160 * 1024)
#define WF_STACK_MAX ((size_t)1 << 30)

/* What a started fiber needs besides its record. Belongs to the fiber, or to whoever switches it. */
struct wf_stack {
    struct wf_context context;
    struct wf_fiber *fiber; /* whose stack it is now; NULL when free */
    struct wf_try *trying;  /* innermost guarded call */
    struct wf_locals *locals;
    struct wf_attributes *attributes; /* of the spawn: freed with the fiber's end, under its lock */
    void *arg;
    uint64_t fp_control;               /* while suspended, when keeps_fp */
    struct wf_cxx_state cxx;           /* while suspended, when has_cxx */
    _Atomic(struct wf_wait *) waiting; /* what it is parked in; for reports, and for dropping it */
    _Atomic uint32_t wait_word;        /* claim word of a wait that can be cancelled: wait/wait.h */
    uint8_t checks;                    /* WF_CHECK_*; the fiber's own */
    uint32_t shields;                  /* regions, one inside another, in which it cannot be cancelled */
    struct wf_cancel *cancel;          /* what can cancel it, or NULL: wait/cancel.h */
    void *held;                        /* list of ranked mutexes that it holds: sync/mutex.c */
    struct wf_leaver *leavers;         /* who wants to know when it ends; the fiber's own */
    void *work;                        /* of pool/: what it runs; the fiber's own */
    struct wf_loop_frame *loops;       /* of loop/: what it is inside of; the fiber's own */
    weft_describe_fn describe;         /* what it adds to reports, or NULL; under the fiber's lock, like its argument */
    void *describe_arg;
    struct weft_ffi_site site; /* whether it is bound, and where foreign calls run; the fiber's own */
    /* The worker whose thread it has to itself, or NULL: fiber/alone.c. Written by the fiber while it runs; constant while it
     * waits. */
    struct wf_fiber_worker *seat;
    int64_t due;             /* of an urgent fiber: its own, and read by others while it is in their queue */
    int64_t bound_at;        /* when it was bound */
    uint32_t binds;          /* pairs of bind and unbind that are open */
    uint32_t blocks;         /* blocking regions, one inside another */
    uint16_t kept_route;     /* of its task, while it has a seat */
    bool is_foreign;         /* it is inside a foreign call that was made unbound */
    bool is_indirect;        /* its entry function calls another one, and says nothing about what the fiber does */
    bool is_predicted;       /* it was bound from its first moment, and has made no foreign call yet */
    bool has_thread_options; /* of the binding: they are undone when that ends */
    bool stays_bound;        /* bound by its spawn or a foreign call: pairs of bind and unbind are inside of that */
    int saved_errno;
    uint32_t pins;
    bool keeps_fp;
    bool has_panicked; /* its function has ended, and so; for leavers */
    bool has_cxx;
    bool is_sampled; /* its depth is measured when the fiber ends */
    char name[WF_NAME_SIZE];

    /* of the slot */
    struct wf_stack *next; /* in a list of free ones */
    char *low;             /* lowest usable byte, above the guard */
    char *slot;            /* lowest byte of the slot */
    size_t slot_size;
    uint8_t class_index; /* WF_STACK_CLASSES: mapped by itself */
    bool has_canary;
    bool is_shallow; /* nothing below the top page has memory */
};

/* The fiber itself, on that stack. Removing finds it wherever it is: others may have come above it. */
static inline void wf_leaver_push(struct wf_stack *stack, struct wf_leaver *leaver) {
    leaver->next = stack->leavers;
    stack->leavers = leaver;
}
static inline void wf_leaver_remove(struct wf_stack *stack, struct wf_leaver *leaver) {
    struct wf_leaver **at = &stack->leavers;
    while (*at != leaver)
        at = &(*at)->next;
    *at = leaver->next;
}

/* The calling fiber is about to wait for long: memory of its stack below where it is now goes back to the system. */
void wf_stack_trim_self(struct wf_stack *stack);

struct wf_stack_cache {
    struct wf_stack *hot;
    uint32_t count;
    int64_t shallow_at; /* when hot stacks are next cut back to their top page */
};

struct wf_stack_slab {
    struct wf_stack_slab *next;
    _Atomic(char *)
        base; /* NULL: free for the next mapping; written under slabs_lock, or by the owner of what is there */
    size_t bytes;
    size_t slot_size;
};

/* Tags of a cold slot: its guard is still missing; it has a canary instead of one. */
enum { WF_COLD_UNGUARDED = 1, WF_COLD_CANARY = 2 };

struct wf_stack_class {
    struct wf_lock lock;
    struct wf_stack *warm; /* under lock */
    uint32_t warm_count;
    uintptr_t *cold; /* under lock: slots without memory, tagged; room for every slot of the class */
    uint32_t cold_count;
    uint32_t slots; /* cut so far, guards in place */
    char *fresh;    /* under lock: uncut part of the newest slab */
    uint32_t fresh_count;
    uint32_t guarded; /* under lock: how many of the uncut ones have their guard already */
    uint32_t peak;    /* under lock: decaying high-water mark of slots out of the shared lists */
};

struct wf_stacks {
    struct wf_stack_class classes[WF_STACK_CLASSES];
    _Atomic(struct wf_stack_slab *) slabs; /* append only; read by the fault handler */
    struct wf_lock slabs_lock;
    _Atomic uint32_t empty_slabs; /* entries that were given back; whoever sees too few only misses one */
    enum wf_guard guard;
    _Atomic int64_t guard_budget; /* protection guards that may still be set */
    size_t page;
    size_t default_size;
    uint8_t default_class;   /* WF_STACK_NO_CLASS: the default is larger than every class */
    _Atomic uint64_t mapped; /* slots that exist */
    _Atomic uint64_t trimmed;
    _Atomic int64_t trim_at; /* moment of the next tick */
    _Atomic bool is_dirty;   /* stacks came to the shared lists since trimming last found nothing to do */
};

int wf_stacks_init(struct wf_stacks *stacks, size_t default_size);
/* Every stack has been given back, or is abandoned. */
void wf_stacks_term(struct wf_stacks *stacks);

/* A stack with at least that many usable bytes (0: the default), with context ready for wf_arch_prepare. NULL: no
 * memory. cache is the calling processor's, or NULL for wf_stack_take_slow where there is none. */
struct wf_stack *wf_stack_take_slow(struct wf_stacks *stacks, struct wf_stack_cache *cache, size_t size);
static inline struct wf_stack *wf_stack_take(struct wf_stacks *stacks, struct wf_stack_cache *cache, size_t size) {
    struct wf_stack *stack = cache->hot;
    if (WF_UNLIKELY(size != 0 || !stack || wf_wants_fresh(0)))
        return wf_stack_take_slow(stacks, cache, size);
    cache->hot = stack->next;
    cache->count--;
    return stack;
}
/* Nobody runs on it any more. The slow form takes no cache for an answer. */
void wf_stack_give_slow(struct wf_stacks *stacks, struct wf_stack_cache *cache, struct wf_stack *stack);
static inline void wf_stack_give(struct wf_stacks *stacks, struct wf_stack_cache *cache, struct wf_stack *stack) {
    stack->fiber = NULL;
    stack->is_shallow = false;
    if (WF_UNLIKELY(stack->class_index != stacks->default_class || cache->count >= WF_STACK_HOT_MAX)) {
        wf_stack_give_slow(stacks, cache, stack);
        return;
    }
    stack->next = cache->hot;
    cache->hot = stack;
    cache->count++;
}

/* An idle worker's chance to give memory back. Returns when it wants to be called again, or INT64_MAX. */
int64_t wf_stacks_trim(struct wf_stacks *stacks, struct wf_stack_cache *cache, int64_t now);

/* Changes how often it is shielded. */
static inline void wf_stack_set_shields(struct wf_stack *stack, uint32_t shields) {
    stack->shields = shields;
    bool can_cancel = stack->cancel && shields == 0;
    stack->checks = (uint8_t)((stack->checks & ~WF_CHECK_CANCEL) | (can_cancel ? WF_CHECK_CANCEL : 0));
}

/* Where the first frame begins: just below the header, aligned. */
static inline void *wf_stack_top(struct wf_stack *stack) {
    return (void *)((uintptr_t)stack & ~(uintptr_t)15);
}

static inline size_t wf_stack_size(const struct wf_stack *stack) {
    return (size_t)((const char *)stack - stack->low);
}

/* The stack whose slot holds the address, in use or not; NULL. is_guard: the address lies in its guard. Safe in a
 * signal handler. */
struct wf_stack *wf_stacks_find(struct wf_stacks *stacks, const void *address, bool *is_guard);

/* Drops the memory below the top page. */
void wf_stack_make_shallow(struct wf_stacks *stacks, struct wf_stack *stack);
/* Deepest use so far, to a page, of a stack that was shallow when its fiber began. */
size_t wf_stack_depth(struct wf_stack *stack);

/* Ends the process when the canary of an unguarded stack is gone. */
void wf_stack_check_canary(struct wf_stack *stack);

/* "marker", "mprotect" or "canary". */
const char *wf_stacks_guard_name(const struct wf_stacks *stacks);

#endif
