// A handler that throws: exit code 7.
const log = (text) => console.log(text);
process.on('exit', (code) => log(`exit ${code} ${process.exitCode}`));
process.on('uncaughtException', (error) => { log(`uncaught ${error.message}`); throw new Error('second'); });
process.on('uncaughtException', () => log('never'));
setTimeout(() => { throw new Error('first'); }, 1);
setTimeout(() => log('never'), 20);
