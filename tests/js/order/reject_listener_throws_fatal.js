// The same with nobody listening to errors.
const log = (text) => console.log(text);
process.on('exit', (code) => log(`exit ${code}`));
process.on('unhandledRejection', (reason) => { log(`unhandled ${reason}`); throw new Error('listener'); });
Promise.reject('one');
Promise.reject('two');
setImmediate(() => log('never'));
