// SPDX-License-Identifier: MIT
// js/lib/node_crypto.js - node:crypto as far as it goes without a library for it: hashes, HMAC and random bytes.
// host: random(arrayBuffer, offset, length), nextTick(fn)
(function (host, need) {
    'use strict';
    const { Buffer } = need('buffer');
    const { Hasher, kinds } = need('hash');
    const { nodeError, invalidArgType, validateString, validateFunction, outOfRange } = need('node_error');
    const hidden = Symbol('state');

    function kindOf(name) {
        const key = name.toLowerCase().replace(/^(rsa-)?sha-?(\d+)$/, 'sha$2');
        return kinds[key] ? key : undefined;
    }

    function toBytes(data, encoding, name = 'data') {
        if (typeof data === 'string')
            return Buffer.from(data, encoding === 'buffer' ? 'utf8' : encoding);
        if (!ArrayBuffer.isView(data))
            throw invalidArgType(name, ['string', 'Buffer', 'TypedArray', 'DataView'], data);
        return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    }

    function asked(bytes, encoding) {
        const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        return encoding && encoding !== 'buffer' ? buffer.toString(encoding) : buffer;
    }

    class Hash {
        constructor(hasher) {
            Object.defineProperty(this, hidden, { value: { hasher, isOver: false } });
        }

        update(data, inputEncoding) {
            const state = this[hidden];
            if (state.isOver)
                throw nodeError(Error, 'ERR_CRYPTO_HASH_FINALIZED', 'Digest already called');
            state.hasher.update(toBytes(data, inputEncoding));
            return this;
        }

        digest(outputEncoding) {
            const state = this[hidden];
            if (state.isOver)
                throw nodeError(Error, 'ERR_CRYPTO_HASH_FINALIZED', 'Digest already called');
            state.isOver = true;
            return asked(state.hasher.digest(), outputEncoding);
        }

        copy() {
            const state = this[hidden];
            if (state.isOver)
                throw nodeError(Error, 'ERR_CRYPTO_HASH_FINALIZED', 'Digest already called');
            return new Hash(state.hasher.copy());
        }
    }

    function createHash(algorithm) {
        validateString(algorithm, 'algorithm');
        const kind = kindOf(algorithm);
        if (!kind)
            throw nodeError(Error, 'ERR_OSSL_EVP_UNSUPPORTED', 'Digest method not supported');
        return new Hash(new Hasher(kind));
    }

    // Two hashes, one inside the other.
    class Hmac {
        constructor(kind, key) {
            const size = kinds[kind].block;
            const padded = new Uint8Array(size);
            if (key.length > size) {
                const short = new Hasher(kind);
                short.update(key);
                key = short.digest();
            }
            padded.set(key);
            const inner = new Hasher(kind), outer = new Hasher(kind);
            inner.update(padded.map((byte) => byte ^ 0x36));
            outer.update(padded.map((byte) => byte ^ 0x5c));
            Object.defineProperty(this, hidden, { value: { inner, outer, isOver: false } });
        }

        update(data, inputEncoding) {
            const state = this[hidden];
            if (state.isOver)
                throw nodeError(Error, 'ERR_CRYPTO_HASH_FINALIZED', 'Digest already called');
            state.inner.update(toBytes(data, inputEncoding));
            return this;
        }

        digest(outputEncoding) {
            const state = this[hidden];
            if (state.isOver)
                return asked(new Uint8Array(0), outputEncoding);
            state.isOver = true;
            state.outer.update(state.inner.digest());
            return asked(state.outer.digest(), outputEncoding);
        }
    }

    function createHmac(algorithm, key) {
        validateString(algorithm, 'hmac');
        const kind = kindOf(algorithm);
        if (!kind)
            throw nodeError(TypeError, 'ERR_CRYPTO_INVALID_DIGEST', `Invalid digest: ${algorithm}`);
        return new Hmac(kind, toBytes(key, 'utf8', 'key'));
    }

    function hash(algorithm, input, outputEncoding = 'hex') {
        return createHash(algorithm).update(input).digest(outputEncoding);
    }

    function timingSafeEqual(one, other) {
        const [left, right] = [[one, 'buf1'], [other, 'buf2']].map(([value, name]) => {
            if (!ArrayBuffer.isView(value))
                throw invalidArgType(name, ['ArrayBuffer', 'Buffer', 'TypedArray', 'DataView'], value);
            return toBytes(value);
        });
        if (left.length !== right.length)
            throw nodeError(RangeError, 'ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH',
                'Input buffers must have the same byte length');
        let difference = 0;
        for (let i = 0; i < left.length; i++)
            difference |= left[i] ^ right[i];
        return difference === 0;
    }

    // ---- Random ----

    // At once, or by a callback.
    function answer(make, callback, noError) {
        if (callback === undefined)
            return make();
        validateFunction(callback, 'callback');
        const result = make();
        setImmediate(callback, noError, result);
        return undefined;
    }

    function randomBytes(size, callback) {
        if (typeof size !== 'number')
            throw invalidArgType('size', 'number', size);
        if (!(size >= 0 && size <= 2 ** 31 - 1))
            throw outOfRange('size', '>= 0 && <= 2147483647', size);
        return answer(() => randomFillSync(Buffer.alloc(size)), callback, null);
    }

    function randomFillSync(buffer, offset = 0, size = buffer.byteLength - offset) {
        const isView = ArrayBuffer.isView(buffer);
        if (offset < 0 || offset + size > buffer.byteLength)
            throw outOfRange('size + offset', `<= ${buffer.byteLength}`, offset + size);
        host.random(isView ? buffer.buffer : buffer, (isView ? buffer.byteOffset : 0) + offset, size);
        return buffer;
    }

    function randomFill(buffer, offset, size, callback) {
        const rest = [offset, size, callback];
        const at = rest.findIndex((value) => typeof value === 'function');
        answer(() => randomFillSync(buffer, ...rest.slice(0, Math.max(0, at))), rest[at], null);
    }

    // Of six bytes; those that would favour small numbers are drawn again.
    function randomInt(least, most, callback) {
        if (most === undefined || typeof most === 'function')
            [least, most, callback] = [0, least, most];
        if (!Number.isSafeInteger(least))
            throw invalidArgType('min', 'a safe integer', least);
        if (!Number.isSafeInteger(most))
            throw invalidArgType('max', 'a safe integer', most);
        if (most <= least)
            throw outOfRange('max', `greater than the value of "min" (${least})`, most);
        const range = most - least;
        if (range > 2 ** 48 - 1)
            throw outOfRange(least === 0 ? 'max' : 'max - min', `<= ${2 ** 48 - 1}`, range);
        const limit = 2 ** 48 - 2 ** 48 % range;
        return answer(() => {
            for (;;) {
                const drawn = randomBytes(6).readUIntBE(0, 6);
                if (drawn < limit)
                    return drawn % range + least;
            }
        }, callback, undefined);
    }

    return {
        createHash, createHmac, hash, Hash, Hmac, getHashes: () => Object.keys(kinds), timingSafeEqual,
        randomBytes, randomFillSync, randomFill, randomInt,
        randomUUID: () => globalThis.crypto.randomUUID(),
        getRandomValues: (array) => globalThis.crypto.getRandomValues(array),
        get webcrypto() { return globalThis.crypto; },
    };
})
