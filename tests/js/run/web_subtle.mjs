// Digests of crypto.subtle, and the consumers of node:stream/consumers.
import * as consumers from 'node:stream/consumers';
import { Readable } from 'node:stream';

const hex = (buffer) => Buffer.from(buffer).toString('hex');
for (const name of ['SHA-1', 'sha-256', 'SHA-384', 'SHA-512'])
    console.log(name, hex(await crypto.subtle.digest(name, new TextEncoder().encode('weft'))));
console.log(hex(await crypto.subtle.digest({ name: 'SHA-256' }, new ArrayBuffer(0))));
console.log(hex(await crypto.subtle.digest('SHA-256', new Uint16Array([1, 2, 3]).subarray(1))));
console.log(Object.prototype.toString.call(crypto.subtle), crypto.subtle instanceof SubtleCrypto);
for (const bad of [['MD5', new Uint8Array(1)], ['toString', new Uint8Array(1)], ['SHA-256', 'text'], ['SHA-256', [1, 2]]])
    await crypto.subtle.digest(...bad).then(console.log, (error) => console.log(bad[0], error.name));
await crypto.subtle.digest('SHA-1').catch((error) => console.log(error.name));

const pieces = () => Readable.from([Buffer.from('{"caf'), Buffer.from([0x22, 0x3a, 0x22, 0xc3]), Buffer.from([0xa9, 0x22, 0x7d])]);
console.log(await consumers.text(pieces()));
console.log(await consumers.json(Readable.from(['[1, ', '2]'])));
console.log((await consumers.buffer(pieces())).length, (await consumers.arrayBuffer(pieces())).byteLength);
console.log((await consumers.blob(pieces())).size, await consumers.text(new Response('of the web').body));
await consumers.json(Readable.from(['[1'])).catch((error) => console.log(error.name));
await consumers.text(new Readable({ read() { this.destroy(new Error('broken')); } })).catch((error) => console.log(error.message));
