/* SPDX-License-Identifier: MIT
 *
 * js/native_test.c - functions, classes and modules made of C.
 */
#include "support/js.h"

static int finalized;
static char order[64];

static void count(void *arg) {
    *(int *)arg += 1;
}

static void define(const char *name, int length, weft_js_native fn, void *arg) {
    CHECK_EQ(weft_js_set(js, weft_js_global(js), name, weft_js_function(js, name, length, fn, arg, NULL)), 0);
}

static weft_js_value add(weft_js *instance, const weft_js_arguments *given) {
    CHECK(instance == js);
    CHECK(!given->pointer);
    return weft_js_number(js, weft_js_as_number(js, given->values[0]) + weft_js_as_number(js, given->values[1]));
}

static weft_js_value tell(weft_js *instance, const weft_js_arguments *given) {
    weft_js_value list = weft_js_array(instance);
    for (int i = 0; i < given->count; i++)
        weft_js_set_at(instance, list, (uint32_t)i, given->values[i]);
    weft_js_value answer = weft_js_object(instance);
    weft_js_set(instance, answer, "count", weft_js_int64(instance, given->count));
    weft_js_set(instance, answer, "self", given->self);
    weft_js_set(instance, answer, "list", list);
    weft_js_set(instance, answer, "arg", weft_js_text(instance, given->arg));
    return answer;
}

static weft_js_value bad(weft_js *instance, const weft_js_arguments *given) {
    switch (weft_js_as_int64(instance, given->values[0])) {
    case 0:
        return (weft_js_value){0}; /* nothing: undefined */
    case 1:
        weft_panic("panicked with %d", 1);
    case 2:
        return weft_js_throw_errno(instance, -EACCES, "bad");
    case 3:
        weft_js_enter(instance); /* and does not leave */
        weft_js_object(instance);
        return weft_js_text(instance, "entered");
    case 4:
        weft_js_throw_error(instance, WEFT_JS_RANGE_ERROR, "ignored");
        weft_js_enter(instance);
        return weft_js_undefined();
    case 5:
        return (weft_js_value){UINT64_C(99) << 32 | 1};
    case 6:
        weft_js_enter(instance);
        weft_js_throw_error(instance, WEFT_JS_SYNTAX_ERROR, "inner");
        weft_panic("after an error");
    default:
        weft_js_call(instance, weft_js_get(instance, weft_js_global(instance), "thrower"), weft_js_undefined(), 0,
                     NULL);
        CHECK_EQ(weft_js_catch(instance, NULL), -EOWNERDEAD);
        return weft_js_text(instance, "caught");
    }
}

static void functions(void) {
    define("add", 2, add, NULL);
    define("tell", 3, tell, "mine");
    define("bad", 1, bad, NULL);
    CHECK_TEXT(weft_js_to_text(js, value_of("add.name + add.length + typeof add"), NULL), "add2function");
    CHECK_EQ(weft_js_as_int64(js, value_of("add(1, 2)")), 3);
    CHECK_TEXT(weft_js_to_json(js, value_of("tell.call({ me: 1 }, 1, 'b')"), NULL),
               "{\"count\":2,\"self\":{\"me\":1},\"list\":[1,\"b\"],\"arg\":\"mine\"}");
    CHECK_EQ(weft_js_as_int64(js, value_of("tell(...new Array(100).fill(1)).list.length")), 100);
    static const char errors[] =
        "const seen = []; for (const make of [() => add(1), () => add('a', 1), () => add(1, {}), () => bad(1),"
        " () => bad(2), () => bad(4), () => bad(5), () => bad(6), () => new add(1, 2)])"
        "  try { make(); seen.push('fine') } catch (error) { seen.push(`${error.name}: ${error.message}`) }"
        "seen.join('|')";
    CHECK_TEXT(weft_js_to_text(js, value_of(errors), NULL),
               "TypeError: argument 2 is undefined, not a number|TypeError: argument 1 is a string, not a number|"
               "TypeError: argument 2 is an object, not a number|Error: panicked with 1|Error: bad: Permission denied|"
               "RangeError: ignored|TypeError: a function of C has used a value after its end|SyntaxError: inner|"
               "TypeError: not a constructor");
    CHECK_TEXT(
        weft_js_to_text(js, value_of("bad(0) + bad(3) + (globalThis.thrower = () => { throw 1 }, bad(9))"), NULL),
        "undefinedenteredcaught");
    CHECK_EQ(weft_js_pending(js), 0);
    CHECK_EQ(weft_js_function(js, NULL, 0, add, NULL, NULL).bits, 0);
    CHECK_EQ(weft_js_catch(js, NULL), -EINVAL);
    finalized = 0;
    CHECK_EQ(weft_js_function(js, "x", 33, add, &finalized, count).bits, 0);
    CHECK_EQ(weft_js_function(js, "x", 0, add, &finalized, count).bits, 0); /* something is pending */
    CHECK_EQ(finalized, 2);
    CHECK_EQ(weft_js_catch(js, NULL), -EINVAL);
    CHECK_EQ(weft_js_function(js, "x", 0, NULL, NULL, NULL).bits, 0);
    CHECK_EQ(weft_js_catch(js, NULL), -EINVAL);
}
TEST(functions_of_c_have_arguments_and_errors) {
    run_inside(functions);
}

