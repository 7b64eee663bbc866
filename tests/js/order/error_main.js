// The main script throws, and somebody listens: what it has begun goes on.
const log = (text) => console.log(text);
process.on('uncaughtException', (error, origin) => {
    log(`uncaught ${error.message} ${origin}`);
    process.nextTick(() => log('tick of the handler'));
});
process.on('exit', (code) => log(`exit ${code} ${process.exitCode}`));
process.nextTick(() => log('tick'));
Promise.resolve().then(() => log('job'));
setTimeout(() => log('timer'), 50);
setImmediate(() => log('immediate'));
throw new Error('main');
