/* SPDX-License-Identifier: MIT
 *
 * js/meet_test.c - locks, events and works of JavaScript: instances that end in the middle of them, deadlocks, instances that share
 * events.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/js.h"

static const char locks[] =
    "const { go, chan, sleep, scope, Mutex, RWLock, Semaphore, WaitGroup, Once, Barrier, Cond, ticker } = "
    "require('weft:go');"
    "const mutex = new Mutex(), lock = new RWLock(), permits = new Semaphore(), group = new WaitGroup(), once = new "
    "Once();"
    "const barrier = new Barrier(100), changed = new Cond(), guard = new Mutex(); mutex.lock(); lock.write(); "
    "group.add();"
    "once.run(() => sleep(1e6)); ticker(1);"
    "for (const wait of [() => mutex.lock(), () => lock.read(), () => lock.write({ timeout: 1e6 }), () => "
    "permits.acquire(3),"
    "    () => group.wait(), () => once.run(() => {}), () => barrier.wait(), () => guard.run(() => "
    "changed.wait(guard)),"
    "    () => scope((children) => { children.go(() => sleep(1e6)); return mutex.lock(); }, { timeout: 1e6 })]) {"
    "  go(() => { try { wait(); } finally { say('never'); } });"
    "  Promise.resolve(wait()).finally(() => say('never')); }";

static const char events[] =
    "const { go, select } = require('weft:go'); const { create, all, queue, EventSystem } = require('weft:events');"
    "const event = create(), done = queue(), full = new EventSystem({ maxPending: 1 }), common = "
    "EventSystem.shared('common');"
    "full.create(); done.add(event, { event }); const both = all([event, create()]);"
    "for (const wait of [() => event.wait(), () => event.wait({ timeout: 1e6 }), () => both.wait(), () => done.pop(),"
    "    () => full.createWaiting(), () => select([{ event }, { event: both }]), () => common.create().wait()]) {"
    "  go(() => { create().own(); common.create().own(); try { wait(); } finally { say('never'); } });"
    "  wait().finally(() => say('never')); }"
    "create().poison(new Error('kept'));";

static const char works[] =
    "const { go, chan, sleep } = require('weft:go'); const { Pool, current } = require('weft:pool');"
    "const never = chan(), pool = new Pool({ concurrency: 4, onEvent() {} }), group = pool.group('all');"
    "const full = new Pool({ concurrency: 1, maxQueued: 1, rejection: 'block' });"
    "const run = new Pool({ concurrency: 1, maxQueued: 1, rejection: 'caller-runs', workTimeout: 1e6 });"
    "const asleep = new Pool({ suspended: true }); const list = [];"
    "for (let i = 0; i < 12; i++) list.push(pool.submitWith({ group, timeout: i % 2 ? 1e6 : undefined, retry: "
    "'requeue' },"
    "    i % 3 ? () => never.recv() : async () => { await sleep(1); throw new Error('again'); }));"
    "list.push(pool.submitWith({ after: list }, () => say('never')), asleep.submit(() => say('never')));"
    "for (const work of list) { work.wait().catch(() => {}); go(() => { work.wait(); say('never'); }).catch(() => {}); "
    "}"
    "for (let i = 0; i < 4; i++) { full.submit(() => never.recv()); run.submit(() => never.recv()); }"
    "list[1].pause(); list[2].stop(); setTimeout(() => list[4].forceStop(), 1); setTimeout(() => pool.pause(), 2);"
    "pool.wait(); group.wait(); go(() => pool.close());";

static const char *const scripts[] = {locks, events, works};

/* After so many turns of the loop nobody wants it any more. */
static void leave_at(const char *script, int turns) {
    open_instance(NULL);
    CHECK_EQ(weft_js_eval(js, script, strlen(script), "test.js"), 0);
    for (int i = 0; i < turns; i++)
        if (weft_loop_run(loop, i % 4 ? WEFT_LOOP_NO_WAIT : WEFT_LOOP_ONCE, weft_after(WEFT_MILLISECOND)) < 0)
            break;
    close_instance();
    CHECK_TEXT(said, "");
}

