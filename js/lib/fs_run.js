// SPDX-License-Identifier: MIT
// js/lib/fs_run.js - plans of node:fs carried out: at once, for a callback, or for a promise.
// host: waitHandle(), nextWait(handle), waitCancel(handle)
(function (host, need) {
    'use strict';
    const { abortError, invalidArgType } = need('node_error');
    const { rmError } = need('fs_plans');
    const NOW = 0, PROMISE = 2;

    function runNow([call, values, convert]) {
        let value;
        try {
            value = call(NOW, ...values);
        } catch (error) {
            throw rmError(error);
        }
        return convert === undefined ? value : convert(value);
    }

    // Begins a call that ends when the signal aborts. over: is to be called when it has ended.
    function beginAbortable(signal, begin) {
        const { addAlgorithm, removeAlgorithm } = need('abort');
        const handle = host.waitHandle();
        const cancel = () => host.waitCancel(handle);
        addAlgorithm(signal, cancel);
        host.nextWait(handle);
        try {
            return begin(() => removeAlgorithm(signal, cancel));
        } finally {
            host.nextWait();
        }
    }

    const toldOf = (signal, error) => (signal?.aborted && error?.code === 'ECANCELED' ? abortError(signal) : rmError(error));

    // What has come is told; what cannot be made of it is an error, too.
    function tell(callback, convert, value) {
        let result;
        try {
            result = convert === undefined ? value : convert(value);
        } catch (error) {
            callback(error ?? new RangeError('out of memory')); // the engine may have none for an error
            return;
        }
        if (result === undefined)
            callback(null);
        else
            callback(null, result);
    }

    function runForCallback([call, values, convert, signal], callback) {
        if (signal?.aborted) {
            host.nextTick(() => callback(abortError(signal)));
            return;
        }
        if (signal) {
            beginAbortable(signal, (over) => call((error, value) => {
                over();
                if (error)
                    callback(toldOf(signal, error));
                else
                    tell(callback, convert, value);
            }, ...values));
        } else if (convert === undefined && call.name !== 'remove') {
            call(callback, ...values);
        } else {
            call((error, value) => (error ? callback(rmError(error)) : tell(callback, convert, value)), ...values);
        }
    }

    async function runForPromise([call, values, convert, signal]) {
        let over;
        try {
            if (signal?.aborted)
                throw abortError(signal);
            const value = await (signal ? beginAbortable(signal, (end) => {
                over = end;
                return call(PROMISE, ...values);
            }) : call(PROMISE, ...values));
            return convert === undefined ? value : convert(value);
        } catch (error) {
            throw toldOf(signal, error);
        } finally {
            over?.();
        }
    }

    function checkCallback(callback) {
        if (typeof callback !== 'function')
            throw invalidArgType('cb', 'function', callback);
        return callback;
    }

    // The arguments before the callback, which is the last of those that are functions.
    function splitCallback(values) {
        const at = values.findLastIndex((value) => typeof value === 'function');
        return at < 0 ? [values, checkCallback(values.length > 1 ? values.at(-1) : undefined)]
            : [values.slice(0, at), values[at]];
    }

    return { runNow, runForCallback, runForPromise, checkCallback, splitCallback };
})
