// SPDX-License-Identifier: MIT
// js/lib/body_iterate.js - keys, values, entries and forEach of Headers and FormData.
(function (host, need) {
    'use strict';

    const IteratorPrototype = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()));

    function makePrototype(name, records) {
        const prototype = Object.setPrototypeOf({
            next() {
                const record = this !== null && typeof this === 'object' ? records.get(this) : undefined;
                if (record === undefined) {
                    throw new TypeError(`'next' called on an object that does not implement interface ${name} Iterator.`);
                }
                const pairs = record.read();
                const pair = pairs[record.at];
                if (pair === undefined) {
                    return { value: undefined, done: true };
                }
                record.at += 1;
                return { value: record.pick(pair), done: false };
            },
        }, IteratorPrototype);
        Object.defineProperty(prototype, Symbol.toStringTag, { value: name + ' Iterator', configurable: true });
        return prototype;
    }

    const picks = {
        keys: (pair) => pair[0],
        values: (pair) => pair[1],
        entries: (pair) => [pair[0], pair[1]],
    };

    // Adds the members to a class. open(object) checks the object and gives a function that reads its pairs of now.
    function addIteration(Class, name, open, needArguments) {
        const records = new WeakMap();
        let prototype;

        function makeIterator(object, pick) {
            const read = open(object);
            prototype ??= makePrototype(name, records);
            const iterator = Object.create(prototype);
            records.set(iterator, { read, pick, at: 0 });
            return iterator;
        }

        const members = {
            keys() {
                return makeIterator(this, picks.keys);
            },
            values() {
                return makeIterator(this, picks.values);
            },
            entries() {
                return makeIterator(this, picks.entries);
            },
            forEach(callback) {
                const read = open(this);
                needArguments(`${name}.forEach`, arguments.length, 1);
                if (typeof callback !== 'function') {
                    throw new TypeError(`Failed to execute 'forEach' on '${name}': parameter 1 is not of type 'Function'.`);
                }
                for (let i = 0; ; i++) {
                    const pair = read()[i];
                    if (pair === undefined) {
                        return;
                    }
                    Reflect.apply(callback, arguments[1], [pair[1], pair[0], this]);
                }
            },
        };
        for (const key of Object.keys(members)) {
            Object.defineProperty(Class.prototype, key,
                { value: members[key], writable: true, enumerable: true, configurable: true });
        }
        Object.defineProperty(Class.prototype, Symbol.iterator,
            { value: members.entries, writable: true, enumerable: false, configurable: true });
    }

    return { addIteration };
})