/* A call goes through C and JavaScript, again and again. */
static weft_js_value fibonacci(weft_js *instance, const weft_js_arguments *given) {
    int64_t n = weft_js_as_int64(instance, given->values[0]);
    if (n < 2)
        return weft_js_int64(instance, n);
    weft_js_value fn = weft_js_get(instance, weft_js_global(instance), "through"),
                  of[] = {weft_js_int64(instance, n - 1)};
    int64_t sum = weft_js_as_int64(instance, weft_js_call(instance, fn, weft_js_undefined(), 1, of));
    of[0] = weft_js_int64(instance, n - 2);
    return weft_js_int64(instance,
                         sum + weft_js_as_int64(instance, weft_js_call(instance, fn, weft_js_undefined(), 1, of)));
}

static weft_js_value dive(weft_js *instance, const weft_js_arguments *given) {
    return weft_js_call(instance, given->values[0], weft_js_undefined(), 1, given->values);
}

static void deep(void) {
    define("fibonacci", 1, fibonacci, NULL);
    define("dive", 1, dive, NULL);
    value_of("globalThis.through = (n) => fibonacci(n)");
    CHECK_EQ(weft_js_as_int64(js, value_of("through(12)")), 144);
    CHECK_TEXT(weft_js_to_text(js, value_of("try { dive(dive) } catch (error) { error.name }"), NULL), "RangeError");
}
TEST(calls_go_through_c_and_javascript) {
    run_inside(deep);
}

static void finalize_functions(void) {
    finalized = 0;
    open_instance(NULL);
    CHECK_EQ(weft_js_enter(js), 0);
    weft_js_function(js, "short", 0, add, &finalized, count);
    CHECK_EQ(weft_js_set(js, weft_js_global(js), "long", weft_js_function(js, "long", 0, add, &finalized, count)), 0);
    weft_js_leave(js);
    CHECK_EQ(finalized, 1);
    CHECK_EQ(
        eval("globalThis.circle = { long }; circle.circle = circle; delete globalThis.long; delete globalThis.circle;"
             "require('weft:trace').collect()"),
        0);
    CHECK_EQ(finalized, 2);
    close_instance();
}
TEST(functions_of_c_are_finalized_once) {
    run_large(finalize_functions);
}

/* ---- Classes ---- */

struct counter {
    int value;
    char name;
};

static void *counter_new(weft_js *instance, const weft_js_arguments *given) {
    CHECK(given->arg == &finalized);
    if (given->count > 0 && weft_js_as_int64(instance, given->values[0]) < 0)
        return NULL;
    if (weft_js_pending(instance))
        return malloc(1); /* an error counts, whatever is returned: it is finalized */
    struct counter *counter = calloc(1, sizeof *counter);
    counter->value = (int)weft_js_as_int64(instance, given->count > 0 ? given->values[0] : weft_js_int64(instance, 0));
    return counter;
}

static weft_js_value counter_add(weft_js *instance, const weft_js_arguments *given) {
    struct counter *counter = given->pointer;
    counter->value += given->count > 0 ? (int)weft_js_as_int64(instance, given->values[0]) : 1;
    return given->self;
}

static weft_js_value counter_get(weft_js *instance, const weft_js_arguments *given) {
    return weft_js_int64(instance, ((struct counter *)given->pointer)->value);
}

static weft_js_value counter_set(weft_js *instance, const weft_js_arguments *given) {
    ((struct counter *)given->pointer)->value = (int)weft_js_as_int64(instance, given->values[0]);
    return weft_js_undefined();
}

static weft_js_value counter_zero(weft_js *instance, const weft_js_arguments *given) {
    CHECK(!given->pointer && given->arg == &finalized);
    return weft_js_construct(instance, given->self, 0, NULL);
}

