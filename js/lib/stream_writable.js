// SPDX-License-Identifier: MIT
// js/lib/stream_writable.js - the writing half of node:stream.
// host: nextTick(fn)
(function (host, need) {
    'use strict';
    const { Buffer } = need('buffer');
    const { nodeError, invalidArgType } = need('node_error');
    const { Stream } = need('stream_readable');
    const { destroyable, destroy, failOf } = need('stream_end');
    const { known } = need('buffer_text');

    class WritableState {
        constructor(options, isObject) {
            this.objectMode = isObject;
            this.highWaterMark = options?.writableHighWaterMark ?? options?.highWaterMark ?? (isObject ? 16 : 16 * 1024);
            this.decodeStrings = options?.decodeStrings !== false;
            this.defaultEncoding = options?.defaultEncoding ?? 'utf8';
            this.buffered = []; // of { chunk, encoding, callback }
            this.length = this.corked = this.pending = 0;
            this.writing = this.sync = this.ending = this.ended = this.finished = this.needDrain = this.prefinished = false;
            destroyable(this, options);
        }

        getBuffer() {
            return this.buffered.slice();
        }
    }

    function Writable(options) {
        if (!(this instanceof Writable))
            return new Writable(options);
        Stream.call(this, options);
        startWriting(this, options);
        return undefined;
    }
    Object.setPrototypeOf(Writable.prototype, Stream.prototype);
    Object.setPrototypeOf(Writable, Stream);
    // What reads and writes is a Writable too.
    Object.defineProperty(Writable, Symbol.hasInstance, {
        value(object) {
            if (Function.prototype[Symbol.hasInstance].call(this, object))
                return true;
            return this === Writable && object?._writableState instanceof WritableState;
        },
    });

    function startWriting(stream, options) {
        stream._writableState = new WritableState(options, !!(options?.objectMode || options?.writableObjectMode));
        for (const name of ['write', 'writev', 'destroy', 'final'])
            if (typeof options?.[name] === 'function')
                stream[`_${name}`] = options[name];
    }

    // ---- One piece after another ----

    function start(stream, state, chunk, encoding, callback) {
        state.writing = true;
        state.sync = true;
        const done = once((error) => written(stream, state, chunk, error, callback));
        try {
            stream._write(chunk, encoding, done);
        } catch (error) {
            done(error);
        }
        state.sync = false;
    }

    function once(fn) {
        let isCalled = false;
        return (error) => {
            if (isCalled)
                throw nodeError(Error, 'ERR_MULTIPLE_CALLBACK', 'Callback called multiple times');
            isCalled = true;
            fn(error);
        };
    }

    const sizeOf = (state, chunk) => (state.objectMode ? 1 : chunk.length);

    function written(stream, state, chunk, error, callback) {
        state.writing = false;
        state.length -= Array.isArray(chunk) && !state.objectMode ? chunk.reduce((sum, each) => sum + each.chunk.length, 0)
            : Array.isArray(chunk) && chunk.isBatch ? chunk.length : sizeOf(state, chunk);
        if (error) {
            const fail = () => {
                callback(error);
                dropAll(state, error);
                failOf(stream, error);
            };
            state.errored ??= error;
            if (state.sync)
                host.nextTick(fail);
            else
                fail();
            return;
        }
        if (state.buffered.length > 0)
            startNext(stream, state);
        const after = () => {
            state.pending--;
            if (!state.ending && !state.destroyed && state.length === 0 && state.needDrain) {
                state.needDrain = false;
                stream.emit('drain');
            }
            callback(null);
            maybeFinish(stream, state);
        };
        state.pending++;
        if (state.sync)
            host.nextTick(after);
        else
            after();
    }

    function dropAll(state, error) {
        for (const { callback } of state.buffered.splice(0))
            callback(error ?? nodeError(Error, 'ERR_STREAM_DESTROYED', 'Cannot call write after a stream was destroyed'));
    }

    function startNext(stream, state) {
        if (state.corked || state.writing || state.destroyed || state.buffered.length === 0)
            return;
        if (stream._writev && state.buffered.length > 1) {
            const batch = state.buffered.splice(0);
            batch.isBatch = true;
            state.writing = true;
            state.sync = true;
            const done = once((error) => written(stream, state, batch, error, (failure) => {
                for (const { callback } of batch)
                    callback(failure);
            }));
            stream._writev(batch.map(({ chunk, encoding }) => ({ chunk, encoding })), done);
            state.sync = false;
            return;
        }
        const { chunk, encoding, callback } = state.buffered.shift();
        start(stream, state, chunk, encoding, callback);
    }

    // ---- The end ----

    function maybeFinish(stream, state) {
        if (!state.ending || state.finished || state.errored || state.destroyed || state.length > 0 || state.writing
            || state.buffered.length > 0 || state.isFinishing || state.pending > 0)
            return;
        state.isFinishing = true;
        const finish = () => {
            if (state.errored || state.destroyed)
                return;
            state.finished = true;
            stream.emit('finish');
            const reading = stream._readableState;
            if (state.autoDestroy && (!reading || (reading.autoDestroy && reading.endEmitted)))
                stream.destroy();
        };
        const last = () => {
            state.prefinished = true;
            stream.emit('prefinish');
            host.nextTick(finish);
        };
        if (typeof stream._final !== 'function' || state.destroyed) {
            last();
            return;
        }
        host.nextTick(() => {
            try {
                stream._final((error) => (error ? failOf(stream, error) : last()));
            } catch (error) {
                failOf(stream, error);
            }
        });
    }

    function refuse(stream, error, callback) {
        host.nextTick(() => callback(error));
        failOf(stream, error);
        return false;
    }

    const nothing = () => {};
    const methods = {
        write(chunk, encoding, callback) {
            const state = this._writableState;
            if (typeof encoding === 'function')
                [encoding, callback] = [undefined, encoding];
            callback ??= nothing;
            encoding ??= state.defaultEncoding;
            if (encoding !== 'buffer' && !known(encoding))
                throw nodeError(TypeError, 'ERR_UNKNOWN_ENCODING', `Unknown encoding: ${encoding}`);
            if (chunk === null)
                throw nodeError(TypeError, 'ERR_STREAM_NULL_VALUES', 'May not write null values to stream');
            if (!state.objectMode) {
                if (typeof chunk === 'string') {
                    if (state.decodeStrings)
                        [chunk, encoding] = [Buffer.from(chunk, encoding), 'buffer'];
                } else if (chunk instanceof Uint8Array) {
                    chunk = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
                    encoding = 'buffer';
                } else {
                    throw invalidArgType('chunk', ['string', 'Buffer', 'Uint8Array'], chunk);
                }
            }
            if (state.ending)
                return refuse(this, nodeError(Error, 'ERR_STREAM_WRITE_AFTER_END', 'write after end'), callback);
            if (state.destroyed) {
                const error = nodeError(Error, 'ERR_STREAM_DESTROYED', 'Cannot call write after a stream was destroyed');
                return refuse(this, error, callback);
            }
            state.length += sizeOf(state, chunk);
            const hasRoom = state.length < state.highWaterMark;
            if (!hasRoom)
                state.needDrain = true;
            if (state.writing || state.corked || state.errored)
                state.buffered.push({ chunk, encoding, callback });
            else
                start(this, state, chunk, encoding, callback);
            return hasRoom && !state.errored && !state.destroyed;
        },
        _write(chunk, encoding, callback) {
            if (!this._writev)
                throw nodeError(Error, 'ERR_METHOD_NOT_IMPLEMENTED', 'The _write() method is not implemented');
            this._writev([{ chunk, encoding }], callback);
        },
        cork() {
            this._writableState.corked++;
        },
        uncork() {
            const state = this._writableState;
            if (state.corked && --state.corked === 0)
                startNext(this, state);
        },
        setDefaultEncoding(encoding) {
            this._writableState.defaultEncoding = encoding;
            return this;
        },
        end(chunk, encoding, callback) {
            const state = this._writableState;
            if (typeof chunk === 'function')
                [chunk, callback] = [undefined, chunk];
            else if (typeof encoding === 'function')
                [encoding, callback] = [undefined, encoding];
            let failure;
            if (chunk !== undefined && chunk !== null)
                this.write(chunk, encoding);
            if (state.corked) {
                state.corked = 1;
                this.uncork();
            }
            if (state.finished)
                failure = nodeError(Error, 'ERR_STREAM_ALREADY_FINISHED', 'Cannot call end after a stream was finished');
            else if (state.destroyed)
                failure = nodeError(Error, 'ERR_STREAM_DESTROYED', 'Cannot call end after a stream was destroyed');
            else if (!state.ending) {
                state.ending = true;
                maybeFinish(this, state);
                state.ended = true;
            }
            if (typeof callback === 'function') {
                if (failure || state.finished)
                    host.nextTick(() => callback(failure));
                else
                    this.once('finish', callback);
            }
            return this;
        },
        destroy(error, callback) {
            const state = this._writableState;
            if (!state.destroyed && state.buffered.length > 0)
                host.nextTick(() => dropAll(state, error));
            return destroy.call(this, error, callback);
        },
        _destroy(error, callback) {
            callback(error);
        },
        pipe() {
            failOf(this, nodeError(Error, 'ERR_STREAM_CANNOT_PIPE', 'Cannot pipe, not readable'));
        },
    };
    for (const name of Object.keys(methods))
        Writable.prototype[name] = methods[name];

    const getters = {
        writable: (state) => !state.destroyed && !state.errored && !state.ending && !state.ended,
        writableFinished: (state) => state.finished,
        writableEnded: (state) => state.ending,
        writableLength: (state) => state.length,
        writableHighWaterMark: (state) => state.highWaterMark,
        writableObjectMode: (state) => state.objectMode,
        writableCorked: (state) => state.corked,
        writableNeedDrain: (state) => !state.destroyed && !state.ending && state.needDrain,
        writableAborted: (state) => (state.destroyed || !!state.errored) && !state.finished,
    };
    for (const name of Object.keys(getters)) {
        Object.defineProperty(Writable.prototype, name, {
            configurable: true,
            enumerable: false,
            get() {
                return this._writableState ? getters[name](this._writableState) : undefined;
            },
            set(value) {
                Object.defineProperty(this, name, { value, writable: true, configurable: true, enumerable: true });
            },
        });
    }
    return { Writable, startWriting };
})
