/* SPDX-License-Identifier: MIT
 *
 * unit/pool/word_test.c - the word of a work: who wins when two want to move it at once, and which moves there are.
 *
 * Every pair of claim, cancel, wait, quiet end and whatever else asks about a work is brought together between the look and the
 * swap of one of them. A work has one end; whoever waits for it is told; the record is free afterwards.
 */
#include "support/child.h"
#include "unit/pool/threads.h"

/* ---- Moves ---- */

static bool work_may(uint32_t from, uint32_t to) {
    switch (from) {
    case WF_WORK_FREE:
        return to == WF_WORK_HELD || to == WF_WORK_QUEUED;
    case WF_WORK_HELD:
        return to == WF_WORK_QUEUED || to == WF_WORK_DONE;
    case WF_WORK_QUEUED:
        return to == WF_WORK_CLAIMED || to == WF_WORK_DONE;
    case WF_WORK_CLAIMED:
        return to == WF_WORK_QUEUED || to == WF_WORK_DONE || to == WF_WORK_FREE;
    case WF_WORK_DONE:
        return to == WF_WORK_FREE;
    default:
        return false;
    }
}

static bool pool_may(uint32_t from, uint32_t to) {
    switch (from) {
    case WF_POOL_OFF:
        return to == WF_POOL_STARTING || to == WF_POOL_GONE;
    case WF_POOL_STARTING:
        return to == WF_POOL_ON || to == WF_POOL_OFF;
    case WF_POOL_ON:
        return to == WF_POOL_ENDING;
    case WF_POOL_ENDING:
        return to == WF_POOL_ON || to == WF_POOL_OFF;
    default:
        return false;
    }
}

static bool job_may(uint32_t from, uint32_t to) {
    switch (from) {
    case WF_JOB_NONE:
        return to == WF_JOB_OPEN;
    case WF_JOB_OPEN:
        return to == WF_JOB_NONE || to == WF_JOB_WAITED || to == WF_JOB_DONE;
    case WF_JOB_WAITED:
        return to == WF_JOB_DONE;
    case WF_JOB_DONE:
        return to == WF_JOB_NONE;
    default:
        return false;
    }
}

static void check_moves(const struct wf_machine *machine, uint32_t count, bool (*may)(uint32_t from, uint32_t to)) {
    CHECK_EQ(machine->count, count);
    for (uint32_t from = 0; from < count + 2; from++)
        for (uint32_t to = 0; to < count + 2; to++)
            CHECK_EQ(wf_machine_allows(machine, from, to), may(from, to));
}

TEST(machines_of_the_pool_allow_exactly_the_moves_of_their_tables) {
    check_moves(&wf_work_machine, 5, work_may);
    check_moves(&wf_pool_machine, 5, pool_may);
    check_moves(&wf_job_machine, 4, job_may);
}

struct move {
    uint32_t from, to;
};

static void move_work(void *opaque) {
    const struct move *move = opaque;
    uint64_t word = (uint64_t)7 << 32 | WF_WORK_STOP | move->from;
    word = wf_work_with_phase(word, (enum wf_work_phase)move->to);
    CHECK_EQ(word, ((uint64_t)7 << 32 | WF_WORK_STOP | move->to));
}

TEST(a_work_that_makes_an_illegal_move_ends_the_process) {
    for (uint32_t from = 0; from < wf_work_machine.count; from++)
        for (uint32_t to = 0; to < wf_work_machine.count; to++) {
            struct move move = {from, to};
            char words[128];
            if (work_may(from, to)) {
                move_work(&move);
                continue;
            }
            struct child_end end = child_run(move_work, &move);
            snprintf(words, sizeof words, "work may not go from %s to %s", wf_work_machine.states[from],
                     wf_work_machine.states[to]);
            CHECK_CHILD_FATAL(&end, words);
        }
}

