// Buffer: making, comparing, searching, copying, filling.
'use strict';
const { Buffer, ...rest } = require('node:buffer');
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
const tell = (what, fn) => {
    try {
        const value = fn();
        console.log(`${what} ${value instanceof Uint8Array ? `${value.constructor.name} ${hex(value)}` : value}`.trimEnd());
    } catch (error) {
        console.log(what, error.name, error.code, error.message);
    }
};
console.log(globalThis.Buffer === Buffer, Object.getPrototypeOf(Buffer) === Uint8Array, Buffer.name, Buffer.length, Buffer.poolSize);
console.log(Object.getPrototypeOf(Buffer.prototype) === Uint8Array.prototype, Buffer.from('a') instanceof Uint8Array);
console.log(rest.constants.MAX_STRING_LENGTH === rest.kStringMaxLength, rest.INSPECT_MAX_BYTES, typeof rest.SlowBuffer, typeof rest.atob);
// ---- from ----
tell('array', () => Buffer.from([1, 256, -1, 1.9, '7', NaN, null, {}]));
tell('array-like', () => Buffer.from({ length: 2, 0: 5, 1: 6 }));
tell('length 0', () => Buffer.from({ length: 0 }));
tell('length text', () => Buffer.from({ length: '3' }));
tell('typed', () => Buffer.from(new Uint16Array([1, 258])));
tell('buffer', () => Buffer.from(Buffer.from('ab')));
tell('json', () => Buffer.from(JSON.parse(JSON.stringify(Buffer.from('xyz')))));
tell('String', () => Buffer.from(new String('boxed')));
tell('primitive', () => Buffer.from({ [Symbol.toPrimitive]: () => 'prim' }));
tell('valueOf', () => Buffer.from({ valueOf: () => [1, 2] }));
const shared = new Uint8Array([1, 2, 3, 4, 5]).buffer;
tell('array buffer', () => Buffer.from(shared, 1, 3));
tell('array buffer', () => Buffer.from(shared, 2));
tell('array buffer', () => Buffer.from(shared, 'x', -1));
tell('array buffer', () => Buffer.from(shared, 6));
tell('array buffer', () => Buffer.from(shared, 0, 6));
Buffer.from(shared)[0] = 99;
console.log(new Uint8Array(shared)[0]);
for (const value of [5, null, undefined, true, Symbol.iterator, 1n, function named() {}, {}, { valueOf: () => 5 }])
    tell(typeof value, () => Buffer.from(value));
// ---- alloc ----
for (const args of [[3], [4, 1], [5, 'ab'], [5, 'YQ==', 'base64'], [3, Buffer.from('xyz!')], [0], [3, ''], [2, 257], [2, -1], [2.5]])
    tell(JSON.stringify(args), () => Buffer.alloc(...args));
for (const args of [['3'], [-1], [NaN], [undefined], [2, 'zz', 'hex'], [2, 'a', 'bad'], [2, new Uint8Array(0)]])
    tell(`alloc ${String(args)}`, () => Buffer.alloc(...args));
console.log(Buffer.allocUnsafe(7).length, Buffer.allocUnsafeSlow(3).length, rest.SlowBuffer(4).length, Buffer.of(1, 2, 300).join());
tell('concat', () => Buffer.concat([Buffer.from('ab'), new Uint8Array([1]), Buffer.alloc(0)]));
tell('concat', () => Buffer.concat([Buffer.from('abcd'), Buffer.from('ef')], 5));
tell('concat', () => Buffer.concat([Buffer.from('ab')], 4));
tell('concat', () => Buffer.concat([]));
tell('concat', () => Buffer.concat('ab'));
tell('concat', () => Buffer.concat([Buffer.from('a'), 'b']));
tell('concat', () => Buffer.concat([Buffer.from('a')], -1));
tell('copyBytesFrom', () => Buffer.copyBytesFrom(new Uint16Array([1, 2, 3]), 1, 1));
console.log(Buffer.isBuffer(Buffer.alloc(1)), Buffer.isBuffer(new Uint8Array(1)), Buffer.isBuffer(null), Buffer.isBuffer('a'));
tell('byteLength', () => Buffer.byteLength(new ArrayBuffer(3)) + Buffer.byteLength(new DataView(new ArrayBuffer(4))));
tell('byteLength', () => Buffer.byteLength(5));
// ---- compare, equals ----
const list = ['b', 'abc', '', 'ab', 'B', 'ü'].map((text) => Buffer.from(text));
console.log(list.sort(Buffer.compare).map(String).join('|'), Buffer.compare(new Uint8Array([1]), Buffer.from([1])));
tell('compare', () => Buffer.compare('a', Buffer.alloc(1)));
tell('compare', () => Buffer.alloc(1).compare([]));
const one = Buffer.from('abcdef'), two = Buffer.from('xxcdex');
for (const args of [[], [2, 5, 2, 5], [2], [0, 0], [2, 5], [0, 6, 6], [4, 2]])
    tell(`compare ${args}`, () => one.compare(two, ...args));
