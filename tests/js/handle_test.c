/* SPDX-License-Identifier: MIT
 *
 * js/handle_test.c - how long handles are good, who may use them, and what is pending when somebody leaves.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "support/js.h"

static weft_js_value kept;

static void stay(void) {
    open_instance(NULL);
    CHECK_EQ(weft_js_enter(js), 0);
    weft_js_value inner, outer = value_of("({ name: 'outer' })");
    CHECK_EQ(weft_js_enter(js), 0);
    inner = value_of("({ name: 'inner' })");
    kept = weft_js_keep(js, inner);
    CHECK_NE(kept.bits, inner.bits);
    CHECK(weft_js_equals(js, kept, inner));
    weft_js_leave(js);
    CHECK_EQ(weft_js_kind_of(js, inner), WEFT_JS_NONE);
    CHECK_EQ(weft_js_kind_of(js, outer), WEFT_JS_OBJECT);
    weft_js_leave(js);
    CHECK_EQ(weft_js_enter(js), 0);
    CHECK_EQ(weft_js_get(js, outer, "name").bits, 0);
    CHECK_EQ(weft_js_catch(js, NULL), -ESTALE);
    CHECK_TEXT(weft_js_as_text(js, weft_js_get(js, kept, "name"), NULL), "inner");
    CHECK_EQ(weft_js_drop(js, kept), 0);
    CHECK_EQ(weft_js_drop(js, kept), -ESTALE);
    CHECK_EQ(weft_js_pending(js), 0);
    /* The place is used again, by another generation. */
    for (int i = 0; i < 100; i++)
        CHECK_NE(value_of("({})").bits, kept.bits);
    CHECK_EQ(weft_js_kind_of(js, kept), WEFT_JS_NONE);
    /* Early ends, and those that have none. */
    weft_js_value early = value_of("[]");
    CHECK_EQ(weft_js_drop(js, early), 0);
    CHECK_EQ(weft_js_drop(js, early), -ESTALE);
    CHECK_EQ(weft_js_drop(js, weft_js_undefined()), 0);
    CHECK_EQ(weft_js_keep(js, weft_js_null()).bits, weft_js_null().bits);
    CHECK_EQ(weft_js_drop(js, (weft_js_value){0}), -ESTALE);
    CHECK_EQ(weft_js_drop(js, (weft_js_value){5}), -ESTALE);
    CHECK_EQ(weft_js_keep(js, early).bits, 0);
    CHECK_EQ(weft_js_catch(js, NULL), -ESTALE);
    /* Dropping works with something pending. */
    weft_js_value late = value_of("[]");
    weft_js_throw_errno(js, -EIO, "x");
    CHECK_EQ(weft_js_drop(js, late), 0);
    CHECK_EQ(weft_js_catch(js, NULL), -EIO);
    weft_js_leave(js);
    close_instance();
}
TEST(handles_end_with_what_made_them_unless_they_are_kept) {
    run_large(stay);
}

static void many(void) {
    long count = scaled(100000, 5000);
    weft_js_stats before, after;
    CHECK_EQ(weft_js_get_stats(js, &before), 0);
    for (long i = 0; i < count; i++) {
        CHECK_EQ(weft_js_enter(js), 0);
        for (int k = 0; k < 5; k++)
            CHECK(weft_js_number(js, (double)i).bits != 0);
        weft_js_leave(js);
    }
    CHECK_EQ(weft_js_get_stats(js, &after), 0);
    CHECK_LE(after.objects, before.objects);
    weft_js_value list[1000];
    for (int i = 0; i < 1000; i++)
        list[i] = weft_js_keep(js, weft_js_int64(js, i));
    CHECK_EQ(weft_js_get_stats(js, &after), 0);
    CHECK_EQ(after.kept, 1000);
    for (int i = 999; i >= 0; i--) {
        CHECK_EQ(weft_js_as_int64(js, list[i]), i);
        CHECK_EQ(weft_js_drop(js, list[i]), 0);
    }
}
TEST(frames_give_their_handles_back) {
    run_inside(many);
}

static atomic_int asked;

