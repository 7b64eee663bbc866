/* SPDX-License-Identifier: MIT
 *
 * spec/pool_graph_test.c - many works that come after others: long chains, random graphs, cancelling in between, several submitters.
 *
 * Every work ends exactly once, in order, and what fails says why.
 */
#include "spec/pool_works.h"

static long chain_length;
static atomic_long chain_next;

static int next_of_chain(void *arg) {
    CHECK_EQ(atomic_fetch_add(&chain_next, 1), (long)(intptr_t)arg);
    return 0;
}

static void run_chain(bool is_backwards, bool fails) {
    pool_begin((weft_pool_options){0});
    chain_length = scaled(100000, 3000);
    atomic_store(&chain_next, fails ? 1 : 0);
    struct latch latch = LATCH(fails ? -EIO : 0);
    weft_work root = submit((weft_work_options){.id = TEXT("root")}, wait_at_latch, &latch), last = root;
    for (long k = 0; k < chain_length; k++) {
        long i = is_backwards ? chain_length - 1 - k : k;
        weft_work_id before = i > 0 ? NUMBER(i) : TEXT("root");
        weft_work_options options = {.id = NUMBER(i + 1), .after_ids = &before, .after_id_count = 1};
        weft_work work = submit(options, next_of_chain, (void *)(intptr_t)i);
        if (i == chain_length - 1)
            last = work;
    }
    CHECK_EQ(stats().held, chain_length);
    latch_lift(&latch);
    wait_idle();
    CHECK_EQ(atomic_load(&chain_next), fails ? 1 : chain_length);
    CHECK_EQ(atomic_load(&calls), chain_length + 1);
    if (fails)
        check_failed_by(last, root);
    else
        check_ended(last, WEFT_WORK_SUCCEEDED);
    pool_end();
}

TEST(a_chain_of_100000_runs_in_its_order) {
    run_chain(false, false);
    run_chain(true, false);
}

TEST(a_chain_of_100000_fails_to_its_end) {
    run_chain(false, true);
    run_chain(true, true);
}

/* Random graphs on threads: whoever runs finds that all it comes after have ended well; what cannot run is told why. */
enum { NODES = 400, EDGES = 4 };

struct node {
    int edges[EDGES];
    int edge_count;
    bool fails;
    bool is_bad;        /* oracle: it or one before it fails */
    atomic_int has_run; /* ended well */
    atomic_int told;
    weft_work work;
    weft_result result;
};

static struct node nodes[NODES];

static int run_node(void *opaque) {
    struct node *node = opaque;
    for (int e = 0; e < node->edge_count; e++)
        CHECK_EQ(atomic_load(&nodes[node->edges[e]].has_run), 1);
    CHECK(!node->is_bad || node->fails);
    if (node->fails)
        return -EIO;
    if ((node - nodes) % 5 == 0)
        weft_yield();
    atomic_store(&node->has_run, 1);
    return 0;
}

static int note_node(const weft_result *result, void *opaque) {
    struct node *node = opaque;
    node->result = *result;
    CHECK_EQ(atomic_fetch_add(&node->told, 1), 0);
    return 0;
}

static bool comes_after(int i, int root) {
    if (i == root)
        return true;
    for (int e = 0; e < nodes[i].edge_count; e++)
        if (nodes[nodes[i].edges[e]].is_bad && comes_after(nodes[i].edges[e], root))
            return true;
    return false;
}

static const struct node *node_with(weft_work work) {
    for (int i = 0; i < NODES; i++)
        if (nodes[i].work.bits == work.bits)
            return &nodes[i];
    CHECK(!"a work that was submitted");
    return nodes;
}

static void submit_node(int i, bool by_id) {
    struct node *node = &nodes[i];
    weft_work after[EDGES];
    weft_work_id after_ids[EDGES];
    weft_work_options options = {
        .id = NUMBER(i + 1), .after = after, .after_ids = after_ids, .callback = note_node, .callback_arg = node};
    for (int e = 0; e < node->edge_count; e++) {
        weft_work before = nodes[node->edges[e]].work;
        if (by_id || before.bits == 0 || e % 2)
            after_ids[options.after_id_count++] = NUMBER(node->edges[e] + 1);
        else
            after[options.after_count++] = before;
    }
    CHECK_EQ(weft_pool_submit_with(pool, &node->work, &options, run_node, node), 0);
}

