// SPDX-License-Identifier: MIT
// js/lib/weft_fs.js - weft:fs: files and folders. On a fiber, what waits returns its result; elsewhere it returns a promise, so
// `await` is never wrong. What waits takes { signal }.
// host: see fs_plans.js; cwd()
(function (host, need) {
    'use strict';
    const { files } = need('fs_plans');
    const { toPath, toFlags, toMode, toSeconds } = need('fs_arguments');
    const { makeStats, StatFs, Dirent } = need('fs_stats');
    const { abortable, mapped, drive } = need('abortable');
    const { File, fileOf, bytesOf, placeOf, iterated } = need('file');
    const WAIT = 1, ALL = 1;

    const call = (options, fn, ...values) => abortable(options?.signal, () => fn(WAIT, ...values));
    const flag = (value) => (value ? 1 : 0);

    // ---- Open files ----

    function open(path, flags = 'r', options = undefined) {
        if (flags !== null && typeof flags === 'object')
            [flags, options] = ['r', flags];
        return mapped(() => call(options, files.open, toPath(path), toFlags(flags), toMode(options?.mode, 'mode', 0o666), 0),
            fileOf);
    }

    // ---- Whole files ----

    const readFile = (path, options) => call(options, files.readAll, toPath(path), 0, 0);
    const readText = (path, options) => call(options, files.readAll, toPath(path), 0, 1);

    // What comes by pieces: arrays of them, iterations, streams.
    const isPieces = (data) => data !== null && typeof data === 'object' && !ArrayBuffer.isView(data)
        && (typeof data[Symbol.asyncIterator] === 'function' || typeof data[Symbol.iterator] === 'function');

    function* writePieces(path, flags, pieces, options) {
        const { wait } = need('fiber');
        const file = yield open(path, flags, options);
        try {
            if (typeof pieces[Symbol.asyncIterator] !== 'function') {
                for (const piece of pieces)
                    yield file.write(piece, options);
            } else {
                const iterator = pieces[Symbol.asyncIterator]();
                for (let step; !(step = yield wait(iterator.next())).done;)
                    yield file.write(step.value, options);
            }
            if (options?.sync)
                yield file.sync();
        } finally {
            yield file.close();
        }
    }

    // { append, exclusive, atomic, sync, mode }. atomic: whoever opens it finds the old bytes or the new ones, also after
    // a crash.
    function writeFile(path, data, options) {
        const place = toPath(path);
        const flags = (options?.append ? 'a' : 'w') + (options?.exclusive ? 'x' : '');
        if (data instanceof Blob)
            data = data.stream();
        if (isPieces(data)) {
            if (options?.atomic)
                throw new TypeError('What comes by pieces cannot be written at once');
            return drive(writePieces(place, flags, data, options));
        }
        const bytes = bytesOf(data);
        if (!options?.atomic)
            return call(options, files.writeAll, place, bytes, toFlags(flags), toMode(options?.mode, 'mode', 0o666),
                flag(options?.sync));
        if (options.append || options.exclusive)
            throw new TypeError('atomic replaces a file: neither append nor exclusive go with it');
        return call(options, files.replace, place, bytes, toMode(options.mode, 'mode', 0));
    }

    const appendFile = (path, data, options) => writeFile(path, data, { ...options, append: true });

    // ---- What is said about files ----

    function statWith(path, isLink, options) {
        const isBig = !!options?.bigint;
        return mapped(() => call(options, files.stat, toPath(path), flag(isLink), flag(isBig)),
            (numbers) => makeStats(numbers, isBig));
    }

    const stat = (path, options) => statWith(path, false, options);
    const lstat = (path, options) => statWith(path, true, options);
    const statfs = (path, options) => mapped(() => call(options, files.statSystem, toPath(path), flag(options?.bigint)),
        (numbers) => new StatFs(numbers));
    const exists = (path, options) => call(options, files.exists, toPath(path));

    const rights = { r: 4, w: 2, x: 1 };
    // Whether this process may read, write or execute it: an error if not. mode is out of 'rwx', or empty: whether it is there.
    function access(path, mode = '', options = undefined) {
        let bits = 0;
        for (const letter of mode) {
            if (!Object.hasOwn(rights, letter))
                throw new TypeError("A mode of access is made of 'r', 'w' and 'x'");
            bits |= rights[letter];
        }
        return call(options, files.access, toPath(path), bits);
    }

    const chmod = (path, mode, options) => call(options, files.chmod, toPath(path), toMode(mode, 'mode'));
    const chown = (path, user, group, options) => call(options, files.chown, toPath(path), user, group, flag(options?.link));
    const utimes = (path, accessed, modified, options) => call(options, files.times, toPath(path), toSeconds(accessed),
        toSeconds(modified), flag(options?.link));
    const truncate = (path, size = 0, options = undefined) => call(options, files.truncate, toPath(path),
        placeOf(size, 'A size'));

    // ---- Names ----

    const rename = (from, to, options) => call(options, files.rename, toPath(from, 'from'), toPath(to, 'to'));
    const copyFile = (from, to, options) => call(options, files.copy, toPath(from, 'from'), toPath(to, 'to'),
        flag(options?.exclusive));
    const symlink = (target, path, options) => call(options, files.symlink, toPath(target, 'target'), toPath(path));
    const link = (path, also, options) => call(options, files.link, toPath(path), toPath(also, 'also'));
    const readlink = (path, options) => call(options, files.readlink, toPath(path), 0);
    const realpath = (path, options) => call(options, files.realpath, toPath(path), 0, 0);

    // ---- Folders ----

    // Names; with { entries: true } they tell what they are; { recursive: true }: of all folders below, too.
    function readdir(path, options) {
        const place = toPath(path);
        const { join } = need('path');
        const home = (folder) => (folder === '' ? place : join(String(place), folder));
        return mapped(() => call(options, files.list, place, options?.recursive ? ALL : 0, flag(options?.entries), 0, 0),
            ([names, kinds, homes]) => (options?.entries
                ? names.map((name, i) => new Dirent(name, kinds[i], home(homes[i]))) : names));
    }

    // With { recursive: true } those above it too; then the result is the first that was made, if any.
    const mkdir = (path, options) => mapped(() => call(options, files.mkdir, toPath(path), toMode(options?.mode, 'mode', 0o777),
        flag(options?.recursive)), (made) => (options?.recursive ? made : undefined));

    const rm = (path, options) => call(options, files.remove, toPath(path), flag(options?.recursive), flag(options?.force));

    // A new folder, whose name begins so.
    function mkdtemp(prefix = undefined, options = undefined) {
        if (prefix !== null && typeof prefix === 'object' && !(prefix instanceof Uint8Array))
            [prefix, options] = [undefined, prefix];
        return call(options, files.mkdtemp, toPath(prefix ?? `${need('os').tmpdir()}/weft-`, 'prefix'), 0);
    }

    // ---- News ----

    const kinds = [[1, 'made'], [2, 'removed'], [4, 'left'], [8, 'came'], [16, 'written'], [32, 'closed'], [64, 'changed'],
        [128, 'gone'], [256, 'moved'], [65536, 'ended'], [131072, 'lost']];

    function changeOf([what, name, isFolder, cookie]) {
        const change = { kind: kinds.find(([bit]) => what & bit)?.[1] ?? 'changed', name, isFolder };
        if (cookie)
            change.cookie = cookie;
        return change;
    }

    // What happens to a file, or in a folder, from now on.
    class Watch {
        #source;
        #watching;
        #options;
        #ready = []; // changes that were told and not asked for yet

        constructor(path, options) {
            this.#options = options;
            const { Watching, Alone } = need('file_watch');
            const place = toPath(path);
            this.#source = new Alone();
            this.#watching = new Watching(place, !!options?.recursive, this.#source);
        }

        // The next change; null when it was closed, or what is watched is gone.
        next(options = this.#options) {
            return drive(this.#steps(options));
        }

        * #steps(options) {
            while (this.#ready.length === 0) {
                if (this.#watching.isOver)
                    return null;
                try {
                    const news = yield call(options, files.watchNext, this.#source.handle);
                    this.#ready.push(...this.#watching.take(news));
                } catch (error) {
                    if (error?.code === 'EBADF' && this.#watching.isOver)
                        return null;
                    throw error;
                }
            }
            return changeOf(this.#ready.shift());
        }

        close() {
            this.#watching.close();
        }

        [Symbol.dispose]() {
            this.close();
        }

        * [Symbol.iterator]() {
            try {
                yield* iterated(() => this.next());
            } finally {
                this.close();
            }
        }

        async * [Symbol.asyncIterator]() {
            try {
                yield* iterated(() => this.next());
            } finally {
                this.close();
            }
        }
    }

    const watch = (path, options) => new Watch(path, options);

    const exported = {
        open, readFile, readText, writeFile, appendFile, stat, lstat, statfs, exists, access, chmod, chown, utimes, truncate,
        rename, copyFile, symlink, link, readlink, realpath, readdir, mkdir, rm, mkdtemp, watch, File,
    };
    return { ...exported, default: exported };
})
