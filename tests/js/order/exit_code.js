// Exit codes: set early, changed in beforeExit, changed in exit.
const log = (text) => console.log(text);
log(process.exitCode);
process.exitCode = 3;
process.on('beforeExit', (code) => { log(`beforeExit ${code}`); process.exitCode = 4; });
process.on('exit', (code) => { log(`exit ${code} ${process.exitCode}`); process.exitCode = 6; });
process.on('exit', (code) => log(`second ${code} ${process.exitCode}`));
for (const bad of ['x', 1.5, {}, true, '', NaN, 3n])
    try { process.exitCode = bad; log(`took ${String(bad)}`); } catch (error) { log(`${error.name} ${error.code}`); }
