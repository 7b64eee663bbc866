/* SPDX-License-Identifier: MIT
 *
 * io/process.c - child processes that somebody waits for.
 *
 * A child has a record in a table of the process, a pidfd, and a sentry at it with the keeper (io/fd.h), which reaps the
 * child when it ends, writes down how, and wakes whoever waits:
 *
 *     free --spawn--> running --ends--> ended --free--> cleared: the sentry removed, the pidfd closed --> free, next
 *                        `-- free --> forgotten --ends--> gone --the next spawn or free--'               generation
 *
 * The keeper cannot clear a record itself: a sentry must not be removed while it is told. So one that was forgotten lies in a
 * list when it has ended, until somebody comes by.
 *
 * Records stay, since an old name may still be looked at. Lock order: a record's, then the table's, and those of sentries and
 * timers.
 *
 * Rejected: waiting for the pidfd as for any descriptor, where children that nobody waits for stay zombies; SIGCHLD, which is
 * the program's.
 */
#include "io/process.h"

#include <errno.h>

#include "base/assert.h"
#include "base/list.h"
#include "base/point.h"
#include "io/fd.h"
#include "os/epoll.h"
#include "os/memory.h"
#include "os/signals.h"
#include "os/thread.h"
#include "wait/select.h"
#include "weft/thread.h"

/* 65536 children in all. */
enum { PROCESS_BLOCK = 32, PROCESS_BLOCKS = 2048 };

struct process_record {
    uint32_t index; /* constant */
    struct wf_lock lock;
    uint32_t generation; /* under lock; so is what follows */
    bool is_used;        /* the generation names it */
    bool is_running;
    bool is_forgotten;
    bool has_pidfd; /* and a sentry at it */
    int id;
    int pidfd;
    int error; /* why how it ended is not known */
    weft_process_end end;
    struct wf_waiter *waiters;
    struct wf_sentry sentry;     /* its owner's: who spawns it and who clears it */
    struct process_record *next; /* under the table's lock: free, or gone */
};

static struct {
    struct wf_lock lock;
    _Atomic uint32_t count; /* written under lock; so is the rest */
    _Atomic(struct process_record *) blocks[PROCESS_BLOCKS];
    struct process_record *first_free;
    struct process_record *first_gone;
} processes;

/* The three descriptors of a child on their way. */
struct process_stdio {
    int numbers[3];       /* as for wf_os_child */
    bool is_new[3];       /* to be closed here when the child has it */
    struct wf_fd *got[3]; /* in use until then */
    weft_fd pipes[3];
};

static int process_check(const char *const *argv, const weft_process_options *options, const weft_fd *pipes);
static int process_open_stdio(struct process_stdio *stdio, const weft_process_options *options);
static int process_open_pipe(struct process_stdio *stdio, int which);
static int process_lend_fd(struct process_stdio *stdio, int which, weft_fd fd);
static void process_close_stdio(struct process_stdio *stdio, bool with_pipes);
static int process_start(struct process_record *record, const char *const *argv, const weft_process_options *options,
                         const struct process_stdio *stdio);
static struct process_record *process_take(int *error);
static void process_give(struct process_record *record);
static struct process_record *process_at(uint32_t index);
static struct process_record *process_lock(uint64_t bits);
static void process_ready(struct wf_sentry *sentry, uint32_t events);
static struct wf_waiter *process_look_locked(struct process_record *record);
static int process_answer_locked(const struct process_record *record, weft_process_end *end);
static void process_clear(struct process_record *record);
static void process_clear_gone(void);

int weft_process_spawn(weft_process *out, const char *const *argv, const weft_process_options *options,
                       weft_fd pipes[3]) {
    static const weft_process_options none;
    struct process_stdio stdio = {.numbers = {-1, -1, -1}};
    if (!options)
        options = &none;
    int error = out ? process_check(argv, options, pipes) : -EINVAL;
    if (!error)
        error = wf_os_children_check();
    if (error)
        return error;
    process_clear_gone();
    struct process_record *record = process_take(&error);
    if (!record)
        return error;
    error = process_open_stdio(&stdio, options);
    if (!error)
        error = process_start(record, argv, options, &stdio);
    process_close_stdio(&stdio, error != 0);
    if (error) {
        process_give(record);
        return error;
    }
    for (int i = 0; i < 3 && pipes; i++)
        pipes[i] = stdio.pipes[i];
    *out = (weft_process){(uint64_t)record->generation << 32 | (record->index + 1)};
    return 0;
}

