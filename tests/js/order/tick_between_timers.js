// Between any two timers of one batch there are ticks and jobs.
const log = (text) => console.log(text);
const spin = (ms) => { const until = Date.now() + ms; while (Date.now() < until); };
for (const [name, delay] of [['a', 1], ['b', 1], ['c', 2], ['d', 1], ['e', 3]])
    setTimeout(() => {
        log(name);
        process.nextTick(() => log(`tick of ${name}`));
        queueMicrotask(() => log(`job of ${name}`));
        Promise.resolve().then(() => process.nextTick(() => log(`tick of the job of ${name}`)));
    }, delay);
spin(20);
