// SPDX-License-Identifier: MIT
// js/lib/streams_base.js - what all stream classes share: errors, promises, queues, strategies.
(function (host, need) {
    'use strict';

    const apply = Reflect.apply;
    const PromiseClass = Promise;
    const promiseThen = Promise.prototype.then;
    const promiseResolve = Promise.resolve.bind(Promise);
    const promiseReject = Promise.reject.bind(Promise);
    const noop = () => {};

    // The token that lets library code through constructors that are closed to programs.
    const INTERNAL = Symbol('internal');

    // Errors carry a code as Node's do.
    function coded(Kind, code, message) {
        const error = new Kind(message);
        error.code = code;
        return error;
    }

    function describe(value) {
        if (value === null || value === undefined) {
            return 'Received ' + value;
        }
        if (typeof value === 'function') {
            return 'Received function ' + value.name;
        }
        if (typeof value === 'object') {
            const name = value.constructor && value.constructor.name;
            return name ? 'Received an instance of ' + name : 'Received [Object: null prototype] {}';
        }
        let text = String(value);
        if (text.length > 28) {
            text = text.slice(0, 25) + '...';
        }
        if (typeof value === 'string') {
            text = '\'' + text + '\'';
        } else if (typeof value === 'bigint') {
            text += 'n';
        }
        return 'Received type ' + typeof value + ' (' + text + ')';
    }

    const invalidState = (message) => coded(TypeError, 'ERR_INVALID_STATE', 'Invalid state: ' + message);
    const invalidThis = (name) => coded(TypeError, 'ERR_INVALID_THIS', 'Value of "this" must be of type ' + name);
    const illegalConstructor = () => coded(TypeError, 'ERR_ILLEGAL_CONSTRUCTOR', 'Illegal constructor');

    function invalidArgument(name, expected, value) {
        const kind = name.includes('.') ? 'property' : 'argument';
        return coded(TypeError, 'ERR_INVALID_ARG_TYPE', `The "${name}" ${kind} must be ${expected}. ${describe(value)}`);
    }

    function invalidValue(Kind, name, value) {
        const kind = name.includes('.') ? 'property' : 'argument';
        const shown = typeof value === 'string' ? `'${value}'` : typeof value === 'function' ?
            `[Function: ${value.name}]` : String(value);
        return coded(Kind, 'ERR_INVALID_ARG_VALUE', `The ${kind} '${name}' is invalid. Received ${shown}`);
    }

    // Promises. Reactions use the built-in then, whatever a program put in its place.
    const deferred = () => PromiseClass.withResolvers();

    function then(promise, fulfilled, rejected) {
        return apply(promiseThen, promise, [fulfilled, rejected]);
    }

    function handled(promise) {
        apply(promiseThen, promise, [undefined, noop]);
        return promise;
    }

    function rejectedDeferred(reason) {
        const d = deferred();
        handled(d.promise);
        d.reject(reason);
        return d;
    }

    function resolvedDeferred(value) {
        const d = deferred();
        d.resolve(value);
        return d;
    }

    // Calls a function of the program that is to return a promise. A promise that it returns is not taken as it is, but
    // followed, as WebIDL wants: programs can tell by the order of their jobs.
    function callForPromise(callback, self, args) {
        return new PromiseClass((resolve) => resolve(apply(callback, self, args)));
    }

    // A first-in, first-out queue in an array whose head moves.
    class Queue {
        constructor() {
            this.items = [];
            this.head = 0;
        }

        get length() {
            return this.items.length - this.head;
        }

        push(item) {
            this.items.push(item);
        }

        first() {
            return this.items[this.head];
        }

        shift() {
            const items = this.items;
            const item = items[this.head];
            items[this.head++] = undefined;
            if (this.head === items.length) {
                items.length = 0;
                this.head = 0;
            } else if (this.head >= 64 && this.head * 2 >= items.length) {
                items.splice(0, this.head);
                this.head = 0;
            }
            return item;
        }

        clear() {
            this.items.length = 0;
            this.head = 0;
        }
    }

    // The queue with sizes of the standard.
    class SizedQueue extends Queue {
        constructor() {
            super();
            this.total = 0;
        }

        enqueue(value, size) {
            if (typeof size !== 'number' || !(size >= 0) || size === Infinity) {
                throw invalidValue(RangeError, 'size', size);
            }
            this.items.push({ value, size });
            this.total += size;
        }

        dequeue() {
            const pair = this.shift();
            this.total -= pair.size;
            if (this.total < 0) {
                this.total = 0;
            }
            return pair.value;
        }

        reset() {
            this.clear();
            this.total = 0;
        }
    }

    // Argument conversion.
    function asDictionary(value, name) {
        if (value === undefined || value === null) {
            return undefined;
        }
        if (typeof value !== 'object' && typeof value !== 'function') {
            throw invalidArgument(name, 'of type object', value);
        }
        return value;
    }

    function asObject(value, name) {
        if (value === undefined) {
            return undefined;
        }
        if (value === null || typeof value !== 'object' && typeof value !== 'function') {
            throw invalidArgument(name, 'of type object', value);
        }
        return value;
    }

    function method(object, key, name) {
        if (object === undefined) {
            return undefined;
        }
        const value = object[key];
        if (value !== undefined && typeof value !== 'function') {
            throw invalidArgument(name + '.' + key, 'of type function', value);
        }
        return value;
    }

    function readStrategy(value, name) {
        const strategy = asDictionary(value, name);
        if (strategy === undefined) {
            return { highWaterMark: undefined, size: undefined };
        }
        let highWaterMark = strategy.highWaterMark;
        if (highWaterMark !== undefined) {
            highWaterMark = +highWaterMark;
        }
        return { highWaterMark, size: method(strategy, 'size', 'strategy') };
    }

    function markOf(strategy, fallback) {
        const mark = strategy.highWaterMark;
        if (mark === undefined) {
            return fallback;
        }
        if (!(mark >= 0)) {
            throw invalidValue(RangeError, 'strategy.highWaterMark', mark);
        }
        return mark;
    }

    const one = () => 1;

    function sizeOf(strategy) {
        const size = strategy.size;
        return size === undefined ? one : (chunk) => +size(chunk);
    }

    return {
        INTERNAL, apply, coded, describe, invalidState, invalidThis, illegalConstructor, invalidArgument, invalidValue,
        noop, deferred, then, handled, rejectedDeferred, resolvedDeferred, callForPromise, promiseResolve, promiseReject,
        Queue, SizedQueue, asDictionary, asObject, method, readStrategy, markOf, sizeOf, expose: need('idl').define,
        inspectAs: need('idl').inspectAs,
    };
})
