/* SPDX-License-Identifier: MIT
 *
 * unit/pool/graph_test.c - random graphs of works against an oracle.
 *
 * Works are submitted with random ids and edges, by handle and by id, to works before and after them, and ended in random ways on
 * a pool without threads; see unit/pool/bare.h. The oracle knows a graph and nothing else: which submit closes a circle, which
 * work is held, ready or over, with which status, and because of whom.
 */
#include "unit/pool/bare.h"

enum { NODES = 120, IDS = 24, EDGES = 4 };
enum node_state { NODE_NONE, NODE_HELD, NODE_READY, NODE_OVER };

/* What the oracle knows: an edge leads to a node, or to an id that nobody has yet (IDS and above are not used). */
struct oracle_edge {
    int node; /* or -1 */
    int id;
};

struct node {
    weft_work work;
    enum node_state state;
    weft_work_status status;
    int root; /* whose failure made it fail */
    int id;   /* or -1 */
    struct oracle_edge edges[EDGES];
    int edge_count;
    bool is_told; /* by the pool */
};

struct oracle_id {
    int alive; /* or -1 */
    int last;  /* or -1 */
};

static struct node nodes[NODES];
static struct oracle_id ids[IDS];
static int node_count;

static int node_of(weft_work work) {
    for (int i = 0; i < node_count; i++)
        if (nodes[i].work.bits == work.bits)
            return i;
    return -1;
}

/* The oracle is ahead of the pool: it knows already what is to be told. */
static void compare_end(weft_work work, weft_work_status status, weft_work cause) {
    int i = node_of(work);
    if (i < 0) { /* it failed in its submit, which has not returned */
        i = node_count;
        nodes[i].work = work;
    }
    CHECK(!nodes[i].is_told);
    nodes[i].is_told = true;
    CHECK_EQ(nodes[i].state, NODE_OVER);
    CHECK_EQ(nodes[i].status, status);
    CHECK_EQ(cause.bits, nodes[i].root < 0 ? 0 : nodes[nodes[i].root].work.bits);
}

static void oracle_end(int i, weft_work_status status, int root) {
    nodes[i].state = NODE_OVER;
    nodes[i].status = status;
    nodes[i].root = root;
    nodes[i].edge_count = 0;
    int id = nodes[i].id;
    if (id >= 0 && ids[id].alive == i)
        ids[id] = (struct oracle_id){.alive = -1, .last = i};
    for (int k = 0; k < node_count; k++) {
        for (int e = 0; e < nodes[k].edge_count; e++) {
            struct oracle_edge *edge = &nodes[k].edges[e];
            if (edge->node != i && (id < 0 || edge->id != id))
                continue;
            if (status != WEFT_WORK_SUCCEEDED) {
                oracle_end(k, WEFT_WORK_FAILED, root < 0 ? i : root);
                break;
            }
            *edge = nodes[k].edges[--nodes[k].edge_count];
            e--;
        }
        if (nodes[k].state == NODE_HELD && nodes[k].edge_count == 0)
            nodes[k].state = NODE_READY;
    }
}

/* Whether node i, whose edges are there, comes after target. */
static bool oracle_reaches(int i, int target, bool *seen) {
    for (int e = 0; e < nodes[i].edge_count; e++) {
        const struct oracle_edge *edge = &nodes[i].edges[e];
        int next = edge->id >= 0 ? ids[edge->id].alive : edge->node;
        if (next == target)
            return true;
        if (next < 0 || seen[next])
            continue;
        seen[next] = true;
        if (oracle_reaches(next, target, seen))
            return true;
    }
    return false;
}

