/* SPDX-License-Identifier: MIT
 *
 * js/embed_test.c - JavaScript inside a C program: instances, functions of C, limits, and what is left at the end.
 */
#include <unistd.h>

#include "support/js.h"

static void calls(void) {
    CHECK_EQ(weft_js_new(NULL, NULL, NULL), -EINVAL);
    open_instance(NULL);
    CHECK_EQ(weft_js_define(js, "", say, NULL), -EINVAL);
    CHECK_EQ(weft_js_define(js, "x", NULL, NULL), -EINVAL);
    CHECK_EQ(weft_js_run(js, NULL), -EINVAL);
    CHECK_EQ(weft_js_eval(NULL, "", 0, ""), -EINVAL);
    CHECK_EQ(eval("say(1, 'two', {three: [3]}, say('in'));"), 0);
    CHECK_TEXT(said, "[\"in\"][1,\"two\",{\"three\":[3]},42]");
    close_instance();
    open_instance(NULL);
    CHECK_EQ(
        eval("for (const value of [[-13], [-100000], []])"
             "  try { refuse(...value); } catch (error) { say(error.code ?? error.message, error instanceof Error); }"
             "setTimeout(() => say('later'), 1); Promise.resolve().then(() => say('soon'));"),
        0);
    CHECK_TEXT(said, "[\"EACCES\",true][\"UNKNOWN\",true][\"refused\",true][\"soon\"][\"later\"]");
    CHECK(strlen(weft_js_engine()) > 0);
    close_instance();
    weft_js_free(NULL);
}
TEST(functions_of_c_are_called_and_timers_come) {
    run_large(calls);
}

static void codes(void) {
    CHECK_EQ(eval_alone(NULL, "process.exitCode = 3"), 3);
    CHECK_EQ(eval_alone(NULL, "process.exit(5); say('never')"), 5);
    CHECK_TEXT(said, "");
    CHECK_EQ(eval_alone(NULL,
                        "process.on('exit', (code) => say(code)); process.on('uncaughtException', () => say('caught'));"
                        "throw new Error('one')"),
             0);
    CHECK_TEXT(said, "[\"caught\"][0]");
    CHECK_EQ(eval_alone(NULL, "await new Promise(() => {})"), 13);
}
TEST(a_script_ends_with_a_code) {
    run_large(codes);
}

static void files(void) {
    char path[] = "/tmp/weft-embed-XXXXXX.js";
    int file = mkstemps(path, 3);
    CHECK_GE(file, 0);
    static const char text[] = "say(require('node:path').basename(__filename).slice(-3)); process.exitCode = 4";
    CHECK_EQ(write(file, text, sizeof text - 1), sizeof text - 1);
    close(file);
    open_instance(NULL);
    CHECK_EQ(weft_js_exit_code(NULL), -EINVAL);
    CHECK_EQ(weft_js_exit_code(js), 0);
    CHECK_EQ(weft_js_run(js, path), 0);
    CHECK_EQ(weft_js_exit_code(js), 0);
    CHECK_EQ(weft_js_finish(js), 4);
    CHECK_EQ(weft_js_exit_code(js), 4);
    CHECK_TEXT(said, "[\".js\"]");
    close_instance();
    CHECK_EQ(unlink(path), 0);
    open_instance(NULL);
    CHECK_EQ(weft_js_run(js, path), 0); /* it is looked for when the loop runs */
    CHECK_EQ(weft_js_finish(js), 1);
    CHECK_EQ(weft_js_exit_code(js), 1);
    close_instance();
    open_instance(NULL);
    CHECK_EQ(weft_loop_close(loop, WEFT_NEVER), 0);
    CHECK_EQ(weft_js_run(js, path), -EPIPE);
    CHECK_EQ(weft_js_eval(js, "", 0, "late"), -EPIPE);
    weft_js_free(js);
    weft_loop_unref(loop);
}
TEST(files_are_run) {
    run_large(files);
}

static void limits(void) {
    CHECK_EQ(
        eval_alone(NULL, "function deep() { return deep() + 1; } try { deep(); } catch (error) { say(error.name); }"),
        0);
    CHECK_TEXT(said, "[\"RangeError\"]");
    CHECK_EQ(eval_alone(NULL, "const { go } = require('weft:go');"
                              "function deep() { return deep() + 1; }"
                              "go(deep).catch((error) => say(error.name, error.stack.includes('deep')))"),
             0);
    CHECK_TEXT(said, "[\"RangeError\",true]");
    CHECK_EQ(
        eval_alone(
            &(weft_js_options){.max_memory = 16 << 20},
            "let a = [], caught; try { for (;;) a.push(new Array(1000).fill(1)); } catch (error) { caught = error; }"
            "a = undefined; say(caught.name, caught.message, caught.stack.includes('test.js'))"),
        0);
    CHECK_TEXT(said, "[\"InternalError\",\"out of memory\",true]");
    CHECK_EQ(eval_alone(&(weft_js_options){.max_run = 20 * WEFT_MILLISECOND}, "for (;;);"), 1);
    CHECK_EQ(eval_alone(&(weft_js_options){.max_run = 20 * WEFT_MILLISECOND},
                        "const { go } = require('weft:go');"
                        "process.on('unhandledRejection', () => say('stopped')); go(() => { for (;;); })"),
             0);
    CHECK_TEXT(said, "[\"stopped\"]");
}
TEST(endless_recursion_allocation_and_loops_are_errors) {
    run_large(limits);
}

