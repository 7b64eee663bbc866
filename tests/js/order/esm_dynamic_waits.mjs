// import() waits for top-level await of what it imports, and for that of its imports.
const log = (text) => console.log(text);
const first = import('./parts/late_main.mjs').then(() => log('first import'));
process.nextTick(() => log('tick'));
await first;
log('there');
await import('./parts/late_main.mjs');
log('there again');
