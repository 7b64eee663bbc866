// SPDX-License-Identifier: MIT
// js/lib/base64.js - atob and btoa.
(function (host, need) {
    'use strict';

    const idl = need('idl');
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
    let values;

    function invalid() {
        const { DOMException } = need('dom_exception');
        return new DOMException('Invalid character', 'InvalidCharacterError');
    }

    // The value of each letter by its code, made on first use.
    function letterValues() {
        if (values === undefined) {
            values = new Int8Array(128).fill(-1);
            for (let i = 0; i < 64; i++) {
                values[alphabet.charCodeAt(i)] = i;
            }
        }
        return values;
    }

    function btoa(data) {
        idl.needArguments('btoa', arguments.length, 1);
        const text = idl.toDOMString(data);
        const length = text.length;
        let out = '';
        let i = 0;
        for (; i + 2 < length; i += 3) {
            const a = text.charCodeAt(i);
            const b = text.charCodeAt(i + 1);
            const c = text.charCodeAt(i + 2);
            if ((a | b | c) > 255) {
                throw invalid();
            }
            out += alphabet[a >> 2] + alphabet[(a & 3) << 4 | b >> 4] + alphabet[(b & 15) << 2 | c >> 6] + alphabet[c & 63];
        }
        if (i < length) {
            const a = text.charCodeAt(i);
            const b = i + 1 < length ? text.charCodeAt(i + 1) : 0;
            if ((a | b) > 255) {
                throw invalid();
            }
            out += alphabet[a >> 2] + alphabet[(a & 3) << 4 | b >> 4];
            out += i + 1 < length ? alphabet[(b & 15) << 2] + '=' : '==';
        }
        return out;
    }

    // The forgiving decoder of the Infra standard.
    function atob(data) {
        idl.needArguments('atob', arguments.length, 1);
        let text = idl.toDOMString(data).replace(/[\t\n\f\r ]/g, '');
        if (text.length % 4 === 0) {
            text = text.replace(/={1,2}$/, '');
        }
        const length = text.length;
        if (length % 4 === 1) {
            throw invalid();
        }
        const table = letterValues();
        const bytes = [];
        let out = '';
        let bits = 0;
        let count = 0;
        for (let i = 0; i < length; i++) {
            const code = text.charCodeAt(i);
            const value = code < 128 ? table[code] : -1;
            if (value < 0) {
                throw invalid();
            }
            bits = (bits << 6 | value) & 0xffff;
            count += 6;
            if (count >= 8) {
                count -= 8;
                bytes.push(bits >> count & 255);
                if (bytes.length === 4096) {
                    out += String.fromCharCode.apply(undefined, bytes);
                    bytes.length = 0;
                }
            }
        }
        return out + String.fromCharCode.apply(undefined, bytes);
    }

    return { atob, btoa };
})
