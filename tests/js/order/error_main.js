// The main script throws, and somebody listens: what it has begun goes on.
const log = (text) => console.log(text);
const spin = (ms) => { const until = Date.now() + ms; while (Date.now() < until); };
process.on('uncaughtException', (error, origin) => {
    log(`uncaught ${error.message} ${origin}`);
    process.nextTick(() => log('tick of the handler'));
});
process.on('exit', (code) => log(`exit ${code} ${process.exitCode}`));
process.nextTick(() => log('tick'));
Promise.resolve().then(() => log('job'));
setTimeout(() => log('timer'), 1);
setImmediate(() => log('immediate'));
spin(5); // the timer is due
throw new Error('main');
