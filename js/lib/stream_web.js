// SPDX-License-Identifier: MIT
// js/lib/stream_web.js - streams of node:stream as streams of the web, and the other way round.
// host: nextTick(fn)
(function (host, need) {
    'use strict';
    const errors = need('node_error');
    const is = need('stream_is');
    const { destroyAny } = need('stream_end');
    const { finished, prematureClose } = need('stream_finished');
    const { deferred, handled } = need('streams_base');
    const { Buffer } = need('buffer');
    const web = () => need('streams');

    // ---- To the web ----

    const toAbort = (error) => (error?.code === 'ERR_STREAM_PREMATURE_CLOSE'
        ? errors.abortError({ reason: error }) : error);

    // Calls back once, and hears no errors after that.
    function watch(stream, callback) {
        const stop = finished(stream, (error) => {
            stop();
            stream.on('error', () => {});
            callback(toAbort(error));
        });
    }

    function readableTo(stream, options) {
        if (typeof stream?._readableState !== 'object')
            throw errors.invalidArgType('streamReadable', 'stream.Readable', stream);
        const { ReadableStream, CountQueuingStrategy, ByteLengthQueuingStrategy } = web();
        if (is.destroyed(stream) || !is.readable(stream)) {
            const closed = new ReadableStream();
            closed.cancel();
            return closed;
        }
        const isObject = stream.readableObjectMode;
        const Strategy = isObject ? CountQueuingStrategy : ByteLengthQueuingStrategy;
        let controller, isCancelled = false;
        stream.pause();
        watch(stream, (error) => {
            if (error)
                controller.error(error);
            else if (!isCancelled)
                controller.close();
        });
        stream.on('data', (chunk) => {
            controller.enqueue(Buffer.isBuffer(chunk) && !isObject ? new Uint8Array(chunk) : chunk);
            if (controller.desiredSize <= 0)
                stream.pause();
        });
        return new ReadableStream({
            start(given) {
                controller = given;
            },
            pull() {
                stream.resume();
            },
            cancel(reason) {
                isCancelled = true;
                destroyAny(stream, reason);
            },
        }, options?.strategy ?? new Strategy({ highWaterMark: stream.readableHighWaterMark }));
    }

    function writableTo(stream) {
        if (typeof stream?.write !== 'function' || typeof stream.on !== 'function')
            throw errors.invalidArgType('streamWritable', 'stream.Writable', stream);
        const { WritableStream, CountQueuingStrategy } = web();
        if (is.destroyed(stream) || !is.writable(stream)) {
            const closed = new WritableStream();
            closed.close();
            return closed;
        }
        let controller, drained, closed;
        watch(stream, (error) => {
            if (error !== undefined && error !== null)
                drained?.reject(error);
            if (closed !== undefined) {
                if (error)
                    closed.reject(error);
                else
                    closed.resolve();
            }
            if (error || closed === undefined)
                controller?.error(error ?? errors.abortError());
            closed = controller = undefined;
        });
        stream.on('drain', () => drained?.resolve());
        const highWaterMark = stream.writableHighWaterMark;
        return new WritableStream({
            start(given) {
                controller = given;
            },
            write(chunk) {
                if (!stream.writableNeedDrain && stream.write(chunk))
                    return undefined;
                drained = deferred();
                return drained.promise.finally(() => { drained = undefined; });
            },
            abort(reason) {
                destroyAny(stream, reason);
            },
            close() {
                if (closed !== undefined || is.writableEnded(stream))
                    return undefined;
                closed = deferred();
                stream.end();
                return closed.promise;
            },
        }, stream.writableObjectMode ? new CountQueuingStrategy({ highWaterMark }) : { highWaterMark });
    }

    function duplexTo(stream) {
        if (typeof stream?._writableState !== 'object' || typeof stream._readableState !== 'object')
            throw errors.invalidArgType('duplex', 'stream.Duplex', stream);
        return { readable: readableTo(stream), writable: writableTo(stream) };
    }

    // ---- From the web ----

    // Calls back out of promises: what the callback throws is no rejection.
    function answer(callback, thrown) {
        return (error) => {
            try {
                callback(error);
            } catch (failure) {
                host.nextTick(() => thrown(failure));
            }
        };
    }

    const rethrow = (error) => { throw error; };

    function readingMethods(stream, closed) {
        const reader = stream.getReader();
        reader.closed.then(() => { closed.reading = true; }, (error) => {
            closed.reading = true;
            destroyAny(closed.stream, error);
        });
        return {
            reader,
            read() {
                reader.read().then(({ value, done }) => this.push(done ? null : value), (error) => destroyAny(this, error));
            },
        };
    }

    function writingMethods(stream, closed, options) {
        const writer = stream.getWriter();
        writer.closed.then(() => {
            closed.writing = true;
            if (!is.writableEnded(closed.stream))
                destroyAny(closed.stream, prematureClose());
        }, (error) => {
            closed.writing = true;
            destroyAny(closed.stream, error);
        });
        const write = (target, chunk) => writer.ready.then(() => writer.write(chunk));
        const toBytes = (chunk, encoding) => (typeof chunk === 'string' && options.decodeStrings && !options.objectMode
            ? new Uint8Array(Buffer.from(chunk, encoding)) : chunk);
        return {
            writer,
            write(chunk, encoding, callback) {
                const done = answer(callback, (error) => destroyAny(this, error));
                write(this, toBytes(chunk, encoding)).then(() => done(), done);
            },
            writev(chunks, callback) {
                const done = answer(callback, (error) => destroyAny(this, error));
                writer.ready.then(() => Promise.all(chunks.map(({ chunk }) => writer.write(chunk)))).then(() => done(), done);
            },
            final(callback) {
                const done = answer(callback, (error) => destroyAny(this, error));
                if (!closed.writing)
                    writer.close().then(() => done(), done);
            },
        };
    }

    function readOptions(options) {
        errors.validateObject(options, 'options');
        const { highWaterMark, encoding, signal, objectMode = false, decodeStrings = true } = options;
        if (encoding !== undefined && !Buffer.isEncoding(encoding))
            throw errors.invalidArgValue('options.encoding', encoding);
        errors.validateBoolean(objectMode, 'options.objectMode');
        errors.validateBoolean(decodeStrings, 'options.decodeStrings');
        return { highWaterMark, encoding, signal, objectMode, decodeStrings };
    }

    function readableFrom(stream, given = {}) {
        if (!is.webReadable(stream))
            throw errors.invalidArgType('readableStream', 'ReadableStream', stream);
        const options = readOptions(given), closed = { reading: false };
        const { reader, read } = readingMethods(stream, closed);
        closed.stream = new (need('stream_readable').Readable)({
            ...options, read,
            destroy(error, callback) {
                const done = answer(() => callback(error), rethrow);
                if (closed.reading)
                    done();
                else
                    reader.cancel(error).then(done, done);
            },
        });
        return closed.stream;
    }

    function writableFrom(stream, given = {}) {
        if (!is.webWritable(stream))
            throw errors.invalidArgType('writableStream', 'WritableStream', stream);
        const options = readOptions(given), closed = { writing: false };
        const { writer, write, writev, final } = writingMethods(stream, closed, options);
        closed.stream = new (need('stream_writable').Writable)({
            ...options, write, writev, final,
            destroy(error, callback) {
                const done = answer(() => callback(error), rethrow);
                if (closed.writing)
                    done();
                else
                    (error ? writer.abort(error) : writer.close()).then(done, done);
            },
        });
        return closed.stream;
    }

    function duplexFrom(pair = {}, given = {}) {
        errors.validateObject(pair, 'pair');
        if (!is.webReadable(pair.readable))
            throw errors.invalidArgType('pair.readable', 'ReadableStream', pair.readable);
        if (!is.webWritable(pair.writable))
            throw errors.invalidArgType('pair.writable', 'WritableStream', pair.writable);
        const options = readOptions(given), closed = { reading: false, writing: false };
        const { writer, write, writev, final } = writingMethods(pair.writable, closed, options);
        const { reader, read } = readingMethods(pair.readable, closed);
        closed.stream = new (need('stream_duplex').Duplex)({
            ...options, allowHalfOpen: given.allowHalfOpen ?? false, read, write, writev, final,
            destroy(error, callback) {
                const done = answer(() => callback(error), rethrow);
                const parts = [];
                if (!closed.writing)
                    parts.push(error ? writer.abort(error) : writer.close());
                if (!closed.reading)
                    parts.push(reader.cancel(error));
                Promise.all(parts).then(done, done);
            },
        });
        return closed.stream;
    }

    // ---- The web's own ----

    const stateOf = (stream) => need('streams_readable').stateOf(stream) ?? need('streams_writable').stateOf(stream);

    // A promise of its end.
    function closedOf(stream) {
        const state = stateOf(stream);
        if (state === undefined)
            throw errors.invalidArgType('stream', ['ReadableStream', 'WritableStream', 'Stream'], stream);
        if (state.over === undefined) {
            const isReadable = is.webReadable(stream);
            const { CLOSED, ERRORED } = need(isReadable ? 'streams_core' : 'streams_write');
            state.over = deferred();
            handled(state.over.promise);
            if (state.state === CLOSED)
                state.over.resolve();
            else if (state.state === ERRORED)
                state.over.reject(state.error);
        }
        return state.over.promise;
    }

    function errorOut(stream, error) {
        const { controller } = stateOf(stream);
        if (is.webReadable(stream))
            controller.fail(error);
        else
            controller.errorIfWritable(error);
    }

    return { readableTo, writableTo, duplexTo, readableFrom, writableFrom, duplexFrom, closedOf, errorOut };
})
