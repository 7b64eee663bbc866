// Several ticks of one immediate throw: where the others come, among the next immediates.
const log = (text) => console.log(text);
process.on('uncaughtException', (error) => log(`uncaught ${error.message}`));
setImmediate(() => {
    for (let i = 1; i <= 8; i++)
        process.nextTick(() => { log(`tick ${i}`); if (i % 2) throw new Error(`tick ${i}`); });
    queueMicrotask(() => log('job'));
    for (let i = 1; i <= 5; i++)
        setImmediate(() => { log(`immediate ${i}`); process.nextTick(() => log(`tick of immediate ${i}`)); });
});
