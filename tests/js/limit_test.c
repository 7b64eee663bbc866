/* SPDX-License-Identifier: MIT
 *
 * js/limit_test.c - limits that change, figures, and thousands of instances.
 */
#include "support/js.h"

static void change(void) {
    weft_js_limits limits = {1, 1, 1};
    open_instance(NULL);
    CHECK_EQ(weft_js_get_limits(js, NULL), -EINVAL);
    CHECK_EQ(weft_js_set_limits(js, NULL), -EINVAL);
    CHECK_EQ(weft_js_set_limits(NULL, &limits), -EINVAL);
    CHECK_EQ(weft_js_set_limits(js, &(weft_js_limits){.max_run = -1}), -EINVAL);
    CHECK_EQ(weft_js_get_limits(js, &limits), 0);
    CHECK_EQ(limits.max_memory, 0);
    CHECK_EQ(limits.max_stack, STACK - STACK_BELOW);
    size_t stack = limits.max_stack;
    CHECK_EQ(weft_js_enter(js), 0);
    value_of("globalThis.deep = (n) => { try { return deep(n + 1) } catch { return n } };"
             "globalThis.fill = (n) => { try { const list = []; for (let i = 0; i < n; i++) list.push(new "
             "Array(1000).fill(i)); return 'fine' }"
             "  catch (error) { return error.message } }");
    int64_t before = weft_js_as_int64(js, value_of("deep(0)"));
    CHECK_TEXT(weft_js_as_text(js, value_of("fill(2000)"), NULL), "fine");
    weft_js_leave(js);
    CHECK_EQ(weft_js_set_limits(js, &(weft_js_limits){.max_memory = 8 << 20, .max_stack = stack / 4}), 0);
    CHECK_EQ(weft_js_enter(js), 0);
    int64_t after = weft_js_as_int64(js, value_of("deep(0)"));
    CHECK_LE(after, before / 2);
    CHECK_TEXT(weft_js_as_text(js, value_of("fill(2000)"), NULL), "out of memory");
    limits.max_memory = 0;
    CHECK_EQ(weft_js_set_limits(js, &limits), 0); /* inside, too */
    CHECK_TEXT(weft_js_as_text(js, value_of("fill(2000)"), NULL), "fine");
    CHECK_EQ(weft_js_set_limits(js, &(weft_js_limits){.max_stack = stack, .max_run = 10 * WEFT_MILLISECOND}), 0);
    CHECK_EQ(value_of("for (;;);").bits, 0);
    CHECK_EQ(weft_js_catch(js, NULL), -EOWNERDEAD);
    weft_js_leave(js);
    CHECK_EQ(weft_js_set_limits(js, &(weft_js_limits){.max_stack = stack}), 0);
    CHECK_EQ(eval("for (const end = Date.now() + 20; Date.now() < end;); say('in time')"), 0);
    CHECK_TEXT(said, "[\"in time\"]");
    CHECK_EQ(weft_js_get_limits(js, &limits), 0); /* after the end of the script, too */
    close_instance();
}
TEST(limits_can_be_changed) {
    run_large(change);
}

