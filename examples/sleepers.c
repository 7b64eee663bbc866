/* SPDX-License-Identifier: MIT
 *
 * examples/sleepers.c - many fibers sleep at the same time, and all of them answer.
 *
 *     sleepers [COUNT]
 *
 * Each sleeps for 20 to 60 ms and returns its number. All together take about as long as the longest one, however many
 * there are, because a sleeping fiber holds no thread. Also shown: a deadline that bounds a whole sequence of joins, and
 * a join that is a test.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <weft.h>

static void *sleep_and_answer(void *arg) {
    intptr_t number = (intptr_t)arg;
    if (weft_sleep(weft_after(20 * WEFT_MILLISECOND + number % 40 * WEFT_MILLISECOND)) != 0)
        weft_panic("no memory for a timer");
    return (void *)number;
}

static int app(void *arg) {
    intptr_t count = *(intptr_t *)arg;
    weft_fiber *fibers = calloc((size_t)count, sizeof *fibers);
    if (!fibers)
        return 1;
    weft_time start = weft_now();
    for (intptr_t i = 0; i < count; i++)
        if (weft_spawn(&fibers[i], sleep_and_answer, (void *)i) != 0)
            weft_fatal("cannot spawn fiber %d", (int)i);

    /* Nobody has slept for 20 ms yet, unless this machine is very slow: then the test finds the answer. */
    void *answer;
    int error = weft_join(fibers[0], &answer, WEFT_NOW);
    bool is_joined = error == 0;
    printf("the first one right away: %s\n", is_joined ? "has ended" : error == -ETIMEDOUT ? "still asleep" : "?");

    intptr_t sum = 0;
    weft_time deadline = weft_after(60 * WEFT_SECOND); /* for all of them */
    for (intptr_t i = is_joined ? 1 : 0; i < count; i++) {
        if (weft_join(fibers[i], &answer, deadline) != 0)
            weft_fatal("fiber %d did not answer", (int)i);
        sum += (intptr_t)answer;
    }
    printf("%d fibers slept and answered in %d ms\n", (int)count, (int)((weft_now() - start) / WEFT_MILLISECOND));
    free(fibers);
    return sum == count * (count - 1) / 2 ? 0 : 1;
}

int main(int argc, char **argv) {
    intptr_t count = argc > 1 ? atol(argv[1]) : 500;
    if (count < 1) {
        fprintf(stderr, "usage: %s [COUNT]\n", argv[0]);
        return 2;
    }
    return weft_run(NULL, app, &count);
}
