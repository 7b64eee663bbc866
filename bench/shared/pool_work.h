/* SPDX-License-Identifier: MIT
 *
 * bench/shared/pool_work.h - what the works of the pool's rows compute, so that all systems compute the same.
 *
 * weft (C), oneTBB (C++) and libuv (C) include this file; bench/peers/go/pool.go is its translation. Every row has a
 * known result, which the programs check: a work that is lost or done twice gives no figure.
 *
 * The tree is one for searching: the number of a node's children is geometric with mean 3, drawn from the node's own
 * hash, and ends at POOL_TREE_DEPTH. Nobody can know the size of a subtree before having walked it; most are single
 * leaves, and one of the root's four holds three quarters of all nodes.
 */
#ifndef POOL_WORK_H
#define POOL_WORK_H

#include <stdint.h>

enum {
    POOL_WORKS = 1000000,      /* empty works of the rows "submit", over all submitters */
    POOL_FIB = 32,             /* the argument of "fib" */
    POOL_FIB_VALUE = 2178309,  /* its result */
    POOL_FIB_FORKS = 3524577,  /* calls that fork: all whose argument is at least 2 */
    POOL_TREE_DEPTH = 13,      /* nodes of this depth have no children */
    POOL_TREE_NODES = 3896480, /* nodes of the tree that grows from POOL_TREE_ROOT */
    POOL_SMALL = 10000000,     /* iterations of "for_small" */
    POOL_LARGE = 10000,        /* iterations of "for_large" */
    POOL_LARGE_STEPS = 2400,   /* about 10 us: a chain of as many hashes, none of which can begin before the last */
    POOL_PASSES = 5,           /* timed passes in a process, after one that is not; the best counts */
    POOL_WAKES = 1000,         /* samples of "wake" */
    POOL_WAKES_WARM_UP = 50,
    POOL_WAKE_PAUSE_NS = 2000000 /* before each: long enough for every worker to go to sleep */
};

static const uint64_t POOL_ODD = UINT64_C(0x9e3779b97f4a7c15); /* 2^64 over the golden ratio: bits without a pattern */
static const uint64_t POOL_TREE_ROOT = 15;                     /* a seed whose tree is neither tiny nor huge */

/* A permutation of 64 bits in which every bit of the result depends on every bit of x. */
static inline uint64_t pool_mix(uint64_t x) {
    x = (x ^ x >> 32) * POOL_ODD;
    x = (x ^ x >> 29) * POOL_ODD;
    return x ^ x >> 32;
}

/* The hash of a node is its whole identity; that of its children follows from it. */
static inline uint64_t pool_tree_child(uint64_t node, unsigned index) {
    return pool_mix(node + POOL_ODD * (index + 1));
}

/* How many pairs of bits come before the first that is 00: each pair is another child with a chance of 3 in 4. */
static inline unsigned pool_tree_children(uint64_t node, unsigned depth) {
    const uint64_t lower = UINT64_C(0x5555555555555555);
    uint64_t zero_pairs = ~(node | node >> 1) & lower;
    if (depth >= POOL_TREE_DEPTH)
        return 0;
    return zero_pairs ? (unsigned)__builtin_ctzll(zero_pairs) / 2 : 32;
}

/* One iteration of "for_small", some 3 ns. The row adds them up. */
static inline uint64_t pool_small(uint64_t i) {
    return pool_mix(pool_mix(pool_mix(i)));
}

/* One iteration of "for_large". */
static inline uint64_t pool_large(uint64_t i) {
    for (int step = 0; step < POOL_LARGE_STEPS; step++)
        i = pool_mix(i + POOL_ODD);
    return i;
}

static inline uint64_t pool_small_range(uint64_t first, uint64_t end) {
    uint64_t sum = 0;
    for (uint64_t i = first; i < end; i++)
        sum += pool_small(i);
    return sum;
}

static inline uint64_t pool_large_range(uint64_t first, uint64_t end) {
    uint64_t sum = 0;
    for (uint64_t i = first; i < end; i++)
        sum += pool_large(i);
    return sum;
}

#endif
