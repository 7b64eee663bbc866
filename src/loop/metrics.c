/* SPDX-License-Identifier: MIT
 *
 * loop/metrics.c - what a loop measures of itself.
 *
 * The owner writes, anybody reads, under one lock of its own, the last in every order; so a snapshot is of one moment, and
 * the window of the rate moves on in one step, whoever finds that it has to. A loop without metrics has none of this but
 * one look at a null pointer for each callback.
 *
 * Quantiles follow the P-square method of Jain and Chlamtac: five markers whose heights are the least value, the quantile,
 * the middle ones between, and the greatest. Each new value shifts the places of the markers above it; a marker that is a
 * place or more away from where it should be moves by one, and its height along the parabola through its neighbours, or
 * the line where the parabola would leave them.
 *
 * A callback may run a checkpoint inside it (weft_loop_run_checkpoint), and that is all that nests: so two beginnings are
 * enough, one inside a checkpoint and one outside.
 */
#include <errno.h>

#include "loop/loop.h"
#include "os/clock.h"
#include "os/memory.h"

/* A tenth of a second, ten seconds of them. */
enum { RATE_BUCKETS = 100, RATE_BUCKET_NS = 100000000 };
enum { QUANTILES = 4, MARKERS = 5 };

static const double quantiles[QUANTILES] = {0.50, 0.90, 0.95, 0.99};

/* Of one quantile, once there are five values. */
struct estimate {
    double heights[MARKERS];
    double wanted[MARKERS]; /* places, from 1 on */
    int64_t places[MARKERS];
};

struct spread {
    uint64_t count;
    double sum;
    int64_t min;
    int64_t max;
    int64_t few[MARKERS]; /* the first ones, sorted */
    struct estimate estimates[QUANTILES];
};

struct depth {
    uint64_t current;
    uint64_t max;
    double average;
    bool has_value;
};

struct wf_metrics {
    struct wf_lock lock;
    _Atomic uint64_t wakes; /* by whoever wakes */
    /* under lock */
    struct spread callback;
    struct spread delay;
    struct spread turn;
    uint64_t rate[RATE_BUCKETS];
    int64_t rate_bucket; /* number of the newest one, since the clock began */
    int64_t made_at;
    struct depth ingress;
    struct depth internal;
    struct depth microtask;
    uint64_t turns;
    uint64_t panics;
    uint64_t sleeps;
    int64_t idle;
    int64_t active;
    int64_t turn_since;  /* 0: no turn */
    int64_t sleep_since; /* 0: not asleep */
    int64_t turn_idle;   /* of the present turn */
    /* the owner's */
    int64_t begun[2]; /* the callback outside a checkpoint, and that inside one; 0: none */
};

static bool callback_over_locked(struct wf_metrics *metrics, int64_t *begun, int64_t now);
static void rate_move_locked(struct wf_metrics *metrics, int64_t now);
static double rate_of_locked(struct wf_metrics *metrics, int64_t now);
static void depth_add(struct depth *depth, uint64_t value);
static void spread_add(struct spread *spread, int64_t value);
static void spread_add_few(struct spread *spread, int64_t value);
static void estimate_start(struct estimate *estimate, double quantile, const int64_t *few);
static void estimate_add(struct estimate *estimate, double quantile, double value);
static void estimate_adjust(struct estimate *estimate, int i);
static weft_loop_spread spread_copy(const struct spread *spread);
static weft_loop_depth depth_copy(const struct depth *depth);

int wf_metrics_new(struct wf_metrics **out) {
    struct wf_metrics *metrics = wf_os_alloc(sizeof *metrics);
    if (!metrics)
        return -ENOMEM;
    metrics->made_at = wf_os_now();
    metrics->rate_bucket = metrics->made_at / RATE_BUCKET_NS;
    *out = metrics;
    return 0;
}

void wf_metrics_free(struct wf_metrics *metrics) {
    wf_os_free(metrics);
}

