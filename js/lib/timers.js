// SPDX-License-Identifier: MIT
// js/lib/timers.js - setTimeout and its kin, as Node has them.
// host: startTimer(owner, milliseconds, repeats), startImmediate(owner), stopTimer(handle), keepTimer(handle, keeps),
//       refreshTimer(handle), surroundings(), surround(value)
(function (host, need) {
    'use strict';
    const most = 2 ** 31 - 1;
    const promisified = Symbol.for('nodejs.util.promisify.custom');
    const known = new Map(); // by number: what toPrimitive has handed out
    let count = 0;

    function checkFunction(fn) {
        if (typeof fn !== 'function')
            throw need('errors').invalidArgument('callback', 'function', fn);
    }

    function delayOf(delay) {
        const number = delay * 1;
        if (number >= 1 && number <= most)
            return Math.trunc(number);
        if (number > most)
            need('process').process.emitWarning(
                `${number} does not fit into a 32-bit signed integer.\nTimeout duration was set to 1.`,
                'TimeoutOverflowWarning');
        return 1;
    }

    class Timeout {
        #handle;
        #keeps = true;
        #number = 0;

        constructor(fn, delay, args, repeats) {
            this._idleTimeout = delay;
            this._onTimeout = fn;
            this._timerArgs = args;
            this._repeat = repeats ? delay : null;
            this._destroyed = false;
            Object.defineProperty(this, '_timerArgs', { enumerable: false });
            this.#start();
        }

        #start() {
            this.#handle = host.startTimer(this, this._idleTimeout, this._repeat !== null);
            if (!this.#keeps)
                host.keepTimer(this.#handle, false);
        }

        static fire(timeout) {
            const repeats = timeout._repeat !== null;
            const fn = timeout._onTimeout;
            if (!repeats)
                timeout._destroyed = true;
            try {
                fn.apply(timeout, timeout._timerArgs);
            } finally {
                if (!repeats && timeout._destroyed)
                    timeout.#forget();
            }
        }

        #forget() {
            if (this.#number)
                known.delete(this.#number);
        }

        ref() {
            this.#keeps = true;
            host.keepTimer(this.#handle, true);
            return this;
        }

        unref() {
            this.#keeps = false;
            host.keepTimer(this.#handle, false);
            return this;
        }

        hasRef() {
            return this.#keeps;
        }

        refresh() {
            if (this._onTimeout && !host.refreshTimer(this.#handle)) {
                this._destroyed = false;
                this.#start();
            }
            return this;
        }

        close() {
            clearTimeout(this);
            return this;
        }

        static stop(timeout) {
            host.stopTimer(timeout.#handle);
            timeout._destroyed = true;
            timeout._onTimeout = null;
            timeout.#forget();
        }

        static is(value) {
            return typeof value === 'object' && value !== null && #handle in value;
        }

        [Symbol.toPrimitive]() {
            if (!this.#number) {
                this.#number = ++count;
                known.set(this.#number, this);
            }
            return this.#number;
        }

        [Symbol.dispose]() {
            clearTimeout(this);
        }
    }

    class Immediate {
        #handle;
        #keeps = true;

        constructor(fn, args) {
            this._onImmediate = fn;
            this._argv = args;
            this._destroyed = false;
            this.#handle = host.startImmediate(this);
        }

        static fire(immediate) {
            const fn = immediate._onImmediate;
            immediate._destroyed = true;
            immediate._onImmediate = null;
            fn.apply(immediate, immediate._argv ?? []);
        }

        static stop(immediate) {
            host.stopTimer(immediate.#handle);
            immediate._destroyed = true;
            immediate._onImmediate = null;
        }

        static is(value) {
            return typeof value === 'object' && value !== null && #handle in value;
        }

        ref() {
            this.#keeps = true;
            host.keepTimer(this.#handle, true);
            return this;
        }

        unref() {
            this.#keeps = false;
            host.keepTimer(this.#handle, false);
            return this;
        }

        hasRef() {
            return this.#keeps;
        }

        [Symbol.dispose]() {
            clearImmediate(this);
        }
    }

    function fire(owner) {
        if (Timeout.is(owner))
            Timeout.fire(owner);
        else if (Immediate.is(owner))
            Immediate.fire(owner);
        else
            owner.fire(); // one of ours
    }

    const { queueMicrotask: queue } = host;
    function queueMicrotask(callback) {
        checkFunction(callback);
        const surroundings = host.surroundings();
        queue(surroundings === undefined ? callback : () => {
            const outer = host.surround(surroundings);
            try {
                callback();
            } finally {
                host.surround(outer);
            }
        });
    }

    function setTimeout(callback, delay, ...args) {
        checkFunction(callback);
        return new Timeout(callback, delayOf(delay), args, false);
    }

    function setInterval(callback, delay, ...args) {
        checkFunction(callback);
        return new Timeout(callback, delayOf(delay), args, true);
    }

    function setImmediate(callback, ...args) {
        checkFunction(callback);
        return new Immediate(callback, args);
    }

    function clearTimeout(timer) {
        if (typeof timer === 'number' || typeof timer === 'string')
            timer = known.get(Number(timer));
        if (Timeout.is(timer))
            Timeout.stop(timer);
    }

    function clearInterval(timer) {
        clearTimeout(timer);
    }

    function clearImmediate(immediate) {
        if (Immediate.is(immediate))
            Immediate.stop(immediate);
    }

    // ---- timers/promises ----

    function checkOptions(options) {
        const { validateObject, validateAbortSignal, validateBoolean } = need('node_error');
        validateObject(options, 'options');
        validateAbortSignal(options.signal, 'options.signal');
        if (options.ref !== undefined)
            validateBoolean(options.ref, 'options.ref');
    }

    const abortError = (signal) => need('node_error').abortError(signal);

    // start(fn) begins it and returns it, and how to stop it.
    function waitFor(start, value, options = {}) {
        try {
            checkOptions(options);
        } catch (error) {
            return Promise.reject(error);
        }
        const { signal, ref = true } = options;
        if (signal?.aborted)
            return Promise.reject(abortError(signal));
        return new Promise((resolve, reject) => {
            const [handle, stop] = start(() => {
                signal?.removeEventListener('abort', onAbort);
                resolve(value);
            });
            function onAbort() {
                stop(handle);
                reject(abortError(signal));
            }
            if (!ref)
                handle.unref();
            signal?.addEventListener('abort', onAbort, { once: true });
        });
    }

    // Rounds that come while the body is busy are counted, and given out afterwards.
    async function* every(delay, value, options = {}) {
        checkOptions(options);
        const { signal, ref = true } = options;
        let due = 0, wake;
        const onAbort = () => wake?.();
        if (signal?.aborted)
            throw abortError(signal);
        const interval = setInterval(() => {
            due++;
            wake?.();
        }, delay);
        if (!ref)
            interval.unref();
        signal?.addEventListener('abort', onAbort, { once: true });
        try {
            for (;;) {
                if (due === 0 && !signal?.aborted)
                    await new Promise((resolve) => { wake = resolve; });
                wake = undefined;
                for (; due > 0; due--)
                    yield value;
                if (signal?.aborted)
                    throw abortError(signal);
            }
        } finally {
            clearInterval(interval);
            signal?.removeEventListener('abort', onAbort);
        }
    }

    const promises = {
        setTimeout: (delay, value, options) => waitFor((fn) => [setTimeout(fn, delay), clearTimeout], value, options),
        setImmediate: (value, options) => waitFor((fn) => [setImmediate(fn), clearImmediate], value, options),
        setInterval: every,
        scheduler: {
            wait: (delay, options) => promises.setTimeout(delay, undefined, options),
            yield: () => promises.setImmediate(),
        },
    };
    Object.defineProperty(setTimeout, promisified, { enumerable: true, get: () => promises.setTimeout });
    Object.defineProperty(setImmediate, promisified, { enumerable: true, get: () => promises.setImmediate });

    return {
        setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate, queueMicrotask,
        promises, fire,
    };
})
