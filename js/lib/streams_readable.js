// SPDX-License-Identifier: MIT
// js/lib/streams_readable.js - ReadableStream, its readers and the default controller.
(function (host, need) {
    'use strict';

    const base = need('streams_base');
    const core = need('streams_core');
    const {
        INTERNAL, coded, invalidState, invalidThis, illegalConstructor, invalidArgument, invalidValue, deferred,
        callForPromise, promiseResolve, promiseReject, asDictionary, asObject, method, readStrategy, markOf, sizeOf, expose,
        inspectAs,
    } = base;
    const { StreamState, DefaultController } = core;

    // Functions that reach the private state of the classes below.
    let stateOf;
    let readerOf;
    let byobReaderOf;
    let controllerOf;

    const badThis = (name) => promiseReject(invalidThis(name));
    const detachedReader = () => promiseReject(invalidState('The reader is not attached to a stream'));

    // A read request that settles a promise.
    class PromiseRequest {
        constructor() {
            const { promise, resolve, reject } = deferred();
            this.promise = promise;
            this.resolve = resolve;
            this.error = reject;
        }

        chunk(value) {
            this.resolve({ value, done: false });
        }

        close(value) {
            this.resolve({ value, done: true });
        }
    }

    class ReadableStreamDefaultController {
        #s;

        constructor(token = undefined, state = undefined) {
            if (token !== INTERNAL) {
                throw illegalConstructor();
            }
            this.#s = state;
        }

        static {
            controllerOf = (value) => {
                try {
                    return value.#s;
                } catch {
                    throw invalidThis('ReadableStreamDefaultController');
                }
            };
        }

        get desiredSize() {
            return controllerOf(this).desiredSize();
        }

        close() {
            const controller = controllerOf(this);
            if (!controller.canEnqueue()) {
                throw invalidState('Controller is already closed');
            }
            controller.close();
        }

        enqueue(chunk = undefined) {
            const controller = controllerOf(this);
            if (!controller.canEnqueue()) {
                throw invalidState('Controller is already closed');
            }
            controller.enqueue(chunk);
        }

        error(reason = undefined) {
            controllerOf(this).fail(reason);
        }
    }

    // What both readers do alike.
    function closedOf(reader) {
        return reader.closed.promise;
    }

    function cancelReader(reader, reason) {
        return reader.stream === undefined ? detachedReader() : core.cancelStream(reader.stream, reason);
    }

    class ReadableStreamDefaultReader {
        #r;

        constructor(stream) {
            const state = stateOf(stream);
            if (state === undefined) {
                throw invalidArgument('stream', 'an instance of ReadableStream', stream);
            }
            this.#r = core.acquireReader(state);
        }

        static {
            readerOf = (value) => {
                try {
                    return value.#r;
                } catch {
                    return undefined;
                }
            };
        }

        read() {
            const reader = readerOf(this);
            if (reader === undefined) {
                return badThis('ReadableStreamDefaultReader');
            }
            if (reader.stream === undefined) {
                return detachedReader();
            }
            const request = new PromiseRequest();
            core.readFrom(reader, request);
            return request.promise;
        }

        releaseLock() {
            const reader = readerOf(this);
            if (reader === undefined) {
                throw invalidThis('ReadableStreamDefaultReader');
            }
            core.releaseReader(reader);
        }

        get closed() {
            const reader = readerOf(this);
            return reader === undefined ? badThis('ReadableStreamDefaultReader') : closedOf(reader);
        }

        cancel(reason = undefined) {
            const reader = readerOf(this);
            return reader === undefined ? badThis('ReadableStreamDefaultReader') : cancelReader(reader, reason);
        }
    }

    function readMinimum(options, view) {
        const dictionary = asDictionary(options, 'options');
        const given = dictionary === undefined ? undefined : dictionary.min;
        let minimum = 1;
        if (given !== undefined) {
            minimum = Math.trunc(+given);
            if (!(minimum >= 0 && minimum <= Number.MAX_SAFE_INTEGER)) {
                throw new TypeError('options.min is out of range');
            }
        }
        const { byteLength, buffer } = view;
        if (byteLength === 0 || buffer.byteLength === 0) {
            throw invalidState('View or Viewed ArrayBuffer is zero-length or detached');
        }
        if (minimum === 0) {
            throw coded(TypeError, 'ERR_INVALID_ARG_VALUE',
                'The property \'options.min\' must be greater than 0. Received 0');
        }
        const length = view.length === undefined ? byteLength : view.length;
        if (minimum > length) {
            const which = view.length === undefined ? 'byteLength' : 'length';
            throw coded(RangeError, 'ERR_OUT_OF_RANGE',
                `The value of "options.min" is out of range. It must be <= view.${which}. Received ${minimum}`);
        }
        return minimum;
    }

    class ReadableStreamBYOBReader {
        #r;

        constructor(stream) {
            const state = stateOf(stream);
            if (state === undefined) {
                throw invalidArgument('stream', 'an instance of ReadableStream', stream);
            }
            if (state.reader !== undefined) {
                throw invalidState('ReadableStream is locked');
            }
            if (state.controller instanceof DefaultController) {
                throw coded(TypeError, 'ERR_INVALID_ARG_VALUE', 'The argument \'stream\' must be a byte stream.');
            }
            this.#r = core.acquireByobReader(state);
        }

        static {
            byobReaderOf = (value) => {
                try {
                    return value.#r;
                } catch {
                    return undefined;
                }
            };
        }

        read(view, options = undefined) {
            const reader = byobReaderOf(this);
            if (reader === undefined) {
                return badThis('ReadableStreamBYOBReader');
            }
            let minimum;
            try {
                if (!ArrayBuffer.isView(view)) {
                    throw invalidArgument('view', 'an instance of Buffer, TypedArray, or DataView', view);
                }
                minimum = readMinimum(options, view);
            } catch (error) {
                return promiseReject(error);
            }
            if (reader.stream === undefined) {
                return detachedReader();
            }
            const request = new PromiseRequest();
            readInto(reader, view, minimum, request);
            return request.promise;
        }

        releaseLock() {
            const reader = byobReaderOf(this);
            if (reader === undefined) {
                throw invalidThis('ReadableStreamBYOBReader');
            }
            core.releaseReader(reader);
        }

        get closed() {
            const reader = byobReaderOf(this);
            return reader === undefined ? badThis('ReadableStreamBYOBReader') : closedOf(reader);
        }

        cancel(reason = undefined) {
            const reader = byobReaderOf(this);
            return reader === undefined ? badThis('ReadableStreamBYOBReader') : cancelReader(reader, reason);
        }
    }

    function readInto(reader, view, minimum, request) {
        const stream = reader.stream;
        stream.disturbed = true;
        if (stream.state === core.ERRORED) {
            request.error(stream.error);
        } else {
            stream.controller.pullInto(view, minimum, request);
        }
    }

    // Reads the members of an underlying source in the standard's order.
    function readSource(source) {
        const result = { autoAllocate: undefined, cancel: undefined, pull: undefined, start: undefined, bytes: false };
        if (source === undefined) {
            return result;
        }
        let size = source.autoAllocateChunkSize;
        if (size !== undefined) {
            size = Math.trunc(+size);
            if (!(size >= 0 && size <= Number.MAX_SAFE_INTEGER)) {
                throw invalidValue(TypeError, 'source.autoAllocateChunkSize', size);
            }
        }
        result.autoAllocate = size;
        result.cancel = method(source, 'cancel', 'source');
        result.pull = method(source, 'pull', 'source');
        result.start = method(source, 'start', 'source');
        const type = source.type;
        if (type !== undefined) {
            if (`${type}` !== 'bytes') {
                throw invalidValue(TypeError, 'source.type', type);
            }
            result.bytes = true;
        }
        return result;
    }

    function setUp(state, source, members, strategy) {
        const pull = members.pull === undefined ? () => promiseResolve() :
            () => callForPromise(members.pull, source, [controller.object]);
        const cancel = members.cancel === undefined ? () => promiseResolve() :
            (reason) => callForPromise(members.cancel, source, [reason]);
        let controller;
        if (members.bytes) {
            if (strategy.size !== undefined) {
                throw invalidValue(RangeError, 'strategy.size', strategy.size);
            }
            const mark = markOf(strategy, 0);
            if (members.autoAllocate === 0) {
                throw invalidValue(TypeError, 'source.autoAllocateChunkSize', 0);
            }
            const { ByteController } = need('streams_byte');
            controller = new ByteController(state, pull, cancel, mark, members.autoAllocate);
            controller.object = new (need('streams_byob').ReadableByteStreamController)(INTERNAL, controller);
        } else {
            const size = sizeOf(strategy);
            const mark = markOf(strategy, 1);
            controller = new DefaultController(state, pull, cancel, mark, size);
            controller.object = new ReadableStreamDefaultController(INTERNAL, controller);
        }
        const start = members.start;
        controller.begin(start === undefined ? undefined : base.apply(start, source, [controller.object]));
    }

    class ReadableStream {
        #s;

        constructor(source = undefined, strategy = undefined) {
            if (source === INTERNAL) {
                this.#s = strategy;
                strategy.object = this;
                return;
            }
            const object = asObject(source, 'source');
            const plan = readStrategy(strategy, 'strategy');
            const members = readSource(object);
            this.#s = new StreamState();
            this.#s.object = this;
            setUp(this.#s, object, members, plan);
        }

        static {
            stateOf = (value) => (value !== null && typeof value === 'object' && #s in value ? value.#s : undefined);
        }

        get locked() {
            return own(this).reader !== undefined;
        }

        cancel(reason = undefined) {
            const state = stateOf(this);
            if (state === undefined) {
                return badThis('ReadableStream');
            }
            if (state.reader !== undefined) {
                return promiseReject(invalidState('ReadableStream is locked'));
            }
            return core.cancelStream(state, reason);
        }

        getReader(options = undefined) {
            own(this);
            const dictionary = asDictionary(options, 'options');
            const mode = dictionary === undefined ? undefined : dictionary.mode;
            if (mode === undefined) {
                return new ReadableStreamDefaultReader(this);
            }
            if (`${mode}` !== 'byob') {
                throw invalidValue(TypeError, 'options.mode', mode);
            }
            return new ReadableStreamBYOBReader(this);
        }

        pipeThrough(transform, options = undefined) {
            return need('streams_pipe').pipeThrough(this, own(this), transform, options);
        }

        pipeTo(destination, options = undefined) {
            const state = stateOf(this);
            if (state === undefined) {
                return badThis('ReadableStream');
            }
            return need('streams_pipe').pipeToMethod(state, destination, options);
        }

        tee() {
            const branches = need('streams_tee').tee(own(this));
            return branches.map(wrap);
        }

        values(options = undefined) {
            const state = own(this);
            const dictionary = asDictionary(options, 'options');
            const preventCancel = dictionary === undefined ? false : !!dictionary.preventCancel;
            return need('streams_iterate').makeIterator(state, preventCancel);
        }

        static from(iterable) {
            return wrap(need('streams_iterate').fromIterable(iterable));
        }
    }

    function own(value) {
        const state = stateOf(value);
        if (state === undefined) {
            throw invalidThis('ReadableStream');
        }
        return state;
    }

    // The stream object of a state that library code made.
    function wrap(state) {
        return state.object === undefined ? new ReadableStream(INTERNAL, state) : state.object;
    }

    expose(ReadableStream);
    Object.defineProperty(ReadableStream.prototype, Symbol.asyncIterator,
        { value: ReadableStream.prototype.values, writable: true, configurable: true });
    expose(ReadableStreamDefaultReader);
    expose(ReadableStreamBYOBReader);
    expose(ReadableStreamDefaultController);

    // What util.inspect shows.
    const stateNames = ['readable', 'closed', 'errored'];
    const streamOf = (reader) => (reader.stream === undefined ? undefined : reader.stream.object);
    inspectAs(ReadableStream, (value) => {
        const state = own(value);
        const supportsBYOB = !(state.controller instanceof DefaultController);
        return ['ReadableStream', { locked: state.reader !== undefined, state: stateNames[state.state], supportsBYOB }];
    });
    inspectAs(ReadableStreamDefaultReader, (value) => {
        const reader = readerOf(value);
        return ['ReadableStreamDefaultReader',
            { stream: streamOf(reader), readRequests: reader.requests.length, close: closedOf(reader) }];
    });
    inspectAs(ReadableStreamBYOBReader, (value) => {
        const reader = byobReaderOf(value);
        return ['ReadableStreamBYOBReader',
            { stream: streamOf(reader), readIntoRequests: reader.requests.length, close: closedOf(reader) }];
    });
    inspectAs(ReadableStreamDefaultController, () => ['ReadableStreamDefaultController', {}]);

    return {
        ReadableStream, ReadableStreamDefaultReader, ReadableStreamBYOBReader, ReadableStreamDefaultController,
        stateOf, readInto, wrap,
    };
})
