// Siblings with top-level await run side by side; main waits for all.
import './parts/await_slow.mjs';
import './parts/await_quick.mjs';
import './parts/await_none.mjs';
console.log('main');
process.nextTick(() => console.log('tick of main'));
queueMicrotask(() => console.log('job of main'));
