/* SPDX-License-Identifier: MIT
 *
 * spec/pool_depend_test.c - works that come after others, and ids, as programs see them.
 *
 * Numbers in names are those of the scenarios that the pool was specified by. Many works at once: spec/pool_graph_test.c.
 */
#include "spec/pool_works.h"

/* ---- The scenarios ---- */

TEST(scenario_24_a_failure_fails_all_that_come_after_it_and_is_their_cause) {
    pool_begin((weft_pool_options){0});
    struct latch latch = LATCH(-EIO);
    weft_work a = submit((weft_work_options){.id = TEXT("A")}, wait_at_latch, &latch);
    weft_work c = submit((weft_work_options){.id = TEXT("C")}, succeed, NULL);
    weft_work b = submit((weft_work_options){.id = TEXT("B"), AFTER_IDS(TEXT("A"), TEXT("C"))}, succeed, NULL);
    weft_work d = submit((weft_work_options){.id = TEXT("D"), AFTER(b)}, succeed, NULL);
    check_ended(c, WEFT_WORK_SUCCEEDED);
    CHECK_EQ(stats().held, 2);
    latch_lift(&latch);
    wait_idle();
    CHECK_EQ(result_of(a).error, -EIO);
    check_ended(a, WEFT_WORK_FAILED);
    check_failed_by(b, a);
    check_failed_by(d, a);
    CHECK_EQ(atomic_load(&calls), 4);
    CHECK_EQ(atomic_load(&ends_told), 4);
    CHECK_EQ(atomic_load(&runs), 1);
    weft_work failed[4];
    CHECK_EQ(weft_pool_list(pool, WEFT_WORK_FAILED, failed, 4), 3);
    CHECK_EQ(stats().failed, 3);
    pool_end();
}

TEST(scenario_26_what_would_come_after_itself_is_refused) {
    for (int length = 1; length <= 3; length++) {
        pool_begin((weft_pool_options){0});
        for (int i = 2; i <= length; i++)
            submit((weft_work_options){.id = NUMBER(i), AFTER_IDS(NUMBER(i - 1))}, succeed, NULL);
        CHECK_EQ(submit_error((weft_work_options){.id = NUMBER(1), AFTER_IDS(NUMBER(length))}, succeed), -ELOOP);
        CHECK_EQ(atomic_load(&runs), 0);
        if (length > 1) {
            CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), -EDEADLK);  /* the others wait for a work that does not exist */
            CHECK_GE(weft_pool_control_all(pool, WEFT_CANCEL), 1); /* the others fail with it */
        }
        wait_idle(); /* it can still become idle */
        CHECK_EQ(atomic_load(&runs), 0);
        submit((weft_work_options){.id = NUMBER(1)}, succeed, NULL); /* the id was not taken by the refused one */
        wait_idle();
        CHECK_EQ(atomic_load(&runs), 1);
        pool_end();
    }
}

TEST(scenario_28_a_work_after_one_that_has_failed_fails_at_once) {
    pool_begin((weft_pool_options){0});
    CHECK_EQ(weft_pool_hold(pool), 0); /* one generation */
    weft_work a = submit((weft_work_options){.id = TEXT("A")}, fail, NULL);
    check_ended(a, WEFT_WORK_FAILED);
    int calls_before = atomic_load(&calls), ends_before = atomic_load(&ends_told);
    weft_work b = submit((weft_work_options){AFTER(a)}, succeed, NULL);
    weft_result result;
    CHECK_EQ(weft_pool_poll_work(pool, b, &result), 0); /* it was over when the submit returned */
    weft_work c = submit((weft_work_options){AFTER_IDS(TEXT("A"))}, succeed, NULL);
    CHECK_EQ(weft_pool_poll_work(pool, c, &result), 0);
    check_failed_by(b, a);
    check_failed_by(c, a);
    CHECK_EQ(atomic_load(&calls) - calls_before, 2);
    CHECK_EQ(atomic_load(&ends_told) - ends_before, 2);
    CHECK_EQ(weft_pool_release(pool), 0);
    wait_idle();
    CHECK_EQ(atomic_load(&runs), 1);
    pool_end();
}

