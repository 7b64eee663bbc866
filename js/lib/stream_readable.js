// SPDX-License-Identifier: MIT
// js/lib/stream_readable.js - the reading half of node:stream.
// host: nextTick(fn)
//
// What _read brings with push() goes into a buffer, or, where it flows and nothing is before it, straight to 'data'. Three ways
// lead out: read(), which 'readable' announces; 'data', while it flows; and pipes, which are listeners to 'data'. flowing is
// null until somebody decides. Whatever is told because of a push that came within _read is told a tick later.
(function (host, need) {
    'use strict';
    const { EventEmitter } = need('events');
    const { Buffer } = need('buffer');
    const { nodeError, invalidArgType } = need('node_error');
    const ending = need('stream_end');
    const { fail } = ending;
    const LARGEST = 1024 ** 3; // of a buffer that read(size) asks for

    function Stream(options) {
        EventEmitter.call(this, options);
    }
    Object.setPrototypeOf(Stream.prototype, EventEmitter.prototype);
    Object.setPrototypeOf(Stream, EventEmitter);

    class ReadableState {
        constructor(options, isDuplex = false) {
            this.buffer = [];
            this.bufferIndex = 0; // of the first that has not been read
            this.length = 0;
            this.pipes = [];
            ending.setCommon(this, options, isDuplex, 'readable');
            if (options?.encoding) {
                this.decoder = new (need('string_decoder').StringDecoder)(options.encoding);
                this.encoding = options.encoding;
            }
        }

        get pipesCount() {
            return this.pipes.length;
        }
    }
    Object.assign(ReadableState.prototype, ending.common, {
        flowing: null, paused: false, wasPaused: false, ended: false, endEmitted: false, reading: false, sync: true,
        needReadable: false, emittedReadable: false, readableListening: false, dataListening: false, resumeScheduled: false,
        readingMore: false, dataEmitted: false, decoder: null, encoding: null, awaitDrainWriters: null, multiAwaitDrain: false,
    });

    function Readable(options) {
        if (!(this instanceof Readable))
            return new Readable(options);
        this._readableState = new ReadableState(options);
        if (options)
            ending.setMethods(this, options, ['read', 'destroy', 'construct']);
        Stream.call(this, options);
        if (this._construct)
            ending.construct(this, () => beginReading(this));
        return undefined;
    }
    Object.setPrototypeOf(Readable.prototype, Stream.prototype);
    Object.setPrototypeOf(Readable, Stream);

    function beginReading(stream) {
        if (stream._readableState.needReadable)
            readMore(stream, stream._readableState);
    }

    // ---- In ----

    const hasRoom = (state) => !state.ended && (state.length < state.highWaterMark || state.length === 0);

    // A chunk of bytes in the form in which it is kept: undefined when it is nothing of the kind.
    function toBytes(chunk) {
        if (Buffer.isBuffer(chunk))
            return chunk;
        return ArrayBuffer.isView(chunk) ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength) : undefined;
    }

    const wrongChunk = (chunk) => invalidArgType('chunk', ['string', 'Buffer', 'TypedArray', 'DataView'], chunk);

    // Strings stay as they are if that is how they are read.
    function toChunk(state, chunk, encoding, isFirst) {
        if (typeof chunk !== 'string')
            return toBytes(chunk);
        encoding ||= state.defaultEncoding;
        if (state.encoding === encoding)
            return chunk;
        const bytes = Buffer.from(chunk, encoding);
        return isFirst && state.encoding ? bytes.toString(state.encoding) : bytes;
    }

    function push(chunk, encoding) {
        const state = this._readableState;
        if (chunk === null) {
            state.reading = false;
            endBuffer(this, state);
            return false;
        }
        if (!state.objectMode) {
            const given = chunk;
            chunk = chunk === undefined ? chunk : toChunk(state, chunk, encoding, false);
            if (chunk === undefined && given !== undefined) {
                fail(this, wrongChunk(given));
                return false;
            }
            if (!chunk || chunk.length === 0) {
                state.reading = false;
                readMore(this, state);
                return hasRoom(state);
            }
            encoding = typeof chunk === 'string';
        }
        if (state.ended) {
            fail(this, nodeError(Error, 'ERR_STREAM_PUSH_AFTER_EOF', 'stream.push() after EOF'));
            return false;
        }
        if (state.destroyed || state.errored)
            return false;
        state.reading = false;
        if (state.decoder !== null && !encoding) {
            chunk = state.decoder.write(chunk);
            if (!state.objectMode && chunk.length === 0) {
                readMore(this, state);
                return hasRoom(state);
            }
        }
        add(this, state, chunk, false);
        return hasRoom(state);
    }

    function unshift(chunk, encoding) {
        const state = this._readableState;
        if (chunk === null) {
            state.reading = false;
            endBuffer(this, state);
            return false;
        }
        if (!state.objectMode) {
            const given = chunk;
            chunk = chunk === undefined ? chunk : toChunk(state, chunk, encoding, true);
            if (chunk === undefined && given !== undefined) {
                fail(this, wrongChunk(given));
                return false;
            }
            if (!chunk || chunk.length === 0)
                return hasRoom(state);
        }
        if (state.endEmitted)
            fail(this, nodeError(Error, 'ERR_STREAM_UNSHIFT_AFTER_END_EVENT', 'stream.unshift() after end event'));
        else if (state.destroyed || state.errored)
            return false;
        else
            add(this, state, chunk, true);
        return hasRoom(state);
    }

    function add(stream, state, chunk, isFirst) {
        if (state.flowing && state.dataListening && !state.sync && state.length === 0) {
            forgetWriters(state);
            state.dataEmitted = true;
            stream.emit('data', chunk);
        } else {
            state.length += state.objectMode ? 1 : chunk.length;
            if (!isFirst)
                state.buffer.push(chunk);
            else if (state.bufferIndex > 0)
                state.buffer[--state.bufferIndex] = chunk;
            else
                state.buffer.unshift(chunk);
            if (state.needReadable)
                tellReadable(stream);
        }
        readMore(stream, state);
    }

    // Pipes that were waited for: what comes now tells anew who is full.
    function forgetWriters(state) {
        if (state.multiAwaitDrain)
            state.awaitDrainWriters.clear();
        else
            state.awaitDrainWriters = null;
    }

    // push(null)
    function endBuffer(stream, state) {
        if (state.ended)
            return;
        const rest = state.decoder?.end();
        if (rest && rest.length > 0) {
            state.buffer.push(rest);
            state.length += state.objectMode ? 1 : rest.length;
        }
        state.ended = true;
        if (state.sync) {
            tellReadable(stream);
        } else {
            state.needReadable = false;
            state.emittedReadable = true;
            readableNow(stream);
        }
    }

    // ---- 'readable', and the flow ----

    function tellReadable(stream) {
        const state = stream._readableState;
        state.needReadable = false;
        if (!state.emittedReadable) {
            state.emittedReadable = true;
            host.nextTick(() => readableNow(stream));
        }
    }

    function readableNow(stream) {
        const state = stream._readableState;
        if (!state.destroyed && !state.errored && (state.length > 0 || state.ended)) {
            stream.emit('readable');
            state.emittedReadable = false;
        }
        if (!state.flowing && !state.ended && state.length <= state.highWaterMark)
            state.needReadable = true;
        flow(stream, state);
    }

    function flow(stream, state) {
        while (state.flowing && stream.read() !== null);
    }

    // Fills the buffer up to its mark, from the next tick on.
    function readMore(stream, state) {
        if (state.readingMore || !state.constructed)
            return;
        state.readingMore = true;
        host.nextTick(() => {
            while (!state.reading && !state.ended
                && (state.length < state.highWaterMark || (state.flowing && state.length === 0))) {
                const before = state.length;
                stream.read(0);
                if (before === state.length)
                    break;
            }
            state.readingMore = false;
        });
    }

    // ---- Out ----

    // How much a read of that size gives now.
    function available(state, size) {
        if (size <= 0 || (state.length === 0 && state.ended))
            return 0;
        if (state.objectMode)
            return 1;
        if (Number.isNaN(size))
            return state.flowing && state.length > 0 ? state.buffer[state.bufferIndex].length : state.length;
        if (size <= state.length)
            return size;
        return state.ended ? state.length : 0;
    }

    function raiseMark(size) {
        if (size > LARGEST)
            throw need('node_error').outOfRange('size', '<= 1GiB', size);
        return 2 ** Math.ceil(Math.log2(size));
    }

    function read(asked) {
        const state = this._readableState;
        const wanted = asked === undefined ? NaN : Number.isInteger(asked) ? asked : parseInt(asked, 10);
        if (wanted > state.highWaterMark)
            state.highWaterMark = raiseMark(wanted);
        if (wanted !== 0)
            state.emittedReadable = false;
        else if (state.needReadable && (state.ended || state.length >= (state.highWaterMark || 1))) {
            if (state.length === 0)
                endStream(this, state);
            else
                tellReadable(this);
            return null;
        }
        let size = available(state, wanted);
        if (size === 0 && state.ended) {
            if (state.length === 0)
                endStream(this, state);
            return null;
        }
        const isLow = state.needReadable || state.length === 0 || state.length - size < state.highWaterMark;
        if (isLow && !state.reading && !state.ended && !state.destroyed && !state.errored && state.constructed) {
            callRead(this, state);
            if (!state.reading) // it has pushed at once
                size = available(state, wanted);
        }
        return give(this, state, size, wanted);
    }

    function callRead(stream, state) {
        state.reading = state.sync = true;
        if (state.length === 0)
            state.needReadable = true;
        try {
            stream._read(state.highWaterMark);
        } catch (error) {
            fail(stream, error);
        }
        state.sync = false;
    }

    function give(stream, state, size, wanted) {
        const chunk = size > 0 && state.length > 0 ? take(state, size) : null;
        if (chunk === null) {
            if (state.length <= state.highWaterMark)
                state.needReadable = true;
            size = 0;
        } else {
            state.length -= size;
            forgetWriters(state);
        }
        if (state.length === 0) {
            if (!state.ended)
                state.needReadable = true;
            else if (wanted !== size)
                endStream(stream, state);
        }
        if (chunk !== null && !state.errorEmitted && !state.closeEmitted) {
            state.dataEmitted = true;
            stream.emit('data', chunk);
        }
        return chunk;
    }

    // Takes size out of the buffer, which has as much; the length is the caller's to change.
    function take(state, size) {
        const { buffer } = state;
        const first = buffer[state.bufferIndex];
        const isText = state.decoder !== null && !state.objectMode;
        if (isText && size >= state.length) { // bytes that were put back become text
            const all = buffer.slice(state.bufferIndex).join('');
            buffer.length = state.bufferIndex = 0;
            return all;
        }
        if (state.objectMode || size === first.length) {
            dropFirst(state);
            return first;
        }
        if (size < first.length) {
            buffer[state.bufferIndex] = first.slice(size);
            return first.slice(0, size);
        }
        const parts = [];
        for (let missing = size; missing > 0;) {
            const part = buffer[state.bufferIndex];
            if (part.length <= missing) {
                parts.push(part);
                dropFirst(state);
            } else {
                parts.push(part.slice(0, missing));
                buffer[state.bufferIndex] = part.slice(missing);
            }
            missing -= part.length;
        }
        return isText ? parts.join('') : Buffer.concat(parts, size);
    }

    function dropFirst(state) {
        state.buffer[state.bufferIndex++] = null;
        if (state.bufferIndex === state.buffer.length) {
            state.buffer.length = state.bufferIndex = 0;
        } else if (state.bufferIndex > 1024) {
            state.buffer.splice(0, state.bufferIndex);
            state.bufferIndex = 0;
        }
    }

    // ---- The end ----

    function endStream(stream, state) {
        if (state.endEmitted)
            return;
        state.ended = true;
        host.nextTick(() => {
            if (state.errored || state.closeEmitted || state.endEmitted || state.length > 0)
                return;
            state.endEmitted = true;
            stream.emit('end');
            if (stream.writable && stream.allowHalfOpen === false)
                host.nextTick(() => endOther(stream));
            else if (state.autoDestroy && isWritten(stream._writableState))
                stream.destroy();
        });
    }

    function endOther(stream) {
        if (stream.writable && !stream.writableEnded && !stream.destroyed)
            stream.end();
    }

    const isWritten = (writing) => !writing
        || (writing.autoDestroy && (writing.finished || writing.writable === false));

    // ---- Listeners decide whether it flows ----

    function on(name, listener) {
        const result = Stream.prototype.on.call(this, name, listener);
        if (name !== 'data' && name !== 'readable')
            return result;
        const state = this._readableState;
        if (name === 'data') {
            state.dataListening = true;
            if (this.listenerCount('readable') > 0)
                state.readableListening = true;
            if (state.flowing !== false)
                this.resume();
        } else if (!state.endEmitted && !state.readableListening) {
            state.readableListening = state.needReadable = true;
            state.flowing = state.emittedReadable = false;
            if (state.length > 0)
                tellReadable(this);
            else if (!state.reading)
                host.nextTick(() => this.read(0));
        }
        return result;
    }

    function removeListener(name, listener) {
        const result = Stream.prototype.removeListener.call(this, name, listener);
        if (name === 'readable')
            host.nextTick(() => countListeners(this));
        else if (name === 'data' && this.listenerCount('data') === 0)
            this._readableState.dataListening = false;
        return result;
    }

    function removeAllListeners(...names) {
        const result = Stream.prototype.removeAllListeners.apply(this, names);
        if (names[0] === undefined || names[0] === 'readable')
            host.nextTick(() => countListeners(this));
        return result;
    }

    // The last listener to 'readable' may have gone: then it flows again for the others.
    function countListeners(stream) {
        const state = stream._readableState;
        state.readableListening = stream.listenerCount('readable') > 0;
        if (state.resumeScheduled && state.wasPaused && !state.paused)
            state.flowing = true;
        else if (state.dataListening)
            stream.resume();
        else if (!state.readableListening)
            state.flowing = null;
    }

    function resume() {
        const state = this._readableState;
        if (!state.flowing) {
            state.flowing = !state.readableListening;
            if (!state.resumeScheduled) {
                state.resumeScheduled = true;
                host.nextTick(() => resumeNow(this, state));
            }
        }
        state.wasPaused = true;
        state.paused = false;
        return this;
    }

    function resumeNow(stream, state) {
        if (!state.reading)
            stream.read(0);
        state.resumeScheduled = false;
        stream.emit('resume');
        flow(stream, state);
        if (state.flowing && !state.reading)
            stream.read(0);
    }

    function pause() {
        const state = this._readableState;
        if (state.flowing !== false) {
            state.flowing = false;
            this.emit('pause');
        }
        state.wasPaused = state.paused = true;
        return this;
    }

    function setEncoding(encoding) {
        const state = this._readableState;
        state.decoder = new (need('string_decoder').StringDecoder)(encoding);
        state.encoding = state.decoder.encoding;
        let text = '';
        for (const chunk of state.buffer.slice(state.bufferIndex))
            text += state.decoder.write(chunk);
        state.buffer = text === '' ? [] : [text];
        state.bufferIndex = 0;
        state.length = text.length;
        return this;
    }

    // An old stream, which only has events, as the source of this one.
    function wrap(source) {
        let isPaused = false;
        source.on('data', (chunk) => {
            if (!this.push(chunk) && source.pause) {
                isPaused = true;
                source.pause();
            }
        });
        source.on('end', () => this.push(null));
        source.on('error', (error) => fail(this, error));
        source.on('close', () => this.destroy());
        source.on('destroy', () => this.destroy());
        this._read = () => {
            if (isPaused && source.resume) {
                isPaused = false;
                source.resume();
            }
        };
        for (const name of Object.keys(source).slice(1))
            if (this[name] === undefined && typeof source[name] === 'function')
                this[name] = source[name].bind(source);
        return this;
    }

    // ---- The class ----

    const iterator = (stream, options) => need('stream_iterate').iterate(stream, options);
    const methods = {
        push, unshift, read, on, addListener: on, removeListener, off: removeListener, removeAllListeners, resume, pause,
        setEncoding, wrap, destroy: ending.destroy, _undestroy: ending.undestroy,
        isPaused() {
            return this._readableState.paused || this._readableState.flowing === false;
        },
        _read() {
            throw nodeError(Error, 'ERR_METHOD_NOT_IMPLEMENTED', 'The _read() method is not implemented');
        },
        _destroy(error, callback) {
            callback(error);
        },
        pipe(target, options) {
            return need('stream_pipe').pipe(this, target, options);
        },
        unpipe(target) {
            return need('stream_pipe').unpipe(this, target);
        },
        iterator(options) {
            if (options !== undefined)
                need('node_error').validateObject(options, 'options');
            return iterator(this, options);
        },
        [Symbol.asyncIterator]() {
            return iterator(this);
        },
        [Symbol.for('nodejs.rejection')](error) {
            this.destroy(error);
        },
        [Symbol.asyncDispose]() {
            return need('stream_finished').dispose(this, this.readableEnded);
        },
    };
    for (const name of Reflect.ownKeys(methods))
        Readable.prototype[name] = methods[name];

    const getters = {
        readable: (state) => !!state && state.readable !== false && !state.destroyed && !state.errorEmitted && !state.endEmitted,
        readableDidRead: (state) => state.dataEmitted,
        readableAborted: (state) => state.readable !== false && (state.destroyed || !!state.errored) && !state.endEmitted,
        readableHighWaterMark: (state) => state.highWaterMark,
        readableBuffer: (state) => state?.buffer,
        readableFlowing: (state) => state.flowing,
        readableLength: (state) => state.length,
        readableObjectMode: (state) => state?.objectMode ?? false,
        readableEncoding: (state) => state?.encoding ?? null,
        readableEnded: (state) => state?.endEmitted ?? false,
        errored: (state) => state?.errored ?? null,
        closed: (state) => state?.closed ?? false,
        destroyed: (state) => state?.destroyed ?? false,
    };
    const setters = {
        readable: (state, value) => { state.readable = !!value; },
        readableFlowing: (state, value) => { state.flowing = value; },
        destroyed: (state, value) => { state.destroyed = value; },
    };
    addProperties(Readable.prototype, '_readableState', getters, setters);

    // Properties that look into a state; before there is one nothing can be set.
    function addProperties(prototype, place, getting, setting) {
        for (const name of Object.keys(getting))
            Object.defineProperty(prototype, name, {
                configurable: true,
                get() {
                    return getting[name](this[place]);
                },
                set: setting[name] && function (value) {
                    if (this[place])
                        setting[name](this[place], value);
                },
            });
    }

    Object.assign(Readable, {
        ReadableState,
        from: (source, options) => need('stream_iterate').from(Readable, source, options),
        wrap: (source, options) => new Readable({
            objectMode: source.readableObjectMode ?? source.objectMode ?? true,
            ...options,
            destroy(error, callback) {
                ending.destroyAny(source, error);
                callback(error);
            },
        }).wrap(source),
        fromWeb: (stream, options) => need('stream_web').readableFrom(stream, options),
        toWeb: (stream, options) => need('stream_web').readableTo(stream, options),
    });

    return { Stream, Readable, ReadableState, beginReading, addProperties, toBytes, wrongChunk };
})
