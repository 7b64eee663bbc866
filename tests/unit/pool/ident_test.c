/* SPDX-License-Identifier: MIT
 *
 * unit/pool/ident_test.c - ids from the inside: the table, what it remembers, what it forgets, memory that is refused.
 *
 * On a pool without threads; see unit/pool/bare.h. What programs see of ids is in spec/pool_depend_test.c.
 */
#include "os/fault.h"
#include "unit/pool/bare.h"

static const struct wf_failure *failure_of(weft_pool *pool, weft_work work) {
    wf_lock_take(&pool->lock);
    const struct wf_failure *failure = wf_failure_find_locked(pool, work);
    wf_lock_drop(&pool->lock);
    return failure;
}

static int find(weft_pool *pool, weft_work_id id) {
    weft_work work;
    return weft_pool_find(pool, id, &work);
}

TEST(an_id_is_a_text_of_1_to_255_bytes_or_a_number_but_0) {
    char long_text[WEFT_WORK_ID_MAX + 2];
    memset(long_text, 'x', sizeof long_text);
    long_text[WEFT_WORK_ID_MAX + 1] = 0;
    weft_work_id id = {0};
    CHECK_EQ(wf_id_check(&id), 0);
    id = number_id(1);
    CHECK_EQ(wf_id_check(&id), 1);
    id = number_id(UINT64_MAX);
    CHECK_EQ(wf_id_check(&id), 1);
    id = text_id("");
    CHECK_EQ(wf_id_check(&id), -EINVAL);
    id = (weft_work_id){.text = "", .number = 1};
    CHECK_EQ(wf_id_check(&id), -EINVAL);
    id = text_id(long_text);
    CHECK_EQ(wf_id_check(&id), -EINVAL);
    id = text_id(long_text + 1);
    CHECK_EQ(wf_id_check(&id), 1);
}

TEST(find_refuses_wrong_arguments) {
    weft_pool *pool = bare_new();
    weft_work work = {77};
    CHECK_EQ(weft_pool_find(NULL, number_id(1), &work), -EINVAL);
    CHECK_EQ(weft_pool_find(pool, number_id(1), NULL), -EINVAL);
    CHECK_EQ(weft_pool_find(pool, (weft_work_id){0}, &work), -EINVAL);
    CHECK_EQ(weft_pool_find(pool, text_id(""), &work), -EINVAL);
    CHECK_EQ(weft_pool_find(pool, number_id(1), &work), -ENOENT);
    CHECK_EQ(work.bits, 77);
    bare_free(pool);
}

TEST(the_text_1_and_the_number_1_are_two_ids) {
    weft_pool *pool = bare_new();
    weft_work text = BARE(pool, .id = text_id("1"));
    weft_work number = BARE(pool, .id = {.number = 1});
    weft_work found;
    CHECK_NE(text.bits, number.bits);
    CHECK_EQ(weft_pool_find(pool, text_id("1"), &found), 0);
    CHECK_EQ(found.bits, text.bits);
    CHECK_EQ(weft_pool_find(pool, (weft_work_id){.text = "1", .number = 9}, &found), 0); /* a text hides the number */
    CHECK_EQ(found.bits, text.bits);
    CHECK_EQ(weft_pool_find(pool, number_id(1), &found), 0);
    CHECK_EQ(found.bits, number.bits);
    CHECK(bare_end(pool, text, WEFT_WORK_SUCCEEDED));
    CHECK(bare_end(pool, number, WEFT_WORK_SUCCEEDED));
    bare_free(pool);
}

/* The number that the hash of the text is made from: undoes its last steps, each of which can be undone. */
static uint64_t number_with_hash(uint64_t hash) {
    const uint64_t factor = UINT64_C(0xd6e8feb86659fd93);
    uint64_t inverse = factor; /* right in its lowest 3 bits; each step doubles that */
    for (int i = 0; i < 5; i++)
        inverse *= 2 - factor * inverse;
    CHECK_EQ(factor * inverse, 1);
    hash ^= hash >> 32;
    hash *= inverse;
    hash ^= hash >> 32;
    hash *= inverse;
    return hash ^ (hash >> 32);
}

