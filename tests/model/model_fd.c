/* SPDX-License-Identifier: MIT
 *
 * tests/model/model_fd.c - io/table.c, io/ready.c and io/stream.c: no news missed, and a number that goes back once, unused.
 *
 * Everybody is a plain thread here, so waiting is wait/wait.c with queue/parker.c; fibers have model_wait.c. The kernel is one
 * word a number: how many bytes there are, whether they end, whether somebody is told of them. It orders nothing. Whether a
 * number is open is plain memory: a system call that is not ordered before the close, or comes after it, is reported. Sentries
 * are one place for one of them, with the promises of sched/sentry.h.
 *
 * Cases
 *   edge    two readers, and two bytes that are told once
 *   drain   a reader with room for more, and two bytes that are told one by one or together
 *   end     two such readers; a byte, and then the end
 *   first   a byte that comes while the sentry is put there
 *   rest    one who rests until a read is worth trying
 *   close   one who waits, and one who closes, and uses the record again
 *   last    the same, and one who is inside: each of them may be the one to end it
 *   late    the same, and news
 *   reuse   one who has something to read, against the same
 *   twice   a close and a release, and one who is inside
 *   select  one who waits as weft_select does, while the descriptor is closed and its record used again
 *   chosen  one who waits like that, and a byte that comes while the sentry is put there
 *   stray   one who guesses a weft_fd that is being made
 *   engine  an engine that ends, while somebody waits from outside
 *   ending  an engine that ends, and a close: the sentry is removed once, in an engine that is there
 */
#include "io/fd.h"
#include "model.h"
#include "os/futex.h"
#include "os/memory.h"
#include "os/thread.h"
#include "wait/select.h"
#include "weft/io.h"

#include <errno.h>
#include <string.h>

enum { OLD = 1, NEW, NUMBERS };
enum { BYTES = 15, ENDED = 16, WATCHED = 32 }; /* kernel */
enum { EDGE = 1, STOP = 2 };                   /* edge */

/* A case: what there is, who has waited already, and who does what. */
struct scene {
    const char *name;
    enum wf_os_kind kind;
    uint32_t read_size;
    uint32_t bytes;
    enum { BY_NOBODY, BY_THREAD, BY_ENGINE } watched;
    void (*part[3])(void *number);
};

static weft_fd old, next;
static const struct scene *scene;
static bool is_fiber, wants_two;
static int32_t bytes_read[3], result[3]; /* of the three parts */

static _Atomic uint32_t kernel[NUMBERS];
static _Atomic uint32_t edge;                          /* where the keeper sleeps */
static int32_t is_open[NUMBERS] = {[OLD] = 1};         /* plain; so is what follows */
static int32_t closes, unblocks, is_engine_gone, made; /* how often, each */
static struct wf_fd block[1];                          /* of the table, after the first */
static struct wf_sentries of_keeper;
static struct wf_lock standing_lock;
static struct wf_sentry *standing; /* under standing_lock; so are calls and remover of that one */

static struct wf_processor processor;
static struct wf_stack stack;
static struct wf_fiber fiber = {.stack = &stack};
static struct wf_fibers fibers = {.next_index = 1, .fiber = &fiber};
static struct wf_fiber_worker worker = {.base = {&processor}, .fibers = &fibers, .current = &fiber};

/* What stands in for other layers comes first, then the program. */

MODEL_UNSEEN struct wf_fiber_worker *wf_worker_self(void) {
    return is_fiber ? &worker : NULL;
}

struct wf_sentries *wf_keeper(int *error) {
    *error = 0;
    return &of_keeper;
}

static void raise_edge(uint32_t what) {
    (void)wf_fetch_or_acq_rel(&edge, what);
    wf_os_futex_wake(&edge, 1);
}

int wf_sentry_add(struct wf_sentries *sentries, struct wf_sentry *sentry, int number) {
    wf_lock_take(&standing_lock);
    CHECK(!standing && is_open[number]);
    standing = sentry;
    sentry->sentries = sentries;
    sentry->fd = number;
    uint32_t was = wf_fetch_or_relaxed(&kernel[number], WATCHED);
    wf_lock_drop(&standing_lock);
    CHECK(!(was & WATCHED));
    if (was & (BYTES | ENDED))
        raise_edge(EDGE);
    return 0;
}

