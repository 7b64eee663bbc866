// Pointers: reading, writing, bytes, bounds, ends.
import ffi from 'weft:ffi';
import { file, thrown } from './ffi_library.mjs';

const lib = ffi.open(file, {
    sum_bytes: ['i64', ['pointer', 'size_t']], fill: ['void', ['pointer', 'size_t', 'int']], text_of: ['pointer', ['int']],
    counter: { variable: 'int' }, motto: { variable: 'string' }, table: { variable: ffi.array('int', 4) },
    origin: { variable: ffi.struct({ x: 'int', y: 'double' }) }, next_counter: ['int', []], look_at_origin: ['double', []],
    where: { symbol: 'counter', address: true }, adder: { symbol: 'next_counter', address: true },
});

const memory = ffi.alloc(32);
console.log(memory.size, typeof memory.address, memory.toBytes().every((byte) => byte === 0), memory instanceof ffi.Pointer);
console.log([1, 5, 17, 100, 5000].every((size) => ffi.alloc(size).address % 16n === 0n));
memory.write('i32', -5);
memory.write('double', 2.5, 8);
memory.write('u64', 2n ** 64n - 1n, 16);
memory.write(ffi.array('u16', 2), [1, 65535], 24);
memory.write('pointer', memory, 1); // places need not be aligned
console.log(memory.read('pointer', 1).address === memory.address);
memory.write('i32', -5);
console.log(memory.read('i32'), memory.read('double', 8), memory.read('u64', 16), memory.read(ffi.array('u16', 2), 24));
console.log(memory.toBytes(4, 16), memory.add(16).toBytes(4), memory.add(32).size, lib.sum_bytes(memory.add(16), 8));
memory.setBytes(Uint8Array.of(1, 2, 3), 29);
memory.setBytes(new ArrayBuffer(4), 8);
console.log(memory.toBytes(3, 29), memory.toBytes(5, 8));
const window = new Uint8Array(memory.toBuffer(8, 16));
lib.fill(memory.add(16), 8, 7);
window[0] = 9;
console.log(window.join(), memory.read('u8', 16));

// Beyond the end, and after it.
for (const fn of [() => memory.read('i32', 29), () => memory.write('double', 1, 25), () => memory.toBytes(33),
    () => memory.setBytes(new Uint8Array(4), 30), () => memory.add(33), () => memory.add(-1), () => memory.read('i32', -4),
    () => memory.read('i32', 0.5), () => memory.toBytes('4'), () => memory.setBytes([1]), () => memory.write('i8', 128),
    () => memory.read('buffer'), () => memory.read('void'), () => ffi.alloc(-1), () => ffi.alloc(1.5), () => ffi.alloc('5'),
    () => ffi.alloc(),
    () => ffi.alloc(2 ** 52), () => ffi.alloc(NaN), () => new ffi.Pointer(), () => ffi.pointer(5),
    () => memory.write('string', 'x'),
    () => Object.getPrototypeOf(memory).read.call({}, 'int')])
    console.log(thrown(fn));
const part = memory.add(4);
memory.free();
console.log(thrown(() => memory.read('u8')), thrown(() => lib.sum_bytes(memory, 1)), thrown(() => memory.free()),
    part.read('u8', 12));
console.log(thrown(() => part.free()), thrown(() => lib.where.free()), window[1]);

// Texts and addresses.
const text = ffi.string('naïve 😀');
console.log(ffi.cstring(text), text.size, ffi.cstring(lib.text_of(1)), ffi.cstring(lib.text_of(1), 3), lib.text_of(4));
console.log(thrown(() => ffi.cstring(null)), thrown(() => ffi.string('a\0')), thrown(() => ffi.string(5)));
console.log(ffi.pointer(text.address).read('u8'), ffi.pointer(0n), ffi.pointer(null));

// Variables of the library.
console.log(lib.counter, lib.next_counter(), lib.counter, lib.where.read('int'), lib.motto);
lib.counter = 41;
lib.table = [1, 2, 30, 4];
lib.table.set(0, 5);
lib.origin.x = 10;
const motto = ffi.string('ad astra');
lib.motto = motto;
console.log(lib.next_counter(), [...lib.table], lib.look_at_origin(), lib.motto, thrown(() => { lib.counter = 'x'; }));
const next = ffi.bind(lib.adder, ['int', []], 'next');
console.log(next(), next.name, thrown(() => ffi.bind(null, ['int', []])), thrown(() => ffi.bind(lib.adder, 'int')));
