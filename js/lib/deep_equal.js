// SPDX-License-Identifier: MIT
// js/lib/deep_equal.js - deep equality, strict and loose, for util.isDeepStrictEqual and node:assert.
// host: typeTag(value), isProxy(value).
(function (host, need) {
    'use strict';

    const { className } = need('inspect_kinds');
    const BOXED = ['Number', 'String', 'Boolean', 'BigInt', 'Symbol'];
    const VIEW = /Array$/;

    function isObject(value) {
        return value !== null && typeof value === 'object';
    }

    function looselyEqual(a, b) {
        // Loose on purpose.
        return a == b || (a !== a && b !== b);
    }

    function enumerableSymbols(value) {
        return Object.getOwnPropertySymbols(value).filter((key) => Object.prototype.propertyIsEnumerable.call(value, key));
    }

    function sameBytes(a, b, isFloat, strict) {
        if (a.byteLength !== b.byteLength) return false;
        if (isFloat && !strict) {
            for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
            return true;
        }
        const left = new Uint8Array(a.buffer || a, a.byteOffset || 0, a.byteLength);
        const right = new Uint8Array(b.buffer || b, b.byteOffset || 0, b.byteLength);
        return left.every((byte, i) => byte === right[i]);
    }

    // What the kinds keep inside. True, false, or undefined where there is nothing inside to compare.
    function sameInside(a, b, kind, strict) {
        switch (kind) {
        case 'Date': return Date.prototype.getTime.call(a) === Date.prototype.getTime.call(b) ? undefined : false;
        case 'RegExp':
            return a.source === b.source && a.flags === b.flags && a.lastIndex === b.lastIndex ? undefined : false;
        case 'ArrayBuffer':
        case 'SharedArrayBuffer':
        case 'DataView':
            return sameBytes(a, b, false, strict) ? undefined : false;
        }
        if (BOXED.includes(kind)) {
            const valueOf = globalThis[kind].prototype.valueOf;
            return Object.is(valueOf.call(a), valueOf.call(b)) ? undefined : false;
        }
        if (kind !== 'Array' && VIEW.test(kind)) return sameBytes(a, b, kind.startsWith('Float'), strict) ? undefined :
            false;
        return undefined;
    }

    function isErrorLike(value, kind) {
        return kind === 'Error' || value instanceof Error;
    }

    class Comparison {
        constructor(strict) {
            this.strict = strict;
            this.left = [];
            this.right = [];
        }

        equal(a, b) {
            if (a === b) return a !== 0 || !this.strict || Object.is(a, b);
            if (this.strict) {
                if (typeof a !== 'object') return typeof a === 'number' && Object.is(a, b);
                if (typeof b !== 'object' || a === null || b === null) return false;
                if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
            } else {
                if (!isObject(a)) return !isObject(b) && looselyEqual(a, b) && typeof a !== 'function' &&
                    typeof b !== 'function';
                if (!isObject(b)) return false;
            }
            return this.equalObjects(a, b);
        }

        equalObjects(a, b) {
            if (Object.prototype.toString.call(a) !== Object.prototype.toString.call(b)) return false;
            const kind = className(a);
            if (Array.isArray(a) !== Array.isArray(b) || kind !== className(b)) return false;
            if (sameInside(a, b, kind, this.strict) === false) return false;
            if (isErrorLike(a, kind) && !this.equalErrors(a, b)) return false;
            const isList = Array.isArray(a) || (VIEW.test(kind) && ArrayBuffer.isView(a));
            if (isList && a.length !== b.length) return false;
            if ((kind === 'Map' || kind === 'Set') && a.size !== b.size) return false;
            const keys = this.sharedKeys(a, b, kind, isList);
            return keys !== undefined && this.withoutCycles(a, b, keys, kind);
        }

        // Message and name of errors count although they are not enumerable.
        equalErrors(a, b) {
            if (a.message !== b.message || a.name !== b.name) return false;
            for (const key of ['cause', 'errors']) {
                if (Object.hasOwn(a, key) !== Object.hasOwn(b, key)) return false;
                if (Object.hasOwn(a, key) && !this.equal(a[key], b[key])) return false;
            }
            return true;
        }

        // The keys to compare, or undefined if the two do not have the same ones.
        sharedKeys(a, b, kind, isList) {
            let left = Object.keys(a);
            let right = Object.keys(b);
            if (isList && ArrayBuffer.isView(a)) {
                left = left.slice(a.length);
                right = right.slice(b.length);
            }
            if (left.length !== right.length) return undefined;
            for (const key of left) if (!Object.prototype.propertyIsEnumerable.call(b, key)) return undefined;
            if (!this.strict) return left;
            const symbols = enumerableSymbols(a);
            if (symbols.length !== enumerableSymbols(b).length) return undefined;
            for (const key of symbols) if (!Object.prototype.propertyIsEnumerable.call(b, key)) return undefined;
            return left.concat(symbols);
        }

        withoutCycles(a, b, keys, kind) {
            const at = this.left.indexOf(a);
            if (at >= 0 && this.right[at] === b) return true;
            this.left.push(a);
            this.right.push(b);
            let same = true;
            if (kind === 'Set') same = this.equalSets(a, b);
            else if (kind === 'Map') same = this.equalMaps(a, b);
            for (let i = 0; same && i < keys.length; i++) same = this.equal(a[keys[i]], b[keys[i]]);
            this.left.pop();
            this.right.pop();
            return same;
        }

        // Members that the other set does not have as they are must have an equal there, each its own.
        equalSets(a, b) {
            const open = [];
            for (const item of a) {
                if (b.has(item)) continue;
                if (this.strict && !isObject(item)) return false;
                open.push(item);
            }
            const candidates = open.length === 0 ? [] : [...b].filter((item) => !a.has(item));
            return open.every((item) => takeFirst(candidates, (other) => this.equal(item, other)));
        }

        equalMaps(a, b) {
            const open = [];
            for (const [key, value] of a) {
                if (b.has(key)) {
                    if (!this.equal(value, b.get(key))) return false;
                } else if (this.strict && !isObject(key)) {
                    return false;
                } else {
                    open.push([key, value]);
                }
            }
            const candidates = open.length === 0 ? [] : [...b].filter(([key]) => !a.has(key));
            return open.every(([key, value]) => takeFirst(candidates,
                ([otherKey, otherValue]) => this.equal(key, otherKey) && this.equal(value, otherValue)));
        }
    }

    function takeFirst(list, test) {
        const index = list.findIndex(test);
        if (index >= 0) list.splice(index, 1);
        return index >= 0;
    }

    function isDeepStrictEqual(a, b) {
        return new Comparison(true).equal(a, b);
    }

    function isDeepEqual(a, b) {
        return new Comparison(false).equal(a, b);
    }

    return { isDeepStrictEqual, isDeepEqual };
})
