/* SPDX-License-Identifier: MIT
 *
 * js/value_test.c - values of JavaScript in C: made, read, asked for properties, called; and what each says when it is used wrongly.
 */
#include "support/js.h"

static weft_js_error error;

/* What is pending has that status and that message; it is taken. */
static void check_error(int status, const char *message) {
    CHECK_EQ(weft_js_pending(js), status);
    CHECK_EQ(weft_js_catch(js, &error), status);
    CHECK_EQ(error.status, status);
    if (!strstr(error.message, message))
        fprintf(stderr, "\"%s\" is not in \"%s\"\n", message, error.message);
    CHECK(strstr(error.message, message) != NULL);
    CHECK_EQ(weft_js_pending(js), 0);
}

static void check_json(weft_js_value value, const char *text) {
    const char *found = weft_js_to_json(js, value, NULL);
    CHECK(found != NULL);
    CHECK_TEXT(found, text);
}

static void kinds(void) {
    static const struct {
        const char *text;
        weft_js_kind kind;
    } list[] = {
        {"undefined", WEFT_JS_UNDEFINED},
        {"null", WEFT_JS_NULL},
        {"true", WEFT_JS_BOOL},
        {"1.5", WEFT_JS_NUMBER},
        {"7", WEFT_JS_NUMBER},
        {"7n", WEFT_JS_BIGINT},
        {"2n ** 100n", WEFT_JS_BIGINT},
        {"'text'", WEFT_JS_STRING},
        {"'text' + Math.random() + 'a much longer one, so that it is a rope inside the engine, if it likes to make one "
         "of it'",
         WEFT_JS_STRING},
        {"Symbol('x')", WEFT_JS_SYMBOL},
        {"({})", WEFT_JS_OBJECT},
        {"new Map", WEFT_JS_OBJECT},
        {"[]", WEFT_JS_ARRAY},
        {"() => 1", WEFT_JS_FUNCTION},
        {"(class {})", WEFT_JS_FUNCTION},
        {"new RangeError('x')", WEFT_JS_ERROR},
        {"Promise.resolve(1)", WEFT_JS_PROMISE},
        {"new ArrayBuffer(4)", WEFT_JS_BYTES},
        {"new SharedArrayBuffer(4)", WEFT_JS_BYTES},
        {"new Uint16Array(4)", WEFT_JS_BYTES},
        {"new DataView(new ArrayBuffer(4))", WEFT_JS_BYTES},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        CHECK_EQ(weft_js_kind_of(js, value_of(list[i].text)), list[i].kind);
    CHECK_EQ(weft_js_kind_of(js, (weft_js_value){0}), WEFT_JS_NONE);
    CHECK_EQ(weft_js_kind_of(js, weft_js_undefined()), WEFT_JS_UNDEFINED);
    CHECK_EQ(weft_js_kind_of(js, weft_js_bool(true)), WEFT_JS_BOOL);
    CHECK(weft_js_truth(js, weft_js_bool(true)) && !weft_js_truth(js, weft_js_bool(false)));
    CHECK(weft_js_truth(js, value_of("'x'")) && !weft_js_truth(js, value_of("''")));
    CHECK(!weft_js_truth(js, weft_js_null()) && !weft_js_truth(js, value_of("0n")));
}
TEST(values_have_kinds) {
    run_inside(kinds);
}

static void numbers(void) {
    CHECK(weft_js_as_number(js, weft_js_number(js, 1.25)) == 1.25);
    CHECK(weft_js_as_number(js, value_of("1e300")) == 1e300);
    CHECK_EQ(weft_js_as_int64(js, weft_js_int64(js, -12)), -12);
    CHECK_EQ(weft_js_as_int64(js, weft_js_int64(js, INT64_C(1) << 53)), INT64_C(1) << 53);
    CHECK_EQ(weft_js_as_int64(js, weft_js_bigint(js, INT64_MIN)), INT64_MIN);
    CHECK_EQ(weft_js_as_int64(js, weft_js_bigint(js, INT64_MAX)), INT64_MAX);
    CHECK(weft_js_as_uint64(js, weft_js_biguint(js, UINT64_MAX)) == UINT64_MAX);
    CHECK_EQ(weft_js_as_uint64(js, value_of("4294967296")), INT64_C(4294967296));
    CHECK_EQ(weft_js_as_int64(js, value_of("-0")), 0);
    CHECK_EQ(weft_js_pending(js), 0);
    CHECK_EQ(weft_js_int64(js, (INT64_C(1) << 53) + 1).bits, 0);
    check_error(-ERANGE, "9007199254740993 is no exact Number");
    static const char *const bad[] = {
        "1.5", "NaN", "Infinity", "2 ** 63", "-(2 ** 63) - 2048", "2n ** 63n", "-(2n ** 63n) - 1n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_EQ(weft_js_as_int64(js, value_of(bad[i])), 0);
        check_error(-ERANGE, "not whole, or has more than 64 bits");
        CHECK_TEXT(error.name, "RangeError");
    }
    CHECK_EQ(weft_js_as_uint64(js, value_of("-1")), 0);
    check_error(-ERANGE, "");
    CHECK_EQ(weft_js_as_uint64(js, value_of("-1n")), 0);
    check_error(-ERANGE, "");
    CHECK_EQ(weft_js_as_uint64(js, value_of("2n ** 64n")), 0);
    check_error(-ERANGE, "");
    CHECK(weft_js_as_number(js, value_of("7n")) == 0);
    check_error(-EINVAL, "a BigInt where a number is wanted");
    CHECK_EQ(weft_js_as_int64(js, value_of("'7'")), 0);
    check_error(-EINVAL, "a string where a whole number is wanted");
    CHECK_TEXT(error.name, "TypeError");
}
TEST(numbers_are_exact_or_errors) {
    run_inside(numbers);
}

static void texts(void) {
    size_t size = 0;
    CHECK_TEXT(weft_js_as_text(js, weft_js_text(js, "gr\xc3\xbc\xc3\x9f \xf0\x9f\x91\x8d"), &size),
               "gr\xc3\xbc\xc3\x9f \xf0\x9f\x91\x8d");
    CHECK_EQ(size, 11);
    const char *text = weft_js_as_text(js, weft_js_string(js, "a\0b", 3), &size);
    CHECK(size == 3 && memcmp(text, "a\0b", 4) == 0);
    CHECK_EQ(weft_js_length(js, weft_js_string(js, NULL, 0)), 0);
    CHECK_TEXT(weft_js_as_text(js, value_of("'a\\ud800b\\udc00\\ud83d\\udc4d\\u00ed\\ud7ff'"), NULL),
               "a\xef\xbf\xbd"
               "b\xef\xbf\xbd\xf0\x9f\x91\x8d\xc3\xad\xed\x9f\xbf");
    CHECK_TEXT(weft_js_to_text(js, value_of("[1, [2, 3]]"), NULL), "1,2,3");
    CHECK_TEXT(weft_js_to_text(js, value_of("Symbol('deep')"), NULL), "deep");
    CHECK_TEXT(weft_js_to_text(js, value_of("Symbol()"), NULL), "");
    CHECK_TEXT(weft_js_to_text(js, weft_js_null(), &size), "null");
    CHECK_EQ(size, 4);
    CHECK(weft_js_to_text(js, value_of("({ toString() { throw new TypeError('mine') } })"), NULL) == NULL);
    check_error(-EOWNERDEAD, "mine");
    CHECK(weft_js_as_text(js, value_of("5"), &size) == NULL);
    check_error(-EINVAL, "a number where a string is wanted");
    static const char *const bad[] = {"\xff", "\xc0\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xe2\x82"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_EQ(weft_js_text(js, bad[i]).bits, 0);
        check_error(-EILSEQ, "not UTF-8");
    }
    CHECK_EQ(weft_js_text(js, NULL).bits, 0);
    check_error(-EINVAL, "null");
    CHECK_EQ(weft_js_string(js, NULL, 2).bits, 0);
    check_error(-EINVAL, "null");
}
TEST(texts_are_utf8) {
    run_inside(texts);
}

static void json(void) {
    check_json(weft_js_parse(js, "{\"a\":[1,2.5,null,\"x\"]}trailing", 22), "{\"a\":[1,2.5,null,\"x\"]}");
    CHECK(weft_js_to_json(js, weft_js_undefined(), NULL) == NULL);
    CHECK(weft_js_to_json(js, value_of("() => 1"), NULL) == NULL);
    CHECK_EQ(weft_js_pending(js), 0);
    CHECK_EQ(weft_js_parse(js, "{a}", 3).bits, 0);
    CHECK_EQ(weft_js_catch(js, &error), -EOWNERDEAD);
    CHECK_TEXT(error.name, "SyntaxError");
    CHECK_EQ(weft_js_parse(js, NULL, 0).bits, 0);
    check_error(-EINVAL, "null");
    CHECK_EQ(weft_js_parse(js, "\"\xff\"", 3).bits, 0);
    check_error(-EILSEQ, "UTF-8");
    CHECK(weft_js_to_json(js, value_of("const circle = {}; circle.x = circle; circle"), NULL) == NULL);
    check_error(-EOWNERDEAD, "circular");
}
TEST(json_goes_in_and_out) {
    run_inside(json);
}

static int releases;

static void release(void *bytes, void *arg) {
    CHECK(arg == &releases);
    releases++;
    free(bytes);
}

static void bytes(void) {
    size_t size = 9;
    unsigned char *at = weft_js_as_bytes(js, weft_js_bytes(js, "\1\2\3", 3), &size);
    CHECK(size == 3 && at[0] == 1 && at[2] == 3);
    weft_js_value empty = weft_js_bytes(js, NULL, 0);
    CHECK(weft_js_as_bytes(js, empty, &size) != NULL && size == 0);
    at = weft_js_as_bytes(js, value_of("globalThis.list = new Uint16Array([1, 0x203, 3]).subarray(1, 2)"), &size);
    CHECK(size == 2 && at[0] == 3 && at[1] == 2);
    at[0] = 9;
    CHECK_EQ(weft_js_as_int64(js, value_of("list[0]")), 0x209);
    at = weft_js_as_bytes(js, value_of("new DataView(new Uint8Array([1, 2, 3, 4]).buffer, 1, 2)"), &size);
    CHECK(size == 2 && at[0] == 2 && at[1] == 3);
    CHECK(weft_js_as_bytes(js, value_of("new ArrayBuffer(5)"), &size) != NULL && size == 5);
    CHECK(weft_js_as_bytes(
              js,
              value_of("const view = new DataView(new ArrayBuffer(4)); Object.defineProperty(view, 'byteLength',"
                       " { value: 1e9 }); view"),
              &size) != NULL &&
          size == 4);
    CHECK_EQ(weft_js_pending(js), 0);
    CHECK(weft_js_as_bytes(js, value_of("const gone = new ArrayBuffer(4); gone.transfer(); gone"), &size) == NULL);
    check_error(-EINVAL, "");
    CHECK(weft_js_as_bytes(js, value_of("[1, 2]"), &size) == NULL);
    check_error(-EINVAL, "an array where bytes is wanted");
    CHECK(weft_js_as_bytes(js, empty, NULL) == NULL);
    check_error(-EINVAL, "size");
    CHECK_EQ(weft_js_bytes(js, NULL, 1).bits, 0);
    check_error(-EINVAL, "null");
}

static void given_bytes(void) {
    size_t size;
    releases = 0;
    open_instance(NULL);
    CHECK_EQ(weft_js_enter(js), 0);
    char *mine = calloc(1, 100);
    mine[99] = 'z';
    weft_js_value value = weft_js_give_bytes(js, mine, 100, release, &releases);
    CHECK(weft_js_as_bytes(js, value, &size) == mine && size == 100);
    CHECK_EQ(weft_js_set(js, weft_js_global(js), "given", value), 0);
    CHECK_EQ(weft_js_give_bytes(js, calloc(1, 8), 8, release, &releases).bits != 0, 1);
    weft_js_leave(js);
    CHECK_EQ(releases, 1); /* nobody but the handle had it */
    CHECK_EQ(weft_js_enter(js), 0);
    CHECK_TEXT(weft_js_to_text(js, value_of("String.fromCharCode(given[99]) + given.length"), NULL), "z100");
    CHECK(weft_js_truth(
        js,
        value_of("try { given.buffer.transfer(1000); } catch (error) { globalThis.failed = true } failed ?? true")));
    CHECK_EQ(weft_js_give_bytes(js, NULL, 8, NULL, NULL).bits, 0);
    check_error(-EINVAL, "null");
    weft_js_throw_errno(js, -EIO, "x");
    CHECK_EQ(weft_js_give_bytes(js, malloc(8), 8, release, &releases).bits, 0); /* given away all the same */
    CHECK_EQ(weft_js_catch(js, NULL), -EIO);
    weft_js_leave(js);
    CHECK_EQ(weft_js_give_bytes(js, malloc(8), 8, release, &releases).bits, 0);
    CHECK_GE(releases, 3);
    close_instance();
    CHECK_EQ(releases, 4);
}
TEST(bytes_are_copied_or_given_away) {
    run_inside(bytes);
    run_large(given_bytes);
}

static void properties(void) {
    weft_js_value object = weft_js_object(js), list = weft_js_array(js),
                  symbol = value_of("globalThis.s = Symbol('s')");
    CHECK_EQ(weft_js_set(js, object, "a", weft_js_number(js, 1)), 0);
    CHECK_EQ(weft_js_set_at(js, object, 7, weft_js_text(js, "seven")), 0);
    CHECK_EQ(weft_js_set_key(js, object, symbol, list), 0);
    CHECK_EQ(weft_js_set_key(js, object, weft_js_text(js, "n\xc3\xa4me"), weft_js_null()), 0);
    check_json(object, "{\"7\":\"seven\",\"a\":1,\"n\xc3\xa4me\":null}");
    CHECK_EQ(weft_js_has(js, object, "a"), 1);
    CHECK_EQ(weft_js_has(js, object, "b"), 0);
    CHECK_EQ(weft_js_has(js, object, "toString"), 1);
    CHECK_EQ(weft_js_remove(js, object, "a"), 0);
    CHECK_EQ(weft_js_remove(js, object, "a"), 0);
    CHECK_EQ(weft_js_has(js, object, "a"), 0);
    check_json(weft_js_keys(js, object), "[\"7\",\"n\xc3\xa4me\"]");
    CHECK(weft_js_equals(js, weft_js_get_key(js, object, symbol), list));
    CHECK(!weft_js_equals(js, object, list));
    CHECK_TEXT(weft_js_as_text(js, weft_js_get_at(js, object, 7), NULL), "seven");
    CHECK_EQ(weft_js_kind_of(js, weft_js_get(js, object, "nothing")), WEFT_JS_UNDEFINED);
    for (uint32_t i = 0; i < 100; i++)
        CHECK_EQ(weft_js_set_at(js, list, i, weft_js_int64(js, i)), 0);
    CHECK_EQ(weft_js_length(js, list), 100);
    CHECK_EQ(weft_js_length(js, weft_js_text(js, "four")), 4);
    CHECK(weft_js_is_instance(js, list, value_of("Array")) && !weft_js_is_instance(js, object, value_of("Array")));
    CHECK_TEXT(weft_js_to_text(js, weft_js_get(js, weft_js_get(js, weft_js_global(js), "Math"), "PI"), NULL),
               "3.141592653589793");
}

static void bad_properties(void) {
    weft_js_value frozen = value_of("'use strict'; Object.freeze({ a: 1, get x() { throw new Error('of x') } })");
    CHECK_EQ(weft_js_set(js, frozen, "a", weft_js_null()), -EOWNERDEAD);
    check_error(-EOWNERDEAD, "read-only");
    CHECK_EQ(weft_js_remove(js, frozen, "a"), -EOWNERDEAD);
    check_error(-EOWNERDEAD, "could not delete");
    CHECK_EQ(weft_js_get(js, frozen, "x").bits, 0);
    check_error(-EOWNERDEAD, "of x");
    CHECK_EQ(weft_js_get(js, weft_js_undefined(), "x").bits, 0);
    check_error(-EOWNERDEAD, "undefined");
    CHECK_EQ(weft_js_has(js, weft_js_null(), "x"), -EOWNERDEAD);
    check_error(-EOWNERDEAD, "not an object");
    CHECK_EQ(weft_js_remove(js, weft_js_bool(true), "x"), -EOWNERDEAD);
    check_error(-EOWNERDEAD, "not an object");
    CHECK_EQ(weft_js_keys(js, weft_js_null()).bits, 0);
    check_error(-EOWNERDEAD, "not an object");
    CHECK_EQ(weft_js_length(js, weft_js_null()), 0);
    check_error(-EOWNERDEAD, "");
    CHECK_EQ(weft_js_get(js, frozen, NULL).bits, 0);
    check_error(-EINVAL, "null");
    CHECK_EQ(weft_js_set(js, frozen, "\xff", frozen), -EILSEQ);
    check_error(-EILSEQ, "UTF-8");
    CHECK_EQ(weft_js_set(js, weft_js_object(js), "a", (weft_js_value){0}), -EINVAL);
    check_error(-EINVAL, "no value");
    CHECK_EQ(weft_js_get_key(js, frozen, (weft_js_value){UINT64_C(77) << 32 | 3}).bits, 0);
    check_error(-ESTALE, "after its end");
    CHECK(!weft_js_is_instance(js, frozen, frozen));
    check_error(-EOWNERDEAD, "");
    CHECK_EQ(weft_js_get_key(js, frozen, value_of("({ toString() { throw new Error('key') } })")).bits, 0);
    check_error(-EOWNERDEAD, "key");
}
TEST(properties_are_there_or_errors) {
    run_inside(properties);
    run_inside(bad_properties);
}

static void calls(void) {
    weft_js_value values[12];
    for (int i = 0; i < 12; i++)
        values[i] = weft_js_int64(js, i);
    weft_js_value sum = value_of("(function (...list) { return list.reduce((a, b) => a + b, this?.from ?? 0) })");
    CHECK_EQ(weft_js_as_int64(js, weft_js_call(js, sum, weft_js_undefined(), 3, values)), 3);
    CHECK_EQ(weft_js_as_int64(js, weft_js_call(js, sum, value_of("({ from: 100 })"), 12, values)), 166);
    CHECK_EQ(weft_js_as_int64(js, weft_js_call(js, sum, weft_js_undefined(), 0, NULL)), 0);
    check_json(weft_js_call_method(js, value_of("[3, 1, 2]"), "sort", 0, NULL), "[1,2,3]");
    check_json(weft_js_construct(js, value_of("Date"), 1, values), "\"1970-01-01T00:00:00.000Z\"");
    CHECK_EQ(weft_js_pending(js), 0);
    weft_js_value thrower =
        value_of("(function thrower() { const error = new TypeError('thrown'); error.code = 'E_MINE'; throw error })");
    CHECK_EQ(weft_js_call(js, thrower, weft_js_undefined(), 0, NULL).bits, 0);
    check_error(-EOWNERDEAD, "thrown");
    CHECK_TEXT(error.name, "TypeError");
    CHECK_TEXT(error.code, "E_MINE");
    CHECK(strstr(error.stack, "at thrower (value.js:1:") != NULL);
    CHECK_EQ(weft_js_call(js, weft_js_null(), weft_js_undefined(), 0, NULL).bits, 0);
    check_error(-EOWNERDEAD, "not a function");
    CHECK_EQ(weft_js_call_method(js, weft_js_object(js), "nothing", 0, NULL).bits, 0);
    check_error(-EOWNERDEAD, "not a function");
    CHECK_EQ(weft_js_construct(js, value_of("() => 1"), 0, NULL).bits, 0);
    check_error(-EOWNERDEAD, "not a constructor");
    CHECK_EQ(weft_js_call(js, sum, weft_js_undefined(), 1, NULL).bits, 0);
    check_error(-EINVAL, "no values");
    CHECK_EQ(weft_js_call(js, sum, weft_js_undefined(), -1, values).bits, 0);
    check_error(-EINVAL, "no values");
    values[1].bits = 0;
    CHECK_EQ(weft_js_call(js, sum, weft_js_undefined(), 3, values).bits, 0);
    check_error(-EINVAL, "no value");
    CHECK_EQ(weft_js_call_method(js, sum, NULL, 0, NULL).bits, 0);
    check_error(-EINVAL, "null");
}
TEST(functions_are_called_and_constructed) {
    run_inside(calls);
}

static void scripts(void) {
    CHECK_EQ(weft_js_as_int64(js, value_of("var counter = 1; counter + 1")), 2);
    CHECK_EQ(weft_js_as_int64(js, value_of("counter += 10")), 11);
    CHECK_EQ(value_of("syntax error here").bits, 0);
    CHECK_EQ(weft_js_catch(js, &error), -EOWNERDEAD);
    CHECK_TEXT(error.name, "SyntaxError");
    CHECK(strstr(error.stack, "value.js") != NULL);
    CHECK_EQ(weft_js_evaluate(js, NULL, 0, "x").bits, 0);
    check_error(-EINVAL, "null");
    CHECK_EQ(weft_js_evaluate(js, "1", 1, NULL).bits, 0);
    check_error(-EINVAL, "null");
    CHECK_EQ(weft_js_evaluate(js, "'\xff'", 3, "x").bits, 0);
    check_error(-EILSEQ, "UTF-8");
    CHECK_EQ(weft_js_as_int64(js, weft_js_evaluate(js, "12 + 34", 2, "part")), 12);
}
TEST(scripts_have_values) {
    run_inside(scripts);
}

static void throws(void) {
    weft_js_throw_error(js, WEFT_JS_PLAIN_ERROR, "number %d", 5);
    check_error(-EOWNERDEAD, "number 5");
    CHECK_TEXT(error.name, "Error");
    static const struct {
        weft_js_error_kind kind;
        const char *name;
    } list[] = {{WEFT_JS_TYPE_ERROR, "TypeError"},
                {WEFT_JS_RANGE_ERROR, "RangeError"},
                {WEFT_JS_SYNTAX_ERROR, "SyntaxError"},
                {WEFT_JS_REFERENCE_ERROR, "ReferenceError"}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        CHECK_EQ(weft_js_throw_error(js, list[i].kind, "%s", "text %d").bits, 0);
        check_error(-EOWNERDEAD, "text %d");
        CHECK_TEXT(error.name, list[i].name);
    }
    CHECK_EQ(weft_js_throw_errno(js, -ENOENT, "open").bits, 0);
    check_error(-ENOENT, "open: No such file");
    CHECK_TEXT(error.code, "ENOENT");
    weft_js_throw_errno(js, 5, NULL);
    check_error(-EINVAL, "call: ");
    weft_js_throw(js, weft_js_text(js, "just a text"));
    check_error(-EOWNERDEAD, "just a text");
    CHECK_TEXT(error.name, "");
    weft_js_value thrown = value_of("new RangeError('kept')");
    weft_js_throw(js, thrown);
    CHECK(weft_js_equals(js, thrown, thrown) == false); /* nothing is done while something is pending */
    weft_js_value caught = weft_js_catch_value(js);
    CHECK(weft_js_equals(js, thrown, caught));
    CHECK_EQ(weft_js_catch_value(js).bits, 0);
    CHECK_EQ(weft_js_catch(js, NULL), 0);
    CHECK_EQ(weft_js_describe(js, caught, &error), 0);
    CHECK_TEXT(error.message, "kept");
    CHECK_EQ(weft_js_describe(js, caught, NULL), -EINVAL);
    check_error(-EINVAL, "room");
    weft_js_throw(js, (weft_js_value){0});
    check_error(-EINVAL, "no value");
    CHECK_EQ(weft_js_describe(js, value_of("Object.defineProperty(new Error('odd'), 'code', { get() { throw 1 } })"),
                              &error),
             0);
    CHECK_TEXT(error.message, "odd");
    CHECK_TEXT(error.code, "");
}
TEST(errors_are_made_and_taken) {
    run_inside(throws);
}

/* The first error stays, and nothing else is tried. */
static void sticks(void) {
    weft_js_value object = weft_js_object(js), other = weft_js_array(js);
    weft_js_as_number(js, object);
    CHECK_EQ(weft_js_set(js, object, "a", weft_js_number(js, 1)), -EINVAL);
    CHECK_EQ(weft_js_object(js).bits, 0);
    CHECK_EQ(weft_js_array(js).bits, 0);
    CHECK_EQ(weft_js_string(js, "\xff", 1).bits, 0);
    CHECK_EQ(weft_js_bytes(js, "", 0).bits, 0);
    CHECK_EQ(weft_js_bigint(js, 1).bits, 0);
    CHECK_EQ(weft_js_biguint(js, 1).bits, 0);
    CHECK_EQ(weft_js_int64(js, 1).bits, 0);
    CHECK_EQ(weft_js_parse(js, "1", 1).bits, 0);
    CHECK_EQ(weft_js_global(js).bits, 0);
    CHECK_EQ(weft_js_get(js, object, "a").bits, 0);
    CHECK_EQ(weft_js_get_at(js, object, 1).bits, 0);
    CHECK_EQ(weft_js_get_key(js, object, other).bits, 0);
    CHECK_EQ(weft_js_set_at(js, object, 1, other), -EINVAL);
    CHECK_EQ(weft_js_set_key(js, object, other, other), -EINVAL);
    CHECK_EQ(weft_js_has(js, object, "a"), -EINVAL);
    CHECK_EQ(weft_js_remove(js, object, "a"), -EINVAL);
    CHECK_EQ(weft_js_keys(js, object).bits, 0);
    CHECK_EQ(weft_js_call(js, object, object, 0, NULL).bits, 0);
    CHECK_EQ(weft_js_call_method(js, object, "x", 0, NULL).bits, 0);
    CHECK_EQ(weft_js_construct(js, object, 0, NULL).bits, 0);
    CHECK_EQ(value_of("globalThis.never = 1").bits, 0);
    CHECK_EQ(weft_js_evaluate_module(js, "1", 1, "x").bits, 0);
    CHECK_EQ(weft_js_import(js, "weft:go").bits, 0);
    CHECK_EQ(weft_js_keep(js, object).bits, 0);
    CHECK_EQ(weft_js_kind_of(js, object), WEFT_JS_NONE);
    CHECK_EQ(weft_js_as_int64(js, object), 0);
    CHECK_EQ(weft_js_length(js, other), 0);
    CHECK(!weft_js_truth(js, object) && !weft_js_as_text(js, object, NULL) && !weft_js_to_text(js, object, NULL));
    CHECK(!weft_js_to_json(js, object, NULL) && !weft_js_is_instance(js, object, object));
    weft_js_throw_errno(js, -EIO, "later");
    weft_js_throw(js, object);
    weft_js_throw_error(js, WEFT_JS_TYPE_ERROR, "later");
    CHECK_EQ(weft_js_describe(js, object, &error), -EINVAL);
    CHECK_EQ(weft_js_module(js, "app:x", object), -EINVAL);
    check_error(-EINVAL, "an object where a number is wanted");
    check_json(object, "{}");
    CHECK_TEXT(weft_js_to_text(js, value_of("typeof never"), NULL), "undefined");
}
TEST(the_first_error_stays_until_it_is_taken) {
    run_inside(sticks);
}
