/* SPDX-License-Identifier: MIT
 *
 * base/list.h - intrusive doubly linked list with a head.
 *
 * A node that is in no list points to itself, so "is it linked" is a question about the node alone: whoever unlinks a
 * waiter under its object's lock owns its wake, and this is how that is decided.
 *
 * Not synchronised: the lock of whoever owns the head guards every node in the list.
 */
#ifndef WF_BASE_LIST_H
#define WF_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct wf_list {
    struct wf_list *next;
    struct wf_list *previous;
};

#define WF_CONTAINER(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

static inline void wf_list_init(struct wf_list *list) {
    list->next = list;
    list->previous = list;
}

static inline bool wf_list_is_empty(const struct wf_list *list) {
    return list->next == list;
}

static inline bool wf_list_is_linked(const struct wf_list *node) {
    return node->next != node;
}

static inline void wf_list_append(struct wf_list *head, struct wf_list *node) {
    node->next = head;
    node->previous = head->previous;
    head->previous->next = node;
    head->previous = node;
}

static inline void wf_list_remove(struct wf_list *node) {
    node->previous->next = node->next;
    node->next->previous = node->previous;
    wf_list_init(node);
}

/* First node, unlinked; NULL when the list is empty. */
static inline struct wf_list *wf_list_take_first(struct wf_list *head) {
    struct wf_list *node = head->next;
    if (node == head)
        return NULL;
    wf_list_remove(node);
    return node;
}

#endif
