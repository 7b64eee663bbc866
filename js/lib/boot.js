// SPDX-License-Identifier: MIT
// js/lib/boot.js - what every script finds: globals, most of them made when they are first touched.
// host: setHook(number, fn), isLoaded(library)
(function (host, need) {
    'use strict';
    const hooks = { timer: 0, uncaught: 1, rejections: 2, handled: 3, quiet: 4, exit: 5, resolve: 6, load: 7 };

    const UNSETTLED = 13;

    // A global that is an export of a library; it is loaded with the first look at it.
    function later(name, library, enumerable) {
        Object.defineProperty(globalThis, name, {
            configurable: true,
            enumerable,
            get() {
                const value = need(library)[name];
                set(name, value, enumerable);
                return value;
            },
            set(value) {
                set(name, value, enumerable);
            },
        });
    }

    function set(name, value, enumerable = false) {
        Object.defineProperty(globalThis, name, { configurable: true, enumerable, writable: true, value });
    }

    if (!Array.fromAsync)
        need('complete');
    host.queueMicrotask = globalThis.queueMicrotask; // the engine's

    // By library: functions, which are enumerable, and classes, which are not.
    const functions = {
        timers: ['setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval', 'clearImmediate',
            'queueMicrotask'],
        base64: ['atob', 'btoa'], clone: ['structuredClone'], performance: ['performance'], crypto: ['crypto'],
        fetch: ['fetch'], navigator: ['navigator', 'reportError'],
    };
    const classes = {
        console: ['console'], process: ['process'], buffer: ['Buffer'], dom_exception: ['DOMException'],
        event_target: ['Event', 'EventTarget', 'CustomEvent', 'MessageEvent', 'ErrorEvent', 'CloseEvent', 'ProgressEvent'],
        message: ['MessageChannel', 'MessagePort', 'BroadcastChannel'],
        abort: ['AbortController', 'AbortSignal'], encoding: ['TextEncoder', 'TextDecoder'], crypto: ['Crypto'],
        crypto_subtle: ['SubtleCrypto'], navigator: ['Navigator'],
        url: ['URL', 'URLSearchParams'],
        performance: ['Performance', 'PerformanceEntry', 'PerformanceMark', 'PerformanceMeasure'],
        streams: ['ReadableStream', 'ReadableStreamDefaultReader', 'ReadableStreamBYOBReader',
            'ReadableStreamDefaultController', 'ReadableByteStreamController', 'ReadableStreamBYOBRequest', 'WritableStream',
            'WritableStreamDefaultWriter', 'WritableStreamDefaultController', 'TransformStream',
            'TransformStreamDefaultController', 'CountQueuingStrategy', 'ByteLengthQueuingStrategy', 'TextEncoderStream',
            'TextDecoderStream', 'CompressionStream', 'DecompressionStream'],
        blob: ['Blob', 'File'], form_data: ['FormData'], headers: ['Headers'], request: ['Request'], response: ['Response'],
    };
    for (const [table, enumerable] of [[functions, true], [classes, false]])
        for (const library in table)
            for (const name of table[library])
                later(name, library, enumerable);
    set('global', globalThis);

    host.started = host.now();
    host.fetch = (request) => need('transport').send(request);
    host.reportError = (error) => need('process').reportError(error);
    host.setTimeoutUnref = (fn, delay) => need('timers').setTimeout(fn, Math.min(delay, 2 ** 31 - 1)).unref();

    host.setHook(hooks.timer, (owner) => need('timers').fire(owner));
    host.setHook(hooks.uncaught, (error) => need('process').uncaught(error));
    host.setHook(hooks.rejections, (list) => need('process').rejected(list));
    host.setHook(hooks.handled, (promise) => need('process').handled(promise));
    // A script that never looked at its process has nothing to be told.
    const isWatched = () => host.isLoaded('process');
    host.setHook(hooks.quiet, () => isWatched() && need('process').quiet());
    host.setHook(hooks.exit, (code) => {
        if (isWatched())
            return need('process').exiting(code);
        if (code === UNSETTLED)
            need('report').unsettled();
        return code;
    });
    host.setHook(hooks.resolve, (name, base) => need('module').resolveImport(name, base));
    host.setHook(hooks.load, (name, attributes) => need('module').loadImport(name, attributes));
    return {};
})
