// A tick throws: what still runs, and when.
const log = (text) => console.log(text);
process.on('uncaughtException', (error, origin) => {
    log(`uncaught ${error.message} ${origin}`);
    process.nextTick(() => log('tick of the handler'));
    queueMicrotask(() => log('job of the handler'));
});
process.nextTick(() => {
    queueMicrotask(() => log('job of tick 1'));
    process.nextTick(() => log('tick of tick 1'));
    throw new Error('tick 1');
});
process.nextTick(() => log('tick 2'));
process.nextTick(() => { throw new Error('tick 3'); });
process.nextTick(() => log('tick 4'));
Promise.resolve().then(() => log('job'));
setImmediate(() => log('immediate 1'));
setImmediate(() => { log('immediate 2'); setTimeout(() => log('timer'), 1); });
log('end');
