/* SPDX-License-Identifier: MIT
 *
 * unit/fiber/local_test.c - variables that travel with a fiber: keys, values, destructors.
 *
 * Keys are the process's, so each test frees those that it made; the harness looks at what is left of the values.
 */
#include "fiber/fiber.h"
#include "support/run.h"
#include "weft/local.h"

static weft_key key_of(void (*destructor)(void *)) {
    weft_key key;
    CHECK_EQ(weft_key_new(&key, destructor), 0);
    return key;
}

TEST(keys_run_out_with_eagain_and_come_back_when_freed) {
    weft_key keys[WEFT_KEYS_MAX + 1];
    int count = 0;
    CHECK_EQ(weft_key_new(NULL, NULL), -EINVAL);
    while (count <= WEFT_KEYS_MAX && weft_key_new(&keys[count], NULL) == 0)
        count++;
    CHECK_EQ(count, WEFT_KEYS_MAX);
    CHECK_EQ(weft_key_new(&keys[WEFT_KEYS_MAX], NULL), -EAGAIN);
    CHECK_EQ(weft_key_free(keys[5]), 0);
    CHECK_EQ(weft_key_free(keys[5]), -ESTALE);
    weft_key again = key_of(NULL);
    CHECK_NE(again.bits, keys[5].bits);
    CHECK_EQ(weft_key_free(keys[5]), -ESTALE);
    keys[5] = again;
    for (int i = 0; i < count; i++)
        CHECK_EQ(weft_key_free(keys[i]), 0);
}

TEST(a_plain_thread_has_no_values) {
    weft_key key = key_of(NULL);
    CHECK_EQ(weft_local_set(key, &key), -EPERM);
    CHECK(weft_local_get(key) == NULL);
    CHECK_EQ(weft_key_free(key), 0);
}

static weft_key shared_key;

static void *own_values(void *arg) {
    CHECK(weft_local_get(shared_key) == NULL);
    CHECK_EQ(weft_local_set(shared_key, arg), 0);
    for (int i = 0; i < 50; i++) {
        weft_yield();
        CHECK(weft_local_get(shared_key) == arg);
    }
    CHECK_EQ(weft_sleep(weft_after(WEFT_MICROSECOND)), 0);
    CHECK(weft_local_get(shared_key) == arg);
    CHECK_EQ(weft_local_set(shared_key, NULL), 0);
    CHECK(weft_local_get(shared_key) == NULL);
    return NULL;
}

static void own_body(void) {
    weft_fiber fibers[32];
    for (int i = 0; i < 32; i++)
        SPAWN(&fibers[i], own_values, &fibers[i]);
    for (int i = 0; i < 32; i++)
        JOIN(fibers[i], NULL);
}

TEST(every_fiber_has_its_own_value_that_travels_with_it) {
    shared_key = key_of(NULL);
    run_fibers(own_body);
    CHECK_EQ(weft_key_free(shared_key), 0);
}

static void stale_body(void) {
    weft_key key = key_of(NULL);
    CHECK_EQ(weft_local_set(key, &key), 0);
    CHECK_EQ(weft_key_free(key), 0);
    CHECK(weft_local_get(key) == NULL);
    CHECK_EQ(weft_local_set(key, &key), -ESTALE);
    weft_key next = key_of(NULL); /* the same place, another generation */
    CHECK(weft_local_get(next) == NULL);
    CHECK(weft_local_get(key) == NULL);
    CHECK_EQ(weft_key_free(next), 0);
    CHECK_EQ(weft_local_set((weft_key){0}, &key), -ESTALE);
    CHECK_EQ(weft_local_set((weft_key){UINT32_MAX}, &key), -ESTALE);
    CHECK(weft_local_get((weft_key){UINT32_MAX}) == NULL);
}

TEST(a_stale_key_finds_nothing_and_sets_nothing) {
    run_fibers(stale_body);
}

static int destroyed;
static weft_key other_key;

static void destroy_count(void *value) {
    CHECK(value == &destroyed);
    CHECK_NE(weft_self().bits, 0);
    destroyed++;
}

static void destroy_and_set_again(void *value) {
    destroyed++;
    CHECK_EQ(weft_local_set(shared_key, value), 0);
}

static void destroy_and_set_other(void *value) {
    CHECK_EQ(weft_local_set(other_key, value), 0);
}

