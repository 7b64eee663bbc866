/* SPDX-License-Identifier: MIT
 *
 * unit/pool/group_test.c - groups from the inside: random graphs of groups against an oracle, waiters, memory that is refused.
 *
 * On a pool without threads, where the test ends the works; see unit/pool/bare.h. With threads: spec/pool_group_test.c.
 */
#include "os/fault.h"
#include "unit/pool/bare.h"

static weft_group *group_new(weft_pool *pool, const char *name) {
    weft_group *group = NULL;
    CHECK_EQ(weft_group_new(&group, pool, name), 0);
    return group;
}

static bool is_paused(weft_pool *pool, weft_work work) {
    wf_lock_take(&pool->lock);
    bool is_paused = wf_group_is_paused_locked(wf_work_terms(wf_work_find(pool, work)));
    wf_lock_drop(&pool->lock);
    return is_paused;
}

/* ---- Names ---- */

TEST(groups_refuse_wrong_arguments) {
    weft_pool *pool = bare_new();
    weft_group *group = group_new(pool, NULL), *unused = NULL;
    char long_name[WEFT_WORK_ID_MAX + 2];
    memset(long_name, 'x', sizeof long_name);
    long_name[WEFT_WORK_ID_MAX + 1] = 0;
    CHECK_EQ(weft_group_new(NULL, pool, NULL), -EINVAL);
    CHECK_EQ(weft_group_new(&unused, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_group_new(&unused, pool, ""), -EINVAL);
    CHECK_EQ(weft_group_new(&unused, pool, long_name), -EINVAL);
    CHECK_EQ(weft_group_find(NULL, "x", &unused), -EINVAL);
    CHECK_EQ(weft_group_find(pool, NULL, &unused), -EINVAL);
    CHECK_EQ(weft_group_find(pool, "x", NULL), -EINVAL);
    CHECK_EQ(weft_group_find(pool, "", &unused), -ENOENT);
    CHECK_EQ(weft_group_add(NULL, WEFT_NO_WORK), -EINVAL);
    CHECK_EQ(weft_group_remove(NULL, WEFT_NO_WORK), -EINVAL);
    CHECK_EQ(weft_group_add(group, WEFT_NO_WORK), -ESTALE);
    CHECK_EQ(weft_group_remove(group, WEFT_NO_WORK), -ESTALE);
    CHECK_EQ(weft_group_add(group, (weft_work){UINT64_MAX}), -ESTALE);
    CHECK_EQ(weft_group_join(NULL, group), -EINVAL);
    CHECK_EQ(weft_group_join(group, NULL), -EINVAL);
    CHECK_EQ(weft_group_part(NULL, group), -EINVAL);
    CHECK_EQ(weft_group_part(group, NULL), -EINVAL);
    CHECK_EQ(weft_group_wait(NULL, WEFT_NOW), -EINVAL);
    CHECK_EQ(weft_group_control(NULL, WEFT_STOP), -EINVAL);
    CHECK_EQ(weft_group_control(group, (weft_control)(WEFT_RESUME + 1)), -EINVAL);
    CHECK_EQ(weft_group_works(NULL, NULL, 0), 0);
    weft_group_free(NULL);
    CHECK(unused == NULL);
    weft_group_free(group);
    bare_free(pool);
}

TEST(names_of_groups_are_their_own_while_they_exist) {
    enum { COUNT = 500 };
    weft_pool *pool = bare_new(), *other = bare_new();
    weft_group *groups[COUNT], *found;
    char name[24];
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "group %d", i);
        groups[i] = group_new(pool, name);
        CHECK_EQ(weft_group_new(&found, pool, name), -EEXIST);
    }
    weft_group_free(group_new(other, "group 7")); /* of another pool */
    weft_group *unnamed = group_new(pool, NULL), *second = group_new(pool, NULL);
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "group %d", i);
        CHECK_EQ(weft_group_find(pool, name, &found), 0);
        CHECK(found == groups[i]);
        CHECK_EQ(weft_group_find(other, name, &found), -ENOENT);
        if (i % 2)
            continue;
        weft_group_free(groups[i]);
        CHECK_EQ(weft_group_find(pool, name, &found), -ENOENT);
        groups[i] = group_new(pool, name);
    }
    weft_group_free(unnamed);
    weft_group_free(second);
    bare_free(other);
    bare_free(pool); /* what the program has left goes with the pool */
}