static void leave_at_all_times(void) {
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        for (int turns = 0; turns < scaled(80, 10); turns += 1 + turns / 10)
            leave_at(scripts[i], turns);
}
TEST(an_instance_ends_whatever_its_fibers_and_works_wait_for) {
    run_large(leave_at_all_times);
}

static void leave_by_exit(void) {
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        char text[4096];
        snprintf(text, sizeof text, "%s; setTimeout(() => process.exit(7), 8)", scripts[i]);
        CHECK_EQ(eval_alone(NULL, text), 7);
        CHECK_TEXT(said, "");
    }
}
TEST(a_script_exits_in_the_middle_of_everything) {
    run_large(leave_by_exit);
}

/* ---- Deadlocks ---- */

static char told[8192];

/* What the script says on standard error. */
static int eval_told(const char *text) {
    int file = memfd_create("stderr", MFD_CLOEXEC), before = dup(2);
    fflush(stderr);
    dup2(file, 2);
    int code = eval_alone(NULL, text);
    fflush(stderr);
    dup2(before, 2);
    ssize_t length = pread(file, told, sizeof told - 1, 0);
    told[length > 0 ? length : 0] = 0;
    close(file);
    close(before);
    return code;
}

static void deadlocks(void) {
    CHECK_EQ(eval_told("const { go, chan, Mutex } = require('weft:go'); const a = chan(), m = new Mutex(); m.lock();"
                       "go.with({ name: 'left' }, function left() { a.recv(); }); go(function right() { m.lock(); });"
                       "chan().recv(); go.with({ background: true, name: 'server' }, () => chan().recv());"),
             35);
    CHECK(strstr(told, "weft: deadlock: 3 fibers wait and nothing can wake them\n") != NULL);
    CHECK(strstr(told, "  fiber 1 \"left\" waits for a value of a channel\n") != NULL);
    CHECK(strstr(told, "waits for a mutex\n") != NULL);
    CHECK(strstr(told, "\"server\"") != NULL);
    CHECK(strstr(told, "  1 promise waits for JavaScript, too\n") != NULL);
    CHECK_EQ(eval_told("const { Pool } = require('weft:pool'); const pool = new Pool({ name: 'p', concurrency: 1 });"
                       "const { chan } = require('weft:go'); const c = chan();"
                       "pool.submit(() => c.recv()); pool.submit(() => c.send(1)); pool.submit(() => c.send(1));"),
             35);
    CHECK(strstr(told, "  2 works of pool \"p\" wait to begin\n") != NULL);
    CHECK_EQ(
        eval_told("const { go, chan } = require('weft:go'); for (let i = 0; i < 1000; i++) go(() => chan().recv())"),
        35);
    CHECK(strstr(told, "1000 fibers wait") != NULL);
    CHECK(strstr(told, "  and 900 more\n") != NULL || strlen(told) == sizeof told - 1);
    CHECK_EQ(eval_told("const { go, chan } = require('weft:go'); const c = chan(); chan().recv();"
                       "go.with({ background: true }, () => c.recv())"),
             0);
    CHECK_TEXT(told, "");
}
TEST(a_script_whose_fibers_wait_for_each_other_says_so) {
    run_large(deadlocks);
}

/* Somebody who calls functions of the script later keeps the loop. */
static void send_there(weft_js *instance, void *arg) {
    static const char text[] = "c.send('from outside')";
    (void)arg;
    weft_js_evaluate(instance, text, sizeof text - 1, "later.js");
    CHECK_EQ(weft_js_pending(instance), 0);
}

static void *call_later(void *arg) {
    (void)arg;
    weft_sleep(weft_after(60 * WEFT_MILLISECOND));
    CHECK_EQ(weft_js_submit(js, send_there, NULL, NULL), 0);
    weft_loop_unkeep(loop);
    return NULL;
}

