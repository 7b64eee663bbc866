/* SPDX-License-Identifier: MIT
 *
 * js/trace_test.c - dumps of the runtime while JavaScript waits, and while it runs.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/js.h"
#include "weft/inspect.h"

static char text[65536];

static void dump(void) {
    int file = memfd_create("dump", MFD_CLOEXEC);
    CHECK_EQ(weft_dump(NULL, file), 0);
    ssize_t length = pread(file, text, sizeof text - 1, 0);
    CHECK_GE(length, 0);
    text[length] = 0;
    close(file);
}

static int dump_for_script(weft_js *instance, const char *arguments, char **result, void *arg) {
    (void)instance, (void)arguments, (void)result;
    dump();
    CHECK(arg == text);
    return 0;
}

static const char waits[] = "const { go, chan } = require('weft:go'); globalThis.gate = chan();\n"
                            "function inner() { return gate.recv(); }\n"
                            "function outer() { return [1, 2].map(() => inner()); }\n"
                            "go(outer);\n";

static void check_stack(void) {
    static const char expected[] =
        "    at inner (test.js:2:32)\n    at <anonymous> (test.js:3:44)\n    at map (native)\n"
        "    at outer (test.js:3:34)\n    #0 ";
    const char *begin = strstr(text, "\n    at recv (weft:internal/channel:");
    CHECK(begin != NULL);
    const char *rest = begin ? strchr(begin + 1, '\n') : NULL;
    if (!rest || strncmp(rest + 1, expected, sizeof expected - 1) != 0)
        fprintf(stderr, "%s", text);
    CHECK(rest && strncmp(rest + 1, expected, sizeof expected - 1) == 0);
    CHECK(strstr(text, "\"outer\"") != NULL);
}

/* By somebody who has nothing to do with the instance, and by C that JavaScript calls. */
static void dump_waiting(void) {
    open_instance(NULL);
    CHECK_EQ(weft_js_define(js, "dump", dump_for_script, text), 0);
    CHECK_EQ(weft_js_eval(js, waits, sizeof waits - 1, "test.js"), 0);
    while (weft_loop_run(loop, WEFT_LOOP_NO_WAIT, WEFT_NEVER) == 1 && (dump(), !strstr(text, "at recv")))
        continue;
    check_stack();
    text[0] = 0;
    static const char again[] = "go(function late() { dump(); process.exit(3); })";
    CHECK_EQ(weft_js_eval(js, again, sizeof again - 1, "again.js"), 0);
    CHECK_EQ(weft_js_finish(js), 3);
    check_stack();
    close_instance();
    dump();
    CHECK(strstr(text, "at recv") == NULL);
}
TEST(dumps_show_where_fibers_stand_in_javascript) {
    run_large(dump_waiting);
}

static atomic_int is_over; /* 1: it should be; 2: it is */
static atomic_long dumps;

static void *dump_from_thread(void *arg) {
    int file = open("/dev/null", O_WRONLY | O_CLOEXEC);
    while (atomic_load(&is_over) == 0)
        if (weft_dump(arg, file) == 0)
            atomic_fetch_add(&dumps, 1);
    close(file);
    atomic_store(&is_over, 2);
    return NULL;
}

/* dumped() -> how many times by now */
static int count_dumps(weft_js *instance, const char *arguments, char **result, void *arg) {
    (void)instance, (void)arguments, (void)arg;
    return asprintf(result, "%ld", atomic_load(&dumps)) < 0 ? -ENOMEM : 0;
}

static const char moving[] =
    "const { go, chan } = require('weft:go');\n"
    "const named = (fn, value) => Object.defineProperty(fn, 'name', { value });\n"
    "for (let i = 0; i < 4; i++) { const a = chan(), b = chan();\n"
    "    go(() => { for (let k = 0; dumped() < 20; k++) { const fn = named(() => b.recv(), 'n' + k);\n"
    "        a.send(k); fn['p' + k] = k; fn(); } a.close(); });\n"
    "    go(() => { for (const value of a) b.send(value); }); }\n";

static void move_on_this_thread(weft_runtime *runtime) {
    atomic_store(&is_over, 0);
    atomic_store(&dumps, 0);
    pthread_t thread = thread_start(dump_from_thread, runtime);
    open_instance(NULL);
    CHECK_EQ(weft_js_define(js, "dumped", count_dumps, NULL), 0);
    CHECK_EQ(weft_js_eval(js, moving, sizeof moving - 1, "moving.js"), 0);
    CHECK_EQ(weft_js_finish(js), 0);
    close_instance();
    atomic_store(&is_over, 1);
    WAIT_UNTIL(atomic_load(&is_over) == 2); /* the world has to stop for it once more, perhaps */
    thread_join(thread);
}

static void move_on_a_fiber(void) {
    move_on_this_thread(weft_runtime_self());
}
TEST(dumps_are_taken_while_javascript_runs_on_fibers) {
    run_large(move_on_a_fiber);
}

static weft_runtime *runtime_of_fibers;

static void *own_a_loop(void *arg) {
    move_on_this_thread(arg);
    return NULL;
}

/* The loop is a plain thread's, which does not stop with the world. */
static void move_on_a_thread(void) {
    runtime_of_fibers = weft_runtime_self();
    pthread_t thread = thread_start(own_a_loop, runtime_of_fibers);
    weft_blocking_begin();
    thread_join(thread);
    weft_blocking_end();
}
TEST(dumps_are_taken_while_javascript_runs_on_a_thread) {
    run_large(move_on_a_thread);
}
