/* SPDX-License-Identifier: MIT
 *
 * pool/ident.c - ids of the program's choice, and what is remembered of works that are over.
 *
 * An id is a text or a number, and the two never meet. Its entry comes into being when a work takes it or when a work comes
 * after it, whichever is first:
 *
 *     (none) --waited for--> expected --taken--> alive --over--> over --taken--> alive ...
 *        `-----taken----------------------------^                  `--a generation begins--> (none)
 *
 * So works may come after ids that are yet to be used, and after works that ended long ago, whether or not anything of those
 * was stored. A work may take an id unless somebody has it. The result of an earlier one stays in the store, under its handle;
 * the id means the new one from then on. While an entry is alive it still knows the one before, and that counts again if the
 * submit of the new one fails: a submit that fails changes nothing.
 *
 * What is over is forgotten at the beginning of a generation, unless keep_results: one entry is kept for every id that was used
 * in this one. A beginning may be told late, by another thread, so entries say in which generation they ended, and those of the
 * present one stay.
 *
 * Works without an id have a handle, and a stale handle says nothing by itself. So those that did *not* succeed are remembered,
 * the last WF_FAILURES_MAX of them, in a ring with a hash inside it; a stale handle that is not there counts as succeeded. It
 * is kept over generations: a work that comes after a failed one must not run because the pool was idle in between. The ring
 * grows as it fills. When there is no memory for that, it turns with the room that it has; the first few need none, since the
 * end of a work must not fail.
 *
 * Everything under pool->lock, but for wf_id_check.
 */
#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "os/memory.h"
#include "pool/pool.h"

enum { FIRST_NAMES = 64, FAILURE_GROWTH = 4 };
_Static_assert((WF_FAILURES_MAX & (WF_FAILURES_MAX - 1)) == 0, "buckets are chosen by mask");

struct id_key {
    const char *text;
    uint32_t length; /* 0: the number counts */
    uint64_t number;
    uint64_t hash;
};

static struct id_key key_of_id(const weft_work_id *id);
static uint64_t mix_bits(uint64_t x);
static struct wf_name *find_name_locked(weft_pool *pool, const struct id_key *key);
static int names_grow_locked(weft_pool *pool);
static void name_free_locked(weft_pool *pool, struct wf_name *name);
static size_t failure_place_locked(weft_pool *pool);
static void failures_grow_locked(weft_pool *pool);
static void failure_unlink_locked(weft_pool *pool, size_t index);
static void failure_link_locked(weft_pool *pool, size_t index);
static struct wf_failure *failure_bucket(weft_pool *pool, weft_work handle);

int wf_id_check(const weft_work_id *id) {
    if (!id->text)
        return id->number != 0;
    size_t length = strnlen(id->text, WEFT_WORK_ID_MAX + 1);
    return length >= 1 && length <= WEFT_WORK_ID_MAX ? 1 : -EINVAL;
}

static struct id_key key_of_id(const weft_work_id *id) {
    struct id_key key = {.text = id->text, .number = id->text ? 0 : id->number};
    if (!id->text) {
        key.hash = mix_bits(id->number);
        return key;
    }
    key.length = (uint32_t)strlen(id->text);
    uint64_t sum = key.length;
    for (uint32_t i = 0; i < key.length; i++)
        sum = (sum ^ (unsigned char)id->text[i]) * UINT64_C(0x100000001b3);
    key.hash = mix_bits(sum);
    return key;
}

/* Every bit of the result depends on every bit of x. */
static uint64_t mix_bits(uint64_t x) {
    x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    return x ^ (x >> 32);
}

static struct wf_name *find_name_locked(weft_pool *pool, const struct id_key *key) {
    if (!pool->names)
        return NULL;
    struct wf_name *name = pool->names[key->hash & (pool->name_room - 1)];
    while (name && (name->hash != key->hash || name->length != key->length || name->number != key->number ||
                    (key->length && memcmp(name->text, key->text, key->length) != 0)))
        name = name->next;
    return name;
}

struct wf_name *wf_name_expect_locked(weft_pool *pool, const weft_work_id *id) {
    struct id_key key = key_of_id(id);
    struct wf_name *name = find_name_locked(pool, &key);
    if (name)
        return name;
    if (pool->name_count == pool->name_room && names_grow_locked(pool) != 0)
        return NULL;
    name = wf_os_alloc(sizeof *name + key.length + 1);
    if (!name)
        return NULL;
    wf_list_init(&name->dependents);
    wf_list_init(&name->over);
    name->hash = key.hash;
    name->number = key.number;
    name->length = key.length;
    if (key.length)
        memcpy(name->text, key.text, key.length);
    struct wf_name **bucket = &pool->names[key.hash & (pool->name_room - 1)];
    name->next = *bucket;
    *bucket = name;
    pool->name_count++;
    return name;
}

