// SPDX-License-Identifier: MIT
// js/lib/fs.js - node:fs: the synchronous functions and those with callbacks; promises, streams and watching are loaded with the
// first look at them.
// host: nextTick(fn)
(function (host, need) {
    'use strict';
    const { files, plans } = need('fs_plans');
    const { runNow, runForCallback, checkCallback, splitCallback } = need('fs_run');
    const { toDescriptor, toPath, checkViews, asBytes, readArguments, writeArguments, toPosition } = need('fs_arguments');
    const { constants, Stats, Dirent } = need('fs_stats');
    const { Buffer } = need('buffer');
    const NOW = 0;
    const fs = {};

    // A function with the name that programs see.
    const named = (name, fn) => Object.defineProperty(fn, 'name', { value: name, configurable: true });

    for (const name of Object.keys(plans)) {
        if (name === 'realpathNative')
            continue;
        fs[`${name}Sync`] = named(`${name}Sync`, (...values) => runNow(plans[name](...values)));
        fs[name] = named(name, (...values) => {
            const [given, callback] = splitCallback(values);
            runForCallback(plans[name](...given), callback);
        });
    }
    fs.realpathSync.native = (path, options) => runNow(plans.realpathNative(path, options));
    fs.realpath.native = (...values) => {
        const [given, callback] = splitCallback(values);
        runForCallback(plans.realpathNative(...given), callback);
    };

    // ---- What is not there ----

    // Without an error for what is not there, if that was asked for.
    function statNow(plan, options) {
        try {
            return runNow(plan);
        } catch (error) {
            if (options?.throwIfNoEntry === false && error.code === 'ENOENT')
                return undefined;
            throw error;
        }
    }
    fs.statSync = (path, options) => statNow(plans.stat(path, options), options);
    fs.lstatSync = (path, options) => statNow(plans.lstat(path, options), options);

    fs.existsSync = (path) => {
        let place;
        try {
            place = toPath(path);
        } catch {
            return false;
        }
        return files.exists(NOW, place);
    };
    fs.exists = (path, callback) => {
        checkCallback(callback);
        try {
            files.exists((error, isThere) => callback(!error && isThere), toPath(path));
        } catch {
            callback(false);
        }
    };
    const promisify = Symbol.for('nodejs.util.promisify.custom');
    Object.defineProperty(fs.exists, promisify, { value: (path) => new Promise((resolve) => { fs.exists(path, resolve); }) });

    // Nobody has to know whether it could be closed.
    fs.close = (fd, callback) => runForCallback(plans.close(fd), callback === undefined ? (error) => {
        if (error)
            throw error;
    } : checkCallback(callback));

    // ---- Reading and writing ----

    function readSync(fd, buffer, ...place) {
        return files.read(NOW, toDescriptor(fd), ...readArguments(buffer, ...place));
    }

    // read(fd, [buffer or options, [offset or options, [length, position]]], callback)
    function read(fd, ...values) {
        let [given, callback] = splitCallback([fd, ...values]);
        toDescriptor(fd);
        let [, buffer, ...place] = given;
        if (!ArrayBuffer.isView(buffer) && (buffer === undefined || (buffer !== null && typeof buffer === 'object'))) {
            place = [buffer ?? {}];
            buffer = buffer?.buffer ?? Buffer.alloc(16384);
        }
        const [view, position] = readArguments(buffer, ...place);
        if (view.length === 0)
            host.nextTick(() => callback(null, 0, buffer));
        else
            files.read((error, count) => callback(error, count ?? 0, buffer), fd, view, position);
    }

    function writeSync(fd, value, ...place) {
        return files.write(NOW, toDescriptor(fd), ...writeArguments(value, ...place));
    }

    function write(fd, value, ...rest) {
        const [[, , ...place], callback] = splitCallback([fd, value, ...rest]);
        const [data, position] = writeArguments(value, ...place);
        files.write((error, count) => callback(error, count ?? 0, value), toDescriptor(fd), data, position);
    }

    // Bytes that were read at once go to their places.
    function scatter(views, bytes, count) {
        let at = 0;
        for (const view of views) {
            const piece = bytes.subarray(at, Math.min(count, at + view.byteLength));
            asBytes(view).set(piece);
            at += piece.length;
        }
    }
    const total = (views) => views.reduce((sum, view) => sum + view.byteLength, 0);
    const gather = (views) => (views.length === 1 ? asBytes(views[0]) : Buffer.concat(views.map(asBytes)));

    function readvSync(fd, views, position) {
        toDescriptor(fd);
        checkViews(views);
        const bytes = new Uint8Array(total(views));
        const count = files.read(NOW, fd, bytes, toPosition(position));
        scatter(views, bytes, count);
        return count;
    }

    function readv(fd, views, position, callback) {
        if (typeof position === 'function')
            [position, callback] = [null, position];
        toDescriptor(fd);
        checkViews(views);
        checkCallback(callback);
        const bytes = new Uint8Array(total(views));
        files.read((error, count) => {
            if (!error)
                scatter(views, bytes, count);
            callback(error, count ?? 0, views);
        }, fd, bytes, toPosition(position));
    }

    function writevSync(fd, views, position) {
        toDescriptor(fd);
        checkViews(views);
        return views.length === 0 ? 0 : files.write(NOW, fd, gather(views), typeof position === 'number' ? position : -1);
    }

    function writev(fd, views, position, callback) {
        if (typeof position === 'function')
            [position, callback] = [null, position];
        toDescriptor(fd);
        checkViews(views);
        checkCallback(callback);
        if (views.length === 0)
            host.nextTick(() => callback(null, 0, views));
        else
            files.write((error, count) => callback(error, count ?? 0, views), fd, gather(views),
                typeof position === 'number' ? position : -1);
    }

    Object.assign(fs, { read, readSync, write, writeSync, readv, readvSync, writev, writevSync });

    // What util.promisify makes of them.
    function promised(fn, names) {
        Object.defineProperty(fn, promisify, {
            value: (...values) => new Promise((resolve, reject) => {
                fn(...values, (error, ...results) => (error ? reject(error)
                    : resolve(Object.fromEntries(names.map((name, i) => [name, results[i]])))));
            }),
        });
    }
    promised(read, ['bytesRead', 'buffer']);
    promised(write, ['bytesWritten', 'buffer']);
    promised(readv, ['bytesRead', 'buffers']);
    promised(writev, ['bytesWritten', 'buffers']);

    // ---- More than one step ----

    // From [library, names]: made when they are first used.
    function later(library, names) {
        for (const name of names) {
            Object.defineProperty(fs, name, {
                configurable: true,
                enumerable: true,
                get() {
                    const value = need(library)[name];
                    Object.defineProperty(fs, name, { value, configurable: true, enumerable: true, writable: true });
                    return value;
                },
                set(value) {
                    Object.defineProperty(fs, name, { value, configurable: true, enumerable: true, writable: true });
                },
            });
        }
    }
    later('fs_streams', ['createReadStream', 'createWriteStream', 'ReadStream', 'WriteStream', 'FileReadStream',
        'FileWriteStream']);
    later('fs_watch', ['watch', 'watchFile', 'unwatchFile']);
    later('fs_folder', ['Dir', 'opendir', 'opendirSync', 'cp', 'cpSync']);
    later('fs_promises', ['promises']);

    const { F_OK, R_OK, W_OK, X_OK } = constants;
    return Object.assign(fs, { constants, F_OK, R_OK, W_OK, X_OK, Stats, Dirent });
})
