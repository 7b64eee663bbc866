// SPDX-License-Identifier: MIT
// js/lib/stream.js - node:stream as far as packages use it: the classes, pipeline and finished.
(function (host, need) {
    'use strict';
    const { Stream, Readable, startReading } = need('stream_readable');
    const { Writable, startWriting } = need('stream_writable');
    const { nodeError } = need('node_error');
    const { addGetters } = need('stream_end');
    const together = need('stream_pipe');

    addGetters(Readable.prototype);
    addGetters(Writable.prototype);
    Readable.from = (iterable, options) => together.from(Readable, iterable, options);

    function Duplex(options) {
        if (!(this instanceof Duplex))
            return new Duplex(options);
        Stream.call(this, options);
        startReading(this, options);
        startWriting(this, options);
        this.allowHalfOpen = options?.allowHalfOpen !== false;
        if (options?.readable === false) {
            this._readableState.ended = this._readableState.endEmitted = true;
            this.readable = false;
        }
        if (options?.writable === false) {
            this._writableState.ending = this._writableState.ended = this._writableState.finished = true;
            this.writable = false;
        }
        return undefined;
    }
    Object.setPrototypeOf(Duplex.prototype, Readable.prototype);
    Object.setPrototypeOf(Duplex, Readable);
    for (const name of Object.getOwnPropertyNames(Writable.prototype))
        if (!['constructor', 'pipe', '_destroy', 'destroyed', 'closed', 'errored'].includes(name))
            Object.defineProperty(Duplex.prototype, name, Object.getOwnPropertyDescriptor(Writable.prototype, name));

    function Transform(options) {
        if (!(this instanceof Transform))
            return new Transform(options);
        Duplex.call(this, options);
        if (typeof options?.transform === 'function')
            this._transform = options.transform;
        if (typeof options?.flush === 'function')
            this._flush = options.flush;
        this._readableState.sync = false;
        Object.defineProperty(this, '_waiting', { value: null, writable: true });
        return undefined;
    }
    Object.setPrototypeOf(Transform.prototype, Duplex.prototype);
    Object.setPrototypeOf(Transform, Duplex);

    const transforming = {
        _transform() {
            throw nodeError(Error, 'ERR_METHOD_NOT_IMPLEMENTED', 'The _transform() method is not implemented');
        },
        _write(chunk, encoding, callback) {
            const reading = this._readableState, before = reading.length;
            this._transform(chunk, encoding, (error, value) => {
                if (error) {
                    callback(error);
                    return;
                }
                if (value !== undefined && value !== null)
                    this.push(value);
                // Who reads slowly is waited for.
                if (this._writableState.ending || before === reading.length || reading.length < reading.highWaterMark)
                    callback();
                else
                    this._waiting = callback;
            });
        },
        _read() {
            const callback = this._waiting;
            this._waiting = null;
            callback?.();
        },
        _final(callback) {
            const last = (error, value) => {
                if (error) {
                    callback(error);
                    return;
                }
                if (value !== undefined && value !== null)
                    this.push(value);
                this.push(null);
                callback();
            };
            if (typeof this._flush === 'function' && !this.destroyed)
                this._flush(last);
            else
                last();
        },
    };
    for (const name of Object.keys(transforming))
        Transform.prototype[name] = transforming[name];

    function PassThrough(options) {
        if (!(this instanceof PassThrough))
            return new PassThrough(options);
        Transform.call(this, options);
        return undefined;
    }
    Object.setPrototypeOf(PassThrough.prototype, Transform.prototype);
    Object.setPrototypeOf(PassThrough, Transform);
    PassThrough.prototype._transform = function (chunk, encoding, callback) {
        callback(null, chunk);
    };

    const { finished, pipeline, promises } = together;
    const custom = Symbol.for('nodejs.util.promisify.custom');
    Object.defineProperty(finished, custom, { get: () => promises.finished });
    Object.defineProperty(pipeline, custom, { get: () => promises.pipeline });
    const isFit = (state) => state && !state.destroyed && !state.errored;
    Object.assign(Stream, {
        Stream, Readable, Writable, Duplex, Transform, PassThrough, finished, pipeline, promises,
        isReadable: (stream) => !!(isFit(stream?._readableState) && stream.readable),
        isWritable: (stream) => !!(isFit(stream?._writableState) && stream.writable),
        isErrored: (stream) => !!stream?.errored,
        isDisturbed: (stream) => !!stream?.readableDidRead,
        getDefaultHighWaterMark: (isObject) => (isObject ? 16 : 16 * 1024),
        addAbortSignal(signal, stream) {
            const { abortError } = need('node_error');
            const stop = () => stream.destroy(abortError(signal));
            if (signal.aborted)
                stop();
            else
                signal.addEventListener('abort', stop, { once: true });
            return stream;
        },
    });
    Stream.prototype.pipe = Readable.prototype.pipe;
    return Stream;
})
