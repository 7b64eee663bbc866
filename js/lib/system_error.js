// SPDX-License-Identifier: MIT
// js/lib/system_error.js - errors of the system as Node's sockets and children have them.
// host: systemError(number) -> [code, text]
(function (host) {
    'use strict';

    const codeOf = (number) => host.systemError(number)[0];

    // "spawn ENOENT"
    function errnoException(number, syscall, more) {
        const code = codeOf(number);
        return Object.assign(new Error(`${syscall} ${code}`), { errno: number, code, syscall }, more);
    }

    const place = (address, port) => (port > 0 ? `${address}:${port}` : address);

    // "connect ECONNREFUSED 127.0.0.1:80"
    function withHostPort(number, syscall, address, port, local = '') {
        const code = codeOf(number);
        const error = new Error(`${syscall} ${code} ${place(address, port)}${local && ` - Local (${local})`}`);
        return Object.assign(error, { errno: number, code, syscall, address }, port ? { port } : {});
    }

    // "listen EADDRINUSE: address already in use 127.0.0.1:80"
    function uvWithHostPort(number, syscall, address, port) {
        const [code, text] = host.systemError(number);
        const error = new Error(`${syscall} ${code}: ${text} ${place(address, port)}`);
        Object.assign(error, { code, errno: number, syscall, address });
        return port ? Object.assign(error, { port }) : error;
    }

    return { codeOf, errnoException, withHostPort, uvWithHostPort };
})
