// SPDX-License-Identifier: MIT
// js/lib/headers.js - Headers, and what fetch needs of them.
(function (host, need) {
    'use strict';

    const idl = need('idl');
    const { INTERNAL, coded } = need('streams_base');

    const tokenPattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

    // The private state of the classes: {guard, map: lower-case name -> {name, values}, sorted}.
    let listOf;
    let wrapList;
    let isHeaders;

    const isEnumerable = Object.prototype.propertyIsEnumerable;
    const illegal = () => coded(TypeError, 'ERR_INVALID_THIS', 'Illegal invocation');

    function needArguments(what, given, wanted) {
        if (given < wanted) {
            throw new TypeError(`${what}: ${wanted} argument${wanted === 1 ? '' : 's'} required, but` +
                `${given > 0 ? ' only' : ''} ${given} found.`);
        }
    }

    // A string whose characters are bytes.
    function toByteString(value, what) {
        if (typeof value === 'symbol') {
            throw new TypeError(`${what} is a symbol, which cannot be converted to a DOMString.`);
        }
        const text = `${value}`;
        if (!/[^\0-\xFF]/.test(text)) {
            return text;
        }
        for (let i = 0; ; i++) {
            const unit = text.charCodeAt(i);
            if (unit > 255) {
                throw new TypeError('Cannot convert argument to a ByteString because the character at index ' + i +
                    ` has a value of ${unit} which is greater than 255.`);
            }
        }
        return text;
    }

    const isToken = (text) => tokenPattern.test(text);

    // Names that were seen, with their lower case, so that the usual ones are looked at once only.
    const known = new Map();

    // The lower case of a good name, undefined for a bad one.
    function lowerName(name) {
        let lower = known.get(name);
        if (lower === undefined && isToken(name)) {
            lower = name.toLowerCase();
            if (known.size >= 512) {
                known.clear();
            }
            known.set(name, lower);
        }
        return lower;
    }

    const lowerOf = (name) => known.get(name) ?? name.toLowerCase();

    // A value as bytes without spaces around it; most have none, and nothing else to look after.
    function toValue(value, what) {
        const text = toByteString(value, what);
        const first = text.charCodeAt(0);
        const last = text.charCodeAt(text.length - 1);
        return first <= 32 || last <= 32 ? trimValue(text) : text;
    }

    const trimValue = (text) => text.replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, '');
    const isValue = (text) => !/[\0\n\r]/.test(text);

    class HeaderList {
        constructor(guard) {
            this.guard = guard;
            this.map = new Map();
            this.cookies = [];
            this.sorted = undefined;
        }

        append(name, value) {
            const key = lowerOf(name);
            this.sorted = undefined;
            if (key === 'set-cookie') {
                this.cookies.push(value);
            }
            const entry = this.map.get(key);
            if (entry === undefined) {
                this.map.set(key, { name, value });
            } else {
                entry.value += (key === 'cookie' ? '; ' : ', ') + value;
            }
        }

        set(name, value) {
            const key = lowerOf(name);
            this.sorted = undefined;
            if (key === 'set-cookie') {
                this.cookies = [value];
            }
            this.map.set(key, { name, value });
        }

        delete(name) {
            const key = lowerOf(name);
            this.sorted = undefined;
            if (key === 'set-cookie') {
                this.cookies = [];
            }
            this.map.delete(key);
        }

        get(name) {
            const entry = this.map.get(lowerOf(name));
            return entry === undefined ? null : entry.value;
        }

        has(name) {
            return this.map.has(lowerOf(name));
        }

        // Pairs in the order of iteration: sorted by name, cookies one by one.
        sortedPairs() {
            if (this.sorted === undefined) {
                const pairs = [];
                for (const name of [...this.map.keys()].sort()) {
                    if (name === 'set-cookie') {
                        for (const cookie of this.cookies) {
                            pairs.push([name, cookie]);
                        }
                    } else {
                        pairs.push([name, this.map.get(name).value]);
                    }
                }
                this.sorted = pairs;
            }
            return this.sorted;
        }

        // Pairs as they go over the wire, with the names as they were written.
        rawPairs() {
            const pairs = [];
            for (const [key, { name, value }] of this.map) {
                if (key === 'set-cookie') {
                    for (const cookie of this.cookies) {
                        pairs.push([name, cookie]);
                    }
                } else {
                    pairs.push([name, value]);
                }
            }
            return pairs;
        }

        copyFrom(other) {
            this.sorted = undefined;
            this.cookies = other.cookies.slice();
            this.map = new Map();
            for (const [key, { name, value }] of other.map) {
                this.map.set(key, { name, value });
            }
        }
    }

    function checkName(name, what) {
        if (lowerName(name) === undefined) {
            throw new TypeError(`${what}: "${name}" is an invalid header name.`);
        }
    }

    function checkGuard(list) {
        if (list.guard === 'immutable') {
            throw new TypeError('immutable');
        }
    }

    function appendChecked(list, name, value) {
        checkName(name, 'Headers.append');
        if (!isValue(value)) {
            throw new TypeError(`Headers.append: "${value}" is an invalid header value.`);
        }
        checkGuard(list);
        list.append(name, value);
    }

    // Fills a list from what new Headers() and the init of requests and responses accept.
    function fill(list, init) {
        if (!idl.isObject(init)) {
            throw new TypeError('Headers constructor: Argument 1 could not be converted to one of: ' +
                'sequence<sequence<ByteString>>, record<ByteString, ByteString>.');
        }
        const iterate = init[Symbol.iterator];
        if (iterate !== undefined && iterate !== null) {
            fillFromPairs(list, init, iterate);
            return;
        }
        const pairs = [];
        for (const key of Reflect.ownKeys(init)) {
            if (Reflect.apply(isEnumerable, init, [key])) {
                const name = known.has(key) ? key : toByteString(key, 'Headers contructor: init');
                pairs.push([name, toValue(init[key], 'Headers contructor: init')]);
            }
        }
        for (const [name, value] of pairs) {
            appendChecked(list, name, value);
        }
    }

    function fillFromPairs(list, init, iterate) {
        const where = 'Headers contructor: init';
        const pairs = [];
        const outer = { [Symbol.iterator]: () => Reflect.apply(iterate, init, []) };
        let index = 0;
        for (const item of outer) {
            if (!idl.isObject(item) || typeof item[Symbol.iterator] !== 'function') {
                const shown = typeof item === 'string' ? `"${item}"` : String(item);
                throw new TypeError(`${where}[${index}] (${shown}) is not iterable.`);
            }
            const pair = [];
            for (const part of item) {
                pair.push(toByteString(part, `${where}[${index}][${pair.length}]`));
            }
            pairs.push(pair);
            index += 1;
        }
        for (const pair of pairs) {
            if (pair.length !== 2) {
                throw new TypeError(`Headers constructor: expected name/value pair to be length 2, found ${pair.length}.`);
            }
            appendChecked(list, pair[0], trimValue(pair[1]));
        }
    }

    class Headers {
        #list;

        constructor(init = undefined) {
            if (init === INTERNAL) {
                return;
            }
            this.#list = new HeaderList('none');
            if (init !== undefined) {
                fill(this.#list, init);
            }
        }

        static {
            listOf = (value) => {
                if (value === null || typeof value !== 'object' || !(#list in value)) {
                    throw illegal();
                }
                return value.#list;
            };
            // A Headers object over a list that library code made.
            wrapList = (list) => {
                const headers = new Headers(INTERNAL);
                headers.#list = list;
                return headers;
            };
            isHeaders = (value) => value !== null && typeof value === 'object' && #list in value;
        }

        append(name, value) {
            const list = listOf(this);
            needArguments('Headers.append', arguments.length, 2);
            const key = toByteString(name, 'Headers.append: name');
            appendChecked(list, key, toValue(value, 'Headers.append: value'));
        }

        delete(name) {
            const list = listOf(this);
            needArguments('Headers.delete', arguments.length, 1);
            const key = toByteString(name, 'Headers.delete: name');
            checkName(key, 'Headers.delete');
            checkGuard(list);
            list.delete(key);
        }

        get(name) {
            const list = listOf(this);
            needArguments('Headers.get', arguments.length, 1);
            const key = toByteString(name, 'Headers.get: name');
            checkName(key, 'Headers.get');
            return list.get(key);
        }

        has(name) {
            const list = listOf(this);
            needArguments('Headers.has', arguments.length, 1);
            const key = toByteString(name, 'Headers.has: name');
            checkName(key, 'Headers.has');
            return list.has(key);
        }

        set(name, value) {
            const list = listOf(this);
            needArguments('Headers.set', arguments.length, 2);
            const key = toByteString(name, 'Headers.set: name');
            const trimmed = toValue(value, 'Headers.set: value');
            checkName(key, 'Headers.set');
            if (!isValue(trimmed)) {
                throw new TypeError(`Headers.set: "${trimmed}" is an invalid header value.`);
            }
            checkGuard(list);
            list.set(key, trimmed);
        }

        getSetCookie() {
            return listOf(this).cookies.slice();
        }
    }

    idl.define(Headers);
    need('body_iterate').addIteration(Headers, 'Headers', (value) => {
        const list = listOf(value);
        return () => list.sortedPairs();
    }, needArguments);
    idl.inspectAs(Headers, (headers) => {
        const fields = {};
        for (const { name, value } of listOf(headers).map.values()) {
            fields[name] = value;
        }
        return ['Headers', fields];
    });

    return {
        Headers, HeaderList, listOf, wrapList, isHeaders, fill, isToken, isValue, toByteString, needArguments, illegal,
    };
})
