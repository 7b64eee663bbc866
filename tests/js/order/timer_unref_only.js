// Nothing but unreferenced ones: the process ends at once.
const log = (text) => console.log(text);
setTimeout(() => log('never'), 50).unref();
setInterval(() => log('never'), 50).unref();
process.on('beforeExit', () => log('beforeExit'));
process.on('exit', () => log('exit'));
Promise.resolve().then(() => log('job'));
new Promise(() => {}).then(() => log('never'));
