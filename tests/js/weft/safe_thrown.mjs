// SPDX-License-Identifier: MIT
// Hostile values that are thrown and that nobody catches: the process ends with an error, and something is said.
import { runAll } from './parts/child.mjs';

const forms = {
    thrown: 'throw v',
    rejected: 'Promise.reject(v)',
    'in a timer': 'setTimeout(() => { throw v; }, 0)',
    'in a tick': 'process.nextTick(() => { throw v; })',
    'in a job': 'queueMicrotask(() => { throw v; })',
    'on a fiber': 'go(() => { throw v; })',
    'by a listener': "const t = new EventTarget(); t.addEventListener('x', () => { throw v; }); t.dispatchEvent(new Event('x'))",
    'by the listener of errors': "process.on('uncaughtException', () => { throw v; }); null.x",
    'by the listener of rejections': "process.on('unhandledRejection', () => { throw v; }); Promise.reject(1)",
    'at the end': "process.on('exit', () => { throw v; })",
    'as a cause': "throw new Error('x', { cause: v })",
    'as a name': "const e = new Error('x'); Object.defineProperty(e, 'name', { value: v }); throw e",
    'as a message': "const e = new Error('x'); Object.defineProperty(e, 'message', { value: v }); throw e",
    'as a stack': "const e = new Error('x'); Object.defineProperty(e, 'stack', { value: v }); throw e",
    'as a constructor': "const e = new Error('x'); Object.defineProperty(e, 'constructor', { value: v }); throw e",
    'in an AggregateError': "throw new AggregateError([v], 'all')",
};
const values = ['getters', 'error of getters', 'proxy of an error', 'revoked proxy', 'class', 'symbol'];
const cases = {};
const place = JSON.stringify(new URL('./parts/hostile.mjs', import.meta.url).href);
for (const form of Object.keys(forms))
    for (const value of values)
        cases[`${value} ${form}`] = `import { hostiles } from ${place}; import { go } from 'weft:go';
            const v = hostiles()['${value}']; ${forms[form]};`;
await runAll(cases, ['--input-type=module', '--max-run=10s'], ({ how, complaint }) =>
    `${how}${complaint.endsWith('\n') && complaint.trim() !== '' ? '' : ', and nothing is said'}`);