void wf_metrics_begin(weft_loop *loop) {
    struct wf_metrics *metrics = loop->metrics;
    metrics->begun[loop->is_in_checkpoint] = wf_os_now();
}

void wf_metrics_end(weft_loop *loop) {
    struct wf_metrics *metrics = loop->metrics;
    int64_t now = wf_os_now();
    wf_lock_take(&metrics->lock);
    if (callback_over_locked(metrics, &metrics->begun[loop->is_in_checkpoint], now)) {
        rate_move_locked(metrics, now);
        metrics->rate[metrics->rate_bucket % RATE_BUCKETS]++;
    }
    if (!loop->is_in_checkpoint) /* what the checkpoint will find */
        depth_add(&metrics->microtask, loop->tracks[WF_TRACK_TICK].count + loop->tracks[WF_TRACK_MICRO].count);
    wf_lock_drop(&metrics->lock);
}

void wf_metrics_panic(weft_loop *loop, bool in_checkpoint) {
    struct wf_metrics *metrics = loop->metrics;
    int64_t now = wf_os_now();
    wf_lock_take(&metrics->lock);
    metrics->panics++;
    callback_over_locked(metrics, &metrics->begun[true], now);
    if (!in_checkpoint)
        callback_over_locked(metrics, &metrics->begun[false], now);
    wf_lock_drop(&metrics->lock);
}

static bool callback_over_locked(struct wf_metrics *metrics, int64_t *begun, int64_t now) {
    int64_t since = *begun;
    *begun = 0;
    if (since)
        spread_add(&metrics->callback, now - since);
    return since != 0;
}

/* Empties the buckets between the newest one and now. A clock that another reader has looked at later is behind: nothing
 * moves back. */
static void rate_move_locked(struct wf_metrics *metrics, int64_t now) {
    int64_t bucket = now / RATE_BUCKET_NS;
    int64_t steps = bucket - metrics->rate_bucket;
    if (steps <= 0)
        return;
    for (int64_t i = 0; i < steps && i < RATE_BUCKETS; i++)
        metrics->rate[(bucket - i) % RATE_BUCKETS] = 0;
    metrics->rate_bucket = bucket;
}

/* Over the time that the buckets stand for: the newest one has only begun. */
static double rate_of_locked(struct wf_metrics *metrics, int64_t now) {
    uint64_t sum = 0;
    rate_move_locked(metrics, now);
    for (int i = 0; i < RATE_BUCKETS; i++)
        sum += metrics->rate[i];
    int64_t window = now - (metrics->rate_bucket - RATE_BUCKETS + 1) * RATE_BUCKET_NS;
    int64_t age = now - metrics->made_at;
    int64_t covered = age < window ? age : window;
    if (covered < RATE_BUCKET_NS)
        covered = RATE_BUCKET_NS;
    return (double)sum * 1e9 / (double)covered;
}

void wf_metrics_turn_begin(weft_loop *loop) {
    struct wf_metrics *metrics = loop->metrics;
    int64_t now = wf_os_now();
    wf_lock_take(&metrics->lock);
    metrics->turns++;
    metrics->turn_since = now;
    metrics->turn_idle = 0;
    wf_lock_drop(&metrics->lock);
}

void wf_metrics_turn_end(weft_loop *loop) {
    struct wf_metrics *metrics = loop->metrics;
    int64_t now = wf_os_now();
    wf_lock_take(&metrics->lock);
    int64_t busy = now - metrics->turn_since - metrics->turn_idle;
    metrics->turn_since = 0;
    metrics->active += busy;
    spread_add(&metrics->turn, busy);
    wf_lock_drop(&metrics->lock);
}

void wf_metrics_sleep(weft_loop *loop) {
    struct wf_metrics *metrics = loop->metrics;
    int64_t now = wf_os_now();
    wf_lock_take(&metrics->lock);
    metrics->sleeps++;
    metrics->sleep_since = now;
    wf_lock_drop(&metrics->lock);
}