static void leave(void) {
    open_instance(NULL);
    CHECK_EQ(eval("const { go, chan, sleep } = require('weft:go'); const c = chan(), d = chan(3);"
                  "for (let i = 0; i < 50; i++) go(() => { try { c.recv(); } finally { say('never'); } });"
                  "for (let i = 0; i < 50; i++) c.recv().then(say); d.send({ a: c });"
                  "setTimeout(() => go(() => sleep(1e9)), 1); setInterval(() => {}, 1e6); sleep(1e9);"
                  "setTimeout(() => process.exit(9), 5)"),
             9);
    close_instance();
    CHECK_TEXT(said, "");
}
TEST(nothing_is_left_of_a_script_that_exits_in_the_middle) {
    run_large(leave);
}

/* What an instance has left in its loop does not call it any more. */
static void use_a_loop_again(void) {
    open_instance(NULL);
    CHECK_EQ(
        eval("setTimeout(() => say('never'), 1); setInterval(() => say('never'), 1); setImmediate(() => say('never'));"
             "process.nextTick(() => say('never')); Promise.resolve().then(() => say('never')); process.exit(1)"),
        1);
    weft_js_free(js);
    CHECK_EQ(weft_js_new(&js, loop, &(weft_js_options){.max_stack = STACK - STACK_BELOW}), 0);
    CHECK_EQ(weft_js_define(js, "say", say, said), 0);
    CHECK_EQ(eval("setTimeout(() => say('second'), 5)"), 0);
    CHECK_TEXT(said, "[\"second\"]");
    CHECK_EQ(weft_js_eval(js, "say('never')", 12, "unused"), 0);
    weft_js_free(js);
    CHECK_EQ(weft_loop_shutdown(loop, WEFT_NEVER), 0);
    weft_loop_unref(loop);
    CHECK_TEXT(said, "[\"second\"]");
}
TEST(a_loop_can_be_used_again_after_an_instance) {
    run_large(use_a_loop_again);
}

/* Requests that nobody will answer, at every stage, and a server that nobody has closed. */
static void leave_servers(void) {
    open_instance(NULL);
    CHECK_EQ(eval("const http = require('node:http'); let seen = 0; const kept = [];"
                  "const server = http.createServer((request, response) => { kept.push(response); seen++;"
                  "  if (request.url === '/begun') response.write('begun');"
                  "  if (request.url === '/read') request.on('data', () => {});"
                  "  if (seen === 4) setTimeout(() => process.exit(4), 5); });"
                  "server.listen(0, '127.0.0.1', () => { const at = 'http://127.0.0.1:' + server.address().port;"
                  "  fetch(at + '/silent'); fetch(at + '/begun'); fetch(at + '/read', { method: 'POST', body: 'x' });"
                  "  fetch(at + '/begun').then((response) => response.text()); })"),
             4);
    close_instance();
    CHECK_TEXT(said, "");
}
TEST(servers_and_requests_end_with_their_instance) {
    run_large(leave_servers);
}

static void two(void) {
    weft_loop *other_loop;
    weft_js *other;
    weft_loop_options options = {.stays = true};
    open_instance(NULL);
    CHECK_EQ(weft_loop_new(&other_loop, &options), 0);
    CHECK_EQ(weft_js_new(&other, other_loop, &(weft_js_options){.max_stack = STACK - STACK_BELOW}), 0);
    static const char text[] = "globalThis.x = 1; process.exitCode = 2";
    CHECK_EQ(weft_js_eval(other, text, sizeof text - 1, "other.js"), 0);
    CHECK_EQ(weft_js_finish(other), 2);
    CHECK_EQ(eval("say(typeof x)"), 0);
    CHECK_TEXT(said, "[\"undefined\"]");
    weft_js_free(other);
    CHECK_EQ(weft_loop_close(other_loop, WEFT_NEVER), 0);
    weft_loop_unref(other_loop);
    close_instance();
}
TEST(instances_share_nothing) {
    run_large(two);
}

static void switches(void) {
    open_instance(NULL);
    CHECK_EQ(eval("const { go, chan, sleep } = require('weft:go');"
                  "const { collect } = require('weft:trace'); const gate = chan(); let seed = 7; const random = () => "
                  "(seed = seed * 16807 % 2147483647);"
                  "function* numbers(n) { for (let i = 0; i < n; i++) { gate.recv(); yield i; } }"
                  "const object = { get slow() { gate.recv(); return 5; } };"
                  "async function later(v) { await null; return v; }"
                  "const all = [];"
                  "for (let i = 0; i < 200; i++) all.push(go((n) => {"
                  "  const sorted = [3, 1, 2].sort((a, b) => { gate.recv(); return a - b; });"
                  "  let sum = 0; for (const v of numbers(3)) sum += v;"
                  "  later(n); return sorted.join('') + sum + object.slow + n;"
                  "}, i));"
                  "let open = true; Promise.all(all).then((list) => { open = false; gate.close();"
                  "  say(list.every((text, i) => text === '123' + 3 + 5 + i)); });"
                  "go(() => { for (let i = 0; open; i++) { try { gate.send(i); } catch { break; }"
                  "  if (random() % 50 === 0) { collect(); sleep(0); } } });"),
             0);
    CHECK_TEXT(said, "[true]");
    close_instance();
}
TEST(fibers_wait_inside_comparators_generators_and_getters) {
    run_large(switches);
}