/* ---- Members ---- */

TEST(a_work_is_in_a_group_from_submit_or_add_to_its_end_or_remove) {
    weft_pool *pool = bare_new(), *other = bare_new();
    weft_group *group = group_new(pool, "g"), *second = group_new(pool, NULL), *foreign = group_new(other, NULL);
    weft_work a = BARE(pool, .group = group), b = BARE(pool, .priority = 0), unused;
    weft_work_options options = {.group = foreign, .id = text_id("x"), .after = &a, .after_count = 1};
    CHECK_EQ(bare_submit(pool, &options, &unused), -ESTALE);
    CHECK_EQ(pool->name_count, 0);
    CHECK_EQ(weft_group_add(group, a), -EEXIST);
    CHECK_EQ(weft_group_remove(group, b), -ENOENT);
    CHECK_EQ(weft_group_add(group, b), 0);
    CHECK_EQ(weft_group_add(second, b), 0);
    CHECK_EQ(weft_group_works(group, NULL, 0), 2);
    CHECK_EQ(weft_group_works(second, NULL, 0), 1);
    weft_work listed[3] = {{0}};
    CHECK_EQ(weft_group_works(group, listed, 1), 2); /* as many as there are, not as many as fit */
    CHECK_EQ(listed[1].bits, 0);
    CHECK_EQ(weft_group_works(group, listed, 3), 2);
    CHECK_EQ(listed[0].bits ^ listed[1].bits, a.bits ^ b.bits);
    CHECK_EQ(weft_group_remove(group, b), 0);
    CHECK_EQ(weft_group_remove(group, b), -ENOENT);
    CHECK(bare_end(pool, a, WEFT_WORK_SUCCEEDED));
    CHECK_EQ(weft_group_works(group, NULL, 0), 0);
    CHECK_EQ(weft_group_add(group, a), -ESTALE);
    CHECK_EQ(weft_group_remove(group, a), -ESTALE);
    CHECK(bare_end(pool, b, WEFT_WORK_CANCELLED));
    CHECK_EQ(weft_group_works(second, NULL, 0), 0);
    weft_group_free(group);
    weft_group_free(second);
    weft_group_free(foreign);
    bare_free(other);
    bare_free(pool);
}

TEST(works_go_on_without_their_group) {
    weft_pool *pool = bare_new();
    weft_group *group = group_new(pool, NULL), *above = group_new(pool, NULL), *below = group_new(pool, NULL);
    weft_work a = BARE(pool, .group = group), b = BARE(pool, .group = below);
    CHECK_EQ(weft_group_join(above, group), 0);
    CHECK_EQ(weft_group_join(group, below), 0);
    CHECK_EQ(weft_group_works(above, NULL, 0), 2);
    weft_group_free(group);
    CHECK_EQ(weft_group_works(above, NULL, 0), 0);
    CHECK_EQ(weft_group_works(below, NULL, 0), 1);
    CHECK_EQ(weft_group_part(above, below), -ENOENT);
    CHECK_EQ(bare_phase(pool, a), WF_WORK_QUEUED);
    CHECK(bare_end(pool, a, WEFT_WORK_SUCCEEDED));
    CHECK(bare_end(pool, b, WEFT_WORK_SUCCEEDED));
    bare_free(pool); /* and the two others with it */
}

/* ---- Kin ---- */

