// SPDX-License-Identifier: MIT
// js/lib/url_search.js - URLSearchParams.
(function (host, need) {
    'use strict';

    const idl = need('idl');
    const { percentEncode, percentDecode } = need('url_host');

    // Access to the private state for the class URL.
    let inside;

    function decodePart(text) {
        return percentDecode(text.includes('+') ? text.replaceAll('+', ' ') : text);
    }

    function encodePart(text) {
        return percentEncode(text, 'component').replace(/%20|[!'()~]/g, (letter) =>
            letter === '%20' ? '+' : `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);
    }

    function parseList(text) {
        const list = [];
        for (const part of text.split('&')) {
            if (part !== '') {
                const sign = part.indexOf('=');
                list.push(sign < 0 ? [decodePart(part), ''] :
                    [decodePart(part.slice(0, sign)), decodePart(part.slice(sign + 1))]);
            }
        }
        return list;
    }

    function serializeList(list) {
        return list.map(([name, value]) => `${encodePart(name)}=${encodePart(value)}`).join('&');
    }

    function badPair() {
        const error = new TypeError('Each query pair must be an iterable [name, value] tuple');
        error.code = 'ERR_INVALID_TUPLE';
        return error;
    }

    function fromSequence(value) {
        const pairs = idl.toSequence(value, 'The argument of URLSearchParams', (pair) => {
            if (!idl.isObject(pair) || typeof pair[Symbol.iterator] !== 'function') {
                throw badPair();
            }
            return idl.toSequence(pair, 'A query pair', idl.toUSVString);
        });
        for (const pair of pairs) {
            if (pair.length !== 2) {
                throw badPair();
            }
        }
        return pairs;
    }

    function fromRecord(object) {
        const found = new Map();
        for (const key of Reflect.ownKeys(object)) {
            const descriptor = Reflect.getOwnPropertyDescriptor(object, key);
            if (descriptor !== undefined && descriptor.enumerable) {
                const name = idl.toUSVString(key);
                found.set(name, idl.toUSVString(object[key]));
            }
        }
        return [...found];
    }

    const iteratorPrototype = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()));

    class URLSearchParamsIterator {
        #list;
        #kind;
        #index = 0;
        // The list is asked for each time: what was added meanwhile is seen.
        constructor(list, kind) {
            this.#list = list;
            this.#kind = kind;
        }
        next() {
            if (typeof this !== 'object' || this === null || !(#list in this)) {
                throw idl.illegalInvocation();
            }
            const list = this.#list();
            if (this.#index >= list.length) {
                return { value: undefined, done: true };
            }
            const [name, value] = list[this.#index++];
            return { value: this.#kind === 0 ? name : this.#kind === 1 ? value : [name, value], done: false };
        }
        static has(value) {
            return #list in value;
        }
        static rest(iterator) {
            const list = iterator.#list().slice(iterator.#index);
            return iterator.#kind === 2 ? list.map((pair) => [...pair]) : list.map((pair) => pair[iterator.#kind]);
        }
    }
    Object.setPrototypeOf(URLSearchParamsIterator.prototype, iteratorPrototype);
    delete URLSearchParamsIterator.prototype.constructor;
    Object.defineProperties(URLSearchParamsIterator.prototype, {
        next: { enumerable: true },
        [Symbol.toStringTag]: { value: 'URLSearchParams Iterator', configurable: true },
        [idl.inspectSymbol]: {
            value(depth, options, inspect) {
                if (!URLSearchParamsIterator.has(this)) {
                    return this;
                }
                const parts = URLSearchParamsIterator.rest(this).map((item) => inspect(item, options));
                return `URLSearchParams Iterator { ${parts.join(', ')} }`;
            },
            configurable: true, writable: true,
        },
    });

    class URLSearchParams {
        #list = [];
        // Called after each change if the object belongs to a URL.
        #changed = undefined;

        static #of(value) {
            if (typeof value !== 'object' || value === null || !(#list in value)) {
                throw idl.illegalInvocation();
            }
            return value;
        }

        static {
            inside = {
                make(text, changed) {
                    const params = new URLSearchParams();
                    params.#list = parseList(text);
                    params.#changed = changed;
                    return params;
                },
                replace(params, text) {
                    params.#list = parseList(text);
                },
                list: (params) => params.#list,
                isParams: (value) => typeof value === 'object' && value !== null && #list in value,
            };
        }

        constructor(init = undefined) {
            if (init === undefined || init === null) {
                return;
            }
            if (idl.isObject(init)) {
                const method = init[Symbol.iterator];
                this.#list = method === undefined || method === null ? fromRecord(init) : fromSequence(init);
            } else {
                const text = idl.toUSVString(init);
                this.#list = parseList(text[0] === '?' ? text.slice(1) : text);
            }
        }

        #update() {
            this.#changed?.(serializeList(this.#list));
        }

        get size() {
            return URLSearchParams.#of(this).#list.length;
        }
        append(name, value) {
            const self = URLSearchParams.#of(this);
            idl.needArguments('append', arguments.length, 2);
            name = idl.toUSVString(name);
            self.#list.push([name, idl.toUSVString(value)]);
            self.#update();
        }
        delete(name, value = undefined) {
            const self = URLSearchParams.#of(this);
            idl.needArguments('delete', arguments.length, 1);
            name = idl.toUSVString(name);
            value = value === undefined ? undefined : idl.toUSVString(value);
            self.#list = self.#list.filter((pair) => pair[0] !== name || (value !== undefined && pair[1] !== value));
            self.#update();
        }
        get(name) {
            const self = URLSearchParams.#of(this);
            idl.needArguments('get', arguments.length, 1);
            name = idl.toUSVString(name);
            const found = self.#list.find((pair) => pair[0] === name);
            return found === undefined ? null : found[1];
        }
        getAll(name) {
            const self = URLSearchParams.#of(this);
            idl.needArguments('getAll', arguments.length, 1);
            name = idl.toUSVString(name);
            return self.#list.filter((pair) => pair[0] === name).map((pair) => pair[1]);
        }
        has(name, value = undefined) {
            const self = URLSearchParams.#of(this);
            idl.needArguments('has', arguments.length, 1);
            name = idl.toUSVString(name);
            value = value === undefined ? undefined : idl.toUSVString(value);
            return self.#list.some((pair) => pair[0] === name && (value === undefined || pair[1] === value));
        }
        set(name, value) {
            const self = URLSearchParams.#of(this);
            idl.needArguments('set', arguments.length, 2);
            name = idl.toUSVString(name);
            value = idl.toUSVString(value);
            const first = self.#list.find((pair) => pair[0] === name);
            if (first === undefined) {
                self.#list.push([name, value]);
            } else {
                first[1] = value;
                self.#list = self.#list.filter((pair) => pair === first || pair[0] !== name);
            }
            self.#update();
        }
        sort() {
            const self = URLSearchParams.#of(this);
            self.#list.sort((a, b) => a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0);
            self.#update();
        }
        entries() {
            const self = URLSearchParams.#of(this);
            return new URLSearchParamsIterator(() => self.#list, 2);
        }
        forEach(callback, thisArgument = undefined) {
            const self = URLSearchParams.#of(this);
            idl.needArguments('forEach', arguments.length, 1);
            if (typeof callback !== 'function') {
                throw new TypeError('The callback of forEach must be a function');
            }
            for (let i = 0; i < self.#list.length; i++) {
                const [name, value] = self.#list[i];
                Reflect.apply(callback, thisArgument, [value, name, self]);
            }
        }
        keys() {
            const self = URLSearchParams.#of(this);
            return new URLSearchParamsIterator(() => self.#list, 0);
        }
        values() {
            const self = URLSearchParams.#of(this);
            return new URLSearchParamsIterator(() => self.#list, 1);
        }
        toString() {
            return serializeList(URLSearchParams.#of(this).#list);
        }
    }
    Object.defineProperty(URLSearchParams.prototype, Symbol.iterator, {
        value: URLSearchParams.prototype.entries, writable: true, enumerable: false, configurable: true,
    });
    Object.defineProperty(URLSearchParams.prototype, idl.inspectSymbol, {
        value(depth, options, inspect) {
            if (!inside.isParams(this)) {
                return this;
            }
            if (typeof depth === 'number' && depth < 0) {
                return '[Object]';
            }
            const parts = inside.list(this).map(([name, value]) =>
                `${inspect(name, options)} => ${inspect(value, options)}`);
            const width = parts.reduce((sum, part) => sum + part.length + 2, 0) - 2;
            if (parts.length === 0) {
                return 'URLSearchParams {}';
            }
            if (width <= (options?.breakLength ?? 80)) {
                return `URLSearchParams { ${parts.join(', ')} }`;
            }
            return `URLSearchParams {\n  ${parts.join(',\n  ')} }`;
        },
        writable: true, enumerable: false, configurable: true,
    });
    idl.define(URLSearchParams);

    return {
        URLSearchParams, makeParams: inside.make, replaceParams: inside.replace, isURLSearchParams: inside.isParams,
        parseList, serializeList,
    };
})
