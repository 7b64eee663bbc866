/* SPDX-License-Identifier: MIT
 *
 * bench/weft/chan.c - values from fiber to fiber: round trips without a buffer, a stream through one, select.
 *
 * Same work as bench/peers/go/chan.go and bench/peers/fiber/chan.cc; see bench/README.md for what each row means. The
 * first fiber only starts the others and waits for them. Every stream is added up, and the sum checked.
 */
#include <errno.h>

#include "bench.h"

enum { ROUND_TRIPS = 1000000, ELEMENTS = 4000000, SELECTED = 2000000, WARM_UP = 100000 };
enum { BOUND_TRIPS = 20000, BOUND_WARM_UP = 1000 };
enum { CAPACITY = 128, SIDES_MAX = 4, CASES_MAX = 8 };

typedef struct stream {
    weft_chan *chan;
    int64_t first; /* the sender sends first, first + 1, ... */
    int64_t count;
    int64_t sum; /* of what the receiver got */
} stream;

static weft_chan *new_chan(int64_t capacity) {
    weft_chan *chan;
    bench_must(weft_chan_new(&chan, sizeof(int64_t), capacity));
    return chan;
}

static void check_sum(int64_t sum, int64_t n) {
    if (sum != n * (n - 1) / 2)
        weft_fatal("benchmark: the values added up to %lld", (long long)sum);
}

static void *send_all(void *arg) {
    const stream *self = arg;
    for (int64_t i = 0; i < self->count; i++) {
        int64_t value = self->first + i;
        bench_must(weft_chan_send(self->chan, &value, WEFT_NEVER));
    }
    return NULL;
}

static void *receive_until_closed(void *arg) {
    stream *self = arg;
    int64_t value, sum = 0;
    int error;
    while ((error = weft_chan_recv(self->chan, &value, WEFT_NEVER)) == 0)
        sum += value;
    if (error != -EPIPE)
        bench_must(error);
    self->sum = sum;
    return NULL;
}

typedef struct path {
    weft_chan *there;
    weft_chan *back;
    int64_t count;
    int64_t sum;
} path;

static void *ask(void *arg) {
    path *self = arg;
    int64_t sum = 0;
    for (int64_t i = 0; i < self->count; i++) {
        int64_t value = i;
        bench_must(weft_chan_send(self->there, &value, WEFT_NEVER));
        bench_must(weft_chan_recv(self->back, &value, WEFT_NEVER));
        sum += value;
    }
    self->sum = sum;
    return NULL;
}

static void *answer(void *arg) {
    const path *self = arg;
    for (int64_t i = 0; i < self->count; i++) {
        int64_t value;
        bench_must(weft_chan_recv(self->there, &value, WEFT_NEVER));
        bench_must(weft_chan_send(self->back, &value, WEFT_NEVER));
    }
    return NULL;
}

static weft_time round_trips(int64_t n, const weft_spawn_options *answering) {
    path both = {new_chan(0), new_chan(0), n, 0};
    weft_fiber left, right;
    weft_time start = weft_now();
    bench_must(weft_spawn(&left, ask, &both));
    bench_must(weft_spawn_with(&right, answering, answer, &both));
    bench_must(weft_join(left, NULL, WEFT_NEVER));
    bench_must(weft_join(right, NULL, WEFT_NEVER));
    weft_time took = weft_now() - start;
    check_sum(both.sum, n);
    weft_chan_free(both.there);
    weft_chan_free(both.back);
    return took;
}

static void unbuffered(const char *suffix) {
    const weft_spawn_options light = {0};
    round_trips(WARM_UP, &light);
    bench_report("chan.unbuffered", suffix, (double)round_trips(ROUND_TRIPS, &light) / ROUND_TRIPS, "ns");
}

static void bound_round(const char *suffix) {
    const weft_spawn_options bound = {.bound = true};
    round_trips(BOUND_WARM_UP, &bound);
    bench_report("chan.bound_round", suffix, (double)round_trips(BOUND_TRIPS, &bound) / BOUND_TRIPS, "ns");
}

static weft_time pump(int sides, int64_t n) {
    weft_chan *chan = new_chan(CAPACITY);
    stream senders[SIDES_MAX], receivers[SIDES_MAX];
    weft_fiber sending[SIDES_MAX], receiving[SIDES_MAX];
    int64_t share = n / sides, sum = 0;
    weft_time start = weft_now();
    for (int i = 0; i < sides; i++) {
        senders[i] = (stream){chan, i * share, share, 0};
        receivers[i] = (stream){chan, 0, 0, 0};
        bench_must(weft_spawn(&sending[i], send_all, &senders[i]));
        bench_must(weft_spawn(&receiving[i], receive_until_closed, &receivers[i]));
    }
    for (int i = 0; i < sides; i++)
        bench_must(weft_join(sending[i], NULL, WEFT_NEVER));
    bench_must(weft_chan_close(chan));
    for (int i = 0; i < sides; i++) {
        bench_must(weft_join(receiving[i], NULL, WEFT_NEVER));
        sum += receivers[i].sum;
    }
    weft_time took = weft_now() - start;
    check_sum(sum, n);
    weft_chan_free(chan);
    return took;
}

static void buffered(const char *suffix) {
    int sides = suffix && strcmp(suffix, "4to4") == 0 ? 4 : 1;
    pump(sides, WARM_UP);
    bench_report("chan.buffered", suffix, (double)pump(sides, ELEMENTS) / ELEMENTS, "ns");
}

typedef struct selection {
    weft_case cases[CASES_MAX];
    int channels;
    int64_t count;
    int64_t value; /* where every case puts what it received */
    int64_t sum;
} selection;

static void *select_all(void *arg) {
    selection *self = arg;
    int64_t sum = 0;
    for (int64_t i = 0; i < self->count; i++) {
        int which = weft_select(self->cases, self->channels, WEFT_NEVER);
        bench_must(which < 0 ? which : self->cases[which].status);
        sum += self->value;
    }
    self->sum = sum;
    return NULL;
}

static weft_time select_among(int channels, int64_t n) {
    selection chosen = {.channels = channels, .count = n};
    stream senders[CASES_MAX];
    weft_fiber sending[CASES_MAX], selecting;
    int64_t share = n / channels;
    weft_time start = weft_now();
    for (int i = 0; i < channels; i++) {
        senders[i] = (stream){new_chan(0), i * share, share, 0};
        chosen.cases[i] = weft_on_receive(senders[i].chan, &chosen.value);
        bench_must(weft_spawn(&sending[i], send_all, &senders[i]));
    }
    bench_must(weft_spawn(&selecting, select_all, &chosen));
    bench_must(weft_join(selecting, NULL, WEFT_NEVER));
    weft_time took = weft_now() - start;
    check_sum(chosen.sum, n);
    for (int i = 0; i < channels; i++) {
        bench_must(weft_join(sending[i], NULL, WEFT_NEVER));
        weft_chan_free(senders[i].chan);
    }
    return took;
}

static void select_one(const char *suffix) {
    int channels = suffix && strcmp(suffix, "8") == 0 ? 8 : 2;
    select_among(channels, WARM_UP);
    bench_report("select", suffix, (double)select_among(channels, SELECTED) / SELECTED, "ns");
}

static const bench all[] = {
    {"unbuffered", unbuffered},
    {"bound_round", bound_round},
    {"buffered", buffered},
    {"select", select_one},
};

BENCH_MAIN(all)
