// SPDX-License-Identifier: MIT
// js/lib/stream.js - node:stream: its classes and functions in one place.
(function (host, need) {
    'use strict';
    const { Stream, Readable } = need('stream_readable');
    const { Writable } = need('stream_writable');
    const { Duplex, Transform, PassThrough, duplexPair } = need('stream_duplex');
    const { finished, finishedLater, addAbortSignal } = need('stream_finished');
    const { pipeline, pipelineLater } = need('stream_pipeline');
    const ending = need('stream_end');
    const is = need('stream_is');

    // These load when they are first called.
    for (const name of ['asIndexedPairs', 'compose', 'drop', 'every', 'filter', 'find', 'flatMap', 'forEach', 'map', 'reduce',
        'some', 'take', 'toArray'])
        Object.defineProperty(Readable.prototype, name, {
            configurable: true,
            get() {
                need('stream_operators').addTo(Readable);
                return this[name];
            },
            set(value) {
                Object.defineProperty(this, name, { value, writable: true, configurable: true, enumerable: true });
            },
        });

    Stream.prototype.pipe = function (target, options) {
        return need('stream_pipe').pipePlain(this, target, options);
    };
    Stream.prototype.eventNames = function () {
        return Reflect.ownKeys(this._events).filter((name) => typeof this._events[name] === 'function'
            || this._events[name]?.length > 0);
    };

    const promises = { finished: finishedLater, pipeline: pipelineLater };
    const custom = Symbol.for('nodejs.util.promisify.custom');
    Object.defineProperty(finished, custom, { enumerable: true, get: () => finishedLater });
    Object.defineProperty(pipeline, custom, { enumerable: true, get: () => pipelineLater });

    return Object.assign(Stream, {
        isDestroyed: is.destroyed, isDisturbed: is.disturbed, isErrored: is.errored, isReadable: is.readable,
        isWritable: is.writable, Readable, Writable, Duplex, Transform, PassThrough, duplexPair, pipeline, addAbortSignal,
        finished, destroy: ending.destroyAny, compose: (...streams) => need('stream_compose').compose(...streams),
        setDefaultHighWaterMark: ending.setDefaultHighWaterMark, getDefaultHighWaterMark: ending.getDefaultHighWaterMark,
        promises, Stream,
        _isArrayBufferView: ArrayBuffer.isView,
        _isUint8Array: (value) => value instanceof Uint8Array,
        _uint8ArrayToBuffer: ({ buffer, byteOffset, byteLength }) => need('buffer').Buffer.from(buffer, byteOffset, byteLength),
    });
})
