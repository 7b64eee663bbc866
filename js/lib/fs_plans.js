// SPDX-License-Identifier: MIT
// js/lib/fs_plans.js - the functions of node:fs before they are synchronous, called back or promised: what is asked of the host.
// host: files() -> functions (way, ...arguments), see js/file.h
//
// A plan is [function of the host, its arguments, what makes the result of its result, a signal that ends it]. It is made of the
// arguments of the function, which are checked for that.
(function (host, need) {
    'use strict';
    const files = host.files();
    const { toPath, isDescriptor, toDescriptor, toPathOrDescriptor, toFlags, toMode, toSmallMode, toOwner, toOptions, toFlag,
        asBuffer, toData, isOwnEncoding, toName, toSeconds } = need('fs_arguments');
    const { makeStats, StatFs, Dirent } = need('fs_stats');
    const { nodeError, invalidArgType, validateInteger } = need('node_error');

    const statsOf = (isBig) => (numbers) => makeStats(numbers, isBig);

    function stat(target, isLink, options) {
        const isBig = !!options?.bigint;
        return [files.stat, [target, isLink ? 1 : 0, isBig ? 1 : 0], statsOf(isBig)];
    }

    // ---- Whole files ----

    function textOf(encoding) {
        return (bytes) => {
            const buffer = asBuffer(bytes);
            return encoding ? buffer.toString(encoding) : buffer;
        };
    }

    function readWhole(target, options) {
        const { flag, encoding, signal } = toOptions(options, { flag: 'r' });
        const isText = encoding === 'utf8' || encoding === 'utf-8';
        return [files.readAll, [target, toFlags(flag), isText ? 1 : 0], isText ? undefined : textOf(encoding),
            signal];
    }

    function writeWhole(target, data, options, flag) {
        const given = toOptions(options, { encoding: 'utf8', mode: 0o666, flag, flush: false });
        const flags = toFlags(given.flag || flag);
        return [files.writeAll, [target, toData(data, given.encoding || 'utf8'), flags, toMode(given.mode, 'mode', 0o666),
            toFlag(given.flush, 'options.flush') ? 1 : 0], undefined, given.signal];
    }

    // ---- Folders ----

    const ALL = 1, FOLLOWS = 2, LAST_FIRST = 4;

    function entriesOf(path, encoding) {
        const name = toName(encoding) ?? ((text) => text);
        const { join } = need('path');
        return ([names, kinds, homes]) => names.map((entry, i) => new Dirent(name(entry), kinds[i],
            homes[i] === '' ? path : join(String(path), homes[i])));
    }

    // Promises go into the folder that was found last, the others into the first one.
    function readdir(path, options, isPromise = false) {
        const { encoding, withFileTypes, recursive } = toOptions(options);
        const place = toPath(path);
        const isDeep = toFlag(recursive, 'options.recursive');
        const how = (isDeep ? ALL : 0) | (withFileTypes ? 0 : FOLLOWS) | (isPromise ? LAST_FIRST : 0);
        const name = toName(encoding);
        return [files.list, [place, how, withFileTypes ? 1 : 0, isOwnEncoding(encoding) ? 1 : 0],
            withFileTypes ? entriesOf(place, encoding) : ([names]) => (name ? names.map(name) : names)];
    }

    function mkdir(path, options) {
        const given = typeof options === 'number' || typeof options === 'string' ? { mode: options } : options ?? {};
        const isDeep = toFlag(given.recursive, 'options.recursive');
        const made = isDeep ? undefined : () => undefined;
        return [files.mkdir, [toPath(path), toMode(given.mode, 'mode', 0o777), isDeep ? 1 : 0], made];
    }

    class SystemError extends Error {}
    Object.defineProperty(SystemError.prototype, 'name', { value: 'SystemError', configurable: true, writable: true });

    // An error of several words, as rm and cp have them.
    function systemError(code, text, { syscall, path, message, name, errno }) {
        const error = nodeError(SystemError, code, `${text}: ${syscall} returned ${name} (${message}) ${path}`);
        const info = { code: name, message, path, syscall, errno };
        return Object.assign(error, { info, errno, syscall, path });
    }

    function rm(path, options) {
        const given = options ?? {};
        if (typeof given !== 'object')
            throw invalidArgType('options', 'object', given);
        const place = toPath(path);
        const isForced = toFlag(given.force, 'options.force');
        const isDeep = toFlag(given.recursive, 'options.recursive');
        for (const name of ['retryDelay', 'maxRetries'])
            if (given[name] !== undefined)
                validateInteger(given[name], `options.${name}`, 0, name === 'retryDelay' ? 2147483647 : 4294967295);
        return [files.remove, [place, isDeep ? 1 : 0, isForced ? 1 : 0]];
    }

    // rm of a folder, which was not asked for, has an error of its own.
    function rmError(error) {
        if (error?.code !== 'EISDIR' || error.syscall !== 'rm')
            return error;
        return systemError('ERR_FS_EISDIR', 'Path is a directory',
            { syscall: 'rm', path: error.path, message: 'is a directory', name: 'EISDIR', errno: 21 });
    }

    // ---- All of them ----

    function checkLinkType(type) {
        if (type !== undefined && type !== null && !['dir', 'file', 'junction'].includes(type))
            throw nodeError(Error, 'ERR_FS_INVALID_SYMLINK_TYPE',
                `Symlink type must be one of "dir", "file", or "junction". Received "${type}"`);
    }

    function toLength(length) {
        validateInteger(length, 'len');
        return Math.max(0, length);
    }

    function nameOf(encoding) {
        return [isOwnEncoding(encoding) ? 1 : 0, toName(encoding)];
    }

    function named(call, path, options, ...more) {
        const [isBytes, name] = nameOf(toOptions(options).encoding);
        return [call, [path, isBytes, ...more], name];
    }

    const plans = {
        access: (path, mode) => [files.access, [toPath(path), toSmallMode(mode)]],
        open: (path, flags, mode) => {
            const place = toPath(path), permissions = toMode(mode, 'mode', 0o666);
            return [files.open, [place, toFlags(flags ?? 'r'), permissions, 1]];
        },
        close: (fd) => [files.close, [toDescriptor(fd)]],
        fsync: (fd) => [files.sync, [toDescriptor(fd)]],
        fdatasync: (fd) => [files.syncData, [toDescriptor(fd)]],
        stat: (path, options) => stat(toPath(path), false, options),
        lstat: (path, options) => stat(toPath(path), true, options),
        fstat: (fd, options) => stat(toDescriptor(fd), false, options),
        statfs: (path, options) => [files.statSystem, [toPath(path), options?.bigint ? 1 : 0], (numbers) => new StatFs(numbers)],
        truncate: (path, length = 0) => [files.truncate, [toPath(path), toLength(length ?? 0)]],
        ftruncate: (fd, length = 0) => [files.truncate, [toDescriptor(fd), toLength(length ?? 0)]],
        chmod: (path, mode) => [files.chmod, [toPath(path), toMode(mode, 'mode')]],
        fchmod: (fd, mode) => [files.chmod, [toDescriptor(fd), toMode(mode, 'mode')]],
        chown: (path, uid, gid) => [files.chown, [toPath(path), toOwner(uid, 'uid'), toOwner(gid, 'gid'), 0]],
        lchown: (path, uid, gid) => [files.chown, [toPath(path), toOwner(uid, 'uid'), toOwner(gid, 'gid'), 1]],
        fchown: (fd, uid, gid) => [files.chown, [toDescriptor(fd), toOwner(uid, 'uid'), toOwner(gid, 'gid'), 0]],
        utimes: (path, atime, mtime) => [files.times, [toPath(path), toSeconds(atime), toSeconds(mtime), 0]],
        lutimes: (path, atime, mtime) => [files.times, [toPath(path), toSeconds(atime), toSeconds(mtime), 1]],
        futimes: (fd, atime, mtime) => [files.times, [toDescriptor(fd), toSeconds(atime), toSeconds(mtime), 0]],
        rename: (from, to) => [files.rename, [toPath(from, 'oldPath'), toPath(to, 'newPath')]],
        link: (from, to) => [files.link, [toPath(from, 'existingPath'), toPath(to, 'newPath')]],
        symlink: (target, path, type) => {
            checkLinkType(type);
            return [files.symlink, [toPath(target, 'target'), toPath(path)]];
        },
        readlink: (path, options) => named(files.readlink, toPath(path), options),
        realpath: (path, options) => {
            const place = toPath(path);
            return named(files.realpath, need('path').resolve(typeof place === 'string' ? place : asBuffer(place).toString()),
                options, 1);
        },
        realpathNative: (path, options) => named(files.realpath, toPath(path), options, 0),
        mkdtemp: (prefix, options) => named(files.mkdtemp, toPath(prefix, 'prefix'), options),
        unlink: (path) => [files.unlink, [toPath(path)]],
        copyFile: (from, to, mode) => [files.copy, [toPath(from, 'src'), toPath(to, 'dest'), toSmallMode(mode)]],
        rmdir: (path, options) => (options?.recursive ? rm(path, { recursive: true }) : [files.rmdir, [toPath(path)]]),
        mkdir, readdir, rm,
        readFile: (path, options) => readWhole(toPathOrDescriptor(path), options),
        writeFile: (path, data, options) => writeWhole(toPathOrDescriptor(path), data, options, 'w'),
        appendFile: (path, data, options) => writeWhole(toPathOrDescriptor(path), data, options, 'a'),
    };

    return { files, plans, stat, readWhole, writeWhole, rmError, systemError, isDescriptor };
})
