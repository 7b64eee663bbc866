// SPDX-License-Identifier: MIT
// js/lib/stream_iterate.js - streams of node:stream as iterations, and iterations as streams.
// host: nextTick(fn)
(function (host, need) {
    'use strict';
    const { nodeError, invalidArgType } = need('node_error');
    const { both, destroyAny } = need('stream_end');

    function iterate(stream, options) {
        if (typeof stream.read !== 'function')
            stream = need('stream_readable').Readable.wrap(stream, { objectMode: true });
        const iterator = chunks(stream, options);
        iterator.stream = stream;
        return iterator;
    }

    async function* chunks(stream, options) {
        let wake = () => {}, error; // null: it has ended well
        const wakeUp = () => {
            const fn = wake;
            wake = () => {};
            fn();
        };
        stream.on('readable', wakeUp);
        const stop = need('stream_finished').finished(stream, { writable: false }, (failure) => {
            error = failure ? both(error, failure) : null;
            wakeUp();
        });
        try {
            for (;;) {
                const chunk = stream.destroyed ? null : stream.read();
                if (chunk !== null)
                    yield chunk;
                else if (error)
                    throw error;
                else if (error === null)
                    return;
                else
                    await new Promise((resolve) => { wake = resolve; });
            }
        } catch (failure) {
            error = both(error, failure);
            throw error;
        } finally {
            if ((error || options?.destroyOnReturn !== false) && (error === undefined || stream._readableState.autoDestroy)) {
                destroyAny(stream, null);
            } else {
                stream.off('readable', wakeUp);
                stop();
            }
        }
    }

    const isThenable = (value) => value && typeof value.then === 'function';

    // Readable.from, and Duplex.from of an iteration. What is at hand is pushed at once; from the first promise on, each value
    // that is one is waited for.
    function from(Readable, source, options) {
        if (typeof source === 'string' || need('buffer').Buffer.isBuffer(source))
            return new Readable({
                objectMode: true, ...options,
                read() {
                    this.push(source);
                    this.push(null);
                },
            });
        const isAsync = !!source?.[Symbol.asyncIterator];
        const begin = isAsync ? source[Symbol.asyncIterator] : source?.[Symbol.iterator];
        if (!begin)
            throw invalidArgType('iterable', ['Iterable'], source);
        const iterator = begin.call(source);
        const stream = new Readable({ objectMode: true, highWaterMark: 1, ...options });
        let isBusy = false, hasPromises = false;

        // Whether there is room for more.
        const give = (value) => {
            if (value === null) {
                isBusy = false;
                throw nodeError(TypeError, 'ERR_STREAM_NULL_VALUES', 'May not write null values to stream');
            }
            const hasRoom = stream.push(value);
            isBusy &&= hasRoom;
            return hasRoom;
        };
        const feedNow = () => {
            for (let hasRoom = true; hasRoom;) {
                const { value, done } = iterator.next();
                if (done) {
                    stream.push(null);
                    return undefined;
                }
                if (isThenable(value)) {
                    hasPromises = true;
                    return value;
                }
                hasRoom = give(value);
            }
            return undefined;
        };
        const feedLater = async (first) => {
            try {
                let hasRoom = first === undefined || give(await first);
                while (hasRoom) {
                    const { value, done } = isAsync ? await iterator.next() : iterator.next();
                    if (done) {
                        stream.push(null);
                        return;
                    }
                    hasRoom = give(!isAsync && isThenable(value) ? await value : value);
                }
            } catch (error) {
                stream.destroy(error);
            }
        };
        stream._read = () => {
            if (isBusy)
                return;
            isBusy = true;
            if (isAsync || hasPromises) {
                feedLater();
                return;
            }
            try {
                const first = feedNow();
                if (first !== undefined)
                    feedLater(first);
            } catch (error) {
                stream.destroy(error);
            }
        };
        stream._destroy = (error, callback) => {
            close(iterator, error).then(() => host.nextTick(() => callback(error)),
                (failure) => host.nextTick(() => callback(failure || error)));
        };
        return stream;
    }

    async function close(iterator, error) {
        if (error !== undefined && error !== null && typeof iterator.throw === 'function') {
            const { value, done } = await iterator.throw(error);
            await value;
            if (done)
                return;
        }
        if (typeof iterator.return === 'function') {
            const { value } = await iterator.return();
            await value;
        }
    }

    return { iterate, from };
})
