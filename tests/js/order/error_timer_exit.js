// An error in a timer with nobody listening ends it all.
const log = (text) => console.log(text);
process.on('exit', (code) => log(`exit ${code}`));
setTimeout(() => { process.nextTick(() => log('never')); queueMicrotask(() => log('never')); throw new Error('timer'); }, 1);
setTimeout(() => log('never'), 60);
