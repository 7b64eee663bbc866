/* SPDX-License-Identifier: MIT
 *
 * unit/event/word_test.c - the arithmetic of the completion word, alone.
 *
 * The word is compared with a plain list of what was done: for every generation the verdict must be the true one, or
 * expired, and expired only where the window has passed and something poisoned has left it.
 */
#include "event/word.h"
#include "support/run.h"

TEST(a_new_slot_knows_nothing) {
    uint64_t word = wf_event_word_first(1);
    CHECK_EQ(wf_event_word_last(word), 0);
    CHECK_EQ(wf_event_word_verdict(word, 1), WF_EVENT_INCOMPLETE);
    word = wf_event_word_first(UINT32_MAX);
    CHECK_EQ(wf_event_word_verdict(word, UINT32_MAX), WF_EVENT_INCOMPLETE);
    word = wf_event_word_complete(word, true);
    CHECK_EQ(wf_event_word_last(word), UINT32_MAX);
    CHECK_EQ(wf_event_word_verdict(word, UINT32_MAX), WF_EVENT_POISONED);
}

TEST(a_poison_is_exact_in_the_window_and_never_ready_afterwards) {
    uint64_t word = wf_event_word_complete(wf_event_word_first(1), true);
    for (uint32_t last = 1; last < 200; last++) {
        CHECK_EQ(wf_event_word_last(word), last);
        CHECK_EQ(wf_event_word_verdict(word, 1), last <= WF_EVENT_WINDOW ? WF_EVENT_POISONED : WF_EVENT_EXPIRED);
        CHECK_EQ(wf_event_word_forgets_next(word), last == WF_EVENT_WINDOW);
        word = wf_event_word_complete(word, false);
        CHECK_EQ(wf_event_word_verdict(word, last + 1), WF_EVENT_READY);
        CHECK_EQ(wf_event_word_verdict(word, last + 2), WF_EVENT_INCOMPLETE);
    }
}

TEST(without_poison_every_verdict_is_exact_for_ever) {
    uint64_t word = wf_event_word_first(1);
    for (uint32_t last = 1; last < 200; last++) {
        word = wf_event_word_complete(word, false);
        for (uint32_t generation = 1; generation <= last; generation++)
            CHECK_EQ(wf_event_word_verdict(word, generation), WF_EVENT_READY);
    }
}

TEST(random_histories_agree_with_a_list) {
    enum { LENGTH = 300 };
    uint64_t random = wf_test_seed() | 1;
    for (long round = 0; round < scaled(200, 20); round++) {
        bool poisoned[LENGTH + 1];
        uint64_t word = wf_event_word_first(1);
        uint64_t rarity = 1 + random_below(&random, 60);
        uint32_t left = 0; /* newest poisoned generation that has left the window */
        for (uint32_t last = 1; last <= LENGTH; last++) {
            poisoned[last] = random_below(&random, rarity) == 0;
            word = wf_event_word_complete(word, poisoned[last]);
            if (last > WF_EVENT_WINDOW && poisoned[last - WF_EVENT_WINDOW])
                left = last - WF_EVENT_WINDOW;
            for (uint32_t generation = 1; generation <= last; generation++) {
                enum wf_event_verdict truth = poisoned[generation] ? WF_EVENT_POISONED : WF_EVENT_READY;
                bool is_old = last - generation >= WF_EVENT_WINDOW;
                CHECK_EQ(wf_event_word_verdict(word, generation), is_old && left ? WF_EVENT_EXPIRED : truth);
            }
        }
    }
}
