/* SPDX-License-Identifier: MIT
 *
 * examples/tree.c - a tree of fibers, ten children each, whose leaves are added up.
 *
 *     tree [LEAVES]        a power of ten
 *
 * Each inner fiber spawns its children, joins them and returns the sum. The structures that are handed down live on the
 * parent's stack: a parent that joins its children outlives them, and stacks never move.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <weft.h>

enum { CHILDREN = 10 };

struct node {
    int64_t first; /* leaf numbers [first, first + leaves) */
    int64_t leaves;
    int64_t sum;
};

static void *add_up(void *arg) {
    struct node *node = arg;
    if (node->leaves == 1) {
        node->sum = node->first;
        return NULL;
    }
    struct node children[CHILDREN];
    weft_fiber fibers[CHILDREN];
    int64_t share = node->leaves / CHILDREN;
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = (struct node){.first = node->first + i * share, .leaves = share};
        int error = weft_spawn(&fibers[i], add_up, &children[i]);
        if (error)
            weft_fatal("cannot spawn: error %d", -error);
    }
    for (int i = 0; i < CHILDREN; i++) {
        int error = weft_join(fibers[i], NULL, WEFT_NEVER);
        if (error)
            weft_fatal("cannot join: error %d", -error);
        node->sum += children[i].sum;
    }
    return NULL;
}

static int app(void *arg) {
    struct node root = {.leaves = *(int64_t *)arg};
    weft_time start = weft_now();
    add_up(&root);
    double milliseconds = (double)(weft_now() - start) / 1e6;
    printf("%lld leaves add up to %lld in %.1f ms\n", (long long)root.leaves, (long long)root.sum, milliseconds);
    return root.sum == root.leaves * (root.leaves - 1) / 2 ? 0 : 1;
}

int main(int argc, char **argv) {
    int64_t leaves = argc > 1 ? atoll(argv[1]) : 1000;
    int64_t power = 1;
    while (power < leaves)
        power *= CHILDREN;
    if (leaves < 1 || power != leaves) {
        fprintf(stderr, "usage: %s [LEAVES], a power of ten\n", argv[0]);
        return 2;
    }
    return weft_run(NULL, app, &leaves);
}
