/* SPDX-License-Identifier: MIT
 *
 * js/parallel_test.c - instances that scripts have started, channels, ports and shared memory, in a program that goes on: whatever a
 * script has in hand at its end, nothing is left of it. Under AddressSanitizer that includes memory.
 */
#include "support/js.h"

static void results(void) {
    CHECK_EQ(eval_alone(NULL, "const { spawn, parallel } = require('weft:parallel');"
                              "spawn((a, b) => ({ sum: a + b }), 1, 2).then((value) => say(value.sum));"),
             0);
    CHECK_TEXT(said, "[3]");
    CHECK_EQ(eval_alone(NULL, "const { parallel } = require('weft:parallel');"
                              "parallel.map((x) => x * x, [1, 2, 3]).then((list) => say(...list));"),
             0);
    CHECK_TEXT(said, "[1,4,9]");
    CHECK_EQ(eval_alone(NULL, "const { spawn } = require('weft:parallel');"
                              "spawn(() => { throw new RangeError('wrong'); }).catch((error) => say(error.name));"),
             0);
    CHECK_TEXT(said, "[\"RangeError\"]");
}
TEST(scripts_start_instances_and_get_their_results) {
    run_large(results);
}

/* Everything at once, and the end comes in the middle. */
static const char everything[] =
    "const { spawn, channel, parallel, Pool } = require('weft:parallel'), { go, select } = require('weft:go');"
    "const here = channel(), never = channel(2), nothing = () => {};"
    "const fns = [(h) => { h.send(1); for (;;); }, (h, n) => { h.send(1); n.recv(); n.recv(); n.recv(); },"
    "  async (h) => { await h.send(1); await new Promise(() => setInterval(() => {}, 1)); },"
    "  (h) => { h.send(1); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); },"
    "  async (h) => { const p = await import('weft:parallel'); await p.spawn((d) => { d.send(1); for (;;); }, h); }];"
    "for (const fn of fns) spawn(fn, here, never).catch(nothing);"
    "const memory = new Int32Array(new SharedArrayBuffer(8));"
    "go(() => Atomics.wait(memory, 0, 0)); Atomics.waitAsync(memory, 0, 0); Atomics.waitAsync(memory, 0, 0, 1e6);"
    "const { port1, port2 } = new MessageChannel(), other = new MessageChannel();"
    "port1.onmessage = nothing; port2.postMessage({ buffer: new ArrayBuffer(10000), memory });"
    "port1.postMessage({ port: other.port1, list: [1, { never }] }, [other.port1]);"
    "const radio = new BroadcastChannel('test'); radio.onmessage = nothing; new "
    "BroadcastChannel('test').postMessage(memory);"
    "const self = channel(1); self.send({ self }); const far = channel(1); far.send({ self, bytes: new "
    "Uint8Array(9000) });"
    "go(() => never.send({ here })); go(() => select([{ recv: self }, { recv: far }]));"
    "const pool = new Pool({ workers: 1 }); pool.run(() => { for (;;); }).catch(nothing); pool.run(() => "
    "1).catch(nothing);"
    "(async () => { for (let i = 0; i < fns.length; i++) await here.recv(); ";

static void leave(void) {
    static const char *const ends[] = {"process.exit(3); })();", "throw new Error('the end'); })();",
                                       "setTimeout(() => process.exit(3), 2); })();"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char text[4096];
        snprintf(text, sizeof text, "%s%s", everything, ends[i]);
        CHECK_EQ(eval_alone(NULL, text), i == 1 ? 1 : 3);
    }
}
TEST(nothing_is_left_of_instances_whose_parent_ends_in_the_middle) {
    run_large(leave);
}

/* The program does not even wait for the script. */
static void drop(void) {
    char text[4096];
    snprintf(text, sizeof text, "%ssay('there'); })();", everything);
    open_instance(NULL);
    CHECK_EQ(weft_js_eval(js, text, strlen(text), "test.js"), 0);
    while (!strstr(said, "there"))
        CHECK_EQ(weft_loop_run(loop, WEFT_LOOP_ONCE, WEFT_NEVER), 1);
    close_instance();
    open_instance(NULL);
    CHECK_EQ(weft_js_eval(js, text, strlen(text), "test.js"), 0);
    CHECK_EQ(weft_loop_run(loop, WEFT_LOOP_NO_WAIT, WEFT_NEVER), 1);
    close_instance();
}
TEST(an_instance_that_is_freed_takes_its_children_with_it) {
    run_large(drop);
}

/* What is in a channel or a port goes with it, however it got there. */
static void forget(void) {
    CHECK_EQ(
        eval_alone(
            NULL,
            "const { channel, spawn } = require('weft:parallel'); process.removeAllListeners('warning');"
            "for (let i = 0; i < 100; i++) { const one = channel(4), two = channel(4);"
            "  one.send({ one, two, text: 'x'.repeat(1000) }); two.send(new Uint8Array(10000)); two.send([two, one]);"
            "  const { port1, port2 } = new MessageChannel(); port1.postMessage({ one });"
            "  const inner = new MessageChannel(); inner.port1.postMessage(new SharedArrayBuffer(100));"
            "  port1.postMessage({ port: inner.port2 }, [inner.port2]); port1.postMessage(port2, [port2]); }"
            "spawn((channel) => { channel.send(new Uint8Array(5000)); channel.send({ channel }); }, channel(4))"
            "  .then(() => say('done'))"),
        0);
    CHECK_TEXT(said, "[\"done\"]");
}
TEST(messages_that_nobody_takes_go_with_their_channel) {
    run_large(forget);
}

/* Every allocation of a clone may fail, there and back. */
static void little_memory(void) {
    for (size_t limit = 400; limit <= 1400; limit += 40) {
        char text[2048];
        snprintf(text, sizeof text,
                 "const { spawn, channel } = require('weft:parallel');"
                 "const value = { list: Array.from({ length: 2000 }, (_, i) => ({ i, text: 'text ' + i })),"
                 "  map: new Map([[1, { a: new Date(1) }]]), bytes: new Uint8Array(20000) };"
                 "spawn.with({ memory: %zu * 1024 }, async (from, to) => { for await (const one of from) await "
                 "to.send(one); },"
                 "  ...(globalThis.both = [channel(1), channel(1)])).then(() => say('good'), () => say('bad'));"
                 "(async () => { await both[0].send(value); const back = await both[1].recv(); both[0].close();"
                 "  if (back.list.length !== 2000 || back.list[1999].text !== 'text 1999') say('wrong');"
                 "})().catch(() => {});",
                 limit);
        CHECK_EQ(eval_alone(NULL, text), 0);
        CHECK(strcmp(said, "[\"good\"]") == 0 || strcmp(said, "[\"bad\"]") == 0);
    }
}
TEST(an_instance_without_memory_for_a_message_fails_and_leaks_nothing) {
    run_large(little_memory);
}
