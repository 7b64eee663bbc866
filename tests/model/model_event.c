/* SPDX-License-Identifier: MIT
 *
 * tests/model/model_event.c - event/event.c, merge.c, reason.c and system.c: verdicts, waits, reuse, merges, shutdown.
 *
 * Everybody is a plain thread here, so waiting is wait/wait.c with queue/parker.c; fibers have model_wait.c. Where slots
 * come from is a stand-in: a short stack under the system's lock. Whoever triggers has written plainly before, and whoever
 * learns of it reads that: a verdict that comes without what was done before it is reported as a data race.
 *
 * Cases
 *   query    a trigger and a poison race; a third thread asks twice
 *   wait     a trigger against a wait
 *   timeout  a poison against a wait that has a deadline
 *   reuse    a wait, while its event is poisoned and the slot goes on to the next generation
 *   merge    two inputs, ready and poisoned, and somebody who merges them and waits
 *   ready    the same with two ready ones
 *   shut     a shutdown against a creation: no event stays pending
 *   early    an output that is poisoned by somebody else and its slot used again, while the inputs complete
 */
#include "event/event.h"
#include "model.h"
#include "os/memory.h"
#include "os/report.h"

#include <string.h>

enum { SLOTS = 3, CODE = 5 };

static struct wf_event_slot slot[SLOTS];
static struct wf_event_record records[4];
static uint32_t buckets[4];
static _Atomic(struct wf_event_slot *) chunks[1];
static struct weft_events events = {
    .tag = 1,
    .first_generation = 1,
    .next_index = SLOTS,
    .chunks = chunks,
    .reasons = {.size = 4, .mask = 3, .records = records, .buckets = buckets},
};
static uint32_t free_slots[SLOTS], free_count;
static weft_event input[2], output;
static int32_t body[2];     /* written before the trigger of that input */
static int32_t completions; /* calls that said they were the one */
static int verdict_seen;

/* What stands in for other layers comes first, then the program. */

struct wf_fiber_worker *wf_worker_self(void) {
    return NULL;
}

void wf_fiber_park(wf_commit *commit, void *arg) {
    (void)commit;
    (void)arg;
    CHECK(!"there are no fibers here");
}

void wf_fiber_ready(struct wf_fibers *fibers, struct wf_fiber *fiber) {
    (void)fibers;
    (void)fiber;
    CHECK(!"there are no fibers here");
}

struct wf_event_magazine *wf_event_magazine_slow(weft_events *system, struct wf_fiber_worker *worker) {
    (void)system;
    (void)worker;
    return NULL;
}

struct wf_event_slot *wf_event_slot_take_slow(weft_events *system, int64_t deadline_ns, int *error) {
    (void)deadline_ns;
    *error = -ENOSPC;
    wf_lock_take(&system->lock);
    struct wf_event_slot *taken = free_count > 0 ? &slot[free_slots[--free_count]] : NULL;
    wf_lock_drop(&system->lock);
    return taken;
}

void wf_event_slot_give_slow(weft_events *system, struct wf_event_slot *given, bool poisoned) {
    (void)poisoned;
    wf_lock_take(&system->lock);
    free_slots[free_count++] = given->index;
    wf_lock_drop(&system->lock);
}

void *wf_wait_alloc(size_t bytes) {
    (void)bytes;
    return NULL;
}

void wf_wait_free(void *memory) {
    (void)memory;
}

void wf_event_magazine_empty(weft_events *system, struct wf_event_magazine *magazine) {
    (void)system;
    (void)magazine;
}

void wf_event_disown_locked(weft_events *system, struct wf_event_slot *owned) {
    (void)system;
    (void)owned;
}

void wf_event_owners_forget(weft_events *system) {
    (void)system;
}

int wf_event_slots_init(weft_events *system) {
    (void)system;
    return -ENOMEM;
}

void wf_event_slots_term(weft_events *system) {
    (void)system;
}

_Noreturn void wf_fatal(const char *format, ...) {
    model_fail(format, __FILE__, __LINE__);
}

int wf_os_map(size_t bytes, void **out) {
    (void)bytes;
    (void)out;
    return -ENOMEM;
}

void wf_os_unmap(void *base, size_t bytes) {
    (void)base;
    (void)bytes;
}

size_t wf_os_page_size(void) {
    return 4096;
}

int weft_go(weft_fn fn, void *arg) {
    (void)fn;
    (void)arg;
    return -ENOMEM;
}

void weft_yield(void) {}

int weft_select_ordered(weft_case *cases, int count, weft_time deadline) {
    (void)cases;
    (void)count;
    (void)deadline;
    return -ENOSYS;
}

MODEL_UNSEEN static void count_completion(int status) {
    completions += status == 0;
}

static void trigger(void *number) {
    uintptr_t i = (uintptr_t)number;
    body[i] = 1;
    int status = weft_event_trigger(&events, input[i]);
    CHECK(status == 0 || status == -EALREADY);
    count_completion(status);
}

static void poison(void *number) {
    uintptr_t i = (uintptr_t)number;
    int status = weft_event_poison(&events, input[i], CODE, "model");
    CHECK(status == 0 || status == -EALREADY);
    count_completion(status);
}

