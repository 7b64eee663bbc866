/* SPDX-License-Identifier: MIT
 *
 * base/rng.h - a small fast generator for scheduling choices (xorshift64*).
 *
 * Not for secrets. One per processor, so no sharing; seeded by the engine from one number, so that a run can be made
 * to choose the same way again.
 */
#ifndef WF_BASE_RNG_H
#define WF_BASE_RNG_H

#include <stdint.h>

struct wf_rng {
    uint64_t state; /* never 0 */
};

static inline void wf_rng_init(struct wf_rng *rng, uint64_t seed) {
    uint64_t z = seed + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    rng->state = (z ^ (z >> 31)) | 1u;
}

static inline uint64_t wf_rng_next(struct wf_rng *rng) {
    uint64_t x = rng->state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    rng->state = x;
    return x * 0x2545f4914f6cdd1du;
}

/* A number below bound (bound > 0), by multiplication instead of division; the bias is below 2^-32. */
static inline uint32_t wf_rng_below(struct wf_rng *rng, uint32_t bound) {
    return (uint32_t)(((wf_rng_next(rng) >> 32) * bound) >> 32);
}

#endif