TEST(a_circle_of_groups_is_refused_whatever_its_length) {
    enum { LENGTH = 50 };
    weft_pool *pool = bare_new(), *other = bare_new();
    weft_group *groups[LENGTH], *foreign = group_new(other, NULL);
    for (int i = 0; i < LENGTH; i++) {
        groups[i] = group_new(pool, NULL);
        CHECK_EQ(weft_group_join(groups[i], groups[i]), -ELOOP);
        if (i > 0)
            CHECK_EQ(weft_group_join(groups[i - 1], groups[i]), 0);
        for (int k = 0; k < i; k++)
            CHECK_EQ(weft_group_join(groups[i], groups[k]), -ELOOP);
    }
    CHECK_EQ(weft_group_join(groups[0], groups[1]), -EEXIST);
    CHECK_EQ(weft_group_join(groups[0], groups[2]), 0); /* by two ways is fine */
    CHECK_EQ(weft_group_join(groups[0], foreign), -ESTALE);
    CHECK_EQ(weft_group_part(groups[0], foreign), -ESTALE);
    CHECK_EQ(weft_group_part(groups[0], groups[1]), 0);
    CHECK_EQ(weft_group_part(groups[0], groups[1]), -ENOENT);
    CHECK_EQ(weft_group_part(groups[0], groups[0]), -ENOENT);
    CHECK_EQ(weft_group_join(groups[1], groups[0]), 0); /* nothing in the way any more */
    bare_free(other);
    bare_free(pool);
}

TEST(a_work_below_by_two_ways_counts_once) {
    weft_pool *pool = bare_new();
    weft_group *top = group_new(pool, NULL), *left = group_new(pool, NULL), *right = group_new(pool, NULL);
    weft_group *bottom = group_new(pool, NULL);
    CHECK_EQ(weft_group_join(top, left), 0);
    CHECK_EQ(weft_group_join(top, right), 0);
    CHECK_EQ(weft_group_join(left, bottom), 0);
    CHECK_EQ(weft_group_join(right, bottom), 0);
    weft_work a = BARE(pool, .group = bottom);
    CHECK_EQ(weft_group_add(top, a), 0);
    CHECK_EQ(weft_group_add(left, a), 0);
    CHECK_EQ(weft_group_works(top, NULL, 0), 1);
    CHECK_EQ(weft_group_works(right, NULL, 0), 1);
    CHECK(bare_end(pool, a, WEFT_WORK_SUCCEEDED));
    CHECK_EQ(weft_group_works(top, NULL, 0), 0);
    bare_free(pool);
}

/* ---- Waiting ---- */

struct group_waiter {
    weft_group *group;
    weft_time deadline;
    atomic_int status; /* 1: not yet */
    pthread_t thread;
};

static void *wait_for_group(void *opaque) {
    struct group_waiter *waiter = opaque;
    atomic_store(&waiter->status, weft_group_wait(waiter->group, waiter->deadline));
    return NULL;
}

static int count_idlers(weft_pool *pool) {
    int count = 0;
    wf_lock_take(&pool->lock);
    for (struct wf_waiter *waiter = pool->idlers; waiter; waiter = waiter->next == pool->idlers ? NULL : waiter->next)
        count++;
    wf_lock_drop(&pool->lock);
    return count;
}

static void waiter_start(struct group_waiter *waiter, weft_pool *pool, weft_group *group) {
    int before = count_idlers(pool);
    waiter->group = group;
    waiter->deadline = WEFT_NEVER;
    atomic_store(&waiter->status, 1);
    waiter->thread = thread_start(wait_for_group, waiter);
    WAIT_UNTIL(count_idlers(pool) == before + 1); /* it stands there, too */
}

static void waiter_finish(struct group_waiter *waiter, int status) {
    thread_join(waiter->thread);
    CHECK_EQ(atomic_load(&waiter->status), status);
}