TEST(a_word_says_what_was_put_into_it) {
    uint64_t word = (uint64_t)UINT32_MAX << 32 | WF_WORK_QUEUED;
    word |= (uint64_t)WEFT_WORK_TIMED_OUT << WF_WORK_STATUS_SHIFT | WF_WORK_FLAGS;
    CHECK_EQ(wf_work_phase(word), WF_WORK_QUEUED);
    CHECK_EQ(wf_work_status(word), WEFT_WORK_TIMED_OUT);
    CHECK_EQ(wf_work_generation(word), UINT32_MAX);
    CHECK_EQ(WF_WORK_FLAGS & (WF_WORK_PHASE_MASK | WF_WORK_STATUS_MASK), 0);
    CHECK_EQ(WF_WORK_FLAGS >> 32, 0);
    CHECK_EQ(wf_pool_outstanding(UINT64_MAX), 0x7fffffff);
    CHECK_EQ(wf_pool_outstanding(WF_POOL_STOPPING), 0);
    CHECK_EQ(wf_pool_generation((uint64_t)5 << 32 | WF_POOL_STOPPING), 5);
}

/* ---- Names ---- */

TEST(a_handle_that_never_was_is_found_by_nobody) {
    staged_begin(NULL);
    weft_work strange[] = {
        {0}, {1}, {UINT64_MAX}, {(uint64_t)1 << 32 | 1u << 26}, {(uint64_t)1 << 32 | 60000000}, {(uint64_t)99 << 32}};
    for (size_t i = 0; i < sizeof strange / sizeof strange[0]; i++) {
        CHECK_EQ(weft_pool_control(staged, WEFT_CANCEL, strange[i]), -ESTALE);
        CHECK_EQ(weft_pool_control(staged, WEFT_STOP, strange[i]), -ESTALE);
        CHECK_EQ(weft_pool_control(staged, WEFT_FORCE_STOP, strange[i]), -ESTALE);
        CHECK_EQ(weft_pool_control(staged, WEFT_PAUSE, strange[i]), -ESTALE);
        CHECK_EQ(weft_pool_control(staged, WEFT_RESUME, strange[i]), -ESTALE);
        CHECK_EQ(weft_pool_poll_work(staged, strange[i], NULL), -ESTALE);
        CHECK_EQ(weft_pool_wait_work(staged, strange[i], NULL, WEFT_NEVER), -ESTALE);
        CHECK_EQ(weft_pool_remove(staged, strange[i]), -ESTALE);
        CHECK_EQ(weft_pool_stop_retry(staged, strange[i]), -ESTALE);
    }
    staged_end();
}

TEST(a_record_that_is_used_again_has_another_name_even_after_the_last_generation) {
    staged_begin(NULL);
    weft_work first = staged_submit(count_run, NULL);
    CHECK_EQ(weft_pool_control(staged, WEFT_CANCEL, first), 0);
    CHECK_EQ(weft_pool_control(staged, WEFT_CANCEL, first), -ESTALE); /* a tombstone: over, and still in the queue */
    CHECK_EQ(weft_pool_poll_work(staged, first, NULL), -ESTALE);
    staged_settle();
    struct wf_work *record = wf_work_find(staged, first);
    WAIT_UNTIL(wf_work_phase(wf_load_acquire(&record->word)) == WF_WORK_FREE); /* it is taken off the queue */
    CHECK_EQ(wf_work_generation(wf_load_relaxed(&record->word)), (first.bits >> 32) + 1);
    for (uint32_t i = 0; i < WF_WORK_CHUNK; i++) /* all of them are in their last generation */
        wf_store_relaxed(&wf_work_at(staged, i)->word, (uint64_t)UINT32_MAX << 32 | WF_WORK_FREE);
    weft_work last = staged_submit(count_run, NULL);
    CHECK_EQ(last.bits >> 32, UINT32_MAX);
    CHECK_EQ(weft_pool_wait(staged, WEFT_NEVER), 0);
    CHECK_EQ(wf_work_generation(staged_word(last)), 1); /* 0 is nobody's */
    weft_work next = staged_submit(count_run, NULL);
    CHECK_NE(next.bits, last.bits);
    CHECK_NE(next.bits >> 32, 0);
    staged_end();
    CHECK_EQ(atomic_load(&runs), 2);
}

