// SPDX-License-Identifier: MIT
// js/lib/parallel_worker.js - an instance of a pool (js/lib/parallel_pool.js): takes one job after another and answers each.
// host: goStart(name, stack, isBackground, fn, ...arguments), isFiber()
(function (host, need) {
    'use strict';
    const { functionOf, functionOfModule, describe, describeBriefly } = need('instance');
    const { wait } = need('fiber');
    const KEPT = 100; // functions
    const functions = new Map(); // by what they were made of

    async function functionFor(order) {
        const key = order.url ?? `${order.file}:${order.line}:${order.isStrict}:${order.text}`;
        let fn = functions.get(key);
        if (fn === undefined) {
            fn = order.url === undefined ? functionOf(order) : await functionOfModule(order.url);
            if (functions.size === KEPT)
                functions.delete(functions.keys().next().value);
            functions.set(key, fn);
        }
        return fn;
    }

    // On a fiber: what the function waits for, it may wait for; and so do we for what it returns.
    async function callAll(fn, calls) {
        const results = [];
        for (const values of calls) {
            const result = fn(...values);
            const isLater = typeof result?.then === 'function';
            results.push(isLater ? host.isFiber() ? wait(result) : await result : result);
        }
        return results;
    }

    async function answer(job, answers) {
        try {
            const fn = await functionFor(job.order);
            const [promise] = host.goStart(job.name, job.stack, false, callAll, fn, job.calls);
            await answers.send([true, await promise]);
        } catch (error) {
            try {
                await answers.send([false, describe(error)]);
            } catch {
                await answers.send([false, describeBriefly(error)]);
            }
        }
    }

    async function serve(jobs, answers) {
        for await (const job of jobs)
            await answer(job, answers);
    }

    return { serve };
})
