/* SPDX-License-Identifier: MIT
 *
 * cli/histogram.h - how many values were about how large: counts in buckets whose width grows with the value.
 *
 *     0 1 2 ... 127 | 128 130 132 ... 254 | 256 260 264 ... 508 | ...
 *      width 1      |  width 2            |  width 4            |
 *
 * Every doubling has 64 buckets, so a value is known to within 1/64 of it, from nanoseconds to centuries, in 30 KiB. The largest
 * value and the sum are kept exactly. Any number of threads may add at once; whoever reads meanwhile sees a blurred picture.
 */
#ifndef CLI_HISTOGRAM_H
#define CLI_HISTOGRAM_H

#include <stdatomic.h>
#include <stdint.h>

enum {
    CLI_HISTOGRAM_BITS = 6, /* 64 buckets a doubling: the figures printed have three digits */
    CLI_HISTOGRAM_BUCKETS = (64 - CLI_HISTOGRAM_BITS) << CLI_HISTOGRAM_BITS
};

/* Begins as {0}. */
struct cli_histogram {
    _Atomic uint64_t counts[CLI_HISTOGRAM_BUCKETS];
    _Atomic uint64_t count;
    _Atomic uint64_t sum;
    _Atomic uint64_t largest;
};

/* Values below 0 count as 0. */
void cli_histogram_add(struct cli_histogram *histogram, int64_t value);

/* The value that this share of all values does not exceed, 0.5 for the median: the top of its bucket, and never more than the
 * largest value. 0 when there is none. */
uint64_t cli_histogram_quantile(const struct cli_histogram *histogram, double share);
double cli_histogram_mean(const struct cli_histogram *histogram);

#endif
