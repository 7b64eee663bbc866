// SPDX-License-Identifier: MIT
// js/lib/spawn.js - other instances of the engine, each on a worker of its own: spawn of weft:parallel.
// host: spawnStart(order, transfers, name, memory, stack, milliseconds, argument) -> [promise of [outcome, code, value], handle],
//       spawnTerminate(handle), spawnKeep(handle, keeps), functionInfo(fn)
(function (host, need) {
    'use strict';
    const { withCode } = need('errors');
    const STACK = 4 << 20, LEAST_STACK = 256 << 10; // bytes
    const outcomes = ['good', 'failed', 'exited', 'unsettled', 'terminated', 'late', 'no memory', 'not started'];

    // ---- What is sent ----

    // A function goes as its text: what it uses of its surroundings does not come with it.
    function orderOfFunction(fn) {
        const info = host.functionInfo(fn);
        if (info === undefined)
            throw new TypeError(`${fn.name || 'The function'} cannot be sent: it is not written in JavaScript, or is bound`);
        const [isStrict, names] = info;
        if (names.length > 0)
            throw new TypeError(`${fn.name || 'The function'} cannot be sent: it uses ${names.join(', ')} of its surroundings. `
                + 'Another instance has only its arguments and globals');
        const file = fn.fileName;
        return {
            text: Function.prototype.toString.call(fn), isStrict, line: fn.lineNumber ?? 1,
            file: file?.startsWith('/') ? need('module').toURL(file) : file ?? 'spawn',
        };
    }

    // A module is found as by import, from the current folder.
    function orderOfModule(name) {
        const { resolveImport, toURL } = need('module');
        return { url: resolveImport(`${name}`, toURL(`${host.cwd()}/`)) };
    }

    function orderOf(what) {
        if (typeof what === 'function')
            return orderOfFunction(what);
        if (typeof what === 'string' || what instanceof URL)
            return orderOfModule(what);
        throw new TypeError('spawn needs a function, or the name of a module');
    }

    function toAmount(options, name, least = 0) {
        const value = options[name];
        if (value === undefined)
            return 0;
        if (!(Number.isFinite(value) && value > 0))
            throw new RangeError(`${name} must be a number above 0`);
        return Math.max(value, least);
    }

    // ---- What comes back ----

    class InstanceError extends Error {
        constructor(message, code, exitCode) {
            super(message);
            this.code = code;
            if (exitCode !== undefined)
                this.exitCode = exitCode;
        }
    }
    Object.defineProperty(InstanceError.prototype, 'name', { configurable: true, writable: true, value: 'InstanceError' });

    function rebuilt([error, extras]) {
        for (const key in extras) {
            if (error[key] === extras[key])
                continue;
            const enumerable = key !== 'name';
            Object.defineProperty(error, key, { value: extras[key], enumerable, configurable: true, writable: true });
        }
        return error;
    }

    const domError = (message, name) => new (need('dom_exception').DOMException)(message, name);

    function failure(outcome, code, value, options) {
        switch (outcome) {
        case 'failed':
            return rebuilt(value);
        case 'exited':
            return new InstanceError(`The instance has ended with exit code ${code}`, 'ERR_INSTANCE_EXIT', code);
        case 'unsettled':
            return new InstanceError('The instance has ended, but its function waits for something that never comes',
                'ERR_INSTANCE_UNSETTLED', code);
        case 'no memory':
            return new InstanceError('The instance has run out of memory', 'ERR_INSTANCE_MEMORY');
        case 'late':
            return domError(`The instance had ${options.timeLimit} ms, which are over`, 'TimeoutError');
        default:
            return need('system_error').errnoException(code, 'spawn');
        }
    }

    let exitCodeOf;

    // Another instance. It is a thenable: what it comes to is what its function returns, once nothing of it runs any more.
    class Instance {
        #handle;
        #result;
        #reason;
        #name;
        #exitCode; // when it is over

        static {
            exitCodeOf = (instance) => instance.#exitCode;
        }

        constructor(options, order, values) {
            const { signal } = options;
            this.#name = `${options.name ?? order.name ?? ''}`;
            if (signal?.aborted) {
                this.#result = Promise.reject(signal.reason);
                return;
            }
            const memory = toAmount(options, 'memory'), stack = toAmount(options, 'stack', LEAST_STACK) || STACK;
            const limit = toAmount(options, 'timeLimit');
            const { toTransferList, checkTransfers } = need('clone');
            const list = checkTransfers(toTransferList({ transfer: options.transfer }));
            const env = host.isLoaded('process') ? { ...need('process').process.env } : undefined;
            const [promise, handle] = host.spawnStart({ ...order, name: this.#name, stack, values, env }, list,
                this.#name || 'instance', memory, stack, limit, order.url ?? this.#name);
            this.#handle = handle;
            const forget = this.#follow(signal);
            this.#result = promise.then(([outcome, code, value]) => {
                forget?.();
                this.#exitCode = code;
                if (outcomes[outcome] === 'good')
                    return value;
                throw outcomes[outcome] === 'terminated' ? this.#reason : failure(outcomes[outcome], code, value, options);
            });
        }

        #follow(signal) {
            if (signal === undefined)
                return undefined;
            const { addAlgorithm, removeAlgorithm } = need('abort');
            const end = () => this.#end(signal.reason);
            addAlgorithm(signal, end);
            return () => removeAlgorithm(signal, end);
        }

        // The script stays for its end, which is near.
        #end(reason) {
            if (this.#handle !== undefined && host.spawnTerminate(this.#handle))
                this.#reason = reason;
            this.#keep(true);
        }

        get name() {
            return this.#name;
        }

        get result() {
            return this.#result;
        }

        then(fulfilled, rejected) {
            return this.#result.then(fulfilled, rejected);
        }

        catch(rejected) {
            return this.#result.catch(rejected);
        }

        finally(settled) {
            return this.#result.finally(settled);
        }

        // Ends it, whatever it does; the promise is fulfilled when it is over. Who waits for the result gets the reason.
        terminate(reason = domError('The instance was terminated', 'AbortError')) {
            this.#end(reason);
            return this.#result.then(() => {}, () => {});
        }

        ref() {
            this.#keep(true);
            return this;
        }

        // The script does not stay for it.
        unref() {
            this.#keep(false);
            return this;
        }

        #keep(keeps) {
            if (this.#handle !== undefined)
                host.spawnKeep(this.#handle, keeps);
        }
    }

    function spawnWith(options, what, ...values) {
        if (typeof options !== 'object' || options === null)
            throw new TypeError('The options of spawn must be an object');
        const { signal } = options;
        if (signal !== undefined && !need('abort').isAbortSignal(signal))
            throw new TypeError('The signal must be an AbortSignal');
        const order = orderOf(what);
        order.name = typeof what === 'function' ? what.name : need('path').basename(`${what}`);
        return new Instance(options, order, values);
    }

    const spawn = (what, ...values) => spawnWith({}, what, ...values);
    spawn.with = spawnWith;

    return { STACK, exitCodeOf: (instance) => exitCodeOf(instance), spawn, Instance, InstanceError, orderOf, rebuilt };
})
