// SPDX-License-Identifier: MIT
// js/lib/encoding.js - TextEncoder and TextDecoder for UTF-8, UTF-16 and windows-1252.
// host: typeTag(object); if there: encodeUtf8(wellFormedText) gives an ArrayBuffer, and decodeUtf8(buffer, offset, length)
// gives the text, or undefined where the bytes are not valid.
(function (host, need) {
    'use strict';

    const idl = need('idl');
    const fromCharCode = String.fromCharCode;

    const labels = {
        'utf-8': 'unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8',
        'utf-16le': 'csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le',
        'utf-16be': 'unicodefffe utf-16be',
        'windows-1252': 'ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 ' +
            'iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252',
    };

    // What windows-1252 has from 0x80 to 0x9f; everything else stands for itself.
    const windows1252 = '\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f' +
        '\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178';

    function findEncoding(label) {
        const wanted = label.replace(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, '').toLowerCase();
        for (const name in labels) {
            if (labels[name].split(' ').includes(wanted)) {
                return name;
            }
        }
        return undefined;
    }

    // Writes text as UTF-8 until it ends or there is no room; returns what was read and written.
    function writeUtf8(text, bytes) {
        const length = text.length;
        const room = bytes.length;
        let read = 0;
        let at = 0;
        while (read < length) {
            let code = text.charCodeAt(read);
            if (code < 0x80) {
                if (at >= room) {
                    break;
                }
                bytes[at++] = code;
                read++;
                continue;
            }
            let units = 1;
            if (code >= 0xd800 && code <= 0xdfff) {
                const next = code < 0xdc00 && read + 1 < length ? text.charCodeAt(read + 1) : 0;
                if (next >= 0xdc00 && next <= 0xdfff) {
                    code = 0x10000 + (code - 0xd800) * 0x400 + (next - 0xdc00);
                    units = 2;
                } else {
                    code = 0xfffd;
                }
            }
            const size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
            if (at + size > room) {
                break;
            }
            if (size === 2) {
                bytes[at] = 0xc0 | code >> 6;
            } else if (size === 3) {
                bytes[at] = 0xe0 | code >> 12;
                bytes[at + 1] = 0x80 | code >> 6 & 63;
            } else {
                bytes[at] = 0xf0 | code >> 18;
                bytes[at + 1] = 0x80 | code >> 12 & 63;
                bytes[at + 2] = 0x80 | code >> 6 & 63;
            }
            bytes[at + size - 1] = 0x80 | code & 63;
            at += size;
            read += units;
        }
        return { read, written: at };
    }

    function encodeUtf8(text) {
        if (host.encodeUtf8 !== undefined) {
            return new Uint8Array(host.encodeUtf8(text.toWellFormed()));
        }
        const bytes = new Uint8Array(text.length * 3);
        return bytes.slice(0, writeUtf8(text, bytes).written);
    }

    class TextEncoder {
        #brand = true;
        static #check(value) {
            if (typeof value !== 'object' || value === null || !(#brand in value)) {
                throw idl.illegalInvocation();
            }
        }
        get encoding() {
            TextEncoder.#check(this);
            return 'utf-8';
        }
        encode(input = '') {
            TextEncoder.#check(this);
            return encodeUtf8(idl.toDOMString(input));
        }
        encodeInto(source, destination) {
            TextEncoder.#check(this);
            idl.needArguments('encodeInto', arguments.length, 2);
            const text = idl.toDOMString(source);
            if (!idl.isObject(destination) || host.typeTag(destination) !== 'Uint8Array') {
                throw new TypeError('The destination of encodeInto must be a Uint8Array');
            }
            return writeUtf8(text, destination);
        }
    }
    idl.define(TextEncoder);
    Object.defineProperty(TextEncoder.prototype, idl.inspectSymbol, {
        value(depth, options, inspect) {
            return typeof depth === 'number' && depth < 0 ? '[TextEncoder]' : inspect({ encoding: 'utf-8' }, options);
        },
        writable: true, enumerable: false, configurable: true,
    });

    // The bytes of a buffer or a view, without a copy.
    function toBytes(value, what) {
        if (ArrayBuffer.isView(value)) {
            const { buffer, byteOffset, byteLength } = value;
            return buffer.detached ? new Uint8Array(0) : new Uint8Array(buffer, byteOffset, byteLength);
        }
        const tag = idl.isObject(value) ? host.typeTag(value) : '';
        if (tag !== 'ArrayBuffer' && tag !== 'SharedArrayBuffer') {
            throw new TypeError(`${what} must be an ArrayBuffer or a view of one`);
        }
        return value.detached ? new Uint8Array(0) : new Uint8Array(value);
    }

    // Collects code units and makes text of them piece by piece.
    class Collector {
        text = '';
        units = [];
        add(unit) {
            if (this.units.push(unit) >= 4096) {
                this.flush();
            }
        }
        // Takes ASCII from here on; returns where it ends.
        addPlain(bytes, from) {
            const length = Math.min(bytes.length, from + 4096);
            let end = from + 1;
            while (end < length && bytes[end] < 0x80) {
                end++;
            }
            if (end - from < 16) {
                for (let i = from; i < end; i++) {
                    this.add(bytes[i]);
                }
            } else {
                this.flush();
                this.text += fromCharCode.apply(undefined, bytes.subarray(from, end));
            }
            return end;
        }
        addPoint(point) {
            if (point > 0xffff) {
                this.add(0xd800 + (point - 0x10000 >> 10));
                this.add(0xdc00 + (point & 0x3ff));
            } else {
                this.add(point);
            }
        }
        flush() {
            this.text += fromCharCode.apply(undefined, this.units);
            this.units.length = 0;
            return this.text;
        }
    }

    // The decoder of UTF-8: it keeps the beginning of a character between two pieces of a stream.
    class Utf8Decoder {
        point = 0;
        wanted = 0;
        lower = 0x80;
        upper = 0xbf;

        start(byte) {
            this.lower = 0x80;
            this.upper = 0xbf;
            if (byte >= 0xc2 && byte <= 0xdf) {
                this.wanted = 1;
                this.point = byte & 0x1f;
            } else if (byte >= 0xe0 && byte <= 0xef) {
                this.wanted = 2;
                this.point = byte & 0xf;
                this.lower = byte === 0xe0 ? 0xa0 : 0x80;
                this.upper = byte === 0xed ? 0x9f : 0xbf;
            } else if (byte >= 0xf0 && byte <= 0xf4) {
                this.wanted = 3;
                this.point = byte & 7;
                this.lower = byte === 0xf0 ? 0x90 : 0x80;
                this.upper = byte === 0xf4 ? 0x8f : 0xbf;
            } else {
                return false;
            }
            return true;
        }

        // Returns undefined where a byte is wrong and the decoder is a strict one.
        decode(bytes, last, fatal) {
            if (this.wanted === 0 && host.decodeUtf8 !== undefined && last) {
                const text = host.decodeUtf8(bytes.buffer, bytes.byteOffset, bytes.length);
                if (text !== undefined) {
                    return text;
                }
            }
            const out = new Collector();
            for (let i = 0; i < bytes.length; i++) {
                const byte = bytes[i];
                let wrong = false;
                if (this.wanted === 0) {
                    if (byte < 0x80) {
                        i = out.addPlain(bytes, i) - 1;
                    } else {
                        wrong = !this.start(byte);
                    }
                } else if (byte < this.lower || byte > this.upper) {
                    // The byte may begin a new character: it is looked at once more.
                    this.wanted = 0;
                    wrong = true;
                    i--;
                } else {
                    this.lower = 0x80;
                    this.upper = 0xbf;
                    this.point = this.point << 6 | byte & 63;
                    if (--this.wanted === 0) {
                        out.addPoint(this.point);
                    }
                }
                if (wrong) {
                    if (fatal) {
                        return undefined;
                    }
                    out.add(0xfffd);
                }
            }
            if (last && this.wanted !== 0) {
                this.wanted = 0;
                if (fatal) {
                    return undefined;
                }
                out.add(0xfffd);
            }
            return out.flush();
        }
    }

    class Utf16Decoder {
        byte = -1;
        lead = -1;

        constructor(big) {
            this.big = big;
        }

        // Takes one code unit; false says that a surrogate without its other half came before it or is it.
        take(unit, out, fatal) {
            let right = true;
            if (this.lead >= 0) {
                const lead = this.lead;
                this.lead = -1;
                if (unit >= 0xdc00 && unit <= 0xdfff) {
                    out.add(lead);
                    out.add(unit);
                    return true;
                }
                out.add(0xfffd);
                right = false;
            }
            if (unit >= 0xd800 && unit <= 0xdbff) {
                this.lead = unit;
            } else if (unit >= 0xdc00 && unit <= 0xdfff) {
                out.add(0xfffd);
                right = false;
            } else {
                out.add(unit);
            }
            return right || !fatal;
        }

        decode(bytes, last, fatal) {
            const out = new Collector();
            for (let i = 0; i < bytes.length; i++) {
                if (this.byte < 0) {
                    this.byte = bytes[i];
                    continue;
                }
                const unit = this.big ? this.byte << 8 | bytes[i] : bytes[i] << 8 | this.byte;
                this.byte = -1;
                if (!this.take(unit, out, fatal)) {
                    return undefined;
                }
            }
            if (last && (this.byte >= 0 || this.lead >= 0)) {
                this.byte = this.lead = -1;
                if (fatal) {
                    return undefined;
                }
                out.add(0xfffd);
            }
            return out.flush();
        }
    }

    class Windows1252Decoder {
        decode(bytes) {
            const out = new Collector();
            for (let i = 0; i < bytes.length; i++) {
                const byte = bytes[i];
                out.add(byte >= 0x80 && byte <= 0x9f ? windows1252.charCodeAt(byte - 0x80) : byte);
            }
            return out.flush();
        }
    }

    function makeDecoder(encoding) {
        switch (encoding) {
        case 'utf-8':
            return new Utf8Decoder();
        case 'utf-16le':
            return new Utf16Decoder(false);
        case 'utf-16be':
            return new Utf16Decoder(true);
        default:
            return new Windows1252Decoder();
        }
    }

    class TextDecoder {
        #encoding;
        #fatal = false;
        #ignoreBOM = false;
        #decoder = undefined;
        #bomSeen = false;

        static #of(value) {
            if (typeof value !== 'object' || value === null || !(#encoding in value)) {
                throw idl.illegalInvocation();
            }
            return value;
        }

        constructor(label = 'utf-8', options = {}) {
            label = idl.toDOMString(label);
            const init = idl.toDictionary(options, 'The options of a TextDecoder');
            const fatal = !!init?.fatal;
            const ignoreBOM = !!init?.ignoreBOM;
            const encoding = findEncoding(label);
            if (encoding === undefined) {
                const error = new RangeError(`The "${label}" encoding is not supported`);
                error.code = 'ERR_ENCODING_NOT_SUPPORTED';
                throw error;
            }
            this.#encoding = encoding;
            this.#fatal = fatal;
            this.#ignoreBOM = ignoreBOM;
        }
        get encoding() {
            return TextDecoder.#of(this).#encoding;
        }
        get fatal() {
            return TextDecoder.#of(this).#fatal;
        }
        get ignoreBOM() {
            return TextDecoder.#of(this).#ignoreBOM;
        }
        decode(input = undefined, options = {}) {
            const self = TextDecoder.#of(this);
            const bytes = input === undefined ? new Uint8Array(0) : toBytes(input, 'The input of decode');
            const stream = !!idl.toDictionary(options, 'The options of decode')?.stream;
            if (self.#decoder === undefined) {
                self.#decoder = makeDecoder(self.#encoding);
                self.#bomSeen = false;
            }
            let text = self.#decoder.decode(bytes, !stream, self.#fatal);
            if (!stream || text === undefined) {
                self.#decoder = undefined;
            }
            if (text === undefined) {
                const error = new TypeError(`The encoded data was not valid for encoding ${self.#encoding}`);
                error.code = 'ERR_ENCODING_INVALID_ENCODED_DATA';
                throw error;
            }
            if (!self.#bomSeen && text.length > 0) {
                self.#bomSeen = true;
                if (!self.#ignoreBOM && text.charCodeAt(0) === 0xfeff && self.#encoding !== 'windows-1252') {
                    text = text.slice(1);
                }
            }
            return text;
        }
    }
    idl.define(TextDecoder);
    idl.inspectAs(TextDecoder, (decoder) => ['TextDecoder', {
        encoding: decoder.encoding, fatal: decoder.fatal, ignoreBOM: decoder.ignoreBOM,
    }]);

    // For the library: the text of bytes, with replacement characters and with the mark at the beginning left in.
    function decodeUtf8(bytes) {
        return new Utf8Decoder().decode(bytes, true, false);
    }

    return { TextEncoder, TextDecoder, encodeUtf8, decodeUtf8, toBytes };
})
