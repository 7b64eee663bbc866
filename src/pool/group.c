/* SPDX-License-Identifier: MIT
 *
 * pool/group.c - groups: sets of works, and of groups below them.
 *
 * Works and groups are tied by nodes of two lists: a *membership* is in the list of a group and in that of a work, a *kinship* in
 * the list of a parent and in that of a child. A work may be in several groups and a group below several others, so what is
 * below a group is a graph without circles, in which a work may be found by two ways: searches mark what they have seen, and
 * their list of what is left to see runs through the groups. They need no memory and no stack.
 *
 * Waiting. A group is empty when no work is in it or below it. Whatever can make one so (the end of a work, its removal, the
 * parting or the end of a group) looks at the groups above the place where it happened, and takes the waiters of those that are
 * empty: whoever is woken by that has its answer, and does not look at the group again. A waiter also stands among those of the
 * pool, who are told when nothing in the pool can go on, and at the end of a generation, which says nothing about works at the
 * gate: then it looks again.
 *
 * Pausing. A group has a flag, and a work is paused while it has its own or any group above it has it, so that works which come
 * into the group later are, too, and those that leave it are not. Whenever a flag or a tie changes, the clock is told about the
 * works below, and those at pause points look again.
 *
 * Everything under pool->lock. What is done to each work of a group is done without it, from a list of their names.
 */
#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "os/memory.h"
#include "pool/pool.h"

enum search_way { SEARCH_UP, SEARCH_DOWN };

/* Of a group in the last search that came by, one for each way: a search down may run inside one up, and the other way round. */
struct search_place {
    uint64_t mark;
    weft_group *next; /* what that search has still to look at */
};

struct weft_group {
    weft_pool *pool;         /* constant */
    struct wf_list node;     /* in pool->groups */
    struct wf_list members;  /* membership.in_group */
    struct wf_list parents;  /* kinship.in_child */
    struct wf_list children; /* kinship.in_parent */
    struct wf_waiter *waiters;
    bool is_paused;
    uint64_t number; /* constant, and nobody else's ever: another group may come to lie where one was */
    struct search_place places[2];
    weft_group *next_named; /* in its bucket */
    uint32_t bucket;        /* constant */
    char name[];            /* constant; empty: none */
};

struct membership {
    struct wf_list in_group;
    struct wf_list in_work;
    weft_group *group;
    struct wf_terms *terms;
};

struct kinship {
    struct wf_list in_parent;
    struct wf_list in_child;
    weft_group *parent;
    weft_group *child;
};

/* A walk through a group and all above or below it, each once. */
struct group_search {
    enum search_way way;
    uint64_t mark;
    weft_group *left; /* to be looked at */
};

static uint32_t name_bucket(const weft_pool *pool, const char *name);
static weft_group *find_group_locked(weft_pool *pool, const char *name);
static void group_free_locked(weft_group *group);
static void membership_end(struct membership *membership);
static void kinship_end(struct kinship *kinship);
static struct membership *find_membership(const weft_group *group, const struct wf_terms *terms);
static struct kinship *find_kinship(const weft_group *parent, const weft_group *child);
static struct group_search search_begin_locked(weft_pool *pool, enum search_way way);
static void search_add(struct group_search *search, weft_group *group);
static void search_add_groups_of(struct group_search *search, const struct wf_terms *terms);
static weft_group *search_next(struct group_search *search);
static bool is_above_locked(const weft_group *above, weft_group *below);
static bool is_empty_locked(weft_group *top);
static void settle_locked(weft_group *group, struct wf_waiter **told);
static void look_again_locked(weft_pool *pool, struct wf_waiter **told);
static void join_chains(struct wf_waiter **told, struct wf_waiter *more);
static void drop_and_wake(weft_pool *pool, struct wf_waiter *told);
static bool contains_caller_locked(weft_group *group);
static size_t list_works_locked(weft_group *top, weft_work *works, size_t size);
static void pause_changed_below_locked(weft_group *top);
static bool is_there_locked(weft_pool *pool, const weft_group *group, uint64_t number);

