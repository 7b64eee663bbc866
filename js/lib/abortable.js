// SPDX-License-Identifier: MIT
// js/lib/abortable.js - waits of the host that end when a signal aborts.
// host: waitHandle(), nextWait(handle), waitCancel(handle), isFiber()
(function (host, need) {
    'use strict';

    // Begins a wait by operation(), and returns what that returns: the result on a fiber, a promise elsewhere. When the signal
    // aborts, the wait ends and the signal's reason is thrown. Without a signal it is operation().
    function abortable(signal, operation) {
        if (signal === undefined || signal === null)
            return operation();
        const { isAbortSignal, addAlgorithm, removeAlgorithm } = need('abort');
        if (!isAbortSignal(signal))
            throw new TypeError('The signal must be an AbortSignal');
        if (signal.aborted) {
            if (host.isFiber())
                throw signal.reason;
            return Promise.reject(signal.reason);
        }
        const handle = host.waitHandle();
        const cancel = () => host.waitCancel(handle);
        const failed = (error) => (signal.aborted && error?.code === 'ECANCELED' ? signal.reason : error);
        let isLater = false;
        addAlgorithm(signal, cancel);
        host.nextWait(handle);
        try {
            const result = operation();
            isLater = result instanceof Promise;
            return isLater ? result.then(undefined, (error) => {
                throw failed(error);
            }).finally(() => removeAlgorithm(signal, cancel)) : result;
        } catch (error) {
            throw failed(error);
        } finally {
            host.nextWait();
            if (!isLater)
                removeAlgorithm(signal, cancel);
        }
    }

    // Milliseconds out of { timeout }; -1: without a limit.
    function timeLimit(options) {
        const limit = options?.timeout;
        if (limit === undefined)
            return -1;
        if (!(limit >= 0))
            throw new RangeError('timeout must be a number of milliseconds');
        return limit;
    }

    return { abortable, timeLimit };
})
