/* SPDX-License-Identifier: MIT
 *
 * io/signal.c - sets of signals that somebody waits for.
 *
 *     handler, on any thread --counts, sets an eventfd--> the keeper (io/fd.h) --tells--> sets --> waiters
 *
 * Whoever looks at a set, or opens one, looks at the counts of the handlers first, as the keeper does: so a signal that has
 * been handled is there for the next call, and one that was handled before a set was opened is not for it.
 *
 * One lock for all of it. Signals are rare, and each may be for any set. Records of sets stay, since an old name may still be
 * looked at. The eventfd and its sentry stay as well: a handler may be about to write to it on some thread.
 *
 * Rejected: a signalfd, which sees only what all threads block, and threads of the program are not ours to tell that.
 *
 * Lock order: ours, then those of sentries and timers.
 */
#include "io/signal.h"

#include <errno.h>

#include "base/assert.h"
#include "io/fd.h"
#include "os/eventfd.h"
#include "os/memory.h"
#include "os/signals.h"
#include "os/thread.h"
#include "wait/select.h"

/* 65536 sets in all. */
enum { SET_BLOCK = 16, SET_BLOCKS = 4096 };

/* All under the lock. */
struct signal_set {
    uint32_t index; /* constant */
    uint32_t generation;
    bool is_open;
    int turn;        /* the number that was told last */
    uint64_t wanted; /* a bit for each number, from 1 on */
    weft_signal_info news[WF_SIGNALS_END];
    struct wf_waiter *waiters;
    struct signal_set *next; /* of the open ones, or of the free ones */
};

static struct {
    struct wf_lock lock;
    bool is_registered; /* under lock; so is everything else */
    bool is_started;
    int event_fd;
    struct wf_sentry sentry;
    uint32_t count;
    struct signal_set *blocks[SET_BLOCKS];
    struct signal_set *first_free;
    struct signal_set *first_open;
    uint32_t users[WF_SIGNALS_END]; /* open sets with that number */
    uint64_t seen[WF_SIGNALS_END];  /* of its tally */
} signal_sets;

static int signals_want(const int *numbers, int count, uint64_t *wanted);
static int signals_start_locked(void);
static void signals_ready(struct wf_sentry *sentry, uint32_t events);
static int signals_catch_locked(uint64_t wanted);
static void signals_drop_locked(uint64_t wanted);
static struct signal_set *signal_set_take_locked(int *error);
static void signal_set_give_locked(struct signal_set *set);
static struct signal_set *signal_set_find_locked(uint64_t bits);
static struct wf_waiter *signals_look_locked(void);
static void signals_count_locked(int number);
static bool signal_set_tell_locked(struct signal_set *set, weft_signal_info *info);

static uint64_t signal_bit(int number) {
    return UINT64_C(1) << (number - 1);
}

int weft_signals_open(weft_signals *out, const int *numbers, int count) {
    uint64_t wanted = 0;
    int error = out ? signals_want(numbers, count, &wanted) : -EINVAL;
    if (error)
        return error;
    wf_lock_take(&signal_sets.lock);
    struct wf_waiter *woken = signals_look_locked();
    struct signal_set *set = NULL;
    error = signals_start_locked();
    if (!error)
        set = signal_set_take_locked(&error);
    if (set) {
        error = signals_catch_locked(wanted);
        if (error)
            signal_set_give_locked(set);
    }
    if (!error) {
        for (int i = 0; i < WF_SIGNALS_END; i++)
            set->news[i].count = 0;
        set->is_open = true;
        set->turn = 0;
        set->wanted = wanted;
        set->next = signal_sets.first_open;
        signal_sets.first_open = set;
        *out = (weft_signals){(uint64_t)set->generation << 32 | (set->index + 1)};
    }
    wf_lock_drop(&signal_sets.lock);
    wf_wait_wake_chain(woken);
    return error;
}

static int signals_want(const int *numbers, int count, uint64_t *wanted) {
    if (!numbers || count < 1)
        return -EINVAL;
    for (int i = 0; i < count; i++) {
        if (!wf_os_signal_can_be_caught(numbers[i]))
            return -EINVAL;
        *wanted |= signal_bit(numbers[i]);
    }
    return 0;
}

static int signals_start_locked(void) {
    int error = 0;
    if (signal_sets.is_started)
        return 0;
    struct wf_sentries *sentries = wf_keeper(&error);
    if (!sentries)
        return error;
    if (!signal_sets.is_registered) {
        error = wf_os_at_fork(wf_signals_after_fork);
        if (error)
            return error;
        signal_sets.is_registered = true;
    }
    int fd = wf_os_eventfd_open();
    if (fd < 0)
        return fd;
    signal_sets.sentry = (struct wf_sentry){.ready = signals_ready, .lasts = true};
    error = wf_sentry_add(sentries, &signal_sets.sentry, fd);
    if (error) {
        wf_os_eventfd_close(fd);
        return error;
    }
    wf_os_signals_tell(fd);
    signal_sets.event_fd = fd;
    signal_sets.is_started = true;
    return 0;
}

