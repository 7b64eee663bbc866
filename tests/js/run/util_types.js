// SPDX-License-Identifier: MIT
// util.types.
const { types } = require('util');
const L = (...a) => console.log(...a);
const V = { date: new Date(0), args: (function () {
    return arguments;
})(), bigint: Object(1n), bool: Object(true), num: Object(1), str: Object('s'), sym: Object(Symbol('s')), err:
    new Error('e'), terr: new TypeError('e'), fakeErr: Object.create(Error.prototype), re: /x/, async:
    async () => {}, gen: function* () {}, agen: async function* () {}, genobj: (function* () {})(), agenobj:
    (async function* () {})(), promise: Promise.resolve(), thenable: { then() {} }, map: new Map(), set:
    new Set(), mapit: new Map().entries(), setit: new Set().values(), arrit: [].values(), wm: new WeakMap(),
    ws: new WeakSet(), ab: new ArrayBuffer(1), sab: new SharedArrayBuffer(1), dv:
    new DataView(new ArrayBuffer(1)), proxy: new Proxy({}, {}), pmap: new Proxy(new Map(), {}), pfn:
    new Proxy(() => {}, {}), u8: new Uint8Array(1), u8c: new Uint8ClampedArray(1), u16: new Uint16Array(1),
    u32: new Uint32Array(1), i8: new Int8Array(1), i16: new Int16Array(1), i32: new Int32Array(1), f32:
    new Float32Array(1), f64: new Float64Array(1), bi64: new BigInt64Array(1), bu64: new BigUint64Array(1),
    obj: {}, arr: [], fn: () => {}, cls: class {}, nul: null, undef: undefined, n: 1, s: 's', sy: Symbol('x'),
    fakeMap: Object.create(Map.prototype), sub: new (class X extends Map {})(), tagged:
    { [Symbol.toStringTag]: 'Map' } };
for (const k of Object.keys(types)) L(k, types[k].length <= 1,
    Object.keys(V).filter((n) => types[k](V[n])).join());
L(types.isDate(), types.isProxy(), types.isTypedArray());
