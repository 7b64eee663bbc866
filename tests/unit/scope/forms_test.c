/* SPDX-License-Identifier: MIT
 *
 * unit/scope/forms_test.c - the laws of all, race, any and map.
 *
 * Empty, one and many; all well, one bad, all bad; panics, deadlines, an outer cancellation, memory that is refused. Every
 * form returns only when all of its branches have ended: each test counts them.
 */
#include "os/fault.h"
#include "support/run.h"

#define FOR_EVER (1000 * PATIENCE_NS)

static const weft_options quiet = {.quiet = true};
static atomic_int ended;

static int give(void *opaque) {
    atomic_fetch_add(&ended, 1);
    return (int)(intptr_t)opaque;
}

static int give_late(void *opaque) {
    for (int i = 0; i < 20; i++)
        weft_yield();
    return give(opaque);
}

static int sleep_for_ever(void *opaque) {
    (void)opaque;
    int status = weft_sleep(weft_after(FOR_EVER));
    atomic_fetch_add(&ended, 1);
    return status;
}

static int give_up(void *opaque) {
    (void)opaque;
    atomic_fetch_add(&ended, 1);
    weft_panic("a branch gives up");
}

#define BRANCH(fn, value) \
    { (fn), (void *)(intptr_t)(value), 0 }
#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

typedef int form(weft_branch *branches, int count, weft_time deadline);

static void arguments_body(void) {
    form *const forms[] = {weft_all, weft_race, weft_any};
    weft_branch good[] = {BRANCH(give, 3)};
    weft_branch bad[] = {BRANCH(give, 3), BRANCH(NULL, 0)};
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(forms[i](NULL, 1, WEFT_NEVER), -EINVAL);
        CHECK_EQ(forms[i](good, -1, WEFT_NEVER), -EINVAL);
        CHECK_EQ(forms[i](bad, 2, WEFT_NEVER), -EINVAL);
        CHECK_EQ(forms[i](good, 1, WEFT_NEVER), 0);
        CHECK_EQ(good[0].status, 3);
    }
    CHECK_EQ(weft_all(NULL, 0, WEFT_NEVER), 0);
    CHECK_EQ(weft_all(good, 0, WEFT_NOW), 0);
    CHECK_EQ(weft_race(good, 0, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_any(good, 0, WEFT_NEVER), -EINVAL);
}

TEST(forms_refuse_wrong_arguments) {
    weft_branch good[] = {BRANCH(give, 3)};
    run_fibers(arguments_body);
    CHECK_EQ(weft_all(good, 1, WEFT_NEVER), -EPERM);
    CHECK_EQ(weft_race(good, 1, WEFT_NEVER), -EPERM);
    CHECK_EQ(weft_any(good, 1, WEFT_NEVER), -EPERM);
    CHECK_EQ(good[0].status, -ECANCELED);
}

static void all_body(void) {
    weft_branch well[] = {BRANCH(give, 0), BRANCH(give_late, 5), BRANCH(give, 7)};
    atomic_store(&ended, 0);
    CHECK_EQ(weft_all(well, COUNT(well), WEFT_NEVER), 0);
    CHECK_EQ(atomic_load(&ended), 3);
    CHECK_EQ(well[0].status, 0);
    CHECK_EQ(well[1].status, 5);
    CHECK_EQ(well[2].status, 7);
    weft_branch badly[] = {BRANCH(sleep_for_ever, 0), BRANCH(give_late, -EDOM), BRANCH(sleep_for_ever, 0)};
    atomic_store(&ended, 0);
    CHECK_EQ(weft_all(badly, COUNT(badly), weft_after(FOR_EVER)), -EDOM);
    CHECK_EQ(atomic_load(&ended), 3);
    CHECK_EQ(badly[0].status, -ECANCELED);
    CHECK_EQ(badly[1].status, -EDOM);
    CHECK_EQ(badly[2].status, -ECANCELED);
}

TEST(forms_all_gives_the_first_failure_and_cancels_the_others) {
    run_fibers(all_body);
}