/* ---- Claim against cancel ---- */

static weft_work subject;
static int stroke_status;
static struct wf_work *claimed;

static void cancel_subject(void) {
    stroke_status = weft_pool_control(staged, WEFT_CANCEL, subject);
}

static struct wf_work *take_subject(void) {
    struct wf_task *task = wf_pool_next_any(staged);
    CHECK(task != NULL);
    CHECK_EQ(wf_work_handle(wf_work_of(task), wf_load_relaxed(&wf_work_of(task)->word)).bits, subject.bits);
    return wf_work_of(task);
}

TEST(a_claim_loses_against_a_cancel_between_its_look_and_its_swap) {
    staged_begin(NULL);
    subject = staged_submit(count_run, NULL);
    struct wf_work *work = take_subject();
    strike_at("pool.before_claim", cancel_subject);
    CHECK(!wf_work_claim(staged, work, NULL));
    strike_over();
    CHECK_EQ(stroke_status, 0);
    CHECK_EQ(wf_work_phase(wf_load_relaxed(&work->word)), WF_WORK_FREE); /* whoever let go last */
    CHECK_EQ(weft_pool_poll_work(staged, subject, NULL), -ESTALE);
    staged_end();
    CHECK_EQ(atomic_load(&runs), 0);
}

static void claim_subject(void) {
    claimed = take_subject();
    CHECK(wf_work_claim(staged, claimed, NULL));
}

TEST(a_cancel_loses_against_a_claim_between_its_look_and_its_swap) {
    staged_begin(NULL);
    subject = staged_submit(count_run, NULL);
    strike_at("pool.before_seize", claim_subject);
    CHECK_EQ(weft_pool_control(staged, WEFT_CANCEL, subject), -EBUSY);
    strike_over();
    wf_work_run_here(staged, claimed);
    CHECK_EQ(atomic_load(&runs), 1);
    CHECK_EQ(weft_pool_control(staged, WEFT_CANCEL, subject), -ESTALE);
    staged_end();
    CHECK_EQ(atomic_load(&runs), 1);
}

TEST(of_two_cancels_one_says_so) {
    staged_begin(NULL);
    subject = staged_submit(count_run, NULL);
    strike_at("pool.before_seize", cancel_subject);
    CHECK_EQ(weft_pool_control(staged, WEFT_CANCEL, subject), -ESTALE);
    strike_over();
    CHECK_EQ(stroke_status, 0);
    CHECK_EQ(staged_stats().cancelled, 1);
    staged_end();
    CHECK_EQ(atomic_load(&runs), 0);
}

static void run_subject(void) {
    claim_subject();
    wf_work_run_here(staged, claimed);
}

/* By then the record may even be somebody else's. */
static void run_subject_and_submit(void) {
    weft_work other;
    run_subject();
    CHECK_EQ(weft_pool_submit(staged, &other, count_run, NULL), 0);
    CHECK_EQ((uint32_t)other.bits, (uint32_t)subject.bits);
}

TEST(a_cancel_does_not_take_the_next_work_in_the_same_record) {
    staged_begin(NULL);
    subject = staged_submit(count_run, NULL);
    strike_at("pool.before_seize", run_subject_and_submit);
    CHECK_EQ(weft_pool_control(staged, WEFT_CANCEL, subject), -ESTALE);
    strike_over();
    staged_end();
    CHECK_EQ(atomic_load(&runs), 2);
}