TEST(whoever_waits_for_a_group_is_woken_by_its_last_work) {
    weft_pool *pool = bare_new();
    weft_group *top = group_new(pool, NULL), *below = group_new(pool, NULL);
    CHECK_EQ(weft_group_join(top, below), 0);
    weft_work a = BARE(pool, .group = top), b = BARE(pool, .group = below);
    struct group_waiter first, second, third;
    CHECK_EQ(weft_group_wait(top, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_group_wait(top, weft_after(1)), -ETIMEDOUT);
    waiter_start(&first, pool, top);
    waiter_start(&second, pool, top);
    waiter_start(&third, pool, below);
    CHECK(bare_end(pool, a, WEFT_WORK_SUCCEEDED));
    CHECK_EQ(count_idlers(pool), 3);
    CHECK(bare_end(pool, b, WEFT_WORK_FAILED));
    waiter_finish(&first, 0);
    waiter_finish(&second, 0);
    waiter_finish(&third, 0);
    CHECK_EQ(count_idlers(pool), 0);
    CHECK_EQ(weft_group_wait(top, WEFT_NOW), 0);
    bare_free(pool);
}

static void end_by_remove(weft_pool *pool, weft_group **groups, weft_work work) {
    (void)pool;
    CHECK_EQ(weft_group_remove(groups[2], work), 0);
}

static void end_by_part(weft_pool *pool, weft_group **groups, weft_work work) {
    (void)pool;
    (void)work;
    CHECK_EQ(weft_group_part(groups[1], groups[2]), 0);
}

static void end_by_free_below(weft_pool *pool, weft_group **groups, weft_work work) {
    (void)pool;
    (void)work;
    weft_group_free(groups[2]);
}

static void end_by_free_between(weft_pool *pool, weft_group **groups, weft_work work) {
    (void)pool;
    (void)work;
    weft_group_free(groups[1]);
}

static void end_by_cancel(weft_pool *pool, weft_group **groups, weft_work work) {
    (void)groups;
    CHECK(bare_end(pool, work, WEFT_WORK_CANCELLED));
}

TEST(whatever_empties_a_group_wakes_those_who_wait_above) {
    static void (*const ways[])(weft_pool *, weft_group **, weft_work) = {end_by_remove, end_by_part, end_by_free_below,
                                                                          end_by_free_between, end_by_cancel};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        weft_pool *pool = bare_new();
        weft_group *groups[] = {group_new(pool, NULL), group_new(pool, NULL), group_new(pool, NULL)};
        CHECK_EQ(weft_group_join(groups[0], groups[1]), 0);
        CHECK_EQ(weft_group_join(groups[1], groups[2]), 0);
        weft_work work = BARE(pool, .group = groups[2]);
        struct group_waiter waiter;
        waiter_start(&waiter, pool, groups[0]);
        ways[i](pool, groups, work);
        waiter_finish(&waiter, 0);
        bare_end(pool, work, WEFT_WORK_SUCCEEDED);
        bare_free(pool);
    }
}

TEST(whoever_waits_for_a_group_that_is_freed_hears_that) {
    weft_pool *pool = bare_new();
    weft_group *group = group_new(pool, NULL);
    weft_work work = BARE(pool, .group = group);
    struct group_waiter waiter;
    waiter_start(&waiter, pool, group);
    weft_group_free(group);
    waiter_finish(&waiter, -ESTALE);
    CHECK(bare_end(pool, work, WEFT_WORK_SUCCEEDED));
    bare_free(pool);
}

/* All that is outstanding waits for something that was never submitted. */
TEST(whoever_waits_for_what_cannot_go_on_hears_that) {
    weft_pool *pool = bare_new();
    weft_group *group = group_new(pool, NULL);
    weft_work_id never = text_id("never");
    bool is_first;
    CHECK(wf_pool_count_in(pool, 2, &is_first));
    weft_work held = BARE(pool, .group = group, .after_ids = &never, .after_id_count = 1);
    weft_work runs = BARE(pool, .priority = 0);
    struct group_waiter waiter;
    waiter_start(&waiter, pool, group);
    CHECK(bare_end(pool, runs, WEFT_WORK_SUCCEEDED));
    wf_pool_count_out(pool, 1);
    waiter_finish(&waiter, -EDEADLK);
    CHECK_EQ(weft_group_wait(group, WEFT_NEVER), -EDEADLK);
    CHECK(bare_end(pool, held, WEFT_WORK_CANCELLED));
    CHECK_EQ(weft_group_wait(group, WEFT_NEVER), 0);
    wf_store_relaxed(&pool->word, 0);
    bare_free(pool);
}

/* ---- Pausing ---- */

