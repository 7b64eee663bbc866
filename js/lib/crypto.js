// SPDX-License-Identifier: MIT
// js/lib/crypto.js - crypto: random values; what is subtle is in crypto_subtle.js.
// host: random(arrayBuffer, offset, length), typeTag(object)
(function (host, need) {
    'use strict';

    const idl = need('idl');
    const token = Symbol('token');
    const integerViews = ['Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Int32Array',
        'Uint32Array', 'BigInt64Array', 'BigUint64Array'];

    // Random bytes for identifiers are fetched for many at a time.
    const pool = { bytes: undefined, at: 0 };

    function sixteenBytes() {
        if (pool.bytes === undefined || pool.at === pool.bytes.length) {
            pool.bytes ??= new Uint8Array(512);
            host.random(pool.bytes.buffer, 0, pool.bytes.length);
            pool.at = 0;
        }
        const bytes = pool.bytes.slice(pool.at, pool.at + 16);
        // What was given out is not kept.
        pool.bytes.fill(0, pool.at, pool.at + 16);
        pool.at += 16;
        return bytes;
    }

    function hex(bytes, from, to) {
        let text = '';
        for (let i = from; i < to; i++) {
            text += (bytes[i] < 16 ? '0' : '') + bytes[i].toString(16);
        }
        return text;
    }

    class Crypto {
        #brand = true;
        static #check(value) {
            if (typeof value !== 'object' || value === null || !(#brand in value)) {
                throw idl.illegalInvocation();
            }
        }
        constructor(key = undefined) {
            if (key !== token) {
                throw new TypeError('Illegal constructor');
            }
        }
        get subtle() {
            Crypto.#check(this);
            return need('crypto_subtle').subtle;
        }
        getRandomValues(array) {
            Crypto.#check(this);
            idl.needArguments('getRandomValues', arguments.length, 1);
            const { DOMException } = need('dom_exception');
            if (!ArrayBuffer.isView(array) || !integerViews.includes(host.typeTag(array))) {
                throw new DOMException('The data argument must be an integer-type TypedArray', 'TypeMismatchError');
            }
            if (array.byteLength > 65536) {
                throw new DOMException('The requested length exceeds 65,536 bytes', 'QuotaExceededError');
            }
            if (array.byteLength > 0) {
                host.random(array.buffer, array.byteOffset, array.byteLength);
            }
            return array;
        }
        randomUUID() {
            Crypto.#check(this);
            const bytes = sixteenBytes();
            bytes[6] = bytes[6] & 0x0f | 0x40;
            bytes[8] = bytes[8] & 0x3f | 0x80;
            return `${hex(bytes, 0, 4)}-${hex(bytes, 4, 6)}-${hex(bytes, 6, 8)}-${hex(bytes, 8, 10)}-${hex(bytes, 10, 16)}`;
        }
    }
    idl.define(Crypto);

    return { Crypto, crypto: new Crypto(token) };
})
