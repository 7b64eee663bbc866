// Ticks around top-level await.
const log = (text) => console.log(text);
process.nextTick(() => log('tick 1'));
await null;
log('after the first await');
process.nextTick(() => log('tick 2'));
await new Promise((resolve) => process.nextTick(() => { log('tick 3'); resolve(); }));
log('after a tick');
await new Promise((resolve) => setTimeout(resolve, 1));
log('after a timer');
process.nextTick(() => log('tick 4'));
queueMicrotask(() => log('job'));
await new Promise((resolve) => setImmediate(resolve));
log('after an immediate');
process.on('exit', (code) => log(`exit ${code}`));
