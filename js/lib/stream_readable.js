// SPDX-License-Identifier: MIT
// js/lib/stream_readable.js - the reading half of node:stream.
// host: nextTick(fn)
(function (host, need) {
    'use strict';
    const { EventEmitter } = need('events');
    const { Buffer } = need('buffer');
    const { nodeError, invalidArgType } = need('node_error');
    const { destroyable, destroy, failOf } = need('stream_end');

    function Stream(options) {
        EventEmitter.call(this, options);
    }
    Object.setPrototypeOf(Stream.prototype, EventEmitter.prototype);
    Object.setPrototypeOf(Stream, EventEmitter);

    class ReadableState {
        constructor(options, isObject) {
            this.objectMode = isObject;
            this.highWaterMark = options?.readableHighWaterMark ?? options?.highWaterMark ?? (isObject ? 16 : 16 * 1024);
            this.buffer = [];
            this.length = 0;
            this.flowing = null;
            this.ended = this.endEmitted = this.reading = this.sync = false;
            this.needReadable = this.emittedReadable = this.readableListening = this.resumeScheduled = false;
            this.decoder = null;
            this.encoding = null;
            this.pipes = [];
            destroyable(this, options);
        }
    }

    function Readable(options) {
        if (!(this instanceof Readable))
            return new Readable(options);
        Stream.call(this, options);
        startReading(this, options);
        return undefined;
    }
    Object.setPrototypeOf(Readable.prototype, Stream.prototype);
    Object.setPrototypeOf(Readable, Stream);

    function startReading(stream, options) {
        stream._readableState = new ReadableState(options, !!(options?.objectMode || options?.readableObjectMode));
        if (typeof options?.read === 'function')
            stream._read = options.read;
        if (typeof options?.destroy === 'function')
            stream._destroy = options.destroy;
        if (options?.encoding)
            stream.setEncoding(options.encoding);
    }

    // ---- In ----

    function sizeOf(state, chunk) {
        return state.objectMode ? 1 : chunk.length;
    }

    function add(stream, state, chunk, isFirst) {
        if (!isFirst && state.flowing && state.length === 0 && !state.sync && stream.listenerCount('data') > 0) {
            stream.emit('data', chunk);
        } else {
            state.length += sizeOf(state, chunk);
            state.buffer[isFirst ? 'unshift' : 'push'](chunk);
            if (state.needReadable)
                tellReadable(stream);
        }
        readMore(stream, state);
    }

    function take(stream, chunk, encoding, isFirst) {
        const state = stream._readableState;
        if (chunk === null) {
            state.reading = false;
            finishReading(stream, state);
            return false;
        }
        if (!state.objectMode) {
            if (typeof chunk === 'string')
                chunk = state.decoder && (encoding ?? 'utf8') === state.encoding ? chunk
                    : Buffer.from(chunk, encoding ?? 'utf8');
            else if (chunk instanceof Uint8Array)
                chunk = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
            else if (chunk !== undefined)
                return failOf(stream, invalidArgType('chunk', ['string', 'Buffer', 'Uint8Array'], chunk), false);
        }
        if (!isFirst)
            state.reading = false;
        if (chunk === undefined || (!state.objectMode && chunk.length === 0)) {
            readMore(stream, state);
            return wantsMore(state);
        }
        if (isFirst ? state.endEmitted : state.ended)
            return failOf(stream, isFirst
                ? nodeError(Error, 'ERR_STREAM_UNSHIFT_AFTER_END_EVENT', 'stream.unshift() after end event')
                : nodeError(Error, 'ERR_STREAM_PUSH_AFTER_EOF', 'stream.push() after EOF'), false);
        if (state.destroyed || state.errored)
            return false;
        if (state.decoder && typeof chunk !== 'string' && !isFirst) {
            chunk = state.decoder.write(chunk);
            if (chunk.length === 0) {
                readMore(stream, state);
                return wantsMore(state);
            }
        }
        add(stream, state, chunk, isFirst);
        return wantsMore(state);
    }

    const wantsMore = (state) => !state.ended && (state.length < state.highWaterMark || state.length === 0);

    function finishReading(stream, state) {
        if (state.ended)
            return;
        const rest = state.decoder?.end();
        if (rest) {
            state.buffer.push(rest);
            state.length += sizeOf(state, rest);
        }
        state.ended = true;
        if (state.sync || !state.flowing)
            tellReadable(stream);
        else
            flowNow(stream);
    }

    function tellReadable(stream) {
        const state = stream._readableState;
        state.needReadable = false;
        if (state.emittedReadable)
            return;
        state.emittedReadable = true;
        host.nextTick(() => flowNow(stream));
    }

    function flowNow(stream) {
        const state = stream._readableState;
        if (!state.destroyed && !state.errored && (state.length || state.ended)) {
            stream.emit('readable');
            state.emittedReadable = false;
        }
        state.needReadable = !state.flowing && !state.ended && state.length <= state.highWaterMark;
        flow(stream);
    }

    function flow(stream) {
        const state = stream._readableState;
        while (state.flowing && stream.read() !== null);
    }

    function readMore(stream, state) {
        if (state.readingMore)
            return;
        state.readingMore = true;
        host.nextTick(() => {
            while (!state.reading && !state.ended && !state.destroyed
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

    function cut(state, size) {
        if (state.objectMode) {
            state.length--;
            return state.buffer.shift();
        }
        if (size >= state.length) {
            const parts = state.buffer;
            const all = parts.length === 1 ? parts[0] : state.decoder ? parts.join('') : Buffer.concat(parts);
            state.buffer = [];
            state.length = 0;
            return all;
        }
        state.length -= size;
        const parts = [];
        while (size > 0) {
            const first = state.buffer[0];
            if (first.length <= size) {
                parts.push(state.buffer.shift());
                size -= first.length;
            } else {
                parts.push(first.slice(0, size));
                state.buffer[0] = first.slice(size);
                size = 0;
            }
        }
        return parts.length === 1 ? parts[0] : state.decoder ? parts.join('') : Buffer.concat(parts);
    }

    function howMuch(state, size) {
        if (size <= 0 || (state.length === 0 && state.ended))
            return 0;
        if (state.objectMode)
            return 1;
        if (Number.isNaN(size))
            return state.flowing && state.length ? state.buffer[0].length : state.length;
        if (size <= state.length)
            return size;
        return state.ended ? state.length : 0;
    }

    function endReadable(stream) {
        const state = stream._readableState;
        if (state.endEmitted || state.isEnding)
            return;
        state.isEnding = true;
        host.nextTick(() => {
            if (state.errored || state.closeEmitted || state.endEmitted || state.length > 0)
                return;
            state.endEmitted = true;
            stream.emit('end');
            const writing = stream._writableState;
            if (writing && stream.allowHalfOpen === false)
                stream.end();
            else if (state.autoDestroy && (!writing || (writing.autoDestroy && writing.finished)))
                stream.destroy();
        });
    }

    const methods = {
        push(chunk, encoding) {
            return take(this, chunk, encoding, false);
        },
        unshift(chunk, encoding) {
            return take(this, chunk, encoding, true);
        },
        isPaused() {
            return this._readableState.flowing === false;
        },
        setEncoding(encoding) {
            const state = this._readableState;
            state.decoder = new (need('string_decoder').StringDecoder)(encoding);
            state.encoding = state.decoder.encoding;
            const text = state.buffer.map((chunk) => state.decoder.write(chunk)).join('');
            state.buffer = text ? [text] : [];
            state.length = text.length;
            return this;
        },
        read(size) {
            const state = this._readableState;
            const asked = size;
            size = size === undefined ? NaN : Math.trunc(size);
            if (size > state.highWaterMark)
                state.highWaterMark = size;
            if (size !== 0)
                state.emittedReadable = false;
            if (size === 0 && state.needReadable && (state.length >= state.highWaterMark || state.ended)) {
                if (state.length === 0 && state.ended)
                    endReadable(this);
                else
                    tellReadable(this);
                return null;
            }
            size = howMuch(state, size);
            if (size === 0 && state.ended) {
                if (state.length === 0)
                    endReadable(this);
                return null;
            }
            const isLow = state.length === 0 || state.length - size < state.highWaterMark;
            if ((state.needReadable || isLow) && !state.ended && !state.reading && !state.destroyed && !state.errored) {
                state.reading = true;
                state.sync = true;
                if (state.length === 0)
                    state.needReadable = true;
                try {
                    this._read(state.highWaterMark);
                } catch (error) {
                    failOf(this, error);
                }
                state.sync = false;
                if (!state.reading)
                    size = howMuch(state, asked === undefined ? NaN : Math.trunc(asked));
            }
            const result = size > 0 && state.length > 0 ? cut(state, size) : null;
            if (result === null)
                state.needReadable = state.length <= state.highWaterMark;
            if (state.length === 0) {
                if (!state.ended)
                    state.needReadable = true;
                if (asked !== size && state.ended)
                    endReadable(this);
            }
            if (result !== null && !state.errored && !state.closeEmitted)
                this.emit('data', result);
            return result;
        },
        _read() {
            throw nodeError(Error, 'ERR_METHOD_NOT_IMPLEMENTED', 'The _read() method is not implemented');
        },
        on(name, listener) {
            const result = Stream.prototype.on.call(this, name, listener);
            const state = this._readableState;
            if (name === 'data') {
                state.readableListening = this.listenerCount('readable') > 0;
                if (state.flowing !== false)
                    this.resume();
            } else if (name === 'readable' && !state.endEmitted && !state.readableListening) {
                state.readableListening = state.needReadable = true;
                state.flowing = false;
                state.emittedReadable = false;
                if (state.length)
                    tellReadable(this);
                else if (!state.reading)
                    host.nextTick(() => this.read(0));
            }
            return result;
        },
        resume() {
            const state = this._readableState;
            if (!state.flowing) {
                state.flowing = !state.readableListening;
                if (!state.resumeScheduled) {
                    state.resumeScheduled = true;
                    host.nextTick(() => {
                        if (!state.reading)
                            this.read(0);
                        state.resumeScheduled = false;
                        this.emit('resume');
                        flow(this);
                        if (state.flowing && !state.reading)
                            this.read(0);
                    });
                }
            }
            return this;
        },
        pause() {
            const state = this._readableState;
            if (state.flowing !== false) {
                state.flowing = false;
                this.emit('pause');
            }
            return this;
        },
        destroy,
        _destroy(error, callback) {
            callback(error);
        },
        pipe(target, options) {
            return need('stream_pipe').pipe(this, target, options);
        },
        unpipe(target) {
            return need('stream_pipe').unpipe(this, target);
        },
        [Symbol.asyncIterator]() {
            return need('stream_pipe').iterate(this);
        },
        iterator(options) {
            return need('stream_pipe').iterate(this, options);
        },
        async toArray() {
            return Array.fromAsync(this);
        },
    };
    methods.addListener = methods.on;
    for (const name of Reflect.ownKeys(methods))
        Readable.prototype[name] = methods[name];

    const getters = {
        readable: (stream, state) => !state.destroyed && !state.errored && !state.endEmitted,
        readableFlowing: (stream, state) => state.flowing,
        readableLength: (stream, state) => state.length,
        readableHighWaterMark: (stream, state) => state.highWaterMark,
        readableObjectMode: (stream, state) => state.objectMode,
        readableEncoding: (stream, state) => state.encoding,
        readableEnded: (stream, state) => state.endEmitted,
        readableAborted: (stream, state) => (state.destroyed || !!state.errored) && !state.endEmitted,
        readableDidRead: (stream, state) => state.endEmitted || state.flowing === true,
    };
    for (const name of Object.keys(getters)) {
        Object.defineProperty(Readable.prototype, name, {
            configurable: true,
            enumerable: false,
            get() {
                return this._readableState ? getters[name](this, this._readableState) : undefined;
            },
            set(value) {
                Object.defineProperty(this, name, { value, writable: true, configurable: true, enumerable: true });
            },
        });
    }
    return { Stream, Readable, startReading };
})
