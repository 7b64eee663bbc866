// SPDX-License-Identifier: MIT
// js/lib/string_decoder.js - node:string_decoder: text from pieces of bytes that may be cut inside of a character.
(function (host, need) {
    'use strict';
    const { Buffer } = need('buffer');
    const { known } = need('buffer_text');
    const { nodeError, invalidArgType } = need('node_error');

    // How many bytes at the end belong to a character of which more is to come.
    const unfinished = {
        utf8(bytes) {
            for (let back = 1; back <= Math.min(3, bytes.length); back++) {
                const byte = bytes[bytes.length - back];
                if ((byte & 0xc0) === 0x80)
                    continue;
                const size = byte >= 0xf0 && byte < 0xf5 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 1;
                return byte < 0xf5 && size > back && isPrefix(bytes.subarray(bytes.length - back)) ? back : 0;
            }
            return 0;
        },
        utf16le(bytes) {
            if (bytes.length & 1)
                return 1;
            const last = bytes[bytes.length - 1];
            return last >= 0xd8 && last <= 0xdb ? 2 : 0;
        },
        base64: (bytes) => bytes.length % 3,
        base64url: (bytes) => bytes.length % 3,
    };

    // The second byte decides whether a sequence of more than two can be valid.
    function isPrefix([first, second]) {
        if (second === undefined)
            return true;
        const least = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
        const most = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
        return second >= least && second <= most;
    }

    const REST = Symbol('rest'); // bytes of a character that has not ended

    // A function: programs call it on objects of their own.
    function StringDecoder(encoding) {
        const name = encoding === undefined || encoding === null || encoding === '' ? 'utf8' : known(encoding);
        if (name === undefined)
            throw nodeError(TypeError, 'ERR_UNKNOWN_ENCODING', `Unknown encoding: ${encoding}`);
        this.encoding = name;
        Object.defineProperty(this, REST, { value: Buffer.alloc(0), writable: true, enumerable: false });
    }

    StringDecoder.prototype.write = function (chunk) {
        if (typeof chunk === 'string')
            return chunk;
        if (!ArrayBuffer.isView(chunk))
            throw invalidArgType('buf', ['Buffer', 'TypedArray', 'DataView'], chunk);
        let bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
        let before = '';
        if (this[REST].length > 0 && this.encoding === 'utf16le')
            [before, bytes] = complete(this, bytes);
        else if (this[REST].length > 0)
            bytes = Buffer.concat([this[REST], bytes]);
        if (this[REST].length > 0 && this.encoding === 'utf16le')
            return '';
        const back = unfinished[this.encoding]?.(bytes) ?? 0;
        const whole = bytes.length - back;
        this[REST] = Buffer.from(bytes.subarray(whole));
        return before + bytes.toString(this.encoding, 0, whole);
    };

    // Ends the unit or the pair that was begun: its text, and the bytes behind it.
    function complete(decoder, bytes) {
        const missing = decoder[REST].length === 2 ? 2 : 1;
        const whole = Buffer.concat([decoder[REST], bytes.subarray(0, missing)]);
        if (bytes.length < missing) {
            decoder[REST] = whole;
            return ['', bytes.subarray(missing)];
        }
        decoder[REST] = Buffer.alloc(0);
        return [whole.toString('utf16le'), bytes.subarray(missing)];
    }

    StringDecoder.prototype.end = function (chunk) {
        const text = chunk === undefined ? '' : this.write(chunk);
        const rest = this[REST];
        this[REST] = Buffer.alloc(0);
        return text + rest.toString(this.encoding);
    };

    return { StringDecoder };
})
