// SPDX-License-Identifier: MIT
// js/lib/main.js - the first script of an instance.
// host: isPromise(value)
(function (host, need) {
    'use strict';
    const modules = need('module');

    // What a main module throws is an uncaught error at once, and no unhandled rejection.
    function watch(done) {
        done.catch((error) => need('process').fatal(error, 'unhandledRejection'));
        return done;
    }

    function runFile(path) {
        const file = modules.findMain(path);
        if (modules.isModule(file)) {
            return watch(Promise.resolve().then(() => import(modules.toURL(file))));
        }
        modules.require(file);
        return undefined;
    }

    function runText(name, text) {
        const done = modules.runText(text, name);
        return host.isPromise(done) ? watch(done) : done;
    }

    return { runFile, runText };
})
