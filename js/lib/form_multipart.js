// SPDX-License-Identifier: MIT
// js/lib/form_multipart.js - multipart/form-data and urlencoded bodies to FormData, and FormData to bytes.
(function (host, need) {
    'use strict';

    const { FormData, entriesOf } = need('form_data');
    const { File, partsOf } = need('blob');

    const encode = (text) => need('encoding').encodeUtf8(text);
    const decode = (bytes) => need('encoding').decodeUtf8(bytes);
    const failure = () => new TypeError('Failed to parse body as FormData.');

    function makeBoundary() {
        let digits = '';
        for (let i = 0; i < 12; i++) {
            digits += Math.floor(Math.random() * 10);
        }
        return '----formdata-weft-' + digits;
    }

    const escapeName = (name) => name.replace(/\n/g, '%0A').replace(/\r/g, '%0D').replace(/"/g, '%22');
    const unifyLines = (text) => text.replace(/\r?\n|\r/g, '\r\n');

    // The form as parts of bytes, and its length.
    function encodeForm(form) {
        const boundary = makeBoundary();
        const prefix = `--${boundary}\r\nContent-Disposition: form-data`;
        const parts = [];
        for (const [name, value] of entriesOf(form)) {
            if (typeof value === 'string') {
                parts.push(encode(`${prefix}; name="${escapeName(unifyLines(name))}"\r\n\r\n${unifyLines(value)}\r\n`));
                continue;
            }
            const { parts: content, type } = partsOf(value);
            const fileName = value.name ? `; filename="${escapeName(value.name)}"` : '';
            parts.push(encode(`${prefix}; name="${escapeName(unifyLines(name))}"${fileName}\r\n` +
                `Content-Type: ${type || 'application/octet-stream'}\r\n\r\n`));
            parts.push(...content, encode('\r\n'));
        }
        parts.push(encode(`--${boundary}--\r\n`));
        return { parts, boundary };
    }

    function startsWith(bytes, at, wanted) {
        if (at + wanted.length > bytes.length) {
            return false;
        }
        for (let i = 0; i < wanted.length; i++) {
            if (bytes[at + i] !== wanted[i]) {
                return false;
            }
        }
        return true;
    }

    function indexOf(bytes, wanted, from) {
        const first = wanted[0];
        for (let at = bytes.indexOf(first, from); at >= 0; at = bytes.indexOf(first, at + 1)) {
            if (startsWith(bytes, at, wanted)) {
                return at;
            }
        }
        return -1;
    }

    const LINE = [13, 10];

    // A walk over the bytes of one multipart body.
    class Walk {
        constructor(bytes) {
            this.bytes = bytes;
            this.at = 0;
        }

        looksAt(wanted) {
            return startsWith(this.bytes, this.at, wanted);
        }

        take(wanted) {
            if (!this.looksAt(wanted)) {
                throw failure();
            }
            this.at += wanted.length;
        }

        line() {
            const end = indexOf(this.bytes, LINE, this.at);
            if (end < 0) {
                throw failure();
            }
            const line = this.bytes.subarray(this.at, end);
            this.at = end + 2;
            return line;
        }
    }

    // A quoted value of Content-Disposition; gives the text and where the rest begins.
    function quotedValue(text, from) {
        const end = text.indexOf('"', from);
        if (end < 0) {
            throw failure();
        }
        const value = text.slice(from, end).replace(/%0A/gi, '\n').replace(/%0D/gi, '\r').replace(/%22/g, '"');
        return { value, next: end + 1 };
    }

    function readDisposition(text) {
        const start = 'form-data; name="';
        if (!text.startsWith(start)) {
            throw failure();
        }
        const name = quotedValue(text, start.length);
        const rest = text.slice(name.next);
        const second = '; filename="';
        if (rest === '') {
            return { name: name.value, fileName: undefined };
        }
        if (!rest.startsWith(second)) {
            throw failure();
        }
        const file = quotedValue(rest, second.length);
        if (file.next !== rest.length) {
            throw failure();
        }
        return { name: name.value, fileName: file.value };
    }

    function readPartHeaders(walk) {
        let disposition;
        let type;
        let transfer;
        for (;;) {
            if (walk.looksAt(LINE)) {
                walk.at += 2;
                break;
            }
            const line = decode(walk.line());
            const colon = line.indexOf(':');
            if (colon <= 0 || !/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(line.slice(0, colon).trim())) {
                throw failure();
            }
            const value = line.slice(colon + 1).replace(/^[ \t]+|[ \t]+$/g, '');
            const name = line.slice(0, colon).trim().toLowerCase();
            if (name === 'content-disposition') {
                disposition = readDisposition(value);
            } else if (name === 'content-type') {
                type = value;
            } else if (name === 'content-transfer-encoding') {
                transfer = value;
            }
        }
        if (disposition === undefined) {
            throw failure();
        }
        return { ...disposition, type, transfer };
    }

    function addPart(entries, headers, content) {
        const body = headers.transfer === 'base64' ? Uint8Array.fromBase64(decode(content)) : content;
        const value = headers.fileName === undefined ? decode(body) :
            new File([body], headers.fileName, { type: headers.type === undefined ? 'text/plain' : headers.type });
        entries.push([headers.name.toWellFormed(), value]);
    }

    function parseMultipart(bytes, boundary) {
        if (boundary === undefined || boundary.length < 1 || boundary.length > 70) {
            throw failure();
        }
        const form = new FormData();
        const entries = entriesOf(form);
        const delimiter = encode('--' + boundary);
        const next = encode('\r\n--' + boundary);
        const walk = new Walk(bytes);
        while (walk.looksAt(LINE)) {
            walk.at += 2;
        }
        for (;;) {
            walk.take(delimiter);
            if (walk.looksAt([45, 45])) {
                const left = bytes.length - walk.at - 2;
                if (left === 0 || left === 2 && startsWith(bytes, walk.at + 2, LINE)) {
                    return form;
                }
                throw failure();
            }
            walk.take(LINE);
            const headers = readPartHeaders(walk);
            const end = indexOf(bytes, next, walk.at);
            if (end < 0) {
                throw failure();
            }
            addPart(entries, headers, bytes.subarray(walk.at, end));
            walk.at = end + 2;
        }
    }

    function parseUrlencoded(bytes) {
        const form = new FormData();
        const entries = entriesOf(form);
        for (const [name, value] of new (need('url').URLSearchParams)(decode(bytes))) {
            entries.push([name, value]);
        }
        return form;
    }

    return { encodeForm, parseMultipart, parseUrlencoded };
})
