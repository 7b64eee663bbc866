// SPDX-License-Identifier: MIT
// js/lib/abortable.js - waits of the host that end when a signal aborts, and those that call a function when they have ended.
// host: waitHandle(), nextWait(handle), waitCancel(handle), waitKeep(handle, keeps), isFiber()
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

    // Begins a wait by operation(); done(error, value) is called when it has ended, as a callback of the loop and not as a job:
    // so are Node's callbacks of I/O. A quiet one does not keep the program running. The result is for waitCancel and waitKeep.
    function whenDone(operation, done, isQuiet = false) {
        const handle = host.waitHandle();
        handle.done = done;
        host.nextWait(handle);
        try {
            operation();
        } finally {
            host.nextWait();
        }
        if (isQuiet)
            host.waitKeep(handle, false);
        return handle;
    }

    // A promise of what operation() waits for, also on a fiber.
    function later(operation) {
        return new Promise((resolve, reject) => {
            let value;
            whenDone(() => { value = operation(); }, (error, result) => (error ? reject(error) : resolve(result)));
            if (value !== undefined) // it was there at once
                resolve(value);
        });
    }

    const UNLIMITED = -1;

    // Milliseconds out of { timeout }.
    function timeLimit(options) {
        const limit = options?.timeout;
        if (limit === undefined)
            return UNLIMITED;
        if (!(limit >= 0))
            throw new RangeError('timeout must be a number of milliseconds');
        return limit;
    }

    // A wait with the signal and the timeout of a call's options.
    function within(options, operation) {
        const limit = timeLimit(options);
        return abortable(options?.signal, () => operation(limit));
    }

    // What a wait becomes: good(value), or instead of its error what bad(error) returns is thrown.
    function mapped(operation, good, bad) {
        const fail = (error) => { throw bad ? bad(error) : error; };
        let result;
        try {
            result = operation();
        } catch (error) {
            fail(error);
        }
        return result instanceof Promise ? result.then(good, fail) : good(result);
    }

    // Several waits after one another, for fibers and for others: a generator that yields what each call has returned, and goes
    // on with its result. The result of the whole, or elsewhere than on a fiber a promise of it.
    function drive(steps) {
        if (!host.isFiber())
            return driveLater(steps);
        let step = steps.next();
        while (!step.done)
            step = steps.next(step.value);
        return step.value;
    }

    async function driveLater(steps) {
        let step = steps.next();
        while (!step.done) {
            let value;
            try {
                value = await step.value;
            } catch (error) {
                step = steps.throw(error);
                continue;
            }
            step = steps.next(value);
        }
        return step.value;
    }

    return { abortable, whenDone, later, timeLimit, UNLIMITED, within, mapped, drive };
})