void wf_metrics_awake(weft_loop *loop) {
    struct wf_metrics *metrics = loop->metrics;
    int64_t now = wf_os_now();
    wf_lock_take(&metrics->lock);
    metrics->idle += now - metrics->sleep_since;
    metrics->turn_idle += now - metrics->sleep_since;
    metrics->sleep_since = 0;
    wf_lock_drop(&metrics->lock);
}

void wf_metrics_woken(weft_loop *loop) {
    wf_fetch_add_relaxed(&loop->metrics->wakes, 1);
}

void wf_metrics_late_locked(weft_loop *loop, int64_t deadline_ns) {
    struct wf_metrics *metrics = loop->metrics;
    int64_t now = loop->options.virtual_time ? loop->virtual_now : wf_os_now();
    wf_lock_take(&metrics->lock);
    spread_add(&metrics->delay, now - deadline_ns);
    wf_lock_drop(&metrics->lock);
}

static uint64_t ingress_count_locked(const weft_loop *loop) {
    uint64_t count = 0;
    for (int track = 0; track < WF_TRACKS; track++)
        count += loop->ingress[track].count;
    return count;
}

void wf_metrics_ingress_locked(weft_loop *loop) {
    struct wf_metrics *metrics = loop->metrics;
    wf_lock_take(&metrics->lock);
    depth_add(&metrics->ingress, ingress_count_locked(loop));
    wf_lock_drop(&metrics->lock);
}

void wf_metrics_internal(weft_loop *loop) {
    struct wf_metrics *metrics = loop->metrics;
    wf_loop_look(loop);
    wf_lock_take(&metrics->lock);
    depth_add(&metrics->internal, loop->tracks[WF_TRACK_INTERNAL].count);
    wf_lock_drop(&metrics->lock);
}

static void depth_add(struct depth *depth, uint64_t value) {
    depth->current = value;
    if (value > depth->max)
        depth->max = value;
    depth->average = depth->has_value ? 0.9 * depth->average + 0.1 * (double)value : (double)value;
    depth->has_value = true;
}

static void spread_add(struct spread *spread, int64_t value) {
    if (value < 0)
        value = 0;
    if (spread->count == 0 || value < spread->min)
        spread->min = value;
    if (value > spread->max)
        spread->max = value;
    spread->sum += (double)value;
    if (spread->count < MARKERS) {
        spread_add_few(spread, value);
        return;
    }
    spread->count++;
    for (int i = 0; i < QUANTILES; i++)
        estimate_add(&spread->estimates[i], quantiles[i], (double)value);
}

static void spread_add_few(struct spread *spread, int64_t value) {
    int at = (int)spread->count++;
    for (; at > 0 && spread->few[at - 1] > value; at--)
        spread->few[at] = spread->few[at - 1];
    spread->few[at] = value;
    if (spread->count == MARKERS)
        for (int i = 0; i < QUANTILES; i++)
            estimate_start(&spread->estimates[i], quantiles[i], spread->few);
}

static void estimate_start(struct estimate *estimate, double quantile, const int64_t *few) {
    const double wanted[MARKERS] = {1, 1 + 2 * quantile, 1 + 4 * quantile, 3 + 2 * quantile, 5};
    for (int i = 0; i < MARKERS; i++) {
        estimate->heights[i] = (double)few[i];
        estimate->places[i] = i + 1;
        estimate->wanted[i] = wanted[i];
    }
}

static void estimate_add(struct estimate *estimate, double quantile, double value) {
    const double steps[MARKERS] = {0, quantile / 2, quantile, (1 + quantile) / 2, 1};
    double *heights = estimate->heights;
    if (value < heights[0])
        heights[0] = value;
    if (value > heights[MARKERS - 1])
        heights[MARKERS - 1] = value;
    int above = 1; /* the first marker whose place shifts */
    while (above < MARKERS - 1 && value >= heights[above])
        above++;
    for (int i = 0; i < MARKERS; i++) {
        estimate->places[i] += i >= above;
        estimate->wanted[i] += steps[i];
    }
    for (int i = 1; i < MARKERS - 1; i++)
        estimate_adjust(estimate, i);
}

