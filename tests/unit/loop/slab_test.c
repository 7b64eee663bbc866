/* SPDX-License-Identifier: MIT
 *
 * unit/loop/slab_test.c - ids that go stale.
 *
 * A slab against a plain list of what was taken; the ends of its two number spaces, which no program reaches by using it,
 * are reached by setting the fields; every allocation of a growing slab fails once.
 */
#include "loop/slab.h"
#include "os/fault.h"
#include "support/run.h"

struct thing {
    struct wf_slot slot;
    uint64_t payload[3];
};

static struct wf_slab slab;

static struct thing *take(void) {
    void *record = NULL;
    CHECK_EQ(wf_slab_take(&slab, &record), 0);
    return record;
}

TEST(an_id_is_stale_once_its_record_was_given_back) {
    wf_slab_init(&slab, sizeof(struct thing));
    struct thing *first = take();
    uint64_t old = wf_slab_id(first);
    CHECK(old != 0);
    CHECK(wf_slab_find(&slab, old) == first);
    first->payload[1] = 7;
    wf_slab_give(&slab, first);
    CHECK(wf_slab_find(&slab, old) == NULL);
    struct thing *again = take();
    CHECK(again == first); /* the same place */
    CHECK_EQ(again->payload[1], 0);
    CHECK(wf_slab_id(again) != old);
    CHECK(wf_slab_find(&slab, old) == NULL);
    CHECK(wf_slab_find(&slab, wf_slab_id(again)) == again);
    wf_slab_give(&slab, again);
    CHECK_EQ(slab.used, 0);
    wf_slab_term(&slab);
}

TEST(numbers_that_are_no_ids_find_nothing) {
    wf_slab_init(&slab, sizeof(struct thing));
    CHECK(wf_slab_find(&slab, 0) == NULL);
    CHECK(wf_slab_find(&slab, UINT64_MAX) == NULL);
    struct thing *thing = take();
    uint64_t id = wf_slab_id(thing);
    CHECK(wf_slab_find(&slab, 0) == NULL);
    CHECK(wf_slab_find(&slab, UINT64_MAX) == NULL);
    CHECK(wf_slab_find(&slab, id + 1) == NULL);                                /* a free one */
    CHECK(wf_slab_find(&slab, id + WF_SLAB_CHUNK) == NULL);                    /* beyond the chunks */
    CHECK(wf_slab_find(&slab, id + (1u << WF_SLAB_INDEX_BITS)) == NULL);       /* a later generation */
    CHECK(wf_slab_find(&slab, id | UINT64_C(1) << 53) == NULL);                /* bits that no id has */
    CHECK(wf_slab_find(&slab, id & ((1u << WF_SLAB_INDEX_BITS) - 1)) == NULL); /* generation 0 */
    wf_slab_term(&slab);
}

TEST(records_stay_where_they_are_while_the_slab_grows) {
    enum { MANY = 40 * WF_SLAB_CHUNK };
    static struct thing *things[MANY];
    wf_slab_init(&slab, sizeof(struct thing));
    for (uint64_t i = 0; i < MANY; i++) {
        things[i] = take();
        things[i]->payload[0] = i;
    }
    CHECK_EQ(slab.used, MANY);
    for (uint64_t i = 0; i < MANY; i++) {
        CHECK(wf_slab_find(&slab, wf_slab_id(things[i])) == things[i]);
        CHECK_EQ(things[i]->payload[0], i);
    }
    wf_slab_term(&slab);
}

TEST(ids_fit_into_53_bits_and_a_slot_with_none_left_is_not_used_again) {
    wf_slab_init(&slab, sizeof(struct thing));
    struct thing *thing = take();
    thing->slot.generation = WF_SLAB_GENERATION_MAX;
    uint64_t last = wf_slab_id(thing);
    CHECK(last < UINT64_C(1) << 53);
    CHECK(wf_slab_find(&slab, last) == thing);
    wf_slab_give(&slab, thing);
    CHECK(wf_slab_find(&slab, last) == NULL);
    for (int i = 0; i < 2 * WF_SLAB_CHUNK; i++)
        CHECK(take() != thing);
    wf_slab_term(&slab);
}

TEST(a_slab_whose_indices_are_used_up_says_so) {
    wf_slab_init(&slab, sizeof(struct thing));
    struct thing *thing = take();
    uint32_t first_free = slab.first_free;
    void *record = &slab;
    slab.first_free = 0;
    slab.chunk_count = (1u << WF_SLAB_INDEX_BITS) / WF_SLAB_CHUNK;
    CHECK_EQ(wf_slab_take(&slab, &record), -ENOSPC);
    CHECK(record == &slab);
    slab.chunk_count = 1;
    slab.first_free = first_free;
    CHECK(take() != thing);
    wf_slab_term(&slab);
}

/* Fails the n-th allocation, for every n that there is. */
TEST(without_memory_nothing_is_taken_and_nothing_is_lost) {
    enum { FILL = 9 * WF_SLAB_CHUNK }; /* the list of chunks grows once more at eight */
    for (long nth = 1;; nth++) {
        int refused = 0;
        wf_slab_init(&slab, sizeof(struct thing));
        wf_fault_order_here(WF_CALL_ALLOC, nth, ENOMEM, 0);
        for (int i = 0; i < FILL; i++) {
            void *record = &slab;
            uint32_t used = slab.used;
            int error = wf_slab_take(&slab, &record);
            if (error) {
                CHECK_EQ(error, -ENOMEM);
                CHECK(record == &slab);
                CHECK_EQ(slab.used, used);
                refused++;
                i--;
            }
        }
        long hits = wf_fault_hits();
        wf_fault_order_here(WF_CALL_ALLOC, 0, 0, 0);
        CHECK_EQ(refused, hits);
        CHECK_EQ(slab.used, FILL);
        wf_slab_term(&slab);
        if (!hits)
            break;
    }
}

/* Random takes and gives; a list remembers all ids that there ever were. */
TEST(random_use_agrees_with_a_list) {
    enum { IDS = 4000 };
    static struct {
        uint64_t id;
        struct thing *thing; /* NULL: stale */
    } known[IDS];
    uint64_t random = wf_test_seed() | 1;
    int count = 0;
    uint32_t used = 0;
    wf_slab_init(&slab, sizeof(struct thing));
    while (count < IDS) {
        int at = count ? (int)random_below(&random, (uint64_t)count) : 0;
        if (count && random_below(&random, 2) == 0) {
            CHECK(wf_slab_find(&slab, known[at].id) == known[at].thing);
            if (!known[at].thing)
                continue;
            CHECK_EQ(known[at].thing->payload[2], known[at].id);
            wf_slab_give(&slab, known[at].thing);
            known[at].thing = NULL;
            used--;
        } else {
            known[count].thing = take();
            known[count].id = wf_slab_id(known[count].thing);
            known[count].thing->payload[2] = known[count].id;
            count++;
            used++;
        }
        CHECK_EQ(slab.used, used);
    }
    for (int i = 0; i < IDS; i++)
        CHECK(wf_slab_find(&slab, known[i].id) == known[i].thing);
    wf_slab_term(&slab);
}
