// node:string_decoder: all ways of cutting.
'use strict';
const { StringDecoder } = require('node:string_decoder');
const { Buffer } = require('node:buffer');
const samples = {
    utf8: ['a€b', '𝄞x', 'grüße', Buffer.from([0xe2, 0x82]), Buffer.from([0xf0, 0x9d, 0x84, 0x41]), Buffer.from([0xff, 0xe2, 0x41]), Buffer.from([0xc0, 0x80]), Buffer.from([0xed, 0xa0, 0x80]),
        Buffer.from([0x80, 0x80]), Buffer.from([0xf5, 0x80, 0x80]), Buffer.from([0xe0, 0x80, 0x80]), Buffer.from([0xf4, 0x90, 0x80, 0x80])],
    utf16le: ['a€𝄞', Buffer.from([0x3d, 0xd8]), Buffer.from([0x41, 0x00, 0x42]), Buffer.from([0x3d, 0xd8, 0x41])],
    base64: ['a', 'ab', 'abc', 'abcd'], base64url: ['a??', 'a?>x'], hex: ['ab'], latin1: ['é'], ascii: ['abc'],
};
for (const encoding of Object.keys(samples)) {
    for (const sample of samples[encoding]) {
        const bytes = typeof sample === 'string' ? Buffer.from(sample, encoding === 'utf16le' ? 'utf16le' : 'utf8') : sample;
        for (let size = 1; size <= 4; size++) {
            const decoder = new StringDecoder(encoding);
            const parts = [];
            for (let i = 0; i < bytes.length; i += size)
                parts.push(decoder.write(bytes.subarray(i, i + size)));
            parts.push(decoder.end());
            console.log(encoding, bytes.toString('hex'), size, JSON.stringify(encoding === 'utf8' && sample !== 'a€b' ? parts.join('') : parts));
        }
    }
}
const decoder = new StringDecoder();
console.log(decoder.encoding, JSON.stringify(decoder.end(Buffer.from([0xe2, 0x82]))), JSON.stringify(decoder.write(Buffer.from('x'))), decoder.write('text'));
console.log(decoder.write(new Uint8Array([0xe2])) === '', decoder.write(new DataView(Uint8Array.of(0x82, 0xac).buffer)), decoder.end() === '');
console.log(new StringDecoder('UTF-16LE').encoding, new StringDecoder('binary').encoding, new StringDecoder(null).encoding);
for (const bad of ['nothing', 5]) {
    try {
        new StringDecoder(bad);
    } catch (error) {
        console.log(error.name, error.code, error.message);
    }
}
try {
    decoder.write(5);
} catch (error) {
    console.log(error.name, error.code, error.message);
}
