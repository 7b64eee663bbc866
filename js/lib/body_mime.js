// SPDX-License-Identifier: MIT
// js/lib/body_mime.js - MIME types: parse, serialize, and find the one of a body.
(function (host, need) {
    'use strict';

    const { isToken } = need('headers');

    const trimEnd = (text) => text.replace(/[\t\n\r ]+$/, '');
    const trim = (text) => trimEnd(text.replace(/^[\t\n\r ]+/, ''));
    const isQuotable = (text) => /^[\t\x20-\x7E\x80-\xFF]*$/.test(text);

    // A quoted string from the mark at `from`; gives its text and where it ends.
    function quotedString(text, from) {
        let value = '';
        let at = from + 1;
        for (;;) {
            if (at >= text.length) {
                return { value, next: at };
            }
            const letter = text[at++];
            if (letter === '"') {
                return { value, next: at };
            }
            if (letter === '\\') {
                value += at < text.length ? text[at++] : '\\';
            } else {
                value += letter;
            }
        }
    }

    function parseParameters(text, from) {
        const parameters = new Map();
        let at = from;
        while (at < text.length) {
            at += 1;
            while (at < text.length && /[\t\n\r ]/.test(text[at])) {
                at += 1;
            }
            const nameEnd = at + text.slice(at).search(/[;=]|$/);
            const name = text.slice(at, nameEnd).toLowerCase();
            at = nameEnd;
            if (at < text.length && text[at] === ';') {
                continue;
            }
            at += 1;
            if (at > text.length) {
                break;
            }
            let value;
            if (text[at] === '"') {
                const quoted = quotedString(text, at);
                value = quoted.value;
                at = quoted.next;
                at += text.slice(at).search(/;|$/);
            } else {
                const end = at + text.slice(at).search(/;|$/);
                value = trimEnd(text.slice(at, end));
                at = end;
                if (value === '') {
                    continue;
                }
            }
            if (isToken(name) && isQuotable(value) && !parameters.has(name)) {
                parameters.set(name, value);
            }
        }
        return parameters;
    }

    // {type, subtype, essence, parameters}, or undefined.
    function parseMime(input) {
        const text = trim(input);
        const slash = text.indexOf('/');
        if (slash < 1) {
            return undefined;
        }
        const type = text.slice(0, slash);
        const semicolon = text.indexOf(';', slash);
        const end = semicolon < 0 ? text.length : semicolon;
        const subtype = trimEnd(text.slice(slash + 1, end));
        if (!isToken(type) || !isToken(subtype)) {
            return undefined;
        }
        const essence = `${type}/${subtype}`.toLowerCase();
        return { essence, parameters: parseParameters(text, end) };
    }

    function serializeMime(mime) {
        let text = mime.essence;
        for (const [name, value] of mime.parameters) {
            text += `;${name}=` + (isToken(value) ? value : `"${value.replace(/(["\\])/g, '\\$1')}"`);
        }
        return text;
    }

    // The values of a list of headers, split at commas outside quotes.
    function splitValues(text) {
        const values = [];
        let current = '';
        for (let at = 0; at < text.length;) {
            if (text[at] === '"') {
                const { next } = quotedString(text, at);
                current += text.slice(at, next);
                at = next;
            } else if (text[at] === ',') {
                values.push(trim(current));
                current = '';
                at += 1;
            } else {
                current += text[at++];
            }
        }
        values.push(trim(current));
        return values;
    }

    // The MIME type that a list of headers declares, or undefined.
    function extractMime(list) {
        const value = list.get('content-type');
        if (value === null) {
            return undefined;
        }
        let found;
        let charset;
        let essence;
        for (const text of splitValues(value)) {
            const mime = parseMime(text);
            if (mime === undefined || mime.essence === '*/*') {
                continue;
            }
            found = mime;
            if (mime.essence !== essence) {
                charset = mime.parameters.get('charset');
                essence = mime.essence;
            } else if (!mime.parameters.has('charset') && charset !== undefined) {
                mime.parameters.set('charset', charset);
            }
        }
        return found;
    }

    return { parseMime, serializeMime, extractMime };
})
