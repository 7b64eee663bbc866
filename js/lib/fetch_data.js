// SPDX-License-Identifier: MIT
// js/lib/fetch_data.js - what fetch knows without a network: data URLs and ports that are refused.
(function (host, need) {
    'use strict';

    const badPorts = new Set([0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101,
        102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514,
        515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659,
        4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080]);

    const isBadPort = (url) => url.port !== '' && badPorts.has(+url.port);

    // Turns %XX of ASCII text into bytes.
    function percentDecode(text) {
        const bytes = new Uint8Array(text.length);
        let length = 0;
        for (let at = 0; at < text.length; at++) {
            const hex = text[at] === '%' ? text.slice(at + 1, at + 3) : '';
            if (/^[0-9A-Fa-f]{2}$/.test(hex)) {
                bytes[length++] = parseInt(hex, 16);
                at += 2;
            } else {
                bytes[length++] = text.charCodeAt(at);
            }
        }
        return bytes.slice(0, length);
    }

    // Forgiving base64: spaces are skipped and the padding may be missing. undefined when it is wrong.
    function decodeBase64(bytes) {
        let text = '';
        for (const byte of bytes) {
            text += String.fromCharCode(byte);
        }
        text = text.replace(/[\t\n\f\r ]/g, '');
        if (text.length % 4 === 0) {
            text = text.replace(/==?$/, '');
        }
        if (text.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(text)) {
            return undefined;
        }
        return Uint8Array.fromBase64(text);
    }

    // {mime, bytes} of a data URL, or undefined.
    function readDataUrl(href) {
        const input = href.replace(/#.*$/s, '').slice('data:'.length);
        const comma = input.indexOf(',');
        if (comma < 0) {
            return undefined;
        }
        let type = input.slice(0, comma).replace(/^ +| +$/g, '');
        let bytes = percentDecode(input.slice(comma + 1));
        const base64 = /; *base64$/i;
        if (base64.test(type)) {
            bytes = decodeBase64(bytes);
            if (bytes === undefined) {
                return undefined;
            }
            type = type.replace(base64, '');
        }
        if (type.startsWith(';')) {
            type = 'text/plain' + type;
        }
        const { parseMime, serializeMime } = need('body_mime');
        const mime = parseMime(type);
        return { type: mime === undefined ? 'text/plain;charset=US-ASCII' : serializeMime(mime), bytes };
    }

    return { isBadPort, readDataUrl };
})