int weft_group_new(weft_group **out, weft_pool *pool, const char *name) {
    if (!out || !pool)
        return -EINVAL;
    size_t length = name ? strnlen(name, WEFT_WORK_ID_MAX + 1) : 0;
    if (name && (length == 0 || length > WEFT_WORK_ID_MAX))
        return -EINVAL;
    weft_group *group = wf_os_alloc(sizeof *group + length + 1);
    if (!group)
        return -ENOMEM;
    group->pool = pool;
    wf_list_init(&group->members);
    wf_list_init(&group->parents);
    wf_list_init(&group->children);
    memcpy(group->name, name ? name : "", length);
    wf_lock_take(&pool->lock);
    if (name && find_group_locked(pool, name)) {
        wf_lock_drop(&pool->lock);
        wf_os_free(group);
        return -EEXIST;
    }
    wf_list_append(&pool->groups, &group->node);
    group->number = ++pool->marks;
    if (name) {
        group->bucket = name_bucket(pool, name);
        group->next_named = pool->named_groups[group->bucket];
        pool->named_groups[group->bucket] = group;
    }
    wf_lock_drop(&pool->lock);
    *out = group;
    return 0;
}

static uint32_t name_bucket(const weft_pool *pool, const char *name) {
    uint32_t sum = 0;
    for (; *name; name++)
        sum = (sum ^ (unsigned char)*name) * 16777619u;
    return (sum ^ sum >> 16) % (sizeof pool->named_groups / sizeof pool->named_groups[0]);
}

static weft_group *find_group_locked(weft_pool *pool, const char *name) {
    weft_group *group = pool->named_groups[name_bucket(pool, name)];
    while (group && strcmp(group->name, name) != 0)
        group = group->next_named;
    return group;
}

int weft_group_find(weft_pool *pool, const char *name, weft_group **out) {
    if (!pool || !name || !out)
        return -EINVAL;
    wf_lock_take(&pool->lock);
    weft_group *group = find_group_locked(pool, name);
    wf_lock_drop(&pool->lock);
    if (!group)
        return -ENOENT;
    *out = group;
    return 0;
}

void weft_group_free(weft_group *group) {
    if (!group)
        return;
    weft_pool *pool = group->pool;
    struct wf_waiter *told = NULL;
    wf_lock_take(&pool->lock);
    join_chains(&told, wf_wait_take_all_locked(&group->waiters, -ESTALE, NULL));
    while (!wf_list_is_empty(&group->members)) {
        struct membership *membership = WF_CONTAINER(group->members.next, struct membership, in_group);
        struct wf_terms *terms = membership->terms;
        membership_end(membership);
        wf_group_pause_changed_locked(pool, terms);
    }
    while (!wf_list_is_empty(&group->children)) {
        struct kinship *kinship = WF_CONTAINER(group->children.next, struct kinship, in_parent);
        weft_group *child = kinship->child;
        kinship_end(kinship);
        pause_changed_below_locked(child);
    }
    settle_locked(group, &told); /* what it was below of may be empty now */
    look_again_locked(pool, &told);
    group_free_locked(group);
    drop_and_wake(pool, told);
}

/* It has neither members nor children. */
static void group_free_locked(weft_group *group) {
    weft_group **at = &group->pool->named_groups[group->bucket];
    while (!wf_list_is_empty(&group->parents))
        kinship_end(WF_CONTAINER(group->parents.next, struct kinship, in_child));
    while (*at && *at != group)
        at = &(*at)->next_named;
    if (*at)
        *at = group->next_named;
    wf_list_remove(&group->node);
    wf_os_free(group);
}

static void membership_end(struct membership *membership) {
    wf_list_remove(&membership->in_group);
    wf_list_remove(&membership->in_work);
    wf_os_free(membership);
}

static void kinship_end(struct kinship *kinship) {
    wf_list_remove(&kinship->in_parent);
    wf_list_remove(&kinship->in_child);
    wf_os_free(kinship);
}

/* Works have left their groups, and nobody calls any more; groups that the program has not freed go here. */
void wf_groups_term(weft_pool *pool) {
    while (!wf_list_is_empty(&pool->groups)) {
        weft_group *group = WF_CONTAINER(pool->groups.next, weft_group, node);
        WF_ASSERT(wf_list_is_empty(&group->members));
        while (!wf_list_is_empty(&group->children))
            kinship_end(WF_CONTAINER(group->children.next, struct kinship, in_parent));
        group_free_locked(group);
    }
}

int wf_group_enter_locked(weft_pool *pool, weft_group *group, struct wf_terms *terms) {
    if (group->pool != pool)
        return -ESTALE;
    if (find_membership(group, terms))
        return -EEXIST;
    struct membership *membership = wf_os_alloc(sizeof *membership);
    if (!membership)
        return -ENOMEM;
    membership->group = group;
    membership->terms = terms;
    wf_list_append(&group->members, &membership->in_group);
    wf_list_append(&terms->memberships, &membership->in_work);
    wf_group_pause_changed_locked(pool, terms);
    return 0;
}

