// SPDX-License-Identifier: MIT
// Hostile values as arguments of everything: an error or none, but nothing else.
import assert from 'node:assert';
import crypto from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';
import querystring from 'node:querystring';
import { Console } from 'node:console';
import { Readable, Writable, pipeline } from 'node:stream';
import util from 'node:util';
import { Mutex, chan, go, scope, select, sleep, wait } from 'weft:go';
import { hostiles } from './parts/hostile.mjs';

const nowhere = new Writable({ write: (chunk, encoding, done) => done() });
const print = new Console(nowhere, nowhere);
const aborted = (value) => {
    const controller = new AbortController();
    controller.abort(value);
    return controller.signal;
};
const uses = {
    'console.log': (v) => print.log(v),
    'console formats': (v) => print.log('%s %d %i %f %j %o %O %c', v, v, v, v, v, v, v, v),
    'console.table': (v) => { print.table(v); print.table([v], v); },
    'console.dir': (v) => print.dir(v, v),
    'console.group': (v) => { print.group(v); print.groupEnd(); print.count(v); print.trace(v); print.assert(false, v); },
    'util.inspect': (v) => util.inspect(v, { showHidden: true, depth: 9, getters: true, showProxy: true }),
    'options of inspect': (v) => util.inspect({}, v),
    'util.isDeepStrictEqual': (v) => util.isDeepStrictEqual(v, {}),
    'util.types': (v) => Object.keys(util.types).map((name) => util.types[name](v)),
    'util functions': (v) => [util.promisify, util.callbackify, util.deprecate, util.inherits, util.parseArgs].map((fn) => fn(v, v)),
    go: (v) => go(v),
    'result of go': (v) => go(() => v),
    'error of go': (v) => go(() => { throw v; }),
    'async function': async (v) => { throw v; },
    wait: (v) => go(() => wait(v, { timeout: 5 })),
    sleep: (v) => sleep(1, v),
    chan: (v) => chan(v),
    'value of a channel': async (v) => { const channel = chan(1); await channel.send(v); await channel.recv(); },
    'options of a channel': async (v) => { const channel = chan(1); await channel.send(1, v); await channel.recv(v); },
    select: (v) => select([v], { timeout: 5 }),
    scope: (v) => scope(v),
    mutex: (v) => new Mutex().lock(v),
    setTimeout: (v) => clearTimeout(setTimeout(() => {}, v)),
    'timer functions': (v) => [setTimeout, setImmediate, queueMicrotask, process.nextTick, clearTimeout].map((fn) => {
        try { return clearTimeout(fn(v, 1e6)); } catch { return undefined; }
    }),
    structuredClone: (v) => structuredClone([v], v),
    Event: (v) => new Event(v, v),
    dispatchEvent: (v) => new EventTarget().dispatchEvent(v),
    listeners: (v) => new EventTarget().addEventListener('x', v, v),
    abort: (v) => aborted(v).throwIfAborted(),
    'abort of a wait': (v) => sleep(1e6, { signal: aborted(v) }),
    'AbortSignal.any': (v) => AbortSignal.any(v),
    EventEmitter: (v) => { const emitter = new EventEmitter(v); emitter.on('x', v); emitter.emit('x', v); },
    'error event': (v) => new EventEmitter().emit('error', v),
    'events.once': (v) => once(v, 'x'),
    URL: (v) => new URL(v, v),
    URLSearchParams: (v) => new URLSearchParams(v),
    Headers: (v) => new Headers(v),
    Request: (v) => new Request('http://a', v),
    Response: (v) => new Response(v, v),
    'Response.json': (v) => Response.json(v),
    fetch: (v) => fetch(v, v),
    Blob: (v) => new Blob(v, v),
    FormData: (v) => new FormData().append(v, v),
    TextEncoder: (v) => new TextEncoder().encode(v),
    TextDecoder: (v) => new TextDecoder(v, v).decode(v),
    base64: (v) => atob(v) + btoa(v),
    ReadableStream: (v) => new ReadableStream(v, v),
    'source of a stream': (v) => new ReadableStream({ start(c) { c.enqueue(v); c.error(v); } }).getReader().read(),
    WritableStream: (v) => new WritableStream(v, v),
    TransformStream: (v) => new TransformStream(v, v, v),
    pipeTo: (v) => new ReadableStream().pipeTo(v),
    'crypto.getRandomValues': (v) => globalThis.crypto.getRandomValues(v),
    hash: (v) => crypto.createHash('sha256').update(v).digest(v),
    DOMException: (v) => new DOMException(v, v),
    'performance.mark': (v) => performance.mark(v, v),
    'Buffer.from': (v) => Buffer.from(v, v),
    'Buffer.concat': (v) => Buffer.concat(v),
    'Buffer.write': (v) => Buffer.alloc(8).write(v, v, v, v),
    assert: (v) => assert.deepStrictEqual(v, {}),
    'assert.throws': (v) => assert.throws(() => { throw v; }, v),
    'path.join': (v) => path.join(v),
    querystring: (v) => querystring.stringify(v),
    readFileSync: (v) => fs.readFileSync(v, v),
    'http.createServer': (v) => http.createServer(v, v),
    Readable: (v) => new Readable(v),
    'Readable.from': (v) => Readable.from(v),
    pipeline: (v) => pipeline(v, v, () => {}),
    require: (v) => createRequire(import.meta.url)(v),
    createRequire: (v) => createRequire(v),
    import: (v) => import(v),
    'options of import': (v) => import('node:fs', v),
    'process.exitCode': (v) => { process.exitCode = v; },
    'process.emitWarning': (v) => process.emitWarning(v, v),
    'process.env': (v) => { process.env[v] = v; delete process.env[v]; },
    'process.hrtime': (v) => process.hrtime(v),
    'process.emit': (v) => process.emit('something', v),
    'Promise.all': (v) => Promise.all(v),
    'Promise.race': (v) => Promise.race([v]),
    'unhandled rejection': (v) => { Promise.reject(v); },
    'Error.captureStackTrace': (v) => Error.captureStackTrace(v, v),
    'Error.stackTraceLimit': (v) => { Error.stackTraceLimit = v; try { return new Error('x').stack; } finally { Error.stackTraceLimit = 10; } },
    'Error.prepareStackTrace': (v) => {
        Error.prepareStackTrace = typeof v === 'function' ? v : () => v;
        try { return new Error('x').stack; } finally { Error.prepareStackTrace = undefined; }
    },
};
process.on('uncaughtException', () => {});
process.on('unhandledRejection', () => {});
process.removeAllListeners('warning');
for (const [name, use] of Object.entries(uses)) {
    const values = hostiles();
    const waits = [];
    for (const key of Object.keys(values)) {
        try {
            waits.push(Promise.resolve(use(values[key])).catch(() => {}));
        } catch {
            // as it may
        }
        process.exitCode = undefined;
    }
    await Promise.race([Promise.all(waits), new Promise((resolve) => setTimeout(resolve, 20))]);
    console.log(name, Object.keys(values).length);
}
process.exit();
