// In an ES module promise jobs come before ticks, for the module itself runs in such a job.
const log = (text) => console.log(text);
process.nextTick(() => {
    log('tick 1');
    queueMicrotask(() => log('job of tick 1'));
    process.nextTick(() => log('tick of tick 1'));
});
Promise.resolve().then(() => {
    log('job 1');
    process.nextTick(() => log('tick of job 1'));
    queueMicrotask(() => log('job of job 1'));
});
queueMicrotask(() => log('job 2'));
process.nextTick(() => log('tick 2'));
setImmediate(() => {
    log('immediate');
    queueMicrotask(() => log('job of immediate'));
    process.nextTick(() => log('tick of immediate'));
});
log('end');