static void *ask_from_elsewhere(void *arg) {
    (void)arg;
    CHECK_EQ(weft_js_pending(js), -EPERM);
    CHECK_EQ(weft_js_catch(js, NULL), -EPERM);
    CHECK_EQ(weft_js_catch_value(js).bits, 0);
    CHECK_EQ(weft_js_object(js).bits, 0);
    CHECK_EQ(weft_js_set(js, kept, "a", kept), -EPERM);
    CHECK_EQ(weft_js_drop(js, kept), -EPERM);
    CHECK_EQ(weft_js_keep(js, kept).bits, 0);
    CHECK_EQ(weft_js_kind_of(js, kept), WEFT_JS_NONE);
    CHECK_EQ(weft_js_throw_errno(js, -EIO, "x").bits, 0);
    CHECK(!weft_js_is_fiber(js));
    CHECK_EQ(weft_js_enter(js), -EBUSY);
    CHECK_EQ(weft_js_collect(js), -EBUSY);
    atomic_store(&asked, 1);
    return NULL;
}

static void elsewhere(void) {
    weft_fiber fiber;
    kept = weft_js_keep(js, weft_js_object(js));
    SPAWN(&fiber, ask_from_elsewhere, NULL);
    JOIN(fiber, NULL);
    atomic_store(&asked, 0);
    pthread_t thread = thread_start(ask_from_elsewhere, NULL);
    WAIT_UNTIL(atomic_load(&asked));
    thread_join(thread);
    CHECK_EQ(weft_js_pending(js), 0);
    CHECK_EQ(weft_js_drop(js, kept), 0);
}
TEST(others_are_not_inside) {
    run_inside(elsewhere);
}

/* ---- Every call ---- */

static int given_back;

static void give_back(void *arg) {
    CHECK(arg == &given_back);
    given_back++;
}
static void give_back_pointer(void *pointer, void *arg) {
    CHECK(arg == NULL);
    give_back(pointer);
}
static weft_js_value never(weft_js *instance, const weft_js_arguments *given) {
    (void)instance, (void)given;
    CHECK(!"this is never called");
    return weft_js_undefined();
}
static int never_work(void *arg) {
    (void)arg;
    CHECK(!"this is never called");
    return 0;
}
static weft_js_value finish_with(weft_js *instance, int status, void *arg) {
    CHECK(instance == js);
    CHECK_EQ(status, -EOWNERDEAD);
    give_back(arg);
    return weft_js_undefined();
}

static void check_makers(void) {
    CHECK_EQ(weft_js_number(js, 1).bits, 0);
    CHECK_EQ(weft_js_int64(js, 1).bits, 0);
    CHECK_EQ(weft_js_bigint(js, 1).bits, 0);
    CHECK_EQ(weft_js_biguint(js, 1).bits, 0);
    CHECK_EQ(weft_js_string(js, "a", 1).bits, 0);
    CHECK_EQ(weft_js_text(js, "a").bits, 0);
    CHECK_EQ(weft_js_bytes(js, "a", 1).bits, 0);
    CHECK_EQ(weft_js_object(js).bits, 0);
    CHECK_EQ(weft_js_array(js).bits, 0);
    CHECK_EQ(weft_js_parse(js, "1", 1).bits, 0);
    CHECK_EQ(weft_js_global(js).bits, 0);
    CHECK_EQ(weft_js_evaluate(js, "say(1)", 6, "a").bits, 0);
    CHECK_EQ(weft_js_evaluate_module(js, "say(1)", 6, "a").bits, 0);
    CHECK_EQ(weft_js_import(js, "node:fs").bits, 0);
    CHECK_EQ(weft_js_throw(js, weft_js_null()).bits, 0);
    CHECK_EQ(weft_js_throw_error(js, WEFT_JS_TYPE_ERROR, "another").bits, 0);
    CHECK_EQ(weft_js_throw_errno(js, -EIO, "another").bits, 0);
}

static void check_readers(void) {
    size_t size = 7;
    CHECK(!weft_js_truth(js, kept));
    CHECK(weft_js_as_number(js, kept) == 0);
    CHECK_EQ(weft_js_as_int64(js, kept), 0);
    CHECK_EQ(weft_js_as_uint64(js, kept), 0);
    CHECK(!weft_js_as_text(js, kept, &size));
    CHECK(!weft_js_to_text(js, kept, &size));
    CHECK(!weft_js_to_json(js, kept, &size));
    CHECK(!weft_js_as_bytes(js, kept, &size));
    CHECK(!weft_js_equals(js, kept, kept));
    CHECK(!weft_js_is_instance(js, kept, kept));
    CHECK_EQ(weft_js_get(js, kept, "a").bits, 0);
    CHECK_EQ(weft_js_get_at(js, kept, 0).bits, 0);
    CHECK_EQ(weft_js_get_key(js, kept, kept).bits, 0);
    CHECK_EQ(weft_js_keys(js, kept).bits, 0);
    CHECK_EQ(weft_js_length(js, kept), 0);
    CHECK_EQ(weft_js_call(js, kept, kept, 0, NULL).bits, 0);
    CHECK_EQ(weft_js_call_method(js, kept, "toString", 0, NULL).bits, 0);
    CHECK_EQ(weft_js_construct(js, kept, 0, NULL).bits, 0);
    CHECK_EQ(weft_js_keep(js, kept).bits, 0);
    CHECK_EQ(size, 7);
}