TEST(a_work_is_paused_while_any_group_above_it_is) {
    weft_pool *pool = bare_new();
    weft_group *top = group_new(pool, NULL), *middle = group_new(pool, NULL), *other = group_new(pool, NULL);
    CHECK_EQ(weft_group_join(top, middle), 0);
    weft_work a = BARE(pool, .group = middle), b = BARE(pool, .group = other);
    CHECK_EQ(weft_group_add(other, a), 0);
    CHECK(!is_paused(pool, a));
    CHECK_EQ(weft_group_control(top, WEFT_PAUSE), 0);
    CHECK_EQ(weft_group_control(top, WEFT_PAUSE), 0);
    CHECK(is_paused(pool, a) && !is_paused(pool, b));
    CHECK_EQ(weft_group_control(other, WEFT_PAUSE), 0);
    CHECK(is_paused(pool, b));
    CHECK_EQ(weft_group_control(top, WEFT_RESUME), 0);
    CHECK(is_paused(pool, a)); /* by the other one */
    CHECK_EQ(weft_group_control(other, WEFT_RESUME), 0);
    CHECK(!is_paused(pool, a) && !is_paused(pool, b));
    CHECK_EQ(weft_group_control(other, WEFT_RESUME), 2); /* neither was paused */
    CHECK_EQ(weft_group_control(top, WEFT_PAUSE), 0);
    weft_work late = BARE(pool, .group = middle);
    CHECK(is_paused(pool, late));
    CHECK_EQ(weft_group_control(top, WEFT_RESUME), 0); /* also of what was submitted meanwhile */
    CHECK_EQ(weft_group_control(top, WEFT_PAUSE), 0);
    CHECK_EQ(weft_group_part(top, middle), 0);
    CHECK(!is_paused(pool, late));
    CHECK(bare_end(pool, a, WEFT_WORK_SUCCEEDED));
    CHECK(bare_end(pool, b, WEFT_WORK_SUCCEEDED));
    CHECK(bare_end(pool, late, WEFT_WORK_SUCCEEDED));
    bare_free(pool);
}

/* ---- Memory that is refused ---- */

TEST(groups_without_memory_change_nothing) {
    weft_pool *pool = bare_new();
    weft_group *top = group_new(pool, NULL), *below = group_new(pool, NULL), *group = NULL;
    weft_work a = BARE(pool, .priority = 0), b = WEFT_NO_WORK;
    weft_work_options options = {.group = top};
    for (long nth = 1; nth <= 2; nth++) {
        wf_fault_order(WF_CALL_ALLOC, 1, ENOMEM, 0);
        CHECK_EQ(weft_group_new(&group, pool, "x"), -ENOMEM);
        wf_fault_order(WF_CALL_ALLOC, 1, ENOMEM, 0);
        CHECK_EQ(weft_group_join(top, below), -ENOMEM);
        wf_fault_order(WF_CALL_ALLOC, 1, ENOMEM, 0); /* membership: it has terms */
        CHECK_EQ(weft_group_add(top, a), -ENOMEM);
        wf_fault_order(WF_CALL_ALLOC, nth, ENOMEM, 0);
        CHECK_EQ(bare_submit(pool, &options, &b), -ENOMEM);
        wf_fault_order(WF_CALL_ALLOC, 0, 0, 0);
        CHECK_EQ(weft_group_find(pool, "x", &group), -ENOENT);
        CHECK_EQ(weft_group_part(top, below), -ENOENT);
        CHECK_EQ(weft_group_remove(top, a), -ENOENT);
        CHECK_EQ(weft_group_works(top, NULL, 0), 0);
    }
    CHECK_EQ(weft_group_add(top, a), 0);
    wf_fault_order(WF_CALL_ALLOC, 1, ENOMEM, 0);
    CHECK_EQ(weft_group_control(top, WEFT_STOP), -ENOMEM);
    wf_fault_order(WF_CALL_ALLOC, 0, 0, 0);
    CHECK_EQ(bare_phase(pool, a), WF_WORK_QUEUED);
    CHECK_EQ(weft_group_control(below, WEFT_PAUSE), 0);
    CHECK(bare_end(pool, a, WEFT_WORK_SUCCEEDED));
    bare_free(pool);
}

/* ---- Random graphs against an oracle ---- */

enum { GROUPS = 10, WORKS = 16 };

static bool is_tied[GROUPS][GROUPS]; /* parent, child */
static bool is_in[GROUPS][WORKS];
static bool has_flag[GROUPS];

static bool oracle_is_below(int above, int below) {
    if (above == below)
        return true;
    for (int i = 0; i < GROUPS; i++)
        if (is_tied[above][i] && oracle_is_below(i, below))
            return true;
    return false;
}

static bool oracle_has(int group, int work) {
    for (int i = 0; i < GROUPS; i++)
        if (is_in[i][work] && oracle_is_below(group, i))
            return true;
    return false;
}