/* A handle says what became of its work whether or not the pool was idle in between. */
TEST(scenario_28_also_when_the_pool_was_idle_in_between) {
    pool_begin_with((weft_pool_options){0}, true);
    weft_work a = submit((weft_work_options){0}, fail, NULL);
    wait_idle();
    submit((weft_work_options){0}, succeed, NULL);
    wait_idle();
    weft_work b = submit((weft_work_options){AFTER(a)}, succeed, NULL);
    check_failed_by(b, a);
    wait_idle();
    CHECK_EQ(atomic_load(&runs), 2);
    pool_end();
}

/* The queue has room for one; whoever is discarded counts as cancelled, and what comes after it fails. */
static void discard_with_dependents(weft_rejection rejection) {
    pool_begin((weft_pool_options){.threads = 1, .max_queued = 1, .rejection = rejection});
    struct latch latch = LATCH(0);
    weft_work blocker = submit((weft_work_options){.on_thread_stack = true}, wait_at_latch, &latch);
    latch_begun(&latch);
    weft_work first = submit((weft_work_options){.id = TEXT("first")}, succeed, NULL);
    weft_work after_first = submit((weft_work_options){AFTER(first)}, succeed, NULL);
    weft_work after_second = submit((weft_work_options){AFTER_IDS(TEXT("second"))}, succeed, NULL);
    weft_work last = submit((weft_work_options){AFTER_IDS(TEXT("first"), TEXT("second"))}, succeed, NULL);
    weft_work second = submit((weft_work_options){.id = TEXT("second")}, succeed, NULL);
    bool is_new = rejection == WEFT_REJECT_DISCARD;
    weft_work discarded = is_new ? second : first;
    check_ended(discarded, WEFT_WORK_CANCELLED);
    check_failed_by(is_new ? after_second : after_first, discarded);
    check_failed_by(last, discarded);
    latch_lift(&latch);
    wait_idle();
    check_ended(blocker, WEFT_WORK_SUCCEEDED);
    check_ended(is_new ? first : second, WEFT_WORK_SUCCEEDED);
    check_ended(is_new ? after_first : after_second, WEFT_WORK_SUCCEEDED);
    CHECK_EQ(atomic_load(&runs), 2);
    CHECK_EQ(stats().discarded, 1);
    pool_end();
}

TEST(scenario_32_what_comes_after_a_discarded_work_fails) {
    discard_with_dependents(WEFT_REJECT_DISCARD);
    discard_with_dependents(WEFT_REJECT_DISCARD_QUEUED);
}

/* ---- Ids ---- */

TEST(an_id_is_in_use_until_its_work_is_over) {
    pool_begin((weft_pool_options){0});
    struct latch latch = LATCH(0);
    weft_work found, first = submit((weft_work_options){.id = TEXT("x")}, wait_at_latch, &latch);
    CHECK_EQ(submit_error((weft_work_options){.id = TEXT("x")}, succeed), -EEXIST);
    CHECK_EQ(weft_pool_find(pool, TEXT("x"), &found), 0);
    CHECK_EQ(found.bits, first.bits);
    latch_lift(&latch);
    check_ended(first, WEFT_WORK_SUCCEEDED);
    CHECK_EQ(weft_pool_find(pool, TEXT("x"), &found), 0); /* stored */
    CHECK_EQ(found.bits, first.bits);
    CHECK_EQ(weft_pool_remove(pool, first), 0);
    CHECK_EQ(weft_pool_find(pool, TEXT("x"), &found), -ENOENT);
    weft_work second = submit((weft_work_options){.id = TEXT("x")}, succeed, NULL);
    check_ended(second, WEFT_WORK_SUCCEEDED);
    wait_idle();
    pool_end();
}

