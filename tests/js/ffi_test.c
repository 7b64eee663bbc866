/* SPDX-License-Identifier: MIT
 *
 * js/ffi_test.c - foreign functions of an instance that C has made: on a plain thread, with limits, and at its end.
 */
#include <dlfcn.h>
#include <pthread.h>

#include "support/child.h"
#include "support/run.h"
#include "weft/js.h"

/* STACK: of the fiber that owns the loop. */
enum { STACK = 2 << 20, STACK_BELOW = 128 << 10 };

#define OPEN \
    "const ffi = require('weft:ffi'), { go } = require('weft:go'); const lib = ffi.open('" LIBRARY "', {" \
    "  call_often: ['int', [{ callback: ['int', ['int']] }, 'int']], call_on_threads: ['int', [{ callback: ['int', " \
    "['int']] }," \
    "  'int', 'int']], gate_wait: ['int', ['int']], gate_call: ['int', [{ callback: ['int', ['int']] }, 'int']]," \
    "  gate_count: ['int', []], store: ['void', ['pointer']], call_stored: ['int', ['int']], sum_bytes: ['i64', " \
    "['buffer', 'int']] });"
#define WHEN "const when = (ready, then) => (ready() ? then() : setTimeout(when, 1, ready, then));"

static weft_loop *loop;
static weft_js *js;
static char said[4096];

static int say(weft_js *instance, const char *arguments, char **result, void *arg) {
    (void)instance, (void)arg;
    strncat(said, arguments, sizeof said - strlen(said) - 1);
    *result = strdup("42");
    return 0;
}

static void open_instance(const weft_js_options *given) {
    weft_js_options options = {0};
    if (given)
        options = *given;
    if (weft_self().bits)
        options.max_stack = STACK - STACK_BELOW;
    said[0] = 0;
    CHECK_EQ(weft_loop_new(&loop, &(weft_loop_options){.stays = true}), 0);
    CHECK_EQ(weft_js_new(&js, loop, &options), 0);
    CHECK_EQ(weft_js_define(js, "say", say, NULL), 0);
}

static void close_instance(void) {
    weft_js_free(js);
    CHECK_EQ(weft_loop_close(loop, WEFT_NEVER), 0);
    weft_loop_unref(loop);
}

static int eval(const char *text) {
    CHECK_EQ(weft_js_eval(js, text, strlen(text), "test.js"), 0);
    return weft_js_finish(js);
}

/* The same, and the script is not over. */
static void eval_more(const char *text) {
    CHECK_EQ(weft_js_eval(js, text, strlen(text), "test.js"), 0);
    CHECK(weft_loop_run(loop, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER) >= 0);
}

static int eval_alone(const weft_js_options *options, const char *text) {
    open_instance(options);
    int code = eval(text);
    close_instance();
    return code;
}

static void *find(const char *name) {
    void *library = dlopen(LIBRARY, RTLD_NOW); /* stays open: it is one and the same for all */
    CHECK(library);
    void *found = dlsym(library, name);
    CHECK(found);
    return found;
}

static void gate_open(int count) {
    ((void (*)(int))find("gate_open"))(count);
}

static void (*large_body)(void);

static void *run_body(void *arg) {
    large_body();
    return arg;
}

static void spawn_body(void) {
    weft_fiber fiber;
    CHECK_EQ(weft_spawn_with(&fiber, &(weft_spawn_options){.stack_size = STACK}, run_body, NULL), 0);
    JOIN(fiber, NULL);
}

static void run_large(void (*body)(void)) {
    if (weft_ffi_size_of("i") == -ENOSYS)
        return;
    large_body = body;
    run_fibers(spawn_body);
}

/* ---- Where ---- */

static void call_around(void) {
    CHECK_EQ(eval_alone(
                 NULL, OPEN
                 "say(lib.call_often((value) => value, 5), lib.call_on_threads((value) => value, 3, 10));"
                 "try { lib.call_often(() => { throw new Error('stopped') }, 5) } catch (error) { say(error.message) }"
                 "const deep = (value) => lib.call_often(deep, 1);"
                 "try { deep(1) } catch (error) { say(error.name, lib.call_often((value) => 1, 3)) }"),
             0);
    CHECK_TEXT(said, "[10,435][\"stopped\"][\"RangeError\",3]");
}

/* Without a runtime, too. */
TEST(functions_are_called_and_call_back) {
    run_large(call_around);
    if (weft_ffi_size_of("i") != -ENOSYS)
        call_around();
}

static void call_without_fibers(void) {
    CHECK_EQ(eval_alone(&(weft_js_options){.no_fibers = true},
                        OPEN "go(() => lib.call_often((value) => value, 5)).then(say);"
                             "lib.call_often.async((value) => value, 4).then(say)"),
             0);
    CHECK_TEXT(said, "[10][6]");
}
TEST(without_fibers_calls_are_synchronous) {
    run_large(call_without_fibers);
}

