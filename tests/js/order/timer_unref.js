// Unreferenced timers do not hold the process; they fire if something else does.
const log = (text) => console.log(text);
const spin = (ms) => { const until = Date.now() + ms; while (Date.now() < until); };
setTimeout(() => log('never'), 1e6).unref();
const a = setTimeout(() => log('unref, but in time'), 1).unref();
log(a.hasRef(), a.ref() === a, a.hasRef(), a.unref().hasRef());
setTimeout(() => log('holds'), 30);
const back = setTimeout(() => log('ref again'), 60).unref();
back.ref();
setInterval(() => log('never, an interval'), 1e6).unref();
const i = setImmediate(() => log('never, an immediate')).unref();
clearImmediate(i);
log(i.hasRef());
process.on('beforeExit', () => log('beforeExit'));
process.on('exit', () => log('exit'));