static void counter_finalize(void *pointer, void *arg) {
    CHECK(arg == &finalized);
    CHECK_EQ(weft_js_object(js).bits, 0); /* values are not for finalizers */
    finalized++;
    free(pointer);
}

static const weft_js_member counter_members[] = {
    {.name = "add", .length = 1, .method = counter_add},
    {.name = "value", .get = counter_get, .set = counter_set},
    {.name = "fixed", .get = counter_get},
    {.name = "zero", .method = counter_zero, .is_static = true},
    {0},
};
static const weft_js_class counter_class = {.name = "Counter",
                                            .length = 1,
                                            .construct = counter_new,
                                            .members = counter_members,
                                            .finalize = counter_finalize,
                                            .arg = &finalized};
static const weft_js_class sealed_class = {.name = "Sealed"};

static void classes(void) {
    finalized = 0;
    open_instance(NULL);
    CHECK_EQ(weft_js_enter(js), 0);
    weft_js_set(js, weft_js_global(js), "Counter", weft_js_constructor(js, &counter_class));
    weft_js_set(js, weft_js_global(js), "Sealed", weft_js_constructor(js, &sealed_class));
    CHECK(weft_js_equals(js, weft_js_constructor(js, &counter_class), value_of("Counter")));
    CHECK_TEXT(
        weft_js_to_text(
            js,
            value_of(
                "const one = new Counter(5); one.add().add(10); one.value *= 2;"
                "[one.value, one.fixed, one instanceof Counter, Counter.name, Counter.length, `${Object.keys(one)}`,"
                " Counter.zero().add().value, typeof one.zero].join()"),
            NULL),
        "32,32,true,Counter,1,,1,undefined");
    CHECK_TEXT(
        weft_js_to_text(
            js,
            value_of(
                "class More extends Counter { constructor() { super(3); this.own = 1 } twice() { return 2 * this.value "
                "} }"
                "const more = new More; [more.twice(), more.add().value, more instanceof Counter, more.own].join()"),
            NULL),
        "6,4,true,1");
    static const char errors[] =
        "const seen = []; for (const make of [() => Counter(1), () => new Counter(-1), () => new Counter({}), () => "
        "new Sealed,"
        " () => one.add.call({}), () => one.add.call(new Date), () => Counter.prototype.value, () => one.add('x'),"
        " () => { 'use strict'; one.fixed = 1 }, () => Counter.prototype.add.call(Object.create(one))])"
        "  try { make(); seen.push('fine') } catch (error) { seen.push(error.message) } seen.join('|')";
    CHECK_TEXT(weft_js_to_text(js, value_of(errors), NULL),
               "must be called with new|Counter cannot be made of that|argument 1 is an object, not a whole "
               "number|Illegal constructor|"
               "not an object of class Counter|not an object of class Counter|not an object of class Counter|"
               "argument 1 is a string, not a whole number|no setter for property|not an object of class Counter");
    CHECK_EQ(finalized, 2); /* the one that was made though it failed, and the zero */
    weft_js_leave(js);
    close_instance();
    CHECK_EQ(finalized, 4);
}
TEST(classes_have_constructors_methods_and_getters) {
    run_large(classes);
}

static void wrapped(void) {
    finalized = 0;
    struct counter *counter = calloc(1, sizeof *counter);
    counter->value = 40;
    weft_js_value object = weft_js_wrap(js, &counter_class, counter);
    CHECK_EQ(weft_js_kind_of(js, object), WEFT_JS_INSTANCE);
    CHECK(weft_js_unwrap(js, object, &counter_class) == counter);
    weft_js_value two[] = {weft_js_int64(js, 2)};
    weft_js_value same = weft_js_call_method(js, object, "add", 1, two);
    CHECK_EQ(counter->value, 42);
    CHECK(weft_js_unwrap(js, object, &sealed_class) == NULL);
    weft_js_error error;
    CHECK_EQ(weft_js_catch(js, &error), -EINVAL);
    CHECK_TEXT(error.message, "not an object of class Sealed");
    CHECK(weft_js_unwrap(js, two[0], &counter_class) == NULL);
    CHECK_EQ(weft_js_catch(js, NULL), -EINVAL);
    CHECK(weft_js_unwrap(js, value_of("({})"), &counter_class) == NULL);
    CHECK_EQ(weft_js_catch(js, NULL), -EINVAL);
    CHECK(weft_js_unwrap(js, object, NULL) == NULL);
    CHECK_EQ(weft_js_catch(js, NULL), -EINVAL);
    CHECK_EQ(weft_js_wrap(js, NULL, counter).bits, 0);
    CHECK_EQ(weft_js_catch(js, NULL), -EINVAL);
    CHECK_EQ(weft_js_wrap(js, &counter_class, NULL).bits, 0);
    CHECK_EQ(weft_js_catch(js, NULL), -EINVAL);
    CHECK_EQ(weft_js_constructor(js, &(weft_js_class){0}).bits, 0);
    CHECK_EQ(weft_js_catch(js, NULL), -EINVAL);
    weft_js_throw_errno(js, -EIO, "x");
    CHECK_EQ(weft_js_wrap(js, &counter_class, calloc(1, sizeof *counter)).bits, 0);
    CHECK_EQ(weft_js_catch(js, NULL), -EIO);
    CHECK_EQ(finalized, 1); /* given away all the same */
    CHECK_EQ(weft_js_drop(js, object), 0);
    CHECK_EQ(finalized, 1);
    CHECK_EQ(weft_js_drop(js, same), 0);
    CHECK_EQ(finalized, 2);
}
TEST(objects_of_a_class_stand_for_pointers) {
    run_inside(wrapped);
}

