// One timer of a batch throws: the others of the batch run, and ticks and jobs.
const log = (text) => console.log(text);
const spin = (ms) => { const until = Date.now() + ms; while (Date.now() < until); };
process.on('uncaughtException', (error) => {
    log(`uncaught ${error.message}`);
    process.nextTick(() => log(`tick for ${error.message}`));
    queueMicrotask(() => log(`job for ${error.message}`));
});
for (const name of ['a', 'b', 'c', 'd'])
    setTimeout(() => {
        log(name);
        process.nextTick(() => log(`tick of ${name}`));
        queueMicrotask(() => log(`job of ${name}`));
        if (name === 'b') throw new Error('b');
    }, 1);
setTimeout(() => log('e'), 2);
spin(20);
setTimeout(() => { setImmediate(() => log('end')); }, 30);
