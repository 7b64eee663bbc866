/* SPDX-License-Identifier: MIT
 *
 * unit/os/os_test.c - the seam to the system: sleeping on words, memory, the poller, threads, signals, names.
 *
 * What ends the process is done in a forked child. Deadlines are checked for being early, never for being late.
 */
#include "base/atomic.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/memory.h"
#include "os/poll.h"
#include "os/report.h"
#include "os/signal.h"
#include "os/thread.h"
#include "support/child.h"
#include "support/run.h"

static _Atomic uint32_t word;
static atomic_int woken;

TEST(futex_wait_returns_at_once_when_the_word_has_changed) {
    wf_store_relaxed(&word, 1);
    CHECK_EQ(wf_os_futex_wait(&word, 0, WF_NEVER), 0);
}

TEST(futex_wait_times_out_at_its_deadline_and_not_before) {
    const int64_t distances[] = {-WEFT_SECOND, 0, 1, WEFT_MILLISECOND, 3 * WEFT_MILLISECOND};
    wf_store_relaxed(&word, 0);
    for (size_t i = 0; i < sizeof distances / sizeof distances[0]; i++) {
        int64_t deadline = wf_os_now() + distances[i];
        int status;
        while ((status = wf_os_futex_wait(&word, 0, deadline)) == -EINTR)
            continue;
        CHECK_EQ(status, -ETIMEDOUT);
        CHECK_GE(wf_os_now(), deadline);
    }
    CHECK_EQ(wf_os_futex_wait(&word, 0, -1), -ETIMEDOUT);
    CHECK_EQ(wf_os_futex_wait(&word, 0, INT64_MIN), -ETIMEDOUT);
}

static void *wait_for_word(void *arg) {
    while (wf_load_acquire(&word) == 0)
        wf_os_futex_wait(&word, 0, WF_NEVER);
    atomic_fetch_add(&woken, 1);
    return arg;
}

TEST(futex_wake_wakes_the_sleepers_of_the_word) {
    pthread_t threads[4];
    wf_store_relaxed(&word, 0);
    atomic_store(&woken, 0);
    for (int i = 0; i < 4; i++)
        threads[i] = thread_start(wait_for_word, NULL);
    wf_store_release(&word, 1);
    wf_os_futex_wake(&word, 4);
    for (int i = 0; i < 4; i++)
        thread_join(threads[i]);
    CHECK_EQ(atomic_load(&woken), 4);
}

TEST(blocks_are_zero_aligned_and_counted) {
    int64_t before = wf_os_live_blocks();
    unsigned char *block = wf_os_alloc(1000);
    for (int i = 0; i < 1000; i++)
        CHECK_EQ(block[i], 0);
    for (size_t alignment = 8; alignment <= 4096; alignment *= 2) {
        unsigned char *aligned = wf_os_alloc_aligned(alignment, 100);
        CHECK_EQ((uintptr_t)aligned % alignment, 0);
        CHECK_EQ(aligned[99], 0);
        CHECK_EQ(wf_os_live_blocks(), before + 2);
        wf_os_free(aligned);
    }
    wf_os_free(block);
    wf_os_free(NULL);
    CHECK_EQ(wf_os_live_blocks(), before);
}

TEST(mappings_are_zero_counted_and_discarded_to_zero) {
    size_t page = wf_os_page_size();
    int64_t before = wf_os_mapped_bytes();
    void *base;
    CHECK_EQ(wf_os_map(64 * page, &base), 0);
    CHECK_EQ(wf_os_mapped_bytes(), before + (int64_t)(64 * page));
    char *bytes = base;
    CHECK_EQ(wf_os_first_resident(base, 64 * page), 64 * page);
    bytes[40 * page] = 1;
    CHECK_EQ(wf_os_first_resident(base, 64 * page), 40 * page);
    CHECK_EQ(wf_os_discard(base, 64 * page), 0);
    CHECK_EQ(bytes[40 * page], 0);
    wf_os_unmap(base, 64 * page);
    CHECK_EQ(wf_os_mapped_bytes(), before);
    CHECK_EQ(wf_os_map((size_t)1 << 60, &base), -ENOMEM);
}