void wf_sentry_remove(struct wf_sentry *sentry) {
    struct wf_parker parker = {0};
    CHECK(sentry->sentries == &of_keeper || !is_engine_gone);
    wf_lock_take(&standing_lock);
    CHECK(standing == sentry && is_open[sentry->fd]);
    standing = NULL;
    (void)wf_fetch_and_relaxed(&kernel[sentry->fd], ~(uint32_t)WATCHED);
    sentry->remover = &parker;
    bool must_wait = sentry->calls > 0;
    wf_lock_drop(&standing_lock);
    if (must_wait)
        wf_parker_park(&parker, INT64_MAX);
    sentry->remover = NULL;
    sentry->sentries = NULL;
}

static void tell(uint32_t events) {
    wf_lock_take(&standing_lock);
    struct wf_sentry *sentry = standing;
    if (sentry)
        sentry->calls++;
    wf_lock_drop(&standing_lock);
    if (!sentry)
        return;
    sentry->ready(sentry, events);
    wf_lock_take(&standing_lock);
    if (--sentry->calls == 0 && sentry->remover)
        wf_parker_unpark(sentry->remover);
    wf_lock_drop(&standing_lock);
}

ssize_t wf_os_read(int number, bool is_socket, void *buffer, size_t size) {
    (void)buffer;
    CHECK(is_socket && number == OLD && is_open[number]);
    uint32_t was = wf_fetch_or_relaxed(&kernel[number], 0), taken;
    do {
        taken = (was & BYTES) < size ? was & BYTES : (uint32_t)size;
    } while (taken && !wf_cas_relaxed(&kernel[number], &was, was - taken));
    return taken ? (ssize_t)taken : was & ENDED ? 0 : -EAGAIN;
}

bool wf_os_is_readable(int number) {
    CHECK(number == OLD && is_open[number]);
    return wf_fetch_or_relaxed(&kernel[number], 0) & (BYTES | ENDED);
}

int wf_os_close_checked(int number) {
    CHECK(is_open[number] && !(wf_load_relaxed(&kernel[number]) & WATCHED));
    is_open[number] = 0;
    closes++;
    return 0;
}

int wf_os_fd_set_blocking(int number, bool is_blocking) {
    CHECK(is_open[number] && is_blocking);
    unblocks++;
    return 0;
}

int wf_os_at_fork(void (*in_child)(void)) {
    (void)in_child;
    return 0;
}

void wf_os_ignore_broken_pipes(void) {}

void *wf_os_alloc_lasting(size_t bytes) {
    CHECK(bytes <= sizeof block);
    return block;
}

MODEL_UNUSED(wf_fiber_park)
MODEL_UNUSED(wf_fiber_ready)
MODEL_UNUSED(wf_os_readv)
MODEL_UNUSED(wf_os_write)
MODEL_UNUSED(wf_os_writev)
MODEL_UNUSED(wf_os_send_file)
MODEL_UNUSED(wf_os_splice)
MODEL_UNUSED(wf_os_is_writable)
MODEL_UNUSED(weft_blocking_begin)
MODEL_UNUSED(weft_blocking_end)
MODEL_UNUSED(wf_dns_after_fork)
MODEL_UNUSED(wf_keeper_after_fork)
MODEL_UNUSED(wf_keeper_is_telling)

/* The program. */

static void reader(void *number) {
    int32_t *mine = &bytes_read[(uintptr_t)number];
    char buffer[4];
    ssize_t count;
    do {
        count = weft_read(old, buffer, scene->read_size, WF_NEVER);
        *mine += count > 0 ? (int32_t)count : 0;
    } while (count > 0 && wants_two && *mine < 2);
    result[(uintptr_t)number] = (int32_t)count;
    if (scene->watched != BY_THREAD)
        raise_edge(STOP);
}

static void rester(void *number) {
    (void)number;
    CHECK(wf_fd_rest(old, WF_NEVER) == 0);
    CHECK(wf_fetch_or_relaxed(&kernel[OLD], 0) & BYTES);
}

/* What comes is told at once, to a sentry that nobody removes: two bytes together, */
static void teller_of_two(void *number) {
    (void)number;
    (void)wf_fetch_add_relaxed(&kernel[OLD], 2);
    standing->ready(standing, WF_EPOLL_READ);
}

