// SPDX-License-Identifier: MIT
// js/lib/blob.js - Blob and File.
(function (host, need) {
    'use strict';

    const idl = need('idl');
    const { INTERNAL, coded, invalidThis, invalidArgument, invalidValue, promiseReject } = need('streams_base');

    const BytesClass = Uint8Array;

    let partsOf;
    let isBlob;
    let isFile;

    // Text outside printable ASCII is no type at all; the rest counts in lower case.
    function normalizeType(type) {
        return /[^\x20-\x7E]/.test(type) ? '' : type.toLowerCase();
    }

    const isBuffer = (source) => source instanceof ArrayBuffer || source instanceof SharedArrayBuffer;

    function copyOf(source) {
        if (ArrayBuffer.isView(source)) {
            return new BytesClass(source.buffer, source.byteOffset, source.byteLength).slice();
        }
        return new BytesClass(source).slice();
    }

    // A part as bytes that nobody else can change.
    function addPart(parts, source, native) {
        const isObject = source !== null && typeof source === 'object';
        if (isObject && isBlob(source)) {
            for (const part of partsOf(source).parts) {
                parts.push(part);
            }
            return;
        }
        let bytes;
        if (isObject && (ArrayBuffer.isView(source) || isBuffer(source))) {
            bytes = copyOf(source);
        } else {
            let text = `${source}`.toWellFormed();
            if (native) {
                text = text.replace(/\r\n/g, '\n');
            }
            bytes = need('encoding').encodeUtf8(text);
        }
        if (bytes.byteLength > 0) {
            parts.push(bytes);
        }
    }

    function readParts(sources, native) {
        const parts = [];
        for (const source of sources) {
            addPart(parts, source, native);
        }
        return parts;
    }

    function lengthOf(parts) {
        let total = 0;
        for (const part of parts) {
            total += part.byteLength;
        }
        return total;
    }

    function joinParts(parts, size) {
        const bytes = new BytesClass(size);
        let at = 0;
        for (const part of parts) {
            bytes.set(part, at);
            at += part.byteLength;
        }
        return bytes;
    }

    // Text without the mark that may stand at its beginning.
    function decode(bytes) {
        const text = need('encoding').decodeUtf8(bytes);
        return text.charCodeAt(0) === 0xFEFF ? text.slice(1) : text;
    }

    // An integer of WebIDL with [Clamp].
    function clamp(value) {
        const number = +value;
        if (Number.isNaN(number)) {
            return 0;
        }
        const limited = Math.min(Math.max(number, -Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
        const low = Math.floor(limited);
        const rest = limited - low;
        return rest < 0.5 || rest === 0.5 && low % 2 === 0 ? low : low + 1;
    }

    function position(value, size) {
        const number = clamp(value);
        return number < 0 ? Math.max(size + number, 0) : Math.min(number, size);
    }

    function cutParts(parts, from, to) {
        const cut = [];
        let at = 0;
        for (const part of parts) {
            const begin = Math.max(from - at, 0);
            const end = Math.min(to - at, part.byteLength);
            if (begin < end) {
                cut.push(part.subarray(begin, end));
            }
            at += part.byteLength;
        }
        return cut;
    }

    function streamOf(parts) {
        const { ReadableStream } = need('streams_readable');
        let next = 0;
        return new ReadableStream({
            type: 'bytes',
            pull(controller) {
                if (next < parts.length) {
                    controller.enqueue(parts[next++].slice());
                    return;
                }
                controller.close();
                if (controller.byobRequest !== null) {
                    controller.byobRequest.respond(0);
                }
            },
        }, { highWaterMark: 0 });
    }

    class Blob {
        #parts;
        #size;
        #type;

        constructor(sources = [], options = undefined) {
            if (sources === INTERNAL) {
                this.#parts = options.parts;
                this.#size = lengthOf(options.parts);
                this.#type = options.type;
                return;
            }
            if (sources === null || typeof sources !== 'object' || typeof sources[Symbol.iterator] !== 'function') {
                throw invalidArgument('sources', 'a sequence', sources);
            }
            if (options !== undefined && options !== null && !idl.isObject(options)) {
                throw invalidArgument('options', 'a dictionary', options);
            }
            let type = '';
            let endings = 'transparent';
            if (options !== undefined && options !== null) {
                ({ type = '', endings = 'transparent' } = options);
                endings = `${endings}`;
            }
            if (endings !== 'transparent' && endings !== 'native') {
                throw invalidValue(TypeError, 'options.endings', endings);
            }
            this.#parts = readParts(sources, endings === 'native');
            this.#size = lengthOf(this.#parts);
            this.#type = normalizeType(`${type}`);
        }

        static {
            isBlob = (value) => value !== null && typeof value === 'object' && #parts in value;
            partsOf = (value) => {
                if (!isBlob(value)) {
                    throw invalidThis('Blob');
                }
                return { parts: value.#parts, size: value.#size, type: value.#type };
            };
        }

        get type() {
            return partsOf(this).type;
        }

        get size() {
            return partsOf(this).size;
        }

        slice(start = undefined, end = undefined, contentType = '') {
            const { parts, size } = partsOf(this);
            const from = start === undefined ? 0 : position(start, size);
            const to = end === undefined ? size : position(end, size);
            return makeBlob(cutParts(parts, from, to), normalizeType(`${contentType}`));
        }

        arrayBuffer() {
            return later(this, (parts, size) => joinParts(parts, size).buffer);
        }

        text() {
            return later(this, (parts, size) => decode(joinParts(parts, size)));
        }

        bytes() {
            partsOf(this);
            return later(this, joinParts);
        }

        stream() {
            return streamOf(partsOf(this).parts);
        }
    }

    // What a reading method gives: a promise also when the object is a wrong one.
    function later(blob, read) {
        if (!isBlob(blob)) {
            return promiseReject(invalidThis('Blob'));
        }
        const { parts, size } = partsOf(blob);
        return Promise.resolve().then(() => read(parts, size));
    }

    function makeBlob(parts, type) {
        return new Blob(INTERNAL, { parts, type });
    }

    class File extends Blob {
        #name;
        #lastModified;

        constructor(fileBits, fileName, options = undefined) {
            if (arguments.length < 2) {
                throw coded(TypeError, 'ERR_MISSING_ARGS', 'The "fileBits" and "fileName" arguments must be specified');
            }
            super(fileBits, options);
            const modified = options === undefined || options === null ? undefined : options.lastModified;
            this.#lastModified = modified === undefined ? Date.now() : +modified || 0;
            this.#name = `${fileName}`.toWellFormed();
        }

        static {
            isFile = (value) => value !== null && typeof value === 'object' && #name in value;
        }

        get name() {
            if (!isFile(this)) {
                throw invalidThis('File');
            }
            return this.#name;
        }

        get lastModified() {
            if (!isFile(this)) {
                throw invalidThis('File');
            }
            return this.#lastModified;
        }
    }

    idl.define(Blob);
    idl.define(File);
    // Node 20 keeps this one out of sight.
    Object.defineProperty(Blob.prototype, 'bytes', { enumerable: false });
    idl.inspectAs(Blob, (blob) => ['Blob', { size: blob.size, type: blob.type }]);
    idl.inspectAs(File, (file) =>
        ['File', { size: file.size, type: file.type, name: file.name, lastModified: file.lastModified }]);

    return { Blob, File, isBlob, isFile, partsOf, makeBlob };
})
