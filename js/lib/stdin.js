// SPDX-License-Identifier: MIT
// js/lib/stdin.js - process.stdin: a socket of Node over descriptor 0, whatever that is.
// host: isTTY(fd)
(function (host, need) {
    'use strict';

    function open() {
        const { Socket } = need('socket');
        const stdin = new Socket({ fd: 0, readable: true, writable: false, manualStart: true });
        stdin.fd = 0;
        if (host.isTTY(0))
            stdin.isTTY = true;
        // Nothing is read while it is paused, and nothing keeps the program running.
        stdin.on('pause', () => stdin._handle?.unref());
        stdin.on('resume', () => stdin._handle?.ref());
        return stdin;
    }

    return { open };
})
