// Random graphs of objects go to another instance and come back as they were: same kinds, same values, same identities.
// CLONE_SEED is the seed; without it there is always the same one.
import { spawn, channel } from 'weft:parallel';

const SEED = Number(process.env.CLONE_SEED ?? 20), GRAPHS = 300;
console.log(`seed ${SEED}`);
let state = SEED >>> 0;
function random(below) { // mulberry32
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % below;
}
const pick = (list) => list[random(list.length)];

const texts = ['', 'a', 'text', 'äöü', '漢字', '\ud83d\ude00', '\ud800', '\udc00x', 'with\0zero', 'x'.repeat(300), 'Ā'.repeat(70)];
const primitives = [undefined, null, true, false, 0, -0, 1, -1, 2 ** 31, -(2 ** 31), 2 ** 53, 0.1, NaN, Infinity, -Infinity, 5e-324, 0n, -1n,
    2n ** 63n, -(2n ** 64n), 123456789012345678901234567890n, 999999999999999999n];
const views = [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array, Float64Array,
    BigInt64Array, BigUint64Array, DataView];
const errors = [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError];

function leaf() {
    return random(2) ? pick(primitives) : pick(texts);
}

// An object of any kind; some have room for others, which are filled in afterwards.
function make(made) {
    switch (random(16)) {
    case 0: return [];
    case 1: return new Array(random(5));
    case 2: return new Map();
    case 3: return new Set();
    case 4: return new Date(pick([0, 1e12, NaN, -5, random(2 ** 31)]));
    case 5: return new RegExp(pick(['', 'a+', '[/]', '(?<n>x)']), pick(['', 'g', 'iu', 'msy', 'd']));
    case 6: return Object(pick([true, 5, 'boxed', 7n, -0]));
    case 7: return new (pick(errors))(pick(texts));
    case 8: return new Uint8Array(random(40)).map(() => random(256)).buffer;
    case 9: return new ArrayBuffer(8 * random(4), { maxByteLength: 64 });
    case 10: return Object.create(null);
    case 11: {
        const View = pick(views);
        const buffers = made.filter((object) => object instanceof ArrayBuffer && object.byteLength >= 8);
        const buffer = buffers.length > 0 && random(2) ? pick(buffers) : new Uint8Array(64).map(() => random(256)).buffer;
        return random(2) ? new View(buffer, 0, View === DataView ? 8 : 8 / View.BYTES_PER_ELEMENT)
            : buffer.byteLength % 8 === 0 ? new View(buffer) : new Uint8Array(buffer);
    }
    case 12: return new (class Point { x = random(10); })();
    default: return {};
    }
}

function fill(object, made) {
    const value = () => (random(3) ? pick(made) : leaf());
    const count = random(5);
    for (let i = 0; i < count; i++) {
        if (object instanceof Map)
            object.set(value(), value());
        else if (object instanceof Set)
            object.add(value());
        else if (Array.isArray(object))
            random(4) ? object[random(8)] = value() : object[pick(['named', 'key'])] = value();
        else if (object instanceof Error)
            Object.defineProperty(object, 'cause', { value: value(), configurable: true, writable: true });
        else if (Object.prototype.toString.call(object) === '[object Object]')
            object[random(3) ? pick(['a', 'b', 'c', '__proto__x', '', '5', '4294967295', ...texts]) : random(20)] = value();
    }
}

function graph() {
    const made = [{}];
    for (let left = 1 + random(30); left > 0; left--)
        made.push(make(made));
    for (const object of made)
        fill(object, made);
    made[0].all = made;
    return made[0];
}

// Where two graphs differ; undefined: nowhere. Objects are compared once for each pair, and pairs must match one to one.
function difference(one, other, path, pairs = new Map(), back = new Map()) {
    if (Object(one) !== one || Object(other) !== other)
        return Object.is(one, other) ? undefined : `${path}: ${String(one)} and ${String(other)}`;
    if (pairs.has(one) || back.has(other))
        return pairs.get(one) === other && back.get(other) === one ? undefined : `${path}: identity`;
    pairs.set(one, other);
    back.set(other, one);
    const kind = Object.prototype.toString.call(one);
    if (kind !== Object.prototype.toString.call(other))
        return `${path}: ${kind} and ${Object.prototype.toString.call(other)}`;
    const next = (a, b, name) => difference(a, b, `${path}.${name}`, pairs, back);
    const all = (list) => list.find((found) => found !== undefined);
    if (one instanceof Map || one instanceof Set) {
        const [a, b] = [[...one].flat(one instanceof Map ? 1 : 0), [...other].flat(one instanceof Map ? 1 : 0)];
        return a.length === b.length ? all(a.map((value, i) => next(value, b[i], `[${i}]`))) : `${path}: size`;
    }
    if (one instanceof ArrayBuffer)
        return one.resizable === other.resizable && one.maxByteLength === other.maxByteLength
            && `${new Uint8Array(one)}` === `${new Uint8Array(other)}` ? undefined : `${path}: bytes`;
    if (ArrayBuffer.isView(one))
        return one.constructor === other.constructor && one.byteOffset === other.byteOffset && one.byteLength === other.byteLength
            ? next(one.buffer, other.buffer, 'buffer') : `${path}: view`;
    if (one instanceof Date || one instanceof Number || one instanceof String || one instanceof Boolean || one instanceof BigInt)
        return next(one.valueOf(), other.valueOf(), 'value');
    if (one instanceof RegExp)
        return next(String(one), String(other), 'text');
    if (one instanceof Error)
        return all([next(one.message, other.message, 'message'), next(one.name, other.name, 'name'), next(one.stack, other.stack, 'stack'),
            next(Object.hasOwn(one, 'cause'), Object.hasOwn(other, 'cause'), 'has cause'), next(one.cause, other.cause, 'cause')]);
    const [a, b] = [Object.keys(one), Object.keys(other)];
    if (`${a}` !== `${b}` || one.length !== other.length)
        return `${path}: keys ${a} and ${b}`;
    return all(a.map((key) => next(one[key], other[key], key)));
}

const [there, back] = [channel(1), channel(1)];
const echo = spawn(async (from, to) => {
    for await (const value of from)
        await to.send(value);
}, there, back);
let bad = 0;
for (let i = 0; i < GRAPHS; i++) {
    const original = graph();
    await there.send(original);
    const found = difference(original, await back.recv(), 'graph') ?? difference(original, structuredClone(original), 'clone');
    if (found !== undefined && bad++ < 5)
        console.log(`graph ${i}: ${found}`);
}
there.close();
await echo;
console.log(bad === 0 ? 'all the same' : `${bad} differ`);

// Deep, wide and long.
let list = null;
for (let i = 0; i < 200_000; i++)
    list = { list };
let depth = 0;
for (let at = structuredClone(list); at !== null; at = at.list)
    depth++;
const wide = structuredClone(Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`key${i}`, i])));
const long = structuredClone(Array.from({ length: 200_000 }, (_, i) => i));
console.log(depth, Object.keys(wide).length, wide.key49999, long.length, long[199_999]);
