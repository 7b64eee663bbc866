/* SPDX-License-Identifier: MIT
 *
 * js/promise_test.c - functions of C that wait, promises that C settles from any thread, and promises of both sides as each other.
 */
#include "support/js.h"

static void define(const char *name, int length, weft_js_native fn, void *arg) {
    CHECK_EQ(weft_js_enter(js), 0);
    CHECK_EQ(weft_js_set(js, weft_js_global(js), name, weft_js_function(js, name, length, fn, arg, NULL)), 0);
    weft_js_leave(js);
}

/* ---- Work ---- */

struct work {
    int64_t milliseconds;
    int status;
};

static int sleep_in_work(void *arg) {
    struct work *work = arg;
    CHECK_EQ(weft_js_object(js).bits, 0); /* without the instance */
    if (work->milliseconds < 0)
        weft_panic("worked too hard");
    int status = weft_sleep(weft_after(work->milliseconds * WEFT_MILLISECOND));
    return status ? status : work->status;
}

static weft_js_value finish_work(weft_js *instance, int status, void *arg) {
    free(arg);
    if (instance && status < 0)
        return weft_js_throw_errno(instance, status, "work");
    return weft_js_int64(instance, status);
}

static int finishes;

static weft_js_value count_finish(weft_js *instance, int status, void *arg) {
    finishes++;
    return finish_work(instance, status, arg);
}

/* work(milliseconds, status) */
static weft_js_value do_work(weft_js *instance, const weft_js_arguments *given) {
    struct work *work = malloc(sizeof *work);
    *work =
        (struct work){weft_js_as_int64(instance, given->values[0]), (int)weft_js_as_int64(instance, given->values[1])};
    if (weft_js_pending(instance)) {
        free(work);
        return weft_js_undefined();
    }
    return weft_js_perform(instance, sleep_in_work, count_finish, work);
}

static int quick(void *arg) {
    (void)arg;
    return 0;
}

static int fail_quickly(void *arg) {
    (void)arg;
    return -EXDEV;
}

static weft_js_value plain_work(weft_js *instance, const weft_js_arguments *given) {
    return weft_js_perform(instance, given->count ? fail_quickly : quick, NULL, NULL);
}

static weft_js_value no_work(weft_js *instance, const weft_js_arguments *given) {
    (void)given;
    return weft_js_perform(instance, NULL, NULL, NULL);
}

static void perform(void) {
    finishes = 0;
    open_instance(NULL);
    define("work", 2, do_work, NULL);
    define("plain", 0, plain_work, NULL);
    define("none", 0, no_work, NULL);
    CHECK_EQ(eval("import { go, isFiber } from 'weft:go';"
                  "const show = (error) => error.code ?? error.message;"
                  "say(work(1, 5) instanceof Promise, await work(1, 6), await work(0, -2).catch(show), await work(-1, "
                  "0).catch(show));"
                  "say(await plain(), await plain(1).catch(show));"
                  "try { none() } catch (error) { say(show(error)) }"
                  "await go(() => { say(work(1, 7)); try { work(0, -3) } catch (error) { say(show(error)) }"
                  "  try { work(-1, 0) } catch (error) { say(show(error)) } say(plain()); });"
                  "const cancelled = new AbortController(); const fiber = go.with({ signal: cancelled.signal }, () => "
                  "work(1e9, 0));"
                  "go(() => cancelled.abort('enough')); await fiber.catch((reason) => say(reason));"),
             0);
    CHECK_TEXT(said, "[true,6,\"ENOENT\",\"EOWNERDEAD\"][null,\"EXDEV\"][\"EINVAL\"][7][\"ESRCH\"][\"EOWNERDEAD\"]["
                     "null][\"enough\"]");
    CHECK_EQ(finishes, 8);
    close_instance();
    /* The end of the script, and of the instance, in the middle. */
    finishes = 0;
    open_instance(NULL);
    define("work", 2, do_work, NULL);
    CHECK_EQ(eval("const { go } = require('weft:go'); work(1e9, 0); go(() => { work(1e9, 0); say('never') });"
                  "work(1e9, 0).then(say, say); setTimeout(() => process.exit(3), 2)"),
             3);
    close_instance();
    CHECK_EQ(finishes, 3);
    CHECK_TEXT(said, "");
}
TEST(work_waits_on_fibers_or_gives_promises) {
    run_large(perform);
}

