/* SPDX-License-Identifier: MIT
 *
 * support/js.h - an instance of JavaScript for a test, on a loop of its own, with functions by which its scripts tell things.
 *
 *     static void body(void) {
 *         open_instance(NULL);
 *         CHECK_EQ(eval("say('hello')"), 0);       // runs to its end: the exit code
 *         CHECK_TEXT(said, "[\"hello\"]");
 *         close_instance();
 *     }
 *     TEST(scripts_talk) { run_large(body); }      // on a fiber with room for JavaScript
 */
#ifndef WF_SUPPORT_JS_H
#define WF_SUPPORT_JS_H

#include "support/run.h"
#include "weft/js.h"
#include "weft/panic.h"

/* STACK: of the fiber that owns the loop. */
enum { STACK = 2 << 20, STACK_BELOW = 128 << 10 };

static weft_loop *loop;
static weft_js *js;
static char said[4096];

/* say(text): what a script has to tell the test */
static inline int say(weft_js *instance, const char *arguments, char **result, void *arg) {
    CHECK(instance == js);
    CHECK(arg == said);
    strncat(said, arguments, sizeof said - strlen(said) - 1);
    *result = strdup("42");
    return 0;
}

/* refuse(number): fails with that error; refuse() panics */
static inline int refuse(weft_js *instance, const char *arguments, char **result, void *arg) {
    int error = 0;
    (void)instance, (void)result, (void)arg;
    if (sscanf(arguments, "[%d]", &error) != 1)
        weft_panic("refused");
    return error;
}

static inline void open_instance(const weft_js_options *given) {
    weft_loop_options loop_options = {.stays = true};
    weft_js_options options = {0};
    if (given)
        options = *given;
    options.max_stack = STACK - STACK_BELOW;
    said[0] = 0;
    CHECK_EQ(weft_loop_new(&loop, &loop_options), 0);
    CHECK_EQ(weft_js_new(&js, loop, &options), 0);
    CHECK_EQ(weft_js_define(js, "say", say, said), 0);
    CHECK_EQ(weft_js_define(js, "refuse", refuse, NULL), 0);
}

static inline void close_instance(void) {
    weft_js_free(js);
    CHECK_EQ(weft_loop_close(loop, WEFT_NEVER), 0);
    weft_loop_unref(loop);
}

static inline int eval(const char *text) {
    CHECK_EQ(weft_js_eval(js, text, strlen(text), "test.js"), 0);
    return weft_js_finish(js);
}

static inline int eval_alone(const weft_js_options *options, const char *text) {
    open_instance(options);
    int code = eval(text);
    close_instance();
    return code;
}

/* Inside: a script's value, now. */
static inline weft_js_value value_of(const char *text) {
    return weft_js_evaluate(js, text, strlen(text), "value.js");
}

/* With an instance of its own, inside it; and nothing is left pending, or kept. */
static void (*inside_body)(void);

static inline void run_inside_body(void) {
    weft_js_stats stats;
    open_instance(NULL);
    CHECK_EQ(weft_js_enter(js), 0);
    inside_body();
    CHECK_EQ(weft_js_pending(js), 0);
    weft_js_leave(js);
    CHECK_EQ(weft_js_get_stats(js, &stats), 0);
    CHECK_EQ(stats.kept, 0);
    close_instance();
}

static inline void *body_on_large_stack(void *arg) {
    (*(void (**)(void))arg)();
    return NULL;
}

static void (*large_body)(void);

static inline void spawn_body(void) {
    weft_fiber fiber;
    weft_spawn_options options = {.stack_size = STACK};
    CHECK_EQ(weft_spawn_with(&fiber, &options, body_on_large_stack, &large_body), 0);
    JOIN(fiber, NULL);
}

static inline void run_large(void (*body)(void)) {
    large_body = body;
    run_fibers(spawn_body);
}

static inline void run_inside(void (*body)(void)) {
    inside_body = body;
    run_large(run_inside_body);
}

#endif
