// An exit listener that throws.
const log = (text) => console.log(text);
process.on('exit', (code) => { log(`exit ${code}`); throw new Error('in exit'); });
process.on('exit', () => log('never'));
setTimeout(() => log('timer'), 1);
