/* SPDX-License-Identifier: MIT
 *
 * base/state.h - state machines as data.
 *
 * A machine is declared once, as a list of states and a list of legal moves. From the lists come the enum, the names,
 * the table that the debug build checks every move against, the tests of every illegal move, and the diagram in
 * docs/design/states.md.
 *
 *     #define WF_DOOR_STATES(X)                           // state, its name, the states that may follow
 *         X(WF_DOOR_OPEN, "open", WF_BIT(WF_DOOR_SHUT))
 *         X(WF_DOOR_SHUT, "shut", WF_BIT(WF_DOOR_OPEN) | WF_BIT(WF_DOOR_LOCKED))
 *         X(WF_DOOR_LOCKED, "locked", WF_BIT(WF_DOOR_SHUT))
 *     enum wf_door_state { WF_DOOR_STATES(WF_STATE_ENUM) };
 *     extern const struct wf_machine wf_door_machine;     // in the header
 *     WF_MACHINE_DEFINE(door, WF_DOOR_STATES)             // in the source
 *
 * At most 32 states.
 */
#ifndef WF_BASE_STATE_H
#define WF_BASE_STATE_H

#include <stdbool.h>
#include <stdint.h>

struct wf_machine {
    const char *name;
    const char *const *states;
    const uint32_t *moves; /* by state: the set of states that may follow, a bit each */
    uint32_t count;
};

#define WF_STATE_ENUM(state, name, moves) state,
#define WF_STATE_NAME(state, name, moves) name,
#define WF_STATE_MOVES(state, name, moves) moves,

#define WF_MACHINE_DEFINE(machine, STATES) \
    static const char *const machine##_state_names[] = {STATES(WF_STATE_NAME)}; \
    static const uint32_t machine##_state_moves[] = {STATES(WF_STATE_MOVES)}; \
    const struct wf_machine wf_##machine##_machine = {#machine, machine##_state_names, machine##_state_moves, \
                                                      sizeof machine##_state_moves / sizeof machine##_state_moves[0]};

#define WF_BIT(state) (1u << (state))

static inline bool wf_machine_allows(const struct wf_machine *machine, uint32_t from, uint32_t to) {
    return from < machine->count && to < machine->count && (machine->moves[from] >> to & 1u);
}

/* Ends the process with the machine and both names when the move is illegal. */
void wf_machine_check(const struct wf_machine *machine, uint32_t from, uint32_t to);

#ifdef WF_DEBUG
#define WF_MOVE_CHECK(machine, from, to) wf_machine_check((machine), (from), (to))
#else
#define WF_MOVE_CHECK(machine, from, to) ((void)0)
#endif

#endif
