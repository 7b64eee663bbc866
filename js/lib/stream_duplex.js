// SPDX-License-Identifier: MIT
// js/lib/stream_duplex.js - streams of node:stream that read and write: Duplex, Transform, PassThrough, pairs.
// host: nextTick(fn)
(function (host, need) {
    'use strict';
    const { Stream, Readable, ReadableState, beginReading } = need('stream_readable');
    const { Writable, WritableState, beginWriting } = need('stream_writable');
    const { nodeError } = need('node_error');
    const ending = need('stream_end');

    function Duplex(options) {
        if (!(this instanceof Duplex))
            return new Duplex(options);
        this._readableState = new ReadableState(options, true);
        this._writableState = new WritableState(options, this, true);
        this.allowHalfOpen = options?.allowHalfOpen !== false;
        if (options) {
            switchOff(this, options);
            ending.setMethods(this, options, ['read', 'write', 'writev', 'destroy', 'final', 'construct']);
        }
        Stream.call(this, options);
        if (this._construct)
            ending.construct(this, () => {
                beginReading(this);
                beginWriting(this);
            });
        return undefined;
    }
    inherit(Duplex, Readable);

    function inherit(Class, Parent) {
        Object.setPrototypeOf(Class.prototype, Parent.prototype);
        Object.setPrototypeOf(Class, Parent);
    }

    // A half that is not there counts as over.
    function switchOff(stream, options) {
        if (options.readable === false)
            Object.assign(stream._readableState, { readable: false, ended: true, endEmitted: true });
        if (options.writable === false)
            Object.assign(stream._writableState, { writable: false, ending: true, ended: true, finished: true });
    }

    for (const name of Object.keys(Writable.prototype))
        if (!Object.hasOwn(Duplex.prototype, name) && (name === 'destroy' || Readable.prototype[name] === undefined))
            Duplex.prototype[name] = Writable.prototype[name];
    const shared = Object.getOwnPropertyDescriptors(Writable.prototype);
    for (const name of Object.keys(shared))
        if (name.startsWith('writable') && name !== 'writableAborted') // which Node has not given it
            Object.defineProperty(Duplex.prototype, name, shared[name]);
    Object.defineProperty(Duplex.prototype, 'destroyed', {
        configurable: true,
        get() {
            return !!(this._readableState?.destroyed && this._writableState?.destroyed);
        },
        set(value) {
            if (this._readableState && this._writableState)
                this._readableState.destroyed = this._writableState.destroyed = value;
        },
    });
    Object.assign(Duplex, {
        from: (body) => need('stream_compose').duplexFrom(body, 'body'),
        fromWeb: (pair, options) => need('stream_web').duplexFrom(pair, options),
        toWeb: (stream) => need('stream_web').duplexTo(stream),
    });

    // ---- Transform ----

    const WAITING = Symbol('callback'); // of a write that waits until somebody has read

    function Transform(options) {
        if (!(this instanceof Transform))
            return new Transform(options);
        // Without room for reading there is none for writing either: what is written is to come out at once.
        if (options && ending.highWaterMark(options, false, true, 'readableHighWaterMark') === 0)
            options = {
                ...options, highWaterMark: null, readableHighWaterMark: 0,
                writableHighWaterMark: options.writableHighWaterMark || 0,
            };
        Duplex.call(this, options);
        this._readableState.sync = false;
        this[WAITING] = null;
        if (typeof options?.transform === 'function')
            this._transform = options.transform;
        if (typeof options?.flush === 'function')
            this._flush = options.flush;
        // Some have a _final of their own, and want _flush called all the same.
        this.on('prefinish', flushUnlessFinal);
        return undefined;
    }
    inherit(Transform, Duplex);

    function flush(callback) {
        const last = (error, value) => {
            if (error) {
                if (callback)
                    callback(error);
                else
                    this.destroy(error);
                return;
            }
            if (value !== undefined && value !== null)
                this.push(value);
            this.push(null);
            callback?.();
        };
        if (typeof this._flush === 'function' && !this.destroyed)
            this._flush(last);
        else
            last();
    }

    function flushUnlessFinal() {
        if (this._final !== flush)
            flush.call(this);
    }

    Object.assign(Transform.prototype, {
        _final: flush,
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
                if (reading.ended)
                    host.nextTick(callback);
                else if (this._writableState.ended || before === reading.length || reading.length < reading.highWaterMark)
                    callback();
                else
                    this[WAITING] = callback;
            });
        },
        _read() {
            const callback = this[WAITING];
            if (callback) {
                this[WAITING] = null;
                callback();
            }
        },
    });

    function PassThrough(options) {
        if (!(this instanceof PassThrough))
            return new PassThrough(options);
        Transform.call(this, options);
        return undefined;
    }
    inherit(PassThrough, Transform);
    PassThrough.prototype._transform = function (chunk, encoding, callback) {
        callback(null, chunk);
    };

    // ---- Two that are connected: what one writes the other reads ----

    class Side extends Duplex {
        #other;
        #callback = null; // of the other's write, which we have not read

        static join(one, another) {
            one.#other = another;
            another.#other = one;
        }

        _read() {
            const callback = this.#callback;
            if (callback) {
                this.#callback = null;
                callback();
            }
        }

        _write(chunk, encoding, callback) {
            if (chunk.length === 0) {
                host.nextTick(callback);
            } else {
                this.#other.push(chunk);
                this.#other.#callback = callback;
            }
        }

        _final(callback) {
            this.#other.on('end', callback);
            this.#other.push(null);
        }
    }

    function duplexPair(options) {
        const pair = [new Side(options), new Side(options)];
        Side.join(...pair);
        return pair;
    }

    return { Duplex, Transform, PassThrough, duplexPair };
})
