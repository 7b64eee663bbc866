/* SPDX-License-Identifier: MIT
 *
 * fault/sweep_test.c - every system call fails once, at every place, with every error that it can have.
 *
 * A workload that uses most of the runtime is run again and again; in run n the n-th call of one kind fails, until a run
 * passes in which none did; then once more with all calls failing from the n-th on. Each run is a forked child with a time
 * limit: it has to end by itself, with an error that the contract names or with the right result, and without a block,
 * a mapped byte or a descriptor left over.
 */
#include <dirent.h>

#include "os/fault.h"
#include "os/memory.h"
#include "support/child.h"
#include "support/run.h"
#include "weft/local.h"

enum { WORKERS = 2, FIBERS = 12, NTH_MAX = 400 };

struct sweep {
    enum wf_system_call call;
    int error;
    bool every;
    long points;
};

static weft_key key;

static void release(void *value) {
    (void)value;
}

/* Whatever may fail for want of memory does so with -ENOMEM, and only that way. */
static bool succeeded(int status) {
    CHECK(status == 0 || status == -ENOMEM || status == -EAGAIN);
    return status == 0;
}

static void *work(void *arg) {
    long n = (long)(intptr_t)arg;
    succeeded(weft_local_set(key, &key));
    succeeded(weft_defer(release, NULL));
    CHECK_EQ(weft_set_name("worker of the sweep"), 0);
    weft_yield();
    succeeded(weft_sleep(weft_after(n * 20 * WEFT_MICROSECOND)));
    if (n % 3 == 0)
        weft_panic("fiber %ld", n);
    return arg;
}

static void join_all(const weft_fiber *fibers, const bool *exists) {
    for (int i = 0; i < FIBERS; i++) {
        if (!exists[i])
            continue;
        void *result = NULL;
        int status = weft_join(fibers[i], &result, weft_after(PATIENCE_NS));
        if (status == -ENOMEM && weft_join(fibers[i], &result, WEFT_NOW) != -ESTALE) /* no timer to be had: no limit */
            status = weft_join(fibers[i], &result, WEFT_NEVER);
        CHECK(status == 0 || status == -ENOMEM || status == -EOWNERDEAD || status == -ESTALE);
        if (status == 0)
            CHECK_EQ((intptr_t)result, i);
    }
}

static int first(void *arg) {
    static const size_t sizes[] = {0, 0, 40 << 10, 1 << 20, 16 << 20};
    weft_fiber fibers[FIBERS];
    bool exists[FIBERS];
    (void)arg;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < FIBERS; i++) {
            weft_spawn_options options = {.stack_size = sizes[i % 5], .name = i % 2 ? "named" : NULL};
            exists[i] = succeeded(weft_spawn_with(&fibers[i], &options, work, (void *)(intptr_t)i));
        }
        join_all(fibers, exists);
        succeeded(weft_sleep(weft_after(100 * WEFT_MICROSECOND)));
    }
    return 21;
}

static bool is_documented(int status) {
    const int errors[] = {-ENOMEM, -EAGAIN, -EINVAL, -EOWNERDEAD};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (status == errors[i])
            return true;
    return status == 21;
}

