// SPDX-License-Identifier: MIT
// js/lib/querystring.js - node:querystring.
(function (host, need) {
    'use strict';
    const { nodeError } = need('node_error');

    function escape(value) {
        if (typeof value !== 'string')
            value = typeof value === 'object' ? String(value) : `${value}`;
        if (!value.isWellFormed())
            throw nodeError(URIError, 'ERR_INVALID_URI', 'URI malformed');
        return encodeURIComponent(value);
    }

    // Bytes from percent signs; what is no escape stays as it is.
    function unescapeBuffer(text) {
        const { Buffer } = need('buffer');
        const bytes = Buffer.from(String(text), 'latin1');
        const made = [];
        for (let i = 0; i < bytes.length; i++) {
            const pair = bytes[i] === 0x25 ? bytes.toString('latin1', i + 1, i + 3) : '';
            if (/^[\da-f]{2}$/i.test(pair)) {
                made.push(parseInt(pair, 16));
                i += 2;
            } else {
                made.push(bytes[i]);
            }
        }
        return Buffer.from(made);
    }

    function unescape(text) {
        try {
            return decodeURIComponent(text);
        } catch {
            return unescapeBuffer(text).toString();
        }
    }

    function primitive(value) {
        switch (typeof value) {
        case 'string': return value;
        case 'number': return Number.isFinite(value) ? `${value}` : '';
        case 'bigint': case 'boolean': return `${value}`;
        default: return '';
        }
    }

    function stringify(object, separator = '&', equals = '=', options = undefined) {
        const encode = options?.encodeURIComponent ?? exported.escape;
        separator ||= '&';
        equals ||= '=';
        if (object === null || typeof object !== 'object')
            return '';
        const parts = [];
        for (const key of Object.keys(object)) {
            const value = object[key];
            const name = encode(primitive(key)) + equals;
            for (const item of Array.isArray(value) ? value : [value])
                parts.push(name + encode(primitive(item)));
        }
        return parts.join(separator);
    }

    function parse(text, separator = '&', equals = '=', options = undefined) {
        const result = Object.create(null);
        if (typeof text !== 'string' || text.length === 0)
            return result;
        const decode = options?.decodeURIComponent ?? exported.unescape;
        const most = typeof options?.maxKeys === 'number' ? options.maxKeys : 1000;
        const decoded = (part) => {
            const plain = part.replaceAll('+', ' ');
            try {
                return decode === exported.unescape && !/%[\da-f]{2}/i.test(plain) ? plain : decode(plain);
            } catch {
                return unescape(plain);
            }
        };
        let count = 0;
        for (const part of text.split(separator || '&')) {
            if (part === '')
                continue;
            if (most > 0 && count++ >= most)
                break;
            const sign = equals || '=';
            const at = part.indexOf(sign);
            const key = decoded(at < 0 ? part : part.slice(0, at));
            const value = at < 0 ? '' : decoded(part.slice(at + sign.length));
            if (!(key in result))
                result[key] = value;
            else if (Array.isArray(result[key]))
                result[key].push(value);
            else
                result[key] = [result[key], value];
        }
        return result;
    }

    const exported = { escape, unescape, unescapeBuffer, stringify, parse, encode: stringify, decode: parse };
    return exported;
})