/* ---- Waiting for promises ---- */

static weft_js_value wait_for(weft_js *instance, const weft_js_arguments *given) {
    weft_time until =
        given->count > 1 ? weft_after(weft_js_as_int64(instance, given->values[1]) * WEFT_MILLISECOND) : WEFT_NEVER;
    weft_js_value mark = weft_js_text(instance, "mine");
    weft_js_value value = weft_js_await(instance, given->values[0], until);
    int status = weft_js_pending(instance);
    if (status == -ETIMEDOUT || status == -EDEADLK) {
        CHECK_EQ(weft_js_catch(instance, NULL), status);
        return weft_js_int64(instance, status);
    }
    if (status == 0) /* handles are good however many others have run meanwhile */
        CHECK_TEXT(weft_js_as_text(instance, mark, NULL), "mine");
    return value;
}

static void await(void) {
    open_instance(NULL);
    define("waitFor", 2, wait_for, NULL);
    CHECK_EQ(eval("import { go } from 'weft:go'; const later = (ms, value) => new Promise((resolve) => "
                  "setTimeout(resolve, ms, value));"
                  "say(waitFor(5), waitFor(Promise.resolve(6)), waitFor(new Promise(() => {})));"
                  "try { waitFor(Promise.reject(new Error('at once'))) } catch (error) { say(error.message) }"
                  "await Promise.all(Array.from({ length: 20 }, (_, i) => go(() => {"
                  "  const value = waitFor(later(i % 3, i)); if (value !== i) say('wrong', value, i); })));"
                  "await go(() => { say(waitFor(7), waitFor(Promise.resolve(8)), waitFor(later(1, 9)));"
                  "  say(waitFor(new Promise(() => {}), 1), waitFor(later(1, 'in time'), 1e6));"
                  "  try { waitFor(later(1).then(() => { throw new Error('later') })) } catch (error) { "
                  "say(error.message) } });"
                  "const cancelled = new AbortController();"
                  "const fiber = go.with({ signal: cancelled.signal }, () => waitFor(new Promise(() => {}), 1e6));"
                  "setTimeout(() => cancelled.abort('enough'), 1); await fiber.catch((reason) => say(reason));"),
             0);
    CHECK_TEXT(said, "[5,6,-35][\"at once\"][7,8,9][-110,\"in time\"][\"later\"][\"enough\"]");
    close_instance();
}
TEST(functions_of_c_wait_for_promises_on_fibers) {
    run_large(await);
}

static void states(void) {
    weft_js_value result = {0};
    CHECK_EQ(weft_js_promise_state(js, value_of("new Promise(() => {})"), &result), WEFT_PROMISE_PENDING);
    CHECK_EQ(result.bits, 0);
    CHECK_EQ(weft_js_promise_state(js, value_of("Promise.resolve(4)"), &result), WEFT_PROMISE_RESOLVED);
    CHECK_EQ(weft_js_as_int64(js, result), 4);
    CHECK_EQ(weft_js_promise_state(js, value_of("Promise.reject(5)"), &result), WEFT_PROMISE_REJECTED);
    CHECK_EQ(weft_js_as_int64(js, result), 5);
    CHECK_EQ(weft_js_promise_state(js, value_of("6"), &result), WEFT_PROMISE_RESOLVED);
    CHECK_EQ(weft_js_as_int64(js, result), 6);
    CHECK_EQ(weft_js_promise_state(js, value_of("Promise.reject(5)"), NULL), WEFT_PROMISE_REJECTED);
    CHECK_EQ(weft_js_promise_state(js, (weft_js_value){0}, NULL), WEFT_PROMISE_PENDING);
    CHECK_EQ(weft_js_catch(js, NULL), -EINVAL);
    CHECK_EQ(weft_js_await(js, (weft_js_value){0}, WEFT_NEVER).bits, 0);
    CHECK_EQ(weft_js_catch(js, NULL), -EINVAL);
}
TEST(promises_have_states) {
    run_inside(states);
}

