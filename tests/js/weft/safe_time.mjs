// SPDX-License-Identifier: MIT
// A loop without an end is ended when its time is over, wherever it runs, and cannot catch that; the process ends with an error.
import { errorIn, runAll } from './parts/child.mjs';

const loop = 'for (;;);';
const huge = '{ length: 2 ** 53 - 1 }';
const full = "for (const a = []; ; ) try { a.push('x'.repeat(1e6) + a.length); } catch {}";
const list = 'const a = []; a.length = 2 ** 32 - 1;';
const cases = {
    main: loop,
    catch: `for (;;) try { ${loop} } catch {}`,
    finally: `(function f() { try { ${loop} } finally { f(); } })()`,
    generator: 'for (const x of (function* () { for (;;) yield 1; })());',
    getter: `({ get x() { ${loop} } }).x`,
    toString: '`${{ toString() { for (;;); } }}`',
    comparator: `[2, 1].sort(() => { ${loop} })`,
    eval: `eval('${loop}')`,
    Function: `new Function('${loop}')()`,
    pattern: "/^(a+)+$/.test('a'.repeat(60) + 'b')",
    module: `import('data:text/javascript,${loop}')`,
    fiber: `require('weft:go').go(() => { for (;;) try { ${loop} } catch {} })`,
    timer: `setTimeout(() => { ${loop} }, 0)`,
    immediate: `setImmediate(() => { ${loop} })`,
    tick: `process.nextTick(() => { ${loop} })`,
    ticks: '(function f() { process.nextTick(f); })()',
    job: `queueMicrotask(() => { ${loop} })`,
    jobs: '(function f() { queueMicrotask(f); })()',
    reaction: `Promise.resolve().then(() => { ${loop} })`,
    reactions: '(async () => { for (;;) await null; })()',
    thenable: `Promise.resolve({ then() { ${loop} } })`,
    'thenable of itself': 'const t = { then(resolve) { resolve(t); } }; Promise.resolve(t)',
    listener: `process.on('uncaughtException', () => { ${loop} }); null.x`,
    'exit listener': `process.on('exit', () => { ${loop} })`,
    'listener of the quiet': `process.on('beforeExit', () => { ${loop} })`,
    'listener of rejections': `process.on('unhandledRejection', () => { ${loop} }); Promise.reject(1)`,
    'inspect.custom': `console.log({ [Symbol.for('nodejs.util.inspect.custom')]() { ${loop} } })`,
    'thrown inspect.custom': `throw { [Symbol.for('nodejs.util.inspect.custom')]() { ${loop} } }`,
    prepareStackTrace: `Error.prepareStackTrace = () => { ${loop} }; null.x`,
    stackTraceLimit: `Error.stackTraceLimit = { valueOf() { ${loop} } }; for (;;) try { null.x; } catch {}`,
    'no memory, and a stackTraceLimit': `Error.stackTraceLimit = () => {}; ${full}`,
    'no memory, and a prepareStackTrace': `Error.prepareStackTrace = () => {}; ${full}`,
    'http handler': `const server = require('http').createServer(() => { ${loop} });
        server.listen(0, () => fetch('http://127.0.0.1:' + server.address().port).catch(() => {}))`,
    'iterator to array': 'Array.from({ [Symbol.iterator]() { return { next: () => ({}) }; } })',
    indexOf: `Array.prototype.indexOf.call(${huge}, 1)`,
    join: `Array.prototype.join.call(${huge})`,
    reverse: `Array.prototype.reverse.call(${huge})`,
    copyWithin: `Array.prototype.copyWithin.call(${huge}, 1)`,
    flat: `Array.prototype.flat.call(${huge})`,
    shift: `Array.prototype.shift.call(${huge})`,
    forEach: `Array.prototype.forEach.call(${huge}, () => {})`,
    'sort of a long list': `${list} a.sort()`,
    'slice of a long list': `${list} a.slice()`,
    'splice of a long list': `${list} a.splice(0, 1)`,
    'text of a long list': `${list} String(a)`,
    'JSON of a long list': `${list} JSON.stringify(a)`,
};
await runAll(cases, ['--max-run=60ms', '--max-memory=512m'], ({ how, complaint }) => {
    const isTime = /^\[?InternalError: a callback ran for more than 60 ms, which is its limit\]?$/m.test(complaint);
    return `${how}, ${isTime ? 'its time is over' : errorIn(complaint)}`;
});
