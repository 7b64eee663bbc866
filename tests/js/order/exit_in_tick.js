// process.exit in a tick: neither later ticks nor jobs.
const log = (text) => console.log(text);
process.on('exit', (code) => log(`exit ${code}`));
process.nextTick(() => { log('tick'); process.exit(); });
process.nextTick(() => log('never'));
queueMicrotask(() => log('never'));
setImmediate(() => log('never'));