/* ---- Settled by C ---- */

static weft_js_deferred *deferreds[64];
static atomic_int deferred_count;
static atomic_int drops;

static weft_js_value defer(weft_js *instance, const weft_js_arguments *given) {
    (void)given;
    int number = atomic_load(&deferred_count);
    weft_js_value promise = weft_js_defer(instance, &deferreds[number]);
    atomic_store(&deferred_count, number + 1);
    return promise;
}

static weft_js_value make(weft_js *instance, void *arg) {
    if (!arg)
        return weft_js_throw_error(instance, WEFT_JS_RANGE_ERROR, "not made");
    weft_js_value object = weft_js_object(instance);
    weft_js_set(instance, object, "made", weft_js_text(instance, arg));
    return object;
}

static weft_js_value make_panic(weft_js *instance, void *arg) {
    (void)instance, (void)arg;
    weft_panic("while making");
}

static void drop(void *arg) {
    (void)arg;
    atomic_fetch_add(&drops, 1);
}

static void *settle_all(void *arg) {
    WAIT_UNTIL(atomic_load(&deferred_count) == 7);
    CHECK_EQ(weft_js_resolve(deferreds[0], make, drop, "by make"), 0);
    CHECK_EQ(weft_js_resolve(deferreds[1], make, NULL, NULL), 0);
    CHECK_EQ(weft_js_resolve(deferreds[2], make_panic, NULL, NULL), 0);
    CHECK_EQ(weft_js_resolve_json(deferreds[3], "[1,2]", 5), 0);
    CHECK_EQ(weft_js_resolve_json(deferreds[4], NULL, 0), 0);
    CHECK_EQ(weft_js_resolve_json(deferreds[5], "{", 1), 0);
    CHECK_EQ(weft_js_reject(deferreds[6], -ECONNREFUSED, "connecting"), 0);
    return arg;
}