/* What JavaScript frees, and then what is left: all of it before weft_js_free returns. */
static void note(void *pointer, void *arg) {
    (void)arg;
    int error = weft_js_enter(js);
    CHECK(error == -EPERM || error == -EPIPE);
    CHECK_EQ(weft_js_object(js).bits, 0);
    strncat(order, pointer, sizeof order - strlen(order) - 1);
}

static void note_function(void *arg) {
    note(arg, NULL);
}

static void in_order(void) {
    static const weft_js_class noted = {.name = "Noted", .finalize = note};
    order[0] = 0;
    open_instance(NULL);
    CHECK_EQ(weft_js_enter(js), 0);
    weft_js_set(js, weft_js_global(js), "a", weft_js_wrap(js, &noted, "a"));
    weft_js_set(js, weft_js_global(js), "b", weft_js_wrap(js, &noted, "b"));
    weft_js_set(js, value_of("a"), "inner", weft_js_wrap(js, &noted, "i"));
    weft_js_set(js, weft_js_global(js), "f", weft_js_function(js, "f", 0, add, "f", note_function));
    weft_js_keep(js, weft_js_wrap(js, &noted, "k"));
    weft_js_wrap(js, &noted, "h");
    CHECK_TEXT(order, "");
    weft_js_leave(js);
    CHECK_TEXT(order, "h");
    CHECK_EQ(weft_js_enter(js), 0);
    value_of("delete globalThis.b");
    CHECK_TEXT(order, "hb");
    value_of("delete globalThis.a"); /* outer ones first */
    CHECK_TEXT(order, "hbai");
    weft_js_leave(js);
    close_instance();
    CHECK_EQ(strlen(order), 6);
    CHECK(strchr(order, 'k') && strchr(order, 'f'));
}
TEST(finalizers_run_once_and_before_the_instance_is_gone) {
    run_large(in_order);
}

/* ---- Modules ---- */

static void modules(void) {
    static const char text[] =
        "import config from 'app:config'; export const twice = config.limit * 2; export default () => twice;";
    open_instance(NULL);
    CHECK_EQ(weft_js_enter(js), 0);
    weft_js_value config = weft_js_object(js);
    weft_js_set(js, config, "limit", weft_js_int64(js, 21));
    weft_js_set(js, config, "add", weft_js_function(js, "add", 2, add, NULL, NULL));
    CHECK_EQ(weft_js_module(js, "app:config", config), 0);
    CHECK_EQ(weft_js_module_text(js, "app:twice", text, sizeof text - 1), 0);
    static const char *const names[] = {"config", "node:x", "weft:x", "file:x", "DATA:x", "app:", ":x", ""};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CHECK_EQ(weft_js_module(js, names[i], config), -EINVAL);
        CHECK_EQ(weft_js_catch(js, NULL), -EINVAL);
    }
    CHECK_EQ(weft_js_module(js, "app:config", config), -EEXIST);
    CHECK_EQ(weft_js_catch(js, NULL), -EEXIST);
    CHECK_EQ(weft_js_module_text(js, "app:config", text, sizeof text - 1), -EEXIST);
    CHECK_EQ(weft_js_catch(js, NULL), -EEXIST);
    CHECK_EQ(weft_js_module(js, "app:number", weft_js_null()), -EINVAL);
    CHECK_EQ(weft_js_catch(js, NULL), -EINVAL);
    CHECK_EQ(weft_js_module(js, NULL, config), -EINVAL);
    CHECK_EQ(weft_js_catch(js, NULL), -EINVAL);
    CHECK_EQ(weft_js_module_text(js, "app:bad", "\xff", 1), -EILSEQ);
    CHECK_EQ(weft_js_catch(js, NULL), -EILSEQ);
    weft_js_leave(js);
    CHECK_EQ(eval("import config, { limit, add } from 'app:config'; import double, { twice } from 'app:twice';"
                  "import { createRequire } from 'node:module'; const require = createRequire('/');"
                  "say(limit, add(1, 2), twice, double(), require('app:config') === config, "
                  "import.meta.resolve('app:twice'));"
                  "say(await import('app:nothing').catch((error) => error.code))"),
             0);
    CHECK_TEXT(said, "[21,3,42,42,true,\"app:twice\"][\"ERR_UNSUPPORTED_ESM_URL_SCHEME\"]");
    close_instance();
}
TEST(modules_are_made_of_c) {
    run_large(modules);
}

