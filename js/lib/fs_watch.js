// SPDX-License-Identifier: MIT
// js/lib/fs_watch.js - news of files: weft's watch as weft:fs and node:fs tell it, and node:fs's watchFile.
// host: nextTick(fn), waitHandle(), nextWait(handle), waitKeep(handle, keeps); see fs_plans.js
(function (host, need) {
    'use strict';
    const { files, plans } = need('fs_plans');
    const { toPath, toOptions, toFlag, asBuffer } = need('fs_arguments');
    const { makeStats } = need('fs_stats');
    const { EventEmitter } = need('events');
    const { invalidArgType, invalidArgValue, validateFunction, validateInteger, abortError, nodeError } = need('node_error');
    const { basename, join } = need('path');
    const NOW = 0, FOLDER = 2;
    // What is asked for: all but that a file was closed.
    const WATCHED = 1 | 2 | 4 | 8 | 16 | 64 | 128 | 256;
    const MADE = 1, CAME = 8, WRITTEN = 16, CHANGED = 64, ENDED = 65536, LOST = 131072;

    // One file, or a folder, or that with all below it. tell(what, name, is a folder) is called for each event, in a callback of
    // the loop, and fail(error) when there will be no more.
    class Watching {
        #handle;
        #folders = new Map(); // id -> the folder below the path
        #path;
        #isDeep;
        #keeps;
        #wait;

        constructor(path, { recursive, persistent }, tell, fail) {
            this.#path = path;
            this.#keeps = persistent;
            this.#handle = files.watch(NOW);
            try {
                this.#folders.set(files.watchAdd(NOW, this.#handle, path, WATCHED), '');
                this.#isDeep = recursive && files.stat(NOW, path, 0, 0)[1] >> 12 === 4;
            } catch (error) {
                this.close();
                throw error;
            }
            if (this.#isDeep)
                this.#addBelow('', () => {});
            this.#next(tell, fail);
        }

        #next(tell, fail) {
            this.#wait = host.waitHandle();
            host.nextWait(this.#wait);
            files.watchNext((error, news) => {
                if (this.#handle === undefined)
                    return;
                if (error)
                    fail(error);
                else
                    this.#told(news, tell);
                if (!error && this.#handle !== undefined)
                    this.#next(tell, fail);
            }, this.#handle);
            host.nextWait();
            host.waitKeep(this.#wait, this.#keeps);
        }

        #told([id, what, name, isFolder], tell) {
            const home = this.#folders.get(id) ?? '';
            const isOwn = name === '';
            if (this.#isDeep && isOwn && home !== '') { // its folder tells the same
                if (what & ENDED)
                    this.#folders.delete(id);
                return;
            }
            const path = isOwn ? basename(String(this.#path)) : join(home, name);
            tell(what, path, isFolder);
            if (this.#isDeep && isFolder && what & (MADE | CAME) && this.#handle !== undefined)
                this.#addBelow(path, (below, kind) => tell(MADE, below, kind === FOLDER), true);
        }

        // The folders in a folder, and itself if it is new: then what is in it was made before it could be watched.
        #addBelow(folder, each, isNew = false) {
            const add = (below) => this.#folders.set(files.watchAdd(NOW, this.#handle, join(String(this.#path), below), WATCHED),
                below);
            try {
                if (isNew)
                    add(folder);
                const [names, kinds, homes] = files.list(NOW, join(String(this.#path), folder), 1, 1, 0, 0);
                names.forEach((name, i) => {
                    const below = join(folder, homes[i], name);
                    if (kinds[i] === FOLDER)
                        add(below);
                    each(below, kinds[i]);
                });
            } catch (error) {
                if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') // it is gone already
                    throw error;
            }
        }

        keep(keeps) {
            this.#keeps = keeps;
            if (this.#wait)
                host.waitKeep(this.#wait, keeps);
        }

        // Whether it was open.
        close() {
            const handle = this.#handle;
            this.#handle = undefined;
            if (handle !== undefined)
                files.close(NOW, handle);
            return handle !== undefined;
        }
    }

    // ---- node:fs ----

    const kindOf = (what) => (what & (WRITTEN | CHANGED) ? 'change' : 'rename');

    class FSWatcher extends EventEmitter {
        #watching;

        constructor(path, options) {
            super();
            const name = (text) => (options.encoding === 'buffer' ? asBuffer(new TextEncoder().encode(text))
                : options.encoding && options.encoding !== 'utf8' ? asBuffer(new TextEncoder().encode(text)).toString(options.encoding)
                    : text);
            try {
                this.#watching = new Watching(path, options, (what, file) => this.emit('change', kindOf(what), name(file)),
                    (error) => this.emit('error', error));
            } catch (error) {
                const { errno, syscall, code } = error;
                throw Object.assign(new Error(error.message), { errno, syscall, code, path, filename: path });
            }
        }

        close() {
            if (this.#watching.close())
                host.nextTick(() => this.emit('close'));
        }

        ref() {
            this.#watching.keep(true);
            return this;
        }

        unref() {
            this.#watching.keep(false);
            return this;
        }
    }

    function toWatchOptions(options) {
        const given = toOptions(options, { persistent: true, recursive: false, encoding: 'utf8' });
        given.persistent ??= true;
        given.recursive = toFlag(given.recursive, 'options.recursive');
        return given;
    }

    function watch(path, options, listener) {
        const given = toWatchOptions(options);
        const told = typeof options === 'function' ? options : listener;
        const watcher = new FSWatcher(toPath(path, 'filename'), given);
        if (told !== undefined) {
            validateFunction(told, 'listener');
            watcher.addListener('change', told);
        }
        const { signal } = given;
        if (signal?.aborted) {
            host.nextTick(() => watcher.close());
        } else if (signal) {
            const stop = () => watcher.close();
            signal.addEventListener('abort', stop, { once: true });
            watcher.once('close', () => signal.removeEventListener('abort', stop));
        }
        return watcher;
    }

    // What has come and was not asked for yet waits in a line; one that is full loses the last.
    async function* watchIterator(path, options = {}) {
        if (options === null || typeof options !== 'object')
            throw invalidArgType('options', 'Object', options);
        const { signal, maxQueue = 2048, overflow = 'ignore' } = options;
        if (overflow !== 'ignore' && overflow !== 'throw')
            throw invalidArgValue('options.overflow', overflow);
        validateInteger(maxQueue, 'options.maxQueue');
        if (signal?.aborted)
            throw abortError(signal);
        const line = [];
        let failure, wake = () => {};
        const fail = (error) => {
            failure ??= error;
            wake();
        };
        const watcher = watch(path, { ...options, signal: undefined }, (eventType, filename) => {
            if (line.length < maxQueue)
                line.push({ __proto__: null, eventType, filename });
            else if (overflow === 'throw')
                fail(nodeError(Error, 'ERR_FS_WATCH_QUEUE_OVERFLOW', `fs.watch() queued more than ${maxQueue} items`));
            wake();
        });
        const stop = () => fail(abortError(signal));
        watcher.on('error', fail);
        signal?.addEventListener('abort', stop, { once: true });
        try {
            for (;;) {
                if (line.length > 0)
                    yield line.shift();
                else if (failure)
                    throw failure;
                else
                    await new Promise((resolve) => { wake = resolve; });
            }
        } finally {
            signal?.removeEventListener('abort', stop);
            watcher.close();
        }
    }

    // ---- watchFile ----

    const statWatchers = new Map();
    const nothing = (isBig) => makeStats(new Array(18).fill(isBig ? 0n : 0), isBig);

    // Looks now and then.
    class StatWatcher extends EventEmitter {
        #previous;
        #failed = null; // null: it has not looked yet
        #timer;

        constructor(path, { interval, persistent, bigint }) {
            super();
            const look = () => {
                const [call, values, convert] = plans.stat(path, { bigint });
                call((error, numbers) => {
                    if (this.#timer === undefined)
                        return;
                    this.#seen(error, error ? nothing(bigint) : convert(numbers), bigint);
                }, ...values);
            };
            this.#timer = setInterval(look, interval);
            if (!persistent)
                this.#timer.unref();
            look();
        }

        #seen(error, stats, isBig) {
            const previous = this.#previous ?? nothing(isBig);
            const hasChanged = error ? this.#failed !== true
                : this.#failed === true || (this.#failed === false && !isSame(previous, stats));
            this.#failed = !!error;
            this.#previous = error ? previous : stats;
            if (hasChanged)
                this.emit('change', stats, previous);
        }

        ref() {
            this.#timer.ref();
            return this;
        }

        unref() {
            this.#timer.unref();
            return this;
        }

        stop() {
            clearInterval(this.#timer);
            this.#timer = undefined;
            host.nextTick(() => this.emit('stop'));
        }
    }

    const isSame = (one, other) => ['ctimeMs', 'mtimeMs', 'birthtimeMs', 'size', 'mode', 'uid', 'gid', 'ino', 'dev']
        .every((name) => one[name] === other[name]);

    function watchFile(path, options, listener) {
        const place = need('path').resolve(String(toPath(path, 'filename')));
        if (typeof options === 'function')
            [options, listener] = [undefined, options];
        validateFunction(listener, 'listener');
        let watcher = statWatchers.get(place);
        if (watcher === undefined) {
            watcher = new StatWatcher(place, { interval: 5007, persistent: true, bigint: false, ...options });
            statWatchers.set(place, watcher);
        }
        watcher.addListener('change', listener);
        return watcher;
    }

    function unwatchFile(path, listener) {
        const place = need('path').resolve(String(toPath(path, 'filename')));
        const watcher = statWatchers.get(place);
        if (watcher === undefined)
            return;
        if (typeof listener === 'function')
            watcher.removeListener('change', listener);
        else
            watcher.removeAllListeners('change');
        if (watcher.listenerCount('change') === 0) {
            watcher.stop();
            statWatchers.delete(place);
        }
    }

    return { Watching, watch, watchIterator, watchFile, unwatchFile, LOST };
})
