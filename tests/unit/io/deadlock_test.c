/* SPDX-License-Identifier: MIT
 *
 * unit/io/deadlock_test.c - whoever waits for a descriptor may be woken from outside, so that is no deadlock; a descriptor that
 * is merely open wakes nobody.
 *
 * The silence of the test that expects no report lasts longer than the second within which one is promised; the kernel's
 * timer ends it, since a thread or a timer of the runtime would be a reason of its own not to report.
 */
#include <sys/timerfd.h>

#include "support/io.h"
#include "support/quiet.h"

static weft_fd timer;
static weft_chan *channel;

static void open_timer(int64_t ns) {
    struct itimerspec once = {.it_value = {.tv_sec = ns / WEFT_SECOND, .tv_nsec = ns % WEFT_SECOND}};
    int number = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    CHECK_EQ(timerfd_settime(number, 0, &once, NULL), 0);
    CHECK_EQ(weft_adopt(&timer, number, 0), 0);
}

static void *send_when_read(void *arg) {
    uint64_t value;
    CHECK_EQ(weft_read(timer, &value, sizeof value, WEFT_NEVER), sizeof value);
    CHECK_EQ(weft_chan_send(channel, &value, WEFT_NEVER), 0);
    return arg;
}

static void *send_when_selected(void *arg) {
    weft_case entry = weft_on_readable(timer);
    CHECK_EQ(weft_select(&entry, 1, WEFT_NEVER), 0);
    return send_when_read(arg);
}

static int wait_for_the_timer(void *arg) {
    uint64_t value;
    CHECK_EQ(weft_go(arg ? send_when_selected : send_when_read, NULL), 0);
    return weft_chan_recv(channel, &value, WEFT_NEVER);
}

TEST(nothing_is_reported_while_somebody_waits_for_a_descriptor) {
    CHECK_EQ(weft_chan_new(&channel, sizeof(uint64_t), 0), 0);
    open_timer(1200 * WEFT_MILLISECOND);
    CHECK_EQ(run_quietly(NULL, wait_for_the_timer, channel), 0);
    CHECK_TEXT(text, "");
    CHECK_EQ(weft_close(timer), 0);
    weft_chan_free(channel);
}

/* It was waited for once, so it is watched; and its kernel timer would tell something, in an hour. */
static int wait_for_nobody(void *arg) {
    uint64_t value;
    (void)arg;
    CHECK_EQ(weft_read(timer, &value, sizeof value, weft_after(WEFT_MICROSECOND)), -ETIMEDOUT);
    return weft_chan_recv(channel, &value, WEFT_NEVER);
}

TEST(an_open_descriptor_does_not_hide_a_deadlock) {
    CHECK_EQ(weft_chan_new(&channel, sizeof(uint64_t), 0), 0);
    open_timer(3600 * WEFT_SECOND);
    CHECK_EQ(run_quietly(NULL, wait_for_nobody, NULL), -EDEADLK);
    CHECK(strstr(text, "deadlock: all 1 fibers wait"));
    CHECK_EQ(weft_close(timer), 0);
    weft_chan_free(channel);
}
