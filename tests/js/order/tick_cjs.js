// In CommonJS ticks come before promise jobs; each kind is emptied before the other.
const log = (text) => console.log(text);
Promise.resolve().then(() => {
    log('job 1');
    process.nextTick(() => log('tick of job 1'));
    queueMicrotask(() => log('job of job 1'));
});
process.nextTick(() => {
    log('tick 1');
    process.nextTick(() => log('tick of tick 1'));
    queueMicrotask(() => log('job of tick 1'));
});
queueMicrotask(() => log('job 2'));
process.nextTick(() => log('tick 2'));
process.nextTick((...args) => log(`tick with ${args}`), 1, 'two');
(async () => {
    log('async');
    await null;
    log('async goes on');
    process.nextTick(() => log('tick of async'));
    await null;
    log('async ends');
})();
setImmediate(() => {
    log('immediate');
    queueMicrotask(() => log('job of immediate'));
    process.nextTick(() => log('tick of immediate'));
});
for (const bad of [undefined, null, 1, 'x', {}])
    try { process.nextTick(bad); } catch (error) { log(`${error.name} ${error.code} ${error.message}`); }
for (const bad of [undefined, 'x', {}])
    try { queueMicrotask(bad); } catch (error) { log(`${error.name} ${error.code} ${error.message}`); }
log('end');
