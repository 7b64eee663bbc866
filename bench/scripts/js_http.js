#!/usr/bin/env node
// SPDX-License-Identifier: MIT
//
// Servers written in JavaScript, the same text for Node and for weft: "hello" answers a short text, "json" answers a small object that
// has to do with the request. Prints "ready PORT" and serves until it is killed.
'use strict';

const http = require('node:http');

const HEADERS = { 'Content-Type': 'text/plain', 'Content-Length': 13 };

const handlers = {
    hello(request, response) {
        response.writeHead(200, HEADERS);
        response.end('Hello, world!');
    },
    json(request, response) {
        const body = JSON.stringify({ message: 'Hello, world!', url: request.url });
        response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) });
        response.end(body);
    },
};

const handler = handlers[process.argv[2]];
if (!handler) {
    console.error('usage: js_http.js hello|json');
    process.exit(2);
}
const server = http.createServer(handler);
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () => console.log(`ready ${server.address().port}`));
