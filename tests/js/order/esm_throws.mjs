// The main module throws: uncaughtException, though it comes from a promise.
const log = (text) => console.log(text);
process.on('unhandledRejection', (reason) => log(`unhandled ${reason.message}`));
process.on('uncaughtException', (error, origin) => log(`uncaught ${error.message} ${origin}`));
process.on('exit', (code) => log(`exit ${code}`));
setTimeout(() => log('timer'), 1);
queueMicrotask(() => log('job'));
process.nextTick(() => log('tick'));
throw new Error('module');
