/* SPDX-License-Identifier: MIT
 *
 * js/outside_test.c - other threads and fibers: they submit, call and wait, interrupt and terminate, also while the instance ends.
 */
#include "support/js.h"

static atomic_int ran, dropped;
static weft_js_error error;

static void submitted(weft_js *instance, void *arg) {
    CHECK(instance == js);
    weft_js_value text[] = {weft_js_text(instance, arg)};
    weft_js_call(instance, weft_js_get(instance, weft_js_global(instance), "say"), weft_js_undefined(), 1, text);
    atomic_fetch_add(&ran, 1);
}

static void drop(void *arg) {
    (void)arg;
    atomic_fetch_add(&dropped, 1);
}

static void leave_an_error(weft_js *instance, void *arg) {
    (void)arg;
    weft_js_throw_error(instance, WEFT_JS_PLAIN_ERROR, "left");
}

static void panic_there(weft_js *instance, void *arg) {
    (void)instance, (void)arg;
    weft_panic("submitted a panic");
}

static void end_it(weft_js *instance, void *arg) {
    static const char text[] = "setTimeout(() => process.exit(6), 1)";
    (void)arg;
    weft_js_evaluate(instance, text, sizeof text - 1, "end");
}

static void *submit_from_thread(void *arg) {
    static char *const texts[] = {"one", "two", "three"};
    CHECK_EQ(weft_js_submit(NULL, submitted, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_js_submit(js, NULL, NULL, NULL), -EINVAL);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(weft_js_submit(js, submitted, drop, texts[i]), 0);
    CHECK_EQ(weft_js_submit(js, leave_an_error, drop, NULL), 0);
    CHECK_EQ(weft_js_submit(js, panic_there, drop, NULL), 0);
    CHECK_EQ(weft_js_submit(js, end_it, drop, NULL), 0);
    return arg;
}

static void submit(void) {
    atomic_store(&dropped, 0);
    open_instance(NULL);
    CHECK_EQ(weft_loop_keep(loop), 0);
    static const char text[] = "process.on('uncaughtException', (error) => say(error.message))";
    CHECK_EQ(weft_js_eval(js, text, sizeof text - 1, "test.js"), 0);
    pthread_t thread = thread_start(submit_from_thread, NULL);
    CHECK_EQ(weft_js_finish(js), 6);
    thread_join(thread);
    CHECK_TEXT(said, "[\"one\"][\"two\"][\"three\"][\"left\"][\"submitted a panic\"]");
    CHECK_EQ(weft_js_submit(js, submitted, drop, NULL), -EPIPE);
    CHECK_EQ(atomic_load(&dropped), 0);
    weft_loop_unkeep(loop);
    close_instance();
}
TEST(threads_submit_functions) {
    run_large(submit);
}

/* What was accepted is carried out or dropped, once, whoever comes first: the loop, the end, or the freeing. */
static void *submit_many(void *arg) {
    weft_js *instance = arg;
    long accepted = 0;
    for (int i = 0; i < 200; i++) {
        int status = weft_js_submit(instance, submitted, drop, "x");
        CHECK(status == 0 || status == -EPIPE);
        accepted += status == 0;
    }
    CHECK(weft_js_terminate(instance, 1) == 0 || true);
    weft_js_unref(instance);
    return (void *)accepted;
}

static void submit_and_free(void) {
    for (long round = scaled(100, 10); round > 0; round--) {
        pthread_t threads[3];
        long accepted = 0;
        atomic_store(&ran, 0);
        atomic_store(&dropped, 0);
        open_instance(NULL);
        for (int i = 0; i < 3; i++)
            threads[i] = thread_start(submit_many, weft_js_ref(js));
        if (round % 2)
            (void)eval("setTimeout(() => process.exit(0), 0)");
        close_instance();
        for (int i = 0; i < 3; i++) {
            void *many;
            CHECK_EQ(pthread_join(threads[i], &many), 0);
            accepted += (long)(intptr_t)many;
        }
        CHECK_EQ(atomic_load(&ran) + atomic_load(&dropped), accepted);
    }
}
TEST(what_was_submitted_is_done_or_dropped) {
    run_large(submit_and_free);
}

/* A loop that has ended takes its callbacks with it. */
static void end_of_the_loop(void) {
    atomic_store(&ran, 0);
    atomic_store(&dropped, 0);
    open_instance(NULL);
    CHECK_EQ(weft_js_submit(js, submitted, drop, "x"), 0);
    CHECK_EQ(weft_js_submit(js, submitted, NULL, "x"), 0);
    CHECK_EQ(weft_loop_close(loop, WEFT_NEVER), 0);
    CHECK_EQ(weft_js_submit(js, submitted, drop, "x"), -EPIPE);
    weft_js *left = weft_js_ref(js);
    weft_js_free(js);
    CHECK_EQ(atomic_load(&dropped), 1);
    CHECK_EQ(atomic_load(&ran), 0);
    CHECK_EQ(weft_js_submit(left, submitted, drop, "x"), -EPIPE);
    CHECK_EQ(weft_js_interrupt(left), -EPIPE);
    CHECK_EQ(weft_js_terminate(left, 1), -EPIPE);
    CHECK_EQ(weft_js_call_wait(left, "x", NULL, NULL, NULL, WEFT_NEVER), -EPIPE);
    weft_js_unref(left);
    weft_js_unref(NULL);
    CHECK(weft_js_ref(NULL) == NULL);
    weft_loop_unref(loop);
}
TEST(a_loop_that_has_ended_drops_what_was_submitted) {
    run_large(end_of_the_loop);
}

/* ---- Calls that wait ---- */

static void check_call(const char *name, const char *arguments, int status, const char *result) {
    char *found = NULL;
    memset(&error, 0, sizeof error);
    int got = weft_js_call_wait(js, name, arguments, &found, &error, weft_after(PATIENCE_NS));
    if (got != status)
        fprintf(stderr, "%s: %s\n", name, error.message);
    CHECK_EQ(got, status);
    if (status == 0 && result)
        CHECK_TEXT(found, result);
    else if (status == 0)
        CHECK(!found);
    else
        CHECK_TEXT(error.message, result);
    free(found);
}

static atomic_int is_ready;

static void *call_from_elsewhere(void *arg) {
    WAIT_UNTIL(atomic_load(&is_ready));
    check_call("sum", "[1, 2, 3]", 0, "6");
    check_call("app.users.find", "[\"ann\"]", 0, "{\"name\":\"ann\",\"of\":2}");
    check_call("later", "[5]", 0, "10");
    check_call("nothing", NULL, 0, NULL);
    check_call("on_fiber", NULL, 0, "\"slept\"");
    check_call("app:text#twice", "[4]", 0, "8");
    check_call("node:path#posix.join", "[\"a\", \"b\"]", 0, "\"a/b\"");
    check_call("thrower", NULL, -EOWNERDEAD, "thrown");
    CHECK_TEXT(error.name, "RangeError");
    CHECK(strstr(error.stack, "thrower") != NULL);
    check_call("rejects", NULL, -EOWNERDEAD, "rejected");
    check_call("is.not.there", NULL, -ENOENT, "There is no function 'is.not.there'");
    check_call("app", NULL, -ENOENT, "There is no function 'app'");
    check_call("app:none#x", NULL, -EOWNERDEAD,
               "Only URLs with a scheme in: file, data, and node are supported by the default ESM loader. Received "
               "protocol 'app:'");
    check_call("sum", "{}", -EOWNERDEAD, "Arguments of a call are a JSON array");
    CHECK_EQ(weft_js_call_wait(js, "sum", "[", NULL, &error, WEFT_NEVER), -EOWNERDEAD);
    CHECK_TEXT(error.name, "SyntaxError");
    CHECK_EQ(weft_js_call_wait(js, "never", NULL, NULL, NULL, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    check_call("unreachable", NULL, -EPIPE, "");
    CHECK_EQ(weft_js_call_wait(js, "sum", NULL, NULL, NULL, WEFT_NEVER), 0);
    CHECK_EQ(weft_js_call_wait(NULL, "sum", NULL, NULL, NULL, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_js_call_wait(js, "", NULL, NULL, NULL, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_js_call_wait(js, NULL, NULL, NULL, NULL, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_js_do(js, NULL, NULL, NULL, NULL, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_js_terminate(js, 4), 0);
    return arg;
}

static weft_js_value call_inside(weft_js *instance, const weft_js_arguments *given) {
    (void)given;
    atomic_store(&is_ready, 1);
    return weft_js_int64(instance, weft_js_call_wait(instance, "sum", NULL, NULL, NULL, WEFT_NEVER));
}

static void call_in_callback(void *arg) {
    (void)arg;
    CHECK_EQ(weft_js_call_wait(js, "sum", NULL, NULL, NULL, WEFT_NEVER), -EDEADLK);
}

static const char service[] = "const { sleep, go } = require('weft:go');"
                              "globalThis.sum = (...list) => list.reduce((a, b) => a + b, 0);"
                              "globalThis.app = { users: { of: 2, find(name) { return { name, of: this.of } } } };"
                              "globalThis.later = async (n) => { await sleep(1); return 2 * n };"
                              "globalThis.nothing = () => undefined; globalThis.unreachable = () => new Promise(() => "
                              "{}); globalThis.never = () => globalThis.held = new Promise(() => {});"
                              "globalThis.on_fiber = () => go(() => { sleep(1); return 'slept' });"
                              "globalThis.thrower = function thrower() { throw new RangeError('thrown') };"
                              "globalThis.rejects = async () => { await null; throw new Error('rejected') };"
                              "say(inside()); go(() => say(inside()));";

static void open_service(void) {
    static const char module[] = "export const twice = (n) => 2 * n";
    atomic_store(&is_ready, 0);
    open_instance(NULL);
    CHECK_EQ(weft_loop_keep(loop), 0);
    CHECK_EQ(weft_js_enter(js), 0);
    weft_js_set(js, weft_js_global(js), "inside", weft_js_function(js, "inside", 0, call_inside, NULL, NULL));
    CHECK_EQ(weft_js_module_text(js, "app:text", module, sizeof module - 1), 0);
    weft_js_leave(js);
    CHECK_EQ(weft_loop_submit(loop, call_in_callback, NULL), 0);
}

static void call_and_wait(void) {
    weft_fiber fiber;
    open_service();
    pthread_t thread = thread_start(call_from_elsewhere, NULL);
    CHECK_EQ(eval(service), 4);
    thread_join(thread);
    weft_loop_unkeep(loop);
    close_instance();
    open_service();
    SPAWN(&fiber, call_from_elsewhere, NULL);
    CHECK_EQ(eval(service), 4);
    JOIN(fiber, NULL);
    CHECK_TEXT(said, "[-35][-35]");
    weft_loop_unkeep(loop);
    close_instance();
}
TEST(threads_and_fibers_call_functions_and_wait) {
    run_large(call_and_wait);
}

/* ---- With values ---- */

struct exchange {
    const char *text;
    int64_t got;
    bool fails;
    bool panics;
};

static weft_js_value begin(weft_js *instance, void *arg) {
    struct exchange *exchange = arg;
    return weft_js_evaluate(instance, exchange->text, strlen(exchange->text), "begin");
}

static void done(weft_js *instance, weft_js_value value, void *arg) {
    struct exchange *exchange = arg;
    if (exchange->panics)
        weft_panic("done in");
    exchange->got = weft_js_as_int64(instance, value);
    if (exchange->fails)
        weft_js_throw_error(instance, WEFT_JS_PLAIN_ERROR, "not done");
}

static int exchange(struct exchange *with, weft_time deadline) {
    memset(&error, 0, sizeof error);
    return weft_js_do(js, begin, done, with, &error, deadline);
}

static void *exchange_all(void *arg) {
    struct exchange with = {.text = "40 + 2"};
    CHECK_EQ(exchange(&with, WEFT_NEVER), 0);
    CHECK_EQ(with.got, 42);
    with = (struct exchange){.text = "Promise.resolve(43)"};
    CHECK_EQ(exchange(&with, WEFT_NEVER), 0);
    CHECK_EQ(with.got, 43);
    with = (struct exchange){.text = "({ then(good) { setTimeout(good, 1, 44) } })"};
    CHECK_EQ(exchange(&with, WEFT_NEVER), 0);
    CHECK_EQ(with.got, 44);
    with = (struct exchange){.text = "({})"};
    CHECK_EQ(exchange(&with, WEFT_NEVER), -EOWNERDEAD);
    CHECK_TEXT(error.message, "an object where a whole number is wanted");
    with = (struct exchange){.text = "1", .fails = true};
    CHECK_EQ(exchange(&with, WEFT_NEVER), -EOWNERDEAD);
    CHECK_TEXT(error.message, "not done");
    with = (struct exchange){.text = "Promise.resolve(1)", .panics = true};
    CHECK_EQ(exchange(&with, WEFT_NEVER), -EOWNERDEAD);
    CHECK_TEXT(error.message, "done in");
    with = (struct exchange){.text = "throw new TypeError('begun')"};
    CHECK_EQ(exchange(&with, WEFT_NEVER), -EOWNERDEAD);
    CHECK_TEXT(error.message, "begun");
    with = (struct exchange){.text = "new Promise(() => {})"}; /* nobody has it: it is gone at once */
    CHECK_EQ(exchange(&with, weft_after(PATIENCE_NS)), -EPIPE);
    with = (struct exchange){.text = "globalThis.pending = new Promise(() => {})"};
    CHECK_EQ(exchange(&with, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    with = (struct exchange){.text = "globalThis.slow = new Promise((resolve) => setTimeout(resolve, 2, 45))"};
    (void)exchange(&with, weft_after(WEFT_MILLISECOND));
    CHECK_EQ(weft_js_do(js, begin, NULL, &with, NULL, WEFT_NEVER), 0);
    with = (struct exchange){.text = "process.exit(5)"};
    CHECK_EQ(exchange(&with, WEFT_NEVER), -EPIPE);
    CHECK_EQ(exchange(&with, WEFT_NEVER), -EPIPE);
    return arg;
}

static void do_things(void) {
    open_instance(NULL);
    CHECK_EQ(weft_loop_keep(loop), 0);
    pthread_t thread = thread_start(exchange_all, NULL);
    CHECK_EQ(eval("0"), 5);
    thread_join(thread);
    weft_loop_unkeep(loop);
    close_instance();
}
TEST(threads_have_things_done_with_values) {
    run_large(do_things);
}

/* Who waits gets to know of the end, whenever it comes. */
static void *wait_for_ever(void *arg) {
    struct exchange with = {.text = "globalThis['p' + Math.random()] = new Promise(() => {})"};
    CHECK_EQ(weft_js_do(arg, begin, done, &with, NULL, WEFT_NEVER), -EPIPE);
    atomic_fetch_add(&ran, 1);
    weft_js_unref(arg);
    return NULL;
}

static void wait_until_the_end(void) {
    for (long round = scaled(50, 5); round > 0; round--) {
        pthread_t threads[4];
        atomic_store(&ran, 0);
        open_instance(NULL);
        for (int i = 0; i < 4; i++)
            threads[i] = thread_start(wait_for_ever, weft_js_ref(js));
        if (round % 2)
            CHECK_EQ(eval("setTimeout(() => process.exit(1), 1)"), 1);
        weft_js_free(js);
        for (int i = 0; i < 4; i++)
            thread_join(threads[i]);
        CHECK_EQ(atomic_load(&ran), 4);
        CHECK_EQ(weft_loop_close(loop, WEFT_NEVER), 0);
        weft_loop_unref(loop);
    }
}
TEST(the_end_is_told_to_all_who_wait) {
    run_large(wait_until_the_end);
}

/* ---- Stopping ---- */

static atomic_int is_running;

static weft_js_value tell_running(weft_js *instance, const weft_js_arguments *given) {
    (void)instance, (void)given;
    atomic_store(&is_running, 1);
    return weft_js_undefined();
}

static void *interrupt_it(void *arg) {
    WAIT_UNTIL(atomic_load(&is_running));
    CHECK_EQ(weft_js_interrupt(js), 0);
    return arg;
}

static void *terminate_it(void *arg) {
    WAIT_UNTIL(atomic_load(&is_running));
    CHECK_EQ(weft_js_terminate(js, 9), 0);
    (void)weft_js_terminate(js, 10);
    return arg;
}

static void stop(void *(*how)(void *), const char *text, int code) {
    open_instance(NULL);
    atomic_store(&is_running, 0);
    CHECK_EQ(weft_js_enter(js), 0);
    weft_js_set(js, weft_js_global(js), "running", weft_js_function(js, "running", 0, tell_running, NULL, NULL));
    weft_js_leave(js);
    pthread_t thread = thread_start(how, NULL);
    CHECK_EQ(eval(text), code);
    thread_join(thread);
    close_instance();
}

static void stops(void) {
    CHECK_EQ(weft_js_interrupt(NULL), -EINVAL);
    CHECK_EQ(weft_js_terminate(NULL, 1), -EINVAL);
    stop(interrupt_it, "process.on('uncaughtException', (error) => say(error.message)); running(); for (;;);", 0);
    CHECK_TEXT(said, "[\"interrupted by the program\"]");
    stop(interrupt_it,
         "const { go } = require('weft:go'); go(() => { running(); try { for (;;); } finally { say('never') } })"
         ".catch((error) => say(error.message))",
         0);
    CHECK_TEXT(said, "[\"interrupted by the program\"]");
    stop(terminate_it, "process.on('exit', () => say('never')); running(); try { for (;;); } finally { say('never') }",
         9);
    CHECK_TEXT(said, "");
    stop(terminate_it,
         "const { go, sleep } = require('weft:go'); go(() => sleep(1e9)); setTimeout(() => {}, 1e9); running();", 9);
    CHECK_TEXT(said, "");
    stop(terminate_it, "const { go } = require('weft:go'); go(() => { running(); for (;;); })", 9);
    CHECK_TEXT(said, "");
}
TEST(threads_interrupt_and_terminate) {
    run_large(stops);
}
