// SPDX-License-Identifier: MIT
// js/lib/stream_pipeline.js - pipeline() of node:stream: streams, iterations and functions behind each other, with one end.
// host: nextTick(fn)
(function (host, need) {
    'use strict';
    const errors = need('node_error');
    const is = need('stream_is');
    const { both, destroyAny, destroyedError } = need('stream_end');
    const { finished, onAbort, prematureClose } = need('stream_finished');

    function wrongReturn(expected, name, value) {
        const { message } = errors.invalidArgType('x', 'y', value);
        const got = message.slice(message.indexOf(' Received ') + 10);
        return errors.nodeError(TypeError, 'ERR_INVALID_RETURN_VALUE',
            `Expected ${expected} to be returned from the "${name}" function but got ${got}.`);
    }

    const wrongSource = (value) => errors.invalidArgType('val',
        ['Readable', 'Iterable', 'AsyncIterable', 'ReadableStream', 'TransformStream'], value);

    function toIterable(value) {
        if (is.iterable(value))
            return value;
        if (is.reader(value))
            return need('stream_iterate').iterate(value);
        throw errors.invalidArgType('val', ['Readable', 'Iterable', 'AsyncIterable'], value);
    }

    // Writes all of an iteration to a stream.
    async function pump(source, target, finish, ends) {
        let error, wake;
        const resume = (failure) => {
            error = failure || error;
            const fn = wake;
            wake = undefined;
            fn?.();
        };
        const settle = (resolve, reject) => (error ? reject(error) : resolve());
        const wait = () => new Promise((resolve, reject) => {
            if (error)
                reject(error);
            else
                wake = () => settle(resolve, reject);
        });
        target.on('drain', resume);
        const stop = finished(target, { readable: false }, resume);
        try {
            if (target.writableNeedDrain)
                await wait();
            for await (const chunk of source)
                if (!target.write(chunk))
                    await wait();
            if (ends) {
                target.end();
                await wait();
            }
            finish();
        } catch (failure) {
            finish(error !== failure ? both(error, failure) : failure);
        } finally {
            stop();
            target.off('drain', resume);
        }
    }

    // The same to a stream of the web's.
    async function pumpToWeb(source, target, finish, ends) {
        const writer = (is.webTransform(target) ? target.writable : target).getWriter();
        try {
            for await (const chunk of source) {
                await writer.ready;
                writer.write(chunk).catch(() => {});
            }
            await writer.ready;
            if (ends)
                await writer.close();
            finish();
        } catch (error) {
            try {
                await writer.abort(error);
                finish(error);
            } catch (failure) {
                finish(failure);
            }
        }
    }

    // From stream to stream; two ends are waited for.
    function pipe(source, target, finish, ends) {
        let hasEnded = false;
        target.on('close', () => {
            if (!hasEnded)
                finish(prematureClose());
        });
        source.pipe(target, { end: false });
        if (ends) {
            const end = () => {
                hasEnded = true;
                target.end();
            };
            if (is.ended(source))
                host.nextTick(end);
            else
                source.once('end', end);
        } else {
            finish();
        }
        finished(source, { readable: true, writable: false }, (error) => {
            const state = source._readableState;
            // Some close before they have told their end, which comes all the same.
            if (error?.code === 'ERR_STREAM_PREMATURE_CLOSE' && state?.ended && !state.errored && !state.errorEmitted)
                source.once('end', finish).once('error', finish);
            else
                finish(error);
        });
        return finished(target, { readable: false, writable: true }, finish);
    }

    class Pipeline {
        constructor(streams, callback, options) {
            this.streams = streams;
            this.callback = callback;
            this.ends = options?.end !== false;
            this.outerSignal = options?.signal;
            this.controller = new (need('abort').AbortController)();
            this.count = 0; // of ends that are awaited
            this.error = undefined;
            this.value = undefined;
            this.destroys = [];
            this.cleanUps = []; // of a last stream that can still be read: it belongs to somebody else from now on
            this.stopSignal = undefined;
            this.finish = (error) => this.over(error, --this.count === 0);
        }

        over(error, isFinal) {
            if (error && (!this.error || this.error.code === 'ERR_STREAM_PREMATURE_CLOSE'))
                this.error = error;
            if (!this.error && !isFinal)
                return;
            while (this.destroys.length > 0)
                this.destroys.shift()(this.error);
            this.stopSignal?.();
            this.controller.abort();
            if (!isFinal)
                return;
            if (!this.error)
                for (const cleanUp of this.cleanUps)
                    cleanUp();
            const { callback, error: failure, value } = this;
            this.callback = () => {};
            host.nextTick(() => callback(failure, value));
        }

        abort() {
            this.over(errors.abortError(this.outerSignal));
        }

        // A stream that has to go when another one fails.
        guard(stream, isRead, isWritten, isKept) {
            let isOver = false;
            stream.on('close', () => { isOver = true; });
            const stop = finished(stream, { readable: isRead, writable: isWritten }, (error) => { isOver = !error; });
            this.destroys.push((error) => {
                if (!isOver) {
                    isOver = true;
                    destroyAny(stream, error || destroyedError('pipe'));
                }
            });
            if (isKept)
                this.cleanUps.push(stop);
        }

        watchErrors(stream, isKept) {
            const onError = (error) => {
                if (error && error.name !== 'AbortError' && error.code !== 'ERR_STREAM_PREMATURE_CLOSE')
                    this.finish(error);
            };
            stream.on('error', onError);
            if (isKept)
                this.cleanUps.push(() => stream.removeListener('error', onError));
        }

        run() {
            const { streams, outerSignal } = this;
            if (outerSignal)
                this.stopSignal = onAbort(outerSignal, () => this.abort());
            let result;
            for (const [i, stream] of streams.entries()) {
                const isLast = i === streams.length - 1;
                const ends = !isLast || this.ends;
                if (is.node(stream)) {
                    const isKept = isLast && !!is.readable(stream);
                    if (ends)
                        this.guard(stream, !isLast, i > 0, isKept);
                    this.watchErrors(stream, isKept);
                }
                result = i === 0 ? this.first(stream) : this.next(result, stream, i, isLast, ends);
            }
            if (outerSignal?.aborted)
                host.nextTick(() => this.abort());
            return result;
        }

        first(stream) {
            if (typeof stream === 'function') {
                const made = stream({ signal: this.controller.signal });
                if (!is.iterable(made))
                    throw wrongReturn('Iterable, AsyncIterable or Stream', 'source', made);
                return made;
            }
            const isSource = is.iterable(stream) || is.reader(stream) || is.webTransform(stream);
            return isSource ? stream : need('stream_compose').duplexFrom(stream, 'body');
        }

        next(source, stream, i, isLast, ends) {
            if (typeof stream === 'function')
                return this.call(source, stream, i, isLast, ends);
            if (is.node(stream))
                return this.toNode(source, stream, isLast, ends);
            if (!is.web(stream))
                return need('stream_compose').duplexFrom(stream, 'body');
            const from = is.webTransform(source) ? source.readable : is.reader(source) ? toIterable(source) : source;
            if (!is.webReadable(from) && !is.iterable(from))
                throw wrongSource(source);
            this.count++;
            pumpToWeb(from, stream, this.finish, ends);
            return stream;
        }

        toNode(source, stream, isLast, ends) {
            if (is.reader(source)) {
                this.count += 2;
                const stop = pipe(source, stream, this.finish, ends);
                if (isLast && is.readable(stream))
                    this.cleanUps.push(stop);
                return stream;
            }
            const from = is.webTransform(source) ? source.readable : source;
            if (!is.webReadable(from) && !is.iterable(from))
                throw wrongSource(source);
            this.count++;
            pump(from, stream, this.finish, ends);
            return stream;
        }

        call(source, fn, i, isLast, ends) {
            const made = fn(toIterable(is.webTransform(source) ? source.readable : source), { signal: this.controller.signal });
            if (!isLast) {
                if (!is.asyncIterable(made))
                    throw wrongReturn('AsyncIterable', `transform[${i - 1}]`, made);
                return made;
            }
            // What a last function makes can be read, as of any other last stream.
            const outlet = new (need('stream_duplex').PassThrough)({ objectMode: true });
            const then = made?.then;
            if (typeof then === 'function') {
                this.count++;
                this.takeValue(then, made, outlet, ends);
            } else {
                const from = is.asyncIterable(made) ? made : is.webTransform(made) ? made.readable : made;
                if (!is.asyncIterable(from))
                    throw wrongReturn('AsyncIterable or Promise', 'destination', made);
                this.count++;
                pump(from, outlet, this.finish, ends);
            }
            this.guard(outlet, false, true, true);
            return outlet;
        }

        takeValue(then, promise, outlet, ends) {
            then.call(promise, (value) => {
                this.value = value;
                if (value !== undefined && value !== null)
                    outlet.write(value);
                if (ends)
                    outlet.end();
                host.nextTick(this.finish);
            }, (error) => {
                outlet.destroy(error);
                host.nextTick(() => this.finish(error));
            });
        }
    }

    function start(streams, callback, options) {
        if (streams.length === 1 && Array.isArray(streams[0]))
            streams = streams[0];
        if (streams.length < 2)
            throw errors.nodeError(TypeError, 'ERR_MISSING_ARGS', 'The "streams" argument must be specified');
        errors.validateAbortSignal(options?.signal, 'options.signal');
        return new Pipeline(streams, callback, options).run();
    }

    function pipeline(...streams) {
        errors.validateFunction(streams.at(-1), 'streams[stream.length - 1]');
        return start(streams, streams.pop());
    }

    function pipelineLater(...streams) {
        return new Promise((resolve, reject) => {
            const last = streams.at(-1);
            const hasOptions = last && typeof last === 'object' && !is.node(last) && !is.iterable(last) && !is.web(last);
            start(hasOptions ? streams.slice(0, -1) : streams, (error, value) => (error ? reject(error) : resolve(value)),
                hasOptions ? { signal: last.signal, end: last.end } : undefined);
        });
    }

    return { pipeline, pipelineLater, wrongReturn };
})
