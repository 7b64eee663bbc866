/* SPDX-License-Identifier: MIT
 *
 * unit/pool/mended_test.c - laws of submits, gates, ends and waits that were once broken, each with what went wrong then.
 *
 * Where a point lies in the window it is forced; elsewhere many rounds are run, which cannot fail while the law holds. The rest,
 * about threads, groups and parallel forms, is in mended_more_test.c.
 */
#include "unit/pool/threads.h"

static atomic_int ends;
static atomic_int last_status;

static int note_end(const weft_result *result, void *arg) {
    (void)arg;
    atomic_store(&last_status, (int)result->status);
    atomic_fetch_add(&ends, 1);
    return 0;
}

static void mended_new(const weft_pool_options *options) {
    atomic_store(&ends, 0);
    staged_new(options);
    atomic_store(&staged_may_go, 1);
}

static int fail_once(void *arg) {
    (void)arg;
    atomic_fetch_add(&runs, 1);
    return -EIO;
}

static weft_work submit_after(weft_work before, weft_work_fn fn) {
    weft_work work;
    weft_work_options options = {.after = &before, .after_count = 1, .callback = note_end};
    CHECK_EQ(weft_pool_submit_with(staged, &work, &options, fn, NULL), 0);
    return work;
}

/* A generation has ended, was told of, and the gate was opened if it may be. */
static bool is_all_told(uint64_t turns) {
    wf_lock_take(&staged->lock);
    bool is = staged->turns_told >= turns && !staged->is_telling;
    wf_lock_drop(&staged->lock);
    return is;
}

static bool is_at_a_loss(void) {
    wf_lock_take(&staged->lock);
    bool is = wf_pool_is_at_a_loss_locked(staged);
    wf_lock_drop(&staged->lock);
    return is;
}

static bool somebody_waits(void) {
    wf_lock_take(&staged->lock);
    bool is = staged->idlers != NULL;
    wf_lock_drop(&staged->lock);
    return is;
}

/* ---- Submits against sweeps ---- */

static atomic_int sweeps_go_on;

static void *sweep_all_the_time(void *arg) {
    while (atomic_load(&sweeps_go_on)) {
        CHECK_GE(weft_pool_control_all(staged, WEFT_CANCEL), 0);
        sched_yield();
    }
    return arg;
}

static void submit_against_sweeps(int (*submit_one)(int i), int refusal) {
    atomic_store(&sweeps_go_on, 1);
    pthread_t sweeper = thread_start(sweep_all_the_time, NULL);
    for (long round = scaled(60, 6); round > 0; round--) {
        for (int i = 0; i < 50; i++) {
            int status = submit_one(i);
            CHECK(status == 0 || status == refusal);
        }
        CHECK_EQ(weft_pool_wait(staged, weft_after(PATIENCE_NS)), 0);
    }
    atomic_store(&sweeps_go_on, 0);
    thread_join(sweeper);
    staged_end();
}

/* Every other one has an id that may be taken, and is refused after it has its record. */
static int submit_with_options(int i) {
    weft_work_options options = {.priority = 1, .id = {.number = i % 2 ? 7 : 0}};
    return weft_pool_submit_with(staged, NULL, &options, count_run, NULL);
}

/* Works could be seen before they were counted, and before it was clear that they would not be refused: a sweep ended them, and so
 * did their submit. The pool was never idle again, or a record was free twice. */
TEST(a_sweep_sees_no_work_before_its_submit_cannot_be_refused) {
    mended_new(&(weft_pool_options){.threads = wf_test_workers()});
    submit_against_sweeps(submit_with_options, -EEXIST);
}

static weft_work shelf[64];
static int shelved, offered;

static int shelf_push(void *queue, weft_work work, int priority) {
    (void)queue;
    (void)priority;
    CHECK_EQ(wf_work_phase(staged_word(work)), WF_WORK_FREE); /* nobody may end what we may still refuse */
    if (++offered % 2 || shelved == 64)
        return -EDQUOT;
    shelf[shelved++] = work;
    return 0;
}

static bool shelf_pop(void *queue, weft_work *work) {
    (void)queue;
    if (shelved == 0)
        return false;
    *work = shelf[--shelved];
    return true;
}

static int submit_plainly(int i) {
    (void)i;
    return weft_pool_submit(staged, NULL, count_run, NULL);
}

