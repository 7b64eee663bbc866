// SPDX-License-Identifier: MIT
// js/lib/fs_watch.js - news of files as node:fs tells them: watch, watchFile.
// host: nextTick(fn), whenPending(fn), waitKeep(handle, keeps), surround(value); see fs_plans.js
(function (host, need) {
    'use strict';
    const { files, plans } = need('fs_plans');
    const { toPath, toOptions, toFlag } = need('fs_arguments');
    const { Watching } = need('file_watch');
    const { whenDone } = need('abortable');
    const { Buffer } = need('buffer');
    const { makeStats } = need('fs_stats');
    const { EventEmitter } = need('events');
    const { AsyncLocalStorage } = need('async_hooks');
    const { invalidArgType, invalidArgValue, validateFunction, validateInteger, abortError, nodeError } = need('node_error');
    const { basename } = need('path');
    const NOW = 0, WAIT = 1;
    // What is asked for: all but that a file was closed.
    const WATCHED = 1 | 2 | 4 | 8 | 16 | 64 | 128 | 256;
    const WRITTEN = 16, CHANGED = 64, ENDED = 65536;
    const ALL_OF_THEM = 0; // the id of news that were lost

    // ---- watch ----

    const kindOf = (what) => (what & (WRITTEN | CHANGED) ? 'change' : 'rename');

    function encoded(name, encoding) {
        if (!encoding || encoding === 'utf8' || encoding === 'utf-8')
            return name;
        const bytes = Buffer.from(name);
        return encoding === 'buffer' ? bytes : bytes.toString(encoding);
    }

    // The kernel gives 128 sources of news to a user, so that all watchers here have one. A path that several of them watch has one
    // id, and its news are told to each of them in a callback of its own, in the surroundings in which it was made.
    class Source {
        #handle; // while there is a watcher
        #wait;
        #keeping = 0; // how many keep the program running
        #watchings = new Map(); // -> { take(error, news), keeps }
        #places = new Map(); // id -> those that watch it

        add(path, watching) {
            this.#handle ??= files.watch(NOW);
            const id = files.watchAdd(NOW, this.#handle, path, WATCHED);
            if (!this.#places.has(id))
                this.#places.set(id, new Set());
            this.#places.get(id).add(watching);
            return id;
        }

        enter(watching, take) {
            this.#watchings.set(watching, { take: AsyncLocalStorage.bind(take), keeps: false });
            if (this.#wait === undefined)
                this.#next();
        }

        keep(watching, keeps) {
            const entry = this.#watchings.get(watching);
            if (entry === undefined || entry.keeps === keeps)
                return;
            entry.keeps = keeps;
            this.#keeping += keeps ? 1 : -1;
            if (this.#wait !== undefined)
                host.waitKeep(this.#wait, this.#keeping > 0);
        }

        leave(watching, ids) {
            for (const id of ids) {
                const those = this.#places.get(id);
                if (!those?.delete(watching) || those.size > 0)
                    continue;
                this.#places.delete(id);
                this.#removed(id);
            }
            this.keep(watching, false);
            this.#watchings.delete(watching);
            if (this.#watchings.size > 0)
                return;
            const handle = this.#handle;
            this.#handle = this.#wait = undefined;
            this.#places.clear();
            if (handle !== undefined)
                files.close(NOW, handle);
        }

        #removed(id) {
            try {
                files.watchRemove(NOW, this.#handle, id);
            } catch (error) {
                if (error.code !== 'EINVAL') // it is gone, and nobody has been told yet
                    throw error;
            }
        }

        #next() {
            const handle = this.#handle;
            const outer = host.surround(undefined);
            try {
                this.#wait = whenDone(() => files.watchNext(WAIT, handle), (error, news) => {
                    if (handle !== this.#handle)
                        return;
                    this.#wait = undefined;
                    this.#tell(error, news);
                    if (!error)
                        this.#next();
                }, this.#keeping === 0);
            } finally {
                host.surround(outer);
            }
        }

        #tell(error, news) {
            const [id, what] = news ?? [ALL_OF_THEM];
            const told = id === ALL_OF_THEM ? this.#watchings.keys() : this.#places.get(id) ?? [];
            for (const watching of told)
                host.whenPending(() => this.#watchings.get(watching)?.take(error, news));
            if (what & ENDED)
                this.#places.delete(id);
        }
    }
    const source = new Source();

    class FSWatcher extends EventEmitter {
        #watching;

        constructor(path, { recursive, persistent, encoding }) {
            super();
            const own = basename(String(path));
            try {
                this.#watching = new Watching(path, recursive, source);
                source.enter(this.#watching, (error, news) => this.#tell(error, news, own, encoding));
            } catch (error) {
                this.#watching?.close();
                const { errno, syscall, code } = error;
                throw Object.assign(new Error(error.message), { errno, syscall, code, path, filename: path });
            }
            source.keep(this.#watching, !!persistent);
        }

        #tell(error, news, own, encoding) {
            let changes;
            try {
                if (error)
                    throw error;
                changes = this.#watching.take(news);
            } catch (failure) {
                this.emit('error', failure);
                return;
            }
            for (const [what, name] of changes)
                if (this.#watching.isOpen)
                    this.emit('change', kindOf(what), encoded(name === '' ? own : name, encoding));
        }

        close() {
            if (this.#watching.close())
                host.nextTick(() => this.emit('close'));
        }

        ref() {
            source.keep(this.#watching, true);
            return this;
        }

        unref() {
            source.keep(this.#watching, false);
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

    return { watch, watchIterator, watchFile, unwatchFile };
})
