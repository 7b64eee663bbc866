// Between any two immediates of one batch there are ticks and jobs; new immediates wait for the next batch.
const log = (text) => console.log(text);
for (const name of ['a', 'b', 'c'])
    setImmediate(() => {
        log(name);
        process.nextTick(() => log(`tick of ${name}`));
        queueMicrotask(() => log(`job of ${name}`));
        setImmediate(() => { log(`second of ${name}`); Promise.resolve().then(() => log(`job of the second of ${name}`)); });
    });