static void race_body(void) {
    weft_branch well[] = {BRANCH(sleep_for_ever, 0), BRANCH(give_late, 5), BRANCH(sleep_for_ever, 0)};
    atomic_store(&ended, 0);
    CHECK_EQ(weft_race(well, COUNT(well), WEFT_NEVER), 1);
    CHECK_EQ(atomic_load(&ended), 3);
    CHECK_EQ(well[1].status, 5);
    CHECK_EQ(well[0].status, -ECANCELED);
    CHECK_EQ(well[2].status, -ECANCELED);
    weft_branch badly[] = {BRANCH(sleep_for_ever, 0), BRANCH(give_late, -EDOM)};
    CHECK_EQ(weft_race(badly, COUNT(badly), WEFT_NEVER), 1);
    CHECK_EQ(badly[1].status, -EDOM);
    weft_branch many[40];
    for (int i = 0; i < COUNT(many); i++)
        many[i] = (weft_branch)BRANCH(give, i);
    for (long round = 0; round < scaled(200, 5); round++) {
        int winner = weft_race(many, COUNT(many), WEFT_NEVER);
        CHECK_GE(winner, 0);
        CHECK_EQ(many[winner].status, winner);
    }
    CHECK_EQ(weft_cancel_reason(NULL, 0), 0);
}

TEST(forms_race_gives_the_first_that_ended_well_or_badly) {
    run_fibers(race_body);
}

static void any_body(void) {
    weft_branch well[] = {BRANCH(give, -EDOM), BRANCH(sleep_for_ever, 0), BRANCH(give_late, 6)};
    atomic_store(&ended, 0);
    CHECK_EQ(weft_any(well, COUNT(well), WEFT_NEVER), 2);
    CHECK_EQ(atomic_load(&ended), 3);
    CHECK_EQ(well[0].status, -EDOM);
    CHECK_EQ(well[1].status, -ECANCELED);
    CHECK_EQ(well[2].status, 6);
}

TEST(forms_any_gives_the_first_that_did_well) {
    run_fibers(any_body);
}

static void any_fails_body(void) {
    weft_branch late[] = {BRANCH(give_late, -EDOM), BRANCH(give, -ERANGE)};
    CHECK_EQ(weft_any(late, COUNT(late), WEFT_NEVER), -EDOM);
    weft_branch timed[] = {BRANCH(give_late, -EDOM), BRANCH(give, -ETIMEDOUT)};
    CHECK_EQ(weft_any(timed, COUNT(timed), WEFT_NEVER), -EDOM);
    weft_branch first[] = {BRANCH(give, -ETIMEDOUT), BRANCH(give_late, -EDOM)};
    CHECK_EQ(weft_any(first, COUNT(first), weft_after(FOR_EVER)), -ETIMEDOUT);
    weft_branch panics[] = {BRANCH(give_late, -EDOM), BRANCH(give_up, 0)};
    CHECK_EQ(weft_any(panics, COUNT(panics), WEFT_NEVER), -EDOM);
    CHECK_EQ(panics[1].status, -EOWNERDEAD);
}

TEST(forms_any_of_failures_only_gives_the_failure_of_the_first_in_the_array) {
    run_fibers_with(&quiet, any_fails_body);
}

static void panic_body(void) {
    weft_branch all[] = {BRANCH(sleep_for_ever, 0), BRANCH(give_up, 0)};
    atomic_store(&ended, 0);
    CHECK_EQ(weft_all(all, COUNT(all), WEFT_NEVER), -EOWNERDEAD);
    CHECK_EQ(atomic_load(&ended), 2);
    CHECK_EQ(all[1].status, -EOWNERDEAD);
    weft_branch race[] = {BRANCH(give_up, 0), BRANCH(give_late, 2)};
    CHECK_EQ(weft_race(race, COUNT(race), WEFT_NEVER), 1); /* a panic does not win */
    weft_branch lost[] = {BRANCH(give_up, 0), BRANCH(give_up, 2)};
    CHECK_EQ(weft_race(lost, COUNT(lost), WEFT_NEVER), -EOWNERDEAD);
    weft_branch any[] = {BRANCH(give_up, 0), BRANCH(give_late, 2)};
    CHECK_EQ(weft_any(any, COUNT(any), WEFT_NEVER), 1);
    CHECK_EQ(any[0].status, -EOWNERDEAD);
}