static void estimate_adjust(struct estimate *estimate, int i) {
    double *heights = estimate->heights;
    int64_t *places = estimate->places;
    double off = estimate->wanted[i] - (double)places[i];
    int way = off >= 1 && places[i + 1] - places[i] > 1 ? 1 : off <= -1 && places[i - 1] - places[i] < -1 ? -1 : 0;
    if (way == 0)
        return;
    double below = (double)(places[i] - places[i - 1]);
    double above = (double)(places[i + 1] - places[i]);
    double slope_below = (heights[i] - heights[i - 1]) / below;
    double slope_above = (heights[i + 1] - heights[i]) / above;
    double height = heights[i] + way / (below + above) * ((below + way) * slope_above + (above - way) * slope_below);
    if (height <= heights[i - 1] || height >= heights[i + 1])
        height = heights[i] + (way > 0 ? slope_above : -slope_below);
    heights[i] = height;
    places[i] += way;
}

int weft_loop_get_metrics(weft_loop *loop, weft_loop_metrics *out) {
    if (!loop || !out)
        return -EINVAL;
    struct wf_metrics *metrics = loop->metrics;
    if (!metrics)
        return -ENOTSUP;
    wf_lock_take(&loop->lock);
    uint64_t ingress = ingress_count_locked(loop);
    bool is_over = wf_loop_state(loop) == WF_LOOP_TERMINATED; /* perhaps in the middle of a turn, with its fiber */
    wf_lock_drop(&loop->lock);
    wf_lock_take(&metrics->lock);
    int64_t now = wf_os_now();
    int64_t asleep = metrics->sleep_since && !is_over ? now - metrics->sleep_since : 0;
    int64_t busy = metrics->turn_since && !is_over ? now - metrics->turn_since - metrics->turn_idle - asleep : 0;
    *out = (weft_loop_metrics){
        .callback = spread_copy(&metrics->callback),
        .delay = spread_copy(&metrics->delay),
        .turn = spread_copy(&metrics->turn),
        .per_second = rate_of_locked(metrics, now),
        .ingress = depth_copy(&metrics->ingress),
        .internal = depth_copy(&metrics->internal),
        .microtask = depth_copy(&metrics->microtask),
        .turns = metrics->turns,
        .callbacks = metrics->callback.count,
        .panics = metrics->panics,
        .sleeps = metrics->sleeps,
        .wakes = wf_load_relaxed(&metrics->wakes),
        .idle = metrics->idle + asleep,
        .active = metrics->active + busy,
    };
    wf_lock_drop(&metrics->lock);
    out->ingress.current = ingress;
    if (ingress > out->ingress.max)
        out->ingress.max = ingress;
    if (out->active + out->idle > 0)
        out->utilisation = (double)out->active / (double)(out->active + out->idle);
    return 0;
}

/* The value at that part of a few sorted ones: the first that is not below it. */
static int64_t quantile_of_few(const struct spread *spread, double quantile) {
    double rank = quantile * (double)spread->count;
    uint64_t at = (uint64_t)rank;
    at += (double)at < rank;
    return spread->few[at ? at - 1 : 0];
}

static weft_loop_spread spread_copy(const struct spread *spread) {
    if (spread->count == 0)
        return (weft_loop_spread){0};
    int64_t found[QUANTILES];
    for (int i = 0; i < QUANTILES; i++)
        found[i] = spread->count <= MARKERS ? quantile_of_few(spread, quantiles[i])
                                            : (int64_t)spread->estimates[i].heights[MARKERS / 2];
    return (weft_loop_spread){
        .count = spread->count,
        .min = spread->min,
        .mean = (int64_t)(spread->sum / (double)spread->count),
        .max = spread->max,
        .p50 = found[0],
        .p90 = found[1],
        .p95 = found[2],
        .p99 = found[3],
    };
}

static weft_loop_depth depth_copy(const struct depth *depth) {
    return (weft_loop_depth){.current = depth->current, .max = depth->max, .average = depth->average};
}
