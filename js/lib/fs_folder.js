// SPDX-License-Identifier: MIT
// js/lib/fs_folder.js - node:fs on whole folders: opendir and Dir, and cp.
// host: nextTick(fn); see fs_plans.js
//
// cp is written once, as a generator that yields what is to be done and is given what came of it; it is carried out at once or
// step by step.
(function (host, need) {
    'use strict';
    const { files, plans, systemError } = need('fs_plans');
    const { runNow, runForPromise, checkCallback } = need('fs_run');
    const { toPath, toOptions, toFlag, toName, isOwnEncoding, toSmallMode } = need('fs_arguments');
    const { Dirent } = need('fs_stats');
    const { nodeError, invalidArgType, validateInteger, validateFunction } = need('node_error');
    const { dirname, join, resolve, isAbsolute, parse, sep } = need('path');

    // ---- Dir ----

    const token = {};

    // All entries are known when it is opened.
    class Dir {
        #path;
        #entries;
        #isClosed = false;

        constructor(given, path, entries) {
            if (given !== token)
                throw nodeError(TypeError, 'ERR_MISSING_ARGS', 'The "handle" argument must be specified');
            this.#path = path;
            this.#entries = entries;
        }

        get path() {
            return this.#path;
        }

        #check() {
            if (this.#isClosed)
                throw nodeError(Error, 'ERR_DIR_CLOSED', 'Directory handle was closed');
        }

        readSync() {
            this.#check();
            return this.#entries.shift() ?? null;
        }

        read(callback) {
            this.#check();
            const entry = this.#entries.shift() ?? null;
            if (callback === undefined)
                return Promise.resolve(entry);
            checkCallback(callback);
            host.nextTick(() => callback(null, entry));
            return undefined;
        }

        closeSync() {
            this.#check();
            this.#isClosed = true;
        }

        close(callback) {
            if (callback === undefined) {
                return new Promise((done) => {
                    this.closeSync();
                    done();
                });
            }
            checkCallback(callback);
            this.closeSync();
            host.nextTick(() => callback(null));
            return undefined;
        }

        async * entries() {
            try {
                for (let entry; (entry = this.readSync()) !== null;)
                    yield entry;
            } finally {
                if (!this.#isClosed)
                    this.closeSync();
            }
        }

        [Symbol.asyncIterator]() {
            return this.entries();
        }
    }

    function openPlan(path, options) {
        const place = toPath(path);
        const { encoding = 'utf8', bufferSize = 32, recursive } = toOptions(options, { encoding: 'utf8' });
        validateInteger(bufferSize, 'options.bufferSize', 1, 4294967295);
        const name = toName(encoding) ?? ((text) => text);
        const home = (folder) => (folder === '' ? place : join(String(place), folder));
        return [files.list, [place, toFlag(recursive, 'options.recursive') ? 1 : 0, 1, isOwnEncoding(encoding) ? 1 : 0, 1],
            ([names, kinds, homes]) => new Dir(token, place,
                names.map((entry, i) => new Dirent(name(entry), kinds[i], home(homes[i]))))];
    }

    const opendirSync = (path, options) => runNow(openPlan(path, options));
    const openFolder = (path, options) => runForPromise(openPlan(path, options));
    function opendir(path, options, callback) {
        const tell = checkCallback(typeof options === 'function' ? options : callback);
        need('fs_run').runForCallback(openPlan(path, options), tell);
    }

    // ---- cp ----

    const failure = (code, text, name, errno) => (message, path) =>
        systemError(code, text, { syscall: 'cp', path, message, name, errno });
    const failures = {
        isFolder: failure('ERR_FS_EISDIR', 'Path is a directory', 'EISDIR', 21),
        isWrong: failure('ERR_FS_CP_EINVAL', 'Invalid src or dest', 'EINVAL', 22),
        isThere: failure('ERR_FS_CP_EEXIST', 'Target already exists', 'EEXIST', 17),
        folderOverFile: failure('ERR_FS_CP_DIR_TO_NON_DIR', 'Cannot overwrite non-directory with directory', 'EISDIR', 21),
        fileOverFolder: failure('ERR_FS_CP_NON_DIR_TO_DIR', 'Cannot overwrite directory with non-directory', 'ENOTDIR', 20),
        isSocket: failure('ERR_FS_CP_SOCKET', 'Cannot copy a socket file', 'EINVAL', 22),
        isFIFO: failure('ERR_FS_CP_FIFO_PIPE', 'Cannot copy a FIFO pipe', 'EINVAL', 22),
        isUnknown: failure('ERR_FS_CP_UNKNOWN', 'Cannot copy an unknown file type', 'EINVAL', 22),
        linkToInside: failure('ERR_FS_CP_SYMLINK_TO_SUBDIRECTORY', 'Cannot overwrite symlink in subdirectory of self', 'EINVAL',
            22),
    };

    function toCopyOptions(options) {
        if (options !== undefined && options !== null && typeof options !== 'object')
            throw invalidArgType('options', 'Object', options);
        const given = { force: true, ...options };
        for (const name of ['dereference', 'errorOnExist', 'force', 'preserveTimestamps', 'recursive', 'verbatimSymlinks'])
            given[name] = toFlag(given[name], `options.${name}`);
        given.mode = toSmallMode(given.mode);
        if (given.filter !== undefined)
            validateFunction(given.filter, 'options.filter');
        return given;
    }

    const isSame = (one, other) => one.ino === other.ino && one.dev === other.dev;
    function isInside(outer, inner) {
        const parts = resolve(inner).split(sep).filter(Boolean);
        return resolve(outer).split(sep).filter(Boolean).every((part, i) => parts[i] === part);
    }

    // What is said about a path; undefined: it is not there.
    function* look(path, follows) {
        try {
            return yield plans[follows ? 'stat' : 'lstat'](path, { bigint: true });
        } catch (error) {
            if (error.code === 'ENOENT')
                return undefined;
            throw error;
        }
    }

    function* check(from, to, options) {
        const source = yield plans[options.dereference ? 'stat' : 'lstat'](from, { bigint: true });
        const target = yield* look(to, options.dereference);
        if (target && isSame(source, target))
            throw failures.isWrong('src and dest cannot be the same', to);
        if (target && source.isDirectory() && !target.isDirectory())
            throw failures.folderOverFile(`cannot overwrite non-directory ${to} with directory ${from}`, to);
        if (target && !source.isDirectory() && target.isDirectory())
            throw failures.fileOverFolder(`cannot overwrite directory ${to} with non-directory ${from}`, to);
        if (source.isDirectory() && isInside(from, to))
            throw failures.isWrong(`cannot copy ${from} to a subdirectory of self ${to}`, to);
        return [source, target];
    }

    // A folder above the target that is the source itself, by another name.
    function* checkAbove(source, from, to) {
        for (let above = resolve(dirname(to)); above !== resolve(dirname(from)) && above !== parse(above).root;
            above = dirname(above)) {
            const found = yield* look(above, true);
            if (!found)
                return;
            if (isSame(source, found))
                throw failures.isWrong(`cannot copy ${from} to a subdirectory of self ${to}`, to);
        }
    }

    function* copyFile(source, target, from, to, options) {
        if (target) {
            if (!options.force) {
                if (options.errorOnExist)
                    throw failures.isThere(`${to} already exists`, to);
                return;
            }
            yield plans.unlink(to);
        }
        yield plans.copyFile(from, to, options.mode);
        if (options.preserveTimestamps) {
            const { atime, mtime } = yield plans.stat(from);
            yield plans.utimes(to, atime, mtime);
        }
    }

    function* copyFolder(source, target, from, to, options) {
        if (!options.recursive)
            throw failures.isFolder(`${from} is a directory (not copied)`, from);
        if (!target)
            yield plans.mkdir(to);
        for (const name of yield plans.readdir(from))
            yield* copyEntry(join(from, name), join(to, name), options);
        if (!target)
            yield plans.chmod(to, Number(source.mode));
    }

    function* copyEntry(from, to, options) {
        if (options.filter && !(yield options.filter(from, to)))
            return;
        const [source, target] = yield* check(from, to, options);
        yield* copyAny(source, target, from, to, options);
    }

    function* linkTarget(path, options) {
        const text = yield plans.readlink(path);
        return options.verbatimSymlinks || isAbsolute(text) ? text : resolve(dirname(path), text);
    }

    function* copyLink(source, target, from, to, options) {
        const leadsTo = yield* linkTarget(from, options);
        if (target) {
            let before;
            try {
                before = yield* linkTarget(to, { verbatimSymlinks: false });
            } catch (error) {
                if (error.code !== 'EINVAL')
                    throw error;
            }
            if (before !== undefined && isInside(leadsTo, before))
                throw failures.isWrong(`cannot copy ${leadsTo} to a subdirectory of self ${before}`, to);
            const there = before === undefined ? undefined : yield* look(from, true);
            if (there?.isDirectory() && isInside(before, leadsTo))
                throw failures.linkToInside(`cannot overwrite ${before} with ${leadsTo}`, to);
            yield plans.unlink(to);
        }
        yield plans.symlink(leadsTo, to);
    }

    function copyAny(source, target, from, to, options) {
        if (source.isDirectory())
            return copyFolder(source, target, from, to, options);
        if (source.isFile() || source.isCharacterDevice() || source.isBlockDevice())
            return copyFile(source, target, from, to, options);
        if (source.isSymbolicLink())
            return copyLink(source, target, from, to, options);
        throw source.isSocket() ? failures.isSocket(`cannot copy a socket file: ${to}`, to)
            : source.isFIFO() ? failures.isFIFO(`cannot copy a FIFO pipe: ${to}`, to)
                : failures.isUnknown(`cannot copy an unknown file type: ${to}`, to);
    }

    function* copySteps(from, to, options) {
        if (options.filter && !(yield options.filter(from, to)))
            return;
        const [source, target] = yield* check(from, to, options);
        yield* checkAbove(source, from, to);
        yield plans.mkdir(dirname(to), { recursive: true });
        yield* copyAny(source, target, from, to, options);
    }

    // A step is a plan, or what a filter has said.
    function cpSync(from, to, options) {
        const steps = copySteps(toPath(from, 'src'), toPath(to, 'dest'), toCopyOptions(options));
        for (let step = steps.next(); !step.done;) {
            let result;
            try {
                result = Array.isArray(step.value) ? runNow(step.value) : step.value;
            } catch (error) {
                step = steps.throw(error);
                continue;
            }
            if (typeof result?.then === 'function')
                throw nodeError(TypeError, 'ERR_INVALID_RETURN_VALUE',
                    'Expected boolean to be returned from the "filter" function but got an instance of Promise.');
            step = steps.next(result);
        }
    }

    async function cpLater(from, to, options) {
        const steps = copySteps(toPath(from, 'src'), toPath(to, 'dest'), toCopyOptions(options));
        for (let step = steps.next(); !step.done;) {
            let result;
            try {
                result = await (Array.isArray(step.value) ? runForPromise(step.value) : step.value);
            } catch (error) {
                step = steps.throw(error);
                continue;
            }
            step = steps.next(result);
        }
    }

    function cp(from, to, options, callback) {
        const tell = checkCallback(typeof options === 'function' ? options : callback);
        const given = toCopyOptions(typeof options === 'function' ? undefined : options);
        cpLater(toPath(from, 'src'), toPath(to, 'dest'), given).then(() => host.nextTick(() => tell(null)),
            (error) => host.nextTick(() => tell(error)));
    }

    return { Dir, opendir, opendirSync, openFolder, cp, cpSync, cpLater };
})
