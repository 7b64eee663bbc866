/* SPDX-License-Identifier: MIT
 *
 * unit/os/policy_test.c - where and how the kernel runs a thread: lists of processors, niceness, priority, and the way back.
 *
 * All of it is tried on threads of the test's own. What the system does not allow is -EPERM, and then nothing may have
 * changed; every call is also made to fail.
 */
#include <sys/resource.h>

#include "os/fault.h"
#include "os/thread.h"
#include "support/run.h"

static int first_cpu(void) {
    cpu_set_t set;
    int cpu = 0;
    CHECK_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    while (!CPU_ISSET(cpu, &set))
        cpu++;
    return cpu;
}

struct manner {
    int nice;
    int policy;
    int priority;
    cpu_set_t cpus;
};

static struct manner manner_now(void) {
    struct manner manner;
    struct sched_param param;
    memset(&manner, 0, sizeof manner);
    manner.nice = getpriority(PRIO_PROCESS, (id_t)wf_os_thread_id());
    CHECK_EQ(pthread_getschedparam(pthread_self(), &manner.policy, &param), 0);
    manner.priority = param.sched_priority;
    CHECK_EQ(sched_getaffinity(0, sizeof manner.cpus, &manner.cpus), 0);
    return manner;
}

static bool is_same(const struct manner *left, const struct manner *right) {
    return left->nice == right->nice && left->policy == right->policy && left->priority == right->priority &&
           CPU_EQUAL(&left->cpus, &right->cpus);
}

TEST(lists_of_processors_are_read_or_refused) {
    static const char *const right[] = {"0", "0-3", "0-3,8", "8,0-3", "1,1,1", "1023", "0-1023", "007"};
    static const char *const wrong[] = {"",
                                        " ",
                                        "-",
                                        "a",
                                        "0-",
                                        "-0",
                                        "0,",
                                        ",0",
                                        "0--1",
                                        "3-2",
                                        "1024",
                                        "0 ",
                                        " 0",
                                        "0;1",
                                        "0-1-2",
                                        "0x1",
                                        "+1",
                                        "1,+2",
                                        "99999999999999999999999"};
    CHECK_EQ(wf_os_cpus_check(NULL), 0);
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++)
        CHECK_EQ(wf_os_cpus_check(right[i]), 0);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        CHECK_EQ(wf_os_cpus_check(wrong[i]), -EINVAL);
}

static void *set_and_restore(void *arg) {
    char cpus[16];
    struct wf_os_thread_policy before;
    struct manner first = manner_now();
    int cpu = first_cpu();
    snprintf(cpus, sizeof cpus, "%d", cpu);
    CHECK_EQ(wf_os_thread_policy_set(&before, NULL, 0, 0), 0); /* nothing is nothing */
    struct manner now = manner_now();
    CHECK(is_same(&first, &now));
    CHECK_EQ(wf_os_thread_policy_restore(&before), 0);
    CHECK_EQ(wf_os_thread_policy_set(&before, cpus, 0, 0), 0);
    now = manner_now();
    CHECK_EQ(CPU_COUNT(&now.cpus), 1);
    CHECK(CPU_ISSET(cpu, &now.cpus));
    CHECK_EQ(wf_os_thread_policy_restore(&before), 0);
    now = manner_now();
    CHECK(is_same(&first, &now));
    return arg;
}

TEST(processors_of_a_thread_are_set_and_restored) {
    thread_join(thread_start(set_and_restore, NULL));
}

static void *set_nice_and_restore(void *arg) {
    struct wf_os_thread_policy before;
    struct manner first = manner_now();
    CHECK_EQ(wf_os_thread_policy_set(&before, NULL, 6, 0), 0); /* everybody may */
    CHECK_EQ(manner_now().nice, 6);
    int error = wf_os_thread_policy_restore(&before);
    CHECK(error == 0 || error == -EPERM);
    CHECK_EQ(manner_now().nice, error ? 6 : first.nice);
    error = wf_os_thread_policy_set(&before, NULL, -20, 0);
    CHECK(error == 0 || error == -EPERM);
    if (!error)
        CHECK_EQ(wf_os_thread_policy_restore(&before), 0);
    return arg;
}

TEST(niceness_of_a_thread_is_set_and_restored_if_the_system_allows_it) {
    int nice = getpriority(PRIO_PROCESS, 0);
    thread_join(thread_start(set_nice_and_restore, NULL));
    CHECK_EQ(getpriority(PRIO_PROCESS, 0), nice); /* other threads have their own */
}

static void *set_real_time_and_restore(void *arg) {
    char cpus[16];
    struct wf_os_thread_policy before;
    struct manner first = manner_now();
    snprintf(cpus, sizeof cpus, "%d", first_cpu());
    int error = wf_os_thread_policy_set(&before, cpus, 0, 7);
    struct manner now = manner_now();
    if (error) {
        CHECK_EQ(error, -EPERM);
        CHECK(is_same(&first, &now)); /* its processors as well */
        return arg;
    }
    CHECK_EQ(now.policy, SCHED_FIFO);
    CHECK_EQ(now.priority, 7);
    CHECK_EQ(wf_os_thread_policy_restore(&before), 0);
    now = manner_now();
    CHECK(is_same(&first, &now));
    return arg;
}

TEST(priority_of_a_thread_is_set_and_restored_if_the_system_allows_it) {
    thread_join(thread_start(set_real_time_and_restore, NULL));
}

/* Whatever fails, the thread is what it was, unless the way back itself fails. */
static void *fail_at_every_call(void *arg) {
    char cpus[16];
    struct wf_os_thread_policy before;
    struct manner first = manner_now();
    snprintf(cpus, sizeof cpus, "%d", first_cpu());
    for (long nth = 1; nth <= 3; nth++) {
        wf_fault_order(WF_CALL_POLICY, nth, EPERM, 0);
        CHECK_EQ(wf_os_thread_policy_set(&before, cpus, 5, 9), -EPERM); /* by itself where real time is not allowed */
        struct manner now = manner_now();
        bool has_come_back = wf_fault_calls(WF_CALL_POLICY) > nth; /* not if it was that call which failed */
        CHECK(is_same(&first, &now) || !has_come_back);
        if (!has_come_back)
            CHECK_EQ(wf_os_thread_policy_restore(&before), 0);
    }
    wf_fault_order(WF_CALL_POLICY, 2, EPERM, 0);
    CHECK_EQ(wf_os_thread_policy_set(&before, cpus, 0, 0), 0);
    CHECK_EQ(wf_os_thread_policy_restore(&before), -EPERM);
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
    CHECK_EQ(wf_os_thread_policy_restore(&before), 0);
    CHECK_EQ(wf_os_thread_policy_set(&before, "0-1-2", 0, 0), -EINVAL);
    return arg;
}

TEST(a_policy_that_cannot_be_had_changes_nothing) {
    thread_join(thread_start(fail_at_every_call, NULL));
}
