import { name } from './graph_c.mjs';
console.log(`a ${name}`);
queueMicrotask(() => console.log('job of a'));
process.nextTick(() => console.log('tick of a'));
