// SPDX-License-Identifier: MIT
// js/lib/zlib.js - node:zlib: gzip, deflate and their opposites, at once, with callbacks, and as streams. Brotli is not there.
// host: zlibNew(kind, level, window bits, memory level, strategy, dictionary), zlibRun(packer, bytes, room, flush, at once),
//       zlibReset(packer), zlibParams(packer, level, strategy), zlibCrc(bytes, value), nextTick(fn)
(function (host, need) {
    'use strict';
    const { Transform } = need('stream_duplex');
    const { Buffer } = need('buffer');
    const { whenDone } = need('abortable');
    const errors = need('node_error');

    const constants = {
        Z_NO_FLUSH: 0, Z_PARTIAL_FLUSH: 1, Z_SYNC_FLUSH: 2, Z_FULL_FLUSH: 3, Z_FINISH: 4, Z_BLOCK: 5, Z_OK: 0, Z_STREAM_END: 1,
        Z_NEED_DICT: 2, Z_ERRNO: -1, Z_STREAM_ERROR: -2, Z_DATA_ERROR: -3, Z_MEM_ERROR: -4, Z_BUF_ERROR: -5,
        Z_VERSION_ERROR: -6, Z_NO_COMPRESSION: 0, Z_BEST_SPEED: 1, Z_BEST_COMPRESSION: 9, Z_DEFAULT_COMPRESSION: -1,
        Z_FILTERED: 1, Z_HUFFMAN_ONLY: 2, Z_RLE: 3, Z_FIXED: 4, Z_DEFAULT_STRATEGY: 0, ZLIB_VERNUM: 4880, DEFLATE: 1, INFLATE: 2,
        GZIP: 3, GUNZIP: 4, DEFLATERAW: 5, INFLATERAW: 6, UNZIP: 7, Z_MIN_WINDOWBITS: 8, Z_MAX_WINDOWBITS: 15,
        Z_DEFAULT_WINDOWBITS: 15, Z_MIN_CHUNK: 64, Z_MAX_CHUNK: Infinity, Z_DEFAULT_CHUNK: 16384, Z_MIN_MEMLEVEL: 1,
        Z_MAX_MEMLEVEL: 9, Z_DEFAULT_MEMLEVEL: 8, Z_MIN_LEVEL: -1, Z_MAX_LEVEL: 9, Z_DEFAULT_LEVEL: -1,
    };
    const { Z_FINISH, Z_SYNC_FLUSH, Z_FULL_FLUSH, Z_NO_FLUSH } = constants;
    const codes = {};
    for (const name of ['Z_OK', 'Z_STREAM_END', 'Z_NEED_DICT', 'Z_ERRNO', 'Z_STREAM_ERROR', 'Z_DATA_ERROR', 'Z_MEM_ERROR', 'Z_BUF_ERROR',
        'Z_VERSION_ERROR']) {
        codes[name] = constants[name];
        codes[constants[name]] = name;
    }
    const LARGEST = 2 ** 32;
    const flushing = Symbol('flush'); // of an empty chunk that stands for one
    const strength = [0, 2, 3, 4, 5, 1];
    const stronger = (one, other) => (strength[one] > strength[other] ? one : other);

    // ---- Options ----

    const isFinite = (value, name) => {
        if (value === undefined || Number.isNaN(value))
            return false;
        errors.validateNumber(value, name);
        if (!Number.isFinite(value))
            throw errors.outOfRange(name, 'a finite number', value);
        return true;
    };

    function within(options, key, least, most, usual) {
        const name = `options.${key}`, value = options[key];
        if (!isFinite(value, name))
            return usual;
        if (value < least || value > most)
            throw errors.outOfRange(name, `>= ${least} and <= ${most}`, value);
        return value;
    }

    function dictionaryOf({ dictionary }) {
        if (dictionary === undefined || (ArrayBuffer.isView(dictionary) && dictionary instanceof Uint8Array))
            return dictionary;
        if (ArrayBuffer.isView(dictionary))
            return new Uint8Array(dictionary.buffer, dictionary.byteOffset, dictionary.byteLength);
        if (dictionary instanceof ArrayBuffer)
            return new Uint8Array(dictionary);
        throw errors.invalidArgType('options.dictionary', ['Buffer', 'TypedArray', 'DataView', 'ArrayBuffer'], dictionary);
    }

    function openPacker(kind, options) {
        if (host.zlibNew === undefined)
            throw errors.nodeError(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', 'weft was built without zlib');
        const isZero = (kind === 1 || kind === 3 || kind === 6) && (options.windowBits === 0 || options.windowBits === null
            || options.windowBits === undefined);
        const bits = isZero ? 15 : within(options, 'windowBits', kind === 2 ? 9 : 8, 15, 15);
        const packer = host.zlibNew(kind, within(options, 'level', -1, 9, -1), bits === 8 && kind === 4 ? 9 : bits,
            within(options, 'memLevel', 1, 9, 8), within(options, 'strategy', 0, 4, 0), dictionaryOf(options));
        if (packer === null)
            throw errors.nodeError(Error, 'ERR_ZLIB_INITIALIZATION_FAILED', 'Initialization failed');
        return packer;
    }

    // ---- Errors ----

    function zlibError(status, text) {
        const message = text ?? (status === constants.Z_NEED_DICT ? 'Missing dictionary' : 'Zlib error');
        return Object.assign(new Error(message), { errno: status, code: codes[status] });
    }

    const cutShort = () => zlibError(constants.Z_BUF_ERROR, 'unexpected end of file');
    const tooLarge = (most) => errors.nodeError(RangeError, 'ERR_BUFFER_TOO_LARGE', `Cannot create a Buffer larger than ${most} bytes`);

    // What a run has brought: [output, taken, isOver, whether there is more to come, error].
    function judge([output, taken, isOver, status, text], room, flush) {
        if (status !== undefined)
            return { output, taken, isOver, hasMore: false, error: zlibError(status, text) };
        const isFull = output.length === room;
        const error = flush === Z_FINISH && !isFull && !isOver ? cutShort() : undefined;
        return { output, taken, isOver, hasMore: isFull && !isOver, error };
    }

    // ---- Streams ----

    function Packer(kind, options = {}, flush = Z_NO_FLUSH, finishFlush = Z_FINISH) {
        if (options === null)
            options = {};
        const size = options.chunkSize;
        if (isFinite(size, 'options.chunkSize') && size < constants.Z_MIN_CHUNK)
            throw errors.outOfRange('options.chunkSize', `>= ${constants.Z_MIN_CHUNK}`, size);
        this._chunkSize = isFinite(size, 'options.chunkSize') ? size : constants.Z_DEFAULT_CHUNK;
        this._defaultFlushFlag = within(options, 'flush', 0, 5, flush);
        this._finishFlushFlag = within(options, 'finishFlush', 0, 5, finishFlush);
        this._defaultFullFlushFlag = Z_FULL_FLUSH;
        this._maxOutputLength = within(options, 'maxOutputLength', 1, LARGEST, LARGEST);
        this._info = options.info;
        this._handle = openPacker(kind, options);
        this._level = options.level ?? -1;
        this._strategy = options.strategy ?? 0;
        this._waiting = undefined; // goes on when somebody has read
        this.bytesWritten = 0;
        Transform.call(this, {
            autoDestroy: true, ...options, encoding: null, objectMode: false, writableObjectMode: false, flush: undefined,
        });
    }
    Object.setPrototypeOf(Packer.prototype, Transform.prototype);
    Object.setPrototypeOf(Packer, Transform);

    const methods = {
        reset() {
            return host.zlibReset(this._handle);
        },
        _flush(callback) {
            this._transform(Buffer.alloc(0), '', callback);
        },
        _final(callback) {
            callback();
        },
        flush(kind, callback) {
            if (typeof kind === 'function' || (kind === undefined && !callback))
                [kind, callback] = [this._defaultFullFlushFlag, kind];
            if (this.writableFinished) {
                if (callback)
                    host.nextTick(callback);
            } else if (this.writableEnded) {
                if (callback)
                    this.once('end', callback);
            } else {
                const chunk = Buffer.alloc(0);
                chunk[flushing] = kind;
                this.write(chunk, '', callback);
            }
        },
        params(level, strategy, callback) {
            within({ level }, 'level', -1, 9, -1);
            within({ strategy }, 'strategy', 0, 4, 0);
            if (this._level === level && this._strategy === strategy) {
                host.nextTick(callback);
                return;
            }
            this.flush(Z_SYNC_FLUSH, () => {
                if (this._handle && host.zlibParams(this._handle, level, strategy)) {
                    this._level = level;
                    this._strategy = strategy;
                }
                callback?.();
            });
        },
        close(callback) {
            if (callback)
                need('stream_finished').finished(this, callback);
            this.destroy();
        },
        _destroy(error, callback) {
            this._handle = null;
            callback(error);
        },
        _read() {
            const fn = this._waiting;
            this._waiting = undefined;
            if (fn)
                fn();
            else
                Transform.prototype._read.call(this);
        },
        _transform(chunk, encoding, callback) {
            let flush = chunk[flushing] ?? this._defaultFlushFlag;
            if (this.writableEnded && this.writableLength === chunk.byteLength)
                flush = stronger(flush, this._finishFlushFlag);
            pack(this, chunk, flush, callback);
        },
        _processChunk(chunk, flush, callback) {
            if (typeof callback !== 'function')
                return packNow(this, chunk, flush);
            pack(this, chunk, flush, callback);
            return undefined;
        },
    };
    for (const name of Object.keys(methods))
        Packer.prototype[name] = methods[name];
    Object.defineProperty(Packer.prototype, '_closed', { configurable: true, get() { return !this._handle; } });

    // Piece after piece; a piece that fills the reader's buffer is the last one until somebody reads.
    function pack(stream, chunk, flush, callback) {
        const { _handle: handle, _chunkSize: room } = stream;
        if (!handle) {
            host.nextTick(callback);
            return;
        }
        whenDone(() => host.zlibRun(handle, chunk, room, flush, false), (failure, result) => {
            if (failure || stream.destroyed) {
                callback(failure);
                return;
            }
            const { output, taken, isOver, hasMore, error } = judge(result, room, flush);
            stream.bytesWritten += taken;
            const isFull = output.length > 0 && !stream.push(Buffer.from(output.buffer));
            if (stream.destroyed) {
                callback();
            } else if (error) {
                callback(error);
            } else if (hasMore) {
                const next = () => pack(stream, chunk.subarray(taken), flush, callback);
                if (isFull)
                    stream._waiting = next;
                else
                    next();
            } else {
                if (isOver && taken < chunk.length)
                    stream.push(null); // what follows is none of it
                callback();
            }
        });
    }

    // ---- All at once ----

    function toBytes(buffer) {
        if (typeof buffer === 'string')
            return Buffer.from(buffer);
        if (ArrayBuffer.isView(buffer))
            return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
        if (buffer instanceof ArrayBuffer || buffer instanceof SharedArrayBuffer)
            return new Uint8Array(buffer);
        throw errors.invalidArgType('buffer', ['string', 'Buffer', 'TypedArray', 'DataView', 'ArrayBuffer'], buffer);
    }

    function packNow(stream, buffer, flush) {
        let bytes = toBytes(buffer), size = 0;
        const parts = [], room = Math.max(stream._chunkSize, Math.min(bytes.length, 1 << 20));
        for (;;) {
            const { output, taken, hasMore, error } = judge(host.zlibRun(stream._handle, bytes, room, flush, true), room, flush);
            if (error) {
                stream.destroy();
                throw error;
            }
            size += output.length;
            stream.bytesWritten += taken;
            if (output.length > 0)
                parts.push(output);
            if (size > stream._maxOutputLength) {
                stream.destroy();
                throw tooLarge(stream._maxOutputLength);
            }
            bytes = bytes.subarray(taken);
            if (!hasMore)
                break;
        }
        stream._handle = null;
        const whole = parts.length === 1 ? Buffer.from(parts[0].buffer) : Buffer.concat(parts, size);
        return stream._info ? { buffer: whole, engine: stream } : whole;
    }

    function packLater(stream, buffer, callback) {
        errors.validateFunction(callback, 'callback');
        const given = typeof buffer === 'string' || buffer instanceof Uint8Array ? buffer : Buffer.from(toBytes(buffer));
        const parts = [];
        let size = 0;
        const done = (error, value) => {
            stream.removeAllListeners('end');
            const fn = callback;
            callback = () => {};
            fn(error, value);
        };
        stream.on('data', (chunk) => {
            parts.push(chunk);
            size += chunk.length;
            if (size > stream._maxOutputLength) {
                stream.close();
                done(tooLarge(stream._maxOutputLength));
            }
        });
        stream.on('error', (error) => done(error));
        stream.on('end', () => {
            const whole = parts.length === 1 ? parts[0] : Buffer.concat(parts, size);
            stream.close();
            done(null, stream._info ? { buffer: whole, engine: stream } : whole);
        });
        stream.end(given);
    }

    // ---- The module ----

    const exported = { constants, codes };
    // In the order of js/zlib.c.
    const kinds = ['Deflate', 'Inflate', 'Gzip', 'Gunzip', 'DeflateRaw', 'InflateRaw', 'Unzip'];
    const lower = (name) => name[0].toLowerCase() + name.slice(1);
    for (const [kind, name] of kinds.entries()) {
        const Class = {
            [name]: function (options) {
                if (!(this instanceof Class))
                    return new Class(options);
                Packer.call(this, kind, options);
                return undefined;
            },
        }[name];
        Object.setPrototypeOf(Class.prototype, Packer.prototype);
        Object.setPrototypeOf(Class, Packer);
        exported[name] = Class;
        exported[`create${name}`] = (options) => new Class(options);
        const later = (buffer, options, callback) => {
            if (typeof options === 'function')
                [options, callback] = [{}, options];
            packLater(new Class(options), buffer, callback);
        };
        exported[lower(name)] = Object.defineProperty(later, 'name', { value: 'asyncBufferWrapper' });
        exported[`${lower(name)}Sync`] = (buffer, options) => {
            const stream = new Class(options);
            return packNow(stream, buffer, stream._finishFlushFlag);
        };
    }
    exported.crc32 = (data, value = 0) => {
        if (typeof data !== 'string' && !ArrayBuffer.isView(data))
            throw errors.invalidArgType('data', ['Buffer', 'TypedArray', 'DataView', 'string'], data);
        return host.zlibCrc(toBytes(data), value);
    };
    for (const name of Object.keys(constants))
        if (name.startsWith('Z_'))
            exported[name] = constants[name];
    return exported;
})
