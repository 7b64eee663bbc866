// SPDX-License-Identifier: MIT
// js/lib/fs_promises.js - node:fs/promises: the functions of node:fs as promises, and FileHandle.
// host: see fs_plans.js
(function (host, need) {
    'use strict';
    const { files, plans, stat, readWhole, writeWhole } = need('fs_plans');
    const { runForPromise } = need('fs_run');
    const { toPath, toFlags, toMode, toOwner, toOptions, toSeconds, toData, asBytes, checkViews, toPosition, readArguments,
        writeArguments } = need('fs_arguments');
    const { constants } = need('fs_stats');
    const { invalidArgType, abortError, validateInteger } = need('node_error');
    const { EventEmitter } = need('events');
    const { Buffer } = need('buffer');
    const PROMISE = 2;
    let innerOf; // the host's handle of a FileHandle; undefined for anything else

    // One that was opened, until it is closed, or nobody has it any more.
    class FileHandle extends EventEmitter {
        #file;
        #pending = 0; // calls that have not ended
        #closing; // the promise of its end
        #isClosed = false; // nothing more begins
        #settle;

        constructor(file) {
            super();
            this.#file = file;
        }

        static {
            innerOf = (value) => (value instanceof FileHandle && #file in value ? value.#file : undefined);
        }

        get fd() {
            return this.#isClosed ? -1 : files.numberOf(this.#file);
        }

        // What it does until it is done keeps the file open.
        async #use(name, begin) {
            if (this.#isClosed)
                throw Object.assign(new Error('file closed'), { code: 'EBADF', syscall: name });
            this.#pending++;
            try {
                return await begin(this.#file);
            } finally {
                if (--this.#pending === 0 && this.#settle)
                    this.#settle();
            }
        }

        #run(name, plan) {
            return this.#use(name, (file) => runForPromise(plan(file)));
        }

        close() {
            if (this.#closing === undefined) {
                const begin = () => {
                    this.#isClosed = true;
                    return files.close(PROMISE, this.#file);
                };
                this.#closing = this.#pending === 0 ? begin() : new Promise((resolve) => {
                    this.#settle = () => resolve(begin());
                });
                this.emit('close');
            }
            return this.#closing;
        }

        async [Symbol.asyncDispose]() {
            await this.close();
        }

        // ---- Bytes ----

        async read(buffer, ...place) {
            if (!ArrayBuffer.isView(buffer)) {
                if (buffer !== undefined && (buffer === null || typeof buffer !== 'object'))
                    throw invalidArgType('options', 'object', buffer);
                place = [buffer ?? {}];
                buffer = buffer?.buffer ?? Buffer.alloc(16384);
            }
            const [view, position] = readArguments(buffer, ...place);
            const bytesRead = view.length === 0 ? 0
                : await this.#use('read', (file) => files.read(PROMISE, file, view, position));
            return { __proto__: null, bytesRead, buffer };
        }

        async write(value, ...place) {
            const [data, position] = writeArguments(value, ...place);
            const bytesWritten = data.length === 0 ? 0
                : await this.#use('write', (file) => files.write(PROMISE, file, data, position));
            return { __proto__: null, bytesWritten, buffer: value };
        }

        async readv(views, position) {
            checkViews(views);
            const bytes = new Uint8Array(views.reduce((sum, view) => sum + view.byteLength, 0));
            const { bytesRead } = await this.read(bytes, 0, bytes.length, position);
            let at = 0;
            for (const view of views) {
                const piece = bytes.subarray(at, Math.min(bytesRead, at + view.byteLength));
                asBytes(view).set(piece);
                at += piece.length;
            }
            return { __proto__: null, bytesRead, buffers: views };
        }

        async writev(views, position) {
            checkViews(views);
            const { bytesWritten } = await this.write(Buffer.concat(views.map(asBytes)), 0, undefined, position);
            return { __proto__: null, bytesWritten, buffers: views };
        }

        readFile(options) {
            return this.#run('readFile', (file) => readWhole(file, options));
        }

        writeFile(data, options) {
            return this.#use('writeFile', (file) => writeData(file, data, options, 'w'));
        }

        appendFile(data, options) {
            return this.#use('writeFile', (file) => writeData(file, data, options, 'a'));
        }

        // ---- What is said about it ----

        stat(options) {
            return this.#run('fstat', (file) => stat(file, false, options));
        }

        async truncate(length = 0) {
            validateInteger(length, 'len');
            return this.#run('ftruncate', (file) => [files.truncate, [file, Math.max(0, length)]]);
        }

        sync() {
            return this.#run('fsync', (file) => [files.sync, [file]]);
        }

        datasync() {
            return this.#run('fdatasync', (file) => [files.syncData, [file]]);
        }

        async chmod(mode) {
            const bits = toMode(mode, 'mode');
            return this.#run('fchmod', (file) => [files.chmod, [file, bits]]);
        }

        async chown(uid, gid) {
            const owners = [toOwner(uid, 'uid'), toOwner(gid, 'gid')];
            return this.#run('fchown', (file) => [files.chown, [file, ...owners, 0]]);
        }

        async utimes(atime, mtime) {
            const times = [toSeconds(atime), toSeconds(mtime)];
            return this.#run('futimes', (file) => [files.times, [file, ...times, 0]]);
        }

        // ---- Streams ----

        createReadStream(options) {
            return new (need('fs_streams').ReadStream)(undefined, { ...toOptions(options), fd: this });
        }

        createWriteStream(options) {
            return new (need('fs_streams').WriteStream)(undefined, { ...toOptions(options), fd: this });
        }

        readLines(options) {
            return need('readline').createInterface({ input: this.createReadStream(options), crlfDelay: Infinity });
        }

        readableWebStream() {
            const handle = this;
            return new ReadableStream({
                type: 'bytes',
                autoAllocateChunkSize: 16384,
                async pull(controller) {
                    const view = controller.byobRequest.view;
                    const { bytesRead } = await handle.read(view, 0, view.byteLength);
                    if (bytesRead === 0)
                        controller.close();
                    controller.byobRequest.respond(bytesRead);
                },
            });
        }
    }

    // ---- Functions ----

    const isIterable = (value) => value !== null && typeof value === 'object' && !ArrayBuffer.isView(value)
        && (typeof value[Symbol.asyncIterator] === 'function' || typeof value[Symbol.iterator] === 'function');

    // What comes by pieces is written by pieces.
    async function writePieces(file, pieces, { encoding, signal }) {
        for await (const piece of pieces) {
            if (signal?.aborted)
                throw abortError(signal);
            const data = ArrayBuffer.isView(piece) ? asBytes(piece) : Buffer.from(piece, encoding || 'utf8');
            await files.writeAll(PROMISE, file, data, 0, 0, 0);
        }
    }

    async function writeData(target, data, options, flag) {
        if (!isIterable(data))
            return runForPromise(writeWhole(target, data, options, flag));
        const given = toOptions(options, { encoding: 'utf8', mode: 0o666, flag });
        if (typeof target === 'object' && !(target instanceof Uint8Array))
            return writePieces(target, data, given);
        if (given.signal?.aborted)
            throw abortError(given.signal);
        const file = await files.open(PROMISE, target, toFlags(given.flag), toMode(given.mode, 'mode', 0o666), 0);
        try {
            await writePieces(file, data, given);
        } finally {
            await files.close(PROMISE, file);
        }
        return undefined;
    }

    const promises = {};
    for (const name of ['access', 'copyFile', 'rename', 'truncate', 'rm', 'rmdir', 'mkdir', 'readlink', 'symlink', 'lstat',
        'stat', 'statfs', 'link', 'unlink', 'chmod', 'lchown', 'chown', 'utimes', 'lutimes', 'mkdtemp'])
        promises[name] = { async [name](...values) { return runForPromise(plans[name](...values)); } }[name];

    Object.assign(promises, {
        async open(path, flags, mode) {
            const place = toPath(path), permissions = toMode(mode, 'mode', 0o666);
            return new FileHandle(await files.open(PROMISE, place, toFlags(flags ?? 'r'), permissions, 0));
        },
        async readdir(path, options) {
            return runForPromise(plans.readdir(path, options, true));
        },
        async realpath(path, options) {
            return runForPromise(plans.realpathNative(path, options));
        },
        async readFile(path, options) {
            return path instanceof FileHandle ? path.readFile(options) : runForPromise(plans.readFile(toPath(path), options));
        },
        async writeFile(path, data, options) {
            return path instanceof FileHandle ? path.writeFile(data, options) : writeData(toPath(path), data, options, 'w');
        },
        async appendFile(path, data, options) {
            return path instanceof FileHandle ? path.appendFile(data, options) : writeData(toPath(path), data, options, 'a');
        },
        async opendir(path, options) {
            return need('fs_folder').openFolder(path, options);
        },
        async cp(from, to, options) {
            return need('fs_folder').cpLater(from, to, options);
        },
        watch: (path, options) => need('fs_watch').watchIterator(path, options),
        constants,
    });

    return { promises, FileHandle, innerOf: (value) => innerOf(value) };
})
