// Callbacks: types, errors, nesting, ends; from the main script and from fibers.
import ffi from 'weft:ffi';
import { go, chan } from 'weft:go';
import { file, thrown } from './ffi_library.mjs';

const IntFn = { callback: ['int', ['int']] };
const Point = ffi.struct({ x: 'int', y: 'double' }, 'Point');
const Large = ffi.struct({ id: 'i32', values: ffi.array('double', 8), name: ffi.text(12) }, 'Large');
const any = ['bool', 'i8', 'u8', 'i16', 'u16', 'i32', 'u32', 'i64', 'u64', 'float', 'double', 'pointer', 'string'];
const results = ['bool', 'i8', 'u16', 'i64', 'float', 'double', 'pointer'];
const lib = ffi.open(file, {
    call: ['int', [IntFn, 'int']], call_often: ['int', [IntFn, 'int']], call_any: ['u64', [{ callback: ['u64', any] }]],
    call_point: [Point, [{ callback: { returns: Point, parameters: [Point, Large] } }, 'int']],
    store: ['void', ['pointer']], call_stored: ['int', ['int']],
    fast_stored: { symbol: 'call_stored', returns: 'int', parameters: ['int'], fast: true },
    keep: { symbol: 'store', returns: 'void', parameters: [IntFn] },
    ...Object.fromEntries(results.map((name) => [`take_${name}`, [name, [{ callback: [name, []] }]]])),
});
const libc = ffi.open(null, { qsort: ['void', ['buffer', 'size_t', 'size_t', { callback: ['int', ['pointer', 'pointer']] }]] });

// The classic.
function sorted(values) {
    const list = Int32Array.from(values);
    libc.qsort(list, list.length, 4, (a, b) => a.read('int') - b.read('int'));
    return list.join();
}
const values = Array.from({ length: 200 }, (_, index) => (index * 7919) % 1000);
const expected = [...values].sort((a, b) => a - b).join();
console.log(sorted(values) === expected);
console.log(await go(() => sorted(values) === expected), await Promise.all([1, 2, 3].map(() => go(sorted, [3, 1, 2]))));

// Types in and out.
console.log(lib.call_any((...list) => (console.log(...list), 2n ** 64n - 1n)));
console.log(lib.take_bool(() => true), lib.take_i8(() => -128), lib.take_u16(() => 65535), lib.take_i64(() => -(2n ** 63n)),
    lib.take_float(() => 0.5), lib.take_double(() => Math.PI), lib.take_pointer(() => null), lib.take_pointer(() => 16n).address);
console.log(lib.call_point((point, large) => (console.log(point, large), { x: point.x + large.id, y: 0.25 }), 21));
for (const [name, value] of [['take_i8', 128], ['take_bool', 1], ['take_u16', undefined], ['take_i64', 2 ** 53],
    ['take_double', 'x'],
    ['take_pointer', 5], ['take_i8', Promise.resolve(1)]])
    console.log(thrown(() => lib[name](() => value)));
console.log(thrown(() => lib.call_point(() => ({ x: 1 }), 0)));

// What one throws comes out of the call, and no other is run.
let runs = 0;
const stop = (value) => {
    runs++;
    if (value === 2)
        throw new RangeError(`stopped at ${value}`);
    return value;
};
console.log(thrown(() => lib.call_often(stop, 100)), runs);
console.log(await go(() => thrown(() => lib.call_often(stop, 100))), runs);
console.log(await lib.call_often.async(stop, 100).catch((error) => error.message), runs);
console.log(lib.call_often((value) => value, 10), await lib.call_often.async((value) => value, 10));

// One inside another, to and fro, and waiting inside of one on a fiber.
const nest = (depth) => lib.call((value) => (value === 0 ? 0 : 1 + nest(value - 1)), depth);
console.log(nest(30), await go(nest, 30));
const deeper = (value) => lib.call(deeper, value);
console.log(thrown(() => deeper(1)).includes('stack'), (await go(() => thrown(() => deeper(1)))).includes('stack'), nest(3));
const numbers = chan(0);
const waiting = go(() => lib.call((value) => value + numbers.recv() + lib.call(() => numbers.recv(), 0), 1));
await numbers.send(10);
await numbers.send(100);
console.log(await waiting);
console.log(await go(() => lib.call(() => { throw new Error('after all'); }, 1)).catch((error) => error.message));

// As an object, with an end.
const doubled = ffi.callback(['int', ['int']], (value) => value * 2);
console.log(doubled instanceof ffi.Callback, doubled.pointer instanceof ffi.Pointer, lib.call(doubled, 21),
    lib.call(doubled.pointer, 4));
lib.store(doubled);
console.log(lib.call_stored(5), await lib.call_stored.async(6), thrown(() => lib.fast_stored(7)));
const selfish = ffi.callback(['int', ['int']], () => (selfish.close(), 0));
console.log(thrown(() => lib.call(selfish, 1)));
selfish.close();
selfish.close();
doubled.close();
console.log(thrown(() => lib.call(doubled, 1)), thrown(() => doubled.pointer), thrown(() => lib.store(doubled)));
console.log(thrown(() => lib.call_stored(1)), await go(() => thrown(() => lib.call_stored(1))));
console.log(await lib.call_stored.async(1).catch((error) => error.message));
lib.keep((value) => value); // good for that call only
console.log(thrown(() => lib.call_stored(1)));

// Many, one after another: they are used again.
for (let round = 0; round < 3000; round++)
    if (lib.call((value) => value + round, 1) !== round + 1)
        throw new Error('another one was called');

// What is no callback.
for (const fn of [() => ffi.callback(['int', ['int']]), () => ffi.callback(['string', []], () => 0),
    () => ffi.callback('int', () => 0),
    () => ffi.callback(['int', ['buffer']], () => 0), () => ffi.callback(['int', 'int'], () => 0), () => new ffi.Callback(),
    () => ffi.callback(['int', ['int', '...']], () => 0), () => lib.call(5, 1), () => lib.call({}, 1),
    () => lib.call(undefined, 1),
    () => ffi.open(file, { call: { returns: 'int', parameters: [IntFn, 'int'], fast: true } }),
    () => Object.getPrototypeOf(doubled).close.call({})])
    console.log(thrown(fn));
