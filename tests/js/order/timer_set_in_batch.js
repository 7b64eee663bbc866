// Timers that are set by a batch do not join it.
const log = (text) => console.log(text);
const spin = (ms) => { const until = Date.now() + ms; while (Date.now() < until); };
setTimeout(() => {
    log('a');
    setTimeout(() => log('set by a'), 1);
    process.nextTick(() => setTimeout(() => log('set by the tick of a'), 1));
}, 1);
setTimeout(() => { log('b'); setTimeout(() => log('set by b'), 1); }, 1);
setTimeout(() => log('c'), 1);
spin(20);