/* or one by one, or told when both are there, */
static void teller_of_each(void *number) {
    (void)number;
    (void)wf_fetch_add_relaxed(&kernel[OLD], 1);
    if (model_choose(2))
        standing->ready(standing, WF_EPOLL_READ);
    (void)wf_fetch_add_relaxed(&kernel[OLD], 1);
    standing->ready(standing, WF_EPOLL_READ);
}

/* or one, and the end. */
static void teller_of_end(void *number) {
    (void)number;
    (void)wf_fetch_add_relaxed(&kernel[OLD], 1);
    if (model_choose(2))
        standing->ready(standing, WF_EPOLL_READ);
    (void)wf_fetch_add_relaxed(&kernel[OLD], ENDED);
    standing->ready(standing, WF_EPOLL_READ | WF_EPOLL_HANGUP);
}

/* One that somebody may remove meanwhile. */
static void teller(void *number) {
    (void)number;
    (void)wf_fetch_add_relaxed(&kernel[OLD], 1);
    tell(WF_EPOLL_READ);
}

static void sender(void *number) {
    (void)number;
    if (wf_fetch_add_relaxed(&kernel[OLD], 1) & WATCHED)
        raise_edge(EDGE);
}

/* Tells what comes, until the reader is done. */
static void keeper(void *number) {
    (void)number;
    uint32_t found = 0;
    while (!(found & STOP)) {
        while (!(found = wf_exchange_acq_rel(&edge, 0)))
            wf_os_futex_wait(&edge, 0, INT64_MAX);
        if (found & EDGE)
            tell(WF_EPOLL_READ);
    }
}

/* When it is closed, nobody uses it; the next one has the same record. */
static void closer(void *number) {
    (void)number;
    CHECK(weft_close(old) == 0);
    CHECK(closes == 1 && !is_open[OLD]);
    CHECK(wf_fd_open(&next, NEW, WF_OS_SOCKET, 0) == 0);
    CHECK((uint32_t)next.bits == (uint32_t)old.bits && next.bits != old.bits);
}

/* One who is inside for the length of a system call, and of the record reads the number alone: the explorer takes the small
 * fields beside is_kept, which a release writes, for one. */
static void user(void *number) {
    (void)number;
    struct wf_fd *record = wf_fd_get(old);
    if (!record)
        return;
    (void)wf_os_is_readable(record->number);
    wf_fd_put(record);
}

static void one_closer(void *number) {
    int status = weft_close(old);
    CHECK(status == -EBADF || (status == 0 && !is_open[OLD]));
    result[(uintptr_t)number] = status == 0;
}

static void one_releaser(void *number) {
    int status = weft_release(old);
    CHECK(status == -EBADF || (status == OLD && unblocks == 1));
    result[(uintptr_t)number] = status == OLD;
}

/* As weft_select does for one case. */
static void selector(void *number) {
    weft_case entry = weft_on_readable(old);
    const struct wf_case_kind *kind = entry.kind;
    struct wf_lock *lock;
    struct wf_waiter **queue, *wakes = NULL, node = {0};
    if (kind->begin(&entry, &lock, &queue)) {
        wf_lock_take(lock);
        if (kind->attempt(&entry, &wakes)) {
            wf_lock_drop(lock);
        } else {
            wf_wait_locked(&node, lock, queue, WF_NEVER, "model");
            kind->finish(&entry, &node);
        }
    }
    result[(uintptr_t)number] = entry.status;
    raise_edge(STOP);
}

static void maker(void *number) {
    (void)number;
    made = 1;
    CHECK(wf_fd_open(&next, NEW, WF_OS_SOCKET, 0) == 0);
}

static void guesser(void *number) {
    (void)number;
    int found = weft_fd_number((weft_fd){old.bits + 1});
    CHECK(found == -EBADF || (found == NEW && made));
}

/* Its workers have ended, so what comes is told by nobody. */
static void engine(void *number) {
    (void)number;
    wf_fds_abandon(&fibers.engine);
    is_engine_gone = 1;
}

/* A byte comes before that or after; from then on there is the keeper. */
static void engine_then_keeper(void *number) {
    bool is_early = model_choose(2);
    if (is_early)
        (void)wf_fetch_add_relaxed(&kernel[OLD], 1);
    engine(number);
    if (!is_early)
        sender(number);
    keeper(number);
}

