/* SPDX-License-Identifier: MIT
 *
 * base/state.c - the checker of moves.
 *
 * Debug builds call it at each change of a state word, so an illegal move ends the process where it is made, with both
 * names, and not where its damage shows.
 */
#include "base/state.h"

#include <stdio.h>

#include "base/assert.h"

void wf_machine_check(const struct wf_machine *machine, uint32_t from, uint32_t to) {
    if (wf_machine_allows(machine, from, to))
        return;
    char text[128];
    snprintf(text, sizeof text, "%s may not go from %s to %s", machine->name,
             from < machine->count ? machine->states[from] : "?", to < machine->count ? machine->states[to] : "?");
    wf_assert_fail(text, __FILE__, __LINE__);
}