static void compare_groups(weft_pool *pool, weft_group **groups, const weft_work *works) {
    for (int g = 0; g < GROUPS; g++) {
        weft_work listed[WORKS];
        size_t count = weft_group_works(groups[g], listed, WORKS), expected = 0;
        for (int w = 0; w < WORKS; w++) {
            size_t times = 0;
            for (size_t i = 0; i < count; i++)
                times += listed[i].bits == works[w].bits;
            CHECK_EQ(times, oracle_has(g, w));
            expected += times;
        }
        CHECK_EQ(count, expected);
        CHECK_EQ(weft_group_wait(groups[g], WEFT_NOW), expected ? -ETIMEDOUT : 0);
    }
    for (int w = 0; w < WORKS; w++) {
        bool expected = false;
        for (int g = 0; g < GROUPS; g++)
            expected |= has_flag[g] && oracle_has(g, w);
        CHECK_EQ(is_paused(pool, works[w]), expected);
    }
}

static void random_step(weft_pool *pool, weft_group **groups, weft_work *works, uint64_t *random) {
    int a = (int)random_below(random, GROUPS), b = (int)random_below(random, GROUPS);
    int w = (int)random_below(random, WORKS);
    switch (random_below(random, 8)) {
    case 0:
    case 1:
        CHECK_EQ(weft_group_join(groups[a], groups[b]), a == b                  ? -ELOOP
                                                        : is_tied[a][b]         ? -EEXIST
                                                        : oracle_is_below(b, a) ? -ELOOP
                                                                                : 0);
        is_tied[a][b] |= !oracle_is_below(b, a);
        break;
    case 2:
        CHECK_EQ(weft_group_part(groups[a], groups[b]), is_tied[a][b] ? 0 : -ENOENT);
        is_tied[a][b] = false;
        break;
    case 3:
    case 4:
        CHECK_EQ(weft_group_add(groups[a], works[w]), is_in[a][w] ? -EEXIST : 0);
        is_in[a][w] = true;
        break;
    case 5:
        CHECK_EQ(weft_group_remove(groups[a], works[w]), is_in[a][w] ? 0 : -ENOENT);
        is_in[a][w] = false;
        break;
    case 6: /* a work ends, and another comes in its place */
        CHECK(bare_end(pool, works[w], WEFT_WORK_SUCCEEDED));
        for (int g = 0; g < GROUPS; g++)
            is_in[g][w] = g == a;
        works[w] = BARE(pool, .group = groups[a]);
        break;
    case 7:
        if (random_below(random, 4)) {
            has_flag[a] = !has_flag[a];
            CHECK_EQ(weft_group_control(groups[a], has_flag[a] ? WEFT_PAUSE : WEFT_RESUME), 0);
            break;
        }
        weft_group_free(groups[a]); /* a group goes, and another comes in its place */
        groups[a] = group_new(pool, NULL);
        has_flag[a] = false;
        for (int i = 0; i < GROUPS; i++)
            is_tied[a][i] = is_tied[i][a] = false;
        memset(is_in[a], 0, sizeof is_in[a]);
        break;
    }
}

TEST(random_graphs_of_groups_do_what_the_oracle_says) {
    uint64_t random = wf_test_seed() | 1;
    for (long round = scaled(60, 6); round > 0; round--) {
        weft_pool *pool = bare_new();
        weft_group *groups[GROUPS];
        weft_work works[WORKS];
        memset(is_tied, 0, sizeof is_tied);
        memset(is_in, 0, sizeof is_in);
        memset(has_flag, 0, sizeof has_flag);
        for (int i = 0; i < GROUPS; i++)
            groups[i] = group_new(pool, NULL);
        for (int i = 0; i < WORKS; i++)
            works[i] = BARE(pool, .priority = 0);
        for (int step = 0; step < 200; step++) {
            random_step(pool, groups, works, &random);
            if (step % 5 == 0)
                compare_groups(pool, groups, works);
        }
        for (int i = 0; i < WORKS; i++)
            CHECK(bare_end(pool, works[i], WEFT_WORK_SUCCEEDED));
        bare_free(pool);
    }
}
