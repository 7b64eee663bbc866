// SPDX-License-Identifier: MIT
// js/lib/url_host.js - the hosts of URLs: domains, IPv4 and IPv6 addresses; and percent-encoding.
(function (host, need) {
    'use strict';

    const forbiddenHost = /[\0\t\n\r #/:<>?@[\\\]^|]/;
    const forbiddenDomain = /[\0- #%/:<>?@[\\\]^|\x7f]/;

    // The sets of characters to encode, as expressions that find them. Each is the one before with more.
    const sets = {
        control: /[^ -~]/u,
        fragment: /[^!#-;=?-_a-~]/u,
        query: /[^!$-;=?-~]/u,
        specialQuery: /[^!$-&(-;=?-~]/u,
        path: /[^!$-;=@-_a-z|~]/u,
        userinfo: /[^!$-.0-9A-Z_a-z~]/u,
        component: /[^!'-*\-.0-9A-Z_a-z~]/u,
    };
    const everywhere = {};

    const hexDigits = '0123456789ABCDEF';

    function encodeLetter(letter) {
        const point = letter.codePointAt(0);
        if (point < 0x80) {
            return `%${hexDigits[point >> 4]}${hexDigits[point & 15]}`;
        }
        return encodeURIComponent(letter);
    }

    // Percent-encodes the UTF-8 of the characters in a set; the text is well formed.
    function percentEncode(text, name) {
        if (!sets[name].test(text)) {
            return text;
        }
        everywhere[name] ??= new RegExp(sets[name].source, 'gu');
        return text.replace(everywhere[name], encodeLetter);
    }

    // Undoes percent-encoding and reads the bytes as UTF-8, wrong ones replaced.
    function percentDecode(text) {
        if (!text.includes('%')) {
            return text;
        }
        const { encodeUtf8, decodeUtf8 } = need('encoding');
        const bytes = encodeUtf8(text);
        let length = 0;
        for (let i = 0; i < bytes.length; i++) {
            let byte = bytes[i];
            if (byte === 0x25 && i + 2 < bytes.length) {
                const digits = String.fromCharCode(bytes[i + 1], bytes[i + 2]);
                if (/^[0-9A-Fa-f]{2}$/.test(digits)) {
                    byte = parseInt(digits, 16);
                    i += 2;
                }
            }
            bytes[length++] = byte;
        }
        return decodeUtf8(bytes.subarray(0, length));
    }

    // A number of an IPv4 address: decimal, octal with a zero or hexadecimal with 0x in front. NaN says it is none.
    function parseIPv4Number(text) {
        if (text === '') {
            return NaN;
        }
        if (/^0[xX]/.test(text)) {
            return /^[0-9A-Fa-f]*$/.test(text.slice(2)) ? parseInt(`0${text.slice(2)}`, 16) : NaN;
        }
        if (text.length > 1 && text[0] === '0') {
            return /^[0-7]+$/.test(text) ? parseInt(text, 8) : NaN;
        }
        return /^[0-9]+$/.test(text) ? parseInt(text, 10) : NaN;
    }

    function endsInNumber(text) {
        const parts = text.split('.');
        if (parts[parts.length - 1] === '') {
            if (parts.length === 1) {
                return false;
            }
            parts.pop();
        }
        const last = parts[parts.length - 1];
        return /^[0-9]+$/.test(last) || !Number.isNaN(parseIPv4Number(last));
    }

    function parseIPv4(text) {
        const parts = text.split('.');
        if (parts[parts.length - 1] === '' && parts.length > 1) {
            parts.pop();
        }
        if (parts.length > 4) {
            return undefined;
        }
        const numbers = parts.map(parseIPv4Number);
        if (numbers.some(Number.isNaN) || numbers.slice(0, -1).some((number) => number > 255)) {
            return undefined;
        }
        let address = numbers[numbers.length - 1];
        if (address >= 256 ** (5 - numbers.length)) {
            return undefined;
        }
        for (let i = 0; i < numbers.length - 1; i++) {
            address += numbers[i] * 256 ** (3 - i);
        }
        return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.');
    }

    // The address in the last two pieces of an IPv6 address, in the form of IPv4: strict, four decimal numbers.
    function parseEmbeddedIPv4(text) {
        const numbers = text.split('.');
        if (numbers.length !== 4) {
            return undefined;
        }
        for (const number of numbers) {
            if (!/^(?:0|[1-9][0-9]{0,2})$/.test(number) || +number > 255) {
                return undefined;
            }
        }
        return [numbers[0] * 256 + +numbers[1], numbers[2] * 256 + +numbers[3]];
    }

    // The pieces of one side of an IPv6 address; only the right end of the whole may hold an IPv4 address.
    function parsePieces(text, mayEmbed) {
        const pieces = [];
        if (text === '') {
            return pieces;
        }
        const parts = text.split(':');
        for (let i = 0; i < parts.length; i++) {
            if (mayEmbed && i === parts.length - 1 && parts[i].includes('.')) {
                const two = parseEmbeddedIPv4(parts[i]);
                if (two === undefined) {
                    return undefined;
                }
                pieces.push(...two);
            } else if (/^[0-9A-Fa-f]{1,4}$/.test(parts[i])) {
                pieces.push(parseInt(parts[i], 16));
            } else {
                return undefined;
            }
        }
        return pieces;
    }

    function parseIPv6(text) {
        const halves = text.split('::');
        if (halves.length > 2) {
            return undefined;
        }
        const left = parsePieces(halves[0], halves.length === 1);
        const right = halves.length === 2 ? parsePieces(halves[1], true) : [];
        if (left === undefined || right === undefined) {
            return undefined;
        }
        const missing = 8 - left.length - right.length;
        if (halves.length === 2 ? missing < 1 : missing !== 0) {
            return undefined;
        }
        return serializeIPv6([...left, ...new Array(missing).fill(0), ...right]);
    }

    // The first of the longest runs of zeros is written as two colons.
    function serializeIPv6(pieces) {
        let best = -1;
        let bestLength = 1;
        for (let i = 0; i < 8; i++) {
            let end = i;
            while (end < 8 && pieces[end] === 0) {
                end++;
            }
            if (end - i > bestLength) {
                best = i;
                bestLength = end - i;
            }
            i = Math.max(i, end - 1);
        }
        const hex = pieces.map((piece) => piece.toString(16));
        if (best < 0) {
            return `[${hex.join(':')}]`;
        }
        return `[${hex.slice(0, best).join(':')}::${hex.slice(best + bestLength).join(':')}]`;
    }

    // The host in its written form, or undefined. The host of a scheme that is not special is opaque.
    function parseHost(text, isOpaque) {
        if (text[0] === '[') {
            return text[text.length - 1] === ']' ? parseIPv6(text.slice(1, -1)) : undefined;
        }
        if (isOpaque) {
            return forbiddenHost.test(text) ? undefined : percentEncode(text, 'control');
        }
        let domain = text;
        if (!/^[0-9a-z.-]*$/.test(text) || text.includes('xn--')) {
            domain = need('url_idna').toASCII(percentDecode(text));
        }
        if (domain === undefined || domain === '' || forbiddenDomain.test(domain)) {
            return undefined;
        }
        return endsInNumber(domain) ? parseIPv4(domain) : domain;
    }

    return { parseHost, percentEncode, percentDecode };
})
