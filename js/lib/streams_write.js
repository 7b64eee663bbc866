// SPDX-License-Identifier: MIT
// js/lib/streams_write.js - the writable side below its classes: stream, writer and controller states.
(function (host, need) {
    'use strict';

    const {
        SizedQueue, invalidState, deferred, then, handled, rejectedDeferred, resolvedDeferred, promiseResolve, promiseReject,
    } = need('streams_base');

    const WRITABLE = 0;
    const CLOSED = 1;
    const ERRORING = 2;
    const ERRORED = 3;

    // What the queue holds when the stream is to close.
    const CLOSE = Symbol('close');

    class StreamState {
        constructor() {
            this.state = WRITABLE;
            this.error = undefined;
            this.writer = undefined;
            this.controller = undefined;
            this.object = undefined;
            this.writeRequests = [];
            this.inFlightWrite = undefined;
            this.closeRequest = undefined;
            this.inFlightClose = undefined;
            this.pendingAbort = undefined;
            this.backpressure = false;
            // A promise of its end, when somebody wants one.
            this.over = undefined;
        }

        queuedOrInFlight() {
            return this.closeRequest !== undefined || this.inFlightClose !== undefined;
        }

        // True when close() is to be refused.
        closing() {
            return this.queuedOrInFlight();
        }

        abort(reason) {
            if (this.state === CLOSED || this.state === ERRORED) {
                return promiseResolve();
            }
            this.controller.signalAbort(reason);
            const state = this.state;
            if (state === CLOSED || state === ERRORED) {
                return promiseResolve();
            }
            if (this.pendingAbort !== undefined) {
                return this.pendingAbort.settle.promise;
            }
            const wasErroring = state === ERRORING;
            const settle = deferred();
            this.pendingAbort = { settle, reason: wasErroring ? undefined : reason, wasErroring };
            if (!wasErroring) {
                this.startErroring(reason);
            }
            return settle.promise;
        }

        close() {
            if (this.state === CLOSED || this.state === ERRORED) {
                return promiseReject(invalidState('WritableStream is closed'));
            }
            const request = deferred();
            this.closeRequest = request;
            const writer = this.writer;
            if (writer !== undefined && this.backpressure && this.state === WRITABLE) {
                writer.readyPending = false;
                writer.ready.resolve();
            }
            this.controller.queue.enqueue(CLOSE, 0);
            this.controller.advance();
            return request.promise;
        }

        dealWithRejection(reason) {
            if (this.state === WRITABLE) {
                this.startErroring(reason);
            } else {
                this.finishErroring();
            }
        }

        startErroring(reason) {
            this.state = ERRORING;
            this.error = reason;
            if (this.writer !== undefined) {
                ensureReadyRejected(this.writer, reason);
            }
            if (this.inFlightWrite === undefined && this.inFlightClose === undefined && this.controller.started) {
                this.finishErroring();
            }
        }

        finishErroring() {
            this.state = ERRORED;
            this.controller.queue.reset();
            const requests = this.writeRequests;
            this.writeRequests = [];
            for (const request of requests) {
                request.reject(this.error);
            }
            const pending = this.pendingAbort;
            if (pending === undefined) {
                this.rejectClose();
                return;
            }
            this.pendingAbort = undefined;
            if (pending.wasErroring) {
                pending.settle.reject(this.error);
                this.rejectClose();
                return;
            }
            then(this.controller.abortSteps(pending.reason), () => {
                pending.settle.resolve();
                this.rejectClose();
            }, (reason) => {
                pending.settle.reject(reason);
                this.rejectClose();
            });
        }

        rejectClose() {
            this.over?.reject(this.error);
            if (this.closeRequest !== undefined) {
                this.closeRequest.reject(this.error);
                this.closeRequest = undefined;
            }
            if (this.writer !== undefined) {
                handled(this.writer.closed.promise);
                this.writer.closed.reject(this.error);
            }
        }

        finishWrite() {
            this.inFlightWrite.resolve();
            this.inFlightWrite = undefined;
        }

        failWrite(reason) {
            this.inFlightWrite.reject(reason);
            this.inFlightWrite = undefined;
            this.dealWithRejection(reason);
        }

        finishClose() {
            this.inFlightClose.resolve();
            this.inFlightClose = undefined;
            if (this.state === ERRORING) {
                this.error = undefined;
                if (this.pendingAbort !== undefined) {
                    this.pendingAbort.settle.resolve();
                    this.pendingAbort = undefined;
                }
            }
            this.state = CLOSED;
            this.over?.resolve();
            if (this.writer !== undefined) {
                this.writer.closed.resolve();
            }
        }

        failClose(reason) {
            this.inFlightClose.reject(reason);
            this.inFlightClose = undefined;
            if (this.pendingAbort !== undefined) {
                this.pendingAbort.settle.reject(reason);
                this.pendingAbort = undefined;
            }
            this.dealWithRejection(reason);
        }

        updateBackpressure(backpressure) {
            const writer = this.writer;
            if (writer !== undefined && backpressure !== this.backpressure) {
                if (backpressure) {
                    writer.ready = deferred();
                    writer.readyPending = true;
                } else {
                    writer.readyPending = false;
                    writer.ready.resolve();
                }
            }
            this.backpressure = backpressure;
        }
    }

    class WriterState {
        constructor(stream) {
            this.stream = stream;
            // Whether the promises can still be settled.
            this.readyPending = false;
            stream.writer = this;
            const state = stream.state;
            if (state === WRITABLE) {
                this.readyPending = !stream.queuedOrInFlight() && stream.backpressure;
                this.ready = this.readyPending ? deferred() : resolvedDeferred();
                this.closed = deferred();
            } else if (state === ERRORING) {
                this.ready = rejectedDeferred(stream.error);
                this.closed = deferred();
            } else if (state === CLOSED) {
                this.ready = resolvedDeferred();
                this.closed = resolvedDeferred();
            } else {
                this.ready = rejectedDeferred(stream.error);
                this.closed = rejectedDeferred(stream.error);
            }
        }

        desiredSize() {
            const { state, controller } = this.stream;
            if (state === ERRORED || state === ERRORING) {
                return null;
            }
            return state === CLOSED ? 0 : controller.desiredSize();
        }
    }

    function ensureReadyRejected(writer, reason) {
        if (writer.readyPending) {
            handled(writer.ready.promise);
            writer.ready.reject(reason);
            writer.readyPending = false;
        } else {
            writer.ready = rejectedDeferred(reason);
        }
    }

    function acquireWriter(stream) {
        if (stream.writer !== undefined) {
            throw invalidState('WritableStream is locked');
        }
        return new WriterState(stream);
    }

    function releaseWriter(writer) {
        const stream = writer.stream;
        if (stream === undefined) {
            return;
        }
        const reason = invalidState('Writer has been released');
        ensureReadyRejected(writer, reason);
        if (stream.state === WRITABLE || stream.state === ERRORING) {
            handled(writer.closed.promise);
            writer.closed.reject(reason);
        } else {
            writer.closed = rejectedDeferred(reason);
        }
        stream.writer = undefined;
        writer.stream = undefined;
    }

    function write(writer, chunk) {
        const stream = writer.stream;
        const controller = stream.controller;
        const size = controller.sizeOfChunk(chunk);
        if (stream !== writer.stream) {
            return promiseReject(invalidState('Mismatched WritableStreams'));
        }
        const state = stream.state;
        if (state === ERRORED) {
            return promiseReject(stream.error);
        }
        if (state === CLOSED || stream.queuedOrInFlight()) {
            return promiseReject(invalidState('WritableStream is closed'));
        }
        if (state === ERRORING) {
            return promiseReject(stream.error);
        }
        const request = deferred();
        stream.writeRequests.push(request);
        controller.write(chunk, size);
        return request.promise;
    }

    // Closes as pipeTo does: what is closed already counts as closed.
    function closeWithError(writer) {
        const stream = writer.stream;
        if (stream.queuedOrInFlight() || stream.state === CLOSED) {
            return promiseResolve();
        }
        return stream.state === ERRORED ? promiseReject(stream.error) : stream.close();
    }

    class ControllerState {
        constructor(stream, writeAlgorithm, closeAlgorithm, abortAlgorithm, highWaterMark, size) {
            this.stream = stream;
            this.queue = new SizedQueue();
            this.abortController = undefined;
            this.started = false;
            this.highWaterMark = highWaterMark;
            this.size = size;
            this.writeAlgorithm = writeAlgorithm;
            this.closeAlgorithm = closeAlgorithm;
            this.abortAlgorithm = abortAlgorithm;
            this.object = undefined;
            stream.controller = this;
        }

        // start() runs at once; what it returns is waited for.
        begin(start) {
            const stream = this.stream;
            stream.updateBackpressure(this.backpressure());
            const result = start();
            then(new Promise((resolve) => resolve(result)), () => {
                this.started = true;
                this.advance();
            }, (reason) => {
                this.started = true;
                stream.dealWithRejection(reason);
            });
        }

        abortSource() {
            if (this.abortController === undefined) {
                this.abortController = new (need('abort').AbortController)();
            }
            return this.abortController;
        }

        signal() {
            return this.abortSource().signal;
        }

        signalAbort(reason) {
            this.abortSource().abort(reason);
        }

        abortSteps(reason) {
            const result = (0, this.abortAlgorithm)(reason);
            this.clearAlgorithms();
            return result;
        }

        clearAlgorithms() {
            this.writeAlgorithm = undefined;
            this.closeAlgorithm = undefined;
            this.abortAlgorithm = undefined;
            this.size = undefined;
        }

        desiredSize() {
            return this.highWaterMark - this.queue.total;
        }

        backpressure() {
            return this.desiredSize() <= 0;
        }

        sizeOfChunk(chunk) {
            if (this.size === undefined) {
                return 1;
            }
            try {
                return (0, this.size)(chunk);
            } catch (error) {
                this.errorIfWritable(error);
                return 1;
            }
        }

        write(chunk, size) {
            try {
                this.queue.enqueue(chunk, size);
            } catch (error) {
                this.errorIfWritable(error);
                return;
            }
            const stream = this.stream;
            if (!stream.queuedOrInFlight() && stream.state === WRITABLE) {
                stream.updateBackpressure(this.backpressure());
            }
            this.advance();
        }

        advance() {
            const stream = this.stream;
            if (!this.started || stream.inFlightWrite !== undefined) {
                return;
            }
            if (stream.state === ERRORING) {
                stream.finishErroring();
                return;
            }
            if (this.queue.length === 0) {
                return;
            }
            const { value } = this.queue.first();
            if (value === CLOSE) {
                this.processClose();
            } else {
                this.processWrite(value);
            }
        }

        errorIfWritable(reason) {
            if (this.stream.state === WRITABLE) {
                this.clearAlgorithms();
                this.stream.startErroring(reason);
            }
        }

        processClose() {
            const stream = this.stream;
            stream.inFlightClose = stream.closeRequest;
            stream.closeRequest = undefined;
            this.queue.dequeue();
            const result = (0, this.closeAlgorithm)();
            this.clearAlgorithms();
            then(result, () => stream.finishClose(), (reason) => stream.failClose(reason));
        }

        processWrite(chunk) {
            const stream = this.stream;
            stream.inFlightWrite = stream.writeRequests.shift();
            then((0, this.writeAlgorithm)(chunk), () => {
                stream.finishWrite();
                const state = stream.state;
                this.queue.dequeue();
                if (!stream.queuedOrInFlight() && state === WRITABLE) {
                    stream.updateBackpressure(this.backpressure());
                }
                this.advance();
            }, (reason) => {
                if (stream.state === WRITABLE) {
                    this.clearAlgorithms();
                }
                stream.failWrite(reason);
            });
        }
    }

    return {
        WRITABLE, CLOSED, ERRORING, ERRORED, StreamState, WriterState, ControllerState, acquireWriter, releaseWriter, write,
        closeWithError,
    };
})