/* A stop finds it queued, then claimed, and asks it to stop. */
TEST(a_stop_that_comes_too_late_to_cancel_asks_the_work_to_stop) {
    staged_begin(NULL);
    subject = staged_submit(count_run, NULL);
    strike_at("pool.before_seize", claim_subject);
    CHECK_EQ(weft_pool_control(staged, WEFT_STOP, subject), 0);
    strike_over();
    CHECK(staged_word(subject) & WF_WORK_STOP);
    CHECK_EQ(weft_pool_control(staged, WEFT_STOP, subject), -EALREADY);
    wf_work_run_here(staged, claimed); /* which does not look: it succeeds */
    staged_settle();
    CHECK_EQ(staged_stats().stopped, 0);
    CHECK_EQ(staged_stats().cancelled, 0);
    staged_end();
    CHECK_EQ(atomic_load(&runs), 1);
}

static int wait_for_stop(void *arg) {
    atomic_fetch_add(&runs, 1);
    (void)arg;
    return weft_sleep(WEFT_NEVER);
}

static void run_claimed(void) {
    wf_work_run_here(staged, claimed);
}

/* The runner that is to be cancelled is there only later. */
TEST(a_force_stop_between_claim_and_run_cuts_short_what_the_work_waits_for) {
    staged_begin(NULL);
    subject = staged_submit(wait_for_stop, NULL);
    strike_at("pool.before_seize", claim_subject);
    CHECK_EQ(weft_pool_control(staged, WEFT_FORCE_STOP, subject), 0);
    strike_over();
    CHECK_EQ(weft_pool_control(staged, WEFT_FORCE_STOP, subject), -EALREADY);
    run_fibers(run_claimed);
    staged_settle();
    CHECK_EQ(staged_stats().force_stopped, 1);
    staged_end();
}

/* ---- The quiet end against whoever asks in the last moment ---- */

static atomic_int is_at_free, may_free;

static void wait_at_free(void) {
    atomic_store(&is_at_free, 1);
    while (!atomic_load(&may_free))
        sched_yield();
}

/* The subject has run, and is about to end without a word. */
static void stop_before_free(const weft_pool_options *options) {
    staged_new(options);
    atomic_store(&is_at_free, 0);
    atomic_store(&may_free, 0);
    strike_at("pool.before_free", wait_at_free);
    subject = staged_submit(count_run, NULL);
    WAIT_UNTIL(atomic_load(&is_at_free));
    CHECK_EQ(wf_work_phase(staged_word(subject)), WF_WORK_CLAIMED);
}

static void go_on_to_free(void) {
    atomic_store(&may_free, 1);
    strike_over();
}

static void *let_free_once_waited(void *arg) {
    WAIT_UNTIL(staged_word(subject) & WF_WORK_WAITED);
    atomic_store(&may_free, 1);
    return arg;
}

TEST(a_wait_that_comes_just_before_the_quiet_end_is_told) {
    weft_result result = {0};
    stop_before_free(NULL);
    pthread_t thread = thread_start(let_free_once_waited, NULL);
    CHECK_EQ(weft_pool_wait_work(staged, subject, &result, WEFT_NEVER), 0);
    thread_join(thread);
    strike_over();
    CHECK_EQ(result.status, WEFT_WORK_SUCCEEDED);
    CHECK_EQ(result.work.bits, subject.bits);
    CHECK_EQ(result.attempts, 1);
    CHECK_EQ(weft_pool_wait_work(staged, subject, &result, WEFT_NEVER), -ESTALE);
    staged_end();
}

TEST(a_select_that_comes_just_before_the_quiet_end_is_told) {
    weft_result result = {0};
    stop_before_free(NULL);
    pthread_t thread = thread_start(let_free_once_waited, NULL);
    weft_case cases[] = {weft_on_work(staged, subject, &result), weft_on_work(staged, subject, NULL)};
    CHECK_GE(weft_select(cases, 2, WEFT_NEVER), 0);
    thread_join(thread);
    strike_over();
    staged_end();
}

