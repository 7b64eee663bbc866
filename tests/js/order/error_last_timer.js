// The only timer throws; ticks and jobs it has asked for still come, then the loop goes on.
const log = (text) => console.log(text);
process.on('uncaughtException', (error) => log(`uncaught ${error.message}`));
process.on('beforeExit', () => log('beforeExit'));
process.on('exit', (code) => log(`exit ${code}`));
setTimeout(() => {
    process.nextTick(() => log('tick'));
    queueMicrotask(() => log('job'));
    setImmediate(() => log('immediate'));
    throw new Error('timer');
}, 1);