static void figures(void) {
    weft_js_stats stats, more;
    open_instance(NULL);
    CHECK_EQ(weft_js_get_stats(js, NULL), -EINVAL);
    CHECK_EQ(weft_js_get_stats(NULL, &stats), -EINVAL);
    CHECK_EQ(weft_js_collect(NULL), -EINVAL);
    CHECK_EQ(weft_js_get_stats(js, &stats), 0);
    CHECK(stats.heap > 100000 && stats.objects > 100 && stats.functions > 10 && stats.fibers == 0 && stats.waits == 0);
    CHECK_EQ(weft_js_enter(js), 0);
    weft_js_value kept = weft_js_keep(js, value_of("new Array(1000).fill(0).map(() => ({}))"));
    value_of("for (let i = 0; i < 1000; i++) { const a = {}; a.a = a }");
    weft_js_leave(js);
    CHECK_EQ(weft_js_get_stats(js, &more), 0);
    CHECK_GE(more.objects, stats.objects + 1000);
    CHECK_EQ(more.kept, 1);
    CHECK_EQ(weft_js_enter(js), 0);
    CHECK_EQ(weft_js_drop(js, kept), 0);
    weft_js_leave(js);
    CHECK_EQ(weft_js_collect(js), 0); /* circles, too */
    CHECK_EQ(weft_js_get_stats(js, &more), 0);
    CHECK_LE(more.objects, stats.objects + 100);
    CHECK_EQ(
        eval(
            "const { go, chan, sleep } = require('weft:go'); go(() => chan().recv()); go(() => sleep(1e9)); sleep(1e9);"
            "setTimeout(() => process.exit(0), 1)"),
        0);
    CHECK_EQ(weft_js_get_stats(js, &stats), 0);
    CHECK_EQ(stats.fibers, 2);
    CHECK_EQ(stats.waits, 1);
    CHECK_EQ(stats.kept, 0);
    CHECK_EQ(weft_js_collect(js), 0);
    close_instance();
}
TEST(instances_have_figures) {
    run_large(figures);
}

static weft_js_value twice(weft_js *instance, const weft_js_arguments *given) {
    return weft_js_number(instance, 2 * weft_js_as_number(instance, given->values[0]));
}

static void cycles(void) {
    weft_loop_options options = {.stays = true};
    for (long i = scaled(10000, 200); i > 0; i--) {
        weft_js_value kept = {0};
        CHECK_EQ(weft_loop_new(&loop, &options), 0);
        CHECK_EQ(weft_js_new(&js, loop, &(weft_js_options){.max_stack = STACK - STACK_BELOW}), 0);
        CHECK_EQ(weft_js_enter(js), 0);
        weft_js_set(js, weft_js_global(js), "twice", weft_js_function(js, "twice", 1, twice, NULL, NULL));
        weft_js_deferred *deferred = NULL;
        weft_js_set(js, weft_js_global(js), "promise", weft_js_defer(js, &deferred));
        kept = weft_js_keep(js, value_of("[twice(21), Promise.resolve(1).then(twice)]"));
        CHECK_EQ(weft_js_as_int64(js, weft_js_get_at(js, kept, 0)), 42);
        weft_js_leave(js);
        if (i % 2)
            CHECK_GE(weft_loop_run(loop, WEFT_LOOP_NO_WAIT, WEFT_NEVER), 0);
        weft_js_free(js);
        CHECK_EQ(weft_js_reject(deferred, -EIO, NULL), -EPIPE);
        CHECK_EQ(weft_loop_close(loop, WEFT_NEVER), 0);
        weft_loop_unref(loop);
    }
}
TEST(ten_thousand_instances_come_and_go) {
    run_large(cycles);
}

/* The same without fibers: a plain thread has the loop, and there is no runtime. */
TEST(instances_live_on_plain_threads) {
    weft_loop_options options = {.stays = true};
    CHECK_EQ(weft_loop_new(&loop, &options), 0);
    CHECK_EQ(weft_js_new(&js, loop, NULL), 0);
    CHECK_EQ(weft_js_define(js, "say", say, said), 0);
    said[0] = 0;
    CHECK_EQ(weft_js_enter(js), 0);
    weft_js_deferred *deferred;
    weft_js_set(js, weft_js_global(js), "promise", weft_js_defer(js, &deferred));
    value_of("promise.then((value) => say(value))");
    weft_js_leave(js);
    CHECK_EQ(weft_js_resolve_json(deferred, "\"settled\"", 9), 0);
    CHECK_EQ(eval("Promise.resolve('soon').then(say); promise.then(() => setTimeout(say, 1, 'later'))"), 0);
    CHECK_TEXT(said, "[\"soon\"][\"settled\"][\"later\"]");
    close_instance();
}
