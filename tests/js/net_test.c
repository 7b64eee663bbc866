/* SPDX-License-Identifier: MIT
 *
 * js/net_test.c - sockets, children and signals of scripts when their instance ends: nothing is left open, nobody waits.
 */
#include <dirent.h>
#include <signal.h>

#include "support/js.h"

/* Descriptors of this process. Those of children that have ended go with the next one that is started. */
static int count_descriptors(void) {
    int count = 0;
    weft_process_output output;
    CHECK_EQ(weft_process_run(&output, (const char *const[]){"true", NULL}, NULL, WEFT_NEVER), 0);
    weft_process_output_free(&output);
    DIR *folder = opendir("/proc/self/fd");
    CHECK(folder != NULL);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

/* The thread and the descriptors that stay with a process from its first child and its first signal on are there before anything is
 * counted. */
__attribute__((constructor(101))) static void start_what_stays(void) {
    weft_signals signals;
    (void)count_descriptors();
    CHECK_EQ(weft_signals_open(&signals, (const int[]){SIGUSR1}, 1), 0);
    CHECK_EQ(weft_signals_close(signals), 0);
}

/* So many as before, as soon as the children that had a pipe have noticed that nobody is there. */
static void check_descriptors(int before) {
    while (count_descriptors() > before)
        CHECK_EQ(weft_sleep(weft_after(WEFT_MILLISECOND)), 0);
}

/* All that can wait, begun and left. */
static const char everything[] =
    "const { go } = require('weft:go'); const net = require('weft:net'); const { spawn, run, signals, onSignal } = "
    "require('weft:process');\n"
    "const listener = net.listen({ port: 0, host: '127.0.0.1' }); listener.serve((connection) => connection.read());\n"
    "const [near, far] = net.pair(), [left, right] = net.pair(); globalThis.kept = [near, far, left];\n"
    "go(() => near.readLine()); near.write(new Uint8Array(8 << 20)).catch(() => say('never'));\n"
    "near.write('behind').finally(() => say('never')); right.readFull(1 << 28).then(() => say('never'));\n"
    "go(() => { try { net.connect(listener.port).readUntil('x'); } finally { say('never'); } });\n"
    "net.bind({ port: 0, host: '127.0.0.1' }).receive(); const child = spawn('cat', { stdin: 'pipe', timeout: 50000 "
    "});\n"
    "go(() => child.wait()); child.exited.then(() => say('never')); run('sleep', ['100']).finally(() => "
    "say('never'));\n"
    "go(() => signals('SIGUSR1').recv()); onSignal('SIGUSR2', () => say('never'));\n"
    "process.on('SIGHUP', () => say('never'));\n"
    "const server = require('net').createServer((socket) => socket.resume()).listen(0, '127.0.0.1', () => {\n"
    "  const client = require('net').connect(server.address().port, '127.0.0.1', () => { say('connected'); begun(); "
    "});\n"
    "  client.on('close', () => say('never')); });\n"
    "require('child_process').spawn('cat').on('close', () => say('never'));\n";

static void leave_by_exit(const char *begun) {
    char script[sizeof everything + 128];
    snprintf(script, sizeof script, "function begun() { %s }\n%s", begun, everything);
    open_instance(NULL);
    CHECK_EQ(eval(script), 5);
    CHECK_TEXT(said, "[\"connected\"]");
    close_instance();
}

static void leave(void) {
    int before = count_descriptors();
    leave_by_exit("process.exit(5)");
    leave_by_exit("setImmediate(() => process.exit(5))");
    leave_by_exit("go(() => { require('weft:go').sleep(1); process.exit(5); })");
    check_descriptors(before);
}
TEST(nothing_is_left_of_what_waits_when_a_script_ends) {
    run_large(leave);
}

/* Nobody has ended it: it is freed between two turns, wherever it stands. */
static void free_early(void) {
    int before = count_descriptors();
    for (int turns = 0; turns < 40; turns++) {
        open_instance(NULL);
        static const char script[] = "function begun() {}\n";
        char text[sizeof script + sizeof everything];
        snprintf(text, sizeof text, "%s%s", script, everything);
        CHECK_EQ(weft_js_eval(js, text, strlen(text), "test.js"), 0);
        for (int i = 0; i < turns; i++)
            (void)weft_loop_run(loop, WEFT_LOOP_NO_WAIT, WEFT_NEVER);
        close_instance();
    }
    check_descriptors(before);
}
TEST(an_instance_is_freed_in_the_middle_of_everything) {
    run_large(free_early);
}

/* Listeners for signals, sockets that were let go and children that were, too, do not keep a script. */
static void end_quietly(void) {
    int before = count_descriptors();
    CHECK_EQ(eval_alone(NULL, "process.on('SIGUSR1', () => {}); require('weft:process').onSignal('SIGUSR2', () => {});"
                              "const server = require('net').createServer().unref().listen(0, () => say('listening'));"
                              "const child = require('child_process').spawn('sleep', ['100'], { stdio: 'ignore' });"
                              "child.unref(); process.on('exit', () => child.kill('SIGKILL'));"),
             0);
    CHECK_TEXT(said, "[\"listening\"]");
    check_descriptors(before);
}
TEST(what_was_let_go_keeps_no_script_running) {
    run_large(end_quietly);
}

/* What nobody has any more is closed when it is collected. */
static void drop(void) {
    open_instance(NULL);
    int before = count_descriptors();
    CHECK_EQ(
        eval("const net = require('weft:net'), { signals } = require('weft:process');"
             "function forget() { for (let i = 0; i < 100; i++) { const [a, b] = net.pair(); a.other = b; b.other = a;"
             "  net.pipe(); net.listen(0); signals('SIGUSR1'); } }"
             "forget(); require('weft:trace').collect(); say(1);"),
        0);
    CHECK_TEXT(said, "[1]");
    check_descriptors(before);
    close_instance();
}
TEST(what_nobody_has_is_closed) {
    run_large(drop);
}

/* Without memory there is an error, and the connection is as before. */
static void starve(void) {
    weft_js_options options = {.max_memory = 4 << 20};
    CHECK_EQ(eval_alone(
                 &options,
                 "const { go } = require('weft:go'); const { pair, pipe } = require('weft:net');"
                 "go(() => { const { reader, writer } = pipe(); go(() => { for (;;) writer.write('x'.repeat(60000)); })"
                 "    .catch((error) => say(error.code));"
                 "  try { reader.readAll(); } catch (error) { say(error.name); }"
                 "  say(reader.read(10).length); reader.close(); });"),
             0);
    CHECK_TEXT(said, "[\"InternalError\"][10][\"EPIPE\"]");
}
TEST(a_reader_without_memory_gets_an_error) {
    run_large(starve);
}
