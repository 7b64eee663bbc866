/* SPDX-License-Identifier: MIT
 *
 * examples/pipeline.c - a pipeline of workers: numbers in, their squares out, in between a crowd of fibers.
 *
 *     pipeline [NUMBERS]
 *
 * One fiber feeds a channel, several take from it and feed the next, the last one adds up. Closing a channel is how a stage
 * says that nothing more comes: the workers find their channel empty and closed, and the last of them to leave, which the wait
 * group tells, closes the next. The buffers are small on purpose: a slow stage holds up those before it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <weft.h>

enum { WORKERS = 8, BUFFER = 16 };

typedef WEFT_CHAN(int64_t) numbers;

struct pipeline {
    int64_t count;
    numbers in, out;
    weft_waitgroup working;
};

static void must(int error, const char *what) {
    if (error)
        weft_fatal("%s: error %d", what, -error);
}

static void *feed(void *arg) {
    struct pipeline *pipeline = arg;
    for (int64_t i = 1; i <= pipeline->count; i++)
        must(WEFT_CHAN_SEND(&pipeline->in, &i, WEFT_NEVER), "cannot send");
    must(WEFT_CHAN_CLOSE(&pipeline->in), "cannot close");
    return NULL;
}

static void *square(void *arg) {
    struct pipeline *pipeline = arg;
    int64_t number;
    while (WEFT_CHAN_RECV(&pipeline->in, &number, WEFT_NEVER) == 0) {
        number *= number;
        must(WEFT_CHAN_SEND(&pipeline->out, &number, WEFT_NEVER), "cannot send");
    }
    weft_waitgroup_done(&pipeline->working);
    return NULL;
}

static void *close_when_done(void *arg) {
    struct pipeline *pipeline = arg;
    must(weft_waitgroup_wait(&pipeline->working, WEFT_NEVER), "cannot wait");
    must(WEFT_CHAN_CLOSE(&pipeline->out), "cannot close");
    return NULL;
}

static int app(void *arg) {
    struct pipeline pipeline = {.count = *(int64_t *)arg, .working = WEFT_WAITGROUP_INIT};
    must(WEFT_CHAN_NEW(&pipeline.in, BUFFER), "cannot make a channel");
    must(WEFT_CHAN_NEW(&pipeline.out, BUFFER), "cannot make a channel");
    weft_waitgroup_add(&pipeline.working, WORKERS);
    weft_fiber closer;
    must(weft_go(feed, &pipeline), "cannot spawn");
    for (int i = 0; i < WORKERS; i++)
        must(weft_go(square, &pipeline), "cannot spawn");
    must(weft_spawn(&closer, close_when_done, &pipeline), "cannot spawn");

    int64_t sum = 0, number;
    while (WEFT_CHAN_RECV(&pipeline.out, &number, WEFT_NEVER) == 0)
        sum += number;
    must(weft_join(closer, NULL, WEFT_NEVER), "cannot join");
    WEFT_CHAN_FREE(&pipeline.in);
    WEFT_CHAN_FREE(&pipeline.out);

    int64_t n = pipeline.count;
    printf("the squares of 1 to %lld add up to %lld\n", (long long)n, (long long)sum);
    return sum == n * (n + 1) * (2 * n + 1) / 6 ? 0 : 1;
}

int main(int argc, char **argv) {
    int64_t count = argc > 1 ? atoll(argv[1]) : 10000;
    if (count < 1 || count > 1000000) {
        fprintf(stderr, "usage: %s [NUMBERS], 1 to 1000000\n", argv[0]);
        return 2;
    }
    return weft_run(NULL, app, &count);
}
