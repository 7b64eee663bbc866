// An error in a microtask with nobody listening.
const log = (text) => console.log(text);
process.on('exit', (code) => log(`exit ${code}`));
queueMicrotask(() => { throw new Error('job'); });
queueMicrotask(() => log('never'));
process.nextTick(() => log('tick'));