static const struct scene scenes[] = {
    {"edge", WF_OS_SOCKET, 1, 0, BY_THREAD, {reader, reader, teller_of_two}},
    {"drain", WF_OS_TCP, 4, 0, BY_THREAD, {reader, teller_of_each}},
    {"end", WF_OS_TCP, 4, 0, BY_THREAD, {reader, reader, teller_of_end}},
    {"rest", WF_OS_TCP, 4, 1, BY_THREAD, {rester, teller_of_two}},
    {"first", WF_OS_SOCKET, 1, 0, BY_NOBODY, {reader, sender, keeper}},
    {"close", WF_OS_SOCKET, 1, 0, BY_THREAD, {reader, closer}},
    {"last", WF_OS_SOCKET, 1, 0, BY_THREAD, {reader, user, closer}},
    {"late", WF_OS_SOCKET, 1, 0, BY_THREAD, {reader, closer, teller}},
    {"reuse", WF_OS_SOCKET, 1, 1, BY_THREAD, {reader, closer}},
    {"twice", WF_OS_SOCKET, 1, 1, BY_THREAD, {user, one_closer, one_releaser}},
    {"select", WF_OS_SOCKET, 1, 0, BY_THREAD, {selector, closer}},
    {"chosen", WF_OS_SOCKET, 1, 0, BY_NOBODY, {selector, sender, keeper}},
    {"stray", WF_OS_SOCKET, 1, 0, BY_NOBODY, {maker, guesser}},
    {"engine", WF_OS_SOCKET, 1, 0, BY_ENGINE, {reader, engine_then_keeper}},
    {"ending", WF_OS_SOCKET, 1, 0, BY_ENGINE, {reader, engine, closer}},
};

static bool is_scene(const char *name) {
    return strcmp(model_case(), name) == 0;
}

/* As weft_select does: when it is back, the sentry stands. */
static void look(void) {
    weft_case entry = weft_on_readable(old);
    const struct wf_case_kind *kind = entry.kind;
    struct wf_lock *lock;
    struct wf_waiter **queue, *wakes = NULL;
    CHECK(kind->begin(&entry, &lock, &queue));
    wf_lock_take(lock);
    CHECK(kind->attempt(&entry, &wakes) == (scene->bytes > 0) && entry.status == 0);
    wf_lock_drop(lock);
}

static void prepare(void) {
    char buffer[4];
    wf_store_relaxed(&kernel[OLD], scene->bytes);
    CHECK(wf_fd_open(&old, OLD, scene->kind, WF_FD_WAS_BLOCKING) == 0);
    if (scene->watched != BY_NOBODY) {
        is_fiber = scene->watched == BY_ENGINE;
        look();
        is_fiber = false;
    }
    if (is_scene("rest"))
        CHECK(weft_read(old, buffer, sizeof buffer, WF_NEVER) == 1);
    wf_store_relaxed(&edge, 0);
}

static void check_end(void) {
    if (is_scene("edge"))
        CHECK(result[0] == 1 && result[1] == 1);
    else if (is_scene("drain"))
        CHECK(bytes_read[0] == 2);
    else if (is_scene("end"))
        CHECK(result[0] >= 0 && result[1] >= 0 && bytes_read[0] + bytes_read[1] == 1);
    else if (is_scene("chosen"))
        CHECK(result[0] == 0);
    else if (is_scene("first") || is_scene("engine"))
        CHECK(result[0] == 1);
    else if (is_scene("close") || is_scene("last") || is_scene("ending") || is_scene("select"))
        CHECK(result[0] == -EBADF);
    else if (is_scene("reuse") || is_scene("late"))
        CHECK(result[0] == 1 || result[0] == -EBADF);
    else if (is_scene("twice"))
        CHECK(result[1] + result[2] == 1 && closes == result[1] && unblocks == result[2]);
    for (uint32_t i = 0; i < wf_fds_count(); i++) {
        struct wf_fd *record = wf_fds_at(i);
        CHECK(!(wf_load_relaxed(&record->word) & WF_FD_USERS));
        CHECK(!record->waiting[WF_IO_READ] && !record->waiting[WF_IO_WRITE] && !record->closer);
    }
}

void model_main(void) {
    for (scene = scenes; !is_scene(scene->name); scene++)
        CHECK(scene < scenes + sizeof scenes / sizeof *scenes - 1);
    wants_two = is_scene("drain");
    prepare();
    for (uintptr_t i = 0; i < 3; i++)
        if (scene->part[i])
            model_start(scene->part[i], (void *)i);
    model_join_all();
    check_end();
}
