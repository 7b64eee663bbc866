// Handled too late: unhandledRejection first, rejectionHandled when a handler comes.
const log = (text) => console.log(text);
process.on('unhandledRejection', (reason) => log(`unhandled ${reason}`));
process.on('rejectionHandled', (promise) => log(`handled ${promise === late}`));
const late = Promise.reject('late');
const early = Promise.reject('early');
process.nextTick(() => early.catch((reason) => log(`caught ${reason}`)));
setImmediate(() => {
    log('immediate');
    late.catch((reason) => log(`caught ${reason}`));
    process.nextTick(() => log('tick'));
    queueMicrotask(() => log('job'));
    Promise.reject('another');
    setImmediate(() => { late.catch(() => log('caught again')); });
});
