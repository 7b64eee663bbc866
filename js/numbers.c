/* SPDX-License-Identifier: MIT
 *
 * js/numbers.c - words, such as addresses, and the order in which they came: a table with open addressing.
 */
#include "numbers.h"

#include <stdlib.h>

enum { FIRST_ROOM = 16 };

/* Where the key is, or would be. */
static uint32_t slot_of(const struct wf_numbers *numbers, uintptr_t key) {
    uint32_t mask = 2 * numbers->room - 1;
    uint32_t at = (uint32_t)(((uint64_t)key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & mask;
    while (numbers->slots[at] && numbers->keys[numbers->slots[at] - 1] != key)
        at = (at + 1) & mask;
    return at;
}

bool wf_numbers_find(const struct wf_numbers *numbers, uintptr_t key, uint32_t *number) {
    if (numbers->count == 0)
        return false;
    uint32_t found = numbers->slots[slot_of(numbers, key)];
    *number = found - 1;
    return found != 0;
}

static bool grow(struct wf_numbers *numbers) {
    uint32_t room = numbers->room ? 2 * numbers->room : FIRST_ROOM;
    uintptr_t *keys = realloc(numbers->keys, room * sizeof *keys);
    if (keys)
        numbers->keys = keys;
    uint32_t *slots = keys ? calloc(2 * (size_t)room, sizeof *slots) : NULL;
    if (!slots)
        return false;
    free(numbers->slots);
    numbers->slots = slots;
    numbers->room = room;
    for (uint32_t i = 0; i < numbers->count; i++)
        slots[slot_of(numbers, numbers->keys[i])] = i + 1;
    return true;
}

bool wf_numbers_add(struct wf_numbers *numbers, uintptr_t key) {
    if (numbers->count == numbers->room && !grow(numbers))
        return false;
    uint32_t slot = slot_of(numbers, key);
    numbers->keys[numbers->count++] = key;
    numbers->slots[slot] = numbers->count;
    return true;
}

void wf_numbers_term(struct wf_numbers *numbers) {
    free(numbers->keys);
    free(numbers->slots);
}
