// process.exit in an unhandledRejection listener; the second rejection is not told.
const log = (text) => console.log(text);
process.on('exit', (code) => log(`exit ${code}`));
process.on('unhandledRejection', (reason) => { log(`unhandled ${reason}`); process.exit(22); });
Promise.reject('one');
Promise.reject('two');
setImmediate(() => log('never'));
