// beforeExit that throws: with a listener for it the process ends in the ordinary way.
const log = (text) => console.log(text);
let n = 0;
process.on('uncaughtException', (error) => log(`uncaught ${error.message}`));
process.on('beforeExit', () => { log(`beforeExit ${++n}`); if (n === 1) throw new Error('beforeExit'); });
process.on('exit', (code) => log(`exit ${code}`));
