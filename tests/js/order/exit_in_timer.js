// process.exit in a timer, with exitCode set before.
const log = (text) => console.log(text);
process.on('exit', (code) => log(`exit ${code}`));
process.on('beforeExit', () => log('never'));
process.exitCode = 11;
setTimeout(() => { log('timer'); queueMicrotask(() => log('never')); process.exit(); }, 1);
setTimeout(() => log('never'), 1);
setInterval(() => log('never'), 100);