TEST(wrong_ids_and_names_are_refused) {
    pool_begin((weft_pool_options){0});
    char text[WEFT_WORK_ID_MAX + 2];
    memset(text, 'x', sizeof text);
    text[WEFT_WORK_ID_MAX + 1] = 0;
    CHECK_EQ(submit_error((weft_work_options){.id = TEXT(text)}, succeed), -EINVAL);
    CHECK_EQ(submit_error((weft_work_options){.id = TEXT("")}, succeed), -EINVAL);
    CHECK_EQ(submit_error((weft_work_options){AFTER_IDS(TEXT(""))}, succeed), -EINVAL);
    CHECK_EQ(submit_error((weft_work_options){AFTER_IDS(NUMBER(0))}, succeed), -EINVAL);
    CHECK_EQ(submit_error((weft_work_options){AFTER(WEFT_NO_WORK)}, succeed), -EINVAL);
    CHECK_EQ(submit_error((weft_work_options){AFTER(((weft_work){UINT64_MAX}))}, succeed), -EINVAL);
    CHECK_EQ(submit_error((weft_work_options){.after_count = 1}, succeed), -EINVAL);
    CHECK_EQ(submit_error((weft_work_options){.after_id_count = 1}, succeed), -EINVAL);
    submit((weft_work_options){.id = TEXT(text + 1)}, succeed, NULL); /* the longest one */
    wait_idle();
    CHECK_EQ(atomic_load(&runs), 1);
    pool_end();
}

/* ---- What counts as what ---- */

TEST(a_work_may_come_after_one_that_is_over_and_forgotten) {
    pool_begin((weft_pool_options){0});
    CHECK_EQ(weft_pool_hold(pool), 0);
    weft_work a = submit((weft_work_options){.id = TEXT("a")}, succeed, NULL);
    check_ended(a, WEFT_WORK_SUCCEEDED);
    CHECK_EQ(weft_pool_remove(pool, a), 0);
    CHECK_EQ(weft_pool_poll_work(pool, a, NULL), -ESTALE);
    weft_work b = submit((weft_work_options){AFTER(a), AFTER_IDS(TEXT("a"))}, succeed, NULL);
    check_ended(b, WEFT_WORK_SUCCEEDED);
    CHECK_EQ(weft_pool_release(pool), 0);
    wait_idle();
    pool_end();
}

TEST(a_work_may_come_after_one_that_is_yet_to_be_submitted) {
    pool_begin((weft_pool_options){0});
    weft_work b = submit((weft_work_options){AFTER_IDS(TEXT("a"))}, succeed, NULL);
    CHECK_EQ(weft_pool_poll_work(pool, b, NULL), -EAGAIN);
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), -EDEADLK);
    CHECK_EQ(stats().held, 1);
    weft_work a = submit((weft_work_options){.id = TEXT("a")}, succeed, NULL);
    wait_idle();
    check_ended(a, WEFT_WORK_SUCCEEDED);
    check_ended(b, WEFT_WORK_SUCCEEDED);
    pool_end();
}

static int stop_when_asked(void *opaque) {
    struct latch *latch = opaque;
    weft_semaphore_release(&latch->begun, 1);
    while (!weft_work_stop_point(NULL, NULL))
        weft_sleep(weft_after(100 * WEFT_MICROSECOND));
    return 0;
}

static int panic(void *arg) {
    (void)arg;
    weft_panic("on purpose");
}

enum ending { END_CANCEL, END_STOP, END_FORCE, END_TIMEOUT, END_DEADLINE, END_PANIC, ENDINGS };