static void touch_guard(void *opaque) {
    enum wf_guard kind = *(enum wf_guard *)opaque;
    size_t page = wf_os_page_size();
    void *base;
    signal(SIGSEGV, SIG_DFL);
    CHECK_EQ(wf_os_map(4 * page, &base), 0);
    CHECK_EQ(wf_os_guard_install(base, 2 * page, kind), 0);
    ((volatile char *)base)[2 * page] = 1; /* beside it all is well */
    CHECK_EQ(wf_os_discard((char *)base + 2 * page, page), 0);
    ((volatile char *)base)[page] = 1;
}

TEST(a_guard_faults) {
    enum wf_guard kinds[] = {wf_os_guard_probe(), WF_GUARD_PROTECT};
    for (int i = 0; i < 2; i++) {
        struct child_end end = child_run(touch_guard, &kinds[i]);
        CHECK(WIFSIGNALED(end.status));
        CHECK_EQ(WTERMSIG(end.status), SIGSEGV);
    }
    enum wf_guard none = WF_GUARD_NONE;
    struct child_end end = child_run(touch_guard, &none);
    CHECK_CHILD_WELL(&end);
}

TEST(a_poll_wake_before_the_wait_ends_it_at_once_and_only_once) {
    struct wf_os_poll poll;
    CHECK_EQ(wf_os_poll_open(&poll), 0);
    for (int i = 0; i < 5; i++) {
        wf_os_poll_wake(&poll);
        wf_os_poll_wake(&poll);
        wf_os_poll_wait(&poll, WF_NEVER);
        int64_t deadline = wf_os_now() + 200000;
        wf_os_poll_wait(&poll, deadline);
        CHECK_GE(wf_os_now(), deadline); /* the wakes were used up */
    }
    wf_os_poll_wait(&poll, 0);
    wf_os_poll_wait(&poll, -1);
    wf_os_poll_wait(&poll, INT64_MIN);
    wf_os_poll_close(&poll);
}

static void *wake_poll(void *opaque) {
    wf_os_poll_wake(opaque);
    return NULL;
}

TEST(a_poll_wake_from_another_thread_ends_the_wait) {
    struct wf_os_poll poll;
    CHECK_EQ(wf_os_poll_open(&poll), 0);
    for (int i = 0; i < 20; i++) {
        pthread_t thread = thread_start(wake_poll, &poll);
        wf_os_poll_wait(&poll, WF_NEVER);
        thread_join(thread);
    }
    wf_os_poll_close(&poll);
}

static char thread_name[16];
static int64_t thread_id;
static int *thread_errno;

static void note_thread(void *arg) {
    (void)arg;
    pthread_getname_np(pthread_self(), thread_name, sizeof thread_name);
    thread_id = wf_os_thread_id();
    thread_errno = wf_os_errno_location();
    wf_os_thread_exact_timers();
    wf_os_thread_yield();
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    CHECK(sigismember(&blocked, SIGINT));
    CHECK(!sigismember(&blocked, SIGSEGV));
}

TEST(a_thread_has_its_name_its_id_its_errno_and_no_signals) {
    struct wf_os_thread thread;
    CHECK_EQ(wf_os_thread_start(&thread, "a name that is too long", note_thread, NULL), 0);
    wf_os_thread_join(&thread);
    CHECK_TEXT(thread_name, "a name that is ");
    CHECK_NE(thread_id, wf_os_thread_id());
    CHECK(thread_errno != wf_os_errno_location());
    CHECK(wf_os_errno_location() == &errno);
    CHECK_GE(wf_os_processors(), 1);
}

TEST(the_stack_of_a_thread_holds_its_variables) {
    void *low;
    size_t size;
    char here;
    CHECK_EQ(wf_os_thread_stack(&low, &size), 0);
#if !defined(__SANITIZE_ADDRESS__)
    CHECK(&here > (char *)low && &here < (char *)low + size);
#else
    (void)here;
#endif
}

static __attribute__((noinline)) void a_static_function_with_a_name(void) {
    __asm__ volatile("");
}

