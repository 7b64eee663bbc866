// A tick of the last immediate throws: the other ticks come after the next callback.
const log = (text) => console.log(text);
process.on('uncaughtException', (error) => log(`uncaught ${error.message}`));
setImmediate(() => {
    process.nextTick(() => { throw new Error('tick 1'); });
    process.nextTick(() => log('tick 2'));
    queueMicrotask(() => log('job'));
    setImmediate(() => { log('next immediate'); process.nextTick(() => log('its tick')); });
    setImmediate(() => log('immediate after that'));
});
