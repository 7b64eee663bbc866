/* SPDX-License-Identifier: MIT
 *
 * tests/model/model_inject.c - queue/inject.c: every task exactly once, first in first out for each producer, and a
 * length that agrees with the chain.
 *
 * Cases
 *   many    two producers, one with a chain of two; two consumers
 *   length  a consumer that waits by looking at the length only: it must be raised by the time a push has returned
 */
#include "items.h"
#include "queue/inject.h"

#include <string.h>

static struct wf_inject inject;
static struct items_log logs[3];
static _Atomic uint32_t pushed;

static void producer_of_chain(void *unused) {
    (void)unused;
    struct wf_chain chain = {0};
    wf_chain_append(&chain, items_make(0));
    wf_chain_append(&chain, items_make(1));
    wf_inject_push_chain_any(&inject, &chain);
    CHECK(chain.count == 0);
}

static void producer_of_one(void *unused) {
    (void)unused;
    wf_inject_push_any(&inject, items_make(2));
}

static void consumer(void *log) {
    struct wf_chain chain = {0};
    size_t count = wf_inject_pop_any(&inject, 1, &chain);
    CHECK(count == chain.count);
    items_take_chain(log, &chain);
}

static void consumer_of_all(void *log) {
    struct wf_chain chain = {0};
    wf_inject_pop_any(&inject, 1, &chain);
    wf_inject_pop_any(&inject, SIZE_MAX, &chain);
    items_take_chain(log, &chain);
}

static void producer_with_flag(void *unused) {
    (void)unused;
    wf_inject_push_any(&inject, items_make(0));
    wf_store_release(&pushed, 1);
}

static void consumer_with_flag(void *log) {
    if (!wf_load_acquire(&pushed))
        return;
    CHECK(!wf_inject_is_empty_any(&inject));
    consumer(log);
}

void model_main(void) {
    int made = 3;
    if (strcmp(model_case(), "many") == 0) {
        model_start(producer_of_chain, NULL);
        model_start(producer_of_one, NULL);
        model_start(consumer, &logs[0]);
        model_start(consumer_of_all, &logs[1]);
    } else {
        made = 1;
        model_start(producer_with_flag, NULL);
        model_start(consumer_with_flag, &logs[0]);
    }
    model_join_all();
    consumer_of_all(&logs[2]);
    CHECK(wf_inject_is_empty_any(&inject));
    CHECK(inject.chain.count == 0);
    items_check_all(logs, 3, made);
    for (int i = 0; i < 3; i++)
        items_check_order(&logs[i], 0, 1);
}
