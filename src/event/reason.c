/* SPDX-License-Identifier: MIT
 *
 * event/reason.c - the newest poisons of a system, with their reasons.
 *
 * A ring of fixed size: the newest takes the place of the oldest. A hash by event finds them again. It is the second
 * history beside the window in each slot's word: what is found here was poisoned, and while nothing has been lost yet, what
 * is not found here was not.
 *
 * Waiters do not need it: they get reasons copied into their own memory before they are woken.
 */
#include <errno.h>
#include <string.h>

#include "event/event.h"

static uint32_t *reasons_bucket(struct wf_event_reasons *reasons, uint64_t bits);
static void reasons_forget(struct wf_event_reasons *reasons, uint32_t number);

int wf_event_reasons_init(struct wf_event_reasons *reasons, uint32_t size) {
    uint32_t buckets = 1;
    while (buckets < size)
        buckets *= 2;
    size_t page = wf_os_page_size();
    size_t bytes = size * sizeof *reasons->records + buckets * sizeof *reasons->buckets;
    bytes = (bytes + page - 1) / page * page;
    void *base;
    int error = wf_os_map(bytes, &base);
    if (error)
        return error;
    wf_lock_init(&reasons->lock);
    reasons->size = size;
    reasons->mask = buckets - 1;
    reasons->count = 0;
    reasons->records = base;
    reasons->buckets = (uint32_t *)(void *)(reasons->records + size);
    reasons->bytes = bytes;
    return 0;
}

void wf_event_reasons_term(struct wf_event_reasons *reasons) {
    wf_os_unmap(reasons->records, reasons->bytes);
}

void wf_event_reasons_add(struct wf_event_reasons *reasons, weft_event event, const weft_event_reason *reason) {
    wf_lock_take(&reasons->lock);
    uint32_t number = (uint32_t)(reasons->count++ % reasons->size);
    struct wf_event_record *record = &reasons->records[number];
    if (record->bits)
        reasons_forget(reasons, number);
    uint32_t *bucket = reasons_bucket(reasons, event.bits);
    record->bits = event.bits;
    record->reason = *reason;
    record->next = *bucket;
    *bucket = number + 1;
    wf_lock_drop(&reasons->lock);
}

/* Multiplication spreads index and generation over the upper half. */
static uint32_t *reasons_bucket(struct wf_event_reasons *reasons, uint64_t bits) {
    return &reasons->buckets[bits * UINT64_C(0x9e3779b97f4a7c15) >> 32 & reasons->mask];
}

static void reasons_forget(struct wf_event_reasons *reasons, uint32_t number) {
    struct wf_event_record *record = &reasons->records[number];
    uint32_t *link = reasons_bucket(reasons, record->bits);
    while (*link != number + 1)
        link = &reasons->records[*link - 1].next;
    *link = record->next;
}

bool wf_event_reasons_find(struct wf_event_reasons *reasons, weft_event event, weft_event_reason *out, bool *is_whole) {
    wf_lock_take(&reasons->lock);
    *is_whole = reasons->count <= reasons->size;
    uint32_t number = *reasons_bucket(reasons, event.bits);
    while (number && reasons->records[number - 1].bits != event.bits)
        number = reasons->records[number - 1].next;
    if (number && out)
        *out = reasons->records[number - 1].reason;
    wf_lock_drop(&reasons->lock);
    return number != 0;
}

void wf_event_reason_set(weft_event_reason *reason, int code, const char *text) {
    size_t length = text ? strlen(text) : 0;
    if (length >= sizeof reason->text)
        length = sizeof reason->text - 1;
    memset(reason, 0, sizeof *reason);
    reason->code = code;
    if (length)
        memcpy(reason->text, text, length);
}
