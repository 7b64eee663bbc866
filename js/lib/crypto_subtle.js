// SPDX-License-Identifier: MIT
// js/lib/crypto_subtle.js - crypto.subtle: digests.
(function (host, need) {
    'use strict';

    const idl = need('idl');
    const kinds = { 'sha-1': 'sha1', 'sha-256': 'sha256', 'sha-384': 'sha384', 'sha-512': 'sha512' };
    const token = Symbol('token');

    // A copy, since the caller may change them while we count; an array of bytes is no source.
    function bytesOf(data) {
        if (ArrayBuffer.isView(data))
            return new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice();
        if (data instanceof ArrayBuffer)
            return new Uint8Array(data.slice(0));
        throw new TypeError("Failed to execute 'digest' on 'SubtleCrypto': 2nd argument is not instance of ArrayBuffer, Buffer, TypedArray, or DataView.");
    }

    class SubtleCrypto {
        #brand = true;
        static #check(value) {
            if (typeof value !== 'object' || value === null || !(#brand in value))
                throw idl.illegalInvocation();
        }
        constructor(key = undefined) {
            if (key !== token)
                throw new TypeError('Illegal constructor');
        }
        async digest(algorithm, data) {
            SubtleCrypto.#check(this);
            idl.needArguments('digest', arguments.length, 2);
            const name = String(typeof algorithm === 'object' && algorithm !== null ? algorithm.name : algorithm).toLowerCase();
            const bytes = bytesOf(data);
            if (!Object.hasOwn(kinds, name))
                throw new (need('dom_exception').DOMException)('Unrecognized algorithm name', 'NotSupportedError');
            const { Hasher } = need('hash');
            const hasher = new Hasher(kinds[name]);
            hasher.update(bytes);
            return hasher.digest().buffer;
        }
    }
    idl.define(SubtleCrypto);

    return { SubtleCrypto, subtle: new SubtleCrypto(token) };
})
