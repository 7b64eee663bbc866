/* SPDX-License-Identifier: MIT
 *
 * runtime/dump.c - every fiber on paper: who it is, what it waits for, where it stands.
 *
 * In two steps. A *picture* is taken while the world is stopped, as addresses and numbers only; it is put into words when
 * the world goes on, because finding the names of functions takes a thousand times as long, and because whoever reads the
 * other end of the descriptor may be a fiber that stands still meanwhile.
 *
 *     picture -> block -> block -> ...        entries of different length, one after another in blocks of 64 KiB
 *
 * The frames of a suspended fiber are those from the public call it is in to its entry function; what lies above and below
 * them is the same for all and says nothing.
 *
 * Known cost: the visit touches a page or two below where a parked fiber ends, which it would not have used otherwise.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "os/clock.h"
#include "os/memory.h"
#include "os/report.h"
#include "runtime/runtime.h"
#include "wait/wait.h"
#include "weft/inspect.h"

/* NAMES: a power of two; programs have far fewer places where fibers wait. LINE_MOST: of what a fiber adds; shorter than what
 * print has room for. */
enum { FRAMES_MAX = 48, BLOCK_BYTES = 64 * 1024, NAMES = 1024, NAME_BYTES = 64, TEXT_BYTES = 4096, LINE_MOST = 480 };

struct entry {
    weft_fiber fiber;
    weft_fiber parent;
    weft_fiber joined;    /* whose end it waits for, if that is what it does */
    const void *function; /* the entry function; of the first fiber, the one that weft_run was given */
    const char *reason;   /* NULL: it does not wait, or nobody said what for */
    const void *object;
    int64_t waits_ns;
    uint8_t state; /* enum wf_fiber_state */
    bool has_no_room;
    bool is_alone;
    uint16_t frame_count;
    uint16_t text_size; /* of what the fiber adds itself, behind the frames */
    char name[WF_NAME_SIZE];
    const void *frames[];
};

struct block {
    struct block *next;
    size_t used;
    _Alignas(16) char bytes[];
};

struct name {
    const void *address;
    char text[NAME_BYTES];
};

struct wf_picture {
    struct block *first;
    struct block *last;
    uint32_t runtime;
    uint32_t records; /* how many there were: plain threads spawn meanwhile, but nobody waits for what they spawn */
    uint64_t count;
    uint64_t left_out;
    int64_t now;

    char text[TEXT_BYTES]; /* while it is taken, what a fiber adds; while it is printed, what was not written yet */

    /* while it is printed */
    int fd;
    int error;
    size_t used;
    struct name names[NAMES];
};

struct frames {
    const void *list[FRAMES_MAX];
    int count;
};

/* A thread's wish. It is in the runtime's list, which frees it at the end when the thread had to give up waiting for it. */
struct wf_dump_request {
    struct wf_dump_request *next;
    struct wf_fibers *fibers;
    struct wf_picture *picture;
};

static int take_here(struct wf_fibers *fibers, const struct wf_fiber *except, struct wf_picture **out);
static int take_by_fiber(weft_runtime *runtime, struct wf_picture **out);
static void *take_for_thread(void *opaque);
static void add_fiber(struct wf_picture *picture, struct wf_fibers *fibers, struct wf_fiber *fiber);
static void describe_wait(struct wf_picture *picture, struct wf_fibers *fibers, struct wf_fiber *fiber,
                          struct entry *entry);