static void *keep_it(weft_js *instance, weft_js_value value, void *arg) {
    *(weft_js_value *)arg = weft_js_keep(instance, value);
    return NULL;
}

static weft_js_value keep_error(weft_js *instance, const weft_js_arguments *given) {
    *(weft_js_value *)given->arg = weft_js_keep(instance, given->values[0]);
    return weft_js_undefined();
}

/* What a promise becomes, by running the loop: its value, or its error. */
static weft_js_value result_of(weft_js_value promise) {
    static weft_js_value kept;
    weft_promise *waited;
    weft_js_value handler[] = {weft_js_function(js, "keepError", 1, keep_error, &kept, NULL)};
    kept.bits = 0;
    weft_js_call_method(js, promise, "catch", 1, handler);
    CHECK_EQ(weft_js_to_promise(js, promise, keep_it, &kept, &waited), 0);
    while (weft_promise_poll(waited, NULL) == -EAGAIN) {
        weft_js_leave(js);
        CHECK_GE(weft_loop_run(loop, WEFT_LOOP_ONCE, WEFT_NEVER), 0);
        CHECK_EQ(weft_js_enter(js), 0);
    }
    weft_promise_unref(waited);
    weft_js_value result = value_of("[]"); /* a handle that ends with us */
    weft_js_set_at(js, result, 0, kept);
    weft_js_drop(js, kept);
    return weft_js_get_at(js, result, 0);
}

static void module_results(void) {
    static const char text[] =
        "import { sleep } from 'weft:go'; await sleep(1); export const answer = 42; export default import.meta.url;";
    static const char bad_text[] = "export const x = 1; throw new RangeError('in a module')";
    weft_js_value space = result_of(weft_js_evaluate_module(js, text, sizeof text - 1, "first.mjs"));
    CHECK_EQ(weft_js_as_int64(js, weft_js_get(js, space, "answer")), 42);
    CHECK_TEXT(weft_js_as_text(js, weft_js_get(js, space, "default"), NULL), "first.mjs");
    space = result_of(weft_js_evaluate_module(js, text, sizeof text - 1, "first.mjs"));
    CHECK_TEXT(weft_js_as_text(js, weft_js_get(js, space, "default"), NULL), "first.mjs?2");
    weft_js_error error;
    CHECK_EQ(
        weft_js_describe(js, result_of(weft_js_evaluate_module(js, bad_text, sizeof bad_text - 1, "bad.mjs")), &error),
        0);
    CHECK_TEXT(error.message, "in a module");
    CHECK(strstr(error.stack, "bad.mjs:1:") != NULL);
    CHECK_EQ(weft_js_describe(js, result_of(weft_js_evaluate_module(js, "export {", 8, "worse.mjs")), &error), 0);
    CHECK_TEXT(error.name, "SyntaxError");
    space = result_of(weft_js_import(js, "node:path"));
    CHECK_EQ(weft_js_kind_of(js, weft_js_get(js, space, "join")), WEFT_JS_FUNCTION);
    CHECK_EQ(weft_js_describe(js, result_of(weft_js_import(js, "./is/not/there.js")), &error), 0);
    CHECK_TEXT(error.code, "ERR_MODULE_NOT_FOUND");
    CHECK_EQ(weft_js_import(js, NULL).bits, 0);
    CHECK_EQ(weft_js_catch(js, NULL), -EINVAL);
    CHECK_EQ(weft_js_evaluate_module(js, NULL, 0, "x").bits, 0);
    CHECK_EQ(weft_js_catch(js, NULL), -EINVAL);
}
TEST(modules_have_results) {
    run_inside(module_results);
}
