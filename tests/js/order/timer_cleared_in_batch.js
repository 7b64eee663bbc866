// A timer, an immediate or an interval may clear others of the same batch.
const log = (text) => console.log(text);
const spin = (ms) => { const until = Date.now() + ms; while (Date.now() < until); };
const list = [];
for (let i = 0; i < 6; i++)
    list.push(setTimeout(() => {
        log(`timer ${i}`);
        if (i === 1) {
            clearTimeout(list[2]);
            clearTimeout(list[1]);
            clearTimeout(list[0]);
            process.nextTick(() => clearTimeout(list[3]));
        }
        if (i === 4) { Promise.resolve().then(() => clearTimeout(list[5])); immediates(); }
    }, 1));
spin(10);
function immediates() {
    const later = [];
    for (let i = 0; i < 6; i++)
        later.push(setImmediate(() => {
            log(`immediate ${i}`);
            if (i === 1) { clearImmediate(later[2]); process.nextTick(() => clearImmediate(later[3])); }
            if (i === 4) { queueMicrotask(() => clearImmediate(later[5])); intervals(); }
        }));
}
function intervals() {
    let count = 0;
    const interval = setInterval(() => {
        log(`interval ${++count}`);
        if (count === 3) { clearInterval(interval); setTimeout(() => log('end'), 5); }
    }, 2);
}
for (const nonsense of [undefined, null, {}, 0, 12345, 'x', [], () => {}]) {
    clearTimeout(nonsense);
    clearInterval(nonsense);
}
clearImmediate(undefined);
clearImmediate(null);
