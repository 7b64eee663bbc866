// The main script throws, nobody listens: exit code 1, nothing else runs but exit.
const log = (text) => console.log(text);
process.on('exit', (code) => { log(`exit ${code} ${process.exitCode}`); process.nextTick(() => log('never')); });
process.nextTick(() => log('never'));
Promise.resolve().then(() => log('never'));
setTimeout(() => log('never'), 0);
log('begin');
throw new TypeError('main');
