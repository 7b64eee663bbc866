// A tick of the last timer throws.
const log = (text) => console.log(text);
process.on('uncaughtException', (error) => log(`uncaught ${error.message}`));
setTimeout(() => {
    process.nextTick(() => { throw new Error('tick 1'); });
    process.nextTick(() => log('tick 2'));
    queueMicrotask(() => log('job'));
    setImmediate(() => { log('immediate'); process.nextTick(() => log('its tick')); });
    setImmediate(() => log('immediate after that'));
}, 1);
