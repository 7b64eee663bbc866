// SPDX-License-Identifier: MIT
// js/lib/fs_watch.js - news of files as node:fs tells them: watch, watchFile.
// host: nextTick(fn), waitKeep(handle, keeps); see fs_plans.js
(function (host, need) {
    'use strict';
    const { files, plans } = need('fs_plans');
    const { toPath, toOptions, toFlag } = need('fs_arguments');
    const { Watching } = need('file_watch');
    const { whenDone } = need('abortable');
    const { Buffer } = need('buffer');
    const { makeStats } = need('fs_stats');
    const { EventEmitter } = need('events');
    const { invalidArgType, invalidArgValue, validateFunction, validateInteger, abortError, nodeError } = need('node_error');
    const { basename } = need('path');
    const WAIT = 1;
    // What is asked for: all but that a file was closed.
    const WATCHED = 1 | 2 | 4 | 8 | 16 | 64 | 128 | 256;
    const WRITTEN = 16, CHANGED = 64;

    // ---- watch ----

    const kindOf = (what) => (what & (WRITTEN | CHANGED) ? 'change' : 'rename');

    function encoded(name, encoding) {
        if (!encoding || encoding === 'utf8' || encoding === 'utf-8')
            return name;
        const bytes = Buffer.from(name);
        return encoding === 'buffer' ? bytes : bytes.toString(encoding);
    }

    class FSWatcher extends EventEmitter {
        #watching;
        #wait;
        #keeps;

        constructor(path, { recursive, persistent, encoding }) {
            super();
            this.#keeps = persistent;
            try {
                this.#watching = new Watching(path, recursive, WATCHED);
            } catch (error) {
                const { errno, syscall, code } = error;
                throw Object.assign(new Error(error.message), { errno, syscall, code, path, filename: path });
            }
            const own = basename(String(path));
            this.#next((what, name) => this.emit('change', kindOf(what), encoded(name === '' ? own : name, encoding)));
        }

        #next(tell) {
            this.#wait = whenDone(() => files.watchNext(WAIT, this.#watching.handle), (error, news) => {
                if (this.#watching.handle === undefined)
                    return;
                if (error) {
                    this.emit('error', error);
                    return;
                }
                for (const [what, name] of this.#watching.take(news))
                    if (this.#watching.handle !== undefined)
                        tell(what, name);
                if (this.#watching.handle !== undefined)
                    this.#next(tell);
            }, !this.#keeps);
        }

        close() {
            if (this.#watching.close())
                host.nextTick(() => this.emit('close'));
        }

        ref() {
            this.#keeps = true;
            host.waitKeep(this.#wait, true);
            return this;
        }

        unref() {
            this.#keeps = false;
            host.waitKeep(this.#wait, false);
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
