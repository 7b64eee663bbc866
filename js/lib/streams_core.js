// SPDX-License-Identifier: MIT
// js/lib/streams_core.js - the readable side below its classes: stream, reader and default controller states.
(function (host, need) {
    'use strict';

    const {
        SizedQueue, invalidState, deferred, then, handled, rejectedDeferred, resolvedDeferred, promiseResolve, promiseReject,
    } = need('streams_base');

    const READABLE = 0;
    const CLOSED = 1;
    const ERRORED = 2;

    // A read request is an object with chunk(value), close() and error(reason).

    class StreamState {
        constructor() {
            this.state = READABLE;
            this.error = undefined;
            this.disturbed = false;
            this.reader = undefined;
            this.controller = undefined;
            // The ReadableStream that programs hold.
            this.object = undefined;
            // A promise of its end, when somebody wants one.
            this.over = undefined;
        }
    }

    class ReaderState {
        constructor(stream, byob) {
            this.byob = byob;
            this.stream = stream;
            this.requests = [];
            stream.reader = this;
            if (stream.state === READABLE) {
                this.closed = deferred();
            } else if (stream.state === CLOSED) {
                this.closed = resolvedDeferred();
            } else {
                this.closed = rejectedDeferred(stream.error);
            }
        }
    }

    function acquireReader(stream) {
        if (stream.reader !== undefined) {
            throw invalidState('ReadableStream is locked');
        }
        return new ReaderState(stream, false);
    }

    function acquireByobReader(stream) {
        if (stream.reader !== undefined) {
            throw invalidState('ReadableStream is locked');
        }
        return new ReaderState(stream, true);
    }

    function takeRequests(reader) {
        const requests = reader.requests;
        reader.requests = [];
        return requests;
    }

    function errorRequests(reader, reason) {
        for (const request of takeRequests(reader)) {
            request.error(reason);
        }
    }

    function releaseReader(reader) {
        const stream = reader.stream;
        if (stream === undefined) {
            return;
        }
        const reason = invalidState('Reader released');
        if (stream.state === READABLE) {
            handled(reader.closed.promise);
            reader.closed.reject(reason);
        } else {
            reader.closed = rejectedDeferred(reason);
        }
        stream.controller.releaseSteps();
        stream.reader = undefined;
        reader.stream = undefined;
        errorRequests(reader, invalidState('Releasing reader'));
    }

    function readFrom(reader, request) {
        const stream = reader.stream;
        stream.disturbed = true;
        if (stream.state === CLOSED) {
            request.close();
        } else if (stream.state === ERRORED) {
            request.error(stream.error);
        } else {
            stream.controller.pullSteps(request);
        }
    }

    function closeStream(stream) {
        stream.state = CLOSED;
        stream.over?.resolve();
        const reader = stream.reader;
        if (reader === undefined) {
            return;
        }
        reader.closed.resolve();
        if (!reader.byob) {
            for (const request of takeRequests(reader)) {
                request.close();
            }
        }
    }

    function errorStream(stream, reason) {
        stream.state = ERRORED;
        stream.error = reason;
        stream.over?.reject(reason);
        const reader = stream.reader;
        if (reader === undefined) {
            return;
        }
        handled(reader.closed.promise);
        reader.closed.reject(reason);
        errorRequests(reader, reason);
    }

    const toUndefined = () => undefined;

    function cancelStream(stream, reason) {
        stream.disturbed = true;
        if (stream.state === CLOSED) {
            return promiseResolve();
        }
        if (stream.state === ERRORED) {
            return promiseReject(stream.error);
        }
        closeStream(stream);
        const reader = stream.reader;
        if (reader !== undefined && reader.byob) {
            for (const request of takeRequests(reader)) {
                request.close(undefined);
            }
        }
        return then(stream.controller.cancelSteps(reason), toUndefined);
    }

    // The number of reads that wait, of whichever kind the reader makes.
    const waitingReads = (stream, byob) =>
        (stream.reader !== undefined && stream.reader.byob === byob ? stream.reader.requests.length : 0);

    // What both controllers do alike: the pull loop and its start.
    class Puller {
        constructor(stream, pull, cancel, highWaterMark) {
            this.stream = stream;
            this.pull = pull;
            this.cancel = cancel;
            this.highWaterMark = highWaterMark;
            this.started = false;
            this.closeRequested = false;
            this.pulling = false;
            this.pullAgain = false;
            this.pulled = undefined;
            this.pullFailed = undefined;
            this.object = undefined;
            stream.controller = this;
        }

        // Runs after the source's start function has returned result.
        begin(result) {
            this.pulled = () => {
                this.pulling = false;
                if (this.pullAgain) {
                    this.pullAgain = false;
                    this.callPull();
                }
            };
            this.pullFailed = (reason) => this.fail(reason);
            then(new Promise((resolve) => resolve(result)), () => {
                this.started = true;
                this.callPull();
            }, this.pullFailed);
        }

        callPull() {
            if (!this.shouldPull()) {
                return;
            }
            if (this.pulling) {
                this.pullAgain = true;
                return;
            }
            this.pulling = true;
            then(this.pull(), this.pulled, this.pullFailed);
        }

        desiredSize() {
            const state = this.stream.state;
            if (state === ERRORED) {
                return null;
            }
            return state === CLOSED ? 0 : this.highWaterMark - this.queue.total;
        }

        clearAlgorithms() {
            this.pull = undefined;
            this.cancel = undefined;
            this.size = undefined;
        }
    }

    class DefaultController extends Puller {
        constructor(stream, pull, cancel, highWaterMark, size) {
            super(stream, pull, cancel, highWaterMark);
            this.queue = new SizedQueue();
            this.size = size;
        }

        canEnqueue() {
            return !this.closeRequested && this.stream.state === READABLE;
        }

        shouldPull() {
            if (!this.started || this.closeRequested || this.stream.state !== READABLE) {
                return false;
            }
            return waitingReads(this.stream, false) > 0 || this.highWaterMark - this.queue.total > 0;
        }

        close() {
            if (!this.canEnqueue()) {
                return;
            }
            this.closeRequested = true;
            if (this.queue.length === 0) {
                this.clearAlgorithms();
                closeStream(this.stream);
            }
        }

        enqueue(chunk) {
            if (!this.canEnqueue()) {
                return;
            }
            const stream = this.stream;
            if (waitingReads(stream, false) > 0) {
                stream.reader.requests.shift().chunk(chunk);
            } else {
                try {
                    this.queue.enqueue(chunk, (0, this.size)(chunk));
                } catch (error) {
                    this.fail(error);
                    throw error;
                }
            }
            this.callPull();
        }

        fail(reason) {
            if (this.stream.state !== READABLE) {
                return;
            }
            this.queue.reset();
            this.clearAlgorithms();
            errorStream(this.stream, reason);
        }

        cancelSteps(reason) {
            this.queue.reset();
            const cancel = this.cancel;
            this.clearAlgorithms();
            return cancel(reason);
        }

        pullSteps(request) {
            if (this.queue.length === 0) {
                this.stream.reader.requests.push(request);
                this.callPull();
                return;
            }
            const chunk = this.queue.dequeue();
            if (this.closeRequested && this.queue.length === 0) {
                this.clearAlgorithms();
                closeStream(this.stream);
            } else {
                this.callPull();
            }
            request.chunk(chunk);
        }

        releaseSteps() {}
    }

    // A stream whose source is library code: start() runs at once, pull() and cancel() return promises.
    function makeState(pull, cancel, highWaterMark, size) {
        const stream = new StreamState();
        const controller = new DefaultController(stream, pull, cancel, highWaterMark, size);
        controller.begin(undefined);
        return stream;
    }

    return {
        READABLE, CLOSED, ERRORED, StreamState, ReaderState, Puller, DefaultController, acquireReader, acquireByobReader,
        releaseReader, readFrom, closeStream, errorStream, cancelStream, waitingReads, makeState,
    };
})