static void destroy_and_panic(void *value) {
    (void)value;
    destroyed++;
    weft_panic("in a destructor");
}

static void *set_shared(void *arg) {
    CHECK_EQ(weft_local_set(shared_key, arg), 0);
    return arg;
}

static void *set_shared_and_exit(void *arg) {
    CHECK_EQ(weft_local_set(shared_key, arg), 0);
    weft_exit(arg);
}

static void *set_shared_and_panic(void *arg) {
    CHECK_EQ(weft_local_set(shared_key, arg), 0);
    weft_panic("after a set");
}

static void *set_both(void *arg) {
    CHECK_EQ(weft_local_set(other_key, arg), 0);
    return set_shared(arg);
}

static int end_status;
static void *(*end_entry)(void *);

static void end_body(void) {
    weft_fiber fiber;
    destroyed = 0;
    SPAWN(&fiber, end_entry, &destroyed);
    end_status = weft_join(fiber, NULL, WEFT_NEVER);
}

static void run_to_end(void *(*entry)(void *)) {
    weft_options options = {.quiet = true};
    end_entry = entry;
    run_fibers_with(&options, end_body);
}

TEST(a_destructor_runs_once_however_the_fiber_ends) {
    shared_key = key_of(destroy_count);
    run_to_end(set_shared);
    CHECK_EQ(destroyed, 1);
    run_to_end(set_shared_and_exit);
    CHECK_EQ(destroyed, 1);
    CHECK_EQ(end_status, 0);
    run_to_end(set_shared_and_panic);
    CHECK_EQ(destroyed, 1);
    CHECK_EQ(end_status, -EOWNERDEAD);
    CHECK_EQ(weft_key_free(shared_key), 0);
}

TEST(a_destructor_that_sets_its_slot_again_runs_four_times) {
    shared_key = key_of(destroy_and_set_again);
    run_to_end(set_shared);
    CHECK_EQ(destroyed, 4);
    CHECK_EQ(weft_key_free(shared_key), 0);
}

TEST(a_destructor_may_set_another_slot_whose_destructor_then_runs) {
    other_key = key_of(destroy_count);
    shared_key = key_of(destroy_and_set_other);
    run_to_end(set_shared);
    CHECK_EQ(destroyed, 1);
    CHECK_EQ(weft_key_free(shared_key), 0);
    CHECK_EQ(weft_key_free(other_key), 0);
}

TEST(a_destructor_that_panics_does_not_keep_the_others_from_running) {
    shared_key = key_of(destroy_and_panic);
    other_key = key_of(destroy_count);
    run_to_end(set_both);
    CHECK_EQ(destroyed, 2);
    CHECK_EQ(weft_key_free(shared_key), 0);
    CHECK_EQ(weft_key_free(other_key), 0);
}

static void destroy_set_again_and_panic(void *value) {
    destroyed++;
    CHECK_LE(destroyed, 4 + WEFT_KEYS_MAX); /* each panic costs a round, at most one for every key */
    CHECK_EQ(weft_local_set(shared_key, value), 0);
    weft_panic("in a destructor, again");
}

TEST(a_destructor_that_sets_its_slot_again_and_panics_every_time_comes_to_an_end) {
    shared_key = key_of(destroy_set_again_and_panic);
    run_to_end(set_shared);
    CHECK_GE(destroyed, 1);
    CHECK_EQ(weft_key_free(shared_key), 0);
}

static void *set_and_free_key(void *arg) {
    CHECK_EQ(weft_local_set(shared_key, arg), 0);
    CHECK_EQ(weft_key_free(shared_key), 0);
    return arg;
}

TEST(a_value_of_a_freed_key_is_forgotten_without_its_destructor) {
    shared_key = key_of(destroy_count);
    run_to_end(set_and_free_key);
    CHECK_EQ(destroyed, 0);
}

static void exit_in_destructor(void *value) {
    destroyed++;
    weft_exit(value);
}

TEST(a_destructor_may_exit) {
    shared_key = key_of(exit_in_destructor);
    other_key = key_of(destroy_count);
    run_to_end(set_both);
    CHECK_EQ(destroyed, 2);
    CHECK_EQ(weft_key_free(shared_key), 0);
    CHECK_EQ(weft_key_free(other_key), 0);
}
