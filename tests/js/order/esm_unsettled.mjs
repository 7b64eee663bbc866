// Top-level await that never settles: exit code 13.
const log = (text) => console.log(text);
process.on('beforeExit', (code) => log(`beforeExit ${code}`));
process.on('exit', (code) => log(`exit ${code} ${process.exitCode}`));
setTimeout(() => log('timer'), 1);
log('begin');
await new Promise(() => {});
log('never');
