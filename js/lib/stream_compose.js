// SPDX-License-Identifier: MIT
// js/lib/stream_compose.js - compose() and Duplex.from of node:stream: one stream made of others, or of anything that is like one.
// host: nextTick(fn)
(function (host, need) {
    'use strict';
    const errors = need('node_error');
    const is = need('stream_is');
    const { destroyAny } = need('stream_end');
    const { finished } = need('stream_finished');
    const { Duplex } = need('stream_duplex');
    const { wrongReturn } = need('stream_pipeline');

    // A duplex that writes to one stream and reads from another. over(error) tells it that these have ended.
    class Front {
        constructor(options) {
            this.duplex = new Duplex(options);
            this.onClose = undefined; // null: both have ended; a function: destroy waits for that
            this.drained = this.finished = this.readable = null;
        }

        over(error, isEmpty) {
            const callback = this.onClose;
            this.onClose = null;
            if (callback)
                callback(error);
            else if (error || isEmpty)
                this.duplex.destroy(error);
        }

        take(name) {
            const callback = this[name];
            this[name] = null;
            callback?.();
        }

        writeTo(target) {
            this.duplex._write = (chunk, encoding, callback) => {
                if (target.write(chunk, encoding))
                    callback();
                else
                    this.drained = callback;
            };
            this.duplex._final = (callback) => {
                target.end();
                this.finished = callback;
            };
            target.on('drain', () => this.take('drained'));
        }

        writeToWeb(target) {
            const writer = target.getWriter();
            const later = (step, callback) => writer.ready.then(() => {
                step().catch(() => {});
                return callback();
            }).catch(callback);
            this.duplex._write = (chunk, encoding, callback) => { later(() => writer.write(chunk), callback); };
            this.duplex._final = (callback) => {
                later(() => writer.close(), (error) => {
                    if (error)
                        callback(error);
                    else
                        this.finished = callback;
                });
            };
        }

        readFrom(source) {
            const { duplex } = this;
            source.on('readable', () => this.take('readable'));
            source.on('end', () => duplex.push(null));
            duplex._read = () => {
                for (let chunk; (chunk = source.read()) !== null;)
                    if (!duplex.push(chunk))
                        return;
                this.readable = duplex._read;
            };
        }

        readFromWeb(source) {
            const { duplex } = this, reader = source.getReader();
            duplex._read = async () => {
                try {
                    for (let hasRoom = true; hasRoom;) {
                        const { value, done } = await reader.read();
                        hasRoom = duplex.push(done ? null : value);
                    }
                } catch {
                    // The pipeline says so.
                }
            };
        }

        // others(error): what is destroyed with it.
        destroyWith(others) {
            this.duplex._destroy = (error, callback) => {
                const isOver = this.onClose === null;
                if (!error && !isOver)
                    error = errors.abortError();
                this.drained = this.finished = this.readable = null;
                if (isOver) {
                    others.always?.(error);
                    callback(error);
                } else {
                    this.onClose = callback;
                    others.always?.(error);
                    others.early?.(error);
                }
            };
        }
    }

    // ---- compose ----

    const canRead = (stream) => !!(is.readable(stream) || is.webReadable(stream) || is.webTransform(stream));
    const canWrite = (stream) => !!(is.writable(stream) || is.webWritable(stream) || is.webTransform(stream));

    function checkParts(streams, given) {
        for (const [i, stream] of streams.entries()) {
            if (!is.node(stream) && !is.web(stream))
                continue;
            if (i < streams.length - 1 && !canRead(stream))
                throw errors.invalidArgValue(`streams[${i}]`, given[i], 'must be readable');
            if (i > 0 && !canWrite(stream))
                throw errors.invalidArgValue(`streams[${i}]`, given[i], 'must be writable');
        }
    }

    function compose(...streams) {
        if (streams.length === 0)
            throw errors.nodeError(TypeError, 'ERR_MISSING_ARGS', 'The "streams" argument must be specified');
        if (streams.length === 1)
            return duplexFrom(streams[0], 'body');
        const given = streams.slice();
        for (const i of [0, streams.length - 1])
            if (typeof streams[i] === 'function')
                streams[i] = duplexFrom(streams[i], 'body');
        checkParts(streams, given);
        let front;
        const head = streams[0];
        const tail = need('stream_pipeline').pipeline(streams, (error) => front.over(error, !canBeRead && !canBeWritten));
        const canBeWritten = canWrite(head), canBeRead = canRead(tail);
        front = new Front({
            writableObjectMode: !!head?.writableObjectMode, readableObjectMode: !!tail?.readableObjectMode,
            writable: canBeWritten, readable: canBeRead,
        });
        const outlet = is.webTransform(tail) ? tail.readable : tail;
        if (canBeWritten) {
            if (is.node(head))
                front.writeTo(head);
            else
                front.writeToWeb(is.webTransform(head) ? head.writable : head);
            finished(outlet, () => front.take('finished'));
        }
        if (canBeRead) {
            if (is.node(tail))
                front.readFrom(tail);
            else
                front.readFromWeb(outlet);
        }
        front.destroyWith({ always: (error) => is.node(tail) && destroyAny(tail, error) });
        return front.duplex;
    }

    // ---- Duplex.from ----

    function fromPair({ readable: source, writable: target }) {
        if (source && typeof source.read !== 'function')
            source = need('stream_readable').Readable.wrap(source);
        const readable = !!is.readable(source), writable = !!is.writable(target);
        const front = new Front({
            readableObjectMode: !!source?.readableObjectMode, writableObjectMode: !!target?.writableObjectMode, readable, writable,
        });
        const over = (error) => {
            if (error)
                destroyAny(source, error);
            front.over(error, false);
        };
        if (writable) {
            finished(target, over);
            front.writeTo(target);
            target.on('finish', () => front.take('finished'));
        }
        if (readable) {
            finished(source, over);
            front.readFrom(source);
        }
        front.destroyWith({
            early(error) {
                destroyAny(target, error);
                destroyAny(source, error);
            },
        });
        return front.duplex;
    }

    // A function that takes an iteration of what is written: its result, and the methods that feed it.
    function feed(fn) {
        const controller = new AbortController(), { signal } = controller;
        let next = Promise.withResolvers();
        const put = (entry) => {
            const { resolve } = next;
            resolve(entry);
        };
        async function* written() {
            for (;;) {
                const { chunk, done, callback } = await next.promise;
                host.nextTick(callback);
                if (done)
                    return;
                if (signal.aborted)
                    throw errors.abortError(signal);
                next = Promise.withResolvers();
                yield chunk;
            }
        }
        return {
            value: fn(written(), { signal }),
            write: (chunk, encoding, callback) => put({ chunk, done: false, callback }),
            final: (callback) => put({ done: true, callback }),
            destroy(error, callback) {
                controller.abort();
                callback(error);
            },
        };
    }

    function fromFunction(fn, name) {
        const { value, write, final, destroy } = feed(fn);
        if (is.duplex(value))
            return value;
        if (is.iterable(value))
            return need('stream_iterate').from(Duplex, value, { objectMode: true, write, final, destroy });
        if (typeof value?.then !== 'function')
            throw wrongReturn('Iterable, AsyncIterable or AsyncFunction', name, value);
        const promise = value.then((result) => {
            if (result !== undefined && result !== null)
                throw wrongReturn('nully', 'body', result);
        }, (error) => destroyAny(duplex, error));
        const duplex = new Duplex({
            objectMode: true, readable: false, write, destroy,
            final(callback) {
                final(() => {
                    promise.then(() => host.nextTick(() => callback(null)), (error) => host.nextTick(() => callback(error)));
                });
            },
        });
        return duplex;
    }

    function fromPromise(promise) {
        const duplex = new Duplex({ objectMode: true, writable: false, read() {} });
        promise.then((value) => {
            if (value !== undefined && value !== null)
                duplex.push(value);
            duplex.push(null);
        }, (error) => destroyAny(duplex, error));
        return duplex;
    }

    function duplexFrom(body, name) {
        if (is.duplex(body))
            return body;
        if (is.reader(body))
            return fromPair({ readable: body });
        if (is.writer(body))
            return fromPair({ writable: body });
        if (is.node(body))
            return fromPair({});
        if (is.webReadable(body))
            return fromPair({ readable: need('stream_web').readableFrom(body) });
        if (is.webWritable(body))
            return fromPair({ writable: need('stream_web').writableFrom(body) });
        if (typeof body === 'function')
            return fromFunction(body, name);
        if (need('blob').isBlob(body))
            return fromPromise(body.arrayBuffer());
        if (is.iterable(body))
            return need('stream_iterate').from(Duplex, body, { objectMode: true, writable: false });
        if (is.webReadable(body?.readable) && is.webWritable(body?.writable))
            return need('stream_web').duplexFrom(body);
        if (typeof body?.writable === 'object' || typeof body?.readable === 'object') {
            const half = (part, isOne) => (!part || isOne(part) ? part : duplexFrom(part));
            return fromPair({ readable: half(body.readable, is.reader), writable: half(body.writable, is.writer) });
        }
        if (typeof body?.then === 'function')
            return fromPromise(body);
        throw errors.invalidArgType(name, ['Blob', 'ReadableStream', 'WritableStream', 'Stream', 'Iterable',
            'AsyncIterable', 'Function', '{ readable, writable } pair', 'Promise'], body);
    }

    return { compose, duplexFrom };
})
