#!/usr/bin/env node
// SPDX-License-Identifier: MIT
//
// The servers of bench/weft/http.c by Node: "hello" by its http module, "echo" by net. Prints "ready PORT" and serves until it is
// killed.
"use strict";

const http = require("node:http");
const net = require("node:net");

const HEADERS = { "Content-Type": "text/plain", "Content-Length": 13 };

const servers = {
    hello: () => http.createServer((request, response) => {
        response.writeHead(200, HEADERS);
        response.end("Hello, world!");
    }),
    echo: () => net.createServer({ noDelay: true }, (peer) => {
        peer.on("data", (bytes) => peer.write(bytes));
        peer.on("error", () => peer.destroy());
    }),
};

const make = servers[process.argv[2]];
if (!make) {
    console.error("usage: http.js hello|echo");
    process.exit(2);
}
const server = make();
server.keepAliveTimeout = 0; // none, as with the others
server.listen(0, "127.0.0.1", () => console.log(`ready ${server.address().port}`));