static int names_grow_locked(weft_pool *pool) {
    struct wf_name **old = pool->names;
    size_t room = old ? 2 * pool->name_room : FIRST_NAMES;
    struct wf_name **names = wf_os_alloc(room * sizeof *names);
    if (!names)
        return -ENOMEM;
    if (!old)
        wf_list_init(&pool->over_names);
    for (size_t i = 0; old && i < pool->name_room; i++) {
        for (struct wf_name *name = old[i], *next; name; name = next) {
            struct wf_name **bucket = &names[name->hash & (room - 1)];
            next = name->next;
            name->next = *bucket;
            *bucket = name;
        }
    }
    wf_os_free(old);
    pool->names = names;
    pool->name_room = room;
    return 0;
}

int wf_name_give_locked(weft_pool *pool, struct wf_terms *terms, const weft_work_id *id) {
    struct wf_name *name = wf_name_expect_locked(pool, id);
    if (!name)
        return -ENOMEM;
    if (name->terms)
        return -EEXIST;
    WF_ASSERT(!terms->name);
    if (wf_list_is_linked(&name->over))
        wf_list_remove(&name->over);
    name->terms = terms;
    terms->name = name;
    return 0;
}

void wf_name_over_locked(weft_pool *pool, struct wf_terms *terms, weft_work handle, weft_work_status status) {
    struct wf_name *name = terms->name;
    if (!name)
        return;
    WF_ASSERT(name->terms == terms);
    name->terms = NULL;
    terms->name = NULL;
    if (status != WEFT_WORK_PENDING) {
        /* Whoever waits for the id waits for this work now, which is about to tell them; the next one is not meant. */
        for (struct wf_list *node; (node = wf_list_take_first(&name->dependents));) {
            struct wf_edge *edge = WF_CONTAINER(node, struct wf_edge, node);
            edge->name = NULL;
            edge->before = terms;
            wf_list_append(&terms->dependents, node);
        }
        name->last = handle;
        name->last_status = status;
        name->last_cause = wf_load_relaxed(&terms->has_failed_before) ? terms->cause : handle;
        name->last_generation = wf_pool_generation(wf_load_relaxed(&pool->word));
    }
    if (name->last_status != WEFT_WORK_PENDING)
        wf_list_append(&pool->over_names, &name->over);
    else
        wf_name_left_locked(pool, name);
}

void wf_name_left_locked(weft_pool *pool, struct wf_name *name) {
    if (!name->terms && name->last_status == WEFT_WORK_PENDING && wf_list_is_empty(&name->dependents))
        name_free_locked(pool, name);
}

static void name_free_locked(weft_pool *pool, struct wf_name *name) {
    struct wf_name **at = &pool->names[name->hash & (pool->name_room - 1)];
    while (*at != name)
        at = &(*at)->next;
    *at = name->next;
    pool->name_count--;
    wf_os_free(name);
}

void wf_names_clear_locked(weft_pool *pool, uint32_t generation) {
    if (pool->options.keep_results)
        return;
    pool->failures_from = generation;
    if (!pool->names)
        return;
    while (!wf_list_is_empty(&pool->over_names)) {
        struct wf_name *name = WF_CONTAINER(pool->over_names.next, struct wf_name, over);
        if ((int32_t)(name->last_generation - generation) >= 0)
            return; /* and all that follow */
        wf_list_remove(&name->over);
        WF_ASSERT(wf_list_is_empty(&name->dependents));
        name_free_locked(pool, name);
    }
}

void wf_names_term(weft_pool *pool) {
    for (size_t i = 0; i < pool->name_room; i++) {
        for (struct wf_name *name = pool->names[i], *next; name; name = next) {
            next = name->next;
            wf_os_free(name);
        }
    }
    wf_os_free(pool->names);
    if (pool->failures != pool->few_failures)
        wf_os_free(pool->failures);
    pool->names = NULL;
    pool->failures = NULL;
    pool->name_count = pool->name_room = 0;
    pool->failure_count = pool->failure_room = pool->failure_next = 0;
}

