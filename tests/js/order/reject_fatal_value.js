// A reason that is no error.
process.on('exit', (code) => console.log(`exit ${code} ${process.exitCode}`));
Promise.reject(undefined);
setImmediate(() => console.log('never'));
