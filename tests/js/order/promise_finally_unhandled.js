// A rejection that passes through finally is unhandled once, at the end of the chain.
const log = (text) => console.log(text);
process.on('unhandledRejection', (reason, promise) => log(`unhandled ${reason} ${promise === last} ${promise === other}`));
const last = Promise.reject('first').finally(() => log('finally'));
const other = Promise.resolve().finally(() => { throw 'from finally'; });
process.on('exit', (code) => log(`exit ${code}`));