/* A new node with random edges, in the oracle and in the pool. */
static void random_submit(weft_pool *pool, uint64_t *random) {
    int i = node_count;
    struct node *node = &nodes[i];
    weft_work after[EDGES];
    weft_work_id after_ids[EDGES];
    size_t after_count = 0, after_id_count = 0;
    *node = (struct node){.state = NODE_HELD, .id = (int)random_below(random, 2 * IDS) - IDS, .root = -1};
    if (node->id < 0)
        node->id = -1;
    bool is_taken = node->id >= 0 && ids[node->id].alive >= 0;
    if (!is_taken && node->id >= 0)
        ids[node->id].alive = i;
    int root = -1;
    struct oracle_edge bad[EDGES];
    int bad_count = 0;
    for (uint64_t e = random_below(random, EDGES + 1); e > 0; e--) {
        struct oracle_edge edge = {.node = -1, .id = -1};
        int known = -1;
        if (random_below(random, 2) && i > 0) {
            edge.node = known = (int)random_below(random, (uint64_t)i);
            after[after_count++] = nodes[known].work;
        } else {
            edge.id = (int)random_below(random, IDS);
            after_ids[after_id_count++] = number_id((uint64_t)edge.id + 1);
            if (ids[edge.id].alive < 0)
                known = ids[edge.id].last;
        }
        if (known < 0 || nodes[known].state != NODE_OVER)
            node->edges[node->edge_count++] = edge;
        else if (nodes[known].status != WEFT_WORK_SUCCEEDED)
            bad[bad_count++] = (struct oracle_edge){.node = known, .id = edge.id};
    }
    for (int e = bad_count - 1; e >= 0; e--) /* the first by handle, else the first by id */
        if (bad[e].id >= 0)
            root = bad[e].node;
    for (int e = bad_count - 1; e >= 0; e--)
        if (bad[e].id < 0)
            root = bad[e].node;
    bool seen[NODES] = {false};
    bool is_circle = !is_taken && oracle_reaches(i, i, seen);
    if (!is_taken && !is_circle) {
        if (root >= 0)
            oracle_end(i, WEFT_WORK_FAILED, nodes[root].root < 0 ? root : nodes[root].root);
        else if (node->edge_count == 0)
            node->state = NODE_READY;
    } else if (!is_taken && node->id >= 0) {
        ids[node->id].alive = -1;
    }
    weft_work_options options = {.id = {.number = (uint64_t)(node->id + 1)},
                                 .after = after,
                                 .after_count = after_count,
                                 .after_ids = after_ids,
                                 .after_id_count = after_id_count};
    int error = bare_submit(pool, &options, &node->work);
    CHECK_EQ(error, is_taken ? -EEXIST : is_circle ? -ELOOP : 0);
    node_count += !error;
}

/* Ends one that is ready, or cancels one that is held. */
static void random_end(weft_pool *pool, uint64_t *random) {
    int i = (int)random_below(random, (uint64_t)node_count);
    if (nodes[i].state == NODE_OVER) {
        CHECK(!bare_end(pool, nodes[i].work, WEFT_WORK_CANCELLED));
        return;
    }
    weft_work_status status = WEFT_WORK_CANCELLED;
    if (nodes[i].state == NODE_READY && random_below(random, 4))
        status = WEFT_WORK_SUCCEEDED;
    else if (nodes[i].state == NODE_READY)
        status = (weft_work_status)(WEFT_WORK_FAILED + random_below(random, 5));
    else if (random_below(random, 3))
        return; /* few are cancelled while they are held */
    oracle_end(i, status, -1);
    CHECK(bare_end(pool, nodes[i].work, status));
}

static void compare_all(weft_pool *pool) {
    static const enum wf_work_phase phases[] = {WF_WORK_FREE, WF_WORK_HELD, WF_WORK_QUEUED, WF_WORK_FREE};
    uint64_t held = 0;
    for (int i = 0; i < node_count; i++) {
        CHECK_EQ(bare_phase(pool, nodes[i].work), phases[nodes[i].state]);
        CHECK_EQ(nodes[i].is_told, nodes[i].state == NODE_OVER);
        held += nodes[i].state == NODE_HELD;
    }
    CHECK_EQ(wf_load_relaxed(&pool->held), held);
}

TEST(random_graphs_do_what_the_oracle_says) {
    uint64_t random = wf_test_seed() | 1;
    for (long round = scaled(300, 30); round > 0; round--) {
        weft_pool *pool = bare_new();
        bare_on_end = compare_end;
        node_count = 0;
        for (int i = 0; i < IDS; i++)
            ids[i] = (struct oracle_id){-1, -1};
        while (node_count < NODES) {
            random_submit(pool, &random);
            for (uint64_t ends = random_below(&random, 4); ends > 0 && node_count > 0; ends--)
                random_end(pool, &random);
            if (random_below(&random, 8) == 0)
                compare_all(pool);
        }
        compare_all(pool);
        for (int i = 0; i < node_count; i++)
            if (nodes[i].state != NODE_OVER) {
                oracle_end(i, WEFT_WORK_CANCELLED, -1);
                CHECK(bare_end(pool, nodes[i].work, WEFT_WORK_CANCELLED));
            }
        compare_all(pool);
        bare_next_generation(pool);
        CHECK_EQ(pool->name_count, 0); /* nothing is expected, nothing alive */
        bare_free(pool);
    }
}