static void limit(void) {
    CHECK_EQ(
        eval_alone(
            &(weft_js_options){.max_memory = 8 << 20}, OPEN
            "const list = []; try { for (;;) list.push(ffi.alloc(1 << 20)) } catch (error) { say(list.length < 8) }"
            "list.length = 0; for (let i = 0; i < 100; i++) ffi.alloc(1 << 20); say('again')"),
        0);
    CHECK_TEXT(said, "[true][\"again\"]");
    CHECK_EQ(eval_alone(&(weft_js_options){.max_run = 50 * WEFT_MILLISECOND},
                        OPEN "process.once('uncaughtException', (error) => say('caught'));"
                             "setTimeout(() => { lib.call_often(() => { for (;;); }, 3); say('never') }, 0)"),
             0);
    CHECK_TEXT(said, "[\"caught\"]");
}
TEST(memory_and_time_have_limits) {
    run_large(limit);
}

/* ---- The end ---- */

static void leave_calls(void) {
    open_instance(NULL);
    CHECK_EQ(eval(OPEN WHEN
                  "for (let i = 0; i < 5; i++) { go(() => { try { lib.gate_wait(i) } finally { say('never') } });"
                  "  go(() => lib.gate_call(() => say('never'), i)); lib.gate_wait.async(i).then(say, say);"
                  "  lib.gate_call.async(() => say('never'), i).then(say, say); }"
                  "when(() => lib.gate_count() === 20, () => process.exit(3))"),
             3);
    gate_open(20);
    close_instance();
    CHECK_TEXT(said, "");
}
TEST(calls_that_are_not_back_at_the_end_run_nothing_more) {
    run_large(leave_calls);
}

/* ---- Threads that know nothing of what became of a callback ---- */

static atomic_int calls;
static atomic_bool is_done;

static void *keep_calling(void *arg) {
    int (*fn)(int) = (int (*)(int))find("call_stored");
    while (!is_done) {
        int answer = fn(1);
        CHECK(answer == 2 || answer == 0);
        calls++;
    }
    return arg;
}

static int count_calls(weft_js *instance, const char *arguments, char **result, void *arg) {
    (void)instance, (void)arguments, (void)arg;
    *result = strdup(calls >= 50 ? "true" : "false");
    return 0;
}

static void free_under_callers(void) {
    enum { THREADS = 3 };
    pthread_t threads[THREADS];
    int (*fn)(int) = (int (*)(int))find("call_stored");
    calls = 0;
    is_done = false;
    open_instance(NULL);
    CHECK_EQ(weft_js_define(js, "areThere", count_calls, NULL), 0);
    eval_more(OPEN "lib.store(ffi.callback(['int', ['int']], (value) => {"
                   "  Promise.resolve().then(() => say('job')); return value + 1; }))");
    CHECK_EQ(fn(1), 2); /* between two turns of the loop, on its own thread */
    eval_more("say('more')");
    CHECK_TEXT(said, "[\"job\"][\"more\"]");
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, keep_calling, NULL), 0);
    eval_more(WHEN "when(areThere, () => process.exit(0))");
    close_instance();
    for (int before = calls; calls < before + 50;)
        sched_yield();
    is_done = true;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(fn(1), 0);
}
TEST(a_callback_of_an_instance_that_is_gone_answers_zero) {
    run_large(free_under_callers);
}

/* C that JavaScript has called calls back, on the loop and on a fiber. */
static int call_back(weft_js *instance, const char *arguments, char **result, void *arg) {
    (void)instance, (void)arguments, (void)arg;
    *result = malloc(32);
    snprintf(*result, 32, "%d", ((int (*)(int))find("call_stored"))(20));
    return 0;
}

static void call_from_defined(void) {
    open_instance(NULL);
    CHECK_EQ(weft_js_define(js, "callBack", call_back, NULL), 0);
    CHECK_EQ(eval(OPEN "lib.store(ffi.callback(['int', ['int']], (value) => value + 1)); say(callBack());"
                       "go(() => say(callBack(), lib.call_often(() => callBack(), 2))).then(() => {"
                       "  lib.store(ffi.callback(['int', ['int']], () => { throw new Error('nobody') }));"
                       "  process.once('uncaughtException', (error) => say(error.message)); say(callBack()); })"),
             0);
    CHECK_TEXT(said, "[21][21,42][\"nobody\"][0]");
    close_instance();
}
TEST(functions_of_c_that_javascript_calls_call_back) {
    run_large(call_from_defined);
}

static void call_closed(void *arg) {
    (void)arg;
    pthread_t thread;
    is_done = false;
    open_instance(NULL);
    CHECK_EQ(eval(OPEN "const callback = ffi.callback(['int', ['int']], (value) => value + 1);"
                       "lib.store(callback); callback.close();"),
             0);
    CHECK_EQ(pthread_create(&thread, NULL, keep_calling, NULL), 0);
    pthread_join(thread, NULL);
}
TEST(a_closed_callback_that_a_thread_calls_is_fatal) {
    if (weft_ffi_size_of("i") == -ENOSYS)
        return;
    struct child_end end = child_run(call_closed, NULL);
    CHECK(child_was_aborted(&end));
    CHECK(strstr(end.text, "after it was closed"));
}