/* A plain work was queued before the program's queue was asked: if that refused it, a sweep and the submit both counted it out. */
TEST(a_work_that_a_custom_queue_may_refuse_is_seen_by_nobody) {
    static const weft_work_queue queue = {.push = shelf_push, .pop = shelf_pop};
    shelved = offered = 0;
    mended_new(&(weft_pool_options){
        .threads = wf_test_workers(), .discipline = WEFT_POOL_CUSTOM, .custom = &queue, .custom_queue = shelf});
    submit_against_sweeps(submit_plainly, -EDQUOT);
}

static atomic_int callback_is_inside, callback_may_return;
static pthread_t canceller;

static int end_slowly(const weft_result *result, void *arg) {
    note_end(result, arg);
    atomic_store(&callback_is_inside, 1);
    while (!atomic_load(&callback_may_return))
        sched_yield();
    return 0;
}

static void *cancel_all_once(void *arg) {
    CHECK_GE(weft_pool_control_all(staged, WEFT_CANCEL), 1);
    return arg;
}

static void let_somebody_cancel_all(void) {
    canceller = thread_start(cancel_all_once, NULL);
    WAIT_UNTIL(atomic_load(&callback_is_inside));
}

/* The submitter that runs its work itself let the record go twice: once as its claim failed, and once more. */
TEST(a_work_that_is_cancelled_as_its_submitter_takes_it_is_let_go_once) {
    staged_begin(&(weft_pool_options){.max_queued = 1, .rejection = WEFT_REJECT_CALLER_RUNS});
    atomic_store(&ends, 0);
    atomic_store(&callback_is_inside, 0);
    atomic_store(&callback_may_return, 0);
    staged_submit(count_run, NULL); /* fills the queue */
    strike_at("pool.before_claim", let_somebody_cancel_all);
    CHECK_EQ(weft_pool_submit_with(staged, NULL, &(weft_work_options){.callback = end_slowly}, count_run, NULL), 0);
    strike_over();
    atomic_store(&callback_may_return, 1);
    thread_join(canceller);
    CHECK_EQ(atomic_load(&ends), 1);
    CHECK_EQ(atomic_load(&last_status), WEFT_WORK_CANCELLED);
    CHECK_EQ(atomic_load(&runs), 0);
    atomic_store(&staged_may_go, 1);
    for (int i = 0; i < 20; i++) { /* two works in one record would show */
        int status = weft_pool_wait_work(staged, staged_submit(count_run, NULL), NULL, WEFT_NEVER);
        CHECK(status == 0 || status == -ESTALE);
    }
    CHECK_EQ(atomic_load(&runs), 20);
    staged_end();
}

static atomic_int is_submitting;

/* Of the generation that is stopped; what waited at the gate for its end has nothing to wait for. */
static int wait_for_the_stop(void *generation) {
    while (!weft_work_is_stopping() &&
           wf_pool_generation(wf_load_acquire(&staged->word)) == (uint32_t)(uintptr_t)generation)
        weft_yield();
    return 0;
}

static int submit_until_stopped(void *generation) {
    atomic_store(&is_submitting, 1);
    for (int i = 0; !weft_work_is_stopping(); i++) {
        if (i < 4)
            staged_submit(wait_for_the_stop, generation);
        weft_yield();
    }
    return 0;
}

/* The short way of a work that submits to its own thread takes no lock: a stop went by after it had counted and before the work
 * could be found, and nobody ever asked that one to stop. */
TEST(a_stop_reaches_what_works_submit_to_their_own_threads_at_the_same_time) {
    uint64_t random = wf_test_seed();
    mended_new(&(weft_pool_options){.threads = wf_test_workers(), .placement = WEFT_PLACE_LOCAL});
    for (long round = scaled(6, 3); round > 0; round--) {
        uintptr_t generation = wf_pool_generation(wf_load_acquire(&staged->word));
        atomic_store(&is_submitting, 0);
        staged_submit(submit_until_stopped, (void *)generation);
        WAIT_UNTIL(atomic_load(&is_submitting));
        for (uint64_t i = random_below(&random, 20); i > 0; i--)
            sched_yield();
        CHECK_EQ(weft_pool_control_all(staged, WEFT_STOP), 0);
        CHECK_EQ(weft_pool_wait(staged, weft_after(PATIENCE_NS)), 0);
        WAIT_UNTIL(staged_stats().held == 0);
        CHECK_EQ(weft_pool_wait(staged, weft_after(PATIENCE_NS)), 0);
    }
    staged_end();
}

