// SPDX-License-Identifier: MIT
// structuredClone.
const attempt = (f) => {
    try {
        return String(f());
    } catch (error) {
        return `throws ${error.name}: ${error.message}`;
    }
};
const name = (f) => {
    try {
        f();
        return 'nothing thrown';
    } catch (error) {
        return `${error.name} ${error.code === 25 ? 25 : ''}`.trim();
    }
};
const log = (...parts) => console.log(parts.join(' '));
const kind = (value) => Object.prototype.toString.call(value);

// Primitives.
for (const value of [undefined, null, true, false, 0, -0, 1.5, NaN, Infinity, '', 'text', '\ud800', 10n, -5n]) {
    const copy = structuredClone(value);
    log(typeof value, Object.is(copy, value));
}
log(attempt(() => structuredClone(Symbol('s'))), attempt(() => structuredClone(Symbol.iterator)));

// Boxed.
for (const value of [Object(true), Object(false), Object(-0), Object(3), Object('abc'), Object(''), Object(7n)]) {
    const copy = structuredClone(value);
    log(kind(copy), copy !== value, Object.is(copy.valueOf(), value.valueOf()), Object.keys(copy).join());
}
log(name(() => structuredClone(Object(Symbol('x')))));

// Dates and regular expressions.
log(structuredClone(new Date(12345)).getTime(), structuredClone(new Date(NaN)).getTime(),
    kind(structuredClone(new Date(0))));
const expression = /a(b)[/]/giu;
expression.lastIndex = 4;
expression.extra = 1;
const copied = structuredClone(expression);
log(String(copied), copied.flags, copied.lastIndex, copied.extra, copied !== expression,
    String(structuredClone(new RegExp(''))));

// Plain objects: order, getters, prototypes, what is left out.
const calls = [];
const source = {
    z: 1, 2: 'two', a: 2, 1: 'one',
    get g() {
        calls.push('g');
        return { inner: true };
    },
    [Symbol('s')]: 'hidden',
};
Object.defineProperty(source, 'secret', { value: 1, enumerable: false });
const plain = structuredClone(source);
log(Object.keys(plain).join(), plain.g.inner, calls.join(), Object.getOwnPropertySymbols(plain).length, 'secret' in plain);
const d = Object.getOwnPropertyDescriptor(plain, 'g');
log(d.writable, d.enumerable, d.configurable, d.get);
class Point {
    #hidden = 1;
    x = 1;
    get y() {
        return 2;
    }
}
const point = structuredClone(new Point());
log(point.constructor === Object, JSON.stringify(point), point instanceof Point);
const bare = Object.assign(Object.create(null), { a: 1 });
log(Object.getPrototypeOf(structuredClone(bare)) === Object.prototype, structuredClone(Object.create({ up: 1 })).up);
const proto = JSON.parse('{"__proto__": {"x": 1}, "toString": 5}');
const protoCopy = structuredClone(proto);
log(Object.keys(protoCopy).join(), Object.getPrototypeOf(protoCopy) === Object.prototype, protoCopy.toString);
log(attempt(() => structuredClone({ get a() { throw new RangeError('from getter'); } })));
const removing = {
    get a() {
        delete this.b;
        this.c = 'added';
        return 1;
    },
    b: 2,
};
log(JSON.stringify(structuredClone(removing)));
log(Object.isFrozen(structuredClone(Object.freeze({ a: 1 }))),
    Object.isExtensible(structuredClone(Object.preventExtensions({}))));

// Arrays.
const array = [1, , 3, undefined];
array.named = 'n';
const arrayCopy = structuredClone(array);
log(arrayCopy.length, 1 in arrayCopy, 3 in arrayCopy, Object.keys(arrayCopy).join(), Array.isArray(arrayCopy),
    arrayCopy.named);
const sparse = [];
sparse.length = 1000;
sparse[500] = 'x';
log(structuredClone(sparse).length, Object.keys(structuredClone(sparse)).join(), structuredClone([]).length);
class List extends Array {}
log(structuredClone(List.from([1, 2])).constructor === Array);

// Cycles and shared objects.
const cycle = { list: [] };
cycle.self = cycle;
cycle.list.push(cycle, cycle.list);
const cycleCopy = structuredClone(cycle);
log(cycleCopy.self === cycleCopy, cycleCopy.list[0] === cycleCopy, cycleCopy.list[1] === cycleCopy.list,
    cycleCopy !== cycle);
const shared = {};
const sharing = structuredClone([shared, shared, { shared }]);
log(sharing[0] === sharing[1], sharing[2].shared === sharing[0]);

// Maps and sets.
const key = { k: 1 };
const map = new Map([[key, 'v'], ['self', null], [NaN, -0]]);
map.set('self', map);
map.extra = 1;
const mapCopy = structuredClone(map);
log(mapCopy.size, [...mapCopy.keys()][0].k, [...mapCopy.keys()][0] !== key, mapCopy.get('self') === mapCopy,
    mapCopy.get(NaN), mapCopy.extra);
const set = new Set([3, key, 'a']);
set.add(set);
const setCopy = structuredClone(set);
log(setCopy.size, [...setCopy][1].k, setCopy.has(setCopy), kind(setCopy));
const mutating = new Map([[1, { get x() { mutating.set('more', 1); return 0; } }], [2, 2]]);
log([...structuredClone(mutating).keys()].join());

