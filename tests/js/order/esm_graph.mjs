// Modules run once, after what they import, from left to right.
import './parts/graph_a.mjs';
import { name } from './parts/graph_b.mjs';
import './parts/graph_a.mjs';
console.log(`main ${name}`);
queueMicrotask(() => console.log('job of main'));
process.nextTick(() => console.log('tick of main'));