/* Those with a status, and those that take something over. */
static void check_others(int status) {
    static const weft_js_class definition = {.name = "Given", .finalize = give_back_pointer};
    weft_js_error told;
    weft_promise *promise = NULL;
    weft_js_deferred *deferred = NULL;
    weft_js_value result = {9};
    CHECK_EQ(weft_js_set(js, kept, "a", kept), status);
    CHECK_EQ(weft_js_set_at(js, kept, 0, kept), status);
    CHECK_EQ(weft_js_set_key(js, kept, kept, kept), status);
    CHECK_EQ(weft_js_has(js, kept, "a"), status);
    CHECK_EQ(weft_js_remove(js, kept, "a"), status);
    CHECK_EQ(weft_js_describe(js, kept, &told), status);
    CHECK_EQ(weft_js_module(js, "app:none", kept), status);
    CHECK_EQ(weft_js_module_text(js, "app:none", "", 0), status);
    CHECK_EQ(weft_js_to_promise(js, kept, NULL, NULL, &promise), status);
    CHECK(!promise);
    CHECK_EQ(weft_js_from_promise(js, promise, NULL, NULL).bits, 0);
    CHECK_EQ(weft_js_defer(js, &deferred).bits, 0);
    CHECK(!deferred);
    CHECK_EQ(weft_js_await(js, kept, WEFT_NEVER).bits, 0);
    CHECK_EQ(weft_js_promise_state(js, kept, &result), WEFT_PROMISE_PENDING);
    CHECK_EQ(result.bits, 9);
    CHECK_EQ(weft_js_constructor(js, &definition).bits, 0);
    CHECK(!weft_js_unwrap(js, kept, &definition));
    given_back = 0;
    CHECK_EQ(weft_js_give_bytes(js, &given_back, 1, give_back_pointer, NULL).bits, 0);
    CHECK_EQ(weft_js_function(js, "never", 0, never, &given_back, give_back).bits, 0);
    CHECK_EQ(weft_js_wrap(js, &definition, &given_back).bits, 0);
    CHECK_EQ(given_back, 3);
    CHECK_EQ(weft_js_perform(js, never_work, finish_with, &given_back).bits, 0);
    CHECK_EQ(given_back, status == -EPERM ? 3 : 4);
}

static void nothing(void) {
    open_instance(NULL);
    CHECK_EQ(weft_js_enter(js), 0);
    kept = weft_js_keep(js, value_of("(class Kept {})"));
    weft_js_leave(js);
    check_makers();
    check_readers();
    check_others(-EPERM);
    CHECK_EQ(weft_js_enter(js), 0);
    weft_js_throw_error(js, WEFT_JS_RANGE_ERROR, "the %s", "first");
    check_makers();
    check_readers();
    check_others(-EOWNERDEAD);
    weft_js_error error;
    CHECK_EQ(weft_js_catch(js, &error), -EOWNERDEAD);
    CHECK_TEXT(error.name, "RangeError");
    CHECK_TEXT(error.message, "the first");
    CHECK_EQ(weft_js_length(js, weft_js_keys(js, kept)), 0);
    CHECK_EQ(weft_js_drop(js, kept), 0);
    weft_js_leave(js);
    CHECK_TEXT(said, "");
    close_instance();
}
TEST(nothing_is_done_outside_or_with_an_error_pending) {
    run_large(nothing);
}

static void *try_while_it_runs(void *arg) {
    (void)arg;
    WAIT_UNTIL(weft_loop_get_state(loop) == WEFT_LOOP_SLEEPING);
    CHECK_EQ(weft_js_enter(js), -EPERM);
    CHECK_EQ(weft_js_collect(js), -EPERM);
    CHECK_EQ(weft_js_terminate(js, 0), 0);
    return NULL;
}