static void kept(void) {
    weft_fiber fiber;
    open_instance(NULL);
    CHECK_EQ(weft_loop_keep(loop), 0);
    SPAWN(&fiber, call_later, NULL);
    CHECK_EQ(eval("const { go, chan } = require('weft:go'); globalThis.c = chan(); go(() => say(c.recv()))"), 0);
    CHECK_TEXT(said, "[\"from outside\"]");
    JOIN(fiber, NULL);
    close_instance();
}
TEST(a_loop_that_is_kept_is_no_deadlock) {
    run_large(kept);
}

/* ---- Instances that share events ---- */

static atomic_bool is_told;

static int tell_handle(weft_js *instance, const char *arguments, char **result, void *arg) {
    (void)instance, (void)result;
    char *handle = arg;
    snprintf(handle, 64, "%s", arguments);
    atomic_store(&is_told, true);
    return 0;
}

static void *other_instance(void *arg) {
    weft_loop *other_loop;
    weft_js *other;
    char text[512];
    CHECK_EQ(weft_loop_new(&other_loop, &(weft_loop_options){.stays = true}), 0);
    CHECK_EQ(weft_js_new(&other, other_loop, &(weft_js_options){.max_stack = STACK - STACK_BELOW}), 0);
    snprintf(
        text, sizeof text,
        "const { EventSystem } = require('weft:events'); const common = EventSystem.shared('common');"
        "const [a, b] = %s.map((text) => common.event(BigInt(text))); a.trigger(); b.poison(new RangeError('far'));"
        "process.exitCode = a.status === 'ready' && b.reason instanceof RangeError ? 0 : 1",
        (const char *)arg);
    CHECK_EQ(weft_js_eval(other, text, strlen(text), "other.js"), 0);
    CHECK_EQ(weft_js_finish(other), 0);
    weft_js_free(other);
    CHECK_EQ(weft_loop_close(other_loop, WEFT_NEVER), 0);
    weft_loop_unref(other_loop);
    return NULL;
}

static char handles[64];

static void *start_other(void *arg) {
    while (!atomic_load(&is_told))
        weft_sleep(weft_after(WEFT_MILLISECOND));
    return other_instance(arg);
}

static void shared_events(void) {
    weft_fiber fiber;
    weft_spawn_options options = {.stack_size = STACK};
    atomic_store(&is_told, false);
    open_instance(NULL);
    CHECK_EQ(weft_js_define(js, "tell", tell_handle, handles), 0);
    CHECK_EQ(weft_spawn_with(&fiber, &options, start_other, handles), 0);
    CHECK_EQ(eval("const { go } = require('weft:go'); const { EventSystem } = require('weft:events');"
                  "const common = EventSystem.shared('common'), a = common.create(), b = common.create();"
                  "go(() => { a.wait(); say('ready'); }); b.wait().catch((error) => say(error.name, error.message));"
                  "tell(String(a.handle), String(b.handle));"),
             0);
    CHECK(strstr(said, "[\"ready\"]") != NULL);
    CHECK(strstr(said, "[\"PoisonError\",\"RangeError: far\"]") != NULL);
    JOIN(fiber, NULL);
    close_instance();
}
TEST(instances_share_events_by_the_name_of_their_system) {
    run_large(shared_events);
}

/* Little memory: whatever cannot be had is an error of JavaScript. */
static void little_memory(void) {
    static const char text[] =
        "const { go, Mutex } = require('weft:go'); const { Pool } = require('weft:pool');"
        "const { create } = require('weft:events'); const pool = new Pool({ concurrency: 2 }); const mutex = new "
        "Mutex();"
        "const hog = () => { const list = []; for (;;) list.push(new Array(500).fill(1), create(), new Mutex()); };"
        "let failed = 0; const end = () => failed++; for (let i = 0; i < 3; i++) {"
        "  pool.run(hog).catch(end); go(() => mutex.run(hog)).catch(end); }"
        "process.on('exit', () => say(failed, mutex.locked));";
    CHECK_EQ(eval_alone(&(weft_js_options){.max_memory = 16 << 20}, text), 0);
    CHECK_TEXT(said, "[6,false]");
}
TEST(works_and_fibers_survive_a_lack_of_memory) {
    run_large(little_memory);
}
