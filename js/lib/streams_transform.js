// SPDX-License-Identifier: MIT
// js/lib/streams_transform.js - TransformStream and its controller.
(function (host, need) {
    'use strict';

    const {
        INTERNAL, apply, invalidState, invalidThis, illegalConstructor, invalidValue, deferred, then, callForPromise,
        promiseResolve, promiseReject, asObject, method, readStrategy, markOf, sizeOf, expose,
        inspectAs,
    } = need('streams_base');
    const readableCore = need('streams_core');
    const writableCore = need('streams_write');

    let stateOf;
    let controllerState;

    // Both sides and what runs between them. Algorithms: transform(chunk), flush(), cancel(reason), all to promises.
    class TransformState {
        constructor(algorithms, writableMark, writableSize, readableMark, readableSize) {
            this.algorithms = algorithms;
            this.finish = undefined;
            this.backpressure = undefined;
            this.backpressureChange = undefined;
            this.started = deferred();
            this.object = undefined;
            this.writable = new writableCore.StreamState();
            const writer = new writableCore.ControllerState(this.writable, (chunk) => this.sinkWrite(chunk),
                () => this.sinkClose(), (reason) => this.sinkAbort(reason), writableMark, writableSize);
            this.readable = new readableCore.StreamState();
            const reader = new readableCore.DefaultController(this.readable, () => this.sourcePull(),
                (reason) => this.sourceCancel(reason), readableMark, readableSize);
            writer.begin(() => this.started.promise);
            reader.begin(this.started.promise);
            this.setBackpressure(true);
        }

        setBackpressure(backpressure) {
            if (this.backpressureChange !== undefined) {
                this.backpressureChange.resolve();
            }
            this.backpressureChange = deferred();
            this.backpressure = backpressure;
        }

        clearAlgorithms() {
            this.algorithms = undefined;
        }

        error(reason) {
            this.readable.controller.fail(reason);
            this.errorWritable(reason);
        }

        errorWritable(reason) {
            this.clearAlgorithms();
            this.writable.controller.errorIfWritable(reason);
            this.unblockWrite();
        }

        unblockWrite() {
            if (this.backpressure) {
                this.setBackpressure(false);
            }
        }

        enqueue(chunk) {
            const controller = this.readable.controller;
            if (!controller.canEnqueue()) {
                throw invalidState('Unable to enqueue');
            }
            try {
                controller.enqueue(chunk);
            } catch (error) {
                this.errorWritable(error);
                throw this.readable.error;
            }
            const backpressure = !controller.shouldPull();
            if (backpressure !== this.backpressure) {
                this.setBackpressure(true);
            }
        }

        terminate() {
            this.readable.controller.close();
            this.errorWritable(invalidState('TransformStream has been terminated'));
        }

        perform(chunk) {
            return then(this.algorithms.transform(chunk), undefined, (reason) => {
                this.error(reason);
                throw reason;
            });
        }

        sinkWrite(chunk) {
            if (!this.backpressure) {
                return this.perform(chunk);
            }
            return then(this.backpressureChange.promise, () => {
                const { writable } = this;
                if (writable.state === writableCore.ERRORING) {
                    throw writable.error;
                }
                return this.perform(chunk);
            });
        }

        sinkAbort(reason) {
            if (this.finish !== undefined) {
                return this.finish.promise;
            }
            const { readable } = this;
            const finish = this.finish = deferred();
            const result = this.algorithms.cancel(reason);
            this.clearAlgorithms();
            then(result, () => {
                if (readable.state === readableCore.ERRORED) {
                    finish.reject(readable.error);
                } else {
                    readable.controller.fail(reason);
                    finish.resolve();
                }
            }, (error) => {
                readable.controller.fail(error);
                finish.reject(error);
            });
            return finish.promise;
        }

        sinkClose() {
            if (this.finish !== undefined) {
                return this.finish.promise;
            }
            const { readable } = this;
            const finish = this.finish = deferred();
            const result = this.algorithms.flush();
            this.clearAlgorithms();
            then(result, () => {
                if (readable.state === readableCore.ERRORED) {
                    finish.reject(readable.error);
                } else {
                    readable.controller.close();
                    finish.resolve();
                }
            }, (error) => {
                readable.controller.fail(error);
                finish.reject(error);
            });
            return finish.promise;
        }

        sourceCancel(reason) {
            if (this.finish !== undefined) {
                return this.finish.promise;
            }
            const { writable } = this;
            const finish = this.finish = deferred();
            const result = this.algorithms.cancel(reason);
            this.clearAlgorithms();
            then(result, () => {
                if (writable.state === writableCore.ERRORED) {
                    finish.reject(writable.error);
                } else {
                    writable.controller.errorIfWritable(reason);
                    this.unblockWrite();
                    finish.resolve();
                }
            }, (error) => {
                writable.controller.errorIfWritable(error);
                this.unblockWrite();
                finish.reject(error);
            });
            return finish.promise;
        }

        sourcePull() {
            this.setBackpressure(false);
            return this.backpressureChange.promise;
        }

        readableObject() {
            return need('streams_readable').wrap(this.readable);
        }

        writableObject() {
            return need('streams_writable').wrap(this.writable);
        }
    }

    class TransformStreamDefaultController {
        #s;

        constructor(token = undefined, state = undefined) {
            if (token !== INTERNAL) {
                throw illegalConstructor();
            }
            this.#s = state;
        }

        static #of(value) {
            try {
                return value.#s;
            } catch {
                throw invalidThis('TransformStreamDefaultController');
            }
        }

        static {
            controllerState = TransformStreamDefaultController.#of;
        }

        get desiredSize() {
            return TransformStreamDefaultController.#of(this).readable.controller.desiredSize();
        }

        enqueue(chunk = undefined) {
            TransformStreamDefaultController.#of(this).enqueue(chunk);
        }

        error(reason = undefined) {
            TransformStreamDefaultController.#of(this).error(reason);
        }

        terminate() {
            TransformStreamDefaultController.#of(this).terminate();
        }
    }

    function readTransformer(transformer) {
        const members = { cancel: undefined, flush: undefined, start: undefined, transform: undefined };
        if (transformer === undefined) {
            return members;
        }
        members.cancel = method(transformer, 'cancel', 'transformer');
        members.flush = method(transformer, 'flush', 'transformer');
        const readableType = transformer.readableType;
        members.start = method(transformer, 'start', 'transformer');
        members.transform = method(transformer, 'transform', 'transformer');
        const writableType = transformer.writableType;
        if (readableType !== undefined) {
            throw invalidValue(RangeError, 'transformer.readableType', readableType);
        }
        if (writableType !== undefined) {
            throw invalidValue(RangeError, 'transformer.writableType', writableType);
        }
        return members;
    }

    // Turns the program's functions into algorithms; a missing transform passes chunks on.
    function makeAlgorithms(members, transformer, controller) {
        const { transform, flush, cancel } = members;
        return {
            transform: transform === undefined ? (chunk) => {
                try {
                    controller.state.enqueue(chunk);
                    return promiseResolve();
                } catch (error) {
                    return promiseReject(error);
                }
            } : (chunk) => callForPromise(transform, transformer, [chunk, controller.object]),
            flush: flush === undefined ? promiseResolve : () => callForPromise(flush, transformer, [controller.object]),
            cancel: cancel === undefined ? () => promiseResolve() :
                (reason) => callForPromise(cancel, transformer, [reason]),
        };
    }

    class TransformStream {
        #s;

        constructor(transformer = undefined, writableStrategy = undefined, readableStrategy = undefined) {
            const object = asObject(transformer, 'transformer');
            const writablePlan = readStrategy(writableStrategy, 'writableStrategy');
            const readablePlan = readStrategy(readableStrategy, 'readableStrategy');
            const members = readTransformer(object);
            const readableMark = markOf(readablePlan, 0);
            const readableSize = sizeOf(readablePlan);
            const writableMark = markOf(writablePlan, 1);
            const writableSize = sizeOf(writablePlan);
            const controller = { state: undefined, object: undefined };
            const state = new TransformState(makeAlgorithms(members, object, controller),
                writableMark, writableSize, readableMark, readableSize);
            controller.state = state;
            controller.object = new TransformStreamDefaultController(INTERNAL, state);
            this.#s = state;
            state.object = this;
            state.started.resolve(members.start === undefined ? undefined :
                apply(members.start, object, [controller.object]));
        }

        static {
            stateOf = (value) => {
                try {
                    return value.#s;
                } catch {
                    throw invalidThis('TransformStream');
                }
            };
        }

        get readable() {
            return stateOf(this).readableObject();
        }

        get writable() {
            return stateOf(this).writableObject();
        }
    }

    // A transform whose algorithms are library code: transform(chunk, state) and flush(state) may throw.
    function makeTransform(transform, flush) {
        const run = (callback, args) => callForPromise(callback, undefined, args);
        const state = new TransformState({
            transform: (chunk) => run(transform, [chunk, state]),
            flush: () => run(flush, [state]),
            cancel: () => promiseResolve(),
        }, 1, () => 1, 0, () => 1);
        state.started.resolve();
        return state;
    }

    expose(TransformStream);
    expose(TransformStreamDefaultController);
    inspectAs(TransformStream, (stream) => {
        const { readable, writable } = stream;
        return ['TransformStream', { readable, writable, backpressure: stateOf(stream).backpressure }];
    });
    inspectAs(TransformStreamDefaultController, (value) =>
        ['TransformStreamDefaultController', { stream: controllerState(value).object }]);

    return { TransformStream, TransformStreamDefaultController, makeTransform };
})
