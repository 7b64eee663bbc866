// Buffer: numbers in all sizes.
'use strict';
const { Buffer } = require('node:buffer');
const show = (value) => (typeof value === 'bigint' ? `${value}n` : Object.is(value, -0) ? '-0' : String(value));
const buffer = Buffer.from([0x80, 0x01, 0xff, 0x7f, 0xfe, 0x10, 0x9a, 0xc4, 0x40, 0x09]);
const fixed = ['UInt8', 'Int8', 'UInt16LE', 'UInt16BE', 'Int16LE', 'Int16BE', 'UInt32LE', 'UInt32BE', 'Int32LE', 'Int32BE', 'FloatLE', 'FloatBE', 'DoubleLE',
    'DoubleBE', 'BigInt64LE', 'BigInt64BE', 'BigUInt64LE', 'BigUInt64BE'];
for (const name of fixed) {
    const read = buffer[`read${name}`];
    console.log(name, read.length, /Int/.test(name) ? read.name : '', [undefined, 0, 1, 2].map((offset) => show(read.call(buffer, offset))).join(' '));
    console.log(buffer[`read${name.replace('UInt', 'Uint')}`] === read, buffer[`write${name.replace('UInt', 'Uint')}`] === buffer[`write${name}`]);
}
const tell = (what, fn) => {
    try {
        console.log(what, show(fn()));
    } catch (error) {
        console.log(what, error.name, error.code, error.message);
    }
};
for (const name of ['UIntLE', 'UIntBE', 'IntLE', 'IntBE']) {
    for (let size = 1; size <= 6; size++)
        tell(`${name} ${size}`, () => buffer[`read${name}`](1, size));
    for (const args of [[0, 0], [0, 7], [0, 1.5], [0], [], ['0', 2], [9, 2], [-1, 2], [1.5, 2], [0, '2']])
        tell(`${name} ${JSON.stringify(args)}`, () => buffer[`read${name}`](...args));
}
for (const offset of [10, -1, 1.5, NaN, Infinity, '1', null, {}, 9])
    for (const name of ['UInt8', 'Int16LE', 'UInt32BE', 'DoubleLE', 'BigInt64BE'])
        tell(`${name} at ${show(offset)}`, () => buffer[`read${name}`](offset));
tell('too short', () => Buffer.alloc(1).readUInt16LE());
tell('too short', () => Buffer.alloc(3).writeDoubleBE(1));
const values = [0, 1, -1, 127, 128, -128, -129, 255, 256, 32767, 32768, -32769, 65535, 65536, 2 ** 31 - 1, 2 ** 31, -(2 ** 31) - 1, 2 ** 32 - 1, 2 ** 32, 1.9, -1.9, NaN,
    Infinity, '12', undefined, null, 2 ** 47, 2 ** 48];
for (const name of fixed.filter((each) => !each.startsWith('Big'))) {
    for (const value of values) {
        const room = Buffer.alloc(8);
        tell(`write${name} ${show(value)}`, () => room[`write${name}`](value));
        console.log(room.toString('hex'));
    }
}
for (const name of ['UIntLE', 'UIntBE', 'IntLE', 'IntBE']) {
    for (const size of [1, 2, 3, 4, 5, 6]) {
        for (const value of [1, -1, 2 ** (8 * size - 1) - 1, 2 ** (8 * size - 1), 2 ** (8 * size) - 1, 2 ** (8 * size), -(2 ** (8 * size - 1))]) {
            const room = Buffer.alloc(8);
            tell(`write${name} ${value} ${size}`, () => room[`write${name}`](value, 1, size));
            console.log(room.toString('hex'));
        }
    }
    tell(name, () => Buffer.alloc(8)[`write${name}`](1, 0, 7));
    tell(name, () => Buffer.alloc(8)[`write${name}`](1, 5, 6));
    tell(name, () => Buffer.alloc(8)[`write${name}`](1, 0));
}
for (const name of ['BigInt64LE', 'BigInt64BE', 'BigUInt64LE', 'BigUInt64BE']) {
    for (const value of [0n, 1n, -1n, 2n ** 63n - 1n, 2n ** 63n, -(2n ** 63n), 2n ** 64n - 1n, 2n ** 64n]) {
        const room = Buffer.alloc(8);
        tell(`write${name} ${show(value)}`, () => room[`write${name}`](value));
        console.log(room.toString('hex'));
    }
    tell('offset', () => Buffer.alloc(9)[`write${name}`](1n, 2));
}
