// SPDX-License-Identifier: MIT
// js/lib/node_net.js - node:net.
(function (host, need) {
    'use strict';
    const { Socket } = need('socket');
    const { Server } = need('socket_server');
    const { normalize, defaults } = need('socket_connect');
    const { isIPv4, isIPv6, family } = need('net_address');

    const createServer = (options, listener) => new Server(options, listener);

    function connect(...args) {
        const [options] = normalize(args);
        const socket = new Socket(options);
        if (options.timeout)
            socket.setTimeout(options.timeout);
        return socket.connect(...args);
    }

    return {
        Socket, Stream: Socket, Server, createServer, connect, createConnection: connect,
        isIP: (input) => family(String(input)), isIPv4: (input) => isIPv4(String(input)),
        isIPv6: (input) => isIPv6(String(input)), ...defaults,
    };
})
