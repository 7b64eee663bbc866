// SPDX-License-Identifier: MIT
// js/lib/idl.js - what all web classes share: WebIDL's look of a class and its conversions of arguments.
(function () {
    'use strict';

    const platformPrototypes = new WeakSet();
    const inspectSymbol = Symbol.for('nodejs.util.inspect.custom');

    // Gives the strings among an object's keys the enumerability that WebIDL wants.
    function showKeys(object, hidden) {
        for (const key of Reflect.ownKeys(object)) {
            if (typeof key === 'symbol' || hidden.includes(key)) {
                continue;
            }
            const descriptor = Reflect.getOwnPropertyDescriptor(object, key);
            if (descriptor.configurable && !descriptor.enumerable) {
                descriptor.enumerable = true;
                Reflect.defineProperty(object, key, descriptor);
            }
        }
    }

    // Makes a class look like a WebIDL interface: enumerable members, a string tag and constants in both places.
    function define(Class, constants) {
        showKeys(Class, ['length', 'name', 'prototype']);
        showKeys(Class.prototype, ['constructor']);
        Object.defineProperty(Class.prototype, Symbol.toStringTag, {
            value: Class.name, writable: false, enumerable: false, configurable: true,
        });
        for (const name in constants) {
            const descriptor = { value: constants[name], writable: false, enumerable: true, configurable: false };
            Object.defineProperty(Class, name, descriptor);
            Object.defineProperty(Class.prototype, name, descriptor);
        }
        platformPrototypes.add(Class.prototype);
        return Class;
    }

    // Whether an object comes from a class made with define(): such an object cannot be cloned as a plain one.
    function isPlatformObject(object) {
        for (let at = Object.getPrototypeOf(object); at !== null; at = Object.getPrototypeOf(at)) {
            if (platformPrototypes.has(at)) {
                return true;
            }
        }
        return false;
    }

    function illegalInvocation() {
        return new TypeError('Illegal invocation');
    }

    function isObject(value) {
        return (typeof value === 'object' && value !== null) || typeof value === 'function';
    }

    // Throws unless at least `wanted` arguments were given.
    function needArguments(what, given, wanted) {
        if (given < wanted) {
            const noun = wanted === 1 ? 'argument' : 'arguments';
            throw new TypeError(`${what}: ${wanted} ${noun} required, but only ${given} present.`);
        }
    }

    // A dictionary argument: undefined and null count as an empty one.
    function toDictionary(value, what) {
        if (value === undefined || value === null) {
            return undefined;
        }
        if (!isObject(value)) {
            throw new TypeError(`${what} must be an object`);
        }
        return value;
    }

    function toDOMString(value) {
        return typeof value === 'string' ? value : `${value}`;
    }

    function toUSVString(value) {
        return (typeof value === 'string' ? value : `${value}`).toWellFormed();
    }

    // An integer of WebIDL that wraps around: bits is 8, 16 or 32, signed or not.
    function toInteger(value, bits, signed) {
        let number = +value;
        if (!Number.isFinite(number)) {
            return 0;
        }
        const modulus = 2 ** bits;
        number = Math.trunc(number) % modulus;
        if (number < 0) {
            number += modulus;
        }
        if (signed && number >= modulus / 2) {
            number -= modulus;
        }
        return number + 0;
    }

    // An integer of WebIDL with [EnforceRange] between 0 and `highest`.
    function toRangedInteger(value, highest, what) {
        const number = +value;
        if (!Number.isFinite(number)) {
            throw new TypeError(`${what} must be a finite number`);
        }
        const whole = Math.trunc(number) + 0;
        if (whole < 0 || whole > highest) {
            throw new TypeError(`${what} is outside the range 0 to ${highest}`);
        }
        return whole;
    }

    function toDouble(value, what) {
        const number = +value;
        if (!Number.isFinite(number)) {
            throw new TypeError(`${what} must be a finite number`);
        }
        return number;
    }

    // A sequence argument: everything that the iterable yields, each item converted as it comes.
    function toSequence(value, what, convert) {
        if (!isObject(value)) {
            throw new TypeError(`${what} must be iterable`);
        }
        const method = value[Symbol.iterator];
        if (method === undefined || method === null) {
            throw new TypeError(`${what} must be iterable`);
        }
        const iterator = Reflect.apply(method, value, []);
        if (!isObject(iterator)) {
            throw new TypeError(`${what} must be iterable`);
        }
        const next = iterator.next;
        const items = [];
        for (;;) {
            const step = Reflect.apply(next, iterator, []);
            if (!isObject(step)) {
                throw new TypeError(`${what} must be iterable`);
            }
            if (step.done) {
                return items;
            }
            items.push(convert(step.value, items.length));
        }
    }

    // Installs what util.inspect prints for an object: show(object) returns [title, plain object of the fields]. Where there
    // is no depth left, Node prints some classes by their name, some in brackets and some as if they were empty.
    function inspectAs(Class, show, tooDeep = 'brackets') {
        function inspectObject(depth, options, inspect) {
            let title;
            let fields;
            try {
                [title, fields] = show(this);
            } catch {
                // This is the prototype itself, or something else without the private state.
                return this;
            }
            if (typeof depth === 'number' && depth < 0) {
                return tooDeep === 'empty' ? this : tooDeep === 'name' ? title : `[${title}]`;
            }
            const left = options?.depth;
            return `${title} ${inspect(fields, { ...options, depth: typeof left === 'number' ? left - 1 : left })}`;
        }
        Object.defineProperty(Class.prototype, inspectSymbol, {
            value: inspectObject, writable: true, enumerable: false, configurable: true,
        });
    }

    return {
        define, isPlatformObject, illegalInvocation, isObject, needArguments, toDictionary, toDOMString, toUSVString,
        toInteger, toRangedInteger, toDouble, toSequence, inspectAs, inspectSymbol,
    };
})