static struct membership *find_membership(const weft_group *group, const struct wf_terms *terms) {
    for (struct wf_list *node = terms->memberships.next; node != &terms->memberships; node = node->next) {
        struct membership *membership = WF_CONTAINER(node, struct membership, in_work);
        if (membership->group == group)
            return membership;
    }
    return NULL;
}

void wf_group_leave_locked(weft_pool *pool, struct wf_terms *terms, struct wf_waiter **told) {
    wf_context_release(pool);
    while (!wf_list_is_empty(&terms->memberships)) {
        struct membership *membership = WF_CONTAINER(terms->memberships.next, struct membership, in_work);
        weft_group *group = membership->group;
        membership_end(membership);
        if (wf_list_is_empty(&group->members))
            settle_locked(group, told);
    }
}

int weft_group_add(weft_group *group, weft_work work) {
    if (!group)
        return -EINVAL;
    weft_pool *pool = group->pool;
    struct wf_work *record = wf_work_find(pool, work);
    int error = -ESTALE;
    if (!record)
        return error;
    wf_lock_take(&pool->lock);
    struct wf_terms *terms = wf_work_terms_locked(pool, record, work, &error);
    if (terms)
        error = wf_group_enter_locked(pool, group, terms);
    wf_lock_drop(&pool->lock);
    return error;
}

int weft_group_remove(weft_group *group, weft_work work) {
    if (!group)
        return -EINVAL;
    weft_pool *pool = group->pool;
    struct wf_waiter *told = NULL;
    struct wf_work *record = wf_work_find(pool, work);
    int error = -ESTALE;
    if (!record)
        return error;
    wf_lock_take(&pool->lock);
    /* A work that has no terms is in no group, and gets none for that. With SPECIAL set its end needs the lock that we have. */
    const uint32_t alive = WF_BIT(WF_WORK_HELD) | WF_BIT(WF_WORK_QUEUED) | WF_BIT(WF_WORK_CLAIMED);
    if (wf_work_flag(record, work, alive, WF_WORK_SPECIAL)) {
        struct wf_terms *terms = wf_work_terms(record);
        struct membership *membership = terms ? find_membership(group, terms) : NULL;
        error = membership ? 0 : -ENOENT;
        if (membership) {
            membership_end(membership);
            wf_group_pause_changed_locked(pool, terms);
            settle_locked(group, &told);
            look_again_locked(pool, &told);
        }
    }
    drop_and_wake(pool, told);
    return error;
}

int weft_group_join(weft_group *parent, weft_group *child) {
    if (!parent || !child)
        return -EINVAL;
    if (parent == child)
        return -ELOOP;
    if (parent->pool != child->pool)
        return -ESTALE;
    struct kinship *kinship = wf_os_alloc(sizeof *kinship);
    if (!kinship)
        return -ENOMEM;
    int error = 0;
    wf_lock_take(&parent->pool->lock);
    if (find_kinship(parent, child))
        error = -EEXIST;
    else if (is_above_locked(child, parent))
        error = -ELOOP;
    if (!error) {
        kinship->parent = parent;
        kinship->child = child;
        wf_list_append(&parent->children, &kinship->in_parent);
        wf_list_append(&child->parents, &kinship->in_child);
        pause_changed_below_locked(child);
    }
    wf_lock_drop(&parent->pool->lock);
    if (error)
        wf_os_free(kinship);
    return error;
}

static struct kinship *find_kinship(const weft_group *parent, const weft_group *child) {
    for (struct wf_list *node = child->parents.next; node != &child->parents; node = node->next) {
        struct kinship *kinship = WF_CONTAINER(node, struct kinship, in_child);
        if (kinship->parent == parent)
            return kinship;
    }
    return NULL;
}

int weft_group_part(weft_group *parent, weft_group *child) {
    if (!parent || !child)
        return -EINVAL;
    if (parent->pool != child->pool)
        return -ESTALE;
    weft_pool *pool = parent->pool;
    struct wf_waiter *told = NULL;
    wf_lock_take(&pool->lock);
    struct kinship *kinship = find_kinship(parent, child);
    if (kinship) {
        kinship_end(kinship);
        pause_changed_below_locked(child);
        settle_locked(parent, &told);
        look_again_locked(pool, &told);
    }
    drop_and_wake(pool, told);
    return kinship ? 0 : -ENOENT;
}

static struct group_search search_begin_locked(weft_pool *pool, enum search_way way) {
    return (struct group_search){.way = way, .mark = ++pool->marks};
}

