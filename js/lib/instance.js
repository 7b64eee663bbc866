// SPDX-License-Identifier: MIT
// js/lib/instance.js - an instance that another one has started (weft:parallel): its first function, and what its parent is told.
// host: childOrder(), childResult(value, transfers, isError), compile(text, name, line),
//       goStart(name, stack, isBackground, fn, ...arguments)
(function (host, need) {
    'use strict';
    const { withCode } = need('errors');
    const transfers = new WeakMap(); // what goes with a result

    // A function is its text: an expression, or a method, which is one only inside of an object.
    function functionOf({ text, isStrict, file, line }) {
        const directive = isStrict ? "'use strict'; " : '';
        let value;
        try {
            value = host.compile(`${directive}(${text}\n)`, file, line);
        } catch (error) {
            if (!(error instanceof SyntaxError))
                throw error;
            [value] = Object.values(host.compile(`${directive}({ ${text}\n})`, file, line));
        }
        return value;
    }

    // What a module is started for: its default export, or main; nothing more if it has neither.
    async function functionOfModule(url) {
        const module = await import(url);
        const found = [module.default, module.main].find((value) => typeof value === 'function');
        return found ?? (() => undefined);
    }

    // On a fiber, so that it may wait for what it likes. The library's own functions know what they do.
    async function run(order) {
        if (order.library !== undefined)
            return need(order.library).serve(...order.values);
        const fn = order.url === undefined ? functionOf(order) : await functionOfModule(order.url);
        const [promise] = host.goStart(order.name, order.stack, false, fn, ...order.values);
        return promise;
    }

    // What an error has beyond what every clone of one has; only values that can be cloned without a thought.
    function extrasOf(error) {
        const extras = {};
        for (const key of ['name', 'code', ...Object.keys(error)]) {
            const value = error[key];
            if (value !== undefined && value !== null && typeof value !== 'object' && typeof value !== 'function'
                && typeof value !== 'symbol')
                extras[key] = value;
        }
        return extras;
    }

    // An error for another instance: [error, extras], or one that looks like it and can be cloned in any case.
    function describe(error) {
        return error instanceof Error && !need('dom_exception').isDOMException(error) ? [error, extrasOf(error)] : [error];
    }

    function describeBriefly(error) {
        try {
            if (error instanceof Error)
                return [Object.assign(new Error(`${error.message}`), { stack: `${error.stack}` })];
            return [new Error(`${need('inspect').inspect(error)} was thrown`)];
        } catch {
            return [new Error('an error that cannot be shown')];
        }
    }

    function tellError(error) {
        try {
            host.childResult(describe(error), undefined, true);
        } catch {
            host.childResult(describeBriefly(error), undefined, true);
        }
    }

    // What is the process's is not for one of its instances to change.
    function isolate(env) {
        if (env !== undefined)
            host.environment = () => Object.entries(env).map(([name, value]) => `${name}=${value}`);
        host.chdir = () => {
            throw withCode(new TypeError('process.chdir() is not supported in workers'), 'ERR_WORKER_UNSUPPORTED_OPERATION');
        };
    }

    async function main(order) {
        const value = await run(order);
        const isObject = typeof value === 'object' && value !== null;
        host.childResult(value, isObject ? transfers.get(value) : undefined, false);
    }

    function begin() {
        host.lastWords = tellError;
        const order = host.childOrder();
        isolate(order.env);
        const done = main(order);
        done.catch((error) => need('process').fatal(error, 'unhandledRejection'));
        return done;
    }

    // A value to be returned, with what is to be transferred, not copied.
    function transfer(value, list) {
        const { toTransferList, checkTransfers } = need('clone');
        transfers.set(value, checkTransfers(toTransferList({ transfer: list })));
        return value;
    }

    return { begin, functionOf, functionOfModule, describe, describeBriefly, transfer };
})