TEST(a_wait_that_gives_up_just_before_the_quiet_end_leaves_nothing_behind) {
    stop_before_free(NULL);
    CHECK_EQ(weft_pool_wait_work(staged, subject, NULL, weft_after(WEFT_MICROSECOND)), -ETIMEDOUT);
    CHECK_EQ(weft_pool_poll_work(staged, subject, NULL), -EAGAIN);
    go_on_to_free();
    staged_end();
}

TEST(a_stop_just_before_the_quiet_end_finds_a_work_that_has_succeeded) {
    stop_before_free(NULL);
    CHECK_EQ(weft_pool_control(staged, WEFT_STOP, subject), 0);
    go_on_to_free();
    staged_settle();
    CHECK_EQ(staged_stats().succeeded, 1);
    CHECK_EQ(staged_stats().stopped, 0);
    staged_end();
}

TEST(a_force_stop_just_before_the_quiet_end_leaves_no_alarm_behind) {
    stop_before_free(NULL);
    CHECK_EQ(weft_pool_control(staged, WEFT_FORCE_STOP, subject), 0);
    go_on_to_free();
    staged_settle();
    CHECK_EQ(staged_stats().succeeded, 1);
    CHECK_EQ(staged_stats().abandoned, 0);
    CHECK_EQ(staged->clock.alarms.count, 0);
    staged_end();
}

TEST(a_pause_just_before_the_quiet_end_holds_nobody_up) {
    stop_before_free(NULL);
    CHECK_EQ(weft_pool_control(staged, WEFT_PAUSE, subject), 0);
    go_on_to_free();
    staged_end();
}

TEST(a_group_that_gets_a_work_just_before_its_quiet_end_sees_it_leave) {
    weft_group *group;
    stop_before_free(NULL);
    CHECK_EQ(weft_group_new(&group, staged, NULL), 0);
    CHECK_EQ(weft_group_add(group, subject), 0);
    CHECK_EQ(weft_group_works(group, NULL, 0), 1);
    go_on_to_free();
    CHECK_EQ(weft_group_wait(group, WEFT_NEVER), 0);
    CHECK_EQ(weft_group_works(group, NULL, 0), 0);
    staged_settle();
    weft_group_free(group);
    staged_end();
}

TEST(a_work_that_comes_after_one_at_its_quiet_end_runs) {
    weft_work next;
    weft_result result;
    stop_before_free(NULL);
    weft_work_options options = {.after = &subject, .after_count = 1, .store_result = true};
    CHECK_EQ(weft_pool_submit_with(staged, &next, &options, count_run, NULL), 0);
    CHECK_EQ(wf_work_phase(staged_word(next)), WF_WORK_HELD);
    go_on_to_free();
    CHECK_EQ(weft_pool_wait_work(staged, next, &result, WEFT_NEVER), 0);
    CHECK_EQ(result.status, WEFT_WORK_SUCCEEDED);
    staged_end();
    CHECK_EQ(atomic_load(&runs), 2);
}

/* ---- The token of a submit ---- */

static void cancel_all(void) {
    CHECK_EQ(weft_pool_control_all(staged, WEFT_CANCEL), 1);
}

TEST(a_work_that_is_cancelled_before_its_submit_is_through_never_runs) {
    weft_work work;
    weft_result result;
    staged_begin(NULL);
    strike_at("pool.before_token", cancel_all);
    weft_work_options options = {.store_result = true, .deadline = weft_after(PATIENCE_NS)};
    CHECK_EQ(weft_pool_submit_with(staged, &work, &options, count_run, NULL), 0);
    strike_over();
    CHECK_EQ(weft_pool_poll_work(staged, work, &result), 0);
    CHECK_EQ(result.status, WEFT_WORK_CANCELLED);
    CHECK_EQ(result.attempts, 0);
    CHECK_EQ(weft_pool_remove(staged, work), 0);
    CHECK_EQ(wf_work_phase(staged_word(work)), WF_WORK_FREE);
    staged_end();
    CHECK_EQ(atomic_load(&runs), 0);
}