TEST(a_text_and_a_number_of_the_same_hash_are_two_ids) {
    weft_pool *pool = bare_new();
    weft_work text = BARE(pool, .id = text_id("a text")), found;
    struct wf_terms *terms = wf_work_terms(wf_work_find(pool, text));
    weft_work_id twin = number_id(number_with_hash(terms->name->hash));
    weft_work number = BARE(pool, .id = twin);
    CHECK_EQ(wf_work_terms(wf_work_find(pool, number))->name->hash, terms->name->hash);
    CHECK_EQ(weft_pool_find(pool, text_id("a text"), &found), 0);
    CHECK_EQ(found.bits, text.bits);
    CHECK_EQ(weft_pool_find(pool, twin, &found), 0);
    CHECK_EQ(found.bits, number.bits);
    CHECK(bare_end(pool, text, WEFT_WORK_SUCCEEDED));
    CHECK(bare_end(pool, number, WEFT_WORK_SUCCEEDED));
    bare_free(pool);
}

TEST(texts_are_compared_whole) {
    static const char *const texts[] = {"a", "ab", "abc", "b", "ba", "A", "a ", "\xff"};
    enum { COUNT = sizeof texts / sizeof texts[0] };
    weft_pool *pool = bare_new();
    weft_work works[COUNT], found;
    for (int i = 0; i < COUNT; i++)
        works[i] = BARE(pool, .id = text_id(texts[i]));
    for (int i = 0; i < COUNT; i++) {
        char copy[8];
        strcpy(copy, texts[i]); /* what counts is what it reads, not where it is */
        CHECK_EQ(weft_pool_find(pool, text_id(copy), &found), 0);
        CHECK_EQ(found.bits, works[i].bits);
    }
    for (int i = 0; i < COUNT; i++)
        CHECK(bare_end(pool, works[i], WEFT_WORK_SUCCEEDED));
    bare_free(pool);
}

TEST(the_table_grows_and_loses_nobody) {
    enum { COUNT = 5000 };
    weft_pool *pool = bare_new();
    static weft_work works[COUNT];
    char text[24];
    for (int i = 0; i < COUNT; i++) {
        snprintf(text, sizeof text, "work %d", i);
        works[i] = i % 2 ? BARE(pool, .id = text_id(text)) : BARE(pool, .id = {.number = (uint64_t)i + 1});
        CHECK_EQ(pool->name_count, i + 1);
        CHECK_LE(pool->name_count, pool->name_room);
    }
    for (int i = 0; i < COUNT; i++) {
        weft_work found;
        snprintf(text, sizeof text, "work %d", i);
        CHECK_EQ(weft_pool_find(pool, i % 2 ? text_id(text) : number_id((uint64_t)i + 1), &found), 0);
        CHECK_EQ(found.bits, works[i].bits);
    }
    for (int i = 0; i < COUNT; i++)
        CHECK(bare_end(pool, works[i], i % 3 ? WEFT_WORK_SUCCEEDED : WEFT_WORK_FAILED));
    CHECK_EQ(pool->name_count, COUNT); /* remembered */
    bare_next_generation(pool);
    CHECK_EQ(pool->name_count, 0);
    bare_free(pool);
}

TEST(an_id_is_taken_until_its_work_is_over) {
    weft_pool *pool = bare_new();
    weft_work first = BARE(pool, .id = text_id("x")), second = WEFT_NO_WORK;
    weft_work_options again = {.id = text_id("x")};
    CHECK_EQ(bare_submit(pool, &again, &second), -EEXIST);
    CHECK(bare_end(pool, first, WEFT_WORK_FAILED));
    CHECK_EQ(find(pool, text_id("x")), -ENOENT); /* over, and not stored */
    CHECK_EQ(bare_submit(pool, &again, &second), 0);
    CHECK_EQ(find(pool, text_id("x")), 0);
    CHECK_EQ(bare_submit(pool, &again, &first), -EEXIST);
    CHECK(bare_end(pool, second, WEFT_WORK_SUCCEEDED));
    bare_free(pool);
}