static int yield_at_end(const weft_result *result, void *arg) {
    (void)result;
    (void)arg;
    weft_yield();
    return 0;
}

static int submit_batches(void *arg) {
    void *args[64] = {0};
    int status = 0;
    (void)arg;
    atomic_store(&is_submitting, 1);
    while (status == 0)
        status = weft_pool_submit_batch(staged, NULL, NULL, count_run, args, 64, NULL);
    CHECK_EQ(status, -ESHUTDOWN);
    return 0;
}

/* What is disposed of in the middle of a batch ends with a callback, and that may move the fiber to another thread; the batch went
 * on with the records of the first. */
TEST(a_batch_goes_on_wherever_callbacks_have_moved_its_submitter) {
    uint64_t random = wf_test_seed();
    for (long round = scaled(6, 2); round > 0; round--) {
        mended_new(&(weft_pool_options){.threads = wf_test_workers() + 1,
                                        .placement = WEFT_PLACE_LOCAL,
                                        .callback = yield_at_end,
                                        .grace = PATIENCE_NS});
        atomic_store(&is_submitting, 0);
        staged_submit(submit_batches, NULL);
        WAIT_UNTIL(atomic_load(&is_submitting));
        for (uint64_t i = random_below(&random, 10); i > 0; i--)
            sched_yield();
        CHECK_EQ(weft_pool_dispose(staged), 0);
        CHECK_EQ(staged_stats().outstanding, 0);
        weft_pool_free(staged);
    }
}

/* ---- At the gate ---- */

/* A work that failed for its predecessor while it was still linked into the chain of those that the gate lets out took the rest of
 * the chain with it. */
