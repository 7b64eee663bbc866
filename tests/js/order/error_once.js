// once: the second error is fatal.
process.once('uncaughtException', (error) => console.log(`once ${error.message}`));
process.on('exit', (code) => console.log(`exit ${code}`));
setImmediate(() => { throw new Error('one'); });
setTimeout(() => { throw new Error('two'); }, 20);
setTimeout(() => console.log('never'), 40);
