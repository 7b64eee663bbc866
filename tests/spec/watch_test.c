/* SPDX-License-Identifier: MIT
 *
 * spec/watch_test.c - the laws of watches: what happens is told, in order, once, to whoever waits.
 */
#include "support/child.h"
#include "support/parked.h"
#include "support/scratch.h"

enum { MANY = 200, WATCHERS = 4 };

static weft_watch watch;

static weft_watch open_watch(const char *name, unsigned what, int *id) {
    weft_watch opened;
    CHECK_EQ(weft_watch_open(&opened), 0);
    *id = weft_watch_add(opened, AT(name), what);
    CHECK_GE(*id, 1);
    return opened;
}

/* The next event is of that kind and that name, and comes without waiting. */
static weft_watch_event expect(weft_watch from, int id, unsigned what, const char *name) {
    weft_watch_event event;
    CHECK_EQ(weft_watch_next(from, &event, WEFT_NOW), 0);
    CHECK_EQ(event.id, id);
    CHECK_EQ(event.what, what);
    CHECK_TEXT(event.name, name);
    return event;
}

static void expect_nothing(weft_watch from) {
    weft_watch_event event;
    CHECK_EQ(weft_watch_next(from, &event, WEFT_NOW), -ETIMEDOUT);
}

static void told(void) {
    char longest[256] = {0};
    int id;
    memset(longest, 'n', sizeof longest - 1);
    weft_watch here = open_watch("", 0, &id);
    expect_nothing(here);
    put_file("a", "x");
    expect(here, id, WEFT_WATCH_MADE, "a");
    expect(here, id, WEFT_WATCH_WRITTEN, "a");
    expect(here, id, WEFT_WATCH_CLOSED, "a");
    CHECK_EQ(weft_file_set_mode(AT("a"), 0600), 0);
    expect(here, id, WEFT_WATCH_CHANGED, "a");
    CHECK_EQ(weft_file_rename(AT("a"), AT(longest)), 0);
    weft_watch_event left = expect(here, id, WEFT_WATCH_LEFT, "a");
    weft_watch_event came = expect(here, id, WEFT_WATCH_CAME, longest);
    CHECK(left.cookie != 0 && left.cookie == came.cookie);
    CHECK_EQ(weft_file_remove(AT(longest)), 0);
    CHECK(!expect(here, id, WEFT_WATCH_REMOVED, longest).is_folder);
    CHECK_EQ(weft_folder_make(AT("\xff\n"), 0), 0);
    CHECK(expect(here, id, WEFT_WATCH_MADE, "\xff\n").is_folder);
    expect_nothing(here);
    CHECK_EQ(weft_watch_close(here), 0);
}

TEST(what_happens_in_a_folder_is_told_in_order) {
    run_in_scratch(told);
}

static void asked_for(void) {
    int id, other;
    put_file("file", "");
    weft_watch here = open_watch("", WEFT_WATCH_REMOVED, &id);
    other = weft_watch_add(here, AT("file"), WEFT_WATCH_MOVED | WEFT_WATCH_GONE);
    CHECK(other >= 1 && other != id);
    put_file("x", "y");
    CHECK_EQ(weft_file_rename(AT("file"), AT("elif")), 0);
    expect(here, other, WEFT_WATCH_MOVED, "");
    CHECK_EQ(weft_watch_add(here, AT("elif"), WEFT_WATCH_GONE), other);
    CHECK_EQ(weft_file_remove(AT("elif")), 0);
    weft_watch_event event = expect(here, other, WEFT_WATCH_GONE, "");
    CHECK_EQ(event.cookie, 0);
    expect(here, other, WEFT_WATCH_ENDED, "");
    expect(here, id, WEFT_WATCH_REMOVED, "elif");
    CHECK_EQ(weft_watch_remove(here, other), -EINVAL);
    CHECK_EQ(weft_watch_remove(here, id), 0);
    expect(here, id, WEFT_WATCH_ENDED, "");
    CHECK_EQ(weft_file_remove(AT("x")), 0);
    expect_nothing(here);
    CHECK_EQ(weft_watch_close(here), 0);
}

TEST(only_what_was_asked_for_is_told_and_the_end_of_it) {
    run_in_scratch(asked_for);
}

