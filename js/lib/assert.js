// SPDX-License-Identifier: MIT
// js/lib/assert.js - node:assert, strict and loose.
// host: nothing.
(function (host, need) {
    'use strict';

    const nodeErrors = need('node_error');
    const { AssertionError, difference } = need('assert_error');
    const { inspect } = need('inspect');
    const equality = need('deep_equal');
    const NOTHING = Symbol('nothing');

    function isRegExp(value) {
        return Object.prototype.toString.call(value) === '[object RegExp]';
    }

    function isObject(value) {
        return value !== null && typeof value === 'object';
    }

    // A message that is an error is thrown as it is.
    function fails(options) {
        if (options.message instanceof Error) throw options.message;
        throw new AssertionError(options);
    }

    function failsGenerated(options) {
        const error = new AssertionError(options);
        error.generatedMessage = true;
        throw error;
    }

    function checkTruth(values) {
        const [value, message] = values;
        if (value) return;
        if (values.length === 0) {
            failsGenerated({ actual: value, expected: true, message: 'No value argument passed to `assert.ok()`',
                operator: '==' });
        }
        if (message === undefined || message === null) {
            failsGenerated({ actual: value, expected: true, message: `${inspect(value)} == true`, operator: '==' });
        }
        fails({ actual: value, expected: true, message, operator: '==' });
    }

    function needTwo(values) {
        if (values.length < 2) {
            throw nodeErrors.nodeError(TypeError, 'ERR_MISSING_ARGS',
                'The "actual" and "expected" arguments must be specified');
        }
    }

    // An assertion that compares two values with a test.
    function comparison(name, operator, test) {
        return { [name](actual, expected, message) {
            needTwo(arguments);
            if (!test(actual, expected)) fails({ actual, expected, message, operator });
        } }[name];
    }

    // Loose on purpose.
    const isLooselyEqual = (a, b) => a == b || (a !== a && b !== b);

    // ---- throws and rejects ----

    function caught(fn) {
        nodeErrors.validateFunction(fn, 'fn');
        try {
            fn();
        } catch (error) {
            return error;
        }
        return NOTHING;
    }

    function isThenable(value) {
        return isObject(value) && typeof value.then === 'function' && typeof value.catch === 'function';
    }

    async function caughtLater(promiseFn) {
        let promise = promiseFn;
        if (typeof promiseFn === 'function') {
            promise = promiseFn();
            if (!isThenable(promise)) {
                const kind = isObject(promise) ? `an instance of ${promise.constructor && promise.constructor.name}` :
                    promise === undefined || promise === null ? String(promise) :
                        `type ${typeof promise} (${inspect(promise)})`;
                throw nodeErrors.nodeError(TypeError, 'ERR_INVALID_RETURN_VALUE',
                    `Expected instance of Promise to be returned from the "promiseFn" function but got ${kind}.`);
            }
        } else if (!isThenable(promiseFn)) {
            throw nodeErrors.invalidArgType('promiseFn', ['function', 'Promise'], promiseFn);
        }
        try {
            await promise;
        } catch (error) {
            return error;
        }
        return NOTHING;
    }

    // Only the properties that are asked for, under the name the text of a difference shows.
    class Comparison {
        constructor(object, keys, actual) {
            for (const key of keys) {
                if (!(key in object)) continue;
                const takesText = actual !== undefined && typeof actual[key] === 'string' && isRegExp(object[key]);
                this[key] = takesText && object[key].test(actual[key]) ? actual[key] : object[key];
            }
        }
    }

    function matchObject(actual, expected, message, operator) {
        const keys = Object.keys(expected);
        if (expected instanceof Error) keys.push('name', 'message');
        else if (keys.length === 0) throw nodeErrors.invalidArgValue('error', expected, 'may not be an empty object');
        for (const key of keys) {
            const isText = isObject(actual) && typeof actual[key] === 'string' && isRegExp(expected[key]);
            if (isText && expected[key].test(actual[key])) continue;
            if (isObject(actual) && key in actual && equality.isDeepStrictEqual(actual[key], expected[key])) continue;
            if (message !== undefined) fails({ actual, expected, message, operator });
            const left = isObject(actual) ? new Comparison(actual, keys) : actual;
            const right = isObject(actual) ? new Comparison(expected, keys, actual) : expected;
            failsGenerated({ actual, expected, message: difference(left, right, 'deepStrictEqual'), operator });
        }
    }

    function matchClass(actual, expected, message, operator) {
        if (expected.prototype !== undefined && actual instanceof expected) return;
        const isErrorClass = Object.prototype.isPrototypeOf.call(Error, expected) || expected === Error;
        if (isErrorClass) {
            if (message !== undefined) fails({ actual, expected, message, operator });
            let text = `The error is expected to be an instance of "${expected.name}". Received `;
            if (actual instanceof Error) text += `"${actual.constructor ? actual.constructor.name : actual.name}"`;
            else text += `"${inspect(actual, { depth: -1 })}"`;
            if (actual && actual.message) text += `\n\nError message:\n\n${actual.message}`;
            failsGenerated({ actual, expected, message: text, operator });
        }
        const result = Reflect.apply(expected, {}, [actual]);
        if (result === true) return;
        if (message !== undefined) fails({ actual, expected, message, operator });
        const name = expected.name ? `"${expected.name}" ` : '';
        let text = `The ${name}validation function is expected to return "true". Received ${inspect(result)}`;
        if (actual instanceof Error) text += `\n\nCaught error:\n\n${actual}`;
        failsGenerated({ actual, expected, message: text, operator });
    }

    function matchError(actual, expected, message, operator) {
        if (typeof expected === 'function') {
            matchClass(actual, expected, message, operator);
        } else if (isRegExp(expected)) {
            if (expected.test(String(actual))) return;
            if (message !== undefined) fails({ actual, expected, message, operator });
            const shown = inspect(String(actual));
            failsGenerated({ actual, expected, operator,
                message: `The input did not match the regular expression ${inspect(expected)}. Input:\n\n${shown}\n` });
        } else {
            matchObject(actual, expected, message, operator);
        }
    }

    function sortOut(actual, values) {
        let [error, message] = values;
        if (typeof error === 'string') {
            if (values.length === 2) throw nodeErrors.invalidArgType('error', ['Object', 'Error', 'Function', 'RegExp'],
                error);
            if (actual !== NOTHING && (isObject(actual) ? actual.message : actual) === error) {
                const what = isObject(actual) ? `error message "${actual.message}"` : `error "${actual}"`;
                throw nodeErrors.nodeError(TypeError, 'ERR_AMBIGUOUS_ARGUMENT',
                    `The "error/message" argument is ambiguous. The ${what} is identical to the message.`);
            }
            [error, message] = [undefined, error];
        } else if (error !== undefined && error !== null && typeof error !== 'object' && typeof error !== 'function') {
            throw nodeErrors.invalidArgType('error', ['Function', 'Error', 'RegExp', 'Object'], error);
        }
        return [error, message];
    }

    function expectsError(actual, values, operator) {
        const [error, message] = sortOut(actual, values);
        if (actual === NOTHING) {
            const name = error && error.name ? ` (${error.name})` : '';
            const kind = operator === 'rejects' ? 'rejection' : 'exception';
            fails({ actual: undefined, expected: error, operator,
                message: `Missing expected ${kind}${name}${message ? `: ${message}` : '.'}` });
        }
        if (error) matchError(actual, error, message, operator);
    }

    function expectsNoError(actual, values, operator) {
        if (actual === NOTHING) return;
        let [error, message] = values;
        if (typeof error === 'string') [error, message] = [undefined, error];
        const isMeant = !error || (isRegExp(error) ? error.test(String(actual)) :
            typeof error === 'function' && error.prototype !== undefined && actual instanceof error);
        if (!isMeant) throw actual;
        const kind = operator === 'doesNotReject' ? 'rejection' : 'exception';
        fails({ actual, expected: error, operator, message: `Got unwanted ${kind}${message ? `: ${message}` : '.'}\n` +
            `Actual message: "${actual && actual.message}"` });
    }

    // ---- the functions ----

    function unwanted(value) {
        if (value === null || value === undefined) return;
        let text = 'ifError got unwanted exception: ';
        if (isObject(value) && typeof value.message === 'string') {
            text += value.message.length === 0 && value.constructor ? value.constructor.name : value.message;
        } else {
            text += inspect(value);
        }
        const error = new AssertionError({ actual: value, expected: null, operator: 'ifError', message: text });
        throw error;
    }

    function matching(string, regexp, message, operator) {
        if (!isRegExp(regexp)) throw nodeErrors.invalidArgType('regexp', 'RegExp', regexp);
        const wanted = operator === 'match';
        if (typeof string === 'string' && regexp.test(string) === wanted) return;
        if (message !== undefined && message !== null) fails({ actual: string, expected: regexp, message, operator });
        let text = `The input ${wanted ? 'did not match' : 'was expected to not match'} the regular expression ` +
            `${inspect(regexp)}. Input:\n\n${inspect(string)}\n`;
        if (typeof string !== 'string') text = nodeErrors.invalidArgType('string', 'string', string).message;
        failsGenerated({ actual: string, expected: regexp, message: text, operator });
    }

    function ok(...values) {
        checkTruth(values);
    }

    const functions = {
        fail(message = 'Failed') {
            const isDefault = arguments.length === 0;
            if (message instanceof Error) throw message;
            const error = new AssertionError({ message, operator: 'fail' });
            error.generatedMessage = isDefault;
            throw error;
        },
        AssertionError,
        ok,
        equal: comparison('equal', '==', isLooselyEqual),
        notEqual: comparison('notEqual', '!=', (a, b) => !isLooselyEqual(a, b)),
        deepEqual: comparison('deepEqual', 'deepEqual', equality.isDeepEqual),
        notDeepEqual: comparison('notDeepEqual', 'notDeepEqual', (a, b) => !equality.isDeepEqual(a, b)),
        deepStrictEqual: comparison('deepStrictEqual', 'deepStrictEqual', equality.isDeepStrictEqual),
        notDeepStrictEqual: comparison('notDeepStrictEqual', 'notDeepStrictEqual', (a, b) =>
            !equality.isDeepStrictEqual(a, b)),
        strictEqual: comparison('strictEqual', 'strictEqual', Object.is),
        notStrictEqual: comparison('notStrictEqual', 'notStrictEqual', (a, b) => !Object.is(a, b)),
        throws(fn, ...values) { expectsError(caught(fn), values, 'throws'); },
        async rejects(promiseFn, ...values) { expectsError(await caughtLater(promiseFn), values, 'rejects'); },
        doesNotThrow(fn, ...values) { expectsNoError(caught(fn), values, 'doesNotThrow'); },
        async doesNotReject(promiseFn, ...values) { expectsNoError(await caughtLater(promiseFn), values, 'doesNotReject'); },
        ifError(value) { unwanted(value); },
        match(string, regexp, message) { matching(string, regexp, message, 'match'); },
        doesNotMatch(string, regexp, message) { matching(string, regexp, message, 'doesNotMatch'); },
    };

    const assert = Object.assign(ok, functions);
    function strict(...values) {
        checkTruth(values);
    }
    Object.assign(strict, functions, {
        equal: functions.strictEqual,
        notEqual: functions.notStrictEqual,
        deepEqual: functions.deepStrictEqual,
        notDeepEqual: functions.notDeepStrictEqual,
    });
    assert.strict = strict;
    strict.strict = strict;
    return { assert, strict, default: assert };
})
