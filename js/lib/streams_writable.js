// SPDX-License-Identifier: MIT
// js/lib/streams_writable.js - WritableStream, its writer and its controller.
(function (host, need) {
    'use strict';

    const {
        INTERNAL, apply, invalidState, invalidThis, illegalConstructor, invalidArgument, invalidValue, callForPromise,
        promiseResolve, promiseReject, asObject, method, readStrategy, markOf, sizeOf, expose, inspectAs,
    } = need('streams_base');
    const core = need('streams_write');

    let stateOf;
    let writerOf;
    let controllerState;

    const badThis = (name) => promiseReject(invalidThis(name));
    const unboundWriter = () => invalidState('Writer is not bound to a WritableStream');

    class WritableStreamDefaultController {
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
                throw invalidThis('WritableStreamDefaultController');
            }
        }

        static {
            controllerState = WritableStreamDefaultController.#of;
        }

        get signal() {
            return WritableStreamDefaultController.#of(this).signal();
        }

        error(reason = undefined) {
            WritableStreamDefaultController.#of(this).errorIfWritable(reason);
        }
    }

    function setUp(state, sink, strategy) {
        const members = { abort: undefined, close: undefined, start: undefined, write: undefined };
        if (sink !== undefined) {
            for (const key in members) {
                members[key] = method(sink, key, 'sink');
            }
            const type = sink.type;
            if (type !== undefined) {
                throw invalidValue(RangeError, 'type', type);
            }
        }
        const size = sizeOf(strategy);
        const mark = markOf(strategy, 1);
        const call = (key, args) => (members[key] === undefined ? promiseResolve() : callForPromise(members[key], sink,
            args));
        const controller = new core.ControllerState(state,
            (chunk) => call('write', [chunk, controller.object]),
            () => call('close', []),
            (reason) => call('abort', [reason]), mark, size);
        controller.object = new WritableStreamDefaultController(INTERNAL, controller);
        controller.begin(() => (members.start === undefined ? undefined : apply(members.start, sink, [controller.object])));
    }

    class WritableStream {
        #s;

        constructor(sink = undefined, strategy = undefined) {
            if (sink === INTERNAL) {
                this.#s = strategy;
                strategy.object = this;
                return;
            }
            const object = asObject(sink, 'sink');
            const plan = readStrategy(strategy, 'strategy');
            this.#s = new core.StreamState();
            this.#s.object = this;
            setUp(this.#s, object, plan);
        }

        static {
            stateOf = (value) => (value !== null && typeof value === 'object' && #s in value ? value.#s : undefined);
        }

        get locked() {
            return own(this).writer !== undefined;
        }

        abort(reason = undefined) {
            const state = stateOf(this);
            if (state === undefined) {
                return badThis('WritableStream');
            }
            if (state.writer !== undefined) {
                return promiseReject(invalidState('WritableStream is locked'));
            }
            return state.abort(reason);
        }

        close() {
            const state = stateOf(this);
            if (state === undefined) {
                return badThis('WritableStream');
            }
            if (state.writer !== undefined) {
                return promiseReject(invalidState('WritableStream is locked'));
            }
            if (state.closing()) {
                return promiseReject(invalidState('Failure closing WritableStream'));
            }
            return state.close();
        }

        getWriter() {
            own(this);
            return new WritableStreamDefaultWriter(this);
        }
    }

    function own(value) {
        const state = stateOf(value);
        if (state === undefined) {
            throw invalidThis('WritableStream');
        }
        return state;
    }

    class WritableStreamDefaultWriter {
        #w;

        constructor(stream) {
            const state = stateOf(stream);
            if (state === undefined) {
                throw invalidArgument('stream', 'an instance of WritableStream', stream);
            }
            this.#w = core.acquireWriter(state);
        }

        static {
            writerOf = (value) => {
                try {
                    return value.#w;
                } catch {
                    return undefined;
                }
            };
        }

        get closed() {
            const writer = writerOf(this);
            return writer === undefined ? badThis('WritableStreamDefaultWriter') : writer.closed.promise;
        }

        get desiredSize() {
            const writer = writerOf(this);
            if (writer === undefined) {
                throw invalidThis('WritableStreamDefaultWriter');
            }
            if (writer.stream === undefined) {
                throw unboundWriter();
            }
            return writer.desiredSize();
        }

        get ready() {
            const writer = writerOf(this);
            return writer === undefined ? badThis('WritableStreamDefaultWriter') : writer.ready.promise;
        }

        abort(reason = undefined) {
            const writer = writerOf(this);
            if (writer === undefined) {
                return badThis('WritableStreamDefaultWriter');
            }
            return writer.stream === undefined ? promiseReject(unboundWriter()) : writer.stream.abort(reason);
        }

        close() {
            const writer = writerOf(this);
            if (writer === undefined) {
                return badThis('WritableStreamDefaultWriter');
            }
            const stream = writer.stream;
            if (stream === undefined) {
                return promiseReject(unboundWriter());
            }
            if (stream.closing()) {
                return promiseReject(invalidState('Failure to close WritableStream'));
            }
            return stream.close();
        }

        releaseLock() {
            const writer = writerOf(this);
            if (writer === undefined) {
                throw invalidThis('WritableStreamDefaultWriter');
            }
            core.releaseWriter(writer);
        }

        write(chunk = undefined) {
            const writer = writerOf(this);
            if (writer === undefined) {
                return badThis('WritableStreamDefaultWriter');
            }
            return writer.stream === undefined ? promiseReject(unboundWriter()) : core.write(writer, chunk);
        }
    }

    function wrap(state) {
        return state.object === undefined ? new WritableStream(INTERNAL, state) : state.object;
    }

    expose(WritableStream);
    expose(WritableStreamDefaultWriter);
    expose(WritableStreamDefaultController);

    // What util.inspect shows.
    const stateNames = ['writable', 'closed', 'erroring', 'errored'];
    inspectAs(WritableStream, (value) => {
        const { writer, state } = own(value);
        return ['WritableStream', { locked: writer !== undefined, state: stateNames[state] }];
    });
    inspectAs(WritableStreamDefaultWriter, (value) => {
        const writer = writerOf(value);
        const bound = writer.stream !== undefined;
        return ['WritableStreamDefaultWriter', {
            stream: bound ? writer.stream.object : undefined, close: writer.closed.promise, ready: writer.ready.promise,
            desiredSize: bound ? writer.desiredSize() : undefined,
        }];
    });
    inspectAs(WritableStreamDefaultController, (value) =>
        ['WritableStreamDefaultController', { stream: controllerState(value).stream.object }]);

    return { WritableStream, WritableStreamDefaultWriter, WritableStreamDefaultController, stateOf, wrap };
})
