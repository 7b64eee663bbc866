// SPDX-License-Identifier: MIT
// js/lib/fs.js - node:fs as far as it goes: reading whole files, and asking what is there, at once.
// host: readFile(path), fileKind(path), realPath(path)
(function (host, need) {
    'use strict';
    const { invalidArgType } = need('node_error');

    const reasons = {
        ENOENT: 'no such file or directory', EACCES: 'permission denied', EISDIR: 'illegal operation on a directory',
        ENOTDIR: 'not a directory', ELOOP: 'too many symbolic links encountered', ENAMETOOLONG: 'name too long',
        EMFILE: 'too many open files', EPERM: 'operation not permitted',
    };

    function toPath(path) {
        if (typeof path === 'string')
            return path;
        if (path instanceof Uint8Array)
            return need('buffer').Buffer.from(path).toString();
        if (path instanceof URL)
            return need('module').fileURLToPath(path);
        throw invalidArgType('path', ['string', 'Buffer', 'URL'], path);
    }

    // The host's error, with the words of Node.
    function told(error, call, path) {
        const known = Object.hasOwn(reasons, error.code ?? '') ? reasons[error.code] : error.message;
        const syscall = error.code === 'EISDIR' ? 'read' : call;
        const where = error.code === 'EISDIR' ? '' : ` '${path}'`;
        const made = new Error(`${error.code}: ${known}, ${syscall}${where}`);
        return Object.assign(made, { errno: error.errno, code: error.code, syscall }, where ? { path } : {});
    }

    function readFileSync(path, options) {
        const name = toPath(path);
        const encoding = typeof options === 'string' ? options : options?.encoding;
        let bytes;
        try {
            bytes = host.readFile(name);
        } catch (error) {
            throw told(error, 'open', name);
        }
        const buffer = need('buffer').Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        return encoding && encoding !== 'buffer' ? buffer.toString(encoding) : buffer;
    }

    function existsSync(path) {
        try {
            return host.fileKind(toPath(path)) !== undefined;
        } catch {
            return false;
        }
    }

    function realpathSync(path) {
        const name = toPath(path);
        try {
            return host.realPath(name);
        } catch (error) {
            throw told(error, 'lstat', name);
        }
    }
    realpathSync.native = realpathSync;

    class Stats {
        #kind;

        constructor(kind) {
            this.#kind = kind;
        }

        isFile() {
            return this.#kind === 'file';
        }

        isDirectory() {
            return this.#kind === 'folder';
        }
    }

    function statSync(path, options) {
        const name = toPath(path);
        const kind = host.fileKind(name);
        if (kind !== undefined)
            return new Stats(kind);
        if (options?.throwIfNoEntry === false)
            return undefined;
        throw told({ code: 'ENOENT', errno: -2 }, 'stat', name);
    }

    return { readFileSync, existsSync, realpathSync, statSync, Stats };
})
