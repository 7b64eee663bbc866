/* SPDX-License-Identifier: MIT
 *
 * loop/abort_any.c - signals that follow others: weft_abort_any. Model: loop/abort.h.
 *
 * The roots are collected first, each with a reference, since an input may be aborted meanwhile and then follows nobody; then
 * the new signal is put on the list of each. As soon as it is on one it may be aborted by somebody else.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/point.h"
#include "loop/abort.h"
#include "os/memory.h"

/* Roots that a new signal is to follow, each with a reference. */
struct abort_roots {
    weft_abort_signal **list;
    size_t count;
    size_t room;
};

static int abort_add_roots(struct abort_roots *roots, weft_abort_signal *input);
static int abort_reserve(struct abort_roots *roots, size_t more);
static void abort_sort_roots(struct abort_roots *roots);
static int abort_link_roots(weft_abort_signal *signal, struct abort_roots *roots);
static void abort_drop_roots(struct abort_roots *roots);

int weft_abort_any(weft_abort_signal **out, weft_abort_signal *const *inputs, size_t count) {
    if (!out || (!inputs && count))
        return -EINVAL;
    for (size_t i = 0; i < count; i++)
        if (!inputs[i])
            return -EINVAL;
    weft_abort_signal *signal = wf_abort_make(true);
    if (!signal)
        return -ENOMEM;
    struct abort_roots roots = {0};
    int error = 0;
    for (size_t i = 0; i < count && !error && !signal->origin; i++) {
        if (weft_abort_is_aborted(inputs[i]))
            (void)wf_abort_follow(signal, inputs[i]->origin ? inputs[i]->origin : inputs[i]);
        else
            error = abort_add_roots(&roots, inputs[i]);
    }
    if (signal->origin)
        weft_abort_unref(signal); /* which abort_follow has taken */
    else if (!error)
        error = abort_link_roots(signal, &roots);
    abort_drop_roots(&roots);
    if (error) {
        weft_abort_unref(signal);
        return error;
    }
    if (weft_abort_is_aborted(signal))
        wf_abort_close(signal);
    *out = signal;
    return 0;
}

/* What the input follows, or the input itself. One that is aborted meanwhile has to be asked for its reason: then its origin
 * is what is followed. */
static int abort_add_roots(struct abort_roots *roots, weft_abort_signal *input) {
    int error = abort_reserve(roots, 1);
    if (error || !input->is_derived) {
        if (!error)
            roots->list[roots->count++] = weft_abort_ref(input);
        return error;
    }
    WF_POINT("abort.before_roots");
    wf_lock_take(&input->lock);
    while (!error && roots->room - roots->count < (size_t)input->link_count + 1) {
        size_t more = (size_t)input->link_count + 1;
        wf_lock_drop(&input->lock);
        error = abort_reserve(roots, more);
        wf_lock_take(&input->lock);
    }
    if (!error && input->origin)
        roots->list[roots->count++] = weft_abort_ref(input->origin);
    for (uint32_t i = 0; i < input->link_count && !error; i++)
        roots->list[roots->count++] = weft_abort_ref(input->links[i].root);
    wf_lock_drop(&input->lock);
    return error;
}

static int abort_reserve(struct abort_roots *roots, size_t more) {
    if (roots->room - roots->count >= more)
        return 0;
    size_t room = 2 * roots->room + more;
    weft_abort_signal **list = wf_os_alloc(room * sizeof *list);
    if (!list)
        return -ENOMEM;
    if (roots->count)
        memcpy(list, roots->list, roots->count * sizeof *list);
    wf_os_free(roots->list);
    roots->list = list;
    roots->room = room;
    return 0;
}

static int abort_compare_roots(const void *left, const void *right) {
    uintptr_t a = (uintptr_t) * (weft_abort_signal *const *)left;
    uintptr_t b = (uintptr_t) * (weft_abort_signal *const *)right;
    return a < b ? -1 : a > b;
}

/* Each once. Their order is of no account: the first that is aborted decides. */
static void abort_sort_roots(struct abort_roots *roots) {
    if (roots->count < 2)
        return;
    qsort(roots->list, roots->count, sizeof *roots->list, abort_compare_roots);
    size_t kept = 1;
    for (size_t i = 1; i < roots->count; i++) {
        if (roots->list[i] == roots->list[kept - 1])
            weft_abort_unref(roots->list[i]);
        else
            roots->list[kept++] = roots->list[i];
    }
    roots->count = kept;
}

static int abort_link_roots(weft_abort_signal *signal, struct abort_roots *roots) {
    abort_sort_roots(roots);
    if (roots->count == 0)
        return 0;
    if (roots->count > UINT32_MAX)
        return -ENOMEM;
    struct wf_abort_link *links = wf_os_alloc(roots->count * sizeof *links);
    if (!links)
        return -ENOMEM;
    signal->links = links;
    for (size_t i = 0; i < roots->count; i++) {
        weft_abort_signal *root = roots->list[i];
        links[i].root = weft_abort_ref(root);
        links[i].derived = signal;
        wf_list_init(&links[i].node);
    }
    signal->link_count = (uint32_t)roots->count;
    /* From the first link on it may be aborted, and then the links are taken off by whoever does that. So the list of roots
     * and not the links is what we go by; a root's relations say whether it may still be linked. */
    for (size_t i = 0; i < roots->count; i++) {
        weft_abort_signal *root = roots->list[i];
        WF_POINT("abort.before_link");
        wf_lock_take(&root->relations);
        wf_lock_take(&signal->lock);
        bool is_attached = signal->links != NULL;
        wf_lock_drop(&signal->lock);
        if (is_attached && !weft_abort_is_aborted(root)) {
            wf_list_append(&root->followers, &links[i].node);
            wf_lock_drop(&root->relations);
            continue;
        }
        wf_lock_drop(&root->relations);
        if (is_attached && wf_abort_follow(signal, root)) {
            wf_abort_detach(signal);
            weft_abort_unref(signal);
        }
        break;
    }
    return 0;
}

static void abort_drop_roots(struct abort_roots *roots) {
    for (size_t i = 0; i < roots->count; i++)
        weft_abort_unref(roots->list[i]);
    wf_os_free(roots->list);
}