/* The id means the new work; the stored result of the old one stays, under its handle. */
TEST(a_stored_work_is_found_by_its_id_until_another_takes_it) {
    weft_pool *pool = bare_new();
    weft_work found;
    weft_work first = BARE(pool, .id = text_id("x"), .store_result = true);
    CHECK(bare_end(pool, first, WEFT_WORK_SUCCEEDED));
    CHECK_EQ(weft_pool_find(pool, text_id("x"), &found), 0);
    CHECK_EQ(found.bits, first.bits);
    weft_work second = BARE(pool, .id = text_id("x"));
    CHECK_EQ(weft_pool_find(pool, text_id("x"), &found), 0);
    CHECK_EQ(found.bits, second.bits);
    CHECK_EQ(bare_phase(pool, first), WF_WORK_DONE);
    CHECK(bare_end(pool, second, WEFT_WORK_SUCCEEDED));
    CHECK_EQ(find(pool, text_id("x")), -ENOENT);
    wf_work_recycle(pool, NULL, wf_work_find(pool, first));
    bare_free(pool);
}

/* Over, and only a queue still has the record. */
TEST(a_work_that_is_over_and_not_stored_is_not_found) {
    weft_pool *pool = bare_new();
    weft_work work = BARE(pool, .id = text_id("x"), .store_result = true);
    CHECK(bare_end(pool, work, WEFT_WORK_SUCCEEDED));
    struct wf_work *record = wf_work_find(pool, work);
    wf_store_relaxed(&record->word, (wf_load_relaxed(&record->word) & ~WF_WORK_STORED) | WF_WORK_LISTED);
    CHECK_EQ(find(pool, text_id("x")), -ENOENT);
    wf_work_recycle(pool, NULL, record);
    bare_free(pool);
}

TEST(a_submit_that_is_refused_leaves_the_id_as_it_was) {
    weft_pool *pool = bare_new();
    weft_work first = BARE(pool, .id = text_id("x"), .store_result = true), found;
    CHECK(bare_end(pool, first, WEFT_WORK_FAILED));
    weft_work_id self = text_id("x");
    weft_work_options loop = {.id = self, .after_ids = &self, .after_id_count = 1};
    CHECK_EQ(bare_submit(pool, &loop, &found), -ELOOP);
    CHECK_EQ(weft_pool_find(pool, self, &found), 0);
    CHECK_EQ(found.bits, first.bits);
    weft_work after = WEFT_NO_WORK;
    weft_work_options depends = {.after_ids = &self, .after_id_count = 1};
    CHECK_EQ(bare_submit(pool, &depends, &after), 0);
    CHECK_EQ(bare_phase(pool, after), WF_WORK_FREE); /* it failed at once, since the first one had */
    CHECK_EQ(failure_of(pool, after)->cause.bits, first.bits);
    wf_work_recycle(pool, NULL, wf_work_find(pool, first));

    weft_work_id fresh = text_id("fresh");
    loop = (weft_work_options){.id = fresh, .after_ids = &fresh, .after_id_count = 1};
    size_t names = pool->name_count;
    CHECK_EQ(bare_submit(pool, &loop, &found), -ELOOP);
    CHECK_EQ(pool->name_count, names);
    bare_free(pool);
}

TEST(a_beginning_forgets_ids_that_were_over_before_it_and_no_others) {
    weft_pool *pool = bare_new();
    weft_work_id to_come = text_id("to come");
    weft_work over = BARE(pool, .id = text_id("over"));
    weft_work alive = BARE(pool, .id = text_id("alive"));
    weft_work held = BARE(pool, .after_ids = &to_come, .after_id_count = 1);
    CHECK(bare_end(pool, over, WEFT_WORK_SUCCEEDED));
    CHECK_EQ(pool->name_count, 3);
    wf_lock_take(&pool->lock);
    wf_names_clear_locked(pool,
                          wf_pool_generation(wf_load_relaxed(&pool->word))); /* told late: it is this generation's */
    wf_lock_drop(&pool->lock);
    CHECK_EQ(pool->name_count, 3);
    bare_next_generation(pool);
    CHECK_EQ(pool->name_count, 2);
    CHECK_EQ(find(pool, text_id("alive")), 0);
    weft_work awaited = BARE(pool, .id = to_come);
    CHECK(bare_end(pool, awaited, WEFT_WORK_SUCCEEDED));
    CHECK_EQ(bare_phase(pool, held), WF_WORK_QUEUED);
    CHECK(bare_end(pool, held, WEFT_WORK_SUCCEEDED));
    CHECK(bare_end(pool, alive, WEFT_WORK_SUCCEEDED));
    bare_free(pool);
}

