// SPDX-License-Identifier: MIT
// js/lib/http_agent.js - Agent of node:http: whose connections a request uses. weft's client keeps them; an agent is one of those.
// host: clientNew(numbers), clientCloseIdle(client)
(function (host, need) {
    'use strict';
    const { EventEmitter } = need('events');
    const FOREVER = 24 * 3600 * 1000;
    const MOST = 2 ** 31;

    class Agent extends EventEmitter {
        #client;

        constructor(options) {
            super();
            this.options = { path: null, ...options };
            this.defaultPort = 80;
            this.protocol = 'http:';
            this.requests = { __proto__: null };
            this.sockets = { __proto__: null };
            this.freeSockets = { __proto__: null };
            this.keepAliveMsecs = this.options.keepAliveMsecs ?? 1000;
            this.keepAlive = this.options.keepAlive ?? false;
            this.maxSockets = this.options.maxSockets ?? Infinity;
            this.maxFreeSockets = this.options.maxFreeSockets ?? 256;
            this.maxTotalSockets = this.options.maxTotalSockets ?? Infinity;
            this.scheduling = this.options.scheduling ?? 'lifo';
        }

        // What the transport wants, made with the first request.
        get _client() {
            return this.#client ??= host.clientNew([Math.min(this.maxSockets, MOST), Math.min(this.maxTotalSockets, MOST),
                this.options.timeout ?? 0, FOREVER, FOREVER, FOREVER, 1]);
        }

        getName(options = {}) {
            const { host: name = 'localhost', port = '', localAddress = '', family, socketPath } = options;
            let text = `${name}:${port}:${localAddress}`;
            if (family === 4 || family === 6)
                text += `:${family}`;
            return socketPath ? `${text}:${socketPath}` : text;
        }

        // Connections that nobody uses; those of requests end with them.
        destroy() {
            if (this.#client)
                host.clientCloseIdle(this.#client);
        }
    }

    return { Agent, globalAgent: new Agent({ keepAlive: true, scheduling: 'lifo', timeout: 5000 }) };
})
