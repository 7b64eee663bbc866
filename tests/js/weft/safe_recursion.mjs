// SPDX-License-Identifier: MIT
// Recursion without an end is a RangeError, wherever it goes through, on the main stack and on a fiber's.
import assert from 'node:assert';
import { EventEmitter } from 'node:events';
import util from 'node:util';
import { go } from 'weft:go';

const nested = (n, step, first) => {
    for (let i = 0; i < n; i++)
        first = step(first);
    return first;
};
const cases = {
    call: () => (function f() { f(); })(),
    arguments: () => (function f(...a) { f(...a); })(1, 2, 3),
    getter: () => ({ get x() { return this.x; } }).x,
    setter: () => { ({ set x(value) { this.x = value; } }).x = 1; },
    toString: () => `${{ toString() { return `${this}`; } }}`,
    valueOf: () => +{ valueOf() { return +this; } },
    toPrimitive: () => `${{ [Symbol.toPrimitive]() { return `${this}`; } }}`,
    hasInstance: () => {
        const f = Object.defineProperty(() => {}, Symbol.hasInstance, { value: (x) => x instanceof f });
        return 1 instanceof f;
    },
    proxy: () => new Proxy({}, { get: (target, key, self) => self[key] }).x,
    'chain of proxies': () => nested(1e5, (p) => new Proxy(p, {}), {}).x,
    'prototype of itself': () => {
        const target = {};
        const proxy = new Proxy(target, {});
        Object.setPrototypeOf(target, proxy);
        return proxy.x;
    },
    toJSON: () => JSON.stringify({ toJSON() { return JSON.stringify(this); } }),
    'JSON text': () => JSON.parse('['.repeat(1e5) + ']'.repeat(1e5)),
    reviver: () => JSON.parse('[1]', function f() { return JSON.parse('[1]', f); }),
    comparator: () => (function f() { [2, 1].sort(f); })(),
    map: () => (function f() { [1].map(f); })(),
    replacer: () => (function f() { 'a'.replace(/a/, f); })(),
    generator: () => (function* g() { yield* g(); })().next(),
    iterator: () => [...{ [Symbol.iterator]() { return [...this]; } }],
    constructor: () => new (class A { constructor() { new A(); } })(),
    'many superclasses': () => new (nested(20000, (C) => class extends C {}, class {}))(),
    apply: () => (function f() { f.apply(this, arguments); })(),
    Reflect: () => (function f() { Reflect.apply(f, null, []); })(),
    eval: () => { (globalThis.again = () => eval('again()'))(); },
    'text of brackets': () => eval('('.repeat(1e5)),
    'text of arrays': () => eval('['.repeat(1e5) + ']'.repeat(1e5)),
    'text of blocks': () => eval('{'.repeat(1e5) + '}'.repeat(1e5)),
    'text of templates': () => eval('`${'.repeat(1e5) + '1' + '}`'.repeat(1e5)),
    'text of signs': () => eval('!'.repeat(1e6) + '1'),
    'text of a Function': () => new Function('return ' + '('.repeat(1e5) + '1' + ')'.repeat(1e5)),
    'array to string': () => String(nested(1e5, (a) => [a], [])),
    flat: () => nested(1e5, (a) => [a], []).flat(Infinity),
    'join of itself': () => {
        const list = [{ toString: () => list.join() }];
        return list.join();
    },
    destructuring: () => {
        const { a } = { get a() { const { a: inner } = this; return inner; } };
        return a;
    },
    emitter: () => {
        const emitter = new EventEmitter();
        emitter.on('x', () => emitter.emit('x'));
        emitter.emit('x');
    },
    deepEqual: () => assert.deepStrictEqual(nested(1e5, (a) => ({ a }), {}), nested(1e5, (a) => ({ a }), {})),
    'inspect.custom': () => (function f() { util.inspect({ [util.inspect.custom]: f }); })(),
};
for (const [name, fn] of Object.entries(cases)) {
    const told = [];
    for (const run of [async (f) => f(), go]) {
        try {
            told.push(typeof await run(fn));
        } catch (error) {
            told.push(`${error.name}${error.stack.includes('    at ') ? '' : ' without a stack'}`);
        }
    }
    console.log(`${name}:`, ...told);
}

// What is deep, and does not recurse: freeing it, copying it, printing it.
console.log(typeof structuredClone(nested(2e4, (a) => ({ a }), {})));
console.log(util.inspect(nested(1e4, (a) => ({ a }), {}), { depth: Infinity }).length > 1e4);
console.log(nested(3e5, (a) => ({ a }), {}) !== nested(3e5, (a) => () => a, {}));
const error = new Error('x');
Object.defineProperty(error, 'name', { get() { return this.stack; } });
console.log(typeof error.stack);
