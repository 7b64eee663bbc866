// SPDX-License-Identifier: MIT
// js/lib/streams_iterate.js - async iteration over readable streams, and readable streams from iterables.
(function (host, need) {
    'use strict';

    const { coded, invalidThis, then, promiseResolve, promiseReject, deferred, apply } = need('streams_base');
    const core = need('streams_core');

    const AsyncIteratorPrototype = Object.getPrototypeOf(Object.getPrototypeOf(async function* () {}).prototype);
    const records = new WeakMap();

    function nextStep(record) {
        if (record.finished) {
            return promiseResolve({ done: true, value: undefined });
        }
        const { promise, resolve, reject } = deferred();
        core.readFrom(record.reader, {
            chunk(value) {
                resolve({ value, done: false });
            },
            close() {
                record.finished = true;
                core.releaseReader(record.reader);
                resolve({ done: true, value: undefined });
            },
            error(reason) {
                record.finished = true;
                core.releaseReader(record.reader);
                reject(reason);
            },
        });
        return promise;
    }

    function returnStep(record, value) {
        if (record.finished) {
            return promiseResolve({ done: true, value });
        }
        record.finished = true;
        const reader = record.reader;
        if (record.preventCancel) {
            core.releaseReader(reader);
            return promiseResolve({ done: true, value });
        }
        const result = core.cancelStream(reader.stream, value);
        core.releaseReader(reader);
        return then(result, () => ({ done: true, value }));
    }

    // Calls wait for the call before them.
    function enqueueStep(iterator, step) {
        const record = records.get(iterator);
        if (record === undefined) {
            return promiseReject(invalidThis('ReadableStreamAsyncIterator'));
        }
        const run = () => step(record);
        const promise = record.ongoing === undefined ? run() : then(record.ongoing, run, run);
        record.ongoing = promise;
        const clear = () => {
            if (record.ongoing === promise) {
                record.ongoing = undefined;
            }
        };
        then(promise, clear, clear);
        return promise;
    }

    let iteratorPrototype;

    function prototypeOfIterators() {
        if (iteratorPrototype === undefined) {
            iteratorPrototype = Object.setPrototypeOf({
                next() {
                    return enqueueStep(this, nextStep);
                },
                return(value) {
                    return enqueueStep(this, (record) => returnStep(record, value));
                },
            }, AsyncIteratorPrototype);
        }
        return iteratorPrototype;
    }

    function makeIterator(stream, preventCancel) {
        const iterator = Object.create(prototypeOfIterators());
        records.set(iterator, { reader: core.acquireReader(stream), preventCancel, finished: false, ongoing: undefined });
        return iterator;
    }

    const isObject = (value) => value !== null && (typeof value === 'object' || typeof value === 'function');

    // The iterator of any iterable; asynchronous ones first.
    function openIterator(iterable) {
        let open = iterable[Symbol.asyncIterator];
        const synchronous = open === undefined || open === null;
        if (synchronous) {
            open = iterable[Symbol.iterator];
        }
        if (typeof open !== 'function') {
            const shown = isObject(iterable) ? '{}' : String(iterable);
            throw coded(TypeError, 'ERR_ARG_NOT_ITERABLE', shown + ' must be iterable');
        }
        const iterator = apply(open, iterable, []);
        if (!isObject(iterator)) {
            throw coded(TypeError, 'ERR_INVALID_STATE', 'Invalid state: The iterator method must return an object');
        }
        return { iterator, synchronous };
    }

    function fromIterable(iterable) {
        const { iterator, synchronous } = openIterator(iterable);
        const next = iterator.next;
        const wrongResult = () => coded(TypeError, 'ERR_INVALID_STATE',
            'Invalid state: The promise returned by the iterator.next() method must fulfill with an object');

        async function pull() {
            const result = await apply(next, iterator, []);
            if (!isObject(result)) {
                throw wrongResult();
            }
            if (result.done) {
                stream.controller.close();
            } else {
                stream.controller.enqueue(synchronous ? await result.value : result.value);
            }
        }

        async function cancel(reason) {
            const close = iterator.return;
            if (close === undefined || close === null) {
                return;
            }
            const result = await apply(close, iterator, [reason]);
            if (!isObject(result)) {
                throw coded(TypeError, 'ERR_INVALID_STATE',
                    'Invalid state: The promise returned by the iterator.return() method must fulfill with an object');
            }
        }

        const stream = core.makeState(pull, cancel, 0, () => 1);
        return stream;
    }

    return { makeIterator, fromIterable };
})