static int count_descriptors(void) {
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

struct point {
    struct sweep *sweep;
    long nth;
};

enum { END_HIT = 40, END_CLEAN = 41 };

static void run_point(void *opaque) {
    const struct point *point = opaque;
    bool asks_for_processors = point->sweep->call == WF_CALL_AFFINITY;
    weft_options options = {.workers = asks_for_processors ? 0 : WORKERS, .quiet = true};
    unsetenv("WEFT_WORKERS");
    int descriptors = count_descriptors();
    alarm(20);
    CHECK_EQ(weft_key_new(&key, release), 0);
    wf_fault_order(point->sweep->call, point->nth, point->sweep->error, point->sweep->every);
    int status = weft_run(&options, first, NULL);
    long hits = wf_fault_hits();
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
    if (!is_documented(status))
        fprintf(stderr, "weft_run returned %d\n", status);
    CHECK(is_documented(status));
    if (hits == 0)
        CHECK_EQ(status, 21);
    CHECK_EQ(wf_os_live_blocks(), 0);
    CHECK_EQ(wf_os_mapped_bytes(), 0);
    CHECK_EQ(count_descriptors(), descriptors);
    CHECK_EQ(weft_run(&options, first, NULL), 21); /* and it works again */
    _exit(hits ? END_HIT : END_CLEAN);
}

static void sweep_one(struct sweep *sweep, long most) {
    for (long nth = 1; nth <= most; nth++) {
        struct point point = {.sweep = sweep, .nth = nth};
        struct child_end end = child_run(run_point, &point);
        bool is_right =
            WIFEXITED(end.status) && (WEXITSTATUS(end.status) == END_HIT || WEXITSTATUS(end.status) == END_CLEAN);
        if (!is_right)
            fprintf(stderr, "%s call %ld%s, errno %d: status %#x: %s\n", wf_fault_name(sweep->call), nth,
                    sweep->every ? " and all after it" : "", sweep->error, (unsigned)end.status, end.text);
        CHECK(is_right);
        sweep->points++;
        if (WEXITSTATUS(end.status) == END_CLEAN)
            return;
    }
}

static long total_points;

static void sweep(enum wf_system_call call, int error, bool with_every) {
    struct sweep one = {.call = call, .error = error};
    struct sweep every = {.call = call, .error = error, .every = true};
    sweep_one(&one, scaled(NTH_MAX, 8));
    if (with_every)
        sweep_one(&every, scaled(60, 4));
    printf("    %-14s errno %2d: %ld points\n", wf_fault_name(call), error, one.points + every.points);
    total_points += one.points + every.points;
}

TEST(memory_may_be_refused_anywhere) {
    sweep(WF_CALL_ALLOC, ENOMEM, true);
    sweep(WF_CALL_MMAP, ENOMEM, true);
    sweep(WF_CALL_GUARD, ENOMEM, true);
    sweep(WF_CALL_GUARD, EINVAL, true);
    sweep(WF_CALL_GUARD, EAGAIN, true);
    sweep(WF_CALL_DISCARD, EINVAL, true);
    sweep(WF_CALL_DISCARD, EAGAIN, true);
}

TEST(threads_may_be_refused) {
    sweep(WF_CALL_THREAD, EAGAIN, true);
    sweep(WF_CALL_THREAD, ENOMEM, true);
    sweep(WF_CALL_AFFINITY, EINVAL, true);
    sweep(WF_CALL_AFFINITY, ENOMEM, true);
    sweep(WF_CALL_ATFORK, ENOMEM, true);
    sweep(WF_CALL_SIGALTSTACK, ENOMEM, true);
    sweep(WF_CALL_SIGALTSTACK, EINVAL, true);
    sweep(WF_CALL_SIGACTION, EINVAL, true);
}

TEST(descriptors_may_be_refused) {
    sweep(WF_CALL_EPOLL_CREATE, EMFILE, true);
    sweep(WF_CALL_EPOLL_CREATE, ENFILE, true);
    sweep(WF_CALL_EPOLL_CREATE, ENOMEM, true);
    sweep(WF_CALL_EVENTFD, EMFILE, true);
    sweep(WF_CALL_EVENTFD, ENFILE, true);
    sweep(WF_CALL_EVENTFD, ENOMEM, true);
    sweep(WF_CALL_EPOLL_CTL, ENOMEM, true);
    sweep(WF_CALL_EPOLL_CTL, ENOSPC, true);
}

/* A write that is refused for ever would be a broken kernel: it is tried again until it succeeds. */
TEST(waits_may_be_interrupted_anywhere) {
    sweep(WF_CALL_FUTEX_WAIT, EINTR, true);
    sweep(WF_CALL_EPOLL_WAIT, EINTR, true);
    sweep(WF_CALL_EPOLL_WAIT, EINVAL, true);
    sweep(WF_CALL_EVENTFD_WRITE, EINTR, false);
    sweep(WF_CALL_EVENTFD_WRITE, EAGAIN, false);
    sweep(WF_CALL_EVENTFD_READ, EAGAIN, false);
}

TEST(the_sweep_was_a_wide_one) {
    printf("    %ld points in all\n", total_points);
    CHECK_GE(total_points, scaled(400, 60));
}
