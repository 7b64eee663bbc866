// SPDX-License-Identifier: MIT
// js/lib/fs_streams.js - node:fs's ReadStream and WriteStream.
// host: nextTick(fn), waitHandle(), nextWait(handle), waitCancel(handle); see fs_plans.js
//
// A stream works on a descriptor by four functions with callbacks: the host's, those of a FileHandle, or of an options.fs. What
// is under way when a stream is destroyed is waited for, and the host's, which may take for ever on a pipe, is ended.
(function (host, need) {
    'use strict';
    const { Readable, Writable, finished } = need('stream');
    const { fail } = need('stream_end');
    const { files } = need('fs_plans');
    const { toPath, toFlags, toMode, toOptions } = need('fs_arguments');
    const { nodeError, invalidArgType, outOfRange, validateInteger, validateFunction } = need('node_error');
    const { Buffer } = need('buffer');
    const inside = Symbol('io'), isBusy = Symbol('is busy'), isIdle = Symbol('is idle');
    const RETRIES = 5;

    // ---- What a stream works with ----

    // The host's; each call can be ended.
    class HostFile {
        #wait;

        #begin(callback, begin) {
            this.#wait = host.waitHandle();
            host.nextWait(this.#wait);
            try {
                begin((...results) => {
                    this.#wait = undefined;
                    callback(...results);
                });
            } finally {
                host.nextWait();
            }
        }

        open(path, flags, mode, callback) {
            this.#begin(callback, (done) => files.open(done, toPath(path), toFlags(flags), toMode(mode, 'mode', 0o666), 1));
        }

        read(fd, size, position, callback) {
            this.#begin(callback, (done) => files.readSome(done, fd, size, position));
        }

        write(fd, bytes, position, callback) {
            this.#begin(callback, (done) => files.write(done, fd, bytes, position));
        }

        close(fd, callback) {
            files.close(callback, fd);
        }

        stop() {
            if (this.#wait)
                host.waitCancel(this.#wait);
        }
    }

    const placeOf = (position) => (position < 0 ? null : position);

    // A FileHandle's.
    class HandleFile {
        constructor(handle) {
            this.handle = handle;
        }

        read(fd, size, position, callback) {
            this.handle.read(Buffer.allocUnsafe(size), 0, size, placeOf(position))
                .then(({ bytesRead, buffer }) => callback(null, buffer.subarray(0, bytesRead)), callback);
        }

        write(fd, bytes, position, callback) {
            this.handle.write(bytes, 0, bytes.length, placeOf(position))
                .then((result) => callback(null, result.bytesWritten), callback);
        }

        close(fd, callback) {
            this.handle.close().then(() => callback(), callback);
        }

        stop() {}
    }

    // Those of somebody's fs.
    class GivenFile {
        constructor(fs) {
            this.fs = fs;
        }

        open(path, flags, mode, callback) {
            this.fs.open(path, flags, mode, callback);
        }

        read(fd, size, position, callback) {
            this.fs.read(fd, Buffer.allocUnsafe(size), 0, size, placeOf(position),
                (error, count, buffer) => callback(error, error ? undefined : buffer.subarray(0, count)));
        }

        write(fd, bytes, position, callback) {
            this.fs.write(fd, bytes, 0, bytes.length, placeOf(position), (error, count) => callback(error, count));
        }

        close(fd, callback) {
            this.fs.close(fd, callback);
        }

        stop() {}
    }

    function attach(stream, options) {
        const { FileHandle } = need('fs_promises');
        if (options.fd === undefined || options.fd === null) {
            stream.fd = null;
            stream[inside] = options.fs ? new GivenFile(options.fs) : new HostFile();
        } else if (typeof options.fd === 'number') {
            validateInteger(options.fd, 'options.fd', 0, 2147483647);
            stream.fd = options.fd;
            stream[inside] = options.fs ? new GivenFile(options.fs) : new HostFile();
        } else if (options.fd instanceof FileHandle) {
            if (options.fs)
                throw nodeError(Error, 'ERR_METHOD_NOT_IMPLEMENTED', 'The FileHandle with fs method is not implemented');
            stream.fd = options.fd.fd;
            stream[inside] = new HandleFile(options.fd);
            options.fd.once('close', () => stream.close());
        } else {
            throw invalidArgType('options.fd', ['number', 'FileHandle'], options.fd);
        }
        for (const name of options.fs ? ['open', stream.isReader ? 'read' : 'write', 'close'] : [])
            validateFunction(options.fs[name], `options.fs.${name}`);
    }

    function checkPlace(place, name) {
        validateInteger(place, name, 0);
    }

    // ---- Opening and closing ----

    function open(stream, callback) {
        stream[inside].open(stream.path, stream.flags, stream.mode, (error, fd) => {
            if (error) {
                callback(error);
                return;
            }
            stream.fd = fd;
            callback();
            stream.emit('open', fd);
            stream.emit('ready');
        });
    }

    // Some put their own open() in place of ours; it tells by events.
    function openByOther(stream, callback) {
        const { emit } = stream;
        stream.emit = function (name, ...values) {
            if (name === 'open') {
                this.emit = emit;
                callback();
            } else if (name === 'error') {
                this.emit = emit;
                callback(values[0]);
                return true;
            }
            return emit.call(this, name, ...values);
        };
        stream.open();
    }

    function openReal() {}

    const opening = {
        _construct(callback) {
            if (typeof this.fd === 'number')
                callback();
            else if (this.open !== openReal)
                openByOther(this, callback);
            else
                open(this, callback);
        },
        open: openReal,
        _destroy(error, callback) {
            if (this[isBusy]) {
                this.once(isIdle, (failure) => closeNow(this, error || failure, callback));
                this[inside].stop();
            } else {
                closeNow(this, error, callback);
            }
        },
    };

    function closeNow(stream, error, callback) {
        const { fd } = stream;
        if (fd === null || fd === undefined) {
            callback(error);
            return;
        }
        stream.fd = null;
        stream[inside].close(fd, (failure) => callback(error || failure));
    }

    function pendingGetter(prototype, state) {
        Object.defineProperty(prototype, 'pending', { configurable: true, get() { return this.fd === null; } });
        Object.defineProperty(prototype, 'autoClose', {
            configurable: true,
            get() {
                return this[state].autoDestroy;
            },
            set(value) {
                this[state].autoDestroy = value;
            },
        });
    }

    // ---- Reading ----

    function ReadStream(path, options) {
        if (!(this instanceof ReadStream))
            return new ReadStream(path, options);
        options = { ...toOptions(options) };
        options.highWaterMark ??= 64 * 1024;
        attach(this, options);
        if (this.fd === null) {
            this.path = toPath(path);
            this.flags = options.flags === undefined ? 'r' : options.flags;
            this.mode = options.mode === undefined ? 0o666 : options.mode;
        }
        options.autoDestroy = options.autoClose === undefined ? true : options.autoClose;
        this.start = options.start;
        this.end = options.end ?? Infinity;
        this.pos = undefined;
        this.bytesRead = 0;
        this[isBusy] = false;
        if (this.start !== undefined) {
            checkPlace(this.start, 'start');
            this.pos = this.start;
        }
        if (this.end !== Infinity) {
            checkPlace(this.end, 'end');
            if (this.start > this.end)
                throw outOfRange('start', `<= "end" (here: ${this.end})`, this.start);
        }
        Readable.call(this, options);
        if (options.encoding)
            this.setEncoding(options.encoding);
        return undefined;
    }
    Object.setPrototypeOf(ReadStream.prototype, Readable.prototype);
    Object.setPrototypeOf(ReadStream, Readable);
    pendingGetter(ReadStream.prototype, '_readableState');

    Object.assign(ReadStream.prototype, opening, {
        _read(size) {
            size = Math.min(this.end - (this.pos ?? this.bytesRead) + 1, size);
            if (size <= 0) {
                this.push(null);
                return;
            }
            this[isBusy] = true;
            this[inside].read(this.fd, size, this.pos ?? -1, (error, bytes) => {
                this[isBusy] = false;
                if (this.destroyed) {
                    this.emit(isIdle, error?.code === 'ECANCELED' ? null : error);
                } else if (error) {
                    fail(this, error);
                } else if (bytes.length === 0) {
                    this.push(null);
                } else {
                    if (this.pos !== undefined)
                        this.pos += bytes.length;
                    this.bytesRead += bytes.length;
                    this.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
                }
            });
        },
        close(callback) {
            if (typeof callback === 'function')
                finished(this, callback);
            this.destroy();
        },
    });

    // ---- Writing ----

    function WriteStream(path, options) {
        if (!(this instanceof WriteStream))
            return new WriteStream(path, options);
        options = { ...toOptions(options), decodeStrings: true };
        attach(this, options);
        if (this.fd === null) {
            this.path = toPath(path);
            this.flags = options.flags === undefined ? 'w' : options.flags;
            this.mode = options.mode === undefined ? 0o666 : options.mode;
        }
        options.autoDestroy = options.autoClose === undefined ? true : options.autoClose;
        this.flush = options.flush ?? false;
        this.start = options.start;
        this.pos = undefined;
        this.bytesWritten = 0;
        this[isBusy] = false;
        if (this.start !== undefined) {
            checkPlace(this.start, 'start');
            this.pos = this.start;
        }
        Writable.call(this, options);
        if (options.encoding)
            this.setDefaultEncoding(options.encoding);
        return undefined;
    }
    Object.setPrototypeOf(WriteStream.prototype, Writable.prototype);
    Object.setPrototypeOf(WriteStream, Writable);
    pendingGetter(WriteStream.prototype, '_writableState');

    // All of it, however many calls that takes; but some that write nothing are too many.
    function writeAll(stream, bytes, position, callback, retries = 0) {
        stream[inside].write(stream.fd, bytes, position, (error, count) => {
            if (error?.code === 'EAGAIN')
                [error, count] = [null, 0];
            if (stream.destroyed || error) {
                callback(error ?? nodeError(Error, 'ERR_STREAM_DESTROYED', 'Cannot call write after a stream was destroyed'));
                return;
            }
            stream.bytesWritten += count;
            retries = count > 0 ? 0 : retries + 1;
            if (count === bytes.length)
                callback();
            else if (retries > RETRIES)
                callback(Object.assign(new Error('writev: nothing can be written'), { code: 'EIO', syscall: 'write' }));
            else
                writeAll(stream, bytes.subarray(count), position < 0 ? position : position + count, callback, retries);
        });
    }

    Object.assign(WriteStream.prototype, opening, {
        _write(bytes, encoding, callback) {
            this[isBusy] = true;
            writeAll(this, bytes, this.pos ?? -1, (error) => {
                this[isBusy] = false;
                callback(error);
                if (this.destroyed)
                    this.emit(isIdle, error?.code === 'ECANCELED' ? null : error);
            });
            if (this.pos !== undefined)
                this.pos += bytes.length;
        },
        _writev(pieces, callback) {
            this._write(Buffer.concat(pieces.map(({ chunk }) => chunk)), 'buffer', callback);
        },
        _destroy(error, callback) {
            if (this.flush && !error && typeof this.fd === 'number' && !this[isBusy])
                files.sync((failure) => opening._destroy.call(this, failure, callback), this.fd);
            else
                opening._destroy.call(this, error, callback);
        },
        destroySoon: Writable.prototype.end,
        close(callback) {
            if (typeof callback === 'function') {
                if (this.closed) {
                    host.nextTick(callback);
                    return;
                }
                this.on('close', callback);
            }
            if (!this.autoClose)
                this.on('finish', this.destroy);
            this.end();
        },
    });

    return {
        ReadStream, WriteStream, FileReadStream: ReadStream, FileWriteStream: WriteStream,
        createReadStream: (path, options) => new ReadStream(path, options),
        createWriteStream: (path, options) => new WriteStream(path, options),
    };
})
