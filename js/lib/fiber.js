// SPDX-License-Identifier: MIT
// js/lib/fiber.js - functions on fibers of their own.
// host: go(fn, ...arguments), goStart(name, stack, isBackground, fn, ...arguments) -> [promise, handle], goCancel(handle),
//       sleep(milliseconds), isFiber(), gateNew(), gateWait(gate, milliseconds, kind, surely), gateOpen(gate)
(function (host, need) {
    'use strict';
    const { abortable } = need('abortable');
    const { settlement, settled } = need('channel');
    const sleep = (milliseconds, options) => abortable(options?.signal, () => host.sleep(milliseconds));
    const isFiber = () => host.isFiber();
    const childrenOfScope = 8; // as in js/gate.c
    const leastStack = 256 * 1024, mostStack = 1024 ** 3;
    const go = (fn, ...values) => host.go(fn, ...values);

    // As go, with a name, bytes of stack, in the background, and cancelled with the signal: then whatever it waits for, now or
    // later, is an error.
    go.with = (options, fn, ...values) => {
        const { signal, name = fn?.name, stack = 0, background = false } = options;
        if (!(stack === 0 || (Number.isInteger(stack) && stack >= leastStack && stack <= mostStack)))
            throw new RangeError(`stack must be a whole number of bytes, from ${leastStack} to ${mostStack}`);
        const { isAbortSignal, addAlgorithm, removeAlgorithm } = need('abort');
        if (signal !== undefined && !isAbortSignal(signal))
            throw new TypeError('The signal must be an AbortSignal');
        if (signal?.aborted)
            return Promise.reject(signal.reason);
        const [promise, handle] = host.goStart(String(name ?? ''), stack, Boolean(background), fn, ...values);
        if (signal === undefined)
            return promise;
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
        return settled(settlement(promise).recv());
    }

    // On a fiber: until the promise is settled, also when the fiber is cancelled.
    function waitSurely(promise) {
        const gate = host.gateNew();
        const open = () => host.gateOpen(gate);
        promise.then(open, open);
        host.gateWait(gate, -1, childrenOfScope, true);
    }

    return { go, sleep, isFiber, wait, waitSurely };
})
