// SPDX-License-Identifier: MIT
// js/lib/http.js - weft:http: servers in the shape of fetch, and in that of Node whose handlers may be fibers.
(function (host, need) {
    'use strict';
    const { Server, createServer } = need('http_server');
    const { IncomingMessage } = need('http_incoming');
    const { ServerResponse } = need('http_response');
    const { STATUS_CODES, METHODS } = need('http_common');
    const serve = (options, handler) => need('http_serve').serve(options, handler);
    const eventStream = (source, init) => need('http_serve').eventStream(source, init);

    const exported = { serve, eventStream, createServer, Server, IncomingMessage, ServerResponse, STATUS_CODES, METHODS };
    return { ...exported, default: exported };
})
