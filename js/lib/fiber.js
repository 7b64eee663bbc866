// SPDX-License-Identifier: MIT
// js/lib/fiber.js - functions on fibers of their own.
// host: go(fn, ...arguments), goStart(fn, ...arguments), goCancel(handle), sleep(milliseconds), isFiber()
(function (host, need) {
    'use strict';
    const { abortable } = need('abortable');
    const { settlement } = need('channel');
    const sleep = (milliseconds, options) => abortable(options?.signal, () => host.sleep(milliseconds));
    const isFiber = () => host.isFiber();
    const go = (fn, ...values) => host.go(fn, ...values);

    // As go, and cancelled with the signal: then whatever it waits for, now or later, is an error.
    go.with = (options, fn, ...values) => {
        const { signal } = options;
        if (signal === undefined)
            return host.go(fn, ...values);
        if (signal.aborted)
            return Promise.reject(signal.reason);
        const { addAlgorithm, removeAlgorithm } = need('abort');
        const [promise, handle] = host.goStart(fn, ...values);
        const cancel = () => host.goCancel(handle);
        addAlgorithm(signal, cancel);
        return promise.finally(() => removeAlgorithm(signal, cancel)).catch((error) => {
            throw signal.aborted && error?.code === 'ECANCELED' ? signal.reason : error;
        });
    };

    // What a promise becomes: on a fiber it is waited for, elsewhere it is the promise itself.
    function wait(promise) {
        if (!isFiber())
            return Promise.resolve(promise);
        const [isGood, value] = settlement(promise).recv();
        if (isGood)
            return value;
        throw value;
    }

    return { go, sleep, isFiber, wait };
})