static int process_check(const char *const *argv, const weft_process_options *options, const weft_fd *pipes) {
    const weft_stdio *all[3] = {&options->in, &options->out, &options->err};
    if (!argv || !argv[0] || options->dies_with < 0 || options->dies_with >= WF_SIGNALS_END ||
        options->group < WEFT_PROCESS_OWN_SESSION)
        return -EINVAL;
    for (int i = 0; i < 3; i++) {
        int kind = all[i]->kind;
        if (kind < WEFT_STDIO_DEFAULT || kind > (i == 2 ? WEFT_STDIO_OUT : WEFT_STDIO_FD) ||
            (kind == WEFT_STDIO_PIPE && !pipes))
            return -EINVAL;
    }
    return 0;
}

static int process_start(struct process_record *record, const char *const *argv, const weft_process_options *options,
                         const struct process_stdio *stdio) {
    int error = 0;
    struct wf_sentries *sentries = wf_keeper(&error);
    if (!sentries)
        return error;
    const char **paths = wf_os_child_paths(options->file ? options->file : argv[0]);
    if (!paths)
        return -ENOMEM;
    struct wf_os_child what = {
        .paths = paths,
        .argv = argv,
        .environment = options->environment,
        .folder = options->folder,
        .numbers = {stdio->numbers[0], stdio->numbers[1], stdio->numbers[2]},
        .group = options->group,
        .dies_with = options->dies_with,
        .default_signals = options->default_signals,
    };
    int id = 0;
    weft_blocking_begin();
    int pidfd = what.dies_with ? wf_spawner_start_child(&what, &id) : wf_os_child_start(&what, &id);
    weft_blocking_end();
    wf_os_free(paths);
    if (pidfd < 0)
        return pidfd;
    wf_lock_take(&record->lock);
    record->is_used = true;
    record->is_running = true;
    record->is_forgotten = false;
    record->id = id;
    record->pidfd = pidfd;
    record->error = 0;
    record->sentry = (struct wf_sentry){.ready = process_ready, .lasts = true};
    error = wf_sentry_add(sentries, &record->sentry, pidfd);
    record->has_pidfd = error == 0;
    if (error)
        record->is_used = record->is_running = false;
    wf_lock_drop(&record->lock);
    if (error)
        wf_os_child_destroy(pidfd);
    return error;
}

/* ---- The three descriptors ---- */

static int process_open_stdio(struct process_stdio *stdio, const weft_process_options *options) {
    const weft_stdio *all[3] = {&options->in, &options->out, &options->err};
    int error = 0;
    for (int i = 0; i < 3 && !error; i++) {
        switch (all[i]->kind) {
        case WEFT_STDIO_NULL:
            stdio->numbers[i] = wf_os_open_null();
            stdio->is_new[i] = stdio->numbers[i] >= 0;
            error = stdio->is_new[i] ? 0 : stdio->numbers[i];
            break;
        case WEFT_STDIO_PIPE:
            error = process_open_pipe(stdio, i);
            break;
        case WEFT_STDIO_FD:
            error = process_lend_fd(stdio, i, all[i]->fd);
            break;
        case WEFT_STDIO_OUT:
            stdio->numbers[i] = stdio->numbers[1] < 0 ? 1 : stdio->numbers[1];
            break;
        default:
            break;
        }
    }
    return error;
}

static int process_open_pipe(struct process_stdio *stdio, int which) {
    int ends[2], theirs = which == 0 ? 0 : 1;
    int error = wf_os_pipe(ends);
    if (error)
        return error;
    int was_blocking = wf_os_fd_set_blocking(ends[theirs], true); /* as programs expect it */
    error = was_blocking < 0 ? was_blocking : wf_fd_open(&stdio->pipes[which], ends[!theirs], WF_OS_PIPE, 0);
    if (error) {
        wf_os_close(ends[0]);
        wf_os_close(ends[1]);
        return error;
    }
    wf_os_ignore_broken_pipes();
    stdio->numbers[which] = ends[theirs];
    stdio->is_new[which] = true;
    return 0;
}

static int process_lend_fd(struct process_stdio *stdio, int which, weft_fd fd) {
    struct wf_fd *record = wf_fd_get(fd);
    if (!record)
        return -EBADF;
    stdio->got[which] = record;
    stdio->numbers[which] = record->number;
    int was_blocking = record->kind == WF_OS_FILE ? 0 : wf_os_fd_set_blocking(record->number, true);
    return was_blocking < 0 ? was_blocking : 0;
}

