/* SPDX-License-Identifier: MIT
 *
 * spec/job_test.cc - jobs in C++: a WEFT_JOB whose block is left by an exception or a panic is taken back or waited for, destructors run on the
 * way, and an exception of a job arrives in its join.
 */
#include <atomic>
#include <stdexcept>

#include "support/check.h"
#include "weft/panic.h"
#include "weft/parallel.h"

namespace {

template <typename Condition> void wait_until(Condition condition) {
    while (!condition())
        weft_yield();
}

struct job_state {
    std::atomic<int> begun{0};
    std::atomic<int> ended{0};
    std::atomic<bool> may_end{false};
};

struct witness {
    std::atomic<int> &count;
    ~witness() { count++; }
};

void run_slowly(void *opaque) {
    job_state *state = static_cast<job_state *>(opaque);
    state->begun++;
    wait_until([=] { return state->may_end.load(); });
    state->ended++;
}

void throw_something(void *opaque) {
    static_cast<job_state *>(opaque)->begun++;
    throw std::runtime_error("from a job");
}

/* Whoever runs the job, it has ended or will never begin when its block has been left. */
void leave_block(job_state &state, bool is_stolen, bool by_panic) {
    WEFT_JOB(job);
    weft_fork(&job, run_slowly, &state);
    if (is_stolen)
        wait_until([&] { return state.begun > 0; });
    state.may_end = true;
    if (by_panic)
        weft_panic("leaving");
    throw std::runtime_error("leaving");
}

void check_left(bool is_stolen) {
    job_state state;
    bool is_caught = false;
    try {
        leave_block(state, is_stolen, false);
    } catch (const std::runtime_error &) {
        is_caught = true;
    }
    CHECK(is_caught);
    CHECK_EQ(state.begun, state.ended);
    CHECK(!is_stolen || state.begun == 1);
}

struct panic_call {
    job_state state;
    bool is_stolen;
    std::atomic<int> destroyed{0};
};

void panic_in_block(void *opaque) {
    panic_call *call = static_cast<panic_call *>(opaque);
    witness here{call->destroyed};
    leave_block(call->state, call->is_stolen, true);
}

void check_panic(bool is_stolen) {
    panic_call call;
    char text[32];
    call.is_stolen = is_stolen;
    CHECK_EQ(weft_try(panic_in_block, &call, text, sizeof text), -EOWNERDEAD);
    CHECK_TEXT(text, "leaving");
    CHECK_EQ(call.destroyed, 1);
    CHECK_EQ(call.state.begun, call.state.ended);
}

void first_throws(void *opaque) {
    (void)opaque;
    throw std::runtime_error("from the first");
}

void check_pair() {
    job_state state;
    bool is_caught = false;
    state.may_end = true;
    try {
        weft_fork_join(first_throws, nullptr, run_slowly, &state);
    } catch (const std::runtime_error &) {
        is_caught = true;
    }
    CHECK(is_caught);
    CHECK_EQ(state.begun, state.ended);
}

void join_thrown(void *opaque) {
    weft_job job;
    weft_fork(&job, throw_something, opaque);
    wait_until([=] { return static_cast<job_state *>(opaque)->begun > 0; });
    weft_join_job(&job);
}

/* On another fiber nobody can catch it: it is a panic, in the join too. */
void check_thrown() {
    job_state state;
    char text[160];
    CHECK_EQ(weft_try(join_thrown, &state, text, sizeof text), -EOWNERDEAD);
    CHECK(strstr(text, "runtime_error") != nullptr);
}

int all_of_it(void *opaque) {
    (void)opaque;
    for (int i = 0; i < 10; i++) {
        check_left(i % 2);
        check_panic(i % 2);
        check_pair();
        check_thrown();
    }
    return 0;
}

TEST(jobs_are_taken_back_by_exceptions_and_panics) {
    weft_pool *pool;
    weft_pool_options options = {};
    weft_work_options stored = {};
    weft_work work;
    weft_result result;
    options.threads = wf_test_workers();
    stored.store_result = true;
    CHECK_EQ(weft_pool_new(&pool, &options), 0);
    CHECK_EQ(weft_pool_submit_with(pool, &work, &stored, all_of_it, nullptr), 0);
    CHECK_EQ(weft_pool_wait_work(pool, work, &result, WEFT_NEVER), 0);
    CHECK_EQ(result.status, WEFT_WORK_SUCCEEDED);
    weft_pool_free(pool);
}

} // namespace
