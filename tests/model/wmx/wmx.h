/* SPDX-License-Identifier: MIT
 *
 * wmx/wmx.h - a weak-memory explorer: runs real C11 code through every schedule and every read the language allows.
 *
 * The code under test is compiled unchanged with -fsanitize=thread, but linked with this explorer instead of libtsan.
 * The compiler then reports every atomic operation, fence and plain access to us. Threads are fibers on one OS thread;
 * before each visible operation the explorer chooses who goes on, and for each atomic load which of the stores still
 * visible to that thread it reads. One run from start to end is an *execution*. A depth-first search over the choices
 * visits all executions with at most a given number of preemptions; a random mode samples beyond that.
 *
 * The memory model is C11 with the release sequences of C++20, computed with views:
 *
 *     location   every store ever made to an atomic, in modification order; a store's index there is its stamp
 *     view       for each location the oldest stamp that may still be read, and a vector clock (happens-before)
 *     thread     view: what it knows. acquired: what an acquire fence would add. released: what its last release fence
 *                published, and so what its relaxed stores carry
 *     store      the view it hands to whoever reads it with acquire
 *     sc         the view of the total order S of seq_cst operations, which is the order of execution
 *
 * What it reports: a failed CHECK, WF_CHECK or WF_ASSERT; a data race between plain accesses; a deadlock (which is what
 * a lost wake-up looks like); a livelock; use of freed memory, a block left over; a plain write over an atomic.
 *
 * What it does not see
 *   - load buffering (a load that reads a store of the future), and stores that go into the middle of a modification
 *     order: a bug that needs either stays hidden. RC11 forbids most of the former.
 *   - more preemptions than the bound; switches at a blocking operation are free. The largest models also bound the
 *     loads of one execution that read another store than the latest (-o).
 *   - plain fields that share four aligned bytes: they count as one field.
 *   - anything but x86-64 as host: the context switch is written in its assembly. The memory model explored is that of
 *     the language all the same, not that of the host.
 *
 * All state is in one mapping, reached through a thread-local pointer, because .data and .bss, ours too, are put back
 * to their initial contents before each execution.
 */
#ifndef WF_TESTS_MODEL_WMX_H
#define WF_TESTS_MODEL_WMX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WMX_THREADS = 8,
    WMX_LOCATIONS = 48, /* with WMX_THREADS clocks of two bytes, a view is exactly 64 bytes */
    WMX_STORES = 64,    /* to one location in one execution */
    WMX_READS = 16,     /* locations read between two wf_relax */
    WMX_CHOICES = 4096,
    WMX_EVENTS = 3000, /* operations in one execution; more is taken for a livelock */
    WMX_CELLS = 1024,  /* groups of four plain bytes, power of two */
    WMX_INDEX = 256,   /* hash of locations, power of two */
    WMX_BLOCKS = 32,
    WMX_LOCKS = 8,
    WMX_HEAP_BYTES = 1 << 16,
    WMX_STACK_BYTES = 1 << 16,
};

/* The compiler's numbers for memory orders. */
enum wmx_order { WMX_RELAXED, WMX_CONSUME, WMX_ACQUIRE, WMX_RELEASE, WMX_ACQ_REL, WMX_SEQ_CST };

struct wmx_view {
    uint8_t stamp[WMX_LOCATIONS];
    uint16_t clock[WMX_THREADS];
};

struct wmx_store {
    uint64_t value;
    struct wmx_view view;
};

struct wmx_location {
    uintptr_t address;
    int size;
    int count;
    struct wmx_store store[WMX_STORES];
};

/* READY       goes on when chosen
 * JOINING     until all threads but this one are done
 * SLEEPING    in a futex wait, until a wake on its address
 * LOCKING     until the abstract lock is free
 * RELAXING    until a location that it read since its last wf_relax has a newer store
 * DONE */
enum wmx_status { WMX_READY, WMX_JOINING, WMX_SLEEPING, WMX_LOCKING, WMX_RELAXING, WMX_DONE };

struct wmx_read {
    int location;
    int stamp;
};

struct wmx_thread {
    void *stack_pointer;
    char *stack;
    void (*function)(void *);
    void *argument;
    enum wmx_status status;
    uintptr_t futex; /* SLEEPING */
    int lock;        /* LOCKING */
    struct wmx_view view, acquired, released;
    struct wmx_read read[WMX_READS]; /* since the last wf_relax */
    int read_count;
    int relaxed_in_vain; /* times in a row that it relaxed with nobody else to run */
};