static void search_add(struct group_search *search, weft_group *group) {
    struct search_place *place = &group->places[search->way];
    if (place->mark == search->mark)
        return;
    place->mark = search->mark;
    place->next = search->left;
    search->left = group;
}

/* The next group, after adding those next to it; NULL: that was all. */
static weft_group *search_next(struct group_search *search) {
    weft_group *group = search->left;
    if (!group)
        return NULL;
    search->left = group->places[search->way].next;
    struct wf_list *ties = search->way == SEARCH_UP ? &group->parents : &group->children;
    for (struct wf_list *node = ties->next; node != ties; node = node->next)
        search_add(search, search->way == SEARCH_UP ? WF_CONTAINER(node, struct kinship, in_child)->parent
                                                    : WF_CONTAINER(node, struct kinship, in_parent)->child);
    return group;
}

static bool is_above_locked(const weft_group *above, weft_group *below) {
    struct group_search search = search_begin_locked(below->pool, SEARCH_UP);
    search_add(&search, below);
    for (weft_group *group; (group = search_next(&search));)
        if (group == above)
            return true;
    return false;
}

static bool is_empty_locked(weft_group *top) {
    struct group_search search = search_begin_locked(top->pool, SEARCH_DOWN);
    search_add(&search, top);
    for (weft_group *group; (group = search_next(&search));)
        if (!wf_list_is_empty(&group->members))
            return false;
    return true;
}

/* Something has left the group: whoever waits for it, or for one above it, and has waited enough. */
static void settle_locked(weft_group *group, struct wf_waiter **told) {
    struct group_search search = search_begin_locked(group->pool, SEARCH_UP);
    if (!is_empty_locked(group))
        return; /* nor is any above it */
    search_add(&search, group);
    for (weft_group *above; (above = search_next(&search));)
        if (above->waiters && is_empty_locked(above))
            join_chains(told, wf_wait_take_all_locked(&above->waiters, 0, NULL));
}

/* Fewer groups may be above some works than before: those at a pause point find out. */
static void look_again_locked(weft_pool *pool, struct wf_waiter **told) {
    join_chains(told, wf_wait_take_all_locked(&pool->pausers, 0, NULL));
}

static void join_chains(struct wf_waiter **told, struct wf_waiter *more) {
    struct wf_waiter **end = &more;
    while (*end)
        end = &(*end)->next;
    *end = *told;
    *told = more;
}

static void drop_and_wake(weft_pool *pool, struct wf_waiter *told) {
    wf_lock_drop(&pool->lock);
    wf_wait_wake_chain(told);
}

int weft_group_wait(weft_group *group, weft_time deadline) {
    if (!group)
        return -EINVAL;
    weft_pool *pool = group->pool;
    uint64_t number = group->number;
    int error = wf_wait_enter(deadline);
    for (bool is_again = false; !error; is_again = true) {
        wf_lock_take(&pool->lock);
        if (is_again && !is_there_locked(pool, group, number)) { /* freed since the end of a generation woke us */
            wf_lock_drop(&pool->lock);
            return -ESTALE;
        }
        if (is_empty_locked(group)) {
            wf_lock_drop(&pool->lock);
            break;
        }
        if (contains_caller_locked(group) || wf_pool_is_at_a_loss_locked(pool)) {
            error = contains_caller_locked(group) ? -EPERM : -EDEADLK;
            wf_lock_drop(&pool->lock);
            break;
        }
        struct wf_wait wait;
        struct wf_lock *lock = &pool->lock;
        struct wf_waiter nodes[] = {
            {.wait = &wait, .lock = lock, .queue = &group->waiters},
            {.wait = &wait, .lock = lock, .queue = &pool->idlers}}; /* for the end of any generation */
        int index = wf_wait_many_locked(&wait, nodes, 2, &lock, 1, deadline, "group");
        if (index == 0) {
            error = nodes[0].status;
            break;
        }
        error = index < 0 ? index
                          : nodes[1].status; /* nothing in the pool can go on; or a generation has ended: look again */
    }
    if (!error)
        wf_context_acquire(pool);
    return error;
}

static bool is_there_locked(weft_pool *pool, const weft_group *group, uint64_t number) {
    for (struct wf_list *node = pool->groups.next; node != &pool->groups; node = node->next)
        if (WF_CONTAINER(node, weft_group, node) == group)
            return group->number == number;
    return false;
}

