// node:crypto: hashes, HMAC, random numbers.
'use strict';
const crypto = require('node:crypto');
const { Buffer } = require('node:buffer');
const tell = (what, fn) => {
    try {
        console.log(what, fn());
    } catch (error) {
        console.log(what, error.name, error.code);
    }
};
const names = ['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512', 'SHA256', 'sha-1', 'RSA-SHA256'];
for (const name of names)
    for (const text of ['', 'abc', 'grüße', 'x'.repeat(55), 'x'.repeat(56), 'x'.repeat(63), 'x'.repeat(64), 'x'.repeat(65), 'x'.repeat(111),
        'x'.repeat(112), 'x'.repeat(127), 'x'.repeat(128), 'x'.repeat(1000)])
        tell(`${name} ${text.length}`, () => crypto.createHash(name).update(text).digest('hex'));
for (const name of names.slice(0, 6)) {
    const hash = crypto.createHash(name);
    for (let i = 0; i < 40; i++)
        hash.update(Buffer.alloc(i, i));
    console.log(name, hash.copy().digest('base64'), hash.copy().update('more').digest('base64url'), hash.digest('latin1').length);
    tell('again', () => hash.digest());
    tell('again', () => hash.update('x'));
    tell('again', () => hash.copy());
    for (const key of ['', 'key', 'k'.repeat(64), 'k'.repeat(65), 'k'.repeat(128), 'k'.repeat(129), Buffer.from([0xff, 0])])
        console.log(name, crypto.createHmac(name, key).update('what is ').update(Buffer.from('said')).digest('hex'));
}
console.log(crypto.createHash('sha1').update('ff00', 'hex').digest('hex'), crypto.createHash('md5').update(new Uint16Array([1, 2])).digest().length);
console.log(crypto.createHash('md5').update(new DataView(new ArrayBuffer(3))).digest('hex'), Buffer.isBuffer(crypto.createHash('md5').digest()));
tell('unknown', () => crypto.createHmac('nothing', 'k'));
tell('types', () => crypto.createHash(5));
tell('types', () => crypto.createHash('md5').update(5));
tell('types', () => crypto.createHash('md5').update());
tell('types', () => crypto.createHmac('md5', 5));
const hmac = crypto.createHmac('sha1', 'k');
hmac.digest();
console.log(hmac.digest('hex') === '', ['md5', 'sha1', 'sha256', 'sha512'].every((name) => crypto.getHashes().includes(name)));
console.log(crypto.timingSafeEqual(Buffer.from('ab'), Buffer.from('ab')), crypto.timingSafeEqual(Buffer.from('ab'), new Uint8Array([1, 2])));
tell('sizes', () => crypto.timingSafeEqual(Buffer.from('a'), Buffer.from('ab')));
tell('types', () => crypto.timingSafeEqual('a', Buffer.from('a')));
console.log(crypto.randomBytes(16).length, Buffer.isBuffer(crypto.randomBytes(0)), crypto.randomBytes(16).equals(crypto.randomBytes(16)));
for (const size of [-1, '5', NaN, 2 ** 31])
    tell(`size ${size}`, () => crypto.randomBytes(size));
const filled = crypto.randomFillSync(Buffer.alloc(40), 20);
console.log(filled.subarray(0, 20).every((byte) => byte === 0), filled.subarray(20).some((byte) => byte !== 0), crypto.randomFillSync(new Uint32Array(2)).length);
tell('too much', () => crypto.randomFillSync(Buffer.alloc(4), 2, 3));
const drawn = new Set();
for (let i = 0; i < 200; i++)
    drawn.add(crypto.randomInt(3)).add(crypto.randomInt(10, 12));
console.log([...drawn].sort((a, b) => a - b).join());
for (const args of [[0], [5, 5], [5, 1], ['a'], [1.5], [0, 2 ** 48], [2 ** 53]])
    tell(`randomInt ${args}`, () => crypto.randomInt(...args));
console.log(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/.test(crypto.randomUUID()), typeof crypto.webcrypto.getRandomValues);
crypto.randomBytes(3, (error, bytes) => {
    console.log('bytes', error, bytes.length);
    crypto.randomInt(1, 2, (error, number) => {
        console.log('int', error, number);
        crypto.randomFill(Buffer.alloc(2), (error, bytes) => console.log('fill', error, bytes.length));
    });
});
console.log('after');
