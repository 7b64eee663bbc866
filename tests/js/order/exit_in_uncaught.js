// process.exit in an uncaughtException listener.
const log = (text) => console.log(text);
process.on('exit', (code) => log(`exit ${code}`));
process.on('uncaughtException', (error) => {
    log(`uncaught ${error.message}`);
    process.nextTick(() => log('never'));
    process.exit(21);
});
setImmediate(() => log('never'));
throw new Error('main');