static void let_thread_go(void) {
    atomic_store(&staged_may_go, 1);
    WAIT_UNTIL(staged_stats().running == 0);
}

TEST(what_a_work_comes_after_may_end_before_its_submit_is_through) {
    weft_work before, work;
    staged_begin(NULL);
    before = staged_submit(count_run, NULL);
    strike_at("pool.before_token", let_thread_go);
    weft_work_options options = {.after = &before, .after_count = 1};
    CHECK_EQ(weft_pool_submit_with(staged, &work, &options, count_run, NULL), 0);
    strike_over();
    staged_end();
    CHECK_EQ(atomic_load(&runs), 2);
}

static void cancel_before(void) {
    stroke_status = weft_pool_control(staged, WEFT_CANCEL, subject);
}

TEST(what_a_work_comes_after_may_fail_before_its_submit_is_through) {
    weft_work work;
    weft_result result;
    staged_begin(NULL);
    subject = staged_submit(count_run, NULL);
    strike_at("pool.before_token", cancel_before);
    weft_work_options options = {.after = &subject, .after_count = 1, .store_result = true};
    CHECK_EQ(weft_pool_submit_with(staged, &work, &options, count_run, NULL), 0);
    strike_over();
    CHECK_EQ(stroke_status, 0);
    CHECK_EQ(weft_pool_poll_work(staged, work, &result), 0);
    CHECK_EQ(result.status, WEFT_WORK_FAILED);
    CHECK_EQ(result.error, -ENOENT);
    CHECK_EQ(result.cause.bits, subject.bits);
    staged_end();
    CHECK_EQ(atomic_load(&runs), 0);
}

static void dispose(void) {
    stroke_status = weft_pool_dispose(staged);
}

TEST(a_pool_may_be_disposed_of_before_a_submit_is_through) {
    weft_work work;
    staged_new(NULL);
    strike_at("pool.before_token", dispose);
    CHECK_EQ(weft_pool_submit_with(staged, &work, &(weft_work_options){.priority = 3}, count_run, NULL), 0);
    strike_over();
    CHECK_EQ(stroke_status, 0);
    CHECK_EQ(weft_pool_submit(staged, NULL, count_run, NULL), -ESHUTDOWN);
    CHECK_EQ(staged_stats().cancelled, 1);
    weft_pool_free(staged);
    CHECK_EQ(atomic_load(&runs), 0);
}

/* ---- Results ---- */

static weft_result last_result;

static int keep_result(const weft_result *result, void *arg) {
    (void)arg;
    last_result = *result;
    return 0;
}

static int return_a_number(void *arg) {
    CHECK_EQ(weft_work_set_value(arg), 0);
    return 77;
}

TEST(a_work_that_never_ran_has_no_code_of_another) {
    enum { USED = 100 };
    staged_new(&(weft_pool_options){.callback = keep_result});
    for (int i = 0; i < USED; i++) {
        subject = staged_submit(return_a_number, &last_result);
        CHECK_EQ(weft_pool_wait(staged, WEFT_NEVER), 0);
        CHECK_EQ(last_result.code, 77);
        CHECK(last_result.value == &last_result);
    }
    staged_block();
    for (int i = 0; i < USED; i++) {
        subject = staged_submit(count_run, NULL);
        CHECK_EQ(weft_pool_control(staged, WEFT_CANCEL, subject), 0);
        CHECK_EQ(last_result.work.bits, subject.bits);
        CHECK_EQ(last_result.status, WEFT_WORK_CANCELLED);
        CHECK_EQ(last_result.code, 0);
        CHECK_EQ(last_result.error, -ECANCELED);
        CHECK_EQ(last_result.attempts, 0);
        CHECK(last_result.value == NULL);
    }
    staged_end();
}
