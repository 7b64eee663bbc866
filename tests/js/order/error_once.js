// once: the second error is fatal.
process.once('uncaughtException', (error) => console.log(`once ${error.message}`));
process.on('exit', (code) => console.log(`exit ${code}`));
setImmediate(() => {
    setTimeout(() => { throw new Error('two'); }, 1);
    setTimeout(() => console.log('never'), 1);
    throw new Error('one');
});
