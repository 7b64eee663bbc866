// An exit listener that throws, with somebody who listens to errors.
const log = (text) => console.log(text);
process.on('uncaughtException', (error) => log(`uncaught ${error.message}`));
process.on('exit', (code) => { log(`exit ${code}`); throw new Error('in exit'); });
process.on('exit', () => log('second'));