/* What an answer about input 0 says of the memory that its trigger wrote. */
static void check_body(int verdict) {
    if (verdict == WEFT_EVENT_READY)
        CHECK(body[0] == 1);
}

static void ask_twice(void *unused) {
    (void)unused;
    int first = weft_event_poll(&events, input[0]);
    check_body(first);
    verdict_seen = weft_event_poll(&events, input[0]);
    check_body(verdict_seen);
    CHECK(first >= 0);
    CHECK(verdict_seen >= 0);
    CHECK(first == WEFT_EVENT_PENDING || verdict_seen == first);
}

static void wait_ready(void *unused) {
    (void)unused;
    CHECK(weft_event_wait(&events, input[0], NULL, WF_NEVER) == 0);
    CHECK(body[0] == 1);
    CHECK(weft_event_poll(&events, input[0]) == WEFT_EVENT_READY);
}

static void wait_poisoned(void *deadline) {
    weft_event_reason reason = {0};
    int status = weft_event_wait(&events, input[0], &reason, deadline ? 1 : WF_NEVER);
    if (deadline && status == -ETIMEDOUT)
        return;
    CHECK(status == -ENOTRECOVERABLE);
    CHECK(reason.code == CODE);
    CHECK(weft_event_poll(&events, input[0]) == WEFT_EVENT_POISONED);
}

/* The slot goes on to a generation that nobody completes. */
static void poison_and_begin(void *unused) {
    (void)unused;
    weft_event next;
    CHECK(weft_event_poison(&events, input[0], CODE, "model") == 0);
    CHECK(weft_event_new(&events, &next, WEFT_NOW) == 0);
    CHECK(wf_event_index(next) == wf_event_index(input[0]));
    CHECK(wf_event_generation(next) == wf_event_generation(input[0]) + 1);
    CHECK(weft_event_poll(&events, next) == WEFT_EVENT_PENDING);
    CHECK(weft_event_poll(&events, input[0]) == WEFT_EVENT_POISONED);
}

static void merge_and_wait(void *is_poisoned) {
    weft_event merged;
    CHECK(weft_event_merge(&events, input, 2, WEFT_MERGE_ALL, 0, &merged) == 0);
    int status = weft_event_wait(&events, merged, NULL, WF_NEVER);
    CHECK(status == (is_poisoned ? -ENOTRECOVERABLE : 0));
    if (!is_poisoned)
        CHECK(body[0] == 1 && body[1] == 1);
}

static void poison_output_and_begin(void *unused) {
    (void)unused;
    weft_event next;
    int status = weft_event_poison(&events, output, CODE, "model");
    CHECK(status == 0 || status == -EALREADY);
    CHECK(weft_event_new(&events, &next, WEFT_NOW) == 0);
    CHECK(weft_event_poll(&events, next) == WEFT_EVENT_PENDING);
}

static void shut_down(void *unused) {
    (void)unused;
    CHECK(weft_events_shutdown(&events, CODE, "model") == 0);
}

static void create(void *unused) {
    (void)unused;
    int status = weft_event_new(&events, &output, WEFT_NOW);
    CHECK(status == 0 || status == -ESHUTDOWN);
}

static bool is_case(const char *name) {
    return strcmp(model_case(), name) == 0;
}

static void make(weft_event *event) {
    CHECK(weft_event_new(&events, event, WEFT_NOW) == 0);
}

static void start_merge_case(void) {
    make(&input[1]);
    if (is_case("early")) {
        CHECK(weft_event_merge(&events, input, 2, WEFT_MERGE_ALL, 0, &output) == 0);
        model_start(poison_output_and_begin, NULL);
    } else {
        model_start(merge_and_wait, is_case("merge") ? &output : NULL);
    }
    model_start(trigger, (void *)0);
    model_start(is_case("merge") ? poison : trigger, (void *)1);
}

void model_main(void) {
    for (uint32_t i = 0; i < SLOTS; i++) {
        slot[i].index = i;
        free_slots[SLOTS - 1 - i] = i;
    }
    free_count = SLOTS;
    wf_store_relaxed(&chunks[0], slot);
    make(&input[0]);
    if (is_case("query")) {
        model_start(trigger, NULL);
        model_start(poison, NULL);
        model_start(ask_twice, NULL);
    } else if (is_case("shut")) {
        model_start(shut_down, NULL);
        model_start(create, NULL);
    } else if (is_case("wait")) {
        model_start(wait_ready, NULL);
        model_start(trigger, NULL);
    } else if (is_case("timeout") || is_case("reuse")) {
        model_start(wait_poisoned, is_case("timeout") ? &output : NULL);
        model_start(is_case("timeout") ? poison : poison_and_begin, NULL);
    } else {
        start_merge_case();
    }
    model_join_all();
    int verdict = weft_event_poll(&events, input[0]);
    CHECK(verdict == WEFT_EVENT_READY || verdict == WEFT_EVENT_POISONED);
    CHECK(verdict_seen == WEFT_EVENT_PENDING || verdict_seen == verdict);
    CHECK(!is_case("shut") || output.bits == 0 || weft_event_poll(&events, output) == WEFT_EVENT_POISONED);
    CHECK(!is_case("query") || completions == 1);
    for (uint32_t i = 0; i < SLOTS; i++)
        CHECK(!slot[i].waiters);
}
