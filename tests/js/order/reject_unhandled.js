// unhandledRejection comes when ticks and jobs are done, in the order of the rejections.
const log = (text) => console.log(text);
process.on('unhandledRejection', (reason, promise) => {
    log(`unhandled ${reason} ${promise instanceof Promise}`);
    process.nextTick(() => log(`tick for ${reason}`));
    queueMicrotask(() => log(`job for ${reason}`));
});
Promise.reject('one');
process.nextTick(() => { log('tick'); Promise.reject('of a tick'); });
queueMicrotask(() => { log('job'); Promise.reject('of a job'); process.nextTick(() => log('tick of the job')); });
const saved = Promise.reject('saved by a tick');
process.nextTick(() => saved.catch(() => log('saved')));
const chain = Promise.reject('only the end of the chain').then(() => {}).then(() => {});
(async () => { throw 'async'; })();
setImmediate(() => { log('immediate'); Promise.reject('of an immediate'); setImmediate(() => log('last immediate')); });
setImmediate(() => log('immediate 2'));
log('end');
