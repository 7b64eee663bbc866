// SPDX-License-Identifier: MIT
// js/lib/worker_side.js - what runs in an instance that is a Worker of node:worker_threads (js/lib/worker.js).
// host: argumentsOf(), compile(text, name)
(function (host, need) {
    'use strict';
    let own; // port, workerData, threadId

    // The main script of the worker.
    async function serve(setting) {
        own = setting;
        const { url, text, argv, env, news } = setting;
        const modules = need('module');
        const file = url === undefined ? '[worker eval]' : modules.fileURLToPath(url);
        const program = host.argumentsOf()[0];
        host.argumentsOf = () => [program, file, ...argv];
        if (env !== undefined)
            host.environment = () => Object.entries(env).map(([name, value]) => `${name}=${value}`);
        news.postMessage('online');
        news.close();
        if (text !== undefined) {
            globalThis.require = modules.createRequire(`${host.cwd()}/`);
            host.compile(text, file);
        } else if (modules.isModule(modules.findMain(file))) {
            await import(url);
        } else {
            modules.require(file);
        }
    }

    return { serve, own: () => own };
})
