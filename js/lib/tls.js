// SPDX-License-Identifier: MIT
// js/lib/tls.js - node:tls, as far as it can be without TLS: it loads, and says so.
(function (host, need) {
    'use strict';
    const { nodeError } = need('node_error');
    const { Socket, Server } = need('node_net');

    function refuse(what) {
        return () => {
            throw nodeError(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', `weft has no TLS: tls.${what} is not there`);
        };
    }

    class TLSSocket extends Socket {
        constructor() {
            refuse('TLSSocket')();
            super();
        }
    }

    return {
        TLSSocket, Server: class extends Server {}, connect: refuse('connect'), createServer: refuse('createServer'),
        createSecureContext: refuse('createSecureContext'), rootCertificates: Object.freeze([]), DEFAULT_MIN_VERSION: 'TLSv1.2',
        DEFAULT_MAX_VERSION: 'TLSv1.3', getCiphers: () => [],
    };
})
