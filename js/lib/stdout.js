// SPDX-License-Identifier: MIT
// js/lib/stdout.js - process.stdout and process.stderr: streams that write at once, as Node's do for files, pipes and terminals.
// host: write(fd, data) -> 0 or a negative error, isTTY(fd), windowSize(fd), nextTick(fn), systemError(number); files().stat
//
// They are never destroyed: an error is told, and the next write is tried again.
(function (host, need) {
    'use strict';
    const { Writable } = need('stream_writable');
    const { Buffer } = need('buffer');

    // 'tty', 'fs' or 'pipe'.
    function typeOf(fd) {
        if (host.isTTY(fd))
            return 'tty';
        try {
            const [, mode] = host.files().stat(0, `/proc/self/fd/${fd}`, 0, 0);
            const kind = mode & 0o170000;
            return kind === 0o010000 || kind === 0o140000 ? 'pipe' : 'fs';
        } catch {
            return 'fs';
        }
    }

    function errorOf(number, type) {
        const [code, text] = host.systemError(number);
        const message = type === 'fs' ? `${code}: ${text}, write` : `write ${code}`;
        return Object.assign(new Error(message), { errno: number, code, syscall: 'write' });
    }

    const isUTF8 = (encoding) => encoding === undefined || encoding === null || encoding === 'utf8' || encoding === 'utf-8'
        || typeof encoding === 'function';

    class Output extends Writable {
        constructor(fd) {
            super({ decodeStrings: false, emitClose: false });
            this.fd = fd;
            this._type = typeOf(fd);
            this._isStdio = true;
        }

        _write(chunk, encoding, callback) {
            const data = typeof chunk === 'string' && encoding !== 'utf8' && encoding !== 'utf-8' ? Buffer.from(chunk, encoding)
                : chunk;
            const error = host.write(this.fd, data);
            callback(error < 0 ? errorOf(error, this._type) : null);
        }

        // What is only text has no need of the way through the stream: it is over at once.
        write(chunk, encoding, callback) {
            const state = this._writableState;
            if (typeof chunk !== 'string' || !isUTF8(encoding) || state.ending || state.destroyed || state.corked || state.writing
                || host.write(this.fd, chunk) < 0)
                return super.write(chunk, encoding, callback);
            const done = typeof encoding === 'function' ? encoding : callback;
            if (typeof done === 'function')
                host.nextTick(() => done(null));
            return true;
        }

        _destroy(error, callback) {
            callback(error);
            this._undestroy();
            if (!this._writableState.emitClose)
                host.nextTick(() => this.emit('close'));
        }

        destroySoon() {
            this.destroy();
        }
    }

    const open = (fd) => (host.isTTY(fd) ? new (need('tty').WriteStream)(fd) : new Output(fd));

    return { Output, open };
})
