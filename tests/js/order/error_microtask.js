// Microtasks that throw: the others go on.
const log = (text) => console.log(text);
process.on('uncaughtException', (error, origin) => {
    log(`uncaught ${error.message} ${origin}`);
    process.nextTick(() => log(`tick for ${error.message}`));
    queueMicrotask(() => log(`job for ${error.message}`));
});
queueMicrotask(() => { process.nextTick(() => log('tick of job 1')); throw new Error('job 1'); });
queueMicrotask(() => log('job 2'));
queueMicrotask(() => { throw new Error('job 3'); });
Promise.resolve().then(() => log('job 4'));
process.nextTick(() => log('tick'));
setImmediate(() => {
    log('immediate');
    queueMicrotask(() => { throw new Error('job of immediate'); });
    queueMicrotask(() => log('next job of immediate'));
});
setImmediate(() => log('second immediate'));
log('end');
