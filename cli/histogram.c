/* SPDX-License-Identifier: MIT
 *
 * cli/histogram.c - values counted in buckets.
 *
 * A value of up to 7 bits is its own bucket. Of a larger one the top 7 bits are kept: the leading one and the number of bits
 * below it choose the doubling, the next 6 bits the bucket in it.
 */
#include "histogram.h"

#include <stddef.h>

#define RELAXED memory_order_relaxed /* counts are read when those who add have been joined */

static size_t bucket_of(uint64_t value);
static uint64_t bucket_top(size_t bucket);

void cli_histogram_add(struct cli_histogram *histogram, int64_t value) {
    uint64_t amount = value > 0 ? (uint64_t)value : 0;
    uint64_t largest = atomic_load_explicit(&histogram->largest, RELAXED);
    atomic_fetch_add_explicit(&histogram->counts[bucket_of(amount)], 1, RELAXED);
    atomic_fetch_add_explicit(&histogram->count, 1, RELAXED);
    atomic_fetch_add_explicit(&histogram->sum, amount, RELAXED);
    while (amount > largest &&
           !atomic_compare_exchange_weak_explicit(&histogram->largest, &largest, amount, RELAXED, RELAXED))
        continue;
}

uint64_t cli_histogram_quantile(const struct cli_histogram *histogram, double share) {
    uint64_t count = atomic_load_explicit(&histogram->count, RELAXED);
    uint64_t largest = atomic_load_explicit(&histogram->largest, RELAXED);
    double wanted = share * (double)count;
    uint64_t seen = 0;
    if (count == 0)
        return 0;
    for (size_t i = 0; i < CLI_HISTOGRAM_BUCKETS; i++) {
        seen += atomic_load_explicit(&histogram->counts[i], RELAXED);
        if (seen > 0 && (double)seen >= wanted)
            return bucket_top(i) < largest ? bucket_top(i) : largest;
    }
    return largest;
}

double cli_histogram_mean(const struct cli_histogram *histogram) {
    uint64_t count = atomic_load_explicit(&histogram->count, RELAXED);
    return count ? (double)atomic_load_explicit(&histogram->sum, RELAXED) / (double)count : 0;
}

static size_t bucket_of(uint64_t value) {
    if (value >> (CLI_HISTOGRAM_BITS + 1) == 0)
        return (size_t)value;
    unsigned shift = 63 - (unsigned)__builtin_clzll(value) - CLI_HISTOGRAM_BITS;
    return ((size_t)shift << CLI_HISTOGRAM_BITS) + (size_t)(value >> shift);
}

/* The largest value that is counted there. */
static uint64_t bucket_top(size_t bucket) {
    if (bucket >> (CLI_HISTOGRAM_BITS + 1) == 0)
        return bucket;
    unsigned shift = (unsigned)(bucket >> CLI_HISTOGRAM_BITS) - 1;
    uint64_t low = (uint64_t)(bucket - ((size_t)shift << CLI_HISTOGRAM_BITS)) << shift;
    return low + (((uint64_t)1 << shift) - 1);
}
