// An unhandledRejection listener that throws: its error is an uncaught one, and the others of that round are lost.
const log = (text) => console.log(text);
process.on('uncaughtException', (error, origin) => log(`uncaught ${error.message} ${origin}`));
process.on('unhandledRejection', (reason) => {
    log(`unhandled ${reason}`);
    if (reason === 'one') throw new Error('listener');
});
Promise.reject('one');
Promise.reject('two');
setImmediate(() => log('immediate'));
setImmediate(() => log('immediate 2'));
