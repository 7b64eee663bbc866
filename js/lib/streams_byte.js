// SPDX-License-Identifier: MIT
// js/lib/streams_byte.js - the byte stream controller below its class.
(function (host, need) {
    'use strict';

    const { Queue, apply, invalidState, coded } = need('streams_base');
    const { READABLE, CLOSED, Puller, closeStream, errorStream } = need('streams_core');

    const BytesClass = Uint8Array;
    const transferMethod = ArrayBuffer.prototype.transfer;
    const sliceMethod = ArrayBuffer.prototype.slice;
    const detachedGetter = Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, 'detached').get;

    const tagGetter = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag).get;

    const isDetached = (buffer) => apply(detachedGetter, buffer, []);
    const transfer = (buffer) => apply(transferMethod, buffer, []);

    // The built-in class of a view, whatever class the program derived from it.
    function classOf(view) {
        const tag = apply(tagGetter, view, []);
        return tag === undefined ? DataView : globalThis[tag];
    }

    // The queue holds {buffer, offset, length}; total counts its bytes.
    class ByteQueue extends Queue {
        constructor() {
            super();
            this.total = 0;
        }

        add(buffer, offset, length) {
            this.items.push({ buffer, offset, length });
            this.total += length;
        }

        reset() {
            this.clear();
            this.total = 0;
        }
    }

    // A view that is to be filled. kind is 'default', 'byob' or 'none'; Class is null for a DataView.
    function makePending(buffer, offset, length, filled, minimum, elementSize, Class, kind) {
        return { buffer, bufferLength: buffer.byteLength, offset, length, filled, minimum, elementSize, Class, kind };
    }

    function viewOf(pending) {
        return new pending.Class(pending.buffer, pending.offset, pending.filled / pending.elementSize);
    }

    class ByteController extends Puller {
        constructor(stream, pull, cancel, highWaterMark, autoAllocate) {
            super(stream, pull, cancel, highWaterMark);
            this.queue = new ByteQueue();
            this.autoAllocate = autoAllocate;
            this.pendings = [];
            // The state of the current ReadableStreamBYOBRequest: {controller, view, object}.
            this.request = undefined;
        }

        shouldPull() {
            const stream = this.stream;
            if (!this.started || this.closeRequested || stream.state !== READABLE) {
                return false;
            }
            const reader = stream.reader;
            return reader !== undefined && reader.requests.length > 0 || this.highWaterMark - this.queue.total > 0;
        }

        dropRequest() {
            if (this.request !== undefined) {
                this.request.controller = undefined;
                this.request.view = null;
                this.request = undefined;
            }
        }

        currentRequest() {
            if (this.request === undefined && this.pendings.length > 0) {
                const first = this.pendings[0];
                const view = new BytesClass(first.buffer, first.offset + first.filled, first.length - first.filled);
                this.request = { controller: this, view, object: undefined };
            }
            return this.request;
        }

        fail(reason) {
            if (this.stream.state !== READABLE) {
                return;
            }
            this.dropRequest();
            this.pendings = [];
            this.queue.reset();
            this.clearAlgorithms();
            errorStream(this.stream, reason);
        }

        close() {
            if (this.closeRequested || this.stream.state !== READABLE) {
                return;
            }
            if (this.queue.total > 0) {
                this.closeRequested = true;
                return;
            }
            if (this.pendings.length > 0) {
                const first = this.pendings[0];
                if (first.filled % first.elementSize !== 0) {
                    const error = invalidState('Partial read');
                    this.fail(error);
                    throw error;
                }
            }
            this.clearAlgorithms();
            closeStream(this.stream);
        }

        enqueue(chunk) {
            const stream = this.stream;
            if (this.closeRequested || stream.state !== READABLE) {
                return;
            }
            const { buffer, byteOffset, byteLength } = chunk;
            if (isDetached(buffer)) {
                throw invalidState('chunk ArrayBuffer is zero-length or detached');
            }
            const moved = transfer(buffer);
            if (this.pendings.length > 0) {
                const first = this.pendings[0];
                if (isDetached(first.buffer)) {
                    throw invalidState('Destination ArrayBuffer is detached');
                }
                this.dropRequest();
                first.buffer = transfer(first.buffer);
                if (first.kind === 'none') {
                    this.enqueueDetached(first);
                }
            }
            if (stream.reader === undefined) {
                this.queue.add(moved, byteOffset, byteLength);
            } else if (!stream.reader.byob) {
                this.serveWaiting();
                if (stream.reader.requests.length === 0) {
                    this.queue.add(moved, byteOffset, byteLength);
                } else {
                    if (this.pendings.length > 0) {
                        this.pendings.shift();
                    }
                    stream.reader.requests.shift().chunk(new BytesClass(moved, byteOffset, byteLength));
                }
            } else {
                this.queue.add(moved, byteOffset, byteLength);
                this.commitAll(this.fillFromQueue());
            }
            this.callPull();
        }

        // Gives queued bytes to default reads that wait.
        serveWaiting() {
            const requests = this.stream.reader.requests;
            while (requests.length > 0 && this.queue.total > 0) {
                this.readFromQueue(requests.shift());
            }
        }

        readFromQueue(request) {
            const entry = this.queue.shift();
            this.queue.total -= entry.length;
            this.drained();
            request.chunk(new BytesClass(entry.buffer, entry.offset, entry.length));
        }

        drained() {
            if (this.queue.total === 0 && this.closeRequested) {
                this.clearAlgorithms();
                closeStream(this.stream);
            } else {
                this.callPull();
            }
        }

        enqueueCopy(buffer, offset, length) {
            let copy;
            try {
                copy = apply(sliceMethod, buffer, [offset, offset + length]);
            } catch (error) {
                this.fail(error);
                throw error;
            }
            this.queue.add(copy, 0, length);
        }

        enqueueDetached(pending) {
            if (pending.filled > 0) {
                this.enqueueCopy(pending.buffer, pending.offset, pending.filled);
            }
            this.pendings.shift();
        }

        // Hands a filled view to its read.
        commit(pending) {
            const stream = this.stream;
            const done = stream.state === CLOSED;
            const view = this.convert(pending);
            const request = stream.reader.requests.shift();
            if (done) {
                request.close(view);
            } else {
                request.chunk(view);
            }
        }

        commitAll(pendings) {
            for (const pending of pendings) {
                this.commit(pending);
            }
        }

        convert(pending) {
            pending.buffer = transfer(pending.buffer);
            return viewOf(pending);
        }

        // Moves bytes from the queue to the view; true when the view has its minimum.
        fill(pending) {
            const maximum = Math.min(this.queue.total, pending.length - pending.filled);
            const filled = pending.filled + maximum;
            let left = maximum;
            let ready = false;
            const aligned = filled - filled % pending.elementSize;
            if (aligned >= pending.minimum) {
                left = aligned - pending.filled;
                ready = true;
            }
            while (left > 0) {
                const head = this.queue.first();
                const count = Math.min(left, head.length);
                const target = new BytesClass(pending.buffer, pending.offset + pending.filled, count);
                target.set(new BytesClass(head.buffer, head.offset, count));
                if (head.length === count) {
                    this.queue.shift();
                } else {
                    head.offset += count;
                    head.length -= count;
                }
                this.queue.total -= count;
                this.dropRequest();
                pending.filled += count;
                left -= count;
            }
            return ready;
        }

        fillFromQueue() {
            const filled = [];
            while (this.pendings.length > 0 && this.queue.total > 0) {
                if (!this.fill(this.pendings[0])) {
                    break;
                }
                this.dropRequest();
                filled.push(this.pendings.shift());
            }
            return filled;
        }

        // A read into a view of the program.
        pullInto(view, minimum, request) {
            const stream = this.stream;
            const elementSize = view.BYTES_PER_ELEMENT || 1;
            const Class = classOf(view);
            const { byteOffset, byteLength } = view;
            let buffer;
            try {
                buffer = transfer(view.buffer);
            } catch (error) {
                request.error(error);
                return;
            }
            const pending = makePending(buffer, byteOffset, byteLength, 0, minimum * elementSize, elementSize,
                Class, 'byob');
            if (this.pendings.length > 0) {
                this.pendings.push(pending);
                stream.reader.requests.push(request);
                return;
            }
            if (stream.state === CLOSED) {
                request.close(new Class(buffer, byteOffset, 0));
                return;
            }
            if (this.queue.total > 0) {
                if (this.fill(pending)) {
                    const filled = this.convert(pending);
                    this.drained();
                    request.chunk(filled);
                    return;
                }
                if (this.closeRequested) {
                    const error = invalidState('ReadableStream closed');
                    this.fail(error);
                    request.error(error);
                    return;
                }
            }
            this.pendings.push(pending);
            stream.reader.requests.push(request);
            this.callPull();
        }

        respond(count) {
            const first = this.pendings[0];
            if (this.stream.state === CLOSED) {
                if (count !== 0) {
                    throw invalidState('View is not zero-length');
                }
            } else {
                if (count === 0) {
                    throw invalidState('View is zero-length');
                }
                if (first.filled + count > first.length) {
                    throw coded(RangeError, 'ERR_INVALID_ARG_VALUE',
                        `The argument 'bytesWritten' is invalid. Received ${count}`);
                }
            }
            first.buffer = transfer(first.buffer);
            this.respondFirst(count);
        }

        respondWithView(view) {
            const first = this.pendings[0];
            if (this.stream.state === CLOSED) {
                if (view.byteLength !== 0) {
                    throw invalidState('View is not zero-length');
                }
            } else if (view.byteLength === 0) {
                throw invalidState('View is zero-length');
            }
            const wrong = (name, value) =>
                coded(RangeError, 'ERR_INVALID_ARG_VALUE', `The argument '${name}' is invalid. Received ${value}`);
            if (first.offset + first.filled !== view.byteOffset) {
                throw wrong('view', view.byteOffset);
            }
            if (first.bufferLength !== view.buffer.byteLength) {
                throw wrong('view', view.buffer.byteLength);
            }
            const count = view.byteLength;
            if (first.filled + count > first.length) {
                throw wrong('view', count);
            }
            first.buffer = transfer(view.buffer);
            this.respondFirst(count);
        }

        respondFirst(count) {
            const first = this.pendings[0];
            this.dropRequest();
            if (this.stream.state === CLOSED) {
                this.respondClosed(first);
            } else {
                this.respondReadable(first, count);
            }
            this.callPull();
        }

        respondClosed(first) {
            if (first.kind === 'none') {
                this.pendings.shift();
            }
            const reader = this.stream.reader;
            if (reader !== undefined && reader.byob) {
                const filled = [];
                while (filled.length < reader.requests.length) {
                    filled.push(this.pendings.shift());
                }
                this.commitAll(filled);
            }
        }

        respondReadable(first, count) {
            first.filled += count;
            if (first.kind === 'none') {
                this.enqueueDetached(first);
                this.commitAll(this.fillFromQueue());
                return;
            }
            if (first.filled < first.minimum) {
                return;
            }
            this.pendings.shift();
            const rest = first.filled % first.elementSize;
            if (rest > 0) {
                const end = first.offset + first.filled;
                this.enqueueCopy(first.buffer, end - rest, rest);
            }
            first.filled -= rest;
            const filled = this.fillFromQueue();
            this.commit(first);
            this.commitAll(filled);
        }

        cancelSteps(reason) {
            this.dropRequest();
            this.pendings = [];
            this.queue.reset();
            const cancel = this.cancel;
            this.clearAlgorithms();
            return cancel(reason);
        }

        pullSteps(request) {
            if (this.queue.total > 0) {
                this.readFromQueue(request);
                return;
            }
            if (this.autoAllocate !== undefined) {
                let buffer;
                try {
                    buffer = new ArrayBuffer(this.autoAllocate);
                } catch (error) {
                    request.error(error);
                    return;
                }
                this.pendings.push(makePending(buffer, 0, this.autoAllocate, 0, 1, 1, BytesClass, 'default'));
            }
            this.stream.reader.requests.push(request);
            this.callPull();
        }

        releaseSteps() {
            if (this.pendings.length > 0) {
                const first = this.pendings[0];
                first.kind = 'none';
                this.pendings = [first];
            }
        }
    }

    return { ByteController, isDetached, transfer };
})