static void process_close_stdio(struct process_stdio *stdio, bool with_pipes) {
    for (int i = 0; i < 3; i++) {
        if (stdio->is_new[i])
            wf_os_close(stdio->numbers[i]);
        if (stdio->got[i])
            wf_fd_put(stdio->got[i]);
        if (with_pipes && stdio->pipes[i].bits)
            weft_close(stdio->pipes[i]);
    }
}

/* ---- Records ---- */

static struct process_record *process_take(int *error) {
    wf_lock_take(&processes.lock);
    struct process_record *record = processes.first_free;
    uint32_t index = wf_load_relaxed(&processes.count);
    if (record) {
        processes.first_free = record->next;
    } else if (index == PROCESS_BLOCK * PROCESS_BLOCKS) {
        *error = -EAGAIN;
    } else if (index > 0 || (*error = wf_os_at_fork(wf_processes_after_fork)) == 0) {
        struct process_record *block = wf_load_relaxed(&processes.blocks[index / PROCESS_BLOCK]);
        if (!block) {
            block = wf_os_alloc_lasting(PROCESS_BLOCK * sizeof *block);
            wf_store_relaxed(&processes.blocks[index / PROCESS_BLOCK], block);
        }
        if (block) {
            record = &block[index % PROCESS_BLOCK];
            record->index = index;
            record->generation = 1;
            wf_store_release(&processes.count, index + 1); /* pairs with process_at */
        } else {
            *error = -ENOMEM;
        }
    }
    wf_lock_drop(&processes.lock);
    return record;
}

static void process_give(struct process_record *record) {
    wf_lock_take(&processes.lock);
    record->next = processes.first_free;
    processes.first_free = record;
    wf_lock_drop(&processes.lock);
}

static struct process_record *process_at(uint32_t index) {
    return &wf_load_relaxed(&processes.blocks[index / PROCESS_BLOCK])[index % PROCESS_BLOCK];
}

static bool process_is_named_locked(const struct process_record *record, uint64_t bits) {
    return record->is_used && record->generation == (uint32_t)(bits >> 32);
}

static struct process_record *process_lock(uint64_t bits) {
    uint32_t index = (uint32_t)bits - 1;
    if (index >= wf_load_acquire(&processes.count)) /* pairs with process_take */
        return NULL;
    struct process_record *record = process_at(index);
    wf_lock_take(&record->lock);
    if (process_is_named_locked(record, bits))
        return record;
    wf_lock_drop(&record->lock);
    return NULL;
}

int weft_process_id(weft_process process) {
    struct process_record *record = process_lock(process.bits);
    if (!record)
        return -ESTALE;
    int id = record->id;
    wf_lock_drop(&record->lock);
    return id;
}

int weft_process_kill(weft_process process, int signal) {
    struct process_record *record = process_lock(process.bits);
    if (!record)
        return -ESTALE;
    int error = record->is_running ? wf_os_child_signal(record->pidfd, signal) : -ESRCH;
    wf_lock_drop(&record->lock);
    return error;
}

int weft_process_free(weft_process process) {
    process_clear_gone();
    struct process_record *record = process_lock(process.bits);
    if (!record)
        return -ESTALE;
    record->is_used = false;
    record->generation++;
    record->is_forgotten = record->is_running;
    bool has_ended = !record->is_running;
    struct wf_waiter *woken = wf_wait_take_all_locked(&record->waiters, -ESTALE, NULL);
    wf_lock_drop(&record->lock);
    wf_wait_wake_chain(woken);
    WF_POINT("process.before_clear");
    if (has_ended)
        process_clear(record);
    return 0;
}

static void process_clear(struct process_record *record) {
    wf_sentry_remove(&record->sentry);
    wf_os_close(record->pidfd);
    record->has_pidfd = false; /* nobody looks at it any more */
    process_give(record);
}

static void process_clear_gone(void) {
    wf_lock_take(&processes.lock);
    struct process_record *record = processes.first_gone;
    processes.first_gone = NULL;
    wf_lock_drop(&processes.lock);
    while (record) {
        struct process_record *next = record->next;
        process_clear(record);
        record = next;
    }
}

/* ---- The end of a child ---- */

/* On the keeper. */
static void process_ready(struct wf_sentry *sentry, uint32_t events) {
    struct process_record *record = WF_CONTAINER(sentry, struct process_record, sentry);
    (void)events;
    wf_lock_take(&record->lock);
    struct wf_waiter *woken = process_look_locked(record);
    wf_lock_drop(&record->lock);
    wf_wait_wake_chain(woken);
}

