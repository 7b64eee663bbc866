// SPDX-License-Identifier: MIT
// js/lib/buffer.js - node:buffer: Buffer, a Uint8Array that knows encodings, searching and numbers.
// host: typeTag(object)
(function (host, need) {
    'use strict';
    const text = need('buffer_text');
    const { addNumbers, outOfRange } = need('buffer_numbers');
    const { nodeError, invalidArgType, invalidArgValue, validateNumber } = need('node_error');
    const MAX_LENGTH = 2 ** 32, MAX_STRING = 2 ** 29 - 24;
    const settings = { INSPECT_MAX_BYTES: 50 };

    class Bytes extends Uint8Array {}

    // Without new too, as old programs call it.
    function Buffer(value, encodingOrOffset, length) {
        if (typeof value !== 'number')
            return Buffer.from(value, encodingOrOffset, length);
        if (typeof encodingOrOffset === 'string')
            throw invalidArgType('string', 'string', value);
        return Buffer.alloc(value);
    }
    Object.setPrototypeOf(Buffer, Uint8Array);
    Buffer.prototype = Bytes.prototype;
    Object.defineProperty(Bytes.prototype, 'constructor', { value: Buffer, writable: true, configurable: true });
    Object.defineProperty(Buffer, Symbol.species, { get: () => Bytes, configurable: true });

    // ---- Arguments ----

    function isBytes(value) {
        return value instanceof Uint8Array;
    }

    function encodingOf(encoding) {
        if (encoding === undefined || encoding === null || encoding === '')
            return 'utf8';
        return strictEncoding(encoding);
    }

    function strictEncoding(encoding) {
        const name = text.known(encoding);
        if (name === undefined)
            throw nodeError(TypeError, 'ERR_UNKNOWN_ENCODING', `Unknown encoding: ${encoding}`);
        return name;
    }

    function checkSize(size) {
        validateNumber(size, 'size');
        if (!(size >= 0 && size <= MAX_LENGTH))
            throw outOfRange('size', `>= 0 && <= ${MAX_LENGTH}`, size);
    }

    // A place in the buffer from what was given: whole, not below zero and not above the end.
    function clamp(value, otherwise, end) {
        if (value === undefined)
            return otherwise;
        const place = Math.trunc(+value) || 0;
        return place < 0 ? 0 : Math.min(place, end);
    }

    function wrap(bytes) {
        return new Bytes(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }

    function checkWhole(value, name, most) {
        validateNumber(value, name);
        if (!Number.isInteger(value))
            throw outOfRange(name, 'an integer', value);
        if (value < 0 || value > most)
            throw outOfRange(name, `>= 0 && <= ${most}`, value);
    }

    // ---- Making one ----

    function isArrayBuffer(value) {
        const tag = typeof value === 'object' && value !== null ? host.typeTag(value) : undefined;
        return tag === 'ArrayBuffer' || tag === 'SharedArrayBuffer';
    }

    function fromArrayBuffer(buffer, byteOffset, length) {
        const start = Math.trunc(+(byteOffset ?? 0)) || 0;
        const room = buffer.byteLength - start;
        if (room < 0)
            throw nodeError(RangeError, 'ERR_BUFFER_OUT_OF_BOUNDS', '"offset" is outside of buffer bounds');
        if (length === undefined)
            return new Bytes(buffer, start, room);
        const size = +length > 0 ? Math.trunc(+length) : 0;
        if (size > room)
            throw nodeError(RangeError, 'ERR_BUFFER_OUT_OF_BOUNDS', '"length" is outside of buffer bounds');
        return new Bytes(buffer, start, size);
    }

    function fromList(list) {
        const size = list.length > 0 ? Math.trunc(list.length) : 0;
        const made = new Bytes(size);
        for (let i = 0; i < size; i++)
            made[i] = list[i];
        return made;
    }

    // Of an object that is like an array, or that says what it stands for; or undefined.
    function fromObject(value, encoding, length) {
        const primitive = value.valueOf?.();
        if (primitive !== undefined && primitive !== null && primitive !== value
            && (typeof primitive === 'string' || typeof primitive === 'object'))
            return from(primitive, encoding, length);
        if (value.length !== undefined || isArrayBuffer(value.buffer))
            return typeof value.length === 'number' ? fromList(value) : new Bytes(0);
        if (value.type === 'Buffer' && Array.isArray(value.data))
            return fromList(value.data);
        if (typeof value[Symbol.toPrimitive] === 'function') {
            const told = value[Symbol.toPrimitive]('string');
            if (typeof told === 'string')
                return from(told, encoding);
        }
        return undefined;
    }

    function from(value, encodingOrOffset, length) {
        if (typeof value === 'string')
            return wrap(text.encode(value, encodingOf(typeof encodingOrOffset === 'string' ? encodingOrOffset : undefined)));
        if (typeof value === 'object' && value !== null) {
            if (isArrayBuffer(value))
                return fromArrayBuffer(value, encodingOrOffset, length);
            const made = fromObject(value, encodingOrOffset, length);
            if (made)
                return made;
        }
        throw invalidArgType('first argument', ['string', 'Buffer', 'ArrayBuffer', 'Array', 'Array-like Object'], value);
    }

    const statics = {
        poolSize: 8192,
        from,
        of(...items) {
            return fromList(items);
        },
        alloc(size, fill, encoding) {
            checkSize(size);
            const made = new Bytes(size);
            return fill !== undefined && fill !== 0 && size > 0 ? made.fill(fill, encoding) : made;
        },
        allocUnsafe(size) {
            checkSize(size);
            return new Bytes(size);
        },
        allocUnsafeSlow(size) {
            checkSize(size);
            return new Bytes(size);
        },
        isBuffer(value) {
            return value instanceof Buffer;
        },
        isEncoding(encoding) {
            return typeof encoding === 'string' && encoding.length !== 0 && text.known(encoding) !== undefined;
        },
        byteLength(value, encoding) {
            if (typeof value === 'string')
                return text.sizeOf(value, text.known(encoding) ?? 'utf8');
            if (ArrayBuffer.isView(value) || isArrayBuffer(value))
                return value.byteLength;
            throw invalidArgType('string', ['string', 'Buffer', 'ArrayBuffer'], value);
        },
        compare(one, other) {
            if (!isBytes(one))
                throw invalidArgType('buf1', ['Buffer', 'Uint8Array'], one);
            if (!isBytes(other))
                throw invalidArgType('buf2', ['Buffer', 'Uint8Array'], other);
            return order(one, other);
        },
        concat(list, length) {
            if (!Array.isArray(list))
                throw invalidArgType('list', 'Array', list);
            list.forEach((part, i) => {
                if (!isBytes(part))
                    throw invalidArgType(`list[${i}]`, ['Buffer', 'Uint8Array'], part);
            });
            if (length !== undefined)
                checkWhole(length, 'length', MAX_LENGTH);
            const made = new Bytes(length ?? list.reduce((sum, part) => sum + part.length, 0));
            let at = 0;
            for (const part of list) {
                if (at >= made.length)
                    break;
                made.set(part.length > made.length - at ? part.subarray(0, made.length - at) : part, at);
                at += part.length;
            }
            return made;
        },
        copyBytesFrom(view, offset = 0, length = undefined) {
            if (!ArrayBuffer.isView(view) || view instanceof DataView)
                throw invalidArgType('view', 'TypedArray', view);
            const part = view.slice(offset, length === undefined ? undefined : offset + length);
            return new Bytes(part.buffer, part.byteOffset, part.byteLength);
        },
    };
    for (const name of Object.keys(statics))
        Buffer[name] = statics[name];

    // ---- Comparing and searching ----

    function order(one, other) {
        const size = Math.min(one.length, other.length);
        for (let i = 0; i < size; i++)
            if (one[i] !== other[i])
                return one[i] < other[i] ? -1 : 1;
        return Math.sign(one.length - other.length);
    }

    function isAt(bytes, wanted, place) {
        for (let i = 0; i < wanted.length; i++)
            if (bytes[place + i] !== wanted[i])
                return false;
        return true;
    }

    function search(bytes, wanted, place, step, isForward) {
        const last = bytes.length - wanted.length;
        if (isForward) {
            for (let i = place; i <= last; i += step)
                if (isAt(bytes, wanted, i))
                    return i;
        } else {
            for (let i = Math.min(place, last); i >= 0; i -= step)
                if (isAt(bytes, wanted, i))
                    return i;
        }
        return -1;
    }

    function find(bytes, value, byteOffset, encoding, isForward) {
        if (typeof byteOffset === 'string') {
            encoding = byteOffset;
            byteOffset = undefined;
        }
        let place = +byteOffset;
        if (Number.isNaN(place))
            place = isForward ? 0 : bytes.length;
        place = Math.trunc(place);
        if (place < 0)
            place += bytes.length;
        if (typeof value === 'number')
            value = Uint8Array.of(value);
        let step = 1;
        if (typeof value === 'string') {
            const name = encodingOf(encoding);
            value = text.encode(value, name);
            if (name === 'utf16le') {
                step = 2;
                place -= place % 2;
            }
        } else if (!isBytes(value)) {
            throw invalidArgType('value', ['number', 'string', 'Buffer', 'Uint8Array'], value);
        }
        if (value.length === 0)
            return Math.min(Math.max(place, 0), bytes.length);
        if (place < 0) {
            if (!isForward)
                return -1;
            place = 0;
        }
        return search(bytes, value, place, step, isForward);
    }

    // ---- Methods ----

    function swap(buffer, size) {
        if (buffer.length % size !== 0)
            throw nodeError(RangeError, 'ERR_INVALID_BUFFER_SIZE', `Buffer size must be a multiple of ${8 * size}-bits`);
        for (let i = 0; i < buffer.length; i += size)
            Uint8Array.prototype.reverse.call(Uint8Array.prototype.subarray.call(wrapPlain(buffer), i, i + size));
        return buffer;
    }

    function wrapPlain(bytes) {
        return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }

    // Start and end of a part, counted from the end when below zero.
    function part(buffer, start, end) {
        const size = buffer.length;
        const place = (value) => {
            const whole = Math.trunc(+value) || 0;
            return whole < 0 ? Math.max(0, whole + size) : Math.min(whole, size);
        };
        const from = start === undefined ? 0 : place(start);
        const to = end === undefined ? size : place(end);
        return new Bytes(buffer.buffer, buffer.byteOffset + from, Math.max(0, to - from));
    }

    function fillBytes(buffer, value, start, end, encoding) {
        if (typeof value === 'string') {
            const bytes = text.encode(value, encodingOf(encoding));
            if (bytes.length === 0 && value !== '')
                throw invalidArgValue('value', value);
            value = bytes;
        } else if (!ArrayBuffer.isView(value)) {
            return Uint8Array.prototype.fill.call(buffer, typeof value === 'boolean' ? +value : value & 255, start, end);
        } else {
            value = wrapPlain(value);
            if (value.length === 0)
                throw invalidArgValue('value', value);
        }
        if (value.length < 2)
            return Uint8Array.prototype.fill.call(buffer, value[0] ?? 0, start, end);
        for (let i = start; i < end; i++)
            buffer[i] = value[(i - start) % value.length];
        return buffer;
    }

    const methods = {
        toString(encoding, start, end) {
            const from = clamp(start, 0, this.length), to = clamp(end, this.length, this.length);
            const name = encoding === undefined ? 'utf8' : strictEncoding(encoding);
            return to <= from ? '' : text.decode(from === 0 && to === this.length ? this : this.subarray(from, to), name);
        },
        toJSON() {
            return { type: 'Buffer', data: Array.from(this) };
        },
        equals(other) {
            if (!isBytes(other))
                throw invalidArgType('otherBuffer', ['Buffer', 'Uint8Array'], other);
            return this === other || (this.length === other.length && order(this, other) === 0);
        },
        compare(target, targetStart = 0, targetEnd = target?.length, sourceStart = 0, sourceEnd = this.length) {
            if (!isBytes(target))
                throw invalidArgType('target', ['Buffer', 'Uint8Array'], target);
            checkWhole(targetStart, 'targetStart', MAX_LENGTH);
            checkWhole(targetEnd, 'targetEnd', target.length);
            checkWhole(sourceStart, 'sourceStart', MAX_LENGTH);
            checkWhole(sourceEnd, 'sourceEnd', this.length);
            return order(part(this, sourceStart, Math.max(sourceStart, sourceEnd)),
                part(target, targetStart, Math.max(targetStart, targetEnd)));
        },
        indexOf(value, byteOffset, encoding) {
            return find(this, value, byteOffset, encoding, true);
        },
        lastIndexOf(value, byteOffset, encoding) {
            return find(this, value, byteOffset, encoding, false);
        },
        includes(value, byteOffset, encoding) {
            return find(this, value, byteOffset, encoding, true) !== -1;
        },
        copy(target, targetStart, sourceStart, sourceEnd) {
            if (!isBytes(target))
                throw invalidArgType('target', ['Buffer', 'Uint8Array'], target);
            const whole = (value, otherwise) => (value === undefined ? otherwise : Math.trunc(+value) || 0);
            const at = whole(targetStart, 0), from = whole(sourceStart, 0), to = whole(sourceEnd, this.length);
            if (at < 0)
                throw outOfRange('targetStart', '>= 0', at);
            if (from < 0 || from > this.length)
                throw outOfRange('sourceStart', `>= 0 && <= ${this.length}`, from);
            if (to < 0)
                throw outOfRange('sourceEnd', '>= 0', to);
            const size = Math.min(to - from, this.length - from, target.length - at);
            if (size <= 0)
                return 0;
            Uint8Array.prototype.set.call(target, wrapPlain(this).subarray(from, from + size), at);
            return size;
        },
        slice(start, end) {
            return part(this, start, end);
        },
        subarray(start, end) {
            return part(this, start, end);
        },
        fill(value, offset, end, encoding) {
            if (typeof offset === 'string')
                [offset, encoding] = [undefined, offset];
            else if (typeof end === 'string')
                [end, encoding] = [undefined, end];
            if (offset !== undefined)
                checkWhole(offset, 'offset', MAX_LENGTH);
            if (end !== undefined)
                checkWhole(end, 'end', this.length);
            return fillBytes(this, value, offset ?? 0, end ?? this.length, encoding);
        },
        write(string, offset, length, encoding) {
            if (typeof string !== 'string')
                throw invalidArgType('argument', 'string', string);
            if (typeof offset === 'string')
                [offset, length, encoding] = [undefined, undefined, offset];
            else if (typeof length === 'string')
                [length, encoding] = [undefined, length];
            if (offset !== undefined)
                checkWhole(offset, 'offset', this.length);
            const room = this.length - (offset ?? 0);
            if (length !== undefined)
                checkWhole(length, 'length', this.length);
            const from = offset ?? 0;
            return text.write(string, this.subarray(from, from + Math.min(length ?? room, room)), encodingOf(encoding));
        },
        swap16() {
            return swap(this, 2);
        },
        swap32() {
            return swap(this, 4);
        },
        swap64() {
            return swap(this, 8);
        },
    };
    // Defined, not assigned: what they inherit may be frozen.
    const add = (name, value) =>
        Object.defineProperty(Buffer.prototype, name, { value, writable: true, configurable: true, enumerable: true });
    for (const name of Object.keys(methods))
        add(name, methods[name]);
    add('toLocaleString', methods.toString);
    addNumbers(Buffer.prototype);
    // What Node does not document and packages call all the same.
    for (const name of ['utf8', 'latin1', 'ascii', 'hex', 'base64', 'base64url', 'ucs2']) {
        Buffer.prototype[`${name}Slice`] = function (start, end) {
            return this.toString(name, start, end);
        };
        Buffer.prototype[`${name}Write`] = function (string, offset, length) {
            return this.write(string, offset, length, name);
        };
    }
    for (const [name, key] of [['parent', 'buffer'], ['offset', 'byteOffset']]) {
        Object.defineProperty(Buffer.prototype, name, {
            enumerable: true,
            configurable: true,
            get() {
                return this instanceof Buffer ? this[key] : undefined;
            },
        });
    }

    Buffer.prototype[Symbol.for('nodejs.util.inspect.custom')] = function (depth, options) {
        const most = settings.INSPECT_MAX_BYTES;
        let shown = Array.from(wrapPlain(this).subarray(0, most), (byte) => byte.toString(16).padStart(2, '0')).join(' ');
        if (this.length > most)
            shown += ` ... ${this.length - most} more byte${this.length - most > 1 ? 's' : ''}`;
        const extra = {};
        for (const key of Object.keys(this))
            if (!/^\d+$/.test(key))
                extra[key] = this[key];
        if (Object.keys(extra).length > 0) {
            const told = need('inspect').inspect(extra, { ...options, breakLength: Infinity, compact: true });
            shown += `${shown ? ', ' : ''}${told.slice(1, -1).trim()}`;
        }
        return `<${this.constructor.name} ${shown}>`;
    };

    // ---- The rest of the module ----

    function transcode(source, fromEncoding, toEncoding) {
        if (!isBytes(source))
            throw invalidArgType('source', ['Buffer', 'Uint8Array'], source);
        const to = encodingOf(toEncoding);
        let string = text.decode(source, encodingOf(fromEncoding));
        const most = to === 'ascii' ? 127 : 255;
        if (to === 'latin1' || to === 'ascii')
            string = Array.from(string, (char) => (char.codePointAt(0) > most ? '?' : char)).join('');
        return wrap(text.encode(string, to));
    }

    function isUtf8(input) {
        try {
            new (need('encoding').TextDecoder)('utf-8', { fatal: true }).decode(input);
            return true;
        } catch {
            return false;
        }
    }

    function isAscii(input) {
        return (ArrayBuffer.isView(input) ? wrapPlain(input) : new Uint8Array(input)).every((byte) => byte < 128);
    }

    const constants = { MAX_LENGTH, MAX_STRING_LENGTH: MAX_STRING };
    const exported = {
        Buffer, SlowBuffer: (size) => Buffer.allocUnsafeSlow(size), transcode, isUtf8, isAscii,
        kMaxLength: MAX_LENGTH, kStringMaxLength: MAX_STRING, constants,
        get atob() { return need('base64').atob; },
        get btoa() { return need('base64').btoa; },
        get Blob() { return need('blob').Blob; },
        get File() { return need('blob').File; },
        get INSPECT_MAX_BYTES() { return settings.INSPECT_MAX_BYTES; },
        set INSPECT_MAX_BYTES(value) { settings.INSPECT_MAX_BYTES = value; },
    };
    return exported;
})
