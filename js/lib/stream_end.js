// SPDX-License-Identifier: MIT
// js/lib/stream_end.js - how streams of node:stream begin late and end: construct, destroy, errors and 'close', for both halves.
// host: nextTick(fn)
//
// destroy() marks both halves at once; the stream's own _destroy may take its time, and a tick after it has answered come
// 'error', if there was one, and 'close'. A stream whose _construct still runs is destroyed when that has ended.
(function (host, need) {
    'use strict';
    const { nodeError, abortError } = need('node_error');
    const is = need('stream_is');
    const CONSTRUCTED = Symbol('constructed');
    const DESTROY = Symbol('destroy');
    const ABANDONED = Symbol.for('nodejs.stream.destroyed');

    // What both halves have; states inherit it, and set what differs.
    const common = {
        objectMode: false, constructed: true, destroyed: false, closed: false, closeEmitted: false, errored: null,
        errorEmitted: false, autoDestroy: true, emitClose: true, defaultEncoding: 'utf8',
    };

    let bytesAtMost = 16 * 1024, objectsAtMost = 16;

    const getDefaultHighWaterMark = (isObject) => (isObject ? objectsAtMost : bytesAtMost);

    function setDefaultHighWaterMark(isObject, value) {
        need('node_error').validateNumber(value, 'value', 0);
        if (isObject)
            objectsAtMost = value;
        else
            bytesAtMost = value;
    }

    // How much is wanted in the buffer; name is the option that one half of a duplex has for itself.
    function highWaterMark(options, isObject, isDuplex, name) {
        const wanted = options?.highWaterMark ?? (isDuplex ? options?.[name] : undefined) ?? undefined;
        if (wanted === undefined)
            return getDefaultHighWaterMark(isObject);
        if (!Number.isInteger(wanted) || wanted < 0)
            throw need('node_error').invalidArgValue(`options.${isDuplex ? name : 'highWaterMark'}`, wanted);
        return wanted;
    }

    // The options that both halves take.
    function setCommon(state, options, isDuplex, prefix) {
        const isObject = !!(options?.objectMode || (isDuplex && options?.[`${prefix}ObjectMode`]));
        if (isObject)
            state.objectMode = true;
        state.highWaterMark = highWaterMark(options, isObject, isDuplex, `${prefix}HighWaterMark`);
        if (options?.emitClose === false)
            state.emitClose = false;
        if (options?.autoDestroy === false)
            state.autoDestroy = false;
        const encoding = options?.defaultEncoding ?? 'utf8';
        if (encoding !== 'utf8' && encoding !== 'utf-8') {
            if (!need('buffer').Buffer.isEncoding(encoding))
                throw unknownEncoding(encoding);
            state.defaultEncoding = encoding;
        }
    }

    // Methods that may come as options.
    function setMethods(stream, options, names) {
        for (const name of names)
            if (typeof options[name] === 'function')
                stream[`_${name}`] = options[name];
        if (options.signal)
            need('stream_finished').addAbortSignal(options.signal, stream);
    }

    const unknownEncoding = (name) => nodeError(TypeError, 'ERR_UNKNOWN_ENCODING', `Unknown encoding: ${name}`);
    const destroyedError = (what) => nodeError(Error, 'ERR_STREAM_DESTROYED', `Cannot call ${what} after a stream was destroyed`);
    const twiceError = () => nodeError(Error, 'ERR_MULTIPLE_CALLBACK', 'Callback called multiple times');

    // Two errors of one end.
    function both(first, second) {
        if (!first || !second || first === second)
            return first || second;
        if (Array.isArray(second.errors)) {
            second.errors.push(first);
            return second;
        }
        return Object.assign(new AggregateError([second, first], second.message), { code: second.code });
    }

    const isDestroyed = (reading, writing) => reading?.destroyed || writing?.destroyed;

    function note(error, reading, writing) {
        if (!error)
            return;
        if (writing && !writing.errored)
            writing.errored = error;
        if (reading && !reading.errored)
            reading.errored = error;
    }

    function setBoth(stream, name, value) {
        if (stream._writableState)
            stream._writableState[name] = value;
        if (stream._readableState)
            stream._readableState[name] = value;
    }

    // ---- destroy ----

    function destroy(error, callback) {
        const reading = this._readableState, writing = this._writableState;
        if (isDestroyed(reading, writing)) {
            if (typeof callback === 'function')
                callback();
            return this;
        }
        note(error, reading, writing);
        setBoth(this, 'destroyed', true);
        if ((writing || reading).constructed)
            runDestroy(this, error, callback);
        else
            this.once(DESTROY, (failure) => runDestroy(this, both(failure, error), callback));
        return this;
    }

    function runDestroy(stream, error, callback) {
        let isDone = false;
        const done = (failure) => {
            if (isDone)
                return;
            isDone = true;
            note(failure, stream._readableState, stream._writableState);
            setBoth(stream, 'closed', true);
            if (typeof callback === 'function')
                callback(failure);
            host.nextTick(() => {
                if (failure)
                    tellError(stream, failure);
                tellClose(stream);
            });
        };
        try {
            stream._destroy(error || null, done);
        } catch (failure) {
            done(failure);
        }
    }

    function tellError(stream, error) {
        if (stream._writableState?.errorEmitted || stream._readableState?.errorEmitted)
            return;
        setBoth(stream, 'errorEmitted', true);
        stream.emit('error', error);
    }

    function tellClose(stream) {
        setBoth(stream, 'closeEmitted', true);
        if (stream._writableState?.emitClose || stream._readableState?.emitClose)
            stream.emit('close');
    }

    // An error of the stream itself: the end of one that destroys itself, else it is only told, at once or in a tick.
    function fail(stream, error, isLater = false) {
        const reading = stream._readableState, writing = stream._writableState;
        if (isDestroyed(reading, writing))
            return;
        if (reading?.autoDestroy || writing?.autoDestroy) {
            stream.destroy(error);
        } else if (error) {
            note(error, reading, writing);
            if (isLater)
                host.nextTick(() => tellError(stream, error));
            else
                tellError(stream, error);
        }
    }

    // ---- construct ----

    // Until _construct has called back nothing is read, written or destroyed; then comes begin().
    function construct(stream, begin) {
        if (typeof stream._construct !== 'function')
            return;
        setBoth(stream, 'constructed', false);
        stream.once(CONSTRUCTED, begin);
        let isDone = false;
        const done = (error) => {
            if (isDone) {
                fail(stream, error ?? twiceError());
                return;
            }
            isDone = true;
            setBoth(stream, 'constructed', true);
            if ((stream._writableState || stream._readableState).destroyed)
                stream.emit(DESTROY, error);
            else if (error)
                fail(stream, error, true);
            else
                stream.emit(CONSTRUCTED);
        };
        host.nextTick(() => {
            try {
                stream._construct((error) => host.nextTick(() => done(error)));
            } catch (error) {
                host.nextTick(() => done(error));
            }
        });
    }

    function undestroy() {
        const reading = this._readableState, writing = this._writableState;
        for (const state of [reading, writing])
            if (state)
                Object.assign(state, {
                    constructed: true, destroyed: false, closed: false, closeEmitted: false, errored: null, errorEmitted: false,
                });
        if (reading) {
            reading.reading = false;
            reading.ended = reading.endEmitted = reading.readable === false;
        }
        if (writing) {
            writing.finalCalled = writing.prefinished = false;
            writing.ended = writing.ending = writing.finished = writing.writable === false;
        }
    }

    // ---- Streams of any kind ----

    const isRequest = (stream) => stream?.setHeader && typeof stream.abort === 'function';

    // Destroys a stream, also one of another make; without an error one that is not over is aborted.
    function destroyAny(stream, error) {
        if (!stream || is.destroyed(stream))
            return;
        if (!error && !is.over(stream))
            error = abortError();
        if (is.serverRequest(stream)) {
            stream.socket = null;
            stream.destroy(error);
        } else if (isRequest(stream)) {
            stream.abort();
        } else if (isRequest(stream.req)) {
            stream.req.abort();
        } else if (typeof stream.destroy === 'function') {
            stream.destroy(error);
        } else if (typeof stream.close === 'function') {
            stream.close();
        } else {
            const close = () => stream.emit('close');
            host.nextTick(error ? () => {
                stream.emit('error', error);
                host.nextTick(close);
            } : close);
        }
        if (!stream.destroyed)
            stream[ABANDONED] = true;
    }

    return {
        common, setCommon, setMethods, highWaterMark, getDefaultHighWaterMark, setDefaultHighWaterMark, unknownEncoding,
        destroyedError, twiceError, both, destroy, undestroy, fail, construct, destroyAny, isRequest,
    };
})
