// process.exit in beforeExit.
const log = (text) => console.log(text);
process.on('exit', (code) => log(`exit ${code}`));
process.on('beforeExit', () => { log('beforeExit'); setTimeout(() => log('never'), 1); process.exit(6); });
process.on('beforeExit', () => log('never'));
