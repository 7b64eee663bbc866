// One immediate of a batch throws.
const log = (text) => console.log(text);
process.on('uncaughtException', (error) => {
    log(`uncaught ${error.message}`);
    process.nextTick(() => log(`tick for ${error.message}`));
    queueMicrotask(() => log(`job for ${error.message}`));
    setImmediate(() => log(`immediate for ${error.message}`));
});
for (const name of ['a', 'b', 'c', 'd'])
    setImmediate(() => {
        log(name);
        process.nextTick(() => log(`tick of ${name}`));
        queueMicrotask(() => log(`job of ${name}`));
        setImmediate(() => log(`second of ${name}`));
        if (name === 'b') throw new Error('b');
    });