/* Reaps it if it has ended; the last touch of one that was forgotten. Returns the chain of those who are to be woken. */
static struct wf_waiter *process_look_locked(struct process_record *record) {
    if (!record->is_running)
        return NULL;
    int error = wf_os_child_reap(record->pidfd, &record->end);
    if (error == -EAGAIN)
        return NULL;
    record->is_running = false;
    record->error = error;
    struct wf_waiter *first = NULL, **last = &first, *waiter;
    while ((waiter = wf_wait_take_first_locked(&record->waiters))) {
        waiter->status = process_answer_locked(record, waiter->value);
        waiter->next = NULL;
        *last = waiter;
        last = &waiter->next;
    }
    if (record->is_forgotten) {
        wf_lock_take(&processes.lock);
        record->next = processes.first_gone;
        processes.first_gone = record;
        wf_lock_drop(&processes.lock);
    }
    return first;
}

static int process_answer_locked(const struct process_record *record, weft_process_end *end) {
    if (!record->error && end)
        *end = record->end;
    return record->error;
}

/* ---- Waiting ---- */

static int process_wait(weft_process process, weft_process_end *end, int64_t deadline_ns, bool is_sure) {
    struct wf_waiter waiter = {.value = end};
    struct process_record *record = process_lock(process.bits);
    if (!record)
        return -ESTALE;
    struct wf_waiter *woken = process_look_locked(record); /* the keeper may not have come yet */
    if (!record->is_running) {
        int status = process_answer_locked(record, end);
        wf_lock_drop(&record->lock);
        wf_wait_wake_chain(woken);
        return status;
    }
    if (is_sure)
        return wf_wait_surely_locked(&waiter, &record->lock, &record->waiters, "process", false);
    return wf_wait_locked(&waiter, &record->lock, &record->waiters, deadline_ns, "process");
}

int weft_process_wait(weft_process process, weft_process_end *end, weft_time deadline) {
    int error = wf_wait_enter(deadline);
    return error ? error : process_wait(process, end, deadline, false);
}

int wf_process_wait_surely(weft_process process, weft_process_end *end) {
    return process_wait(process, end, WEFT_NEVER, true);
}

static bool process_case_begin(weft_case *entry, struct wf_lock **lock, struct wf_waiter ***queue) {
    struct process_record *record = process_lock(entry->id);
    if (!record) {
        entry->status = -ESTALE;
        return false;
    }
    struct wf_waiter *woken = process_look_locked(record);
    wf_lock_drop(&record->lock);
    wf_wait_wake_chain(woken);
    entry->object = record;
    *lock = &record->lock;
    *queue = &record->waiters;
    return true;
}

static bool process_case_attempt(weft_case *entry, struct wf_waiter **wakes) {
    const struct process_record *record = entry->object;
    (void)wakes;
    if (!process_is_named_locked(record, entry->id))
        entry->status = -ESTALE;
    else if (!record->is_running)
        entry->status = process_answer_locked(record, entry->value);
    else
        return false;
    return true;
}

static void process_case_prepare(weft_case *entry, struct wf_waiter *node) {
    node->value = entry->value;
}

static void process_case_finish(weft_case *entry, struct wf_waiter *node) {
    entry->status = node->status;
}

static const struct wf_case_kind process_case_kind = {
    .name = "process",
    .begin = process_case_begin,
    .attempt = process_case_attempt,
    .prepare = process_case_prepare,
    .finish = process_case_finish,
};

weft_case weft_on_process_end(weft_process process, weft_process_end *end) {
    return wf_case_make(&process_case_kind, NULL, process.bits, end);
}

/* ---- For the runtime ---- */

bool wf_processes_are_awaited(void) {
    bool is_awaited = false;
    for (uint32_t i = 0, count = wf_load_acquire(&processes.count); i < count && !is_awaited; i++) { /* process_take */
        struct process_record *record = process_at(i);
        wf_lock_take(&record->lock);
        is_awaited = record->waiters != NULL;
        wf_lock_drop(&record->lock);
    }
    return is_awaited;
}

/* Whoever came first after the fork has perhaps reset the keeper already. */
void wf_processes_after_fork(void) {
    wf_lock_init(&processes.lock);
    wf_keeper_after_fork();
    wf_spawner_after_fork();
    processes.first_free = processes.first_gone = NULL;
    for (uint32_t i = 0, count = wf_load_relaxed(&processes.count); i < count; i++) {
        struct process_record *record = process_at(i);
        wf_lock_init(&record->lock);
        if (record->is_used)
            record->generation++;
        if (record->has_pidfd)
            wf_os_close(record->pidfd);
        record->is_used = record->is_running = record->is_forgotten = record->has_pidfd = false;
        record->waiters = NULL;
        process_give(record);
    }
}
