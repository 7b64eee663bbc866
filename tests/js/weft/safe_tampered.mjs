// SPDX-License-Identifier: MIT
// Scripts that spoil what they stand on: the process ends by itself, and an error that nobody catches is told all the same.
import { runAll } from './parts/child.mjs';

const all = (object) => `for (const n of Object.getOwnPropertyNames(${object})) try {
    if (n !== 'constructor' && typeof ${object}[n] === 'function') ${object}[n] = boom; } catch {}`;
const tampers = {
    'Promise.prototype.then': 'Promise.prototype.then = boom',
    'then is a getter': "Object.defineProperty(Promise.prototype, 'then', { get: boom })",
    'Promise.prototype.catch': 'Promise.prototype.catch = Promise.prototype.finally = boom',
    'Promise.resolve': 'Promise.resolve = Promise.reject = Promise.all = Promise.race = boom',
    Promise: 'globalThis.Promise = boom',
    'constructor of promises': "Object.defineProperty(Promise.prototype, 'constructor', { get: boom })",
    species: 'for (const C of [Promise, Array]) Object.defineProperty(C, Symbol.species, { get: boom })',
    'Array.prototype': all('Array.prototype'),
    'iterators of arrays': 'Array.prototype[Symbol.iterator] = boom; Object.getPrototypeOf([][Symbol.iterator]()).next = boom',
    'String.prototype': all('String.prototype'),
    'RegExp.prototype': `RegExp.prototype.exec = RegExp.prototype.test = boom;
        for (const s of [Symbol.match, Symbol.replace, Symbol.split, Symbol.search, Symbol.matchAll]) RegExp.prototype[s] = boom`,
    'maps and sets': [all('Map.prototype'), all('Set.prototype'), all('WeakMap.prototype'), all('WeakSet.prototype')].join(';'),
    'functions of Object': "for (const n of ['keys', 'create', 'assign', 'defineProperty', 'freeze', 'entries', 'hasOwn']) Object[n] = boom",
    'Object.prototype': 'Object.prototype.toString = Object.prototype.hasOwnProperty = Object.prototype.valueOf = boom',
    'inherited getters': `for (const n of ['get', 'value', 'signal', 'timeout', 'type', 'code', 'name', '0'])
        Object.defineProperty(Object.prototype, n, { get: boom, set: boom, configurable: true })`,
    'everything has then': 'Object.prototype.then = boom',
    'Function.prototype': 'Function.prototype.call = Function.prototype.apply = Function.prototype.bind = boom',
    'Symbol.hasInstance': 'Object.defineProperty(Function.prototype, Symbol.hasInstance, { value: boom })',
    Error: 'globalThis.Error = globalThis.TypeError = globalThis.RangeError = boom',
    'Error.prototype': "for (const n of ['stack', 'message', 'name']) Object.defineProperty(Error.prototype, n, { get: boom })",
    'makers of stacks': 'Error.prepareStackTrace = Error.captureStackTrace = boom; Error.stackTraceLimit = { valueOf: boom }',
    'global classes': 'for (const n of ["Symbol", "Reflect", "JSON", "Math", "Number", "String", "Object"]) globalThis[n] = boom',
    'functions of Math and JSON': [all('Math'), all('Reflect'), all('JSON')].join(';'),
    'deleted globals': `for (const n of Object.getOwnPropertyNames(globalThis)) delete globalThis[n]`,
    'frozen globals': `for (const n of Object.getOwnPropertyNames(globalThis)) {
        const v = globalThis[n];
        if (v && v !== globalThis && /object|function/.test(typeof v)) { Object.freeze(v); v.prototype && Object.freeze(v.prototype); }
    } Object.freeze(globalThis)`,
    'no prototypes': 'for (const C of [Array, Promise, Error]) Object.setPrototypeOf(C.prototype, null); Object.setPrototypeOf(globalThis, null)',
    'deleted process': 'delete globalThis.process; delete globalThis.console; globalThis.setTimeout = globalThis.queueMicrotask = boom',
    emitters: "Object.assign(require('events').prototype, { emit: boom, on: boom, once: boom })",
    'process itself': 'Object.assign(process, { emit: boom, on: boom, exit: boom, nextTick: boom })',
    'typed arrays': `Uint8Array.prototype.set = boom; const T = Object.getPrototypeOf(Uint8Array.prototype);
        T.subarray = boom; Object.defineProperty(T, 'length', { get: boom }); ArrayBuffer.prototype.slice = boom`,
    generators: 'Object.getPrototypeOf(function* () {}).prototype.next = boom; Object.getPrototypeOf(async function* () {}).prototype.next = boom',
    clocks: 'Date.now = boom; Date.prototype.getTime = boom; performance.now = boom',
};
const uses = ['console.log({ a: [1, "x", new Map([[1, 2]]), /x/] })', 'setTimeout(() => {}, 1); setImmediate(() => {})', 'process.nextTick(() => {})',
    'go(() => { sleep(1); const c = chan(1); c.send(1); c.recv(); }).catch(() => {})', 'select([chan(1).recv], { timeout: 1 }).catch(() => {})',
    '(async () => { await null; })()', 'import("node:os").catch(() => {})', 'require("util").inspect({ a: 1 })', 'require("./nope")',
    'new ReadableStream({ start(c) { c.enqueue(1); c.close(); } }).getReader().read()', 'structuredClone({ a: [1] })', 'new URL("http://a/b?c=d")',
    'new AbortController().abort()', 'new TextDecoder().decode(new TextEncoder().encode("x"))', 'Buffer.from("x").toString("hex")',
    'fetch("http://127.0.0.1:1/").catch(() => {})'];
const cases = {};
for (const [name, text] of Object.entries(tampers))
    cases[name] = `const { chan, go, select, sleep } = require('weft:go');
        const boom = () => { throw 'tampered'; };
        ${text};
        ${uses.map((use) => `try { ${use} } catch {}`).join('\n')}
        nothing.there;`;
await runAll(cases, ['--max-run=10s'], ({ how, complaint }) =>
    `${how}${complaint.trim() === '' ? ', and nothing is said' : ''}`);
