/* SPDX-License-Identifier: MIT
 *
 * unit/pool/count_test.c - the pool's word: generations, stops, and who is told of them, at the moments between two steps.
 *
 * The end of a generation is two steps, the word and what is told; the tests step in between. Beginnings and ends are told by
 * turns whatever happens, a waiter returns after the end that it waited for was told, and what is submitted runs.
 */
#include "unit/pool/threads.h"

enum { HISTORY = 4096 };

static _Atomic char history[HISTORY]; /* 's' and 'e' */
static atomic_int told;

static int note_event(const weft_pool_event *event, void *arg) {
    (void)arg;
    int at = atomic_fetch_add(&told, 1);
    CHECK(at < HISTORY);
    atomic_store(&history[at], event->kind == WEFT_POOL_STARTED ? 's' : 'e');
    return 0;
}

static const weft_pool_options noted = {.handler = note_event,
                                        .events = 1u << WEFT_POOL_STARTED | 1u << WEFT_POOL_IDLED};

static void history_begin(void) {
    atomic_store(&told, 0);
}

static void check_history(int generations) {
    CHECK_EQ(atomic_load(&told), 2 * generations);
    for (int i = 0; i < 2 * generations; i++)
        CHECK_EQ(atomic_load(&history[i]), i % 2 ? 'e' : 's');
}

TEST(each_time_between_two_idle_moments_is_one_generation) {
    history_begin();
    staged_new(&noted);
    CHECK(staged_stats().is_idle);
    CHECK_EQ(weft_pool_wait(staged, WEFT_NEVER), 0); /* of a pool that never had anything to do */
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(staged_stats().generation, i);
        staged_submit(count_run, NULL);
        CHECK_EQ(weft_pool_wait(staged, WEFT_NEVER), 0);
    }
    check_history(5);
    staged_end();
}

/* ---- Between the word and what is told ---- */

static void submit_another(void) {
    staged_submit(count_run, NULL);
}

TEST(a_submit_between_the_end_of_a_generation_and_its_telling_begins_the_next) {
    history_begin();
    staged_new(&noted);
    strike_at("pool.counted_out", submit_another);
    staged_submit(count_run, NULL);
    WAIT_UNTIL(atomic_load(&runs) == 2);
    CHECK_EQ(weft_pool_wait(staged, WEFT_NEVER), 0);
    strike_over();
    WAIT_UNTIL(atomic_load(&told) == 4);
    check_history(2);
    CHECK_EQ(staged_stats().generation, 2);
    staged_end();
}

static atomic_int told_at_return;

static void *wait_for_pool(void *arg) {
    CHECK_EQ(weft_pool_wait(staged, WEFT_NEVER), 0);
    atomic_store(&told_at_return, atomic_load(&told));
    return arg;
}

static bool somebody_waits(void) {
    wf_lock_take(&staged->lock);
    bool is = staged->idlers != NULL;
    wf_lock_drop(&staged->lock);
    return is;
}

static pthread_t waiter;

static void let_somebody_wait(void) {
    CHECK_EQ(wf_pool_outstanding(wf_load_relaxed(&staged->word)), 0);
    waiter = thread_start(wait_for_pool, NULL);
    WAIT_UNTIL(somebody_waits());
}

TEST(a_wait_between_the_end_of_a_generation_and_its_telling_returns_after_it) {
    history_begin();
    staged_new(&noted);
    strike_at("pool.counted_out", let_somebody_wait);
    staged_submit(count_run, NULL);
    WAIT_UNTIL(atomic_load(&told) == 2);
    thread_join(waiter);
    strike_over();
    CHECK_EQ(atomic_load(&told_at_return), 2);
    staged_end();
}

/* Two generations have passed by the time that the first is told of; its waiter does not wait for the second. */
static void run_another_generation(void) {
    uint64_t word = wf_load_relaxed(&staged->word);
    staged_submit(staged_blocker, NULL);
    CHECK_EQ(wf_pool_generation(wf_load_relaxed(&staged->word)), wf_pool_generation(word));
}

