// SPDX-License-Identifier: MIT
// Deep equality, strict and loose, of each value with each.
const assert = require('assert');
const util = require('util');
const cyc = (n) => { const o = { n }; o.o = o; return o; };
const cyc2 = () => { const o = { n: 1, o: { n: 1 } }; o.o.o = o; return o; };
class A { constructor() { this.x = 1; } }
class B { constructor() { this.x = 1; } }
const s = Symbol('s');
const V = [0, -0, 1, '1', '', NaN, null, undefined, true, false, 1n, s, Symbol('s'), {}, [], { a: 1 }, { a:
    '1' }, { a: undefined }, { b: 1 }, { a: 1, b: 2 }, { b: 2, a: 1 }, [1], ['1'], [1, 2], [2, 1], [, 1],
    [undefined, 1], new Date(0), new Date(0), new Date(1), new Date(NaN), new Date(NaN), /a/, /a/g, /a/,
    new Map(), new Map([[1, 2]]), new Map([['1', 2]]), new Map([[{ a: 1 }, 2]]), new Map([[{ a: 1 }, 2]]),
    new Map([[1, { a: 1 }]]), new Map([[1, { a: 1 }]]), new Set(), new Set([1]), new Set(['1']), new Set([{ a:
    1 }, { a: 2 }]), new Set([{ a: 2 }, { a: 1 }]), new Set([[1], [2]]), new Set([[1], [1]]),
    new Set([undefined]), new Set([null]), new Error('x'), new Error('x'), new TypeError('x'), new Error('y'),
    Object.assign(new Error('x'), { code: 1 }), new Error('x', { cause: 1 }), Object(1), Object(1),
    Object('1'), Object(true), Object(1n), Object(-0), Object(0), new Uint8Array([1]), new Uint8Array([1]),
    new Uint8Array([2]), new Int8Array([1]), new Float32Array([0]), new Float32Array([-0]),
    new Float32Array([NaN]), new Float32Array([NaN]), new ArrayBuffer(2), new ArrayBuffer(2),
    new ArrayBuffer(3), new DataView(new ArrayBuffer(2)), new DataView(new ArrayBuffer(2)), new A(), new A(),
    new B(), { x: 1 }, Object.assign(Object.create(null), { x: 1 }), cyc(1), cyc(1), cyc(2), cyc2(), { [s]:
    1 }, { [s]: 1 }, { [s]: 2 }, Math.max, () => {}, Object.defineProperty({}, 'h', { value: 1 }),
    Object.assign([1], { k: 1 }), Object.assign([1], { k: 2 }), (function () { return arguments; })(1),
    (function () { return arguments; })(1), new WeakSet(), new WeakSet(), Promise.resolve(1),
    Promise.resolve(1), new Set([1, '1']), new Set(['1', 2]), new Map([[null, 1]]), new Map([[undefined, 1]]),
    new Set([[1, { b: new Set([{ c: 1 }]) }]]), new Set([[1, { b: new Set([{ c: 1 }]) }]]), [NaN], [NaN],
    [[0]], [[-0]], 'abc', 'abd', { length: 1, 0: 1 }, { a: { b: { c: 1 } } }, { a: { b: { c: 1 } } }];
const loose = (a, b) => { try { assert.deepEqual(a, b, 'm'); return true; } catch { return false; } };
for (let i = 0; i < V.length; i++) console.log(i, V.map((v) => (util.isDeepStrictEqual(V[i], v) ? 'S' : '.') +
    (loose(V[i], v) ? 'L' : '.')).join(''));
