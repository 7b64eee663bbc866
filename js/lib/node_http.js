// SPDX-License-Identifier: MIT
// js/lib/node_http.js - node:http. What a program does not use is not loaded: the client, mostly.
(function (host, need) {
    'use strict';
    const { Server, createServer } = need('http_server');
    const { IncomingMessage } = need('http_incoming');
    const { ServerResponse } = need('http_response');
    const { OutgoingMessage } = need('http_outgoing');
    const { STATUS_CODES, METHODS, validateHeaderName, validateHeaderValue } = need('http_common');

    const exported = {
        METHODS, STATUS_CODES, IncomingMessage, OutgoingMessage, Server, ServerResponse, createServer, validateHeaderName,
        validateHeaderValue, maxHeaderSize: 16 * 1024,
        request: (...values) => need('http_client').request(...values),
        get: (...values) => need('http_client').get(...values),
        setMaxIdleHTTPParsers() {},
    };
    for (const [name, library] of [['Agent', 'http_agent'], ['globalAgent', 'http_agent'], ['ClientRequest', 'http_client']])
        Object.defineProperty(exported, name, {
            configurable: true,
            enumerable: true,
            get: () => need(library)[name],
            set(value) {
                need(library)[name] = value;
            },
        });
    return exported;
})
