/* SPDX-License-Identifier: MIT
 *
 * io/dns_cache.c - what is kept of names, and who asks for them. Model: io/dns.h.
 *
 * A table of fixed size for the process: places are found by hash, and those that nobody asks at are in a list from the one used
 * longest ago to the one used last, which says whose turn it is when all are taken. Free ones are at the old end of it. When
 * there is somebody asking at every place, a newcomer asks for itself alone.
 *
 * The answer that is kept stays good while somebody who wants a fresh one asks, and stays when that one gets none.
 *
 * Waiting is for the lock of the cache and the queue of a place. Whoever leaves without an answer makes the first one in the
 * queue the asker, by writing the place into it; so an asker that is dropped before it runs again leaves all the same.
 */
#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "base/list.h"
#include "io/dns.h"
#include "os/clock.h"
#include "wait/wait.h"

enum { DNS_BUCKETS = 1024, DNS_LOOK_AGAIN = 1, DNS_YOUR_TURN = 2 };

/* All of it is under dns_lock. */
struct wf_dns_place {
    struct wf_list node; /* in dns_old, unless somebody asks */
    uint16_t next;       /* in its bucket: index + 1 */
    bool is_taken;       /* it has a question, and is in a bucket */
    bool is_asked;
    int family;
    uint32_t hash;
    uint32_t length;  /* of the name without its dot */
    uint32_t count;   /* of addresses; 0: there is none */
    int64_t kept_ns;  /* since when, */
    int64_t until_ns; /* and for how long the answer is good; 0: there is no answer */
    struct wf_waiter *waiting;
    char name[WF_DNS_NAME];
    char servers[WF_DNS_SERVERS]; /* empty: the system's */
    struct wf_dns_address addresses[WF_DNS_KEPT_ADDRESSES];
};

static struct wf_lock dns_lock;
static struct wf_dns_place dns_places[WF_DNS_KEPT_NAMES];
static uint32_t dns_used; /* how many of them have ever been taken, from the first on */
static uint16_t dns_buckets[DNS_BUCKETS];
static struct wf_list dns_old = {&dns_old, &dns_old}; /* the first was used longest ago */

static struct wf_dns_place *place_find_locked(const struct wf_dns_question *question);
static int place_read_locked(struct wf_dns_place *place, const struct wf_dns_out *out, int64_t now_ns);
static struct wf_dns_place *place_take_locked(const struct wf_dns_question *question);
static struct wf_dns_place *place_free_locked(void);
static void place_empty_locked(struct wf_dns_place *place);
static void place_rest_locked(struct wf_dns_place *place);
static void place_keep_locked(struct wf_dns_place *place, const struct wf_dns_answer *answer, int64_t now_ns);
static struct wf_waiter *place_hand_on_locked(struct wf_dns_place *place);

int wf_dns_cache_find(const struct wf_dns_question *question, const struct wf_dns_out *out, int64_t now_ns) {
    wf_lock_take(&dns_lock);
    struct wf_dns_place *place = place_find_locked(question);
    int count = place ? place_read_locked(place, out, now_ns) : 0;
    wf_lock_drop(&dns_lock);
    return count;
}

static struct wf_dns_place *place_find_locked(const struct wf_dns_question *question) {
    const char *servers = question->servers ? question->servers : "";
    for (uint16_t at = dns_buckets[question->hash % DNS_BUCKETS]; at > 0;) {
        struct wf_dns_place *place = &dns_places[at - 1];
        if (place->hash == question->hash && place->family == question->family &&
            !strcmp(place->name, question->name) && !strcmp(place->servers, servers))
            return place;
        at = place->next;
    }
    return NULL;
}

/* As wf_dns_cache_find. A moment before it was kept: the clock has been another one, of a replay. */
static int place_read_locked(struct wf_dns_place *place, const struct wf_dns_out *out, int64_t now_ns) {
    if (now_ns >= place->until_ns || now_ns < place->kept_ns)
        return 0;
    if (!place->is_asked)
        place_rest_locked(place);
    return place->count > 0 ? wf_dns_write(out, place->addresses, place->count) : -ENOENT;
}

/* Used last, from now on. */
static void place_rest_locked(struct wf_dns_place *place) {
    wf_list_remove(&place->node);
    wf_list_append(&dns_old, &place->node);
}

int wf_dns_cache_enter(struct wf_dns_asker *asker, const struct wf_dns_question *question, bool is_fresh,
                       const struct wf_dns_out *out, int64_t deadline_ns) {
    for (;;) {
        struct wf_waiter waiter = {.value = asker};
        wf_lock_take(&dns_lock);
        struct wf_dns_place *place = place_find_locked(question);
        int status = place && !is_fresh ? place_read_locked(place, out, wf_os_now()) : 0;
        if (status == 0 && (!place || !place->is_asked)) {
            if (!place)
                place = place_take_locked(question);
            if (place) {
                wf_list_remove(&place->node);
                place->is_asked = true;
            }
            asker->place = place;
        } else if (status == 0) {
            status = wf_wait_locked(&waiter, &dns_lock, &place->waiting, deadline_ns, "resolve");
            if (status == DNS_LOOK_AGAIN) {
                is_fresh = false; /* it is the answer to a question that was asked meanwhile */
                continue;
            }
            return status == DNS_YOUR_TURN ? 0 : status;
        }
        wf_lock_drop(&dns_lock);
        return status;
    }
}

