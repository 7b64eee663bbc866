/* SPDX-License-Identifier: MIT
 *
 * examples/ticker.c - timers: a ticker that does not drift, a time-out, a function that stops its own timer.
 *
 *     ticker [TICKS]
 *
 * One timer ticks every millisecond and is waited for together with a time-out, in one select. Another calls a function
 * until that has had enough.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <weft.h>

struct countdown {
    weft_timer timer;
    int left; /* the function runs once at a time */
    atomic_bool is_over;
};

static void *count_down(void *arg) {
    struct countdown *countdown = arg;
    if (--countdown->left > 0)
        return NULL;
    weft_timer_stop(countdown->timer);
    atomic_store(&countdown->is_over, true);
    return NULL;
}

static int app(void *arg) {
    uint64_t wanted = *(uint64_t *)arg;
    weft_timer ticks, limit;
    weft_time start = weft_now();
    if (weft_timer_start(&ticks, weft_after(WEFT_MILLISECOND), WEFT_MILLISECOND, NULL, NULL) != 0 ||
        weft_timer_start(&limit, weft_after(60 * WEFT_SECOND), 0, NULL, NULL) != 0)
        weft_fatal("no memory for two timers");

    uint64_t count, total = 0;
    weft_case cases[] = {weft_on_timer(ticks, &count), weft_on_timer(limit, NULL)};
    while (total < wanted && weft_select(cases, 2, WEFT_NEVER) == 0)
        total += count; /* more than 1 when this fiber was late: no tick is lost */
    printf("%" PRIu64 " ticks in %d ms\n", total, (int)((weft_now() - start) / WEFT_MILLISECOND));
    if (weft_timer_stop(ticks) != 1 || weft_timer_stop(limit) != 1)
        return 1;

    static struct countdown countdown = {.left = 5};
    if (weft_timer_start(&countdown.timer, WEFT_NOW, WEFT_MILLISECOND, count_down, &countdown) != 0)
        weft_fatal("no memory for a timer");
    while (!atomic_load(&countdown.is_over))
        weft_sleep(weft_after(WEFT_MILLISECOND));
    printf("the countdown has ended\n");
    return total >= wanted && weft_timer_stop(countdown.timer) == -ESTALE ? 0 : 1;
}

int main(int argc, char **argv) {
    uint64_t ticks = argc > 1 ? strtoull(argv[1], NULL, 10) : 20;
    return weft_run(NULL, app, &ticks);
}
