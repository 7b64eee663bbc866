/* SPDX-License-Identifier: MIT
 *
 * unit/base/state_test.c - state machines as data: every legal and every illegal move of the machine of fibers.
 *
 * The table of the test is written out by hand, so that a move that is added by mistake is seen here.
 */
#include "base/state.h"

#include "fiber/fiber.h"
#include "support/child.h"

static const struct {
    uint32_t from, to;
} legal[] = {
    {WF_FIBER_FREE, WF_FIBER_NEW},       {WF_FIBER_NEW, WF_FIBER_RUNNING},   {WF_FIBER_NEW, WF_FIBER_ENDED},
    {WF_FIBER_NEW, WF_FIBER_FREE},       {WF_FIBER_READY, WF_FIBER_RUNNING}, {WF_FIBER_RUNNING, WF_FIBER_READY},
    {WF_FIBER_RUNNING, WF_FIBER_PARKED}, {WF_FIBER_RUNNING, WF_FIBER_ENDED}, {WF_FIBER_RUNNING, WF_FIBER_FREE},
    {WF_FIBER_PARKED, WF_FIBER_READY},   {WF_FIBER_ENDED, WF_FIBER_FREE},
};

static bool is_legal(uint32_t from, uint32_t to) {
    for (size_t i = 0; i < sizeof legal / sizeof legal[0]; i++)
        if (legal[i].from == from && legal[i].to == to)
            return true;
    return false;
}

TEST(machine_allows_exactly_the_moves_of_its_table) {
    const struct wf_machine *machine = &wf_fiber_machine;
    CHECK_EQ(machine->count, 6);
    CHECK_TEXT(machine->name, "fiber");
    for (uint32_t from = 0; from < machine->count + 2; from++)
        for (uint32_t to = 0; to < machine->count + 2; to++)
            CHECK_EQ(wf_machine_allows(machine, from, to), is_legal(from, to));
}

struct move {
    uint32_t from, to;
};

static void make_move(void *opaque) {
    const struct move *move = opaque;
    wf_machine_check(&wf_fiber_machine, move->from, move->to);
}

TEST(machine_check_ends_the_process_with_both_names) {
    for (uint32_t from = 0; from < wf_fiber_machine.count; from++) {
        for (uint32_t to = 0; to < wf_fiber_machine.count; to++) {
            char words[64];
            struct move move = {from, to};
            if (is_legal(from, to)) {
                make_move(&move);
                continue;
            }
            struct child_end end = child_run(make_move, &move);
            snprintf(words, sizeof words, "fiber may not go from %s to %s", wf_fiber_machine.states[from],
                     wf_fiber_machine.states[to]);
            CHECK_CHILD_FATAL(&end, words);
        }
    }
}
