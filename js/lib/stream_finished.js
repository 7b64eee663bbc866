// SPDX-License-Identifier: MIT
// js/lib/stream_finished.js - finished() of node:stream: when a stream is over, of whatever make; and streams that a signal ends.
// host: nextTick(fn)
(function (host, need) {
    'use strict';
    const errors = need('node_error');
    const is = need('stream_is');
    const { isRequest } = need('stream_end');

    const prematureClose = () => errors.nodeError(Error, 'ERR_STREAM_PREMATURE_CLOSE', 'Premature close');

    // Calls fn when the signal aborts; returns how to stop that.
    function onAbort(signal, fn) {
        const { addAlgorithm, removeAlgorithm, isAbortSignal } = need('abort');
        if (!isAbortSignal(signal)) {
            signal.addEventListener('abort', fn, { once: true });
            return () => signal.removeEventListener('abort', fn);
        }
        addAlgorithm(signal, fn);
        return () => removeAlgorithm(signal, fn);
    }

    function finished(stream, options, callback) {
        if (arguments.length === 2)
            [options, callback] = [{}, options];
        else if (options === undefined || options === null)
            options = {};
        else
            errors.validateObject(options, 'options');
        errors.validateFunction(callback, 'callback');
        errors.validateAbortSignal(options.signal, 'options.signal');
        const isWeb = is.webReadable(stream) || is.webWritable(stream);
        if (!isWeb && !is.node(stream))
            throw errors.invalidArgType('stream', ['ReadableStream', 'WritableStream', 'Stream'], stream);
        return isWeb ? watchWeb(stream, options, callback) : new Watch(stream, options, callback).start();
    }

    // Waits for 'end' and 'finish', whichever matter, or for 'close' where that is bound to follow them.
    class Watch {
        constructor(stream, options, callback) {
            this.stream = stream;
            this.callback = callback;
            this.options = options;
            this.readable = options.readable ?? is.reader(stream);
            this.writable = options.writable ?? is.writer(stream);
            this.awaitsClose = is.willClose(stream) && is.reader(stream) === this.readable && is.writer(stream) === this.writable;
            this.isRead = is.ended(stream, false);
            this.isWritten = is.finished(stream, false);
            this.stopSignal = undefined;
            this.listeners = [];
        }

        done(error) {
            const { callback } = this;
            if (callback === undefined)
                return;
            this.callback = undefined;
            this.stopSignal?.();
            if (error === undefined)
                callback.call(this.stream);
            else
                callback.call(this.stream, error);
        }

        finishSeen() {
            const { stream } = this;
            this.isWritten = true;
            this.awaitsClose &&= !stream.destroyed;
            if (this.awaitsClose && (!stream.readable || this.readable))
                return;
            if (!this.readable || this.isRead)
                this.done();
        }

        endSeen() {
            const { stream } = this;
            this.isRead = true;
            this.awaitsClose &&= !stream.destroyed;
            if (this.awaitsClose && (!stream.writable || this.writable))
                return;
            if (!this.writable || this.isWritten)
                this.done();
        }

        closeSeen() {
            const { stream } = this;
            const error = is.errorOf(stream);
            if (error && typeof error !== 'boolean')
                this.done(error);
            else if (this.readable && !this.isRead && is.reader(stream, true) && !is.ended(stream, false))
                this.done(prematureClose());
            else if (this.writable && !this.isWritten && !is.finished(stream, false))
                this.done(prematureClose());
            else
                this.done();
        }

        // It was over before anybody asked.
        wasOver() {
            const error = is.errorOf(this.stream);
            this.done(error && typeof error !== 'boolean' ? error : undefined);
        }

        listen(name, listener, emitter = this.stream) {
            emitter.on(name, listener);
            this.listeners.push([emitter, name, listener]);
        }

        start() {
            const { stream, options } = this;
            const isClosed = is.closed(stream);
            const onClose = () => this.closeSeen(), onFinish = () => this.finishSeen(), onEnd = () => this.endSeen();
            if (isRequest(stream)) {
                this.listen('complete', onFinish);
                if (!this.awaitsClose)
                    this.listen('abort', onClose);
                if (stream.req)
                    this.listen('finish', onFinish, stream.req);
                else
                    this.listen('request', () => this.listen('finish', onFinish, stream.req));
            } else if (this.writable && !stream._writableState) {
                const onOldEnd = () => !stream.writable && onFinish();
                this.listen('end', onOldEnd);
                this.listen('close', onOldEnd);
            }
            if (!this.awaitsClose && typeof stream.aborted === 'boolean')
                this.listen('aborted', onClose);
            this.listen('end', onEnd);
            this.listen('finish', onFinish);
            if (options.error !== false)
                this.listen('error', (error) => this.done(error));
            this.listen('close', onClose);
            if (isClosed)
                host.nextTick(onClose);
            else if (this.isOver())
                host.nextTick(() => this.wasOver());
            if (options.signal && !isClosed)
                this.watchSignal(options.signal);
            return () => this.stop();
        }

        isOver() {
            const { stream, awaitsClose } = this, writing = stream._writableState, reading = stream._readableState;
            if (writing?.errorEmitted || reading?.errorEmitted)
                return !awaitsClose;
            if (!this.readable && (!awaitsClose || is.readable(stream)) && (this.isWritten || is.writable(stream) === false)
                && !writing?.pendingcb)
                return true;
            if (!this.writable && (!awaitsClose || is.writable(stream)) && (this.isRead || is.readable(stream) === false))
                return true;
            return !!(reading && stream.req && stream.aborted);
        }

        watchSignal(signal) {
            const abort = () => {
                const { callback } = this;
                this.stop();
                callback?.call(this.stream, errors.abortError(signal));
            };
            if (signal.aborted)
                host.nextTick(abort);
            else
                this.stopSignal = onAbort(signal, abort);
        }

        // Nobody wants to know any more.
        stop() {
            this.callback = undefined;
            for (const [emitter, name, listener] of this.listeners)
                emitter.removeListener(name, listener);
        }
    }

    // A stream of the web's, ours: when it is closed or errored.
    function watchWeb(stream, options, callback) {
        const { signal } = options;
        let isDone = false, stop;
        const done = (...error) => {
            if (isDone)
                return;
            isDone = true;
            stop?.();
            callback.apply(stream, error);
        };
        if (signal) {
            const abort = () => done(errors.abortError(signal));
            if (signal.aborted)
                host.nextTick(abort);
            else
                stop = onAbort(signal, abort);
        }
        const later = (...error) => host.nextTick(() => done(...error));
        need('stream_web').closedOf(stream).then(() => later(), later);
        return () => {};
    }

    function finishedLater(stream, options) {
        if (options === null)
            options = {};
        const cleansUp = options?.cleanup;
        if (cleansUp)
            errors.validateBoolean(cleansUp, 'cleanup');
        return new Promise((resolve, reject) => {
            const stop = finished(stream, options, (error) => {
                if (cleansUp)
                    stop();
                if (error)
                    reject(error);
                else
                    resolve();
            });
        });
    }

    // await using: whatever is not over is aborted.
    function dispose(stream, isOver) {
        const error = stream.destroyed || isOver ? null : errors.abortError();
        if (!stream.destroyed)
            stream.destroy(error);
        return new Promise((resolve, reject) => {
            finished(stream, (failure) => (failure && failure !== error ? reject(failure) : resolve(null)));
        });
    }

    function addAbortSignal(signal, stream) {
        if (typeof signal !== 'object' || signal === null || !('aborted' in signal))
            throw errors.invalidArgType('signal', 'AbortSignal', signal);
        if (!is.node(stream) && !is.web(stream))
            throw errors.invalidArgType('stream', ['ReadableStream', 'WritableStream', 'Stream'], stream);
        const abort = () => {
            const error = errors.abortError(signal);
            if (is.node(stream))
                stream.destroy(error);
            else
                need('stream_web').errorOut(stream, error);
        };
        if (signal.aborted)
            abort();
        else
            finished(stream, onAbort(signal, abort));
        return stream;
    }

    return { finished, finishedLater, dispose, addAbortSignal, onAbort, prematureClose };
})