TEST(forms_survive_panics_of_branches) {
    run_fibers_with(&quiet, panic_body);
}

static void deadline_body(void) {
    form *const forms[] = {weft_all, weft_race, weft_any};
    for (int i = 0; i < 3; i++) {
        weft_branch branches[] = {BRANCH(sleep_for_ever, 0), BRANCH(sleep_for_ever, 0)};
        weft_time deadline = weft_after(100 * WEFT_MICROSECOND);
        atomic_store(&ended, 0);
        int status = forms[i](branches, COUNT(branches), deadline);
        CHECK_GE(weft_now(), deadline);
        CHECK_LE(atomic_load(&ended), 2);
        CHECK_EQ(status, -ETIMEDOUT);
        CHECK_EQ(branches[0].status, -ECANCELED);
        CHECK_EQ(branches[1].status, -ECANCELED);
    }
}

TEST(forms_end_at_the_deadline) {
    run_fibers(deadline_body);
}

static int forms_inside(weft_scope *scope, void *opaque) {
    form *wanted = *(form **)opaque;
    weft_branch branches[] = {BRANCH(give, -EDOM), BRANCH(sleep_for_ever, 0)};
    CHECK_EQ(weft_scope_cancel(scope, -EINTR, NULL), 0);
    CHECK_EQ(wanted(branches, COUNT(branches), WEFT_NEVER), -ECANCELED);
    return 0;
}

static int cancel_soon(void *scope) {
    for (int i = 0; i < 10; i++)
        weft_yield();
    CHECK_EQ(weft_scope_cancel(scope, -EINTR, NULL), 0);
    return 0;
}

static int forms_cut(weft_scope *scope, void *opaque) {
    form *wanted = *(form **)opaque;
    weft_branch branches[] = {BRANCH(sleep_for_ever, 0), BRANCH(sleep_for_ever, 0)};
    CHECK_EQ(weft_scope_go(scope, cancel_soon, scope), 0);
    int status = wanted(branches, COUNT(branches), WEFT_NEVER);
    CHECK(status == -EINTR || status == -ECANCELED || wanted == weft_race);
    return 0;
}

static void outer_body(void) {
    form *forms[] = {weft_all, weft_race, weft_any};
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(weft_scope_run(NULL, forms_inside, &forms[i]), -EINTR);
        CHECK_EQ(weft_scope_run(NULL, forms_cut, &forms[i]), -EINTR);
    }
}

TEST(forms_are_cancelled_with_the_scope_around_them) {
    run_fibers(outer_body);
}

enum { ITEMS = 500 };

struct batch {
    int items[ITEMS];
    atomic_int inside;
    atomic_int most;
    atomic_int calls;
    int fails_at;
};

static int map_item(void *item, void *opaque) {
    struct batch *batch = opaque;
    int *number = item;
    int now = atomic_fetch_add(&batch->inside, 1) + 1;
    int most = atomic_load(&batch->most);
    while (now > most && !atomic_compare_exchange_weak(&batch->most, &most, now))
        continue;
    if (*number % 3 == 0)
        weft_yield();
    atomic_fetch_add(&batch->calls, 1);
    atomic_fetch_sub(&batch->inside, 1);
    if (*number == batch->fails_at)
        return -EDOM;
    *number = -*number;
    return 1;
}

static void fill(struct batch *batch, int fails_at) {
    memset(batch, 0, sizeof *batch);
    batch->fails_at = fails_at;
    for (int i = 0; i < ITEMS; i++)
        batch->items[i] = i;
}