// Errors.
for (const Kind of [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError]) {
    const copy = structuredClone(new Kind('message'));
    log(copy.name, copy.message, copy.constructor === Kind, kind(copy), Object.keys(copy).length, typeof copy.stack);
}
const caused = structuredClone(new Error('outer', { cause: { inner: new TypeError('inner') } }));
log(caused.cause.inner.message, caused.cause.inner instanceof TypeError, Object.getOwnPropertyDescriptor(caused,
    'cause').enumerable);
log('cause' in structuredClone(new Error('x')), Object.hasOwn(structuredClone(new Error()), 'message'));
const renamed = new TypeError('x');
renamed.name = 'Other';
renamed.extra = 1;
log(structuredClone(renamed).name, structuredClone(renamed).constructor === Error, structuredClone(renamed).extra);
const odd = new Error('x');
odd.message = 12;
log(typeof structuredClone(odd).message);
class Own extends RangeError {}
log(structuredClone(new Own('m')).constructor === RangeError, structuredClone(new AggregateError([1],
    'm')).constructor === Error);

// Buffers and views.
const buffer = new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8]).buffer;
const bufferCopy = structuredClone(buffer);
log(kind(bufferCopy), bufferCopy.byteLength, bufferCopy !== buffer, new Uint8Array(bufferCopy).join(),
    bufferCopy.resizable);
const views = [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array,
    Float32Array, Float64Array,
    BigInt64Array, BigUint64Array, DataView].map((View) => new View(buffer));
const viewCopies = structuredClone(views);
log(viewCopies.map((view) => view.constructor.name).join());
log(viewCopies.every((view) => view.buffer === viewCopies[0].buffer), viewCopies[0].buffer !== buffer);
const part = structuredClone(new Uint8Array(buffer, 2, 3));
log(part.byteOffset, part.length, part.buffer.byteLength, part.join());
const data = structuredClone(new DataView(buffer, 1, 4));
log(data.byteOffset, data.byteLength, data.getUint8(0));
const resizable = new ArrayBuffer(8, { maxByteLength: 16 });
const [tracking, fixed] = structuredClone([new Uint8Array(resizable, 2), new Uint8Array(resizable, 2, 6)]);
tracking.buffer.resize(12);
log(tracking.buffer.resizable, tracking.buffer.maxByteLength, tracking.length, fixed.length, resizable.byteLength);
const sharedBuffer = new SharedArrayBuffer(4);
const sharedCopy = structuredClone(sharedBuffer);
new Uint8Array(sharedBuffer)[0] = 42;
log(kind(sharedCopy), new Uint8Array(sharedCopy)[0]);

// Transfers.
const given = new Uint8Array([9, 8, 7]).buffer;
const view = new Uint8Array(given, 1);
const moved = structuredClone({ given, view }, { transfer: [given] });
log(given.byteLength, view.length, moved.given.byteLength, moved.view.join(), moved.view.buffer === moved.given);
log(name(() => structuredClone(given)), name(() => structuredClone(view)));
const unused = new ArrayBuffer(3);
log(structuredClone(1, { transfer: [unused] }), unused.byteLength);
const kept = new ArrayBuffer(3);
log(name(() => structuredClone({ f() {} }, { transfer: [kept] })), kept.byteLength);
log(name(() => structuredClone(1, { transfer: [kept, kept] })), kept.byteLength);
log(name(() => structuredClone(1, { transfer: [1] })), name(() => structuredClone(1, { transfer: 1 })));
const growing = new ArrayBuffer(2, { maxByteLength: 4 });
const grown = structuredClone(growing, { transfer: new Set([growing]) });
log(growing.byteLength, grown.byteLength, grown.resizable, grown.maxByteLength);
log(structuredClone('x', {}), structuredClone('x', undefined), structuredClone('x', { transfer: [] }),
    structuredClone('x', null));

// What cannot be cloned.
log(attempt(() => structuredClone(() => 1)));
log(attempt(() => structuredClone({ a: [function named() {}] })));
log(attempt(() => structuredClone(class A {})));
log(attempt(() => structuredClone(new WeakMap())));
log(attempt(() => structuredClone(new WeakSet())));
log(attempt(() => structuredClone(new WeakRef({}))));
log(attempt(() => structuredClone(Promise.resolve())));
log(attempt(() => structuredClone(new Proxy({}, {}))));
log(name(() => structuredClone((function* () {})())), name(() => structuredClone([].values())),
    name(() => structuredClone(new Map().keys())));
log(name(() => structuredClone((function () { return arguments; })(1))), name(() => structuredClone(new Proxy([], {}))));
log(name(() => structuredClone({ deep: { deeper: [Symbol('x')] } })),
    name(() => structuredClone(new Map([[Symbol('x'), 1]]))));
log(name(() => structuredClone()), name(() => structuredClone(1, 2)));

// A long list of links.
let chain = null;
for (let i = 0; i < 500; i++) {
    chain = { next: chain, i };
}
let count = 0;
for (let at = structuredClone(chain); at !== null; at = at.next) {
    count++;
}
log(count);
