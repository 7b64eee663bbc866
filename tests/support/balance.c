/* SPDX-License-Identifier: MIT
 *
 * support/balance.c - after every test: nothing may be left over.
 *
 * The level before the first test is the level to come back to: threads and open descriptors in every suite, and in
 * those that are linked with the library's test build also blocks and mapped bytes of the runtime. A thread that was
 * joined may still be listed for a moment while the kernel takes it apart, and one that was just started may not have freed
 * what it was started with, so these get a while to go.
 */
#include <dirent.h>
#include <sched.h>
#include <time.h>

#include "support/check.h"
#ifdef WF_TESTING
#include "os/memory.h"
#endif

#if defined(__SANITIZE_THREAD__)
enum { SANITIZER_THREADS = 1 }; /* it may start a thread of its own, at any time */
#else
enum { SANITIZER_THREADS = 0 };
#endif
enum { PATIENCE_SECONDS = 20 };

static int descriptors_before;
static int threads_before;

static int count_entries(const char *path);
static void check_balance(void);
static bool is_settled(void);

__attribute__((constructor)) static void balance_register(void) {
    descriptors_before = count_entries("/proc/self/fd");
    threads_before = count_entries("/proc/self/task");
    wf_test_after_each = check_balance;
}

static int count_entries(const char *path) {
    DIR *folder = opendir(path);
    CHECK(folder != NULL);
    int count = 0;
    struct dirent *entry;
    while ((entry = readdir(folder)))
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

static void check_balance(void) {
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        if (is_settled())
            break;
        sched_yield();
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - start.tv_sec < PATIENCE_SECONDS);
    CHECK_LE(count_entries("/proc/self/task"), threads_before + SANITIZER_THREADS);
    CHECK_EQ(count_entries("/proc/self/fd"), descriptors_before);
#ifdef WF_TESTING
    CHECK_EQ(wf_os_live_blocks(), 0);
    CHECK_EQ(wf_os_mapped_bytes(), 0);
#endif
}

static bool is_settled(void) {
#ifdef WF_TESTING
    if (wf_os_live_blocks() != 0)
        return false;
#endif
    return count_entries("/proc/self/task") <= threads_before + SANITIZER_THREADS;
}