/* Whether a work that the caller runs is in it or below it, and would wait for itself. */
static bool contains_caller_locked(weft_group *group) {
    for (struct wf_runner *runner = wf_runner_self(); runner; runner = runner->outer) {
        struct wf_terms *terms = runner->pool == group->pool && runner->work ? wf_work_terms(runner->work) : NULL;
        struct group_search search = search_begin_locked(group->pool, SEARCH_UP);
        if (terms)
            search_add_groups_of(&search, terms);
        for (weft_group *above; (above = search_next(&search));)
            if (above == group)
                return true;
    }
    return false;
}

static void search_add_groups_of(struct group_search *search, const struct wf_terms *terms) {
    for (struct wf_list *node = terms->memberships.next; node != &terms->memberships; node = node->next)
        search_add(search, WF_CONTAINER(node, struct membership, in_work)->group);
}

bool wf_group_is_paused_locked(const struct wf_terms *terms) {
    if (wf_list_is_empty(&terms->memberships))
        return false;
    weft_pool *pool = WF_CONTAINER(terms->memberships.next, struct membership, in_work)->group->pool;
    struct group_search search = search_begin_locked(pool, SEARCH_UP);
    search_add_groups_of(&search, terms);
    for (weft_group *group; (group = search_next(&search));)
        if (group->is_paused)
            return true;
    return false;
}

/* Its own flag, a tie, or a flag of a group above it has changed. A work that is over does not mind. */
void wf_group_pause_changed_locked(weft_pool *pool, struct wf_terms *terms) {
    uint64_t word = wf_load_acquire(&terms->work->word); /* pairs with whoever sets the flag */
    wf_clock_pause(pool, terms, (word & WF_WORK_PAUSE) || wf_group_is_paused_locked(terms));
}

static void pause_changed_below_locked(weft_group *top) {
    struct group_search search = search_begin_locked(top->pool, SEARCH_DOWN);
    search_add(&search, top);
    for (weft_group *group; (group = search_next(&search));)
        for (struct wf_list *node = group->members.next; node != &group->members; node = node->next)
            wf_group_pause_changed_locked(top->pool, WF_CONTAINER(node, struct membership, in_group)->terms);
}

int weft_group_control(weft_group *group, weft_control what) {
    if (!group || (unsigned)what > WEFT_RESUME)
        return -EINVAL;
    weft_pool *pool = group->pool;
    struct wf_waiter *told = NULL;
    weft_work *works = NULL;
    wf_lock_take(&pool->lock);
    size_t room = what == WEFT_PAUSE ? 0 : list_works_locked(group, NULL, 0);
    if (room > 0 && !(works = wf_wait_alloc(room * sizeof *works))) {
        wf_lock_drop(&pool->lock);
        return -ENOMEM;
    }
    bool was_paused = group->is_paused;
    if (what == WEFT_PAUSE || what == WEFT_RESUME) {
        group->is_paused = what == WEFT_PAUSE;
        pause_changed_below_locked(group);
        look_again_locked(pool, &told);
    }
    size_t count = works ? list_works_locked(group, works, room) : 0;
    drop_and_wake(pool, told);
    int failed = 0;
    for (size_t i = 0; i < count; i++) {
        int error = wf_work_control(pool, what, works[i]);
        bool is_over = error == -ESTALE;                                         /* it is not in the group any more */
        bool was_held = error == -EALREADY && what == WEFT_RESUME && was_paused; /* by the group, and now it is not */
        failed += error < 0 && !is_over && !was_held;
    }
    if (works)
        wf_wait_free(works);
    return failed;
}

size_t weft_group_works(weft_group *group, weft_work *works, size_t size) {
    if (!group)
        return 0;
    wf_lock_take(&group->pool->lock);
    size_t count = list_works_locked(group, works, size);
    wf_lock_drop(&group->pool->lock);
    return count;
}

/* Each once. */
static size_t list_works_locked(weft_group *top, weft_work *works, size_t size) {
    size_t count = 0;
    struct group_search search = search_begin_locked(top->pool, SEARCH_DOWN);
    search_add(&search, top);
    for (weft_group *group; (group = search_next(&search));) {
        for (struct wf_list *node = group->members.next; node != &group->members; node = node->next) {
            struct wf_terms *terms = WF_CONTAINER(node, struct membership, in_group)->terms;
            uint64_t word = wf_load_acquire(&terms->work->word); /* pairs with the moves of the work */
            bool is_over = wf_work_phase(word) == WF_WORK_DONE || wf_work_phase(word) == WF_WORK_FREE;
            if (terms->mark == search.mark || is_over)
                continue;
            terms->mark = search.mark;
            if (works && count < size)
                works[count] = wf_work_handle(terms->work, word);
            count++;
        }
    }
    return count;
}
