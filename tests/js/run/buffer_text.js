// Buffer: encodings, both ways.
'use strict';
const { Buffer } = require('node:buffer');
const encodings = ['utf8', 'UTF-8', 'hex', 'base64', 'base64url', 'latin1', 'binary', 'ascii', 'ucs2', 'UCS-2', 'utf16le', 'utf-16LE'];
const texts = ['', 'a', 'hello', 'grüße', '€', '𝄞 clef', 'a\ud800b', '\udc00', 'ÿ\u0100', '00ff', '0x', 'abc', 'zz', 'aGk', 'aGk=', 'aGk==',
    'a-_/+b', 'YQ==YQ==', 'Y Q\n=', '\ufeffbom', '====', 'a=b', 'x\0y', 'é'.normalize('NFD')];
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
// (Characters above U+00FF in base64 are left out: Node takes their low byte.)
const fits = (text, encoding) => !encoding.startsWith('base64') || !/[^\0-\xff]/.test(text);
for (const encoding of encodings)
    for (const text of texts.filter((each) => fits(each, encoding)))
        console.log(encoding, JSON.stringify(text), hex(Buffer.from(text, encoding)), Buffer.byteLength(text, encoding));
const samples = [[], [0], [0x61, 0x62, 0x63], [0xff, 0xfe, 0xfd], [0xe2, 0x82, 0xac], [0xe2, 0x82], [0xf0, 0x9d, 0x84, 0x9e], [0xf0, 0x9d],
    [0xc0, 0x80], [0xed, 0xa0, 0x80], [0x3d, 0xd8, 0x00, 0xdc], [0x00, 0xd8], [0x41, 0x00, 0x42], [0xef, 0xbb, 0xbf, 0x61], [0xfb, 0xff, 0xbe]];
for (const encoding of encodings)
    for (const sample of samples)
        console.log(encoding, hex(sample), JSON.stringify(Buffer.from(sample).toString(encoding)));
for (const bad of ['nothing', 'utf-7', 'utf 8']) {
    try {
        Buffer.from('a', bad);
    } catch (error) {
        console.log(error.name, error.code, error.message);
    }
    try {
        Buffer.from('a').toString(bad);
    } catch (error) {
        console.log(error.name, error.code, error.message);
    }
    console.log(Buffer.isEncoding(bad), Buffer.byteLength('abc', bad));
}
console.log(encodings.map((name) => Buffer.isEncoding(name)).join(), Buffer.isEncoding(''), Buffer.isEncoding(5), Buffer.isEncoding());
const long = 'x€'.repeat(10000);
for (const encoding of ['utf8', 'utf16le', 'base64', 'hex', 'latin1'])
    console.log(encoding, Buffer.from(Buffer.from(long).toString(encoding), encoding).length);
console.log(Buffer.from(long, 'utf16le').toString('ucs2') === long, Buffer.from(long).toString() === long);
const word = Buffer.from('hello world');
for (const [start, end] of [[0, 5], [6], [-3, 4], [3, 1], [2.7, 5.9], ['2', '4'], [0, 99], [99], [undefined, 3], [null, 3], [NaN, 2], [0, NaN]])
    console.log(String(start), String(end), JSON.stringify(word.toString('utf8', start, end)));
for (const encoding of ['', null, 5]) {
    try {
        console.log(word.toString(encoding, 1, 3));
    } catch (error) {
        console.log(error.code, JSON.stringify(error.message));
    }
}
console.log(word.toString(undefined, 1, 3), Buffer.from('a', '').length, Buffer.from('a', null).length, word.toLocaleString('hex', 0, 2), `${word}`);
const room = Buffer.alloc(8);
for (const args of [['abc'], ['€€€'], ['€€', 3], ['xyz', 6], ['abcdef', 1, 3], ['ffee', 'hex'], ['ffee', 2, 'hex'], ['YWJj', 1, 2, 'base64'], ['ab', 'utf16le'],
    ['ab', 5, 'utf16le'], ['', 0], ['𝄞', 5], ['zz', 0, 'hex'], ['a', 8]])
    console.log(JSON.stringify(args), room.fill(0).write(...args), hex(room));
for (const args of [['a', 9], ['a', -1], ['a', 1.5], ['a', 0, 9], ['a', 0, -1], [5], [undefined], ['a', 0, 1, 'bad'], ['a', {}]]) {
    try {
        console.log(room.write(...args));
    } catch (error) {
        console.log(JSON.stringify(args), error.name, error.code);
    }
}