TEST(keep_results_keeps_ids_over_generations) {
    weft_pool *pool = bare_new();
    pool->options.keep_results = true;
    weft_work_id id = text_id("x");
    weft_work first = BARE(pool, .id = id);
    CHECK(bare_end(pool, first, WEFT_WORK_CANCELLED));
    bare_next_generation(pool);
    bare_next_generation(pool);
    CHECK_EQ(pool->name_count, 1);
    weft_work after = BARE(pool, .after_ids = &id, .after_id_count = 1);
    CHECK_EQ(failure_of(pool, after)->cause.bits, first.bits);
    CHECK_EQ(wf_failures_list_locked(pool, WEFT_WORK_CANCELLED, NULL, 0), 1);
    bare_free(pool);
}

TEST(an_expected_id_goes_with_the_last_that_waits_for_it) {
    weft_pool *pool = bare_new();
    weft_work_id id = text_id("never");
    weft_work a = BARE(pool, .after_ids = &id, .after_id_count = 1);
    weft_work b = BARE(pool, .after_ids = &id, .after_id_count = 1);
    CHECK_EQ(pool->name_count, 1);
    CHECK_EQ(find(pool, id), -ENOENT);
    CHECK(bare_end(pool, a, WEFT_WORK_CANCELLED));
    CHECK_EQ(pool->name_count, 1);
    CHECK(bare_end(pool, b, WEFT_WORK_CANCELLED));
    CHECK_EQ(pool->name_count, 0);
    bare_free(pool);
}

/* ---- The memory of those who did not succeed ---- */

static weft_work fail_one(weft_pool *pool) {
    weft_work work = BARE(pool, .priority = 0);
    CHECK(bare_end(pool, work, WEFT_WORK_FAILED));
    return work;
}

TEST(failures_are_remembered_up_to_a_limit_the_oldest_go_first) {
    enum { MORE = 1000, COUNT = WF_FAILURES_MAX + MORE };
    weft_pool *pool = bare_new();
    weft_work *works = calloc(COUNT, sizeof *works);
    for (int i = 0; i < COUNT; i++) {
        works[i] = fail_one(pool);
        CHECK_EQ(pool->failure_count, i < WF_FAILURES_MAX ? i + 1 : WF_FAILURES_MAX);
    }
    for (int i = 0; i < COUNT; i++)
        CHECK_EQ(failure_of(pool, works[i]) != NULL, i >= MORE);
    weft_work *listed = calloc(WF_FAILURES_MAX, sizeof *listed);
    CHECK_EQ(wf_failures_list_locked(pool, WEFT_WORK_FAILED, listed, WF_FAILURES_MAX), WF_FAILURES_MAX);
    for (int i = 0; i < WF_FAILURES_MAX; i++)
        CHECK_EQ(listed[i].bits, works[MORE + i].bits);
    weft_work forgotten = BARE(pool, .after = &works[0], .after_count = 1);
    CHECK_EQ(bare_phase(pool, forgotten), WF_WORK_QUEUED); /* as far as anybody knows it succeeded */
    CHECK(bare_end(pool, forgotten, WEFT_WORK_SUCCEEDED));
    free(listed);
    free(works);
    bare_free(pool);
}

TEST(a_failure_is_noted_once) {
    weft_pool *pool = bare_new();
    weft_work work = fail_one(pool);
    wf_lock_take(&pool->lock);
    wf_failure_note_locked(pool, work, WEFT_WORK_FAILED);
    wf_lock_drop(&pool->lock);
    CHECK_EQ(pool->failure_count, 1);
    CHECK_EQ(failure_of(pool, work)->status, WEFT_WORK_FAILED);
    CHECK(failure_of(pool, (weft_work){work.bits + 1}) == NULL);
    bare_free(pool);
}

