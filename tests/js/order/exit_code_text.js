// A string of digits is an exit code; undefined takes it back.
const log = (text) => console.log(text);
process.exitCode = 5;
process.exitCode = undefined;
log(process.exitCode);
process.exitCode = null;
log(process.exitCode);
process.exitCode = '12';
log(typeof process.exitCode);
process.on('exit', (code) => log(`exit ${typeof code} ${code}`));