TEST(a_wait_for_a_generation_does_not_last_into_the_next) {
    history_begin();
    staged_begin(&noted);
    waiter = thread_start(wait_for_pool, NULL);
    WAIT_UNTIL(somebody_waits());
    strike_at("pool.counted_out", run_another_generation);
    atomic_store(&staged_is_busy, 0);
    atomic_store(&staged_may_go, 1);
    thread_join(waiter);
    strike_over();
    staged_end();
    check_history(2);
}

static atomic_int handler_is_inside, handler_may_return;

static int note_slowly(const weft_pool_event *event, void *arg) {
    if (event->kind == WEFT_POOL_STARTED && !atomic_exchange(&handler_is_inside, 1))
        while (!atomic_load(&handler_may_return))
            sched_yield();
    return note_event(event, arg);
}

static void *submit_from_elsewhere(void *arg) {
    staged_submit(count_run, NULL);
    return arg;
}

/* The first submitter is held up inside the handler; others begin and end generations meanwhile. */
TEST(generations_that_pass_while_one_is_told_are_told_in_order_afterwards) {
    enum { OTHERS = 20 };
    weft_pool_options options = noted;
    options.handler = note_slowly;
    history_begin();
    atomic_store(&handler_is_inside, 0);
    atomic_store(&handler_may_return, 0);
    staged_new(&options);
    pthread_t first = thread_start(submit_from_elsewhere, NULL);
    WAIT_UNTIL(atomic_load(&handler_is_inside));
    WAIT_UNTIL(atomic_load(&runs) == 1 || wf_pool_outstanding(wf_load_acquire(&staged->word)) > 0);
    for (int i = 0; i < OTHERS; i++) {
        weft_work work = staged_submit(count_run, NULL);
        int status = weft_pool_wait_work(staged, work, NULL, WEFT_NEVER);
        CHECK(status == 0 || status == -ESTALE);
    }
    CHECK_EQ(atomic_load(&told), 0);
    CHECK_EQ(weft_pool_wait(staged, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT); /* nobody was told of any end */
    atomic_store(&handler_may_return, 1);
    thread_join(first);
    CHECK_EQ(weft_pool_wait(staged, WEFT_NEVER), 0);
    check_history((int)staged_stats().generation);
    CHECK_EQ(atomic_load(&runs), OTHERS + 1);
    staged_end();
}

/* ---- Stops ---- */

TEST(a_stop_needs_something_to_stop_and_is_one_at_a_time) {
    staged_new(NULL);
    CHECK_EQ(weft_pool_control_all(staged, WEFT_STOP), -EAGAIN);
    CHECK_EQ(weft_pool_control_all(staged, WEFT_FORCE_STOP), -EAGAIN);
    staged_block();
    CHECK_EQ(weft_pool_control_all(staged, WEFT_STOP), 0);
    CHECK(staged_stats().is_stopping);
    CHECK_EQ(weft_pool_control_all(staged, WEFT_STOP), -EALREADY);
    staged_settle();
    CHECK(!staged_stats().is_stopping);
    CHECK_EQ(weft_pool_control_all(staged, WEFT_STOP), -EAGAIN);
    staged_end();
}

static void wait_until_gate_is_empty(void) {
    WAIT_UNTIL(staged_stats().held == 0);
    CHECK_EQ(weft_pool_wait(staged, WEFT_NEVER), 0);
}

TEST(what_comes_during_a_stop_runs_after_it_and_what_was_there_does_not) {
    weft_work before, meanwhile, cancelled;
    history_begin();
    staged_begin(&noted);
    before = staged_submit(count_run, NULL);
    CHECK_EQ(weft_pool_control_all(staged, WEFT_STOP), 0);
    CHECK_EQ(weft_pool_poll_work(staged, before, NULL), -ESTALE);
    meanwhile = staged_submit(count_run, NULL);
    cancelled = staged_submit(count_run, NULL);
    CHECK_EQ(wf_work_phase(staged_word(meanwhile)), WF_WORK_HELD);
    CHECK(staged_word(meanwhile) & WF_WORK_UNCOUNTED);
    CHECK_EQ(staged_stats().held, 2);
    CHECK_EQ(weft_pool_control(staged, WEFT_CANCEL, cancelled), 0);
    CHECK_EQ(atomic_load(&runs), 0);
    atomic_store(&staged_may_go, 1);
    wait_until_gate_is_empty();
    CHECK_EQ(atomic_load(&runs), 1);
    CHECK_EQ(staged_stats().cancelled, 2);
    staged_end();
    check_history(2);
}

/* All that waited at the gate was cancelled: the next generation, if there is one, ends by itself. */
TEST(a_gate_with_nothing_but_cancelled_works_lets_the_pool_be_idle) {
    weft_work works[10];
    staged_begin(NULL);
    CHECK_EQ(weft_pool_control_all(staged, WEFT_STOP), 0);
    for (int i = 0; i < 10; i++)
        works[i] = staged_submit(count_run, NULL);
    CHECK_EQ(weft_pool_control_works(staged, WEFT_CANCEL, works, 10, NULL), 0);
    atomic_store(&staged_may_go, 1);
    wait_until_gate_is_empty();
    staged_end();
    CHECK_EQ(atomic_load(&runs), 0);
}

/* The word is that of the next generation, the gate has not been opened. */
TEST(a_submit_between_the_end_of_a_stop_and_the_opening_of_the_gate_runs) {
    staged_begin(NULL);
    CHECK_EQ(weft_pool_control_all(staged, WEFT_STOP), 0);
    staged_submit(count_run, NULL);
    strike_at("pool.counted_out", submit_another);
    atomic_store(&staged_may_go, 1);
    WAIT_UNTIL(atomic_load(&runs) == 2);
    wait_until_gate_is_empty();
    strike_over();
    staged_end();
}

static const weft_work_id awaited_id = {.text = "to come"};
static weft_work latecomer;

/* Waits for a work that is not there yet: needs no thread. */
static weft_work submit_held(void) {
    weft_work work;
    weft_work_options options = {.after_ids = &awaited_id, .after_id_count = 1};
    CHECK_EQ(weft_pool_submit_with(staged, &work, &options, count_run, NULL), 0);
    return work;
}

static void submit_latecomer(void) {
    submit_held(); /* gets the record that was freed last */
    latecomer = submit_held();
}

/* What the stop cancels first is the last of its generation; what comes then has a record that the stop has still to look at. */
TEST(a_stop_that_is_over_leaves_the_next_generation_alone) {
    weft_work works[4];
    staged_new(NULL);
    atomic_store(&staged_may_go, 1);
    for (int i = 0; i < 4; i++)
        works[i] = submit_held();
    CHECK_EQ(weft_pool_control_works(staged, WEFT_CANCEL, works + 1, 3, NULL), 0);
    strike_at("pool.counted_out", submit_latecomer);
    CHECK_EQ(weft_pool_control_all(staged, WEFT_STOP), 0);
    strike_over();
    CHECK((uint32_t)latecomer.bits > (uint32_t)works[0].bits);
    CHECK_EQ(staged_stats().cancelled, 4);
    CHECK_EQ(weft_pool_poll_work(staged, latecomer, NULL), -EAGAIN);
    CHECK_EQ(weft_pool_submit_with(staged, NULL, &(weft_work_options){.id = awaited_id}, count_run, NULL), 0);
    staged_end();
    CHECK_EQ(atomic_load(&runs), 3);
}

static atomic_int submits_left;
static atomic_long submitted_so_far;

static void *submit_all_the_time(void *arg) {
    while (atomic_fetch_sub(&submits_left, 1) > 0) {
        CHECK_EQ(weft_pool_submit_with(staged, NULL, &(weft_work_options){.priority = 1}, count_run, NULL), 0);
        CHECK_EQ(weft_pool_submit(staged, NULL, count_run, NULL), 0);
        atomic_fetch_add(&submitted_so_far, 2);
    }
    return arg;
}

TEST(no_submit_is_forgotten_by_stops_that_come_all_the_time) {
    pthread_t threads[3];
    history_begin();
    staged_new(&(weft_pool_options){.threads = 2});
    atomic_store(&submits_left, (int)scaled(6000, 300));
    atomic_store(&submitted_so_far, 0);
    for (int i = 0; i < 3; i++)
        threads[i] = thread_start(submit_all_the_time, NULL);
    while (atomic_load(&submits_left) > 0) {
        int status = weft_pool_control_all(staged, WEFT_STOP);
        CHECK(status == 0 || status == -EAGAIN || status == -EALREADY);
        sched_yield();
    }
    for (int i = 0; i < 3; i++)
        thread_join(threads[i]);
    wait_until_gate_is_empty();
    weft_pool_stats stats = staged_stats();
    CHECK_EQ(stats.submitted, atomic_load(&submitted_so_far));
    CHECK_EQ(atomic_load(&runs) + stats.cancelled, stats.submitted);
    staged_end();
}

/* ---- Suspended, held, at a loss ---- */

TEST(a_suspended_pool_is_idle_until_it_is_started) {
    history_begin();
    weft_pool_options options = noted;
    options.suspended = true;
    staged_new(&options);
    weft_work work = staged_submit(count_run, NULL);
    CHECK_EQ(weft_pool_wait(staged, WEFT_NEVER), 0);
    CHECK_EQ(weft_pool_poll_work(staged, work, NULL), -EAGAIN);
    CHECK_EQ(staged_stats().held, 1);
    CHECK(staged_stats().is_idle);
    check_history(0);
    CHECK_EQ(weft_pool_start(staged), 0);
    CHECK_EQ(weft_pool_start(staged), -EALREADY);
    CHECK_EQ(weft_pool_wait(staged, WEFT_NEVER), 0);
    CHECK_EQ(atomic_load(&runs), 1);
    check_history(1);
    staged_end();
}

TEST(a_hold_is_one_more_outstanding) {
    history_begin();
    staged_new(&noted);
    CHECK_EQ(weft_pool_release(staged), -EINVAL);
    CHECK_EQ(weft_pool_hold(staged), 0);
    CHECK_EQ(weft_pool_hold(staged), 0);
    for (int i = 0; i < 3; i++) {
        int status = weft_pool_wait_work(staged, staged_submit(count_run, NULL), NULL, WEFT_NEVER);
        CHECK(status == 0 || status == -ESTALE);
    }
    CHECK_EQ(weft_pool_wait(staged, weft_after(WEFT_MICROSECOND)), -ETIMEDOUT);
    CHECK_EQ(weft_pool_release(staged), 0);
    CHECK_EQ(weft_pool_wait(staged, weft_after(WEFT_MICROSECOND)), -ETIMEDOUT);
    CHECK_EQ(weft_pool_release(staged), 0);
    CHECK_EQ(weft_pool_release(staged), -EINVAL);
    CHECK_EQ(weft_pool_wait(staged, WEFT_NEVER), 0);
    check_history(1);
    staged_end();
}

static atomic_int loss_status;

static void *wait_for_loss(void *arg) {
    atomic_store(&loss_status, weft_pool_wait(staged, WEFT_NEVER));
    return arg;
}

/* Once the last work that could run has ended, and also for those who come then. */
TEST(whoever_waits_for_works_that_wait_for_nobody_is_told) {
    weft_work_id missing = {.text = "never submitted"};
    weft_work_options options = {.after_ids = &missing, .after_id_count = 1};
    staged_begin(NULL);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(weft_pool_submit_with(staged, NULL, &options, count_run, NULL), 0);
    pthread_t thread = thread_start(wait_for_loss, NULL);
    WAIT_UNTIL(somebody_waits());
    atomic_store(&staged_may_go, 1);
    thread_join(thread);
    CHECK_EQ(atomic_load(&loss_status), -EDEADLK);
    CHECK_EQ(weft_pool_wait(staged, WEFT_NEVER), -EDEADLK);
    CHECK_EQ(weft_pool_submit_with(staged, NULL, &(weft_work_options){.id = missing}, count_run, NULL), 0);
    staged_end();
    CHECK_EQ(atomic_load(&runs), 4);
}