static void map_body(void) {
    static struct batch batch;
    for (unsigned parallel = 0; parallel < 5; parallel++) {
        fill(&batch, -1);
        CHECK_EQ(weft_map(map_item, batch.items, sizeof(int), ITEMS, &batch, parallel, WEFT_NEVER), 0);
        for (int i = 0; i < ITEMS; i++)
            CHECK_EQ(batch.items[i], -i);
        CHECK_EQ(atomic_load(&batch.calls), ITEMS);
        CHECK_LE(atomic_load(&batch.most), parallel ? parallel : wf_test_workers());
    }
    fill(&batch, 50);
    CHECK_EQ(weft_map(map_item, batch.items, sizeof(int), ITEMS, &batch, 3, WEFT_NEVER), -EDOM);
    CHECK_EQ(atomic_load(&batch.inside), 0);
    CHECK_EQ(weft_map(map_item, NULL, 4, 0, &batch, 3, WEFT_NEVER), 0);
    CHECK_EQ(weft_map(map_item, NULL, 4, 1, &batch, 3, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_map(NULL, batch.items, 4, 1, &batch, 3, WEFT_NEVER), -EINVAL);
    fill(&batch, -1);
    CHECK_EQ(weft_map(map_item, batch.items, sizeof(int), 1, &batch, 1000, WEFT_NEVER), 0);
    CHECK_EQ(atomic_load(&batch.calls), 1);
}

TEST(forms_map_calls_once_for_each_item_and_never_too_many_at_once) {
    static struct batch batch;
    run_fibers(map_body);
    CHECK_EQ(weft_map(map_item, batch.items, 4, 1, &batch, 1, WEFT_NEVER), -EPERM);
}

static int map_sleep(void *item, void *opaque) {
    (void)item;
    (void)opaque;
    atomic_fetch_add(&ended, 1);
    return weft_sleep(weft_after(FOR_EVER));
}

static int map_panic(void *item, void *opaque) {
    (void)opaque;
    if (*(int *)item == 7)
        weft_panic("item %d", *(int *)item);
    return 0;
}

static void map_end_body(void) {
    static struct batch batch;
    weft_time deadline = weft_after(100 * WEFT_MICROSECOND);
    fill(&batch, -1);
    atomic_store(&ended, 0);
    CHECK_EQ(weft_map(map_sleep, batch.items, sizeof(int), ITEMS, NULL, 4, deadline), -ETIMEDOUT);
    CHECK_GE(weft_now(), deadline);
    CHECK_LE(atomic_load(&ended), 4);
    CHECK_EQ(weft_map(map_panic, batch.items, sizeof(int), ITEMS, NULL, 2, WEFT_NEVER), -EOWNERDEAD);
}

TEST(forms_map_ends_at_the_deadline_and_after_a_panic) {
    run_fibers_with(&quiet, map_end_body);
}

/* One child is enough to do it all. */
static void memory_body(void) {
    static struct batch batch;
    form *const forms[] = {weft_all, weft_race, weft_any};
    bool is_clean = false;
    for (long nth = 1; !is_clean; nth++) {
        CHECK_LE(nth, 200);
        wf_fault_order(WF_CALL_ALLOC, nth, ENOMEM, 0);
        for (int i = 0; i < 3; i++) {
            weft_branch branches[] = {BRANCH(give, 1), BRANCH(give, 1), BRANCH(give, 1)};
            int status = forms[i](branches, COUNT(branches), weft_after(FOR_EVER));
            CHECK(status == -ENOMEM || (status >= 0 && status < 3));
        }
        fill(&batch, -1);
        int status = weft_map(map_item, batch.items, sizeof(int), ITEMS, &batch, 3, weft_after(FOR_EVER));
        CHECK(status == 0 || status == -ENOMEM);
        if (status == 0)
            CHECK_EQ(atomic_load(&batch.calls), ITEMS);
        is_clean = wf_fault_hits() == 0;
        wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
    }
}

TEST(forms_survive_memory_that_is_refused) {
    run_fibers(memory_body);
}