/* Only success releases: a work that was stopped has not prepared what those after it need. */
static weft_work_status end_by(enum ending ending, weft_work *a, weft_work *b) {
    static const weft_work_status statuses[] = {WEFT_WORK_CANCELLED, WEFT_WORK_STOPPED,   WEFT_WORK_FORCE_STOPPED,
                                                WEFT_WORK_TIMED_OUT, WEFT_WORK_TIMED_OUT, WEFT_WORK_FAILED};
    struct latch latch = LATCH(0);
    weft_work_id never = TEXT("never");
    weft_work_options options = {.id = TEXT("a"), .after_ids = &never};
    weft_work_fn fn = ending == END_FORCE ? wait_at_latch : stop_when_asked;
    if (ending == END_CANCEL || ending == END_DEADLINE)
        options.after_id_count = 1;
    if (ending == END_DEADLINE)
        options.deadline = weft_after(WEFT_MILLISECOND);
    if (ending == END_TIMEOUT)
        options.timeout = WEFT_MILLISECOND;
    *a = submit(options, ending == END_PANIC ? panic : fn, &latch);
    *b = submit((weft_work_options){AFTER_IDS(TEXT("a"))}, succeed, NULL);
    if (ending == END_STOP || ending == END_FORCE)
        latch_begun(&latch);
    static const weft_control controls[] = {WEFT_CANCEL, WEFT_STOP, WEFT_FORCE_STOP};
    if (ending <= END_FORCE)
        CHECK_EQ(weft_pool_control(pool, controls[ending], *a), 0);
    result_of(*b); /* until then the pool may be at a loss: all that is left waits for what was never submitted */
    wait_idle();
    return statuses[ending];
}

TEST(only_success_releases) {
    for (int ending = 0; ending < ENDINGS; ending++) {
        weft_work a, b;
        pool_begin((weft_pool_options){0});
        weft_work_status status = end_by((enum ending)ending, &a, &b);
        check_ended(a, status);
        check_failed_by(b, a);
        CHECK_EQ(atomic_load(&runs), 0);
        pool_end();
    }
}

static int fail_twice(void *arg) {
    (void)arg;
    atomic_fetch_add(&runs, 1);
    return weft_work_attempt() < 3 ? -EIO : 0;
}

TEST(attempts_that_fail_do_not_count) {
    static const weft_retry ways[] = {WEFT_RETRY_IMMEDIATE, WEFT_RETRY_REQUEUE};
    for (int i = 0; i < 2; i++) {
        pool_begin((weft_pool_options){0});
        weft_work a = submit((weft_work_options){.id = TEXT("a"), .retry = ways[i]}, fail_twice, NULL);
        weft_work b = submit((weft_work_options){AFTER(a), AFTER_IDS(TEXT("a"))}, succeed, NULL);
        wait_idle();
        check_ended(a, WEFT_WORK_SUCCEEDED);
        check_ended(b, WEFT_WORK_SUCCEEDED);
        CHECK_EQ(atomic_load(&runs), 4);
        pool_end();
    }
}

/* ---- Held works ---- */