static void callback(void *arg) {
    CHECK_EQ(weft_js_enter(js), 0);
    CHECK_EQ(weft_js_set(js, weft_js_global(js), "came", weft_js_bool(true)), 0);
    weft_js_leave(js);
    *(bool *)arg = true;
}

/* In a callback of the loop everything works, for others nothing, and outside there is nothing to use. */
static void owners(void) {
    bool has_come = false;
    weft_fiber fiber;
    open_instance(NULL);
    CHECK_EQ(weft_js_enter(NULL), -EINVAL);
    CHECK_EQ(weft_js_pending(js), -EPERM);
    CHECK_EQ(weft_js_pending(NULL), -EPERM);
    CHECK_EQ(weft_js_object(js).bits, 0);
    CHECK_EQ(weft_js_object(NULL).bits, 0);
    CHECK_EQ(weft_loop_submit(loop, callback, &has_come), 0);
    CHECK_EQ(weft_loop_keep(loop), 0);
    SPAWN(&fiber, try_while_it_runs, NULL);
    CHECK_EQ(weft_js_finish(js), 0);
    JOIN(fiber, NULL);
    weft_loop_unkeep(loop);
    CHECK(has_come);
    CHECK_EQ(weft_js_enter(js), -EPIPE);
    CHECK_EQ(weft_js_define(js, "late", say, NULL), -EPIPE);
    close_instance();
}
TEST(the_owner_of_the_loop_goes_in_and_out) {
    run_large(owners);
}

static void uncaught(void) {
    open_instance(NULL);
    CHECK_EQ(weft_js_enter(js), 0);
    value_of("process.on('uncaughtException', (error) => say(error.message))");
    CHECK_EQ(weft_js_enter(js), 0);
    weft_js_throw_error(js, WEFT_JS_PLAIN_ERROR, "left behind");
    weft_js_leave(js);
    CHECK_EQ(weft_js_pending(js), -EOWNERDEAD); /* it went to the one outside */
    CHECK_TEXT(said, "");
    weft_js_leave(js);
    CHECK_TEXT(said, "[\"left behind\"]");
    CHECK_EQ(weft_js_enter(js), 0);
    value_of("process.exit(7)");
    CHECK_EQ(weft_js_pending(js), -EPIPE);
    CHECK_EQ(weft_js_catch(js, NULL), -EPIPE); /* and stays */
    weft_js_error error;
    CHECK_EQ(weft_js_catch(js, &error), -EPIPE);
    CHECK_TEXT(error.message, "the script has ended");
    CHECK_EQ(weft_js_catch_value(js).bits, 0);
    CHECK_EQ(weft_js_pending(js), -EPIPE);
    weft_js_leave(js);
    CHECK_EQ(weft_js_finish(js), 7);
    close_instance();
}
TEST(what_is_pending_at_the_end_is_uncaught) {
    run_large(uncaught);
}

/* Jobs that C has caused run with the loop. */
static void jobs(void) {
    open_instance(NULL);
    CHECK_EQ(weft_js_enter(js), 0);
    value_of("Promise.resolve('job').then(say)");
    CHECK_TEXT(said, "");
    weft_js_leave(js);
    CHECK_EQ(weft_loop_run(loop, WEFT_LOOP_NO_WAIT, WEFT_NEVER), 0);
    CHECK_TEXT(said, "[\"job\"]");
    close_instance();
}
TEST(jobs_run_with_the_loop) {
    run_large(jobs);
}

static void leak(void) {
    fflush(stderr);
    int before = dup(2), file = memfd_create("errors", MFD_CLOEXEC);
    dup2(file, 2);
    open_instance(&(weft_js_options){.tell_leaks = true});
    CHECK_EQ(weft_js_enter(js), 0);
    kept = weft_js_keep(js, weft_js_object(js));
    weft_js_keep(js, kept);
    weft_js_leave(js);
    close_instance();
    fflush(stderr);
    dup2(before, 2);
    close(before);
    char text[256] = "";
    CHECK_GE(pread(file, text, sizeof text - 1, 0), 0);
    close(file);
    CHECK_TEXT(text, "weft: 2 values of JavaScript were still kept (weft_js_keep) when the instance was freed\n");
}
TEST(values_that_are_still_kept_are_reported) {
    run_large(leak);
}
