// process.exit inside an exit listener ends it at once, with the new code.
const log = (text) => console.log(text);
process.on('exit', (code) => { log(`first ${code}`); process.exit(5); log('never'); });
process.on('exit', () => log('never'));