TEST(without_memory_the_last_few_failures_are_remembered) {
    enum { COUNT = 3 * WF_FAILURES_FEW + 5, LATER = 200 };
    weft_pool *pool = bare_new();
    weft_work works[COUNT + LATER];
    for (int i = 0; i < COUNT; i++) {
        works[i] = BARE(pool, .priority = 0);
        wf_fault_order(WF_CALL_ALLOC, 1, ENOMEM, 1);
        CHECK(bare_end(pool, works[i], WEFT_WORK_STOPPED));
        wf_fault_order(WF_CALL_ALLOC, 0, 0, 0);
    }
    CHECK_EQ(pool->failure_room, WF_FAILURES_FEW);
    for (int i = 0; i < COUNT; i++)
        CHECK_EQ(failure_of(pool, works[i]) != NULL, i >= COUNT - WF_FAILURES_FEW);
    for (int i = COUNT; i < COUNT + LATER; i++) /* there is memory again: the ring grows, and keeps its order */
        works[i] = fail_one(pool);
    CHECK_GE(pool->failure_room, LATER);
    weft_work listed[COUNT + LATER];
    CHECK_EQ(wf_failures_list_locked(pool, WEFT_WORK_STOPPED, listed, COUNT), WF_FAILURES_FEW);
    for (int i = 0; i < WF_FAILURES_FEW; i++)
        CHECK_EQ(listed[i].bits, works[COUNT - WF_FAILURES_FEW + i].bits);
    CHECK_EQ(wf_failures_list_locked(pool, WEFT_WORK_FAILED, listed, 3), LATER); /* more than there is room for */
    bare_free(pool);
}

/* They are not listed any more, but works that come after them still fail. */
TEST(failures_of_earlier_generations_count_but_are_not_listed) {
    weft_pool *pool = bare_new();
    weft_work old = fail_one(pool);
    CHECK_EQ(wf_failures_list_locked(pool, WEFT_WORK_FAILED, NULL, 0), 1);
    bare_next_generation(pool);
    CHECK_EQ(wf_failures_list_locked(pool, WEFT_WORK_FAILED, NULL, 0), 0);
    weft_work after = BARE(pool, .after = &old, .after_count = 1);
    CHECK_EQ(failure_of(pool, after)->cause.bits, old.bits);
    CHECK_EQ(wf_failures_list_locked(pool, WEFT_WORK_FAILED, NULL, 0), 1);
    bare_free(pool);
}

/* ---- Memory that is refused ---- */

/* Every allocation of a submit with ids fails once: nothing has changed then. */
TEST(a_submit_without_memory_changes_nothing) {
    enum { COUNT = 200 };
    weft_pool *pool = bare_new();
    weft_work works[COUNT];
    CHECK(bare_end(pool, BARE(pool, .priority = 0), WEFT_WORK_SUCCEEDED)); /* there is a chunk of records */
    long refused = 0;
    for (int i = 0; i < COUNT; i++) {
        weft_work_id ids[] = {number_id((uint64_t)i + 1001), text_id("common")};
        weft_work_options options = {.id = number_id((uint64_t)i + 1), .after_ids = ids, .after_id_count = 2};
        size_t names = pool->name_count;
        int error = -ENOMEM;
        for (long nth = 1; error == -ENOMEM; nth++) {
            wf_fault_order(WF_CALL_ALLOC, nth, ENOMEM, 0);
            error = bare_submit(pool, &options, &works[i]);
            refused += wf_fault_hits();
            CHECK_EQ(error, wf_fault_hits() ? -ENOMEM : 0);
            wf_fault_order(WF_CALL_ALLOC, 0, 0, 0);
            if (error) {
                CHECK_EQ(pool->name_count, names);
                CHECK_EQ(find(pool, options.id), -ENOENT);
            }
        }
        CHECK_EQ(find(pool, options.id), 0);
    }
    CHECK_GE(refused, 4 * COUNT); /* terms, edges, its entry and the others' */
    CHECK_EQ(wf_load_relaxed(&pool->held), COUNT);
    for (int i = 0; i < COUNT; i++)
        CHECK(bare_end(pool, works[i], WEFT_WORK_CANCELLED));
    bare_free(pool);
}
