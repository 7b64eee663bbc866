// SPDX-License-Identifier: MIT
// js/lib/stdin.js - process.stdin: a stream over descriptor 0, by what that is: a file, a terminal, a pipe or a socket.
// host: isTTY(fd); files().stat
(function (host, need) {
    'use strict';

    function isFile() {
        try {
            const [, mode] = host.files().stat(0, '/proc/self/fd/0', 0, 0);
            const kind = mode & 0o170000;
            return kind !== 0o010000 && kind !== 0o140000;
        } catch {
            return false;
        }
    }

    function open() {
        if (!host.isTTY(0) && isFile()) {
            const { ReadStream } = need('fs_streams');
            return new ReadStream(null, { fd: 0, autoClose: false });
        }
        const { Socket } = need('socket');
        const stdin = host.isTTY(0) ? new (need('tty').ReadStream)(0)
            : new Socket({ fd: 0, readable: true, writable: false, manualStart: true });
        stdin.fd = 0;
        // Nothing is read while it is paused, and nothing keeps the program running.
        stdin.on('pause', () => stdin._handle?.unref());
        stdin.on('resume', () => stdin._handle?.ref());
        return stdin;
    }

    return { open };
})
