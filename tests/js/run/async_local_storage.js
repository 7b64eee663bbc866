// AsyncLocalStorage: a store goes along with whatever is put off.
'use strict';
const { AsyncLocalStorage, AsyncResource, createHook, executionAsyncId } = require('node:async_hooks');
const { EventEmitter, once } = require('node:events');
const { setTimeout: sleep } = require('node:timers/promises');
const { Readable } = require('node:stream');
const fs = require('node:fs');
const http = require('node:http');
const log = (...parts) => console.log(...parts);
const storage = new AsyncLocalStorage(), other = new AsyncLocalStorage();
const get = () => storage.getStore();
const steps = {
    plain() {
        log(get(), storage.run('a', get), get(), storage.run('a', (x, y) => [get(), x, y], 1, 2));
        log(storage.run('a', () => storage.run('b', () => [get(), storage.exit(get), get()])));
        log(storage.run('a', () => other.run('o', () => [get(), other.getStore()])), other.getStore());
        try {
            storage.run('a', () => { throw new Error('thrown'); });
        } catch (error) {
            log(error.message, get());
        }
        log(storage.run(undefined, get), storage.run(null, get), storage.run(0, get));
    },
    async promises() {
        await storage.run('promise', async () => {
            log(get());
            await null;
            log(get());
            await sleep(1);
            log(get());
            await Promise.all([1, 2].map((n) => storage.run(`inner ${n}`, async () => {
                await sleep(n);
                log(get());
            })));
            log(get());
            await Promise.resolve().then(() => log('then', get())).finally(() => log('finally', get()));
            await new Promise((resolve) => resolve({ then: (done) => { log('thenable', get()); done(); } }));
            try {
                await Promise.reject(new Error('x'));
            } catch {
                log('catch', get());
            }
            for await (const n of (async function* () { yield get(); await null; yield get(); })())
                log('generator', n, get());
        });
        log(get());
        let release;
        const gate = new Promise((resolve) => { release = resolve; });
        const waiting = [storage.run('one', () => gate.then(get)), storage.run('two', () => gate.then(get)), gate.then(get)];
        storage.run('who resolves', release);
        log(await Promise.all(waiting));
        const early = storage.run('made here', () => Promise.resolve(1));
        log(await storage.run('used here', () => early.then(get)));
    },
    async callbacks() {
        const told = [];
        await storage.run('s', () => new Promise((resolve) => {
            process.nextTick(() => told.push(`tick ${get()}`));
            queueMicrotask(() => told.push(`microtask ${get()}`));
            setImmediate(() => told.push(`immediate ${get()}`));
            const interval = setInterval(() => {
                told.push(`interval ${get()}`);
                clearInterval(interval);
            }, 1);
            setTimeout(() => {
                told.push(`timeout ${get()}`);
                fs.readFile(__filename, () => {
                    told.push(`file ${get()}`);
                    resolve();
                });
            }, 5);
        }));
        log(told.sort(), get());
    },
    async emitters() {
        const emitter = new EventEmitter();
        storage.run('listener', () => emitter.on('x', () => log('emitted in', get())));
        storage.run('emitter', () => emitter.emit('x'));
        emitter.emit('x');
        const waited = storage.run('once', async () => {
            await once(emitter, 'y');
            return get();
        });
        emitter.emit('y');
        log(await waited);
        log(await storage.run('stream', () => Readable.from(['a']).map(() => get()).toArray()));
    },
    async entering() {
        await new Promise((resolve) => {
            setImmediate(() => {
                storage.enterWith('entered');
                log(get());
                setImmediate(() => log('later', get()));
                Promise.resolve().then(() => {
                    log('job', get());
                    storage.enterWith('in a job');
                });
                setTimeout(resolve, 5);
            });
            setImmediate(() => log('another', get()));
        });
        log(get());
        await (async () => {
            storage.enterWith('in a function');
            await null;
            log(get());
        })();
        storage.disable();
        log(get());
    },
    async resources() {
        const resource = storage.run('of the resource', () => new AsyncResource('Mine'));
        log(resource.runInAsyncScope((a, b) => [get(), a, b], null, 1, 2), resource.runInAsyncScope(function () { return this; }, 'self'));
        const bound = storage.run('bound', () => AsyncResource.bind(get));
        log(bound(), storage.run('elsewhere', bound), typeof resource.asyncId(), resource.emitDestroy() === resource);
        log(storage.run('bound too', () => AsyncLocalStorage.bind(get))(), storage.run('snapshot', () => AsyncLocalStorage.snapshot())(get));
        for (const bad of [() => new AsyncResource(), () => AsyncResource.bind(5), () => createHook({ init: 5 })])
            try {
                log(bad());
            } catch (error) {
                log(error.code);
            }
        const hook = createHook({});
        log(hook.enable() === hook, hook.disable() === hook, typeof executionAsyncId());
    },
    async server() {
        const server = http.createServer((req, res) => {
            storage.run(req.url, async () => {
                let body = '';
                req.on('data', (chunk) => { body += chunk; });
                await once(req, 'end');
                await sleep(2);
                res.end(`${get()} ${body}`);
            });
        }).listen(0, '127.0.0.1');
        await once(server, 'listening');
        const at = `http://127.0.0.1:${server.address().port}`;
        log(await Promise.all(['/a', '/b', '/c'].map(async (path) => (await fetch(at + path, { method: 'POST', body: path })).text())));
        log(await storage.run('client', async () => {
            const response = await fetch(`${at}/d`, { method: 'POST', body: 'x' });
            await response.text();
            return get();
        }));
        server.close();
        server.closeAllConnections();
    },
};
(async () => {
    for (const name of Object.keys(steps)) {
        log(`-- ${name}`);
        await steps[name]();
    }
})();
