// SPDX-License-Identifier: MIT
// js/lib/inspect_text.js - text for inspect: quoting, widths, colours, numbers with separators, and layout in lines.
// host: nothing.
(function () {
    'use strict';

    const SHORT_ESCAPES = { '\b': '\\b', '\t': '\\t', '\n': '\\n', '\f': '\\f', '\r': '\\r', '\\': '\\\\' };
    const NEEDS_ESCAPE = /[\x00-\x1f'\\\x7f-\x9f\ud800-\udfff]/;
    const TO_ESCAPE = /[\x00-\x1f'\\\x7f-\x9f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
    const TO_ESCAPE_BUT_QUOTE =
        /[\x00-\x1f\\\x7f-\x9f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

    function escapeCode(code) {
        if (code > 255) return '\\u' + code.toString(16);
        return '\\x' + code.toString(16).toUpperCase().padStart(2, '0');
    }

    function escapeOne(char) {
        if (char === '\'') return '\\\'';
        const short = SHORT_ESCAPES[char];
        if (short !== undefined) return short;
        return escapeCode(char.charCodeAt(0));
    }

    // Quotes a string the way a person would write it: single quotes unless others save escapes.
    function quote(text) {
        if (!NEEDS_ESCAPE.test(text)) return '\'' + text + '\'';
        if (!text.includes('\'')) return '\'' + text.replace(TO_ESCAPE, escapeOne) + '\'';
        let mark = '\'';
        if (!text.includes('"')) mark = '"';
        else if (!text.includes('`') && !text.includes('${')) mark = '`';
        const pattern = mark === '\'' ? TO_ESCAPE : TO_ESCAPE_BUT_QUOTE;
        return mark + text.replace(pattern, escapeOne) + mark;
    }

    // Escapes without adding quotes: for the names of symbols and of hidden keys.
    function escapeName(text) {
        return text.replace(TO_ESCAPE, escapeOne);
    }

    // What a terminal takes as a command (ECMA-48): a string up to BEL or ST, a sequence, a short escape.
    const CONTROL =
        /(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-Z\\^-~]/g;

    function stripControl(text) {
        return text.includes('\x1b') || text.includes('\x9b') ? text.replace(CONTROL, '') : text;
    }

    const COLOUR = /\x1b\[\d\d?m/g;

    function plainLength(text, colors) {
        return colors ? text.replace(COLOUR, '').length : text.length;
    }

    // First and last code point of each range that takes two columns (East Asian Width W and F).
    const WIDE = [
        0x1100, 0x115f, 0x231a, 0x231b, 0x2329, 0x232a, 0x23e9, 0x23ec, 0x23f0, 0x23f0, 0x23f3, 0x23f3, 0x25fd, 0x25fe,
        0x2614, 0x2615, 0x2648, 0x2653, 0x267f, 0x267f, 0x2693, 0x2693, 0x26a1, 0x26a1, 0x26aa, 0x26ab, 0x26bd, 0x26be,
        0x26c4, 0x26c5, 0x26ce, 0x26ce, 0x26d4, 0x26d4, 0x26ea, 0x26ea, 0x26f2, 0x26f3, 0x26f5, 0x26f5, 0x26fa, 0x26fa,
        0x26fd, 0x26fd, 0x2705, 0x2705, 0x270a, 0x270b, 0x2728, 0x2728, 0x274c, 0x274c, 0x274e, 0x274e, 0x2753, 0x2755,
        0x2757, 0x2757, 0x2795, 0x2797, 0x27b0, 0x27b0, 0x27bf, 0x27bf, 0x2b1b, 0x2b1c, 0x2b50, 0x2b50, 0x2b55, 0x2b55,
        0x2e80, 0x303e, 0x3041, 0x3247, 0x3250, 0x4dbf, 0x4e00, 0xa4c6, 0xa960, 0xa97c, 0xac00, 0xd7a3, 0xf900, 0xfaff,
        0xfe10, 0xfe19, 0xfe30, 0xfe6b, 0xff01, 0xff60, 0xffe0, 0xffe6, 0x16fe0, 0x18cff, 0x1b000, 0x1b2ff, 0x1f004,
        0x1f004, 0x1f0cf, 0x1f0cf, 0x1f18e, 0x1f18e, 0x1f191, 0x1f19a, 0x1f200, 0x1f320, 0x1f32d, 0x1f335, 0x1f337,
        0x1f37c, 0x1f37e, 0x1f393, 0x1f3a0, 0x1f3ca, 0x1f3cf, 0x1f3d3, 0x1f3e0, 0x1f3f0, 0x1f3f4, 0x1f3f4, 0x1f3f8,
        0x1f43e, 0x1f440, 0x1f440, 0x1f442, 0x1f4fc, 0x1f4ff, 0x1f53d, 0x1f54b, 0x1f54e, 0x1f550, 0x1f567, 0x1f57a,
        0x1f57a, 0x1f595, 0x1f596, 0x1f5a4, 0x1f5a4, 0x1f5fb, 0x1f64f, 0x1f680, 0x1f6c5, 0x1f6cc, 0x1f6cc, 0x1f6d0,
        0x1f6d2, 0x1f6d5, 0x1f6d7, 0x1f6dc, 0x1f6df, 0x1f6eb, 0x1f6ec, 0x1f6f4, 0x1f6fc, 0x1f7e0, 0x1f7f0, 0x1f90c,
        0x1f93a, 0x1f93c, 0x1f945, 0x1f947, 0x1faf8, 0x20000, 0x3fffd,
    ];

    function isWide(code) {
        if (code < WIDE[0]) return false;
        let low = 0;
        let high = WIDE.length / 2 - 1;
        while (low < high) {
            const middle = (low + high + 1) >> 1;
            if (WIDE[middle * 2] <= code) low = middle;
            else high = middle - 1;
        }
        return code <= WIDE[low * 2 + 1];
    }

    // Made when it is needed: the tables behind it take time.
    let noWidth;

    // How many columns a terminal needs for the text.
    function width(text) {
        if (/^[ -~]*$/.test(text)) return text.length;
        text = stripControl(text);
        let columns = 0;
        for (let i = 0; i < text.length; i++) {
            const code = text.charCodeAt(i);
            if (code >= 127) return columns + wideWidth(text.slice(i).normalize('NFC'));
            if (code >= 32) columns++;
        }
        return columns;
    }

    function wideWidth(text) {
        let columns = 0;
        if (noWidth === undefined) noWidth = new RegExp('[\\p{Mn}\\p{Me}\\p{Cf}\\p{Cc}]', 'u');
        for (const char of text) {
            const code = char.codePointAt(0);
            if (isWide(code)) columns += 2;
            else if (code === 0xad || !noWidth.test(char)) columns++;
        }
        return columns;
    }

    const COLOR_NAMES = ['reset', 0, 0, 'bold', 1, 22, 'dim', 2, 22, 'italic', 3, 23, 'underline', 4, 24, 'blink', 5, 25,
        'inverse', 7, 27, 'hidden', 8, 28, 'strikethrough', 9, 29, 'doubleunderline', 21, 24];
    const HUES = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];
    const ALIASES = { grey: 'gray', blackBright: 'gray', bgGrey: 'bgGray', bgBlackBright: 'bgGray', faint: 'dim',
        crossedout: 'strikethrough', strikeThrough: 'strikethrough', crossedOut: 'strikethrough', conceal: 'hidden',
        swapColors: 'inverse', swapcolors: 'inverse', doubleUnderline: 'doubleunderline' };

    function makeColors() {
        const colors = { __proto__: null };
        for (let i = 0; i < COLOR_NAMES.length; i += 3) colors[COLOR_NAMES[i]] = [COLOR_NAMES[i + 1], COLOR_NAMES[i + 2]];
        HUES.forEach((hue, i) => { colors[hue] = [30 + i, 39]; });
        HUES.forEach((hue, i) => { colors['bg' + hue[0].toUpperCase() + hue.slice(1)] = [40 + i, 49]; });
        colors.framed = [51, 54];
        colors.overlined = [53, 55];
        colors.gray = [90, 39];
        HUES.slice(1).forEach((hue, i) => { colors[hue + 'Bright'] = [91 + i, 39]; });
        colors.bgGray = [100, 49];
        HUES.slice(1).forEach((hue, i) => {
            colors['bg' + hue[0].toUpperCase() + hue.slice(1) + 'Bright'] = [101 + i, 49];
        });
        for (const alias of Object.keys(ALIASES)) {
            const target = ALIASES[alias];
            Object.defineProperty(colors, alias, {
                get() { return this[target]; }, set(value) { this[target] = value; },
                configurable: true, enumerable: false,
            });
        }
        return colors;
    }

    function makeStyles() {
        return { __proto__: null, special: 'cyan', number: 'yellow', bigint: 'yellow', boolean: 'yellow', undefined: 'grey',
            null: 'bold', string: 'green', symbol: 'green', date: 'magenta', regexp: 'red', module: 'underline' };
    }

    function groupDigits(digits) {
        let out = '';
        let end = digits.length;
        const start = digits[0] === '-' ? 1 : 0;
        for (; end >= start + 4; end -= 3) out = '_' + digits.slice(end - 3, end) + out;
        return digits.slice(0, end) + out;
    }

    function groupFraction(digits) {
        let out = '';
        let at = 0;
        for (; at + 3 < digits.length; at += 3) out += digits.slice(at, at + 3) + '_';
        return out + digits.slice(at);
    }

    // A number as text, with underscores between groups of three digits if asked for.
    function numberText(value, separators) {
        const text = String(value);
        if (!separators) return Object.is(value, -0) ? '-0' : text;
        if (!Number.isFinite(value) || text.includes('e')) return text;
        const dot = text.indexOf('.');
        if (dot < 0) return groupDigits(text);
        return groupDigits(text.slice(0, dot)) + '.' + groupFraction(text.slice(dot + 1));
    }

    function bigintText(value, separators) {
        const text = String(value);
        return (separators ? groupDigits(text) : text) + 'n';
    }

    // Whether the entries, with what stands around them, fit on one line.
    function fits(context, entries, start, base) {
        let total = entries.length + start;
        if (total + entries.length > context.breakLength) return false;
        for (const entry of entries) {
            total += plainLength(entry, context.colors);
            if (total > context.breakLength) return false;
        }
        return base === '' || !base.includes('\n');
    }

    // Sets more than six short entries of an array in columns. Gives the entries back where columns do not pay.
    function inColumns(context, entries, value) {
        const hasMore = context.maxArrayLength < entries.length;
        const count = hasMore ? entries.length - 1 : entries.length;
        const gap = 2;
        const lengths = [];
        let total = 0;
        let longest = 0;
        for (let i = 0; i < count; i++) {
            lengths[i] = width(entries[i]);
            total += lengths[i] + gap;
            longest = Math.max(longest, lengths[i]);
        }
        const cell = longest + gap;
        if (cell * 3 + context.indentationLvl >= context.breakLength || (total / cell <= 5 && longest > 6)) return entries;
        const bias = Math.sqrt(cell - total / entries.length);
        const biased = Math.max(cell - 3 - bias, 1);
        const columns = Math.min(Math.round(Math.sqrt(2.5 * biased * count) / biased),
            Math.floor((context.breakLength - context.indentationLvl) / cell), context.compact * 4, 15);
        if (columns <= 1) return entries;
        const rows = layRows(entries, lengths, count, columns, alignRight(value, entries.length));
        if (hasMore) rows.push(entries[count]);
        return rows;
    }

    // Only a list of nothing but numbers is set flush right.
    function alignRight(value, count) {
        if (value === undefined) return true;
        for (let i = 0; i < count; i++) {
            if (typeof value[i] !== 'number' && typeof value[i] !== 'bigint') return false;
        }
        return true;
    }

    function layRows(entries, lengths, count, columns, right) {
        const widths = [];
        for (let i = 0; i < columns; i++) {
            let most = 0;
            for (let j = i; j < count; j += columns) most = Math.max(most, lengths[j]);
            widths.push(most + 2);
        }
        const rows = [];
        for (let i = 0; i < count; i += columns) {
            const last = Math.min(i + columns, count) - 1;
            let row = '';
            for (let j = i; j < last; j++) {
                const padding = widths[j - i] + entries[j].length - lengths[j];
                const text = entries[j] + ', ';
                row += right ? text.padStart(padding) : text.padEnd(padding);
            }
            row += right ? entries[last].padStart(widths[last - i] + entries[last].length - lengths[last] - 2) :
                entries[last];
            rows.push(row);
        }
        return rows;
    }

    // Joins what stands between the braces: on one line where it fits, else one entry (or row) on each line.
    function joinEntries(context, entries, base, braces, isList, depth, value) {
        const lead = base === '' ? '' : base + ' ';
        const newline = '\n' + ' '.repeat(context.indentationLvl);
        if (context.compact === true) {
            if (fits(context, entries, 0, base)) {
                return braces[0] + (base === '' ? '' : ' ' + base) + ' ' + entries.join(', ') + ' ' + braces[1];
            }
            const open = base === '' && braces[0].length === 1 ? ' ' : (base === '' ? '' : ' ' + base) + newline + '  ';
            return braces[0] + open + entries.join(',' + newline + '  ') + ' ' + braces[1];
        }
        if (typeof context.compact === 'number' && context.compact >= 1) {
            const count = entries.length;
            if (isList && count > 6) entries = inColumns(context, entries, value);
            if (context.currentDepth - depth < context.compact && count === entries.length) {
                const start = entries.length + context.indentationLvl + braces[0].length + base.length + 10;
                if (fits(context, entries, start, base)) {
                    const joined = entries.join(', ');
                    if (!joined.includes('\n')) return lead + braces[0] + ' ' + joined + ' ' + braces[1];
                }
            }
        }
        // One entry is not joined: what is deep would be copied at each level.
        const all = entries.length === 1 ? entries[0] : entries.join(',' + newline + '  ');
        return lead + braces[0] + newline + '  ' + all + newline + braces[1];
    }

    return { quote, escapeName, stripControl, width, plainLength, makeColors, makeStyles, numberText, bigintText,
        joinEntries };
})
