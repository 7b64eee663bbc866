// SPDX-License-Identifier: MIT
// js/lib/node_http.js - node:http, as far as servers need it.
(function (host, need) {
    'use strict';
    const { createServer, Server, IncomingMessage, ServerResponse, STATUS_CODES } = need('http');
    const METHODS = ['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'TRACE'];
    return { createServer, Server, IncomingMessage, ServerResponse, STATUS_CODES, METHODS };
})
