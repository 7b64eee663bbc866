// SPDX-License-Identifier: MIT
// js/lib/url_idna.js - international domain names as ASCII: UTS 46 without its table, and Punycode.
// The mapping table of UTS 46 is replaced by what it was made from: each letter in compatibility form (NFKC) and with its
// case folded, and a few characters that are dropped or refused. Which letters exist is the engine's version of Unicode.
// The rule for text from right to left knows the scripts, not each character; joiners are allowed after a virama and
// between Arabic letters.
(function () {
    'use strict';

    // Invisible characters that are left out, and those that no name may have.
    const dropped = new RegExp('^[\\u00ad\\u034f\\u180b-\\u180d\\u180f\\u200b\\u2060\\u2064\\ufe00-\\ufe0f\\ufeff' +
        '\\u{1bca0}-\\u{1bca3}\\u{e0100}-\\u{e01ef}]$', 'u');
    const refused = new RegExp('[\\p{Cn}\\p{Co}\\p{Cs}\\p{Cc}\\p{Zl}\\p{Zp}\\p{Zs}\\u115f\\u1160\\u17b4\\u17b5\\u1806' +
        '\\u2ff0-\\u2fff\\u3164\\ufff9-\\ufffd]|(?![\\u200c\\u200d])\\p{Cf}', 'u');
    // Letters that go from right to left, and Arabic digits.
    const rightToLeft = new RegExp('(?![\\p{M}\\p{P}\\p{S}])[\\u0590-\\u065f\\u066d-\\u06ef\\u06fa-\\u08ff\\ufb1d-\\ufdff' +
        '\\ufe70-\\ufefc\\u{10800}-\\u{10fff}\\u{1e800}-\\u{1efff}]', 'u');
    const arabicDigit = /[\u0660-\u0669\u066b\u066c]/;
    const otherDigit = /[0-9\u06f0-\u06f9]/;
    const lonelyMark = /^\p{M}/u;
    const virama = '[\\u094d\\u09cd\\u0a4d\\u0acd\\u0b4d\\u0bcd\\u0c4d\\u0ccd\\u0d3b\\u0d3c\\u0d4d\\u0dca\\u0e3a\\u0eba' +
        '\\u0f84\\u1039\\u103a\\u1714\\u1734\\u17d2\\u1a60\\u1b44\\u1baa\\u1bab\\u1bf2\\u1bf3\\u2d7f\\ua806\\ua8c4\\ua953' +
        '\\ua9c0\\uaaf6\\uabed]';
    let wrongJoiner;

    const base = 36;
    const highest = 0x7fffffff;

    function adapt(delta, count, first) {
        delta = first ? Math.floor(delta / 700) : delta >> 1;
        delta += Math.floor(delta / count);
        let k = 0;
        while (delta > 455) {
            delta = Math.floor(delta / 35);
            k += base;
        }
        return k + Math.floor(36 * delta / (delta + 38));
    }

    function threshold(k, bias) {
        return k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
    }

    function digitOf(value) {
        return String.fromCharCode(value < 26 ? value + 97 : value + 22);
    }

    function valueOf(code) {
        if (code >= 97 && code <= 122) {
            return code - 97;
        }
        return code >= 48 && code <= 57 ? code - 22 : code >= 65 && code <= 90 ? code - 65 : base;
    }

    // One number of variable length.
    function writeNumber(delta, bias) {
        let text = '';
        for (let k = base; ; k += base) {
            const t = threshold(k, bias);
            if (delta < t) {
                return text + digitOf(delta);
            }
            text += digitOf(t + (delta - t) % (base - t));
            delta = Math.floor((delta - t) / (base - t));
        }
    }

    function encode(label) {
        const points = Array.from(label, (letter) => letter.codePointAt(0));
        const plain = points.filter((point) => point < 128);
        let out = String.fromCharCode(...plain);
        let done = plain.length;
        const basic = done;
        if (basic > 0) {
            out += '-';
        }
        let n = 128;
        let delta = 0;
        let bias = 72;
        while (done < points.length) {
            let next = highest;
            for (const point of points) {
                if (point >= n && point < next) {
                    next = point;
                }
            }
            delta += (next - n) * (done + 1);
            n = next;
            for (const point of points) {
                if (point < n) {
                    delta++;
                } else if (point === n) {
                    out += writeNumber(delta, bias);
                    bias = adapt(delta, done + 1, done === basic);
                    delta = 0;
                    done++;
                }
            }
            delta++;
            n++;
        }
        return out;
    }

    // Returns undefined where the text is not Punycode.
    function decode(text) {
        const dash = text.lastIndexOf('-');
        const points = dash > 0 ? Array.from(text.slice(0, dash), (letter) => letter.charCodeAt(0)) : [];
        let n = 128;
        let i = 0;
        let bias = 72;
        for (let at = dash > 0 ? dash + 1 : 0; at < text.length;) {
            const before = i;
            let weight = 1;
            for (let k = base; ; k += base) {
                const digit = at < text.length ? valueOf(text.charCodeAt(at++)) : base;
                i += digit * weight;
                if (digit >= base || i > highest) {
                    return undefined;
                }
                const t = threshold(k, bias);
                if (digit < t) {
                    break;
                }
                weight *= base - t;
            }
            const count = points.length + 1;
            bias = adapt(i - before, count, before === 0);
            n += Math.floor(i / count);
            i %= count;
            if (n > 0x10ffff) {
                return undefined;
            }
            points.splice(i++, 0, n);
        }
        return String.fromCodePoint(...points);
    }

    // What stands for a letter in a name. Sharp s, final sigma and the joiners stand for themselves.
    function mapLetter(letter) {
        if (letter === '\u3002' || letter === '\uff0e' || letter === '\uff61') {
            return '.';
        }
        if (letter < '\x80') {
            return letter.toLowerCase();
        }
        if (/[\u00df\u03c2\u0131\u200c\u200d]/.test(letter)) {
            return letter;
        }
        if (dropped.test(letter)) {
            return '';
        }
        if (letter === '\u1e9e') {
            return 'ss';
        }
        // Of Cherokee the capitals are the usual form.
        if (/[\u13a0-\u13fd\uab70-\uabbf]/.test(letter)) {
            return letter.toUpperCase();
        }
        const plain = letter.normalize('NFKC');
        if (plain === '\u0131') {
            return plain;
        }
        return /[.\u3002]/.test(plain) ? '\ufffd' : plain.toUpperCase().toLowerCase().normalize('NFKC');
    }

    function map(text) {
        return Array.from(text, mapLetter).join('').normalize('NFC');
    }

    // The rule of RFC 5893 for a label with letters that go from right to left.
    function breaksBidiRule(label) {
        if (!rightToLeft.test(label) && !arabicDigit.test(label)) {
            return false;
        }
        const letters = Array.from(label);
        const isRight = (letter) => rightToLeft.test(letter);
        if (!isRight(letters[0])) {
            return true;
        }
        const last = letters.findLast((letter) => !/\p{M}/u.test(letter));
        if (!isRight(last) && !arabicDigit.test(last) && !otherDigit.test(last)) {
            return true;
        }
        return (arabicDigit.test(label) && otherDigit.test(label)) ||
            letters.some((letter) => /\p{L}/u.test(letter) && !isRight(letter));
    }

    function hasWrongJoiner(label) {
        if (!/[\u200c\u200d]/.test(label)) {
            return false;
        }
        wrongJoiner ??= new RegExp(`(?<!${virama})(?:\\u200d|(?<!\\p{Script=Arabic}\\p{M}*)\\u200c|` +
            '\\u200c(?!\\p{M}*\\p{Script=Arabic}))', 'u');
        return wrongJoiner.test(label);
    }

    function isValid(label) {
        return !refused.test(label) && !lonelyMark.test(label) && !hasWrongJoiner(label) &&
            !breaksBidiRule(label);
    }

    function labelToASCII(label) {
        const plain = /^[\0-\x7f]*$/.test(label);
        if (label.startsWith('xn--')) {
            const decoded = plain ? decode(label.slice(4)) : undefined;
            if (decoded === undefined || decoded === '' || /^[\0-\x7f]*$/.test(decoded) || decoded.includes('.') ||
                map(decoded) !== decoded || !isValid(decoded)) {
                return undefined;
            }
            return label;
        }
        if (plain) {
            return label;
        }
        return isValid(label) ? `xn--${encode(label)}` : undefined;
    }

    // The name in ASCII, or undefined where there is none.
    function toASCII(domain) {
        if (/^[\0-\x7f]*$/.test(domain)) {
            const small = domain.toLowerCase();
            if (!/(?:^|\.)xn--/.test(small)) {
                return small;
            }
            domain = small;
        }
        const labels = [];
        for (const label of map(domain).split('.')) {
            const ascii = labelToASCII(label);
            if (ascii === undefined) {
                return undefined;
            }
            labels.push(ascii);
        }
        return labels.join('.');
    }

    // The other way round, for people to read: labels that cannot be decoded are left as they are.
    function toUnicode(domain) {
        return domain.split('.').map((label) => {
            const decoded = /^xn--/i.test(label) ? decode(label.slice(4).toLowerCase()) : undefined;
            return decoded === undefined ? label : decoded;
        }).join('.');
    }

    return { toASCII, toUnicode, punycodeEncode: encode, punycodeDecode: decode };
})
