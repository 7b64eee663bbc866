// SPDX-License-Identifier: MIT
// js/lib/buffer_text.js - the encodings of Buffer: bytes from text and text from bytes.
(function (host, need) {
    'use strict';
    const names = {
        __proto__: null,
        'utf8': 'utf8', 'utf-8': 'utf8', 'hex': 'hex', 'base64': 'base64', 'base64url': 'base64url', 'ascii': 'ascii',
        'latin1': 'latin1', 'binary': 'latin1',
        'utf16le': 'utf16le', 'utf-16le': 'utf16le', 'ucs2': 'utf16le', 'ucs-2': 'utf16le',
    };
    const CHUNK = 4096; // code units that become text at once
    let encoder, decoder;

    // The one name of an encoding, or undefined.
    function known(encoding) {
        return names[encoding] ?? (typeof encoding === 'string' ? names[encoding.toLowerCase()] : undefined);
    }

    function toText(units) {
        if (units.length <= CHUNK)
            return String.fromCharCode.apply(null, units);
        let text = '';
        for (let i = 0; i < units.length; i += CHUNK)
            text += String.fromCharCode.apply(null, units.subarray(i, i + CHUNK));
        return text;
    }

    // ---- Text to bytes ----

    function fromUtf8(text) {
        encoder ??= new (need('encoding').TextEncoder)();
        return encoder.encode(text);
    }

    function fromLatin1(text) {
        const bytes = new Uint8Array(text.length);
        for (let i = 0; i < text.length; i++)
            bytes[i] = text.charCodeAt(i);
        return bytes;
    }

    function fromUtf16(text) {
        const bytes = new Uint8Array(2 * text.length);
        for (let i = 0; i < text.length; i++) {
            const unit = text.charCodeAt(i);
            bytes[2 * i] = unit;
            bytes[2 * i + 1] = unit >> 8;
        }
        return bytes;
    }

    // Ends at the first pair that is none.
    function fromHex(text) {
        const size = text.search(/(?:[^\da-f]|$)/i) >> 1;
        return Uint8Array.fromHex(text.slice(0, 2 * size));
    }

    // Both alphabets at once; what belongs to neither is passed over, and padding is the end.
    function fromBase64(text) {
        const end = text.indexOf('=');
        const given = end < 0 ? text : text.slice(0, end);
        const plain = given.replace(/-/g, '+').replace(/_/g, '/').replace(/[^A-Za-z\d+/]/g, '');
        return Uint8Array.fromBase64(plain.length % 4 === 1 ? plain.slice(0, -1) : plain);
    }

    const encoders = {
        utf8: fromUtf8, latin1: fromLatin1, ascii: fromLatin1, utf16le: fromUtf16, hex: fromHex, base64: fromBase64,
        base64url: fromBase64,
    };

    // ---- Bytes to text ----

    function toUtf8(bytes) {
        decoder ??= new (need('encoding').TextDecoder)('utf-8', { ignoreBOM: true });
        return decoder.decode(bytes);
    }

    function toUtf16(bytes) {
        const units = new Uint16Array(bytes.length >> 1);
        for (let i = 0; i < units.length; i++)
            units[i] = bytes[2 * i] | bytes[2 * i + 1] << 8;
        return toText(units);
    }

    const plainBytes = (bytes) => new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const decoders = {
        utf8: toUtf8,
        latin1: (bytes) => toText(plainBytes(bytes)),
        ascii: (bytes) => toText(Uint8Array.from(plainBytes(bytes), (byte) => byte & 127)),
        utf16le: toUtf16,
        hex: (bytes) => plainBytes(bytes).toHex(),
        base64: (bytes) => plainBytes(bytes).toBase64(),
        base64url: (bytes) => plainBytes(bytes).toBase64({ alphabet: 'base64url', omitPadding: true }),
    };

    // ---- Sizes ----

    function base64Size(text) {
        let size = text.length;
        while (size > text.length - 2 && size > 1 && text[size - 1] === '=')
            size--;
        return Math.floor(size * 3 / 4);
    }

    // The bytes that a text takes, as Buffer.byteLength tells it: for base64 it is what the length says.
    function sizeOf(text, name) {
        switch (name) {
        case 'utf8': return host.utf8Size(text);
        case 'utf16le': return 2 * text.length;
        case 'hex': return text.length >>> 1;
        case 'base64': case 'base64url': return base64Size(text);
        default: return text.length;
        }
    }

    const encode = (text, name) => encoders[name](text);
    const decode = (bytes, name) => (bytes.length === 0 ? '' : decoders[name](bytes));

    // Writes as many whole characters as there is room for; returns how many bytes that were.
    function write(text, bytes, name) {
        if (name === 'utf8') {
            encoder ??= new (need('encoding').TextEncoder)();
            return encoder.encodeInto(text, plainBytes(bytes)).written;
        }
        let made = encode(text, name);
        if (made.length > bytes.length)
            made = made.subarray(0, name === 'utf16le' ? bytes.length & ~1 : bytes.length);
        bytes.set(made);
        return made.length;
    }

    return { known, encode, decode, sizeOf, write };
})
