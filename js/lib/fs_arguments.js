// SPDX-License-Identifier: MIT
// js/lib/fs_arguments.js - what node:fs is given: paths, descriptors, flags, modes, options, places, times, bytes; and how it is
// refused.
(function (host, need) {
    'use strict';
    const { Buffer } = need('buffer');
    const { nodeError, invalidArgType, invalidArgValue, outOfRange, validateInteger, validateBoolean,
        validateAbortSignal } = need('node_error');
    const MOST_INT32 = 2147483647, MOST_UINT32 = 4294967295;

    // ---- Paths ----

    function fromURL(url) {
        if (url.protocol !== 'file:')
            throw nodeError(TypeError, 'ERR_INVALID_URL_SCHEME', 'The URL must be of scheme file');
        if (url.hostname !== '')
            throw nodeError(TypeError, 'ERR_INVALID_FILE_URL_HOST',
                'File URL host must be "localhost" or empty on linux');
        if (/%2f/i.test(url.pathname))
            throw nodeError(TypeError, 'ERR_INVALID_FILE_URL_PATH', 'File URL path must not include encoded / characters');
        return decodeURIComponent(url.pathname);
    }

    const isURL = (value) => typeof value === 'object' && value !== null && value.href && value.protocol
        && value.auth === undefined && value.path === undefined;

    // A string, or the bytes of a Buffer.
    function toPath(value, name = 'path') {
        const path = isURL(value) ? fromURL(value) : value;
        if (typeof path === 'string' ? path.includes('\u0000') : path instanceof Uint8Array && path.includes(0))
            throw invalidArgValue(name, value, 'must be a string, Uint8Array, or URL without null bytes');
        if (typeof path !== 'string' && !(path instanceof Uint8Array))
            throw invalidArgType(name, ['string', 'Buffer', 'URL'], value);
        return path;
    }

    const isDescriptor = (value) => typeof value === 'number' && (value | 0) === value && value >= 0;

    function toDescriptor(value, name = 'fd') {
        validateInteger(value, name, 0, MOST_INT32);
        return value;
    }

    const toPathOrDescriptor = (value) => (isDescriptor(value) ? value : toPath(value));

    // ---- Flags and modes ----

    const ways = { r: 0o0, 'r+': 0o2, w: 0o1101, 'w+': 0o1102, a: 0o2101, 'a+': 0o2102 };
    const EXCLUSIVE = 0o200, SYNC = 0o4010000;
    const flagNames = new Map(Object.entries(ways));
    for (const [letter, bit, first] of [['s', SYNC, ['r+', 'a', 'a+', 'r']], ['x', EXCLUSIVE, ['w', 'w+', 'a', 'a+']]]) {
        for (const way of first) {
            flagNames.set(way[0] + letter + way.slice(1), ways[way] | bit);
            flagNames.set(letter + way, ways[way] | bit);
        }
    }

    function toFlags(flags, name = 'flags') {
        if (typeof flags === 'number') {
            validateInteger(flags, name, -2147483648, MOST_INT32);
            return flags;
        }
        if (flags === undefined || flags === null)
            return 0;
        const known = flagNames.get(flags);
        if (known === undefined)
            throw invalidArgValue(name, flags);
        return known;
    }

    function toMode(mode, name, otherwise) {
        const value = mode ?? otherwise;
        if (typeof value === 'string') {
            if (!/^[0-7]+$/.test(value))
                throw invalidArgValue(name, value, 'must be a 32-bit unsigned integer or an octal string');
            return parseInt(value, 8);
        }
        validateInteger(value, name, 0, MOST_UINT32);
        return value;
    }

    // Of access and copyFile.
    function toSmallMode(mode) {
        if (mode === undefined || mode === null)
            return 0;
        if (typeof mode !== 'number' || (mode | 0) !== mode)
            throw nodeError(TypeError, 'ERR_INVALID_ARG_TYPE', 'mode must be int32 or null/undefined');
        if (mode < 0 || mode > 7)
            throw nodeError(RangeError, 'ERR_OUT_OF_RANGE', 'mode is out of range: >= 0 && <= 7');
        return mode;
    }

    function toOwner(value, name) {
        validateInteger(value, name, -1, MOST_UINT32);
        return value;
    }

    // ---- Options ----

    function checkEncoding(encoding) {
        if (encoding && encoding !== 'buffer' && !Buffer.isEncoding(encoding))
            throw invalidArgValue('encoding', encoding, 'is invalid encoding');
    }

    function toOptions(options, defaults = {}) {
        if (options === undefined || options === null || typeof options === 'function')
            return defaults;
        if (typeof options === 'string')
            options = { ...defaults, encoding: options };
        else if (typeof options !== 'object')
            throw invalidArgType('options', ['string', 'Object'], options);
        else
            options = { ...defaults, ...options };
        checkEncoding(options.encoding);
        if (options.signal !== undefined)
            validateAbortSignal(options.signal, 'options.signal');
        return options;
    }

    function toFlag(value, name) {
        if (value === undefined || value === null)
            return false;
        validateBoolean(value, name);
        return value;
    }

    // ---- Bytes ----

    const asBuffer = (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const asBytes = (view) => (view instanceof Uint8Array ? view
        : new Uint8Array(view.buffer, view.byteOffset, view.byteLength));

    function checkView(value, name = 'buffer') {
        if (!ArrayBuffer.isView(value))
            throw invalidArgType(name, ['Buffer', 'TypedArray', 'DataView'], value);
    }

    function checkViews(value) {
        if (!Array.isArray(value) || !value.every((view) => ArrayBuffer.isView(view)))
            throw invalidArgType('buffers', 'ArrayBufferView[]', value);
    }

    // What the host can write: a string as UTF-8, or bytes.
    function toData(value, encoding, name = 'data') {
        if (typeof value === 'string') {
            if (encoding && encoding !== 'utf8' && encoding !== 'utf-8')
                return Buffer.from(value, encoding);
            return value.isWellFormed() ? value : value.toWellFormed();
        }
        if (!ArrayBuffer.isView(value))
            throw invalidArgType(name, ['string', 'Buffer', 'TypedArray', 'DataView'], value);
        return asBytes(value);
    }

    // Names that the host has given as strings or, for an encoding of one's own, as bytes.
    const isOwnEncoding = (encoding) => !!encoding && encoding !== 'utf8' && encoding !== 'utf-8';
    function toName(encoding) {
        if (!isOwnEncoding(encoding))
            return undefined;
        return (bytes) => (encoding === 'buffer' ? asBuffer(bytes) : asBuffer(bytes).toString(encoding));
    }

    // ---- Places and times ----

    // -1: where the file stands.
    function toPosition(position) {
        if (position === undefined || position === null)
            return -1;
        if (typeof position === 'number') {
            validateInteger(position, 'position', -1);
        } else if (typeof position === 'bigint') {
            if (position < -1n || position > 2n ** 63n - 1n)
                throw outOfRange('position', `>= ${-(2n ** 63n)} && <= ${2n ** 63n - 1n}`, position);
        } else {
            throw invalidArgType('position', ['bigint', 'integer'], position);
        }
        return position;
    }

    // What read(buffer, offset or options, length, position) means: the bytes to fill, and where from.
    function readArguments(buffer, offset, length, position) {
        if (offset !== null && typeof offset === 'object')
            ({ offset = 0, length = buffer.byteLength - offset, position = null } = offset);
        checkView(buffer);
        offset ??= 0;
        validateInteger(offset, 'offset', 0);
        length = length === undefined ? buffer.byteLength - offset : length | 0;
        if (length === 0)
            return [new Uint8Array(0), -1];
        if (buffer.byteLength === 0)
            throw invalidArgValue('buffer', buffer, 'is empty and cannot be written');
        if (length < 0)
            throw outOfRange('length', '>= 0', length);
        if (length > buffer.byteLength - offset)
            throw outOfRange('length', `<= ${buffer.byteLength - offset}`, length);
        return [asBytes(buffer).subarray(offset, offset + length), toPosition(position)];
    }

    // What write(buffer, offset or options, length, position), or write(string, position, encoding), means.
    function writeArguments(value, offset, length, position) {
        const place = (given) => (typeof given === 'number' || typeof given === 'bigint' ? given : -1);
        if (!ArrayBuffer.isView(value)) {
            if (typeof value !== 'string')
                throw invalidArgType('buffer', ['string', 'Buffer', 'TypedArray', 'DataView'], value);
            if (length !== undefined && length !== null)
                checkEncoding(length);
            return [toData(value, length), place(offset)];
        }
        if (offset !== null && typeof offset === 'object')
            ({ offset = 0, length = value.byteLength - offset, position = null } = offset);
        if (offset === undefined || offset === null || typeof offset === 'function')
            offset = 0;
        else
            validateInteger(offset, 'offset', 0);
        if (typeof length !== 'number')
            length = value.byteLength - offset;
        if (offset > value.byteLength)
            throw outOfRange('offset', `<= ${value.byteLength}`, offset);
        if (length > value.byteLength - offset)
            throw outOfRange('length', `<= ${value.byteLength - offset}`, length);
        if (length < 0)
            throw outOfRange('length', '>= 0', length);
        return [asBytes(value).subarray(offset, offset + length), place(position)];
    }

    function toSeconds(time) {
        if (typeof time === 'string' && +time == time) // eslint-disable-line eqeqeq
            return +time;
        if (Number.isFinite(time))
            return time < 0 ? Date.now() / 1000 : time;
        if (time instanceof Date)
            return time.getTime() / 1000;
        throw invalidArgType('time', ['Date', 'Time in seconds'], time);
    }

    return { toPath, isDescriptor, toDescriptor, toPathOrDescriptor, toFlags, toMode, toSmallMode, toOwner, toOptions, toFlag,
        asBuffer, asBytes, checkView, checkViews, toData, isOwnEncoding, toName, toPosition, readArguments, writeArguments,
        toSeconds };
})
