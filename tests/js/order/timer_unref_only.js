// Nothing but unreferenced ones: the process ends at once.
const log = (text) => console.log(text);
setTimeout(() => log('never'), 1e6).unref();
setInterval(() => log('never'), 1e6).unref();
process.on('beforeExit', () => log('beforeExit'));
process.on('exit', () => log('exit'));
Promise.resolve().then(() => log('job'));
new Promise(() => {}).then(() => log('never'));