/* NULL: none is to be had. */
static struct wf_dns_place *place_take_locked(const struct wf_dns_question *question) {
    const char *servers = question->servers ? question->servers : "";
    size_t length = strlen(servers);
    struct wf_dns_place *place = length < WF_DNS_SERVERS ? place_free_locked() : NULL;
    if (!place)
        return NULL;
    uint16_t *bucket = &dns_buckets[question->hash % DNS_BUCKETS];
    place->is_taken = true;
    place->family = question->family;
    place->hash = question->hash;
    place->length = question->length;
    memcpy(place->name, question->name, sizeof place->name);
    memcpy(place->servers, servers, length + 1);
    place->next = *bucket;
    *bucket = (uint16_t)(place - dns_places + 1);
    return place;
}

static struct wf_dns_place *place_free_locked(void) {
    struct wf_dns_place *place = WF_CONTAINER(dns_old.next, struct wf_dns_place, node);
    bool is_any = !wf_list_is_empty(&dns_old);
    if (is_any && !place->is_taken)
        return place;
    if (dns_used < WF_DNS_KEPT_NAMES) {
        place = &dns_places[dns_used++];
        wf_list_init(&place->node);
        return place;
    }
    if (!is_any)
        return NULL;
    place_empty_locked(place);
    return place;
}

/* It is at the old end afterwards: the next to be taken. */
static void place_empty_locked(struct wf_dns_place *place) {
    WF_ASSERT(!place->is_asked);
    WF_ASSERT(!place->waiting);
    uint16_t *at = &dns_buckets[place->hash % DNS_BUCKETS];
    while (*at != place - dns_places + 1)
        at = &dns_places[*at - 1].next;
    *at = place->next;
    place->is_taken = false;
    place->until_ns = 0;
    place->count = 0;
    wf_list_remove(&place->node);
    wf_list_append(dns_old.next, &place->node); /* before the first */
}

void wf_dns_cache_leave(struct wf_dns_asker *asker, int status, const struct wf_dns_answer *answer, int64_t now_ns) {
    struct wf_waiter *woken = NULL;
    bool is_handed_on = false;
    wf_lock_take(&dns_lock);
    struct wf_dns_place *place = asker->place;
    asker->place = NULL;
    if (!place) {
        wf_lock_drop(&dns_lock);
        return;
    }
    WF_ASSERT(place->is_asked);
    if (status == 0 && answer->count <= WF_DNS_KEPT_ADDRESSES) {
        place_keep_locked(place, answer, now_ns);
        woken = wf_wait_take_all_locked(&place->waiting, DNS_LOOK_AGAIN, NULL);
    } else if (status == -EAGAIN) {
        woken = wf_wait_take_all_locked(&place->waiting, -EAGAIN, NULL);
    } else {
        woken = place_hand_on_locked(place);
        is_handed_on = woken != NULL;
    }
    if (!is_handed_on) {
        place->is_asked = false;
        place_rest_locked(place);
        if (place->until_ns == 0)
            place_empty_locked(place);
    }
    wf_lock_drop(&dns_lock);
    wf_wait_wake_chain(woken);
}

static void place_keep_locked(struct wf_dns_place *place, const struct wf_dns_answer *answer, int64_t now_ns) {
    int64_t lifetime = answer->lifetime_ns;
    if (answer->count == 0)
        lifetime = WF_DNS_NEGATIVE_NS;
    else if (lifetime < WF_DNS_SHORTEST_NS)
        lifetime = WF_DNS_SHORTEST_NS;
    else if (lifetime > WF_DNS_LONGEST_NS)
        lifetime = WF_DNS_LONGEST_NS;
    place->kept_ns = now_ns;
    place->until_ns = wf_time_add(now_ns, lifetime);
    place->count = answer->count;
    memcpy(place->addresses, answer->addresses, answer->count * sizeof answer->addresses[0]);
}

/* A chain of one, who asks from now on; NULL: nobody waits. */
static struct wf_waiter *place_hand_on_locked(struct wf_dns_place *place) {
    struct wf_waiter *waiter = wf_wait_take_first_locked(&place->waiting);
    if (!waiter)
        return NULL;
    ((struct wf_dns_asker *)waiter->value)->place = place;
    waiter->status = DNS_YOUR_TURN;
    waiter->next = NULL;
    return waiter;
}

/* An answer that is on its way is kept when it comes. */
void weft_resolve_forget(const char *name) {
    struct wf_dns_question question = {0};
    if (name && wf_dns_question_init(&question, name, 0, NULL))
        return;
    wf_lock_take(&dns_lock);
    for (uint32_t i = 0; i < dns_used; i++) {
        struct wf_dns_place *place = &dns_places[i];
        bool is_meant = !name || (place->length == question.length && place->hash == question.hash &&
                                  !memcmp(place->name, question.name, question.length));
        if (!place->is_taken || !is_meant)
            continue;
        place->until_ns = 0;
        if (!place->is_asked)
            place_empty_locked(place);
    }
    wf_lock_drop(&dns_lock);
}

/* The lock, and with it everything under it, may have been somebody's who does not exist here. */
void wf_dns_after_fork(void) {
    wf_lock_init(&dns_lock);
    memset(dns_places, 0, dns_used * sizeof dns_places[0]);
    memset(dns_buckets, 0, sizeof dns_buckets);
    dns_used = 0;
    wf_list_init(&dns_old);
    wf_hosts_after_fork();
}