/* Happens-before bookkeeping of four plain bytes. */
struct wmx_cell {
    uintptr_t address;
    uint32_t generation; /* of the execution; an older cell is a free one */
    int writer;          /* -1: nobody */
    uint16_t write_clock;
    uint16_t read_clock[WMX_THREADS];
};

struct wmx_block {
    char *base;
    size_t bytes;
    bool is_freed;
};

/* An abstract lock: what a drop publishes goes to the next taker. */
struct wmx_lock {
    uintptr_t address;
    bool is_taken;
    struct wmx_view view;
};

struct wmx_choice {
    uint16_t taken;
    uint16_t width;
};

struct wmx_event {
    uint8_t thread;
    char kind; /* L load, S store, U update, C compare and swap, F failed one, B fence, W futex wait, K wake, P relax,
                  M lock, N unlock, w and r racing plain accesses, H heap */
    uint8_t order;
    int8_t location;
    int stamp;
    uint64_t value;
    const void *code;
};

struct wmx_options {
    int preemptions;
    long random_runs; /* 0: exhaustive */
    uint64_t seed;
    double seconds;
    bool is_verbose;
    int old_reads; /* loads in one execution that may read another store than the latest; 0: sequentially consistent */
    const char *test_case;
};

struct wmx {
    struct wmx_options options;

    /* this execution */
    struct wmx_thread thread[WMX_THREADS];
    int thread_count, current;
    struct wmx_location location[WMX_LOCATIONS];
    int location_count;
    int16_t index[WMX_INDEX];
    uint32_t index_generation[WMX_INDEX];
    struct wmx_view sc;
    struct wmx_cell cell[WMX_CELLS];
    struct wmx_block block[WMX_BLOCKS];
    int block_count;
    struct wmx_lock lock[WMX_LOCKS];
    int lock_count;
    size_t heap_used;
    char *heap;
    struct wmx_event event[WMX_EVENTS];
    int event_count;
    int preempted;
    int old_reads;
    int spurious_left; /* futex waits that may still return for no reason */
    uint32_t generation;
    const char *failure;
    char failure_text[256];

    /* the search */
    struct wmx_choice choice[WMX_CHOICES];
    int choice_count, choice_at;
    uint64_t random;
    void *root_pointer;
    char *image; /* initial contents of .data and .bss */
    long runs;
};

extern __thread struct wmx *wmx;

/* schedule.c: threads and choices */
int wmx_choose(int width);
void wmx_step(void);  /* before each visible operation: maybe another thread first */
void wmx_block(void); /* the current thread has changed its status: somebody else, until it is enabled */
void wmx_yield(void); /* a free switch: maybe another thread first, not counted as a preemption */
void wmx_spawn(void (*function)(void *), void *argument);
void wmx_run_from_root(void);
_Noreturn void wmx_leave(void);
_Noreturn void wmx_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
void wmx_log(char kind, int order, int location, int stamp, uint64_t value, const void *code);

/* memory.c: atomics and fences */
enum wmx_update { WMX_EXCHANGE, WMX_ADD, WMX_SUB, WMX_AND, WMX_OR, WMX_XOR };
uint64_t wmx_load(uintptr_t address, int size, int order, const void *code);
void wmx_store(uintptr_t address, int size, uint64_t value, int order, const void *code);
uint64_t wmx_update(uintptr_t address, int size, enum wmx_update kind, uint64_t operand, int order, const void *code);
bool wmx_cas(uintptr_t address, int size, uint64_t *expected, uint64_t desired, const int order[2], const void *code);
void wmx_fence(int order, const void *code);
void wmx_fence_everywhere(const void *code);           /* os/barrier.h */
uint64_t wmx_kernel_read(uintptr_t address, int size); /* the latest store, as a system call sees it */
int wmx_find_location(uintptr_t address);              /* -1: never used atomically so far */
void wmx_join_view(struct wmx_view *into, const struct wmx_view *from);

static inline void wmx_tick(struct wmx_thread *thread) {
    thread->view.clock[wmx->current]++;
}

/* plain.c: plain accesses and the heap */
void wmx_plain(const void *address, size_t size, bool is_write, const void *code);
void wmx_check_initial(uintptr_t address, int size, const void *code); /* an atomic reads what was written plainly */
void wmx_check_heap(uintptr_t address, size_t size, const void *code);
void *wmx_alloc(size_t alignment, size_t bytes, const void *code);
void wmx_free(void *block, const void *code);
const char *wmx_find_leak(void);

#endif
