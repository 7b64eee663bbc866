// SPDX-License-Identifier: MIT
// js/lib/streams_tee.js - one readable stream into two, for default and byte streams.
(function (host, need) {
    'use strict';

    const { INTERNAL, deferred, then, promiseResolve } = need('streams_base');
    const core = need('streams_core');

    // What both kinds share: two cancellations make one.
    function makeCancels(stream) {
        const both = {
            canceled: [false, false],
            reasons: [undefined, undefined],
            done: deferred(),
            cancel(index, reason) {
                both.canceled[index] = true;
                both.reasons[index] = reason;
                if (both.canceled[1 - index]) {
                    both.done.resolve(core.cancelStream(stream, [both.reasons[0], both.reasons[1]]));
                }
                return both.done.promise;
            },
        };
        return both;
    }

    function teeDefault(stream) {
        const reader = core.acquireReader(stream);
        const both = makeCancels(stream);
        const branches = [];
        let reading = false;
        let readAgain = false;

        const request = {
            chunk(value) {
                queueMicrotask(() => {
                    readAgain = false;
                    for (let i = 0; i < 2; i++) {
                        if (!both.canceled[i]) {
                            branches[i].controller.enqueue(value);
                        }
                    }
                    reading = false;
                    if (readAgain) {
                        pull();
                    }
                });
            },
            close() {
                reading = false;
                for (let i = 0; i < 2; i++) {
                    if (!both.canceled[i]) {
                        branches[i].controller.close();
                    }
                }
                if (!both.canceled[0] || !both.canceled[1]) {
                    both.done.resolve();
                }
            },
            error() {
                reading = false;
            },
        };

        function pull() {
            if (reading) {
                readAgain = true;
                return promiseResolve();
            }
            reading = true;
            core.readFrom(reader, request);
            return promiseResolve();
        }

        for (let i = 0; i < 2; i++) {
            branches.push(core.makeState(pull, (reason) => both.cancel(i, reason), 1, () => 1));
        }
        then(reader.closed.promise, undefined, (reason) => {
            branches[0].controller.fail(reason);
            branches[1].controller.fail(reason);
            if (!both.canceled[0] || !both.canceled[1]) {
                both.done.resolve();
            }
        });
        return branches;
    }

    function copyBytes(chunk) {
        return new Uint8Array(chunk.buffer.slice(chunk.byteOffset, chunk.byteOffset + chunk.byteLength));
    }

    // The state of a byte stream that is being split.
    class ByteTee {
        constructor(stream) {
            this.stream = stream;
            this.both = makeCancels(stream);
            this.branches = [];
            this.reading = false;
            this.again = [false, false];
            this.reader = undefined;
            this.watch(core.acquireReader(stream));
        }

        watch(reader) {
            this.reader = reader;
            then(reader.closed.promise, undefined, (reason) => {
                if (reader !== this.reader) {
                    return;
                }
                this.branches[0].controller.fail(reason);
                this.branches[1].controller.fail(reason);
                this.settle();
            });
        }

        settle() {
            const { canceled, done } = this.both;
            if (!canceled[0] || !canceled[1]) {
                done.resolve();
            }
        }

        // Splitting a chunk failed: both branches and the source end.
        abandon(error) {
            this.branches[0].controller.fail(error);
            this.branches[1].controller.fail(error);
            this.both.done.resolve(core.cancelStream(this.stream, error));
        }

        next() {
            this.reading = false;
            if (this.again[0]) {
                this.pull(0);
            } else if (this.again[1]) {
                this.pull(1);
            }
        }

        pull(index) {
            if (this.reading) {
                this.again[index] = true;
                return promiseResolve();
            }
            this.reading = true;
            const request = this.branches[index].controller.currentRequest();
            if (request === undefined) {
                this.readDefault();
            } else {
                this.readInto(request.view, index);
            }
            return promiseResolve();
        }

        readDefault() {
            if (this.reader.byob) {
                core.releaseReader(this.reader);
                this.watch(core.acquireReader(this.stream));
            }
            core.readFrom(this.reader, {
                chunk: (chunk) => queueMicrotask(() => this.shareChunk(chunk)),
                close: () => this.closeBranches(),
                error: () => {
                    this.reading = false;
                },
            });
        }

        shareChunk(chunk) {
            this.again = [false, false];
            const { canceled } = this.both;
            let second = chunk;
            if (!canceled[0] && !canceled[1]) {
                try {
                    second = copyBytes(chunk);
                } catch (error) {
                    this.abandon(error);
                    return;
                }
            }
            if (!canceled[0]) {
                this.branches[0].controller.enqueue(chunk);
            }
            if (!canceled[1]) {
                this.branches[1].controller.enqueue(second);
            }
            this.next();
        }

        closeBranches() {
            this.reading = false;
            const { canceled } = this.both;
            for (let i = 0; i < 2; i++) {
                if (!canceled[i]) {
                    this.branches[i].controller.close();
                }
            }
            for (let i = 0; i < 2; i++) {
                if (this.branches[i].controller.pendings.length > 0) {
                    this.branches[i].controller.respond(0);
                }
            }
            this.settle();
        }

        readInto(view, index) {
            if (!this.reader.byob) {
                core.releaseReader(this.reader);
                this.watch(core.acquireByobReader(this.stream));
            }
            need('streams_readable').readInto(this.reader, view, 1, {
                chunk: (chunk) => queueMicrotask(() => this.shareView(chunk, index)),
                close: (chunk) => this.closeWithView(chunk, index),
                error: () => {
                    this.reading = false;
                },
            });
        }

        shareView(chunk, index) {
            this.again = [false, false];
            const { canceled } = this.both;
            const mine = this.branches[index].controller;
            const other = this.branches[1 - index].controller;
            if (!canceled[1 - index]) {
                let copy;
                try {
                    copy = copyBytes(chunk);
                } catch (error) {
                    this.abandon(error);
                    return;
                }
                if (!canceled[index]) {
                    mine.respondWithView(chunk);
                }
                other.enqueue(copy);
            } else if (!canceled[index]) {
                mine.respondWithView(chunk);
            }
            this.next();
        }

        closeWithView(chunk, index) {
            this.reading = false;
            const { canceled } = this.both;
            const mine = this.branches[index].controller;
            const other = this.branches[1 - index].controller;
            if (!canceled[index]) {
                mine.close();
            }
            if (!canceled[1 - index]) {
                other.close();
            }
            if (chunk !== undefined) {
                if (!canceled[index]) {
                    mine.respondWithView(chunk);
                }
                if (!canceled[1 - index] && other.pendings.length > 0) {
                    other.respond(0);
                }
            }
            this.settle();
        }
    }

    function teeBytes(stream) {
        const { ByteController } = need('streams_byte');
        const { ReadableByteStreamController } = need('streams_byob');
        const state = new ByteTee(stream);
        for (let i = 0; i < 2; i++) {
            const branch = new core.StreamState();
            const controller = new ByteController(branch, () => state.pull(i), (reason) => state.both.cancel(i, reason), 0);
            controller.object = new ReadableByteStreamController(INTERNAL, controller);
            state.branches.push(branch);
        }
        for (const branch of state.branches) {
            branch.controller.begin(undefined);
        }
        return state.branches;
    }

    function tee(stream) {
        return stream.controller instanceof core.DefaultController ? teeDefault(stream) : teeBytes(stream);
    }

    return { tee };
})
