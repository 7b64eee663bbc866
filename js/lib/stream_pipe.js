// SPDX-License-Identifier: MIT
// js/lib/stream_pipe.js - streams of node:stream together: pipe, pipeline, finished, and streams from and to iterations.
// host: nextTick(fn)
(function (host, need) {
    'use strict';
    const { nodeError, invalidArgType, abortError } = need('node_error');

    // ---- pipe ----

    function pipe(source, target, options) {
        const state = source._readableState;
        const onData = (chunk) => {
            if (target.write(chunk) === false) {
                source.pause();
                target.once('drain', onDrain);
            }
        };
        const onDrain = () => {
            if (source.listenerCount('data') > 0 && state.pipes.includes(target)) {
                state.flowing = null;
                source.resume();
            }
        };
        const onEnd = () => target.end();
        const onClose = () => unpipe(source, target);
        const onError = (error) => {
            unpipe(source, target);
            if (target.listenerCount('error') === 0)
                target.emit('error', error);
        };
        const isOpen = target === globalThis.process?.stdout || target === globalThis.process?.stderr;
        if (options?.end !== false && !isOpen) {
            if (state.endEmitted)
                host.nextTick(onEnd);
            else
                source.once('end', onEnd);
        }
        const stop = (from) => {
            if (from !== source)
                return;
            source.removeListener('data', onData);
            source.removeListener('end', onEnd);
            const listeners = { drain: onDrain, close: onClose, finish: onClose, error: onError, unpipe: stop };
            for (const name of Object.keys(listeners))
                target.removeListener(name, listeners[name]);
        };
        source.on('data', onData);
        target.on('unpipe', stop);
        target.prependListener('error', onError);
        target.once('close', onClose);
        target.once('finish', onClose);
        state.pipes.push(target);
        target.emit('pipe', source);
        if (!state.flowing)
            source.resume();
        return target;
    }

    function unpipe(source, target) {
        const state = source._readableState;
        const gone = target === undefined ? state.pipes.slice() : state.pipes.filter((each) => each === target);
        state.pipes = state.pipes.filter((each) => !gone.includes(each));
        for (const each of gone)
            each.emit('unpipe', source, { hasUnpiped: false });
        if (gone.length > 0 && state.pipes.length === 0)
            source.pause();
        return source;
    }

    // ---- finished ----

    function finished(stream, options, callback) {
        if (typeof options === 'function')
            [options, callback] = [{}, options];
        options ??= {};
        const reading = stream._readableState, writing = stream._writableState;
        const wants = {
            readable: options.readable ?? !!reading,
            writable: options.writable ?? !!writing,
        };
        let isDone = false;
        const isOver = () => (!wants.readable || !reading || reading.endEmitted)
            && (!wants.writable || !writing || writing.finished);
        const finish = (error) => {
            if (isDone)
                return;
            isDone = true;
            callback.call(stream, error);
        };
        const onStep = () => isOver() && finish();
        const onError = (error) => finish(error);
        const onClose = () => finish(isOver() ? stream.errored ?? undefined
            : stream.errored ?? nodeError(Error, 'ERR_STREAM_PREMATURE_CLOSE', 'Premature close'));
        const names = { end: onStep, finish: onStep, error: onError, close: onClose };
        if (options.error === false)
            delete names.error;
        for (const name of Object.keys(names))
            stream.on(name, names[name]);
        options.signal?.addEventListener('abort', () => finish(abortError(options.signal)), { once: true });
        if (stream.closed || (stream.destroyed && (reading ?? writing)?.closeEmitted))
            host.nextTick(onClose);
        else if (isOver())
            host.nextTick(onStep);
        return () => {
            for (const name of Object.keys(names))
                stream.removeListener(name, names[name]);
        };
    }

    // ---- pipeline ----

    const isStream = (value) => typeof value?.pipe === 'function' || typeof value?.write === 'function';

    function toStream(part, before) {
        if (isStream(part))
            return part;
        const made = typeof part === 'function' ? part(before) : part;
        if (made?.[Symbol.asyncIterator] || made?.[Symbol.iterator])
            return from(need('stream').Readable, made);
        if (typeof made?.then === 'function')
            return made;
        throw invalidArgType('streams', ['Stream', 'Iterable', 'AsyncIterable', 'Function'], part);
    }

    function pipeline(...parts) {
        const callback = parts.pop();
        if (typeof callback !== 'function')
            throw invalidArgType('streams[stream.length - 1]', 'function', callback);
        if (parts.length === 1 && Array.isArray(parts[0]))
            parts = parts[0];
        if (parts.length < 2)
            throw nodeError(TypeError, 'ERR_MISSING_ARGS', 'The "streams" argument must be specified');
        const streams = [];
        let failure, value, waiting = 0;
        const over = (error, stream) => {
            if (error && (!failure || failure.code === 'ERR_STREAM_PREMATURE_CLOSE'))
                failure = error;
            if (error)
                for (const each of streams)
                    if (each !== stream && !each.destroyed)
                        each.destroy?.(error);
            if (--waiting === 0)
                host.nextTick(() => callback(failure, value));
        };
        let last;
        for (const part of parts) {
            const stream = toStream(part, last);
            waiting++;
            if (!isStream(stream)) {
                Promise.resolve(stream).then((result) => {
                    value = result;
                    over();
                }, over);
                break;
            }
            streams.push(stream);
            const isFirst = last === undefined, isLast = part === parts.at(-1);
            finished(stream, { readable: !isLast, writable: !isFirst }, (error) => over(error, stream));
            if (last && isStream(part))
                last.pipe(stream);
            last = stream;
        }
        for (const stream of streams)
            if (stream.listenerCount('error') === 0)
                stream.on('error', () => {});
        return last;
    }

    const promises = {
        finished: (stream, options) => new Promise((resolve, reject) => {
            finished(stream, options ?? {}, (error) => (error ? reject(error) : resolve()));
        }),
        pipeline: (...parts) => new Promise((resolve, reject) => {
            const last = parts.at(-1);
            if (last && typeof last === 'object' && !isStream(last) && !last[Symbol.asyncIterator] && !last[Symbol.iterator])
                parts.pop();
            pipeline(...parts, (error, value) => (error ? reject(error) : resolve(value)));
        }),
    };

    // ---- Iteration ----

    async function* iterate(stream, options) {
        let wake = () => {}, error, isOver = false;
        const next = () => wake();
        stream.on('readable', next);
        const stop = finished(stream, { writable: false }, (failure) => {
            error = failure;
            isOver = true;
            wake();
        });
        try {
            for (;;) {
                const chunk = stream.destroyed ? null : stream.read();
                if (chunk !== null) {
                    yield chunk;
                } else if (error) {
                    throw error;
                } else if (isOver) {
                    return;
                } else {
                    await new Promise((resolve) => {
                        wake = resolve;
                    });
                }
            }
        } finally {
            stop();
            stream.removeListener('readable', next);
            if ((options?.destroyOnReturn !== false || error) && !stream.destroyed)
                stream.destroy();
        }
    }

    function from(Readable, source, options) {
        if (typeof source === 'string' || source instanceof Uint8Array) {
            return new Readable({
                objectMode: true, ...options,
                read() {
                    this.push(source);
                    this.push(null);
                },
            });
        }
        const begin = source?.[Symbol.asyncIterator] ?? source?.[Symbol.iterator];
        if (typeof begin !== 'function')
            throw invalidArgType('iterable', ['Iterable'], source);
        const iterator = begin.call(source);
        let isBusy = false;
        const feed = async (stream) => {
            try {
                for (;;) {
                    const step = await iterator.next();
                    const value = step.done ? null : await step.value;
                    if (!step.done && value === null)
                        throw nodeError(TypeError, 'ERR_STREAM_NULL_VALUES', 'May not write null values to stream');
                    if (!stream.push(value) || step.done)
                        break;
                }
            } catch (error) {
                stream.destroy(error);
            }
            isBusy = false;
        };
        return new Readable({
            objectMode: true, highWaterMark: 1, ...options,
            read() {
                if (!isBusy) {
                    isBusy = true;
                    feed(this);
                }
            },
            destroy(error, callback) {
                Promise.resolve(iterator.return?.()).then(() => callback(error), (failure) => callback(failure ?? error));
            },
        });
    }

    return { pipe, unpipe, finished, pipeline, promises, iterate, from };
})