TEST(a_held_work_can_be_cancelled_and_waited_for) {
    pool_begin((weft_pool_options){0});
    weft_work held = submit((weft_work_options){AFTER_IDS(TEXT("never"))}, succeed, NULL);
    weft_work after = submit((weft_work_options){AFTER(held)}, succeed, NULL);
    CHECK_EQ(weft_pool_wait_work(pool, held, NULL, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    CHECK_EQ(weft_pool_control(pool, WEFT_CANCEL, held), 0);
    CHECK_EQ(weft_pool_control(pool, WEFT_CANCEL, held), -ESTALE);
    check_ended(held, WEFT_WORK_CANCELLED);
    check_failed_by(after, held);
    wait_idle();
    CHECK_EQ(atomic_load(&cancels_told), 1);
    CHECK_EQ(atomic_load(&runs), 0);
    pool_end();
}

TEST(in_a_suspended_pool_works_keep_their_order) {
    pool_begin((weft_pool_options){.suspended = true});
    weft_work b = submit((weft_work_options){.id = TEXT("b"), AFTER_IDS(TEXT("a"))}, succeed, NULL);
    weft_work c = submit((weft_work_options){AFTER(b)}, succeed, NULL);
    weft_work a = submit((weft_work_options){.id = TEXT("a")}, succeed, NULL);
    weft_work bad = submit((weft_work_options){0}, succeed, NULL);
    weft_work after_bad = submit((weft_work_options){AFTER(bad)}, succeed, NULL);
    weft_work last = submit((weft_work_options){AFTER(after_bad, c)}, succeed, NULL);
    CHECK_EQ(weft_pool_control(pool, WEFT_CANCEL, bad), 0);
    CHECK_EQ(atomic_load(&runs), 0);
    CHECK_EQ(weft_pool_start(pool), 0);
    wait_idle();
    check_ended(a, WEFT_WORK_SUCCEEDED);
    check_ended(b, WEFT_WORK_SUCCEEDED);
    check_ended(c, WEFT_WORK_SUCCEEDED);
    check_failed_by(after_bad, bad);
    check_failed_by(last, bad);
    CHECK_EQ(atomic_load(&runs), 3);
    pool_end();
}

TEST(works_that_come_during_a_stop_keep_their_order) {
    pool_begin((weft_pool_options){0});
    struct latch latch = LATCH(0);
    weft_work old = submit((weft_work_options){.id = TEXT("old")}, wait_at_latch, &latch);
    weft_work held = submit((weft_work_options){AFTER(old)}, succeed, NULL);
    latch_begun(&latch);
    CHECK_EQ(weft_pool_control_all(pool, WEFT_STOP), 0);
    check_ended(held, WEFT_WORK_CANCELLED);
    weft_work b = submit((weft_work_options){AFTER(old), AFTER_IDS(TEXT("a"))}, succeed, NULL);
    weft_work a = submit((weft_work_options){.id = TEXT("a"), AFTER(old)}, succeed, NULL);
    weft_work c = submit((weft_work_options){AFTER(held)}, succeed, NULL);
    CHECK_EQ(atomic_load(&runs), 0);
    latch_lift(&latch); /* it does not look whether it is to stop, and succeeds */
    check_ended(a, WEFT_WORK_SUCCEEDED);
    check_ended(b, WEFT_WORK_SUCCEEDED);
    check_failed_by(c, held);
    wait_idle();
    CHECK_EQ(atomic_load(&runs), 2);
    pool_end();
}

TEST(disposing_ends_works_that_wait_for_others) {
    pool_begin((weft_pool_options){0});
    struct latch latch = LATCH(0);
    weft_work a = submit((weft_work_options){0}, wait_at_latch, &latch);
    for (int i = 0; i < 100; i++)
        submit((weft_work_options){.id = NUMBER(i + 2), AFTER(a), AFTER_IDS(NUMBER(i + 1))}, succeed, NULL);
    latch_begun(&latch);
    CHECK_EQ(weft_pool_dispose(pool), 0);
    CHECK_EQ(atomic_load(&runs), 0);
    CHECK_EQ(atomic_load(&calls), 101);
    CHECK_EQ(stats().held, 0);
    pool_end();
}

/* A work that waits for another parks: one thread is enough. */
static int submit_and_wait(void *arg) {
    weft_work a = submit((weft_work_options){.id = TEXT("inner")}, succeed, NULL);
    weft_work b = submit((weft_work_options){AFTER(a)}, succeed, NULL);
    (void)arg;
    check_ended(b, WEFT_WORK_SUCCEEDED);
    return 0;
}

TEST(works_submit_works_that_come_after_others) {
    pool_begin((weft_pool_options){0});
    weft_work a = submit((weft_work_options){0}, submit_and_wait, NULL);
    check_ended(a, WEFT_WORK_SUCCEEDED);
    wait_idle();
    CHECK_EQ(atomic_load(&runs), 2);
    pool_end();
}