static void wrong_watches(void) {
    weft_watch_event event = {.id = 7};
    weft_watch opened, none = {WEFT_NO_FD};
    CHECK_EQ(weft_watch_open(NULL), -EINVAL);
    CHECK_EQ(weft_watch_open(&opened), 0);
    CHECK_EQ(weft_watch_add(opened, AT("not"), 0), -ENOENT);
    CHECK_EQ(weft_watch_add(opened, NULL, 0), -EINVAL);
    CHECK_EQ(weft_watch_add(opened, scratch, WEFT_WATCH_ENDED), -EINVAL);
    CHECK_EQ(weft_watch_add(opened, scratch, 512), -EINVAL);
    CHECK_EQ(weft_watch_remove(opened, 1), -EINVAL);
    CHECK_EQ(weft_watch_next(opened, NULL, WEFT_NOW), -EINVAL);
    CHECK_EQ(weft_watch_next(opened, &event, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    CHECK_EQ(weft_watch_close(opened), 0);
    for (int i = 0; i < 2; i++) {
        weft_watch bad = i ? none : opened;
        CHECK_EQ(weft_watch_add(bad, scratch, 0), -EBADF);
        CHECK_EQ(weft_watch_remove(bad, 1), -EBADF);
        CHECK_EQ(weft_watch_next(bad, &event, WEFT_NEVER), -EBADF);
        CHECK_EQ(weft_watch_close(bad), -EBADF);
    }
    CHECK_EQ(event.id, 7);
}

TEST(a_watch_that_is_not_open_and_paths_that_are_not_there_are_refused) {
    run_in_scratch(wrong_watches);
}

static void *wait_next(void *arg) {
    weft_watch_event event;
    int status = weft_watch_next(watch, &event, WEFT_NEVER);
    if (status == 0)
        CHECK_TEXT(event.name, "late");
    return arg ? (void *)(intptr_t)status : NULL;
}

static void waited(void) {
    int id;
    watch = open_watch("", WEFT_WATCH_MADE, &id);
    weft_fiber fiber = spawn_parked(wait_next, NULL);
    put_file("late", "");
    JOIN(fiber, NULL);

    void *status;
    weft_fiber fibers[WATCHERS];
    for (int i = 0; i < WATCHERS; i++)
        fibers[i] = spawn_parked(wait_next, &watch);
    CHECK_EQ(weft_watch_close(watch), 0);
    for (int i = 0; i < WATCHERS; i++) {
        JOIN(fibers[i], &status);
        CHECK_EQ((intptr_t)status, -EBADF);
    }
}

TEST(waiting_ends_with_news_and_with_the_close) {
    run_in_scratch(waited);
}

static int wait_cancelled(void *arg) {
    weft_watch_event event;
    atomic_store((atomic_int *)arg, 1);
    CHECK_EQ(weft_watch_next(watch, &event, WEFT_NEVER), -ECANCELED);
    CHECK_EQ(weft_watch_add(watch, scratch, 0), -ECANCELED);
    CHECK_EQ(weft_watch_remove(watch, 1), -ECANCELED);
    return 0;
}

static void cancelled(void) {
    atomic_int is_there = 0;
    weft_scope *scope;
    int id;
    watch = open_watch("", WEFT_WATCH_MADE, &id);
    CHECK_EQ(weft_scope_open(&scope, NULL), 0);
    CHECK_EQ(weft_scope_go(scope, wait_cancelled, &is_there), 0);
    WAIT_UNTIL(atomic_load(&is_there));
    CHECK_EQ(weft_scope_cancel(scope, 0, NULL), 0);
    CHECK_EQ(weft_scope_close(scope), -ECANCELED);
    CHECK_EQ(weft_watch_close(watch), 0);
}

TEST(waiting_ends_with_a_cancellation) {
    run_in_scratch(cancelled);
}

/* Several take events of different lengths from one watch: each is told once, none is lost. */
static atomic_int seen[MANY];
static atomic_int seen_count;

static void *take_events(void *arg) {
    weft_watch_event event;
    int status;
    while ((status = weft_watch_next(watch, &event, WEFT_NEVER)) == 0) {
        CHECK_EQ(event.what, WEFT_WATCH_MADE);
        atomic_fetch_add(&seen[atoi(event.name)], 1);
        atomic_fetch_add(&seen_count, 1);
    }
    CHECK_EQ(status, -EBADF);
    return arg;
}

static void shared_watch(void) {
    weft_fiber fibers[WATCHERS];
    char name[200];
    int id;
    watch = open_watch("", WEFT_WATCH_MADE, &id);
    for (int i = 0; i < WATCHERS; i++)
        SPAWN(&fibers[i], take_events, NULL);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "%0*d", 1 + i % 160, i);
        CHECK_EQ(symlink("x", AT(name)), 0);
    }
    WAIT_UNTIL(atomic_load(&seen_count) == MANY);
    CHECK_EQ(weft_watch_close(watch), 0);
    for (int i = 0; i < WATCHERS; i++)
        JOIN(fibers[i], NULL);
    for (int i = 0; i < MANY; i++)
        CHECK_EQ(atomic_load(&seen[i]), 1);
}

TEST(each_event_is_told_to_one_of_those_who_wait) {
    run_in_scratch(shared_watch);
}

static void *make_late(void *arg) {
    put_file("late", "");
    return arg;
}

static void selected(void) {
    weft_fiber fiber;
    int id;
    weft_watch here = open_watch("", WEFT_WATCH_MADE, &id);
    weft_case cases[] = {weft_on_time(weft_after(WEFT_MILLISECOND)), weft_on_readable(here.fd)};
    CHECK_EQ(weft_select(cases, 2, WEFT_NEVER), 0);
    SPAWN(&fiber, make_late, NULL);
    cases[0] = weft_on_time(weft_after(PATIENCE_NS));
    CHECK_EQ(weft_select(cases, 2, WEFT_NEVER), 1);
    CHECK_EQ(cases[1].status, 0);
    expect(here, id, WEFT_WATCH_MADE, "late");
    JOIN(fiber, NULL);
    CHECK_EQ(weft_watch_close(here), 0);
}

TEST(a_watch_is_a_case_of_select) {
    run_in_scratch(selected);
}

/* In a process of its own: the thread that waits for plain threads stays. */
static void *wait_plainly(void *arg) {
    weft_watch_event event;
    CHECK_EQ(weft_watch_next(watch, &event, weft_after(PATIENCE_NS)), 0);
    CHECK_TEXT(event.name, "late");
    return arg;
}

static void plain_child(void *arg) {
    int id;
    (void)arg;
    watch = open_watch("", WEFT_WATCH_MADE, &id);
    pthread_t thread = thread_start(wait_plainly, NULL);
    put_file("late", "");
    thread_join(thread);
    CHECK_EQ(weft_watch_close(watch), 0);
}

TEST(a_plain_thread_waits_without_a_runtime) {
    scratch_begin();
    struct child_end end = child_run(plain_child, NULL);
    CHECK_CHILD_WELL(&end);
    scratch_end();
}
