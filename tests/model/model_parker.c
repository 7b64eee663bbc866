/* SPDX-License-Identifier: MIT
 *
 * tests/model/model_parker.c - queue/parker.c: no token is lost, and a consumed token shows what its unparkers wrote.
 *
 * Two unparkers publish a relaxed flag each and then unpark; the sleeper sleeps until it sees both flags. A lost token, or
 * one that does not carry the flag with it, leaves it asleep for ever, which the explorer reports as a deadlock.
 *
 * Cases
 *   futex     sleeps on the word; a sleep may end for no reason once
 *   poll      sleeps in a stand-in for epoll, woken by a stand-in for an eventfd
 *   mixed     polls first, then sleeps on the word, so that a late eventfd write meets the other kind of sleep
 *   deadline  the first sleep may time out; a token that comes at that moment must not be lost
 *   free      the sleeper frees the parker as soon as it has the token
 */
#include "model.h"
#include "os/futex.h"
#include "os/memory.h"
#include "queue/parker.h"

#include <string.h>

static struct wf_parker parker;
static struct wf_parker *heap_parker;
static _Atomic uint32_t flag[2], eventfd;
static int64_t body;

static void epoll_wait_and_drain(void) {
    while (wf_exchange_seq_cst(&eventfd, 0) == 0)
        wf_os_futex_wait(&eventfd, 0, INT64_MAX);
}

static void unparker(void *mine) {
    wf_store_relaxed((_Atomic uint32_t *)mine, 1);
    if (wf_parker_unpark(&parker)) {
        wf_store_seq_cst(&eventfd, 1);
        wf_os_futex_wake(&eventfd, 1);
    }
}

static bool sees_both(void) {
    return wf_load_relaxed(&flag[0]) && wf_load_relaxed(&flag[1]);
}

static void poll_once(void) {
    if (!wf_parker_poll_begin(&parker))
        return;
    epoll_wait_and_drain();
    wf_parker_poll_end(&parker);
}

static void sleeper_futex(void *unused) {
    (void)unused;
    while (!sees_both())
        CHECK(wf_parker_park(&parker, INT64_MAX));
}

static void sleeper_poll(void *unused) {
    (void)unused;
    while (!sees_both())
        poll_once();
}

static void sleeper_mixed(void *unused) {
    if (!sees_both())
        poll_once();
    sleeper_futex(unused);
}

static void sleeper_deadline(void *unused) {
    if (!sees_both() && !wf_parker_park(&parker, 1))
        CHECK(wf_load_relaxed(&parker.word) != WF_PARKER_PARKED);
    sleeper_futex(unused);
}

static void sleeper_free(void *unused) {
    (void)unused;
    CHECK(wf_parker_park(heap_parker, INT64_MAX));
    CHECK(body == 7);
    wf_os_free(heap_parker);
}

static void unparker_free(void *unused) {
    (void)unused;
    body = 7;
    CHECK(!wf_parker_unpark(heap_parker));
}

void model_main(void) {
    const char *name = model_case();
    if (strcmp(name, "free") == 0) {
        heap_parker = wf_os_alloc(sizeof *heap_parker);
        model_start(sleeper_free, NULL);
        model_start(unparker_free, NULL);
        model_join_all();
        return;
    }
    wf_parker_init(&parker);
    if (strcmp(name, "futex") == 0)
        model_allow_spurious_wakes(1);
    void (*sleeper)(void *) = strcmp(name, "poll") == 0       ? sleeper_poll
                              : strcmp(name, "mixed") == 0    ? sleeper_mixed
                              : strcmp(name, "deadline") == 0 ? sleeper_deadline
                                                              : sleeper_futex;
    model_start(sleeper, NULL);
    model_start(unparker, &flag[0]);
    model_start(unparker, &flag[1]);
    model_join_all();
}
