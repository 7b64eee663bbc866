// Timers that are due when the main script ends come before its immediates; what a tick that throws has left comes after the first.
const log = (text) => console.log(text);
process.on('uncaughtException', (error) => log(`uncaught ${error.message}`));
setImmediate(() => log('immediate'));
setTimeout(() => { log('timer'); process.nextTick(() => log('tick of the timer')); }, 1);
process.nextTick(() => { throw new Error('tick'); });
process.nextTick(() => log('second tick'));
Promise.resolve().then(() => log('job'));
const until = Date.now() + 5;
while (Date.now() < until);
log('end');
