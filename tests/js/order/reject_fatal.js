// Without listeners the first one is fatal.
const log = (text) => console.log(text);
process.on('exit', (code) => log(`exit ${code}`));
process.nextTick(() => log('tick'));
Promise.reject(new Error('one'));
Promise.reject(new Error('two'));
queueMicrotask(() => log('job'));
setImmediate(() => log('never'));
