// Buffers are passed without a copy; while foreign code uses one it stays where it is.
import ffi from 'weft:ffi';
import { go } from 'weft:go';
import { file, thrown, until } from './ffi_library.mjs';

const lib = ffi.open(file, {
    sum_bytes: ['i64', ['buffer', 'size_t']], fill: ['void', ['buffer', 'size_t', 'int']],
    sum_doubles: ['double', ['buffer', 'size_t']],
    gate_sum: ['i64', ['buffer', 'size_t']],
    gate_pointer: { symbol: 'gate_sum', returns: 'i64', parameters: ['pointer', 'size_t'] },
    gate_count: ['int', []], gate_open: ['void', ['int']],
    both: { symbol: 'sum_bytes', returns: 'i64', parameters: ['pointer', 'size_t'] },
});

const bytes = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);
console.log(lib.sum_bytes(bytes, 8), lib.sum_bytes(bytes.buffer, 4), lib.sum_bytes(bytes.subarray(4), 4), lib.both(bytes, 2));
console.log(lib.sum_bytes(new DataView(bytes.buffer, 6), 2), lib.sum_bytes(null, 0), lib.sum_bytes(Buffer.from('AB'), 2));
console.log(lib.sum_doubles(Float64Array.of(0.5, 1.5, 2), 3), lib.sum_bytes(new Uint8Array(0), 0));
const shared = new Uint8Array(new SharedArrayBuffer(4));
lib.fill(shared, 4, 255);
lib.fill(bytes.subarray(2, 4), 2, 100);
console.log(shared, bytes);
for (const value of [undefined, 'text', [1, 2], 5n, {}, ffi.alloc(8)])
    console.log(thrown(() => lib.sum_bytes(value, 0)));
const gone = new Uint8Array(8);
gone.buffer.transfer();
console.log(thrown(() => lib.sum_bytes(gone, 8)), thrown(() => lib.both(gone.buffer, 8)));

// In use on another thread: neither detached nor resized, and not collected. Afterwards both.
const used = new Uint8Array(new ArrayBuffer(16, { maxByteLength: 64 }));
const first = go(() => lib.gate_sum(used, 16));
const second = lib.gate_sum.async(used.buffer, 16);
const third = lib.gate_sum.async(new Uint8Array(1000).fill(1), 1000);
const kept = lib.gate_pointer.async(freed(), 100);
await until(() => lib.gate_count() === 4);
console.log(thrown(() => used.buffer.transfer()), thrown(() => used.buffer.transferToFixedLength(4)),
    thrown(() => used.buffer.resize(64)));
console.log(thrown(() => structuredClone(used, { transfer: [used.buffer] })));
used.fill(2);
const other = new ArrayBuffer(8, { maxByteLength: 16 });
other.resize(16);
console.log(other.transfer().byteLength, used.byteLength, ArrayBuffer.prototype.transfer.name,
    ArrayBuffer.prototype.resize.length);
lib.gate_open(4);
console.log(await first, await second, await third, await kept);
used.buffer.resize(4);
console.log(used.length, used.buffer.transfer(32).byteLength, used.length);

function freed() {
    const memory = ffi.alloc(100);
    memory.setBytes(new Uint8Array(100).fill(3));
    setTimeout(() => memory.free(), 0);
    return memory;
}

// And in a call that calls back.
const held = new Uint8Array(4);
const sum = ffi.open(null, { qsort: ['void', ['buffer', 'size_t', 'size_t', { callback: ['int', ['pointer', 'pointer']] }]] });
let said;
sum.qsort(held, 2, 1, () => {
    said = thrown(() => held.buffer.transfer());
    return 0;
});
console.log(said);
console.log(held.buffer.transfer().byteLength);