int weft_pool_find(weft_pool *pool, weft_work_id id, weft_work *out) {
    if (!pool || !out || wf_id_check(&id) != 1)
        return -EINVAL;
    struct id_key key = key_of_id(&id);
    int error = -ENOENT;
    wf_lock_take(&pool->lock);
    struct wf_name *name = find_name_locked(pool, &key);
    if (name && (name->terms || name->last_status != WEFT_WORK_PENDING)) {
        struct wf_work *work = name->terms ? name->terms->work : wf_work_find(pool, name->last);
        uint64_t word = wf_load_acquire(&work->word); /* pairs with the moves of the work */
        weft_work handle = name->terms ? wf_work_handle(work, word) : name->last;
        if (wf_work_is(word, handle) && (name->terms || (word & WF_WORK_STORED))) {
            *out = handle;
            error = 0;
        }
    }
    wf_lock_drop(&pool->lock);
    return error;
}

void wf_failure_note_locked(weft_pool *pool, weft_work handle, weft_work_status status) {
    WF_ASSERT(status != WEFT_WORK_PENDING);
    WF_ASSERT(status != WEFT_WORK_SUCCEEDED);
    if (wf_failure_find_locked(pool, handle))
        return;
    const struct wf_terms *terms = wf_work_terms(wf_work_find(pool, handle));
    size_t place = failure_place_locked(pool);
    struct wf_failure *failure = &pool->failures[place];
    failure->work = handle;
    failure->cause = terms && wf_load_relaxed(&terms->has_failed_before) ? terms->cause : handle;
    failure->status = status;
    failure->generation = wf_pool_generation(wf_load_relaxed(&pool->word));
    failure_link_locked(pool, place);
}

/* A place that is in no bucket: a new one, or that of the oldest. */
static size_t failure_place_locked(weft_pool *pool) {
    if (pool->failure_count == pool->failure_room && pool->failure_room < WF_FAILURES_MAX)
        failures_grow_locked(pool);
    if (pool->failure_count < pool->failure_room)
        return pool->failure_count++;
    size_t oldest = pool->failure_next;
    pool->failure_next = oldest + 1 < pool->failure_room ? oldest + 1 : 0;
    failure_unlink_locked(pool, oldest);
    return oldest;
}

static void failures_grow_locked(weft_pool *pool) {
    if (!pool->failures) {
        pool->failures = pool->few_failures;
        pool->failure_room = WF_FAILURES_FEW;
        return;
    }
    size_t room = FAILURE_GROWTH * pool->failure_room;
    struct wf_failure *old = pool->failures;
    struct wf_failure *failures = wf_os_alloc(room * sizeof *failures);
    if (!failures)
        return;
    for (size_t i = 0; i < pool->failure_count; i++) {
        failures[i] = old[(pool->failure_next + i) % pool->failure_count];
        failures[i].first = 0;
    }
    pool->failures = failures;
    pool->failure_room = room;
    pool->failure_next = 0;
    for (size_t i = 0; i < pool->failure_count; i++)
        failure_link_locked(pool, i);
    if (old != pool->few_failures)
        wf_os_free(old);
}

static void failure_link_locked(weft_pool *pool, size_t index) {
    struct wf_failure *bucket = failure_bucket(pool, pool->failures[index].work);
    pool->failures[index].next = bucket->first;
    bucket->first = (uint32_t)index + 1;
}

static void failure_unlink_locked(weft_pool *pool, size_t index) {
    uint32_t *at = &failure_bucket(pool, pool->failures[index].work)->first;
    while (*at != index + 1)
        at = &pool->failures[*at - 1].next;
    *at = pool->failures[index].next;
}

static struct wf_failure *failure_bucket(weft_pool *pool, weft_work handle) {
    return &pool->failures[mix_bits(handle.bits) & (pool->failure_room - 1)];
}

const struct wf_failure *wf_failure_find_locked(weft_pool *pool, weft_work handle) {
    if (!pool->failures)
        return NULL;
    uint32_t at = failure_bucket(pool, handle)->first;
    while (at && pool->failures[at - 1].work.bits != handle.bits)
        at = pool->failures[at - 1].next;
    return at ? &pool->failures[at - 1] : NULL;
}

size_t wf_failures_list_locked(weft_pool *pool, weft_work_status status, weft_work *works, size_t size) {
    size_t count = 0;
    for (size_t i = 0; i < pool->failure_count; i++) {
        const struct wf_failure *failure = &pool->failures[(pool->failure_next + i) % pool->failure_count];
        if (failure->status != status || (int32_t)(failure->generation - pool->failures_from) < 0)
            continue;
        if (works && count < size)
            works[count] = failure->work;
        count++;
    }
    return count;
}
