// SPDX-License-Identifier: MIT
// js/lib/file.js - open files of weft:fs. On a fiber, what waits returns its result; elsewhere it returns a promise.
// host: see fs_plans.js
(function (host, need) {
    'use strict';
    const { files } = need('fs_plans');
    const { makeStats } = need('fs_stats');
    const { abortable, mapped, drive, later } = need('abortable');
    const NOW = 0, WAIT = 1;
    const PIECE = 64 * 1024;
    const whences = { start: 0, current: 1, end: 2 };
    const token = Symbol('token');

    function bytesOf(data) {
        if (typeof data === 'string')
            return data.isWellFormed() ? data : data.toWellFormed();
        if (data instanceof Uint8Array)
            return data;
        if (ArrayBuffer.isView(data))
            return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
        if (data instanceof ArrayBuffer || data instanceof SharedArrayBuffer)
            return new Uint8Array(data);
        throw new TypeError('Only strings and bytes can be written');
    }

    // A number or a BigInt that is no fraction, from 0 to the last place of a file.
    function placeOf(value, name) {
        if (typeof value === 'bigint' ? value < 0n || value > 2n ** 63n - 1n : !Number.isSafeInteger(value) || value < 0)
            throw new RangeError(`${name} is a whole number, 0 or more`);
        return value;
    }

    const positionOf = (options) => (options?.position === undefined ? -1 : placeOf(options.position, 'A position'));

    function sizeOf(size) {
        if (!Number.isSafeInteger(size) || size < 1)
            throw new RangeError('A read wants at least one byte');
        return size;
    }

    // Values one after another, for both kinds of loops: next() returns null at the end.
    function iterated(next) {
        return {
            * [Symbol.iterator]() {
                for (let value; (value = next()) !== null;)
                    yield value;
            },
            async * [Symbol.asyncIterator]() {
                for (;;) {
                    const value = next();
                    const ready = value instanceof Promise ? await value : value;
                    if (ready === null)
                        return;
                    yield ready;
                }
            },
        };
    }

    class File {
        #handle;
        #isClosed = false;
        #readable;
        #writable;

        constructor(given, handle) {
            if (given !== token)
                throw new TypeError('Illegal constructor: use open()');
            this.#handle = handle;
        }

        // One call of the host. What a close has ended says so.
        #call(options, call, ...values) {
            return mapped(() => abortable(options?.signal, () => call(WAIT, this.#handle, ...values)), (value) => value,
                (error) => (this.#isClosed && error?.code === 'EBADF'
                    ? Object.assign(new Error('The file was closed'), { code: 'ERR_CLOSED' }) : error));
        }

        get number() {
            return files.numberOf(this.#handle);
        }

        get closed() {
            return this.#isClosed;
        }

        // ---- Bytes ----

        // Up to so many bytes; null at the end. Without a position they come from where the file stands.
        read(size = PIECE, options = undefined) {
            if (typeof size === 'object')
                [size, options] = [PIECE, size];
            return mapped(() => this.#call(options, files.readSome, sizeOf(size), positionOf(options)),
                (bytes) => (bytes.length === 0 ? null : bytes));
        }

        // Fills the bytes as far as it can in one go: how many; 0 at the end.
        readInto(view, options) {
            if (!ArrayBuffer.isView(view))
                throw new TypeError('Only views of buffers can be filled');
            return this.#call(options, files.read, bytesOf(view), positionOf(options));
        }

        pread(size, position, options) {
            return this.read(size, { ...options, position });
        }

        // All that comes from where it stands.
        readAll(options) {
            return this.#call(options, files.readAll, 0, 0);
        }

        readText(options) {
            return this.#call(options, files.readAll, 0, 1);
        }

        // All of it; how many bytes that was.
        write(data, options) {
            return this.#call(options, files.writeFull, bytesOf(data), positionOf(options));
        }

        pwrite(data, position, options) {
            return this.write(data, { ...options, position });
        }

        seek(offset, whence = 'start', options = undefined) {
            if (!Object.hasOwn(whences, whence))
                throw new TypeError("whence is 'start', 'current' or 'end'");
            if (typeof offset !== 'bigint' && !Number.isSafeInteger(offset))
                throw new RangeError('An offset is a whole number');
            return this.#call(options, files.seek, offset, whences[whence]);
        }

        truncate(size = 0, options = undefined) {
            return this.#call(options, files.truncate, placeOf(size, 'A size'));
        }

        // Returns when all is on the disk; { data: true }: without what is not needed to read it again.
        sync(options) {
            return this.#call(options, options?.data ? files.syncData : files.sync);
        }

        // ---- What is said about it ----

        stat(options) {
            const isBig = !!options?.bigint;
            return mapped(() => this.#call(options, files.stat, 0, isBig ? 1 : 0), (numbers) => makeStats(numbers, isBig));
        }

        chmod(mode, options) {
            return this.#call(options, files.chmod, mode);
        }

        utimes(accessed, modified, options) {
            const { toSeconds } = need('fs_arguments');
            return this.#call(options, files.times, toSeconds(accessed), toSeconds(modified), 0);
        }

        // ---- One after another ----

        chunks(options) {
            return iterated(() => this.read(options?.size ?? PIECE, options));
        }

        // Lines without their ends, LF or CRLF; what follows the last one is a line too, if it is not empty.
        lines(options) {
            const decoder = new TextDecoder();
            let ready = [], at = 0, rest = '', isOver = false;
            const feed = (bytes) => {
                isOver = bytes === null;
                const parts = (rest + (isOver ? decoder.decode() : decoder.decode(bytes, { stream: true }))).split('\n');
                rest = parts.pop();
                if (isOver && rest !== '')
                    parts.push(rest);
                [ready, at] = [parts, 0];
            };
            const more = (file) => drive((function* () {
                while (at === ready.length && !isOver)
                    feed(yield file.read(options?.size ?? PIECE, options));
                return take();
            })());
            const take = () => {
                if (at === ready.length)
                    return null;
                const line = ready[at++];
                return line.endsWith('\r') ? line.slice(0, -1) : line;
            };
            return iterated(() => (at < ready.length || isOver ? take() : more(this)));
        }

        [Symbol.iterator]() {
            return this.chunks()[Symbol.iterator]();
        }

        [Symbol.asyncIterator]() {
            return this.chunks()[Symbol.asyncIterator]();
        }

        // As streams of the web; closing one closes the file, and so does its end.
        get readable() {
            return this.#readable ??= new ReadableStream({
                type: 'bytes',
                pull: async (controller) => {
                    const bytes = await later(() => files.readSome(WAIT, this.#handle, PIECE, -1));
                    if (bytes.length > 0) {
                        controller.enqueue(bytes);
                        return;
                    }
                    this.#closeNow();
                    controller.close();
                    controller.byobRequest?.respond(0);
                },
                cancel: () => this.#closeNow(),
            });
        }

        get writable() {
            return this.#writable ??= new WritableStream({
                write: (chunk) => {
                    const bytes = bytesOf(chunk);
                    return later(() => files.writeFull(WAIT, this.#handle, bytes, -1));
                },
                close: () => this.#closeNow(),
                abort: () => this.#closeNow(),
            });
        }

        // ---- The end ----

        // Whoever waits for it gets an error with the code ERR_CLOSED. Whether it was open.
        close() {
            if (this.#isClosed)
                return host.isFiber() ? false : Promise.resolve(false);
            this.#isClosed = true;
            return mapped(() => files.close(WAIT, this.#handle), () => true);
        }

        #closeNow() {
            if (this.#isClosed)
                return;
            this.#isClosed = true;
            files.close(NOW, this.#handle);
        }

        [Symbol.dispose]() {
            this.#closeNow();
        }

        async [Symbol.asyncDispose]() {
            await this.close();
        }
    }

    return { File, fileOf: (handle) => new File(token, handle), bytesOf, placeOf, iterated };
})
