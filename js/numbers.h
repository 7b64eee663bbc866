/* SPDX-License-Identifier: MIT
 *
 * js/numbers.h - words, such as addresses, and the order in which they came.
 */
#ifndef WF_JS_NUMBERS_H
#define WF_JS_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

/* All zero at the start. */
struct wf_numbers {
    uintptr_t *keys; /* by their numbers, from 0 */
    uint32_t count, room;
    uint32_t *slots; /* a number + 1, or 0: open addressing, twice as many as there is room for */
};

bool wf_numbers_find(const struct wf_numbers *numbers, uintptr_t key, uint32_t *number);
/* The next number is for this key, which is not in it. False: no memory. */
bool wf_numbers_add(struct wf_numbers *numbers, uintptr_t key);
void wf_numbers_term(struct wf_numbers *numbers);

#endif