static uint16_t describe_self(struct wf_picture *picture, const struct wf_fiber *fiber);
static bool stands_still(weft_fiber id);
static weft_fiber joined_fiber(struct wf_picture *picture, struct wf_fibers *fibers, const void *lock);
static void capture_here(void *opaque);
static struct entry *entry_add(struct wf_picture *picture, const struct entry *head, const struct frames *frames);
static size_t entry_size(const struct entry *entry);
static void print_entry(struct wf_picture *picture, const struct entry *entry);
static void print_text(struct wf_picture *picture, const struct entry *entry);
static void print_frames(struct wf_picture *picture, const struct entry *entry);
static const char *name_of(struct wf_picture *picture, const void *address, struct name *spare);
static void print(struct wf_picture *picture, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void flush(struct wf_picture *picture);

int weft_dump(weft_runtime *runtime, int fd) {
    struct wf_fiber_worker *worker = wf_worker_self();
    struct wf_fibers *fibers = wf_runtimes_enter_this((struct wf_fibers *)runtime);
    if (!fibers)
        return -ESTALE;
    struct wf_picture *picture = NULL;
    int error = -EPERM;
    if (!worker || (worker->fibers == fibers && !worker->base.processor)) /* or a fiber that is alone */
        error = take_by_fiber((weft_runtime *)fibers, &picture);
    else if (worker->fibers == fibers)
        error = take_here(fibers, NULL, &picture);
    wf_runtimes_leave(fibers);
    if (!error)
        error = wf_picture_print(picture, fd);
    wf_picture_free(picture);
    return error;
}

/* For a plain thread. If the runtime ends and drops its fibers meanwhile, the one that was to do it may still be at it. */
static int take_by_fiber(weft_runtime *runtime, struct wf_picture **out) {
    const weft_spawn_options options = {.name = "weft_dump", .priority = WEFT_PRIORITY_HIGH};
    struct wf_dump_request *request = wf_os_alloc(sizeof *request);
    if (!request)
        return -ENOMEM;
    request->fibers = &runtime->fibers;
    wf_lock_take(&runtime->dumps_lock);
    request->next = runtime->dumps;
    runtime->dumps = request;
    wf_lock_drop(&runtime->dumps_lock);
    weft_fiber taker;
    void *result = NULL;
    int error = wf_fiber_spawn(&runtime->fibers, &options, take_for_thread, request, false, &taker);
    if (!error && (error = weft_join(taker, &result, WEFT_NEVER)) == -ECANCELED)
        return error;
    wf_lock_take(&runtime->dumps_lock);
    struct wf_dump_request **at = &runtime->dumps;
    while (*at != request)
        at = &(*at)->next;
    *at = request->next;
    wf_lock_drop(&runtime->dumps_lock);
    *out = request->picture;
    wf_os_free(request);
    return error ? error : (int)(intptr_t)result;
}

void wf_dump_term(weft_runtime *runtime) {
    while (runtime->dumps) {
        struct wf_dump_request *request = runtime->dumps;
        runtime->dumps = request->next;
        wf_picture_free(request->picture);
        wf_os_free(request);
    }
}

/* On a fiber of that runtime. */
static int take_here(struct wf_fibers *fibers, const struct wf_fiber *except, struct wf_picture **out) {
    int stopped = weft_world_stop();
    *out = wf_picture_take(fibers, except);
    if (stopped == 0)
        weft_world_start();
    return *out ? 0 : -ENOMEM;
}

static void *take_for_thread(void *opaque) {
    struct wf_dump_request *request = opaque;
    return (void *)(intptr_t)take_here(request->fibers, wf_fiber_self(), &request->picture);
}

WF_NOINLINE struct wf_picture *wf_picture_take(struct wf_fibers *fibers, const struct wf_fiber *except) {
    struct wf_picture *picture = wf_os_alloc(sizeof *picture);
    if (!picture)
        return NULL;
    picture->runtime = fibers->runtime;
    picture->now = wf_os_now();
    wf_lock_take(&fibers->records_lock);
    picture->records = fibers->next_index;
    wf_lock_drop(&fibers->records_lock);
    for (uint32_t i = 0; i < picture->records; i++) {
        struct wf_fiber *fiber = wf_record_at(fibers, i);
        if (fiber != except && wf_load_relaxed(&fiber->task.state) != WF_FIBER_FREE)
            add_fiber(picture, fibers, fiber);
    }
    return picture;
}

static void add_fiber(struct wf_picture *picture, struct wf_fibers *fibers, struct wf_fiber *fiber) {
    struct entry head = {0};
    struct frames frames;
    frames.count = 0;
    wf_lock_take(&fiber->lock);                       /* plain threads spawn and join meanwhile */
    head.state = wf_load_seq_cst(&fiber->task.state); /* pairs with the spawn, and with those who run alone */
    head.fiber = wf_fiber_id(fibers, fiber);
    head.parent = wf_parent_id(fibers, fiber);
    head.function = fiber->parent & WF_FLAG_FIRST ? (const void *)(uintptr_t)((weft_runtime *)fibers)->first
                                                  : (const void *)(uintptr_t)wf_load_relaxed(&fiber->entry);
    wf_fiber_copy_name(fiber, head.name);
    head.text_size = describe_self(picture, fiber);
    wf_lock_drop(&fiber->lock);
    if (head.state == WF_FIBER_FREE)
        return;
    if (fiber == wf_fiber_self()) {
        capture_here(&frames);
    } else if (head.state == WF_FIBER_PARKED || head.state == WF_FIBER_READY) {
        describe_wait(picture, fibers, fiber, &head);
        head.is_alone = wf_fiber_stack(fiber)->seat != NULL; /* it stands on its thread, and cannot be visited */
        head.has_no_room = !head.is_alone && !wf_fiber_visit(fiber, capture_here, &frames);
    }
    picture->count++;
    if (!entry_add(picture, &head, &frames))
        picture->left_out++;
}

static void describe_wait(struct wf_picture *picture, struct wf_fibers *fibers, struct wf_fiber *fiber,
                          struct entry *entry) {
    const struct wf_wait *wait = wf_load_relaxed(&wf_fiber_stack(fiber)->waiting);
    if (!wait)
        return;
    entry->reason = wait->reason;
    entry->object = wait->object;
    entry->waits_ns = picture->now > wait->since ? picture->now - wait->since : 0;
    if (wait->object && strcmp(wait->reason, "join") == 0)
        entry->joined = joined_fiber(picture, fibers, wait->object);
}

/* Into the picture's text; under the fiber's lock, so that it has its stack, if it has one, until we are done. */
static uint16_t describe_self(struct wf_picture *picture, const struct wf_fiber *fiber) {
    uintptr_t place = wf_load_acquire(&fiber->place); /* pairs with its start */
    if (place & WF_PLACE_NEW)
        return 0;
    const struct wf_stack *stack = (const struct wf_stack *)place;
    size_t size =
        stack->describe ? stack->describe(picture->text, sizeof picture->text, stands_still, stack->describe_arg) : 0;
    return (uint16_t)(size < sizeof picture->text ? size : sizeof picture->text - 1);
}

/* The world is stopped: whoever still runs has a thread to itself. */
static bool stands_still(weft_fiber id) {
    struct wf_fibers *fibers = wf_worker_self()->fibers;
    struct wf_fiber *fiber = wf_record_of(fibers, id);
    if (!fiber || wf_fiber_id(fibers, fiber).bits != id.bits)
        return false;
    enum wf_fiber_state state = wf_load_seq_cst(&fiber->task.state); /* pairs with those who run alone */
    return fiber == wf_fiber_self() || state == WF_FIBER_PARKED || state == WF_FIBER_READY;
}

/* WEFT_NO_FIBER when it is one of another runtime. */
static weft_fiber joined_fiber(struct wf_picture *picture, struct wf_fibers *fibers, const void *lock) {
    const struct wf_fiber *fiber = (const void *)((const char *)lock - offsetof(struct wf_fiber, lock));
    uint32_t index = fiber->index;
    bool is_ours = index < picture->records && wf_record_at(fibers, index) == fiber;
    return is_ours ? wf_fiber_id(fibers, fiber) : WEFT_NO_FIBER;
}

static WF_NOINLINE void capture_here(void *opaque) {
    struct frames *frames = opaque;
    frames->count = wf_capture_frames(frames->list, FRAMES_MAX);
}

static struct entry *entry_add(struct wf_picture *picture, const struct entry *head, const struct frames *frames) {
    struct entry sized = *head;
    sized.frame_count = (uint16_t)frames->count;
    size_t size = entry_size(&sized);
    struct block *block = picture->last;
    if (!block || block->used + size > BLOCK_BYTES - sizeof *block) {
        block = wf_os_alloc(BLOCK_BYTES);
        if (!block)
            return NULL;
        if (picture->last)
            picture->last->next = block;
        else
            picture->first = block;
        picture->last = block;
    }
    struct entry *entry = (struct entry *)(void *)(block->bytes + block->used);
    *entry = sized;
    memcpy(entry->frames, frames->list, (size_t)frames->count * sizeof frames->list[0]);
    memcpy(entry->frames + frames->count, picture->text, entry->text_size);
    block->used += size;
    return entry;
}

static size_t entry_size(const struct entry *entry) {
    size_t words = entry->frame_count + (entry->text_size + sizeof entry->frames[0] - 1) / sizeof entry->frames[0];
    return sizeof *entry + words * sizeof entry->frames[0];
}

void wf_picture_free(struct wf_picture *picture) {
    if (!picture)
        return;
    for (struct block *next, *block = picture->first; block; block = next) {
        next = block->next;
        wf_os_free(block);
    }
    wf_os_free(picture);
}

int wf_picture_print(struct wf_picture *picture, int fd) {
    picture->fd = fd;
    print(picture, "weft: %llu fibers in runtime %u\n", (unsigned long long)picture->count, picture->runtime);
    for (const struct block *block = picture->first; block; block = block->next) {
        const struct entry *entry;
        for (size_t at = 0; at < block->used; at += entry_size(entry)) {
            entry = (const struct entry *)(const void *)(block->bytes + at);
            print_entry(picture, entry);
        }
    }
    if (picture->left_out)
        print(picture, "... and %llu more: no memory\n", (unsigned long long)picture->left_out);
    flush(picture);
    return picture->error ? picture->error : picture->left_out ? -ENOMEM : 0;
}

static void print_entry(struct wf_picture *picture, const struct entry *entry) {
    struct name spare;
    const char *name = entry->name;
    const char *function = name_of(picture, entry->function, &spare);
    print(picture, "fiber %llu%s%.*s%s (%s)", (unsigned long long)entry->fiber.bits, name[0] ? " \"" : "", WF_NAME_SIZE,
          name, name[0] ? "\"" : "", function);
    if (entry->parent.bits)
        print(picture, ", child of %llu", (unsigned long long)entry->parent.bits);
    print(picture, ": %s%s", entry->is_alone ? "alone, " : "", wf_fiber_machine.states[entry->state]);
    if (entry->reason) {
        print(picture, " for %lld.%03lld s in %s", (long long)(entry->waits_ns / WEFT_SECOND),
              (long long)(entry->waits_ns % WEFT_SECOND / WEFT_MILLISECOND), entry->reason);
        if (entry->joined.bits)
            print(picture, " of fiber %llu", (unsigned long long)entry->joined.bits);
        else if (entry->object)
            print(picture, " on %p", entry->object);
    }
    print(picture, "\n");
    print_text(picture, entry);
    if (entry->has_no_room)
        print(picture, "    (no backtrace: its stack is almost full)\n");
    else
        print_frames(picture, entry);
}

/* Line by line: what a fiber adds itself comes before its frames. */
static void print_text(struct wf_picture *picture, const struct entry *entry) {
    const char *text = (const char *)(entry->frames + entry->frame_count);
    for (size_t at = 0, length; at < entry->text_size; at += length + 1) {
        const char *end = memchr(text + at, '\n', entry->text_size - at);
        length = end ? (size_t)(end - text) - at : entry->text_size - at;
        print(picture, "    %.*s\n", (int)(length < LINE_MOST ? length : LINE_MOST), text + at);
    }
}

static void print_frames(struct wf_picture *picture, const struct entry *entry) {
    struct name spare;
    char function[NAME_BYTES];
    snprintf(function, sizeof function, "%s", name_of(picture, entry->function, &spare));
    int begin = 0;
    int end = entry->frame_count;
    while (begin < end && strncmp(name_of(picture, entry->frames[begin], &spare), "weft_", 5) != 0)
        begin++;
    if (begin == end)
        begin = 0; /* no public call: all of it */
    while (end > begin && strcmp(name_of(picture, entry->frames[end - 1], &spare), function) != 0)
        end--;
    if (end == begin)
        end = entry->frame_count; /* the entry function has no frame, or lies deeper */
    for (int i = begin; i < end; i++)
        print(picture, "    #%d %s\n", i - begin, name_of(picture, entry->frames[i], &spare));
    if (end == FRAMES_MAX)
        print(picture, "    ...\n");
}

/* From the table, or into spare when that has no place for it. */
static const char *name_of(struct wf_picture *picture, const void *address, struct name *spare) {
    uint64_t hash = (uintptr_t)address * UINT64_C(0x9E3779B97F4A7C15) >> 32;
    struct name *slot = spare;
    for (uint32_t i = 0; i < 8; i++) {
        struct name *candidate = &picture->names[(hash + i) % NAMES];
        if (candidate->address == address)
            return candidate->text;
        if (!candidate->address) {
            slot = candidate;
            break;
        }
    }
    slot->address = address;
    wf_symbol_name(address, slot->text, sizeof slot->text);
    return slot->text;
}

static void print(struct wf_picture *picture, const char *format, ...) {
    if (sizeof picture->text - picture->used < 512) /* longer than any single piece */
        flush(picture);
    size_t room = sizeof picture->text - picture->used;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(picture->text + picture->used, room, format, arguments);
    va_end(arguments);
    if (length > 0)
        picture->used += (size_t)length < room ? (size_t)length : room - 1;
}

static void flush(struct wf_picture *picture) {
    if (!picture->error)
        picture->error = wf_write_all(picture->fd, picture->text, picture->used);
    picture->used = 0;
}