TEST(a_failure_at_the_gate_loses_none_of_those_behind_it) {
    mended_new(&(weft_pool_options){.threads = wf_test_workers(), .suspended = true});
    weft_work first = staged_submit(count_run, NULL);
    weft_work second = submit_after(first, count_run);
    submit_after(second, count_run);
    for (int i = 0; i < 5; i++)
        staged_submit(count_run, NULL);
    CHECK_EQ(weft_pool_control(staged, WEFT_CANCEL, first), 0);
    CHECK_EQ(weft_pool_start(staged), 0);
    CHECK_EQ(weft_pool_wait(staged, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(atomic_load(&runs), 5);
    CHECK_EQ(atomic_load(&ends), 2);
    CHECK_EQ(atomic_load(&last_status), WEFT_WORK_FAILED);
    staged_end();
}

/* The same as a race: a worker runs what fails while the starter still walks along the chain. */
TEST(failures_while_the_gate_lets_works_out_lose_nothing) {
    for (long round = scaled(20, 3); round > 0; round--) {
        mended_new(&(weft_pool_options){.threads = wf_test_workers() + 1, .suspended = true});
        for (int i = 0; i < 10; i++) {
            weft_work failing = staged_submit(fail_once, NULL);
            submit_after(submit_after(failing, count_run), count_run);
            staged_submit(count_run, NULL);
        }
        CHECK_EQ(weft_pool_start(staged), 0);
        CHECK_EQ(weft_pool_wait(staged, weft_after(PATIENCE_NS)), 0);
        CHECK_EQ(atomic_load(&runs), 20);
        CHECK_EQ(atomic_load(&ends), 20);
        staged_end();
    }
}

static void check_deadline_at_gate(void) {
    weft_work work;
    weft_result result;
    weft_work_options options = {.deadline = weft_after(WEFT_MILLISECOND), .store_result = true};
    CHECK_EQ(weft_pool_submit_with(staged, &work, &options, count_run, NULL), 0);
    CHECK_EQ(weft_pool_wait_work(staged, work, &result, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(result.status, WEFT_WORK_TIMED_OUT);
    CHECK_EQ(result.error, -ETIMEDOUT);
    CHECK_EQ(atomic_load(&runs), 0);
}

/* Deadlines began to count when the gate opened: whoever waited for the work waited for the start. */
TEST(a_deadline_passes_for_a_work_at_the_gate) {
    mended_new(&(weft_pool_options){.suspended = true});
    check_deadline_at_gate();
    CHECK_EQ(weft_pool_start(staged), 0);
    staged_end();
    staged_begin(NULL);
    CHECK_EQ(weft_pool_control_all(staged, WEFT_STOP), 0);
    check_deadline_at_gate();
    staged_end();
}

static int run_until_stopped(void *arg) {
    (void)arg;
    atomic_fetch_add(&runs, 1);
    while (!weft_work_is_stopping())
        weft_yield();
    return 0;
}

/* Dispose has looked at the work at the gate, and not ended it: the stop that was going on comes to its end. */
static void let_the_stop_end(void) {
    atomic_store(&staged_may_go, 1);
    WAIT_UNTIL(is_all_told(2));
    for (int i = 0; i < 1000 && !atomic_load(&runs); i++)
        sched_yield();
}

/* The end of the stop opened the gate of a pool that was being disposed of, and nobody stopped what came through. */
TEST(a_pool_that_is_disposed_of_lets_nothing_through_its_gate) {
    staged_begin(&(weft_pool_options){.grace = PATIENCE_NS});
    CHECK_EQ(weft_pool_control_all(staged, WEFT_STOP), 0);
    staged_submit(run_until_stopped, NULL);
    strike_at("pool.before_seize", let_the_stop_end);
    CHECK_EQ(weft_pool_dispose(staged), 0);
    strike_over();
    CHECK_EQ(atomic_load(&runs), 0);
    CHECK_EQ(staged_stats().cancelled, 1);
    weft_pool_free(staged);
}

/* It was on its way into the queue, and not in it, when it was cancelled: the dead entry took a place until somebody came for it. */
TEST(a_work_that_is_cancelled_on_its_way_into_the_queue_takes_no_room) {
    staged_begin(&(weft_pool_options){.max_queued = 1});
    weft_work work = staged_submit(count_run, NULL);
    struct wf_task *entry = wf_pool_next_any(staged);
    CHECK(entry != NULL);
    CHECK_EQ(weft_pool_control(staged, WEFT_CANCEL, work), 0);
    wf_lock_take(&staged->queue.lock);
    CHECK_EQ(wf_queue_push_locked(staged, wf_work_of(entry)), 0);
    wf_lock_drop(&staged->queue.lock);
    staged_submit(count_run, NULL);
    CHECK_EQ(weft_pool_submit(staged, NULL, count_run, NULL), -EAGAIN);
    staged_end();
    CHECK_EQ(atomic_load(&runs), 1);
}

/* The call was refused, and shut the pool all the same. */
static int drain_own_pool(void *arg) {
    (void)arg;
    CHECK_EQ(weft_pool_drain(staged, WEFT_NEVER), -EPERM);
    return 0;
}

TEST(a_drain_that_is_refused_changes_nothing) {
    mended_new(&(weft_pool_options){.threads = wf_test_workers()});
    staged_submit(drain_own_pool, NULL);
    CHECK_EQ(weft_pool_wait(staged, WEFT_NEVER), 0);
    staged_submit(count_run, NULL);
    CHECK_EQ(weft_pool_submit_with(staged, NULL, &(weft_work_options){.priority = 1}, count_run, NULL), 0);
    staged_end();
    CHECK_EQ(atomic_load(&runs), 2);
}

/* ---- Functions of the program ---- */

static atomic_int beginnings; /* or ends, where those are what is told */

static int submit_and_wait(const weft_pool_event *event, void *arg) {
    weft_work work;
    (void)arg;
    if (atomic_fetch_add(&beginnings, 1) > 0)
        return 0;
    CHECK_EQ(weft_pool_submit(event->pool, &work, count_run, NULL), 0);
    int status = weft_pool_wait_work(event->pool, work, NULL, weft_after(PATIENCE_NS));
    CHECK(status == 0 || status == -ESTALE);
    return 0;
}

/* The handler was called between the first work's way into the queue and its announcement; nobody announces a second one while the
 * queue is not empty. */
TEST(what_the_handler_of_a_beginning_submits_runs_before_it_returns) {
    weft_pool_options options = {
        .threads = wf_test_workers(), .handler = submit_and_wait, .events = 1u << WEFT_POOL_STARTED};
    for (int is_special = 0; is_special < 2; is_special++) {
        atomic_store(&beginnings, 0);
        mended_new(&options);
        WAIT_UNTIL(staged_stats().threads_idle == wf_test_workers()); /* none comes by without being told */
        weft_work_options special = {.priority = is_special};
        CHECK_EQ(weft_pool_submit_with(staged, NULL, is_special ? &special : NULL, count_run, NULL), 0);
        staged_settle();
        CHECK_EQ(atomic_load(&runs), 2);
        staged_end();
    }
}

static atomic_int handler_status;

static int submit_only(const weft_pool_event *event, void *arg) {
    (void)arg;
    if (atomic_fetch_add(&beginnings, 1) == 0)
        atomic_store(&handler_status, weft_pool_submit(event->pool, NULL, count_run, NULL));
    return 0;
}

/* The only place was promised to a submit that had not taken it yet and called the handler, whose own submit waited for it. */
TEST(the_handler_of_a_beginning_may_submit_whatever_happens_when_there_is_no_room) {
    static const weft_rejection rules[] = {WEFT_REJECT_ABORT, WEFT_REJECT_CALLER_RUNS, WEFT_REJECT_DISCARD,
                                           WEFT_REJECT_DISCARD_QUEUED, WEFT_REJECT_BLOCK};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        atomic_store(&beginnings, 0);
        atomic_store(&handler_status, 1);
        mended_new(&(weft_pool_options){
            .max_queued = 1, .rejection = rules[i], .handler = submit_only, .events = 1u << WEFT_POOL_STARTED});
        staged_submit(count_run, NULL);
        WAIT_UNTIL(atomic_load(&handler_status) != 1); /* the thread of the pool may be the one that tells */
        int status = atomic_load(&handler_status);
        CHECK(status == 0 || (rules[i] == WEFT_REJECT_ABORT && status == -EAGAIN));
        staged_end();
    }
}

static int panic_at_result(const weft_result *result, void *arg) {
    (void)result;
    (void)arg;
    weft_panic("seen");
}

static int see_results(void *arg) {
    (void)arg;
    CHECK_EQ(weft_pool_each_result(staged, panic_at_result, NULL), -EOWNERDEAD);
    return count_run(NULL);
}

/* The panic went through the call, which lost its copies of the results. */
TEST(a_panic_of_the_function_that_sees_results_is_an_error_of_the_call) {
    mended_new(&(weft_pool_options){.threads = wf_test_workers(), .store_results = true, .keep_results = true});
    staged_submit(count_run, NULL);
    CHECK_EQ(weft_pool_wait(staged, WEFT_NEVER), 0);
    see_results(NULL);
    staged_submit(see_results, NULL);
    staged_settle();
    CHECK_EQ(atomic_load(&runs), 3);
    CHECK_EQ(staged_stats().stored, 2);
    staged_end();
}

/* ---- Who waits for what cannot end ---- */

static atomic_int wait_status;

static void *wait_for_the_pool(void *arg) {
    atomic_store(&wait_status, weft_pool_wait(staged, weft_after(PATIENCE_NS)));
    return arg;
}

static weft_work submit_for_nobody(weft_work_callback callback) {
    static const weft_work_id missing = {.text = "never submitted"};
    weft_work work;
    weft_work_options options = {.after_ids = &missing, .after_id_count = 1, .callback = callback};
    CHECK_EQ(weft_pool_submit_with(staged, &work, &options, count_run, NULL), 0);
    return work;
}

static uint32_t outstanding_now(void) {
    return wf_pool_outstanding(wf_load_acquire(&staged->word));
}

/* The held work is being ended; everything else ends first. */
static int let_others_end(const weft_result *result, void *arg) {
    (void)result;
    (void)arg;
    atomic_store(&staged_may_go, 1);
    WAIT_UNTIL(outstanding_now() == 1);
    CHECK(!is_at_a_loss());
    return 0;
}

/* A held work counted as one that nothing can release until its callback had returned: whoever waited for the pool meanwhile was
 * told of a deadlock. */
TEST(a_pool_whose_held_work_is_being_cancelled_is_not_at_a_loss) {
    staged_begin(NULL);
    weft_work held = submit_for_nobody(let_others_end);
    pthread_t waiter = thread_start(wait_for_the_pool, NULL);
    WAIT_UNTIL(somebody_waits());
    CHECK_EQ(weft_pool_control(staged, WEFT_CANCEL, held), 0);
    thread_join(waiter);
    CHECK_EQ(atomic_load(&wait_status), 0);
    staged_end();
}

/* The same between the two first steps of the end, where whoever cancels may be held up by the machine. */
TEST(a_pool_whose_held_work_was_just_seized_is_not_at_a_loss) {
    mended_new(NULL);
    weft_work held = submit_for_nobody(note_end);
    CHECK(is_at_a_loss());
    struct wf_work *work = wf_work_find(staged, held);
    CHECK(wf_work_seize(work, held, WEFT_WORK_CANCELLED));
    CHECK(!is_at_a_loss());
    CHECK_EQ(weft_pool_wait(staged, weft_after(WEFT_MICROSECOND)), -ETIMEDOUT);
    wf_work_over_unrun(staged, work, -ECANCELED);
    CHECK_EQ(atomic_load(&ends), 1);
    staged_end();
}

static weft_work gated;

static int submit_after_gated(const weft_pool_event *event, void *arg) {
    (void)event;
    (void)arg;
    if (atomic_fetch_add(&beginnings, 1) > 0)
        return 0;
    submit_after(gated, count_run);
    CHECK_EQ(outstanding_now(), 1);
    CHECK(!is_at_a_loss());
    return 0;
}

/* The stop is over, the gate still shut: what comes after a work at the gate is all that is outstanding. */
TEST(a_pool_whose_gate_is_about_to_open_is_not_at_a_loss) {
    atomic_store(&beginnings, 0);
    staged_begin(&(weft_pool_options){.handler = submit_after_gated, .events = 1u << WEFT_POOL_IDLED});
    CHECK_EQ(weft_pool_control_all(staged, WEFT_STOP), 0);
    gated = staged_submit(count_run, NULL);
    atomic_store(&staged_may_go, 1);
    WAIT_UNTIL(atomic_load(&runs) == 2);
    staged_end();
}

static int wait_for_itself(void *arg) {
    (void)arg;
    weft_time limit = weft_after(PATIENCE_NS);
    CHECK_EQ(weft_pool_wait_work(staged, weft_work_self(), NULL, limit), -EDEADLK);
    CHECK_EQ(weft_pool_help_work(staged, weft_work_self(), NULL, limit), -EDEADLK);
    return count_run(NULL);
}

static void help_until_over(weft_work work) {
    int status = weft_pool_help_work(staged, work, NULL, weft_after(PATIENCE_NS));
    CHECK(status == 0 || status == -ESTALE);
}

/* A work that helped until its own end waited for ever. */
TEST(a_work_cannot_help_until_its_own_end) {
    static const weft_work_options kinds[] = {{.priority = 0}, {.on_thread_stack = true}, {.long_running = true}};
    mended_new(&(weft_pool_options){.threads = wf_test_workers()});
    for (int i = 0; i < 3; i++)
        CHECK_EQ(weft_pool_submit_with(staged, NULL, &kinds[i], wait_for_itself, NULL), 0);
    staged_settle();
    CHECK_EQ(atomic_load(&runs), 3);
    staged_block();
    help_until_over(staged_submit(wait_for_itself, NULL)); /* run by us, or by a thread that is free */
    staged_end();
}

static weft_work outer;

static int wait_for_the_outer(void *arg) {
    (void)arg;
    CHECK_EQ(weft_pool_wait_work(staged, outer, NULL, weft_after(PATIENCE_NS)), -EDEADLK);
    CHECK_EQ(weft_pool_help_work(staged, outer, NULL, weft_after(PATIENCE_NS)), -EDEADLK);
    return count_run(NULL);
}

static int help_with_the_inner(void *arg) {
    (void)arg;
    outer = weft_work_self();
    help_until_over(staged_submit(wait_for_the_outer, NULL));
    return count_run(NULL);
}

/* The outer one lies below on the stack of the thread that helps, and cannot end before. */
TEST(a_work_cannot_wait_for_one_that_is_below_it_on_the_stack) {
    staged_begin(NULL);
    help_until_over(staged_submit(help_with_the_inner, NULL));
    CHECK_EQ(atomic_load(&runs), 2);
    staged_end();
}
