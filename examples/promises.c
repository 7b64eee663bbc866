/* SPDX-License-Identifier: MIT
 *
 * examples/promises.c - values that come later: fibers as promises, continuations, combinators, errors.
 *
 *     promises
 *
 * Three "downloads" run at the same time; one of them fails. all gives up with the first failure, all_settled has everything,
 * any is content with what worked. Two continuations follow: one of a value, one of an error.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>

#include <weft.h>

static const int sizes[] = {300, 100, 200};

/* What it returns resolves the promise that weft_async made. */
static void *download(void *arg) {
    intptr_t number = (intptr_t)arg;
    weft_sleep(weft_after(sizes[number] * WEFT_MICROSECOND));
    return (void *)(intptr_t)sizes[number];
}

static void *fail_later(void *arg) {
    weft_promise *promise = arg;
    weft_sleep(weft_after(50 * WEFT_MICROSECOND));
    weft_promise_reject(promise, -EHOSTUNREACH, "no route to the third server");
    weft_promise_unref(promise);
    return NULL;
}

static void *double_it(void *value, void *arg) {
    (void)arg;
    return (void *)((intptr_t)value * 2);
}

static void *use_cache(const weft_outcome *outcome, void *arg) {
    printf("recovered from: %s\n", outcome->text);
    return arg;
}

/* Waits for a promise, gives the reference back, and says what became of it. */
static weft_outcome finish(weft_promise *promise) {
    weft_outcome outcome;
    if (weft_promise_await(promise, &outcome, WEFT_NEVER) != 0)
        weft_fatal("a wait without a limit ended without an outcome");
    weft_promise_unref(promise);
    return outcome;
}

static void must(int error) {
    if (error)
        weft_fatal("out of memory");
}

static int app(void *arg) {
    weft_promise *inputs[3], *all, *settled, *any, *doubled, *cached;
    (void)arg;
    must(weft_async(&inputs[0], download, (void *)0));
    must(weft_async(&inputs[1], download, (void *)1));
    must(weft_promise_new(&inputs[2]));
    must(weft_go(fail_later, weft_promise_ref(inputs[2])));

    must(weft_promise_all(&all, inputs, 3));
    must(weft_promise_all_settled(&settled, inputs, 3));
    must(weft_promise_any(&any, inputs, 3));
    must(weft_promise_then(inputs[0], &doubled, double_it, NULL, NULL));
    must(weft_promise_then(all, &cached, NULL, use_cache, (void *)42));
    for (int i = 0; i < 3; i++)
        weft_promise_unref(inputs[i]);

    printf("all: %s\n", finish(all).text);
    printf("instead: %d\n", (int)(intptr_t)finish(cached).value);
    weft_outcome first = finish(any);
    printf("any: %s\n", first.state == WEFT_PROMISE_RESOLVED ? "one of them worked" : "?");
    printf("doubled: %d\n", (int)(intptr_t)finish(doubled).value);

    weft_outcome each;
    if (weft_promise_await(settled, &each, WEFT_NEVER) != 0)
        return 1;
    const weft_outcome *list = each.value; /* belongs to the promise */
    for (int i = 0; i < 3; i++)
        printf("%d: %s\n", i, list[i].state == WEFT_PROMISE_RESOLVED ? "resolved" : list[i].text);
    bool is_right = list[0].value == (void *)300 && list[1].value == (void *)100 && list[2].error == -EHOSTUNREACH;
    weft_promise_unref(settled);
    return is_right ? 0 : 1;
}

int main(void) {
    return weft_run(NULL, app, NULL);
}