static int signals_catch_locked(uint64_t wanted) {
    for (int i = 1; i < WF_SIGNALS_END; i++) {
        if (!(wanted & signal_bit(i)))
            continue;
        if (signal_sets.users[i] == 0) {
            signal_sets.seen[i] = wf_os_signal_tally(i).count;
            int error = wf_os_signal_catch(i);
            if (error) {
                signals_drop_locked(wanted & (signal_bit(i) - 1));
                return error;
            }
        }
        signal_sets.users[i]++;
    }
    return 0;
}

static void signals_drop_locked(uint64_t wanted) {
    for (int i = 1; i < WF_SIGNALS_END; i++)
        if ((wanted & signal_bit(i)) && --signal_sets.users[i] == 0)
            wf_os_signal_drop(i);
}

/* ---- Records ---- */

static struct signal_set *signal_set_at(uint32_t index) {
    return &signal_sets.blocks[index / SET_BLOCK][index % SET_BLOCK];
}

static struct signal_set *signal_set_take_locked(int *error) {
    struct signal_set *set = signal_sets.first_free;
    if (set) {
        signal_sets.first_free = set->next;
        return set;
    }
    uint32_t index = signal_sets.count;
    if (index == SET_BLOCK * SET_BLOCKS) {
        *error = -EAGAIN;
        return NULL;
    }
    struct signal_set **block = &signal_sets.blocks[index / SET_BLOCK];
    if (!*block)
        *block = wf_os_alloc_lasting(SET_BLOCK * sizeof **block);
    if (!*block) {
        *error = -ENOMEM;
        return NULL;
    }
    signal_sets.count++;
    set = signal_set_at(index);
    set->index = index;
    set->generation = 1;
    return set;
}

static void signal_set_give_locked(struct signal_set *set) {
    set->is_open = false;
    set->generation++;
    set->next = signal_sets.first_free;
    signal_sets.first_free = set;
}

static struct signal_set *signal_set_find_locked(uint64_t bits) {
    uint32_t index = (uint32_t)bits - 1;
    if (index >= signal_sets.count)
        return NULL;
    struct signal_set *set = signal_set_at(index);
    return set->is_open && set->generation == (uint32_t)(bits >> 32) ? set : NULL;
}

int weft_signals_close(weft_signals signals) {
    wf_lock_take(&signal_sets.lock);
    struct wf_waiter *woken = NULL;
    struct signal_set *set = signal_set_find_locked(signals.bits);
    if (set) {
        struct signal_set **link = &signal_sets.first_open;
        while (*link != set)
            link = &(*link)->next;
        *link = set->next;
        signals_drop_locked(set->wanted);
        woken = wf_wait_take_all_locked(&set->waiters, -ESTALE, NULL);
        signal_set_give_locked(set);
    }
    wf_lock_drop(&signal_sets.lock);
    wf_wait_wake_chain(woken);
    return set ? 0 : -ESTALE;
}

/* ---- What came ---- */

/* On the keeper. */
static void signals_ready(struct wf_sentry *sentry, uint32_t events) {
    (void)sentry;
    (void)events;
    wf_lock_take(&signal_sets.lock);
    struct wf_waiter *woken = signals_look_locked();
    wf_lock_drop(&signal_sets.lock);
    wf_wait_wake_chain(woken);
}

/* Gives what is new to all sets that want it, and from there to those who wait. Returns the chain of those who have got
 * something and are to be woken. */
static struct wf_waiter *signals_look_locked(void) {
    struct wf_waiter *first = NULL, **last = &first;
    wf_os_signals_begin_look();
    for (int i = 1; i < WF_SIGNALS_END; i++)
        if (signal_sets.users[i] > 0)
            signals_count_locked(i);
    for (struct signal_set *set = signal_sets.first_open; set; set = set->next) {
        weft_signal_info info;
        struct wf_waiter *waiter;
        while (set->waiters && signal_set_tell_locked(set, &info)) {
            waiter = wf_wait_take_first_locked(&set->waiters);
            if (!waiter) { /* they have all gone for other reasons */
                set->news[info.number] = info;
                break;
            }
            waiter->status = 0;
            if (waiter->value)
                *(weft_signal_info *)waiter->value = info;
            waiter->next = NULL;
            *last = waiter;
            last = &waiter->next;
        }
    }
    return first;
}

