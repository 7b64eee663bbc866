// SPDX-License-Identifier: MIT
// js/lib/stream_writable.js - the writing half of node:stream.
// host: nextTick(fn)
//
// One write is at the stream's _write at a time; others wait in a buffer, and go together where there is _writev. A write that
// ends within _write is told of a tick later. pendingcb counts callbacks that are still owed: 'finish' comes after them all.
(function (host, need) {
    'use strict';
    const { Buffer } = need('buffer');
    const { nodeError } = need('node_error');
    const { Stream, addProperties, toBytes, wrongChunk } = need('stream_readable');
    const ending = need('stream_end');
    const { fail, destroyedError } = ending;
    const nothing = () => {};

    class WritableState {
        constructor(options, stream, isDuplex = false) {
            this.length = 0; // of what waits and what is at _write
            this.corked = 0;
            this.writelen = 0; // of what is at _write
            this.pendingcb = 0;
            this.buffered = null; // [{ chunk, encoding, callback }...]
            this.bufferedIndex = 0;
            this.onwrite = (error) => written(stream, this, error);
            ending.setCommon(this, options, isDuplex, 'writable');
            if (options?.decodeStrings === false)
                this.decodeStrings = false;
        }

        getBuffer() {
            return this.buffered === null ? [] : this.buffered.slice(this.bufferedIndex);
        }

        get bufferedRequestCount() {
            return this.buffered === null ? 0 : this.buffered.length - this.bufferedIndex;
        }
    }
    Object.assign(WritableState.prototype, ending.common, {
        decodeStrings: true, writing: false, sync: true, expectsCallback: false, writecb: nothing, bufferProcessing: false,
        allBuffers: true, allNoop: true, needDrain: false, ending: false, ended: false, finished: false, prefinished: false,
        finalCalled: false, isTold: false, tick: null, onFinished: null,
    });

    function Writable(options) {
        if (!(this instanceof Writable))
            return new Writable(options);
        this._writableState = new WritableState(options, this);
        if (options)
            ending.setMethods(this, options, ['write', 'writev', 'destroy', 'final', 'construct']);
        Stream.call(this, options);
        if (this._construct)
            ending.construct(this, () => beginWriting(this));
        return undefined;
    }
    Object.setPrototypeOf(Writable.prototype, Stream.prototype);
    Object.setPrototypeOf(Writable, Stream);
    // What reads and writes is a Writable too.
    Object.defineProperty(Writable, Symbol.hasInstance, {
        value(object) {
            return Function.prototype[Symbol.hasInstance].call(this, object)
                || (this === Writable && object?._writableState instanceof WritableState);
        },
    });

    function beginWriting(stream) {
        const state = stream._writableState;
        if (!state.writing)
            writeBuffered(stream, state);
        if (state.ending)
            finishMaybe(stream, state);
    }

    // ---- In ----

    // An error, or whether there is room for more.
    function accept(stream, chunk, encoding, callback) {
        const state = stream._writableState;
        if (typeof callback !== 'function')
            callback = nothing;
        if (chunk === null)
            throw nodeError(TypeError, 'ERR_STREAM_NULL_VALUES', 'May not write null values to stream');
        if (!state.objectMode) {
            if (!encoding)
                encoding = state.defaultEncoding;
            else if (encoding !== 'buffer' && !Buffer.isEncoding(encoding))
                throw ending.unknownEncoding(encoding);
            if (typeof chunk !== 'string' || state.decodeStrings) {
                const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : toBytes(chunk);
                if (bytes === undefined)
                    throw wrongChunk(chunk);
                chunk = bytes;
                encoding = 'buffer';
            }
        }
        const error = state.ending ? nodeError(Error, 'ERR_STREAM_WRITE_AFTER_END', 'write after end')
            : state.destroyed ? destroyedError('write') : undefined;
        if (error) {
            host.nextTick(() => callback(error));
            fail(stream, error, true);
            return error;
        }
        state.pendingcb++;
        return writeOrKeep(stream, state, chunk, encoding, callback);
    }

    function writeOrKeep(stream, state, chunk, encoding, callback) {
        const length = state.objectMode ? 1 : chunk.length;
        state.length += length;
        if (state.writing || state.errored || state.corked > 0 || !state.constructed) {
            (state.buffered ??= []).push({ chunk, encoding, callback });
            if (encoding !== 'buffer')
                state.allBuffers = false;
            if (callback !== nothing)
                state.allNoop = false;
        } else {
            expect(state, length, callback);
            stream._write(chunk, encoding, state.onwrite);
            state.sync = false;
        }
        const hasRoom = state.length < state.highWaterMark || state.length === 0;
        if (!hasRoom)
            state.needDrain = true;
        return hasRoom && !state.destroyed && !state.errored;
    }

    function expect(state, length, callback) {
        state.writelen = length;
        if (callback !== nothing)
            state.writecb = callback;
        state.writing = state.sync = state.expectsCallback = true;
    }

    function writeNow(state, length, callback, write) {
        expect(state, length, callback);
        if (state.destroyed)
            state.onwrite(destroyedError('write'));
        else
            write();
        state.sync = false;
    }

    function writeBuffered(stream, state) {
        if (state.buffered === null || state.corked > 0 || state.destroyed || state.bufferProcessing || !state.constructed)
            return;
        const { buffered } = state;
        let index = state.bufferedIndex;
        const count = buffered.length - index;
        if (count === 0)
            return;
        state.bufferProcessing = true;
        if (count > 1 && stream._writev) {
            writeAll(stream, state, buffered.slice(index));
            emptyBuffer(state);
        } else {
            do {
                const { chunk, encoding, callback } = buffered[index];
                buffered[index++] = null;
                writeNow(state, state.objectMode ? 1 : chunk.length, callback,
                    () => stream._write(chunk, encoding, state.onwrite));
            } while (index < buffered.length && !state.writing);
            if (index === buffered.length) {
                emptyBuffer(state);
            } else if (index > 256) {
                buffered.splice(0, index);
                state.bufferedIndex = 0;
            } else {
                state.bufferedIndex = index;
            }
        }
        state.bufferProcessing = false;
    }

    // By _writev: the many owe one callback.
    function writeAll(stream, state, chunks) {
        state.pendingcb -= chunks.length - 1;
        chunks.allBuffers = state.allBuffers;
        const callback = state.allNoop ? nothing : (error) => {
            for (const each of chunks)
                each.callback(error);
        };
        writeNow(state, state.length, callback, () => stream._writev(chunks, state.onwrite));
    }

    function emptyBuffer(state) {
        state.buffered = null;
        state.bufferedIndex = 0;
        state.allBuffers = state.allNoop = true;
    }

    // ---- A write has ended ----

    function written(stream, state, error) {
        if (!state.expectsCallback) {
            fail(stream, ending.twiceError());
            return;
        }
        const { sync, writecb: callback } = state;
        state.writecb = nothing;
        state.writing = state.expectsCallback = false;
        state.length -= state.writelen;
        state.writelen = 0;
        if (error) {
            writeFailed(stream, state, error, callback, sync);
            return;
        }
        if (state.buffered !== null)
            writeBuffered(stream, state);
        if (sync)
            tellLater(stream, state, callback);
        else
            tell(stream, state, 1, callback);
    }

    function writeFailed(stream, state, error, callback, sync) {
        state.errored ??= error;
        if (stream._readableState)
            stream._readableState.errored ??= error;
        const after = () => {
            state.pendingcb--;
            callback(error);
            refuseBuffered(state);
            fail(stream, error);
        };
        if (sync)
            host.nextTick(after);
        else
            after();
    }

    // Callbacks that are the same function share a tick; a write without one needs none, unless somebody waits for 'drain'
    // (or, as in Node, what is written are objects).
    function tellLater(stream, state, callback) {
        const isAwaited = (state.needDrain && state.length === 0) || state.objectMode;
        if (callback === nothing) {
            if (isAwaited && !state.isTold) {
                state.isTold = true;
                host.nextTick(() => tell(stream, state, 1, callback));
                return;
            }
            state.pendingcb--;
            if (state.ending)
                finishMaybe(stream, state, true);
        } else if (state.tick !== null && state.tick.callback === callback) {
            state.tick.count++;
        } else {
            const tick = state.tick = { callback, count: 1 };
            state.isTold = true;
            host.nextTick(() => {
                state.tick = null;
                tell(stream, state, tick.count, callback);
            });
        }
    }

    function tell(stream, state, count, callback) {
        state.isTold = false;
        if (state.needDrain && !state.ending && !state.destroyed && state.length === 0) {
            state.needDrain = false;
            stream.emit('drain');
        }
        for (; count > 0; count--) {
            state.pendingcb--;
            callback(null);
        }
        if (state.destroyed)
            refuseBuffered(state);
        if (state.ending)
            finishMaybe(stream, state, true);
    }

    // What waits will not be written any more.
    function refuseBuffered(state) {
        if (state.writing)
            return;
        for (let n = state.bufferedIndex; state.buffered !== null && n < state.buffered.length; n++) {
            if (state.buffered[n] === null) // it is at _write
                continue;
            const { chunk, callback } = state.buffered[n];
            state.length -= state.objectMode ? 1 : chunk.length;
            callback(state.errored ?? destroyedError('write'));
        }
        if (state.onFinished !== null)
            callFinished(state, state.errored ?? destroyedError('end'));
        emptyBuffer(state);
    }

    // ---- The end ----

    const canFinish = (state) => state.ending && state.constructed && !state.destroyed && !state.finished && !state.writing
        && !state.errored && !state.errorEmitted && !state.closeEmitted && state.buffered === null && state.length === 0;

    function finishMaybe(stream, state, isLater = false) {
        if (!canFinish(state))
            return;
        callFinal(stream, state);
        if (state.pendingcb > 0 || !(isLater || canFinish(state)))
            return;
        state.pendingcb++;
        if (!isLater) {
            finish(stream, state);
            return;
        }
        host.nextTick(() => {
            if (canFinish(state))
                finish(stream, state);
            else
                state.pendingcb--;
        });
    }

    function callFinal(stream, state) {
        if (state.prefinished || state.finalCalled)
            return;
        state.finalCalled = true;
        if (typeof stream._final !== 'function' || state.destroyed) {
            state.prefinished = true;
            stream.emit('prefinish');
            return;
        }
        state.sync = true;
        state.pendingcb++;
        try {
            stream._final((error) => finalDone(stream, state, error));
        } catch (error) {
            finalDone(stream, state, error);
        }
        state.sync = false;
    }

    function finalDone(stream, state, error) {
        if (state.prefinished) {
            fail(stream, error ?? ending.twiceError());
            return;
        }
        state.pendingcb--;
        if (error) {
            callFinished(state, error);
            fail(stream, error, state.sync);
        } else if (canFinish(state)) {
            state.prefinished = true;
            stream.emit('prefinish');
            state.pendingcb++;
            host.nextTick(() => finish(stream, state));
        }
    }

    function finish(stream, state) {
        state.pendingcb--;
        state.finished = true;
        callFinished(state, null);
        stream.emit('finish');
        const reading = stream._readableState;
        if (state.autoDestroy && (!reading
            || (reading.autoDestroy && (reading.endEmitted || reading.readable === false))))
            stream.destroy();
    }

    // The callbacks of end().
    function callFinished(state, error) {
        const callbacks = state.onFinished;
        state.onFinished = null;
        for (const callback of callbacks ?? [])
            callback(error);
    }

    function end(chunk, encoding, callback) {
        const state = this._writableState;
        if (typeof chunk === 'function')
            [chunk, encoding, callback] = [null, null, chunk];
        else if (typeof encoding === 'function')
            [encoding, callback] = [null, encoding];
        let error;
        if (chunk !== undefined && chunk !== null) {
            const result = accept(this, chunk, encoding);
            if (result instanceof Error)
                error = result;
        }
        if (state.corked > 0) {
            state.corked = 1;
            this.uncork();
        }
        if (!error) {
            if (!state.ending && !state.errored) {
                state.ending = true;
                finishMaybe(this, state, true);
                state.ended = true;
            } else if (state.finished) {
                error = nodeError(Error, 'ERR_STREAM_ALREADY_FINISHED', 'Cannot call end after a stream was finished');
            } else if (state.destroyed) {
                error = destroyedError('end');
            }
        }
        if (typeof callback === 'function') {
            const known = error ?? state.errored;
            if (known || state.finished)
                host.nextTick(() => callback(known));
            else
                (state.onFinished ??= []).push(callback);
        }
        return this;
    }

    // ---- The class ----

    const methods = {
        end,
        write(chunk, encoding, callback) {
            if (typeof encoding === 'function')
                [encoding, callback] = [null, encoding];
            return accept(this, chunk, encoding, callback) === true;
        },
        _write(chunk, encoding, callback) {
            if (!this._writev)
                throw nodeError(Error, 'ERR_METHOD_NOT_IMPLEMENTED', 'The _write() method is not implemented');
            this._writev([{ chunk, encoding }], callback);
        },
        _writev: null,
        cork() {
            this._writableState.corked++;
        },
        uncork() {
            const state = this._writableState;
            if (state.corked === 0)
                return;
            state.corked--;
            if (!state.writing)
                writeBuffered(this, state);
        },
        setDefaultEncoding(encoding) {
            const name = typeof encoding === 'string' ? encoding.toLowerCase() : encoding;
            if (!Buffer.isEncoding(name))
                throw ending.unknownEncoding(name);
            this._writableState.defaultEncoding = name;
            return this;
        },
        destroy(error, callback) {
            const state = this._writableState;
            if ((state.buffered !== null || state.onFinished !== null) && !state.destroyed)
                host.nextTick(() => refuseBuffered(state));
            ending.destroy.call(this, error, callback);
            return this;
        },
        _undestroy: ending.undestroy,
        _destroy(error, callback) {
            callback(error);
        },
        pipe() {
            fail(this, nodeError(Error, 'ERR_STREAM_CANNOT_PIPE', 'Cannot pipe, not readable'));
        },
        [Symbol.for('nodejs.rejection')](error) {
            this.destroy(error);
        },
        [Symbol.asyncDispose]() {
            return need('stream_finished').dispose(this, this.writableFinished);
        },
    };
    for (const name of Reflect.ownKeys(methods))
        Writable.prototype[name] = methods[name];

    const getters = {
        writable: (state) => !!state && state.writable !== false && !state.ending && !state.ended && !state.destroyed
            && !state.errored,
        writableFinished: (state) => state?.finished ?? false,
        writableObjectMode: (state) => state?.objectMode ?? false,
        writableBuffer: (state) => state?.getBuffer(),
        writableEnded: (state) => state?.ending ?? false,
        writableNeedDrain: (state) => !!state && state.needDrain && !state.ending && !state.destroyed,
        writableHighWaterMark: (state) => state?.highWaterMark,
        writableCorked: (state) => state?.corked ?? 0,
        writableLength: (state) => state?.length,
        writableAborted: (state) => state.writable !== false && (state.destroyed || !!state.errored) && !state.finished,
        errored: (state) => state?.errored ?? null,
        closed: (state) => state?.closed ?? false,
        destroyed: (state) => state?.destroyed ?? false,
    };
    const setters = {
        writable: (state, value) => { state.writable = !!value; },
        destroyed: (state, value) => { state.destroyed = value; },
    };
    addProperties(Writable.prototype, '_writableState', getters, setters);

    Object.assign(Writable, {
        WritableState,
        fromWeb: (stream, options) => need('stream_web').writableFrom(stream, options),
        toWeb: (stream) => need('stream_web').writableTo(stream),
    });

    return { Writable, WritableState, beginWriting };
})