static void defers(void) {
    open_instance(NULL);
    atomic_store(&deferred_count, 0);
    atomic_store(&drops, 0);
    define("defer", 0, defer, NULL);
    pthread_t thread = thread_start(settle_all, NULL);
    CHECK_EQ(eval("const all = Array.from({ length: 7 }, defer); const show = ({ name, code, message }) => name === "
                  "'SyntaxError' ? name :"
                  " code ?? message; Promise.allSettled(all).then((list) => say(...list.map((one) => one.reason ? "
                  "show(one.reason) :"
                  " one.value ?? null)))"),
             0);
    thread_join(thread);
    CHECK_TEXT(said,
               "[{\"made\":\"by make\"},\"not made\",\"while making\",[1,2],null,\"SyntaxError\",\"ECONNREFUSED\"]");
    close_instance();
    CHECK_EQ(weft_js_resolve(NULL, make, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_js_resolve_json(NULL, "1", 1), -EINVAL);
    CHECK_EQ(weft_js_reject(NULL, -EIO, NULL), -EINVAL);
    CHECK_EQ(atomic_load(&drops), 0);
}
TEST(threads_settle_promises) {
    run_large(defers);
}

/* Those that nobody has settled, and those that come too late. */
static void late(void) {
    open_instance(NULL);
    atomic_store(&deferred_count, 0);
    atomic_store(&drops, 0);
    define("defer", 0, defer, NULL);
    CHECK_EQ(weft_js_enter(js), 0);
    CHECK_EQ(weft_js_defer(js, NULL).bits, 0);
    CHECK_EQ(weft_js_catch(js, NULL), -EINVAL);
    value_of("for (let i = 0; i < 5; i++) defer().then(say, say)");
    CHECK_EQ(weft_js_resolve(deferreds[4], NULL, drop, NULL), -EINVAL); /* and it is still good */
    CHECK_EQ(weft_js_resolve_json(deferreds[4], NULL, 1), -EINVAL);
    CHECK_EQ(weft_js_reject(deferreds[4], 0, "no error"), -EINVAL);
    CHECK_EQ(weft_js_resolve(deferreds[0], make, drop, NULL), 0); /* the loop never gets to it */
    value_of("process.exit(0)");
    CHECK_EQ(weft_js_catch(js, NULL), -EPIPE);
    CHECK_EQ(weft_js_resolve_json(deferreds[1], "1", 1), -EPIPE);
    weft_js_leave(js);
    CHECK_EQ(weft_js_reject(deferreds[2], -EIO, "late"), -EPIPE);
    CHECK_EQ(atomic_load(&drops), 0);
    close_instance();
    CHECK_EQ(atomic_load(&drops), 1);
    CHECK_EQ(weft_js_resolve(deferreds[3], make, drop, NULL), -EPIPE);
    CHECK_EQ(weft_js_reject(deferreds[4], -EIO, NULL), -EPIPE);
    CHECK_EQ(atomic_load(&drops), 1);
    CHECK_TEXT(said, "");
}
TEST(promises_may_be_settled_after_the_end) {
    run_large(late);
}

/* Threads settle promises while the instance ends and is freed. */

static void *settle_some(void *arg) {
    int first = (int)(intptr_t)arg;
    WAIT_UNTIL(atomic_load(&deferred_count) == 64);
    for (int i = first; i < 64; i += 4) {
        int status = i % 3 == 0   ? weft_js_resolve(deferreds[i], make, drop, "x")
                     : i % 3 == 1 ? weft_js_resolve_json(deferreds[i], "{\"a\":1}", 7)
                                  : weft_js_reject(deferreds[i], -EIO, "x");
        CHECK(status == 0 || status == -EPIPE);
    }
    return NULL;
}

static void race(void) {
    for (long round = scaled(200, 20); round > 0; round--) {
        pthread_t threads[4];
        atomic_store(&deferred_count, 0);
        open_instance(NULL);
        define("defer", 0, defer, NULL);
        for (intptr_t i = 0; i < 4; i++)
            threads[i] = thread_start(settle_some, (void *)i);
        CHECK_EQ(eval(round % 2 ? "let left = 20; for (let i = 0; i < 64; i++) defer().then(() => {}, () => "
                                  "{}).then(() => { if (--left === 0) process.exit(1) })"
                                : "for (let i = 0; i < 64; i++) defer().catch(() => {}); process.exit(1)"),
                 1);
        close_instance();
        for (int i = 0; i < 4; i++)
            thread_join(threads[i]);
    }
}
TEST(threads_settle_promises_while_the_instance_is_freed) {
    run_large(race);
}

/* ---- Of both sides ---- */

static void *take_number(weft_js *instance, weft_js_value value, void *arg) {
    CHECK(arg == said);
    return (void *)(intptr_t)weft_js_as_int64(instance, value);
}

static void *take_panic(weft_js *instance, weft_js_value value, void *arg) {
    (void)instance, (void)value, (void)arg;
    weft_panic("while taking");
}

static weft_promise *out_of(const char *text, void *(*take)(weft_js *, weft_js_value, void *)) {
    weft_promise *promise = NULL;
    CHECK_EQ(weft_js_to_promise(js, value_of(text), take, said, &promise), 0);
    return promise;
}

static weft_outcome outcome_of(weft_promise *promise) {
    weft_outcome outcome;
    CHECK_EQ(weft_promise_await(promise, &outcome, WEFT_NEVER), 0);
    weft_promise_unref(promise);
    return outcome;
}

static void *await_from_thread(void *arg) {
    weft_outcome outcome = outcome_of(arg);
    CHECK_EQ(outcome.state, WEFT_PROMISE_RESOLVED);
    return outcome.value;
}

static void to_c(void) {
    weft_promise *list[6];
    void *result = NULL;
    open_instance(NULL);
    CHECK_EQ(weft_js_enter(js), 0);
    CHECK_EQ(weft_js_to_promise(js, weft_js_null(), NULL, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_js_catch(js, NULL), -EINVAL);
    list[0] = out_of("new Promise((resolve) => setTimeout(resolve, 1, 42))", take_number);
    list[1] = out_of("Promise.reject(new TypeError('rejected'))", take_number);
    list[2] = out_of("Promise.resolve('text')", take_number);
    list[3] = out_of("7", take_number);
    list[4] = out_of("Promise.resolve()", take_panic);
    list[5] = out_of("Promise.resolve(1)", NULL);
    weft_promise *never = out_of("globalThis.pending = new Promise(() => {})", take_number),
                 *gone = out_of("new Promise(() => {})", NULL);
    weft_js_leave(js);
    pthread_t thread = thread_start(await_from_thread, weft_promise_ref(list[0]));
    CHECK_EQ(weft_loop_run(loop, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER), 0);
    CHECK_EQ(pthread_join(thread, &result), 0);
    CHECK_EQ((intptr_t)result, 42);
    CHECK_EQ((intptr_t)outcome_of(list[0]).value, 42);
    weft_outcome outcome = outcome_of(list[1]);
    CHECK_EQ(outcome.error, -EOWNERDEAD);
    CHECK_TEXT(outcome.text, "rejected");
    outcome = outcome_of(list[2]);
    CHECK_EQ(outcome.error, -EINVAL);
    CHECK_TEXT(outcome.text, "argument 1 is a string, not a whole number");
    CHECK_EQ((intptr_t)outcome_of(list[3]).value, 7);
    CHECK_TEXT(outcome_of(list[4]).text, "while taking");
    CHECK_EQ(outcome_of(list[5]).state, WEFT_PROMISE_RESOLVED);
    CHECK_EQ(outcome_of(gone).error, -EPIPE); /* nobody could settle it */
    CHECK_EQ(weft_promise_poll(never, NULL), -EAGAIN);
    close_instance();
    CHECK_EQ(outcome_of(never).error, -EPIPE);
}
TEST(promises_of_javascript_are_awaited_by_c) {
    run_large(to_c);
}

static weft_promise *pair[4];

static weft_js_value make_number(weft_js *instance, void *value, void *arg) {
    CHECK(arg == pair);
    return value ? weft_js_int64(instance, (intptr_t)value)
                 : weft_js_throw_error(instance, WEFT_JS_TYPE_ERROR, "no number");
}

static weft_js_value from(weft_js *instance, const weft_js_arguments *given) {
    int64_t number = weft_js_as_int64(instance, given->values[0]);
    return weft_js_from_promise(instance, number < 0 ? NULL : pair[number], number == 3 ? NULL : make_number, pair);
}

static void *settle_pair(void *arg) {
    CHECK_EQ(weft_promise_resolve(pair[0], (void *)11), 0);
    CHECK_EQ(weft_promise_resolve(pair[1], NULL), 0);
    CHECK_EQ(weft_promise_reject(pair[2], -EHOSTDOWN, "host"), 0);
    CHECK_EQ(weft_promise_resolve(pair[3], NULL), 0);
    return arg;
}

static void from_c(void) {
    open_instance(NULL);
    define("from", 1, from, NULL);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(weft_promise_new(&pair[i]), 0);
    pthread_t thread = thread_start(settle_pair, NULL);
    CHECK_EQ(eval("import { go, wait } from 'weft:go'; try { from(-1) } catch (error) { say(error.code) }"
                  "const all = await Promise.allSettled([from(0), from(1), from(2), from(3)]);"
                  "say(...all.map((one) => one.value ?? one.reason?.message ?? null));"
                  "say(await go(() => [from(0) instanceof Promise, wait(from(0))]))"),
             0);
    thread_join(thread);
    CHECK_TEXT(said, "[\"EINVAL\"][11,\"no number\",\"host: Host is down\",null][[true,11]]");
    close_instance();
    for (int i = 0; i < 4; i++)
        weft_promise_unref(pair[i]);
    /* It ends with the instance. */
    open_instance(NULL);
    define("from", 1, from, NULL);
    CHECK_EQ(weft_promise_new(&pair[0]), 0);
    CHECK_EQ(eval("from(0).then(say, say); setTimeout(() => process.exit(2), 1)"), 2);
    close_instance();
    CHECK_EQ(weft_promise_resolve(pair[0], NULL), 0);
    weft_promise_unref(pair[0]);
    CHECK_TEXT(said, "");
}
TEST(promises_of_c_are_awaited_by_javascript) {
    run_large(from_c);
}