static void run_random_graph(uint64_t *random) {
    int order[NODES];
    pool_begin((weft_pool_options){0});
    CHECK_EQ(weft_pool_hold(pool), 0);
    for (int i = 0; i < NODES; i++) {
        nodes[i] = (struct node){.fails = random_below(random, 60) == 0};
        nodes[i].is_bad = nodes[i].fails;
        for (uint64_t e = i ? random_below(random, EDGES + 1) : 0; e > 0; e--) {
            int before = i - 1 - (int)random_below(random, (uint64_t)(i < 50 ? i : 50));
            nodes[i].edges[nodes[i].edge_count++] = before;
            nodes[i].is_bad |= nodes[before].is_bad;
        }
        uint64_t place = random_below(random, (uint64_t)i + 1);
        order[i] = order[place];
        order[place] = i;
    }
    bool is_shuffled = random_below(random, 2);
    for (int i = 0; i < NODES; i++)
        submit_node(is_shuffled ? order[i] : i, is_shuffled);
    CHECK_EQ(weft_pool_release(pool), 0);
    wait_idle();
    for (int i = 0; i < NODES; i++) {
        CHECK_EQ(atomic_load(&nodes[i].told), 1);
        CHECK_EQ(nodes[i].result.work.bits, nodes[i].work.bits);
        CHECK_EQ(nodes[i].result.status, nodes[i].is_bad ? WEFT_WORK_FAILED : WEFT_WORK_SUCCEEDED);
        bool by_itself = nodes[i].result.cause.bits == 0;
        CHECK_EQ(nodes[i].result.error, !nodes[i].is_bad ? 0 : by_itself ? -EIO : -ENOENT);
        if (by_itself) {
            CHECK_EQ(nodes[i].is_bad, nodes[i].fails);
            continue;
        }
        const struct node *root = node_with(nodes[i].result.cause);
        CHECK(root->fails && root->result.cause.bits == 0); /* at the root, not between */
        CHECK(comes_after(i, (int)(root - nodes)));
    }
    pool_end();
}

TEST(random_graphs_run_in_order_and_fail_for_a_reason) {
    uint64_t random = wf_test_seed() | 1;
    for (long round = scaled(40, 4); round > 0; round--)
        run_random_graph(&random);
}

/* Cancelling races with becoming ready and with failing: every work ends once, and the pool becomes idle. */
static void *cancel_some(void *opaque) {
    weft_work *works = opaque;
    for (int i = 0; i < NODES; i += 3)
        weft_pool_control(pool, i % 2 ? WEFT_CANCEL : WEFT_STOP, works[i]);
    return NULL;
}

TEST(cancelling_while_others_end_loses_nobody) {
    uint64_t random = wf_test_seed() | 1;
    for (long round = scaled(100, 10); round > 0; round--) {
        static weft_work works[NODES];
        pool_begin((weft_pool_options){0});
        struct latch latch = LATCH(round % 4 ? 0 : -EIO);
        weft_work root = submit((weft_work_options){0}, wait_at_latch, &latch);
        for (int i = 0; i < NODES; i++) {
            weft_work before = i && random_below(&random, 3) ? works[random_below(&random, (uint64_t)i)] : root;
            works[i] = submit((weft_work_options){AFTER(root, before)}, succeed, NULL);
        }
        pthread_t thread = thread_start(cancel_some, works);
        latch_lift(&latch);
        thread_join(thread);
        wait_idle();
        CHECK_EQ(atomic_load(&calls), NODES + 1);
        weft_pool_stats now = stats();
        CHECK_EQ(now.succeeded + now.failed + now.cancelled + now.stopped, NODES + 1);
        CHECK_EQ(now.succeeded + now.stopped, (uint64_t)atomic_load(&runs) + (round % 4 != 0));
        pool_end();
    }
}

/* Submitters on several threads name each other's works. */
enum { SUBMITTERS = 4, EACH = 500 };

static void *submit_interleaved(void *opaque) {
    long self = (long)(intptr_t)opaque;
    for (long i = 0; i < EACH; i++) {
        weft_work_id before =
            NUMBER((i - 1) * SUBMITTERS + (self + 1) % SUBMITTERS + 1); /* of the next one's round before */
        weft_work_options options = {
            .id = NUMBER(i * SUBMITTERS + self + 1), .after_ids = &before, .after_id_count = i > 0};
        submit(options, succeed, NULL);
    }
    return NULL;
}

TEST(submitters_name_each_others_works) {
    for (long round = scaled(20, 3); round > 0; round--) {
        pthread_t threads[SUBMITTERS];
        pool_begin((weft_pool_options){0});
        CHECK_EQ(weft_pool_hold(pool), 0);
        for (intptr_t i = 0; i < SUBMITTERS; i++)
            threads[i] = thread_start(submit_interleaved, (void *)i);
        for (int i = 0; i < SUBMITTERS; i++)
            thread_join(threads[i]);
        CHECK_EQ(weft_pool_release(pool), 0);
        wait_idle();
        CHECK_EQ(atomic_load(&runs), SUBMITTERS * EACH);
        pool_end();
    }
}
