// null, thrown with nobody there.
process.on('exit', (code) => console.log(`exit ${code}`));
setImmediate(() => { throw null; });
setImmediate(() => console.log('never'));