for (const args of [[0, 7], [-1], [0, 6, 0, 7], ['1'], [1.5]])
    tell(`compare ${args}`, () => one.compare(two, ...args));
console.log(one.equals(Buffer.from('abcdef')), one.equals(two), one.equals(new Uint8Array([97])), one.equals(one));
tell('equals', () => one.equals('abcdef'));
// ---- indexOf ----
const text = Buffer.from('this is a buffer, is it');
for (const args of [['is'], ['is', 3], ['is', -5], ['is', 99], ['is', -99], [''], ['', 5], ['', 99], [98], [99.9], [256 + 98], [Buffer.from('buf')], [new Uint8Array([44])],
    ['none'], ['6973', 'hex'], ['aXM=', 4, 'base64'], ['is', null], ['is', undefined], ['is', NaN], ['is', {}], ['is', '3'], ['x'.repeat(99)]])
    tell(JSON.stringify(args), () => [text.indexOf(...args), text.lastIndexOf(...args), text.includes(...args)].join(' '));
const wide = Buffer.from('abcabc', 'utf16le');
console.log(wide.indexOf('b', 0, 'utf16le'), wide.indexOf('b', 3, 'ucs2'), wide.lastIndexOf('a', undefined, 'ucs2'), wide.indexOf('\u6100', 0, 'ucs2'));
tell('indexOf', () => text.indexOf({}));
tell('indexOf', () => text.indexOf('a', 0, 'bad'));
// ---- copy, slice, fill ----
const target = Buffer.alloc(6, '.');
for (const args of [[], [2], [2, 1], [0, 2, 4], [5], [6], [9], [0, 6], [0, 4, 2], ['1', '2', '3'], [0, 1.9]])
    tell(`copy ${args}`, () => `${one.copy(target.fill('.'), ...args)} ${target}`);
for (const args of [[-1], [0, -1], [0, 7], [0, 0, -1]])
    tell(`copy ${args}`, () => one.copy(target, ...args));
tell('copy', () => one.copy('x'));
const over = Buffer.from('abcdef');
over.copy(over, 2, 0, 4);
console.log(String(over));
for (const args of [[], [1], [1, 3], [-2], [-4, -2], [4, 2], ['1', '3'], [1.7, 3.2], [NaN, 2], [99], [0, -99]])
    tell(`slice ${args}`, () => `${one.slice(...args)} ${one.subarray(...args)}`);
const part = one.slice(1, 3);
part[0] = 0x58;
console.log(String(one), part.buffer === one.buffer, part.parent === part.buffer, part.offset === part.byteOffset);
for (const args of [['ab'], [1], ['é'], ['ab', 1], ['ab', 1, 4], ['6162', 'hex'], ['ff', 2, 'hex'], ['ff', 1, 3, 'hex'], [Buffer.from([7, 8, 9])], [''], [true], [null],
    [new Uint16Array([257])], [1.9], ['a', 3, 2]])
    tell(`fill ${JSON.stringify(args)}`, () => Buffer.alloc(5).fill(...args));
for (const args of [['a', -1], ['a', 6], ['a', 0, 6], ['a', 0, -1], ['a', 'bad'], ['a', 0, 1, 'bad'], ['zz', 'hex']])
    tell(`fill ${JSON.stringify(args)}`, () => Buffer.alloc(5).fill(...args));
// ---- the rest ----
tell('swap16', () => Buffer.from('abcdef').swap16());
tell('swap32', () => Buffer.from('abcdefgh').swap32());
tell('swap64', () => Buffer.from('abcdefgh').swap64());
for (const name of ['swap16', 'swap32', 'swap64'])
    tell(name, () => Buffer.from('abc')[name]());
console.log(JSON.stringify(Buffer.from('ab')), JSON.stringify({ b: Buffer.alloc(0) }));
tell('map', () => Buffer.from('ab').map((byte) => byte + 1));
tell('filter', () => Buffer.from('abc').filter((byte) => byte !== 98));
console.log([...Buffer.from('ab').entries()].join(' '), [...Buffer.from('ab').keys()].join(), Buffer.from('ab').reverse().toString());
console.log(Buffer.from('abc'), [Buffer.alloc(0)], { deep: Buffer.alloc(60, 1) }, Buffer.alloc(51));
const extra = Buffer.from('x');
extra.name = 'y';
console.log(extra);
tell('transcode', () => rest.transcode(Buffer.from('€ü'), 'utf8', 'ascii'));
tell('transcode', () => rest.transcode(Buffer.from('ü'), 'utf8', 'latin1'));
tell('transcode', () => rest.transcode(Buffer.from('ü'), 'utf8', 'utf16le'));
console.log(rest.isUtf8(Buffer.from('ü')), rest.isUtf8(Buffer.from([0xff])), rest.isAscii(Buffer.from('a')), rest.isAscii(Buffer.from('ü')));
console.log(Buffer.from('abc').hexSlice(1), Buffer.from('abc').latin1Slice(0, 2), Buffer.alloc(3).utf8Write('xy', 1));