TEST(names_of_functions_are_found_also_of_static_ones) {
    char name[64];
    a_static_function_with_a_name();
    wf_symbol_name((const void *)(uintptr_t)a_static_function_with_a_name, name, sizeof name);
    CHECK_TEXT(name, "a_static_function_with_a_name");
    wf_symbol_name((const void *)(uintptr_t)wf_symbol_name, name, 10);
    CHECK_TEXT(name, "wf_symbol");
    wf_symbol_name((const void *)8, name, sizeof name);
    CHECK_TEXT(name, "0x8");
}

static void report_words(void *arg) {
    (void)arg;
    wf_report("%s %d", "words", 5);
    wf_report("%0600d", 1);
    a_static_function_with_a_name();
    wf_report_backtrace(2);
    wf_fatal("the %s", "end");
}

TEST(reports_are_lines_on_standard_error_and_fatal_aborts) {
    struct child_end end = child_run(report_words, NULL);
    CHECK_CHILD_FATAL(&end, "weft: fatal: the end\n");
    CHECK(strstr(end.text, "weft: words 5\n") != NULL);
    CHECK(strstr(end.text, "#1 ") != NULL);
    CHECK(strstr(end.text, "left out") != NULL);
}

static char altstack[WF_ALTSTACK_SIZE];

static void *install_altstack(void *arg) {
    bool was_installed = false, again = true;
    wf_os_altstack_remove();
    CHECK_EQ(wf_os_altstack_install(altstack, &was_installed), 0);
    CHECK(was_installed);
    CHECK_EQ(wf_os_altstack_install(altstack, &again), 0);
    CHECK(!again); /* the one that is there stays */
    wf_os_altstack_remove();
    return arg;
}

TEST(an_alternate_stack_is_installed_once) {
    thread_join(thread_start(install_altstack, NULL));
}

static int handled;

static bool handle_nothing(int number, siginfo_t *info, void *context) {
    (void)info;
    (void)context;
    handled = number;
    return false;
}

static void program_handler(int number, siginfo_t *info, void *context) {
    (void)context;
    _exit(number == SIGSEGV && handled == SIGSEGV && info->si_addr == (void *)16 ? 33 : 34);
}

static void simple_handler(int number) {
    _exit(number == SIGSEGV && handled == SIGSEGV ? 33 : 34);
}

static int *volatile bad_address = (int *)16;

static void fault_with_handler(void *opaque) {
    int kind = *(int *)opaque;
    struct sigaction own = {0};
    if (kind == 0) {
        own.sa_sigaction = program_handler;
        own.sa_flags = SA_SIGINFO;
    } else {
        own.sa_handler = kind == 1 ? simple_handler : SIG_DFL;
    }
    CHECK_EQ(sigaction(SIGSEGV, &own, NULL), 0);
    CHECK_EQ(wf_os_faults_install(handle_nothing, true), 0);
    CHECK_EQ(wf_os_faults_install(handle_nothing, false), 0);
    wf_os_faults_remove(false);
    *bad_address = 1;
}

TEST(a_fault_that_is_not_ours_goes_to_the_handler_of_the_program) {
    for (int kind = 0; kind < 2; kind++) {
        struct child_end end = child_run(fault_with_handler, &kind);
        CHECK(WIFEXITED(end.status));
        CHECK_EQ(WEXITSTATUS(end.status), 33);
    }
    int kind = 2; /* none: the default action */
    struct child_end end = child_run(fault_with_handler, &kind);
    CHECK(WIFSIGNALED(end.status));
    CHECK_EQ(WTERMSIG(end.status), SIGSEGV);
}

TEST(the_handlers_of_the_program_come_back_with_the_last_user) {
    struct sigaction before, after;
    sigaction(SIGSEGV, NULL, &before);
    CHECK_EQ(wf_os_faults_install(handle_nothing, false), 0);
    CHECK_EQ(wf_os_faults_install(handle_nothing, true), 0);
    wf_os_faults_remove(true);
    sigaction(SIGSEGV, NULL, &after);
    CHECK(after.sa_sigaction != before.sa_sigaction);
    wf_os_faults_remove(false);
    sigaction(SIGSEGV, NULL, &after);
    CHECK(after.sa_sigaction == before.sa_sigaction);
}
