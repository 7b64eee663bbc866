// SPDX-License-Identifier: MIT
// js/lib/https.js - node:https, as far as it can be without TLS: it loads, for packages that ask for it and mostly use node:http.
(function (host, need) {
    'use strict';
    const { nodeError } = need('node_error');
    const { Agent: PlainAgent } = need('http_agent');

    function absent(what) {
        return nodeError(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', `weft has no TLS: ${what} is not there`);
    }

    class Agent extends PlainAgent {
        constructor(options) {
            super(options);
            this.defaultPort = 443;
            this.protocol = 'https:';
        }
    }

    const refuse = (what) => () => {
        throw absent(what);
    };
    return {
        Agent, globalAgent: new Agent({ keepAlive: true }), Server: refuse('https.Server'), createServer: refuse('https.createServer'),
        request: refuse('https.request'), get: refuse('https.get'),
    };
})