static void signals_count_locked(int number) {
    struct wf_os_signal_tally tally = wf_os_signal_tally(number);
    uint64_t more = tally.count - signal_sets.seen[number];
    if (more == 0)
        return;
    signal_sets.seen[number] = tally.count;
    for (struct signal_set *set = signal_sets.first_open; set; set = set->next)
        if (set->wanted & signal_bit(number))
            set->news[number] = (weft_signal_info){
                .number = number,
                .sender = tally.sender,
                .user = tally.user,
                .count = set->news[number].count + more,
            };
}

/* The next one after the one that was told last, if there is any. */
static bool signal_set_tell_locked(struct signal_set *set, weft_signal_info *info) {
    for (int i = 0; i < WF_SIGNALS_END; i++) {
        int number = (set->turn + 1 + i) % WF_SIGNALS_END;
        if (set->news[number].count > 0) {
            *info = set->news[number];
            set->news[number].count = 0;
            set->turn = number;
            return true;
        }
    }
    return false;
}

/* ---- Waiting ---- */

int weft_signal_wait(weft_signals signals, weft_signal_info *info, weft_time deadline) {
    weft_signal_info told;
    struct wf_waiter waiter = {.value = &told};
    int status = wf_wait_enter(deadline);
    if (status)
        return status;
    wf_lock_take(&signal_sets.lock);
    struct wf_waiter *woken;
    while ((woken = signals_look_locked())) { /* others are to be woken, and not with the lock */
        wf_lock_drop(&signal_sets.lock);
        wf_wait_wake_chain(woken);
        wf_lock_take(&signal_sets.lock);
    }
    struct signal_set *set = signal_set_find_locked(signals.bits);
    if (!set || signal_set_tell_locked(set, &told)) {
        wf_lock_drop(&signal_sets.lock);
        status = set ? 0 : -ESTALE;
    } else {
        status = wf_wait_locked(&waiter, &signal_sets.lock, &set->waiters, deadline, "signal");
    }
    if (status == 0 && info)
        *info = told;
    return status;
}

static bool signal_case_begin(weft_case *entry, struct wf_lock **lock, struct wf_waiter ***queue) {
    wf_lock_take(&signal_sets.lock);
    struct wf_waiter *woken = signals_look_locked();
    struct signal_set *set = signal_set_find_locked(entry->id);
    wf_lock_drop(&signal_sets.lock);
    wf_wait_wake_chain(woken);
    entry->object = set;
    entry->status = set ? 0 : -ESTALE;
    *lock = &signal_sets.lock;
    *queue = set ? &set->waiters : NULL;
    return set != NULL;
}

static bool signal_case_attempt(weft_case *entry, struct wf_waiter **wakes) {
    weft_signal_info told;
    struct signal_set *set = signal_set_find_locked(entry->id);
    (void)wakes;
    if (set && !signal_set_tell_locked(set, &told))
        return false;
    entry->status = set ? 0 : -ESTALE;
    if (set && entry->value)
        *(weft_signal_info *)entry->value = told;
    return true;
}

static void signal_case_prepare(weft_case *entry, struct wf_waiter *node) {
    node->value = entry->value;
}

static void signal_case_finish(weft_case *entry, struct wf_waiter *node) {
    entry->status = node->status;
}

static const struct wf_case_kind signal_case_kind = {
    .name = "signal",
    .begin = signal_case_begin,
    .attempt = signal_case_attempt,
    .prepare = signal_case_prepare,
    .finish = signal_case_finish,
};

weft_case weft_on_signal(weft_signals signals, weft_signal_info *info) {
    return wf_case_make(&signal_case_kind, NULL, signals.bits, info);
}

/* ---- For the runtime ---- */

bool wf_signals_are_awaited(void) {
    bool is_awaited = false;
    wf_lock_take(&signal_sets.lock);
    for (struct signal_set *set = signal_sets.first_open; set && !is_awaited; set = set->next)
        is_awaited = set->waiters != NULL;
    wf_lock_drop(&signal_sets.lock);
    return is_awaited;
}

/* Whoever came first after the fork has perhaps reset the keeper already. */
void wf_signals_after_fork(void) {
    wf_lock_init(&signal_sets.lock);
    wf_keeper_after_fork();
    for (int i = 1; i < WF_SIGNALS_END; i++) {
        if (signal_sets.users[i] > 0)
            wf_os_signal_drop(i);
        signal_sets.users[i] = 0;
    }
    for (struct signal_set *set = signal_sets.first_open, *next; set; set = next) {
        next = set->next;
        set->waiters = NULL;
        signal_set_give_locked(set);
    }
    signal_sets.first_open = NULL;
    if (signal_sets.is_started)
        wf_os_eventfd_close(signal_sets.event_fd);
    signal_sets.is_started = false;
    wf_os_signals_tell(-1);
    wf_os_signals_begin_look();
}
